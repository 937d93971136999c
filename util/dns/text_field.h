/* One field of a record's RDATA, parsed from and printed as text; for text.c and text_print.c.
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef UTIL_DNS_TEXT_FIELD_H
#define UTIL_DNS_TEXT_FIELD_H

#include "util/base/bytes.h"
#include "util/base/fault.h"

struct text_zone;

/* The rest of a line: words separated by one or more blanks, NUL-terminated. They are
 * split in place. */
struct text_words {
	char *at;
	struct fault why; /* the first error */
};

bool text_words_end(struct text_words *t);
/* The next word, including its quotes if any; NULL when there is none. */
char *text_words_next(struct text_words *t);

/* Parse a number; with `units` it may be a sum of times such as "1h30m". */
bool text_number(const char *text, bool units, uint32_t *out);

/* Parse a field, a character of rr_shape(), and write its bytes. Relative names are
 * completed with the origin of `z`. On failure false, with the reason in t->why. */
bool text_field_read(struct text_words *t, char field, const struct text_zone *z, struct writer *w);

/* Parse all remaining words as hexadecimal digits. */
bool text_hex_read(struct text_words *t, struct writer *w);

/* Parse a text as base64. */
bool text_base64_read(struct text_words *t, const char *text, struct writer *w);

/* Text truncated to its room, but counted in full. */
struct text_printer {
	char *to;
	size_t room, len;
};

void text_put(struct text_printer *p, const char *text, size_t len);
void text_puts(struct text_printer *p, const char *text);
void text_putf(struct text_printer *p, const char *fmt, ...) PRINTF_LIKE(2, 3); /* < 64 bytes */

/* Print the field that `rest` begins with, and advance past it. False when no text
 * would parse to exactly these bytes; what was printed is then useless. */
bool text_field_print(struct text_printer *p, char field, struct slice *rest);

#endif
