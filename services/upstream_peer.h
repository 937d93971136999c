/* Servers asked over TLS or HTTPS: what is counted of each, whom to leave alone for a while.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * One table per worker, used by its thread. A server is an address, a port, the name that its
 * certificate must have, and over HTTPS a path. */
#ifndef SERVICES_UPSTREAM_PEER_H
#define SERVICES_UPSTREAM_PEER_H

#include "util/addr.h"
#include "util/list.h"

struct peers;
struct tls;

struct peer { /* to be read; written by the functions below */
	struct addr at;
	char *name; /* NULL: whoever answers is believed */
	char *path; /* over HTTPS; NULL: over TLS */
	char place[ADDR_TEXT];
	unsigned connections;         /* now, also those that are being opened */
	uint64_t questions, answers;  /* sent (each time), and received */
	uint64_t handshakes, resumed; /* done; of these, resumed */
	uint64_t failures;            /* connections that never became of use; HTTP errors */
	uint64_t losses;              /* those that broke with questions on them */
	uint32_t rtt_us;              /* from question to answer, smoothed */
	char why[200];                /* the last failure; "" : none, or it works again */
	/* the room's own */
	struct list link; /* used last stands last */
	struct peer *bucket_next;
	unsigned refs;
	uint64_t held_until_us, told_us;
	unsigned gave[2]; /* answers over the last connections that it broke off with questions left
			   */
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
/* A connection came to nothing: logged, but not each time. Who could not show who it is
 * is not asked again for a moment. */
void peer_failed(struct peer *peer, const char *why, bool untrusted, uint64_t now_us);
/* It does not want to answer: logged as above. */
void peer_refused(struct peer *peer, const char *why, uint64_t now_us);
/* It broke off a connection, with questions left, after so many answers. */
void peer_lost(struct peer *peer, unsigned answers, uint64_t now_us);
/* How many questions a connection to it may carry: no more than it was ready for lately. */
unsigned peer_carries(const struct peer *peer, uint64_t now_us);
bool peer_is_held(const struct peer *peer, uint64_t now_us);

void peers_each(const struct peers *p, void (*fn)(const struct peer *peer, void *arg), void *arg);

#endif
