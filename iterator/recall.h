/* What the caches can say to a question before anybody is asked.
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef ITERATOR_RECALL_H
#define ITERATOR_RECALL_H

#include "util/base.h"

struct message;
struct query;
struct question;

struct recalled {
	struct message *message; /* in the query's arena; NULL: nothing is known */
	bool alias;              /* it only says at which other name to go on */
};

struct recalled recall(struct query *q, const struct question *wanted);

#endif
