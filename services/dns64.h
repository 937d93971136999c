/* The module dns64: synthesises AAAA records for names that have only A records (RFC 6147).
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef SERVICES_DNS64_H
#define SERVICES_DNS64_H

#include "services/module.h"

struct netblock;

extern const struct module dns64_module;

/* RFC 6052 2.2: embed an IPv4 address in the prefix (32, 40, 48, 56, 64 or 96 bits), extract it. */
void dns64_embed(const struct netblock *prefix, const uint8_t ip4[4], uint8_t ip6[16]);
void dns64_extract(const struct netblock *prefix, const uint8_t ip6[16], uint8_t ip4[4]);

#endif
