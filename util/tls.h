/* Encrypted streams: the only door to OpenSSL's.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * What is the same for many connections is made once, from files, and shared by all threads: a
 * tls_client (whom we trust, and sessions to resume) and a tls_server (who we are). Both can look
 * whether their files have changed; connections that are there go on as they began.
 *
 * A connection lies over a non-blocking socket, is one thread's, and is read and written as with
 * recv(2) and send(2): the handshake takes place underneath. No byte of the caller's is sent, and none
 * of the other side's handed over, before that side has shown who it is. */
#ifndef UTIL_TLS_H
#define UTIL_TLS_H

#include <sys/types.h>

#include "util/base.h"

struct fault;
struct tls;
struct tls_client;
struct tls_server;

/* What both sides have; texts as in the configuration, empty: the library's choice. */
struct tls_manner {
	const char *protocols; /* "TLSv1.2 TLSv1.3" */
	const char *ciphers;   /* of TLS 1.2 */
	const char *suites;    /* of TLS 1.3 */
};

/* A file, and under which name it is to be found once the root directory is another; or NULL. */
struct tls_file {
	const char *path, *inside;
};

struct tls_client_how {
	struct tls_manner manner;
	struct tls_file bundle;   /* authorities, PEM; NULL or empty: the system's */
	bool system;              /* the system's as well */
	bool sni;                 /* tell the server which name is meant */
	struct tls_file key, pem; /* who we are, to a server that asks; or NULL */
};

#define TLS_TICKET_FILES 16

struct tls_server_how {
	struct tls_manner manner;
	struct tls_file key, pem;
	/* Clients are asked for a certificate, which must stand in this file or be signed by one in
	 * it: any other breaks the connection; whether one was shown, tls_is_vouched_for says.
	 * No sessions are resumed then. NULL: clients are not asked. */
	struct tls_file clients;
	/* Secrets of session tickets, 80 bytes each: the first is used, all are known. None: one
	 * that this process has made up. */
	struct tls_file ticket_keys[TLS_TICKET_FILES];
	size_t ticket_key_count;
};

/* Reads nothing yet: that is done by the first connection or tls_client_load, which
 * can tell what is wrong. The caller has one pin. */
struct tls_client *tls_client_new(const struct tls_client_how *how, struct fault *f) MUST_USE;
bool tls_client_load(struct tls_client *c, struct fault *f) MUST_USE;
/* Whether the files have changed since they were read. If so they were read again; or, if they are
 * wrong, `f` says why and what was read before stays. */
bool tls_client_refresh(struct tls_client *c, struct fault *f);
/* A clock that stands before `floor_s` (seconds since 1970) cannot be right: until it has passed it,
 * certificates are checked in everything but their dates, and no session is kept. 0: never. */
void tls_client_doubt_clock(struct tls_client *c, int64_t floor_s);
struct tls_client *tls_client_pin(struct tls_client *c);
void tls_client_unpin(struct tls_client *c); /* NULL is fine */

struct tls_server *tls_server_new(const struct tls_server_how *how, struct fault *f) MUST_USE;
bool tls_server_refresh(struct tls_server *s, struct fault *f); /* as of a client */
/* The first name its certificate is for that is no pattern. False: there is none. */
bool tls_server_name(struct tls_server *s, char *to, size_t room);
struct tls_server *tls_server_pin(struct tls_server *s);
void tls_server_unpin(struct tls_server *s); /* NULL is fine */

/* ---- one connection ---- */

/* `alpn` is one protocol ("dot", "h2"). `place` tells servers apart whose sessions are not to be
 * mixed up: the address in text. With a `name` (DNS or IP address) the certificate must be valid
 * for it; without, it must be `vouched` for by the bundle, or else whoever answers is believed.
 * NULL with a sentence in `f`. The descriptor stays the caller's. */
struct tls_call {
	int fd;
	const char *place, *name, *alpn;
	bool vouched;
};
struct tls *tls_connect(struct tls_client *c, const struct tls_call *call,
			struct fault *f) MUST_USE;
/* NULL when it cannot be, which is a matter of memory. */
struct tls *tls_accept(struct tls_server *s, int fd, const char *alpn) MUST_USE;
/* Sends close_notify if that takes no waiting (RFC 8446 6.1); sessions it was given stay good. */
void tls_free(struct tls *t);

/* As recv(2) and send(2): 0 when the other side has ended, -1 with errno EAGAIN when it is not the
 * time, -1 with another errno when it is broken (tls_why). What could not be written is to be given
 * again, with what follows it. */
ssize_t tls_read(struct tls *t, void *to, size_t room);
ssize_t tls_write(struct tls *t, const void *from, size_t len);
/* Hold what is written from now on, and send it at once as one: each write stays a record of its own.
 * False: it is broken. What does not go yet is sent by tls_push or before the next write. */
void tls_hold(struct tls *t);
bool tls_release(struct tls *t) MUST_USE;
bool tls_push(struct tls *t) MUST_USE;
size_t tls_held(const struct tls *t); /* bytes that are still to be sent */
/* Go on with the handshake. As above: 1, or -1. */
int tls_shake(struct tls *t);

bool tls_is_open(const struct tls *t);     /* the handshake is over */
bool tls_wants_write(const struct tls *t); /* it has to, before it can go on in whatever it does */
bool tls_has_more(const struct tls *t);    /* bytes to read that the socket will not tell of */
bool tls_is_resumed(const struct tls *t);
bool tls_is_vouched_for(const struct tls *t); /* it has shown a certificate, and that was good */
bool tls_is_untrusted(const struct tls *t);   /* broken because of the other side's certificate */
const char *tls_why(const struct tls *t);     /* it is broken: a phrase */
const char *tls_alpn(const struct tls *t, char to[16]); /* agreed protocol, or "" */

#endif
