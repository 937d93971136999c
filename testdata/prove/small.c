/* Small readers: PROXY protocol headers, client subnets, base64url.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * All code is the real one, but for addr_unmap, which changes no family to another than 4. */
#define REAL_MEMORY
#include "prove.h"

#include "util/base/base64url.c"
#include "util/net/proxy2.c"
#include "util/net/subnet.c"

void prove_proxy2(void)
{
	size_t len = any_up_to(BYTES);
	uint8_t *at = any_bytes(len);
	struct proxy2 p;
	enum proxy2_end end = proxy2_read(at, len, &p);

	CLAIM("a header is within what is there", end != PROXY2_GOOD || (p.len >= PROXY2_LEAST && p.len <= len));
	CLAIM("and within what is accepted", end != PROXY2_GOOD || p.len <= PROXY2_MOST);
	CLAIM("addresses have a family", !p.is_for || end != PROXY2_GOOD ||
						 ((p.from.family == 4 || p.from.family == 6) && (p.to.family == 4 || p.to.family == 6)));
	CLAIM("never short of more than the longest", end != PROXY2_SHORT || len < PROXY2_MOST);
	REACHED("an IPv6 client", end == PROXY2_GOOD && p.is_for && p.from.family == 6);
	REACHED("the start of one", end == PROXY2_SHORT && len > PROXY2_LEAST);
	REACHED("none", end == PROXY2_BAD);
}

void prove_subnet(void)
{
	size_t len = any_up_to(BYTES);
	struct slice data = { any_bytes(len), len };
	struct subnet_option o;
	bool good = subnet_read(&o, &data);

	CLAIM("no more bits than the address has", !good || (o.family <= 2 && o.source <= (o.family == 1 ? 32 : o.family == 2 ? 128 : 0)));
	CLAIM("exactly as many bytes as it needs", !good || len == 4 + (o.source + 7u) / 8);
	REACHED("an IPv6 prefix", good && o.family == 2 && o.source == 57);
	REACHED("none", !good);
}

void prove_base64url(void)
{
	size_t len = any_up_to(BYTES);
	uint8_t *from = any_bytes(len), *to = any_bytes(len / 4 * 3 + 2);
	size_t n = base64url_read(any_bool() ? from : to, from, len);

	CLAIM("three bytes of four characters", n == BASE64URL_BAD || n <= (len * 3 + 3) / 4);
	REACHED("some bytes", n != BASE64URL_BAD && n == 100);
	REACHED("bad", n == BASE64URL_BAD);
}
