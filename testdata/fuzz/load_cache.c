/* Any text as the dump of a cache: what load_cache takes of it holds, and after it was dumped and loaded again all of it
 * is there as it was.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "testdata/fuzz/cached.h"
#include "testdata/fuzz/dumped.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

#define TEXT_MOST 16384

static void all_hold(void)
{
	cached_all_hold(it.caches.messages, it.caches.rrsets, dumped_now_s(), SECURITY_SECURE_SENTINEL_FAIL);
}

static void dump_and_load(void)
{
	static struct kept before, after;
	uint32_t now_s = dumped_and_loaded(&before, &after);

	if (now_s) {
		PROMISE(after.answer_count == before.answer_count && after.set_count == before.set_count);
		dumped_is_same(&before, &after, now_s);
	}
	kept_clear(&before);
	kept_clear(&after);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	static char text[TEXT_MOST + 1];

	if (!it.loop)
		dumped_begin(1 << 20);
	if (len > TEXT_MOST)
		return 0;
	timebase_read(loop_time(it.loop));
	memcpy(text, data, len);
	text[len] = '\0';
	mem_free(dumped_load(text, len));
	all_hold();
	dump_and_load();
	dumped_forget();
	return 0;
}
