/* Claims about alias chains, wildcards and denials.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "validator/judge.h"

#include "validator/tests/lab.h"

#define SOA  "example. 300 IN SOA ns.example. admin.example. 1 3600 900 86400 300\n"

struct row {
	const char *why;
	struct lab_page page;
	enum security want;
	enum reason reason;
};

/* Each in a house of its own: what one has taught is no help to the next. */
static void judge_row(const struct row *row)
{
	const struct lab_heard *h;

	lab_open("val-max-restart: 0\naggressive-nsec: no\n");
	lab_zone("sub.example.");
	lab_tell(&row->page);
	h = lab_ask_to_the_end(row->page.name, row->page.type);
	if (h->security != row->want || h->reason != row->reason)
		fail_msg("%s: %d %s (%s)", row->why, h->security, reason_text(h->reason), h->text);
	lab_close();
}

static void each_link_of_a_chain_is_judged(void **state)
{
	(void)state;
	static const struct row rows[] = {
		{ "an alias into a zone below",
		  { "a.example.", TYPE_A, .answer = "a.example. 300 IN CNAME b.sub.example.\n"
						    "b.sub.example. 300 IN A 192.0.2.1" },
		  SECURITY_SECURE, REASON_none },
		{ "an alias to where nothing is signed",
		  { "a.example.", TYPE_A, .answer = "a.example. 300 IN CNAME b.elsewhere.\n"
						    "b.elsewhere. 300 IN A 192.0.2.1" },
		  SECURITY_INDETERMINATE, REASON_none },
		{ "a signed alias to nothing that is proven",
		  { "a.example.", TYPE_A, .answer = "a.example. 300 IN CNAME b.example.", .authority = SOA },
		  SECURITY_BOGUS, REASON_nsec_missing },
		{ "a signed alias to a name that is denied",
		  { "a.example.", TYPE_A, RCODE_NXDOMAIN, .answer = "a.example. 300 IN CNAME b.example.",
		    .authority = SOA "a.example. 300 IN NSEC www.example. CNAME RRSIG NSEC\n"
				     "example. 300 IN NSEC a.example. SOA RRSIG NSEC DNSKEY" },
		  SECURITY_SECURE, REASON_none },
		{ "a DNAME that makes the name too long, it is said",
		  { "a.example.", TYPE_A, RCODE_YXDOMAIN, .answer = "a.example. 300 IN CNAME x.d.example.\n"
								   "d.example. 300 IN DNAME e.example." },
		  SECURITY_BOGUS, REASON_bogus },
		{ "a name of a zone below",
		  { "www.sub.example.", TYPE_A, .answer = "www.sub.example. 300 IN A 192.0.2.1" },
		  SECURITY_SECURE, REASON_none },
	};

	for (size_t i = 0; i < COUNT(rows); i++)
		judge_row(&rows[i]);
}

/* What does not come from the zone itself is made here by hand: alias and DNAME, each signed or not. */
static void a_dname_speaks_for_the_alias_it_makes(void **state)
{
	(void)state;
	static const struct {
		const char *why, *alias;
		bool dname_signed;
		enum security want;
	} rows[] = {
		{ "the alias that follows from it", "x.d.example. 300 IN CNAME x.e.example.", true, SECURITY_SECURE },
		{ "the same, nothing signed", "x.d.example. 300 IN CNAME x.e.example.", false, SECURITY_BOGUS },
		{ "another alias", "x.d.example. 300 IN CNAME www.example.", true, SECURITY_BOGUS },
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		const struct rrset **sets;
		const struct lab_heard *h;

		lab_open("val-max-restart: 0\n");
		lab_tell(&(struct lab_page){ "x.d.example.", TYPE_CNAME,
					     .answer = "d.example. 300 IN DNAME e.example.\n"
						       "x.d.example. 300 IN CNAME x.e.example." });
		sets = lab.pages[lab.page_count - 1].m.sets;
		sets[1] = made_set(&lab.arena, lab.env.time->now_s, rows[i].alias);
		if (!rows[i].dname_signed)
			sets[0] = made_set(&lab.arena, lab.env.time->now_s, "d.example. 300 IN DNAME e.example.");
		h = lab_ask_to_the_end("x.d.example.", TYPE_CNAME);
		if (h->security != rows[i].want)
			fail_msg("%s: %d %s", rows[i].why, h->security, h->text);
		lab_close();
	}
}

/* ---- NSEC ---- */

static void nsec_denies_what_it_spans(void **state)
{
	(void)state;
	static const struct row rows[] = {
		{ "a name, and the wildcard for it",
		  { "m.example.", TYPE_A, RCODE_NXDOMAIN,
		    .authority = SOA "k.example. 300 IN NSEC z.example. A RRSIG NSEC\n"
				     "example. 300 IN NSEC b.example. SOA RRSIG NSEC DNSKEY" },
		  SECURITY_SECURE, REASON_none },
		{ "the name, but not the wildcard",
		  { "m.example.", TYPE_A, RCODE_NXDOMAIN,
		    .authority = SOA "k.example. 300 IN NSEC z.example. A RRSIG NSEC" },
		  SECURITY_BOGUS, REASON_bogus },
		{ "a type",
		  { "m.example.", TYPE_A, .authority = SOA "m.example. 300 IN NSEC z.example. TXT RRSIG NSEC" },
		  SECURITY_SECURE, REASON_none },
		{ "a type that it lists",
		  { "m.example.", TYPE_A, .authority = SOA "m.example. 300 IN NSEC z.example. A RRSIG NSEC" },
		  SECURITY_BOGUS, REASON_bogus },
		{ "a type at a name with an alias",
		  { "m.example.", TYPE_A, .authority = SOA "m.example. 300 IN NSEC z.example. CNAME RRSIG NSEC" },
		  SECURITY_BOGUS, REASON_bogus },
		{ "any type at a name with nothing but names below",
		  { "m.example.", TYPE_A, .authority = SOA "k.example. 300 IN NSEC a.m.example. A RRSIG NSEC" },
		  SECURITY_SECURE, REASON_none },
		{ "all there is at a name that is not there",
		  { "m.example.", TYPE_ANY, RCODE_NXDOMAIN,
		    .authority = SOA "example. 300 IN NSEC z.example. SOA RRSIG NSEC DNSKEY" },
		  SECURITY_SECURE, REASON_none },
		{ "what lies below a cut, by the zone above it",
		  { "a.cut.example.", TYPE_A, RCODE_NXDOMAIN,
		    .authority = SOA "cut.example. 300 IN NSEC z.example. NS DS RRSIG NSEC\n"
				     "example. 300 IN NSEC b.example. SOA RRSIG NSEC DNSKEY" },
		  SECURITY_BOGUS, REASON_bogus },
		{ "a name, by a record that a wildcard has made",
		  { "m.example.", TYPE_A, RCODE_NXDOMAIN, .wildcard = "*.example.",
		    .authority = SOA "k.example. 300 IN NSEC z.example. A RRSIG NSEC" },
		  SECURITY_BOGUS, REASON_sig_labels },
		{ "nothing: it was asked for, and a wildcard has made it",
		  { "x.w.example.", TYPE_NSEC, .answer = "x.w.example. 300 IN NSEC z.example. A RRSIG NSEC",
		    .wildcard = "*.w.example.",
		    .authority = "*.w.example. 300 IN NSEC z.example. A RRSIG NSEC" },
		  SECURITY_SECURE, REASON_none },
		{ "the same without the proof that nothing is closer",
		  { "x.w.example.", TYPE_NSEC, .answer = "x.w.example. 300 IN NSEC z.example. A RRSIG NSEC",
		    .wildcard = "*.w.example." },
		  SECURITY_BOGUS, REASON_nsec_missing },
		{ "a DS set, by the zone above",
		  { "cut.example.", TYPE_DS, .authority = SOA "cut.example. 300 IN NSEC z.example. NS RRSIG NSEC" },
		  SECURITY_SECURE, REASON_none },
		{ "a DS set, but not the name that has none",
		  { "cut.example.", TYPE_DS, RCODE_NXDOMAIN,
		    .authority = SOA "cut.example. 300 IN NSEC z.example. NS RRSIG NSEC" },
		  SECURITY_BOGUS, REASON_bogus },
		{ "a name that is asked for its DS set",
		  { "m.example.", TYPE_DS, RCODE_NXDOMAIN,
		    .authority = SOA "k.example. 300 IN NSEC z.example. A RRSIG NSEC\n"
				     "example. 300 IN NSEC b.example. SOA RRSIG NSEC DNSKEY" },
		  SECURITY_SECURE, REASON_none },
	};

	for (size_t i = 0; i < COUNT(rows); i++)
		judge_row(&rows[i]);
}

/* ---- NSEC3 ---- */

enum { SHA1 = 1 << 24, STRANGE = 2 << 24, OPTOUT = 1 << 16, ODD_FLAG = 2 << 16 };

static void nsec3_denies_what_it_spans(void **state)
{
	(void)state;
	static const struct {
		const char *why;
		unsigned encloser, closer, wildcard;    /* the parameters of each record; 0: it is missing */
		enum security want;
		enum reason reason;
	} rows[] = {
		{ "all three records", SHA1, SHA1, SHA1, SECURITY_SECURE, REASON_none },
		{ "with iterations", SHA1 | 50, SHA1 | 50, SHA1 | 50, SECURITY_SECURE, REASON_none },
		{ "with more than is believed", SHA1 | 151, SHA1 | 151, SHA1 | 151, SECURITY_INSECURE,
		  REASON_nsec3_iterations },
		{ "with as many as there can be", SHA1 | 65535, SHA1 | 65535, SHA1 | 65535, SECURITY_INSECURE,
		  REASON_nsec3_iterations },
		{ "the closest encloser is missing", 0, SHA1, SHA1, SECURITY_BOGUS, REASON_bogus },
		{ "the next closer name is not denied", SHA1, 0, SHA1, SECURITY_BOGUS, REASON_bogus },
		{ "the wildcard is not denied", SHA1, SHA1, 0, SECURITY_BOGUS, REASON_bogus },
		{ "unsigned delegations may lie there", SHA1, SHA1 | OPTOUT, SHA1, SECURITY_INSECURE, REASON_none },
		{ "a hash that nobody has defined", STRANGE, STRANGE, STRANGE, SECURITY_BOGUS, REASON_bogus },
		{ "one record with such a hash", SHA1, STRANGE, SHA1, SECURITY_BOGUS, REASON_bogus },
		{ "a flag that nobody has defined", SHA1, SHA1 | ODD_FLAG, SHA1, SECURITY_BOGUS, REASON_bogus },
		{ "records of two chains", SHA1, SHA1 | 1, SHA1, SECURITY_BOGUS, REASON_bogus },
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		char text[2048] = SOA;
		struct row row = { rows[i].why, { "a.m.example.", TYPE_A, RCODE_NXDOMAIN, .authority = text },
				   rows[i].want, rows[i].reason };

		if (rows[i].encloser)
			strcat(text, lab_nsec3("example.", "example.", false, rows[i].encloser, "SOA DNSKEY RRSIG"));
		if (rows[i].closer)
			strcat(text, lab_nsec3("example.", "m.example.", true, rows[i].closer, "A RRSIG"));
		if (rows[i].wildcard)
			strcat(text, lab_nsec3("example.", "*.example.", true, rows[i].wildcard, "A RRSIG"));
		judge_row(&row);
	}
}

/* A name of 100 labels, and a zone with as many iterations as are believed: the purse of hashes ends it
 * (CVE-2023-50868). */
static void hashes_are_counted(void **state)
{
	(void)state;
	static const struct {
		unsigned labels, iterations;
		enum security want;
	} rows[] = {
		{ 10, 150, SECURITY_SECURE },
		{ 90, 0, SECURITY_SECURE },
		{ 100, 49, SECURITY_BOGUS },
		{ 30, 150, SECURITY_BOGUS },
		{ 100, 150, SECURITY_BOGUS },
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		char name[256] = "", text[2048] = SOA;
		const struct lab_heard *h;

		for (unsigned n = 0; n + 2 < rows[i].labels; n++)
			strcat(name, "a.");
		strcat(name, "m.example.");
		strcat(text, lab_nsec3("example.", "example.", false, SHA1 | rows[i].iterations, "SOA RRSIG"));
		strcat(text, lab_nsec3("example.", "m.example.", true, SHA1 | rows[i].iterations, "A RRSIG"));
		strcat(text, lab_nsec3("example.", "*.example.", true, SHA1 | rows[i].iterations, "A RRSIG"));
		lab_open("val-max-restart: 0\n");
		lab_tell(&(struct lab_page){ name, TYPE_A, RCODE_NXDOMAIN, .authority = text });
		h = lab_ask_to_the_end(name, TYPE_A);
		if (h->security != rows[i].want)
			fail_msg("%u labels, %u iterations: %d %s", rows[i].labels, rows[i].iterations, h->security,
				 h->text);
		lab_close();
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_link_of_a_chain_is_judged),
		cmocka_unit_test(a_dname_speaks_for_the_alias_it_makes),
		cmocka_unit_test(nsec_denies_what_it_spans),
		cmocka_unit_test(nsec3_denies_what_it_spans),
		cmocka_unit_test(hashes_are_counted),
	};

	return cmocka_run_group_tests_name("judge", tests, NULL, NULL);
}
