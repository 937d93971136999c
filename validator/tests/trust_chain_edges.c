/* Claims about the chain of trust where a set cannot be had or does not hold: what follows, for which zone, and what is kept.
 * SPDX-License-Identifier: BSD-3-Clause */
#include <unistd.h>

#include "validator/tests/lab.h"
#include "validator/trust_chain.h"

static void tell_sub(void)
{
	lab_zone("sub.example.");
	lab_tell(&(struct lab_page){ "www.example.", TYPE_A, .answer = "www.example. 300 IN A 192.0.2.1" });
	lab_tell(&(struct lab_page){ "www.sub.example.", TYPE_A, .answer = "www.sub.example. 300 IN A 192.0.2.1" });
}

static struct message *page_of(const char *name, uint16_t type)
{
	for (unsigned i = 0; i < lab.page_count; i++)
		if (lab.pages[i].m.q.type == type && dname_equals(lab.pages[i].m.q.name, N(name)))
			return &lab.pages[i].m;
	fail_msg("no page for %s", name);
	return NULL;
}

/* harden-dnssec-stripped: no is about the zones of anchors alone; of a zone with a DS set the keys have to be there. */
static void a_zone_with_a_ds_set_has_keys_whatever_is_preferred(void **state)
{
	(void)state;
	enum { GARBLED, NO_KEYS, UNHEARD };
	static const struct {
		const char *zone;
		int how;
		const char *harden;
		enum security want;
		const char *says;
	} rows[] = {
		{ "sub.example.", GARBLED, "no", SECURITY_BOGUS, "sub.example. DNSKEY: " },
		{ "sub.example.", NO_KEYS, "no", SECURITY_BOGUS, "sub.example. has no DNSKEY RRset" },
		{ "sub.example.", UNHEARD, "no", SECURITY_BOGUS, "sub.example. DNSKEY RRset could not be fetched: all is quiet" },
		{ "example.", GARBLED, "no", SECURITY_INSECURE, "" },
		{ "example.", NO_KEYS, "no", SECURITY_INSECURE, "" },
		{ "example.", UNHEARD, "no", SECURITY_INSECURE, "" },
		{ "example.", GARBLED, "yes", SECURITY_BOGUS, "example. DNSKEY: " },
		{ "example.", NO_KEYS, "yes", SECURITY_BOGUS, "example. has no DNSKEY RRset" },
		{ "example.", UNHEARD, "yes", SECURITY_BOGUS, "example. DNSKEY RRset could not be fetched: all is quiet" },
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		const struct lab_heard *h;
		char options[80];
		struct message *m;

		snprintf(options, sizeof(options), "val-max-restart: 0\nharden-dnssec-stripped: %s\n", rows[i].harden);
		lab_open(options);
		tell_sub();
		m = page_of(rows[i].zone, TYPE_DNSKEY);
		if (rows[i].how == GARBLED)
			m->sets[0] = lab_sign(lab_with_sigs(m->sets[0], NULL, 0), NULL, LAB_GARBLED);
		else
			m->count[SECTION_ANSWER] = 0;
		if (rows[i].how == UNHEARD) {
			m->rcode = RCODE_SERVFAIL;
			m->reason_text = "all is quiet";
		}
		h = lab_ask_to_the_end("www.sub.example.", TYPE_A);
		if (h->security != rows[i].want || (rows[i].want == SECURITY_BOGUS && strncmp(h->text, rows[i].says, strlen(rows[i].says))))
			fail_msg("row %zu: %d (%s)", i, h->security, h->text);
		lab_close();
	}
}

/* Where no server has said why, the reason is. */
static void what_cannot_be_had_says_why(void **state)
{
	(void)state;
	const struct lab_heard *h;
	struct message *m;
	char want[200];

	lab_open("val-max-restart: 0\n");
	tell_sub();
	m = page_of("sub.example.", TYPE_DS);
	m->count[SECTION_ANSWER] = 0;
	m->rcode = RCODE_SERVFAIL;
	m->reason = REASON_no_reachable;
	h = lab_ask_to_the_end("www.sub.example.", TYPE_A);
	snprintf(want, sizeof(want), "sub.example. DS RRset could not be fetched: %s", reason_text(REASON_no_reachable));
	assert_string_equal(h->text, want);
	lab_close();
}

/* Only what is asked for again has to come from a server, and only from one that has not failed before. */
static void what_failed_is_asked_of_others(void **state)
{
	(void)state;
	lab_open("val-max-restart: 3\n");
	tell_sub();
	lab_zone("a.sub.example.");
	lab_tell(&(struct lab_page){ "www.a.sub.example.", TYPE_A, .answer = "www.a.sub.example. 300 IN A 192.0.2.1" });
	assert_int_equal(lab_ask_to_the_end("www.a.sub.example.", TYPE_A)->security, SECURITY_SECURE);
	assert_int_equal(lab_asked_for(TYPE_DS, ""), 2);
	for (unsigned i = 0; i < lab.asked; i++)
		assert_int_equal(lab.asks[i].kind & QUERY_NO_CACHE, 0);
	lab_close();
	lab_open("val-max-restart: 3\n");
	tell_sub();
	lab_retell_set(lab_sign(lab_with_sigs(lab_set("sub.example.", TYPE_DS), NULL, 0), NULL, LAB_GARBLED));
	assert_int_equal(lab_ask_to_the_end("www.sub.example.", TYPE_A)->security, SECURITY_BOGUS);
	assert_int_equal(lab_asked_for(TYPE_DS, ""), 4);
	for (unsigned i = 0, before = 0; i < lab.asked; i++) {
		if (lab.asks[i].type != TYPE_DS)
			continue;
		assert_int_equal(lab.asks[i].avoided, before);
		assert_int_equal(lab.asks[i].avoided_ours, before);
		assert_int_equal((lab.asks[i].kind & QUERY_NO_CACHE) != 0, before != 0);
		before++;
	}
	lab_close();
	lab_open("val-max-restart: 3\n");
	lab_tell(&(struct lab_page){ "www.example.", TYPE_A, .answer = "www.example. 300 IN A 192.0.2.1", .flaw = LAB_GARBLED });
	assert_int_equal(lab_ask_to_the_end("www.example.", TYPE_A)->security, SECURITY_BOGUS);
	assert_int_equal(lab_asked_for(TYPE_A, ""), 4);
	for (unsigned i = 0, before = 0; i < lab.asked; i++) {
		if (lab.asks[i].type != TYPE_A)
			continue;
		assert_int_equal(lab.asks[i].avoided, before);
		assert_int_equal(lab.asks[i].avoided_ours, before);
		before++;
	}
	lab_close();
}

/* What is cached is confirmed by its signature, but no set that a wildcard made: the proof is not there. */
static void what_a_wildcard_made_is_not_confirmed(void **state)
{
	(void)state;
	for (unsigned expanded = 0; expanded < 2; expanded++) {
		const struct rrset *set;

		lab_open("val-max-restart: 0\n");
		tell_sub();
		lab_ask_to_the_end("www.example.", TYPE_A);
		set = lab_sign(made_set(&lab.arena, lab.env.time->now_s, "x.w.example. 300 IN NS ns.example."), expanded ? "*.w.example." : NULL,
			       LAB_SOUND);
		assert_int_equal(validator_confirm(&lab.env, set, &lab.arena)->security, expanded ? SECURITY_UNCHECKED : SECURITY_SECURE);
		set = lab_sign(made_set(&lab.arena, lab.env.time->now_s, "x.w.example. 300 IN NS ns.example."), NULL, LAB_GARBLED);
		assert_int_equal(validator_confirm(&lab.env, set, &lab.arena)->security, SECURITY_UNCHECKED);
		lab_close();
	}
}

/* A denial that was proven serves other names, unless its answer is for nobody else. */
static void a_denial_serves_other_names(void **state)
{
	(void)state;
	for (unsigned poor = 0; poor < 2; poor++) {
		const struct lab_purse purse = { TYPE_A, -1, -1, -1, poor, false };

		lab_open("val-max-restart: 0\n");
		lab_tell(&(struct lab_page){ "b.example.", TYPE_DS, .authority = "b.example. 300 IN NSEC c.example. A RRSIG NSEC\n"
											 "m.example. 300 IN NSEC y.example. NS RRSIG NSEC" });
		for (unsigned i = 0; i < 2; i++)
			lab_tell(&(struct lab_page){ i ? "m.example." : "b.example.", TYPE_A, .flaw = LAB_UNSIGNED,
						     .answer = i ? "m.example. 300 IN A 192.0.2.1" : "b.example. 300 IN A 192.0.2.1" });
		lab.purse = &purse;
		assert_int_equal(lab_ask_to_the_end("b.example.", TYPE_A)->reason, REASON_rrsigs_missing);
		assert_int_equal(lab_asked_for(TYPE_DS, ""), 1);
		assert_int_equal(lab_ask_to_the_end("m.example.", TYPE_A)->security, poor ? SECURITY_BOGUS : SECURITY_INSECURE);
		assert_int_equal(lab_asked_for(TYPE_DS, "m.example."), poor);
		lab_close();
	}
}

/* So does a denial that was asked for. */
static void an_answer_for_nobody_else_teaches_nothing(void **state)
{
	(void)state;
	for (unsigned poor = 0; poor < 2; poor++) {
		const struct lab_purse purse = { TYPE_A, -1, -1, -1, poor, false };
		struct aggressive_ask ask = { .now_s = 0 };
		struct question q = made_question("m.example.", TYPE_A);

		lab_open("val-max-restart: 0\n");
		lab_tell(&(struct lab_page){ "k.example.", TYPE_A, RCODE_NXDOMAIN,
					     .authority = "example. 300 IN SOA ns.example. admin.example. 1 3600 900 86400 300\n"
							  "j.example. 300 IN NSEC z.example. A RRSIG NSEC\n"
							  "example. 300 IN NSEC b.example. SOA RRSIG NSEC DNSKEY" });
		lab.purse = &purse;
		assert_int_equal(lab_ask_to_the_end("k.example.", TYPE_A)->security, SECURITY_SECURE);
		ask = (struct aggressive_ask){ .q = &q, .rrsets = lab.env.rrsets, .arena = &lab.arena, .now_s = lab.env.time->now_s,
					       .within = N("example.") };
		assert_int_equal(aggressive_answer(lab.env.negative, &ask) == NULL, poor);
		lab_close();
	}
}

/* Of what comes with a denial its proofs are checked, and not more of them than are looked at. */
static void a_denial_costs_the_checks_of_its_proofs(void **state)
{
	(void)state;
	for (unsigned proofs = 0; proofs <= DENIAL_SETS + 2; proofs++) {
		char text[2048] = "example. 300 IN SOA ns.example. admin.example. 1 3600 900 86400 300\n", line[80];
		unsigned before;

		for (unsigned i = 0; i < proofs; i++) {
			snprintf(line, sizeof(line), "a%02u.example. 300 IN NSEC b%02u.example. A RRSIG NSEC\n", i, i);
			strcat(text, line);
		}
		lab_open("val-max-restart: 0\n");
		lab_tell(&(struct lab_page){ "www.example.", TYPE_A, .answer = "www.example. 300 IN A 192.0.2.1" });
		lab_tell(&(struct lab_page){ "m.example.", TYPE_A, .answer = "m.example. 300 IN A 192.0.2.1", .flaw = LAB_UNSIGNED });
		lab_tell(&(struct lab_page){ "m.example.", TYPE_DS, .authority = text });
		lab_ask_to_the_end("www.example.", TYPE_A);
		before = lab_checks();
		assert_int_equal(lab_ask_to_the_end("m.example.", TYPE_A)->security, SECURITY_BOGUS);
		if (lab_checks() - before != MIN(proofs, DENIAL_SETS))
			fail_msg("%u proofs: %u checks", proofs, lab_checks() - before);
		lab_close();
	}
}

/* A DS set in the cache is checked when there is room for it; false, it is gone. */
static void a_ds_set_in_the_cache_is_checked(void **state)
{
	(void)state;
	for (unsigned flaw = 0; flaw < 2; flaw++) {
		struct lab_heard *h;
		struct message *m;

		lab_open("val-max-restart: 0\n");
		tell_sub();
		lab_tell(&(struct lab_page){ "trap.example.", TYPE_A, .answer = "trap.example. 300 IN A 192.0.2.1",
					     .flaw = LAB_GARBLED_8 });
		lab_ask_to_the_end("www.example.", TYPE_A);
		m = page_of("sub.example.", TYPE_DS);
		(void)rrsetcache_put(lab.env.rrsets, lab_sign(lab_with_sigs(m->sets[0], NULL, 0), NULL, flaw ? LAB_GARBLED : LAB_SOUND),
				     lab.env.time->now_s, &lab.arena);
		m->count[SECTION_ANSWER] = 0;
		m->rcode = RCODE_SERVFAIL;
		lab_turn();
		assert_true(lab_ask("trap.example.", TYPE_A)->done);
		h = lab_ask("www.sub.example.", TYPE_A);
		assert_false(h->done);
		assert_int_equal(lab_asked_for(TYPE_DS, "sub.example."), 0);
		while (!h->done)
			assert_true(lab_turn());
		assert_int_equal(h->security, flaw ? SECURITY_BOGUS : SECURITY_SECURE);
		assert_int_equal(lab_asked_for(TYPE_DS, "sub.example."), flaw);
		assert_int_equal(rrsetcache_find(lab.env.rrsets, N("sub.example."), TYPE_DS, CLASS_IN, 0, lab.env.time->now_s) == NULL,
				 flaw);
		lab_close();
	}
}

/* A name that a policy zone hides from all clients has no DS set for anybody: what is below counts as unsigned. */
static void no_chain_passes_a_name_that_a_policy_hides(void **state)
{
	(void)state;
	static const struct {
		const char *rule;
		enum security want;
	} rows[] = {
		{ "sub.example CNAME .\n", SECURITY_INSECURE },
		{ "sub.example CNAME rpz-passthru.\n", SECURITY_SECURE },
		{ "other.example CNAME .\n", SECURITY_SECURE },
		{ "example CNAME .\n", SECURITY_SECURE }, /* trust begins there */
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		char path[] = "/tmp/chain-policy-XXXXXX", options[200];
		int fd = mkstemp(path);
		FILE *file = fdopen(fd, "w");
		const struct lab_heard *h;

		assert_non_null(file);
		fprintf(file, "$ORIGIN policy.test.\n@ 60 IN SOA a. b. 1 2 3 4 5\n$TTL 60\n%s", rows[i].rule);
		assert_int_equal(fclose(file), 0);
		snprintf(options, sizeof(options), "val-max-restart: 0\nrpz:\nname: policy.test\nzonefile: \"%s\"\n", path);
		lab_open(options);
		unlink(path);
		tell_sub();
		h = lab_ask_to_the_end("www.sub.example.", TYPE_A);
		if (h->security != rows[i].want)
			fail_msg("%s: %d (%s)", rows[i].rule, h->security, h->text);
		lab_close();
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_zone_with_a_ds_set_has_keys_whatever_is_preferred),
		cmocka_unit_test(what_cannot_be_had_says_why),
		cmocka_unit_test(what_failed_is_asked_of_others),
		cmocka_unit_test(what_a_wildcard_made_is_not_confirmed),
		cmocka_unit_test(a_denial_serves_other_names),
		cmocka_unit_test(an_answer_for_nobody_else_teaches_nothing),
		cmocka_unit_test(a_denial_costs_the_checks_of_its_proofs),
		cmocka_unit_test(a_ds_set_in_the_cache_is_checked),
		cmocka_unit_test(no_chain_passes_a_name_that_a_policy_hides),
	};

	return cmocka_run_group_tests_name("trust_chain_edges", tests, NULL, NULL);
}
