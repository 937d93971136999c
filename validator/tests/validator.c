/* Claims about validating whole answers, over a little signed internet.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "validator/validator.h"

#include "validator/checked_sigs.h"
#include "validator/tests/lab.h"

#define SOA "example. 300 IN SOA ns.example. admin.example. 1 3600 900 86400 300\n"

#define DIGEST "00112233445566778899aabbccddeeff00112233445566778899aabbccddeeff"

/* example., with www, a wildcard, an alias, a DNAME, and nothing else. */
static void open_zone(const char *options)
{
	static const struct lab_page pages[] = {
		{ "www.example.", TYPE_A, .answer = "www.example. 300 IN A 192.0.2.80" },
		{ "mail.example.", TYPE_A, .answer = "mail.example. 300 IN A 192.0.2.25" },
		{ "www.example.", TYPE_MX,
		  .authority = SOA "www.example. 300 IN NSEC example. A RRSIG NSEC" },
		{ "no.example.", TYPE_A, RCODE_NXDOMAIN,
		  .authority = SOA "mail.example. 300 IN NSEC sub.example. A RRSIG NSEC\n"
				   "example. 300 IN NSEC *.w.example. SOA DNSKEY RRSIG NSEC" },
		{ "x.w.example.", TYPE_A, .answer = "x.w.example. 300 IN A 192.0.2.9",
		  .wildcard = "*.w.example.",
		  .authority = "*.w.example. 300 IN NSEC www.example. A RRSIG NSEC" },
		{ "y.w.example.", TYPE_A, .answer = "y.w.example. 300 IN A 192.0.2.9",
		  .wildcard = "*.w.example." },
		{ "z.w.example.", TYPE_A, .answer = "z.w.example. 300 IN A 192.0.2.9",
		  .wildcard = "*.w.example.",
		  .authority = "*.w.example. 300 IN NSEC www.example. A RRSIG NSEC" },
		{ "stripped.example.", TYPE_A, .answer = "stripped.example. 300 IN A 192.0.2.1",
		  .flaw = LAB_UNSIGNED },
		{ "garbled.example.", TYPE_A, .answer = "garbled.example. 300 IN A 192.0.2.1",
		  .flaw = LAB_GARBLED },
		{ "unproven.example.", TYPE_A, RCODE_NXDOMAIN, .authority = SOA },
		{ "alias.example.", TYPE_A,
		  .answer = "alias.example. 300 IN CNAME www.example.\n"
			    "www.example. 300 IN A 192.0.2.80" },
		{ "www.elsewhere.", TYPE_A, .answer = "www.elsewhere. 300 IN A 192.0.2.7" },
		{ "www.example.", TYPE_ANY,
		  .answer = "www.example. 300 IN A 192.0.2.80\n"
			    "www.example. 300 IN TXT \"one\"\n"
			    "www.example. 300 IN NSEC example. A TXT RRSIG NSEC" },
		{ "half.example.", TYPE_ANY, .flaw = LAB_GARBLED,
		  .answer = "half.example. 300 IN A 192.0.2.80\n"
			    "half.example. 300 IN TXT \"one\"" },
	};

	lab_open(options);
	for (size_t i = 0; i < COUNT(pages); i++)
		lab_tell(&pages[i]);
}

static void an_answer_is_as_good_as_its_proofs(void **state)
{
	(void)state;
	static const struct {
		const char *why, *name;
		uint16_t type;
		enum security want;
		enum reason reason;
	} rows[] = {
		{ "a signed set", "www.example.", TYPE_A, SECURITY_SECURE, REASON_none },
		{ "a type that is not there", "www.example.", TYPE_MX, SECURITY_SECURE, REASON_none },
		{ "a name that is not there", "no.example.", TYPE_A, SECURITY_SECURE, REASON_none },
		{ "made from a wildcard", "x.w.example.", TYPE_A, SECURITY_SECURE, REASON_none },
		{ "the same without the proof", "y.w.example.", TYPE_A, SECURITY_BOGUS, REASON_nsec_missing },
		{ "no signature", "stripped.example.", TYPE_A, SECURITY_BOGUS, REASON_rrsigs_missing },
		{ "a wrong signature", "garbled.example.", TYPE_A, SECURITY_BOGUS, REASON_sig_wrong },
		{ "no proof that it is not there", "unproven.example.", TYPE_A, SECURITY_BOGUS,
		  REASON_nsec_missing },
		{ "an alias", "alias.example.", TYPE_A, SECURITY_SECURE, REASON_none },
		{ "all there is at a name", "www.example.", TYPE_ANY, SECURITY_SECURE, REASON_none },
		{ "all there is, and it is wrong", "half.example.", TYPE_ANY, SECURITY_BOGUS, REASON_sig_wrong },
		{ "under no anchor", "www.elsewhere.", TYPE_A, SECURITY_INDETERMINATE, REASON_none },
		{ "what cannot be had", "www.example.", TYPE_TXT, SECURITY_INDETERMINATE, REASON_none },
	};

	open_zone("");
	for (size_t i = 0; i < COUNT(rows); i++) {
		const struct lab_heard *h = lab_ask_to_the_end(rows[i].name, rows[i].type);

		if (h->security != rows[i].want || h->reason != rows[i].reason)
			fail_msg("%s: %d %s (%s)", rows[i].why, h->security, reason_text(h->reason), h->text);
	}
	lab_close();
}

/* Half an hour and half a day after the signatures end, half an hour before they begin. */
#define SOON   "val-override-date: \"20261201003000\"\n"
#define LATE   "val-override-date: \"20261201120000\"\n"
#define EARLY  "val-override-date: \"20261031233000\"\n"

static void validator_options_change_the_result(void **state)
{
	(void)state;
	static const struct {
		const char *options, *name;
		enum security want;
		enum reason reason;
		unsigned answers, extras;
	} rows[] = {
		{ "", "garbled.example.", SECURITY_BOGUS, REASON_sig_wrong, 1, 0 },
		{ "val-permissive-mode: yes", "garbled.example.", SECURITY_INDETERMINATE, REASON_none, 1, 0 },
		{ "domain-insecure: garbled.example", "garbled.example.", SECURITY_INDETERMINATE, REASON_none, 1, 0 },
		{ "", "extra.example.", SECURITY_SECURE, REASON_none, 1, 0 },
		{ "val-clean-additional: no", "extra.example.", SECURITY_SECURE, REASON_none, 1, 1 },
		{ SOON, "www.example.", SECURITY_SECURE, REASON_none, 1, 0 },
		{ SOON "val-sig-skew-min: 60\nval-sig-skew-max: 60", "www.example.", SECURITY_BOGUS,
		  REASON_sig_expired, 1, 0 },
		{ LATE, "www.example.", SECURITY_SECURE, REASON_none, 1, 0 },
		{ LATE "val-sig-skew-max: 7200", "www.example.", SECURITY_BOGUS, REASON_sig_expired, 1, 0 },
		{ EARLY, "www.example.", SECURITY_SECURE, REASON_none, 1, 0 },
		{ EARLY "val-sig-skew-max: 60", "www.example.", SECURITY_BOGUS, REASON_sig_not_yet, 1, 0 },
		{ "val-override-date: -1", "www.example.", SECURITY_SECURE, REASON_none, 1, 0 },
		{ "trust-anchor: \"bare. DS 1 15 2 " DIGEST "\"", "www.bare.", SECURITY_BOGUS,
		  REASON_dnskey_missing, 1, 0 },
		{ "trust-anchor: \"bare. DS 1 15 2 " DIGEST "\"\nharden-dnssec-stripped: no", "www.bare.",
		  SECURITY_INSECURE, REASON_dnskey_missing, 1, 0 },
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		char *options = mem_textf("%s\n", rows[i].options);
		const struct lab_heard *h;

		open_zone(options);
		lab_tell(&(struct lab_page){ "extra.example.", TYPE_A,
					     .answer = "extra.example. 300 IN A 192.0.2.1",
					     .additional = "other.example. 300 IN A 192.0.2.2" });
		lab_tell(&(struct lab_page){ "www.bare.", TYPE_A, .answer = "www.bare. 300 IN A 192.0.2.1" });
		lab_tell(&(struct lab_page){ "bare.", TYPE_DNSKEY,
					     .authority = "bare. 300 IN SOA ns.bare. m.bare. 1 2 3 4 5" });
		h = lab_ask_to_the_end(rows[i].name, TYPE_A);
		if (h->security != rows[i].want || h->reason != rows[i].reason ||
		    h->answers != rows[i].answers || h->extras != rows[i].extras)
			fail_msg("%s: %s is %d %s (%s), %u sets, %u beside", rows[i].options, rows[i].name,
				 h->security, reason_text(h->reason), h->text, h->answers, h->extras);
		lab_close();
		mem_free(options);
	}
}

/* val-max-restart: so many times it is asked again, in case that other servers know better. */
static void what_is_bogus_is_asked_again(void **state)
{
	(void)state;
	static const struct {
		const char *options;
		unsigned asked;
	} rows[] = { { "val-max-restart: 0\n", 1 }, { "val-max-restart: 3\n", 4 }, { "", 6 } };

	for (size_t i = 0; i < COUNT(rows); i++) {
		open_zone(rows[i].options);
		assert_int_equal(lab_ask_to_the_end("www.example.", TYPE_A)->security, SECURITY_SECURE);
		lab.asked = 0;
		assert_int_equal(lab_ask_to_the_end("garbled.example.", TYPE_A)->security, SECURITY_BOGUS);
		assert_int_equal(lab.asked, rows[i].asked);
		lab_close();
	}
}

/* ---- work ---- */

/* Proofs that are true, and of no use: the more there are, the less often they are asked for again. */
static void failed_checks_are_paid_for(void **state)
{
	(void)state;
	static const struct {
		unsigned proofs, asked;
	} rows[] = { { 1, 6 }, { 20, 6 }, /* known the second time */ { 60, 1 } };

	for (size_t i = 0; i < COUNT(rows); i++) {
		char proofs[8192] = "";

		for (unsigned n = 0; n < rows[i].proofs; n++) {
			char line[128];

			snprintf(line, sizeof(line), "n%02u.example. 300 IN NSEC n%02u-.example. A RRSIG NSEC\n", n, n);
			strcat(proofs, line);
		}
		open_zone("");
		lab_tell(&(struct lab_page){ "padded.example.", TYPE_A, RCODE_NXDOMAIN, .authority = proofs });
		assert_int_equal(lab_ask_to_the_end("www.example.", TYPE_A)->security, SECURITY_SECURE);
		lab.asked = 0;
		assert_int_equal(lab_ask_to_the_end("padded.example.", TYPE_A)->security, SECURITY_BOGUS);
		if (lab.asked != rows[i].asked)
			fail_msg("%u proofs: asked %u times", rows[i].proofs, lab.asked);
		lab_close();
	}
}

static void a_check_is_made_once(void **state)
{
	(void)state;
	static const struct {
		const char *why, *name;
		uint16_t type;
		unsigned checks;
	} rows[] = {
		{ "the zone's keys and the set", "www.example.", TYPE_A, 2 },
		{ "the keys are known", "mail.example.", TYPE_A, 1 },
		{ "SOA and two denials", "no.example.", TYPE_A, 3 },
		{ "the SOA is known", "www.example.", TYPE_MX, 1 },
		{ "a set that a wildcard made, and its proof", "x.w.example.", TYPE_A, 2 },
		{ "another that it made: all of it is known", "z.w.example.", TYPE_A, 0 },
		{ "the target of the alias was an answer, and is not kept twice", "alias.example.", TYPE_A, 2 },
	};

	open_zone("");
	for (size_t i = 0; i < COUNT(rows); i++) {
		unsigned before = lab_checks();

		assert_int_equal(lab_ask_to_the_end(rows[i].name, rows[i].type)->security, SECURITY_SECURE);
		if (lab_checks() - before != rows[i].checks)
			fail_msg("%s: %u checks", rows[i].why, lab_checks() - before);
	}
	lab_close();
}

/* Five questions wait for the same keys: who is told first makes the checks. */
static void who_waits_for_the_same_keys_lets_one_check_them(void **state)
{
	(void)state;
	static const char *const names[] = { "a.sub.example.", "b.sub.example.", "c.sub.example.",
					     "d.sub.example.", "e.sub.example." };
	struct lab_heard *h[COUNT(names)];

	lab_open("");
	lab_zone("sub.example.");
	for (unsigned i = 0; i < lab.page_count; i++)
		lab.pages[i].page.slow = true;
	for (size_t i = 0; i < COUNT(names); i++) {
		char *record = mem_textf("%s 300 IN A 192.0.2.1", names[i]);

		lab_tell(&(struct lab_page){ names[i], TYPE_A, .answer = record });
		mem_free(record);
	}
	for (size_t i = 0; i < COUNT(names); i++)
		h[i] = lab_ask(names[i], TYPE_A);
	while (lab.waiting_count) {
		assert_int_equal(lab.waiting_count, 1);
		lab_deliver();
	}
	for (size_t i = 0; i < COUNT(names); i++)
		assert_int_equal(h[i]->security, SECURITY_SECURE);
	/* the keys of example., the DS set, the keys of sub.example., and the five */
	assert_int_equal(lab_checks(), 3 + COUNT(names));
	assert_int_equal(lab.asked, 3 + COUNT(names));
	lab_close();
}

/* An answer of four sets, each with eight signatures of the zone's key that do not fit. */
static void tell_trap(const char *name)
{
	char *text = mem_textf("%s 300 IN A 192.0.2.1\n%s 300 IN TXT \"x\"\n%s 300 IN MX 1 mx.example.\n"
			       "%s 300 IN HINFO \"a\" \"b\"",
			       name, name, name, name);

	lab_tell(&(struct lab_page){ name, TYPE_ANY, .answer = text, .flaw = LAB_GARBLED_8 });
	mem_free(text);
}

static void costly_answers_let_others_go_first(void **state)
{
	(void)state;
	struct lab_heard *trap, *other;
	unsigned turns = 0, before;

	open_zone("val-max-restart: 0\n");
	tell_trap("trap.example.");
	lab_ask_to_the_end("www.example.", TYPE_A);
	before = lab_checks();
	trap = lab_ask("trap.example.", TYPE_ANY);
	assert_false(trap->done);
	assert_int_equal(lab_checks() - before, CHECKED_CHECKS);
	while (!trap->done) {
		const char *name = turns == 1 ? "mail.example." : "www.example.";

		before = lab_checks();
		assert_true(lab_turn());
		assert_true(lab_checks() - before <= CHECKED_CHECKS);
		turns++;
		other = lab_ask(name, TYPE_A);
		assert_true(other->done);
		assert_int_equal(other->security, SECURITY_SECURE);
	}
	assert_int_equal(turns, 3);
	assert_int_equal(trap->security, SECURITY_BOGUS);
	assert_int_equal(trap->reason, REASON_sig_wrong);
	lab_close();
}

/* However many there are of them, a turn does the work of one. */
static void costly_answers_take_turns(void **state)
{
	(void)state;
	static const char *const names[] = { "t1.example.", "t2.example.", "t3.example." };
	struct lab_heard *h[COUNT(names)];
	unsigned turns = 0;

	open_zone("val-max-restart: 0\n");
	lab_ask_to_the_end("www.example.", TYPE_A);
	for (size_t i = 0; i < COUNT(names); i++) {
		tell_trap(names[i]);
		h[i] = lab_ask(names[i], TYPE_ANY);
	}
	for (unsigned before = lab_checks(); lab_turn(); before = lab_checks()) {
		assert_true(lab_checks() - before <= CHECKED_CHECKS);
		turns++;
		/* none is behind the others by more than a turn */
		assert_true(!h[0]->done || turns >= 7);
	}
	assert_int_equal(turns, 11); /* of 96 checks 8 were made when they were asked */
	for (size_t i = 0; i < COUNT(names); i++)
		assert_int_equal(h[i]->security, SECURITY_BOGUS);
	lab_close();
}

static void of_an_answer_to_any_24_sets_are_validated_and_given(void **state)
{
	(void)state;
	static const struct {
		unsigned sets, given;
	} rows[] = { { 23, 23 }, { 24, 24 }, { 25, 24 }, { 40, 24 } };

	for (size_t i = 0; i < COUNT(rows); i++) {
		const struct lab_heard *h;
		char many[4096] = "";

		for (unsigned n = 0; n < rows[i].sets; n++) {
			char line[128];

			snprintf(line, sizeof(line), "any.example. 300 IN TYPE%u \\# 1 00\n", 65300 + n);
			strcat(many, line);
		}
		open_zone("");
		lab_tell(&(struct lab_page){ "any.example.", TYPE_ANY, .answer = many });
		h = lab_ask_to_the_end("any.example.", TYPE_ANY);
		if (h->security != SECURITY_SECURE || h->answers != rows[i].given)
			fail_msg("%u sets: %u, %d (%s)", rows[i].sets, h->answers, h->security, h->text);
		lab_close();
	}
}

/* KeyTrap (CVE-2023-50387, CVE-2026-11605): whatever is put into an answer, no more than so many checks fail in
 * all for a question, tried again or not (that of the zone's keys is good), its neighbour is validated as ever, and
 * the sig_result is not one on the data. */
static void keytrap_signature_checks_per_query_are_limited(void **state)
{
	(void)state;
	static const struct {
		const char *why, *name;
		uint16_t type;
	} rows[] = {
		{ "a set with false signatures", "set.example.", TYPE_A },
		{ "many sets with false signatures", "any.example.", TYPE_ANY },
		{ "a denial with many proofs that are false", "padded.example.", TYPE_A },
	};
	char many[4096] = "", proofs[4096] = "";

	for (unsigned i = 0; i < 20; i++) {
		char line[128];

		snprintf(line, sizeof(line), "any.example. 300 IN TYPE%u \\# 1 00\n", 65300 + i);
		strcat(many, line);
		snprintf(line, sizeof(line), "n%02u.example. 300 IN NSEC n%02u.example. A RRSIG NSEC\n", i, i + 1);
		strcat(proofs, line);
	}
	for (size_t i = 0; i < COUNT(rows); i++) {
		const struct lab_heard *h;
		unsigned checks;

		open_zone("");
		lab_tell(&(struct lab_page){ "set.example.", TYPE_A, .answer = "set.example. 300 IN A 192.0.2.1",
					     .flaw = LAB_GARBLED_8 });
		lab_tell(&(struct lab_page){ "any.example.", TYPE_ANY, .answer = many, .flaw = LAB_GARBLED_8 });
		lab_tell(&(struct lab_page){ "padded.example.", TYPE_A, RCODE_NXDOMAIN, .authority = proofs,
					     .flaw = LAB_GARBLED_8 });
		h = lab_ask_to_the_end(rows[i].name, rows[i].type);
		checks = lab_checks();
		if (h->security != SECURITY_BOGUS || checks > 33)
			fail_msg("%s: %d after %u checks", rows[i].why, h->security, checks);
		assert_int_equal(lab_ask_to_the_end("mail.example.", TYPE_A)->security, SECURITY_SECURE);
		lab_close();
	}
}

/* A cached set that was never validated: by the keys of a zone with a say, and no other. */
static void a_cached_rrset_is_validated_by_its_own_zone_only(void **state)
{
	(void)state;
	static const struct {
		const char *why, *options, *set;
		unsigned zone;          /* that signs it: 0 is example., 1 sub.example. */
		const char *known;      /* whose keys are, too */
		enum lab_flaw flaw;
		enum security want;
	} rows[] = {
		{ "its own zone", "", "ns.example. 300 IN A 192.0.2.1", 0, "www.example.", LAB_SOUND, SECURITY_SECURE },
		{ "falsely", "", "ns.example. 300 IN A 192.0.2.1", 0, "www.example.", LAB_GARBLED, SECURITY_UNCHECKED },
		{ "not signed", "", "ns.example. 300 IN A 192.0.2.1", 0, "www.example.", LAB_UNSIGNED, SECURITY_UNCHECKED },
		{ "the zone below", "", "ns.sub.example. 300 IN A 192.0.2.1", 1, "www.sub.example.", LAB_SOUND, SECURITY_SECURE },
		{ "the zone above a signed one", "", "ns.sub.example. 300 IN A 192.0.2.1", 0, "www.sub.example.", LAB_SOUND,
		  SECURITY_UNCHECKED },
		{ "the zone above, of the cut itself", "", "sub.example. 300 IN NS ns.sub.example.", 0, "www.sub.example.",
		  LAB_SOUND, SECURITY_UNCHECKED },
		{ "keys not known", "", "ns.sub.example. 300 IN A 192.0.2.1", 1, "www.example.", LAB_SOUND, SECURITY_UNCHECKED },
		{ "the operator says it is not to be validated", "domain-insecure: ns.example\n",
		  "ns.example. 300 IN A 192.0.2.1", 0, "www.example.", LAB_SOUND, SECURITY_UNCHECKED },
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		const struct rrset *set, *got;

		open_zone(rows[i].options);
		lab_zone("sub.example.");
		lab_tell(&(struct lab_page){ "www.sub.example.", TYPE_A, .answer = "www.sub.example. 300 IN A 192.0.2.3" });
		assert_int_equal(lab_ask_to_the_end(rows[i].known, TYPE_A)->security, SECURITY_SECURE);
		set = lab_sign_by(&lab.zones[rows[i].zone], made_set(&lab.arena, lab.env.time->now_s, rows[i].set), NULL,
				  rows[i].flaw);
		got = validator_confirm(&lab.env, set, &lab.arena);
		if (got->security != rows[i].want)
			fail_msg("%s: %d", rows[i].why, got->security);
		assert_int_equal(got != set, rows[i].want == SECURITY_SECURE);
		lab_close();
	}
}

/* Who gives up meanwhile is not told any more. */
static void what_waits_for_its_turn_may_be_dropped(void **state)
{
	(void)state;

	open_zone("val-max-restart: 0\n");
	tell_trap("trap.example.");
	assert_false(lab_ask("trap.example.", TYPE_ANY)->done);
	mesh_drop_all(lab.env.mesh);
	assert_int_equal(mesh_size(lab.env.mesh), 0);
	while (lab_turn())
		;
	lab_close();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_answer_is_as_good_as_its_proofs),
		cmocka_unit_test(validator_options_change_the_result),
		cmocka_unit_test(what_is_bogus_is_asked_again),
		cmocka_unit_test(failed_checks_are_paid_for),
		cmocka_unit_test(a_check_is_made_once),
		cmocka_unit_test(who_waits_for_the_same_keys_lets_one_check_them),
		cmocka_unit_test(costly_answers_let_others_go_first),
		cmocka_unit_test(costly_answers_take_turns),
		cmocka_unit_test(of_an_answer_to_any_24_sets_are_validated_and_given),
		cmocka_unit_test(keytrap_signature_checks_per_query_are_limited),
		cmocka_unit_test(a_cached_rrset_is_validated_by_its_own_zone_only),
		cmocka_unit_test(what_waits_for_its_turn_may_be_dropped),
	};

	return cmocka_run_group_tests_name("validator", tests, NULL, NULL);
}
