/* What was stored: blocks of the cache file.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * Replaced: memcpy and its like (prove.h). */
#include "prove.h"

#include "services/cachefile/block.c"

void prove_block(void)
{
	size_t len = any_up_to(BYTES);
	struct block_reader r = { .room = any_bytes(HEAD_LEN), .number = any_uint32_t(), .left = any_uint32_t() };
	struct slice entry;
	enum block_kind kind;
	size_t told;
	bool good = read_block_head(&r, &kind, &told);

	CLAIM("no block is longer than its room", !good || (told <= BLOCK_MOST && kind >= BLOCK_SETS && kind <= BLOCK_ZONES));
	r.at = reader_over(any_bytes(len), len);
	r.at.at += any_up_to(len);
	r.at.bad = any_bool();
	if (block_take(&r, &entry)) {
		CLAIM("an entry is in its block", WITHIN(r.at.start, entry.at, r.at.end) && entry.len <= len - AT(entry.at));
		REACHED("an entry", entry.len > 100);
	}
	REACHED("no block", !good);
}
