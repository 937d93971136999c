/* Claims about what is asked next, and whom; when another server is asked beside the first, and what it costs.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "iterator/choose.h"

#include <unistd.h>

#include "iterator/delegation.h"
#include "iterator/tests/fixture.h"
#include "services/access/ratelimit.h"
#include "services/authzone/zones.h"
#include "services/cache/subnet_index.h"
#include "services/forward/forward.h"
#include "services/mesh/private.h"
#include "services/query/budget.h"
#include "services/upstream/upstream.h"

enum { SENT_MOST = 16, SERVERS = 3, ZONE_RATES = 64 };

/* A wire on which nothing comes back. */
static struct {
	struct transport transport;
	struct addr to[SENT_MOST];
	struct transmission *out[SENT_MOST];
	unsigned count;
	uint8_t last[512]; /* of what was sent last */
	size_t last_len;
} wire;

static void wire_send(struct transport *t, struct transmission *s)
{
	(void)t;
	assert_true(wire.count < SENT_MOST);
	wire.out[wire.count] = s;
	wire.to[wire.count++] = s->to;
	assert_true(s->len <= sizeof(wire.last));
	memcpy(wire.last, s->wire, s->len);
	wire.last_len = s->len;
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
		{ "too many sends were wasted", "", 3, ORDINARY, 200, BUDGET_WASTED_KEPT, 1 },
		{ "one less was", "", 3, ORDINARY, 200, BUDGET_WASTED_KEPT + 1, 2 },
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
		if (choose(it) != ITER_WAIT || !iter_is_asking(it) || (it->asked && it->race) || wire.count != 1)
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
	for (unsigned i = 0; i < SERVERS; i++)
		assert_false(it->at->targets[i].spent);
	assert_true(iter_is_asking(it));
	end();
}

/* What is sent, as flags of its header and of its EDNS. */
enum { RD = FLAG_RD, CD = FLAG_CD, WITH_DO = 1 << 30, PLAIN = 1 << 29 };

static unsigned last_sent(void)
{
	const uint8_t *at = wire.last + MSG_HEAD_LEN;
	unsigned out = msg_flags(wire.last) & (RD | CD);

	at += dname_len(at) + 4;
	if (wire.last + wire.last_len - at < 11)
		return out | PLAIN;
	assert_int_equal(get_u16(at + 1), TYPE_OPT);
	return out | (get_u16(at + 7) & 0x8000 ? WITH_DO : 0);
}

static const uint8_t *always_trusted(const struct query *q, const uint8_t *name, uint16_t type)
{
	(void)q;
	(void)name;
	(void)type;
	return (const uint8_t *)"";
}

/* RD is for forwarders and recursors. CD is for who can validate the data himself, except of a forwarder that may yet find good
 * ones; and for a client that wants it, but not for what is looked up on its behalf. */
static void a_server_is_asked_as_what_it_is(void **state)
{
	(void)state;
	enum { FORWARD = 1, JUDGED = 2, SIGNED = 4, AVOIDS = 8, TRIED = 16, DEEP = 32, RECURSOR = 64, DS = 128, NO_EDNS = 256 };
	static const struct {
		const char *why, *conf;
		unsigned how, kind, want;
	} rows[] = {
		{ "a server", "", 0, 0, WITH_DO },
		{ "a forwarder", "", FORWARD, 0, RD | WITH_DO },
		{ "a recursor", "", RECURSOR, 0, RD | WITH_DO },
		{ "what is validated", "", JUDGED, 0, CD | WITH_DO },
		{ "what is validated, of a forwarder", "", FORWARD | JUDGED, 0, RD | WITH_DO },
		{ "what is validated, of a recursor", "", RECURSOR | JUDGED, 0, RD | WITH_DO },
		{ "a client's CD", "", FORWARD, QUERY_CD, RD | CD | WITH_DO },
		{ "a child's CD", "", FORWARD | DEEP, QUERY_CD, RD | WITH_DO },
		{ "a forwarder, after bad data", "", FORWARD | SIGNED | AVOIDS, 0, RD | CD | WITH_DO },
		{ "a forwarder, asked again", "", FORWARD | SIGNED | TRIED, 0, RD | CD | WITH_DO },
		{ "a forwarder, for the first time", "", FORWARD | SIGNED, 0, RD | WITH_DO },
		{ "after bad data that nobody validates", "", FORWARD | AVOIDS | TRIED, 0, RD | WITH_DO },
		{ "no signatures", "server:\ndisable-edns-do: yes", 0, 0, 0 },
		{ "no EDNS", "", NO_EDNS, 0, PLAIN },
		{ "no EDNS, for signatures that need not be", "", NO_EDNS | SIGNED, 0, PLAIN },
		{ "no EDNS, of a signed zone that nobody validates", "", NO_EDNS | DS, 0, PLAIN },
		{ "EDNS after all, for signatures that must be", "", NO_EDNS | SIGNED | DS, 0, WITH_DO },
		{ "but not where none are asked for", "server:\ndisable-edns-do: yes", NO_EDNS | SIGNED | DS, 0, PLAIN },
		{ "nor where they may be missing", "server:\ndisable-dnssec-lame-check: yes", NO_EDNS | SIGNED | DS, 0, PLAIN },
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		struct iter *it = &fixture.it;
		unsigned how = rows[i].how;
		struct addr elsewhere = address("192.0.2.77");
		unsigned got;

		begin(rows[i].conf, 1);
		fixture.env.trust_point = how & JUDGED ? always_trusted : NULL;
		fixture.q->kind = rows[i].kind;
		fixture.q->depth = how & DEEP ? 1 : 0;
		fixture.q->want_signatures = how & SIGNED;
		fixture.q->avoid = &elsewhere;
		fixture.q->avoid_count = how & AVOIDS ? 1 : 0;
		it->at->forward = how & FORWARD;
		it->at->expects_dnssec = how & DS;
		it->at->targets[0].tries = how & TRIED ? 1 : 0;
		if (how & RECURSOR)
			infra_set_lame(fixture.env.infra, &it->at->targets[0].addr, it->at->zone, LAME_RECURSIVE, fixture.env.time);
		if (how & NO_EDNS)
			infra_set_edns(fixture.env.infra, &it->at->targets[0].addr, it->at->zone, EDNS_FAILS, fixture.env.time);
		assert_int_equal(choose(it), ITER_WAIT);
		assert_int_equal(wire.count, 1);
		got = last_sent();
		if (got != rows[i].want || it->state != ITER_await || it->target != &it->at->targets[0])
			fail_msg("%s: %x", rows[i].why, got);
		end();
	}
}

/* A forwarder over TLS is asked over TLS, and has to prove who it is. */
static void a_private_server_is_asked_in_private(void **state)
{
	struct iter *it = &fixture.it;

	(void)state;
	begin("", 1);
	it->at->transport = TRANSPORT_TLS;
	it->at->targets[0].tls_name = "dns.example";
	it->at->targets[0].http_path = "/dns-query";
	assert_int_equal(choose(it), ITER_WAIT);
	assert_int_equal(wire.out[0]->transport, TRANSPORT_TLS);
	assert_string_equal(wire.out[0]->tls_name, "dns.example");
	assert_string_equal(wire.out[0]->http_path, "/dns-query");
	assert_ptr_equal(wire.out[0]->budget, fixture.q->budget);
	end();
}

/* What may be spent, each limit alone; what it says is what clients and the log are told. */
static void each_limit_is_told(void **state)
{
	(void)state;
	enum { CONFIG = 1, DETACHED = 2 };
	static const struct forward_zone configured;
	static const struct {
		unsigned sent, in_all;
		int wasted_sends, sends;
		unsigned depth, how;
		size_t memory;
		enum reason reason;
		const char *text; /* NULL: it is sent */
	} rows[] = {
		{ 0, 0, 32, 200, 0, 0, 0, REASON_none, NULL },
		{ 31, 0, 32, 200, 0, 0, 0, REASON_none, NULL },
		{ 32, 0, 32, 200, 0, 0, 0, REASON_budget_sends, "limit of 32 queries to one zone reached (max-sent-count)" },
		{ 0, ITER_SENDS - 1, 32, 200, 0, 0, 0, REASON_none, NULL },
		{ 0, ITER_SENDS, 32, 200, 0, 0, 0, REASON_budget_sends, "limit of 50 upstream queries for one name reached" },
		{ 0, 0, 1, 200, 0, 0, 0, REASON_none, NULL },
		{ 0, 0, 0, 200, 0, 0, 0, REASON_no_reachable, "too many name servers timed out or gave useless answers" },
		{ 0, 0, 0, 200, 0, CONFIG, 0, REASON_none, NULL },
		{ 0, 0, 0, 200, 0, DETACHED, 0, REASON_none, NULL },
		{ 0, 0, BUDGET_WASTED_KEPT + 1, 200, 1, 0, 0, REASON_none, NULL },
		{ 0, 0, BUDGET_WASTED_KEPT, 200, 1, 0, 0, REASON_no_reachable, "too many name servers timed out or gave useless answers" },
		{ 0, 0, 32, 1, 0, 0, 0, REASON_none, NULL },
		{ 0, 0, 32, 0, 0, 0, 0, REASON_budget_sends, "limit of 200 upstream queries for one query reached (max-global-quota)" },
		{ 0, 0, 32, 200, 0, 0, ITER_MEMORY, REASON_none, NULL },
		{ 0, 0, 32, 200, 0, 0, ITER_MEMORY + 1, REASON_budget_sends, "the responses so far need more than 512 kB of memory" },
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		struct iter *it = &fixture.it;
		size_t taken;

		begin("", 1);
		it->sent = rows[i].sent;
		it->sent_in_all = rows[i].in_all;
		fixture.q->budget->wasted_sends = rows[i].wasted_sends;
		fixture.q->budget->sends = rows[i].sends;
		fixture.q->depth = rows[i].depth;
		fixture.q->is_detached = rows[i].how & DETACHED;
		it->at->config = rows[i].how & CONFIG ? &configured : NULL;
		taken = it->arena->taken;
		if (rows[i].memory)
			it->arena->taken = rows[i].memory;
		assert_int_equal(choose(it), rows[i].text ? ITER_ON : ITER_WAIT);
		assert_int_equal(wire.count, !rows[i].text);
		assert_int_equal(it->state, rows[i].text ? ITER_fail : ITER_await);
		assert_int_equal(it->reason, rows[i].reason);
		if (rows[i].text)
			assert_string_equal(it->reason_text, rows[i].text);
		it->arena->taken = taken;
		end();
	}
}

/* 0x20, and who is excepted from it: a domain and what is below it. */
static void case_is_random_where_it_is_wanted(void **state)
{
	(void)state;
	static const struct {
		const char *conf;
		bool on, want;
	} rows[] = {
		{ "", false, false },
		{ "server:\nuse-caps-for-id: yes", false, true },
		{ "server:\nuse-caps-for-id: yes", true, false },
		{ "server:\nuse-caps-for-id: yes\ncaps-exempt: example.com", false, false },
		{ "server:\nuse-caps-for-id: yes\ncaps-exempt: www.example.com", false, false },
		{ "server:\nuse-caps-for-id: yes\ncaps-exempt: example.net", false, true },
		{ "server:\nuse-caps-for-id: yes\ncaps-exempt: a.www.example.com", false, true },
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		bool capped = false;

		begin(rows[i].conf, 2);
		fixture.it.caps.on = rows[i].on;
		assert_int_equal(choose(&fixture.it), ITER_WAIT);
		for (size_t n = MSG_HEAD_LEN; n < wire.last_len; n++)
			capped |= wire.last[n] >= 'A' && wire.last[n] <= 'Z';
		assert_int_equal(capped, rows[i].want);
		/* in the fallback every server is asked again and again */
		assert_int_equal(fixture.it.target->spent, false);
		end();
	}
}

/* outbound-msg-retry: so often is one asked the same. */
static void a_server_is_spent_after_its_tries(void **state)
{
	(void)state;
	for (unsigned caps = 0; caps < 2; caps++) {
		begin("server:\noutbound-msg-retry: 2", 1);
		fixture.it.caps.on = caps;
		for (unsigned i = 1; i <= 2; i++) {
			assert_int_equal(choose(&fixture.it), ITER_WAIT);
			assert_int_equal(fixture.it.target->tries, i);
			assert_int_equal(fixture.it.target->spent, i == 2 && !caps);
			iter_stop_asking(&fixture.it);
		}
		end();
	}
}

/* forward-strategy: race. */
static void the_racers_are_all_asked_and_all_counted(void **state)
{
	(void)state;
	static const struct {
		enum forward_strategy strategy;
		unsigned racers;
		bool caps;
		unsigned want;
	} rows[] = {
		{ STRATEGY_RACE, 3, false, 3 },
		{ STRATEGY_RACE, 2, false, 2 },
		{ STRATEGY_RACE, 100, false, RACERS_MOST },
		{ STRATEGY_RACE, 1, false, 1 },
		{ STRATEGY_ORDERED, 3, false, 1 },
		{ STRATEGY_FASTEST, 3, false, 1 },
		{ STRATEGY_RACE, 3, true, 1 },
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		struct forward_zone configured = { .strategy = rows[i].strategy, .racers = rows[i].racers };
		struct iter *it = &fixture.it;
		unsigned spent = 0;

		begin("server:\noutbound-msg-retry: 1", RACERS_MOST + 2);
		it->at->config = &configured;
		it->caps.on = rows[i].caps;
		assert_int_equal(choose(it), ITER_WAIT);
		assert_int_equal(wire.count, rows[i].want);
		assert_int_equal(servers_asked(), rows[i].want);
		assert_int_equal(it->sent, rows[i].want);
		assert_int_equal(it->sent_in_all, rows[i].want);
		assert_int_equal(fixture.q->budget->sends, 200 - (int)rows[i].want);
		for (unsigned n = 0; n < it->at->target_count; n++) {
			assert_true(it->at->targets[n].tries == it->at->targets[n].spent || it->caps.on);
			spent += it->at->targets[n].spent;
		}
		assert_int_equal(spent, rows[i].caps ? 0 : rows[i].want);
		assert_int_equal(it->race != NULL, rows[i].strategy == STRATEGY_RACE && !rows[i].caps);
		assert_int_equal(it->asked == NULL, it->race != NULL);
		end();
	}
}

/* What was sent as the n-th comes back with that code; in another case, if the name is to be mangled. */
static void answer(unsigned n, enum rcode rcode, bool mangled)
{
	uint8_t response[512];
	size_t len = wire.out[n]->len;

	memcpy(response, wire.out[n]->wire, len);
	put_u16(response + 2, (uint16_t)(FLAG_QR | FLAG_AA | rcode));
	for (size_t i = MSG_HEAD_LEN + 1; mangled && i < MSG_HEAD_LEN + 4; i++)
		response[i] ^= 0x20;
	assert_true(wire.out[n]->arrived(wire.out[n], response, len));
}

/* One that loses while others still run: a forwarder's turn is over; a server that was only silent may be asked again. What it
 * said to no avail is paid for. */
static void who_loses_is_remembered(void **state)
{
	(void)state;
	enum how { FAILS, REFUSES, MANGLES };
	static const struct {
		bool config;
		enum how how;
		enum upstream_end end;
		bool silent, spent;
		int wasted; /* at least */
	} rows[] = {
		{ true, FAILS, UPSTREAM_SILENT, true, true, 0 },         { true, FAILS, UPSTREAM_UNREACHABLE, false, true, 0 },
		{ false, FAILS, UPSTREAM_UNREACHABLE, false, true, 0 },  { true, REFUSES, UPSTREAM_ANSWERED, false, true, 0 },
		{ false, REFUSES, UPSTREAM_ANSWERED, false, true, 1 },   { false, MANGLES, UPSTREAM_MANGLED, false, true, 0 },
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		struct forward_zone configured = { .strategy = STRATEGY_RACE, .racers = 2 };
		struct iter *it = &fixture.it;
		struct target *lost;
		unsigned last;

		begin(rows[i].how == MANGLES ? "server:\nuse-caps-for-id: yes" : "", 2);
		it->at->config = rows[i].config ? &configured : NULL;
		assert_int_equal(choose(it), ITER_WAIT);
		for (unsigned ms = 0; servers_asked() < 2 && ms < 400; ms++)
			loop_play(fixture.loop, US_PER_MS);
		assert_int_equal(servers_asked(), 2);
		last = wire.count - 1;
		lost = &it->at->targets[wire.to[last].ip[3] - 1];
		assert_false(lost->silent || lost->spent);
		fixture.q->budget->wasted_sends = 32;
		if (rows[i].how == FAILS)
			wire.out[last]->failed(wire.out[last], rows[i].end);
		else
			answer(last, rows[i].how == REFUSES ? RCODE_REFUSED : RCODE_NOERROR, rows[i].how == MANGLES);
		assert_int_equal(lost->silent, rows[i].silent);
		assert_int_equal(lost->spent, rows[i].spent);
		assert_int_equal(fixture.q->budget->wasted_sends, 32 - rows[i].wasted);
		assert_true(iter_is_asking(it));
		assert_int_equal(fixture.woken_count, 0);
		end();
	}
}

/* Whoever answers first is the server from then on, and the query is told at once. */
static void an_answer_wakes_the_query(void **state)
{
	(void)state;
	static const struct {
		const char *conf;
		unsigned servers;
		bool second;
	} rows[] = { { "", 1, false }, { "", 2, false }, { "", 2, true } };

	for (size_t i = 0; i < COUNT(rows); i++) {
		struct iter *it = &fixture.it;
		unsigned n = 0;

		begin(rows[i].conf, rows[i].servers);
		assert_int_equal(choose(it), ITER_WAIT);
		if (rows[i].second) {
			loop_play(fixture.loop, 376 * US_PER_MS + US_PER_MS);
			n = wire.count - 1;
		}
		assert_int_equal(servers_asked(), rows[i].second ? 2 : 1);
		answer(n, RCODE_NOERROR, false);
		mesh_run(fixture.env.mesh);
		assert_int_equal(fixture.woken_count, 1);
		assert_int_equal(fixture.woken.kind, EVENT_REPLY);
		assert_int_equal(fixture.woken.reply->end, UPSTREAM_ANSWERED);
		assert_ptr_equal(it->target, &it->at->targets[wire.to[n].ip[3] - 1]);
		end();
	}
}

/* Nor a server beside a configured one that may be given up early. */
static void nobody_is_asked_beside_a_configured_server(void **state)
{
	static const struct forward_zone configured;
	struct iter *it = &fixture.it;
	struct target other = { .addr = address("2001:db8::1") };

	(void)state;
	begin("", 1);
	delegation_add_target(it->at, fixture.arena, &other);
	it->at->config = &configured;
	assert_int_equal(choose(it), ITER_WAIT);
	assert_null(it->race);
	loop_play(fixture.loop, 300 * US_PER_MS);
	assert_int_equal(wire.count, 1);
	end();
}

/* A server that is to be sent each client's subnet is not asked for all of them: clients ask separately. */
static void a_subnet_divides_the_clients(void **state)
{
	struct iter *it = &fixture.it;

	(void)state;
	begin("server:\nmodule-config: \"subnetcache iterator\"\nsend-client-subnet: 192.0.2.0/24", 1);
	fixture.env.subnet_index = subnet_index_new(1 << 20, 1);
	fixture.q->kind = QUERY_ROUTED;
	assert_int_equal(choose(it), ITER_UP);
	assert_int_equal(wire.count, 0);
	assert_int_equal(it->state, ITER_finish);
	assert_int_equal(fixture.q->ecs.need, ECS_REQUIRED);
	assert_int_equal(fixture.q->reply->rcode, RCODE_SERVFAIL);
	assert_int_equal(fixture.q->reply->flags, FLAG_QR);
	assert_int_equal(fixture.q->reply->reason, REASON_other);
	assert_true(question_equals(&fixture.q->reply->q, &fixture.q->question));
	fixture.q->kind = 0;
	fixture.q->reply = NULL;
	subnet_index_free(fixture.env.subnet_index);
	end();
}

/* A limit of queries per second to one zone: however its name is written; not to a forwarder; and its failure is not cached. */
static void a_zone_is_sent_so_many_a_second(void **state)
{
	(void)state;
	static const struct {
		const char *conf, *first, *second;
		bool forward;
		unsigned want;
	} rows[] = {
		{ "", "example.com.", "example.com.", false, 2 },
		{ "server:\nratelimit: 1\nratelimit-factor: 0", "example.com.", "example.com.", false, 1 },
		{ "server:\nratelimit: 1\nratelimit-factor: 0", "example.com.", "EXAMPLE.com.", false, 1 },
		{ "server:\nratelimit: 1\nratelimit-factor: 0", "example.com.", "www.example.com.", false, 2 },
		{ "server:\nratelimit: 1\nratelimit-factor: 0", "example.com.", "exomple.com.", false, 2 },
		{ "server:\nratelimit: 1\nratelimit-factor: 0", "example.com.", "example.com.", true, 2 },
		{ "server:\nratelimit: 1\nratelimit-factor: 1", "example.com.", "example.com.", false, 2 },
		{ "server:\nratelimit-for-domain: example.com 1\nratelimit-factor: 0", "example.com.", "example.com.", false, 1 },
		{ "server:\nratelimit-for-domain: example.net 1\nratelimit-factor: 0", "example.com.", "example.com.", false, 2 },
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		struct iter *it = &fixture.it;
		bool good;

		begin(rows[i].conf, 2);
		it->at->forward = rows[i].forward;
		it->at->zone = arena_copy(fixture.arena, N(rows[i].first), dname_len(N(rows[i].first)));
		assert_int_equal(choose(it), ITER_WAIT);
		iter_stop_asking(it);
		it->at->zone = arena_copy(fixture.arena, N(rows[i].second), dname_len(N(rows[i].second)));
		good = choose(it) == ITER_WAIT;
		if (wire.count != rows[i].want || good != (rows[i].want == 2))
			fail_msg("row %zu: %u", i, wire.count);
		assert_int_equal(atomic_load(&fixture.stats.ratelimited), !good);
		assert_int_equal(fixture.q->no_store, !good);
		assert_int_equal(it->state, good ? ITER_await : ITER_fail);
		assert_int_equal(it->reason, good ? REASON_none : REASON_budget_sends);
		if (!good)
			assert_string_equal(it->reason_text, "limit of 1 queries per second to one zone reached");
		end();
	}
}

/* How long one is waited for alone: its RTO; or, if unknown, a fourth more than most took to answer at first, but no less than
 * 40 ms, and no more than an unknown server has in all. */
static void a_known_server_is_given_its_time(void **state)
{
	(void)state;
	enum { DOWN_V6 = 1, TCP = 2, CAPS = 4, RECURSOR = 8, CHILD_SUBNET = 16 };
	static const struct {
		const char *why;
		uint32_t rtt_ms, first_ms; /* of the servers, of others that were unknown; 0: unknown */
		unsigned how;
		uint32_t want_ms; /* 0: nobody else is asked within 376 ms */
	} rows[] = {
		{ "unknown", 0, 0, 0, 376 },
		{ "unknown, where others were quick", 0, 16, 0, 40 },
		{ "over TCP", 0, 16, TCP, 0 },
		{ "in the fallback of 0x20", 0, 16, CAPS, 0 },
		{ "recursors", 0, 16, RECURSOR, 0 },
		{ "unknown, where others took longer (112 ms, as estimated)", 0, 100, 0, 140 },
		{ "known", 200, 16, 0, 250 },
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		struct iter *it = &fixture.it;
		unsigned ms = 0;

		begin("", 2);
		for (unsigned n = 0; rows[i].first_ms && n < 2000; n++) {
			struct infra_heard heard = { .rtt_ms = rows[i].first_ms };
			struct addr a = { .family = 4, .port = 53, .ip = { 10, 0, (uint8_t)(n / 256), (uint8_t)n } };

			infra_answered(fixture.env.infra, &a, it->at->zone, &heard, fixture.env.time);
		}
		for (unsigned n = 0; n < 2; n++) {
			if (rows[i].rtt_ms)
				infra_set_rtt(fixture.env.infra, &it->at->targets[n].addr, it->at->zone, rows[i].rtt_ms, fixture.env.time);
			if (rows[i].how & RECURSOR)
				infra_set_lame(fixture.env.infra, &it->at->targets[n].addr, it->at->zone, LAME_RECURSIVE, fixture.env.time);
		}
		it->at->transport = rows[i].how & TCP ? TRANSPORT_TCP : TRANSPORT_UDP;
		it->caps.on = rows[i].how & CAPS;
		assert_int_equal(choose(it), ITER_WAIT);
		for (; servers_asked() < 2 && ms < 400; ms++)
			loop_play(fixture.loop, US_PER_MS);
		if (rows[i].want_ms ? ms != rows[i].want_ms : ms < 400)
			fail_msg("%s: after %u ms", rows[i].why, ms);
		end();
	}
}

/* As long as there is another one, no server that gave bad data is asked, nor while another is looked up. */
static void bad_servers_come_after_unknown_ones(void **state)
{
	(void)state;
	enum { NO_DNSSEC = 1, RECURSOR = 2, AVOIDED = 4, PARENT = 8, NAMED = 16 };
	static const struct {
		unsigned how;
		bool asked, wants_others;
	} rows[] = {
		{ 0, true, false },         { NAMED, true, false },      { PARENT, true, false },          { PARENT | NAMED, true, false },
		{ NO_DNSSEC, true, true },  { NO_DNSSEC | NAMED, false, true }, { RECURSOR, true, true }, { RECURSOR | NAMED, false, true },
		{ AVOIDED, true, true },    { AVOIDED | NAMED, false, true },
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		struct iter *it = &fixture.it;
		unsigned how = rows[i].how;
		struct addr bad = address("192.0.2.1");

		begin("server:\ntarget-fetch-policy: \"0\"", 1);
		it->at->targets[0].no_dnssec = how & NO_DNSSEC;
		it->at->targets[0].parent_side = how & PARENT;
		if (how & RECURSOR)
			infra_set_lame(fixture.env.infra, &bad, it->at->zone, LAME_RECURSIVE, fixture.env.time);
		fixture.q->avoid = &bad;
		fixture.q->avoid_count = how & AVOIDED ? 1 : 0;
		if (how & NAMED)
			(void)delegation_add_name(it->at, fixture.arena, N("ns.example.net."));
		assert_int_equal(choose(it), ITER_WAIT);
		assert_int_equal(it->state, ITER_await);
		assert_int_equal(wire.count, rows[i].asked);
		assert_int_equal(mesh_children(fixture.q) > 0, !rows[i].asked);
		assert_int_equal(it->wants_others, rows[i].wants_others);
		end();
	}
}

/* Where nobody is left. */
static void the_end_of_the_servers(void **state)
{
	(void)state;
	enum { WAITING = 1, EMPTY = 2, FALTERED = 4, CONFIG = 8, CAPS = 16, CAPS_FIRST = 32, NAMED = 64 };
	static const struct forward_zone configured;
	static const struct {
		const char *conf;
		unsigned how, depth, kind;
		enum iter_step step;
		enum iter_state state;
		bool refused;
	} rows[] = {
		{ "", 0, 0, 0, ITER_ON, ITER_parent_fallback, false },
		{ "", WAITING, 0, 0, ITER_WAIT, ITER_await, false },
		{ "", NAMED, 0, 0, ITER_WAIT, ITER_await, false },
		{ "", EMPTY, 0, 0, ITER_ON, ITER_response, false },
		{ "", EMPTY | FALTERED, 0, 0, ITER_ON, ITER_response, false },
		{ "", CAPS, 0, 0, ITER_ON, ITER_response, false }, /* it suffices: there is no address at all */
		{ "", FALTERED, 0, 0, ITER_ON, ITER_choose, false },
		{ "", FALTERED, 1, 0, ITER_ON, ITER_parent_fallback, true },
		{ "", FALTERED, 1, QUERY_PRIME, ITER_ON, ITER_choose, false },
		{ "", FALTERED, 1, QUERY_NO_VALIDATE, ITER_ON, ITER_choose, false },
		{ "", FALTERED, 1, QUERY_CD, ITER_ON, ITER_parent_fallback, true },
		{ "", FALTERED | CONFIG, 1, 0, ITER_ON, ITER_choose, false },
		{ "server:\noutbound-msg-retry: 0", FALTERED, 0, 0, ITER_ON, ITER_parent_fallback, false },
		{ "server:\noutbound-msg-retry: 1", FALTERED, 0, 0, ITER_ON, ITER_choose, false },
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		struct iter *it = &fixture.it;
		struct message empty = { .rcode = 0 };
		unsigned how = rows[i].how;

		begin(rows[i].conf, how & FALTERED ? 1 : 0);
		if (how & FALTERED)
			it->at->targets[0] = (struct target){ .addr = it->at->targets[0].addr, .spent = true, .faltered = true, .tries = 1 };
		it->at->config = how & CONFIG ? &configured : NULL;
		it->empty = how & EMPTY ? &empty : NULL;
		it->caps.on = how & CAPS;
		it->state = ITER_choose;
		if (how & WAITING)
			assert_non_null(mesh_child(fixture.q, N("other.test."), TYPE_MX, CLASS_IN, 0));
		if (how & NAMED)
			(void)delegation_add_name(it->at, fixture.arena, N("ns.example.net."));
		fixture.q->depth = rows[i].depth;
		fixture.q->kind = rows[i].kind;
		if (choose(it) != rows[i].step || it->state != rows[i].state || fixture.q->lookup_refused != rows[i].refused)
			fail_msg("row %zu: state %d, %d", i, it->state, fixture.q->lookup_refused);
		assert_int_equal(wire.count, 0);
		if (how & FALTERED && rows[i].state == ITER_choose)
			assert_false(it->at->targets[0].spent);
		end();
	}
}

/* QNAME minimisation: of what exists nobody is asked; nor of what belongs to another configured zone. */
static void what_is_known_to_exist_is_not_asked_for(void **state)
{
	(void)state;
	enum { BAD = 1, OLD = 2, NO_CACHE = 4, SCOPE = 8, FAILED = 16 };
	static const struct {
		const char *why, *conf, *known;
		unsigned how;
		const char *want; /* what the servers of the root are asked for */
	} rows[] = {
		{ "nothing is known", "", NULL, 0, "com." },
		{ "a name", "", "com.", 0, "example.com." },
		{ "one that does not exist", "", "com.", BAD, "com." },
		{ "one that expired", "", "com.", OLD, "com." },
		{ "one that must not be taken from the cache", "", "com.", NO_CACHE, "com." },
		{ "one of others", "", "com.", SCOPE, "com." },
		{ "what is resolved elsewhere", "forward-zone:\nname: com\nforward-addr: 192.0.2.9\nforward-zone:\nname: example.com", NULL, 0,
		  "example.com." },
		{ "above a zone held here", "auth-zone:\nname: example.com\nprimary: 192.0.2.9", NULL, 0, "example.com." },
		{ "above a zone held here that has failed", "auth-zone:\nname: example.com\nprimary: 192.0.2.9", NULL, FAILED, "com." },
		{ "below another that is held here", "auth-zone:\nname: com\nprimary: 192.0.2.9\nauth-zone:\nname: example.com\n"
		  "primary: 192.0.2.9", NULL, FAILED, "com." },
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		struct iter *it = &fixture.it;

		begin(rows[i].conf, 1);
		it->at->zone = N(".");
		it->authzone_failed = rows[i].how & FAILED;
		fixture.q->kind = rows[i].how & NO_CACHE ? QUERY_NO_CACHE : 0;
		if (rows[i].known) {
			struct made made = { rows[i].known, TYPE_A, rows[i].how & BAD ? RCODE_NXDOMAIN : 0,
					     { NULL, ". 60 SOA a. b. 1 2 3 4 60" } };

			fixture_recalls(&made);
		}
		if (rows[i].how & OLD)
			loop_play(fixture.loop, 61 * US_PER_S);
		fixture.q->scope = rows[i].how & SCOPE ? 1 : 0;
		iter_hide_name(it);
		it->question_due = true;
		assert_int_equal(choose(it), ITER_WAIT);
		assert_false(it->question_due);
		iter_stop_asking(it);
		assert_int_equal(choose(it), ITER_WAIT); /* a question that stands is not decided anew */
		if (!dname_equals(it->shown.name, N(rows[i].want)) || !dname_equals(wire.last + MSG_HEAD_LEN, N(rows[i].want)))
			fail_msg("%s", rows[i].why);
		end();
	}
}

/* To another question all servers may be asked again, and what was said of the one before is forgotten; to the same one not. */
static void a_new_question_begins_anew(void **state)
{
	(void)state;
	for (unsigned same = 0; same < 3; same++) { /* another one, the same, the first */
		struct iter *it = &fixture.it;
		struct message empty = { .rcode = 0 };

		begin("", 2);
		it->question_due = true;
		it->empty = &empty;
		it->at->targets[0].spent = true;
		if (same == 0)
			it->shown = made_question("example.com.", TYPE_A);
		else if (same == 2)
			it->shown.name_len = 0;
		assert_int_equal(choose(it), ITER_WAIT);
		assert_int_equal(it->at->targets[0].spent, same != 0);
		assert_int_equal(it->empty == &empty, same != 0);
		end();
	}
}

static void write_zone(char *path, const char *text)
{
	FILE *file = fdopen(mkstemp(path), "w");

	assert_non_null(file);
	fputs(text, file);
	assert_int_equal(fclose(file), 0);
}

/* A zone held here answers in place of its servers, for any name in it; what it said was bogus is asked of its servers, if the
 * operator allows that. */
static void a_zone_held_here_is_not_asked_for(void **state)
{
	(void)state;
	enum { HELD = 1, CONFIG = 2, CAPS = 4, FAILED = 8, BOGUS = 16, OTHER_ZONE = 32, NO_FILE = 64, AVOIDS = 128 };
	static const struct forward_zone configured;
	static const struct {
		const char *why, *options;
		unsigned how;
		enum iter_state state; /* await: it is asked for */
		bool failed;
	} rows[] = {
		{ "for upstream", "", 0, ITER_response, false },
		{ "for clients only", "for-upstream: no\n", 0, ITER_await, false },
		{ "another zone", "", OTHER_ZONE, ITER_await, false },
		{ "servers that the operator names", "", CONFIG, ITER_await, false },
		{ "in the fallback of 0x20", "", CAPS, ITER_await, false },
		{ "once it could not answer", "", FAILED, ITER_await, true },
		{ "for clients only, beside one for upstream", "for-upstream: no\nauth-zone:\nname: other.test\nprimary: 192.0.2.9\n", 0,
		  ITER_await, false },
		{ "bogus", "", BOGUS, ITER_response, false },
		{ "bogus, with fallback", "fallback-enabled: yes\n", BOGUS, ITER_await, true },
		{ "bogus, with fallback, where nobody else is known", "fallback-enabled: yes\n", BOGUS | HELD, ITER_find_zone, true },
		{ "a server that was bogus", "fallback-enabled: yes\n", AVOIDS, ITER_response, false },
		{ "not loaded", "", NO_FILE, ITER_fail, true },
		{ "not loaded, with fallback", "fallback-enabled: yes\n", NO_FILE, ITER_await, true },
		{ "not loaded, with fallback, where nobody else is known", "fallback-enabled: yes\n", NO_FILE | HELD, ITER_find_zone, true },
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		char path[] = "/tmp/choose-zone-XXXXXX", conf[300];
		struct addr avoided = { .family = rows[i].how & BOGUS ? FAMILY_AUTHZONE : 4 };
		struct iter *it = &fixture.it;
		unsigned how = rows[i].how;
		bool here = rows[i].state == ITER_response;

		write_zone(path, how & NO_FILE ? "" : "$TTL 60\n@ SOA a. b. 1 2 3 4 5\n@ NS ns\nns A 192.0.2.1\nwww A 192.0.2.80\n");
		snprintf(conf, sizeof(conf), "auth-zone:\nname: %s\nzonefile: \"%s\"\n%s", how & OTHER_ZONE ? "www.example.com" : "example.com",
			 path, rows[i].options);
		begin(conf, 1);
		assert_int_equal(unlink(path), 0);
		it->at->authzone = how & HELD;
		it->at->config = how & CONFIG ? &configured : NULL;
		it->caps.on = how & CAPS;
		it->authzone_failed = how & FAILED;
		fixture.q->avoid = &avoided;
		fixture.q->avoid_count = how & (BOGUS | AVOIDS) ? 1 : 0;
		assert_int_equal(choose(it), rows[i].state == ITER_await ? ITER_WAIT : ITER_ON);
		if (it->state != rows[i].state || it->authzone_failed != rows[i].failed || wire.count != (rows[i].state == ITER_await))
			fail_msg("%s: state %d", rows[i].why, it->state);
		assert_int_equal(atomic_load(&fixture.stats.authzone_up), here);
		assert_int_equal(it->sent, (rows[i].state == ITER_await) + (here || (rows[i].failed && !(how & FAILED))));
		if (here) {
			assert_int_equal(it->target->addr.family, FAMILY_AUTHZONE);
			assert_int_equal(it->reply->message->count[SECTION_ANSWER], 1);
			assert_int_equal(it->reply->message->sets[0]->expires_s, fixture.now_s + 60);
		}
		if (it->state == ITER_fail) {
			assert_int_equal(it->reason, REASON_not_ready);
			assert_string_equal(it->reason_text, "the local copy of the zone is not loaded");
		}
		end();
	}
}

/* The fallback of 0x20: every address is looked up, until enough have agreed. */
static void enough_that_agree_are_the_answer(void **state)
{
	(void)state;
	static const struct {
		unsigned agreed;
		bool waiting;
		enum iter_step step;
		enum iter_state state;
	} rows[] = {
		{ 0, false, ITER_WAIT, ITER_await },
		{ 5, false, ITER_WAIT, ITER_await },
		{ 6, false, ITER_ON, ITER_response },
		{ 6, true, ITER_ON, ITER_await },
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		struct iter *it = &fixture.it;

		begin("", 2);
		it->caps.on = true;
		it->caps.agreed = rows[i].agreed;
		if (rows[i].waiting)
			(void)delegation_add_name(it->at, fixture.arena, N("ns.example.net."));
		if (choose(it) != rows[i].step || it->state != rows[i].state)
			fail_msg("row %zu: state %d", i, it->state);
		assert_int_equal(mesh_children(fixture.q) > 0, rows[i].waiting);
		assert_int_equal(wire.count, rows[i].step == ITER_WAIT);
		end();
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(another_is_asked_within_every_limit),
		cmocka_unit_test(each_silent_server_is_charged),
		cmocka_unit_test(a_server_is_asked_as_what_it_is),
		cmocka_unit_test(a_private_server_is_asked_in_private),
		cmocka_unit_test(each_limit_is_told),
		cmocka_unit_test(case_is_random_where_it_is_wanted),
		cmocka_unit_test(a_server_is_spent_after_its_tries),
		cmocka_unit_test(the_racers_are_all_asked_and_all_counted),
		cmocka_unit_test(who_loses_is_remembered),
		cmocka_unit_test(an_answer_wakes_the_query),
		cmocka_unit_test(nobody_is_asked_beside_a_configured_server),
		cmocka_unit_test(a_subnet_divides_the_clients),
		cmocka_unit_test(a_zone_is_sent_so_many_a_second),
		cmocka_unit_test(a_known_server_is_given_its_time),
		cmocka_unit_test(bad_servers_come_after_unknown_ones),
		cmocka_unit_test(the_end_of_the_servers),
		cmocka_unit_test(what_is_known_to_exist_is_not_asked_for),
		cmocka_unit_test(a_new_question_begins_anew),
		cmocka_unit_test(a_zone_held_here_is_not_asked_for),
		cmocka_unit_test(enough_that_agree_are_the_answer),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
