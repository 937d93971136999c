/* Carries out the rules of response policy zones, on queries and on answers.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "services/policy/rpz_apply.h"

#include "services/answer/nat64.h"
#include "services/authzone/data.h"
#include "services/policy/rpz_match.h"
#include "util/base/arena.h"
#include "util/dns/rr.h"

static struct rpz_matches by_whom(const struct policy *p, const struct policy_client *who,
				 const struct question *q)
{
	return (struct rpz_matches){ .zones = p->rpz,
				    .tags = &who->rule->tags->set,
				    .client = who->client,
				    .q = q,
				    .nat64 = &p->nat64,
				    .embeds = who->embeds,
				    .stats = who->stats,
				    .decision = who->decision };
}

/* ---- a rule's records, owned by the name they apply to ---- */

static const struct rrset *alias_to(struct arena *a, const uint8_t *owner, const uint8_t *target,
				    uint32_t ttl_s)
{
	struct slice record = { .at = target, .len = dname_len(target) };

	return rrset_build(a, &(struct rrset_parts){ .owner = owner,
						     .type = TYPE_CNAME,
						     .class_ = CLASS_IN,
						     .ttl_s = ttl_s,
						     .expires_s = ttl_s,
						     .records = &record,
						     .count = 1 });
}

/* The alias a rule makes of `name`; its expires_s is relative to time 0. NULL: the target would be
 * too long. */
static const struct rrset *rule_alias(const struct rpz_hit *hit, const uint8_t *name,
				      struct arena *a)
{
	const struct rrset *alias = zonenode_set(hit->rule.node, TYPE_CNAME);
	uint32_t ttl_s = alias ? alias->ttl_s : hit->rule.node->sets[0]->ttl_s;
	uint8_t *target = arena_take(a, DNAME_MAX);

	if (rpz_target(&hit->rule, name, target) == 0)
		return NULL;
	return alias_to(a, name, target, ttl_s);
}

/* The rule's RRsets that answer `type`; returns how many were stored in `to`. */
static unsigned rule_sets(const struct rpz_hit *hit, const uint8_t *name, uint16_t type,
			  struct arena *a, const struct rrset **to, unsigned most)
{
	const struct zonenode *n = hit->rule.node;
	unsigned count = 0;

	for (uint32_t i = 0; i < n->count && count < most; i++)
		if ((n->sets[i]->type == type || type == TYPE_ANY) &&
		    rpz_is_policy(n->sets[i]->type))
			to[count++] = rrset_rename(a, n->sets[i], name, 0);
	return count;
}

/* What is at the end of the aliases that rules make. */
enum chain_end {
	CHAIN_RESOLVE,  /* a name that is resolved as usual */
	CHAIN_SPARED,   /* the same, and no rule is for the client any more */
	CHAIN_RULE,     /* a name whose own rule, *hit, decides */
	CHAIN_TOO_LONG, /* a name that is none (RFC 6672 2.2) */
	CHAIN_CIRCLE,   /* nothing: there are too many */
};

/* Follow the alias that `hit` makes of `*name`: where it leads, rules for names decide in their turn. The aliases are added
 * to `aliases`; `*name` becomes the last one's target. */
static enum chain_end follow(const struct rpz_matches *by, struct rpz_hit *hit, const uint8_t **name, struct arena *a,
			     struct alias_prefix *aliases)
{
	while (rpz_hit_is_alias(hit)) {
		const struct rrset *alias = rule_alias(hit, *name, a);

		if (!alias)
			return CHAIN_TOO_LONG;
		if (!alias_prefix_add(aliases, a, alias))
			return CHAIN_CIRCLE;
		*name = aliases->target;
		if (!rpz_match_name(by, *name, hit))
			return CHAIN_RESOLVE;
	}
	return hit->rule.action == RPZ_passthru ? CHAIN_SPARED : CHAIN_RULE;
}

/* Whether aliases are the answer, and not followed. */
static bool asks_for_aliases(const struct question *q)
{
	return q->type == TYPE_CNAME || q->type == TYPE_ANY;
}

/* ---- before the caches ---- */

#define SETS_MOST 32

/* A rule being carried out for a query. */
struct answering {
	const struct policy *p;
	const struct answer_to *to;
	struct writer *out;
	struct rpz_hit hit;
	const uint8_t *name;       /* that the rule is for: the query name, or where other rules' aliases lead */
	struct alias_prefix *aliases; /* those aliases */
	struct arena *a;
};

/* The aliases, then `sets`. */
static enum policy_end say(const struct answering *s, const struct rrset *const *sets, unsigned answers,
			   unsigned additional, enum rcode rcode)
{
	const struct rrset *all[ALIAS_PREFIX_MOST + SETS_MOST + 1];
	unsigned before = s->aliases->count;
	struct message m = { .flags = FLAG_AA,
			     .rcode = (uint16_t)rcode,
			     .q = s->to->request->q,
			     .sets = all,
			     .security = SECURITY_INSECURE,
			     .reason = REASON_blocked };
	struct answer_to to = *s->to;

	for (unsigned i = 0; i < before; i++)
		all[i] = s->aliases->sets[i];
	for (unsigned i = 0; i < answers + additional; i++)
		all[before + i] = sets[i];
	m.count[SECTION_ANSWER] = (uint16_t)(before + answers);
	m.count[SECTION_ADDITIONAL] = (uint16_t)additional;
	m.no_recursion = rcode == RCODE_NXDOMAIN && s->hit.zone->manner->signals;
	to.now_s = 0;
	answer_message(s->out, &to, &m);
	return POLICY_SEND;
}

static enum policy_end say_data(const struct answering *s)
{
	const struct rrset *sets[SETS_MOST + 1], *soa = rpz_zone(s->hit.rules)->soa;
	unsigned count = rule_sets(&s->hit, s->name, s->to->request->q.type, s->a, sets, SETS_MOST);
	bool tells = soa && !s->p->minimal && s->hit.trigger == RPZ_CLIENT_IP;

	if (tells)
		sets[count] = soa;
	return say(s, sets, count, tells, RCODE_NOERROR);
}

static enum policy_end say_error(const struct answering *s, enum rcode rcode, enum reason reason)
{
	answer_error(s->out, s->to, rcode, reason);
	return POLICY_SEND;
}

static enum policy_end ask_for_tcp(const struct answering *s)
{
	uint8_t *head = s->out->at;

	answer_error(s->out, s->to, RCODE_NOERROR, REASON_none);
	put_u16(head + 2, msg_flags(head) | FLAG_TC | FLAG_AA);
	return POLICY_SEND;
}

/* What the rule says of its name, if that is no alias. */
static enum policy_end say_rule(const struct answering *s)
{
	switch (s->hit.rule.action) {
	case RPZ_nxdomain:
		return say(s, NULL, 0, 0, RCODE_NXDOMAIN);
	case RPZ_nodata:
		return say(s, NULL, 0, 0, RCODE_NOERROR);
	case RPZ_drop:
		return POLICY_DROP;
	case RPZ_tcp_only:
		return ask_for_tcp(s);
	case RPZ_data:
		return say_data(s);
	default:
		return POLICY_LET_THROUGH;
	}
}

static enum policy_end say_aliases(struct answering *s, const struct rpz_matches *by)
{
	const struct rrset *alias;

	if (asks_for_aliases(&s->to->request->q)) {
		alias = rule_alias(&s->hit, s->name, s->a);
		return alias ? say(s, &alias, 1, 0, RCODE_NOERROR) : say_error(s, RCODE_YXDOMAIN, REASON_other);
	}
	switch (follow(by, &s->hit, &s->name, s->a, s->aliases)) {
	case CHAIN_SPARED:
		s->aliases->rpz_passed = true;
		return POLICY_FOLLOW;
	case CHAIN_RULE:
		return say_rule(s);
	case CHAIN_TOO_LONG:
		return say_error(s, RCODE_YXDOMAIN, REASON_other);
	case CHAIN_CIRCLE:
		return say_error(s, RCODE_SERVFAIL, REASON_loop);
	default:
		return POLICY_FOLLOW;
	}
}

enum policy_end rpz_apply_answer(const struct policy *p, const struct policy_client *who,
				    const struct answer_to *to, struct writer *out, struct arena *a,
				    struct alias_prefix *aliases)
{
	const struct question *q = &to->request->q;
	struct rpz_matches by = by_whom(p, who, q);
	struct answering s = { .p = p, .to = to, .out = out, .name = q->name, .aliases = aliases, .a = a };

	if (q->class_ != CLASS_IN || !rpz_match_question(&by, &s.hit))
		return POLICY_PASS;
	*aliases = (struct alias_prefix){ .authoritative = true };
	return rpz_hit_is_alias(&s.hit) ? say_aliases(&s, &by) : say_rule(&s);
}

bool rpz_apply_spare(const struct policy *p, const struct policy_client *who,
			const struct question *q)
{
	struct rpz_matches by = by_whom(p, who, q);

	return q->class_ == CLASS_IN && rpz_match_spares(&by);
}

/* ---- answers ---- */

/* A rule being applied to an answer. */
struct applying {
	const struct policy *p;
	const struct rpz_matches *by;
	const struct message *m;
	struct rpz_hit *hit;
	const uint8_t *name; /* that the rule is for: the query name, or an alias's target */
	unsigned kept;       /* RRsets of the answer that lead to that name, … */
	const struct rrset *const *made; /* … and then the aliases that other rules made */
	unsigned made_count;
	bool has_aa;         /* the answer becomes authoritative */
	uint32_t now_s;
	struct arena *a;
};

static const struct rrset *from_now(const struct applying *g, const struct rrset *s)
{
	struct rrset *copy = rrset_copy(g->a, s);

	copy->expires_s = g->now_s + copy->ttl_s;
	return copy;
}

static const struct rrset *from_zero(const struct applying *g, const struct rrset *s)
{
	struct rrset *copy = rrset_copy(g->a, s);
	uint32_t left_s = s->expires_s - g->now_s;

	copy->expires_s = left_s <= INT32_MAX ? left_s : 0;
	copy->sig_count = 0;
	return copy;
}

/* The new answer: the aliases that lead to the name, those made, then `sets`. */
static void become(const struct applying *g, struct policy_outcome *j, enum rcode rcode,
		   const struct rrset **sets, unsigned count)
{
	struct message *new = arena_copy(g->a, g->m, sizeof(*g->m));
	const struct rrset *soa = rpz_zone(g->hit->rules)->soa;
	unsigned at = 0;

	new->sets = arena_array(g->a, const struct rrset *, g->kept + g->made_count + count + 1);
	for (unsigned i = 0; i < g->kept; i++)
		new->sets[at++] = g->m->sets[i];
	for (unsigned i = 0; i < g->made_count; i++)
		new->sets[at++] = from_now(g, g->made[i]);
	for (unsigned i = 0; i < count; i++)
		new->sets[at++] = from_now(g, sets[i]);
	memset(new->count, 0, sizeof(new->count));
	new->count[SECTION_ANSWER] = (uint16_t)at;
	if (soa && g->has_aa && !g->p->minimal) {
		new->sets[at] = from_now(g, soa);
		new->count[SECTION_ADDITIONAL] = 1;
	}
	new->rcode = (uint16_t)rcode;
	new->flags &= (uint16_t) ~(FLAG_AA | FLAG_TC);
	new->flags |= g->has_aa ? FLAG_AA : 0;
	new->security = SECURITY_INSECURE;
	new->reason = REASON_blocked;
	new->reason_text = NULL;
	new->no_recursion = rcode == RCODE_NXDOMAIN && g->hit->zone->manner->signals;
	j->end = OUTCOME_CHANGED;
	j->m = new;
}

static void fail(const struct applying *g, struct policy_outcome *j, enum rcode rcode)
{
	become(g, j, rcode, NULL, 0);
	memset(((struct message *)(uintptr_t)j->m)->count, 0, sizeof(j->m->count));
}

static void cut(const struct applying *g, struct policy_outcome *j)
{
	struct message *new;

	become(g, j, RCODE_NOERROR, NULL, 0);
	new = (struct message *)(uintptr_t)j->m;
	memset(new->count, 0, sizeof(new->count));
	new->flags &= (uint16_t)~FLAG_AA;
	new->flags |= FLAG_TC;
	new->reason = REASON_none;
}

/* The answer's aliases that lead to the name, as far as there is room: then there is none for the rule's own, either. */
static void aliases_of_kept(const struct applying *g, struct alias_prefix *aliases)
{
	for (unsigned i = 0; i < g->kept; i++)
		if (g->m->sets[i]->type == TYPE_CNAME && !alias_prefix_add(aliases, g->a, from_zero(g, g->m->sets[i])))
			return;
}

/* Where the aliases of the rule lead. True: `j` holds the outcome; false: g->hit is the rule there, which decides. */
static bool follow_aliases(struct applying *g, struct policy_outcome *j)
{
	bool embedded = g->hit->embedded;
	const struct rrset *alias;
	enum chain_end end;
	unsigned before;

	if (asks_for_aliases(&g->m->q)) {
		alias = rule_alias(g->hit, g->name, g->a);
		if (alias)
			become(g, j, RCODE_NOERROR, &alias, 1);
		else
			fail(g, j, RCODE_YXDOMAIN);
		return true;
	}
	j->aliases = (struct alias_prefix){ .count = 0 };
	if (embedded)
		j->aliases.nat64 = g->p->nat64;
	aliases_of_kept(g, &j->aliases);
	before = j->aliases.count;
	end = follow(g->by, g->hit, &g->name, g->a, &j->aliases);
	g->hit->embedded = embedded;
	j->end = OUTCOME_FOLLOW;
	switch (end) {
	case CHAIN_TOO_LONG:
		fail(g, j, RCODE_YXDOMAIN);
		return true;
	case CHAIN_CIRCLE:
		fail(g, j, RCODE_SERVFAIL);
		return true;
	case CHAIN_RULE:
		g->made = j->aliases.sets + before;
		g->made_count = j->aliases.count - before;
		return false;
	case CHAIN_SPARED:
		j->aliases.rpz_passed = true;
		return true;
	default:
		return true;
	}
}

/* The rule's records in place of those of `type`. */
static unsigned new_sets(const struct applying *g, uint16_t type, const struct rrset **to)
{
	unsigned count = rule_sets(g->hit, g->name, type, g->a, to, SETS_MOST);

	if (count || type != TYPE_AAAA || !g->hit->embedded)
		return count;
	count = rule_sets(g->hit, g->name, TYPE_A, g->a, to, 1);
	for (unsigned i = 0; i < count; i++)
		to[i] = nat64_embed_set(g->a, &g->p->nat64, to[i]);
	return count;
}

static bool denies(enum rpz_action action)
{
	return action == RPZ_nxdomain || action == RPZ_drop;
}

/* True: `j` holds the outcome. */
static bool carry_out(struct applying *g, uint16_t type, struct policy_outcome *j)
{
	const struct rrset *sets[SETS_MOST];
	enum rpz_action action;

	if (rpz_hit_is_alias(g->hit) && follow_aliases(g, j))
		return true;
	action = g->hit->rule.action;
	switch (g->hit->embedded && denies(action) ? RPZ_nodata : action) {
	case RPZ_nxdomain:
		become(g, j, RCODE_NXDOMAIN, NULL, 0);
		return true;
	case RPZ_nodata:
		become(g, j, RCODE_NOERROR, NULL, 0);
		return true;
	case RPZ_drop:
		j->end = OUTCOME_DROP;
		return true;
	case RPZ_tcp_only:
		cut(g, j);
		return true;
	case RPZ_data:
		become(g, j, RCODE_NOERROR, sets, new_sets(g, type, sets));
		return true;
	default:
		j->end = OUTCOME_AS_IS;
		j->m = g->m;
		return true;
	}
}

/* Counts the RRsets at the start of the answer that lead to `name`; false: none lead there. */
static bool leads_to(const struct message *m, const uint8_t *name, unsigned *kept)
{
	const uint8_t *at = m->q.name;

	for (*kept = 0; !dname_equals(at, name); ++*kept) {
		if (*kept == m->count[SECTION_ANSWER])
			return false;
		if (m->sets[*kept]->type == TYPE_CNAME &&
		    dname_equals(rrset_owner(m->sets[*kept]), at))
			at = rrset_target(m->sets[*kept], 0);
	}
	return true;
}

bool rpz_apply_aliases(const struct policy *p, const struct policy_client *who,
				const struct message *m, uint32_t now_s, struct arena *a,
				struct policy_outcome *j)
{
	struct rpz_matches by = by_whom(p, who, &m->q);
	struct rpz_hit hit;
	struct applying g = { .p = p, .by = &by, .m = m, .hit = &hit, .has_aa = true, .now_s = now_s, .a = a };
	const uint8_t *at = m->q.name;

	if (m->q.type == TYPE_CNAME || m->q.class_ != CLASS_IN)
		return false;
	for (unsigned i = 0; i < m->count[SECTION_ANSWER]; i++) {
		const struct rrset *s = m->sets[i];

		if (s->type != TYPE_CNAME || !dname_equals(rrset_owner(s), at))
			continue;
		g.name = at;
		if (rpz_match_servers(&by, who->met, at, &hit))
			return carry_out(&g, m->q.type, j);
		at = rrset_target(s, 0);
		g.kept = i + 1;
		if (!rpz_match_name(&by, at, &hit))
			continue;
		g.name = at;
		return carry_out(&g, m->q.type, j);
	}
	return false;
}

bool rpz_apply_rest(const struct policy *p, const struct policy_client *who,
			     const struct message *m, uint32_t now_s, struct arena *a,
			     struct policy_outcome *j)
{
	struct rpz_matches by = by_whom(p, who, &m->q);
	struct rpz_hit hit;
	struct applying g = { .p = p, .by = &by, .m = m, .hit = &hit, .now_s = now_s, .a = a };
	const struct met *server;
	unsigned set;

	if (m->q.class_ != CLASS_IN || !rpz_match_answer(&by, m, who->met, &hit, &set, &server))
		return false;
	if (server) {
		g.has_aa = true;
		g.name = leads_to(m, server->wanted, &g.kept) ? server->wanted : m->q.name;
		g.kept = g.name == m->q.name ? 0 : g.kept;
		return carry_out(&g, m->q.type, j);
	}
	g.name = rrset_owner(m->sets[set]);
	/* the aliases before it stay, but nothing that ANY brought where there is to be nothing */
	g.kept = m->q.type != TYPE_ANY || rpz_hit_is_alias(&hit) || hit.rule.action == RPZ_data ? set : 0;
	return carry_out(&g, m->sets[set]->type, j);
}

bool rpz_apply_withhold(const struct policy *p, const struct policy_client *who,
			   const struct message *m)
{
	struct rpz_matches by = by_whom(p, who, &m->q);
	const struct met *server;
	struct rpz_hit hit;
	unsigned set;

	by.stats = NULL;
	by.decision = NULL;
	by.quiet = true;
	return (rpz_match_question(&by, &hit) || rpz_match_answer(&by, m, NULL, &hit, &set, &server)) &&
	       hit.rule.action != RPZ_passthru;
}
