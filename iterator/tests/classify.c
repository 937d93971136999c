/* Claims about kinds of responses.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "iterator/classify.h"

#include "services/tests/made.h"

#define NOW  1000
#define WWW  "www.example.com."
#define A    "www.example.com. 60 A 192.0.2.1"
#define SOA  "example.com. 60 SOA ns.example.com. root.example.com. 1 2 3 4 5"
#define NS   "example.com. 60 NS ns.example.com."
#define SUB  "www.example.com. 60 NS ns.www.example.com."
#define COM  "com. 60 NS ns.com."
#define SELF "www.example.com. 60 CNAME next.example.com."
#define NEXT "next.example.com. 60 A 192.0.2.2"

#define L63  "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa."
#define LONG L63 L63 L63 "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa."

/* Seen by who asked a server of example.com for www.example.com A. */
static void the_kind_of_a_response_is_seen(void **state)
{
	(void)state;
	static const struct {
		const char *why;
		uint8_t rcode;
		uint16_t flags;
		bool recursive;
		const char *answer, *authority;
		enum response want;
	} rows[] = {
		{ "data", 0, FLAG_AA, false, A, NS, RESPONSE_answer },
		{ "data without AA", 0, 0, false, A, NULL, RESPONSE_answer },
		{ "data without AA, and a cut", 0, 0, false, A, SUB, RESPONSE_referral },
		{ "data with AA, and a cut", 0, FLAG_AA, false, A, SUB, RESPONSE_answer },
		{ "a recursor's data", 0, FLAG_RA, false, A, NULL, RESPONSE_recursor },
		{ "a recursor's data, asked for", 0, FLAG_RA, true, A, NULL, RESPONSE_answer },
		{ "an alias", 0, FLAG_AA, false, SELF, NULL, RESPONSE_alias },
		{ "an alias beside what was not asked for", 0, FLAG_AA, false, "www.example.com. 60 NSEC z.example.com. CNAME\n" SELF "\n" NEXT,
		  NULL, RESPONSE_answer },
		{ "an alias, NXDOMAIN", 3, FLAG_AA, false, SELF, SOA, RESPONSE_alias },
		{ "data, NXDOMAIN", 3, FLAG_AA, false, A, NULL, RESPONSE_nxdomain },
		{ "a whole chain from a forwarder", 0, FLAG_RA, true, SELF "\n" NEXT, NULL,
		  RESPONSE_answer },
		{ "half a chain from a forwarder", 0, FLAG_RA, true, SELF, NULL, RESPONSE_alias },
		{ "no such name", 3, FLAG_AA, false, NULL, SOA, RESPONSE_nxdomain },
		{ "no such name, says a recursor", 3, FLAG_RA, false, NULL, SOA,
		  RESPONSE_recursor },
		{ "no such type", 0, FLAG_AA, false, NULL, SOA, RESPONSE_nodata },
		{ "no such type, without AA", 0, 0, false, NULL, SOA, RESPONSE_nodata },
		{ "no such type, says a recursor", 0, FLAG_RA, false, NULL, SOA,
		  RESPONSE_recursor },
		{ "a cut below", 0, 0, false, NULL, SUB, RESPONSE_referral },
		{ "a cut below, with AA", 0, FLAG_AA, false, NULL, SUB, RESPONSE_referral },
		{ "a cut below, from a server with RA", 0, FLAG_RA, false, NULL, SUB,
		  RESPONSE_referral },
		{ "a cut above", 0, 0, false, NULL, COM, RESPONSE_lame },
		{ "a cut above, from a forwarder", 0, FLAG_RA, true, NULL, COM, RESPONSE_useless },
		{ "its own cut, out of a cache", 0, 0, false, NULL, NS, RESPONSE_useless },
		{ "its own cut, by a recursor", 0, FLAG_RA, false, NULL, NS, RESPONSE_recursor },
		{ "its own cut with AA", 0, FLAG_AA, false, NULL, NS, RESPONSE_nodata },
		{ "nothing", 0, FLAG_AA, false, NULL, NULL, RESPONSE_empty },
		{ "nothing, from a recursor", 0, FLAG_RA, false, NULL, NULL, RESPONSE_recursor },
		{ "failure", 2, 0, false, NULL, NULL, RESPONSE_useless },
		{ "refusal", 5, 0, false, A, NULL, RESPONSE_useless },
		{ "too long a name, by DNAME", 6, FLAG_AA, false, "example.com. 60 DNAME " LONG,
		  NULL, RESPONSE_answer },
		{ "too long a name, by an alias and DNAME", 6, FLAG_AA, false,
		  "www.example.com. 60 CNAME www.sub.example.com.\nsub.example.com. 60 DNAME " LONG,
		  NULL, RESPONSE_answer },
		{ "a failure, beside such a DNAME", 2, FLAG_AA, false, "example.com. 60 DNAME " LONG, NULL, RESPONSE_useless },
		{ "not too long a name, by DNAME", 6, FLAG_AA, false, "example.com. 60 DNAME x.org.",
		  NULL, RESPONSE_useless },
		{ "too long a name, by a DNAME elsewhere", 6, FLAG_AA, false,
		  "sub.example.com. 60 DNAME " LONG, NULL, RESPONSE_useless },
		{ "too long a name, for no reason", 6, FLAG_AA, false, A, NULL, RESPONSE_useless },
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		struct made how = {
			WWW, TYPE_A, rows[i].rcode, { rows[i].answer, rows[i].authority }
		};
		struct message *m;
		struct arena a;
		enum response got;

		arena_init(&a);
		m = made_message(&a, NOW, &how);
		m->flags = FLAG_QR | rows[i].flags;
		got = classify(m, &m->q, N("example.com."), rows[i].recursive);
		if (got != rows[i].want)
			fail_msg("%s: %s, not %s", rows[i].why, response_name(got),
				 response_name(rows[i].want));
		arena_clear(&a);
	}
}

/* The same for other questions. */
static void what_was_asked_for_decides_too(void **state)
{
	(void)state;
	static const struct {
		const char *why;
		uint16_t type;
		uint8_t rcode;
		uint16_t flags;
		bool recursive;
		const char *section[3];
		enum response want;
	} rows[] = {
		{ "an alias asked for", TYPE_CNAME, 0, FLAG_AA, false, { SELF }, RESPONSE_answer },
		{ "an alias asked for, NXDOMAIN", TYPE_CNAME, 3, FLAG_AA, false, { SELF, SOA }, RESPONSE_alias },
		{ "an alias of another class, NXDOMAIN", TYPE_CNAME, 3, FLAG_AA, false,
		  { "www.example.com. 60 CH CNAME next.example.com.", SOA }, RESPONSE_nxdomain },
		{ "an alias of another name, NXDOMAIN", TYPE_A, 3, FLAG_AA, false, { "a.example.com. 60 CNAME b.", SOA },
		  RESPONSE_nxdomain },
		{ "all types", TYPE_ANY, 0, FLAG_AA, false, { SELF }, RESPONSE_answer },
		{ "all types, and a cut", TYPE_ANY, 0, 0, false, { A, SUB }, RESPONSE_answer },
		{ "a chain in a circle", TYPE_A, 0, FLAG_AA, false,
		  { SELF "\nnext.example.com. 60 CNAME www.example.com." }, RESPONSE_alias },
		{ "an alias beside data of another name", TYPE_A, 0, FLAG_RA, true, { SELF "\nx.example.com. 60 A 192.0.2.1" },
		  RESPONSE_alias },
		{ "a whole chain from a server", TYPE_A, 0, 0, false, { SELF "\n" NEXT }, RESPONSE_alias },
		{ "a whole chain of which scrub left the data", TYPE_A, 0, FLAG_AA, false, { SELF "\n" NEXT }, RESPONSE_answer },
		{ "data without AA, and a cut above", TYPE_A, 0, 0, false, { A, COM }, RESPONSE_answer },
		{ "data without AA, and its own cut", TYPE_A, 0, 0, false, { A, NS }, RESPONSE_answer },
		{ "data, and a cut, from a recursor", TYPE_A, 0, FLAG_RA, false, { A, SUB }, RESPONSE_recursor },
		{ "data, and a cut, from a forwarder", TYPE_A, 0, FLAG_RA, true, { A, SUB }, RESPONSE_answer },
		{ "the NS set asked for, twice", TYPE_NS, 0, 0, false, { SUB, SUB }, RESPONSE_answer },
		{ "the NS set asked for, and a cut below", TYPE_NS, 0, 0, false,
		  { SUB, "a.www.example.com. 60 NS n." }, RESPONSE_referral },
		{ "its own cut, from a forwarder", TYPE_A, 0, 0, true, { NULL, NS }, RESPONSE_nodata },
		{ "a SOA from a forwarder", TYPE_A, 0, FLAG_RA, true, { NULL, SOA }, RESPONSE_nodata },
		{ "a SOA and a cut", TYPE_A, 0, 0, false, { NULL, SUB "\n" SOA }, RESPONSE_nodata },
		{ "a SOA with AA and RA", TYPE_A, 0, FLAG_AA | FLAG_RA, false, { NULL, SOA }, RESPONSE_nodata },
		{ "a cut, but where none stands", TYPE_A, 0, FLAG_AA, false, { NULL, NULL, SUB }, RESPONSE_nodata },
		{ "a cut below, from a forwarder", TYPE_A, 0, FLAG_RA, true, { NULL, SUB }, RESPONSE_referral },
		{ "nothing, from a forwarder", TYPE_A, 0, FLAG_RA, true, { NULL }, RESPONSE_empty },
		{ "something else", TYPE_A, 0, FLAG_AA, false, { NULL, "www.example.com. 60 TXT x" }, RESPONSE_nodata },
		{ "something else, from a recursor", TYPE_A, 0, FLAG_RA, false, { NULL, "www.example.com. 60 TXT x" },
		  RESPONSE_recursor },
		{ "no such name, with AA and RA", TYPE_A, 3, FLAG_AA | FLAG_RA, false, { NULL, SOA }, RESPONSE_nxdomain },
		{ "no such name, from a forwarder", TYPE_A, 3, FLAG_RA, true, { NULL, SOA }, RESPONSE_nxdomain },
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		struct made how = { WWW, rows[i].type, rows[i].rcode,
				    { rows[i].section[0], rows[i].section[1], rows[i].section[2] } };
		struct message *m;
		struct arena a;
		enum response got;

		arena_init(&a);
		m = made_message(&a, NOW, &how);
		m->flags = FLAG_QR | rows[i].flags;
		got = classify(m, &m->q, N("example.com."), rows[i].recursive);
		if (got != rows[i].want)
			fail_msg("%s: %s, not %s", rows[i].why, response_name(got), response_name(rows[i].want));
		arena_clear(&a);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_kind_of_a_response_is_seen),
		cmocka_unit_test(what_was_asked_for_decides_too),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
