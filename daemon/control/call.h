/* One control command being carried out, as its handler sees it.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * A handler is `control_WORD(struct call *c, struct worker *w)`. Its row in control.def says where
 * it runs:
 *
 *	MAIN          once, on the main thread, with w NULL (twice if it goes round)
 *	FIRST_WORKER  in a turn of that worker, then on the main thread with w NULL
 *	EVERY_WORKER  in a turn of each worker in sequence, then on the main thread with w NULL
 *	OWN_THREAD         on a thread of its own, with w NULL
 *	BODY          on the main thread, for each line that follows the command, and once before
 *	              and after them
 *
 * A call is on one thread at a time, so handlers need no locks for what is the call's. Of the daemon, whose fields the main
 * thread may change at any time, a handler that is not on that thread (w is not NULL, or OWN_THREAD) touches only what is made
 * before the workers start and stays (caches, workers, cache_keeper), what its worker owns or workers publish, and
 * call_snapshot. The reply is collected, and sent when the call is over; that of a call that is OWN_THREAD goes out as it grows,
 * and whoever makes a long one stops for a slow reader (call_flows). */
#ifndef DAEMON_CONTROL_CALL_H
#define DAEMON_CONTROL_CALL_H

#include <stdatomic.h>

#include "daemon/control/request.h"
#include "daemon/process/thread_job.h"
#include "util/base/list.h"
#include "util/conf/parts.h"

struct connection;
struct control;
struct daemon;
struct snapshot;
struct worker;

struct call_flow;
struct call_json;
struct call_text; /* a piece of the reply */

/* For commands with a body. */
enum call_phase {
	CALL_WHOLE, /* it has no body */
	CALL_BEGIN, /* before the first line; `refused` ends the call here */
	CALL_ITEM,  /* a line, in `item` */
	CALL_END,
};

#define CALL_AT_NONE (-1)

struct call {
	struct daemon *daemon;
	char *args; /* after the word and its blanks; the handler may modify them */
	void *data; /* the handler's, kept between workers; freed by mem_free */
	void (*let_go)(struct call *c); /* frees what `data` refers to, before that; or NULL */
	bool stop;  /* stop the daemon once the reply is sent */
	bool waits;      /* FIRST_WORKER, EVERY_WORKER: stays at this worker until call_resume */
	bool asks_parent; /* MAIN: then on to every worker, and back to the main thread */
	enum call_phase phase;
	char *item;           /* CALL_ITEM: the line; the handler may modify it */
	unsigned items, done; /* lines so far; the handler's count */
	bool refused; /* CALL_ITEM: the rest is of no use; it is not waited for much longer */
	size_t item_room; /* longest line with its LF, in bytes; CALL_BEGIN may raise it */
	bool over;        /* CALL_ITEM: the body ends here */
	bool broken;         /* for call_plan.over: it was not completed */
	/* private to the channel */
	bool in_handler;
	void (*finished)(struct call *c, void *arg); /* call_plan.over, or NULL */
	void *finished_arg;
	struct list link;
	struct control *control;
	struct thread_job job;
	struct snapshot *snapshot;     /* the one it began with, pinned; NULL: it stays on the main thread */
	struct connection *connection; /* NULL: the client is gone */
	const struct command *command;
	unsigned next_worker, visited; /* workers visited; then once more at the end */
	_Atomic int at_worker;         /* which one has it, or is to have it: or CALL_AT_NONE */
	_Atomic unsigned hops;         /* how often it was handed to one */
	bool is_left;                  /* its client no longer waits for such a one */
	bool is_own;                   /* of control_run */
	uint64_t published;            /* daemon.published when it began */
	struct call_text *first, *last;
	struct call_flow *flow; /* OWN_THREAD; else NULL */
	struct call_json *json; /* the reply is to be JSON (daemon/control/call_json.h); else NULL */
	unsigned pieces; /* of the reply, including those already sent */
	char line[CONTROL_LINE];
};

/* Append to the reply. An empty reply means success. */
void call_say(struct call *c, const char *fmt, ...) PRINTF_LIKE(2, 3);
void call_line(const char *line, void *call); /* adds a LF; usable as any `out` callback */
void call_ok(struct call *c);                 /* "ok" */
void call_lacks(struct call *c, enum part p); /* an error: the program was built without that */

/* In a long reply, now and then, outside turns: waits until little enough of it is unsent. False: the client has gone, and
 * the rest is of no use. */
bool call_flows(struct call *c);

/* MAIN, BODY: the snapshot in force. Elsewhere, on any thread: the one in force when the call began, which a reload
 * does not take away. Handlers read daemon.snapshot through this alone (contrib/lint checks it). */
const struct snapshot *call_snapshot(const struct call *c);

/* What the handler waits for has come, possibly while it still runs. On the worker's thread. */
void call_resume(struct call *c);

/* The reply so far in one piece, NUL-terminated; free with mem_free. */
char *call_reply(const struct call *c, size_t *len) MUST_USE;

/* Take the next argument as a name, in wire format, into `to` (DNAME_MAX bytes). False, with the
 * error in the reply, if it is missing or not a name. */
bool call_take_name(struct call *c, uint8_t *to) MUST_USE;
/* Take an optional argument "+abc": sets given[i] if known[i] is among its letters. False, with the
 * error in the reply, if a letter is not in `known`. */
bool call_take_flags(struct call *c, const char *known, bool *given) MUST_USE;

/* ---- the table (daemon/control/commands.c) ---- */

enum command_place { MAIN, OWN_THREAD, FIRST_WORKER, EVERY_WORKER, BODY };

struct command {
	const char *word, *args;
	enum command_place place;
	void (*run)(struct call *c, struct worker *w);
};

extern const struct command commands[]; /* ends with a NULL word */

#define CMD(word, args, place, help) void control_##word(struct call *c, struct worker *w);
#include "daemon/control/control.def"
#undef CMD

#endif
