/* Claims about the cache file: what comes back, as what, and what of a damaged one.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "services/cache/file.h"

#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "services/cache/msg.h"
#include "services/cache/rrset.h"
#include "services/tests/made.h"
#include "util/dname.h"
#include "util/hash.h"
#include "util/mem.h"

#define NOW  5000
#define WALL 1800000000

#define SIG(owner, type) \
	owner " 300 IN RRSIG " type " 13 2 300 20300101000000 20200101000000 1 example. AAAA\n"

struct house {
	struct msgcache *messages;
	struct rrsetcache *rrsets;
};

static struct house house_new(void)
{
	return (struct house){ .messages = msgcache_new(1 << 20, 2),
			       .rrsets = rrsetcache_new(1 << 20, 2) };
}

static void house_free(struct house *h)
{
	msgcache_free(h->messages);
	rrsetcache_free(h->rrsets);
}

static struct cachefile_how how_of(const struct house *h)
{
	return (struct cachefile_how){
		.messages = h->messages,
		.rrsets = h->rrsets,
		.now = { .now_us = NOW * US_PER_S, .now_s = NOW, .wall_s = WALL },
		.judge = 77,
		.most_ttl_s = 86400,
		.validates = true
	};
}

/* ---- a file in memory ---- */

struct bytes {
	uint8_t at[1 << 20];
	size_t len, read;
};

static bool push_bytes(void *arg, const uint8_t *at, size_t len, struct fault *f)
{
	struct bytes *b = arg;

	(void)f;
	assert_true(b->len + len <= sizeof(b->at));
	memcpy(b->at + b->len, at, len);
	b->len += len;
	return true;
}

static size_t pull_bytes(void *arg, uint8_t *to, size_t len)
{
	struct bytes *b = arg;

	len = MIN(len, b->len - b->read);
	memcpy(to, b->at + b->read, len);
	b->read += len;
	return len;
}

static struct bytes file;

static struct cachefile_count write_house(const struct house *h)
{
	struct cachefile_how how = how_of(h);
	struct cachefile_count count;
	struct fault f = { 0 };

	file.len = 0;
	assert_true(cachefile_write(&how, push_bytes, &file, &count, &f));
	assert_int_equal(count.bytes, file.len);
	return count;
}

static bool read_house(const struct cachefile_how *how, struct cachefile_count *count,
		       struct fault *f)
{
	file.read = 0;
	*f = (struct fault){ 0 };
	return cachefile_read(how, pull_bytes, &file, count, f);
}

/* ---- what is in it ---- */

static const struct made plain = {
	"www.example.",
	TYPE_A,
	RCODE_NOERROR,
	{ "www.example. 300 A 192.0.2.1\nwww.example. 300 A 192.0.2.2\n" }
};
static const struct made proven = { "s.example.",
				    TYPE_A,
				    RCODE_NOERROR,
				    { "s.example. 300 A 192.0.2.1\n" SIG("s.example.", "A") } };
static const struct made denied = { "no.example.",
				    TYPE_AAAA,
				    RCODE_NXDOMAIN,
				    { NULL,
				      "example. 60 SOA a.example. b.example. 1 2 3 4 60\n" } };
static const struct made failed = { "fail.example.", TYPE_A, RCODE_SERVFAIL, { NULL } };

static bool keeps_whole; /* serve-original-ttl */

static void keep(struct house *h, const struct made *made, uint8_t security, uint16_t scope,
		 uint32_t stored_s, uint32_t ttl_s)
{
	struct message *m;
	struct arena a;

	arena_init(&a);
	m = made_message(&a, stored_s, made);
	m->security = security;
	msgcache_store(h->messages, m,
		       &(struct msg_keep){ .now_s = stored_s,
					   .ttl_s = ttl_s,
					   .scope = scope,
					   .whole = keeps_whole });
	arena_clear(&a);
}

static void keep_set(struct house *h, const char *text, uint8_t security, uint8_t trust)
{
	struct rrset *s;
	struct arena a;

	arena_init(&a);
	s = made_set(&a, NOW, text);
	s->security = security;
	s->trust = trust;
	(void)rrsetcache_put(h->rrsets, s, NOW, &a);
	arena_clear(&a);
}

static const struct stored *look_in(const struct house *h, const char *name, uint16_t type,
				    uint16_t scope)
{
	struct question q = made_question(name, type);

	return msgcache_find(h->messages, &q, msgcache_hash(&q), scope, true);
}

static void an_answer_comes_back_with_what_is_left_of_it(void **state)
{
	(void)state;
	static const struct {
		const char *why;
		const struct made *made;
		uint8_t was, is;
		bool comes, whole;
	} rows[] = {
		{ "insecure", &plain, SECURITY_INSECURE, SECURITY_INSECURE, true, false },
		{ "under no anchor", &plain, SECURITY_INDETERMINATE, SECURITY_INDETERMINATE, true, false },
		{ "proven: to be proven again", &proven, SECURITY_SECURE, SECURITY_UNCHECKED,
		  true, false },
		{ "a denial", &denied, SECURITY_INSECURE, SECURITY_INSECURE, true, false },
		{ "with the TTLs it came with", &plain, SECURITY_INSECURE, SECURITY_INSECURE, true, true },
		{ "proven, likewise", &proven, SECURITY_SECURE, SECURITY_UNCHECKED, true, true },
		{ "bogus", &proven, SECURITY_BOGUS, 0, false, false },
		{ "a failure", &failed, SECURITY_INDETERMINATE, 0, false, false },
		{ "withheld", &proven, SECURITY_SECURE_SENTINEL_FAIL, 0, false, false },
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		struct house was = house_new(), is = house_new();
		struct cachefile_how how = how_of(&is);
		struct cachefile_count count;
		const struct stored *s, *before;
		struct fault f;

		keeps_whole = rows[i].whole;
		keep(&was, rows[i].made, rows[i].was, 0, NOW - 20, 60);
		write_house(&was);
		how.now.wall_s += 10;
		how.now.now_s = 70; /* the machine was started again */
		how.now.now_us = 70 * US_PER_S;
		if (!read_house(&how, &count, &f))
			fail_msg("%s: %s", rows[i].why, f.text);
		s = look_in(&is, rows[i].made->name, rows[i].made->type, 0);
		if (!!s != rows[i].comes || count.answers != rows[i].comes)
			fail_msg("%s: found %d, counted %d", rows[i].why, !!s, (int)count.answers);
		before = look_in(&was, rows[i].made->name, rows[i].made->type, 0);
		if (s) {
			assert_int_equal(s->security, rows[i].is);
			assert_int_equal((int32_t)(s->expires_s - 70), 30);
			assert_int_equal((int32_t)(70 - s->stored_s), 30);
			assert_int_equal(s->rcode, rows[i].made->rcode);
			assert_int_equal(s->fits, before->fits);
			assert_int_equal(s->wire_len, before->wire_len);
			assert_memory_equal(stored_wire(s), stored_wire(before), s->wire_len);
		}
		house_free(&was);
		house_free(&is);
	}
	keeps_whole = false;
}

static void time_goes_on_while_nobody_counts(void **state)
{
	(void)state;
	/* An answer with 60 seconds left when the file was written. */
	static const struct {
		const char *why;
		int64_t wall_s; /* since then */
		int64_t mono_s; /* the same of the monotonic clock */
		uint32_t expired_s, most_s;
		bool used;
		int left_s; /* 0: it is not found */
	} rows[] = {
		{ "at once", 0, 0, 0, 86400, true, 60 },
		{ "a minute less a second later", 59, 59, 0, 86400, true, 1 },
		{ "a minute later", 60, 60, 0, 86400, true, 0 },
		{ "a year later", 31536000, -4000, 0, 86400, true, 0 },
		{ "a year later, expired is of use for a day", 31536000, -4000, 86400, 86400, true,
		  0 },
		{ "the machine was started anew", 20, -4000, 0, 86400, true, 40 },
		{ "the clock was set back a little: the other one knows", 5, 30, 0, 86400, true,
		  30 },
		{ "the clock was set back behind the file", -3600, 30, 0, 86400, false, 0 },
		{ "the clock has forgotten everything", -WALL + 5, -4990, 0, 86400, false, 0 },
		{ "a second of disorder", -1, 0, 0, 86400, true, 60 },
		{ "expired, of use for a day", 100, 100, 86400, 86400, true, -40 },
		{ "expired, of use for less", 100, 100, 30, 86400, true, 0 },
		{ "nothing may live that long any more", 10, 10, 0, 20, true, 20 },
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		struct house was = house_new(), is = house_new();
		struct cachefile_how how = how_of(&is);
		struct cachefile_count count;
		const struct stored *s;
		struct fault f;
		int left_s;

		keep(&was, &plain, SECURITY_INSECURE, 0, NOW - 240, 300);
		write_house(&was);
		how.now.wall_s += rows[i].wall_s;
		how.now.now_s = (uint32_t)(NOW + rows[i].mono_s);
		how.now.now_us = how.now.now_s * US_PER_S;
		how.expired_s = rows[i].expired_s;
		how.most_ttl_s = rows[i].most_s;
		if (read_house(&how, &count, &f) != rows[i].used)
			fail_msg("%s: %s", rows[i].why, f.text);
		s = look_in(&is, "www.example.", TYPE_A, 0);
		left_s = s ? (int32_t)(s->expires_s - how.now.now_s) : 0;
		if (left_s != rows[i].left_s)
			fail_msg("%s: %d s left, not %d", rows[i].why, left_s, rows[i].left_s);
		house_free(&was);
		house_free(&is);
	}
}

static void another_judge_takes_only_what_can_be_proven(void **state)
{
	(void)state;
	struct house was = house_new(), is = house_new();
	struct cachefile_how how = how_of(&is);
	struct cachefile_count count;
	struct fault f;

	keep(&was, &plain, SECURITY_INSECURE, 0, NOW, 300);
	keep(&was, &proven, SECURITY_SECURE, 0, NOW, 300);
	keep_set(&was, "a.example. 300 NS b.example.\n", SECURITY_UNCHECKED, TRUST_AUTH_AA);
	keep_set(&was, "c.example. 300 DS 1 13 2 ABCD\n", SECURITY_SECURE, TRUST_VALIDATED);
	write_house(&was);
	how.judge++;
	assert_true(read_house(&how, &count, &f));
	assert_int_equal(count.answers, 1);
	assert_int_equal(count.sets, 1);
	assert_int_equal(count.passed, 2);
	assert_null(look_in(&is, "www.example.", TYPE_A, 0));
	assert_int_equal(look_in(&is, "s.example.", TYPE_A, 0)->security, SECURITY_UNCHECKED);
	how.shape++;
	assert_false(read_house(&how, &count, &f));
	assert_non_null(strstr(f.text, "other rules"));
	house_free(&was);
	house_free(&is);
}

static void nothing_unproven_that_has_expired_comes_back(void **state)
{
	(void)state;
	struct house was = house_new(), is = house_new();
	struct cachefile_how how = how_of(&is);
	struct cachefile_count count;
	struct fault f;

	keep(&was, &proven, SECURITY_SECURE, 0, NOW, 300);
	write_house(&was);
	how.now.wall_s += 400;
	how.expired_s = 86400;
	assert_true(read_house(&how, &count, &f));
	assert_int_equal(count.answers, 0);
	assert_int_equal(count.expired, 1);
	how.validates = false;
	assert_true(read_house(&how, &count, &f));
	assert_int_equal(count.answers, 1);
	house_free(&was);
	house_free(&is);
}

static void sets_come_back_unproven(void **state)
{
	(void)state;
	static const struct {
		const char *why, *text;
		uint16_t type;
		uint8_t was, trust, is, is_trust;
		bool comes;
	} rows[] = {
		{ "keys, proven", "example. 300 DNSKEY 257 3 13 AAAA\n" SIG("example.", "DNSKEY"),
		  TYPE_DNSKEY, SECURITY_SECURE, TRUST_VALIDATED, SECURITY_UNCHECKED, TRUST_ANS_AA,
		  true },
		{ "a delegation", "example. 300 NS a.example.\nexample. 300 NS b.example.\n",
		  TYPE_NS, SECURITY_UNCHECKED, TRUST_AUTH_NOAA, SECURITY_UNCHECKED, TRUST_AUTH_NOAA,
		  true },
		{ "insecure", "example. 300 CNAME b.example.\n", TYPE_CNAME, SECURITY_INSECURE,
		  TRUST_ANS_AA, SECURITY_INSECURE, TRUST_ANS_AA, true },
		{ "bogus", "example. 300 CNAME b.example.\n", TYPE_CNAME, SECURITY_BOGUS,
		  TRUST_ANS_AA, 0, 0, false },
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		struct house was = house_new(), is = house_new();
		struct cachefile_how how = how_of(&is);
		struct cachefile_count count;
		const struct rrset *s, *before;
		struct fault f;

		keep_set(&was, rows[i].text, rows[i].was, rows[i].trust);
		write_house(&was);
		how.now.wall_s += 10;
		assert_true(read_house(&how, &count, &f));
		s = rrsetcache_find(is.rrsets, N("example."), rows[i].type, CLASS_IN, 0, NOW);
		if (!!s != rows[i].comes)
			fail_msg("%s: found %d", rows[i].why, !!s);
		before = rrsetcache_find(was.rrsets, N("example."), rows[i].type, CLASS_IN, 0, NOW);
		if (s) {
			assert_int_equal(s->security, rows[i].is);
			assert_int_equal(s->trust, rows[i].is_trust);
			assert_int_equal(s->expires_s, NOW + 290);
			assert_int_equal(s->ttl_s, 300);
			assert_true(rrset_same_records(s, before));
			assert_true(rrset_same_signatures(s, before));
		}
		house_free(&was);
		house_free(&is);
	}
}

static void what_belongs_to_a_view_is_not_written(void **state)
{
	(void)state;
	struct house was = house_new();
	struct rrsetcache *scoped = rrsetcache_scoped(was.rrsets, 3);
	struct house view = { .messages = was.messages, .rrsets = scoped };
	struct cachefile_count count;

	keep(&was, &plain, SECURITY_INSECURE, 3, NOW, 300);
	keep_set(&view, "example. 300 NS a.example.\n", SECURITY_INSECURE, TRUST_ANS_AA);
	count = write_house(&was);
	assert_int_equal(count.answers, 0);
	assert_int_equal(count.sets, 0);
	rrsetcache_free(scoped);
	house_free(&was);
}

static void what_was_learnt_meanwhile_stays(void **state)
{
	(void)state;
	static const struct made newer = {
		"www.example.", TYPE_A, RCODE_NOERROR, { "www.example. 300 A 192.0.2.9\n" }
	};
	static const struct made broken = { "www.example.", TYPE_A, RCODE_SERVFAIL, { NULL } };
	struct house was = house_new(), is = house_new(), poor = house_new();
	struct cachefile_how how = how_of(&is);
	struct cachefile_count count;
	struct fault f;

	keep(&was, &plain, SECURITY_INSECURE, 0, NOW, 300);
	write_house(&was);
	keep(&is, &newer, SECURITY_INSECURE, 0, NOW, 5);
	assert_true(read_house(&how, &count, &f));
	assert_int_equal(count.answers, 0);
	assert_int_equal(look_in(&is, "www.example.", TYPE_A, 0)->expires_s, NOW + 5);
	keep(&poor, &broken, SECURITY_INDETERMINATE, 0, NOW, 5);
	how = how_of(&poor);
	assert_true(read_house(&how, &count, &f));
	assert_int_equal(look_in(&poor, "www.example.", TYPE_A, 0)->rcode, RCODE_NOERROR);
	house_free(&was);
	house_free(&is);
	house_free(&poor);
}

/* ---- damage ---- */

/* Three blocks: sets, answers, the end. */
static void write_some(void)
{
	struct house was = house_new();

	keep(&was, &plain, SECURITY_INSECURE, 0, NOW, 300);
	keep(&was, &proven, SECURITY_SECURE, 0, NOW, 300);
	keep_set(&was, "example. 300 NS a.example.\n", SECURITY_UNCHECKED, TRUST_AUTH_AA);
	write_house(&was);
	house_free(&was);
}

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
		struct house is = house_new();
		struct cachefile_how how = how_of(&is);
		struct cachefile_count count;
		struct fault f;
		bool ok;

		file.len = len;
		ok = read_house(&how, &count, &f);
		if (ok != (len == whole) || ok == f.set)
			fail_msg("%zu of %zu bytes: %d %s", len, whole, ok, f.text);
		if (blocks_of(count) < seen)
			fail_msg("%zu bytes hold less than before", len);
		seen = blocks_of(count);
		house_free(&is);
	}
	assert_int_equal(seen, 2);
}

static void every_changed_bit_is_seen(void **state)
{
	(void)state;
	write_some();
	for (size_t bit = 0; bit < file.len * 8; bit++) {
		struct house is = house_new();
		struct cachefile_how how = how_of(&is);
		struct cachefile_count count;
		struct fault f;
		uint8_t *at = &file.at[bit / 8];

		*at ^= (uint8_t)(1 << bit % 8);
		if (read_house(&how, &count, &f) || !*f.text)
			fail_msg("bit %zu of byte %zu", bit % 8, bit / 8);
		(void)blocks_of(count);
		*at ^= (uint8_t)(1 << bit % 8);
		house_free(&is);
	}
}

static void a_block_of_another_file_does_not_count(void **state)
{
	(void)state;
	static struct bytes first;
	struct house is = house_new();
	struct cachefile_how how = how_of(&is);
	struct cachefile_count count;
	struct fault f;

	write_some();
	first = file;
	write_some();
	assert_int_equal(first.len, file.len);
	memcpy(file.at + BLOCKS_HEAD_LEN, first.at + BLOCKS_HEAD_LEN, file.len - BLOCKS_HEAD_LEN);
	assert_false(read_house(&how, &count, &f));
	assert_int_equal(blocks_of(count), 0);
	assert_non_null(strstr(f.text, "damaged"));
	house_free(&is);
}

static void many_entries_make_many_blocks(void **state)
{
	(void)state;
	struct house was = house_new(), is = house_new();
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
	count = write_house(&was);
	assert_int_equal(count.answers, 3000);
	assert_true(file.len > 2 * BLOCK_USUAL);
	assert_true(read_house(&how, &count, &f));
	assert_int_equal(count.answers, 3000);
	assert_int_equal(count.bytes, file.len);
	house_free(&was);
	house_free(&is);
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
		struct house was = house_new(), is = house_new();
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
		assert_true(read_house(&how, &count, &f));
		keptzones_clear(&how.zones);
		if (!look_in(&is, "www.example.", TYPE_A, 0) == rows[i].example ||
		    !look_in(&is, "www.test.", TYPE_A, 0) == rows[i].test ||
		    !look_in(&is, "alias.test.", TYPE_A, 0) == (rows[i].example && rows[i].test) ||
		    count.sets != rows[i].example)
			fail_msg("%s", rows[i].why);
		house_free(&was);
		house_free(&is);
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
		struct house is = house_new();
		struct cachefile_how how = how_of(&is);
		struct block_writer w;
		struct cachefile_count count;
		struct slice ready;
		struct fault f = { 0 };

		blocks_begin(&w, &(struct blocks_head){ .wall_s = WALL, .judge = 77 });
		if (rows[i].late)
			(void)memset(block_entry(&w, BLOCK_SETS, 1), 0, 1);
		memcpy(block_entry(&w, BLOCK_ZONES, rows[i].len), rows[i].entry, rows[i].len);
		blocks_end(&w, (const uint8_t *)"", 0);
		ready = blocks_take(&w);
		file.len = 0;
		(void)push_bytes(&file, ready.at, ready.len, &f);
		if (read_house(&how, &count, &f) || !strstr(f.text, "its zones are damaged"))
			fail_msg("%s: %s", rows[i].why, f.text);
		blocks_clear(&w);
		house_free(&is);
	}
}

static void reading_and_writing_stop_when_told(void **state)
{
	(void)state;
	struct house was = house_new();
	struct cachefile_how how = how_of(&was);
	struct cachefile_count count;
	struct fault f = { 0 };
	atomic_bool stop = true;

	write_some();
	how.stop = &stop;
	assert_false(cachefile_write(&how, push_bytes, &file, &count, &f));
	write_some();
	assert_false(read_house(&how, &count, &f));
	assert_int_equal(blocks_of(count), 0);
	house_free(&was);
}

/* ---- on the disk ---- */

static char folder[] = "/tmp/resolver-cachefile.XXXXXX", path[64], aside[64];

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
		struct house is = house_new();
		struct cachefile_how how = how_of(&is);
		struct cachefile_count count;
		struct fault f = { 0 };
		bool ok;

		put_file(aside, file.at, file.len, rows[i].mode);
		if (rows[i].owner && chown(aside, rows[i].owner, (gid_t)-1) != 0) {
			house_free(&is);
			continue;
		}
		assert_int_equal(rows[i].linked ? symlink(aside, path) : rename(aside, path), 0);
		ok = cachefile_load(path, &how, &count, &f);
		if (ok != !rows[i].said || (rows[i].said && !strstr(f.text, rows[i].said)))
			fail_msg("%s: %d, %s", rows[i].why, ok, f.text);
		assert_int_equal(blocks_of(count), ok ? 2 : 0);
		unlink(path);
		unlink(aside);
		house_free(&is);
	}
}

static void no_file_is_no_failure(void **state)
{
	(void)state;
	struct house is = house_new();
	struct cachefile_how how = how_of(&is);
	struct cachefile_count count;
	struct fault f = { 0 };

	assert_true(cachefile_load(path, &how, &count, &f));
	assert_false(f.set);
	assert_int_equal(count.bytes, 0);
	house_free(&is);
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
	struct house was = house_new();
	struct cachefile_how how = how_of(&was);

	keep(&was, &plain, SECURITY_INSECURE, 0, NOW, 300);
	for (size_t i = 0; i < COUNT(rows); i++) {
		struct cachefile_count count;
		struct fault f = { 0 };
		struct stat s;
		bool ok;

		if (rows[i].before)
			put_file(path, rows[i].before, strlen(rows[i].before), 0644);
		put_file(aside, "left over", 9, 0644);
		ok = cachefile_save(path, &how, &count, &f);
		if (ok != !rows[i].said || (rows[i].said && !strstr(f.text, rows[i].said)))
			fail_msg("%s: %d, %s", rows[i].why, ok, f.text);
		assert_int_equal(stat(path, &s), 0);
		assert_int_equal((size_t)s.st_size, ok ? count.bytes : strlen(rows[i].before));
		if (ok) {
			assert_int_equal(s.st_mode & 0777, 0600);
			assert_int_equal(access(aside, F_OK), -1);
		}
		unlink(path);
		unlink(aside);
	}
	house_free(&was);
}

static void a_full_disk_leaves_the_file_of_before(void **state)
{
	(void)state;
	struct house was = house_new();
	struct cachefile_how how = how_of(&was);
	struct cachefile_count count;
	struct fault f = { 0 };
	char link[80];
	struct stat s;

	keep(&was, &plain, SECURITY_INSECURE, 0, NOW, 300);
	assert_true(cachefile_save(path, &how, &count, &f));
	/* A folder that cannot be made a file stands for a disk that takes no more. */
	assert_int_equal(mkdir(aside, 0700), 0);
	snprintf(link, sizeof(link), "%s/x", aside);
	put_file(link, "x", 1, 0600);
	assert_false(cachefile_save(path, &how, &count, &f));
	assert_non_null(strstr(f.text, "what was there stays"));
	assert_int_equal(stat(path, &s), 0);
	assert_true(s.st_size > BLOCKS_HEAD_LEN);
	unlink(link);
	rmdir(aside);
	unlink(path);
	house_free(&was);
}

static int begin(void **state)
{
	(void)state;
	hash_start(true);
	rcu_thread_join();
	if (!mkdtemp(folder))
		return -1;
	snprintf(path, sizeof(path), "%s/cache", folder);
	snprintf(aside, sizeof(aside), "%s/cache.new", folder);
	return 0;
}

static int end(void **state)
{
	(void)state;
	rmdir(folder);
	rcu_thread_leave();
	return 0;
}

int main(void)
{
	static const struct CMUnitTest claims[] = {
		cmocka_unit_test(an_answer_comes_back_with_what_is_left_of_it),
		cmocka_unit_test(time_goes_on_while_nobody_counts),
		cmocka_unit_test(another_judge_takes_only_what_can_be_proven),
		cmocka_unit_test(nothing_unproven_that_has_expired_comes_back),
		cmocka_unit_test(sets_come_back_unproven),
		cmocka_unit_test(what_belongs_to_a_view_is_not_written),
		cmocka_unit_test(what_was_learnt_meanwhile_stays),
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
