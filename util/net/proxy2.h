/* PROXY protocol version 2: the header in which a proxy names the client it forwards for.
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef UTIL_NET_PROXY2_H
#define UTIL_NET_PROXY2_H

#include "util/net/addr.h"

#define PROXY2_LEAST 16  /* bytes needed to tell the header's length */
#define PROXY2_MOST  512 /* longest header accepted; no honest one is longer */

enum proxy2_end {
	PROXY2_GOOD,
	PROXY2_SHORT, /* incomplete so far */
	PROXY2_BAD,   /* not such a header, or one longer than PROXY2_MOST */
};

struct proxy2 {
	size_t len;  /* of the header; the client's data follows */
	bool is_for; /* from and to are set; not so when the proxy only checks our health */
	struct addr from, to; /* of IPv4 clients never as IPv4-mapped IPv6 */
};

enum proxy2_end proxy2_read(const uint8_t *at, size_t len, struct proxy2 *out);

#endif
