/* Claims about the file of changes: what was confirmed is read again, wherever the file is cut.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "daemon/process/journal.h"
#include "daemon/process/tests/fixture.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "util/base/fault.h"
#include "util/base/file.h"
#include "util/base/mem.h"
#include "util/tests/wire.h"

static void put(const void *at, size_t len)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);

	assert_true(fd >= 0 && file_write(fd, at, len));
	close(fd);
}

static size_t get(char *to, size_t room)
{
	int fd = open(path, O_RDONLY);
	size_t len;

	assert_true(fd >= 0);
	len = file_read(fd, to, room);
	close(fd);
	return len;
}

/* What was read, one letter of each line; - for one that is damaged, and the numbers it drops. */
static char seen[256];

static void see(void *arg, const struct journal_line *l)
{
	size_t len = strlen(seen);

	(void)arg;
	if (l->raw) {
		strcat(seen, "-");
		return;
	}
	len += (size_t)snprintf(seen + len, sizeof seen - len, "%s", l->text);
	for (size_t i = 0; i < l->drop_count; i++)
		len += (size_t)snprintf(seen + len, sizeof seen - len, "%d", (int)l->drops[i]);
}

static bool read_it(struct journal *j, struct fault *f)
{
	*seen = '\0';
	return journal_read(j, path, see, NULL, f);
}

static void print_one(char **text, size_t *len, uint64_t number, const char *what, uint64_t *drops, size_t count)
{
	const struct journal_line l = { .number = number, .time_s = 7, .text = what, .drops = drops, .drop_count = count };

	journal_print(text, len, &l);
}

static void add(struct journal *j, uint64_t number, const char *what, uint64_t *drops, size_t count)
{
	struct fault f = { .set = false };
	char *text = NULL;
	size_t len = 0;
	bool good;

	print_one(&text, &len, number, what, drops, count);
	good = journal_goes_on(j) ? journal_append(j, text, len, &f) : journal_rewrite(j, text, len, &f);
	if (!good)
		fail_msg("%s", f.text);
	mem_free(text);
}

/* a, b, then c in place of 1 and 2, then 3 undone */
static void make(struct journal *j)
{
	uint64_t drops[] = { 1, 2, 3 };
	struct fault f = { .set = false };

	unlink(path);
	assert_true(read_it(j, &f));
	add(j, 1, "a", NULL, 0);
	add(j, 2, "b", NULL, 0);
	add(j, 3, "c", drops, 2);
	add(j, 4, "", drops + 2, 1);
}

static void what_was_written_is_read(void **state)
{
	struct journal j = { 0 };
	struct fault f = { .set = false };

	(void)state;
	make(&j);
	assert_true(read_it(&j, &f));
	assert_string_equal(seen, "abc123");
	assert_false(j.cut);
	journal_clear(&j);
}

/* The lines before the cut, each of them whole, and the next one goes behind them. */
static void wherever_it_is_cut_what_is_before_is_read(void **state)
{
	static const char *const whole[] = { "", "a", "ab", "abc12", "abc123" };
	struct journal j = { 0 };
	char text[1024], after[256];
	size_t len, lines;

	(void)state;
	make(&j);
	len = get(text, sizeof text);
	assert_true(len > 100);
	for (size_t cut = 0; cut <= len; cut++) {
		struct fault f = { .set = false };

		put(text, cut);
		lines = 0;
		for (size_t i = 0; i < cut; i++)
			lines += text[i] == '\n';
		if (!read_it(&j, &f))
			fail_msg("cut at %zu: %s", cut, f.text);
		if (strcmp(seen, whole[lines ? lines - 1 : 0]) != 0)
			fail_msg("cut at %zu: %s", cut, seen);
		assert_int_equal(j.cut, cut == 0 || text[cut - 1] != '\n');
		if (j.cut)
			continue; /* the next test */
		add(&j, 9, "z", NULL, 0);
		snprintf(after, sizeof after, "%sz", whole[lines - 1]);
		assert_true(read_it(&j, &f));
		assert_string_equal(seen, after);
	}
	journal_clear(&j);
}

/* A line that was not confirmed is not in the way of the next. */
static void a_cut_line_goes_before_another_is_written(void **state)
{
	struct fault f = { .set = false };
	struct journal j = { 0 };
	char text[1024];
	size_t len;

	(void)state;
	make(&j);
	len = get(text, sizeof text);
	put(text, len - 3);
	assert_true(read_it(&j, &f));
	assert_false(journal_goes_on(&j));
	add(&j, 9, "z", NULL, 0);
	assert_true(read_it(&j, &f));
	assert_string_equal(seen, "z");
	journal_clear(&j);
}

static void a_byte_that_changed_is_noticed_and_costs_one_line(void **state)
{
	struct journal j = { 0 };
	char text[1024];
	size_t len, head = strlen("resolverd-changes 1\n");

	(void)state;
	make(&j);
	len = get(text, sizeof text);
	for (size_t i = 0; i < len; i++) {
		struct fault f = { .set = false };
		bool good;

		text[i] ^= 1;
		put(text, len);
		good = read_it(&j, &f);
		if (good != (i >= head))
			fail_msg("byte %zu: %s", i, f.text);
		if (good && !strchr(seen, '-') && !j.cut)
			fail_msg("byte %zu: %s", i, seen);
		text[i] ^= 1;
	}
	journal_clear(&j);
}

static void what_is_something_else_is_not_written_over(void **state)
{
	static const struct {
		const char *text, *why;
	} rows[] = {
		{ "resolverd-changes 2\nx\n", "written by another version (resolverd-changes 2)" },
		{ "resolverd-changes 1 \n", "written by another version" },
		{ "resolverd-changes 12\n", "written by another version" },
		{ "server:\n", "something else than a file of changes" },
		{ "\n", "something else than a file of changes" },
		{ "r\n", "something else than a file of changes" },
	};
	struct journal j = { 0 };
	char text[1024];

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		struct fault f = { .set = false }, again = { .set = false };
		size_t len;

		put(rows[i].text, strlen(rows[i].text));
		assert_false(read_it(&j, &f));
		if (!strstr(f.text, rows[i].why))
			fail_msg("%s", f.text);
		assert_false(journal_append(&j, "x\n", 2, &again));
		assert_string_equal(again.text, f.text);
		assert_false(journal_rewrite(&j, "x\n", 2, &again));
		len = get(text, sizeof text);
		assert_int_equal(len, strlen(rows[i].text));
		assert_memory_equal(text, rows[i].text, len);
	}
	journal_clear(&j);
}

static void what_others_may_write_is_not_believed(void **state)
{
	static const struct {
		mode_t mode;
		bool good;
	} rows[] = { { 0600, true }, { 0644, true }, { 0620, false }, { 0602, false }, { 0666, false } };
	struct journal j = { 0 };

	(void)state;
	make(&j);
	for (size_t i = 0; i < COUNT(rows); i++) {
		struct fault f = { .set = false };

		assert_int_equal(chmod(path, rows[i].mode), 0);
		assert_int_equal(read_it(&j, &f), rows[i].good);
		if (!rows[i].good)
			assert_non_null(strstr(f.text, "others may write to it"));
	}
	unlink(path);
	assert_int_equal(mkdir(path, 0700), 0);
	assert_false(read_it(&j, &(struct fault){ .set = false }));
	assert_int_equal(rmdir(path), 0);
	assert_int_equal(symlink("/dev/null", path), 0);
	assert_false(read_it(&j, &(struct fault){ .set = false }));
	journal_clear(&j);
}

/* A disk is full in the middle of a line: here, a file may not grow beyond so many bytes. */
static void a_change_that_cannot_be_written_leaves_the_file_as_it_was(void **state)
{
	struct journal j = { 0 };
	char before[1024], after[1024];
	struct rlimit old, limit;
	char *text = NULL;
	size_t len, line = 0;

	(void)state;
	make(&j);
	len = get(before, sizeof before);
	print_one(&text, &line, 9, "z", NULL, 0);
	assert_int_equal(getrlimit(RLIMIT_FSIZE, &old), 0);
	for (size_t room = 0; room < line; room++) {
		struct fault f = { .set = false };

		limit = old;
		limit.rlim_cur = len + room;
		assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
		assert_false(journal_append(&j, text, line, &f));
		assert_int_equal(setrlimit(RLIMIT_FSIZE, &old), 0);
		assert_non_null(strstr(f.text, "(nothing has changed)"));
		assert_int_equal(get(after, sizeof after), len);
		assert_memory_equal(after, before, len);
	}
	limit.rlim_cur = 30;
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
	assert_false(journal_rewrite(&j, text, line, &(struct fault){ .set = false }));
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &old), 0);
	assert_int_equal(get(after, sizeof after), len);
	add(&j, 9, "z", NULL, 0);
	assert_true(read_it(&j, &(struct fault){ .set = false }));
	assert_string_equal(seen, "abc123z");
	mem_free(text);
	journal_clear(&j);
}

static void what_was_not_acted_on_is_taken_back(void **state)
{
	struct fault f = { .set = false };
	struct journal j = { 0 };
	char before[1024], after[1024];
	size_t len;

	(void)state;
	make(&j);
	len = get(before, sizeof before);
	add(&j, 9, "z", NULL, 0);
	assert_true(journal_take_back(&j, &f));
	assert_int_equal(get(after, sizeof after), len);
	assert_memory_equal(after, before, len);
	assert_false(journal_take_back(&j, &f));
	journal_clear(&j);
}

static void what_another_program_wrote_is_not_lost(void **state)
{
	struct fault f = { .set = false };
	struct journal j = { 0 };
	int fd;

	(void)state;
	make(&j);
	fd = open(path, O_WRONLY | O_APPEND);
	assert_true(fd >= 0 && file_write(fd, "x\n", 2));
	close(fd);
	assert_false(journal_append(&j, "y\n", 2, &f));
	assert_non_null(strstr(f.text, "another program has changed it"));
	assert_false(journal_rewrite(&j, "y\n", 2, &f));
	unlink(path);
	assert_false(journal_goes_on(&j));
	add(&j, 1, "a", NULL, 0);
	assert_true(read_it(&j, &f));
	assert_string_equal(seen, "a");
	journal_clear(&j);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_was_written_is_read),
		cmocka_unit_test(wherever_it_is_cut_what_is_before_is_read),
		cmocka_unit_test(a_cut_line_goes_before_another_is_written),
		cmocka_unit_test(a_byte_that_changed_is_noticed_and_costs_one_line),
		cmocka_unit_test(what_is_something_else_is_not_written_over),
		cmocka_unit_test(what_others_may_write_is_not_believed),
		cmocka_unit_test(a_change_that_cannot_be_written_leaves_the_file_as_it_was),
		cmocka_unit_test(what_was_not_acted_on_is_taken_back),
		cmocka_unit_test(what_another_program_wrote_is_not_lost),
	};

	return cmocka_run_group_tests(tests, begin, end);
}
