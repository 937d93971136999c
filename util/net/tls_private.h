/* What the tls*.c files share: contexts, connections made from them, and the wire beneath.
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef UTIL_NET_TLS_PRIVATE_H
#define UTIL_NET_TLS_PRIVATE_H

#include <openssl/ssl.h>

#include <stdatomic.h>

#include "util/base/list.h"
#include "util/base/rcu.h"
#include "util/net/tls.h"

/* A context of the library, counted by us: it holds all authorities, and whoever lets go of it last, such as a worker whose
 * connection ends, is not to free those. */
struct tls_context {
	_Atomic unsigned pins;
	SSL_CTX *ctx; /* never changed */
	struct rcu_slot released;
};

/* The current one, pinned for the caller. A client's that has not been loaded is NULL, with a sentence in `f`. */
struct tls_context *tls_client_context(struct tls_client *c, struct fault *f) MUST_USE;
struct tls_context *tls_server_context(struct tls_server *s) MUST_USE;
void tls_context_unpin(struct tls_context *c); /* NULL is fine */

/* Keys of session tickets: a name, a key for AES-256, a key for HMAC-SHA-256. Those of the process itself: whether there is
 * one, and a copy of the one that a ticket names, or of the first for a new ticket (`name` NULL); its place, 0 being the
 * first, or -1. From any thread. */
enum { TICKET_NAME = 16, TICKET_KEY = 80 };
bool tls_tickets_begin(void) MUST_USE;
int tls_tickets_find(const uint8_t *name, uint8_t key[TICKET_KEY]) MUST_USE;

/* What a chroot will hide: keep what was read from the file `name` (keys or authorities), and take it from there. */
void tls_keep(const char *name, bool keys, SSL_CTX *context);
bool tls_kept_authorities(SSL_CTX *context, const char *name);
bool tls_kept_keys(SSL_CTX *context, const char *name);
bool tls_client_doubts_clock(struct tls_client *c);
bool tls_client_tells_names(const struct tls_client *c);

/* Sessions by server, within the caller's lock. `take` returns the freshest, with a reference, or NULL; the last one of a
 * server also remains available. `put` takes over the caller's reference. */
struct tls_sessions {
	struct list servers; /* most recently used last */
	unsigned count;
};

void tls_sessions_put(struct tls_sessions *all, const char *server, SSL_SESSION *session);
SSL_SESSION *tls_sessions_take(struct tls_sessions *all, const char *server);
void tls_sessions_clear(struct tls_sessions *all);

/* The same of a client, as long as it has the context that they are of. */
SSL_SESSION *tls_session_take(struct tls_client *c, const SSL_CTX *context, const char *server);
void tls_session_put(struct tls_client *c, const SSL_CTX *context, const char *server,
		     SSL_SESSION *session);

/* A connection, which is its SSL's app data. */
struct tls {
	SSL *ssl;
	struct tls_context *context; /* pinned: the SSL's own reference is never the last */
	struct tls_wire *wire;       /* owned by the SSL */
	struct tls_client *client;   /* pinned; NULL when we are the server */
	struct tls_server *home;     /* pinned; NULL when we are the client */
	char *server;                /* of a client: key of its sessions */
	uint8_t alpn[16];            /* the protocol we speak, in RFC 7301 format */
	unsigned alpn_len;
	uint64_t data;               /* bytes read */
	unsigned talk;               /* steps of the handshake since it was complete */
	bool open, wants_write, has_more, broken, untrusted;
	char why[160];
};

/* Sits between the library and the socket; owned by the SSL and freed with it. NULL when out of
 * memory. */
struct tls_wire *tls_wire_new(SSL *ssl, int fd) MUST_USE;
/* Hold back what is written from now on; release sends it as far as possible. False: broken. */
void tls_wire_hold(struct tls_wire *w);
bool tls_wire_release(struct tls_wire *w) MUST_USE;
bool tls_wire_push(struct tls_wire *w) MUST_USE; /* send more of it */
size_t tls_wire_pending(const struct tls_wire *w);  /* bytes still held */
/* Whether bytes were read from the socket that the library has not asked for yet; and: the library
 * asks for no more for now, so an empty read buffer may be freed. */
bool tls_wire_has_fetched(const struct tls_wire *w);
void tls_wire_rest(struct tls_wire *w);
/* The library gets nothing more: it would go on reading by itself. */
void tls_wire_refuse(struct tls_wire *w);

/* The library's last error as a phrase, or `otherwise`. */
const char *tls_complaint(const char *otherwise);

#endif
