/* Claims about what the TLS options of a configuration become.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "services/config/tls.h"

#include "services/forward/forward.h"
#include "services/query/snapshot.h"
#include "services/tests/conf.h"
#include "util/base/fault.h"
#include "util/base/log.h"
#include "util/net/tls.h"
#include "util/tests/ca.h"

static struct ca ca;
static char logged[1000];

static int begin(void **state)
{
	FILE *f;

	(void)state;
	ca_begin(&ca);
	ca_issue(&ca, "good", "DNS:dns.test", false, -1, 30);
	f = ca_create(&ca, "tickets");
	for (unsigned i = 0; i < 80; i++)
		fputc('a' + (int)(i % 26), f);
	fclose(f);
	return 0;
}

static int end(void **state)
{
	(void)state;
	ca_end(&ca);
	return 0;
}

/* A configuration in whose text every % is the folder of the certificates. */
static struct conf *conf_here(const char *text)
{
	char buf[3000] = "";
	size_t len = 0;

	for (; *text; text++)
		len += (size_t)snprintf(buf + len, sizeof buf - len, "%.*s", *text == '%' ? 64 : 1,
					*text == '%' ? ca.folder : text);
	return conf_from(buf);
}

/* The snapshot of such a configuration, or NULL and the fault. */
static struct snapshot *snapshot_of(const char *text, struct fault *f)
{
	struct conf *c = conf_here(text);
	struct snapshot *s = snapshot_new(c, f);

	if (!s)
		conf_free(c);
	return s;
}

#define KEY    " tls-service-key: %/good.key\n"
#define PEM    " tls-service-pem: %/good.pem\n"
#define NO_CAS " tls-cert-bundle: %/none.pem\n"
#define TAP    "dnstap:\n dnstap-enable: yes\n dnstap-tls-cert-bundle: %/ca.pem\n"

static void the_options_say_who_speaks_tls(void **state)
{
	(void)state;
	static const struct {
		const char *why, *conf;
		const char *fault; /* a word of it; NULL: all is well */
		bool server, dnstap;
	} rows[] = {
		{ "nothing", "", NULL, false, false },
		{ "key and certificate", "server:\n" KEY PEM, NULL, true, false },
		{ "a key alone", "server:\n" KEY, NULL, false, false },
		{ "a certificate that is not there", "server:\n" KEY " tls-service-pem: %/none.pem\n",
		  "none.pem", false, false },
		{ "a key of another certificate", "server:\n" KEY " tls-service-pem: %/ca.pem\n",
		  "mismatch", false, false },
		{ "a certificate alone", "server:\n" PEM, NULL, false, false },
		{ "a cipher that nobody knows", "server:\n tls-ciphers: SECRET\n", "tls-ciphers", false, false },
		{ "a suite that nobody knows", "server:\n tls-ciphersuites: SECRET\n", "tls-ciphersuites", false, false },
		{ "no key for tickets", "server:\n" KEY PEM " tls-session-ticket-keys: \"\"\n", NULL, true, false },
		{ "keys for tickets, the second not there",
		  "server:\n" KEY PEM " tls-session-ticket-keys: %/tickets\n tls-session-ticket-keys: %/none.keys\n",
		  "none.keys", false, false },
		{ "keys for tickets", "server:\n" KEY PEM " tls-session-ticket-keys: %/tickets\n", NULL, true, false },
		{ "keys for tickets that are not there",
		  "server:\n" KEY PEM " tls-session-ticket-keys: %/none.keys\n", "none.keys", false,
		  false },
		{ "dnstap to a socket", TAP, NULL, false, false },
		{ "dnstap to an address", TAP " dnstap-ip: 192.0.2.1\n", NULL, false, true },
		{ "dnstap to an address, in clear", TAP " dnstap-ip: 192.0.2.1\n dnstap-tls: no\n",
		  NULL, false, false },
		{ "dnstap to an address, without the usual authorities", "server:\n" NO_CAS TAP " dnstap-ip: 192.0.2.1\n", NULL,
		  false, true },
		{ "dnstap with the usual authorities, which are not there",
		  "server:\n" NO_CAS "dnstap:\n dnstap-enable: yes\n dnstap-ip: 192.0.2.1\n", "none.pem", false, false },
		{ "dnstap that is not enabled", "dnstap:\n dnstap-ip: 192.0.2.1\n dnstap-tls-cert-bundle: %/none.pem\n", NULL, false,
		  false },
		{ "dnstap with a certificate of ours", TAP " dnstap-ip: 192.0.2.1\n dnstap-tls-client-key-file: %/good.key\n"
		  " dnstap-tls-client-cert-file: %/good.pem\n", NULL, false, true },
		{ "dnstap with a key that is not there", TAP " dnstap-ip: 192.0.2.1\n dnstap-tls-client-key-file: %/none.key\n"
		  " dnstap-tls-client-cert-file: %/good.pem\n", "none.key", false, false },
		{ "dnstap with a certificate that is not there", TAP " dnstap-ip: 192.0.2.1\n"
		  " dnstap-tls-client-key-file: %/good.key\n dnstap-tls-client-cert-file: %/none.pem\n", "none.pem", false, false },
		{ "dnstap without its authorities",
		  "dnstap:\n dnstap-enable: yes\n dnstap-ip: 192.0.2.1\n"
		  " dnstap-tls-cert-bundle: %/none.pem\n",
		  "none.pem", false, false },
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		struct fault f = { 0 };
		struct snapshot *s = snapshot_of(rows[i].conf, &f);

		if (!s != (rows[i].fault != NULL) || (!s && !strstr(f.text, rows[i].fault)))
			fail_msg("%s: %s", rows[i].why, f.set ? f.text : "no fault");
		if (!s)
			continue;
		if (!s->tls_client || !s->tls_server == rows[i].server ||
		    !s->dnstap_tls == rows[i].dnstap)
			fail_msg("%s: client %d, server %d, dnstap %d", rows[i].why,
				 s->tls_client != NULL, s->tls_server != NULL,
				 s->dnstap_tls != NULL);
		snapshot_unpin(s);
	}
}

static void authorities_are_read_at_the_start_where_they_will_be_needed(void **state)
{
	(void)state;
	static const struct {
		const char *why, *conf;
		bool needed;
	} rows[] = {
		{ "nobody is asked over TLS", "", false },
		{ "everybody is", " tls-upstream: yes\n", true },
		{ "later they would be out of reach", " chroot: /\n", true },
		{ "a forwarder without TLS",
		  "forward-zone:\n name: .\n forward-addr: 192.0.2.1\n", false },
		{ "a forwarder with TLS",
		  "forward-zone:\n name: .\n forward-addr: 192.0.2.1\n forward-tls-upstream: yes\n",
		  true },
		{ "a forwarder of one view",
		  "view:\n name: v\nforward-zone:\n name: .\n forward-view: v\n"
		  " forward-addr: 192.0.2.1\n forward-tls-upstream: yes\n",
		  true },
		{ "a stub with TLS",
		  "stub-zone:\n name: s\n stub-addr: 192.0.2.1\n stub-tls-upstream: yes\n", true },
		{ "a zone held here", "auth-zone:\n name: z\n primary: 192.0.2.1\n", false },
		{ "a zone held here, fetched over TLS",
		  "auth-zone:\n name: z\n primary: 192.0.2.2\n primary: 192.0.2.1#p.test\n", true },
		{ "a policy zone, fetched over TLS", "rpz:\n name: z\n primary: 192.0.2.1#p.test\n", true },
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		char text[400];
		struct fault f = { 0 };
		struct snapshot *s;

		snprintf(text, sizeof text, "%s%s", "server:\n" NO_CAS, rows[i].conf);
		s = snapshot_of(text, &f);
		if (!s != rows[i].needed || (!s && !strstr(f.text, "none.pem")))
			fail_msg("%s: %s", rows[i].why, f.set ? f.text : "not read");
		if (s)
			snapshot_unpin(s);
	}
}

/* Those of the system, too, and those that nobody needs yet: afterwards there are none to be read. */
static void a_chroot_has_the_authorities_of_the_system(void **state)
{
	struct tls_call call = { .fd = 0, .place = "192.0.2.77@853", .name = "dns.test", .alpn = "dot" };

	(void)state;
	for (unsigned chroots = 0; chroots < 2; chroots++) {
		struct fault f = { 0 };
		struct snapshot *s = snapshot_of(chroots ? "server:\n chroot: /\n" : "", &f);
		struct tls *t;

		assert_non_null(s);
		t = tls_connect(s->tls_client, &call, &f);
		assert_int_equal(t != NULL, chroots);
		tls_free(t);
		snapshot_unpin(s);
	}
}

static void sixteen_keys_for_tickets_are_read(void **state)
{
	static const char missing[] = " tls-session-ticket-keys: %/none.keys\n";

	(void)state;
	for (unsigned n = 14; n <= 17; n++) { /* before the one that is not there */
		char text[1000] = "server:\n" KEY PEM;
		struct fault f = { 0 };
		struct snapshot *s;

		for (unsigned i = 0; i < n; i++)
			strcat(text, " tls-session-ticket-keys: %/tickets\n");
		strcat(text, missing);
		s = snapshot_of(text, &f);
		if (!s != (n < 16))
			fail_msg("%u: %s", n, f.set ? f.text : "all is well");
		if (s)
			snapshot_unpin(s);
	}
}

/* forward_add +t: read before it is published, not by the worker that asks first. */
static void authorities_are_read_when_a_forwarder_comes_to_need_them(void **state)
{
	(void)state;
	char *const servers[] = { (char[]){ "192.0.2.77#dns.test" } };
	struct forward_change put = { .name = (const uint8_t *)"", .servers = servers, .server_count = 1 };
	struct tls_call call = { .fd = 0, .place = "192.0.2.77@853", .name = "dns.test", .alpn = "dot" };
	struct fault f = { 0 };
	struct snapshot *plain = snapshot_of("server:\n tls-cert-bundle: %/ca.pem\n", &f), *next;
	struct tls *t;

	assert_non_null(plain);
	for (int tls = 0; tls < 2; tls++) {
		put.tls = tls;
		next = snapshot_with_forwards(plain, forwards_changed(plain->forwards, &put, &f));
		t = tls_connect(next->tls_client, &call, &f);
		assert_int_equal(t != NULL, tls);
		tls_free(t);
		snapshot_unpin(next);
	}
	snapshot_unpin(plain);
}

static void note(const char *line, void *arg)
{
	(void)arg;
	snprintf(logged, sizeof logged, "%s", line);
}

/* Whether a look for changes logs a line with this in it; NULL: none at all. */
static bool says(const struct snapshot *s, const char *text)
{
	*logged = '\0';
	tls_conf_refresh(s, 1);
	return text ? strstr(logged, text) != NULL : !*logged;
}

static void what_changes_on_disk_is_read_again(void **state)
{
	struct fault f = { 0 };
	struct snapshot *s;

	(void)state;
	ca_issue(&ca, "fresh", "DNS:before.test", false, -1, 30);
	s = snapshot_of("server:\n tls-service-key: %/fresh.key\n"
			   " tls-service-pem: %/fresh.pem\n", &f);
	assert_non_null(s);
	log_capture(note, NULL);
	assert_true(says(s, NULL));
	ca_issue(&ca, "fresh", "DNS:after.test,DNS:and.another.name.test", false, -1, 30);
	assert_true(says(s, "tls-service-pem changed: reloaded"));
	assert_true(says(s, NULL));
	fclose(ca_create(&ca, "fresh.pem"));
	assert_true(says(s, "cannot be loaded, old one stays in use"));
	assert_non_null(s->tls_server);
	log_capture(NULL, NULL);
	snapshot_unpin(s);
}

static void append_to(const char *name)
{
	FILE *f = fopen(ca_path(&ca, name), "a");

	fputs("\n", f);
	fclose(f);
}

static void authorities_that_change_are_read_again(void **state)
{
	static const char text[] = "server:\n tls-upstream: yes\n tls-cert-bundle: %/usual.pem\n"
				   "dnstap:\n dnstap-enable: yes\n dnstap-ip: 192.0.2.1\n dnstap-tls-cert-bundle: %/own.pem\n";
	struct fault f = { 0 };
	struct snapshot *s;
	FILE *file;

	(void)state;
	for (unsigned own = 0; own < 2; own++) {
		file = ca_create(&ca, own ? "own.pem" : "usual.pem");
		PEM_write_X509(file, ca.cert);
		fclose(file);
	}
	s = snapshot_of(text, &f);
	assert_non_null(s);
	log_capture(note, NULL);
	assert_true(says(s, NULL));
	append_to("usual.pem");
	assert_true(says(s, "tls-cert-bundle changed: reloaded"));
	append_to("own.pem");
	assert_true(says(s, "a file of dnstap-tls changed: reloaded"));
	assert_true(says(s, NULL));
	fclose(ca_create(&ca, "own.pem"));
	assert_true(says(s, "a file of dnstap-tls changed, but cannot be loaded"));
	log_capture(NULL, NULL);
	snapshot_unpin(s);
}

#define CONTROL "remote-control:\n control-enable: yes\n"

static void the_control_channel_has_tls_unless_it_needs_none(void **state)
{
	(void)state;
	static const struct {
		const char *why, *conf;
		bool want;
	} rows[] = {
		{ "no channel", "", false },
		{ "no channel at an address", "remote-control:\n control-interface: 192.0.2.1\n", false },
		{ "a socket behind an address", CONTROL " control-interface: 192.0.2.1\n control-interface: /run/socket\n", true },
		{ "an address behind a socket", CONTROL " control-interface: /run/socket\n control-interface: 192.0.2.1\n", false },
		{ "the usual addresses", CONTROL, true },
		{ "an address", CONTROL " control-interface: 192.0.2.1\n", true },
		{ "a socket", CONTROL " control-interface: /run/socket\n", false },
		{ "without certificates", CONTROL " control-use-cert: no\n", false },
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		struct conf *conf = conf_from(rows[i].conf);

		if (tls_conf_control(conf) != rows[i].want)
			fail_msg("%s", rows[i].why);
		conf_free(conf);
	}
}

#define SERVER_FILES " server-key-file: %/good.key\n server-cert-file: %/good.pem\n"
#define CLIENT_FILES " control-key-file: %/good.key\n control-cert-file: %/good.pem\n"

static void both_ends_of_the_control_channel_need_their_files(void **state)
{
	(void)state;
	static const struct {
		const char *why, *conf;
		const char *server, *client; /* words of the faults; NULL: all is well */
	} rows[] = {
		{ "all four", CONTROL SERVER_FILES CLIENT_FILES, NULL, NULL },
		{ "no key of the server",
		  CONTROL SERVER_FILES CLIENT_FILES " server-key-file: %/none.key\n", "none.key",
		  NULL },
		{ "no certificate of the server",
		  CONTROL SERVER_FILES CLIENT_FILES " server-cert-file: %/none.pem\n", "none.pem",
		  "none.pem" },
		{ "no certificate of the client",
		  CONTROL SERVER_FILES CLIENT_FILES " control-cert-file: %/none.pem\n", NULL, "none.pem" },
		{ "ciphers that nobody knows", "server:\n tls-ciphers: SECRET\n" CONTROL SERVER_FILES CLIENT_FILES, "tls-ciphers",
		  "tls-ciphers" },
		{ "no key of the client",
		  CONTROL SERVER_FILES CLIENT_FILES " control-key-file: %/none.key\n", NULL,
		  "none.key" },
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		struct conf *conf = conf_here(rows[i].conf);
		struct fault of_server = { 0 }, of_client = { 0 };
		struct tls_server *server = tls_conf_control_server(conf, &of_server);
		struct tls_client *client = tls_conf_control_client(conf, &of_client);

		if (!server != (rows[i].server != NULL) ||
		    (!server && !strstr(of_server.text, rows[i].server)))
			fail_msg("%s: %s", rows[i].why, of_server.text);
		if (!client != (rows[i].client != NULL) ||
		    (!client && !strstr(of_client.text, rows[i].client)))
			fail_msg("%s: %s", rows[i].why, of_client.text);
		tls_server_unpin(server);
		tls_client_unpin(client);
		conf_free(conf);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_options_say_who_speaks_tls),
		cmocka_unit_test(authorities_are_read_at_the_start_where_they_will_be_needed),
		cmocka_unit_test(a_chroot_has_the_authorities_of_the_system),
		cmocka_unit_test(sixteen_keys_for_tickets_are_read),
		cmocka_unit_test(authorities_are_read_when_a_forwarder_comes_to_need_them),
		cmocka_unit_test(what_changes_on_disk_is_read_again),
		cmocka_unit_test(authorities_that_change_are_read_again),
		cmocka_unit_test(the_control_channel_has_tls_unless_it_needs_none),
		cmocka_unit_test(both_ends_of_the_control_channel_need_their_files),
	};

	return cmocka_run_group_tests_name("claims", tests, begin, end);
}
