/* Claims about where to begin.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "iterator/hints.h"

#include "iterator/delegation.h"
#include "services/forward/forward.h"
#include "services/query/query.h"
#include "services/query/snapshot.h"
#include "services/tests/conf.h"
#include "services/tests/made.h"
#include "util/base/hash.h"
#include "util/conf/options.h"

#include <string.h>

static bool same_text(const char *a, const char *b)
{
	return a && b ? strcmp(a, b) == 0 : a == b;
}

/* The zone is not cached yet, or all that was cached has failed: both begin with the same servers. */
static void a_root_stub_is_asked_as_any_other_stub(void **state)
{
	(void)state;
	static const char *const rows[] = {
		"stub-addr: 192.0.2.1\n",
		"stub-addr: 192.0.2.1@5353\n",
		"stub-addr: 192.0.2.1@853#dns.example\nstub-tls-upstream: yes\n",
		"stub-host: ns.example@853#dns.example\nstub-tls-upstream: yes\n",
		"stub-host: ns.example\nstub-tcp-upstream: yes\n",
	};

	for (unsigned i = 0; i < COUNT(rows); i++) {
		struct fault f = { 0 };
		struct snapshot s = { .conf = NULL };
		struct query q = { .snapshot = &s };
		const struct delegation *want, *got;
		char text[200];

		snprintf(text, sizeof(text), "stub-zone:\n name: .\n%s", rows[i]);
		s.conf = conf_from(text);
		s.forwards = forwards_new(s.conf, &f);
		if (!s.forwards)
			fail_msg("%s: %s", rows[i], f.text);
		arena_init(&q.arena);
		want = delegation_from_config(&q.arena, forwards_find_stub(s.forwards, dname_root));
		got = hints_delegation(&q);
		assert_int_equal(got->transport, want->transport);
		assert_int_equal(got->target_count, want->target_count);
		assert_int_equal(got->name_count, want->name_count);
		for (unsigned k = 0; k < want->target_count; k++)
			if (!addr_equals(&got->targets[k].addr, &want->targets[k].addr) ||
			    !same_text(got->targets[k].tls_name, want->targets[k].tls_name))
				fail_msg("%s: another target", rows[i]);
		for (unsigned k = 0; k < want->name_count; k++)
			if (!dname_equals(got->names[k].name, want->names[k].name) ||
			    got->names[k].port != want->names[k].port ||
			    !same_text(got->names[k].tls_name, want->names[k].tls_name))
				fail_msg("%s: another name", rows[i]);
		arena_clear(&q.arena);
		forwards_free(s.forwards);
		conf_free(s.conf);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_root_stub_is_asked_as_any_other_stub),
	};

	hash_start(true);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
