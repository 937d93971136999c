/* Keyed hash of names and addresses: SipHash-1-3, inlined.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * Aumasson and Bernstein's SipHash with one round per word and three at the end, as is usual for
 * tables of untrusted keys: what must be hidden from an attacker is where collisions are, and no
 * hash is ever shown. Words are in host byte order, so hashes mean nothing on other machines. */
#include "util/base/hash.h"

#include <sodium.h>

#include <string.h>

#include "util/base/ascii.h"
#include "util/base/bytes.h"
#include "util/base/mem.h"

static uint64_t key[2];

void hash_start(bool played)
{
	PROMISE(sodium_init() >= 0);
	if (played)
		memset(key, 7, sizeof(key));
	else
		randombytes_buf(key, sizeof(key));
}

struct sip {
	uint64_t v0, v1, v2, v3;
};

static inline uint64_t rotated(uint64_t x, unsigned by)
{
	return x << by | x >> (64 - by);
}

static inline struct sip sip_round(struct sip s)
{
	s.v0 += s.v1;
	s.v2 += s.v3;
	s.v1 = rotated(s.v1, 13) ^ s.v0;
	s.v3 = rotated(s.v3, 16) ^ s.v2;
	s.v0 = rotated(s.v0, 32);
	s.v2 += s.v1;
	s.v0 += s.v3;
	s.v1 = rotated(s.v1, 17) ^ s.v2;
	s.v3 = rotated(s.v3, 21) ^ s.v0;
	s.v2 = rotated(s.v2, 32);
	return s;
}

static inline struct sip sip_begin(void)
{
	return (struct sip){ .v0 = key[0] ^ UINT64_C(0x736f6d6570736575),
			     .v1 = key[1] ^ UINT64_C(0x646f72616e646f6d),
			     .v2 = key[0] ^ UINT64_C(0x6c7967656e657261),
			     .v3 = key[1] ^ UINT64_C(0x7465646279746573) };
}

static inline struct sip sip_take(struct sip s, uint64_t word)
{
	s.v3 ^= word;
	s = sip_round(s);
	s.v0 ^= word;
	return s;
}

static inline uint64_t sip_end(struct sip s)
{
	s.v2 ^= 0xff;
	s = sip_round(sip_round(sip_round(s)));
	return s.v0 ^ s.v1 ^ s.v2 ^ s.v3;
}

static inline uint64_t word_at(const uint8_t *at)
{
	uint64_t x;

	memcpy(&x, at, 8);
	return x;
}

static inline uint64_t unchanged(uint64_t x)
{
	return x;
}

/* The last word overlaps the one before it; `last` encodes the length, which prevents ambiguity.
 * Inlined, since each caller knows `map` at compile time. */
__attribute__((always_inline)) static inline uint64_t sip(const uint8_t *at, size_t len,
							  uint64_t last, uint64_t (*map)(uint64_t))
{
	struct sip s = sip_begin();
	size_t i = 0;

	for (; i + 8 <= len; i += 8)
		s = sip_take(s, map(word_at(at + i)));
	if (i < len && len >= 8) {
		s = sip_take(s, map(word_at(at + len - 8)));
	} else if (i < len) {
		uint8_t few[8] = { 0 };

		for (; i < len; i++)
			few[i] = at[i];
		s = sip_take(s, map(word_at(few)));
	}
	return sip_end(sip_take(s, last));
}

uint64_t hash_bytes(const void *at, size_t len)
{
	return sip(at, len, len, unchanged);
}

uint64_t hash_word(uint64_t word)
{
	return sip_end(sip_take(sip_begin(), word));
}

/* A label's length is below 'A', so a name can be lower-cased as one run of bytes. */
uint64_t hash_dname(const uint8_t *name, size_t len, uint32_t salt)
{
	PROMISE(len <= UINT8_MAX);
	return sip(name, len, (uint64_t)salt << 32 | len, ascii_lower8);
}

void hash_shared(uint8_t to[8], const void *at, size_t len, const uint8_t secret[16])
{
	(void)crypto_shorthash(to, at, len, secret);
}

bool hash_same(const void *a, const void *b, size_t len)
{
	return sodium_memcmp(a, b, len) == 0;
}
