/* A cache file in blocks: each with its checksum, so that only what is whole is ever read.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * All numbers are big-endian. A head, then blocks, the last of them of kind BLOCK_END:
 *
 *     head   16 bytes "resolverd cache\n", u32 version, u32 shape, i64 wall clock, u64 monotonic
 *            clock in microseconds, u64 judge, 16 bytes by chance, u64 checksum
 *     block  u32 kind, u32 number from 0, u32 bytes of all entries, u32 entries, the entries (each
 *            u32 bytes and these bytes), u64 checksum
 *
 * Checksums are SipHash-2-4 of all bytes before them, of the head or of the block, under a key: a
 * constant for the head, the head's chance for the blocks. So a block of another file, which a disk
 * may bring back after a crash, does not count. They tell of accidents, not of malice: who may
 * write the file may write checksums, too. */
#ifndef SERVICES_CACHE_FILE_BLOCK_H
#define SERVICES_CACHE_FILE_BLOCK_H

#include "util/bytes.h"

struct fault;

#define BLOCKS_MAGIC     "resolverd cache\n" /* 16 bytes, without the NUL */
#define BLOCKS_MAGIC_LEN 16
#define BLOCKS_VERSION   1
#define BLOCKS_HEAD_LEN  72
#define BLOCK_USUAL      (64 * 1024)  /* bytes of entries from which on a block is closed */
#define BLOCK_ENTRY_MOST (128 * 1024) /* of one entry */

enum block_kind { BLOCK_SETS = 1, BLOCK_ANSWERS = 2, BLOCK_END = 3 };

struct blocks_head {
	int64_t wall_s;
	uint64_t mono_us;
	uint64_t judge; /* see struct cachefile_how */
	uint32_t shape;
	uint8_t chance[16];
};

/* ---- writing ---- */

struct block_writer {
	uint8_t *room;
	size_t len, size; /* bytes there, and what there is room for */
	size_t open_at;   /* where the open block begins, if one is open */
	enum block_kind kind;
	uint32_t number, entries;
	bool is_open;
	uint8_t key[16];
	uint64_t taken; /* bytes that have been taken out */
};

void blocks_begin(struct block_writer *w, const struct blocks_head *head);
/* Room for an entry of `len` bytes (at most BLOCK_ENTRY_MOST), to be filled before the next call. */
uint8_t *block_entry(struct block_writer *w, enum block_kind kind, size_t len);
/* What is ready to be written since the last time; to be used before the next call. */
struct slice blocks_take(struct block_writer *w);
/* The last block, which holds `end_len` bytes in one entry. Everything is ready now. */
void blocks_end(struct block_writer *w, const uint8_t *end, size_t end_len);
void blocks_clear(struct block_writer *w);

/* ---- reading ---- */

/* Up to `len` further bytes; fewer only where there are no more. */
typedef size_t block_pull(void *arg, uint8_t *to, size_t len);

struct block_reader {
	block_pull *pull;
	void *arg;
	struct blocks_head head;
	uint8_t *room;
	uint32_t number;
	uint32_t left; /* entries of this block */
	struct reader at;
	uint64_t bytes; /* of the head and all whole blocks */
};

/* False, with a sentence that begins "it …": this is no such file, or not one of ours to read. */
bool blocks_open(struct block_reader *r, block_pull *pull, void *arg, struct fault *f) MUST_USE;
/* Kind of the next whole block; 0, with a sentence, when there is none. */
enum block_kind block_next(struct block_reader *r, struct fault *f);
/* The next entry of the block; false when there are no more. */
bool block_take(struct block_reader *r, struct slice *entry);
void blocks_close(struct block_reader *r);

#endif
