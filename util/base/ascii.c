/* Letters of ASCII in lower case.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "util/base/ascii.h"

#define RUN8(n)  (n), (n) + 1, (n) + 2, (n) + 3, (n) + 4, (n) + 5, (n) + 6, (n) + 7
#define RUN32(n) RUN8(n), RUN8((n) + 8), RUN8((n) + 16), RUN8((n) + 24)

const uint8_t ascii_lower[256] = {
	RUN32(0), RUN32(32), '@',        RUN8('a'),  RUN8('i'),  RUN8('q'),
	'y',      'z',       '[',        '\\',       ']',        '^',
	'_',      RUN32(96), RUN32(128), RUN32(160), RUN32(192), RUN32(224),
};
