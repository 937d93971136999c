/* Claims about what of a response is believed.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "iterator/tests/scrub_row.h"

#define REF  "sub.example.com. 60 NS ns.sub.example.com.\nsub.example.com. 60 NS ns.other.com."

static void scrub_keeps_only_what_answers_the_question(void **state)
{
	(void)state;
	static const struct row rows[] = {
		{ "data",
		  "www.example.com.",
		  TYPE_A,
		  0,
		  FLAG_AA,
		  false,
		  NULL,
		  { A },
		  "www.example.com./A||" },
		{ "with data of another name",
		  "www.example.com.",
		  TYPE_A,
		  0,
		  FLAG_AA,
		  false,
		  NULL,
		  { A "\nmail.example.com. 60 A 192.0.2.9" },
		  "www.example.com./A||" },
		{ "with data of another type",
		  "www.example.com.",
		  TYPE_A,
		  0,
		  FLAG_AA,
		  false,
		  NULL,
		  { A "\nwww.example.com. 60 TXT x" },
		  "www.example.com./A||" },
		{ "with data of another zone",
		  "www.example.com.",
		  TYPE_A,
		  0,
		  FLAG_AA,
		  false,
		  NULL,
		  { A, "org. 60 NS ns.org.", "ns.org. 60 A 192.0.2.9" },
		  "www.example.com./A||" },
		{ "all types at the name",
		  "www.example.com.",
		  TYPE_ANY,
		  0,
		  FLAG_AA,
		  false,
		  NULL,
		  { A "\nwww.example.com. 60 TXT x\nx.example.com. 60 TXT x" },
		  "www.example.com./A www.example.com./TXT||" },
		{ "what is no data, anywhere",
		  "www.example.com.",
		  TYPE_ANY,
		  0,
		  FLAG_AA,
		  false,
		  NULL,
		  { A "\nwww.example.com. 60 TYPE250 \\# 1 00", "www.example.com. 60 TYPE249 \\# 1 00",
		    "www.example.com. 60 TYPE250 \\# 1 00\nwww.example.com. 60 TYPE255 \\# 1 00" },
		  "www.example.com./A||" },
		{ "unasked NS set next to an answer",
		  "www.example.com.",
		  TYPE_A,
		  0,
		  FLAG_AA,
		  false,
		  NULL,
		  { A, NS, GLUE },
		  "www.example.com./A||" },
		{ "and where that is allowed",
		  "www.example.com.",
		  TYPE_A,
		  0,
		  FLAG_AA,
		  false,
		  "iter-scrub-promiscuous: no",
		  { A, NS, GLUE },
		  "www.example.com./A|example.com./NS|ns.example.com./A" },
		{ "in a denial it is not",
		  "www.example.com.",
		  TYPE_A,
		  3,
		  FLAG_AA,
		  false,
		  "iter-scrub-promiscuous: no",
		  { NULL, SOA "\n" NS, GLUE },
		  "|example.com./SOA|" },
		{ "NS set beside the name",
		  "www.example.com.",
		  TYPE_A,
		  0,
		  FLAG_AA,
		  false,
		  "iter-scrub-promiscuous: no",
		  { A, "mail.example.com. 60 NS ns.example.com.", GLUE },
		  "www.example.com./A||" },
		{ "MX with an address",
		  "www.example.com.",
		  TYPE_A,
		  0,
		  FLAG_AA,
		  false,
		  NULL,
		  { A, "www.example.com. 60 MX 1 ns.example.com.", GLUE },
		  "www.example.com./A|www.example.com./MX|" },
		{ "addresses in AUTHORITY",
		  "www.example.com.",
		  TYPE_A,
		  0,
		  FLAG_AA,
		  false,
		  NULL,
		  { A, GLUE },
		  "www.example.com./A||" },
		{ "unknown type in AUTHORITY",
		  "www.example.com.",
		  TYPE_A,
		  0,
		  FLAG_AA,
		  false,
		  "harden-unknown-additional: yes",
		  { A, "www.example.com. 60 TXT x" },
		  "www.example.com./A||" },
		{ "address of an answer's host",
		  "example.com.",
		  TYPE_MX,
		  0,
		  FLAG_AA,
		  false,
		  NULL,
		  { "example.com. 60 MX 1 mail.example.com.", NULL,
		    "mail.example.com. 60 A 192.0.2.7\nspam.example.com. 60 A 192.0.2.8" },
		  "example.com./MX||mail.example.com./A" },
		{ "the answer once more",
		  "ns.example.com.",
		  TYPE_A,
		  0,
		  FLAG_AA,
		  false,
		  "iter-scrub-promiscuous: no",
		  { GLUE, NS, GLUE },
		  "ns.example.com./A|example.com./NS|" },
	};

	for (size_t i = 0; i < COUNT(rows); i++)
		check(&rows[i]);
}

static void an_answer_to_something_else_is_refused(void **state)
{
	(void)state;
	static const struct {
		const char *why, *name;
		uint16_t type, flags;
		uint8_t opcode;
		bool want;
	} rows[] = {
		{ "ours", "www.example.com.", TYPE_A, FLAG_QR, OPCODE_QUERY, true },
		{ "in other case", "WWW.Example.com.", TYPE_A, FLAG_QR, OPCODE_QUERY, true },
		{ "another name", "mail.example.com.", TYPE_A, FLAG_QR, OPCODE_QUERY, false },
		{ "another type", "www.example.com.", TYPE_AAAA, FLAG_QR, OPCODE_QUERY, false },
		{ "a question", "www.example.com.", TYPE_A, 0, OPCODE_QUERY, false },
		{ "another opcode", "www.example.com.", TYPE_A, FLAG_QR, OPCODE_NOTIFY, false },
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		struct made how = { rows[i].name, rows[i].type, 0, { NULL } };
		struct question asked = made_question("www.example.com.", TYPE_A);
		struct snapshot options;
		struct arena a;

		arena_init(&a);
		struct message *m = made_message(&a, NOW, &how);
		m->flags = rows[i].flags;
		m->opcode = rows[i].opcode;
		if (scrub(m, &(struct scrub_how){ .asked = &asked,
						  .zone = dname_root,
						  .arena = &a,
						  .snapshot = options_with(NULL, &options) }) !=
		    rows[i].want)
			fail_msg("%s", rows[i].why);
		conf_free(options.conf);
		arena_clear(&a);
	}
}

static void a_referral_brings_its_own_glue_only(void **state)
{
	(void)state;
	static const struct row rows[] = {
		{ "inside the zone",
		  "www.sub.example.com.",
		  TYPE_A,
		  0,
		  0,
		  false,
		  NULL,
		  { NULL, REF,
		    "ns.sub.example.com. 60 A 192.0.2.1\nns.other.com. 60 A 192.0.2.2\n" GLUE },
		  "|sub.example.com./NS|ns.sub.example.com./A" },
		{ "outside, where allowed",
		  "www.sub.example.com.",
		  TYPE_A,
		  0,
		  0,
		  false,
		  "harden-glue: no",
		  { NULL, REF, "ns.sub.example.com. 60 A 192.0.2.1\nns.other.com. 60 A 192.0.2.2" },
		  "|sub.example.com./NS|ns.sub.example.com./A ns.other.com./A" },
		{ "with DS",
		  "www.sub.example.com.",
		  TYPE_A,
		  0,
		  0,
		  false,
		  NULL,
		  { NULL, REF "\nsub.example.com. 60 DS 1 8 2 "
			      "0000000000000000000000000000000000000000000000000000000000000000" },
		  "|sub.example.com./NS sub.example.com./DS|" },
		{ "DS of another cut",
		  "www.sub.example.com.",
		  TYPE_A,
		  0,
		  0,
		  false,
		  NULL,
		  { NULL, REF "\noff.example.com. 60 DS 1 8 2 "
			      "0000000000000000000000000000000000000000000000000000000000000000" },
		  "|sub.example.com./NS|" },
		{ "the DS that was asked for",
		  "sub.example.com.",
		  TYPE_DS,
		  0,
		  0,
		  false,
		  NULL,
		  { NULL, REF "\nsub.example.com. 60 DS 1 8 2 "
			      "0000000000000000000000000000000000000000000000000000000000000000" },
		  "sub.example.com./DS||" },
		{ "upwards: seen, without glue",
		  "www.example.com.",
		  TYPE_A,
		  0,
		  0,
		  false,
		  NULL,
		  { NULL, "com. 60 NS ns.example.com.", GLUE },
		  "|com./NS|" },
		{ "its own zone, to be seen as no answer",
		  "www.example.com.",
		  TYPE_A,
		  0,
		  0,
		  false,
		  NULL,
		  { NULL, NS, GLUE },
		  "|example.com./NS|ns.example.com./A" },
		{ "its own zone, with AA",
		  "www.example.com.",
		  TYPE_A,
		  0,
		  FLAG_AA,
		  false,
		  NULL,
		  { NULL, NS, GLUE },
		  "||" },
	};

	for (size_t i = 0; i < COUNT(rows); i++)
		check(&rows[i]);
}

#define SUBNS "sub.example.com. 60 NS ns.sub.example.com."
#define SUBDS "sub.example.com. 60 DS 1 8 2 00"
#define WSUB  "www.sub.example.com."

static void of_the_authority_section_what_belongs_to_the_question_stays(void **state)
{
	(void)state;
	static const struct row rows[] = {
		{ "a SOA at the name", "example.com.", TYPE_A, 0, FLAG_AA, false, NULL, { NULL, SOA }, "|example.com./SOA|" },
		{ "a SOA above it", "a.b.example.com.", TYPE_A, 3, FLAG_AA, false, NULL,
		  { NULL, "b.example.com. 60 SOA a. b. 1 2 3 4 5" }, "|b.example.com./SOA|" },
		{ "no SOA beside it", "www.example.com.", TYPE_A, 0, FLAG_AA, false, NULL,
		  { NULL, "b.example.com. 60 SOA a. b. 1 2 3 4 5" }, "||" },
		{ "no SOA from above the zone", "www.example.com.", TYPE_A, 0, FLAG_AA, false, NULL,
		  { NULL, "com. 60 SOA a. b. 1 2 3 4 5" }, "||" },
		{ "no SOA of another class", "www.example.com.", TYPE_A, 0, FLAG_AA, false, NULL,
		  { NULL, "example.com. 60 CH SOA a. b. 1 2 3 4 5" }, "||" },
		{ "an NS set beside the SOA of a denial does not", "www.example.com.", TYPE_A, 0, 0, false, NULL,
		  { NULL, SUBNS "\n" NS "\n" SOA }, "|example.com./SOA|" },
		{ "or behind it", WSUB, TYPE_A, 0, 0, false, NULL, { NULL, SOA "\n" SUBNS }, "|example.com./SOA|" },
		{ "however promiscuously", WSUB, TYPE_A, 0, 0, false, "iter-scrub-promiscuous: no",
		  { NULL, SOA "\n" SUBNS }, "|example.com./SOA|" },
		{ "a SOA beside the name does not count for that", WSUB, TYPE_A, 0, 0, false, NULL,
		  { NULL, SUBNS "\nb.example.com. 60 SOA a. b. 1 2 3 4 5" }, "|sub.example.com./NS|" },
		{ "nor does one of another zone", WSUB, TYPE_A, 0, 0, false, NULL,
		  { NULL, SUBNS "\ncom. 60 SOA a. b. 1 2 3 4 5" }, "|sub.example.com./NS|" },
		{ "with an answer, promiscuously", "www.example.com.", TYPE_A, 0, FLAG_AA, false, "iter-scrub-promiscuous: no",
		  { A, NS "\n" SOA }, "www.example.com./A|example.com./NS example.com./SOA|" },
		{ "an NS set in a failure", WSUB, TYPE_A, 2, 0, false, NULL, { NULL, SUBNS }, "||" },
		{ "of several cuts the highest below the zone", "a.b.sub.example.com.", TYPE_A, 0, 0, false, NULL,
		  { NULL, "b.sub.example.com. 60 NS n.\n" SUBNS "\na.b.sub.example.com. 60 NS n." },
		  "|sub.example.com./NS|" },
		{ "before the zone's own", WSUB, TYPE_A, 0, 0, false, NULL, { NULL, NS "\n" SUBNS }, "|sub.example.com./NS|" },
		{ "or after it", WSUB, TYPE_A, 0, 0, false, NULL, { NULL, SUBNS "\n" NS }, "|sub.example.com./NS|" },
		{ "before one above", WSUB, TYPE_A, 0, 0, false, NULL, { NULL, "com. 60 NS n.\n" SUBNS },
		  "|sub.example.com./NS|" },
		{ "of two that lead nowhere the first", "www.example.com.", TYPE_A, 0, 0, false, NULL,
		  { NULL, "com. 60 NS n.\n. 60 NS n." }, "|com./NS|" },
		{ "no cut beside the name", "www.example.com.", TYPE_A, 0, 0, false, NULL, { NULL, SUBNS }, "||" },
		{ "nothing upward beside an answer", "www.example.com.", TYPE_A, 0, FLAG_AA, false, NULL,
		  { A, "com. 60 NS n." }, "www.example.com./A||" },
		{ "not even promiscuously", "www.example.com.", TYPE_A, 0, FLAG_AA, false, "iter-scrub-promiscuous: no",
		  { A, "com. 60 NS n." }, "www.example.com./A||" },
		{ "nothing upward beside a SOA", "www.example.com.", TYPE_A, 0, 0, false, NULL,
		  { NULL, "com. 60 NS n.\n" SOA }, "|example.com./SOA|" },
		{ "nothing upward in a failure", "www.example.com.", TYPE_A, 5, 0, false, NULL, { NULL, "com. 60 NS n." }, "||" },
		{ "nothing upward of another class", "www.example.com.", TYPE_A, 0, 0, false, NULL,
		  { NULL, "com. 60 CH NS n." }, "||" },
		{ "sideways neither", "www.example.com.", TYPE_A, 0, 0, false, NULL, { NULL, "other.com. 60 NS n." }, "||" },
		{ "beside a name that does not exist", WSUB, TYPE_A, 3, FLAG_AA, false, "iter-scrub-promiscuous: no",
		  { NULL, SUBNS }, "||" },
		{ "a referral with AA is one", WSUB, TYPE_A, 0, FLAG_AA, false, NULL, { NULL, SUBNS }, "|sub.example.com./NS|" },
		{ "a DS beside a cut", WSUB, TYPE_A, 0, 0, false, NULL, { NULL, SUBNS "\nb.example.com. 60 DS 1 8 2 00" },
		  "|sub.example.com./NS|" },
		{ "a DS without a cut", WSUB, TYPE_A, 0, FLAG_AA, false, NULL, { NULL, SUBDS "\n" SOA }, "|example.com./SOA|" },
		{ "the zone's own DS", "www.example.com.", TYPE_A, 0, 0, false, NULL,
		  { NULL, NS "\nexample.com. 60 DS 1 8 2 00" }, "|example.com./NS|" },
		{ "a DS before its cut", WSUB, TYPE_A, 0, 0, false, NULL, { NULL, SUBDS "\n" SUBNS },
		  "|sub.example.com./DS sub.example.com./NS|" },
		{ "behind an answer", "www.example.com.", TYPE_A, 0, FLAG_AA, false, NULL, { A, SUBDS }, "www.example.com./A||" },
		{ "any other type", "www.example.com.", TYPE_A, 0, FLAG_AA, false, NULL, { A, "x.example.com. 60 TXT x" },
		  "www.example.com./A|x.example.com./TXT|" },
		{ "of this zone", "www.example.com.", TYPE_A, 0, FLAG_AA, false, NULL, { A, "x.com. 60 TXT x" },
		  "www.example.com./A||" },
		{ "of this class", "www.example.com.", TYPE_A, 0, FLAG_AA, false, NULL, { A, "x.example.com. 60 CH TXT x" },
		  "www.example.com./A||" },
		{ "aliases do not", "www.example.com.", TYPE_A, 0, FLAG_AA, false, NULL,
		  { A, "x.example.com. 60 CNAME y.\nz.example.com. 60 DNAME y.\nz.example.com. 60 AAAA 2001:db8::1" },
		  "www.example.com./A||" },
		{ "what makes denials does, however strict", "www.example.com.", TYPE_A, 0, FLAG_AA, false,
		  "harden-unknown-additional: yes",
		  { NULL, SOA "\nwww.example.com. 60 NSEC x.example.com. TXT\n"
			  "k3515rr034va6uns638d73il6cguh659.example.com. 60 NSEC3 1 0 0 - s9tggh1hil8i0rg39emtjvu6l583d06t A" },
		  "|example.com./SOA www.example.com./NSEC k3515rr034va6uns638d73il6cguh659.example.com./NSEC3|" },
		{ "and signatures of what is left out", "www.example.com.", TYPE_A, 0, FLAG_AA, false,
		  "harden-unknown-additional: yes",
		  { A, "www.example.com. 60 RRSIG TXT 8 3 60 20300101000000 20200101000000 1 example.com. AA==" },
		  "www.example.com./A|www.example.com./RRSIG|" },
		{ "and referrals", WSUB, TYPE_A, 0, 0, false, "harden-unknown-additional: yes",
		  { NULL, SUBNS "\n" SUBDS "\nsub.example.com. 60 TXT x" }, "|sub.example.com./NS sub.example.com./DS|" },
	};

	for (size_t i = 0; i < COUNT(rows); i++)
		check(&rows[i]);
}

static void a_ds_in_the_wrong_section_is_an_answer_to_its_question(void **state)
{
	(void)state;
	static const struct row rows[] = {
		{ "it is", "sub.example.com.", TYPE_DS, 0, 0, false, NULL, { NULL, SUBDS, "sub.example.com. 60 TXT x" },
		  "sub.example.com./DS||" },
		{ "it was not asked for", "sub.example.com.", TYPE_A, 0, 0, false, NULL, { NULL, SUBNS "\n" SUBDS },
		  "|sub.example.com./NS sub.example.com./DS|" },
		{ "in a failure", "sub.example.com.", TYPE_DS, 3, 0, false, NULL, { NULL, SUBDS "\n" SOA },
		  "|example.com./SOA|" },
		{ "beside another answer", "sub.example.com.", TYPE_DS, 0, FLAG_AA, false, NULL,
		  { "sub.example.com. 60 CNAME x.example.com.", SUBDS }, "sub.example.com./CNAME||" },
		{ "of another name", "sub.example.com.", TYPE_DS, 0, 0, false, NULL, { NULL, "b.example.com. 60 DS 1 8 2 00" },
		  "||" },
		{ "of another zone", "sub.other.com.", TYPE_DS, 0, 0, false, NULL, { NULL, "sub.other.com. 60 DS 1 8 2 00" },
		  "||" },
	};

	for (size_t i = 0; i < COUNT(rows); i++)
		check(&rows[i]);
}

#define HOST "h.example.com. 60 A 192.0.2.1\nh.example.com. 60 AAAA 2001:db8::1"
#define BOTH "h.example.com./A h.example.com./AAAA"

static void addresses_are_taken_of_whom_the_answer_names(void **state)
{
	(void)state;
	static const struct row rows[] = {
		{ "NS", "www.example.com.", TYPE_NS, 0, FLAG_AA, false, NULL, { "www.example.com. 60 NS h.example.com.", NULL, HOST },
		  "www.example.com./NS||" BOTH },
		{ "MX", "www.example.com.", TYPE_MX, 0, FLAG_AA, false, NULL,
		  { "www.example.com. 60 MX 1 h.example.com.", NULL, HOST }, "www.example.com./MX||" BOTH },
		{ "SRV", "www.example.com.", TYPE_SRV, 0, FLAG_AA, false, NULL,
		  { "www.example.com. 60 SRV 1 2 3 h.example.com.", NULL, HOST }, "www.example.com./SRV||" BOTH },
		{ "SVCB", "www.example.com.", TYPE_SVCB, 0, FLAG_AA, false, NULL,
		  { "www.example.com. 60 SVCB 1 h.example.com.", NULL, HOST }, "www.example.com./SVCB||" BOTH },
		{ "HTTPS", "www.example.com.", TYPE_HTTPS, 0, FLAG_AA, false, NULL,
		  { "www.example.com. 60 HTTPS 1 h.example.com.", NULL, HOST }, "www.example.com./HTTPS||" BOTH },
		{ "the second host", "www.example.com.", TYPE_MX, 0, FLAG_AA, false, NULL,
		  { "www.example.com. 60 MX 1 g.example.com.\nwww.example.com. 60 MX 2 h.example.com.", NULL, HOST },
		  "www.example.com./MX||" BOTH },
		{ "the second set", "www.example.com.", TYPE_ANY, 0, FLAG_AA, false, NULL,
		  { "www.example.com. 60 TXT x\nwww.example.com. 60 MX 2 h.example.com.", NULL, HOST },
		  "www.example.com./TXT www.example.com./MX||" BOTH },
		{ "no other type names anybody", "www.example.com.", TYPE_PTR, 0, FLAG_AA, false, NULL,
		  { "www.example.com. 60 PTR h.example.com.", NULL, HOST }, "www.example.com./PTR||" },
		{ "nor does the answer to another name", "www.example.com.", TYPE_MX, 0, 0, true, NULL,
		  { "www.example.com. 60 CNAME b.example.com.\nb.example.com. 60 MX 1 h.example.com.", NULL, HOST },
		  "www.example.com./CNAME b.example.com./MX||" },
		{ "of another class", "www.example.com.", TYPE_MX, 0, FLAG_AA, false, NULL,
		  { "www.example.com. 60 MX 1 h.example.com.", NULL, "h.example.com. 60 CH A 192.0.2.1" },
		  "www.example.com./MX||" },
		{ "of another zone", "www.example.com.", TYPE_MX, 0, FLAG_AA, false, NULL,
		  { "www.example.com. 60 MX 1 h.other.com.", NULL, "h.other.com. 60 A 192.0.2.1" }, "www.example.com./MX||" },
		{ "of another zone, where its glue would be believed", "www.example.com.", TYPE_MX, 0, FLAG_AA, false, "harden-glue: no",
		  { "www.example.com. 60 MX 1 h.other.com.", NULL, "h.other.com. 60 A 192.0.2.1" }, "www.example.com./MX||" },
		{ "who is the name itself", "h.example.com.", TYPE_ANY, 0, FLAG_AA, false, NULL,
		  { "h.example.com. 60 MX 1 h.example.com.\nh.example.com. 60 A 192.0.2.1", NULL, HOST },
		  "h.example.com./MX h.example.com./A||h.example.com./AAAA" },
		{ "other records beside an answer", "www.example.com.", TYPE_A, 0, FLAG_AA, false, NULL,
		  { A, NULL, "x.example.com. 60 TXT x\nx.com. 60 TXT x" }, "www.example.com./A||x.example.com./TXT" },
		{ "unless they are not wanted", "www.example.com.", TYPE_A, 0, FLAG_AA, false, "harden-unknown-additional: yes",
		  { A, NULL, "x.example.com. 60 TXT x" }, "www.example.com./A||" },
		{ "but none that others are found by", "www.example.com.", TYPE_A, 0, FLAG_AA, false, NULL,
		  { A, NULL, NS "\n" SOA "\n" SUBDS "\nx.example.com. 60 CNAME y.\nx.example.com. 60 DNAME y.\n"
		    "x.example.com. 60 NSEC y.example.com. A\n"
		    "k3515rr034va6uns638d73il6cguh659.example.com. 60 NSEC3 1 0 0 - s9tggh1hil8i0rg39emtjvu6l583d06t A" },
		  "www.example.com./A||" },
		{ "and none with what leads upwards", "www.example.com.", TYPE_A, 0, 0, false, NULL,
		  { NULL, "com. 60 NS h.example.com.", HOST "\nx.example.com. 60 TXT x" }, "|com./NS|" },
	};

	for (size_t i = 0; i < COUNT(rows); i++)
		check(&rows[i]);
}

static void of_too_much_only_addresses_are_of_use(void **state)
{
	static const struct made how = { "www.example.com.", TYPE_MX, 0,
					 { "www.example.com. 60 MX 1 h.example.com.", NULL, HOST "\nx.example.com. 60 TXT x" } };
	char got[256];

	(void)state;
	for (unsigned large = 0; large < 2; large++) {
		struct snapshot options;
		struct message *m;
		struct arena a;

		arena_init(&a);
		m = made_message(&a, NOW, &how);
		m->flags = FLAG_QR | FLAG_AA | FLAG_AD | FLAG_Z;
		struct question asked = m->q;
		assert_true(scrub(m, &(struct scrub_how){ .asked = &asked,
							  .zone = N("example.com."),
							  .large = large,
							  .arena = &a,
							  .snapshot = options_with(NULL, &options) }));
		assert_string_equal(sections(m, got, sizeof(got)),
				    large ? "www.example.com./MX||" BOTH : "www.example.com./MX||" BOTH " x.example.com./TXT");
		assert_int_equal(m->flags, FLAG_QR | FLAG_AA); /* others prove nothing */
		conf_free(options.conf);
		arena_clear(&a);
	}
}

/* Glue that is not the cut's own is looked up, where the operator wants that. */
static void glue_from_outside_the_cut_may_be_unverified(void **state)
{
	static const struct {
		const char *why, *option;
		const char *answer, *authority;
		uint16_t type;
		bool want[2]; /* of ns.sub.example.com, and of h.example.com */
	} rows[] = {
		{ "by default it is not", NULL, NULL, SUBNS "\nsub.example.com. 60 NS h.example.com.", TYPE_A, { false, false } },
		{ "it is", "harden-unverified-glue: yes", NULL, SUBNS "\nsub.example.com. 60 NS h.example.com.", TYPE_A,
		  { false, true } },
		{ "not with an answer", "harden-unverified-glue: yes", SUBNS "\nsub.example.com. 60 NS h.example.com.", NULL,
		  TYPE_NS, { false, false } },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		struct made how = { "sub.example.com.", rows[i].type, 0,
				    { rows[i].answer, rows[i].authority,
				      "ns.sub.example.com. 60 A 192.0.2.1\nh.example.com. 60 A 192.0.2.1" } };
		struct snapshot options;
		struct message *m;
		struct arena a;

		arena_init(&a);
		m = made_message(&a, NOW, &how);
		m->flags = FLAG_QR;
		struct question asked = m->q;
		assert_true(scrub(m, &(struct scrub_how){ .asked = &asked,
							  .zone = N("example.com."),
							  .arena = &a,
							  .snapshot = options_with(rows[i].option, &options) }));
		assert_int_equal(m->count[SECTION_ADDITIONAL], 2);
		for (unsigned n = 0; n < 2; n++)
			if (m->sets[1 + n]->flags != (rows[i].want[n] ? RRSET_UNVERIFIED_GLUE : 0))
				fail_msg("%s: %u", rows[i].why, m->sets[1 + n]->flags);
		conf_free(options.conf);
		arena_clear(&a);
	}
}

/* As some servers answer what they cannot even read. */
static void without_a_question_it_can_only_be_a_failure(void **state)
{
	static const struct {
		uint8_t rcode;
		bool want;
	} rows[] = { { 0, false }, { 1, true }, { 2, true }, { 3, false }, { 4, true }, { 5, true }, { 6, false }, { 9, true } };

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		struct question asked = made_question("www.example.com.", TYPE_A);
		struct message m = { .flags = FLAG_QR, .opcode = OPCODE_QUERY, .rcode = rows[i].rcode };
		struct snapshot options;
		struct arena a;

		arena_init(&a);
		if (scrub(&m, &(struct scrub_how){ .asked = &asked,
						   .zone = dname_root,
						   .arena = &a,
						   .snapshot = options_with(NULL, &options) }) != rows[i].want)
			fail_msg("rcode %u", rows[i].rcode);
		conf_free(options.conf);
		arena_clear(&a);
	}
}

/* Each address is compared with each name that may call for it, so that there is an end to these. */
static void thousands_of_hosts_are_not_all_looked_for(void **state)
{
	(void)state;
	static const unsigned counts[][2] = { { 1, 1 }, { 64, 2 }, { 65, 2 }, { 300, 2 } };
	static const char addresses[] = "h0.example.com. 60 A 192.0.2.1\n"
					"h63.example.com. 60 A 192.0.2.1\n"
					"h64.example.com. 60 A 192.0.2.1\n"
					"h299.example.com. 60 A 192.0.2.1\n";
	char hosts[20000];

	for (size_t i = 0; i < COUNT(counts); i++) {
		struct made how = { "www.example.com.", TYPE_MX, RCODE_NOERROR, { hosts, NULL, addresses } };
		struct snapshot options;
		struct arena a;
		struct message *m;
		size_t len = 0;

		for (unsigned k = 0; k < counts[i][0]; k++)
			len += (size_t)snprintf(hosts + len, sizeof(hosts) - len,
						"www.example.com. 60 MX 1 h%u.example.com.\n", k);
		arena_init(&a);
		m = made_message(&a, NOW, &how);
		m->flags = FLAG_QR | FLAG_AA;
		struct question asked = m->q;
		assert_true(scrub(m, &(struct scrub_how){
					     .asked = &asked,
					     .zone = N("example.com."),
					     .snapshot = options_with(NULL, &options),
					     .arena = &a,
				     }));
		assert_int_equal(m->count[SECTION_ANSWER], 1);
		assert_int_equal(m->count[SECTION_ADDITIONAL], counts[i][1]);
		conf_free(options.conf);
		arena_clear(&a);
	}
}

/* Each is work for the validator: of a denial padded with any number of them, no more than proofs may need. */
static void no_more_denials_stay_than_proofs_may_need(void **state)
{
	(void)state;
	static const struct {
		const char *answer;
		unsigned given, kept;
	} rows[] = { { NULL, 10, 10 },
		     { NULL, 20, 10 },
		     { "www.example.com. 60 CNAME a.example.com.", 20, 12 },
		     { "www.example.com. 60 CNAME a.example.com.\na.example.com. 60 CNAME b.example.com.\n"
		       "b.example.com. 60 A 192.0.2.1", 20, 14 } };
	char denials[2000];

	for (size_t i = 0; i < COUNT(rows); i++) {
		struct made how = { "www.example.com.", TYPE_A, RCODE_NOERROR, { rows[i].answer, denials, NULL } };
		struct snapshot options;
		struct message *m;
		struct arena a;
		size_t len = (size_t)snprintf(denials, sizeof(denials), SOA "\n");

		for (unsigned k = 0; k < rows[i].given; k++)
			len += (size_t)snprintf(denials + len, sizeof(denials) - len,
						"n%u.example.com. 60 NSEC o.example.com. TXT\n", k);
		arena_init(&a);
		m = made_message(&a, NOW, &how);
		m->flags = FLAG_QR | FLAG_AA;
		struct question asked = m->q;
		assert_true(scrub(m, &(struct scrub_how){ .asked = &asked,
							  .zone = N("example.com."),
							  .arena = &a,
							  .snapshot = options_with(NULL, &options) }));
		if (m->count[SECTION_AUTHORITY] != 1 + rows[i].kept)
			fail_msg("%zu: %u stay", i, m->count[SECTION_AUTHORITY]);
		conf_free(options.conf);
		arena_clear(&a);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(scrub_keeps_only_what_answers_the_question),
		cmocka_unit_test(an_answer_to_something_else_is_refused),
		cmocka_unit_test(a_referral_brings_its_own_glue_only),
		cmocka_unit_test(of_the_authority_section_what_belongs_to_the_question_stays),
		cmocka_unit_test(a_ds_in_the_wrong_section_is_an_answer_to_its_question),
		cmocka_unit_test(addresses_are_taken_of_whom_the_answer_names),
		cmocka_unit_test(of_too_much_only_addresses_are_of_use),
		cmocka_unit_test(glue_from_outside_the_cut_may_be_unverified),
		cmocka_unit_test(without_a_question_it_can_only_be_a_failure),
		cmocka_unit_test(thousands_of_hosts_are_not_all_looked_for),
		cmocka_unit_test(no_more_denials_stay_than_proofs_may_need),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
