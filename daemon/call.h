/* One command of the control channel while it is carried out: what its handler sees of it.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * A handler is `control_WORD(struct call *c, struct worker *w)`. Its row in control.def says where
 * it runs. MAIN: once, on the main thread, with w NULL (twice if it goes round). FIRST_WORKER, EVERY_WORKER: in a turn of
 * each of those workers, one after the other, and at the end on the main thread with w NULL; a call
 * is on one thread at a time, so that a handler needs no lock. ASIDE: on a thread of its own, with w
 * NULL: it touches nothing but the caches and what workers publish. BODY: on the main thread, for each
 * line that follows the command and once before and behind them. What it says is kept and written
 * when it is over. */
#ifndef DAEMON_CALL_H
#define DAEMON_CALL_H

#include "daemon/aside.h"
#include "daemon/control_request.h"
#include "util/list.h"

struct connection;
struct control;
struct daemon;
struct worker;

struct call_text; /* a piece of the reply */

/* Of a command with a body. */
enum call_phase {
	CALL_WHOLE, /* it has none */
	CALL_BEGIN, /* before its first line; `refused` ends the call here */
	CALL_ITEM,  /* a line, in `item` */
	CALL_END,
};

struct call {
	struct daemon *daemon;
	char *args; /* behind the word, without blanks in front; may be cut up */
	void *data; /* the handler's, from one worker to the next; freed by mem_free */
	void (*let_go)(struct call *c); /* before that: what hangs on it; or NULL */
	bool stop;  /* stop the daemon when the reply is written */
	bool waits;      /* FIRST_WORKER, EVERY_WORKER: not done yet there, until call_resume */
	bool goes_round; /* MAIN: to every worker next, and back to the main thread once more */
	enum call_phase phase;
	char *item;           /* CALL_ITEM: may be cut up */
	unsigned items, done; /* lines so far; the handler's count */
	bool refused; /* CALL_ITEM: what follows is of no use, and is soon waited for no longer */
	size_t item_room; /* bytes of a line with its end; CALL_BEGIN may ask for more than usual */
	bool over;        /* CALL_ITEM: nothing that follows belongs to the body */
	bool broken;         /* for call_plan.over: it did not come to its end */
	/* the channel's own */
	bool in_handler;
	void (*finished)(struct call *c, void *arg); /* of a call_plan, or NULL */
	void *finished_arg;
	struct list link;
	struct control *control;
	struct aside aside;
	struct connection *connection; /* NULL: the client has gone */
	const struct command *command;
	unsigned next_worker, settled; /* workers it has been to, and once more when it was over */
	uint64_t published;            /* by the daemon when it began */
	struct call_text *first, *last;
	unsigned pieces; /* of the reply, those already sent included */
	char line[CONTROL_LINE];
};

/* Add to the reply. A handler that says nothing has an empty reply, which means success. */
void call_say(struct call *c, const char *fmt, ...) PRINTF_LIKE(2, 3);
void call_line(const char *line, void *call); /* with a line end behind it; fits every `out` */
void call_ok(struct call *c);                 /* "ok" */

/* What the handler waits for is there, be it while it still runs; in the worker's thread. */
void call_resume(struct call *c);

/* The whole reply so far in one piece, ended by NUL; released by mem_free. */
char *call_reply(const struct call *c, size_t *len) MUST_USE;

/* The next argument as a name in wire form. False, with the reply said, when there is none or it is
 * none. `to` holds DNAME_MAX bytes. */
bool call_take_name(struct call *c, uint8_t *to) MUST_USE;
/* Letters of an argument "+abc", which may be absent; false, with the reply said, when one is not
 * in `known`. `given[i]` tells of known[i]. */
bool call_take_flags(struct call *c, const char *known, bool *given) MUST_USE;

/* ---- the table ---- */

enum command_place { MAIN, ASIDE, FIRST_WORKER, EVERY_WORKER, BODY };

struct command {
	const char *word, *args, *help;
	enum command_place place;
	void (*run)(struct call *c, struct worker *w);
};

extern const struct command commands[]; /* ends with word NULL */

#define CMD(word, args, place, help) void control_##word(struct call *c, struct worker *w);
#include "daemon/control.def"
#undef CMD

#endif
