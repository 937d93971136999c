/* Queries over UDP: packets are received and sent in batches.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "services/listen/udp.h"

#include <sys/types.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <netinet/in.h>
#include <errno.h>
#include <poll.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "services/dnstap/tap.h"
#include "services/listen/socket.h"
#include "services/net/connection_limits.h"
#include "services/stats/stats.h"
#include "util/base/list.h"
#include "util/base/log.h"
#include "util/base/loop.h"
#include "util/base/mem.h"
#include "util/net/proxy2.h"

#define BATCH            32   /* packets per system call */
#define BATCH_LEAST      8    /* at first, and after a batch with many lookups to begin */
#define BATCHES          4    /* per wake-up */
#define BEGUN_MOST       8    /* lookups in a wake-up; with as many no other batch is taken */
#define IN_ROOM          4096 /* no query needs more */
#define OUT_ROOM_LEAST   4096 /* minimum that services/answer/answer.h requires */
#define SPREAD           320  /* between slots: their starts map to different cache sets */
#define LATE_ROOM        16384 /* for answers that wait to be sent; a larger one does not wait */
#define SEND_PATIENCE_MS 5    /* wait for a full send queue, once per batch */

#if !defined(HAVE_RECVMMSG) || !defined(HAVE_SENDMMSG)
#define ONE_BY_ONE
#endif

#ifdef ONE_BY_ONE /* same layout, filled with one system call per packet */
#define mmsghdr one_mmsghdr
struct mmsghdr {
	struct msghdr msg_hdr;
	unsigned msg_len;
};
#endif

union control {
	struct cmsghdr head;
	uint8_t room[CMSG_SPACE(sizeof(struct in6_pktinfo)) + CMSG_SPACE(sizeof(struct timespec)) +
		     64];
};

struct batch {
	struct mmsghdr in[BATCH], out[BATCH];
	struct iovec in_iov[BATCH], out_iov[BATCH];
	struct sockaddr_storage from[BATCH];
	union control in_control[BATCH], out_control[BATCH];
	uint8_t *in_bytes, *out_bytes;
	size_t out_room;
	bool many; /* the slots are set up for control messages */
};

struct udp_socket {
	struct list link;
	struct listen_udp *home;
	struct watch watch;
	struct interface at;
	unsigned waiting; /* clients to be answered later */
	unsigned most;    /* packets of the next batch */
	bool closed;      /* no longer served; freed when no client waits */
};

/* Answers to lookups, sent together. */
struct late {
	struct udp_socket *from; /* all of them */
	struct mmsghdr out[BATCH];
	struct iovec iov[BATCH];
	struct sockaddr_storage to[BATCH];
	union control control[BATCH];
	unsigned count;
	size_t used;
	uint8_t bytes[LATE_ROOM];
	struct timer due;
};

struct listen_udp {
	struct loop *loop;
	packet_taker take;
	void *taker;
	struct list sockets;
	struct tap *tap;               /* or NULL */
	struct connection_limits *connection_limits; /* pinned; or NULL */
	uint64_t queue_most_us;        /* longest time queued to accept; 0: unlimited */
	struct stats *stats;           /* for packets that exceeded it */
	struct batch batch;
	struct late late;
};

/* ---- the local address of a packet ---- */

/* Make `head` send the packet from `reached` (RFC 3542 6.7). The zone of a link-local address names
 * the interface; otherwise the routing table chooses it. */
static void write_source(struct msghdr *head, union control *c, const struct addr *reached)
{
	struct cmsghdr *at;

	head->msg_control = NULL;
	head->msg_controllen = 0;
	if (reached->family == 0)
		return;
	memset(c, 0, sizeof *c);
	head->msg_control = c;
	head->msg_controllen = sizeof *c;
	at = CMSG_FIRSTHDR(head);
	if (reached->family == 6) {
		struct in6_pktinfo info = { .ipi6_ifindex = reached->scope };

		memcpy(&info.ipi6_addr, reached->ip, 16);
		at->cmsg_level = IPPROTO_IPV6;
		at->cmsg_type = IPV6_PKTINFO;
		at->cmsg_len = CMSG_LEN(sizeof info);
		memcpy(CMSG_DATA(at), &info, sizeof info);
		head->msg_controllen = CMSG_SPACE(sizeof info);
	} else {
#if defined(IP_PKTINFO)
		struct in_pktinfo info = { 0 };

		memcpy(&info.ipi_spec_dst, reached->ip, 4);
		at->cmsg_level = IPPROTO_IP;
		at->cmsg_type = IP_PKTINFO;
#else
		struct in_addr info;

		memcpy(&info, reached->ip, 4);
		at->cmsg_level = IPPROTO_IP;
		at->cmsg_type = IP_SENDSRCADDR;
#endif
		at->cmsg_len = CMSG_LEN(sizeof info);
		memcpy(CMSG_DATA(at), &info, sizeof info);
		head->msg_controllen = CMSG_SPACE(sizeof info);
	}
}

/* The local address the packet was sent to, as far as the kernel reports it. */
static void read_reached(struct msghdr *head, uint16_t port, struct addr *reached)
{
	for (struct cmsghdr *at = CMSG_FIRSTHDR(head); at; at = CMSG_NXTHDR(head, at)) {
		if (at->cmsg_level == IPPROTO_IPV6 && at->cmsg_type == IPV6_PKTINFO) {
			struct in6_pktinfo info;

			memcpy(&info, CMSG_DATA(at), sizeof info);
			*reached = (struct addr){ .family = 6, .port = port };
			memcpy(reached->ip, &info.ipi6_addr, 16);
			if (IN6_IS_ADDR_LINKLOCAL(&info.ipi6_addr))
				reached->scope = (uint32_t)info.ipi6_ifindex;
		}
#if defined(IP_PKTINFO)
		if (at->cmsg_level == IPPROTO_IP && at->cmsg_type == IP_PKTINFO) {
			struct in_pktinfo info;

			memcpy(&info, CMSG_DATA(at), sizeof info);
			*reached = (struct addr){ .family = 4, .port = port };
			memcpy(reached->ip, &info.ipi_addr, 4);
		}
#elif defined(IP_RECVDSTADDR)
		if (at->cmsg_level == IPPROTO_IP && at->cmsg_type == IP_RECVDSTADDR) {
			*reached = (struct addr){ .family = 4, .port = port };
			memcpy(reached->ip, CMSG_DATA(at), 4);
		}
#endif
	}
}

/* ---- time in the socket queue ---- */

#if HAVE_DECL_SO_TIMESTAMPNS
#define STAMPS SO_TIMESTAMPNS
#elif HAVE_DECL_SO_TIMESTAMP
#define STAMPS SO_TIMESTAMP
#endif

#ifdef STAMPS
/* Turn kernel receive timestamps on or off. */
static void set_stamps(int fd, bool on)
{
	int value = on;

	if (setsockopt(fd, SOL_SOCKET, STAMPS, &value, sizeof value) < 0 && on)
		log_warn("sock-queue-timeout has no effect: %s", strerror(errno));
}

/* Arrival time of the packet by the wall clock; 0: not reported. */
static uint64_t read_stamp(struct msghdr *head)
{
	for (struct cmsghdr *at = CMSG_FIRSTHDR(head); at; at = CMSG_NXTHDR(head, at)) {
		if (at->cmsg_level != SOL_SOCKET)
			continue;
#if HAVE_DECL_SO_TIMESTAMPNS
		if (at->cmsg_type == SCM_TIMESTAMPNS) {
			struct timespec t;

			memcpy(&t, CMSG_DATA(at), sizeof t);
			return (uint64_t)t.tv_sec * US_PER_S + (uint64_t)t.tv_nsec / 1000;
		}
#else
		if (at->cmsg_type == SCM_TIMESTAMP) {
			struct timeval t;

			memcpy(&t, CMSG_DATA(at), sizeof t);
			return (uint64_t)t.tv_sec * US_PER_S + (uint64_t)t.tv_usec;
		}
#endif
	}
	return 0;
}
#else
static void set_stamps(int fd, bool on)
{
	(void)fd;
	if (on)
		log_warn("sock-queue-timeout has no effect: no receive timestamps on this system");
}

static uint64_t read_stamp(struct msghdr *head)
{
	(void)head;
	return 0;
}
#endif

/* The client behind a packet this old has given up or retried. Mark such packets as truncated,
 * which are skipped. */
static void leave_out_old(struct listen_udp *u, unsigned count)
{
	struct timespec now;
	uint64_t now_us;

	clock_gettime(CLOCK_REALTIME, &now);
	now_us = (uint64_t)now.tv_sec * US_PER_S + (uint64_t)now.tv_nsec / 1000;
	for (unsigned i = 0; i < count; i++) {
		struct msghdr *in = &u->batch.in[i].msg_hdr;
		uint64_t came_us = read_stamp(in);

		if (!came_us || came_us >= now_us)
			continue;
		stat_highest(&u->stats->count[STAT_queue_time_us_max], now_us - came_us);
		if (now_us - came_us <= u->queue_most_us)
			continue;
		stat_add(u->stats, STAT_queries_timed_out);
		in->msg_flags |= MSG_TRUNC;
	}
}

/* ---- system calls ---- */

static int receive(int fd, struct mmsghdr *in, unsigned most)
{
#ifdef ONE_BY_ONE
	int n = 0;

	for (; n < (int)most; n++) {
		ssize_t len = recvmsg(fd, &in[n].msg_hdr, MSG_DONTWAIT);

		if (len < 0)
			break;
		in[n].msg_len = (unsigned)len;
	}
	return n;
#else
	return (int)recvmmsg(fd, in, most, MSG_DONTWAIT, NULL);
#endif
}

static int send_some(int fd, struct mmsghdr *out, unsigned count)
{
#ifdef ONE_BY_ONE
	(void)count;
	return sendmsg(fd, &out->msg_hdr, MSG_DONTWAIT) < 0 ? -1 : 1;
#else
	return (int)sendmmsg(fd, out, count, MSG_DONTWAIT);
#endif
}

static bool is_full(int error)
{
	return error == EAGAIN || error == EWOULDBLOCK || error == ENOBUFS;
}

/* Wait briefly, and once, for a full queue; what still cannot be sent is lost, as packets may
 * be. */
static void send_all(int fd, struct mmsghdr *out, unsigned count)
{
	bool patient = true;

	for (unsigned at = 0; at < count;) {
		int n = send_some(fd, out + at, count - at);

		if (n > 0) {
			at += (unsigned)n;
		} else if (errno == EINTR) {
			continue;
		} else if (is_full(errno) && patient) {
			struct pollfd p = { .fd = fd, .events = POLLOUT };

			patient = false;
			(void)poll(&p, 1, SEND_PATIENCE_MS);
		} else {
			log_detail("cannot send a UDP response: %s", strerror(errno));
			at++;
		}
	}
}

/* ---- deferred answers ---- */

static void late_send(struct listen_udp *u)
{
	struct late *l = &u->late;

	if (!l->count)
		return;
	send_all(l->from->watch.fd, l->out, l->count);
	l->count = 0;
	l->used = 0;
	timer_stop(u->loop, &l->due);
}

static void on_late(struct timer *t)
{
	late_send(container_of(t, struct listen_udp, late.due));
}

static void socket_free(struct udp_socket *s)
{
	late_send(s->home);
	list_remove(&s->link);
	watch_stop(&s->watch);
	listen_socket_leave(s->watch.fd);
	mem_free(s);
}

/* Who sent the query, and gets its answer, where that is not the client's address: a proxy, or what a socket for both families
 * shows of an IPv4 client. Else NULL. */
static struct addr *sender_of(const struct client *c)
{
	return (struct addr *)(uintptr_t)c->tag;
}

static void client_left(struct udp_socket *s, const struct client *c)
{
	mem_free(sender_of(c));
	if (--s->waiting == 0 && s->closed)
		socket_free(s);
}

/* It waits for others, at most until the round ends: each system call is a chance to wake whoever
 * waits for what is sent. */
static void reply_later(const struct client *c, const uint8_t *bytes, size_t len)
{
	struct udp_socket *s = c->via;
	struct listen_udp *u = s->home;
	struct late *l = &u->late;
	bool fits = len <= LATE_ROOM;
	struct msghdr *m;
	unsigned at;

	if (l->from != s || l->count == BATCH || len > LATE_ROOM - l->used)
		late_send(u);
	at = l->count++;
	m = &l->out[at].msg_hdr;
	l->from = s;
	l->iov[at].iov_len = len;
	l->iov[at].iov_base = fits ? memcpy(l->bytes + l->used, bytes, len)
				   : (void *)(uintptr_t)bytes;
	*m = (struct msghdr){ .msg_name = &l->to[at], .msg_iov = &l->iov[at], .msg_iovlen = 1 };
	m->msg_namelen = addr_to_sockaddr(c->tag ? sender_of(c) : &c->from, &l->to[at]);
	if (s->at.many)
		write_source(m, &l->control[at], &c->reached);
	if (UNLIKELY(u->tap != NULL))
		tap_client_response(u->tap, c, bytes, len);
	l->used += fits ? len : 0;
	if (!fits)
		late_send(u);
	else if (!timer_is_set(&l->due))
		timer_set(u->loop, &l->due, 0);
	client_left(s, c);
}

static void drop_later(const struct client *c)
{
	client_left(c->via, c);
}

static const struct client_ops udp_ops = { .name = "udp",
					   .reply = reply_later,
					   .drop = drop_later };

/* ---- queries ---- */

static uint8_t *in_slot(const struct batch *b, unsigned i)
{
	return b->in_bytes + (size_t)i * (IN_ROOM + SPREAD);
}

static uint8_t *out_slot(const struct batch *b, unsigned i)
{
	return b->out_bytes + (size_t)i * (b->out_room + SPREAD);
}

/* The kernel attaches control messages to each packet. */
static bool is_told(const struct udp_socket *s)
{
	return s->at.many || s->home->queue_most_us;
}

/* Prepare the first `count` slots for the next receive: the kernel overwrites lengths. */
static void batch_reset(struct batch *b, unsigned count, bool many)
{
	b->many = many;
	for (unsigned i = 0; i < count; i++) {
		struct msghdr *h = &b->in[i].msg_hdr;

		h->msg_namelen = sizeof b->from[i];
		h->msg_control = many ? &b->in_control[i] : NULL;
		h->msg_controllen = many ? sizeof b->in_control[i] : 0;
	}
}

/* The answer goes back to where the query came from, whoever's it is. */
static void keep_sender(struct packet *p, const struct addr *sender)
{
	if (!p->client.tag)
		p->client.tag = (uintptr_t)mem_copy(sender, sizeof *sender);
}

/* A packet that begins with a PROXY header naming the client. The answer goes back to the
 * sender. */
static bool read_proxy(const struct listen_udp *u, struct packet *p)
{
	struct proxy2 head;

	if ((u->connection_limits && !connection_limits_may_speak_for(u->connection_limits, &p->client.from)) ||
	    proxy2_read(p->in.at, p->in.len, &head) != PROXY2_GOOD)
		return false;
	p->in.at += head.len;
	p->in.len -= head.len;
	if (!head.is_for)
		return true;
	keep_sender(p, &p->client.from);
	p->client.from = head.from;
	return true;
}

static void unmap_client(struct packet *p)
{
	struct addr shown = p->client.from;

	if (addr_unmap(&p->client.from))
		keep_sender(p, &shown);
}

/* Whose query it is. False: nobody's that may ask. */
static bool name_client(const struct udp_socket *s, struct packet *p)
{
	if (p->client.from.family == 6)
		unmap_client(p);
	if (LIKELY(!s->at.proxied) || read_proxy(s->home, p))
		return true;
	mem_free(sender_of(&p->client));
	return false;
}

/* Handle what only some packets have: a proxy they came through, a tap to report them to. */
static void note_answer(struct listen_udp *u, const struct packet *p)
{
	mem_free(sender_of(&p->client));
	if (p->client.came_ns && u->tap)
		tap_client_response(u->tap, &p->client, p->out.start, writer_len(&p->out));
}

/* Process the packet in slot `i`; true if its answer is in output slot `o`. */
static bool take_one(struct udp_socket *s, unsigned i, unsigned o)
{
	struct listen_udp *u = s->home;
	struct batch *b = &u->batch;
	struct msghdr *in = &b->in[i].msg_hdr, *out = &b->out[o].msg_hdr;
	struct packet p = {
		.in = { .at = in_slot(b, i), .len = b->in[i].msg_len },
		.out = writer_over(out_slot(b, o), b->out_room),
		.client = { .ops = &udp_ops, .reached = s->at.addr, .via = s },
	};

	if ((in->msg_flags & MSG_TRUNC) ||
	    !addr_from_sockaddr(&p.client.from, (const struct sockaddr *)&b->from[i],
				in->msg_namelen) ||
	    p.client.from.port == 0)
		return false;
	if (s->at.many)
		read_reached(in, s->at.addr.port, &p.client.reached);
	if (!name_client(s, &p))
		return false;
	if (UNLIKELY(u->tap != NULL))
		tap_client_query(u->tap, &p.client, &p.in);
	s->waiting++;
	switch (u->take(u->taker, &p)) {
	case DISPOSITION_LATER:
		return false;
	case DISPOSITION_DROP:
		s->waiting--;
		mem_free(sender_of(&p.client));
		return false;
	case DISPOSITION_SEND:
		break;
	}
	s->waiting--;
	if (UNLIKELY(p.client.tag | p.client.came_ns))
		note_answer(u, &p);
	b->out_iov[o].iov_len = writer_len(&p.out);
	out->msg_name = &b->from[i];
	out->msg_namelen = in->msg_namelen;
	if (s->at.many)
		write_source(out, &b->out_control[o], &p.client.reached);
	else
		out->msg_control = NULL, out->msg_controllen = 0;
	return true;
}

/* Of a batch of `n` packets, `begun` have to be looked up: that costs far more than an answer from the cache, and nobody
 * else gets anything meanwhile. */
static unsigned next_batch(const struct udp_socket *s, unsigned n, unsigned begun)
{
	return 4 * begun > n ? BATCH_LEAST : MIN(BATCH, 2 * s->most);
}

static void on_ready(struct watch *w, unsigned what)
{
	struct udp_socket *s = container_of(w, struct udp_socket, watch);
	struct batch *b = &s->home->batch;
	bool told = is_told(s);
	unsigned waited = s->waiting;

	(void)what;
	late_send(s->home);
	if (b->many != told)
		batch_reset(b, BATCH, told);
	for (unsigned round = 0; round < BATCHES; round++) {
		unsigned asked = s->most, answers = 0, before = s->waiting;
		int n = receive(w->fd, b->in, asked);

		if (n <= 0)
			return;
		if (UNLIKELY(s->home->queue_most_us))
			leave_out_old(s->home, (unsigned)n);
		for (unsigned i = 0; i < (unsigned)n; i++)
			answers += take_one(s, i, answers);
		send_all(w->fd, b->out, answers);
		batch_reset(b, (unsigned)n, told);
		/* Lookups in progress are finished before many more begin: begun all at once they
		 * only push each other out of the processor's caches. */
		s->most = next_batch(s, (unsigned)n, s->waiting > before ? s->waiting - before : 0);
		if ((unsigned)n < asked || s->waiting >= waited + BEGUN_MOST)
			return;
	}
}

/* ---- setup and teardown ---- */

static void batch_init(struct batch *b)
{
	b->in_bytes = mem_new((size_t)BATCH * (IN_ROOM + SPREAD));
	for (unsigned i = 0; i < BATCH; i++) {
		b->in_iov[i] = (struct iovec){ .iov_base = in_slot(b, i), .iov_len = IN_ROOM };
		b->in[i].msg_hdr.msg_name = &b->from[i];
		b->in[i].msg_hdr.msg_iov = &b->in_iov[i];
		b->in[i].msg_hdr.msg_iovlen = 1;
		b->out[i].msg_hdr.msg_iov = &b->out_iov[i];
		b->out[i].msg_hdr.msg_iovlen = 1;
	}
	batch_reset(b, BATCH, false);
}

void listen_udp_limit(struct listen_udp *u, size_t answer_max)
{
	struct batch *b = &u->batch;
	size_t room = MAX(answer_max, (size_t)OUT_ROOM_LEAST);

	if (room == b->out_room)
		return;
	mem_free(b->out_bytes);
	b->out_room = room;
	b->out_bytes = mem_new((size_t)BATCH * (room + SPREAD));
	for (unsigned i = 0; i < BATCH; i++)
		b->out_iov[i].iov_base = out_slot(b, i);
}

struct listen_udp *listen_udp_new(struct loop *l, packet_taker take, void *taker)
{
	struct listen_udp *u = mem_zero(sizeof *u);

	u->loop = l;
	u->take = take;
	u->taker = taker;
	list_init(&u->sockets);
	u->late.due.fire = on_late;
	batch_init(&u->batch);
	listen_udp_limit(u, OUT_ROOM_LEAST);
	return u;
}

void listen_udp_share(struct listen_udp *u, struct connection_limits *connection_limits)
{
	connection_limits_exchange(&u->connection_limits, connection_limits);
}

void listen_udp_tap(struct listen_udp *u, struct tap *tap)
{
	u->tap = tap;
}

void listen_udp_forget_old(struct listen_udp *u, uint64_t most_us, struct stats *stats)
{
	bool changes = !u->queue_most_us != !most_us;

	u->queue_most_us = most_us;
	u->stats = stats;
	LIST_EACH (at, &u->sockets) {
		struct udp_socket *s = LIST_ITEM(at, struct udp_socket, link);

		if (changes && !s->closed)
			set_stamps(s->watch.fd, most_us != 0);
	}
}

static struct udp_socket *socket_with(struct listen_udp *u, int fd)
{
	LIST_EACH (at, &u->sockets) {
		struct udp_socket *s = LIST_ITEM(at, struct udp_socket, link);

		if (s->watch.fd == fd && !s->closed)
			return s;
	}
	return NULL;
}

static bool is_named(const struct listen_socket *sockets, size_t count, int fd)
{
	for (size_t i = 0; i < count; i++)
		if (!sockets[i].stream && sockets[i].fd == fd)
			return true;
	return false;
}

static void socket_end(struct udp_socket *s)
{
	s->closed = true;
	watch_want(&s->watch, 0);
	if (s->waiting == 0)
		socket_free(s);
}

void listen_udp_serve(struct listen_udp *u, const struct listen_socket *sockets, size_t count)
{
	LIST_EACH_SAFE (at, &u->sockets) {
		struct udp_socket *s = LIST_ITEM(at, struct udp_socket, link);

		if (!s->closed && !is_named(sockets, count, s->watch.fd))
			socket_end(s);
	}
	for (size_t i = 0; i < count; i++) {
		struct udp_socket *s;

		if (sockets[i].stream || sockets[i].fd < 0)
			continue;
		s = socket_with(u, sockets[i].fd);
		if (s) {
			s->at = sockets[i].at;
			continue;
		}
		s = mem_zero(sizeof *s);
		s->home = u;
		s->at = sockets[i].at;
		s->most = BATCH_LEAST;
		s->watch = (struct watch){ .fd = sockets[i].fd, .ready = on_ready };
		list_push_back(&u->sockets, &s->link);
		if (u->queue_most_us)
			set_stamps(s->watch.fd, true);
		watch_start(u->loop, &s->watch, WATCH_READ);
		watch_eagerly(&s->watch);
	}
}

void listen_udp_free(struct listen_udp *u)
{
	if (!u)
		return;
	LIST_EACH_SAFE (at, &u->sockets)
		socket_free(LIST_ITEM(at, struct udp_socket, link));
	connection_limits_unpin(u->connection_limits);
	mem_free(u->batch.in_bytes);
	mem_free(u->batch.out_bytes);
	mem_free(u);
}
