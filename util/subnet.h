/* The client subnet option of EDNS (RFC 7871 6): read, written, cut to size.
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef UTIL_SUBNET_H
#define UTIL_SUBNET_H

#include "util/addr.h"
#include "util/bytes.h"

#define SUBNET_OPTION_MAX 20 /* bytes of its data: four and an IPv6 address */

struct subnet_option {
	uint16_t family; /* 1: IPv4, 2: IPv6; 0 only where `source` is 0 */
	uint8_t source;  /* bits that are told */
	uint8_t scope;   /* bits that an answer is good for */
	uint8_t ip[16];  /* bits past `source` are 0 */
};

/* Read the option's data. False where it is malformed: another family, more bits than its addresses
 * have, more or fewer bytes than `source` asks for, a bit set behind those (RFC 7871 6). With family 0
 * nothing may be told (`dig +subnet=0` says so). */
bool subnet_read(struct subnet_option *to, const struct slice *data) MUST_USE;

/* Its data, four bytes and as many of the address as `source` asks for; how many. */
size_t subnet_write(const struct subnet_option *o, uint8_t to[SUBNET_OPTION_MAX]);

/* The first `bits` of the address as a netblock without port; no more bits than it has. */
struct netblock subnet_of(const struct addr *a, unsigned bits);

/* What the option tells, but no more than `most` bits of it. */
struct netblock subnet_told(const struct subnet_option *o, unsigned most);

/* A netblock as a server is told of it; scope 0, as in every question. */
struct subnet_option subnet_shown(const struct netblock *n);

/* Where an answer holds. */
struct place_kept {
	struct netblock net;
	/* Who tells more of where it is may get another answer: only for clients that tell just so
	 * much. With no bits at all, for those who wish to tell nothing. */
	bool coarse;
};

/* Whether a server's option echoes what it was told: family, source, and those bits of the address
 * (RFC 7871 7.3). */
bool subnet_echoes(const struct subnet_option *reply, const struct netblock *told) PURE;

#endif
