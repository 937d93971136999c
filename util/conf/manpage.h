/* Printing plain text as manual page source, man(7).
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef UTIL_CONF_MANPAGE_H
#define UTIL_CONF_MANPAGE_H

#include <stdio.h>

#include "util/base/base.h"

/* Print characters literally, whatever they mean to man(7); not at the beginning of a line. */
void manpage_letters(FILE *out, const char *text, size_t len);

/* Print a paragraph, starting each sentence on a new source line. Words that `is_name` recognises
 * (stripped of punctuation) are set in bold; it may be NULL. An empty text prints nothing. */
void manpage_text(FILE *out, const char *text, bool (*is_name)(const char *text, size_t len));

#endif
