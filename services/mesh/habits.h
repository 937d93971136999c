/* Habits: what clients ask for again and again is fetched anew shortly before it expires, without waiting for a question.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * The cached answer itself remembers in which of its last lifetimes it was asked for (services/cache/msg.h): one bit
 * each, written by the first hit only. What was in this one and in an earlier one is noted here, with the time at which
 * to fetch it. A refresh that then is asked for in its lifetime has cost nothing: without it, that question would have.
 * The others are limited: so many lookups by clients allow one, and a refresh that turned out well allows
 * the next; at the start one is. So they can never be many more packets, whatever is asked, by however many clients.
 * What is due while the network is down is fetched when it no longer is. */
#ifndef SERVICES_MESH_HABITS_H
#define SERVICES_MESH_HABITS_H

#include "util/base/base.h"

struct env;
struct habits;
struct question;
struct stored;

enum {
	HABIT_TTL_LEAST_S = 10, /* what expires sooner is not fetched ahead */
	HABIT_LOOKUPS = 10,     /* by clients, for one refresh that nobody asks for */
	HABIT_SAVED_MOST = 50,  /* refreshes that may be saved up */
	HABIT_NOTED_MOST = 4096, /* answers that wait for their time; then a sooner one takes a later one's place */
};

/* `fetch` begins a refresh for `arg`, and returns false where it does not. */
typedef bool habits_fetch(void *arg, const struct question *q, unsigned kind);

struct habits *habits_new(const struct env *env, habits_fetch *fetch, void *arg) MUST_USE;
void habits_free(struct habits *h);
void habits_forget(struct habits *h); /* what is noted; not what is allowed */

/* A client's question begins a lookup. */
void habits_allow(struct habits *h);
/* A cached answer of that kind (QUERY_*) was given. Within a turn. */
void habits_note(struct habits *h, const struct stored *s, unsigned kind);

#endif
