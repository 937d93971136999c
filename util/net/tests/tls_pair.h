/* Both ends of a TLS connection, in one thread.
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef UTIL_NET_TESTS_TLS_PAIR_H
#define UTIL_NET_TESTS_TLS_PAIR_H

#include "util/tests/ca.h"

#include <errno.h>
#include <signal.h>
#include <sys/socket.h>

#include "util/base/fault.h"
#include "util/net/tls.h"

static struct ca ca;

static struct pair {
	struct tls_client *client;
	struct tls_server *server;
	int fd[2];
	struct tls *ours, *theirs; /* client, server */
} pair;

static inline struct tls_server *server_of(const char *cert, const char *protocols)
{
	char key[160], pem[160];
	struct fault f = { 0 };
	struct tls_server_how how = { .manner.protocols = protocols };
	struct tls_server *s;

	snprintf(key, sizeof key, "%s/%s.key", ca.folder, cert);
	snprintf(pem, sizeof pem, "%s/%s.pem", ca.folder, cert);
	how.key.path = key;
	how.pem.path = pem;
	s = tls_server_new(&how, &f);
	if (!s)
		fail_msg("%s", f.text);
	return s;
}

static inline struct tls_client *client_of(const char *bundle, const char *protocols)
{
	struct fault f = { 0 };
	struct tls_client *c = tls_client_new(
		&(struct tls_client_how){ .bundle.path = bundle ? ca_path(&ca, bundle) : NULL,
					  .manner.protocols = protocols,
					  .sni = true },
		&f);

	if (!c)
		fail_msg("%s", f.text);
	return c;
}

static inline void pair_call(const char *name)
{
	struct fault f = { 0 };

	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, pair.fd), 0);
	if (!tls_client_load(pair.client, &f))
		fail_msg("%s", f.text);
	pair.ours = tls_connect(
		pair.client,
		&(struct tls_call){
			.fd = pair.fd[0], .place = "192.0.2.1@853", .name = name, .alpn = "dot" },
		&f);
	if (!pair.ours)
		fail_msg("%s", f.text);
	pair.theirs = tls_accept(pair.server, pair.fd[1], "dot");
	assert_non_null(pair.theirs);
}

static inline void pair_hang_up(void)
{
	tls_free(pair.ours);
	tls_free(pair.theirs);
	close(pair.fd[0]);
	close(pair.fd[1]);
}

static inline void pair_end(void)
{
	tls_client_unpin(pair.client);
	tls_server_unpin(pair.server);
}

/* True when both sides came to an understanding. */
static inline bool shake(void)
{
	int ours = -1, theirs = -1;
	uint8_t nothing;

	for (unsigned i = 0; i < 20 && (ours < 0 || theirs < 0); i++) {
		ours = tls_shake(pair.ours);
		if (ours < 0 && errno != EAGAIN)
			return false;
		theirs = tls_shake(pair.theirs);
		if (theirs < 0 && errno != EAGAIN)
			return false;
	}
	/* tickets come behind it */
	assert_true(tls_read(pair.ours, &nothing, 1) < 0 && errno == EAGAIN);
	return ours > 0 && theirs > 0;
}

static inline const char *path_of(const char *name)
{
	return name ? ca_path(&ca, name) : NULL;
}

/* Whether client and server of these settings come to an understanding. */
static inline bool do_meet(struct tls_client *client, struct tls_server *server, const char *name)
{
	bool met;

	pair.client = client;
	pair.server = server;
	pair_call(name);
	met = shake();
	pair_hang_up();
	return met;
}

static inline bool is_met(struct tls_server *server)
{
	struct tls_client *client = client_of("ca.pem", "");
	bool met = do_meet(client, server, "dns.test");

	tls_client_unpin(client);
	return met;
}

static inline void copy(const char *from, const char *to)
{
	FILE *in = fopen(path_of(from), "r"), *out = ca_create(&ca, to);
	int c;

	while ((c = getc(in)) != EOF)
		putc(c, out);
	fclose(in);
	fclose(out);
}

#endif
