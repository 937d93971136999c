/* The keys and values of the cachedb module's store.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 *     key    64 hex digits: SHA-256 of "resolverd 1", the name in lower case, type, class, and
 *            secret-seed
 *     value  u8 1; u8 ENTRY_* flags; u64 time written, seconds since 1970; u32 seconds it is
 *            valid from then; then the message without its id: one question, TTLs as of then
 *
 * Numbers are big-endian, so that machines of any byte order can share one store. */
#ifndef SERVICES_CACHEDB_ENTRY_H
#define SERVICES_CACHEDB_ENTRY_H

#include "util/base/bytes.h"

#define CACHEDB_KEY_LEN  64
#define CACHEDB_HEAD_LEN 14

struct arena;
struct message;
struct question;
struct timebase;

enum {
	ENTRY_SIGNED = 1, /* the answer was obtained with DO set */
	ENTRY_WHOLE = 2,  /* its records have the TTLs they came with (serve-original-ttl) */
};

struct cachedb_entry {
	unsigned flags; /* ENTRY_* */
	int32_t left_s; /* seconds of validity left; <= 0: seconds since it expired, negated */
	uint32_t age_s; /* since it was written */
	struct message
		*reply; /* in the arena, TTLs counted down unless whole, SECURITY_UNCHECKED */
};

void cachedb_key(char key[CACHEDB_KEY_LEN + 1], const struct question *q, const char *secret);

/* Write `m` as a value that is valid for `ttl_s`; `w` goes bad when it has no room. */
void cachedb_entry_write(struct writer *w, const struct message *m, unsigned flags, uint32_t ttl_s,
			 const struct timebase *now);

/* Read a value, which may hold any bytes at all. False: it is no answer to `q`, or was written in
 * our clock's future. The message borrows nothing from `value`. */
bool cachedb_entry_read(struct cachedb_entry *e, struct slice value, const struct question *q,
			const struct timebase *now, struct arena *a) MUST_USE;

#endif
