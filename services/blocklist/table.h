/* The rules of a list in one packed table: built once, immutable, read by any number of threads.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * Which of the rules at and above a name decides: important rules of allow-files; answers of rules
 * (dnsrewrite), unless an allow-file allows the name and they are not important; important rules
 * that allow; important rules that block; rules that allow, whatever their length; and of the rest,
 * the rule with the longest name, where what lets pass precedes what blocks. Policies come last:
 * the first that holds for the client and has the name decides. */
#ifndef SERVICES_BLOCKLIST_TABLE_H
#define SERVICES_BLOCKLIST_TABLE_H

#include "services/blocklist/read.h"
#include "util/names/suffix.h"

struct addr;
struct blocklist_policy;
struct blocklist_rewrite;
struct blocklist_table;
struct blocklist_table_maker;

/* ---- making ---- */

struct blocklist_table_maker *blocklist_table_begin(void) MUST_USE;
void blocklist_table_rule(void *maker, const struct blocklist_rule *r); /* a blocklist_how.rule */
void blocklist_table_policy(void *maker, unsigned number,
			    const char *text); /* a blocklist_how.policy */
/* Number of patterns in policies that are not understood. */
unsigned blocklist_table_unknown(const struct blocklist_table *t);
/* Build the table and free the maker. Never NULL: a table may be empty. */
struct blocklist_table *blocklist_table_make(struct blocklist_table_maker *m,
					     uint64_t seed) MUST_USE;
void blocklist_table_maker_free(struct blocklist_table_maker *m); /* NULL is fine */

/* Counted references; after the last it is freed once all turns open at that time have ended. */
struct blocklist_table *blocklist_table_pin(struct blocklist_table *t);
void blocklist_table_unpin(struct blocklist_table *t); /* NULL is fine */

/* ---- asking ---- */

enum blocklist_verdict { BLOCKLIST_SAYS_NOTHING, BLOCKLIST_ALLOWS, BLOCKLIST_BLOCKS };

enum { BLOCKLIST_REWRITES = 32 }; /* of one answer; what is beyond is left out */

struct blocklist_match {
	unsigned labels;   /* of the rule's name; of the longest if there are several */
	unsigned rewrites; /* parts of the answer, if rules give one: an alias alone, an RCODE alone,
			    * or any number of records */
	const struct blocklist_rewrite *rewrite[BLOCKLIST_REWRITES];
	const struct blocklist_policy *policy; /* if one decides; else NULL */
	unsigned list;                         /* of the policy: which of its lists; 0: not told */
};

/* `q` must be made with the table's seed. `from` may be NULL. Fills `m` if a rule matches; its
 * `rewrites` and `policy` in any case. */
enum blocklist_verdict blocklist_table_find(const struct blocklist_table *t,
					    const struct suffixes *q, uint16_t type,
					    const struct addr *from, struct blocklist_match *m);
/* Number of rules left out because there were too many at one name. */
uint64_t blocklist_table_dropped(const struct blocklist_table *t);
/* Whether there is any rule at or above the name that might block it. */
bool blocklist_table_mentions(const struct blocklist_table *t, const struct suffixes *q);
unsigned blocklist_table_deepest(const struct blocklist_table *t); /* labels of the deepest name */
size_t blocklist_table_count(const struct blocklist_table *t);     /* names */
size_t blocklist_table_bytes(const struct blocklist_table *t);

/* ---- in a file ---- */

bool blocklist_table_save(const struct blocklist_table *t,
			  bool (*write)(void *arg, const void *, size_t), void *arg) MUST_USE;
/* NULL: it is damaged, or from another kind of machine. `most` bytes are available. The table is
 * rehashed with `*seed`; if that is 0 it keeps the seed it was saved with, at no cost, and `*seed`
 * is set to it. */
struct blocklist_table *blocklist_table_load(bool (*read)(void *arg, void *, size_t), void *arg,
					     uint64_t most, uint64_t *seed) MUST_USE;

#endif
