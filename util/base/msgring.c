/* Messages from one thread to another: a ring of bytes.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * A message follows its length, in one piece: if it does not fit before the end of the ring, the
 * rest is skipped. Positions count bytes from the start of the queue and are multiples of four. */
#include "util/base/msgring.h"

#include <unistd.h>

#include "util/base/mem.h"

enum { RING = 1 << 20, HEAD = 4 };
#define SKIP UINT32_MAX /* in place of a length: continue at the start of the ring */

struct msgring {
	char apart[CACHE_LINE];
	/* the producer's side */
	_Atomic size_t end;
	size_t place; /* of the message being written */
	size_t begin_seen;
	_Atomic uint64_t dropped;
	struct msgring_bell *bell;
	char apart_too[CACHE_LINE];
	/* the consumer's side */
	_Atomic size_t begin;
	size_t looked; /* end of what the last look returned */
	_Atomic uint64_t sent, lost;
	char apart_three[CACHE_LINE];
	uint8_t ring[RING];
};

static void bump(_Atomic uint64_t *counter, uint64_t by)
{
	atomic_store_explicit(counter, atomic_load_explicit(counter, memory_order_relaxed) + by,
			      memory_order_relaxed);
}

static size_t padded(size_t len)
{
	return (len + 3) & ~(size_t)3;
}

static void put_length(struct msgring *q, size_t place, uint32_t len)
{
	memcpy(q->ring + place % RING, &len, sizeof len);
}

static uint32_t get_length(const struct msgring *q, size_t place)
{
	uint32_t len;

	memcpy(&len, q->ring + place % RING, sizeof len);
	return len;
}

struct msgring *msgring_new(struct msgring_bell *bell)
{
	struct msgring *q = mem_new(sizeof *q);

	memset(q, 0, offsetof(struct msgring, ring));
	q->bell = bell;
	return q;
}

void msgring_free(struct msgring *q)
{
	mem_free(q);
}

void msgring_count(const struct msgring *q, struct msgring_counts *add_to)
{
	add_to->sent += atomic_load_explicit(&q->sent, memory_order_relaxed);
	add_to->dropped += atomic_load_explicit(&q->dropped, memory_order_relaxed);
	add_to->lost += atomic_load_explicit(&q->lost, memory_order_relaxed);
}

/* ---- the producer ---- */

/* Whether the ring may be written up to `end`; the reader's position is reloaded only when
 * needed. */
static bool reaches(struct msgring *q, size_t end)
{
	if (end - q->begin_seen <= RING)
		return true;
	q->begin_seen = atomic_load_explicit(&q->begin, memory_order_acquire);
	return end - q->begin_seen <= RING;
}

uint8_t *msgring_room(struct msgring *q, size_t most)
{
	size_t end = atomic_load_explicit(&q->end, memory_order_relaxed);
	size_t left = RING - end % RING, need = HEAD + padded(most);

	q->place = left < need ? end + left : end;
	if (!reaches(q, q->place + need)) {
		bump(&q->dropped, 1);
		return NULL;
	}
	if (q->place != end)
		put_length(q, end, SKIP);
	return q->ring + q->place % RING + HEAD;
}

/* The reader looks once more after announcing that it goes to sleep, and we check for that after
 * publishing the message: one of the two sees the other. */
static void ring_bell(struct msgring_bell *bell)
{
	atomic_thread_fence(memory_order_seq_cst);
	if (!atomic_load_explicit(&bell->asleep, memory_order_relaxed) ||
	    !atomic_exchange_explicit(&bell->asleep, false, memory_order_relaxed))
		return;
	if (write(bell->fd, "", 1) < 0)
		return; /* a full pipe wakes the reader as well */
}

void msgring_put(struct msgring *q, size_t len)
{
	put_length(q, q->place, (uint32_t)len);
	atomic_store_explicit(&q->end, q->place + HEAD + padded(len), memory_order_release);
	ring_bell(q->bell);
}

/* ---- the consumer ---- */

unsigned msgring_look(struct msgring *q, struct slice *to, unsigned most)
{
	size_t at = atomic_load_explicit(&q->begin, memory_order_relaxed);
	size_t end = atomic_load_explicit(&q->end, memory_order_acquire);
	unsigned count = 0;

	while (at != end && count < most) {
		uint32_t len = get_length(q, at);

		if (len == SKIP) {
			at += RING - at % RING;
			continue;
		}
		to[count++] = (struct slice){ q->ring + at % RING + HEAD, len };
		at += HEAD + padded(len);
	}
	q->looked = at;
	return count;
}

void msgring_done(struct msgring *q, unsigned count, bool sent)
{
	bump(sent ? &q->sent : &q->lost, count);
	atomic_store_explicit(&q->begin, q->looked, memory_order_release);
}

bool msgring_is_empty(const struct msgring *q)
{
	return atomic_load_explicit(&q->begin, memory_order_relaxed) ==
	       atomic_load_explicit(&q->end, memory_order_acquire);
}
