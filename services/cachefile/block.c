/* A cache file in blocks, each with a checksum, so that only intact ones are ever read.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "services/cachefile/block.h"

#include "util/base/fault.h"
#include "util/base/hash.h"
#include "util/base/mem.h"

#define HEAD_LEN   16 /* of a block */
#define SUM_LEN    8
#define BLOCK_MOST (BLOCK_USUAL + BLOCK_ENTRY_MOST + 4)
#define ROOM_FIRST (4 * BLOCK_USUAL)

static const uint8_t head_key[16] = { 'r', 'e', 's', 'o', 'l', 'v', 'e', 'r', 'd', '\'', 's', ' ', 'h', 'e', 'a', 'd' };

static void write_u64(struct writer *w, uint64_t v)
{
	write_u32(w, (uint32_t)(v >> 32));
	write_u32(w, (uint32_t)v);
}

static uint64_t read_u64(struct reader *r)
{
	uint64_t high = read_u32(r);

	return high << 32 | read_u32(r);
}

/* ---- writing ---- */

/* Room for `len` more bytes. */
static uint8_t *add(struct block_writer *w, size_t len)
{
	size_t at = w->len;

	if (!w->room || w->size - at < len) {
		w->size = MAX(w->size * 2, at + len + ROOM_FIRST);
		w->room = mem_grow(w->room, w->size);
	}
	w->len = at + len;
	return w->room + at;
}

void blocks_begin(struct block_writer *w, const struct blocks_head *head)
{
	uint8_t at[BLOCKS_HEAD_LEN];
	struct writer to = writer_over(at, sizeof(at));

	write_bytes(&to, BLOCKS_MAGIC, BLOCKS_MAGIC_LEN);
	write_u32(&to, BLOCKS_VERSION);
	write_u32(&to, head->shape);
	write_u64(&to, (uint64_t)head->wall_s);
	write_u64(&to, head->mono_us);
	write_u64(&to, head->validation);
	write_bytes(&to, head->chance, sizeof(head->chance));
	hash_shared(at + sizeof(at) - SUM_LEN, at, sizeof(at) - SUM_LEN, head_key);

	*w = (struct block_writer){ 0 };
	memcpy(w->key, head->chance, sizeof(w->key));
	memcpy(add(w, sizeof(at)), at, sizeof(at));
}

static void open_block(struct block_writer *w, enum block_kind kind)
{
	w->open_at = w->len;
	w->kind = kind;
	w->entries = 0;
	w->is_open = true;
	(void)add(w, HEAD_LEN);
}

static void close_block(struct block_writer *w)
{
	struct writer head;
	uint8_t *sum;

	if (!w->is_open)
		return;
	sum = add(w, SUM_LEN);
	head = writer_over(w->room + w->open_at, HEAD_LEN);
	write_u32(&head, (uint32_t)w->kind);
	write_u32(&head, w->number++);
	write_u32(&head, (uint32_t)(w->len - SUM_LEN - w->open_at - HEAD_LEN));
	write_u32(&head, w->entries);
	hash_shared(sum, w->room + w->open_at, (size_t)(sum - w->room) - w->open_at, w->key);
	w->is_open = false;
}

uint8_t *block_entry(struct block_writer *w, enum block_kind kind, size_t len)
{
	uint8_t *at;

	PROMISE(len <= BLOCK_ENTRY_MOST);
	if (w->is_open && (w->kind != kind || w->len - w->open_at >= BLOCK_USUAL))
		close_block(w);
	if (!w->is_open)
		open_block(w, kind);
	at = add(w, 4 + len);
	put_u32(at, (uint32_t)len);
	w->entries++;
	return at + 4;
}

struct slice blocks_take(struct block_writer *w)
{
	struct slice ready = { .at = w->room, .len = 0 };

	if (w->is_open && w->len < BLOCK_USUAL)
		return ready;
	close_block(w);
	ready = (struct slice){ .at = w->room, .len = w->len };
	w->taken += w->len;
	w->len = 0;
	return ready;
}

void blocks_end(struct block_writer *w, const uint8_t *end, size_t end_len)
{
	memcpy(block_entry(w, BLOCK_END, end_len), end, end_len);
	close_block(w);
}

void blocks_clear(struct block_writer *w)
{
	mem_free(w->room);
	*w = (struct block_writer){ 0 };
}

/* ---- reading ---- */

static bool sum_holds(const uint8_t *at, size_t len, const uint8_t key[16])
{
	uint8_t sum[SUM_LEN];

	hash_shared(sum, at, len, key);
	return memcmp(sum, at + len, SUM_LEN) == 0;
}

static bool read_head(struct block_reader *r, const uint8_t *at, struct fault *f)
{
	struct reader in = reader_over(at, BLOCKS_HEAD_LEN);
	const uint8_t *chance;
	uint32_t version;

	(void)read_bytes(&in, BLOCKS_MAGIC_LEN);
	version = read_u32(&in);
	if (version != BLOCKS_VERSION) {
		fault_set(f, "it has version %u, this program reads %u", version, BLOCKS_VERSION);
		return false;
	}
	r->head.shape = read_u32(&in);
	r->head.wall_s = (int64_t)read_u64(&in);
	r->head.mono_us = read_u64(&in);
	r->head.validation = read_u64(&in);
	chance = read_bytes(&in, sizeof(r->head.chance));
	PROMISE(chance);
	memcpy(r->head.chance, chance, sizeof(r->head.chance));
	return true;
}

bool blocks_open(struct block_reader *r, block_pull *pull, void *arg, struct fault *f)
{
	uint8_t head[BLOCKS_HEAD_LEN];
	size_t len = pull(arg, head, sizeof(head));

	*r = (struct block_reader){ .pull = pull, .arg = arg };
	if (memcmp(head, BLOCKS_MAGIC, MIN(len, (size_t)BLOCKS_MAGIC_LEN)) != 0) {
		fault_set(f, "it is no cache file");
		return false;
	}
	if (len < sizeof(head) || !sum_holds(head, sizeof(head) - SUM_LEN, head_key)) {
		fault_set(f, "its head is damaged");
		return false;
	}
	if (!read_head(r, head, f))
		return false;
	r->bytes = len;
	r->room = mem_new(HEAD_LEN + BLOCK_MOST + SUM_LEN);
	return true;
}

/* Parse the head of the block in `room`; false when no valid block has such a head. */
static bool read_block_head(struct block_reader *r, enum block_kind *kind, size_t *len)
{
	struct reader in = reader_over(r->room, HEAD_LEN);
	uint32_t word = read_u32(&in), number = read_u32(&in);

	*len = read_u32(&in);
	r->left = read_u32(&in);
	*kind = (enum block_kind)word;
	return word >= BLOCK_SETS && word <= BLOCK_ZONES && number == r->number && *len <= BLOCK_MOST;
}

static enum block_kind broken(struct block_reader *r, bool is_cut, struct fault *f)
{
	r->left = 0;
	fault_set(f, "it %s behind byte %llu", is_cut ? "was cut off" : "is damaged",
		  (unsigned long long)r->bytes);
	return 0;
}

enum block_kind block_next(struct block_reader *r, struct fault *f)
{
	enum block_kind kind;
	size_t len;

	if (r->pull(r->arg, r->room, HEAD_LEN) < HEAD_LEN)
		return broken(r, true, f);
	if (!read_block_head(r, &kind, &len))
		return broken(r, false, f);
	if (r->pull(r->arg, r->room + HEAD_LEN, len + SUM_LEN) < len + SUM_LEN)
		return broken(r, true, f);
	if (!sum_holds(r->room, HEAD_LEN + len, r->head.chance))
		return broken(r, false, f);
	r->at = reader_over(r->room + HEAD_LEN, len);
	r->bytes += HEAD_LEN + len + SUM_LEN;
	r->number++;
	return kind;
}

bool block_take(struct block_reader *r, struct slice *entry)
{
	if (!r->left)
		return false;
	r->left--;
	entry->len = read_u32(&r->at);
	entry->at = read_bytes(&r->at, entry->len);
	return !r->at.bad;
}

void blocks_close(struct block_reader *r)
{
	mem_free(r->room);
	r->room = NULL;
}
