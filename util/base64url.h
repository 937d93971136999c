/* Bytes as letters, digits, - and _ (RFC 4648 5).
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef UTIL_BASE64URL_H
#define UTIL_BASE64URL_H

#include "util/base.h"

#define BASE64URL_BAD SIZE_MAX

/* The bytes that `len` letters at `from` stand for; `to` has room for len / 4 * 3 + 2 of them, and
 * may be `from`. Padding at the end is allowed, if it is whole. Returns how many, or BASE64URL_BAD.
 */
size_t base64url_read(uint8_t *to, const uint8_t *from, size_t len);

#endif
