/* How often the servers of a zone may be asked: ratelimit and its exceptions.
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef SERVICES_FORWARD_ZONELIMITS_H
#define SERVICES_FORWARD_ZONELIMITS_H

#include "util/base/base.h"

struct conf;
struct fault;
struct zonelimits;

struct zonelimits *zonelimits_new(const struct conf *conf, struct fault *f) MUST_USE;
void zonelimits_free(struct zonelimits *z); /* NULL is fine */

/* Whether any zone has a limit. */
bool zonelimits_exist(const struct zonelimits *z);
/* Queries a second: ratelimit-for-domain of exactly this zone, else ratelimit-below-domain of the
 * closest name strictly above it, else ratelimit. 0: unlimited. */
uint32_t zonelimits_get(const struct zonelimits *z, const uint8_t *zone);

#endif
