/* Views: local data of their own for some clients.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * Which clients see a view is the access lists' business (services/acl.h). */
#ifndef SERVICES_VIEWS_H
#define SERVICES_VIEWS_H

#include <stdatomic.h>

#include "util/base.h"

struct conf;
struct fault;
struct localzones;
struct response_ip;

struct view {
	char *name;
	bool first; /* what it does not know is looked for in the server's data */
	/* NULL: it has none, and the server's are seen. views_zones may put some there. */
	_Atomic(struct localzones *) zones;
	struct response_ip *addresses; /* NULL: none */
};

struct views;

struct views *views_new(const struct conf *conf, struct fault *f) MUST_USE;
void views_free(struct views *v);                                 /* NULL is fine */
struct view *views_find(const struct views *v, const char *name); /* or NULL */
bool views_judge(const struct views *v); /* some have rules for addresses */

/* The main thread's: its zones, so that something can be put there. */
struct localzones *views_zones(struct view *v, const struct conf *conf) MUST_USE;

/* Go on with the local data that views of the same name have in `old`. */
void views_inherit(struct views *v, const struct views *old);

#endif
