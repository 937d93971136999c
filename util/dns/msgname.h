/* Names in messages: following compression pointers, and making them.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * RFC 1035 4.1.4. Offsets count from the first byte of the message: the `start`
 * of the reader or writer. */
#ifndef UTIL_DNS_MSGNAME_H
#define UTIL_DNS_MSGNAME_H

#include "util/base/bytes.h"

/* Read a name, decompressing it into `to` (DNAME_MAX bytes), and advance the reader
 * past it. Returns its length; 0, and the reader bad, when malformed. A pointer must
 * lead to before the run of labels it ends, which rules out loops; at most 126 are
 * followed in a name, 65536 in a message. */
size_t msg_read_name(struct reader *r, uint8_t *to);

/* Skip a name, compressed or not, without following pointers. */
void msg_skip_name(struct reader *r);

/* What later names may point at: the tree of labels written so far, kept as a hash
 * table from (parent, label) to the label's offset. Many messages contain only one
 * name, the QNAME, so the table is made only when the second comes. */
#define MSGNAME_SLOTS 1024 /* a power of two */

/* No name written needs more than three pointers to be read, a repeated owner name one more: four for each of the
 * 5461 records that a message can have at most, and three for each of the names that are looked up. That is fewer than
 * msg_read_name follows, so whatever was written here can be read again. A name that would need a fourth
 * is written whole. */
#define MSGNAME_POINTERS 3

struct msgname_book {
	unsigned names;             /* names written; the first 120 are looked up */
	uint16_t first;             /* offset of the first name */
	unsigned labels;            /* slots in use: at most half */
	uint16_t at[MSGNAME_SLOTS]; /* offset of the label; 0: slot is free */
	uint16_t
		parent[MSGNAME_SLOTS]; /* slot of the label to its right; 0xffff: the root */
	uint32_t hash[MSGNAME_SLOTS];
	uint8_t pointers[MSGNAME_SLOTS]; /* followed when the label's name is read from there */
};

void msgname_begin(struct msgname_book *book);

/* Write `name`, replacing its longest suffix known to `book` by a pointer (unless that suffix needs
 * MSGNAME_POINTERS itself), and enter its new labels there. */
void msg_write_name(struct writer *w, struct msgname_book *book, const uint8_t *name);

#endif
