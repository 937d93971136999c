/* TLS streams: nothing else calls OpenSSL's.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * What many connections have in common is made once, from files, and shared by all threads: a
 * tls_client (whom we trust, and sessions to resume) and a tls_server (who we are). Both can check
 * for changed files (see _refresh); existing connections go on as they began.
 *
 * A connection runs over a non-blocking socket, belongs to one thread, and is read and written as
 * by recv(2) and send(2), the handshake taking place underneath. Until the peer has shown who it
 * is, none of the caller's bytes are sent and none of the peer's are delivered. */
#ifndef UTIL_NET_TLS_H
#define UTIL_NET_TLS_H

#include <sys/types.h>

#include "util/base/base.h"

struct fault;
struct tls;
struct tls_client;
struct tls_server;

/* Settings of both sides, as written in the configuration; NULL or "": the library's choice. */
struct tls_manner {
	const char *protocols; /* "TLSv1.2 TLSv1.3" */
	const char *ciphers;   /* of TLS 1.2 */
	const char *suites;    /* of TLS 1.3 */
};

/* A file (NULL or "": none), and its name once the process is in its chroot (NULL: the same). */
struct tls_file {
	const char *path, *inside;
};

struct tls_client_how {
	struct tls_manner manner;
	struct tls_file bundle;   /* CA certificates, PEM; NULL or "": the system's */
	bool system;              /* trust the system's as well */
	bool sni;                 /* send the name in SNI (RFC 6066 3) */
	struct tls_file key, pem; /* our own, for servers that ask; or NULL */
};

#define TLS_TICKET_FILES 16

struct tls_server_how {
	struct tls_manner manner;
	struct tls_file key, pem;
	/* Ask clients for a certificate, which must be in this file or signed by one in it: any
	 * other breaks the connection. tls_is_peer_verified says whether one was presented. Disables
	 * session resumption. NULL: clients are not asked. */
	struct tls_file clients;
	/* Session ticket keys, 80 bytes each: tickets are issued under the first and accepted under
	 * any. None: random ones made by this process (tls_tickets_renew). */
	struct tls_file ticket_keys[TLS_TICKET_FILES];
	size_t ticket_key_count;
};

/* Reads no files yet: tls_client_load does, which can say what is wrong with them, takes its time, and must have been called
 * before a connection begins. The caller holds one pin. NULL: a bad setting, see `f`. */
struct tls_client *tls_client_new(const struct tls_client_how *how, struct fault *f) MUST_USE;
bool tls_client_load(struct tls_client *c, struct fault *f) MUST_USE;
/* Whether the bundle has changed since it was read. If so, all files were read again; if that
 * failed, `f` says why and what was read before stays in use. */
bool tls_client_refresh(struct tls_client *c, struct fault *f);
/* A clock before `floor_s` (seconds since 1970) cannot be right: until it reaches that time,
 * certificates are checked in all but their dates, and no sessions are kept. 0: never. */
void tls_client_doubt_clock(struct tls_client *c, int64_t floor_s);
struct tls_client *tls_client_pin(struct tls_client *c);
void tls_client_unpin(struct tls_client *c); /* NULL is fine */

struct tls_server *tls_server_new(const struct tls_server_how *how, struct fault *f) MUST_USE;
bool tls_server_refresh(struct tls_server *s, struct fault *f); /* likewise: key, pem, clients */
/* Call now and then, with a monotonic clock: every twelve hours new tickets are issued under a new random key of the process;
 * the key before it is accepted for as long again (RFC 8446 4.6.1, C.4: tickets under one key for ever would open all that
 * was ever resumed to whoever learns it). Of no effect on keys from files. From any thread. */
void tls_tickets_renew(uint64_t now_s);
/* The first DNS name in its certificate that is not a wildcard and fits `room`. False: none. */
bool tls_server_name(struct tls_server *s, char *to, size_t room);
struct tls_server *tls_server_pin(struct tls_server *s);
void tls_server_unpin(struct tls_server *s); /* NULL is fine */

/* ---- one connection ---- */

/* `alpn` is one protocol ("dot", "h2"). `place`, the address as text, keeps different servers'
 * sessions apart. With a `name` (a DNS name or IP address) the certificate must be valid for it.
 * Without one, `must_verify` demands a certificate that the trusted authorities have signed; otherwise
 * any server is accepted. On failure NULL, with the reason in `f`. The descriptor remains the
 * caller's. */
struct tls_call {
	int fd;
	const char *place, *name, *alpn;
	bool must_verify;
};
struct tls *tls_connect(struct tls_client *c, const struct tls_call *call,
			struct fault *f) MUST_USE;
/* NULL only when memory runs out. The caller keeps the descriptor. */
struct tls *tls_accept(struct tls_server *s, int fd, const char *alpn) MUST_USE;
/* Sends close_notify if it can without waiting (RFC 8446 6.1); sessions received stay valid. */
void tls_free(struct tls *t);

/* As recv(2) and send(2): 0 when the peer has closed, -1 with errno EAGAIN when it would block, -1
 * with another errno when the connection is broken (tls_why). Bytes that were not written must be
 * passed again, along with what follows them. */
ssize_t tls_read(struct tls *t, void *to, size_t room);
ssize_t tls_write(struct tls *t, const void *from, size_t len);
/* Hold back what is written from now on; tls_release then sends it all at once. Each write remains
 * a record of its own. What does not go out at once is sent by tls_push or before the next write.
 * False: the connection is broken. */
void tls_hold(struct tls *t);
bool tls_release(struct tls *t) MUST_USE;
bool tls_push(struct tls *t) MUST_USE;
size_t tls_pending(const struct tls *t); /* bytes still to be sent */
/* Continue the handshake: 1 when it is complete, or -1 as above. */
int tls_shake(struct tls *t);

bool tls_is_open(const struct tls *t);     /* the handshake is complete */
bool tls_wants_write(const struct tls *t); /* it must, before it can make progress */
bool tls_has_more(const struct tls *t);    /* bytes to read that the socket will not signal */
bool tls_is_resumed(const struct tls *t);
bool tls_is_peer_verified(const struct tls *t); /* the peer presented a valid certificate */
bool tls_is_untrusted(const struct tls *t);   /* broken because of the peer's certificate */
const char *tls_why(const struct tls *t);     /* why it is broken: a phrase */
const char *tls_alpn(const struct tls *t, char to[16]); /* the protocol agreed on, or "" */

#endif
