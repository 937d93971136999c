/* The identity of the process: user, groups, chroot, working folder.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "daemon/system/privileges.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include <grp.h>
#include <pwd.h>

#include "daemon/system/capabilities.h"
#include "util/base/fault.h"
#include "util/base/log.h"
#include "util/base/mem.h"
#include "util/conf/options.h"

bool privileges_find(struct privileges *p, const struct conf *conf, struct fault *f)
{
	const char *name = conf->server.username;
	const struct passwd *user;

	*p = (struct privileges){ .uid = geteuid(), .gid = getegid() };
	if (!*name)
		return true;
	errno = 0;
	user = getpwnam(name);
	if (geteuid() != 0) {
		if (!user || user->pw_uid != geteuid())
			log_detail("not started as root: the user stays unchanged, not %s",
				   name);
		return true;
	}
	if (!user) {
		fault_set(
			f,
			"username: there is no user %s (an empty name keeps the one who starts it)",
			name);
		return false;
	}
	*p = (struct privileges){ .change = true, .uid = user->pw_uid, .gid = user->pw_gid };
	return true;
}

static bool lock_in(const struct conf *conf, struct fault *f)
{
	const char *root = conf->server.chroot;

#ifdef HAVE_CHROOT
	if (chdir(root) == 0 && chroot(root) == 0 && chdir("/") == 0)
		return true;
#else
	errno = ENOSYS;
#endif
	fault_set(f, "cannot chroot to %s: %s", root, strerror(errno));
	return false;
}

static bool go_to_folder(const struct conf *conf, struct fault *f)
{
	char *folder = conf_path_inside(conf, conf->server.directory);
	bool ok = !*folder || chdir(folder) == 0;

	if (!ok)
		fault_set(f, "cannot go to the directory %s: %s", folder, strerror(errno));
	mem_free(folder);
	return ok;
}

/* Must precede the chroot, which hides the group database, and the change of user. */
static bool join_groups(const struct privileges *p, const char *name, struct fault *f)
{
#ifdef HAVE_INITGROUPS
	bool ok = initgroups(name, p->gid) == 0;
#else
	bool ok = setgroups(1, &p->gid) == 0;
#endif
	if (!ok)
		fault_set(f, "cannot join the groups of user %s: %s", name, strerror(errno));
	return ok;
}

static bool become(const struct privileges *p, const char *name, struct fault *f)
{
#ifdef HAVE_SETRESGID
	bool ok = setresgid(p->gid, p->gid, p->gid) == 0;
#else
	bool ok = setgid(p->gid) == 0;
#endif
#ifdef HAVE_SETRESUID
	ok = ok && setresuid(p->uid, p->uid, p->uid) == 0;
#else
	ok = ok && setuid(p->uid) == 0;
#endif
	if (!ok)
		fault_set(f, "cannot become user %s: %s", name, strerror(errno));
	return ok;
}

bool privileges_drop(const struct privileges *p, const struct conf *conf, struct fault *f)
{
	const char *name = conf->server.username;

	if (p->change && !join_groups(p, name, f))
		return false;
	if (*conf->server.chroot && !lock_in(conf, f))
		return false;
	if (!go_to_folder(conf, f))
		return false;
	if (p->change) {
		capabilities_carry();
		if (!become(p, name, f))
			return false;
	}
	if (p->change || strcmp(conf->server.sandbox, "no") != 0)
		capabilities_limit(conf, p->uid == 0);
	return true;
}

void privileges_give(const struct privileges *p, const char *path)
{
	if (p->change && lchown(path, p->uid, p->gid) != 0 && errno != ENOENT)
		log_warn("cannot change the owner of %s: %s", path,
			 strerror(errno));
}
