/* The parameters of SVCB and HTTPS records, from text (RFC 9460 2.1, appendix A); for text.c.
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef UTIL_DNS_TEXT_SVCB_H
#define UTIL_DNS_TEXT_SVCB_H

#include "util/dns/text_field.h"

/* Parse all remaining words as parameters, and write them in order of their keys. A list is unescaped
 * twice: as a string, then as a list, in which `\,` is a comma. False, with the reason in t->why, for a key
 * given twice, one that is mandatory and missing, or a value that its key cannot have. */
bool text_svcb_read(struct text_words *t, struct writer *w);

#endif
