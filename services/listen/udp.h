/* Client queries over UDP: packets are received and sent in batches.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * One per worker, used by its thread. From a readable socket a bounded number of batches is read at
 * a time, so that timers and other servers' responses get their turn. */
#ifndef SERVICES_LISTEN_UDP_H
#define SERVICES_LISTEN_UDP_H

#include "services/net/client.h"

struct connection_limits;
struct listen_socket;
struct listen_udp;
struct loop;
struct tap;

struct listen_udp *listen_udp_new(struct loop *l, packet_taker take, void *taker) MUST_USE;

/* Serve the UDP sockets among these and no others: new descriptors are taken over, those no longer
 * listed are closed; the others go on as these say. */
void listen_udp_serve(struct listen_udp *u, const struct listen_socket *sockets, size_t count);

/* Which proxies are trusted from now on (pinned); NULL: all. */
void listen_udp_share(struct listen_udp *u, struct connection_limits *connection_limits);

/* Size of the largest response: max-udp-size. */
void listen_udp_limit(struct listen_udp *u, size_t answer_max);

/* From now on drop queries that waited longer than `most_us` in a socket's queue; they and the
 * longest wait are counted in `stats` (which must outlive `u`). 0: drop none. */
void listen_udp_forget_old(struct listen_udp *u, uint64_t most_us, struct stats *stats);

/* The tap to report messages to from now on (must outlive `u`); NULL: none. */
void listen_udp_tap(struct listen_udp *u, struct tap *tap);

/* Closes every socket. Waiting clients must have been answered or dropped before. */
void listen_udp_free(struct listen_udp *u); /* NULL is fine */

#endif
