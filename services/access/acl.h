/* Which clients may ask, and for what: access-control.
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef SERVICES_ACCESS_ACL_H
#define SERVICES_ACCESS_ACL_H

#include "services/local/record_data.h"
#include "services/local/tags.h"
#include "util/net/addr.h"

struct conf;
struct fault;
struct view;
struct views;

enum acl_action {
	ACL_DENY, /* drop silently */
	ACL_REFUSE,
	ACL_ALLOW,          /* recursion; queries with RD=0 are refused */
	ACL_ALLOW_SETRD,    /* as if RD were set */
	ACL_ALLOW_SNOOP,    /* RD=0 may be answered from the cache */
	ACL_ALLOW_COOKIE,   /* UDP needs a valid DNS cookie */
	ACL_DENY_NON_LOCAL, /* local data only; drop the rest */
	ACL_REFUSE_NON_LOCAL,
};

/* The tags of some clients, and what each tag implies (access-control-tag-action, -data). */
struct acl_tags {
	struct tagset set;
	unsigned count;               /* of the arrays below, indexed by tag number */
	const uint8_t *actions;       /* enum zone_type + 1; 0: none */
	const struct record_data *data;
};

/* The access control of a netblock. */
struct acl_rule {
	enum acl_action action;
	const char *view;             /* access-control-view, or NULL */
	const struct view *sees;      /* the same, set by acl_bind_views */
	const struct acl_tags *tags;  /* never NULL */
};

struct acl;

/* From access-control, access-control-view, -tag …, interface-action … of `conf`. Without any:
 * loopback allowed, everybody else refused. */
struct acl *acl_new(const struct conf *conf, struct fault *f) MUST_USE;
void acl_free(struct acl *a);
/* Resolve the view names in rules by `find` (views_find). The views must outlive `a`. */
typedef struct view *acl_find_view(const struct views *v, const char *name);
void acl_bind_views(struct acl *a, acl_find_view *find, const struct views *v);

/* The rule for a client; `listener` is the address it sent to (interface-action), or NULL. Never
 * returns NULL. */
const struct acl_rule *acl_get(const struct acl *a, const struct addr *client,
			       const struct addr *listener);
const char *acl_action_name(enum acl_action a);

#endif
