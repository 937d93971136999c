/* Claims about showing little of a name.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "iterator/qmin.h"

#include "services/tests/made.h"

/* The questions on the way down from `zone`, as "name/type name/type …". */
static void walk(const struct question *wanted, struct qmin *m, const uint8_t *zone, char *to,
		 size_t room)
{
	char name[DNAME_TEXT], type[16];
	bool less = true;
	size_t len = 0;

	to[0] = 0;
	for (unsigned steps = 0; less && steps < 20; steps++) {
		struct question q;
		less = qmin_next(m, wanted, zone, &q);
		len += (size_t)snprintf(to + len, room - len, "%s%s/%s", len ? " " : "",
					dname_print(q.name, name), rr_type_name(q.type, type));
	}
}

static void each_question_shows_one_label_more(void **state)
{
	(void)state;
	static const struct {
		const char *why, *name;
		uint16_t type;
		const char *zone;
		bool on, open_type;
		const char *want;
	} rows[] = {
		{ "an address from the root", "www.example.com.", TYPE_A, ".", true, false,
		  "com./A example.com./A www.example.com./A" },
		{ "another type is shown last", "www.example.com.", TYPE_MX, ".", true, false,
		  "com./A example.com./A www.example.com./A www.example.com./MX" },
		{ "but where it is no secret", "ns.example.com.", TYPE_AAAA, "com.", true, true,
		  "example.com./A ns.example.com./AAAA" },
		{ "a DS set is the parent's", "example.com.", TYPE_DS, "com.", true, false,
		  "example.com./DS" },
		{ "what may stand beside an alias", "www.example.com.", TYPE_NSEC, "com.", true, false,
		  "example.com./A www.example.com./NSEC" },
		{ "from where we stand", "a.b.example.com.", TYPE_A, "example.com.", true, false,
		  "b.example.com./A a.b.example.com./A" },
		{ "a type of a zone's own names", "www.example.com.", TYPE_MX, "example.com.", true, false,
		  "www.example.com./MX" },
		{ "but one that hides an alias", "www.example.com.", TYPE_NSEC3, "example.com.", true, false,
		  "www.example.com./A www.example.com./NSEC3" },
		{ "one label, then all of them", "a.b.c.example.com.", TYPE_TXT, "example.com.", true, false,
		  "c.example.com./A a.b.c.example.com./TXT" },
		{ "not where others have their zones", "a.b.c.example.", TYPE_TXT, "example.", true, false,
		  "c.example./A b.c.example./A a.b.c.example./A a.b.c.example./TXT" },
		{ "nor on the way to an address", "1.2.0.192.in-addr.arpa.", TYPE_PTR, "in-addr.arpa.", true, false,
		  "192.in-addr.arpa./A 0.192.in-addr.arpa./A 2.0.192.in-addr.arpa./A "
		  "1.2.0.192.in-addr.arpa./A 1.2.0.192.in-addr.arpa./PTR" },
		{ "the zone itself", "example.com.", TYPE_NS, "example.com.", true, false,
		  "example.com./NS" },
		{ "ten labels one by one", "1.2.3.4.5.6.7.8.9.z.", TYPE_A, ".", true, false,
		  "z./A 9.z./A 8.9.z./A 7.8.9.z./A 6.7.8.9.z./A 5.6.7.8.9.z./A 4.5.6.7.8.9.z./A "
		  "3.4.5.6.7.8.9.z./A 2.3.4.5.6.7.8.9.z./A 1.2.3.4.5.6.7.8.9.z./A" },
		{ "more of them in strides", "a.b.c.d.e.f.g.h.i.j.k.l.m.n.o.p.", TYPE_A, ".", true,
		  false,
		  "p./A o.p./A n.o.p./A m.n.o.p./A k.l.m.n.o.p./A i.j.k.l.m.n.o.p./A "
		  "g.h.i.j.k.l.m.n.o.p./A e.f.g.h.i.j.k.l.m.n.o.p./A "
		  "c.d.e.f.g.h.i.j.k.l.m.n.o.p./A a.b.c.d.e.f.g.h.i.j.k.l.m.n.o.p./A" },
		{ "eleven labels, the first four one by one", "1.2.3.4.5.6.7.8.9.10.z.", TYPE_A, ".", true, false,
		  "z./A 10.z./A 9.10.z./A 8.9.10.z./A 6.7.8.9.10.z./A 5.6.7.8.9.10.z./A 4.5.6.7.8.9.10.z./A "
		  "3.4.5.6.7.8.9.10.z./A 2.3.4.5.6.7.8.9.10.z./A 1.2.3.4.5.6.7.8.9.10.z./A" },
		{ "switched off", "www.example.com.", TYPE_A, ".", false, false,
		  "www.example.com./A" },
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		struct question wanted = made_question(rows[i].name, rows[i].type);
		uint8_t zone[DNAME_MAX];
		struct qmin m;
		char got[2048];

		dname_copy_lower(zone, N(rows[i].zone));
		qmin_begin(&m, rows[i].on, rows[i].open_type);
		walk(&wanted, &m, zone, got, sizeof(got));
		if (strcmp(got, rows[i].want) != 0)
			fail_msg("%s: %s, not %s", rows[i].why, got, rows[i].want);
	}
}

static void in_a_hurry_servers_are_shown_one_label_and_then_all(void **state)
{
	(void)state;
	static const struct {
		const char *name, *want;
	} rows[] = {
		{ "ns.a.b.c.example.", "c.example./A ns.a.b.c.example./A" },
		{ "ns.example.", "ns.example./A" },
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		struct question wanted = made_question(rows[i].name, TYPE_A);
		uint8_t zone[DNAME_MAX];
		struct qmin m;
		char got[2048];

		dname_copy_lower(zone, N("example."));
		qmin_begin(&m, true, false);
		m.hurried = true;
		walk(&wanted, &m, zone, got, sizeof(got));
		assert_string_equal(got, rows[i].want);
	}
}

static void a_long_name_takes_ten_questions_at_most(void **state)
{
	(void)state;
	char text[256] = "";

	for (unsigned labels = 1; labels <= 120; labels++) {
		struct question wanted, q;
		unsigned questions = 1;
		struct qmin m;

		memcpy(text + strlen(text), "x.", 3);
		wanted = made_question(text, TYPE_A);
		qmin_begin(&m, true, false);
		while (qmin_next(&m, &wanted, dname_root, &q))
			questions++;
		if (questions > QMIN_STEPS_MAX)
			fail_msg("%u labels: %u questions", labels, questions);
		assert_true(question_equals(&q, &wanted));
	}
}

static void silence_shows_nothing_more_at_first(void **state)
{
	(void)state;
	struct question wanted = made_question("www.example.com.", TYPE_A), q;
	struct qmin m;

	qmin_begin(&m, true, false);
	assert_true(qmin_next(&m, &wanted, dname_root, &q));
	for (unsigned i = 1; i < QMIN_TIMEOUTS_MAX; i++) {
		qmin_unanswered(&m, false);
		assert_true(qmin_next(&m, &wanted, dname_root, &q));
		assert_int_equal(dname_labels(q.name), 1);
	}
	qmin_unanswered(&m, false);
	assert_false(qmin_next(&m, &wanted, dname_root, &q));
	assert_true(question_equals(&q, &wanted));
}

static void strictly_silence_shows_nothing_more_ever(void **state)
{
	(void)state;
	struct question wanted = made_question("www.example.com.", TYPE_A), q;
	struct qmin m;

	qmin_begin(&m, true, false);
	assert_true(qmin_next(&m, &wanted, dname_root, &q));
	for (unsigned i = 0; i < 3 * QMIN_TIMEOUTS_MAX; i++) {
		qmin_unanswered(&m, true);
		assert_true(qmin_next(&m, &wanted, dname_root, &q));
		assert_int_equal(dname_labels(q.name), 1);
	}
}

/* A zone below what was shown last, as a referral to several labels at once has it: from there on it begins anew. */
static void a_zone_further_down_begins_anew(void **state)
{
	(void)state;
	struct question wanted = made_question("a.b.c.d.example.com.", TYPE_MX), q;
	struct qmin m;

	qmin_begin(&m, true, false);
	assert_true(qmin_next(&m, &wanted, dname_root, &q));
	assert_true(qmin_next(&m, &wanted, N("com."), &q));
	assert_true(dname_equals(q.name, N("example.com.")));
	qmin_unanswered(&m, false);
	assert_int_equal(m.timeouts, 1);
	assert_true(qmin_next(&m, &wanted, N("d.example.com."), &q));
	assert_true(dname_equals(q.name, N("c.d.example.com.")));
	assert_int_equal(m.steps, 1);
	assert_int_equal(m.timeouts, 0);
	assert_false(m.again);
	/* at its end nothing is minimised any more, and silence changes nothing */
	assert_false(qmin_next(&m, &wanted, N("d.example.com."), &q));
	assert_true(question_equals(&q, &wanted));
	assert_false(m.on);
	qmin_unanswered(&m, false);
	assert_false(m.again);
	assert_int_equal(m.timeouts, 0);
	/* nor does what was silent once count for the next name */
	qmin_begin(&m, true, false);
	assert_true(qmin_next(&m, &wanted, dname_root, &q));
	for (unsigned i = 1; i < QMIN_TIMEOUTS_MAX; i++) {
		qmin_unanswered(&m, false);
		assert_true(qmin_next(&m, &wanted, dname_root, &q));
		assert_true(dname_equals(q.name, N("com.")));
	}
	assert_true(qmin_next(&m, &wanted, dname_root, &q));
	assert_true(dname_equals(q.name, N("example.com.")));
	assert_int_equal(m.timeouts, 0);
	qmin_unanswered(&m, false);
	assert_true(m.on);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_question_shows_one_label_more),
		cmocka_unit_test(in_a_hurry_servers_are_shown_one_label_and_then_all),
		cmocka_unit_test(a_long_name_takes_ten_questions_at_most),
		cmocka_unit_test(silence_shows_nothing_more_at_first),
		cmocka_unit_test(strictly_silence_shows_nothing_more_ever),
		cmocka_unit_test(a_zone_further_down_begins_anew),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
