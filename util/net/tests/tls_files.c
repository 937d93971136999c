/* Claims about what TLS is made of: settings, files that change, sessions, keys of tickets.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "util/net/tests/tls_pair.h"

#include <fcntl.h>

#include <openssl/err.h>
#include <sys/stat.h>
#include <time.h>

#include "util/base/mem.h"
#include "util/net/tls_private.h"

/* ---- settings ---- */

static void both_sides_keep_to_their_settings(void **state)
{
	(void)state;
	static const char two[] = "TLSv1.2", three[] = "TLSv1.3", both[] = "TLSv1.2 TLSv1.3";
	static const struct {
		const char *why;
		struct tls_manner client, server;
		bool good;
	} rows[] = {
		{ "no settings at all", { NULL, NULL, NULL }, { NULL, NULL, NULL }, true },
		{ "empty ones", { "", "", "" }, { "", "", "" }, true },
		{ "either version there", { two, NULL, NULL }, { both, NULL, NULL }, true },
		{ "either version here", { both, NULL, NULL }, { two, NULL, NULL }, true },
		{ "any version there", { two, NULL, NULL }, { NULL, NULL, NULL }, true },
		{ "the newer one there", { both, NULL, NULL }, { three, NULL, NULL }, true },
		{ "any version here, the newer one there", { NULL, NULL, NULL }, { three, NULL, NULL }, true },
		{ "the newer one here, any there", { three, NULL, NULL }, { NULL, NULL, NULL }, true },
		{ "the older one here alone", { two, NULL, NULL }, { three, NULL, NULL }, false },
		{ "the older one there alone", { three, NULL, NULL }, { two, NULL, NULL }, false },
		{ "a cipher", { two, "ECDHE-ECDSA-AES128-GCM-SHA256", NULL }, { two, NULL, NULL }, true },
		{ "the same cipher", { two, "ECDHE-ECDSA-AES128-GCM-SHA256", NULL },
		  { two, "ECDHE-ECDSA-AES128-GCM-SHA256", NULL }, true },
		{ "two ciphers", { two, "ECDHE-ECDSA-AES128-GCM-SHA256", NULL },
		  { two, "ECDHE-ECDSA-AES256-GCM-SHA384", NULL }, false },
		{ "two ciphers, but TLS 1.3", { three, "ECDHE-ECDSA-AES128-GCM-SHA256", NULL },
		  { three, "ECDHE-ECDSA-AES256-GCM-SHA384", NULL }, true },
		{ "a suite", { three, NULL, "TLS_AES_128_GCM_SHA256" }, { three, NULL, NULL }, true },
		{ "the same suite", { three, NULL, "TLS_AES_128_GCM_SHA256" }, { three, NULL, "TLS_AES_128_GCM_SHA256" }, true },
		{ "two suites", { three, NULL, "TLS_AES_128_GCM_SHA256" }, { three, NULL, "TLS_AES_256_GCM_SHA384" }, false },
		{ "what only Fedora's OpenSSL has", { two, "PROFILE=SYSTEM", NULL }, { two, "PROFILE=SYSTEM", NULL }, true },
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		struct fault f = { 0 };
		struct tls_client *client = tls_client_new(
			&(struct tls_client_how){ .manner = rows[i].client, .bundle.path = path_of("ca.pem") }, &f);
		struct tls_server *server = tls_server_new(
			&(struct tls_server_how){ .manner = rows[i].server, .key.path = path_of("good.key"),
						  .pem.path = path_of("good.pem") }, &f);

		if (!client || !server)
			fail_msg("%s: %s", rows[i].why, f.text);
		assert_int_equal(ERR_peek_error(), 0);
		if (do_meet(client, server, "dns.test") != rows[i].good)
			fail_msg("%s", rows[i].why);
		pair_end();
	}
}

static void what_a_client_cannot_use_is_said(void **state)
{
	(void)state;
	static const struct {
		const char *why, *bundle, *key, *pem;
		struct tls_manner manner;
		const char *when_made, *when_loaded; /* NULL: all is well */
	} rows[] = {
		{ "nothing", "ca.pem", NULL, NULL, { 0 }, NULL, NULL },
		{ "a cipher", "ca.pem", NULL, NULL, { .ciphers = "SECRET" }, "tls-ciphers: 'SECRET'", NULL },
		{ "a profile that is none", "ca.pem", NULL, NULL, { .ciphers = "PROFIL=X" }, "tls-ciphers: 'PROFIL=X'", NULL },
		{ "a suite", "ca.pem", NULL, NULL, { .suites = "SECRET" }, "tls-ciphersuites: 'SECRET'", NULL },
		{ "authorities that are not there", "none.pem", NULL, NULL, { 0 }, NULL,
		  "tls-cert-bundle: %/none.pem: No such file" },
		{ "authorities that are none", "ca.key", NULL, NULL, { 0 }, NULL, "tls-cert-bundle: %/ca.key: " },
		{ "a key that is not there", "ca.pem", "none.key", "good.pem", { 0 }, NULL,
		  "control-key-file: %/none.key: No such file" },
		{ "a certificate that is not there", "ca.pem", "good.key", "none.pem", { 0 }, NULL,
		  "control-cert-file: %/none.pem: No such file" },
		{ "a certificate that is not there, after ciphers that OpenSSL has not", "ca.pem", "good.key", "none.pem",
		  { .ciphers = "PROFILE=SYSTEM" }, NULL, "control-cert-file: %/none.pem: No such file" },
		{ "another's key", "ca.pem", "old.key", "good.pem", { 0 }, NULL, "control-key-file: %/old.key: " },
		{ "the server's certificate, which is not there", "none.pem", "good.key", "good.pem", { 0 }, NULL,
		  "server-cert-file: %/none.pem: No such file" },
		{ "a key and a certificate", "ca.pem", "good.key", "good.pem", { 0 }, NULL, NULL },
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		struct fault f = { 0 };
		struct tls_client *c = tls_client_new(
			&(struct tls_client_how){ .manner = rows[i].manner, .bundle.path = path_of(rows[i].bundle),
						  .key.path = path_of(rows[i].key), .pem.path = path_of(rows[i].pem) }, &f);
		const char *want = rows[i].when_made ? rows[i].when_made : rows[i].when_loaded;
		char text[200] = "";

		if (!c != (rows[i].when_made != NULL))
			fail_msg("%s: made %d", rows[i].why, c != NULL);
		if (c && tls_client_load(c, &f) != !rows[i].when_loaded)
			fail_msg("%s: loaded otherwise, %s", rows[i].why, f.text);
		for (const char *at = want; at && *at; at++)
			snprintf(text + strlen(text), sizeof text - strlen(text), "%.*s", *at == '%' ? 64 : 1,
				 *at == '%' ? ca.folder : at);
		if (!!f.set != (want != NULL) || (want && strncmp(f.text, text, strlen(text)) != 0))
			fail_msg("%s: '%s', not '%s'", rows[i].why, f.text, text);
		assert_int_equal(ERR_peek_error(), 0);
		tls_client_unpin(c);
	}
}

static void the_system_is_trusted_where_nothing_else_is_named(void **state)
{
	(void)state;
	static const struct {
		const char *why, *bundle;
		bool system, good;
	} rows[] = {
		{ "nothing is named", NULL, false, true },
		{ "an empty name", "", false, true },
		{ "another authority", "other.pem", false, false },
		{ "another authority and the system's", "other.pem", true, true },
	};

	setenv("SSL_CERT_FILE", path_of("ca.pem"), 1);
	for (size_t i = 0; i < COUNT(rows); i++) {
		struct fault f = { 0 };

		pair.client = tls_client_new(
			&(struct tls_client_how){ .bundle.path = rows[i].bundle && *rows[i].bundle ? path_of(rows[i].bundle)
												    : rows[i].bundle,
						  .system = rows[i].system }, &f);
		if (do_meet(pair.client, (pair.server = server_of("good", "")), "dns.test") != rows[i].good)
			fail_msg("%s", rows[i].why);
		pair_end();
	}
	unsetenv("SSL_CERT_FILE");
}

/* ---- files that change ---- */

static void a_change_is_seen_in_time_size_and_place(void **state)
{
	struct fault f = { 0 };
	struct tls_server *s;
	struct timespec times[2];
	struct stat st;
	char saved[200];

	(void)state;
	copy("good.key", "seen.key");
	copy("good.pem", "seen.pem");
	assert_int_equal(stat(path_of("seen.pem"), &st), 0);
	times[0] = times[1] = (struct timespec){ .tv_sec = st.st_mtime };
	s = server_of("seen", "");
	assert_false(tls_server_refresh(s, &f));

	/* its time alone */
	times[1].tv_sec += 100;
	assert_int_equal(utimensat(AT_FDCWD, path_of("seen.pem"), times, 0), 0);
	assert_true(tls_server_refresh(s, &f));
	assert_false(tls_server_refresh(s, &f));
	/* its place alone */
	snprintf(saved, sizeof saved, "%s", path_of("seen.pem"));
	copy("seen.pem", "seen.new");
	assert_int_equal(utimensat(AT_FDCWD, path_of("seen.new"), times, 0), 0);
	assert_int_equal(rename(path_of("seen.new"), saved), 0);
	assert_true(tls_server_refresh(s, &f));
	assert_false(tls_server_refresh(s, &f));
	/* its size alone */
	{
		FILE *file = fopen(saved, "a");

		fputs("\n", file);
		fclose(file);
	}
	assert_int_equal(utimensat(AT_FDCWD, saved, times, 0), 0);
	assert_true(tls_server_refresh(s, &f));
	assert_false(tls_server_refresh(s, &f));
	/* the key's */
	assert_int_equal(utimensat(AT_FDCWD, path_of("seen.key"), times, 0), 0);
	assert_true(tls_server_refresh(s, &f));
	assert_false(tls_server_refresh(s, &f));
	/* that it is gone is no change */
	assert_int_equal(unlink(saved), 0);
	assert_false(tls_server_refresh(s, &f));
	assert_false(f.set);
	assert_true(is_met(s));
	tls_server_unpin(s);
}

/* ---- clients that must show who they are ---- */

static struct tls_server *strict_server(const char *clients, const char *protocols, struct fault *f)
{
	return tls_server_new(&(struct tls_server_how){ .manner.protocols = protocols,
							.key.path = path_of("good.key"),
							.pem.path = path_of("good.pem"),
							.clients.path = path_of(clients) }, f);
}

static void who_must_show_a_certificate_does_so_each_time(void **state)
{
	(void)state;
	static const char *const versions[] = { "TLSv1.2", "TLSv1.3" };

	for (size_t i = 0; i < COUNT(versions); i++) {
		struct fault f = { 0 };

		pair.server = strict_server("ca.pem", versions[i], &f);
		assert_non_null(pair.server);
		pair.client = tls_client_new(&(struct tls_client_how){ .bundle.path = path_of("ca.pem"),
								       .key.path = path_of("good.key"),
								       .pem.path = path_of("good.pem") }, &f);
		for (unsigned round = 0; round < 3; round++) {
			pair_call("dns.test");
			assert_true(shake());
			assert_true(tls_is_peer_verified(pair.theirs));
			assert_true(tls_is_peer_verified(pair.ours));
			assert_false(tls_is_resumed(pair.ours));
			assert_false(tls_is_resumed(pair.theirs));
			pair_hang_up();
		}
		pair_end();
	}
}

/* The process has one set of keys for tickets: what one server gave out opens no other. */
static void a_ticket_of_the_public_server_shows_nothing(void **state)
{
	static const char *const versions[] = { "TLSv1.2", "TLSv1.3" };

	(void)state;
	for (size_t i = 0; i < COUNT(versions); i++) {
		struct tls_server *strict, *public = server_of("good", versions[i]);
		struct fault f = { 0 };

		strict = strict_server("ca.pem", versions[i], &f);
		assert_non_null(strict);
		pair.client = client_of("ca.pem", "");
		for (unsigned round = 0; round < 4; round++) {
			pair.server = round % 2 ? strict : public;
			pair_call("dns.test");
			assert_true(shake());
			assert_false(tls_is_peer_verified(pair.theirs));
			if (tls_is_resumed(pair.theirs) != (round == 2))
				fail_msg("%s, round %u", versions[i], round);
			pair_hang_up();
		}
		tls_client_unpin(pair.client);
		tls_server_unpin(strict);
		tls_server_unpin(public);
	}
}

static void what_names_clients_is_read_again(void **state)
{
	struct fault f = { 0 };

	(void)state;
	assert_null(strict_server("none.pem", "", &f));
	assert_non_null(strstr(f.text, "server-cert-file: "));
	assert_non_null(strstr(f.text, "none.pem: No such file"));
	f = (struct fault){ 0 };
	assert_null(strict_server("ca.key", "", &f));
	assert_non_null(strstr(f.text, "server-cert-file: "));
	assert_int_equal(ERR_peek_error(), 0);
	f = (struct fault){ 0 };
	copy("ca.pem", "clients.pem");
	pair.server = strict_server("clients.pem", "TLSv1.2", &f);
	pair.client = tls_client_new(&(struct tls_client_how){ .bundle.path = path_of("ca.pem"),
							       .key.path = path_of("good.key"),
							       .pem.path = path_of("good.pem") }, &f);
	assert_true(do_meet(pair.client, pair.server, "dns.test"));
	copy("other.pem", "clients.pem");
	{
		FILE *file = fopen(path_of("clients.pem"), "a");

		fputs("\n", file);
		fclose(file);
	}
	assert_true(tls_server_refresh(pair.server, &f));
	assert_false(f.set);
	assert_false(do_meet(pair.client, pair.server, "dns.test"));
	pair_end();
}

/* ---- sessions ---- */

static SSL_SESSION *session_of(unsigned number)
{
	SSL_SESSION *s = SSL_SESSION_new();
	unsigned char id[2] = { (unsigned char)(number >> 8), (unsigned char)number };

	if (number) /* without an identifier it cannot be resumed */
		assert_int_equal(SSL_SESSION_set1_id(s, id, sizeof id), 1);
	return s;
}

/* The number of the one that is taken; 0: none. */
static unsigned taken(struct tls_client *c, const SSL_CTX *context, const char *server)
{
	SSL_SESSION *s = tls_session_take(c, context, server);
	const unsigned char *id;
	unsigned len, number;

	if (!s)
		return 0;
	id = SSL_SESSION_get_id(s, &len);
	assert_int_equal(len, 2);
	number = (unsigned)id[0] << 8 | id[1];
	SSL_SESSION_free(s);
	return number;
}

static void sessions_are_few_and_fresh(void **state)
{
	struct fault f = { 0 };
	struct tls_client *c = client_of("ca.pem", "");
	struct tls_context *context;
	SSL_CTX *other = SSL_CTX_new(TLS_client_method());
	char name[32];

	(void)state;
	assert_true(tls_client_load(c, &f));
	context = tls_client_context(c, &f);
	assert_int_equal(taken(c, context->ctx, "s"), 0);
	for (unsigned i = 1; i <= 9; i++)
		tls_session_put(c, context->ctx, "s", session_of(i));
	assert_int_equal(taken(c, context->ctx, "other"), 0);
	assert_int_equal(taken(c, other, "s"), 0);
	for (unsigned i = 9; i >= 2; i--)
		assert_int_equal(taken(c, context->ctx, "s"), i);
	assert_int_equal(taken(c, context->ctx, "s"), 2); /* the last one stays */
	tls_session_put(c, context->ctx, "s", session_of(10));
	tls_session_put(c, context->ctx, "s", session_of(0));
	tls_session_put(c, context->ctx, "s", session_of(0));
	assert_int_equal(taken(c, context->ctx, "s"), 10);
	tls_session_put(c, other, "s", session_of(11)); /* of what is no longer trusted */
	assert_int_equal(taken(c, context->ctx, "s"), 2);
	tls_client_doubt_clock(c, (int64_t)time(NULL) + 1000);
	tls_session_put(c, context->ctx, "s", session_of(12));
	tls_client_doubt_clock(c, 0);
	assert_int_equal(taken(c, context->ctx, "s"), 2);

	/* 256 servers; who was asked last stays */
	for (unsigned i = 1; i < 256; i++) {
		snprintf(name, sizeof name, "server %u", i);
		tls_session_put(c, context->ctx, name, session_of(100 + i));
	}
	assert_int_equal(taken(c, context->ctx, "s"), 2);
	assert_int_equal(taken(c, context->ctx, "server 1"), 101);
	for (unsigned i = 256; i < 258; i++) {
		snprintf(name, sizeof name, "server %u", i);
		tls_session_put(c, context->ctx, name, session_of(100 + i));
	}
	for (unsigned i = 1; i < 258; i++) {
		snprintf(name, sizeof name, "server %u", i);
		assert_int_equal(taken(c, context->ctx, name), i == 2 || i == 3 ? 0 : 100 + i);
	}
	assert_int_equal(taken(c, context->ctx, "s"), 2);
	SSL_CTX_free(other);
	tls_context_unpin(context);
	tls_client_unpin(c);
}

static void a_clock_that_cannot_be_right_checks_no_dates(void **state)
{
	(void)state;
	static const struct {
		const char *why, *cert, *name;
		long floor; /* from now */
		bool good;
	} rows[] = {
		{ "a clock that is trusted", "old", "dns.test", -1000, false },
		{ "one that is not", "old", "dns.test", 1000, true },
		{ "one that is not, a date ahead", "early", "dns.test", 1000, true },
		{ "not, but the name is checked", "old", "other.test", 1000, false },
		{ "not, but the authority is checked", "stranger", "dns.test", 1000, false },
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		pair.client = client_of("ca.pem", "");
		pair.server = server_of(rows[i].cert, "");
		tls_client_doubt_clock(pair.client, (int64_t)time(NULL) + rows[i].floor);
		assert_int_equal(tls_client_doubts_clock(pair.client), rows[i].floor > 0);
		if (do_meet(pair.client, pair.server, rows[i].name) != rows[i].good)
			fail_msg("%s", rows[i].why);
		pair_call(rows[i].name);
		(void)shake();
		if (tls_is_resumed(pair.ours))
			fail_msg("%s: resumed", rows[i].why);
		pair_hang_up();
		pair_end();
	}
}

/* ---- keys of tickets ---- */

static void make_ticket_key(const char *name, char first, size_t len)
{
	FILE *file = ca_create(&ca, name);

	for (size_t i = 0; i < len; i++)
		fputc(first + (int)(i % 10), file);
	fclose(file);
}

static struct tls_server *server_with_tickets(const char *first, const char *second, const char *protocols, struct fault *f)
{
	struct tls_server_how how = { .manner.protocols = protocols,
				      .key.path = path_of("good.key"),
				      .pem.path = path_of("good.pem") };

	how.ticket_keys[0].path = path_of(first);
	how.ticket_keys[1].path = path_of(second);
	how.ticket_key_count = second ? 2 : 1;
	return tls_server_new(&how, f);
}

static void a_ticket_is_read_under_any_key_and_made_under_the_first(void **state)
{
	(void)state;
	static const struct {
		const char *why, *first[2], *then[2], *at_last[2];
		bool resumed, again; /* then, and at last */
		bool renewed; /* by a ticket that comes with a resumed session: OpenSSL's clients keep those of TLS 1.3 alone */
	} rows[] = {
		{ "the same key", { "a.key" }, { "a.key" }, { "a.key" }, true, true, false },
		{ "another", { "a.key" }, { "b.key" }, { "a.key" }, false, false, false },
		{ "a key that has become the second", { "a.key" }, { "b.key", "a.key" }, { "b.key" }, true, true, true },
		{ "under the second none is made", { "b.key", "a.key" }, { "a.key" }, { "a.key" }, false, true, false },
	};
	static const char *const versions[] = { "TLSv1.2", "TLSv1.3" };

	make_ticket_key("a.key", 'a', 80);
	make_ticket_key("b.key", 'p', 80);
	for (size_t n = 0; n < 2 * COUNT(rows); n++) {
		size_t i = n / 2;
		const char *const *files[] = { rows[i].first, rows[i].then, rows[i].at_last };
		bool want[] = { false, rows[i].resumed, rows[i].again && (n % 2 || !rows[i].renewed) };
		struct fault f = { 0 };

		pair.client = client_of("ca.pem", versions[n % 2]);
		for (unsigned k = 0; k < 3; k++) {
			pair.server = server_with_tickets(files[k][0], files[k][1], versions[n % 2], &f);
			assert_non_null(pair.server);
			pair_call("dns.test");
			assert_true(shake());
			if (tls_is_resumed(pair.ours) != want[k])
				fail_msg("%s: %s, step %u", rows[i].why, versions[n % 2], k);
			pair_hang_up();
			tls_server_unpin(pair.server);
		}
		tls_client_unpin(pair.client);
	}
}

/* Keys that differ in a part alone are different keys. */
static void a_ticket_under_a_key_of_the_same_name_is_no_good(void **state)
{
	(void)state;
	static const struct {
		const char *why;
		size_t differs_at;
		bool resumed;
	} rows[] = {
		{ "nowhere", 80, true },
		{ "name, first", 0, false },
		{ "name, last", 15, false },
		{ "encryption, first", 16, false },
		{ "encryption, last", 47, false },
		{ "authentication, first", 48, false },
		{ "authentication, last", 79, false },
	};
	struct fault f = { 0 };

	for (size_t i = 0; i < COUNT(rows); i++) {
		FILE *file;

		make_ticket_key("one.key", 'a', 80);
		make_ticket_key("two.key", 'a', 80);
		file = fopen(path_of("two.key"), "r+");
		if (rows[i].differs_at < 80) {
			(void)fseek(file, (long)rows[i].differs_at, SEEK_SET);
			fputc('Z', file);
		}
		fclose(file);
		pair.client = client_of("ca.pem", "");
		for (unsigned k = 0; k < 2; k++) {
			pair.server = server_with_tickets(k ? "two.key" : "one.key", NULL, "", &f);
			pair_call("dns.test");
			/* a ticket that another has made is not an error, but a reason to begin anew */
			if (!shake() || tls_is_resumed(pair.ours) != (k && rows[i].resumed))
				fail_msg("%s: %s", rows[i].why, k ? tls_why(pair.ours) : "at first");
			pair_hang_up();
			tls_server_unpin(pair.server);
		}
		tls_client_unpin(pair.client);
	}
}

static void a_ticket_key_has_80_bytes(void **state)
{
	struct fault f = { 0 };
	struct tls_server *s;

	(void)state;
	for (size_t len = 79; len <= 81; len++) {
		make_ticket_key("long.key", 'a', len);
		s = server_with_tickets("a.key", "long.key", "", &f);
		assert_int_equal(s != NULL, len >= 80);
		if (!s)
			assert_non_null(strstr(f.text, "long.key holds 79 bytes, not 80"));
		tls_server_unpin(s);
	}
}

/* ---- the server's name ---- */

static void a_server_has_the_first_name_that_fits(void **state)
{
	(void)state;
	static const struct {
		const char *sans, *name;
		size_t room;
	} rows[] = {
		{ "DNS:one.test,DNS:two.test", "one.test", 100 },
		{ "IP:192.0.2.1,DNS:two.test", "two.test", 100 },
		{ "DNS:*.star.test,DNS:two.test", "two.test", 100 },
		{ "DNS:one.test", "one.test", 9 },
		{ "DNS:one.test", NULL, 8 },
		{ "DNS:longer.test,DNS:a.test", "a.test", 8 },
		{ "IP:192.0.2.1", NULL, 100 },
		{ "email:one@two.test,DNS:+.test", "+.test", 100 },
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		char name[100] = "unchanged";
		struct tls_server *s;

		ca_issue(&ca, "named", rows[i].sans, false, -1, 30);
		s = server_of("named", "");
		assert_int_equal(tls_server_name(s, name, rows[i].room), rows[i].name != NULL);
		assert_string_equal(name, rows[i].name ? rows[i].name : "unchanged");
		tls_server_unpin(s);
	}
}

static int begin(void **state)
{
	FILE *f;

	(void)state;
	(void)signal(SIGPIPE, SIG_IGN);
	ca_begin(&ca);
	ca_issue(&ca, "good", "DNS:dns.test,IP:192.0.2.1", false, -1, 30);
	ca_issue(&ca, "old", "DNS:dns.test", false, -30, -1);
	ca_issue(&ca, "early", "DNS:dns.test", false, 1, 30);
	ca_issue(&ca, "stranger", "DNS:dns.test", true, -1, 30);
	f = ca_create(&ca, "ca.key");
	PEM_write_PrivateKey(f, ca.key, NULL, NULL, 0, NULL, NULL);
	fclose(f);
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
		cmocka_unit_test(both_sides_keep_to_their_settings),
		cmocka_unit_test(what_a_client_cannot_use_is_said),
		cmocka_unit_test(the_system_is_trusted_where_nothing_else_is_named),
		cmocka_unit_test(a_change_is_seen_in_time_size_and_place),
		cmocka_unit_test(who_must_show_a_certificate_does_so_each_time),
		cmocka_unit_test(a_ticket_of_the_public_server_shows_nothing),
		cmocka_unit_test(what_names_clients_is_read_again),
		cmocka_unit_test(sessions_are_few_and_fresh),
		cmocka_unit_test(a_clock_that_cannot_be_right_checks_no_dates),
		cmocka_unit_test(a_ticket_is_read_under_any_key_and_made_under_the_first),
		cmocka_unit_test(a_ticket_under_a_key_of_the_same_name_is_no_good),
		cmocka_unit_test(a_ticket_key_has_80_bytes),
		cmocka_unit_test(a_server_has_the_first_name_that_fits),
	};

	return cmocka_run_group_tests(tests, begin, end);
}
