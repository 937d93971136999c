/* What is kept of each question of a client: the query ring and the lists of what comes most often.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * A worker has one where the configuration wants it (query-ring, top-lists), and else pays nothing.
 * What is kept of clients, client-privacy says: nobody learns here what it rules out. */
#ifndef SERVICES_WITNESS_H
#define SERVICES_WITNESS_H

#include "services/queryring.h"
#include "services/settled.h"
#include "services/toplist.h"
#include "util/msg.h"

struct client;
struct conf_server;
struct timebase;

enum toplist_kind { TOP_NAMES, TOP_CLIENTS, TOP_BLOCKED, TOP_KINDS };

struct witness {
	struct settled settled;              /* env->settled: of the question that is under way */
	struct queryring *ring;              /* or NULL */
	struct toplist *top[TOP_KINDS];      /* or NULL */
	unsigned char client_bits[2];        /* that are kept of an address: IPv4, IPv6 */
	size_t entries;                      /* of the ring, */
	unsigned counters;                   /* of a list: as configured */
};

/* What `c` asks for, going on where `old` (or NULL) is, which is taken over, but for its ring when
 * that is another then: the caller retires it once nobody finds it any more. NULL: nothing. */
struct witness *witness_renew(struct witness *old, const struct conf_server *c) MUST_USE;
void witness_free(struct witness *w); /* NULL is fine */

/* One question, answered or not. What settled it is in w->settled, which is clear afterwards. */
struct testimony {
	const struct client *client;
	const struct question *q;
	const struct addr *server; /* whose answer it is, or NULL */
	uint64_t took_us;
	enum seen_how how;    /* where nothing settled it */
	int rcode;            /* -1: no answer was sent */
	enum reason reason;   /* or REASON_none */
	const char *text;     /* more about that, or NULL */
};

void witness_note(struct witness *w, const struct timebase *now, const struct testimony *t);

/* The key of TOP_CLIENTS as text. */
const char *witness_client_text(const struct toprow *row, char buf[ADDR_TEXT]);

#endif
