/* Converts names as written in lists to wire form.
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef SERVICES_BLOCKLIST_NAME_H
#define SERVICES_BLOCKLIST_NAME_H

#include "util/base/base.h"

enum list_name {
	LIST_NAME,         /* a name of two or more labels */
	LIST_NAME_TOP,     /* of one label: a whole top-level domain */
	LIST_NAME_ADDRESS, /* an address or netblock */
	LIST_NAME_PATTERN, /* contains a star */
	LIST_NAME_URL,     /* has a scheme, port or path */
	LIST_NAME_BAD,     /* invalid characters, an empty label, or too long */
};

/* `len` bytes of text, with or without a final dot, into `to` (DNAME_MAX bytes) in lower case.
 * Non-ASCII letters (UTF-8) become Punycode (RFC 3492), those of common alphabets in lower case.
 * `to` is valid for LIST_NAME and LIST_NAME_TOP. */
enum list_name list_name_read(const char *text, size_t len, uint8_t *to) MUST_USE;

#endif
