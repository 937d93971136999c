/* Messages: questions about a question or a message that was read.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "util/dns/msg.h"

#include "util/base/timebase.h"
#include "util/dns/rr.h"

bool question_equals(const struct question *a, const struct question *b)
{
	if (a->type != b->type || a->class_ != b->class_ || a->name_len != b->name_len)
		return false;
	return a->name_len == 0 || dname_equals_len(a->name, a->name_len, b->name, b->name_len);
}

const struct rrset **message_section(const struct message *m, enum section s, unsigned *count)
{
	unsigned before = 0;

	for (unsigned i = 0; i < (unsigned)s; i++)
		before += m->count[i];
	*count = m->count[s];
	return m->sets ? m->sets + before : NULL;
}

const struct rrset *message_find(const struct message *m, enum section s, const uint8_t *owner,
				 uint16_t type, uint16_t class_)
{
	unsigned count;
	const struct rrset **sets = message_section(m, s, &count);

	for (unsigned i = 0; sets && i < count; i++) {
		if (rrset_is(sets[i], owner, type, class_))
			return sets[i];
	}
	return NULL;
}

const struct rrset *message_soa(const struct message *m)
{
	unsigned count;
	const struct rrset **sets = message_section(m, SECTION_AUTHORITY, &count);

	for (unsigned i = 0; sets && i < count; i++) {
		if (sets[i]->type == TYPE_SOA && sets[i]->count)
			return sets[i];
	}
	return NULL;
}

bool message_makes_too_long(const struct message *m, const uint8_t *name)
{
	uint8_t longer[DNAME_MAX];
	unsigned count;
	const struct rrset **sets = message_section(m, SECTION_ANSWER, &count);
	const struct rrset *last = count ? sets[count - 1] : NULL;

	return last && last->type == TYPE_DNAME && last->count == 1 &&
	       dname_is_strictly_under(name, rrset_owner(last)) &&
	       !dname_transplant(longer, name, rrset_owner(last), rrset_target(last, 0));
}

bool message_is_denial(const struct message *m)
{
	unsigned count;
	const struct rrset **sets = message_section(m, SECTION_ANSWER, &count);

	if (m->rcode != RCODE_NOERROR)
		return m->rcode == RCODE_NXDOMAIN;
	for (unsigned i = 0; sets && i < count; i++) {
		/* a DNAME with anything behind it is what made an alias, not what was asked for */
		bool leads_on = sets[i]->type == TYPE_DNAME && i + 1 < count;

		if ((sets[i]->type == m->q.type && !leads_on) || m->q.type == TYPE_ANY)
			return false;
	}
	sets = message_section(m, SECTION_AUTHORITY, &count);
	for (unsigned i = 0; sets && i < count; i++) {
		if (sets[i]->type == TYPE_NS)
			return message_soa(m) != NULL;
	}
	return true;
}

uint32_t message_ttl(const struct message *m, uint32_t now_s, uint32_t none)
{
	unsigned count = message_set_count(m);
	uint32_t least = count ? UINT32_MAX : none;

	for (unsigned i = 0; i < count; i++)
		least = MIN(least, time_left(now_s, m->sets[i]->expires_s));
	return least;
}
