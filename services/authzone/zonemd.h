/* ZONEMD: the digest over all records of a zone (RFC 8976).
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef SERVICES_AUTHZONE_ZONEMD_H
#define SERVICES_AUTHZONE_ZONEMD_H

#include "util/base/base.h"

struct fault;
struct zonedata;

enum zonemd_end {
	ZONEMD_RIGHT,
	ZONEMD_ABSENT,  /* there is no ZONEMD record */
	ZONEMD_UNKNOWN, /* none of its schemes and algorithms is supported */
	ZONEMD_WRONG,   /* `f` says why */
};

enum { ZONEMD_SIMPLE = 1 };                     /* scheme */
enum { ZONEMD_SHA384 = 1, ZONEMD_SHA512 = 2 }; /* digest algorithm */
#define ZONEMD_MOST 64                          /* bytes of a digest */

enum zonemd_end zonemd_check(const struct zonedata *z, struct fault *f);

/* The digest with scheme SIMPLE; returns its length, 0 for an unsupported algorithm. */
size_t zonemd_digest(const struct zonedata *z, uint8_t algorithm, uint8_t to[ZONEMD_MOST]);

#endif
