/* Responses that need confirmation by another query before they are believed or rejected.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "iterator/confirm.h"

#include "iterator/from_cache.h"
#include "iterator/targets.h"
#include "services/mesh/cache_rules.h"
#include "services/mesh/mesh.h"
#include "services/query/snapshot.h"
#include "util/base/timebase.h"
#include "util/conf/options.h"
#include "util/dns/rr.h"

static enum iter_step go_on(struct iter *it, enum iter_state state)
{
	it->state = state;
	return ITER_ON;
}

/* Whether it may be proven, and what is proven holds for the name that is wanted. */
static bool may_be_proven(const struct iter *it)
{
	const struct query *q = it->q;
	const uint8_t *point;

	if (!q->want_signatures || !it->conf->harden_below_nxdomain || !q->env->trust_point)
		return false;
	point = q->env->trust_point(q, it->want.name, it->want.type);
	return point && dname_is_under(it->shown.name, point);
}

enum iter_step confirm_denial(struct iter *it, struct message *m)
{
	struct query *q = it->q;

	it->qmin.on = false;
	it->question_due = true;
	if (q->no_store || m->rcode != RCODE_NXDOMAIN || !may_be_proven(it))
		return go_on(it, ITER_choose);
	iter_let_go(it);
	if (!mesh_child(q, it->shown.name, TYPE_A, it->shown.class_, 0))
		return go_on(it, ITER_choose);
	it->state = ITER_confirm;
	return ITER_WAIT;
}

/* If it is a validated denial, it is in the cache. */
static void on_denial_validated(struct iter *it, const struct message *validated)
{
	struct cached_answer r;

	it->state = ITER_choose;
	if (validated->rcode != RCODE_NXDOMAIN || validated->security != SECURITY_SECURE)
		return;
	r = from_cache(it->q, &it->shown);
	if (!r.message || r.message->rcode != RCODE_NXDOMAIN)
		return;
	r.message->q = it->want;
	it->answer = r.message;
	it->state = ITER_finish;
}

/* ---- the wrong side of a zone cut ---- */

bool confirm_is_too_low(const struct message *m, const struct question *ds)
{
	unsigned count;
	const struct rrset **sets = message_section(m, SECTION_AUTHORITY, &count);

	if (ds->type != TYPE_DS || m->count[SECTION_ANSWER])
		return false;
	for (unsigned i = 0; i < count; i++) {
		if (sets[i]->type == TYPE_SOA)
			return dname_is_under(rrset_owner(sets[i]), ds->name);
	}
	return count == 0; /* nobody knows who says so */
}

/* Queries the NS set of the next name up, below the current zone. Once there is none, the answer
 * held back is final. */
static enum iter_step probe_cut(struct iter *it)
{
	it->cut_probe = dname_parent(it->cut_probe);
	if (!dname_is_strictly_under(it->cut_probe, it->at->zone) ||
	    !mesh_child(it->q, it->cut_probe, TYPE_NS, it->want.class_, QUERY_CD)) {
		it->answer = it->pending_denial;
		return go_on(it, ITER_finish);
	}
	it->state = ITER_confirm;
	return ITER_WAIT;
}

enum iter_step confirm_cut(struct iter *it, struct message *m)
{
	m->q = it->want;
	it->pending_denial = m;
	it->cut_probe = it->want.name;
	iter_let_go(it);
	return probe_cut(it);
}

static void cut_found(struct iter *it, const struct message *reply)
{
	struct delegation *d = NULL;

	if (reply->rcode == RCODE_NOERROR && reply->count[SECTION_ANSWER])
		d = delegation_from_message(it->q, reply);
	if (d == NULL || !dname_equals(d->zone, it->cut_probe)) {
		probe_cut(it);
		return;
	}
	delegation_limit(d, it->at);
	iter_go_to(it, d);
	it->state = ITER_choose;
}

void confirm_arrived(struct iter *it, const struct query *child)
{
	bool is_cut = it->cut_probe && child->question.type == TYPE_NS;

	if (!is_cut && (it->cut_probe || !question_equals(&child->question, &it->shown)))
		return;
	if (is_cut)
		cut_found(it, child->reply);
	else
		on_denial_validated(it, child->reply);
}
