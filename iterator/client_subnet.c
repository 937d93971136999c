/* Whether to send a server the client's subnet (RFC 7871): by configuration and past behaviour.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "iterator/client_subnet.h"

#include "services/cache/infra.h"
#include "services/forward/subnets.h"
#include "services/query/snapshot.h"
#include "services/query/trace.h"

/* Only the full question carries the subnet; not a minimised name. Where nothing but the type is hidden it is
 * hidden no longer: what the server says of another type would be said without the subnet, and an alias or
 * NXDOMAIN among it would be believed. */
static bool is_at_the_end(struct iter *it)
{
	if (!it->caps.on && dname_equals(it->shown.name, it->want.name)) {
		it->qmin.on = false;
		it->shown = it->want;
	}
	return question_equals(&it->shown, &it->want);
}

/* The server ignores the option. A refresh, for which no client waits, tries it again. */
static bool is_no_use(const struct iter *it, const struct selection *to)
{
	return to->target->no_subnet ||
	       (to->known.subnet == SUBNET_FAILS && !it->q->is_refresh);
}

enum subnet_choice client_subnet_choose(struct iter *it, const struct selection *to)
{
	struct query *q = it->q;
	const struct subnets *rules = q->snapshot->subnets;
	const struct subnets_server server = { .at = &to->target->addr,
					       .zone = it->at->zone,
					       .forwards = it->at->forward };

	it->sent_subnet = NULL;
	it->on_the_way = false;
	if (LIKELY(!rules || !q->env->subnet_index) || q->kind & (QUERY_PRIME | QUERY_PARENT_SIDE) ||
	    (!(q->kind & QUERY_FORWARDED) && !subnets_may_send(rules, &server, it->want.name)) ||
	    is_no_use(it, to))
		return SUBNET_OMIT;
	it->on_the_way = !is_at_the_end(it);
	if (it->on_the_way)
		return SUBNET_OMIT;
	if (!(q->kind & QUERY_ROUTED)) {
		/* what it tells us it might not tell a client */
		q->ecs.need = ECS_OMITTED;
		q->no_message = true;
		return SUBNET_OMIT;
	}
	if (!q->subnet) {
		q->ecs.echoed_before = to->known.subnet == SUBNET_WORKS;
		return SUBNET_DIVIDE;
	}
	if (q->subnet->bits == 0) {
		q->ecs.sent = ECS_OPTED_OUT;
		return SUBNET_OMIT;
	}
	it->sent_subnet = q->subnet;
	return SUBNET_SEND;
}

/* Records whether the server uses the option. One that never echoed it for this zone is not sent it
 * for a while. Others, and forwarders, may ignore it for one name and use it for the next. */
static void note(struct iter *it, enum subnet_known known)
{
	const struct env *e = it->q->env;
	struct infra_view view;

	it->target->no_subnet = known == SUBNET_FAILS;
	infra_look(e->infra, &it->target->addr, it->at->zone, e->time, &view);
	if (known == SUBNET_FAILS && (it->at->forward || view.subnet == SUBNET_WORKS))
		return;
	infra_set_subnet(e->infra, &it->target->addr, it->at->zone, known, e->time);
}

static bool is_final(enum response r, const struct message *m)
{
	return r < RESPONSE_referral || r == RESPONSE_empty || m->rcode == RCODE_FORMERR ||
	       m->rcode == RCODE_REFUSED;
}

bool client_subnet_check(struct iter *it, const struct upstream_reply *reply, enum response r)
{
	struct query *q = it->q;
	const struct message *m = reply->message;
	enum subnet_known known = SUBNET_FAILS;
	struct subnet_option o = { .family = 0 };
	struct slice data;

	if (!is_final(r, m))
		return true; /* RFC 7871 7.2.1: the option means nothing here */
	if (reply->had_edns && edns_find_option(&m->edns, EDNS_CLIENT_SUBNET, &data) &&
	    subnet_read(&o, &data) && subnet_echoes(&o, it->sent_subnet))
		known = SUBNET_WORKS;
	note(it, known);
	if (known == SUBNET_WORKS) {
		it->echoed = r != RESPONSE_useless;
		if (it->echoed)
			q->ecs.sent = ECS_SENT;
		q->ecs.scope = MAX(q->ecs.scope, o.scope);
		return m->rcode != RCODE_FORMERR;
	}
	tell(q, "it ignores the client subnet (ECS)");
	/* without EDNS it did not get the subnet after all */
	return !reply->had_edns;
}
