/* Telling clients of encrypted services: _dns.resolver.arpa SVCB (RFC 9462).
 * SPDX-License-Identifier: BSD-3-Clause */
#include "services/config/discovery.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "services/local/zones.h"
#include "services/net/interfaces.h"
#include "util/base/bytes.h"
#include "util/base/fault.h"
#include "util/base/log.h"
#include "util/conf/options.h"
#include "util/dns/dname.h"
#include "util/dns/rr.h"
#include "util/net/tls.h"

#define ZONE "resolver.arpa"
#define NAME "_dns." ZONE

enum { TTL_S = 300, RDATA_MOST = 2048, LINE_ROOM = 2 * RDATA_MOST + 128 };
/* SvcParamKeys of RFC 9460 14.3.2 and RFC 9461 */
enum { KEY_ALPN = 1, KEY_PORT = 3, KEY_IPV4HINT = 4, KEY_IPV6HINT = 6, KEY_DOHPATH = 7 };

/* ---- what is configured ---- */

static bool is_about(const char *text, const char *name)
{
	size_t len = strcspn(text, " \t");

	if (len && text[len - 1] == '.')
		len--;
	return len == strlen(name) && strncasecmp(text, name, len) == 0;
}

static bool names(const struct conf_list *list, const char *name)
{
	for (size_t i = 0; i < list->count; i++)
		if (is_about(list->items[i].text, name))
			return true;
	return false;
}

static bool is_written_down(const struct conf *conf)
{
	const struct conf_server *s = &conf->server;

	return names(&s->local_zone, ZONE) || names(&s->local_zone, NAME) ||
	       names(&s->local_data, NAME);
}

/* The configured name, else the one in the certificate: clients verify it. */
static bool find_target(const struct conf *conf, struct tls_server *server,
			uint8_t target[DNAME_MAX])
{
	const char *given = conf->server.designated_resolver_name;
	char own[256];

	if (*given)
		return dname_parse(target, given, NULL) != 0;
	return tls_server_name(server, own, sizeof own) && dname_parse(target, own, NULL) != 0;
}

/* ---- one record ---- */

static void write_param(struct writer *w, uint16_t key, const void *value, size_t len)
{
	write_u16(w, key);
	write_u16(w, (uint16_t)len);
	write_bytes(w, value, len);
}

static void write_alpn(struct writer *w, const char *name)
{
	uint8_t value[16];
	size_t len = strlen(name);

	value[0] = (uint8_t)len;
	memcpy(value + 1, name, len);
	write_param(w, KEY_ALPN, value, 1 + len);
}

static bool is_same_service(const struct interface *a, const struct interface *b)
{
	return a->service == b->service && a->addr.port == b->addr.port && a->proxied == b->proxied;
}

static bool is_for_others(const struct addr *a)
{
	bool is_link_local = a->family == 6 && a->ip[0] == 0xfe && (a->ip[1] & 0xc0) == 0x80;

	return !addr_is_loopback(a) && !is_link_local;
}

/* The service's addresses, as far as known; loopback and link-local ones only if there are no
 * others. */
static void write_hints(struct writer *w, const struct interfaces *where,
			const struct interface *at, uint8_t family)
{
	uint8_t value[512];
	size_t len = 0, size = family == 4 ? 4 : 16;
	bool has_others = false;

	for (size_t i = 0; i < where->count; i++)
		has_others |= is_same_service(&where->items[i], at) &&
			      is_for_others(&where->items[i].addr);
	for (size_t i = 0; i < where->count && len + size <= sizeof value; i++) {
		const struct interface *one = &where->items[i];

		if (!is_same_service(one, at) || one->many || one->addr.family != family ||
		    (has_others && !is_for_others(&one->addr)))
			continue;
		memcpy(value + len, one->addr.ip, size);
		len += size;
	}
	if (len)
		write_param(w, family == 4 ? KEY_IPV4HINT : KEY_IPV6HINT, value, len);
}

static void write_path(struct writer *w, const char *endpoint)
{
	static const char query[] = "{?dns}";
	size_t len = strlen(endpoint);

	write_u16(w, KEY_DOHPATH);
	write_u16(w, (uint16_t)(len + sizeof query - 1));
	write_bytes(w, endpoint, len);
	write_bytes(w, query, sizeof query - 1);
}

/* In the generic format of RFC 3597, which every parser of records understands. */
static void print_line(char *line, const struct writer *rdata)
{
	static const char hex[] = "0123456789abcdef";
	int len = snprintf(line, LINE_ROOM, NAME ". %d IN TYPE%d \\# %zu ", TTL_S, TYPE_SVCB,
			   writer_len(rdata));

	for (const uint8_t *at = rdata->start; at < rdata->at; at++) {
		line[len++] = hex[*at >> 4];
		line[len++] = hex[*at & 15];
	}
	line[len] = '\0';
}

struct telling {
	struct localzones *zones;
	const struct interfaces *where;
	const uint8_t *target;
	const char *endpoint;
	uint16_t priority;
};

static void put_service(struct telling *t, const struct interface *at)
{
	uint8_t room[RDATA_MOST];
	struct writer w = writer_over(room, sizeof room);
	char line[LINE_ROOM];
	uint8_t port[2];
	struct fault f = { 0 };

	put_u16(port, at->addr.port);
	write_u16(&w, ++t->priority);
	write_bytes(&w, t->target, dname_len(t->target));
	write_alpn(&w, at->service == SERVICE_TLS ? "dot" : "h2");
	write_param(&w, KEY_PORT, port, sizeof port);
	write_hints(&w, t->where, at, 4);
	write_hints(&w, t->where, at, 6);
	if (at->service == SERVICE_HTTPS)
		write_path(&w, t->endpoint);
	if (w.bad) {
		log_warn("designated-resolver: too many addresses");
		return;
	}
	print_line(line, &w);
	if (!localzones_put_record(t->zones, line, &f))
		log_warn("designated-resolver: %s", f.text);
}

/* ---- all services ---- */

static bool may_be_told(const struct interface *at)
{
	return (at->service == SERVICE_TLS || at->service == SERVICE_HTTPS) && !at->proxied;
}

/* One record per service and port, made for the first such interface. */
static void put_services(struct telling *t)
{
	for (size_t i = 0; i < t->where->count; i++) {
		bool is_first = may_be_told(&t->where->items[i]);

		for (size_t k = 0; k < i && is_first; k++)
			is_first = !is_same_service(&t->where->items[k], &t->where->items[i]);
		if (is_first)
			put_service(t, &t->where->items[i]);
	}
}

static bool is_served(const struct interfaces *where)
{
	for (size_t i = 0; i < where->count; i++)
		if (may_be_told(&where->items[i]))
			return true;
	return false;
}

void discovery_renew(struct localzones *zones, const struct conf *conf, struct tls_server *server)
{
	struct interfaces where;
	struct fault f = { 0 };
	uint8_t name[DNAME_MAX], target[DNAME_MAX];
	struct telling t = { .zones = zones,
			     .where = &where,
			     .target = target,
			     .endpoint = conf->server.http_endpoint };

	/* the lines themselves are shed once the zones are made */
	zones->is_spoken_for |= is_written_down(conf);
	if (zones->is_spoken_for)
		return;
	(void)dname_parse(name, NAME ".", NULL);
	localzones_remove_name(zones, name, CLASS_IN);
	if (!server || !conf->server.designated_resolver || !interfaces_find(&where, conf, &f))
		return;
	if (is_served(&where)) {
		if (find_target(conf, server, target))
			put_services(&t);
		else
			log_notice(
				"designated-resolver: DNS over TLS and HTTPS not advertised: no "
				"name in the certificate or designated-resolver-name");
	}
	interfaces_clear(&where);
}
