/* Any message that can be read, kept in each way there is: what comes back from the cache file, from the store of cachedb
 * and from a dump of the cache is the same message and the same RRsets, or is not there.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * Input: a message. Its id says how it is kept (see keep_by and put_sets). */
#include "services/cachedb/entry.h"
#include "services/cachefile/cachefile.h"
#include "testdata/fuzz/cached.h"
#include "testdata/fuzz/dumped.h"
#include "testdata/fuzz/memory_file.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

enum { WALL = 1800000000, ROOM = 1 << 17, MOST_TTL_S = 86400, EXPIRED_S = 30 };

static struct kept before, after;

static bool is_good(unsigned rcode)
{
	return rcode == RCODE_NOERROR || rcode == RCODE_NXDOMAIN || rcode == RCODE_YXDOMAIN;
}

/* ---- what is kept ---- */

/* Only what the resolver would keep: records of the class that was asked for, and of real types. */
static void leave_out(struct message *m)
{
	for (int s = SECTION_ANSWER; s <= SECTION_ADDITIONAL; s++) {
		unsigned count;
		const struct rrset **sets = message_section(m, (enum section)s, &count);
		uint16_t kept = 0;

		for (unsigned i = 0; i < count; i++)
			if (sets[i]->class_ == m->q.class_ && !(rr_flags(sets[i]->type) & RR_META) &&
			    !(rr_flags(sets[i]->type) & RR_SINGLE && sets[i]->count > 1))
				sets[kept++] = sets[i];
		if (sets)
			memmove(sets + kept, sets + count,
				(size_t)(m->sets + message_set_count(m) - (sets + count)) * sizeof(*sets));
		m->count[s] = kept;
	}
}

/* A record less than `s` has. */
static struct rrset *without_last(const struct rrset *s, struct arena *a)
{
	struct slice *records = arena_array(a, struct slice, s->count);
	struct rrset_walk w = rrset_records(s);

	for (unsigned i = 0; rrset_next(&w, &records[i]); i++)
		;
	return rrset_build(a, &(struct rrset_parts){ .owner = rrset_owner(s),
						     .type = s->type,
						     .class_ = s->class_,
						     .ttl_s = s->ttl_s,
						     .expires_s = s->expires_s,
						     .records = records,
						     .count = s->count - 1u,
						     .flags = s->flags });
}

/* Some of the RRsets, as they are or with a record less. */
static void put_sets(const struct message *m, unsigned how, struct arena *a)
{
	for (unsigned i = 0; i < message_set_count(m); i++) {
		bool less = (how / 13 + i) % 4 == 0 && m->sets[i]->count > 1;
		struct rrset *s = less ? without_last(m->sets[i], a) : rrset_copy(a, m->sets[i]);

		if ((how + i) % 3 == 0)
			continue;
		s->trust = (uint8_t)((how / 3 + i) % (TRUST_ULTIMATE + 1));
		s->security = (uint8_t)((how / 5 + i) % (SECURITY_SECURE + 1));
		s->flags |= (how / 7 + i) % 3 == 0 ? RRSET_PARENT_SIDE : 0;
		s->flags |= (how / 9 + i) % 5 == 0 ? RRSET_UNVERIFIED_GLUE : 0;
		s->flags |= (how / 11 + i) % 4 == 0 ? RRSET_SOA_NEGATIVE : 0;
		rrsetcache_put(it.caches.rrsets, s, dumped_now_s(), a);
	}
}

static struct msg_keep keep_by(struct message *m, unsigned how)
{
	m->opcode = OPCODE_QUERY;
	m->flags &= FLAG_AA;
	m->edns = (struct edns){ .present = false };
	m->security = (uint8_t)(how % (SECURITY_SECURE + 1));
	m->reason = how & 0x300 ? REASON_none : (enum reason)(how / 7 % REASONS);
	m->made_up = (how & 0xf000) == 0xf000;
	return (struct msg_keep){ .now_s = dumped_now_s() - how % 4,
				  .ttl_s = 20 + how % 100,
				  .whole = (how & 0xc00) == 0xc00,
				  .always = true };
}

/* ---- the cache file ---- */

/* As cachefile_how at that time. */
static struct cachefile_how file_at(uint32_t now_s)
{
	return (struct cachefile_how){ .messages = it.caches.messages,
				       .rrsets = it.caches.rrsets,
				       .now = { .now_us = now_s * US_PER_S,
						.now_s = now_s,
						.wall_s = WALL + (int64_t)(now_s - dumped_now_s()) },
				       .validation = 1,
				       .most_ttl_s = MOST_TTL_S,
				       .expired_s = EXPIRED_S };
}

static uint8_t unproven(uint8_t security)
{
	return security == SECURITY_SECURE ? SECURITY_UNCHECKED : security;
}

static void check_set_of_file(const struct rrset *was, uint32_t wrote_s, uint32_t now_s)
{
	struct same exactly = { .spelling = true, .order = true };
	const struct rrset *is = kept_set(&after, was, was->flags);
	bool stays = was->security != SECURITY_BOGUS && was->security != SECURITY_SECURE_SENTINEL_FAIL &&
		     !time_is_past(wrote_s, was->expires_s) && !time_is_past(now_s, was->expires_s);

	PROMISE(stays == (is != NULL));
	if (!is)
		return;
	PROMISE(same_set(is, was, exactly) && same_sigs(is, was, exactly));
	PROMISE(is->ttl_s == was->ttl_s && is->flags == was->flags);
	PROMISE(is->trust == MIN(was->trust, TRUST_ANS_AA) && is->security == unproven(was->security));
	PROMISE(time_left(now_s, is->expires_s) == MIN(time_left(now_s, was->expires_s), MOST_TTL_S));
}

static void check_answer_of_file(const struct kept_answer *was, uint32_t now_s)
{
	struct same how = { .spelling = same_is_spelled_once(was->m), .order = true };
	const struct kept_answer *is = kept_answer(&after, &was->m->q);
	bool explained = was->reason != REASON_none;
	bool stays = was->fits & STORED_FULL && !(was->fits & STORED_MADE) && is_good(was->rcode) &&
		     was->security != SECURITY_BOGUS && was->security != SECURITY_SECURE_SENTINEL_FAIL &&
		     (!explained || was->security == SECURITY_INSECURE) &&
		     !time_is_past(now_s - EXPIRED_S, was->expires_s);

	PROMISE(stays == (is != NULL));
	if (!is)
		return;
	same_message(is->m, was->m, how);
	for (unsigned i = 0; i < message_set_count(is->m); i++)
		PROMISE(is->m->sets[i]->ttl_s == was->m->sets[i]->ttl_s);
	PROMISE(is->m->flags == was->m->flags && is->rcode == was->rcode);
	PROMISE(is->stored_s == was->stored_s && is->expires_s == was->expires_s);
	PROMISE((is->fits & STORED_WHOLE) == (was->fits & STORED_WHOLE));
	PROMISE(is->security == (explained ? SECURITY_UNCHECKED : unproven(was->security)));
}

static void check_file(unsigned how)
{
	uint32_t wrote_s = dumped_now_s() + how % 5, now_s = wrote_s + how % 50;
	struct cachefile_how to = file_at(wrote_s), from = file_at(now_s);
	struct memory_file file = { 0 };
	struct cachefile_count count;
	struct fault f = { 0 };

	kept_take(&before, it.caches.messages, it.caches.rrsets);
	PROMISE(cachefile_write(&to, memory_file_push, &file, &count, &f));
	dumped_forget();
	PROMISE(cachefile_read(&from, memory_file_pull, &file, &count, &f));
	kept_take(&after, it.caches.messages, it.caches.rrsets);
	for (unsigned i = 0; i < before.set_count; i++)
		check_set_of_file(before.sets[i], wrote_s, now_s);
	for (unsigned i = 0; i < before.answer_count; i++)
		check_answer_of_file(&before.answers[i], now_s);
	kept_clear(&before);
	kept_clear(&after);
	mem_free(file.at);
}

/* ---- the store of cachedb ---- */

static void check_ttl_of_store(const struct rrset *is, const struct rrset *was, unsigned flags, uint32_t age_s,
			       uint32_t now_s)
{
	uint32_t left_s = time_left(now_s, was->expires_s);

	PROMISE(is->ttl_s == (flags & ENTRY_WHOLE ? was->ttl_s : left_s > age_s ? left_s - age_s : 0));
}

static void check_store(const struct message *m, unsigned how, struct arena *a)
{
	static uint8_t room[ROOM];
	uint32_t now_s = dumped_now_s(), age_s = how % 40;
	struct timebase now = { .now_s = now_s, .wall_s = WALL }, later = { .now_s = now_s + age_s,
									    .wall_s = WALL + age_s };
	struct same spelled = { .spelling = same_is_spelled_once(m), .order = true };
	unsigned flags = how % (ENTRY_SIGNED + ENTRY_WHOLE + 1);
	struct writer w = writer_over(room, sizeof(room));
	struct cachedb_entry e;

	if (!is_good(m->rcode) ||
	    (rr_flags(m->q.type) & RR_META && m->q.type != TYPE_ANY))
		return;
	cachedb_entry_write(&w, m, flags, 20, &now);
	if (w.bad)
		return;
	PROMISE(cachedb_entry_read(&e, (struct slice){ room, writer_len(&w) }, &m->q, &later, a));
	PROMISE(e.flags == flags && e.age_s == age_s && e.left_s == 20 - (int32_t)age_s);
	PROMISE(e.reply->security == SECURITY_UNCHECKED && e.reply->flags == FLAG_QR);
	same_message(e.reply, m, spelled);
	for (unsigned i = 0; i < message_set_count(m); i++)
		check_ttl_of_store(e.reply->sets[i], m->sets[i], flags, age_s, now_s);
}

/* ---- a dump ---- */

/* Without its own RRsets in the cache nothing could be there that differs from them. */
static bool stands_otherwise(const struct kept *k, const struct message *m)
{
	for (unsigned i = 0; i < message_set_count(m); i++) {
		const struct rrset *s = kept_set(k, m->sets[i], m->sets[i]->flags);

		if (s && (s->security == SECURITY_BOGUS || rrset_checksum(s) != rrset_checksum(m->sets[i])))
			return true;
		for (unsigned j = 0; j < i; j++)
			if (rrset_is(m->sets[j], rrset_owner(m->sets[i]), m->sets[i]->type, m->sets[i]->class_) &&
			    rrset_checksum(m->sets[j]) != rrset_checksum(m->sets[i]))
				return true;
	}
	return false;
}

/* None of it has expired, which an answer with an RRset of TTL 0 has from the beginning. */
static bool is_whole(const struct kept_answer *s, uint32_t now_s)
{
	for (unsigned i = 0; i < message_set_count(s->m); i++)
		if (time_is_past(now_s, s->m->sets[i]->expires_s))
			return false;
	return is_good(s->rcode) && s->security != SECURITY_BOGUS;
}

static void check_dump(void)
{
	uint32_t now_s = dumped_and_loaded(&before, &after);

	if (now_s) {
		dumped_is_same(&before, &after, now_s);
		for (unsigned i = 0; i < before.answer_count; i++)
			if (dumped_is_shown(&before.answers[i], now_s) && is_whole(&before.answers[i], now_s) &&
			    !stands_otherwise(&before, before.answers[i].m))
				PROMISE(kept_answer(&after, &before.answers[i].m->q));
	}
	kept_clear(&before);
	kept_clear(&after);
}

/* ---- all of it ---- */

static void fill(struct message *m, unsigned how, struct arena *a)
{
	struct msg_keep keep = keep_by(m, how);

	dumped_forget();
	rcu_turn_begin();
	put_sets(m, how, a);
	msgcache_store(it.caches.messages, m, &keep);
	rcu_turn_end();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	struct message m;
	struct arena a;

	if (!it.loop)
		dumped_begin(4 << 20);
	timebase_read(loop_time(it.loop));
	arena_init(&a);
	if (msg_parse(data, len, &a, dumped_now_s(), &m) && m.q.name_len && m.rcode < 16 &&
	    m.q.class_ != CLASS_ANY && m.q.class_ != CLASS_NONE && m.q.class_ &&
	    !(rr_flags(m.q.type) & RR_META && m.q.type != TYPE_ANY)) {
		leave_out(&m);
		fill(&m, m.id, &a);
		check_file(m.id);
		fill(&m, m.id, &a);
		check_store(&m, m.id, &a);
		check_dump();
		dumped_forget();
	}
	arena_clear(&a);
	return 0;
}
