/* Claims about what the validator makes of what it found: what is kept, counted and logged.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "validator/validator.h"

#include "services/query/query.h"
#include "util/base/log.h"
#include "validator/checked_sigs.h"
#include "validator/tests/lab.h"

#define SOA "example. 300 IN SOA ns.example. admin.example. 1 3600 900 86400 300\n"

static void open_zone(const char *options)
{
	lab_open(options);
	lab_tell(&(struct lab_page){ "www.example.", TYPE_A, .answer = "www.example. 300 IN A 192.0.2.80" });
	lab_tell(&(struct lab_page){ "garbled.example.", TYPE_A, .answer = "garbled.example. 300 IN A 192.0.2.1",
				     .flaw = LAB_GARBLED });
}

/* ---- what is kept ---- */

static const struct rrset *cached(const char *name, uint16_t type)
{
	return rrsetcache_find(lab.env.rrsets, N(name), type, CLASS_IN, 0, lab.env.time->now_s);
}

/* What was cached unchecked stays so, but for what was found bogus: it goes, and it alone. */
static void of_a_bogus_answer_only_the_bogus_set_is_counted_and_goes(void **state)
{
	(void)state;
	const struct message *m;

	open_zone("val-max-restart: 0\n");
	lab_tell(&(struct lab_page){ "mixed.example.", TYPE_ANY,
				     .answer = "mixed.example. 300 IN A 192.0.2.80\n"
					       "mixed.example. 300 IN TXT \"one\"\n"
					       "mixed.example. 300 IN MX 1 mx.example." });
	lab_sign_page((const int[]){ LAB_AS_IT_IS, LAB_FALSE, LAB_AS_IT_IS }, 3);
	m = &lab.pages[lab.page_count - 1].m;
	for (unsigned i = 0; i < 3; i++)
		(void)rrsetcache_put(lab.env.rrsets, m->sets[i], lab.env.time->now_s, &lab.arena);
	assert_int_equal(lab_ask_to_the_end("mixed.example.", TYPE_ANY)->security, SECURITY_BOGUS);
	assert_int_equal(atomic_load(&lab.stats.rrset_bogus), 1);
	assert_non_null(cached("mixed.example.", TYPE_A));
	assert_int_equal(cached("mixed.example.", TYPE_A)->security, SECURITY_UNCHECKED);
	assert_non_null(cached("mixed.example.", TYPE_MX));
	assert_null(cached("mixed.example.", TYPE_TXT));
	lab_close();
}

/* What was cached unchecked is replaced by what is proven: also what a wildcard has made, as the whole answer is. Nothing is, by
 * what is not to be stored. */
static void of_a_secure_answer_all_that_was_cached_becomes_secure(void **state)
{
	(void)state;
	static const struct lab_purse poor = { .type = TYPE_A, .signatures = -1, .good_signatures = -1, .hashes = -1, .poor = true };
	static const char *const names[] = { "x.w.example.", "www.example." };

	for (unsigned is_poor = 0; is_poor < 2; is_poor++) {
		open_zone("");
		lab_tell(&(struct lab_page){ "x.w.example.", TYPE_A, .answer = "x.w.example. 300 IN A 192.0.2.9", .wildcard = "*.w.example.",
					     .authority = "*.w.example. 300 IN NSEC www.example. A RRSIG NSEC" });
		lab.purse = is_poor ? &poor : NULL;
		for (size_t i = 0; i < COUNT(names); i++) {
			(void)rrsetcache_put(lab.env.rrsets, lab_set(names[i], TYPE_A), lab.env.time->now_s, &lab.arena);
			assert_int_equal(cached(names[i], TYPE_A)->security, SECURITY_UNCHECKED);
			assert_int_equal(lab_ask_to_the_end(names[i], TYPE_A)->security, SECURITY_SECURE);
			assert_int_equal(cached(names[i], TYPE_A)->security, is_poor ? SECURITY_UNCHECKED : SECURITY_SECURE);
		}
		lab_close();
	}
}

/* What explains a bogus answer best is that something was removed from it. */
static void what_was_removed_explains_a_bogus_answer(void **state)
{
	(void)state;
	static const struct {
		const char *name;
		enum reason before, after;
	} rows[] = {
		{ "garbled.example.", REASON_other, REASON_other },
		{ "garbled.example.", REASON_stale, REASON_sig_wrong },
		{ "garbled.example.", REASON_none, REASON_sig_wrong },
		{ "www.example.", REASON_other, REASON_none },
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		open_zone("val-max-restart: 0\n");
		for (unsigned n = 0; n < lab.page_count; n++)
			if (lab.pages[n].m.q.type == TYPE_A)
				lab.pages[n].m.reason = rows[i].before;
		assert_int_equal(lab_ask_to_the_end(rows[i].name, TYPE_A)->reason, rows[i].after);
		lab_close();
	}
}

/* ---- what is not ours ---- */

static void of_another_class_nothing_is_validated(void **state)
{
	(void)state;
	static const struct {
		uint16_t class_;
		enum security want;
	} rows[] = { { CLASS_IN, SECURITY_INDETERMINATE }, { CLASS_CH, SECURITY_UNCHECKED } };

	open_zone("");
	for (size_t i = 0; i < COUNT(rows); i++) {
		struct question q = made_question("nowhere.example.", TYPE_A);
		struct lab_heard heard = { .done = false };

		q.class_ = rows[i].class_;
		mesh_resolve(lab.env.mesh, &q, 0, lab_hear, &heard);
		assert_true(heard.done);
		assert_int_equal(heard.security, rows[i].want);
	}
	lab_close();
}

/* RFC 8509 2.1: two labels with five digits, addresses, and nothing that only looks like one. */
static void a_sentinel_tells_which_key_is_trusted(void **state)
{
	(void)state;
	static const struct {
		const char *name;
		uint16_t type;
		bool withheld;
	} rows[] = {
		{ "root-key-sentinel-is-ta-04711.example.", TYPE_A, false },
		{ "root-key-sentinel-is-ta-04712.example.", TYPE_A, true },
		{ "root-key-sentinel-is-ta-04712.example.", TYPE_AAAA, true },
		{ "root-key-sentinel-is-ta-04712.example.", TYPE_TXT, false },
		{ "Root-Key-Sentinel-IS-ta-04712.example.", TYPE_A, true },
		{ "root-key-sentinel-not-ta-04711.example.", TYPE_A, true },
		{ "root-key-sentinel-not-ta-04712.example.", TYPE_A, false },
		{ "root-key-sentinel-is-ta-65535.example.", TYPE_A, true },
		{ "root-key-sentinel-is-ta-65536.example.", TYPE_A, false },
		{ "root-key-sentinel-is-ta-99999.example.", TYPE_A, false },
		{ "root-key-sentinel-is-ta-00000.example.", TYPE_A, true },
		{ "root-key-sentinel-is-ta-4712.example.", TYPE_A, false },
		{ "root-key-sentinel-is-ta-004712.example.", TYPE_A, false },
		{ "root-key-sentinel-is-ta-04712x.example.", TYPE_A, false },
		{ "root-key-sentinel-is-ta-0471x.example.", TYPE_A, false },
		{ "root-key-sentinel-is-ta-0471:.example.", TYPE_A, false },
		{ "root-key-sentinel-is-ta-/4712.example.", TYPE_A, false },
		{ "root-key-sentinel-is-tb-04712.example.", TYPE_A, false },
		{ "a.root-key-sentinel-is-ta-04712.example.", TYPE_A, false },
		{ "04712.example.", TYPE_A, false },
	};

	for (unsigned on = 0; on < 2; on++) {
		open_zone(on ? "trust-anchor: \". DS 4711 8 2 0011223344556677889900112233445566778899001122334455667788990011\"\n"
			     : "root-key-sentinel: no\n");
		for (size_t i = 0; i < COUNT(rows); i++) {
			static const char *const data[] = { "A 192.0.2.1", "AAAA 2001:db8::1", "TXT \"x\"" };
			unsigned which = rows[i].type == TYPE_A ? 0 : rows[i].type == TYPE_AAAA ? 1 : 2;
			const struct lab_heard *h;
			char line[200], lower[100];

			snprintf(lower, sizeof(lower), "%s", rows[i].name);
			for (char *at = lower; *at; at++)
				*at = (char)(*at >= 'A' && *at <= 'Z' ? *at + 32 : *at);
			snprintf(line, sizeof(line), "%s 300 IN %s", lower, data[which]);
			lab_tell(&(struct lab_page){ lower, rows[i].type, .answer = line });
			h = lab_ask_to_the_end(rows[i].name, rows[i].type);
			if (h->rcode != (on && rows[i].withheld ? RCODE_SERVFAIL : RCODE_NOERROR) || h->answers != !(on && rows[i].withheld))
				fail_msg("%s, %u: rcode %u", rows[i].name, rows[i].type, h->rcode);
			assert_int_equal(h->reason, on && rows[i].withheld ? REASON_bogus : REASON_none);
		}
		lab_close();
	}
}

/* ---- what is counted ---- */

/* The work that hashes make counts as signature checks do, 50 hashes as 8 checks, so that a turn has a share of both: here one for
 * each name between the one that is not there and its closest encloser, at the least. */
static void hashes_count_beside_checks(void **state)
{
	(void)state;
	static const struct { const char *name; unsigned least, most; } rows[] = {
		{ "a.example.", 0, 1 },
		{ "a.b.c.d.e.f.g.h.i.j.k.l.m.n.o.p.q.r.s.t.u.v.w.x.y.z.a.example.", 4, 8 },
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		unsigned parameters = 1u << 24, work;
		char *proofs;

		open_zone("");
		proofs = mem_textf("%s%s%s%s", SOA, lab_nsec3("example.", "example.", false, parameters, "SOA RRSIG DNSKEY NSEC3PARAM"),
				   lab_nsec3("example.", "a.example.", true, parameters, "A RRSIG"),
				   lab_nsec3("example.", "*.example.", true, parameters, "A RRSIG"));
		lab_tell(&(struct lab_page){ rows[i].name, TYPE_A, RCODE_NXDOMAIN, .authority = proofs });
		mem_free(proofs);
		assert_int_equal(lab_ask_to_the_end("www.example.", TYPE_A)->security, SECURITY_SECURE);
		work = lab.env.checks - lab_checks();
		assert_int_equal(lab_ask_to_the_end(rows[i].name, TYPE_A)->security, SECURITY_SECURE);
		work = lab.env.checks - lab_checks() - work;
		if (work < rows[i].least || work > rows[i].most)
			fail_msg("%s: as %u checks", rows[i].name, work);
		lab_close();
	}
}

/* ---- what is logged ---- */

static char logged[512];
static unsigned lines;

static void take_line(const char *line, void *arg)
{
	(void)arg;
	lines++;
	snprintf(logged, sizeof(logged), "%s", line);
}

static void a_failure_is_logged_as_the_option_says(void **state)
{
	(void)state;
	static const struct {
		const char *options;
		unsigned lines;
		const char *text, *not_text;
	} rows[] = {
		{ "val-log-level: 0\n", 0, NULL, NULL },
		{ "val-log-level: 1\n", 1, "validation failure garbled.example. A IN", LAB_SERVER },
		{ "val-log-level: 2\n", 1, "validation failure <garbled.example. A IN>", NULL },
		{ "val-log-level: 2\n", 1, "from " LAB_SERVER, NULL },
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		char *options = mem_textf("val-max-restart: 0\n%s", rows[i].options);

		open_zone(options);
		lines = 0;
		log_capture(take_line, NULL);
		assert_int_equal(lab_ask_to_the_end("www.example.", TYPE_A)->security, SECURITY_SECURE);
		assert_int_equal(lines, 0);
		assert_int_equal(lab_ask_to_the_end("garbled.example.", TYPE_A)->security, SECURITY_BOGUS);
		log_capture(NULL, NULL);
		if (lines != rows[i].lines || (rows[i].text && !strstr(logged, rows[i].text)) ||
		    (rows[i].not_text && strstr(logged, rows[i].not_text)))
			fail_msg("%s: %u lines, '%s'", rows[i].options, lines, logged);
		lab_close();
		mem_free(options);
	}
}

/* ---- what others ask it ---- */

/* Keys are fetched ahead (prefetch-key) where a chain of trust leads to the DS RRset, as far as is known. */
static void keys_are_needed_below_what_is_secure_or_not_known(void **state)
{
	(void)state;
	static const struct {
		const char *why, *options, *ds, *known;
		enum key_kind kind;
		bool needed;
	} rows[] = {
		{ "nothing is known on the way", "", "a.b.example.", NULL, KEYS_NONE, true },
		{ "no cut on the way", "", "a.b.example.", "b.example.", KEYS_NO_CUT, true },
		{ "an unsigned zone on the way", "", "a.b.example.", "b.example.", KEYS_NONE, false },
		{ "a bogus zone on the way", "", "a.b.example.", "b.example.", KEYS_BOGUS, true },
		{ "an unsigned zone beside the way", "", "a.b.example.", "c.example.", KEYS_NONE, true },
		{ "what is known of the name itself", "", "b.example.", "b.example.", KEYS_NONE, true },
		{ "no anchor", "", "a.elsewhere.", NULL, KEYS_NONE, false },
		{ "by the operator's word", "domain-insecure: b.example\n", "a.b.example.", NULL, KEYS_NONE, false },
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		char *text = mem_textf("%s 300 IN DS 1 15 2 "
				       "00112233445566778899aabbccddeeff00112233445566778899aabbccddeeff", rows[i].ds);
		struct query q;

		open_zone(rows[i].options);
		q = (struct query){ .env = &lab.env, .snapshot = lab.snapshot, .cache.keys = lab.env.keys };
		if (rows[i].known)
			keycache_put(lab.env.keys, &(struct key_news){ .name = N(rows[i].known), .kind = rows[i].kind, .ttl_s = 60 },
				     lab.env.time->now_s);
		if (lab.env.needs_keys(&q, made_set(&lab.arena, lab.env.time->now_s, text)) != rows[i].needed)
			fail_msg("%s", rows[i].why);
		lab_close();
		mem_free(text);
	}
}

/* The mesh may take a validator without children and turns to come for one that is stuck. */
static void it_waits_for_nothing_the_mesh_does_not_know(void **state)
{
	(void)state;
	assert_false(validator_module.waits(NULL));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(of_a_bogus_answer_only_the_bogus_set_is_counted_and_goes),
		cmocka_unit_test(of_a_secure_answer_all_that_was_cached_becomes_secure),
		cmocka_unit_test(what_was_removed_explains_a_bogus_answer),
		cmocka_unit_test(of_another_class_nothing_is_validated),
		cmocka_unit_test(a_sentinel_tells_which_key_is_trusted),
		cmocka_unit_test(hashes_count_beside_checks),
		cmocka_unit_test(a_failure_is_logged_as_the_option_says),
		cmocka_unit_test(keys_are_needed_below_what_is_secure_or_not_known),
		cmocka_unit_test(it_waits_for_nothing_the_mesh_does_not_know),
	};

	return cmocka_run_group_tests_name("conclusions", tests, NULL, NULL);
}
