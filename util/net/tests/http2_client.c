/* Claims about asking over HTTP/2: what becomes of requests, whatever the server does.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "util/net/http2_client.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>
#include <nghttp2/nghttp2.h>

enum { ASKED = 8 };

static struct told {
	unsigned times;
	struct http2_answer answer;
	char body[64];
} told[ASKED];

/* The other side, by the library's own server half. */
static struct {
	nghttp2_session *session;
	int32_t streams[ASKED];
	unsigned count;
	char type[64], path[64], agent[64], posted[64];
	const char *body;
	size_t sent;
} server;

static struct http2_client *client;
static uint64_t now_us;

static void on_ended(void *owner, void *of, const struct http2_answer *a)
{
	struct told *t = of;

	assert_ptr_equal(owner, told);
	t->times++;
	t->answer = *a;
	memcpy(t->body, a->body ? (const char *)a->body : "", MIN(a->len, sizeof t->body));
}

static int on_header(nghttp2_session *s, const nghttp2_frame *frame, const uint8_t *name,
		     size_t name_len, const uint8_t *value, size_t value_len, uint8_t flags,
		     void *arg)
{
	const char *n = (const char *)name;
	char *to = strcmp(n, "content-type") == 0 ? server.type
		   : strcmp(n, ":path") == 0      ? server.path
		   : strcmp(n, "user-agent") == 0 ? server.agent
						  : NULL;

	(void)s, (void)frame, (void)name_len, (void)flags, (void)arg;
	if (to)
		snprintf(to, 64, "%.*s", (int)value_len, (const char *)value);
	return 0;
}

static int on_data(nghttp2_session *s, uint8_t flags, int32_t stream, const uint8_t *at, size_t len,
		   void *arg)
{
	(void)s, (void)flags, (void)stream, (void)arg;
	snprintf(server.posted, sizeof server.posted, "%.*s", (int)len, (const char *)at);
	return 0;
}

static int on_frame(nghttp2_session *s, const nghttp2_frame *frame, void *arg)
{
	(void)s, (void)arg;
	if (frame->hd.type == NGHTTP2_DATA && frame->hd.flags & NGHTTP2_FLAG_END_STREAM &&
	    server.count < ASKED)
		server.streams[server.count++] = frame->hd.stream_id;
	return 0;
}

static ssize_t read_body(nghttp2_session *s, int32_t stream, uint8_t *to, size_t room,
			 uint32_t *flags, nghttp2_data_source *source, void *arg)
{
	size_t n = MIN(room, strlen(server.body) - server.sent);

	(void)s, (void)stream, (void)source, (void)arg;
	memcpy(to, server.body + server.sent, n);
	server.sent += n;
	if (!server.body[server.sent])
		*flags |= NGHTTP2_DATA_FLAG_EOF;
	return (ssize_t)n;
}

/* What either side has to say, until there is nothing more. */
static bool talk(void)
{
	const uint8_t *at;
	bool good = true;
	size_t n;
	ssize_t m;

	do {
		while ((n = http2_client_write(client, &at)))
			assert_int_equal(nghttp2_session_mem_recv(server.session, at, n), n);
		while (good && (m = nghttp2_session_mem_send(server.session, &at)) > 0)
			good = http2_client_read(client, at, (size_t)m, now_us);
	} while (good && http2_client_has_to_write(client));
	return good;
}

static void begin(const char *agent, unsigned streams)
{
	nghttp2_session_callbacks *calls;
	nghttp2_settings_entry most = { NGHTTP2_SETTINGS_MAX_CONCURRENT_STREAMS, streams };

	memset(told, 0, sizeof told);
	memset(&server, 0, sizeof server);
	now_us = 0;
	assert_int_equal(nghttp2_session_callbacks_new(&calls), 0);
	nghttp2_session_callbacks_set_on_header_callback(calls, on_header);
	nghttp2_session_callbacks_set_on_data_chunk_recv_callback(calls, on_data);
	nghttp2_session_callbacks_set_on_frame_recv_callback(calls, on_frame);
	assert_int_equal(nghttp2_session_server_new(&server.session, calls, NULL), 0);
	nghttp2_session_callbacks_del(calls);
	nghttp2_submit_settings(server.session, 0, &most, streams ? 1 : 0);
	client = http2_client_new(&(struct http2_client_how){ .authority = "dns.test",
							      .path = "/ask",
							      .type = "a/b",
							      .agent = agent,
							      .answer_most = 16,
							      .ended = on_ended,
							      .owner = told });
}

static void end(void)
{
	nghttp2_session_del(server.session);
	http2_client_free(client);
}

static nghttp2_nv header(const char *name, const char *value)
{
	return (nghttp2_nv){ (uint8_t *)(uintptr_t)name, (uint8_t *)(uintptr_t)value, strlen(name),
			     strlen(value), NGHTTP2_NV_FLAG_NONE };
}

/* `age` may be NULL. */
static void answer_aged(int32_t stream, const char *status, const char *type, const char *age, const char *body)
{
	nghttp2_nv headers[] = { header(":status", status), header("content-type", type),
				 header("age", age ? age : "") };
	nghttp2_data_provider provider = { .read_callback = read_body };

	server.body = body;
	server.sent = 0;
	assert_int_equal(nghttp2_submit_response(server.session, stream, headers,
						 COUNT(headers) - (age ? 0 : 1), &provider), 0);
}

static void answer(int32_t stream, const char *status, const char *type, const char *body)
{
	answer_aged(stream, status, type, NULL, body);
}

static struct http2_request *post(unsigned i)
{
	return http2_client_post(client, "question", 8, &told[i]);
}

/* ---- claims ---- */

static void a_question_is_posted(void **state)
{
	(void)state;
	begin("me/1", 0);
	assert_non_null(post(0));
	assert_true(talk());
	assert_string_equal(server.posted, "question");
	assert_string_equal(server.type, "a/b");
	assert_string_equal(server.path, "/ask");
	assert_string_equal(server.agent, "me/1");
	end();
	begin(NULL, 0);
	assert_non_null(post(0));
	assert_true(talk());
	assert_string_equal(server.agent, "");
	end();
}

static void an_answer_is_what_the_server_makes_of_it(void **state)
{
	(void)state;
	static const struct {
		const char *why, *status, *type, *body;
		enum http2_end end;
		unsigned want;
		bool typed;
	} rows[] = {
		{ "all is well", "200", "a/b", "answer", HTTP2_WHOLE, 200, true },
		{ "with a parameter", "200", "A/b; q=1", "answer", HTTP2_WHOLE, 200, true },
		{ "another type", "200", "a/bc", "answer", HTTP2_WHOLE, 200, false },
		{ "an error", "503", "text/html", "sorry", HTTP2_WHOLE, 503, false },
		{ "just short enough", "200", "a/b", "0123456789abcdef", HTTP2_WHOLE, 200, true },
		{ "too long", "200", "a/b", "0123456789abcdef!", HTTP2_TOO_BIG, 200, true },
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		begin(NULL, 0);
		assert_non_null(post(0));
		assert_true(talk());
		answer(server.streams[0], rows[i].status, rows[i].type, rows[i].body);
		assert_true(talk());
		if (told[0].times != 1 || told[0].answer.end != rows[i].end ||
		    told[0].answer.status != rows[i].want || told[0].answer.typed != rows[i].typed)
			fail_msg("%s: %u times, end %d, status %u", rows[i].why, told[0].times,
				 (int)told[0].answer.end, told[0].answer.status);
		if (rows[i].end == HTTP2_WHOLE)
			assert_memory_equal(told[0].body, rows[i].body, told[0].answer.len);
		end();
	}
}

static void http_age_header_is_reported(void **state)
{
	static const struct {
		const char *age;
		uint32_t want_s;
	} rows[] = {
		{ NULL, 0 },
		{ "0", 0 },
		{ "250", 250 },
		{ "2147483648", INT32_MAX },
		{ "99999999999999999999999", INT32_MAX },
		{ "a while", 0 },
		{ "-1", 0 },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		begin(NULL, 0);
		assert_non_null(post(0));
		assert_true(talk());
		answer_aged(server.streams[0], "200", "a/b", rows[i].age, "x");
		assert_true(talk());
		assert_int_equal(told[0].times, 1);
		if (told[0].answer.age_s != rows[i].want_s)
			fail_msg("%s: %u", rows[i].age ? rows[i].age : "nothing", told[0].answer.age_s);
		end();
	}
}

static void answers_come_in_any_order(void **state)
{
	(void)state;
	begin(NULL, 0);
	for (unsigned i = 0; i < 3; i++)
		assert_non_null(post(i));
	assert_true(talk());
	assert_int_equal(server.count, 3);
	for (unsigned i = 3; i-- > 0;) {
		char body[] = { (char)('a' + i), 0 };

		answer(server.streams[i], "200", "a/b", body);
		assert_true(talk());
		assert_int_equal(told[i].times, 1);
		assert_memory_equal(told[i].body, body, 1);
	}
	end();
}

static void no_more_go_out_than_the_server_takes(void **state)
{
	(void)state;
	begin(NULL, 2);
	assert_true(talk());
	assert_int_equal(http2_client_width(client), 2);
	for (unsigned i = 0; i < 3; i++)
		assert_non_null(post(i));
	assert_true(talk());
	assert_int_equal(server.count, 2);
	answer(server.streams[0], "200", "a/b", "x");
	assert_true(talk());
	assert_int_equal(server.count, 3);
	end();
}

static void http2_refused_stream_counts_as_not_processed(void **state)
{
	(void)state;
	static const struct {
		const char *why;
		uint32_t error;
		enum http2_end end;
	} rows[] = {
		{ "refused", NGHTTP2_REFUSED_STREAM, HTTP2_UNDONE },
		{ "broken off", NGHTTP2_INTERNAL_ERROR, HTTP2_BROKEN },
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		begin(NULL, 0);
		assert_non_null(post(0));
		assert_true(talk());
		nghttp2_submit_rst_stream(server.session, 0, server.streams[0], rows[i].error);
		assert_true(talk());
		if (told[0].times != 1 || told[0].answer.end != rows[i].end)
			fail_msg("%s: %d", rows[i].why, (int)told[0].answer.end);
		end();
	}
}

static void who_takes_leave_answers_what_it_has_taken(void **state)
{
	(void)state;
	begin(NULL, 0);
	assert_non_null(post(0));
	assert_non_null(post(1));
	assert_true(talk());
	nghttp2_submit_goaway(server.session, 0, server.streams[0], 0, NULL, 0);
	assert_true(talk());
	assert_true(http2_client_is_leaving(client));
	assert_null(post(2));
	assert_int_equal(told[0].times, 0);
	assert_int_equal(told[1].times, 1);
	assert_int_equal(told[1].answer.end, HTTP2_UNDONE);
	answer(server.streams[0], "200", "a/b", "x");
	assert_false(talk()); /* and that was all */
	assert_int_equal(told[0].times, 1);
	assert_int_equal(told[0].answer.end, HTTP2_WHOLE);
	end();
}

static void what_is_dropped_is_told_nobody(void **state)
{
	struct http2_request *r;

	(void)state;
	begin(NULL, 0);
	r = post(0);
	http2_client_drop(client, r); /* before it has left */
	r = post(1);
	assert_true(talk());
	http2_client_drop(client, r);
	assert_non_null(post(2));
	assert_true(talk());
	answer(server.streams[server.count - 1], "200", "a/b", "x");
	assert_true(talk());
	assert_int_equal(told[0].times + told[1].times, 0);
	assert_int_equal(told[2].times, 1);
	end();
}

/* ---- floods (RFC 9113 10.5) ---- */

struct frame {
	const char *why;
	uint8_t type, flags;
	uint32_t stream;
	const char *payload;
	size_t len;
};

static const struct frame floods[] = {
	{ "DATA of no bytes", 0, 0, 1, "", 0 },
	{ "DATA of a byte, and padding", 0, 8, 1, NULL, 257 },
	{ "DATA of an answer long given up", 0, 0, 1, NULL, 1000 },
	{ "informational answers", 1, 4, 1, "\x08\x03\x31\x30\x33", 5 },
	{ "PRIORITY", 2, 0, 1, "\0\0\0\0\x10", 5 },
	{ "SETTINGS", 4, 0, 0, "", 0 },
	{ "SETTINGS that make and unmake windows", 4, 0, 0, "\0\x04\0\0\0\0", 6 },
	{ "SETTINGS acknowledged", 4, 1, 0, "", 0 },
	{ "PING", 6, 0, 0, "12345678", 8 },
	{ "PING acknowledged", 6, 1, 0, "12345678", 8 },
	{ "GOAWAY", 7, 0, 0, "\0\0\0\x01\0\0\0\0", 8 },
	{ "WINDOW_UPDATE", 8, 0, 0, "\0\0\0\x01", 4 },
	{ "a type nobody knows", 0x40, 0, 0, "", 0 },
	{ "a large one of those", 0x40, 0, 0, NULL, 16384 },
};

/* The head of an answer whose body is to follow. */
static void begin_answer(void)
{
	nghttp2_nv head[] = { header(":status", "200"), header("content-type", "a/b") };

	assert_int_equal(nghttp2_submit_headers(server.session, NGHTTP2_FLAG_NONE, server.streams[0], NULL,
						head, COUNT(head), NULL), 0);
	assert_true(talk());
}

/* How many such frames it takes, one by one, each answered at once; `most`: that is no end. */
static unsigned flood_with(const struct frame *f, unsigned most, uint64_t apart_us)
{
	static uint8_t bytes[9 + 16384];
	const uint8_t *at;

	memset(bytes, 0, sizeof bytes);
	bytes[0] = (uint8_t)(f->len >> 16);
	bytes[1] = (uint8_t)(f->len >> 8);
	bytes[2] = (uint8_t)f->len;
	bytes[3] = f->type;
	bytes[4] = f->flags;
	bytes[8] = (uint8_t)f->stream;
	if (f->payload)
		memcpy(bytes + 9, f->payload, f->len);
	else if (f->flags & 8)
		bytes[9] = 255;
	for (unsigned n = 1; n <= most; n++, now_us += apart_us) {
		if (!http2_client_read(client, bytes, 9 + f->len, now_us))
			return n;
		while (http2_client_write(client, &at))
			;
	}
	return most;
}

static void a_server_that_sends_more_than_its_answers_need_is_left(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT(floods); i++) {
		const struct frame *f = &floods[i];
		unsigned took;

		begin(NULL, 0);
		assert_non_null(post(0));
		assert_true(talk());
		if (f->type == 0)
			begin_answer();
		took = flood_with(f, 20000, 0);
		/* a thousand frames that answer nothing, or 4 MB in all */
		if (took > 1000 && (took - 1) * (9 + f->len) > 32u * 131072)
			fail_msg("%s: %u frames", f->why, took);
		assert_true(http2_client_is_over(client));
		assert_null(post(1));
		end();
	}
}

/* What comes now and then, as keep-alives do, is no flood, nor are answers, however many. */
static void an_honest_server_is_not_left(void **state)
{
	static const struct frame ping = { "PING", 6, 0, 0, "12345678", 8 };

	(void)state;
	begin(NULL, 0);
	assert_true(talk());
	assert_int_equal(flood_with(&ping, 3000, 20000), 3000);
	for (unsigned i = 0; i < 3000; i++) {
		server.count = 0;
		assert_non_null(post(0));
		assert_true(talk());
		answer(server.streams[0], "200", "a/b", "x");
		assert_true(talk());
	}
	assert_int_equal(told[0].times, 3000);
	assert_false(http2_client_is_flooded(client));
	end();
}

static void a_flood_is_told_apart_from_what_is_no_http(void **state)
{
	(void)state;
	begin(NULL, 0);
	assert_non_null(post(0));
	assert_true(talk());
	begin_answer();
	/* its SETTINGS, the one that acknowledges ours, and the head count, too */
	assert_int_equal(flood_with(&floods[0], 20000, 0), 1001 - 3);
	assert_true(http2_client_is_flooded(client));
	end();
}

static void what_is_no_http_ends_it(void **state)
{
	static const char text[] = "HTTP/1.1 400 Bad Request\r\n\r\n";
	const uint8_t *at;

	(void)state;
	begin(NULL, 0);
	assert_non_null(post(0));
	assert_true(talk());
	if (http2_client_read(client, (const uint8_t *)text, sizeof text - 1, now_us))
		while (http2_client_write(client, &at))
			;
	assert_true(http2_client_is_over(client));
	assert_null(post(1));
	end();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_question_is_posted),
		cmocka_unit_test(an_answer_is_what_the_server_makes_of_it),
		cmocka_unit_test(http_age_header_is_reported),
		cmocka_unit_test(answers_come_in_any_order),
		cmocka_unit_test(no_more_go_out_than_the_server_takes),
		cmocka_unit_test(http2_refused_stream_counts_as_not_processed),
		cmocka_unit_test(who_takes_leave_answers_what_it_has_taken),
		cmocka_unit_test(what_is_dropped_is_told_nobody),
		cmocka_unit_test(what_is_no_http_ends_it),
		cmocka_unit_test(a_server_that_sends_more_than_its_answers_need_is_left),
		cmocka_unit_test(an_honest_server_is_not_left),
		cmocka_unit_test(a_flood_is_told_apart_from_what_is_no_http),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
