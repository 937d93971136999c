/* Whether to send the client subnet to a server, and what its response says of it (RFC 7871).
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef ITERATOR_SHOW_H
#define ITERATOR_SHOW_H

#include "iterator/iter.h"
#include "util/dns/msg.h"

/* Decided before it->shown goes to the server that was drawn. */
enum show {
	SHOW_NOTHING,
	SHOW_SUBNET, /* q->subnet, whose clients the query is for */
	SHOW_DIVIDE, /* one would be sent, but the query is for all clients (ECS_REQUIRED) */
};
enum show show_choose(struct iter *it, const struct selection *to);

/* Judge the response of a server that was sent it->shows. False: do not use it; the server makes
 * nothing of the subnet, or answered for another one, and is asked again without it. */
bool show_judge(struct iter *it, const struct upstream_reply *reply, enum response r);

#endif
