/* A cache file in memory, for cachefile_write and cachefile_read.
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef TESTDATA_FUZZ_MEMORY_FILE_H
#define TESTDATA_FUZZ_MEMORY_FILE_H

#include <string.h>

#include "util/base/bytes.h"
#include "util/base/mem.h"

struct fault;

struct memory_file {
	uint8_t *at; /* freed by mem_free */
	size_t len, room, read;
};

static inline bool memory_file_push(void *arg, const uint8_t *at, size_t len, struct fault *f)
{
	struct memory_file *b = arg;

	(void)f;
	if (b->room - b->len < len) {
		b->room = b->len + len + (1 << 16);
		b->at = mem_grow(b->at, b->room);
	}
	memcpy(b->at + b->len, at, len);
	b->len += len;
	return true;
}

static inline size_t memory_file_pull(void *arg, uint8_t *to, size_t len)
{
	struct memory_file *b = arg;

	len = MIN(len, b->len - b->read);
	if (len)
		memcpy(to, b->at + b->read, len);
	b->read += len;
	return len;
}

#endif
