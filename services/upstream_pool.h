/* Inside the pool of connections to other servers: what its rooms share.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * upstream_pool.c decides which connection carries a question, upstream_conn.c is one connection's
 * life, and a framing is how questions and answers lie in its bytes: lengths before messages over
 * TCP and TLS, requests over HTTPS. */
#ifndef SERVICES_UPSTREAM_POOL_H
#define SERVICES_UPSTREAM_POOL_H

#include "services/upstream.h"
#include "services/upstream_peer.h"
#include "util/list.h"
#include "util/loop.h"
#include "util/stream.h"

struct conn;
struct letter;
struct pool;

struct framing {
	const char *alpn; /* over TLS */
	bool must_agree;  /* the server has to know that protocol */
	/* The connection can carry bytes: say what is said first. */
	void (*begin)(struct conn *c);
	void (*end)(struct conn *c); /* of what begin has made; harmless without */
	/* How many questions may be under way on it, as far as the server has said. */
	unsigned (*width)(const struct conn *c);
	/* The letter's message becomes bytes to be written, if not before `fill`. */
	void (*put)(struct conn *c, struct letter *l);
	void (*fill)(struct conn *c);
	/* Its answer, if one comes, is of no interest any more. */
	void (*forget)(struct conn *c, struct letter *l);
	/* Look at bytes that came, letter_answered and so on for each answer in them. Returns how
	 * many are done with. A connection that is of no use any more is left `spoiled`. */
	size_t (*take)(struct conn *c, const uint8_t *at, size_t len);
};

extern const struct framing framing_tcp, framing_tls, framing_https;

enum { ID_CHAINS = 128 };

struct conn {
	struct list link; /* pool->conns */
	struct pool *pool;
	const struct framing *framing;
	void *framed; /* the framing's own */
	struct stream stream;
	struct watch watch;
	struct timer timer; /* idle for too long; or, when dead, to be buried */
	struct timer next;  /* write what was put together in this turn; read what lies there */
	struct addr to;
	struct peer *peer;               /* over TLS; or NULL */
	const struct tls_client *client; /* by whose rules, over TLS */
	struct list letters;             /* under way, in the order they were put here */
	unsigned letter_count;
	unsigned number;  /* counts connections */
	unsigned carried; /* questions, all told */
	unsigned answered;
	unsigned strays, given_up; /* given_up: questions whose answers nobody waits for any more */
	uint64_t told_us, idle_us; /* last answer; since when nothing is under way */
	uint32_t rest_ms;          /* how long the server lets it rest (RFC 7828) */
	bool connected;            /* as far as TCP goes */
	bool open;                 /* questions can go out */
	bool dead, untrusted;
	bool deaf;           /* takes no more questions */
	bool spoiled;        /* what came over it was no answer, and none will come */
	bool busy;           /* somebody up the stack is working on it */
	const char *trouble; /* why it never opened, where neither TCP nor TLS is to blame */
	uint8_t *in;
	size_t in_len, in_room;
	uint8_t *out; /* not written yet: out[out_at] to out[out_len] */
	size_t out_at, out_len, out_room;
	struct letter *by_id[ID_CHAINS]; /* by the last bits of their ids */
};

/* A sending on its way. */
struct letter {
	struct list link; /* conn->letters, or pool->waiting, or pool->failing */
	struct letter *id_next;
	struct pool *pool;
	struct sending *sending;
	struct conn *conn;     /* NULL: waits for one */
	struct peer *peer;     /* over TLS; or NULL */
	void *framed;          /* the framing's own, while it has a connection */
	enum upstream_end why; /* it is among those that fail */
	bool moody;            /* and that is the server's mood (struct sending) */
	uint16_t id;
	uint64_t put_us;
	unsigned answered_before; /* by its connection, when it was put there */
	unsigned resends, agains;
	unsigned lost_number; /* resent: not over connections up to this one */
};

struct sources;
struct snapshot;

struct pool {
	struct transport transport;
	struct sources *sources;
	const struct snapshot *sources_of;
	uint64_t sources_number;
	struct peers *peers;
	struct list conns;
	unsigned conn_count; /* those that live */
	unsigned opened;     /* all that ever were */
	struct list waiting; /* letters, until there is a connection for them */
	struct list failing; /* letters that could not leave; told in the next turn */
	struct timer tell_failing;
};

const struct conf_server *pool_conf(const struct pool *p);
uint64_t pool_now_us(const struct pool *p);
/* There may be room for those who wait. */
void pool_admit(struct pool *p);
/* The rules for what goes to `peer`; NULL for what is not encrypted. */
struct tls_client *pool_client(const struct pool *p, const struct peer *peer);

/* ---- letters, for framings and connections ---- */

/* The one with that id, or NULL. */
struct letter *letter_find(const struct conn *c, uint16_t id);
/* Its answer: hands it on and frees the letter, unless several are to come. */
void letter_answered(struct letter *l, const uint8_t *wire, size_t len);
/* The server has not looked at it: it is sent again. False when it did that too often. */
bool letter_again(struct letter *l) MUST_USE;
/* There is no answer from this server; told in the next turn. */
void letter_fails(struct letter *l, enum upstream_end why, bool moody);
/* What a connection that died was carrying. */
void letter_lost(struct letter *l, struct conn *c);
void letter_free(struct letter *l);

/* ---- connections ---- */

/* NULL when there is no way there; over TLS, `peer` may then be held. */
struct conn *conn_open(struct pool *p, const struct sending *s, struct peer *peer);
void conn_die(struct conn *c); /* what it carries is seen to in a later turn */
void conn_free(struct conn *c);
void conn_carry(struct conn *c, struct letter *l);
void conn_drop(struct conn *c, struct letter *l);    /* carried no longer; it stays the caller's */
void conn_give_up(struct conn *c, struct letter *l); /* the same: nobody waits for its answer */
/* After anything happened to it: bury it, close it, or let it rest until it is needed again. */
void conn_settle(struct conn *c);
bool conn_may_carry(const struct conn *c);
void conn_say_soon(struct conn *c); /* in this turn still, with what else there will be */
/* Room for so many more bytes to be written: add what was written there to c->out_len. */
uint8_t *conn_out(struct conn *c, size_t room);

#endif
