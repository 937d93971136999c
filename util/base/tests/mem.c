/* Claims about heap memory and about how the process ends when it runs out.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "util/base/mem.h"

#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#include <cmocka.h>

static void what_is_given_can_be_measured_and_grown(void **state)
{
	(void)state;
	static const size_t lens[] = { 0, 1, 15, 16, 17, 100, 4096, 100000 };
	static const uint8_t zeros[100000];

	for (size_t i = 0; i < COUNT(lens); i++) {
		size_t len = lens[i];
		uint8_t *a = mem_new(len), *b = mem_zero(len);

		assert_true(mem_size(a) >= len);
		assert_memory_equal(b, zeros, len);
		memset(a, 0x5a, len);
		a = mem_grow(a, len * 2 + 1);
		assert_true(mem_size(a) >= len * 2 + 1);
		for (size_t at = 0; at < len; at++)
			assert_int_equal(a[at], 0x5a);
		mem_free(a);
		mem_free(b);
	}
	mem_free(NULL);
	mem_trim();
}

static void growing_nothing_makes_something(void **state)
{
	(void)state;
	char *p = mem_grow(NULL, 3);

	memcpy(p, "ab", 3);
	p = mem_grow(p, 1000);
	assert_string_equal(p, "ab");
	mem_free(p);
}

static void copies_are_the_callers_own(void **state)
{
	(void)state;
	char from[] = "fox";
	char *a = mem_copy(from, sizeof(from)), *b = mem_text(from),
	     *c = mem_textf("%s %d", from, 7);
	uint64_t *many = mem_array(5, sizeof(*many));

	from[0] = 'b';
	assert_string_equal(a, "fox");
	assert_string_equal(b, "fox");
	assert_string_equal(c, "fox 7");
	for (size_t i = 0; i < 5; i++)
		assert_int_equal(many[i], 0);
	mem_free(a);
	mem_free(b);
	mem_free(c);
	mem_free(many);
}

/* Also when a thread's cache keeps it for the next piece of that size. */
static void what_is_freed_is_in_use_no_more(void **state)
{
	(void)state;
	void *pieces[64];
	size_t before = mem_in_use(), full;

	if (before == 0) /* no allocator that counts */
		return;
	for (size_t i = 0; i < COUNT(pieces); i++)
		pieces[i] = mem_new(8000);
	full = mem_in_use();
	for (size_t i = 0; i < COUNT(pieces); i++)
		mem_free(pieces[i]);
	assert_true(full >= before + COUNT(pieces) * 8000);
	assert_true(mem_in_use() <= before + 8000);
}

static void *make_pieces(void *pieces)
{
	mem_use_arena(mem_arena_for(9));
	for (void **p = pieces; p < (void **)pieces + 64; p++)
		*p = mem_new(1000);
	return NULL;
}

static void threads_share_arenas_in_fours(void **state)
{
	(void)state;
	void *pieces[64];
	pthread_t thread;

	for (unsigned i = 0; i < 12; i++)
		assert_int_equal(mem_arena_for(i), mem_arena_for(i - i % 4));
#ifdef HAVE_JEMALLOC
	assert_true(mem_arena_for(0) != mem_arena_for(4) && mem_arena_for(4) != mem_arena_for(8));
#endif
	assert_int_equal(pthread_create(&thread, NULL, make_pieces, pieces), 0);
	pthread_join(thread, NULL);
	for (size_t i = 0; i < COUNT(pieces); i++) {
		assert_true(mem_size(pieces[i]) >= 1000);
		mem_free(pieces[i]);
	}
}

/* Run `fn` in a child that must abort, and return what it wrote to standard error. */
static const char *last_words(void (*fn)(void))
{
	static char words[4096];
	size_t len = 0;
	int fds[2], status;
	ssize_t n;
	pid_t pid;

	assert_int_equal(pipe(fds), 0);
	pid = fork();
	assert_true(pid >= 0);
	if (pid == 0) {
		signal(SIGABRT, SIG_DFL);
		dup2(fds[1], STDERR_FILENO);
		fn();
		_exit(0);
	}
	close(fds[1]);
	while (len < sizeof(words) - 1 &&
	       (n = read(fds[0], words + len, sizeof(words) - 1 - len)) > 0)
		len += (size_t)n;
	words[len] = 0;
	close(fds[0]);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFSIGNALED(status));
	assert_int_equal(WTERMSIG(status), SIGABRT);
	return words;
}

static void ask_too_many(void)
{
	mem_free(mem_array(SIZE_MAX / 4, 8));
}

static void break_a_promise(void)
{
	int two = 2;

	PROMISE(two == 3);
}

static void panic_loudly(void)
{
	PANIC("the %s is %d", "answer", 42);
}

static void say_elsewhere(const char *sentence)
{
	fprintf(stderr, "<%s>", sentence);
}

static void panic_elsewhere(void)
{
	panic_tell(say_elsewhere);
	PANIC("told");
}

static void the_last_line_says_where_and_why(void **state)
{
	(void)state;
	static const struct {
		const char *why;
		void (*fn)(void);
		const char *says;
	} rows[] = {
		{ "a product that overflows", ask_too_many, "out of memory" },
		{ "a broken promise", break_a_promise, "tests/mem.c:1" },
		{ "its text", break_a_promise, "broken promise: two == 3\n" },
		{ "a panic", panic_loudly, "the answer is 42\n" },
		{ "a panic told to the log", panic_elsewhere, ": told>" },
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		const char *words = last_words(rows[i].fn);

		if (!strstr(words, rows[i].says))
			fail_msg("%s: '%s' does not say '%s'", rows[i].why, words, rows[i].says);
	}
}

int main(void)
{
	const struct CMUnitTest claims[] = {
		cmocka_unit_test(what_is_given_can_be_measured_and_grown),
		cmocka_unit_test(growing_nothing_makes_something),
		cmocka_unit_test(copies_are_the_callers_own),
		cmocka_unit_test(what_is_freed_is_in_use_no_more),
		cmocka_unit_test(threads_share_arenas_in_fours),
		cmocka_unit_test(the_last_line_says_where_and_why),
	};

	return cmocka_run_group_tests(claims, NULL, NULL);
}
