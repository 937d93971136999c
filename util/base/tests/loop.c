/* Claims about events, timers and posts.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "util/base/loop.h"

#include <fcntl.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include <cmocka.h>

#include "util/base/mem.h"
#include "util/base/random.h"

/* What happened, in the order it happened. */
static char diary[64];
static struct loop *loop; /* of the claim under test */

static void note(char c)
{
	size_t len = strlen(diary);

	assert_true(len + 1 < sizeof(diary));
	diary[len] = c;
	diary[len + 1] = 0;
}

struct bell {
	struct timer timer;
	char name;
	uint64_t rang_us;
	int again; /* times to set itself again, due at once */
};

static void ring(struct timer *t)
{
	struct bell *b = container_of(t, struct bell, timer);

	b->rang_us = loop_time(loop)->now_us;
	assert_false(timer_is_set(t));
	if (b->name)
		note(b->name);
	if (b->again-- > 0)
		timer_set(loop, t, 0);
}

static struct bell bell_of(char name)
{
	return (struct bell){ .timer = { .fire = ring }, .name = name };
}

static int play(void **state)
{
	(void)state;
	diary[0] = 0;
	loop = loop_new_played();
	return 0;
}

static int run_for_real(void **state)
{
	(void)state;
	diary[0] = 0;
	loop = loop_new();
	alarm(60);
	return 0;
}

static int end(void **state)
{
	(void)state;
	loop_free(loop);
	loop = NULL;
	alarm(0);
	return 0;
}

/*
 * Played.
 */

static void timers_fire_when_due_earliest_first(void **state)
{
	(void)state;
	struct bell a = bell_of('a'), b = bell_of('b'), c = bell_of('c'), d = bell_of('d');

	assert_true(loop_next_due(loop) == UINT64_MAX);
	timer_set(loop, &c.timer, 300);
	timer_set(loop, &a.timer, 100);
	timer_set(loop, &d.timer, 400);
	timer_set(loop, &b.timer, 200);
	assert_int_equal(loop_next_due(loop), 100);
	loop_play(loop, 99);
	assert_string_equal(diary, "");
	loop_play(loop, 1);
	assert_string_equal(diary, "a");
	loop_play(loop, 250);
	assert_string_equal(diary, "abc");
	assert_int_equal(b.rang_us, 200);
	assert_int_equal(c.rang_us, 300);
	assert_int_equal(loop_time(loop)->now_us, 350);
	assert_int_equal(loop_next_due(loop), 50);
	loop_play(loop, 10 * US_PER_S);
	assert_string_equal(diary, "abcd");
	assert_int_equal(loop_time(loop)->now_s, 10);
}

static void equal_times_fire_in_the_order_set(void **state)
{
	(void)state;
	struct bell bells[20];

	for (size_t i = 0; i < COUNT(bells); i++) {
		bells[i] = bell_of((char)('a' + i));
		timer_set(loop, &bells[i].timer, 5);
	}
	timer_set(loop, &bells[0].timer, 5); /* set again: now last */
	loop_play(loop, 5);
	assert_string_equal(diary, "bcdefghijklmnopqrsta");
}

static void a_timer_can_be_moved_and_stopped(void **state)
{
	(void)state;
	struct bell a = bell_of('a'), b = bell_of('b'), c = bell_of('c');

	timer_stop(loop, &a.timer);
	timer_set(loop, &a.timer, 100);
	timer_set(loop, &b.timer, 200);
	timer_set(loop, &c.timer, 300);
	timer_set(loop, &a.timer, 250); /* later */
	timer_set(loop, &c.timer, 50);  /* earlier */
	timer_stop(loop, &b.timer);
	timer_stop(loop, &b.timer);
	assert_false(timer_is_set(&b.timer));
	assert_true(timer_is_set(&a.timer));
	loop_play(loop, 1000);
	assert_string_equal(diary, "ca");
	assert_int_equal(a.rang_us, 250);
	timer_set(loop, &b.timer, UINT64_MAX); /* never */
	loop_play(loop, 1000);
	assert_string_equal(diary, "ca");
}

static void thousands_of_timers_keep_their_order(void **state)
{
	(void)state;
	static struct bell bells[5000];
	uint64_t due[COUNT(bells)];
	struct random r;
	size_t set = 0;

	random_play(&r, 3);
	for (size_t i = 0; i < COUNT(bells); i++)
		bells[i] = bell_of(0);
	for (size_t i = 0; i < 4 * COUNT(bells); i++) {
		size_t at = random_below(&r, COUNT(bells));

		due[at] = 1 + random_below(&r, 1000000);
		if (random_below(&r, 4) == 0)
			timer_stop(loop, &bells[at].timer);
		else
			timer_set(loop, &bells[at].timer, due[at]);
	}
	for (size_t i = 0; i < COUNT(bells); i++)
		set += timer_is_set(&bells[i].timer);
	assert_true(set > 3000);
	loop_play(loop, 2 * US_PER_S);
	/* Each rang at its own moment, since a played clock stands at it. */
	for (size_t i = 0; i < COUNT(bells); i++) {
		assert_true(!bells[i].rang_us || bells[i].rang_us == due[i]);
		set -= bells[i].rang_us != 0;
	}
	assert_int_equal(set, 0);
	assert_true(loop_next_due(loop) == UINT64_MAX);
}

static void post_note(void *arg)
{
	note(*(const char *)arg);
}

static void post_more(void *arg)
{
	note('m');
	loop_post(loop, post_note, arg);
}

static void played_posts_run_in_order(void **state)
{
	(void)state;
	struct bell a = bell_of('t');

	timer_set(loop, &a.timer, 0);
	loop_post(loop, post_more, (void *)(uintptr_t) "3");
	loop_post(loop, post_note, (void *)(uintptr_t) "1");
	loop_post(loop, post_note, (void *)(uintptr_t) "2");
	assert_string_equal(diary, "");
	loop_play(loop, 0);
	assert_string_equal(diary, "m123t");
}

static void stop_loop(void *arg)
{
	loop_stop(arg);
}

/*
 * For real.
 */

static void ring_and_stop(struct timer *t)
{
	ring(t);
	loop_stop(loop);
}

static void a_real_timer_is_never_early(void **state)
{
	(void)state;
	struct bell a = bell_of('a'), b = bell_of('b');
	uint64_t begin = loop_time(loop)->now_us;

	b.timer.fire = ring_and_stop;
	timer_set(loop, &b.timer, 30 * US_PER_MS);
	timer_set(loop, &a.timer, 5 * US_PER_MS);
	loop_run(loop);
	assert_string_equal(diary, "ab");
	assert_true(a.rang_us >= begin + 5 * US_PER_MS);
	assert_true(b.rang_us >= begin + 30 * US_PER_MS);
}

/* Time that passed before the loop ran is not taken from the timer. */
static void a_timer_set_outside_counts_from_then(void **state)
{
	(void)state;
	struct bell a = bell_of('a');
	struct timespec nap = { .tv_nsec = 20000000 };
	uint64_t begin = loop_time(loop)->now_us;

	nanosleep(&nap, NULL);
	a.timer.fire = ring_and_stop;
	timer_set(loop, &a.timer, 10 * US_PER_MS);
	loop_run(loop);
	assert_true(a.rang_us >= begin + 30 * US_PER_MS);
}

struct ear {
	struct watch watch;
	int write_end;
	int heard;
	bool let_go; /* stop and free itself */
};

static void hear(struct watch *w, unsigned what)
{
	struct ear *e = container_of(w, struct ear, watch);
	char c;

	assert_int_equal(what, WATCH_READ);
	assert_int_equal(read(w->fd, &c, 1), 1);
	note(c);
	e->heard++;
	if (c == '.')
		loop_stop(loop);
	if (e->let_go) {
		watch_stop(w);
		close(w->fd);
		close(e->write_end);
		mem_free(e);
	}
}

static void ear_open(struct ear *e)
{
	int fds[2];

	assert_int_equal(pipe(fds), 0);
	*e = (struct ear){ .watch = { .fd = fds[0], .ready = hear }, .write_end = fds[1] };
}

static void ear_close(struct ear *e)
{
	watch_stop(&e->watch);
	watch_stop(&e->watch);
	close(e->watch.fd);
	close(e->write_end);
}

static void a_watch_tells_again_until_all_is_read(void **state)
{
	(void)state;
	struct ear e;

	ear_open(&e);
	watch_start(loop, &e.watch, WATCH_READ);
	assert_int_equal(write(e.write_end, "abc.", 4), 4);
	loop_run(loop);
	assert_string_equal(diary, "abc.");
	ear_close(&e);
}

static void a_timer_that_never_rests_starves_no_descriptor(void **state)
{
	(void)state;
	struct bell b = bell_of(0);
	struct ear e;

	ear_open(&e);
	watch_start(loop, &e.watch, WATCH_READ);
	assert_int_equal(write(e.write_end, "abc.", 4), 4);
	b.again = 1000000;
	timer_set(loop, &b.timer, 0);
	loop_run(loop);
	assert_string_equal(diary, "abc.");
	assert_true(b.again > 999000);
	timer_stop(loop, &b.timer);
	ear_close(&e);
}

static void wake_ear(struct timer *t)
{
	struct bell *b = container_of(t, struct bell, timer);
	struct ear *e = (struct ear *)(uintptr_t)b->rang_us;

	assert_int_equal(e->heard, 0);
	note('w');
	watch_want(&e->watch, WATCH_READ);
}

static void a_paused_watch_is_silent_until_wanted(void **state)
{
	(void)state;
	struct bell b = bell_of('b');
	struct ear e;

	ear_open(&e);
	watch_start(loop, &e.watch, WATCH_READ);
	watch_want(&e.watch, 0);
	watch_want(&e.watch, 0);
	assert_int_equal(write(e.write_end, ".", 1), 1);
	b.timer.fire = wake_ear;
	b.rang_us = (uintptr_t)&e;
	timer_set(loop, &b.timer, 10 * US_PER_MS);
	loop_run(loop);
	assert_string_equal(diary, "w.");
	ear_close(&e);
}

static void can_write(struct watch *w, unsigned what)
{
	assert_int_equal(what, WATCH_WRITE);
	note('w');
	watch_want(w, 0);
	loop_stop(loop);
}

static void a_watch_tells_when_there_is_room_to_write(void **state)
{
	(void)state;
	struct watch w = { .ready = can_write };
	int fds[2];

	assert_int_equal(pipe(fds), 0);
	w.fd = fds[1];
	watch_start(loop, &w, 0);
	watch_want(&w, WATCH_WRITE);
	loop_run(loop);
	assert_string_equal(diary, "w");
	watch_stop(&w);
	close(fds[0]);
	close(fds[1]);
}

static void stop_now(struct timer *t)
{
	(void)t;
	note('t');
	loop_stop(loop);
}

static void is_ready_again(struct watch *w, unsigned what)
{
	static struct timer stop = { .fire = NULL };

	(void)w, (void)what;
	if (!stop.fire) {
		stop.fire = stop_now;
		timer_set(loop, &stop, 0);
	}
}

static void who_is_always_ready_delays_no_timer(void **state)
{
	(void)state;
	struct watch w = { .ready = is_ready_again };
	int fds[2];

	assert_int_equal(pipe(fds), 0);
	w.fd = fds[1];
	watch_start(loop, &w, WATCH_WRITE);
	(void)alarm(20);
	loop_run(loop);
	(void)alarm(0);
	assert_string_equal(diary, "t");
	watch_stop(&w);
	close(fds[0]);
	close(fds[1]);
}

static void a_watch_may_free_itself_while_it_is_told(void **state)
{
	(void)state;
	struct ear *self = mem_new(sizeof(*self)), last;

	ear_open(self);
	ear_open(&last);
	self->let_go = true;
	watch_start(loop, &self->watch, WATCH_READ);
	watch_start(loop, &last.watch, WATCH_READ);
	assert_int_equal(write(self->write_end, "abc", 3), 3);
	assert_int_equal(write(last.write_end, ".", 1), 1);
	loop_run(loop);
	assert_int_equal(strlen(diary), 2);
	ear_close(&last);
}

struct pair_ear {
	struct ear ear;
	struct pair_ear *other;
};

static void hear_for_both(struct watch *w, unsigned what)
{
	struct pair_ear *p = container_of(container_of(w, struct ear, watch), struct pair_ear, ear);

	(void)what;
	note('p');
	watch_stop(&p->ear.watch);
	watch_stop(&p->other->ear.watch);
	loop_stop(loop);
}

static void a_watch_stopped_by_another_is_not_told(void **state)
{
	(void)state;
	struct pair_ear a, b;

	ear_open(&a.ear);
	ear_open(&b.ear);
	a.other = &b;
	b.other = &a;
	a.ear.watch.ready = b.ear.watch.ready = hear_for_both;
	watch_start(loop, &a.ear.watch, WATCH_READ);
	watch_start(loop, &b.ear.watch, WATCH_READ);
	assert_int_equal(write(a.ear.write_end, "a", 1), 1);
	assert_int_equal(write(b.ear.write_end, "b", 1), 1);
	loop_run(loop);
	assert_string_equal(diary, "p");
	ear_close(&a.ear);
	ear_close(&b.ear);
}

struct tally {
	int seen[4];
	int done;
};

struct stream_query {
	struct tally *tally;
	int from, number;
};

enum { BUSY = 64, BUSY_US = 300 };

static struct {
	unsigned busy, eager;
} of_busy;

static void spin(uint64_t us)
{
	struct timebase t = { .played = false };
	uint64_t began;

	timebase_read(&t);
	for (began = t.now_us; t.now_us < began + us;)
		timebase_read(&t);
}

static void keep_busy(struct watch *w, unsigned what)
{
	(void)w;
	(void)what;
	spin(BUSY_US);
	if (++of_busy.busy == BUSY)
		loop_stop(loop);
}

/* Would take three times what the others do. */
static void be_eager(struct watch *w, unsigned what)
{
	(void)w;
	assert_int_equal(what, WATCH_READ);
	of_busy.eager++;
	spin(3 * BUSY_US);
}

static void who_is_eager_is_told_in_between_but_not_always(void **state)
{
	(void)state;
	struct ear eager, busy[BUSY];

	of_busy.busy = of_busy.eager = 0;
	ear_open(&eager); /* nothing to read there */
	eager.watch.ready = be_eager;
	watch_start(loop, &eager.watch, WATCH_READ);
	watch_eagerly(&eager.watch);
	for (size_t i = 0; i < COUNT(busy); i++) {
		ear_open(&busy[i]);
		busy[i].watch.ready = keep_busy;
		assert_int_equal(write(busy[i].write_end, "", 1), 1);
		watch_start(loop, &busy[i].watch, WATCH_READ);
	}
	loop_run(loop);
	assert_in_range(of_busy.eager, 1, of_busy.busy / 3 + 1);
	for (size_t i = 0; i < COUNT(busy); i++)
		ear_close(&busy[i]);
	ear_close(&eager);
}

static void receive(void *arg)
{
	struct stream_query *l = arg;

	assert_int_equal(l->tally->seen[l->from], l->number);
	l->tally->seen[l->from]++;
	mem_free(l);
}

static void finished(void *arg)
{
	struct tally *t = arg;

	if (++t->done == 4)
		loop_stop(loop);
}

struct sender {
	struct tally *tally;
	int number;
};

static void *send_letters(void *arg)
{
	struct sender *s = arg;

	for (int i = 0; i < 3000; i++) {
		struct stream_query *l = mem_new(sizeof(*l));

		*l = (struct stream_query){ .tally = s->tally, .from = s->number, .number = i };
		loop_post(loop, receive, l);
	}
	loop_post(loop, finished, s->tally);
	return NULL;
}

static void posts_of_many_threads_all_arrive_in_order(void **state)
{
	(void)state;
	struct tally tally = { .done = 0 };
	struct sender senders[4];
	pthread_t threads[4];

	for (int i = 0; i < 4; i++) {
		senders[i] = (struct sender){ .tally = &tally, .number = i };
		assert_int_equal(pthread_create(&threads[i], NULL, send_letters, &senders[i]), 0);
	}
	loop_run(loop);
	for (int i = 0; i < 4; i++) {
		assert_int_equal(pthread_join(threads[i], NULL), 0);
		assert_int_equal(tally.seen[i], 3000);
	}
}

static void *stop_soon(void *arg)
{
	nanosleep(&(struct timespec){ .tv_nsec = 20000000 }, NULL);
	loop_stop(arg);
	return NULL;
}

static void another_thread_stops_a_loop_that_sleeps(void **state)
{
	(void)state;
	pthread_t thread;

	assert_int_equal(pthread_create(&thread, NULL, stop_soon, loop), 0);
	loop_run(loop);
	assert_int_equal(pthread_join(thread, NULL), 0);

	/* A stop before the run is not lost, and what was posted before it is done. */
	loop_post(loop, post_note, (void *)(uintptr_t) "p");
	loop_stop(loop);
	loop_run(loop);
	assert_string_equal(diary, "p");
	loop_post(loop, stop_loop, loop);
	loop_run(loop);
}

static void on_usr1(struct signal_watch *s)
{
	assert_int_equal(s->number, SIGUSR1);
	note('s');
	loop_stop(loop);
}

static void a_signal_is_caught_in_the_loop(void **state)
{
	(void)state;
	struct signal_watch s = { .number = SIGUSR1, .caught = on_usr1 };

	signal_stop(&s);
	signal_start(loop, &s);
	raise(SIGUSR1);
	loop_run(loop);
	assert_string_equal(diary, "s");
	signal_stop(&s);
	signal_stop(&s);
}

/* A thousand in a row are one: else what each of them begins would keep everything else waiting a thousand times. */
static void on_usr1_among_others(struct signal_watch *s)
{
	(void)s;
	note('s');
	for (int i = 0; i < 1000 && strlen(diary) == 1; i++)
		raise(SIGUSR1);
	loop_post(loop, post_note, (void *)(uintptr_t) "p");
	if (strlen(diary) > 2)
		loop_stop(loop);
}

static void a_signal_that_comes_often_is_told_once(void **state)
{
	(void)state;
	struct signal_watch s = { .number = SIGUSR1, .caught = on_usr1_among_others };

	signal_start(loop, &s);
	for (int i = 0; i < 1000; i++)
		raise(SIGUSR1);
	loop_run(loop);
	assert_string_equal(diary, "spsp");
	signal_stop(&s);
}

static void a_signal_that_was_caught_is_not_told_after_the_stop(void **state)
{
	(void)state;
	struct signal_watch s = { .number = SIGUSR1, .caught = on_usr1 };

	signal_start(loop, &s);
	raise(SIGUSR1);
	signal_stop(&s);
	loop_post(loop, stop_loop, loop);
	loop_run(loop);
	assert_string_equal(diary, "");
}

/* ---- how long it keeps packets waiting ---- */

static void burn(uint64_t us)
{
	struct timespec t;
	uint64_t end = 0, now;

	do {
		assert_int_equal(clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t), 0);
		now = (uint64_t)t.tv_sec * US_PER_S + (uint64_t)t.tv_nsec / 1000;
		end = end ? end : now + us;
	} while (now < end);
}

static void burn_30_ms(void *arg)
{
	(void)arg;
	burn(30000);
}

static void burn_300_us(void *arg)
{
	(void)arg;
	burn(300);
}

static void sleep_60_ms(void *arg)
{
	(void)arg;
	nanosleep(&(struct timespec){ .tv_nsec = 60000000 }, NULL);
}

static void burn_in_timer(struct timer *t)
{
	(void)t;
	burn_30_ms(NULL);
}

static void stop_in_timer(struct timer *t)
{
	(void)t;
	loop_stop(loop);
}

static void its_longest_stretch_is_measured_but_not_its_rest(void **state)
{
	(void)state;
	static const struct {
		const char *why;
		void (*post)(void *arg);
		unsigned posts;
		bool timer;
		uint64_t cpu_least, cpu_most, wall_least, long_ones; /* the last: of over 10 ms */
	} rows[] = {
		{ "nothing to do", NULL, 0, false, 0, 9000, 0, 0 },
		{ "a post that works", burn_30_ms, 1, false, 30000, 60000, 30000, 1 },
		{ "a timer that works", NULL, 0, true, 30000, 60000, 30000, 1 },
		{ "a post that sleeps", sleep_60_ms, 1, false, 0, 9000, 60000, 0 },
		{ "many short ones in a round", burn_300_us, 100, false, 30000, 60000, 30000, 1 },
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		struct timer work = { .fire = burn_in_timer }, end = { .fire = stop_in_timer };
		struct loop_longest *l = loop_longest(loop);
		uint64_t short_ones = 0;

		*l = (struct loop_longest){ 0 };
		for (unsigned n = 0; n < rows[i].posts; n++)
			loop_post(loop, rows[i].post, NULL);
		if (rows[i].timer)
			timer_set(loop, &work, 0);
		timer_set(loop, &end, 100000); /* resting is no work */
		loop_run(loop);
		if (l->cpu_us < rows[i].cpu_least || l->cpu_us > rows[i].cpu_most ||
		    l->wall_us < rows[i].wall_least || (!rows[i].wall_least && l->wall_us > 90000))
			fail_msg("%s: %llu us of its own, %llu by the clock", rows[i].why,
				 (unsigned long long)l->cpu_us, (unsigned long long)l->wall_us);
		for (unsigned n = 0; n < LOOP_BOUNDS - 1; n++)
			short_ones += l->stretches[n];
		if (l->stretches[LOOP_BOUNDS - 1] != rows[i].long_ones || l->stretches[LOOP_BOUNDS] || !short_ones)
			fail_msg("%s: %llu of over 10 ms, %llu shorter", rows[i].why,
				 (unsigned long long)l->stretches[LOOP_BOUNDS - 1], (unsigned long long)short_ones);
	}
}

/* Whoever is eager is served in between, and that ends a stretch. */
static void a_look_at_who_is_eager_ends_a_stretch(void **state)
{
	(void)state;
	struct timer end = { .fire = stop_in_timer };
	struct ear eager;

	of_busy.busy = of_busy.eager = 0;
	ear_open(&eager);
	eager.watch.ready = be_eager;
	watch_start(loop, &eager.watch, WATCH_READ);
	watch_eagerly(&eager.watch);
	for (unsigned n = 0; n < 400; n++)
		loop_post(loop, burn_300_us, NULL);
	timer_set(loop, &end, 0);
	loop_run(loop);
	assert_true(of_busy.eager > 10);
	assert_in_range(loop_longest(loop)->cpu_us, 300, 60000); /* not all 120 ms, on a busy machine either */
	ear_close(&eager);
}

#define PLAYED(claim) cmocka_unit_test_setup_teardown(claim, play, end)
#define REAL(claim)   cmocka_unit_test_setup_teardown(claim, run_for_real, end)

/* ---- who has more to do than there is time for ---- */

/* At once after a look none is, but for a machine that stood still just then: not a hundred times. */
static unsigned not_due;

static void note_due(void *arg)
{
	(void)arg;
	not_due += !loop_is_due(loop);
	spin(LOOP_LOOK_US);
	note(loop_is_due(loop) ? 'd' : '-');
}

static void a_turn_is_due_to_end_when_it_has_lasted(void **state)
{
	struct ear eager;

	(void)state;
	not_due = 0;
	ear_open(&eager);
	eager.watch.ready = be_eager;
	watch_start(loop, &eager.watch, WATCH_READ);
	watch_eagerly(&eager.watch);
	for (unsigned i = 0; i < 20; i++)
		loop_post(loop, note_due, NULL);
	loop_post(loop, stop_loop, loop);
	loop_run(loop);
	assert_string_equal(diary, "dddddddddddddddddddd");
	assert_in_range(not_due, 1, 20);
	ear_close(&eager);
}

static void no_turn_is_due_to_end_where_time_is_played(void **state)
{
	(void)state;
	loop_post(loop, note_due, NULL);
	loop_play(loop, 1);
	assert_string_equal(diary, "-");
}

int main(void)
{
	const struct CMUnitTest claims[] = {
		PLAYED(timers_fire_when_due_earliest_first),
		PLAYED(equal_times_fire_in_the_order_set),
		PLAYED(a_timer_can_be_moved_and_stopped),
		PLAYED(thousands_of_timers_keep_their_order),
		PLAYED(played_posts_run_in_order),
		REAL(a_real_timer_is_never_early),
		REAL(a_timer_set_outside_counts_from_then),
		REAL(a_watch_tells_again_until_all_is_read),
		REAL(a_timer_that_never_rests_starves_no_descriptor),
		REAL(a_paused_watch_is_silent_until_wanted),
		REAL(a_watch_tells_when_there_is_room_to_write),
		REAL(a_watch_may_free_itself_while_it_is_told),
		REAL(who_is_always_ready_delays_no_timer),
		REAL(a_watch_stopped_by_another_is_not_told),
		REAL(who_is_eager_is_told_in_between_but_not_always),
		REAL(its_longest_stretch_is_measured_but_not_its_rest),
		REAL(a_look_at_who_is_eager_ends_a_stretch),
		REAL(a_turn_is_due_to_end_when_it_has_lasted),
		PLAYED(no_turn_is_due_to_end_where_time_is_played),
		REAL(posts_of_many_threads_all_arrive_in_order),
		REAL(another_thread_stops_a_loop_that_sleeps),
		REAL(a_signal_is_caught_in_the_loop),
		REAL(a_signal_that_comes_often_is_told_once),
		REAL(a_signal_that_was_caught_is_not_told_after_the_stop),
	};

	return cmocka_run_group_tests(claims, NULL, NULL);
}
