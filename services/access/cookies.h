/* DNS cookies towards clients (RFC 7873, 9018): proof that a source address is not spoofed.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * A client sends 8 bytes of its own and is given 16 more, which only a holder of the secret can
 * make and which are valid for its address only. Servers that share the secret accept each other's
 * cookies. The first secret makes cookies, the others are only accepted: this allows rollover. */
#ifndef SERVICES_ACCESS_COOKIES_H
#define SERVICES_ACCESS_COOKIES_H

#include "util/base/bytes.h"

struct addr;
struct conf;
struct fault;

enum {
	COOKIE_CLIENT_LEN = 8,
	COOKIE_LEN = 24, /* client cookie and server cookie */
	COOKIE_SECRET_LEN = 16,
	COOKIE_SECRETS_MAX = 2, /* the active one and one staged */
};

struct cookies {
	unsigned count; /* secrets; 0: no cookies can be made */
	uint8_t secret[COOKIE_SECRETS_MAX][COOKIE_SECRET_LEN];
};

enum cookie_state {
	COOKIE_ABSENT,
	COOKIE_MALFORMED, /* of invalid length: FORMERR (RFC 7873 5.2.2) */
	COOKIE_NEW,       /* client cookie only */
	COOKIE_INVALID,
	COOKIE_VALID,
};

/* From cookie-secret-file, else cookie-secret, else a random secret drawn once per process. */
bool cookies_read(struct cookies *c, const struct conf *conf, struct fault *f) MUST_USE;

/* Check the option received; `given` is NULL when there was none. Unless ABSENT or MALFORMED,
 * `answer` is the cookie to send: the same if it is valid and not old, else a fresh one (RFC 9018
 * 4.3). `wall_s` is the time since 1970. */
enum cookie_state cookies_verify(const struct cookies *c, const struct addr *client, int64_t wall_s,
				const struct slice *given, uint8_t answer[COOKIE_LEN]);

/* ---- the file of secrets: one per line, 32 hex digits; the active one first ---- */

bool cookie_secret_parse(uint8_t to[COOKIE_SECRET_LEN], const char *text) MUST_USE;
char *cookie_secret_print(const uint8_t secret[COOKIE_SECRET_LEN], char to[2 * COOKIE_SECRET_LEN + 1]);
/* False when the file cannot be read, has anything else in it, or too many secrets. */
bool cookies_load(struct cookies *c, const char *path, struct fault *f) MUST_USE;
/* Replaces the file whole if its directory is writable; readable by its owner only. */
bool cookies_save(const struct cookies *c, const char *path, struct fault *f) MUST_USE;

#endif
