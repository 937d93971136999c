/* TLS streams: the sessions that servers gave.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "util/net/tls_private.h"

#include <string.h>

#include "util/base/mem.h"

enum {
	SERVERS_MOST = 256, /* whose sessions are kept */
	SESSIONS_MOST = 8,  /* per server */
};

struct known_server {
	struct list link; /* most recently used last */
	char *name;
	SSL_SESSION *sessions[SESSIONS_MOST]; /* freshest last */
	unsigned count;
};

static void known_free(struct known_server *k)
{
	list_remove(&k->link);
	while (k->count)
		SSL_SESSION_free(k->sessions[--k->count]);
	mem_free(k->name);
	mem_free(k);
}

void tls_sessions_clear(struct tls_sessions *all)
{
	LIST_EACH_SAFE (at, &all->servers)
		known_free(LIST_ITEM(at, struct known_server, link));
	all->count = 0;
}

static struct known_server *known_find(struct tls_sessions *all, const char *name)
{
	LIST_EACH (at, &all->servers) {
		struct known_server *k = LIST_ITEM(at, struct known_server, link);

		if (strcmp(k->name, name) == 0)
			return k;
	}
	return NULL;
}

static struct known_server *known_get(struct tls_sessions *all, const char *name)
{
	struct known_server *k = known_find(all, name);

	if (k)
		return k;
	if (all->count == SERVERS_MOST) {
		known_free(LIST_ITEM(all->servers.next, struct known_server, link));
		all->count--;
	}
	k = mem_zero(sizeof *k);
	k->name = mem_text(name);
	list_push_back(&all->servers, &k->link);
	all->count++;
	return k;
}

void tls_sessions_put(struct tls_sessions *all, const char *server, SSL_SESSION *session)
{
	struct known_server *k = known_get(all, server);

	if (k->count == SESSIONS_MOST) {
		SSL_SESSION_free(k->sessions[0]);
		k->count--;
		memmove(k->sessions, k->sessions + 1, k->count * sizeof *k->sessions);
	}
	k->sessions[k->count++] = session;
}

SSL_SESSION *tls_sessions_take(struct tls_sessions *all, const char *server)
{
	struct known_server *k = known_find(all, server);
	SSL_SESSION *session = NULL;

	while (k && k->count && !session) {
		session = k->sessions[k->count - 1];
		if (!SSL_SESSION_is_resumable(session)) {
			SSL_SESSION_free(session);
			session = NULL;
			k->count--;
		} else if (k->count == 1) {
			session = SSL_SESSION_dup(session);
		} else {
			k->count--;
		}
	}
	if (k) {
		list_remove(&k->link);
		list_push_back(&all->servers, &k->link);
	}
	return session;
}
