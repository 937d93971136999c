/* A cache file in blocks, each with a checksum, so that only undamaged blocks are ever used.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * All numbers are big-endian. A head, then blocks, the last of them of kind BLOCK_END:
 *
 *     head   16 bytes "resolverd cache\n", u32 version, u32 shape, i64 wall clock, u64 monotonic
 *            clock in microseconds, u64 validation, 16 random bytes, u64 checksum
 *     block  u32 kind, u32 number from 0, u32 length of all entries, u32 number of entries, the
 *            entries (each a u32 length and that many bytes), u64 checksum
 *
 * A checksum is SipHash-2-4 of all bytes before it in the head or block, under a key: a constant
 * for the head, the head's random bytes for the blocks. So a stale block of another file, which a
 * disk may bring back after a crash, is rejected. Checksums detect accidents, not malice: whoever
 * can write the file can write checksums as well. */
#ifndef SERVICES_CACHEFILE_BLOCK_H
#define SERVICES_CACHEFILE_BLOCK_H

#include "util/base/bytes.h"

struct fault;

#define BLOCKS_MAGIC     "resolverd cache\n" /* 16 bytes, without the NUL */
#define BLOCKS_MAGIC_LEN 16
#define BLOCKS_VERSION   1
#define BLOCKS_HEAD_LEN  72
#define BLOCK_USUAL      (64 * 1024)  /* a block is closed when its entries reach so many bytes */
#define BLOCK_ENTRY_MOST (128 * 1024) /* bytes of one entry */

enum block_kind { BLOCK_SETS = 1, BLOCK_ANSWERS = 2, BLOCK_END = 3, BLOCK_ZONES = 4 };

struct blocks_head {
	int64_t wall_s;
	uint64_t mono_us;
	uint64_t validation; /* see struct cachefile_how */
	uint32_t shape;
	uint8_t chance[16];
};

/* ---- writing ---- */

struct block_writer {
	uint8_t *room;
	size_t len, size; /* bytes used and allocated */
	size_t open_at;   /* offset of the open block, if there is one */
	enum block_kind kind;
	uint32_t number, entries;
	bool is_open;
	uint8_t key[16];
	uint64_t taken; /* bytes taken so far */
};

void blocks_begin(struct block_writer *w, const struct blocks_head *head);
/* Room for an entry of `len` bytes (at most BLOCK_ENTRY_MOST); fill it before the next call. */
uint8_t *block_entry(struct block_writer *w, enum block_kind kind, size_t len);
/* The bytes that became ready since the last call; valid until the next call. */
struct slice blocks_take(struct block_writer *w);
/* Add the last block, with one entry of `end_len` bytes. After it everything is ready. */
void blocks_end(struct block_writer *w, const uint8_t *end, size_t end_len);
void blocks_clear(struct block_writer *w);

/* ---- reading ---- */

/* Read up to `len` bytes; fewer only at the end. */
typedef size_t block_pull(void *arg, uint8_t *to, size_t len);

struct block_reader {
	block_pull *pull;
	void *arg;
	struct blocks_head head;
	uint8_t *room;
	uint32_t number;
	uint32_t left; /* entries of this block not yet taken */
	struct reader at;
	uint64_t bytes; /* of the head and all sound blocks so far */
};

/* False, with a sentence in `f` that names no file: not a cache file, damaged, another version. */
bool blocks_open(struct block_reader *r, block_pull *pull, void *arg, struct fault *f) MUST_USE;
/* Kind of the next sound block; 0, with a sentence in `f`, when there is none. */
enum block_kind block_next(struct block_reader *r, struct fault *f);
/* The next entry of the block; false when there are no more. */
bool block_take(struct block_reader *r, struct slice *entry);
void blocks_close(struct block_reader *r);

#endif
