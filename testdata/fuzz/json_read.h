/* A strict reader of JSON (RFC 8259), which knows nothing of what writes it: a list of what comes, in order.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * One value and a newline. Members of an object have different names, where that is asked for. */
#ifndef TESTDATA_FUZZ_JSON_READ_H
#define TESTDATA_FUZZ_JSON_READ_H

#include <string.h>

#include "util/base/base.h"
#include "util/base/mem.h"

enum { JSON_DEPTH = 8 };

struct json_item {
	char kind; /* one of { } [ ] k s n t f: k is a member's name, t and f are true and false */
	size_t at, len; /* of the text in json_read.text */
};

struct json_read {
	const char *from, *end;
	struct json_item *items;
	size_t count, room;
	char *text; /* strings decoded, in UTF-8; numbers as they stand */
	size_t len;
	unsigned depth;
	bool unique;
};

static inline struct json_item *json_add(struct json_read *r, char kind)
{
	PROMISE(r->count < r->room);
	r->items[r->count] = (struct json_item){ .kind = kind, .at = r->len };
	return &r->items[r->count++];
}

static inline bool json_is(const struct json_read *r, char c)
{
	return r->from < r->end && *r->from == c;
}

static inline void json_want(struct json_read *r, const char *text)
{
	size_t len = strlen(text);

	PROMISE((size_t)(r->end - r->from) >= len && memcmp(r->from, text, len) == 0);
	r->from += len;
}

static inline void json_put_code(struct json_read *r, unsigned code)
{
	if (code < 0x80) {
		r->text[r->len++] = (char)code;
	} else {
		PROMISE(code < 0x800); /* nothing else is escaped here */
		r->text[r->len++] = (char)(0xc0 | code >> 6);
		r->text[r->len++] = (char)(0x80 | (code & 0x3f));
	}
}

static inline void json_read_escape(struct json_read *r)
{
	unsigned code = 0;

	PROMISE(r->end - r->from >= 2);
	r->from++;
	if (*r->from == '"' || *r->from == '\\') {
		r->text[r->len++] = *r->from++;
		return;
	}
	PROMISE(*r->from++ == 'u' && r->end - r->from >= 4);
	for (unsigned i = 0; i < 4; i++, r->from++) {
		const char *digit = strchr("0123456789abcdef", *r->from);

		PROMISE(*r->from && digit);
		code = code << 4 | (unsigned)(digit - "0123456789abcdef");
	}
	json_put_code(r, code);
}

/* Bytes of the character in UTF-8 (RFC 3629 4), at least one of them there; 0: it is none. */
static inline unsigned json_utf8(const unsigned char *at, size_t len)
{
	static const struct { unsigned char least, most, second_least, second_most, len; } rows[] = {
		{ 0x00, 0x7f, 0, 0, 1 },       { 0xc2, 0xdf, 0x80, 0xbf, 2 }, { 0xe0, 0xe0, 0xa0, 0xbf, 3 },
		{ 0xe1, 0xec, 0x80, 0xbf, 3 }, { 0xed, 0xed, 0x80, 0x9f, 3 }, { 0xee, 0xef, 0x80, 0xbf, 3 },
		{ 0xf0, 0xf0, 0x90, 0xbf, 4 }, { 0xf1, 0xf3, 0x80, 0xbf, 4 }, { 0xf4, 0xf4, 0x80, 0x8f, 4 },
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		if (at[0] < rows[i].least || at[0] > rows[i].most)
			continue;
		if (len < rows[i].len || (rows[i].len > 1 && (at[1] < rows[i].second_least || at[1] > rows[i].second_most)))
			return 0;
		for (unsigned k = 2; k < rows[i].len; k++)
			if ((at[k] & 0xc0) != 0x80)
				return 0;
		return rows[i].len;
	}
	return 0;
}

static inline void json_read_string(struct json_read *r, char kind)
{
	struct json_item *item = json_add(r, kind);

	json_want(r, "\"");
	while (!json_is(r, '"')) {
		unsigned n;

		PROMISE(r->from < r->end && (unsigned char)*r->from >= 0x20);
		if (*r->from == '\\') {
			json_read_escape(r);
			continue;
		}
		n = json_utf8((const unsigned char *)r->from, (size_t)(r->end - r->from));
		PROMISE(n);
		memcpy(r->text + r->len, r->from, n);
		r->len += n;
		r->from += n;
	}
	r->from++;
	item->len = r->len - item->at;
}

static inline unsigned json_read_digits(struct json_read *r)
{
	unsigned n = 0;

	for (; r->from < r->end && *r->from >= '0' && *r->from <= '9'; n++)
		r->text[r->len++] = *r->from++;
	PROMISE(n);
	return n;
}

static inline void json_read_number(struct json_read *r)
{
	struct json_item *item = json_add(r, 'n');
	bool zero;

	if (json_is(r, '-'))
		r->text[r->len++] = *r->from++;
	zero = json_is(r, '0');
	PROMISE(json_read_digits(r) == 1 || !zero);
	if (json_is(r, '.')) {
		r->text[r->len++] = *r->from++;
		json_read_digits(r);
	}
	item->len = r->len - item->at;
}

static inline void json_read_value(struct json_read *r);

/* The name that begins the object at item `from`'s depth must not be there yet. */
static inline void json_check_name(const struct json_read *r, size_t from, size_t name)
{
	const struct json_item *n = &r->items[name];
	unsigned depth = 0;

	for (size_t i = from; i < name && r->unique; i++) {
		const struct json_item *x = &r->items[i];

		if (x->kind == '{' || x->kind == '[')
			depth++;
		else if (x->kind == '}' || x->kind == ']')
			depth--;
		else if (x->kind == 'k' && depth == 1 && x->len == n->len &&
			 memcmp(r->text + x->at, r->text + n->at, n->len) == 0)
			PANIC("two members are called %.*s", (int)n->len, r->text + n->at);
	}
}

static inline void json_read_all(struct json_read *r, char open, char shut)
{
	size_t from = r->count;
	bool first = true;

	json_add(r, open);
	r->from++;
	PROMISE(++r->depth <= JSON_DEPTH);
	for (; !json_is(r, shut); first = false) {
		if (!first)
			json_want(r, ",");
		if (open == '{') {
			size_t name = r->count;

			json_read_string(r, 'k');
			json_check_name(r, from, name);
			json_want(r, ":");
		}
		json_read_value(r);
	}
	r->from++;
	r->depth--;
	json_add(r, shut);
}

static inline void json_read_value(struct json_read *r)
{
	PROMISE(r->from < r->end);
	switch (*r->from) {
	case '{':
		json_read_all(r, '{', '}');
		break;
	case '[':
		json_read_all(r, '[', ']');
		break;
	case '"':
		json_read_string(r, 's');
		break;
	case 't':
		json_add(r, 't');
		json_want(r, "true");
		break;
	case 'f':
		json_add(r, 'f');
		json_want(r, "false");
		break;
	default:
		json_read_number(r);
	}
}

static inline struct json_read json_read(const char *from, size_t len, bool unique)
{
	struct json_read r = { .from = from, .end = from + len, .room = len, .unique = unique };

	r.items = mem_array(len, sizeof(*r.items));
	r.text = mem_new(2 * len + 1);
	json_read_value(&r);
	json_want(&r, "\n");
	PROMISE(r.from == r.end);
	return r;
}

static inline void json_read_clear(struct json_read *r)
{
	mem_free(r->items);
	mem_free(r->text);
}

#endif
