/* Parameters of SVCB and HTTPS records: the addresses in them.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * All code is the real one, but for memcpy (prove.h). */
#include "prove.h"

#include "services/net/addresses.c"

void prove_next(void)
{
	size_t len = any_up_to(BYTES), from = any_up_to(len);
	struct addresses w = { .type = TYPE_SVCB, .params = reader_over(any_bytes(len), len) };
	struct reader was = w.params;

	w.params.at += from;
	bool more = next_hints(&w);

	CLAIM("hints are in the record", !more || (WITHIN(was.at, w.hints.at, was.end) && w.hints.len <= len - AT(w.hints.at)));
	CLAIM("and of a family", !more || w.family == 4 || w.family == 6);
	REACHED("hints", more && w.hints.len == 64);
	REACHED("none", !more && from < len);
}
