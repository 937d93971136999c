/* Names as they stand in messages: following compression pointers, making them.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * RFC 1035 4.1.4. Offsets count from the first byte of the message: the `start`
 * of the reader or writer. */
#ifndef UTIL_MSGNAME_H
#define UTIL_MSGNAME_H

#include "util/bytes.h"

/* A name at the reader, decompressed into `to` (DNAME_MAX bytes); the reader
 * stands behind it. A pointer goes strictly before the run of labels that holds
 * it, so nothing can go in a circle; at most 126 of them. 0, and the reader bad,
 * when there is none. */
size_t msg_read_name(struct reader *r, uint8_t *to);

/* Past a name, compressed or not, without looking where it points. */
void msg_skip_name(struct reader *r);

/* What has been written so far that later names may point at: a tree of labels,
 * kept as a hash table from (parent, label) to where the label stands. Many messages have
 * but one name, that of the question: the table is made when the second comes. */
#define MSGNAME_SLOTS 1024 /* a power of two */

struct msgname_book {
	unsigned names;             /* names looked up: 120 at most */
	uint16_t first;             /* where the first name stands */
	unsigned labels;            /* slots taken: half of them at most */
	uint16_t at[MSGNAME_SLOTS]; /* offset of the label; 0: free slot */
	uint16_t
		parent[MSGNAME_SLOTS]; /* slot of the label to its right, or no slot for the root */
	uint32_t hash[MSGNAME_SLOTS];
};

void msgname_begin(struct msgname_book *book);

/* Write `name`, as far as may be by pointing at what `book` knows, and note
 * its new labels there. */
void msg_write_name(struct writer *w, struct msgname_book *book, const uint8_t *name);

#endif
