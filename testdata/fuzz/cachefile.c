/* Any bytes as a cache file, and as its entries: nothing comes into the caches that does not hold, and
 * nothing as proven; what came in is the same after it was written and read again.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "services/cachefile/cachefile.h"

#include <string.h>

#include "testdata/fuzz/cached.h"
#include "testdata/fuzz/kept.h"
#include "testdata/fuzz/memory_file.h"
#include "util/base/fault.h"
#include "util/base/hash.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

#define NOW  1000
#define WALL 1800000000

static struct cachefile_how how = {
	.now = { .now_us = NOW * US_PER_S, .now_s = NOW, .wall_s = WALL },
	.validation = 1,
	.most_ttl_s = 86400,
	.expired_s = 30,
};

static void forget(void)
{
	slab_clear(msgcache_slab(how.messages));
	slab_clear(rrsetcache_slab(how.rrsets));
}

static bool read_file(struct memory_file *file, struct cachefile_count *count)
{
	struct fault f = { 0 };
	bool ok = cachefile_read(&how, memory_file_pull, file, count, &f);

	PROMISE(ok != f.set);
	cached_all_hold(how.messages, how.rrsets, NOW, SECURITY_INSECURE);
	return ok;
}

/* The bytes as entries in a file that is right: u8 kind, u16 length, so many bytes, again and again. */
static void wrap(const uint8_t *data, size_t len, struct memory_file *file)
{
	struct reader in = reader_over(data, len);
	struct block_writer w;
	struct fault f = { 0 };
	struct slice ready;

	blocks_begin(&w, &(struct blocks_head){
				 .wall_s = WALL - 5, .mono_us = (NOW - 5) * US_PER_S, .validation = 1 });
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
	PROMISE(memory_file_push(file, ready.at, ready.len, &f));
	blocks_clear(&w);
}

static void check_set(const struct rrset *was, const struct rrset *is)
{
	PROMISE(is && is->size == was->size && memcmp(is, was, was->size) == 0);
}

static void check_answer(const struct kept_answer *was, const struct kept_answer *is)
{
	struct same spelled = { .spelling = same_is_spelled_once(was->m), .order = true };

	PROMISE(is && is->stored_s == was->stored_s && is->expires_s == was->expires_s);
	PROMISE(is->fits == was->fits && is->security == was->security && is->reason == was->reason);
	PROMISE(is->m->flags == was->m->flags);
	same_message(is->m, was->m, spelled);
	for (unsigned i = 0; i < message_set_count(is->m); i++)
		PROMISE(is->m->sets[i]->ttl_s == was->m->sets[i]->ttl_s);
}

/* What came in goes out and comes in again. */
static void check_again(void)
{
	static struct kept before, after;
	struct memory_file file = { 0 };
	struct cachefile_count written, again;
	struct fault f = { 0 };

	kept_take(&before, how.messages, how.rrsets);
	PROMISE(cachefile_write(&how, memory_file_push, &file, &written, &f));
	forget();
	PROMISE(read_file(&file, &again));
	PROMISE(again.bytes == file.len && again.answers == written.answers &&
		again.sets == written.sets);
	kept_take(&after, how.messages, how.rrsets);
	PROMISE(after.set_count == before.set_count && after.answer_count == before.answer_count);
	for (unsigned i = 0; i < before.set_count; i++)
		check_set(before.sets[i], kept_set(&after, before.sets[i], before.sets[i]->flags));
	for (unsigned i = 0; i < before.answer_count; i++)
		check_answer(&before.answers[i], kept_answer(&after, &before.answers[i].m->q));
	kept_clear(&before);
	kept_clear(&after);
	mem_free(file.at);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	struct memory_file raw = { .at = (uint8_t *)(uintptr_t)data, .len = len }, wrapped = { 0 };
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
