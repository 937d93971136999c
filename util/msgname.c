/* Names as they stand in messages: following compression pointers, making them.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "util/msgname.h"

#include "util/dname.h"

#define POINTERS_MAX 126
#define POINTER_ROOM 0x4000 /* what 14 bits reach */

size_t msg_read_name(struct reader *r, uint8_t *to)
{
	const uint8_t *run = r->at; /* where the labels being read began */
	const uint8_t *at = r->at;
	const uint8_t *behind = NULL; /* where the reader goes on */
	unsigned pointers = 0;
	size_t len = 0;

	if (r->bad)
		return 0;
	while (at < r->end) {
		uint8_t head = *at;
		if (head == 0) {
			to[len++] = 0;
			r->at = behind ? behind : at + 1;
			return len;
		}
		if (head <= LABEL_MAX) {
			if ((size_t)(r->end - at) <= head || len + head + 1 > DNAME_MAX - 1)
				break;
			memcpy(to + len, at, head + 1u);
			len += head + 1u;
			at += head + 1;
			continue;
		}
		if (head < 0xc0 || r->end - at < 2 || ++pointers > POINTERS_MAX)
			break;
		size_t target = get_u16(at) & (POINTER_ROOM - 1);
		if (target >= (size_t)(run - r->start))
			break;
		if (behind == NULL)
			behind = at + 2;
		run = at = r->start + target;
	}
	r->bad = true;
	return 0;
}

void msg_skip_name(struct reader *r)
{
	const uint8_t *head;

	while ((head = read_bytes(r, 1)) && *head) {
		if (*head >= 0xc0) {
			read_bytes(r, 1);
			return;
		}
		if (*head > LABEL_MAX)
			r->bad = true;
		read_bytes(r, *head);
	}
}

/* ---- writing ---- */

#define NAMES_MAX  120 /* what one message may cost (CVE-2024-8508) */
#define PROBES_MAX 8
#define NO_SLOT    0xffff

void msgname_begin(struct msgname_book *book)
{
	book->names = 0;
	book->labels = 0;
	memset(book->at, 0, sizeof(book->at));
}

static uint32_t hash_label(const uint8_t *label, uint16_t parent)
{
	uint32_t h = 0x811c9dc5u ^ parent;

	for (unsigned i = 0; i <= *label; i++)
		h = (h ^ ascii_lower[label[i]]) * 0x01000193u;
	return h ^ h >> 15;
}

static bool label_equals(const uint8_t *a, const uint8_t *b)
{
	for (unsigned i = 0; i <= *a; i++) {
		if (ascii_lower[a[i]] != ascii_lower[b[i]])
			return false;
	}
	return true;
}

/* The slot of a label under `parent`, or the free one where it belongs (then at[] is 0
 * there); NO_SLOT when it is too crowded to tell. */
static uint16_t find_slot(const struct msgname_book *book, const uint8_t *start,
			  const uint8_t *label, uint16_t parent, uint32_t hash)
{
	for (uint32_t i = 0; i < PROBES_MAX; i++) {
		uint16_t slot = (uint16_t)((hash + i) & (MSGNAME_SLOTS - 1));
		if (book->at[slot] == 0)
			return slot;
		if (book->hash[slot] == hash && book->parent[slot] == parent &&
		    label_equals(start + book->at[slot], label))
			return slot;
	}
	return NO_SLOT;
}

void msg_write_name(struct writer *w, struct msgname_book *book, const uint8_t *name)
{
	uint8_t heads[LABELS_MAX]; /* where each label begins, leftmost first */
	unsigned fresh = 0;        /* labels that must be spelled out */
	size_t len = 0, here = writer_len(w);
	uint16_t parent = NO_SLOT;

	for (; name[len]; len += 1u + name[len])
		heads[fresh++] = (uint8_t)len;
	if (++book->names > NAMES_MAX) {
		write_bytes(w, name, len + 1);
		return;
	}

	/* From the root downwards, as far as the book goes. */
	uint16_t slot = NO_SLOT;
	uint32_t hash = 0;
	while (fresh > 0 && !w->bad) {
		const uint8_t *label = name + heads[fresh - 1];
		hash = hash_label(label, parent);
		slot = find_slot(book, w->start, label, parent, hash);
		if (slot == NO_SLOT || book->at[slot] == 0)
			break;
		parent = slot;
		fresh--;
	}

	if (parent == NO_SLOT) {
		write_bytes(w, name, len + 1);
	} else {
		write_bytes(w, name, fresh ? heads[fresh - 1] + 1u + name[heads[fresh - 1]] : 0);
		write_u16(w, (uint16_t)(0xc000 | book->at[parent]));
	}

	/* What was spelled out may be pointed at from now on. */
	while (fresh > 0 && !w->bad && slot != NO_SLOT && book->at[slot] == 0) {
		size_t at = here + heads[--fresh];
		if (at >= POINTER_ROOM || book->labels >= MSGNAME_SLOTS / 2)
			return;
		book->at[slot] = (uint16_t)at;
		book->parent[slot] = parent;
		book->hash[slot] = hash;
		book->labels++;
		if (fresh == 0)
			return;
		parent = slot;
		hash = hash_label(name + heads[fresh - 1], parent);
		slot = find_slot(book, w->start, name + heads[fresh - 1], parent, hash);
	}
}
