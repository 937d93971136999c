/* Claims about the sets of an answer: by whose keys each is validated, and what all of them make of it.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "validator/answer_validity.h"

#include "validator/tests/lab.h"

#define SOA "example. 300 IN SOA ns.example. admin.example. 1 3600 900 86400 300\n"

/* Below u.example. nothing is signed, and that is proven; of elsewhere. nothing is known. */
static void open_lab(const char *options)
{
	lab_open(options);
	lab_zone("sub.example.");
	lab_tell(&(struct lab_page){ "u.example.", TYPE_DS, .authority = SOA "u.example. 300 IN NSEC z.example. NS RRSIG NSEC" });
}

static void an_answer_is_as_good_as_its_weakest_set(void **state)
{
	(void)state;
	static const struct {
		const char *name, *answer;
		int how[3];
		enum security want;
		unsigned secure;        /* sets that are kept as secure all the same: bits */
	} rows[] = {
		{ "a.example.", "a.example. 300 IN CNAME b.sub.example.\nb.sub.example. 300 IN A 192.0.2.1",
		  { LAB_AS_IT_IS, LAB_AS_IT_IS }, SECURITY_SECURE, 3 },
		{ "a.example.", "a.example. 300 IN CNAME b.u.example.\nb.u.example. 300 IN A 192.0.2.1",
		  { LAB_AS_IT_IS, LAB_BARE }, SECURITY_INSECURE, 1 },
		{ "b.u.example.", "b.u.example. 300 IN CNAME a.example.\na.example. 300 IN A 192.0.2.1",
		  { LAB_BARE, LAB_AS_IT_IS }, SECURITY_INSECURE, 2 },
		{ "a.example.", "a.example. 300 IN CNAME b.u.example.\nb.u.example. 300 IN CNAME c.elsewhere.\n"
				"c.elsewhere. 300 IN A 192.0.2.1",
		  { LAB_AS_IT_IS, LAB_BARE, LAB_BARE }, SECURITY_INDETERMINATE, 1 },
		{ "c.elsewhere.", "c.elsewhere. 300 IN CNAME b.u.example.\nb.u.example. 300 IN CNAME a.example.\n"
				  "a.example. 300 IN A 192.0.2.1",
		  { LAB_BARE, LAB_BARE, LAB_AS_IT_IS }, SECURITY_INDETERMINATE, 4 },
		{ "c.elsewhere.", "c.elsewhere. 300 IN CNAME a.example.\na.example. 300 IN A 192.0.2.1",
		  { LAB_BARE, LAB_FALSE }, SECURITY_BOGUS, 0 },
		{ "a.example.", "a.example. 300 IN CNAME c.elsewhere.\nc.elsewhere. 300 IN A 192.0.2.1",
		  { LAB_FALSE, LAB_BARE }, SECURITY_BOGUS, 0 },
		{ "a.example.", "a.example. 300 IN CNAME b.u.example.\nb.u.example. 300 IN A 192.0.2.1",
		  { LAB_BARE, LAB_BARE }, SECURITY_BOGUS, 0 },
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		const struct lab_heard *h;
		const struct message *m;

		open_lab("val-max-restart: 0\n");
		lab_tell(&(struct lab_page){ rows[i].name, TYPE_A, .answer = rows[i].answer });
		lab_sign_page(rows[i].how, 3);
		m = &lab.pages[lab.page_count - 1].m;
		h = lab_ask_to_the_end(rows[i].name, TYPE_A);
		if (h->security != rows[i].want || h->answers != m->count[SECTION_ANSWER])
			fail_msg("row %zu: %d (%s), %u sets", i, h->security, h->text, h->answers);
		for (unsigned k = 0; k < m->count[SECTION_ANSWER]; k++) {
			const struct rrset *kept = rrsetcache_find(lab.env.rrsets, rrset_owner(m->sets[k]), m->sets[k]->type,
								   CLASS_IN, 0, lab.env.time->now_s);
			bool is = kept && kept->security == SECURITY_SECURE;

			/* what was asked for is kept with the answer */
			if (is != (rows[i].secure >> k & 1) && !dname_equals(rrset_owner(m->sets[k]), N(rows[i].name)) &&
			    m->sets[k]->type == TYPE_CNAME)
				fail_msg("row %zu: set %u", i, k);
		}
		lab_close();
	}
}

/* The zone above a signed one has no say below the cut, whether the cut is known or only heard of; at the cut it
 * has DS and NSEC. */
static void the_zone_above_has_no_say_below_a_cut(void **state)
{
	(void)state;
	enum { KNOWN, HEARD_OF, UNHEARD };
	static const struct {
		const char *why, *name;
		uint16_t type;
		const char *answer;
		unsigned zone;
		enum security want[3];
	} rows[] = {
		{ "a name below", "b.sub.example.", TYPE_A, "b.sub.example. 300 IN A 192.0.2.1", 0,
		  { SECURITY_BOGUS, SECURITY_BOGUS, SECURITY_SECURE } },
		{ "by the zone below", "b.sub.example.", TYPE_A, "b.sub.example. 300 IN A 192.0.2.1", 1,
		  { SECURITY_SECURE, SECURITY_SECURE, SECURITY_SECURE } },
		{ "the cut's own", "sub.example.", TYPE_MX, "sub.example. 300 IN MX 1 mx.example.", 0,
		  { SECURITY_BOGUS, SECURITY_BOGUS, SECURITY_SECURE } },
		{ "the cut's NSEC", "sub.example.", TYPE_NSEC, "sub.example. 300 IN NSEC z.example. NS DS RRSIG NSEC", 0,
		  { SECURITY_SECURE, SECURITY_SECURE, SECURITY_SECURE } },
		{ "an NSEC below", "b.sub.example.", TYPE_NSEC, "b.sub.example. 300 IN NSEC z.example. A RRSIG NSEC", 0,
		  { SECURITY_BOGUS, SECURITY_BOGUS, SECURITY_SECURE } },
	};

	for (size_t n = 0; n < 3 * COUNT(rows); n++) {
		size_t i = n / 3;
		size_t way = n % 3;
		const struct lab_heard *h;

		open_lab("val-max-restart: 0\n");
		if (way == KNOWN) {
			lab_tell(&(struct lab_page){ "www.sub.example.", TYPE_A, .answer = "www.sub.example. 300 IN A 192.0.2.1" });
			lab_ask_to_the_end("www.sub.example.", TYPE_A);
		}
		if (way == HEARD_OF)
			(void)rrsetcache_put(lab.env.rrsets, lab_set("sub.example.", TYPE_DS), lab.env.time->now_s, &lab.arena);
		lab_tell(&(struct lab_page){ rows[i].name, rows[i].type, .answer = rows[i].answer });
		lab_sign_page((const int[]){ (int)rows[i].zone }, 1);
		h = lab_ask_to_the_end(rows[i].name, rows[i].type);
		if (h->security != rows[i].want[way])
			fail_msg("%s, way %zu: %d (%s)", rows[i].why, way, h->security, h->text);
		lab_close();
	}
}

/* An alias at a zone cut in place of its DS set would be of the zone above, however insecure the one below is; that
 * it leads there is another matter. */
static void an_alias_in_place_of_a_ds_set_is_of_the_zone_above(void **state)
{
	(void)state;
	static const struct {
		const char *name;
		uint16_t type;
		int how;
		enum security want;
	} rows[] = {
		{ "u.example.", TYPE_DS, LAB_BARE, SECURITY_BOGUS },
		{ "u.example.", TYPE_DS, 0, SECURITY_INSECURE },
		{ "u.example.", TYPE_DS, 2, SECURITY_BOGUS }, /* signed by the zone below */
		{ "u.example.", TYPE_MX, 2, SECURITY_INSECURE },
		{ "u.example.", TYPE_MX, LAB_BARE, SECURITY_INSECURE },
		{ "b.u.example.", TYPE_DS, LAB_BARE, SECURITY_INSECURE },
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		char alias[64];

		open_lab("val-max-restart: 0\n");
		lab_zone("u.example.");
		lab.pages[lab.page_count - 1].m.q.type = 0; /* its DS set */
		lab_tell(&(struct lab_page){ "www.u.example.", TYPE_A, .answer = "www.u.example. 300 IN A 192.0.2.1" });
		lab_sign_page((const int[]){ LAB_BARE }, 1);
		assert_int_equal(lab_ask_to_the_end("www.u.example.", TYPE_A)->security, SECURITY_INSECURE);
		for (unsigned k = 0; k < lab.page_count; k++)
			if (lab.pages[k].m.q.type == TYPE_DS && dname_equals(lab.pages[k].m.q.name, N("u.example.")))
				lab.pages[k].m.q.type = 0; /* nobody tells it any more */
		snprintf(alias, sizeof(alias), "%s 300 IN CNAME b.u.example.", rows[i].name);
		lab_tell(&(struct lab_page){ rows[i].name, rows[i].type, .answer = alias });
		lab_sign_page(&rows[i].how, 1);
		if (lab_ask_to_the_end(rows[i].name, rows[i].type)->security != rows[i].want)
			fail_msg("row %zu: %s", i, lab.heard[1].text);
		lab_close();
	}
}

/* What signs nothing here is as no signature: above the anchor, beside the name, or below it. */
static void an_rrsig_by_another_zone_counts_as_missing(void **state)
{
	(void)state;
	static const struct {
		const char *why, *name;
		uint16_t type;
		const char *answer;
		int zone;               /* 0 example., 1 sub.example., 2 test., 3 the root */
		enum security want;
		enum reason reason;
	} rows[] = {
		{ "its own zone", "www.example.", TYPE_A, "www.example. 300 IN A 192.0.2.1", 0, SECURITY_SECURE, REASON_none },
		{ "a zone below", "www.example.", TYPE_A, "www.example. 300 IN A 192.0.2.1", 1, SECURITY_BOGUS, REASON_rrsigs_missing },
		{ "a zone beside", "www.example.", TYPE_A, "www.example. 300 IN A 192.0.2.1", 2, SECURITY_BOGUS, REASON_rrsigs_missing },
		{ "a zone above the anchor", "www.example.", TYPE_A, "www.example. 300 IN A 192.0.2.1", 3, SECURITY_BOGUS,
		  REASON_rrsigs_missing },
		{ "the anchor's own NSEC, by the zone above it", "example.", TYPE_NSEC, "example. 300 IN NSEC a.example. NS RRSIG NSEC", 3,
		  SECURITY_BOGUS, REASON_rrsigs_missing },
		{ "under no anchor", "www.elsewhere.", TYPE_A, "www.elsewhere. 300 IN A 192.0.2.1", 0, SECURITY_INDETERMINATE, REASON_none },
		{ "an insecure name by the zone above", "www.u.example.", TYPE_A, "www.u.example. 300 IN A 192.0.2.1", LAB_BARE,
		  SECURITY_INSECURE, REASON_none },
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		const struct lab_heard *h;

		open_lab("val-max-restart: 0\n");
		lab_zone("test.");
		lab_zone(".");
		lab_tell(&(struct lab_page){ rows[i].name, rows[i].type, .answer = rows[i].answer });
		lab_sign_page(&rows[i].zone, 1);
		h = lab_ask_to_the_end(rows[i].name, rows[i].type);
		if (h->security != rows[i].want || h->reason != rows[i].reason)
			fail_msg("%s: %d %s (%s)", rows[i].why, h->security, reason_text(h->reason), h->text);
		lab_close();
	}
}

/* An alias that a DNAME makes needs no signature, and none of another kind counts; one that it does not make
 * contradicts it. */
static void an_alias_below_a_dname_is_the_one_it_makes(void **state)
{
	(void)state;
	static const struct {
		const char *why, *name, *answer;
		int how[3];
		enum security want;
		enum reason reason;
		const char *says;
	} rows[] = {
		{ "the one it makes", "x.d.example.",
		  "d.example. 300 IN DNAME e.example.\nx.d.example. 300 IN CNAME x.e.example.", { LAB_AS_IT_IS, LAB_BARE },
		  SECURITY_SECURE, REASON_none, "" },
		{ "with a false signature beside it", "x.d.example.",
		  "d.example. 300 IN DNAME e.example.\nx.d.example. 300 IN CNAME x.e.example.", { LAB_AS_IT_IS, LAB_FALSE },
		  SECURITY_SECURE, REASON_none, "" },
		{ "deeper", "x.y.d.example.",
		  "d.example. 300 IN DNAME e.example.\nx.y.d.example. 300 IN CNAME x.y.e.example.", { LAB_AS_IT_IS, LAB_BARE },
		  SECURITY_SECURE, REASON_none, "" },
		{ "at the DNAME itself", "d.example.",
		  "d.example. 300 IN DNAME e.example.\nd.example. 300 IN CNAME e.example.", { LAB_AS_IT_IS, LAB_BARE },
		  SECURITY_BOGUS, REASON_rrsigs_missing, "d.example. CNAME has no RRSIG" },
		{ "another one", "x.d.example.",
		  "d.example. 300 IN DNAME e.example.\nx.d.example. 300 IN CNAME y.e.example.", { LAB_AS_IT_IS, LAB_BARE },
		  SECURITY_BOGUS, REASON_bogus, "a CNAME contradicts the DNAME above it" },
		{ "another one, that is signed", "x.d.example.",
		  "d.example. 300 IN DNAME e.example.\nx.d.example. 300 IN CNAME y.e.example.", { LAB_AS_IT_IS, LAB_AS_IT_IS },
		  SECURITY_SECURE, REASON_none, "" },
		{ "another one, of a false DNAME", "x.d.example.",
		  "x.d.example. 300 IN CNAME y.e.example.\nd.example. 300 IN DNAME e.example.", { LAB_BARE, LAB_FALSE },
		  SECURITY_BOGUS, REASON_rrsigs_missing, "x.d.example. CNAME has no RRSIG" },
		{ "of a DNAME that is not signed", "x.d.example.",
		  "x.d.example. 300 IN CNAME y.e.example.\nd.example. 300 IN DNAME e.example.", { LAB_BARE, LAB_BARE },
		  SECURITY_BOGUS, REASON_rrsigs_missing, "x.d.example. CNAME has no RRSIG" },
		{ "of an alias above it, that is signed", "x.d.example.",
		  "x.d.example. 300 IN CNAME x.e.example.\nd.example. 300 IN CNAME e.example.", { LAB_BARE, LAB_AS_IT_IS },
		  SECURITY_BOGUS, REASON_rrsigs_missing, "x.d.example. CNAME has no RRSIG" },
		{ "of a DNAME with two targets", "x.d.example.",
		  "x.d.example. 300 IN CNAME x.e.example.\nd.example. 300 IN DNAME e.example.\nd.example. 300 IN DNAME f.example.",
		  { LAB_BARE, LAB_AS_IT_IS }, SECURITY_BOGUS, REASON_bogus, "a CNAME contradicts" },
		{ "two of them", "x.d.example.",
		  "x.d.example. 300 IN CNAME x.e.example.\nx.d.example. 300 IN CNAME x.f.example.\nd.example. 300 IN DNAME e.example.",
		  { LAB_BARE, LAB_AS_IT_IS }, SECURITY_BOGUS, REASON_bogus, "a CNAME contradicts" },
		{ "of a DNAME beside", "x.c.example.",
		  "x.c.example. 300 IN CNAME x.e.example.\nd.example. 300 IN DNAME e.example.", { LAB_BARE, LAB_AS_IT_IS },
		  SECURITY_BOGUS, REASON_rrsigs_missing, "x.c.example. CNAME has no RRSIG" },
		{ "another type below it", "x.d.example.",
		  "x.d.example. 300 IN TXT \"x\"\nx.d.example. 300 IN CNAME x.e.example.\nd.example. 300 IN DNAME e.example.",
		  { LAB_BARE, LAB_BARE, LAB_AS_IT_IS }, SECURITY_BOGUS, REASON_rrsigs_missing, "x.d.example. TXT has no RRSIG" },
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		const struct lab_heard *h;

		open_lab("val-max-restart: 0\n");
		lab_tell(&(struct lab_page){ rows[i].name, TYPE_CNAME, .answer = rows[i].answer });
		lab_sign_page(rows[i].how, 3);
		h = lab_ask_to_the_end(rows[i].name, TYPE_CNAME);
		if (h->security != rows[i].want || h->reason != rows[i].reason ||
		    strncmp(h->text, rows[i].says, strlen(rows[i].says)) != 0)
			fail_msg("%s: %d %s (%s)", rows[i].why, h->security, reason_text(h->reason), h->text);
		lab_close();
	}
}

/* YXDOMAIN is not signed: of a name below an anchor, or the anchor's own, a DNAME has to show it, wherever the alias
 * that leads there is from. */
static void an_alias_from_elsewhere_makes_no_signed_name_too_long(void **state)
{
	(void)state;
	static const struct {
		const char *target;
		enum security want;
	} rows[] = {
		{ "www.example.", SECURITY_BOGUS },
		{ "example.", SECURITY_BOGUS },
		{ "www.elsewhere.", SECURITY_INDETERMINATE },
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		const struct lab_heard *h;
		char alias[64];

		open_lab("val-max-restart: 0\n");
		snprintf(alias, sizeof(alias), "c.elsewhere. 300 IN CNAME %s", rows[i].target);
		lab_tell(&(struct lab_page){ "c.elsewhere.", TYPE_A, RCODE_YXDOMAIN, .answer = alias });
		lab_sign_page((const int[]){ LAB_BARE }, 1);
		h = lab_ask_to_the_end("c.elsewhere.", TYPE_A);
		if (h->security != rows[i].want)
			fail_msg("%s: %d (%s)", rows[i].target, h->security, h->text);
		lab_close();
	}
}

/* Beside the answer: what is secure by keys that are known is given, without a question for what is not. */
static void what_stands_beside_is_given_if_it_is_secure(void **state)
{
	(void)state;
	static const struct {
		const char *why, *options, *authority, *additional;
		int how[3];             /* of the answer, and those two */
		unsigned proofs, extras;
	} rows[] = {
		{ "both", "minimal-responses: no\n", "example. 300 IN NS ns.example.", "ns.example. 300 IN A 192.0.2.2", { 0, 0, 0 }, 1, 1 },
		{ "nobody wants it", "", "example. 300 IN NS ns.example.", "ns.example. 300 IN A 192.0.2.2", { 0, 0, 0 }, 0, 0 },
		{ "not signed", "minimal-responses: no\n", "example. 300 IN NS ns.example.", "ns.example. 300 IN A 192.0.2.2",
		  { 0, LAB_BARE, LAB_BARE }, 0, 0 },
		{ "falsely", "minimal-responses: no\n", "example. 300 IN NS ns.example.", "ns.example. 300 IN A 192.0.2.2",
		  { 0, LAB_FALSE, LAB_FALSE }, 0, 0 },
		{ "as they came", "minimal-responses: no\nval-clean-additional: no\n", "example. 300 IN NS ns.example.",
		  "ns.example. 300 IN A 192.0.2.2", { 0, LAB_FALSE, LAB_FALSE }, 0, 1 },
		{ "by keys that are not known", "minimal-responses: no\n", "sub.example. 300 IN NS ns.sub.example.",
		  "ns.sub.example. 300 IN A 192.0.2.2", { 0, 1, 1 }, 0, 0 },
		{ "by a zone that has no say", "minimal-responses: no\n", "test. 300 IN NS ns.example.",
		  "ns.test. 300 IN A 192.0.2.2", { 0, 0, 0 }, 0, 0 },
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		char *options = mem_textf("val-max-restart: 0\n%s", rows[i].options);
		const struct lab_heard *h;

		open_lab(options);
		lab_tell(&(struct lab_page){ "www.example.", TYPE_A, .answer = "www.example. 300 IN A 192.0.2.1",
					     .authority = rows[i].authority, .additional = rows[i].additional });
		lab_sign_page(rows[i].how, 3);
		h = lab_ask_to_the_end("www.example.", TYPE_A);
		if (h->security != SECURITY_SECURE || h->answers != 1 || h->proofs != rows[i].proofs || h->extras != rows[i].extras)
			fail_msg("%s: %d, %u and %u sets beside", rows[i].why, h->security, h->proofs, h->extras);
		assert_int_equal(lab.asked, 2); /* it, and the keys */
		lab_close();
		mem_free(options);
	}
}

/* What minimal responses leave in is validated, too: beside what a wildcard made, and beside servers. */
static void what_is_not_left_out_is_validated(void **state)
{
	(void)state;
	static const struct {
		const char *name;
		uint16_t type;
		const char *answer, *authority, *additional, *wildcard;
		unsigned proofs, extras;
	} rows[] = {
		{ "x.w.example.", TYPE_A, "x.w.example. 300 IN A 192.0.2.9",
		  "*.w.example. 300 IN NSEC www.example. A RRSIG NSEC\nexample. 300 IN NS ns.example.", NULL, "*.w.example.", 2, 0 },
		{ "example.", TYPE_NS, "example. 300 IN NS ns.example.", NULL, "ns.example. 300 IN A 192.0.2.2", NULL, 0, 1 },
		{ "example.", TYPE_MX, "example. 300 IN MX 1 ns.example.", NULL, "ns.example. 300 IN A 192.0.2.2", NULL, 0, 0 },
		{ "example.", TYPE_ANY, "example. 300 IN NS ns.example.", NULL, "ns.example. 300 IN A 192.0.2.2", NULL, 0, 1 },
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		const struct lab_heard *h;

		open_lab("val-max-restart: 0\naggressive-nsec: no\n");
		lab_tell(&(struct lab_page){ rows[i].name, rows[i].type, .answer = rows[i].answer, .authority = rows[i].authority,
					     .additional = rows[i].additional, .wildcard = rows[i].wildcard });
		if (rows[i].additional)
			lab_sign_page((const int[]){ LAB_AS_IT_IS, 0 }, 2);
		h = lab_ask_to_the_end(rows[i].name, rows[i].type);
		if (h->security != SECURITY_SECURE || h->proofs != rows[i].proofs || h->extras != rows[i].extras)
			fail_msg("row %zu: %d (%s), %u and %u sets beside", i, h->security, h->text, h->proofs, h->extras);
		lab_close();
	}
}

/* A wildcard may have made what stands beside the answer, but no denial. */
static void a_wildcard_may_make_what_stands_beside(void **state)
{
	(void)state;
	static const struct {
		const char *beside;
		enum security want;
	} rows[] = {
		{ "x.w.example. 300 IN SOA ns.example. admin.example. 1 3600 900 86400 300", SECURITY_SECURE },
		{ "x.w.example. 300 IN NSEC y.w.example. A RRSIG NSEC", SECURITY_BOGUS },
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		const struct lab_heard *h;
		char authority[200];
		struct message *m;

		open_lab("val-max-restart: 0\naggressive-nsec: no\n");
		snprintf(authority, sizeof(authority), "*.w.example. 300 IN NSEC www.example. A RRSIG NSEC\n%s", rows[i].beside);
		lab_tell(&(struct lab_page){ "x.w.example.", TYPE_A, .answer = "x.w.example. 300 IN A 192.0.2.9",
					     .authority = authority, .wildcard = "*.w.example." });
		m = &lab.pages[lab.page_count - 1].m;
		m->sets[2] = lab_sign_by(&lab.zones[0], lab_with_sigs(m->sets[2], NULL, 0), "*.w.example.", LAB_SOUND);
		h = lab_ask_to_the_end("x.w.example.", TYPE_A);
		if (h->security != rows[i].want)
			fail_msg("row %zu: %d (%s)", i, h->security, h->text);
		lab_close();
	}
}

/* Wherever among its checks a turn ends: what a wildcard made is validated before the answer is given. */
static void a_turn_that_ends_leaves_no_wildcard_unvalidated(void **state)
{
	(void)state;
	for (unsigned n = 0; n < 2 * CHECKED_CHECKS; n++) {
		for (unsigned proven = 0; proven < 2; proven++) {
			char answer[1000], *at = answer;
			const struct lab_heard *h;
			struct message *m;

			open_lab("val-max-restart: 0\naggressive-nsec: no\n");
			for (unsigned i = 0; i < n; i++)
				at += sprintf(at, "a%u.example. 300 IN CNAME a%u.example.\n", i, i + 1);
			at += sprintf(at, "a%u.example. 300 IN CNAME x.w.example.\n", n);
			sprintf(at, "x.w.example. 300 IN A 192.0.2.9");
			lab_tell(&(struct lab_page){ "a0.example.", TYPE_A, .answer = answer,
						     .authority = proven ? "*.w.example. 300 IN NSEC www.example. A RRSIG NSEC" : NULL });
			m = &lab.pages[lab.page_count - 1].m;
			m->sets[n + 1] = lab_sign_by(&lab.zones[0], lab_with_sigs(m->sets[n + 1], NULL, 0), "*.w.example.", LAB_SOUND);
			h = lab_ask_to_the_end("a0.example.", TYPE_A);
			if (h->security != (proven ? SECURITY_SECURE : SECURITY_BOGUS))
				fail_msg("%u aliases, %u proofs: %d (%s)", n, proven, h->security, h->text);
			lab_close();
		}
	}
}

/* For what is false already no question is asked. */
static void what_is_false_is_validated_no_further(void **state)
{
	(void)state;
	struct lab_heard *h;

	open_lab("val-max-restart: 0\n");
	lab_tell(&(struct lab_page){ "a.example.", TYPE_A, .answer = "a.example. 300 IN CNAME b.example.",
				     .authority = "sub.example. 300 IN SOA a. b. 1 2 3 4 5" });
	lab_sign_page((const int[]){ LAB_FALSE, 1 }, 2);
	h = lab_ask_to_the_end("a.example.", TYPE_A);
	assert_int_equal(h->security, SECURITY_BOGUS);
	assert_int_equal(h->reason, REASON_sig_wrong);
	assert_int_equal(lab.asked, 2); /* it, and the keys */
	lab_close();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_answer_is_as_good_as_its_weakest_set),
		cmocka_unit_test(the_zone_above_has_no_say_below_a_cut),
		cmocka_unit_test(an_alias_in_place_of_a_ds_set_is_of_the_zone_above),
		cmocka_unit_test(an_rrsig_by_another_zone_counts_as_missing),
		cmocka_unit_test(an_alias_below_a_dname_is_the_one_it_makes),
		cmocka_unit_test(an_alias_from_elsewhere_makes_no_signed_name_too_long),
		cmocka_unit_test(what_stands_beside_is_given_if_it_is_secure),
		cmocka_unit_test(what_is_not_left_out_is_validated),
		cmocka_unit_test(a_wildcard_may_make_what_stands_beside),
		cmocka_unit_test(a_turn_that_ends_leaves_no_wildcard_unvalidated),
		cmocka_unit_test(what_is_false_is_validated_no_further),
	};

	return cmocka_run_group_tests_name("answer_sets", tests, NULL, NULL);
}
