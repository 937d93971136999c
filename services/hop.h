/* EDNS options that speak of one connection only: padding (RFC 7830) and keepalive (RFC 7828).
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * An answer from the cache is the same for all; what the connection adds to it is added last, to
 * the OPT record at its end. */
#ifndef SERVICES_HOP_H
#define SERVICES_HOP_H

#include "util/base.h"

enum { HOP_PADDING = 1, HOP_KEEPALIVE = 2 };

/* Which of them the question has. */
unsigned hop_asked(const uint8_t *wire, size_t len);

/* Whether an answer says how long its connection may rest. */
bool hop_keepalive(const uint8_t *wire, size_t len, uint32_t *rest_ms);

struct hop {
	unsigned options; /* HOP_* to be added */
	size_t pad_block; /* the whole message becomes a multiple of it, if there is room */
	uint32_t keepalive_ms;
};

/* Add them to an answer of ours; returns how long it is then. One without OPT stays as it is. */
size_t hop_add(uint8_t *wire, size_t len, size_t room, const struct hop *hop);

#endif
