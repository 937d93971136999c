/* What is proven of zones: their keys, that they are not signed, or that there is no zone.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * One entry a name, found by exact name; shared by all workers like the other caches. Keys stay
 * parsed as long as their entry (DESIGN.md 9). */
#ifndef VALIDATOR_KEYCACHE_H
#define VALIDATOR_KEYCACHE_H

#include "services/cache/slab.h"
#include "util/reason.h"

struct keycache;
struct keyset;

enum key_kind {
	KEYS_TRUSTED,           /* the zone's keys, vouched for from an anchor down */
	KEYS_NONE,              /* the zone is not signed, or by nothing we believe in: insecure */
	KEYS_BOGUS,             /* what there is does not hold */
	KEYS_NO_CUT,            /* no zone begins at this name */
};

struct key_entry {
	struct slab_entry link;
	struct keyset *keys;            /* TRUSTED: pinned; else NULL */
	uint32_t expires_s;
	uint8_t kind;                   /* enum key_kind */
	uint8_t reason;                 /* of NONE and BOGUS */
	uint8_t name_len;
	uint8_t data[];                 /* the name, then a NUL-ended sentence (maybe empty) */
};

struct keycache *keycache_new(size_t budget, unsigned slabs) MUST_USE;
void keycache_free(struct keycache *c);                 /* NULL is fine */
/* The same cache seen in another scope (services/cache/rrset.h). NULL of NULL. */
struct keycache *keycache_scoped(const struct keycache *c, uint8_t scope) MUST_USE;
struct slab *keycache_slab(struct keycache *c);

/* Fresh, or NULL. Borrowed for the turn. */
const struct key_entry *keycache_find(struct keycache *c, const uint8_t *name, uint32_t now_s);

static inline const char *key_entry_text(const struct key_entry *e)
{
	return (const char *)e->data + e->name_len;
}

struct key_news {
	const uint8_t *name;
	enum key_kind kind;
	struct keyset *keys;            /* TRUSTED: the cache takes a pin of its own */
	enum reason reason;
	const char *text;               /* or NULL */
	uint32_t ttl_s;                 /* 0: nothing is kept */
};

void keycache_put(struct keycache *c, const struct key_news *news, uint32_t now_s);

/* Forget what is at or below `name`, or only what is bogus of it; how many. */
size_t keycache_forget(struct keycache *c, const uint8_t *name, bool only_bogus);

#endif
