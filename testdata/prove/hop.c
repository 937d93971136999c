/* The OPT record at a message's end, and the options in it that concern one connection.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * Replaced: names and options by what is proven of them (proven.h) */
#include "prove.h"
#include "proven.h"

#include "services/net/edns_conn.c"

void prove_opt(void)
{
	size_t len = any_up_to(BYTES);
	uint8_t *wire = any_bytes(len);
	const uint8_t *opt = find_opt(wire, len);

	CLAIM("it is in the message", !opt || (WITHIN(wire, opt, wire + len) && len - AT(opt) >= OPT_FIXED_LEN));
	REACHED("one", opt && AT(opt) > 100);
	REACHED("none", !opt && len > MSG_HEAD_LEN);
}

/* As proven by the former, in place of find_opt. */
const uint8_t *any_opt(const uint8_t *wire, size_t len)
{
	size_t at = any_up_to(len);

	ASSUME(len - at >= OPT_FIXED_LEN);
	return any_bool() ? wire + at : NULL;
}

void prove_keepalive(void)
{
	size_t len = any_up_to(BYTES);
	uint32_t rest_ms = 0;
	bool told = edns_conn_keepalive(any_bytes(len), len, &rest_ms);

	CLAIM("no longer than 16 bits say", !told || rest_ms <= 65535 * KEEPALIVE_UNIT_MS);
	REACHED("some time", told && rest_ms > 1000);
	REACHED("none", !told && len > MSG_HEAD_LEN);
}
