/* TLS streams: what is made once from files.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "util/net/tls_private.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#include <openssl/core_names.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/rand.h>
#include <openssl/x509v3.h>

#include "util/base/fault.h"
#include "util/base/list.h"
#include "util/base/log.h"
#include "util/base/mem.h"
#include "util/base/rcu.h"

const char *tls_complaint(const char *otherwise)
{
	unsigned long error = ERR_peek_last_error();
	unsigned long cause = ERR_peek_error();
	const char *text = error ? ERR_reason_error_string(error) : NULL;

	/* "system lib" is what the library makes of a file that cannot be opened */
	if (ERR_GET_REASON(error) == ERR_R_SYS_LIB && ERR_GET_LIB(cause) == ERR_LIB_SYS)
		return strerror(ERR_GET_REASON(cause));
#ifdef SSL_R_RECORD_LAYER_FAILURE /* since OpenSSL 3.2: what the layer itself found wrong comes first */
	if (ERR_GET_LIB(error) == ERR_LIB_SSL && ERR_GET_REASON(error) == SSL_R_RECORD_LAYER_FAILURE && cause != error)
		text = ERR_reason_error_string(cause);
#endif
	return text ? text : otherwise;
}

/* ---- files ---- */

struct file {
	const char *option;  /* the option naming it */
	char *path, *inside; /* NULL: none */
	struct stat seen;    /* when it was read */
	bool is_inside;      /* where it was found */
};

static void file_set(struct file *to, const struct tls_file *from, const char *option)
{
	*to = (struct file){ .option = option };
	if (!from->path || !*from->path)
		return;
	to->path = mem_text(from->path);
	to->inside = mem_text(from->inside ? from->inside : from->path);
}

static void file_clear(struct file *f)
{
	mem_free(f->path);
	mem_free(f->inside);
}

static const char *file_name(const struct file *f)
{
	return f->is_inside ? f->inside : f->path;
}

/* Find where it is now; false, with errno, when it is nowhere. */
static bool file_find(struct file *f)
{
	int error;

	f->is_inside = stat(f->path, &f->seen) != 0;
	if (!f->is_inside)
		return true;
	error = errno;
	if (stat(f->inside, &f->seen) == 0)
		return true;
	errno = error;
	return false;
}

static bool file_is_other(const struct file *f)
{
	struct stat now;

	if (!f->path || (stat(f->path, &now) != 0 && stat(f->inside, &now) != 0))
		return false;
	return now.st_mtime != f->seen.st_mtime || now.st_size != f->seen.st_size ||
	       now.st_ino != f->seen.st_ino || now.st_dev != f->seen.st_dev;
}

#define SYSTEM "" /* among what is kept: the system's authorities */

/* ---- contexts ---- */

static struct tls_context *context_wrap(SSL_CTX *ctx)
{
	struct tls_context *c = mem_zero(sizeof(*c));

	atomic_init(&c->pins, 1);
	c->ctx = ctx;
	return c;
}

static void context_free(struct rcu_slot *released)
{
	struct tls_context *c = container_of(released, struct tls_context, released);

	SSL_CTX_free(c->ctx);
	mem_free(c);
}

static struct tls_context *context_pin(struct tls_context *c)
{
	atomic_fetch_add_explicit(&c->pins, 1, memory_order_relaxed);
	return c;
}

void tls_context_unpin(struct tls_context *c)
{
	if (c && atomic_fetch_sub_explicit(&c->pins, 1, memory_order_acq_rel) == 1)
		rcu_release(&c->released, context_free);
}

/* ---- settings ---- */

struct manner {
	char *protocols, *ciphers, *suites;
};

static void manner_set(struct manner *to, const struct tls_manner *from)
{
	to->protocols = mem_text(from->protocols ? from->protocols : "");
	to->ciphers = mem_text(from->ciphers ? from->ciphers : "");
	to->suites = mem_text(from->suites ? from->suites : "");
}

static void manner_clear(struct manner *m)
{
	mem_free(m->protocols);
	mem_free(m->ciphers);
	mem_free(m->suites);
}

static bool names_ciphers(const struct manner *m)
{
	return *m->ciphers || *m->suites;
}

static bool set_versions(SSL_CTX *context, const char *protocols)
{
	bool two = !*protocols || strstr(protocols, "TLSv1.2");
	bool three = !*protocols || strstr(protocols, "TLSv1.3");

	return SSL_CTX_set_min_proto_version(context, two ? TLS1_2_VERSION : TLS1_3_VERSION) &&
	       SSL_CTX_set_max_proto_version(context, three ? TLS1_3_VERSION : TLS1_2_VERSION);
}

/* "PROFILE=SYSTEM" is the system's choice in Fedora's OpenSSL; elsewhere OpenSSL's own is used. */
static bool set_ciphers(SSL_CTX *context, const char *ciphers)
{
	if (!*ciphers || SSL_CTX_set_cipher_list(context, ciphers))
		return true;
	if (strncmp(ciphers, "PROFILE=", 8) != 0)
		return false;
	ERR_clear_error();
	log_warn("tls-ciphers: this OpenSSL has no profile '%s'; its defaults are used", ciphers);
	return SSL_CTX_set_cipher_list(context, OSSL_default_cipher_list()); /* what failed has left none for TLS 1.2 */
}

static SSL_CTX *context_new(const SSL_METHOD *method, const struct manner *m, struct fault *f)
{
	SSL_CTX *context = SSL_CTX_new(method);

	if (!context) {
		fault_set(f, "TLS cannot be used: %s", tls_complaint("out of memory"));
		return NULL;
	}
	SSL_CTX_set_options(context, SSL_OP_NO_COMPRESSION | SSL_OP_NO_RENEGOTIATION);
#ifdef SSL_OP_IGNORE_UNEXPECTED_EOF
	SSL_CTX_set_options(context, SSL_OP_IGNORE_UNEXPECTED_EOF); /* messages have lengths */
#endif
	SSL_CTX_set_mode(context, SSL_MODE_ENABLE_PARTIAL_WRITE |
					  SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER |
					  SSL_MODE_RELEASE_BUFFERS);
	if (!set_versions(context, m->protocols))
		fault_set(f, "tls-protocols: %s cannot be had", m->protocols);
	else if (!set_ciphers(context, m->ciphers))
		fault_set(f, "tls-ciphers: '%s' names no cipher that is known", m->ciphers);
	else if (*m->suites && !SSL_CTX_set_ciphersuites(context, m->suites))
		fault_set(f, "tls-ciphersuites: '%s' is not understood", m->suites);
	else
		return context;
	ERR_clear_error();
	SSL_CTX_free(context);
	return NULL;
}

static bool read_keys(struct file *key, struct file *pem, SSL_CTX *context, struct fault *f)
{
	if (!file_find(pem) && errno == ENOENT && tls_kept_keys(context, pem->inside))
		return true;
	if (!file_find(pem) || SSL_CTX_use_certificate_chain_file(context, file_name(pem)) != 1) {
		fault_set(f, "%s: %s: %s", pem->option, pem->path, tls_complaint(strerror(errno)));
	} else if (!file_find(key) ||
		   SSL_CTX_use_PrivateKey_file(context, file_name(key), SSL_FILETYPE_PEM) != 1) {
		fault_set(f, "%s: %s: %s", key->option, key->path, tls_complaint(strerror(errno)));
	} else if (SSL_CTX_check_private_key(context) != 1) {
		fault_set(f, "%s: %s is not the key of the certificate in %s", key->option,
			  key->path, pem->path);
	} else {
		if (pem->is_inside)
			tls_keep(pem->inside, true, context);
		return true;
	}
	return false;
}

/* ---- sessions ---- */

struct tls_client {
	_Atomic unsigned pins;
	struct manner manner;
	struct file bundle, key, pem;
	bool system, sni;
	pthread_mutex_t reading; /* held while files are read; of what `struct file` remembers of them */
	pthread_mutex_t lock;    /* of everything below; held for moments only, since workers take it */
	struct tls_context *context; /* NULL: not loaded */
	struct rcu_slot released;
	int64_t floor_s;      /* a clock before this is not trusted */
	struct tls_sessions sessions;
};

void tls_session_put(struct tls_client *c, const SSL_CTX *context, const char *server,
		     SSL_SESSION *session)
{
	bool is_doubtful = tls_client_doubts_clock(c);

	pthread_mutex_lock(&c->lock);
	if (is_doubtful ||
	    !c->context || context != c->context->ctx) { /* what it was verified with is outdated */
		SSL_SESSION_free(session);
	} else {
		tls_sessions_put(&c->sessions, server, session);
	}
	pthread_mutex_unlock(&c->lock);
}

SSL_SESSION *tls_session_take(struct tls_client *c, const SSL_CTX *context, const char *server)
{
	SSL_SESSION *session = NULL;

	pthread_mutex_lock(&c->lock);
	if (c->context && context == c->context->ctx)
		session = tls_sessions_take(&c->sessions, server);
	pthread_mutex_unlock(&c->lock);
	return session;
}

static int on_session(SSL *ssl, SSL_SESSION *session)
{
	struct tls *t = SSL_get_app_data(ssl);
	/* The library invalidates its own when the next ticket comes. */
	SSL_SESSION *own = SSL_SESSION_dup(session);

	if (own)
		tls_session_put(t->client, SSL_get_SSL_CTX(ssl), t->server, own);
	return 0;
}

/* ---- whom we trust ---- */

struct tls_client *tls_client_new(const struct tls_client_how *how, struct fault *f)
{
	struct tls_client *c = mem_zero(sizeof *c);
	SSL_CTX *probe;

	atomic_init(&c->pins, 1);
	pthread_mutex_init(&c->lock, NULL);
	pthread_mutex_init(&c->reading, NULL);
	list_init(&c->sessions.servers);
	manner_set(&c->manner, &how->manner);
	file_set(&c->bundle, &how->bundle, how->key.path ? "server-cert-file" : "tls-cert-bundle");
	file_set(&c->key, &how->key, "control-key-file");
	file_set(&c->pem, &how->pem, "control-cert-file");
	c->system = how->system || !c->bundle.path;
	c->sni = how->sni;
	/* OpenSSL takes megabytes once used; and if no ciphers are named, nothing can be wrong. */
	if (!names_ciphers(&c->manner))
		return c;
	probe = context_new(TLS_client_method(), &c->manner, f);
	if (probe) {
		SSL_CTX_free(probe);
		return c;
	}
	tls_client_unpin(c);
	return NULL;
}

static bool trust_bundle(SSL_CTX *context, struct file *bundle, struct fault *f)
{
	if (!bundle->path)
		return true;
	if (!file_find(bundle)) {
		if (errno == ENOENT && tls_kept_authorities(context, bundle->inside))
			return true;
		fault_set(f, "%s: %s: %s", bundle->option, bundle->path, strerror(errno));
		return false;
	}
	if (SSL_CTX_load_verify_locations(context, file_name(bundle), NULL)) {
		if (bundle->is_inside)
			tls_keep(bundle->inside, false, context);
		return true;
	}
	fault_set(f, "%s: %s: %s", bundle->option, bundle->path,
		  tls_complaint("it holds no certificate"));
	return false;
}

/* The authorities the system trusts; if they are out of sight, those it trusted at the start. */
static void trust_system(SSL_CTX *context)
{
	struct stat st;

	if (stat(X509_get_default_cert_dir(), &st) != 0 && stat(X509_get_default_cert_file(), &st) != 0 &&
	    tls_kept_authorities(context, SYSTEM))
		return;
	SSL_CTX_set_default_verify_paths(context);
	tls_keep(SYSTEM, false, context);
}

/* The library works some things out about a certificate when it first meets it: now, not when many threads do. */
static void know_authorities(SSL_CTX *context)
{
	const STACK_OF(X509_OBJECT) *all = X509_STORE_get0_objects(SSL_CTX_get_cert_store(context));

	for (int i = 0; i < sk_X509_OBJECT_num(all); i++) {
		X509 *x = X509_OBJECT_get0_X509(sk_X509_OBJECT_value(all, i));

		if (x)
			(void)X509_check_purpose(x, -1, 0);
	}
}

static SSL_CTX *client_read(struct tls_client *c, struct fault *f)
{
	SSL_CTX *context = context_new(TLS_client_method(), &c->manner, f);

	if (!context)
		return NULL;
	SSL_CTX_set_session_cache_mode(context, SSL_SESS_CACHE_CLIENT | SSL_SESS_CACHE_NO_INTERNAL);
	SSL_CTX_sess_set_new_cb(context, on_session);
	if (c->system)
		trust_system(context);
	if (trust_bundle(context, &c->bundle, f) &&
	    (!c->key.path || read_keys(&c->key, &c->pem, context, f))) {
		know_authorities(context);
		ERR_clear_error();
		return context;
	}
	ERR_clear_error();
	SSL_CTX_free(context);
	return NULL;
}

/* Where there was another context, its sessions are forgotten with it. */
static void client_take(struct tls_client *c, SSL_CTX *fresh)
{
	struct tls_context *old;

	pthread_mutex_lock(&c->lock);
	old = c->context;
	c->context = context_wrap(fresh);
	if (old)
		tls_sessions_clear(&c->sessions);
	pthread_mutex_unlock(&c->lock);
	tls_context_unpin(old);
}

struct tls_context *tls_client_context(struct tls_client *c, struct fault *f)
{
	struct tls_context *context;

	pthread_mutex_lock(&c->lock);
	context = c->context ? context_pin(c->context) : NULL;
	pthread_mutex_unlock(&c->lock);
	if (!context)
		fault_set(f, "%s has not been read", c->bundle.option);
	return context;
}

static bool is_loaded(struct tls_client *c)
{
	bool is;

	pthread_mutex_lock(&c->lock);
	is = c->context != NULL;
	pthread_mutex_unlock(&c->lock);
	return is;
}

bool tls_client_load(struct tls_client *c, struct fault *f)
{
	SSL_CTX *fresh = NULL;
	bool is;

	pthread_mutex_lock(&c->reading);
	is = is_loaded(c);
	if (!is && (fresh = client_read(c, f)))
		client_take(c, fresh);
	pthread_mutex_unlock(&c->reading);
	return is || fresh;
}

bool tls_client_refresh(struct tls_client *c, struct fault *f)
{
	SSL_CTX *fresh = NULL;
	bool is_other;

	pthread_mutex_lock(&c->reading);
	is_other = is_loaded(c) && file_is_other(&c->bundle);
	if (is_other && (fresh = client_read(c, f)))
		client_take(c, fresh);
	pthread_mutex_unlock(&c->reading);
	return is_other;
}

void tls_client_doubt_clock(struct tls_client *c, int64_t floor_s)
{
	pthread_mutex_lock(&c->lock);
	c->floor_s = floor_s;
	pthread_mutex_unlock(&c->lock);
}

bool tls_client_doubts_clock(struct tls_client *c)
{
	int64_t floor_s;

	pthread_mutex_lock(&c->lock);
	floor_s = c->floor_s;
	pthread_mutex_unlock(&c->lock);
	return (int64_t)time(NULL) < floor_s;
}

bool tls_client_tells_names(const struct tls_client *c)
{
	return c->sni;
}

struct tls_client *tls_client_pin(struct tls_client *c)
{
	atomic_fetch_add_explicit(&c->pins, 1, memory_order_relaxed);
	return c;
}

static void client_free(struct rcu_slot *released)
{
	struct tls_client *c = container_of(released, struct tls_client, released);

	tls_sessions_clear(&c->sessions);
	tls_context_unpin(c->context);
	pthread_mutex_destroy(&c->lock);
	pthread_mutex_destroy(&c->reading);
	manner_clear(&c->manner);
	file_clear(&c->bundle);
	file_clear(&c->key);
	file_clear(&c->pem);
	mem_free(c);
}

void tls_client_unpin(struct tls_client *c)
{
	if (c && atomic_fetch_sub_explicit(&c->pins, 1, memory_order_acq_rel) == 1)
		rcu_release(&c->released, client_free);
}

/* ---- who we are ---- */

/* Clients offering another protocol, or none, get no ALPN reply (RFC 7858 does not require it). */
static int on_alpn(SSL *ssl, const unsigned char **out, unsigned char *out_len,
		   const unsigned char *in, unsigned in_len, void *arg)
{
	const struct tls *t = SSL_get_app_data(ssl);
	unsigned char *chosen;

	(void)arg;
	if (SSL_select_next_proto(&chosen, out_len, t->alpn, t->alpn_len, in, in_len) !=
	    OPENSSL_NPN_NEGOTIATED)
		return SSL_TLSEXT_ERR_NOACK;
	*out = chosen;
	return SSL_TLSEXT_ERR_OK;
}

struct tls_server {
	_Atomic unsigned pins;
	struct manner manner;
	struct file key, pem, clients;
	struct file ticket_files[TLS_TICKET_FILES];
	size_t ticket_count;
	uint8_t (*tickets)[TICKET_KEY]; /* as in the files; never changed; none: our own */
	pthread_mutex_t reading, lock;  /* as a client's; of `context` */
	struct tls_context *context;
	struct rcu_slot released;
};

static bool ticket_read(struct file *file, uint8_t *to, struct fault *f)
{
	FILE *in = file_find(file) ? fopen(file_name(file), "rb") : NULL;
	size_t got;

	if (!in) {
		fault_set(f, "tls-session-ticket-keys: %s: %s", file->path, strerror(errno));
		return false;
	}
	(void)setvbuf(in, NULL, _IONBF, 0);
	got = fread(to, 1, TICKET_KEY, in);
	fclose(in);
	if (got == TICKET_KEY)
		return true;
	fault_set(f, "tls-session-ticket-keys: %s holds %zu bytes, not %d", file->path, got,
		  TICKET_KEY);
	return false;
}

static bool tickets_read(struct tls_server *s, struct fault *f)
{
	if (!s->ticket_count && !tls_tickets_begin()) {
		fault_set(f, "TLS cannot be used: %s", tls_complaint("no random bytes"));
		return false;
	}
	s->tickets = mem_array(MAX(s->ticket_count, (size_t)1), TICKET_KEY);
	for (size_t i = 0; i < s->ticket_count; i++)
		if (!ticket_read(&s->ticket_files[i], s->tickets[i], f))
			return false;
	return true;
}

static bool ticket_mac(EVP_MAC_CTX *mac, const uint8_t *key)
{
	char sha256[] = "sha256";
	OSSL_PARAM params[] = {
		OSSL_PARAM_construct_octet_string(OSSL_MAC_PARAM_KEY, (void *)(uintptr_t)(key + 48),
						  32),
		OSSL_PARAM_construct_utf8_string(OSSL_MAC_PARAM_DIGEST, sha256, 0),
		OSSL_PARAM_construct_end(),
	};

	return EVP_MAC_CTX_set_params(mac, params);
}

/* As tls_tickets_find. */
static int ticket_find(const struct tls_server *s, const uint8_t *name, uint8_t key[TICKET_KEY])
{
	size_t i = 0;

	if (!s->ticket_count)
		return tls_tickets_find(name, key);
	while (name && i < s->ticket_count && memcmp(s->tickets[i], name, TICKET_NAME) != 0)
		i++;
	if (i == s->ticket_count)
		return -1;
	memcpy(key, s->tickets[i], TICKET_KEY);
	return (int)i;
}

/* RFC 5077 4: a ticket names its key. -1: error, 0: unknown key, 1: good, 2: good but old. */
static int on_ticket(SSL *ssl, unsigned char *name, unsigned char *iv, EVP_CIPHER_CTX *cipher,
		     EVP_MAC_CTX *mac, int seal)
{
	const struct tls_server *s = SSL_CTX_get_app_data(SSL_get_SSL_CTX(ssl));
	uint8_t key[TICKET_KEY];
	int at = ticket_find(s, seal ? NULL : name, key), result = 1;

	if (at < 0)
		return 0;
	if (seal)
		memcpy(name, key, TICKET_NAME);
	if ((seal && RAND_bytes(iv, EVP_CIPHER_get_iv_length(EVP_aes_256_cbc())) != 1) ||
	    !EVP_CipherInit_ex(cipher, EVP_aes_256_cbc(), NULL, key + TICKET_NAME, iv, seal) ||
	    !ticket_mac(mac, key))
		result = -1;
	OPENSSL_cleanse(key, sizeof key);
	return result == 1 && !seal && at ? 2 : result;
}

static bool ask_clients(SSL_CTX *context, struct file *clients, struct fault *f)
{
	if (!clients->path)
		return true;
	if (!file_find(clients) ||
	    SSL_CTX_load_verify_locations(context, file_name(clients), NULL) != 1) {
		fault_set(f, "%s: %s: %s", clients->option, clients->path,
			  tls_complaint(strerror(errno)));
		return false;
	}
	SSL_CTX_set_client_CA_list(context, SSL_load_client_CA_file(file_name(clients)));
	SSL_CTX_set_verify(context, SSL_VERIFY_PEER, NULL);
	/* Clients must be authenticated each time. */
	SSL_CTX_set_options(context, SSL_OP_NO_TICKET);
	return SSL_CTX_set_num_tickets(context, 0) == 1;
}

static SSL_CTX *server_read(struct tls_server *s, struct fault *f)
{
	SSL_CTX *context = context_new(TLS_server_method(), &s->manner, f);

	if (!context)
		return NULL;
	SSL_CTX_set_app_data(context, s);
	SSL_CTX_set_options(context, SSL_OP_CIPHER_SERVER_PREFERENCE | SSL_OP_PRIORITIZE_CHACHA);
	SSL_CTX_set_session_cache_mode(context, SSL_SESS_CACHE_OFF); /* tickets suffice */
	SSL_CTX_set_tlsext_ticket_key_evp_cb(context, on_ticket);
	SSL_CTX_set_alpn_select_cb(context, on_alpn, NULL);
	ERR_clear_error();
	if (read_keys(&s->key, &s->pem, context, f) && ask_clients(context, &s->clients, f))
		return context;
	ERR_clear_error();
	SSL_CTX_free(context);
	return NULL;
}

static void server_take(struct tls_server *s, SSL_CTX *fresh)
{
	struct tls_context *old;

	pthread_mutex_lock(&s->lock);
	old = s->context;
	s->context = context_wrap(fresh);
	pthread_mutex_unlock(&s->lock);
	tls_context_unpin(old);
}

struct tls_server *tls_server_new(const struct tls_server_how *how, struct fault *f)
{
	struct tls_server *s = mem_zero(sizeof *s);
	SSL_CTX *context;

	atomic_init(&s->pins, 1);
	pthread_mutex_init(&s->lock, NULL);
	pthread_mutex_init(&s->reading, NULL);
	manner_set(&s->manner, &how->manner);
	file_set(&s->key, &how->key, how->clients.path ? "server-key-file" : "tls-service-key");
	file_set(&s->pem, &how->pem, how->clients.path ? "server-cert-file" : "tls-service-pem");
	file_set(&s->clients, &how->clients, "server-cert-file");
	s->ticket_count = how->ticket_key_count;
	for (size_t i = 0; i < s->ticket_count; i++)
		file_set(&s->ticket_files[i], &how->ticket_keys[i], "tls-session-ticket-keys");
	if (!s->key.path || !s->pem.path)
		fault_set(f, "tls-service-key and tls-service-pem belong together");
	else if (tickets_read(s, f) && (context = server_read(s, f))) {
		server_take(s, context);
		return s;
	}
	tls_server_unpin(s);
	return NULL;
}

struct tls_context *tls_server_context(struct tls_server *s)
{
	struct tls_context *context;

	pthread_mutex_lock(&s->lock);
	context = context_pin(s->context);
	pthread_mutex_unlock(&s->lock);
	return context;
}

bool tls_server_refresh(struct tls_server *s, struct fault *f)
{
	SSL_CTX *fresh = NULL;
	bool is_other;

	pthread_mutex_lock(&s->reading);
	is_other = file_is_other(&s->key) || file_is_other(&s->pem) || file_is_other(&s->clients);
	if (is_other && (fresh = server_read(s, f)))
		server_take(s, fresh);
	pthread_mutex_unlock(&s->reading);
	return is_other;
}

bool tls_server_name(struct tls_server *s, char *to, size_t room)
{
	struct tls_context *context = tls_server_context(s);
	GENERAL_NAMES *names = X509_get_ext_d2i(SSL_CTX_get0_certificate(context->ctx),
						NID_subject_alt_name, NULL, NULL);
	bool found = false;

	for (int i = 0; i < sk_GENERAL_NAME_num(names) && !found; i++) {
		const GENERAL_NAME *one = sk_GENERAL_NAME_value(names, i);
		const char *text;
		size_t len;

		if (one->type != GEN_DNS)
			continue;
		text = (const char *)ASN1_STRING_get0_data(one->d.dNSName);
		len = (size_t)ASN1_STRING_length(one->d.dNSName);
		if (len == 0 || len >= room || *text == '*' || memchr(text, '\0', len))
			continue;
		memcpy(to, text, len);
		to[len] = '\0';
		found = true;
	}
	GENERAL_NAMES_free(names);
	tls_context_unpin(context);
	return found;
}

struct tls_server *tls_server_pin(struct tls_server *s)
{
	atomic_fetch_add_explicit(&s->pins, 1, memory_order_relaxed);
	return s;
}

static void server_free(struct rcu_slot *released)
{
	struct tls_server *s = container_of(released, struct tls_server, released);

	tls_context_unpin(s->context);
	pthread_mutex_destroy(&s->lock);
	pthread_mutex_destroy(&s->reading);
	manner_clear(&s->manner);
	file_clear(&s->key);
	file_clear(&s->pem);
	file_clear(&s->clients);
	for (size_t i = 0; i < TLS_TICKET_FILES; i++)
		file_clear(&s->ticket_files[i]);
	if (s->tickets)
		OPENSSL_cleanse(s->tickets, s->ticket_count * TICKET_KEY);
	mem_free(s->tickets);
	mem_free(s);
}

void tls_server_unpin(struct tls_server *s)
{
	if (s && atomic_fetch_sub_explicit(&s->pins, 1, memory_order_acq_rel) == 1)
		rcu_release(&s->released, server_free);
}
