/* Decoding base64url: bytes written as letters, digits, - and _ (RFC 4648 5).
 * SPDX-License-Identifier: BSD-3-Clause */
#include "util/base/base64url.h"

/* The six bits of a character, plus one; 0: not in the alphabet. */
#define X(c, n) [c] = (n) + 1
static const uint8_t bits_of[256] = {
	X('A', 0),  X('B', 1),  X('C', 2),  X('D', 3),  X('E', 4),  X('F', 5),  X('G', 6),
	X('H', 7),  X('I', 8),  X('J', 9),  X('K', 10), X('L', 11), X('M', 12), X('N', 13),
	X('O', 14), X('P', 15), X('Q', 16), X('R', 17), X('S', 18), X('T', 19), X('U', 20),
	X('V', 21), X('W', 22), X('X', 23), X('Y', 24), X('Z', 25), X('a', 26), X('b', 27),
	X('c', 28), X('d', 29), X('e', 30), X('f', 31), X('g', 32), X('h', 33), X('i', 34),
	X('j', 35), X('k', 36), X('l', 37), X('m', 38), X('n', 39), X('o', 40), X('p', 41),
	X('q', 42), X('r', 43), X('s', 44), X('t', 45), X('u', 46), X('v', 47), X('w', 48),
	X('x', 49), X('y', 50), X('z', 51), X('0', 52), X('1', 53), X('2', 54), X('3', 55),
	X('4', 56), X('5', 57), X('6', 58), X('7', 59), X('8', 60), X('9', 61), X('-', 62),
	X('_', 63),
};
#undef X

static size_t without_padding(const uint8_t *from, size_t len)
{
	if (len % 4 || len == 0 || from[len - 1] != '=')
		return len;
	return len - (from[len - 2] == '=' ? 2 : 1);
}

size_t base64url_read(uint8_t *to, const uint8_t *from, size_t len)
{
	uint32_t held = 0;
	unsigned count = 0;
	size_t out = 0;

	len = without_padding(from, len);
	if (len % 4 == 1)
		return BASE64URL_BAD;
	for (size_t i = 0; i < len; i++) {
		uint8_t bits = bits_of[from[i]];

		if (bits == 0)
			return BASE64URL_BAD;
		held = held << 6 | (uint32_t)(bits - 1);
		count += 6;
		if (count >= 8) {
			count -= 8;
			to[out++] = (uint8_t)(held >> count);
		}
	}
	/* bits left over must be 0 */
	return held & ((1u << count) - 1) ? BASE64URL_BAD : out;
}
