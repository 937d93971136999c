/* What the other side of an HTTP/2 connection costs (RFC 9113 10.5): frames of no use, resets, endless headers.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "util/net/http2_abuse.h"

#include "util/base/timebase.h"
#include "util/net/http2_server.h"

enum {
	PERIOD_S = 10,           /* the next two are counted per period */
	RESETS_MOST = 100,       /* requests cancelled or malformed */
	IDLE_FRAMES_MOST = 1000, /* frames requesting or answering nothing, beyond one per answer (SERVER_FRAMES) */
	SMALL_DATA = 16,         /* bytes; body pieces no larger than this count as such */
	BLOCK_MOST = 32768,      /* header block, as sent */
	SERVER_FRAMES = 5, /* beside DATA, of a server for each answer: headers, two windows, an acknowledgement … */
	ANSWER_BYTES = 131072,   /* of a server, for each answer: twice the largest message … */
	ANSWER_HEAD = 8192,      /* … and its headers … */
	ANSWERS_PENDING = 32,    /* … for so many that have come in part */
};

/* RFC 9113 6 */
enum { DATA = 0, HEADERS = 1, RST_STREAM = 3, CONTINUATION = 9 };
enum { END_STREAM = 1 };

void http2_abuse_init(struct http2_abuse *t, enum http2_side of)
{
	*t = (struct http2_abuse){ .of = of, .skip = of == HTTP2_CLIENT ? HTTP2_PREFACE_LEN : 0 };
}

static bool is_dear(const struct http2_abuse *t)
{
	uint64_t answers = ANSWERS_PENDING + (uint64_t)t->answered;

	unsigned useful = t->of == HTTP2_SERVER ? SERVER_FRAMES : 1;

	return t->resets > RESETS_MOST || t->idle_frames > IDLE_FRAMES_MOST + t->answered * useful ||
	       t->block > BLOCK_MOST ||
	       t->bytes > ANSWER_BYTES * answers || t->head_bytes > ANSWER_HEAD * answers;
}

static void count_frame(struct http2_abuse *t)
{
	size_t len = (size_t)t->head[0] << 16 | (size_t)get_u16(t->head + 1);
	uint8_t type = t->head[3], flags = t->head[4];

	t->skip = len;
	t->block = type == CONTINUATION ? t->block + len : len;
	if (t->of == HTTP2_SERVER)
		t->bytes += HTTP2_FRAME_HEAD + len;
	if (t->of == HTTP2_SERVER && (type == HEADERS || type == CONTINUATION))
		t->head_bytes += len;
	if (type == HEADERS && t->of == HTTP2_CLIENT)
		return; /* a server's may be informational */
	if (type != CONTINUATION && type != HEADERS)
		t->block = 0;
	if (type == DATA && (len > SMALL_DATA || flags & END_STREAM))
		return;
	t->idle_frames++;
	t->resets += type == RST_STREAM && t->of == HTTP2_CLIENT; /* a server refuses what we ask */
}

static void begin_period(struct http2_abuse *t, uint64_t now_us)
{
	if (now_us - t->since_us < PERIOD_S * US_PER_S)
		return;
	t->since_us = now_us;
	t->resets = t->idle_frames = t->answered = 0;
	t->bytes = t->head_bytes = 0;
}

bool http2_abuse_take(struct http2_abuse *t, const uint8_t *at, size_t len, uint64_t now_us)
{
	begin_period(t, now_us);
	while (len && !is_dear(t)) {
		size_t n = MIN(len, t->skip);

		at += n;
		len -= n;
		t->skip -= n;
		while (t->skip == 0 && len && t->head_len < HTTP2_FRAME_HEAD) {
			t->head[t->head_len++] = *at++;
			len--;
		}
		if (t->head_len == HTTP2_FRAME_HEAD) {
			t->head_len = 0;
			count_frame(t);
		}
	}
	return !is_dear(t);
}
