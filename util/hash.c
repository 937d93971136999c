/* Keyed hash of names and addresses: SipHash-2-4.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "util/hash.h"

#include <sodium.h>

#include <string.h>

#include "util/bytes.h"
#include "util/dname.h"
#include "util/mem.h"

static uint8_t key[crypto_shorthash_KEYBYTES];

void hash_start(bool played)
{
	PROMISE(sodium_init() >= 0);
	if (played)
		memset(key, 7, sizeof(key));
	else
		randombytes_buf(key, sizeof(key));
}

uint64_t hash_bytes(const void *at, size_t len)
{
	uint8_t out[crypto_shorthash_BYTES];

	crypto_shorthash(out, at, len, key);
	return (uint64_t)get_u32(out) << 32 | get_u32(out + 4);
}

uint64_t hash_dname(const uint8_t *name, size_t len, uint32_t salt)
{
	uint8_t lowered[DNAME_MAX + 1 + sizeof(salt)];
	uint64_t x;
	size_t i;

	PROMISE(len <= DNAME_MAX);
	/* A label's length is below 'A', so a name is lowered as one run of bytes. */
	for (i = 0; i + 8 <= len; i += 8) {
		memcpy(&x, name + i, 8);
		x = ascii_lower8(x);
		memcpy(lowered + i, &x, 8);
	}
	if (i < len) {
		x = 0;
		memcpy(&x, name + i, len - i);
		x = ascii_lower8(x);
		memcpy(lowered + i, &x, len - i);
	}
	put_u32(lowered + len, salt);
	return hash_bytes(lowered, len + sizeof(salt));
}
