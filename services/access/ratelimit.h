/* Rate limits: at most so many events a second for each key, in bounded memory.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * Shared by all threads. A key is any byte string: a client's address, a zone's name. The least
 * recently used keys make room for new ones. */
#ifndef SERVICES_ACCESS_RATELIMIT_H
#define SERVICES_ACCESS_RATELIMIT_H

#include "util/base/base.h"

struct addr;
struct random;
struct ratelimit;

enum { RATE_KEY_MAX = 255, RATE_TOLD = 10 /* a second */ };

struct rate_rule {
	uint32_t limit;  /* events a second */
	uint32_t factor; /* over the limit, one in so many still passes; 0: none */
	bool backoff;    /* stays over the limit until the demand of two seconds is below it */
	bool tells;      /* set by ratelimit_admits: log this one, passing or not, as the first of its key in this second; RATE_TOLD at most */
};

/* `size` bytes in `slabs` parts (a power of two), each with a lock. */
struct ratelimit *ratelimit_new(size_t size, unsigned slabs) MUST_USE;
void ratelimit_free(struct ratelimit *r); /* NULL is fine */

/* Count an event; returns whether it is within the limit. */
bool ratelimit_admits(struct ratelimit *r, const void *key, size_t len,
		      struct rate_rule *rule, uint32_t now_s, struct random *random);

/* The current rate of each key: demand in the last full or current second. `fn` is called without
 * a lock. */
void ratelimit_each(struct ratelimit *r, uint32_t now_s,
		    void (*fn)(const uint8_t *key, size_t len, uint32_t rate, void *arg), void *arg);

/* The key of a client: its address without the port. `key` has room for 17 bytes. */
size_t rate_key_of(const struct addr *client, uint8_t key[17]);
#define RATE_KEY_NETWORK 9 /* so many of its first bytes are the key of an IPv6 client's /64 */
/* The reverse; false when the key is not a client's. */
bool rate_key_read(const uint8_t *key, size_t len, struct addr *to);

#endif
