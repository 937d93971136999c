/* All that a loaded configuration becomes: each part built in its own file, held together here.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "services/query/snapshot.h"

#include <stdlib.h>
#include <string.h>

#include "services/access/acl.h"
#include "services/access/waitlimit.h"
#include "services/authzone/zones.h"
#include "services/config/discovery.h"
#include "services/config/tls.h"
#include "services/dnstap/dnstap.h"
#include "services/forward/forward.h"
#include "services/forward/server_text.h"
#include "services/forward/subnets.h"
#include "services/forward/zonelimits.h"
#include "services/local/zones.h"
#include "services/net/connection_limits.h"
#include "services/policy/policy.h"
#include "services/policy/views.h"
#include "util/base/arena.h"
#include "util/base/fault.h"
#include "util/base/mem.h"
#include "util/base/rcu.h"
#include "util/conf/options.h"
#include "util/dns/dname.h"
#include "util/dns/rr.h"
#include "util/dns/text.h"
#include "util/names/trie.h"
#include "util/net/tls.h"

/* What snapshots that differ only in their forwards share: everything else. */
struct shared {
	_Atomic uint32_t holders;
	struct snapshot made; /* as built; forwards NULL, pins unused */
	struct arena arena;   /* root hints */
};

struct whole {
	struct snapshot s;
	struct shared *shared;
	struct rcu_slot released;
};

static uint64_t next_number(void)
{
	static _Atomic uint32_t builds;

	return (uint64_t)atomic_fetch_add_explicit(&builds, 1, memory_order_relaxed) + 1;
}

/* ---- sets of names and netblocks ---- */

static struct trie *names_new(const char *option, const struct conf_list *list, struct fault *f)
{
	static char listed; /* any value other than NULL */
	struct trie *t = trie_new();
	struct fault why = { 0 };
	uint8_t name[DNAME_MAX];

	for (size_t i = 0; i < list->count; i++) {
		if (dname_parse(name, list->items[i].text, &why) == 0) {
			fault_set(f, "%s: '%s' is not a name: %s", option, list->items[i].text,
				  why.text);
			trie_free(t, NULL);
			return NULL;
		}
		trie_put(t, name, &listed);
	}
	return t;
}

static bool put_block(struct netset *s, const char *option, const char *text, struct fault *f)
{
	static char listed;
	struct netblock n;
	struct fault why = { 0 };

	if (!netblock_parse(&n, text, &why)) {
		fault_set(f, "%s: %s", option, why.text);
		return false;
	}
	netset_put(s, &n, &listed);
	return true;
}

static bool put_blocks(struct netset *s, const char *option, const struct conf_list *list,
		       struct fault *f)
{
	for (size_t i = 0; i < list->count; i++) {
		if (!put_block(s, option, list->items[i].text, f))
			return false;
	}
	return true;
}

/* ---- root servers ---- */

struct hints {
	struct arena *arena;
	struct root_hint *at;
	size_t count;
	/* contents of a hints file: root server names, and addresses by name */
	const uint8_t **servers;
	size_t server_count;
	struct root_hint *addrs;
	size_t addr_count;
};

static void add_hint(struct root_hint **list, size_t *count, struct arena *a, const uint8_t *name,
		     const struct addr *addr)
{
	*list = mem_grow(*list, (*count + 1) * sizeof(**list));
	(*list)[(*count)++] = (struct root_hint){
		.name = name,
		.addr = arena_copy(a, addr, sizeof(*addr)),
	};
}

static void builtin_hint(struct hints *h, const char *text, const char *ip4, const char *ip6)
{
	uint8_t wire[DNAME_MAX];
	size_t len = dname_parse(wire, text, NULL);
	const uint8_t *name = arena_copy(h->arena, wire, len);
	struct addr addr;

	PROMISE(len && addr_parse(&addr, ip4, 53, NULL));
	add_hint(&h->at, &h->count, h->arena, name, &addr);
	PROMISE(addr_parse(&addr, ip6, 53, NULL));
	add_hint(&h->at, &h->count, h->arena, name, &addr);
}

static bool take_hint(const struct text_rr *rr, void *arg)
{
	struct hints *h = arg;
	struct addr addr = { .port = 53 };
	const uint8_t *name;

	if (rr->class_ != CLASS_IN)
		return true;
	if (rr->type == TYPE_NS && dname_is_root(rr->owner)) {
		h->servers = mem_grow(h->servers, (h->server_count + 1) * sizeof(*h->servers));
		h->servers[h->server_count++] = arena_copy(h->arena, rr->rdata.at, rr->rdata.len);
		return true;
	}
	if (!(rr->type == TYPE_A && rr->rdata.len == 4) &&
	    !(rr->type == TYPE_AAAA && rr->rdata.len == 16))
		return true;
	addr.family = rr->type == TYPE_A ? 4 : 6;
	memcpy(addr.ip, rr->rdata.at, rr->rdata.len);
	name = arena_copy(h->arena, rr->owner, dname_len(rr->owner));
	add_hint(&h->addrs, &h->addr_count, h->arena, name, &addr);
	return true;
}

/* Inside a chroot the file has a different path. */
static bool read_hints(const struct conf *conf, const char *file, struct hints *h, struct fault *f)
{
	struct fault outside = { 0 };
	struct text_zone z;
	char *path = conf_path(conf, file);
	bool good;

	text_zone_init(&z);
	good = text_zone_read(path, &z, take_hint, h, &outside);
	mem_free(path);
	if (!good) {
		path = conf_path_inside(conf, file);
		text_zone_init(&z);
		good = text_zone_read(path, &z, take_hint, h, NULL);
		mem_free(path);
	}
	if (!good)
		fault_set(f, "root-hints: %s", outside.text);
	return good;
}

static bool find_hints(const struct conf *conf, struct hints *h, struct fault *f)
{
	const struct conf_list *files = &conf->server.root_hints;
	bool named = false;

	for (size_t i = 0; i < files->count; i++) {
		if (!*files->items[i].text)
			continue;
		named = true;
		if (!read_hints(conf, files->items[i].text, h, f))
			return false;
	}
	for (size_t i = 0; i < h->addr_count; i++) {
		for (size_t j = 0; j < h->server_count; j++) {
			if (dname_equals(h->addrs[i].name, h->servers[j])) {
				add_hint(&h->at, &h->count, h->arena, h->addrs[i].name,
					 h->addrs[i].addr);
				break;
			}
		}
	}
	if (named && h->count == 0) {
		fault_set(f, "root-hints: the file names no server of the root with an address");
		return false;
	}
	if (named)
		return true;
#define ROOT_SERVER(name, ip4, ip6) builtin_hint(h, name, ip4, ip6);
#include "services/forward/hints_builtin.def"
#undef ROOT_SERVER
	return true;
}

static bool hints_new(const struct conf *conf, struct shared *shared, struct fault *f)
{
	struct hints h = { .arena = &shared->arena };
	bool good = find_hints(conf, &h, f);

	if (good) {
		shared->made.hints = arena_copy(&shared->arena, h.at, h.count * sizeof(*h.at));
		shared->made.hint_count = h.count;
	}
	mem_free(h.at);
	mem_free(h.servers);
	mem_free(h.addrs);
	return good;
}

/* ---- smaller parts ---- */

static bool read_fetch_policy(struct snapshot *s, const char *text, struct fault *f)
{
	const char *at = text;

	s->target_fetch_count = 0;
	while (*(at += strspn(at, " \t"))) {
		char *end;
		long n = strtol(at, &end, 10);

		if (end == at || (*end && *end != ' ' && *end != '\t') || n < -1 || n > 1000000 ||
		    s->target_fetch_count == COUNT(s->target_fetch)) {
			fault_set(f,
				  "target-fetch-policy: '%s' is not a row of at most %zu numbers",
				  text, COUNT(s->target_fetch));
			return false;
		}
		s->target_fetch[s->target_fetch_count++] = (int)n;
		at = end;
	}
	return true;
}

static bool read_do_not_query(struct snapshot *s, const struct conf_server *c, struct fault *f)
{
	s->do_not_query = netset_new();
	if (c->do_not_query_localhost &&
	    (!put_block(s->do_not_query, "do-not-query-localhost", "127.0.0.0/8", f) ||
	     !put_block(s->do_not_query, "do-not-query-localhost", "::1", f)))
		return false;
	return put_blocks(s->do_not_query, "do-not-query-address", &c->do_not_query_address, f);
}

static bool read_private(struct snapshot *s, const struct conf_server *c, struct fault *f)
{
	s->private_domains = names_new("private-domain", &c->private_domain, f);
	if (!netblock_parse(&s->nat64, c->dns64_prefix, NULL))
		s->nat64.net.family = 0;
	if (c->private_address.count == 0)
		return s->private_domains != NULL;
	s->private_addresses = netset_new();
	return s->private_domains &&
	       put_blocks(s->private_addresses, "private-address", &c->private_address, f);
}

static void put_insecure(const uint8_t *name, void *trie)
{
	static char listed;

	trie_put(trie, name, &listed);
}

static bool read_insecure(struct snapshot *s, const struct conf_server *c, struct fault *f)
{
	s->domain_insecure = names_new("domain-insecure", &c->domain_insecure, f);
	if (s->domain_insecure && c->insecure_lan_zones)
		default_lan_zones(put_insecure, s->domain_insecure);
	if (s->domain_insecure)
		forwards_each_unproven(s->conf, NULL, put_insecure, s->domain_insecure);
	return s->domain_insecure;
}

static bool read_policy(struct snapshot *s, struct fault *f)
{
	s->acl = acl_new(s->conf, f);
	s->policy = policy_new(s->conf, f);
	if (!s->acl || !s->policy)
		return false;
	acl_bind_views(s->acl, views_find, s->policy->views);
	return true;
}

/* Also advertises TLS service to clients in the local zones, which exist by now. */
static bool read_tls(struct snapshot *s, const struct forwards *forwards, struct fault *f)
{
	if (!tls_conf_read(s, forwards, f))
		return false;
	discovery_renew(s->policy->zones, s->conf, s->tls_server);
	return true;
}

/* ---- building the whole ---- */

static void shared_release(struct shared *shared, bool with_conf)
{
	struct snapshot *s = &shared->made;

	if (atomic_fetch_sub_explicit(&shared->holders, 1, memory_order_acq_rel) != 1)
		return;
	if (with_conf)
		conf_free(s->conf);
	acl_free(s->acl);
	authzones_free(s->zones);
	policy_free(s->policy);
	connection_limits_unpin(s->connection_limits);
	waitrules_free(s->wait_rules);
	tls_client_unpin(s->tls_client);
	tls_client_unpin(s->dnstap_tls);
	tls_server_unpin(s->tls_server);
	netset_free(s->do_not_query);
	zonelimits_free(s->zone_limits);
	netset_free(s->server_texts);
	subnets_free(s->subnets);
	netset_free(s->private_addresses);
	trie_free(s->private_domains, NULL);
	trie_free(s->caps_exempt, NULL);
	trie_free(s->domain_insecure, NULL);
	trie_free(s->dns64_ignored, NULL);
	if (s->trust_free)
		s->trust_free(s->trust);
	mem_wipe(&s->cookies, sizeof s->cookies);
	arena_clear(&shared->arena);
	mem_free(shared);
}

static void whole_free(struct rcu_slot *released)
{
	struct whole *w = container_of(released, struct whole, released);

	forwards_free(w->s.forwards);
	shared_release(w->shared, true);
	mem_wipe(&w->s.cookies, sizeof w->s.cookies);
	mem_free(w);
}

static void whole_release(struct snapshot *s)
{
	rcu_release(&container_of(s, struct whole, s)->released, whole_free);
}

static struct snapshot *whole_new(struct shared *shared, struct forwards *forwards)
{
	struct whole *w = mem_zero(sizeof(*w));

	w->shared = shared;
	w->s = shared->made;
	w->s.forwards = forwards;
	w->s.limits_zones = zonelimits_exist(w->s.zone_limits);
	w->s.number = next_number();
	atomic_init(&w->s.pins, 1);
	w->s.release = whole_release;
	return &w->s;
}

struct snapshot *snapshot_new(struct conf *conf, struct fault *f)
{
	const struct conf_server *c = &conf->server;
	struct shared *shared = mem_zero(sizeof(*shared));
	struct snapshot *s = &shared->made;
	struct forwards *forwards;

	atomic_init(&shared->holders, 1);
	arena_init(&shared->arena);
	s->conf = conf;
	forwards = forwards_new(conf, f);
	if (forwards && (s->connection_limits = connection_limits_new(conf, f)) &&
	    (s->wait_rules = waitrules_new(conf, f)) &&
	    read_policy(s, f) && read_tls(s, forwards, f) && dnstap_check(conf, f) && read_do_not_query(s, c, f) &&
	    (s->zone_limits = zonelimits_new(conf, f)) &&
	    cookies_read(&s->cookies, conf, f) && server_texts_read(&s->server_texts, conf, f) &&
	    subnets_read(&s->subnets, conf, f) && read_private(s, c, f) && read_fetch_policy(s, c->target_fetch_policy, f) &&
	    (s->caps_exempt = names_new("caps-exempt", &c->caps_exempt, f)) &&
	    read_insecure(s, c, f) &&
	    (s->dns64_ignored = names_new("dns64-ignore-aaaa", &c->dns64_ignore_aaaa, f)) &&
	    hints_new(conf, shared, f) && (s->zones = authzones_new(conf, f))) {
		policy_bind_zones(s->policy, s->zones);
		return whole_new(shared, forwards);
	}
	forwards_free(forwards);
	shared_release(shared, false);
	return NULL;
}

struct snapshot *snapshot_with_forwards(struct snapshot *old, struct forwards *forwards)
{
	struct shared *shared = container_of(old, struct whole, s)->shared;

	struct snapshot *s;

	atomic_fetch_add_explicit(&shared->holders, 1, memory_order_relaxed);
	s = whole_new(shared, forwards);
	tls_conf_prepare(s);
	return s;
}

void snapshot_entrust(struct snapshot *s, struct trust_store *t, void (*free_trust)(struct trust_store *t))
{
	struct snapshot *made = &container_of(s, struct whole, s)->shared->made;

	s->trust = made->trust = t;
	made->trust_free = free_trust;
}

static bool same_list(const struct conf_list *a, const struct conf_list *b)
{
	for (size_t i = 0; a->count == b->count && i < a->count; i++)
		if (strcmp(a->items[i].text, b->items[i].text) != 0)
			return false;
	return a->count == b->count;
}

void snapshot_inherit(struct snapshot *s, const struct snapshot *old)
{
	const struct conf_server *a = &s->conf->server, *b = &old->conf->server;
	struct snapshot *made = &container_of(s, struct whole, s)->shared->made;

	if (!same_list(&a->tcp_connection_limit, &b->tcp_connection_limit) ||
	    !same_list(&a->proxy_protocol_from, &b->proxy_protocol_from) ||
	    a->tcp_connections_per_client != b->tcp_connections_per_client)
		return;
	connection_limits_exchange(&made->connection_limits, old->connection_limits);
	s->connection_limits = made->connection_limits;
}

