/* Questions over UDP: packets come and go in batches.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * One per worker, used by its thread. A socket that is readable is drained a bounded number of
 * batches at a time, so that timers and other servers' answers get their turn. */
#ifndef SERVICES_LISTEN_UDP_H
#define SERVICES_LISTEN_UDP_H

#include "services/listen.h"

struct connlimits;
struct listen_socket;
struct listen_udp;
struct loop;
struct tap;

struct listen_udp *listen_udp_new(struct loop *l, packet_taker take, void *taker) MUST_USE;

/* Serve the UDP sockets among these and no others: descriptors that are new are taken over,
 * those that are named no more are closed. */
void listen_udp_serve(struct listen_udp *u, const struct listen_socket *sockets, size_t count);

/* Which proxies may speak for others, from now on (pinned); NULL: all. */
void listen_udp_share(struct listen_udp *u, struct connlimits *connlimits);

/* Room that the largest answer needs: max-udp-size. */
void listen_udp_limit(struct listen_udp *u, size_t answer_max);

/* Questions that waited longer than `most_us` in a socket's queue are dropped from now on, and counted
 * in `stats` (which outlives `u`), as the longest wait is; 0: all are taken, however old. */
void listen_udp_forget_old(struct listen_udp *u, uint64_t most_us, struct stats *stats);

/* Who is told of questions and answers from now on (it outlives `u`); NULL: nobody. */
void listen_udp_tap(struct listen_udp *u, struct tap *tap);

/* Closes every socket. Whoever still waits must have been answered or dropped before. */
void listen_udp_free(struct listen_udp *u); /* NULL is fine */

#endif
