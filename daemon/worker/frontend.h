/* The way of a query: from a client to a cached answer, or to the mesh.
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef DAEMON_WORKER_FRONTEND_H
#define DAEMON_WORKER_FRONTEND_H

#include "services/net/client.h"

struct request;
struct worker;

/* Take one packet. DISPOSITION_SEND: the answer is in p->out. DISPOSITION_LATER: the client is, or
 * will be, answered or dropped through its ops. In a turn of the worker's loop. */
enum disposition frontend_take(struct worker *w, struct packet *p);

/* The same, as listeners call it; `worker` is a struct worker. */
enum disposition frontend_take_any(void *worker, struct packet *p);

/* A client's question that was taken before, under another configuration (env->readmit); `worker` is a
 * struct worker. */
void frontend_readmit(void *worker, const struct request *r, const struct client *c);

/* Clients on a connection take a question back, or have gone, as listeners tell it (services/net/client.h). */
void frontend_leave(void *worker, struct list *on_connection,
		    bool (*is)(const struct client *c, const void *arg), const void *arg);

#endif
