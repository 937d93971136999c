/* Classifying the characters of a zone file (RFC 1035 5.1): text, blank, end of entry.
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef UTIL_BASE_TEXTLEX_H
#define UTIL_BASE_TEXTLEX_H

#include "util/base/base.h"

enum lex {
	LEX_TEXT,
	LEX_BLANK, /* including comments, parentheses, and newlines within those */
	LEX_END,   /* the newline or NUL that ends the entry */
	LEX_BAD,   /* an unmatched parenthesis or quote */
};

struct lexer {
	unsigned depth; /* open parentheses */
	bool quoted, escaped, comment;
};

static inline enum lex lex_char(struct lexer *x, char c)
{
	if (c == '\n' || c == '\0') {
		x->comment = x->escaped = false;
		if (x->quoted || (c == '\0' && x->depth))
			return LEX_BAD;
		return x->depth ? LEX_BLANK : LEX_END;
	}
	if (x->comment)
		return LEX_BLANK;
	if (x->escaped) {
		x->escaped = false;
		return LEX_TEXT;
	}
	if (c == '"')
		x->quoted = !x->quoted;
	if (c == '\\')
		x->escaped = true;
	if (x->quoted || c == '"' || c == '\\')
		return LEX_TEXT;

	if (c == ';')
		x->comment = true;
	if (c == '(')
		x->depth++;
	if (c == ')' && x->depth-- == 0)
		return LEX_BAD;
	return c == ' ' || c == '\t' || c == '\r' || c == ';' || c == '(' || c == ')' ? LEX_BLANK
										      : LEX_TEXT;
}

static inline bool lex_is_digit(char c)
{
	return c >= '0' && c <= '9';
}

/* The byte at `*text`, possibly written \X or \DDD; advances past it. -1 when the
 * escape is invalid. */
static inline int lex_byte(const char **text)
{
	const char *p = *text;

	if (*p != '\\') {
		*text = p + 1;
		return (uint8_t)*p;
	}
	if (!lex_is_digit(p[1])) {
		*text = p[1] ? p + 2 : p + 1;
		return p[1] ? (uint8_t)p[1] : -1;
	}
	if (!lex_is_digit(p[2]) || !lex_is_digit(p[3]))
		return -1;
	*text = p + 4;
	int value = (p[1] - '0') * 100 + (p[2] - '0') * 10 + (p[3] - '0');
	return value <= 255 ? value : -1;
}

#endif
