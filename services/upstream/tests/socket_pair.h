/* A small world for tests of the upstream transports: a real loop, and an environment to send from.
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef SERVICES_UPSTREAM_TESTS_SOCKET_PAIR_H
#define SERVICES_UPSTREAM_TESTS_SOCKET_PAIR_H

#include "services/query/env.h"
#include "services/query/snapshot.h"
#include "services/stats/stats.h"
#include "services/tests/conf.h"
#include "services/upstream/upstream.h"
#include "util/base/bytes.h"
#include "util/base/loop.h"
#include "util/base/random.h"

#include <unistd.h>

#include <netinet/in.h>
#include <sys/socket.h>

enum { QUERIES_MOST = 2048, QUERY_LEN = 30 };

/* One question under way, and what became of it. */
struct sent_query {
	struct transmission transmission;
	uint8_t wire[QUERY_LEN];
	bool arrived, failed, refuse; /* refuse: it is not what was asked for */
	bool gives_up;                /* with the first stray */
	struct sent_query *ends;            /* what its first stray ends, too */
	enum upstream_end why;
	unsigned strays;
	uint8_t got[64];
	size_t got_len;
};

static struct wire_world {
	struct loop *loop;
	struct env env;
	struct snapshot snapshot;
	struct stats stats;
	struct random random;
	struct transport *transport;
	struct sent_query queries[QUERIES_MOST];
	unsigned sent, over, stop_at; /* the loop stops when so many are over */
	bool in_send;
	struct timer late;
	bool was_late;
} wire;

static inline void one_over(void)
{
	assert_false(wire.in_send);
	if (++wire.over >= wire.stop_at)
		loop_stop(wire.loop);
}

static inline bool query_arrived(struct transmission *s, const uint8_t *at, size_t len)
{
	struct sent_query *m = container_of(s, struct sent_query, transmission);

	m->got_len = len;
	memcpy(m->got, at, MIN(len, sizeof(m->got)));
	if (m->refuse)
		return false;
	assert_false(m->arrived || m->failed);
	m->arrived = true;
	one_over();
	return true;
}

static inline bool query_strayed(struct transmission *s)
{
	struct sent_query *m = container_of(s, struct sent_query, transmission);

	m->strays++;
	if (m->ends) {
		wire.transport->ops->cancel(wire.transport, &m->ends->transmission);
		m->ends = NULL;
	}
	if (m->gives_up)
		one_over();
	return m->gives_up;
}

static inline void query_failed(struct transmission *s, enum upstream_end why)
{
	struct sent_query *m = container_of(s, struct sent_query, transmission);

	assert_false(m->arrived || m->failed);
	m->failed = true;
	m->why = why;
	one_over();
}

static inline void wire_late(struct timer *t)
{
	(void)t;
	wire.was_late = true;
	loop_stop(wire.loop);
}

static inline void wire_begin(const char *conf_text,
			      struct transport *(*transport_new)(struct env *env))
{
	memset(&wire, 0, sizeof(wire));
	wire.loop = loop_new();
	wire.late.fire = wire_late;
	wire.snapshot.conf = conf_from(conf_text);
	wire.snapshot.pins = 1;
	random_init(&wire.random);
	wire.env = (struct env){ .loop = wire.loop,
				 .time = loop_time(wire.loop),
				 .stats = &wire.stats,
				 .random = &wire.random,
				 .snapshot = &wire.snapshot };
	wire.transport = transport_new(&wire.env);
}

static inline void wire_end(void)
{
	wire.transport->ops->free(wire.transport);
	conf_free(wire.snapshot.conf);
	loop_free(wire.loop);
}

/* Send a question whose last byte is `tag`, where and how `way` says; returns its query. */
static inline struct sent_query *mail_send_by(const struct transmission *way, uint8_t tag)
{
	struct sent_query *m = &wire.queries[wire.sent++];

	assert_true(wire.sent <= QUERIES_MOST);
	memset(m->wire, 'q', sizeof(m->wire));
	m->wire[QUERY_LEN - 1] = tag;
	m->transmission = *way;
	m->transmission.wire = m->wire;
	m->transmission.len = sizeof(m->wire);
	m->transmission.arrived = query_arrived;
	m->transmission.strayed = query_strayed;
	m->transmission.failed = query_failed;
	wire.in_send = true;
	wire.transport->ops->send(wire.transport, &m->transmission);
	wire.in_send = false;
	return m;
}

static inline struct sent_query *mail_send(const struct addr *to, uint8_t tag)
{
	return mail_send_by(&(struct transmission){ .to = *to, .transport = TRANSPORT_TCP }, tag);
}

/* Run until `count` in all are over; false when that takes longer than a second or `ms`. */
static inline bool wire_run(unsigned count, unsigned ms)
{
	if (wire.over >= count && count)
		return true;
	wire.stop_at = count ? count : UINT32_MAX;
	wire.was_late = false;
	timer_set(wire.loop, &wire.late, (ms ? ms : 5000) * US_PER_MS);
	loop_run(wire.loop);
	timer_stop(wire.loop, &wire.late);
	return !wire.was_late;
}

/* Hand each whole message of `in`, length first, to `answer`; false when that closes the connection. */
static inline bool wire_take_queries(uint8_t *in, size_t *len,
				     bool (*answer)(void *peer, const uint8_t *framed), void *peer)
{
	size_t at = 0;

	for (; *len - at >= 2 + QUERY_LEN; at += 2 + QUERY_LEN) {
		assert_int_equal(get_u16(in + at), QUERY_LEN);
		if (!answer(peer, in + at))
			return false;
	}
	*len -= at;
	memmove(in, in + at, *len);
	return true;
}

/* A socket on a loopback address, at a port that the system chooses. */
static inline int wire_socket(int type, const char *ip, struct addr *at)
{
	struct sockaddr_storage ss;
	socklen_t len = sizeof(ss);
	int fd;

	assert_true(addr_parse(at, ip, 0, NULL));
	fd = socket(at->family == 6 ? AF_INET6 : AF_INET, type | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	assert_true(fd >= 0);
	assert_int_equal(bind(fd, (struct sockaddr *)&ss, addr_to_sockaddr(at, &ss)), 0);
	assert_int_equal(getsockname(fd, (struct sockaddr *)&ss, &len), 0);
	assert_true(addr_from_sockaddr(at, (struct sockaddr *)&ss, len));
	return fd;
}

/* Watch for callers there. */
static inline void wire_listen(struct watch *w, struct addr *at,
			       void (*on_caller)(struct watch *w, unsigned what))
{
	w->fd = wire_socket(SOCK_STREAM, "127.0.0.1", at);
	w->ready = on_caller;
	assert_int_equal(listen(w->fd, 64), 0);
	watch_start(wire.loop, w, WATCH_READ);
}

#endif
