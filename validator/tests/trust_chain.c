/* Claims about the way from a trust anchor down to a zone's keys.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "validator/trust_chain.h"

#include "util/base/log.h"
#include "validator/tests/lab.h"

#define SOA "example. 300 IN SOA ns.example. admin.example. 1 3600 900 86400 300\n"

enum way {
	WAY_PLAIN,
	WAY_NO_DS_NSEC,         /* the zone above says: no DS set, and it is a cut */
	WAY_NO_DS_OPTOUT,
	WAY_NO_DS_COSTLY,
	WAY_NO_DS_UNPROVEN,
	WAY_NO_DS_ODD,          /* beside the proof stands one that cannot be used, and ends soon */
	WAY_DS_OF_CHILD,        /* the DS set is denied by the zone below itself */
	WAY_DS_ALIAS,           /* an alias instead of it */
	WAY_DS_ALIAS_GARBLED,
	WAY_DS_ALIAS_MADE,      /* … that a wildcard has made */
	WAY_DS_GARBLED,
	WAY_DS_ALGORITHM,       /* one nobody knows */
	WAY_DS_DIGEST,
	WAY_DS_STRANGER,        /* of another key */
	WAY_DS_MANY,            /* as many records as are looked at, … */
	WAY_DS_TOO_MANY,        /* … and one more */
	WAY_KEYS_SILENT,
	WAY_KEYS_NONE,
	WAY_KEYS_UNSIGNED,
	WAY_KEYS_GARBLED,
	WAY_KEYS_REVOKED,
	WAY_KEYS_TWIN,          /* another key with the tag of the right one before it */
	WAY_KEYS_TWO,           /* who signs the data is not who signs the keys */
};

static const struct rrset *set_with(const char *owner, uint16_t type, const struct slice *records, size_t count)
{
	struct rrset_parts p = { .owner = N(owner), .type = type, .class_ = CLASS_IN, .ttl_s = 3600,
				 .expires_s = lab.env.time->now_s + 3600, .records = records, .count = count,
				 .trust = TRUST_ANS_AA };

	return rrset_build(&lab.arena, &p);
}

static const struct rrset *bare(const struct rrset *set)
{
	return lab_with_sigs(set, NULL, 0);
}

/* What was told of a name and type is told no more. */
static void untell(const char *name, uint16_t type)
{
	for (unsigned i = 0; i < lab.page_count; i++)
		if (lab.pages[i].m.q.type == type && dname_equals(lab.pages[i].m.q.name, N(name)))
			lab.pages[i].m.q.type = TYPE_NULL;
}

static void deny_ds(const char *proof)
{
	untell("sub.example.", TYPE_DS);
	lab_tell(&(struct lab_page){ "sub.example.", TYPE_DS, .authority = proof });
}

static void deny_ds_by_hash(unsigned parameters)
{
	char text[1200] = SOA;

	strcat(text, lab_nsec3("example.", "example.", false, parameters, "SOA RRSIG"));
	strcat(text, lab_nsec3("example.", "sub.example.", true, parameters, "A RRSIG"));
	deny_ds(text);
}

static void edit_ds(struct lab_zone *z, unsigned at, uint8_t value, enum lab_flaw flaw)
{
	struct slice record = { z->ds, sizeof(z->ds) };

	z->ds[at] = value;
	lab_retell_set(lab_sign(set_with("sub.example.", TYPE_DS, &record, 1), NULL, flaw));
}

/* Records of an algorithm nobody knows, and behind them (in canonical order) the right one. */
static void crowd_ds(const struct lab_zone *z, unsigned count)
{
	static uint8_t strangers[RRSET_RECORDS_MOST][6];
	struct slice records[RRSET_RECORDS_MOST + 1];

	for (unsigned i = 0; i < count - 1; i++) {
		memcpy(strangers[i], (uint8_t[]){ 0, 0, 200, 2, (uint8_t)(i >> 8), (uint8_t)i }, 6);
		records[i] = (struct slice){ strangers[i], 6 };
	}
	records[count - 1] = (struct slice){ z->ds, sizeof(z->ds) };
	lab_retell_set(lab_sign(set_with("sub.example.", TYPE_DS, records, count), NULL, LAB_SOUND));
}

/* Words of the key change places: another key, or none, with the same sum. */
static void make_twin(const struct lab_zone *z, uint8_t *twin)
{
	memcpy(twin, z->key, LAB_KEY_LEN);
	memcpy(twin + 4, z->key + 6, 2);
	memcpy(twin + 6, z->key + 4, 2);
}

static void edit_keys(struct lab_zone *z, enum way way)
{
	uint8_t twin[LAB_KEY_LEN];
	struct slice records[2] = { { z->key, LAB_KEY_LEN }, { twin, LAB_KEY_LEN } };

	if (way == WAY_KEYS_TWIN)
		make_twin(z, twin);
	else
		z->key[1] |= DNSKEY_REVOKE;
	/* canonical order, as the lab signs what it is given */
	if (way == WAY_KEYS_TWIN && memcmp(twin, z->key, LAB_KEY_LEN) < 0) {
		records[1] = records[0];
		records[0].at = twin;
	}
	lab_retell_set(lab_sign(set_with("sub.example.", TYPE_DNSKEY, records, way == WAY_KEYS_TWIN ? 2 : 1),
				NULL, LAB_SOUND));
}

/* RFC 8901: the DS set authenticates the one, the other has a place in the set that this one signs. */
static void share_zone(struct lab_zone *z)
{
	static const uint8_t seed[32] = { 0xee };
	uint8_t other[LAB_KEY_LEN];
	struct slice records[2] = { { z->key, LAB_KEY_LEN }, { other, LAB_KEY_LEN } };
	EVP_PKEY *pair = EVP_PKEY_new_raw_private_key(EVP_PKEY_ED25519, NULL, seed, sizeof(seed));
	size_t len = 32;

	memcpy(other, z->key, 4);
	other[1] = 0;
	assert_true(EVP_PKEY_get_raw_public_key(pair, other + 4, &len) == 1);
	records[0].at = other; /* 256 stands before 257 */
	records[1].at = z->key;
	lab_retell_set(lab_sign(set_with("sub.example.", TYPE_DNSKEY, records, 2), NULL, LAB_SOUND));
	EVP_PKEY_free(z->pair);
	z->pair = pair;
	memcpy(z->key, other, sizeof(other));
	lab_tell(&(struct lab_page){ "www.sub.example.", TYPE_A, .answer = "www.sub.example. 300 IN A 192.0.2.1" });
}

static void pave(enum way way, struct lab_zone *z)
{
	struct message *alias;
	char odd[1200];

	switch (way) {
	case WAY_PLAIN:
		break;
	case WAY_NO_DS_NSEC:
		deny_ds(SOA "sub.example. 300 IN NSEC z.example. NS RRSIG NSEC");
		break;
	case WAY_NO_DS_OPTOUT:
		deny_ds_by_hash(1 << 24 | 1 << 16);
		break;
	case WAY_NO_DS_COSTLY:
		deny_ds_by_hash(1 << 24 | 2500);
		break;
	case WAY_NO_DS_UNPROVEN:
		deny_ds(SOA);
		break;
	case WAY_DS_OF_CHILD:
		untell("sub.example.", TYPE_DS);
		lab_tell(&(struct lab_page){
			"sub.example.", TYPE_DS, .below = true,
			.authority = "sub.example. 300 IN NSEC www.sub.example. NS SOA RRSIG NSEC DNSKEY" });
		break;
	case WAY_DS_ALIAS:
	case WAY_DS_ALIAS_GARBLED:
	case WAY_DS_ALIAS_MADE:
		untell("sub.example.", TYPE_DS);
		lab_tell(&(struct lab_page){ "sub.example.", TYPE_DS, .answer = "sub.example. 300 IN CNAME www.example.",
					     .flaw = way == WAY_DS_ALIAS_GARBLED ? LAB_GARBLED : LAB_SOUND });
		alias = &lab.pages[lab.page_count - 1].m;
		alias->sets[0] = lab_sign_by(&lab.zones[0], bare(alias->sets[0]), way == WAY_DS_ALIAS_MADE ? "*.example." : NULL,
					     way == WAY_DS_ALIAS_GARBLED ? LAB_GARBLED : LAB_SOUND);
		break;
	case WAY_NO_DS_ODD:
		odd[0] = '\0';
		strcat(strcat(odd, SOA "sub.example. 300 IN NSEC z.example. NS RRSIG NSEC\n"),
		       lab_nsec3("example.", "sub.example.", true, 2 << 24, "A RRSIG"));
		memcpy(strstr(odd, " 300 IN NSEC3"), "  10", 4);
		deny_ds(odd);
		break;
	case WAY_DS_GARBLED:
		edit_ds(z, 0, z->ds[0], LAB_GARBLED);
		break;
	case WAY_DS_ALGORITHM:
		edit_ds(z, 2, 200, LAB_SOUND);
		break;
	case WAY_DS_DIGEST:
		edit_ds(z, 3, 200, LAB_SOUND);
		break;
	case WAY_DS_STRANGER:
		edit_ds(z, 9, z->ds[9] ^ 1, LAB_SOUND);
		break;
	case WAY_DS_MANY:
		crowd_ds(z, RRSET_RECORDS_MOST);
		break;
	case WAY_DS_TOO_MANY:
		crowd_ds(z, RRSET_RECORDS_MOST + 1);
		break;
	case WAY_KEYS_SILENT:
		untell("sub.example.", TYPE_DNSKEY);
		break;
	case WAY_KEYS_NONE:
		untell("sub.example.", TYPE_DNSKEY);
		lab_tell(&(struct lab_page){ "sub.example.", TYPE_DNSKEY, .authority = SOA });
		break;
	case WAY_KEYS_UNSIGNED:
		lab_retell_set(bare(lab_set("sub.example.", TYPE_DNSKEY)));
		break;
	case WAY_KEYS_GARBLED:
		lab_retell_set(lab_sign(bare(lab_set("sub.example.", TYPE_DNSKEY)), NULL, LAB_GARBLED));
		break;
	case WAY_KEYS_REVOKED:
	case WAY_KEYS_TWIN:
		edit_keys(z, way);
		break;
	case WAY_KEYS_TWO:
		share_zone(z);
		break;
	}
}

static void the_way_down_decides(void **state)
{
	(void)state;
	static const struct {
		const char *why;
		enum way way;
		enum security want;
		enum reason reason;
		enum key_kind kind;     /* what is kept of the zone below */
	} rows[] = {
		{ "a DS set and its key", WAY_PLAIN, SECURITY_SECURE, REASON_none, KEYS_TRUSTED },
		{ "no DS set, by NSEC", WAY_NO_DS_NSEC, SECURITY_INSECURE, REASON_none, KEYS_NONE },
		{ "no DS set, by opt-out", WAY_NO_DS_OPTOUT, SECURITY_INSECURE, REASON_none, KEYS_NONE },
		{ "no DS set, by too many iterations", WAY_NO_DS_COSTLY, SECURITY_INSECURE,
		  REASON_nsec3_iterations, KEYS_NONE },
		{ "no DS set, and no proof", WAY_NO_DS_UNPROVEN, SECURITY_BOGUS, REASON_nsec_missing, KEYS_BOGUS },
		{ "no DS set, by the zone that wants to have none", WAY_DS_OF_CHILD, SECURITY_BOGUS,
		  REASON_sig_signer, KEYS_BOGUS },
		{ "a DS set whose signature does not fit", WAY_DS_GARBLED, SECURITY_BOGUS, REASON_sig_wrong,
		  KEYS_BOGUS },
		{ "a DS set of an unknown algorithm", WAY_DS_ALGORITHM, SECURITY_INSECURE,
		  REASON_algorithm_unknown, KEYS_NONE },
		{ "a DS set of an unknown digest", WAY_DS_DIGEST, SECURITY_INSECURE, REASON_digest_unknown,
		  KEYS_NONE },
		{ "an alias instead of it: no zone begins there", WAY_DS_ALIAS, SECURITY_BOGUS, REASON_sig_signer, KEYS_NO_CUT },
		{ "an alias that is false", WAY_DS_ALIAS_GARBLED, SECURITY_BOGUS, REASON_sig_wrong, KEYS_BOGUS },
		{ "one that a wildcard made", WAY_DS_ALIAS_MADE, SECURITY_BOGUS, REASON_nsec_missing, KEYS_BOGUS },
		{ "a DS set of another key", WAY_DS_STRANGER, SECURITY_BOGUS, REASON_dnskey_missing, KEYS_BOGUS },
		{ "a large DS set", WAY_DS_MANY, SECURITY_SECURE, REASON_none, KEYS_TRUSTED },
		{ "too large a DS set", WAY_DS_TOO_MANY, SECURITY_BOGUS, REASON_bogus, KEYS_BOGUS },
		{ "keys that nobody gives", WAY_KEYS_SILENT, SECURITY_BOGUS, REASON_dnskey_missing, KEYS_UNHEARD },
		{ "no keys at all", WAY_KEYS_NONE, SECURITY_BOGUS, REASON_dnskey_missing, KEYS_BOGUS },
		{ "keys without signature", WAY_KEYS_UNSIGNED, SECURITY_BOGUS, REASON_rrsigs_missing, KEYS_BOGUS },
		{ "keys whose signature does not fit", WAY_KEYS_GARBLED, SECURITY_BOGUS, REASON_sig_wrong,
		  KEYS_BOGUS },
		{ "a revoked key", WAY_KEYS_REVOKED, SECURITY_BOGUS, REASON_dnskey_missing, KEYS_BOGUS },
		{ "two keys of one tag", WAY_KEYS_TWIN, SECURITY_SECURE, REASON_none, KEYS_TRUSTED },
		{ "two signers", WAY_KEYS_TWO, SECURITY_SECURE, REASON_none, KEYS_TRUSTED },
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		const struct lab_heard *h;
		const struct key_entry *e;

		lab_open("val-max-restart: 1\n");
		struct lab_zone *z = lab_zone("sub.example.");
		if (rows[i].way != WAY_KEYS_TWO)
			lab_tell(&(struct lab_page){ "www.sub.example.", TYPE_A,
						     .answer = "www.sub.example. 300 IN A 192.0.2.1" });
		pave(rows[i].way, z);
		h = lab_ask_to_the_end("www.sub.example.", TYPE_A);
		if (h->security != rows[i].want || h->reason != rows[i].reason)
			fail_msg("%s: %d %s (%s)", rows[i].why, h->security, reason_text(h->reason), h->text);
		e = keycache_find(lab.env.keys, N("sub.example."), lab.env.time->now_s);
		if (!e || e->kind != rows[i].kind)
			fail_msg("%s: %d is kept of the zone", rows[i].why, e ? e->kind : -1);
		lab_close();
	}
}

/* One cut at a time, and each of them once. */
static void what_is_known_is_not_asked_again(void **state)
{
	(void)state;
	static const struct {
		const char *why, *name;
		unsigned asked;
	} rows[] = {
		{ "keys of three zones, DS sets of two, and the set", "a.b.sub.example.", 6 },
		{ "another name of the same zone", "c.b.sub.example.", 1 },
		{ "the zone between", "d.sub.example.", 1 },
		{ "the first zone", "e.example.", 1 },
	};

	lab_open("");
	lab_zone("sub.example.");
	lab_zone("b.sub.example.");
	for (size_t i = 0; i < COUNT(rows); i++) {
		char *text = mem_textf("%s 300 IN A 192.0.2.1", rows[i].name);

		lab_tell(&(struct lab_page){ rows[i].name, TYPE_A, .answer = text });
		mem_free(text);
		lab.asked = 0;
		assert_int_equal(lab_ask_to_the_end(rows[i].name, TYPE_A)->security, SECURITY_SECURE);
		if (lab.asked != rows[i].asked)
			fail_msg("%s: %u questions", rows[i].why, lab.asked);
	}
	lab_close();
}

/* Of an NSEC3 record that costs too much, seen beside an alias, nothing follows for the zones below its own. */
static void a_costly_denial_speaks_of_its_own_name_only(void **state)
{
	(void)state;
	char authority[2048] = SOA;
	const struct lab_heard *h;

	lab_open("val-max-restart: 0\n");
	lab_zone("sub.example.");
	strcat(authority, lab_nsec3("example.", "example.", false, 1 << 24 | 2500, "SOA DNSKEY RRSIG"));
	strcat(authority, lab_nsec3("example.", "m.example.", true, 1 << 24 | 2500, "A RRSIG"));
	lab_tell(&(struct lab_page){ "m.sub.example.", TYPE_A, .rcode = RCODE_NXDOMAIN,
				     .answer = "m.sub.example. 300 IN CNAME m.example.", .authority = authority });
	lab_tell(&(struct lab_page){ "m.example.", TYPE_A, .rcode = RCODE_NXDOMAIN, .authority = authority });
	lab_tell(&(struct lab_page){ "www.sub.example.", TYPE_A, .answer = "www.sub.example. 300 IN A 192.0.2.1" });
	h = lab_ask_to_the_end("m.sub.example.", TYPE_A);
	assert_int_equal(h->security, SECURITY_INSECURE);
	assert_int_equal(h->reason, REASON_nsec3_iterations);
	assert_int_equal(lab_ask_to_the_end("www.sub.example.", TYPE_A)->security, SECURITY_SECURE);
	lab_close();
}

/* A budget that is spent is this question's own trouble: SERVFAIL with EDE 5 for a moment, no sig_result on the
 * data, and nothing that others would find. */
static void what_exceeds_the_budget_is_not_validated(void **state)
{
	(void)state;
	static const struct {
		const char *why, *name;
		enum way way;
		const char *ds;         /* instead of the DS set */
		struct lab_purse purse;
	} rows[] = {
		{ "none may fail, before any key", "www.example.", WAY_PLAIN, NULL, { TYPE_A, 0, -1, -1, false, false } },
		{ "none may hold, before any key", "www.example.", WAY_PLAIN, NULL, { TYPE_A, -1, 0, -1, false, false } },
		{ "none may fail, at the keys", "www.example.", WAY_PLAIN, NULL, { TYPE_DNSKEY, 0, -1, -1, false, false } },
		{ "none may hold, after the keys", "www.example.", WAY_PLAIN, NULL, { TYPE_A, -1, 1, -1, false, false } },
		{ "none may fail, at a DS set", "www.sub.example.", WAY_PLAIN, NULL, { TYPE_DS, 0, -1, -1, false, false } },
		{ "none may hold, at a DS set", "www.sub.example.", WAY_PLAIN, NULL, { TYPE_DS, -1, 0, -1, false, false } },
		{ "at the denial of a DS set", "www.sub.example.", WAY_NO_DS_NSEC, NULL, { TYPE_DS, 0, -1, -1, false, false } },
		{ "the same, none may hold", "www.sub.example.", WAY_NO_DS_NSEC, NULL, { TYPE_DS, -1, 0, -1, false, false } },
		{ "at an alias instead of a DS set", "www.sub.example.", WAY_PLAIN, "sub.example. 300 IN CNAME www.example.",
		  { TYPE_DS, 0, -1, -1, false, false } },
		{ "hashes, at the denial of a DS set", "www.sub.example.", WAY_NO_DS_OPTOUT, NULL,
		  { TYPE_DS, -1, -1, 0, false, false } },
		{ "no question, before any key", "www.example.", WAY_PLAIN, NULL, { TYPE_A, -1, -1, -1, false, true } },
		{ "no question, at the keys", "www.sub.example.", WAY_PLAIN, NULL, { TYPE_DS, -1, -1, -1, false, true } },
		{ "no question, at a DS set", "www.sub.example.", WAY_PLAIN, NULL, { TYPE_DNSKEY, -1, -1, -1, false, true } },
		{ "keys that cannot be had for want of another budget", "www.sub.example.", WAY_KEYS_SILENT, NULL,
		  { TYPE_DNSKEY, -1, -1, -1, true, false } },
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		static const char *const zones[] = { "example.", "sub.example." };
		const struct lab_heard *h;

		lab_open("val-max-restart: 0\n");
		struct lab_zone *z = lab_zone("sub.example.");
		lab_tell(&(struct lab_page){ "www.example.", TYPE_A, .answer = "www.example. 300 IN A 192.0.2.1" });
		lab_tell(&(struct lab_page){ "www.sub.example.", TYPE_A, .answer = "www.sub.example. 300 IN A 192.0.2.1" });
		for (unsigned n = 1; n <= 2; n++) /* of which something was removed: that is not why */
			lab.pages[lab.page_count - n].m.reason = REASON_other;
		pave(rows[i].way, z);
		if (rows[i].ds) {
			untell("sub.example.", TYPE_DS);
			lab_tell(&(struct lab_page){ "sub.example.", TYPE_DS, .answer = rows[i].ds });
		}
		lab.purse = &rows[i].purse;
		h = lab_ask_to_the_end(rows[i].name, TYPE_A);
		if (h->security != SECURITY_BOGUS || h->reason != REASON_budget_validation || h->ttl_s > 2 ||
		    atomic_load(&lab.stats.rrset_bogus))
			fail_msg("%s: %d %s (%s) for %u s, %u sets bogus", rows[i].why, h->security,
				 reason_text(h->reason), h->text, h->ttl_s, (unsigned)atomic_load(&lab.stats.rrset_bogus));
		for (unsigned n = 0; n < COUNT(zones); n++) {
			const struct key_entry *e = keycache_find(lab.env.keys, N(zones[n]), lab.env.time->now_s);

			if (e && e->kind != KEYS_TRUSTED)
				fail_msg("%s: %d is kept of %s", rows[i].why, e->kind, zones[n]);
		}
		/* who has a budget is answered at once */
		lab.purse = NULL;
		h = lab_ask_to_the_end(rows[i].name, TYPE_A);
		if (h->reason == REASON_budget_validation)
			fail_msg("%s: the next one gets %d (%s)", rows[i].why, h->security, h->text);
		lab_close();
	}
}

/* Other servers have nothing that would cost this question less. */
static void who_has_spent_its_budget_does_not_ask_again(void **state)
{
	(void)state;
	static const struct lab_purse purse = { TYPE_A, -1, 1, -1, false, false };

	lab_open("");
	lab_tell(&(struct lab_page){ "www.example.", TYPE_A, .answer = "www.example. 300 IN A 192.0.2.1" });
	lab.purse = &purse;
	assert_int_equal(lab_ask_to_the_end("www.example.", TYPE_A)->reason, REASON_budget_validation);
	assert_int_equal(lab.asked, 2);
	lab_close();
}

/* A DS set that comes when a zone has turned out to be signed between it and the one that signed it. */
static void a_ds_set_is_its_parents_as_of_now(void **state)
{
	(void)state;
	const struct lab_heard *h;
	struct keyset *keys;

	lab_open("val-max-restart: 0\n");
	lab_zone("b.sub.example.");
	lab.pages[lab.page_count - 1].page.slow = true;
	assert_int_equal(lab.pages[lab.page_count - 1].m.q.type, TYPE_DS);
	lab_tell(&(struct lab_page){ "sub.example.", TYPE_DS, .authority = SOA "sub.example. 300 IN NSEC z.example. A RRSIG NSEC" });
	lab_tell(&(struct lab_page){ "www.b.sub.example.", TYPE_A, .answer = "www.b.sub.example. 300 IN A 192.0.2.1" });
	h = lab_ask("www.b.sub.example.", TYPE_A);
	while (lab.waiting_count == 0)
		assert_true(lab_turn());
	lab_zone("sub.example.");
	keys = keyset_new(lab_set("sub.example.", TYPE_DNSKEY));
	keycache_put(lab.env.keys, &(struct key_news){ .name = N("sub.example."), .kind = KEYS_TRUSTED, .keys = keys, .ttl_s = 60 },
		     lab.env.time->now_s);
	keyset_unpin(keys);
	for (unsigned i = 0; i < 100 && !h->done; i++) {
		lab_deliver();
		while (!h->done && lab_turn())
			;
	}
	if (!h->done || h->security != SECURITY_BOGUS)
		fail_msg("%d: %d (%s)", h->done, h->security, h->text);
	lab_close();
}

/* www.sub.example., of which one way leads down to the keys. */
static const struct lab_heard *walk(const char *options, enum way way)
{
	struct lab_zone *z;

	lab_open(options);
	z = lab_zone("sub.example.");
	if (way != WAY_KEYS_TWO)
		lab_tell(&(struct lab_page){ "www.sub.example.", TYPE_A, .answer = "www.sub.example. 300 IN A 192.0.2.1" });
	pave(way, z);
	return lab_ask_to_the_end("www.sub.example.", TYPE_A);
}

/* val-max-restart, past the cache and from other servers, where what came was false; once, where nobody gave it or
 * it cannot get better. */
static void what_is_false_is_asked_for_elsewhere(void **state)
{
	(void)state;
	static const struct {
		enum way way;
		uint16_t type;
		bool again;
	} rows[] = {
		{ WAY_PLAIN, TYPE_DS, false },           { WAY_PLAIN, TYPE_DNSKEY, false },
		{ WAY_NO_DS_NSEC, TYPE_DS, false },      { WAY_NO_DS_OPTOUT, TYPE_DS, false },
		{ WAY_NO_DS_UNPROVEN, TYPE_DS, true },   { WAY_DS_OF_CHILD, TYPE_DS, true },
		{ WAY_DS_ALIAS, TYPE_DS, false },        { WAY_DS_ALIAS_GARBLED, TYPE_DS, true },
		{ WAY_DS_GARBLED, TYPE_DS, true },       { WAY_DS_ALGORITHM, TYPE_DS, false },
		{ WAY_DS_STRANGER, TYPE_DNSKEY, true },  { WAY_DS_TOO_MANY, TYPE_DS, true },
		{ WAY_KEYS_SILENT, TYPE_DNSKEY, false }, { WAY_KEYS_NONE, TYPE_DNSKEY, true },
		{ WAY_KEYS_UNSIGNED, TYPE_DNSKEY, true }, { WAY_KEYS_GARBLED, TYPE_DNSKEY, true },
		{ WAY_KEYS_REVOKED, TYPE_DNSKEY, true },
	};

	for (unsigned n = 0; n < 3 * COUNT(rows); n++) {
		unsigned i = n / 3, restarts = n % 3, times = 0;
		char options[40];

		snprintf(options, sizeof(options), "val-max-restart: %u\n", restarts);
		walk(options, rows[i].way);
		for (unsigned k = 0; k < lab.asked; k++) {
			const struct lab_asked *a = &lab.asks[k];

			if (a->type != rows[i].type || strcmp(a->name, "sub.example.") != 0)
				continue;
			if (a->kind != (QUERY_CD | QUERY_NO_VALIDATE | (times ? (unsigned)QUERY_NO_CACHE : 0)) || a->avoided != times)
				fail_msg("way %d: %u servers are avoided, %#x, in question %u", rows[i].way, a->avoided, a->kind, times);
			times++;
		}
		if (times != (rows[i].again ? restarts + 1 : 1))
			fail_msg("way %d, %u restarts: asked for %u times", rows[i].way, restarts, times);
		lab_close();
	}
}

/* Where the DS set was good, its own server is not avoided for the keys. */
static void the_server_of_a_good_ds_is_not_avoided_for_dnskeys(void **state)
{
	(void)state;
	static const enum way ways[] = { WAY_PLAIN, WAY_NO_DS_NSEC, WAY_DS_ALGORITHM };

	for (size_t i = 0; i < COUNT(ways); i++) {
		lab_open("");
		struct lab_zone *z = lab_zone("sub.example.");
		lab_tell(&(struct lab_page){ "www.sub.example.", TYPE_A, .answer = "www.sub.example. 300 IN A 192.0.2.1",
					     .flaw = LAB_GARBLED });
		pave(ways[i], z);
		lab_ask_to_the_end("www.sub.example.", TYPE_A);
		for (unsigned k = 0, seen = 0; k < lab.asked; k++) {
			if (lab.asks[k].type != TYPE_A)
				assert_int_equal(lab.asks[k].avoided, 0);
			else if (lab.asks[k].avoided != seen++)
				fail_msg("%u of %u", lab.asks[k].avoided, seen);
		}
		lab_close();
	}
}

static char lines[8192];

static void on_line(const char *line, void *arg)
{
	size_t len = strlen(lines);

	(void)arg;
	snprintf(lines + len, sizeof(lines) - len, "%s\n", line);
}

static void what_is_learned_has_its_time(void **state)
{
	(void)state;
	static const struct {
		enum way way;
		const char *options;
		enum key_kind kind;
		uint32_t ttl_s;
		const char *says;
	} rows[] = {
		{ WAY_PLAIN, "", KEYS_TRUSTED, 3600, "" },
		{ WAY_PLAIN, "cache-max-ttl: 100\n", KEYS_TRUSTED, 100, "" },
		{ WAY_PLAIN, "val-override-date: \"20261130235000\"\n", KEYS_TRUSTED, 600, "" },
		{ WAY_NO_DS_NSEC, "", KEYS_NONE, 300, "sub.example. is an insecure delegation (no DS)" },
		{ WAY_NO_DS_NSEC, "cache-max-ttl: 100\n", KEYS_NONE, 100, "" },
		{ WAY_NO_DS_ODD, "", KEYS_NONE, 300, "" },
		{ WAY_DS_ALIAS, "", KEYS_NO_CUT, 300, "" },
		{ WAY_DS_ALIAS, "val-override-date: \"20261130235900\"\n", KEYS_NO_CUT, 60, "" },
		{ WAY_NO_DS_OPTOUT, "", KEYS_NONE, 300, "sub.example. is in an NSEC3 opt-out span" },
		{ WAY_NO_DS_COSTLY, "", KEYS_NONE, 300, "sub.example. is below a zone with too many NSEC3 iterations" },
		{ WAY_DS_ALGORITHM, "", KEYS_NONE, 3600, "sub.example. has a DS RRset without a supported algorithm" },
		{ WAY_NO_DS_UNPROVEN, "val-bogus-ttl: 77\n", KEYS_BOGUS, 77, "sub.example. has no DS RRset, and no NSEC" },
		{ WAY_NO_DS_UNPROVEN, "val-bogus-ttl: 0\n", KEYS_BOGUS, 1, "" },
		{ WAY_DS_OF_CHILD, "", KEYS_BOGUS, 60, "sub.example. NSEC: " },
		{ WAY_DS_TOO_MANY, "", KEYS_BOGUS, 60, "sub.example. has more DS records than the limit" },
		{ WAY_KEYS_GARBLED, "val-bogus-ttl: 77\n", KEYS_BOGUS, 77, "sub.example. DNSKEY: the RRSIG" },
		{ WAY_KEYS_NONE, "", KEYS_BOGUS, 60, "sub.example. has no DNSKEY RRset" },
		{ WAY_KEYS_SILENT, "val-bogus-ttl: 77\n", KEYS_UNHEARD, 5, "sub.example. DNSKEY RRset could not be fetched: " },
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		const struct key_entry *e;

		lines[0] = '\0';
		atomic_store(&log_verbosity, LOG_DETAIL);
		log_capture(on_line, NULL);
		walk(rows[i].options, rows[i].way);
		log_capture(NULL, NULL);
		atomic_store(&log_verbosity, LOG_OPS);
		if ((strstr(lines, "the chain of trust is broken at sub.example.: ") != NULL) !=
		    (rows[i].kind == KEYS_BOGUS || rows[i].kind == KEYS_UNHEARD))
			fail_msg("way %d: the log says %s", rows[i].way, lines);
		e = keycache_find(lab.env.keys, N("sub.example."), lab.env.time->now_s);
		if (!e || e->kind != rows[i].kind || e->expires_s - lab.env.time->now_s != rows[i].ttl_s ||
		    strncmp(key_entry_text(e), rows[i].says, strlen(rows[i].says)) != 0)
			fail_msg("way %d, %s: %d for %u s (%s)", rows[i].way, rows[i].options, e ? e->kind : -1,
				 e ? e->expires_s - lab.env.time->now_s : 0, e ? key_entry_text(e) : "");
		lab_close();
	}
}

/* What a query brings is not in the cache as true, nor is it forgotten, before it is validated. */
static void what_was_false_is_not_kept(void **state)
{
	(void)state;
	static const struct {
		const char *why;
		enum way way;
		uint16_t type;
		bool poor, stays;
	} rows[] = {
		{ "a DS set", WAY_PLAIN, TYPE_DS, false, true },
		{ "a false DS set", WAY_DS_GARBLED, TYPE_DS, false, false },
		{ "a false DS set, seen by a query that keeps nothing", WAY_DS_GARBLED, TYPE_DS, true, true },
		{ "a DS set of no algorithm that counts", WAY_DS_ALGORITHM, TYPE_DS, false, true },
		{ "keys", WAY_PLAIN, TYPE_DNSKEY, false, true },
		{ "false keys", WAY_KEYS_GARBLED, TYPE_DNSKEY, false, false },
		{ "false keys, seen by a query that keeps nothing", WAY_KEYS_GARBLED, TYPE_DNSKEY, true, true },
		{ "an alias", WAY_DS_ALIAS, TYPE_CNAME, false, true },
		{ "a false alias", WAY_DS_ALIAS_GARBLED, TYPE_CNAME, false, false },
		{ "a false alias, seen by a query that keeps nothing", WAY_DS_ALIAS_GARBLED, TYPE_CNAME, true, true },
		{ "keys of no zone", WAY_KEYS_REVOKED, TYPE_DNSKEY, false, false },
		{ "a denial", WAY_NO_DS_NSEC, TYPE_NSEC, false, true },
		{ "a denial of a zone that has no say", WAY_DS_OF_CHILD, TYPE_NSEC, false, true },
		{ "a false denial", WAY_NO_DS_NSEC, TYPE_NSEC, false, false },
		{ "one that is not signed", WAY_NO_DS_NSEC, TYPE_NSEC, false, false },
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		const struct lab_purse purse = { TYPE_A, -1, -1, -1, rows[i].poor, false };
		const char *why = rows[i].why;
		struct lab_zone *z;
		const struct rrset *set = NULL;
		struct lab_heard *h;

		lab_open("val-max-restart: 0\nval-log-level: 0\n");
		z = lab_zone("sub.example.");
		lab_tell(&(struct lab_page){ "www.sub.example.", TYPE_A, .answer = "www.sub.example. 300 IN A 192.0.2.1" });
		pave(rows[i].way, z);
		for (unsigned k = 0; k < lab.page_count; k++) {
			struct message *m = &lab.pages[k].m;
			unsigned n = rows[i].type == TYPE_NSEC && m->count[SECTION_AUTHORITY] ? message_set_count(m) - 1 : 0;

			if (!dname_equals(m->q.name, N("sub.example.")) || m->q.type == TYPE_NULL ||
			    m->sets[n]->type != rows[i].type)
				continue;
			lab.pages[k].page.slow = true;
			if (rows[i].type == TYPE_NSEC && strstr(why, "false"))
				m->sets[n] = lab_sign_by(&lab.zones[0], bare(m->sets[n]), NULL, LAB_GARBLED);
			else if (strstr(why, "not signed"))
				m->sets[n] = bare(m->sets[n]);
			set = m->sets[n];
		}
		lab.purse = &purse;
		h = lab_ask("www.sub.example.", TYPE_A);
		while (lab.waiting_count == 0)
			assert_true(lab_turn());
		(void)rrsetcache_put(lab.env.rrsets, set, lab.env.time->now_s, &lab.arena);
		lab_deliver();
		while (!h->done && lab_turn())
			;
		assert_true(h->done);
		if ((rrsetcache_find(lab.env.rrsets, N("sub.example."), rows[i].type, CLASS_IN, set->flags,
				     lab.env.time->now_s) != NULL) != rows[i].stays)
			fail_msg("%s", why);
		lab_close();
	}
}

/* Sets that lie in the cache, unvalidated: good ones save a question, false ones go and do no harm. */
static void what_is_in_the_cache_is_validated_first(void **state)
{
	(void)state;
	static const struct {
		const char *why;
		uint16_t type;
		enum lab_flaw flaw;
		unsigned asked;
	} rows[] = {
		{ "the DS set", TYPE_DS, LAB_SOUND, 0 },
		{ "a false DS set", TYPE_DS, LAB_GARBLED, 1 },
		{ "the keys", TYPE_DNSKEY, LAB_SOUND, 0 },
		{ "false keys", TYPE_DNSKEY, LAB_GARBLED, 1 },
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		const struct rrset *set, *kept;

		lab_open("val-max-restart: 0\n");
		lab_zone("sub.example.");
		lab_tell(&(struct lab_page){ "www.sub.example.", TYPE_A, .answer = "www.sub.example. 300 IN A 192.0.2.1" });
		set = lab_sign(bare(lab_set("sub.example.", rows[i].type)), NULL, rows[i].flaw);
		(void)rrsetcache_put(lab.env.rrsets, set, lab.env.time->now_s, &lab.arena);
		assert_int_equal(lab_ask_to_the_end("www.sub.example.", TYPE_A)->security, SECURITY_SECURE);
		if (lab_asked_for(rows[i].type, "sub.example.") != rows[i].asked)
			fail_msg("%s: %u questions", rows[i].why, lab_asked_for(rows[i].type, "sub.example."));
		kept = rrsetcache_find(lab.env.rrsets, N("sub.example."), rows[i].type, CLASS_IN, 0, lab.env.time->now_s);
		if (kept && !rrset_same_signatures(kept, lab_set("sub.example.", rows[i].type)))
			fail_msg("%s: it is kept", rows[i].why);
		if (rows[i].type == TYPE_DS)
			assert_int_equal(kept->security, SECURITY_SECURE);
		lab_close();
	}
}

/* That there is no DS set need not be asked if the answer itself, what was proven before, or the referral says so. */
static void a_denial_in_the_answer_saves_a_question(void **state)
{
	(void)state;
	enum { NOWHERE, BESIDE, BEFORE, HEARD, KINDS };
	static const char *const proofs[] = {
		"sub.example. 300 IN NSEC z.example. NS RRSIG NSEC",
		"sub.example. 300 IN NSEC z.example. NS DS RRSIG NSEC",
	};

	for (unsigned n = 0; n < 2 * KINDS; n++) {
		unsigned kind = n / 2;
		bool proves = n % 2 == 0;
		const struct lab_heard *h;
		struct message *m;

		lab_open("val-max-restart: 0\nminimal-responses: no\n");
		lab_tell(&(struct lab_page){ "www.sub.example.", TYPE_A, .answer = "www.sub.example. 300 IN A 192.0.2.1",
					     .flaw = LAB_UNSIGNED });
		m = &lab.pages[lab.page_count - 1].m;
		if (kind == BESIDE) {
			m->sets[m->count[0]] = lab_sign_by(&lab.zones[0], made_set(&lab.arena, 0, proofs[!proves]), NULL, LAB_SOUND);
			m->count[SECTION_AUTHORITY] = 1;
		}
		if (kind == BEFORE) {
			lab_tell(&(struct lab_page){ "sub.example.", TYPE_TXT, .authority = proofs[!proves] });
			lab_ask_to_the_end("sub.example.", TYPE_TXT);
		}
		if (kind == HEARD) {
			lab_tell(&(struct lab_page){ "sub.example.", TYPE_NS, .authority = proofs[!proves] });
			aggressive_hear(lab.env.negative, &lab.pages[lab.page_count - 1].m, N("sub.example."), CLASS_IN,
				      lab.env.time->now_s);
		}
		deny_ds(SOA "sub.example. 300 IN NSEC z.example. NS RRSIG NSEC");
		lab.asked = 0;
		h = lab_ask_to_the_end("www.sub.example.", TYPE_A);
		if (h->security != SECURITY_INSECURE || lab_asked_for(TYPE_DS, "") != (kind == NOWHERE || !proves))
			fail_msg("%u: %d, %u questions", n, h->security, lab_asked_for(TYPE_DS, ""));
		assert_int_equal(keycache_find(lab.env.keys, N("sub.example."), lab.env.time->now_s)->expires_s -
				 lab.env.time->now_s, 300);
		lab_close();
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_way_down_decides),
		cmocka_unit_test(what_is_known_is_not_asked_again),
		cmocka_unit_test(a_costly_denial_speaks_of_its_own_name_only),
		cmocka_unit_test(what_exceeds_the_budget_is_not_validated),
		cmocka_unit_test(who_has_spent_its_budget_does_not_ask_again),
		cmocka_unit_test(a_ds_set_is_its_parents_as_of_now),
		cmocka_unit_test(what_is_false_is_asked_for_elsewhere),
		cmocka_unit_test(the_server_of_a_good_ds_is_not_avoided_for_dnskeys),
		cmocka_unit_test(what_is_learned_has_its_time),
		cmocka_unit_test(what_was_false_is_not_kept),
		cmocka_unit_test(what_is_in_the_cache_is_validated_first),
		cmocka_unit_test(a_denial_in_the_answer_saves_a_question),
	};

	return cmocka_run_group_tests_name("chain", tests, NULL, NULL);
}
