/* Claims about what stands in the store of the module cachedb, and how Redis is spoken to.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "services/cachedb_entry.h"

#include "services/resp.h"
#include "services/tests/made.h"
#include "util/timebase.h"

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

static void an_answer_comes_back_as_it_went_only_older(void **state)
{
	(void)state;
	static const struct made made = { "www.example.",
					  TYPE_A,
					  0,
					  { "www.example. 300 A 192.0.2.1\n",
					    "example. 400 NS ns.example.\n" } };
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
		assert_int_equal(message_set_count(e.reply), 2);
		assert_int_equal(e.reply->sets[0]->ttl_s, i % 2 ? r->whole_ttl_s : r->ttl_s);
		assert_int_equal((int32_t)(e.reply->sets[0]->expires_s - then.now_s), r->left_s);
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

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(replies_are_read_as_far_as_they_are_whole),
		cmocka_unit_test(a_line_without_end_is_bad_some_time),
		cmocka_unit_test(commands_are_words_with_their_lengths),
		cmocka_unit_test(equal_questions_have_equal_keys),
		cmocka_unit_test(an_answer_comes_back_as_it_went_only_older),
		cmocka_unit_test(what_is_no_answer_to_the_question_is_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
