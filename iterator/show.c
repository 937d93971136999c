/* Whether a server is told where clients are: the operator's lists, and what it made of it before.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "iterator/show.h"

#include "services/cache/infra.h"
#include "services/snapshot.h"
#include "services/subnets.h"
#include "services/trace.h"

/* Only the question itself shows clients; not a shortened name, and no errand of our own. */
static bool is_at_the_end(const struct iter *it)
{
	return question_equals(&it->shown, &it->want) &&
	       !(it->q->kind & (QUERY_PRIME | QUERY_PARENT_SIDE));
}

/* It makes nothing of it. A refresh, for which nobody waits, asks whether that is still so. */
static bool is_no_use(const struct iter *it, const struct selection *to)
{
	return to->place->no_subnet ||
	       (to->known.subnet == SUBNET_FAILS && !it->q->is_refresh);
}

enum show show_choose(struct iter *it, const struct selection *to)
{
	struct query *q = it->q;
	const struct subnets *rules = q->snapshot->subnets;
	const struct subnets_server server = { .at = &to->place->addr,
					       .zone = it->at->zone,
					       .forwards = it->at->forward };

	it->shows = NULL;
	if (LIKELY(!rules || !q->env->places) || !is_at_the_end(it) ||
	    (!(q->kind & QUERY_FORWARDED) && !subnets_show(rules, &server, it->want.name)) ||
	    is_no_use(it, to))
		return SHOW_NOTHING;
	if (!(q->kind & QUERY_ROUTED)) {
		/* what it says to us it might not say to a client */
		q->listed = q->no_message = true;
		return SHOW_NOTHING;
	}
	if (!q->subnet) {
		q->told_before = to->known.subnet == SUBNET_WORKS;
		return SHOW_DIVIDE;
	}
	if (q->subnet->bits == 0) {
		q->secret = true;
		return SHOW_NOTHING;
	}
	it->shows = q->subnet;
	return SHOW_SUBNET;
}

/* A server of one zone that never echoed anything is not told again for a while. Others, forwarders
 * above all, may make nothing of it for this name and something for the next. */
static void note(struct iter *it, enum subnet_known known)
{
	const struct env *e = it->q->env;
	struct infra_view view;

	it->place->no_subnet = known == SUBNET_FAILS;
	infra_look(e->infra, &it->place->addr, it->at->zone, e->time, &view);
	if (known == SUBNET_FAILS && (it->at->forward || view.subnet == SUBNET_WORKS))
		return;
	infra_set_subnet(e->infra, &it->place->addr, it->at->zone, known, e->time);
}

static bool is_final(enum response r, const struct message *m)
{
	return r < RESPONSE_referral || r == RESPONSE_empty || m->rcode == RCODE_FORMERR ||
	       m->rcode == RCODE_REFUSED;
}

bool show_judge(struct iter *it, const struct upstream_reply *reply, enum response r)
{
	struct query *q = it->q;
	const struct message *m = reply->message;
	enum subnet_known known = SUBNET_FAILS;
	struct subnet_option o = { .family = 0 };
	struct slice data;

	if (r == RESPONSE_referral || !is_final(r, m))
		return true; /* RFC 7871 7.2.1: what it says of that means nothing */
	if (reply->had_edns && edns_find_option(&m->edns, EDNS_CLIENT_SUBNET, &data) &&
	    subnet_read(&o, &data) && subnet_echoes(&o, it->shows))
		known = SUBNET_WORKS;
	note(it, known);
	if (known == SUBNET_WORKS) {
		it->placed = r != RESPONSE_useless;
		q->placed |= it->placed;
		q->subnet_scope = MAX(q->subnet_scope, o.scope);
		return r != RESPONSE_useless || m->rcode != RCODE_FORMERR;
	}
	tell(q, "it makes nothing of the client's subnet");
	/* asked without EDNS it was not told, after all */
	return !reply->had_edns;
}
