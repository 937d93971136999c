/* Claims about the servers of a zone: which are taken, which are left to ask.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "iterator/delegation.h"

#include "iterator/tests/fixture.h"
#include "services/forward/forward.h"

static struct delegation *d;

static void begin(const char *conf)
{
	fixture_begin(conf, "www.example.", TYPE_A, 0);
	d = delegation_new(fixture.arena, N("example."));
}

static struct target at(const char *text)
{
	return (struct target){ .addr = address(text) };
}

static bool add(const char *text)
{
	struct target p = at(text);

	return delegation_add_target(d, fixture.arena, &p);
}

static struct ns *add_name(const char *text)
{
	return delegation_add_name(d, fixture.arena, N(text));
}

/* As many records of a type as asked for, each another. */
static struct rrset *many(const char *owner, uint16_t type, unsigned count)
{
	struct slice *records = arena_array(fixture.arena, struct slice, count);
	struct rrset_parts p = { .owner = N(owner),
				 .type = type,
				 .class_ = CLASS_IN,
				 .records = records,
				 .count = count };

	for (unsigned i = 0; i < count; i++) {
		uint8_t *bytes = arena_zeros(fixture.arena, 1, 16);

		memcpy(bytes, type == TYPE_NS ? "\3n00" : "\300\0\2", 4);
		if (type == TYPE_NS)
			bytes[2] = (uint8_t)(1 + i / 40), bytes[3] = (uint8_t)(1 + i % 40); /* without case */
		else
			bytes[type == TYPE_A ? 3 : 15] = (uint8_t)(i + 1);
		records[i] = (struct slice){ bytes, type == TYPE_NS ? 5 : type == TYPE_A ? 4 : 16 };
	}
	return rrset_build(fixture.arena, &p);
}

static void a_name_is_listed_once(void **state)
{
	struct ns *n;

	(void)state;
	begin("");
	n = add_name("ns1.example.");
	assert_int_equal(n->port, 53);
	n->failed = true;
	assert_ptr_equal(add_name("NS1.example."), n);
	assert_ptr_equal(delegation_find(d, N("ns1.EXAMPLE.")), n);
	assert_int_equal(d->name_count, 1);
	assert_null(delegation_find(d, N("ns2.example.")));
	for (unsigned i = 2; i < 20; i++) {
		char text[32];

		snprintf(text, sizeof(text), "ns%u.example.", i);
		add_name(text);
	}
	assert_int_equal(d->name_count, 19);
	assert_true(delegation_find(d, N("ns1.example."))->failed);
	for (unsigned i = 0; i < 19; i++) {
		char text[32];

		snprintf(text, sizeof(text), "ns%u.example.", i + 1);
		assert_name_is(d->names[i].name, text);
	}
	fixture_end();
}

static void a_set_names_at_most_128_servers(void **state)
{
	static const unsigned counts[][2] = { { 1, 1 }, { 127, 127 }, { 128, 128 }, { 129, 128 }, { 400, 128 } };

	(void)state;
	for (size_t i = 0; i < COUNT(counts); i++) {
		begin("");
		delegation_add_names(d, fixture.arena, many("example.", TYPE_NS, counts[i][0]), i % 2);
		assert_int_equal(d->name_count, counts[i][1]);
		assert_int_equal(d->names[0].parent_side, i % 2);
		fixture_end();
	}
}

/* What the zone names itself is no second choice because the parent names it, too. */
static void a_name_known_already_stays_as_it_is(void **state)
{
	(void)state;
	begin("");
	add_name("ns1.example.");
	delegation_add_names(d, fixture.arena,
			     made_set(fixture.arena, fixture.now_s, "example. 60 NS ns2.example.\n"
								"example. 60 NS ns1.example.\n"
								"example. 60 NS ns3.example."),
			     true);
	assert_int_equal(d->name_count, 3);
	assert_false(delegation_find(d, N("ns1.example."))->parent_side);
	assert_true(delegation_find(d, N("ns2.example."))->parent_side);
	assert_true(delegation_find(d, N("ns3.example."))->parent_side);
	fixture_end();
}

static void an_address_is_listed_once(void **state)
{
	static const struct {
		const char *why, *known;
		uint32_t ip4; /* of the known one, which is reached through NAT64 */
		const char *added;
		bool want;
	} rows[] = {
		{ "the same", "192.0.2.1", 0, "192.0.2.1", false },
		{ "another", "192.0.2.1", 0, "192.0.2.2", true },
		{ "at another port", "192.0.2.1", 0, "192.0.2.1@54", true },
		{ "the same of IPv6", "2001:db8::1", 0, "2001:db8::1", false },
		{ "reached through NAT64", "64:ff9b::c000:201", 0xc0000201, "192.0.2.1", false },
		{ "another than that", "64:ff9b::c000:201", 0xc0000201, "192.0.2.2", true },
		{ "that one, at another port", "64:ff9b::c000:201", 0xc0000201, "192.0.2.1@54", true },
		{ "where it is reached", "64:ff9b::c000:201", 0xc0000201, "64:ff9b::c000:201", false },
		{ "beside it", "64:ff9b::c000:201", 0xc0000201, "64:ff9b::c000:202", true },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		struct target p;

		begin("");
		p = at(rows[i].known);
		p.ip4 = rows[i].ip4;
		assert_true(delegation_add_target(d, fixture.arena, &p));
		if (add(rows[i].added) != rows[i].want)
			fail_msg("%s", rows[i].why);
		assert_int_equal(d->target_count, 1 + rows[i].want);
		fixture_end();
	}
}

/* An address that the zone itself gives is no second choice any more, and never becomes one. */
static void who_gives_an_address_decides_how_good_it_is(void **state)
{
	static const struct {
		bool first, second, want;
	} rows[] = { { true, true, true }, { true, false, false }, { false, true, false }, { false, false, false } };

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		struct target p;

		begin("");
		add("192.0.2.9");
		p = at("192.0.2.1");
		p.parent_side = rows[i].first;
		assert_true(delegation_add_target(d, fixture.arena, &p));
		p.parent_side = rows[i].second;
		assert_false(delegation_add_target(d, fixture.arena, &p));
		assert_int_equal(d->targets[1].parent_side, rows[i].want);
		assert_false(d->targets[0].parent_side);
		fixture_end();
	}
}

static void at_most_128_addresses_are_kept(void **state)
{
	struct target away = at("198.51.100.1"), *kept;

	(void)state;
	begin("");
	add("192.0.2.250");
	kept = &d->targets[0];
	for (unsigned i = 1; i < 140; i++) {
		char text[32];

		snprintf(text, sizeof(text), "192.0.2.%u", i);
		assert_int_equal(add(text), i < 128);
		if (i == 8)
			kept->tries = 9; /* in the list as it was: it has moved */
	}
	assert_int_equal(d->target_count, 128);
	kept = delegation_target_now(d, &(struct target){ .addr = address("192.0.2.250") });
	assert_ptr_equal(kept, &d->targets[0]);
	assert_ptr_equal(
		delegation_target_now(d, &(struct target){ .addr = address("192.0.2.100") }),
		&d->targets[100]);
	assert_ptr_equal(delegation_target_now(d, &away), &away);
	fixture_end();
}

static void some_addresses_of_a_server_are_taken(void **state)
{
	static const struct {
		const char *why;
		bool is_configured;
		struct {
			uint16_t type;
			unsigned count;
			bool parent_side;
			unsigned want; /* are new */
		} sets[3];
	} rows[] = {
		{ "three", false, { { TYPE_A, 3, false, 3 } } },
		{ "four of one family", false, { { TYPE_A, 5, false, 4 } } },
		{ "four of the other", false, { { TYPE_AAAA, 5, false, 4 } } },
		{ "six of both", false, { { TYPE_A, 9, false, 4 }, { TYPE_AAAA, 9, false, 2 } } },
		{ "six of both, however many are of one",
		  false,
		  { { TYPE_A, 1, false, 1 }, { TYPE_AAAA, 9, false, 4 } } },
		{ "of the parent as many again",
		  false,
		  { { TYPE_A, 9, false, 4 }, { TYPE_AAAA, 9, true, 4 } } },
		{ "which do not count for the zone's own",
		  false,
		  { { TYPE_A, 9, true, 4 }, { TYPE_AAAA, 2, true, 2 }, { TYPE_AAAA, 5, false, 2 } } },
		{ "of a configured one 32", true, { { TYPE_A, 40, false, 32 } } },
		{ "of either family",
		  true,
		  { { TYPE_A, 33, false, 32 }, { TYPE_AAAA, 33, false, 32 } } },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		struct ns *n;

		begin("");
		if (rows[i].is_configured)
			d->config = &(const struct forward_zone){ .name = d->zone };
		n = add_name("ns.example.");
		for (unsigned s = 0; s < COUNT(rows[i].sets) && rows[i].sets[s].type; s++) {
			const struct rrset *set =
				many("NS.example.", rows[i].sets[s].type, rows[i].sets[s].count);
			unsigned got = delegation_add_set(d, fixture.arena, set, rows[i].sets[s].parent_side);

			if (got != rows[i].sets[s].want)
				fail_msg("%s: %u", rows[i].why, got);
			assert_int_equal(set->type == TYPE_A ? n->v4 : n->v6, LOOKUP_FOUND);
		}
		fixture_end();
	}
}

static void an_address_is_reached_as_its_server_is(void **state)
{
	static const char tls[] = "ns.example", path[] = "/dns-query";
	struct ns *n;

	(void)state;
	begin("");
	n = add_name("ns.example.");
	n->port = 853;
	n->tls_name = tls;
	n->http_path = path;
	assert_int_equal(delegation_add_set(d, fixture.arena, many("ns.example.", TYPE_A, 1), false), 1);
	assert_true(addr_equals(&d->targets[0].addr, &(struct addr){ .family = 4, .port = 853, .ip = { 192, 0, 2, 1 } }));
	assert_ptr_equal(d->targets[0].tls_name, tls);
	assert_ptr_equal(d->targets[0].http_path, path);
	assert_false(d->targets[0].parent_side);
	assert_int_equal(n->v4, LOOKUP_FOUND);
	assert_int_equal(n->v6, LOOKUP_OPEN);
	assert_int_equal(delegation_add_set(d, fixture.arena, many("ns.example.", TYPE_A, 1), false), 0);

	/* one that is not named is asked in the usual way */
	assert_int_equal(delegation_add_set(d, fixture.arena, many("other.", TYPE_A, 1), false), 1);
	assert_false(d->targets[1].parent_side);
	d->target_count = 1;
	assert_int_equal(delegation_add_set(d, fixture.arena, many("other.", TYPE_AAAA, 1), true), 1);
	assert_int_equal(d->targets[1].addr.family, 6);
	assert_int_equal(d->targets[1].addr.port, 53);
	assert_null(d->targets[1].tls_name);
	assert_true(d->targets[1].parent_side);

	fixture_end();
}

static void who_is_named_by_the_parent_only_is_second_choice(void **state)
{
	(void)state;
	for (unsigned i = 0; i < 4; i++) {
		begin("");
		add_name("ns.example.")->parent_side = i & 1;
		delegation_add_set(d, fixture.arena, many("ns.example.", TYPE_A, 1), i & 2);
		assert_int_equal(d->targets[0].parent_side, i != 0);
		fixture_end();
	}
}

static void what_is_no_address_is_passed_over(void **state)
{
	static const struct {
		const char *why;
		uint16_t type;
		struct slice rdata;
		unsigned want;
	} rows[] = {
		{ "an address", TYPE_A, { BYTES("\300\0\2\1") }, 1 },
		{ "cut", TYPE_A, { BYTES("\300\0\2") }, 0 },
		{ "more than one", TYPE_A, { BYTES("\300\0\2\1\0") }, 0 },
		{ "one of IPv6", TYPE_AAAA, { BYTES("\x20\1\xd\xb8\0\0\0\0\0\0\0\0\0\0\0\1") }, 1 },
		{ "of IPv4", TYPE_AAAA, { BYTES("\300\0\2\1") }, 0 },
		{ "multicast", TYPE_A, { BYTES("\340\0\0\1") }, 0 },
		{ "nowhere", TYPE_AAAA, { BYTES("\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0") }, 0 },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		struct rrset_parts p = { .owner = N("ns.example."),
					 .type = rows[i].type,
					 .class_ = CLASS_IN,
					 .records = &rows[i].rdata,
					 .count = 1 };

		begin("");
		add_name("ns.example.");
		if (delegation_add_set(d, fixture.arena, rrset_build(fixture.arena, &p), false) != rows[i].want)
			fail_msg("%s", rows[i].why);
		assert_int_equal(d->target_count, rows[i].want);
		fixture_end();
	}
}

/* What is passed over counts as seen: else a set of thousands would be read whole. */
static void what_is_passed_over_uses_up_room(void **state)
{
	const struct slice records[] = { SLICE("\340\0\0\1"), SLICE("\340\0\0\2"), SLICE("\340\0\0\3"),
					 SLICE("\340\0\0\4"), SLICE("\300\0\2\1") };
	struct rrset_parts p = { .owner = N("ns.example."),
				 .type = TYPE_A,
				 .class_ = CLASS_IN,
				 .records = records,
				 .count = COUNT(records) };

	(void)state;
	begin("");
	add_name("ns.example.");
	assert_int_equal(delegation_add_set(d, fixture.arena, rrset_build(fixture.arena, &p), false), 0);
	assert_int_equal(delegation_add_set(d, fixture.arena, many("ns.example.", TYPE_AAAA, 9), false), 2);
	fixture_end();
}

static void a_configured_zone_is_asked_as_it_says(void **state)
{
	static const struct {
		const char *conf;
		bool forward, knows_parent;
		enum transport_kind transport;
	} rows[] = {
		{ "forward-zone: name: example\n forward-addr: 192.0.2.1@5353\n forward-host: ns.other@54\n",
		  true, true, TRANSPORT_UDP },
		{ "stub-zone: name: example\n stub-addr: 192.0.2.1@5353\n stub-host: ns.other@54\n", false,
		  true, TRANSPORT_UDP },
		{ "forward-zone: name: example\n forward-first: yes\n forward-tcp-upstream: yes\n"
		  " forward-addr: 192.0.2.1@5353\n forward-host: ns.other@54\n",
		  true, false, TRANSPORT_TCP },
		{ "stub-zone: name: example\n stub-first: yes\n stub-tls-upstream: yes\n"
		  " stub-addr: 192.0.2.1@5353#one.other\n stub-host: ns.other@54#two.other\n",
		  false, false, TRANSPORT_TLS },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		const struct forward_zone *z;

		begin(rows[i].conf);
		z = forwards_find(fixture.snapshot->forwards, N("example."));
		d = delegation_from_config(fixture.arena, z);
		assert_name_is(d->zone, "example.");
		assert_ptr_equal(d->config, z);
		assert_int_equal(d->forward, rows[i].forward);
		assert_int_equal(d->knows_parent, rows[i].knows_parent);
		assert_int_equal(d->transport, rows[i].transport);
		assert_false(d->expires);
		assert_int_equal(d->target_count, 1);
		assert_int_equal(d->targets[0].addr.port, 5353);
		assert_int_equal(d->name_count, 1);
		assert_name_is(d->names[0].name, "ns.other.");
		assert_int_equal(d->names[0].port, 54);
		if (rows[i].transport == TRANSPORT_TLS) {
			assert_string_equal(d->targets[0].tls_name, "one.other");
			assert_string_equal(d->names[0].tls_name, "two.other");
		}
		fixture_end();
	}
}

static void servers_are_those_that_are_written(void **state)
{
	static const char path[] = "/dns-query";
	const struct forward_server servers[] = {
		{ .host = N("ns.other."), .port = 443, .tls_name = "ns.other", .http_path = path },
		{ .addr = address("192.0.2.1@443"), .tls_name = "ns.other", .http_path = path },
		{ .addr = address("192.0.2.2@443") },
	};
	const struct forward_zone z = { .name = N("example."), .servers = servers, .server_count = 2 };

	(void)state;
	begin("");
	delegation_add_servers(d, fixture.arena, &z);
	assert_int_equal(d->name_count, 1);
	assert_ptr_equal(d->names[0].http_path, path);
	assert_int_equal(d->target_count, 1);
	assert_ptr_equal(d->targets[0].http_path, path);
	fixture_end();
}

/* However often a child is renewed, it does not outlive what delegates it. */
static void a_delegation_ends_with_the_one_above(void **state)
{
	static const struct {
		const char *why;
		bool above_expires;
		uint32_t above_s, expires_s, want;
	} rows[] = {
		{ "it is shorter itself", true, 200, 100, 100 },
		{ "the one above is", true, 100, 200, 100 },
		{ "both alike", true, 100, 100, 100 },
		{ "the one above is configured", false, 100, 200, 200 },
		{ "the one above ends after the clock's numbers do", true, 5, 0xfffffff0, 0xfffffff0 },
		{ "it does", true, 0xfffffff0, 5, 0xfffffff0 },
	};

	(void)state;
	begin("");
	for (size_t i = 0; i < COUNT(rows); i++) {
		struct delegation above = { .expires = rows[i].above_expires,
					    .expires_s = rows[i].above_s };

		if (delegation_last_second(&above, rows[i].expires_s) != rows[i].want)
			fail_msg("%s", rows[i].why);
		d->expires_s = rows[i].expires_s;
		delegation_limit(d, &above);
		assert_int_equal(d->expires_s, rows[i].want);
	}
	fixture_end();
}

static void what_has_failed_is_remembered(void **state)
{
	struct delegation *failed;
	struct ns *n;

	(void)state;
	begin("");
	add_name("both.example.");
	add("192.0.2.1");
	add("192.0.2.2");
	add("192.0.2.3");
	d->targets[0].spent = d->targets[2].spent = true;
	failed = d;
	n = add_name("gone.example.");
	n->parent_v4 = LOOKUP_FOUND;
	n->parent_side = true;
	failed->names[0].failed = true;

	failed->targets[1].addr = address("64:ff9b::c000:202"); /* where 192.0.2.2 is reached */
	failed->targets[1].ip4 = 0xc0000202;
	failed->targets[1].spent = true;
	d = delegation_new(fixture.arena, N("example."));
	add_name("both.example.");
	add_name("new.example.");
	add("192.0.2.3");
	add("192.0.2.1");
	add("192.0.2.5");
	add("192.0.2.4");
	add("192.0.2.2");
	d->targets[3].spent = true;
	delegation_remember(d, fixture.arena, failed);
	assert_int_equal(d->name_count, 3);
	assert_false(delegation_find(d, N("both.example."))->failed);
	assert_false(delegation_find(d, N("both.example."))->tried);
	assert_false(delegation_find(d, N("new.example."))->tried);
	n = delegation_find(d, N("gone.example."));
	assert_true(n->tried);
	assert_true(n->parent_side);
	assert_int_equal(n->parent_v4, LOOKUP_FOUND);
	assert_int_equal(d->target_count, 5);
	for (unsigned i = 0; i < 5; i++)
		assert_int_equal(d->targets[i].spent, i != 2);
	fixture_end();
}

#define OFF4 "server: do-ip4: no\n"
#define OFF6 "server: do-ip6: no\n"

static void an_address_is_looked_up_where_it_can_be_reached(void **state)
{
	static const struct {
		const char *why, *conf;
		struct ns n;
		unsigned depth;
		bool v4, v6, missing;
	} rows[] = {
		{ "nothing is known", "", { 0 }, 0, true, true, true },
		{ "IPv4 is not spoken", OFF4, { 0 }, 0, false, true, true },
		{ "but there is NAT64", OFF4 "do-nat64: yes\n", { 0 }, 0, true, true, true },
		{ "IPv6 is not spoken", OFF6, { 0 }, 0, true, false, true },
		{ "IPv4 is known", "", { .v4 = LOOKUP_FOUND }, 0, false, true, true },
		{ "IPv6 is known", "", { .v6 = LOOKUP_FOUND }, 0, true, false, true },
		{ "IPv4 is known, IPv6 not spoken", OFF6, { .v4 = LOOKUP_FOUND }, 0, false, false, false },
		{ "both are asked for", "", { .v4 = LOOKUP_ASKED, .v6 = LOOKUP_ASKED }, 0, false, false, false },
		{ "neither is there", "", { .v4 = LOOKUP_NONE, .v6 = LOOKUP_NONE }, 0, false, false, false },
		{ "it has none at all", "", { .failed = true }, 0, false, false, false },
		{ "it has been tried", "", { .tried = true }, 0, true, true, false },
		{ "for a server, IPv4 is enough", "", { .v4 = LOOKUP_FOUND }, 1, false, true, false },
		{ "for a server, IPv6 is enough", "", { .v6 = LOOKUP_FOUND }, 1, true, false, false },
		{ "for a server, none is not", "", { .v6 = LOOKUP_NONE }, 1, true, false, true },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		begin(rows[i].conf);
		fixture.q->depth = rows[i].depth;
		if (ns_wants(&rows[i].n, fixture.q, false) != rows[i].v4)
			fail_msg("%s: IPv4", rows[i].why);
		if (ns_wants(&rows[i].n, fixture.q, true) != rows[i].v6)
			fail_msg("%s: IPv6", rows[i].why);
		if (ns_is_missing(&rows[i].n, fixture.q) != rows[i].missing)
			fail_msg("%s: missing", rows[i].why);
		add_name("a.example.");
		add_name("b.example.");
		add_name("c.example.")->tried = true;
		for (unsigned n = 0; n < 2; n++) {
			const uint8_t *name = d->names[n].name;

			d->names[n] = rows[i].n;
			d->names[n].name = name;
		}
		assert_int_equal(delegation_missing(d, fixture.q), 2 * rows[i].missing);
		fixture.q->depth = 0;
		fixture_end();
	}
}

/* A zone whose servers are named in the zone and come without addresses is a dead end. */
static void a_delegation_is_stuck_when_only_its_own_servers_could_help(void **state)
{
	static const struct {
		const char *why, *servers[2], *target, *name;
		uint16_t type;
		bool found, want;
	} rows[] = {
		{ "all in the zone", { "a.example.", "b.example." }, NULL, "www.example.", TYPE_A, false, true },
		{ "an address is known", { "a.example." }, "192.0.2.1", "www.example.", TYPE_A, false, false },
		{ "one elsewhere", { "a.example.", "b.other." }, NULL, "www.example.", TYPE_A, false, false },
		{ "first", { "b.other.", "a.example." }, NULL, "www.example.", TYPE_A, false, false },
		{ "but it has been looked up", { "b.other." }, NULL, "www.example.", TYPE_A, true, true },
		{ "its own IPv4 address is wanted", { "a.example.", "b.other." }, NULL, "A.example.", TYPE_A, false, true },
		{ "its own IPv6 address is", { "a.example.", "b.other." }, NULL, "a.example.", TYPE_AAAA, false, true },
		{ "something else of it is", { "a.example.", "b.other." }, NULL, "a.example.", TYPE_TXT, false, false },
		{ "that of one elsewhere is", { "b.other.", "c.other." }, NULL, "c.other.", TYPE_A, false, false },
		{ "nobody is named", { NULL }, NULL, "www.example.", TYPE_A, false, true },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		begin("");
		for (unsigned s = 0; s < 2 && rows[i].servers[s]; s++)
			add_name(rows[i].servers[s])->v4 = LOOKUP_NONE;
		if (rows[i].found)
			d->names[0].v6 = LOOKUP_FOUND;
		if (rows[i].target)
			add(rows[i].target);
		if (delegation_is_stuck(d, fixture.q, N(rows[i].name), rows[i].type) != rows[i].want)
			fail_msg("%s", rows[i].why);
		fixture_end();
	}
	begin("");
	add_name("b.other.")->v6 = LOOKUP_NONE; /* IPv4 is enough, too */
	assert_false(delegation_is_stuck(d, fixture.q, N("www.example."), TYPE_A));
	fixture_end();
}

static void the_only_server_is_asked_again_after_one_servfail(void **state)
{
	static const struct {
		const char *why;
		unsigned targets, tries;
		bool faltered, want;
	} rows[] = {
		{ "once", 1, 1, true, true },
		{ "not twice", 1, 2, true, false },
		{ "it has not been asked", 1, 0, true, false },
		{ "it has said something else", 1, 1, false, false },
		{ "there is another", 2, 1, true, false },
		{ "there is none", 0, 1, true, false },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		static const char *const texts[] = { "192.0.2.1", "192.0.2.2" };

		begin("");
		for (unsigned p = 0; p < rows[i].targets; p++) {
			add(texts[p]);
			d->targets[p].tries = (uint8_t)rows[i].tries;
			d->targets[p].faltered = rows[i].faltered;
			d->targets[p].spent = true;
		}
		if (delegation_has_faltered(d) != rows[i].want)
			fail_msg("%s", rows[i].why);
		if (rows[i].want)
			delegation_forgive(d);
		if (rows[i].targets) {
			assert_int_equal(d->targets[0].spent, !rows[i].want);
			assert_int_equal(d->targets[0].faltered, rows[i].faltered && !rows[i].want);
		}
		fixture_end();
	}
}

static void a_new_question_may_go_to_everybody(void **state)
{
	(void)state;
	begin("");
	add("192.0.2.1");
	add("192.0.2.2");
	for (unsigned i = 0; i < 2; i++)
		d->targets[i].tries = 3, d->targets[i].spent = d->targets[i].silent = true;
	delegation_refresh(d);
	for (unsigned i = 0; i < 2; i++) {
		assert_int_equal(d->targets[i].tries, 0);
		assert_false(d->targets[i].spent);
		assert_true(d->targets[i].silent);
	}
	fixture_end();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_name_is_listed_once),
		cmocka_unit_test(a_set_names_at_most_128_servers),
		cmocka_unit_test(a_name_known_already_stays_as_it_is),
		cmocka_unit_test(an_address_is_listed_once),
		cmocka_unit_test(who_gives_an_address_decides_how_good_it_is),
		cmocka_unit_test(at_most_128_addresses_are_kept),
		cmocka_unit_test(some_addresses_of_a_server_are_taken),
		cmocka_unit_test(an_address_is_reached_as_its_server_is),
		cmocka_unit_test(who_is_named_by_the_parent_only_is_second_choice),
		cmocka_unit_test(what_is_no_address_is_passed_over),
		cmocka_unit_test(what_is_passed_over_uses_up_room),
		cmocka_unit_test(a_configured_zone_is_asked_as_it_says),
		cmocka_unit_test(servers_are_those_that_are_written),
		cmocka_unit_test(a_delegation_ends_with_the_one_above),
		cmocka_unit_test(what_has_failed_is_remembered),
		cmocka_unit_test(an_address_is_looked_up_where_it_can_be_reached),
		cmocka_unit_test(a_delegation_is_stuck_when_only_its_own_servers_could_help),
		cmocka_unit_test(the_only_server_is_asked_again_after_one_servfail),
		cmocka_unit_test(a_new_question_may_go_to_everybody),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
