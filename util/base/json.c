/* Writing JSON (RFC 8259), piece by piece.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "util/base/json.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static void put(struct json *j, const char *text)
{
	j->out(j->arg, text, strlen(text));
}

/* Length of the UTF-8 character (RFC 3629 4) beginning here; 0 when it is invalid. */
static size_t character(const unsigned char *at, size_t len)
{
	size_t n = at[0] < 0x80		       ? 1
		   : at[0] >= 0xc2 && at[0] < 0xe0 ? 2
		   : at[0] >= 0xe0 && at[0] < 0xf0 ? 3
		   : at[0] >= 0xf0 && at[0] < 0xf5 ? 4
						   : 0;

	if (n == 0 || n > len)
		return 0;
	for (size_t i = 1; i < n; i++)
		if ((at[i] & 0xc0) != 0x80)
			return 0;
	if ((at[0] == 0xe0 && at[1] < 0xa0) || (at[0] == 0xed && at[1] > 0x9f) ||
	    (at[0] == 0xf0 && at[1] < 0x90) || (at[0] == 0xf4 && at[1] > 0x8f))
		return 0;
	return n;
}

static void put_escaped(struct json *j, unsigned char c)
{
	char code[8];

	snprintf(code, sizeof(code), c == '"' || c == '\\' ? "\\%c" : "\\u%04x", c);
	put(j, code);
}

static bool is_escaped(const unsigned char *at, size_t character_len)
{
	return character_len == 0 || *at < ' ' || *at == '"' || *at == '\\' || *at == 0x7f;
}

static void put_string(struct json *j, const char *text, size_t len)
{
	const unsigned char *at = (const unsigned char *)text, *end = at + len;

	put(j, "\"");
	while (at < end) {
		size_t n = character(at, (size_t)(end - at));

		if (is_escaped(at, n))
			put_escaped(j, *at++);
		else {
			j->out(j->arg, (const char *)at, n);
			at += n;
		}
	}
	put(j, "\"");
}

/* How many bytes of `text` come to at most `room` as characters of a string. */
static size_t bytes_within(const char *text, size_t len, size_t room)
{
	const unsigned char *begin = (const unsigned char *)text, *at = begin, *end = at + len;

	while (at < end) {
		size_t n = character(at, (size_t)(end - at)), cost = n;

		if (is_escaped(at, n)) {
			cost = *at == '"' || *at == '\\' ? 2 : 6;
			n = 1;
		}
		if (cost > room)
			break;
		room -= cost;
		at += n;
	}
	return (size_t)(at - begin);
}

static void begin(struct json *j, const char *key)
{
	if (j->comma)
		put(j, ",");
	j->comma = true;
	if (!key)
		return;
	put_string(j, key, strlen(key));
	put(j, ":");
}

void json_open(struct json *j, const char *key, char bracket)
{
	begin(j, key);
	j->out(j->arg, &bracket, 1);
	j->comma = false;
}

void json_close(struct json *j, char bracket)
{
	j->out(j->arg, &bracket, 1);
	j->comma = true;
}

void json_textn(struct json *j, const char *key, const char *value, size_t len)
{
	begin(j, key);
	put_string(j, value, len);
}

void json_text(struct json *j, const char *key, const char *value)
{
	json_textn(j, key, value, strlen(value));
}

bool json_text_within(struct json *j, const char *key, const char *value, size_t room)
{
	size_t len = strlen(value), frame = j->comma + 2u, fits;

	if (key)
		frame += strlen(key) + 3; /* of ours, without anything to escape */
	if (frame > room || (len && frame == room))
		return false;
	fits = bytes_within(value, len, room - frame);
	json_textn(j, key, value, fits);
	return fits == len;
}

void json_bool(struct json *j, const char *key, bool value)
{
	begin(j, key);
	put(j, value ? "true" : "false");
}

void json_number(struct json *j, const char *key, uint64_t value)
{
	char digits[24];

	begin(j, key);
	snprintf(digits, sizeof(digits), "%" PRIu64, value);
	put(j, digits);
}

void json_raw(struct json *j, const char *key, const char *value)
{
	begin(j, key);
	put(j, value);
}

void json_signed(struct json *j, const char *key, int64_t value)
{
	char digits[24];

	snprintf(digits, sizeof(digits), "%" PRId64, value);
	json_raw(j, key, digits);
}

void json_seconds(struct json *j, const char *key, uint64_t us)
{
	char text[32];

	snprintf(text, sizeof(text), "%" PRIu64 ".%06" PRIu64, us / 1000000, us % 1000000);
	json_raw(j, key, text);
}

static size_t digits_at(const char *at, size_t len)
{
	size_t n = 0;

	while (n < len && at[n] >= '0' && at[n] <= '9')
		n++;
	return n;
}

/* -? int frac?, no exponent (RFC 8259 6). */
static bool is_number(const char *at, size_t len)
{
	size_t sign = len && at[0] == '-', whole = digits_at(at + sign, len - sign), part;
	size_t dot = sign + whole;

	if (whole == 0 || (whole > 1 && at[sign] == '0'))
		return false;
	if (dot == len)
		return true;
	part = at[dot] == '.' ? digits_at(at + dot + 1, len - dot - 1) : 0;
	return part && dot + 1 + part == len;
}

void json_value(struct json *j, const char *key, const char *value, size_t len)
{
	begin(j, key);
	if (is_number(value, len))
		j->out(j->arg, value, len);
	else
		put_string(j, value, len);
}
