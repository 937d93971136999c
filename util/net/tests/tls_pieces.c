/* Claims about TLS streams whose bytes come in pieces, or do not go out; and about peers that keep to no rules.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "util/net/tests/tls_pair.h"

#include <openssl/err.h>
#include <openssl/ssl.h>

static void pair_ready(const char *protocols)
{
	pair.client = client_of("ca.pem", protocols);
	pair.server = server_of("good", "");
	pair_call("dns.test");
}

/* ---- in pieces ---- */

/* The two ends with the test between them: what one sends arrives when it is passed on. */
static int middle[2];

static void pair_apart(int type, const char *protocols)
{
	struct fault f = { 0 };
	int left[2], right[2];

	assert_int_equal(socketpair(AF_UNIX, type | SOCK_NONBLOCK, 0, left), 0);
	assert_int_equal(socketpair(AF_UNIX, type | SOCK_NONBLOCK, 0, right), 0);
	pair.fd[0] = left[0];
	pair.fd[1] = right[0];
	middle[0] = left[1];
	middle[1] = right[1];
	pair.client = client_of("ca.pem", protocols);
	pair.server = server_of("good", "");
	assert_true(tls_client_load(pair.client, &f));
	pair.ours = tls_connect(pair.client,
				&(struct tls_call){ .fd = pair.fd[0], .place = "here", .name = "dns.test" }, &f);
	pair.theirs = tls_accept(pair.server, pair.fd[1], NULL);
	assert_true(pair.ours && pair.theirs);
}

static void apart_end(void)
{
	pair_hang_up();
	close(middle[0]);
	close(middle[1]);
	pair_end();
}

/* Of a message that nobody reads meanwhile not more pieces than a socket holds, which counts hundreds of bytes for
 * each: a ClientHello with a key share of ML-KEM (OpenSSL 3.5) has 1.5 kB. */
enum { PIECES_MOST = 128 };

/* Passes on what has been sent, in pieces, and calls the other end after each, if there is one to call. */
static void pass_on(int from, int to, size_t piece, struct tls *called)
{
	static uint8_t bytes[65536];
	ssize_t n;

	while ((n = recv(from, bytes, sizeof bytes, 0)) > 0) {
		if (!called)
			piece = MAX(piece, (size_t)n / PIECES_MOST + 1);
		for (ssize_t at = 0; at < n; at += (ssize_t)piece) {
			size_t len = MIN(piece, (size_t)(n - at));

			if (called && tls_is_open(called))
				break; /* it would not read the rest */
			assert_int_equal(send(to, bytes + at, len, 0), (ssize_t)len);
			if (called)
				(void)tls_shake(called);
		}
	}
}

static void a_handshake_may_come_byte_by_byte(void **state)
{
	static const char *const versions[] = { "TLSv1.2", "TLSv1.3" };

	(void)state;
	for (size_t i = 0; i < COUNT(versions); i++) {
		pair_apart(SOCK_STREAM, versions[i]);
		(void)tls_shake(pair.ours);
		for (unsigned round = 0; round < 4; round++) {
			pass_on(middle[0], middle[1], 1, pair.theirs);
			pass_on(middle[1], middle[0], 1, pair.ours);
		}
		if (!tls_is_open(pair.ours) || !tls_is_open(pair.theirs))
			fail_msg("%s: %s, %s", versions[i], tls_why(pair.ours), tls_why(pair.theirs));
		apart_end();
	}
}

/* However few bytes a call brings: nothing is delivered before the connection is known to be open, nor taken. */
static void nothing_travels_before_it_is_open(void **state)
{
	static const char *const versions[] = { "TLSv1.2", "TLSv1.3" };
	char got[64];

	(void)state;
	for (size_t i = 0; i < 2 * COUNT(versions); i++) {
		bool writes = i % 2;
		ssize_t n = -1;

		pair_apart(SOCK_SEQPACKET, versions[i / 2]);
		(void)tls_shake(pair.ours);
		for (unsigned round = 0; round < 200 && n < 0; round++) {
			pass_on(middle[0], middle[1], 4, NULL);
			pass_on(middle[1], middle[0], 4096, NULL);
			if (tls_shake(pair.ours) == 1 && !writes)
				(void)tls_write(pair.ours, "question", 8);
			pass_on(middle[0], middle[1], 4, NULL);
			n = writes ? tls_write(pair.theirs, "answer", 6) : tls_read(pair.theirs, got, sizeof got);
			if ((n >= 0) != tls_is_open(pair.theirs) && (n >= 0 || writes))
				fail_msg("%s: %zd in round %u, when it is %s", versions[i / 2], n, round,
					 tls_is_open(pair.theirs) ? "open" : "not open");
		}
		assert_true(n > 0);
		apart_end();
	}
}

/* A record, and the beginning of the next one: the first is delivered, whole. */
static void half_a_record_takes_nothing_away(void **state)
{
	char got[64], sent[256];
	ssize_t len;

	(void)state;
	pair_ready("TLSv1.3");
	assert_true(shake());
	assert_int_equal(tls_write(pair.theirs, "the first", 9), 9);
	assert_int_equal(tls_write(pair.theirs, "the second", 10), 10);
	len = recv(pair.fd[0], sent, sizeof sent, 0);
	assert_true(len > 30);
	assert_int_equal(send(pair.fd[1], sent, (size_t)len - 5, 0), len - 5);
	assert_int_equal(tls_read(pair.ours, got, sizeof got), 9);
	assert_memory_equal(got, "the first", 9);
	assert_true(tls_read(pair.ours, got, sizeof got) == -1 && errno == EAGAIN);
	assert_int_equal(send(pair.fd[1], sent + len - 5, 5, 0), 5);
	assert_int_equal(tls_read(pair.ours, got, sizeof got), 10);
	assert_memory_equal(got, "the second", 10);
	pair_hang_up();
	pair_end();
}

/* What came along with the end of the handshake: no event of the socket will tell of it. */
static void a_question_that_comes_with_the_handshake_is_told(void **state)
{
	char got[64];

	(void)state;
	pair_ready("TLSv1.3");
	assert_true(tls_shake(pair.ours) < 0 && tls_shake(pair.theirs) < 0);
	assert_int_equal(tls_shake(pair.ours), 1);
	assert_int_equal(tls_write(pair.ours, "question", 8), 8);
	assert_int_equal(tls_shake(pair.theirs), 1);
	assert_true(tls_has_more(pair.theirs));
	assert_int_equal(tls_read(pair.theirs, got, sizeof got), 8);
	assert_false(tls_has_more(pair.theirs));
	pair_hang_up();
	pair_end();
}

/* ---- what does not go out ---- */

/* Fills the way out of the pair's first descriptor; how many bytes went in. */
static size_t fill(void)
{
	static const char nothing[4096];
	size_t all = 0;
	ssize_t n;

	for (size_t len = sizeof nothing; len; len /= 2)
		while ((n = send(pair.fd[0], nothing, len, 0)) > 0)
			all += (size_t)n;
	return all;
}

static void drain(int fd, size_t len)
{
	char bytes[4096];
	ssize_t n;

	for (; len; len -= (size_t)n) {
		n = recv(fd, bytes, MIN(len, sizeof bytes), 0);
		assert_true(n > 0);
	}
}

/* Who waits to write is woken at once as long as it can: once done it must not wait any more. */
static void a_handshake_that_had_to_wait_waits_no_more(void **state)
{
	size_t junk;

	(void)state;
	pair_apart(SOCK_STREAM, "TLSv1.3");
	assert_true(tls_shake(pair.ours) == -1 && errno == EAGAIN);
	assert_false(tls_wants_write(pair.ours));
	pass_on(middle[0], middle[1], 4096, NULL);
	(void)tls_shake(pair.theirs);
	pass_on(middle[1], middle[0], 4096, NULL);
	junk = fill();
	assert_true(tls_shake(pair.ours) == -1 && errno == EAGAIN);
	assert_true(tls_wants_write(pair.ours));
	assert_false(tls_is_open(pair.ours));
	drain(middle[0], junk);
	assert_int_equal(tls_shake(pair.ours), 1);
	assert_false(tls_wants_write(pair.ours));
	apart_end();
}

static void who_has_gone_is_no_longer_sent_to(void **state)
{
	(void)state;
	pair_ready("");
	assert_true(shake());
	tls_hold(pair.ours);
	assert_int_equal(tls_write(pair.ours, "held back", 9), 9);
	assert_true(tls_pending(pair.ours) > 9);
	close(pair.fd[1]);
	pair.fd[1] = dup(0);
	assert_false(tls_push(pair.ours));
	assert_string_equal(tls_why(pair.ours), "Broken pipe");
	pair_hang_up();
	pair_end();
}

/* Others use the library in the same thread, and leave their errors behind. */
static void the_errors_of_others_are_not_ours(void **state)
{
	static char much[1 << 20];
	char got[64];

	(void)state;
	pair_ready("");
	for (unsigned i = 0; i < 20 && !tls_is_open(pair.theirs); i++) {
		ERR_raise(ERR_LIB_USER, 1);
		assert_true(tls_shake(pair.ours) == 1 || errno == EAGAIN);
		ERR_raise(ERR_LIB_USER, 1);
		assert_true(tls_shake(pair.theirs) == 1 || errno == EAGAIN);
	}
	assert_true(tls_is_open(pair.theirs));
	ERR_raise(ERR_LIB_USER, 1);
	assert_true(tls_read(pair.ours, got, sizeof got) == -1 && errno == EAGAIN);
	while (tls_write(pair.ours, much, sizeof much) > 0)
		ERR_raise(ERR_LIB_USER, 1);
	assert_int_equal(errno, EAGAIN);
	assert_true(tls_wants_write(pair.ours));
	ERR_clear_error();
	pair_hang_up();
	pair_end();
}

/* ---- peers that keep to no rules ---- */

/* A server with the library in hand, over the pair's second descriptor. */
static SSL *strange_server(SSL_CTX *context)
{
	struct fault f = { 0 };
	SSL *ssl;

	assert_int_equal(SSL_CTX_use_certificate_file(context, ca_path(&ca, "good.pem"), SSL_FILETYPE_PEM), 1);
	assert_int_equal(SSL_CTX_use_PrivateKey_file(context, ca_path(&ca, "good.key"), SSL_FILETYPE_PEM), 1);
	ssl = SSL_new(context);
	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, pair.fd), 0);
	pair.client = client_of("ca.pem", "");
	assert_true(tls_client_load(pair.client, &f));
	pair.ours = tls_connect(pair.client,
				&(struct tls_call){ .fd = pair.fd[0], .place = "here", .name = "dns.test", .alpn = "dot" }, &f);
	assert_non_null(pair.ours);
	SSL_set_fd(ssl, pair.fd[1]);
	SSL_set_accept_state(ssl);
	for (unsigned i = 0; i < 20 && (tls_shake(pair.ours) != 1) + (SSL_do_handshake(ssl) != 1); i++)
		;
	return ssl;
}

static void strange_end(SSL *ssl, SSL_CTX *context)
{
	SSL_free(ssl);
	SSL_CTX_free(context);
	tls_free(pair.ours);
	close(pair.fd[0]);
	close(pair.fd[1]);
	tls_client_unpin(pair.client);
}

static int choose_long(SSL *ssl, const unsigned char **out, unsigned char *out_len, const unsigned char *in,
		       unsigned in_len, void *arg)
{
	static const unsigned char protocol[] = "a protocol that nobody has offered";

	(void)ssl, (void)in, (void)in_len, (void)arg;
	*out = protocol;
	*out_len = sizeof protocol - 1;
	return SSL_TLSEXT_ERR_OK;
}

static void a_protocol_that_was_not_offered_is_cut_or_refused(void **state)
{
	SSL_CTX *context = SSL_CTX_new(TLS_server_method());
	char name[64];
	SSL *ssl;

	(void)state;
	SSL_CTX_set_alpn_select_cb(context, choose_long, NULL);
	ssl = strange_server(context);
	memset(name, '!', sizeof name);
	(void)tls_alpn(pair.ours, name); /* some versions of the library let it pass */
	assert_true(!tls_is_open(pair.ours) || strcmp(name, "a protocol that") == 0);
	for (size_t i = 16; i < sizeof name; i++)
		assert_int_equal(name[i], '!');
	strange_end(ssl, context);
}

static unsigned hellos;

static void count_hellos(int sent, int version, int type, const void *at, size_t len, SSL *ssl, void *arg)
{
	(void)version, (void)ssl, (void)arg;
	hellos += !sent && type == SSL3_RT_HANDSHAKE && len && *(const uint8_t *)at == SSL3_MT_CLIENT_HELLO;
}

/* TLS 1.2 lets a server ask for a new handshake whenever it likes: that costs us much more than it. */
static void who_asks_for_another_handshake_gets_none(void **state)
{
	SSL_CTX *context = SSL_CTX_new(TLS_server_method());
	char got[64];
	SSL *ssl;

	(void)state;
	hellos = 0;
	SSL_CTX_set_max_proto_version(context, TLS1_2_VERSION);
	SSL_CTX_set_msg_callback(context, count_hellos);
	ssl = strange_server(context);
	assert_true(tls_is_open(pair.ours));
	assert_int_equal(hellos, 1);
	assert_int_equal(SSL_renegotiate(ssl), 1);
	(void)SSL_do_handshake(ssl);
	(void)tls_read(pair.ours, got, sizeof got);
	(void)SSL_read(ssl, got, sizeof got);
	assert_int_equal(hellos, 1);
	strange_end(ssl, context);
}

static int begin(void **state)
{
	(void)state;
	(void)signal(SIGPIPE, SIG_IGN);
	ca_begin(&ca);
	ca_issue(&ca, "good", "DNS:dns.test", false, -1, 30);
	return 0;
}

static int end(void **state)
{
	(void)state;
	ca_end(&ca);
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_handshake_may_come_byte_by_byte),
		cmocka_unit_test(nothing_travels_before_it_is_open),
		cmocka_unit_test(half_a_record_takes_nothing_away),
		cmocka_unit_test(a_question_that_comes_with_the_handshake_is_told),
		cmocka_unit_test(a_handshake_that_had_to_wait_waits_no_more),
		cmocka_unit_test(who_has_gone_is_no_longer_sent_to),
		cmocka_unit_test(the_errors_of_others_are_not_ours),
		cmocka_unit_test(a_protocol_that_was_not_offered_is_cut_or_refused),
		cmocka_unit_test(who_asks_for_another_handshake_gets_none),
	};

	return cmocka_run_group_tests(tests, begin, end);
}
