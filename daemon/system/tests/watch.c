/* Claims about files that others write: whatever is done to one is told.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "daemon/system/watch.h"

#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "util/base/loop.h"
#include "util/base/mem.h"
#include "util/tests/wire.h"

#define WAIT_S 20 /* for a machine that is busy; where nothing tells, a second is due */

static struct loop *loop;
static char folder[] = "/tmp/resolver-watch.XXXXXX", path[64], other[64];
static unsigned told;

static void put(const char *file, const char *text, int flags)
{
	int fd = open(file, O_WRONLY | O_CREAT | flags, 0600);

	assert_true(fd >= 0);
	assert_int_equal(write(fd, text, strlen(text)), (ssize_t)strlen(text));
	close(fd);
}

static void create(void)
{
	put(path, "one\n", O_TRUNC);
}

static void append(void)
{
	put(path, "two\n", O_APPEND);
}

static void rewrite(void)
{
	put(path, "three\n", O_TRUNC);
}

static void replace(void)
{
	put(other, "four\n", O_TRUNC);
	assert_int_equal(rename(other, path), 0);
}

static void cut(void)
{
	assert_int_equal(truncate(path, 0), 0);
}

static void take_away(void)
{
	assert_int_equal(unlink(path), 0);
}

static void take_folder_away(void)
{
	assert_int_equal(unlink(path), 0);
	assert_int_equal(rmdir(folder), 0);
}

static void bring_folder_back(void)
{
	assert_int_equal(mkdir(folder, 0700), 0);
	create();
}

static void stop(struct timer *t)
{
	(void)t;
	loop_stop(loop);
}

static void on_change(void *arg)
{
	++*(unsigned *)arg;
	loop_stop(loop);
}

/* True when it was told in time. */
static bool wait_for_it(void)
{
	struct timer end = { .fire = stop };

	told = 0;
	timer_set(loop, &end, WAIT_S * US_PER_S);
	loop_run(loop);
	timer_stop(loop, &end);
	return told > 0;
}

static void whatever_is_done_is_told(void **state)
{
	(void)state;
	static const struct {
		const char *why;
		void (*act)(void);
	} steps[] = {
		{ "it comes", create },
		{ "something is added", append },
		{ "it is written anew", rewrite },
		{ "another takes its place", replace },
		{ "that one is added to", append },
		{ "it is cut", cut },
		{ "it is taken away", take_away },
		{ "it comes again", create },
		{ "its folder is taken away", take_folder_away },
		{ "and comes back", bring_folder_back },
		{ "and all goes on", append },
	};
	struct file_watches *all;
	struct file_watch *w;

	assert_non_null(mkdtemp(folder));
	snprintf(path, sizeof(path), "%s/file", folder);
	snprintf(other, sizeof(other), "%s/new", folder);
	loop = loop_new();
	all = file_watches_new(loop);
	w = file_watch_new(all, path, on_change, &told);
	for (size_t i = 0; i < COUNT(steps); i++) {
		steps[i].act();
		if (!wait_for_it())
			fail_msg("%s: nothing was told", steps[i].why);
	}
	file_watch_free(w);
	file_watches_free(all);
	loop_free(loop);
	take_folder_away();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(whatever_is_done_is_told),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
