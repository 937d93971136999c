/* Claims about queries that make no progress: the mesh ends them, and says so.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "services/mesh/tests/fixture.h"
#include "util/base/log.h"

/* Two modules that the first letter of a name leads astray. */
static bool outside; /* the lower one says that it waits for something outside the mesh */

static enum step above_operate(struct query *q, void *state, const struct event *ev)
{
	(void)state;
	if (ev->kind == EVENT_ASK)
		return STEP_DOWN;
	return q->question.name[1] == 'u' ? STEP_DOWN : STEP_UP; /* again and again */
}

static enum step below_operate(struct query *q, void *state, const struct event *ev)
{
	(void)state;
	world.operated++;
	switch (q->question.name[1]) {
	case 's':
		return STEP_STUCK;
	case 'w':
		if (ev->kind == EVENT_ASK)
			return STEP_WAIT;
		break;
	case 't':
		if (ev->kind == EVENT_ASK) {
			mesh_wake_at(q, 5000);
			return STEP_WAIT;
		}
		break;
	case 'y':
		mesh_yield(q);
		return STEP_WAIT;
	case 'c':
		if (ev->kind == EVENT_ASK) {
			assert_non_null(mesh_child(q, dname_parent(q->question.name), TYPE_A, CLASS_IN, 0));
			return STEP_WAIT;
		}
		break;
	default:
		break;
	}
	answer_with(q, RCODE_NOERROR);
	return STEP_UP;
}

static bool below_waits(const void *state)
{
	(void)state;
	return outside;
}

static const char *below_state(const void *state)
{
	(void)state;
	return "lost";
}

static struct module below = { .name = "below",
			       .state_size = 1,
			       .operate = below_operate,
			       .waits = below_waits,
			       .state_name = below_state };

static char lines[4096];

static void on_line(const char *line, void *arg)
{
	size_t len = strlen(lines);

	(void)arg;
	snprintf(lines + len, sizeof(lines) - len, "%s\n", line);
}

static void begin(unsigned wakes)
{
	static const struct module above = {
		.name = "above", .state_size = 1, .operate = above_operate
	};
	static const struct module *const chain[] = { &above, &below, NULL };

	world_begin("");
	mesh_free(world.mesh);
	below.wakes = wakes;
	outside = false;
	world.env.mesh = world.mesh = mesh_new(&world.env, chain);
	lines[0] = '\0';
	log_capture(on_line, NULL);
}

static void end(void)
{
	log_capture(NULL, NULL);
	world_end();
}

static void what_makes_no_progress_is_ended(void **state)
{
	(void)state;
	static const struct {
		const char *why, *name;
		unsigned wakes;
		const char *said; /* NULL: nothing, and the answer comes */
	} rows[] = {
		{ "all is well", "n.example", WAKE_ANY, NULL },
		{ "it says so itself", "s.example", WAKE_ANY, "module below, state lost, event ask" },
		{ "it waits for nothing", "w.example", WAKE_ANY, "module below, state lost, event ask" },
		{ "it waits for a timer", "t.example", WAKE_ANY, NULL },
		{ "it cannot take what comes", "t.example", WAKE_ANY & ~WAKE_TIMER,
		  "module below, state lost, event timer" },
		{ "it waits for a child", "c.n.example", WAKE_ANY, NULL },
		{ "it cannot take its child", "c.n.example", WAKE_ANY & ~WAKE_CHILD,
		  "module below, state lost, event child" },
		{ "its child makes no progress", "c.s.example", WAKE_ANY,
		  "module below, state lost, event ask" },
		{ "it yields without end", "y.example", WAKE_ANY,
		  "module below, state lost, event turn, after too many steps" },
		{ "it cannot take its turn", "y.example", WAKE_ANY & ~WAKE_TURN,
		  "module below, state lost, event turn" },
		{ "modules hand it to and fro", "u.example", WAKE_ANY, "after too many steps" },
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		begin(rows[i].wakes);
		ask_for(rows[i].name, 7);
		loop_play(world.loop, 9 * US_PER_S);
		if (world.heard_count != 1 || world.heard[0].dropped)
			fail_msg("%s: no reply", rows[i].why);
		assert_int_equal(msg_rcode(world.heard[0].wire),
				 rows[i].said && rows[i].name[0] != 'c' ? RCODE_SERVFAIL
				 : rows[i].wakes & WAKE_CHILD           ? RCODE_NOERROR
									: RCODE_SERVFAIL);
		if (count(&world.stats.count[STAT_queries_stuck]) != (rows[i].said != NULL))
			fail_msg("%s: counted wrongly", rows[i].why);
		if (rows[i].said ? !strstr(lines, rows[i].said) : *lines != '\0')
			fail_msg("%s: the log says: %s", rows[i].why, lines);
		assert_true(world.operated <= QUERY_STEPS);
		assert_int_equal(mesh_size(world.mesh), 0);
		end();
	}
}

static void who_waits_for_something_outside_is_left_alone(void **state)
{
	(void)state;

	begin(WAKE_ANY);
	outside = true;
	ask_for("w.example", 7);
	assert_int_equal(mesh_size(world.mesh), 1);
	assert_int_equal(world.heard_count, 0);
	assert_int_equal(count(&world.stats.count[STAT_queries_stuck]), 0);
	end();
}

/* Just below the limit, nothing happens; what is counted are steps of all modules. */
static void a_query_has_ten_thousand_steps(void **state)
{
	struct query q = { .steps = 0 };
	unsigned taken = 0;

	(void)state;
	while (query_may_step(&q))
		taken++;
	assert_int_equal(taken, 9999);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_makes_no_progress_is_ended),
		cmocka_unit_test(who_waits_for_something_outside_is_left_alone),
		cmocka_unit_test(a_query_has_ten_thousand_steps),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
