/* Claims about log lines.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "util/base/log.h"

#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <regex.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include <cmocka.h>

#include "util/base/mem.h"

static char caught[20000];

static void catch (const char *line, void *arg)
{
	snprintf(caught, sizeof(caught), "%s%s", (const char *)arg, line);
}

static bool looks_like(const char *text, const char *pattern)
{
	regex_t re;
	bool yes;

	assert_int_equal(regcomp(&re, pattern, REG_EXTENDED | REG_NOSUB), 0);
	yes = regexec(&re, text, 0, NULL, 0) == 0;
	regfree(&re);
	return yes;
}

static void a_line_has_the_form_that_scripts_expect(void **state)
{
	(void)state;
	static const struct {
		const char *why;
		struct log_how how;
		const char *pattern;
	} rows[] = {
		{ "as it comes",
		  { .ident = "fox" },
		  "^\\[[0-9]{10}\\] fox\\[[0-9]+:5\\] info: hello 7$" },
		{ "no name given",
		  { .ident = "" },
		  "^\\[[0-9]{10}\\] resolverd\\[[0-9]+:5\\] info: hello 7$" },
		{ "readable time",
		  { .ident = "fox", .time_ascii = true },
		  "^[A-Z][a-z]{2} [0-9]{2} [0-9]{2}:[0-9]{2}:[0-9]{2} fox\\[[0-9]+:5\\] info: "
		  "hello 7$" },
		{ "ISO time",
		  { .ident = "fox", .time_ascii = true, .time_iso = true },
		  "^20[0-9]{2}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}\\.[0-9]{3}[-+][0-9]{2}:"
		  "[0-9]{2} fox" },
		{ "ISO is a kind of readable",
		  { .ident = "fox", .time_iso = true },
		  "^\\[[0-9]{10}\\] fox" },
		{ "the system's thread",
		  { .ident = "fox", .thread_id = true },
		  "^[^ ]* fox\\[[0-9]+:[0-9]+\\] info: hello 7$" },
	};

	log_thread(5);
	log_capture(catch, (void *)(uintptr_t) "");
	for (size_t i = 0; i < COUNT(rows); i++) {
		assert_true(log_start(&rows[i].how));
		log_ops("hello %d", 7);
		if (!looks_like(caught, rows[i].pattern))
			fail_msg("%s: %s", rows[i].why, caught);
	}
	log_capture(NULL, NULL);
	log_thread(0);
}

static void levels_hold_lines_back(void **state)
{
	(void)state;
	static const struct {
		int verbosity;
		const char *last; /* of ops, detail, query, algo */
	} rows[] = { { 0, "error" }, { 1, "ops" },  { 2, "detail" },
		     { 3, "query" }, { 4, "algo" }, { 5, "algo" } };
	int was = atomic_load(&log_verbosity);

	log_capture(catch, (void *)(uintptr_t) "");
	for (size_t i = 0; i < COUNT(rows); i++) {
		atomic_store(&log_verbosity, rows[i].verbosity);
		log_error("error");
		log_ops("ops");
		log_detail("detail");
		log_query("query");
		log_algo("algo");
		if (!strstr(caught, rows[i].last))
			fail_msg("verbosity %d: %s", rows[i].verbosity, caught);
	}
	atomic_store(&log_verbosity, 0);
	log_warn("w");
	assert_non_null(strstr(caught, "] warning: w"));
	log_notice("n");
	assert_non_null(strstr(caught, "] notice: n"));
	atomic_store(&log_verbosity, was);
	log_capture(NULL, NULL);
}

static void a_line_stays_one_line_whatever_is_in_it(void **state)
{
	(void)state;
	static const struct {
		const char *text, *shown;
	} rows[] = {
		{ "two\nlines", "error: two\\x0alines" },
		{ "\x1b[31mred", "error: \\x1b[31mred" },
		{ "tab\tdel\x7f", "error: tab\\x09del\\x7f" },
		{ "caf\303\251 \\.", "error: caf\303\251 \\." },
	};

	log_capture(catch, (void *)(uintptr_t) "<");
	for (size_t i = 0; i < COUNT(rows); i++) {
		log_error("%s", rows[i].text);
		assert_int_equal(caught[0], '<');
		if (!strstr(caught, rows[i].shown))
			fail_msg("'%s'", caught);
	}
	log_capture(NULL, NULL);
}

static void a_long_line_is_cut(void **state)
{
	(void)state;
	log_capture(catch, (void *)(uintptr_t) "");
	log_error("%020000d", 1);
	assert_true(strlen(caught) > 10000 && strlen(caught) <= 10240);
	assert_int_equal(caught[strlen(caught) - 1], '0');
	log_capture(NULL, NULL);
}

/* Count the lines of `path` that hold `what`; all must end whole. */
static int lines_with(const char *path, const char *what)
{
	char line[20000];
	FILE *f = fopen(path, "r");
	int n = 0;

	assert_non_null(f);
	while (fgets(line, sizeof(line), f)) {
		assert_int_equal(line[strlen(line) - 1], '\n');
		n += strstr(line, what) != NULL;
	}
	fclose(f);
	return n;
}

static void a_file_is_added_to_and_opened_again(void **state)
{
	(void)state;
	char dir[] = "log-test-XXXXXX", path[64], moved[64], none[64];

	assert_non_null(mkdtemp(dir));
	snprintf(path, sizeof(path), "%s/log", dir);
	snprintf(moved, sizeof(moved), "%s/log.1", dir);
	snprintf(none, sizeof(none), "%s/none/log", dir);
	for (int i = 0; i < 2; i++) {
		assert_true(log_start(&(struct log_how){ .ident = "fox", .file = path }));
		log_error("same");
	}
	assert_int_equal(lines_with(path, "error: same"), 2);

	assert_int_equal(rename(path, moved), 0);
	log_error("late");
	assert_true(log_start(&(struct log_how){ .ident = "fox", .file = path }));
	log_error("new");
	assert_int_equal(lines_with(moved, "error: late"), 1);
	assert_int_equal(lines_with(moved, "error: new"), 0);
	assert_int_equal(lines_with(path, "error: new"), 1);

	/* What cannot be opened changes nothing, and is said where lines went before. */
	assert_false(log_start(&(struct log_how){ .ident = "hen", .file = none }));
	log_error("still");
	assert_int_equal(lines_with(path, "cannot open log file"), 1);
	assert_int_equal(lines_with(path, "fox"), 3);

	assert_int_equal(unlink(path), 0);
	assert_int_equal(unlink(moved), 0);
	assert_int_equal(rmdir(dir), 0);
	log_error("nowhere to be seen");
	assert_true(log_start(&(struct log_how){ .ident = "fox" }));
}

static void *write_much(void *arg)
{
	log_thread(*(int *)arg);
	for (int i = 0; i < 500; i++)
		log_error("%0300d", i);
	return NULL;
}

static void lines_of_several_threads_do_not_mix(void **state)
{
	(void)state;
	char dir[] = "log-test-XXXXXX", path[64];
	pthread_t threads[3];
	int numbers[3] = { 1, 2, 3 };

	assert_non_null(mkdtemp(dir));
	snprintf(path, sizeof(path), "%s/log", dir);
	assert_true(log_start(&(struct log_how){ .ident = "fox", .file = path }));
	for (size_t i = 0; i < COUNT(threads); i++)
		assert_int_equal(pthread_create(&threads[i], NULL, write_much, &numbers[i]), 0);
	for (int i = 0; i < 20; i++)
		assert_true(log_start(&(struct log_how){ .ident = "fox", .file = path }));
	for (size_t i = 0; i < COUNT(threads); i++)
		assert_int_equal(pthread_join(threads[i], NULL), 0);
	assert_int_equal(lines_with(path, "] error: 0000000000"), 1500);
	assert_int_equal(lines_with(path, ":2] error: "), 500);
	assert_true(log_start(&(struct log_how){ .ident = "fox" }));
	assert_int_equal(unlink(path), 0);
	assert_int_equal(rmdir(dir), 0);
}

/* ---- floods ---- */

struct flood {
	unsigned same, other, asked, told;
};

static void count_lines(const char *line, void *arg)
{
	struct flood *f = arg;

	f->told += looks_like(line, "warning: 15 more times: the same 7$");
	f->same += looks_like(line, "warning: the same 7$");
	f->other += looks_like(line, "error: another$");
	f->asked += looks_like(line, "error: asked$");
}

static void a_flood_of_the_same_line_is_counted(void **state)
{
	struct flood f = { 0 };

	(void)state;
	log_capture(count_lines, &f);
	for (unsigned i = 0; i < 25; i++) {
		log_warn("the same %d", 7);
		log_line("error", "asked"); /* a question's line is never left out */
		if (i < 5)
			log_error("another");
	}
	assert_int_equal(f.same, 10);
	assert_int_equal(f.other, 5);
	assert_int_equal(f.asked, 25);
	log_report_repeats(false);
	assert_int_equal(f.told, 0);
	log_report_repeats(true);
	log_report_repeats(true);
	assert_int_equal(f.told, 1);
	for (unsigned i = 0; i < 3; i++) /* and begins anew */
		log_warn("the same %d", 7);
	assert_int_equal(f.same, 13);
	log_capture(NULL, NULL);
}

static void many_different_lines_are_all_written(void **state)
{
	struct flood f = { 0 };

	(void)state;
	log_capture(count_lines, &f);
	for (unsigned i = 0; i < 1000; i++)
		log_warn("line %u", i);
	for (unsigned i = 0; i < 20; i++)
		log_error("another");
	assert_int_equal(f.other, 10);
	log_capture(NULL, NULL);
}

/* ---- the writer ---- */

static uint64_t now_ms(void)
{
	struct timespec t;

	assert_int_equal(clock_gettime(CLOCK_MONOTONIC, &t), 0);
	return (uint64_t)t.tv_sec * 1000 + (uint64_t)t.tv_nsec / 1000000;
}

enum { FLOOD = 40000 };

/* What a FIFO holds, up to the line `last`; how many lines of the flood, and how many the log says are lost. */
static void read_flood(int fd, const char *last, unsigned *seen, unsigned long long *told)
{
	FILE *f = fdopen(fd, "r");
	char line[1000];
	int next = 0;

	*seen = 0;
	*told = 0;
	assert_non_null(f);
	while (fgets(line, sizeof(line), f) && !strstr(line, last)) {
		unsigned long long lost;
		char *at;
		int n;

		assert_int_equal(line[strlen(line) - 1], '\n');
		assert_int_equal(*line, '[');
		if ((at = strstr(line, "flood ")) && sscanf(at, "flood %d", &n) == 1) {
			assert_true(n >= next); /* in order */
			next = n + 1;
			(*seen)++;
		} else if ((at = strstr(line, "warning: ")) && sscanf(at, "warning: %llu lines of", &lost) == 1) {
			*told += lost;
		}
	}
	assert_non_null(strstr(line, last));
	fclose(f);
}

/* Until one of them comes through. */
static void *log_until_told(void *over)
{
	while (!atomic_load((atomic_bool *)over)) {
		log_line("info", "the end");
		usleep(20000);
	}
	return NULL;
}

static void a_pipe_that_nobody_reads_keeps_nobody_waiting(void **state)
{
	(void)state;
	char dir[] = "log-test-XXXXXX", fifo[64], path[64];
	unsigned long long told;
	uint64_t began = now_ms(), lost = log_lost();
	atomic_bool over = false;
	pthread_t thread;
	unsigned seen;
	int fd;

	assert_non_null(mkdtemp(dir));
	snprintf(fifo, sizeof(fifo), "%s/fifo", dir);
	snprintf(path, sizeof(path), "%s/log", dir);
	assert_int_equal(mkfifo(fifo, 0600), 0);
	assert_true(log_start(&(struct log_how){ .ident = "fox", .file = fifo }));
	log_writer_start();
	for (int i = 0; i < FLOOD; i++)
		log_line("info", "flood %d %0100d", i, 0);
	lost = log_lost() - lost;
	assert_true(lost > 0 && lost < FLOOD);
	assert_true(now_ms() - began < 10000);

	/* Somebody reads: it goes on, and the log says what it lacks. */
	fd = open(fifo, O_RDONLY);
	assert_true(fd >= 0);
	assert_int_equal(pthread_create(&thread, NULL, log_until_told, &over), 0);
	read_flood(fd, "the end", &seen, &told);
	atomic_store(&over, true);
	assert_int_equal(pthread_join(thread, NULL), 0);
	assert_int_equal(seen + lost, FLOOD);
	assert_true(told >= lost);

	/* Nobody reads any more: another place can be chosen, and the end comes. */
	for (int i = 0; i < FLOOD; i++)
		log_line("info", "flood %d %0100d", i, 0);
	began = now_ms();
	assert_true(log_start(&(struct log_how){ .ident = "fox", .file = path }));
	log_line("info", "at the new place");
	log_writer_end();
	assert_true(now_ms() - began < 3000);
	assert_int_equal(lines_with(path, "at the new place"), 1);
	assert_true(log_start(&(struct log_how){ .ident = "fox" }));
	assert_int_equal(unlink(fifo), 0);
	assert_int_equal(unlink(path), 0);
	assert_int_equal(rmdir(dir), 0);
}

static void what_has_been_logged_is_written_at_the_end(void **state)
{
	(void)state;
	char dir[] = "log-test-XXXXXX", path[64], moved[64];
	uint64_t lost = log_lost();

	assert_non_null(mkdtemp(dir));
	snprintf(path, sizeof(path), "%s/log", dir);
	snprintf(moved, sizeof(moved), "%s/log.1", dir);
	assert_true(log_start(&(struct log_how){ .ident = "fox", .file = path }));
	for (int round = 0; round < 2; round++) { /* it can be started again */
		log_writer_start();
		for (int i = 0; i < 2000; i++)
			log_line("info", "flood %d %0200d", i, 0);
		assert_int_equal(rename(path, moved), 0);
		assert_true(log_start(&(struct log_how){ .ident = "fox", .file = path }));
		log_line("info", "after the rotation");
		log_writer_end();
		assert_int_equal(lines_with(moved, "] info: flood "), 2000);
		assert_int_equal(lines_with(path, "info: flood "), 0);
		assert_int_equal(lines_with(path, "info: after the rotation"), 1);
		assert_int_equal(unlink(path), 0);
		assert_true(log_start(&(struct log_how){ .ident = "fox", .file = path }));
	}
	log_line("info", "now directly");
	assert_int_equal(lines_with(path, "info: now directly"), 1);
	log_writer_end(); /* of no consequence */
	assert_int_equal(log_lost(), lost);
	assert_true(log_start(&(struct log_how){ .ident = "fox" }));
	assert_int_equal(unlink(path), 0);
	assert_int_equal(unlink(moved), 0);
	assert_int_equal(rmdir(dir), 0);
}

static void a_disk_that_is_full_is_told_when_it_is_not(void **state)
{
	(void)state;
	char dir[] = "log-test-XXXXXX", path[64];
	uint64_t lost = log_lost();

	if (access("/dev/full", W_OK) != 0)
		return;
	assert_non_null(mkdtemp(dir));
	snprintf(path, sizeof(path), "%s/log", dir);
	assert_true(log_start(&(struct log_how){ .ident = "fox", .file = "/dev/full" }));
	log_writer_start();
	for (int i = 0; i < 7; i++)
		log_line("info", "nowhere");
	assert_true(log_start(&(struct log_how){ .ident = "fox", .file = path }));
	assert_int_equal(log_lost(), lost + 7);
	log_line("info", "here");
	log_writer_end();
	assert_int_equal(lines_with(path, "info: here"), 1);
	assert_int_equal(lines_with(path, "warning: 7 lines of the log are lost"), 1);
	assert_true(log_start(&(struct log_how){ .ident = "fox" }));
	assert_int_equal(unlink(path), 0);
	assert_int_equal(rmdir(dir), 0);
}

/* A panic: the line comes after all that was logged before it, wherever those went. */
static void the_last_words_come_after_all_others(void **state)
{
	(void)state;
	char dir[] = "log-test-XXXXXX", path[64];
	int status;
	pid_t child;

	assert_non_null(mkdtemp(dir));
	snprintf(path, sizeof(path), "%s/log", dir);
	child = fork();
	if (child == 0) {
		(void)signal(SIGABRT, SIG_DFL);
		(void)log_start(&(struct log_how){ .ident = "fox", .file = path });
		log_writer_start();
		for (int i = 0; i < 2000; i++)
			log_line("info", "flood %d %0200d", i, 0);
		PANIC("no more of this");
	}
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_true(WIFSIGNALED(status));
	assert_int_equal(lines_with(path, "info: flood "), 2000);
	assert_int_equal(lines_with(path, "no more of this"), 1);
	assert_int_equal(unlink(path), 0);
	assert_int_equal(rmdir(dir), 0);
}

int main(void)
{
	const struct CMUnitTest claims[] = {
		cmocka_unit_test(a_line_has_the_form_that_scripts_expect),
		cmocka_unit_test(levels_hold_lines_back),
		cmocka_unit_test(a_line_stays_one_line_whatever_is_in_it),
		cmocka_unit_test(a_long_line_is_cut),
		cmocka_unit_test(a_file_is_added_to_and_opened_again),
		cmocka_unit_test(lines_of_several_threads_do_not_mix),
		cmocka_unit_test(the_last_words_come_after_all_others),
		cmocka_unit_test(a_pipe_that_nobody_reads_keeps_nobody_waiting),
		cmocka_unit_test(what_has_been_logged_is_written_at_the_end),
		cmocka_unit_test(a_disk_that_is_full_is_told_when_it_is_not),
		cmocka_unit_test(a_flood_of_the_same_line_is_counted),
		cmocka_unit_test(many_different_lines_are_all_written),
	};

	return cmocka_run_group_tests(claims, NULL, NULL);
}
