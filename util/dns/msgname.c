/* Names in messages: following compression pointers, and making them.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "util/dns/msgname.h"

#include "util/dns/dname.h"

#define POINTERS_MAX         126   /* in a name */
#define MESSAGE_POINTERS_MAX 65536 /* in a message: twelve for each record of the smallest */
#define POINTER_ROOM 0x4000 /* first offset that 14 bits cannot express */

size_t msg_read_name(struct reader *r, uint8_t *to)
{
	const uint8_t *run = r->at; /* where the current run of labels began */
	const uint8_t *at = r->at;
	const uint8_t *behind = NULL; /* where reading resumes */
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
		if (head < 0xc0 || r->end - at < 2 || ++pointers > POINTERS_MAX ||
		    ++r->pointers > MESSAGE_POINTERS_MAX)
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

#define NAMES_MAX  120 /* bounds the cost of one message (CVE-2024-8508) */
#define PROBES_MAX 8
#define NO_SLOT    0xffff

void msgname_begin(struct msgname_book *book)
{
	book->names = 0;
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

/* The slot of a label under `parent`, or the free one where it belongs (at[] is then 0); NO_SLOT
 * when the table is too crowded to tell. */
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

/* A name being written: where its labels begin, leftmost first, and how many of them are not in the
 * book. */
struct name {
	const uint8_t *at;
	size_t len; /* root label not counted */
	unsigned fresh;
	uint16_t parent, slot; /* of the last label found; for the next one, or NO_SLOT */
	uint32_t hash;         /* of the next one */
	uint8_t heads[LABELS_MAX];
};

static void split(struct name *n, const uint8_t *name)
{
	n->at = name;
	n->len = 0;
	n->fresh = 0;
	n->parent = n->slot = NO_SLOT;
	for (; name[n->len]; n->len += 1u + name[n->len])
		n->heads[n->fresh++] = (uint8_t)n->len;
}

static void look_up_next(const struct msgname_book *book, const uint8_t *start, struct name *n)
{
	const uint8_t *label = n->at + n->heads[n->fresh - 1];

	n->hash = hash_label(label, n->parent);
	n->slot = find_slot(book, start, label, n->parent, n->hash);
}

/* From the root downwards, as far as the book knows the name. */
static void look_up(const struct msgname_book *book, const uint8_t *start, struct name *n)
{
	for (; n->fresh > 0; n->fresh--) {
		look_up_next(book, start, n);
		if (n->slot == NO_SLOT || book->at[n->slot] == 0)
			return;
		n->parent = n->slot;
	}
}

/* Enter the labels just written at `here`, so that later names may point at them. */
static void note(struct msgname_book *book, const uint8_t *start, struct name *n, size_t here,
		 uint8_t pointers)
{
	while (n->fresh > 0 && n->slot != NO_SLOT && book->at[n->slot] == 0) {
		size_t at = here + n->heads[--n->fresh];

		if (at >= POINTER_ROOM || book->labels >= MSGNAME_SLOTS / 2)
			return;
		book->at[n->slot] = (uint16_t)at;
		book->parent[n->slot] = n->parent;
		book->hash[n->slot] = n->hash;
		book->pointers[n->slot] = pointers;
		book->labels++;
		if (n->fresh == 0)
			return;
		n->parent = n->slot;
		look_up_next(book, start, n);
	}
}

/* The second name is about to be written: make the table, and enter the first. */
static void open_book(struct msgname_book *book, const uint8_t *start)
{
	struct name first;

	memset(book->at, 0, sizeof(book->at));
	book->labels = 0;
	split(&first, start + book->first);
	look_up(book, start, &first);
	note(book, start, &first, book->first, 0);
}

/* The known labels of a name that is about to be written whole, at `here`, are found there from now on: what
 * points at them needs no further pointer. */
static void renew(struct msgname_book *book, const uint8_t *start, const struct name *known, size_t here)
{
	struct name n;

	split(&n, known->at);
	while (n.fresh > known->fresh) {
		size_t at = here + n.heads[n.fresh - 1];

		look_up_next(book, start, &n);
		if (n.slot == NO_SLOT || book->at[n.slot] == 0 || at >= POINTER_ROOM)
			return;
		book->at[n.slot] = (uint16_t)at;
		book->pointers[n.slot] = 0;
		n.parent = n.slot;
		n.fresh--;
	}
}

void msg_write_name(struct writer *w, struct msgname_book *book, const uint8_t *name)
{
	size_t here = writer_len(w);
	unsigned pointers = 0; /* until the root label of what is written */
	struct name n;

	if (book->names == 0) {
		write_bytes(w, name, dname_len(name));
		book->first = (uint16_t)here;
		book->names = !w->bad;
		return;
	}
	if (++book->names > NAMES_MAX || w->bad) {
		write_bytes(w, name, dname_len(name));
		return;
	}
	if (book->names == 2)
		open_book(book, w->start);
	split(&n, name);
	look_up(book, w->start, &n);
	if (n.parent != NO_SLOT && book->pointers[n.parent] < MSGNAME_POINTERS)
		pointers = book->pointers[n.parent] + 1u;
	else if (n.parent != NO_SLOT && !w->bad && writer_left(w) > n.len)
		renew(book, w->start, &n, here);
	if (pointers == 0) {
		write_bytes(w, name, n.len + 1);
	} else {
		write_bytes(w, name,
			    n.fresh ? n.heads[n.fresh - 1] + 1u + name[n.heads[n.fresh - 1]] : 0);
		write_u16(w, (uint16_t)(0xc000 | book->at[n.parent]));
	}
	if (!w->bad)
		note(book, w->start, &n, here, (uint8_t)pointers);
}
