/* Questions over TCP (RFC 7766), TLS (RFC 7858) and HTTPS (RFC 8484), many on one connection.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * One per worker, used by its thread. Whoever is slow is cut: a message once begun must be whole
 * within the idle time, an answer must be taken within it, and what waits to be taken has a bound.
 */
#ifndef SERVICES_LISTEN_TCP_H
#define SERVICES_LISTEN_TCP_H

#include "services/interfaces.h"
#include "services/listen.h"

struct listen_socket;
struct listen_tcp;
struct loop;
struct connlimits;
struct tap;
struct tls_server;

struct listen_tcp_limits {
	unsigned connections;      /* at once: incoming-num-tcp */
	uint32_t idle_ms;          /* tcp-idle-timeout; less when connections are scarce */
	size_t waiting_bytes;      /* answers that clients have not taken, all together */
	uint32_t keepalive_ms;     /* instead of idle_ms for who asks (RFC 7828); 0: for nobody */
	size_t pad_block;          /* encrypted answers to who pads (RFC 7830); 0: are not padded */
	const char *http_endpoint; /* path of the URL; copied */
	uint32_t http_streams;     /* questions at once on a connection */
	size_t http_query_bytes, http_answer_bytes; /* that are not whole; that wait to be taken */
	bool http_nodelay;
};

struct listen_tcp *listen_tcp_new(struct loop *l, packet_taker take, void *taker,
				  const struct listen_tcp_limits *limits) MUST_USE;
/* Tell it of questions that are taken back (HTTP/2 streams that are reset). */
void listen_tcp_on_leave(struct listen_tcp *t, packet_leaver leave);
void listen_tcp_limit(struct listen_tcp *t, const struct listen_tcp_limits *limits);

/* Serve the TCP sockets among these and no others, as listen_udp_serve. Connections stay. */
void listen_tcp_serve(struct listen_tcp *t, const struct listen_socket *sockets, size_t count);

/* Serve a connection that is there already: takes `fd` over. Where it must be encrypted and there
 * are no keys, it is closed at once. */
struct arrival {
	struct addr from, reached;
	enum service service;
	bool proxied; /* it begins with a PROXYv2 header, which says for whom it is */
};
void listen_tcp_take(struct listen_tcp *t, int fd, const struct arrival *how);

/* What each client may have of it, from now on (pinned); NULL: as many as there are. */
void listen_tcp_share(struct listen_tcp *t, struct connlimits *connlimits);

/* Who is told of questions and answers from now on (it outlives `t`); NULL: nobody. */
void listen_tcp_tap(struct listen_tcp *t, struct tap *tap);

/* Who we are over TLS from now on (pinned); NULL: nobody. Open connections go on. */
void listen_tcp_keys(struct listen_tcp *t, struct tls_server *keys);

unsigned listen_tcp_count(const struct listen_tcp *t); /* connections now open */
size_t listen_tcp_untaken(const struct listen_tcp *t); /* bytes of answers that wait to be taken */

size_t listen_tcp_http_receiving(
	const struct listen_tcp *t); /* bytes of questions over HTTP, not whole */
size_t listen_tcp_http_sending(const struct listen_tcp *t); /* of answers over it that wait */

/* Closes everything. Whoever still waits must have been answered or dropped before. */
void listen_tcp_free(struct listen_tcp *t); /* NULL is fine */

/* How long a connection may be idle when `used` of `most` are taken: the whole time below half,
 * then a hundredth, from 65% on a five-hundredth, from 80% on nothing; never below 200 ms. */
uint32_t listen_tcp_idle_ms(uint32_t idle_ms, unsigned used, unsigned most);

#endif
