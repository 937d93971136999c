/* Clients of one question who are told apart by where they are (RFC 7871).
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * With the module "subnetcache" a client's question begins as everybody's: all join in one query, whose
 * answer is for all. Only where a server would be told where clients are, which the operator's lists say,
 * the iterator stops it (q->divided). Then it becomes a hall: its clients wait in it, and for each subnet
 * among them a guest is begun, the same question for clients there. At most HALL_GUESTS are out at a time,
 * and one as long as nobody has shown that it tells clients apart, so that nobody makes a birthday party
 * of many subnets. Whoever may have the answer of a guest (its scope says so, or it turns out to be
 * everybody's) gets it with the others; then the next guests are begun. When a guest fails, so do those
 * who wait: they would only fail later. */
#ifndef SERVICES_HALLS_H
#define SERVICES_HALLS_H

#include "services/module.h"

#define HALL_GUESTS 10

struct netblock;
struct place_kept;
struct query;

extern const struct module subnetcache_module;

/* Whether the finished query's reply is for some clients only, and for which. */
bool halls_place(const struct query *q, struct place_kept *at);

/* `q` makes its answer from that of `child`: it is for the same clients. True: a server would have been
 * told where they are, `q` is divided. */
bool halls_depend(struct query *q, const struct query *child);

#endif
