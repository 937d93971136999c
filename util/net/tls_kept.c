/* TLS streams: what a chroot hides once the process is in it.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "util/net/tls_private.h"

#include <pthread.h>
#include <string.h>

#include "util/base/mem.h"

/* Keys and authorities may be outside the chroot, out of reach once the process is in it: what was
 * made of them at the start then serves for good. One entry per file. */
static struct kept {
	struct kept *next;
	char *name;
	bool keys; /* else authorities */
	SSL_CTX *context;
} *kept;
static pthread_mutex_t kept_lock = PTHREAD_MUTEX_INITIALIZER;

static struct kept *kept_entry(const char *name, bool keys)
{
	struct kept *k = kept;

	while (k && (k->keys != keys || strcmp(k->name, name) != 0))
		k = k->next;
	return k;
}

void tls_keep(const char *name, bool keys, SSL_CTX *context)
{
	struct kept *k;

	pthread_mutex_lock(&kept_lock);
	k = kept_entry(name, keys);
	if (!k) {
		k = mem_zero(sizeof(*k));
		k->name = mem_text(name);
		k->keys = keys;
		k->next = kept;
		kept = k;
	}
	SSL_CTX_up_ref(context);
	SSL_CTX_free(k->context);
	k->context = context;
	pthread_mutex_unlock(&kept_lock);
}

/* The caller frees the result; NULL: there is none. */
static SSL_CTX *kept_find(const char *name, bool keys)
{
	struct kept *k;

	pthread_mutex_lock(&kept_lock);
	k = kept_entry(name, keys);
	if (k)
		SSL_CTX_up_ref(k->context);
	pthread_mutex_unlock(&kept_lock);
	return k ? k->context : NULL;
}

bool tls_kept_authorities(SSL_CTX *context, const char *name)
{
	SSL_CTX *old = kept_find(name, false);

	if (!old)
		return false;
	SSL_CTX_set1_cert_store(context, SSL_CTX_get_cert_store(old));
	SSL_CTX_free(old);
	return true;
}

bool tls_kept_keys(SSL_CTX *context, const char *name)
{
	SSL_CTX *old = kept_find(name, true);
	STACK_OF(X509) *chain = NULL;
	bool good;

	if (!old)
		return false;
	good = SSL_CTX_get0_chain_certs(old, &chain) &&
	       SSL_CTX_use_certificate(context, SSL_CTX_get0_certificate(old)) == 1 &&
	       SSL_CTX_set1_chain(context, chain) &&
	       SSL_CTX_use_PrivateKey(context, SSL_CTX_get0_privatekey(old)) == 1;
	SSL_CTX_free(old);
	return good;
}
