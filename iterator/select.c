/* The next server to try.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "iterator/select.h"

#include "services/answer/nat64.h"
#include "services/forward/forward.h"
#include "services/query/query.h"
#include "services/query/snapshot.h"
#include "util/base/random.h"
#include "util/base/timebase.h"
#include "util/conf/options.h"
#include "util/dns/rr.h"

/* What a server is wanted for. */
struct search {
	const struct delegation *d;
	const struct query *q;
	uint16_t type;
	struct infra_zone zone;
};

struct candidate {
	struct target *target;
	enum tier tier;
	uint32_t rtt_ms;
	bool shaky; /* has timed out lately */
	struct infra_view known;
};

enum {
	EXPLORE_PERMIL =
		30, /* how often forwarders that would be passed over get a try, per mille */
	SHAKY_SILENCES = 2,
};

static bool is_avoided(const struct query *q, const struct addr *addr)
{
	for (unsigned i = 0; i < q->avoid_count; i++) {
		if (addr_equals(&q->avoid[i], addr))
			return true;
	}
	return false;
}

/* Whether it must not be asked, by its own address: of one behind NAT64 the IPv4 address. Where that is not ours, and behind
 * 6to4, either may be meant: who names a server by such an address would lead us to one that is forbidden. */
static bool is_forbidden(const struct netset *set, const struct target *p)
{
	struct addr own = { .family = 4 };

	put_u32(own.ip, p->ip4);
	if (!set || netset_find(set, p->ip4 ? &own : &p->addr))
		return set;
	return !p->ip4 && !addr_is_loopback(&p->addr) && addr_stands_for(&p->addr, &own) && netset_find(set, &own);
}

static bool is_usable(const struct query *q, const struct target *p)
{
	const struct snapshot *s = q->snapshot;

	if (p->spent || !(p->addr.family == 6 ? s->conf->server.do_ip6 : s->conf->server.do_ip4))
		return false;
	return !is_forbidden(s->do_not_query, p);
}

/* From here on it is asked through NAT64, if that is configured. */
static void map_target(const struct conf_server *conf, struct target *p)
{
	struct addr own = p->addr;

	nat64_map(conf, &p->addr);
	if (own.family == 4 || nat64_reads(conf, &p->addr, &own))
		p->ip4 = get_u32(own.ip);
}

static bool is_lame_for(const struct infra_view *view, uint16_t type)
{
	return view->lame & (type == TYPE_A ? LAME_ADDRESSES : LAME_OTHER);
}

/* Fills in `out`. False: the server must not be asked now. */
static bool assess(const struct search *for_, struct target *p, struct candidate *out)
{
	const struct query *q = for_->q;
	const struct timebase *t = q->env->time;
	struct infra_view *view = &out->known;
	bool forward = for_->d->forward;

	if (!is_usable(q, p))
		return false;
	infra_look_in(q->env->infra, &for_->zone, &p->addr, t, view);
	if (is_lame_for(view, for_->type) && !forward)
		return false;
	if (view->down && view->probe_at_us > t->now_us)
		return false;

	out->target = p;
	out->rtt_ms =
		view->known ? view->rto_ms : q->snapshot->conf->server.unknown_server_time_limit;
	out->shaky =
		view->timeouts_a + view->timeouts_aaaa + view->timeouts_other >= SHAKY_SILENCES;
	if (is_avoided(q, &p->addr))
		out->tier = TIER_AVOIDED;
	else if (view->lame & LAME_RECURSIVE && !forward)
		out->tier = TIER_RECURSOR;
	else if (p->no_dnssec || view->lame & LAME_DNSSEC)
		out->tier = TIER_NO_DNSSEC;
	else if (p->parent_side)
		out->tier = TIER_PARENT;
	else
		out->tier = TIER_GOOD;
	return true;
}

/* Keeps the candidates for which `fits` is true, or all if there are none. Returns their number. */
static unsigned prefer(struct candidate *all, unsigned count,
		       bool (*fits)(const struct candidate *c, uint64_t than), uint64_t than)
{
	unsigned kept = 0;

	for (unsigned i = 0; i < count; i++) {
		if (fits(&all[i], than))
			all[kept++] = all[i];
	}
	return kept ? kept : count;
}

static bool has_tier(const struct candidate *c, uint64_t tier)
{
	return c->tier == tier;
}

static bool has_family(const struct candidate *c, uint64_t family)
{
	return c->target->addr.family == family;
}

static bool has_no_more_tries(const struct candidate *c, uint64_t tries)
{
	return c->target->tries <= tries;
}

static bool is_no_slower(const struct candidate *c, uint64_t rtt_ms)
{
	return c->rtt_ms <= rtt_ms;
}

static uint32_t least_rtt(const struct candidate *all, unsigned count)
{
	uint32_t least = UINT32_MAX;

	for (unsigned i = 0; i < count; i++)
		least = MIN(least, all[i].rtt_ms);
	return least;
}

static unsigned least_tries(const struct candidate *all, unsigned count)
{
	unsigned least = UINT8_MAX;

	for (unsigned i = 0; i < count; i++)
		least = MIN(least, (unsigned)all[i].target->tries);
	return least;
}

/* The RTT of the n-th fastest candidate (fast-server-num). */
static uint32_t nth_rtt(const struct candidate *all, unsigned count, unsigned n)
{
	uint32_t bound = 0;

	for (unsigned taken = 0; taken < n; taken++) {
		uint32_t next = UINT32_MAX;
		unsigned within = 0;
		for (unsigned i = 0; i < count; i++) {
			if (all[i].rtt_ms <= bound && taken)
				within++;
			else
				next = MIN(next, all[i].rtt_ms);
		}
		if (within >= n)
			break;
		bound = next;
	}
	return bound;
}

static bool is_as_shaky(const struct candidate *c, uint64_t shaky)
{
	return c->shaky == shaky;
}

/* Applies the operator's strategy for forwarders. False: none, the normal selection applies. */
static bool narrow_by_strategy(const struct delegation *d, const struct query *q,
			       struct candidate *all, unsigned *count)
{
	enum forward_strategy strategy = d->config ? d->config->strategy : STRATEGY_SPREAD;

	if (strategy == STRATEGY_SPREAD)
		return false;
	if (random_below(q->env->random, 1000) < EXPLORE_PERMIL && strategy != STRATEGY_ORDERED)
		return true;
	if (random_below(q->env->random, 1000) >= EXPLORE_PERMIL)
		*count = prefer(all, *count, is_as_shaky, false);
	if (strategy == STRATEGY_ORDERED)
		*count = 1;
	else
		*count = prefer(all, *count, is_no_slower, least_rtt(all, *count));
	return true;
}

/* Of the two families, one that is not silent everywhere; 0: both are well, or neither. */
static unsigned family_that_answers(const struct query *q)
{
	const struct env *e = q->env;

	if (UNLIKELY(infra_family_is_silent(e->infra, 6, e->time)))
		return 4;
	return UNLIKELY(infra_family_is_silent(e->infra, 4, e->time)) ? 6 : 0;
}

/* The family that was silent less often here. */
static unsigned less_silent_family(const struct delegation *d)
{
	unsigned v4 = 0, v6 = 0;

	for (unsigned i = 0; i < d->target_count; i++)
		if (UNLIKELY(d->targets[i].silent))
			*(d->targets[i].addr.family == 4 ? &v4 : &v6) += 1;
	return v4 == v6 ? 0 : v4 < v6 ? 4 : 6;
}

/* How much slower than the fastest a server may be to be drawn. */
static uint32_t band_ms(const struct delegation *d, const struct query *q)
{
	return !d->config && random_below(q->env->random, SELECT_WIDE_ONE_IN) ? SELECT_BAND_MS : SELECT_WIDE_BAND_MS;
}

static unsigned narrow(const struct delegation *d, const struct query *q, struct candidate *all,
		       unsigned count)
{
	const struct conf_server *conf = &q->snapshot->conf->server;
	uint64_t best = TIERS;

	for (unsigned i = 0; i < count; i++)
		best = MIN(best, (uint64_t)all[i].tier);
	count = prefer(all, count, has_tier, best);
	if (narrow_by_strategy(d, q, all, &count))
		return count;
	count = prefer(all, count, has_family, family_that_answers(q));
	if (conf->prefer_ip4 != conf->prefer_ip6) {
		/* who was silent lets the other family have its turn */
		count = prefer(all, count, has_no_more_tries, least_tries(all, count));
		count = prefer(all, count, has_family, conf->prefer_ip6 ? 6 : 4);
	}
	if (conf->fast_server_permil &&
	    random_below(q->env->random, 1000) < conf->fast_server_permil)
		count = prefer(all, count, is_no_slower, nth_rtt(all, count, conf->fast_server_num));
	else
		count = prefer(all, count, is_no_slower, (uint64_t)least_rtt(all, count) + band_ms(d, q));
	if (!d->config)
		count = prefer(all, count, has_no_more_tries, least_tries(all, count));
	return prefer(all, count, has_family, less_silent_family(d));
}

struct selection select_server(const struct delegation *d, const struct query *q, uint16_t type,
			       unsigned pending)
{
	struct search search = { .d = d, .q = q, .type = type, .zone = infra_zone(d->zone) };
	struct candidate all[DELEGATION_TARGETS];
	unsigned count = 0;

	for (unsigned i = 0; UNLIKELY(q->snapshot->conf->server.do_nat64) && i < d->target_count;
	     i++)
		map_target(&q->snapshot->conf->server, &d->targets[i]);
	for (unsigned i = 0; i < d->target_count; i++)
		count += assess(&search, &d->targets[i], &all[count]);
	if (count == 0)
		return (struct selection){ .target = NULL };
	count = narrow(d, q, all, count);
	if (pending && all[0].tier > TIER_PARENT)
		return (struct selection){ .target = NULL };

	struct candidate *c = &all[count == 1 ? 0 : random_below(q->env->random, count)];
	return (struct selection){ .target = c->target, .tier = c->tier, .known = c->known };
}

unsigned select_others(const struct delegation *d, const struct query *q, uint16_t type,
		       const struct selection *first, struct target *out[], unsigned most)
{
	struct search search = { .d = d, .q = q, .type = type, .zone = infra_zone(d->zone) };
	struct candidate all[DELEGATION_TARGETS];
	unsigned count = 0, taken = 0;

	for (unsigned i = 0; i < d->target_count; i++)
		if (&d->targets[i] != first->target && assess(&search, &d->targets[i], &all[count]))
			count += all[count].tier == first->tier;
	while (taken < most && count) {
		unsigned best = 0;

		for (unsigned i = 1; i < count; i++)
			if (all[i].rtt_ms < all[best].rtt_ms)
				best = i;
		out[taken++] = all[best].target;
		all[best] = all[--count];
	}
	return taken;
}

/* Another server that may be asked, was not tried more often, and has not just been silent time and again. */
static bool is_alternative(const struct search *for_, struct target *other, unsigned tries)
{
	struct candidate c;

	return other->tries <= tries && assess(for_, other, &c) && !c.shaky;
}

bool select_may_give_up_early(const struct delegation *d, const struct query *q, uint16_t type,
			      const struct selection *s)
{
	struct search search = { .d = d, .q = q, .type = type, .zone = infra_zone(d->zone) };
	unsigned family = s->target->addr.family;
	bool is_doubtful = !s->known.known && infra_family_is_doubtful(q->env->infra, family);

	for (unsigned i = 0; i < d->target_count; i++) {
		struct target *other = &d->targets[i];

		if (other == s->target)
			continue;
		if (d->config ? is_doubtful && !other->silent && other->addr.family != family && is_usable(q, other) :
				is_alternative(&search, other, s->target->tries))
			return true;
	}
	return false;
}

void select_count(struct target *p, unsigned most)
{
	if (++p->tries >= most)
		p->spent = true;
}
