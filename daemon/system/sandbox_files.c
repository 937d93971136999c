/* The sandbox around files: the folders that the configuration uses, enforced by Landlock.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * A rule covers a folder and everything below it, now or later: a file that is replaced, created
 * later or named by a later reload needs no rule of its own. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "daemon/system/sandbox.h"
#include "daemon/system/sandbox_private.h"
#include "util/base/fault.h"
#include "util/base/log.h"
#include "util/base/mem.h"

#if defined(HAVE_LINUX_LANDLOCK_H)
#include <linux/landlock.h>
#include <sys/syscall.h>
#endif

/* What libraries read: certificates, time zones, service names, shared libraries, name service
 * sockets; and where programs leave files for others. */
static const char *const system_folders[] = {
	"/etc", "/usr", "/lib", "/lib64", "/run", "/var/lib", "/var/cache", "/proc", "/sys", "/nix/store", "/gnu/store",
	"/dev/random", "/dev/urandom",
};

/* ---- folders ---- */

static bool is_below(const char *path, const char *folder)
{
	size_t len = strlen(folder);

	if (len == 1)
		return true;
	return strncmp(path, folder, len) == 0 && (path[len] == '/' || !path[len]);
}

static bool allows(const struct sandbox *s, const char *path, enum conf_use use)
{
	for (size_t i = 0; i < s->count; i++)
		if (s->places[i].use >= use && is_below(path, s->places[i].path))
			return true;
	return false;
}

static void add_place(struct sandbox *s, const char *path, enum conf_use use)
{
	if (allows(s, path, use))
		return;
	s->places = mem_grow(s->places, (s->count + 1) * sizeof *s->places);
	s->places[s->count++] = (struct sandbox_place){ .path = mem_text(path), .use = use };
}

static void cut_last(char *path)
{
	char *slash = strrchr(path, '/');

	if (!slash)
		strcpy(path, ".");
	else
		slash[slash == path] = '\0';
}

/* `path` with symlinks resolved; if it does not exist yet, its nearest existing ancestor. Cuts
 * `path` to what was resolved. NULL if nothing of it exists. */
static const char *resolve(char *path, char real[PATH_MAX])
{
	while (!realpath(path, real)) {
		if (strcmp(path, "/") == 0 || strcmp(path, ".") == 0)
			return NULL;
		cut_last(path);
	}
	return real;
}

/* A file is replaced within its folder; a symlink's target has a folder of its own. */
struct places_of {
	char folder[PATH_MAX];
	char target[PATH_MAX];
	bool has_folder, has_target;
};

static void find_places(struct places_of *p, const struct conf_path_use *u, char *path)
{
	char real[PATH_MAX];
	bool pattern = strpbrk(path, "*?[{") != NULL;
	struct stat st;

	*p = (struct places_of){ 0 };
	if (pattern)
		path[strcspn(path, "*?[{")] = '\0';
	else if (!u->folder && realpath(path, real) && strcmp(path, real) != 0) {
		if (stat(real, &st) == 0 && !S_ISDIR(st.st_mode))
			cut_last(real);
		memcpy(p->target, real, sizeof real);
		p->has_target = true;
	}
	if (!u->folder)
		cut_last(path);
	if (resolve(path, real)) {
		memcpy(p->folder, real, sizeof real);
		p->has_folder = true;
	}
}

struct collecting {
	struct sandbox *sandbox;
	const struct conf *conf;
	struct fault *fault;
	bool ok;
};

static char *seen_path(const struct collecting *c, const struct conf_path_use *u)
{
	return c->sandbox->locked_in ? conf_path_inside(c->conf, u->path) : conf_path(c->conf, u->path);
}

/* Outside a chroot, "/" is never added, for that would be no sandbox. In a chroot it is a folder
 * like any other, and often the one written to. */
static bool is_place(const struct sandbox *s, const char *path)
{
	return s->locked_in || strcmp(path, "/") != 0;
}

static void collect(void *arg, const struct conf_path_use *u)
{
	struct collecting *c = arg;
	char *path = seen_path(c, u);
	struct places_of p;

	find_places(&p, u, path);
	if (p.has_folder && is_place(c->sandbox, p.folder))
		add_place(c->sandbox, p.folder, u->use);
	if (p.has_target && is_place(c->sandbox, p.target))
		add_place(c->sandbox, p.target, u->use);
	mem_free(path);
}

void sandbox_collect(struct sandbox *s, const struct conf *conf)
{
	struct collecting c = { .sandbox = s, .conf = conf };
	char real[PATH_MAX];

	conf_each_path(conf, collect, &c);
	if (s->locked_in) {
		add_place(s, "/", CONF_READS);
	} else {
		for (size_t i = 0; i < COUNT(system_folders); i++)
			if (realpath(system_folders[i], real))
				add_place(s, real, CONF_READS);
	}
	add_place(s, "/dev/null", CONF_WRITES);
}

/* What a start would not have added is no reason to ask for one. */
static bool is_refused(const struct sandbox *s, bool has, const char *path, enum conf_use use)
{
	return has && is_place(s, path) && !allows(s, path, use);
}

static void check(void *arg, const struct conf_path_use *u)
{
	static const char *const words[] = {
		[CONF_READS] = "read", [CONF_MAKES] = "made", [CONF_WRITES] = "written"
	};
	struct collecting *c = arg;
	const char *where = NULL;
	char *path = seen_path(c, u);
	struct places_of p;

	find_places(&p, u, path);
	if (is_refused(c->sandbox, p.has_folder, p.folder, u->use))
		where = p.folder;
	else if (is_refused(c->sandbox, p.has_target, p.target, u->use))
		where = p.target;
	if (where) {
		fault_set(c->fault, "%s: %s cannot be %s: %s is outside of the sandbox that was drawn at the "
			  "start. Start anew, or name the folder in sandbox-path for the next time",
			  u->option, u->path, words[u->use], where);
		c->ok = false;
	}
	mem_free(path);
}

bool sandbox_admits(const struct sandbox *s, const struct conf *conf, struct fault *f)
{
	struct collecting c = { .conf = conf, .fault = f, .ok = true };

	if (!s || !s->holds)
		return true;
	c.sandbox = (struct sandbox *)(uintptr_t)s;
	conf_each_path(conf, check, &c);
	return c.ok;
}

/* ---- Landlock ---- */

/* Access rights by value, since the build machine's headers may be older than the running kernel:
 * all of Landlock ABI version 1, then those added later. */
#define RIGHTS_1  ((1U << 13) - 1)
#define REFER     (1U << 13)
#define TRUNCATE  (1U << 14)
#define IOCTL_DEV (1U << 15)

uint64_t sandbox_known_rights(long version)
{
	uint64_t known = RIGHTS_1;

	if (version >= 2)
		known |= REFER;
	if (version >= 3)
		known |= TRUNCATE;
	if (version >= 5)
		known |= IOCTL_DEV;
	return known;
}

#if defined(HAVE_LINUX_LANDLOCK_H) && defined(SYS_landlock_create_ruleset)

#define READING (LANDLOCK_ACCESS_FS_READ_FILE | LANDLOCK_ACCESS_FS_READ_DIR)
#define MAKING (READING | LANDLOCK_ACCESS_FS_MAKE_SOCK | LANDLOCK_ACCESS_FS_REMOVE_FILE)
#define WRITING \
	(MAKING | LANDLOCK_ACCESS_FS_WRITE_FILE | LANDLOCK_ACCESS_FS_MAKE_REG | LANDLOCK_ACCESS_FS_MAKE_DIR | TRUNCATE)
#define OF_A_FILE (LANDLOCK_ACCESS_FS_READ_FILE | LANDLOCK_ACCESS_FS_WRITE_FILE | TRUNCATE)

static void add_rule(int rules, const struct sandbox_place *place, uint64_t known)
{
	static const uint64_t rights[] = {
		[CONF_READS] = READING, [CONF_MAKES] = MAKING, [CONF_WRITES] = WRITING
	};
	struct landlock_path_beneath_attr rule = { .allowed_access = rights[place->use] & known };
	struct stat st;

	rule.parent_fd = open(place->path, O_PATH | O_CLOEXEC);
	if (rule.parent_fd < 0)
		return; /* what cannot be opened cannot be used either */
	if (fstat(rule.parent_fd, &st) == 0 && !S_ISDIR(st.st_mode))
		rule.allowed_access &= OF_A_FILE;
	if (syscall(SYS_landlock_add_rule, rules, LANDLOCK_RULE_PATH_BENEATH, &rule, 0) != 0)
		log_notice("sandbox: cannot add a rule for %s: %s", place->path, strerror(errno));
	close(rule.parent_fd);
}

static bool guard(const struct sandbox *s)
{
	long version = syscall(SYS_landlock_create_ruleset, NULL, (size_t)0, LANDLOCK_CREATE_RULESET_VERSION);
	struct landlock_ruleset_attr attr = { .handled_access_fs = sandbox_known_rights(version) };
	int rules;
	bool good;

	if (version < 1)
		return false;
	rules = (int)syscall(SYS_landlock_create_ruleset, &attr, sizeof attr.handled_access_fs, 0);
	if (rules < 0)
		return false;
	for (size_t i = 0; i < s->count; i++)
		add_rule(rules, &s->places[i], attr.handled_access_fs);
	good = syscall(SYS_landlock_restrict_self, rules, 0) == 0;
	close(rules);
	return good;
}

#else

static bool guard(const struct sandbox *s)
{
	(void)s;
	errno = ENOSYS;
	return false;
}

#endif

void sandbox_files(struct sandbox *s, const struct conf *conf)
{
	sandbox_collect(s, conf);
	s->holds = guard(s);
	if (!s->holds)
		log_notice("sandbox: file access is not limited: this system has no Landlock (%s)", strerror(errno));
	else
		for (size_t i = 0; i < s->count; i++)
			log_algo("sandbox: %s %s", s->places[i].path,
				 s->places[i].use == CONF_READS   ? "is read"
				 : s->places[i].use == CONF_MAKES ? "holds sockets"
								  : "is written");
}
