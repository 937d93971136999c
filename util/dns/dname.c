/* Domain names in wire format: measuring, comparing, walking towards the root.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "util/dns/dname.h"

#include <string.h>

#include "util/base/fault.h"
#include "util/base/textlex.h"

const uint8_t dname_root[1] = { 0 };

static inline uint64_t load8(const uint8_t *p)
{
	uint64_t x;

	memcpy(&x, p, sizeof(x));
	return x;
}

static bool equals_ignoring_case(const uint8_t *a, const uint8_t *b, size_t len)
{
	for (; len >= 8; a += 8, b += 8, len -= 8) {
		if (ascii_lower8(load8(a)) != ascii_lower8(load8(b)))
			return false;
	}
	for (; len > 0; a++, b++, len--) {
		if (ascii_lower[*a] != ascii_lower[*b])
			return false;
	}
	return true;
}

size_t dname_measure(const uint8_t *at, const uint8_t *end)
{
	size_t most = (size_t)(end - at) < DNAME_MAX ? (size_t)(end - at) : DNAME_MAX;
	size_t len = 0;

	while (len < most) {
		if (at[len] == 0)
			return len + 1;
		if (at[len] > LABEL_MAX)
			return 0;
		len += 1u + at[len];
	}
	return 0;
}

size_t dname_len(const uint8_t *name)
{
	const uint8_t *p = name;

	while (*p)
		p += 1 + *p;
	return (size_t)(p - name) + 1;
}

unsigned dname_labels(const uint8_t *name)
{
	unsigned n = 0;

	for (; *name; name += 1 + *name)
		n++;
	return n;
}

bool dname_equals_len(const uint8_t *a, size_t a_len, const uint8_t *b, size_t b_len)
{
	if (a_len != b_len)
		return false;
	return memcmp(a, b, a_len) == 0 || equals_ignoring_case(a, b, a_len);
}

bool dname_equals(const uint8_t *a, const uint8_t *b)
{
	/* Names that differ mostly do so at once; those that are equal are mostly spelled alike. */
	if (*a != *b || ascii_lower[a[*a != 0]] != ascii_lower[b[*b != 0]])
		return false;
	return dname_equals_len(a, dname_len(a), b, dname_len(b));
}

/* Where each label of a name begins, leftmost first. */
struct labels {
	unsigned count;
	uint8_t at[LABELS_MAX];
};

static void find_labels(const uint8_t *name, struct labels *out)
{
	size_t at = 0;

	out->count = 0;
	while (name[at]) {
		out->at[out->count++] = (uint8_t)at;
		at += 1u + name[at];
	}
}

static int compare_labels(const uint8_t *a, const uint8_t *b)
{
	unsigned shorter = MIN(*a, *b);

	for (unsigned i = 1; i <= shorter; i++) {
		int d = ascii_lower[a[i]] - ascii_lower[b[i]];
		if (d)
			return d;
	}
	return *a - *b;
}

int dname_compare(const uint8_t *a, const uint8_t *b)
{
	struct labels la, lb;

	find_labels(a, &la);
	find_labels(b, &lb);
	for (unsigned i = 1; i <= la.count && i <= lb.count; i++) {
		int d = compare_labels(a + la.at[la.count - i], b + lb.at[lb.count - i]);
		if (d)
			return d;
	}
	return (int)la.count - (int)lb.count;
}

bool dname_is_under(const uint8_t *name, const uint8_t *top)
{
	size_t left = dname_len(name);
	size_t top_len = dname_len(top);

	while (left > top_len) {
		left -= 1u + *name;
		name += 1 + *name;
	}
	return dname_equals_len(name, left, top, top_len);
}

bool dname_is_strictly_under(const uint8_t *name, const uint8_t *top)
{
	return *name && dname_is_under(dname_parent(name), top);
}

const uint8_t *dname_suffix(const uint8_t *name, unsigned labels)
{
	for (unsigned n = dname_labels(name); n > labels; n--)
		name = dname_parent(name);
	return name;
}

unsigned dname_common(const uint8_t *a, const uint8_t *b)
{
	struct labels la, lb;
	unsigned n = 0;

	find_labels(a, &la);
	find_labels(b, &lb);
	while (n < la.count && n < lb.count) {
		const uint8_t *x = a + la.at[la.count - 1 - n];
		const uint8_t *y = b + lb.at[lb.count - 1 - n];
		if (*x != *y || !equals_ignoring_case(x + 1, y + 1, *x))
			break;
		n++;
	}
	return n;
}

size_t dname_copy_lower(uint8_t *to, const uint8_t *name)
{
	size_t len = dname_len(name);

	for (size_t i = 0; i < len; i++)
		to[i] = ascii_lower[name[i]];
	return len;
}

void dname_lower(uint8_t *name)
{
	dname_copy_lower(name, name);
}

size_t dname_join(uint8_t *to, const uint8_t *prefix, size_t prefix_len, const uint8_t *suffix)
{
	size_t suffix_len = dname_len(suffix);

	if (prefix_len + suffix_len > DNAME_MAX)
		return 0;
	/* Suffix first: either part may already be in `to`. */
	memmove(to + prefix_len, suffix, suffix_len);
	if (prefix_len)
		memmove(to, prefix, prefix_len);
	return prefix_len + suffix_len;
}

size_t dname_transplant(uint8_t *to, const uint8_t *owner, const uint8_t *from, const uint8_t *onto)
{
	return dname_join(to, owner, dname_len(owner) - dname_len(from), onto);
}

/* ---- text ---- */

static char *print_byte(char *to, uint8_t c)
{
	if (c <= ' ' || c >= 127) {
		*to++ = '\\';
		*to++ = (char)('0' + c / 100);
		*to++ = (char)('0' + c / 10 % 10);
		*to++ = (char)('0' + c % 10);
		return to;
	}
	if (strchr(".\\\"();@$", c))
		*to++ = '\\';
	*to++ = (char)c;
	return to;
}

const char *dname_print(const uint8_t *name, char buf[DNAME_TEXT])
{
	char *to = buf;

	if (*name == 0)
		*to++ = '.';
	for (; *name; name += 1 + *name) {
		for (unsigned i = 1; i <= *name; i++)
			to = print_byte(to, name[i]);
		*to++ = '.';
	}
	*to = '\0';
	return buf;
}

/* Parse a name: returns NULL, with its length in `*len`, or why the text is not a name. */
static const char *parse_labels(uint8_t *to, const char *text, size_t *len)
{
	size_t head = 0, at = 1; /* length byte of the current label; next free byte */

	if (*text == '\0')
		return "it is empty";
	if (strcmp(text, ".") == 0)
		text++;
	while (*text) {
		if (*text == '.') {
			if (at == head + 1)
				return "it has an empty label";
			to[head] = (uint8_t)(at - head - 1);
			head = at++;
			text++;
			continue;
		}
		int c = lex_byte(&text);
		if (c < 0)
			return "a backslash stands before neither a character nor 000 to 255";
		if (at - head > LABEL_MAX)
			return "a label is longer than 63 bytes";
		if (at > DNAME_MAX - 2) /* the root label must still fit */
			return "it is longer than 255 bytes";
		to[at++] = (uint8_t)c;
	}
	if (at > head + 1) {
		to[head] = (uint8_t)(at - head - 1);
		head = at++;
	}
	to[head] = 0;
	*len = at;
	return NULL;
}

size_t dname_parse(uint8_t *to, const char *text, struct fault *f)
{
	size_t len = 0;
	const char *why = parse_labels(to, text, &len);

	if (why == NULL)
		return len;
	fault_set(f, "'%s' is no domain name: %s", text, why);
	return 0;
}
