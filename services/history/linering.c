/* Lines that wait for a reader, in a ring of bytes; before each is its length.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "services/history/linering.h"

#include <string.h>

#include "util/base/mem.h"

enum { ROOM = 1 << 16, HEAD = 2 };

/* Copy from `offset` bytes after the first; there are as many. */
static void copy_out(const struct linering *l, size_t offset, void *to, size_t len)
{
	if (!l->at)
		return;

	size_t at = (l->begin + offset) & (l->room - 1);
	size_t first = MIN(len, l->room - at);

	memcpy(to, l->at + at, first);
	memcpy((char *)to + first, l->at, len - first);
}

static void copy_in(struct linering *l, const void *from, size_t len)
{
	size_t at = (l->begin + l->len) & (l->room - 1);
	size_t first = MIN(len, l->room - at);

	memcpy(l->at + at, from, first);
	memcpy(l->at, (const char *)from + first, len - first);
	l->len += len;
}

static size_t line_len(const struct linering *l, size_t offset)
{
	uint16_t len = 0;

	copy_out(l, offset, &len, HEAD);
	return len;
}

void linering_clear(struct linering *l)
{
	mem_free(l->at);
	*l = (struct linering){ 0 };
}

static void grow(struct linering *l)
{
	size_t room = l->room ? 2 * l->room : ROOM;
	char *at = mem_new(room);

	if (l->len)
		copy_out(l, 0, at, l->len);
	mem_free(l->at);
	l->at = at;
	l->room = room;
	l->begin = 0;
}

static void drop_first(struct linering *l)
{
	size_t len = HEAD + line_len(l, 0);

	l->begin = (l->begin + len) & (l->room - 1);
	l->len -= len;
	l->count--;
	l->taken = 0;
	if (!l->count && l->room > ROOM)
		linering_clear(l);
}

unsigned linering_put(struct linering *l, const char *line, size_t len)
{
	uint16_t head = (uint16_t)len;
	unsigned lost = 0;

	while (l->count == LINERING_LINES || l->len + HEAD + len > LINERING_BYTES) {
		lost++;
		if (l->taken)
			return lost;
		drop_first(l);
	}
	while (l->len + HEAD + len > l->room)
		grow(l);
	copy_in(l, &head, HEAD);
	copy_in(l, line, len);
	l->count++;
	return lost;
}

size_t linering_look(const struct linering *l, char *to, size_t most)
{
	size_t offset = 0, got = 0, skip = l->taken;

	while (offset < l->len) {
		size_t whole = line_len(l, offset), len = whole - skip;

		if (got && got + len > most)
			break;
		len = MIN(len, most);
		copy_out(l, offset + HEAD + skip, to + got, len);
		got += len;
		offset += HEAD + whole;
		skip = 0;
		if (got == most)
			break;
	}
	return got;
}

void linering_take(struct linering *l, size_t len)
{
	while (len) {
		size_t left = line_len(l, 0) - l->taken;

		if (len < left) {
			l->taken += len;
			return;
		}
		len -= left;
		drop_first(l);
	}
}

unsigned linering_mend(struct linering *l)
{
	if (!l->taken)
		return 0;
	drop_first(l);
	return 1;
}
