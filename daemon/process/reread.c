/* Whether a reload will be able to read again what a start has read.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * A start reads keys and files as root; a reload, as the user of `username`. Whoever learns that at a reload learns it
 * when a certificate is to be renewed. Without the file of a rolling anchor, a reload would trust other keys than the
 * start did: there, a start is refused, as Unbound does. */
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

struct look {
	const struct conf *conf;
	struct fault *anchor; /* an anchor's file that the user may not read */
};

/* RFC 5011 is followed by that user, who then reads and writes the file. */
static bool is_followed(const char *option)
{
	return strcmp(option, "auto-trust-anchor-file") == 0;
}

static void look_at(const struct look *l, const char *option, const char *path)
{
	const char *name = l->conf->server.username;

	if (faccessat(AT_FDCWD, path, R_OK, AT_EACCESS) == 0 || errno != EACCES)
		return;
	if (is_followed(option))
		fault_set(l->anchor,
			  "%s: the user %s may not read '%s', and has to keep it up to date; chown %s '%s' helps, if its "
			  "folder lets that user in",
			  option, name, path, name, path);
	else
		log_warn("%s: the user %s may not read '%s': a reload will fail", option, name, path);
}

static void look_at_each(const struct look *l, const char *option, const char *text)
{
	const struct conf *conf = l->conf;
	char *path = conf_path(conf, text);
	glob_t found = { 0 };

	if (glob(path, GLOB_NOCHECK, NULL, &found) == 0)
		for (size_t i = 0; i < found.gl_pathc; i++)
			look_at(l, option, found.gl_pathv[i]);
	globfree(&found);
	mem_free(path);
}

static void on_path(void *arg, const struct conf_path_use *use)
{
	if (use->use != CONF_MAKES && !use->folder)
		look_at_each(arg, use->option, use->path);
}

bool reread_foresee(const struct privileges *p, const struct conf *conf, struct fault *f)
{
	struct fault anchor = { .set = false };
	struct look look = { .conf = conf, .anchor = &anchor };
	gid_t gid = getegid();
	struct groups *own;
	bool back;

	if (!p->change || p->uid == 0)
		return true;
	own = mem_new(sizeof *own); /* 256 kB: the pages of a stack would not be given back */
	if (!join(p, conf->server.username, own)) {
		mem_free(own);
		return true;
	}
	if (setegid(p->gid) == 0 && seteuid(p->uid) == 0)
		conf_each_path(conf, on_path, &look);
	back = be_root(gid, own, f);
	mem_free(own);
	if (!back)
		return false;
	if (anchor.set)
		fault_set(f, "%s", anchor.text);
	return !anchor.set;
}
