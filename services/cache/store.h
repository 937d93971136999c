/* What of an answer is kept, and for how long.
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef SERVICES_CACHE_STORE_H
#define SERVICES_CACHE_STORE_H

#include "util/base.h"

struct arena;
struct conf;
struct message;
struct msg_keep;
struct msgcache;
struct query;
struct question;
struct rrset;
struct stored;

/* RFC 9520: a failure is remembered, but not for long, and for hardly any time when it was the
 * network's. */
#define STORE_FAILURE_S      5
#define STORE_FAILURE_MOST_S 20 /* when it fails again and again */
#define STORE_OUTAGE_S       1

/* Bring TTLs into cache-min-ttl … cache-max-ttl (not under serve-original-ttl), and those of a
 * denial (its SOA, NSEC and NSEC3 sets: RFC 2308 5, RFC 9077) into the time it may be kept. Sets
 * that change are copied to `a`, so that they may be borrowed ones. For what has just come in,
 * before it goes into a cache; doing it again, then or later, changes nothing. */
void store_limit_ttls(const struct conf *conf, struct message *m, struct arena *a, uint32_t now_s);

/* The part about denials alone, for one whose sets have been exchanged for better ones since. */
void store_limit_denial(const struct conf *conf, struct message *m, struct arena *a,
			uint32_t now_s);

/* What is bogus is nobody's for longer than val-bogus-ttl: who checks for himself gets it, and
 * everybody with val-permissive-mode. */
void store_limit_bogus(const struct conf *conf, struct message *m, struct arena *a, uint32_t now_s);

/* The same for a set that comes alone: `set` or a copy in `a`. */
const struct rrset *store_limit_ttl(const struct conf *conf, const struct rrset *set,
				    struct arena *a);

/* NXDOMAIN, or an answer section in which nothing has the type that was asked for: NODATA, also
 * behind aliases. A referral, which has NS sets and no SOA, denies nothing. */
bool message_is_denial(const struct message *m);

/* Whether what was kept outside of this process is an answer as it could have been written there: one
 * question, no EDNS, no flag but AA, no failure. Of the records' truth it says nothing. */
bool store_is_sound(const struct message *m);

/* How long `m` may be kept: the least of its TTLs; of a denial (NXDOMAIN, NODATA, also at the end
 * of an alias) no more than its SOA says within cache-min/max-negative-ttl, and STORE_FAILURE_S
 * when there is no SOA; of a bogus answer no more than val-bogus-ttl; of a failure as above. */
uint32_t store_ttl(const struct conf *conf, const struct message *m, uint32_t now_s);

/* Keep it in the message cache as long, and a failure that follows another longer each time, up to
 * STORE_FAILURE_MOST_S; of a bogus answer that is too large only the verdict. `how` says the rest (now_s, hash, scope). Under serve-expired
 * a failure does not replace a good answer that may still be served (RFC 8767 4). What stands there
 * now, borrowed for the turn; NULL when it was not kept. Called within a turn. */
const struct stored *store_message(struct msgcache *c, const struct conf *conf,
				   const struct message *m, const struct msg_keep *how);

/* Offer a set to the RRset cache, and learn which to believe (rrsetcache_put). `asked` is the
 * client's question that its message answers, or NULL. What just answers that, on the word of its own
 * zone's servers, is kept with the message alone, where it takes half the room: nobody looks in the
 * RRset cache for an address or a text but for servers' addresses. When one comes of such a name
 * by hearsay, the answer is brought here first, so that it outranks it (RFC 2181 5.4.1). */
const struct rrset *store_set(const struct query *q, const struct question *asked,
			      const struct rrset *set, uint32_t now_s, struct arena *a);

#endif
