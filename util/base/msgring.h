/* A ring of bytes for messages from one thread to another.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * One producer, one consumer, neither ever waits for the other. What does not fit is dropped and
 * counted. */
#ifndef UTIL_BASE_MSGRING_H
#define UTIL_BASE_MSGRING_H

#include <stdatomic.h>

#include "util/base/bytes.h"

struct msgring;

/* Wakes the consumer. Shared by all queues it reads. */
struct msgring_bell {
	atomic_bool asleep;
	int fd; /* a byte is written to it, without blocking */
};

struct msgring_counts {
	uint64_t sent;    /* handed on */
	uint64_t dropped; /* there was no room */
	uint64_t lost;    /* taken, but lost there */
};

/* Its memory is only committed when first written. `bell` must outlive the queue. */
struct msgring *msgring_new(struct msgring_bell *bell) MUST_USE;
void msgring_free(struct msgring *q); /* NULL is fine */
void msgring_count(const struct msgring *q, struct msgring_counts *add_to); /* any thread */

/* ---- the producer ---- */

/* Room for a message of up to `most` bytes; NULL, which is counted, when there is none. */
uint8_t *msgring_room(struct msgring *q, size_t most);
/* `len` bytes of that room are a message. */
void msgring_put(struct msgring *q, size_t len);

/* ---- the consumer ---- */

/* Up to `most` messages, oldest first; returns how many. They stay until msgring_done. */
unsigned msgring_look(struct msgring *q, struct slice *to, unsigned most);
/* Remove the messages of the last look: sent, or lost. */
void msgring_done(struct msgring *q, unsigned count, bool sent);
bool msgring_is_empty(const struct msgring *q);

#endif
