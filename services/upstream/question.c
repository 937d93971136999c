/* Which questions to servers are equal.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "services/upstream/question.h"

#include "util/base/hash.h"

#include <string.h>

static unsigned flags_of(const struct upstream_question *q)
{
	return (unsigned)q->recurse | (unsigned)q->checking_disabled << 1 |
	       (unsigned)q->dnssec << 2 | (unsigned)q->caps << 3 | (unsigned)q->insists << 4 |
	       (unsigned)q->transport << 5;
}

uint64_t upstream_question_hash(const struct upstream_question *q)
{
	uint64_t h = hash_dname(q->q.name, q->q.name_len, (uint32_t)q->q.type << 16 | q->q.class_);

	if (UNLIKELY(q->subnet != NULL))
		h ^= addr_hash(&q->subnet->net) + q->subnet->bits;
	return h ^ addr_hash(&q->server) ^ flags_of(q);
}

static bool same_text(const char *a, const char *b)
{
	return a && b ? strcmp(a, b) == 0 : a == b;
}

static bool same_subnet(const struct netblock *a, const struct netblock *b)
{
	return a && b ? a->bits == b->bits && addr_equals_ip(&a->net, &b->net) : a == b;
}

bool upstream_question_equals(const struct upstream_question *a, const struct upstream_question *b)
{
	return flags_of(a) == flags_of(b) && addr_equals(&a->server, &b->server) &&
	       question_equals(&a->q, &b->q) && same_text(a->tls_name, b->tls_name) &&
	       same_text(a->http_path, b->http_path) && same_subnet(a->subnet, b->subnet);
}
