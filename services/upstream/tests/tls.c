/* Claims about questions over TLS: who is asked, what is shared, resumed, and never sent.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "services/upstream/tests/socket_pair.h"
#include "util/tests/ca.h"

#include <errno.h>
#include <signal.h>
#include <time.h>

#include "services/upstream/peer.h"
#include "util/base/fault.h"
#include "util/base/hash.h"
#include "util/net/stream.h"
#include "util/net/tls.h"

enum { PEERS = 64 };

/* The other side: echoes every question, but for tags
 *   s  silence       x  close, without goodbye or answer */
struct other {
	struct stream stream;
	struct watch watch;
	uint8_t in[65536];
	size_t len;
	bool in_use;
	unsigned asked;
};

static struct server {
	struct watch watch;
	struct addr at;
	struct tls_server *keys;
	struct other others[PEERS];
	unsigned accepted, shaken, asked, open, open_most;
	unsigned questions_each; /* then it resets the connection; 0: any number */
	bool mute;               /* never shakes hands */
	bool plain;              /* speaks another language */
} server;

static struct ca ca;

static void other_close(struct other *o)
{
	watch_stop(&o->watch);
	stream_close(&o->stream);
	o->in_use = false;
	server.open--;
}

/* False when it is closed. */
static bool other_answer(void *other, const uint8_t *framed)
{
	struct other *o = other;

	server.asked++;
	o->asked++;
	if (server.questions_each && o->asked > server.questions_each) {
		struct linger now = { .l_onoff = 1 };

		setsockopt(o->stream.fd, SOL_SOCKET, SO_LINGER, &now, sizeof now);
		other_close(o);
		return false;
	}
	switch (framed[2 + QUERY_LEN - 1]) {
	case 's':
		return true;
	case 'x':
		other_close(o);
		return false;
	default:
		assert_int_equal(stream_write(&o->stream, framed, 2 + QUERY_LEN), 2 + QUERY_LEN);
		return true;
	}
}

static void on_bytes(struct watch *w, unsigned what)
{
	struct other *o = container_of(w, struct other, watch);
	bool was_open = tls_is_open(o->stream.tls);
	ssize_t n;

	(void)what;
	if (server.mute)
		return;
	if (server.plain) {
		assert_true(write(o->stream.fd, "220 hello\r\n", 11) > 0);
		other_close(o);
		return;
	}
	n = stream_read(&o->stream, o->in + o->len, sizeof(o->in) - o->len);
	server.shaken += !was_open && tls_is_open(o->stream.tls);
	if (n < 0 && errno == EAGAIN)
		return;
	if (n <= 0) {
		other_close(o);
		return;
	}
	o->len += (size_t)n;
	(void)wire_take_queries(o->in, &o->len, other_answer, o);
}

static void on_caller(struct watch *w, unsigned what)
{
	int fd = accept4(w->fd, NULL, NULL, SOCK_NONBLOCK);

	(void)what;
	for (unsigned i = 0; fd >= 0 && i < PEERS; i++) {
		struct other *o = &server.others[i];

		if (o->in_use)
			continue;
		*o = (struct other){ .watch = { .fd = fd, .ready = on_bytes }, .in_use = true };
		o->stream.fd = fd;
		o->stream.tls = tls_accept(server.keys, fd, "dot");
		server.accepted++;
		if (++server.open > server.open_most)
			server.open_most = server.open;
		watch_start(wire.loop, &o->watch, WATCH_READ);
		return;
	}
	fail_msg("too many connections");
}

static void begin(const char *conf_text, const char *cert, const char *bundle)
{
	char key[160], pem[160];
	struct fault f = { 0 };
	struct tls_server_how how = { .key.path = key, .pem.path = pem };

	wire_begin(conf_text, upstream_streams_new);
	memset(&server, 0, sizeof(server));
	snprintf(key, sizeof key, "%s/%s.key", ca.folder, cert);
	snprintf(pem, sizeof pem, "%s/%s.pem", ca.folder, cert);
	server.keys = tls_server_new(&how, &f);
	assert_non_null(server.keys);
	wire.snapshot.tls_client = tls_client_new(
		&(struct tls_client_how){ .bundle.path = ca_path(&ca, bundle), .sni = true }, &f);
	assert_non_null(wire.snapshot.tls_client);
	/* of one row, which cannot be: then nobody is asked */
	if (!tls_client_load(wire.snapshot.tls_client, &f))
		assert_true(f.set);
	wire_listen(&server.watch, &server.at, on_caller);
}

static void end(void)
{
	for (unsigned i = 0; i < PEERS; i++)
		if (server.others[i].in_use)
			other_close(&server.others[i]);
	watch_stop(&server.watch);
	close(server.watch.fd);
	wire_end();
	tls_client_unpin(wire.snapshot.tls_client);
	tls_server_unpin(server.keys);
}

static struct sent_query *send_tag(char tag, const char *name)
{
	return mail_send_by(&(struct transmission){ .to = server.at,
					       .transport = TRANSPORT_TLS,
					       .tls_name = name },
			    (uint8_t)tag);
}

static void copy_peer(const struct peer *peer, void *to)
{
	*(struct peer *)to = *peer;
}

static struct peer last_peer(void)
{
	struct peer p = { .name = NULL };

	wire.transport->ops->each_peer(wire.transport, copy_peer, &p);
	return p;
}

/* ---- claims ---- */

static void only_who_is_meant_is_asked(void **state)
{
	(void)state;
	static const struct {
		const char *why, *cert, *bundle, *name;
		bool mute, plain;
		enum upstream_end end; /* ANSWERED, or why not */
	} rows[] = {
		{ "all is well", "good", "ca.pem", "dns.test", false, false, UPSTREAM_ANSWERED },
		{ "no name given", "stranger", "ca.pem", NULL, false, false, UPSTREAM_ANSWERED },
		{ "another name", "good", "ca.pem", "no.test", false, false, UPSTREAM_UNTRUSTED },
		{ "expired", "old", "ca.pem", "dns.test", false, false, UPSTREAM_UNTRUSTED },
		{ "unknown authority", "stranger", "ca.pem", "dns.test", false, false,
		  UPSTREAM_UNTRUSTED },
		{ "no bundle", "good", "none.pem", "dns.test", false, false, UPSTREAM_UNTRUSTED },
		{ "no TLS there", "good", "ca.pem", "dns.test", false, true, UPSTREAM_SILENT },
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		struct sent_query *m, *again;

		begin("", rows[i].cert, rows[i].bundle);
		server.mute = rows[i].mute;
		server.plain = rows[i].plain;
		m = send_tag('a', rows[i].name);
		if (!wire_run(1, 0))
			fail_msg("%s: nothing became of it", rows[i].why);
		if (m->arrived != (rows[i].end == UPSTREAM_ANSWERED) ||
		    (m->failed && m->why != rows[i].end))
			fail_msg("%s: %d", rows[i].why, m->why);
		if (!m->arrived) {
			assert_int_equal(server.asked, 0);
			assert_int_equal(last_peer().failures, 1);
			assert_true(*last_peer().why);
		}
		if (rows[i].end == UPSTREAM_UNTRUSTED) {
			/* it is let alone for a moment */
			unsigned before = server.accepted;

			again = send_tag('a', rows[i].name);
			assert_true(wire_run(2, 0));
			assert_int_equal(again->why, UPSTREAM_UNTRUSTED);
			assert_int_equal(server.accepted, before);
		}
		end();
	}
}

static void a_clock_that_cannot_be_right_excuses_dates_alone(void **state)
{
	(void)state;
	static const struct {
		const char *why, *cert, *name;
		int ahead_s; /* of the clock: what is known to have been */
		bool good;
	} rows[] = {
		{ "the clock may be right", "old", "dns.test", -1000, false },
		{ "it is not", "old", "dns.test", 1000, true },
		{ "but the name counts", "old", "no.test", 1000, false },
		{ "and the authority", "stranger", "dns.test", 1000, false },
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		begin("", rows[i].cert, "ca.pem");
		tls_client_doubt_clock(wire.snapshot.tls_client, time(NULL) + rows[i].ahead_s);
		send_tag('a', rows[i].name);
		assert_true(wire_run(1, 0));
		if (wire.queries[0].arrived != rows[i].good)
			fail_msg("%s", rows[i].why);
		end();
	}
	/* what was seen then is not taken up again later */
	begin("server: max-reuse-tcp-queries: 1\n", "old", "ca.pem");
	tls_client_doubt_clock(wire.snapshot.tls_client, time(NULL) + 1000);
	send_tag('a', "dns.test");
	assert_true(wire_run(1, 0));
	tls_client_doubt_clock(wire.snapshot.tls_client, 0);
	send_tag('a', "dns.test");
	assert_true(wire_run(2, 0));
	assert_true(wire.queries[1].failed);
	assert_int_equal(wire.queries[1].why, UPSTREAM_UNTRUSTED);
	end();
}

static void many_share_few_connections(void **state)
{
	(void)state;
	static const struct {
		const char *why, *conf;
		unsigned count, connections;
	} rows[] = {
		{ "one", "", 1, 1 },
		{ "some", "", 30, 1 },
		{ "more than one should carry", "", 200, 4 },
		{ "there is only one", "server: outgoing-num-tcp: 1\n", 200, 1 },
		{ "which may not carry all",
		  "server: outgoing-num-tcp: 1\n max-reuse-tcp-queries: 50\n", 200, 4 },
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		struct peer p;

		begin(rows[i].conf, "good", "ca.pem");
		for (unsigned n = 0; n < rows[i].count; n++)
			send_tag('a', "dns.test");
		if (!wire_run(rows[i].count, 0))
			fail_msg("%s: only %u", rows[i].why, wire.over);
		for (unsigned n = 0; n < rows[i].count; n++)
			assert_true(wire.queries[n].arrived);
		if (server.accepted > rows[i].connections)
			fail_msg("%s: %u connections", rows[i].why, server.accepted);
		p = last_peer();
		assert_int_equal(p.answers, rows[i].count);
		assert_int_equal(p.failures, 0);
		assert_true(p.handshakes >= 1 && p.resumed == p.handshakes - 1);
		end();
	}
}

static void the_first_is_waited_for_then_all_resume(void **state)
{
	struct peer p;

	(void)state;
	begin("server: max-reuse-tcp-queries: 1\n", "good", "ca.pem");
	for (unsigned n = 0; n < 100; n++)
		send_tag('a', "dns.test");
	assert_true(wire_run(100, 0));
	p = last_peer();
	assert_int_equal(p.answers, 100);
	assert_int_equal(p.handshakes, 100);
	assert_int_equal(p.resumed, 99);
	end();
}

static void a_connection_reset_loses_no_question(void **state)
{
	unsigned arrived = 0;

	(void)state;
	begin("", "good", "ca.pem");
	server.questions_each = 20;
	send_tag('a', "dns.test");
	assert_true(wire_run(1, 0));
	for (unsigned n = 0; n < 200; n++)
		send_tag('a', "dns.test");
	assert_true(wire_run(201, 0));
	for (unsigned n = 0; n < 201; n++)
		arrived += wire.queries[n].arrived;
	assert_int_equal(arrived, 201);
	end();
}

static void a_forwarder_that_answers_is_asked_seven_times(void **state)
{
	(void)state;
	begin("", "good", "ca.pem");
	send_tag('a', "dns.test");
	assert_true(wire_run(1, 0));
	send_tag('x', "dns.test");
	assert_true(wire_run(2, 0));
	assert_true(wire.queries[1].failed);
	assert_int_equal(server.asked, 1 + 7);
	end();
}

static void connections_are_not_shared_by_servers_of_different_names(void **state)
{
	(void)state;
	begin("", "good", "ca.pem");
	send_tag('a', "dns.test");
	assert_true(wire_run(1, 0));
	send_tag('a', "two.test");
	assert_true(wire_run(2, 0));
	send_tag('a', NULL);
	assert_true(wire_run(3, 0));
	assert_int_equal(server.accepted, 3);
	assert_true(wire.queries[0].arrived && wire.queries[1].arrived && wire.queries[2].arrived);
	end();
}

static void who_never_shakes_hands_can_be_given_up(void **state)
{
	(void)state;
	begin("", "good", "ca.pem");
	server.mute = true;
	for (unsigned n = 0; n < 150; n++)
		send_tag('a', "dns.test");
	wire_run(0, 50);
	assert_int_equal(wire.over, 0);
	assert_int_equal(server.accepted, 1);
	for (unsigned n = 0; n < 150; n++)
		wire.transport->ops->cancel(wire.transport, &wire.queries[n].transmission);
	wire_run(0, 50);
	assert_int_equal(wire.over, 0);
	end();
}

static void other_rules_other_connections(void **state)
{
	struct tls_client *old;
	struct fault f = { 0 };

	(void)state;
	begin("", "good", "ca.pem");
	send_tag('a', "dns.test");
	assert_true(wire_run(1, 0));
	old = wire.snapshot.tls_client;
	wire.snapshot.tls_client = tls_client_new(
		&(struct tls_client_how){ .bundle.path = ca_path(&ca, "other.pem") }, &f);
	assert_non_null(wire.snapshot.tls_client);
	assert_true(tls_client_load(wire.snapshot.tls_client, &f));
	tls_client_unpin(old);
	send_tag('a', "dns.test");
	assert_true(wire_run(2, 0));
	assert_true(wire.queries[1].failed);
	assert_int_equal(wire.queries[1].why, UPSTREAM_UNTRUSTED);
	end();
}

static int make_certificates(void **state)
{
	(void)state;
	(void)signal(SIGPIPE, SIG_IGN);
	ca_begin(&ca);
	ca_issue(&ca, "good", "DNS:dns.test,DNS:two.test", false, -1, 30);
	ca_issue(&ca, "old", "DNS:dns.test", false, -30, -1);
	ca_issue(&ca, "stranger", "DNS:dns.test", true, -1, 30);
	return 0;
}

static int remove_certificates(void **state)
{
	(void)state;
	ca_end(&ca);
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(only_who_is_meant_is_asked),
		cmocka_unit_test(a_clock_that_cannot_be_right_excuses_dates_alone),
		cmocka_unit_test(many_share_few_connections),
		cmocka_unit_test(the_first_is_waited_for_then_all_resume),
		cmocka_unit_test(a_connection_reset_loses_no_question),
		cmocka_unit_test(a_forwarder_that_answers_is_asked_seven_times),
		cmocka_unit_test(connections_are_not_shared_by_servers_of_different_names),
		cmocka_unit_test(who_never_shakes_hands_can_be_given_up),
		cmocka_unit_test(other_rules_other_connections),
	};

	hash_start(true);
	return cmocka_run_group_tests(tests, make_certificates, remove_certificates);
}
