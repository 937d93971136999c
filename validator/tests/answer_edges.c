/* Claims about answers whose parts are told apart by little: what is asked for them, what is put off, and what may not be
 * taken from another part.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "util/base/fault.h"
#include "validator/answer_validity.h"
#include "validator/tests/lab.h"

#define SOA "example. 300 IN SOA ns.example. admin.example. 1 3600 900 86400 300\n"
#define ENCLOSER "example. 300 IN NSEC b.example. SOA RRSIG NSEC DNSKEY\n"
#define SPAN "k.example. 300 IN NSEC n.example. A RRSIG NSEC\n"
#define L63 "lllllllllllllllllllllllllllllllllllllllllllllllllllllllllllllll"

enum { Z = LAB_AS_IT_IS, BARE = LAB_BARE, FALSE = LAB_FALSE };

/* An anchor of that zone's own, beside the one of example. */
static void trust_zone(const struct lab_zone *z)
{
	struct fault f = { .set = false };
	char anchor[200];
	size_t len = (size_t)snprintf(anchor, sizeof(anchor), "%s DS %u 15 2 ", z->name, get_u16(z->ds));

	for (unsigned n = 0; n < 32; n++)
		len += (size_t)snprintf(anchor + len, sizeof(anchor) - len, "%02x", z->ds[4 + n]);
	assert_true(anchors_add_text(lab.snapshot->trust->anchors, anchor, &f));
}

/* RFC 1034 3.6.2: an alias that was asked for is there, wherever it leads; where nothing is known, nothing is proven. */
static void an_alias_that_was_asked_for_may_lead_anywhere(void **state)
{
	(void)state;
	static const char *const targets[] = { "m.elsewhere.", "m.sub.example.", "m.example." };

	for (size_t i = 0; i < COUNT(targets); i++) {
		const struct lab_heard *h;
		char answer[80];

		snprintf(answer, sizeof(answer), "a.example. 300 IN CNAME %s", targets[i]);
		lab_open("val-max-restart: 0\naggressive-nsec: no\n");
		lab_tell(&(struct lab_page){ "a.example.", TYPE_CNAME, RCODE_NXDOMAIN, .answer = answer, .authority = SOA SPAN ENCLOSER });
		h = lab_ask_to_the_end("a.example.", TYPE_CNAME);
		if (h->security != SECURITY_SECURE || h->rcode != (i == 2 ? RCODE_NXDOMAIN : RCODE_NOERROR))
			fail_msg("%s: %d, RCODE %u (%s)", targets[i], h->security, h->rcode, h->text);
		lab_close();
	}
}

/* What NXDOMAIN says of that alias's target is validated in the next turn where this one is full. */
static void a_full_turn_validates_no_target(void **state)
{
	(void)state;
	static const char proof[] = SOA "m.example. 300 IN NSEC n.example. TXT RRSIG NSEC";
	struct lab_heard *h;

	lab_open("val-max-restart: 0\naggressive-nsec: no\n");
	for (unsigned i = 0; i < 2; i++)
		lab_tell(&(struct lab_page){ "a.example.", i ? TYPE_CNAME : TYPE_A, i ? RCODE_NXDOMAIN : RCODE_NOERROR,
					     .answer = "a.example. 300 IN CNAME m.example.", .authority = proof });
	lab_tell(&(struct lab_page){ "trap.example.", TYPE_A, .answer = "trap.example. 300 IN A 192.0.2.1",
				     .flaw = LAB_GARBLED_8 });
	assert_int_equal(lab_ask_to_the_end("a.example.", TYPE_A)->security, SECURITY_SECURE);
	lab_turn();
	assert_true(lab_ask("trap.example.", TYPE_A)->done);
	h = lab_ask("a.example.", TYPE_CNAME);
	assert_false(h->done);
	while (!h->done)
		assert_true(lab_turn());
	assert_int_equal(h->security, SECURITY_SECURE);
	assert_int_equal(h->rcode, RCODE_NOERROR);
	lab_close();
}

/* What cannot change the outcome is not asked for: the keys of a zone whose SOA stands where nothing is denied, those of
 * the end of a chain of aliases where a part of the denial is false, or where it is proven, and the keys below a DS set. */
static void what_changes_nothing_is_not_asked_for(void **state)
{
	(void)state;
	static const struct {
		const char *why;
		struct lab_page page;
		int how[4];
		enum security want;
	} rows[] = {
		{ "a SOA beside an alias",
		  { "a.example.", TYPE_CNAME, RCODE_NXDOMAIN, .answer = "a.example. 300 IN CNAME m.sub.example.",
		    .authority = "sub.example. 300 IN SOA ns.example. h.example. 1 2 3 4 5" },
		  { Z, Z }, SECURITY_SECURE },
		{ "a denial with a false SOA",
		  { "a.example.", TYPE_A, RCODE_NXDOMAIN, .answer = "a.example. 300 IN CNAME m.sub.example.", .authority = SOA },
		  { Z, FALSE }, SECURITY_BOGUS },
		{ "a denial without a SOA",
		  { "a.example.", TYPE_A, RCODE_NXDOMAIN, .answer = "a.example. 300 IN CNAME m.example.", .authority = SPAN ENCLOSER },
		  { Z, Z, Z }, SECURITY_SECURE },
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		const struct lab_heard *h;

		lab_open("val-max-restart: 0\naggressive-nsec: no\n");
		lab_zone("sub.example.");
		lab_tell(&rows[i].page);
		lab_sign_page(rows[i].how, COUNT(rows[i].how));
		h = lab_ask_to_the_end(rows[i].page.name, rows[i].page.type);
		if (h->security != rows[i].want || lab_asked_for(TYPE_DS, "") || lab_asked_for(TYPE_DNSKEY, "") != 1)
			fail_msg("%s: %d (%s), %u DS sets, %u DNSKEY sets", rows[i].why, h->security, h->text,
				 lab_asked_for(TYPE_DS, ""), lab_asked_for(TYPE_DNSKEY, ""));
		lab_close();
	}
	lab_open("val-max-restart: 0\n");
	lab_zone("sub.example.");
	(void)rrsetcache_put(lab.env.rrsets, lab_set("sub.example.", TYPE_DS), lab.env.time->now_s, &lab.arena);
	assert_int_equal(lab_ask_to_the_end("sub.example.", TYPE_DS)->security, SECURITY_SECURE);
	assert_int_equal(lab_asked_for(TYPE_DNSKEY, "sub.example."), 0);
	/* nor those below a cut that a proof of the zone above begins at */
	lab_tell(&(struct lab_page){ "t.example.", TYPE_A, RCODE_NXDOMAIN,
				     .authority = SOA ENCLOSER "sub.example. 300 IN NSEC z.example. NS DS RRSIG NSEC" });
	lab_sign_page((const int[]){ 0, 0, 0 }, 3);
	assert_int_equal(lab_ask_to_the_end("t.example.", TYPE_A)->security, SECURITY_SECURE);
	assert_int_equal(lab_asked_for(TYPE_DNSKEY, "sub.example."), 0);
	lab_close();
}

/* What came with one denial need not be checked for the next, the proof at the zone's own name either. */
static void what_is_known_to_be_signed_is_not_checked_again(void **state)
{
	(void)state;
	static const char *const names[] = { "l.example.", "m.example." };
	unsigned before = 0;

	lab_open("val-max-restart: 0\naggressive-nsec: no\n");
	for (size_t i = 0; i < COUNT(names); i++) {
		lab_tell(&(struct lab_page){ names[i], TYPE_A, RCODE_NXDOMAIN, .authority = SOA SPAN ENCLOSER });
		((struct rrset *)(uintptr_t)lab.pages[lab.page_count - 1].m.sets[2])->flags |= RRSET_NSEC_AT_APEX;
		assert_int_equal(lab_ask_to_the_end(names[i], TYPE_A)->security, SECURITY_SECURE);
		if (i)
			assert_int_equal(lab_checks(), before);
		before = lab_checks();
	}
	lab_close();
}

/* Each is told by one part of the answer alone. */
static void each_part_says_its_own(void **state)
{
	(void)state;
	static const struct {
		const char *why;
		struct lab_page page;
		int how[4];
		enum security want;
		enum reason reason;
		const char *says;
	} rows[] = {
		{ "too long a name behind an alias to where nothing is signed",
		  { "a.example.", TYPE_A, RCODE_YXDOMAIN, .answer = "a.example. 300 IN CNAME x.elsewhere." },
		  { Z }, SECURITY_BOGUS, REASON_bogus, "YXDOMAIN without a DNAME that makes the name too long" },
		{ "an alias where a DNAME makes the name too long",
		  { L63 ".d.example.", TYPE_A,
		    .answer = "d.example. 300 IN DNAME " L63 "." L63 "." L63 ".example.\n" L63 ".d.example. 300 IN CNAME x.example.\n"
			      "x.example. 300 IN A 192.0.2.1" },
		  { Z, BARE, Z }, SECURITY_BOGUS, REASON_bogus, "a CNAME contradicts the DNAME above it" },
		{ "an alias that contradicts a DNAME behind it",
		  { "x.d.sub.example.", TYPE_CNAME,
		    .answer = "x.d.sub.example. 300 IN CNAME www.sub.example.\nd.sub.example. 300 IN DNAME e.sub.example." },
		  { BARE, Z }, SECURITY_BOGUS, REASON_bogus, "a CNAME contradicts the DNAME above it" },
		{ "a DS set at a name with both servers and an alias (RFC 6840 4.3)",
		  { "v.example.", TYPE_DS, .authority = SOA "v.example. 300 IN NSEC z.example. NS CNAME RRSIG NSEC" },
		  { Z, Z }, SECURITY_BOGUS, REASON_bogus, "no proof that the DS RRset does not exist" },
		{ "the DS set of the anchor's own zone, which is its parent's to tell",
		  { "example.", TYPE_DS, .answer = "example. 300 IN DS 1 8 2 00" }, { BARE }, SECURITY_INDETERMINATE, REASON_none, "" },
		{ "an alias out of the zone, with a proof of the zone's own name",
		  { "a.example.", TYPE_A, RCODE_NXDOMAIN, .answer = "a.example. 300 IN CNAME m.u.example.", .authority = ENCLOSER },
		  { Z, Z }, SECURITY_INSECURE, REASON_none, "" },
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		const struct lab_heard *h;

		lab_open("val-max-restart: 0\naggressive-nsec: no\n");
		lab_zone("sub.example.");
		lab_tell(&(struct lab_page){ "u.example.", TYPE_DS, .authority = SOA "u.example. 300 IN NSEC z.example. NS RRSIG NSEC" });
		lab_tell(&rows[i].page);
		lab_sign_page(rows[i].how, COUNT(rows[i].how));
		h = lab_ask_to_the_end(rows[i].page.name, rows[i].page.type);
		if (h->security != rows[i].want || h->reason != rows[i].reason || strncmp(h->text, rows[i].says, strlen(rows[i].says)))
			fail_msg("%s: %d %s (%s)", rows[i].why, h->security, reason_text(h->reason), h->text);
		lab_close();
	}
}

/* Under an anchor of the root as well. */
static void the_root_may_prove_that_a_name_leads_away(void **state)
{
	(void)state;
	const struct lab_heard *h;

	lab_open("val-max-restart: 0\naggressive-nsec: no\n");
	trust_zone(lab_zone("."));
	lab_tell(&(struct lab_page){ "u.", TYPE_DS, .authority = ". 300 IN SOA a. b. 1 2 3 4 5\nu. 300 IN NSEC z. NS RRSIG NSEC" });
	/* with its own SOA record it would deny what it has delegated */
	lab_tell(&(struct lab_page){ "m.u.", TYPE_A, RCODE_NXDOMAIN, .authority = "u. 300 IN NSEC z. NS RRSIG NSEC" });
	h = lab_ask_to_the_end("m.u.", TYPE_A);
	if (h->security != SECURITY_INSECURE)
		fail_msg("%d %s (%s)", h->security, reason_text(h->reason), h->text);
	lab_close();
}

/* No other server's answer is better where the chain of trust is broken: it is asked for once. */
static void a_broken_chain_is_no_servers_fault(void **state)
{
	(void)state;
	for (unsigned negative = 0; negative < 2; negative++) {
		const struct lab_heard *h;

		lab_open("val-max-restart: 3\naggressive-nsec: no\n");
		lab_zone("sub.example.");
		lab_retell_set(lab_sign(lab_with_sigs(lab_set("sub.example.", TYPE_DNSKEY), NULL, 0), NULL, LAB_GARBLED));
		lab_tell(&(struct lab_page){ "m.sub.example.", TYPE_A, negative ? RCODE_NXDOMAIN : RCODE_NOERROR,
					     .answer = negative ? NULL : "m.sub.example. 300 IN A 192.0.2.1" });
		h = lab_ask_to_the_end("m.sub.example.", TYPE_A);
		if (h->security != SECURITY_BOGUS || lab_asked_for(TYPE_A, "") != 1)
			fail_msg("%d (%s), asked %u times", h->security, h->text, lab_asked_for(TYPE_A, ""));
		lab_close();
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_alias_that_was_asked_for_may_lead_anywhere),
		cmocka_unit_test(a_full_turn_validates_no_target),
		cmocka_unit_test(what_changes_nothing_is_not_asked_for),
		cmocka_unit_test(what_is_known_to_be_signed_is_not_checked_again),
		cmocka_unit_test(each_part_says_its_own),
		cmocka_unit_test(the_root_may_prove_that_a_name_leads_away),
		cmocka_unit_test(a_broken_chain_is_no_servers_fault),
	};

	return cmocka_run_group_tests_name("answer_edges", tests, NULL, NULL);
}
