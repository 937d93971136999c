/* Queries to other servers over UDP, each with an unpredictable port and id.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * A socket is bound to a random port of those allowed and connected to one server. It sends one
 * query and closes with the response, so that an off-path attacker faces the whole port and id
 * space anew each time and learns nothing from probing ports (RFC 5452, SAD DNS). Opening a socket
 * per query is the main cost of sending, so above a certain rate (outgoing-port-share-above) a port
 * sends its server several queries (outgoing-port-uses), each with an id of its own, for at most a
 * second, never after a pause, and never after receiving anything that was no response: probing for
 * a port, or guessing ids at one, closes it. Our queries are far smaller than any path MTU, so
 * nothing is needed against fragmentation. */
#include "services/net/source.h"
#include "services/query/env.h"
#include "services/query/snapshot.h"
#include "services/stats/stats.h"
#include "services/upstream/unwanted.h"
#include "services/upstream/upstream.h"
#include "util/base/list.h"
#include "util/base/log.h"
#include "util/base/loop.h"
#include "util/base/mem.h"
#include "util/base/random.h"
#include "util/conf/options.h"

#include <errno.h>
#include <netinet/in.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

enum {
	BIND_TRIES = 100, /* drawn ports that may turn out to be in use */
	GONE_TRIES = 32,  /* drawn addresses that are not (or no longer) ours */
	READS_PER_TURN = 16,
	SPARE_MOST = 512,
	BUCKETS = 256,
	PORT_LIFE_MS = 1000, /* after that it takes no new queries */
	PORT_USES = 64,      /* nor more than this many (outgoing-port-uses), */
	PORT_FLIGHTS = 8,    /* of which at most this many unanswered */
	IDLE_MOST = 256,     /* idle ports kept for another query */
	RUSH_S = 4,
};

#define TRY_AGAIN_US (100 * US_PER_MS)

struct udp;
struct port;

/* A query in flight. */
struct flight {
	struct list link; /* port->flights, or a list of struct udp */
	struct transmission *transmission;
	struct port *port; /* NULL: none yet */
	uint16_t id;
	struct flight *next_spare;
};

struct port {
	struct watch watch;
	struct udp *udp;
	struct list in_bucket; /* of udp->buckets, while it can take a query */
	struct list in_age;    /* udp->ports */
	struct list in_idle;   /* udp->idle */
	struct list flights;
	struct addr to;
	uint64_t opened_us;
	bool connected;
	bool reading; /* must not be freed now */
	bool closing; /* takes no more queries */
	bool lingers; /* kept open briefly for late responses */
	unsigned flight_count, uses, uses_most;
	uint16_t ids[PORT_USES]; /* of all queries sent from it */
	struct timer linger;
};

struct udp {
	struct transport transport;
	struct sources *sources;
	const struct snapshot *sources_of;
	uint64_t sources_number;
	struct list buckets[BUCKETS]; /* by server */
	struct list ports;            /* all open ones, oldest first */
	struct list idle;             /* those without a query, longest idle first */
	struct list waiting;          /* flights waiting for a port */
	struct list failing;          /* could not be sent; reported in the next turn */
	struct timer tell_failing, age, try_again;
	bool short_of_ports; /* and that was logged */
	uint64_t gone_us;    /* when a missing address was last logged */
	unsigned open_count, idle_count;
	uint64_t calm_us; /* when the queries that got ports of their own are within the rate */
	struct flight *spare;
	unsigned spare_count;
	uint8_t buf[MSG_MAX];
};

enum opened { OPENED, NO_WAY, NO_RESOURCES };

static const struct conf_server *conf_of(const struct udp *u)
{
	return &u->transport.env->snapshot->conf->server;
}

/* Whether one more query is within the rate at which each gets a port of its own. Bursts of up to
 * RUSH_S seconds' worth are allowed. */
static bool rate_is_calm(struct udp *u)
{
	uint32_t a_second = conf_of(u)->outgoing_port_share_above;
	uint64_t now_us = u->transport.env->time->now_us;
	uint64_t then_us;

	if (!a_second)
		return false;
	then_us = MAX(u->calm_us, now_us) + US_PER_S / a_second;
	if (then_us > now_us + RUSH_S * US_PER_S)
		return false;
	u->calm_us = then_us;
	return true;
}

/*
 * Flights.
 */

static struct flight *flight_new(struct udp *u, struct transmission *s)
{
	struct flight *f = u->spare;

	if (f) {
		u->spare = f->next_spare;
		u->spare_count--;
	} else {
		f = mem_new(sizeof(*f));
	}
	*f = (struct flight){ .transmission = s };
	list_init(&f->link);
	s->slot = f;
	return f;
}

static struct list *bucket_of(struct udp *u, const struct addr *to)
{
	return &u->buckets[addr_hash(to) % BUCKETS];
}

static void flight_free(struct udp *u, struct flight *f)
{
	struct port *p = f->port;

	list_remove(&f->link);
	if (p && p->flight_count-- == PORT_FLIGHTS && !p->closing && p->uses < p->uses_most)
		list_push_front(bucket_of(u, &p->to), &p->in_bucket);
	if (u->spare_count == SPARE_MOST) {
		mem_free(f);
		return;
	}
	f->next_spare = u->spare;
	u->spare = f;
	u->spare_count++;
}

static struct flight *flight_with(const struct port *p, uint16_t id)
{
	LIST_EACH (at, &p->flights) {
		struct flight *f = LIST_ITEM(at, struct flight, link);

		if (f->id == id)
			return f;
	}
	return NULL;
}

/*
 * Ports.
 */

static void on_ready(struct watch *w, unsigned what);
static void on_linger(struct timer *t);

/* It takes no more queries and closes when those it has are done. */
static void port_retire(struct port *p)
{
	p->closing = true;
	list_remove(&p->in_bucket);
}

static void port_free(struct port *p)
{
	struct udp *u = p->udp;

	PROMISE(!p->flight_count && !p->reading);
	timer_stop(u->transport.env->loop, &p->linger);
	if (!list_is_empty(&p->in_idle))
		u->idle_count--;
	list_remove(&p->in_bucket);
	list_remove(&p->in_age);
	list_remove(&p->in_idle);
	if (p->watch.fd >= 0) {
		watch_stop(&p->watch);
		close(p->watch.fd);
	}
	u->open_count--;
	mem_free(p);
}

/* After a query has left it: close it, or keep it for another one. */
static void port_after_query(struct port *p)
{
	struct udp *u = p->udp;

	if (p->flight_count || p->reading || p->lingers)
		return;
	if (p->closing || p->uses >= p->uses_most) {
		port_free(p);
		return;
	}
	if (!list_is_empty(&p->in_idle))
		return;
	if (u->idle_count == IDLE_MOST)
		port_free(LIST_ITEM(u->idle.next, struct port, in_idle));
	list_push_back(&u->idle, &p->in_idle);
	u->idle_count++;
}

static bool is_too_old(const struct port *p, uint64_t now_us)
{
	return now_us - p->opened_us >= PORT_LIFE_MS * US_PER_MS;
}

static void on_age(struct timer *t)
{
	struct udp *u = container_of(t, struct udp, age);
	uint64_t now_us = u->transport.env->time->now_us;

	LIST_EACH_SAFE (at, &u->ports) {
		struct port *p = LIST_ITEM(at, struct port, in_age);

		if (!is_too_old(p, now_us))
			break;
		if (!p->closing) {
			port_retire(p);
			port_after_query(p);
		}
	}
	if (!list_is_empty(&u->ports))
		timer_set(u->transport.env->loop, &u->age, PORT_LIFE_MS * US_PER_MS / 4);
}

/* The source addresses and ports may have changed: open ports were drawn from the old ones. */
static void retire_all(struct udp *u)
{
	LIST_EACH_SAFE (at, &u->ports) {
		struct port *p = LIST_ITEM(at, struct port, in_age);

		port_retire(p);
		port_after_query(p);
	}
}

static const struct sources *sources_get(struct udp *u)
{
	const struct snapshot *s = u->transport.env->snapshot;

	if (u->sources_of != s || u->sources_number != s->number) {
		retire_all(u);
		sources_free(u->sources);
		u->sources = sources_new(s->conf, true);
		u->sources_of = s;
		u->sources_number = s->number;
	}
	return u->sources;
}

static bool set_flag(int fd, int level, int option, int value)
{
	return setsockopt(fd, level, option, &value, sizeof(value)) == 0;
}

/* One of our addresses may be missing for a while; another one will do. Logged once a minute. */
static void tell_gone(struct udp *u, const struct addr *source)
{
	uint64_t now_us = u->transport.env->time->now_us;
	char text[ADDR_TEXT];

	if (u->gone_us && now_us - u->gone_us < US_PER_S * 60)
		return;
	u->gone_us = now_us;
	log_warn("outgoing-interface: %s is not an address of this host now: not used",
		 addr_print(source, source->port, text));
}

static enum opened bind_somewhere(struct udp *u, int fd, uint8_t family)
{
	const struct sources *sources = sources_get(u);
	struct random *random = u->transport.env->random;
	unsigned gone = 0;

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
			source_allow_drawn(fd);
		socklen_t len = addr_to_sockaddr(&source, &ss);
		if (bind(fd, (struct sockaddr *)&ss, len) == 0)
			return OPENED;
		if (errno == EADDRNOTAVAIL && gone++ < GONE_TRIES) {
			tell_gone(u, &source);
			continue;
		}
		if (errno != EADDRINUSE && errno != EACCES)
			return NO_WAY;
	}
	return NO_RESOURCES;
}

static bool send_bytes(const struct port *p, const struct transmission *s)
{
	struct sockaddr_storage ss;
	socklen_t len = p->connected ? 0 : addr_to_sockaddr(&s->to, &ss);
	ssize_t n = sendto(p->watch.fd, s->wire, s->len, 0,
			   p->connected ? NULL : (struct sockaddr *)&ss, len);

	/* A full send queue is treated as a packet lost on the way: the query is sent again. */
	return n >= 0 || errno == EAGAIN || errno == EWOULDBLOCK || errno == ENOBUFS ||
	       errno == EINTR;
}

static enum opened port_prepare(struct port *p)
{
	const struct conf_server *conf = conf_of(p->udp);
	struct sockaddr_storage ss;
	socklen_t len = addr_to_sockaddr(&p->to, &ss);
	enum opened bound = bind_somewhere(p->udp, p->watch.fd, p->to.family);

	if (bound != OPENED)
		return bound;
	if (conf->ip_dscp)
		set_flag(p->watch.fd, p->to.family == 6 ? IPPROTO_IPV6 : IPPROTO_IP,
			 p->to.family == 6 ? IPV6_TCLASS : IP_TOS, (int)conf->ip_dscp << 2);
	p->connected = conf->udp_connect;
	if (p->connected && connect(p->watch.fd, (struct sockaddr *)&ss, len) < 0)
		return NO_WAY;
	return OPENED;
}

static enum opened port_open(struct udp *u, const struct addr *to, unsigned uses_most,
			     struct port **out)
{
	int fd = socket(to->family == 6 ? AF_INET6 : AF_INET,
			SOCK_DGRAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	struct port *p;
	enum opened o;

	if (fd < 0)
		return errno == EAFNOSUPPORT ? NO_WAY : NO_RESOURCES;
	p = mem_zero(sizeof(*p));
	p->watch = (struct watch){ .fd = fd, .ready = on_ready };
	p->udp = u;
	p->to = *to;
	p->opened_us = u->transport.env->time->now_us;
	p->uses_most = uses_most;
	p->linger.fire = on_linger;
	list_init(&p->in_bucket);
	list_init(&p->in_idle);
	list_init(&p->flights);
	o = port_prepare(p);
	if (o != OPENED) {
		close(fd);
		mem_free(p);
		return o;
	}
	list_push_back(&u->ports, &p->in_age);
	list_push_front(bucket_of(u, to), &p->in_bucket);
	u->open_count++;
	watch_start(u->transport.env->loop, &p->watch, WATCH_READ);
	if (!timer_is_set(&u->age))
		timer_set(u->transport.env->loop, &u->age, PORT_LIFE_MS * US_PER_MS / 4);
	*out = p;
	return OPENED;
}

/* An open port that may send this server one more query. */
static struct port *port_find(struct udp *u, const struct addr *to)
{
	LIST_EACH (at, bucket_of(u, to)) {
		struct port *p = LIST_ITEM(at, struct port, in_bucket);

		if (addr_equals(&p->to, to) && !is_too_old(p, u->transport.env->time->now_us))
			return p;
	}
	return NULL;
}

static uint32_t ports_most(const struct udp *u)
{
	uint32_t most = u->transport.env->ports_most;

	return most ? MIN(most, conf_of(u)->outgoing_range) : conf_of(u)->outgoing_range;
}

/* False: all of them wait for responses. */
static bool give_idle_up(struct udp *u)
{
	if (list_is_empty(&u->idle))
		return false;
	port_free(LIST_ITEM(u->idle.next, struct port, in_idle));
	return true;
}

/* Logged once until the shortage is over. */
static void tell_shortage(struct udp *u, enum opened o)
{
	if (o == NO_RESOURCES && !u->short_of_ports)
		log_warn("cannot open a port for upstream queries, they wait: %s",
			 strerror(errno));
	if (o != NO_WAY)
		u->short_of_ports = o == NO_RESOURCES;
}

static enum opened port_get(struct udp *u, const struct addr *to, struct port **out)
{
	unsigned uses_most = MIN(conf_of(u)->outgoing_port_uses, (uint32_t)PORT_USES);
	enum opened o;

	sources_get(u);
	if (uses_most > 1 && rate_is_calm(u))
		uses_most = 1;
	*out = uses_most > 1 ? port_find(u, to) : NULL;
	if (*out)
		return OPENED;
	if (u->open_count >= ports_most(u) && !give_idle_up(u))
		return NO_RESOURCES;
	o = port_open(u, to, uses_most, out);
	if (o == NO_RESOURCES && give_idle_up(u))
		o = port_open(u, to, uses_most, out);
	tell_shortage(u, o);
	return o;
}

static bool was_used(const struct port *p, uint16_t id)
{
	for (unsigned i = 0; i < p->uses; i++)
		if (p->ids[i] == id)
			return true;
	return false;
}

static bool port_send(struct port *p, struct flight *f)
{
	struct udp *u = p->udp;

	do
		f->id = random_u16(u->transport.env->random);
	while (was_used(p, f->id));
	put_u16(f->transmission->wire, f->id);
	p->ids[p->uses++] = f->id;
	if (UNLIKELY(f->transmission->leaves != NULL))
		f->transmission->leaves(f->transmission, p->watch.fd);
	if (!send_bytes(p, f->transmission)) {
		port_retire(p);
		port_after_query(p);
		return false;
	}
	if (!list_is_empty(&p->in_idle)) {
		list_remove(&p->in_idle);
		u->idle_count--;
	}
	list_remove(&f->link);
	list_push_back(&p->flights, &f->link);
	p->flight_count++;
	f->port = p;
	if (p->flight_count == PORT_FLIGHTS || p->uses >= p->uses_most)
		list_remove(&p->in_bucket);
	return true;
}

/* Send the query now, or see to it that it is sent or its failure reported later. */
static void flight_begin(struct udp *u, struct flight *f)
{
	struct port *p;
	enum opened o = port_get(u, &f->transmission->to, &p);
	bool had_waited = f->transmission->queued;

	f->transmission->queued = false;
	if (o == OPENED && port_send(p, f))
		return;
	list_remove(&f->link);
	if (o == NO_RESOURCES) {
		f->transmission->queued = true;
		if (had_waited)
			list_push_front(&u->waiting, &f->link);
		else
			list_push_back(&u->waiting, &f->link);
		/* Nothing notifies us when ports become available again. */
		if (u->short_of_ports && !timer_is_set(&u->try_again))
			timer_set(u->transport.env->loop, &u->try_again, TRY_AGAIN_US);
	} else {
		list_push_back(&u->failing, &f->link);
		timer_set(u->transport.env->loop, &u->tell_failing, 0);
	}
}

/* Called when a query has ended or a port has closed. */
static void admit_waiting(struct udp *u)
{
	while (!list_is_empty(&u->waiting)) {
		struct flight *f = LIST_ITEM(u->waiting.next, struct flight, link);

		flight_begin(u, f);
		if (f->transmission->queued)
			break;
	}
}

static void on_try_again(struct timer *t)
{
	admit_waiting(container_of(t, struct udp, try_again));
}

static void on_linger(struct timer *t)
{
	struct port *p = container_of(t, struct port, linger);
	struct udp *u = p->udp;

	p->lingers = false;
	port_after_query(p);
	admit_waiting(u);
}

/*
 * Responses.
 */

static void on_failing(struct timer *t)
{
	struct udp *u = container_of(t, struct udp, tell_failing);
	struct list now;

	/* A callback may send again and fail again: that is left for the next turn. */
	list_take_all(&now, &u->failing);
	while (!list_is_empty(&now)) {
		struct flight *f = LIST_ITEM(now.next, struct flight, link);
		struct transmission *s = f->transmission;

		flight_free(u, f);
		s->failed(s, UPSTREAM_UNREACHABLE);
	}
}

/* Length of a packet from the server, in udp->buf; -1 if there is none (see errno), 0 for one from
 * elsewhere. */
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
	unwanted_note(u->transport.env);
	return 0;
}

/* The packet in udp->buf carries an id of no query ever sent from this port. */
static void port_strayed(struct port *p)
{
	uint16_t ids[PORT_FLIGHTS];
	unsigned count = 0;

	LIST_EACH (at, &p->flights)
		ids[count++] = LIST_ITEM(at, struct flight, link)->id;
	/* A callback may end others, too. */
	for (unsigned i = 0; i < count; i++) {
		struct flight *f = flight_with(p, ids[i]);

		if (f && f->transmission->strayed(f->transmission))
			flight_free(p->udp, f);
	}
}

static void port_hand_over(struct port *p, size_t len)
{
	struct flight *f;
	uint16_t id;

	if (len < 2) {
		port_retire(p);
		return;
	}
	id = get_u16(p->udp->buf);
	f = flight_with(p, id);
	if (f) {
		if (f->transmission->arrived(f->transmission, p->udp->buf, len))
			flight_free(p->udp, f);
	} else if (!was_used(p, id)) {
		port_retire(p);
		port_strayed(p);
	}
}

/* The server's host, or one on the path, reports an error. */
static void port_fail(struct port *p)
{
	port_retire(p);
	while (!list_is_empty(&p->flights)) {
		struct flight *f = LIST_ITEM(p->flights.next, struct flight, link);
		struct transmission *s = f->transmission;

		flight_free(p->udp, f);
		s->failed(s, UPSTREAM_SILENT);
	}
}

static void on_ready(struct watch *w, unsigned what)
{
	struct port *p = container_of(w, struct port, watch);
	struct udp *u = p->udp;

	(void)what;
	p->reading = true;
	for (unsigned i = 0; i < READS_PER_TURN; i++) {
		ssize_t n = port_read(p);

		if (n < 0 && (errno == EAGAIN || errno == EWOULDBLOCK))
			break;
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0) {
			port_fail(p);
			break;
		}
		port_hand_over(p, (size_t)n);
		if (!p->flight_count)
			break; /* nothing else will come */
	}
	p->reading = false;
	port_after_query(p);
	admit_waiting(u);
}

/*
 * The transport.
 */

static void udp_send(struct transport *t, struct transmission *s)
{
	struct udp *u = container_of(t, struct udp, transport);

	flight_begin(u, flight_new(u, s));
}

static void udp_cancel(struct transport *t, struct transmission *s)
{
	struct udp *u = container_of(t, struct udp, transport);
	uint32_t delay_ms = conf_of(u)->delay_close;
	struct flight *f = s->slot;
	struct port *p = f->port;

	flight_free(u, f);
	if (!p)
		return;
	port_retire(p);
	if (delay_ms) {
		/* Late responses find an open port, so that no ICMP error is sent. */
		p->lingers = true;
		timer_set(t->env->loop, &p->linger, delay_ms * US_PER_MS);
	}
	port_after_query(p);
	admit_waiting(u);
}

static void flights_free(struct udp *u, struct list *flights)
{
	while (!list_is_empty(flights))
		flight_free(u, LIST_ITEM(flights->next, struct flight, link));
}

static void udp_free(struct transport *t)
{
	struct udp *u = container_of(t, struct udp, transport);
	struct flight *f;

	timer_stop(t->env->loop, &u->tell_failing);
	timer_stop(t->env->loop, &u->age);
	timer_stop(t->env->loop, &u->try_again);
	flights_free(u, &u->waiting);
	flights_free(u, &u->failing);
	while (!list_is_empty(&u->ports)) {
		struct port *p = LIST_ITEM(u->ports.next, struct port, in_age);

		flights_free(u, &p->flights);
		port_free(p);
	}
	while ((f = u->spare)) {
		u->spare = f->next_spare;
		mem_free(f);
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
	for (unsigned i = 0; i < BUCKETS; i++)
		list_init(&u->buckets[i]);
	list_init(&u->ports);
	list_init(&u->idle);
	list_init(&u->waiting);
	list_init(&u->failing);
	u->tell_failing.fire = on_failing;
	u->age.fire = on_age;
	u->try_again.fire = on_try_again;
	return &u->transport;
}
