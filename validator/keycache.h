/* What is proven about zones: their keys, that they are unsigned, or that there is no zone cut.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * One entry per name, found by exact match; shared by all workers like the other caches. Keys stay
 * parsed as long as their entry (doc/DESIGN.md, Validation). */
#ifndef VALIDATOR_KEYCACHE_H
#define VALIDATOR_KEYCACHE_H

#include "services/cache/slab.h"
#include "util/dns/reason.h"

struct keycache;
struct keyset;

enum key_kind {
	KEYS_TRUSTED,           /* the zone's keys, authenticated from an anchor down */
	KEYS_NONE,              /* the zone is unsigned, or by no algorithm that counts: insecure */
	KEYS_BOGUS,             /* validation failed */
	KEYS_NO_CUT,            /* no zone begins at this name */
	KEYS_UNHEARD,           /* no server gave the DS or DNSKEY set lately */
};

struct key_entry {
	struct slab_entry link;
	struct keyset *keys;            /* TRUSTED: pinned; else NULL */
	uint32_t expires_s;
	uint8_t kind;                   /* enum key_kind */
	uint8_t reason;                 /* for NONE, BOGUS and UNHEARD */
	uint8_t name_len;
	uint8_t data[];                 /* the name, then a NUL-ended sentence (maybe empty) */
};

/* `budget` 0, or any too small, is as much as validation needs. */
struct keycache *keycache_new(size_t budget, unsigned slabs) MUST_USE;
void keycache_resize(struct keycache *c, size_t budget);
void keycache_free(struct keycache *c);                 /* NULL is fine */
/* A view of the same cache in another scope (services/cache/rrset.h). */
struct keycache *keycache_scoped(const struct keycache *c, uint8_t scope) MUST_USE;
struct slab *keycache_slab(struct keycache *c);

/* The fresh entry at `name`, or NULL. Borrowed for the turn. */
const struct key_entry *keycache_find(struct keycache *c, const uint8_t *name, uint32_t now_s);

/* Whether a zone with trusted keys is known to begin below `zone`, at or above `name`: `zone` has no authority
 * over the name then. */
bool keycache_cuts_off(struct keycache *c, const uint8_t *zone, const uint8_t *name, uint32_t now_s);

static inline const char *key_entry_text(const struct key_entry *e)
{
	return (const char *)e->data + e->name_len;
}

struct key_news {
	const uint8_t *name;
	enum key_kind kind;
	struct keyset *keys;            /* TRUSTED: the cache takes its own pin */
	enum reason reason;
	const char *text;               /* or NULL */
	uint32_t ttl_s;                 /* 0: not stored */
};

void keycache_put(struct keycache *c, const struct key_news *news, uint32_t now_s);

/* Forget the entries at or below `name`, or only the bogus and unheard ones. Returns how many. */
size_t keycache_forget(struct keycache *c, const uint8_t *name, bool only_bogus);

#endif
