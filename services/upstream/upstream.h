/* One query to one server, over whatever transport it takes.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * Chooses UDP or TCP, retransmits, falls back to no EDNS (RFC 6891 6.2.2) unless signatures are
 * wanted, retries over TCP after truncation (RFC 7766), randomises query case (0x20) where told,
 * and records RTT and timeouts in infra. Responses that do not parse or do not match in address,
 * port, id, QR, opcode and question are discarded, and it goes on waiting. Equal questions in
 * flight to one server are sent once. It does not check the answer. */
#ifndef SERVICES_UPSTREAM_UPSTREAM_H
#define SERVICES_UPSTREAM_UPSTREAM_H

#include "services/net/transport.h"
#include "util/dns/msg.h"
#include "util/net/addr.h"

struct budget;
struct env;
struct netblock;
struct infra_view;
struct peer;
struct query;
struct transport;
struct upstream;
struct upstream_ask;

struct upstream_question {
	struct question q;      /* as to be sent; copied */
	struct addr server;     /* port included */
	const uint8_t *zone;    /* the zone it serves, part of infra's key; copied */
	const char *tls_name;   /* that its certificate must be for; NULL: not checked */
	const char *http_path;  /* over HTTPS: path of the URL */
	const struct netblock *subnet; /* client subnet to send (RFC 7871); copied; NULL: none */
	enum transport_kind transport;
	bool recurse;           /* RD: the server is a forwarder */
	bool checking_disabled; /* CD */
	bool dnssec;            /* DO */
	bool insists;           /* no fallback: without EDNS there are no signatures */
	bool caps;              /* 0x20: random query case, which the response must echo */
	bool once;              /* over UDP it is tried once: there are others to be tried first */
	uint32_t wait_ms;       /* timeout of one try; 0: as infra says */
	const struct infra_view *known; /* infra's entry if just looked up, else NULL */
	struct budget *budget; /* pays for connections, if this is the first to ask; NULL: nobody does */
};

enum upstream_end {
	UPSTREAM_ANSWERED,
	UPSTREAM_SILENT,      /* no acceptable response in time over any transport tried */
	UPSTREAM_UNREACHABLE, /* the query could not be sent at all */
	UPSTREAM_UNTRUSTED,   /* TLS authentication failed: nothing was asked */
	UPSTREAM_MANGLED,     /* only responses that do not echo our query case (0x20) */
};

struct upstream_reply {
	enum upstream_end end;
	struct addr server;
	struct message *message; /* ANSWERED; in the arena given to upstream_ask */
	struct arena *own_arena;     /* of a large message: where its sets and options are. The asker may
				  * clear it when it has copied what it wants to keep. NULL: none */
	bool refused;            /* not answered, and known at once rather than by timeout: nothing
				  * listens there, or what came over our connection was garbage */
	unsigned sends;          /* packets sent */
	uint32_t rtt_ms;
	bool had_edns; /* the query that was answered carried OPT */
	bool over_tcp; /* or over UDP again, since TCP was not to be had */
};

/* Start asking. `done(owner, reply)` is called once, in a later turn, never from within this call.
 * The message is parsed into `arena`, which must outlive the ask (else upstream_cancel first). */
struct upstream_ask *upstream_ask(struct upstream *u, const struct upstream_question *question,
				  struct arena *arena,
				  void (*done)(void *owner, const struct upstream_reply *reply),
				  void *owner) MUST_USE;
void upstream_cancel(struct upstream_ask *a); /* done will not be called; harmless after it was */
/* As upstream_cancel, but over UDP the question that is out is waited for: what its answer, or silence, says about the
 * server is remembered. */
void upstream_leave(struct upstream_ask *a);

/* The transport of a transport, for callers that need more than upstream_ask (zone transfers). */
struct transport *upstream_way(struct upstream *u, enum transport_kind transport);
/* Every server asked over TLS or HTTPS. */
void upstream_each_peer(const struct upstream *u,
			void (*fn)(const struct peer *peer, void *arg), void *arg);

/* With the transports of services/net/transport.def; or, for replay, with two that stay the caller's: `udp`, and
 * `streams` for all other transports. */
struct upstream *upstream_new(struct env *env, struct transport *udp,
			      struct transport *streams) MUST_USE;
void upstream_free(struct upstream *u);

/* ---- the transport interface: how bytes go out and come back ---- */

struct transmission { /* one transmission of one message */
	struct addr to;
	enum transport_kind transport;
	const char *tls_name;  /* that its certificate must be for; NULL: not checked */
	const char *http_path; /* over HTTPS: path of the URL */
	struct budget *budget; /* without it no connection is opened (budget_may_connect); NULL: no limit */
	bool keepalive;        /* carries the edns-tcp-keepalive option (RFC 7828) */
	uint32_t rtt_ms;       /* to the server, at most, by what is known of it; or 0 */
	uint8_t *wire; /* the transport writes its own id into the first two bytes */
	size_t len;
	/* `wire` is about to leave by this descriptor. May be NULL. */
	void (*leaves)(struct transmission *s, int fd);
	/* A response from the right address with the right id. False: it is not the answer, keep
	 * waiting. True: the transmission is over (the callee may free it). */
	bool (*arrived)(struct transmission *s, const uint8_t *wire, size_t len);
	/* A packet from the right address with another id: somebody may be guessing. True: the
	 * transmission is over (the callee may free it). */
	bool (*strayed)(struct transmission *s);
	/* It ended without an answer; the callee may free it. */
	void (*failed)(struct transmission *s, enum upstream_end why);
	/* `many`: over a stream, several messages come; each is passed to `arrived` until that
	 * returns true, and it does not free the transmission. `begun`: the first has come, so it
	 * is not sent again. */
	bool many, begun;
	bool queued; /* the transport has not sent it yet */
	bool retryable;  /* it failed, but the server has been authenticated: it may be asked again */
	void *slot;  /* the transport's own, while under way */
};

struct transport_ops {
	const char *name;
	bool patient;                                         /* replay: no timeouts above it */
	void (*send)(struct transport *t, struct transmission *s); /* makes no callback from within */
	void (*cancel)(struct transport *t, struct transmission *s);
	void (*free)(struct transport *t);
	/* When the server last answered anything over the connection that carries this one, in microseconds of the
	 * loop's clock; 0: never, or there is none. NULL: the transport has no connections. */
	uint64_t (*heard_us)(const struct transmission *s);
	/* Every server asked over TLS or HTTPS; NULL: there are none. */
	void (*each_peer)(const struct transport *t,
			  void (*fn)(const struct peer *peer, void *arg), void *arg);
};

struct transport {
	const struct transport_ops *ops;
	struct env *env;
};

/* A patient transport calls failed() when its script says so, and that ends the ask; after a
 * response that does not match, no more will come. A real one calls failed(SILENT) when the peer
 * refuses or the connection is lost, UNREACHABLE when nothing could be sent.
 *
 * The real ones: options (outgoing-interface, -range, -port-permit, outgoing-num-tcp,
 * tcp-reuse-timeout …) are read from env->snapshot when a socket is opened. */
#define TRANSPORT(id, private, port, make, ...) struct transport *make(struct env *env) MUST_USE;
#include "services/net/transport.def"
#undef TRANSPORT

#endif
