/* The most recent client queries and their outcome, in fixed memory.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * One thread writes (a worker), without locks or waiting; any other may copy the contents at any
 * time. Entries overwritten during the copy are left out, never shown torn. */
#ifndef SERVICES_HISTORY_RING_H
#define SERVICES_HISTORY_RING_H

#include <stdatomic.h>

#include "util/base/rcu.h"
#include "util/net/addr.h"

#define QUERYRING_ENTRY 112 /* bytes that one is reckoned with; most take less */
#define QUERYRING_TEXT  200 /* bytes of words that are kept of one */

/*                    shown as     what it means */
#define SEEN_HOWS(X)                                                        \
	X(cached, "cached")     /* from the cache */                        \
	X(expired, "expired")   /* the same, past its TTL */                \
	X(resolved, "resolved") /* servers were asked, or resolving failed */ \
	X(local, "local")       /* answered from local configuration */     \
	X(blocked, "blocked")   /* the client is not told what exists */    \
	X(refused, "refused")   /* this client may not ask, or not this */  \
	X(dropped, "dropped")   /* no answer at all: rates, limits */

enum seen_how {
#define X(name, word) SEEN_##name,
	SEEN_HOWS(X)
#undef X
	SEEN_KINDS
};

const char *seen_how_word(enum seen_how how) PURE;

#define SEEN_NO_ANSWER 255 /* as rcode */

/* One query and its outcome. */
struct seen {
	uint64_t at_us;       /* when it was asked; monotonic */
	uint64_t took_us;
	struct addr client;   /* family 0: not kept */
	struct addr server;   /* whose answer ended it; family 0: none */
	const uint8_t *name;
	uint16_t name_len, type, class_;
	uint8_t how, rcode, transport, reason; /* enums seen_how, rcode, stat_transport, reason */
	const char *text;     /* what decided it, or details of the failure; "" or NULL: none */
};

struct queryring;
struct queryring_copy;

/* With room for about `entries` entries. */
struct queryring *queryring_new(size_t entries) MUST_USE;
void queryring_free(struct queryring *r);   /* NULL is fine */
void queryring_retire(struct queryring *r); /* free it after all turns open now; NULL is fine */
size_t queryring_bytes(const struct queryring *r);

void queryring_put(struct queryring *r, const struct seen *s);

/* A copy of all entries, which takes as much memory as the ring. Call it within a turn if the ring
 * may be retired meanwhile; the copy may be used outside, and is freed with mem_free. */
struct queryring_copy *queryring_copy(const struct queryring *r) MUST_USE;
/* Oldest first; what `s` points to is valid during the call. */
void queryring_copy_each(const struct queryring_copy *c,
			 void (*fn)(const struct seen *s, void *arg), void *arg);

#endif
