/* Claims about a library that gets no memory: it is said, nothing is believed that was not verified, and who uses no TLS
 * needs none.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "util/net/tests/tls_pair.h"

#include <openssl/crypto.h>
#include <openssl/err.h>

/* How often the library has asked; and how often it will get what it asks for until it does not, once. */
static unsigned long asked;
static long good_for = -1;

static bool fails(void)
{
	asked++;
	return good_for >= 0 && good_for-- == 0;
}

static void *take(size_t len, const char *file, int line)
{
	(void)file, (void)line;
	return fails() ? NULL : malloc(len);
}

static void *take_again(void *at, size_t len, const char *file, int line)
{
	(void)file, (void)line;
	return len && fails() ? NULL : realloc(at, len);
}

static void give(void *at, const char *file, int line)
{
	(void)file, (void)line;
	free(at);
}

static const struct tls_manner with_ciphers = { .ciphers = "ECDHE-ECDSA-AES128-GCM-SHA256" };

static void who_needs_no_tls_takes_no_memory(void **state)
{
	struct tls_client_how how = { .sni = true };
	struct fault f = { 0 };
	unsigned long before = asked;
	struct tls_client *c = tls_client_new(&how, &f);

	(void)state;
	assert_non_null(c);
	assert_int_equal(asked, before);
	tls_client_unpin(c);
	how.manner = with_ciphers; /* these may be wrong */
	c = tls_client_new(&how, &f);
	assert_non_null(c);
	assert_true(asked > before);
	tls_client_unpin(c);
}

static void a_client_is_made_or_it_is_said_why_not(void **state)
{
	struct tls_client_how how = { .manner = with_ciphers, .bundle.path = ca_path(&ca, "ca.pem") };
	bool done = false;
	unsigned failed = 0;

	(void)state;
	for (long n = 0; n < 100000 && !done; n++) {
		struct fault f = { 0 };
		struct tls_client *c;

		good_for = n;
		c = tls_client_new(&how, &f);
		done = good_for >= 0;
		good_for = -1;
		if (!c != f.set)
			fail_msg("after %ld: %s", n, f.set ? f.text : "no reason is said");
		failed += !c;
		tls_client_unpin(c);
	}
	assert_true(done && failed);
}

static void a_context_is_made_or_it_is_said_why_not(void **state)
{
	bool done = false;
	unsigned failed = 0;

	(void)state;
	for (long n = 0; n < 300 && !done; n++) {
		struct fault f = { 0 };
		struct tls_client *c = client_of("ca.pem", "");
		bool good;

		good_for = n;
		good = tls_client_load(c, &f);
		done = good_for >= 0;
		good_for = -1;
		if (!good != f.set)
			fail_msg("after %ld: %s", n, f.set ? f.text : "no reason is said");
		failed += !good;
		tls_client_unpin(c);
	}
	assert_true(failed);
}

/* With each name a connection is not begun, or is with nobody else. */
static void a_connection_is_begun_as_demanded_or_not_at_all(void **state)
{
	static const struct {
		const char *name;
		bool good;
	} rows[] = {
		{ "dns.test", true },
		{ "192.0.2.1", true },
		{ "other.test", false },
		{ "192.0.2.2", false },
	};

	(void)state;
	pair.client = client_of("ca.pem", "");
	pair.server = server_of("good", "");
	for (size_t i = 0; i < COUNT(rows); i++) {
		bool done = false;
		unsigned failed = 0;

		for (long n = 0; n < 10000 && !done; n++) {
			struct fault f = { 0 };
			struct tls_call call = { .place = "here", .name = rows[i].name, .alpn = "dot" };

			assert_true(tls_client_load(pair.client, &f));
			assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, pair.fd), 0);
			call.fd = pair.fd[0];
			good_for = n;
			pair.ours = tls_connect(pair.client, &call, &f);
			done = good_for >= 0;
			good_for = -1;
			pair.theirs = tls_accept(pair.server, pair.fd[1], "dot");
			if (!pair.ours != f.set)
				fail_msg("%s after %ld: %s", rows[i].name, n, f.set ? f.text : "no reason is said");
			failed += !pair.ours;
			if (pair.ours && shake() != rows[i].good)
				fail_msg("%s after %ld: %s", rows[i].name, n, tls_why(pair.ours));
			ERR_clear_error();
			pair_hang_up();
		}
		assert_true(done && failed);
	}
	pair_end();
}

static void a_connection_that_came_is_taken_or_not(void **state)
{
	bool done = false;
	unsigned failed = 0;

	(void)state;
	pair.client = client_of("ca.pem", "");
	pair.server = server_of("good", "");
	for (long n = 0; n < 10000 && !done; n++) {
		pair_call("dns.test");
		tls_free(pair.theirs);
		good_for = n;
		pair.theirs = tls_accept(pair.server, pair.fd[1], "dot");
		done = good_for >= 0;
		good_for = -1;
		failed += !pair.theirs;
		if (pair.theirs && !shake())
			fail_msg("after %ld: %s", n, tls_why(pair.theirs));
		ERR_clear_error();
		pair_hang_up();
	}
	assert_true(done && failed);
	pair_end();
}

static int begin(void **state)
{
	(void)state;
	(void)signal(SIGPIPE, SIG_IGN);
	ca_begin(&ca);
	ca_issue(&ca, "good", "DNS:dns.test,IP:192.0.2.1", false, -1, 30);
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
		cmocka_unit_test(who_needs_no_tls_takes_no_memory),
		cmocka_unit_test(a_client_is_made_or_it_is_said_why_not),
		cmocka_unit_test(a_context_is_made_or_it_is_said_why_not),
		cmocka_unit_test(a_connection_is_begun_as_demanded_or_not_at_all),
		cmocka_unit_test(a_connection_that_came_is_taken_or_not),
	};

	if (!CRYPTO_set_mem_functions(take, take_again, give))
		return 77;
	return cmocka_run_group_tests(tests, begin, end);
}
