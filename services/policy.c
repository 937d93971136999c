/* What is answered without resolving, and what answers may not contain.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "services/policy.h"

#include "services/authzone.h"
#include "services/blocklist_answer.h"
#include "services/dns64.h"
#include "services/listen.h"
#include "services/policed.h"
#include "services/policy_zones.h"
#include "services/querylog.h"
#include "services/response_ip.h"
#include "services/settled.h"
#include "services/views.h"
#include "util/arena.h"
#include "util/fault.h"
#include "util/log.h"
#include "util/mem.h"
#include "util/options.h"
#include "util/rcu.h"
#include "util/rr.h"

#define NULL_TTL_S 3600
#define MANY_LINES 1000 /* enough that their memory is worth returning */

struct policy *policy_new(const struct conf *conf, struct fault *f)
{
	const struct conf_server *c = &conf->server;
	struct localzones_how zones = { .zones = &c->local_zone,
					.data = &c->local_data,
					.ptrs = &c->local_data_ptr,
					.conf = conf,
					.defaults = true };
	struct response_ip_how addresses = { .actions = &c->response_ip,
					     .data = &c->response_ip_data,
					     .tags = &c->response_ip_tag,
					     .defined = &c->define_tag };
	struct policy *p = mem_zero(sizeof(*p));
	struct fault why = { 0 };

	p->follows = c->local_data_follow_cname;
	p->logs = c->log_local_actions;
	p->minimal = c->minimal_responses;
	if (!netblock_parse(&p->nat64, c->dns64_prefix, NULL))
		p->nat64.net.family = 0;
	p->zones = localzones_new(&zones, &why);
	p->lists = blocklists_new(conf, &why);
	if (p->lists && p->zones && (p->views = views_new(conf, &why)))
		p->addresses = response_ip_new(&addresses, &why);
	if (*why.text) {
		fault_set(f, "%s", why.text);
		policy_free(p);
		return NULL;
	}
	p->judges = p->judges_addresses = p->addresses || views_judge(p->views);
	return p;
}

void policy_bind_zones(struct policy *p, const struct authzones *zones)
{
	if (!policed_exist(zones))
		return;
	p->policed = zones;
	p->judges = true;
}

void policy_free(struct policy *p)
{
	if (!p)
		return;
	localzones_unpin(p->zones);
	views_free(p->views);
	response_ip_free(p->addresses);
	blocklists_free(p->lists);
	mem_free(p);
}

void policy_shed(struct conf *conf)
{
	bool many = conf->server.local_zone.count >= MANY_LINES ||
		    conf->server.local_data.count > MANY_LINES;

	conf_list_clear(&conf->server.local_zone);
	conf_list_clear(&conf->server.local_data);
	conf_list_clear(&conf->server.local_data_ptr);
	for (size_t i = 0; i < conf->view_count; i++) {
		conf_list_clear(&conf->views[i].local_zone);
		conf_list_clear(&conf->views[i].local_data);
		conf_list_clear(&conf->views[i].local_data_ptr);
	}
	if (many)
		mem_trim();
}

static void put_line(struct localzones *z, const char *text)
{
	size_t len = strcspn(text, " \t");
	uint8_t name[DNAME_MAX];
	enum zone_type type;
	char word[DNAME_TEXT];

	len = MIN(len, sizeof(word) - 1);
	memcpy(word, text, len);
	word[len] = '\0';
	text += len + strspn(text + len, " \t");
	if (dname_parse(name, word, NULL) && zone_type_parse(text, &type))
		localzones_put(z, name, CLASS_IN, type);
}

void policy_inherit(struct policy *p, const struct policy *old, const struct conf *conf)
{
	const struct conf_list *zones = &conf->server.local_zone, *data = &conf->server.local_data;

	localzones_unpin(p->zones);
	p->zones = localzones_pin(old->zones);
	views_inherit(p->views, old->views);
	for (size_t i = 0; i < zones->count; i++)
		put_line(p->zones, zones->items[i].text);
	for (size_t i = 0; i < data->count; i++) {
		struct fault f = { 0 };

		if (!localzones_put_record(p->zones, data->items[i].text, &f))
			log_warn("local-data: %s", f.text);
	}
}

/* ---- selecting the zone ---- */

/* The zone that applies to a name. */
struct found {
	const struct localzones *zones;
	struct localzone_match m;
	enum zone_type type; /* as this client gets it */
	int tag;             /* by which it applies to the client; -1: none */
};

static const struct rrset *set_at(const struct found *f, const uint8_t *name,
				  const struct question *q)
{
	const struct localnode *n = localzones_node(f->zones, &f->m, name, q->class_);
	const struct rrset *s = n ? localnode_set(n, q->type) : NULL;

	return s || !n ? s : localnode_set(n, TYPE_CNAME);
}

/* A zone of a view that would only pass the query on: the server's own zones then apply. */
static bool is_see_through(const struct found *f, const struct question *q)
{
	switch (zone_traits[f->type].rest) {
	case REST_ASK_TYPES:
		return !localzones_node(f->zones, &f->m, q->name, q->class_);
	case REST_ASK:
	case REST_NO_A:
	case REST_NO_AAAA:
		return !set_at(f, q->name, q);
	default:
		return false;
	}
}

static bool find_in_view(const struct localzones *z, const struct question *q, struct found *f)
{
	if (!localzones_find(z, q, NULL, &f->m))
		return false;
	*f = (struct found){ .zones = z, .m = f->m, .type = f->m.type, .tag = -1 };
	return f->type != ZONE_noview && !is_see_through(f, q);
}

/* Of the tags shared by zone and client the first one decides. */
static enum zone_type type_for(const struct policy_client *who, struct found *f)
{
	const struct acl_tags *t = who->rule->tags;
	enum zone_type type = f->m.type;

	if (localzone_override(f->m.zone, &who->client->from, &type))
		return type;
	f->tag = tagset_common(&t->set, localzone_tags(f->m.zone));
	if (f->tag >= 0 && (unsigned)f->tag < t->count && t->actions[f->tag])
		type = (enum zone_type)(t->actions[f->tag] - 1);
	return type;
}

static bool find_zone(const struct policy *p, const struct policy_client *who,
		      const struct question *q, struct found *f)
{
	const struct view *v = who->rule->sees;
	const struct localzones *own = v ? RCU_READ(v->zones) : NULL;

	if (own) {
		if (find_in_view(own, q, f))
			return true;
		if (!v->first)
			return false;
	}
	if (!localzones_find(p->zones, q, &who->rule->tags->set, &f->m))
		return false;
	*f = (struct found){ .zones = p->zones, .m = f->m, .tag = -1 };
	f->type = type_for(who, f);
	return true;
}

/* ---- answering queries ---- */

/* One query on its way through local data, following aliases. */
struct walk {
	const struct policy *p;
	const struct policy_client *who;
	const struct answer_to *to;
	struct writer *out;
	struct arena *a;
	struct lead *lead;
	struct question q; /* currently looked up */
	struct found f;
};

/* Writes the aliases, `last`, and an RRset for AUTHORITY; the last two may be NULL. TTLs are
 * relative to time 0. */
static enum policy_end say(const struct walk *w, const struct rrset *last,
			   const struct rrset *authority, enum rcode rcode)
{
	const struct rrset *sets[LEAD_MOST + 2];
	struct message m = { .flags = FLAG_AA,
			     .rcode = (uint16_t)rcode,
			     .q = w->to->request->q,
			     .sets = sets,
			     .security = SECURITY_INSECURE };
	struct answer_to to = *w->to;
	unsigned count = 0;

	while (count < w->lead->count) {
		sets[count] = w->lead->sets[count];
		count++;
	}
	if (last)
		sets[count++] = last;
	m.count[SECTION_ANSWER] = (uint16_t)count;
	if (authority)
		sets[count] = authority;
	m.count[SECTION_AUTHORITY] = authority != NULL;
	if (rcode == RCODE_YXDOMAIN) {
		m.reason = REASON_other;
		m.reason_text = "the alias that a wildcard makes is too long";
	}
	to.now_s = 0;
	answer_message(w->out, &to, &m);
	return POLICY_SEND;
}

static enum policy_end send_failure(const struct walk *w)
{
	answer_error(w->out, w->to, RCODE_SERVFAIL, REASON_budget_aliases);
	return POLICY_SEND;
}

static enum policy_end send_truncated(const struct walk *w)
{
	uint8_t *head = w->out->at;

	answer_error(w->out, w->to, RCODE_NOERROR, REASON_none);
	put_u16(head + 2, msg_flags(head) | FLAG_TC | FLAG_AA);
	return POLICY_SEND;
}

static enum policy_end pass(const struct walk *w)
{
	return w->lead->count ? POLICY_FOLLOW : POLICY_PASS;
}

static enum policy_end deny(const struct walk *w, enum rcode rcode)
{
	return say(w, NULL, localzones_soa(w->f.zones, &w->f.m, w->q.class_, w->a), rcode);
}

static enum policy_end send_null(const struct walk *w)
{
	static const uint8_t zeros[16];
	struct slice record = { .at = zeros, .len = w->q.type == TYPE_A ? 4 : 16 };

	if (w->q.type != TYPE_A && w->q.type != TYPE_AAAA)
		return say(w, NULL, NULL, RCODE_NOERROR);
	return say(w,
		   rrset_build(w->a, &(struct rrset_parts){ .owner = w->q.name,
							    .type = w->q.type,
							    .class_ = w->q.class_,
							    .ttl_s = NULL_TTL_S,
							    .expires_s = NULL_TTL_S,
							    .records = &record,
							    .count = 1 }),
		   NULL, RCODE_NOERROR);
}

/* No record answers the query. */
static enum policy_end answer_rest(const struct walk *w, const struct localnode *n)
{
	switch (zone_traits[w->f.type].rest) {
	case REST_DROP:
		return POLICY_DROP;
	case REST_REFUSE:
		return say(w, NULL, NULL, RCODE_REFUSED);
	case REST_DENY:
		return deny(w, n ? RCODE_NOERROR : RCODE_NXDOMAIN);
	case REST_NODATA:
		return deny(w, RCODE_NOERROR);
	case REST_NXDOMAIN:
		return deny(w, RCODE_NXDOMAIN);
	case REST_ASK:
		return pass(w);
	case REST_ASK_TYPES:
		return localnode_count(n) ? deny(w, RCODE_NOERROR) : pass(w);
	case REST_NO_A:
		return w->q.type == TYPE_A ? say(w, NULL, NULL, RCODE_NOERROR) : pass(w);
	case REST_NO_AAAA:
		return w->q.type == TYPE_AAAA ? say(w, NULL, NULL, RCODE_NOERROR) : pass(w);
	case REST_NULL_ADDR:
		return send_null(w);
	case REST_TRUNCATE:
		return w->to->stream ? pass(w) : send_truncated(w);
	}
	return pass(w);
}

static const struct rrset *data_of_tag(const struct walk *w)
{
	const struct acl_tags *t = w->who->rule->tags;

	if (w->f.tag < 0 || (unsigned)w->f.tag >= t->count)
		return NULL;
	return record_data_find(&t->data[w->f.tag], w->q.type);
}

static const struct rrset *find_set(const struct walk *w)
{
	const struct rrset *s;

	switch (zone_traits[w->f.type].records) {
	case RECORDS_APART:
		return NULL;
	case RECORDS_HERE:
		return set_at(&w->f, w->q.name, &w->q);
	default:
		s = data_of_tag(w);
		return s ? s : set_at(&w->f, w->f.m.name, &w->q);
	}
}

/* The RRset as it appears in the answer: owned by the name queried, rotated each time. */
static const struct rrset *face_of(const struct walk *w, const struct rrset *s)
{
	bool turns = w->to->style->rotate && s->count > 1;

	if (!turns && dname_equals(rrset_owner(s), w->q.name))
		return s;
	return rrset_rename(w->a, s, w->q.name, turns ? w->to->request->id % s->count : 0);
}

/* A target "*.example." in a redirect zone gets the whole name prepended. NULL: too long. */
static const struct rrset *expand(const struct walk *w, const struct rrset *alias)
{
	const uint8_t *target = rrset_target(alias, 0);
	uint8_t *to;
	struct slice record;

	if (zone_traits[w->f.type].records != RECORDS_ALL || !dname_is_wildcard(target))
		return alias;
	to = arena_take(w->a, DNAME_MAX);
	record.at = to;
	record.len = dname_join(to, w->q.name, w->q.name_len - 1u, dname_parent(target));
	if (record.len == 0)
		return NULL;
	return rrset_build(w->a, &(struct rrset_parts){ .owner = w->q.name,
							.type = TYPE_CNAME,
							.class_ = alias->class_,
							.ttl_s = alias->ttl_s,
							.expires_s = alias->expires_s,
							.records = &record,
							.count = 1 });
}

static bool is_alias(const struct walk *w, const struct rrset *s)
{
	if (s->type != TYPE_CNAME || w->q.type == TYPE_CNAME)
		return false;
	if (zone_traits[w->f.type].records == RECORDS_ALL)
		return true;
	return w->p->follows && w->q.type != TYPE_ANY;
}

/* Continue at the target of an alias. */
static void go_on_at(struct walk *w, const uint8_t *target)
{
	w->q.name = target;
	w->q.name_len = (uint16_t)dname_len(target);
}

/* A zone that is one alias for all its names does not apply to the target of that alias, which
 * would lead there again. */
static bool is_own_tail(const struct walk *w, const struct found *before)
{
	return w->lead->count && before->zones == w->f.zones &&
	       zone_traits[w->f.type].records == RECORDS_ALL && before->m.zone == w->f.m.zone;
}

static void log_action(const struct walk *w)
{
	if (w->p->logs || zone_traits[w->f.type].logged)
		querylog_local(w->f.m.name, zone_traits[w->f.type].word, w->who->client,
			       &w->to->request->q);
}

/* Zones that exist to hide what other servers would answer. */
static bool hides(enum zone_type type)
{
	switch (type) {
	case ZONE_deny:
	case ZONE_refuse:
	case ZONE_inform_deny:
	case ZONE_block_a:
	case ZONE_always_refuse:
	case ZONE_always_nxdomain:
	case ZONE_always_nodata:
	case ZONE_always_deny:
	case ZONE_always_null:
		return true;
	default:
		return false;
	}
}

/* 0.0.0.0 or ::, which local-data lists use to block names. */
static bool is_null_address(const struct rrset *s)
{
	static const uint8_t zeros[16];
	struct rrset_walk records = rrset_records(s);
	struct slice rd;

	return (s->type == TYPE_A || s->type == TYPE_AAAA) && rrset_next(&records, &rd) &&
	       rd.len <= sizeof(zeros) && memcmp(rd.at, zeros, rd.len) == 0;
}

/* `s`: the RRset that applies; NULL: the zone itself. */
static void tell(const struct walk *w, const struct rrset *s)
{
	char zone[DNAME_TEXT];

	settle(w->who->settled,
	       (s ? is_null_address(s) : hides(w->f.type)) ? SETTLED_BLOCKED : SETTLED_HERE,
	       "local-zone %s %s", dname_print(w->f.m.name, zone), zone_traits[w->f.type].word);
}

static const struct localnode *node_of(const struct walk *w)
{
	if (zone_traits[w->f.type].records == RECORDS_APART)
		return NULL;
	return localzones_node(w->f.zones, &w->f.m, w->q.name, w->q.class_);
}

static bool comes_back(const struct walk *w)
{
	for (unsigned i = 0; i < w->lead->count; i++) {
		if (dname_equals(rrset_owner(w->lead->sets[i]), w->q.name))
			return true;
	}
	return false;
}

/* From zone to zone, as long as aliases lead on. */
static enum policy_end walk_zones(struct walk *w)
{
	struct found before = { 0 };

	for (;; before = w->f) {
		enum policy_end end;
		const struct rrset *s;

		if (!find_zone(w->p, w->who, &w->q, &w->f) || is_own_tail(w, &before))
			return pass(w);
		if (w->lead->count == 0)
			log_action(w);
		s = find_set(w);
		if (!s) {
			end = answer_rest(w, node_of(w));
			if (end != POLICY_PASS)
				tell(w, NULL);
			return end;
		}
		tell(w, s);
		if (!is_alias(w, s))
			return say(w, face_of(w, s), NULL, RCODE_NOERROR);
		s = expand(w, face_of(w, s));
		if (!s)
			return say(w, NULL, NULL, RCODE_YXDOMAIN);
		if (!lead_add(w->lead, w->a, s))
			return send_failure(w);
		go_on_at(w, w->lead->target);
		if (comes_back(w))
			return send_failure(w);
	}
}

static enum policy_end answer_locally(const struct policy *p, const struct policy_client *who,
				      const struct answer_to *to, struct writer *out,
				      struct arena *a, struct lead *lead)
{
	struct walk w = {
		.p = p, .who = who, .to = to, .out = out, .a = a, .lead = lead, .q = to->request->q
	};

	*lead = (struct lead){ .authoritative = true };
	return walk_zones(&w);
}

enum policy_end policy_answer(const struct policy *p, const struct policy_client *who,
			      const struct answer_to *to, struct writer *out, struct arena *a,
			      struct lead *lead)
{
	enum policy_end end = answer_locally(p, who, to, out, a, lead);

	if (end == POLICY_FOLLOW && p->policed)
		lead->unpoliced = policy_zones_spare(p, who, &to->request->q);
	if (end != POLICY_PASS || !p->policed)
		return end;
	return policy_zones_answer(p, who, to, out, a, lead);
}

/* ---- what answers may not contain ---- */

struct finding {
	const struct response_rule *rule;
	enum zone_type action;
	const struct record_data *data;
	unsigned set; /* in the answer section: where the address was found */
	bool embedded; /* the rule is for the IPv4 address in an IPv6 one */
};

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
	f->embedded = who->embeds || (m->sets[f->set]->type == TYPE_AAAA &&
				      f->rule->block.net.family == 4);
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

static void lead_on(const struct message *m, const struct finding *f, const struct rrset *alias,
		    uint32_t now_s, struct arena *a, struct judged *j)
{
	bool room = true;

	j->end = JUDGED_FOLLOW;
	for (unsigned i = 0; i < f->set && room; i++) {
		if (m->sets[i]->type == TYPE_CNAME)
			room = lead_add(&j->lead, a, relative(a, m->sets[i], now_s));
	}
	if (room && lead_add(&j->lead, a, alias))
		return;
	j->end = JUDGED_CHANGED;
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
	return data ? dns64_embed_set(a, &p->nat64, data) : NULL;
}

static void redirect(const struct policy *p, const struct message *m, const struct finding *f,
		     uint32_t now_s, struct arena *a, struct judged *j)
{
	const struct rrset *data = data_of(p, f, m, a);
	struct rrset *own;

	j->end = JUDGED_CHANGED;
	if (!data) {
		j->m = with_set(a, m, f->set, NULL, RCODE_NOERROR);
		return;
	}
	own = rrset_rename(a, data, rrset_owner(m->sets[f->set]), 0);
	if (f->embedded)
		j->lead.nat64 = p->nat64;
	if (own->type == TYPE_CNAME)
		lead_on(m, f, own, now_s, a, j);
	else
		j->m = with_set(a, m, f->set, from_now(own, now_s), RCODE_NOERROR);
}

static void log_finding(const struct policy *p, const struct policy_client *who,
			const struct finding *f, const struct message *m)
{
	const struct zone_traits *traits = &zone_traits[f->action];
	char block[ADDR_TEXT];

	settle(who->settled,
	       traits->records == RECORDS_ALL ? SETTLED_HERE
	       : traits->rest <= REST_NXDOMAIN ? SETTLED_BLOCKED
					       : SETTLED_NOT,
	       "response-ip %s %s", netblock_print(&f->rule->block, block),
	       zone_traits[f->action].word);
	if (!p->logs && !zone_traits[f->action].logged)
		return;
	querylog_address(netblock_print(&f->rule->block, block), zone_traits[f->action].word,
			 who->client, &m->q);
}

bool policy_doubts(const struct policy *p, const struct stored *s)
{
	return p->judges_addresses || (p->policed && policed_doubt(p->policed, s));
}

/* Applies response-ip. False: no rule matches. */
static bool judge_addresses(const struct policy *p, const struct policy_client *who,
			    const struct message *m, uint32_t now_s, struct arena *a,
			    struct judged *j)
{
	struct finding f;
	enum zone_rest rest;

	if (m->rcode != RCODE_NOERROR || !find_address(p, who, m, &f))
		return false;
	log_finding(p, who, &f, m);
	if (zone_traits[f.action].records == RECORDS_ALL) {
		redirect(p, m, &f, now_s, a, j);
		return true;
	}
	rest = zone_traits[f.action].rest;
	switch (rest <= REST_NXDOMAIN && f.embedded ? REST_NODATA : rest) {
	case REST_DROP:
		j->end = JUDGED_DROP;
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
	j->end = JUDGED_CHANGED;
	return true;
}

/* Aliases may lead to blocked names. */
static bool judge_aliases(const struct policy *p, const struct policy_client *who,
			  const struct message *m, uint32_t now_s, struct arena *a,
			  struct judged *j)
{
	const struct list_asker asker = { .rule = who->rule,
					  .from = &who->client->from,
					  .now_s = now_s };
	struct list_found f;

	if (LIKELY(!blocklists_exist(p->lists)) || m->q.class_ != CLASS_IN ||
	    !blocklists_block_message(p->lists, &asker, m, &f))
		return false;
	blocklist_count(who->stats, &f);
	blocklist_tell(&f, who->settled);
	if (p->logs)
		blocklist_log(&f, who->client, &m->q);
	j->m = blocklist_message(&f, m, now_s, a);
	j->end = j->m ? JUDGED_CHANGED : JUDGED_DROP;
	return true;
}

/* An answer left without the addresses that were made: as long as there are none, so long is this valid. */
static void bound(const struct message *own, struct arena *a, struct judged *j)
{
	const struct rrset *soa = own ? message_soa(own) : NULL;
	unsigned count = j->m->count[SECTION_ANSWER];
	struct message *new;
	struct rrset *copy;

	if (!soa || j->end != JUDGED_CHANGED || j->m->rcode != RCODE_NOERROR ||
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

void policy_judge(const struct policy *p, const struct policy_client *who, const struct message *m,
		  uint32_t now_s, struct arena *a, struct judged *j)
{
	bool policed = p->policed && !who->let_through;

	*j = (struct judged){ .end = JUDGED_AS_IS, .m = m };
	if ((m->security == SECURITY_BOGUS && !who->sees_bogus) ||
	    judge_aliases(p, who, m, now_s, a, j))
		return;
	if (policed && policy_zones_judge_aliases(p, who, m, now_s, a, j)) {
		if (j->end != JUDGED_AS_IS)
			return;
		policed = false; /* an rpz-passthru let it through */
	}
	if (!judge_addresses(p, who, m, now_s, a, j) && policed)
		policy_zones_judge_rest(p, who, m, now_s, a, j);
	bound(who->own, a, j);
}
