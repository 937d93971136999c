/* Claims about what is forgotten of a zone held here when its content changes.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "services/authzone/changes.h"

#include "services/authzone/data.h"
#include "services/authzone/zones.h"
#include "services/cache/forget.h"
#include "services/tests/made.h"
#include "util/base/rcu.h"

#define APEX "g.example. 600 SOA ns.g.example. h.g.example. 7 3600 900 86400 60\ng.example. 600 NS ns.g.example.\n"

static struct zonedata *make(const char *lines)
{
	struct zonebuild *b = zonebuild_new(N("g.example."));
	struct fault f = { 0 };
	struct zonedata *z;
	struct arena a;

	arena_init(&a);
	for (const char *at = lines, *end; *at; at = *end ? end + 1 : end) {
		struct text_rr rr;
		char line[256];

		end = at + strcspn(at, "\n");
		snprintf(line, sizeof(line), "%.*s", (int)(end - at), at);
		if (!text_rr_parse(&a, line, NULL, &rr, &f))
			fail_msg("'%s': %s", line, f.text);
		zonebuild_add(b, &rr);
	}
	z = zonebuild_finish(b, &f);
	if (!z)
		fail_msg("%s", f.text);
	arena_clear(&a);
	return z;
}

static const char *const names[] = { "g.example.", "a.g.example.", "x.a.g.example.", "b.g.example.", "y.x.b.g.example." };

/* The letters of those names that go. */
static void gone(const char *before, const char *now, char *to)
{
	struct zonedata *old = make(before), *next = make(now);
	struct forget *f = forget_new(0);

	rcu_turn_begin();
	authzone_changes(old, next, f);
	rcu_turn_end();
	for (size_t i = 0; i < COUNT(names); i++)
		if (forget_name(f, N(names[i]), 0))
			*to++ = "gaxby"[i];
	*to = '\0';
	forget_free(f);
	zonedata_free(old);
	zonedata_free(next);
}

static void what_changes_goes_as_far_as_it_reaches(void **state)
{
	(void)state;
	static const struct {
		const char *why, *one, *other, *goes;
	} rows[] = {
		{ "nothing changes", APEX "a.g.example. 600 A 192.0.2.1", APEX "a.g.example. 600 A 192.0.2.1", "" },
		{ "records in another order", APEX "a.g.example. 600 A 192.0.2.1\na.g.example. 600 A 192.0.2.2",
		  APEX "a.g.example. 600 A 192.0.2.2\na.g.example. 600 A 192.0.2.1", "" },
		{ "a record", APEX "a.g.example. 600 A 192.0.2.1", APEX "a.g.example. 600 A 192.0.2.2", "a" },
		{ "a TTL", APEX "a.g.example. 600 A 192.0.2.1", APEX "a.g.example. 60 A 192.0.2.1", "a" },
		{ "another type", APEX "a.g.example. 600 A 192.0.2.1",
		  APEX "a.g.example. 600 A 192.0.2.1\na.g.example. 600 TXT x", "a" },
		{ "a type for another", APEX "a.g.example. 600 MX 1 a.", APEX "a.g.example. 600 TXT x", "a" },
		{ "a name", APEX, APEX "a.g.example. 600 A 192.0.2.1", "ax" },
		{ "a name below none", APEX, APEX "x.b.g.example. 600 A 192.0.2.1", "by" },
		{ "a name below another", APEX "x.b.g.example. 600 A 192.0.2.1",
		  APEX "x.b.g.example. 600 A 192.0.2.1\ny.x.b.g.example. 600 A 192.0.2.1", "y" },
		{ "the serial number", APEX, "g.example. 600 SOA ns.g.example. h.g.example. 8 3600 900 86400 60\n"
					     "g.example. 600 NS ns.g.example.", "g" },
		{ "the apex's servers", APEX, "g.example. 600 SOA ns.g.example. h.g.example. 7 3600 900 86400 60\n"
					      "g.example. 600 NS ns2.g.example.", "g" },
		{ "servers of a delegation", APEX "a.g.example. 600 NS ns.a.g.example.", APEX "a.g.example. 600 NS ns.b.", "a" },
		{ "a delegation", APEX "a.g.example. 600 A 192.0.2.1", APEX "a.g.example. 600 NS ns.b.", "ax" },
		{ "a DNAME", APEX "a.g.example. 600 A 192.0.2.1",
		  APEX "a.g.example. 600 A 192.0.2.1\na.g.example. 600 DNAME b.", "ax" },
		{ "a DNAME's target", APEX "a.g.example. 600 DNAME c.", APEX "a.g.example. 600 DNAME b.", "ax" },
		{ "a wildcard", APEX "*.b.g.example. 600 A 192.0.2.1", APEX "*.b.g.example. 600 A 192.0.2.2", "by" },
		{ "the zone's wildcard", APEX, APEX "*.g.example. 600 A 192.0.2.2", "gaxby" },
		{ "only how names are denied", APEX "a.g.example. 600 A 192.0.2.1\na.g.example. 600 NSEC b.g.example. A",
		  APEX "a.g.example. 600 A 192.0.2.1\na.g.example. 600 NSEC g.example. A", "" },
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		char there[8], back[8];

		gone(rows[i].one, rows[i].other, there);
		gone(rows[i].other, rows[i].one, back);
		if (strcmp(there, rows[i].goes) != 0 || strcmp(back, rows[i].goes) != 0)
			fail_msg("%s: %s when it comes, %s when it goes, not %s", rows[i].why, there, back, rows[i].goes);
	}
}

static void of_very_many_changes_the_whole_zone_is_flushed(void **state)
{
	(void)state;
	static char text[11000 * 40];
	char which[8];
	size_t len = (size_t)snprintf(text, sizeof(text), APEX);

	for (unsigned i = 0; i < 9999; i++)
		len += (size_t)snprintf(text + len, sizeof(text) - len, "n%u.a.g.example. 600 A 192.0.2.1\n", i);
	gone(APEX "a.g.example. 600 A 192.0.2.1", APEX "a.g.example. 600 A 192.0.2.2", which);
	assert_string_equal(which, "a");
	gone(APEX "q.a.g.example. 60 A 192.0.2.1\n", text, which);
	assert_string_equal(which, "gaxby");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_changes_goes_as_far_as_it_reaches),
		cmocka_unit_test(of_very_many_changes_the_whole_zone_is_flushed),
	};
	int failed;

	rcu_thread_join();
	failed = cmocka_run_group_tests_name("authzone_changes", tests, NULL, NULL);
	rcu_flush();
	rcu_thread_leave();
	return failed;
}
