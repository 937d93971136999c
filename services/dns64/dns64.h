/* The module dns64: synthesises AAAA records for names that have only A records (RFC 6147).
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * They are made of the A records as they are, for everybody; what a client may be told of them is
 * for policy to check, by rules for the IPv4 addresses as well (services/policy/policy.h). */
#ifndef SERVICES_DNS64_DNS64_H
#define SERVICES_DNS64_DNS64_H

#include "services/query/module.h"

extern const struct module dns64_module;

#endif
