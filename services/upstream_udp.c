/* Questions to other servers over UDP: for each a port and an id that nobody can foresee.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * Every sending has a socket of its own, bound to a random port of all that are allowed, connected
 * to the server, and closed as soon as the answer is there: an off-path attacker faces the whole
 * port and id space anew each time, and learns nothing from probing ports (RFC 5452, SAD DNS).
 * Our questions are far below any path's MTU, so there is nothing to set against fragments. */
#include "services/env.h"
#include "services/snapshot.h"
#include "services/stats.h"
#include "services/upstream.h"
#include "services/upstream_source.h"
#include "util/list.h"
#include "util/loop.h"
#include "util/mem.h"
#include "util/options.h"
#include "util/random.h"

#include <errno.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

enum {
	BIND_TRIES = 100, /* ports that may turn out to be taken */
	READS_PER_TURN = 16,
	SPARE_MOST = 512,
};

struct udp;

/* A sending and its socket; or one of the two. */
struct port {
	struct watch watch; /* fd -1: not open */
	struct udp *udp;
	struct list link;        /* in one of the lists of struct udp */
	struct sending *sending; /* NULL: kept open a little for what comes late */
	struct addr to;
	uint16_t id;
	bool connected;
	struct timer linger;
	struct port *next_spare;
};

struct udp {
	struct transport transport;
	struct sources *sources;
	const struct snapshot *sources_of;
	uint64_t sources_number;
	struct list open;
	struct list waiting; /* for a place among the open ones */
	struct list failing; /* could not leave; told in the next turn */
	struct timer tell_failing;
	unsigned open_count;
	struct port *spare;
	unsigned spare_count;
	uint8_t buf[MSG_MAX];
};

enum opened { OPENED, NO_WAY, NO_RESOURCES };

static const struct conf_server *conf_of(const struct udp *u)
{
	return &u->transport.env->snapshot->conf->server;
}

static const struct sources *sources_get(struct udp *u)
{
	const struct snapshot *s = u->transport.env->snapshot;

	if (u->sources_of != s || u->sources_number != s->number) {
		sources_free(u->sources);
		u->sources = sources_new(s->conf, true);
		u->sources_of = s;
		u->sources_number = s->number;
	}
	return u->sources;
}

/*
 * Ports.
 */

static void on_ready(struct watch *w, unsigned what);
static void on_linger(struct timer *t);

static struct port *port_new(struct udp *u, struct sending *s)
{
	struct port *p = u->spare;

	if (p) {
		u->spare = p->next_spare;
		u->spare_count--;
	} else {
		p = mem_new(sizeof(*p));
	}
	*p = (struct port){ .watch = { .fd = -1, .ready = on_ready },
			    .udp = u,
			    .sending = s,
			    .to = s->to,
			    .linger = { .fire = on_linger } };
	list_init(&p->link);
	s->slot = p;
	return p;
}

static void port_free(struct port *p)
{
	struct udp *u = p->udp;

	timer_stop(u->transport.env->loop, &p->linger);
	list_remove(&p->link);
	if (p->watch.fd >= 0) {
		watch_stop(&p->watch);
		close(p->watch.fd);
		u->open_count--;
	}
	if (u->spare_count == SPARE_MOST) {
		mem_free(p);
		return;
	}
	p->next_spare = u->spare;
	u->spare = p;
	u->spare_count++;
}

static bool set_flag(int fd, int level, int option, int value)
{
	return setsockopt(fd, level, option, &value, sizeof(value)) == 0;
}

/* The system need not know an address that was drawn from a netblock routed to us. */
static void allow_drawn(int fd)
{
#ifdef IPV6_FREEBIND
	set_flag(fd, IPPROTO_IPV6, IPV6_FREEBIND, 1);
#elif HAVE_DECL_IP_FREEBIND
	set_flag(fd, IPPROTO_IP, IP_FREEBIND, 1);
#elif defined(IPV6_BINDANY)
	set_flag(fd, IPPROTO_IPV6, IPV6_BINDANY, 1);
#else
	(void)fd;
#endif
}

static enum opened bind_somewhere(struct udp *u, int fd, uint8_t family)
{
	const struct sources *sources = sources_get(u);
	struct random *random = u->transport.env->random;

	for (unsigned i = 0; i < BIND_TRIES; i++) {
		struct sockaddr_storage ss;
		struct addr source;
		bool is_drawn;

		if (!sources_address(sources, random, family, &source, &is_drawn))
			return NO_WAY;
		source.port = sources_port(sources, random);
		if (!source.port)
			return NO_WAY;
		if (is_drawn)
			allow_drawn(fd);
		if (bind(fd, (struct sockaddr *)&ss, addr_to_sockaddr(&source, &ss)) == 0)
			return OPENED;
		if (errno != EADDRINUSE && errno != EACCES)
			return NO_WAY;
	}
	return NO_RESOURCES;
}

static bool send_bytes(const struct port *p, const struct sending *s)
{
	struct sockaddr_storage ss;
	socklen_t len = p->connected ? 0 : addr_to_sockaddr(&s->to, &ss);
	ssize_t n = sendto(p->watch.fd, s->wire, s->len, 0,
			   p->connected ? NULL : (struct sockaddr *)&ss, len);

	/* A full queue is as good as a packet lost on the way: it is sent again. */
	return n >= 0 || errno == EAGAIN || errno == EWOULDBLOCK || errno == ENOBUFS ||
	       errno == EINTR;
}

static enum opened port_use(struct port *p, struct sending *s)
{
	struct udp *u = p->udp;
	const struct conf_server *conf = conf_of(u);
	struct sockaddr_storage ss;
	socklen_t len = addr_to_sockaddr(&s->to, &ss);
	enum opened bound = bind_somewhere(u, p->watch.fd, s->to.family);

	if (bound != OPENED)
		return bound;
	if (conf->ip_dscp)
		set_flag(p->watch.fd, s->to.family == 6 ? IPPROTO_IPV6 : IPPROTO_IP,
			 s->to.family == 6 ? IPV6_TCLASS : IP_TOS, (int)conf->ip_dscp << 2);
	p->connected = conf->udp_connect;
	if (p->connected && connect(p->watch.fd, (struct sockaddr *)&ss, len) < 0)
		return NO_WAY;
	p->id = random_u16(u->transport.env->random);
	put_u16(s->wire, p->id);
	return send_bytes(p, s) ? OPENED : NO_WAY;
}

static enum opened port_open(struct port *p)
{
	struct udp *u = p->udp;
	enum opened o;

	p->watch.fd = socket(p->to.family == 6 ? AF_INET6 : AF_INET,
			     SOCK_DGRAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	if (p->watch.fd < 0)
		return errno == EAFNOSUPPORT ? NO_WAY : NO_RESOURCES;
	o = port_use(p, p->sending);
	if (o != OPENED) {
		close(p->watch.fd);
		p->watch.fd = -1;
		return o;
	}
	u->open_count++;
	watch_start(u->transport.env->loop, &p->watch, WATCH_READ);
	return OPENED;
}

/* Open it now, or see that it is opened or its sending told later. */
static void port_begin(struct port *p)
{
	struct udp *u = p->udp;
	enum opened o = NO_RESOURCES;

	if (u->open_count < conf_of(u)->outgoing_range)
		o = port_open(p);
	p->sending->queued = false;
	list_remove(&p->link);
	if (o == OPENED) {
		list_push_back(&u->open, &p->link);
	} else if (o == NO_RESOURCES && u->open_count) {
		p->sending->queued = true;
		list_push_back(&u->waiting, &p->link);
	} else {
		list_push_back(&u->failing, &p->link);
		timer_set(u->transport.env->loop, &u->tell_failing, 0);
	}
}

/* A port has become free. */
static void admit_waiting(struct udp *u)
{
	if (!list_is_empty(&u->waiting))
		port_begin(LIST_ITEM(u->waiting.next, struct port, link));
}

static void port_close(struct port *p)
{
	struct udp *u = p->udp;

	port_free(p);
	admit_waiting(u);
}

static void on_linger(struct timer *t)
{
	port_close(container_of(t, struct port, linger));
}

/*
 * What comes back.
 */

static void on_failing(struct timer *t)
{
	struct udp *u = container_of(t, struct udp, tell_failing);
	struct list now;

	/* Who is told may send again and fail again: that is for the next turn. */
	list_init(&now);
	list_put_after(u->failing.prev, &now);
	list_remove(&u->failing);
	while (!list_is_empty(&now)) {
		struct port *p = LIST_ITEM(now.next, struct port, link);
		struct sending *s = p->sending;

		port_free(p);
		s->failed(s, UPSTREAM_UNREACHABLE);
	}
}

/* Length of a packet from the server, in udp->buf; -1 when there is none (errno says why), 0 for
 * one that came from elsewhere. */
static ssize_t port_read(struct port *p)
{
	struct udp *u = p->udp;
	struct sockaddr_storage ss;
	socklen_t len = sizeof(ss);
	struct addr from;
	ssize_t n;

	if (p->connected)
		return recv(p->watch.fd, u->buf, sizeof(u->buf), 0);
	n = recvfrom(p->watch.fd, u->buf, sizeof(u->buf), 0, (struct sockaddr *)&ss, &len);
	if (n < 0)
		return n;
	if (addr_from_sockaddr(&from, (struct sockaddr *)&ss, len) && addr_equals(&from, &p->to))
		return n;
	stat_bump(&u->transport.env->stats->unwanted_replies, 1);
	return 0;
}

/* True when that was what was waited for, or the end of waiting. */
static bool port_hand_over(struct port *p, size_t len)
{
	struct sending *s = p->sending;

	if (!s || len < 2)
		return false;
	if (get_u16(p->udp->buf) == p->id)
		return s->arrived(s, p->udp->buf, len);
	return s->strayed(s);
}

static void on_ready(struct watch *w, unsigned what)
{
	struct port *p = container_of(w, struct port, watch);

	(void)what;
	for (unsigned i = 0; i < READS_PER_TURN; i++) {
		ssize_t n = port_read(p);
		struct sending *s = p->sending;

		if (n < 0 && (errno == EAGAIN || errno == EWOULDBLOCK))
			return;
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0) {
			/* The server's host, or one on the way, says that it is no use. */
			port_close(p);
			if (s)
				s->failed(s, UPSTREAM_SILENT);
			return;
		}
		if (port_hand_over(p, (size_t)n)) {
			port_close(p);
			return;
		}
	}
}

/*
 * The transport.
 */

static void udp_send(struct transport *t, struct sending *s)
{
	port_begin(port_new(container_of(t, struct udp, transport), s));
}

static void udp_cancel(struct transport *t, struct sending *s)
{
	struct udp *u = container_of(t, struct udp, transport);
	struct port *p = s->slot;
	uint32_t delay_ms = conf_of(u)->delay_close;

	if (p->watch.fd >= 0 && delay_ms) {
		/* What comes late finds an open port, so that no ICMP error goes back. */
		p->sending = NULL;
		timer_set(t->env->loop, &p->linger, delay_ms * US_PER_MS);
		return;
	}
	port_close(p);
}

static void ports_free(struct list *ports)
{
	while (!list_is_empty(ports))
		port_free(LIST_ITEM(ports->next, struct port, link));
}

static void udp_free(struct transport *t)
{
	struct udp *u = container_of(t, struct udp, transport);
	struct port *p;

	timer_stop(t->env->loop, &u->tell_failing);
	ports_free(&u->waiting);
	ports_free(&u->failing);
	ports_free(&u->open);
	while ((p = u->spare)) {
		u->spare = p->next_spare;
		mem_free(p);
	}
	sources_free(u->sources);
	mem_free(u);
}

struct transport *upstream_udp_new(struct env *env)
{
	static const struct transport_ops ops = {
		.name = "udp",
		.send = udp_send,
		.cancel = udp_cancel,
		.free = udp_free,
	};
	struct udp *u = mem_zero(sizeof(*u));

	u->transport = (struct transport){ .ops = &ops, .env = env };
	list_init(&u->open);
	list_init(&u->waiting);
	list_init(&u->failing);
	u->tell_failing.fire = on_failing;
	return &u->transport;
}
