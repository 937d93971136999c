/* PROXY protocol version 2: the header in which a proxy names the client it forwards for.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "util/net/proxy2.h"

#include <string.h>

#include "util/base/bytes.h"

static const uint8_t signature[12] = { 0x0d, 0x0a, 0x0d, 0x0a, 0x00, 0x0d,
				       0x0a, 0x51, 0x55, 0x49, 0x54, 0x0a };

enum { VERSION_2 = 0x20, ASKS_FOR = 1, INET = 1, INET6 = 2 };

static void read_addresses(struct reader *r, uint8_t family, size_t len, struct proxy2 *out)
{
	for (unsigned i = 0; i < 2; i++) {
		struct addr *a = i ? &out->to : &out->from;
		const uint8_t *ip = read_bytes(r, len);

		a->family = family;
		if (ip)
			memcpy(a->ip, ip, len);
	}
	out->from.port = read_u16(r);
	out->to.port = read_u16(r);
	(void)addr_unmap(&out->from);
	(void)addr_unmap(&out->to);
}

enum proxy2_end proxy2_read(const uint8_t *at, size_t len, struct proxy2 *out)
{
	struct reader r = reader_over(at, len);
	uint8_t command, family;

	*out = (struct proxy2){ 0 };
	if (memcmp(at, signature, MIN(len, sizeof signature)) != 0)
		return PROXY2_BAD;
	if (len < PROXY2_LEAST)
		return PROXY2_SHORT;
	read_bytes(&r, sizeof signature);
	command = read_u8(&r);
	family = read_u8(&r) >> 4;
	out->len = PROXY2_LEAST + read_u16(&r);
	if ((command & 0xf0) != VERSION_2 || (command & 0x0f) > ASKS_FOR || out->len > PROXY2_MOST)
		return PROXY2_BAD;
	if (len < out->len)
		return PROXY2_SHORT;
	r.end = at + out->len;
	out->is_for = (command & 0x0f) == ASKS_FOR && (family == INET || family == INET6);
	if (out->is_for && family == INET)
		read_addresses(&r, 4, 4, out);
	if (out->is_for && family == INET6)
		read_addresses(&r, 6, 16, out);
	return r.bad ? PROXY2_BAD : PROXY2_GOOD;
}
