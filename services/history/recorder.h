/* Records client queries: the query ring, the lists of the most frequent names and clients, and what
 * goes to the named pipe.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * A worker has one if configured (query-ring, top-lists, query-pipe), and otherwise pays nothing.
 * client-privacy decides what is kept of clients' addresses. */
#ifndef SERVICES_HISTORY_RECORDER_H
#define SERVICES_HISTORY_RECORDER_H

#include "services/history/decision.h"
#include "services/history/ring.h"
#include "services/history/toplist.h"
#include "util/base/bytes.h"
#include "util/dns/msg.h"

struct client;
struct conf_server;
struct msgring;
struct timebase;

enum toplist_kind { TOP_NAMES, TOP_CLIENTS, TOP_BLOCKED, TOP_KINDS };

struct recorder {
	struct decision decision;              /* env->decision: of the current question */
	struct queryring *ring;              /* or NULL */
	struct msgring *reports;             /* to services/history/querypipe.h; or NULL */
	struct toplist *top[TOP_KINDS];      /* or NULL */
	unsigned char client_bits[2];        /* bits kept of an address: IPv4, IPv6 */
	size_t entries;                      /* of the ring, as configured */
	unsigned counters;                   /* of a list, as configured */
};

/* A recorder as `c` asks for, with `reports` (or NULL), continuing `old` (or NULL), which is taken over except
 * for its ring if that is replaced: the caller retires it once nobody can find it. NULL: none is wanted. */
struct recorder *recorder_renew(struct recorder *old, const struct conf_server *c,
				struct msgring *reports) MUST_USE;
void recorder_free(struct recorder *w); /* NULL is fine */

/* Note one query, answered or not. What decided it is in w->decision, which is cleared. */
struct record {
	const struct client *client;
	const struct question *q;
	const struct addr *server; /* whose answer it is, or NULL */
	uint64_t took_us;
	enum seen_how how;    /* where nothing decided it */
	int rcode;            /* -1: no answer was sent */
	enum reason reason;   /* or REASON_none */
	const char *text;     /* more about that, or NULL */
	uint8_t security;     /* enum security, of the answer */
	struct slice answer;  /* as sent; len 0: none was */
};

void recorder_note(struct recorder *w, const struct timebase *now, const struct record *t);

/* The key of TOP_CLIENTS as text. */
const char *recorder_client_text(const struct toprow *row, char buf[ADDR_TEXT]);

#endif
