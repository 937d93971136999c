/* The pid file, which holds our process ID.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "daemon/system/pidfile.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "util/base/fault.h"
#include "util/base/log.h"
#include "util/base/mem.h"
#include "util/conf/options.h"

static void warn_of_other(int fd, const char *path)
{
	char text[32] = "";
	ssize_t n = read(fd, text, sizeof text - 1);
	long pid = n > 0 ? strtol(text, NULL, 10) : 0;

	if (pid > 0 && pid != (long)getpid() && (kill((pid_t)pid, 0) == 0 || errno == EPERM))
		log_warn("pid file %s names process %ld, which is running", path, pid);
}

static bool write_number(int fd)
{
	char text[32];
	int len = snprintf(text, sizeof text, "%ld\n", (long)getpid());

	return ftruncate(fd, 0) == 0 && pwrite(fd, text, (size_t)len, 0) == len;
}

bool pidfile_write(struct pidfile *p, const struct conf *conf, const struct privileges *who,
		   struct fault *f)
{
	struct stat st;
	bool trap;
	int why;

	*p = (struct pidfile){ .fd = -1 };
	if (!*conf->server.pidfile)
		return true;
	p->path = conf_pid_path(conf);
	p->path_inside = conf_path_inside(conf, conf->server.pidfile);
	p->fd = open(p->path, O_RDWR | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, 0644);
	if (p->fd >= 0 && fstat(p->fd, &st) == 0 && S_ISREG(st.st_mode)) {
		warn_of_other(p->fd, p->path);
		if (write_number(p->fd)) {
			if (who->change && fchown(p->fd, who->uid, who->gid) != 0)
				log_detail("pid file %s stays owned by root: %s", p->path, strerror(errno));
			return true;
		}
	}
	why = errno ? errno : EINVAL;
	trap = p->fd >= 0 || why == ELOOP;
	if (trap)
		fault_set(f, "cannot write the pid file %s: %s", p->path, strerror(why));
	else
		log_error("cannot write the pid file %s: %s; going on without it", p->path, strerror(why));
	if (p->fd >= 0)
		close(p->fd);
	mem_free(p->path);
	mem_free(p->path_inside);
	*p = (struct pidfile){ .fd = -1 };
	return !trap;
}

/* Unlink `path` only if it is the file we wrote: in a chroot the name may be another's. */
static bool take_away(const struct pidfile *p, const char *path)
{
	struct stat ours, there;

	return fstat(p->fd, &ours) == 0 && lstat(path, &there) == 0 &&
	       ours.st_dev == there.st_dev && ours.st_ino == there.st_ino && unlink(path) == 0;
}

/* If it can no longer be unlinked it is truncated, so that it names no process. */
void pidfile_remove(struct pidfile *p)
{
	if (!p->path)
		return;
	if (!take_away(p, p->path) && !take_away(p, p->path_inside) && ftruncate(p->fd, 0) != 0)
		log_warn("cannot remove the pid file %s", p->path);
	close(p->fd);
	mem_free(p->path);
	mem_free(p->path_inside);
	*p = (struct pidfile){ .fd = -1 };
}
