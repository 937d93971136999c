/* Claims about denials: who may deny what, what is missing where one does not hold, and what it costs to see that.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "validator/answer_validity.h"

#include "util/base/fault.h"
#include "validator/tests/lab.h"

#define SOA "example. 300 IN SOA ns.example. admin.example. 1 3600 900 86400 300\n"
#define ENCLOSER "example. 300 IN NSEC b.example. SOA RRSIG NSEC DNSKEY\n"

struct row {
	const char *why, *name;
	uint16_t type;
	uint8_t rcode;
	const char *answer, *authority;
	int how[4];             /* each set is signed */
	enum security want;
	enum reason reason;
	const char *says;
};

static void validate_row(const struct row *row, const char *options)
{
	const struct lab_heard *h;

	lab_open(options);
	lab_zone("sub.example.");
	lab_zone(".");
	lab_tell(&(struct lab_page){ "u.example.", TYPE_DS, .authority = SOA "u.example. 300 IN NSEC z.example. NS RRSIG NSEC" });
	lab_tell(&(struct lab_page){ row->name, row->type, row->rcode, .answer = row->answer, .authority = row->authority });
	lab_sign_page(row->how, COUNT(row->how));
	h = lab_ask_to_the_end(row->name, row->type);
	if (h->security != row->want || h->reason != row->reason || strncmp(h->text, row->says, strlen(row->says)) != 0)
		fail_msg("%s: %d %s (%s)", row->why, h->security, reason_text(h->reason), h->text);
	lab_close();
}

static void missing_parts_of_a_negative_proof_are_named(void **state)
{
	(void)state;
	enum { Z = LAB_AS_IT_IS, BARE = LAB_BARE, FALSE = LAB_FALSE };
	static const char spans[] = SOA "k.example. 300 IN NSEC z.example. A RRSIG NSEC\n" ENCLOSER;
	static const struct row rows[] = {
		{ "nothing", "m.example.", TYPE_A, RCODE_NXDOMAIN, NULL, spans, { Z, Z, Z }, SECURITY_SECURE, REASON_none, "" },
		{ "any signature", "m.example.", TYPE_A, RCODE_NXDOMAIN, NULL, spans, { BARE, BARE, BARE }, SECURITY_BOGUS,
		  REASON_rrsigs_missing, "example. SOA has no RRSIG" },
		{ "the signature of the SOA", "m.example.", TYPE_A, RCODE_NXDOMAIN, NULL, spans, { BARE, Z, Z }, SECURITY_BOGUS,
		  REASON_rrsigs_missing, "example. SOA has no RRSIG" },
		{ "the proof's signatures", "m.example.", TYPE_A, RCODE_NXDOMAIN, NULL, spans, { Z, BARE, BARE }, SECURITY_BOGUS,
		  REASON_rrsigs_missing, "the NSEC or NSEC3 records have no RRSIG" },
		{ "one of them", "m.example.", TYPE_A, RCODE_NXDOMAIN, NULL, spans, { Z, Z, BARE }, SECURITY_BOGUS,
		  REASON_bogus, "NSEC or NSEC3 records do not prove that the name does not exist" },
		{ "a true one", "m.example.", TYPE_A, RCODE_NXDOMAIN, NULL, spans, { Z, FALSE, Z }, SECURITY_BOGUS,
		  REASON_sig_wrong, "k.example. NSEC: " },
		{ "a true SOA", "m.example.", TYPE_A, RCODE_NXDOMAIN, NULL, spans, { FALSE, Z, Z }, SECURITY_BOGUS,
		  REASON_sig_wrong, "example. SOA: " },
		{ "the proof", "m.example.", TYPE_A, RCODE_NXDOMAIN, NULL, SOA, { Z }, SECURITY_BOGUS, REASON_nsec_missing,
		  "no NSEC or NSEC3 proves that it does not exist" },
		{ "its own denial, beside a DNAME that leads to what is denied", "d.example.", TYPE_CNAME, RCODE_NXDOMAIN,
		  "d.example. 300 IN DNAME m.example.", spans, { Z, Z, Z, Z }, SECURITY_BOGUS, REASON_bogus,
		  "NSEC or NSEC3 records do not prove that the name does not exist" },
		{ "all", "m.example.", TYPE_A, RCODE_NXDOMAIN, NULL, NULL, { Z }, SECURITY_BOGUS, REASON_bogus,
		  "no NSEC or NSEC3 proves that it does not exist" },
		{ "a proof without SOA and signature", "m.example.", TYPE_A, RCODE_NXDOMAIN, NULL,
		  "k.example. 300 IN NSEC z.example. A RRSIG NSEC\n" ENCLOSER, { BARE, BARE }, SECURITY_BOGUS,
		  REASON_rrsigs_missing, "negative answer without any RRSIG from a signed zone" },
		{ "nothing, but what stands beside is nobody's", "m.example.", TYPE_A, RCODE_NXDOMAIN, NULL,
		  "elsewhere. 300 IN SOA a. b. 1 2 3 4 5\nk.example. 300 IN NSEC z.example. A RRSIG NSEC\n" SOA ENCLOSER,
		  { BARE, Z, Z, Z }, SECURITY_SECURE, REASON_none, "" },
		{ "for a wildcard, its proof", "m.example.", TYPE_A, RCODE_NOERROR, NULL,
		  SOA "m.example. 300 IN NSEC z.example. A RRSIG NSEC", { Z, Z }, SECURITY_BOGUS, REASON_bogus,
		  "NSEC or NSEC3 records do not prove that the type does not exist" },
	};

	for (size_t i = 0; i < COUNT(rows); i++)
		validate_row(&rows[i], "val-max-restart: 0\naggressive-nsec: no\n");
}

/* A DS set is denied by the zone above, which may say as well that it does not know, or only at a high price. */
static void a_ds_set_is_denied_by_the_zone_above(void **state)
{
	(void)state;
	enum { SHA1 = 1 << 24, OPTOUT = 1 << 16 };
	static const struct {
		const char *why;
		unsigned encloser, next;        /* parameters */
		int hashes;
		enum security want;
		enum reason reason;
	} rows[] = {
		{ "in a span that is opted out", SHA1 | OPTOUT, SHA1 | OPTOUT, -1, SECURITY_INSECURE, REASON_none },
		{ "with more iterations than are believed", SHA1 | 151, SHA1 | 151, -1, SECURITY_INSECURE, REASON_nsec3_iterations },
		{ "in a span that is not", SHA1, SHA1, -1, SECURITY_BOGUS, REASON_bogus },
		{ "hashes that nobody pays for", SHA1 | OPTOUT, SHA1 | OPTOUT, 0, SECURITY_BOGUS, REASON_budget_validation },
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		const struct lab_purse purse = { TYPE_DS, -1, -1, rows[i].hashes, false, false };
		char text[2048] = SOA;
		const struct lab_heard *h;

		strcat(text, lab_nsec3("example.", "example.", false, rows[i].encloser, "SOA DNSKEY RRSIG"));
		strcat(text, lab_nsec3("example.", "cut.example.", true, rows[i].next, "NS"));
		lab_open("val-max-restart: 0\naggressive-nsec: no\n");
		lab_tell(&(struct lab_page){ "cut.example.", TYPE_DS, .authority = text });
		lab.purse = &purse;
		h = lab_ask_to_the_end("cut.example.", TYPE_DS);
		if (h->security != rows[i].want || h->reason != rows[i].reason)
			fail_msg("%s: %d %s (%s)", rows[i].why, h->security, reason_text(h->reason), h->text);
		lab_close();
	}
}

/* Zone 2 of the lab is the root, of which nothing is known: it may deny example. itself, for all one knows. */
static void a_zone_above_all_anchors_proves_nothing_and_lies_about_nothing(void **state)
{
	(void)state;
	enum { Z = LAB_AS_IT_IS };
	static const struct row rows[] = {
		{ "a denial of the name", "m.example.", TYPE_A, RCODE_NXDOMAIN, NULL, "eve. 300 IN NSEC fox. NS RRSIG NSEC", { 2 },
		  SECURITY_INDETERMINATE, REASON_none, "" },
		{ "of the type", "m.example.", TYPE_A, RCODE_NOERROR, NULL, "eve. 300 IN NSEC fox. NS RRSIG NSEC", { 2 },
		  SECURITY_BOGUS, REASON_bogus, "" },
		{ "not signed", "m.example.", TYPE_A, RCODE_NXDOMAIN, NULL, "eve. 300 IN NSEC fox. NS RRSIG NSEC", { LAB_BARE },
		  SECURITY_BOGUS, REASON_rrsigs_missing, "" },
		{ "beside one of the zone's own, which does not hold", "m.example.", TYPE_A, RCODE_NXDOMAIN, NULL,
		  "eve. 300 IN NSEC fox. NS RRSIG NSEC\nk.example. 300 IN NSEC z.example. A RRSIG NSEC", { 2, Z },
		  SECURITY_BOGUS, REASON_bogus, "" },
		{ "beside a SOA", "m.example.", TYPE_A, RCODE_NXDOMAIN, NULL,
		  ". 300 IN SOA a. b. 1 2 3 4 5\neve. 300 IN NSEC fox. NS RRSIG NSEC", { 2, 2 },
		  SECURITY_INDETERMINATE, REASON_none, "" },
		{ "a SOA alone", "m.example.", TYPE_A, RCODE_NXDOMAIN, NULL, ". 300 IN SOA a. b. 1 2 3 4 5", { 2 },
		  SECURITY_BOGUS, REASON_nsec_missing, "" },
	};

	for (size_t i = 0; i < COUNT(rows); i++)
		validate_row(&rows[i], "val-max-restart: 0\naggressive-nsec: no\n");
}

/* sub.example. has an anchor of its own: of what is below it, example. can say no more than that there is no such zone. */
static void a_zone_above_an_anchor_may_deny_the_anchor_alone(void **state)
{
	(void)state;
	static const struct {
		const char *why, *name;
		uint16_t type;
		uint8_t rcode;
		const char *authority;
		enum security want;
		const char *conf;
	} rows[] = {
		{ "the anchor's name, and with it those below", "x.sub.example.", TYPE_A, RCODE_NXDOMAIN,
		  SOA "k.example. 300 IN NSEC z.example. A RRSIG NSEC\n" ENCLOSER, SECURITY_SECURE, NULL },
		{ "the anchor's name, where it has servers of its own", "x.sub.example.", TYPE_A, RCODE_NXDOMAIN,
		  SOA "k.example. 300 IN NSEC z.example. A RRSIG NSEC\n" ENCLOSER, SECURITY_BOGUS,
		  "stub-zone:\nname: sub.example\nstub-addr: 192.0.2.9\n" },
		{ "the anchor's name, forwarded elsewhere", "x.sub.example.", TYPE_A, RCODE_NXDOMAIN,
		  SOA "k.example. 300 IN NSEC z.example. A RRSIG NSEC\n" ENCLOSER, SECURITY_BOGUS,
		  "forward-zone:\nname: sub.example\nforward-addr: 192.0.2.9\n" },
		{ "the anchor's name, forwarded as all is", "x.sub.example.", TYPE_A, RCODE_NXDOMAIN,
		  SOA "k.example. 300 IN NSEC z.example. A RRSIG NSEC\n" ENCLOSER, SECURITY_SECURE,
		  "forward-zone:\nname: example\nforward-addr: 192.0.2.9\n" },
		{ "the name, but not the anchor's", "x.sub.example.", TYPE_A, RCODE_NXDOMAIN,
		  SOA "sub.example. 300 IN NSEC z.example. A RRSIG NSEC\n" ENCLOSER, SECURITY_BOGUS, NULL },
		{ "a type", "sub.example.", TYPE_MX, RCODE_NOERROR,
		  SOA "sub.example. 300 IN NSEC z.example. A RRSIG NSEC\n" ENCLOSER, SECURITY_BOGUS, NULL },
		{ "a name beside", "k.example.", TYPE_A, RCODE_NXDOMAIN,
		  SOA "j.example. 300 IN NSEC z.example. A RRSIG NSEC\n" ENCLOSER, SECURITY_SECURE, NULL },
		{ "the anchor's DS set", "sub.example.", TYPE_DS, RCODE_NOERROR,
		  SOA "sub.example. 300 IN NSEC z.example. NS RRSIG NSEC\n", SECURITY_SECURE, NULL },
		{ "the anchor's DS set, beside a record of the zone below, which has no say", "sub.example.", TYPE_DS, RCODE_NOERROR,
		  SOA "sub.example. 300 IN NSEC z.example. NS RRSIG NSEC\nk.sub.example. 300 IN NSEC m.sub.example. A RRSIG NSEC\n",
		  SECURITY_SECURE, NULL },
		{ "the anchor's name, held here and asked by clients alone", "x.sub.example.", TYPE_A, RCODE_NXDOMAIN,
		  SOA "k.example. 300 IN NSEC z.example. A RRSIG NSEC\n" ENCLOSER, SECURITY_SECURE,
		  "auth-zone:\nname: sub.example\nfor-upstream: no\nzonefile: nothing\n" },
		{ "the anchor's name, held here", "x.sub.example.", TYPE_A, RCODE_NXDOMAIN,
		  SOA "k.example. 300 IN NSEC z.example. A RRSIG NSEC\n" ENCLOSER, SECURITY_BOGUS,
		  "auth-zone:\nname: sub.example\nfor-upstream: yes\nzonefile: nothing\n" },
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		const struct lab_heard *h;
		struct fault f = { .set = false };
		struct lab_zone *z;
		char anchor[160], conf[200];
		size_t len;

		snprintf(conf, sizeof(conf), "val-max-restart: 0\naggressive-nsec: no\n%s", rows[i].conf ? rows[i].conf : "");
		lab_open(conf);
		z = lab_zone("sub.example.");
		len = (size_t)snprintf(anchor, sizeof(anchor), "sub.example. DS %u 15 2 ", get_u16(z->ds));
		for (unsigned n = 0; n < 32; n++)
			len += (size_t)snprintf(anchor + len, sizeof(anchor) - len, "%02x", z->ds[4 + n]);
		assert_true(anchors_add_text(lab.snapshot->trust->anchors, anchor, &f));
		lab.pages[lab.page_count - 1].m.q.type = TYPE_NULL; /* its DS set */
		lab_tell(&(struct lab_page){ rows[i].name, rows[i].type, rows[i].rcode, .authority = rows[i].authority });
		lab_sign_page((const int[]){ 0, 0, strstr(rows[i].authority, "k.sub") ? 1 : 0 }, 3);
		h = lab_ask_to_the_end(rows[i].name, rows[i].type);
		if (h->security != rows[i].want)
			fail_msg("%s: %d (%s)", rows[i].why, h->security, h->text);
		lab_close();
	}
}

/* Where no proof holds it may be that nothing is signed there: behind an alias, below a delegation that is proven. */
static void where_an_alias_leads_nothing_need_be_signed(void **state)
{
	(void)state;
	enum { Z = LAB_AS_IT_IS, BARE = LAB_BARE };
	static const struct row rows[] = {
		{ "into an unsigned zone", "a.example.", TYPE_A, RCODE_NXDOMAIN, "a.example. 300 IN CNAME m.u.example.", NULL, { Z },
		  SECURITY_INSECURE, REASON_none, "" },
		{ "with its SOA", "a.example.", TYPE_A, RCODE_NXDOMAIN, "a.example. 300 IN CNAME m.u.example.",
		  "u.example. 300 IN SOA ns.u.example. h.u.example. 1 2 3 4 5", { Z, BARE }, SECURITY_INSECURE, REASON_none, "" },
		{ "with the SOA of the zone above, which is signed", "a.example.", TYPE_A, RCODE_NXDOMAIN,
		  "a.example. 300 IN CNAME m.u.example.", SOA, { Z, Z }, SECURITY_BOGUS, REASON_nsec_missing, "" },
		{ "with that SOA, and the proof that it leads away", "a.example.", TYPE_A, RCODE_NXDOMAIN,
		  "a.example. 300 IN CNAME m.u.example.", SOA "u.example. 300 IN NSEC z.example. NS RRSIG NSEC", { Z, Z, Z },
		  SECURITY_INSECURE, REASON_none, "" },
		{ "no alias, but that proof", "m.u.example.", TYPE_A, RCODE_NXDOMAIN, NULL,
		  "u.example. 300 IN NSEC z.example. NS RRSIG NSEC", { Z }, SECURITY_INSECURE, REASON_none, "" },
		{ "and the SOA of the zone above, which denies what is not its own", "m.u.example.", TYPE_A, RCODE_NXDOMAIN, NULL,
		  SOA "u.example. 300 IN NSEC z.example. NS RRSIG NSEC", { Z, Z }, SECURITY_BOGUS, REASON_bogus, "" },
		{ "likewise at the cut", "u.example.", TYPE_A, RCODE_NOERROR, NULL,
		  SOA "u.example. 300 IN NSEC z.example. NS RRSIG NSEC", { Z, Z }, SECURITY_BOGUS, REASON_bogus, "" },
		{ "but with the SOA of the zone below", "u.example.", TYPE_A, RCODE_NOERROR, NULL,
		  "u.example. 300 IN SOA ns.u.example. h.u.example. 1 2 3 4 5\nu.example. 300 IN NSEC z.example. NS RRSIG NSEC",
		  { BARE, Z }, SECURITY_INSECURE, REASON_none, "" },
		{ "no alias, and a proof of something else", "m.u.example.", TYPE_A, RCODE_NXDOMAIN, NULL,
		  SOA "b.example. 300 IN NSEC c.example. NS RRSIG NSEC", { Z, Z }, SECURITY_BOGUS, REASON_bogus, "" },
		{ "without a SOA", "m.u.example.", TYPE_A, RCODE_NXDOMAIN, NULL, "b.example. 300 IN NSEC c.example. NS RRSIG NSEC",
		  { Z }, SECURITY_BOGUS, REASON_bogus, "" },
		{ "an alias, and a proof of something else", "a.example.", TYPE_A, RCODE_NXDOMAIN,
		  "a.example. 300 IN CNAME m.u.example.", "b.example. 300 IN NSEC c.example. NS RRSIG NSEC", { Z, Z },
		  SECURITY_INSECURE, REASON_none, "" },
		{ "an alias to a zone that is signed", "a.example.", TYPE_A, RCODE_NXDOMAIN,
		  "a.example. 300 IN CNAME m.sub.example.", NULL, { Z }, SECURITY_BOGUS, REASON_bogus, "" },
		{ "an alias to where nothing is known", "a.example.", TYPE_A, RCODE_NXDOMAIN,
		  "a.example. 300 IN CNAME m.elsewhere.", NULL, { Z }, SECURITY_INDETERMINATE, REASON_none, "" },
		{ "the SOA of a zone beside", "m.u.example.", TYPE_A, RCODE_NXDOMAIN, NULL,
		  "sub.example. 300 IN SOA ns.example. h.example. 1 2 3 4 5", { 1 }, SECURITY_INSECURE, REASON_none, "" },
		{ "a DS set below", "m.u.example.", TYPE_DS, RCODE_NOERROR, NULL, NULL, { Z }, SECURITY_INSECURE, REASON_none, "" },
		{ "the DS set of a cut", "v.example.", TYPE_DS, RCODE_NOERROR, NULL, SOA, { Z }, SECURITY_BOGUS,
		  REASON_nsec_missing, "" },
	};

	for (size_t i = 0; i < COUNT(rows); i++)
		validate_row(&rows[i], "val-max-restart: 0\naggressive-nsec: no\n");
}

/* However often it waits for the keys of where an alias leads, a proof is computed once: ten hashes are enough for it
 * and for the question whether it leads to an unsigned zone. */
static void a_proof_is_computed_once(void **state)
{
	(void)state;
	enum { SHA1 = 1 << 24 };
	static const struct {
		int hashes;
		enum reason reason;
	} rows[] = { { 9, REASON_budget_validation }, { 10, REASON_bogus } };

	for (size_t i = 0; i < COUNT(rows); i++) {
		const struct lab_purse purse = { TYPE_A, -1, -1, rows[i].hashes, false, false };
		char text[2048] = "";
		const struct lab_heard *h;

		strcat(text, lab_nsec3("example.", "example.", false, SHA1, "SOA DNSKEY RRSIG"));
		strcat(text, lab_nsec3("example.", "k.example.", true, SHA1, "A RRSIG"));
		lab_open("val-max-restart: 0\naggressive-nsec: no\n");
		lab_zone("sub.example.");
		lab_tell(&(struct lab_page){ "a.example.", TYPE_A, RCODE_NXDOMAIN, .answer = "a.example. 300 IN CNAME m.sub.example.",
					     .authority = text });
		lab.purse = &purse;
		h = lab_ask_to_the_end("a.example.", TYPE_A);
		if (h->security != SECURITY_BOGUS || h->reason != rows[i].reason)
			fail_msg("%d hashes: %d %s (%s)", rows[i].hashes, h->security, reason_text(h->reason), h->text);
		lab_close();
	}
}

/* Below a name that is not to be validated nothing is denied, whatever the zone above can prove. */
static void what_is_not_to_be_validated_is_not_denied(void **state)
{
	(void)state;
	enum { Z = LAB_AS_IT_IS };
	static const char spans[] = SOA "k.example. 300 IN NSEC z.example. A RRSIG NSEC\n" ENCLOSER;
	static const struct row rows[] = {
		{ "an alias to there", "a.example.", TYPE_A, RCODE_NXDOMAIN, "a.example. 300 IN CNAME m.n.example.", spans,
		  { Z, Z, Z, Z }, SECURITY_INDETERMINATE, REASON_none, "" },
		{ "an alias to beside it", "a.example.", TYPE_A, RCODE_NXDOMAIN, "a.example. 300 IN CNAME m.o.example.", spans,
		  { Z, Z, Z, Z }, SECURITY_SECURE, REASON_none, "" },
	};

	for (size_t i = 0; i < COUNT(rows); i++)
		validate_row(&rows[i], "val-max-restart: 0\naggressive-nsec: no\ndomain-insecure: n.example\n");
}

/* What stands in ADDITIONAL is no part of a denial. */
static void a_denial_is_in_authority(void **state)
{
	(void)state;
	static const char *const more[] = { "example. 300 IN SOA x. y. 1 2 3 4 5", "k.example. 300 IN NSEC l.example. A RRSIG NSEC" };

	for (size_t i = 0; i < COUNT(more); i++)
		for (int proves = 0; proves < 2; proves++) {
			const struct lab_heard *h;

			lab_open("val-max-restart: 0\naggressive-nsec: no\n");
			lab_tell(&(struct lab_page){ "m.example.", TYPE_A, RCODE_NXDOMAIN, .additional = more[i],
						     .authority = proves ? SOA "k.example. 300 IN NSEC z.example. A RRSIG NSEC\n" ENCLOSER
									 : SOA });
			lab_sign_page((const int[]){ 0, proves ? 0 : LAB_FALSE, 0, LAB_FALSE }, 4);
			if (!proves)
				lab_sign_page((const int[]){ 0, 0 }, 2);
			h = lab_ask_to_the_end("m.example.", TYPE_A);
			if (h->security != (proves ? SECURITY_SECURE : SECURITY_BOGUS))
				fail_msg("%s: %d (%s)", more[i], h->security, h->text);
			lab_close();
		}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(missing_parts_of_a_negative_proof_are_named),
		cmocka_unit_test(a_ds_set_is_denied_by_the_zone_above),
		cmocka_unit_test(a_zone_above_all_anchors_proves_nothing_and_lies_about_nothing),
		cmocka_unit_test(a_zone_above_an_anchor_may_deny_the_anchor_alone),
		cmocka_unit_test(where_an_alias_leads_nothing_need_be_signed),
		cmocka_unit_test(a_proof_is_computed_once),
		cmocka_unit_test(what_is_not_to_be_validated_is_not_denied),
		cmocka_unit_test(a_denial_is_in_authority),
	};

	return cmocka_run_group_tests_name("answer_denial", tests, NULL, NULL);
}
