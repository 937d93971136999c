/* Messages on their way from one worker to the thread that sends them: a ring of bytes.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * One thread puts, one thread takes, neither ever waits for the other. What does not fit is dropped
 * and counted. */
#ifndef SERVICES_TAP_QUEUE_H
#define SERVICES_TAP_QUEUE_H

#include <stdatomic.h>

#include "util/bytes.h"

struct tap_queue;

/* Where whoever takes is woken. Shared by all queues it takes from. */
struct tap_bell {
	atomic_bool asleep;
	int fd; /* a byte is written there, without waiting */
};

struct tap_counts {
	uint64_t sent;    /* handed to the collector's connection */
	uint64_t dropped; /* there was no room */
	uint64_t lost;    /* on a connection that broke */
};

/* Memory is the system's until it is first written. `bell` outlives the queue. */
struct tap_queue *tap_queue_new(struct tap_bell *bell) MUST_USE;
void tap_queue_free(struct tap_queue *q); /* NULL is fine */
void tap_queue_count(const struct tap_queue *q, struct tap_counts *add_to); /* any thread */

/* ---- the worker ---- */

/* Room for a message of at most so many bytes; NULL when there is none, which is counted. */
uint8_t *tap_queue_room(struct tap_queue *q, size_t most);
/* `len` bytes of that room are a message. */
void tap_queue_put(struct tap_queue *q, size_t len);

/* ---- the other thread ---- */

/* Up to `most` messages, the oldest first; how many. They stay where they are until told. */
unsigned tap_queue_look(struct tap_queue *q, struct slice *to, unsigned most);
/* All that the last look showed are done with: sent, or lost. */
void tap_queue_done(struct tap_queue *q, unsigned count, bool sent);
bool tap_queue_is_empty(const struct tap_queue *q);

#endif
