/* A fixed pool of keys, and signatures by them that cost next to nothing.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * A true signature costs 50 us to make and 100 us to check: with them a world would be little but that. So by default a
 * signature is a keyed hash of the same bytes under the public key, and whoever links this answers the validator's
 * calls of validator/crypto.h accordingly (keys_crypto.c); what it signs, chooses, counts and spends is unchanged. With
 * `keys_true` all is Ed25519: for scenarios, which others play. */
#ifndef TESTDATA_HOSTILE_KEYS_H
#define TESTDATA_HOSTILE_KEYS_H

#include "util/base/bytes.h"

enum { KEYS = 32, KEY_ALGORITHM = 15, KEY_RDATA = 36, KEY_SIGNATURE = 64, KEY_DS = 36 };

extern bool keys_true;

void keys_begin(void); /* once */

/* RDATA of the DNSKEY, with flags 257; its tag; RDATA of its DS (SHA-256) under this owner. */
const uint8_t *key_rdata(unsigned key);
uint16_t key_tag(unsigned key);
void key_ds(unsigned key, const uint8_t *owner, uint8_t ds[KEY_DS]);

void key_sign(unsigned key, struct slice data, uint8_t sig[KEY_SIGNATURE]);
/* The keyed hash, under a public key of any kind. */
void key_hash(struct slice public_key, struct slice data, uint8_t sig[KEY_SIGNATURE]);

#endif
