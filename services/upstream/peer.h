/* Servers asked over TLS or HTTPS: counters for each, and which to leave alone for a while.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * One table per worker, used by its thread. A server is an address, a port, the name that its
 * certificate must be for, and over HTTPS a path. */
#ifndef SERVICES_UPSTREAM_PEER_H
#define SERVICES_UPSTREAM_PEER_H

#include "util/base/list.h"
#include "util/net/addr.h"

struct peers;
struct tls;

struct peer { /* read-only for others; written by the functions below */
	struct addr at;
	char *name; /* NULL: not authenticated */
	char *path; /* over HTTPS; NULL: over TLS */
	char place[ADDR_TEXT];
	unsigned connections;         /* now, including those being opened */
	uint64_t questions, answers;  /* sent (with retransmissions) and received */
	uint64_t handshakes, resumed; /* completed; of these, resumed */
	uint64_t failures;            /* connections that never became usable; HTTP errors */
	uint64_t losses;              /* connections that broke with questions pending */
	uint32_t rtt_us;              /* from question to answer, smoothed */
	char why[200];                /* the last failure; "": none, or it works again */
	/* private */
	struct list link; /* least recently used first */
	struct peer *bucket_next;
	unsigned refs;
	uint64_t held_until_us, told_us;
	unsigned gave;      /* answers over the last connection broken off with questions left */
	unsigned carries;   /* how many questions a connection may carry; 0: no limit */
	unsigned fulfilled; /* connections since the last loss that got so many answers */
	uint64_t gave_us;
	bool told;
};

struct peers *peers_new(void) MUST_USE;
void peers_free(struct peers *p);

/* With a reference. */
struct peer *peers_get(struct peers *p, const struct addr *at, const char *name, const char *path);
void peer_drop(struct peer *peer); /* one reference */

enum { PEER_TEXT = ADDR_TEXT + 512 };
/* Its address, with #name and path. */
const char *peer_print(const struct peer *peer, char to[PEER_TEXT]);

void peer_shaken(struct peer *peer, bool resumed);
void peer_answered(struct peer *peer, uint64_t took_us);
/* A connection could not be used: logged, but not each time. A server that failed authentication
 * is not asked again for a moment. */
void peer_failed(struct peer *peer, const char *why, bool untrusted, uint64_t now_us);
/* It refuses to answer: logged as above. */
void peer_refused(struct peer *peer, const char *why, uint64_t now_us);
/* It closed a connection with questions pending, after `answers` answers. */
void peer_lost(struct peer *peer, unsigned answers, uint64_t now_us);
/* How many questions a connection to it may carry: what it answered on those it closed with
 * questions pending; UINT_MAX unless two were closed lately. A server may close for reasons of its
 * own, whatever it has answered: the limit at most halves at each loss, and doubles after some
 * connections that were answered in full. */
unsigned peer_carries(const struct peer *peer, uint64_t now_us);
/* A connection has carried all it may, and every question was answered. */
void peer_fulfilled(struct peer *peer);
bool peer_is_held(const struct peer *peer, uint64_t now_us);

void peers_each(const struct peers *p, void (*fn)(const struct peer *peer, void *arg), void *arg);

#endif
