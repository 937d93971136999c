/* Writing JSON (RFC 8259), piece by piece: puts in commas, quotes and escapes.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * `key` is NULL in arrays and at the top level. Bytes that are not valid UTF-8 are written as if
 * they were Latin-1, so the output is always well-formed. */
#ifndef UTIL_BASE_JSON_H
#define UTIL_BASE_JSON_H

#include "util/base/base.h"

struct json {
	void (*out)(void *arg, const char *at, size_t len);
	void *arg;
	bool comma; /* the next item at this depth needs one before it */
};

void json_open(struct json *j, const char *key, char bracket); /* '{' or '[' */
void json_close(struct json *j, char bracket);                 /* '}' or ']' */

void json_text(struct json *j, const char *key, const char *value);
void json_textn(struct json *j, const char *key, const char *value, size_t len);
/* At most `room` bytes, comma, key and quotes included: what does not fit of the value is left out, from a character on; all of
 * it, if there is no room for any. False: something was. */
bool json_text_within(struct json *j, const char *key, const char *value, size_t room) MUST_USE;
void json_bool(struct json *j, const char *key, bool value);
void json_number(struct json *j, const char *key, uint64_t value);
void json_signed(struct json *j, const char *key, int64_t value);
void json_seconds(struct json *j, const char *key, uint64_t us); /* with six decimals */
/* A value that is JSON already. */
void json_raw(struct json *j, const char *key, const char *value);
/* Text that is already a JSON number (without exponent) is written as one; anything else quoted. */
void json_value(struct json *j, const char *key, const char *value, size_t len);

#endif
