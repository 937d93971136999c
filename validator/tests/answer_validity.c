/* Claims about alias chains, wildcards and denials.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "validator/answer_validity.h"

#include "services/cache/verified_private.h"
#include "validator/tests/lab.h"

#define SOA  "example. 300 IN SOA ns.example. admin.example. 1 3600 900 86400 300\n"
#define L63 "lllllllllllllllllllllllllllllllllllllllllllllllllllllllllllllll"

struct row {
	const char *why;
	struct lab_page page;
	enum security want;
	enum reason reason;
};

/* Each in a fixture of its own: what one has taught is no help to the next. */
static void validate_row(const struct row *row)
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

static void each_link_of_a_chain_is_validated(void **state)
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
		{ "a DNAME that a wildcard made, it was asked for",
		  { "x.w.example.", TYPE_DNAME, .answer = "x.w.example. 300 IN DNAME e.example.", .wildcard = "*.w.example.",
		    .authority = "*.w.example. 300 IN NSEC z.example. DNAME RRSIG NSEC" },
		  SECURITY_SECURE, REASON_none },
		{ "an alias by a DNAME that a wildcard made",
		  { "b.x.w.example.", TYPE_CNAME, .answer = "x.w.example. 300 IN DNAME e.example.\n"
							   "b.x.w.example. 300 IN CNAME b.e.example.", .wildcard = "*.w.example.",
		    .authority = "*.w.example. 300 IN NSEC z.example. DNAME RRSIG NSEC" },
		  SECURITY_BOGUS, REASON_bogus },
		{ "too long a name by a DNAME that a wildcard made",
		  { L63 ".x.w.example.", TYPE_A, RCODE_YXDOMAIN,
		    .answer = "x.w.example. 300 IN DNAME " L63 "." L63 "." L63 ".example.", .wildcard = "*.w.example.",
		    .authority = "*.w.example. 300 IN NSEC z.example. DNAME RRSIG NSEC" },
		  SECURITY_BOGUS, REASON_bogus },
		{ "a name of a zone below",
		  { "www.sub.example.", TYPE_A, .answer = "www.sub.example. 300 IN A 192.0.2.1" },
		  SECURITY_SECURE, REASON_none },
	};

	for (size_t i = 0; i < COUNT(rows); i++)
		validate_row(&rows[i]);
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

/* The DNAME proves it, but it is not what was signed. */
static void what_was_synthesized_is_not_verified(void **state)
{
	(void)state;
	bool validated[] = { true, true };
	struct validity sets[] = { { .security = SECURITY_SECURE }, { .security = SECURITY_SECURE } };
	const struct rrset *both[2];
	struct message m = { .sets = both, .count = { 2 } };
	struct arena a;

	arena_init(&a);
	both[0] = made_set(&a, 0, "d.example. 300 IN DNAME e.example.");
	both[1] = made_set(&a, 0, "x.d.example. 300 IN CNAME x.e.example.");
	struct verified v = { .set = both[0], .zone = N("example.") };
	struct sig_result verdicts[] = { { .verified = &v }, { .verified = &v } };
	struct answer_validity j = { .m = &m, .sets = sets, .verdicts = verdicts, .validated = validated };
	assert_ptr_equal(answer_validity_verified(&j, 0), &v);
	assert_null(answer_validity_verified(&j, 1));
	sets[0].security = SECURITY_BOGUS;
	assert_null(answer_validity_verified(&j, 0));
	arena_clear(&a);
}

/* Of an answer that is not secure as a whole, an alias made from a wildcard is not kept as secure: the proof
 * that nothing is closer is not kept with it. */
static void what_a_wildcard_made_is_kept_with_the_whole_answer_only(void **state)
{
	(void)state;
	static const struct {
		const char *why, *alias, *wildcard, *proof;
		bool kept;
	} rows[] = {
		{ "an alias", "a.example.", NULL, NULL, true },
		{ "one that a wildcard made", "x.w.example.", "*.w.example.",
		  "*.w.example. 300 IN NSEC www.example. CNAME RRSIG NSEC", false },
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		const struct rrset *kept;
		char text[256];

		snprintf(text, sizeof(text), "%s 300 IN CNAME b.elsewhere.\nb.elsewhere. 300 IN A 192.0.2.1", rows[i].alias);
		lab_open("val-max-restart: 0\n");
		lab_tell(&(struct lab_page){ rows[i].alias, TYPE_A, .answer = text, .wildcard = rows[i].wildcard,
					     .authority = rows[i].proof });
		assert_int_equal(lab_ask_to_the_end(rows[i].alias, TYPE_A)->security, SECURITY_INDETERMINATE);
		kept = rrsetcache_find(lab.env.rrsets, N(rows[i].alias), TYPE_CNAME, CLASS_IN, 0, lab.env.time->now_s);
		if ((kept && kept->security == SECURITY_SECURE) != rows[i].kept)
			fail_msg("%s", rows[i].why);
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
		{ "a name, by a zone below that reaches out of itself",
		  { "t.example.", TYPE_A, RCODE_NXDOMAIN,
		    .authority = SOA "b.sub.example. 300 IN NSEC z.example. A RRSIG NSEC\n"
				     "example. 300 IN NSEC b.example. SOA RRSIG NSEC DNSKEY" },
		  SECURITY_BOGUS, REASON_bogus },
		{ "a DS set, by the zone above",
		  { "cut.example.", TYPE_DS, .authority = SOA "cut.example. 300 IN NSEC z.example. NS RRSIG NSEC" },
		  SECURITY_SECURE, REASON_none },
		{ "a DS set, whatever the RCODE says of its name",
		  { "cut.example.", TYPE_DS, RCODE_NXDOMAIN,
		    .authority = SOA "cut.example. 300 IN NSEC z.example. NS RRSIG NSEC" },
		  SECURITY_SECURE, REASON_none },
		{ "a name that is asked for its DS set",
		  { "m.example.", TYPE_DS, RCODE_NXDOMAIN,
		    .authority = SOA "k.example. 300 IN NSEC z.example. A RRSIG NSEC\n"
				     "example. 300 IN NSEC b.example. SOA RRSIG NSEC DNSKEY" },
		  SECURITY_SECURE, REASON_none },
	};

	for (size_t i = 0; i < COUNT(rows); i++)
		validate_row(&rows[i]);
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
		{ "the same, but the wildcard is not denied", SHA1, SHA1 | OPTOUT, 0, SECURITY_BOGUS, REASON_bogus },
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
		validate_row(&row);
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
		lab_open("");
		lab_tell(&(struct lab_page){ name, TYPE_A, RCODE_NXDOMAIN, .authority = text });
		h = lab_ask_to_the_end(name, TYPE_A);
		if (lab.asked != 2) /* no other server's proof would cost less */
			fail_msg("%u labels, %u iterations: %u questions", rows[i].labels, rows[i].iterations, lab.asked);
		if (h->security != rows[i].want ||
		    (h->security == SECURITY_BOGUS && (h->reason != REASON_budget_validation || h->ttl_s > 2)))
			fail_msg("%u labels, %u iterations: %d %s", rows[i].labels, rows[i].iterations, h->security,
				 h->text);
		assert_int_equal(atomic_load(&lab.stats.rrset_bogus), 0);
		lab_close();
	}
}

/* ---- the RCODE ---- */

/* What is said of m.example. in AUTHORITY, and what that proves, whatever the header's RCODE is. */
enum { BY_TYPE = 1, BY_NAME = 2, OF_NOBODY = 4, SPANNED = 8, DATA = 16 };

static void add_proof(char *text, unsigned proof, bool hashed)
{
	const char *const encloser = "example. 300 IN NSEC b.example. SOA RRSIG NSEC DNSKEY\n";

	strcpy(text, SOA);
	if (!hashed) {
		if (proof & BY_TYPE)
			strcat(text, "m.example. 300 IN NSEC n.example. TXT RRSIG NSEC\n");
		if (proof & BY_NAME)
			strcat(strcat(text, encloser), "k.example. 300 IN NSEC n.example. A RRSIG NSEC\n");
		return;
	}
	if (proof & BY_TYPE)
		strcat(text, lab_nsec3("example.", "m.example.", false, SHA1, "TXT RRSIG"));
	if (proof & (BY_NAME | SPANNED)) {
		strcat(text, lab_nsec3("example.", "example.", false, SHA1, "SOA DNSKEY RRSIG"));
		strcat(text, lab_nsec3("example.", "m.example.", true, proof & SPANNED ? SHA1 | OPTOUT : SHA1, "A RRSIG"));
		strcat(text, lab_nsec3("example.", "*.example.", true, SHA1, "A RRSIG"));
	}
}

static void the_rcode_is_what_is_proven(void **state)
{
	(void)state;
	static const struct {
		const char *why, *name, *alias, *wildcard, *proof;
	} ways[] = {
		{ "the name itself", "m.example.", "", NULL, "" },
		{ "behind an alias", "a.example.", "a.example. 300 IN CNAME m.example.\n", NULL, "" },
		{ "behind two", "a.example.", "a.example. 300 IN CNAME b.example.\nb.example. 300 IN CNAME m.example.\n",
		  NULL, "" },
		{ "behind a DNAME", "m.d.example.",
		  "d.example. 300 IN DNAME example.\nm.d.example. 300 IN CNAME m.example.\n", NULL, "" },
		{ "behind a wildcard's alias", "q.w.example.", "q.w.example. 300 IN CNAME m.example.\n",
		  "*.w.example.", "*.w.example. 300 IN NSEC www.example. CNAME RRSIG NSEC\n" },
	};
	static const struct {
		unsigned proof;
		enum security want;
		uint16_t rcode;         /* 99: that of the header */
	} proofs[] = {
		{ BY_TYPE, SECURITY_SECURE, RCODE_NOERROR },
		{ BY_NAME, SECURITY_SECURE, RCODE_NXDOMAIN },
		{ SPANNED, SECURITY_INSECURE, 99 },
		{ OF_NOBODY, SECURITY_BOGUS, 99 },
		{ DATA, SECURITY_SECURE, RCODE_NOERROR },
	};
	static const uint8_t headers[] = { RCODE_NOERROR, RCODE_NXDOMAIN, RCODE_YXDOMAIN };

	for (unsigned n = 0; n < COUNT(ways) * COUNT(proofs) * COUNT(headers) * 2; n++) {
		unsigned w = n / 2 % COUNT(ways), p = n / 2 / COUNT(ways) % COUNT(proofs);
		uint8_t header = headers[n / 2 / COUNT(ways) / COUNT(proofs)];
		enum security want = proofs[p].want;
		char answer[512], text[2048];
		const struct lab_heard *h;

		if ((proofs[p].proof == SPANNED && n % 2 == 0) || (proofs[p].proof == DATA && ways[w].wildcard))
			continue;
		if (header == RCODE_YXDOMAIN && proofs[p].proof != DATA)
			want = SECURITY_BOGUS; /* nothing makes the name too long */
		add_proof(text, proofs[p].proof, n % 2);
		strcat(text, ways[w].proof);
		snprintf(answer, sizeof(answer), "%s%s", ways[w].alias,
			 proofs[p].proof == DATA ? "m.example. 300 IN A 192.0.2.1\n" : "");
		lab_open("val-max-restart: 0\naggressive-nsec: no\n");
		lab_tell(&(struct lab_page){ ways[w].name, TYPE_A, header, .answer = *answer ? answer : NULL,
					     .authority = text, .wildcard = ways[w].wildcard });
		h = lab_ask_to_the_end(ways[w].name, TYPE_A);
		if (h->security != want || (want == SECURITY_SECURE && h->rcode != proofs[p].rcode) ||
		    (want == SECURITY_INSECURE && h->rcode != header))
			fail_msg("%s, proof %u (%s), header %u: %d, RCODE %u (%s)", ways[w].why, proofs[p].proof,
				 n % 2 ? "NSEC3" : "NSEC", header, h->security, h->rcode, h->text);
		lab_close();
	}
}

/* Asked for by its type, a CNAME is the answer. Under NXDOMAIN its target may be proven not to exist, and that is
 * told; else NOERROR, whatever is wrong about the rest. */
static void an_alias_that_was_asked_for_is_there(void **state)
{
	(void)state;
	static const struct {
		const char *why;
		uint8_t header;
		unsigned proof;
		const char *more;
		enum lab_flaw flaw;
		enum security want;
		uint16_t rcode;
		bool false_soa;
	} rows[] = {
		{ "a proof, but its SOA is false", RCODE_NXDOMAIN, BY_NAME, "", LAB_SOUND, SECURITY_SECURE, RCODE_NOERROR,
		  true },
		{ "nothing else", RCODE_NOERROR, OF_NOBODY, "", LAB_SOUND, SECURITY_SECURE, RCODE_NOERROR, false },
		{ "no proof", RCODE_NXDOMAIN, OF_NOBODY, "", LAB_SOUND, SECURITY_SECURE, RCODE_NOERROR, false },
		{ "a proof of the name", RCODE_NXDOMAIN, BY_NAME, "", LAB_SOUND, SECURITY_SECURE, RCODE_NXDOMAIN, false },
		{ "a proof of the type", RCODE_NXDOMAIN, BY_TYPE, "", LAB_SOUND, SECURITY_SECURE, RCODE_NOERROR, false },
		{ "a proof of the name, which was not said", RCODE_NOERROR, BY_NAME, "", LAB_SOUND, SECURITY_SECURE,
		  RCODE_NOERROR, false },
		{ "part of a proof", RCODE_NXDOMAIN, OF_NOBODY, "k.example. 300 IN NSEC n.example. A RRSIG NSEC\n",
		  LAB_SOUND, SECURITY_SECURE, RCODE_NOERROR, false },
		{ "a proof of a zone that cannot be had", RCODE_NXDOMAIN, OF_NOBODY,
		  "k.gone.example. 300 IN NSEC n.gone.example. A RRSIG NSEC\n", LAB_SOUND, SECURITY_SECURE,
		  RCODE_NOERROR, false },
		{ "too long, it is said", RCODE_YXDOMAIN, OF_NOBODY, "", LAB_SOUND, SECURITY_SECURE, RCODE_NOERROR, false },
		{ "a false alias", RCODE_NXDOMAIN, BY_NAME, "", LAB_GARBLED, SECURITY_BOGUS, RCODE_NXDOMAIN, false },
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		char text[2048];
		const struct lab_heard *h;

		add_proof(text, rows[i].proof, false);
		strcat(text, rows[i].more);
		lab_open("val-max-restart: 0\naggressive-nsec: no\n");
		lab_tell(&(struct lab_page){ "a.example.", TYPE_CNAME, rows[i].header,
					     .answer = "a.example. 300 IN CNAME m.example.", .authority = text,
					     .flaw = rows[i].flaw });
		if (rows[i].false_soa) {
			const struct rrset *soa = lab.pages[lab.page_count - 1].m.sets[1];

			assert_int_equal(soa->type, TYPE_SOA);
			((uint8_t *)(uintptr_t)soa)[soa->size - 2] ^= 1;
		}
		h = lab_ask_to_the_end("a.example.", TYPE_CNAME);
		if (h->security != rows[i].want || (h->security == SECURITY_SECURE && h->rcode != rows[i].rcode))
			fail_msg("%s: %d, RCODE %u (%s)", rows[i].why, h->security, h->rcode, h->text);
		lab_close();
	}
}

/* That a name has no DS set, because there is no such name, or though there is, is told as it is. */
static void a_ds_set_may_be_denied_with_its_name(void **state)
{
	(void)state;
	static const struct {
		uint8_t header;
		unsigned proof;
		enum security want;
		uint16_t rcode;
	} rows[] = {
		{ RCODE_NOERROR, BY_NAME, SECURITY_SECURE, RCODE_NXDOMAIN },
		{ RCODE_NXDOMAIN, BY_NAME, SECURITY_SECURE, RCODE_NXDOMAIN },
		{ RCODE_NOERROR, BY_TYPE, SECURITY_SECURE, RCODE_NOERROR },
		{ RCODE_NXDOMAIN, BY_TYPE, SECURITY_SECURE, RCODE_NOERROR },
	};

	for (unsigned i = 0; i < 2 * COUNT(rows); i++) {
		char text[2048];
		const struct lab_heard *h;

		add_proof(text, rows[i / 2].proof, i % 2);
		lab_open("val-max-restart: 0\naggressive-nsec: no\n");
		lab_tell(&(struct lab_page){ "m.example.", TYPE_DS, rows[i / 2].header, .authority = text });
		h = lab_ask_to_the_end("m.example.", TYPE_DS);
		if (h->security != rows[i / 2].want ||
		    (h->security == SECURITY_SECURE && h->rcode != rows[i / 2].rcode))
			fail_msg("row %u: %d, RCODE %u (%s)", i, h->security, h->rcode, h->text);
		lab_close();
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_link_of_a_chain_is_validated),
		cmocka_unit_test(a_dname_speaks_for_the_alias_it_makes),
		cmocka_unit_test(what_was_synthesized_is_not_verified),
		cmocka_unit_test(what_a_wildcard_made_is_kept_with_the_whole_answer_only),
		cmocka_unit_test(nsec_denies_what_it_spans),
		cmocka_unit_test(nsec3_denies_what_it_spans),
		cmocka_unit_test(hashes_are_counted),
		cmocka_unit_test(the_rcode_is_what_is_proven),
		cmocka_unit_test(an_alias_that_was_asked_for_is_there),
		cmocka_unit_test(a_ds_set_may_be_denied_with_its_name),
	};

	return cmocka_run_group_tests_name("answer_validity", tests, NULL, NULL);
}
