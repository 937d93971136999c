/* What stands in the store of the module cachedb: the keys, and an answer as bytes.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 *     key    64 hex digits: SHA-256 of "resolverd 1", the name in lower case, type, class,
 * secret-seed value  u8 1; u8 ENTRY_* flags; u64 when it was written, seconds since 1970; u32
 * seconds it is good for from then; then the message without an id: one question, TTLs of that time
 *
 * Numbers are big-endian, so that all kinds of machines can share one store. */
#ifndef SERVICES_CACHEDB_ENTRY_H
#define SERVICES_CACHEDB_ENTRY_H

#include "util/bytes.h"

#define CACHEDB_KEY_LEN  64
#define CACHEDB_HEAD_LEN 14

struct arena;
struct message;
struct question;
struct timebase;

enum { ENTRY_SIGNED = 1 }; /* servers were asked for DNSSEC records, too */

struct cachedb_entry {
	unsigned flags; /* ENTRY_* */
	int32_t left_s; /* it is good for; 0 and less: it has expired so long ago */
	uint32_t age_s; /* since it was written */
	struct message
		*reply; /* in the arena, its TTLs counted down, security SECURITY_UNCHECKED */
};

void cachedb_key(char key[CACHEDB_KEY_LEN + 1], const struct question *q, const char *secret);

/* `m` as a value good for `ttl_s`; `w` goes bad where it has no room for it. */
void cachedb_entry_write(struct writer *w, const struct message *m, unsigned flags, uint32_t ttl_s,
			 const struct timebase *now);

/* Read what may be anybody's bytes. False: they are no answer to `q`, or are from another clock's
 * future. The message borrows nothing from `value`. */
bool cachedb_entry_read(struct cachedb_entry *e, struct slice value, const struct question *q,
			const struct timebase *now, struct arena *a) MUST_USE;

#endif
