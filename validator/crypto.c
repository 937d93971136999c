/* Signatures and digests: the only place that uses OpenSSL for them.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "validator/crypto.h"

#include <openssl/core_names.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/param_build.h>
#include <openssl/rsa.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>

#include "util/base/mem.h"

/* ---- the table ---- */

enum shape { SHAPE_RSA, SHAPE_ECDSA, SHAPE_EDDSA };

/* The message digests in use; each thread keeps a context for each. */
enum hash { HASH_SHA1, HASH_SHA256, HASH_SHA384, HASH_SHA512, HASHES };

static const char *const hash_names[HASHES] = { "SHA1", "SHA256", "SHA384", "SHA512" };

struct kind {
	uint8_t number;
	const char *name;
	enum shape shape;
	const char *digest, *curve;
	unsigned point, sig;
};

static const struct kind kinds[] = {
#define ALGORITHM(number, name, kind, digest, curve, point, sig, is_sha1) \
	{ number, #name, SHAPE_##kind, digest, curve, point, sig },
#include "validator/algorithm.def"
#undef ALGORITHM
};

static const struct kind *kind_of(uint8_t algorithm)
{
	for (size_t i = 0; i < COUNT(kinds); i++)
		if (kinds[i].number == algorithm)
			return &kinds[i];
	return NULL;
}

const char *crypto_algorithm_name(uint8_t algorithm, char buf[24])
{
	const struct kind *kind = kind_of(algorithm);

	if (kind)
		return kind->name;
	snprintf(buf, 24, "algorithm %u", algorithm);
	return buf;
}

/* ---- digests: fetched once, one context per thread ---- */

static EVP_MD *digests[HASHES]; /* NULL: not in this OpenSSL */
static bool known[COUNT(kinds)];
static pthread_key_t thread_key;
static pthread_once_t once = PTHREAD_ONCE_INIT;

struct tools {
	EVP_MD_CTX *hash[HASHES];
};

static _Thread_local struct tools *tools;

static void free_tools(void *arg)
{
	struct tools *t = arg;

	for (size_t i = 0; i < HASHES; i++)
		EVP_MD_CTX_free(t->hash[i]);
	mem_free(t);
	tools = NULL;
}

static bool probe(const struct kind *kind);

static void fetch_all(void)
{
	for (size_t i = 0; i < HASHES; i++)
		digests[i] = EVP_MD_fetch(NULL, hash_names[i], NULL);
	for (size_t i = 0; i < COUNT(kinds); i++)
		known[i] = probe(&kinds[i]);
	ERR_clear_error();
	PROMISE(pthread_key_create(&thread_key, free_tools) == 0);
}

static enum hash hash_called(const char *name)
{
	for (size_t i = 0; i < HASHES; i++)
		if (strcmp(hash_names[i], name) == 0)
			return (enum hash)i;
	return HASHES;
}

static EVP_MD_CTX *hash_context(enum hash h)
{
	PROMISE(pthread_once(&once, fetch_all) == 0);
	if (!tools) {
		tools = mem_zero(sizeof(*tools));
		pthread_setspecific(thread_key, tools);
	}
	if (!tools->hash[h]) {
		if (!digests[h])
			return NULL;
		tools->hash[h] = EVP_MD_CTX_new();
		PROMISE(tools->hash[h] && EVP_DigestInit_ex2(tools->hash[h], digests[h], NULL));
	}
	return tools->hash[h];
}

/* Hashes the concatenated pieces. Returns the digest's length, or 0 if it is not available. */
static size_t hash_pieces(enum hash h, const struct slice *pieces, size_t count,
			  uint8_t out[EVP_MAX_MD_SIZE])
{
	EVP_MD_CTX *ctx = hash_context(h);
	unsigned len;
	bool good = ctx && EVP_DigestInit_ex2(ctx, NULL, NULL);

	for (size_t i = 0; good && i < count; i++)
		good = EVP_DigestUpdate(ctx, pieces[i].at, pieces[i].len);
	return good && EVP_DigestFinal_ex(ctx, out, &len) ? len : 0;
}

static enum hash hash_of_ds(uint8_t digest_type)
{
	switch (digest_type) {
	case DIGEST_SHA1:
		return HASH_SHA1;
	case DIGEST_SHA256:
		return HASH_SHA256;
	case DIGEST_SHA384:
		return HASH_SHA384;
	default:
		return HASHES;
	}
}

size_t crypto_digest_len(uint8_t digest_type)
{
	enum hash h = hash_of_ds(digest_type);

	PROMISE(pthread_once(&once, fetch_all) == 0);
	return h != HASHES && digests[h] ? (size_t)EVP_MD_get_size(digests[h]) : 0;
}

size_t crypto_digest(uint8_t digest_type, const struct slice *pieces, size_t count,
		     uint8_t out[CRYPTO_DIGEST_MAX])
{
	enum hash h = hash_of_ds(digest_type);
	uint8_t whole[EVP_MAX_MD_SIZE];
	size_t len = h == HASHES ? 0 : hash_pieces(h, pieces, count, whole);

	memcpy(out, whole, len);
	return len;
}

/* ---- keys ---- */

struct crypto_key {
	const struct kind *kind;
	enum hash hash; /* for RSA and ECDSA */
	EVP_PKEY *pkey;
	unsigned bits, cost;
	/* A context ready to verify and not in use, or NULL: EVP_PKEY_CTX for RSA and ECDSA,
	 * EVP_MD_CTX for EdDSA. A thread that verifies takes it, or makes another. */
	_Atomic(void *) spare;
};

/* RFC 3110 2: the exponent's length in one byte, or in two after a 0; exponent; modulus. */
static bool split_rsa(struct slice key, struct slice *exponent, struct slice *modulus)
{
	struct reader r = reader_over(key.at, key.len);
	size_t len = read_u8(&r);

	if (len == 0)
		len = read_u16(&r);
	exponent->at = read_bytes(&r, len);
	exponent->len = len;
	modulus->len = reader_left(&r);
	modulus->at = r.at;
	while (modulus->len && modulus->at[0] == 0) {
		modulus->at++;
		modulus->len--;
	}
	while (!r.bad && exponent->len && exponent->at[0] == 0) {
		exponent->at++;
		exponent->len--;
	}
	return !r.bad && exponent->len && modulus->len;
}

static unsigned bits_of(struct slice number)
{
	unsigned bits = (unsigned)number.len * 8;

	for (uint8_t top = number.at[0]; !(top & 0x80); top = (uint8_t)(top << 1))
		bits--;
	return bits;
}

/* RFC 2536 2: a size T, the prime Q of 20 bytes, then P, G and Y of 64 + 8 * T bytes each. */
static unsigned dsa_bits(struct slice key)
{
	size_t len = key.len ? 64 + 8 * (size_t)key.at[0] : 0;

	return len && key.len == 1 + 20 + 3 * len ? (unsigned)len * 8 : 0;
}

unsigned crypto_key_bits(uint8_t algorithm, struct slice public_key)
{
	const struct kind *kind = kind_of(algorithm);
	struct slice e, n;

	if (algorithm == ALGORITHM_DSA || algorithm == ALGORITHM_DSA_NSEC3)
		return dsa_bits(public_key);
	if (!kind)
		return 0;
	if (kind->shape == SHAPE_RSA)
		return split_rsa(public_key, &e, &n) ? bits_of(n) : 0;
	if (public_key.len != kind->point)
		return 0;
	return kind->shape == SHAPE_ECDSA ? kind->point * 4 : kind->point * 8;
}

#define RSA_BITS_MIN 512
#define RSA_BITS_MAX 4096
#define EXPONENT_MAX 8 /* bytes: a longer one makes every check expensive */

/* The public key that `params` describe, owned by the caller; NULL if they are not valid. */
static EVP_PKEY *pkey_from(const char *type, OSSL_PARAM *params)
{
	EVP_PKEY_CTX *ctx = EVP_PKEY_CTX_new_from_name(NULL, type, NULL);
	EVP_PKEY *pkey = NULL;

	if (ctx && params && EVP_PKEY_fromdata_init(ctx) > 0 &&
	    EVP_PKEY_fromdata(ctx, &pkey, EVP_PKEY_PUBLIC_KEY, params) <= 0)
		pkey = NULL;
	EVP_PKEY_CTX_free(ctx);
	return pkey;
}

static EVP_PKEY *parse_rsa(struct slice key, const char **why)
{
	OSSL_PARAM_BLD *build;
	OSSL_PARAM *params = NULL;
	BIGNUM *n, *e;
	EVP_PKEY *pkey;
	struct slice exponent, modulus;
	unsigned bits;

	if (!split_rsa(key, &exponent, &modulus)) {
		*why = "the exponent is longer than the key";
		return NULL;
	}
	bits = bits_of(modulus);
	if (bits < RSA_BITS_MIN || bits > RSA_BITS_MAX) {
		*why = bits < RSA_BITS_MIN ? "the modulus is shorter than 512 bits"
					   : "the modulus is longer than 4096 bits";
		return NULL;
	}
	if (exponent.len > EXPONENT_MAX || !(exponent.at[exponent.len - 1] & 1) ||
	    (exponent.len == 1 && exponent.at[0] == 1)) {
		*why = exponent.len > EXPONENT_MAX ? "the exponent is longer than 64 bits"
						   : "the exponent is even, or 1";
		return NULL;
	}
	n = BN_bin2bn(modulus.at, (int)modulus.len, NULL);
	e = BN_bin2bn(exponent.at, (int)exponent.len, NULL);
	build = OSSL_PARAM_BLD_new();
	if (n && e && build && OSSL_PARAM_BLD_push_BN(build, OSSL_PKEY_PARAM_RSA_N, n) &&
	    OSSL_PARAM_BLD_push_BN(build, OSSL_PKEY_PARAM_RSA_E, e))
		params = OSSL_PARAM_BLD_to_param(build);
	pkey = pkey_from("RSA", params);
	OSSL_PARAM_free(params);
	OSSL_PARAM_BLD_free(build);
	BN_free(n);
	BN_free(e);
	*why = "not a valid RSA key";
	return pkey;
}

static EVP_PKEY *parse_ecdsa(const struct kind *kind, struct slice key, const char **why)
{
	uint8_t point[1 + 96] = { 4 }; /* uncompressed, SEC 1 2.3.3 */
	char curve[16];
	OSSL_PARAM params[3];

	if (key.len != kind->point) {
		*why = "the point has the wrong length";
		return NULL;
	}
	memcpy(point + 1, key.at, key.len);
	snprintf(curve, sizeof(curve), "%s", kind->curve);
	params[0] = OSSL_PARAM_construct_utf8_string(OSSL_PKEY_PARAM_GROUP_NAME, curve, 0);
	params[1] = OSSL_PARAM_construct_octet_string(OSSL_PKEY_PARAM_PUB_KEY, point, 1 + key.len);
	params[2] = OSSL_PARAM_construct_end();
	*why = "the point is not on the curve";
	return pkey_from("EC", params);
}

static EVP_PKEY *parse_eddsa(const struct kind *kind, struct slice key, const char **why)
{
	if (key.len != kind->point) {
		*why = "the point has the wrong length";
		return NULL;
	}
	*why = "the point is not on the curve";
	return EVP_PKEY_new_raw_public_key_ex(NULL, kind->curve, NULL, key.at, key.len);
}

/* Measured: with P-384, for which OpenSSL has no arithmetic of its own, a check takes nine times as long as with P-256;
 * as four, so that a query's 32 checks are still eight. With Ed448, or an RSA key of 4096 bits whose exponent is of 64,
 * it takes four to six times as long. */
static unsigned cost_of(const struct kind *kind, unsigned bits, struct slice public_key)
{
	struct slice exponent, modulus;

	switch (kind->shape) {
	case SHAPE_RSA:
		return bits > 2048 && split_rsa(public_key, &exponent, &modulus) && exponent.len > 4 ? 2 : 1;
	case SHAPE_ECDSA:
		return bits > 256 ? 4 : 1;
	default:
		return bits > 256 ? 2 : 1;
	}
}

unsigned crypto_algorithm_cost(uint8_t algorithm)
{
	const struct kind *kind = kind_of(algorithm);

	return kind ? cost_of(kind, kind->point * (kind->shape == SHAPE_ECDSA ? 4 : 8), (struct slice){ NULL, 0 }) : 0;
}

static struct crypto_key *key_of_kind(const struct kind *kind, struct slice public_key,
				      const char **why)
{
	struct crypto_key *k;
	EVP_PKEY *pkey = NULL;

	switch (kind->shape) {
	case SHAPE_RSA:
		pkey = parse_rsa(public_key, why);
		break;
	case SHAPE_ECDSA:
		pkey = parse_ecdsa(kind, public_key, why);
		break;
	case SHAPE_EDDSA:
		pkey = parse_eddsa(kind, public_key, why);
		break;
	}
	if (!pkey) {
		ERR_clear_error();
		return NULL;
	}
	k = mem_zero(sizeof(*k));
	k->kind = kind;
	k->hash = hash_called(kind->digest);
	k->pkey = pkey;
	k->bits = crypto_key_bits(kind->number, public_key);
	k->cost = cost_of(kind, k->bits, public_key);
	return k;
}

struct crypto_key *crypto_key_new(uint8_t algorithm, struct slice public_key, const char **why)
{
	const struct kind *kind = kind_of(algorithm);
	const char *ignored;

	if (!why)
		why = &ignored;
	if (!kind || !crypto_knows(algorithm)) {
		*why = "unsupported algorithm";
		return NULL;
	}
	return key_of_kind(kind, public_key, why);
}

static void free_context(const struct crypto_key *k, void *context)
{
	if (k->kind->shape == SHAPE_EDDSA)
		EVP_MD_CTX_free(context);
	else
		EVP_PKEY_CTX_free(context);
}

void crypto_key_free(struct crypto_key *k)
{
	if (!k)
		return;
	free_context(k, atomic_load(&k->spare));
	EVP_PKEY_free(k->pkey);
	mem_free(k);
}

/* What OpenSSL takes for a key and a context; it does not tell, so measured by counting malloc. */
size_t crypto_key_size(const struct crypto_key *k)
{
	return sizeof(*k) + 2000 + k->bits / 2;
}

unsigned crypto_key_cost(const struct crypto_key *k)
{
	return k->cost;
}

/* ---- verifying ---- */

static void *make_context(const struct crypto_key *k)
{
	EVP_PKEY_CTX *ctx;

	if (k->kind->shape == SHAPE_EDDSA) {
		EVP_MD_CTX *md = EVP_MD_CTX_new();

		if (md && EVP_DigestVerifyInit_ex(md, NULL, NULL, NULL, NULL, k->pkey, NULL) > 0)
			return md;
		EVP_MD_CTX_free(md);
		return NULL;
	}
	ctx = EVP_PKEY_CTX_new_from_pkey(NULL, k->pkey, NULL);
	if (ctx && EVP_PKEY_verify_init(ctx) > 0 &&
	    (k->kind->shape != SHAPE_RSA ||
	     EVP_PKEY_CTX_set_rsa_padding(ctx, RSA_PKCS1_PADDING) > 0) &&
	    EVP_PKEY_CTX_set_signature_md(ctx, digests[k->hash]) > 0)
		return ctx;
	EVP_PKEY_CTX_free(ctx);
	return NULL;
}

/* Whether the algorithm works on this system: some forbid SHA-1 signatures, some lack curves. */
static bool probe(const struct kind *kind)
{
	static const uint8_t rsa[4 + 128] = { 3, 1, 0, 1, 0xff }; /* the exponent, and 1024 bits */
	EVP_PKEY_CTX *curve;
	struct crypto_key *k;
	const char *why;
	void *context;

	if (*kind->digest && !digests[hash_called(kind->digest)])
		return false;
	if (kind->shape != SHAPE_RSA) {
		curve = EVP_PKEY_CTX_new_from_name(
			NULL, kind->shape == SHAPE_ECDSA ? "EC" : kind->curve, NULL);
		EVP_PKEY_CTX_free(curve);
		return curve != NULL;
	}
	k = key_of_kind(kind, (struct slice){ rsa, sizeof(rsa) }, &why);
	if (!k)
		return false;
	context = make_context(k);
	atomic_store(&k->spare, context);
	crypto_key_free(k);
	return context != NULL;
}

bool crypto_knows(uint8_t algorithm)
{
	const struct kind *kind = kind_of(algorithm);

	PROMISE(pthread_once(&once, fetch_all) == 0);
	return kind && known[kind - kinds];
}

/* A DER INTEGER: no leading zeros, except one if the number would look negative. */
static void write_integer(struct writer *w, const uint8_t *at, size_t len)
{
	while (len > 1 && *at == 0) {
		at++;
		len--;
	}
	write_u8(w, 2);
	write_u8(w, (uint8_t)(len + (*at >> 7)));
	if (*at >> 7)
		write_u8(w, 0);
	write_bytes(w, at, len);
}

/* Converts r | s (RFC 6605 4) to the ECDSA-Sig-Value that OpenSSL expects. Returns its length. */
static size_t der_of(struct slice sig, uint8_t out[3 + 2 * (3 + 48)])
{
	uint8_t body[2 * (3 + 48)];
	struct writer numbers = writer_over(body, sizeof(body));
	struct writer w = writer_over(out, 3 + sizeof(body));
	size_t half = sig.len / 2;

	write_integer(&numbers, sig.at, half);
	write_integer(&numbers, sig.at + half, half);
	write_u8(&w, 0x30);
	write_u8(&w, (uint8_t)writer_len(&numbers)); /* at most 102: a one-byte length */
	write_bytes(&w, body, writer_len(&numbers));
	return writer_len(&w);
}

static bool verify_with(const struct crypto_key *k, void *context, struct slice data,
			struct slice sig)
{
	uint8_t digest[EVP_MAX_MD_SIZE], der[3 + 2 * (3 + 48)];
	size_t len;

	if (k->kind->shape == SHAPE_EDDSA)
		return EVP_DigestVerify(context, sig.at, sig.len, data.at, data.len) == 1;
	len = hash_pieces(k->hash, &data, 1, digest);
	if (len == 0)
		return false;
	if (k->kind->shape == SHAPE_ECDSA)
		sig = (struct slice){ der, der_of(sig, der) };
	return EVP_PKEY_verify(context, sig.at, sig.len, digest, len) == 1;
}

bool crypto_verify(const struct crypto_key *k, struct slice data, struct slice sig)
{
	_Atomic(void *) *spare = &((struct crypto_key *)k)->spare;
	void *context, *none = NULL;
	bool good;

	if (k->kind->sig && sig.len != k->kind->sig)
		return false;
	context = atomic_exchange(spare, NULL);
	if (context && k->kind->shape == SHAPE_EDDSA &&
	    EVP_DigestVerifyInit_ex(context, NULL, NULL, NULL, NULL, NULL, NULL) <= 0) {
		free_context(k, context); /* start over with a new context */
		context = NULL;
	}
	if (!context)
		context = make_context(k);
	good = context && verify_with(k, context, data, sig);
	if (!good)
		ERR_clear_error();
	if (!atomic_compare_exchange_strong(spare, &none, context))
		free_context(k, context);
	return good;
}
