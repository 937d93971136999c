/* Aliases synthesised here that precede an answer still to be resolved.
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef SERVICES_ANSWER_ALIAS_PREFIX_H
#define SERVICES_ANSWER_ALIAS_PREFIX_H

#include "util/dns/msg.h"
#include "util/net/addr.h"

struct arena;

#define ALIAS_PREFIX_MOST 11 /* aliases; who follows more is going in circles */

struct alias_prefix {
	const struct rrset **sets; /* expires_s counts from 0 */
	unsigned count;
	const uint8_t *target; /* where they lead */
	bool authoritative;    /* the answer has AA: local data began it */
	bool rpz_passed;        /* policy zones let the client through */
	/* dns64-prefix, where a rule for an IPv4 address in it began them: the answer ends with the AAAA
	 * records made of the target's A records. Family 0: with the records asked for. */
	struct netblock nat64;
};

/* What is to be resolved for the rest of the answer to `asked`. */
struct question alias_prefix_question(const struct alias_prefix *l, const struct question *asked);

/* Append an alias. False when there are too many. */
bool alias_prefix_add(struct alias_prefix *l, struct arena *a, const struct rrset *cname) MUST_USE;
/* A copy in one piece of the heap, for mem_free; `*size` is how many bytes it has. */
struct alias_prefix *alias_prefix_keep(const struct alias_prefix *l, size_t *size) MUST_USE;

/* The whole answer to `asked`: the aliases, then `end`, the answer for their target. When `end` is
 * a failure, only its rcode. Never secure. */
struct message *alias_prefix_join(const struct alias_prefix *l, struct arena *a, const struct question *asked,
			  const struct message *end, uint32_t now_s) MUST_USE;

#endif
