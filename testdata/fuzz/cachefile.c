/* Any bytes as a cache file, and as its entries: nothing comes into the caches that does not hold, and
 * nothing as proven.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "services/cache/file.h"

#include <string.h>

#include "testdata/fuzz/cached.h"
#include "util/fault.h"
#include "util/hash.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

#define NOW  1000
#define WALL 1800000000

static struct cachefile_how how = {
	.now = { .now_us = NOW * US_PER_S, .now_s = NOW, .wall_s = WALL },
	.judge = 1,
	.most_ttl_s = 86400,
	.expired_s = 30,
};

struct bytes {
	uint8_t *at;
	size_t len, room, read;
};

static bool push(void *arg, const uint8_t *at, size_t len, struct fault *f)
{
	struct bytes *b = arg;

	(void)f;
	if (b->room - b->len < len) {
		b->room = b->len + len + (1 << 16);
		b->at = mem_grow(b->at, b->room);
	}
	memcpy(b->at + b->len, at, len);
	b->len += len;
	return true;
}

static size_t pull(void *arg, uint8_t *to, size_t len)
{
	struct bytes *b = arg;

	len = MIN(len, b->len - b->read);
	if (len)
		memcpy(to, b->at + b->read, len);
	b->read += len;
	return len;
}

static void forget(void)
{
	slab_clear(msgcache_slab(how.messages));
	slab_clear(rrsetcache_slab(how.rrsets));
}

static bool read_file(struct bytes *file, struct cachefile_count *count)
{
	struct fault f = { 0 };
	bool ok = cachefile_read(&how, pull, file, count, &f);

	PROMISE(ok != f.set);
	cached_all_hold(how.messages, how.rrsets, NOW, SECURITY_INSECURE);
	return ok;
}

/* The bytes as entries in a file that is right: u8 kind, u16 length, so many bytes, again and again. */
static void wrap(const uint8_t *data, size_t len, struct bytes *file)
{
	struct reader in = reader_over(data, len);
	struct block_writer w;
	struct fault f = { 0 };
	struct slice ready;

	blocks_begin(&w, &(struct blocks_head){
				 .wall_s = WALL - 5, .mono_us = (NOW - 5) * US_PER_S, .judge = 1 });
	while (reader_left(&in)) {
		enum block_kind kind = read_u8(&in) & 1 ? BLOCK_ANSWERS : BLOCK_SETS;
		size_t entry = read_u16(&in);
		const uint8_t *at;

		entry = MIN(entry, reader_left(&in));
		at = read_bytes(&in, entry);
		if (at)
			memcpy(block_entry(&w, kind, entry), at, entry);
	}
	blocks_end(&w, (const uint8_t *)"", 0);
	ready = blocks_take(&w);
	PROMISE(push(file, ready.at, ready.len, &f));
	blocks_clear(&w);
}

/* What came in goes out and comes in again. */
static void check_again(void)
{
	struct bytes file = { 0 };
	struct cachefile_count written, again;
	struct fault f = { 0 };

	PROMISE(cachefile_write(&how, push, &file, &written, &f));
	forget();
	PROMISE(read_file(&file, &again));
	PROMISE(again.bytes == file.len && again.answers == written.answers &&
		again.sets == written.sets);
	mem_free(file.at);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	struct bytes raw = { .at = (uint8_t *)(uintptr_t)data, .len = len }, wrapped = { 0 };
	struct cachefile_count count;

	if (!how.messages) {
		hash_start(true);
		rcu_thread_join();
		how.messages = msgcache_new(1 << 20, 1);
		how.rrsets = rrsetcache_new(1 << 20, 1);
	}
	(void)read_file(&raw, &count);
	forget();
	wrap(data, len, &wrapped);
	PROMISE(read_file(&wrapped, &count));
	mem_free(wrapped.at);
	check_again();
	forget();
	return 0;
}
