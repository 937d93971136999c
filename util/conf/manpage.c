/* Printing plain text as manual page source, man(7).
 * SPDX-License-Identifier: BSD-3-Clause */
#include "util/conf/manpage.h"

#include <ctype.h>
#include <string.h>

#define PAGE_WIDTH 78

struct page {
	FILE *out;
	size_t column;
	bool (*is_name)(const char *text, size_t len);
};

void manpage_letters(FILE *out, const char *text, size_t len)
{
	for (; len; len--, text++)
		if (*text == '\\')
			fputs("\\e", out);
		else if (*text == '-')
			fputs("\\-", out);
		else
			fputc(*text, out);
}

/* The part of a word that may be a name, without punctuation around it: its length, and where. */
static size_t name_part(const char *text, size_t len, size_t *from)
{
	size_t end = len;

	*from = 0;
	while (*from < end && !isalnum((unsigned char)text[*from]))
		(*from)++;
	while (end > *from && !isalnum((unsigned char)text[end - 1]))
		end--;
	return end - *from;
}

/* Characters the word takes in the source. */
static size_t width(const char *text, size_t len, bool bold)
{
	size_t more = bold ? strlen("\\fB\\fR") : 0;

	for (size_t i = 0; i < len; i++)
		more += text[i] == '-' || text[i] == '\\';
	return len + more;
}

static void put_word(struct page *p, const char *text, size_t len)
{
	size_t from, name = name_part(text, len, &from);
	bool bold = name && p->is_name && p->is_name(text + from, name);

	size_t wide;

	wide = width(text, len, bold);
	if (p->column && p->column + 1 + wide > PAGE_WIDTH) {
		fputc('\n', p->out);
		p->column = 0;
	}
	if (p->column)
		p->column += (size_t)(fputc(' ', p->out) == ' ');
	else if (*text == '.' || *text == '\'')
		fputs("\\&", p->out);
	manpage_letters(p->out, text, from);
	if (bold)
		fputs("\\fB", p->out);
	manpage_letters(p->out, text + from, name);
	if (bold)
		fputs("\\fR", p->out);
	manpage_letters(p->out, text + from + name, len - from - name);
	p->column += wide;
}

void manpage_text(FILE *out, const char *text, bool (*is_name)(const char *text, size_t len))
{
	struct page p = { .out = out, .is_name = is_name };

	for (text += strspn(text, " "); *text; text += strspn(text, " ")) {
		size_t len = strcspn(text, " ");
		char last = text[len - 1];

		put_word(&p, text, len);
		text += len;
		if ((last == '.' || last == '?') && isupper((unsigned char)text[strspn(text, " ")])) {
			fputc('\n', out);
			p.column = 0;
		}
	}
	if (p.column)
		fputc('\n', out);
}
