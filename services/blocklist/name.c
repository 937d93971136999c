/* Names as lists write them, to wire format: ASCII in one pass, the rest by Punycode.
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

/* The next code point; 0 when the bytes are not UTF-8 (RFC 3629: the shortest form of one that there is). */
static uint32_t take_letter(const uint8_t **at, const uint8_t *end)
{
	static const uint32_t least[] = { 0, 0x80, 0x800, 0x10000 };
	uint8_t first = *(*at)++;
	unsigned more = first < 0x80 ? 0 : first < 0xe0 ? 1 : first < 0xf0 ? 2 : 3;
	uint32_t letter = first < 0x80 ? first : first & (0x3fu >> more);

	if ((first >= 0x80 && first < 0xc0) || first > 0xf4)
		return 0;
	for (unsigned i = 0; i < more; i++) {
		if (*at == end || (**at & 0xc0) != 0x80)
			return 0;
		letter = letter << 6 | (*(*at)++ & 0x3fu);
	}
	return letter < least[more] || letter > 0x10ffff || (letter >= 0xd800 && letter <= 0xdfff) ? 0 : letter;
}

/* The lower case of Latin, Greek, Cyrillic and Armenian capitals. */
static uint32_t lower(uint32_t c)
{
	if (c < 0x80)
		return ascii_lower[c];
	if ((c >= 0xc0 && c <= 0xde && c != 0xd7) || (c >= 0x391 && c <= 0x3a9) ||
	    (c >= 0x410 && c <= 0x42f))
		return c + 0x20;
	if (c >= 0x400 && c <= 0x40f)
		return c + 0x50;
	if (c >= 0x531 && c <= 0x556)
		return c + 0x30;
	if ((c >= 0x100 && c <= 0x137) || (c >= 0x14a && c <= 0x177) || (c >= 0x460 && c <= 0x481))
		return c | 1;
	if (c >= 0x139 && c <= 0x148 && c % 2)
		return c + 1;
	return c;
}

/* RFC 3492 6.1 */
static uint32_t adapt(uint32_t delta, uint32_t points, bool first)
{
	uint32_t k = 0;

	delta = first ? delta / 700 : delta / 2;
	delta += delta / points;
	for (; delta > 455; k += 36)
		delta /= 35;
	return k + 36 * delta / (delta + 38);
}

static uint8_t digit(uint32_t d)
{
	return (uint8_t)(d < 26 ? 'a' + d : '0' + d - 26);
}

struct puny {
	uint8_t *to; /* LABEL_MAX bytes */
	size_t len;
};

static bool puny_put(struct puny *p, uint8_t byte)
{
	if (p->len == LABEL_MAX)
		return false;
	p->to[p->len++] = byte;
	return true;
}

static bool puny_number(struct puny *p, uint32_t q, uint32_t bias)
{
	for (uint32_t k = 36;; k += 36) {
		uint32_t t = k <= bias ? 1 : k >= bias + 26 ? 26 : k - bias;

		if (q < t)
			return puny_put(p, digit(q));
		if (!puny_put(p, digit(t + (q - t) % (36 - t))))
			return false;
		q = (q - t) / (36 - t);
	}
}

/* RFC 3492 6.3. `count` is at most LABEL_MAX, so that nothing overflows. */
static bool puny_label(struct puny *p, const uint32_t *letters, uint32_t count)
{
	uint32_t n = 0x80, delta = 0, bias = 72, done = 0, basic;

	memcpy(p->to, "xn--", 4);
	p->len = 4;
	for (uint32_t i = 0; i < count; i++)
		if (letters[i] < 0x80 && (done++, !puny_put(p, (uint8_t)letters[i])))
			return false;
	basic = done;
	if (basic && !puny_put(p, '-'))
		return false;
	while (done < count) {
		uint32_t next = UINT32_MAX;

		for (uint32_t i = 0; i < count; i++)
			if (letters[i] >= n)
				next = MIN(next, letters[i]);
		delta += (next - n) * (done + 1);
		n = next;
		for (uint32_t i = 0; i < count; i++) {
			delta += letters[i] < n;
			if (letters[i] != n)
				continue;
			if (!puny_number(p, delta, bias))
				return false;
			bias = adapt(delta, done + 1, done == basic);
			delta = 0;
			done++;
		}
		delta++;
		n++;
	}
	return true;
}

/* Encode a UTF-8 label for the DNS into `to`, LABEL_MAX bytes. Its length; 0: not a label. */
static size_t encode_label(const uint8_t *text, size_t len, uint8_t *to)
{
	const uint8_t *end = text + len;
	uint32_t letters[LABEL_MAX], count = 0;
	struct puny p = { .to = to };

	while (text < end) {
		uint32_t c = lower(take_letter(&text, end));

		if (count == LABEL_MAX || (c < 0x80 && !name_byte[c]) ||
		    (c >= 0x80 && c < 0xa1))
			return 0;
		letters[count++] = c;
	}
	return puny_label(&p, letters, count) ? p.len : 0;
}

static enum blocklist_name read_international(const char *text, size_t len, uint8_t *to)
{
	const uint8_t *at = (const uint8_t *)text, *end = at + len;
	uint8_t label[LABEL_MAX + 1];
	size_t used = 0;
	unsigned labels = 0;

	while (at < end) {
		const uint8_t *dot = memchr(at, '.', (size_t)(end - at)), *stop = dot ? dot : end;
		bool ascii = true;
		size_t n = (size_t)(stop - at);

		for (size_t i = 0; i < n; i++)
			ascii &= at[i] < 0x80;
		if (ascii) {
			if (n == 0 || n > LABEL_MAX)
				return BLOCKLIST_NAME_BAD;
			for (size_t i = 0; i < n; i++)
				if (!(label[i] = name_byte[at[i]]))
					return what_else(text, len);
		} else {
			n = encode_label(at, n, label);
			if (n == 0)
				return what_else(text, len);
		}
		if (used + 1 + n + 1 > DNAME_MAX)
			return BLOCKLIST_NAME_BAD;
		to[used] = (uint8_t)n;
		memcpy(to + used + 1, label, n);
		used += 1 + n;
		labels++;
		at = dot ? dot + 1 : end;
	}
	to[used] = 0;
	return labels == 0 ? BLOCKLIST_NAME_BAD : labels == 1 ? BLOCKLIST_NAME_TOP : BLOCKLIST_NAME;
}

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
