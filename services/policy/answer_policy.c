/* What answers may not contain, for one client or another.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "services/policy/policy.h"

#include "services/answer/nat64.h"
#include "services/blocklist/answer.h"
#include "services/history/decision.h"
#include "services/history/querylog.h"
#include "services/net/addresses.h"
#include "services/net/client.h"
#include "services/policy/rpz_apply.h"
#include "services/policy/response_ip.h"
#include "services/policy/rpz_match.h"
#include "services/policy/views.h"
#include "util/base/arena.h"
#include "util/base/fault.h"
#include "util/dns/rr.h"

struct finding {
	const struct response_rule *rule;
	enum zone_type action;
	const struct record_data *data;
	unsigned set; /* in the answer section: where the address was found */
	bool embedded; /* the rule is for the IPv4 address in an IPv6 one */
};

/* Whether one of the addresses is in the NAT64 prefix, and the IPv4 address in it in the netblock. */
static bool is_embedded(const struct policy *p, const struct rrset *s, const struct netblock *block)
{
	struct addresses w = addresses_of(s);
	struct addr a, ip4;

	while (s->type == TYPE_AAAA && addresses_next(&w, &a))
		if (nat64_extract(&p->nat64, &a, &ip4) && netblock_holds(block, &ip4))
			return true;
	return false;
}

/* Whether response-ip has a rule, for the action that the client's tags choose. */
static bool find_address(const struct policy *p, const struct policy_client *who,
			 const struct message *m, struct finding *f)
{
	const struct acl_tags *t = who->rule->tags;
	const struct view *v = who->rule->sees;
	int tag;

	*f = (struct finding){ 0 };
	if (v && v->addresses)
		f->rule = response_ip_find(v->addresses, &p->nat64, m, &f->set);
	if (!f->rule && p->addresses && (!v || v->first))
		f->rule = response_ip_find(p->addresses, &p->nat64, m, &f->set);
	if (!f->rule)
		return false;
	f->embedded = who->embeds || is_embedded(p, m->sets[f->set], &f->rule->block);
	f->action = f->rule->action;
	f->data = &f->rule->data;
	tag = tagset_common(&t->set, &f->rule->tags);
	if (tag >= 0 && (unsigned)tag < t->count) {
		if (t->actions[tag])
			f->action = (enum zone_type)(t->actions[tag] - 1);
		if (t->data[tag].count)
			f->data = &t->data[tag];
	}
	return true;
}

static struct message *changed(struct arena *a, const struct message *m, enum rcode rcode)
{
	struct message *new = arena_copy(a, m, sizeof(*m));

	new->rcode = (uint16_t)rcode;
	new->flags &= (uint16_t)~FLAG_AA;
	new->security = SECURITY_INSECURE;
	memset(new->count, 0, sizeof(new->count));
	return new;
}

/* Keeps the aliases before the address; its RRset is replaced by `with`, if any, and what comes
 * after it is dropped. */
static struct message *with_set(struct arena *a, const struct message *m, unsigned before,
				const struct rrset *with, enum rcode rcode)
{
	struct message *new = changed(a, m, rcode);

	if (m->q.type == TYPE_ANY && !with)
		return new;
	new->sets = arena_array(a, const struct rrset *, before + 1);
	for (unsigned i = 0; i < before; i++)
		new->sets[i] = m->sets[i];
	new->sets[before] = with;
	new->count[SECTION_ANSWER] = (uint16_t)(before + (with != NULL));
	return new;
}

static struct rrset *from_now(struct rrset *s, uint32_t now_s)
{
	s->expires_s = now_s + s->ttl_s;
	return s;
}

static const struct rrset *relative(struct arena *a, const struct rrset *s, uint32_t now_s)
{
	struct rrset *copy = rrset_copy(a, s);
	uint32_t left_s = s->expires_s - now_s;

	copy->expires_s = left_s <= INT32_MAX ? left_s : 0;
	copy->sig_count = 0;
	return copy;
}

static void follow_aliases(const struct message *m, const struct finding *f, const struct rrset *alias,
		    uint32_t now_s, struct arena *a, struct policy_outcome *j)
{
	bool room = true;

	j->end = OUTCOME_FOLLOW;
	for (unsigned i = 0; i < f->set && room; i++) {
		if (m->sets[i]->type == TYPE_CNAME)
			room = alias_prefix_add(&j->aliases, a, relative(a, m->sets[i], now_s));
	}
	if (room && alias_prefix_add(&j->aliases, a, alias))
		return;
	j->end = OUTCOME_CHANGED;
	j->m = changed(a, m, RCODE_SERVFAIL);
}

/* The records that stand in the place of the address. */
static const struct rrset *data_of(const struct policy *p, const struct finding *f,
				   const struct message *m, struct arena *a)
{
	const struct rrset *data = record_data_find(f->data, m->sets[f->set]->type);

	if (data || !f->embedded)
		return data;
	data = record_data_find(f->data, TYPE_A);
	return data ? nat64_embed_set(a, &p->nat64, data) : NULL;
}

static void redirect(const struct policy *p, const struct message *m, const struct finding *f,
		     uint32_t now_s, struct arena *a, struct policy_outcome *j)
{
	const struct rrset *data = data_of(p, f, m, a);
	struct rrset *own;

	j->end = OUTCOME_CHANGED;
	if (!data) {
		j->m = with_set(a, m, f->set, NULL, RCODE_NOERROR);
		return;
	}
	own = rrset_rename(a, data, rrset_owner(m->sets[f->set]), 0);
	if (f->embedded)
		j->aliases.nat64 = p->nat64;
	if (own->type == TYPE_CNAME)
		follow_aliases(m, f, own, now_s, a, j);
	else
		j->m = with_set(a, m, f->set, from_now(own, now_s), RCODE_NOERROR);
}

static void log_finding(const struct policy *p, const struct policy_client *who,
			const struct finding *f, const struct message *m)
{
	const struct zone_traits *traits = &zone_traits[f->action];
	char block[ADDR_TEXT];

	decision_note(who->decision,
	       traits->records == RECORDS_ALL ? DECIDED_HERE
	       : traits->rest <= REST_NXDOMAIN ? DECIDED_BLOCKED
					       : DECIDED_NOT,
	       "response-ip %s %s", netblock_print(&f->rule->block, block),
	       zone_traits[f->action].word);
	if (!p->logs && !zone_traits[f->action].logged)
		return;
	querylog_address(netblock_print(&f->rule->block, block), zone_traits[f->action].word,
			 who->client, &m->q);
}

bool policy_doubts(const struct policy *p, const struct stored *s)
{
	return stored_has_additional(s) || p->has_address_rules ||
	       (p->rpz && rpz_match_doubt(p->rpz, s));
}

/* Applies response-ip. False: no rule matches. */
static bool apply_to_addresses(const struct policy *p, const struct policy_client *who,
			    const struct message *m, uint32_t now_s, struct arena *a,
			    struct policy_outcome *j)
{
	struct finding f;
	enum zone_rest rest;

	if (!find_address(p, who, m, &f)) /* whatever the RCODE: that is for a server to choose */
		return false;
	log_finding(p, who, &f, m);
	if (zone_traits[f.action].records == RECORDS_ALL) {
		redirect(p, m, &f, now_s, a, j);
		return true;
	}
	rest = zone_traits[f.action].rest;
	switch (rest <= REST_NXDOMAIN && f.embedded ? REST_NODATA : rest) {
	case REST_DROP:
		j->end = OUTCOME_DROP;
		return true;
	case REST_REFUSE:
		j->m = changed(a, m, RCODE_REFUSED);
		break;
	case REST_NXDOMAIN:
		j->m = with_set(a, m, f.set, NULL, RCODE_NXDOMAIN);
		break;
	case REST_DENY: /* nothing is known of the other types of the name */
	case REST_NODATA:
		j->m = with_set(a, m, f.set, NULL, RCODE_NOERROR);
		break;
	default:
		return true;
	}
	j->end = OUTCOME_CHANGED;
	return true;
}

/* Aliases may lead to blocked names. */
static bool apply_to_aliases(const struct policy *p, const struct policy_client *who,
			  const struct message *m, uint32_t now_s, struct arena *a,
			  struct policy_outcome *j)
{
	const struct blocklist_asker asker = { .rule = who->rule,
					       .from = &who->client->from,
					       .now_s = now_s };
	struct blocklist_found f;

	if (LIKELY(!blocklists_exist(p->lists)) || m->q.class_ != CLASS_IN ||
	    !blocklists_block_message(p->lists, &asker, m, &f))
		return false;
	blocklist_count(who->stats, &f);
	blocklist_tell(&f, who->decision);
	if (p->logs)
		blocklist_log(&f, who->client, &m->q);
	if (blocklist_leads_on(&f, m->q.type)) {
		blocklist_alias_prefix(&f, &m->q, a, &j->aliases);
		j->end = OUTCOME_FOLLOW;
		return true;
	}
	j->m = blocklist_message(&f, m, now_s, a);
	j->end = j->m ? OUTCOME_CHANGED : OUTCOME_DROP;
	return true;
}

void policy_bound(const struct message *own, struct arena *a, struct policy_outcome *j)
{
	const struct rrset *soa = own ? message_soa(own) : NULL;
	unsigned count = j->m->count[SECTION_ANSWER];
	struct message *new;
	struct rrset *copy;

	if (!soa || j->end != OUTCOME_CHANGED || j->m->rcode != RCODE_NOERROR ||
	    j->m->flags & FLAG_TC || message_set_count(j->m) > count || !message_is_denial(j->m))
		return;
	new = arena_copy(a, j->m, sizeof(*new));
	new->sets = arena_array(a, const struct rrset *, count + 1);
	for (unsigned i = 0; i < count; i++)
		new->sets[i] = j->m->sets[i];
	new->sets[count] = copy = rrset_copy(a, soa);
	copy->sig_count = 0;
	new->count[SECTION_AUTHORITY] = 1;
	j->m = new;
}

/* ---- what stands beside an answer ---- */

static bool address_is_changed(const struct policy *p, const struct policy_client *who,
			       const struct message *m)
{
	struct finding f;

	return find_address(p, who, m, &f) && (zone_traits[f.action].records == RECORDS_ALL ||
					       zone_traits[f.action].rest <= REST_NXDOMAIN);
}

/* Whether the answer `m`, of one RRset, would not reach the client as it is. */
static bool withholds(const struct policy *p, const struct policy_client *who,
		      const struct message *m, uint32_t now_s)
{
	const struct blocklist_asker asker = { .rule = who->rule,
					       .from = &who->client->from,
					       .now_s = now_s };
	struct blocklist_found f;

	return policy_has_local(p, who, &m->q) ||
	       (blocklists_exist(p->lists) &&
		blocklists_block(p->lists, &asker, m->q.name, m->q.type, &f)) ||
	       (p->rpz && rpz_apply_withhold(p, who, m)) || address_is_changed(p, who, m);
}

static bool withholds_set(const struct policy *p, const struct policy_client *who,
			  const struct rrset *s, uint32_t now_s)
{
	const struct message m = { .q = { .name = rrset_owner(s),
					  .name_len = s->owner_len,
					  .type = s->type,
					  .class_ = s->class_ },
				   .sets = &s,
				   .count = { [SECTION_ANSWER] = 1 } };

	return withholds(p, who, &m, now_s);
}

const struct message *policy_strip(const struct policy *p, const struct policy_client *who,
				   const struct message *m, uint32_t now_s, struct arena *a)
{
	unsigned all = message_set_count(m), kept = all - m->count[SECTION_ADDITIONAL];
	struct message *less;
	const struct rrset **sets;

	if (LIKELY(kept == all) || m->q.class_ != CLASS_IN)
		return m;
	sets = arena_array(a, const struct rrset *, all);
	for (unsigned i = 0; i < kept; i++)
		sets[i] = m->sets[i];
	for (unsigned i = kept; i < all; i++)
		if (!withholds_set(p, who, m->sets[i], now_s))
			sets[kept++] = m->sets[i];
	if (kept == all)
		return m;
	less = arena_copy(a, m, sizeof(*m));
	less->sets = sets;
	less->count[SECTION_ADDITIONAL] -= (uint16_t)(all - kept);
	return less;
}

static void apply(const struct policy *p, const struct policy_client *who, const struct message *m,
		  uint32_t now_s, struct arena *a, struct policy_outcome *j)
{
	bool by_rpz = p->rpz && !who->let_through;

	*j = (struct policy_outcome){ .end = OUTCOME_AS_IS, .m = m };
	if ((m->security == SECURITY_BOGUS && !who->sees_bogus) ||
	    apply_to_aliases(p, who, m, now_s, a, j))
		return;
	if (by_rpz && rpz_apply_aliases(p, who, m, now_s, a, j)) {
		if (j->end != OUTCOME_AS_IS)
			return;
		by_rpz = false; /* an rpz-passthru let it through */
	}
	if (!apply_to_addresses(p, who, m, now_s, a, j) && by_rpz)
		rpz_apply_rest(p, who, m, now_s, a, j);
	policy_bound(who->own, a, j);
}

void policy_apply(const struct policy *p, const struct policy_client *who, const struct message *m,
		  uint32_t now_s, struct arena *a, struct policy_outcome *j)
{
	const struct message *less = policy_strip(p, who, m, now_s, a);

	apply(p, who, less, now_s, a, j);
	if (j->end == OUTCOME_AS_IS && less != m) {
		j->end = OUTCOME_CHANGED;
		j->m = less;
	}
}
