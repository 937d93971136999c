/* Policies of a list: names that are blocked for some clients, and what these are told.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * Firewalls write lists with policies (services/blocklist/json.c): each has names of its own,
 * networks, an answer, and a pattern of names that pass. */
#ifndef SERVICES_BLOCKLIST_CLIENTS_H
#define SERVICES_BLOCKLIST_CLIENTS_H

#include "services/blocklist/special.h"
#include "util/names/suffix.h"

struct nameset;
struct pattern;

enum {
	BLOCKLIST_POLICIES = 64,      /* of a list */
	BLOCKLIST_POLICY_TEXT = 65536, /* longest description */
	BLOCKLIST_POLICY_WORD = 64,    /* of its name or a list's, with NUL */
	BLOCKLIST_POLICY_LISTS = 64,   /* that its names are from, the first being none */
};

enum { BLOCKLIST_POLICY_LIST = 4 };

struct blocklist_policy {
	char *text;
	struct nameset
		*names; /* NULL: none. Numbers: BLOCKLIST_BLOCK_SELF, BLOCKLIST_BLOCK_BELOW; and
			 * BLOCKLIST_POLICY_LIST times which of `lists` has it, 0: not told */
	struct netblock *nets; /* count 0: for everybody */
	size_t net_count;
	struct blocklist_special special; /* types, and the answer */
	struct pattern *pass;             /* names that pass; NULL: none */
	unsigned unknown;                 /* alternatives of the pattern that are not understood */
	const char *id, *lists; /* in `text`, up to the line's end; NULL: not told */
};

/* Take a description: lines "nets NETBLOCK...", "special MODIFIERS" (struct blocklist_rule), "pass
 * PATTERN", "id NAME", "lists NAME...". What is wrong in it is left out; nets none of which can be read hold nobody. */
void blocklist_policy_init(struct blocklist_policy *p, const char *text);
void blocklist_policy_clear(struct blocklist_policy *p);
size_t blocklist_policy_bytes(const struct blocklist_policy *p);

/* Whether it holds for the question. */
bool blocklist_policy_is_for(const struct blocklist_policy *p, const struct blocklist_asked *asked);
/* The number of labels of the longest of its names that covers `q`; 0: none. `*list`: the number of that
 * name's list, or 0; `list` may be NULL. */
unsigned blocklist_policy_find(const struct blocklist_policy *p, const struct suffixes *q, unsigned *list);
/* What it, and that list, are called where they come from; empty: not told. */
void blocklist_policy_id(const struct blocklist_policy *p, char id[BLOCKLIST_POLICY_WORD]);
void blocklist_policy_list(const struct blocklist_policy *p, unsigned list, char name[BLOCKLIST_POLICY_WORD]);
bool blocklist_policy_passes(const struct blocklist_policy *p, const uint8_t *name);

#endif
