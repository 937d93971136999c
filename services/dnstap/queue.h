/* A ring of bytes for messages from one worker to the thread that sends them.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * One producer, one consumer, neither ever waits for the other. What does not fit is dropped and
 * counted. */
#ifndef SERVICES_DNSTAP_QUEUE_H
#define SERVICES_DNSTAP_QUEUE_H

#include <stdatomic.h>

#include "util/base/bytes.h"

struct tap_queue;

/* Wakes the consumer. Shared by all queues it reads. */
struct tap_bell {
	atomic_bool asleep;
	int fd; /* a byte is written to it, without blocking */
};

struct tap_counts {
	uint64_t sent;    /* handed to the collector's connection */
	uint64_t dropped; /* there was no room */
	uint64_t lost;    /* on a connection that broke */
};

/* Its memory is only committed when first written. `bell` must outlive the queue. */
struct tap_queue *tap_queue_new(struct tap_bell *bell) MUST_USE;
void tap_queue_free(struct tap_queue *q); /* NULL is fine */
void tap_queue_count(const struct tap_queue *q, struct tap_counts *add_to); /* any thread */

/* ---- the worker ---- */

/* Room for a message of up to `most` bytes; NULL, which is counted, when there is none. */
uint8_t *tap_queue_room(struct tap_queue *q, size_t most);
/* `len` bytes of that room are a message. */
void tap_queue_put(struct tap_queue *q, size_t len);

/* ---- the other thread ---- */

/* Up to `most` messages, oldest first; returns how many. They stay until tap_queue_done. */
unsigned tap_queue_look(struct tap_queue *q, struct slice *to, unsigned most);
/* Remove the messages of the last look: sent, or lost. */
void tap_queue_done(struct tap_queue *q, unsigned count, bool sent);
bool tap_queue_is_empty(const struct tap_queue *q);

#endif
