/* Questions over TCP (RFC 7766) and TLS (RFC 7858): many on one connection, answered as they become ready.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "services/listen_tcp.h"

#include <sys/types.h>
#include <sys/socket.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "services/connlimit.h"
#include "services/hop.h"
#include "services/listen_socket.h"
#include "util/list.h"
#include "util/log.h"
#include "util/loop.h"
#include "util/mem.h"
#include "util/stream.h"
#include "util/tls.h"

#define MESSAGE_MAX       65535
#define MESSAGE_LEAST     12                        /* a header; less is no DNS */
#define READ_ROOM         (2 + MESSAGE_MAX + 32768) /* a whole message and some more */
#define GATHER_ROOM       (4 * (2 + MESSAGE_MAX))   /* answers that go out in one write */
#define ASKED_MOST        128   /* questions of one connection in work; then it is not read */
#define UNTAKEN_MOST      65536 /* bytes a client has not taken; then it is not read */
#define ACCEPTS           32    /* connections to one wake-up */
#define IDLE_LEAST_MS     200
#define NO_FILES_PAUSE_US (1 * US_PER_S)

/* Bytes on the heap with a front that moves. */
struct queue {
	uint8_t *at;
	size_t start, end, room;
};

enum waits_for { FOR_NOTHING, FOR_QUESTION, FOR_REST, FOR_CLIENT };

struct connection {
	struct list link;
	struct listen_tcp *home;
	struct stream stream;
	struct watch watch;
	struct timer limit;  /* for what `waits_for` says */
	struct timer resume; /* whole messages were left lying */
	struct addr from, reached;
	struct connlimit *place; /* among the connections of its netblock; or NULL */
	struct queue in;  /* what was read and not yet taken */
	struct queue out; /* what the client has not yet taken */
	unsigned asked;   /* questions that will be answered later */
	enum waits_for waits_for;
	bool kept;      /* the client asked how long it may be idle: it may longer */
	bool ended;     /* the client sends no more */
	bool cut;       /* we take no more: it sent nonsense, or a question was dropped */
	bool full;      /* whole messages lie in `in`: enough is in work already */
	bool dead;      /* closed; lives until everybody has left */
	bool digesting; /* its answers are being gathered */
};

struct door {
	struct list link;
	struct listen_tcp *home;
	struct watch watch;
	struct interface at;
};

struct listen_tcp {
	struct loop *loop;
	packet_taker take;
	void *taker;
	struct listen_tcp_limits limits;
	struct tls_server *keys; /* pinned; NULL: there is no TLS */
	struct connlimits *connlimits; /* pinned; or NULL */
	struct list doors, connections;
	struct timer reopen;         /* doors that were shut for want of descriptors */
	unsigned count;              /* connections that are not dead */
	bool shut;                   /* the doors are not watched */
	size_t untaken;              /* bytes in all `out` queues */
	uint8_t *in, *late, *gather; /* one of each is enough for a thread */
	size_t gathered;
};

/* ---- queues ---- */

static size_t queue_len(const struct queue *q)
{
	return q->end - q->start;
}

static void queue_free(struct queue *q)
{
	mem_free(q->at);
	*q = (struct queue){ 0 };
}

static void queue_put(struct queue *q, const uint8_t *from, size_t len)
{
	if (q->start && q->end + len > q->room) {
		memmove(q->at, q->at + q->start, queue_len(q));
		q->end -= q->start;
		q->start = 0;
	}
	if (q->end + len > q->room) {
		q->room = MAX(2 * q->room, q->end + len);
		q->at = mem_grow(q->at, q->room);
	}
	memcpy(q->at + q->end, from, len);
	q->end += len;
}

static void queue_take(struct queue *q, size_t len)
{
	q->start += len;
	if (q->start == q->end)
		queue_free(q);
}

/* ---- the life of a connection ---- */

static void doors_watch(struct listen_tcp *t, bool open)
{
	if (t->shut == !open)
		return;
	t->shut = !open;
	LIST_EACH (at, &t->doors)
		watch_want(&LIST_ITEM(at, struct door, link)->watch, open ? WATCH_READ : 0);
}

static void connection_free(struct connection *c)
{
	list_remove(&c->link);
	mem_free(c);
}

/* The socket goes at once; the struct when the last answer it still owes has come. */
static void connection_close(struct connection *c)
{
	struct listen_tcp *t = c->home;

	if (c->dead)
		return;
	c->dead = true;
	timer_stop(t->loop, &c->limit);
	timer_stop(t->loop, &c->resume);
	watch_stop(&c->watch);
	stream_close(&c->stream);
	connlimit_give_back(c->place);
	c->place = NULL;
	t->untaken -= queue_len(&c->out);
	queue_free(&c->in);
	queue_free(&c->out);
	t->count--;
	if (!timer_is_set(&t->reopen))
		doors_watch(t, true);
}

static bool is_done(const struct connection *c)
{
	return (c->cut || (c->ended && !c->full)) && c->asked == 0 && queue_len(&c->out) == 0;
}

uint32_t listen_tcp_idle_ms(uint32_t idle_ms, unsigned used, unsigned most)
{
	unsigned vacant = most > used ? most - used : 0;
	uint64_t percent = most ? (uint64_t)vacant * 100 / most : 0;

	if (percent < 20)
		idle_ms = 0;
	else if (percent < 35)
		idle_ms /= 500;
	else if (percent < 50)
		idle_ms /= 100;
	return MAX(idle_ms, (uint32_t)IDLE_LEAST_MS);
}

static enum waits_for what_is_next(const struct connection *c)
{
	if (queue_len(&c->out))
		return FOR_CLIENT;
	if (c->full || c->ended || c->cut)
		return FOR_NOTHING;
	if (queue_len(&c->in))
		return FOR_REST;
	return c->asked ? FOR_NOTHING : FOR_QUESTION;
}

static bool may_read(const struct connection *c)
{
	return !c->full && !c->ended && !c->cut && c->asked < ASKED_MOST &&
	       queue_len(&c->out) < UNTAKEN_MOST;
}

static uint32_t idle_ms(const struct connection *c)
{
	const struct listen_tcp_limits *l = &c->home->limits;

	return listen_tcp_idle_ms(c->kept ? l->keepalive_ms : l->idle_ms, c->home->count,
				  l->connections);
}

/* Watch for what can happen next, and not for longer than is decent. The time begins anew when the
 * client `moved`: a whole message came, or bytes were taken; not when it dribbles. */
static void connection_wait(struct connection *c, bool moved)
{
	struct listen_tcp *t = c->home;
	enum waits_for next = what_is_next(c);

	watch_want(&c->watch,
		   (may_read(c) ? WATCH_READ : 0u) |
			   (queue_len(&c->out) || stream_wants_write(&c->stream) ? WATCH_WRITE
										 : 0u));
	if (may_read(c) && stream_has_more(&c->stream))
		timer_set(t->loop, &c->resume, 0);
	if (next == FOR_NOTHING)
		timer_stop(t->loop, &c->limit);
	else if (next != c->waits_for || moved)
		timer_set(t->loop, &c->limit, US_PER_MS * idle_ms(c));
	c->waits_for = next;
}

/* After anything: close what is finished, free what nobody refers to, else wait. */
static void connection_settle(struct connection *c, bool moved)
{
	if (!c->dead && is_done(c))
		connection_close(c);
	if (!c->dead)
		connection_wait(c, moved);
	else if (c->asked == 0)
		connection_free(c);
}

static void on_limit(struct timer *timer)
{
	struct connection *c = container_of(timer, struct connection, limit);

	connection_close(c);
	connection_settle(c, false);
}

/* ---- answers ---- */

/* False when the connection broke. */
static bool write_out(struct connection *c, const uint8_t *from, size_t len, size_t *written)
{
	*written = 0;
	while (*written < len) {
		ssize_t n = stream_write(&c->stream, from + *written, len - *written);

		if (n > 0)
			*written += (size_t)n;
		else
			return n < 0 && stream_is_not_now(errno);
	}
	return true;
}

/* Send bytes, or keep them for when the client takes them. Closes the connection when it is broken
 * or all clients together leave too much lying. */
static void connection_send(struct connection *c, const uint8_t *from, size_t len)
{
	struct listen_tcp *t = c->home;
	size_t written = 0;

	if (queue_len(&c->out) == 0 && !write_out(c, from, len, &written)) {
		connection_close(c);
		return;
	}
	if (written == len)
		return;
	if (t->untaken + (len - written) > t->limits.waiting_bytes) {
		connection_close(c);
		return;
	}
	t->untaken += len - written;
	queue_put(&c->out, from + written, len - written);
}

static void gather_flush(struct connection *c)
{
	struct listen_tcp *t = c->home;
	size_t len = t->gathered;

	t->gathered = 0;
	if (len && !c->dead)
		connection_send(c, t->gather, len);
}

/* Room for one more message of any size behind what is gathered. */
static uint8_t *gather_room(struct connection *c)
{
	struct listen_tcp *t = c->home;

	if (t->gathered + 2 + MESSAGE_MAX > GATHER_ROOM)
		gather_flush(c);
	return t->gather + t->gathered;
}

/* Which options of the connection's own the answer to this question shall have. */
static unsigned options_due(struct connection *c, const uint8_t *question, size_t len)
{
	const struct listen_tcp_limits *l = &c->home->limits;
	unsigned possible = (l->keepalive_ms ? HOP_KEEPALIVE : 0u) |
			    (l->pad_block && c->stream.tls ? HOP_PADDING : 0u);
	unsigned due = possible ? possible & hop_asked(question, len) : 0;

	c->kept |= due & HOP_KEEPALIVE ? 1 : 0;
	return due;
}

/* They are added to the answer at `wire`, with room for any message. */
static size_t add_options(const struct connection *c, unsigned due, uint8_t *wire, size_t len)
{
	return due ? hop_add(wire, len, MESSAGE_MAX,
			     &(struct hop){ .options = due,
					    .pad_block = c->home->limits.pad_block,
					    .keepalive_ms = idle_ms(c) })
		   : len;
}

/* A whole message by itself; it may overtake what is gathered. */
static void send_message(struct connection *c, unsigned due, const uint8_t *bytes, size_t len)
{
	uint8_t *frame = c->home->late;

	memcpy(frame + 2, bytes, len);
	len = add_options(c, due, frame + 2, len);
	put_u16(frame, (uint16_t)len);
	connection_send(c, frame, 2 + len);
}

/* With room for more questions, go on with those that lie there; in a turn of their own. */
static void resume_soon(struct connection *c)
{
	if (c->full && c->asked <= ASKED_MOST / 2 && queue_len(&c->out) == 0)
		timer_set(c->home->loop, &c->resume, 0);
}

/* An answer came, or never will: go on, or go. */
static void client_left(struct connection *c)
{
	c->asked--;
	if (c->digesting)
		return;
	if (!c->dead)
		resume_soon(c);
	connection_settle(c, false);
}

static void reply_later(const struct client *client, const uint8_t *bytes, size_t len)
{
	struct connection *c = client->via;

	if (!c->dead && len <= MESSAGE_MAX)
		send_message(c, (unsigned)client->tag, bytes, len);
	client_left(c);
}

/* Nobody may wait for an answer that never comes: the others are answered, then the stream ends, so
 * that the client asks again elsewhere. */
static void drop_later(const struct client *client)
{
	struct connection *c = client->via;

	c->cut = true;
	client_left(c);
}

static const struct client_ops tcp_ops = {
	.name = "tcp",
	.stream = true,
	.reply = reply_later,
	.drop = drop_later,
};

static const struct client_ops tls_ops = {
	.name = "tls",
	.stream = true,
	.encrypted = true,
	.reply = reply_later,
	.drop = drop_later,
};

static const struct client_ops resumed_ops = {
	.name = "tls",
	.stream = true,
	.encrypted = true,
	.resumed = true,
	.reply = reply_later,
	.drop = drop_later,
};

static const struct client_ops *ops_of(const struct connection *c)
{
	if (!c->stream.tls)
		return &tcp_ops;
	return tls_is_resumed(c->stream.tls) ? &resumed_ops : &tls_ops;
}

/* ---- questions ---- */

static void take_one(struct connection *c, const uint8_t *at, size_t len)
{
	struct listen_tcp *t = c->home;
	uint8_t *to = gather_room(c);
	struct packet p = {
		.in = { .at = at, .len = len },
		.out = writer_over(to + 2, MESSAGE_MAX),
		.client = { .ops = ops_of(c), .from = c->from, .reached = c->reached, .via = c },
	};
	size_t answer;

	p.client.tag = options_due(c, at, len);
	c->asked++;
	switch (t->take(t->taker, &p)) {
	case VERDICT_LATER:
		return;
	case VERDICT_DROP:
		c->cut = true;
		break;
	case VERDICT_SEND:
		answer = add_options(c, (unsigned)p.client.tag, to + 2, writer_len(&p.out));
		put_u16(to, (uint16_t)answer);
		t->gathered += 2 + answer;
		break;
	}
	c->asked--;
}

static bool may_ask(const struct connection *c)
{
	return !c->dead && !c->cut && c->asked < ASKED_MOST && queue_len(&c->out) < UNTAKEN_MOST;
}

/* Take the whole messages that stand at `at`; returns how many bytes they were. */
static size_t digest(struct connection *c, const uint8_t *at, size_t len)
{
	size_t done = 0;

	c->full = false;
	c->digesting = true;
	while (len - done >= 2) {
		size_t message = get_u16(at + done);

		if (message < MESSAGE_LEAST)
			c->cut = true;
		if (c->cut || len - done - 2 < message)
			break;
		if (!may_ask(c)) {
			c->full = true;
			break;
		}
		take_one(c, at + done + 2, message);
		done += 2 + message;
	}
	gather_flush(c);
	c->digesting = false;
	return done;
}

/* What is left for later: the beginning of a message, or whole ones of a client with too many in
 * work. */
static void keep_rest(struct connection *c, const uint8_t *at, size_t len)
{
	queue_free(&c->in);
	if (len && !c->dead && !c->cut && (c->full || !c->ended))
		queue_put(&c->in, at, len);
}

/* Digest what is kept and `len` bytes more behind it, all in t->in. */
static void on_bytes(struct connection *c, size_t len)
{
	struct listen_tcp *t = c->home;
	size_t done = digest(c, t->in, len);

	keep_rest(c, t->in + done, len - done);
	if (!c->dead)
		resume_soon(c);
	connection_settle(c, done > 0);
}

static size_t recall_rest(struct connection *c)
{
	size_t had = queue_len(&c->in);

	if (had)
		memcpy(c->home->in, c->in.at + c->in.start, had);
	return had;
}

static void on_readable(struct connection *c)
{
	size_t had;
	ssize_t n;

	if (!may_read(c))
		return;
	had = recall_rest(c);
	n = stream_read(&c->stream, c->home->in + had, READ_ROOM - had);
	if (n > 0) {
		on_bytes(c, had + (size_t)n);
		return;
	}
	if (n < 0 && stream_is_not_now(errno)) {
		connection_wait(c, false);
		return;
	}
	if (n < 0)
		connection_close(c);
	else
		c->ended = true;
	queue_free(&c->in);
	connection_settle(c, false);
}

static void on_resume(struct timer *timer)
{
	struct connection *c = container_of(timer, struct connection, resume);

	if (may_read(c) && stream_has_more(&c->stream))
		on_readable(c);
	else
		on_bytes(c, recall_rest(c));
}

static void on_writable(struct connection *c)
{
	size_t written;

	if (!write_out(c, c->out.at + c->out.start, queue_len(&c->out), &written)) {
		connection_close(c);
	} else {
		c->home->untaken -= written;
		queue_take(&c->out, written);
		resume_soon(c);
	}
	connection_settle(c, written > 0);
}

static void on_ready(struct watch *w, unsigned what)
{
	struct connection *c = container_of(w, struct connection, watch);

	if ((what & WATCH_WRITE) && queue_len(&c->out)) {
		on_writable(c);
		return; /* it may be gone; what can be read is told again */
	}
	if (what & WATCH_READ || stream_wants_write(&c->stream))
		on_readable(c);
}

/* ---- connections come in ---- */

static void connection_begin(struct listen_tcp *t, const struct stream *stream,
			     const struct addr *from, const struct addr *reached)
{
	struct connlimit *place = NULL;
	struct connection *c;
	int on = 1;

	if (t->connlimits && !connlimits_admit(t->connlimits, from, &place)) {
		struct stream refused = *stream;

		stream_close(&refused);
		return;
	}
	c = mem_zero(sizeof *c);
	c->place = place;
	(void)setsockopt(stream->fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
	c->home = t;
	c->stream = *stream;
	c->watch = (struct watch){ .fd = stream->fd, .ready = on_ready };
	c->limit.fire = on_limit;
	c->resume.fire = on_resume;
	c->from = *from;
	c->reached = *reached;
	list_push_back(&t->connections, &c->link);
	t->count++;
	watch_start(t->loop, &c->watch, WATCH_READ);
	connection_wait(c, true);
}

void listen_tcp_take(struct listen_tcp *t, int fd, const struct addr *from,
		     const struct addr *reached)
{
	connection_begin(t, &(struct stream){ .fd = fd }, from, reached);
}

void listen_tcp_take_tls(struct listen_tcp *t, int fd, const struct addr *from,
			 const struct addr *reached)
{
	struct stream stream = { .fd = fd };

	if (t->keys)
		stream.tls = tls_accept(t->keys, fd, "dot");
	if (stream.tls)
		connection_begin(t, &stream, from, reached);
	else
		stream_close(&stream); /* never in clear */
}

void listen_tcp_share(struct listen_tcp *t, struct connlimits *connlimits)
{
	struct connlimits *old = t->connlimits;

	t->connlimits = connlimits ? connlimits_pin(connlimits) : NULL;
	connlimits_unpin(old);
}

void listen_tcp_keys(struct listen_tcp *t, struct tls_server *keys)
{
	struct tls_server *old = t->keys;

	t->keys = keys ? tls_server_pin(keys) : NULL;
	tls_server_unpin(old);
}

static int accept_one(int door, struct sockaddr_storage *from, socklen_t *len)
{
	int fd;

	*len = sizeof *from;
#ifdef HAVE_ACCEPT4
	fd = accept4(door, (struct sockaddr *)from, len, SOCK_NONBLOCK | SOCK_CLOEXEC);
#else
	fd = accept(door, (struct sockaddr *)from, len);
	if (fd >= 0 && (fcntl(fd, F_SETFL, O_NONBLOCK) < 0 || fcntl(fd, F_SETFD, FD_CLOEXEC) < 0)) {
		close(fd);
		return -1;
	}
#endif
	return fd;
}

/* On a wildcard the connection itself knows which address was asked. */
static struct addr address_reached(const struct door *d, int fd)
{
	struct sockaddr_storage ss;
	socklen_t len = sizeof ss;
	struct addr a = d->at.addr;

	if (d->at.many && getsockname(fd, (struct sockaddr *)&ss, &len) == 0)
		(void)addr_from_sockaddr(&a, (const struct sockaddr *)&ss, len);
	return a;
}

static bool is_out_of_files(int error)
{
	return error == EMFILE || error == ENFILE || error == ENOBUFS || error == ENOMEM;
}

static void on_knock(struct watch *w, unsigned what)
{
	struct door *d = container_of(w, struct door, watch);
	struct listen_tcp *t = d->home;

	(void)what;
	for (unsigned i = 0; i < ACCEPTS && t->count < t->limits.connections; i++) {
		struct sockaddr_storage ss;
		struct addr from, reached;
		socklen_t len;
		int fd = accept_one(w->fd, &ss, &len);

		if (fd < 0 && is_out_of_files(errno)) {
			log_warn("no TCP connection can be taken for a while: %s", strerror(errno));
			doors_watch(t, false);
			timer_set(t->loop, &t->reopen, NO_FILES_PAUSE_US);
			return;
		}
		if (fd < 0)
			return;
		if (!addr_from_sockaddr(&from, (const struct sockaddr *)&ss, len)) {
			close(fd);
			continue;
		}
		reached = address_reached(d, fd);
		if (d->at.service == SERVICE_TLS)
			listen_tcp_take_tls(t, fd, &from, &reached);
		else
			listen_tcp_take(t, fd, &from, &reached);
	}
	if (t->count >= t->limits.connections)
		doors_watch(t, false);
}

static void on_reopen(struct timer *timer)
{
	struct listen_tcp *t = container_of(timer, struct listen_tcp, reopen);

	if (t->count < t->limits.connections)
		doors_watch(t, true);
}

/* ---- the whole ---- */

struct listen_tcp *listen_tcp_new(struct loop *l, packet_taker take, void *taker,
				  const struct listen_tcp_limits *limits)
{
	struct listen_tcp *t = mem_zero(sizeof *t);

	t->loop = l;
	t->take = take;
	t->taker = taker;
	t->limits = *limits;
	t->reopen.fire = on_reopen;
	list_init(&t->doors);
	list_init(&t->connections);
	t->in = mem_new(READ_ROOM);
	t->late = mem_new(2 + MESSAGE_MAX);
	t->gather = mem_new(GATHER_ROOM);
	return t;
}

void listen_tcp_limit(struct listen_tcp *t, const struct listen_tcp_limits *limits)
{
	t->limits = *limits;
	if (!timer_is_set(&t->reopen))
		doors_watch(t, t->count < limits->connections);
}

static void door_close(struct door *d)
{
	list_remove(&d->link);
	watch_stop(&d->watch);
	close(d->watch.fd);
	mem_free(d);
}

static bool is_named(const struct listen_socket *sockets, size_t count, int fd)
{
	for (size_t i = 0; i < count; i++)
		if (sockets[i].stream && sockets[i].fd == fd)
			return true;
	return false;
}

static bool has_door(const struct listen_tcp *t, int fd)
{
	LIST_EACH (at, &t->doors)
		if (LIST_ITEM(at, struct door, link)->watch.fd == fd)
			return true;
	return false;
}

void listen_tcp_serve(struct listen_tcp *t, const struct listen_socket *sockets, size_t count)
{
	LIST_EACH_SAFE (at, &t->doors) {
		struct door *d = LIST_ITEM(at, struct door, link);

		if (!is_named(sockets, count, d->watch.fd))
			door_close(d);
	}
	for (size_t i = 0; i < count; i++) {
		struct door *d;

		if (!sockets[i].stream || sockets[i].fd < 0 || has_door(t, sockets[i].fd))
			continue;
		d = mem_zero(sizeof *d);
		d->home = t;
		d->at = sockets[i].at;
		d->watch = (struct watch){ .fd = sockets[i].fd, .ready = on_knock };
		list_push_back(&t->doors, &d->link);
		watch_start(t->loop, &d->watch, t->shut ? 0 : WATCH_READ);
	}
}

size_t listen_tcp_untaken(const struct listen_tcp *t)
{
	return t->untaken;
}

unsigned listen_tcp_count(const struct listen_tcp *t)
{
	return t->count;
}

void listen_tcp_free(struct listen_tcp *t)
{
	if (!t)
		return;
	LIST_EACH_SAFE (at, &t->doors)
		door_close(LIST_ITEM(at, struct door, link));
	LIST_EACH_SAFE (c, &t->connections) {
		struct connection *one = LIST_ITEM(c, struct connection, link);

		connection_close(one);
		connection_free(one);
	}
	timer_stop(t->loop, &t->reopen);
	tls_server_unpin(t->keys);
	connlimits_unpin(t->connlimits);
	mem_free(t->in);
	mem_free(t->late);
	mem_free(t->gather);
	mem_free(t);
}
