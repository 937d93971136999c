/* Aliases made locally that precede an answer still to be resolved.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "services/answer/alias_prefix.h"

#include <stddef.h>
#include <string.h>

#include "services/answer/nat64.h"
#include "util/base/arena.h"
#include "util/base/mem.h"
#include "util/dns/rr.h"

bool alias_prefix_add(struct alias_prefix *l, struct arena *a, const struct rrset *cname)
{
	const struct rrset **sets;

	if (l->count == ALIAS_PREFIX_MOST)
		return false;
	sets = arena_array(a, const struct rrset *, l->count + 1);
	for (unsigned i = 0; i < l->count; i++)
		sets[i] = l->sets[i];
	sets[l->count++] = cname;
	l->sets = sets;
	l->target = rrset_target(cname, 0);
	return true;
}

static size_t aligned(size_t len)
{
	return (len + _Alignof(max_align_t) - 1) / _Alignof(max_align_t) * _Alignof(max_align_t);
}

struct alias_prefix *alias_prefix_keep(const struct alias_prefix *l, size_t *size)
{
	size_t at = aligned(sizeof(*l)) + aligned(l->count * sizeof(*l->sets));
	uint8_t *room;
	struct alias_prefix *new;
	const struct rrset **sets;

	*size = at;
	for (unsigned i = 0; i < l->count; i++)
		*size += aligned(l->sets[i]->size);
	room = mem_new(*size);
	new = (struct alias_prefix *)(void *)room;
	sets = (const struct rrset **)(void *)(room + aligned(sizeof(*l)));
	*new = *l;
	for (unsigned i = 0; i < l->count; i++) {
		memcpy(room + at, l->sets[i], l->sets[i]->size);
		sets[i] = (const struct rrset *)(const void *)(room + at);
		at += aligned(l->sets[i]->size);
	}
	new->sets = sets;
	new->target = rrset_target(sets[l->count - 1], 0);
	return new;
}

struct question alias_prefix_question(const struct alias_prefix *l, const struct question *asked)
{
	return (struct question){ .name = l->target,
				  .name_len = (uint16_t)dname_len(l->target),
				  .type = l->nat64.net.family ? TYPE_A : asked->type,
				  .class_ = asked->class_ };
}

static const struct rrset *as_asked(const struct alias_prefix *l, struct arena *a, const struct rrset *s)
{
	if (LIKELY(!l->nat64.net.family) || s->type != TYPE_A)
		return s;
	return nat64_embed_set(a, &l->nat64, s);
}

static bool is_failure(const struct message *m)
{
	return m->rcode != RCODE_NOERROR && m->rcode != RCODE_NXDOMAIN &&
	       m->rcode != RCODE_YXDOMAIN;
}

struct message *alias_prefix_join(const struct alias_prefix *l, struct arena *a, const struct question *asked,
			  const struct message *end, uint32_t now_s)
{
	struct message *m = arena_copy(a, end, sizeof(*end));
	unsigned count = message_set_count(end);

	m->q = *asked;
	m->flags &= (uint16_t)~FLAG_AA;
	m->security = SECURITY_INSECURE;
	if (is_failure(end)) {
		m->count[0] = m->count[1] = m->count[2] = 0;
		return m;
	}
	m->flags |= l->authoritative ? FLAG_AA : 0;
	m->sets = arena_array(a, const struct rrset *, l->count + count);
	for (unsigned i = 0; i < l->count; i++) {
		struct rrset *s = rrset_copy(a, l->sets[i]);

		s->expires_s += now_s;
		m->sets[i] = s;
	}
	for (unsigned i = 0; i < count; i++)
		m->sets[l->count + i] = i < end->count[SECTION_ANSWER] ? as_asked(l, a, end->sets[i])
								     : end->sets[i];
	m->count[SECTION_ANSWER] = (uint16_t)(end->count[SECTION_ANSWER] + l->count);
	return m;
}
