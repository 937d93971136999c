/* The EDNS Client Subnet option (RFC 7871 6): reading, writing, truncating.
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef UTIL_NET_SUBNET_H
#define UTIL_NET_SUBNET_H

#include "util/base/bytes.h"
#include "util/net/addr.h"

#define SUBNET_OPTION_MAX 20 /* bytes of its data: four plus an IPv6 address */

struct subnet_option {
	uint16_t family; /* 1: IPv4, 2: IPv6; 0 only where `source` is 0 */
	uint8_t source;  /* SOURCE PREFIX-LENGTH: bits disclosed */
	uint8_t scope;   /* SCOPE PREFIX-LENGTH: bits the answer is for */
	uint8_t ip[16];  /* bits past `source` are 0 */
};

/* Read the option's data. False when malformed: an unknown family, more bits than the family has,
 * a length that does not match `source`, or a bit set beyond it (RFC 7871 6). Family 0 is allowed
 * with `source` 0 (`dig +subnet=0` sends it). */
bool subnet_read(struct subnet_option *to, const struct slice *data) MUST_USE;

/* Write its data, four bytes and as many address bytes as `source` needs. Returns the length. */
size_t subnet_write(const struct subnet_option *o, uint8_t to[SUBNET_OPTION_MAX]);

/* The first `bits` bits of the address (at most all) as a netblock, without port. */
struct netblock subnet_of(const struct addr *a, unsigned bits);

/* The netblock the option discloses, at most `most` bits of it. */
struct netblock subnet_to_send(const struct subnet_option *o, unsigned most);

/* The option that discloses a netblock to a server; scope 0, as in every query. */
struct subnet_option subnet_shown(const struct netblock *n);

/* For which clients an answer is valid. */
struct subnet_key {
	struct netblock net;
	/* Clients that disclose more bits might get another answer: valid only for those that
	 * disclose exactly this many; with 0 bits, for those that ask to disclose nothing. */
	bool coarse;
	uint8_t scope; /* SCOPE PREFIX-LENGTH for clients: longer than `net` where `coarse` says so */
};

/* Whether a server's option echoes what it was sent: family, source, and that many bits of the
 * address (RFC 7871 7.3). */
bool subnet_echoes(const struct subnet_option *reply, const struct netblock *told) PURE;

#endif
