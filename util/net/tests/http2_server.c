/* Claims about HTTP/2 on the side that is asked: requests, answers, budgets, and who is over.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "util/net/http2_server.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

#include "util/base/mem.h"
#include "util/base/timebase.h"

enum { DATA, HEADERS, PRIORITY, RESET, SETTINGS, PUSH, PING, GOAWAY, WINDOW, CONTINUATION };
enum { END = 1, HEAD_END = 4 };

/* :method GET, :scheme https, :path /a, :authority b (RFC 7541 6) */
#define GET  "\x82\x87\x04\2/a\x41\1b"
#define POST "\x83\x87\x04\2/a\x41\1b\x0f\x10\3x/y"

static struct fixture {
	struct http2_shared *fixture;
	struct http2_server *server;
	char heard[4096]; /* requests, as text */
	char said[65536]; /* frames that went out, as text */
	bool answers;     /* at once, with what the body was */
	bool reads_nothing;        /* takes no bytes */
	uint64_t now_us;
} h;

static void note(char *to, size_t room, const char *text)
{
	size_t len = strlen(to);

	snprintf(to + len, room - len, "%s%s", len ? " " : "", text);
}

static void on_request(void *arg, struct http2_request *r)
{
	char text[256];

	snprintf(text, sizeof text, "%d:%d%.*s[%.*s]%.*s%s", (int)r->stream, (int)r->method,
		 (int)r->path_len, (const char *)r->path, (int)r->type.len,
		 (const char *)r->type.at, (int)MIN(r->body.len, (size_t)20),
		 (const char *)r->body.at, r->refused ? "!" : "");
	note(h.heard, sizeof h.heard, text);
	if (r->refused)
		http2_server_answer(h.server, r->stream,
				    &(struct http2_answer){ .status = r->refused }, true);
	else if (h.answers)
		http2_server_answer(h.server, r->stream,
				    &(struct http2_answer){ .status = 200,
							    .type = "x/y",
							    .body = r->body,
							    .fresh = true,
							    .age_s = 77 },
				    true);
	assert_ptr_equal(arg, &h);
}

static void on_reset(void *arg, int32_t stream)
{
	char text[16];

	assert_ptr_equal(arg, &h);
	snprintf(text, sizeof text, "-%d", (int)stream);
	note(h.heard, sizeof h.heard, text);
}

static bool on_send(void *arg, const uint8_t *const parts[2], const size_t lens[2])
{
	static const char *const names[] = {
		"data", "headers", "priority", "reset",  "settings",
		"push", "ping",    "goaway",   "window", "continuation"
	};
	const uint8_t *f = parts[0];
	char text[64];

	(void)arg;
	if (h.reads_nothing)
		return false;
	assert_true(lens[0] >= 9 && f[3] < COUNT(names));
	snprintf(text, sizeof text, "%s:%u%s%s%.*s", names[f[3]], (unsigned)get_u32(f + 5),
		 f[3] <= HEADERS && f[4] & END ? "." : "", lens[1] ? "=" : "",
		 (int)MIN(lens[1], (size_t)20), lens[1] ? (const char *)parts[1] : "");
	note(h.said, sizeof h.said, text);
	return true;
}

static const struct http2_limits usual = {
	.streams = 10,
	.body_most = 1000,
	.kept_most = { 2000 + 4 * HTTP2_STREAM, 2000 + 2 * HTTP2_STREAM }
};

static void open_fixture(const struct http2_limits *limits)
{
	static const struct http2_ops ops = { .request = on_request,
					    .reset = on_reset,
					    .send = on_send };

	memset(&h, 0, sizeof h);
	h.fixture = http2_shared_new(limits, &ops);
	h.server = http2_server_new(h.fixture, &h);
}

static void close_fixture(void)
{
	http2_server_free(h.server);
	assert_int_equal(http2_shared_kept(h.fixture, HTTP2_RECEIVING), 0);
	assert_int_equal(http2_shared_kept(h.fixture, HTTP2_SENDING), 0);
	http2_shared_free(h.fixture);
}

static bool give(const void *bytes, size_t len)
{
	return http2_server_take(h.server, bytes, len, h.now_us);
}

static bool frame(unsigned type, unsigned flags, uint32_t stream, const void *payload, size_t len)
{
	uint8_t bytes[9 + 4096] = { 0, (uint8_t)(len >> 8), (uint8_t)len, (uint8_t)type,
				    (uint8_t)flags };

	put_u32(bytes + 5, stream);
	if (len)
		memcpy(bytes + 9, payload, len);
	return give(bytes, 9 + len);
}

static bool ask(unsigned type, unsigned flags, uint32_t stream, const char *text)
{
	return frame(type, flags, stream, text, strlen(text));
}

static void greet(void)
{
	assert_true(give(HTTP2_PREFACE, HTTP2_PREFACE_LEN));
	assert_true(frame(SETTINGS, 0, 0, "", 0));
	assert_true(http2_server_flush(h.server));
	h.said[0] = '\0';
}

static void a_request_is_handed_over_once_it_is_whole(void **state)
{
	(void)state;
	open_fixture(&usual);
	greet();
	ask(HEADERS, HEAD_END | END, 1, GET);
	assert_string_equal(h.heard, "1:1/a[]");
	ask(HEADERS, HEAD_END, 3, POST);
	ask(DATA, END, 3, "all of it");
	assert_string_equal(h.heard, "1:1/a[] 3:2/a[x/y]all of it");
	h.heard[0] = '\0';
	ask(HEADERS, HEAD_END, 5, POST);
	ask(DATA, 0, 5, "a part ");
	assert_int_equal(http2_server_receiving(h.server), 1);
	assert_true(http2_shared_kept(h.fixture, HTTP2_RECEIVING) >= 7);
	ask(HEADERS, END, 7, "\x82\x87\x04");
	assert_string_equal(h.heard, "");
	ask(CONTINUATION, HEAD_END, 7, "\2/a\x41\1b");
	assert_string_equal(h.heard, "7:1/a[]");
	ask(DATA, END, 5, "and more");
	assert_string_equal(h.heard, "7:1/a[] 5:2/a[x/y]a part and more");
	assert_int_equal(http2_server_receiving(h.server), 0);
	close_fixture();
}

/* A byte at a time it is the same. */
static void input_in_pieces_reads_the_same(void **state)
{
	static const char body[] = "\0\0\5\0\1\0\0\0\1hello";
	static const char head[] = "\0\0\x0f\1\4\0\0\0\1" POST;

	(void)state;
	open_fixture(&usual);
	greet();
	for (size_t i = 0; i < sizeof head - 1; i++)
		assert_true(give(head + i, 1));
	for (size_t i = 0; i < sizeof body - 1; i++)
		assert_true(give(body + i, 1));
	assert_string_equal(h.heard, "1:2/a[x/y]hello");
	close_fixture();
}

static void an_answer_goes_out_and_is_forgotten(void **state)
{
	(void)state;
	open_fixture(&usual);
	h.answers = true;
	greet();
	ask(HEADERS, HEAD_END, 1, POST);
	ask(DATA, END, 1, "echo");
	assert_int_equal(http2_server_sending(h.server), 1);
	assert_true(http2_server_flush(h.server));
	assert_string_equal(h.said, "headers:1 data:1.=echo");
	assert_int_equal(http2_server_sending(h.server), 0);
	/* a second answer, one to nobody, and a late refusal change nothing */
	http2_server_answer(h.server, 1, &(struct http2_answer){ .status = 200 }, true);
	http2_server_answer(h.server, 99, &(struct http2_answer){ .status = 200 }, true);
	http2_server_drop(h.server, 1);
	assert_true(http2_server_flush(h.server));
	assert_string_equal(h.said, "headers:1 data:1.=echo");
	close_fixture();
}

static void who_takes_a_request_back_gets_no_answer(void **state)
{
	(void)state;
	open_fixture(&usual);
	greet();
	ask(HEADERS, HEAD_END | END, 1, GET);
	frame(RESET, 0, 1, "\0\0\0\x08", 4);
	http2_server_answer(h.server, 1, &(struct http2_answer){ .status = 200 }, true);
	assert_true(http2_server_flush(h.server));
	assert_string_equal(h.said, "");
	close_fixture();
}

static void too_much_is_refused_at_once(void **state)
{
	char piece[601];

	(void)state;
	memset(piece, 'x', 600);
	piece[600] = '\0';
	open_fixture(&usual);
	greet();
	ask(HEADERS, HEAD_END, 1, POST);
	ask(DATA, 0, 1, piece);
	ask(DATA, 0, 1, piece); /* more than a body may have */
	assert_string_equal(h.heard, "1:2/a[x/y]xxxxxxxxxxxxxxxxxxxx!");
	assert_true(http2_server_flush(h.server));
	assert_string_equal(h.said, "headers:1. reset:1");
	h.heard[0] = '\0';
	for (uint32_t stream = 3; stream <= 9; stream += 2) {
		ask(HEADERS, HEAD_END, stream, POST);
		ask(DATA, 0, stream, piece);
	}
	/* more than all may have together: the last one is told so */
	assert_string_equal(h.heard, "9:2/a[x/y]!");
	assert_true(http2_shared_kept(h.fixture, HTTP2_RECEIVING) <= usual.kept_most[HTTP2_RECEIVING]);
	close_fixture();
}

static void what_has_only_begun_counts(void **state)
{
	struct http2_limits three = usual;

	(void)state;
	three.kept_most[HTTP2_RECEIVING] = 3 * HTTP2_STREAM + 100;
	open_fixture(&three);
	h.answers = true;
	greet();
	for (uint32_t stream = 1; stream <= 7; stream += 2)
		ask(HEADERS, HEAD_END, stream, POST);
	assert_int_equal(http2_shared_kept(h.fixture, HTTP2_RECEIVING), 3 * HTTP2_STREAM);
	assert_true(http2_server_flush(h.server));
	assert_string_equal(h.said, "reset:7");
	h.said[0] = '\0';
	/* what is not there gets no answer, and who has ended makes room */
	ask(DATA, END, 7, "no");
	ask(DATA, END, 1, "yes");
	ask(HEADERS, HEAD_END, 9, POST);
	ask(DATA, END, 9, "too");
	assert_true(http2_server_flush(h.server));
	assert_string_equal(h.said, "headers:1 headers:9 data:1.=yes data:9.=too");
	assert_int_equal(http2_server_receiving(h.server), 2);
	close_fixture();
}

/* Neither answers without a body, nor what little else is in others. */
static void what_waits_to_be_sent_counts_though_it_is_little(void **state)
{
	struct http2_limits three = usual;

	(void)state;
	three.kept_most[HTTP2_SENDING] = 3 * HTTP2_STREAM + 100;
	open_fixture(&three);
	h.answers = true;
	greet();
	h.reads_nothing = true;
	for (uint32_t stream = 1; stream <= 7; stream += 2)
		ask(HEADERS, HEAD_END | END, stream, GET);
	assert_true(http2_server_flush(h.server));
	assert_int_equal(http2_shared_kept(h.fixture, HTTP2_SENDING), 3 * HTTP2_STREAM);
	h.reads_nothing = false;
	assert_true(http2_server_flush(h.server));
	assert_string_equal(h.said, "headers:1. headers:3. headers:5. reset:7");
	close_fixture();
}

static void what_cannot_be_sent_has_a_bound(void **state)
{
	char body[901];

	(void)state;
	memset(body, 'x', 900);
	body[900] = '\0';
	open_fixture(&usual);
	h.answers = true;
	greet();
	frame(SETTINGS, 0, 0, "\0\4\0\0\0\0", 6); /* windows of nothing */
	for (uint32_t stream = 1; stream <= 7; stream += 2) {
		ask(HEADERS, HEAD_END, stream, POST);
		ask(DATA, END, stream, body);
	}
	assert_true(http2_server_flush(h.server));
	assert_int_equal(http2_shared_kept(h.fixture, HTTP2_SENDING), 2 * (900 + HTTP2_STREAM));
	assert_int_equal(http2_server_sending(h.server), 2);
	assert_non_null(strstr(h.said, "reset:5"));
	assert_non_null(strstr(h.said, "reset:7"));
	h.said[0] = '\0';
	frame(WINDOW, 0, 1, "\0\0\x10\0", 4);
	assert_true(http2_server_flush(h.server));
	assert_string_equal(h.said, "data:1.=xxxxxxxxxxxxxxxxxxxx");
	assert_int_equal(http2_shared_kept(h.fixture, HTTP2_SENDING), 900 + HTTP2_STREAM);
	close_fixture();
}

static void what_is_taken_back_is_told_while_it_is_worked_on(void **state)
{
	(void)state;
	open_fixture(&usual);
	greet();
	ask(HEADERS, HEAD_END | END, 1, GET);
	ask(HEADERS, HEAD_END | END, 3, GET);
	ask(HEADERS, HEAD_END, 5, POST); /* not whole */
	assert_string_equal(h.heard, "1:1/a[] 3:1/a[]");
	h.heard[0] = '\0';
	frame(RESET, 0, 1, "\0\0\0\x08", 4);
	frame(RESET, 0, 5, "\0\0\0\x08", 4);
	assert_string_equal(h.heard, "-1");
	/* and what comes all the same goes nowhere */
	http2_server_drop(h.server, 1);
	http2_server_answer(h.server, 1, &(struct http2_answer){ .status = 200 }, true);
	http2_server_answer(h.server, 3, &(struct http2_answer){ .status = 200 }, true);
	frame(RESET, 0, 3, "\0\0\0\x08", 4);
	assert_string_equal(h.heard, "-1");
	h.said[0] = '\0';
	assert_true(http2_server_flush(h.server));
	assert_string_equal(h.said, "");
	close_fixture();
}

static void an_http2_client_of_too_much_overhead_is_closed(void **state)
{
	(void)state;
	static const struct {
		const char *why;
		unsigned type, flags;
		uint32_t stream;
		const char *payload;
		size_t len;
		unsigned most; /* as many at least, and not twice as many */
	} rows[] = {
		{ "pings", PING, 0, 0, "12345678", 8, 90 },
		{ "answers to pings", PING, 1, 0, "12345678", 8, 900 },
		{ "settings", SETTINGS, 0, 0, "", 0, 90 },
		{ "windows", WINDOW, 0, 0, "\0\0\0\1", 4, 900 },
		{ "priorities", PRIORITY, 0, 9, "\0\0\0\0\1", 5, 900 },
		{ "what nobody knows", 0x66, 0, 0, "x", 1, 900 },
		{ "resets", RESET, 0, 1, "\0\0\0\x08", 4, 90 },
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		unsigned n = 0;

		open_fixture(&usual);
		greet();
		ask(HEADERS, HEAD_END | END, 1, GET);
		h.reads_nothing = rows[i].most < 100;
		while (n < 3000 && frame(rows[i].type, rows[i].flags, rows[i].stream,
					 rows[i].payload, rows[i].len))
			n++;
		if (n < rows[i].most || n > rows[i].most * 2)
			fail_msg("%s: %u", rows[i].why, n);
		h.reads_nothing = false;
		assert_false(http2_server_flush(h.server));
		assert_non_null(strstr(h.said, "goaway"));
		close_fixture();
	}
}

static void a_new_period_begins_anew(void **state)
{
	(void)state;
	open_fixture(&usual);
	greet();
	for (unsigned period = 0; period < 5; period++) {
		for (unsigned i = 0; i < 900; i++)
			assert_true(frame(PING, 1, 0, "12345678", 8));
		h.now_us += 11 * US_PER_S;
	}
	close_fixture();
}

static void a_header_block_has_an_end(void **state)
{
	uint8_t block[4000] = { 0 };
	unsigned n = 0;

	(void)state;
	open_fixture(&usual);
	greet();
	ask(HEADERS, END, 1, GET);
	while (n < 100 && frame(CONTINUATION, 0, 1, block, sizeof block))
		n++;
	assert_in_range(n, 1, 9);
	close_fixture();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_request_is_handed_over_once_it_is_whole),
		cmocka_unit_test(input_in_pieces_reads_the_same),
		cmocka_unit_test(an_answer_goes_out_and_is_forgotten),
		cmocka_unit_test(who_takes_a_request_back_gets_no_answer),
		cmocka_unit_test(too_much_is_refused_at_once),
		cmocka_unit_test(what_has_only_begun_counts),
		cmocka_unit_test(what_waits_to_be_sent_counts_though_it_is_little),
		cmocka_unit_test(what_cannot_be_sent_has_a_bound),
		cmocka_unit_test(what_is_taken_back_is_told_while_it_is_worked_on),
		cmocka_unit_test(an_http2_client_of_too_much_overhead_is_closed),
		cmocka_unit_test(a_new_period_begins_anew),
		cmocka_unit_test(a_header_block_has_an_end),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
