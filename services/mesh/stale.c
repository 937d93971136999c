/* Expired answers (RFC 8767): which there is for a client, and when it is given.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "services/cache/msg.h"
#include "services/forward/subnets.h"
#include "services/mesh/private.h"
#include "util/base/timebase.h"

/* Not what is from the cache file and not validated yet, as long as answers are; nor, for who validates
 * itself, what was synthesized. */
static bool is_for(const struct stored *s, const struct mesh *m, const struct request *r)
{
	return stored_is_good(s) &&
	       (s->security != SECURITY_UNCHECKED || !m->env->snapshot->trust) &&
	       !(r->flags & FLAG_CD && s->fits & STORED_MADE);
}

const struct stored *stale_find(struct mesh *m, const struct question *q, uint64_t hash,
				const struct request *r)
{
	const struct conf_server *conf = &mesh_conf(m)->server;
	uint32_t now_s = m->env->time->now_s;
	bool full = (r->edns.flags & EDNS_DO) != 0;
	const struct stored *s;

	if (!conf->serve_expired || !m->env->messages)
		return NULL;
	s = msgcache_find(m->env->messages, q, hash, r->scope, full);
	if (!s || !is_for(s, m, r))
		return NULL;
	if (stored_is_fresh(s, now_s) || !conf->serve_expired_ttl ||
	    now_s - s->expires_s <= conf->serve_expired_ttl)
		return s;
	return NULL;
}

const struct stored *stale_behind(struct mesh *m, const struct question *q, const struct request *r)
{
	const struct stored *s;

	if (r->where && r->where->has_option && r->where->forwarded)
		return NULL;
	s = stale_find(m, q, msgcache_hash(q), r);
	return s && !stored_is_fresh(s, m->env->time->now_s) ? s : NULL;
}

bool stale_is_all(const struct mesh *m, const struct stored *s)
{
	return !time_is_past(m->env->time->now_s, s->refresh_s);
}

bool stale_goes_first(const struct mesh *m, const struct stored *s)
{
	return stale_is_all(m, s) || (!mesh_conf(m)->server.serve_expired_client_timeout &&
				      !mesh_asks_store_first(mesh_conf(m)));
}

/* A client may send another query from within its callback. */
void stale_give(struct query *q)
{
	struct mesh_lookup *l = lookup_of(q);
	struct mesh *m = l->mesh;
	bool was_running = m->running;

	if (l->running)
		return; /* it is being done, or will be told the outcome */
	m->running = l->running = true;
	waiters_stale(q);
	m->running = was_running;
	l->running = false;
}

void stale_on_timer(struct timer *t)
{
	struct mesh_lookup *l = container_of(t, struct mesh_lookup, stale_timer);

	stale_give(&l->q);
	mesh_run(l->mesh);
}

void stale_start_timer(struct query *q)
{
	struct mesh_lookup *l = lookup_of(q);
	uint32_t timeout_ms = mesh_conf(l->mesh)->server.serve_expired_client_timeout;

	if (timeout_ms && !timer_is_set(&l->stale_timer))
		timer_set(q->env->loop, &l->stale_timer, timeout_ms * US_PER_MS);
}

void mesh_allow_stale(struct query *q, bool found)
{
	if (found)
		waiters_have_stale(q);
	if (found)
		stale_start_timer(q);
	if (mesh_conf(lookup_of(q)->mesh)->server.serve_expired_client_timeout)
		return;
	lookup_of(q)->stale_allowed = true;
	waiters_stale(q);
}
