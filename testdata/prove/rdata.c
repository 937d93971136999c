/* RDATA of every type, field by field, and what is read out of it.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * Replaced: names by what is proven of them (proven.h). */
#include "prove.h"
#include "proven.h"

#include "util/rr.c"

void prove_field(void)
{
	size_t len = any_up_to(BYTES), from = any_up_to(len);
	uint8_t *start = any_bytes(len), *at = start + from, *end = start + len;
	const uint8_t *behind = field_end((char)any_uint8_t(), at, end);

	CLAIM("a field ends within what is there", !behind || WITHIN(at, behind, end));
	REACHED("a long one", behind && behind - at > 1000);
	REACHED("none", !behind);
}

void prove_tag(void)
{
	size_t len = any_up_to(BYTES);
	struct slice rdata = { any_bytes(len), len };

	rr_key_tag(rdata);
	REACHED("a key", len > 300);
}
