/* Who asked, and the way back: what every client transport hands over.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * A transport gives the front end a packet and a `struct client`; it gets bytes back
 * through one table of functions. The front end does not know which transport it is.
 * For every packet handed over, exactly one of reply or drop is called, at once or
 * later; until then the client (and what it points to) stays valid. */
#ifndef SERVICES_LISTEN_H
#define SERVICES_LISTEN_H

#include "services/stats.h"
#include "util/addr.h"
#include "util/bytes.h"

struct client;

struct client_ops {
	const char *name;                       /* "udp", "tcp", "tls", "https", "played" */
	bool stream;                            /* no truncation, 64 KiB answers */
	bool encrypted;                         /* nobody on the way can read it */
	bool resumed;                           /* and the two sides had met before */
	bool https;                             /* over HTTP, encrypted or not */
	/* Send `len` bytes; they are copied or sent before it returns. */
	void (*reply)(const struct client *c, const uint8_t *bytes, size_t len);
	/* There will be no answer. */
	void (*drop)(const struct client *c);
};

static inline enum stat_transport client_transport(const struct client_ops *ops)
{
	if (!ops->stream)
		return STAT_UDP;
	if (ops->https)
		return STAT_HTTPS;
	return ops->encrypted ? STAT_TLS : STAT_TCP;
}

struct client {                                 /* copied freely */
	const struct client_ops *ops;
	struct addr from;
	struct addr reached;                    /* our address it came to; family 0 when not known */
	void *via;                              /* the listener's: socket or connection */
	uint64_t tag;                           /* the listener's: interface index, stream id … */
	uint64_t came_ns;                       /* since 1970, while it is told (services/tap.h); else 0 */
};

/* What one question looks like when it comes in; `out` has room for the answer to a
 * hit, which the transport sends when the front end says VERDICT_SEND. */
enum verdict {
	VERDICT_SEND,           /* `out` holds the answer: send it */
	VERDICT_DROP,           /* no answer, ever */
	VERDICT_LATER,          /* the client will be answered through its ops */
};

struct packet {
	struct slice in;
	struct writer out;
	struct client client;
};

/* The front end's door, given to every listener. */
typedef enum verdict (*packet_taker)(void *taker, struct packet *p);

/* The back door: whoever waits and `is` says so of does not want an answer any more. It is dropped
 * before this returns, if it still waits. There is one such client at most. */
typedef void (*packet_leaver)(void *taker, bool (*is)(const struct client *c, const void *arg),
			      const void *arg);

#endif
