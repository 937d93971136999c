/* resolverd: the command line, and running in the background.
 * SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "daemon/process/daemon.h"
#include "daemon/process/log_conf.h"
#include "daemon/process/socket_activation.h"
#include "daemon/serve.h"
#include "daemon/system/sd_notify.h"
#include "daemon/worker/modules.h"
#include "util/base/fault.h"
#include "util/base/hash.h"
#include "util/base/log.h"
#include "util/base/mem.h"
#include "util/base/program.h"
#include "util/base/rcu.h"
#include "util/conf/options.h"

static void print_usage(FILE *out, const char *program)
{
	fprintf(out,
		"usage:  %s [options]\n"
		"\tstart the %s DNS resolver daemon.\n"
		"-h\tthis help.\n"
		"-c file\tconfig file to read instead of %s\n"
		"-d\tdo not fork into the background (twice: log to standard error).\n"
		"-p\tdo not create a pidfile.\n"
		"-v\tverbose (more times to increase verbosity).\n"
		"-V\tshow version number and build options.\n"
		"\nVersion %s\n",
		program, PACKAGE_NAME, CONF_FILE, PACKAGE_VERSION);
}

static void print_version(void)
{
	printf("Version %s\n\nConfigure line: %s\nLinked libs: %s\nLinked modules:",
	       PACKAGE_VERSION, CONFIGURE_LINE, LINKED_LIBS);
	for (size_t i = 0; modules[i]; i++)
		if (*modules[i]->name)
			printf(" %s", modules[i]->name);
	printf("\n\nBSD licensed, see LICENSE in source package for details.\n");
}

/* Relative paths mean nothing after a chdir. A missing file is returned as given, for its reader to
 * report. The result lasts until the next call. */
static const char *absolute(const char *path)
{
	static char whole[PATH_MAX];

	return realpath(path, whole) ? whole : path;
}

/* ---- the background ---- */

/* The parent waits until the child serves, so that whoever started us gets a true exit status. */
static int wait_for_child(int from_child, pid_t child)
{
	char byte;
	ssize_t n;
	int status;

	do
		n = read(from_child, &byte, 1);
	while (n < 0 && errno == EINTR);
	if (n == 1)
		return 0;
	if (waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status))
		return WEXITSTATUS(status);
	return 1;
}

/* Fork. Returns in the child, with the pipe on which to tell the parent that it serves; the parent
 * exits then, or when the child has failed. */
static int go_to_background(void)
{
	int ends[2];
	pid_t child;

	if (pipe(ends) != 0 || (child = rcu_fork()) < 0) {
		log_error("cannot go to the background: %s", strerror(errno));
		exit(1);
	}
	if (child > 0) {
		close(ends[1]);
		_exit(wait_for_child(ends[0], child));
	}
	close(ends[0]);
	(void)setsid();
	(void)fcntl(ends[1], F_SETFD, FD_CLOEXEC);
	return ends[1];
}

struct start {
	int to_parent; /* pipe; -1: in the foreground, or already told */
	int null;      /* /dev/null, opened before any chroot hides it; -1: could not be opened */
};

/* Startup errors go to the terminal; from here on it is detached, unless in the foreground. */
static void on_ready(void *arg)
{
	struct start *s = arg;

	sd_notify_ready();
	if (s->to_parent < 0)
		return;
	for (int fd = 0; s->null >= 0 && fd <= 2; fd++)
		(void)dup2(s->null, fd);
	close(s->null);
	if (write(s->to_parent, "", 1) < 0)
		log_detail("the process that waited for the start has exited");
	close(s->to_parent);
	s->to_parent = -1;
}

/* ---- the command line ---- */

static bool take_arguments(struct daemon_how *how, int argc, char **argv)
{
	int option;

	while ((option = getopt_long(argc, argv, "c:dhpvV", program_long_options, NULL)) != -1) {
		switch (option) {
		case 'c':
			how->conf_path = absolute(optarg);
			break;
		case 'd':
			how->to_stderr = how->foreground;
			how->foreground = true;
			break;
		case 'p':
			how->no_pidfile = true;
			break;
		case 'v':
			how->verbose++;
			break;
		case 'V':
			print_version();
			exit(0);
		default:
			return false;
		}
	}
	return optind == argc;
}

static int serve(struct daemon *d, struct conf *conf)
{
	struct start start = { .to_parent = -1, .null = -1 };
	struct fault f = { 0 };
	bool ok;

	if (conf->server.do_daemonize) {
		start.null = open("/dev/null", O_RDWR | O_CLOEXEC);
		start.to_parent = go_to_background();
	}
	hash_start(false);
	sd_notify_open();
	ok = serve_open(d, conf, &f) && serve_run(d, on_ready, &start, &f);
	if (!ok)
		log_line("fatal error", "%s", f.text);
	serve_close(d);
	socket_activation_close();
	sd_notify_close();
	log_writer_end();
	return ok ? 0 : 1;
}

int main(int argc, char **argv)
{
	struct daemon d = { .pidfile = { .fd = -1 } };
	struct fault f = { 0 };
	struct conf *conf;

	d.how.program = program_name(argv, DAEMON_NAME);
	d.how.conf_path = CONF_FILE;
	if (!take_arguments(&d.how, argc, argv)) {
		print_usage(stdout, d.how.program);
		return 1;
	}
	serve_hold_signals();
	(void)log_start(&(struct log_how){ .ident = d.how.program });
	atomic_store(&log_verbosity, (int)d.how.verbose);
	socket_activation_open();
	conf = daemon_read(&d, &f);
	if (!conf) {
		log_line("fatal error", "could not read the config file %s", d.how.conf_path);
		return 1;
	}
	log_conf_form(&d, conf);
	return serve(&d, conf);
}
