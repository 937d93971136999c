/* Claims about when another server is asked beside the first, and what it costs.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "iterator/choose.h"

#include "iterator/delegation.h"
#include "iterator/tests/fixture.h"
#include "services/access/ratelimit.h"
#include "services/forward/forward.h"
#include "services/query/budget.h"
#include "services/upstream/upstream.h"

enum { SENT_MOST = 16, SERVERS = 3, ZONE_RATES = 64 };

/* A wire on which nothing comes back. */
static struct {
	struct transport transport;
	struct addr to[SENT_MOST];
	uint16_t flags; /* of the last query, and its name */
	uint8_t name[32];
	unsigned count;
} wire;

static void wire_send(struct transport *t, struct transmission *s)
{
	(void)t;
	assert_true(wire.count < SENT_MOST);
	wire.to[wire.count++] = s->to;
	wire.flags = get_u16(s->wire + 2);
	memcpy(wire.name, s->wire + MSG_HEAD_LEN, MIN(s->len - MSG_HEAD_LEN, sizeof(wire.name)));
}

static void wire_cancel(struct transport *t, struct transmission *s)
{
	(void)t;
	(void)s;
}

static const struct transport_ops silence = { "silence", false, wire_send, wire_cancel, NULL, NULL, NULL };

static unsigned servers_asked(void)
{
	unsigned seen = 0;

	for (unsigned i = 0; i < wire.count; i++)
		seen |= 1u << wire.to[i].ip[3];
	return (unsigned)__builtin_popcount(seen);
}

/* A query for www.example.com at `servers` servers of example.com, which choose() asks. */
static void begin(const char *conf, unsigned servers)
{
	struct iter *it = &fixture.it;

	fixture_begin(conf, "www.example.com.", TYPE_A, 0);
	loop_time(fixture.loop)->steady = true;
	wire.count = 0;
	wire.transport = (struct transport){ &silence, &fixture.env };
	fixture.env.upstream = upstream_new(&fixture.env, &wire.transport, &wire.transport);
	fixture.env.zone_rates = ratelimit_new(ZONE_RATES, 1);
	it->at = delegation_new(fixture.arena, N("example.com."));
	for (unsigned i = 1; i <= servers; i++) {
		struct target t = { .addr = { .family = 4, .port = 53, .ip = { 192, 0, 2, (uint8_t)i } } };

		delegation_add_target(it->at, fixture.arena, &t);
	}
}

static void end(void)
{
	iter_let_go(&fixture.it);
	upstream_free(fixture.env.upstream);
	ratelimit_free(fixture.env.zone_rates);
	fixture_end();
}

enum where { ORDINARY, CONFIGURED };

/* Nothing is known of the servers: the first is given 376 ms. */
static void another_is_asked_within_every_limit(void **state)
{
	(void)state;
	static const struct {
		const char *why, *conf;
		unsigned servers;
		enum where where;
		int sends, wasted_sends; /* left */
		unsigned asked;
	} rows[] = {
		{ "there is another", "", 3, ORDINARY, 200, 32, 2 },
		{ "there is none", "", 1, ORDINARY, 200, 32, 1 },
		{ "the operator says whom to ask", "", 3, CONFIGURED, 200, 32, 1 },
		{ "some servers are sent a client subnet", "server:\nmodule-config: \"subnetcache iterator\"\nsend-client-subnet: 192.0.2.9", 3,
		  ORDINARY, 200, 32, 1 },
		{ "one packet is left", "", 3, ORDINARY, 1, 32, 1 },
		{ "two packets are left", "", 3, ORDINARY, 2, 32, 2 },
		{ "too many packets were in vain", "", 3, ORDINARY, 200, BUDGET_VAIN_KEPT, 1 },
		{ "one less was", "", 3, ORDINARY, 200, BUDGET_VAIN_KEPT + 1, 2 },
		{ "the zone is sent one query", "server:\nmax-sent-count: 1", 3, ORDINARY, 200, 32, 1 },
		{ "the zone is sent two queries", "server:\nmax-sent-count: 2", 3, ORDINARY, 200, 32, 2 },
		{ "the zone takes one a second", "server:\nratelimit: 1\nratelimit-factor: 0", 3, ORDINARY, 200, 32, 1 },
		{ "the zone takes two a second", "server:\nratelimit: 2\nratelimit-factor: 0", 3, ORDINARY, 200, 32, 2 },
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		static const struct forward_zone configured;
		struct iter *it = &fixture.it;
		struct budget *b;

		begin(rows[i].conf, rows[i].servers);
		b = fixture.q->budget;
		b->sends = rows[i].sends;
		b->wasted_sends = rows[i].wasted_sends;
		if (rows[i].where == CONFIGURED)
			it->at->config = &configured;
		if (choose(it) != ITER_WAIT || !iter_is_asking(it) || wire.count != 1)
			fail_msg("%s: %u asked at first", rows[i].why, wire.count);
		loop_play(fixture.loop, 380 * US_PER_MS);
		if (servers_asked() != rows[i].asked || it->sent != rows[i].asked || it->sent_in_all != rows[i].asked ||
		    b->sends != rows[i].sends - (int)rows[i].asked)
			fail_msg("%s: %u asked, %u counted, %d left", rows[i].why, servers_asked(), it->sent, b->sends);
		end();
	}
}

/* Also the one that is not the last to be silent. */
static void each_silent_server_is_charged(void **state)
{
	struct iter *it = &fixture.it;

	(void)state;
	begin("", SERVERS);
	(void)choose(it);
	for (unsigned ms = 0; ms < 2000 && !it->at->targets[0].silent && !it->at->targets[1].silent &&
			      !it->at->targets[2].silent;
	     ms++)
		loop_play(fixture.loop, US_PER_MS);
	assert_int_equal(servers_asked(), 2);
	assert_int_equal(fixture.q->budget->wasted_sends, 32 - 1);
	assert_true(iter_is_asking(it));
	end();
}

/* What ends a resolution before a server is asked, and what is just left. */
static void nothing_is_sent_beyond_a_limit(void **state)
{
	(void)state;
	enum { DETACHED = 1, IN_CONFIG = 2 };
	static const struct forward_zone configured;
	static const struct {
		const char *why;
		unsigned sent, in_all, depth, how;
		int wasted, sends;
		size_t memory;
		enum reason want;
	} rows[] = {
		{ "nothing", 0, 0, 0, 0, 32, 200, 0, REASON_none },
		{ "the last to this zone", 31, 0, 0, 0, 32, 200, 0, REASON_none },
		{ "one more", 32, 0, 0, 0, 32, 200, 0, REASON_budget_sends },
		{ "the last for this name", 0, ITER_SENDS - 1, 0, 0, 32, 200, 0, REASON_none },
		{ "one more", 0, ITER_SENDS, 0, 0, 32, 200, 0, REASON_budget_sends },
		{ "the last in vain", 0, 0, 0, 0, 1, 200, 0, REASON_none },
		{ "one more", 0, 0, 0, 0, 0, 200, 0, REASON_no_reachable },
		{ "one more, at a server of the operator's", 0, 0, 0, IN_CONFIG, 0, 200, 0, REASON_none },
		{ "one more, for nobody who waits", 0, 0, 0, DETACHED, 0, 200, 0, REASON_none },
		{ "the last in vain of a query for servers", 0, 0, 1, 0, BUDGET_VAIN_KEPT + 1, 200, 0, REASON_none },
		{ "one more of that", 0, 0, 1, 0, BUDGET_VAIN_KEPT, 200, 0, REASON_no_reachable },
		{ "one more of that, at a server of the operator's", 0, 0, 1, IN_CONFIG, BUDGET_VAIN_KEPT, 200, 0, REASON_none },
		{ "the last packet of all", 0, 0, 0, 0, 32, 1, 0, REASON_none },
		{ "one more", 0, 0, 0, 0, 32, 0, 0, REASON_budget_sends },
		{ "as much memory as there may be", 0, 0, 0, 0, 32, 200, ITER_MEMORY, REASON_none },
		{ "one byte more", 0, 0, 0, 0, 32, 200, ITER_MEMORY + 1, REASON_budget_sends },
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		struct iter *it = &fixture.it;
		size_t taken;

		begin("server:\nmax-sent-count: 32", 1);
		taken = it->arena->taken;
		it->sent = rows[i].sent;
		it->sent_in_all = rows[i].in_all;
		it->at->config = rows[i].how & IN_CONFIG ? &configured : NULL;
		fixture.q->is_detached = rows[i].how & DETACHED;
		fixture.q->depth = (uint8_t)rows[i].depth;
		fixture.q->budget->wasted_sends = rows[i].wasted;
		fixture.q->budget->sends = rows[i].sends;
		if (rows[i].memory)
			it->arena->taken = rows[i].memory;
		(void)choose(it);
		it->arena->taken = taken;
		if (wire.count != (rows[i].want == REASON_none) || it->reason != rows[i].want ||
		    (it->state == ITER_fail) != (rows[i].want != REASON_none))
			fail_msg("%s: %u sent, %s", rows[i].why, wire.count, reason_text(it->reason));
		fixture.q->is_detached = false;
		end();
	}
}

/* However the zone's name is written; not of forwarders. What fails for this is kept for nobody. */
static void a_zones_rate_is_counted_by_its_name(void **state)
{
	(void)state;
	static const struct {
		const char *second;
		bool forward, admitted;
	} rows[] = { { "example.com.", false, false }, { "eXaMPLE.com.", false, false }, { "example.org.", false, true },
		     { "example.com.", true, true } };

	for (size_t i = 0; i < COUNT(rows); i++) {
		struct iter *it = &fixture.it;
		struct target t = { .addr = { .family = 4, .port = 53, .ip = { 192, 0, 2, 9 } } };

		begin("server:\nratelimit: 1\nratelimit-factor: 0", 1);
		(void)choose(it);
		assert_int_equal(wire.count, 1);
		iter_let_go(it);
		it->at = delegation_new(fixture.arena, N(rows[i].second));
		delegation_add_target(it->at, fixture.arena, &t);
		it->at->forward = rows[i].forward;
		(void)choose(it);
		assert_int_equal(wire.count, 1 + rows[i].admitted);
		assert_int_equal(it->state == ITER_fail, !rows[i].admitted);
		assert_int_equal(fixture.q->no_store, !rows[i].admitted);
		assert_int_equal(atomic_load(&fixture.stats.ratelimited), !rows[i].admitted);
		if (!rows[i].admitted)
			assert_int_equal(it->reason, REASON_budget_sends);
		end();
	}
}

/* On the way to a name nothing is asked for that is known to exist; from the cache, unless that may not be used. */
static void what_is_known_to_exist_is_not_asked_for(void **state)
{
	(void)state;
	static const struct {
		const char *why;
		unsigned kind;
		const char *known;
		uint8_t rcode;
		bool later;
		const char *shown;
	} rows[] = {
		{ "nothing", 0, NULL, 0, false, "b.example.com." },
		{ "the next name", 0, "b.example.com.", RCODE_NOERROR, false, "a.b.example.com." },
		{ "the next name, and the cache is not used", QUERY_NO_CACHE, "b.example.com.", RCODE_NOERROR, false, "b.example.com." },
		{ "that there is no such name", 0, "b.example.com.", RCODE_NXDOMAIN, false, "b.example.com." },
		{ "what was the next name", 0, "b.example.com.", RCODE_NOERROR, true, "b.example.com." },
		{ "another name", 0, "c.example.com.", RCODE_NOERROR, false, "b.example.com." },
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		struct iter *it = &fixture.it;
		char text[DNAME_TEXT], answer[60], soa[] = "example.com. 60 SOA a. b. 1 2 3 4 60";

		begin("", 1);
		fixture.q->kind = rows[i].kind;
		it->want = made_question("a.b.example.com.", TYPE_MX);
		it->want.name = arena_copy(fixture.arena, it->want.name, it->want.name_len);
		qmin_begin(&it->qmin, true, false);
		it->question_due = true;
		if (rows[i].known) {
			snprintf(answer, sizeof(answer), "%s 60 A 192.0.2.1", rows[i].known);
			fixture_recalls(&(struct made){ .name = rows[i].known, .type = TYPE_A, .rcode = rows[i].rcode,
							.section = { rows[i].rcode ? NULL : answer, rows[i].rcode ? soa : NULL } });
		}
		if (rows[i].later)
			timebase_play((struct timebase *)(uintptr_t)fixture.env.time, fixture.env.time->now_us + 61 * US_PER_S);
		(void)choose(it);
		if (strcmp(dname_print(it->shown.name, text), rows[i].shown) != 0)
			fail_msg("%s: %s", rows[i].why, text);
		fixture.q->kind = 0;
		end();
	}
}

/* The only server has said SERVFAIL once: what a client waits for it is asked for again (RFC 9520 3.1), the addresses of
 * another server are not. */
static void the_only_server_may_falter_once(void **state)
{
	(void)state;
	static const struct forward_zone configured;
	static const struct {
		const char *why, *conf;
		unsigned depth, kind, tries;
		bool config, again;
	} rows[] = {
		{ "for a client", "", 0, 0, 1, false, true },
		{ "for servers", "", 1, 0, 1, false, false },
		{ "for servers, at one of the operator's", "", 1, 0, 1, true, true },
		{ "for the root's servers", "", 1, QUERY_PRIME, 1, false, true },
		{ "for a chain of trust", "", 1, QUERY_NO_VALIDATE, 1, false, true },
		{ "for a client, the second time", "", 0, 0, 2, false, false },
		{ "for a client, where nothing is tried again", "server:\noutbound-msg-retry: 0", 0, 0, 1, false, false },
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		struct iter *it = &fixture.it;
		enum iter_step step;

		begin(rows[i].conf, 1);
		it->at->config = rows[i].config ? &configured : NULL;
		it->at->targets[0].spent = it->at->targets[0].faltered = true;
		it->at->targets[0].tries = (uint8_t)rows[i].tries;
		fixture.q->depth = (uint8_t)rows[i].depth;
		fixture.q->kind = rows[i].kind;
		step = choose(it);
		assert_int_equal(step, ITER_ON);
		if (it->state != (rows[i].again ? ITER_choose : ITER_parent_fallback) ||
		    fixture.q->lookup_refused != (!rows[i].again && rows[i].depth == 1))
			fail_msg("%s: state %d", rows[i].why, it->state);
		assert_int_equal(it->at->targets[0].spent, !rows[i].again);
		fixture.q->kind = 0;
		end();
	}
}

static const uint8_t *nowhere(const struct query *q, const uint8_t *name, uint16_t type)
{
	(void)q;
	(void)name;
	(void)type;
	return NULL;
}

/* A forwarder is asked to recurse; it validates unless the client will not have it, or what it believed was false here. A
 * zone's own server is told not to, where validation is done here. */
static void a_query_says_who_does_what(void **state)
{
	(void)state;
	static const struct {
		const char *why;
		bool forward, validates;
		unsigned kind, depth;
		bool wants_signatures;
		unsigned avoided, tries;
		uint16_t flags;
	} rows[] = {
		{ "a zone's own", false, false, 0, 0, false, 0, 0, 0 },
		{ "a zone's own, validating", false, true, 0, 0, true, 0, 0, FLAG_CD },
		{ "a forwarder", true, false, 0, 0, false, 0, 0, FLAG_RD },
		{ "a forwarder, validating", true, true, 0, 0, true, 0, 0, FLAG_RD },
		{ "a forwarder, for a client with CD", true, true, QUERY_CD, 0, true, 0, 0, FLAG_RD | FLAG_CD },
		{ "a forwarder, for servers", true, true, QUERY_CD, 1, false, 0, 0, FLAG_RD },
		{ "a forwarder, after bogus data", true, true, 0, 0, true, 1, 0, FLAG_RD | FLAG_CD },
		{ "a forwarder, the second time", true, true, 0, 0, true, 0, 1, FLAG_RD | FLAG_CD },
		{ "a forwarder, the second time, not validating", true, true, 0, 0, false, 1, 1, FLAG_RD },
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		static struct addr other = { .family = 4, .ip = { 192, 0, 2, 77 }, .port = 53 };
		struct iter *it = &fixture.it;

		begin("", 1);
		it->at->forward = rows[i].forward;
		it->at->targets[0].tries = (uint8_t)rows[i].tries;
		fixture.env.trust_point = rows[i].validates ? nowhere : NULL;
		fixture.q->kind = rows[i].kind;
		fixture.q->depth = (uint8_t)rows[i].depth;
		fixture.q->want_signatures = rows[i].wants_signatures;
		fixture.q->avoid = &other;
		fixture.q->avoid_count = rows[i].avoided;
		(void)choose(it);
		if (wire.count != 1 || (wire.flags & (FLAG_RD | FLAG_CD)) != rows[i].flags)
			fail_msg("%s: %04x", rows[i].why, wire.flags);
		fixture.q->kind = 0;
		end();
	}
}

/* 0x20 (use-caps-for-id), but for names below those of caps-exempt. */
static void names_are_spelled_at_random_but_for_those_exempt(void **state)
{
	(void)state;
	static const struct {
		const char *conf;
		bool spelled;
	} rows[] = {
		{ "", false },
		{ "server:\nuse-caps-for-id: yes", true },
		{ "server:\nuse-caps-for-id: yes\ncaps-exempt: example.com", false },
		{ "server:\nuse-caps-for-id: yes\ncaps-exempt: example.org", true },
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		begin(rows[i].conf, 1);
		(void)choose(&fixture.it);
		assert_int_equal(wire.count, 1);
		assert_true(dname_equals(wire.name, fixture.q->question.name));
		assert_int_equal(memcmp(wire.name, fixture.q->question.name, fixture.q->question.name_len) != 0, rows[i].spelled);
		end();
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(another_is_asked_within_every_limit),
		cmocka_unit_test(each_silent_server_is_charged),
		cmocka_unit_test(nothing_is_sent_beyond_a_limit),
		cmocka_unit_test(a_zones_rate_is_counted_by_its_name),
		cmocka_unit_test(what_is_known_to_exist_is_not_asked_for),
		cmocka_unit_test(the_only_server_may_falter_once),
		cmocka_unit_test(a_query_says_who_does_what),
		cmocka_unit_test(names_are_spelled_at_random_but_for_those_exempt),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
