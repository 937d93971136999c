/* Claims about what is remembered of servers asked over TLS or HTTPS.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "services/upstream/peer.h"

#include <limits.h>
#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>

#include "util/base/hash.h"
#include "util/base/timebase.h"

static struct {
	struct peers *peers;
	struct peer *peer;
	uint64_t now_us;
} world;

static int begin(void **state)
{
	struct addr at = { 0 };

	(void)state;
	world.peers = peers_new();
	world.peer = peers_get(world.peers, &at, "dns.test", NULL);
	world.now_us = US_PER_S;
	return 0;
}

static int end(void **state)
{
	(void)state;
	peer_drop(world.peer);
	peers_free(world.peers);
	return 0;
}

static unsigned carries_after_loss(unsigned answers)
{
	peer_lost(world.peer, answers, world.now_us);
	return peer_carries(world.peer, world.now_us);
}

static unsigned carries_after_full(unsigned connections)
{
	while (connections--)
		peer_fulfilled(world.peer);
	return peer_carries(world.peer, world.now_us);
}

static void one_loss_is_an_accident_and_two_are_a_habit(void **state)
{
	(void)state;
	assert_int_equal(peer_carries(world.peer, world.now_us), UINT_MAX);
	assert_int_equal(carries_after_loss(20), UINT_MAX);
	assert_int_equal(carries_after_loss(17), 20);
	world.now_us += 61 * US_PER_S;
	assert_int_equal(peer_carries(world.peer, world.now_us), UINT_MAX);
	assert_int_equal(carries_after_loss(20), UINT_MAX);
}

static void a_loss_at_most_halves_what_is_carried(void **state)
{
	(void)state;
	(void)carries_after_loss(64);
	assert_int_equal(carries_after_loss(64), 64);
	assert_int_equal(carries_after_loss(0), 64); /* the one before gave 64 */
	assert_int_equal(carries_after_loss(0), 32);
	assert_int_equal(carries_after_loss(3), 16);
	assert_int_equal(carries_after_loss(0), 8);
	for (unsigned i = 0; i < 10; i++)
		(void)carries_after_loss(0);
	assert_int_equal(carries_after_loss(0), 1);
}

static void connections_answered_in_full_let_the_next_carry_more(void **state)
{
	(void)state;
	assert_int_equal(carries_after_full(20), UINT_MAX);
	(void)carries_after_loss(3);
	assert_int_equal(carries_after_loss(3), 3);
	assert_int_equal(carries_after_full(7), 3);
	assert_int_equal(carries_after_full(1), 6);
	assert_int_equal(carries_after_full(7), 6);
	/* it was too much: what it gives is what it gets, at once */
	assert_int_equal(carries_after_loss(3), 3);
	assert_int_equal(carries_after_full(7), 3);
	assert_int_equal(carries_after_full(8 * 40), UINT_MAX - 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(one_loss_is_an_accident_and_two_are_a_habit, begin,
						end),
		cmocka_unit_test_setup_teardown(a_loss_at_most_halves_what_is_carried, begin, end),
		cmocka_unit_test_setup_teardown(
			connections_answered_in_full_let_the_next_carry_more, begin, end),
	};

	hash_start(true);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
