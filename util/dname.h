/* Names in wire form: measuring, comparing, walking towards the root.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * A name is a `const uint8_t *` to length-prefixed labels ending in the root
 * label, never compressed, at most 255 bytes (RFC 1035 3.1). Case is kept and
 * ignored (RFC 4343). Functions that take a bare name trust it to be whole: it
 * passed dname_measure, msg_read_name or dname_parse before. */
#ifndef UTIL_DNAME_H
#define UTIL_DNAME_H

#include "util/base.h"

#define DNAME_MAX   255
#define LABEL_MAX   63
#define LABELS_MAX  127         /* without the root label */
#define DNAME_TEXT  1025        /* any name as text, escapes, final dot and NUL included */

struct fault;

extern const uint8_t dname_root[1];

/* ASCII letters to lower case, everything else as it is. */
extern const uint8_t ascii_lower[256];

/* The same for eight bytes at once. Length bytes are below 'A', so whole names
 * may pass through here, labels and all. */
static inline uint64_t ascii_lower8(uint64_t x)
{
	const uint64_t ones = UINT64_C(0x0101010101010101);
	uint64_t low7 = x & ones * 0x7f;
	uint64_t from_a = low7 + ones * (0x80 - 'A');
	uint64_t past_z = low7 + ones * (0x7f - 'Z');
	uint64_t upper = (from_a ^ past_z) & ~x & ones * 0x80;

	return x | upper >> 2;
}

/* Bytes of the name at `at`, root label included; 0 when no whole name ends
 * before `end` or it is longer than RFC 1035 3.1 allows. Reads nothing at or
 * past `end`; a compression pointer is no name here (see msg_read_name). */
size_t dname_measure(const uint8_t *at, const uint8_t *end) PURE MUST_USE;

size_t dname_len(const uint8_t *name) PURE;             /* bytes, root label included */
unsigned dname_labels(const uint8_t *name) PURE;        /* without the root: 0 for "." */

bool dname_equals(const uint8_t *a, const uint8_t *b) PURE;
/* For names whose lengths are known; the hot path's comparison. */
bool dname_equals_len(const uint8_t *a, size_t a_len, const uint8_t *b, size_t b_len) PURE;

/* Canonical DNSSEC order (RFC 4034 6.1): <0, 0, >0. */
int dname_compare(const uint8_t *a, const uint8_t *b) PURE;

/* Whether `name` is `top` or below it; _strictly: below, not equal. */
bool dname_is_under(const uint8_t *name, const uint8_t *top) PURE;
bool dname_is_strictly_under(const uint8_t *name, const uint8_t *top) PURE;

/* The name one label nearer the root; the root's parent is the root. */
static inline const uint8_t *dname_parent(const uint8_t *name)
{
	return *name ? name + 1 + *name : name;
}

static inline bool dname_is_root(const uint8_t *name)
{
	return *name == 0;
}

static inline bool dname_is_wildcard(const uint8_t *name)
{
	return name[0] == 1 && name[1] == '*';
}

/* The suffix of `name` that has `labels` labels; `name` itself if it has no more. */
const uint8_t *dname_suffix(const uint8_t *name, unsigned labels) PURE;

/* Labels that the two have in common, counted from the root. */
unsigned dname_common(const uint8_t *a, const uint8_t *b) PURE;

void dname_lower(uint8_t *name);                        /* in place */
size_t dname_copy_lower(uint8_t *to, const uint8_t *name);      /* returns its length */

/* `prefix_len` bytes of leading labels in front of `suffix`; 0 when too long
 * (RFC 6672: YXDOMAIN). `to` holds DNAME_MAX bytes. */
size_t dname_join(uint8_t *to, const uint8_t *prefix, size_t prefix_len, const uint8_t *suffix);

/* Put `owner` (at or below `from`) at or below `onto` instead: RFC 6672 3.
 * 0 when the result is too long. `to` holds DNAME_MAX bytes. */
size_t dname_transplant(uint8_t *to, const uint8_t *owner, const uint8_t *from,
			const uint8_t *onto);

/* Text with escapes (RFC 1035 5.1) and final dot. Returns `buf`. */
const char *dname_print(const uint8_t *name, char buf[DNAME_TEXT]);

/* From text; a missing final dot is added. Returns the length, or 0 with the
 * reason in `f`. `to` holds DNAME_MAX bytes. */
size_t dname_parse(uint8_t *to, const char *text, struct fault *f);

#endif
