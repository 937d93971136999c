/* The pool of connections to other servers: declarations its files share.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * pool.c decides which connection carries a question, connection.c manages one
 * connection, and a framing is how queries and responses are encoded on it: length-prefixed
 * messages over TCP and TLS, requests over HTTPS. */
#ifndef SERVICES_UPSTREAM_POOL_H
#define SERVICES_UPSTREAM_POOL_H

#include "services/upstream/peer.h"
#include "services/upstream/upstream.h"
#include "util/base/list.h"
#include "util/base/loop.h"
#include "util/net/stream.h"

struct conn;
struct stream_query;
struct pool;

struct framing {
	const char *alpn; /* over TLS */
	bool must_agree;  /* the server must select that protocol */
	/* The connection is open: send the preface, if any. */
	void (*begin)(struct conn *c);
	void (*end)(struct conn *c); /* free what begin has made; harmless without */
	/* How many questions may be pending on it, as far as the server has said. */
	unsigned (*width)(const struct conn *c);
	/* The query's message becomes bytes to be written, if not before `fill`. */
	void (*put)(struct conn *c, struct stream_query *l);
	void (*fill)(struct conn *c);
	/* Its answer, if one comes, is no longer wanted. */
	void (*forget)(struct conn *c, struct stream_query *l);
	/* Process bytes received, calling stream_query_answered and so on for each response. Returns how
	 * many were consumed. Marks a connection that is no longer usable `broken`. */
	size_t (*take)(struct conn *c, const uint8_t *at, size_t len);
};

extern const struct framing framing_tcp, framing_tls, framing_https; /* tcp.c, https.c (or https_none.c) */

enum {
	ID_CHAINS = 128,
	POOL_PROOFS = 1024, /* servers remembered for having answered over TCP */
};

struct conn {
	struct list link; /* pool->conns */
	struct pool *pool;
	const struct framing *framing;
	void *framed; /* the framing's own */
	struct stream stream;
	struct watch watch;
	struct timer timer; /* idle timeout; when dead, to free it */
	struct timer next;  /* write what was gathered in this turn; read what is buffered */
	struct addr to;
	struct peer *peer;               /* over TLS; or NULL */
	const struct tls_client *client; /* its TLS settings */
	struct list queries;             /* pending, in the order they were put here */
	unsigned stream_query_count;
	unsigned number;  /* serial number of the connection */
	unsigned carried; /* questions in total */
	unsigned answered;
	unsigned strays, given_up; /* given_up: questions whose answers nobody waits for */
	uint64_t told_us, idle_us; /* time of the last answer; since when nothing is pending */
	uint64_t pace_us;          /* from one answer to the next, while queries are pending: smoothed */
	uint32_t rest_ms;          /* idle timeout granted by the server (RFC 7828) */
	bool connected;            /* as far as TCP goes */
	bool open;                 /* questions can go out */
	bool dead, untrusted;
	bool no_more_queries;           /* takes no more questions */
	bool broken;        /* garbage came over it; no answers will come */
	bool busy;           /* in use further up the stack */
	bool proven;         /* that server has answered over TCP before */
	uint32_t patience_ms; /* for its silence, where others need its place */
	const char *trouble; /* why it never opened, if not for TCP or TLS */
	uint8_t *in;
	size_t in_len, in_room;
	uint8_t *out; /* not written yet: out[out_at] to out[out_len] */
	size_t out_at, out_len, out_room;
	struct stream_query *by_id[ID_CHAINS]; /* by the last bits of their ids */
};

/* A query under way. */
struct stream_query {
	struct list link; /* conn->queries, or pool->waiting, or pool->failing */
	struct stream_query *id_next;
	struct pool *pool;
	struct transmission *transmission;
	struct conn *conn;     /* NULL: waits for one */
	struct peer *peer;     /* over TLS; or NULL */
	void *framed;          /* the framing's own, while it has a connection */
	enum upstream_end why; /* while in pool->failing */
	bool retryable;            /* likewise (see struct transmission) */
	uint16_t id;
	uint64_t put_us;
	unsigned answered_before; /* its connection's `answered` when it was put there */
	unsigned resends, agains;
	unsigned lost_number; /* resend only over connections with higher numbers */
};

struct sources;
struct snapshot;

struct pool {
	struct transport transport;
	const struct framing *const *framings; /* by transport */
	struct sources *sources;
	const struct snapshot *sources_of;
	uint64_t sources_number;
	struct peers *peers;
	struct list conns;
	unsigned conn_count; /* those that live */
	unsigned opened;     /* in total */
	struct list waiting; /* queries, until there is a connection for them; those to proven servers … */
	struct list favoured; /* … and those that the operator has named come first, usually */
	unsigned admissions;
	uint64_t proof[POOL_PROOFS]; /* hashes of servers that answer over TCP: evidence, not a register */
	struct list failing; /* queries that could not leave; told in the next turn */
	struct timer tell_failing;
	struct timer crowded; /* looks for servers that are silent for too long */
};

/* `framings` has one for each transport that is given to `send`. */
struct transport *pool_new(struct env *env, const struct framing *const *framings) MUST_USE;
const struct conf_server *pool_conf(const struct pool *p);
uint64_t pool_now_us(const struct pool *p);
/* For how long the new connection may be silent where others need its place. */
void pool_is_patient(struct conn *c, const struct transmission *s);
/* There may be room for waiting queries: place them. */
void pool_admit(struct pool *p);
/* TLS settings for `peer`; NULL when unencrypted. */
struct tls_client *pool_client(const struct pool *p, const struct peer *peer);

/* ---- queries, for framings and connections ---- */

/* The one with that id, or NULL. */
struct stream_query *stream_query_find(const struct conn *c, uint16_t id);
/* Its answer: passes it on and frees the query, unless more are to come. */
void stream_query_answered(struct stream_query *l, const uint8_t *wire, size_t len);
/* The server has not processed it: send it again. False when that happened too often. */
bool stream_query_again(struct stream_query *l) MUST_USE;
/* There is no answer from this server; reported in the next turn. */
void stream_query_fails(struct stream_query *l, enum upstream_end why, bool retryable);
/* A query whose connection died. */
void stream_query_lost(struct stream_query *l, struct conn *c);
void stream_query_free(struct stream_query *l);

/* ---- connections ---- */

/* NULL when it cannot be opened; over TLS, `peer` may then be held. */
struct conn *conn_open(struct pool *p, const struct transmission *s, struct peer *peer);
void conn_die(struct conn *c); /* its queries are handled in a later turn */
void conn_free(struct conn *c);
void conn_carry(struct conn *c, struct stream_query *l);
void conn_drop(struct conn *c, struct stream_query *l);    /* no longer carried; it stays the caller's */
void conn_give_up(struct conn *c, struct stream_query *l); /* the same: nobody waits for its answer */
/* After any event: free it, close it, or leave it idle until needed again. */
void conn_after_event(struct conn *c);
bool conn_may_carry(const struct conn *c);
void conn_say_soon(struct conn *c); /* write within this turn, with other output */
/* Room for `room` more bytes of output; add what was written there to c->out_len. */
uint8_t *conn_out(struct conn *c, size_t room);

#endif
