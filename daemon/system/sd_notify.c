/* Telling the service manager our state: the protocol of sd_notify(3), without libsystemd.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "daemon/system/sd_notify.h"

#include <sys/socket.h>
#include <sys/un.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "util/base/log.h"

static int notify_fd = -1;
static uint64_t patience_us;

/* A name beginning with '@' is in the abstract namespace, where a NUL replaces the '@'. */
static bool fill_address(struct sockaddr_un *sun, socklen_t *len, const char *path)
{
	size_t n = strlen(path);

	memset(sun, 0, sizeof *sun);
	sun->sun_family = AF_UNIX;
	if ((path[0] != '/' && path[0] != '@') || n >= sizeof sun->sun_path)
		return false;
	memcpy(sun->sun_path, path, n);
	if (path[0] == '@')
		sun->sun_path[0] = '\0';
	*len = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + n + (path[0] == '/'));
	return true;
}

/* The watchdog timeout in microseconds; 0: none, or WATCHDOG_PID is another process. */
static uint64_t read_patience(void)
{
	const char *usec = getenv("WATCHDOG_USEC"), *pid = getenv("WATCHDOG_PID");

	if (!usec || (pid && strtoll(pid, NULL, 10) != (long long)getpid()))
		return 0;
	return *usec >= '0' && *usec <= '9' ? strtoull(usec, NULL, 10) : 0;
}

void sd_notify_open(void)
{
	const char *path = getenv("NOTIFY_SOCKET");
	struct sockaddr_un sun;
	socklen_t len;

	if (!path || !*path || !fill_address(&sun, &len, path))
		return;
	notify_fd = socket(AF_UNIX, SOCK_DGRAM, 0);
	if (notify_fd >= 0 && fcntl(notify_fd, F_SETFD, FD_CLOEXEC) == 0 &&
	    connect(notify_fd, (const struct sockaddr *)&sun, len) == 0) {
		patience_us = read_patience();
		return;
	}
	log_warn("cannot connect to the service manager's socket %s", path);
	sd_notify_close();
}

static void tell(const char *text)
{
	if (notify_fd >= 0 && send(notify_fd, text, strlen(text), 0) < 0)
		log_detail("sd_notify: message not sent");
}

void sd_notify_status(const char *fmt, ...)
{
	char text[512] = "STATUS=";
	size_t len = strlen(text);
	va_list args;

	va_start(args, fmt);
	vsnprintf(text + len, sizeof text - len, fmt, args);
	va_end(args);
	text[strcspn(text, "\n")] = '\0';
	tell(text);
}

/* MAINPID, because a daemon in the background is not the process the service manager started. */
void sd_notify_ready(void)
{
	char text[64];

	snprintf(text, sizeof text, "READY=1\nMAINPID=%ld\n", (long)getpid());
	tell(text);
}

/* Type=notify-reload requires the time at which the reload began. */
void sd_notify_reloading(void)
{
	struct timespec t = { 0 };
	char text[80];

	(void)clock_gettime(CLOCK_MONOTONIC, &t);
	snprintf(text, sizeof text, "RELOADING=1\nMONOTONIC_USEC=%" PRIu64 "\n",
		 (uint64_t)t.tv_sec * 1000000 + (uint64_t)t.tv_nsec / 1000);
	tell(text);
}

void sd_notify_stopping(void)
{
	tell("STOPPING=1\n");
}

uint64_t sd_notify_patience_us(void)
{
	return patience_us;
}

void sd_notify_alive(void)
{
	tell("WATCHDOG=1\n");
}

void sd_notify_close(void)
{
	patience_us = 0;
	if (notify_fd >= 0)
		close(notify_fd);
	notify_fd = -1;
}
