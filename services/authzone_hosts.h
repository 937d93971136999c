/* Who may say that a zone has changed (RFC 1996 3.10): its primaries, the hosts of its urls, and whom
 * allow-notify names; by address, netblock, or the name of a host.
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef SERVICES_AUTHZONE_HOSTS_H
#define SERVICES_AUTHZONE_HOSTS_H

#include "util/base.h"

struct addr;
struct authhosts;
struct authzone;
struct env;
struct knownhosts;

/* Hosts are looked up on the thread of `env`; what is found is left with the zone's cell. `z` outlives
 * it. */
struct authhosts *authhosts_new(struct env *env, const struct authzone *z) MUST_USE;
void authhosts_free(struct authhosts *h);
/* Look them up, unless that is under way. */
void authhosts_refresh(struct authhosts *h);

/* Whether this sender may, as far as is known now. From any thread. */
bool authhosts_admit(const struct authzone *z, const struct addr *from);

/* When no turn can see it any more; NULL is fine. */
void knownhosts_retire(struct knownhosts *k);

#endif
