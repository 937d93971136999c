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
	LIST_POLICIES = 64,      /* of a list */
	LIST_POLICY_TEXT = 65536, /* longest description */
};

struct list_policy {
	char *text;
	struct nameset *names; /* NULL: none. Numbers: LIST_BLOCK_SELF, LIST_BLOCK_BELOW */
	struct netblock *nets; /* count 0: for everybody */
	size_t net_count;
	struct list_special special; /* types, and the answer */
	struct pattern *pass;        /* names that pass; NULL: none */
	unsigned unknown;            /* alternatives of the pattern that are not understood */
};

/* Take a description: lines "nets NETBLOCK...", "special MODIFIERS" (struct list_rule), "pass
 * PATTERN". What is wrong in it is left out; nets none of which can be read hold nobody. */
void list_policy_init(struct list_policy *p, const char *text);
void list_policy_clear(struct list_policy *p);
size_t list_policy_bytes(const struct list_policy *p);

/* Whether it holds for the question. */
bool list_policy_is_for(const struct list_policy *p, const struct list_asked *asked);
/* The number of labels of the longest of its names that covers `q`; 0: none. */
unsigned list_policy_find(const struct list_policy *p, const struct suffixes *q);
bool list_policy_passes(const struct list_policy *p, const uint8_t *name);

#endif
