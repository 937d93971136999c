/* Telling the service manager how we are: the protocol of sd_notify(3), by itself.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "daemon/notify.h"

#include <sys/socket.h>
#include <sys/un.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "util/log.h"

static int notify_fd = -1;

/* A name that begins with '@' is in the abstract space: a NUL stands in front there. */
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

void notify_open(void)
{
	const char *path = getenv("NOTIFY_SOCKET");
	struct sockaddr_un sun;
	socklen_t len;

	if (!path || !*path || !fill_address(&sun, &len, path))
		return;
	notify_fd = socket(AF_UNIX, SOCK_DGRAM, 0);
	if (notify_fd >= 0 && fcntl(notify_fd, F_SETFD, FD_CLOEXEC) == 0 &&
	    connect(notify_fd, (const struct sockaddr *)&sun, len) == 0)
		return;
	log_warn("the service manager's socket %s cannot be reached", path);
	notify_close();
}

static void tell(const char *text)
{
	if (notify_fd >= 0 && send(notify_fd, text, strlen(text), 0) < 0)
		log_detail("the service manager was not told");
}

void notify_ready(void)
{
	tell("READY=1\n");
}

/* Type=notify-reload wants to know when it began. */
void notify_reloading(void)
{
	struct timespec t = { 0 };
	char text[80];

	(void)clock_gettime(CLOCK_MONOTONIC, &t);
	snprintf(text, sizeof text, "RELOADING=1\nMONOTONIC_USEC=%" PRIu64 "\n",
		 (uint64_t)t.tv_sec * 1000000 + (uint64_t)t.tv_nsec / 1000);
	tell(text);
}

void notify_stopping(void)
{
	tell("STOPPING=1\n");
}

void notify_close(void)
{
	if (notify_fd >= 0)
		close(notify_fd);
	notify_fd = -1;
}
