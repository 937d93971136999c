/* Sets of addresses in the kernel's packet filter: those of ipset, and those of nftables.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * Linux with libmnl; elsewhere none can be opened. Adding needs CAP_NET_ADMIN, from opening on. */
#ifndef UTIL_NET_KERNSET_H
#define UTIL_NET_KERNSET_H

#include "util/net/addr.h"

struct fault;
struct kernset; /* one set, and a socket to the kernel; not thread-safe */

/* As the operator names a set: "NAME" is one of ipset, "FAMILY TABLE NAME" one of nftables, with a
 * family as nft(8) has them. */
bool kernset_check(const char *name, struct fault *f);

/* The set need not exist yet: firewalls make theirs anew at any time. */
struct kernset *kernset_open(const char *name, struct fault *f) MUST_USE;
void kernset_close(struct kernset *s); /* NULL is fine */

/* Add the address; one that is in the set already gets the set's timeout anew, if it has one. The
 * kernel has it when this returns. False: it has not, with the reason in `f`. */
bool kernset_add(struct kernset *s, const struct addr *a, struct fault *f);

#endif
