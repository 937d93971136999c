/* What must hold of everything that is cached, wherever it came from.
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef TESTDATA_FUZZ_CACHED_H
#define TESTDATA_FUZZ_CACHED_H

#include "services/cache/msg.h"
#include "services/cache/rrset.h"
#include "util/base/arena.h"
#include "util/base/mem.h"
#include "util/dns/rr.h"

struct cached {
	struct arena arena;
	uint32_t now_s;
	uint8_t most_security; /* no entry claims more */
};

static inline void cached_walk_is_whole(struct rrset_walk walk, uint16_t type, const uint8_t *end)
{
	for (struct slice rd; rrset_next(&walk, &rd);)
		PROMISE(rd.at + rd.len <= end && rr_rdata_is_whole(type, rd.at, rd.len));
}

static inline void cached_set_holds(const struct rrset *s, uint8_t most_security)
{
	const uint8_t *end = (const uint8_t *)s + s->size;

	PROMISE(dname_measure(rrset_owner(s), end) == s->owner_len);
	PROMISE(s->count && s->security <= most_security && s->security != SECURITY_BOGUS);
	cached_walk_is_whole(rrset_records(s), s->type, end);
	cached_walk_is_whole(rrset_sigs(s), TYPE_RRSIG, end);
}

static inline bool cached_entry_holds(const struct slab_entry *e, void *arg)
{
	struct cached *c = arg;

	cached_set_holds(&container_of(e, struct rrset_entry, link)->set, c->most_security);
	return true;
}

static inline bool cached_answer_holds(const struct slab_entry *e, void *arg)
{
	const struct stored *s = container_of(e, struct stored, link);
	struct cached *c = arg;
	const struct message *m;

	PROMISE(stored_is_good(s) && s->scope == 0 && s->security <= c->most_security);
	arena_init(&c->arena);
	m = stored_unpack(s, &c->arena, c->now_s);
	PROMISE(m->q.name_len == s->qname_len);
	for (unsigned i = 0; i < message_set_count(m); i++)
		cached_set_holds(m->sets[i], c->most_security);
	arena_clear(&c->arena);
	return true;
}

static inline void cached_all_hold(struct msgcache *messages, struct rrsetcache *rrsets,
				   uint32_t now_s, uint8_t most_security)
{
	struct cached c = { .now_s = now_s, .most_security = most_security };

	(void)slab_sweep(rrsetcache_slab(rrsets), cached_entry_holds, &c);
	(void)slab_sweep(msgcache_slab(messages), cached_answer_holds, &c);
}

#endif
