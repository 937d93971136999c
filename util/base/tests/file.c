/* Claims about files that are read, written and replaced.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "util/base/file.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "util/tests/wire.h"

static char folder[] = "/tmp/test-file-XXXXXX";
static char path[64], beside[64];

static int begin(void **state)
{
	(void)state;
	assert_non_null(mkdtemp(folder));
	snprintf(path, sizeof path, "%s/f", folder);
	snprintf(beside, sizeof beside, "%s/f.new", folder);
	return 0;
}

static int end(void **state)
{
	(void)state;
	unlink(path);
	return rmdir(folder);
}

static void put(const char *at, const char *text)
{
	int fd = open(at, O_WRONLY | O_CREAT | O_TRUNC, 0644);

	assert_true(fd >= 0 && file_write(fd, text, strlen(text)));
	close(fd);
}

static const char *get(const char *at)
{
	static char text[64];
	int fd = open(at, O_RDONLY);

	text[fd < 0 ? 0 : file_read(fd, text, sizeof text - 1)] = '\0';
	if (fd >= 0)
		close(fd);
	return fd < 0 ? "none" : text;
}

static void what_is_there_is_read(void **state)
{
	char text[8] = "";
	int fd;

	(void)state;
	put(path, "12345");
	fd = open(path, O_RDONLY);
	assert_int_equal(file_read(fd, text, 3), 3);
	assert_int_equal(file_read(fd, text, sizeof text), 2);
	assert_int_equal(file_read(fd, text, sizeof text), 0);
	close(fd);
	assert_int_equal(file_read(-1, text, 1), 0);
	assert_false(file_write(-1, "x", 1));
	assert_int_equal(errno, EBADF);
}

static void a_file_is_replaced_when_the_new_one_is_complete(void **state)
{
	(void)state;
	static const struct {
		const char *why, *old, *left;
		bool good;
		const char *want;
	} rows[] = {
		{ "none before", NULL, NULL, true, "new" },
		{ "another before", "old", NULL, true, "new" },
		{ "half of one was left beside it", "old", "ha", true, "new" },
		{ "it could not be completed", "old", NULL, false, "old" },
		{ "neither is there", NULL, NULL, false, "none" },
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		struct file_new n;
		struct stat st;

		unlink(path);
		if (rows[i].old)
			put(path, rows[i].old);
		if (rows[i].left)
			put(beside, rows[i].left);
		assert_true(file_new_begin(&n, path, ".new", 0600));
		assert_true(file_write(n.fd, "new", 3));
		if (strcmp(get(path), rows[i].old ? rows[i].old : "none") != 0)
			fail_msg("%s: replaced too early", rows[i].why);
		errno = EDOM;
		if (file_new_end(&n, rows[i].good) != rows[i].good || (!rows[i].good && errno != EDOM))
			fail_msg("%s: %s", rows[i].why, strerror(errno));
		if (strcmp(get(path), rows[i].want) != 0 || access(beside, F_OK) == 0)
			fail_msg("%s: %s", rows[i].why, get(path));
		if (rows[i].good)
			assert_true(stat(path, &st) == 0 && (st.st_mode & 0777) == 0600);
	}
}

static void what_cannot_be_written_changes_nothing(void **state)
{
	(void)state;
	struct file_new n;
	char nowhere[80];

	snprintf(nowhere, sizeof nowhere, "%s/none/f", folder);
	assert_false(file_new_begin(&n, nowhere, ".new", 0600));
	assert_int_equal(errno, ENOENT);
	assert_int_equal(n.fd, -1);
	assert_false(file_new_end(&n, false));
	assert_int_equal(errno, ENOENT);

	/* where it is to go there is a folder */
	unlink(path);
	assert_int_equal(mkdir(path, 0700), 0);
	assert_true(file_new_begin(&n, path, ".new", 0600));
	assert_false(file_new_end(&n, true));
	assert_int_equal(errno, EISDIR);
	assert_int_not_equal(access(beside, F_OK), 0);
	assert_int_equal(rmdir(path), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_is_there_is_read),
		cmocka_unit_test(a_file_is_replaced_when_the_new_one_is_complete),
		cmocka_unit_test(what_cannot_be_written_changes_nothing),
	};

	return cmocka_run_group_tests_name("claims", tests, begin, end);
}
