/* Which options shape what is cached, and so what a change of the configuration makes untrue.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "daemon/process/shape.h"

#include <stdio.h>
#include <string.h>

#include "iterator/scrub_set.h"
#include "services/authzone/changes.h"
#include "services/authzone/zones.h"
#include "services/cache/forget.h"
#include "services/forward/forward.h"
#include "services/policy/policy.h"
#include "services/policy/rpz_match.h"
#include "services/policy/views.h"
#include "services/query/snapshot.h"
#include "util/base/hash.h"
#include "util/base/mem.h"
#include "util/base/rcu.h"
#include "util/conf/options.h"
#include "util/dns/dname.h"
#include "util/dns/rr.h"
#include "util/names/trie.h"
#include "validator/trust.h"

enum shape { FAILURES, ANSWERS, SHAPES, VALIDATES, BY_NAME, BY_TRUST, COMPARED };

struct row {
	const char *name;
	enum shape shape;
};

/* Most shape nothing, and an option without a row does not either. */
#define ROW_NOTHING(option)
#define ROW_FAILURES(option)  { #option, FAILURES },
#define ROW_ANSWERS(option)   { #option, ANSWERS },
#define ROW_SHAPES(option)    { #option, SHAPES },
#define ROW_VALIDATES(option) { #option, VALIDATES },
#define ROW_BY_NAME(option)   { #option, BY_NAME },
#define ROW_BY_TRUST(option)  { #option, BY_TRUST },
#define ROW_COMPARED(option)  { #option, COMPARED },

static const struct row rows[] = {
#define SHAPE(option, what) ROW_##what(option)
#include "daemon/process/shape.def"
#undef SHAPE
};

/* The tables have '_' where users write '-'. */
static bool is_named(const struct row *r, const char *option)
{
	const char *a = r->name;

	for (; *a && *option; a++, option++)
		if (*a != (*option == '-' ? '_' : *option))
			return false;
	return *a == *option;
}

/* ---- options ---- */

struct comparing {
	const struct snapshot *old;
	struct snapshot *next;
	struct forget *f;
	int scope;
	const void *with; /* the other table, in a walk over one */
};

static void below(struct comparing *c, const uint8_t *name)
{
	forget_below(c->f, name, c->scope);
}

static bool has_text(const struct conf_list *list, const char *text)
{
	for (size_t i = 0; i < list->count; i++)
		if (strcmp(list->items[i].text, text) == 0)
			return true;
	return false;
}

/* The names in `a` that are not in `b`. */
static void names_apart(struct comparing *c, const struct conf_list *a, const struct conf_list *b)
{
	uint8_t name[DNAME_MAX];

	for (size_t i = 0; i < a->count; i++)
		if (!has_text(b, a->items[i].text) && dname_parse(name, a->items[i].text, NULL))
			below(c, name);
}

static void compare_names(struct comparing *c)
{
	const struct conf_server *a = &c->old->conf->server, *b = &c->next->conf->server;

	names_apart(c, &a->client_subnet_zone, &b->client_subnet_zone);
	names_apart(c, &b->client_subnet_zone, &a->client_subnet_zone);
	names_apart(c, &a->dns64_ignore_aaaa, &b->dns64_ignore_aaaa);
	names_apart(c, &b->dns64_ignore_aaaa, &a->dns64_ignore_aaaa);
	names_apart(c, &a->private_domain, &b->private_domain);
	names_apart(c, &b->private_domain, &a->private_domain);
}

static void on_option(void *arg, const char *name)
{
	struct comparing *c = arg;

	for (size_t i = 0; i < COUNT(rows); i++) {
		if (!is_named(&rows[i], name))
			continue;
		switch (rows[i].shape) {
		case FAILURES:
			forget_kinds(c->f, FORGET_FAILURES);
			break;
		case ANSWERS:
			forget_kinds(c->f, FORGET_ANSWERS);
			break;
		case SHAPES:
		case VALIDATES:
			forget_kinds(c->f, FORGET_EVERYTHING);
			break;
		case BY_NAME:
		case BY_TRUST:
		case COMPARED:
			break;
		}
		return;
	}
}

/* ---- values ---- */

static bool is_private(const void *snapshot, const uint8_t *owner, uint16_t type, struct slice rd)
{
	return scrub_record_is_private(snapshot, owner, type, rd);
}

static void unpin(void *snapshot)
{
	snapshot_unpin(snapshot);
}

/* What was taken out of answers is gone: without a block any may have more than is known. */
static bool has_address(const void *none, const uint8_t *owner, uint16_t type, struct slice rd)
{
	(void)none;
	(void)owner;
	(void)rd;
	return type == TYPE_A || type == TYPE_AAAA || type == TYPE_SVCB || type == TYPE_HTTPS;
}

static bool lacks_some(const struct conf_list *a, const struct conf_list *b)
{
	for (size_t i = 0; i < b->count; i++)
		if (!has_text(a, b->items[i].text))
			return true;
	return false;
}

static void compare_private(struct comparing *c)
{
	const struct conf_list *a = &c->old->conf->server.private_address,
			       *b = &c->next->conf->server.private_address;

	if (lacks_some(b, a)) {
		forget_records(c->f, &(struct forget_records){ .goes = has_address });
		forget_kinds(c->f, FORGET_ANSWERS | FORGET_DENIALS);
	} else if (lacks_some(a, b)) {
		forget_records(c->f, &(struct forget_records){ .goes = is_private,
							       .free_arg = unpin,
							       .arg = snapshot_pin(c->next) });
	}
}

/* TTLs that are shorter than they may be now contradict nothing. */
static void compare_limits(struct comparing *c)
{
	const struct conf_server *a = &c->old->conf->server, *b = &c->next->conf->server;

	if (b->serve_original_ttl)
		return;
	if (b->cache_max_ttl < a->cache_max_ttl)
		forget_longer(c->f, b->cache_max_ttl, b->cache_max_ttl);
	if (b->cache_max_negative_ttl < a->cache_max_negative_ttl)
		forget_longer(c->f, UINT32_MAX, b->cache_max_negative_ttl);
	if (b->cache_min_ttl < a->cache_min_ttl)
		forget_raised(c->f, a->cache_min_ttl, b->cache_min_ttl);
	if (b->cache_min_negative_ttl < a->cache_min_negative_ttl)
		forget_kinds(c->f, FORGET_DENIALS);
	if (b->val_bogus_ttl < a->val_bogus_ttl)
		forget_kinds(c->f, FORGET_BOGUS);
}

/* ---- trust ---- */

static bool put_if_absent(const uint8_t *name, void *value, void *comparing)
{
	struct comparing *c = comparing;

	(void)value;
	if (!c->with || !trie_find(c->with, name))
		below(c, name);
	return true;
}

static void compare_insecure(struct comparing *c, const struct trie *a, const struct trie *b)
{
	c->with = b;
	if (a)
		trie_each(a, put_if_absent, c);
	c->with = a;
	if (b)
		trie_each(b, put_if_absent, c);
}

static void on_anchor(const uint8_t *owner, void *comparing)
{
	below(comparing, owner);
}

/* Validation itself comes and goes with the anchors. */
static void compare_trust(struct comparing *c)
{
	const struct trust_store *a = c->old->trust, *b = c->next->trust;

	if (a == b)
		return;
	if (!a || !b || !rules_are_same(&a->rules, &b->rules)) {
		forget_kinds(c->f, FORGET_EVERYTHING);
		return;
	}
	rcu_turn_begin();
	anchors_each_difference(a->anchors, b->anchors, on_anchor, c);
	rcu_turn_end();
}

/* ---- forward and stub zones ---- */

static bool same_text(const char *a, const char *b)
{
	return a && b ? strcmp(a, b) == 0 : a == b;
}

static bool same_server(const struct forward_server *a, const struct forward_server *b)
{
	if (a->port != b->port || !same_text(a->tls_name, b->tls_name) || !same_text(a->http_path, b->http_path) ||
	    !a->host != !b->host)
		return false;
	return addr_equals(&a->addr, &b->addr) && (!a->host || dname_equals(a->host, b->host));
}

static bool same_zone(const struct forward_zone *a, const struct forward_zone *b)
{
	if (a->server_count != b->server_count || a->is_stub != b->is_stub || a->first != b->first ||
	    a->no_cache != b->no_cache || a->transport != b->transport || a->prime != b->prime)
		return false;
	for (size_t i = 0; i < a->server_count; i++)
		if (!same_server(&a->servers[i], &b->servers[i]))
			return false;
	return true;
}

static bool put_if_other(const struct forward_zone *z, void *comparing)
{
	struct comparing *c = comparing;
	const struct forward_zone *other =
		c->with ? forwards_find_kind(c->with, z->name, z->is_stub) : NULL;

	if (!other || !same_zone(z, other))
		below(c, z->name);
	return true;
}

static void compare_forwards(struct comparing *c, const struct forwards *a, const struct forwards *b)
{
	if (a == b)
		return;
	c->with = b;
	if (a)
		forwards_each(a, put_if_other, c);
	c->with = a;
	if (b)
		forwards_each(b, put_if_other, c);
}

/* ---- views with caches of their own ---- */

static const struct view *view_in(const struct snapshot *s, uint8_t scope)
{
	return s->policy && s->policy->views ? views_of_scope(s->policy->views, scope) : NULL;
}

static void compare_view(struct comparing *c, const struct view *a, const struct view *b)
{
	if (!a || !b)
		return; /* a scope that comes has nothing cached, and one that goes is not asked for */
	if (a->proves_nothing != b->proves_nothing || a->permissive != b->permissive)
		below(c, dname_root);
	compare_forwards(c, a->forwards, b->forwards);
	compare_insecure(c, a->insecure ? a->insecure : c->old->domain_insecure,
			 b->insecure ? b->insecure : c->next->domain_insecure);
}

/* One that lost its ways and got others later must not find what it had before. */
static void compare_views(struct comparing *c)
{
	unsigned highest = 0;

	if (c->old->policy && c->old->policy->views)
		highest = views_highest_scope(c->old->policy->views);
	for (unsigned scope = 1; scope <= highest; scope++) {
		const struct view *a = view_in(c->old, (uint8_t)scope), *b = view_in(c->next, (uint8_t)scope);

		c->scope = (int)scope;
		if (a && !b)
			below(c, dname_root);
		compare_view(c, a, b);
	}
	c->scope = FORGET_EVERY_SCOPE;
}

/* ---- zones held here ---- */

static bool same_held(const struct authzone *a, const struct authzone *b)
{
	return a->falls_back == b->falls_back && a->downstream == b->downstream &&
	       a->upstream == b->upstream && a->wants_digest == b->wants_digest &&
	       a->needs_digest == b->needs_digest && same_text(a->path, b->path) &&
	       !authzone_stored(a) == !authzone_stored(b);
}

static void held_apart(struct comparing *c, const struct authzones *a, const struct authzones *b)
{
	for (size_t i = 0; i < a->first_policy; i++) {
		const struct authzone *other = authzones_find_exact(b, a->items[i].name);

		if (!other || !same_held(&a->items[i], other))
			below(c, a->items[i].name);
	}
}

/* Serial numbers do not tell: whoever edits a file may forget it. */
static void compare_records(struct comparing *c, const struct authzones *a, const struct authzones *b)
{
	for (size_t i = 0; i < a->first_policy; i++) {
		const struct authzone *other = authzones_find_exact(b, a->items[i].name);
		const struct zonedata *was = authzone_stored(&a->items[i]);
		const struct zonedata *is = other ? authzone_stored(other) : NULL;

		if (was && is && was != is)
			authzone_changes(was, is, c->f);
	}
}

/* What a policy zone with rules about servers would say of a cached answer cannot be known. */
static void compare_held(struct comparing *c)
{
	const struct authzones *a = c->old->zones, *b = c->next->zones;

	if (!a || !b || a == b)
		return;
	rcu_turn_begin();
	held_apart(c, a, b);
	held_apart(c, b, a);
	compare_records(c, a, b);
	if (rpz_match_zones_name_servers(b) && !rpz_match_zones_name_servers(a))
		forget_kinds(c->f, FORGET_ANSWERS);
	rcu_turn_end();
}

struct forget *shape_compare(const struct snapshot *old, struct snapshot *next, uint32_t now_s)
{
	struct comparing c = { .old = old,
			       .next = next,
			       .f = forget_new(now_s),
			       .scope = FORGET_EVERY_SCOPE };

	if (old->conf != next->conf) {
		conf_compare(old->conf, next->conf, on_option, &c);
		compare_names(&c);
		compare_private(&c);
		compare_limits(&c);
	}
	compare_trust(&c);
	if (old->domain_insecure != next->domain_insecure)
		compare_insecure(&c, old->domain_insecure, next->domain_insecure);
	compare_forwards(&c, old->forwards, next->forwards);
	if (old->policy != next->policy)
		compare_views(&c);
	compare_held(&c);
	if (!forget_is_empty(c.f))
		return c.f;
	forget_free(c.f);
	return NULL;
}

/* ---- the cache file ---- */

struct mark {
	uint64_t value;
};

/* Hash `text` into the mark. The result is the same on every machine. */
static void mix(struct mark *m, const char *text)
{
	static const uint8_t key[16] = "who judges, how";
	uint8_t sum[8], from[8];
	char *both;

	put_u32(from, (uint32_t)(m->value >> 32));
	put_u32(from + 4, (uint32_t)m->value);
	both = mem_textf("%08x%08x %s", get_u32(from), get_u32(from + 4), text);
	hash_shared(sum, both, strlen(both), key);
	mem_free(both);
	m->value = (uint64_t)get_u32(sum) << 32 | get_u32(sum + 4);
}

static void mix_value(void *mark, const char *text)
{
	mix(mark, text);
}

static void mix_options(struct mark *m, const struct conf *conf, unsigned shapes)
{
	char name[64];

	for (size_t i = 0; i < COUNT(rows); i++) {
		if (!(shapes & 1u << rows[i].shape))
			continue;
		snprintf(name, sizeof name, "%s", rows[i].name);
		for (char *at = name; *at; at++)
			if (*at == '_')
				*at = '-';
		mix(m, name);
		(void)conf_get_option(conf, name, mix_value, m);
	}
}

static void mix_list(struct mark *m, const struct conf_list *list)
{
	for (size_t i = 0; i < list->count; i++)
		mix(m, list->items[i].text);
	mix(m, "");
}

static bool mix_anchor(const struct anchor *anchor, void *mark)
{
	char name[DNAME_TEXT];

	mix(mark, dname_print(anchor->owner, name));
	return true;
}

uint64_t shape_validation(const struct snapshot *s)
{
	struct mark m = { 0 };

	mix_options(&m, s->conf, 1u << VALIDATES | 1u << BY_TRUST);
	mix(&m, s->trust ? "validates" : "believes");
	if (s->trust)
		anchors_each(s->trust->anchors, mix_anchor, &m);
	return m.value;
}

/* Of the limits of TTLs only the lowest matters: reading heeds the others. */
uint32_t shape_mark(const struct snapshot *s)
{
	struct mark m = { 0 };

	mix_options(&m, s->conf, 1u << SHAPES | 1u << ANSWERS | 1u << BY_NAME);
	mix(&m, "private-address");
	mix_list(&m, &s->conf->server.private_address);
	return (uint32_t)m.value;
}

/* ---- and its zones ---- */

static bool add_forward(const struct forward_zone *z, void *zones)
{
	struct mark m = { 0 };
	char addr[ADDR_TEXT], host[DNAME_TEXT];

	mix(&m, z->is_stub ? "stub" : "forward");
	mix(&m, z->first ? "first" : "");
	mix(&m, z->no_cache ? "no cache" : "");
	for (size_t i = 0; i < z->server_count; i++) {
		const struct forward_server *s = &z->servers[i];

		mix(&m, s->host ? dname_print(s->host, host) : addr_print(&s->addr, 0, addr));
		mix(&m, s->tls_name ? s->tls_name : "");
		mix(&m, s->http_path ? s->http_path : "");
	}
	keptzones_add(zones, z->name, m.value);
	return true;
}

static void add_held(struct keptzones *zones, const struct authzone *z)
{
	struct mark m = { 0 };

	mix(&m, "auth");
	mix(&m, z->falls_back ? "falls back" : "");
	mix(&m, z->downstream ? "downstream" : "");
	mix(&m, z->upstream ? "upstream" : "");
	mix(&m, z->path);
	mix_list(&m, z->primaries);
	mix_list(&m, z->urls);
	keptzones_add(zones, z->name, m.value);
}

struct keptzones shape_zones(const struct snapshot *s)
{
	struct keptzones zones = { 0 };

	if (s->forwards)
		forwards_each(s->forwards, add_forward, &zones);
	for (size_t i = 0; s->zones && i < s->zones->first_policy; i++)
		add_held(&zones, &s->zones->items[i]);
	return zones;
}
