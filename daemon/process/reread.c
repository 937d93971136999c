/* Whether a reload will be able to read again what a start has read.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * A start reads keys and files as root; a reload, as the user of `username`. Whoever learns that at a reload learns it
 * when a certificate is to be renewed. */
#include "daemon/process/reread.h"

#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <grp.h>
#include <limits.h>
#include <string.h>
#include <unistd.h>

#include "daemon/system/privileges.h"
#include "util/base/fault.h"
#include "util/base/log.h"
#include "util/base/mem.h"
#include "util/conf/options.h"

struct groups {
	gid_t ids[NGROUPS_MAX];
	int count;
};

static bool join(const struct privileges *p, const char *name, struct groups *own)
{
	own->count = getgroups(COUNT(own->ids), own->ids);
#ifdef HAVE_INITGROUPS
	return own->count >= 0 && initgroups(name, p->gid) == 0;
#else
	(void)name;
	return own->count >= 0 && setgroups(1, &p->gid) == 0;
#endif
}

/* Root again, in its own groups. */
static bool be_root(gid_t gid, const struct groups *own, struct fault *f)
{
	if (seteuid(0) == 0 && setegid(gid) == 0 && setgroups(own->count, own->ids) == 0)
		return true;
	fault_set(f, "cannot be root again: %s", strerror(errno));
	return false;
}

static void look_at(const char *option, const char *path, const char *name)
{
	if (faccessat(AT_FDCWD, path, R_OK, AT_EACCESS) != 0 && errno == EACCES)
		log_warn("%s: the user %s may not read '%s': a reload will fail", option, name, path);
}

static void look_at_each(const struct conf *conf, const char *option, const char *text)
{
	char *path = conf_path(conf, text);
	glob_t found = { 0 };

	if (glob(path, GLOB_NOCHECK, NULL, &found) == 0)
		for (size_t i = 0; i < found.gl_pathc; i++)
			look_at(option, found.gl_pathv[i], conf->server.username);
	globfree(&found);
	mem_free(path);
}

static void on_path(void *arg, const struct conf_path_use *use)
{
	const struct conf *conf = arg;

	if (use->use != CONF_MAKES && !use->folder)
		look_at_each(conf, use->option, use->path);
}

bool reread_warn(const struct privileges *p, const struct conf *conf, struct fault *f)
{
	gid_t gid = getegid();
	struct groups own;

	if (!p->change || p->uid == 0 || !join(p, conf->server.username, &own))
		return true;
	if (setegid(p->gid) == 0 && seteuid(p->uid) == 0)
		conf_each_path(conf, on_path, (void *)(uintptr_t)conf);
	return be_root(gid, &own, f);
}
