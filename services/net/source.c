/* Source addresses and ports of queries to other servers.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "services/net/source.h"

#include "services/net/interfaces.h"
#include "util/base/fault.h"
#include "util/base/log.h"
#include "util/base/mem.h"
#include "util/base/random.h"
#include "util/conf/options.h"

#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

enum { PORT_COUNT = 65536, PORT_FIRST = 1024 };

/* Netblocks of one address family; a single address is a netblock of full length. */
struct blocks {
	struct netblock *items;
	size_t count;
};

struct sources {
	struct blocks v4, v6;
	uint16_t *ports;
	size_t port_count;
};

/*
 * Ports.
 */

static void allow(bool *allowed, unsigned first, unsigned last, bool yes)
{
	for (unsigned p = first; p <= last && p < PORT_COUNT; p++)
		allowed[p] = yes;
}

/* "N" or "N-M", already checked by the configuration. */
static void allow_text(bool *allowed, const char *text, bool yes)
{
	char *end;
	unsigned long first = strtoul(text, &end, 10), last = first;

	if (*end == '-')
		last = strtoul(end + 1, NULL, 10);
	allow(allowed, (unsigned)MIN(first, 65535UL), (unsigned)MIN(last, 65535UL), yes);
}

/* Applies both lists in file order. */
static void allow_configured(bool *allowed, const struct conf_list *permit,
			     const struct conf_list *avoid)
{
	size_t p = 0, a = 0;

	while (p < permit->count || a < avoid->count) {
		bool permits =
			a == avoid->count ||
			(p < permit->count && permit->items[p].order < avoid->items[a].order);

		if (permits)
			allow_text(allowed, permit->items[p++].text, true);
		else
			allow_text(allowed, avoid->items[a++].text, false);
	}
}

static void find_ports(struct sources *s, const struct conf *conf)
{
	bool *allowed = mem_array(PORT_COUNT, sizeof(bool));

	allow(allowed, PORT_FIRST, PORT_COUNT - 1, true);
#define PORTS(first, last) allow(allowed, first, last, false);
#include "services/net/registered_ports.def"
#undef PORTS
	allow_configured(allowed, &conf->server.outgoing_port_permit,
			 &conf->server.outgoing_port_avoid);
	s->ports = mem_array(PORT_COUNT, sizeof(uint16_t));
	for (unsigned p = 1; p < PORT_COUNT; p++)
		if (allowed[p])
			s->ports[s->port_count++] = (uint16_t)p;
	mem_free(allowed);
	s->ports = mem_grow(s->ports, MAX(s->port_count, (size_t)1) * sizeof(uint16_t));
	if (!s->port_count)
		log_warn("no port left for upstream queries: see outgoing-port-permit and "
			 "outgoing-port-avoid");
}

void source_allow_drawn(int fd)
{
	const int on = 1;

#if defined(IPV6_FREEBIND)
	(void)setsockopt(fd, IPPROTO_IPV6, IPV6_FREEBIND, &on, sizeof on);
#elif HAVE_DECL_IP_FREEBIND
	(void)setsockopt(fd, IPPROTO_IP, IP_FREEBIND, &on, sizeof on);
#elif defined(IPV6_BINDANY)
	(void)setsockopt(fd, IPPROTO_IPV6, IPV6_BINDANY, &on, sizeof on);
#elif HAVE_DECL_SO_BINDANY
	(void)setsockopt(fd, SOL_SOCKET, SO_BINDANY, &on, sizeof on);
#else
	(void)fd, (void)on;
#endif
}

uint16_t sources_port(const struct sources *s, struct random *random)
{
	return s->port_count ? s->ports[random_below(random, (uint32_t)s->port_count)] : 0;
}

size_t sources_port_count(const struct sources *s)
{
	return s->port_count;
}

/*
 * Addresses.
 */

static void put_block(struct sources *s, const struct netblock *n)
{
	struct blocks *b = n->net.family == 6 ? &s->v6 : &s->v4;

	b->items = mem_grow(b->items, (b->count + 1) * sizeof(*b->items));
	b->items[b->count++] = *n;
}

static void put_address(void *arg, const struct addr *a)
{
	struct netblock n = { .net = *a, .bits = a->family == 6 ? 128 : 32 };

	n.net.port = 0;
	put_block(arg, &n);
}

struct sources *sources_new(const struct conf *conf, bool with_ports)
{
	const struct conf_list *list = &conf->server.outgoing_interface;
	struct sources *s = mem_zero(sizeof(*s));

	for (size_t i = 0; i < list->count; i++) {
		const char *text = list->items[i].text;
		struct fault f = { 0 };
		struct netblock n;

		if (strchr(text, '/') && netblock_parse(&n, text, &f))
			put_block(s, &n);
		else if (!interface_expand(text, 0, true, true, put_address, s, &f))
			log_warn("outgoing-interface %s ignored: %s", text, f.text);
	}
	if (with_ports)
		find_ports(s, conf);
	return s;
}

void sources_free(struct sources *s)
{
	if (!s)
		return;
	mem_free(s->v4.items);
	mem_free(s->v6.items);
	mem_free(s->ports);
	mem_free(s);
}

/* Fill the bits after the netblock's prefix at random. */
static void draw_host(struct addr *a, unsigned bits, struct random *random)
{
	uint8_t drawn[16];

	random_bytes(random, drawn, sizeof(drawn));
	for (unsigned i = bits; i < 128; i++) {
		uint8_t bit = (uint8_t)(0x80 >> i % 8);

		a->ip[i / 8] = (uint8_t)((a->ip[i / 8] & ~bit) | (drawn[i / 8] & bit));
	}
}

bool sources_address(const struct sources *s, struct random *random, uint8_t family,
		     struct addr *out, bool *is_drawn)
{
	const struct blocks *b = family == 6 ? &s->v6 : &s->v4;
	const struct netblock *n;

	*is_drawn = false;
	*out = (struct addr){ .family = family };
	if (!s->v4.count && !s->v6.count)
		return true;
	if (!b->count)
		return false;
	n = &b->items[b->count > 1 ? random_below(random, (uint32_t)b->count) : 0];
	*out = n->net;
	if (family == 6 && n->bits < 128) {
		draw_host(out, n->bits, random);
		*is_drawn = true;
	}
	return true;
}
