/* The contract between the mesh and a module (doc/internals.md, Rules).
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * A module is given one query and one event at a time and returns where the query goes
 * next. It never calls another module. Its state is zeroed memory in the query's arena. */
#ifndef SERVICES_QUERY_MODULE_H
#define SERVICES_QUERY_MODULE_H

#include "util/base/base.h"

struct addr;
struct env;
struct fault;
struct query;
struct upstream_reply;

enum step {
	STEP_DOWN, /* to the next module: it gets EVENT_ASK */
	STEP_WAIT, /* something has been started that will wake the query */
	STEP_UP,   /* q->reply is filled: the module above gets EVENT_ANSWER */
	STEP_STUCK, /* its state machine has changed nothing: the mesh ends the query with SERVFAIL */
};

enum event_kind {
	EVENT_ASK,    /* the question arrives from above, for the first time or again */
	EVENT_ANSWER, /* the module below has filled q->reply */
	EVENT_CHILD,  /* a query started with mesh_child is done */
	EVENT_REPLY,  /* an upstream question has ended */
	EVENT_TIMER,  /* the timer set with mesh_wake_at has expired */
	EVENT_TURN,   /* a later turn of the loop, requested with mesh_yield */
	EVENT_KINDS
};

#define WAKE_CHILD (1u << EVENT_CHILD)
#define WAKE_REPLY (1u << EVENT_REPLY)
#define WAKE_TIMER (1u << EVENT_TIMER)
#define WAKE_TURN  (1u << EVENT_TURN)
#define WAKE_ANY   (WAKE_CHILD | WAKE_REPLY | WAKE_TIMER | WAKE_TURN)

struct event {
	enum event_kind kind;
	const struct query *child;          /* EVENT_CHILD; its reply is valid during this call */
	const struct upstream_reply *reply; /* EVENT_REPLY; valid during this call */
};

struct module {
	const char *name;  /* as written in module-config */
	size_t state_size; /* bytes of zeroed arena, given to operate() as state */
	bool (*init)(struct env *env, struct fault *f); /* may be NULL */
	/* The events that it may return STEP_WAIT for: WAKE_*. Any other, apart from EVENT_ASK and
	 * EVENT_ANSWER, ends the query as STEP_STUCK does. */
	unsigned wakes;
	enum step (*operate)(struct query *q, void *state, const struct event *ev);
	/* Whether something outside the mesh, such as a server, is to wake the query; the mesh itself knows
	 * of children, timers and turns. A query that waits for none of them ends as by STEP_STUCK, rather
	 * than standing for ever. NULL: unknown, and not checked. */
	bool (*waits)(const void *state);
	const char *(*state_name)(const void *state); /* for the log; may be NULL */
	void (*clear)(struct query *q, void *state); /* the query ends; may be NULL */
	/* The server whose response the query is waiting for, or NULL. May be NULL. */
	const struct addr *(*awaits)(const void *state);
	void (*renewed)(struct env *env);            /* env->snapshot has changed; may be NULL */
	void (*deinit)(struct env *env);             /* may be NULL */
};

#endif
