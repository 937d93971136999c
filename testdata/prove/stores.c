/* What stores reply: Redis, for the cachedb module.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * Replaced: memory functions (prove.h). */
#include "prove.h"

#include "services/cachedb/resp.c"

void prove_redis(void)
{
	size_t len = any_up_to(BYTES);
	struct slice in = { any_bytes(len), len };
	struct resp reply = resp_read(in, any_up_to(BYTES));

	CLAIM("a reply is within what is there", reply.kind == RESP_PART || reply.kind == RESP_BAD || (reply.len > 2 && reply.len <= len));
	CLAIM("its text too", !reply.text.at || (WITHIN(in.at + 1, reply.text.at, in.at + len) &&
						 reply.text.len <= (size_t)(in.at + len - reply.text.at)));
	REACHED("a value", reply.kind == RESP_VALUE && reply.text.len > 100);
	REACHED("no value", reply.kind == RESP_NONE);
	REACHED("an error", reply.kind == RESP_ERROR);
	REACHED("a part", reply.kind == RESP_PART && len > 20);
}
