/* Claims about the blocks of a cache file: their form, where one ends, and which are damaged.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "services/cachefile/block.h"

#include "services/tests/made.h"
#include "util/base/hash.h"
#include "util/base/mem.h"

enum { HEAD = 16, SUM = 8, MOST = BLOCK_USUAL + BLOCK_ENTRY_MOST + 4 }; /* of a block; its entries at most */

static const struct blocks_head head = { .wall_s = 0x0102030405060708,
					 .mono_us = UINT64_C(0x1112131415161718),
					 .validation = UINT64_C(0x2122232425262728),
					 .shape = 0x31323334,
					 .chance = "sixteen of them" };

static struct {
	uint8_t at[1 << 20];
	size_t len, read;
} file;

static size_t pull(void *arg, uint8_t *to, size_t len)
{
	(void)arg;
	len = MIN(len, file.len - file.read);
	memcpy(to, file.at + file.read, len);
	file.read += len;
	return len;
}

static void take_ready(struct block_writer *w)
{
	struct slice ready = blocks_take(w);

	assert_true(file.len + ready.len <= sizeof(file.at));
	memcpy(file.at + file.len, ready.at, ready.len);
	file.len += ready.len;
	assert_int_equal(w->taken, file.len);
}

/* A head with checksum, and nothing behind it. */
static void begin_file(void)
{
	struct block_writer w;

	file.len = file.read = 0;
	blocks_begin(&w, &head);
	take_ready(&w);
	blocks_clear(&w);
}

static void open_file(struct block_reader *r)
{
	struct fault f = { 0 };

	file.read = 0;
	if (!blocks_open(r, pull, NULL, &f))
		fail_msg("%s", f.text);
}

/* A block with a checksum that holds, whatever is in it. */
static void add_block(uint32_t kind, uint32_t number, uint32_t len, uint32_t entries, const uint8_t *bytes)
{
	uint8_t *at = file.at + file.len;

	put_u32(at, kind);
	put_u32(at + 4, number);
	put_u32(at + 8, len);
	put_u32(at + 12, entries);
	if (bytes)
		memcpy(at + HEAD, bytes, len);
	else
		memset(at + HEAD, 0, len);
	hash_shared(at + HEAD + len, at, HEAD + len, head.chance);
	file.len += HEAD + len + SUM;
}

static void a_file_has_the_written_form(void **state)
{
	(void)state;
	static const uint8_t want_head[] = "resolverd cache\n\0\0\0\1\x31\x32\x33\x34\1\2\3\4\5\6\7\x08"
					   "\x11\x12\x13\x14\x15\x16\x17\x18\x21\x22\x23\x24\x25\x26\x27\x28"
					   "sixteen of them";
	static const uint8_t blocks[3][31] = {
		{ 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 15, 0, 0, 0, 2, 0, 0, 0, 3, 'a', 'b', 'c', 0, 0, 0, 4, 'd', 'e', 'f', 'g' },
		{ 0, 0, 0, 2, 0, 0, 0, 1, 0, 0, 0, 4, 0, 0, 0, 1, 0, 0, 0, 0 },
		{ 0, 0, 0, 3, 0, 0, 0, 2, 0, 0, 0, 6, 0, 0, 0, 1, 0, 0, 0, 2, 'x', 'y' },
	};
	static const size_t lens[] = { 31, 20, 22 };
	struct block_writer w;
	uint8_t sum[SUM], *at = file.at + BLOCKS_HEAD_LEN;

	file.len = 0;
	blocks_begin(&w, &head);
	memcpy(block_entry(&w, BLOCK_SETS, 3), "abc", 3);
	memcpy(block_entry(&w, BLOCK_SETS, 4), "defg", 4);
	(void)block_entry(&w, BLOCK_ANSWERS, 0);
	blocks_end(&w, (const uint8_t *)"xy", 2);
	take_ready(&w);
	assert_int_equal(blocks_take(&w).len, 0);
	blocks_clear(&w);
	assert_null(w.room);
	assert_int_equal(sizeof(want_head), BLOCKS_HEAD_LEN - SUM);
	assert_memory_equal(file.at, want_head, sizeof(want_head));
	hash_shared(sum, file.at, sizeof(want_head), (const uint8_t *)"resolverd's head");
	assert_memory_equal(file.at + sizeof(want_head), sum, SUM);
	for (size_t i = 0; i < 3; i++) {
		assert_memory_equal(at, blocks[i], lens[i]);
		hash_shared(sum, at, lens[i], head.chance);
		assert_memory_equal(at + lens[i], sum, SUM);
		at += lens[i] + SUM;
	}
	assert_int_equal(at - file.at, file.len);
}

static void a_file_is_read_as_it_was_written(void **state)
{
	(void)state;
	static const struct {
		enum block_kind kind;
		const char *entries[3];
	} want[] = { { BLOCK_SETS, { "abc", "defg" } }, { BLOCK_ANSWERS, { "" } }, { BLOCK_END, { "xy" } } };
	struct block_reader r;
	struct fault f = { 0 };
	struct slice entry;

	a_file_has_the_written_form(NULL);
	open_file(&r);
	assert_int_equal(r.head.wall_s, head.wall_s);
	assert_true(r.head.mono_us == head.mono_us && r.head.validation == head.validation);
	assert_int_equal(r.head.shape, head.shape);
	assert_memory_equal(r.head.chance, head.chance, sizeof(head.chance));
	assert_int_equal(r.bytes, BLOCKS_HEAD_LEN);
	for (size_t i = 0; i < COUNT(want); i++) {
		assert_int_equal(block_next(&r, &f), want[i].kind);
		for (size_t e = 0; want[i].entries[e]; e++) {
			assert_true(block_take(&r, &entry));
			assert_int_equal(entry.len, strlen(want[i].entries[e]));
			assert_memory_equal(entry.at, want[i].entries[e], entry.len);
		}
		assert_false(block_take(&r, &entry));
		assert_int_equal(r.bytes, file.read);
	}
	assert_int_equal(r.bytes, file.len);
	blocks_close(&r);
	blocks_close(&r); /* no harm */
}

static void a_block_ends_when_it_is_large_enough(void **state)
{
	(void)state;
	static const struct {
		size_t lens[3];
		unsigned entries[3]; /* of the blocks */
	} rows[] = {
		{ { BLOCK_USUAL - HEAD - 4 - 1, 1, 0 }, { 2, 1 } },
		{ { BLOCK_USUAL - HEAD - 4, 1, 0 }, { 1, 2 } },
		{ { BLOCK_ENTRY_MOST, 1, 1 }, { 1, 2 } },
		{ { BLOCK_USUAL - HEAD - 4 - 1, BLOCK_ENTRY_MOST, BLOCK_ENTRY_MOST }, { 2, 1 } },
		{ { BLOCK_ENTRY_MOST, BLOCK_ENTRY_MOST, BLOCK_ENTRY_MOST }, { 1, 1, 1 } },
		{ { 1, 1, 1 }, { 3 } },
	};

	for (size_t i = 0; i < 2 * COUNT(rows); i++) {
		const __typeof__(rows[0]) *row = &rows[i / 2];
		bool now_and_then = i % 2; /* what is ready is taken */
		struct block_writer w;
		struct block_reader r;
		struct fault f = { 0 };
		struct slice entry;
		enum block_kind kind;
		size_t at = 0;

		file.len = 0;
		blocks_begin(&w, &head);
		for (size_t e = 0; e < 3; e++) {
			memset(block_entry(&w, BLOCK_SETS, row->lens[e]), (int)e + 1, row->lens[e]);
			if (now_and_then)
				take_ready(&w);
		}
		blocks_end(&w, (const uint8_t *)"", 0);
		take_ready(&w);
		blocks_clear(&w);
		open_file(&r);
		for (size_t b = 0; (kind = block_next(&r, &f)) == BLOCK_SETS; b++) {
			if (!now_and_then)
				assert_int_equal(r.left, row->entries[b]);
			for (; block_take(&r, &entry); at++) {
				assert_int_equal(entry.len, row->lens[at]);
				for (size_t k = 0; k < entry.len; k++)
					assert_int_equal(entry.at[k], at + 1);
			}
		}
		assert_int_equal(at, 3);
		if (kind != BLOCK_END)
			fail_msg("row %zu: %s", i, f.text);
		blocks_close(&r);
	}
}

static void bytes_are_ready_when_a_block_is_large_enough(void **state)
{
	(void)state;
	struct block_writer w;

	file.len = 0;
	blocks_begin(&w, &head);
	(void)block_entry(&w, BLOCK_SETS, BLOCK_USUAL - BLOCKS_HEAD_LEN - HEAD - 4 - 5);
	take_ready(&w);
	assert_int_equal(file.len, 0);
	(void)block_entry(&w, BLOCK_SETS, 0);
	take_ready(&w); /* one byte is missing */
	assert_int_equal(file.len, 0);
	blocks_clear(&w);

	blocks_begin(&w, &head);
	(void)block_entry(&w, BLOCK_SETS, BLOCK_USUAL - BLOCKS_HEAD_LEN - HEAD - 4);
	take_ready(&w);
	assert_int_equal(file.len, BLOCK_USUAL + SUM);
	blocks_clear(&w);
}

static void what_is_damaged_is_told_and_where(void **state)
{
	(void)state;
	static const struct {
		const char *why;
		uint32_t kind, number, len;
		bool sound;
	} rows[] = {
		{ "sets", BLOCK_SETS, 0, 0, true },
		{ "answers", BLOCK_ANSWERS, 0, 0, true },
		{ "the end", BLOCK_END, 0, 0, true },
		{ "no kind", 0, 0, 0, false },
		{ "zones", BLOCK_ZONES, 0, 0, true },
		{ "an unknown kind", BLOCK_ZONES + 1, 0, 0, false },
		{ "out of order", BLOCK_SETS, 1, 0, false },
		{ "as large as may be", BLOCK_SETS, 0, MOST, true },
		{ "larger", BLOCK_SETS, 0, MOST + 1, false },
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		struct block_reader r;
		struct fault f = { 0 };
		char want[80];

		begin_file();
		add_block(rows[i].kind, rows[i].number, rows[i].len, 0, NULL);
		open_file(&r);
		if (!!block_next(&r, &f) != rows[i].sound)
			fail_msg("%s: %s", rows[i].why, f.text);
		snprintf(want, sizeof(want), "it is damaged behind byte %d", BLOCKS_HEAD_LEN);
		assert_string_equal(f.set ? f.text : want, want);
		assert_int_equal(r.bytes, rows[i].sound ? file.len : BLOCKS_HEAD_LEN);
		if (rows[i].sound) { /* there are no more */
			assert_int_equal(block_next(&r, &f), 0);
			snprintf(want, sizeof(want), "it was cut off behind byte %zu", file.len);
			assert_string_equal(f.text, want);
		}
		blocks_close(&r);
	}
}

static void a_cut_or_changed_block_is_told_and_gives_nothing(void **state)
{
	(void)state;
	static const uint8_t entries[] = { 0, 0, 0, 1, 'a', 0, 0, 0, 0 };
	size_t whole;

	begin_file();
	add_block(BLOCK_SETS, 0, sizeof(entries), 2, entries);
	whole = file.len;
	for (size_t len = BLOCKS_HEAD_LEN; len < whole; len++) {
		struct block_reader r;
		struct fault f = { 0 };
		struct slice entry;

		file.len = len;
		open_file(&r);
		assert_int_equal(block_next(&r, &f), 0);
		assert_string_equal(f.text, "it was cut off behind byte 72");
		assert_false(block_take(&r, &entry));
		blocks_close(&r);
	}
	file.len = whole;
	for (size_t at = BLOCKS_HEAD_LEN; at < whole; at++) {
		struct block_reader r;
		struct fault f = { 0 };
		struct slice entry;
		bool is_length = at >= BLOCKS_HEAD_LEN + 8 && at < BLOCKS_HEAD_LEN + 12;

		file.at[at] ^= 1;
		open_file(&r);
		assert_int_equal(block_next(&r, &f), 0);
		if (!is_length)
			assert_string_equal(f.text, "it is damaged behind byte 72");
		assert_false(block_take(&r, &entry));
		blocks_close(&r);
		file.at[at] ^= 1;
	}
}

static void entries_end_with_their_block(void **state)
{
	(void)state;
	static const uint8_t bytes[] = { 0, 0, 0, 1, 'a', 0, 0, 0, 2, 'b', 'c' };
	static const struct {
		uint32_t len, entries;
		unsigned taken;
	} rows[] = {
		{ 11, 2, 2 }, { 11, 1, 1 }, { 11, 0, 0 }, { 11, 3, 2 },
		{ 10, 2, 1 }, /* the second is not all there */
		{ 8, 2, 1 },  /* nor is its length */
		{ 5, 2, 1 },  { 0, 1, 0 },
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		struct block_reader r;
		struct fault f = { 0 };
		struct slice entry;
		unsigned taken = 0;

		begin_file();
		add_block(BLOCK_SETS, 0, rows[i].len, rows[i].entries, bytes);
		open_file(&r);
		assert_int_equal(block_next(&r, &f), BLOCK_SETS);
		while (block_take(&r, &entry))
			taken++;
		if (taken != rows[i].taken)
			fail_msg("row %zu: %u", i, taken);
		blocks_close(&r);
	}
}

static void a_file_begins_with_a_head_of_this_version(void **state)
{
	(void)state;
	static const struct {
		const char *why;
		size_t len, changed; /* the byte that is; 0: none */
		bool sum; /* its checksum holds all the same */
		const char *said;
	} rows[] = {
		{ "nothing", 0, 0, false, "its head is damaged" },
		{ "its first bytes", 10, 0, false, "its head is damaged" },
		{ "all but one", BLOCKS_HEAD_LEN - 1, 0, false, "its head is damaged" },
		{ "another file", BLOCKS_HEAD_LEN, 15, true, "it is no cache file" },
		{ "the first bytes of another", 10, 9, false, "it is no cache file" },
		{ "another version", BLOCKS_HEAD_LEN, 19, true, "it has version 0, this program reads 1" },
		{ "another version, damaged", BLOCKS_HEAD_LEN, 19, false, "its head is damaged" },
		{ "a damaged one", BLOCKS_HEAD_LEN, 50, false, "its head is damaged" },
		{ "one with another checksum", BLOCKS_HEAD_LEN, BLOCKS_HEAD_LEN - 1, false, "its head is damaged" },
		{ "a whole one", BLOCKS_HEAD_LEN, 0, true, NULL },
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		struct block_reader r;
		struct fault f = { 0 };
		bool ok;

		begin_file();
		if (rows[i].changed)
			file.at[rows[i].changed] ^= 1;
		if (rows[i].sum)
			hash_shared(file.at + BLOCKS_HEAD_LEN - SUM, file.at, BLOCKS_HEAD_LEN - SUM,
				    (const uint8_t *)"resolverd's head");
		file.len = rows[i].len;
		file.read = 0;
		ok = blocks_open(&r, pull, NULL, &f);
		if (ok != !rows[i].said || (rows[i].said && strcmp(f.text, rows[i].said) != 0))
			fail_msg("%s: %d, %s", rows[i].why, ok, f.text);
		blocks_close(&r);
	}
}

int main(void)
{
	static const struct CMUnitTest claims[] = {
		cmocka_unit_test(a_file_has_the_written_form),
		cmocka_unit_test(a_file_is_read_as_it_was_written),
		cmocka_unit_test(a_block_ends_when_it_is_large_enough),
		cmocka_unit_test(bytes_are_ready_when_a_block_is_large_enough),
		cmocka_unit_test(what_is_damaged_is_told_and_where),
		cmocka_unit_test(a_cut_or_changed_block_is_told_and_gives_nothing),
		cmocka_unit_test(entries_end_with_their_block),
		cmocka_unit_test(a_file_begins_with_a_head_of_this_version),
	};

	hash_start(true);
	return cmocka_run_group_tests(claims, NULL, NULL);
}
