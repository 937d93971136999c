/* Aliases synthesised here that precede an answer still to be resolved.
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef SERVICES_ANSWER_ALIAS_PREFIX_H
#define SERVICES_ANSWER_ALIAS_PREFIX_H

#include "util/dns/msg.h"
#include "util/net/addr.h"

struct arena;

#define LEAD_MOST 11 /* aliases; who follows more is going in circles */

struct lead {
	const struct rrset **sets; /* expires_s counts from 0 */
	unsigned count;
	const uint8_t *target; /* where they lead */
	bool authoritative;    /* the answer has AA: local data began it */
	bool unpoliced;        /* policy zones let the client through */
	/* dns64-prefix, where a rule for an IPv4 address in it began them: the answer ends with the AAAA
	 * records made of the target's A records. Family 0: with the records asked for. */
	struct netblock nat64;
};

/* What is to be resolved for the rest of the answer to `asked`. */
struct question lead_question(const struct lead *l, const struct question *asked);

/* Append an alias. False when there are too many. */
bool lead_add(struct lead *l, struct arena *a, const struct rrset *cname) MUST_USE;
/* A copy in one piece of the heap, for mem_free; `*size` is how many bytes it has. */
struct lead *lead_keep(const struct lead *l, size_t *size) MUST_USE;

/* The whole answer to `asked`: the aliases, then `end`, the answer for their target. When `end` is
 * a failure, only its rcode. Never secure. */
struct message *lead_join(const struct lead *l, struct arena *a, const struct question *asked,
			  const struct message *end, uint32_t now_s) MUST_USE;

#endif
