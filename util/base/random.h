/* Random numbers, always passed in: one buffered generator per worker.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * Cryptographically strong (libsodium), drawn in large blocks so that a query ID
 * costs no system call; refilled after fork. A test may seed it to get the same
 * numbers every time. Not shared between threads. */
#ifndef UTIL_BASE_RANDOM_H
#define UTIL_BASE_RANDOM_H

#include "util/base/base.h"

struct random {
	uint8_t  pool[512];
	uint32_t used;          /* bytes of pool handed out */
	bool     played;
	uint64_t seed, stride;  /* when played: seed, words drawn */
	int      pid;           /* process that filled the pool */
};

void random_init(struct random *r);
void random_play(struct random *r, uint64_t seed);      /* repeatable; tests only */
uint16_t random_u16(struct random *r);
uint32_t random_u32(struct random *r);
uint64_t random_u64(struct random *r);
uint32_t random_below(struct random *r, uint32_t bound);        /* below bound, unbiased; 0 if that is 0 */
void random_bytes(struct random *r, void *to, size_t len);

#endif
