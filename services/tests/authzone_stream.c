/* Claims about transfers as they come, and about the signatures on them.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "services/authzone_stream.h"

#include "services/authzone_data.h"
#include "services/tests/conf.h"
#include "services/tests/made.h"
#include "util/mem.h"

#define NOW_S 1700000000

struct house {
	struct conf *conf;
	struct tsig_keys *keys;
};

static int open_house(void **state)
{
	static const char text[] =
		"key:\n\tname: one.\n\tsecret: \"c2VjcmV0IG9mIHR3byBzZXJ2ZXJz\"\n"
		"key:\n\tname: two.\n\talgorithm: hmac-sha512\n"
		"\tsecret: \"b3RoZXIgc2VjcmV0\"\n"
		"key:\n\tname: three.\n\talgorithm: hmac-sha1\n\tsecret: \"YQ==\"\n";
	struct house *h = mem_zero(sizeof(*h));
	struct fault f = { 0 };

	h->conf = conf_from(text);
	h->keys = tsig_keys_new(h->conf, &f);
	assert_non_null(h->keys);
	*state = h;
	return 0;
}

static int close_house(void **state)
{
	struct house *h = *state;

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
		{ "a record goes that is not there",
		  false,
		  { SOA("2") SOA("1") "q.zone. 60 A 192.0.2.1\n" SOA("2") SOA("2") },
		  "refused" },
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

/* The other side of a talk: it has checked the question, and signs what it answers. */
static void a_talk_is_signed_from_end_to_end(void **state)
{
	struct house *h = *state;
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

static void what_was_touched_does_not_hold(void **state)
{
	struct house *h = *state;
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
	struct house *h = *state;
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
}

int main(void)
{
	const struct CMUnitTest claims[] = {
		cmocka_unit_test(what_comes_is_a_zone_or_it_is_not),
		cmocka_unit_test(a_talk_is_signed_from_end_to_end),
		cmocka_unit_test(what_was_touched_does_not_hold),
		cmocka_unit_test(some_messages_of_a_transfer_may_be_unsigned),
	};

	return cmocka_run_group_tests(claims, open_house, close_house);
}
