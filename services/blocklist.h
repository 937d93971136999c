/* Names that are not answered: the blocklist: clauses of a configuration, with their tables.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * A list that two configurations write alike is the same list in both, with its table, and goes on
 * being refreshed. Workers look in turns, without locks; tables are made on the loader's thread
 * (services/blocklist_load.h) and swapped. What is changed at run time (rules, pauses) is shared by
 * all lists that inherited from each other, and so survives a reload. */
#ifndef SERVICES_BLOCKLIST_H
#define SERVICES_BLOCKLIST_H

#include <stdatomic.h>

#include "services/blocklist_table.h"
#include "services/tags.h"
#include "util/addr.h"
#include "util/reason.h"

struct acl_rule;
struct conf;
struct fault;
struct list_loading;
struct loader;
struct view;

enum list_action {
	LIST_NXDOMAIN,
	LIST_NODATA,
	LIST_NULL, /* 0.0.0.0, :: */
	LIST_REFUSE,
	LIST_ADDRESS,
	LIST_DROP,
};

/* One clause. What a worker reads never changes but for `table`. */
struct blocklist {
	_Atomic(struct list_table *) table; /* never NULL */
	char *name;
	enum list_action action;
	struct addr addr[2]; /* LIST_ADDRESS: IPv4, IPv6; family 0: none */
	enum reason reason;
	char *reason_text; /* for EDE */
	bool for_all;
	struct tagset tags;
	char **views;
	size_t view_count;
	unsigned slot; /* of its counter in struct stats */
	_Atomic uint32_t pins;
	struct list_state *state;
	struct list_loading *loading; /* where names come from */
};

/* What lists share. */
struct list_state {
	/* 16 bits, never 0: changes with every table and rule. Answers from the cache whose aliases
	 * are in no list bear it (struct stored). */
	_Atomic uint32_t generation;
	_Atomic(struct list_table *) own; /* allowed and denied at run time; NULL: nothing */
	_Atomic(struct list_pauses *) pauses; /* NULL: none */
	uint64_t seed;
	_Atomic uint32_t pins;
};

struct blocklists {
	struct blocklist **at; /* in the order of the file */
	size_t count;
	struct list_state *state;
	struct blocklist *denied; /* stands for rules given at run time; acts as the first */
};

/* Empty tables; blocklists_start fills them. */
struct blocklists *blocklists_new(const struct conf *conf, struct fault *f) MUST_USE;
void blocklists_free(struct blocklists *b); /* NULL is fine */

/* Go on where `old` (or NULL) is, and have tables from what is on this machine: those of lists that
 * are new are here when this returns, from copies or from text. Then the loader, where there is
 * one, keeps them up to date. `inside`: we are in the chroot. The main thread. */
void blocklists_start(struct blocklists *b, const struct blocklists *old, const struct conf *conf,
		      struct loader *loader, bool inside);
/* These lists are used no more, but for those that `next` (or NULL) has, too. */
void blocklists_end(struct blocklists *b, const struct blocklists *next);

struct blocklist *blocklist_pin(struct blocklist *l);
void blocklist_unpin(struct blocklist *l);
void blocklist_publish(struct blocklist *l, struct list_table *t); /* takes over a pin */
struct blocklist *blocklists_find(const struct blocklists *b, const char *name); /* or NULL */

/* ---- asking, in a turn ---- */

/* Whether anything may be blocked at all. */
static inline bool blocklists_exist(const struct blocklists *b)
{
	return b->count || atomic_load_explicit(&b->state->own, memory_order_relaxed) != NULL;
}

struct list_asker {
	const struct acl_rule *rule;
	const struct addr *from; /* NULL: nobody in particular */
	uint32_t now_s;          /* for pauses */
};

struct list_found {
	const struct blocklist *list;
	const struct list_special *special; /* what to answer instead of the list's action; or NULL */
	unsigned labels;                    /* of the name in the rule */
	bool at_run_time;                   /* by blocklist_deny */
};

/* Whether a name is blocked for who asks, by the first list that says so. */
bool blocklists_block(const struct blocklists *b, const struct list_asker *who,
		      const uint8_t *name, uint16_t type, struct list_found *f);
/* The same for a name that the answer to a question for `asked` leads to: where a list allows
 * `asked`, it allows that, too. */
bool blocklists_block_alias(const struct blocklists *b, const struct list_asker *who,
			    const uint8_t *asked, const uint8_t *alias, uint16_t type,
			    struct list_found *f);
/* Whether some list might block the name for somebody. */
bool blocklists_might_block(const struct blocklists *b, const uint8_t *name);

/* What one list says to somebody in particular, whoever it is for. For blocklist_test. */
enum list_verdict blocklist_ask(const struct blocklist *l, const uint8_t *name, uint16_t type,
				struct list_match *m);
enum list_verdict blocklists_ask_own(const struct blocklists *b, const uint8_t *name);

/* ---- changes at run time: the main thread ---- */

/* For the name and all below it, before all lists; until the end of the process. */
void blocklists_allow(struct blocklists *b, const uint8_t *name);
void blocklists_deny(struct blocklists *b, const uint8_t *name);
bool blocklists_forget(struct blocklists *b, const uint8_t *name); /* false: there is no such rule */
void blocklists_each_rule(const struct blocklists *b,
			  void (*fn)(const uint8_t *name, bool allows, void *arg), void *arg);

/* Nothing is blocked until then: for the clients of a view, or (NULL) for all. */
void blocklists_pause(struct blocklists *b, const char *view, uint32_t until_s);
bool blocklists_resume(struct blocklists *b, uint32_t now_s); /* false: there was no pause */
void blocklists_each_pause(const struct blocklists *b, uint32_t now_s,
			   void (*fn)(const char *view, uint32_t left_s, void *arg), void *arg);

#endif
