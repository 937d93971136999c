/* Claims about the iterator's states: which events each takes, and that it never stands.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "iterator/iter.h"

#include <stdio.h>
#include <stdlib.h>

#include "iterator/iterator.h"
#include "services/mesh/private.h"
#include "services/query/snapshot.h"
#include "services/tests/conf.h"
#include "services/tests/made.h"
#include "util/base/loop.h"

/* What may come, and the scenario that shows what follows. All else ends the query. */
static const struct {
	enum iter_state state;
	enum event_kind event;
	const char *shown_by;
} taken[] = {
	{ ITER_start, EVENT_ASK, "referral_is_followed" },
	{ ITER_prime, EVENT_CHILD, "hints_prime_the_root" },
	{ ITER_await, EVENT_CHILD, "glue_is_missing" },
	{ ITER_await, EVENT_REPLY, "referral_is_followed" },
	{ ITER_confirm, EVENT_CHILD, "ds_is_asked_above_a_cut_that_is_not_named" },
	{ ITER_finish, EVENT_ASK, "signed_answer_is_forged" },
};

static const char *is_taken(unsigned state, unsigned event)
{
	for (size_t i = 0; i < COUNT(taken); i++)
		if (taken[i].state == state && taken[i].event == event)
			return taken[i].shown_by;
	return NULL;
}

static void every_event_that_a_state_does_not_take_ends_the_query(void **state)
{
	(void)state;
	for (unsigned s = 0; s < ITER_STATE_COUNT; s++) {
		for (unsigned e = 0; e < EVENT_KINDS; e++) {
			struct iter it = { .state = (enum iter_state)s }, before = it;
			struct event ev = { .kind = (enum event_kind)e };
			struct query q = { .steps = 0 };

			if (is_taken(s, e))
				continue;
			if (iterator_module.operate(&q, &it, &ev) != STEP_STUCK)
				fail_msg("state %u takes event %u", s, e);
			assert_memory_equal(&it, &before, sizeof(it));
		}
	}
}

static void for_every_other_pair_there_is_a_scenario(void **state)
{
	const char *src = getenv("srcdir");
	char path[1024];

	(void)state;
	for (size_t i = 0; i < COUNT(taken); i++) {
		FILE *f;

		snprintf(path, sizeof(path), "%s/testdata/replay/%s.rpl", src ? src : ".",
			 taken[i].shown_by);
		f = fopen(path, "r");
		if (!f)
			fail_msg("%s is not there", path);
		fclose(f);
		assert_true(iterator_module.wakes & 1u << taken[i].event ||
			    taken[i].event == EVENT_ASK);
	}
}

/* A child has told what is of no use, and there is no other: then nobody will tell, and waiting, or trying the same
 * again, would never end. */
static void who_waits_for_children_fails_when_there_are_none(void **state)
{
	static const enum iter_state waiting[] = { ITER_prime, ITER_confirm };
	static const struct {
		const char *why;
		unsigned steps;
		enum step want;
	} rows[] = {
		{ "it fails", 0, STEP_UP },
		{ "it has taken too many steps", QUERY_STEPS - 1, STEP_STUCK },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(waiting) * COUNT(rows); i++) {
		struct conf *conf = conf_from("");
		struct snapshot snapshot = { .conf = conf };
		struct budget budget = { .sends = 1 };
		struct query child = { .question = made_question("other.", TYPE_TXT) };
		struct mesh_lookup lookup = { .q = { .question = made_question("www.example.", TYPE_A),
						.snapshot = &snapshot,
						.budget = &budget,
						.steps = rows[i % 2].steps } };
		struct query *q = &lookup.q;
		struct iter it = { .q = q,
				   .arena = &q->arena,
				   .conf = &conf->server,
				   .state = waiting[i / 2],
				   .at = NULL };
		struct event ev = { .kind = EVENT_CHILD, .child = &child };

		arena_init(&q->arena);
		it.at = delegation_new(&q->arena, dname_root); /* what was tried before is no progress */
		list_init(&lookup.children);
		list_init(&lookup.events);
		if (iterator_module.operate(q, &it, &ev) != rows[i % 2].want)
			fail_msg("%s: wrong", rows[i % 2].why);
		if (rows[i % 2].want == STEP_UP)
			assert_int_equal(q->reply->rcode, RCODE_SERVFAIL);
		arena_clear(&q->arena);
		conf_free(conf);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_event_that_a_state_does_not_take_ends_the_query),
		cmocka_unit_test(for_every_other_pair_there_is_a_scenario),
		cmocka_unit_test(who_waits_for_children_fails_when_there_are_none),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
