/* Claims about what is kept of a response for how long, and what may not be taken from it.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "iterator/tests/response_fixture.h"

/* The addresses that a zone's servers tell of themselves live no longer than the delegation: nothing else of theirs is
 * shortened, nor the word of servers that are configured. */
static void addresses_of_servers_end_with_their_delegation(void **state)
{
	(void)state;
	static const struct {
		const char *why, *name;
		uint16_t type;
		const char *answer;
		bool expires;
		uint32_t want_s;
	} rows[] = {
		{ "a server's", "ns.example.", TYPE_A, "ns.example. 9000 A 192.0.2.7", true, 3600 },
		{ "a server's, of the other family", "ns.example.", TYPE_AAAA, "ns.example. 9000 AAAA 2001:db8::7", true, 3600 },
		{ "a server's, that is shorter anyway", "ns.example.", TYPE_A, "ns.example. 900 A 192.0.2.7", true, 900 },
		{ "a server's, where nothing was delegated", "ns.example.", TYPE_A, "ns.example. 9000 A 192.0.2.7", false, 9000 },
		{ "another host's", "www.example.", TYPE_A, "www.example. 9000 A 192.0.2.7", true, 9000 },
		{ "another record of a server", "ns.example.", TYPE_TXT, "ns.example. 9000 TXT a", true, 9000 },
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		at_example("", rows[i].name, rows[i].type, 0);
		(void)delegation_add_name(fixture.it.at, fixture.arena, N("ns.example."));
		fixture.it.at->expires = rows[i].expires;
		fixture.it.at->parent_until_s = fixture.now_s + 3600;
		fixture.q->depth = 1; /* what a client asked for is in the message cache */
		(void)hear(FLAG_AA, 0, rows[i].answer, NULL, NULL);
		if (cached(rows[i].name, rows[i].type, 0) != rows[i].want_s)
			fail_msg("%s: %u s", rows[i].why, cached(rows[i].name, rows[i].type, 0));
		fixture.q->depth = 0;
		fixture_end();
	}
}

/* A response to another question is of no use, and nothing of it is kept. */
static void what_answers_another_question_is_useless(void **state)
{
	(void)state;
	static const char *const asked[] = { "www.example.", "other.example." };

	for (size_t i = 0; i < COUNT(asked); i++) {
		struct made made = { asked[i], TYPE_A, 0, { "www.example. 60 A 192.0.2.7", NULL, NULL } };
		struct message *m;

		at_example("", "www.example.", TYPE_A, 0);
		fixture.q->depth = 1;
		m = made_message(fixture.arena, fixture.now_s, &made);
		m->flags = FLAG_QR | FLAG_AA;
		heard = (struct upstream_reply){ .end = UPSTREAM_ANSWERED, .server = fixture.it.target->addr, .message = m };
		fixture.it.reply = &heard;
		(void)response_read(&fixture.it);
		assert_int_equal(fixture.it.state == ITER_finish, i == 0);
		assert_int_equal(fixture.it.target->spent, i == 1);
		assert_int_equal(cached("www.example.", TYPE_A, 0), i ? 0 : 60);
		fixture.q->depth = 0;
		fixture_end();
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(addresses_of_servers_end_with_their_delegation),
		cmocka_unit_test(what_answers_another_question_is_useless),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
