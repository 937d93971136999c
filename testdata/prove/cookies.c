/* DNS cookies of clients.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * Replaced: the hash by any. */
#define REAL_MEMORY
#include "prove.h"

#include "services/access/cookies.c"

void hash_shared(uint8_t hash[8], const void *at, size_t len, const uint8_t secret[16])
{
	CLAIM("what is hashed is there", __CPROVER_r_ok(at, len) && __CPROVER_r_ok(secret, 16) && __CPROVER_w_ok(hash, 8));
	__CPROVER_havoc_slice(hash, 8);
}

bool hash_same(const void *a, const void *b, size_t len)
{
	CLAIM("what is compared is there", __CPROVER_r_ok(a, len) && __CPROVER_r_ok(b, len));
	return any_bool();
}

void prove_validate(void)
{
	size_t len = any_up_to(BYTES);
	struct slice given = { any_bytes(len), len };
	struct cookies c;
	struct addr client;
	uint8_t answer[COOKIE_LEN];
	enum cookie_state state;

	ASSUME(c.count <= COOKIE_SECRETS_MAX);
	state = cookies_verify(&c, &client, any_int64_t(), any_bool() ? &given : NULL, answer);
	CLAIM("only one of a cookie's length is valid", state != COOKIE_VALID || len == COOKIE_LEN);
	CLAIM("only a client's part is new", state != COOKIE_NEW || len == COOKIE_CLIENT_LEN);
	REACHED("one made with the other secret", state == COOKIE_VALID && c.count == 2);
	REACHED("an old one", state == COOKIE_INVALID && len == COOKIE_LEN);
	REACHED("a malformed one", state == COOKIE_MALFORMED);
}
