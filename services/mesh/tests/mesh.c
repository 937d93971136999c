/* Claims about the mesh: who joins, what modules and children are told, and what is kept.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "services/mesh/private.h"
#include "services/mesh/tests/fixture.h"

static void equal_questions_are_worked_on_once(void **state)
{
	(void)state;
	static const struct {
		const char *name;
		uint16_t id;
	} rows[] = {
		{ "www.example", 1 },
		{ "WWW.example", 2 },
		{ "www.EXAMPLE", 3 },
	};

	world_begin("");
	for (size_t i = 0; i < COUNT(rows); i++)
		ask_for(rows[i].name, rows[i].id);
	assert_int_equal(mesh_size(world.mesh), 1);
	assert_int_equal(world.asleep_count, 1);
	assert_int_equal(world.heard_count, 0);
	wake(0);
	assert_int_equal(world.heard_count, COUNT(rows));
	for (size_t i = 0; i < COUNT(rows); i++) {
		const struct heard *h = &world.heard[i];
		const uint8_t *name = name_of(rows[i].name);

		assert_int_equal(h->id, rows[i].id);
		assert_memory_equal(h->wire + MSG_HEAD_LEN, name, dname_len(name));
		assert_int_equal(msg_rcode(h->wire), RCODE_NOERROR);
		assert_int_equal(get_u16(h->wire + 6), 1);
		assert_true(msg_flags(h->wire) & FLAG_RD);
	}
	assert_int_equal(mesh_size(world.mesh), 0);
	assert_int_equal(count(&world.stats.count[STAT_recursivereplies]), 3);
	assert_int_equal(count(&world.stats.count[STAT_cachemiss]), 3);
	assert_int_equal(cleared, 1);
	world_end();
}

static bool has_id(const struct client *c, const void *id)
{
	return c->tag == *(const uint16_t *)id;
}

static void what_a_client_takes_back_is_given_up_unless_others_need_it(void **state)
{
	(void)state;
	static const struct {
		const char *why, *name, *other; /* asked by 1, and then by 2 */
		unsigned left;                  /* queries, once 1 has left */
		unsigned told;                  /* once what still waits was answered: 1 and 2 */
	} rows[] = {
		{ "nobody else", "www.example", NULL, 0, 1 },
		{ "its child goes, too", "c.www.example", NULL, 0, 1 },
		{ "another client waits for it", "www.example", "www.example", 1, 2 },
		{ "another query waits for it", "www.example", "c.www.example", 2, 2 },
		{ "the child is another client's", "c.www.example", "www.example", 1, 2 },
	};
	const uint16_t one = 1, nobody = 7;

	for (size_t i = 0; i < COUNT(rows); i++) {
		world_begin("");
		ask_over_tcp(rows[i].name, 1, 0);
		if (rows[i].other)
			ask_over_tcp(rows[i].other, 2, 0);
		mesh_leave(world.mesh, &world.connections[0], has_id, &nobody);
		assert_int_equal(world.heard_count, 0);
		mesh_leave(world.mesh, &world.connections[0], has_id, &one);
		if (world.heard_count != 1 || !world.heard[0].dropped || world.heard[0].id != 1 ||
		    mesh_size(world.mesh) != rows[i].left)
			fail_msg("%s: %u told, %u left", rows[i].why, world.heard_count,
				 mesh_size(world.mesh));
		if (rows[i].left)
			wake(0);
		if (world.heard_count != rows[i].told || mesh_size(world.mesh))
			fail_msg("%s: %u told in the end", rows[i].why, world.heard_count);
		mesh_leave(world.mesh, &world.connections[0], has_id, &one);
		assert_int_equal(world.heard_count, rows[i].told);
		world_end();
	}
}

static void a_question_with_cd_is_another(void **state)
{
	(void)state;
	world_begin("");
	ask_for("www.example", 1);
	ask(&(struct enquiry){ .name = "www.example", .id = 2, .flags = FLAG_CD });
	assert_int_equal(mesh_size(world.mesh), 2);
	wake(1);
	assert_int_equal(world.heard_count, 1);
	assert_int_equal(world.heard[0].id, 2);
	assert_true(msg_flags(world.heard[0].wire) & FLAG_CD);
	world_end();
	assert_int_equal(world.heard_count, 2);
	assert_true(world.heard[1].dropped);
}

static void modules_are_told_in_their_turn(void **state)
{
	(void)state;
	static const struct {
		const char *why, *name, *story;
		uint16_t rcode;
	} rows[] = {
		{ "an answer at once", "n.example", "", RCODE_NOERROR },
		{ "a child", "c.n.example", "finder:child", RCODE_NOERROR },
		{ "a child of a child", "c.c.n.example", "finder:child finder:child",
		  RCODE_NOERROR },
		{ "the child of a module that does not wait is told when it does", "d.n.example",
		  "looker:asked looker:waits looker:child", RCODE_NOERROR },
		{ "two that would wait for each other", "k1", "finder:circle finder:child",
		  RCODE_NXDOMAIN },
		{ "nine children deep", "c.c.c.c.c.c.c.c.c.n.example",
		  "finder:no-child finder:child finder:child finder:child finder:child "
		  "finder:child finder:child finder:child finder:child",
		  RCODE_SERVFAIL },
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		world_begin("");
		ask_for(rows[i].name, 7);
		if (strcmp(world.story, rows[i].story) != 0)
			fail_msg("%s: \"%s\", not \"%s\"", rows[i].why, world.story, rows[i].story);
		assert_int_equal(world.heard_count, 1);
		if (msg_rcode(world.heard[0].wire) != rows[i].rcode)
			fail_msg("%s: rcode %u", rows[i].why, msg_rcode(world.heard[0].wire));
		assert_int_equal(mesh_size(world.mesh), 0);
		world_end();
	}
}

static void a_timer_wakes_who_set_it(void **state)
{
	(void)state;
	world_begin("");
	ask_for("t.example", 1);
	loop_play(world.loop, 4999);
	assert_int_equal(world.heard_count, 0);
	loop_play(world.loop, 1);
	assert_int_equal(world.heard_count, 1);
	assert_string_equal(world.story, "finder:timer");
	world_end();
}

static void a_question_of_a_client_and_of_a_module_are_one(void **state)
{
	(void)state;
	world_begin("");
	ask_for("c.w.example", 1);
	ask_for("w.example", 2);
	assert_int_equal(mesh_size(world.mesh), 2);
	assert_int_equal(world.asleep_count, 1);
	wake(0);
	assert_int_equal(world.heard_count, 2);
	world_end();
}

static void who_joins_a_lookup_fails_for_no_want_of_anothers_budget(void **state)
{
	(void)state;
	static const struct {
		const char *why;
		bool is_poor, anew;
	} rows[] = {
		{ "the budget it was begun with is spent: once more, with one of its own", true,
		  true },
		{ "it has failed for another reason", false, false },
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		world_begin("");
		ask_for("c.f.example", 1);
		ask(&(struct enquiry){ .name = "f.example", .id = 2, .from = 2 });
		ask(&(struct enquiry){ .name = "f.example", .id = 3, .from = 3 });
		world.asleep[0]->lookup_refused = rows[i].is_poor; /* as the iterator does */
		wake(0);
		if (world.asleep_count != (rows[i].anew ? 2 : 1))
			fail_msg("%s: begun %u times", rows[i].why, world.asleep_count);
		assert_int_equal(world.heard_count, rows[i].anew ? 1 : 3);
		assert_int_equal(mesh_waiting(world.mesh), rows[i].anew ? 2 : 0);
		if (rows[i].anew) {
			assert_int_equal(world.heard[0].id, 1);
			assert_int_equal(world.asleep[1]->depth, 0);
			assert_int_equal(lookup_of(world.asleep[1])->slot, SLOT_KEPT);
			/* now it is its own failure, whatever it says */
			world.asleep[1]->lookup_refused = true;
			wake(1);
			assert_int_equal(world.asleep_count, 2);
			assert_int_equal(world.heard_count, 3);
		}
		assert_int_equal(mesh_size(world.mesh), 0);
		assert_int_equal(mesh_waiting(world.mesh), 0);
		world_end();
	}
}

static void take_back_the_parent(const struct client *c, const uint8_t *bytes, size_t len)
{
	const uint16_t parent = 1;

	on_reply(c, bytes, len);
	mesh_leave(world.mesh, &world.connections[0], has_id, &parent);
}

/* It is in no table any more and must not be ended again. */
static void who_is_given_up_while_its_child_ends_leaves_that_alone(void **state)
{
	(void)state;
	static const struct client_ops ops = { .name = "udp",
					       .reply = take_back_the_parent,
					       .drop = on_drop,
					       .waiting = on_connection };
	struct client c = { .ops = &ops, .from = { .family = 4, .ip = { 192, 0, 2, 2 } } };
	struct request r = { .id = 2, .flags = FLAG_RD };

	world_begin("");
	ask_over_tcp("c.w.example", 1, 0);
	r.q = question_of("w.example");
	mesh_ask(world.mesh, &r, &c, NULL);
	query_move_slot(world.asleep[0], SLOT_BACKGROUND); /* as a member that others move to */
	wake(0);
	assert_int_equal(world.heard_count, 2);
	assert_int_equal(world.heard[0].id, 2);
	assert_true(world.heard[1].dropped);
	assert_int_equal(mesh_size(world.mesh), 0);
	world_end();
}

static void dropped_is_dropped(void **state)
{
	(void)state;
	world_begin("");
	ask_for("w1.example", 1);
	ask_for("c.w1.example", 2);
	ask_for("c.c.w2.example", 3);
	assert_int_equal(mesh_size(world.mesh), 5);
	mesh_drop_all(world.mesh);
	assert_int_equal(mesh_size(world.mesh), 0);
	assert_int_equal(world.heard_count, 3);
	for (unsigned i = 0; i < 3; i++)
		assert_true(world.heard[i].dropped);
	ask_for("n.example", 4);
	assert_int_equal(world.heard_count, 4);
	world_end();
}

static void with_the_mesh_nothing_is_run(void **state)
{
	unsigned operated;

	(void)state;
	world_begin("");
	ask_for("w1.example", 1);
	ask_for("c.w1.example", 2);
	mesh_tell(world.asleep[0], 1, &(struct event){ .kind = EVENT_TIMER });
	operated = world.operated;
	mesh_free(world.mesh);
	world.mesh = NULL;
	assert_int_equal(world.operated, operated);
	assert_int_equal(world.heard_count, 2);
	assert_true(world.heard[0].dropped && world.heard[1].dropped);
	world_end();
}

static void many_are_dropped_in_several_turns(void **state)
{
	(void)state;
	enum { MANY = MESH_DROPS + MESH_DROPS / 2 };

	world_begin("");
	for (uint16_t i = 0; i < MANY; i++) {
		char name[32];

		snprintf(name, sizeof name, "w%u.example", i);
		ask_for(name, i);
	}
	mesh_drop_all(world.mesh);
	assert_int_equal(mesh_size(world.mesh), MANY - MESH_DROPS);
	assert_int_equal(world.heard_count, MESH_DROPS);
	ask_for("wanted.example", MANY);
	loop_play(world.loop, 0);
	assert_int_equal(mesh_size(world.mesh), 1);
	assert_int_equal(world.heard_count, MANY);
	for (unsigned i = 0; i < MANY; i++)
		assert_true(world.heard[i].dropped && world.heard[i].id < MANY);
	wake(MANY);
	assert_int_equal(world.heard_count, MANY + 1);
	assert_false(world.heard[MANY].dropped);
	world_end();
}

static void those_whom_one_answer_wakes_go_on_in_several_turns(void **state)
{
	(void)state;
	enum { MANY = MESH_RUNS + MESH_RUNS / 2 };

	world_begin("");
	for (uint16_t i = 0; i < MANY; i++) {
		char name[32];

		snprintf(name, sizeof name, "c%u.w.example", i);
		ask_for(name, i);
	}
	assert_int_equal(world.asleep_count, 1);
	wake(0); /* is one of them */
	assert_int_equal(world.heard_count, MESH_RUNS - 1);
	ask_for("n.example", MANY); /* stands behind, and lets one go on */
	assert_int_equal(world.heard_count, MESH_RUNS);
	loop_play(world.loop, 0);
	assert_int_equal(world.heard_count, MANY + 1);
	assert_int_equal(mesh_size(world.mesh), 0);
	world_end();
}

static void on_resolved(void *arg, const struct message *reply)
{
	*(int *)arg = reply->rcode;
}

static void anybody_may_ask_without_a_packet(void **state)
{
	(void)state;
	static const struct {
		const char *name;
		bool wait;
		int rcode;
	} rows[] = {
		{ "n.example", false, RCODE_NOERROR },
		{ "w.example", true, RCODE_NOERROR },
		{ "f.example", true, RCODE_SERVFAIL },
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		struct question q;
		int rcode = -1;

		world_begin("");
		q = question_of(rows[i].name);
		mesh_resolve(world.mesh, &q, 0, on_resolved, &rcode);
		if (rows[i].wait) {
			assert_int_equal(rcode, -1);
			wake(0);
		}
		assert_int_equal(rcode, rows[i].rcode);
		world_end();
	}
}

static void children_are_paid_for(void **state)
{
	(void)state;
	world_begin("");
	ask_for("w.example", 1);
	world.asleep[0]->budget->children = 1;
	assert_true(mesh_side(world.asleep[0], name_of("w1.example"), TYPE_A, CLASS_IN, 0));
	/* what is asked already costs nothing */
	assert_true(mesh_side(world.asleep[0], name_of("w1.example"), TYPE_A, CLASS_IN, 0));
	assert_false(mesh_side(world.asleep[0], name_of("w2.example"), TYPE_A, CLASS_IN, 0));
	assert_null(mesh_child(world.asleep[0], name_of("w2.example"), TYPE_A, CLASS_IN, 0));
	assert_null(mesh_child(world.asleep[0], name_of("w.example"), TYPE_A, CLASS_IN, 0));
	assert_int_equal(mesh_size(world.mesh), 2);
	wake(0);
	assert_int_equal(mesh_size(world.mesh), 1);
	world_end();
}

static void what_is_forgotten_is_not_told(void **state)
{
	(void)state;
	world_begin("");
	ask_for("g.w.example", 1);
	assert_int_equal(world.asleep_count, 2);
	/* the child goes on by itself, and nobody hears of its end */
	wake(1);
	assert_int_equal(mesh_size(world.mesh), 1);
	assert_string_equal(world.story, "");
	assert_int_equal(world.heard_count, 0);
	wake(0);
	assert_int_equal(world.heard_count, 1);
	world_end();
}

static void what_must_not_be_cached_is_not(void **state)
{
	(void)state;
	static const struct {
		const char *why;
		unsigned kind;
		bool no_store, kept;
	} rows[] = {
		{ "an answer", 0, false, true },
		{ "with CD", QUERY_CD, false, true },
		{ "told not to", 0, true, false },
		{ "priming", QUERY_PRIME, false, false },
		{ "from the parent's side", QUERY_PARENT_SIDE, false, false },
		{ "not validated yet", QUERY_NO_VALIDATE, false, false },
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		struct question q;
		int rcode = -1;

		world_begin("");
		q = question_of("w.example");
		mesh_resolve(world.mesh, &q, rows[i].kind, on_resolved, &rcode);
		world.asleep[0]->no_store = rows[i].no_store;
		wake(0);
		if ((find("w.example") != NULL) != rows[i].kept)
			fail_msg("%s", rows[i].why);
		world_end();
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(equal_questions_are_worked_on_once),
		cmocka_unit_test(what_a_client_takes_back_is_given_up_unless_others_need_it),
		cmocka_unit_test(a_question_with_cd_is_another),
		cmocka_unit_test(modules_are_told_in_their_turn),
		cmocka_unit_test(a_timer_wakes_who_set_it),
		cmocka_unit_test(a_question_of_a_client_and_of_a_module_are_one),
		cmocka_unit_test(who_joins_a_lookup_fails_for_no_want_of_anothers_budget),
		cmocka_unit_test(who_is_given_up_while_its_child_ends_leaves_that_alone),
		cmocka_unit_test(dropped_is_dropped),
		cmocka_unit_test(with_the_mesh_nothing_is_run),
		cmocka_unit_test(many_are_dropped_in_several_turns),
		cmocka_unit_test(those_whom_one_answer_wakes_go_on_in_several_turns),
		cmocka_unit_test(anybody_may_ask_without_a_packet),
		cmocka_unit_test(children_are_paid_for),
		cmocka_unit_test(what_is_forgotten_is_not_told),
		cmocka_unit_test(what_must_not_be_cached_is_not),
	};

	hash_start(true);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
