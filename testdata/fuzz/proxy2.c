/* Any bytes as a PROXYv2 header: never more is believed than is there, and it is the same however
 * it comes in.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "util/base/mem.h"
#include "util/net/proxy2.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

/* An address as clients are told apart: IPv4-mapped IPv6 is none. Of one header, one may have been mapped. */
static bool is_plain(const struct addr *a)
{
	struct addr copy = *a;

	return (a->family == 4 || a->family == 6) && !addr_unmap(&copy);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	struct proxy2 head, part;
	enum proxy2_end end = len ? proxy2_read(data, len, &head) : PROXY2_SHORT;

	if (end != PROXY2_GOOD)
		return 0;
	PROMISE(head.len >= PROXY2_LEAST && head.len <= len && head.len <= PROXY2_MOST);
	PROMISE(!head.is_for || (is_plain(&head.from) && is_plain(&head.to)));
	for (size_t n = 1; n < head.len; n++)
		PROMISE(proxy2_read(data, n, &part) == PROXY2_SHORT);
	PROMISE(proxy2_read(data, head.len, &part) == PROXY2_GOOD && part.len == head.len);
	return 0;
}
