/* The aliases followed on the way to an answer, and the answer assembled from them.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "iterator/aliases.h"

#include "util/base/arena.h"
#include "util/dns/msg.h"
#include "util/dns/rr.h"

static void append(const struct rrset ***sets, unsigned *count, unsigned *room, struct arena *a,
		   const struct rrset *set)
{
	if (*count == *room) {
		*room = *room ? *room * 2 : 8;
		const struct rrset **grown = arena_array(a, const struct rrset *, *room);
		if (*count)
			memcpy(grown, *sets, *count * sizeof(*grown));
		*sets = grown;
	}
	(*sets)[(*count)++] = set;
}

static bool has(const struct rrset *const *sets, unsigned count, const struct rrset *set)
{
	for (unsigned i = 0; i < count; i++) {
		if (sets[i] == set || rrset_is(sets[i], rrset_owner(set), set->type, set->class_))
			return true;
	}
	return false;
}

/* Of denials only an equal one is the same: several zones, and both sides of a zone cut, may each have one
 * at the same name, and each counts for what its own zone says. */
static bool has_denial(const struct rrset *const *sets, unsigned count, const struct rrset *set)
{
	for (unsigned i = 0; i < count; i++) {
		if (sets[i] == set || (rrset_is(sets[i], rrset_owner(set), set->type, set->class_) &&
				       rrset_same_records(sets[i], set) &&
				       rrset_same_signatures(sets[i], set)))
			return true;
	}
	return false;
}

const uint8_t *aliases_take(struct aliases *c, struct arena *a, const struct message *m,
			  const uint8_t *name, bool one)
{
	unsigned count, before = c->links;
	const struct rrset **sets = message_section(m, SECTION_ANSWER, &count);

	for (unsigned i = 0; i < count && !(one && c->links > before); i++) {
		const struct rrset *set = sets[i];
		if (set->type == TYPE_DNAME && dname_is_strictly_under(name, rrset_owner(set))) {
			if (!has(c->answer, c->answers, set))
				append(&c->answer, &c->answers, &c->answer_room, a, set);
		} else if (set->type == TYPE_CNAME && dname_equals(name, rrset_owner(set))) {
			if (has(c->answer, c->answers, set))
				return NULL;
			append(&c->answer, &c->answers, &c->answer_room, a, set);
			c->links++;
			name = rrset_target(set, 0);
		}
	}

	sets = message_section(m, SECTION_AUTHORITY, &count);
	for (unsigned i = 0; i < count && c->authorities < aliases_denials_most(c->links); i++) {
		if (sets[i]->type != TYPE_NSEC && sets[i]->type != TYPE_NSEC3)
			continue;
		if (!has_denial(c->authority, c->authorities, sets[i]))
			append(&c->authority, &c->authorities, &c->authority_room, a, sets[i]);
	}
	return name;
}

/* Concatenates two sections, skipping what the first already has. Returns the number of sets. */
static unsigned gather(const struct rrset **to, const struct rrset **first, unsigned firsts,
		       const struct rrset **then, unsigned thens)
{
	unsigned count = 0;

	for (unsigned i = 0; i < firsts; i++)
		to[count++] = first[i];
	for (unsigned i = 0; i < thens; i++) {
		if (then[i]->type == TYPE_NSEC || then[i]->type == TYPE_NSEC3
			    ? !has_denial(to, firsts, then[i])
			    : !has(to, firsts, then[i]))
			to[count++] = then[i];
	}
	return count;
}

/* What answers a question for a CNAME: the sets of the chain up to the first one. */
static unsigned first_alias(const struct aliases *c)
{
	unsigned count = 0;

	while (count < c->answers && c->answer[count]->type != TYPE_CNAME)
		count++;
	return MIN(count + 1, c->answers);
}

struct message *aliases_finish(const struct aliases *c, struct arena *a, const struct message *end,
			     const struct question *q)
{
	struct message *m = arena_new(a, struct message);
	unsigned total = message_set_count(end) + c->answers + c->authorities, count;
	const struct rrset **sets;

	*m = *end;
	m->q = *q;
	if (c->answers == 0)
		return m;
	m->sets = arena_array(a, const struct rrset *, total + 1);
	if ((q->type == TYPE_CNAME || q->type == TYPE_ANY) && (end->count[SECTION_ANSWER] || c->answers > first_alias(c))) {
		m->rcode = RCODE_NOERROR;
		m->count[SECTION_ANSWER] = (uint16_t)gather(m->sets, c->answer, first_alias(c), NULL, 0);
		m->count[SECTION_AUTHORITY] = (uint16_t)gather(m->sets + m->count[SECTION_ANSWER], c->authority,
							       c->authorities, NULL, 0);
		m->count[SECTION_ADDITIONAL] = 0;
		return m;
	}
	sets = message_section(end, SECTION_ANSWER, &count);
	m->count[SECTION_ANSWER] = (uint16_t)gather(m->sets, c->answer, c->answers, sets, count);
	sets = message_section(end, SECTION_AUTHORITY, &count);
	m->count[SECTION_AUTHORITY] = (uint16_t)gather(m->sets + m->count[SECTION_ANSWER],
						       c->authority, c->authorities, sets, count);
	sets = message_section(end, SECTION_ADDITIONAL, &count);
	for (unsigned i = 0; i < count; i++)
		m->sets[m->count[SECTION_ANSWER] + m->count[SECTION_AUTHORITY] + i] = sets[i];
	return m;
}
