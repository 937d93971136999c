/* Letters of ASCII in lower case, whatever the locale (RFC 4343).
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef UTIL_BASE_ASCII_H
#define UTIL_BASE_ASCII_H

#include "util/base/base.h"

/* Maps ASCII letters to lower case and everything else to itself. */
extern const uint8_t ascii_lower[256];

/* The same for eight bytes at once. Length bytes are below 'A' and so unchanged:
 * whole names may pass through here. */
static inline uint64_t ascii_lower8(uint64_t x)
{
	const uint64_t ones = UINT64_C(0x0101010101010101);
	uint64_t low7 = x & ones * 0x7f;
	uint64_t from_a = low7 + ones * (0x80 - 'A');
	uint64_t past_z = low7 + ones * (0x7f - 'Z');
	uint64_t upper = (from_a ^ past_z) & ~x & ones * 0x80;

	return x | upper >> 2;
}

#endif
