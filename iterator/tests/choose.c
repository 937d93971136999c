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
	unsigned count;
} wire;

static void wire_send(struct transport *t, struct transmission *s)
{
	(void)t;
	assert_true(wire.count < SENT_MOST);
	wire.to[wire.count++] = s->to;
}

static void wire_cancel(struct transport *t, struct transmission *s)
{
	(void)t;
	(void)s;
}

static const struct transport_ops silence = { .name = "silence", .send = wire_send, .cancel = wire_cancel };

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

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(another_is_asked_within_every_limit),
		cmocka_unit_test(each_silent_server_is_charged),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
