/* Cached answers with the servers that are known by now (minimal-responses: no).
 * SPDX-License-Identifier: BSD-3-Clause */
#include "daemon/worker/full_answer.h"

#include "daemon/worker/client_query.h"
#include "services/cache/msg.h"
#include "services/cache/rrset.h"
#include "services/policy/policy.h"
#include "services/query/snapshot.h"
#include "util/base/arena.h"
#include "util/base/timebase.h"
#include "util/conf/options.h"
#include "util/dns/rr.h"

/* Whether it is a positive answer for all with something beside what was asked for. */
static bool says_more(const struct stored *s)
{
	const uint8_t *wire = stored_wire(s);

	return s->rcode == RCODE_NOERROR && !(s->scope & STORED_PLACED) && get_u16(wire + 6) &&
	       (get_u16(wire + 8) || get_u16(wire + 10));
}

/* What the record set cache has in its place, as trustworthy and still good; or NULL. */
static const struct rrset *find_newer(const struct client_query *j, const struct rrset *set)
{
	uint32_t now_s = j->to.now_s;
	const struct rrset *now;

	if (set->type != TYPE_NS && set->type != TYPE_A && set->type != TYPE_AAAA)
		return NULL;
	now = rrsetcache_find(j->w->env.rrsets, rrset_owner(set), set->type, set->class_, 0, now_s);
	if (!now || now->security == SECURITY_BOGUS || now->flags & RRSET_UNVERIFIED_GLUE ||
	    (j->stored->security == SECURITY_SECURE && now->security != SECURITY_SECURE))
		return NULL;
	return time_left(now_s, now->expires_s) == set->ttl_s && rrset_same_records(now, set) ? NULL : now;
}

bool full_answer_add_servers(struct client_query *j, bool stale, enum disposition *v)
{
	struct message *m;
	struct arena a;
	bool any = false;

	if (j->w->env.snapshot->conf->server.minimal_responses || j->request.scope ||
	    !says_more(j->stored))
		return false;
	arena_init(&a);
	m = stale ? stored_revive(j->stored, &a, j->to.now_s, j->w->style.stale_ttl_s)
		  : stored_unpack(j->stored, &a, j->to.now_s);
	for (unsigned i = m ? m->count[SECTION_ANSWER] : 0; m && i < message_set_count(m); i++) {
		const struct rrset *newer = find_newer(j, m->sets[i]);

		if (newer) {
			m->sets[i] = newer;
			any = true;
		}
	}
	if (any) {
		const struct policy_client who = client_query_client(j);

		answer_message(&j->p->out, &j->to,
			       policy_strip(j->w->env.snapshot->policy, &who, m, j->to.now_s, &a));
		*v = client_query_send(j);
	}
	arena_clear(&a);
	return any;
}
