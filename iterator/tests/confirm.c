/* Claims about denials that are believed once another query has confirmed them.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "iterator/confirm.h"

#include "iterator/delegation.h"
#include "iterator/tests/fixture.h"
#include "services/cache/msg.h"
#include "services/mesh/private.h"

static const uint8_t *trust_begins;

static const uint8_t *trust_point(const struct query *q, const uint8_t *name, uint16_t type)
{
	(void)q;
	(void)type;
	return trust_begins && dname_is_under(name, trust_begins) ? trust_begins : NULL;
}

/* The query is for a name below nx.example.; of that name a server was asked as much as this. */
static void begin(const char *conf, const char *point)
{
	static uint8_t room[DNAME_MAX], shown[DNAME_MAX];

	fixture_begin(conf, "b.a.nx.example.", TYPE_TXT, 0);
	trust_begins = point ? memcpy(room, N(point), dname_len(N(point))) : NULL;
	fixture.env.trust_point = trust_point;
	fixture.q->want_signatures = true;
	fixture.it.qmin.on = true;
	memcpy(shown, N("nx.example."), dname_len(N("nx.example.")));
	fixture.it.shown = (struct question){ shown, (uint16_t)dname_len(shown), TYPE_A, CLASS_IN };
}

/* RFC 9156 4: many servers say wrongly that a name does not exist below which there are others, so it is asked for on; but where
 * the denial can be validated, that decides (RFC 8020). */
static void a_denial_of_part_of_the_name_is_confirmed_where_it_can_be(void **state)
{
	(void)state;
	static const struct {
		const char *why, *conf, *point;
		uint8_t rcode;
		bool no_store, no_signatures, waits;
	} rows[] = {
		{ "in a signed zone", "", "example.", RCODE_NXDOMAIN, false, false, true },
		{ "at the anchor itself", "", "nx.example.", RCODE_NXDOMAIN, false, false, true },
		{ "no type at the name", "", "example.", RCODE_NOERROR, false, false, false },
		{ "an error", "", "example.", RCODE_REFUSED, false, false, false },
		{ "answers are not to be kept", "", "example.", RCODE_NXDOMAIN, true, false, false },
		{ "nobody validates", "", "example.", RCODE_NXDOMAIN, false, true, false },
		{ "no anchor", "", NULL, RCODE_NXDOMAIN, false, false, false },
		{ "an anchor below it", "", "a.nx.example.", RCODE_NXDOMAIN, false, false, false },
		{ "not wanted", "server:\nharden-below-nxdomain: no", "example.", RCODE_NXDOMAIN, false, false, false },
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		struct message m = { .rcode = rows[i].rcode };
		enum iter_step step;

		begin(rows[i].conf, rows[i].point);
		fixture.q->no_store = rows[i].no_store;
		fixture.q->want_signatures = !rows[i].no_signatures;
		step = confirm_denial(&fixture.it, &m);
		mesh_run(fixture.env.mesh);
		if (step != (rows[i].waits ? ITER_WAIT : ITER_ON) || fixture.it.state != (rows[i].waits ? ITER_confirm : ITER_choose) ||
		    fixture.begun_count != rows[i].waits)
			fail_msg("%s: step %d, state %d, %u begun", rows[i].why, step, fixture.it.state, fixture.begun_count);
		if (rows[i].waits)
			assert_true(question_equals(&fixture.begun[0]->question, &fixture.it.shown));
		assert_false(fixture.it.qmin.on);
		assert_true(fixture.it.question_due);
		fixture_end();
	}
}

static void only_a_validated_denial_ends_the_search(void **state)
{
	(void)state;
	static const struct {
		const char *why;
		uint8_t rcode;
		enum security security, cached;
		bool ends;
	} rows[] = {
		{ "it is true", RCODE_NXDOMAIN, SECURITY_SECURE, SECURITY_SECURE, true },
		{ "the zone is not signed", RCODE_NXDOMAIN, SECURITY_INSECURE, SECURITY_SECURE, false },
		{ "it is bogus", RCODE_SERVFAIL, SECURITY_BOGUS, SECURITY_SECURE, false },
		{ "something is there", RCODE_NOERROR, SECURITY_SECURE, SECURITY_SECURE, false },
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		struct message m = { .rcode = RCODE_NXDOMAIN }, answer = { .rcode = rows[i].rcode, .security = (uint8_t)rows[i].security };
		struct query child = { .reply = &answer };
		struct message *known;

		begin("", "example.");
		assert_int_equal(confirm_denial(&fixture.it, &m), ITER_WAIT);
		known = made_message(fixture.arena, fixture.now_s, &(struct made){ "nx.example.", TYPE_A, RCODE_NXDOMAIN,
						  { NULL, "example. 300 SOA a. b. 1 2 3 4 300" } });
		known->security = (uint8_t)rows[i].cached;
		msgcache_store(fixture.env.messages, known, &(struct msg_keep){ .now_s = fixture.now_s, .ttl_s = 300 });
		child.question = made_question("other.example.", TYPE_A);
		confirm_arrived(&fixture.it, &child);
		assert_int_equal(fixture.it.state, ITER_confirm); /* that was another's */
		child.question = fixture.it.shown;
		confirm_arrived(&fixture.it, &child);
		if (fixture.it.state != (rows[i].ends ? ITER_finish : ITER_choose) || (fixture.it.answer != NULL) != rows[i].ends)
			fail_msg("%s: state %d", rows[i].why, fixture.it.state);
		if (rows[i].ends) {
			assert_int_equal(fixture.it.answer->rcode, RCODE_NXDOMAIN);
			assert_true(question_equals(&fixture.it.answer->q, &fixture.it.want));
		}
		fixture_end();
	}
}

/* The server has the zone on both sides of a cut, and denies the DS RRset from the wrong one: is there a cut in between? What it said
 * is the answer if not, to the question that was asked. */
static void a_denial_from_below_the_cut_is_held_back(void **state)
{
	(void)state;
	static const uint8_t zone[] = "\7example";
	struct delegation at = { .zone = zone };
	struct message m = { .rcode = RCODE_NOERROR }, none = { .rcode = RCODE_NOERROR };
	struct query child = { .reply = &none };

	fixture_begin("", "c.b.a.example.", TYPE_DS, 0);
	fixture.it.at = &at;
	assert_int_equal(confirm_cut(&fixture.it, &m), ITER_WAIT);
	for (unsigned i = 0; i < 2; i++) {
		mesh_run(fixture.env.mesh);
		assert_int_equal(fixture.begun_count, i + 1);
		child.question = fixture.begun[i]->question;
		assert_int_equal(child.question.type, TYPE_NS);
		assert_true(dname_equals(child.question.name, i ? N("a.example.") : N("b.a.example.")));
		assert_null(fixture.it.answer);
		confirm_arrived(&fixture.it, &child);
	}
	assert_int_equal(fixture.it.state, ITER_finish);
	assert_ptr_equal(fixture.it.answer, &m);
	assert_true(question_equals(&m.q, &fixture.it.want));
	fixture_end();
}

/* Where there is a cut it goes on with the servers of the zone below; not by what fails, or tells of another zone, or by an
 * answer to another question. */
static void behind_a_cut_that_is_found_it_goes_on(void **state)
{
	(void)state;
	static const uint8_t zone[] = "\7example";
	static const struct {
		const char *why;
		struct made reply;
		uint16_t type;
		bool found, is_ours;
	} rows[] = {
		{ "a cut", { "b.a.example.", TYPE_NS, 0, { "b.a.example. 300 NS ns.b.a.example." } }, TYPE_NS, true, true },
		{ "a failure", { "b.a.example.", TYPE_NS, RCODE_SERVFAIL, { "b.a.example. 300 NS ns.b.a.example." } }, TYPE_NS, false, true },
		{ "no cut", { "b.a.example.", TYPE_NS, 0, { NULL, "example. 300 SOA a. b. 1 2 3 4 300" } }, TYPE_NS, false, true },
		{ "of another zone", { "b.a.example.", TYPE_NS, 0, { "a.example. 300 NS ns.a.example." } }, TYPE_NS, false, true },
		{ "another question", { "b.a.example.", TYPE_A, 0, { "b.a.example. 300 A 192.0.2.1" } }, TYPE_A, false, false },
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		struct delegation at = { .zone = zone };
		struct message m = { .rcode = RCODE_NOERROR };
		struct query child = { .depth = 1 };

		fixture_begin("", "c.b.a.example.", TYPE_DS, 0);
		fixture.it.at = &at;
		assert_int_equal(confirm_cut(&fixture.it, &m), ITER_WAIT);
		mesh_run(fixture.env.mesh);
		fixture.it.state = ITER_confirm;
		child.question = made_question("b.a.example.", rows[i].type);
		child.reply = made_message(fixture.arena, fixture.now_s, &rows[i].reply);
		confirm_arrived(&fixture.it, &child);
		mesh_run(fixture.env.mesh);
		if ((fixture.it.state == ITER_choose) != rows[i].found || (fixture.begun_count == 2) != (rows[i].is_ours && !rows[i].found))
			fail_msg("%s: state %d, %u begun", rows[i].why, fixture.it.state, fixture.begun_count);
		assert_true(dname_equals(fixture.it.at->zone, rows[i].found ? N("b.a.example.") : zone));
		fixture_end();
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_denial_of_part_of_the_name_is_confirmed_where_it_can_be),
		cmocka_unit_test(only_a_validated_denial_ends_the_search),
		cmocka_unit_test(a_denial_from_below_the_cut_is_held_back),
		cmocka_unit_test(behind_a_cut_that_is_found_it_goes_on),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
