/* What the files of the reader of lists share.
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef SERVICES_BLOCKLIST_PRIVATE_H
#define SERVICES_BLOCKLIST_PRIVATE_H

#include "services/blocklist_name.h"
#include "services/blocklist_read.h"

enum { LIST_LINE = 4096 }; /* longer lines are no rules */

/* A run of letters in a line. */
struct word {
	const char *at;
	size_t len;
};

struct list_reader {
	struct list_how how;
	struct list_counts counts;
	char line[LIST_LINE + 1]; /* so far; while it is read, without blanks at its end */
	size_t len;
	unsigned letters; /* what kinds of them it has */
	bool too_long;
	bool seen; /* a first line, which shows that this is no page */
	/* a policy zone */
	bool zone;         /* there are lines of one */
	unsigned brackets; /* open, over lines */
	uint8_t apex[DNAME_MAX], origin[DNAME_MAX], owner[DNAME_MAX];
	bool has_apex, has_origin, has_owner;
};

/* A rule for the name at `w`, or why there is none. */
enum list_skip list_put(struct list_reader *r, struct word w, uint8_t bits);
enum list_skip list_put_name(struct list_reader *r, const uint8_t *name, uint8_t bits);
void list_skip(struct list_reader *r, enum list_skip why); /* LIST_READ is fine */
enum list_skip list_skip_of(enum list_name n);

/* The next word that blanks, or one of `more`, end; false at the end of the line. */
bool word_take(const char **at, struct word *w, const char *more);
bool word_is(struct word w, const char *text); /* whatever the case */
bool word_is_null_address(struct word w);      /* 0.0.0.0, ::, 127.0.0.0/8, ::1 */
bool word_is_address(struct word w);

/* Each reads one line that is of its kind; blanks around it are gone. */
void list_read_adblock(struct list_reader *r, struct word line);
void list_read_zone(struct list_reader *r, const char *line, bool indented);
/* Whether a line begins a policy zone, or is a record of one that nothing else can be. */
bool list_is_zone(const struct list_reader *r, const char *line);

#endif
