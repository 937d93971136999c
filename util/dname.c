/* Names in wire form: measuring, comparing, walking towards the root.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "util/dname.h"

#include <stdio.h>
#include <string.h>

#include "util/fault.h"

const uint8_t dname_root[1] = { 0 };

#define ROW8(n)  n, n + 1, n + 2, n + 3, n + 4, n + 5, n + 6, n + 7
#define ROW32(n) ROW8(n), ROW8(n + 8), ROW8(n + 16), ROW8(n + 24)

const uint8_t ascii_lower[256] = {
	ROW32(0), ROW32(32),
	64, 'a', 'b', 'c', 'd', 'e', 'f', 'g', 'h', 'i', 'j', 'k', 'l', 'm', 'n', 'o',
	'p', 'q', 'r', 's', 't', 'u', 'v', 'w', 'x', 'y', 'z', ROW8(91) - 3, 96,
};
