/* Claims about where answers, aliases and referrals lead.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "iterator/tests/response_fixture.h"

#include "iterator/targets.h"
#include "services/forward/forward.h"

#define A    "www.example. 60 A 192.0.2.7"
#define SOA  "example. 60 SOA a. b. 1 2 3 4 5"
#define NS   "sub.example. 60 NS ns.sub.example."
#define GLUE "ns.sub.example. 60 A 192.0.2.9"
#define DS   "sub.example. 60 DS 1 8 2 00"
#define STRICT "server: qname-minimisation-strict: yes\n"

/* ---- answers ---- */

static void an_answer_ends_the_iteration(void **state)
{
	struct iter *it = &fixture.it;

	(void)state;
	at_example("", "www.example.", TYPE_A, 0);
	it->want = made_question("WWW.example.", TYPE_A);
	assert_int_equal(hear(FLAG_AA, 0, A, NULL, NULL), ITER_ON);
	assert_int_equal(it->state, ITER_finish);
	assert_ptr_equal(it->answer, heard.message);
	assert_ptr_equal(it->answer->q.name, it->want.name);
	fixture_end();
}

static void a_step_leads_on(void **state)
{
	static const struct {
		const char *why, *conf;
		uint8_t rcode;
		const char *answer;
		enum iter_state want;
		bool hides;
	} rows[] = {
		{ "it exists", "", 0, NULL, ITER_choose, true },
		{ "it does not, which is doubted", "", 3, NULL, ITER_choose, false },
		{ "it does not, which is believed", STRICT, 3, NULL, ITER_finish, true },
		{ "it is too long", "", 6, "example. 60 DNAME ", ITER_choose, false },
		{ "it is too long, and nothing else may be shown", STRICT, 6, "example. 60 DNAME ", ITER_fail, true },
	};
	static const char label[] = "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa";

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		struct iter *it = &fixture.it;
		char text[512];

		at_example(rows[i].conf, "www.a.example.", TYPE_A, 0);
		show("a.example.", TYPE_A);
		snprintf(text, sizeof(text), "%s%s.%s.%s.%s.%s.", rows[i].answer ? rows[i].answer : "", label, label,
			 label, label, "aaaaaaaa");
		hear(FLAG_AA, rows[i].rcode, rows[i].answer ? text : NULL, rows[i].answer ? NULL : SOA, NULL);
		if (it->state != rows[i].want || it->qmin.on != rows[i].hides || !it->question_due)
			fail_msg("%s: %u, %u", rows[i].why, it->state, it->qmin.on);
		assert_true(!it->answer == (rows[i].want != ITER_finish));
		assert_int_equal(it->reason, rows[i].want == ITER_fail ? REASON_other : REASON_none);
		fixture_end();
	}
}

/* The zone of which nobody else says who serves it. */
static void a_primed_zone_is_known_from_then_on(void **state)
{
	(void)state;
	for (unsigned kind = 0; kind < 2; kind++) {
		at_example("server: cache-max-ttl: 100\n", "example.", TYPE_NS, kind ? QUERY_PRIME : 0);
		hear(FLAG_AA, 0, "example. 600 NS ns.example.", NULL, NULL);
		assert_int_equal(cached("example.", TYPE_NS, RRSET_PARENT_SIDE), kind ? 100 : 0);
		assert_int_equal(fixture.it.state, ITER_finish);
		fixture_end();
	}
	at_example("", "example.", TYPE_NS, QUERY_PRIME);
	fixture.q->no_store = true;
	hear(FLAG_AA, 0, "example. 600 NS ns.example.", NULL, NULL);
	assert_int_equal(cached("example.", TYPE_NS, RRSET_PARENT_SIDE), 0);
	fixture_end();
	at_example("", "example.", TYPE_NS, QUERY_PRIME);
	hear(FLAG_AA, 0, NULL, SOA, NULL);
	assert_int_equal(fixture.it.state, ITER_finish);
	fixture_end();
}

static void a_ds_denied_by_the_wrong_side_is_looked_for_above(void **state)
{
	static const struct {
		const char *why;
		bool forward, climbs;
		enum tier tier;
		const char *soa;
		bool want;
	} rows[] = {
		{ "denied by the child", false, false, TIER_GOOD, "c.b.example. 60 SOA a. b. 1 2 3 4 5", true },
		{ "by the parent", false, false, TIER_GOOD, SOA, false },
		{ "by a forwarder", true, false, TIER_GOOD, "c.b.example. 60 SOA a. b. 1 2 3 4 5", false },
		{ "by a recursor", false, false, TIER_RECURSOR, "c.b.example. 60 SOA a. b. 1 2 3 4 5", false },
		{ "it has been looked for", false, true, TIER_GOOD, "c.b.example. 60 SOA a. b. 1 2 3 4 5", false },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		struct iter *it = &fixture.it;
		char text[512];

		at_example("", "c.b.example.", TYPE_DS, 0);
		it->at->forward = rows[i].forward;
		it->tier = rows[i].tier;
		it->cut_probe = rows[i].climbs ? it->want.name : NULL;
		hear(FLAG_AA, 0, NULL, rows[i].soa, NULL);
		if (it->state != (rows[i].want ? ITER_confirm : ITER_finish))
			fail_msg("%s: %u", rows[i].why, it->state);
		assert_string_equal(begun(text), rows[i].want ? "b.example./NS+1" : "");
		fixture_end();
	}
}

/* ---- aliases ---- */

static void an_alias_leads_to_its_target(void **state)
{
	struct forward_zone failed = { .name = N("other.") };
	struct iter *it = &fixture.it;

	(void)state;
	at_example("", "www.example.", TYPE_A, 0);
	it->refetch = it->want.name;
	it->sent_in_all = 7;
	it->config_failed = &failed;
	it->authzone_failed = true;
	hear(FLAG_AA, 3, "www.example. 60 CNAME b.other.", NULL, NULL);
	assert_int_equal(it->state, ITER_start);
	assert_name_is(it->want.name, "b.other.");
	assert_int_equal(it->want.name_len, 9);
	assert_null(it->refetch);
	assert_int_equal(it->sent_in_all, 0);
	assert_null(it->config_failed);
	assert_false(it->authzone_failed);
	assert_null(it->at);
	assert_int_equal(it->chain.answers, 1);
	assert_int_equal(it->restarts, 1);
	fixture_end();
}

static void aliases_are_followed_as_far_as_allowed(void **state)
{
	static const struct {
		const char *why, *conf;
		unsigned depth;
		bool is_answer;
		unsigned before; /* followed already */
		unsigned restarts;
		enum iter_state want;
	} rows[] = {
		{ "for a client", "", 0, false, 9, 0, ITER_start },
		{ "the last restart", "server: max-query-restarts: 3\n", 0, false, 0, 2, ITER_start },
		{ "one too many", "server: max-query-restarts: 3\n", 0, false, 0, 3, ITER_fail },
		{ "a server's name", "", 1, false, TARGETS_ALIASES - 1, 0, ITER_start },
		{ "an alias of aliases", "", 1, false, TARGETS_ALIASES, 0, ITER_fail },
		{ "part of a client's answer", "", 1, true, TARGETS_ALIASES, 0, ITER_start },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		struct iter *it = &fixture.it;

		at_example(rows[i].conf, "www.example.", TYPE_A, 0);
		fixture.q->depth = rows[i].depth;
		fixture.q->is_answer = rows[i].is_answer;
		for (unsigned n = 0; n < rows[i].before; n++) {
			char owner[32], text[64];
			struct made made = { owner, TYPE_A, 0, { text } };

			snprintf(owner, sizeof(owner), "x%u.", n);
			snprintf(text, sizeof(text), "x%u. 60 CNAME x%u.", n, n + 1);
			assert_non_null(aliases_take(&it->chain, fixture.arena,
						   made_message(fixture.arena, fixture.now_s, &made), N(owner), false));
		}
		it->restarts = rows[i].restarts;
		hear(FLAG_AA, 0, "www.example. 60 CNAME b.other.", NULL, NULL);
		if (it->state != rows[i].want)
			fail_msg("%s: %u", rows[i].why, it->state);
		assert_int_equal(it->reason, rows[i].want == ITER_fail ? REASON_budget_aliases : REASON_none);
		fixture.q->depth = 0;
		fixture_end();
	}
}

static void aliases_in_a_circle_fail(void **state)
{
	struct iter *it = &fixture.it;

	(void)state;
	at_example("", "www.example.", TYPE_A, 0);
	hear(FLAG_AA, 0, "www.example. 60 CNAME b.example.", NULL, NULL);
	assert_int_equal(it->state, ITER_start);
	it->at = delegation_new(fixture.arena, N("example."));
	it->shown = it->want;
	it->qmin.on = false;
	hear(FLAG_AA, 0, "b.example. 60 CNAME www.example.", NULL, NULL);
	assert_int_equal(it->state, ITER_start);
	it->at = delegation_new(fixture.arena, N("example."));
	it->shown = it->want;
	it->qmin.on = false;
	hear(FLAG_AA, 0, "www.example. 60 CNAME b.example.", NULL, NULL);
	assert_int_equal(it->state, ITER_fail);
	assert_int_equal(it->reason, REASON_budget_aliases);
	fixture_end();
}

static void an_alias_on_the_way_is_no_answer(void **state)
{
	static const struct {
		const char *why, *want;
		uint16_t type;
		const char *shown;
		uint8_t rcode;
		const char *answer;
		enum iter_state state;
		bool hides;
	} rows[] = {
		{ "it says nothing of names below", "www.a.example.", TYPE_A, "a.example.", 0,
		  "a.example. 60 CNAME b.", ITER_choose, true },
		{ "even if its target is not there", "www.a.example.", TYPE_A, "a.example.", 3,
		  "a.example. 60 CNAME b.", ITER_choose, true },
		{ "a DNAME covers them", "www.a.d.example.", TYPE_A, "a.d.example.", 0,
		  "d.example. 60 DNAME e.\na.d.example. 60 CNAME a.e.", ITER_choose, false },
		{ "at its end it is one", "a.example.", TYPE_TXT, "a.example.", 0, "a.example. 60 CNAME b.",
		  ITER_start, true },
		{ "in other letters, too", "A.example.", TYPE_TXT, "a.example.", 0, "a.example. 60 CNAME b.",
		  ITER_start, true },
		{ "of a type that may stand beside it", "a.example.", TYPE_NS, "a.example.", 0,
		  "a.example. 60 CNAME b.", ITER_choose, false },
		{ "from a wildcard, whose proof is another", "a.example.", TYPE_TXT, "a.example.", 0,
		  "a.example. 60 CNAME b.\na.example. 60 RRSIG CNAME 8 1 60 20300101000000 20200101000000 1 example. AA==",
		  ITER_choose, false },
		{ "signed, and no wildcard", "a.example.", TYPE_TXT, "a.example.", 0,
		  "a.example. 60 CNAME b.\na.example. 60 RRSIG CNAME 8 2 60 20300101000000 20200101000000 1 example. AA==",
		  ITER_start, true },
		{ "which was not asked for under a false rcode", "a.example.", TYPE_CNAME, "a.example.", 3,
		  "a.example. 60 CNAME b.", ITER_choose, false },
		{ "whose target is not there", "a.example.", TYPE_TXT, "a.example.", 3, "a.example. 60 CNAME b.",
		  ITER_start, true },
		{ "nor among all types", "a.example.", TYPE_ANY, "a.example.", 3, "a.example. 60 CNAME b.",
		  ITER_choose, false },
		{ "which was asked for", "a.example.", TYPE_CNAME, "a.example.", 0, "a.example. 60 CNAME b.",
		  ITER_finish, true },
		{ "as were all types", "a.example.", TYPE_ANY, "a.example.", 0, "a.example. 60 CNAME b.", ITER_finish,
		  true },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		struct iter *it = &fixture.it;

		at_example("", rows[i].want, rows[i].type, 0);
		show(rows[i].shown, TYPE_A);
		hear(FLAG_AA, rows[i].rcode, rows[i].answer, NULL, NULL);
		if (it->state != rows[i].state || it->qmin.on != rows[i].hides)
			fail_msg("%s: %u, %u", rows[i].why, it->state, it->qmin.on);
		if (it->state == ITER_choose)
			assert_true(it->question_due);
		assert_false(it->target->spent);
		fixture_end();
	}
}

/* What is said about another type than the one wanted is no proof. */
static void denials_for_another_type_are_left(void **state)
{
	(void)state;
	for (unsigned i = 0; i < 2; i++) {
		at_example("", "a.example.", i ? TYPE_A : TYPE_TXT, 0);
		show("a.example.", TYPE_A);
		hear(FLAG_AA, 0, "a.example. 60 CNAME b.", "a.example. 60 NSEC c.example. CNAME", NULL);
		assert_int_equal(fixture.it.state, ITER_start);
		assert_int_equal(fixture.it.chain.authorities, i);
		assert_int_equal(cached("a.example.", TYPE_NSEC, 0), 60);
		fixture_end();
	}
}

static void what_is_asked_for_ends_with_its_alias(void **state)
{
	static const struct {
		const char *why, *name;
		uint16_t type, flags;
		bool forward;
		const char *answer, *authority, *want; /* NULL: it leads on */
	} rows[] = {
		{ "the alias", "a.example.", TYPE_CNAME, FLAG_AA, false, "a.example. 60 CNAME b.", NULL, "a.example./CNAME" },
		{ "the alias with what it was made from", "a.d.example.", TYPE_CNAME, FLAG_AA, false,
		  "d.example. 60 DNAME e.\na.d.example. 60 CNAME a.e.", NULL, "d.example./DNAME a.d.example./CNAME" },
		{ "another type, which it leads on to", "a.example.", TYPE_TXT, FLAG_AA, false, "a.example. 60 CNAME b.", NULL,
		  NULL },
		{ "what would be followed for ever", "a.d.example.", TYPE_A, FLAG_AA, false,
		  "d.example. 60 DNAME x.d.example.", NULL, "d.example./DNAME a.d.example./CNAME" },
		{ "an alias to below itself", "a.example.", TYPE_A, FLAG_AA, false, "a.example. 60 CNAME b.a.example.", NULL,
		  NULL },
		{ "back to itself", "a.d.example.", TYPE_A, FLAG_AA, false, "d.example. 60 DNAME d.example.", NULL,
		  "d.example./DNAME a.d.example./CNAME" },
		{ "another DNAME, which is followed", "a.d.example.", TYPE_A, FLAG_AA, false, "d.example. 60 DNAME e.example.",
		  NULL, NULL },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		struct iter *it = &fixture.it;
		char text[512];

		at_example("server: iter-scrub-cname: 1\n", rows[i].name, rows[i].type, 0);
		it->at->forward = rows[i].forward;
		hear(rows[i].flags, 0, rows[i].answer, rows[i].authority, NULL);
		if ((it->state == ITER_finish) != !!rows[i].want ||
		    (rows[i].want && strcmp(answered(text), rows[i].want) != 0))
			fail_msg("%s: %u, %s", rows[i].why, it->state, answered(text));
		fixture_end();
	}
}

static void an_alias_under_a_false_rcode_is_one(void **state)
{
	static const char expanded[] =
		"a.example. 60 CNAME b.\na.example. 60 RRSIG CNAME 8 1 60 20300101000000 20200101000000 1 example. AA==";
	struct iter *it = &fixture.it;

	(void)state;
	at_example("", "a.d.example.", TYPE_A, 0);
	hear(FLAG_AA, 3, "d.example. 60 DNAME x.d.example.", NULL, NULL);
	assert_int_equal(it->state, ITER_finish);
	assert_int_equal(it->answer->rcode, 0);
	fixture_end();
	at_example("", "a.example.", TYPE_CNAME, 0); /* asked for as it is, it leads on to where nothing is */
	hear(FLAG_AA, 3, "a.example. 60 CNAME b.", NULL, NULL);
	assert_int_equal(it->state, ITER_start);
	fixture_end();
	at_example(STRICT, "a.example.", TYPE_TXT, 0); /* no denial of the name */
	show("a.example.", TYPE_A);
	hear(FLAG_AA, 3, expanded, NULL, NULL);
	assert_int_equal(it->state, ITER_choose);
	assert_false(it->qmin.on);
	fixture_end();
	at_example("", "a.example.", TYPE_TXT, 0); /* and nobody's but the one's for whom it was asked */
	fixture.q->ecs.sent = ECS_OPTED_OUT;
	hear(FLAG_AA, 0, "a.example. 60 CNAME b.", NULL, NULL);
	assert_int_equal(cached("a.example.", TYPE_CNAME, 0), 0);
	fixture_end();
}

/* Shown type A, the servers send what the alias leads to: the client asked for the alias. */
static void what_follows_an_alias_is_not_asked_for(void **state)
{
	static const struct {
		const char *why, *name, *answer, *authority, *want;
		unsigned answers;
	} rows[] = {
		{ "one alias", "a.example.", "a.example. 60 CNAME b.example.\nb.example. 60 CNAME c.example.",
		  "x.example. 60 NSEC y.example. A", "a.example./CNAME x.example./NSEC", 1 },
		{ "two of them", "a.example.",
		  "a.example. 60 CNAME b.example.\nb.example. 60 CNAME c.example.\nc.example. 60 CNAME d.example.", NULL,
		  "a.example./CNAME", 1 },
		{ "and what it was made from", "a.d.example.",
		  "d.example. 60 DNAME e.example.\na.d.example. 60 CNAME a.e.example.\na.e.example. 60 CNAME c.example.",
		  "x.example. 60 NSEC y.example. A", "d.example./DNAME a.d.example./CNAME x.example./NSEC", 2 },
		{ "nothing follows", "a.example.", "a.example. 60 CNAME b.example.", "x.example. 60 NSEC y.example. A",
		  "a.example./CNAME x.example./NSEC", 1 },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		char text[512];

		at_example("", rows[i].name, TYPE_CNAME, 0);
		show(rows[i].name, TYPE_A);
		hear(FLAG_AA, 0, rows[i].answer, rows[i].authority, NULL);
		assert_int_equal(fixture.it.state, ITER_finish);
		if (strcmp(answered(text), rows[i].want) != 0)
			fail_msg("%s: %s", rows[i].why, text);
		assert_int_equal(fixture.it.answer->count[SECTION_ANSWER], rows[i].answers);
		assert_int_equal(fixture.it.answer->rcode, 0);
		fixture_end();
	}
	for (unsigned i = 0; i < 2; i++) { /* of all types, everything was asked for */
		char text[512];

		at_example("", "a.example.", i ? TYPE_ANY : TYPE_CNAME, 0);
		show("a.example.", TYPE_A);
		hear(FLAG_AA, 0, "a.example. 60 CNAME b.example.\nb.example. 60 CNAME c.example.", NULL, NULL);
		assert_string_equal(answered(text), i ? "a.example./CNAME b.example./CNAME" : "a.example./CNAME");
		fixture_end();
	}
}

/* ---- referrals ---- */

static void a_referral_leads_down(void **state)
{
	struct iter *it = &fixture.it;

	(void)state;
	at_example("", "www.sub.example.", TYPE_A, 0);
	it->at->expires_s = fixture.now_s + 50;
	it->sent = 3;
	fixture.q->ecs.sent = ECS_OPTED_OUT; /* who serves a zone is for everybody */
	hear(FLAG_AA, 0, NULL, NS "\n" DS, GLUE "\nns.sub.example. 60 AAAA 2001:db8::9\nx.example. 60 TXT x");
	assert_int_equal(it->state, ITER_choose);
	assert_name_is(it->at->zone, "sub.example.");
	assert_int_equal(it->at->expires_s, fixture.now_s + 50);
	assert_int_equal(it->at->target_count, 2);
	assert_true(it->at->expects_dnssec);
	assert_int_equal(it->sent, 0);
	assert_null(it->answer);
	assert_true(it->question_due);

	/* known from now on: as the parent's, no longer than the parent is, and not as the child's own word, AA or not */
	assert_int_equal(cached("sub.example.", TYPE_NS, RRSET_PARENT_SIDE), 50);
	assert_int_equal(cached("sub.example.", TYPE_NS, 0), 60);
	assert_int_equal(cached_trust("sub.example.", TYPE_NS), TRUST_AUTH_NOAA);
	assert_int_equal(cached_trust("sub.example.", TYPE_DS), TRUST_AUTH_AA);
	assert_int_equal(cached_trust("ns.sub.example.", TYPE_A), TRUST_ADD_NOAA);
	assert_int_equal(cached_trust("ns.sub.example.", TYPE_AAAA), TRUST_ADD_NOAA);
	fixture_end();
}

static void glue_held_back_is_not_asked_at(void **state)
{
	(void)state;
	for (unsigned i = 0; i < 2; i++) {
		at_example(i ? "server: harden-unverified-glue: yes\n" : "", "www.sub.example.", TYPE_A, 0);
		hear(0, 0, NULL, "sub.example. 60 NS h.example.", "h.example. 60 A 192.0.2.9");
		assert_int_equal(fixture.it.at->target_count, !i);
		fixture_end();
	}
}

static void denials_in_a_referral_are_the_parents_own(void **state)
{
	(void)state;
	at_example("", "www.sub.example.", TYPE_A, 0);
	hear(FLAG_AA, 0, NULL,
	     NS "\nsub.example. 60 NSEC t.example. NS\n"
		"k3515rr034va6uns638d73il6cguh659.example. 60 NSEC3 1 0 0 - s9tggh1hil8i0rg39emtjvu6l583d06t A",
	     NULL);
	assert_int_equal(cached_trust("sub.example.", TYPE_NSEC), TRUST_AUTH_AA);
	assert_int_equal(cached_trust("k3515rr034va6uns638d73il6cguh659.example.", TYPE_NSEC3), TRUST_AUTH_AA);
	fixture_end();
}

static void a_referral_that_leads_nowhere_is_useless(void **state)
{
	static const struct {
		const char *why, *name;
		uint16_t type;
		bool want;
	} rows[] = {
		{ "data below", "www.sub.example.", TYPE_A, true },
		{ "data at the cut", "sub.example.", TYPE_A, true },
		{ "a DS below", "www.sub.example.", TYPE_DS, true },
		{ "the DS at the cut, which the parent itself has", "sub.example.", TYPE_DS, false },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		at_example("", rows[i].name, rows[i].type, 0);
		hear(0, 0, NULL, NS, GLUE);
		if (fixture.it.target->spent == rows[i].want)
			fail_msg("%s", rows[i].why);
		assert_int_equal(fixture.it.state, ITER_choose);
		assert_name_is(fixture.it.at->zone, rows[i].want ? "sub.example." : "example.");
		assert_int_equal(!cached("sub.example.", TYPE_NS, RRSET_PARENT_SIDE), !rows[i].want);
		fixture_end();
	}
}

/* A forwarder is asked for answers. */
static void a_forwarder_does_not_delegate(void **state)
{
	(void)state;
	at_example("", "www.sub.example.", TYPE_A, 0);
	fixture.it.at->forward = true;
	hear(FLAG_RA, 0, NULL, NS, GLUE);
	assert_int_equal(fixture.it.state, ITER_finish);
	assert_name_is(fixture.it.at->zone, "example.");
	assert_int_equal(fixture.it.answer->count[SECTION_ANSWER], 0);
	fixture_end();
}

/* The glue of a server that is resolved by others here is for that delegation alone. */
static void glue_of_a_server_elsewhere_is_kept_apart(void **state)
{
	static const char *const confs[] = { "", "forward-zone: name: ns.sub.example\n forward-addr: 192.0.2.53\n" };

	(void)state;
	for (unsigned i = 0; i < 4; i++) {
		at_example(confs[i % 2], "www.sub.example.", TYPE_A, 0);
		fixture.q->no_store = i >= 2;
		hear(0, 0, NULL, NS, GLUE);
		assert_int_equal(fixture.it.at->target_count, 1);
		assert_int_equal(cached("ns.sub.example.", TYPE_A, 0), i == 0 ? 60 : 0);
		assert_int_equal(cached("ns.sub.example.", TYPE_A, RRSET_PARENT_SIDE), i == 1 ? 60 : 0);
		if (i == 1)
			assert_int_equal(rrsetcache_find(fixture.env.rrsets, N("ns.sub.example."), TYPE_A, CLASS_IN,
							 RRSET_PARENT_SIDE, fixture.now_s)->flags,
					 RRSET_PARENT_SIDE);
		fixture_end();
	}
}

static void glue_above_the_cut_is_found_wherever_it_stands(void **state)
{
	static const struct {
		const char *why;
		uint16_t type;
		unsigned kind;
		uint16_t flags;
		const char *answer, *authority, *additional;
		enum iter_state state;
		uint32_t cached_s;
		const char *want; /* NULL: another kind of answer */
	} rows[] = {
		{ "as glue", TYPE_A, QUERY_PARENT_SIDE, 0, NULL, NS, GLUE, ITER_finish, 60, "ns.sub.example./A" },
		{ "as an answer", TYPE_A, QUERY_PARENT_SIDE, FLAG_AA, GLUE, NULL, NULL, ITER_finish, 60,
		  "ns.sub.example./A" },
		{ "not at all", TYPE_A, QUERY_PARENT_SIDE, 0, NULL, NS, NULL, ITER_finish, 0, "" },
		{ "in a denial", TYPE_A, QUERY_PARENT_SIDE, FLAG_AA, NULL, SOA, NULL, ITER_finish, 0, "" },
		{ "of IPv6", TYPE_AAAA, QUERY_PARENT_SIDE, 0, NULL, NS, GLUE "\nns.sub.example. 60 AAAA 2001:db8::9",
		  ITER_finish, 0, "ns.sub.example./AAAA" },
		{ "of another type", TYPE_AAAA, QUERY_PARENT_SIDE, 0, NULL, NS, GLUE, ITER_finish, 0, "" },
		{ "not looked for", TYPE_A, 0, 0, NULL, NS, GLUE, ITER_choose, 0, NULL },
		{ "a DS is no glue", TYPE_DS, QUERY_PARENT_SIDE, 0, NULL, NS, GLUE, ITER_choose, 0, NULL },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		struct iter *it = &fixture.it;
		char text[512];

		at_example("", "ns.sub.example.", rows[i].type, rows[i].kind);
		it->at->expires_s = fixture.now_s + 50; /* it is no delegation */
		hear(rows[i].flags, 0, rows[i].answer, rows[i].authority, rows[i].additional);
		if (it->state != rows[i].state || !it->answer != !rows[i].want)
			fail_msg("%s: %u", rows[i].why, it->state);
		if (rows[i].want) {
			assert_string_equal(answered(text), rows[i].want);
			assert_int_equal(it->answer->count[SECTION_ANSWER], rows[i].want[0] != 0);
			assert_ptr_not_equal(it->answer, heard.message);
			assert_true(question_equals(&it->answer->q, &it->want));
			assert_int_equal(it->answer->flags, FLAG_QR);
			assert_name_is(it->at->zone, "example.");
		}
		assert_int_equal(cached("ns.sub.example.", TYPE_A, RRSET_PARENT_SIDE), rows[i].cached_s);
		fixture_end();
	}
}

/* NS sets that have expired would make the new cut look as if it had, too. */
static void what_has_expired_above_a_cut_is_forgotten(void **state)
{
	static const struct {
		const char *why, *name;
		uint32_t ttl_s;
		bool stays;
	} rows[] = {
		{ "between", "b.example.", 5, false },
		{ "that is fresh", "b.example.", 600, true },
		{ "as long as it is", "b.example.", 11, true },
		{ "no longer", "b.example.", 10, false },
		{ "where we are", "example.", 5, true },
		{ "at the cut", "c.b.example.", 5, true },
		{ "beside it", "d.example.", 5, true },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		char text[64];

		at_example("", "www.c.b.example.", TYPE_A, 0);
		fixture.q->no_store = true;
		snprintf(text, sizeof(text), "%s %u NS n.", rows[i].name, rows[i].ttl_s);
		fixture_knows(text, 0);
		loop_play(fixture.loop, 10 * (uint64_t)US_PER_S);
		fixture.now_s += 10;
		hear(0, 0, NULL, "c.b.example. 60 NS ns.c.b.example.", "ns.c.b.example. 60 A 192.0.2.9");
		assert_name_is(fixture.it.at->zone, "c.b.example.");
		if (!!rrsetcache_find_stale(fixture.env.rrsets, N(rows[i].name), TYPE_NS, CLASS_IN, 0) != rows[i].stays)
			fail_msg("%s", rows[i].why);
		fixture_end();
	}
}

static void servers_of_a_cut_are_asked_for_themselves(void **state)
{
	static const char ns[] = NS "\nsub.example. 60 NS ns.example.";
	static const char glue[] =
		GLUE "\nns.sub.example. 60 AAAA 2001:db8::9\nns.example. 60 A 192.0.2.8\nns.example. 60 TXT x";
	static const struct {
		const char *why, *conf, *name;
		uint16_t type;
		unsigned depth;
		bool wants_signatures;
		const char *ds, *want;
	} rows[] = {
		{ "only its keys", "", "www.sub.example.", TYPE_A, 0, true, DS, "sub.example./DNSKEY+17" },
		{ "not when told not to", "server: prefetch-key: no\n", "www.sub.example.", TYPE_A, 0, true, DS, "" },
		{ "for who hardens the path", "server: harden-referral-path: yes\n", "www.sub.example.", TYPE_A, 0, false, "",
		  "sub.example./NS+0 ns.sub.example./A+0 ns.sub.example./AAAA+0 ns.example./A+0" },
		{ "but not what is asked for", "server: harden-referral-path: yes\n", "sub.example.", TYPE_NS, 0, false, "",
		  "ns.sub.example./A+0 ns.sub.example./AAAA+0 ns.example./A+0" },
		{ "of another type", "server: harden-referral-path: yes\n", "sub.example.", TYPE_A, 0, false, "",
		  "sub.example./NS+0 ns.sub.example./A+0 ns.sub.example./AAAA+0 ns.example./A+0" },
		{ "of another name", "server: harden-referral-path: yes\n", "a.sub.example.", TYPE_NS, 0, false, "",
		  "sub.example./NS+0 ns.sub.example./A+0 ns.sub.example./AAAA+0 ns.example./A+0" },
		{ "nor too deep", "server: harden-referral-path: yes\n", "www.sub.example.", TYPE_A, 2, false, "", "" },
		{ "a server's server", "server: harden-referral-path: yes\n", "www.sub.example.", TYPE_A, 1, false, "",
		  "sub.example./NS+0 ns.sub.example./A+0 ns.sub.example./AAAA+0 ns.example./A+0" },
		{ "not where nobody validates", "", "www.sub.example.", TYPE_A, 0, false, DS, "" },
		{ "nor where it is not signed", "", "www.sub.example.", TYPE_A, 0, true, "", "" },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		char authority[256], text[512];

		at_example(rows[i].conf, rows[i].name, rows[i].type, 0);
		fixture.q->depth = rows[i].depth;
		fixture.q->want_signatures = rows[i].wants_signatures;
		snprintf(authority, sizeof(authority), "%s%s%s", ns, rows[i].ds[0] ? "\n" : "", rows[i].ds);
		hear(0, 0, NULL, authority, glue);
		if (strcmp(begun(text), rows[i].want) != 0)
			fail_msg("%s: %s", rows[i].why, text);
		fixture.q->depth = 0;
		fixture_end();
	}
}

/* What the parent could have sent and has not does not exist there. */
static void glue_that_did_not_come_is_not_there(void **state)
{
	static const struct {
		const char *name;
		uint8_t v4, v6;
	} rows[] = {
		{ "ns.sub.example.", LOOKUP_FOUND, LOOKUP_NONE },
		{ "six.sub.example.", LOOKUP_NONE, LOOKUP_FOUND },
		{ "none.example.", LOOKUP_NONE, LOOKUP_NONE },
		{ "ns.other.", LOOKUP_OPEN, LOOKUP_OPEN },
	};

	(void)state;
	at_example("", "www.sub.example.", TYPE_A, 0);
	hear(0, 0, NULL, NS "\nsub.example. 60 NS ns.other.\nsub.example. 60 NS six.sub.example.\n"
			    "sub.example. 60 NS none.example.",
	     GLUE "\nsix.sub.example. 60 AAAA 2001:db8::9");
	for (size_t i = 0; i < COUNT(rows); i++) {
		const struct ns *n = delegation_find(fixture.it.at, N(rows[i].name));

		if (n->parent_v4 != rows[i].v4 || n->parent_v6 != rows[i].v6)
			fail_msg("%s: %u %u", rows[i].name, n->parent_v4, n->parent_v6);
	}
	fixture_end();
}

static void who_has_failed_is_remembered_where_it_was(void **state)
{
	(void)state;
	for (unsigned i = 0; i < 3; i++) {
		struct delegation *failed;

		at_example("", "www.sub.example.", TYPE_A, 0);
		failed = delegation_new(fixture.arena, N(i == 1 ? "SUB.example." : "www.sub.example."));
		delegation_add_name(failed, fixture.arena, N("old.example."));
		fixture_knows("old.example. 60 A 192.0.2.66", 0);
		fixture.it.failed = i ? failed : NULL;
		hear(0, 0, NULL, NS, GLUE);
		assert_int_equal(fixture.it.at->name_count, i == 1 ? 2 : 1);
		assert_int_equal(fixture.it.at->target_count, i == 1 ? 2 : 1);
		fixture_end();
	}
}

/* Addresses that came before are known at once, even those that no cut names. */
static void a_referral_is_completed_by_what_is_known(void **state)
{
	(void)state;
	at_example("", "www.sub.example.", TYPE_A, 0);
	fixture_knows("ns.other. 60 A 192.0.2.77", 0);
	hear(0, 0, NULL, "sub.example. 60 NS ns.other.", NULL);
	assert_int_equal(fixture.it.at->target_count, 1);
	assert_int_equal(fixture.it.at->targets[0].addr.ip[3], 77);
	fixture_end();
}

/* Where the operator says who is asked for some names, others have no say about them. */
static void answers_end_where_others_are_configured(void **state)
{
	static const char conf[] = "forward-zone: name: example\n forward-addr: 192.0.2.1\n"
				   "forward-zone: name: sub.example\n forward-first: yes\n forward-addr: 192.0.2.2\n";
	static const struct {
		const char *why, *zone, *name, *failed, *answer, *want;
	} rows[] = {
		{ "within one", "sub.example.", "www.sub.example.", NULL, "www.sub.example. 60 A 192.0.2.7",
		  "www.sub.example./A" },
		{ "into another", "example.", "www.example.", NULL,
		  "www.example. 60 CNAME b.sub.example.\nb.sub.example. 60 A 192.0.2.7", "" },
		{ "within the one that is left", "example.", "www.sub.example.", "sub.example.",
		  "www.sub.example. 60 CNAME b.example.\nb.example. 60 A 192.0.2.7", "www.sub.example./CNAME b.example./A" },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		struct iter *it = &fixture.it;
		char text[512];

		at_example(conf, rows[i].name, TYPE_A, 0);
		it->at->zone = arena_copy(fixture.arena, N(rows[i].zone), dname_len(N(rows[i].zone)));
		it->at->forward = true;
		if (rows[i].failed)
			it->config_failed = forwards_find_exact(fixture.snapshot->forwards, N(rows[i].failed));
		hear(FLAG_RA, 0, rows[i].answer, NULL, NULL);
		if (strcmp(answered(text), rows[i].want) != 0)
			fail_msg("%s: %s", rows[i].why, text);
		assert_int_equal(it->state, rows[i].want[0] ? ITER_finish : ITER_start);
		fixture_end();
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_answer_ends_the_iteration),
		cmocka_unit_test(a_step_leads_on),
		cmocka_unit_test(a_primed_zone_is_known_from_then_on),
		cmocka_unit_test(a_ds_denied_by_the_wrong_side_is_looked_for_above),
		cmocka_unit_test(an_alias_leads_to_its_target),
		cmocka_unit_test(aliases_are_followed_as_far_as_allowed),
		cmocka_unit_test(aliases_in_a_circle_fail),
		cmocka_unit_test(an_alias_on_the_way_is_no_answer),
		cmocka_unit_test(denials_for_another_type_are_left),
		cmocka_unit_test(what_is_asked_for_ends_with_its_alias),
		cmocka_unit_test(an_alias_under_a_false_rcode_is_one),
		cmocka_unit_test(what_follows_an_alias_is_not_asked_for),
		cmocka_unit_test(a_referral_leads_down),
		cmocka_unit_test(glue_held_back_is_not_asked_at),
		cmocka_unit_test(denials_in_a_referral_are_the_parents_own),
		cmocka_unit_test(a_referral_that_leads_nowhere_is_useless),
		cmocka_unit_test(a_forwarder_does_not_delegate),
		cmocka_unit_test(glue_of_a_server_elsewhere_is_kept_apart),
		cmocka_unit_test(glue_above_the_cut_is_found_wherever_it_stands),
		cmocka_unit_test(what_has_expired_above_a_cut_is_forgotten),
		cmocka_unit_test(servers_of_a_cut_are_asked_for_themselves),
		cmocka_unit_test(glue_that_did_not_come_is_not_there),
		cmocka_unit_test(who_has_failed_is_remembered_where_it_was),
		cmocka_unit_test(answers_end_where_others_are_configured),
		cmocka_unit_test(a_referral_is_completed_by_what_is_known),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
