/* Claims about encrypted streams: who is believed, what travels, what is resumed.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "util/net/tests/tls_pair.h"

#include <openssl/ssl.h>

static void who_is_not_who_was_meant_is_told_nothing(void **state)
{
	(void)state;
	static const struct {
		const char *why, *cert, *bundle, *name;
		bool good;
	} rows[] = {
		{ "name and authority fit", "good", "ca.pem", "dns.test", true },
		{ "in other letters", "good", "ca.pem", "DNS.Test", true },
		{ "a star stands for one label", "good", "ca.pem", "a.star.test", true },
		{ "and not for two", "good", "ca.pem", "a.b.star.test", false },
		{ "an address", "good", "ca.pem", "192.0.2.1", true },
		{ "another address", "good", "ca.pem", "192.0.2.2", false },
		{ "another name", "good", "ca.pem", "other.test", false },
		{ "part of the name", "good", "ca.pem", "test", false },
		{ "an authority nobody knows", "stranger", "ca.pem", "dns.test", false },
		{ "the system does not know it", "good", NULL, "dns.test", false },
		{ "expired", "old", "ca.pem", "dns.test", false },
		{ "not yet valid", "early", "ca.pem", "dns.test", false },
		{ "whoever it is, if no name was given", "stranger", "ca.pem", NULL, true },
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		uint8_t byte = 'x';

		pair.client = client_of(rows[i].bundle, "");
		pair.server = server_of(rows[i].cert, "");
		pair_call(rows[i].name);
		assert_true(tls_write(pair.ours, "secret", 6) < 0);
		if (shake() != rows[i].good)
			fail_msg("%s: %s", rows[i].why, tls_why(pair.ours));
		if (!rows[i].good) {
			assert_true(tls_is_untrusted(pair.ours));
			assert_true(tls_write(pair.ours, "secret", 6) < 0 && errno != EAGAIN);
			assert_true(tls_read(pair.theirs, &byte, 1) <= 0);
			assert_int_equal(byte, 'x');
		}
		pair_hang_up();
		pair_end();
	}
}

static void who_has_no_certificate_of_ours_is_known_as_such(void **state)
{
	(void)state;
	static const struct {
		const char *why, *cert;
		bool shakes, must_verify;
	} rows[] = {
		{ "one that the authority has signed", "good", true, true },
		{ "none", NULL, true, false },
		{ "of another authority", "stranger", false, false },
		{ "expired", "old", false, false },
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		struct fault f = { 0 };
		struct tls_server_how server = { .manner.protocols = "TLSv1.2" };
		struct tls_client_how client = { .sni = true };
		char files[5][160];

		snprintf(files[0], sizeof files[0], "%s/good.key", ca.folder);
		snprintf(files[1], sizeof files[1], "%s/good.pem", ca.folder);
		snprintf(files[2], sizeof files[2], "%s/ca.pem", ca.folder);
		server.key.path = files[0];
		server.pem.path = files[1];
		server.clients.path = client.bundle.path = files[2];
		if (rows[i].cert) {
			snprintf(files[3], sizeof files[3], "%s/%s.key", ca.folder, rows[i].cert);
			snprintf(files[4], sizeof files[4], "%s/%s.pem", ca.folder, rows[i].cert);
			client.key.path = files[3];
			client.pem.path = files[4];
		}
		pair.server = tls_server_new(&server, &f);
		pair.client = tls_client_new(&client, &f);
		if (!pair.server || !pair.client)
			fail_msg("%s", f.text);
		pair_call("dns.test");
		if (shake() != rows[i].shakes || tls_is_peer_verified(pair.theirs) != rows[i].must_verify)
			fail_msg("%s", rows[i].why);
		pair_hang_up();
		pair_end();
	}
}

static void what_is_written_is_read(void **state)
{
	(void)state;
	static uint8_t sent[300000], got[sizeof sent];
	static const size_t rooms[] = { 1, 100, 16384, 70000, sizeof got };

	for (size_t i = 0; i < sizeof sent; i++)
		sent[i] = (uint8_t)(i * 7 + i / 251);
	for (size_t i = 0; i < COUNT(rooms); i++) {
		size_t out = 0, in = 0;
		size_t all = rooms[i] == 1 ? 2000 : sizeof sent;
		char alpn[16];

		pair.client = client_of("ca.pem", i & 1 ? "TLSv1.2" : "");
		pair.server = server_of("good", "");
		pair_call("dns.test");
		assert_true(shake());
		assert_string_equal(tls_alpn(pair.ours, alpn), "dot");
		assert_string_equal(tls_alpn(pair.theirs, alpn), "dot");
		while (in < all) {
			ssize_t n = out < all ? tls_write(pair.ours, sent + out, all - out) : 0;

			assert_true(n >= 0 || errno == EAGAIN);
			out += n > 0 ? (size_t)n : 0;
			n = tls_read(pair.theirs, got + in, MIN(rooms[i], all - in));
			assert_true(n > 0 || (n < 0 && errno == EAGAIN));
			in += n > 0 ? (size_t)n : 0;
		}
		assert_memory_equal(sent, got, all);
		pair_hang_up();
		pair_end();
	}
}

static void tls_reports_pending_decrypted_bytes(void **state)
{
	uint8_t got[64];

	(void)state;
	pair.client = client_of("ca.pem", "");
	pair.server = server_of("good", "");
	pair_call("dns.test");
	assert_true(shake());
	assert_int_equal(tls_write(pair.ours, "0123456789", 10), 10);
	assert_int_equal(tls_read(pair.theirs, got, 4), 4);
	assert_true(tls_has_more(pair.theirs));
	assert_int_equal(tls_read(pair.theirs, got, sizeof got), 6);
	assert_false(tls_has_more(pair.theirs));
	assert_true(tls_read(pair.theirs, got, sizeof got) < 0 && errno == EAGAIN);
	tls_free(pair.ours);
	pair.ours = NULL;
	close(pair.fd[0]);
	assert_int_equal(tls_read(pair.theirs, got, sizeof got), 0);
	pair_hang_up();
	pair_end();
}

/* Somebody with the library in hand, over the pair's first descriptor. */
static SSL *stranger(SSL_CTX *context)
{
	SSL *ssl = SSL_new(context);

	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, pair.fd), 0);
	pair.theirs = tls_accept(pair.server, pair.fd[1], NULL);
	assert_non_null(pair.theirs);
	SSL_set_fd(ssl, pair.fd[0]);
	SSL_set_connect_state(ssl);
	for (unsigned i = 0; i < 20 && (SSL_do_handshake(ssl) != 1) + (tls_shake(pair.theirs) != 1); i++)
		;
	if (!SSL_is_init_finished(ssl))
		fail_msg("%s", tls_why(pair.theirs));
	return ssl;
}

/* New keys so often, then that much data; and so on. What was read in the end, or -1. */
static ssize_t read_between_keys(SSL *ssl, unsigned keys, size_t data, unsigned times)
{
	static uint8_t bytes[65536];
	ssize_t n = 0;

	while (times-- && n >= 0) {
		for (unsigned i = 0; i < keys; i++) {
			assert_int_equal(SSL_key_update(ssl, SSL_KEY_UPDATE_NOT_REQUESTED), 1);
			assert_int_equal(SSL_do_handshake(ssl), 1);
		}
		assert_int_equal(SSL_write(ssl, bytes, (int)data), (int)data);
		n = tls_read(pair.theirs, bytes, sizeof bytes);
	}
	return n;
}

static void new_keys_without_end_end_it(void **state)
{
	static const struct {
		const char *why;
		unsigned keys;
		size_t data;
		unsigned times;
		bool good;
	} rows[] = {
		{ "once", 1, 10, 1, true },
		{ "now and then, for long", 1, 8192, 200, true },
		{ "all at once", 100, 10, 1, false },
		{ "with a byte in between", 1, 1, 1000, false },
	};
	SSL_CTX *context = SSL_CTX_new(TLS_client_method());

	(void)state;
	SSL_CTX_set_min_proto_version(context, TLS1_3_VERSION);
	pair.client = client_of("ca.pem", "");
	pair.server = server_of("good", "");
	for (size_t i = 0; i < COUNT(rows); i++) {
		SSL *ssl = stranger(context);
		ssize_t n = read_between_keys(ssl, rows[i].keys, rows[i].data, rows[i].times);

		if (rows[i].good ? n != (ssize_t)rows[i].data : n >= 0 || errno != EPROTO)
			fail_msg("%s: %zd, %s", rows[i].why, n, tls_why(pair.theirs));
		if (!rows[i].good)
			assert_string_equal(tls_why(pair.theirs), "keys or tickets without end");
		SSL_free(ssl);
		pair.ours = NULL;
		pair_hang_up();
	}
	pair_end();
	SSL_CTX_free(context);
}

/* How many changes of keys in a row are let pass after so many times 1024 bytes of data. */
static unsigned keys_let_pass(SSL_CTX *context, unsigned data)
{
	bool good = true;
	unsigned n = 0;

	while (good && n < 1000) {
		SSL *ssl = stranger(context);

		assert_int_equal(read_between_keys(ssl, 0, 1024, data), data ? 1024 : 0);
		good = read_between_keys(ssl, n + 1, 10, 1) == 10;
		n += good;
		SSL_free(ssl);
		pair.ours = NULL;
		pair_hang_up();
	}
	return n;
}

/* So many at once, and as many more as there was data for. */
static void so_many_new_keys_are_let_pass(void **state)
{
	SSL_CTX *context = SSL_CTX_new(TLS_client_method());

	(void)state;
	SSL_CTX_set_min_proto_version(context, TLS1_3_VERSION);
	pair.client = client_of("ca.pem", "");
	pair.server = server_of("good", "");
	assert_int_equal(keys_let_pass(context, 0), 21); /* each is three steps of the library, of 64 */
	assert_int_equal(keys_let_pass(context, 64), 42);
	assert_int_equal(keys_let_pass(context, 65), 43);
	pair_end();
	SSL_CTX_free(context);
}

static void a_server_once_met_is_met_again_quickly(void **state)
{
	(void)state;
	static const struct {
		const char *why, *protocols, *first, *then;
		bool resumed;
	} rows[] = {
		{ "TLS 1.3", "TLSv1.3", "dns.test", "dns.test", true },
		{ "TLS 1.2", "TLSv1.2", "dns.test", "dns.test", true },
		{ "not under another name", "", "dns.test", "a.star.test", false },
		{ "not when it had not been verified", "", NULL, "dns.test", false },
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		pair.client = client_of("ca.pem", rows[i].protocols);
		pair.server = server_of("good", "");
		pair_call(rows[i].first);
		assert_true(shake());
		assert_false(tls_is_resumed(pair.ours));
		pair_hang_up();
		for (unsigned again = 0; again < 12; again++) {
			struct fault f = { 0 };

			assert_false(tls_client_refresh(pair.client, &f)); /* which forgets nothing */
			pair_call(rows[i].then);
			assert_true(shake());
			if (tls_is_resumed(pair.ours) != (rows[i].resumed || again))
				fail_msg("%s: the %u. time", rows[i].why, again + 1);
			pair_hang_up();
		}
		pair_end();
	}
}

static void tickets_outlive_the_keys_of_certificates(void **state)
{
	struct tls_server *other;

	(void)state;
	pair.client = client_of("ca.pem", "");
	pair.server = server_of("good", "");
	other = server_of("good", "");
	pair_call("dns.test");
	assert_true(shake());
	pair_hang_up();
	tls_server_unpin(pair.server);
	pair.server = other;
	pair_call("dns.test");
	assert_true(shake());
	assert_true(tls_is_resumed(pair.ours));
	pair_hang_up();
	pair_end();
}

static void our_own_ticket_keys_are_renewed(void **state)
{
	enum { H = 3600 };
	static const struct {
		const char *why, *protocols;
		bool from_file;
		uint64_t renewed_s[3]; /* when, since the ticket was issued; 0: no more */
		bool resumed;
	} rows[] = {
		{ "at once", "", false, { 0 }, true },
		{ "short of twelve hours", "", false, { 12 * H - 1 }, true },
		{ "one change: the key before is accepted", "", false, { 12 * H }, true },
		{ "one change, TLS 1.2", "TLSv1.2", false, { 12 * H }, true },
		{ "not changed again so soon", "", false, { 12 * H, 24 * H - 1 }, true },
		{ "two changes", "", false, { 12 * H, 24 * H }, false },
		{ "two changes, TLS 1.2", "TLSv1.2", false, { 12 * H, 24 * H }, false },
		{ "keys from a file stay", "", true, { 12 * H, 24 * H, 36 * H }, true },
	};
	static uint64_t now_s = 1000;
	char key[160], pem[160], tickets[160];
	FILE *file = ca_create(&ca, "tickets");

	(void)state;
	for (int i = 0; i < 80; i++)
		fputc('a' + i % 26, file);
	fclose(file);
	snprintf(key, sizeof key, "%s/good.key", ca.folder);
	snprintf(pem, sizeof pem, "%s/good.pem", ca.folder);
	snprintf(tickets, sizeof tickets, "%s/tickets", ca.folder);
	for (size_t i = 0; i < COUNT(rows); i++) {
		struct tls_server_how how = { .key.path = key, .pem.path = pem };
		struct fault f = { 0 };

		how.ticket_keys[0].path = tickets;
		how.ticket_key_count = rows[i].from_file;
		now_s += 1000 * H;
		tls_tickets_renew(now_s);
		pair.client = client_of("ca.pem", rows[i].protocols);
		pair.server = tls_server_new(&how, &f);
		assert_non_null(pair.server);
		pair_call("dns.test");
		assert_true(shake());
		pair_hang_up();
		for (unsigned n = 0; n < COUNT(rows[i].renewed_s) && rows[i].renewed_s[n]; n++)
			tls_tickets_renew(now_s + rows[i].renewed_s[n]);
		pair_call("dns.test");
		assert_true(shake());
		if (tls_is_resumed(pair.ours) != rows[i].resumed)
			fail_msg("%s", rows[i].why);
		pair_hang_up();
		pair_end();
	}
}

/* A worker that connects does not read files: that has been done, or there is no connection. */
static void nobody_connects_before_the_authorities_are_read(void **state)
{
	struct tls_call call = { .fd = 0, .place = "192.0.2.1@853", .name = "dns.test", .alpn = "dot" };
	struct fault f = { 0 };

	(void)state;
	pair.client = client_of("ca.pem", "");
	assert_null(tls_connect(pair.client, &call, &f));
	assert_non_null(strstr(f.text, "has not been read"));
	assert_true(tls_client_load(pair.client, &f));
	assert_true(tls_client_load(pair.client, &f));
	pair.server = server_of("good", "");
	pair_call("dns.test");
	assert_true(shake());
	pair_hang_up();
	pair_end();
}

static void files_that_change_are_read_again(void **state)
{
	struct fault f = { 0 };

	(void)state;
	ca_issue(&ca, "changing", "DNS:before.test", false, -1, 30);
	pair.client = client_of("ca.pem", "");
	pair.server = server_of("changing", "");
	assert_false(tls_server_refresh(pair.server, &f));
	pair_call("before.test");
	assert_true(shake());
	ca_issue(&ca, "changing", "DNS:after.test,DNS:longer.name.than.before.test", false, -1, 30);
	assert_true(tls_server_refresh(pair.server, &f));
	assert_false(f.set);
	assert_int_equal(tls_write(pair.ours, "goes on", 7), 7);
	pair_hang_up();
	pair_call("after.test");
	assert_true(shake());
	pair_hang_up();

	/* half written: what was there stays */
	fclose(ca_create(&ca, "changing.pem"));
	assert_true(tls_server_refresh(pair.server, &f));
	assert_true(f.set);
	pair_call("after.test");
	assert_true(shake());
	pair_hang_up();
	pair_end();
}

static void a_new_bundle_ends_the_trust_in_the_old(void **state)
{
	struct fault f = { 0 };
	FILE *bundle = ca_create(&ca, "bundle.pem");

	(void)state;
	PEM_write_X509(bundle, ca.cert);
	fclose(bundle);
	pair.client = client_of("bundle.pem", "");
	pair.server = server_of("good", "");
	pair_call("dns.test");
	assert_true(shake());
	pair_hang_up();
	bundle = ca_create(&ca, "bundle.pem");
	PEM_write_X509(bundle, ca.other_cert);
	fputs("\n", bundle);
	fclose(bundle);
	assert_true(tls_client_refresh(pair.client, &f));
	assert_false(f.set);
	pair_call("dns.test");
	assert_false(shake());
	pair_hang_up();
	pair_end();
}

static void what_cannot_be_used_is_said(void **state)
{
	(void)state;
	static const struct {
		const char *why, *key, *pem, *ticket, *ciphers, *suites, *said;
	} rows[] = {
		{ "no such key", "none.key", "good.pem", NULL, "", "", "tls-service-key: " },
		{ "no such certificate", "good.key", "none.pem", NULL, "", "", "tls-service-pem: " },
		{ "another's key", "old.key", "good.pem", NULL, "", "", "old.key" },
		{ "no certificate in it", "good.key", "good.key", NULL, "", "", "tls-service-pem" },
		{ "any file that is long enough is a ticket key", "good.key", "good.pem",
		  "good.key", "", "", NULL },
		{ "no such ticket key", "good.key", "good.pem", "none", "", "", "none" },
		{ "no such cipher", "good.key", "good.pem", NULL, "SECRET", "", "tls-ciphers" },
		{ "no such suite", "good.key", "good.pem", NULL, "", "SECRET", "tls-ciphersuites" },
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		struct fault f = { 0 };
		char key[160], pem[160], ticket[160];
		struct tls_server_how how = { .manner = { .ciphers = rows[i].ciphers,
							  .suites = rows[i].suites },
					      .key.path = key,
					      .pem.path = pem };
		struct tls_server *s;

		snprintf(key, sizeof key, "%s/%s", ca.folder, rows[i].key);
		snprintf(pem, sizeof pem, "%s/%s", ca.folder, rows[i].pem);
		if (rows[i].ticket) {
			snprintf(ticket, sizeof ticket, "%s/%s", ca.folder, rows[i].ticket);
			how.ticket_keys[how.ticket_key_count++].path = ticket;
		}
		s = tls_server_new(&how, &f);
		if (rows[i].said) {
			if (s || !strstr(f.text, rows[i].said))
				fail_msg("%s: '%s'", rows[i].why, f.text);
		} else {
			assert_non_null(s); /* long enough, whatever it is */
			tls_server_unpin(s);
		}
	}
}

static int begin(void **state)
{
	(void)state;
	(void)signal(SIGPIPE, SIG_IGN);
	ca_begin(&ca);
	ca_issue(&ca, "good", "DNS:dns.test,DNS:*.star.test,IP:192.0.2.1", false, -1, 30);
	ca_issue(&ca, "old", "DNS:dns.test", false, -30, -1);
	ca_issue(&ca, "early", "DNS:dns.test", false, 1, 30);
	ca_issue(&ca, "stranger", "DNS:dns.test", true, -1, 30);
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
		cmocka_unit_test(who_is_not_who_was_meant_is_told_nothing),
		cmocka_unit_test(who_has_no_certificate_of_ours_is_known_as_such),
		cmocka_unit_test(what_is_written_is_read),
		cmocka_unit_test(tls_reports_pending_decrypted_bytes),
		cmocka_unit_test(new_keys_without_end_end_it),
		cmocka_unit_test(so_many_new_keys_are_let_pass),
		cmocka_unit_test(a_server_once_met_is_met_again_quickly),
		cmocka_unit_test(tickets_outlive_the_keys_of_certificates),
		cmocka_unit_test(our_own_ticket_keys_are_renewed),
		cmocka_unit_test(nobody_connects_before_the_authorities_are_read),
		cmocka_unit_test(files_that_change_are_read_again),
		cmocka_unit_test(a_new_bundle_ends_the_trust_in_the_old),
		cmocka_unit_test(what_cannot_be_used_is_said),
	};

	return cmocka_run_group_tests(tests, begin, end);
}
