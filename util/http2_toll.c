/* What an HTTP/2 client costs its server (RFC 9113 10.5): frames that request nothing, resets, endless headers.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "util/http2_toll.h"

#include "util/http2_server.h"
#include "util/timebase.h"

enum {
	PERIOD_S = 10,           /* the next two are counted per period */
	RESETS_MOST = 100,       /* requests cancelled or malformed */
	IDLE_FRAMES_MOST = 1000, /* frames requesting nothing, beyond one per answer */
	SMALL_DATA = 16,         /* bytes; body pieces no larger than this count as such */
	BLOCK_MOST = 32768,      /* header block, as sent */
};

/* RFC 9113 6 */
enum { DATA = 0, HEADERS = 1, RST_STREAM = 3, CONTINUATION = 9 };
enum { END_STREAM = 1 };

void http2_toll_init(struct http2_toll *t)
{
	*t = (struct http2_toll){ .skip = HTTP2_PREFACE_LEN };
}

static bool is_dear(const struct http2_toll *t)
{
	return t->resets > RESETS_MOST || t->idle_frames > IDLE_FRAMES_MOST + t->answered ||
	       t->block > BLOCK_MOST;
}

static void count_frame(struct http2_toll *t)
{
	size_t len = (size_t)t->head[0] << 16 | (size_t)get_u16(t->head + 1);
	uint8_t type = t->head[3], flags = t->head[4];

	t->skip = len;
	t->block = type == CONTINUATION ? t->block + len : len;
	if (type == HEADERS)
		return;
	if (type != CONTINUATION)
		t->block = 0;
	if (type == DATA && (len > SMALL_DATA || flags & END_STREAM))
		return;
	t->idle_frames++;
	t->resets += type == RST_STREAM;
}

static void begin_period(struct http2_toll *t, uint64_t now_us)
{
	if (now_us - t->since_us < PERIOD_S * US_PER_S)
		return;
	t->since_us = now_us;
	t->resets = t->idle_frames = t->answered = 0;
}

bool http2_toll_take(struct http2_toll *t, const uint8_t *at, size_t len, uint64_t now_us)
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
