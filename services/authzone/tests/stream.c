/* Claims about transfers as they come, and about the signatures on them.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "services/authzone/stream.h"

#include "services/authzone/data.h"
#include "services/tests/conf.h"
#include "services/tests/made.h"
#include "util/base/mem.h"

#define NOW_S 1700000000

struct fixture {
	struct conf *conf;
	struct tsig_keys *keys;
};

static int open_fixture(void **state)
{
	static const char text[] =
		"key:\n\tname: one.\n\tsecret: \"c2VjcmV0IG9mIHR3byBzZXJ2ZXJz\"\n"
		"key:\n\tname: two.\n\talgorithm: hmac-sha512\n"
		"\tsecret: \"b3RoZXIgc2VjcmV0\"\n"
		"key:\n\tname: three.\n\talgorithm: hmac-sha1\n\tsecret: \"YQ==\"\n";
	struct fixture *h = mem_zero(sizeof(*h));
	struct fault f = { 0 };

	h->conf = conf_from(text);
	h->keys = tsig_keys_new(h->conf, &f);
	assert_non_null(h->keys);
	*state = h;
	return 0;
}

static int close_fixture(void **state)
{
	struct fixture *h = *state;

	tsig_keys_free(h->keys);
	conf_free(h->conf);
	mem_free(h);
	return 0;
}

/* Records, a line each, as a message that answers. */
static size_t write_message(uint8_t *to, size_t room, const char *text, struct writer *w)
{
	struct arena a;
	unsigned count = 0;

	*w = writer_over(to, room);
	memset(to, 0, MSG_HEAD_LEN);
	w->at += MSG_HEAD_LEN;
	arena_init(&a);
	for (const char *at = text, *end; *at; at = *end ? end + 1 : end) {
		struct text_rr rr;
		struct fault f = { 0 };
		char line[200];

		end = at + strcspn(at, "\n");
		snprintf(line, sizeof(line), "%.*s", (int)(end - at), at);
		if (!text_rr_parse(&a, line, NULL, &rr, &f))
			fail_msg("%s: %s", line, f.text);
		text_rr_write(w, &rr);
		count++;
	}
	arena_clear(&a);
	put_u16(to + 2, FLAG_QR);
	put_u16(to + 6, (uint16_t)count);
	assert_false(w->bad);
	return writer_len(w);
}

static struct zonedata *zone_of(const char *text)
{
	struct zonebuild *b = zonebuild_new(N("zone."));
	struct xfr x = { .apex = NULL };
	uint8_t wire[2000];
	struct writer w;
	struct zonedata *z;

	zonebuild_free(b);
	xfr_begin(&x, N("zone."), true, NULL);
	assert_true(xfr_take(&x, wire, write_message(wire, sizeof(wire), text, &w), NOW_S));
	assert_true(xfr_is_done(&x));
	z = zonebuild_finish(x.build, NULL);
	x.build = NULL;
	xfr_clear(&x);
	assert_non_null(z);
	return z;
}

#define SOA_CH(serial) "zone. 60 CH SOA ns.zone. host.zone. " serial " 2 3 4 5\n"
#define SOA(serial) "zone. 60 SOA ns.zone. host.zone. " serial " 2 3 4 5\n"

static void what_comes_is_a_zone_or_it_is_not(void **state)
{
	(void)state;
	static const struct {
		const char *why;
		bool axfr;
		const char *messages[3];
		const char *want; /* "done N", "changes N", "nothing", "more", "wrong" */
	} rows[] = {
		{ "all in one", true, { SOA("7") "a.zone. 60 A 192.0.2.1\n" SOA("7") }, "done 2" },
		{ "in two", true, { SOA("7") "a.zone. 60 A 192.0.2.1\n", SOA("7") }, "done 2" },
		{ "no end yet", true, { SOA("7") "a.zone. 60 A 192.0.2.1\n" }, "more" },
		{ "another end", true, { SOA("7") "a.zone. 60 A 192.0.2.1\n" SOA("8") }, "wrong" },
		{ "nothing but an SOA", true, { SOA("7"), SOA("7") }, "done 1" },
		{ "begins with another record", true, { "a.zone. 60 A 192.0.2.1\n" }, "wrong" },
		{ "a step",
		  false,
		  { SOA("2") SOA("1") "a.zone. 60 A 192.0.2.1\n" SOA(
			  "2") "b.zone. 60 A 192.0.2.2\n" SOA("2") },
		  "changes 3" },
		{ "two steps, in pieces",
		  false,
		  { SOA("3") SOA("1") SOA("2") "b.zone. 60 A 192.0.2.2\n",
		    SOA("2") "b.zone. 60 A 192.0.2.2\n" SOA("3"), SOA("3") },
		  "changes 3" },
		{ "steps that do not join",
		  false,
		  { SOA("3") SOA("1") SOA("2") SOA("1") SOA("3") SOA("3") },
		  "wrong" },
		{ "from a serial that is not ours", false, { SOA("3") SOA("2") }, "wrong" },
		{ "the whole in place of steps",
		  false,
		  { SOA("3") "a.zone. 60 A 192.0.2.3\n" SOA("3") },
		  "done 2" },
		{ "as new as ours", false, { SOA("1") }, "nothing" },
		{ "older than ours", false, { SOA("0") }, "nothing" },
		{ "a second SOA of another serial", true, { SOA("7") SOA("8") }, "wrong" },
		{ "a second SOA of an older serial", true, { SOA("101") SOA("7") }, "wrong" },
		{ "the second SOA in the second message", true, { SOA("101"), SOA("7") }, "wrong" },
		{ "a second SOA of another serial, and then the zone",
		  true,
		  { SOA("7") SOA("6") "a.zone. 60 A 192.0.2.1\n" SOA("7") },
		  "wrong" },
		{ "a second SOA with other times",
		  true,
		  { SOA("7") "zone. 60 SOA ns.zone. host.zone. 7 2 3 4 6\n" },
		  "wrong" },
		{ "a last SOA with another server",
		  true,
		  { SOA("7") "a.zone. 60 A 192.0.2.1\n"
			     "zone. 60 SOA nt.zone. host.zone. 7 2 3 4 5\n" },
		  "wrong" },
		{ "the last SOA in another case",
		  true,
		  { SOA("7") "a.zone. 60 A 192.0.2.1\n"
			     "Zone. 60 SOA NS.zone. host.ZONE. 7 2 3 4 5\n" },
		  "done 2" },
		{ "records behind the last SOA",
		  true,
		  { SOA("7") "a.zone. 60 A 192.0.2.1\n" SOA("7") "b.zone. 60 A 192.0.2.1\n" },
		  "wrong" },
		{ "the zone behind two SOAs",
		  true,
		  { SOA("7") SOA("7") "a.zone. 60 A 192.0.2.1\n" SOA("7") },
		  "wrong" },
		{ "no record at all", true, { "" }, "wrong" },
		{ "no record in between", true, { SOA("7"), "", SOA("7") }, "done 1" },
		{ "an SOA of another zone in front", true, { "a." SOA("7") SOA("7") }, "wrong" },
		{ "records of other zones",
		  true,
		  { SOA("7") "a.zone. 60 A 192.0.2.1\nb.other. 60 A 192.0.2.1\n" SOA("7") },
		  "done 2" },
		{ "a record of another class",
		  true,
		  { SOA("7") "a.zone. 60 CH A 192.0.2.1\n" SOA("7") },
		  "wrong" },
		{ "an SOA of another class in front", true, { SOA_CH("7") SOA("7") }, "wrong" },
		{ "an SOA of another class at the end",
		  true,
		  { SOA("7") "a.zone. 60 A 192.0.2.1\n" SOA_CH("7") },
		  "wrong" },
		{ "a record goes that is not there",
		  false,
		  { SOA("2") SOA("1") "q.zone. 60 A 192.0.2.1\n" SOA("2") SOA("2") },
		  "refused" },
		{ "a step that ends in another version",
		  false,
		  { SOA("3") SOA("1") SOA("2") "b.zone. 60 A 192.0.2.2\n" SOA("3") },
		  "wrong" },
		{ "a step that is never closed",
		  false,
		  { SOA("2") SOA("1") SOA("2") "b.zone. 60 A 192.0.2.2\n" },
		  "more" },
		{ "a step back", false, { SOA("3") SOA("1") SOA("0") SOA("0") SOA("3") SOA("3") }, "wrong" },
		{ "a step to where it was", false, { SOA("3") SOA("1") SOA("1") SOA("1") SOA("3") SOA("3") }, "wrong" },
		{ "a step beyond the last version",
		  false,
		  { SOA("3") SOA("1") SOA("4") SOA("4") SOA("3") SOA("3") },
		  "wrong" },
		{ "steps beyond the last version, and round to it",
		  false,
		  { SOA("3") SOA("1") SOA("4") SOA("4") SOA("2147483650"),
		    SOA("2147483650") SOA("4000000000") SOA("4000000000") SOA("3"), SOA("3") },
		  "wrong" },
		{ "a step to another SOA of the last serial",
		  false,
		  { SOA("2") SOA("1") "zone. 60 SOA ns.zone. host.zone. 2 9 9 9 9\n" SOA("2") },
		  "wrong" },
		{ "steps closed by another SOA of the last serial",
		  false,
		  { SOA("2") SOA("1") SOA("2") "zone. 60 SOA ns.zone. host.zone. 2 9 9 9 9\n" },
		  "wrong" },
		{ "steps, and records behind them",
		  false,
		  { SOA("2") SOA("1") SOA("2") SOA("2") "b.zone. 60 A 192.0.2.2\n" },
		  "wrong" },
		{ "a step from an SOA that is not ours",
		  false,
		  { SOA("2") "zone. 60 SOA ns.zone. host.zone. 1 9 9 9 9\n" SOA("2") SOA("2") },
		  "refused" },
		{ "a step that leaves nothing but the SOA",
		  false,
		  { SOA("2") SOA("1") "a.zone. 60 A 192.0.2.1\nc.zone. 60 A 192.0.2.4\n" SOA("2")
			    SOA("2") },
		  "changes 1" },
		{ "in place of steps a zone of nothing but its SOA", false, { SOA("3") SOA("3") }, "wrong" },
		{ "the whole, as old as ours",
		  false,
		  { SOA("1") "a.zone. 60 A 192.0.2.3\n" SOA("1") },
		  "nothing" },
		{ "the whole in place of steps with another end",
		  false,
		  { SOA("3") "a.zone. 60 A 192.0.2.3\n" SOA("4") },
		  "wrong" },
		{ "a record of another class in a step",
		  false,
		  { SOA("2") SOA("1") "a.zone. 60 CH A 192.0.2.1\n" SOA("2") SOA("2") },
		  "wrong" },
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		struct zonedata *have = zone_of(SOA("1") "a.zone. 60 A 192.0.2.1\n"
							 "c.zone. 60 A 192.0.2.4\n" SOA("1"));
		struct xfr x = { .apex = NULL };
		bool good = true;
		char got[40] = "wrong";
		struct writer w;

		xfr_begin(&x, N("zone."), rows[i].axfr, rows[i].axfr ? NULL : have);
		for (unsigned m = 0; good && m < 3 && rows[i].messages[m]; m++) {
			uint8_t wire[2000];
			size_t len = write_message(wire, sizeof(wire), rows[i].messages[m], &w);

			good = xfr_take(&x, wire, len, NOW_S);
		}
		if (good && !xfr_is_done(&x)) {
			snprintf(got, sizeof(got), "more");
		} else if (good && x.nothing) {
			snprintf(got, sizeof(got), "nothing");
		} else if (good) {
			struct zonedata *z;

			if (x.differs)
				zonebuild_put_under(x.build, have);
			z = zonebuild_finish(x.build, NULL);
			x.build = NULL;
			snprintf(got, sizeof(got), "%s %zu", x.differs ? "changes" : "done",
				 z ? z->records : 0);
			if (!z)
				snprintf(got, sizeof(got), "refused");
			zonedata_free(z);
		}
		if (strcmp(got, rows[i].want) != 0)
			fail_msg("%s: %s, not %s", rows[i].why, got, rows[i].want);
		xfr_clear(&x);
		zonedata_free(have);
	}
}

/* What a message may look like beside its records. */
static void a_message_is_of_this_transfer_or_ends_it(void **state)
{
	(void)state;
	static const struct {
		const char *why;
		uint16_t flags;
		const char *name; /* of the question; NULL: there is none */
		uint16_t type, class_;
		unsigned questions;
		bool good;
	} rows[] = {
		{ "no question", FLAG_QR, NULL, 0, 0, 0, true },
		{ "the question", FLAG_QR, "zone.", TYPE_AXFR, CLASS_IN, 1, true },
		{ "the question in another case", FLAG_QR, "ZONE.", TYPE_AXFR, CLASS_IN, 1, true },
		{ "an authority", FLAG_QR | FLAG_AA | FLAG_RA, NULL, 0, 0, 0, true },
		{ "another name", FLAG_QR, "zones.", TYPE_AXFR, CLASS_IN, 1, false },
		{ "another type", FLAG_QR, "zone.", TYPE_IXFR, CLASS_IN, 1, false },
		{ "another class", FLAG_QR, "zone.", TYPE_AXFR, CLASS_CH, 1, false },
		{ "two questions", FLAG_QR, "zone.", TYPE_AXFR, CLASS_IN, 2, false },
		{ "three questions, of which there is one", FLAG_QR, "zone.", TYPE_AXFR, CLASS_IN, 3, false },
		{ "a question", 0, NULL, 0, 0, 0, false },
		{ "a NOTIFY", FLAG_QR | OPCODE_NOTIFY << 11, NULL, 0, 0, 0, false },
		{ "cut off", FLAG_QR | FLAG_TC, NULL, 0, 0, 0, false },
		{ "an error", FLAG_QR | RCODE_SERVFAIL, NULL, 0, 0, 0, false },
		{ "a refusal", FLAG_QR | RCODE_REFUSED, NULL, 0, 0, 0, false },
	};

	for (size_t i = 0; i < 2 * COUNT(rows); i++) {
		bool later = i % 2; /* in the middle of the stream */
		struct xfr x = { .apex = NULL };
		uint8_t plain[500], wire[1000];
		struct writer w, whole = writer_over(wire, sizeof(wire));
		size_t len = write_message(plain, sizeof(plain), SOA("7"), &w);
		bool good;

		xfr_begin(&x, N("zone."), true, NULL);
		if (later)
			assert_true(xfr_take(&x, plain, len, NOW_S));
		put_u16(plain + 2, rows[i / 2].flags);
		put_u16(plain + 4, (uint16_t)rows[i / 2].questions);
		write_bytes(&whole, plain, MSG_HEAD_LEN);
		for (unsigned q = rows[i / 2].questions == 3 ? 2 : 0; q < rows[i / 2].questions; q++) {
			const uint8_t *name = N(rows[i / 2].name);

			write_bytes(&whole, name, dname_len(name));
			write_u16(&whole, rows[i / 2].type);
			write_u16(&whole, rows[i / 2].class_);
		}
		write_bytes(&whole, plain + MSG_HEAD_LEN, len - MSG_HEAD_LEN);
		good = xfr_take(&x, wire, writer_len(&whole), NOW_S);
		if (good != rows[i / 2].good)
			fail_msg("%s%s", rows[i / 2].why, later ? ", later" : "");
		xfr_clear(&x);
	}
}

static void a_message_that_is_cut_is_none(void **state)
{
	(void)state;
	uint8_t wire[500];
	struct writer w;
	size_t whole = write_message(wire, sizeof(wire), SOA("7") "a.zone. 60 A 192.0.2.1\n" SOA("7"), &w);

	for (size_t len = 0; len <= whole; len++) {
		struct xfr x = { .apex = NULL };

		xfr_begin(&x, N("zone."), true, NULL);
		if (xfr_take(&x, wire, len, NOW_S) != (len == whole))
			fail_msg("%zu of %zu bytes", len, whole);
		if (len == whole) /* behind it comes nothing */
			assert_false(xfr_take(&x, wire, len, NOW_S));
		xfr_clear(&x);
	}
	for (size_t len = 0; len < MSG_HEAD_LEN; len++) { /* in the middle of the stream */
		struct xfr x = { .apex = NULL };
		uint8_t first[500];

		xfr_begin(&x, N("zone."), true, NULL);
		assert_true(xfr_take(&x, first, write_message(first, sizeof(first), SOA("7"), &w), NOW_S));
		if (xfr_take(&x, wire, len, NOW_S))
			fail_msg("%zu bytes, later", len);
		xfr_clear(&x);
	}
}

/* RFC 8767 4 */
static void a_ttl_with_the_top_bit_is_a_long_one(void **state)
{
	(void)state;
	static const struct {
		uint32_t sent_s, taken_s;
	} rows[] = { { 60, 60 }, { INT32_MAX, INT32_MAX }, { UINT32_C(1) << 31, INT32_MAX }, { UINT32_MAX, INT32_MAX } };

	for (size_t i = 0; i < COUNT(rows); i++) {
		struct xfr x = { .apex = NULL };
		uint8_t wire[500];
		struct writer w;
		size_t len = write_message(wire, sizeof(wire), SOA("7") SOA("7"), &w);
		struct zonedata *z;

		put_u32(wire + MSG_HEAD_LEN + 6 + 4, rows[i].sent_s); /* behind name, type and class */
		xfr_begin(&x, N("zone."), true, NULL);
		assert_true(xfr_take(&x, wire, len, NOW_S));
		z = zonebuild_finish(x.build, NULL);
		x.build = NULL;
		assert_int_equal(z->soa->ttl_s, rows[i].taken_s);
		zonedata_free(z);
		xfr_clear(&x);
	}
}

static void the_question_is_the_one_that_was_asked(void **state)
{
	(void)state;
	static const struct {
		bool has, axfr; /* what is held; what is asked for all the same */
		uint16_t type;
		bool good;
	} rows[] = {
		{ true, false, TYPE_IXFR, true },   { true, false, TYPE_AXFR, false }, { true, true, TYPE_AXFR, true },
		{ true, true, TYPE_IXFR, false },   { false, false, TYPE_AXFR, true }, { false, false, TYPE_IXFR, false },
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		struct zonedata *have = zone_of(SOA("1") SOA("1"));
		struct xfr x = { .apex = NULL };
		uint8_t plain[500], wire[1000];
		struct writer w, whole = writer_over(wire, sizeof(wire));
		size_t len = write_message(plain, sizeof(plain), SOA("7"), &w);

		put_u16(plain + 4, 1);
		write_bytes(&whole, plain, MSG_HEAD_LEN);
		write_bytes(&whole, N("zone."), 6);
		write_u16(&whole, rows[i].type);
		write_u16(&whole, CLASS_IN);
		write_bytes(&whole, plain + MSG_HEAD_LEN, len - MSG_HEAD_LEN);
		xfr_begin(&x, N("zone."), rows[i].axfr, rows[i].has ? have : NULL);
		assert_int_equal(xfr_take(&x, wire, writer_len(&whole), NOW_S), rows[i].good);
		xfr_clear(&x);
		zonedata_free(have);
	}
}

/* The other side of a talk: it has checked the question, and signs what it answers. */
static void tsig_signs_every_message_of_a_transfer(void **state)
{
	struct fixture *h = *state;
	static const char *const names[] = { "one", "Two.", "three" };

	for (size_t i = 0; i < COUNT(names); i++) {
		const struct tsig_key *key = tsig_keys_find(h->keys, names[i]);
		struct tsig_talk ours = { .key = NULL }, theirs = { .key = NULL };
		uint8_t question[500], answer[500];
		struct writer w;

		assert_non_null(key);
		write_message(question, sizeof(question), "", &w);
		tsig_sign_question(&ours, key, question, &w, NOW_S);
		put_u16(question, 4711); /* as the transport does */
		assert_int_equal(
			tsig_check_question(&theirs, key, question, writer_len(&w), NOW_S + 299),
			TSIG_GOOD);
		write_message(answer, sizeof(answer), SOA("1"), &w);
		tsig_sign_answer(&theirs, answer, &w, NOW_S);
		assert_int_equal(tsig_check_answer(&ours, answer, writer_len(&w), NOW_S),
				 TSIG_GOOD);
		tsig_talk_clear(&ours);
		tsig_talk_clear(&theirs);
	}
	assert_null(tsig_keys_find(h->keys, "four"));
	assert_null(tsig_keys_find(h->keys, ""));
}

static void tsig_rejects_a_changed_message(void **state)
{
	struct fixture *h = *state;
	const struct tsig_key *key = tsig_keys_find(h->keys, "one");
	uint8_t question[500], wire[500];
	struct tsig_talk ours = { .key = NULL };
	struct writer w;
	size_t len;

	write_message(question, sizeof(question), SOA("1"), &w);
	tsig_sign_question(&ours, key, question, &w, NOW_S);
	len = writer_len(&w);
	tsig_talk_clear(&ours);
	for (size_t i = 2; i < len; i++) {
		struct tsig_talk theirs = { .key = NULL };

		memcpy(wire, question, len);
		wire[i] ^= 1;
		if (tsig_check_question(&theirs, key, wire, len, NOW_S) == TSIG_GOOD)
			fail_msg("byte %zu may be changed", i);
		tsig_talk_clear(&theirs);
	}
	for (int late = -1; late <= 1; late += 2) {
		struct tsig_talk theirs = { .key = NULL };

		assert_int_equal(
			tsig_check_question(&theirs, key, question, len, NOW_S + late * 301),
			TSIG_BAD);
		tsig_talk_clear(&theirs);
	}
}

static void some_messages_of_a_transfer_may_be_unsigned(void **state)
{
	struct fixture *h = *state;
	const struct tsig_key *key = tsig_keys_find(h->keys, "one");
	uint8_t question[500], answer[500];
	struct xfr x = { .apex = NULL };
	struct tsig_talk theirs = { .key = NULL };
	struct writer w;
	size_t len;

	xfr_begin(&x, N("zone."), true, NULL);
	write_message(question, sizeof(question), "", &w);
	tsig_sign_question(&x.talk, key, question, &w, NOW_S);
	assert_int_equal(tsig_check_question(&theirs, key, question, writer_len(&w), NOW_S),
			 TSIG_GOOD);
	write_message(answer, sizeof(answer), SOA("1"), &w);
	tsig_sign_answer(&theirs, answer, &w, NOW_S);
	assert_true(xfr_take(&x, answer, writer_len(&w), NOW_S));
	len = write_message(answer, sizeof(answer), "a.zone. 60 A 192.0.2.1\n", &w);
	for (unsigned i = 0; i < 99; i++)
		assert_true(xfr_take(&x, answer, len, NOW_S));
	assert_false(xfr_take(&x, answer, len, NOW_S)); /* one too many */
	xfr_clear(&x);

	xfr_begin(&x, N("zone."), true, NULL);
	write_message(question, sizeof(question), "", &w);
	tsig_sign_question(&x.talk, key, question, &w, NOW_S);
	len = write_message(answer, sizeof(answer), SOA("1") SOA("1"), &w);
	assert_false(xfr_take(&x, answer, len, NOW_S)); /* the first must be */
	xfr_clear(&x);
	tsig_talk_clear(&theirs);

	xfr_begin(&x, N("zone."), true, NULL);
	write_message(question, sizeof(question), "", &w);
	tsig_sign_question(&x.talk, key, question, &w, NOW_S);
	assert_int_equal(tsig_check_question(&theirs, key, question, writer_len(&w), NOW_S),
			 TSIG_GOOD);
	write_message(answer, sizeof(answer), SOA("1"), &w);
	tsig_sign_answer(&theirs, answer, &w, NOW_S);
	assert_true(xfr_take(&x, answer, writer_len(&w), NOW_S));
	len = write_message(answer, sizeof(answer), SOA("1"), &w);
	assert_false(xfr_take(&x, answer, len, NOW_S)); /* and so must the last */
	xfr_clear(&x);
	tsig_talk_clear(&theirs);
}

int main(void)
{
	const struct CMUnitTest claims[] = {
		cmocka_unit_test(what_comes_is_a_zone_or_it_is_not),
		cmocka_unit_test(a_message_is_of_this_transfer_or_ends_it),
		cmocka_unit_test(a_message_that_is_cut_is_none),
		cmocka_unit_test(a_ttl_with_the_top_bit_is_a_long_one),
		cmocka_unit_test(the_question_is_the_one_that_was_asked),
		cmocka_unit_test(tsig_signs_every_message_of_a_transfer),
		cmocka_unit_test(tsig_rejects_a_changed_message),
		cmocka_unit_test(some_messages_of_a_transfer_may_be_unsigned),
	};

	return cmocka_run_group_tests(claims, open_fixture, close_fixture);
}
