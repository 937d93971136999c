/* One connection of a client: read, answered, watched and cut. Known to the rooms listen_* alone.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * What is spoken on it is a `struct speech`: frames of two bytes and a message (listen_frames.c),
 * or HTTP/2 (listen_http.c). The connection does what both need. */
#ifndef SERVICES_LISTEN_CONN_H
#define SERVICES_LISTEN_CONN_H

#include "services/connlimit.h"
#include "services/interfaces.h"
#include "services/listen.h"
#include "services/listen_tcp.h"
#include "util/list.h"
#include "util/loop.h"
#include "util/stream.h"

#define MESSAGE_MAX  65535
#define READ_ROOM    (2 + MESSAGE_MAX + 32768) /* a whole message and some more */
#define GATHER_ROOM  (4 * (2 + MESSAGE_MAX))   /* answers of one turn */
#define FRAMES_ROOM  (5 * 16384)               /* frames that go out in one write */
#define ASKED_MOST   128   /* questions of one connection in work; then it is not read */
#define UNTAKEN_MOST 65536 /* bytes a client has not taken; then it is not read */

struct connection;
struct http2_house;
struct http2_ops;
struct http2_server;
struct tap;

/* Bytes on the heap with a front that moves. */
struct queue {
	uint8_t *at;
	size_t start, end, room;
};

static inline size_t queue_len(const struct queue *q)
{
	return q->end - q->start;
}

enum waits_for { FOR_NOTHING, FOR_QUESTION, FOR_REST, FOR_CLIENT };

struct speech {
	/* Take what is whole at `at`; returns how many bytes that were. The rest comes again, with
	 * what follows. A connection with enough in work becomes `full`. */
	size_t (*digest)(struct connection *c, const uint8_t *at, size_t len);
	/* The client took what was sent: there may be more. NULL: there never is. */
	void (*more)(struct connection *c);
	/* What it waits for beside what the connection knows itself; NULL: nothing. */
	enum waits_for (*waits_for)(const struct connection *c);
	/* It was idle for long and will be closed: say so. NULL: nothing is said. */
	void (*goodbye)(struct connection *c);
	void (*end)(struct connection *c); /* forget what the speech keeps; or NULL */
	const struct client_ops *plain, *tls, *resumed;
};

extern const struct speech speech_frames, speech_http;
extern const struct http2_ops listen_http_ops;

struct connection {
	struct list link;
	struct listen_tcp *home;
	const struct speech *speech;
	struct stream stream;
	struct watch watch;
	struct timer limit;  /* for what `waits_for` says */
	struct timer resume; /* whole messages were left lying */
	struct addr from, reached;
	struct connplace place;    /* among the connections of its netblock and its address */
	struct queue in;           /* what was read and not yet taken */
	struct queue out;          /* what the client has not yet taken */
	struct http2_server *http; /* or NULL */
	size_t held;               /* bytes that TLS has of it, counted in `untaken` */
	unsigned asked;            /* questions that will be answered later */
	enum waits_for waits_for;
	enum service service;
	bool proxied;   /* a proxy must say for whom it is, before anything else */
	bool moved;     /* the client did something whole: its time begins anew */
	bool kept;      /* the client asked how long it may be idle: it may longer */
	bool ended;     /* the client sends no more */
	bool cut;       /* we take no more: it sent nonsense, or a question was dropped */
	bool full;      /* whole messages lie in `in`: enough is in work already */
	bool dead;      /* closed; lives until everybody has left */
	bool digesting; /* its answers are being gathered */
	bool speaking;  /* HTTP/2 is at it */
};

struct listen_tcp {
	struct loop *loop;
	packet_taker take;
	packet_leaver leave; /* or NULL */
	void *taker;
	struct listen_tcp_limits limits;
	char *endpoint; /* http-endpoint */
	size_t endpoint_len;
	struct tls_server *keys;       /* pinned; NULL: there is no TLS */
	struct tap *tap;               /* or NULL */
	struct connlimits *connlimits; /* pinned; or NULL */
	struct http2_house *http;
	struct list doors, connections;
	struct timer reopen;                  /* doors that were shut for want of descriptors */
	unsigned count;                       /* connections that are not dead */
	bool shut;                            /* the doors are not watched */
	bool short_of_files;                  /* and that was said */
	size_t untaken;                       /* bytes in all `out` queues */
	uint8_t *in, *late, *gather, *frames; /* one of each is enough for a thread */
	size_t gathered, framed;
};

/* ---- for the doors ---- */

/* Takes `fd` over; it may be closed at once. */
void connection_begin(struct listen_tcp *t, int fd, const struct arrival *how);
void connection_close(struct connection *c);       /* the socket goes at once */
void connection_free(struct connection *c);        /* then, when nobody refers to it */
void doors_watch(struct listen_tcp *t, bool open); /* listen_tcp.c */

/* ---- for the speeches ---- */

const struct client_ops *connection_ops(const struct connection *c);
/* There is room for another question. */
bool connection_may_ask(const struct connection *c);
/* Send bytes, or keep them for when the client takes them. Closes the connection when it is broken
 * or all clients together leave too much lying. */
void connection_send(struct connection *c, const uint8_t *from, size_t len);
/* Between these, what is sent leaves at once, but in pieces that the client can read one by one. */
void connection_hold(struct connection *c);
void connection_release(struct connection *c);
/* An answer came, or never will: go on, or go. `c` may be freed. */
void connection_left(struct connection *c);
uint32_t connection_idle_ms(const struct connection *c);
/* What the connection adds to the answer to this question (services/hop.h). */
unsigned connection_options_due(struct connection *c, const uint8_t *question, size_t len);
size_t connection_add_options(const struct connection *c, unsigned due, uint8_t *wire, size_t len);

#endif
