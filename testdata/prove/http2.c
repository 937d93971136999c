/* What the frames of an HTTP/2 connection cost, counted as their heads arrive.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * All code is the real one. */
#include "prove.h"

#include "util/net/http2_abuse.c"

void prove_abuse(void)
{
	size_t len = any_up_to(BYTES);
	struct http2_abuse t;
	bool cheap;

	ASSUME(t.head_len < HTTP2_FRAME_HEAD);
	cheap = http2_abuse_take(&t, any_bytes(len), len, any_size_t());
	CLAIM("a frame's head is never longer than one", t.head_len < HTTP2_FRAME_HEAD);
	REACHED("half a head", cheap && t.head_len == 5);
	REACHED("too much", !cheap);
}
