/* The cache file on disk: replaced atomically, and read only if it is our own.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "services/cachefile/cachefile.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "util/base/fault.h"
#include "util/base/file.h"
#include "util/base/mem.h"

/* ---- reading ---- */

static size_t pull_from(void *arg, uint8_t *to, size_t len)
{
	return file_read(*(const int *)arg, to, len);
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
	if (file_write(*(const int *)arg, at, len))
		return true;
	fault_set(f, "%s", strerror(errno));
	return false;
}

bool cachefile_save(const char *path, const struct cachefile_how *how,
		    struct cachefile_count *count, struct fault *f)
{
	struct fault why = { 0 };
	struct file_new n;
	bool ok;

	*count = (struct cachefile_count){ 0 };
	if (!may_be_replaced(path, f))
		return false;
	ok = file_new_begin(&n, path, ".new", 0600) &&
	     cachefile_write(how, push_to, &n.fd, count, &why);
	ok = file_new_end(&n, ok);
	if (!ok)
		fault_set(f, "cannot write %s: %s (the old file stays)", path,
			  why.set ? why.text : strerror(errno));
	return ok;
}
