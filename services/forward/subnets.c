/* Which servers are sent client subnets: two lists, and prefix limits per address family.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "services/forward/subnets.h"

#include <string.h>

#include "util/base/fault.h"
#include "util/base/mem.h"
#include "util/conf/options.h"
#include "util/dns/dname.h"
#include "util/dns/edns.h"
#include "util/names/trie.h"

struct bounds {
	uint32_t least, most, kept;
};

struct subnets {
	struct netset *servers;
	struct trie *names;
	bool always_forward;
	struct bounds ip4, ip6;
};

bool subnets_configured(const struct conf *conf)
{
	static const char name[] = "subnetcache";
	const char *config = conf->server.module_config;

	for (const char *at = config; *(at += strspn(at, " \t")); at += strcspn(at, " \t"))
		if (strcspn(at, " \t") == sizeof(name) - 1 &&
		    memcmp(at, name, sizeof(name) - 1) == 0)
			return true;
	return false;
}

static bool read_servers(struct netset *to, const struct conf_list *list, struct fault *f)
{
	static char listed; /* any value other than NULL */
	struct fault why = { 0 };
	struct netblock n;

	for (size_t i = 0; i < list->count; i++) {
		if (!netblock_parse(&n, list->items[i].text, &why)) {
			fault_set(f, "send-client-subnet: %s", why.text);
			return false;
		}
		netset_put(to, &n, &listed);
	}
	return true;
}

static bool read_names(struct trie *to, const struct conf_list *list, struct fault *f)
{
	static char listed;
	struct fault why = { 0 };
	uint8_t name[DNAME_MAX];

	for (size_t i = 0; i < list->count; i++) {
		if (dname_parse(name, list->items[i].text, &why) == 0) {
			fault_set(f, "client-subnet-zone: '%s' is not a name: %s",
				  list->items[i].text, why.text);
			return false;
		}
		trie_put(to, name, &listed);
	}
	return true;
}

/* If no server is sent subnets, queries need not be examined. */
static bool tells_anybody(const struct conf_server *c)
{
	return c->send_client_subnet.count || c->client_subnet_zone.count || c->client_subnet_always_forward;
}

bool subnets_read(struct subnets **to, const struct conf *conf, struct fault *f)
{
	const struct conf_server *c = &conf->server;
	struct subnets *s;

	*to = NULL;
	if (!subnets_configured(conf) || !tells_anybody(c))
		return true;
	*to = s = mem_zero(sizeof(*s));
	s->servers = netset_new();
	s->names = trie_new();
	s->always_forward = c->client_subnet_always_forward;
	s->ip4 = (struct bounds){ c->min_client_subnet_ipv4, c->max_client_subnet_ipv4,
				  c->max_ecs_tree_size_ipv4 };
	s->ip6 = (struct bounds){ c->min_client_subnet_ipv6, c->max_client_subnet_ipv6,
				  c->max_ecs_tree_size_ipv6 };
	return read_servers(s->servers, &c->send_client_subnet, f) &&
	       read_names(s->names, &c->client_subnet_zone, f);
}

void subnets_free(struct subnets *s)
{
	if (!s)
		return;
	netset_free(s->servers);
	trie_free(s->names, NULL);
	mem_free(s);
}

static const struct bounds *bounds_of(const struct subnets *s, unsigned family)
{
	return family == 6 ? &s->ip6 : &s->ip4;
}

enum client_subnet_end subnets_locate(const struct subnets *s, const struct edns *e,
				    const struct addr *client, struct client_subnet *w)
{
	const struct bounds *b;
	struct slice data;

	memset(w, 0, sizeof(*w));
	if (!e->options.len || !edns_find_option(e, EDNS_CLIENT_SUBNET, &data)) {
		w->shown = subnet_of(client, bounds_of(s, client->family)->most);
		return CLIENT_SUBNET_GOOD;
	}
	if (!subnet_read(&w->said, &data))
		return CLIENT_SUBNET_MALFORMED;
	w->said.scope = 0; /* means nothing in a query (RFC 7871 6) */
	b = bounds_of(s, w->said.family == 2 ? 6 : 4);
	if (w->said.source && w->said.source < b->least) {
		w->shown = subnet_of(client, bounds_of(s, client->family)->most);
		return CLIENT_SUBNET_SHORT;
	}
	w->has_option = true;
	w->forwarded = s->always_forward;
	w->shown = subnet_to_send(&w->said, b->most);
	return CLIENT_SUBNET_GOOD;
}

bool subnets_name(const struct subnets *s, const uint8_t *name)
{
	return trie_count(s->names) && trie_find_closest(s->names, name);
}

bool subnets_may_send(const struct subnets *s, const struct subnets_server *server, const uint8_t *name)
{
	if (netset_find(s->servers, server->at))
		return true;
	return subnets_name(s, name) && (server->forwards || subnets_name(s, server->zone));
}

struct subnet_key subnets_place(const struct subnets *s, const struct netblock *shown,
				unsigned scope)
{
	unsigned most = bounds_of(s, shown->net.family)->most;

	scope = MIN(scope, most);
	return (struct subnet_key){ .net = subnet_of(&shown->net, MIN(scope, (unsigned)shown->bits)),
				    .coarse = scope > shown->bits || shown->bits == 0,
				    .scope = (uint8_t)scope };
}

uint32_t subnets_most(const struct subnets *s, unsigned family)
{
	return bounds_of(s, family)->kept;
}
