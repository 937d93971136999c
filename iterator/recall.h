/* What the caches can answer before any server is asked.
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef ITERATOR_RECALL_H
#define ITERATOR_RECALL_H

#include "util/base.h"

struct message;
struct query;
struct question;

struct recalled {
	struct message *message; /* in the query's arena; NULL: nothing known */
	bool alias;              /* only an alias: continue at its target */
};

struct recalled recall(struct query *q, const struct question *wanted);

#endif
