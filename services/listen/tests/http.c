/* Claims about connections to the https-port: how they begin, what goes out, and who is cut.
 * SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <unistd.h>

#include <cmocka.h>

#include "services/listen/tcp.h"
#include "services/listen/tests/run.h"
#include "util/net/addr.h"
#include "util/net/http2_server.h"

#define SETTINGS        "\0\0\0\4\0\0\0\0\0"
#define BLOCK           "\x82\x87\x04\x17/q?dns=AAABAAABAAAAAAAA\x41\1b"
#define REQUEST(stream) "\0\0\x1e\1\5\0\0\0" stream BLOCK
#define HEADER_V4       "\r\n\r\n\0\r\nQUIT\n\x21\x11\0\x0c\xc6\x33\x64\7\xcb\0\x71\x35\x12\x67\0\x35"

static struct fixture {
	struct loop *loop;
	struct listen_tcp *tcp;
	struct client later[8];
	unsigned waiting, taken, left;
	bool puts_off; /* answers later */
	bool drops;    /* answers nothing; and drops who waits, if somebody does */
	char from[ADDR_TEXT];
	int here, there;
} fixture;

static enum disposition take(void *taker, struct packet *p)
{
	struct fixture *h = taker;

	h->taken++;
	(void)addr_print(&p->client.from, 0, h->from);
	assert_int_equal(p->in.len, 12);
	if (h->drops && h->waiting) {
		struct client c = h->later[--h->waiting];

		c.ops->drop(&c);
	} else if (h->drops) {
		return DISPOSITION_DROP;
	}
	if (h->puts_off) {
		h->later[h->waiting++] = p->client;
		return DISPOSITION_LATER;
	}
	write_bytes(&p->out, p->in.at, p->in.len);
	return DISPOSITION_SEND;
}

/* Both ends of a connection over loopback. */
static void connect_ends(int ends[2])
{
	struct sockaddr_in at = { .sin_family = AF_INET,
				  .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	socklen_t len = sizeof at;
	int listener = socket(AF_INET, SOCK_STREAM, 0), on = 1;

	assert_int_equal(bind(listener, (struct sockaddr *)&at, sizeof at), 0);
	assert_int_equal(listen(listener, 1), 0);
	assert_int_equal(getsockname(listener, (struct sockaddr *)&at, &len), 0);
	ends[0] = socket(AF_INET, SOCK_STREAM, 0);
	assert_int_equal(connect(ends[0], (struct sockaddr *)&at, sizeof at), 0);
	assert_int_equal(setsockopt(ends[0], IPPROTO_TCP, TCP_NODELAY, &on, sizeof on), 0);
	ends[1] = accept(listener, NULL, NULL);
	assert_true(ends[1] >= 0);
	close(listener);
	for (unsigned i = 0; i < 2; i++)
		assert_int_equal(fcntl(ends[i], F_SETFL, O_NONBLOCK), 0);
}

static const struct listen_tcp_limits plenty = { .connections = 10,
						 .idle_ms = 300,
						 .waiting_bytes = 1 << 20,
						 .http_endpoint = "/q",
						 .http_streams = 10,
						 .http_query_bytes = 1 << 16,
						 .http_answer_bytes = 1 << 16,
						 .http_nodelay = true };

/* `here` becomes the client's end of a connection from 192.0.2.`who`. */
static void connect_from(uint8_t who, bool proxied)
{
	int ends[2];

	connect_ends(ends);
	fixture.here = ends[0];
	fixture.there = ends[1];
	listen_tcp_take(fixture.tcp, ends[1],
			&(struct arrival){ .from = { .family = 4, .ip = { 192, 0, 2, who } },
					   .service = SERVICE_HTTP,
					   .proxied = proxied });
}

static void begin_fixture(const struct listen_tcp_limits *limits)
{
	memset(&fixture, 0, sizeof fixture);
	fixture.loop = loop_new();
	fixture.tcp = listen_tcp_new(fixture.loop, take, &fixture, limits);
}

static void open_fixture(bool nodelay, bool proxied)
{
	struct listen_tcp_limits limits = plenty;

	limits.http_nodelay = nodelay;
	begin_fixture(&limits);
	connect_from(1, proxied);
}

static void close_fixture(void)
{
	while (fixture.waiting) {
		struct client c = fixture.later[--fixture.waiting];

		c.ops->drop(&c);
	}
	listen_tcp_free(fixture.tcp);
	loop_free(fixture.loop);
	close(fixture.here);
}

static void say(const void *bytes, size_t len)
{
	assert_int_equal(send(fixture.here, bytes, len, MSG_NOSIGNAL), len);
	run_for(fixture.loop, 5);
}
#define SAY(text) say(text, sizeof(text) - 1)

/* The kinds of the frames that came back, by their first letters; '|' at the end of the stream. */
static const char *heard(void)
{
	static const char letters[] = "DHPRSXPGWC";
	static char text[64];
	uint8_t bytes[8192];
	ssize_t n = recv(fixture.here, bytes, sizeof bytes, 0);
	size_t len = 0;

	if (n > 4 && memcmp(bytes, "HTTP", 4) == 0) {
		snprintf(text, sizeof text, "%.12s", (const char *)bytes);
		return text;
	}
	for (ssize_t at = 0; at + 9 <= n && len < sizeof text - 2;
	     at += 9 + (bytes[at] << 16 | bytes[at + 1] << 8 | bytes[at + 2]))
		text[len++] = bytes[at + 3] < 10 ? letters[bytes[at + 3]] : '?';
	if (n == 0)
		text[len++] = '|';
	text[len] = '\0';
	return text;
}

static void a_question_is_answered_with_headers_and_data(void **state)
{
	(void)state;
	open_fixture(true, false);
	SAY(HTTP2_PREFACE SETTINGS REQUEST("\1") REQUEST("\3"));
	assert_string_equal(heard(), "SSHHDD");
	assert_int_equal(fixture.taken, 2);
	close_fixture();
}

static void answers_may_come_later_and_for_clients_that_are_gone(void **state)
{
	static const uint8_t answer[12] = { 0, 0, 0x81 };

	(void)state;
	open_fixture(true, false);
	fixture.puts_off = true;
	SAY(HTTP2_PREFACE SETTINGS REQUEST("\1") REQUEST("\3") REQUEST("\5"));
	assert_string_equal(heard(), "SS");
	SAY("\0\0\4\3\0\0\0\0\3\0\0\0\x08"); /* the second is taken back */
	while (fixture.waiting > 1) {
		struct client c = fixture.later[--fixture.waiting];

		c.ops->reply(&c, answer, sizeof answer);
	}
	run_for(fixture.loop, 5);
	assert_string_equal(heard(), "HD");
	close(fixture.here);
	run_for(fixture.loop, 5);
	fixture.later[0].ops->reply(&fixture.later[0], answer, sizeof answer);
	fixture.waiting = 0;
	run_for(fixture.loop, 5);
	assert_int_equal(listen_tcp_count(fixture.tcp), 0);
	fixture.here = -1;
	close_fixture();
}

/* Its bytes are those that were given, whatever came before. */
static void a_late_answer_is_told_as_it_was_given(void **state)
{
	static const uint8_t answer[12] = { 0, 0, 0x81, 0x80, 0, 1, 2, 3, 4, 5, 6, 7 };
	uint8_t bytes[256];
	ssize_t n;

	(void)state;
	open_fixture(true, false);
	fixture.puts_off = true;
	SAY(HTTP2_PREFACE SETTINGS REQUEST("\1"));
	assert_string_equal(heard(), "SS");
	fixture.later[0].ops->reply(&fixture.later[0], answer, sizeof answer);
	fixture.waiting = 0;
	run_for(fixture.loop, 5);
	n = recv(fixture.here, bytes, sizeof bytes, 0);
	assert_true(n > (ssize_t)sizeof answer);
	assert_memory_equal(bytes + n - sizeof answer, answer, sizeof answer);
	close_fixture();
}

/* What was gathered for one connection goes to no other, of another protocol at that. */
static void an_answer_over_https_is_not_told_over_tcp(void **state)
{
	static const char question[] = "\0\14" "\0\7\1\0\0\1\0\0\0\0\0\0";
	uint8_t bytes[256];
	int mine, ends[2];

	(void)state;
	open_fixture(true, false);
	SAY(HTTP2_PREFACE SETTINGS REQUEST("\1") REQUEST("\3"));
	assert_string_equal(heard(), "SSHHDD");
	connect_ends(ends);
	listen_tcp_take(fixture.tcp, ends[1],
			&(struct arrival){ .from = { .family = 4, .ip = { 192, 0, 2, 2 } }, .service = SERVICE_DNS });
	mine = fixture.here;
	fixture.here = ends[0];
	SAY(question);
	assert_int_equal(recv(fixture.here, bytes, sizeof bytes, 0), sizeof question - 1);
	assert_memory_equal(bytes, question, sizeof question - 1);
	close(ends[0]);
	fixture.here = mine;
	close_fixture();
}

/* So long may the head of an HTTP/1 request be until it is told that this is none. */
static void an_old_request_has_a_head_of_limited_length(void **state)
{
	(void)state;
	for (size_t len = 8191; len <= 8192; len++) {
		char head[8193] = "GET / HTTP/1.1\r\nX: ";

		memset(head + strlen(head), 'x', len - strlen(head));
		open_fixture(true, false);
		say(head, len);
		assert_string_equal(heard(), len < 8192 ? "" : "HTTP/1.1 505");
		close_fixture();
	}
}

/* A question that is dropped resets its stream, at once or later, also while another one is taken; the connection goes on. */
static void a_question_that_is_dropped_resets_its_stream(void **state)
{
	struct client later;

	(void)state;
	open_fixture(true, false);
	SAY(HTTP2_PREFACE SETTINGS);
	assert_string_equal(heard(), "SS");
	fixture.drops = true;
	SAY(REQUEST("\1"));
	assert_string_equal(heard(), "R");
	fixture.drops = false;
	fixture.puts_off = true;
	SAY(REQUEST("\3") REQUEST("\5"));
	assert_string_equal(heard(), "");
	later = fixture.later[--fixture.waiting];
	later.ops->drop(&later);
	run_for(fixture.loop, 5);
	assert_string_equal(heard(), "R");
	fixture.puts_off = false;
	fixture.drops = true;
	SAY(REQUEST("\7")); /* taken; stream 3 is dropped meanwhile */
	assert_string_equal(heard(), "RHD");
	fixture.drops = false;
	SAY(REQUEST("\x9"));
	assert_string_equal(heard(), "HD");
	assert_int_equal(listen_tcp_count(fixture.tcp), 1);
	close_fixture();
}

static void leave(void *taker, struct list *on_connection,
		  bool (*is)(const struct client *c, const void *arg), const void *arg)
{
	struct fixture *h = taker;

	for (unsigned i = 0; i < h->waiting; i++) {
		struct client c = h->later[i];

		assert_ptr_equal(on_connection, c.ops->waiting(&c));
		if (!is(&c, arg))
			continue;
		h->later[i] = h->later[--h->waiting];
		c.ops->drop(&c);
		h->left++;
		return;
	}
}

static void a_stream_that_is_reset_takes_its_question_back(void **state)
{
	static const uint8_t answer[12] = { 0, 0, 0x81 };

	(void)state;
	open_fixture(true, false);
	listen_tcp_on_leave(fixture.tcp, leave);
	fixture.puts_off = true;
	SAY(HTTP2_PREFACE SETTINGS REQUEST("\1") REQUEST("\3") REQUEST("\5"));
	assert_string_equal(heard(), "SS");
	SAY("\0\0\4\3\0\0\0\0\3\0\0\0\x08");
	assert_int_equal(fixture.left, 1);
	assert_int_equal(fixture.waiting, 2);
	SAY("\0\0\4\3\0\0\0\0\3\0\0\0\x08");
	assert_int_equal(fixture.left, 1);
	while (fixture.waiting) {
		struct client c = fixture.later[--fixture.waiting];

		c.ops->reply(&c, answer, sizeof answer);
	}
	run_for(fixture.loop, 5);
	assert_string_equal(heard(), "HDHD");
	close_fixture();
}

static void beginnings_are_told_apart(void **state)
{
	(void)state;
	static const struct {
		const char *why, *bytes;
		size_t len;
		const char *heard; /* at once */
	} rows[] = {
#define ROW(why, text, heard) { why, text, sizeof(text) - 1, heard }
		ROW("HTTP/2", HTTP2_PREFACE SETTINGS, "SS"),
		ROW("a part of its preface", "PRI * HTTP/2.0\r\n", ""),
		ROW("HTTP/1, whole", "GET / HTTP/1.1\r\nHost: a\r\n\r\n", "HTTP/1.1 505"),
		ROW("HTTP/1, a part", "GET / HTTP/1.1\r\n", ""),
		ROW("a method and nothing else", "OPTIONS", ""),
		ROW("a method in small letters", "get / HTTP/1.1\r\n\r\n", "HTTP/1.1 505"),
		ROW("one with the ends of the alphabet", "AZaz-M / HTTP/1.1\r\n\r\n", "HTTP/1.1 505"),
		ROW("one with more than letters", "GE{T / HTTP/1.1\r\n\r\n", "|"),
		ROW("one with less", "GE@T / HTTP/1.1\r\n\r\n", "|"),
		ROW("one between the cases", "GE[T / HTTP/1.1\r\n\r\n", "|"),
		ROW("one before the small letters", "GE`T / HTTP/1.1\r\n\r\n", "|"),
		ROW("no method", " / HTTP/1.1\r\n\r\n", "|"),
		ROW("the longest method", "ABCDEFGHIJKLMNOP / HTTP/1.1\r\n\r\n", "HTTP/1.1 505"),
		ROW("a longer one", "ABCDEFGHIJKLMNOPQ / HTTP/1.1\r\n\r\n", "|"),
		ROW("TLS", "\x16\x03\x01\x02\0", "|"),
		ROW("DNS over TCP", "\0\x0c\0\0\1\0\0\1\0\0\0\0\0\0", "|"),
		ROW("a preface that ends otherwise", "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\r",
		    "HTTP/1.1 505"),
#undef ROW
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		const char *got;

		open_fixture(true, false);
		say(rows[i].bytes, rows[i].len);
		got = heard();
		if (strcmp(got, rows[i].heard) != 0)
			fail_msg("%s: '%s', not '%s'", rows[i].why, got, rows[i].heard);
		run_for(fixture.loop, 400); /* nobody may stay without asking */
		assert_int_equal(listen_tcp_count(fixture.tcp), 0);
		close_fixture();
	}
}

static void a_proxy_says_for_whom_it_is(void **state)
{
	static const char bytes[] = HEADER_V4 HTTP2_PREFACE SETTINGS REQUEST("\1");
	struct listen_tcp_limits limits = plenty;

	(void)state;
	limits.idle_ms = 10000; /* a busy machine takes longer than 300 ms for the most pieces */
	for (size_t piece = 7; piece < sizeof bytes; piece += 19) {
		begin_fixture(&limits);
		connect_from(1, true);
		for (size_t at = 0; at < sizeof bytes - 1; at += piece)
			say(bytes + at, MIN(piece, sizeof bytes - 1 - at));
		assert_int_equal(fixture.taken, 1);
		assert_string_equal(fixture.from, "198.51.100.7@4711");
		close_fixture();
	}
	open_fixture(true, true);
	SAY(HTTP2_PREFACE SETTINGS);
	assert_int_equal(listen_tcp_count(fixture.tcp), 0);
	close_fixture();
}

static void nodelay_is_as_configured(void **state)
{
	(void)state;
	for (unsigned nodelay = 0; nodelay < 2; nodelay++) {
		int got = 7;
		socklen_t len = sizeof got;

		open_fixture(nodelay, false);
		assert_int_equal(getsockopt(fixture.there, IPPROTO_TCP, TCP_NODELAY, &got, &len), 0);
		assert_int_equal(got != 0, nodelay);
		close_fixture();
	}
}

#ifdef TCP_QUICKACK
/* A client that leaves Nagle's algorithm on has sent the beginning of a request, and holds back the rest until that is
 * acknowledged. Answers to what came before have made the kernel delay acknowledgements, to send them with the next one. */
static void a_part_of_a_request_is_acknowledged_at_once(void **state)
{
	int quick = 7;
	socklen_t len = sizeof quick;

	(void)state;
	open_fixture(true, false);
	SAY(HTTP2_PREFACE SETTINGS REQUEST("\1"));
	SAY(REQUEST("\3"));
	SAY(REQUEST("\5"));
	SAY(REQUEST("\7"));
	assert_int_equal(fixture.taken, 4);
	assert_int_equal(getsockopt(fixture.there, IPPROTO_TCP, TCP_QUICKACK, &quick, &len), 0);
	assert_int_equal(quick, 0);
	SAY("\0\0\x23\1");
	assert_int_equal(getsockopt(fixture.there, IPPROTO_TCP, TCP_QUICKACK, &quick, &len), 0);
	assert_int_equal(quick, 1);
	close_fixture();
}
#endif

/* ---- what all clients share ---- */

#define NO_WINDOW       "\0\0\6\4\0\0\0\0\0\0\4\0\0\0\0"
#define POST_BLOCK      "\x83\x87\x04\2/q\x41\1b\x0f\x10\x17" "application/dns-message"
#define POST            "\0\0\x23\1\4\0\0\0\1" POST_BLOCK

/* A piece of a request's body. */
static void say_data(size_t len, bool last)
{
	uint8_t frame[9 + 16384] = { 0, (uint8_t)(len >> 8), (uint8_t)len, 0, last, 0, 0, 0, 1 };

	say(frame, 9 + len);
}

/* Connects, and has that many bytes kept: of a question without its end, or of answers. */
static void hold(uint8_t who, bool answers, size_t len)
{
	connect_from(who, false);
	if (!answers) {
		SAY(HTTP2_PREFACE SETTINGS POST);
		say_data(len / 2, false);
		say_data(len / 2, false);
		return;
	}
	SAY(HTTP2_PREFACE NO_WINDOW);
	for (char stream = 1; len; stream += 2, len -= 12) {
		char request[] = REQUEST("\1");

		request[8] = stream;
		say(request, sizeof request - 1);
	}
}

/* Of all connections: what has come of questions, and what has not gone of answers. */
static void what_is_kept_is_counted(void **state)
{
	(void)state;
	for (unsigned answers = 0; answers < 2; answers++) {
		struct listen_tcp_limits limits = plenty;
		size_t receiving, sending;

		limits.idle_ms = 5000;
		begin_fixture(&limits);
		assert_int_equal(listen_tcp_http_receiving(fixture.tcp), 0);
		assert_int_equal(listen_tcp_http_sending(fixture.tcp), 0);
		hold(1, answers, 48);
		receiving = listen_tcp_http_receiving(fixture.tcp);
		sending = listen_tcp_http_sending(fixture.tcp);
		if (answers ? receiving >= 48 || sending < 48 : receiving < 48 || sending >= 48)
			fail_msg("%u: %zu, %zu", answers, receiving, sending);
		close_fixture();
	}
}

/* Who waits for an answer may; but not who takes none of those there are, or has sent a part of another question. */
static void who_takes_no_answer_does_not_stay_for_another(void **state)
{
	(void)state;
	for (unsigned how = 0; how < 3; how++) {
		open_fixture(true, false);
		if (how == 1)
			SAY(HTTP2_PREFACE NO_WINDOW REQUEST("\1"));
		else
			SAY(HTTP2_PREFACE SETTINGS REQUEST("\1"));
		fixture.puts_off = true;
		SAY(REQUEST("\3"));
		assert_int_equal(fixture.waiting, 1);
		if (how == 2)
			SAY("\0\0\x23\1\4\0\0\0\5" POST_BLOCK);
		run_for(fixture.loop, 400);
		if (listen_tcp_count(fixture.tcp) != (how == 0))
			fail_msg("%u: %u connections", how, listen_tcp_count(fixture.tcp));
		close_fixture();
	}
}

/* Whoever comes last, and has little kept, does not pay for those who have much. */
static void the_http_connection_with_most_buffered_data_is_closed(void **state)
{
	(void)state;
	enum { MANY = 5, COMES = 1, LIMIT = 120 };
	static const struct {
		const char *why;
		struct {
			uint8_t who, len;
		} hogs[MANY];
		const char *cut; /* which of these connections */
		bool served;     /* who comes with twelve bytes */
	} rows[] = {
		{ "there is room for all", { { 2, 96 } }, "-", true },
		{ "another has most", { { 2, 120 } }, "x", true },
		{ "another has most, on several connections",
		  { { 2, 36 }, { 3, 48 }, { 2, 24 }, { 4, 12 } }, "x---", true },
		{ "it has most itself", { { 2, 48 }, { COMES, 72 } }, "--", false },
	};

	for (unsigned i = 0; i < 2 * COUNT(rows); i++) {
		unsigned at = i / 2, count = 0;
		bool answers = i % 2;
		struct listen_tcp_limits limits = plenty;
		int ends[MANY];
		char got[MANY + 1] = "";
		const char *heard_last, *served;

		limits.idle_ms = 5000;
		while (rows[at].hogs[count].who)
			count++;
		/* each question is one stream, each twelve bytes of answers another */
		limits.http_query_bytes = LIMIT + (count + 1) * HTTP2_STREAM;
		limits.http_answer_bytes = LIMIT + LIMIT / 12 * HTTP2_STREAM;
		begin_fixture(&limits);
		for (count = 0; rows[at].hogs[count].who; count++) {
			hold(rows[at].hogs[count].who, answers, rows[at].hogs[count].len);
			(void)heard();
			ends[count] = fixture.here;
		}
		hold(COMES, answers, 12);
		if (answers)
			SAY("\0\0\4\x08\0\0\0\0\1\0\0\0\x0c");
		else
			say_data(0, true);
		heard_last = heard();
		served = rows[at].served ? "SSHD" : "SSHR";
		if (strcmp(heard_last, served) != 0)
			fail_msg("%s, %s: '%s', not '%s'", answers ? "answers" : "questions",
				 rows[at].why, heard_last, served);
		for (unsigned k = 0; k < count; k++) {
			int mine = fixture.here;

			fixture.here = ends[k];
			got[k] = strchr(heard(), '|') ? 'x' : '-';
			close(ends[k]);
			fixture.here = mine;
		}
		if (strcmp(got, rows[at].cut) != 0)
			fail_msg("%s, %s: '%s', not '%s'", answers ? "answers" : "questions",
				 rows[at].why, got, rows[at].cut);
		close_fixture();
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_question_is_answered_with_headers_and_data),
		cmocka_unit_test(answers_may_come_later_and_for_clients_that_are_gone),
		cmocka_unit_test(a_late_answer_is_told_as_it_was_given),
		cmocka_unit_test(an_answer_over_https_is_not_told_over_tcp),
		cmocka_unit_test(an_old_request_has_a_head_of_limited_length),
		cmocka_unit_test(a_question_that_is_dropped_resets_its_stream),
		cmocka_unit_test(what_is_kept_is_counted),
		cmocka_unit_test(who_takes_no_answer_does_not_stay_for_another),
		cmocka_unit_test(a_stream_that_is_reset_takes_its_question_back),
		cmocka_unit_test(beginnings_are_told_apart),
		cmocka_unit_test(a_proxy_says_for_whom_it_is),
		cmocka_unit_test(nodelay_is_as_configured),
#ifdef TCP_QUICKACK
		cmocka_unit_test(a_part_of_a_request_is_acknowledged_at_once),
#endif
		cmocka_unit_test(the_http_connection_with_most_buffered_data_is_closed),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
