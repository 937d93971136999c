/* Claims about what is left when all servers of a zone have failed: the parent's word, its glue, and the way without what is
 * configured.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "iterator/parent_fallback.h"

#include "iterator/delegation.h"
#include "iterator/tests/fixture.h"
#include "services/forward/forward.h"

static const uint8_t *zone_name(const char *text)
{
	return arena_copy(fixture.arena, N(text), dname_len(N(text)));
}

static void begin(const char *conf, const char *zone, unsigned kind)
{
	fixture_begin(conf, "www.example.com.", TYPE_A, kind);
	fixture.it.at = delegation_new(fixture.arena, zone_name(zone));
}

/* Addresses that the parent has for the names that it has. */
static void what_the_parent_knows_is_tried(void **state)
{
	(void)state;
	static const struct {
		const char *why, *own, *parent; /* what the cache has, by the zone's word and the parent's */
		bool knows_parent;
		enum iter_state want;
		unsigned targets;
	} rows[] = {
		{ "a name of the parent's, with glue", "", "example.com. 300 NS ns.example.com.\nns.example.com. 300 A 192.0.2.7", false, ITER_choose, 1 },
		{ "with two kinds of it", "", "example.com. 300 NS ns.example.com.\nns.example.com. 300 A 192.0.2.7\nns.example.com. 300 AAAA 2001:db8::7",
		  false, ITER_choose, 2 },
		{ "with an address of its own", "ns.example.com. 300 A 192.0.2.8", "example.com. 300 NS ns.example.com.", false, ITER_choose, 1 },
		{ "with both", "ns.example.com. 300 A 192.0.2.8", "example.com. 300 NS ns.example.com.\nns.example.com. 300 A 192.0.2.7", false,
		  ITER_choose, 2 },
		{ "of which the one is the other", "ns.example.com. 300 A 192.0.2.7",
		  "example.com. 300 NS ns.example.com.\nns.example.com. 300 A 192.0.2.7", false, ITER_choose, 1 },
		{ "it was known", "", "example.com. 300 NS ns.example.com.\nns.example.com. 300 A 192.0.2.7", true, ITER_fail, 0 },
		{ "nothing", "", "", false, ITER_find_zone, 0 },
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		struct delegation *d;

		begin("", "example.com.", 0);
		d = fixture.it.at;
		d->knows_parent = rows[i].knows_parent;
		if (*rows[i].own)
			fixture_knows(rows[i].own, 0);
		if (*rows[i].parent)
			fixture_knows(rows[i].parent, RRSET_PARENT_SIDE);
		if (parent_fallback(&fixture.it) != ITER_ON || fixture.it.state != rows[i].want || d->target_count != rows[i].targets)
			fail_msg("%s: state %d, %u addresses", rows[i].why, fixture.it.state, d->target_count);
		assert_true(d->last_resort);
		if (rows[i].want == ITER_find_zone)
			assert_true(dname_equals(fixture.it.refetch, N("example.com.")) && fixture.it.failed == d);
		fixture_end();
	}
}

/* RFC 9520: of many that fail at one zone only a few ask its parent again; this one goes on once it has begun. */
static void few_ask_the_parent_again(void **state)
{
	(void)state;
	unsigned again = 0;

	begin("", "example.com.", 0);
	for (unsigned i = 0; i < 20; i++) {
		fixture.it.at = delegation_new(fixture.arena, zone_name("example.com."));
		fixture.it.asks_parent = NULL;
		fixture.it.restarts = 0;
		(void)parent_fallback(&fixture.it);
		again += fixture.it.state == ITER_find_zone;
	}
	assert_in_range(again, 1, 10);
	/* it has leave for that zone, and for no other */
	fixture.it.at = delegation_new(fixture.arena, zone_name("example.com."));
	fixture.it.asks_parent = fixture.it.at->zone;
	fixture.it.restarts = 0;
	(void)parent_fallback(&fixture.it);
	assert_int_equal(fixture.it.state, ITER_find_zone);
	fixture.it.at = delegation_new(fixture.arena, zone_name("example.com."));
	fixture.it.asks_parent = zone_name("com.");
	(void)parent_fallback(&fixture.it);
	assert_int_equal(fixture.it.state, ITER_fail);
	fixture_end();
}

/* The root's servers are those of the hints, which are tried at once; once they are known, nobody is above. */
static void above_the_root_are_the_hints(void **state)
{
	(void)state;
	begin("", ".", 0);
	assert_int_equal(parent_fallback(&fixture.it), ITER_ON);
	assert_int_equal(fixture.it.state, ITER_choose);
	assert_true(fixture.it.at->target_count > 0 && fixture.it.at->knows_parent && fixture.it.at->last_resort);
	fixture.it.at = delegation_new(fixture.arena, dname_root);
	fixture.it.at->knows_parent = true;
	(void)parent_fallback(&fixture.it);
	assert_int_equal(fixture.it.state, ITER_fail);
	assert_int_equal(fixture.it.at->target_count, 0);
	assert_int_equal(fixture.begun_count, 0);
	fixture_end();
}

/* Priming, and what the operator has configured, have no parent; but a stub zone for the root has the hints. */
static void what_is_configured_has_no_parent(void **state)
{
	(void)state;
	static const struct {
		const char *why, *conf, *zone, *failed; /* `failed`: this clause failed before */
		unsigned kind;
		enum iter_state want;
	} rows[] = {
		{ "to prime", "", "example.com.", NULL, QUERY_PRIME, ITER_fail },
		{ "forwarders", "forward-zone:\nname: example.com\nforward-addr: 192.0.2.1", "example.com.", NULL, 0, ITER_fail },
		{ "forwarders that come first", "forward-zone:\nname: example.com\nforward-addr: 192.0.2.1\nforward-first: yes", "example.com.", NULL, 0,
		  ITER_find_zone },
		{ "the same, to prime", "forward-zone:\nname: example.com\nforward-addr: 192.0.2.1\nforward-first: yes", "example.com.", NULL, QUERY_PRIME,
		  ITER_fail },
		{ "those above it, too", "forward-zone:\nname: com\nforward-addr: 192.0.2.1\nforward-first: yes\n"
		  "forward-zone:\nname: example.com\nforward-addr: 192.0.2.1\nforward-first: yes", "com.", "example.com.", 0, ITER_find_zone },
		{ "those of the root failed before", "forward-zone:\nname: .\nforward-addr: 192.0.2.1\nforward-first: yes\n"
		  "stub-zone:\nname: com\nstub-addr: 192.0.2.1\nstub-first: yes", "com.", ".", 0, ITER_fail },
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		const struct forward_zone *z;

		begin(rows[i].conf, rows[i].zone, rows[i].kind);
		z = forwards_find_exact(fixture.snapshot->forwards, N(rows[i].zone));
		if (!z)
			z = forwards_find_stub(fixture.snapshot->forwards, N(rows[i].zone));
		fixture.it.at->config = z;
		if (rows[i].failed)
			fixture.it.config_failed = forwards_find_exact(fixture.snapshot->forwards, N(rows[i].failed));
		fixture.it.reason = i % 2 ? REASON_none : REASON_network_error;
		assert_int_equal(parent_fallback(&fixture.it), ITER_ON);
		if (fixture.it.state != rows[i].want)
			fail_msg("%s: state %d", rows[i].why, fixture.it.state);
		/* what is known already says more */
		assert_int_equal(fixture.it.reason, i % 2 == 0 ? REASON_network_error : rows[i].want == ITER_fail ? REASON_no_reachable : REASON_none);
		if (rows[i].want == ITER_find_zone)
			assert_ptr_equal(fixture.it.config_failed, z);
		fixture_end();
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_the_parent_knows_is_tried),
		cmocka_unit_test(few_ask_the_parent_again),
		cmocka_unit_test(above_the_root_are_the_hints),
		cmocka_unit_test(what_is_configured_has_no_parent),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
