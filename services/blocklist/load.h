/* The sources of a list's names: files, copies of fetched URLs, and the saved table.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * A table is built aside from all sources, and replaces the previous one if each of them could be
 * read; otherwise the previous one stays, and the log and blocklist_status say why. For each list,
 * blocklist-directory holds its table and the text of every URL. */
#ifndef SERVICES_BLOCKLIST_LOAD_H
#define SERVICES_BLOCKLIST_LOAD_H

#include "services/blocklist/read.h"

struct blocklist;
struct conf;
struct conf_blocklist;
struct list_loading;
struct loader;

/* The sources configured in `c`. Nothing is read yet. */
struct list_loading *list_loading_new(const struct conf *conf, const struct conf_blocklist *c) MUST_USE;
void list_loading_free(struct list_loading *g);
/* Whether two have the same sources and settings. */
bool list_loading_equals(const struct list_loading *a, const struct list_loading *b);
/* Before anything is read: resolve paths. `inside`: the process is in the chroot. */
void list_loading_settle(struct list_loading *g, const struct conf *conf, bool inside);

/* Load the table from local files, at once, on this thread. `*seed`: see list_table_load. */
void list_loading_begin(struct blocklist *l, uint64_t *seed);
/* From now on check the sources on the loader's thread, when due. The task has a pin of its own and
 * drops it after list_loading_end. */
void list_loading_attend(struct blocklist *l, struct loader *loader);
void list_loading_end(struct blocklist *l);
/* Check now: files that have changed, and all URLs. From any thread. */
void list_loading_hurry(struct blocklist *l);

/* ---- status ---- */

enum list_kind { LIST_FROM_FILE, LIST_FROM_URL, LIST_FROM_ALLOW };

struct list_source {
	enum list_kind kind;
	const char *where;
	const struct list_counts *counts; /* of the last reading */
	int64_t good_s;                   /* time (since 1970) of the copy in use; 0: none */
	int64_t failed_s;                 /* time of the last failure; 0: none since */
	const char *why;                  /* it failed */
};

struct list_age {
	int64_t made_s; /* since 1970: when the table was built; 0: there is none */
	int64_t next_s; /* time of the next check; 0: none is due */
	const char *stale; /* why the table is kept though sources have changed; or NULL */
};

/* Call `fn` for each source, under a lock. `fn` may be NULL. */
void list_loading_tell(const struct blocklist *l, struct list_age *age, char *stale, size_t room,
		       void (*fn)(const struct list_source *s, void *arg), void *arg);
/* Call `fn` for each rule at or above `name`, with its place: reads all sources again. */
void list_loading_search(const struct blocklist *l, const uint8_t *name,
			 void (*fn)(const char *where, unsigned line, const char *text,
				    const struct list_rule *r, void *arg),
			 void *arg);

#endif
