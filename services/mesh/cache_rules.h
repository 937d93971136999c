/* What is cached of an answer, and for how long.
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef SERVICES_MESH_CACHE_RULES_H
#define SERVICES_MESH_CACHE_RULES_H

#include "util/base/base.h"

struct arena;
struct conf;
struct message;
struct msg_keep;
struct msgcache;
struct query;
struct question;
struct rrset;
struct stored;
struct verified;

/* RFC 9520: failures are cached, but briefly, and hardly at all when the network is down. */
#define STORE_FAILURE_S      5
#define STORE_FAILURE_MOST_S 20 /* when it fails repeatedly */
#define STORE_OUTAGE_S       1
#define STORE_SPENT_S        2 /* of a question that used up its own budget for validation: to the end of the next second */
/* A proven DNAME of TTL 0: to the end of the next second. */
#define STORE_DNAME_S        2

/* Limit TTLs to cache-min-ttl … cache-max-ttl (not under serve-original-ttl), and those of a denial
 * (its SOA, NSEC and NSEC3 RRsets: RFC 2308 5, RFC 9077) to the time it may be cached. RRsets that
 * change are copied to `a`, so they may be borrowed ones. For a message just received, before it is
 * cached; idempotent, also later. */
void store_limit_ttls(const struct conf *conf, struct message *m, struct arena *a, uint32_t now_s);

/* Only the part about denials, for one whose RRsets have since been replaced by better ones. */
void store_limit_denial(const struct conf *conf, struct message *m, struct arena *a,
			uint32_t now_s);

/* Limit the TTLs of a bogus answer to `most_s` (val-bogus-ttl): clients with CD get it, and all
 * clients with val-permissive-mode. */
void store_limit_bogus(uint32_t most_s, struct message *m, struct arena *a, uint32_t now_s);

/* store_limit_ttls for a single RRset: returns `set` or a copy in `a`. */
const struct rrset *store_limit_ttl(const struct conf *conf, const struct rrset *set,
				    struct arena *a);

/* Whether a message that was kept outside this process has the form of those written there: one
 * question, no EDNS, no flag but AA, no failure. Says nothing about the truth of its records. */
bool store_is_sound(const struct message *m);

/* Seconds `m` may be cached: the least of its TTLs; for a denial (NXDOMAIN, NODATA, also at the end
 * of an alias) no more than its SOA says within cache-min/max-negative-ttl, and STORE_FAILURE_S
 * without an SOA; for a bogus answer no more than val-bogus-ttl; for a failure as above. */
uint32_t store_ttl(const struct conf *conf, const struct message *m, uint32_t now_s);

/* Put `m` in the message cache for store_ttl, and repeated failures longer each time, up to
 * STORE_FAILURE_MOST_S; for a bogus answer that is too large, only that it is. `how` has the rest
 * (now_s, hash, scope). Under serve-expired a failure does not replace a good answer that may still
 * be served (RFC 8767 4). Returns the entry there is now, borrowed for the turn; NULL when `m` was
 * not stored. Called within a turn. */
const struct stored *store_message(struct msgcache *c, const struct conf *conf,
				   const struct message *m, const struct msg_keep *how);

/* Offer an RRset to the RRset cache; returns the one to believe (rrsetcache_put). `asked` is the
 * client's question that its message answers, or NULL. An RRset that merely answers it, from the
 * zone's own servers, is kept in the message only, which takes half the room: nothing looks up
 * addresses or texts in the RRset cache except the addresses of servers. When less trusted data for
 * such a name arrives, that answer is moved here first, so that it outranks it (RFC 2181 5.4.1). */
const struct rrset *store_set(const struct query *q, const struct question *asked,
			      const struct rrset *set, uint32_t now_s, struct arena *a);
/* The same for what the validator has verified: the only way by which an answer's RRsets are kept as
 * secure. */
void store_verified(const struct query *q, const struct question *asked, const struct verified *v,
		    uint32_t now_s, struct arena *a);

#endif
