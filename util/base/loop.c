/* Events, timers and posts of one thread, over libevent.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * libevent only waits for descriptors; timers are kept in our own heap, the earliest
 * of them setting a single alarm. A round is: wait, run what is ready, run what was
 * posted, fire what is due. The base is used by its own thread only; others reach it
 * through the post box and the pipe behind it. */
#include "util/base/loop.h"

#include <event2/event.h>

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "util/base/log.h"
#include "util/base/mem.h"
#include "util/base/rcu.h"

/* The heap keeps the time next to the pointer, so that sifting reads one array. Timers due at the
 * same moment fire in the order they were set. */
struct due {
	uint64_t at_us, order;
	struct timer *timer;
};

struct post {
	void (*fn)(void *arg);
	void *arg;
};

struct post_box {
	struct post *posts;
	size_t count, room;
};

struct loop {
	struct timebase time;
	bool time_is_old; /* no turn since the last wait, or outside loop_run */
	struct due *heap; /* heap[0] is the earliest */
	uint32_t count, room;
	uint64_t order;          /* of the next timer to be set */
	struct event_base *base; /* NULL: played */
	struct event *alarm, *wake;
	uint64_t alarm_us; /* when the alarm goes off; UINT64_MAX: not set */
	int pipe[2];
	_Atomic bool stop;
	struct list eager;       /* watches */
	uint64_t look_us;        /* by then they are due */
	/* measuring: see loop_longest */
	struct loop_longest longest;
	uint64_t stretch_us;         /* when the one under way began */
	uint64_t cpu_us, unread_us;  /* the thread's own time when last read; how long it has run since, by the clock */
	pthread_mutex_t lock; /* of `box` */
	struct post_box box;
	atomic_bool has_posts; /* `box` is not empty: so that a turn without any takes no lock */
};

static void time_renew(struct loop *l)
{
	timebase_read(&l->time);
	l->time_is_old = false;
	l->stretch_us = l->time.now_us;
}

static void turn_begin(struct loop *l)
{
	if (l->time_is_old)
		time_renew(l);
	rcu_turn_begin();
}

static void turn_end(void)
{
	rcu_turn_end();
}

static uint64_t clock_us(void)
{
	struct timebase t = { .played = false };

	timebase_read(&t);
	return t.now_us;
}

/*
 * Measuring.
 */

static uint64_t thread_cpu_us(void)
{
	struct timespec t = { 0 };

	(void)clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return (uint64_t)t.tv_sec * US_PER_S + (uint64_t)t.tv_nsec / 1000;
}

static void cpu_renew(struct loop *l)
{
	l->cpu_us = thread_cpu_us();
	l->unread_us = 0;
}

/* The thread's own time in the `wall_us` that end now; 0: too little to be worth reading. */
static uint64_t cpu_used(struct loop *l, uint64_t wall_us)
{
	uint64_t was = l->cpu_us;

	l->unread_us += wall_us;
	if (l->unread_us < LOOP_CPU_EVERY_US)
		return 0;
	cpu_renew(l);
	return MIN(l->cpu_us - was, wall_us);
}

static void stretch_ends(struct loop *l, uint64_t now_us)
{
	static const uint32_t bounds[LOOP_BOUNDS] = { LOOP_BOUNDS_US };
	uint64_t wall_us = now_us - l->stretch_us, cpu_us = cpu_used(l, wall_us);
	unsigned i = 0;

	while (i < LOOP_BOUNDS && cpu_us > bounds[i])
		i++;
	l->longest.stretches[i]++;
	l->longest.wall_us = MAX(l->longest.wall_us, wall_us);
	l->longest.cpu_us = MAX(l->longest.cpu_us, cpu_us);
}

struct loop_longest *loop_longest(struct loop *l)
{
	return &l->longest;
}

bool loop_is_due(const struct loop *l)
{
	return l->base && clock_us() >= l->stretch_us + LOOP_LOOK_US;
}

/* After a turn of somebody else. */
static void look_at_eager(struct loop *l)
{
	uint64_t began;

	if (list_is_empty(&l->eager))
		return;
	began = clock_us();
	if (began < l->look_us)
		return;
	stretch_ends(l, began);
	LIST_EACH_SAFE (at, &l->eager) {
		struct watch *w = LIST_ITEM(at, struct watch, in_eager);

		turn_begin(l);
		w->ready(w, WATCH_READ);
		turn_end();
	}
	l->look_us = l->stretch_us = clock_us();
	l->unread_us += l->look_us - began;
	l->look_us += MAX(l->look_us - began, LOOP_LOOK_US);
}

/*
 * Timers.
 */

static bool is_before(const struct due *a, const struct due *b)
{
	return a->at_us != b->at_us ? a->at_us < b->at_us : a->order < b->order;
}

static void heap_put(struct loop *l, uint32_t at, struct due d)
{
	l->heap[at] = d;
	d.timer->place = at + 1;
}

/* Put `d` into the hole `at`, or wherever above or below it belongs. */
static void heap_sift(struct loop *l, uint32_t at, struct due d)
{
	while (at && is_before(&d, &l->heap[(at - 1) / 2])) {
		heap_put(l, at, l->heap[(at - 1) / 2]);
		at = (at - 1) / 2;
	}
	for (;;) {
		uint32_t child = 2 * at + 1;

		if (child + 1 < l->count && is_before(&l->heap[child + 1], &l->heap[child]))
			child++;
		if (child >= l->count || !is_before(&l->heap[child], &d))
			break;
		heap_put(l, at, l->heap[child]);
		at = child;
	}
	heap_put(l, at, d);
}

void timer_set(struct loop *l, struct timer *t, uint64_t from_now_us)
{
	struct due d = { .order = l->order++, .timer = t };
	uint64_t now;

	if (l->time_is_old)
		timebase_read(&l->time);
	now = l->time.now_us;
	d.at_us = from_now_us > UINT64_MAX - now ? UINT64_MAX : now + from_now_us;
	t->due_us = d.at_us;
	if (timer_is_set(t)) {
		PROMISE(t->place <= l->count && l->heap[t->place - 1].timer == t);
		heap_sift(l, t->place - 1, d);
		return;
	}
	if (l->count == l->room) {
		PROMISE(l->room < UINT32_MAX / 4);
		l->room = l->room ? 2 * l->room : 64;
		l->heap = mem_grow(l->heap, l->room * sizeof(*l->heap));
	}
	heap_sift(l, l->count++, d);
}

void timer_stop(struct loop *l, struct timer *t)
{
	uint32_t at = t->place - 1;

	if (!timer_is_set(t))
		return;
	PROMISE(at < l->count && l->heap[at].timer == t);
	t->place = 0;
	if (at != --l->count)
		heap_sift(l, at, l->heap[l->count]);
}

static void fire_earliest(struct loop *l)
{
	struct timer *t = l->heap[0].timer;

	timer_stop(l, t);
	turn_begin(l);
	t->fire(t);
	turn_end();
}

/* Fire what is due now. A timer set meanwhile waits for the next round even if due at once: it
 * sorts after all that were set before, and descriptors get their turn in between. */
static void fire_due(struct loop *l)
{
	uint64_t round = l->order;

	while (l->count && l->heap[0].at_us <= l->time.now_us && l->heap[0].order < round) {
		fire_earliest(l);
		look_at_eager(l);
	}
}

uint64_t loop_next_due(struct loop *l)
{
	if (!l->count)
		return UINT64_MAX;
	return l->heap[0].at_us > l->time.now_us ? l->heap[0].at_us - l->time.now_us : 0;
}

/*
 * Posts.
 */

static void wake(struct loop *l)
{
	/* A full pipe wakes the loop just as well. */
	while (write(l->pipe[1], "", 1) < 0 && errno == EINTR)
		;
}

void loop_post(struct loop *l, void (*fn)(void *arg), void *arg)
{
	struct post_box *b = &l->box;
	bool first;

	pthread_mutex_lock(&l->lock);
	first = b->count == 0;
	if (b->count == b->room) {
		b->room = b->room ? 2 * b->room : 16;
		b->posts = mem_grow(b->posts, b->room * sizeof(*b->posts));
	}
	b->posts[b->count++] = (struct post){ .fn = fn, .arg = arg };
	atomic_store(&l->has_posts, true);
	pthread_mutex_unlock(&l->lock);
	if (first && l->base)
		wake(l);
}

/* Run what has been posted so far; what is posted meanwhile waits for the next round. */
static bool run_posts(struct loop *l)
{
	struct post_box taken;

	if (!atomic_load(&l->has_posts))
		return false;
	pthread_mutex_lock(&l->lock);
	atomic_store(&l->has_posts, false);
	taken = l->box;
	l->box = (struct post_box){ .posts = NULL };
	pthread_mutex_unlock(&l->lock);
	for (size_t i = 0; i < taken.count; i++) {
		turn_begin(l);
		taken.posts[i].fn(taken.posts[i].arg);
		turn_end();
		look_at_eager(l);
	}
	mem_free(taken.posts);
	return taken.count > 0;
}

static void on_wake(evutil_socket_t fd, short what, void *arg)
{
	char drop[64];

	(void)what;
	(void)arg;
	while (read(fd, drop, sizeof(drop)) == (ssize_t)sizeof(drop))
		;
}

static void on_alarm(evutil_socket_t fd, short what, void *arg)
{
	struct loop *l = arg;

	(void)fd;
	(void)what;
	l->alarm_us = UINT64_MAX;
}

/*
 * The loop.
 */

static void libevent_says(int severity, const char *text)
{
	if (severity >= EVENT_LOG_WARN)
		log_warn("libevent: %s", text);
}

static void libevent_gives_up(int err)
{
	PANIC("libevent gave up: error %d", err);
}

static pthread_once_t libevent_once = PTHREAD_ONCE_INIT;

static void libevent_prepare(void)
{
	event_set_log_callback(libevent_says);
	event_set_fatal_callback(libevent_gives_up);
}

static struct event *event_sure(struct event *e)
{
	if (!e)
		PANIC("libevent made no event");
	return e;
}

static void pipe_open(int fds[2])
{
	if (pipe(fds) < 0)
		PANIC("no pipe for an event loop: %s", strerror(errno));
	for (int i = 0; i < 2; i++) {
		fcntl(fds[i], F_SETFD, FD_CLOEXEC);
		fcntl(fds[i], F_SETFL, O_NONBLOCK);
	}
}

struct loop *loop_new_played(void)
{
	struct loop *l = mem_zero(sizeof(*l));

	timebase_play(&l->time, 0);
	pthread_mutex_init(&l->lock, NULL);
	list_init(&l->eager);
	l->pipe[0] = l->pipe[1] = -1;
	return l;
}

struct loop *loop_new(void)
{
	struct event_config *config = event_config_new();
	struct loop *l = loop_new_played();

	pthread_once(&libevent_once, libevent_prepare);
	l->time = (struct timebase){ .played = false };
	timebase_read(&l->time);
	l->time_is_old = true;
	if (!config)
		PANIC("libevent made no configuration");
	event_config_set_flag(config, EVENT_BASE_FLAG_NOLOCK);
	l->base = event_base_new_with_config(config);
	event_config_free(config);
	if (!l->base)
		PANIC("libevent made no event base: %s", strerror(errno));
	pipe_open(l->pipe);
	l->wake = event_sure(event_new(l->base, l->pipe[0], EV_READ | EV_PERSIST, on_wake, NULL));
	l->alarm = event_sure(event_new(l->base, -1, 0, on_alarm, l));
	l->alarm_us = UINT64_MAX;
	event_add(l->wake, NULL);
	return l;
}

void loop_free(struct loop *l)
{
	if (!l)
		return;
	if (l->base) {
		event_free(l->alarm);
		event_free(l->wake);
		event_base_free(l->base);
		close(l->pipe[0]);
		close(l->pipe[1]);
	}
	pthread_mutex_destroy(&l->lock);
	mem_free(l->box.posts);
	mem_free(l->heap);
	mem_free(l);
}

struct timebase *loop_time(struct loop *l)
{
	return &l->time;
}

/* Make sure the alarm goes off no later than the earliest timer: an early alarm costs only one
 * round, and so most rounds need not touch it. */
static void set_alarm(struct loop *l, uint64_t left)
{
	struct timeval tv;

	left = MIN(left, 3600 * US_PER_S); /* any clock can count that far */
	if (l->alarm_us <= l->time.now_us + left)
		return;
	l->alarm_us = l->time.now_us + left;
	tv.tv_sec = (time_t)(left / US_PER_S);
	tv.tv_usec = (suseconds_t)(left % US_PER_S);
	event_add(l->alarm, &tv);
}

/* Wait for a descriptor, a post or the earliest timer, and run the watches that are ready. */
static void wait_and_watch(struct loop *l)
{
	uint64_t left = loop_next_due(l);

	if (left && left != UINT64_MAX)
		set_alarm(l, left);
	l->time_is_old = true;
	/* without ONCE it would never return while something is always ready */
	if (event_base_loop(l->base, left ? EVLOOP_ONCE : EVLOOP_ONCE | EVLOOP_NONBLOCK) < 0)
		PANIC("libevent cannot wait: %s", strerror(errno));
	if (l->time_is_old)
		time_renew(l);
}

void loop_run(struct loop *l)
{
	PROMISE(l->base);
	rcu_thread_join();
	time_renew(l);
	cpu_renew(l);
	while (!atomic_load(&l->stop)) {
		wait_and_watch(l);
		run_posts(l);
		fire_due(l);
		stretch_ends(l, clock_us());
	}
	run_posts(l); /* finish what was posted before the stop */
	atomic_store(&l->stop, false);
	l->time_is_old = true;
	rcu_thread_leave();
}

void loop_stop(struct loop *l)
{
	atomic_store(&l->stop, true);
	if (l->base)
		wake(l);
}

void loop_play(struct loop *l, uint64_t forward_us)
{
	uint64_t until = l->time.now_us + forward_us;

	PROMISE(!l->base);
	rcu_thread_join();
	do {
		while (run_posts(l))
			;
		if (!l->count || l->heap[0].at_us > until)
			break;
		timebase_play(&l->time, MAX(l->heap[0].at_us, l->time.now_us));
		fire_earliest(l);
	} while (!atomic_exchange(&l->stop, false));
	timebase_play(&l->time, MAX(until, l->time.now_us));
	rcu_thread_leave();
}

/*
 * Descriptors and signals.
 */

static void on_ready(evutil_socket_t fd, short what, void *arg)
{
	struct watch *w = arg;
	struct loop *l = w->loop;
	bool is_eager = !list_is_empty(&w->in_eager);

	(void)fd;
	turn_begin(l);
	w->ready(w, (what & EV_READ ? WATCH_READ : 0) | (what & EV_WRITE ? WATCH_WRITE : 0));
	turn_end();
	if (!is_eager)
		look_at_eager(l);
}

static short libevent_wants(unsigned wanted)
{
	return (short)((wanted & WATCH_READ ? EV_READ : 0) | (wanted & WATCH_WRITE ? EV_WRITE : 0) |
		       EV_PERSIST);
}

void watch_start(struct loop *l, struct watch *w, unsigned wanted)
{
	PROMISE(l->base);
	w->loop = l;
	w->wanted = wanted;
	list_init(&w->in_eager);
	w->event = event_sure(event_new(l->base, w->fd, libevent_wants(wanted), on_ready, w));
	if (wanted && event_add(w->event, NULL) < 0)
		PANIC("libevent cannot watch descriptor %d: %s", w->fd, strerror(errno));
}

void watch_want(struct watch *w, unsigned wanted)
{
	if (!w->event || w->wanted == wanted)
		return;
	if (w->wanted)
		event_del(w->event);
	w->wanted = wanted;
	if (!wanted) {
		list_remove(&w->in_eager);
		return;
	}
	event_assign(w->event, w->loop->base, w->fd, libevent_wants(wanted), on_ready, w);
	if (event_add(w->event, NULL) < 0)
		PANIC("libevent cannot watch descriptor %d: %s", w->fd, strerror(errno));
}

void watch_stop(struct watch *w)
{
	if (!w->event)
		return;
	event_free(w->event);
	w->event = NULL;
	w->wanted = 0;
	list_remove(&w->in_eager);
}

void watch_eagerly(struct watch *w)
{
	PROMISE(w->wanted & WATCH_READ);
	list_remove(&w->in_eager);
	list_push_back(&w->loop->eager, &w->in_eager);
}

struct caught {
	struct loop *loop;
	struct signal_watch *watch;
	struct event *event;
	struct timer soon;
};

static void tell_of_signal(struct timer *t)
{
	struct caught *c = container_of(t, struct caught, soon);

	c->watch->caught(c->watch);
}

/* libevent calls once for each time the signal was caught meanwhile, without a look at anything else between. */
static void on_signal(evutil_socket_t fd, short what, void *arg)
{
	struct caught *c = arg;

	(void)fd;
	(void)what;
	if (!timer_is_set(&c->soon))
		timer_set(c->loop, &c->soon, 0);
}

void signal_start(struct loop *l, struct signal_watch *s)
{
	struct caught *c = mem_zero(sizeof(*c));

	PROMISE(l->base);
	*c = (struct caught){ .loop = l, .watch = s, .soon.fire = tell_of_signal };
	c->event = event_sure(evsignal_new(l->base, s->number, on_signal, c));
	if (event_add(c->event, NULL) < 0)
		PANIC("libevent cannot catch signal %d: %s", s->number, strerror(errno));
	s->event = c;
}

void signal_stop(struct signal_watch *s)
{
	struct caught *c = s->event;

	if (!c)
		return;
	event_free(c->event);
	timer_stop(c->loop, &c->soon);
	mem_free(c);
	s->event = NULL;
}
