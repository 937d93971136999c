/* The zones whose servers or records were configured when a cache file was written, and which of them differ now.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * What the file has of names in a zone that has come, gone or changed since is not used: under this configuration it
 * would have been asked for elsewhere. */
#ifndef SERVICES_CACHEFILE_ZONES_H
#define SERVICES_CACHEFILE_ZONES_H

#include "util/base/bytes.h"

struct block_writer;
struct forget;
struct message;
struct trie;

#define ZONE_ENTRY_LEAST 9 /* bytes of an entry: a u64 mark and a name in wire form */

/* Entries one after the other. A name may occur more than once. Begins as { 0 }. */
struct keptzones {
	uint8_t *at; /* owned */
	size_t len;
};

/* A zone with settings that hash to `mark`. */
void keptzones_add(struct keptzones *z, const uint8_t *name, uint64_t mark);
struct keptzones keptzones_copy(const struct keptzones *z);
void keptzones_clear(struct keptzones *z);

/* An entry of kind BLOCK_ZONES for each. */
void keptzones_write(const struct keptzones *z, struct block_writer *to);

/* The comparison: begin with the zones of now, then take each entry of the file, then compare. */
struct trie *keptzones_open(const struct keptzones *now) MUST_USE;
/* False: it is no such entry. */
bool keptzones_take(struct trie *t, struct slice entry) MUST_USE;
/* The names at and below the zones that differ; NULL: none does. Frees `t`. */
struct forget *keptzones_close(struct trie *t) MUST_USE;

/* Whether the answer is to such a name, has records of one or an alias that leads there. */
bool keptzones_touch(const struct forget *apart, const struct message *m);

#endif
