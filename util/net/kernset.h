/* Sets of addresses in the kernel's packet filter: those of ipset and of nftables, tables of pf.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * Linux with libmnl (kernset.c): adding needs CAP_NET_ADMIN, from opening on. BSD (kernset_pf.c): who
 * prepares must be able to write to /dev/pf. Elsewhere none can be opened. */
#ifndef UTIL_NET_KERNSET_H
#define UTIL_NET_KERNSET_H

#include "util/net/addr.h"

struct fault;
struct kernset; /* one set, and the way to the kernel; not thread-safe */

/* What this program lacks to fill sets, for a person; NULL: nothing. */
const char *kernset_lack(void);

/* As the operator names a set: "NAME" is one of ipset, "FAMILY TABLE NAME" one of nftables, with a
 * family as nft(8) has them. With pf: the name of a table. */
bool kernset_check(const char *name, struct fault *f);

/* Before privileges are dropped and any chroot: what opening takes of them. Failure is told by
 * kernset_open. Not for several threads at a time, as kernset_open. */
void kernset_prepare(void);

/* The set need not exist yet: firewalls make theirs anew at any time. */
struct kernset *kernset_open(const char *name, struct fault *f) MUST_USE;
void kernset_close(struct kernset *s); /* NULL is fine */

/* Add the address; one that is in the set already gets the set's timeout anew, if it has one (pf's
 * have none). The kernel has it when this returns. False: it has not, with the reason in `f`. */
bool kernset_add(struct kernset *s, const struct addr *a, struct fault *f);

#endif
