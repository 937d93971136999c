/* Claims about a mesh that is full: who makes room, who takes turns, and what goes with whom.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "services/mesh/tests/fixture.h"

static void a_full_list_makes_room_by_age(void **state)
{
	(void)state;
	static const struct {
		const char *why;
		uint64_t pass_us;
		uint16_t dropped[3];
		unsigned dropped_count, overwritten, exceeded;
	} rows[] = {
		{ "young ones stay, the newcomer goes", 200000, { 3 }, 1, 0, 1 },
		{ "an old one gives way, but not the first half", 200001, { 2 }, 1, 1, 0 },
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		world_begin("server: num-queries-per-thread: 2\n jostle-timeout: 200\n");
		ask_for("w1.example", 1);
		ask_for("w2.example", 2);
		loop_play(world.loop, rows[i].pass_us);
		ask_for("w3.example", 3);
		if (world.heard_count != rows[i].dropped_count)
			fail_msg("%s: %u dropped", rows[i].why, world.heard_count);
		for (unsigned d = 0; d < world.heard_count; d++) {
			assert_true(world.heard[d].dropped);
			assert_int_equal(world.heard[d].id, rows[i].dropped[d]);
		}
		assert_int_equal(count(&world.stats.list_overwritten), rows[i].overwritten);
		assert_int_equal(count(&world.stats.list_exceeded), rows[i].exceeded);
		assert_int_equal(mesh_size(world.mesh), 2);
		world_end();
	}
}

/* `count` questions that nobody answers, each another; their ids begin at `first`. */
static void flood(uint8_t from, unsigned count, uint16_t first)
{
	for (unsigned i = 0; i < count; i++) {
		char name[32];

		snprintf(name, sizeof(name), "w%u-%u.example", from, first + i);
		ask(&(struct enquiry){ .name = name, .id = (uint16_t)(first + i), .from = from });
	}
}

static void the_client_with_most_queries_in_flight_is_dropped_first(void **state)
{
	(void)state;
	/* Of 40 places 20 may be given to others; what comes first takes the other 20. */
	static const struct {
		const char *why;
		struct {
			uint8_t from;
			unsigned count;
		} floods[3];
		uint64_t pass_us;
		uint8_t newcomer;
		uint16_t dropped; /* who */
	} rows[] = {
		{ "the oldest of the one who holds all, however young", { { 1, 40 } }, 0, 2, 20 },
		{ "nobody's for one more of his own", { { 1, 40 } }, 0, 1, 99 },
		{ "his own old ones", { { 1, 40 } }, 200001, 1, 20 },
		{ "of two, who holds most", { { 1, 24 }, { 2, 16 } }, 0, 3, 24 },
		{ "of two, who holds most, for the other one", { { 1, 38 }, { 2, 2 } }, 0, 2, 20 },
		{ "between equals nobody goes", { { 1, 30 }, { 2, 10 } }, 0, 2, 99 },
		{ "between equals the old one goes", { { 1, 30 }, { 2, 10 } }, 200001, 2, 20 },
		{ "who holds least is not the one",
		  { { 9, 20 }, { 2, 2 }, { 1, 18 } },
		  200001,
		  1,
		  22 },
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		uint16_t next = 0;

		world_begin("server: num-queries-per-thread: 40\n jostle-timeout: 200\n");
		for (unsigned f = 0; f < COUNT(rows[i].floods); f++) {
			flood(rows[i].floods[f].from, rows[i].floods[f].count, next);
			next = (uint16_t)(next + rows[i].floods[f].count);
		}
		assert_int_equal(world.heard_count, 0);
		loop_play(world.loop, rows[i].pass_us);
		flood(rows[i].newcomer, 1, 99);
		if (world.heard_count != 1 || world.heard[0].id != rows[i].dropped)
			fail_msg("%s: %u dropped, %u first", rows[i].why, world.heard_count,
				 world.heard[0].id);
		assert_true(world.heard[0].dropped);
		assert_int_equal(mesh_size(world.mesh), 40);
		world_end();
	}
}

/* A client that does not by chance share its lane with client 1. */
static uint8_t client_beside(void)
{
	struct addr one = { .family = 4, .ip = { 192, 0, 2, 1 } }, other = one;

	do
		other.ip[3]++;
	while (((client_hash(&one) ^ client_hash(&other)) & 31) == 0);
	return other.ip[3];
}

/* However many of one client's yield, another's comes after one of them. */
static void yielded_queries_are_resumed_fairly_by_client(void **state)
{
	static const char *const busy[] = { "y1.example", "y2.example", "y3.example",
					    "y4.example" };
	unsigned place = 0;

	(void)state;
	world_begin("");
	for (uint16_t i = 0; i < COUNT(busy); i++)
		ask(&(struct enquiry){ .name = busy[i], .id = i, .from = 1 });
	ask(&(struct enquiry){ .name = "y9.example", .id = 9, .from = client_beside() });
	loop_play(world.loop, 1000);
	assert_int_equal(world.heard_count, COUNT(busy) + 1);
	while (world.heard[place].id != 9)
		place++;
	assert_true(place <= 1);
	world_end();
}

/* What several wait for is the place of whoever holds least. */
static void a_question_of_a_small_client_goes_with_it(void **state)
{
	(void)state;
	world_begin("server: num-queries-per-thread: 40\n jostle-timeout: 200\n");
	flood(1, 40, 0);
	ask(&(struct enquiry){ .name = "w1-20.example", .id = 50, .from = 2 });
	flood(3, 1, 60);
	assert_int_equal(world.heard_count, 1);
	assert_int_equal(world.heard[0].id, 21);
	world_end();
}

static void a_client_joins_a_lookup_though_the_request_list_is_full(void **state)
{
	(void)state;
	world_begin("server: num-queries-per-thread: 1\n");
	ask_for("w.example", 1);
	ask_for("w.example", 2);
	assert_int_equal(world.heard_count, 0);
	/* sixteen clients to a place in all; the oldest of who has the most gives way */
	for (uint16_t id = 3; id <= 17; id++)
		ask_for("w.example", id);
	assert_int_equal(world.heard_count, 1);
	assert_int_equal(world.heard[0].id, 1);
	assert_true(world.heard[0].dropped);
	assert_int_equal(count(&world.stats.count[STAT_queries_replyaddr_limit]), 1);
	wake(0);
	assert_int_equal(world.heard_count, 17);
	world_end();
}

static void what_gives_way_takes_its_children_along(void **state)
{
	(void)state;
	world_begin("server: num-queries-per-thread: 2\n jostle-timeout: 1\n");
	ask_for("w1.example", 1);
	ask_for("c.c.w2.example", 2);
	assert_int_equal(mesh_size(world.mesh), 4);
	loop_play(world.loop, 2000);
	ask_for("w3.example", 3);
	assert_int_equal(mesh_size(world.mesh), 2);
	assert_int_equal(world.heard_count, 1);
	assert_int_equal(world.heard[0].id, 2);
	world_end();
}

static unsigned readmitted;

static void readmit(void *arg, const struct request *r, const struct client *c)
{
	const bool *answers = arg;

	readmitted++;
	if (*answers)
		c->ops->drop(c);
	else
		mesh_ask(world.mesh, r, c, NULL);
}

static void queries_begin_again_under_another_configuration(void **state)
{
	(void)state;
	static const struct {
		const char *why;
		bool unless_asked, has_readmit, answers;
		unsigned left, ended; /* queries thereafter, and how many ended */
	} rows[] = {
		{ "anew", false, false, false, 3, 4 },
		{ "anew by the front end", false, true, false, 3, 4 },
		{ "answered by the front end", false, true, true, 0, 4 },
		{ "looked at again", true, true, false, 4, 0 },
		{ "looked at again, and answered", true, true, true, 1, 3 },
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		bool answers = rows[i].answers;
		struct question refresh;

		world_begin("");
		world.env.readmit = rows[i].has_readmit ? readmit : NULL;
		world.env.readmit_arg = &answers;
		readmitted = 0;
		ask_for("c.www.example", 1); /* and its child */
		ask_for("weather.example", 2);
		ask_for("weather.example", 3);
		refresh = question_of("fresh.example");
		mesh_refresh(world.mesh, &refresh, 0, NULL);
		assert_int_equal(mesh_size(world.mesh), 4);
		world.asleep_count = rows[i].unless_asked ? world.asleep_count : 0;
		mesh_begin_again(world.mesh, rows[i].unless_asked);
		if (mesh_size(world.mesh) != rows[i].left || cleared != rows[i].ended ||
		    world.heard_count != (answers ? 3 : 0) || readmitted != (rows[i].has_readmit ? 3 : 0))
			fail_msg("%s: %u left, %u ended, %u told, %u readmitted", rows[i].why,
				 mesh_size(world.mesh), cleared, world.heard_count, readmitted);
		assert_int_equal(mesh_waiting(world.mesh), answers ? 0 : 3);
		for (unsigned w = 0; !answers && w < 2; w++)
			wake(w);
		assert_int_equal(world.heard_count, 3);
		world_end();
		assert_int_equal(world.heard_count, 3);
	}
}

static unsigned replies;

static void on_resolved(void *arg, const struct message *reply)
{
	(void)arg;
	replies += reply->rcode == RCODE_NOERROR;
}

static void other_callers_wait_on(void **state)
{
	(void)state;
	for (unsigned unless_asked = 0; unless_asked < 2; unless_asked++) {
		struct question q;

		world_begin("");
		replies = 0;
		q = question_of("www.example");
		mesh_resolve(world.mesh, &q, 0, on_resolved, NULL);
		world.asleep_count = unless_asked ? 1 : 0;
		mesh_begin_again(world.mesh, unless_asked);
		assert_int_equal(cleared, unless_asked ? 0 : 1);
		assert_int_equal(mesh_size(world.mesh), 1);
		assert_int_equal(replies, 0);
		wake(0);
		assert_int_equal(replies, 1);
		world_end();
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(queries_begin_again_under_another_configuration),
		cmocka_unit_test(other_callers_wait_on),
		cmocka_unit_test(a_full_list_makes_room_by_age),
		cmocka_unit_test(the_client_with_most_queries_in_flight_is_dropped_first),
		cmocka_unit_test(yielded_queries_are_resumed_fairly_by_client),
		cmocka_unit_test(a_question_of_a_small_client_goes_with_it),
		cmocka_unit_test(a_client_joins_a_lookup_though_the_request_list_is_full),
		cmocka_unit_test(what_gives_way_takes_its_children_along),
	};

	hash_start(true);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
