/* Client queries over TCP (RFC 7766), TLS (RFC 7858) and HTTPS (RFC 8484), many per connection.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * One per worker, used by its thread only. Slow clients are disconnected: a message once begun must be
 * complete within the idle timeout, a response must be taken within it, and the bytes waiting to be
 * taken are bounded.
 *
 * When all places are taken, a new connection gets that of another (services/listen/connection_table.h); one for which
 * there is none yet waits, and the others behind it in the kernel. An idle connection is not closed while
 * there is something from its client to be read. What one connection may keep: 128 questions in progress, 98 kB
 * that was read and not processed yet, 64 kB and one response that it has not taken. */
#ifndef SERVICES_LISTEN_TCP_H
#define SERVICES_LISTEN_TCP_H

#include "services/net/client.h"
#include "services/net/interfaces.h"

struct listen_socket;
struct listen_tcp;
struct loop;
struct connection_limits;
struct tap;
struct tls_server;

struct listen_tcp_limits {
	unsigned connections;      /* at once: incoming-num-tcp */
	uint32_t idle_ms;          /* tcp-idle-timeout; less when connections are scarce */
	size_t waiting_bytes;      /* responses that clients have not taken, all together */
	uint32_t keepalive_ms;     /* in place of idle_ms for clients of RFC 7828; 0: off */
	size_t pad_block;          /* of encrypted responses to clients of RFC 7830; 0: off */
	const char *http_endpoint; /* path of the URL; copied */
	uint32_t http_streams;     /* concurrent streams on a connection */
	size_t http_query_bytes, http_answer_bytes; /* incomplete; waiting to be taken */
	bool http_nodelay;
};

struct listen_tcp *listen_tcp_new(struct loop *l, packet_taker take, void *taker,
				  const struct listen_tcp_limits *limits) MUST_USE;
/* Call `leave` for questions that are withdrawn (HTTP/2 streams that are reset), and for all of a connection
 * that is closed. */
void listen_tcp_on_leave(struct listen_tcp *t, packet_leaver leave);
void listen_tcp_limit(struct listen_tcp *t, const struct listen_tcp_limits *limits);

/* As listen_udp_serve, for the TCP sockets among these. Connections stay. */
void listen_tcp_serve(struct listen_tcp *t, const struct listen_socket *sockets, size_t count);

/* Serve an established connection; takes `fd` over. If it needs TLS and there are no keys, it is
 * closed at once. */
struct arrival {
	struct addr from, reached;
	enum service service;
	bool proxied; /* it begins with a PROXYv2 header that names the client */
};
void listen_tcp_take(struct listen_tcp *t, int fd, const struct arrival *how);

/* Connection limits per client from now on (pinned); NULL: none. */
void listen_tcp_share(struct listen_tcp *t, struct connection_limits *connection_limits);

/* Count in `stats` from now on (must outlive `t`). */
void listen_tcp_stats(struct listen_tcp *t, struct stats *stats);

/* The tap to report messages to from now on (must outlive `t`); NULL: none. */
void listen_tcp_tap(struct listen_tcp *t, struct tap *tap);

/* TLS keys and certificate from now on (pinned); NULL: no TLS. Open connections go on. */
void listen_tcp_keys(struct listen_tcp *t, struct tls_server *keys);

unsigned listen_tcp_count(const struct listen_tcp *t); /* open connections */
size_t listen_tcp_untaken(const struct listen_tcp *t); /* bytes of responses waiting to be taken */

size_t listen_tcp_http_receiving(
	const struct listen_tcp *t); /* bytes of incomplete HTTP queries */
size_t listen_tcp_http_sending(const struct listen_tcp *t); /* bytes of HTTP responses waiting */

/* Closes everything. Waiting clients must have been answered or dropped before. */
void listen_tcp_free(struct listen_tcp *t); /* NULL is fine */

/* Idle timeout when `used` of `most` connections are open: all of `idle_ms` below half, then a
 * hundredth, from 65% on a five-hundredth, from 80% on nothing; never below 200 ms. It holds for connections there
 * are, too; a client that has asked something has five seconds, if `idle_ms` is not less. */
uint32_t listen_tcp_idle_ms(uint32_t idle_ms, unsigned used, unsigned most);

#endif
