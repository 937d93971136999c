/* Reports the messages a worker receives and sends to dnstap.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * Transports have a pointer to their worker's tap: NULL while dnstap is off, which is all they then
 * test. A message is written to the worker's queue, or dropped when that is full: nothing waits. */
#ifndef SERVICES_DNSTAP_TAP_H
#define SERVICES_DNSTAP_TAP_H

#include "services/dnstap/message.h"

struct client;
struct conf;
struct random;
struct msgring;

struct tap {
	struct msgring *queue;
	struct random *random;
	unsigned kinds;  /* a bit for each enum tap_kind that is wanted; 0: off */
	uint32_t one_of; /* sampling: one in so many messages is sent */
	struct tap_face face;
};

/* Apply the configuration from now on; `queue` NULL: off. */
void tap_adopt(struct tap *t, const struct conf *conf, struct msgring *queue,
	       struct random *random);

/* A client's query has arrived; the time is stored in `c` for the response. */
void tap_client_query(struct tap *t, struct client *c, const struct slice *wire);
/* The response sent to this client. */
void tap_client_response(struct tap *t, const struct client *c, const uint8_t *wire, size_t len);

/* A query to another server, or its response. */
struct tap_asking {
	bool forwarder; /* the query had RD set */
	enum tap_protocol protocol;
	const struct addr *from, *server;
	const uint8_t *zone;
	uint64_t asked_ns; /* since 1970, as tap_now_ns gave it */
};
void tap_server_query(struct tap *t, const struct tap_asking *a, const struct slice *wire);
void tap_server_response(struct tap *t, const struct tap_asking *a, const struct slice *wire);

uint64_t tap_now_ns(void);

#endif
