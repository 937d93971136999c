/* Log lines for the operator: to a file, standard error, syslog, or a test.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "util/log.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
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

#include "util/log_repeats.h"
#include "util/mem.h"

enum { LINE_MOST = 10240, IDENT_MOST = 64 };

_Atomic int log_verbosity = LOG_OPS;

static _Thread_local int thread_number;

/* Where lines go and how they look. The lock is held while a line is written, so that log_start may
 * close the old destination; it is never held while calling out of this room. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct {
	char ident[IDENT_MOST];
	char syslog_ident[IDENT_MOST]; /* openlog keeps the pointer */
	int fd;
	bool syslog, time_ascii, time_iso, thread_id;
	void (*sink)(const char *line, void *arg);
	void *sink_arg;
} to = { .ident = "resolverd", .fd = STDERR_FILENO };

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

static void build(struct line *l, const char *kind, const char *text)
{
	char who[48];

	if (!to.syslog || to.sink) {
		add_time(l, to.time_ascii, to.time_iso);
		add_char(l, ' ');
		add_text(l, to.ident);
	}
	snprintf(who, sizeof(who), "[%ld:%ld] ", (long)getpid(), thread_shown(to.thread_id));
	add_text(l, who);
	add_text(l, kind);
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

static void write_line(int fd, const char *text, size_t len)
{
	ssize_t n;

	do
		n = write(fd, text, len);
	while (n < 0 && errno == EINTR);
}

static void emit(const char *kind, const char *text)
{
	void (*sink)(const char *line, void *arg);
	struct line l;
	void *arg;

	l.len = 0;
	pthread_mutex_lock(&lock);
	sink = to.sink;
	arg = to.sink_arg;
	build(&l, kind, text);
	if (sink) {
		l.text[l.len] = 0;
	} else if (to.syslog) {
		l.text[l.len] = 0;
		syslog(syslog_priority(kind), "%s", l.text);
	} else {
		l.text[l.len++] = '\n';
		write_line(to.fd, l.text, l.len);
	}
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

void log_settle(bool at_once)
{
	struct log_held held;

	while (take_held(at_once, &held))
		log_line(held.kind, "%llu more times: %s", (unsigned long long)held.count, held.text);
}

void log_rare(const char *kind, const char *fmt, ...)
{
	char text[LINE_MOST];
	int was = errno;
	va_list args;
	bool admitted;

	va_start(args, fmt);
	vsnprintf(text, sizeof(text), fmt, args);
	va_end(args);
	pthread_mutex_lock(&lock);
	admitted = log_repeats_admit(&repeats, kind, text, monotonic_s());
	pthread_mutex_unlock(&lock);
	if (admitted)
		emit(kind, text);
	errno = was;
}

void log_line(const char *kind, const char *fmt, ...)
{
	char text[LINE_MOST];
	int was = errno;
	va_list args;

	va_start(args, fmt);
	vsnprintf(text, sizeof(text), fmt, args);
	va_end(args);
	emit(kind, text);
	errno = was;
}

static void say_last(const char *sentence)
{
	log_line("fatal error", "%s", sentence);
}

static int open_file(const char *file)
{
	return open(file, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NOCTTY, 0640);
}

static void set_ident(char to_ident[IDENT_MOST], const char *ident)
{
	snprintf(to_ident, IDENT_MOST, "%s", ident && *ident ? ident : "resolverd");
}

bool log_start(const struct log_how *how)
{
	bool to_file = !how->syslog && how->file && *how->file;
	int fd = STDERR_FILENO, old_fd;

	panic_tell(say_last);
	if (to_file && (fd = open_file(how->file)) < 0) {
		log_error("cannot open log file %s: %s; going on as before", how->file,
			  strerror(errno));
		return false;
	}
	pthread_mutex_lock(&lock);
	old_fd = to.fd;
	set_ident(to.ident, how->ident);
	to.fd = fd;
	to.time_ascii = how->time_ascii;
	to.time_iso = how->time_iso;
	to.thread_id = how->thread_id;
	if (to.syslog && !how->syslog)
		closelog();
	/* An open connection is kept: inside a chroot it could not be reopened. */
	if (how->syslog) {
		set_ident(to.syslog_ident, how->ident);
		if (!to.syslog)
			openlog(to.syslog_ident, LOG_NDELAY, LOG_DAEMON);
	}
	to.syslog = how->syslog;
	if (old_fd != STDERR_FILENO)
		close(old_fd);
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
