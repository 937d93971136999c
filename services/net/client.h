/* The interface between client transports and the front end: a packet, its sender, the way back.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * A transport gives the front end a packet and a `struct client`, and gets bytes back through one
 * table of functions. The front end does not know which transport it is. For every packet taken
 * with DISPOSITION_LATER, exactly one of reply or drop is called, at once or later; until then the
 * client (and what it points to) stays valid. */
#ifndef SERVICES_NET_CLIENT_H
#define SERVICES_NET_CLIENT_H

#include "services/stats/stats.h"
#include "util/base/bytes.h"
#include "util/base/list.h"
#include "util/net/addr.h"

struct client;

struct client_ops {
	const char *name;                       /* "udp", "tcp", "tls", "https", "played" */
	bool stream;                            /* no truncation, 64 KiB answers */
	bool encrypted;                         /* over TLS */
	bool resumed;                           /* in a resumed TLS session */
	bool https;                             /* over HTTP, encrypted or not */
	/* Send `len` bytes; they are copied or sent before it returns. */
	void (*reply)(const struct client *c, const uint8_t *bytes, size_t len);
	/* There will be no answer. */
	void (*drop)(const struct client *c);
	/* Where those who wait on its connection are listed, until they are answered or dropped; NULL: the
	 * transport has no connections. */
	struct list *(*waiting)(const struct client *c);
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
	struct addr reached;                    /* our address it was sent to; family 0: unknown */
	void *via;                              /* the listener's: socket or connection */
	uint64_t tag;                           /* the listener's: interface index, stream id … */
	uint64_t came_ns;                       /* since 1970; 0: no tap wants it */
};

/* What the transport does with a packet the front end has looked at. */
enum disposition {
	DISPOSITION_SEND,           /* `out` holds the answer: send it */
	DISPOSITION_DROP,           /* there will be no answer */
	DISPOSITION_LATER,          /* the client will be answered or dropped through its ops */
};

struct packet {
	struct slice in;
	struct writer out;
	struct client client;
};

/* The front end's entry point, given to every listener. `out` of the packet has room for an answer
 * given at once, which the transport sends on DISPOSITION_SEND. */
typedef enum disposition (*packet_taker)(void *taker, struct packet *p);

/* Of the clients in `on_connection` (client_ops.waiting) the one for which `is` returns true no longer wants an answer:
 * if there is one (at most one), it is dropped before this returns. `is` NULL: all of them, as the
 * connection has gone. */
typedef void (*packet_leaver)(void *taker, struct list *on_connection,
			      bool (*is)(const struct client *c, const void *arg), const void *arg);

#endif
