/* Claims about clients behind a proxy (PROXYv2): whose a question is, where its answer goes, and whom a proxy may speak for.
 * SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <signal.h>
#include <sys/socket.h>
#include <unistd.h>

#include "services/listen/connection.h"
#include "services/listen/socket.h"
#include "services/listen/tests/run.h"
#include "services/listen/udp.h"
#include "services/net/connection_limits.h"
#include "services/net/shares.h"
#include "services/tests/conf.h"
#include "util/base/fault.h"
#include "util/base/mem.h"
#include "util/net/tls.h"
#include "util/tests/ca.h"

#define SIGNATURE "\r\n\r\n\0\r\nQUIT\n"
#define ENDS      "\xcb\0\x71\x35\x12\x67\0\x35" /* to 203.0.113.53, from port 4711, to port 53 */
#define CLIENT    SIGNATURE "\x21\x11\0\x0c\xc6\x33\x64\7" ENDS /* 198.51.100.7 */
#define OTHER     SIGNATURE "\x21\x11\0\x0c\xc6\x33\x64\x08" ENDS
#define CLIENT_V6 SIGNATURE "\x21\x21\0\x24\x20\1\x0d\xb8\0\0\0\0\0\0\0\0\0\0\0\7" \
			    "\x20\1\x0d\xb8\0\0\0\0\0\0\0\0\0\0\0\1\x12\x67\0\x35"
#define MAPPED    SIGNATURE "\x21\x21\0\x24\0\0\0\0\0\0\0\0\0\0\xff\xff\xc6\x33\x64\7" \
			    "\0\0\0\0\0\0\0\0\0\0\xff\xff" ENDS /* 198.51.100.7, to a socket for both families */
#define LONG      SIGNATURE "\x21\x11\0\x10\xc6\x33\x64\7" ENDS "more"
#define ITSELF    SIGNATURE "\x20\0\0\0"
#define QUESTION  "0123456789ab"
#define LATER     "0123456789al"
#define DROP      "0123456789ad"
#define DROP_LATE "0123456789aD"

/* Answers with what was asked, and does as its last byte says: 'l' later, 'd' never, 'D' never, but that is known later. */
static struct fixture {
	struct loop *loop;
	struct listen_udp *udp;
	struct listen_tcp *tcp;
	struct connection_limits *limits;
	struct conf *conf;
	struct client waiters[8];
	unsigned waiting, taken;
	char from[ADDR_TEXT]; /* of the last question */
	size_t len;
} fixture;

static enum disposition take(void *taker, struct packet *p)
{
	uint8_t what = p->in.len ? p->in.at[p->in.len - 1] : 0;

	(void)taker;
	fixture.taken++;
	fixture.len = p->in.len;
	(void)addr_print(&p->client.from, 0, fixture.from);
	if (what == 'd')
		return DISPOSITION_DROP;
	if (what == 'l' || what == 'D') {
		fixture.waiters[fixture.waiting++] = p->client;
		return DISPOSITION_LATER;
	}
	write_bytes(&p->out, p->in.at, p->in.len);
	return DISPOSITION_SEND;
}

static void fixture_open(const char *text)
{
	memset(&fixture, 0, sizeof fixture);
	fixture.loop = loop_new();
	fixture.conf = conf_from(text);
	fixture.limits = *text ? connection_limits_new(fixture.conf, NULL) : NULL;
	fixture.udp = listen_udp_new(fixture.loop, take, NULL);
	listen_udp_share(fixture.udp, fixture.limits);
	fixture.tcp = listen_tcp_new(fixture.loop, take, NULL,
				   &(struct listen_tcp_limits){
					   .connections = 20, .idle_ms = 5000, .waiting_bytes = 1 << 20, .http_endpoint = "/q" });
	listen_tcp_share(fixture.tcp, fixture.limits);
}

static void fixture_close(void)
{
	while (fixture.waiting) {
		struct client c = fixture.waiters[--fixture.waiting];

		c.ops->drop(&c);
	}
	listen_udp_free(fixture.udp);
	listen_tcp_free(fixture.tcp);
	connection_limits_unpin(fixture.limits);
	conf_free(fixture.conf);
	loop_free(fixture.loop);
}

/* ---- over UDP ---- */

static struct addr serve_udp(void)
{
	struct interface at = { .addr = { .family = 4, .ip = { 127, 0, 0, 1 } } };
	struct listen_socket s;
	struct fault f = { 0 };

	if (!listen_socket_open(&s, &at, false, &(struct listen_socket_how){ .conf = fixture.conf }, &f))
		fail_msg("%s", f.text);
	s.at.proxied = true;
	listen_udp_serve(fixture.udp, &s, 1);
	return s.at.addr;
}

/* A proxy, and its port. */
static int proxy_to(const struct addr *server, char text[ADDR_TEXT])
{
	struct sockaddr_storage ss;
	socklen_t len = addr_to_sockaddr(server, &ss);
	int fd = socket(AF_INET, SOCK_DGRAM, 0);
	struct addr own;

	assert_int_equal(connect(fd, (struct sockaddr *)&ss, len), 0);
	len = sizeof ss;
	assert_int_equal(getsockname(fd, (struct sockaddr *)&ss, &len), 0);
	assert_true(addr_from_sockaddr(&own, (struct sockaddr *)&ss, len));
	(void)addr_print(&own, 0, text);
	return fd;
}

static void a_packet_is_its_clients_and_its_answer_the_proxys(void **state)
{
	(void)state;
	static const struct {
		const char *why, *conf;
		const uint8_t *sent;
		size_t len;
		const char *from;   /* NULL: not taken; "": the proxy's */
		const char *answer; /* at last, or NULL */
	} rows[] = {
		{ "IPv4", "", BYTES(CLIENT QUESTION), "198.51.100.7@4711", QUESTION },
		{ "IPv6", "", BYTES(CLIENT_V6 QUESTION), "2001:db8::7@4711", QUESTION },
		{ "IPv4-mapped", "", BYTES(MAPPED QUESTION), "198.51.100.7@4711", QUESTION },
		{ "more in the header", "", BYTES(LONG QUESTION), "198.51.100.7@4711", QUESTION },
		{ "for itself", "", BYTES(ITSELF QUESTION), "", QUESTION },
		{ "later", "", BYTES(CLIENT LATER), "198.51.100.7@4711", LATER },
		{ "for itself, later", "", BYTES(ITSELF LATER), "", LATER },
		{ "dropped", "", BYTES(CLIENT DROP), "198.51.100.7@4711", NULL },
		{ "dropped later", "", BYTES(CLIENT DROP_LATE), "198.51.100.7@4711", NULL },
		{ "without a header", "", BYTES(QUESTION), NULL, NULL },
		{ "a part of a header", "", BYTES(SIGNATURE "\x21\x11\0\x0c\xc6\x33"), NULL, NULL },
		{ "not a header", "", BYTES(SIGNATURE "\x31\x11\0\x0c\xc6\x33\x64\7" ENDS QUESTION), NULL, NULL },
		{ "from a proxy that may", "server:\n proxy-protocol-from: 127.0.0.0/8\n", BYTES(CLIENT QUESTION),
		  "198.51.100.7@4711", QUESTION },
		{ "from one that may not", "server:\n proxy-protocol-from: 192.0.2.0/24\n", BYTES(CLIENT QUESTION), NULL,
		  NULL },
		{ "from one that may not, for itself", "server:\n proxy-protocol-from: 192.0.2.0/24\n",
		  BYTES(ITSELF QUESTION), NULL, NULL },
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		char own[ADDR_TEXT], text[64] = "";
		struct addr at;
		int fd;

		fixture_open(rows[i].conf);
		at = serve_udp();
		fd = proxy_to(&at, own);
		assert_int_equal(send(fd, rows[i].sent, rows[i].len, 0), rows[i].len);
		run_for(fixture.loop, 2);
		if (fixture.taken != (rows[i].from != NULL) ||
		    (fixture.taken && strcmp(fixture.from, *rows[i].from ? rows[i].from : own) != 0) ||
		    (fixture.taken && fixture.len != strlen(QUESTION)))
			fail_msg("%s: %u taken, of %s", rows[i].why, fixture.taken, fixture.from);
		if (fixture.waiting && rows[i].answer) {
			struct client *c = &fixture.waiters[--fixture.waiting];

			c->ops->reply(c, (const uint8_t *)rows[i].answer, strlen(rows[i].answer));
			run_for(fixture.loop, 1);
		}
		if (recv(fd, text, sizeof text - 1, MSG_DONTWAIT) < 0 ? rows[i].answer != NULL
								       : !rows[i].answer || strcmp(text, rows[i].answer) != 0)
			fail_msg("%s: answer '%s'", rows[i].why, text);
		close(fd);
		fixture_close();
	}
}

static void each_proxy_gets_its_own_answers(void **state)
{
	char own[2][ADDR_TEXT], text[64];
	struct addr at;
	int fd[2];

	(void)state;
	fixture_open("");
	at = serve_udp();
	for (unsigned i = 0; i < 2; i++) {
		fd[i] = proxy_to(&at, own[i]);
		assert_int_equal(send(fd[i], i ? OTHER LATER : CLIENT LATER, 28 + 12, 0), 28 + 12);
	}
	run_for(fixture.loop, 2);
	assert_int_equal(fixture.waiting, 2);
	for (unsigned i = 0; i < 2; i++) {
		char first[ADDR_TEXT];

		(void)addr_print(&fixture.waiters[i].from, 0, first);
		fixture.waiters[i].ops->reply(&fixture.waiters[i], (const uint8_t *)first, strlen(first));
	}
	fixture.waiting = 0;
	run_for(fixture.loop, 1);
	for (unsigned i = 0; i < 2; i++) {
		ssize_t n = recv(fd[i], text, sizeof text - 1, MSG_DONTWAIT);

		text[MAX(n, 0)] = '\0';
		assert_string_equal(text, i ? "198.51.100.8@4711" : "198.51.100.7@4711");
		assert_true(recv(fd[i], text, sizeof text, MSG_DONTWAIT) < 0);
		close(fd[i]);
	}
	fixture_close();
}

/* ---- over TCP ---- */

#define FRAME(question) "\0\x0c" question

static int arrive(enum service service, bool proxied)
{
	int ends[2];

	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, ends), 0);
	listen_tcp_take(fixture.tcp, ends[1],
			&(struct arrival){ .from = { .family = 4, .ip = { 192, 0, 2, 1 }, .port = 99 },
					   .reached = { .family = 4, .ip = { 127, 0, 0, 1 }, .port = 53 },
					   .service = service,
					   .proxied = proxied });
	return ends[0];
}

/* What has come back, without lengths; a | where it was closed. */
static const char *heard(int fd)
{
	static char text[200];
	char bytes[100];
	ssize_t n = recv(fd, bytes, sizeof bytes, MSG_DONTWAIT);

	snprintf(text, sizeof text, "%.*s%s", n > 2 ? (int)n - 2 : 0, bytes + 2,
		 n == 0 || (n > 0 && recv(fd, bytes, 1, MSG_DONTWAIT) == 0) || (n < 0 && errno != EAGAIN) ? "|" : "");
	return text;
}

static void a_connection_is_whose_the_proxy_says(void **state)
{
	(void)state;
	static const struct {
		const char *why, *conf;
		const uint8_t *sent;
		size_t len;
		const char *from, *said; /* NULL: nothing is taken */
	} rows[] = {
		{ "IPv4", "", BYTES(CLIENT FRAME(QUESTION)), "198.51.100.7@4711", QUESTION },
		{ "IPv6", "", BYTES(CLIENT_V6 FRAME(QUESTION)), "2001:db8::7@4711", QUESTION },
		{ "IPv4-mapped", "", BYTES(MAPPED FRAME(QUESTION)), "198.51.100.7@4711", QUESTION },
		{ "IPv4-mapped, of a client that may have no connection", "server:\n tcp-connection-limit: 198.51.100.0/24 0\n",
		  BYTES(MAPPED FRAME(QUESTION)), NULL, "|" },
		{ "more in the header", "", BYTES(LONG FRAME(QUESTION)), "198.51.100.7@4711", QUESTION },
		{ "for itself", "", BYTES(ITSELF FRAME(QUESTION)), "192.0.2.1@99", QUESTION },
		{ "not a header", "", BYTES(FRAME(QUESTION) FRAME(QUESTION)), NULL, "|" },
		{ "another version", "", BYTES(SIGNATURE "\x31\x11\0\x0c\xc6\x33\x64\7" ENDS FRAME(QUESTION)), NULL, "|" },
		{ "a part of a header", "", BYTES(SIGNATURE "\x21\x11\0\x0c\xc6"), NULL, "" },
		{ "from a proxy that may", "server:\n proxy-protocol-from: 192.0.2.0/24\n", BYTES(CLIENT FRAME(QUESTION)),
		  "198.51.100.7@4711", QUESTION },
		{ "from one that may not", "server:\n proxy-protocol-from: 127.0.0.0/8\n", BYTES(CLIENT FRAME(QUESTION)), NULL,
		  "|" },
		{ "of a client that may have no connection", "server:\n tcp-connection-limit: 198.51.100.0/24 0\n",
		  BYTES(CLIENT FRAME(QUESTION)), NULL, "|" },
		{ "of another client, through a proxy that may have none", "server:\n tcp-connection-limit: 192.0.2.0/24 0\n",
		  BYTES(CLIENT FRAME(QUESTION)), "198.51.100.7@4711", QUESTION },
		{ "for itself, which may have none", "server:\n tcp-connection-limit: 192.0.2.0/24 0\n",
		  BYTES(ITSELF FRAME(QUESTION)), NULL, "|" },
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		for (size_t piece = 1; piece <= rows[i].len; piece += piece < 20 ? 1 : 7) {
			const char *said;
			int fd;

			fixture_open(rows[i].conf);
			fd = arrive(SERVICE_DNS, true);
			for (size_t at = 0; at < rows[i].len; at += piece) {
				(void)send(fd, rows[i].sent + at, MIN(piece, rows[i].len - at), MSG_NOSIGNAL);
				run_for(fixture.loop, 0);
			}
			run_for(fixture.loop, 0);
			said = heard(fd);
			if (fixture.taken != (rows[i].from != NULL) || strcmp(said, rows[i].said) != 0 ||
			    (fixture.taken && strcmp(fixture.from, rows[i].from) != 0))
				fail_msg("%s, in pieces of %zu: %u taken, of %s, and '%s' was said", rows[i].why, piece,
					 fixture.taken, fixture.from, said);
			assert_int_equal(listen_tcp_count(fixture.tcp), !strchr(said, '|'));
			close(fd);
			run_for(fixture.loop, 0);
			assert_int_equal(listen_tcp_count(fixture.tcp), 0);
			fixture_close();
		}
	}
}

static void limits_are_those_of_the_client(void **state)
{
	struct addr client = { .family = 4, .ip = { 198, 51, 100, 7 } }, other = { .family = 4, .ip = { 198, 51, 100, 8 } };
	struct addr proxy = { .family = 4, .ip = { 192, 0, 2, 1 } };
	int fd[4];

	(void)state;
	fixture_open("server:\n tcp-connection-limit: 198.51.100.7/32 2\n");
	for (unsigned round = 0; round < 2; round++) { /* places are given back */
		for (unsigned i = 0; i < 4; i++) {
			fd[i] = arrive(SERVICE_DNS, true);
			if (i == 0)
				assert_int_equal(connection_table_held(fixture.tcp->table, client_hash(&proxy)), 1);
			assert_int_equal(send(fd[i], i == 3 ? OTHER : CLIENT, 28, 0), 28);
			run_for(fixture.loop, 1);
		}
		assert_string_equal(heard(fd[0]), "");
		assert_string_equal(heard(fd[1]), "");
		assert_string_equal(heard(fd[2]), "|");
		assert_string_equal(heard(fd[3]), "");
		assert_int_equal(connection_table_held(fixture.tcp->table, client_hash(&client)), 2);
		assert_int_equal(connection_table_held(fixture.tcp->table, client_hash(&other)), 1);
		assert_int_equal(connection_table_held(fixture.tcp->table, client_hash(&proxy)), 0);
		LIST_EACH (at, &fixture.tcp->connections) {
			struct connection *c = LIST_ITEM(at, struct connection, link);

			assert_true(c->whose == client_hash(&c->from) && c->whose != client_hash(&proxy));
		}
		for (unsigned i = 0; i < 4; i++)
			close(fd[i]);
		run_for(fixture.loop, 1);
		assert_int_equal(listen_tcp_count(fixture.tcp), 0);
	}
	/* who comes without a proxy is counted as soon as he comes */
	for (unsigned i = 0; i < 3; i++) {
		int ends[2];

		assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, ends), 0);
		listen_tcp_take(fixture.tcp, ends[1], &(struct arrival){ .from = client, .reached = proxy });
		fd[i] = ends[0];
	}
	assert_int_equal(listen_tcp_count(fixture.tcp), 2);
	assert_string_equal(heard(fd[2]), "|");
	for (unsigned i = 0; i < 3; i++)
		close(fd[i]);
	fixture_close();
}

static void a_header_that_ends_too_early_ends_the_connection(void **state)
{
	(void)state;
	for (size_t len = 0; len < 28; len++) {
		int fd;

		fixture_open("");
		fd = arrive(SERVICE_DNS, true);
		if (len)
			assert_int_equal(send(fd, CLIENT, len, 0), len);
		run_for(fixture.loop, 1);
		assert_int_equal(listen_tcp_count(fixture.tcp), 1);
		assert_int_equal(shutdown(fd, SHUT_WR), 0);
		run_for(fixture.loop, 1);
		assert_int_equal(listen_tcp_count(fixture.tcp), 0);
		assert_string_equal(heard(fd), "|");
		close(fd);
		fixture_close();
	}
}

/* What the loop has seen may be gone before the connection looks. */
static int thief_fd;

static void steal(struct watch *w, unsigned what)
{
	char bytes[8];

	(void)w, (void)what;
	(void)recv(thief_fd, bytes, sizeof bytes, MSG_DONTWAIT);
}

static void bytes_that_are_not_there_are_waited_for(void **state)
{
	(void)state;
	for (unsigned order = 0; order < 2; order++) { /* one of the two looks first */
		struct watch thief = { .ready = steal };
		int ends[2];

		fixture_open("");
		assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, ends), 0);
		thief_fd = thief.fd = dup(ends[1]);
		if (order)
			watch_start(fixture.loop, &thief, WATCH_READ);
		listen_tcp_take(fixture.tcp, ends[1], &(struct arrival){ .from = { .family = 4 }, .proxied = true });
		if (!order)
			watch_start(fixture.loop, &thief, WATCH_READ);
		assert_int_equal(send(ends[0], "\r", 1, 0), 1);
		run_for(fixture.loop, 1);
		watch_stop(&thief);
		assert_int_equal(listen_tcp_count(fixture.tcp), 1);
		close(thief_fd);
		close(ends[0]);
		fixture_close();
	}
}

static void a_connection_that_is_reset_is_closed(void **state)
{
	struct sockaddr_storage ss;
	struct addr at = { .family = 4, .ip = { 127, 0, 0, 1 } };
	struct linger hard = { .l_onoff = 1 };
	socklen_t len = addr_to_sockaddr(&at, &ss);
	int listener = socket(AF_INET, SOCK_STREAM, 0), here = socket(AF_INET, SOCK_STREAM, 0), there;

	(void)state;
	fixture_open("");
	assert_true(bind(listener, (struct sockaddr *)&ss, len) == 0 && listen(listener, 1) == 0);
	assert_int_equal(getsockname(listener, (struct sockaddr *)&ss, &len), 0);
	assert_int_equal(connect(here, (struct sockaddr *)&ss, len), 0);
	there = accept(listener, NULL, NULL);
	assert_int_equal(fcntl(there, F_SETFL, O_NONBLOCK), 0);
	listen_tcp_take(fixture.tcp, there, &(struct arrival){ .from = at, .proxied = true });
	assert_int_equal(send(here, CLIENT, 7, 0), 7);
	run_for(fixture.loop, 2);
	assert_int_equal(listen_tcp_count(fixture.tcp), 1);
	assert_int_equal(setsockopt(here, SOL_SOCKET, SO_LINGER, &hard, sizeof hard), 0);
	close(here);
	run_for(fixture.loop, 2);
	assert_int_equal(listen_tcp_count(fixture.tcp), 0);
	close(listener);
	fixture_close();
}

/* ---- what is encrypted stays so ---- */

static struct ca ca;

static struct tls_server *keys_of(const char *cert)
{
	struct fault f = { 0 };
	char key[160], pem[160];
	struct tls_server *s;

	snprintf(key, sizeof key, "%s/%s.key", ca.folder, cert);
	snprintf(pem, sizeof pem, "%s/%s.pem", ca.folder, cert);
	s = tls_server_new(&(struct tls_server_how){ .key.path = key, .pem.path = pem }, &f);
	if (!s)
		fail_msg("%s", f.text);
	return s;
}

/* The protocol agreed on with a client that offers `alpn`; "|": it was closed; "plain": no TLS is spoken there. */
static const char *protocol_at(int fd, const char *alpn)
{
	static char agreed[16];
	struct fault f = { 0 };
	struct tls_client *client = tls_client_new(&(struct tls_client_how){ .bundle.path = ca_path(&ca, "ca.pem") }, &f);
	struct tls *t;
	const char *said = agreed;
	int shaken = -1;

	assert_true(tls_client_load(client, &f));
	t = tls_connect(client, &(struct tls_call){ .fd = fd, .place = "here", .name = "dns.test", .alpn = alpn }, &f);
	assert_non_null(t);
	for (unsigned i = 0; i < 10 && (shaken = tls_shake(t)) < 0 && errno == EAGAIN; i++)
		run_for(fixture.loop, 0);
	if (shaken > 0)
		(void)tls_alpn(t, agreed);
	else
		said = errno == EAGAIN ? "plain" : "|";
	tls_free(t);
	tls_client_unpin(client);
	return said;
}

static void each_service_speaks_as_it_should(void **state)
{
	(void)state;
	static const struct {
		const char *why;
		enum service service;
		bool keys;
		const char *alpn, *agreed;
	} rows[] = {
		{ "TLS", SERVICE_TLS, true, "dot", "dot" },
		{ "HTTPS", SERVICE_HTTPS, true, "h2", "h2" },
		{ "TLS, another protocol", SERVICE_TLS, true, "h2", "" },
		{ "HTTPS, another protocol", SERVICE_HTTPS, true, "dot", "" },
		{ "TLS without keys", SERVICE_TLS, false, "dot", "|" },
		{ "HTTPS without keys", SERVICE_HTTPS, false, "h2", "|" },
		{ "DNS", SERVICE_DNS, true, "dot", "plain" },
		{ "HTTP", SERVICE_HTTP, true, "h2", "|" },
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		for (unsigned proxied = 0; proxied < 2; proxied++) {
			struct tls_server *keys = keys_of("good");
			const char *agreed;
			int fd;

			fixture_open("");
			listen_tcp_keys(fixture.tcp, rows[i].keys ? keys : NULL);
			fd = arrive(rows[i].service, proxied);
			if (proxied)
				assert_int_equal(send(fd, CLIENT, 28, 0), 28);
			agreed = protocol_at(fd, rows[i].alpn);
			if (strcmp(agreed, rows[i].agreed) != 0)
				fail_msg("%s%s: '%s', not '%s'", rows[i].why, proxied ? ", behind a proxy" : "", agreed,
					 rows[i].agreed);
			close(fd);
			tls_server_unpin(keys);
			fixture_close();
		}
	}
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
		cmocka_unit_test(a_packet_is_its_clients_and_its_answer_the_proxys),
		cmocka_unit_test(each_proxy_gets_its_own_answers),
		cmocka_unit_test(a_connection_is_whose_the_proxy_says),
		cmocka_unit_test(limits_are_those_of_the_client),
		cmocka_unit_test(a_header_that_ends_too_early_ends_the_connection),
		cmocka_unit_test(bytes_that_are_not_there_are_waited_for),
		cmocka_unit_test(a_connection_that_is_reset_is_closed),
		cmocka_unit_test(each_service_speaks_as_it_should),
	};

	return cmocka_run_group_tests(tests, begin, end);
}
