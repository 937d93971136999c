/* Whole files: interrupted calls are repeated, and a new file is on disk before it takes a name.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "util/base/file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "util/base/mem.h"

size_t file_read(int fd, void *to, size_t len)
{
	size_t got = 0;

	while (got < len) {
		ssize_t n = read(fd, (uint8_t *)to + got, len - got);

		if (n < 0 && errno == EINTR)
			continue;
		if (n == 0)
			errno = 0;
		if (n <= 0)
			break;
		got += (size_t)n;
	}
	return got;
}

bool file_write(int fd, const void *at, size_t len)
{
	for (size_t done = 0; done < len;) {
		ssize_t n = write(fd, (const uint8_t *)at + done, len - done);

		if (n < 0 && errno == EINTR)
			continue;
		if (n == 0)
			errno = ENOSPC;
		if (n <= 0)
			return false;
		done += (size_t)n;
	}
	return true;
}

bool file_new_begin(struct file_new *n, const char *path, const char *suffix, mode_t mode)
{
	*n = (struct file_new){ .path = mem_text(path), .beside = mem_textf("%s%s", path, suffix) };
	(void)unlink(n->beside);
	n->fd = open(n->beside, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, mode);
	return n->fd >= 0;
}

/* The new name is durable only once the folder is; where folders cannot be synced, nothing more can
 * be done. */
static void sync_folder(char *path)
{
	char *slash = strrchr(path, '/');
	int fd;

	if (slash)
		slash[slash == path] = '\0';
	fd = open(slash ? path : ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0)
		return;
	(void)fsync(fd);
	close(fd);
}

bool file_new_end(struct file_new *n, bool good)
{
	int why = errno;

	good = good && n->fd >= 0;
	if (good) {
		good = fsync(n->fd) == 0;
		good = close(n->fd) == 0 && good && rename(n->beside, n->path) == 0;
		why = errno;
	} else if (n->fd >= 0) {
		(void)close(n->fd);
	}
	if (good)
		sync_folder(n->path);
	else if (n->fd >= 0)
		(void)unlink(n->beside);
	mem_free(n->path);
	mem_free(n->beside);
	errno = why;
	return good;
}
