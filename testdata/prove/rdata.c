/* RDATA of every type, field by field, and what is read out of it.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * Replaced: names by what is proven of them (proven.h). */
#include "prove.h"
#include "proven.h"

#include "util/dns/rr.c"

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

/* In place of field_end: what row rdata.field proves of it. */
const uint8_t *any_field_end(char field, const uint8_t *at, const uint8_t *end)
{
	size_t n = any_size_t();

	(void)field;
	CLAIM("a field is looked for in what is there", WITHIN(at, at, end) && AT(end) <= __CPROVER_OBJECT_SIZE(at));
	if (any_bool())
		return NULL;
	ASSUME(n <= AT(end) - AT(at));
	return at + n;
}

void prove_whole(void)
{
	size_t len = any_up_to(BYTES);
	uint8_t *rdata = any_bytes(len);
	uint16_t type = any_uint16_t();
	bool whole = rr_rdata_is_whole(type, rdata, len);
	const uint8_t *name = rr_rdata_name(type, rdata, len);

	CLAIM("a name is in its record", !name || WITHIN(rdata, name, rdata + len));
	REACHED("a whole one", whole && len > 100);
	REACHED("a malformed one", !whole && len > 100);
	REACHED("a name", name && AT(name) == 2);
}
