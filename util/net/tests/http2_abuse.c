/* Claims about what the other side of an HTTP/2 connection may cost: how many frames of no use, resets and bytes in ten seconds.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "util/net/http2_abuse.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "util/base/timebase.h"
#include "util/net/http2_server.h"

enum { DATA = 0, HEADERS = 1, RST_STREAM = 3, PING = 6, CONTINUATION = 9, END_STREAM = 1 };

#define BEGIN_US (100 * US_PER_S)

/* So many frames, of so long a payload each. */
struct frames {
	unsigned count;
	uint8_t type, flags;
	uint32_t len;
};

static void write_head(uint8_t *to, const struct frames *f)
{
	memset(to, 0, HTTP2_FRAME_HEAD);
	to[0] = (uint8_t)(f->len >> 16);
	put_u16(to + 1, (uint16_t)f->len);
	to[3] = f->type;
	to[4] = f->flags;
	to[8] = 1;
}

/* As one piece for each frame, or two. */
static bool send(struct http2_abuse *t, const struct frames *f, bool in_pieces, uint64_t now_us)
{
	uint8_t *frame = calloc(1, HTTP2_FRAME_HEAD + f->len);
	size_t len = HTTP2_FRAME_HEAD + f->len, first = in_pieces ? 5 : len;
	bool good = true;

	assert_non_null(frame);
	write_head(frame, f);
	for (unsigned i = 0; i < f->count; i++) {
		good = http2_abuse_take(t, frame, first, now_us);
		if (first < len)
			good = http2_abuse_take(t, frame + first, len - first, now_us);
	}
	free(frame);
	return good;
}

static void begin(struct http2_abuse *t, enum http2_side of)
{
	static const uint8_t preface[HTTP2_PREFACE_LEN] = { 0xff, 0xff, 0xff, RST_STREAM, 0xff };

	http2_abuse_init(t, of);
	if (of == HTTP2_CLIENT)
		assert_true(http2_abuse_take(t, preface, sizeof(preface), BEGIN_US));
	else
		assert_true(http2_abuse_take(t, preface, 0, BEGIN_US));
	assert_false(http2_abuse_in_frame(t));
}

/* What is just right, and one frame more of the last kind that is not. */
static void each_cost_has_its_limit(void **state)
{
	(void)state;
	enum { WHOLE = 16384 - HTTP2_FRAME_HEAD };
	static const struct {
		const char *why;
		enum http2_side of;
		unsigned answered;
		struct frames frames[4];
		bool good;
	} rows[] = {
		{ "resets", HTTP2_CLIENT, 0, { { 100, RST_STREAM, 0, 4 } }, true },
		{ "too many", HTTP2_CLIENT, 0, { { 101, RST_STREAM, 0, 4 } }, false },
		{ "too many, whatever is answered", HTTP2_CLIENT, 50, { { 101, RST_STREAM, 0, 4 } }, false },
		{ "resets of a server", HTTP2_SERVER, 0, { { 1000, RST_STREAM, 0, 4 } }, true },
		{ "frames of no use", HTTP2_CLIENT, 0, { { 1000, PING, 0, 8 } }, true },
		{ "too many", HTTP2_CLIENT, 0, { { 1001, PING, 0, 8 } }, false },
		{ "one for each answer", HTTP2_CLIENT, 7, { { 1007, PING, 0, 8 } }, true },
		{ "and no more", HTTP2_CLIENT, 7, { { 1008, PING, 0, 8 } }, false },
		{ "of a server", HTTP2_SERVER, 0, { { 1000, PING, 0, 8 } }, true },
		{ "too many", HTTP2_SERVER, 0, { { 1001, PING, 0, 8 } }, false },
		{ "five for each answer", HTTP2_SERVER, 7, { { 1035, PING, 0, 8 } }, true },
		{ "and no more", HTTP2_SERVER, 7, { { 1036, PING, 0, 8 } }, false },
		{ "requests", HTTP2_CLIENT, 0, { { 5000, HEADERS, 0, 30 } }, true },
		{ "headers of a server", HTTP2_SERVER, 0, { { 1000, HEADERS, 0, 30 } }, true },
		{ "which may be informational", HTTP2_SERVER, 0, { { 1001, HEADERS, 0, 30 } }, false },
		{ "bodies in small pieces", HTTP2_CLIENT, 0, { { 1000, DATA, 0, 16 } }, true },
		{ "too many", HTTP2_CLIENT, 0, { { 1001, DATA, 0, 16 } }, false },
		{ "in larger ones", HTTP2_CLIENT, 0, { { 3000, DATA, 0, 17 } }, true },
		{ "that end there", HTTP2_CLIENT, 0, { { 3000, DATA, END_STREAM, 0 } }, true },
		{ "with another flag", HTTP2_CLIENT, 0, { { 1001, DATA, 8, 0 } }, false },
		{ "a flag that ends nothing", HTTP2_CLIENT, 0, { { 1001, PING, END_STREAM, 8 } }, false },
		{ "a header block", HTTP2_CLIENT, 0, { { 1, HEADERS, 0, 32768 } }, true },
		{ "too large", HTTP2_CLIENT, 0, { { 1, HEADERS, 0, 32769 } }, false },
		{ "in two", HTTP2_CLIENT, 0, { { 1, HEADERS, 0, 20000 }, { 1, CONTINUATION, 0, 12768 } }, true },
		{ "too large", HTTP2_CLIENT, 0, { { 1, HEADERS, 0, 20000 }, { 1, CONTINUATION, 0, 12769 } }, false },
		{ "in many", HTTP2_CLIENT, 0, { { 1, HEADERS, 0, 20000 }, { 2, CONTINUATION, 0, 6385 } }, false },
		{ "two of them", HTTP2_CLIENT, 0, { { 2, HEADERS, 0, 20000 } }, true },
		{ "another frame between", HTTP2_CLIENT, 0,
		  { { 1, HEADERS, 0, 20000 }, { 1, PING, 0, 8 }, { 1, CONTINUATION, 0, 32768 } }, true },
		{ "what is no header", HTTP2_CLIENT, 0, { { 1, DATA, 0, 40000 }, { 1, CONTINUATION, 0, 100 } }, true },
		{ "continued for ever", HTTP2_CLIENT, 0, { { 1001, CONTINUATION, 0, 0 } }, false },
		{ "a long frame", HTTP2_CLIENT, 0, { { 1, DATA, 0, 0x12345 }, { 100, RST_STREAM, 0, 4 } }, true },
		{ "that ends where it says", HTTP2_CLIENT, 0, { { 1, DATA, 0, 0x12345 }, { 101, RST_STREAM, 0, 4 } }, false },
		{ "bodies of a client", HTTP2_CLIENT, 0, { { 600, DATA, 0, WHOLE } }, true },
		{ "headers of a client", HTTP2_CLIENT, 0, { { 100, HEADERS, 0, 8192 } }, true },
		{ "bytes of a server", HTTP2_SERVER, 0, { { 256, DATA, 0, WHOLE } }, true },
		{ "too many", HTTP2_SERVER, 0, { { 256, DATA, 0, WHOLE }, { 1, DATA, 0, 0 } }, false },
		{ "for each answer", HTTP2_SERVER, 1, { { 264, DATA, 0, WHOLE } }, true },
		{ "too many", HTTP2_SERVER, 1, { { 264, DATA, 0, WHOLE }, { 1, DATA, 0, 0 } }, false },
		{ "headers of a server", HTTP2_SERVER, 0, { { 32, HEADERS, 0, 8192 } }, true },
		{ "too many", HTTP2_SERVER, 0, { { 32, HEADERS, 0, 8192 }, { 1, HEADERS, 0, 1 } }, false },
		{ "continued", HTTP2_SERVER, 0, { { 31, HEADERS, 0, 8192 }, { 1, CONTINUATION, 0, 8192 } }, true },
		{ "too many", HTTP2_SERVER, 0, { { 31, HEADERS, 0, 8192 }, { 1, CONTINUATION, 0, 8193 } }, false },
		{ "for each answer", HTTP2_SERVER, 2, { { 34, HEADERS, 0, 8192 } }, true },
		{ "other frames of a server", HTTP2_SERVER, 0, { { 40, PING, 0, 8192 } }, true },
	};

	for (size_t i = 0; i < COUNT(rows) * 2; i++) {
		struct http2_abuse t;
		bool good = true;

		begin(&t, rows[i / 2].of);
		t.answered = rows[i / 2].answered;
		for (unsigned n = 0; n < 4 && rows[i / 2].frames[n].count; n++)
			good = send(&t, &rows[i / 2].frames[n], i % 2, BEGIN_US);
		if (good != rows[i / 2].good)
			fail_msg("row %zu: %s: %d", i / 2, rows[i / 2].why, good);
	}
}

/* Once it has cost too much, nothing more is taken; after ten seconds it is counted anew. */
static void each_cost_is_for_ten_seconds(void **state)
{
	(void)state;
	static const struct {
		enum http2_side of;
		unsigned answered;
		struct frames most;
	} rows[] = {
		{ HTTP2_CLIENT, 0, { 100, RST_STREAM, 0, 4 } },
		{ HTTP2_CLIENT, 5, { 1000, PING, 0, 8 } }, /* answers count in their period, too */
		{ HTTP2_SERVER, 0, { 256, DATA, 0, 16384 - HTTP2_FRAME_HEAD } },
		{ HTTP2_SERVER, 0, { 32, HEADERS, 0, 8192 } },
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		struct frames one = rows[i].most;
		struct http2_abuse t;

		one.count = 1;
		begin(&t, rows[i].of);
		assert_true(send(&t, &rows[i].most, false, BEGIN_US + 5 * US_PER_S));
		t.answered = rows[i].answered;
		one.count += rows[i].answered;
		assert_false(send(&t, &one, false, BEGIN_US + 10 * US_PER_S - 1));
		assert_false(http2_abuse_take(&t, (const uint8_t *)"", 0, BEGIN_US + 10 * US_PER_S - 1));
		one.count = 1;
		begin(&t, rows[i].of);
		assert_true(send(&t, &rows[i].most, false, BEGIN_US + 5 * US_PER_S));
		t.answered = rows[i].answered;
		assert_true(send(&t, &rows[i].most, false, BEGIN_US + 10 * US_PER_S));
		assert_false(send(&t, &one, false, BEGIN_US + 20 * US_PER_S - 1));
		assert_int_equal(t.since_us, BEGIN_US + 10 * US_PER_S);
	}
}

/* A frame that has come in part. */
static void what_is_missing_of_a_frame_is_known(void **state)
{
	static const struct frames ping = { 1, PING, 0, 8 };
	uint8_t frame[HTTP2_FRAME_HEAD + 8] = { 0 };
	struct http2_abuse t;

	(void)state;
	write_head(frame, &ping);
	http2_abuse_init(&t, HTTP2_CLIENT);
	assert_true(http2_abuse_in_frame(&t)); /* the preface is to come */
	begin(&t, HTTP2_CLIENT);
	for (size_t i = 0; i < sizeof(frame); i++) {
		assert_true(http2_abuse_take(&t, frame + i, 1, BEGIN_US));
		assert_int_equal(http2_abuse_in_frame(&t), i + 1 < sizeof(frame));
	}
	assert_int_equal(t.idle_frames, 1);
	http2_abuse_init(&t, HTTP2_SERVER);
	assert_false(http2_abuse_in_frame(&t));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_cost_has_its_limit),
		cmocka_unit_test(each_cost_is_for_ten_seconds),
		cmocka_unit_test(what_is_missing_of_a_frame_is_known),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
