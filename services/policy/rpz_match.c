/* Matching policy zones: the first with a rule for a query, an answer, or its servers.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "services/policy/rpz_match.h"

#include <string.h>

#include "services/answer/nat64.h"
#include "services/authzone/data.h"
#include "services/cache/msg.h"
#include "services/history/decision.h"
#include "services/history/querylog.h"
#include "services/net/addresses.h"
#include "services/net/client.h"
#include "services/query/query.h"
#include "services/query/snapshot.h"
#include "services/stats/stats.h"
#include "util/conf/options.h"
#include "util/dns/rr.h"

_Static_assert(RPZ_ACTION_COUNT == STAT_RPZ, "each action has its counter");

/* ---- one zone's rule ---- */

static void override(struct rpz_hit *hit)
{
	const struct rpz_manner *m = hit->zone->manner;

	if (m->override < 0)
		return;
	hit->rule.action = (enum rpz_action)m->override;
	hit->rule.target = m->target;
}

static bool find_name(struct rpz_hit *hit, enum rpz_trigger t, const uint8_t *name)
{
	hit->trigger = t;
	hit->embedded = false;
	if (!rpz_find_name(hit->rules, t, name, &hit->rule))
		return false;
	override(hit);
	return true;
}

static bool find_addr(struct rpz_hit *hit, enum rpz_trigger t, const struct addr *a)
{
	hit->trigger = t;
	hit->embedded = false;
	if (!rpz_find_addr(hit->rules, t, a, &hit->rule))
		return false;
	override(hit);
	return true;
}

/* Where a rule leads, there it lets through: a rule for a whole domain, netblock or server may send
 * everything to one name therein, or to one that is an alias into it (`asked`, which led to `name`). */
static void spare_target(struct rpz_hit *hit, const uint8_t *name, const uint8_t *asked)
{
	uint8_t target[DNAME_MAX];

	if (rpz_hit_is_alias(hit) && rpz_target(&hit->rule, name, target) &&
	    (dname_equals(target, name) || dname_equals(target, asked)))
		hit->rule.action = RPZ_passthru;
}

static bool is_for(const struct authzone *z, const struct tagset *tags)
{
	return tagset_is_empty(&z->manner->tags) || tagset_common(&z->manner->tags, tags) >= 0;
}

/* The next zone to consult, starting at *at. */
static bool next_zone(const struct rpz_matches *by, size_t *at, struct rpz_hit *hit)
{
	while (*at < by->zones->count) {
		hit->zone = &by->zones->items[(*at)++];
		if (is_for(hit->zone, by->tags) && (hit->rules = authzone_policy(hit->zone)))
			return true;
	}
	return false;
}

/* ---- reporting ---- */

static enum decision_how decision_of(enum rpz_action action)
{
	switch (action) {
	case RPZ_nxdomain:
	case RPZ_nodata:
	case RPZ_drop:
		return DECIDED_BLOCKED;
	case RPZ_passthru:
	case RPZ_disabled:
		return DECIDED_NOT;
	default:
		return DECIDED_HERE;
	}
}

static void record_decision(const struct rpz_matches *by, const struct rpz_hit *hit)
{
	char zone[DNAME_TEXT], trigger[RPZ_TEXT];

	decision_note(by->decision, decision_of(hit->rule.action), "rpz %.200s %s by %.200s",
	       dname_print(hit->zone->name, zone), rpz_action_word(hit->rule.action),
	       rpz_trigger_text(hit->rules, hit->trigger, &hit->rule, trigger));
}

static void tell(const struct rpz_matches *by, const struct rpz_hit *hit)
{
	char trigger[RPZ_TEXT];

	/* an alias is reported as any other record is */
	enum rpz_action action = hit->rule.action == RPZ_cname ? RPZ_data : hit->rule.action;

	if (by->stats)
		stat_bump(&by->stats->rpz[action], 1);
	record_decision(by, hit);
	if (!hit->zone->manner->logs || by->quiet)
		return;
	querylog_policy(hit->zone->manner->log_name,
			rpz_trigger_text(hit->rules, hit->trigger, &hit->rule, trigger),
			rpz_action_word(hit->rule.action), by->client, by->q);
}

/* Whether the rule for `name` is carried out. False: it is only reported, or does not apply to
 * clients on TCP; other zones may still match. */
static bool is_applied(const struct rpz_matches *by, struct rpz_hit *hit, const uint8_t *name)
{
	spare_target(hit, name, by->q->name);
	if (hit->rule.action == RPZ_tcp_only && by->client->ops->stream)
		return false;
	tell(by, hit);
	return hit->rule.action != RPZ_disabled;
}

/* ---- queries and names ---- */

bool rpz_match_question(const struct rpz_matches *by, struct rpz_hit *out)
{
	for (size_t at = by->zones->first_policy; next_zone(by, &at, out);) {
		if (find_addr(out, RPZ_CLIENT_IP, &by->client->from) && is_applied(by, out, by->q->name))
			return true;
		if (find_name(out, RPZ_QNAME, by->q->name) && is_applied(by, out, by->q->name))
			return true;
	}
	return false;
}

bool rpz_match_spares(const struct rpz_matches *by)
{
	struct rpz_hit hit;

	for (size_t at = by->zones->first_policy; next_zone(by, &at, &hit);) {
		if ((!find_addr(&hit, RPZ_CLIENT_IP, &by->client->from) &&
		     !find_name(&hit, RPZ_QNAME, by->q->name)) ||
		    hit.rule.action == RPZ_disabled)
			continue;
		if (hit.rule.action == RPZ_passthru)
			tell(by, &hit);
		return hit.rule.action == RPZ_passthru;
	}
	return false;
}

bool rpz_match_name(const struct rpz_matches *by, const uint8_t *name, struct rpz_hit *out)
{
	for (size_t at = by->zones->first_policy; next_zone(by, &at, out);)
		if (find_name(out, RPZ_QNAME, name) && is_applied(by, out, name))
			return true;
	return false;
}

/* ---- answers ---- */

/* Which of two rules of one zone decides where both match (draft-ietf-dnsop-dns-rpz 5): by the
 * kind of trigger; then the name that comes first, or the longest netblock. */
static bool goes_before(const struct rpz_hit *a, const struct rpz_hit *b)
{
	if (a->trigger != b->trigger)
		return a->trigger < b->trigger;
	if (a->trigger == RPZ_NSDNAME)
		return dname_compare(a->rule.node->name, b->rule.node->name) < 0;
	return a->rule.bits > b->rule.bits;
}

/* `found`: `hit` already has a rule; only one that goes before it is taken. */
static bool find_better(struct rpz_hit *hit, const struct addr *a, bool embedded, bool found)
{
	struct rpz_hit one = *hit;

	if (!find_addr(&one, RPZ_IP, a) || (found && !goes_before(&one, hit)))
		return false;
	*hit = one;
	hit->embedded = embedded;
	return true;
}

static bool find_in_set(const struct rpz_matches *by, struct rpz_hit *hit, const struct rrset *s,
			bool found)
{
	struct addresses w = addresses_of(s);
	struct addr a, ip4;
	bool better = false;

	while (addresses_next(&w, &a)) {
		better |= find_better(hit, &a, by->embeds, found || better);
		if (nat64_extract(by->nat64, &a, &ip4))
			better |= find_better(hit, &ip4, true, found || better);
		else if (addr_stands_for(&a, &ip4))
			better |= find_better(hit, &ip4, by->embeds, found || better);
	}
	return better;
}

static bool find_in_answer(const struct rpz_matches *by, struct rpz_hit *hit,
			   const struct message *m, unsigned *set)
{
	bool found = false;

	if (!rpz_has(hit->rules, RPZ_IP))
		return false;
	for (unsigned i = 0; i < m->count[SECTION_ANSWER]; i++) {
		const struct rrset *s = m->sets[i];

		if (!addresses_in(s) || !find_in_set(by, hit, s, found))
			continue;
		*set = i;
		found = true;
	}
	return found;
}

/* Those met first come last; servers of the name at the start of a chain of aliases decide.
 * `wanted`: only those of this name; NULL: of all. */
static const struct met *find_in_met(struct rpz_hit *hit, const struct met *met,
				     const uint8_t *wanted)
{
	const struct met *best = NULL;
	struct rpz_hit one = *hit;

	for (const struct met *m = met; m; m = m->next) {
		if ((wanted && !dname_equals(m->wanted, wanted)) ||
		    !(m->name ? find_name(&one, RPZ_NSDNAME, m->name)
			      : find_addr(&one, RPZ_NSIP, &m->addr)) ||
		    (best && dname_equals(best->wanted, m->wanted) && !goes_before(&one, hit)))
			continue;
		*hit = one;
		best = m;
	}
	return best;
}

bool rpz_match_answer(const struct rpz_matches *by, const struct message *m, const struct met *met,
		    struct rpz_hit *out, unsigned *set, const struct met **server)
{
	for (size_t at = by->zones->first_policy; next_zone(by, &at, out);) {
		*server = NULL;
		if (find_in_answer(by, out, m, set) && is_applied(by, out, rrset_owner(m->sets[*set])))
			return true;
		*server = find_in_met(out, met, NULL);
		if (*server && is_applied(by, out, (*server)->wanted))
			return true;
	}
	return false;
}

bool rpz_match_servers(const struct rpz_matches *by, const struct met *met, const uint8_t *wanted,
		     struct rpz_hit *out)
{
	for (size_t at = by->zones->first_policy; met && next_zone(by, &at, out);)
		if (find_in_met(out, met, wanted) && is_applied(by, out, wanted))
			return true;
	return false;
}

static bool has_alias(const struct stored *s)
{
	const uint8_t *wire = stored_wire(s), *at = wire + MSG_HEAD_LEN + s->qname_len + 4;
	uint16_t type;

	if (get_u16(wire + 6) == 0)
		return false;
	if ((*at & 0xc0) != 0xc0)
		return true; /* the owner's name would have to be parsed */
	type = get_u16(at + 2);
	return type == TYPE_CNAME || type == TYPE_DNAME;
}

bool rpz_match_doubt(const struct authzones *z, const struct stored *s)
{
	if (has_alias(s))
		return true;
	for (size_t i = z->first_policy; i < z->count; i++) {
		const struct rpz *rules = authzone_policy(&z->items[i]);

		if (rules && rpz_has(rules, RPZ_IP))
			return true;
	}
	return false;
}

/* ---- while resolving ---- */

bool rpz_match_zones_name_servers(const struct authzones *zones)
{
	for (size_t i = zones->first_policy; i < zones->count; i++) {
		const struct rpz *rules = authzone_policy(&zones->items[i]);

		if (rules && (rpz_has(rules, RPZ_NSDNAME) || rpz_has(rules, RPZ_NSIP)))
			return true;
	}
	return false;
}

bool rpz_match_by_servers(const struct query *q)
{
	return rpz_match_zones_name_servers(q->snapshot->zones);
}

static bool is_noted(const struct query *q, const uint8_t *wanted, const uint8_t *name,
		     const struct addr *addr)
{
	for (const struct met *m = q->met; m; m = m->next)
		if (!m->name == !name && dname_equals(m->wanted, wanted) &&
		    (name ? dname_equals(m->name, name) : addr_equals_ip(&m->addr, addr)))
			return true;
	return false;
}

static bool is_of_interest(const struct query *q, const uint8_t *name, const struct addr *addr)
{
	const struct authzones *zones = q->snapshot->zones;

	for (size_t i = zones->first_policy; i < zones->count; i++) {
		const struct rpz *rules = authzone_policy(&zones->items[i]);
		struct rpz_rule rule;

		if (rules && (name ? rpz_find_name(rules, RPZ_NSDNAME, name, &rule)
				   : rpz_find_addr(rules, RPZ_NSIP, addr, &rule)))
			return true;
	}
	return false;
}

void rpz_match_meet(struct query *q, const uint8_t *wanted, const uint8_t *name,
		  const struct addr *addr)
{
	struct met *m;

	if (!is_of_interest(q, name, addr) || is_noted(q, wanted, name, addr))
		return;
	m = arena_new(&q->arena, struct met);
	m->next = q->met;
	m->wanted = arena_copy(&q->arena, wanted, dname_len(wanted));
	m->name = name ? arena_copy(&q->arena, name, dname_len(name)) : NULL;
	m->addr = addr ? *addr : (struct addr){ .family = 0 };
	q->met = m;
	q->no_message = true;
}

void rpz_match_inherit(struct query *q, const struct query *child)
{
	for (const struct met *m = child->met; m; m = m->next)
		rpz_match_meet(q, m->wanted, m->name, &m->addr);
}

static bool has_rpz(const struct query *q)
{
	return q->depth == 0 && !(q->kind & QUERY_RPZ_PASSED) && q->question.class_ == CLASS_IN;
}

/* Whether the rule ends it for all clients. `sure` is lost at a passthru, or at a rule of a zone
 * that applies to some clients only. */
static bool ends_for_all(const struct rpz_hit *hit, bool *sure)
{
	switch (hit->rule.action) {
	case RPZ_disabled:
	case RPZ_tcp_only:
		return false;
	case RPZ_passthru:
		*sure = false;
		return false;
	default:
		*sure &= tagset_is_empty(&hit->zone->manner->tags);
		return *sure;
	}
}

/* Whether a rule for an address may let an answer through, and with it what its servers are blocked for. */
static bool may_spare(const struct authzone *z, const struct rpz *rules)
{
	if (z->manner->override >= 0)
		return z->manner->override == RPZ_passthru && rpz_has(rules, RPZ_IP);
	return rpz_passes_addresses(rules);
}

/* The rule for a name, or (NULL) for the servers met. */
static bool find_end(const struct query *q, const uint8_t *name, struct rpz_hit *hit)
{
	const struct met *server = name ? NULL : find_in_met(hit, q->met, NULL);

	if (name ? !find_name(hit, RPZ_QNAME, name) : !server)
		return false;
	spare_target(hit, name ? name : server->wanted, q->question.name);
	return true;
}

static bool ends(const struct query *q, const uint8_t *name)
{
	const struct authzones *zones = q->snapshot->zones;
	bool sure = true;

	for (size_t i = zones->first_policy; i < zones->count; i++) {
		struct rpz_hit hit = { .zone = &zones->items[i],
				       .rules = authzone_policy(&zones->items[i]) };

		if (!hit.rules)
			continue;
		sure &= name || !may_spare(hit.zone, hit.rules);
		if (find_end(q, name, &hit) && ends_for_all(&hit, &sure))
			return true;
	}
	return false;
}

static bool stops(struct query *q, const uint8_t *name)
{
	if (q->spared || !has_rpz(q) || !ends(q, name))
		return false;
	q->stopped = true;
	q->no_message = true;
	return true;
}

bool rpz_match_stops(struct query *q)
{
	return q->met && stops(q, NULL);
}

/* Whether a rule for the name, or for the servers met for it, may let some client through. */
static bool zone_may_pass(const struct query *q, struct rpz_hit *hit, const uint8_t *name,
			  bool by_servers)
{
	if (by_servers ? !find_in_met(hit, q->met, name) : !find_name(hit, RPZ_QNAME, name))
		return false;
	spare_target(hit, name, q->question.name);
	return hit->rule.action == RPZ_passthru;
}

static bool may_pass(const struct query *q, const uint8_t *name, bool by_servers)
{
	const struct authzones *zones = q->snapshot->zones;

	for (size_t i = zones->first_policy; i < zones->count; i++) {
		struct rpz_hit hit = { .zone = &zones->items[i],
				       .rules = authzone_policy(&zones->items[i]) };

		if (hit.rules && zone_may_pass(q, &hit, name, by_servers))
			return true;
	}
	return false;
}

bool rpz_match_stops_at(struct query *q, const uint8_t *target)
{
	if (!rpz_match_exist(q->snapshot->zones))
		return false;
	for (const struct met *m = q->met; m && !q->spared; m = m->next)
		q->spared = may_pass(q, m->wanted, true);
	if (stops(q, target))
		return true;
	q->spared |= may_pass(q, target, false);
	return false;
}

bool rpz_match_hides(const struct query *q, const uint8_t *name)
{
	return rpz_match_exist(q->snapshot->zones) && ends(q, name);
}
