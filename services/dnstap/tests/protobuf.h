/* Another reader of protobuf than what wrote it: for the messages of dnstap.
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef SERVICES_DNSTAP_TESTS_PROTOBUF_H
#define SERVICES_DNSTAP_TESTS_PROTOBUF_H

#include <string.h>

#include "util/base/bytes.h"
#include "util/base/mem.h"

enum { FIELDS = 16 };

struct field {
	unsigned times;
	uint64_t number;
	struct slice bytes;
};

static inline uint64_t protobuf_varint(struct reader *r)
{
	uint64_t v = 0;
	unsigned shift = 0;
	uint8_t b;

	do {
		b = read_u8(r);
		PROMISE(!r->bad && shift < 64);
		v |= (uint64_t)(b & 0x7f) << shift;
		shift += 7;
	} while (b & 0x80);
	return v;
}

/* Each field at most once. */
static inline void protobuf_take(struct slice from, struct field fields[FIELDS])
{
	struct reader r = reader_over(from.at, from.len);

	memset(fields, 0, FIELDS * sizeof(*fields));
	while (reader_left(&r)) {
		uint64_t tag = protobuf_varint(&r);
		struct field *f = &fields[tag >> 3];

		PROMISE(tag >> 3 && tag >> 3 < FIELDS && f->times++ == 0);
		if ((tag & 7) == 0) {
			f->number = protobuf_varint(&r);
		} else if ((tag & 7) == 2) {
			f->bytes.len = (size_t)protobuf_varint(&r);
			f->bytes.at = read_bytes(&r, f->bytes.len);
		} else {
			PROMISE((tag & 7) == 5);
			for (unsigned i = 0; i < 4; i++)
				f->number |= (uint64_t)read_u8(&r) << 8 * i;
		}
		PROMISE(!r.bad);
	}
}

static inline bool protobuf_is(const struct field *f, const void *at, size_t len)
{
	return f->times == 1 && f->bytes.len == len && (len == 0 || memcmp(f->bytes.at, at, len) == 0);
}

#endif
