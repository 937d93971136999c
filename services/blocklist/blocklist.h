/* Blocked names: the blocklist: clauses of a configuration, with their tables.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * A list configured identically before and after a reload is carried over with its table and goes
 * on being refreshed. Workers read within turns, without locks; tables are built on the loader's
 * thread (services/blocklist/load.h) and swapped in. Changes at run time (rules, pauses) are shared
 * by all lists that inherited from each other, and so survive a reload. */
#ifndef SERVICES_BLOCKLIST_BLOCKLIST_H
#define SERVICES_BLOCKLIST_BLOCKLIST_H

#include <stdatomic.h>

#include "services/blocklist/table.h"
#include "services/local/tags.h"
#include "util/base/rcu.h"
#include "util/dns/reason.h"
#include "util/net/addr.h"

struct acl_rule;
struct conf;
struct fault;
struct blocklist_loading;
struct loader;
struct view;

enum blocklist_action {
	BLOCKLIST_NXDOMAIN,
	BLOCKLIST_NODATA,
	BLOCKLIST_NULL, /* 0.0.0.0, :: */
	BLOCKLIST_REFUSE,
	BLOCKLIST_ADDRESS,
	BLOCKLIST_DROP,
};

/* One clause. Nothing that a worker reads ever changes, except `table`. */
struct blocklist {
	_Atomic(struct blocklist_table *) table; /* never NULL */
	char *name;
	enum blocklist_action action;
	struct addr addr[2]; /* BLOCKLIST_ADDRESS: IPv4, IPv6; family 0: none */
	enum reason reason;
	char *reason_text; /* for EDE */
	bool for_all;
	struct tagset tags;
	char **views;
	size_t view_count;
	unsigned slot; /* index of its counter in struct stats */
	_Atomic uint32_t pins;
	struct blocklist_state *state;
	struct blocklist_loading *loading; /* its sources */
};

/* State shared by all lists, of older snapshots, too. What is hashed with the seed (every table and rule) is published
 * after it. */
struct blocklist_state {
	/* Raised with every table, rule and reload. Recorded in cached answers whose name and
	 * aliases are in no list (struct stored). No number comes twice: after the last one it is
	 * LISTS_NO_GENERATION for good, with which no answer is ever marked. Written by the main
	 * thread and the loader's, read by workers at any time. */
	_Atomic uint32_t generation;
	_Atomic(struct blocklist_table *) own; /* rules given at run time; NULL: none */
	_Atomic(struct blocklist_pauses *) pauses; /* NULL: none */
	_Atomic uint64_t seed; /* 0 until there is something to hash; then the main thread sets it, once and for all */
	_Atomic uint32_t pins;
};

#define LISTS_NO_GENERATION UINT32_MAX

struct blocklists {
	struct blocklist **at; /* in configuration order */
	size_t count;
	struct blocklist_state *state;
	/* The generation with which other lists took the place of these: a worker that still has
	 * these may not speak for it. Written once, by the main thread, before the generation is
	 * raised to it; UINT32_MAX until then. */
	_Atomic uint32_t until;
	struct blocklist *denied; /* represents rules given at run time; acts as the first list */
};

/* Empty tables; blocklists_start fills them. */
struct blocklists *blocklists_new(const struct conf *conf, struct fault *f) MUST_USE;
void blocklists_free(struct blocklists *b); /* NULL is fine */

/* Carry over the lists of `old` (or NULL), and load the tables of new ones from local files (saved
 * tables or text) before this returns. From then on the loader, if any, keeps them up to date.
 * `inside`: the process is in the chroot. The main thread. */
void blocklists_start(struct blocklists *b, struct blocklists *old, const struct conf *conf,
		      struct loader *loader, bool inside);
/* These lists are no longer used, except those that `next` (or NULL) has too. */
void blocklists_end(struct blocklists *b, const struct blocklists *next);

struct blocklist *blocklist_pin(struct blocklist *l);
void blocklist_unpin(struct blocklist *l);
void blocklist_publish(struct blocklist *l, struct blocklist_table *t); /* takes over a pin */
struct blocklist *blocklists_find(const struct blocklists *b, const char *name); /* or NULL */

/* ---- lookup, within a turn ---- */

/* Whether there is any list or rule at all. */
static inline bool blocklists_exist(const struct blocklists *b)
{
	return b->count || RCU_READ(b->state->own) != NULL; /* the seed came before it */
}

/* With which generation to mark an answer that these lists, consulted from now on, find harmless; 0:
 * with none, since there are newer lists that they know nothing of. */
uint32_t blocklists_generation(const struct blocklists *b);

struct blocklist_asker {
	const struct acl_rule *rule;
	const struct addr *from; /* NULL: no client in particular */
	uint32_t now_s;          /* for pauses */
};

struct blocklist_found {
	const struct blocklist *list;
	bool at_run_time;             /* by blocklist_deny */
	struct blocklist_match
		match; /* its rewrites are the answer, in place of the list's action */
};

/* Whether a name is blocked for this client, and by which list (the first that blocks it). */
bool blocklists_block(const struct blocklists *b, const struct blocklist_asker *who,
		      const uint8_t *name, uint16_t type, struct blocklist_found *f);
/* The same for `alias`, which the answer for `asked` leads to: a list that allows `asked` allows
 * its alias as well. */
bool blocklists_block_alias(const struct blocklists *b, const struct blocklist_asker *who,
			    const uint8_t *asked, const uint8_t *alias, uint16_t type,
			    struct blocklist_found *f);
/* Whether some list might block the name for some client. */
bool blocklists_might_block(const struct blocklists *b, const uint8_t *name);

/* What one list says about a name, regardless of whom the list is for. For blocklist_test. */
enum blocklist_verdict blocklist_ask(const struct blocklist *l, const uint8_t *name, uint16_t type,
				struct blocklist_match *m);
enum blocklist_verdict blocklists_ask_own(const struct blocklists *b, const uint8_t *name);

/* ---- changes at run time: the main thread ---- */

/* A rule for the name and all names below it, ahead of all lists, until the process ends. Of these
 * rules, the one for the longest name decides. */
void blocklists_allow(struct blocklists *b, const uint8_t *name);
void blocklists_deny(struct blocklists *b, const uint8_t *name);
bool blocklists_forget(struct blocklists *b, const uint8_t *name); /* false: no such rule */
void blocklists_each_rule(const struct blocklists *b,
			  void (*fn)(const uint8_t *name, bool allows, void *arg), void *arg);

/* Block nothing until `until_s`, for the clients of a view or (NULL) for all. */
void blocklists_pause(struct blocklists *b, const char *view, uint32_t until_s);
bool blocklists_resume(struct blocklists *b, uint32_t now_s); /* false: no pause was in effect */
void blocklists_each_pause(const struct blocklists *b, uint32_t now_s,
			   void (*fn)(const char *view, uint32_t left_s, void *arg), void *arg);

#endif
