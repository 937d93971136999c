/* Where the names of a list come from: files, copies of what was fetched, the table of the last time.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * A list is made aside, from all its sources, and replaces the one before when each of them could be
 * read; else what was there stays, and the log and blocklist_status say why. In
 * blocklist-directory there is, for each list, its table, and the text of every URL. */
#ifndef SERVICES_BLOCKLIST_LOAD_H
#define SERVICES_BLOCKLIST_LOAD_H

#include "services/blocklist_read.h"

struct blocklist;
struct conf;
struct conf_blocklist;
struct list_loading;
struct loader;

/* What `c` says of its sources. Nothing is read yet. */
struct list_loading *list_loading_new(const struct conf *conf, const struct conf_blocklist *c) MUST_USE;
void list_loading_free(struct list_loading *g);
/* Whether two come from the same places. */
bool list_loading_equals(const struct list_loading *a, const struct list_loading *b);
/* Before anything is read: paths as they are from where we are now. */
void list_loading_settle(struct list_loading *g, const struct conf *conf, bool inside);

/* The table from what is on this machine: at once, on this thread. `*seed`: see list_table_load. */
void list_loading_begin(struct blocklist *l, uint64_t *seed);
/* On the loader's thread from now on: look when it is time, or now. The task has a pin of its own,
 * and gives it back after list_loading_end. */
void list_loading_attend(struct blocklist *l, struct loader *loader);
void list_loading_end(struct blocklist *l);
/* Look now: files that have changed, and all URLs. From any thread. */
void list_loading_hurry(struct blocklist *l);

/* ---- what is known of it ---- */

enum list_kind { LIST_FROM_FILE, LIST_FROM_URL, LIST_FROM_ALLOW };

struct list_source {
	enum list_kind kind;
	const char *where;
	const struct list_counts *counts; /* when it was read last */
	int64_t good_s;                   /* since 1970: when what is used was read or fetched; 0: never */
	int64_t failed_s;                 /* when it failed last; 0: it did not since */
	const char *why;                  /* it failed */
};

struct list_age {
	int64_t made_s; /* since 1970: the table; 0: there is none */
	int64_t next_s; /* the next look; 0: none is due */
	const char *stale; /* why the table is kept although sources have changed; NULL: it is not */
};

/* One source after the other, under a lock. `fn` may be NULL. */
void list_loading_tell(const struct blocklist *l, struct list_age *age, char *stale, size_t room,
		       void (*fn)(const struct list_source *s, void *arg), void *arg);
/* Each rule about `name` or a name above it, with where it stands: all sources are read again. */
void list_loading_search(const struct blocklist *l, const uint8_t *name,
			 void (*fn)(const char *where, unsigned line, const char *text,
				    const struct list_rule *r, void *arg),
			 void *arg);

#endif
