/* One query's life: its question, what it may cost, who waits for it, and its outcome.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * Created, driven and freed (with its arena) by the mesh, which keeps its own part in struct mesh_lookup
 * (services/mesh/private.h). Modules read the question, set `want_*` before they step down and `reply` before they
 * step up. */
#ifndef SERVICES_QUERY_QUERY_H
#define SERVICES_QUERY_QUERY_H

#include "services/query/budget.h"
#include "services/query/env.h"
#include "services/query/module.h"
#include "util/base/arena.h"
#include "util/base/timebase.h"
#include "util/dns/msg.h"
#include "util/net/addr.h"
#include "util/net/subnet.h"

#define QUERY_MODULES 6     /* maximum number of modules in a chain */
#define QUERY_STEPS   10000 /* steps of one query's state machines; the last one ends it with SERVFAIL */

enum {                         /* query.kind: must match for two queries to be joined */
       QUERY_CD = 1,           /* checking disabled: the validator does nothing */
       QUERY_PRIME = 2,        /* prime this zone's NS RRset from its own servers, not the cache */
       QUERY_NO_CACHE = 4,     /* no lookup in the message cache (refresh) */
       QUERY_PARENT_SIDE = 8,  /* ask the servers above the cut (DS; parent-side addresses) */
       QUERY_NO_VALIDATE = 16, /* the asker validates: the validator's own DNSKEY and DS */
       QUERY_ROUTED = 64,      /* for a client: stops before a server would be sent its subnet */
       QUERY_FORWARDED = 128,  /* and every server is sent the client's own subnet option */
       QUERY_SCOPE = 256,      /* multiplied by the number of a scope (env->scopes) */
       QUERY_RPZ_PASSED = 32,   /* a policy zone has passed it: no other zone stops it */
};

/* The scope in `kind`. Queries of different scopes never join; children inherit the scope. */
static inline uint8_t query_scope(unsigned kind)
{
	return (uint8_t)(kind / QUERY_SCOPE);
}

/* What the client subnet option (ECS, RFC 7871) has to do with a query's answer (services/mesh/subnet_group.h). */
struct subnet_state {
	enum {
		ECS_UNUSED,   /* no server that was asked is to be sent one */
		ECS_OMITTED,  /* one is, but it is no client's query: it was asked without */
		ECS_REQUIRED, /* one is, and the query is for all clients: they must ask separately */
	} need;
	enum {
		ECS_UNSENT,
		ECS_OPTED_OUT, /* query->subnet is of SOURCE PREFIX-LENGTH 0: not sent where it would have been */
		ECS_SENT,      /* query->subnet was sent and echoed; the answer has `scope` */
	} sent;
	bool echoed_before; /* ECS_REQUIRED: that server has been seen to use the option */
	uint8_t scope;      /* SCOPE PREFIX-LENGTH of the answer */
};

struct query {
	struct arena arena; /* holds what the pointers below point to, unless that is pinned */
	struct env *env;
	struct snapshot *snapshot; /* pinned: the one it began with */
	struct question question;  /* lower-cased copy in the arena */
	unsigned kind;             /* QUERY_* */
	const struct netblock *subnet; /* its clients are in there; NULL: anywhere (services/mesh/subnet_group.h) */
	const struct view *view;   /* in the snapshot: whose forwards apply; NULL: the server's */
	struct scope_caches cache; /* of its scope; those in `env` are shared by everybody */
	uint8_t scope;             /* key in the message cache */
	unsigned depth;            /* 0: a client's query; a child has its parent's plus one */
	struct budget *budget;     /* shared with parents and children */
	uint64_t begun_us;

	/* between modules */
	bool want_signatures;     /* set by the validator: ask upstream with DO */
	bool no_store;            /* the answer must not be cached (forward-no-cache …) */
	bool no_message;          /* clients must not find it in the cache: policy zones, sentinels */
	bool stopped;             /* a policy zone ended it: no further server was asked */
	bool spared;              /* a policy zone may let some client through, on the way along aliases */
	const struct met *met;    /* servers met that policy zones name (services/policy/rpz_match.h) */
	const struct message *own; /* the denial that the reply stands in for (DNS64); or NULL */
	bool is_answer;           /* mesh_child_alike: a client's answer will be made of its own */
	bool is_detached;            /* mesh_side: whoever began it does not wait for it */
	bool lookup_refused;             /* it did without something, by limits of the query it was begun for, or of children */
	struct subnet_state ecs;  /* set by the iterator, and from those it builds on */
	bool is_refresh;          /* begun by prefetch or serve-expired: nobody waits for it */
	bool is_ahead;            /* begun before anybody asked (services/mesh/habits.h) */
	const struct addr *avoid; /* set by the validator: servers whose data were bogus */
	unsigned avoid_count;
	const uint8_t *report_to; /* set by the iterator: reporting agent (RFC 9567), or NULL */
	struct addr answered_by; /* set by the iterator: the server; family 0: the cache */
	const struct message *cached_answer; /* set by the iterator: the cached answer to the question */
	struct message *reply; /* the answer, with rcode, RRsets, security, reason; in the arena */
	unsigned steps;        /* of all modules so far: query_may_step */
};

/* Counts a step of a module, or of a state machine within one. False: it was the last one allowed, far
 * beyond what any question needs, so the query turns in a circle: STEP_STUCK. */
static inline bool query_may_step(struct query *q)
{
	return ++q->steps < QUERY_STEPS;
}

/* Whether it has failed for want of what a client's own query for the same would have: limits of the query it was
 * begun for, or that hold for children only. This says nothing to others, and is not kept. */
static inline bool query_lookup_was_refused(const struct query *q)
{
	return q->depth && q->lookup_refused &&
	       (q->reply->rcode == RCODE_SERVFAIL || q->reply->reason == REASON_budget_validation);
}

/* Whether its answer is for one subnet, or for clients that opted out: servers may tell others something
 * else (RFC 7871). */
static inline bool query_is_for_some(const struct query *q)
{
	return q->ecs.sent != ECS_UNSENT;
}

#endif
