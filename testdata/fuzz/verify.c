/* Any bytes as DNSKEY, DS and RRSIG records, and as what they sign: nothing holds by accident.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * Input: entries of a kind (DNSKEY, DS, RRSIG, other), a length of two bytes and data. */
#include "validator/verify.h"

#include "util/base/arena.h"
#include "util/base/mem.h"
#include "util/dns/rr.h"
#include "validator/crypto.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

#define MOST 40
enum { KEYS, DELEGATIONS, SIGS, OTHERS, KINDS };

struct given {
	struct slice records[KINDS][MOST];
	size_t count[KINDS];
};

static void read_given(struct reader r, struct given *g)
{
	while (reader_left(&r)) {
		unsigned kind = read_u8(&r) % KINDS;
		size_t len = read_u16(&r);
		const uint8_t *at;

		len = MIN(len, reader_left(&r));
		at = read_bytes(&r, len);
		if (at && g->count[kind] < MOST)
			g->records[kind][g->count[kind]++] = (struct slice){ at, len };
	}
}

/* Signatures that held: by chance, hardly ever; kept so that the check is not left out. */
static unsigned verified;

static void check_records(const struct given *g)
{
	for (size_t i = 0; i < g->count[KEYS]; i++) {
		struct slice rd = g->records[KEYS][i];
		struct crypto_key *k;
		struct dnskey key;
		struct ds ds;

		(void)rr_key_tag(rd);
		if (!dnskey_read(rd, &key))
			continue;
		k = crypto_key_new(key.algorithm, key.public_key, NULL);
		PROMISE(!k || crypto_key_bits(key.algorithm, key.public_key) > 0);
		for (size_t j = 0; k && j < g->count[SIGS]; j++)
			verified += crypto_verify(k, rd, g->records[SIGS][j]);
		crypto_key_free(k);
		for (size_t j = 0; j < g->count[DELEGATIONS]; j++)
			if (ds_read(g->records[DELEGATIONS][j], &ds))
				(void)ds_matches(&ds, (const uint8_t *)"\4test", rd);
	}
	for (size_t i = 0; i < g->count[SIGS]; i++) {
		struct rrsig sig;

		if (rrsig_read(g->records[SIGS][i], &sig))
			PROMISE(sig.head.len + sig.signature.len == g->records[SIGS][i].len);
	}
}

static const struct rrset *set_of(const struct given *g, struct arena *a, unsigned kind,
				  const char *owner, uint16_t type)
{
	struct rrset_parts parts = { .owner = (const uint8_t *)owner, .type = type,
				     .class_ = CLASS_IN, .ttl_s = 3600, .records = g->records[kind],
				     .count = g->count[kind], .sigs = g->records[SIGS],
				     .sig_count = g->count[SIGS] };

	return rrset_build(a, &parts);
}

static void check_verdict(const struct sig_result *v)
{
	PROMISE((v->security == SECURITY_SECURE) == (v->text == NULL));
	PROMISE((v->security == SECURITY_SECURE) == (v->reason == REASON_none));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	static const uint16_t types[] = { TYPE_A, TYPE_MX, TYPE_NSEC, TYPE_SOA, TYPE_DS };
	struct given g = { .count = { 0 } };
	struct keyset *keys;
	struct rules rules;
	struct sig_result v;
	struct arena a;
	int purse = 16;
	struct verify_how how = { .rules = &rules, .arena = &a, .now = 1795161600u,
				  .signatures = &purse };

	arena_init(&a);
	rules_default(&rules);
	read_given(reader_over(data, len), &g);
	check_records(&g);
	keys = keyset_new(set_of(&g, &a, KEYS, "\4test", TYPE_DNSKEY));
	for (size_t i = 0; i < COUNT(types); i++) {
		verify_set(set_of(&g, &a, OTHERS, "\1*\3www\4test", types[i]), keys, &how, &v);
		check_verdict(&v);
	}
	purse = 16;
	verify_keys(keys, set_of(&g, &a, DELEGATIONS, "\4test", TYPE_DS),
		    set_of(&g, &a, OTHERS, "\4test", TYPE_DNSKEY), &how, &v);
	PROMISE(v.security != SECURITY_SECURE || v.text == NULL);
	PROMISE(v.security == SECURITY_SECURE || (v.text && v.reason != REASON_none));
	PROMISE(purse >= 0);
	for (unsigned i = 0; i < keys->count && i < 4; i++)
		verify_set_by(keys->dnskeys, keys, i, &how, &v);
	/* Where sums are pretended to be right everything around them is still looked at. */
	octets_put(&rules.fake, 13);
	how.dates_open = true;
	verify_set(set_of(&g, &a, OTHERS, "\1*\3www\4test", TYPE_A), keys, &how, &v);
	check_verdict(&v);
	(void)keyset_bits(keys);
	keyset_unpin(keys);
	arena_clear(&a);
	return 0;
}
