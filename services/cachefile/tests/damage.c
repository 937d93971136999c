/* Claims about a cache file that is damaged, not ours, or cannot be written.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "services/cachefile/tests/fixture.h"

/* ---- damage ---- */

/* What can be read of it: whole blocks, the earlier ones first. */
static unsigned blocks_of(struct cachefile_count count)
{
	if (count.sets == 0 && count.answers == 0)
		return 0;
	assert_int_equal(count.sets, 1);
	assert_true(count.answers == 0 || count.answers == 2);
	return count.answers ? 2 : 1;
}

static void a_file_that_is_cut_is_used_as_far_as_it_is_whole(void **state)
{
	(void)state;
	unsigned seen = 0;
	size_t whole;

	write_some();
	whole = file.len;
	for (size_t len = 0; len <= whole; len++) {
		struct fixture is = fixture_new();
		struct cachefile_how how = how_of(&is);
		struct cachefile_count count;
		struct fault f;
		bool ok;

		file.len = len;
		ok = read_fixture(&how, &count, &f);
		if (ok != (len == whole) || ok == f.set)
			fail_msg("%zu of %zu bytes: %d %s", len, whole, ok, f.text);
		if (blocks_of(count) < seen)
			fail_msg("%zu bytes hold less than before", len);
		seen = blocks_of(count);
		fixture_free(&is);
	}
	assert_int_equal(seen, 2);
}

static void every_changed_bit_is_seen(void **state)
{
	(void)state;
	write_some();
	for (size_t bit = 0; bit < file.len * 8; bit++) {
		struct fixture is = fixture_new();
		struct cachefile_how how = how_of(&is);
		struct cachefile_count count;
		struct fault f;
		uint8_t *at = &file.at[bit / 8];

		*at ^= (uint8_t)(1 << bit % 8);
		if (read_fixture(&how, &count, &f) || !*f.text)
			fail_msg("bit %zu of byte %zu", bit % 8, bit / 8);
		(void)blocks_of(count);
		*at ^= (uint8_t)(1 << bit % 8);
		fixture_free(&is);
	}
}

static void a_block_of_another_file_does_not_count(void **state)
{
	(void)state;
	static struct bytes first;
	struct fixture is = fixture_new();
	struct cachefile_how how = how_of(&is);
	struct cachefile_count count;
	struct fault f;

	write_some();
	first = file;
	write_some();
	assert_int_equal(first.len, file.len);
	memcpy(file.at + BLOCKS_HEAD_LEN, first.at + BLOCKS_HEAD_LEN, file.len - BLOCKS_HEAD_LEN);
	assert_false(read_fixture(&how, &count, &f));
	assert_int_equal(blocks_of(count), 0);
	assert_non_null(strstr(f.text, "damaged"));
	fixture_free(&is);
}

static void many_entries_make_many_blocks(void **state)
{
	(void)state;
	struct fixture was = fixture_new(), is = fixture_new();
	struct cachefile_how how = how_of(&is);
	struct cachefile_count count;
	char name[32], text[64];
	struct fault f;

	for (int i = 0; i < 3000; i++) {
		snprintf(name, sizeof(name), "n%d.example.", i);
		snprintf(text, sizeof(text), "n%d.example. 300 A 192.0.2.1\n", i);
		keep(&was, &(struct made){ name, TYPE_A, RCODE_NOERROR, { text } },
		     SECURITY_INSECURE, 0, NOW, 300);
	}
	count = write_fixture(&was);
	assert_int_equal(count.answers, 3000);
	assert_true(file.len > 2 * BLOCK_USUAL);
	assert_true(read_fixture(&how, &count, &f));
	assert_int_equal(count.answers, 3000);
	assert_int_equal(count.bytes, file.len);
	fixture_free(&was);
	fixture_free(&is);
}

static const struct made leads_there = {
	"alias.test.", TYPE_A, RCODE_NOERROR, { "alias.test. 300 CNAME www.example.\nwww.example. 300 A 192.0.2.1\n" }
};
static const struct made elsewhere = { "www.test.", TYPE_A, RCODE_NOERROR, { "www.test. 300 A 192.0.2.9\n" } };

static const uint8_t example[] = "\7eXample", test[] = "\4test";

static struct keptzones one_zone(const uint8_t *name, uint64_t mark)
{
	struct keptzones z = { 0 };

	if (name)
		keptzones_add(&z, name, mark);
	return z;
}

static void of_a_zone_that_differs_nothing_comes_back(void **state)
{
	(void)state;
	static const struct {
		const char *why;
		const uint8_t *was, *is;
		uint64_t was_mark, is_mark;
		bool example, test;
	} rows[] = {
		{ "no zones", NULL, NULL, 0, 0, true, true },
		{ "the same", example, example, 7, 7, true, true },
		{ "it has come", NULL, example, 0, 7, false, true },
		{ "it is gone", example, NULL, 7, 0, false, true },
		{ "it has changed", example, example, 7, UINT64_C(1) << 40, false, true },
		{ "another", test, example, 7, 7, false, false },
		{ "all", NULL, dname_root, 0, 1, false, false },
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		struct fixture was = fixture_new(), is = fixture_new();
		struct cachefile_how how = how_of(&was);
		struct cachefile_count count;
		struct fault f = { 0 };

		keep(&was, &plain, SECURITY_INSECURE, 0, NOW, 300);
		keep(&was, &leads_there, SECURITY_INSECURE, 0, NOW, 300);
		keep(&was, &elsewhere, SECURITY_INSECURE, 0, NOW, 300);
		keep_set(&was, "www.example. 300 A 192.0.2.1\n", SECURITY_INSECURE, TRUST_ANS_AA);
		file.len = 0;
		how.zones = one_zone(rows[i].was, rows[i].was_mark);
		assert_true(cachefile_write(&how, push_bytes, &file, &count, &f));
		keptzones_clear(&how.zones);
		how = how_of(&is);
		how.zones = one_zone(rows[i].is, rows[i].is_mark);
		assert_true(read_fixture(&how, &count, &f));
		keptzones_clear(&how.zones);
		if (!look_in(&is, "www.example.", TYPE_A, 0) == rows[i].example ||
		    !look_in(&is, "www.test.", TYPE_A, 0) == rows[i].test ||
		    !look_in(&is, "alias.test.", TYPE_A, 0) == (rows[i].example && rows[i].test) ||
		    count.sets != rows[i].example)
			fail_msg("%s", rows[i].why);
		fixture_free(&was);
		fixture_free(&is);
	}
}

/* Zones after the first of the rest, or that are none: nothing behind them is used. */
static void zones_are_first_and_whole(void **state)
{
	(void)state;
	static const struct {
		const char *why;
		const void *entry;
		size_t len;
		bool late;
	} rows[] = {
		{ "empty", "", 0, false },
		{ "no name", "12345678", 8, false },
		{ "cut", "12345678\4tes", 12, false },
		{ "more", "12345678\0x", 10, false },
		{ "late", "12345678\4test", 14, true },
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		struct fixture is = fixture_new();
		struct cachefile_how how = how_of(&is);
		struct block_writer w;
		struct cachefile_count count;
		struct slice ready;
		struct fault f = { 0 };

		blocks_begin(&w, &(struct blocks_head){ .wall_s = WALL, .validation = 77 });
		if (rows[i].late)
			(void)memset(block_entry(&w, BLOCK_SETS, 1), 0, 1);
		memcpy(block_entry(&w, BLOCK_ZONES, rows[i].len), rows[i].entry, rows[i].len);
		blocks_end(&w, (const uint8_t *)"", 0);
		ready = blocks_take(&w);
		file.len = 0;
		(void)push_bytes(&file, ready.at, ready.len, &f);
		if (read_fixture(&how, &count, &f) || !strstr(f.text, "its zones are damaged"))
			fail_msg("%s: %s", rows[i].why, f.text);
		blocks_clear(&w);
		fixture_free(&is);
	}
}

static void reading_and_writing_stop_when_told(void **state)
{
	(void)state;
	struct fixture was = fixture_new();
	struct cachefile_how how = how_of(&was);
	struct cachefile_count count;
	struct fault f = { 0 };
	atomic_bool stop = true;

	write_some();
	how.stop = &stop;
	assert_false(cachefile_write(&how, push_bytes, &file, &count, &f));
	write_some();
	assert_false(read_fixture(&how, &count, &f));
	assert_int_equal(blocks_of(count), 0);
	fixture_free(&was);
}

/* ---- on the disk ---- */

static void put_file(const char *at, const void *bytes, size_t len, mode_t mode)
{
	int fd = open(at, O_WRONLY | O_CREAT | O_TRUNC, 0600);

	assert_true(fd >= 0);
	assert_int_equal(write(fd, bytes, len), (ssize_t)len);
	assert_int_equal(fchmod(fd, mode), 0);
	close(fd);
}

static void only_a_file_of_our_own_is_read(void **state)
{
	(void)state;
	static const struct {
		const char *why;
		mode_t mode;
		uid_t owner; /* where that can be chosen */
		bool linked;
		const char *said; /* NULL: it is read */
	} rows[] = {
		{ "ours alone", 0600, 0, false, NULL },
		{ "readable for others", 0644, 0, false, NULL },
		{ "writable for the group", 0660, 0, false, "others may write into it" },
		{ "writable for all", 0602, 0, false, "others may write into it" },
		{ "a link to one", 0600, 0, true, "not used" },
		{ "another user's", 0600, 4711, false, "it belongs to another user" },
	};

	write_some();
	for (size_t i = 0; i < COUNT(rows); i++) {
		struct fixture is = fixture_new();
		struct cachefile_how how = how_of(&is);
		struct cachefile_count count;
		struct fault f = { 0 };
		bool ok;

		put_file(new_path, file.at, file.len, rows[i].mode);
		if (rows[i].owner && chown(new_path, rows[i].owner, (gid_t)-1) != 0) {
			fixture_free(&is);
			continue;
		}
		assert_int_equal(rows[i].linked ? symlink(new_path, path) : rename(new_path, path), 0);
		ok = cachefile_load(path, &how, &count, &f);
		if (ok != !rows[i].said || (rows[i].said && !strstr(f.text, rows[i].said)))
			fail_msg("%s: %d, %s", rows[i].why, ok, f.text);
		assert_int_equal(blocks_of(count), ok ? 2 : 0);
		unlink(path);
		unlink(new_path);
		fixture_free(&is);
	}
}

static void no_file_is_no_failure(void **state)
{
	(void)state;
	struct fixture is = fixture_new();
	struct cachefile_how how = how_of(&is);
	struct cachefile_count count;
	struct fault f = { 0 };

	assert_true(cachefile_load(path, &how, &count, &f));
	assert_false(f.set);
	assert_int_equal(count.bytes, 0);
	fixture_free(&is);
}

static void a_file_is_replaced_whole_or_not_at_all(void **state)
{
	(void)state;
	static const struct {
		const char *why, *before, *said;
	} rows[] = {
		{ "nothing there", NULL, NULL },
		{ "an empty file", "", NULL },
		{ "an older one", BLOCKS_MAGIC "and more", NULL },
		{ "a configuration", "server:\n\tcache-file: here\n", "not written over" },
	};
	struct fixture was = fixture_new();
	struct cachefile_how how = how_of(&was);

	keep(&was, &plain, SECURITY_INSECURE, 0, NOW, 300);
	for (size_t i = 0; i < COUNT(rows); i++) {
		struct cachefile_count count;
		struct fault f = { 0 };
		struct stat s;
		bool ok;

		if (rows[i].before)
			put_file(path, rows[i].before, strlen(rows[i].before), 0644);
		put_file(new_path, "left over", 9, 0644);
		ok = cachefile_save(path, &how, &count, &f);
		if (ok != !rows[i].said || (rows[i].said && !strstr(f.text, rows[i].said)))
			fail_msg("%s: %d, %s", rows[i].why, ok, f.text);
		assert_int_equal(stat(path, &s), 0);
		assert_int_equal((size_t)s.st_size, ok ? count.bytes : strlen(rows[i].before));
		if (ok) {
			assert_int_equal(s.st_mode & 0777, 0600);
			assert_int_equal(access(new_path, F_OK), -1);
		}
		unlink(path);
		unlink(new_path);
	}
	fixture_free(&was);
}

static void a_full_disk_leaves_the_file_of_before(void **state)
{
	(void)state;
	struct fixture was = fixture_new();
	struct cachefile_how how = how_of(&was);
	struct cachefile_count count;
	struct fault f = { 0 };
	char link[80];
	struct stat s;

	keep(&was, &plain, SECURITY_INSECURE, 0, NOW, 300);
	assert_true(cachefile_save(path, &how, &count, &f));
	/* A folder that cannot be made a file stands for a disk that takes no more. */
	assert_int_equal(mkdir(new_path, 0700), 0);
	snprintf(link, sizeof(link), "%s/x", new_path);
	put_file(link, "x", 1, 0600);
	assert_false(cachefile_save(path, &how, &count, &f));
	assert_non_null(strstr(f.text, "the old file stays"));
	assert_int_equal(stat(path, &s), 0);
	assert_true(s.st_size > BLOCKS_HEAD_LEN);
	unlink(link);
	rmdir(new_path);
	unlink(path);
	fixture_free(&was);
}

int main(void)
{
	static const struct CMUnitTest claims[] = {
		cmocka_unit_test(a_file_that_is_cut_is_used_as_far_as_it_is_whole),
		cmocka_unit_test(every_changed_bit_is_seen),
		cmocka_unit_test(a_block_of_another_file_does_not_count),
		cmocka_unit_test(many_entries_make_many_blocks),
		cmocka_unit_test(of_a_zone_that_differs_nothing_comes_back),
		cmocka_unit_test(zones_are_first_and_whole),
		cmocka_unit_test(reading_and_writing_stop_when_told),
		cmocka_unit_test(only_a_file_of_our_own_is_read),
		cmocka_unit_test(no_file_is_no_failure),
		cmocka_unit_test(a_file_is_replaced_whole_or_not_at_all),
		cmocka_unit_test(a_full_disk_leaves_the_file_of_before),
	};

	return cmocka_run_group_tests(claims, begin, end);
}
