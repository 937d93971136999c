/* Claims about aliases, and about answers that must agree.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "iterator/aliases.h"

#include "iterator/caps.h"
#include "services/tests/made.h"

#define NOW 1000

static const char *answer_of(const struct message *m, char *to, size_t room)
{
	char name[DNAME_TEXT], type[16];
	size_t len = 0;

	to[0] = 0;
	for (unsigned i = 0; i < message_set_count(m); i++)
		len += (size_t)snprintf(to + len, room - len, "%s%s/%s", i ? " " : "",
					dname_print(rrset_owner(m->sets[i]), name),
					rr_type_name(m->sets[i]->type, type));
	return to;
}

static void of_some_types_no_more_than_the_first_alias_counts(void **state)
{
	(void)state;
	static const struct made chain = {
		"x.a.", TYPE_DS, 0, { "a. 60 DNAME b.\nx.a. 60 CNAME x.b.\nx.b. 60 CNAME c.", "x.b. 60 NSEC y.b. CNAME" }
	};

	for (unsigned one = 0; one < 2; one++) {
		struct aliases c = { 0 };
		struct arena a;

		arena_init(&a);
		assert_name_is(aliases_take(&c, &a, made_message(&a, NOW, &chain), N("x.a."), one), one ? "x.b." : "c.");
		assert_int_equal(c.links, one ? 1 : 2);
		assert_int_equal(c.answers, one ? 2 : 3); /* the DNAME is there, too */
		assert_int_equal(c.authorities, 1);
		arena_clear(&a);
	}
}

static void aliases_stand_before_the_answer(void **state)
{
	(void)state;
	static const struct made first = {
		"a.", TYPE_A, 0, { "a. 60 CNAME b.d.", "a. 60 NSEC c. CNAME" }
	};
	static const struct made second = {
		"b.d.", TYPE_A, 0, { "d. 60 DNAME e.\nb.d. 60 CNAME b.e." }
	};
	static const struct made last = {
		"b.e.", TYPE_A, 3, { NULL, "e. 60 SOA x. y. 1 2 3 4 5" }
	};
	struct question q = made_question("a.", TYPE_A);
	struct aliases c = { 0 };
	struct arena a;
	const uint8_t *target;
	char got[256];

	arena_init(&a);
	target = aliases_take(&c, &a, made_message(&a, NOW, &first), N("a."), false);
	assert_name_is(target, "b.d.");
	target = aliases_take(&c, &a, made_message(&a, NOW, &second), target, false);
	assert_name_is(target, "b.e.");
	struct message *m = aliases_finish(&c, &a, made_message(&a, NOW, &last), &q);
	assert_string_equal(answer_of(m, got, sizeof(got)),
			    "a./CNAME d./DNAME b.d./CNAME a./NSEC e./SOA");
	assert_int_equal(m->count[SECTION_ANSWER], 3);
	assert_int_equal(m->count[SECTION_AUTHORITY], 2);
	assert_int_equal(m->rcode, RCODE_NXDOMAIN);
	assert_true(question_equals(&m->q, &q));
	arena_clear(&a);
}

static void a_loop_of_cnames_is_detected(void **state)
{
	(void)state;
	static const struct made there = { "a.", TYPE_A, 0, { "a. 60 CNAME b." } };
	static const struct made back = { "b.", TYPE_A, 0, { "b. 60 CNAME a." } };
	struct aliases c = { 0 };
	struct arena a;

	arena_init(&a);
	assert_name_is(aliases_take(&c, &a, made_message(&a, NOW, &there), N("a."), false), "b.");
	assert_name_is(aliases_take(&c, &a, made_message(&a, NOW, &back), N("b."), false), "a.");
	assert_null(aliases_take(&c, &a, made_message(&a, NOW, &there), N("a."), false));
	arena_clear(&a);
}

/* Three for the end, two for each alias, and some to spare. */
static void so_many_denials_are_kept_as_proofs_may_need(void **state)
{
	(void)state;
	static const struct {
		const char *links;
		unsigned kept;
	} rows[] = { { "n. 60 CNAME z.", 10 }, /* of no name of the chain */
		     { "a. 60 CNAME b.", 12 },
		     { "a. 60 CNAME b.\nb. 60 CNAME c.\nc. 60 CNAME d.", 16 } };

	for (size_t r = 0; r < COUNT(rows); r++) {
		const struct rrset *sets[120];
		struct made how = { "a.", TYPE_A, 0, { rows[r].links } };
		struct aliases c = { 0 };
		struct message *m;
		struct arena a;
		unsigned links;
		char text[32];

		arena_init(&a);
		m = made_message(&a, NOW, &how);
		links = m->count[SECTION_ANSWER];
		memcpy(sets, m->sets, links * sizeof(*sets));
		for (unsigned i = 0; i < 100; i++) {
			snprintf(text, sizeof(text), "n%u. 60 NSEC m. A", i);
			sets[links + i] = made_set(&a, NOW, text);
		}
		m->sets = sets;
		m->count[SECTION_AUTHORITY] = 100;
		assert_non_null(aliases_take(&c, &a, m, N("a."), false));
		assert_int_equal(c.authorities, rows[r].kept);
		arena_clear(&a);
	}
}

/* RFC 1034 3.6.2: the alias itself is the answer to a question for CNAME, with the DNAME that it was made of; what it leads to is not. */
static void the_first_alias_answers_for_itself(void **state)
{
	(void)state;
	static const struct {
		uint16_t type;
		const char *chain, *want;
	} rows[] = {
		{ TYPE_CNAME, "x.a. 60 CNAME y.a.\ny.a. 60 CNAME z.a.", "x.a./CNAME" },
		{ TYPE_CNAME, "a. 60 DNAME b.\nx.a. 60 CNAME x.b.\nx.b. 60 CNAME c.", "a./DNAME x.a./CNAME" },
		{ TYPE_ANY, "a. 60 DNAME b.\nx.a. 60 CNAME x.b.\nx.b. 60 CNAME c.", "a./DNAME x.a./CNAME" },
		{ TYPE_A, "a. 60 DNAME b.\nx.a. 60 CNAME x.b.\nx.b. 60 CNAME c.", "a./DNAME x.a./CNAME x.b./CNAME c./A" },
	};
	static const struct made end = { "c.", TYPE_A, 0, { "c. 60 A 192.0.2.1" } };

	for (size_t i = 0; i < COUNT(rows); i++) {
		struct question q = made_question("x.a.", rows[i].type);
		struct made chain = { "x.a.", rows[i].type, 0, { rows[i].chain } };
		struct aliases c = { 0 };
		struct arena a;
		char got[256];

		arena_init(&a);
		assert_non_null(aliases_take(&c, &a, made_message(&a, NOW, &chain), N("x.a."), false));
		(void)answer_of(aliases_finish(&c, &a, made_message(&a, NOW, &end), &q), got, sizeof(got));
		if (strcmp(got, rows[i].want) != 0)
			fail_msg("%s, type %u: %s", rows[i].chain, rows[i].type, got);
		arena_clear(&a);
	}
}

#define SIG(zone) "a. 60 RRSIG NSEC 13 1 60 20300101000000 20200101000000 1 " zone " AAAA\n"

/* What each zone says of the same name counts for itself; what is the same is there once. */
static void denials_of_two_zones_are_two(void **state)
{
	(void)state;
	static const struct {
		const char *why, *one, *other;
		unsigned kept;
	} rows[] = {
		{ "the same", "a. 60 NSEC c. A\n" SIG("z."), "a. 60 NSEC c. A\n" SIG("z."), 1 },
		{ "signed by another zone", "a. 60 NSEC c. A\n" SIG("z."), "a. 60 NSEC c. A\n" SIG("y."), 2 },
		{ "that says otherwise", "a. 60 NSEC c. A\n" SIG("z."), "a. 60 NSEC d. A\n" SIG("z."), 2 },
		{ "of another name", "a. 60 NSEC c. A\n", "b. 60 NSEC c. A\n", 2 },
		{ "no denial", "a. 60 NSEC c. A\n", "a. 60 NS c.\n", 1 },
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		struct made one = { "a.", TYPE_A, 0, { "a. 60 CNAME b.", rows[i].one } }, other = { "b.", TYPE_A, 0, { "b. 60 CNAME d.", rows[i].other } };
		struct aliases c = { 0 };
		struct arena a;

		arena_init(&a);
		assert_name_is(aliases_take(&c, &a, made_message(&a, NOW, &one), N("a."), false), "b.");
		assert_name_is(aliases_take(&c, &a, made_message(&a, NOW, &other), N("b."), false), "d.");
		if (c.authorities != rows[i].kept)
			fail_msg("%s: %u", rows[i].why, c.authorities);
		arena_clear(&a);
	}
}

/* What ends the chain is no alias; and a DNAME that makes two aliases is there once. */
static void only_aliases_are_followed(void **state)
{
	(void)state;
	static const struct {
		const char *answer, *to;
		unsigned links, answers;
	} rows[] = {
		{ "a. 60 CNAME b.\nb. 60 A 192.0.2.1", "b.", 1, 1 },
		{ "a. 60 A 192.0.2.1", "a.", 0, 0 },
		{ "a. 60 NS b.", "a.", 0, 0 },
		{ "b. 60 CNAME c.", "a.", 0, 0 },
	};
	static const struct made dname = { "y.a.", TYPE_A, 0, { "a. 60 DNAME b.\ny.a. 60 CNAME y.b.\ny.b. 60 CNAME z.a." } };
	static const struct made again = { "z.a.", TYPE_A, 0, { "a. 60 DNAME b.\nz.a. 60 CNAME z.b." } };
	struct aliases twice = { 0 };
	struct arena a;

	arena_init(&a);
	for (size_t i = 0; i < COUNT(rows); i++) {
		struct made how = { "a.", TYPE_A, 0, { rows[i].answer } };
		struct aliases c = { 0 };

		assert_name_is(aliases_take(&c, &a, made_message(&a, NOW, &how), N("a."), false), rows[i].to);
		assert_int_equal(c.links, rows[i].links);
		assert_int_equal(c.answers, rows[i].answers);
	}
	assert_name_is(aliases_take(&twice, &a, made_message(&a, NOW, &dname), N("y.a."), false), "z.a.");
	assert_name_is(aliases_take(&twice, &a, made_message(&a, NOW, &again), N("z.a."), false), "z.b.");
	assert_int_equal(twice.answers, 4);
	arena_clear(&a);
}

/* With the denials that prove it was made of a wildcard, and nothing of its end. */
static void an_alias_that_is_the_answer_has_its_proof(void **state)
{
	(void)state;
	static const uint16_t types[] = { TYPE_CNAME, TYPE_ANY };
	static const struct made chain = { "x.a.", TYPE_CNAME, 0, { "x.a. 60 CNAME y.a.", "w.a. 60 NSEC z.a. A" } };
	static const struct made end = { "y.a.", TYPE_CNAME, RCODE_NXDOMAIN, { "y.a. 60 A 192.0.2.1", "a. 60 NS b.", "b. 60 A 192.0.2.2" } };

	for (size_t i = 0; i < COUNT(types); i++) {
		struct question q = made_question("x.a.", types[i]);
		struct aliases c = { 0 };
		struct message *m;
		struct arena a;
		char got[256];

		arena_init(&a);
		assert_non_null(aliases_take(&c, &a, made_message(&a, NOW, &chain), N("x.a."), false));
		m = aliases_finish(&c, &a, made_message(&a, NOW, &end), &q);
		assert_string_equal(answer_of(m, got, sizeof(got)), "x.a./CNAME w.a./NSEC");
		assert_int_equal(m->count[SECTION_AUTHORITY], 1);
		assert_int_equal(m->count[SECTION_ADDITIONAL], 0);
		assert_int_equal(m->rcode, RCODE_NOERROR);
		arena_clear(&a);
	}
}

static void answers_agree_when_they_say_the_same(void **state)
{
	(void)state;
#define A1 "www.example. 60 A 192.0.2.1"
#define A2 "www.example. 60 A 192.0.2.2"
	static const struct {
		const char *why;
		struct made one, other;
		bool want;
	} rows[] = {
		{ "equal",
		  { "www.example.", TYPE_A, 0, { A1 } },
		  { "www.example.", TYPE_A, 0, { A1 } },
		  true },
		{ "other order, case and TTL",
		  { "www.example.", TYPE_A, 0, { A1 "\n" A2 } },
		  { "www.example.",
		    TYPE_A,
		    0,
		    { "WWW.example. 9 A 192.0.2.2\nwww.EXAMPLE. 9 A 192.0.2.1" } },
		  true },
		{ "other name servers beside an answer",
		  { "www.example.", TYPE_A, 0, { A1, "example. 60 NS a.example." } },
		  { "www.example.", TYPE_A, 0, { A1, "example. 60 NS b.example." } },
		  true },
		{ "other name servers as an answer",
		  { "www.example.", TYPE_A, 0, { NULL, "example. 60 NS a.example." } },
		  { "www.example.", TYPE_A, 0, { NULL, "example. 60 NS b.example." } },
		  false },
		{ "other data",
		  { "www.example.", TYPE_A, 0, { A1 } },
		  { "www.example.", TYPE_A, 0, { A2 } },
		  false },
		{ "more data",
		  { "www.example.", TYPE_A, 0, { A1 } },
		  { "www.example.", TYPE_A, 0, { A1 "\n" A2 } },
		  false },
		{ "other rcode",
		  { "www.example.", TYPE_A, 0, { NULL } },
		  { "www.example.", TYPE_A, 3, { NULL } },
		  false },
		{ "a server that refuses, after one that does not",
		  { "www.example.", TYPE_A, 0, { A1 } },
		  { "www.example.", TYPE_A, 5, { NULL } },
		  true },
		{ "a server that refuses, before one that does not",
		  { "www.example.", TYPE_A, 2, { NULL } },
		  { "www.example.", TYPE_A, 0, { A1 } },
		  true },
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		struct caps c;
		struct arena a;

		arena_init(&a);
		caps_begin(&c);
		assert_true(caps_agrees(&c, made_message(&a, NOW, &rows[i].one)));
		if (caps_agrees(&c, made_message(&a, NOW, &rows[i].other)) != rows[i].want)
			fail_msg("%s", rows[i].why);
		arena_clear(&a);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(aliases_stand_before_the_answer),
		cmocka_unit_test(of_some_types_no_more_than_the_first_alias_counts),
		cmocka_unit_test(the_first_alias_answers_for_itself),
		cmocka_unit_test(a_loop_of_cnames_is_detected),
		cmocka_unit_test(so_many_denials_are_kept_as_proofs_may_need),
		cmocka_unit_test(denials_of_two_zones_are_two),
		cmocka_unit_test(only_aliases_are_followed),
		cmocka_unit_test(an_alias_that_is_the_answer_has_its_proof),
		cmocka_unit_test(answers_agree_when_they_say_the_same),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
