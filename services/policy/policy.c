/* What is answered without resolving.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "services/policy/policy.h"

#include "services/authzone/zones.h"
#include "services/history/decision.h"
#include "services/history/querylog.h"
#include "services/net/client.h"
#include "services/policy/rpz_apply.h"
#include "services/policy/response_ip.h"
#include "services/policy/rpz_match.h"
#include "services/policy/views.h"
#include "util/base/arena.h"
#include "util/base/fault.h"
#include "util/base/log.h"
#include "util/base/mem.h"
#include "util/base/rcu.h"
#include "util/conf/options.h"
#include "util/dns/rr.h"

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
	p->has_answer_rules = p->has_address_rules = p->addresses || views_have_address_rules(p->views);
	return p;
}

void policy_bind_zones(struct policy *p, const struct authzones *zones)
{
	if (!rpz_match_exist(zones))
		return;
	p->rpz = zones;
	p->has_answer_rules = true;
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

static void tell_wrong(void *arg, size_t number, const char *line, const char *why)
{
	(void)arg;
	(void)number;
	(void)line;
	log_warn("local-data: %s", why);
}

static void put_data(struct localzones *z, const struct conf_list *data)
{
	const struct record_ends ends = { .wrong = tell_wrong };
	struct record_batch *b = record_batch_new();

	for (size_t i = 0; i < data->count; i++) {
		struct fault f = { 0 };

		if (!record_batch_read(b, data->items[i].text, 0, &f))
			log_warn("local-data: %s", f.text);
	}
	record_batch_put(b, z, &ends);
	record_batch_free(b);
}

void policy_inherit(struct policy *p, const struct policy *old, const struct conf *conf)
{
	const struct conf_list *zones = &conf->server.local_zone, *data = &conf->server.local_data;

	localzones_unpin(p->zones);
	p->zones = localzones_pin(old->zones);
	views_inherit(p->views, old->views);
	for (size_t i = 0; i < zones->count; i++)
		put_line(p->zones, zones->items[i].text);
	put_data(p->zones, data);
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
	struct alias_prefix *aliases;
	struct question q; /* currently looked up */
	struct found f;
};

/* Writes the aliases, `last`, and an RRset for AUTHORITY; the last two may be NULL. TTLs are
 * relative to time 0. */
static enum policy_end say(const struct walk *w, const struct rrset *last,
			   const struct rrset *authority, enum rcode rcode)
{
	const struct rrset *sets[ALIAS_PREFIX_MOST + 2];
	struct message m = { .flags = FLAG_AA,
			     .rcode = (uint16_t)rcode,
			     .q = w->to->request->q,
			     .sets = sets,
			     .security = SECURITY_INSECURE };
	struct answer_to to = *w->to;
	unsigned count = 0;

	while (count < w->aliases->count) {
		sets[count] = w->aliases->sets[count];
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
		m.reason_text = "the CNAME expanded from a wildcard is too long";
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
	return w->aliases->count ? POLICY_FOLLOW : POLICY_PASS;
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
	return w->aliases->count && before->zones == w->f.zones &&
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

	decision_note(w->who->decision,
	       (s ? is_null_address(s) : hides(w->f.type)) ? DECIDED_BLOCKED : DECIDED_HERE,
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
	for (unsigned i = 0; i < w->aliases->count; i++) {
		if (dname_equals(rrset_owner(w->aliases->sets[i]), w->q.name))
			return true;
	}
	return false;
}

bool policy_has_local(const struct policy *p, const struct policy_client *who,
		      const struct question *q)
{
	struct walk w = { .p = p, .who = who, .q = *q };
	const struct localnode *n;

	if (!find_zone(p, who, q, &w.f))
		return false;
	n = node_of(&w);
	switch (find_set(&w) ? REST_NODATA : zone_traits[w.f.type].rest) {
	case REST_ASK:
	case REST_TRUNCATE:
		return false;
	case REST_ASK_TYPES:
		return localnode_count(n) > 0;
	case REST_NO_A:
		return q->type == TYPE_A;
	case REST_NO_AAAA:
		return q->type == TYPE_AAAA;
	default:
		return true;
	}
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
		if (w->aliases->count == 0)
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
		if (!alias_prefix_add(w->aliases, w->a, s))
			return send_failure(w);
		go_on_at(w, w->aliases->target);
		if (comes_back(w))
			return send_failure(w);
	}
}

static enum policy_end answer_locally(const struct policy *p, const struct policy_client *who,
				      const struct answer_to *to, struct writer *out,
				      struct arena *a, struct alias_prefix *aliases)
{
	struct walk w = {
		.p = p, .who = who, .to = to, .out = out, .a = a, .aliases = aliases, .q = to->request->q
	};

	*aliases = (struct alias_prefix){ .authoritative = true };
	return walk_zones(&w);
}

enum policy_end policy_answer(const struct policy *p, const struct policy_client *who,
			      const struct answer_to *to, struct writer *out, struct arena *a,
			      struct alias_prefix *aliases)
{
	enum policy_end end = answer_locally(p, who, to, out, a, aliases);

	if (end == POLICY_FOLLOW && p->rpz)
		aliases->rpz_passed = rpz_apply_spare(p, who, &to->request->q);
	if (end != POLICY_PASS || !p->rpz)
		return end;
	return rpz_apply_answer(p, who, to, out, a, aliases);
}
