/* The sandbox: what a process in it can do, and what it cannot.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "daemon/sandbox.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "util/fault.h"
#include "util/mem.h"
#include "util/options.h"

#if defined(__linux__) && defined(HAVE_LIBSECCOMP) && !defined(WITH_SANITIZERS)

static char inside[] = "/tmp/sandbox-inside-XXXXXX", outside[] = "/tmp/sandbox-outside-XXXXXX";

static const char *in(const char *folder, const char *name)
{
	static char path[256];

	snprintf(path, sizeof path, "%s/%s", folder, name);
	return path;
}

static int create(const char *path)
{
	int fd = open(path, O_WRONLY | O_CREAT, 0600);

	if (fd >= 0)
		close(fd);
	return fd < 0 ? errno : 0;
}

static int look(const char *path)
{
	int fd = open(path, O_RDONLY);

	if (fd >= 0)
		close(fd);
	return fd < 0 ? errno : 0;
}

/* ---- what is tried: 0, or the error ---- */

static int write_inside(void)
{
	return create(in(inside, "new"));
}

static int write_outside(void)
{
	return create(in(outside, "new"));
}

static int read_inside(void)
{
	return look(in(inside, "there"));
}

static int read_outside(void)
{
	return look(in(outside, "there"));
}

static int read_of_the_system(void)
{
	return look("/etc/passwd");
}

static int replace_inside(void)
{
	char from[256];

	snprintf(from, sizeof from, "%s", in(inside, "there"));
	return rename(from, in(inside, "other")) == 0 && rename(in(inside, "other"), from) == 0 ? 0 : errno;
}

static int run_a_program(void)
{
	execl("/bin/true", "true", (char *)NULL);
	return errno;
}

static int make_a_process(void)
{
	pid_t child = fork();

	if (child == 0)
		_exit(0);
	return child < 0 ? errno : 0;
}

static void *nothing(void *arg)
{
	return arg;
}

static int make_a_thread(void)
{
	pthread_t thread;
	int error = pthread_create(&thread, NULL, nothing, NULL);

	if (!error)
		pthread_join(thread, NULL);
	return error;
}

static int make_a_socket(void)
{
	return socket(AF_INET6, SOCK_DGRAM, 0) >= 0 || errno == EAFNOSUPPORT ? 0 : errno;
}

/* Where sockets are made by socketcall(2) a filter sees a pointer in place of their kind; what is left is that
 * the right to make such a one (CAP_NET_RAW) is gone. */
#if defined(__i386__) || defined(__s390__)
#define BY_SOCKETCALL true
#else
#define BY_SOCKETCALL false
#endif

static int make_a_packet_socket(void)
{
	return socket(AF_PACKET, SOCK_RAW, 0) >= 0 ? 0 : errno;
}

static int map_to_write_and_run(void)
{
	void *at = mmap(NULL, 4096, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	return at != MAP_FAILED ? 0 : errno;
}

static int kill_another(void)
{
	return kill(getppid(), 0) == 0 ? 0 : errno;
}

/* isatty(3), as this libc asks, and as glibc does since 2.42. */
static int look_for_a_terminal(void)
{
#if defined(__mips__)
	const unsigned long how = 0x4030542a;
#else
	const unsigned long how = 0x802c542a;
#endif
	char terminal[128];
	int ends[2];

	if (pipe(ends) != 0 || isatty(ends[0]) || errno != ENOTTY)
		return -1;
	return ioctl(ends[0], how, terminal) != 0 && errno == ENOTTY ? 0 : -1;
}

static int signal_a_thread_of_another(void)
{
	return syscall(SYS_tgkill, getppid(), getppid(), 0) == 0 ? 0 : errno;
}

static int signal_our_own(void)
{
	return pthread_kill(pthread_self(), 0);
}

/* ---- trying ---- */

enum { FINE, REFUSED, ENDS };

/* In a process of its own, since what is drawn stays. */
static int outcome(int (*deed)(void), const struct conf *conf)
{
	int status;
	pid_t child = fork();

	assert_true(child >= 0);
	if (child == 0) {
		struct sandbox *s = sandbox_draw(conf, false);

		_exit(!s ? 99 : deed() == 0 ? FINE : REFUSED);
	}
	assert_int_equal(waitpid(child, &status, 0), child);
	if (WIFSIGNALED(status))
		return ENDS;
	if (WEXITSTATUS(status) == 128 + SIGSYS)
		return ENDS;
	return WEXITSTATUS(status);
}

static struct conf *conf_for(const char *mode)
{
	struct conf *conf = conf_new();
	struct fault f = { 0 };
	char line[300];

	snprintf(line, sizeof line, "sandbox: %s", mode);
	assert_true(conf_set_option(conf, line, &f));
	snprintf(line, sizeof line, "directory: \"%s\"", inside);
	assert_true(conf_set_option(conf, line, &f));
	return conf;
}

static bool has_landlock(const struct conf *conf)
{
	return outcome(read_outside, conf) == REFUSED;
}

static void only_what_serving_takes_can_be_done(void **state)
{
	(void)state;
	static const struct {
		const char *why;
		int (*deed)(void);
		int want, strict;
		bool of_files;
	} rows[] = {
		{ "a file in the folder is written", write_inside, FINE, FINE, true },
		{ "a file in the folder is read", read_inside, FINE, FINE, true },
		{ "a file is replaced", replace_inside, FINE, FINE, true },
		{ "the system's files are read", read_of_the_system, FINE, FINE, true },
		{ "a file elsewhere is written", write_outside, REFUSED, REFUSED, true },
		{ "a file elsewhere is read", read_outside, REFUSED, REFUSED, true },
		{ "a thread is made", make_a_thread, FINE, FINE, false },
		{ "a socket is made", make_a_socket, FINE, FINE, false },
		{ "a process is made", make_a_process, REFUSED, ENDS, false },
		{ "a program is started", run_a_program, ENDS, ENDS, false },
		{ "a packet socket is made", make_a_packet_socket, REFUSED, ENDS, false },
		{ "memory is to be written and run", map_to_write_and_run, REFUSED, ENDS, false },
		{ "another process is told something", kill_another, REFUSED, ENDS, false },
		{ "a thread of another process is told something", signal_a_thread_of_another, REFUSED, ENDS, false },
		{ "a thread is told something", signal_our_own, FINE, FINE, false },
		{ "it is asked whether something is a terminal", look_for_a_terminal, FINE, FINE, false },
	};
	struct conf *yes = conf_for("yes"), *strict = conf_for("strict");
	bool files = has_landlock(yes);

	for (size_t i = 0; i < COUNT(rows); i++) {
		int got = outcome(rows[i].deed, yes), strictly = outcome(rows[i].deed, strict);

		if (rows[i].of_files && !files)
			continue;
		if (rows[i].deed == make_a_packet_socket && BY_SOCKETCALL)
			continue;
		if (got != rows[i].want)
			fail_msg("%s: %d, not %d", rows[i].why, got, rows[i].want);
		if (strictly != rows[i].strict)
			fail_msg("%s, strictly: %d, not %d", rows[i].why, strictly, rows[i].strict);
	}
	conf_free(yes);
	conf_free(strict);
}

static void a_configuration_is_admitted_when_its_files_can_be_reached(void **state)
{
	(void)state;
	static const struct {
		const char *why, *line;
		bool outside, want;
	} rows[] = {
		{ "a log in the folder", "logfile: \"%s/log\"", false, true },
		{ "a log elsewhere", "logfile: \"%s/log\"", true, false },
		{ "hints elsewhere", "root-hints: \"%s/hints\"", true, false },
		{ "a store's socket elsewhere", "redis-server-path: \"%s/socket\"", true, true },
		{ "a replica's socket elsewhere", "redis-replica-server-path: \"%s/socket\"", true, true },
		{ "hints of the system", "root-hints: /usr/share/dns/root.hints", true, true },
		{ "names of hosts in a folder that is not there yet", "hosts-file: \"%s/later/hosts\"", false, true },
		{ "names of hosts in such a folder elsewhere", "hosts-file: \"%s/later/hosts\"", true, false },
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		struct conf *conf = conf_for("yes");
		char line[300];
		struct fault f = { 0 };
		int status;
		pid_t child;

		snprintf(line, sizeof line, rows[i].line, rows[i].outside ? outside : inside);
		child = fork();
		if (child == 0) {
			struct sandbox *s = sandbox_draw(conf, false);

			if (look(in(outside, "there")) == 0)
				_exit(2); /* nothing guards files here */
			_exit(conf_set_option(conf, line, &f) && sandbox_admits(s, conf, &f));
		}
		assert_int_equal(waitpid(child, &status, 0), child);
		assert_true(WIFEXITED(status));
		if (WEXITSTATUS(status) != 2 && WEXITSTATUS(status) != rows[i].want)
			fail_msg("%s: %d, not %d", rows[i].why, WEXITSTATUS(status), rows[i].want);
		conf_free(conf);
	}
}

static void without_a_sandbox_everything_is_admitted(void **state)
{
	struct conf *conf = conf_for("no");

	(void)state;
	assert_null(sandbox_draw(conf, false));
	assert_true(sandbox_admits(NULL, conf, NULL));
	conf_free(conf);
}

static int make_folders(void **state)
{
	(void)state;
	return mkdtemp(inside) && mkdtemp(outside) && create(in(inside, "there")) == 0 &&
			       create(in(outside, "there")) == 0
		       ? 0
		       : -1;
}

static int remove_folders(void **state)
{
	static const char *const names[] = { "there", "new", "other" };

	(void)state;
	for (size_t i = 0; i < COUNT(names); i++) {
		(void)unlink(in(inside, names[i]));
		(void)unlink(in(outside, names[i]));
	}
	return rmdir(inside) == 0 && rmdir(outside) == 0 ? 0 : -1;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(only_what_serving_takes_can_be_done),
		cmocka_unit_test(a_configuration_is_admitted_when_its_files_can_be_reached),
		cmocka_unit_test(without_a_sandbox_everything_is_admitted),
	};

	return cmocka_run_group_tests(tests, make_folders, remove_folders);
}

#else

int main(void)
{
	return 77; /* skipped: there is nothing to draw it with */
}

#endif
