/* Views: local data of their own for some clients, and ways of their own to find the rest.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * Which clients see a view is the access lists' business (services/acl.h). A view that has forward
 * or stub zones, or proves less than the server does, has a scope: a number under which all that is
 * found for its clients is cached, so that nobody else is told. Every name of a view has one number
 * as long as the process lives, whatever is reloaded. */
#ifndef SERVICES_VIEWS_H
#define SERVICES_VIEWS_H

#include <stdatomic.h>

#include "util/base.h"

struct conf;
struct fault;
struct forward_zone;
struct forwards;
struct localzones;
struct response_ip;
struct trie;

#define VIEWS_SCOPED 255 /* most that have a scope, in a process's life */

struct view {
	char *name;
	bool first; /* what it does not know is looked for in the server's data */
	/* NULL: it has none, and the server's are seen. views_zones may put some there. */
	_Atomic(struct localzones *) zones;
	struct response_ip *addresses; /* NULL: none */
	uint8_t scope;                 /* 0: what is found for everybody is found for it */
	bool proves_nothing;           /* view-dnssec: no */
	bool permissive;               /* view-dnssec: permissive */
	struct forwards *forwards;     /* NULL: the server's alone */
	const struct trie *insecure;   /* with the server's; NULL: those alone */
};

struct views;

struct views *views_new(const struct conf *conf, struct fault *f) MUST_USE;
void views_free(struct views *v);                                 /* NULL is fine */
struct view *views_find(const struct views *v, const char *name); /* or NULL */
bool views_judge(const struct views *v); /* some have rules for addresses */

/* ---- ways of its own ---- */

/* Of the scope's view; NULL where there is none any more. */
const struct view *views_of_scope(const struct views *v, uint8_t scope);
unsigned views_highest_scope(const struct views *v);
/* Every table of forwards of a view. */
void views_each_forwards(const struct views *v, void (*fn)(const struct forwards *t, void *arg),
			 void *arg);

/* As in services/forward.h; of a name that both have, the view's. `v` may be NULL. */
const struct forward_zone *views_forward(const struct view *v, const struct forwards *server,
					 const uint8_t *name);
const struct forward_zone *views_forward_exact(const struct view *v, const struct forwards *server,
					       const uint8_t *name);
const struct forward_zone *views_stub(const struct view *v, const struct forwards *server,
				      const uint8_t *name);

/* ---- its local data ---- */

/* The main thread's: its zones, so that something can be put there. */
struct localzones *views_zones(struct view *v, const struct conf *conf) MUST_USE;

/* Go on with the local data that views of the same name have in `old`. */
void views_inherit(struct views *v, const struct views *old);

#endif
