/* Claims about keys, signatures and digests.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "validator/crypto.h"

#include <openssl/ec.h>
#include <openssl/evp.h>
#include <pthread.h>

#include "util/dns/tests/zone.h"
#include "validator/verify.h"

static const char *const files[] = { "rsasha1", "rsasha1n", "rsasha256", "rsasha512",
				     "p256",    "p384",     "ed25519",   "ed448" };

static void all_algorithms_are_known(void **state)
{
	(void)state;
	static const uint8_t yes[] = { 5, 7, 8, 10, 13, 14, 15, 16 };
	static const uint8_t no[] = { 0, 1, 3, 6, 12, 17, 23, 252, 253, 255 };
	char buf[24];

	for (size_t i = 0; i < COUNT(yes); i++)
		assert_true(crypto_knows(yes[i]));
	for (size_t i = 0; i < COUNT(no); i++)
		assert_false(crypto_knows(no[i]));
	assert_string_equal(crypto_algorithm_name(13, buf), "ECDSAP256SHA256");
	assert_string_equal(crypto_algorithm_name(200, buf), "algorithm 200");
	assert_int_equal(crypto_digest_len(DIGEST_SHA1), 20);
	assert_int_equal(crypto_digest_len(DIGEST_SHA256), 32);
	assert_int_equal(crypto_digest_len(DIGEST_SHA384), 48);
	assert_int_equal(crypto_digest_len(3), 0);
}

static void a_malformed_key_is_refused_with_a_reason(void **state)
{
	(void)state;
	static uint8_t ones[1100];
	static const struct {
		const char *what;
		uint8_t algorithm;
		const char *head;
		size_t head_len, len;   /* followed by bytes 0xff up to len */
		const char *why;        /* NULL: it is a key */
	} rows[] = {
		{ "empty", 8, "", 0, 0, "the exponent is longer than the key" },
		{ "exponent of length 0", 8, "\0\0\0", 3, 3, "the exponent is longer than the key" },
		{ "length in three bytes, cut", 8, "\0\1", 2, 2, "the exponent is longer than the key" },
		{ "exponent longer than all", 8, "\100", 1, 40, "the exponent is longer than the key" },
		{ "exponent of 65535 bytes", 8, "\0\377\377", 3, 300,
		  "the exponent is longer than the key" },
		{ "no modulus", 8, "\1\3", 2, 2, "the exponent is longer than the key" },
		{ "modulus of zeros", 8, "\1\3\0\0", 4, 4, "the exponent is longer than the key" },
		{ "511 bits", 8, "\1\3\177", 3, 2 + 64, "the modulus is shorter than 512 bits" },
		{ "512 bits", 8, "\1\3", 2, 2 + 64, NULL },
		{ "4096 bits", 10, "\3\1\0\1", 4, 4 + 512, NULL },
		{ "zeros in front of 4096 bits", 8, "\3\1\0\1\0\0", 6, 6 + 512, NULL },
		{ "4104 bits", 8, "\3\1\0\1", 4, 4 + 513, "the modulus is longer than 4096 bits" },
		{ "zeros in front of the exponent", 8, "\5\0\0\1\0\1", 6, 6 + 64, NULL },
		{ "more zeros than an exponent may have bytes", 8, "\12\0\0\0\0\0\0\0\1\0\1", 11, 11 + 64, NULL },
		{ "exponent of zeros", 8, "\2\0\0", 3, 3 + 64, "the exponent is longer than the key" },
		{ "exponent 1", 8, "\1\1", 2, 2 + 64, "the exponent is even, or 1" },
		{ "exponent 2", 8, "\1\2", 2, 2 + 64, "the exponent is even, or 1" },
		{ "exponent of 64 bits", 8, "\10", 1, 1 + 8 + 64, NULL },
		{ "exponent of 72 bits", 8, "\11", 1, 1 + 9 + 64, "the exponent is longer than 64 bits" },
		{ "point too short", 13, "", 0, 63, "the point has the wrong length" },
		{ "point too long", 13, "", 0, 65, "the point has the wrong length" },
		{ "point nowhere", 13, "", 0, 64, "the point is not on the curve" },
		{ "no point", 14, "", 0, 0, "the point has the wrong length" },
		{ "point nowhere", 14, "", 0, 96, "the point is not on the curve" },
		{ "Ed25519 too short", 15, "", 0, 31, "the point has the wrong length" },
		{ "Ed448 too long", 16, "", 0, 58, "the point has the wrong length" },
		{ "DSA", 3, "", 0, 100, "unsupported algorithm" },
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		const char *why = NULL;
		struct crypto_key *k;

		memset(ones, 0xff, sizeof(ones));
		memcpy(ones, rows[i].head, rows[i].head_len);
		k = crypto_key_new(rows[i].algorithm, (struct slice){ ones, rows[i].len }, &why);
		if ((k == NULL) != (rows[i].why != NULL))
			fail_msg("%s", rows[i].what);
		if (rows[i].why)
			assert_string_equal(why, rows[i].why);
		else
			assert_true(crypto_key_size(k) > 100);
		crypto_key_free(k);
	}
}

static void key_sizes_are_read_from_the_wire(void **state)
{
	(void)state;
	uint8_t key[600];

	memset(key, 0xff, sizeof(key));
	assert_int_equal(crypto_key_bits(13, (struct slice){ key, 64 }), 256);
	assert_int_equal(crypto_key_bits(14, (struct slice){ key, 96 }), 384);
	assert_int_equal(crypto_key_bits(15, (struct slice){ key, 32 }), 256);
	assert_int_equal(crypto_key_bits(16, (struct slice){ key, 57 }), 456);
	assert_int_equal(crypto_key_bits(13, (struct slice){ key, 65 }), 0);
	key[0] = 8; /* RFC 2536: 64 + 8 * 8 bytes */
	assert_int_equal(crypto_key_bits(3, (struct slice){ key, 1 + 20 + 3 * 128 }), 1024);
	assert_int_equal(crypto_key_bits(6, (struct slice){ key, 1 + 20 + 3 * 128 }), 1024);
	assert_int_equal(crypto_key_bits(3, (struct slice){ key, 3 * 128 }), 0);
	assert_int_equal(crypto_key_bits(3, (struct slice){ key, 0 }), 0);
	assert_int_equal(crypto_key_bits(200, (struct slice){ key, 64 }), 0);
	memcpy(key, "\3\1\0\1\0\1", 6);
	assert_int_equal(crypto_key_bits(8, (struct slice){ key, 6 + 127 }), 127 * 8 + 1);
	assert_int_equal(crypto_key_bits(8, (struct slice){ key, 2 }), 0);
	memcpy(key, "\0\0\3\1\0\1\377", 7); /* the exponent's length in three bytes */
	assert_int_equal(crypto_key_bits(8, (struct slice){ key, 6 + 128 }), 128 * 8);
}

static void keys_that_are_slow_cost_more(void **state)
{
	(void)state;
	static const struct {
		const char *head;
		size_t head_len, modulus;
		unsigned cost;
	} rows[] = { { "\3\1\0\1", 4, 512, 1 }, { "\5\1\0\0\0\1", 6, 512, 2 },
		     { "\5\1\0\0\0\1", 6, 256, 1 }, { "\4\1\0\0\1", 5, 512, 1 } };
	uint8_t key[600];

	for (size_t i = 0; i < COUNT(rows); i++) {
		struct crypto_key *k;

		memset(key, 0xff, sizeof(key));
		memcpy(key, rows[i].head, rows[i].head_len);
		k = crypto_key_new(8, (struct slice){ key, rows[i].head_len + rows[i].modulus }, NULL);
		assert_non_null(k);
		assert_int_equal(crypto_key_cost(k), rows[i].cost);
		crypto_key_free(k);
	}
}

/* A key, what it signed, and the signature: the SOA set of each zone, in canonical form. */
struct sample {
	struct zone_sets zone;
	struct crypto_key *key;
	struct slice data, sig;
};

static void sample_load(struct sample *s, const char *file)
{
	char path[64], owner[32];
	struct rrset *keys, *soa;
	struct slice rd = { NULL, 0 };
	struct rrset_walk w;
	struct writer out;
	struct dnskey key;
	struct rrsig sig;
	uint8_t *buf;

	snprintf(path, sizeof(path), "validator/tests/zones/%s.zone", file);
	snprintf(owner, sizeof(owner), "%s.test.", file);
	zone_load(&s->zone, path);
	keys = zone_set(&s->zone, owner, TYPE_DNSKEY);
	soa = zone_set(&s->zone, owner, TYPE_SOA);
	w = rrset_sigs(soa);
	assert_true(rrset_next(&w, &rd) && rrsig_read(rd, &sig));
	s->key = NULL;
	for (unsigned i = 0; i < keys->count; i++)
		if (rr_key_tag(rrset_record(keys, i)) == sig.tag &&
		    dnskey_read(rrset_record(keys, i), &key))
			s->key = crypto_key_new(key.algorithm, key.public_key, NULL);
	assert_non_null(s->key);

	rd = rrset_record(soa, 0);
	buf = arena_take(&s->zone.arena, 1000);
	out = writer_over(buf, 1000);
	write_bytes(&out, sig.head.at, sig.head.len);
	write_bytes(&out, rrset_owner(soa), soa->owner_len);
	write_u16(&out, TYPE_SOA);
	write_u16(&out, CLASS_IN);
	write_u32(&out, sig.original_ttl_s);
	write_u16(&out, (uint16_t)rd.len);
	rr_canonical_rdata(TYPE_SOA, memcpy(write_room(&out, rd.len), rd.at, rd.len), rd.len);
	assert_false(out.bad);
	s->data = (struct slice){ buf, writer_len(&out) };
	s->sig = (struct slice){ arena_copy(&s->zone.arena, sig.signature.at, sig.signature.len),
				 sig.signature.len };
}

static void sample_clear(struct sample *s)
{
	crypto_key_free(s->key);
	zone_clear(&s->zone);
}

static void a_signature_holds_for_its_data_alone(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT(files); i++) {
		struct sample s;
		uint8_t *sig, *data, longer[600] = { 0 };
		struct slice cut;

		sample_load(&s, files[i]);
		sig = (uint8_t *)s.sig.at;
		data = (uint8_t *)s.data.at;
		/* Good and bad in turn: a key works on after a failure. */
		for (unsigned round = 0; round < 3; round++) {
			size_t at = s.sig.len * round / 3;

			if (!crypto_verify(s.key, s.data, s.sig))
				fail_msg("%s: round %u", files[i], round);
			sig[at] ^= 1;
			assert_false(crypto_verify(s.key, s.data, s.sig));
			sig[at] ^= 1;
			data[at] ^= 0x20;
			assert_false(crypto_verify(s.key, s.data, s.sig));
			data[at] ^= 0x20;
		}
		cut = (struct slice){ s.sig.at, s.sig.len - 1 };
		assert_false(crypto_verify(s.key, s.data, cut));
		assert_false(crypto_verify(s.key, s.data, (struct slice){ s.sig.at, 0 }));
		memcpy(longer, s.sig.at, s.sig.len);
		assert_false(crypto_verify(s.key, s.data,
					   (struct slice){ longer, s.sig.len + 1 }));
		memset(longer, 0, sizeof(longer));      /* r = s = 0, and their like */
		assert_false(crypto_verify(s.key, s.data, (struct slice){ longer, s.sig.len }));
		memset(longer, 0xff, sizeof(longer));
		assert_false(crypto_verify(s.key, s.data, (struct slice){ longer, s.sig.len }));
		sample_clear(&s);
	}
}

static void *verify_often(void *arg)
{
	const struct sample *s = arg;

	for (unsigned i = 0; i < 50; i++)
		if (!crypto_verify(s->key, s->data, s->sig))
			return NULL;
	return arg;
}

static void threads_may_share_a_key(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT(files); i++) {
		pthread_t threads[4];
		struct sample s;

		sample_load(&s, files[i]);
		for (size_t j = 0; j < COUNT(threads); j++)
			assert_int_equal(pthread_create(&threads[j], NULL, verify_often, &s), 0);
		for (size_t j = 0; j < COUNT(threads); j++) {
			void *good;

			assert_int_equal(pthread_join(threads[j], &good), 0);
			assert_ptr_equal(good, &s);
		}
		sample_clear(&s);
	}
}

/* Numbers of a signature that begin with zeros, or with a bit that looks like a sign: among so many there are some. */
static void signatures_of_every_shape_hold(void **state)
{
	(void)state;
	static const uint8_t data[] = "what is signed";
	EVP_PKEY *pair = EVP_EC_gen("P-256");
	uint8_t point[65], digest[CRYPTO_DIGEST_MAX];
	size_t len = 0;
	struct crypto_key *key;
	EVP_PKEY_CTX *ctx = EVP_PKEY_CTX_new(pair, NULL);

	assert_int_equal(EVP_PKEY_get_octet_string_param(pair, "pub", point, sizeof(point), &len), 1);
	assert_int_equal(len, 65);
	key = crypto_key_new(13, (struct slice){ point + 1, 64 }, NULL);
	assert_non_null(key);
	assert_int_equal(crypto_digest(DIGEST_SHA256, &(struct slice){ data, sizeof(data) }, 1, digest), 32);
	assert_int_equal(EVP_PKEY_sign_init(ctx), 1);
	for (unsigned i = 0; i < 800; i++) {
		uint8_t der[80], raw[64] = { 0 };
		const uint8_t *at = der + 2;

		len = sizeof(der);
		assert_int_equal(EVP_PKEY_sign(ctx, der, &len, digest, 32), 1);
		for (unsigned half = 0; half < 2; half++) {
			size_t n = at[1], over = n > 32 ? n - 32 : 0;

			memcpy(raw + 32 * half + 32 - (n - over), at + 2 + over, n - over);
			at += 2 + n;
		}
		assert_true(crypto_verify(key, (struct slice){ data, sizeof(data) }, (struct slice){ raw, 64 }));
	}
	EVP_PKEY_CTX_free(ctx);
	EVP_PKEY_free(pair);
	crypto_key_free(key);
}

/* FIPS 180: "abc" in one piece and in three. */
static void digests_are_those_of_the_standard(void **state)
{
	(void)state;
	static const struct {
		uint8_t type;
		struct slice want;
	} rows[] = {
		{ DIGEST_SHA1, { BYTES("\xa9\x99\x3e\x36\x47\x06\x81\x6a\xba\x3e\x25\x71\x78\x50"
				       "\xc2\x6c\x9c\xd0\xd8\x9d") } },
		{ DIGEST_SHA256, { BYTES("\xba\x78\x16\xbf\x8f\x01\xcf\xea\x41\x41\x40\xde\x5d\xae"
					 "\x22\x23\xb0\x03\x61\xa3\x96\x17\x7a\x9c\xb4\x10\xff\x61"
					 "\xf2\x00\x15\xad") } },
	};
	const struct slice whole = SLICE("abc"), parts[] = { SLICE("a"), SLICE(""), SLICE("bc") };
	uint8_t out[CRYPTO_DIGEST_MAX];

	for (size_t i = 0; i < COUNT(rows); i++) {
		assert_int_equal(crypto_digest(rows[i].type, &whole, 1, out), rows[i].want.len);
		assert_memory_equal(out, rows[i].want.at, rows[i].want.len);
		assert_int_equal(crypto_digest(rows[i].type, parts, 3, out), rows[i].want.len);
		assert_memory_equal(out, rows[i].want.at, rows[i].want.len);
	}
	assert_int_equal(crypto_digest(3, &whole, 1, out), 0);
}

static void slow_algorithms_cost_more(void **state)
{
	(void)state;
	static const struct { uint8_t algorithm; unsigned cost; } rows[] = {
		{ 5, 1 }, { 8, 1 }, { 13, 1 }, { 14, 4 }, { 15, 1 }, { 16, 2 }, { 3, 0 }, { 200, 0 },
	};

	for (size_t i = 0; i < COUNT(rows); i++)
		assert_int_equal(crypto_algorithm_cost(rows[i].algorithm), rows[i].cost);
}

int main(void)
{
	const struct CMUnitTest claims[] = {
		cmocka_unit_test(slow_algorithms_cost_more),
		cmocka_unit_test(all_algorithms_are_known),
		cmocka_unit_test(a_malformed_key_is_refused_with_a_reason),
		cmocka_unit_test(key_sizes_are_read_from_the_wire),
		cmocka_unit_test(keys_that_are_slow_cost_more),
		cmocka_unit_test(a_signature_holds_for_its_data_alone),
		cmocka_unit_test(threads_may_share_a_key),
		cmocka_unit_test(signatures_of_every_shape_hold),
		cmocka_unit_test(digests_are_those_of_the_standard),
	};

	return cmocka_run_group_tests(claims, NULL, NULL);
}
