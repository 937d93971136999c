/* Shared by the files that load the sources of lists.
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef SERVICES_BLOCKLIST_LOAD_PRIVATE_H
#define SERVICES_BLOCKLIST_LOAD_PRIVATE_H

#include <pthread.h>
#include <stdatomic.h>
#include <time.h>

#include "services/background/fetch.h"
#include "services/background/loader.h"
#include "services/blocklist/load.h"
#include "util/base/fault.h"

struct blocklist_table;

/* A file or URL and its status. */
struct source {
	enum blocklist_kind kind;
	char *where; /* path or URL, for messages */
	char *path;  /* of the file or the copy; NULL: a URL without a copy */
	int64_t size, mtime_ns; /* of the file in use; size -1: none */
	struct blocklist_counts counts;
	int64_t good_s, failed_s, due_s;
	unsigned failures;
	struct fetch_mark mark;
	char why[sizeof(((struct fault *)0)->text)];
};

struct sources {
	struct source *at;
	size_t count;
};

struct blocklist_loading {
	/* as configured */
	char **patterns[3]; /* by enum blocklist_kind */
	size_t pattern_count[3];
	char *name;
	uint32_t refresh_s;
	uint64_t max_size;
	bool tops;
	uint64_t spec;
	char *nat64[2]; /* the prefixes of the configuration */
	/* blocklist_loading_resolve_paths */
	char *directory, *authorities; /* "" or a path */
	/* the loader's thread alone, once it attends */
	struct loader_task task;
	struct loader *loader;
	struct blocklist *list;
	bool table_told; /* it was logged that the table cannot be saved */
	struct blocklist_table *unsaved; /* built at startup, to be saved later; or NULL */
	_Atomic bool ended, hurried;
	/* read by others */
	pthread_mutex_t lock; /* guards what follows; written by the loader's thread */
	struct sources now;
	int64_t made_s, next_s;
	char stale[sizeof(((struct fault *)0)->text)];
};

static inline int64_t blocklist_wall_s(void)
{
	return (int64_t)time(NULL);
}

/* Whether the URL is to be asked now. A time further away than `refresh_s` was set by a clock that went wrong: it is not
 * waited for. */
static inline bool blocklist_source_is_due(const struct source *s, uint32_t refresh_s,
					   int64_t now_s)
{
	return s->size < 0 || s->due_s <= now_s || s->due_s - now_s > (int64_t)refresh_s;
}

/* Hash of a text, the same in every process; continues from `h`. */
uint64_t blocklist_hash_text(uint64_t h, const char *text);
#define BLOCKLIST_HASH_BEGIN UINT64_C(0xcbf29ce484222325)

/* Path of a file of the list in blocklist-directory; NULL: there is no directory. */
char *blocklist_own_path(const struct blocklist_loading *g, const char *of,
			 const char *ending) MUST_USE;

/* ---- finding ---- */

/* The sources there are now, with their status from g->now. */
struct sources blocklist_look(const struct blocklist_loading *g) MUST_USE;
void blocklist_source_look(struct source *s); /* its size and time */
bool blocklist_sources_equal(const struct sources *a, const struct sources *b);
void blocklist_sources_clear(struct sources *s);
void blocklist_source_fail(struct source *s, const struct fault *f);

/* ---- reading ---- */

struct fetch_how blocklist_how_to_fetch(const struct blocklist_loading *g, const char *url);
/* NULL with the reason in `f` when a source that was good before no longer is, unless `trusting`.
 * Other broken sources are left out. */
struct blocklist_table *blocklist_make_table(const struct blocklist_loading *g, struct sources *s,
					     uint64_t seed, bool trusting,
					     struct fault *f) MUST_USE;

#endif
