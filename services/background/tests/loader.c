/* Claims about the thread for slow work, and about fetching.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "services/background/loader.h"

#include <arpa/inet.h>
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "services/background/fetch.h"
#include "services/tests/conf.h"
#include "util/base/fault.h"
#include "util/base/timebase.h"

static char said[64];

struct work {
	struct loader_task task;
	const char *letter;
	unsigned again;
};

static void say(struct loader_task *t)
{
	struct work *w = container_of(t, struct work, task);

	strcat(said, w->letter);
	if (w->again && w->again--)
		loader_add(t->loader, t, 0);
}

static void tasks_run_when_they_are_due_in_order(void **state)
{
	(void)state;
	struct loader *l = loader_new();
	struct work a = { .task.run = say, .letter = "a" }, b = { .task.run = say, .letter = "b" },
		    c = { .task.run = say, .letter = "c", .again = 2 },
		    later = { .task.run = say, .letter = "!" };

	*said = '\0';
	loader_add(l, &later.task, 3600 * US_PER_S);
	loader_add(l, &b.task, 20000);
	loader_add(l, &a.task, 10000);
	usleep(30000);
	loader_finish(l);
	loader_add(l, &c.task, 0);
	loader_finish(l);
	assert_string_equal(said, "abccc");
	loader_remove(l, &later.task);
	loader_free(l);
	assert_string_equal(said, "abccc");
}

static void what_is_taken_back_does_not_run(void **state)
{
	(void)state;
	struct loader *l = loader_new();
	struct work a = { .task.run = say, .letter = "a" }, b = { .task.run = say, .letter = "b" };

	*said = '\0';
	loader_add(l, &a.task, 100000);
	loader_add(l, &b.task, 100000);
	loader_remove(l, &a.task);
	loader_add(l, &b.task, 0); /* moved to the front */
	loader_finish(l);
	assert_string_equal(said, "b");
	loader_free(l);
}

struct endless {
	struct loader_task task;
	atomic_bool begun;
};

static void until_the_end(struct loader_task *t)
{
	atomic_store(&container_of(t, struct endless, task)->begun, true);
	while (!loader_is_ending(t->loader))
		usleep(1000);
}

static void the_end_does_not_wait_for_long_work(void **state)
{
	(void)state;
	struct loader *l = loader_new();
	struct endless e = { .task.run = until_the_end };
	struct work never = { .task.run = say, .letter = "x" };

	*said = '\0';
	loader_add(l, &e.task, 0);
	loader_add(l, &never.task, 0);
	while (!atomic_load(&e.begun))
		usleep(1000);
	loader_free(l);
	assert_string_equal(said, "");
}

static bool take_nothing(void *arg, const char *bytes, size_t len)
{
	(void)arg;
	(void)bytes;
	(void)len;
	return true;
}

static void a_failed_fetch_says_why(void **state)
{
	(void)state;
	static const char *const urls[] = {
		"ftp://127.0.0.1/list",
		"file:///etc/hosts",
		"http://127.0.0.1:1/nobody-listens",
	};

	for (size_t i = 0; i < COUNT(urls); i++) {
		struct fetch_how how = { .url = urls[i], .take = take_nothing, .most_ms = 5000 };
		struct fetch_mark mark = { .etag = "\"old\"" };
		struct fault f = { 0 };

		if (fetch_url(&how, &mark, &f) != FETCH_FAILED || !f.set)
			fail_msg("%s: '%s'", urls[i], f.text);
		assert_string_equal(mark.etag, "\"old\"");
	}
}

/* A server that says nothing: the kernel takes the connection, nobody answers. */
static void a_fetch_ends_in_time_even_if_that_is_less_than_a_second(void **state)
{
	(void)state;
	struct sockaddr_in at = { .sin_family = AF_INET, .sin_addr = { htonl(INADDR_LOOPBACK) } };
	socklen_t len = sizeof(at);
	int fd = socket(AF_INET, SOCK_STREAM, 0);
	char url[64];
	struct fetch_how how = { .url = url, .take = take_nothing, .most_ms = 300 };
	struct fetch_mark mark = { 0 };
	struct fault f = { 0 };
	struct timebase before = { 0 }, after = { 0 };

#ifndef HAVE_LIBCURL
	close(fd);
	skip();
#endif
	assert_int_equal(bind(fd, (struct sockaddr *)&at, len), 0);
	assert_int_equal(listen(fd, 4), 0);
	assert_int_equal(getsockname(fd, (struct sockaddr *)&at, &len), 0);
	snprintf(url, sizeof(url), "http://127.0.0.1:%u/", (unsigned)ntohs(at.sin_port));
	timebase_read(&before);
	assert_int_equal(fetch_url(&how, &mark, &f), FETCH_FAILED);
	timebase_read(&after);
	assert_in_range(after.now_us - before.now_us, 200000, 10000000);
	close(fd);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(tasks_run_when_they_are_due_in_order),
		cmocka_unit_test(what_is_taken_back_does_not_run),
		cmocka_unit_test(the_end_does_not_wait_for_long_work),
		cmocka_unit_test(a_failed_fetch_says_why),
		cmocka_unit_test(a_fetch_ends_in_time_even_if_that_is_less_than_a_second),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
