/* Tags: names that match zones with clients, as bit sets.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "services/local/tags.h"

#include <string.h>

#include "util/base/fault.h"
#include "util/base/mem.h"
#include "util/conf/options.h"

#define BLANKS " \t"

int tag_find(const struct conf_list *defined, const char *text, size_t len)
{
	int number = 0;

	for (size_t i = 0; i < defined->count; i++) {
		const char *at = defined->items[i].text;

		for (at += strspn(at, BLANKS); *at; at += strspn(at, BLANKS)) {
			size_t n = strcspn(at, BLANKS);

			if (n == len && memcmp(at, text, n) == 0)
				return number;
			at += n;
			number++;
		}
	}
	return -1;
}

static void put_bit(struct tagset *s, unsigned number)
{
	unsigned len = number / 8 + 1;

	if (len > s->len) {
		s->bits = mem_grow(s->bits, len);
		memset(s->bits + s->len, 0, len - s->len);
		s->len = len;
	}
	s->bits[number / 8] |= (uint8_t)(1u << number % 8);
}

bool tagset_add(struct tagset *s, const struct conf_list *defined, const char *text,
		struct fault *f)
{
	for (text += strspn(text, BLANKS); *text; text += strspn(text, BLANKS)) {
		size_t len = strcspn(text, BLANKS);
		int number = tag_find(defined, text, len);

		if (number < 0 || number >= TAGS_MOST) {
			fault_set(f, "'%.*s' is no tag of define-tag", (int)len, text);
			return false;
		}
		put_bit(s, (unsigned)number);
		text += len;
	}
	return true;
}

void tagset_clear(struct tagset *s)
{
	mem_free(s->bits);
	*s = (struct tagset){ 0 };
}

int tagset_common(const struct tagset *a, const struct tagset *b)
{
	for (unsigned i = 0; i < a->len && i < b->len; i++) {
		unsigned both = a->bits[i] & b->bits[i];

		for (unsigned bit = 0; both; bit++, both >>= 1) {
			if (both & 1)
				return (int)(8 * i + bit);
		}
	}
	return -1;
}
