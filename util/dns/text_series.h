/* Numbered copies of one line: what $GENERATE of a zone file makes.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * In the line, `$` stands for the number, `${OFFSET,WIDTH,BASE}` for the number plus the offset, filled
 * with zeros to the width, in decimal (d), octal (o) or hexadecimal digits (x, X), or as hexadecimal
 * digits in reverse order with dots between them (n, N), for the names of RFC 3596 2.5: their width
 * counts the dots. `\\$` stays as it is, `$$` is the same. */
#ifndef UTIL_DNS_TEXT_SERIES_H
#define UTIL_DNS_TEXT_SERIES_H

#include "util/base/base.h"

struct text_series {
	uint32_t first, step, count;
};

/* Read "FIRST-LAST[/STEP] LINE" with numbers up to 2147483647; returns where the line begins, or NULL. */
const char *text_series_parse(struct text_series *s, const char *text);

/* Write the line with number `i`, counted from 0. False: a modifier is wrong, its number is negative,
 * or there is no room. */
bool text_series_write(const struct text_series *s, uint32_t i, const char *line, char *to,
		       size_t room);

#endif
