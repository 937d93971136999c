/* A file in memory, for tests of what is saved and read back.
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef UTIL_TESTS_STORE_H
#define UTIL_TESTS_STORE_H

#include <string.h>

#include "util/base/base.h"

struct store {
	uint8_t bytes[100000];
	size_t len, at;
};

static inline bool store_put(void *store, const void *bytes, size_t len)
{
	struct store *f = store;

	if (sizeof(f->bytes) - f->len < len)
		return false;
	memcpy(f->bytes + f->len, bytes, len);
	f->len += len;
	return true;
}

static inline bool store_get(void *store, void *to, size_t len)
{
	struct store *f = store;

	if (f->len - f->at < len)
		return false;
	memcpy(to, f->bytes + f->at, len);
	f->at += len;
	return true;
}

#endif
