/* Claims about the way from a trust anchor down to a zone's keys.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "validator/chain.h"

#include "validator/tests/lab.h"

#define SOA "example. 300 IN SOA ns.example. admin.example. 1 3600 900 86400 300\n"

enum way {
	WAY_PLAIN,
	WAY_NO_DS_NSEC,         /* the zone above says: no DS set, and it is a cut */
	WAY_NO_DS_OPTOUT,
	WAY_NO_DS_COSTLY,
	WAY_NO_DS_UNPROVEN,
	WAY_DS_OF_CHILD,        /* the DS set is denied by the zone below itself */
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

/* RFC 8901: the DS set vouches for the one, the other has a place in the set that this one signs. */
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

/* A budget that is spent is this question's own trouble: SERVFAIL with EDE 5 for a moment, no verdict on the
 * data, and nothing that others would find. */
static void what_cannot_be_paid_for_is_not_judged(void **state)
{
	(void)state;
	static const struct {
		const char *why, *name;
		enum way way;
		const char *ds;         /* instead of the DS set */
		struct lab_purse purse;
	} rows[] = {
		{ "none may fail, before any key", "www.example.", WAY_PLAIN, NULL, { TYPE_A, 0, -1, -1, false } },
		{ "none may hold, before any key", "www.example.", WAY_PLAIN, NULL, { TYPE_A, -1, 0, -1, false } },
		{ "none may fail, at the keys", "www.example.", WAY_PLAIN, NULL, { TYPE_DNSKEY, 0, -1, -1, false } },
		{ "none may hold, after the keys", "www.example.", WAY_PLAIN, NULL, { TYPE_A, -1, 1, -1, false } },
		{ "none may fail, at a DS set", "www.sub.example.", WAY_PLAIN, NULL, { TYPE_DS, 0, -1, -1, false } },
		{ "none may hold, at a DS set", "www.sub.example.", WAY_PLAIN, NULL, { TYPE_DS, -1, 0, -1, false } },
		{ "at the denial of a DS set", "www.sub.example.", WAY_NO_DS_NSEC, NULL, { TYPE_DS, 0, -1, -1, false } },
		{ "the same, none may hold", "www.sub.example.", WAY_NO_DS_NSEC, NULL, { TYPE_DS, -1, 0, -1, false } },
		{ "at an alias instead of a DS set", "www.sub.example.", WAY_PLAIN, "sub.example. 300 IN CNAME www.example.",
		  { TYPE_DS, 0, -1, -1, false } },
		{ "hashes, at the denial of a DS set", "www.sub.example.", WAY_NO_DS_OPTOUT, NULL,
		  { TYPE_DS, -1, -1, 0, false } },
		{ "keys that cannot be had for want of another budget", "www.sub.example.", WAY_KEYS_SILENT, NULL,
		  { TYPE_DNSKEY, -1, -1, -1, true } },
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

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_way_down_decides),
		cmocka_unit_test(what_is_known_is_not_asked_again),
		cmocka_unit_test(what_cannot_be_paid_for_is_not_judged),
	};

	return cmocka_run_group_tests_name("chain", tests, NULL, NULL);
}
