/* Any bytes as a PROXYv2 header: never more is believed than is there, and it is the same however
 * it comes in.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "util/base/mem.h"
#include "util/net/proxy2.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	struct proxy2 head, part;
	enum proxy2_end end = len ? proxy2_read(data, len, &head) : PROXY2_SHORT;

	if (end != PROXY2_GOOD)
		return 0;
	PROMISE(head.len >= PROXY2_LEAST && head.len <= len && head.len <= PROXY2_MOST);
	PROMISE(!head.is_for || ((head.from.family == 4 || head.from.family == 6) &&
				 head.from.family == head.to.family));
	for (size_t n = 1; n < head.len; n++)
		PROMISE(proxy2_read(data, n, &part) == PROXY2_SHORT);
	PROMISE(proxy2_read(data, head.len, &part) == PROXY2_GOOD && part.len == head.len);
	return 0;
}
