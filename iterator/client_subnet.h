/* Whether to send the client subnet to a server, and what its response says of it (RFC 7871).
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef ITERATOR_CLIENT_SUBNET_H
#define ITERATOR_CLIENT_SUBNET_H

#include "iterator/iter.h"
#include "util/dns/msg.h"

/* Decided before it->shown goes to the server that was drawn. */
enum subnet_choice {
	SUBNET_OMIT,
	SUBNET_SEND, /* q->subnet, whose clients the query is for */
	SUBNET_DIVIDE, /* one would be sent, but the query is for all clients (ECS_REQUIRED) */
};
enum subnet_choice client_subnet_choose(struct iter *it, const struct selection *to);

/* Validate the response of a server that was sent it->sent_subnet. False: do not use it; the server makes
 * nothing of the subnet, or answered for another one, and is asked again without it. */
bool client_subnet_check(struct iter *it, const struct upstream_reply *reply, enum response r);

#endif
