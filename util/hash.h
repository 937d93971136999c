/* Keyed hash of names and addresses: SipHash-1-3.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * The key is drawn once when the program starts (hash_start), so nobody outside
 * can aim at a bucket. Names hash alike whatever their case. */
#ifndef UTIL_HASH_H
#define UTIL_HASH_H

#include "util/base.h"

/* Draw the key and make libsodium ready; once, before any thread starts.
 * `played` fixes the key for repeatable tests. */
void hash_start(bool played);

uint64_t hash_bytes(const void *at, size_t len);
uint64_t hash_word(uint64_t word); /* another hash than that of its bytes */

/* Of a whole name in wire form (`len` bytes, root label included), lower-cased,
 * mixed with `salt` (type and class, or what tells two tables apart). */
uint64_t hash_dname(const uint8_t *name, size_t len, uint32_t salt);

/* SipHash-2-4 under another key, of 16 bytes: the same on every machine, so that servers can share
 * what they made of it (RFC 9018 4). */
void hash_shared(uint8_t to[8], const void *at, size_t len, const uint8_t secret[16]);
/* In a time that tells nothing of where they differ. */
bool hash_same(const void *a, const void *b, size_t len) MUST_USE;

#endif
