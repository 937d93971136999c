/* One field of a record's data, from its text and to its text; for text.c and text_print.c.
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef UTIL_TEXT_FIELD_H
#define UTIL_TEXT_FIELD_H

#include "util/bytes.h"
#include "util/fault.h"

struct text_zone;

/* What is left of a line: words with single or more blanks between, ended by NUL.
 * They are cut apart in place. */
struct text_words {
	char *at;
	struct fault why; /* the first thing wrong */
};

bool text_words_end(struct text_words *t);
/* The next word, with its quotes if it has any; NULL when there is none. */
char *text_words_next(struct text_words *t);

/* A number; where `units` may be a sum of times like "1h30m". */
bool text_number(const char *text, bool units, uint32_t *out);

/* Read a field, a letter of rr_shape(), and write its bytes. Names are completed by
 * the origin of `z`. False with the reason in t->why. */
bool text_field_read(struct text_words *t, char field, const struct text_zone *z, struct writer *w);

/* Read words of hexadecimal digits to the end. */
bool text_hex_read(struct text_words *t, struct writer *w);

/* Text that is cut where its room ends, but counted whole. */
struct text_printer {
	char *to;
	size_t room, len;
};

void text_put(struct text_printer *p, const char *text, size_t len);
void text_puts(struct text_printer *p, const char *text);
void text_putf(struct text_printer *p, const char *fmt, ...) PRINTF_LIKE(2, 3); /* below 64 bytes */

/* Print the field that `rest` begins with, and move past it. False when no text
 * would read as these very bytes; what was printed is then worth nothing. */
bool text_field_print(struct text_printer *p, char field, struct slice *rest);

#endif
