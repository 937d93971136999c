/* A zone whose keys roll and a trust anchor that follows them, without signatures' arithmetic: for tests of RFC 5011.
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef VALIDATOR_TESTS_ROLLING_H
#define VALIDATOR_TESTS_ROLLING_H

#include "util/base/arena.h"
#include "util/base/fault.h"
#include "util/base/mem.h"
#include "util/dns/rr.h"
#include "util/tests/wire.h"
#include "validator/autotrust.h"
#include "validator/crypto.h"
#include "validator/verify.h"

#define START INT64_C(1251100000)       /* Mon Aug 24 07:46:40 2009 */
#define DAY   INT64_C(86400)
#define TTL   10800

/* Keys A, B, C … are so many bytes of that letter; a small letter is a zone-signing key. Their
 * signatures are believed without arithmetic. 'A!' is key A revoked; 'X' is of another algorithm. */
enum { PRETENDED = 15, UNKNOWN = 157 };

static inline struct slice key_rdata(struct arena *a, char letter, bool revoked)
{
	uint8_t *rd = arena_take(a, 36);

	memset(rd, letter, 36);
	put_u16(rd, (uint16_t)(DNSKEY_ZONE | (letter <= 'Z' ? DNSKEY_SEP : 0) |
			       (revoked ? DNSKEY_REVOKE : 0)));
	rd[2] = 3;
	rd[3] = letter == 'X' ? UNKNOWN : PRETENDED;
	return (struct slice){ rd, 36 };
}

static inline unsigned tag(char letter, bool revoked)
{
	struct arena a;
	unsigned t;

	arena_init(&a);
	t = rr_key_tag(key_rdata(&a, letter, revoked));
	arena_clear(&a);
	return t;
}

static inline struct slice sig_rdata(struct arena *a, char letter, bool revoked, int64_t now)
{
	static const uint8_t signer[] = "\7example\3com";
	uint8_t rd[64];
	struct writer w = writer_over(rd, sizeof(rd));

	write_u16(&w, TYPE_DNSKEY);
	write_u8(&w, letter == 'X' ? UNKNOWN : PRETENDED);
	write_u8(&w, 2);
	write_u32(&w, TTL);
	write_u32(&w, (uint32_t)(now + 30 * DAY));
	write_u32(&w, (uint32_t)(now - DAY));
	write_u16(&w, (uint16_t)tag(letter, revoked));
	write_bytes(&w, signer, sizeof(signer));
	write_bytes(&w, "sum!", 4);
	return (struct slice){ arena_copy(a, rd, writer_len(&w)), writer_len(&w) };
}

static inline size_t read_letters(struct arena *a, const char *text, struct slice *out, int64_t now, bool sigs)
{
	size_t count = 0;

	for (; *text; text++) {
		bool revoked = text[1] == '!';

		out[count++] = sigs ? sig_rdata(a, *text, revoked, now) : key_rdata(a, *text, revoked);
		text += revoked;
	}
	return count;
}

/* The set a zone shows: its keys, and who signed them. */
static inline struct rrset *shown(struct arena *a, const char *keys, const char *signers, int64_t now)
{
	struct slice records[16], sigs[16];
	struct rrset_parts parts = { .owner = N("example.com."), .type = TYPE_DNSKEY,
				     .class_ = CLASS_IN, .ttl_s = TTL, .records = records,
				     .sigs = sigs };

	parts.count = read_letters(a, keys, records, now, false);
	parts.sig_count = read_letters(a, signers, sigs, now, true);
	return rrset_build(a, &parts);
}

/* A line of the file to begin with. */
static inline char *dnskey_line(char letter)
{
	static const char *const base64[] = {
		['A'] = "QUFBQUFBQUFBQUFBQUFBQUFBQUFBQUFBQUFBQUFBQUE=",
		['B'] = "QkJCQkJCQkJCQkJCQkJCQkJCQkJCQkJCQkJCQkJCQkI=",
		['C'] = "Q0NDQ0NDQ0NDQ0NDQ0NDQ0NDQ0NDQ0NDQ0NDQ0NDQ0M=",
		['z'] = "enp6enp6enp6enp6enp6enp6enp6enp6enp6enp6eno=",
	};

	return mem_textf("example.com.\t10800\tIN\tDNSKEY\t%d 3 15 %s", letter <= 'Z' ? 257 : 256,
			 base64[(unsigned char)letter]);
}

static inline char *ds_line(char letter)
{
	struct arena a;
	uint8_t digest[CRYPTO_DIGEST_MAX];
	struct slice pieces[2] = { SLICE("\7example\3com\0") };
	char hex[65], *line;

	arena_init(&a);
	pieces[1] = key_rdata(&a, letter, false);
	assert_int_equal(crypto_digest(DIGEST_SHA256, pieces, 2, digest), 32);
	for (unsigned i = 0; i < 32; i++)
		snprintf(hex + 2 * i, 3, "%02x", digest[i]);
	line = mem_textf("example.com. 3600 IN DS %u 15 2 %s", tag(letter, false), hex);
	arena_clear(&a);
	return line;
}

struct world {
	struct autotrust *p;
	struct rules rules;
	struct autotrust_how how;
	int64_t now;
	char said[2000];
};

static inline void remember(void *arg, const char *sentence)
{
	struct world *w = arg;

	snprintf(w->said + strlen(w->said), sizeof(w->said) - strlen(w->said), "%s\n", sentence);
}

static inline void world_begin(struct world *w, const char *text)
{
	struct fault f = { .set = false };

	rules_default(&w->rules);
	octets_put(&w->rules.fake, PRETENDED);
	w->how = (struct autotrust_how){ 30 * 86400, 30 * 86400, 366 * 86400, false };
	w->now = START;
	w->p = autotrust_parse(NULL, text, strlen(text), &f);
	if (!w->p)
		fail_msg("%s: %s", text, f.text);
}

static inline unsigned step_with(struct world *w, const struct rrset *dnskeys, struct random *random)
{
	struct arena a;
	int purse = 32;
	unsigned actions;
	struct verify_how verify = { .rules = &w->rules, .arena = &a, .signatures = &purse,
				     .now = (uint32_t)w->now };
	struct autotrust_step s = { .dnskeys = dnskeys, .verify = &verify, .how = &w->how, .random = random,
				    .now = w->now, .say = remember, .arg = w };

	arena_init(&a);
	w->said[0] = '\0';
	actions = autotrust_step(w->p, &s);
	arena_clear(&a);
	return actions;
}

static inline unsigned step(struct world *w, const char *keys, const char *signers)
{
	struct arena a;
	unsigned actions;

	arena_init(&a);
	actions = step_with(w, keys ? shown(&a, keys, signers, w->now) : NULL, NULL);
	arena_clear(&a);
	return actions;
}

/* "A=valid B=addpend/2": what the point holds, in the order of the file. */
static inline const char *keys_of(const struct autotrust *p)
{
	static const char *const states[] = {
#define X(name) #name,
		AUTOTRUST_STATES(X)
#undef X
	};
	static char text[400];
	size_t len = 0;

	text[0] = '\0';
	for (size_t i = 0; i < p->count; i++) {
		const struct autotrust_key *k = &p->keys[i];
		bool revoked = k->rdata.at[1] & DNSKEY_REVOKE;

		len += (size_t)snprintf(text + len, sizeof(text) - len, "%s%s", i ? " " : "",
					k->type == TYPE_DS ? "DS" : "");
		if (k->type == TYPE_DNSKEY)
			len += (size_t)snprintf(text + len, sizeof(text) - len, "%c%s",
						k->rdata.at[10], revoked ? "!" : "");
		len += (size_t)snprintf(text + len, sizeof(text) - len, "=%s", states[k->state]);
		if (k->count)
			len += (size_t)snprintf(text + len, sizeof(text) - len, "/%u",
						(unsigned)k->count);
	}
	return text;
}

static inline char *lines(char *first, char *second)
{
	char *text = mem_textf("%s\n%s\n", first, second ? second : "");

	mem_free(first);
	mem_free(second);
	return text;
}

#endif
