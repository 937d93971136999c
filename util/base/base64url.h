/* Decoding base64url: bytes written as letters, digits, - and _ (RFC 4648 5).
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef UTIL_BASE_BASE64URL_H
#define UTIL_BASE_BASE64URL_H

#include "util/base/base.h"

#define BASE64URL_BAD SIZE_MAX

/* Decode `len` characters at `from` into `to`, which has room for len / 4 * 3 + 2 bytes and may be
 * `from`. Padding is allowed if complete. Returns the number of bytes, or BASE64URL_BAD. */
size_t base64url_read(uint8_t *to, const uint8_t *from, size_t len);

#endif
