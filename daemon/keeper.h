/* Keeping the caches over a restart: cache-file is read at the start, and written now and then.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * Reading and writing are done aside; no answer waits for them. While the file is being read it is
 * not written. Everything but keeper_save and keeper_disturb belongs to the main thread. */
#ifndef DAEMON_KEEPER_H
#define DAEMON_KEEPER_H

#include "services/cache/file.h"

struct caches;
struct fault;
struct keeper;
struct loop;
struct snapshot;

struct keeper *keeper_new(struct loop *l, const struct caches *caches) MUST_USE;

/* Go on as the configuration of `s` says. `inside`: the process is in its chroot. */
void keeper_adopt(struct keeper *k, const struct snapshot *s, bool inside);

/* Begin to read what was kept. Once, after the first keeper_adopt. */
void keeper_begin(struct keeper *k);

/* Write the file now, on whatever thread this is. False with a sentence in `f`. */
bool keeper_save(struct keeper *k, struct fault *f) MUST_USE;

/* Something was taken out of the caches that is not to come back: what still has to be read is not
 * read, and the file is written again soon. From any thread. */
void keeper_disturb(struct keeper *k);

/* The end begins: the file is written once more, if `serves` says that there was a time to learn
 * something. That may take long, and workers may go on meanwhile: clients do not wait for it. NULL is
 * fine; keeper_free comes next. */
void keeper_end(struct keeper *k, bool serves);
/* No worker runs. What was forgotten since the file was written is taken out of it. NULL is fine. */
void keeper_free(struct keeper *k);

struct keeper_report {
	bool keeps;                     /* there is a cache-file */
	bool reading;                   /* it is still being read */
	struct cachefile_count read;
	struct cachefile_count written; /* the last time that it could be written */
	int64_t written_s;              /* wall clock of that; 0: never */
	uint64_t took_us;               /* that time */
	uint64_t failures;              /* times that it could not be written */
};

struct keeper_report keeper_tell(struct keeper *k);

#endif
