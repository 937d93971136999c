/* The OPT record: its options (RFC 6891 6.1.2).
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * All code is the real one. */
#include "prove.h"

#include "util/dns/edns.c"

void prove_option(void)
{
	size_t len = any_up_to(BYTES);
	struct edns e = { .present = true, .options = { any_bytes(len), len } };
	uint16_t code = any_uint16_t();
	struct slice value = { NULL, 0 };
	bool whole = edns_is_whole(&e), found = edns_find_option(&e, code, &value);

	CLAIM("a value is among the options", !found || (WITHIN(e.options.at + 4, value.at, e.options.at + len) &&
							 value.len <= len - 4 - (size_t)(value.at - e.options.at - 4)));
	REACHED("an option", found && whole && value.len > 0);
	REACHED("a malformed one", !whole);
}
