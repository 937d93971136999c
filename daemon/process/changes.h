/* What commands have changed while the daemon runs: remembered for the next configuration and, if kept, the next start.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * Without keep-changes these are forward and stub zones alone, for a set_option or the like builds their tables anew; a reload
 * forgets them. With it they are all that changes.def names, in a file (daemon/process/journal.h) written before a change is
 * acted on, and a reload applies them, too. A change that the configuration does not allow now is kept, and tells why. */
#ifndef DAEMON_PROCESS_CHANGES_H
#define DAEMON_PROCESS_CHANGES_H

#include "daemon/process/change.h"
#include "daemon/process/journal.h"

#define CHANGES_MOST 20000

struct changes_item {
	uint64_t number;
	int64_t time_s;   /* since 1970 */
	char *text;       /* the command */
	char *problem;    /* why it is not in force; NULL: it is */
	bool is_readable; /* else `id` means nothing */
	bool is_damaged;  /* `text` is a line of the file whose check does not hold; it has no number */
	struct change_id id;
	int64_t until_s;  /* of a pause */
	bool marked;      /* private */
};

struct changes { /* begins zeroed */
	struct changes_item **items;
	size_t count;
	bool kept; /* keep-changes */
	struct journal journal;
	uint64_t last; /* the highest number given so far */
	size_t lines;  /* of the file, with those that were undone since */
	struct changes_item **former; /* before the last changes_keep or changes_undo, which can be taken back */
	size_t former_count;
	bool can_go_back;
	uint64_t *seen; /* a bit for each key there has been (and others that look like it): most changes are of new things */
};

/* From now on they are kept in this file. What is there is read; what is wrong with it is logged. */
void changes_open(struct changes *c, const char *path);
/* Privileges are dropped: the file's path is this from now on. A warning, if its folder cannot be written. */
void changes_enter(struct changes *c, const char *path);
/* Forget them; the file stays. */
void changes_clear(struct changes *c);

/* Before the commands are acted on: note them, and have them on disk. False, with a sentence: they may not be acted on. `s`:
 * the snapshot in force. Each must be one that change_read takes. */
bool changes_keep(struct changes *c, const struct snapshot *s, const char *const *lines, size_t count,
		  struct fault *f) MUST_USE;
/* The last changes_keep or changes_undo was not acted on after all. */
void changes_take_back(struct changes *c);
/* Take one out of the list and the file. `undone`: what it was, read; to be cleared. */
bool changes_undo(struct changes *c, uint64_t number, struct change *undone, struct fault *f) MUST_USE;

/* Those of options, in a configuration that nobody reads yet. */
void changes_configure(struct changes *c, struct conf *conf, const struct conf_how *how);
/* They are not in force; returns whether there were any. */
bool changes_refuse_options(struct changes *c, const char *why);
/* `s` with its forward and stub zones changed; with `local` zones and records, too. Takes over the pin of `s`. */
struct snapshot *changes_apply(struct changes *c, struct snapshot *s, bool local) MUST_USE;
/* After a start: what a reload leaves as it is. `now_s`: the loop's. */
void changes_run(struct changes *c, const struct snapshot *s, uint32_t now_s);

#endif
