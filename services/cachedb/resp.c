/* The subset of Redis' protocol (RESP, version 2) that plain commands need.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "services/cachedb/resp.h"

#include <stdio.h>

#define LINE_MOST   512 /* bytes of a line; the first byte of a reply is its type */
#define DIGITS_MOST 9

static struct resp bad(void)
{
	return (struct resp){ .kind = RESP_BAD };
}

/* The first line, without its CRLF; len 0: incomplete. */
static struct slice first_line(struct slice in)
{
	for (size_t i = 0; i + 1 < in.len && i < LINE_MOST; i++)
		if (in.at[i] == '\r' && in.at[i + 1] == '\n')
			return (struct slice){ .at = in.at, .len = i };
	return (struct slice){ .at = NULL };
}

static bool number(struct slice digits, size_t *n)
{
	*n = 0;
	if (!digits.len || digits.len > DIGITS_MOST)
		return false;
	for (size_t i = 0; i < digits.len; i++) {
		if (digits.at[i] < '0' || digits.at[i] > '9')
			return false;
		*n = *n * 10 + (size_t)(digits.at[i] - '0');
	}
	return true;
}

/* "$LENGTH\r
 * ", LENGTH bytes, "\r
 * "; or "$-1\r
 * ". */
static struct resp read_value(struct slice in, struct slice size, size_t head, size_t most)
{
	size_t len;

	if (size.len == 2 && memcmp(size.at, "-1", 2) == 0)
		return (struct resp){ .kind = RESP_NONE, .len = head };
	if (!number(size, &len) || len > most)
		return bad();
	if (in.len < head + len + 2)
		return (struct resp){ .kind = RESP_PART };
	if (memcmp(in.at + head + len, "\r\n", 2) != 0)
		return bad();
	return (struct resp){ .kind = RESP_VALUE,
			      .text = { .at = in.at + head, .len = len },
			      .len = head + len + 2 };
}

struct resp resp_read(struct slice in, size_t most)
{
	struct slice line, rest;
	size_t head;

	if (!in.len)
		return (struct resp){ .kind = RESP_PART };
	if (!memchr("+-:$", in.at[0], 4))
		return bad();
	line = first_line(in);
	if (!line.at)
		return in.len > LINE_MOST ? bad() : (struct resp){ .kind = RESP_PART };
	head = line.len + 2;
	rest = (struct slice){ .at = line.at + 1, .len = line.len - 1 };
	if (in.at[0] == '$')
		return read_value(in, rest, head, most);
	return (struct resp){ .kind = in.at[0] == '-' ? RESP_ERROR : RESP_DONE,
			      .text = rest,
			      .len = head };
}

static void write_head(struct writer *w, char kind, size_t n)
{
	char text[DIGITS_MOST + 16];

	write_bytes(w, text, (size_t)snprintf(text, sizeof(text), "%c%zu\r\n", kind, n));
}

void resp_write(struct writer *w, const struct slice *words, unsigned count)
{
	write_head(w, '*', count);
	for (unsigned i = 0; i < count; i++) {
		write_head(w, '$', words[i].len);
		write_bytes(w, words[i].at, words[i].len);
		write_bytes(w, "\r\n", 2);
	}
}
