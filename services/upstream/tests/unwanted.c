/* Claims about when unsolicited responses empty the caches.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "services/upstream/unwanted.h"

#include "services/query/env.h"
#include "services/query/snapshot.h"
#include "services/stats/stats.h"
#include "services/tests/conf.h"

static void count_call(void *calls)
{
	++*(unsigned *)calls;
}

static void at_the_threshold_the_caches_are_emptied(void **state)
{
	(void)state;
	static const struct {
		const char *why, *conf;
		unsigned noted, purges;
	} rows[] = {
		{ "no threshold", "", 1000, 0 },
		{ "one less", "server:\n unwanted-reply-threshold: 5\n", 4, 0 },
		{ "reached", "server:\n unwanted-reply-threshold: 5\n", 5, 1 },
		{ "counted anew after it", "server:\n unwanted-reply-threshold: 5\n", 9, 1 },
		{ "reached again", "server:\n unwanted-reply-threshold: 5\n", 10, 2 },
		{ "at each one", "server:\n unwanted-reply-threshold: 1\n", 3, 3 },
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		struct snapshot snapshot = { .conf = conf_from(rows[i].conf) };
		struct stats stats = { 0 };
		unsigned purges = 0;
		struct env env = { .snapshot = &snapshot,
				   .stats = &stats,
				   .purge = count_call,
				   .purge_arg = &purges };

		for (unsigned n = 0; n < rows[i].noted; n++)
			unwanted_note(&env);
		if (purges != rows[i].purges)
			fail_msg("%s: emptied %u times, not %u", rows[i].why, purges,
				 rows[i].purges);
		assert_int_equal(atomic_load(&stats.unwanted_replies), rows[i].noted);
		conf_free(snapshot.conf);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(at_the_threshold_the_caches_are_emptied),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
