/* The 0x20 fallback, when a server does not preserve the query name's case: comparing responses.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "iterator/caps.h"

#include "util/dns/msg.h"
#include "util/dns/rr.h"

#define ANSWERS_PER_ADDRESS 3

void caps_begin(struct caps *c)
{
	*c = (struct caps){ .on = true };
}

void caps_end(struct caps *c)
{
	*c = (struct caps){ .on = false };
}

static bool has_same_set(const struct message *m, enum section s, const struct rrset *wanted)
{
	const struct rrset *set =
		message_find(m, s, rrset_owner(wanted), wanted->type, wanted->class_);

	return set && rrset_same_records(set, wanted);
}

/* Equal except for order, letter case, TTLs, signatures and glue. AUTHORITY, which may differ from
 * server to server, is compared only if ANSWER is empty, and then without SOA records. */
static bool same_answer(const struct message *a, const struct message *b)
{
	bool referral = a->count[SECTION_ANSWER] == 0;

	if (a->rcode != b->rcode || a->count[SECTION_ANSWER] != b->count[SECTION_ANSWER])
		return false;
	for (unsigned i = 0; i < a->count[SECTION_ANSWER]; i++) {
		if (!has_same_set(b, SECTION_ANSWER, a->sets[i]))
			return false;
	}
	for (unsigned i = 0; referral && i < a->count[SECTION_AUTHORITY]; i++) {
		const struct rrset *set = a->sets[a->count[SECTION_ANSWER] + i];
		if (set->type != TYPE_SOA && !has_same_set(b, SECTION_AUTHORITY, set))
			return false;
	}
	return true;
}

static bool says_something(const struct message *m)
{
	return m->rcode == RCODE_NOERROR || m->rcode == RCODE_NXDOMAIN || m->rcode == RCODE_YXDOMAIN;
}

bool caps_agrees(struct caps *c, struct message *m)
{
	if (c->first && says_something(c->first) && says_something(m) && !same_answer(c->first, m))
		return false;
	if (c->first == NULL || (!says_something(c->first) && says_something(m)))
		c->first = m;
	c->agreed++;
	return true;
}

bool caps_suffices(const struct caps *c, unsigned targets, unsigned most_sends)
{
	return c->agreed >= targets * ANSWERS_PER_ADDRESS || c->agreed * 2 + 2 >= most_sends;
}
