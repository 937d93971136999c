/* A little signed internet in one process, for tests of this floor: zones with keys of Ed25519, pages
 * that tell what servers answer, the real mesh and the real validator over it.
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef VALIDATOR_TESTS_LAB_H
#define VALIDATOR_TESTS_LAB_H

#include <openssl/evp.h>

#include "services/cache/aggressive.h"
#include "services/cache/msg.h"
#include "services/cache/rrset.h"
#include "services/mesh/mesh.h"
#include "services/query/snapshot.h"
#include "services/stats/stats.h"
#include "services/tests/conf.h"
#include "services/tests/made.h"
#include "util/base/loop.h"
#include "util/base/mem.h"
#include "util/base/rcu.h"
#include "util/dns/denial.h"
#include "validator/keycache.h"
#include "validator/trust.h"
#include "validator/validator.h"
#include "validator/verify.h"

#define LAB_DATE     "20261120000000"
#define LAB_BEGINS   1793491200u /* 2026-11-01 */
#define LAB_ENDS     1796083200u /* 2026-12-01 */
#define LAB_ED25519  15
#define LAB_SERVER   "192.0.2.53"
#define LAB_KEY_LEN  36

enum { LAB_ZONES = 8, LAB_PAGES = 64, LAB_HEARD = 16, LAB_ASKED = 32 };

struct lab_zone {
	const char *name;
	EVP_PKEY *pair;
	uint8_t key[LAB_KEY_LEN];       /* DNSKEY record */
	uint8_t ds[4 + 32];             /* of that */
};

/* What is wrong with the signatures of a page. */
enum lab_flaw {
	LAB_SOUND,
	LAB_UNSIGNED,
	LAB_GARBLED,            /* each has one, and it does not fit */
	LAB_GARBLED_8,          /* each has eight of these */
};

struct lab_page {
	const char *name;
	uint16_t type;
	uint8_t rcode;
	const char *answer, *authority;
	const char *additional; /* never signed */
	const char *wildcard;   /* owner that ANSWER, or where that is empty NSEC, was signed under; or NULL */
	enum lab_flaw flaw;     /* of ANSWER, or of AUTHORITY where that is empty */
	bool below;             /* of a DS set: told by the zone that it would be of */
	bool slow;              /* comes when lab_deliver says so */
	bool cached;            /* no server is asked for it */
};

struct lab_heard {
	const char *what;
	bool done;
	enum security security;
	enum reason reason;
	uint16_t rcode, answers, proofs, extras; /* sets of ANSWER, of AUTHORITY, of ADDITIONAL */
	uint32_t ttl_s;         /* the least of the sets; 0: there is none */
	char text[256];
};

/* What a question has left of its budget once the servers have been asked for this type; negative: as it was. */
struct lab_purse {
	uint16_t type;
	int signatures, good_signatures, hashes;
	bool poor;              /* the answer is for nobody else, as for want of a budget */
	bool alone;             /* it may start no other query any more */
};

/* A question that reached the network. */
struct lab_asked {
	uint16_t type;
	char name[80];
	unsigned kind;
	unsigned avoided;       /* servers whose data were bogus … */
	unsigned avoided_ours;  /* … those of them that are the lab's */
};

static struct lab {
	struct loop *loop;
	struct env env;
	struct snapshot *snapshot;
	struct stats stats;
	struct arena arena;
	struct lab_zone zones[LAB_ZONES];
	unsigned zone_count;
	struct {
		struct lab_page page;
		struct message m;
	} pages[LAB_PAGES];
	unsigned page_count;
	struct query *waiting[LAB_HEARD];
	unsigned waiting_count;
	unsigned asked;                 /* questions that reached the network … */
	struct lab_asked asks[LAB_ASKED]; /* … the first of them */
	const struct lab_purse *purse;  /* or NULL */
	struct lab_heard heard[LAB_HEARD];
	unsigned heard_count;
} lab;

/* ---- signing ---- */

static inline struct lab_zone *lab_zone_at(const uint8_t *owner, bool above)
{
	struct lab_zone *best = NULL;

	for (unsigned i = 0; i < lab.zone_count; i++) {
		const uint8_t *name = N(lab.zones[i].name);

		if (above ? dname_is_strictly_under(owner, name) : dname_is_under(owner, name))
			if (!best || strlen(lab.zones[i].name) > strlen(best->name))
				best = &lab.zones[i];
	}
	return best;
}

/* RFC 4034 3.1.8.1, for sets of which the text is lower-case and in canonical order already. */
static inline struct slice lab_signature(const struct rrset *set, const struct lab_zone *z,
					 const uint8_t *signed_as)
{
	static uint8_t data[65536];
	const uint8_t *owner = signed_as ? signed_as : rrset_owner(set);
	const uint8_t *zone = N(z->name);
	struct slice key = { z->key, LAB_KEY_LEN };
	uint8_t *rdata = arena_take(&lab.arena, 18 + dname_len(zone) + 64);
	size_t head = 18 + dname_len(zone), len = 64;
	struct writer w = writer_over(rdata, head);
	struct rrset_walk walk = rrset_records(set);
	EVP_MD_CTX *ctx = EVP_MD_CTX_new();

	write_u16(&w, set->type);
	write_u8(&w, LAB_ED25519);
	write_u8(&w, (uint8_t)(dname_labels(owner) - dname_is_wildcard(owner)));
	write_u32(&w, set->ttl_s);
	write_u32(&w, LAB_ENDS);
	write_u32(&w, LAB_BEGINS);
	write_u16(&w, rr_key_tag(key));
	write_bytes(&w, zone, dname_len(zone));
	w = writer_over(data, sizeof(data));
	write_bytes(&w, rdata, head);
	for (struct slice rd; rrset_next(&walk, &rd);) {
		write_bytes(&w, owner, dname_len(owner));
		write_u16(&w, set->type);
		write_u16(&w, CLASS_IN);
		write_u32(&w, set->ttl_s);
		write_u16(&w, (uint16_t)rd.len);
		write_bytes(&w, rd.at, rd.len);
	}
	assert_false(w.bad);
	assert_true(EVP_DigestSignInit(ctx, NULL, NULL, NULL, z->pair) == 1);
	assert_true(EVP_DigestSign(ctx, rdata + head, &len, data, writer_len(&w)) == 1);
	EVP_MD_CTX_free(ctx);
	return (struct slice){ rdata, head + len };
}

static inline const struct rrset *lab_with_sigs(const struct rrset *set, const struct slice *sigs,
						size_t count)
{
	struct slice *records = arena_array(&lab.arena, struct slice, set->count + 1u);
	struct rrset_parts p = { .owner = rrset_owner(set), .type = set->type,
				 .class_ = CLASS_IN,	    .ttl_s = set->ttl_s,
				 .expires_s = set->expires_s, .records = records,
				 .sigs = sigs,		    .sig_count = count,
				 .trust = set->trust, .flags = set->flags };
	struct rrset_walk w = rrset_records(set);

	while (rrset_next(&w, &records[p.count]))
		p.count++;
	return rrset_build(&lab.arena, &p);
}

static inline const struct rrset *lab_sign_by(const struct lab_zone *z, const struct rrset *set,
					      const char *wildcard, enum lab_flaw flaw)
{
	unsigned count = flaw == LAB_GARBLED_8 ? 8 : flaw != LAB_UNSIGNED;
	struct slice sigs[8];

	if (!z)
		return set;
	for (unsigned i = 0; i < count; i++) {
		sigs[i] = lab_signature(set, z, wildcard ? N(wildcard) : NULL);
		if (flaw != LAB_SOUND)
			((uint8_t *)(uintptr_t)sigs[i].at)[sigs[i].len - 2 - i] ^= 1;
	}
	return lab_with_sigs(set, sigs, count);
}

static inline const struct rrset *lab_sign(const struct rrset *set, const char *wildcard,
					   enum lab_flaw flaw)
{
	return lab_sign_by(lab_zone_at(rrset_owner(set), set->type == TYPE_DS), set, wildcard, flaw);
}

/* The text of an NSEC3 record of `zone`: at the hash of `name`, or (`over`) from one below that hash to
 * one above it. Good until the next but three. */
static inline const char *lab_nsec3(const char *zone, const char *name, bool over, unsigned parameters,
				    const char *types)
{
	/* parameters: hash algorithm, flags and iterations, two digits each but for the last */
	static char ring[4][512];
	static unsigned next;
	unsigned algorithm = parameters >> 24, flags = parameters >> 16 & 255;
	unsigned iterations = parameters & 65535;
	uint8_t hash[NSEC3_HASH_LEN], wire[DNAME_MAX];
	char owner[DNAME_TEXT], end[DNAME_TEXT], *to = ring[next++ % 4];

	nsec3_hash(N(name), (struct slice){ NULL, 0 }, iterations, hash);
	hash[19]++;
	assert_true(nsec3_owner(hash, N("."), wire));
	dname_print(wire, end);
	hash[19] = (uint8_t)(hash[19] - (over ? 2 : 1));
	assert_true(nsec3_owner(hash, N(zone), wire));
	snprintf(to, sizeof(ring[0]), "%s 300 IN NSEC3 %u %u %u - %.32s %s\n", dname_print(wire, owner),
		 algorithm, flags, iterations, end, types);
	return to;
}

/* ---- zones and pages ---- */

static inline struct lab_page *lab_tell(const struct lab_page *page)
{
	const struct rrset **sets = arena_array(&lab.arena, const struct rrset *, 3 * MADE_SETS);
	uint32_t now_s = lab.env.time->now_s;
	uint8_t *name = arena_copy(&lab.arena, N(page->name), dname_len(N(page->name)));
	struct message m = { .flags = FLAG_QR | FLAG_AA, .rcode = page->rcode, .sets = sets };
	unsigned answers, all;

	assert_true(lab.page_count < LAB_PAGES);
	m.q = (struct question){ name, (uint16_t)dname_len(name), page->type, CLASS_IN };
	answers = page->answer ? made_sets(&lab.arena, now_s, page->answer, sets) : 0;
	all = answers + (page->authority ? made_sets(&lab.arena, now_s, page->authority, sets + answers) : 0);
	for (unsigned i = 0; i < all; i++) {
		bool above = sets[i]->type == TYPE_DS || (page->type == TYPE_DS && !page->below);

		sets[i] = lab_sign_by(lab_zone_at(rrset_owner(sets[i]), above && dname_equals(rrset_owner(sets[i]), name)),
				      sets[i], i < answers || (answers == 0 && sets[i]->type == TYPE_NSEC)
						       ? page->wildcard
						       : NULL,
				      i < answers || answers == 0 ? page->flaw : LAB_SOUND);
	}
	m.count[SECTION_ANSWER] = (uint16_t)answers;
	m.count[SECTION_AUTHORITY] = (uint16_t)(all - answers);
	if (page->additional)
		m.count[SECTION_ADDITIONAL] =
			(uint16_t)made_sets(&lab.arena, now_s, page->additional, sets + all);
	lab.pages[lab.page_count].page = (struct lab_page){ .slow = page->slow, .cached = page->cached };
	lab.pages[lab.page_count].m = m;
	return &lab.pages[lab.page_count++].page;
}

/* A page whose ANSWER is this set, as it is. */
static inline struct lab_page *lab_tell_set(const struct rrset *set)
{
	const struct rrset **sets = arena_array(&lab.arena, const struct rrset *, 1);
	const uint8_t *owner = rrset_owner(set);

	assert_true(lab.page_count < LAB_PAGES);
	sets[0] = set;
	lab.pages[lab.page_count].m = (struct message){
		.flags = FLAG_QR | FLAG_AA,
		.sets = sets,
		.q = { owner, (uint16_t)dname_len(owner), set->type, CLASS_IN },
		.count = { 1 },
	};
	lab.pages[lab.page_count].page = (struct lab_page){ .name = "", .type = set->type };
	return &lab.pages[lab.page_count++].page;
}

/* How a set is signed where that is not left to the lab: by zone number n of the lab, falsely, or not at all. */
enum lab_signing { LAB_AS_IT_IS = -3, LAB_BARE = -2, LAB_FALSE = -1 };

/* The last page with its sets signed in such ways. */
static inline void lab_sign_page(const int *how, unsigned count)
{
	struct message *m = &lab.pages[lab.page_count - 1].m;

	for (unsigned i = 0; i < count && i < message_set_count(m); i++) {
		const struct rrset *bare = lab_with_sigs(m->sets[i], NULL, 0);

		if (how[i] == LAB_AS_IT_IS)
			continue;
		m->sets[i] = how[i] == LAB_BARE ? bare :
			     how[i] == LAB_FALSE  ? lab_sign(bare, NULL, LAB_GARBLED) :
						  lab_sign_by(&lab.zones[how[i]], bare, NULL, LAB_SOUND);
	}
}

/* A zone with one key, made from its name, and (where it has a parent here) a DS set there. */
static inline struct lab_zone *lab_zone(const char *name)
{
	struct lab_zone *z = &lab.zones[lab.zone_count++];
	uint8_t seed[32] = { (uint8_t)lab.zone_count };
	size_t len = 32;
	struct rrset_parts p = { .owner = N(name), .type = TYPE_DNSKEY, .class_ = CLASS_IN, .ttl_s = 3600,
				 .expires_s = lab.env.time->now_s + 3600, .count = 1, .trust = TRUST_ANS_AA };
	struct slice record = { z->key, LAB_KEY_LEN };
	EVP_MD_CTX *ctx = EVP_MD_CTX_new();
	uint8_t lower[DNAME_MAX];

	assert_true(lab.zone_count <= LAB_ZONES);
	z->name = name;
	z->pair = EVP_PKEY_new_raw_private_key(EVP_PKEY_ED25519, NULL, seed, sizeof(seed));
	put_u16(z->key, DNSKEY_ZONE | DNSKEY_SEP);
	z->key[2] = 3;
	z->key[3] = LAB_ED25519;
	assert_true(EVP_PKEY_get_raw_public_key(z->pair, z->key + 4, &len) == 1 && len == 32);
	p.records = &record;
	lab_tell_set(lab_sign(rrset_build(&lab.arena, &p), NULL, LAB_SOUND));
	put_u16(z->ds, rr_key_tag(record));
	z->ds[2] = LAB_ED25519;
	z->ds[3] = 2;
	assert_true(EVP_DigestInit_ex(ctx, EVP_sha256(), NULL) == 1);
	EVP_DigestUpdate(ctx, lower, dname_copy_lower(lower, N(name)));
	EVP_DigestUpdate(ctx, z->key, LAB_KEY_LEN);
	assert_true(EVP_DigestFinal_ex(ctx, z->ds + 4, NULL) == 1);
	EVP_MD_CTX_free(ctx);
	if (lab_zone_at(N(name), true)) {
		record = (struct slice){ z->ds, sizeof(z->ds) };
		p.type = TYPE_DS;
		lab_tell_set(lab_sign(rrset_build(&lab.arena, &p), NULL, LAB_SOUND));
	}
	return z;
}

/* Another message in place of the one the zone's keys or its DS set came with. */
static inline void lab_retell_set(const struct rrset *set)
{
	for (unsigned i = 0; i < lab.page_count; i++)
		if (lab.pages[i].m.q.type == set->type &&
		    dname_equals(lab.pages[i].m.q.name, rrset_owner(set)))
			lab.pages[i].m.sets[0] = set;
}

static inline const struct rrset *lab_set(const char *name, uint16_t type)
{
	for (unsigned i = 0; i < lab.page_count; i++)
		if (lab.pages[i].m.q.type == type && dname_equals(lab.pages[i].m.q.name, N(name)))
			return lab.pages[i].m.sets[0];
	fail_msg("no page for %s", name);
	return NULL;
}

/* ---- the module below: servers ---- */

static inline const struct message *lab_find(const struct question *q)
{
	for (unsigned i = 0; i < lab.page_count; i++)
		if (question_equals(&lab.pages[i].m.q, q))
			return &lab.pages[i].m;
	return NULL;
}

/* No zone begins at a name of which nothing else is told. */
static inline const struct message *lab_deny_ds(const struct question *q)
{
	char name[DNAME_TEXT], *nsec;

	dname_print(q->name, name);
	nsec = mem_textf("%s 300 IN NSEC a.%s A RRSIG NSEC", name, name);
	lab_tell(&(struct lab_page){ name, TYPE_DS, .authority = nsec });
	mem_free(nsec);
	return lab_find(q);
}

static inline void lab_answer(struct query *q)
{
	static const struct message nothing = { .rcode = RCODE_SERVFAIL };
	const struct message *m = lab_find(&q->question);

	if (!m)
		m = q->question.type == TYPE_DS ? lab_deny_ds(&q->question) : &nothing;
	q->reply = arena_copy(&q->arena, m, sizeof(*m));
	q->reply->q = q->question;
	for (unsigned i = 0; i < lab.page_count; i++)
		if (m == &lab.pages[i].m && lab.pages[i].page.cached)
			return;
	assert_true(addr_parse(&q->answered_by, LAB_SERVER, 53, NULL));
}

static inline void lab_take(struct query *q, const struct lab_purse *p)
{
	if (p->signatures >= 0)
		q->budget->signatures = p->signatures;
	if (p->good_signatures >= 0)
		q->budget->good_signatures = p->good_signatures;
	if (p->hashes >= 0)
		q->budget->hashes = p->hashes;
	if (p->alone)
		q->budget->children = 0;
	q->no_store |= p->poor;
}

static inline void lab_note(const struct query *q)
{
	struct lab_asked *a = lab.asked < LAB_ASKED ? &lab.asks[lab.asked] : NULL;
	char name[DNAME_TEXT];

	lab.asked++;
	if (a) {
		*a = (struct lab_asked){ .type = q->question.type, .kind = q->kind,
					 .avoided = q->avoid_count };
		for (unsigned i = 0; i < q->avoid_count; i++) {
			struct addr ours;

			assert_true(addr_parse(&ours, LAB_SERVER, 53, NULL));
			a->avoided_ours += addr_equals(&q->avoid[i], &ours);
		}
		snprintf(a->name, sizeof(a->name), "%.79s", dname_print(q->question.name, name));
	}
}

/* How many of the questions were for that type, by name: "" for any. */
static inline unsigned lab_asked_for(uint16_t type, const char *name)
{
	unsigned count = 0;

	for (unsigned i = 0; i < MIN(lab.asked, LAB_ASKED); i++)
		count += lab.asks[i].type == type && (!*name || strcmp(lab.asks[i].name, name) == 0);
	return count;
}

static enum step lab_operate(struct query *q, void *state, const struct event *ev)
{
	(void)state;
	if (ev->kind == EVENT_ASK)
		lab_note(q);
	if (lab.purse && lab.purse->type == q->question.type)
		lab_take(q, lab.purse);
	for (unsigned i = 0; i < lab.page_count && ev->kind == EVENT_ASK; i++)
		if (lab.pages[i].page.slow && question_equals(&lab.pages[i].m.q, &q->question)) {
			lab.waiting[lab.waiting_count++] = q;
			return STEP_WAIT;
		}
	lab_answer(q);
	return STEP_UP;
}

static inline void lab_deliver(void)
{
	struct query *q[LAB_HEARD];
	unsigned count = lab.waiting_count;

	memcpy(q, lab.waiting, sizeof(q));
	lab.waiting_count = 0;
	for (unsigned i = 0; i < count; i++)
		mesh_wake(q[i], &(struct event){ .kind = EVENT_REPLY });
}

/* ---- its life ---- */

/* "example." is signed, and trust begins there. */
static inline void lab_open(const char *more)
{
	static const struct module servers = {
		.name = "iterator", .state_size = 1, .wakes = WAKE_ANY, .operate = lab_operate
	};
	static const struct module *const chain[] = { &validator_module, &servers, NULL };
	struct fault f = { 0 };
	char text[1024], hex[80];

	lab = (struct lab){ .loop = loop_new_played() };
	arena_init(&lab.arena);
	lab.env.time = loop_time(lab.loop);
	rcu_thread_join();
	rcu_turn_begin();
	lab.env.rrsets = rrsetcache_new(1 << 20, 1);
	lab_zone("example.");
	for (unsigned i = 0; i < 32; i++)
		snprintf(hex + 2 * i, 3, "%02x", lab.zones[0].ds[4 + i]);
	snprintf(text, sizeof(text),
		 "server:\nval-override-date: \"" LAB_DATE "\"\ntrust-anchor-signaling: no\n"
		 "val-log-level: 0\ntrust-anchor: \"example. DS %u 15 2 %s\"\n%s",
		 get_u16(lab.zones[0].ds), hex, more);
	lab.snapshot = snapshot_new(conf_from(text), &f);
	if (!lab.snapshot)
		fail_msg("%s", f.text);
	snapshot_entrust(lab.snapshot, trust_new(lab.snapshot->conf, &f), trust_free);
	if (!lab.snapshot->trust)
		fail_msg("%s", f.text);
	lab.env.loop = lab.loop;
	lab.env.stats = &lab.stats;
	lab.env.snapshot = lab.snapshot;
	lab.env.messages = msgcache_new(1 << 20, 1);
	lab.env.keys = keycache_new(1 << 20, 1);
	lab.env.negative = aggressive_new(1 << 20, 1);
	lab.env.mesh = mesh_new(&lab.env, chain);
	assert_true(validator_module.init(&lab.env, &f));
}

static inline void lab_close(void)
{
	mesh_free(lab.env.mesh);
	validator_module.deinit(&lab.env);
	rcu_turn_end();
	keycache_free(lab.env.keys);
	msgcache_free(lab.env.messages);
	rrsetcache_free(lab.env.rrsets);
	aggressive_free(lab.env.negative);
	snapshot_unpin(lab.snapshot);
	for (unsigned i = 0; i < lab.zone_count; i++)
		EVP_PKEY_free(lab.zones[i].pair);
	arena_clear(&lab.arena);
	loop_free(lab.loop);
	rcu_flush();
	rcu_thread_leave();
}

/* ---- asking ---- */

static inline void lab_hear(void *arg, const struct message *m)
{
	struct lab_heard *h = arg;

	h->done = true;
	h->security = (enum security)m->security;
	h->reason = m->reason;
	h->rcode = m->rcode;
	h->answers = m->count[SECTION_ANSWER];
	h->proofs = m->count[SECTION_AUTHORITY];
	h->extras = m->count[SECTION_ADDITIONAL];
	h->ttl_s = message_ttl(m, lab.env.time->now_s, 0);
	snprintf(h->text, sizeof(h->text), "%s", m->reason_text ? m->reason_text : "");
}

static inline struct lab_heard *lab_ask(const char *name, uint16_t type)
{
	struct lab_heard *h = &lab.heard[lab.heard_count++ % LAB_HEARD];
	struct question q = made_question(name, type);

	*h = (struct lab_heard){ .what = name };
	mesh_resolve(lab.env.mesh, &q, 0, lab_hear, h);
	return h;
}

/* One turn of the loop; false when nothing was due. */
static inline bool lab_turn(void)
{
	if (loop_next_due(lab.loop) != 0)
		return false;
	loop_stop(lab.loop);
	loop_play(lab.loop, 0);
	return true;
}

static inline struct lab_heard *lab_ask_to_the_end(const char *name, uint16_t type)
{
	struct lab_heard *h = lab_ask(name, type);

	while (!h->done)
		if (!lab_turn())
			fail_msg("%s is never answered", name);
	return h;
}

static inline unsigned lab_checks(void)
{
	return (unsigned)atomic_load(&lab.stats.valops);
}

#endif
