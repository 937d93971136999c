/* Log lines on their way to the thread that writes them: a ring of bytes.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "util/base/log_ring.h"

#include <string.h>

#include "util/base/mem.h"

void log_ring_init(struct log_ring *r, size_t size)
{
	*r = (struct log_ring){ .at = mem_new(size), .size = size };
}

void log_ring_clear(struct log_ring *r)
{
	mem_free(r->at);
	*r = (struct log_ring){ 0 };
}

static size_t used(const struct log_ring *r)
{
	return r->end - r->begin;
}

static void copy_in(struct log_ring *r, const void *from, size_t len)
{
	size_t at = r->end % r->size, first = MIN(len, r->size - at);

	memcpy(r->at + at, from, first);
	memcpy(r->at, (const char *)from + first, len - first);
	r->end += len;
}

static void copy_out(const struct log_ring *r, size_t begin, void *to, size_t len)
{
	size_t at = begin % r->size, first = MIN(len, r->size - at);

	memcpy(to, r->at + at, first);
	memcpy((char *)to + first, r->at, len - first);
}

static bool accepts(struct log_ring *r, size_t need)
{
	if (r->refuses && used(r) > r->size / 2)
		return false;
	r->refuses = need > r->size - used(r);
	return !r->refuses;
}

bool log_ring_put(struct log_ring *r, uint8_t priority, const char *text, size_t len)
{
	struct log_ring_head head = { .len = (uint16_t)len, .priority = priority };

	if (len > UINT16_MAX || !accepts(r, sizeof head + len)) {
		r->refused++;
		return false;
	}
	/* Most of the time it is empty; then few of its pages are ever touched. */
	if (log_ring_is_empty(r))
		r->begin = r->end = 0;
	copy_in(r, &head, sizeof head);
	copy_in(r, text, len);
	return true;
}

uint64_t log_ring_told(struct log_ring *r)
{
	uint64_t n = r->refused;

	if (n == 0 || (r->refuses && used(r) > r->size / 2))
		return 0;
	r->refused = 0;
	r->refuses = false;
	return n;
}

size_t log_ring_take(struct log_ring *r, char *to, size_t room, uint8_t *priority)
{
	struct log_ring_head head;

	if (log_ring_is_empty(r))
		return 0;
	copy_out(r, r->begin, &head, sizeof head);
	if (head.len > room)
		return 0;
	copy_out(r, r->begin + sizeof head, to, head.len);
	r->begin += sizeof head + head.len;
	*priority = head.priority;
	return head.len;
}
