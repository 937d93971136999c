/* Claims about the cache file: what comes back, and as what.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "services/cachefile/tests/fixture.h"

static void an_answer_comes_back_with_what_is_left_of_it(void **state)
{
	(void)state;
	static const struct {
		const char *why;
		const struct made *made;
		uint8_t was, is;
		bool comes, whole;
	} rows[] = {
		{ "insecure", &plain, SECURITY_INSECURE, SECURITY_INSECURE, true, false },
		{ "under no anchor", &plain, SECURITY_INDETERMINATE, SECURITY_INDETERMINATE, true, false },
		{ "proven: to be proven again", &proven, SECURITY_SECURE, SECURITY_UNCHECKED,
		  true, false },
		{ "a denial", &denied, SECURITY_INSECURE, SECURITY_INSECURE, true, false },
		{ "with the TTLs it came with", &plain, SECURITY_INSECURE, SECURITY_INSECURE, true, true },
		{ "proven, likewise", &proven, SECURITY_SECURE, SECURITY_UNCHECKED, true, true },
		{ "bogus", &proven, SECURITY_BOGUS, 0, false, false },
		{ "a failure", &failed, SECURITY_INDETERMINATE, 0, false, false },
		{ "withheld", &proven, SECURITY_SECURE_SENTINEL_FAIL, 0, false, false },
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		struct fixture was = fixture_new(), is = fixture_new();
		struct cachefile_how how = how_of(&is);
		struct cachefile_count count;
		const struct stored *s, *before;
		struct fault f;

		keeps_whole = rows[i].whole;
		keep(&was, rows[i].made, rows[i].was, 0, NOW - 20, 60);
		write_fixture(&was);
		how.now.wall_s += 10;
		how.now.now_s = 70; /* the machine was started again */
		how.now.now_us = 70 * US_PER_S;
		if (!read_fixture(&how, &count, &f))
			fail_msg("%s: %s", rows[i].why, f.text);
		s = look_in(&is, rows[i].made->name, rows[i].made->type, 0);
		if (!!s != rows[i].comes || count.answers != rows[i].comes)
			fail_msg("%s: found %d, counted %d", rows[i].why, !!s, (int)count.answers);
		before = look_in(&was, rows[i].made->name, rows[i].made->type, 0);
		if (s) {
			assert_int_equal(s->security, rows[i].is);
			assert_int_equal((int32_t)(s->expires_s - 70), 30);
			assert_int_equal((int32_t)(70 - s->stored_s), 30);
			assert_int_equal(s->rcode, rows[i].made->rcode);
			assert_int_equal(s->fits, before->fits);
			assert_int_equal(s->wire_len, before->wire_len);
			assert_memory_equal(stored_wire(s), stored_wire(before), s->wire_len);
		}
		fixture_free(&was);
		fixture_free(&is);
	}
	keeps_whole = false;
}

static void time_goes_on_while_nobody_counts(void **state)
{
	(void)state;
	/* An answer with 60 seconds left when the file was written. */
	static const struct {
		const char *why;
		int64_t wall_s; /* since then */
		int64_t mono_s; /* the same of the monotonic clock */
		uint32_t expired_s, most_s;
		bool used;
		int left_s; /* 0: it is not found */
	} rows[] = {
		{ "at once", 0, 0, 0, 86400, true, 60 },
		{ "a minute less a second later", 59, 59, 0, 86400, true, 1 },
		{ "a minute later", 60, 60, 0, 86400, true, 0 },
		{ "a year later", 31536000, -4000, 0, 86400, true, 0 },
		{ "a year later, expired is of use for a day", 31536000, -4000, 86400, 86400, true,
		  0 },
		{ "the machine was started anew", 20, -4000, 0, 86400, true, 40 },
		{ "the clock was set back a little: the other one knows", 5, 30, 0, 86400, true,
		  30 },
		{ "the clock was set back behind the file", -3600, 30, 0, 86400, false, 0 },
		{ "the clock has forgotten everything", -WALL + 5, -4990, 0, 86400, false, 0 },
		{ "a second of disorder", -1, 0, 0, 86400, true, 60 },
		{ "expired, of use for a day", 100, 100, 86400, 86400, true, -40 },
		{ "expired, of use for less", 100, 100, 30, 86400, true, 0 },
		{ "nothing may live that long any more", 10, 10, 0, 20, true, 20 },
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		struct fixture was = fixture_new(), is = fixture_new();
		struct cachefile_how how = how_of(&is);
		struct cachefile_count count;
		const struct stored *s;
		struct fault f;
		int left_s;

		keep(&was, &plain, SECURITY_INSECURE, 0, NOW - 240, 300);
		write_fixture(&was);
		how.now.wall_s += rows[i].wall_s;
		how.now.now_s = (uint32_t)(NOW + rows[i].mono_s);
		how.now.now_us = how.now.now_s * US_PER_S;
		how.expired_s = rows[i].expired_s;
		how.most_ttl_s = rows[i].most_s;
		if (read_fixture(&how, &count, &f) != rows[i].used)
			fail_msg("%s: %s", rows[i].why, f.text);
		s = look_in(&is, "www.example.", TYPE_A, 0);
		left_s = s ? (int32_t)(s->expires_s - how.now.now_s) : 0;
		if (left_s != rows[i].left_s)
			fail_msg("%s: %d s left, not %d", rows[i].why, left_s, rows[i].left_s);
		fixture_free(&was);
		fixture_free(&is);
	}
}

static void other_settings_take_only_what_can_be_proven(void **state)
{
	(void)state;
	struct fixture was = fixture_new(), is = fixture_new();
	struct cachefile_how how = how_of(&is);
	struct cachefile_count count;
	struct fault f;

	keep(&was, &plain, SECURITY_INSECURE, 0, NOW, 300);
	keep(&was, &proven, SECURITY_SECURE, 0, NOW, 300);
	keep_set(&was, "a.example. 300 NS b.example.\n", SECURITY_UNCHECKED, TRUST_AUTH_AA);
	keep_set(&was, "c.example. 300 DS 1 13 2 ABCD\n", SECURITY_SECURE, TRUST_VALIDATED);
	write_fixture(&was);
	how.validation++;
	assert_true(read_fixture(&how, &count, &f));
	assert_int_equal(count.answers, 1);
	assert_int_equal(count.sets, 1);
	assert_int_equal(count.passed, 2);
	assert_null(look_in(&is, "www.example.", TYPE_A, 0));
	assert_int_equal(look_in(&is, "s.example.", TYPE_A, 0)->security, SECURITY_UNCHECKED);
	how.shape++;
	assert_false(read_fixture(&how, &count, &f));
	assert_non_null(strstr(f.text, "other rules"));
	fixture_free(&was);
	fixture_free(&is);
}

static void nothing_unproven_that_has_expired_comes_back(void **state)
{
	(void)state;
	struct fixture was = fixture_new(), is = fixture_new();
	struct cachefile_how how = how_of(&is);
	struct cachefile_count count;
	struct fault f;

	keep(&was, &proven, SECURITY_SECURE, 0, NOW, 300);
	write_fixture(&was);
	how.now.wall_s += 400;
	how.expired_s = 86400;
	assert_true(read_fixture(&how, &count, &f));
	assert_int_equal(count.answers, 0);
	assert_int_equal(count.expired, 1);
	how.validates = false;
	assert_true(read_fixture(&how, &count, &f));
	assert_int_equal(count.answers, 1);
	fixture_free(&was);
	fixture_free(&is);
}

static void sets_come_back_unproven(void **state)
{
	(void)state;
	static const struct {
		const char *why, *text;
		uint16_t type;
		uint8_t was, trust, is, is_trust;
		bool comes;
	} rows[] = {
		{ "keys, proven", "example. 300 DNSKEY 257 3 13 AAAA\n" SIG("example.", "DNSKEY"),
		  TYPE_DNSKEY, SECURITY_SECURE, TRUST_VALIDATED, SECURITY_UNCHECKED, TRUST_ANS_AA,
		  true },
		{ "a delegation", "example. 300 NS a.example.\nexample. 300 NS b.example.\n",
		  TYPE_NS, SECURITY_UNCHECKED, TRUST_AUTH_NOAA, SECURITY_UNCHECKED, TRUST_AUTH_NOAA,
		  true },
		{ "insecure", "example. 300 CNAME b.example.\n", TYPE_CNAME, SECURITY_INSECURE,
		  TRUST_ANS_AA, SECURITY_INSECURE, TRUST_ANS_AA, true },
		{ "bogus", "example. 300 CNAME b.example.\n", TYPE_CNAME, SECURITY_BOGUS,
		  TRUST_ANS_AA, 0, 0, false },
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		struct fixture was = fixture_new(), is = fixture_new();
		struct cachefile_how how = how_of(&is);
		struct cachefile_count count;
		const struct rrset *s, *before;
		struct fault f;

		keep_set(&was, rows[i].text, rows[i].was, rows[i].trust);
		write_fixture(&was);
		how.now.wall_s += 10;
		assert_true(read_fixture(&how, &count, &f));
		s = rrsetcache_find(is.rrsets, N("example."), rows[i].type, CLASS_IN, 0, NOW);
		if (!!s != rows[i].comes)
			fail_msg("%s: found %d", rows[i].why, !!s);
		before = rrsetcache_find(was.rrsets, N("example."), rows[i].type, CLASS_IN, 0, NOW);
		if (s) {
			assert_int_equal(s->security, rows[i].is);
			assert_int_equal(s->trust, rows[i].is_trust);
			assert_int_equal(s->expires_s, NOW + 290);
			assert_int_equal(s->ttl_s, 300);
			assert_true(rrset_same_records(s, before));
			assert_true(rrset_same_signatures(s, before));
		}
		fixture_free(&was);
		fixture_free(&is);
	}
}

static void what_belongs_to_a_view_is_not_written(void **state)
{
	(void)state;
	struct fixture was = fixture_new();
	struct rrsetcache *scoped = rrsetcache_scoped(was.rrsets, 3);
	struct fixture view = { .messages = was.messages, .rrsets = scoped };
	struct cachefile_count count;

	keep(&was, &plain, SECURITY_INSECURE, 3, NOW, 300);
	keep_set(&view, "example. 300 NS a.example.\n", SECURITY_INSECURE, TRUST_ANS_AA);
	count = write_fixture(&was);
	assert_int_equal(count.answers, 0);
	assert_int_equal(count.sets, 0);
	rrsetcache_free(scoped);
	fixture_free(&was);
}

static void what_was_learnt_meanwhile_stays(void **state)
{
	(void)state;
	static const struct made newer = {
		"www.example.", TYPE_A, RCODE_NOERROR, { "www.example. 300 A 192.0.2.9\n" }
	};
	static const struct made broken = { "www.example.", TYPE_A, RCODE_SERVFAIL, { NULL } };
	struct fixture was = fixture_new(), is = fixture_new(), poor = fixture_new();
	struct cachefile_how how = how_of(&is);
	struct cachefile_count count;
	struct fault f;

	keep(&was, &plain, SECURITY_INSECURE, 0, NOW, 300);
	write_fixture(&was);
	keep(&is, &newer, SECURITY_INSECURE, 0, NOW, 5);
	assert_true(read_fixture(&how, &count, &f));
	assert_int_equal(count.answers, 0);
	assert_int_equal(look_in(&is, "www.example.", TYPE_A, 0)->expires_s, NOW + 5);
	keep(&poor, &broken, SECURITY_INDETERMINATE, 0, NOW, 5);
	how = how_of(&poor);
	assert_true(read_fixture(&how, &count, &f));
	assert_int_equal(look_in(&poor, "www.example.", TYPE_A, 0)->rcode, RCODE_NOERROR);
	fixture_free(&was);
	fixture_free(&is);
	fixture_free(&poor);
}

int main(void)
{
	static const struct CMUnitTest claims[] = {
		cmocka_unit_test(an_answer_comes_back_with_what_is_left_of_it),
		cmocka_unit_test(time_goes_on_while_nobody_counts),
		cmocka_unit_test(other_settings_take_only_what_can_be_proven),
		cmocka_unit_test(nothing_unproven_that_has_expired_comes_back),
		cmocka_unit_test(sets_come_back_unproven),
		cmocka_unit_test(what_belongs_to_a_view_is_not_written),
		cmocka_unit_test(what_was_learnt_meanwhile_stays),
	};

	return cmocka_run_group_tests(claims, begin, end);
}
