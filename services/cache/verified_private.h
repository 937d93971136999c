/* How a `struct verified` is made: for validator/verify.c, verified.c itself, and their tests.
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef SERVICES_CACHE_VERIFIED_PRIVATE_H
#define SERVICES_CACHE_VERIFIED_PRIVATE_H

#include "services/cache/verified.h"

struct verified {
	const struct rrset *set;
	const uint8_t *zone;    /* the signer's name in the RRSIG that holds: part of the set */
	uint32_t ttl_s;
	uint16_t tag;
	uint8_t labels;         /* as the RRSIG counts them */
	bool expanded;
};

/* A copy of it in the arena. */
const struct verified *verified_new(struct arena *a, const struct verified *v) MUST_USE;

#endif
