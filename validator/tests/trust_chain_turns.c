/* Claims about the way down to a zone's keys when it costs more than a turn or a budget has, and what is told on the way.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "validator/trust_chain.h"

#include <unistd.h>

#include "services/policy/views.h"
#include "util/base/fault.h"
#include "validator/tests/lab.h"

/* The page, which from now on comes when lab_deliver says so. */
static struct message *slow_page(const char *name, uint16_t type)
{
	for (unsigned i = 0; i < lab.page_count; i++)
		if (lab.pages[i].m.q.type == type && dname_equals(lab.pages[i].m.q.name, N(name))) {
			lab.pages[i].page.slow = true;
			return &lab.pages[i].m;
		}
	fail_msg("no page for %s", name);
	return NULL;
}

static void tell_names(void)
{
	lab_zone("sub.example.");
	lab_tell(&(struct lab_page){ "www.example.", TYPE_A, .answer = "www.example. 300 IN A 192.0.2.1" });
	lab_tell(&(struct lab_page){ "www.sub.example.", TYPE_A, .answer = "www.sub.example. 300 IN A 192.0.2.1" });
	/* no zone begins at these: an alias says so, and a denial */
	lab_tell(&(struct lab_page){ "n.sub.example.", TYPE_DS, .answer = "n.sub.example. 300 IN CNAME www.example." });
	lab.pages[lab.page_count - 1].m.sets[0] =
		lab_sign_by(&lab.zones[1], lab_with_sigs(lab.pages[lab.page_count - 1].m.sets[0], NULL, 0), NULL, LAB_SOUND);
	lab_tell(&(struct lab_page){ "m.sub.example.", TYPE_DS, .below = true,
				     .authority = "m.sub.example. 300 IN NSEC z.sub.example. A RRSIG NSEC" });
	for (unsigned i = 0; i < 2; i++) {
		char text[60];

		snprintf(text, sizeof(text), "%c.sub.example. 300 IN A 192.0.2.1", "nm"[i]);
		lab_tell(&(struct lab_page){ i ? "m.sub.example." : "n.sub.example.", TYPE_A, .answer = text, .flaw = LAB_UNSIGNED });
	}
	lab_tell(&(struct lab_page){ "trap.example.", TYPE_A, .answer = "trap.example. 300 IN A 192.0.2.1",
				     .flaw = LAB_GARBLED_8 });
}

/* A turn whose checks are made sends nothing out for the chain of trust, and validates nothing that comes for it. */
static void what_comes_when_the_turn_is_full_waits_for_the_next(void **state)
{
	(void)state;
	static const struct {
		const char *name;
		uint16_t type;
	} rows[] = { { "sub.example.", TYPE_DNSKEY }, { "sub.example.", TYPE_DS }, { "n.sub.example.", TYPE_DS },
		     { "m.sub.example.", TYPE_DS } };

	for (size_t i = 0; i < COUNT(rows); i++) {
		struct lab_heard *h, *trap;
		unsigned before, asked;

		lab_open("val-max-restart: 0\n");
		tell_names();
		lab_ask_to_the_end("www.example.", TYPE_A);
		slow_page(rows[i].name, rows[i].type);
		h = lab_ask(*rows[i].name == 's' ? "www.sub.example." : rows[i].name, TYPE_A);
		while (lab.waiting_count == 0)
			assert_true(lab_turn());
		assert_int_equal(lab.waiting_count, 1);
		trap = lab_ask("trap.example.", TYPE_A);
		before = lab_checks();
		asked = lab.asked;
		assert_true(trap->done);
		lab_deliver();
		assert_false(h->done);
		assert_int_equal(lab_checks(), before);
		assert_int_equal(lab.asked, asked);
		assert_true(lab_turn());
		assert_true(h->done);
		assert_int_equal(h->security, *rows[i].name == 's' ? SECURITY_SECURE : SECURITY_BOGUS);
		lab_close();
	}
}

/* An answer of which the first set has used up the turn: for the next, nothing is asked before the next turn. */
static void a_full_turn_sends_nothing_out(void **state)
{
	(void)state;
	struct lab_heard *h;

	lab_open("val-max-restart: 0\n");
	tell_names();
	lab_tell(&(struct lab_page){ "a.example.", TYPE_A, .flaw = LAB_GARBLED_8,
				     .answer = "a.example. 300 IN CNAME b.sub.example.\nb.sub.example. 300 IN A 192.0.2.1" });
	lab_ask_to_the_end("www.example.", TYPE_A);
	lab.asked = 0;
	h = lab_ask("a.example.", TYPE_A);
	assert_false(h->done);
	assert_int_equal(lab.asked, 1);
	assert_true(lab_turn());
	assert_true(lab.asked > 1);
	while (!h->done)
		assert_true(lab_turn());
	assert_int_equal(h->security, SECURITY_BOGUS);
	assert_int_equal(lab_asked_for(TYPE_DS, "sub.example."), 1);
	lab_close();
}

/* RFC 8145 5.1: which keys of the anchor are known is told its zone once for a question that asks for its keys. */
static void rfc8145_key_tags_are_signaled_to_the_anchors_zone(void **state)
{
	(void)state;
	static const struct {
		const char *why, *options;
		unsigned more;          /* anchors beside the one there is */
		unsigned told;
	} rows[] = {
		{ "it is not wanted", "trust-anchor-signaling: no\n", 0, 0 },
		{ "one key", "trust-anchor-signaling: yes\n", 0, 1 },
		{ "two", "trust-anchor-signaling: yes\n", 1, 1 },
		{ "as many as a label holds", "trust-anchor-signaling: yes\n", 10, 1 },
		{ "one more", "trust-anchor-signaling: yes\n", 11, 0 },
		{ "more than are looked at", "trust-anchor-signaling: yes\n", 40, 0 },
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		struct fault f = { .set = false };
		char want[400] = "_ta", *at = want + 3;
		unsigned own;

		lab_open(rows[i].options);
		tell_names();
		own = get_u16(lab.zones[0].ds);
		for (unsigned n = 0; n <= rows[i].more; n++) {
			char anchor[160];

			if (n == rows[i].more)
				at += sprintf(at, "-%04x", own);
			if (n == rows[i].more)
				break;
			/* tags below that of the key, in their order */
			assert_true(own > 40);
			snprintf(anchor, sizeof(anchor), "example. DS %u 15 2 %064u", n, n);
			assert_true(anchors_add_text(lab.snapshot->trust->anchors, anchor, &f));
			at += sprintf(at, "-%04x", n);
		}
		strcpy(at, ".example.");
		assert_int_equal(lab_ask_to_the_end("www.sub.example.", TYPE_A)->security, SECURITY_SECURE);
		lab_ask_to_the_end("www.example.", TYPE_A);
		if (lab_asked_for(TYPE_NULL, "") != rows[i].told || (rows[i].told && lab_asked_for(TYPE_NULL, want) != 1))
			fail_msg("%s: told %u times, not %s", rows[i].why, lab_asked_for(TYPE_NULL, ""), want);
		lab_close();
	}
}

/* Nor for the keys of another anchor. */
static void a_full_turn_asks_for_no_anchors_keys(void **state)
{
	(void)state;
	struct fault f = { .set = false };
	struct lab_heard *h;
	struct lab_zone *z;
	char anchor[160];
	size_t len;

	lab_open("val-max-restart: 0\n");
	tell_names();
	z = lab_zone("test.");
	len = (size_t)snprintf(anchor, sizeof(anchor), "test. DS %u 15 2 ", get_u16(z->ds));
	for (unsigned n = 0; n < 32; n++)
		len += (size_t)snprintf(anchor + len, sizeof(anchor) - len, "%02x", z->ds[4 + n]);
	assert_true(anchors_add_text(lab.snapshot->trust->anchors, anchor, &f));
	lab_tell(&(struct lab_page){ "www.test.", TYPE_A, .answer = "www.test. 300 IN A 192.0.2.1" });
	lab_ask_to_the_end("www.example.", TYPE_A);
	assert_true(lab_ask("trap.example.", TYPE_A)->done);
	h = lab_ask("www.test.", TYPE_A);
	assert_false(h->done);
	assert_int_equal(lab_asked_for(TYPE_DNSKEY, "test."), 0);
	assert_true(lab_turn());
	assert_int_equal(lab_asked_for(TYPE_DNSKEY, "test."), 1);
	assert_int_equal(h->security, SECURITY_SECURE);
	lab_close();
}

/* Under no anchor nothing is looked for; from the key cache alone comes what is in it. */
static void where_nothing_is_known_nothing_is_asked(void **state)
{
	(void)state;
	struct trust_chain c;
	unsigned asked;

	lab_open("");
	tell_names();
	slow_page("www.sub.example.", TYPE_A);
	lab_ask("www.sub.example.", TYPE_A);
	trust_chain_begin(&c, lab.waiting[0], lab.snapshot->trust);
	asked = lab.asked;
	assert_int_equal(trust_chain_find(&c, N("www.elsewhere.")).end, CHAIN_UNTRUSTED);
	assert_false(trust_chain_reaches(&c, N("www.elsewhere."), false));
	assert_true(trust_chain_reaches(&c, N("example."), false));
	assert_false(trust_chain_reaches(&c, N("example."), true));
	assert_int_equal(trust_chain_known(&c, N("example.")).end, CHAIN_UNTRUSTED);
	assert_int_equal(lab.asked, asked);
	lab_ask_to_the_end("www.example.", TYPE_A);
	assert_int_equal(trust_chain_known(&c, N("example.")).end, CHAIN_KEYS);
	assert_true(dname_equals(keyset_zone(trust_chain_known(&c, N("example.")).keys), N("example.")));
	assert_int_equal(trust_chain_known(&c, N("sub.example.")).end, CHAIN_UNTRUSTED);
	keycache_put(lab.env.keys, &(struct key_news){ .name = N("n.example."), .kind = KEYS_NO_CUT, .ttl_s = 60 },
		     lab.env.time->now_s);
	assert_int_equal(trust_chain_known(&c, N("n.example.")).end, CHAIN_UNTRUSTED);
	lab_deliver();
	while (lab_turn())
		;
	lab_close();
}

/* For want of a budget nothing is known of it, and it stays. */
static void what_cannot_be_validated_stays_in_the_cache(void **state)
{
	(void)state;
	static const struct {
		int bad, good;
		enum lab_flaw flaw;
	} rows[] = { { -1, 0, LAB_SOUND }, { 0, -1, LAB_SOUND }, { 3, -1, LAB_GARBLED_8 } };

	for (size_t i = 0; i < COUNT(rows); i++) {
		const struct lab_purse purse = { TYPE_A, rows[i].bad, rows[i].good, -1, false, false };
		const struct rrset *ds;

		lab_open("val-max-restart: 0\n");
		lab_zone("sub.example.");
		lab_tell(&(struct lab_page){ "www.example.", TYPE_A, .answer = "www.example. 300 IN A 192.0.2.1" });
		lab_tell(&(struct lab_page){ "www.sub.example.", TYPE_A, .answer = "www.sub.example. 300 IN A 192.0.2.1" });
		lab_ask_to_the_end("www.example.", TYPE_A);
		ds = lab_sign(lab_with_sigs(lab_set("sub.example.", TYPE_DS), NULL, 0), NULL, rows[i].flaw);
		(void)rrsetcache_put(lab.env.rrsets, ds, lab.env.time->now_s, &lab.arena);
		lab.purse = &purse;
		assert_int_equal(lab_ask_to_the_end("www.sub.example.", TYPE_A)->reason, REASON_budget_validation);
		assert_non_null(rrsetcache_find(lab.env.rrsets, N("sub.example."), TYPE_DS, CLASS_IN, 0, lab.env.time->now_s));
		lab_close();
	}
}

/* What came from the cache is nobody's fault who could be avoided. */
static void the_cache_is_not_avoided(void **state)
{
	(void)state;
	static const uint16_t types[] = { TYPE_DS, TYPE_DNSKEY };

	for (size_t i = 0; i < COUNT(types); i++) {
		lab_open("val-max-restart: 2\n");
		lab_zone("sub.example.");
		lab_tell(&(struct lab_page){ "www.sub.example.", TYPE_A, .answer = "www.sub.example. 300 IN A 192.0.2.1" });
		lab_retell_set(lab_sign(lab_with_sigs(lab_set("sub.example.", types[i]), NULL, 0), NULL, LAB_GARBLED));
		for (unsigned k = 0; k < lab.page_count; k++)
			lab.pages[k].page.cached = true;
		assert_int_equal(lab_ask_to_the_end("www.sub.example.", TYPE_A)->security, SECURITY_BOGUS);
		assert_int_equal(lab_asked_for(types[i], "sub.example."), 3);
		for (unsigned k = 0; k < lab.asked; k++)
			assert_int_equal(lab.asks[k].avoided, 0);
		lab_close();
	}
}

/* The zone's DS set or keys that nobody gives: why, and for how long the answer is kept, as they may soon be there. */
static void what_cannot_be_had_is_kept_for_a_moment(void **state)
{
	(void)state;
	static const struct {
		uint16_t type;
		uint8_t rcode;
		enum reason why, want;
		const char *options;
		uint32_t ttl_s;
	} rows[] = {
		{ TYPE_DS, RCODE_SERVFAIL, REASON_none, REASON_bogus, "val-bogus-ttl: 77\n", 5 },
		{ TYPE_DS, RCODE_SERVFAIL, REASON_no_reachable, REASON_no_reachable, "val-bogus-ttl: 3\n", 3 },
		{ TYPE_DNSKEY, RCODE_SERVFAIL, REASON_no_reachable, REASON_dnskey_missing, "val-bogus-ttl: 77\n", 5 },
		{ TYPE_DNSKEY, RCODE_SERVFAIL, REASON_none, REASON_dnskey_missing, "val-bogus-ttl: 3\n", 3 },
		{ TYPE_DNSKEY, RCODE_NOERROR, REASON_none, REASON_dnskey_missing, "val-max-restart: 0\nval-bogus-ttl: 77\n", 77 },
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		const struct lab_heard *h;
		struct message *m = NULL;

		lab_open(rows[i].options);
		tell_names();
		for (unsigned k = 0; k < lab.page_count; k++)
			if (lab.pages[k].m.q.type == rows[i].type && dname_equals(lab.pages[k].m.q.name, N("sub.example.")))
				m = &lab.pages[k].m;
		assert_non_null(m);
		m->count[SECTION_ANSWER] = 0;
		m->rcode = rows[i].rcode;
		m->reason = rows[i].why;
		h = lab_ask_to_the_end("www.sub.example.", TYPE_A);
		if (h->security != SECURITY_BOGUS || h->reason != rows[i].want || h->ttl_s != rows[i].ttl_s)
			fail_msg("row %zu: %d %s for %u s", i, h->security, reason_text(h->reason), h->ttl_s);
		lab_close();
	}
}

/* A denial at hand that costs more hashes than are left: that is why, and nothing is asked. */
static void a_denial_in_the_answer_may_cost_too_much(void **state)
{
	(void)state;
	static const struct lab_purse purse = { TYPE_A, -1, -1, 0, false, false };
	const struct lab_heard *h;
	char proof[1200] = "";

	lab_open("val-max-restart: 0\n");
	strcat(proof, lab_nsec3("example.", "example.", false, 1 << 24 | 1 << 16, "SOA RRSIG"));
	strcat(proof, lab_nsec3("example.", "sub.example.", true, 1 << 24 | 1 << 16, "A RRSIG"));
	lab_tell(&(struct lab_page){ "www.sub.example.", TYPE_A, .answer = "www.sub.example. 300 IN A 192.0.2.1",
				     .authority = proof, .flaw = LAB_UNSIGNED });
	lab.purse = &purse;
	h = lab_ask_to_the_end("www.sub.example.", TYPE_A);
	assert_int_equal(h->reason, REASON_budget_validation);
	assert_string_equal(h->text, "sub.example. is not validated: limit of NSEC3 hashes for one query reached");
	assert_int_equal(lab_asked_for(TYPE_DS, ""), 0);
	lab_close();
}

/* Where an anchor is, what was found out without it does not count. */
static void at_an_anchor_a_zone_begins(void **state)
{
	(void)state;
	struct key_news news = { .name = N("example."), .kind = KEYS_NO_CUT, .ttl_s = 60 };

	lab_open("val-max-restart: 0\n");
	lab_tell(&(struct lab_page){ "a.b.example.", TYPE_A, .answer = "a.b.example. 300 IN A 192.0.2.1" });
	keycache_put(lab.env.keys, &news, lab.env.time->now_s);
	assert_int_equal(lab_ask_to_the_end("a.b.example.", TYPE_A)->security, SECURITY_SECURE);
	assert_int_equal(lab_asked_for(TYPE_DNSKEY, ""), 1);
	lab_close();
}

/* The keys of an anchor of which no record counts here are looked for in the cache, too. */
static void an_anchor_of_no_algorithm_that_counts_is_insecure(void **state)
{
	(void)state;
	for (unsigned cached = 0; cached < 2; cached++) {
		struct fault f = { .set = false };
		const struct lab_heard *h;
		char anchor[160];

		lab_open("val-max-restart: 0\n");
		lab_zone("test.");
		snprintf(anchor, sizeof(anchor), "test. DS 1 200 2 %064u", 1u);
		assert_true(anchors_add_text(lab.snapshot->trust->anchors, anchor, &f));
		lab_tell(&(struct lab_page){ "www.test.", TYPE_A, .answer = "www.test. 300 IN A 192.0.2.1" });
		if (cached)
			(void)rrsetcache_put(lab.env.rrsets, lab_set("test.", TYPE_DNSKEY), lab.env.time->now_s, &lab.arena);
		h = lab_ask_to_the_end("www.test.", TYPE_A);
		assert_int_equal(h->security, SECURITY_INSECURE);
		assert_int_equal(h->reason, REASON_algorithm_unknown);
		assert_int_equal(lab_asked_for(TYPE_DNSKEY, "test."), !cached);
		lab_close();
	}
}

/* That keys are false is found out once for each time they come. */
static void what_is_false_is_checked_once(void **state)
{
	(void)state;
	for (unsigned restarts = 0; restarts < 3; restarts++) {
		char options[40];

		snprintf(options, sizeof(options), "val-max-restart: %u\n", restarts);
		lab_open(options);
		tell_names();
		lab_retell_set(lab_sign(lab_with_sigs(lab_set("example.", TYPE_DNSKEY), NULL, 0), NULL, LAB_GARBLED));
		assert_int_equal(lab_ask_to_the_end("www.example.", TYPE_A)->security, SECURITY_BOGUS);
		assert_int_equal(lab_asked_for(TYPE_DNSKEY, "example."), restarts + 1);
		assert_int_equal(lab_checks(), restarts + 1);
		lab_close();
	}
}

/* A DS set that lives for no second does for the question that brought it. */
static void a_ds_set_of_the_moment_counts(void **state)
{
	struct rrset_parts p = { .type = TYPE_DS, .class_ = CLASS_IN, .count = 1,
				 .trust = TRUST_ANS_AA };
	struct slice record;

	(void)state;
	lab_open("val-max-restart: 0\n");
	tell_names();
	record = (struct slice){ lab.zones[1].ds, sizeof(lab.zones[1].ds) };
	p.owner = N("sub.example.");
	p.records = &record;
	p.expires_s = lab.env.time->now_s;
	lab_retell_set(lab_sign(rrset_build(&lab.arena, &p), NULL, LAB_SOUND));
	assert_int_equal(lab_ask_to_the_end("www.sub.example.", TYPE_A)->security, SECURITY_SECURE);
	assert_int_equal(lab_asked_for(TYPE_DS, "sub.example."), 1);
	lab_close();
}

/* Without a cache of denials, what is not at hand is asked for. */
static void where_denials_are_not_kept_they_are_asked_for(void **state)
{
	struct aggressive *kept;

	(void)state;
	lab_open("val-max-restart: 0\n");
	tell_names();
	kept = lab.env.negative;
	lab.env.negative = NULL;
	assert_int_equal(lab_ask_to_the_end("www.sub.example.", TYPE_A)->security, SECURITY_SECURE);
	assert_int_equal(lab_asked_for(TYPE_DS, "sub.example."), 1);
	lab.env.negative = kept;
	lab_close();
}

/* An anchor from a file that rolls: keys that fit it are validated once; if they do not, it is looked at again, as it may
 * have rolled, and then they are false. */
static void the_keys_of_an_anchor_that_rolls_are_validated(void **state)
{
	(void)state;
	static const struct {
		enum lab_flaw flaw;
		enum security want;
		enum reason reason;
		enum key_kind kind;
		unsigned checks;        /* of the keys, and of the set */
	} rows[] = {
		{ LAB_SOUND, SECURITY_SECURE, REASON_none, KEYS_TRUSTED, 2 },
		{ LAB_GARBLED, SECURITY_BOGUS, REASON_sig_wrong, KEYS_BOGUS, 2 },
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		char path[] = "/tmp/chain-anchor-XXXXXX", options[120];
		int fd = mkstemp(path);
		FILE *file = fdopen(fd, "w");
		const struct lab_heard *h;
		const struct key_entry *e;

		assert_non_null(file);
		lab_open("");
		lab_zone("test.");
		fprintf(file, "test. 3600 IN DS %u 15 2 ", get_u16(lab.zones[1].ds));
		for (unsigned n = 0; n < 32; n++)
			fprintf(file, "%02x", lab.zones[1].ds[4 + n]);
		assert_int_equal(fclose(file), 0);
		lab_close();
		snprintf(options, sizeof(options), "val-max-restart: 0\nauto-trust-anchor-file: \"%s\"\n", path);
		lab_open(options);
		unlink(path);
		lab_zone("test."); /* the same key */
		lab_tell(&(struct lab_page){ "www.test.", TYPE_A, .answer = "www.test. 300 IN A 192.0.2.1" });
		lab_retell_set(lab_sign(lab_with_sigs(lab_set("test.", TYPE_DNSKEY), NULL, 0), NULL, rows[i].flaw));
		h = lab_ask_to_the_end("www.test.", TYPE_A);
		e = keycache_find(lab.env.keys, N("test."), lab.env.time->now_s);
		if (h->security != rows[i].want || h->reason != rows[i].reason || !e || e->kind != rows[i].kind ||
		    lab_checks() != rows[i].checks || lab_asked_for(TYPE_DNSKEY, "test.") != 1)
			fail_msg("row %zu: %d (%s), %d is kept, %u checks", i, h->security, h->text, e ? e->kind : -1, lab_checks());
		lab_close();
	}
}

static void a_view_may_have_nothing_proven(void **state)
{
	struct view view = { .proves_nothing = false };
	struct query q = { .view = NULL };

	(void)state;
	lab_open("domain-insecure: n.example\n");
	q.snapshot = lab.snapshot;
	assert_non_null(trust_chain_anchor(lab.snapshot->trust, &q, N("www.example."), false));
	assert_null(trust_chain_anchor(lab.snapshot->trust, &q, N("www.test."), false));
	assert_null(trust_chain_anchor(lab.snapshot->trust, &q, N("www.n.example."), false));
	q.view = &view; /* with no such names of its own */
	assert_non_null(trust_chain_anchor(lab.snapshot->trust, &q, N("www.example."), false));
	assert_null(trust_chain_anchor(lab.snapshot->trust, &q, N("www.n.example."), false));
	view.proves_nothing = true;
	assert_null(trust_chain_anchor(lab.snapshot->trust, &q, N("www.example."), false));
	lab_close();
}

/* Whose budget it was that the keys could not be had for: of its own, the question has spent it; of another's, it
 * asks itself, which is no second try. */
static void the_budget_of_another_is_not_ones_own(void **state)
{
	(void)state;
	static const struct {
		const char *options;
		uint16_t type;
		enum security second;
		unsigned asked;
	} rows[] = {
		{ "val-max-restart: 1\n", TYPE_DNSKEY, SECURITY_SECURE, 2 },
		{ "val-max-restart: 0\n", TYPE_DNSKEY, SECURITY_SECURE, 2 },
		{ "val-max-restart: 1\n", TYPE_DS, SECURITY_SECURE, 2 },
		{ "val-max-restart: 0\n", TYPE_DS, SECURITY_SECURE, 2 },
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		struct lab_heard *first, *second;
		struct message *m;

		lab_open(rows[i].options);
		lab_zone("sub.example.");
		lab_tell(&(struct lab_page){ "a.sub.example.", TYPE_A, .answer = "a.sub.example. 300 IN A 192.0.2.1" });
		lab_tell(&(struct lab_page){ "b.sub.example.", TYPE_A, .answer = "b.sub.example. 300 IN A 192.0.2.1" });
		m = slow_page("sub.example.", rows[i].type);
		first = lab_ask("a.sub.example.", TYPE_A);
		second = lab_ask("b.sub.example.", TYPE_A);
		while (lab.waiting_count == 0)
			assert_true(lab_turn());
		assert_int_equal(lab.waiting_count, 1);
		lab.waiting[0]->lookup_refused = true;
		m->rcode = RCODE_SERVFAIL;
		m->count[SECTION_ANSWER] = 0;
		lab_deliver();
		m->rcode = RCODE_NOERROR;
		m->count[SECTION_ANSWER] = 1;
		while (lab.waiting_count || lab_turn())
			lab_deliver();
		if (!first->done || !second->done || first->security != SECURITY_BOGUS || first->reason != REASON_budget_validation ||
		    second->security != rows[i].second ||
		    (rows[i].second == SECURITY_BOGUS && second->reason != REASON_budget_validation) ||
		    lab_asked_for(rows[i].type, "sub.example.") != rows[i].asked)
			fail_msg("row %zu: %d (%s), %d (%s), %u questions", i, first->security, first->text, second->security,
				 second->text, lab_asked_for(rows[i].type, "sub.example."));
		lab_close();
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_comes_when_the_turn_is_full_waits_for_the_next),
		cmocka_unit_test(a_full_turn_sends_nothing_out),
		cmocka_unit_test(rfc8145_key_tags_are_signaled_to_the_anchors_zone),
		cmocka_unit_test(a_full_turn_asks_for_no_anchors_keys),
		cmocka_unit_test(where_nothing_is_known_nothing_is_asked),
		cmocka_unit_test(what_cannot_be_validated_stays_in_the_cache),
		cmocka_unit_test(the_cache_is_not_avoided),
		cmocka_unit_test(what_cannot_be_had_is_kept_for_a_moment),
		cmocka_unit_test(a_denial_in_the_answer_may_cost_too_much),
		cmocka_unit_test(at_an_anchor_a_zone_begins),
		cmocka_unit_test(an_anchor_of_no_algorithm_that_counts_is_insecure),
		cmocka_unit_test(what_is_false_is_checked_once),
		cmocka_unit_test(a_ds_set_of_the_moment_counts),
		cmocka_unit_test(where_denials_are_not_kept_they_are_asked_for),
		cmocka_unit_test(the_keys_of_an_anchor_that_rolls_are_validated),
		cmocka_unit_test(a_view_may_have_nothing_proven),
		cmocka_unit_test(the_budget_of_another_is_not_ones_own),
	};

	return cmocka_run_group_tests_name("chain_turns", tests, NULL, NULL);
}
