/* How many answers one client may be waiting for: wait-limit and related options.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * A flood of slow queries would exhaust what all clients share, and come back as a burst of
 * responses (DNSBomb). A client is an IPv4 address or an IPv6 /64. Counted over all threads, and
 * only for answers that have to be waited for: a cached answer touches none of this. */
#ifndef SERVICES_ACCESS_WAITLIMIT_H
#define SERVICES_ACCESS_WAITLIMIT_H

#include "util/base/base.h"

struct addr;
struct conf;
struct fault;

/* ---- the rules of one configuration ---- */

struct waitrules;

struct waitrules *waitrules_new(const struct conf *conf, struct fault *f) MUST_USE;
void waitrules_free(struct waitrules *r); /* NULL is fine */

#define WAIT_ANY UINT32_MAX
/* The limit for this client; WAIT_ANY: none. */
uint32_t waitrules_limit(const struct waitrules *r, const struct addr *client, bool has_cookie) PURE;

/* ---- the counts ---- */

struct waits;

struct waits *waits_new(void) MUST_USE;
void waits_free(struct waits *w); /* nobody waits any more; NULL is fine */

/* Count one more. False: it already waits for `most`, and nothing is counted. */
bool waits_begin(struct waits *w, const struct addr *client, uint32_t most) MUST_USE;
void waits_end(struct waits *w, const struct addr *client); /* one that was begun */
/* Whether a late response of `len` bytes may be sent over UDP to a client whose address is not
 * proven. False: so many bytes went there just now that this one is withheld (a genuine client
 * retries), so that responses an authority held back do not leave in one burst (DNSBomb). */
bool waits_may_send(struct waits *w, const struct addr *client, size_t len, uint64_t now_us) MUST_USE;
#define WAITS_LONG_MS 200  /* an answer that took longer is a late one */
#define WAITS_BURST   4096 /* bytes of late responses a client gets at once … */
#define WAITS_PER_MS  48   /* … and bytes more each millisecond */
unsigned waits_count(struct waits *w, const struct addr *client);

#endif
