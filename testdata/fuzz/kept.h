/* What stands in the caches, to be compared with what stands there later, when it has been elsewhere.
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef TESTDATA_FUZZ_KEPT_H
#define TESTDATA_FUZZ_KEPT_H

#include "services/cache/msg.h"
#include "services/cache/rrset.h"
#include "testdata/fuzz/same.h"
#include "util/base/timebase.h"
#include "util/net/subnet.h"

enum { KEPT_MOST = 2048 };

struct kept_answer {
	const struct message *m; /* its RRsets with their own times */
	uint32_t stored_s, expires_s;
	uint16_t scope;
	uint8_t fits, rcode, security, reason;
};

struct kept {
	struct arena arena;
	const struct rrset *sets[KEPT_MOST]; /* those of scope 0 */
	struct kept_answer answers[KEPT_MOST];
	unsigned set_count, answer_count;
	uint32_t now_s;
};

static inline bool kept_add_set(const struct slab_entry *e, void *arg)
{
	struct kept *k = arg;

	if (!e->spare && k->set_count < KEPT_MOST)
		k->sets[k->set_count++] =
			rrset_copy(&k->arena, &container_of(e, struct rrset_entry, link)->set);
	return true;
}

/* As of when it was stored. */
static inline bool kept_add_answer(const struct slab_entry *e, void *arg)
{
	const struct stored *s = container_of(e, struct stored, link);
	struct kept *k = arg;
	struct kept_answer *to = &k->answers[k->answer_count];

	if (k->answer_count == KEPT_MOST)
		return true;
	*to = (struct kept_answer){ .m = stored_unpack(s, &k->arena, s->stored_s),
				    .stored_s = s->stored_s,
				    .expires_s = s->expires_s,
				    .scope = s->scope,
				    .fits = s->fits,
				    .rcode = s->rcode,
				    .security = s->security,
				    .reason = s->reason };
	PROMISE(to->m);
	k->answer_count++;
	return true;
}

static inline void kept_take(struct kept *k, struct msgcache *messages, struct rrsetcache *rrsets)
{
	k->set_count = k->answer_count = 0;
	arena_init(&k->arena);
	(void)slab_sweep(rrsetcache_slab(rrsets), kept_add_set, k);
	(void)slab_sweep(msgcache_slab(messages), kept_add_answer, k);
	PROMISE(k->set_count < KEPT_MOST && k->answer_count < KEPT_MOST);
}

static inline void kept_clear(struct kept *k)
{
	arena_clear(&k->arena);
}

/* The flags by which RRsets of one name and type differ in the cache. */
#define KEPT_KEY_FLAGS (RRSET_PARENT_SIDE | RRSET_NSEC_AT_APEX)

static inline const struct rrset *kept_set(const struct kept *k, const struct rrset *like, uint8_t flags)
{
	for (unsigned i = 0; i < k->set_count; i++)
		if (rrset_is(k->sets[i], rrset_owner(like), like->type, like->class_) &&
		    (k->sets[i]->flags & KEPT_KEY_FLAGS) == (flags & KEPT_KEY_FLAGS))
			return k->sets[i];
	return NULL;
}

/* The full answer to the question, for everybody. */
static inline const struct kept_answer *kept_answer(const struct kept *k, const struct question *q)
{
	for (unsigned i = 0; i < k->answer_count; i++)
		if (k->answers[i].fits & STORED_FULL && !k->answers[i].scope &&
		    question_equals(&k->answers[i].m->q, q))
			return &k->answers[i];
	return NULL;
}

#endif
