/* Byte slices, and a reader and a writer that remember their first error.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * All numbers are big-endian (RFC 1035 2.3.2). A reader or writer that has gone
 * bad stays bad: reads return 0 or NULL and writes do nothing, so a parser need
 * check only once, at the end. Zero bytes may be at NULL. Nothing here owns memory. */
#ifndef UTIL_BASE_BYTES_H
#define UTIL_BASE_BYTES_H

#include <string.h>

#include "util/base/base.h"

struct slice {
	const uint8_t *at;
	size_t len;
};

struct reader {
	const uint8_t *start;   /* of the whole buffer, for offsets and compression pointers */
	const uint8_t *at;
	const uint8_t *end;
	bool bad;
	uint32_t pointers;      /* compression pointers followed so far */
};

struct writer {
	uint8_t *start;
	uint8_t *at;
	uint8_t *end;           /* one past the last byte that may be written */
	bool bad;
};

static inline uint16_t get_u16(const uint8_t *p)
{
	return (uint16_t)(p[0] << 8 | p[1]);
}

static inline uint32_t get_u32(const uint8_t *p)
{
	return (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 | (uint32_t)p[2] << 8 | p[3];
}

static inline uint64_t get_u64(const uint8_t *at)
{
	return (uint64_t)get_u32(at) << 32 | get_u32(at + 4);
}

static inline void put_u16(uint8_t *p, uint16_t v)
{
	p[0] = (uint8_t)(v >> 8);
	p[1] = (uint8_t)v;
}

static inline void put_u32(uint8_t *p, uint32_t v)
{
	p[0] = (uint8_t)(v >> 24);
	p[1] = (uint8_t)(v >> 16);
	p[2] = (uint8_t)(v >> 8);
	p[3] = (uint8_t)v;
}

static inline struct reader reader_over(const void *at, size_t len)
{
	const uint8_t *p = at;

	return (struct reader){ .start = p, .at = p, .end = len ? p + len : p };
}

static inline size_t reader_left(const struct reader *r)
{
	return r->bad ? 0 : (size_t)(r->end - r->at);
}

static inline size_t reader_offset(const struct reader *r)
{
	return (size_t)(r->at - r->start);
}

/* Consume the next `len` bytes and return them; bad, and NULL, when fewer are left. */
static inline const uint8_t *read_bytes(struct reader *r, size_t len)
{
	const uint8_t *p = r->at;

	if (reader_left(r) < len || r->bad) {
		r->bad = true;
		return NULL;
	}
	r->at += len;
	return p;
}

static inline uint8_t read_u8(struct reader *r)
{
	const uint8_t *p = read_bytes(r, 1);

	return p ? *p : 0;
}

static inline uint16_t read_u16(struct reader *r)
{
	const uint8_t *p = read_bytes(r, 2);

	return p ? get_u16(p) : 0;
}

static inline uint32_t read_u32(struct reader *r)
{
	const uint8_t *p = read_bytes(r, 4);

	return p ? get_u32(p) : 0;
}

static inline struct writer writer_over(void *at, size_t len)
{
	uint8_t *p = at;

	return (struct writer){ .start = p, .at = p, .end = len ? p + len : p };
}

static inline size_t writer_len(const struct writer *w)
{
	return (size_t)(w->at - w->start);
}

static inline size_t writer_left(const struct writer *w)
{
	return w->bad ? 0 : (size_t)(w->end - w->at);
}

/* Reserve `len` bytes for the caller to fill; bad, and NULL, when they do not fit. */
static inline uint8_t *write_room(struct writer *w, size_t len)
{
	uint8_t *p = w->at;

	if (writer_left(w) < len || w->bad) {
		w->bad = true;
		return NULL;
	}
	w->at += len;
	return p;
}

static inline void write_bytes(struct writer *w, const void *from, size_t len)
{
	uint8_t *p = write_room(w, len);

	if (p && len)
		memcpy(p, from, len);
}

static inline void write_u8(struct writer *w, uint8_t v)
{
	uint8_t *p = write_room(w, 1);

	if (p)
		*p = v;
}

static inline void write_u16(struct writer *w, uint16_t v)
{
	uint8_t *p = write_room(w, 2);

	if (p)
		put_u16(p, v);
}

static inline void write_u32(struct writer *w, uint32_t v)
{
	uint8_t *p = write_room(w, 4);

	if (p)
		put_u32(p, v);
}

#endif
