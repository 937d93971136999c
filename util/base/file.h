/* Files: read and written whole, and replaced at once.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * A file is replaced by writing another beside it, which then takes its name: whoever reads it
 * finds the old one or the new one, and after a failure the old one. */
#ifndef UTIL_BASE_FILE_H
#define UTIL_BASE_FILE_H

#include <sys/types.h>

#include "util/base/base.h"

/* Read `len` bytes; fewer only at the end of the file (errno is 0) or on failure. Returns how many. */
size_t file_read(int fd, void *to, size_t len) MUST_USE;

/* Write them all; false with errno. */
bool file_write(int fd, const void *at, size_t len) MUST_USE;

struct file_new {
	char *path, *beside;
	int fd; /* to write to; -1: there is none */
};

/* Create the new file, whose name until it is complete is `path` and then `suffix`, in place of
 * what a process that died has left there. False with errno. Ended in either case. */
bool file_new_begin(struct file_new *n, const char *path, const char *suffix, mode_t mode) MUST_USE;

/* Give it its name, if `good`, or remove it. False, with errno, unless it has its name now. */
bool file_new_end(struct file_new *n, bool good) MUST_USE;

#endif
