/* Claims about delegations out of referrals and out of the cache.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "iterator/delegation.h"

#include "iterator/tests/fixture.h"
#include "services/forward/forward.h"

static const char *anchor; /* the only one */

static const uint8_t *trust_point(const struct query *q, const uint8_t *name, uint16_t type)
{
	const uint8_t *point = anchor ? N(anchor) : NULL;

	(void)q;
	(void)type;
	return point && dname_is_under(name, point) ? point : NULL;
}

static bool needs_keys(const struct query *q, const struct rrset *ds)
{
	(void)q;
	return rrset_record(ds, 0).at[2] == 8; /* of that algorithm */
}

static void begin(const char *conf)
{
	anchor = NULL;
	fixture_begin(conf, "www.example.", TYPE_A, 0);
	fixture.env.needs_keys = needs_keys;
}

static bool leads_to(const struct delegation *d, const char *text)
{
	struct target p = { .addr = address(text) }, *now = delegation_target_now(d, &p);

	return now != &p;
}

/* Names in their order, then addresses. */
static const char *text_of(const struct delegation *d, char to[512])
{
	size_t len = 0;

	to[0] = 0;
	for (unsigned i = 0; d && i < d->name_count; i++) {
		char name[DNAME_TEXT];

		len += (size_t)snprintf(to + len, 512 - len, "%s%s", len ? " " : "",
					dname_print(d->names[i].name, name));
	}
	for (unsigned i = 0; d && i < d->target_count; i++) {
		char addr[ADDR_TEXT];

		len += (size_t)snprintf(to + len, 512 - len, "%s%s", len ? " " : "",
					addr_print(&d->targets[i].addr, 53, addr));
	}
	return to;
}

#define NS1 "example. 60 NS ns1.example."
#define NS2 "example. 90 NS ns2.example."
#define DS "example. 60 DS 1 8 2 00"
#define SOA "example. 60 SOA a. b. 1 2 3 4 5"

static void a_referral_makes_a_delegation(void **state)
{
	static const struct {
		const char *why, *section[3], *anchor;
		const char *want; /* names and addresses; NULL: none */
		bool dnssec, lacks_ds;
	} rows[] = {
		{ "of its servers", { NULL, NS1 "\n" NS2 }, NULL, "ns1.example. ns2.example.", false, true },
		{ "named in an answer", { NS1 }, NULL, "ns1.example.", false, true },
		{ "rather than those in the answer", { NS1, NS2 }, NULL, "ns2.example.", false, true },
		{ "not in the last section", { NULL, NULL, NS1 }, NULL, NULL, false, false },
		{ "by nobody else", { "www.example. 60 A 192.0.2.7", SOA }, NULL, NULL, false, false },
		{ "behind other sets", { NULL, SOA "\n" NS1 }, NULL, "ns1.example.", false, true },
		{ "with their glue",
		  { NULL, NS1, "ns1.example. 60 A 192.0.2.1\nns1.example. 60 AAAA 2001:db8::1" },
		  NULL,
		  "ns1.example. 192.0.2.1 2001:db8::1",
		  false, true },
		{ "with no other glue",
		  { NULL, NS1, "ns2.example. 60 A 192.0.2.2\nns1.example. 60 A 192.0.2.1" },
		  NULL,
		  "ns1.example. 192.0.2.1",
		  false, true },
		{ "nor what only looks like it",
		  { NULL, NS1, "ns1.example. 60 TYPE65280 \\# 16 20010db8000000000000000000000003\nns1.example. 60 A 192.0.2.1" },
		  NULL,
		  "ns1.example. 192.0.2.1",
		  false, true },
		{ "that is signed", { NULL, NS1 "\n" DS }, NULL, "ns1.example.", true, false },
		{ "that nobody can validate", { NULL, NS1 "\nexample. 60 DS 1 9 2 00" }, NULL, "ns1.example.", false, false },
		{ "of which another is signed", { NULL, NS1 "\nother. 60 DS 1 8 2 00" }, NULL, "ns1.example.", false, true },
		{ "of a zone that has an anchor", { NULL, NS1 }, "example.", "ns1.example.", true, false },
		{ "of one below it", { NULL, NS1 }, ".", "ns1.example.", false, true },
		{ "of one beside it", { NULL, NS1 }, "other.", "ns1.example.", false, true },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		struct made made = { "www.example.", TYPE_A, 0, { NULL } };
		struct delegation *d;
		char text[512];

		begin("");
		if (rows[i].anchor)
			anchor = rows[i].anchor, fixture.env.trust_point = trust_point;
		memcpy(made.section, rows[i].section, sizeof(made.section));
		d = delegation_from_message(fixture.q, made_message(fixture.arena, fixture.now_s, &made));
		if (!d != !rows[i].want || strcmp(text_of(d, text), rows[i].want ? rows[i].want : "") != 0)
			fail_msg("%s: %s", rows[i].why, text);
		if (d) {
			assert_name_is(d->zone, "example.");
			assert_true(d->expires && d->knows_parent);
			assert_int_equal(d->expires_s, fixture.now_s + (strncmp(text, "ns2", 3) == 0 ? 90 : 60));
			assert_false(d->names[0].parent_side);
			for (unsigned p = 0; p < d->target_count; p++)
				assert_false(d->targets[p].parent_side);
			if (d->expects_dnssec != rows[i].dnssec || d->lacks_ds != rows[i].lacks_ds)
				fail_msg("%s: DNSSEC", rows[i].why);
		}
		fixture_end();
	}
}

static void servers_of_another_class_are_not_ours(void **state)
{
	static const struct made made = { "www.example.", TYPE_A, 0, { NULL, NS1 } };
	struct message *m;

	(void)state;
	begin("");
	m = made_message(fixture.arena, fixture.now_s, &made);
	m->q.class_ = 3;
	assert_null(delegation_from_message(fixture.q, m));
	fixture_end();
}

/* Unverified glue in the message is left for the last resort; what the cache knows is used. */
static void a_referral_is_completed_from_the_cache(void **state)
{
	static const struct made made = { "www.example.", TYPE_A, 0,
					  { NULL, NS1, "ns1.example. 60 A 192.0.2.1" } };
	struct message *m;
	struct delegation *d;
	char text[512];

	(void)state;
	begin("");
	fixture_knows("ns1.example. 60 AAAA 2001:db8::1", 0);
	fixture_knows("ns1.example. 60 A 192.0.2.2", RRSET_UNVERIFIED_GLUE);
	m = made_message(fixture.arena, fixture.now_s, &made);
	((struct rrset *)(uintptr_t)m->sets[1])->flags = RRSET_UNVERIFIED_GLUE;
	d = delegation_from_message(fixture.q, m);
	assert_string_equal(text_of(d, text), "ns1.example. 2001:db8::1");
	fixture_end();
}

static void the_closest_delegation_is_found(void **state)
{
	static const struct {
		const char *why;
		const char *given; /* by the parents */
		const char *own;   /* by the zones */
		unsigned pass_s;
		const char *zone, *want;
	} rows[] = {
		{ "none", NULL, NULL, 0, NULL, "" },
		{ "not by what a zone says of itself", NULL, NS1, 0, NULL, "" },
		{ "the root", ". 60 NS r.", NULL, 0, ".", "r." },
		{ "the closest", ". 60 NS r.\n" NS1, NULL, 0, "example.", "ns1.example." },
		{ "not one below", NS1 "\na.www.example. 60 NS b.", NULL, 0, "example.", "ns1.example." },
		{ "nor one beside", ". 60 NS r.\nother. 60 NS b.", NULL, 0, ".", "r." },
		{ "that of the name itself", NS1 "\nwww.example. 60 NS b.", NULL, 0, "www.example.", "b." },
		{ "with the names that it gives itself", ". 60 NS r.\n" NS1, NS2, 0, "example.", "ns2.example." },
		{ "not those of the zone above", NS1 "\nwww.example. 60 NS b.", NS2, 0, "www.example.", "b." },
		{ "while it is delegated", ". 600 NS r.\n" NS1, NULL, 59, "example.", "ns1.example." },
		{ "then the one above", ". 600 NS r.\n" NS1, NULL, 60, ".", "r." },
		{ "its own set has ended before", ". 600 NS r.\nexample. 600 NS ns1.example.", NS1, 60, ".", "r." },
		{ "and so has all below it", ". 600 NS r.\nwww.example. 600 NS b.", NS1, 60, ".", "r." },
		{ "not yet", ". 600 NS r.\nwww.example. 600 NS b.", NS1, 59, "www.example.", "b." },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		struct delegation *d;
		char text[512];

		begin("");
		if (rows[i].given)
			fixture_knows(rows[i].given, RRSET_PARENT_SIDE);
		if (rows[i].own)
			fixture_knows(rows[i].own, 0);
		d = delegation_from_cache(fixture.q, N("www.example."), CLASS_IN, fixture.now_s + rows[i].pass_s);
		if (!d != !rows[i].zone || strcmp(text_of(d, text), rows[i].want) != 0)
			fail_msg("%s: %s", rows[i].why, text);
		if (d) {
			assert_name_is(d->zone, rows[i].zone);
			assert_true(d->expires);
			assert_false(d->names[0].parent_side);
		}
		fixture_end();
	}
}

/* Whatever the zone says of itself, it is delegated for as long as its parent says. */
static void a_cached_delegation_ends_when_the_parent_says(void **state)
{
	struct delegation *d;

	(void)state;
	begin("");
	fixture_knows(NS1, RRSET_PARENT_SIDE);
	fixture_knows(NS2, 0);
	fixture_knows("ns2.example. 60 AAAA 2001:db8::2", 0);
	fixture_knows("ns2.example. 60 A 192.0.2.2", RRSET_UNVERIFIED_GLUE);
	d = delegation_from_cache(fixture.q, N("example."), CLASS_IN, fixture.now_s);
	assert_int_equal(d->expires_s, fixture.now_s + 60);
	assert_int_equal(d->target_count, 1);
	assert_true(leads_to(d, "2001:db8::2"));
	fixture_end();
}

static void a_signed_zone_is_known_as_such(void **state)
{
	static const struct {
		const char *why, *ds, *anchor;
		uint8_t security;
		bool validates, want;
	} rows[] = {
		{ "validated DS", DS, NULL, SECURITY_SECURE, true, true },
		{ "DS that nobody can validate", "example. 60 DS 1 9 2 00", NULL, SECURITY_SECURE, true, false },
		{ "nobody validates", DS, NULL, SECURITY_SECURE, false, false },
		{ "DS not validated yet", DS, NULL, SECURITY_UNCHECKED, true, false },
		{ "no DS", NULL, NULL, 0, true, false },
		{ "an anchor", NULL, "example.", 0, true, true },
		{ "an anchor above", NULL, ".", 0, true, false },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		struct delegation *d;

		begin("");
		fixture_knows(NS1, RRSET_PARENT_SIDE);
		anchor = rows[i].anchor;
		fixture.env.trust_point = rows[i].validates ? trust_point : NULL;
		if (rows[i].ds) {
			struct rrset *set = made_set(fixture.arena, fixture.now_s, rows[i].ds);

			set->security = rows[i].security;
			(void)rrsetcache_put(fixture.env.rrsets, set, fixture.now_s, fixture.arena);
		}
		d = delegation_from_cache(fixture.q, N("www.example."), CLASS_IN, fixture.now_s);
		if (d->expects_dnssec != rows[i].want)
			fail_msg("%s", rows[i].why);
		fixture_end();
	}
}

#define GLUE4 "ns1.example. 60 A 192.0.2.1"
#define GLUE6 "ns1.example. 60 AAAA 2001:db8::1"

static void addresses_are_filled_in(void **state)
{
	static const struct {
		const char *why, *conf, *known;
		uint8_t flags, v4, v6;
		bool unverified;
		unsigned want;
		uint8_t want4, want6;
	} rows[] = {
		{ "both", "", GLUE4 "\n" GLUE6, 0, 0, 0, false, 2, LOOKUP_FOUND, LOOKUP_FOUND },
		{ "none is known", "", NULL, 0, 0, 0, false, 0, LOOKUP_OPEN, LOOKUP_OPEN },
		{ "no IPv4", "server: do-ip4: no\n", GLUE4 "\n" GLUE6, 0, 0, 0, false, 1, LOOKUP_OPEN, LOOKUP_FOUND },
		{ "no IPv6", "server: do-ip6: no\n", GLUE4 "\n" GLUE6, 0, 0, 0, false, 1, LOOKUP_FOUND, LOOKUP_OPEN },
		{ "what is known is not looked for", "", GLUE4 "\n" GLUE6, 0, LOOKUP_FOUND, 0, false, 1, LOOKUP_FOUND,
		  LOOKUP_FOUND },
		{ "but for what was held back", "", GLUE4, RRSET_UNVERIFIED_GLUE, LOOKUP_FOUND, 0, true, 1,
		  LOOKUP_FOUND, LOOKUP_OPEN },
		{ "which is held back before that", "", GLUE4, RRSET_UNVERIFIED_GLUE, 0, 0, false, 0, LOOKUP_OPEN,
		  LOOKUP_OPEN },
		{ "what the parent gave is not", "", GLUE4, RRSET_PARENT_SIDE, 0, 0, false, 0, LOOKUP_OPEN,
		  LOOKUP_OPEN },
		{ "unless the server is found by others here",
		  "forward-zone: name: ns1.example\n forward-addr: 192.0.2.53\n", GLUE4, RRSET_PARENT_SIDE, 0, 0,
		  false, 1, LOOKUP_FOUND, LOOKUP_OPEN },
		{ "and so is the zone", "forward-zone: name: example\n forward-addr: 192.0.2.53\n", GLUE4,
		  RRSET_PARENT_SIDE, 0, 0, false, 0, LOOKUP_OPEN, LOOKUP_OPEN },
		{ "a lookup that failed may be made up for", "", GLUE4, 0, LOOKUP_NONE, 0, false, 1, LOOKUP_FOUND,
		  LOOKUP_OPEN },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		struct delegation *d;
		struct ns *n;

		begin(rows[i].conf);
		if (rows[i].known)
			fixture_knows(rows[i].known, rows[i].flags);
		d = delegation_new(fixture.arena, N("example."));
		delegation_add_name(d, fixture.arena, N("ns0.example."));
		n = delegation_add_name(d, fixture.arena, N("ns1.example."));
		n->v4 = rows[i].v4;
		n->v6 = rows[i].v6;
		if (delegation_fill(d, fixture.q, rows[i].unverified) != rows[i].want)
			fail_msg("%s", rows[i].why);
		assert_int_equal(d->target_count, rows[i].want);
		for (unsigned p = 0; p < d->target_count; p++)
			assert_false(d->targets[p].parent_side);
		if (n->v4 != rows[i].want4 || n->v6 != rows[i].want6)
			fail_msg("%s: %u %u", rows[i].why, n->v4, n->v6);
		fixture_end();
	}
}

/* The servers of a zone configured here are found as the operator says, not by what some parent gave. */
static void a_configured_zone_has_no_glue(void **state)
{
	struct delegation *d;

	(void)state;
	begin("stub-zone: name: example\n stub-host: ns1.other\n");
	fixture_knows("ns1.other. 60 A 192.0.2.1", RRSET_PARENT_SIDE);
	d = delegation_from_config(fixture.arena, forwards_find(fixture.snapshot->forwards, N("example.")));
	assert_int_equal(delegation_fill(d, fixture.q, false), 0);
	d->config = NULL;
	assert_int_equal(delegation_fill(d, fixture.q, false), 1);
	fixture_end();

	begin("stub-zone: name: other\n stub-addr: 192.0.2.53\n"); /* what its own servers say is better */
	fixture_knows("ns1.other. 60 A 192.0.2.1", RRSET_PARENT_SIDE);
	fixture_knows("ns1.other. 60 A 192.0.2.2", 0);
	d = delegation_new(fixture.arena, N("example."));
	delegation_add_name(d, fixture.arena, N("ns1.other."));
	assert_int_equal(delegation_fill(d, fixture.q, false), 1);
	assert_true(leads_to(d, "192.0.2.2"));
	fixture_end();
}

static void an_address_that_is_denied_is_not_asked_for(void **state)
{
	static const struct {
		const char *why, *name;
		uint16_t type;
		uint8_t rcode;
		const char *answer;
		unsigned pass_s;
		uint8_t before, want4, want6;
	} rows[] = {
		{ "no such name", "ns1.example.", TYPE_A, 3, NULL, 0, LOOKUP_OPEN, LOOKUP_NONE, LOOKUP_OPEN },
		{ "no such data", "ns1.example.", TYPE_AAAA, 0, NULL, 0, LOOKUP_OPEN, LOOKUP_OPEN, LOOKUP_NONE },
		{ "no such data, and proof of it", "ns1.example.", TYPE_AAAA, 0, "", 0, LOOKUP_OPEN, LOOKUP_OPEN,
		  LOOKUP_NONE },
		{ "something else failed", "ns1.example.", TYPE_A, 2, NULL, 0, LOOKUP_OPEN, LOOKUP_OPEN, LOOKUP_OPEN },
		{ "it is an alias", "ns1.example.", TYPE_A, 0, "ns1.example. 60 CNAME b.", 0, LOOKUP_OPEN,
		  LOOKUP_OPEN, LOOKUP_OPEN },
		{ "another name", "ns2.example.", TYPE_A, 3, NULL, 0, LOOKUP_OPEN, LOOKUP_OPEN, LOOKUP_OPEN },
		{ "until it ends", "ns1.example.", TYPE_A, 3, NULL, 4, LOOKUP_OPEN, LOOKUP_NONE, LOOKUP_OPEN },
		{ "not after", "ns1.example.", TYPE_A, 3, NULL, 5, LOOKUP_OPEN, LOOKUP_OPEN, LOOKUP_OPEN },
		{ "it is being asked for", "ns1.example.", TYPE_A, 3, NULL, 0, LOOKUP_ASKED, LOOKUP_ASKED, LOOKUP_OPEN },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		struct made made = { rows[i].name, rows[i].type, rows[i].rcode, { rows[i].answer } };
		struct delegation *d;
		struct ns *n;

		begin("");
		if (!rows[i].answer && rows[i].rcode != 2)
			made.section[1] = SOA;
		if (rows[i].answer && !rows[i].answer[0])
			made.section[1] = SOA "\nexample. 60 RRSIG SOA 8 1 60 20300101000000 20200101000000 1 example. AA==";
		fixture_recalls(&made);
		loop_play(fixture.loop, rows[i].pass_s * (uint64_t)US_PER_S);
		d = delegation_new(fixture.arena, N("example."));
		n = delegation_add_name(d, fixture.arena, N("ns1.example."));
		n->v4 = rows[i].before;
		assert_int_equal(delegation_fill(d, fixture.q, false), 0);
		if (n->v4 != rows[i].want4 || n->v6 != rows[i].want6)
			fail_msg("%s: %u %u", rows[i].why, n->v4, n->v6);
		fixture_end();
	}
}

static void what_the_parent_gave_is_a_second_choice(void **state)
{
	struct delegation *d;
	struct ns *n;

	(void)state;
	begin("");
	fixture_knows(GLUE4 "\nns2.example. 60 AAAA 2001:db8::2\nns3.example. 60 AAAA 2001:db8::3\nns3.example. 60 A 192.0.2.3",
		    RRSET_PARENT_SIDE);
	fixture_knows("ns1.example. 60 AAAA 2001:db8::1", 0);
	d = delegation_new(fixture.arena, N("example."));
	n = delegation_add_name(d, fixture.arena, N("ns1.example."));
	delegation_add_name(d, fixture.arena, N("ns2.example."));
	delegation_add_name(d, fixture.arena, N("ns3.example."));
	assert_int_equal(delegation_fill_parent_glue(d, fixture.q), 4);
	assert_true(leads_to(d, "192.0.2.3") && leads_to(d, "2001:db8::3"));
	assert_true(leads_to(d, "192.0.2.1") && leads_to(d, "2001:db8::2"));
	assert_true(d->targets[0].parent_side && d->targets[1].parent_side);
	n = delegation_find(d, N("ns1.example."));
	assert_int_equal(n->parent_v4, LOOKUP_FOUND);
	assert_int_equal(n->parent_v6, LOOKUP_OPEN);
	n = delegation_find(d, N("ns2.example."));
	assert_int_equal(n->parent_v4, LOOKUP_OPEN);
	assert_int_equal(n->parent_v6, LOOKUP_FOUND);
	assert_int_equal(delegation_fill_parent_glue(d, fixture.q), 0);
	fixture_end();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_referral_makes_a_delegation),
		cmocka_unit_test(servers_of_another_class_are_not_ours),
		cmocka_unit_test(a_referral_is_completed_from_the_cache),
		cmocka_unit_test(the_closest_delegation_is_found),
		cmocka_unit_test(a_cached_delegation_ends_when_the_parent_says),
		cmocka_unit_test(a_signed_zone_is_known_as_such),
		cmocka_unit_test(addresses_are_filled_in),
		cmocka_unit_test(a_configured_zone_has_no_glue),
		cmocka_unit_test(an_address_that_is_denied_is_not_asked_for),
		cmocka_unit_test(what_the_parent_gave_is_a_second_choice),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
