/* A control channel without its daemon, for tests: a clock that is moved by hand, sockets in a folder of its own.
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef DAEMON_CONTROL_TESTS_FIXTURE_H
#define DAEMON_CONTROL_TESTS_FIXTURE_H

#include "daemon/control/control.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "daemon/control/call.h"
#include "daemon/process/daemon.h"
#include "services/query/snapshot.h"
#include "services/tests/conf.h"
#include "util/base/fault.h"
#include "util/base/mem.h"
#include "util/tests/ca.h"

struct fixture {
	struct daemon daemon;
	struct ca ca; /* its folder is that of the sockets, too */
	struct timer next;
	unsigned rounds, port; /* a free one at 127.0.0.1 */
	struct fault fault;
};
static struct fixture fixture;

static void on_round(struct timer *t)
{
	if (--fixture.rounds)
		timer_set(fixture.daemon.loop, t, 0);
	else
		loop_stop(fixture.daemon.loop);
}

/* Whatever can go on does. */
static void rounds(void)
{
	fixture.rounds = 12;
	fixture.next.fire = on_round;
	timer_set(fixture.daemon.loop, &fixture.next, 0);
	loop_run(fixture.daemon.loop);
}

static inline void later(uint64_t us)
{
	timebase_play(loop_time(fixture.daemon.loop), loop_time(fixture.daemon.loop)->now_us + us);
	rounds();
}

/* `text`, every % in it the folder, every ! the port. */
static struct conf *fixture_conf(const char *text)
{
	char buf[2000] = "view:\n name: v\nremote-control:\n control-enable: yes\n";
	size_t len = strlen(buf);

	for (; *text; text++) {
		if (*text == '!')
			len += (size_t)snprintf(buf + len, sizeof buf - len, "%u", fixture.port);
		else
			len += (size_t)snprintf(buf + len, sizeof buf - len, "%.*s", *text == '%' ? 64 : 1,
						*text == '%' ? fixture.ca.folder : text);
	}
	return conf_from(buf);
}

static void fixture_configure(const char *text)
{
	struct fault f = { 0 };

	if (fixture.daemon.snapshot)
		snapshot_unpin(fixture.daemon.snapshot);
	fixture.daemon.snapshot = snapshot_new(fixture_conf(text), &f);
	if (!fixture.daemon.snapshot)
		fail_msg("%s", f.text);
}

/* False: it cannot be, and fixture.fault says why. */
static bool fixture_opens(const char *text)
{
	fixture.daemon.loop = loop_new();
	timebase_play(loop_time(fixture.daemon.loop), 1000 * US_PER_S);
	fixture_configure(text);
	fixture.fault = (struct fault){ 0 };
	fixture.daemon.control = control_open(&fixture.daemon, commands, &fixture.fault);
	return fixture.daemon.control;
}

static inline void fixture_open(const char *text)
{
	if (!fixture_opens(text))
		fail_msg("%s: %s", text, fixture.fault.text);
}

static void fixture_close(void)
{
	control_close(fixture.daemon.control);
	snapshot_unpin(fixture.daemon.snapshot);
	loop_free(fixture.daemon.loop);
	fixture.daemon.snapshot = NULL;
	fixture.daemon.control = NULL;
	fixture.daemon.loop = NULL;
}

static const char *in_folder(const char *name)
{
	return ca_path(&fixture.ca, name);
}

static struct sockaddr_un sun_of(const char *path)
{
	struct sockaddr_un sun = { .sun_family = AF_UNIX };

	assert_true(strlen(path) < sizeof sun.sun_path);
	memcpy(sun.sun_path, path, strlen(path));
	return sun;
}

/* Connected to a socket of that name: not blocking; or -1. */
static inline int dial(const char *name)
{
	struct sockaddr_un sun = sun_of(in_folder(name));
	int fd = socket(AF_UNIX, SOCK_STREAM, 0);

	assert_true(fd >= 0 && fcntl(fd, F_SETFL, O_NONBLOCK) == 0);
	if (connect(fd, (struct sockaddr *)&sun, sizeof sun) == 0)
		return fd;
	close(fd);
	return -1;
}

static inline void tell(int fd, const char *text)
{
	assert_int_equal(send(fd, text, strlen(text), MSG_NOSIGNAL), strlen(text));
}

/* What has been said to it, with a | where it was closed. */
static inline const char *heard(int fd)
{
	static char text[4096];
	size_t len = 0;
	ssize_t n = 1;

	rounds();
	while (n > 0 && len < sizeof text - 2) {
		n = recv(fd, text + len, sizeof text - 2 - len, MSG_DONTWAIT);
		len += n > 0 ? (size_t)n : 0;
	}
	if (n == 0 || (n < 0 && errno == ECONNRESET))
		text[len++] = '|';
	text[len] = '\0';
	return text;
}

static inline const char *answer_to(const char *name, const char *request)
{
	int fd = dial(name);
	const char *said;

	if (fd < 0)
		return "nobody there";
	tell(fd, request);
	said = heard(fd);
	close(fd);
	return said;
}

static int fixture_begin(void **state)
{
	struct sockaddr_storage ss;
	struct addr any = { .family = 4, .ip = { 127, 0, 0, 1 } };
	socklen_t len = addr_to_sockaddr(&any, &ss);
	int fd = socket(AF_INET, SOCK_STREAM, 0);

	(void)state;
	(void)signal(SIGPIPE, SIG_IGN);
	ca_begin(&fixture.ca);
	if (bind(fd, (struct sockaddr *)&ss, len) == 0 && getsockname(fd, (struct sockaddr *)&ss, &len) == 0 &&
	    addr_from_sockaddr(&any, (struct sockaddr *)&ss, len))
		fixture.port = any.port;
	close(fd);
	return fixture.port ? 0 : -1;
}

static int fixture_end(void **state)
{
	static const char *const sockets[] = { "s", "t", "u" };

	(void)state;
	for (size_t i = 0; i < COUNT(sockets); i++)
		(void)unlink(in_folder(sockets[i]));
	ca_end(&fixture.ca);
	return 0;
}

#endif
