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
struct blocklist_loading;
struct loader;

/* The sources configured in `c`. Nothing is read yet. */
struct blocklist_loading *blocklist_loading_new(const struct conf *conf, const struct conf_blocklist *c) MUST_USE;
void blocklist_loading_free(struct blocklist_loading *g);
/* Whether two have the same sources and settings. */
bool blocklist_loading_equals(const struct blocklist_loading *a, const struct blocklist_loading *b);
/* Before anything is read: resolve paths. `inside`: the process is in the chroot. */
void blocklist_loading_resolve_paths(struct blocklist_loading *g, const struct conf *conf, bool inside);

/* Load the table from local files, at once, on this thread. `*seed`: see blocklist_table_load. */
void blocklist_loading_begin(struct blocklist *l, uint64_t *seed);
/* From now on check the sources on the loader's thread, when due. The task has a pin of its own and
 * drops it after blocklist_loading_end. */
void blocklist_loading_attend(struct blocklist *l, struct loader *loader);
void blocklist_loading_end(struct blocklist *l);
/* Check now: files that have changed, and all URLs. From any thread. */
void blocklist_loading_hurry(struct blocklist *l);

/* ---- status ---- */

enum blocklist_kind { BLOCKLIST_FROM_FILE, BLOCKLIST_FROM_URL, BLOCKLIST_FROM_ALLOW };

struct blocklist_source {
	enum blocklist_kind kind;
	const char *where;
	const struct blocklist_counts *counts; /* of the last reading */
	int64_t good_s;                        /* time (since 1970) of the copy in use; 0: none */
	int64_t failed_s;                      /* time of the last failure; 0: none since */
	const char *why;                       /* it failed */
};

struct blocklist_age {
	int64_t made_s; /* since 1970: when the table was built; 0: there is none */
	int64_t next_s; /* time of the next check; 0: none is due */
	const char *stale; /* why the table is kept though sources have changed; or NULL */
};

/* Call `fn` for each source, under a lock. `fn` may be NULL. */
void blocklist_loading_tell(const struct blocklist *l, struct blocklist_age *age, char *stale,
			    size_t room, void (*fn)(const struct blocklist_source *s, void *arg),
			    void *arg);
/* Call `fn` for each rule at or above `name`, with its place: reads all sources again. */
void blocklist_loading_search(const struct blocklist *l, const uint8_t *name,
			      void (*fn)(const char *where, unsigned line, const char *text,
					 const struct blocklist_rule *r, void *arg),
			      void *arg);

#endif
