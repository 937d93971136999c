/* Who may send NOTIFY for a zone (RFC 1996 3.10): its primaries, the hosts of its urls, and those
 * in allow-notify; by address, netblock, or host name.
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef SERVICES_XFER_NOTIFY_SENDERS_H
#define SERVICES_XFER_NOTIFY_SENDERS_H

#include "util/base/base.h"

struct addr;
struct authhosts;
struct authzone;
struct env;

/* Host names are resolved on the thread of `env`, at once, every hour, and a minute after one of them could not be; the
 * addresses are published in the zone's cell. `z` must outlive it. */
struct authhosts *authhosts_new(struct env *env, const struct authzone *z) MUST_USE;
void authhosts_free(struct authhosts *h);
/* Resolve the names again, unless that is under way. */
void authhosts_refresh(struct authhosts *h);

/* Whether this sender may, by what is known now. From any thread. */
bool authhosts_admit(const struct authzone *z, const struct addr *from);

#endif
