/* A list's table in a file, with the state of its sources.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * For the machine that wrote it: numbers are in native form, and a file of another kind is
 * rejected. The file is replaced whole or not at all, and a checksum detects damage. */
#ifndef SERVICES_BLOCKLIST_SAVED_TABLE_H
#define SERVICES_BLOCKLIST_SAVED_TABLE_H

#include "services/background/fetch.h"
#include "services/blocklist/read.h"

struct fault;
struct blocklist_table;

/* One source as of the time of saving. */
struct stored_source {
	uint8_t kind;
	uint8_t unused[7];
	int64_t size, mtime_ns, good_s;
	struct fetch_mark mark;
	struct blocklist_counts counts;
	char where[1024];
};

struct stored_list {
	uint64_t spec; /* hash of the list's configuration */
	int64_t made_s;
	struct stored_source *sources; /* heap */
	uint64_t source_count;
	struct blocklist_table *table;
};

bool blocklist_saved_write(const char *path, const struct stored_list *s, struct fault *f) MUST_USE;
/* False: there is none, or it is unusable; `s` is then empty. `*seed` as in blocklist_table_load.
 */
bool blocklist_saved_read(const char *path, struct stored_list *s, uint64_t *seed) MUST_USE;

#endif
