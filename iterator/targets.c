/* Looking up the addresses of name servers, within limits.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "iterator/targets.h"

#include "iterator/iter.h"
#include "iterator/route_zone.h"
#include "services/answer/nat64.h"
#include "services/mesh/mesh.h"
#include "services/query/snapshot.h"
#include "util/base/random.h"
#include "util/conf/options.h"
#include "util/dns/rr.h"

static bool may_ask(struct iter *it)
{
	if (it->q->depth >= TARGETS_DEPTH || it->q->budget->ns_without_addr <= 0) {
		it->q->lookup_refused = true;
		return false;
	}
	return it->ns_without_addr < TARGETS_WITHOUT_ADDR;
}

static void note_ns_without_addr(struct iter *it)
{
	it->ns_without_addr++;
	budget_take(&it->q->budget->ns_without_addr, 1);
}

/* Marks the name as failed if all its lookups have ended without an address. */
static void count_ns_without_addr(struct iter *it, struct ns *n)
{
	const struct conf_server *conf = it->conf;

	if ((n->v4 == LOOKUP_NONE || !nat64_reaches_ip4(conf)) &&
	    (n->v6 == LOOKUP_NONE || !conf->do_ip6)) {
		n->failed = true;
		note_ns_without_addr(it);
	}
}

static bool ask(struct iter *it, struct ns *n, uint16_t type)
{
	uint8_t *state = type == TYPE_A ? &n->v4 : &n->v6;

	if (mesh_child(it->q, n->name, type, CLASS_IN, QUERY_CD)) {
		*state = LOOKUP_ASKED;
		return true;
	}
	*state = LOOKUP_NONE; /* a loop, or the budget is spent */
	return false;
}

/* Looks up the addresses not yet known; returns the number of queries started. A query that itself
 * serves to find servers asks for one family at a time: otherwise each ns_without_addr step would double
 * the cost of all steps below it (CAMP). */
static unsigned ask_kinds(struct iter *it, struct ns *n)
{
	bool v4 = ns_wants(n, it->q, false), v6 = ns_wants(n, it->q, true);
	unsigned started = 0;

	if (it->q->depth && v4 && v6)
		*(it->conf->prefer_ip6 && !it->conf->prefer_ip4 ? &v4 : &v6) = false;
	if (v6)
		started += ask(it, n, TYPE_AAAA);
	if (v4)
		started += ask(it, n, TYPE_A);
	return started;
}

/* A name in the zone itself can only be resolved by the servers we are about to ask: if they fail,
 * so does its lookup, and every name would cost a query more (targets_ask_after). What the operator names (forward-host,
 * stub-host) is there for the case that they do. */
static bool is_wasted(const struct iter *it, const struct ns *n)
{
	return it->at->target_count && !it->at->config && !it->caps.on && !it->wants_others && dname_is_under(n->name, it->at->zone);
}

/* Or else one of them might be drawn in the place of a name that can be looked up. */
static void pass_over_wasted(struct iter *it)
{
	for (unsigned i = 0; i < it->at->name_count; i++) {
		struct ns *n = &it->at->names[i];
		if (ns_is_missing(n, it->q) && is_wasted(it, n))
			n->tried = true;
	}
}

unsigned targets_ask(struct iter *it, int most)
{
	struct delegation *d = it->at;

	pass_over_wasted(it);

	unsigned missing = delegation_missing(d, it->q);
	unsigned left = most < 0 || (unsigned)most > missing ? missing : (unsigned)most;
	unsigned started = 0;

	for (unsigned i = 0; i < d->name_count && left > 0 && may_ask(it); i++) {
		struct ns *n = &d->names[i];
		if (!ns_is_missing(n, it->q))
			continue;
		if (random_below(it->q->env->random, missing--) >= left)
			continue;
		if (it->lookups >= TARGETS_PER_DELEGATION)
			break;
		it->lookups++;
		left--;
		n->tried = true;
		started += ask_kinds(it, n);
		if (n->v4 != LOOKUP_ASKED && n->v6 != LOOKUP_ASKED)
			count_ns_without_addr(it, n);
	}
	return started;
}

/* Looks up the address family not asked for at first, for one name. */
static bool ask_other_kind(struct iter *it)
{
	const struct delegation *d = it->at;

	for (unsigned i = 0; i < d->name_count && may_ask(it); i++) {
		struct ns *n = &d->names[i];
		bool other = ns_wants(n, it->q, false) != ns_wants(n, it->q, true);

		if (!other || ns_is_missing(n, it->q) || is_wasted(it, n) ||
		    it->lookups >= 2 * TARGETS_PER_DELEGATION)
			continue;
		it->lookups++;
		if (ask_kinds(it, n))
			return true;
	}
	return false;
}

bool targets_ask_next(struct iter *it)
{
	unsigned before;

	do {
		before = it->lookups;
		if (targets_ask(it, 1))
			return true;
	} while (it->lookups > before);
	return ask_other_kind(it);
}

void targets_ask_ahead(struct iter *it)
{
	const struct snapshot *s = it->q->snapshot;
	int most;

	if (s->target_fetch_count == 0 || it->sent >= TARGETS_SENT || it->ns_without_addr ||
	    it->at->last_resort || mesh_children(it->q))
		return;
	/* the last number also applies to every greater depth */
	most = s->target_fetch[MIN(it->q->depth, s->target_fetch_count - 1)];
	if (most)
		targets_ask(it, most);
}

void targets_ask_after(struct iter *it)
{
	const struct snapshot *s = it->q->snapshot;
	const struct question *asked = &it->q->question;
	int left;

	if (s->target_fetch_count == 0 || it->q->depth || it->at->config || it->sent > 1 ||
	    it->ns_without_addr || it->at->last_resort)
		return;
	left = s->target_fetch[0] < 0 ? TARGETS_PER_DELEGATION : s->target_fetch[0];
	for (unsigned i = 0; i < it->at->name_count && left > 0; i++) {
		const struct ns *n = &it->at->names[i];
		bool v4 = ns_wants(n, it->q, false), v6 = ns_wants(n, it->q, true);

		if ((!v4 && !v6) || !dname_is_under(n->name, it->at->zone) ||
		    dname_equals(n->name, asked->name))
			continue;
		left--;
		if (v6)
			mesh_side(it->q, n->name, TYPE_AAAA, CLASS_IN, QUERY_CD);
		if (v4)
			mesh_side(it->q, n->name, TYPE_A, CLASS_IN, QUERY_CD);
	}
}

unsigned targets_ask_parent(struct iter *it)
{
	struct delegation *d = it->at;
	struct query *q = it->q;
	unsigned started = 0;

	if (!may_ask(it))
		return 0;
	for (unsigned i = 0; i < d->name_count && !started; i++) {
		struct ns *n = &d->names[i];
		if (!route_may_ask_parent(q, n->name) || it->lookups >= 2 * TARGETS_PER_DELEGATION)
			continue;
		it->lookups++;
		if (it->conf->do_ip6 && n->parent_v6 == LOOKUP_OPEN) {
			bool asked = mesh_child(q, n->name, TYPE_AAAA, CLASS_IN, QUERY_PARENT_SIDE);
			n->parent_v6 = asked ? LOOKUP_ASKED : LOOKUP_NONE;
			started += asked;
		}
		if (nat64_reaches_ip4(it->conf) && n->parent_v4 == LOOKUP_OPEN) {
			bool asked = mesh_child(q, n->name, TYPE_A, CLASS_IN, QUERY_PARENT_SIDE);
			n->parent_v4 = asked ? LOOKUP_ASKED : LOOKUP_NONE;
			started += asked;
		}
	}
	return started;
}

/* The address set in the answer, perhaps behind aliases (which server names should not have). */
static const struct rrset *find_addresses(const struct message *m, uint16_t type)
{
	unsigned count;
	const struct rrset **sets = message_section(m, SECTION_ANSWER, &count);

	for (unsigned i = 0; m->rcode == RCODE_NOERROR && i < count; i++) {
		if (sets[i]->type == type)
			return sets[i];
	}
	return NULL;
}

static unsigned add_places(struct iter *it, struct ns *n, const struct rrset *set, bool parent_side)
{
	struct rrset_walk w = rrset_records(set);
	unsigned added = 0;

	if (dname_equals(rrset_owner(set), n->name))
		return delegation_add_set(it->at, it->arena, set, parent_side);
	for (struct slice rd; rrset_next(&w, &rd);) {
		struct target p = {
			.addr = { .family = set->type == TYPE_A ? 4 : 6, .port = n->port },
			.tls_name = n->tls_name,
			.http_path = n->http_path,
			.parent_side = parent_side || n->parent_side,
		};
		memcpy(p.addr.ip, rd.at, MIN(rd.len, set->type == TYPE_A ? 4u : 16u));
		if (!addr_is_absurd(&p.addr))
			added += delegation_add_target(it->at, it->arena, &p);
	}
	return added;
}

/* The name does not exist: the other type need not be asked for (RFC 8020). */
static void end_lookups(struct ns *n)
{
	if (n->v4 == LOOKUP_OPEN)
		n->v4 = LOOKUP_NONE;
	if (n->v6 == LOOKUP_OPEN)
		n->v6 = LOOKUP_NONE;
}

void targets_arrived(struct iter *it, const struct query *child)
{
	bool parent_side = child->kind & QUERY_PARENT_SIDE;
	bool v4 = child->question.type == TYPE_A;
	struct ns *n = it->at ? delegation_find(it->at, child->question.name) : NULL;
	const struct rrset *set;
	uint8_t *state;

	if (n == NULL)
		return;
	state = parent_side ? (v4 ? &n->parent_v4 : &n->parent_v6) : (v4 ? &n->v4 : &n->v6);
	set = find_addresses(child->reply, child->question.type);
	if (set && add_places(it, n, set, parent_side)) {
		*state = LOOKUP_FOUND;
		return;
	}
	if (set) {
		/* nothing new, as when a wildcard leads all names to one address */
		*state = LOOKUP_FOUND;
		if (!parent_side && n->v4 != LOOKUP_ASKED && n->v6 != LOOKUP_ASKED)
			note_ns_without_addr(it);
		return;
	}
	*state = LOOKUP_NONE;
	if (parent_side)
		return;
	if (child->reply->rcode == RCODE_NXDOMAIN)
		end_lookups(n);
	else if (may_ask(it))
		ask_kinds(it, n);
	count_ns_without_addr(it, n);
}
