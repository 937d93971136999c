/* Names as lists write them, into wire form.
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef SERVICES_BLOCKLIST_NAME_H
#define SERVICES_BLOCKLIST_NAME_H

#include "util/base.h"

enum list_name {
	LIST_NAME,         /* it is one */
	LIST_NAME_TOP,     /* of one label: a whole top-level domain */
	LIST_NAME_ADDRESS, /* an address, a netblock */
	LIST_NAME_PATTERN, /* with a star somewhere */
	LIST_NAME_URL,     /* with a scheme, a port, a path */
	LIST_NAME_BAD,     /* letters that do not belong there, no label, one too long */
};

/* `len` bytes of text, with a final dot or without, into `to` (DNAME_MAX bytes), lower-case. Letters
 * beyond ASCII (UTF-8) become Punycode (RFC 3492), those of the common alphabets in lower case.
 * `to` is good for LIST_NAME and LIST_NAME_TOP. */
enum list_name list_name_read(const char *text, size_t len, uint8_t *to) MUST_USE;

#endif
