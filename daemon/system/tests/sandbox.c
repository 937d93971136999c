/* The sandbox: what a process in it can do, and what it cannot.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "daemon/system/sandbox.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <stdatomic.h>
#include <dirent.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "util/base/fault.h"
#include "util/base/mem.h"
#include "util/conf/options.h"

#if defined(__linux__) && defined(HAVE_LIBSECCOMP) && !defined(WITH_SANITIZERS)

static char inside[] = "/tmp/sandbox-inside-XXXXXX", outside[] = "/tmp/sandbox-outside-XXXXXX",
	    client_sockets[] = "/tmp/sandbox-client_sockets-XXXXXX";

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

/* Privileges that a test may have make up for some that are to be given up. */
static int read_outside_without_privileges(void)
{
	return read_outside();
}

/* Standard input may be closed, and its number another thing's. */
static int read_outside_without_input(void)
{
	return read_outside();
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

/* ---- of files ---- */

static int make_a_folder_inside(void)
{
	return mkdir(in(inside, "folder"), 0700) == 0 ? 0 : errno;
}

static int list_inside(void)
{
	DIR *folder = opendir(inside);

	if (folder)
		closedir(folder);
	return folder ? 0 : errno;
}

static int cut_inside(void)
{
	return truncate(in(inside, "there"), 0) == 0 ? 0 : errno;
}

static int link_inside(void)
{
	return symlink("there", in(inside, "link")) == 0 ? 0 : errno;
}

static int move_out(void)
{
	char from[256];

	snprintf(from, sizeof from, "%s", in(inside, "there"));
	return rename(from, in(outside, "moved")) == 0 ? 0 : errno;
}

static int make_a_socket_at(const char *folder)
{
	struct sockaddr_un sun = { .sun_family = AF_UNIX };
	int fd = socket(AF_UNIX, SOCK_STREAM, 0);

	snprintf(sun.sun_path, sizeof sun.sun_path, "%s/socket", folder);
	return bind(fd, (struct sockaddr *)&sun, sizeof sun) == 0 && unlink(sun.sun_path) == 0 ? 0 : errno;
}

static int make_a_socket_inside(void)
{
	return make_a_socket_at(inside);
}

static int make_a_socket_for_control(void)
{
	return make_a_socket_at(client_sockets);
}

static int write_for_control(void)
{
	return create(in(client_sockets, "new"));
}

static int read_for_control(void)
{
	return look(in(client_sockets, "there"));
}

static int write_to_a_file_for_control(void)
{
	int fd = open(in(client_sockets, "there"), O_WRONLY);

	return fd >= 0 ? 0 : errno;
}

static int write_to_nothing(void)
{
	int fd = open("/dev/null", O_WRONLY);

	return fd >= 0 && write(fd, "x", 1) == 1 ? 0 : errno;
}

static int write_of_the_system(void)
{
	int fd = open("/etc/passwd", O_WRONLY | O_APPEND);

	return fd >= 0 ? 0 : errno;
}

/* ---- of anything else ---- */

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

/* Memory that has once been written: where the kernel can refuse that (Linux 6.3). */
static int make_what_was_written_runnable(void)
{
	char *at = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (at == MAP_FAILED)
		return -1;
	*at = 1;
	return mprotect(at, 4096, PROT_READ | PROT_EXEC) == 0 ? 0 : errno;
}

static bool can_refuse_to_run(void)
{
	int status = 0;
	pid_t child = fork();

	if (child == 0)
		_exit(prctl(65, 1, 0, 0, 0) == 0); /* PR_SET_MDWE */
	return waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 1;
}

/* Through a set-uid program, as the kernel tells of this process. */
static int gain_privileges(void)
{
	static const char want[] = "NoNewPrivs:\t1\n";
	char text[4096];
	int fd = open("/proc/self/status", O_RDONLY);
	ssize_t n = fd < 0 ? -1 : read(fd, text, sizeof text - 1);

	text[MAX(n, 0)] = '\0';
	return strstr(text, want) ? EPERM : 0;
}

static atomic_int early_goes, early_error;

static void *make_a_process_early(void *arg)
{
	while (!atomic_load(&early_goes))
		usleep(1000);
	atomic_store(&early_error, make_a_process() + 1);
	return arg;
}

/* As libraries do when they are first used. */
static pthread_t early;

static int make_a_process_on_an_older_thread(void)
{
	atomic_store(&early_goes, 1);
	pthread_join(early, NULL);
	return atomic_load(&early_error) - 1;
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
		struct sandbox *s;

		if (deed == make_a_process_on_an_older_thread)
			assert_int_equal(pthread_create(&early, NULL, make_a_process_early, NULL), 0);
		if ((deed == gain_privileges || deed == read_outside_without_privileges) && geteuid() == 0 &&
		    setuid(65534) != 0)
			_exit(98);
		if (deed == read_outside_without_input)
			close(STDIN_FILENO);
		s = sandbox_draw(conf, false);
		_exit(!s ? 99 : deed() == 0 ? FINE : REFUSED);
	}
	assert_int_equal(waitpid(child, &status, 0), child);
	(void)rmdir(in(inside, "folder"));
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
	snprintf(line, sizeof line, "control-interface: \"%s/s\"", client_sockets);
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
		{ "a folder is made", make_a_folder_inside, FINE, FINE, true },
		{ "the folder is listed", list_inside, FINE, FINE, true },
		{ "a file is made shorter", cut_inside, FINE, FINE, true },
		{ "a link is made", link_inside, REFUSED, ENDS, true },
		{ "a file is moved elsewhere", move_out, REFUSED, REFUSED, true },
		{ "a socket is made in the folder", make_a_socket_inside, FINE, FINE, true },
		{ "a socket is made where sockets are", make_a_socket_for_control, FINE, FINE, true },
		{ "a file is read there", read_for_control, FINE, FINE, true },
		{ "a file is made there", write_for_control, REFUSED, REFUSED, true },
		{ "a file is written there", write_to_a_file_for_control, REFUSED, REFUSED, true },
		{ "the system's files are written", write_of_the_system, REFUSED, REFUSED, true },
		{ "nothing is written to", write_to_nothing, FINE, FINE, true },
		{ "privileges are gained", gain_privileges, REFUSED, REFUSED, false },
		{ "what was written is made runnable", make_what_was_written_runnable, REFUSED, REFUSED, false },
		{ "a process is made by a thread that was there before", make_a_process_on_an_older_thread, REFUSED, ENDS, false },
		{ "a file elsewhere is read by somebody without privileges", read_outside_without_privileges, REFUSED, REFUSED,
		  true },
		{ "a file elsewhere is read, without an input", read_outside_without_input, REFUSED, REFUSED, true },
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
		if (rows[i].deed == make_what_was_written_runnable && !can_refuse_to_run())
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

/* Which one, so that it can be added to the list where it is harmless. */
static void the_refused_call_is_named(void **state)
{
	struct conf *strict = conf_for("strict");
	int ends[2], status = 0;
	char said[200], want[200];
	size_t len = 0;
	ssize_t n;
	pid_t child;

	(void)state;
	assert_int_equal(pipe(ends), 0);
	child = fork();
	if (child == 0) {
		(void)dup2(ends[1], STDERR_FILENO);
		_exit(sandbox_draw(strict, false) && syscall(SYS_personality, 0xffffffff) < 0);
	}
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_true(WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status), 128 + SIGSYS);
	close(ends[1]);
	while (len < sizeof said - 1 && (n = read(ends[0], said + len, sizeof said - 1 - len)) > 0)
		len += (size_t)n;
	said[len] = '\0';
	snprintf(want, sizeof want, "sandbox: the process ends at a system call that is not in the list: %d\n",
		 (int)SYS_personality);
	assert_string_equal(said, want);
	close(ends[0]);
	conf_free(strict);
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
	return mkdtemp(inside) && mkdtemp(outside) && mkdtemp(client_sockets) && create(in(inside, "there")) == 0 &&
			       create(in(outside, "there")) == 0 && create(in(client_sockets, "there")) == 0 &&
			       chmod(outside, 0755) == 0 && chmod(in(outside, "there"), 0644) == 0
		       ? 0
		       : -1;
}

static int remove_folders(void **state)
{
	static const char *const names[] = { "there", "new", "other", "moved", "link", "socket" };

	(void)state;
	for (size_t i = 0; i < COUNT(names); i++) {
		(void)unlink(in(inside, names[i]));
		(void)unlink(in(outside, names[i]));
		(void)unlink(in(client_sockets, names[i]));
	}
	return rmdir(inside) == 0 && rmdir(outside) == 0 && rmdir(client_sockets) == 0 ? 0 : -1;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(only_what_serving_takes_can_be_done),
		cmocka_unit_test(a_configuration_is_admitted_when_its_files_can_be_reached),
		cmocka_unit_test(the_refused_call_is_named),
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
