/* Claims about keys and signed messages (RFC 8945), with ourselves as the other side.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "services/authzone/tsig.h"

#include <openssl/hmac.h>

#include "services/tests/conf.h"
#include "util/base/fault.h"
#include "util/dns/msg.h"
#include "util/dns/rr.h"

#define WALL 1793491200

/* 'key' clauses: name, algorithm, secret. */
#define KEY(name, algorithm, secret) "key:\n name: \"" name "\"\n algorithm: " algorithm "\n secret: \"" secret "\"\n"
#define SECRET "AAECAwQFBgcICQoLDA0ODw=="

static struct conf *conf;
static struct tsig_keys *keys;

static const struct tsig_key *key_of(const char *text, const char *name)
{
	struct fault f = { 0 };

	conf = conf_from(text);
	keys = tsig_keys_new(conf, &f);
	if (!keys)
		fail_msg("%s", f.text);
	return tsig_keys_find(keys, name);
}

static void keys_end(void)
{
	tsig_keys_free(keys);
	conf_free(conf);
}

static const char *const algorithms[] = { "hmac-sha256", "hmac-sha384", "hmac-sha512", "hmac-sha224", "hmac-sha1" };
static const size_t mac_lens[] = { 32, 48, 64, 28, 20 };

struct packet {
	uint8_t bytes[1024];
	struct writer w;
};

/* A question for v.test. SOA, or (`answer`) a response with a record. */
static void begin(struct packet *p, bool answer)
{
	p->w = writer_over(p->bytes, sizeof(p->bytes));
	write_u16(&p->w, 0x1234);
	write_u16(&p->w, answer ? FLAG_QR : 0);
	write_u16(&p->w, 1);
	write_u16(&p->w, answer);
	write_u32(&p->w, 0);
	write_bytes(&p->w, "\1v\4test", 8);
	write_u16(&p->w, TYPE_TXT);
	write_u16(&p->w, CLASS_IN);
	if (answer)
		write_bytes(&p->w, "\300\14\0\20\0\1\0\0\0\74\0\2\1a", 14);
}

static enum tsig_end check_question(const struct tsig_key *key, const struct packet *p, int64_t wall_s)
{
	struct tsig_talk t = { 0 };
	enum tsig_end end = tsig_check_question(&t, key, p->bytes, writer_len(&p->w), wall_s);

	tsig_talk_clear(&t);
	return end;
}

static void sign(struct tsig_talk *t, const struct tsig_key *key, struct packet *p)
{
	begin(p, false);
	tsig_sign_question(t, key, p->bytes, &p->w, WALL);
	assert_false(p->w.bad);
}

static void a_secret_is_whole_base64(void **state)
{
	(void)state;
	static const struct {
		const char *secret;
		bool want;
	} rows[] = { { SECRET, true }, { "AAEC", true },  { "AAECAwQ=", true }, { "AAECAw", false },
		     { "AAECAw==", true }, { "AA==", true },      { "!!!!", false },     { "", false },
		     { "====", false },    { "A===", false },     { "AA=A", false },     { "=AAA", false },
		     { "AAEC====", false }, { "AAAAA===", false }, { "AA==AAEC", false }, { "AAEC----", false }, { " AAE", false },
		     { "AAEC\n\n\n\n", false } };
	static const char *const others[][2] = { { "k..test.", "hmac-sha256" }, { "k.test.", "hmac-md6" } };
	struct conf_key key;
	struct conf made = { .keys = &key, .key_count = 1 };
	struct fault f = { 0 };

	/* The configuration's own check comes before: here it is left out. */
	conf = conf_from(KEY("k.test.", "hmac-sha256", SECRET));
	key = conf->keys[0];
	for (size_t i = 0; i < COUNT(rows); i++) {
		key.secret = (char *)(uintptr_t)rows[i].secret;
		keys = tsig_keys_new(&made, &f);
		if ((keys != NULL) != rows[i].want)
			fail_msg("'%s'", rows[i].secret);
		tsig_keys_free(keys);
	}
	key = conf->keys[0];
	for (size_t i = 0; i < COUNT(others); i++) {
		key.name = (char *)(uintptr_t)others[i][0];
		key.algorithm = (char *)(uintptr_t)others[i][1];
		assert_null(tsig_keys_new(&made, &f));
	}
	conf_free(conf);
}

static void a_key_is_found_by_its_name(void **state)
{
	(void)state;
	const struct tsig_key *a = key_of(KEY("a.test.", "hmac-sha256", SECRET) KEY("B.test.", "hmac-sha512", SECRET), "a.test.");

	assert_non_null(a);
	assert_non_null(tsig_keys_find(keys, "b.TEST"));
	assert_ptr_not_equal(a, tsig_keys_find(keys, "b.test."));
	assert_null(tsig_keys_find(keys, "c.test."));
	assert_null(tsig_keys_find(keys, ""));
	keys_end();
}

/* Question, signed; answer, signed behind it; and that with every algorithm. */
static void signed_question_and_answer_verify(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT(algorithms); i++) {
		struct tsig_talk ours = { 0 }, theirs = { 0 };
		const struct tsig_key *key;
		struct packet q, a;
		char text[200];

		snprintf(text, sizeof text, KEY("k.test.", "%s", SECRET), algorithms[i]);
		key = key_of(text, "k.test.");
		sign(&ours, key, &q);
		assert_int_equal(ours.mac_len, mac_lens[i]);
		assert_int_equal(tsig_check_question(&theirs, key, q.bytes, writer_len(&q.w), WALL), TSIG_GOOD);
		begin(&a, true);
		tsig_sign_answer(&theirs, a.bytes, &a.w, WALL);
		assert_int_equal(tsig_check_answer(&ours, a.bytes, writer_len(&a.w), WALL), TSIG_GOOD);
		assert_true(ours.answered);
		/* The same once more is not behind itself. */
		assert_int_equal(tsig_check_answer(&ours, a.bytes, writer_len(&a.w), WALL), TSIG_BAD);
		tsig_talk_clear(&ours);
		tsig_talk_clear(&theirs);
		keys_end();
	}
}

/* Computed by another program (Python's hmac), so that what is hashed is not only what we agree on with ourselves. The
 * secret ends with padding, which is no part of it. */
static void the_mac_is_that_of_the_standard(void **state)
{
	(void)state;
	static const uint8_t want[] = "\x69\xf8\xf3\x3e\x8b\x5f\x32\x13\x9c\x4e\x14\x7b\xb3\x37\xc1\x68"
				      "\xed\x3d\xdf\x83\x58\x22\x82\x16\xe0\x6c\x61\xc5\x7c\x09\xe7\x85";
	const struct tsig_key *key = key_of(KEY("k.test.", "hmac-sha256", SECRET), "k.test.");
	struct tsig_talk t = { 0 };
	struct packet p;

	sign(&t, key, &p);
	assert_int_equal(t.mac_len, 32);
	assert_memory_equal(t.mac, want, 32);
	assert_int_equal(check_question(key, &p, WALL), TSIG_GOOD);
	tsig_talk_clear(&t);
	keys_end();
}

static void no_bit_of_a_signed_message_may_change(void **state)
{
	(void)state;
	const struct tsig_key *key = key_of(KEY("k.test.", "hmac-sha256", SECRET), "k.test.");
	struct tsig_talk t = { 0 };
	struct packet p;

	sign(&t, key, &p);
	for (size_t i = 2; i < writer_len(&p.w); i++) { /* the id may be another (RFC 8945 5.3) */
		p.bytes[i] ^= 1;
		if (check_question(key, &p, WALL) == TSIG_GOOD)
			fail_msg("byte %zu", i);
		p.bytes[i] ^= 1;
	}
	p.bytes[0] ^= 1;
	assert_int_equal(check_question(key, &p, WALL), TSIG_GOOD);
	p.bytes[0] ^= 1;
	/* Nor may anything be missing, or follow. */
	for (size_t len = 12; len < writer_len(&p.w); len++) {
		struct packet cut = p;

		cut.w = writer_over(cut.bytes, sizeof(cut.bytes));
		cut.w.at += len;
		assert_int_equal(check_question(key, &cut, WALL), TSIG_BAD);
	}
	write_u8(&p.w, 0);
	assert_int_equal(check_question(key, &p, WALL), TSIG_BAD);
	tsig_talk_clear(&t);
	keys_end();
}

static void a_signature_is_good_for_five_minutes(void **state)
{
	(void)state;
	const struct tsig_key *key = key_of(KEY("k.test.", "hmac-sha256", SECRET), "k.test.");
	struct tsig_talk t = { 0 };
	struct packet p;

	sign(&t, key, &p);
	assert_int_equal(check_question(key, &p, WALL + 300), TSIG_GOOD);
	assert_int_equal(check_question(key, &p, WALL - 300), TSIG_GOOD);
	assert_int_equal(check_question(key, &p, WALL + 301), TSIG_BAD);
	assert_int_equal(check_question(key, &p, WALL - 301), TSIG_BAD);
	tsig_talk_clear(&t);
	keys_end();
}

static void what_is_not_signed_is_open_and_what_is_signed_by_others_bad(void **state)
{
	(void)state;
	const struct tsig_key *key = key_of(KEY("k.test.", "hmac-sha256", SECRET) KEY("l.test.", "hmac-sha256", SECRET)
					    KEY("m.test.", "hmac-sha256", "AAEC"), "k.test.");
	struct tsig_talk t = { 0 };
	struct packet p;

	begin(&p, false);
	assert_int_equal(check_question(key, &p, WALL), TSIG_OPEN);
	/* With something else behind it, too; and not even that is read from a message without a head. */
	put_u16(p.bytes + 10, 1);
	write_bytes(&p.w, "\0\0\51\4\320\0\0\0\0\0\0", 11);
	assert_int_equal(check_question(key, &p, WALL), TSIG_OPEN);
	p.w.at = p.bytes + 11;
	assert_int_equal(check_question(key, &p, WALL), TSIG_BAD);
	sign(&t, tsig_keys_find(keys, "l.test."), &p);
	assert_int_equal(check_question(key, &p, WALL), TSIG_BAD);
	sign(&t, tsig_keys_find(keys, "m.test."), &p);
	assert_int_equal(check_question(key, &p, WALL), TSIG_BAD);
	/* Another record behind the signature. */
	sign(&t, key, &p);
	put_u16(p.bytes + 10, 2);
	write_bytes(&p.w, "\0\0\51\4\320\0\0\0\0\0\0", 11);
	assert_int_equal(check_question(key, &p, WALL), TSIG_BAD);
	tsig_talk_clear(&t);
	keys_end();
}

/* A transfer: of a hundred messages one has to be signed, and that covers those before it. */
static void messages_between_signed_ones_may_be_unsigned(void **state)
{
	(void)state;
	const struct tsig_key *key = key_of(KEY("k.test.", "hmac-sha256", SECRET), "k.test.");
	struct tsig_talk ours = { 0 }, theirs = { 0 };
	struct packet q, a, plain;

	begin(&plain, true);
	sign(&ours, key, &q);
	assert_int_equal(tsig_check_answer(&ours, plain.bytes, writer_len(&plain.w), WALL), TSIG_BAD);
	for (unsigned between = 98; between <= 100; between++) {
		sign(&ours, key, &q);
		assert_int_equal(tsig_check_question(&theirs, key, q.bytes, writer_len(&q.w), WALL), TSIG_GOOD);
		begin(&a, true);
		tsig_sign_answer(&theirs, a.bytes, &a.w, WALL);
		assert_int_equal(tsig_check_answer(&ours, a.bytes, writer_len(&a.w), WALL), TSIG_GOOD);
		for (unsigned i = 1; i <= between; i++)
			assert_int_equal(tsig_check_answer(&ours, plain.bytes, writer_len(&plain.w), WALL),
					 i <= 99 ? TSIG_OPEN : TSIG_BAD);
		assert_int_equal(ours.unsigned_count, between);
		tsig_talk_clear(&ours);
		tsig_talk_clear(&theirs);
	}
	keys_end();
}

/* A signature made here, from what RFC 8945 4.3 says is hashed: the MAC before, messages without one, this message, and
 * the variables of its record, or its times alone. */
static const struct by_hand {
	const struct packet *before; /* without a signature */
	bool times_alone;
	uint64_t time_s;
	uint16_t error, other_len;
	size_t mac_len; /* written; 0: all of it */
} plainly;

static void sign_by_hand(struct packet *p, struct tsig_talk *chain, const struct by_hand *how)
{
	static const uint8_t secret[] = { 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15 };
	static const char algorithm[] = "\13hmac-sha256";
	uint8_t text[4096];
	struct writer w = writer_over(text, sizeof(text));
	uint64_t time_s = how->time_s ? how->time_s : WALL;
	unsigned len = 32;

	if (chain->mac_len) {
		write_u16(&w, (uint16_t)chain->mac_len);
		write_bytes(&w, chain->mac, chain->mac_len);
	}
	if (how->before)
		write_bytes(&w, how->before->bytes, writer_len(&how->before->w));
	write_bytes(&w, p->bytes, writer_len(&p->w));
	if (!how->times_alone) {
		write_bytes(&w, "\1k\4test", 8);
		write_u16(&w, 255);
		write_u32(&w, 0);
		write_bytes(&w, algorithm, sizeof(algorithm));
	}
	write_u16(&w, (uint16_t)(time_s >> 32));
	write_u32(&w, (uint32_t)time_s);
	write_u16(&w, 300);
	if (!how->times_alone) {
		write_u16(&w, how->error);
		write_u16(&w, how->other_len);
		write_bytes(&w, "other", how->other_len);
	}
	assert_non_null(HMAC(EVP_sha256(), secret, sizeof(secret), text, writer_len(&w), chain->mac, &len));
	chain->mac_len = len;
	len = how->mac_len ? (unsigned)how->mac_len : len;
	write_bytes(&p->w, "\1k\4test\0\0\372\0\377\0\0\0\0", 16);
	write_u16(&p->w, (uint16_t)(sizeof(algorithm) + 16 + len + how->other_len));
	write_bytes(&p->w, algorithm, sizeof(algorithm));
	write_u16(&p->w, (uint16_t)(time_s >> 32));
	write_u32(&p->w, (uint32_t)time_s);
	write_u16(&p->w, 300);
	write_u16(&p->w, (uint16_t)len);
	write_bytes(&p->w, chain->mac, MIN(len, 64));
	write_u16(&p->w, 0x1234);
	write_u16(&p->w, how->error);
	write_u16(&p->w, how->other_len);
	write_bytes(&p->w, "other", how->other_len);
	put_u16(p->bytes + 10, 1);
}

static enum tsig_end check_answer(struct tsig_talk *t, const struct packet *p)
{
	return tsig_check_answer(t, p->bytes, writer_len(&p->w), WALL);
}

/* A transfer: each signature covers the one before, and what came without one since. */
static void a_chain_of_answers_is_that_of_the_standard(void **state)
{
	(void)state;
	for (unsigned altered = 0; altered < 2; altered++) {
		const struct tsig_key *key = key_of(KEY("K.Test.", "hmac-sha256", SECRET), "k.test.");
		struct tsig_talk ours = { 0 }, theirs;
		struct packet p, between;

		sign(&ours, key, &p);
		theirs = (struct tsig_talk){ .mac_len = ours.mac_len };
		memcpy(theirs.mac, ours.mac, ours.mac_len);
		begin(&p, true);
		sign_by_hand(&p, &theirs, &plainly);
		assert_int_equal(check_answer(&ours, &p), TSIG_GOOD);
		begin(&p, true);
		sign_by_hand(&p, &theirs, &(struct by_hand){ .times_alone = true });
		assert_int_equal(check_answer(&ours, &p), TSIG_GOOD);
		begin(&between, true);
		for (unsigned n = 0; n < 99; n++)
			assert_int_equal(check_answer(&ours, &between), TSIG_OPEN);
		tsig_talk_clear(&ours);
		/* again, to the same place */
		sign(&ours, key, &p);
		theirs.mac_len = ours.mac_len;
		memcpy(theirs.mac, ours.mac, ours.mac_len);
		begin(&p, true);
		sign_by_hand(&p, &theirs, &plainly);
		assert_int_equal(check_answer(&ours, &p), TSIG_GOOD);
		between.bytes[writer_len(&between.w) - 1] ^= (uint8_t)altered;
		assert_int_equal(check_answer(&ours, &between), TSIG_OPEN);
		between.bytes[writer_len(&between.w) - 1] ^= (uint8_t)altered;
		begin(&p, true);
		sign_by_hand(&p, &theirs, &(struct by_hand){ .before = &between, .times_alone = true });
		assert_int_equal(check_answer(&ours, &p), altered ? TSIG_BAD : TSIG_GOOD);
		for (unsigned n = 0; !altered && n < 99; n++) /* as many as at first */
			assert_int_equal(check_answer(&ours, &between), TSIG_OPEN);
		tsig_talk_clear(&ours);
		keys_end();
	}
}

static void what_a_signature_says_is_checked(void **state)
{
	(void)state;
	static const struct {
		const char *why;
		struct by_hand how;
		int64_t wall_s;
		enum tsig_end want;
	} rows[] = {
		{ "plainly", { 0 }, WALL, TSIG_GOOD },
		{ "data for which nothing is said", { .other_len = 5 }, WALL, TSIG_GOOD },
		{ "an error, rightly signed", { .error = 18 }, WALL, TSIG_BAD },
		{ "times alone", { .times_alone = true }, WALL, TSIG_BAD },
		{ "a MAC cut short", { .mac_len = 16 }, WALL, TSIG_BAD },
		{ "a MAC of one byte more", { .mac_len = 33 }, WALL, TSIG_BAD },
		{ "after 2106", { .time_s = (UINT64_C(1) << 32) + 5 }, (INT64_C(1) << 32) + 5, TSIG_GOOD },
		{ "then, looked at now", { .time_s = (UINT64_C(1) << 32) + WALL }, WALL, TSIG_BAD },
	};
	const struct tsig_key *key = key_of(KEY("k.test.", "hmac-sha256", SECRET), "k.test.");

	for (size_t i = 0; i < COUNT(rows); i++) {
		struct tsig_talk none = { 0 }, t = { 0 };
		struct packet p;

		begin(&p, false);
		sign_by_hand(&p, &none, &rows[i].how);
		if (check_question(key, &p, rows[i].wall_s) != rows[i].want)
			fail_msg("%s", rows[i].why);
		/* ours says the same time */
		begin(&p, false);
		tsig_sign_question(&t, key, p.bytes, &p.w, rows[i].wall_s);
		assert_int_equal(check_question(key, &p, rows[i].wall_s), TSIG_GOOD);
		tsig_talk_clear(&t);
	}
	keys_end();
}

/* A key longer than the hash's block is hashed first: then each byte of it counts, and of padding none. */
static void a_long_secret_has_no_padding(void **state)
{
	(void)state;
	char text[400], secret[89];
	uint8_t key_bytes[65], want[32];
	const struct tsig_key *key;
	struct tsig_talk t = { 0 };
	struct packet p, plain;
	uint8_t hashed[256];
	struct writer w = writer_over(hashed, sizeof(hashed));
	unsigned len = sizeof(want);

	memset(secret, 'A', 86);
	memcpy(secret + 86, "8=", 3);
	memset(key_bytes, 0, sizeof(key_bytes));
	key_bytes[64] = 0x0f;
	secret[85] = 'A';
	snprintf(text, sizeof(text), KEY("k.test.", "hmac-sha256", "%s"), secret);
	key = key_of(text, "k.test.");
	begin(&plain, false);
	sign(&t, key, &p);
	write_bytes(&w, plain.bytes, writer_len(&plain.w));
	write_bytes(&w, "\1k\4test\0\0\377\0\0\0\0\13hmac-sha256", 27);
	write_u16(&w, 0);
	write_u32(&w, WALL);
	write_u16(&w, 300);
	write_u32(&w, 0);
	assert_non_null(HMAC(EVP_sha256(), key_bytes, sizeof(key_bytes), hashed, writer_len(&w), want, &len));
	assert_memory_equal(t.mac, want, sizeof(want));
	tsig_talk_clear(&t);
	keys_end();
}

/* Only the last record of the additional section is a signature. */
static void a_tsig_record_elsewhere_is_no_signature(void **state)
{
	(void)state;
	const struct tsig_key *key = key_of(KEY("k.test.", "hmac-sha256", SECRET) KEY(".", "hmac-sha256", SECRET), "k.test.");
	static const uint8_t head[MSG_HEAD_LEN];
	struct tsig_talk t = { 0 };
	struct packet p;

	assert_null(tsig_keys_find(keys, "")); /* not the key of the root */
	assert_non_null(tsig_keys_find(keys, "."));
	assert_null(tsig_keys_find(keys, "a..b"));
	for (unsigned section = 6; section < 10; section += 2) {
		sign(&t, key, &p);
		put_u16(p.bytes + section, 1);
		put_u16(p.bytes + 10, 0);
		assert_int_equal(check_question(key, &p, WALL), TSIG_OPEN);
		put_u16(p.bytes + 10, 1); /* of two records the first */
		write_bytes(&p.w, "\0\0\51\4\320\0\0\0\0\0\0", 11);
		assert_int_equal(check_question(key, &p, WALL), TSIG_BAD);
	}
	assert_int_equal(tsig_check_question(&t, key, head, sizeof(head), WALL), TSIG_OPEN);
	assert_int_equal(tsig_check_question(&t, key, head, sizeof(head) - 1, WALL), TSIG_BAD);
	tsig_talk_clear(&t);
	keys_end();
}

int main(void)
{
	const struct CMUnitTest claims[] = {
		cmocka_unit_test(a_secret_is_whole_base64),
		cmocka_unit_test(a_key_is_found_by_its_name),
		cmocka_unit_test(signed_question_and_answer_verify),
		cmocka_unit_test(the_mac_is_that_of_the_standard),
		cmocka_unit_test(no_bit_of_a_signed_message_may_change),
		cmocka_unit_test(a_signature_is_good_for_five_minutes),
		cmocka_unit_test(what_is_not_signed_is_open_and_what_is_signed_by_others_bad),
		cmocka_unit_test(messages_between_signed_ones_may_be_unsigned),
		cmocka_unit_test(a_chain_of_answers_is_that_of_the_standard),
		cmocka_unit_test(what_a_signature_says_is_checked),
		cmocka_unit_test(a_long_secret_has_no_padding),
		cmocka_unit_test(a_tsig_record_elsewhere_is_no_signature),
	};

	return cmocka_run_group_tests(claims, NULL, NULL);
}
