/* The header by which a proxy says for whom it asks: PROXY protocol, version 2.
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef UTIL_PROXY2_H
#define UTIL_PROXY2_H

#include "util/addr.h"

#define PROXY2_LEAST 16  /* bytes that tell how long the whole header is */
#define PROXY2_MOST  512 /* no honest one is longer */

enum proxy2_end {
	PROXY2_GOOD,
	PROXY2_SHORT, /* more of it is to come */
	PROXY2_BAD,   /* this is no such header, or a longer one than is taken */
};

struct proxy2 {
	size_t len;  /* of the header; what follows is the client's */
	bool is_for; /* somebody else; not when the proxy asks by itself, to see if we live */
	struct addr from, to;
};

enum proxy2_end proxy2_read(const uint8_t *at, size_t len, struct proxy2 *out);

#endif
