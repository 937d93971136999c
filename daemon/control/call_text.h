/* A piece of a reply: call_text.c collects them, control.c sends them.
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef DAEMON_CONTROL_CALL_TEXT_H
#define DAEMON_CONTROL_CALL_TEXT_H

#include <pthread.h>

#include "util/base/base.h"

struct call;

struct call_text {
	struct call_text *next;
	size_t start, end, room; /* start … end is still to be sent */
	char bytes[];
};

/* The reply of a call that is OWN_THREAD: its thread appends while the main thread sends. `lock` guards the call's pieces and
 * what follows. The thread waits, outside turns and without any lock of another room, while FLOW_MOST bytes are unsent. */
struct call_flow {
	pthread_mutex_t lock;
	pthread_cond_t moved;
	size_t held;                 /* bytes not yet sent */
	bool gone;                   /* the client: nobody sends any more */
	bool told;                   /* `more` has been called since the main thread last looked */
	void (*more)(struct call *c); /* there is something to send; on the call's thread */
};

#define FLOW_MOST (256 * 1024)
#define FLOW_TELL (64 * 1024) /* before the end the main thread hears of no less */

struct call_flow *call_flow_new(void (*more)(struct call *c));
void call_flow_end(struct call_flow *f); /* the client is gone; NULL is fine */
void call_flow_free(struct call_flow *f); /* NULL is fine */

/* Main thread: the next piece to be sent, complete unless the call is `over`; NULL: none for now. Then that its first piece
 * has been sent. */
struct call_text *call_next_piece(struct call *c, bool over);
void call_piece_sent(struct call *c);
/* Bytes of the reply, as they are. */
void call_put(struct call *c, const char *from, size_t len);
void call_clear(struct call *c); /* discard the reply */

#endif
