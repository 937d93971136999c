/* Claims about which responses agree when a server does not echo our letter case.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "iterator/caps.h"

#include "services/tests/made.h"

#define SOA(serial) "v.test. 60 IN SOA ns.v.test. h.v.test. " serial " 1 1 1 1"
#define NS(name)    "v.test. 60 IN NS " name ".v.test."
#define TXT(text)   "www.v.test. 60 IN TXT " text

static struct message *said(struct arena *a, uint8_t rcode, const char *answer, const char *authority)
{
	return made_message(a, 0, &(struct made){ .name = "www.v.test.", .type = TYPE_TXT, .rcode = rcode,
						  .section = { answer, authority, NULL } });
}

struct response {
	uint8_t rcode;
	const char *answer, *authority;
};

static void responses_agree_in_what_they_say(void **state)
{
	(void)state;
	static const struct {
		const char *why;
		struct response a, b;
		bool want;
	} rows[] = {
		{ "the same", { 0, TXT("a"), NULL }, { 0, TXT("a"), NULL }, true },
		{ "in another order", { 0, TXT("a") "\n" TXT("b"), NULL }, { 0, TXT("b") "\n" TXT("a"), NULL }, true },
		{ "other data", { 0, TXT("a"), NULL }, { 0, TXT("b"), NULL }, false },
		{ "another type", { 0, TXT("a"), NULL }, { 0, "www.v.test. 60 IN HINFO a a", NULL }, false },
		{ "another owner", { 0, TXT("a"), NULL }, { 0, "x.v.test. 60 IN TXT a", NULL }, false },
		{ "one set more", { 0, TXT("a"), NULL }, { 0, TXT("a") "\nx.v.test. 60 IN TXT a", NULL }, false },
		{ "one set less", { 0, TXT("a") "\nx.v.test. 60 IN TXT a", NULL }, { 0, TXT("a"), NULL }, false },
		{ "another rcode", { 0, NULL, NULL }, { RCODE_NXDOMAIN, NULL, NULL }, false },
		{ "an alias too long, and none", { RCODE_YXDOMAIN, NULL, NULL }, { 0, NULL, NULL }, false },
		{ "beside an answer servers may differ", { 0, TXT("a"), NS("a") }, { 0, TXT("a"), NS("b") }, true },
		{ "a serial may have moved on", { 0, NULL, SOA("1") }, { 0, NULL, SOA("2") }, true },
		{ "the same servers", { 0, NULL, NS("a") }, { 0, NULL, NS("a") }, true },
		{ "other servers", { 0, NULL, NS("a") }, { 0, NULL, NS("b") }, false },
		{ "other servers behind a SOA", { 0, NULL, SOA("1") "\n" NS("a") }, { 0, NULL, SOA("1") "\n" NS("b") },
		  false },
		{ "none", { 0, NULL, NS("a") }, { 0, NULL, NULL }, false },
		{ "nobody contradicts who says nothing", { 0, TXT("a"), NULL }, { RCODE_REFUSED, NULL, NULL }, true },
		{ "nor the other way round", { RCODE_SERVFAIL, NULL, NULL }, { 0, TXT("a"), NULL }, true },
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		struct arena arena;
		struct caps c = { 0 };
		bool got;

		arena_init(&arena);
		caps_begin(&c);
		assert_true(c.on);
		assert_true(caps_agrees(&c, said(&arena, rows[i].a.rcode, rows[i].a.answer, rows[i].a.authority)));
		assert_int_equal(c.agreed, 1);
		got = caps_agrees(&c, said(&arena, rows[i].b.rcode, rows[i].b.answer, rows[i].b.authority));
		if (got != rows[i].want)
			fail_msg("%s", rows[i].why);
		assert_int_equal(c.agreed, 1 + got);
		caps_end(&c);
		assert_false(c.on);
		assert_null(c.first);
		arena_clear(&arena);
	}
}

/* All later ones are compared with the first that says something. */
static void the_first_that_says_something_is_the_measure(void **state)
{
	(void)state;
	struct arena a;
	struct message *refusal, *first, *same;
	struct caps c = { 0 };

	arena_init(&a);
	refusal = said(&a, RCODE_REFUSED, NULL, NULL);
	first = said(&a, 0, TXT("a"), NULL);
	same = said(&a, 0, TXT("a"), NULL);
	caps_begin(&c);
	assert_true(caps_agrees(&c, refusal));
	assert_ptr_equal(c.first, refusal);
	assert_true(caps_agrees(&c, first));
	assert_ptr_equal(c.first, first);
	assert_true(caps_agrees(&c, same));
	assert_true(caps_agrees(&c, refusal));
	assert_ptr_equal(c.first, first);
	assert_false(caps_agrees(&c, said(&a, 0, TXT("b"), NULL)));
	arena_clear(&a);
}

static void three_for_each_address_or_half_of_the_queries_suffice(void **state)
{
	(void)state;
	static const struct {
		unsigned agreed, targets, sends;
		bool want;
	} rows[] = {
		{ 2, 1, 32, false }, { 3, 1, 32, true },    { 4, 2, 32, false },  { 5, 2, 32, false },
		{ 6, 2, 32, true },  { 14, 10, 32, false }, { 15, 10, 32, true }, { 15, 10, 33, false },
		{ 16, 10, 33, true },
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		struct caps c = { .on = true, .agreed = rows[i].agreed };

		if (caps_suffices(&c, rows[i].targets, rows[i].sends) != rows[i].want)
			fail_msg("%u of %u targets, %u queries", rows[i].agreed, rows[i].targets, rows[i].sends);
	}
}

int main(void)
{
	const struct CMUnitTest claims[] = {
		cmocka_unit_test(responses_agree_in_what_they_say),
		cmocka_unit_test(the_first_that_says_something_is_the_measure),
		cmocka_unit_test(three_for_each_address_or_half_of_the_queries_suffice),
	};

	return cmocka_run_group_tests(claims, NULL, NULL);
}
