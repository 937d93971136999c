/* One question to one server, by whatever way it takes.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * Chooses UDP or TCP, sends again, falls back from EDNS to none (RFC 6891 6.2.2), but not where
 * signatures are wanted, and from a cut answer to TCP (RFC 7766), spells the name with 0x20 where
 * told, throws away what does not match address, port, id, QR, opcode and question or does not parse
 * and keeps waiting, counts RTT and silence in infra. Equal questions to one server in flight are sent once. What it does
 * not do is judge the answer. */
#ifndef SERVICES_UPSTREAM_H
#define SERVICES_UPSTREAM_H

#include "services/carrier.h"
#include "util/addr.h"
#include "util/msg.h"

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
	const uint8_t *zone;    /* whose server it is: infra's key; copied */
	const char *tls_name;   /* whose certificate it must have; NULL: anybody's */
	const char *http_path;  /* over HTTPS: where there */
	const struct netblock *subnet; /* where the client is (RFC 7871); copied; NULL: not told */
	enum carrier carrier;
	bool recurse;           /* RD: it is a forwarder */
	bool checking_disabled; /* CD */
	bool dnssec;            /* DO */
	bool insists;           /* an answer without EDNS, hence without signatures, is of no use */
	bool caps;              /* 0x20: random letter case, and the answer must echo it */
	uint32_t wait_ms;       /* how long one try may take; 0: as infra says */
	const struct infra_view *known; /* what was just looked up of the server; NULL: it is not */
};

enum upstream_end {
	UPSTREAM_ANSWERED,
	UPSTREAM_SILENT,      /* no acceptable answer in time, over every way tried */
	UPSTREAM_UNREACHABLE, /* could not even be sent */
	UPSTREAM_UNTRUSTED,   /* over TLS it could not show who it is: not asked */
	UPSTREAM_MANGLED,     /* only answers that do not echo our spelling (0x20) */
};

struct upstream_reply {
	enum upstream_end end;
	struct addr server;
	struct message *message; /* ANSWERED; in the arena given to upstream_ask */
	bool refused;            /* not answered, and that was said at once: nobody listens there, or
				  * who does talks nonsense over a connection of our own */
	unsigned sends;          /* packets that it took */
	uint32_t rtt_ms;
	bool had_edns; /* the question that was answered carried OPT */
	bool over_tcp;
};

/* Start asking. `done(owner, reply)` is called once, in a later turn, never from within this call;
 * the message is parsed into `arena` (which outlives the asking: upstream_cancel first if not). */
struct upstream_ask *upstream_ask(struct upstream *u, const struct upstream_question *question,
				  struct arena *arena,
				  void (*done)(void *owner, const struct upstream_reply *reply),
				  void *owner) MUST_USE;
void upstream_cancel(struct upstream_ask *a); /* done will not be called; harmless after it was */

/* The transport of a carrier, for who has more to do there than ask. */
struct transport *upstream_way(struct upstream *u, enum carrier carrier);
/* Every server that is asked over TLS or HTTPS. */
void upstream_each_peer(const struct upstream *u,
			void (*fn)(const struct peer *peer, void *arg), void *arg);

/* With the transports of carrier.def; or with two that are played and stay the caller's: `udp`, and
 * `streams` for whatever does not go over UDP. */
struct upstream *upstream_new(struct env *env, struct transport *udp,
			      struct transport *streams) MUST_USE;
void upstream_free(struct upstream *u);

/* ---- the seam: how bytes go out and come back ---- */

struct sending { /* one copy of one message on its way */
	struct addr to;
	enum carrier carrier;
	const char *tls_name;  /* whose certificate it must have; NULL: anybody's */
	const char *http_path; /* over HTTPS: where there */
	bool keepalive;        /* it asks how long the connection may rest (RFC 7828) */
	uint8_t *wire; /* the transport puts its own id into the first two bytes */
	size_t len;
	/* It leaves now by this descriptor, as `wire` says. NULL: nobody wants to know. */
	void (*leaves)(struct sending *s, int fd);
	/* An answer from the right place with the right id. False: it is not what we asked
	 * for, keep waiting. True: the sending is over (the callee may free it). */
	bool (*arrived)(struct sending *s, const uint8_t *wire, size_t len);
	/* Something came from the right place that carries another id: somebody may be
	 * guessing. True: the sending is over (the callee may free it). */
	bool (*strayed)(struct sending *s);
	/* It is over without an answer; the callee may free it. */
	void (*failed)(struct sending *s, enum upstream_end why);
	/* Over a stream: several answers come, each is shown to `arrived` until that says true; it
	 * does not free the sending. Once the first is there it is not sent again. */
	bool many, begun;
	bool queued; /* the transport has not got round to it yet */
	bool moody;  /* it failed, but the server has shown who it is: it may be asked again */
	void *slot;  /* the transport's own, while under way */
};

struct transport_ops {
	const char *name;
	bool patient;                                         /* played: no timeouts above it */
	void (*send)(struct transport *t, struct sending *s); /* calls nothing back from within */
	void (*cancel)(struct transport *t, struct sending *s);
	void (*free)(struct transport *t);
	/* Every server that is asked over TLS or HTTPS; NULL: there are none. */
	void (*each_peer)(const struct transport *t,
			  void (*fn)(const struct peer *peer, void *arg), void *arg);
};

struct transport {
	const struct transport_ops *ops;
	struct env *env;
};

/* A patient transport says failed() when its story does, and that ends the asking; when what
 * arrives does not match, no more will come. A real one says failed(SILENT) when the
 * other side refuses or the connection is lost, UNREACHABLE when nothing could leave.
 *
 * Real ones. Options (outgoing-interface, -range, -port-permit, outgoing-num-tcp, tcp-reuse-timeout
 * …) are read from env->snapshot when a socket is opened. */
#define CARRIER(id, private, port, make, ...) struct transport *make(struct env *env) MUST_USE;
#include "services/carrier.def"
#undef CARRIER

#endif
