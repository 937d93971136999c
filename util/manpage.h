/* Plain text in the language of manual pages, man(7).
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef UTIL_MANPAGE_H
#define UTIL_MANPAGE_H

#include <stdio.h>

#include "util/base.h"

/* Letters as they are, whatever they mean to man(7); not for the beginning of a line. */
void manpage_letters(FILE *out, const char *text, size_t len);

/* A paragraph, each sentence beginning a line of the source. Words that `is_name` knows (it sees them
 * without the marks around them) are set in bold; it may be NULL. An empty text prints nothing. */
void manpage_text(FILE *out, const char *text, bool (*is_name)(const char *text, size_t len));

#endif
