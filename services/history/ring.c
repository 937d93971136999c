/* Recent client queries and their outcome, in fixed memory.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * A ring of words. Positions only grow: `head` is where the next entry begins, `tail` the oldest
 * intact one. Before words are overwritten, `tail` is moved past the entries they belonged to; a
 * reader that checks `tail` again after copying knows which entries are valid. */
#include "services/history/ring.h"

#include <string.h>

#include "util/base/bytes.h"
#include "util/base/mem.h"
#include "util/dns/dname.h"

#define WORD sizeof(uint64_t)

/* As stored in the ring; addresses, name and text follow. */
struct entry {
	uint64_t at_us;
	uint32_t took_us; /* up to 71 minutes */
	uint16_t type, class_;
	uint8_t words; /* in the whole entry */
	uint8_t how, rcode, transport, reason;
	uint8_t client_len, server_len, name_len, text_len; /* bytes */
	uint8_t unused[3];
};

#define ENTRY_WORDS ((sizeof(struct entry) + 16 + 16 + DNAME_MAX + QUERYRING_TEXT + WORD - 1) / WORD)
_Static_assert(ENTRY_WORDS <= UINT8_MAX, "its length fits");

struct queryring {
	struct rcu_slot slot;
	size_t words; /* size of the ring */
	_Atomic uint64_t head, tail;
	_Atomic uint64_t at[];
};

const char *seen_how_word(enum seen_how how)
{
	static const char *const words[SEEN_KINDS] = {
#define X(name, word) word,
		SEEN_HOWS(X)
#undef X
	};

	return words[how];
}

struct queryring *queryring_new(size_t entries)
{
	size_t words = MAX(entries * QUERYRING_ENTRY / WORD, 2 * ENTRY_WORDS);
	struct queryring *r = mem_zero(sizeof(*r) + words * WORD);

	r->words = words;
	return r;
}

void queryring_free(struct queryring *r)
{
	mem_free(r);
}

static void free_retired(struct rcu_slot *slot)
{
	queryring_free(container_of(slot, struct queryring, slot));
}

void queryring_retire(struct queryring *r)
{
	if (r)
		rcu_retire(&r->slot, free_retired);
}

size_t queryring_bytes(const struct queryring *r)
{
	return sizeof(*r) + r->words * WORD;
}

/* ---- writing ---- */

static unsigned words_of(uint64_t first)
{
	struct entry e;
	uint64_t words[sizeof(e) / WORD + 1] = { 0 };

	/* `words` is in the third word */
	words[2] = first;
	memcpy(&e, words, sizeof(e));
	return e.words;
}

static uint64_t word_at(const struct queryring *r, uint64_t position)
{
	return atomic_load_explicit(&r->at[position % r->words], memory_order_relaxed);
}

/* Drop the oldest entries until there is room. */
static void make_room(struct queryring *r, uint64_t head, unsigned words)
{
	uint64_t tail = atomic_load_explicit(&r->tail, memory_order_relaxed);

	while (head + words - tail > r->words)
		tail += words_of(word_at(r, tail + 2));
	atomic_store_explicit(&r->tail, tail, memory_order_relaxed);
	atomic_thread_fence(memory_order_release);
}

static uint8_t *add(uint8_t *to, const void *from, size_t len)
{
	if (len)
		memcpy(to, from, len);
	return to + len;
}

static uint8_t ip_len(const struct addr *a)
{
	return a->family == 4 ? 4 : a->family == 6 ? 16 : 0;
}

static unsigned pack(const struct seen *s, uint64_t *to)
{
	struct entry e = {
		.at_us = s->at_us,
		.took_us = (uint32_t)MIN(s->took_us, UINT32_MAX),
		.type = s->type,
		.class_ = s->class_,
		.how = s->how,
		.rcode = s->rcode,
		.transport = s->transport,
		.reason = s->reason,
		.client_len = ip_len(&s->client),
		.server_len = ip_len(&s->server),
		.name_len = (uint8_t)s->name_len,
		.text_len = (uint8_t)(s->text ? strnlen(s->text, QUERYRING_TEXT) : 0),
	};
	uint8_t *at = (uint8_t *)to + sizeof(e);
	size_t len = sizeof(e) + e.client_len + e.server_len + e.name_len + e.text_len;

	e.words = (uint8_t)((len + WORD - 1) / WORD);
	to[e.words - 1] = 0;
	at = add(at, s->client.ip, e.client_len);
	at = add(at, s->server.ip, e.server_len);
	at = add(at, s->name, e.name_len);
	(void)add(at, s->text, e.text_len);
	memcpy(to, &e, sizeof(e));
	return e.words;
}

void queryring_put(struct queryring *r, const struct seen *s)
{
	uint64_t head = atomic_load_explicit(&r->head, memory_order_relaxed);
	uint64_t packed[ENTRY_WORDS];
	unsigned words = pack(s, packed);

	make_room(r, head, words);
	for (unsigned i = 0; i < words; i++)
		atomic_store_explicit(&r->at[(head + i) % r->words], packed[i],
				      memory_order_relaxed);
	atomic_store_explicit(&r->head, head + words, memory_order_release);
}

/* ---- reading ---- */

static void take_addr(struct addr *a, const uint8_t **at, unsigned len)
{
	*a = (struct addr){ .family = len == 4 ? 4 : len ? 6 : 0 };
	memcpy(a->ip, *at, len);
	*at += len;
}

static void unpack(const uint64_t *from, void (*fn)(const struct seen *s, void *arg), void *arg)
{
	const uint8_t *at = (const uint8_t *)from + sizeof(struct entry);
	char text[QUERYRING_TEXT + 1];
	struct entry e;
	struct seen s;

	memcpy(&e, from, sizeof(e));
	s = (struct seen){ .at_us = e.at_us,
			   .took_us = e.took_us,
			   .type = e.type,
			   .class_ = e.class_,
			   .how = e.how,
			   .rcode = e.rcode,
			   .transport = e.transport,
			   .reason = e.reason,
			   .name_len = e.name_len,
			   .text = text };
	take_addr(&s.client, &at, e.client_len);
	take_addr(&s.server, &at, e.server_len);
	s.name = at;
	memcpy(text, at + e.name_len, e.text_len);
	text[e.text_len] = '\0';
	fn(&s, arg);
}

struct queryring_copy {
	uint64_t begin, end; /* of the valid part, in words from at[0] */
	uint64_t at[];
};

struct queryring_copy *queryring_copy(const struct queryring *r)
{
	uint64_t head, from, tail;
	struct queryring_copy *c;

	/* Loaded in this order, they are never further apart than the ring is long; if the writer
	 * overtakes `head` meanwhile, load again. */
	do {
		head = atomic_load_explicit(&r->head, memory_order_acquire);
		from = atomic_load_explicit(&r->tail, memory_order_acquire);
	} while (from > head);
	c = mem_new(sizeof(*c) + (size_t)(head - from) * WORD);
	for (uint64_t i = from; i < head; i++)
		c->at[i - from] = word_at(r, i);
	atomic_thread_fence(memory_order_acquire);
	/* An entry's start is known only from the entry before it: entries overwritten meanwhile
	 * are skipped by starting at the current tail. */
	tail = atomic_load_explicit(&r->tail, memory_order_relaxed);
	c->begin = MIN(tail, head) - from;
	c->end = head - from;
	return c;
}

void queryring_copy_each(const struct queryring_copy *c,
			 void (*fn)(const struct seen *s, void *arg), void *arg)
{
	for (uint64_t at = c->begin; at < c->end; at += words_of(c->at[at + 2]))
		unpack(c->at + at, fn, arg);
}
