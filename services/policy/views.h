/* Views: local data, and optionally forward and stub zones, of their own for some clients.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * Which clients see a view is decided by services/access/acl.h. A view that has forward or stub zones, or
 * validates less than the server does, has a scope: a number under which everything found for its
 * clients is cached, so that no other clients get it. A view's name keeps its number for the life
 * of the process, across reloads. */
#ifndef SERVICES_POLICY_VIEWS_H
#define SERVICES_POLICY_VIEWS_H

#include <stdatomic.h>

#include "util/base/base.h"

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
	bool first; /* names not in its data are looked up in the server's */
	/* NULL: none, the server's apply. views_zones may set it. */
	_Atomic(struct localzones *) zones;
	struct response_ip *addresses; /* NULL: none */
	uint8_t scope;                 /* 0: shares the server's caches */
	bool proves_nothing;           /* view-dnssec: no */
	bool permissive;               /* view-dnssec: permissive */
	struct forwards *forwards;     /* NULL: only the server's */
	const struct trie *insecure;   /* including the server's; NULL: only the server's */
};

struct views;

struct views *views_new(const struct conf *conf, struct fault *f) MUST_USE;
void views_free(struct views *v);                                 /* NULL is fine */
struct view *views_find(const struct views *v, const char *name); /* or NULL */
bool views_have_address_rules(const struct views *v); /* some view has response-ip rules */

/* ---- ways of its own ---- */

/* The view of a scope; NULL when there is none any more. */
const struct view *views_of_scope(const struct views *v, uint8_t scope);
unsigned views_highest_scope(const struct views *v);
/* Every table of forwards of a view. */
void views_each_forwards(const struct views *v, void (*fn)(const struct forwards *t, void *arg),
			 void *arg);

/* As in services/forward/forward.h; for a name that both have, the view's. `v` may be NULL. */
const struct forward_zone *views_forward(const struct view *v, const struct forwards *server,
					 const uint8_t *name);
const struct forward_zone *views_forward_exact(const struct view *v, const struct forwards *server,
					       const uint8_t *name);
const struct forward_zone *views_stub(const struct view *v, const struct forwards *server,
				      const uint8_t *name);

/* ---- its local data ---- */

/* Its zones, created if need be, to add data to. Main thread. */
struct localzones *views_zones(struct view *v, const struct conf *conf) MUST_USE;

/* Carry over the local data of views of the same name in `old`. */
void views_inherit(struct views *v, const struct views *old);

#endif
