/* In the place of validator/crypto's keys and checks: those of keys.h (the linker's --wrap).
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * Each key is parsed by the real room as well, so what is no key there is none here. */
#include "testdata/hostile/keys.h"
#include "util/base/mem.h"
#include "validator/crypto.h"

struct crypto_key {
	struct crypto_key *real;
	size_t len;
	uint8_t bytes[];
};

/* The names are the linker's. */
struct crypto_key *__real_crypto_key_new(uint8_t algorithm, struct slice public_key, const char **why);
struct crypto_key *__wrap_crypto_key_new(uint8_t algorithm, struct slice public_key, const char **why);
void __real_crypto_key_free(struct crypto_key *k);
void __wrap_crypto_key_free(struct crypto_key *k);
size_t __real_crypto_key_size(const struct crypto_key *k);
size_t __wrap_crypto_key_size(const struct crypto_key *k);
unsigned __real_crypto_key_cost(const struct crypto_key *k);
unsigned __wrap_crypto_key_cost(const struct crypto_key *k);
bool __real_crypto_verify(const struct crypto_key *k, struct slice data, struct slice sig);
bool __wrap_crypto_verify(const struct crypto_key *k, struct slice data, struct slice sig);

struct crypto_key *__wrap_crypto_key_new(uint8_t algorithm, struct slice public_key, const char **why)
{
	struct crypto_key *real = __real_crypto_key_new(algorithm, public_key, why), *k;

	if (!real)
		return NULL;
	k = mem_new(sizeof(*k) + public_key.len);
	k->real = real;
	k->len = public_key.len;
	memcpy(k->bytes, public_key.at, public_key.len);
	return k;
}

void __wrap_crypto_key_free(struct crypto_key *k)
{
	if (!k)
		return;
	__real_crypto_key_free(k->real);
	mem_free(k);
}

size_t __wrap_crypto_key_size(const struct crypto_key *k)
{
	return __real_crypto_key_size(k->real);
}

unsigned __wrap_crypto_key_cost(const struct crypto_key *k)
{
	return __real_crypto_key_cost(k->real);
}

bool __wrap_crypto_verify(const struct crypto_key *k, struct slice data, struct slice sig)
{
	uint8_t right[KEY_SIGNATURE];

	if (keys_true)
		return __real_crypto_verify(k->real, data, sig);
	key_hash((struct slice){ k->bytes, k->len }, data, right);
	return sig.len == KEY_SIGNATURE && memcmp(sig.at, right, KEY_SIGNATURE) == 0;
}
