/* Claims about those who wait: what is kept of them, apart from the lookup, and who gives way.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "services/access/cookies.h"
#include "services/forward/subnets.h"
#include "services/mesh/private.h"
#include "services/mesh/tests/fixture.h"
#include "util/dns/edns.h"

static uint8_t padding[65000];

/* What the lookup keeps is the same however many wait, whatever they bring. */
static void a_crowd_costs_the_lookup_nothing(void **state)
{
	(void)state;
	static const struct {
		const char *why;
		size_t options;
		bool over_tcp, cookie;
		unsigned many;
	} rows[] = {
		{ "nine with 60 kB of padding", 60000, true, false, 9 },
		{ "two hundred with 4 kB", 3990, false, false, 200 },
		{ "five thousand plain ones", 0, false, false, 5000 },
		{ "five thousand with cookies", 28, false, true, 5000 },
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		uint8_t cookie[COOKIE_LEN] = { 7 };
		size_t before, bytes;

		world_begin("");
		ask_for("w.example", 1);
		before = world.asleep[0]->arena.taken;
		bytes = world.mesh->waiting.size;
		for (unsigned k = 1; k < rows[i].many; k++) {
			struct request r = { .id = 2,
					     .flags = FLAG_RD,
					     .q = question_of("w.example"),
					     .cookie = rows[i].cookie ? cookie : NULL,
					     .edns = { .present = true, .options = { padding, rows[i].options } } };
			struct client c = { .ops = rows[i].over_tcp ? &stream : &datagram,
					    .from = { .family = 4, .ip = { 192, 0, (uint8_t)(k >> 8), (uint8_t)k } } };

			mesh_ask(world.mesh, &r, &c, NULL);
		}
		assert_int_equal(world.heard_count, 0);
		assert_int_equal(mesh_waiting(world.mesh), rows[i].many);
		bytes = (world.mesh->waiting.size - bytes) / (rows[i].many - 1);
		if (world.asleep[0]->arena.taken != before || bytes > WAITER_MOST)
			fail_msg("%s: %zu bytes more for the lookup, %zu a waiter", rows[i].why,
				 world.asleep[0]->arena.taken - before, bytes);
		mesh_leave(world.mesh, &world.connections[0], NULL, NULL);
		world.heard_count = 0;
		while (!list_is_empty(&lookup_of(world.asleep[0])->waiters)) {
			waiter_drop(LIST_ITEM(lookup_of(world.asleep[0])->waiters.next, struct waiter, link));
			world.heard_count = 0;
		}
		assert_int_equal(world.mesh->waiting.size, 0);
		world_end();
	}
}

static void of_the_options_only_what_an_answer_needs_is_kept(void **state)
{
	(void)state;
	static const uint8_t cookie[COOKIE_LEN] = { 1 };
	static const struct client_subnet told = { .has_option = true }, placed = { .has_option = false };
	static const struct {
		const char *why, *options;
		size_t len;
		const uint8_t *cookie;
		const struct client_subnet *where;
		const char *kept;
		size_t kept_len;
	} rows[] = {
		{ "none", "", 0, NULL, NULL, "", 0 },
		{ "padding", "\0\14\0\2xx", 6, NULL, NULL, "", 0 },
		{ "NSID", "\0\3\0\0", 4, NULL, NULL, "\0\3\0\0", 4 },
		{ "NSID behind padding", "\0\14\0\2xx\0\3\0\0", 10, NULL, NULL, "\0\3\0\0", 4 },
		{ "NSID with data", "\0\3\0\2xx", 6, NULL, NULL, "\0\3\0\0", 4 },
		{ "a cookie: that there are options", "\0\12\0\2xx", 6, cookie, NULL, "\0\14\0\0", 4 },
		{ "a subnet that is answered", "\0\10\0\2xx", 6, NULL, &told, "\0\14\0\0", 4 },
		{ "one that is not", "\0\10\0\2xx", 6, NULL, &placed, "", 0 },
		{ "nothing is made of no options", "", 0, cookie, &told, "", 0 },
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		struct request r = { .cookie = rows[i].cookie, .where = rows[i].where };
		struct slice kept;

		r.edns = (struct edns){ .present = true,
					.options = { (const uint8_t *)rows[i].options, rows[i].len } };
		kept = waiter_options(&r);
		if (kept.len != rows[i].kept_len || (kept.len && memcmp(kept.at, rows[i].kept, kept.len) != 0))
			fail_msg("%s: %zu bytes", rows[i].why, kept.len);
	}
}

/* The way back, as each asked: its id, the name as it spelt it, NSID, DO. */
static void each_is_answered_as_it_asked(void **state)
{
	static const struct {
		const char *name;
		uint16_t flags, edns_flags;
		const char *options;
		size_t len;
	} rows[] = {
		{ "w.example", 0, 0, "", 0 },
		{ "W.eXample", 0, EDNS_DO, "\0\14\0\2xx", 6 },
		{ "w.EXAMPLE", FLAG_AD, 0, "\0\3\0\0", 4 },
		{ "W.EXAMPLE", 0, 0, "\0\14\0\2xx", 6 },
	};

	(void)state;
	world_begin("server: nsid: ascii_here\n");
	for (uint16_t i = 0; i < COUNT(rows); i++) {
		struct request r = { .id = i, .flags = rows[i].flags | FLAG_RD, .q = question_of(rows[i].name) };
		struct client c = { .ops = &datagram, .from = { .family = 4, .ip = { 192, 0, 2, 1 } } };

		r.edns = (struct edns){ .present = true,
					.flags = rows[i].edns_flags,
					.options = { (const uint8_t *)rows[i].options, rows[i].len } };
		mesh_ask(world.mesh, &r, &c, NULL);
	}
	wake(0);
	assert_int_equal(world.heard_count, COUNT(rows));
	for (unsigned i = 0; i < COUNT(rows); i++) {
		const struct heard *h = &world.heard[i];
		const uint8_t *name = name_of(rows[i].name), *opt = h->wire + h->len - OPT_FIXED_LEN;

		assert_int_equal(h->id, i);
		assert_memory_equal(h->wire + MSG_HEAD_LEN, name, dname_len(name));
		if (i == 2) {
			assert_memory_equal(h->wire + h->len - 4, "here", 4);
			continue;
		}
		assert_int_equal(get_u16(opt + 1), TYPE_OPT);
		assert_int_equal(get_u16(opt + 7), rows[i].edns_flags);
	}
	world_end();
}

static void who_asked_without_cd_is_not_told_of_it(void **state)
{
	(void)state;
	world_begin("");
	for (uint16_t i = 0; i < 4; i++) {
		struct request r = { .id = i, .flags = FLAG_RD, .q = question_of("w.example") };
		struct client c = { .ops = &datagram, .from = { .family = 4, .ip = { 192, 0, 2, 1 } } };

		r.cd_is_ignored = i % 2;
		mesh_ask(world.mesh, &r, &c, NULL);
	}
	wake(0);
	assert_int_equal(world.heard_count, 4);
	for (unsigned i = 0; i < 4; i++)
		assert_int_equal(!!(msg_flags(world.heard[i].wire) & FLAG_CD), i % 2);
	world_end();
}

/* Others go on waiting, and what was asked for is looked up all the same, in its place. */
static void a_connection_that_has_gone_takes_all_its_waiters_along(void **state)
{
	(void)state;
	world_begin("");
	ask_over_tcp("w1.example", 1, 0);
	ask_over_tcp("w2.example", 2, 0);
	ask_over_tcp("w1.example", 3, 0);
	ask_over_tcp("w1.example", 4, 1);
	ask_for("w3.example", 5);
	mesh_leave(world.mesh, &world.connections[0], NULL, NULL);
	assert_int_equal(world.heard_count, 3);
	for (unsigned i = 0; i < 3; i++) {
		assert_true(world.heard[i].dropped);
		assert_int_equal(world.heard[i].id, i + 1);
	}
	assert_int_equal(mesh_waiting(world.mesh), 2);
	assert_int_equal(mesh_size(world.mesh), 3);
	assert_int_equal(lookup_of(world.asleep[1])->slot, SLOT_KEPT);
	mesh_leave(world.mesh, &world.connections[0], NULL, NULL);
	assert_int_equal(world.heard_count, 3);
	ask_over_tcp("w2.example", 6, 2);
	assert_int_equal(mesh_size(world.mesh), 3);
	for (unsigned i = 0; i < 3; i++)
		wake(i);
	assert_int_equal(world.heard_count, 6);
	assert_int_equal(mesh_size(world.mesh), 0);
	assert_int_equal(world.mesh->waiting.size, 0);
	world_end();
}

static void come(uint8_t from, const char *name, uint16_t id, bool over_tcp)
{
	ask(&(struct enquiry){ .name = name, .id = id, .from = from, .over_tcp = over_tcp });
}

/* Sixteen may wait. */
static void who_has_the_most_waiting_makes_room(void **state)
{
	(void)state;
	static const struct {
		const char *why;
		unsigned of_one;  /* waiters of client 1; the others are a client each */
		unsigned streams; /* of the first, so many over TCP */
		uint64_t pass_us;
		uint8_t newcomer;
		uint16_t dropped;
	} rows[] = {
		{ "the oldest of one who has many", 16, 0, 0, 99, 0 },
		{ "though others are older, which are fewer", 8, 0, 300000, 99, 8 },
		{ "also for itself", 16, 0, 0, 1, 0 },
		{ "nobody has many: the newcomer goes", 7, 0, 200000, 99, 99 },
		{ "nobody has many, but they are old", 7, 0, 200001, 99, 0 },
		{ "of the old ones, who is not proven goes first", 7, 3, 200001, 99, 3 },
		{ "all are proven", 7, 16, 200001, 99, 0 },
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		world_begin("server: num-queries-per-thread: 1\n jostle-timeout: 200\n");
		for (uint16_t id = 0; id < 16; id++)
			come(id < 16 - rows[i].of_one ? (uint8_t)(100 + id) : 1, "w.example", id,
			     id < rows[i].streams);
		assert_int_equal(world.heard_count, 0);
		loop_play(world.loop, rows[i].pass_us);
		come(rows[i].newcomer, "w.example", 99, false);
		if (world.heard_count != 1 || !world.heard[0].dropped || world.heard[0].id != rows[i].dropped)
			fail_msg("%s: %u dropped, %u first", rows[i].why, world.heard_count, world.heard[0].id);
		assert_int_equal(count(&world.stats.count[STAT_queries_replyaddr_limit]), 1);
		assert_int_equal(mesh_waiting(world.mesh), 16);
		wake(0);
		assert_int_equal(world.heard_count, 17);
		world_end();
	}
}

/* It is at work on those who wait for it. */
static void one_whose_query_has_a_turn_does_not_give_way(void **state)
{
	(void)state;
	world_begin("server: num-queries-per-thread: 2\n");
	for (uint16_t id = 0; id < 31; id++)
		come(1, "w.example", id, false);
	come(1, "w2.example", 31, false);
	lookup_of(world.asleep[0])->running = true;
	come(2, "w2.example", 99, false);
	lookup_of(world.asleep[0])->running = false;
	assert_int_equal(world.heard_count, 1);
	assert_int_equal(world.heard[0].id, 31);
	world_end();
}

/* Its last waiter having given way, a lookup is nobody's. */
static void what_nobody_waits_for_any_more_is_given_up(void **state)
{
	(void)state;
	world_begin("server: num-queries-per-thread: 2\n");
	come(1, "w.example", 0, false);
	for (uint16_t id = 1; id < 32; id++)
		come(1, "w2.example", id, false);
	come(2, "w2.example", 99, false);
	assert_int_equal(world.heard[0].id, 0);
	assert_int_equal(mesh_size(world.mesh), 1);
	world_end();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_crowd_costs_the_lookup_nothing),
		cmocka_unit_test(of_the_options_only_what_an_answer_needs_is_kept),
		cmocka_unit_test(each_is_answered_as_it_asked),
		cmocka_unit_test(who_asked_without_cd_is_not_told_of_it),
		cmocka_unit_test(a_connection_that_has_gone_takes_all_its_waiters_along),
		cmocka_unit_test(who_has_the_most_waiting_makes_room),
		cmocka_unit_test(one_whose_query_has_a_turn_does_not_give_way),
		cmocka_unit_test(what_nobody_waits_for_any_more_is_given_up),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
