/* Who may ask, and what becomes of it: access-control.
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef SERVICES_ACL_H
#define SERVICES_ACL_H

#include "util/addr.h"

struct conf;
struct fault;

enum acl_action {
	ACL_DENY, /* drop without a word */
	ACL_REFUSE,
	ACL_ALLOW,          /* recursion; RD=0 questions are refused */
	ACL_ALLOW_SETRD,    /* as if RD were set */
	ACL_ALLOW_SNOOP,    /* RD=0 may look into the cache */
	ACL_ALLOW_COOKIE,   /* UDP needs a valid DNS cookie */
	ACL_DENY_NON_LOCAL, /* local data only; drop the rest */
	ACL_REFUSE_NON_LOCAL,
};

/* What a netblock's row says; views and tags (a later room) hang here. */
struct acl_rule {
	enum acl_action action;
	const char *view; /* access-control-view, or NULL */
};

struct acl;

/* From access-control, access-control-view, interface-action … of `conf`. Without any:
 * loopback allowed, everybody else refused. */
struct acl *acl_new(const struct conf *conf, struct fault *f) MUST_USE;
void acl_free(struct acl *a);

/* The rule for a client; `listener` is the address it reached (interface-action), or
 * NULL. Never NULL. */
const struct acl_rule *acl_get(const struct acl *a, const struct addr *client,
			       const struct addr *listener);
const char *acl_action_name(enum acl_action a);

#endif
