/* One connection of a client: reading, answering, timeouts and closing. Private to this room.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * What is spoken on it is a `struct protocol`: messages with a two-byte length (frames.c) or
 * HTTP/2 (http.c). The connection does what both need. */
#ifndef SERVICES_LISTEN_CONNECTION_H
#define SERVICES_LISTEN_CONNECTION_H

#include "services/listen/connection_table.h"
#include "services/listen/tcp.h"
#include "services/net/client.h"
#include "services/net/connection_limits.h"
#include "services/net/interfaces.h"
#include "util/base/list.h"
#include "util/base/loop.h"
#include "util/net/stream.h"

#define MESSAGE_MAX  65535
#define READ_ROOM    (2 + MESSAGE_MAX + 32768) /* a whole message and some more */
#define GATHER_ROOM  (4 * (2 + MESSAGE_MAX))   /* answers of one turn */
#define FRAMES_ROOM  (5 * 16384)               /* frames that go out in one write */
#define ASKED_MOST   128   /* questions of one connection in work; then it is not read */
#define UNTAKEN_MOST 65536 /* bytes a client has not taken; then it is not read */

struct connection;
struct http2_shared;
struct http2_server;
struct tap;

/* A queue of bytes on the heap. */
struct queue {
	uint8_t *at;
	size_t start, end, room;
};

static inline size_t queue_len(const struct queue *q)
{
	return q->end - q->start;
}

/* Of the client; FOR_NOTHING: of us. */
enum waits_for { FOR_NOTHING, FOR_QUESTION, FOR_REST, FOR_CLIENT };

struct protocol {
	/* Process what is complete at `at`; returns how many bytes that was. The rest is passed
	 * again with what follows. At its limit of pending questions the connection gets `full`. */
	size_t (*digest)(struct connection *c, const uint8_t *at, size_t len);
	/* The client has taken what was sent: send more, if any. NULL: there never is. */
	void (*more)(struct connection *c);
	/* What it waits for apart from what the connection itself knows; NULL: nothing. */
	enum waits_for (*waits_for)(const struct connection *c);
	/* It has been idle too long and will be closed: tell the client. NULL: nothing to send. */
	void (*goodbye)(struct connection *c);
	void (*end)(struct connection *c); /* free the protocol's own state; or NULL */
	const struct client_ops *plain, *tls, *resumed;
	bool https; /* http-nodelay says whether small segments go out at once */
};

extern const struct protocol protocol_frames, protocol_http;

struct connection {
	struct list link;
	struct listen_tcp *home;
	const struct protocol *protocol;
	struct stream stream;
	struct watch watch;
	struct timer limit;  /* timeout of what `waits_for` says; FOR_NOTHING: to look whether it is gone */
	struct timer resume; /* set while complete messages are left in `in` */
	struct addr from, reached;
	uint64_t whose;            /* hash of the client's address */
	struct connection_entry entry;    /* in home->table */
	struct connection_slot place;    /* its count in the limits of netblock and address */
	struct queue in;           /* read and not yet processed */
	struct queue out;          /* not yet taken by the client */
	struct http2_server *http; /* or NULL */
	size_t tls_pending;        /* bytes of it buffered in TLS, counted in `untaken` */
	unsigned asked;            /* questions still to be answered */
	struct list waiting;       /* those of them that somebody else keeps (client_ops.waiting) */
	enum waits_for waits_for;
	enum service service;
	bool proxied;   /* a PROXYv2 header must come before anything else */
	bool moved;     /* the client completed something: restart its timeout */
	bool kept;      /* the client sent edns-tcp-keepalive: longer idle timeout */
	bool has_asked; /* a question, in full */
	bool has_written; /* since the last read: the client has its acknowledgement with that */
	bool ended;     /* the client sends no more */
	bool cut;       /* we read no more: it sent garbage, or a question was dropped */
	bool full;      /* messages are left in `in`: too many questions pending */
	bool dead;      /* closed; freed when nobody refers to it */
	bool digesting; /* its answers are being gathered */
	bool speaking;  /* HTTP/2 code is on the stack */
};

struct listen_tcp {
	struct loop *loop;
	packet_taker take;
	packet_leaver leave; /* or NULL */
	void *taker;
	struct listen_tcp_limits limits;
	char *endpoint; /* http-endpoint */
	size_t endpoint_len;
	struct tls_server *keys;       /* pinned; NULL: no TLS */
	struct tap *tap;               /* or NULL */
	struct connection_limits *connection_limits; /* pinned; or NULL */
	struct http2_shared *http;
	struct list listeners, connections;
	struct list gone;                     /* connections that are dead and have questions in progress */
	struct timer farewell;                /* runs for those */
	struct connection_table *table;              /* of `connections` */
	struct {
		int fd; /* -1: there is none */
		struct arrival how;
	} next;                               /* a connection for which there is no room yet */
	struct timer retry;                   /* runs for it */
	struct timer hurry;                   /* shortens what idle connections have left */
	struct stats *stats;                  /* or NULL */
	struct timer reopen;                  /* set when shut for lack of descriptors */
	unsigned count;                       /* connections that are not dead */
	bool shut;                            /* the listening sockets are not watched */
	bool short_of_files;                  /* and that was logged */
	size_t untaken;                       /* bytes in all `out` queues */
	uint8_t *in, *late, *gather, *frames; /* buffers, one of each per thread */
	size_t gathered, framed;
};

/* ---- what the HTTPS connections of a thread share (http.c; http_none.c: NULL) ---- */

struct http2_shared *listen_http_new(const struct listen_tcp_limits *limits);
void listen_http_limit(struct http2_shared *h, const struct listen_tcp_limits *limits);
void listen_http_free(struct http2_shared *h);

/* ---- the sockets that listen (listeners.c) ---- */

struct listener {
	struct list link;
	struct listen_tcp *home;
	struct watch watch;
	struct interface at;
};

/* Listen at these and no others; `ready` accepts. */
void listeners_serve(struct listen_tcp *t, const struct listen_socket *sockets, size_t count,
		     void (*ready)(struct watch *w, unsigned what));
void listeners_watch(struct listen_tcp *t, bool open); /* whether there is room for connections */
void listeners_close(struct listen_tcp *t);

/* ---- for who accepts ---- */

/* Takes `fd` over; it may be closed at once. */
void connection_begin(struct listen_tcp *t, int fd, const struct arrival *how, const struct protocol *protocol);
/* Makes a place free for a connection of this client, if there is none, by closing another one. */
enum connroom connection_room(struct listen_tcp *t, const struct addr *client);
void connection_farewells(struct timer *t); /* t->farewell.fire */
void connection_hurry(struct timer *t);     /* t->hurry.fire */
void connection_close(struct connection *c);       /* the socket goes at once */
void connection_free(struct connection *c);        /* then, when nobody refers to it */

/* ---- for the speeches ---- */

const struct client_ops *connection_ops(const struct connection *c);
/* Whether another question may be taken now. */
bool connection_may_ask(const struct connection *c);
/* Send bytes, or queue them until the client takes them. Closes the connection when it is broken;
 * when too much is queued for all clients together, one of the client that leaves the most. */
void connection_send(struct connection *c, const uint8_t *from, size_t len);
/* Before `c` has `more` bytes waiting: close a connection of the client for which most wait, be it on
 * several connections. False: that is `c`'s own client, or nothing is free yet. */
typedef size_t connection_measure(const struct connection *c);
bool connection_makes_way(const struct connection *c, connection_measure *waiting, size_t more);
/* Between these calls output is gathered, then sent at once, in pieces the client can read one by
 * one. */
void connection_hold(struct connection *c);
void connection_release(struct connection *c);
/* A question has been answered or dropped: carry on, or close. `c` may be freed. */
void connection_left(struct connection *c);
uint32_t connection_idle_ms(const struct connection *c);
struct list *connection_waiting(const struct client *client); /* client_ops.waiting */
/* A question has come in full. EDNS_CONN_* options to add to the response to it (services/net/edns_conn.h). */
unsigned connection_options_due(struct connection *c, const uint8_t *question, size_t len);
size_t connection_add_options(const struct connection *c, unsigned due, uint8_t *wire, size_t len);

#endif
