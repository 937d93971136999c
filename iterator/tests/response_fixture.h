/* A resolution at the servers of example., whose responses are digested, for tests of that.
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef ITERATOR_TESTS_RESPONSE_FIXTURE_H
#define ITERATOR_TESTS_RESPONSE_FIXTURE_H

#include "iterator/response.h"
#include "iterator/tests/fixture.h"

static struct upstream_reply heard;

static inline void at_example(const char *conf, const char *name, uint16_t type, unsigned kind)
{
	static const char *const servers[] = { "192.0.2.1", "192.0.2.2" };
	struct iter *it = &fixture.it;

	fixture_begin(conf, name, type, kind);
	it->at = delegation_new(fixture.arena, N("example."));
	it->at->expires = true;
	it->at->expires_s = fixture.now_s + 3600;
	for (unsigned i = 0; i < COUNT(servers); i++)
		delegation_add_target(it->at, fixture.arena, &(struct target){ .addr = address(servers[i]), .tries = 1 });
	it->target = &it->at->targets[0];
	it->state = ITER_response;
}

/* The servers are shown a part of the name. */
static inline void show(const char *name, uint16_t type)
{
	fixture.it.shown = made_question(name, type);
	fixture.it.shown.name = arena_copy(fixture.arena, fixture.it.shown.name, fixture.it.shown.name_len);
	fixture.it.qmin.on = true;
}

/* The first of them says that, to what it is shown. */
static inline enum iter_step hear(uint16_t flags, uint8_t rcode, const char *answer, const char *authority,
				  const char *additional)
{
	struct made made = { ".", TYPE_A, rcode, { answer, authority, additional } };
	struct message *m = made_message(fixture.arena, fixture.now_s, &made);

	m->q = fixture.it.shown;
	m->flags = FLAG_QR | flags;
	heard = (struct upstream_reply){ .end = UPSTREAM_ANSWERED, .server = fixture.it.target->addr, .message = m };
	fixture.it.reply = &heard;
	return response_read(&fixture.it);
}

/* It says nothing. */
static inline enum iter_step hear_nothing(enum upstream_end end)
{
	heard.end = end;
	heard.server = fixture.it.target->addr;
	heard.message = NULL;
	fixture.it.reply = &heard;
	return response_read(&fixture.it);
}

/* The time that a cached set has left; 0: there is none. */
static inline uint32_t cached(const char *owner, uint16_t type, uint8_t flags)
{
	const struct rrset *set =
		rrsetcache_find(fixture.env.rrsets, N(owner), type, CLASS_IN, flags, fixture.now_s);

	return set ? set->expires_s - fixture.now_s : 0;
}

static inline uint8_t cached_trust(const char *owner, uint16_t type)
{
	const struct rrset *set = rrsetcache_find(fixture.env.rrsets, N(owner), type, CLASS_IN, 0, fixture.now_s);

	return set ? set->trust : TRUST_NONE;
}

static inline const struct stored *cached_answer(const char *name, uint16_t type)
{
	struct question q = made_question(name, type);

	return msgcache_find(fixture.env.messages, &q, msgcache_hash(&q), 0, true);
}

static inline void note_question(const struct query *q, void *arg)
{
	char name[DNAME_TEXT], type[16], *to = arg;
	size_t len = strlen(to);

	if (q != fixture.q)
		snprintf(to + len, 512 - len, "%s%s/%s+%u", len ? " " : "", dname_print(q->question.name, name),
			 rr_type_name(q->question.type, type), q->kind);
}

/* Queries that were begun for this one, with their kinds. */
static inline const char *begun(char to[512])
{
	to[0] = 0;
	mesh_each(fixture.env.mesh, note_question, to);
	return to;
}

/* Of the answer, in its order. */
static inline const char *answered(char to[512])
{
	const struct message *m = fixture.it.answer;
	size_t len = 0;

	to[0] = 0;
	for (unsigned i = 0; m && i < message_set_count(m); i++) {
		char name[DNAME_TEXT], type[16];

		len += (size_t)snprintf(to + len, 512 - len, "%s%s/%s", len ? " " : "",
					dname_print(rrset_owner(m->sets[i]), name),
					rr_type_name(m->sets[i]->type, type));
	}
	return to;
}

#endif
