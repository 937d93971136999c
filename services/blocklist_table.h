/* The rules of a list in one packed table: built once, immutable, read by any number of threads.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * Of the rules at and above a name, the one with the longest name decides; where one name is both
 * blocked and allowed, it is allowed. Important rules precede all others, and among them those
 * that allow. Policies come last: the first that holds for the client and has the name decides. */
#ifndef SERVICES_BLOCKLIST_TABLE_H
#define SERVICES_BLOCKLIST_TABLE_H

#include "services/blocklist_read.h"
#include "util/suffix.h"

struct addr;
struct list_special;
struct list_table;
struct list_table_maker;

/* ---- making ---- */

struct list_table_maker *list_table_begin(void) MUST_USE;
void list_table_rule(void *maker, const struct list_rule *r); /* a list_how.rule */
void list_table_policy(void *maker, unsigned number, const char *text); /* a list_how.policy */
/* Number of special rules left out because there were too many. */
uint64_t list_table_dropped(const struct list_table_maker *m);
/* Number of patterns in policies that are not understood. */
unsigned list_table_unknown(const struct list_table *t);
/* Build the table and free the maker. Never NULL: a table may be empty. */
struct list_table *list_table_make(struct list_table_maker *m, uint64_t seed) MUST_USE;
void list_table_maker_free(struct list_table_maker *m); /* NULL is fine */

/* Counted references; after the last it is freed once all turns open at that time have ended. */
struct list_table *list_table_pin(struct list_table *t);
void list_table_unpin(struct list_table *t); /* NULL is fine */

/* ---- asking ---- */

enum list_verdict { LIST_SAYS_NOTHING, LIST_ALLOWS, LIST_BLOCKS };

struct list_match {
	unsigned labels;                    /* of the rule's name */
	const struct list_special *special; /* the answer, if the rule gives one; or NULL */
};

/* `q` must be made with the table's seed. `from` may be NULL. Fills `m` if a rule matches. */
enum list_verdict list_table_find(const struct list_table *t, const struct suffixes *q,
				  uint16_t type, const struct addr *from, struct list_match *m);
/* Whether there is any rule at or above the name. */
bool list_table_mentions(const struct list_table *t, const struct suffixes *q);
unsigned list_table_deepest(const struct list_table *t); /* labels of the deepest name */
size_t list_table_count(const struct list_table *t);     /* names */
size_t list_table_bytes(const struct list_table *t);

/* ---- in a file ---- */

bool list_table_save(const struct list_table *t, bool (*write)(void *arg, const void *, size_t),
		     void *arg) MUST_USE;
/* NULL: it is damaged, or from another kind of machine. `most` bytes are available. The table is
 * rehashed with `*seed`; if that is 0 it keeps the seed it was saved with, at no cost, and `*seed`
 * is set to it. */
struct list_table *list_table_load(bool (*read)(void *arg, void *, size_t), void *arg,
				   uint64_t most, uint64_t *seed) MUST_USE;

#endif
