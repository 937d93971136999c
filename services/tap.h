/* What goes by a worker, told to whoever watches (dnstap).
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * Transports have a pointer to their worker's tap: NULL while nobody watches, which is all that they
 * ask then. A message is written into the worker's queue, or dropped when that is full: nothing
 * here waits. */
#ifndef SERVICES_TAP_H
#define SERVICES_TAP_H

#include "services/tap_message.h"

struct client;
struct conf;
struct random;
struct tap_queue;

struct tap {
	struct tap_queue *queue;
	struct random *random;
	unsigned kinds;  /* a bit for each enum tap_kind that is wanted; 0: nobody watches */
	uint32_t one_of; /* of so many messages one is sent */
	struct tap_face face;
};

/* As the configuration says, from now on; `queue` NULL: nobody watches. */
void tap_adopt(struct tap *t, const struct conf *conf, struct tap_queue *queue,
	       struct random *random);

/* A question of a client came; its time is noted in `c` for the answer. */
void tap_client_query(struct tap *t, struct client *c, const struct slice *wire);
/* The bytes that this client is given. */
void tap_client_response(struct tap *t, const struct client *c, const uint8_t *wire, size_t len);

/* A question to another server, or its answer. */
struct tap_asking {
	bool forwarder; /* it was asked for recursion */
	enum tap_protocol protocol;
	const struct addr *from, *server;
	const uint8_t *zone;
	uint64_t asked_ns; /* since 1970, as tap_now_ns gave it */
};
void tap_server_query(struct tap *t, const struct tap_asking *a, const struct slice *wire);
void tap_server_response(struct tap *t, const struct tap_asking *a, const struct slice *wire);

uint64_t tap_now_ns(void);

#endif
