/* Referrals from the cache for clients that do not ask for recursion (allow_snoop).
 * SPDX-License-Identifier: BSD-3-Clause */
#include "daemon/worker/snoop.h"

#include "services/cache/rrset.h"
#include "services/policy/policy.h"
#include "services/query/env.h"
#include "services/query/snapshot.h"
#include "util/base/arena.h"
#include "util/dns/rr.h"
#include "validator/validator.h"

#define SERVERS_MOST 13

static const struct rrset *closest_ns(struct rrsetcache *c, const uint8_t *name, uint32_t now_s)
{
	for (;; name = dname_parent(name)) {
		const struct rrset *ns = rrsetcache_find(c, name, TYPE_NS, CLASS_IN, 0, now_s);

		if (!ns)
			ns = rrsetcache_find(c, name, TYPE_NS, CLASS_IN, RRSET_PARENT_SIDE, now_s);
		if (ns || dname_is_root(name))
			return ns;
	}
}

bool snoop_referral(const struct env *env, const struct policy_client *who,
		    const struct answer_to *to, struct writer *out)
{
	static const uint16_t types[] = { TYPE_A, TYPE_AAAA };
	const struct question *q = &to->request->q;
	const struct rrset *sets[1 + COUNT(types) * SERVERS_MOST];
	struct message m = { .q = *q, .sets = sets, .count = { 0, 1, 0 } };
	struct rrsetcache *c = env->rrsets;
	struct arena arena;

	sets[0] = q->class_ == CLASS_IN ? closest_ns(c, q->name, to->now_s) : NULL;
	if (!sets[0])
		return false;
	arena_init(&arena);
	sets[0] = validator_confirm(env, sets[0], &arena);
	struct rrset_walk w = rrset_records(sets[0]);
	struct slice rd;
	for (unsigned i = 0; i < SERVERS_MOST && rrset_next(&w, &rd); i++) {
		for (size_t t = 0; t < COUNT(types); t++) {
			const struct rrset *a = rrsetcache_find(c, rr_rdata_name(TYPE_NS, rd.at, rd.len),
								types[t], CLASS_IN, 0, to->now_s);

			if (a && sets[0]->security == SECURITY_SECURE)
				a = validator_confirm(env, a, &arena);
			/* only secure addresses beside a secure NS RRset */
			if (a && (sets[0]->security != SECURITY_SECURE ||
				  a->security == SECURITY_SECURE))
				sets[1 + m.count[SECTION_ADDITIONAL]++] = a;
		}
	}
	m.security = sets[0]->security;
	answer_message(out, to, policy_strip(env->snapshot->policy, who, &m, to->now_s, &arena));
	arena_clear(&arena);
	return true;
}
