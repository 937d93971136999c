/* Where log lines end up: a file, a pipe, standard error, or syslog.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "util/base/log_out.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <sys/stat.h>
#include <syslog.h>
#include <unistd.h>

/* What a pipe that is ready to be written takes without waiting (POSIX, pipe). */
#ifndef PIPE_BUF
#define PIPE_BUF _POSIX_PIPE_BUF
#endif

#define ASK_MS 100

static int open_file(const char *file, int how)
{
	return open(file, how | O_APPEND | O_NONBLOCK | O_CLOEXEC | O_NOCTTY, 0640);
}

bool log_out_open(struct log_out *o, const char *file)
{
	struct stat st;

	*o = (struct log_out){ .fd = open_file(file, O_WRONLY | O_CREAT) };
	if (o->fd < 0 && errno == ENXIO)
		o->fd = open_file(file, O_RDWR); /* a FIFO: our own end for reading keeps it open */
	if (o->fd < 0)
		return false;
	o->regular = fstat(o->fd, &st) == 0 && S_ISREG(st.st_mode);
	return true;
}

void log_out_change(struct log_out *old, const struct log_out *new)
{
	bool was_syslog = old->syslog;

	if (old->fd != STDERR_FILENO)
		close(old->fd);
	if (was_syslog && !new->syslog)
		closelog();
	*old = *new; /* openlog keeps the pointer to the name */
	if (new->syslog && !was_syslog)
		openlog(old->ident, LOG_NDELAY, LOG_DAEMON);
}

/* A file proper is always ready. */
static bool await_room(const struct log_out *o, bool (*goes_on)(void *arg), void *arg)
{
	struct pollfd p = { .fd = o->fd, .events = POLLOUT };

	for (;;) {
		int n = poll(&p, 1, goes_on ? ASK_MS : -1);

		if (n > 0)
			return true; /* also when the other end is gone, which write will say */
		if (n < 0 && errno != EINTR)
			return false;
		if (goes_on && !goes_on(arg))
			return false;
	}
}

bool log_out_write(const struct log_out *o, int priority, const char *text, size_t len,
		   bool (*goes_on)(void *arg), void *arg)
{
	if (o->syslog) {
		syslog(priority, "%.*s", (int)len - 1, text);
		return true;
	}
	while (len) {
		size_t piece = o->regular ? len : MIN(len, (size_t)PIPE_BUF);
		ssize_t n;

		if (!o->regular && !await_room(o, goes_on, arg))
			return false;
		n = write(o->fd, text, piece);
		if (n < 0 && (errno == EINTR || errno == EAGAIN) && (!goes_on || goes_on(arg)))
			continue;
		if (n <= 0)
			return false;
		text += n;
		len -= (size_t)n;
	}
	return true;
}
