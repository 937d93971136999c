/* How many answers one client may be waiting for: wait-limit and its kin.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * A flood of questions that take long would fill what all clients share, and come back as a flood of
 * answers at once (DNSBomb). A client is an IPv4 address or an IPv6 /64. Counted for all threads
 * together, and only where something is waited for: a cached answer touches none of this. */
#ifndef SERVICES_WAITLIMIT_H
#define SERVICES_WAITLIMIT_H

#include "util/base.h"

struct addr;
struct conf;
struct fault;

/* ---- the rules of one configuration ---- */

struct waitrules;

struct waitrules *waitrules_new(const struct conf *conf, struct fault *f) MUST_USE;
void waitrules_free(struct waitrules *r); /* NULL is fine */

#define WAIT_ANY UINT32_MAX
/* How many for this client; WAIT_ANY: as many as it likes. */
uint32_t waitrules_limit(const struct waitrules *r, const struct addr *client, bool has_cookie) PURE;

/* ---- the counts ---- */

struct waits;

struct waits *waits_new(void) MUST_USE;
void waits_free(struct waits *w); /* nobody waits any more; NULL is fine */

/* One more. False: it waits for `most` already, and nothing is counted. */
bool waits_begin(struct waits *w, const struct addr *client, uint32_t most) MUST_USE;
void waits_end(struct waits *w, const struct addr *client); /* one that was begun */
/* Whether a late answer of `len` bytes may go, over UDP, to a client whose address nothing proves. False:
 * so many bytes went there just now that this one is withheld (a client that did ask asks again), so
 * that answers which an authority held back do not leave in one pulse (DNSBomb). */
bool waits_may_send(struct waits *w, const struct addr *client, size_t len, uint64_t now_us) MUST_USE;
#define WAITS_LONG_MS 200  /* an answer that took longer is a late one */
#define WAITS_PULSE   4096 /* so many bytes of late answers a client gets at once … */
#define WAITS_PER_MS  48   /* … and so many more each millisecond */
unsigned waits_count(struct waits *w, const struct addr *client);

#endif
