/* Claims about asking several servers: at once, or another one when the first takes long.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "iterator/race.h"

#include "iterator/delegation.h"
#include "services/upstream/tests/fixture.h"

enum { HEDGE_MS = 100, WAIT_MS = 400 };

static struct {
	struct delegation *at;
	unsigned wanted, ends, losers; /* bits: of those that were told to be lost */
	const struct target *winner;
	enum upstream_end end, lost;
	bool has_another;
} it;

static struct target *another(void *owner)
{
	(void)owner;
	it.wanted++;
	return it.has_another ? &it.at->targets[1] : NULL;
}

static void on_end(void *owner, struct target *target, const struct upstream_reply *reply)
{
	(void)owner;
	it.ends++;
	it.winner = target;
	it.end = reply->end;
}

static void on_lost(void *owner, struct target *target, const struct upstream_reply *reply)
{
	(void)owner;
	it.losers |= 1u << (target - it.at->targets);
	it.lost = reply->end;
}

static struct race *begin(bool hedges, bool has_another)
{
	struct race_how how = { .upstream = world.upstream, .arena = &world.arena, .question = question(), .count = hedges ? 1 : 2,
				.hedge_ms = hedges ? HEDGE_MS : 0, .wait_ms = hedges ? WAIT_MS : 0, .another = another,
				.loop = world.loop, .done = on_end, .lost = on_lost };

	memset(&it, 0, sizeof it);
	it.has_another = has_another;
	it.at = delegation_new(&world.arena, zone);
	for (unsigned i = 0; i < 2; i++) {
		struct target t = { .addr = { .family = 4, .port = 53, .ip = { 192, 0, 2, (uint8_t)(i + 1) } },
				    .tls_name = i ? "second.example" : NULL, .http_path = i ? "/second" : NULL };

		delegation_add_target(it.at, &world.arena, &t);
	}
	for (unsigned i = 0; i < 2; i++)
		how.targets[i] = &it.at->targets[i];
	how.question.once = hedges;
	return race_start(&how);
}

/* The response of the n-th that was asked, 0 being the first. */
static void answer_of(unsigned n, uint16_t flags)
{
	struct fake asked = world.udp;
	struct bytes b;

	asked.count = n + 1;
	b = echo_of(&asked, FLAG_AA | flags, !flags, true, 0);
	assert_true(deliver(&asked, &b));
}

static void another_is_asked_when_the_first_takes_long(void **state)
{
	(void)state;
	static const struct {
		const char *why;
		unsigned answers_ms[2];   /* each, since it was asked; 0: never */
		uint16_t flags[2];
		bool has_another;
		unsigned asked;
		int winner;
		enum upstream_end end;
		unsigned losers;
		enum upstream_end lost;
	} rows[] = {
		{ "it is fast", { 90, 0 }, { 0 }, true, 1, 0, UPSTREAM_ANSWERED, 0, 0 },
		{ "the other is faster", { 0, 50 }, { 0 }, true, 2, 1, UPSTREAM_ANSWERED, 0, 0 },
		{ "it is late, and still the faster", { 200, 150 }, { 0 }, true, 2, 0, UPSTREAM_ANSWERED, 0, 0 },
		{ "nobody else is there", { 350, 0 }, { 0 }, false, 1, 0, UPSTREAM_ANSWERED, 0, 0 },
		{ "both are silent", { 0, 0 }, { 0 }, true, 2, 1, UPSTREAM_SILENT, 1, UPSTREAM_SILENT },
		{ "the other is of no use", { 350, 50 }, { 0, RCODE_REFUSED }, true, 2, 0, UPSTREAM_ANSWERED, 2, UPSTREAM_ANSWERED },
		{ "the other knows that there is no such name", { 0, 50 }, { 0, RCODE_NXDOMAIN }, true, 2, 1, UPSTREAM_ANSWERED, 0, 0 },
		{ "neither is", { 350, 50 }, { RCODE_REFUSED, RCODE_REFUSED }, true, 2, 0, UPSTREAM_ANSWERED, 2, UPSTREAM_ANSWERED },
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		world_begin("");
		assert_non_null(begin(true, rows[i].has_another));
		for (unsigned ms = 1; ms <= 1000 && !it.ends; ms++) {
			loop_play(world.loop, US_PER_MS);
			for (unsigned n = 0; n < 2 && !it.ends; n++)
				if (rows[i].answers_ms[n] && ms == rows[i].answers_ms[n] + n * HEDGE_MS)
					answer_of(n, rows[i].flags[n]);
		}
		if (it.ends != 1 || it.winner != &it.at->targets[rows[i].winner] || it.end != rows[i].end ||
		    world.udp.count != rows[i].asked || world.udp.cancelled > rows[i].asked)
			fail_msg("%s: ends %u, asked %u", rows[i].why, it.ends, world.udp.count);
		if (it.losers != rows[i].losers || it.lost != rows[i].lost)
			fail_msg("%s: lost %u", rows[i].why, it.losers);
		assert_int_equal(it.wanted, rows[i].answers_ms[0] != 90);
		loop_play(world.loop, 5 * US_PER_S);
		assert_int_equal(it.ends, 1);
		world_end();
	}
}

/* Who lost by being slower is known as slow afterwards, and who never answers as silent. */
static void the_slower_one_is_remembered(void **state)
{
	(void)state;
	for (unsigned answers = 0; answers < 2; answers++) {
		struct infra_view slow;

		world_begin("");
		assert_non_null(begin(true, true));
		loop_play(world.loop, (HEDGE_MS + 20) * US_PER_MS);
		answer_of(1, 0);
		assert_int_equal(it.ends, 1);
		assert_int_equal(world.udp.cancelled, 0);
		loop_play(world.loop, 180 * US_PER_MS);
		if (answers)
			answer_of(0, 0);
		loop_play(world.loop, US_PER_S);
		infra_look(world.env.infra, &it.at->targets[0].addr, zone, world.env.time, &slow);
		assert_true(slow.known);
		assert_int_equal(slow.timeouts_a, !answers);
		assert_int_equal(slow.ping_ms, answers ? 300 : 0);
		world_end();
	}
}

static void a_race_asks_all_at_once(void **state)
{
	struct race *r;

	(void)state;
	world_begin("");
	r = begin(false, true);
	assert_int_equal(world.udp.count, 2);
	assert_null(world.udp.sent[0]->http_path);
	assert_string_equal(world.udp.sent[1]->http_path, "/second");
	assert_string_equal(world.udp.sent[1]->tls_name, "second.example");
	assert_int_equal(world.udp.sent[1]->to.ip[3], 2);
	answer_of(0, RCODE_REFUSED);
	assert_int_equal(it.ends, 0);
	assert_int_equal(it.losers, 1);
	answer_of(1, 0);
	assert_int_equal(it.ends, 1);
	assert_ptr_equal(it.winner, &it.at->targets[1]);
	race_cancel(r);
	race_cancel(NULL);
	assert_int_equal(world.udp.cancelled, 0);
	r = begin(false, true);
	assert_int_equal(world.udp.count, 4);
	answer_of(2, 0); /* then the other is left alone */
	assert_int_equal(it.ends, 1);
	assert_int_equal(world.udp.cancelled, 1);
	assert_non_null(r);
	world_end();
}

/* What is cut, even over TCP, is good for nothing while another may still answer. */
static void a_cut_response_does_not_win(void **state)
{
	struct bytes b;

	(void)state;
	world_begin("");
	assert_non_null(begin(false, true));
	answer_of(0, FLAG_TC); /* is asked again over TCP */
	assert_int_equal(it.ends, 0);
	assert_int_equal(world.tcp.count, 1);
	b = echo_of(&world.tcp, FLAG_AA | FLAG_TC, true, true, 0);
	assert_true(deliver(&world.tcp, &b));
	assert_int_equal(it.ends, 0);
	assert_int_equal(it.losers, 1);
	answer_of(1, 0);
	assert_int_equal(it.ends, 1);
	assert_ptr_equal(it.winner, &it.at->targets[1]);
	world_end();
}

static void a_race_that_is_cancelled_has_no_end(void **state)
{
	(void)state;
	for (unsigned hedges = 0; hedges < 2; hedges++) {
		struct race *r;

		world_begin("");
		r = begin(hedges, true);
		race_cancel(r);
		assert_int_equal(world.udp.cancelled, hedges ? 1 : 2);
		loop_play(world.loop, 5 * US_PER_S);
		assert_int_equal(it.ends + it.wanted, 0);
		world_end();
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(another_is_asked_when_the_first_takes_long),
		cmocka_unit_test(the_slower_one_is_remembered),
		cmocka_unit_test(a_race_asks_all_at_once),
		cmocka_unit_test(a_cut_response_does_not_win),
		cmocka_unit_test(a_race_that_is_cancelled_has_no_end),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
