/* The contract between the mesh and a module (DESIGN.md 2, 3).
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * A module is handed one query and one event at a time and says where the query goes
 * next. It never calls another module. Its state lives in the query's arena, zeroed. */
#ifndef SERVICES_MODULE_H
#define SERVICES_MODULE_H

#include "util/base.h"

struct addr;
struct env;
struct fault;
struct query;
struct upstream_reply;

enum step {
	STEP_DOWN, /* to the next module: it gets EVENT_ASK */
	STEP_WAIT, /* something was started that will wake the query */
	STEP_UP,   /* q->reply is filled: the module above gets EVENT_ANSWER */
};

enum event_kind {
	EVENT_ASK,    /* the question comes from above (or from above once more) */
	EVENT_ANSWER, /* the module below has filled q->reply */
	EVENT_CHILD,  /* a query asked with mesh_child is done */
	EVENT_REPLY,  /* an upstream question has ended */
	EVENT_TIMER,  /* mesh_wake_at's time has come */
	EVENT_TURN,   /* a later turn of the loop, as mesh_yield wished */
};

struct event {
	enum event_kind kind;
	const struct query *child;          /* EVENT_CHILD: done; its reply is good for this call */
	const struct upstream_reply *reply; /* EVENT_REPLY: good for this call */
};

struct module {
	const char *name;  /* as written in module-config */
	size_t state_size; /* bytes of zeroed arena, given to operate() as state */
	bool (*init)(struct env *env, struct fault *f); /* may be NULL */
	enum step (*operate)(struct query *q, void *state, const struct event *ev);
	void (*clear)(struct query *q, void *state); /* query ends; may be NULL */
	/* Which server's word the query waits for now, or NULL; may be NULL */
	const struct addr *(*awaits)(const void *state);
	void (*renewed)(struct env *env);            /* env->snapshot is another one; may be NULL */
	void (*deinit)(struct env *env);             /* may be NULL */
};

#endif
