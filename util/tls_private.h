/* What the parts of util/tls share: contexts, the connections made from them, and their wires.
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef UTIL_TLS_PRIVATE_H
#define UTIL_TLS_PRIVATE_H

#include <openssl/ssl.h>

#include "util/tls.h"

/* The context of now, with a reference; a client's is loaded if need be. */
SSL_CTX *tls_client_context(struct tls_client *c, struct fault *f) MUST_USE;
SSL_CTX *tls_server_context(struct tls_server *s) MUST_USE;
bool tls_client_doubts_clock(struct tls_client *c);
bool tls_client_tells_names(const struct tls_client *c);

/* Sessions by server. `take`: the freshest, with a reference, or NULL; it stays there only if it is
 * the last. `put` takes over the reference. */
SSL_SESSION *tls_session_take(struct tls_client *c, const SSL_CTX *context, const char *server);
void tls_session_put(struct tls_client *c, const SSL_CTX *context, const char *server,
		     SSL_SESSION *session);

/* Between the library and the socket; the SSL's, and gone with it. NULL when there is no memory. */
struct tls_wire;
struct tls_wire *tls_wire_new(SSL *ssl, int fd) MUST_USE;
/* From now on what is written is held; then it is sent, as far as that goes. False: it is broken. */
void tls_wire_hold(struct tls_wire *w);
bool tls_wire_release(struct tls_wire *w) MUST_USE;
bool tls_wire_push(struct tls_wire *w) MUST_USE; /* more of it */
size_t tls_wire_held(const struct tls_wire *w);  /* bytes that are still here */
/* Bytes were read from the socket that the library has not asked for yet; nothing will be asked for
 * now, so that what was used to fetch them may go. */
bool tls_wire_has_fetched(const struct tls_wire *w);
void tls_wire_rest(struct tls_wire *w);

/* Callbacks of OpenSSL; the SSL's app data is its struct tls. */
int tls_on_session(SSL *ssl, SSL_SESSION *session);
int tls_on_alpn(SSL *ssl, const unsigned char **out, unsigned char *out_len,
		const unsigned char *in, unsigned in_len, void *arg);

/* The library's last complaint, or `otherwise`. */
const char *tls_complaint(const char *otherwise);

#endif
