/* The cache file on disk: replaced atomically, and read only if it is our own.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "services/cache/file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "util/fault.h"
#include "util/mem.h"

/* ---- reading ---- */

static size_t pull_from(void *arg, uint8_t *to, size_t len)
{
	const int *fd = arg;
	size_t got = 0;

	while (got < len) {
		ssize_t n = read(*fd, to + got, len - got);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			break;
		got += (size_t)n;
	}
	return got;
}

/* Why somebody else might have written it, or NULL. */
static const char *why_not_ours(const struct stat *s)
{
	if (!S_ISREG(s->st_mode))
		return "it is no plain file";
	if (s->st_uid != geteuid() && s->st_uid != 0)
		return "it belongs to another user";
	if (s->st_mode & (S_IWGRP | S_IWOTH))
		return "others may write into it";
	return NULL;
}

/* A descriptor; -1 with `f` set on failure, without it when there is no such file. */
static int open_ours(const char *path, struct fault *f)
{
	int fd = open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	struct stat s;
	const char *why;

	if (fd < 0 && errno == ENOENT)
		return -1;
	why = fd < 0 ? strerror(errno) : fstat(fd, &s) != 0 ? strerror(errno) : why_not_ours(&s);
	if (!why)
		return fd;
	fault_set(f, "%s is not used: %s", path, why);
	if (fd >= 0)
		close(fd);
	return -1;
}

bool cachefile_load(const char *path, const struct cachefile_how *how,
		    struct cachefile_count *count, struct fault *f)
{
	struct fault why = { 0 };
	int fd = open_ours(path, f);
	bool ok;

	*count = (struct cachefile_count){ 0 };
	if (fd < 0)
		return !f->set;
	ok = cachefile_read(how, pull_from, &fd, count, &why);
	close(fd);
	if (!ok && count->bytes > BLOCKS_HEAD_LEN)
		fault_set(f, "%s is used only in part: %s", path, why.text);
	else if (!ok)
		fault_set(f, "%s is not used: %s", path, why.text);
	return ok;
}

/* ---- writing ---- */

/* A configuration mistake must not cost the operator a file. */
static bool may_be_replaced(const char *path, struct fault *f)
{
	int fd = open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	uint8_t magic[BLOCKS_MAGIC_LEN];
	size_t got;
	struct stat s;

	if (fd < 0 && errno == ENOENT)
		return true;
	if (fd < 0 || fstat(fd, &s) != 0) {
		fault_set(f, "cannot look at %s: %s", path, strerror(errno));
		if (fd >= 0)
			close(fd);
		return false;
	}
	got = S_ISREG(s.st_mode) ? pull_from(&fd, magic, sizeof(magic)) : 0;
	close(fd);
	if (S_ISREG(s.st_mode) &&
	    (got == 0 || (got == sizeof(magic) && memcmp(magic, BLOCKS_MAGIC, got) == 0)))
		return true;
	fault_set(f, "%s is something else than a cache file: it is not written over", path);
	return false;
}

static bool push_to(void *arg, const uint8_t *at, size_t len, struct fault *f)
{
	const int *fd = arg;

	while (len) {
		ssize_t n = write(*fd, at, len);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0) {
			fault_set(f, "%s", n < 0 ? strerror(errno) : "nothing more can be written");
			return false;
		}
		at += n;
		len -= (size_t)n;
	}
	return true;
}

/* Make the new name durable too; where directories cannot be synced, nothing more can be done. */
static void sync_folder(const char *path)
{
	char *folder = mem_text(path), *slash = strrchr(folder, '/');
	int fd;

	if (slash)
		slash[slash == folder] = '\0';
	fd = open(slash ? folder : ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd >= 0) {
		(void)fsync(fd);
		close(fd);
	}
	mem_free(folder);
}

static bool write_aside(const char *aside, const struct cachefile_how *how,
			struct cachefile_count *count, struct fault *f)
{
	int fd;
	bool ok;

	(void)unlink(aside); /* left behind by a process that died */
	fd = open(aside, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (fd < 0) {
		fault_set(f, "%s", strerror(errno));
		return false;
	}
	ok = cachefile_write(how, push_to, &fd, count, f);
	if (ok && fsync(fd) != 0) {
		fault_set(f, "%s", strerror(errno));
		ok = false;
	}
	if (close(fd) != 0 && ok) {
		fault_set(f, "%s", strerror(errno));
		ok = false;
	}
	return ok;
}

bool cachefile_save(const char *path, const struct cachefile_how *how,
		    struct cachefile_count *count, struct fault *f)
{
	char *aside = mem_textf("%s.new", path);
	struct fault why = { 0 };
	bool ok;

	*count = (struct cachefile_count){ 0 };
	if (!may_be_replaced(path, f)) {
		mem_free(aside);
		return false;
	}
	ok = write_aside(aside, how, count, &why);
	if (ok && rename(aside, path) != 0) {
		fault_set(&why, "%s", strerror(errno));
		ok = false;
	}
	if (ok) {
		sync_folder(path);
	} else {
		fault_set(f, "cannot write %s: %s (what was there stays)", path, why.text);
		(void)unlink(aside);
	}
	mem_free(aside);
	return ok;
}
