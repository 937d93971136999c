/* The last resort when all servers of a zone have failed: what else the parent knows.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "iterator/parent_fallback.h"

#include "iterator/hints.h"
#include "iterator/route_zone.h"
#include "iterator/targets.h"
#include "services/cache/infra.h"
#include "services/cache/rrset.h"
#include "services/forward/forward.h"
#include "services/mesh/mesh.h"
#include "util/base/timebase.h"
#include "util/dns/rr.h"

static enum iter_step go_on(struct iter *it, enum iter_state state)
{
	it->state = state;
	return ITER_ON;
}

static enum iter_step give_up(struct iter *it)
{
	if (it->reason == REASON_none)
		iter_blame(it, REASON_no_reachable, "no server of the zone is reachable");
	return go_on(it, ITER_fail);
}

/* The configured servers have failed; with forward-first and stub-first it goes on as if they were not
 * configured: with those of a zone above, or by normal resolution. */
static enum iter_step leave_config(struct iter *it)
{
	bool is_last = it->config_failed && dname_is_root(it->config_failed->name);

	if (!it->at->config->first || is_last || it->q->kind & QUERY_PRIME)
		return give_up(it);
	it->config_failed = it->at->config;
	return go_on(it, iter_restart(it) ? ITER_find_zone : ITER_fail);
}

/* Adds the parent's NS set from the cache: may be enough if addresses are known. */
static void from_cache_parent(struct iter *it)
{
	struct delegation *d = it->at;
	const struct rrset *ns =
		rrsetcache_find(it->q->cache.rrsets, d->zone, TYPE_NS, it->want.class_,
				RRSET_PARENT_SIDE, it->q->env->time->now_s);

	if (ns)
		delegation_add_names(d, it->arena, ns, true);
}

/* Of many queries that fail at the same zone, only a few may ask the parent again (RFC 9520). */
static bool may_go_round(struct iter *it)
{
	struct query *q = it->q;

	if (!it->asks_parent || !dname_equals(it->asks_parent, it->at->zone)) {
		if (!infra_may_refetch(q->env->infra, it->at->zone, q->env->time))
			return false;
		it->asks_parent = it->at->zone;
	}
	return true;
}

enum iter_step parent_fallback(struct iter *it)
{
	struct delegation *d = it->at;
	unsigned before = d->target_count;

	if (d->config && !(d->config->is_stub && dname_is_root(d->zone)))
		return leave_config(it);
	if (!route_may_ask_parent(it->q, d->zone) || it->q->kind & QUERY_PRIME)
		return give_up(it);

	d->last_resort = true;
	if (dname_is_root(d->zone)) {
		if (!d->knows_parent)
			hints_add(d, it->q);
		d->knows_parent = true;
	} else if (!d->knows_parent) {
		from_cache_parent(it);
	}
	(void)delegation_fill(d, it->q, true);
	(void)delegation_fill_parent_glue(d, it->q);
	if (d->target_count > before)
		return go_on(it, ITER_choose);
	if (!may_go_round(it))
		return give_up(it);
	if (!d->knows_parent) {
		it->refetch = d->zone;
		it->failed = d;
		return go_on(it, iter_restart(it) ? ITER_find_zone : ITER_fail);
	}
	if (targets_ask_next(it) || targets_ask_parent(it)) {
		it->state = ITER_await;
		return ITER_WAIT;
	}
	return give_up(it);
}
