/* Client queries as lines in a named pipe: the thread that writes them.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "services/history/querypipe.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "services/history/linering.h"
#include "services/history/report.h"
#include "util/base/log.h"
#include "util/base/mem.h"
#include "util/base/msgring.h"
#include "util/base/thread.h"
#include "util/base/timebase.h"
#include "util/conf/options.h"

#ifndef PIPE_BUF
#define PIPE_BUF 512
#endif

enum {
	RETRY_MS = 2000,   /* from one attempt to open the pipe to the next */
	LINGER_MS = 20,    /* so that lines close together are written together */
	TELL_S = 60,       /* from one line in the log about losses to the next */
	FRAMES = 64,       /* queries taken from a worker's ring at a time */
};

struct querypipe {
	pthread_t thread;
	bool has_thread;
	struct msgring **rings; /* one per worker; NULL: never enabled */
	unsigned count;
	int wake[2];
	struct msgring_bell bell;
	atomic_bool called; /* the main thread has orders below */
	pthread_mutex_t lock; /* guards these orders: */
	char *next;
	bool has_next, ending;
	atomic_bool enabled, has_reader;
	_Atomic uint64_t written, lost; /* lost: but for what the rings have dropped */
	/* the thread's own */
	char *path; /* NULL: off */
	int fd;     /* -1: nobody reads */
	bool full;  /* the pipe takes no more at present */
	int why_not; /* errno of the last attempt to open it that has been logged; or 0 */
	uint64_t retry_us, tell_us; /* not before */
	uint64_t told; /* losses that are in the log */
	struct linering lines;
};

static uint64_t now_us(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * US_PER_S + (uint64_t)t.tv_nsec / 1000;
}

static void add(_Atomic uint64_t *counter, uint64_t by)
{
	atomic_fetch_add_explicit(counter, by, memory_order_relaxed);
}

static uint64_t losses(const struct querypipe *p)
{
	struct msgring_counts c = { 0 };

	for (unsigned i = 0; p->rings && i < p->count; i++)
		msgring_count(p->rings[i], &c);
	return c.dropped + atomic_load_explicit(&p->lost, memory_order_relaxed);
}

/* ---- the pipe ---- */

static void hang_up(struct querypipe *p)
{
	if (p->fd >= 0)
		close(p->fd);
	p->fd = -1;
	p->full = false;
	add(&p->lost, linering_mend(&p->lines));
	atomic_store(&p->has_reader, false);
	p->retry_us = now_us() + RETRY_MS * US_PER_MS;
}

/* What opens at once: a pipe somebody reads. -1, and errno. Another kind of file is left alone. */
static int open_pipe(const char *path)
{
	int fd = open(path, O_WRONLY | O_NONBLOCK | O_CLOEXEC | O_NOCTTY);
	struct stat st;

	if (fd < 0 || (fstat(fd, &st) == 0 && S_ISFIFO(st.st_mode)))
		return fd;
	close(fd);
	errno = ESPIPE;
	return -1;
}

static void say_why(struct querypipe *p, int why)
{
	if (why == ENXIO)
		log_ops("query-pipe: nobody reads %s yet; lines are kept", p->path);
	else
		log_warn("query-pipe: cannot write to %s: %s; will retry", p->path,
			 why == ESPIPE ? "it is no named pipe" : strerror(why));
}

/* The reason is logged when it is another one than last time. */
static void reach(struct querypipe *p)
{
	int why;

	if (p->fd >= 0 || now_us() < p->retry_us)
		return;
	p->fd = open_pipe(p->path);
	why = p->fd < 0 ? errno : 0;
	if (why && why != p->why_not)
		say_why(p, why);
	p->why_not = why;
	p->retry_us = now_us() + RETRY_MS * US_PER_MS;
	if (why)
		return;
	atomic_store(&p->has_reader, true);
	log_ops("query-pipe: %s has a reader", p->path);
}

/* Up to PIPE_BUF bytes are written whole or not at all: as whole lines they stay whole, whoever reads. */
static void write_lines(struct querypipe *p)
{
	char bytes[PIPE_BUF];
	size_t len, before;
	ssize_t n;

	p->full = false;
	while (p->fd >= 0 && !p->full && (len = linering_look(&p->lines, bytes, sizeof bytes)) > 0) {
		n = write(p->fd, bytes, len);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) {
			p->full = true;
		} else if (n < 0) {
			log_ops("query-pipe: the reader of %s has gone", p->path);
			hang_up(p);
		} else {
			before = p->lines.count;
			linering_take(&p->lines, (size_t)n);
			add(&p->written, before - p->lines.count);
		}
	}
}

/* ---- what the workers hand over ---- */

static void take_one(struct querypipe *p, const struct slice *from)
{
	struct report r;
	char line[REPORT_LINE];

	report_unpack(&r, from->at);
	add(&p->lost, linering_put(&p->lines, line, report_line(&r, line)));
}

static void take_queries(struct querypipe *p)
{
	struct slice at[FRAMES];
	unsigned count;

	for (unsigned i = 0; i < p->count; i++) {
		count = msgring_look(p->rings[i], at, FRAMES);
		for (unsigned n = 0; n < count && p->path; n++)
			take_one(p, &at[n]);
		if (count)
			msgring_done(p->rings[i], count, true);
	}
}

static bool is_idle(const struct querypipe *p)
{
	for (unsigned i = 0; i < p->count; i++)
		if (!msgring_is_empty(p->rings[i]))
			return false;
	return !atomic_load_explicit(&p->called, memory_order_acquire);
}

static void tell_losses(struct querypipe *p)
{
	uint64_t lost = losses(p);

	if (lost == p->told || now_us() < p->tell_us)
		return;
	log_warn("query-pipe: %" PRIu64 " lines were lost: %s", lost - p->told,
		 p->fd < 0 ? "nobody reads them" : "the reader is too slow");
	p->told = lost;
	p->tell_us = now_us() + TELL_S * US_PER_S;
}

/* ---- the thread ---- */

static void drain_wake(struct querypipe *p)
{
	char bytes[64];

	while (read(p->wake[0], bytes, sizeof bytes) > 0)
		;
}

static int patience_ms(const struct querypipe *p)
{
	uint64_t now = now_us();

	if (!p->path || p->fd >= 0)
		return -1;
	return p->retry_us > now ? (int)((p->retry_us - now) / US_PER_MS) + 1 : 0;
}

/* Sleep until there is something to do: queries, orders, room in the pipe, its reader's end, the next
 * attempt to open it. */
static void rest(struct querypipe *p)
{
	struct pollfd at[] = { { .fd = p->wake[0], .events = POLLIN },
			       { .fd = p->fd, .events = p->full ? POLLOUT : 0 } };

	atomic_store_explicit(&p->bell.asleep, true, memory_order_relaxed);
	atomic_thread_fence(memory_order_seq_cst);
	if (is_idle(p))
		(void)poll(at, 2, patience_ms(p));
	atomic_store_explicit(&p->bell.asleep, false, memory_order_relaxed);
	drain_wake(p);
	if (p->fd >= 0 && at[1].revents & (POLLERR | POLLHUP | POLLNVAL)) {
		log_ops("query-pipe: the reader of %s has gone", p->path);
		hang_up(p);
	}
	if (at[0].revents && !atomic_load_explicit(&p->called, memory_order_acquire))
		nanosleep(&(struct timespec){ .tv_nsec = LINGER_MS * 1000000 }, NULL);
}

/* Another path, or none: what is kept belongs to the old one only when it is switched off. */
static void renew(struct querypipe *p, char *next)
{
	bool same = p->path && next && strcmp(p->path, next) == 0;

	if (!same) {
		hang_up(p);
		p->why_not = 0;
	}
	if (!next) {
		add(&p->lost, p->lines.count);
		linering_clear(&p->lines);
	}
	mem_free(p->path);
	p->path = next;
	if (p->fd < 0)
		p->retry_us = 0;
}

/* Take the main thread's orders; false: the thread is to end. */
static bool take_orders(struct querypipe *p)
{
	bool has_next, ending;
	char *next;

	if (!atomic_exchange_explicit(&p->called, false, memory_order_acquire))
		return true;
	pthread_mutex_lock(&p->lock);
	ending = p->ending;
	has_next = p->has_next;
	next = p->next;
	p->has_next = false;
	p->next = NULL;
	pthread_mutex_unlock(&p->lock);
	if (has_next)
		renew(p, next);
	return !ending;
}

static void *run(void *arg)
{
	struct querypipe *p = arg;

	thread_step_back();
	thread_name("query-pipe");
	while (take_orders(p)) {
		take_queries(p);
		if (p->path)
			reach(p);
		write_lines(p);
		tell_losses(p);
		rest(p);
	}
	while (p->path && !is_idle(p))
		take_queries(p);
	write_lines(p);
	hang_up(p);
	return NULL;
}

/* ---- called by the main thread ---- */

static void call(struct querypipe *p)
{
	atomic_store_explicit(&p->called, true, memory_order_release);
	while (write(p->wake[1], "", 1) < 0 && errno == EINTR)
		;
}

static void open_wake(int fds[2])
{
	if (pipe(fds) < 0)
		PANIC("no pipe for query-pipe: %s", strerror(errno));
	for (unsigned i = 0; i < 2; i++) {
		(void)fcntl(fds[i], F_SETFL, O_NONBLOCK);
		(void)fcntl(fds[i], F_SETFD, FD_CLOEXEC);
	}
}

/* The thread blocks all signals: they are for the main thread. */
static void begin(struct querypipe *p)
{
	sigset_t all, before;

	open_wake(p->wake);
	p->bell.fd = p->wake[1];
	p->rings = mem_array(p->count, sizeof *p->rings);
	for (unsigned i = 0; i < p->count; i++)
		p->rings[i] = msgring_new(&p->bell);
	sigfillset(&all);
	pthread_sigmask(SIG_BLOCK, &all, &before);
	if (pthread_create(&p->thread, NULL, run, p) != 0)
		PANIC("no thread can be made for query-pipe");
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	p->has_thread = true;
}

static char *path_of(const struct conf *conf, bool locked_in)
{
	const char *path = conf->server.query_pipe;

	if (!*path)
		return NULL;
	return locked_in ? conf_path_inside(conf, path) : conf_path(conf, path);
}

void querypipe_make(const struct conf *conf, bool locked_in)
{
	char *path = path_of(conf, locked_in);

	if (path && mkfifo(path, 0640) != 0 && errno != EEXIST)
		log_warn("query-pipe: cannot make %s: %s", path, strerror(errno));
	mem_free(path);
}

struct querypipe *querypipe_new(unsigned workers)
{
	struct querypipe *p = mem_zero(sizeof *p);

	p->count = workers;
	p->fd = p->wake[0] = p->wake[1] = -1;
	pthread_mutex_init(&p->lock, NULL);
	return p;
}

void querypipe_adopt(struct querypipe *p, const struct conf *conf, bool locked_in)
{
	char *path = path_of(conf, locked_in);

	atomic_store(&p->enabled, path != NULL);
	if (!path && !p->has_thread)
		return;
	if (!p->has_thread)
		begin(p);
	pthread_mutex_lock(&p->lock);
	mem_free(p->next);
	p->next = path;
	p->has_next = true;
	pthread_mutex_unlock(&p->lock);
	call(p);
}

struct msgring *querypipe_ring(const struct querypipe *p, const struct conf *conf, unsigned worker)
{
	return p && p->rings && *conf->server.query_pipe ? p->rings[worker] : NULL;
}

void querypipe_tell(const struct querypipe *p, struct querypipe_status *status)
{
	*status = (struct querypipe_status){
		.enabled = atomic_load(&p->enabled),
		.has_reader = atomic_load(&p->has_reader),
		.written = atomic_load_explicit(&p->written, memory_order_relaxed),
		.lost = losses(p),
	};
}

void querypipe_free(struct querypipe *p)
{
	if (!p)
		return;
	if (p->has_thread) {
		pthread_mutex_lock(&p->lock);
		p->ending = true;
		pthread_mutex_unlock(&p->lock);
		call(p);
		pthread_join(p->thread, NULL);
		close(p->wake[0]);
		close(p->wake[1]);
	}
	for (unsigned i = 0; p->rings && i < p->count; i++)
		msgring_free(p->rings[i]);
	linering_clear(&p->lines);
	mem_free(p->path);
	mem_free(p->next);
	mem_free(p->rings);
	pthread_mutex_destroy(&p->lock);
	mem_free(p);
}
