/* Claims about asking one server: how long to wait, what follows silence, and who hears of the end.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "services/upstream/tests/fixture.h"

static void silence_is_borne_twice_and_remembered(void **state)
{
	uint32_t first = INFRA_RTO_UNKNOWN_MS;

	(void)state;
	world_begin("");
	assert_non_null(ask_plainly());
	loop_play(world.loop, first * US_PER_MS - 1);
	assert_int_equal(world.udp.count, 1);
	loop_play(world.loop, 1);
	assert_int_equal(world.udp.count, 2);
	assert_int_equal(world.udp.cancelled, 1);
	assert_true(view().rto_ms >= 2 * first);
	loop_play(world.loop, 2 * first * US_PER_MS - 1);
	assert_int_equal(world.told_count, 0);
	loop_play(world.loop, 1);
	assert_int_equal(world.told_count, 1);
	assert_int_equal(world.told[0].end, UPSTREAM_SILENT);
	assert_int_equal(world.udp.cancelled, 2);
	assert_int_equal(world.udp.count, 2);
	world_end();
}

static void the_answer_to_the_second_try_is_timed_from_it(void **state)
{
	(void)state;
	world_begin("");
	assert_non_null(ask_plainly());
	loop_play(world.loop, INFRA_RTO_UNKNOWN_MS * US_PER_MS);
	loop_play(world.loop, 20 * US_PER_MS);
	assert_true(answer(&world.udp));
	assert_int_equal(world.told[0].rtt_ms, 20);
	assert_true(view().known);
	world_end();
}

static void who_sets_the_wait_gets_it(void **state)
{
	struct upstream_question q;

	(void)state;
	world_begin("");
	q = question();
	q.wait_ms = 100;
	assert_non_null(ask(&q));
	loop_play(world.loop, 100 * US_PER_MS);
	assert_int_equal(world.udp.count, 2);
	loop_play(world.loop, 200 * US_PER_MS);
	assert_int_equal(world.told_count, 1);
	world_end();
}

static void after_junk_and_silence_tcp_is_tried(void **state)
{
	struct bytes b;

	(void)state;
	world_begin("");
	assert_non_null(ask_plainly());
	b = echo_of(&world.udp, 0, true, true, 0);
	b.at[13] ^= 1;
	assert_false(deliver(&world.udp, &b));
	loop_play(world.loop, INFRA_RTO_UNKNOWN_MS * US_PER_MS);
	assert_int_equal(world.udp.count, 1);
	assert_int_equal(world.tcp.count, 1);
	assert_true(answer(&world.tcp));
	assert_int_equal(world.told[0].end, UPSTREAM_ANSWERED);
	world_end();
}

static void tcp_has_its_own_patience(void **state)
{
	struct upstream_question q;

	(void)state;
	world_begin("");
	q = question();
	q.transport = TRANSPORT_TCP;
	assert_non_null(ask(&q));
	assert_int_equal(world.udp.count, 0);
	assert_int_equal(world.tcp.count, 1);
	loop_play(world.loop, 2999999);
	assert_int_equal(world.told_count, 0);
	loop_play(world.loop, 1);
	assert_int_equal(world.told_count, 1);
	assert_int_equal(world.told[0].end, UPSTREAM_SILENT);
	world_end();
}

static void who_answers_others_on_the_connection_is_not_silent(void **state)
{
	(void)state;
	static const struct {
		const char *why;
		uint32_t heard_ms[6], ends_ms; /* after the question was sent; when it is given up */
	} rows[] = {
		{ "nobody has an answer", { 0 }, 3000 },
		{ "somebody has, after a second", { 1000 }, 4000 },
		{ "one after another", { 2000, 4000, 6000 }, 9000 },
		{ "a pause that is too long", { 500, 3600 }, 3500 },
		{ "for no longer than a client waits", { 2500, 5000, 7400, 9600 }, 10000 },
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		uint64_t begun_us, at_ms = 0;
		struct upstream_question q;

		world_begin("");
		loop_play(world.loop, 5 * US_PER_S);
		begun_us = loop_time(world.loop)->now_us;
		world.tcp.heard_us = begun_us; /* what was before the question says nothing */
		q = question();
		q.transport = TRANSPORT_TCP;
		assert_non_null(ask(&q));
		for (size_t n = 0; n < COUNT(rows[i].heard_ms) && rows[i].heard_ms[n] && rows[i].heard_ms[n] < rows[i].ends_ms; n++) {
			loop_play(world.loop, (rows[i].heard_ms[n] - at_ms) * US_PER_MS);
			at_ms = rows[i].heard_ms[n];
			world.tcp.heard_us = begun_us + at_ms * US_PER_MS;
		}
		loop_play(world.loop, (rows[i].ends_ms - at_ms) * US_PER_MS - 1);
		if (world.told_count)
			fail_msg("%s: given up early", rows[i].why);
		loop_play(world.loop, 1);
		if (world.told_count != 1 || world.told[0].end != UPSTREAM_SILENT)
			fail_msg("%s: told %u", rows[i].why, world.told_count);
		world_end();
	}
}

static void a_played_wire_ends_when_its_story_says(void **state)
{
	(void)state;
	static const struct {
		const char *why;
		enum upstream_end said, told;
		bool junk;
	} rows[] = {
		{ "a timeout", UPSTREAM_SILENT, UPSTREAM_SILENT, false },
		{ "a closed connection", UPSTREAM_UNREACHABLE, UPSTREAM_UNREACHABLE, false },
		{ "junk, and nothing more", UPSTREAM_SILENT, UPSTREAM_SILENT, true },
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		struct transmission *s;

		world_begin_with("", &patient);
		assert_non_null(ask_plainly());
		s = world.udp.sent[0];
		loop_play(world.loop, 3600 * US_PER_S);
		assert_int_equal(world.told_count, 0);
		if (rows[i].junk) {
			struct bytes b = echo_of(&world.udp, 0, true, true, 0);

			b.at[13] ^= 1;
			assert_true(deliver(&world.udp, &b));
		} else {
			s->failed(s, rows[i].said);
		}
		assert_int_equal(world.told_count, 1);
		if (world.told[0].end != rows[i].told)
			fail_msg("%s: %d", rows[i].why, world.told[0].end);
		assert_int_equal(world.udp.count, 1);
		world_end();
	}
}

static void who_cancels_is_not_told(void **state)
{
	struct upstream_ask *one, *two;

	(void)state;
	world_begin("");
	one = ask_plainly();
	two = ask_plainly();
	upstream_cancel(one);
	assert_int_equal(world.udp.cancelled, 0);
	assert_true(answer(&world.udp));
	assert_int_equal(world.told_count, 1);
	upstream_cancel(two); /* harmless by now */

	one = ask_plainly();
	assert_int_equal(world.udp.count, 2);
	upstream_cancel(one);
	assert_int_equal(world.udp.cancelled, 1);
	loop_play(world.loop, 60 * US_PER_S);
	assert_int_equal(world.told_count, 1);
	world_end();
}

static void who_is_told_may_ask_again(void **state)
{
	(void)state;
	world_begin("");
	assert_non_null(ask_plainly());
	assert_non_null(ask_plainly());
	world.again = question();
	assert_true(answer(&world.udp));
	assert_int_equal(world.told_count, 2);
	assert_int_equal(world.udp.count, 2);
	assert_true(answer(&world.udp));
	assert_int_equal(world.told_count, 3);
	world_end();
}

static void what_cannot_leave_says_nothing_about_the_server(void **state)
{
	struct transmission *s;

	(void)state;
	world_begin("");
	assert_non_null(ask_plainly());
	s = world.udp.sent[0];
	s->failed(s, UPSTREAM_UNREACHABLE);
	assert_int_equal(world.told[0].end, UPSTREAM_UNREACHABLE);
	assert_int_equal(view().rto_ms, INFRA_RTO_UNKNOWN_MS);
	world_end();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(silence_is_borne_twice_and_remembered),
		cmocka_unit_test(the_answer_to_the_second_try_is_timed_from_it),
		cmocka_unit_test(who_sets_the_wait_gets_it),
		cmocka_unit_test(after_junk_and_silence_tcp_is_tried),
		cmocka_unit_test(tcp_has_its_own_patience),
		cmocka_unit_test(who_answers_others_on_the_connection_is_not_silent),
		cmocka_unit_test(a_played_wire_ends_when_its_story_says),
		cmocka_unit_test(who_cancels_is_not_told),
		cmocka_unit_test(who_is_told_may_ask_again),
		cmocka_unit_test(what_cannot_leave_says_nothing_about_the_server),
	};

	hash_start(true);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
