/* Keys from numbers, signatures from keys.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "testdata/hostile/keys.h"

#include <openssl/evp.h>
#include <string.h>

#include "util/base/hash.h"
#include "util/base/mem.h"
#include "util/dns/dname.h"
#include "util/dns/rr.h"
#include "validator/crypto.h"

bool keys_true;

static struct key {
	EVP_PKEY *pair;
	uint8_t rdata[KEY_RDATA];
	uint16_t tag;
} keys[KEYS];

void keys_begin(void)
{
	for (unsigned i = 0; i < KEYS; i++) {
		uint8_t seed[32] = { (uint8_t)(i + 1), 0x5a };
		struct key *k = &keys[i];
		size_t len = 32;

		k->pair = EVP_PKEY_new_raw_private_key(EVP_PKEY_ED25519, NULL, seed, sizeof(seed));
		put_u16(k->rdata, 257);
		k->rdata[2] = 3;
		k->rdata[3] = KEY_ALGORITHM;
		PROMISE(k->pair && EVP_PKEY_get_raw_public_key(k->pair, k->rdata + 4, &len) == 1);
		k->tag = rr_key_tag((struct slice){ k->rdata, KEY_RDATA });
	}
}

const uint8_t *key_rdata(unsigned key)
{
	return keys[key].rdata;
}

uint16_t key_tag(unsigned key)
{
	return keys[key].tag;
}

void key_ds(unsigned key, const uint8_t *owner, uint8_t ds[KEY_DS])
{
	uint8_t digest[CRYPTO_DIGEST_MAX];
	struct slice pieces[2] = { { owner, dname_len(owner) }, { keys[key].rdata, KEY_RDATA } };

	put_u16(ds, keys[key].tag);
	ds[2] = KEY_ALGORITHM;
	ds[3] = DIGEST_SHA256;
	PROMISE(crypto_digest(DIGEST_SHA256, pieces, 2, digest) == 32);
	memcpy(ds + 4, digest, 32);
}

void key_hash(struct slice public_key, struct slice data, uint8_t sig[KEY_SIGNATURE])
{
	uint8_t secret[16] = { 0 };

	memcpy(secret, public_key.at, MIN(public_key.len, sizeof(secret)));
	hash_shared(sig, data.at, data.len, secret);
	for (unsigned i = 8; i < KEY_SIGNATURE; i++)
		sig[i] = (uint8_t)(sig[i & 7] ^ i);
}

void key_sign(unsigned key, struct slice data, uint8_t sig[KEY_SIGNATURE])
{
	size_t len = KEY_SIGNATURE;
	EVP_MD_CTX *ctx;

	if (!keys_true) {
		key_hash((struct slice){ keys[key].rdata + 4, 32 }, data, sig);
		return;
	}
	ctx = EVP_MD_CTX_new();
	PROMISE(ctx && EVP_DigestSignInit(ctx, NULL, NULL, NULL, keys[key].pair) == 1);
	PROMISE(EVP_DigestSign(ctx, sig, &len, data.at, data.len) == 1);
	EVP_MD_CTX_free(ctx);
}
