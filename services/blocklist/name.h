/* Converts names as written in lists to wire form.
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef SERVICES_BLOCKLIST_NAME_H
#define SERVICES_BLOCKLIST_NAME_H

#include "util/base/base.h"

enum blocklist_name {
	BLOCKLIST_NAME,         /* a name of two or more labels */
	BLOCKLIST_NAME_TOP,     /* of one label: a whole top-level domain */
	BLOCKLIST_NAME_ADDRESS, /* an address or netblock */
	BLOCKLIST_NAME_PATTERN, /* contains a star */
	BLOCKLIST_NAME_URL,     /* has a scheme, port or path */
	BLOCKLIST_NAME_BAD,     /* invalid characters, an empty label, or too long */
};

/* `len` bytes of text, with or without a final dot, into `to` (DNAME_MAX bytes) in lower case.
 * Names beyond ASCII (UTF-8) become A-labels as browsers make them (IDNA 2008 with UTS 46, not transitional), if there is
 * libidn2; else they are bad.
 * `to` is valid for BLOCKLIST_NAME and BLOCKLIST_NAME_TOP. */
enum blocklist_name blocklist_name_read(const char *text, size_t len, uint8_t *to) MUST_USE;

#endif
