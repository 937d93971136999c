/* Claims about what a change of the configuration makes untrue, of what is cached.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "services/cache/forget.h"

#include "services/cache/msg.h"
#include "services/tests/made.h"
#include "util/base/rcu.h"

#define NOW UINT32_C(5000)

#define SOA "example. 300 SOA ns.example. h.example. 1 2 3 4 300"

static const struct made made[] = {
	{ "www.example.", TYPE_A, RCODE_NOERROR, { "www.example. 300 A 10.0.0.1" } },
	{ "to.example.", TYPE_A, RCODE_NOERROR, { "to.example. 300 CNAME a.corp.test.\na.corp.test. 300 A 192.0.2.1" } },
	{ "www.corp.test.", TYPE_A, RCODE_NOERROR, { "www.corp.test. 3600 A 192.0.2.2" } },
	{ "corp.test.", TYPE_MX, RCODE_NOERROR, { "corp.test. 60 MX 1 mx.example." } },
	{ "nx.example.", TYPE_A, RCODE_NXDOMAIN, { NULL, SOA } },
	{ "none.example.", TYPE_A, RCODE_NOERROR, { NULL, SOA } },
	{ "fails.example.", TYPE_A, RCODE_SERVFAIL, { NULL } },
	{ "ns.example.", TYPE_NS, RCODE_NOERROR, { "ns.example. 300 NS x.corp.test.", NULL, "x.corp.test. 300 A 192.0.2.3" } },
	{ "notcorp.test.", TYPE_A, RCODE_NOERROR, { "notcorp.test. 300 A 192.0.2.4" } },
};
enum { WWW = 1, TO = 2, CORP = 4, MX = 8, NX = 16, NONE = 32, FAILS = 64, NS = 128, NOT = 256, ALL = 511 };

static bool is_ten(const void *arg, const uint8_t *owner, uint16_t type, struct slice rd)
{
	(void)arg;
	(void)owner;
	return type == TYPE_A && rd.len == 4 && rd.at[0] == 10;
}

/* Which of the messages go, each stored now in this scope. */
static unsigned gone(const struct forget *f, uint16_t scope)
{
	unsigned which = 0;

	for (unsigned i = 0; i < COUNT(made); i++) {
		struct msgcache *c = msgcache_new(1 << 16, 1);
		const struct stored *s;
		struct arena a;

		arena_init(&a);
		rcu_turn_begin();
		s = msgcache_store(c, made_message(&a, NOW, &made[i]),
				   &(struct msg_keep){ .now_s = NOW, .ttl_s = made[i].rcode == RCODE_SERVFAIL ? 5 : i == 2 ? 3600 : 60,
						       .scope = scope });
		assert_non_null(s);
		which |= (unsigned)forget_answer(f, s) << i;
		rcu_turn_end();
		arena_clear(&a);
		msgcache_free(c);
	}
	return which;
}

static void messages_go_as_far_as_a_change_reaches(void **state)
{
	(void)state;
	static const struct {
		const char *why;
		unsigned kinds;
		const char *below;
		int scope;
		uint16_t in;
		uint32_t most_s, denial_most_s, raised_s, least_s;
		bool ten;
		unsigned want;
	} rows[] = {
		{ "nothing", .want = 0 },
		{ "everything", .kinds = FORGET_EVERYTHING, .want = ALL },
		{ "answers", .kinds = FORGET_ANSWERS, .want = ALL },
		{ "failures", .kinds = FORGET_FAILURES, .want = FAILS },
		{ "denials", .kinds = FORGET_DENIALS, .want = NX | NONE | FAILS },
		{ "bogus", .kinds = FORGET_BOGUS, .want = 0 },
		{ "a subtree, and what leads there", .below = "corp.test.", .scope = FORGET_EVERY_SCOPE, .want = TO | CORP | MX | NS },
		{ "one name", .below = "www.corp.test.", .scope = FORGET_EVERY_SCOPE, .want = CORP },
		{ "the root", .below = ".", .scope = FORGET_EVERY_SCOPE, .want = ALL },
		{ "a subtree of another scope", .below = "corp.test.", .scope = 3, .want = 0 },
		{ "a subtree of that scope", .below = "corp.test.", .scope = 3, .in = 3, .want = TO | CORP | MX | NS },
		{ "a subtree of all scopes", .below = "corp.test.", .scope = FORGET_EVERY_SCOPE, .in = 3, .want = TO | CORP | MX | NS },
		{ "by an address", .ten = true, .want = WWW },
		{ "too long", .most_s = 1000, .denial_most_s = 1000, .want = CORP },
		{ "just long enough", .most_s = 3600, .denial_most_s = 3600, .want = 0 },
		{ "denials that last too long", .most_s = 10000, .denial_most_s = 100, .want = NX | NONE | NS },
		{ "what may have been raised", .raised_s = 60, .least_s = 10, .want = ALL & ~(CORP | FAILS) },
		{ "what may have been raised, but not above", .raised_s = 60, .least_s = 60, .want = 0 },
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		struct forget *f = forget_new(NOW), *chained = forget_new(NOW);
		unsigned got;

		forget_kinds(f, rows[i].kinds);
		if (rows[i].below)
			forget_below(f, N(rows[i].below), rows[i].scope);
		if (rows[i].most_s)
			forget_longer(f, rows[i].most_s, rows[i].denial_most_s);
		if (rows[i].raised_s)
			forget_raised(f, rows[i].raised_s, rows[i].least_s);
		if (rows[i].ten)
			forget_records(f, &(struct forget_records){ .goes = is_ten });
		assert_int_equal(forget_is_empty(f), i == 0);
		got = gone(f, rows[i].in);
		/* the denial of the address in ADDITIONAL is none */
		if ((got & ~(unsigned)(i == 15 ? NS : 0)) != (rows[i].want & ~(unsigned)(i == 15 ? NS : 0)))
			fail_msg("%s: %x, not %x", rows[i].why, got, rows[i].want);
		forget_chain(chained, f);
		assert_false(forget_is_empty(chained));
		assert_int_equal(gone(chained, rows[i].in), got);
		forget_free(chained);
	}
}

static void record_sets_and_keys_go_by_their_owner(void **state)
{
	(void)state;
	static const struct {
		const char *set;
		uint8_t flags;
		unsigned want; /* 1: below corp.test, 2: by the address, 4: denials, 8: too long, 16: answers, 32: everything */
	} rows[] = {
		{ "www.corp.test. 300 A 10.0.0.1", 0, 1 | 2 | 32 },
		{ "corp.test. 300 NS ns.example.", RRSET_PARENT_SIDE, 1 | 32 },
		{ "notcorp.test. 300 A 192.0.2.1", 0, 32 },
		{ "to.example. 300 CNAME www.corp.test.", 0, 32 },
		{ SOA, RRSET_SOA_NEGATIVE, 4 | 32 },
		{ SOA, 0, 32 },
		{ "example. 300 NSEC a.example. A", 0, 4 | 32 },
		{ "long.example. 3601 A 192.0.2.1", 0, 8 | 32 },
	};
	struct arena a;

	arena_init(&a);
	for (size_t i = 0; i < COUNT(rows); i++) {
		struct rrset *set = made_set(&a, NOW, rows[i].set);
		unsigned got = 0;

		set->flags |= rows[i].flags;
		for (unsigned bit = 0; bit < 6; bit++) {
			struct forget *f = forget_new(NOW);

			if (bit == 0)
				forget_below(f, N("corp.test."), 0);
			if (bit == 1)
				forget_records(f, &(struct forget_records){ .goes = is_ten });
			if (bit == 2)
				forget_kinds(f, FORGET_DENIALS);
			if (bit == 3)
				forget_longer(f, 3600, 3600);
			if (bit == 4)
				forget_kinds(f, FORGET_ANSWERS | FORGET_FAILURES);
			if (bit == 5)
				forget_kinds(f, FORGET_EVERYTHING);
			got |= (unsigned)forget_set(f, set, 0) << bit;
			if (bit == 0)
				assert_false(forget_set(f, set, 1));
			if (bit == 0 || bit == 5)
				assert_int_equal(forget_name(f, rrset_owner(set), 0), forget_set(f, set, 0));
			forget_free(f);
		}
		if (got != rows[i].want)
			fail_msg("%s: %x, not %x", rows[i].set, got, rows[i].want);
	}
	arena_clear(&a);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(messages_go_as_far_as_a_change_reaches),
		cmocka_unit_test(record_sets_and_keys_go_by_their_owner),
	};
	int failed;

	rcu_thread_join();
	failed = cmocka_run_group_tests(tests, NULL, NULL);
	rcu_thread_leave();
	return failed;
}
