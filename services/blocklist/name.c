/* Names as lists write them, to wire format: ASCII in one pass, the rest by libidn2.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "services/blocklist/name.h"

#include <string.h>

#include "util/dns/dname.h"
#include "util/net/addr.h"

/* A byte of a name in lower case; 0: not allowed in a name. */
static const uint8_t name_byte[256] = {
	['-'] = '-', ['_'] = '_', ['0'] = '0', ['1'] = '1', ['2'] = '2', ['3'] = '3', ['4'] = '4',
	['5'] = '5', ['6'] = '6', ['7'] = '7', ['8'] = '8', ['9'] = '9', ['a'] = 'a', ['b'] = 'b',
	['c'] = 'c', ['d'] = 'd', ['e'] = 'e', ['f'] = 'f', ['g'] = 'g', ['h'] = 'h', ['i'] = 'i',
	['j'] = 'j', ['k'] = 'k', ['l'] = 'l', ['m'] = 'm', ['n'] = 'n', ['o'] = 'o', ['p'] = 'p',
	['q'] = 'q', ['r'] = 'r', ['s'] = 's', ['t'] = 't', ['u'] = 'u', ['v'] = 'v', ['w'] = 'w',
	['x'] = 'x', ['y'] = 'y', ['z'] = 'z', ['A'] = 'a', ['B'] = 'b', ['C'] = 'c', ['D'] = 'd',
	['E'] = 'e', ['F'] = 'f', ['G'] = 'g', ['H'] = 'h', ['I'] = 'i', ['J'] = 'j', ['K'] = 'k',
	['L'] = 'l', ['M'] = 'm', ['N'] = 'n', ['O'] = 'o', ['P'] = 'p', ['Q'] = 'q', ['R'] = 'r',
	['S'] = 's', ['T'] = 't', ['U'] = 'u', ['V'] = 'v', ['W'] = 'w', ['X'] = 'x', ['Y'] = 'y',
	['Z'] = 'z',
};

/* ---- what it is if not a name ---- */

static bool is_address(const char *text, size_t len)
{
	char word[ADDR_TEXT + 8];
	struct netblock n;

	if (len >= sizeof(word) || len == 0)
		return false;
	if (*text == '[' && text[len - 1] == ']')
		text++, len -= 2;
	memcpy(word, text, len);
	word[len] = '\0';
	return netblock_parse(&n, word, NULL);
}

static bool has_any(const char *text, size_t len, const char *bytes)
{
	for (size_t i = 0; i < len; i++)
		if (text[i] && strchr(bytes, text[i]))
			return true;
	return false;
}

static enum blocklist_name what_else(const char *text, size_t len)
{
	if (is_address(text, len))
		return BLOCKLIST_NAME_ADDRESS;
	if (has_any(text, len, "/:?="))
		return BLOCKLIST_NAME_URL;
	if (has_any(text, len, "*"))
		return BLOCKLIST_NAME_PATTERN;
	return BLOCKLIST_NAME_BAD;
}

/* ---- beyond ASCII ---- */

#ifdef HAVE_LIBIDN2
#include <idn2.h>

enum { TEXT_MOST = 4 * DNAME_MAX }; /* bytes of UTF-8, in any form of a name that fits */

static enum blocklist_name read_international(const char *text, size_t len, uint8_t *to)
{
	char copy[TEXT_MOST + 1], *ascii = NULL;
	enum blocklist_name kind;

	if (len > TEXT_MOST || memchr(text, '\0', len))
		return BLOCKLIST_NAME_BAD;
	memcpy(copy, text, len);
	copy[len] = '\0';
	if (idn2_to_ascii_8z(copy, &ascii, IDN2_NFC_INPUT | IDN2_NONTRANSITIONAL) != IDN2_OK)
		return what_else(text, len);
	kind = blocklist_name_read(ascii, strlen(ascii), to);
	idn2_free(ascii);
	return kind;
}
#else
static enum blocklist_name read_international(const char *text, size_t len, uint8_t *to)
{
	(void)to;
	return what_else(text, len);
}
#endif

/* ---- plain ASCII names ---- */

static bool is_number(const uint8_t *label)
{
	for (unsigned i = 1; i <= *label; i++)
		if (label[i] < '0' || label[i] > '9')
			return false;
	return true;
}

enum blocklist_name blocklist_name_read(const char *text, size_t len, uint8_t *to)
{
	uint8_t *label = to, *at = to + 1, *const last = to + DNAME_MAX - 1;
	unsigned labels = 1;

	if (len && text[len - 1] == '.')
		len--;
	for (size_t i = 0; i < len; i++) {
		uint8_t byte = name_byte[(uint8_t)text[i]];

		if (at >= last)
			return BLOCKLIST_NAME_BAD;
		if (LIKELY(byte)) {
			*at++ = byte;
			continue;
		}
		if ((uint8_t)text[i] >= 0x80)
			return read_international(text, len, to);
		if (text[i] != '.')
			return what_else(text, len);
		if (at == label + 1 || at > label + 1 + LABEL_MAX)
			return BLOCKLIST_NAME_BAD;
		*label = (uint8_t)(at - label - 1);
		label = at++;
		labels++;
	}
	if (at == label + 1 || at > label + 1 + LABEL_MAX)
		return BLOCKLIST_NAME_BAD;
	*label = (uint8_t)(at - label - 1);
	*at = 0;
	if (is_number(label))
		return is_address(text, len) ? BLOCKLIST_NAME_ADDRESS : BLOCKLIST_NAME_BAD;
	return labels == 1 ? BLOCKLIST_NAME_TOP : BLOCKLIST_NAME;
}
