/* Log lines for the operator: to a file, standard error, syslog, or a test.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "util/base/log.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/time.h>
#include <syslog.h>
#include <time.h>
#include <unistd.h>

#ifdef __linux__
#include <sys/syscall.h>
#elif defined(__FreeBSD__)
#include <pthread_np.h>
#endif

#include "util/base/log_json.h"
#include "util/base/log_out.h"
#include "util/base/log_repeats.h"
#include "util/base/log_ring.h"
#include "util/base/mem.h"
#include "util/base/thread.h"

enum { LINE_MOST = 10240 };

_Atomic int log_verbosity = LOG_OPS;

static _Thread_local int thread_number;

/* How lines look, and where they go. The lock is never held while calling out of this room, nor, once there is a writer,
 * while anything is written. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct {
	char ident[LOG_IDENT_MOST];
	bool syslog, json, time_ascii, time_iso, thread_id;
	void (*sink)(const char *line, void *arg);
	void *sink_arg;
	struct log_out out; /* the writer's alone while there is one */
} to = { .ident = "resolverd", .out = { .fd = STDERR_FILENO } };

void log_thread(int number)
{
	thread_number = number;
}

static long thread_shown(bool system_id)
{
#if defined(__linux__)
	if (system_id)
		return syscall(SYS_gettid);
#elif defined(__FreeBSD__)
	if (system_id)
		return pthread_getthreadid_np();
#else
	(void)system_id;
#endif
	return thread_number;
}

/* A line is built in place and truncated to fit. */
struct line {
	char text[LINE_MOST + 1]; /* room for the newline; NUL-terminated only at the end */
	size_t len;
};

static void add_char(struct line *l, char c)
{
	if (l->len < LINE_MOST - 1)
		l->text[l->len++] = c;
}

static void add_text(struct line *l, const char *text)
{
	for (; *text; text++)
		add_char(l, *text);
}

/* Control characters could forge lines or drive a terminal; UTF-8 passes. */
static void add_escaped(struct line *l, const char *text)
{
	static const char hex[] = "0123456789abcdef";

	for (; *text; text++) {
		unsigned char c = (unsigned char)*text;

		if (c >= 0x20 && c != 0x7f) {
			add_char(l, *text);
			continue;
		}
		if (l->len + 4 > LINE_MOST - 1)
			return;
		add_text(l, "\\x");
		add_char(l, hex[c >> 4]);
		add_char(l, hex[c & 15]);
	}
}

/* "[epoch]", "Nov 20 07:05:42" or "2026-11-20T07:05:42.123+01:00". */
static void add_time(struct line *l, bool ascii, bool iso)
{
	struct timeval tv;
	struct tm tm;
	char text[40], zone[8];
	time_t now;

	gettimeofday(&tv, NULL);
	now = tv.tv_sec;
	if (!ascii || !localtime_r(&now, &tm)) {
		snprintf(text, sizeof(text), "[%lld]", (long long)now);
	} else if (!iso) {
		strftime(text, sizeof(text), "%b %d %H:%M:%S", &tm);
	} else {
		size_t len = strftime(text, sizeof(text), "%Y-%m-%dT%H:%M:%S", &tm);

		strftime(zone, sizeof(zone), "%z", &tm);
		snprintf(text + len, sizeof(text) - len, ".%03d%.3s:%s", (int)(tv.tv_usec / 1000),
			 zone, zone + 3);
	}
	add_text(l, text);
}

static void build_json(struct line *l, const struct log_origin *o, const char *text)
{
	struct log_head head = { .local_time = to.time_ascii,
				 .pid = (long)getpid(),
				 .thread = thread_shown(to.thread_id),
				 .ident = to.ident };

	(void)clock_gettime(CLOCK_REALTIME, &head.time);
	l->len = log_json_build(l->text, &head, o, text);
}

static void build(struct line *l, const struct log_origin *o, const char *text)
{
	char who[48];

	if (to.json) {
		build_json(l, o, text);
		return;
	}
	if (!to.syslog || to.sink) {
		add_time(l, to.time_ascii, to.time_iso);
		add_char(l, ' ');
		add_text(l, to.ident);
	}
	snprintf(who, sizeof(who), "[%ld:%ld] ", (long)getpid(), thread_shown(to.thread_id));
	add_text(l, who);
	add_text(l, o->kind);
	add_text(l, ": ");
	add_escaped(l, text);
}

static int syslog_priority(const char *kind)
{
	static const struct {
		const char *kind;
		int priority;
	} rows[] = {
		{ "debug", LOG_DEBUG },     { "info", LOG_INFO }, { "notice", LOG_NOTICE },
		{ "warning", LOG_WARNING }, { "error", LOG_ERR }, { "query", LOG_INFO },
		{ "reply", LOG_INFO },
	};

	for (size_t i = 0; i < COUNT(rows); i++)
		if (strcmp(rows[i].kind, kind) == 0)
			return rows[i].priority;
	return LOG_CRIT;
}

/* ---- the writer ---- */

#define RING         (1024 * 1024)
#define BATCH        4096 /* what a pipe takes in one piece, at least; a longer line goes alone */
#define PATIENCE_MS  200  /* for the old place, when lines are to go to another */
#define FAREWELL_MS  1000 /* for the rest, at the end */

/* Guarded by `lock`, except for `impatient`. */
static struct {
	struct log_ring ring;
	pthread_t thread;
	pthread_cond_t more, moved; /* for the writer; from the writer */
	bool runs, writes, ending;
	bool left_behind;  /* the end did not wait for it: it may be stuck for ever, with `to.out` */
	bool changes;      /* to `next`, before the next line */
	struct log_out next;
	uint64_t lost, failed; /* in all; at the last writes, one after the other */
	_Atomic bool impatient; /* what cannot be written at once is lost */
} writer;

static bool is_patient(void *arg)
{
	(void)arg;
	return !atomic_load_explicit(&writer.impatient, memory_order_relaxed);
}

/* Where lines are missing the log says so. */
static void tell_lost(void)
{
	uint64_t n = log_ring_told(&writer.ring);
	char text[120];
	struct line l = { .len = 0 };
	struct log_origin here = { .file = __FILE__, .kind = "warning", .event = LOG_EVENT_lost,
				   .facts = LOG_FACTS(LOG_COUNT(count, n)) };

	if (n == 0)
		return;
	snprintf(text, sizeof(text), "%llu lines of the log are lost: they could not be written, or not as fast as they came",
		 (unsigned long long)n);
	build(&l, &here, text);
	l.text[l.len++] = '\n';
	(void)log_ring_put(&writer.ring, LOG_WARNING, l.text, l.len);
}

static void hand_over(int priority, const struct line *l)
{
	tell_lost();
	if (!log_ring_put(&writer.ring, (uint8_t)priority, l->text, l->len))
		writer.lost++;
	if (!writer.writes)
		pthread_cond_signal(&writer.more);
}

/* As many lines as make a batch; syslog takes them one by one. */
static size_t take_batch(char *batch, uint8_t *priority, unsigned *count)
{
	size_t len = log_ring_take(&writer.ring, batch, LINE_MOST, priority), more = len;

	for (*count = 1; more && !to.out.syslog && len < BATCH; *count += more != 0) {
		more = log_ring_take(&writer.ring, batch + len, BATCH - len, priority);
		len += more;
	}
	return len;
}

static void write_batch(void)
{
	char batch[LINE_MOST];
	uint8_t priority;
	unsigned count;
	size_t len = take_batch(batch, &priority, &count);
	bool good;

	writer.writes = true;
	pthread_mutex_unlock(&lock);
	good = log_out_write(&to.out, priority, batch, len, is_patient, NULL);
	pthread_mutex_lock(&lock);
	writer.writes = false;
	writer.lost += good ? 0 : count;
	writer.failed += good ? 0 : count;
	if (good && writer.failed) { /* it goes on: now there is somebody to tell */
		writer.ring.refused += writer.failed;
		writer.failed = 0;
	}
}

static void change_place(void)
{
	struct log_out next = writer.next;

	writer.changes = false;
	pthread_mutex_unlock(&lock);
	log_out_change(&to.out, &next); /* may wait, for syslog */
	pthread_mutex_lock(&lock);
	atomic_store(&writer.impatient, writer.ending);
}

static void *write_on(void *arg)
{
	(void)arg;
	thread_name("log");
	pthread_mutex_lock(&lock);
	for (;;) {
		if (writer.changes)
			change_place();
		if (!log_ring_is_empty(&writer.ring)) {
			write_batch();
			continue;
		}
		tell_lost();
		if (!log_ring_is_empty(&writer.ring))
			continue;
		pthread_cond_broadcast(&writer.moved);
		if (writer.ending)
			break;
		pthread_cond_wait(&writer.more, &lock);
	}
	writer.runs = false;
	pthread_cond_broadcast(&writer.moved);
	pthread_mutex_unlock(&lock);
	return NULL;
}

/* Under the lock: wait until all has been written, at most `ms`. */
static bool drain(unsigned ms)
{
	struct timespec until;

	(void)clock_gettime(CLOCK_MONOTONIC, &until);
	until.tv_sec += ms / 1000;
	until.tv_nsec += (long)(ms % 1000) * 1000000;
	if (until.tv_nsec >= 1000000000) {
		until.tv_sec++;
		until.tv_nsec -= 1000000000;
	}
	while (writer.runs && (writer.writes || writer.changes || writer.ending || !log_ring_is_empty(&writer.ring)))
		if (pthread_cond_timedwait(&writer.moved, &lock, &until) != 0)
			return !writer.runs;
	return true;
}

void log_writer_start(void)
{
	sigset_t all, before;
	pthread_condattr_t how;

	PROMISE(!writer.runs && !writer.left_behind);
	pthread_condattr_init(&how);
	pthread_condattr_setclock(&how, CLOCK_MONOTONIC);
	pthread_cond_init(&writer.moved, &how);
	pthread_condattr_destroy(&how);
	pthread_cond_init(&writer.more, NULL);
	log_ring_init(&writer.ring, RING);
	writer.ending = false;
	atomic_store(&writer.impatient, false);
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	pthread_mutex_lock(&lock);
	writer.runs = pthread_create(&writer.thread, NULL, write_on, NULL) == 0;
	pthread_mutex_unlock(&lock);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
}

void log_writer_end(void)
{
	bool ended;

	pthread_mutex_lock(&lock);
	if (!writer.runs) {
		pthread_mutex_unlock(&lock);
		return;
	}
	writer.ending = true;
	pthread_cond_signal(&writer.more);
	ended = drain(FAREWELL_MS);
	atomic_store(&writer.impatient, true);
	ended = ended || drain(PATIENCE_MS);
	writer.left_behind = !ended;
	pthread_mutex_unlock(&lock);
	if (!ended) {
		pthread_detach(writer.thread);
		return;
	}
	pthread_join(writer.thread, NULL);
	log_ring_clear(&writer.ring);
	pthread_cond_destroy(&writer.more);
	pthread_cond_destroy(&writer.moved);
}

uint64_t log_lost(void)
{
	uint64_t n;

	pthread_mutex_lock(&lock);
	n = writer.lost;
	pthread_mutex_unlock(&lock);
	return n;
}

/* ---- lines ---- */

/* Without a writer: whoever logs waits for it. */
static void write_now(int priority, const struct line *l)
{
	if (!log_out_write(&to.out, priority, l->text, l->len, NULL, NULL))
		writer.lost++;
}

/* Under the lock. */
static void dispatch(const char *kind, struct line *l)
{
	l->text[l->len++] = '\n';
	if (writer.runs)
		hand_over(syslog_priority(kind), l);
	else if (!writer.left_behind)
		write_now(syslog_priority(kind), l);
}

static void emit(const struct log_origin *o, const char *text)
{
	void (*sink)(const char *line, void *arg);
	struct line l;
	void *arg;

	l.len = 0;
	pthread_mutex_lock(&lock);
	sink = to.sink;
	arg = to.sink_arg;
	build(&l, o, text);
	if (sink)
		l.text[l.len] = 0;
	else
		dispatch(o->kind, &l);
	pthread_mutex_unlock(&lock);
	if (sink)
		sink(l.text, arg);
}

/* ---- repeats ---- */

static struct log_repeats repeats; /* guarded by `lock` */

static uint64_t monotonic_s(void)
{
	struct timespec t = { 0 };

	(void)clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec;
}

static bool take_held(bool at_once, struct log_held *held)
{
	bool any;

	pthread_mutex_lock(&lock);
	any = log_repeats_take(&repeats, monotonic_s(), at_once, held);
	pthread_mutex_unlock(&lock);
	return any;
}

/* As text, count and sentence are one line; in JSON the sentence stays as it was. */
static void tell_held(const struct log_held *held)
{
	const struct log_origin o = { .kind = held->kind, .event = LOG_EVENT_repeated,
				      .facts = LOG_FACTS(LOG_COUNT(count, held->count), LOG_TEXT(message, held->text)) };

	log_write(&o, "%llu more times: %s", (unsigned long long)held->count, held->text);
}

void log_report_repeats(bool at_once)
{
	struct log_held held;

	while (take_held(at_once, &held))
		tell_held(&held);
}

static bool is_admitted(const char *kind, const char *text)
{
	bool admitted;

	pthread_mutex_lock(&lock);
	admitted = log_repeats_admit(&repeats, kind, text, monotonic_s());
	pthread_mutex_unlock(&lock);
	return admitted;
}

void log_write(const struct log_origin *o, const char *fmt, ...)
{
	char text[LINE_MOST];
	int was = errno;
	va_list args;

	va_start(args, fmt);
	vsnprintf(text, sizeof(text), fmt, args);
	va_end(args);
	if (!o->rare || is_admitted(o->kind, text))
		emit(o, text);
	errno = was;
}

/* The process is about to abort, perhaps while this thread or another holds the lock: nothing is waited for without end. */
static bool lock_within(unsigned ms)
{
	for (; pthread_mutex_trylock(&lock) != 0; ms--) {
		if (ms == 0)
			return false;
		nanosleep(&(struct timespec){ .tv_nsec = 1000000 }, NULL);
	}
	return true;
}

static void say_last(const char *sentence)
{
	const struct log_origin here = { .kind = "fatal error" };
	struct line l = { .len = 0 };

	if (!lock_within(PATIENCE_MS)) {
		while (write(STDERR_FILENO, sentence, strlen(sentence)) < 0 && errno == EINTR)
			;
		return;
	}
	if (to.sink) {
		pthread_mutex_unlock(&lock);
		log_line("fatal error", "%s", sentence);
		return;
	}
	build(&l, &here, sentence);
	dispatch("fatal error", &l);
	(void)drain(FAREWELL_MS);
	pthread_mutex_unlock(&lock);
}

static void set_ident(char to_ident[LOG_IDENT_MOST], const char *ident)
{
	snprintf(to_ident, LOG_IDENT_MOST, "%s", ident && *ident ? ident : "resolverd");
}

/* Under the lock. What was logged before is written where it was to go, unless that takes too long; then it comes to the
 * new place, too. */
static void go_to(const struct log_out *next)
{
	if (!writer.runs) {
		if (!writer.left_behind)
			log_out_change(&to.out, next);
		return;
	}
	if (!drain(PATIENCE_MS))
		atomic_store(&writer.impatient, true);
	if (writer.changes && writer.next.fd != STDERR_FILENO)
		close(writer.next.fd); /* it never came to that */
	writer.next = *next;
	writer.changes = true;
	pthread_cond_signal(&writer.more);
	(void)drain(PATIENCE_MS);
}

bool log_start(const struct log_how *how)
{
	bool to_file = !how->syslog && how->file && *how->file;
	struct log_out next = { .fd = STDERR_FILENO };

	panic_tell(say_last);
	if (to_file && !log_out_open(&next, how->file)) {
		log_error("cannot open log file %s: %s; the old log stays in use", how->file,
			  strerror(errno));
		return false;
	}
	next.syslog = how->syslog;
	set_ident(next.ident, how->ident);
	pthread_mutex_lock(&lock);
	go_to(&next);
	set_ident(to.ident, how->ident);
	to.syslog = how->syslog;
	to.json = how->json;
	to.time_ascii = how->time_ascii;
	to.time_iso = how->time_iso;
	to.thread_id = how->thread_id;
	pthread_mutex_unlock(&lock);
	return true;
}

void log_capture(void (*sink)(const char *line, void *arg), void *arg)
{
	pthread_mutex_lock(&lock);
	to.sink = sink;
	to.sink_arg = arg;
	pthread_mutex_unlock(&lock);
}
