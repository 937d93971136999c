/* Claims about what stands in the store of the module cachedb, and how Redis is spoken to.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "services/cachedb/entry.h"

#include "services/cachedb/resp.h"
#include "services/cachedb/store.h"
#include "services/tests/made.h"
#include "util/base/timebase.h"

#define NOW  1000
#define WALL 1800000000

static const struct timebase now = { .now_us = NOW * US_PER_S, .now_s = NOW, .wall_s = WALL };

static struct slice bytes(const char *text)
{
	return (struct slice){ .at = (const uint8_t *)text, .len = strlen(text) };
}

static void replies_are_read_as_far_as_they_are_whole(void **state)
{
	(void)state;
	static const struct {
		const char *in;
		enum resp_kind kind;
		const char *text;
		size_t len;
	} rows[] = {
		{ "", RESP_PART, "", 0 },
		{ "+OK\r\n", RESP_DONE, "OK", 5 },
		{ "+OK\r\n+OK\r\n", RESP_DONE, "OK", 5 },
		{ "+OK\r", RESP_PART, "", 0 },
		{ ":12\r\n", RESP_DONE, "12", 5 },
		{ "-ERR no\r\n", RESP_ERROR, "ERR no", 9 },
		{ "$5\r\nhello\r\n", RESP_VALUE, "hello", 11 },
		{ "$0\r\n\r\n", RESP_VALUE, "", 6 },
		{ "$5\r\nhell", RESP_PART, "", 0 },
		{ "$5\r\nhello\r", RESP_PART, "", 0 },
		{ "$-1\r\n", RESP_NONE, "", 5 },
		{ "$5\r\nhello!!", RESP_BAD, "", 0 },
		{ "$101\r\n", RESP_BAD, "", 0 },
		{ "$-2\r\n", RESP_BAD, "", 0 },
		{ "$\r\n", RESP_BAD, "", 0 },
		{ "$1234567890\r\n", RESP_BAD, "", 0 },
		{ "$0x5\r\nhello\r\n", RESP_BAD, "", 0 },
		{ "*1\r\n$1\r\na\r\n", RESP_BAD, "", 0 },
		{ "HTTP/1.1 400\r\n", RESP_BAD, "", 0 },
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		const __typeof__(rows[0]) *r = &rows[i];

		struct resp got = resp_read(bytes(r->in), 100);

		assert_int_equal(got.kind, r->kind);
		assert_int_equal(got.len, r->len);
		assert_int_equal(got.text.len, strlen(r->text));
		assert_memory_equal(got.text.at ? (const char *)got.text.at : "", r->text,
				    got.text.len);
	}
}

static void a_line_without_end_is_bad_some_time(void **state)
{
	(void)state;
	char endless[600];

	memset(endless, '+', sizeof(endless));
	assert_int_equal(resp_read((struct slice){ (uint8_t *)endless, 500 }, 100).kind, RESP_PART);
	assert_int_equal(resp_read((struct slice){ (uint8_t *)endless, 600 }, 100).kind, RESP_BAD);
}

static void commands_are_words_with_their_lengths(void **state)
{
	(void)state;
	const struct slice words[] = { bytes("SET"), bytes("k"), { (const uint8_t *)"\0\r\n", 3 } };
	static const char want[] = "*3\r\n$3\r\nSET\r\n$1\r\nk\r\n$3\r\n\0\r\n\r\n";
	uint8_t to[64];
	struct writer w = writer_over(to, sizeof(to)), small = writer_over(to, 20);

	resp_write(&w, words, COUNT(words));
	assert_false(w.bad);
	assert_int_equal(writer_len(&w), sizeof(want) - 1);
	assert_memory_equal(to, want, sizeof(want) - 1);
	resp_write(&small, words, COUNT(words));
	assert_true(small.bad);
}

static void equal_questions_have_equal_keys(void **state)
{
	(void)state;
	static const struct {
		const char *why, *name, *secret;
		uint16_t type;
		bool same;
	} rows[] = {
		{ "the same", "www.example.", "default", TYPE_A, true },
		{ "spelled otherwise", "WWW.eXample.", "default", TYPE_A, true },
		{ "another type", "www.example.", "default", TYPE_AAAA, false },
		{ "another name", "ww.example.", "default", TYPE_A, false },
		{ "another secret", "www.example.", "Default", TYPE_A, false },
		{ "no secret", "www.example.", "", TYPE_A, false },
	};
	char first[CACHEDB_KEY_LEN + 1] = "";

	for (size_t i = 0; i < COUNT(rows); i++) {
		const __typeof__(rows[0]) *r = &rows[i];

		uint8_t name[DNAME_MAX];
		struct question q = { .name = name, .type = r->type, .class_ = CLASS_IN };
		char key[CACHEDB_KEY_LEN + 1];

		assert_true(dname_parse(name, r->name, NULL));
		q.name_len = (uint16_t)dname_len(name);
		cachedb_key(key, &q, r->secret);
		assert_int_equal(strlen(key), CACHEDB_KEY_LEN);
		if (!*first)
			memcpy(first, key, sizeof(key));
		assert_int_equal(strcmp(first, key) == 0, r->same);
	}
}

static void keys_and_values_have_the_written_form(void **state)
{
	(void)state;
	static const char want[] = "4cdf1db33310895d21cda8aa4473431174f5fa16239faa93fb1c5f65b2ef420d";
	static const uint8_t head[CACHEDB_HEAD_LEN] = { 1, ENTRY_SIGNED, 1, 2, 3, 4, 5, 6, 7, 8, 0, 0x12, 0x34, 0x56 };
	static const struct made made = {
		"www.example.", TYPE_A, 0, { "www.example. 300 A 192.0.2.1\n" }
	};
	static const struct timebase late = { .now_s = NOW, .wall_s = 0x0102030405060708 };
	struct question q = made_question("wWw.example.", TYPE_AAAA);
	struct arena a = { 0 };
	struct message *m = made_message(&a, NOW, &made);
	char key[CACHEDB_KEY_LEN + 1];
	uint8_t value[512];
	const size_t len = CACHEDB_HEAD_LEN + MSG_HEAD_LEN + 17 + 16; /* question, record */

	q.class_ = 3;
	cachedb_key(key, &q, "salt");
	assert_string_equal(key, want);
	m->id = 77;
	m->flags = FLAG_QR | FLAG_RD | FLAG_RA;
	for (size_t room = 0; room < 100; room++) {
		struct writer w = writer_over(value, room);

		cachedb_entry_write(&w, m, ENTRY_SIGNED, 0x123456, &late);
		assert_int_equal(w.bad, room < len);
		if (w.bad)
			continue;
		assert_int_equal(writer_len(&w), len);
		assert_memory_equal(value, head, sizeof(head));
		assert_int_equal(msg_id(value + CACHEDB_HEAD_LEN), 0);
		assert_int_equal(msg_flags(value + CACHEDB_HEAD_LEN), 0);
	}
	arena_clear(&a);
}

/* Of the fields in front of the message. */
static void what_has_impossible_times_is_nothing(void **state)
{
	(void)state;
	static const struct made made = {
		"www.example.", TYPE_A, 0, { "www.example. 300 A 192.0.2.1\n" }
	};
	static const struct {
		const char *why;
		uint64_t stored_s;
		uint32_t ttl_s;
		int64_t wall_s;
		bool read;
		uint32_t age_s;
		int32_t left_s;
	} rows[] = {
		{ "a clock that goes five minutes behind", WALL + 300, 60, WALL, true, 0, 60 },
		{ "one more second", WALL + 301, 60, WALL, false, 0, 0 },
		{ "a second ago", WALL - 1, 60, WALL, true, 1, 59 },
		{ "the longest time", WALL, INT32_MAX, WALL, true, 0, INT32_MAX },
		{ "one more", WALL, UINT32_C(1) << 31, WALL, false, 0, 0 },
		{ "34 years ago", WALL - (1 << 30), 60, WALL, true, 1 << 30, 60 - (1 << 30) },
		{ "longer ago than any TTL", 0, 60, WALL, true, 1 << 30, 60 - (1 << 30) },
		{ "far in the future", UINT64_MAX, 60, WALL, false, 0, 0 },
		{ "the upper half", UINT64_C(1) << 32, 60, WALL, false, 0, 0 },
		{ "in another age of the world", (UINT64_C(3) << 32) - 1, 60, INT64_C(3) << 32, true, 1, 59 },
		{ "no clock", 0, 60, -5, true, 0, 60 },
		{ "no clock, and a little later", 300, 60, -5, true, 0, 60 },
		{ "no clock, and later", 301, 60, -5, false, 0, 0 },
	};
	struct arena a = { 0 };
	const struct message *m = made_message(&a, NOW, &made);

	for (size_t i = 0; i < COUNT(rows); i++) {
		struct timebase then = { .now_s = NOW, .wall_s = rows[i].wall_s };
		uint8_t value[512];
		struct writer w = writer_over(value, sizeof(value));
		struct cachedb_entry e;
		bool read;

		cachedb_entry_write(&w, m, 0, rows[i].ttl_s, &now);
		put_u32(value + 2, (uint32_t)(rows[i].stored_s >> 32));
		put_u32(value + 6, (uint32_t)rows[i].stored_s);
		read = cachedb_entry_read(&e, (struct slice){ value, writer_len(&w) }, &m->q, &then, &a);
		if (read != rows[i].read || (read && (e.age_s != rows[i].age_s || e.left_s != rows[i].left_s)))
			fail_msg("%s: %d, %u s old, %d s left", rows[i].why, read, e.age_s, e.left_s);
	}
	arena_clear(&a);
}

static void an_answer_comes_back_as_it_went_only_older(void **state)
{
	(void)state;
	static const struct made made = { "www.example.",
					  TYPE_A,
					  0,
					  { "www.example. 300 A 192.0.2.1\n"
					    "www.example. 300 RRSIG A 13 2 300 20300101000000 20200101000000 1 example. AAAA\n",
					    "example. 400 NS ns.example.\nexample. 200 TXT x\n" } };
	static const struct {
		const char *why;
		int64_t wall_s; /* later */
		bool read;
		int32_t left_s;
		uint32_t ttl_s, whole_ttl_s, age_s;
	} rows[] = {
		{ "at once", 0, true, 300, 300, 500, 0 },
		{ "later", 100, true, 200, 200, 500, 100 },
		{ "expired", 400, true, -100, 0, 500, 400 },
		{ "a clock that goes a little behind", -60, true, 300, 300, 500, 0 },
		{ "a clock of last week", -604800, false, 0, 0, 0, 0 },
	};
	struct arena a = { 0 };
	uint8_t value[512];

	for (size_t i = 0; i < 2 * COUNT(rows); i++) {
		const __typeof__(rows[0]) *r = &rows[i / 2];
		const unsigned flags = i % 2 ? ENTRY_SIGNED | ENTRY_WHOLE : ENTRY_SIGNED;

		struct message *m = made_message(&a, NOW, &made);
		struct rrset *older = rrset_copy(&a, m->sets[0]);
		struct timebase then = now;
		struct writer w = writer_over(value, sizeof(value));
		struct cachedb_entry e;
		bool read;

		older->ttl_s = 500; /* what it came with, 200 seconds ago */
		m->sets[0] = older;
		cachedb_entry_write(&w, m, flags, 300, &now);
		assert_false(w.bad);
		then.wall_s += r->wall_s;
		then.now_s += 5; /* this machine's own seconds are not those of the store */
		read = cachedb_entry_read(&e, (struct slice){ value, writer_len(&w) }, &m->q, &then,
					  &a);
		assert_int_equal(read, r->read);
		if (!read)
			continue;
		assert_int_equal(e.left_s, r->left_s);
		assert_int_equal(e.age_s, r->age_s);
		assert_int_equal(e.flags, flags);
		assert_int_equal(e.reply->security, SECURITY_UNCHECKED);
		assert_int_equal(e.reply->flags, FLAG_QR);
		assert_ptr_equal(e.reply->q.name, m->q.name);
		assert_int_equal(message_set_count(e.reply), 3);
		assert_int_equal(e.reply->sets[0]->sig_count, 1);
		assert_int_equal((int32_t)(e.reply->sets[2]->expires_s - then.now_s), 200 - (int)r->age_s);
		assert_int_equal(e.reply->sets[0]->ttl_s, i % 2 ? r->whole_ttl_s : r->ttl_s);
		assert_int_equal((int32_t)(e.reply->sets[0]->expires_s - then.now_s), r->left_s);
		assert_int_equal(e.reply->sets[1]->ttl_s, i % 2 ? 400 : MAX(400 - (int)r->age_s, 0));
		assert_int_equal((int32_t)(e.reply->sets[1]->expires_s - then.now_s),
				 i % 2 ? r->left_s : 400 - (int)r->age_s);
	}
	arena_clear(&a);
}

static void what_is_no_answer_to_the_question_is_nothing(void **state)
{
	(void)state;
	static const struct made made = {
		"www.example.", TYPE_A, 0, { "www.example. 300 A 192.0.2.1\n" }
	};
	static const struct made other = {
		"other.example.", TYPE_A, 0, { "other.example. 300 A 192.0.2.1\n" }
	};
	struct arena a = { 0 };
	const struct message *m = made_message(&a, NOW, &made);
	uint8_t value[512];
	struct writer w = writer_over(value, sizeof(value));
	struct cachedb_entry e;
	size_t len;

	cachedb_entry_write(&w, m, 0, 300, &now);
	len = writer_len(&w);
	assert_false(cachedb_entry_read(&e, (struct slice){ value, len },
					&made_message(&a, NOW, &other)->q, &now, &a));
	for (size_t cut = 0; cut < len; cut++)
		assert_false(cachedb_entry_read(&e, (struct slice){ value, cut }, &m->q, &now, &a));
	value[0] = 2; /* a form of the future */
	assert_false(cachedb_entry_read(&e, (struct slice){ value, len }, &m->q, &now, &a));
	value[0] = 1;
	value[CACHEDB_HEAD_LEN + 3] |= RCODE_SERVFAIL;
	assert_false(cachedb_entry_read(&e, (struct slice){ value, len }, &m->q, &now, &a));
	arena_clear(&a);
}

struct wanted {
	struct cachedb_find find;
	unsigned count;
	struct slice value;
};

static void on_found(struct cachedb_find *f, struct slice value)
{
	struct wanted *w = container_of(f, struct wanted, find);

	w->count++;
	w->value = value;
}

static struct slice found(struct cachedb_store *s, const char *key)
{
	struct wanted w = { .find.found = on_found };

	assert_true(s->ops->find(s, key, &w.find));
	assert_int_equal(w.count, 1);
	assert_null(w.find.pending);
	return w.value;
}

static void the_frame_holds_one_entry(void **state)
{
	(void)state;
	enum { NONE, FIRST, SECOND };
	static const char keys[2][CACHEDB_KEY_LEN + 1] = { "one", "two" };
	static const struct {
		char what; /* put, remove */
		unsigned key;
		const char *value;
		unsigned has[2];
	} rows[] = {
		{ 'r', 0, NULL, { NONE, NONE } },
		{ 'p', 0, "first", { FIRST, NONE } },
		{ 'r', 1, NULL, { FIRST, NONE } },
		{ 'p', 0, "second", { SECOND, NONE } },
		{ 'p', 1, "first", { NONE, FIRST } },
		{ 'r', 1, NULL, { NONE, NONE } },
		{ 'p', 0, "second", { SECOND, NONE } },
	};
	static const char *const values[] = { "", "first", "second" };
	struct cachedb_store *s = cachedb_frame_new();

	for (size_t i = 0; i < COUNT(rows); i++) {
		char value[16];

		snprintf(value, sizeof(value), "%s", rows[i].value ? rows[i].value : "");
		if (rows[i].what == 'p')
			s->ops->put(s, keys[rows[i].key], bytes(value), 0);
		else
			s->ops->remove(s, keys[rows[i].key]);
		memset(value, 0, sizeof(value)); /* the store has its own */
		for (unsigned k = 0; k < 2; k++) {
			const char *want = values[rows[i].has[k]];
			struct slice got = found(s, keys[k]);

			assert_int_equal(got.len, strlen(want));
			assert_true(!!got.at == !!*want);
			assert_true(!got.at || memcmp(got.at, want, got.len) == 0);
		}
	}
	s->ops->free(s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(replies_are_read_as_far_as_they_are_whole),
		cmocka_unit_test(a_line_without_end_is_bad_some_time),
		cmocka_unit_test(commands_are_words_with_their_lengths),
		cmocka_unit_test(equal_questions_have_equal_keys),
		cmocka_unit_test(keys_and_values_have_the_written_form),
		cmocka_unit_test(what_has_impossible_times_is_nothing),
		cmocka_unit_test(the_frame_holds_one_entry),
		cmocka_unit_test(an_answer_comes_back_as_it_went_only_older),
		cmocka_unit_test(what_is_no_answer_to_the_question_is_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
