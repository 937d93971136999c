/* DNS over HTTPS: the question in a URL, and how long an answer is fresh.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * Replaced: memory functions (prove.h); names by what is proven of them (proven.h). */
#include "prove.h"
#include "proven.h"

#include "services/listen/doh.c"

void prove_url(void)
{
	size_t len = any_up_to(BYTES), value_len = 0;
	uint8_t *query = any_bytes(len), *value = find_dns(query, len, &value_len);

	CLAIM("the value is in the query string", !value || (WITHIN(query, value, query + len) && value_len <= len - AT(value)));
	REACHED("a value behind others", value && AT(value) > 10 && value_len > 100);
	REACHED("none", !value && len > 10);
}

void prove_ttl(void)
{
	size_t len = any_up_to(BYTES), from = any_up_to(len);
	struct reader r = reader_over(any_bytes(len), len);
	uint32_t least;

	r.at += from;
	r.bad = any_bool();
	least = least_ttl(&r, any_up_to(65535), any_uint16_t());
	CLAIM("the cursor stays inside", WITHIN(r.start, r.at, r.end) && AT(r.at) >= from);
	REACHED("some time", least == 3600 && !r.bad);
}
