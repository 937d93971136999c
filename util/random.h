/* Chance, always handed in: one buffered generator per worker.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * Cryptographically strong (libsodium), filled in large strides so that a
 * query id costs no system call; refilled after fork. A test seeds it and gets
 * the same numbers every time. Not shared between threads. */
#ifndef UTIL_RANDOM_H
#define UTIL_RANDOM_H

#include "util/base.h"

struct random {
	uint8_t  pool[512];
	uint32_t used;          /* bytes of pool given out */
	bool     played;
	uint64_t seed, stride;  /* when played */
	int      pid;           /* that filled the pool */
};

void random_init(struct random *r);
void random_play(struct random *r, uint64_t seed);      /* repeatable */
uint16_t random_u16(struct random *r);
uint32_t random_u32(struct random *r);
uint64_t random_u64(struct random *r);
uint32_t random_below(struct random *r, uint32_t bound);        /* unbiased; bound > 0 */
void random_bytes(struct random *r, void *to, size_t len);

#endif
