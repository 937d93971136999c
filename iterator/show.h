/* Whether a server is told where clients are, and what its answer says of that (RFC 7871).
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef ITERATOR_SHOW_H
#define ITERATOR_SHOW_H

#include "iterator/iter.h"
#include "util/msg.h"

/* Before the shown question goes to the server that was drawn. */
enum show {
	SHOW_NOTHING,
	SHOW_SUBNET, /* the query's: it is for clients there */
	SHOW_DIVIDE, /* it would be told, but the query is everybody's (q->divided) */
};
enum show show_choose(struct iter *it, const struct selection *to);

/* The server was told it->shows, and this is its response. False: it is not to be used; the server
 * makes nothing of what it is told, or answers somebody else, and is asked again without. */
bool show_judge(struct iter *it, const struct upstream_reply *reply, enum response r);

#endif
