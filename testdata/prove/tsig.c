/* Signed messages: where the TSIG record is.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * Replaced: names by what is proven of them (proven.h). */
#include "prove.h"
#include "proven.h"

#include "services/authzone/tsig.c"

/* In place of read_tsig: how the record reads does not matter for where it is. */
static bool any_tsig(struct reader *r, size_t at, struct tsig *out)
{
	is_a_reader(r);
	any_advance(r);
	out->at = at;
	return !r->bad;
}

void prove_find(void)
{
	size_t len = any_up_to(BYTES);
	uint8_t *wire = any_bytes(len);
	struct tsig s;
	enum tsig_end end = find_tsig(wire, len, &s);

	CLAIM("it is in the message, behind the header", end != TSIG_GOOD || (s.at >= MSG_HEAD_LEN && s.at <= len));
	REACHED("a signature", end == TSIG_GOOD && s.at > 100);
	REACHED("none", end == TSIG_OPEN && len > 100);
	REACHED("a malformed message", end == TSIG_BAD && len > 100);
	(void)any_tsig;
}
