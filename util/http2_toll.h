/* What an HTTP/2 client costs its server (RFC 9113 10.5): frames that request nothing, resets, endless headers.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * Reads the heads of frames as they arrive, and is told what the server did about them. */
#ifndef UTIL_HTTP2_TOLL_H
#define UTIL_HTTP2_TOLL_H

#include "util/bytes.h"

#define HTTP2_FRAME_HEAD 9

struct http2_toll {
	/* in this period */
	uint64_t since_us;
	unsigned resets;      /* requests cancelled, or malformed */
	unsigned idle_frames; /* frames that request nothing */
	unsigned answered;    /* requests */
	/* of the current frame */
	size_t skip; /* bytes left of it, or of the preface */
	uint8_t head[HTTP2_FRAME_HEAD];
	unsigned head_len;
	size_t block; /* bytes of the current header block */
};

/* Begins with what a client sends first. */
void http2_toll_init(struct http2_toll *t);

/* Account for these bytes, which have just arrived; false once the client costs too much. */
bool http2_toll_take(struct http2_toll *t, const uint8_t *at, size_t len, uint64_t now_us) MUST_USE;

/* Whether a frame has arrived in part. */
static inline bool http2_toll_in_frame(const struct http2_toll *t)
{
	return t->head_len || t->skip;
}

#endif
