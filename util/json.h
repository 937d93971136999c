/* Writing JSON (RFC 8259), piece by piece: commas, quotes and escapes in their places.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * `key` is NULL in arrays and at the top. Text that is no UTF-8 is written byte by byte as if it were
 * Latin-1, so that what comes out always is well-formed. */
#ifndef UTIL_JSON_H
#define UTIL_JSON_H

#include "util/base.h"

struct json {
	void (*out)(void *arg, const char *at, size_t len);
	void *arg;
	bool comma; /* something stands in front at this depth */
};

void json_open(struct json *j, const char *key, char bracket); /* '{' or '[' */
void json_close(struct json *j, char bracket);                 /* '}' or ']' */

void json_text(struct json *j, const char *key, const char *value);
void json_textn(struct json *j, const char *key, const char *value, size_t len);
void json_bool(struct json *j, const char *key, bool value);
void json_number(struct json *j, const char *key, uint64_t value);
/* Digits that are a number of JSON already become one; anything else is text. */
void json_value(struct json *j, const char *key, const char *value, size_t len);

#endif
