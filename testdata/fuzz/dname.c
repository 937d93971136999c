/* Any bytes at all as a name, and as the text of one.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "util/dns/dname.h"

#include <string.h>

#include "util/base/bytes.h"
#include "util/base/fault.h"
#include "util/base/mem.h"
#include "util/dns/msgname.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

static void check_name(const uint8_t *name, size_t len)
{
	char text[DNAME_TEXT];
	uint8_t again[DNAME_MAX], lower[DNAME_MAX];
	unsigned labels = dname_labels(name);

	PROMISE(len <= DNAME_MAX && dname_len(name) == len && labels <= LABELS_MAX);
	PROMISE(strlen(dname_print(name, text)) < DNAME_TEXT);
	PROMISE(dname_parse(again, text, NULL) == len);
	PROMISE(memcmp(again, name, len) == 0);
	PROMISE(dname_copy_lower(lower, name) == len);
	PROMISE(dname_equals(name, lower) && dname_equals_len(name, len, lower, len));
	PROMISE(dname_compare(name, lower) == 0);
	PROMISE(dname_common(name, lower) == labels);
	PROMISE(dname_is_under(name, dname_root) && dname_is_under(lower, name));
	PROMISE(dname_equals(dname_suffix(name, labels / 2), dname_suffix(lower, labels / 2)));
	for (const uint8_t *up = dname_parent(name); !dname_is_root(name); up = dname_parent(up)) {
		PROMISE(dname_is_strictly_under(name, up) && !dname_is_under(up, name));
		PROMISE(dname_compare(name, up) > 0 && dname_compare(up, lower) < 0);
		PROMISE(dname_transplant(again, lower, up, up) == len);
		PROMISE(dname_equals(again, name));
		if (dname_is_root(up))
			break;
	}
}

/* Two names in a row: what holds between any two. */
static void check_pair(const uint8_t *a, const uint8_t *b)
{
	uint8_t joined[DNAME_MAX];
	size_t a_len = dname_len(a), b_len = dname_len(b);
	size_t len = dname_join(joined, a, a_len - 1, b);
	int order = dname_compare(a, b);

	PROMISE((order == 0) == dname_equals(a, b));
	PROMISE((order < 0) == (dname_compare(b, a) > 0));
	PROMISE(dname_equals(a, b) == dname_equals_len(a, a_len, b, b_len));
	PROMISE(dname_is_under(a, b) == (dname_common(a, b) == dname_labels(b)));
	PROMISE(len == (a_len - 1 + b_len <= DNAME_MAX ? a_len - 1 + b_len : 0));
	if (len)
		PROMISE(dname_is_under(joined, b));
}

static void check_text(const uint8_t *data, size_t len)
{
	struct fault f = { .set = false };
	uint8_t name[DNAME_MAX];
	char *text = mem_new(len + 1);

	memcpy(text, data, len);
	text[len] = '\0';
	size_t got = dname_parse(name, text, &f);
	PROMISE(f.set == (got == 0));
	if (got) {
		PROMISE(dname_measure(name, name + got) == got);
		check_name(name, got);
	}
	mem_free(text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	size_t n = dname_measure(data, data + len);
	uint8_t name[DNAME_MAX];

	PROMISE(n <= DNAME_MAX && n <= len);
	if (n) {
		struct reader r = reader_over(data, len);
		PROMISE(msg_read_name(&r, name) == n && memcmp(name, data, n) == 0);
		check_name(data, n);
		if (dname_measure(data + n, data + len))
			check_pair(data, data + n);
	}
	/* Compressed names, wherever one may begin. */
	for (size_t at = 0; at < len && at < 512; at++) {
		struct reader r = reader_over(data, len), skip;
		r.at += at;
		skip = r;
		n = msg_read_name(&r, name);
		PROMISE((n == 0) == r.bad);
		if (n) {
			PROMISE(dname_measure(name, name + n) == n);
			msg_skip_name(&skip);
			PROMISE(!skip.bad && skip.at == r.at);
		}
	}
	check_text(data, len);
	return 0;
}
