/* Claims about what is answered from the caches, before any server is asked.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "iterator/from_cache.h"

#include "iterator/tests/fixture.h"
#include "services/cache/aggressive.h"

static const uint8_t *trust_begins; /* NULL: nothing is validated */

static const uint8_t *trust_point(const struct query *q, const uint8_t *name, uint16_t type)
{
	(void)q;
	(void)type;
	return trust_begins && dname_is_under(name, trust_begins) ? trust_begins : NULL;
}

static void begin(const char *conf, const char *name, uint16_t type, unsigned kind, const char *point)
{
	static uint8_t room[DNAME_MAX];

	fixture_begin(conf, name, type, kind);
	trust_begins = point ? memcpy(room, N(point), dname_len(N(point))) : NULL;
	fixture.env.trust_point = trust_point;
}

static void know(const char *text, enum trust trust, enum security security, uint8_t flags)
{
	const struct rrset *sets[MADE_SETS];
	unsigned count = made_sets(fixture.arena, fixture.now_s, text, sets);

	for (unsigned i = 0; i < count; i++) {
		struct rrset *set = (struct rrset *)(uintptr_t)sets[i];

		set->trust = (uint8_t)trust;
		set->security = (uint8_t)security;
		set->flags |= flags;
		(void)rrsetcache_put(fixture.env.rrsets, set, fixture.now_s, fixture.arena);
	}
}

static void look_up(const struct made *how, enum security security)
{
	struct message *m = made_message(fixture.arena, fixture.now_s, how);

	m->security = (uint8_t)security;
	msgcache_store(fixture.env.messages, m, &(struct msg_keep){ .now_s = fixture.now_s, .ttl_s = 300 });
}

#define SOA "example. 300 SOA a. b. 1 2 3 4 300"

/* RFC 8020: nothing is below a name that is proven not to exist, as far as the proof's zone reaches; for another type than it
 * was asked for as well. */
static void nothing_is_below_what_does_not_exist(void **state)
{
	(void)state;
	static const struct {
		const char *why, *conf, *point;
		struct made known;
		enum security security;
		uint16_t type;
		bool want;
	} rows[] = {
		{ "proven", "", "example.", { "x.example.", TYPE_A, RCODE_NXDOMAIN, { NULL, SOA } }, SECURITY_SECURE, TYPE_A, true },
		{ "for another type", "", "example.", { "x.example.", TYPE_A, RCODE_NXDOMAIN, { NULL, SOA } }, SECURITY_SECURE, TYPE_MX, true },
		{ "for that type", "", "example.", { "x.example.", TYPE_MX, RCODE_NXDOMAIN, { NULL, SOA } }, SECURITY_SECURE, TYPE_MX, true },
		{ "for a third", "", "example.", { "x.example.", TYPE_TXT, RCODE_NXDOMAIN, { NULL, SOA } }, SECURITY_SECURE, TYPE_MX, false },
		{ "not proven", "", "example.", { "x.example.", TYPE_A, RCODE_NXDOMAIN, { NULL, SOA } }, SECURITY_INSECURE, TYPE_A, false },
		{ "only the type", "", "example.", { "x.example.", TYPE_A, RCODE_NOERROR, { NULL, SOA } }, SECURITY_SECURE, TYPE_A, false },
		{ "the target of an alias there", "", "example.",
		  { "x.example.", TYPE_A, RCODE_NXDOMAIN, { "x.example. 300 CNAME y.example.", SOA } }, SECURITY_SECURE, TYPE_A, false },
		{ "not wanted", "server:\nharden-below-nxdomain: no", "example.", { "x.example.", TYPE_A, RCODE_NXDOMAIN, { NULL, SOA } },
		  SECURITY_SECURE, TYPE_A, false },
		{ "nothing is validated", "", NULL, { "x.example.", TYPE_A, RCODE_NXDOMAIN, { NULL, SOA } }, SECURITY_SECURE, TYPE_A, false },
		{ "above an anchor", "", "a.x.example.", { "x.example.", TYPE_A, RCODE_NXDOMAIN, { NULL, SOA } }, SECURITY_SECURE, TYPE_A, false },
		{ "above a zone that is configured", "stub-zone:\nname: a.x.example\nstub-addr: 192.0.2.9", "example.",
		  { "x.example.", TYPE_A, RCODE_NXDOMAIN, { NULL, SOA } }, SECURITY_SECURE, TYPE_A, false },
		{ "at the anchor's own name", "", "x.example.", { "x.example.", TYPE_A, RCODE_NXDOMAIN, { NULL, SOA } }, SECURITY_SECURE, TYPE_MX,
		  true },
		{ "the anchor's DS set, which is another's word", "", "x.example.", { "x.example.", TYPE_DS, RCODE_NXDOMAIN, { NULL, SOA } },
		  SECURITY_SECURE, TYPE_DS, false },
		{ "two names above", "", "example.", { "example.", TYPE_A, RCODE_NXDOMAIN, { NULL, SOA } }, SECURITY_SECURE, TYPE_A, true },
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		struct cached_answer r;

		begin(rows[i].conf, "b.a.x.example.", rows[i].type, 0, rows[i].point);
		look_up(&rows[i].known, rows[i].security);
		r = from_cache(fixture.q, &fixture.q->question);
		if ((r.message != NULL) != rows[i].want)
			fail_msg("%s", rows[i].why);
		if (r.message) {
			assert_int_equal(r.message->rcode, RCODE_NXDOMAIN);
			assert_true(question_equals(&r.message->q, &fixture.q->question));
			assert_false(r.alias);
		}
		fixture_end();
	}
}

/* RFC 6672: a proven DNAME makes the aliases below it, as far as its zone's word reaches. */
static void a_proven_dname_makes_aliases(void **state)
{
	(void)state;
	static const struct {
		const char *why, *name, *point, *dname;
		uint16_t type;
		enum security security;
		bool want, alias;
	} rows[] = {
		{ "proven", "www.d.example.", "example.", "d.example. 300 DNAME e.example.", TYPE_A, SECURITY_SECURE, true, true },
		{ "farther down", "a.b.d.example.", "example.", "d.example. 300 DNAME e.example.", TYPE_A, SECURITY_SECURE, true, true },
		{ "the alias was asked for", "www.d.example.", "example.", "d.example. 300 DNAME e.example.", TYPE_CNAME, SECURITY_SECURE, true,
		  false },
		{ "at its own name", "d.example.", "example.", "d.example. 300 DNAME e.example.", TYPE_A, SECURITY_SECURE, false, false },
		{ "not proven", "www.d.example.", "example.", "d.example. 300 DNAME e.example.", TYPE_A, SECURITY_INSECURE, false, false },
		{ "never validated", "www.d.example.", "example.", "d.example. 300 DNAME e.example.", TYPE_A, SECURITY_UNCHECKED, false, false },
		{ "nothing is validated", "www.d.example.", NULL, "d.example. 300 DNAME e.example.", TYPE_A, SECURITY_SECURE, false, false },
		{ "above an anchor", "www.d.example.", "www.d.example.", "d.example. 300 DNAME e.example.", TYPE_A, SECURITY_SECURE, false, false },
		{ "elsewhere", "www.example.", "example.", "d.example. 300 DNAME e.example.", TYPE_A, SECURITY_SECURE, false, false },
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		struct cached_answer r;

		begin("", rows[i].name, rows[i].type, 0, rows[i].point);
		know(rows[i].dname, TRUST_ANS_AA, rows[i].security, 0);
		r = from_cache(fixture.q, &fixture.q->question);
		if ((r.message != NULL) != rows[i].want || r.alias != rows[i].alias)
			fail_msg("%s", rows[i].why);
		if (r.message) {
			assert_int_equal(r.message->count[SECTION_ANSWER], 2);
			assert_int_equal(r.message->sets[0]->type, TYPE_DNAME);
			assert_int_equal(r.message->sets[1]->type, TYPE_CNAME);
			assert_true(dname_equals(rrset_owner(r.message->sets[1]), fixture.q->question.name));
		}
		fixture_end();
	}
}

/* RFC 2181 8: it is for this answer alone, and so are the aliases made of it. */
static void a_dname_without_a_ttl_makes_aliases_without_one(void **state)
{
	const struct message *m;
	struct rrset *set;

	(void)state;
	begin("", "www.d.example.", TYPE_A, 0, "example.");
	set = (struct rrset *)(uintptr_t)made_set(fixture.arena, fixture.now_s, "d.example. 0 DNAME e.example.");
	set->trust = TRUST_ANS_AA;
	set->security = SECURITY_SECURE;
	set->expires_s = fixture.now_s + 1; /* so long it is kept, for the many names below it */
	(void)rrsetcache_put(fixture.env.rrsets, set, fixture.now_s, fixture.arena);
	m = from_cache(fixture.q, &fixture.q->question).message;
	assert_non_null(m);
	assert_int_equal(m->count[SECTION_ANSWER], 2);
	for (unsigned i = 0; i < 2; i++)
		assert_int_equal(m->sets[i]->expires_s, fixture.now_s);
	fixture_end();
}

/* What a referral said of the DS RRset is for our own chain of trust: a client that asks for it gets a zone's answer. */
static void a_referral_tells_a_client_nothing_of_the_ds_set(void **state)
{
	static const char denial[] = "uns.example. 300 NSEC v.example. NS RRSIG NSEC\n"
				     "uns.example. 300 RRSIG NSEC 13 2 300 20261201000000 20261101000000 1 example. AAAA";

	(void)state;
	for (uint8_t depth = 0; depth < 2; depth++) {
		struct message referral = { .rcode = RCODE_NOERROR };
		const struct rrset *sets[MADE_SETS];
		struct cached_answer r;

		begin("", "uns.example.", TYPE_DS, 0, "example.");
		fixture.env.negative = fixture.q->cache.negative = aggressive_new(1 << 20, 1);
		referral.sets = sets;
		referral.count[SECTION_AUTHORITY] = (uint16_t)made_sets(fixture.arena, fixture.now_s, denial, sets);
		aggressive_hear(fixture.env.negative, &referral, N("uns.example."), CLASS_IN, fixture.now_s);
		fixture.q->depth = depth;
		r = from_cache(fixture.q, &fixture.q->question);
		assert_int_equal(r.message != NULL, depth);
		assert_int_equal(fixture.q->no_store, depth); /* it lacks the SOA record */
		aggressive_free(fixture.env.negative);
		fixture_end();
	}
}

/* An alias leads on, but for what may stand beside it (RFC 4035 2.5) or is there at an apex. */
static void an_alias_leads_on(void **state)
{
	(void)state;
	static const struct {
		uint16_t type;
		bool want, alias;
	} rows[] = {
		{ TYPE_A, true, true },      { TYPE_TXT, true, true },   { TYPE_CNAME, true, false }, { TYPE_DS, false, false },
		{ TYPE_DNSKEY, false, false }, { TYPE_SOA, false, false }, { TYPE_NS, false, false },    { TYPE_NSEC, false, false },
		{ TYPE_RRSIG, false, false },
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		struct cached_answer r;

		begin("", "www.example.", rows[i].type, 0, NULL);
		know("www.example. 300 CNAME a.example.", TRUST_ANS_AA, SECURITY_UNCHECKED, 0);
		r = from_cache(fixture.q, &fixture.q->question);
		if ((r.message != NULL) != rows[i].want || r.alias != rows[i].alias)
			fail_msg("type %u: %d %d", rows[i].type, r.message != NULL, r.alias);
		if (r.message)
			assert_int_equal(r.message->flags, FLAG_QR);
		fixture_end();
	}
}

/* An answer of several sets is as secure as all of them are alike. */
static void what_is_put_together_is_as_secure_as_its_parts(void **state)
{
	(void)state;
	static const struct {
		enum security one, other, want;
	} rows[] = {
		{ SECURITY_SECURE, SECURITY_SECURE, SECURITY_SECURE },
		{ SECURITY_INSECURE, SECURITY_INSECURE, SECURITY_INSECURE },
		{ SECURITY_SECURE, SECURITY_INSECURE, SECURITY_UNCHECKED },
		{ SECURITY_UNCHECKED, SECURITY_SECURE, SECURITY_UNCHECKED },
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		struct cached_answer r;

		begin("", "www.example.", TYPE_ANY, 0, NULL);
		know("www.example. 300 A 192.0.2.1", TRUST_ANS_AA, rows[i].one, 0);
		know("www.example. 300 MX 1 a.", TRUST_ANS_AA, rows[i].other, 0);
		r = from_cache(fixture.q, &fixture.q->question);
		assert_non_null(r.message);
		assert_int_equal(r.message->count[SECTION_ANSWER], 2);
		if (r.message->security != rows[i].want)
			fail_msg("row %zu: %d", i, r.message->security);
		fixture_end();
	}
}

/* DS and DNSKEY sets that came with something else count by how much they were worth there. */
static void key_sets_that_came_along_count_by_their_trust(void **state)
{
	(void)state;
	static const struct {
		const char *text;
		uint16_t type;
		enum trust trust;
		bool want;
	} rows[] = {
		{ "s.example. 300 DS 1 8 2 00", TYPE_DS, TRUST_AUTH_NOAA, true },
		{ "s.example. 300 DS 1 8 2 00", TYPE_DS, TRUST_AUTH_AA, true },
		{ "s.example. 300 DS 1 8 2 00", TYPE_DS, TRUST_ANS_AA, true },
		{ "s.example. 300 DS 1 8 2 00", TYPE_DS, TRUST_ADD_NOAA, false },
		{ "s.example. 300 DS 1 8 2 00", TYPE_DS, TRUST_ADD_AA, false },
		{ "s.example. 300 DNSKEY 257 3 8 AAAA", TYPE_DNSKEY, TRUST_ANS_AA, true },
		{ "s.example. 300 DNSKEY 257 3 8 AAAA", TYPE_DNSKEY, TRUST_AUTH_AA, false },
		{ "s.example. 300 DNSKEY 257 3 8 AAAA", TYPE_DNSKEY, TRUST_AUTH_NOAA, false },
		{ "s.example. 300 DNSKEY 257 3 8 AAAA", TYPE_DNSKEY, TRUST_ADD_AA, false },
		{ "s.example. 300 TXT a", TYPE_TXT, TRUST_ANS_AA, false },
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		begin("", "s.example.", rows[i].type, 0, NULL);
		know(rows[i].text, rows[i].trust, SECURITY_UNCHECKED, 0);
		if ((from_cache(fixture.q, &fixture.q->question).message != NULL) != rows[i].want)
			fail_msg("%s, %d", rows[i].text, rows[i].trust);
		fixture_end();
	}
}

/* RFC 8482: ANY is answered with some of what is there, and that answer is nobody else's. */
static void any_is_answered_with_what_is_there(void **state)
{
	(void)state;
	static const struct {
		const char *why, *conf, *text;
		enum trust trust;
		uint8_t flags;
		int want; /* sets; -1: it is asked for */
	} rows[] = {
		{ "nothing", "", "b.example. 300 A 192.0.2.1", TRUST_ANS_AA, 0, -1 },
		{ "some of it", "", "www.example. 300 A 192.0.2.1\nwww.example. 300 MX 1 a.\nwww.example. 300 TXT a", TRUST_ANS_AA, 0, 2 },
		{ "not from the zone itself", "", "www.example. 300 A 192.0.2.1", TRUST_NONAUTH_ANS_AA, 0, -1 },
		{ "an answer that was no zone's own", "", "www.example. 300 A 192.0.2.1", TRUST_ANS_NOAA, 0, 1 },
		{ "what lives for no second", "", "www.example. 0 A 192.0.2.1", TRUST_ANS_AA, 0, -1 },
		{ "the SOA of a denial", "", "www.example. 300 SOA a. b. 1 2 3 4 5", TRUST_ANS_AA, RRSET_SOA_NEGATIVE, -1 },
		{ "another SOA", "", "www.example. 300 SOA a. b. 1 2 3 4 5", TRUST_ANS_AA, 0, 1 },
		{ "an alias is asked for", "", "www.example. 300 CNAME a.", TRUST_ANS_AA, 0, -1 },
		{ "it is denied", "server:\ndeny-any: yes", "www.example. 300 A 192.0.2.1", TRUST_ANS_AA, 0, 0 },
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		struct cached_answer r;

		begin(rows[i].conf, "www.example.", TYPE_ANY, 0, NULL);
		know(rows[i].text, rows[i].trust, SECURITY_UNCHECKED, rows[i].flags);
		r = from_cache(fixture.q, &fixture.q->question);
		if ((r.message ? (int)r.message->count[SECTION_ANSWER] : -1) != rows[i].want || r.alias)
			fail_msg("%s: %d", rows[i].why, r.message ? (int)r.message->count[SECTION_ANSWER] : -1);
		assert_int_equal(fixture.q->no_store, r.message != NULL);
		fixture_end();
	}
}

/* A stored answer is the answer while it is fresh; that it is bogus is not, for who asks without checking. */
static void a_stored_answer_is_the_answer(void **state)
{
	(void)state;
	static const struct made good = { "www.example.", TYPE_A, RCODE_NOERROR, { "www.example. 300 A 192.0.2.1" } },
				 bad = { "www.example.", TYPE_A, RCODE_SERVFAIL, { NULL } };
	static const struct {
		enum security security;
		unsigned kind;
		uint32_t later_s;
		bool want;
	} rows[] = {
		{ SECURITY_SECURE, 0, 0, true },
		{ SECURITY_BOGUS, 0, 0, true },
		{ SECURITY_BOGUS, QUERY_CD, 0, false },
		{ SECURITY_SECURE, QUERY_CD, 0, true },
		{ SECURITY_SECURE, 0, 301, false },
		{ SECURITY_UNCHECKED, QUERY_NO_VALIDATE, 0, false }, /* keys are looked for among RRsets */
		{ SECURITY_UNCHECKED, 0, 0, true },
		{ SECURITY_SECURE, QUERY_NO_VALIDATE, 0, true },
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		begin("", "www.example.", TYPE_A, rows[i].kind, NULL);
		look_up(rows[i].security == SECURITY_BOGUS ? &bad : &good, rows[i].security);
		timebase_play((struct timebase *)(uintptr_t)fixture.env.time, fixture.env.time->now_us + rows[i].later_s * US_PER_S);
		if ((from_cache(fixture.q, &fixture.q->question).message != NULL) != rows[i].want)
			fail_msg("row %zu", i);
		fixture_end();
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(nothing_is_below_what_does_not_exist),
		cmocka_unit_test(a_proven_dname_makes_aliases),
		cmocka_unit_test(a_dname_without_a_ttl_makes_aliases_without_one),
		cmocka_unit_test(a_referral_tells_a_client_nothing_of_the_ds_set),
		cmocka_unit_test(what_is_put_together_is_as_secure_as_its_parts),
		cmocka_unit_test(an_alias_leads_on),
		cmocka_unit_test(key_sets_that_came_along_count_by_their_trust),
		cmocka_unit_test(any_is_answered_with_what_is_there),
		cmocka_unit_test(a_stored_answer_is_the_answer),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
