/* What the other side of an HTTP/2 connection costs (RFC 9113 10.5): frames of no use, resets, endless headers.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * Reads the heads of frames as they arrive, and is told of the requests answered meanwhile: by us for a client,
 * by the other side where that is a server. */
#ifndef UTIL_NET_HTTP2_ABUSE_H
#define UTIL_NET_HTTP2_ABUSE_H

#include "util/base/bytes.h"

#define HTTP2_FRAME_HEAD 9

enum http2_side { HTTP2_CLIENT, HTTP2_SERVER };

struct http2_abuse {
	enum http2_side of; /* whose frames they are */
	/* in this period */
	uint64_t since_us;
	unsigned resets;      /* requests cancelled, or malformed */
	unsigned idle_frames; /* frames that request nothing, or that answer nothing */
	uint64_t bytes;       /* of a server, all together … */
	uint64_t head_bytes;  /* … and in header blocks */
	unsigned answered;    /* requests */
	/* of the current frame */
	size_t skip; /* bytes left of it, or of the preface */
	uint8_t head[HTTP2_FRAME_HEAD];
	unsigned head_len;
	size_t block; /* bytes of the current header block */
};

/* Begins with what that side sends first. */
void http2_abuse_init(struct http2_abuse *t, enum http2_side of);

/* Account for these bytes, which have just arrived; false once they cost too much. */
bool http2_abuse_take(struct http2_abuse *t, const uint8_t *at, size_t len, uint64_t now_us) MUST_USE;

/* Whether a frame has arrived in part. */
static inline bool http2_abuse_in_frame(const struct http2_abuse *t)
{
	return t->head_len || t->skip;
}

#endif
