/* Claims about the entries of a cache file: what is taken of those that are whole, and what is written.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * The checksums hold: whoever can write the file can write them. */
#include "services/cachefile/cachefile.h"
#include "services/cachefile/entry.h"

#include "services/cache/msg.h"
#include "services/cache/rrset.h"
#include "services/tests/made.h"
#include "util/base/hash.h"
#include "util/base/mem.h"

#define NOW  5000
#define WALL 1800000000
#define LONG (1 << 30)

static struct {
	uint8_t at[1 << 20];
	size_t len, read;
	atomic_bool stop;
	unsigned pulls, stop_at;
} file;

static size_t pull(void *arg, uint8_t *to, size_t len)
{
	(void)arg;
	len = MIN(len, file.len - file.read);
	memcpy(to, file.at + file.read, len);
	file.read += len;
	if (++file.pulls == file.stop_at)
		atomic_store(&file.stop, true);
	return len;
}

static bool push(void *arg, const uint8_t *at, size_t len, struct fault *f)
{
	unsigned *pushes = arg;

	if (pushes && !(*pushes)--) {
		fault_set(f, "full");
		return false;
	}
	assert_true(file.len + len <= sizeof(file.at));
	memcpy(file.at + file.len, at, len);
	file.len += len;
	return true;
}

static struct cachefile_how begin(void)
{
	atomic_store(&file.stop, false);
	file.len = file.read = file.pulls = file.stop_at = 0;
	return (struct cachefile_how){ .messages = msgcache_new(1 << 20, 1),
				       .rrsets = rrsetcache_new(1 << 20, 1),
				       .now = { .now_us = NOW * US_PER_S, .now_s = NOW, .wall_s = WALL },
				       .validation = 77,
				       .shape = 5,
				       .most_ttl_s = 86400,
				       .validates = true,
				       .stop = &file.stop };
}

static void end(struct cachefile_how *how)
{
	msgcache_free(how->messages);
	rrsetcache_free(how->rrsets);
}

static const struct blocks_head usual = { .wall_s = WALL, .mono_us = NOW * US_PER_S, .validation = 77, .shape = 5 };

/* Entries of one kind, of which `entry` says what is in them; each in a file of its own, or in `count` of them. */
static void write_entry(const struct blocks_head *head, enum block_kind kind, const uint8_t *at, size_t len, unsigned count)
{
	static const uint8_t totals[END_LEN];
	struct block_writer w;
	struct slice ready;

	blocks_begin(&w, head);
	while (count--)
		memcpy(block_entry(&w, kind, len), at, len);
	blocks_end(&w, totals, sizeof(totals));
	ready = blocks_take(&w);
	memcpy(file.at, ready.at, ready.len);
	file.len = ready.len;
	blocks_clear(&w);
}

/* What became of it: "answer", "set", "expired", "passed", or the reason why nothing was read. */
static const char *read_file(const struct cachefile_how *how, struct fault *f)
{
	struct cachefile_count count;

	*f = (struct fault){ 0 };
	if (!cachefile_read(how, pull, NULL, &count, f))
		return f->text;
	assert_int_equal(count.bytes, file.len);
	assert_int_equal(count.answers + count.sets + count.expired + count.passed, 1);
	return count.answers ? "answer" : count.sets ? "set" : count.expired ? "expired" : "passed";
}

static struct question www(void)
{
	return made_question("www.example.", TYPE_A);
}

static const struct stored *answer_in(const struct cachefile_how *how)
{
	struct question q = www();

	return msgcache_find(how->messages, &q, msgcache_hash(&q), 0, true);
}

/* ---- answers ---- */

static size_t answer_entry(uint8_t *to, size_t room, int32_t age_s, int32_t left_s, uint8_t security, uint16_t flags,
			   uint16_t rcode)
{
	static const struct made made = { "www.example.", TYPE_A, 0, { "www.example. 300 A 192.0.2.1" } };
	struct msg_style style = { .now_s = NOW };
	struct writer w = writer_over(to, room), message;
	struct message *m;
	struct arena a = { 0 };

	write_u32(&w, (uint32_t)age_s);
	write_u32(&w, (uint32_t)left_s);
	write_u8(&w, security);
	m = made_message(&a, NOW, &made);
	m->flags = flags;
	m->rcode = rcode;
	message = writer_over(w.at, writer_left(&w));
	msg_write(&message, m, &style);
	assert_false(message.bad);
	arena_clear(&a);
	return (size_t)(message.at - to);
}

static void an_answer_is_taken_with_the_time_and_the_trust_that_are_left(void **state)
{
	(void)state;
	static const struct {
		const char *why;
		int32_t age_s, left_s;
		uint8_t security;
		uint32_t expired_s; /* how long they are of use */
		bool no_validator, other_validation;
		const char *want;
		uint8_t is;
		int32_t left_then_s;
	} rows[] = {
		{ "usual", 10, 20, SECURITY_INSECURE, 0, false, false, "answer", SECURITY_INSECURE, 20 },
		{ "proven", 10, 20, SECURITY_SECURE, 0, false, false, "answer", SECURITY_UNCHECKED, 20 },
		{ "not validated", 10, 20, SECURITY_UNCHECKED, 0, false, false, "answer", SECURITY_UNCHECKED, 20 },
		{ "under no anchor", 10, 20, SECURITY_INDETERMINATE, 0, false, false, "answer", SECURITY_INDETERMINATE, 20 },
		{ "bogus", 10, 20, SECURITY_BOGUS, 0, false, false, "passed", 0, 0 },
		{ "withheld", 10, 20, SECURITY_SECURE_SENTINEL_FAIL, 0, false, false, "passed", 0, 0 },
		{ "of an unknown status", 10, 20, SECURITY_SECURE + 1, 0, false, false, "passed", 0, 0 },
		{ "proven, by other settings", 10, 20, SECURITY_SECURE, 0, false, true, "answer", SECURITY_UNCHECKED, 20 },
		{ "insecure, by other settings", 10, 20, SECURITY_INSECURE, 0, false, true, "passed", 0, 0 },
		{ "not validated, by other settings", 10, 20, SECURITY_UNCHECKED, 0, false, true, "passed", 0, 0 },
		{ "under no anchor, by other settings", 10, 20, SECURITY_INDETERMINATE, 0, false, true, "passed", 0, 0 },
		{ "bogus, by other settings", 10, 20, SECURITY_BOGUS, 0, false, true, "passed", 0, 0 },
		{ "with its last second", 10, 1, SECURITY_INSECURE, 0, false, false, "answer", SECURITY_INSECURE, 1 },
		{ "expired", 10, 0, SECURITY_INSECURE, 0, false, false, "expired", 0, 0 },
		{ "expired, of use", 10, -9, SECURITY_INSECURE, 10, false, false, "answer", SECURITY_INSECURE, -9 },
		{ "expired, of use no more", 10, -10, SECURITY_INSECURE, 10, false, false, "expired", 0, 0 },
		{ "expired, of use for ever", 10, -LONG + 1, SECURITY_INSECURE, UINT32_MAX, false, false, "answer",
		  SECURITY_INSECURE, -LONG + 1 },
		{ "expired since for ever", 10, -LONG, SECURITY_INSECURE, UINT32_MAX, false, false, "expired", 0, 0 },
		{ "expired, of use, but not validated", 10, 0, SECURITY_UNCHECKED, 10, false, false, "expired", 0, 0 },
		{ "expired, of use, and never will be", 10, 0, SECURITY_UNCHECKED, 10, true, false, "answer", SECURITY_UNCHECKED, 0 },
		{ "not expired, nor validated", 10, 1, SECURITY_UNCHECKED, 10, false, false, "answer", SECURITY_UNCHECKED, 1 },
		{ "valid for too long", 10, 86401, SECURITY_INSECURE, 0, false, false, "answer", SECURITY_INSECURE, 86400 },
		{ "stored just now", 0, 20, SECURITY_INSECURE, 0, false, false, "answer", SECURITY_INSECURE, 20 },
		{ "stored in the future", -1, 20, SECURITY_INSECURE, 0, false, false, "passed", 0, 0 },
		{ "stored for ever ago", LONG, 20, SECURITY_INSECURE, 0, false, false, "answer", SECURITY_INSECURE, 20 },
		{ "stored before that", LONG + 1, 20, SECURITY_INSECURE, 0, false, false, "expired", 0, 0 },
		{ "whole", 10, 20, SECURITY_INSECURE | ANSWER_WHOLE, 0, false, false, "answer", SECURITY_INSECURE, 20 },
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		struct cachefile_how how = begin();
		struct blocks_head head = usual;
		const struct stored *s;
		uint8_t entry[200];
		struct fault f;
		const char *got;

		head.validation += rows[i].other_validation;
		how.validates = !rows[i].no_validator;
		how.expired_s = rows[i].expired_s;
		write_entry(&head, BLOCK_ANSWERS, entry,
			    answer_entry(entry, sizeof(entry), rows[i].age_s, rows[i].left_s, rows[i].security, FLAG_AA, 0), 1);
		got = read_file(&how, &f);
		if (strcmp(got, rows[i].want) != 0)
			fail_msg("%s: %s", rows[i].why, got);
		s = answer_in(&how);
		assert_int_equal(s != NULL, strcmp(got, "answer") == 0);
		if (s) {
			assert_int_equal(s->security, rows[i].is);
			assert_int_equal((int32_t)(s->expires_s - NOW), rows[i].left_then_s);
			assert_int_equal((int32_t)(NOW - s->stored_s), rows[i].age_s);
			assert_int_equal(!!(s->fits & STORED_WHOLE), !!(rows[i].security & ANSWER_WHOLE));
		}
		end(&how);
	}
}

static void an_answer_is_whole_and_of_the_written_form(void **state)
{
	(void)state;
	static const struct {
		const char *why;
		uint16_t flags, rcode;
		int more; /* bytes */
		const char *want;
	} rows[] = {
		{ "whole", 0, 0, 0, "answer" },
		{ "cut", 0, 0, -1, "passed" },
		{ "cut in its head", 0, 0, -200, "passed" },
		{ "from a client", FLAG_RD, 0, 0, "passed" },
		{ "a failure", 0, RCODE_SERVFAIL, 0, "passed" },
		{ "a denial", 0, RCODE_NXDOMAIN, 0, "answer" },
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		struct cachefile_how how = begin();
		uint8_t entry[200];
		size_t len = answer_entry(entry, sizeof(entry), 10, 20, SECURITY_INSECURE, rows[i].flags, rows[i].rcode);
		struct fault f;
		const char *got;

		len = rows[i].more == -200 ? ANSWER_HEAD_LEN - 1 : len + (size_t)rows[i].more;
		write_entry(&usual, BLOCK_ANSWERS, entry, len, 1);
		got = read_file(&how, &f);
		if (strcmp(got, rows[i].want) != 0)
			fail_msg("%s: %s", rows[i].why, got);
		end(&how);
	}
}

/* ---- time ---- */

static void the_time_that_has_passed_is_known_or_nothing_is_used(void **state)
{
	(void)state;
	static const char future[] = "by the clock it is from the future: how old it is cannot be known";
	static const struct {
		const char *why;
		int64_t wall_s; /* when it was written */
		uint64_t mono_us;
		uint32_t shape;
		const char *want;
		int left_s; /* of 200000 */
	} rows[] = {
		{ "now", WALL, NOW * US_PER_S, 5, "answer", 200000 },
		{ "a clock that is a little slow", WALL + 2, NOW * US_PER_S, 5, "answer", 200000 },
		{ "a second more", WALL + 3, NOW * US_PER_S, 5, future, 0 },
		{ "before there was time", -1, NOW * US_PER_S, 5, future, 0 },
		{ "at its beginning", 0, NOW * US_PER_S, 5, "expired", 0 },
		{ "the wall clock knows", WALL - 100, (NOW - 10) * US_PER_S, 5, "answer", 199900 },
		{ "the other clock knows", WALL - 10, (NOW - 100) * US_PER_S, 5, "answer", 199900 },
		{ "the other clock began anew", WALL - 10, (NOW + 1) * US_PER_S, 5, "answer", 199990 },
		{ "not quite a second", WALL, NOW * US_PER_S - 999999, 5, "answer", 200000 },
		{ "other rules", WALL, NOW * US_PER_S, 6,
		  "answers were cached under other rules then (private-address, dns64-prefix, module-config and their like)", 0 },
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		struct cachefile_how how = begin();
		struct blocks_head head = { .wall_s = rows[i].wall_s, .mono_us = rows[i].mono_us, .validation = 77, .shape = rows[i].shape };
		uint8_t entry[200];
		struct fault f;
		const char *got;

		how.most_ttl_s = 1000000;
		write_entry(&head, BLOCK_ANSWERS, entry, answer_entry(entry, sizeof(entry), 10, 200000, SECURITY_INSECURE, 0, 0), 1);
		got = read_file(&how, &f);
		if (strcmp(got, rows[i].want) != 0)
			fail_msg("%s: %s", rows[i].why, got);
		if (rows[i].left_s)
			assert_int_equal(answer_in(&how)->expires_s - NOW, rows[i].left_s);
		end(&how);
	}
}

/* Longer than any TTL is as good as for ever: the age does not wrap. */
static void very_long_ago_is_no_longer_than_for_ever(void **state)
{
	(void)state;
	struct cachefile_how how = begin();
	struct blocks_head head = usual;
	uint8_t entry[200];
	struct fault f;

	head.wall_s = WALL - LONG - 5;
	how.expired_s = UINT32_MAX;
	write_entry(&head, BLOCK_ANSWERS, entry, answer_entry(entry, sizeof(entry), 0, 20, SECURITY_INSECURE, 0, 0), 1);
	assert_string_equal(read_file(&how, &f), "answer");
	assert_int_equal((int32_t)(answer_in(&how)->expires_s - NOW), 20 - LONG);
	end(&how);
}

/* ---- RRsets ---- */

struct set {
	uint32_t ttl_s;
	int32_t left_s;
	uint16_t type, class_, count, sigs;
	uint8_t trust, security, flags, owner_len;
	const char *data;
	size_t len;
};

static size_t set_entry(uint8_t *to, size_t room, const struct set *s)
{
	struct writer w = writer_over(to, room);

	write_u32(&w, s->ttl_s);
	write_u32(&w, (uint32_t)s->left_s);
	write_u16(&w, s->type);
	write_u16(&w, s->class_);
	write_u16(&w, s->count);
	write_u16(&w, s->sigs);
	write_u8(&w, s->trust);
	write_u8(&w, s->security);
	write_u8(&w, s->flags);
	write_u8(&w, s->owner_len);
	write_bytes(&w, (const uint8_t *)s->data, s->len);
	assert_false(w.bad);
	return writer_len(&w);
}

#define DATA(s)  (s), sizeof(s) - 1
#define OWNER    "\1a\7example\0"
#define A1       "\0\4\300\0\2\1"
#define A2       "\0\4\300\0\2\2"
#define SIG_A    "\0\24\0\1\15\2\0\0\1\54\176\0\0\0\136\0\0\0\0\1\0\252"
#define SIG_MX   "\0\24\0\17\15\2\0\0\1\54\176\0\0\0\136\0\0\0\0\1\0\252"
#define AA       TRUST_ANS_AA
#define INSECURE SECURITY_INSECURE

static void a_set_is_taken_if_it_is_whole(void **state)
{
	(void)state;
	static const struct {
		const char *why;
		struct set set;
		const char *want;
		uint8_t trust, security; /* of what was taken */
	} rows[] = {
		{ "usual", { 300, 20, TYPE_A, 1, 1, 0, AA, INSECURE, 0, 11, DATA(OWNER A1) }, "set", AA, INSECURE },
		{ "two records", { 300, 20, TYPE_A, 1, 2, 0, AA, INSECURE, 0, 11, DATA(OWNER A1 A2) }, "set", AA, INSECURE },
		{ "signed", { 300, 20, TYPE_A, 1, 1, 1, AA, INSECURE, 0, 11, DATA(OWNER A1 SIG_A) }, "set", AA, INSECURE },
		{ "two signatures", { 300, 20, TYPE_A, 1, 1, 2, AA, INSECURE, 0, 11, DATA(OWNER A1 SIG_A SIG_A) }, "set", AA, INSECURE },
		{ "proven", { 300, 20, TYPE_A, 1, 1, 1, TRUST_VALIDATED, SECURITY_SECURE, 0, 11, DATA(OWNER A1 SIG_A) }, "set", AA,
		  SECURITY_UNCHECKED },
		{ "hardly trusted", { 300, 20, TYPE_A, 1, 1, 0, TRUST_GLUE, INSECURE, 0, 11, DATA(OWNER A1) }, "set", TRUST_GLUE, INSECURE },
		{ "beyond trust", { 300, 20, TYPE_A, 1, 1, 0, 255, INSECURE, 0, 11, DATA(OWNER A1) }, "set", AA, INSECURE },
		{ "glue", { 300, 20, TYPE_A, 1, 1, 0, AA, INSECURE, RRSET_PARENT_SIDE, 11, DATA(OWNER A1) }, "set", AA, INSECURE },
		{ "its last second", { 300, 1, TYPE_A, 1, 1, 0, AA, INSECURE, 0, 11, DATA(OWNER A1) }, "set", AA, INSECURE },
		{ "expired", { 300, 0, TYPE_A, 1, 1, 0, AA, INSECURE, 0, 11, DATA(OWNER A1) }, "expired", 0, 0 },
		{ "bogus", { 300, 20, TYPE_A, 1, 1, 0, AA, SECURITY_BOGUS, 0, 11, DATA(OWNER A1) }, "passed", 0, 0 },
		{ "bogus in its last second", { 300, 1, TYPE_A, 1, 1, 0, AA, SECURITY_BOGUS, 0, 11, DATA(OWNER A1) }, "passed", 0, 0 },
		{ "bogus and expired", { 300, 0, TYPE_A, 1, 1, 0, AA, SECURITY_BOGUS, 0, 11, DATA(OWNER A1) }, "expired", 0, 0 },
		{ "from a policy", { 300, 20, TYPE_A, 1, 1, 0, AA, INSECURE, RRSET_FROM_POLICY, 11, DATA(OWNER A1) }, "passed", 0, 0 },
		{ "an unknown flag", { 300, 20, TYPE_A, 1, 1, 0, AA, INSECURE, 128, 11, DATA(OWNER A1) }, "passed", 0, 0 },
		{ "no records", { 300, 20, TYPE_A, 1, 0, 1, AA, INSECURE, 0, 11, DATA(OWNER SIG_A) }, "passed", 0, 0 },
		{ "not all of them", { 300, 20, TYPE_A, 1, 2, 0, AA, INSECURE, 0, 11, DATA(OWNER A1) }, "passed", 0, 0 },
		{ "more of them", { 300, 20, TYPE_A, 1, 1, 0, AA, INSECURE, 0, 11, DATA(OWNER A1 A2) }, "passed", 0, 0 },
		{ "a byte more", { 300, 20, TYPE_A, 1, 1, 0, AA, INSECURE, 0, 11, DATA(OWNER A1 "\0") }, "passed", 0, 0 },
		{ "many more than there is room for", { 300, 20, TYPE_A, 1, 65535, 65535, AA, INSECURE, 0, 11, DATA(OWNER A1) }, "passed", 0, 0 },
		{ "a record that is too long", { 300, 20, TYPE_A, 1, 1, 0, AA, INSECURE, 0, 11, DATA(OWNER "\0\5\300\0\2\1\1") }, "passed", 0, 0 },
		{ "a signature of another type", { 300, 20, TYPE_A, 1, 1, 1, AA, INSECURE, 0, 11, DATA(OWNER A1 SIG_MX) }, "passed", 0, 0 },
		{ "a signature that is none", { 300, 20, TYPE_A, 1, 1, 1, AA, INSECURE, 0, 11, DATA(OWNER A1 A2) }, "passed", 0, 0 },
		{ "signatures alone", { 300, 20, TYPE_RRSIG, 1, 2, 0, AA, INSECURE, 0, 11, DATA(OWNER SIG_A SIG_MX) }, "set", AA, INSECURE },
		{ "a type that is for questions", { 300, 20, TYPE_ANY, 1, 1, 0, AA, INSECURE, 0, 11, DATA(OWNER A1) }, "passed", 0, 0 },
		{ "one alias", { 300, 20, TYPE_CNAME, 1, 1, 0, AA, INSECURE, 0, 11, DATA(OWNER "\0\1\0") }, "set", AA, INSECURE },
		{ "two aliases", { 300, 20, TYPE_CNAME, 1, 2, 0, AA, INSECURE, 0, 11, DATA(OWNER "\0\1\0" "\0\3\1a\0") }, "passed", 0, 0 },
		{ "a name that is shorter", { 300, 20, TYPE_A, 1, 1, 0, AA, INSECURE, 0, 12, DATA(OWNER "\0" A1) }, "passed", 0, 0 },
		{ "a name that is longer", { 300, 20, TYPE_A, 1, 1, 0, AA, INSECURE, 0, 10, DATA("\1a\7example" A1) }, "passed", 0, 0 },
		{ "no name", { 300, 20, TYPE_A, 1, 1, 0, AA, INSECURE, 0, 0, DATA(A1) }, "passed", 0, 0 },
		{ "a name that goes on elsewhere", { 300, 20, TYPE_A, 1, 1, 0, AA, INSECURE, 0, 2, DATA("\300\0" A1) }, "passed", 0, 0 },
		{ "a name that is not there", { 300, 20, TYPE_A, 1, 1, 0, AA, INSECURE, 0, 255, DATA(OWNER A1) }, "passed", 0, 0 },
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		const struct set *set = &rows[i].set;
		struct cachefile_how how = begin();
		const struct rrset *s;
		uint8_t entry[200];
		struct fault f;
		const char *got;

		write_entry(&usual, BLOCK_SETS, entry, set_entry(entry, sizeof(entry), set), 1);
		got = read_file(&how, &f);
		if (strcmp(got, rows[i].want) != 0)
			fail_msg("%s: %s", rows[i].why, got);
		s = rrsetcache_find(how.rrsets, N("a.example."), set->type, CLASS_IN, set->flags, NOW);
		assert_int_equal(s != NULL, strcmp(got, "set") == 0);
		if (s) {
			assert_int_equal(s->ttl_s, set->ttl_s);
			assert_int_equal(s->expires_s, NOW + set->left_s);
			assert_int_equal(s->count, set->count);
			assert_int_equal(s->sig_count, set->sigs);
			assert_int_equal(s->trust, rows[i].trust);
			assert_int_equal(s->security, rows[i].security);
			assert_int_equal(s->flags, set->flags);
			assert_memory_equal(rrset_owner(s), set->data, 11);
		}
		end(&how);
	}
}

static void a_set_that_is_cut_anywhere_is_passed_over(void **state)
{
	(void)state;
	static const struct set set = { 300, 20, TYPE_A, 1, 1, 1, AA, INSECURE, 0, 11, DATA(OWNER A1 SIG_A) };
	uint8_t entry[200];
	size_t whole = set_entry(entry, sizeof(entry), &set);

	for (size_t len = 0; len < whole; len++) {
		struct cachefile_how how = begin();
		uint8_t *exact = mem_copy(entry, len); /* for those who look at what is behind it */
		struct fault f;

		write_entry(&usual, BLOCK_SETS, exact, len, 1);
		assert_string_equal(read_file(&how, &f), "passed");
		mem_free(exact);
		end(&how);
	}
}

/* ---- what is written ---- */

static void what_is_written_is_of_use_and_for_all(void **state)
{
	(void)state;
	static const struct {
		const char *why;
		uint8_t security;
		enum reason reason;
		bool made_up, whole;
		uint32_t expired_s;
		int32_t left_s;
		bool written;
		uint8_t is; /* in the file */
	} rows[] = {
		{ "usual", SECURITY_INSECURE, REASON_none, false, false, 0, 20, true, SECURITY_INSECURE },
		{ "whole", SECURITY_INSECURE, REASON_none, false, true, 0, 20, true, SECURITY_INSECURE | ANSWER_WHOLE },
		{ "proven", SECURITY_SECURE, REASON_none, false, false, 0, 20, true, SECURITY_SECURE },
		{ "insecure for a reason: to be found again", SECURITY_INSECURE, REASON_other, false, false, 0, 20, true,
		  SECURITY_UNCHECKED },
		{ "another for a reason", SECURITY_INDETERMINATE, REASON_other, false, false, 0, 20, false, 0 },
		{ "made here", SECURITY_INSECURE, REASON_none, true, false, 0, 20, false, 0 },
		{ "withheld", SECURITY_SECURE_SENTINEL_FAIL, REASON_none, false, false, 0, 20, false, 0 },
		{ "its last second", SECURITY_INSECURE, REASON_none, false, false, 0, 1, true, SECURITY_INSECURE },
		{ "expired", SECURITY_INSECURE, REASON_none, false, false, 0, 0, false, 0 },
		{ "expired, of use", SECURITY_INSECURE, REASON_none, false, false, 10, -9, true, SECURITY_INSECURE },
		{ "expired, of use no more", SECURITY_INSECURE, REASON_none, false, false, 10, -10, false, 0 },
	};
	static const struct made made = { "www.example.", TYPE_A, 0, { "www.example. 300 A 192.0.2.1" } };

	for (size_t i = 0; i < COUNT(rows); i++) {
		struct cachefile_how how = begin();
		struct cachefile_count count;
		struct block_reader r;
		struct slice entry;
		struct fault f = { 0 };
		struct arena a = { 0 };
		struct message *m = made_message(&a, NOW - 100, &made);

		m->security = rows[i].security;
		m->reason = rows[i].reason;
		m->made_up = rows[i].made_up;
		how.expired_s = rows[i].expired_s;
		assert_non_null(msgcache_store(how.messages, m,
					       &(struct msg_keep){ .now_s = NOW - 100,
								   .ttl_s = (uint32_t)(100 + rows[i].left_s),
								   .whole = rows[i].whole }));
		arena_clear(&a);
		if (!cachefile_write(&how, push, NULL, &count, &f))
			fail_msg("%s: %s", rows[i].why, f.text);
		assert_int_equal(count.bytes, file.len);
		if (count.answers != rows[i].written)
			fail_msg("%s: %u", rows[i].why, (unsigned)count.answers);
		assert_true(blocks_open(&r, pull, NULL, &f));
		assert_int_equal(r.head.wall_s, WALL);
		assert_int_equal(r.head.mono_us, NOW * US_PER_S);
		assert_true(r.head.validation == 77 && r.head.shape == 5);
		if (rows[i].written) {
			assert_int_equal(block_next(&r, &f), BLOCK_ANSWERS);
			assert_true(block_take(&r, &entry));
			assert_int_equal(get_u32(entry.at), 100);
			assert_int_equal((int32_t)get_u32(entry.at + 4), rows[i].left_s);
			assert_int_equal(entry.at[8], rows[i].is);
		}
		assert_int_equal(block_next(&r, &f), BLOCK_END);
		assert_true(block_take(&r, &entry));
		assert_int_equal(entry.len, END_LEN);
		assert_int_equal(get_u32(entry.at) | get_u32(entry.at + 4) | get_u32(entry.at + 8), 0);
		assert_int_equal(get_u32(entry.at + 12), count.answers);
		blocks_close(&r);
		end(&how);
	}
}

static void sets_are_written_that_are_fresh_and_nobodys_policy(void **state)
{
	(void)state;
	static const struct {
		const char *why;
		uint32_t expires_s;
		uint8_t security, flags;
		bool written;
	} rows[] = {
		{ "usual", NOW + 20, SECURITY_INSECURE, RRSET_PARENT_SIDE, true },
		{ "its last second", NOW + 1, SECURITY_INSECURE, 0, true },
		{ "expired", NOW, SECURITY_INSECURE, 0, false },
		{ "bogus", NOW + 20, SECURITY_BOGUS, 0, false },
		{ "from a policy", NOW + 20, SECURITY_INSECURE, RRSET_FROM_POLICY, false },
	};
	static const uint8_t want[] = "\0\0\1\54\0\0\0\24\0\1\0\1\0\1\0\0\10\3\2\13" OWNER A1;

	for (size_t i = 0; i < COUNT(rows); i++) {
		struct cachefile_how how = begin();
		struct cachefile_count count;
		struct block_reader r;
		struct slice entry;
		struct fault f = { 0 };
		struct arena a = { 0 };
		struct rrset *s = made_set(&a, NOW - 100, "a.example. 300 A 192.0.2.1");

		s->expires_s = rows[i].expires_s;
		s->security = rows[i].security;
		s->flags = rows[i].flags;
		how.expired_s = 86400; /* for answers */
		(void)rrsetcache_put(how.rrsets, s, NOW - 100, &a);
		assert_true(cachefile_write(&how, push, NULL, &count, &f));
		if (count.sets != rows[i].written)
			fail_msg("%s: %u", rows[i].why, (unsigned)count.sets);
		assert_true(blocks_open(&r, pull, NULL, &f));
		assert_int_equal(block_next(&r, &f), rows[i].written ? BLOCK_SETS : BLOCK_END);
		assert_true(block_take(&r, &entry));
		if (i == 0) {
			assert_int_equal(entry.len, sizeof(want) - 1);
			assert_memory_equal(entry.at, want, entry.len);
			assert_int_equal(block_next(&r, &f), BLOCK_END);
			assert_true(block_take(&r, &entry));
			assert_int_equal(get_u32(entry.at + 4), 1);
			assert_int_equal(get_u32(entry.at + 12), 0);
		}
		blocks_close(&r);
		arena_clear(&a);
		end(&how);
	}
}

/* ---- ends ---- */

static void reading_ends_between_two_entries_when_told(void **state)
{
	(void)state;
	static const struct set set = { 300, 20, TYPE_A, 1, 1, 0, AA, INSECURE, 0, 11, DATA(OWNER A1) };
	static const struct {
		unsigned stop_at; /* when so many times was read: the head, and head and rest of each block */
		bool done;
		unsigned sets;
	} rows[] = { { 0, true, 3 }, { 1, false, 0 }, { 3, false, 0 }, { 5, true, 3 } };

	for (size_t i = 0; i < COUNT(rows); i++) {
		struct cachefile_how how = begin();
		struct cachefile_count count;
		uint8_t entry[200];
		struct fault f = { 0 };

		write_entry(&usual, BLOCK_SETS, entry, set_entry(entry, sizeof(entry), &set), 3);
		file.stop_at = rows[i].stop_at;
		assert_int_equal(cachefile_read(&how, pull, NULL, &count, &f), rows[i].done);
		assert_int_equal(count.sets, rows[i].sets);
		if (!rows[i].done)
			assert_string_equal(f.text, "reading was stopped");
		end(&how);
	}
}

static void writing_ends_when_told_and_when_it_cannot_go_on(void **state)
{
	(void)state;
	struct cachefile_how how = begin();
	struct cachefile_count count;
	struct fault f = { 0 };

	for (unsigned most = 0; most < 3; most++) { /* the head, and then the end */
		unsigned pushes = most;

		f = (struct fault){ 0 };
		assert_int_equal(cachefile_write(&how, push, &pushes, &count, &f), most == 2);
		assert_string_equal(f.set ? f.text : "", most == 2 ? "" : "full");
	}
	atomic_store(&file.stop, true);
	f = (struct fault){ 0 };
	assert_false(cachefile_write(&how, push, NULL, &count, &f));
	assert_string_equal(f.text, "it was stopped");
	how.stop = NULL;
	assert_true(cachefile_write(&how, push, NULL, &count, &f));
	end(&how);
}

static int start(void **state)
{
	(void)state;
	hash_start(true);
	rcu_thread_join();
	return 0;
}

static int stop(void **state)
{
	(void)state;
	rcu_thread_leave();
	return 0;
}

int main(void)
{
	static const struct CMUnitTest claims[] = {
		cmocka_unit_test(an_answer_is_taken_with_the_time_and_the_trust_that_are_left),
		cmocka_unit_test(an_answer_is_whole_and_of_the_written_form),
		cmocka_unit_test(the_time_that_has_passed_is_known_or_nothing_is_used),
		cmocka_unit_test(very_long_ago_is_no_longer_than_for_ever),
		cmocka_unit_test(a_set_is_taken_if_it_is_whole),
		cmocka_unit_test(a_set_that_is_cut_anywhere_is_passed_over),
		cmocka_unit_test(what_is_written_is_of_use_and_for_all),
		cmocka_unit_test(sets_are_written_that_are_fresh_and_nobodys_policy),
		cmocka_unit_test(reading_ends_between_two_entries_when_told),
		cmocka_unit_test(writing_ends_when_told_and_when_it_cannot_go_on),
	};

	return cmocka_run_group_tests(claims, start, stop);
}
