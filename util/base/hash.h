/* Keyed hash of names and addresses: SipHash-1-3.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * The key is drawn once at startup (hash_start), so that no outsider can aim at a
 * bucket. Names hash the same whatever their case. */
#ifndef UTIL_BASE_HASH_H
#define UTIL_BASE_HASH_H

#include "util/base/base.h"

/* Draw the key and initialise libsodium; once, before any thread starts. `played`
 * fixes the key for repeatable tests. */
void hash_start(bool played);

uint64_t hash_bytes(const void *at, size_t len);
uint64_t hash_word(uint64_t word); /* not the hash of its eight bytes */

/* Hash of a complete name in wire form (`len` bytes, root label included), ignoring
 * case, mixed with `salt` (type and class, or whatever sets one table apart). */
uint64_t hash_dname(const uint8_t *name, size_t len, uint32_t salt);

/* SipHash-2-4 under the caller's 16-byte key: the same on every machine, so that servers can accept
 * each other's results (RFC 9018 4). */
void hash_shared(uint8_t to[8], const void *at, size_t len, const uint8_t secret[16]);
/* Whether `len` bytes are equal, compared in constant time. */
bool hash_same(const void *a, const void *b, size_t len) MUST_USE;

#endif
