/* What the tls*.c files share: contexts, connections made from them, and the wire beneath.
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef UTIL_TLS_PRIVATE_H
#define UTIL_TLS_PRIVATE_H

#include <openssl/ssl.h>

#include "util/tls.h"

/* The current context, with a reference for the caller; a client's is loaded if need be (NULL with
 * the reason in `f` when it cannot be). */
SSL_CTX *tls_client_context(struct tls_client *c, struct fault *f) MUST_USE;
SSL_CTX *tls_server_context(struct tls_server *s) MUST_USE;
bool tls_client_doubts_clock(struct tls_client *c);
bool tls_client_tells_names(const struct tls_client *c);

/* Sessions by server. `take` returns the freshest, with a reference, or NULL; the last one of a
 * server also remains available. `put` takes over the caller's reference. */
SSL_SESSION *tls_session_take(struct tls_client *c, const SSL_CTX *context, const char *server);
void tls_session_put(struct tls_client *c, const SSL_CTX *context, const char *server,
		     SSL_SESSION *session);

/* Sits between the library and the socket; owned by the SSL and freed with it. NULL when out of
 * memory. */
struct tls_wire;
struct tls_wire *tls_wire_new(SSL *ssl, int fd) MUST_USE;
/* Hold back what is written from now on; release sends it as far as possible. False: broken. */
void tls_wire_hold(struct tls_wire *w);
bool tls_wire_release(struct tls_wire *w) MUST_USE;
bool tls_wire_push(struct tls_wire *w) MUST_USE; /* send more of it */
size_t tls_wire_held(const struct tls_wire *w);  /* bytes still held */
/* Whether bytes were read from the socket that the library has not asked for yet; and: the library
 * asks for no more for now, so an empty read buffer may be freed. */
bool tls_wire_has_fetched(const struct tls_wire *w);
void tls_wire_rest(struct tls_wire *w);

/* OpenSSL callbacks; the SSL's app data is its struct tls. */
int tls_on_session(SSL *ssl, SSL_SESSION *session);
int tls_on_alpn(SSL *ssl, const unsigned char **out, unsigned char *out_len,
		const unsigned char *in, unsigned in_len, void *arg);

/* The library's last error as a phrase, or `otherwise`. */
const char *tls_complaint(const char *otherwise);

#endif
