/* Domain names in wire format: measuring, comparing, walking towards the root.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * A name is a `const uint8_t *` to length-prefixed labels ending in the root
 * label, never compressed, at most 255 bytes (RFC 1035 3.1). Case is preserved
 * but ignored in comparisons (RFC 4343). Functions that take a bare name trust it
 * to be well-formed: it has passed dname_measure, msg_read_name or dname_parse. */
#ifndef UTIL_DNS_DNAME_H
#define UTIL_DNS_DNAME_H

#include "util/base/ascii.h"
#include "util/base/base.h"

#define DNAME_MAX   255
#define LABEL_MAX   63
#define LABELS_MAX  127         /* not counting the root label */
#define DNAME_TEXT  1025        /* room for any name as text: escapes, final dot and NUL included */

struct fault;

extern const uint8_t dname_root[1];

/* Length in bytes of the name at `at`, root label included; 0 when no complete
 * name ends before `end`, or it is longer than RFC 1035 3.1 allows. Reads nothing
 * at or past `end`. Compression pointers are rejected (see msg_read_name). */
size_t dname_measure(const uint8_t *at, const uint8_t *end) PURE MUST_USE;

/* Whether these bytes are a name, and nothing else. */
static inline bool dname_fills(const uint8_t *at, size_t len)
{
	return len && dname_measure(at, at + len) == len;
}

size_t dname_len(const uint8_t *name) PURE;             /* bytes, root label included */
unsigned dname_labels(const uint8_t *name) PURE;        /* root not counted: 0 for "." */

bool dname_equals(const uint8_t *a, const uint8_t *b) PURE;
/* For names of known length; the comparison used on the hot path. */
bool dname_equals_len(const uint8_t *a, size_t a_len, const uint8_t *b, size_t b_len) PURE;

/* Canonical DNS name order (RFC 4034 6.1): <0, 0, >0. */
int dname_compare(const uint8_t *a, const uint8_t *b) PURE;

/* Whether `name` is `top` or below it; _strictly_: below it, not equal. */
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

/* The last `labels` labels of `name`; `name` itself if it has no more than that. */
const uint8_t *dname_suffix(const uint8_t *name, unsigned labels) PURE;

/* How many labels the two have in common, counting from the root, itself not counted. */
unsigned dname_common(const uint8_t *a, const uint8_t *b) PURE;

void dname_lower(uint8_t *name);                        /* in place */
size_t dname_copy_lower(uint8_t *to, const uint8_t *name);      /* returns the length */

/* Write `prefix_len` bytes of leading labels followed by `suffix`. Returns the
 * length; 0 when too long (RFC 6672: YXDOMAIN). `to` holds DNAME_MAX bytes. */
size_t dname_join(uint8_t *to, const uint8_t *prefix, size_t prefix_len, const uint8_t *suffix);

/* Replace the suffix `from` of `owner` by `onto`, as a DNAME does (RFC 6672 2.2);
 * `owner` is at or below `from`. Returns the length; 0 when too long. `to` holds
 * DNAME_MAX bytes. */
size_t dname_transplant(uint8_t *to, const uint8_t *owner, const uint8_t *from,
			const uint8_t *onto);

/* As text, with escapes (RFC 1035 5.1) and a final dot. Returns `buf`. */
const char *dname_print(const uint8_t *name, char buf[DNAME_TEXT]);

/* From text; a missing final dot is supplied. Returns the length, or 0 with the
 * reason in `f`. `to` holds DNAME_MAX bytes. */
size_t dname_parse(uint8_t *to, const char *text, struct fault *f);

#endif
