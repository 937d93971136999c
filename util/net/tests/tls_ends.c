/* Claims about the two ends of a TLS connection: what is agreed on, what is told, how it ends.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "util/net/tests/tls_pair.h"

#include "util/base/mem.h"

/* ---- what is agreed on ---- */

static void pair_open(const struct tls_call *call, const char *alpn)
{
	struct tls_call ours = *call;
	struct fault f = { 0 };

	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, pair.fd), 0);
	assert_true(tls_client_load(pair.client, &f));
	ours.fd = pair.fd[0];
	pair.ours = tls_connect(pair.client, &ours, &f);
	if (!pair.ours)
		fail_msg("%s", f.text);
	pair.theirs = tls_accept(pair.server, pair.fd[1], alpn);
	assert_non_null(pair.theirs);
}

static void one_protocol_is_agreed_on_or_none(void **state)
{
	(void)state;
	static const struct {
		const char *why, *ours, *theirs, *agreed;
	} rows[] = {
		{ "the same", "dot", "dot", "dot" },
		{ "none here", NULL, "dot", "" },
		{ "none there", "dot", NULL, "" },
		{ "neither", NULL, NULL, "" },
		{ "empty here", "", "dot", "" },
		{ "others", "dot", "h2", "" },
		{ "one that begins like it", "dot", "doth", "" },
		{ "one that it begins with", "doth", "dot", "" },
		{ "as long as fits", "fifteen-letters", "fifteen-letters", "fifteen-letters" },
		{ "too long", "sixteen-letters!", "sixteen-letters!", "" },
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		char here[16] = "unchanged", there[16] = "unchanged";

		pair.client = client_of("ca.pem", "");
		pair.server = server_of("good", "");
		pair_open(&(struct tls_call){ .place = "here", .name = "dns.test", .alpn = rows[i].ours }, rows[i].theirs);
		assert_false(tls_is_open(pair.ours));
		if (!shake())
			fail_msg("%s: %s", rows[i].why, tls_why(pair.ours));
		assert_true(tls_is_open(pair.ours) && tls_is_open(pair.theirs));
		assert_int_equal(tls_shake(pair.ours), 1);
		if (strcmp(tls_alpn(pair.ours, here), rows[i].agreed) != 0 ||
		    strcmp(tls_alpn(pair.theirs, there), rows[i].agreed) != 0)
			fail_msg("%s: '%s' here, '%s' there", rows[i].why, here, there);
		pair_hang_up();
		pair_end();
	}
}

static void a_tls_server_without_auth_name_may_need_a_valid_chain(void **state)
{
	(void)state;
	static const struct {
		const char *why, *cert, *name;
		bool must_verify, good, is_peer_verified;
	} rows[] = {
		{ "anybody", "stranger", NULL, false, true, false },
		{ "anybody, even if known", "good", NULL, false, true, false },
		{ "somebody known", "good", NULL, true, true, true },
		{ "whatever its name", "named", NULL, true, true, true },
		{ "somebody unknown", "stranger", NULL, true, false, false },
		{ "somebody whose time is over", "old", NULL, true, false, false },
		{ "by name", "good", "dns.test", false, true, true },
		{ "by another name", "named", "dns.test", false, false, false },
		{ "by part of a label's wildcard", "partial", "abc.star.test", false, false, false },
		{ "by address", "good", "192.0.2.1", false, true, true },
		{ "by address, IPv6", "good", "2001:db8::1", false, true, true },
		{ "by address, written otherwise", "good", "2001:DB8:0::1", false, true, true },
		{ "by another address, IPv6", "good", "2001:db8::2", false, false, false },
		{ "by an address that is only a name there", "named", "192.0.2.1", false, false, false },
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		pair.client = client_of("ca.pem", "");
		pair.server = server_of(rows[i].cert, "");
		pair_open(&(struct tls_call){ .place = "here", .name = rows[i].name, .must_verify = rows[i].must_verify }, NULL);
		assert_false(tls_is_peer_verified(pair.ours));
		assert_false(tls_is_untrusted(pair.ours));
		if (shake() != rows[i].good || tls_is_peer_verified(pair.ours) != rows[i].is_peer_verified ||
		    tls_is_untrusted(pair.ours) != !rows[i].good)
			fail_msg("%s: %s", rows[i].why, tls_why(pair.ours));
		assert_false(tls_is_peer_verified(pair.theirs)); /* we are nobody */
		if (!rows[i].good) { /* and so it stays */
			errno = 0;
			assert_true(tls_shake(pair.ours) == -1 && errno == EPROTO);
			assert_false(tls_is_open(pair.ours));
		}
		pair_hang_up();
		pair_end();
	}
}

/* ---- what is told ---- */

static void tls_sni_is_sent_only_where_allowed(void **state)
{
	(void)state;
	static const struct {
		const char *why, *name;
		bool sni, told;
	} rows[] = {
		{ "a name", "dns.test", true, true },
		{ "a name that is not to be told", "dns.test", false, false },
		{ "an address", "192.0.2.1", true, false },
		{ "nobody", NULL, true, false },
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		struct fault f = { 0 };
		char hello[4096];
		ssize_t n;

		pair.client = tls_client_new(&(struct tls_client_how){ .bundle.path = ca_path(&ca, "ca.pem"),
								       .sni = rows[i].sni }, &f);
		pair.server = server_of("good", "");
		pair_open(&(struct tls_call){ .place = "here", .name = rows[i].name }, NULL);
		assert_true(tls_shake(pair.ours) == -1 && errno == EAGAIN);
		n = recv(pair.fd[1], hello, sizeof hello, MSG_PEEK);
		assert_true(n > 100);
		if ((memmem(hello, (size_t)n, "dns.test", 8) != NULL) != rows[i].told ||
		    memmem(hello, (size_t)n, "192.0.2.1", 9))
			fail_msg("%s", rows[i].why);
		assert_true(shake());
		pair_hang_up();
		pair_end();
	}
}

/* Sessions of one server are not offered to another, whatever they have in common. */
static void sessions_are_kept_apart(void **state)
{
	(void)state;
	static const struct {
		const char *why;
		struct tls_call first, then;
		bool resumed;
	} rows[] = {
		{ "the same", { .place = "a", .name = "dns.test", .alpn = "dot" }, { .place = "a", .name = "dns.test", .alpn = "dot" },
		  true },
		{ "another place", { .place = "a", .name = "dns.test" }, { .place = "b", .name = "dns.test" }, false },
		{ "another name", { .place = "a", .name = "dns.test" }, { .place = "a", .name = "192.0.2.1" }, false },
		{ "another protocol", { .place = "a", .name = "dns.test", .alpn = "dot" },
		  { .place = "a", .name = "dns.test", .alpn = "h2" }, false },
		{ "no protocol", { .place = "a", .name = "dns.test" }, { .place = "a", .name = "dns.test", .alpn = "dot" }, false },
		{ "no name", { .place = "a" }, { .place = "a" }, true },
		{ "a name where there was none", { .place = "a" }, { .place = "a", .name = "dns.test" }, false },
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		pair.client = client_of("ca.pem", "");
		pair.server = server_of("good", "");
		pair_open(&rows[i].first, NULL);
		assert_true(shake());
		assert_false(tls_is_resumed(pair.ours) || tls_is_resumed(pair.theirs));
		pair_hang_up();
		pair_open(&rows[i].then, NULL);
		assert_true(shake());
		if (tls_is_resumed(pair.ours) != rows[i].resumed || tls_is_resumed(pair.theirs) != rows[i].resumed)
			fail_msg("%s", rows[i].why);
		pair_hang_up();
		pair_end();
	}
}

/* ---- how it ends ---- */

static void pair_ready(void)
{
	pair.client = client_of("ca.pem", "");
	pair.server = server_of("good", "");
	pair_call("dns.test");
	assert_true(shake());
}

static void who_has_closed_is_read_as_the_end(void **state)
{
	uint8_t byte;

	(void)state;
	for (unsigned plainly = 0; plainly < 2; plainly++) {
		pair_ready();
		if (!plainly) {
			tls_free(pair.theirs); /* says so */
			pair.theirs = NULL;
		}
		assert_int_equal(shutdown(pair.fd[1], SHUT_RDWR), 0);
		for (unsigned again = 0; again < 2; again++)
			assert_int_equal(tls_read(pair.ours, &byte, 1), 0);
		assert_int_equal(tls_write(pair.ours, "x", 1), -1);
		assert_int_not_equal(errno, EAGAIN);
		assert_false(tls_is_untrusted(pair.ours));
		pair_hang_up();
		pair_end();
	}
}

static void an_end_before_the_beginning_is_an_error(void **state)
{
	uint8_t byte;

	(void)state;
	pair.client = client_of("ca.pem", "");
	pair.server = server_of("good", "");
	pair_call("dns.test");
	assert_string_equal(tls_why(pair.ours), "closed");
	assert_true(tls_read(pair.ours, &byte, 1) == -1 && errno == EAGAIN);
	assert_int_equal(shutdown(pair.fd[1], SHUT_RDWR), 0);
	assert_true(tls_read(pair.ours, &byte, 1) == -1 && errno == EPROTO);
	assert_string_equal(tls_why(pair.ours), "closed during the handshake");
	assert_false(tls_is_untrusted(pair.ours));
	assert_true(tls_shake(pair.ours) == -1 && errno == EPROTO);
	pair_hang_up();
	pair_end();
}

static void garbage_breaks_the_connection_for_good(void **state)
{
	char why[160];
	uint8_t byte;

	(void)state;
	pair_ready();
	assert_string_equal(tls_why(pair.ours), "closed");
	assert_int_equal(send(pair.fd[1], "this is no record", 17, 0), 17);
	assert_true(tls_read(pair.ours, &byte, 1) == -1 && errno == EPROTO);
	/* In the library's words, which differ from version to version: what is wrong, not where it was found. */
	snprintf(why, sizeof why, "%s", tls_why(pair.ours));
	assert_string_not_equal(why, "closed");
	assert_string_not_equal(why, "unknown error");
	assert_string_not_equal(why, "record layer failure");
	assert_true(tls_read(pair.ours, &byte, 1) <= 0);
	assert_string_equal(tls_why(pair.ours), why); /* the first reason */
	pair_hang_up();
	pair_end();
}

static void nobody_may_be_let_go_of(void **state)
{
	(void)state;
	tls_free(NULL);
	tls_client_unpin(NULL);
	tls_server_unpin(NULL);
}

/* Nothing goes out while it is held back; then all of it does. */
static void what_is_held_back_goes_out_at_once(void **state)
{
	static const char words[] = "held back";
	char got[64];
	size_t held;

	(void)state;
	pair_ready();
	assert_int_equal(tls_pending(pair.ours), 0);
	assert_false(tls_wants_write(pair.ours));
	tls_hold(pair.ours);
	assert_int_equal(tls_write(pair.ours, words, 4), 4);
	held = tls_pending(pair.ours);
	assert_true(held > 4);
	assert_int_equal(tls_write(pair.ours, words + 4, 5), 5);
	assert_true(tls_pending(pair.ours) > held + 5);
	assert_true(tls_wants_write(pair.ours));
	assert_true(tls_read(pair.theirs, got, sizeof got) == -1 && errno == EAGAIN);
	assert_true(tls_release(pair.ours));
	assert_int_equal(tls_pending(pair.ours), 0);
	assert_int_equal(tls_read(pair.theirs, got, sizeof got), 9);
	assert_memory_equal(got, words, 9);
	tls_hold(pair.ours);
	assert_int_equal(tls_write(pair.ours, words, 9), 9);
	assert_true(tls_push(pair.ours));
	assert_int_equal(tls_read(pair.theirs, got, sizeof got), 9);

	/* to nobody */
	assert_int_equal(tls_write(pair.ours, words, 9), 9);
	close(pair.fd[1]);
	pair.fd[1] = dup(0);
	assert_false(tls_release(pair.ours));
	assert_string_equal(tls_why(pair.ours), "Broken pipe");
	pair_hang_up();
	pair_end();
}

static void who_writes_more_than_is_taken_has_to_wait(void **state)
{
	static uint8_t sent[1 << 20], got[1 << 16];
	size_t out = 0, in = 0;
	ssize_t n;

	(void)state;
	pair_ready();
	while ((n = tls_write(pair.ours, sent + out, sizeof sent - out)) > 0)
		out += (size_t)n;
	assert_int_equal(errno, EAGAIN);
	assert_true(out > 0 && out < sizeof sent);
	assert_true(tls_wants_write(pair.ours));
	while (in < out && (n = tls_read(pair.theirs, got, sizeof got)) > 0)
		in += (size_t)n;
	n = tls_write(pair.ours, sent + out, sizeof sent - out);
	assert_true(n > 0);
	assert_false(tls_wants_write(pair.ours) && !tls_pending(pair.ours));
	pair_hang_up();
	pair_end();
}

static int begin(void **state)
{
	(void)state;
	(void)signal(SIGPIPE, SIG_IGN);
	ca_begin(&ca);
	ca_issue(&ca, "good", "DNS:dns.test,IP:192.0.2.1,IP:2001:db8::1", false, -1, 30);
	ca_issue(&ca, "named", "DNS:other.test,DNS:192.0.2.1", false, -1, 30);
	ca_issue(&ca, "partial", "DNS:a*c.star.test", false, -1, 30);
	ca_issue(&ca, "old", "DNS:dns.test", false, -30, -1);
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
		cmocka_unit_test(one_protocol_is_agreed_on_or_none),
		cmocka_unit_test(a_tls_server_without_auth_name_may_need_a_valid_chain),
		cmocka_unit_test(tls_sni_is_sent_only_where_allowed),
		cmocka_unit_test(sessions_are_kept_apart),
		cmocka_unit_test(who_has_closed_is_read_as_the_end),
		cmocka_unit_test(an_end_before_the_beginning_is_an_error),
		cmocka_unit_test(garbage_breaks_the_connection_for_good),
		cmocka_unit_test(nobody_may_be_let_go_of),
		cmocka_unit_test(what_is_held_back_goes_out_at_once),
		cmocka_unit_test(who_writes_more_than_is_taken_has_to_wait),
	};

	return cmocka_run_group_tests(tests, begin, end);
}
