/* What was stored: entries of the cachedb module.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * All code is the real one, up to where the message begins. */
#include "prove.h"

#include "services/cachedb/entry.c"

void prove_entry(void)
{
	size_t len = any_up_to(BYTES);
	struct reader in = reader_over(any_bytes(len), len);
	struct timebase now;
	struct cachedb_entry e;

	ASSUME(now.wall_s >= 0 && now.wall_s < INT64_MAX / 2);
	if (read_head(&e, &in, &now)) {
		CLAIM("a message follows the head", in.at == in.start + CACHEDB_HEAD_LEN);
		CLAIM("what is valid was written long enough ago", e.age_s <= LONG_AGO_S);
		REACHED("an expired one", e.left_s < -100);
		REACHED("a valid one", e.left_s > 100);
	}
}
