/* Fills sets of the kernel's packet filter with the addresses that clients are told, so that the
 * firewall can route or filter by name: the ipset module, and zones of type ipset.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * An address is in its set before the answer leaves. This is done for each answer, cached or not,
 * since sets forget and firewalls restart; what was added a moment ago is not added again. Where it is
 * not configured a cached answer pays nothing, any other the test of a pointer. */
#ifndef SERVICES_POLICY_IPSET_H
#define SERVICES_POLICY_IPSET_H

#include "util/base/base.h"

struct conf;
struct localzones;
struct ipset; /* a worker's */

/* NULL if it is not configured, or no set can be opened, which is logged. */
struct ipset *ipset_new(const struct conf *conf) MUST_USE;
void ipset_free(struct ipset *f); /* NULL is fine */

/* Take the addresses from an answer to a client, in wire form: if the question's name is in a zone
 * of type ipset all of them, else those whose owners are. `now_s`: the worker's time. */
void ipset_take(struct ipset *f, const struct localzones *zones, const uint8_t *answer, size_t len,
		  uint32_t now_s);

#endif
