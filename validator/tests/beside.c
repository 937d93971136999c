/* Claims about RRSIGs beside the one that holds: in any order, they take nothing from it (RFC 4035 5.3.1, 5.3.3).
 * SPDX-License-Identifier: BSD-3-Clause */
#include "services/cache/verified_private.h"
#include "validator/tests/lab.h"

#define SOA     "example. 300 IN SOA ns.example. admin.example. 1 3600 900 86400 300\n"
#define SUB_SOA "sub.example. 300 IN SOA ns.example. admin.example. 1 3600 900 86400 300\n"
#define SIGNER  18 /* offset in the RDATA */

/* How an RRSIG beside differs from the one that holds. */
enum other { ROOT, ABOVE, OWNER, BELOW, ELSEWHERE, ALGORITHM, EXPIRED, NOT_YET, FEWER_LABELS, MORE_LABELS, OTHER_KEY,
	     GARBLED, CUT_SHORT, NO_SIGNATURE, THE_SAME, OTHERS };

static const char *const words[] = {
	"by the root", "by the zone above", "by its owner", "by a name below", "by a zone elsewhere", "of an unknown algorithm",
	"expired", "of the future", "of fewer labels", "of more labels", "by another key", "that does not fit", "cut short",
	"without a signature", "twice",
};

static struct slice signed_by(struct slice good, const uint8_t *signer)
{
	size_t old = dname_len(good.at + SIGNER), len = dname_len(signer);
	uint8_t *rd = arena_take(&lab.arena, good.len + DNAME_MAX);

	memcpy(rd, good.at, SIGNER);
	memcpy(rd + SIGNER, signer, len);
	memcpy(rd + SIGNER + len, good.at + SIGNER + old, good.len - SIGNER - old);
	return (struct slice){ rd, good.len - old + len };
}

static struct slice other_than(struct slice good, const struct rrset *set, enum other how)
{
	uint8_t *rd = arena_copy(&lab.arena, good.at, good.len), below[DNAME_MAX];
	const uint8_t *zone = good.at + SIGNER;

	dname_join(below, (const uint8_t *)"\1x", 2, rrset_owner(set));
	switch (how) {
	case ROOT:         return signed_by(good, dname_root);
	case ABOVE:        return signed_by(good, dname_parent(zone));
	case OWNER:        return signed_by(good, rrset_owner(set));
	case BELOW:        return signed_by(good, arena_copy(&lab.arena, below, dname_len(below)));
	case ELSEWHERE:    return signed_by(good, N("elsewhere."));
	case ALGORITHM:    rd[2] = 200; break;
	case EXPIRED:      put_u32(rd + 8, LAB_BEGINS + 60); break;
	case NOT_YET:      put_u32(rd + 12, LAB_ENDS - 60); break;
	case FEWER_LABELS: rd[3]--; break;
	case MORE_LABELS:  rd[3]++; break;
	case OTHER_KEY:    rd[17] ^= 1; break;
	case GARBLED:      rd[good.len - 1] ^= 1; break;
	case CUT_SHORT:    return (struct slice){ rd, SIGNER };
	case NO_SIGNATURE: return (struct slice){ rd, SIGNER + dname_len(zone) };
	case THE_SAME:
	case OTHERS:       break;
	}
	return (struct slice){ rd, good.len };
}

/* All signed sets of all pages get another RRSIG. */
static void put_beside(enum other how, bool before)
{
	for (unsigned p = 0; p < lab.page_count; p++)
		for (unsigned i = 0; i < message_set_count(&lab.pages[p].m); i++) {
			const struct rrset **set = &lab.pages[p].m.sets[i];
			struct rrset_walk w = rrset_sigs(*set);
			struct slice sigs[2];

			if ((*set)->sig_count != 1 || !rrset_next(&w, &sigs[!!before]))
				continue;
			sigs[!before] = other_than(sigs[!!before], *set, how);
			*set = lab_with_sigs(*set, sigs, 2);
		}
}

static const struct question_row {
	const char *why;
	struct lab_page page;
	enum security want;
} rows[] = {
	{ "data", { "www.sub.example.", TYPE_A, .answer = "www.sub.example. 300 IN A 192.0.2.1" }, SECURITY_SECURE },
	{ "data of the apex", { "sub.example.", TYPE_TXT, .answer = "sub.example. 300 IN TXT x" }, SECURITY_SECURE },
	{ "a DS set", { .name = "sub.example.", .type = TYPE_DS }, SECURITY_SECURE },
	{ "keys", { .name = "sub.example.", .type = TYPE_DNSKEY }, SECURITY_SECURE },
	{ "an alias into another zone",
	  { "a.example.", TYPE_A,
	    .answer = "a.example. 300 IN CNAME b.sub.example.\nb.sub.example. 300 IN A 192.0.2.1" },
	  SECURITY_SECURE },
	{ "made by a wildcard",
	  { "x.w.example.", TYPE_A, .answer = "x.w.example. 300 IN A 192.0.2.1", .wildcard = "*.w.example.",
	    .authority = "*.w.example. 300 IN NSEC www.example. A RRSIG NSEC" },
	  SECURITY_SECURE },
	{ "a name denied by NSEC",
	  { "m.example.", TYPE_A, RCODE_NXDOMAIN,
	    .authority = SOA "k.example. 300 IN NSEC z.example. A RRSIG NSEC\n"
			     "example. 300 IN NSEC b.example. SOA RRSIG NSEC DNSKEY" },
	  SECURITY_SECURE },
	{ "a type denied at the apex",
	  { "sub.example.", TYPE_A, .authority = SUB_SOA "sub.example. 300 IN NSEC a.sub.example. NS SOA RRSIG NSEC DNSKEY" },
	  SECURITY_SECURE },
	{ "no DS set where a zone begins",
	  { "cut.example.", TYPE_DS, .authority = SOA "cut.example. 300 IN NSEC z.example. NS RRSIG NSEC" },
	  SECURITY_SECURE },
};

static void validate_with(const struct question_row *row, enum other how, bool before)
{
	const struct lab_heard *h;

	lab_open("val-max-restart: 0\naggressive-nsec: no\n");
	lab_zone("sub.example.");
	if (row->page.answer || row->page.authority)
		lab_tell(&row->page);
	put_beside(how, before);
	h = lab_ask_to_the_end(row->page.name, row->page.type);
	if (h->security != row->want)
		fail_msg("%s, with a signature %s %s the good one: %d (%s)", row->why, words[how],
			 before ? "before" : "behind", h->security, h->text);
	lab_close();
}

static void a_signature_beside_takes_nothing_from_the_good_one(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++)
		for (unsigned how = 0; how < OTHERS; how++)
			for (unsigned before = 0; before < 2; before++)
				validate_with(&rows[i], how, before);
}

static void nsec3_is_denied_by_it_too(void **state)
{
	(void)state;
	for (unsigned n = 0; n < 2 * OTHERS; n++) {
		char text[2048];
		struct question_row row = { "a name denied by NSEC3", { .name = "m.example.", .type = TYPE_A, .rcode = RCODE_NXDOMAIN },
					    SECURITY_SECURE };

		snprintf(text, sizeof(text), SOA "%s%s%s", lab_nsec3("example.", "example.", false, 0x01000000, "SOA"),
			 lab_nsec3("example.", "m.example.", true, 0x01000000, "A"),
			 lab_nsec3("example.", "*.example.", true, 0x01000000, "A"));
		row.page.authority = text;
		validate_with(&row, n / 2, n % 2);
	}
}

/* An RRSIG beside what a DNAME makes is of no use, and is not handed on. */
static void what_a_dname_makes_needs_no_signature(void **state)
{
	(void)state;
	const struct rrset **sets;
	struct verified v = { .zone = N("example."), .ttl_s = 60 };

	lab_open("val-max-restart: 0\n");
	lab_tell(&(struct lab_page){ "x.d.example.", TYPE_CNAME,
				     .answer = "d.example. 300 IN DNAME e.example.\n"
					       "x.d.example. 300 IN CNAME x.e.example." });
	sets = lab.pages[lab.page_count - 1].m.sets;
	assert_int_equal(sets[1]->sig_count, 1);
	put_beside(GARBLED, true);
	sets[1] = lab_sign(made_set(&lab.arena, lab.env.time->now_s, "x.d.example. 300 IN CNAME x.e.example."), NULL,
			   LAB_GARBLED);
	assert_int_equal(lab_ask_to_the_end("x.d.example.", TYPE_CNAME)->security, SECURITY_SECURE);
	v.set = sets[0];
	assert_int_equal(verified_copy_made(&v, sets[1], &lab.arena, lab.env.time->now_s)->sig_count, 0);
	lab_close();
}

/* However many there are: those that cost something are tried until the set has had its share, the others are
 * passed over. */
static void many_of_them_cost_no_more_than_a_few(void **state)
{
	(void)state;
	for (unsigned how = 0; how < OTHERS; how++) {
		enum { MANY = 500 };
		enum security want = how == GARBLED || how == FEWER_LABELS ? SECURITY_BOGUS : SECURITY_SECURE;
		static struct slice sigs[MANY];
		const struct lab_heard *h;
		const struct rrset **set;
		struct rrset_walk w;
		struct slice good;

		lab_open("val-max-restart: 0\n");
		lab_tell(&(struct lab_page){ "www.example.", TYPE_A, .answer = "www.example. 300 IN A 192.0.2.1" });
		set = &lab.pages[lab.page_count - 1].m.sets[0];
		w = rrset_sigs(*set);
		assert_true(rrset_next(&w, &good));
		for (unsigned i = 0; i + 1 < MANY; i++)
			sigs[i] = other_than(good, *set, how);
		sigs[MANY - 1] = good;
		*set = lab_with_sigs(*set, sigs, MANY);
		h = lab_ask_to_the_end("www.example.", TYPE_A);
		if (h->security != want || lab_checks() > 16)
			fail_msg("%s: %d (%s), %u checks", words[how], h->security, h->text, lab_checks());
		lab_close();
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_signature_beside_takes_nothing_from_the_good_one),
		cmocka_unit_test(nsec3_is_denied_by_it_too),
		cmocka_unit_test(what_a_dname_makes_needs_no_signature),
		cmocka_unit_test(many_of_them_cost_no_more_than_a_few),
	};

	return cmocka_run_group_tests_name("beside", tests, NULL, NULL);
}
