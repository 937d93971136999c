/* TLS streams: one connection, from handshake to close.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "util/net/tls_private.h"

#include <arpa/inet.h>
#include <errno.h>
#include <limits.h>
#include <string.h>
#include <sys/socket.h>

#include <openssl/err.h>
#include <openssl/x509v3.h>

#include "util/base/fault.h"
#include "util/base/mem.h"

static void break_off(struct tls *t, const char *why)
{
	t->broken = true;
	if (!*t->why)
		strncpy(t->why, why, sizeof t->why - 1);
}

/* ---- what the other side may make us do ---- */

/* Keys are changed and tickets given now and then; a peer that does nothing else costs much more than it sends, within
 * the library, which comes back only with data. */
enum { TALK_MOST = 64, TALK_BYTES = 1024 /* of data, for each further step; a change of keys takes some */ };

static void on_info(const SSL *ssl, int what, int value)
{
	struct tls *t = SSL_get_app_data(ssl);

	(void)value;
	if (!(what & SSL_CB_LOOP) || !t->open || ++t->talk <= TALK_MOST + t->data / TALK_BYTES)
		return;
	tls_wire_refuse(t->wire);
	break_off(t, "keys or tickets without end");
}

/* ---- creating and freeing ---- */

/* Whether the library lacked memory since its errors were cleared. Since OpenSSL 3.2 SSL_set_connect_state and
 * SSL_set_accept_state make the record layer anew, and return nothing: the connection would end with its first step. */
static bool lacked_memory(void)
{
	return ERR_GET_REASON(ERR_peek_error()) == ERR_R_MALLOC_FAILURE;
}

/* Takes over the pin; the library's errors are those of this connection from here on. */
static struct tls *wrap(struct tls_context *context, int fd)
{
	struct tls *t = mem_zero(sizeof *t);

	ERR_clear_error();
	t->context = context;
	t->ssl = SSL_new(context->ctx);
	if (!t->ssl || !(t->wire = tls_wire_new(t->ssl, fd)) || !SSL_set_app_data(t->ssl, t)) {
		tls_free(t);
		return NULL;
	}
	SSL_set_info_callback(t->ssl, on_info);
	return t;
}

static void set_alpn(struct tls *t, const char *alpn)
{
	size_t len = alpn ? strlen(alpn) : 0;

	if (!len || len >= sizeof t->alpn)
		return;
	t->alpn[0] = (uint8_t)len;
	memcpy(t->alpn + 1, alpn, len);
	t->alpn_len = (unsigned)len + 1;
}

static bool is_address(const char *name)
{
	uint8_t ip[16];

	return inet_pton(AF_INET, name, ip) == 1 || inet_pton(AF_INET6, name, ip) == 1;
}

static bool demand_name(SSL *ssl, const char *name)
{
	X509_VERIFY_PARAM *p = SSL_get0_param(ssl);

	X509_VERIFY_PARAM_set_hostflags(p, X509_CHECK_FLAG_NO_PARTIAL_WILDCARDS);
	if (is_address(name))
		return X509_VERIFY_PARAM_set1_ip_asc(p, name);
	return X509_VERIFY_PARAM_set1_host(p, name, 0);
}

static bool prepare_call(struct tls *t, const struct tls_call *call)
{
	set_alpn(t, call->alpn);
	SSL_set_connect_state(t->ssl);
	if (tls_client_doubts_clock(t->client))
		X509_VERIFY_PARAM_set_flags(SSL_get0_param(t->ssl), X509_V_FLAG_NO_CHECK_TIME);
	if (t->alpn_len && SSL_set_alpn_protos(t->ssl, t->alpn, t->alpn_len) != 0)
		return false;
	if (call->name || call->must_verify)
		SSL_set_verify(t->ssl, SSL_VERIFY_PEER, NULL);
	if (!call->name)
		return true;
	if (!demand_name(t->ssl, call->name))
		return false;
	return !tls_client_tells_names(t->client) || is_address(call->name) ||
	       SSL_set_tlsext_host_name(t->ssl, call->name);
}

static void resume(struct tls *t)
{
	SSL_SESSION *session = tls_session_take(t->client, SSL_get_SSL_CTX(t->ssl), t->server);

	if (!session)
		return;
	SSL_set_session(t->ssl, session);
	SSL_SESSION_free(session);
}

struct tls *tls_connect(struct tls_client *c, const struct tls_call *call, struct fault *f)
{
	struct tls_context *context = tls_client_context(c, f);
	struct tls *t = context ? wrap(context, call->fd) : NULL;

	if (t) {
		t->client = tls_client_pin(c);
		t->server = mem_textf("%s#%s %s", call->place, call->name ? call->name : "",
				      call->alpn ? call->alpn : "");
	}
	if (t && prepare_call(t, call) && !lacked_memory()) {
		resume(t);
		return t;
	}
	if (context)
		fault_set(f, "TLS with %s cannot begin: %s", call->place,
			  tls_complaint("out of memory"));
	tls_free(t);
	return NULL;
}

struct tls *tls_accept(struct tls_server *s, int fd, const char *alpn)
{
	struct tls *t = wrap(tls_server_context(s), fd);

	if (!t)
		return NULL;
	t->home = tls_server_pin(s); /* the context's callbacks need it */
	set_alpn(t, alpn);
	SSL_set_accept_state(t->ssl);
	if (!lacked_memory())
		return t;
	tls_free(t);
	return NULL;
}

void tls_free(struct tls *t)
{
	if (!t)
		return;
	if (t->ssl && t->open && !t->broken) {
		ERR_clear_error();
		SSL_shutdown(t->ssl);
	}
	/* Otherwise the library considers the session not resumable. */
	if (t->ssl && t->open)
		SSL_set_shutdown(t->ssl, SSL_SENT_SHUTDOWN | SSL_RECEIVED_SHUTDOWN);
	SSL_free(t->ssl);
	tls_context_unpin(t->context);
	tls_client_unpin(t->client);
	tls_server_unpin(t->home);
	mem_free(t->server);
	mem_free(t);
}

/* ---- handshake, reading, writing ---- */

static void explain(struct tls *t, int system_error)
{
	long verdict = SSL_get_verify_result(t->ssl);

	if (!t->open && verdict != X509_V_OK && SSL_get_verify_mode(t->ssl) != SSL_VERIFY_NONE) {
		t->untrusted = true;
		break_off(t, X509_verify_cert_error_string(verdict));
	} else if (ERR_peek_last_error()) {
		break_off(t, tls_complaint("unknown error"));
	} else if (system_error) {
		break_off(t, strerror(system_error));
	} else {
		break_off(t, t->open ? "closed" : "closed during the handshake");
	}
}

/* The meaning of a failed library call: 0 or -1, as for recv(2). */
static int outcome(struct tls *t, int result, int system_error)
{
	t->wants_write = false;
	switch (SSL_get_error(t->ssl, result)) {
	case SSL_ERROR_WANT_WRITE:
		t->wants_write = true;
		errno = EAGAIN;
		return -1;
	case SSL_ERROR_WANT_READ:
		errno = EAGAIN;
		return -1;
	case SSL_ERROR_ZERO_RETURN:
		if (t->open)
			return 0;
		break;
	default:
		break;
	}
	explain(t, system_error);
	ERR_clear_error();
	errno = EPROTO;
	return -1;
}

int tls_shake(struct tls *t)
{
	int r;

	if (t->open)
		return 1;
	if (t->broken) {
		errno = EPROTO;
		return -1;
	}
	ERR_clear_error();
	errno = 0;
	r = SSL_do_handshake(t->ssl);
	tls_wire_rest(t->wire);
	if (r != 1) {
		(void)outcome(t, r, errno);
		return -1;
	}
	t->open = true;
	t->wants_write = false;
	return 1;
}

ssize_t tls_read(struct tls *t, void *to, size_t room)
{
	size_t len = 0;
	int r = 1;

	t->has_more = false;
	if (tls_shake(t) < 0)
		return -1;
	t->wants_write = false;
	ERR_clear_error();
	while (len < room) {
		r = SSL_read(t->ssl, (uint8_t *)to + len, (int)MIN(room - len, (size_t)INT_MAX));
		if (r <= 0)
			break;
		len += (size_t)r;
		t->data += (size_t)r;
		if (!SSL_has_pending(t->ssl) && !tls_wire_has_fetched(t->wire))
			break; /* the socket will signal more */
	}
	tls_wire_rest(t->wire);
	if (r <= 0) {
		r = outcome(t, r, errno);
		/* Return what was read; an end or error will be met again. */
		return len ? (ssize_t)len : r;
	}
	t->has_more = len == room;
	return (ssize_t)len;
}

ssize_t tls_write(struct tls *t, const void *from, size_t len)
{
	int r;

	if (tls_shake(t) < 0)
		return -1;
	t->wants_write = false;
	ERR_clear_error();
	errno = 0;
	r = SSL_write(t->ssl, from, (int)MIN(len, (size_t)INT_MAX));
	if (r > 0)
		return r;
	if (outcome(t, r, errno) == 0) {
		break_off(t, "closed");
		errno = EPIPE;
	}
	return -1;
}

void tls_hold(struct tls *t)
{
	tls_wire_hold(t->wire);
}

bool tls_release(struct tls *t)
{
	if (tls_wire_release(t->wire))
		return true;
	break_off(t, strerror(errno));
	return false;
}

bool tls_push(struct tls *t)
{
	if (tls_wire_push(t->wire))
		return true;
	break_off(t, strerror(errno));
	return false;
}

/* ---- state ---- */

size_t tls_pending(const struct tls *t)
{
	return tls_wire_pending(t->wire);
}

bool tls_is_open(const struct tls *t)
{
	return t->open;
}

bool tls_wants_write(const struct tls *t)
{
	return t->wants_write || tls_wire_pending(t->wire);
}

bool tls_has_more(const struct tls *t)
{
	return t->has_more || tls_wire_has_fetched(t->wire);
}

bool tls_is_resumed(const struct tls *t)
{
	return SSL_session_reused(t->ssl);
}

bool tls_is_peer_verified(const struct tls *t)
{
	return t->open && SSL_get0_peer_certificate(t->ssl) &&
	       SSL_get_verify_mode(t->ssl) != SSL_VERIFY_NONE &&
	       SSL_get_verify_result(t->ssl) == X509_V_OK;
}

bool tls_is_untrusted(const struct tls *t)
{
	return t->untrusted;
}

const char *tls_why(const struct tls *t)
{
	return *t->why ? t->why : "closed";
}

const char *tls_alpn(const struct tls *t, char to[16])
{
	const unsigned char *at = NULL;
	unsigned len = 0;

	SSL_get0_alpn_selected(t->ssl, &at, &len);
	len = MIN(len, 15u);
	if (len)
		memcpy(to, at, len);
	to[len] = '\0';
	return to;
}

