/* Where to listen: every form of `interface:` becomes addresses with ports.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "services/net/interfaces.h"

#include <netinet/in.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#ifdef HAVE_IFADDRS_H
#include <sys/types.h>
#include <ifaddrs.h>
#endif

#include "util/base/fault.h"
#include "util/base/log.h"
#include "util/base/mem.h"
#include "util/conf/options.h"

static bool is_wildcard(const struct addr *a)
{
	static const uint8_t zeros[16];

	return memcmp(a->ip, zeros, a->family == 4 ? 4 : 16) == 0;
}

/* ---- one item ---- */

/* Split "eth0@5353" into name and port. False if what follows '@' is no port. */
static bool split_port(const char *text, char *name, size_t room, uint16_t *port)
{
	const char *at = strrchr(text, '@');
	size_t len = at ? (size_t)(at - text) : strlen(text);
	char *end;
	unsigned long number;

	if (len == 0 || len >= room)
		return false;
	memcpy(name, text, len);
	name[len] = '\0';
	if (!at)
		return true;
	number = strtoul(at + 1, &end, 10);
	if (at[1] < '0' || at[1] > '9' || *end || number == 0 || number > 65535)
		return false;
	*port = (uint16_t)number;
	return true;
}

static bool wants_family(const struct addr *a, bool ip4, bool ip6)
{
	return a->family == 4 ? ip4 : ip6;
}

#ifdef HAVE_GETIFADDRS
static bool expand_name(const char *name, uint16_t port, bool ip4, bool ip6,
			void (*put)(void *arg, const struct addr *a), void *arg, struct fault *f)
{
	struct ifaddrs *all;
	bool known = false;

	if (getifaddrs(&all) != 0) {
		fault_set(f, "cannot list the interfaces of this host: %s", strerror(errno));
		return false;
	}
	for (const struct ifaddrs *i = all; i; i = i->ifa_next) {
		struct addr a;
		int family = i->ifa_addr ? i->ifa_addr->sa_family : AF_UNSPEC;

		if (strcmp(i->ifa_name, name) != 0)
			continue;
		known = true;
		if (family != AF_INET && family != AF_INET6)
			continue;
		if (!addr_from_sockaddr(&a, i->ifa_addr,
					family == AF_INET ? (socklen_t)sizeof(struct sockaddr_in)
							  : (socklen_t)sizeof(struct sockaddr_in6)))
			continue;
		a.port = port;
		if (wants_family(&a, ip4, ip6))
			put(arg, &a);
	}
	freeifaddrs(all);
	if (!known)
		fault_set(f, "%s is neither an address nor an interface of this host", name);
	return known;
}
#else
static bool expand_name(const char *name, uint16_t port, bool ip4, bool ip6,
			void (*put)(void *arg, const struct addr *a), void *arg, struct fault *f)
{
	(void)port, (void)ip4, (void)ip6, (void)put, (void)arg;
	fault_set(f, "%s is no address, and this system cannot list its interfaces", name);
	return false;
}
#endif

bool interface_expand(const char *text, uint16_t port, bool ip4, bool ip6,
		      void (*put)(void *arg, const struct addr *a), void *arg, struct fault *f)
{
	char name[256];
	struct addr a;

	if (addr_parse(&a, text, port, NULL)) {
		if (wants_family(&a, ip4, ip6))
			put(arg, &a);
		return true;
	}
	if (!split_port(text, name, sizeof name, &port)) {
		fault_set(f, "%s is no address or interface with a port", text);
		return false;
	}
	return expand_name(name, port, ip4, ip6, put, arg, f);
}

/* ---- the whole option ---- */

struct finding {
	struct interfaces *out;
	const struct conf_server *server;
	bool optional;
};

static bool list_names_port(const struct conf_list *list, uint16_t port)
{
	for (size_t i = 0; i < list->count; i++)
		if (strtoul(list->items[i].text, NULL, 10) == port)
			return true;
	return false;
}

static bool is_tls_port(const struct conf_server *s, uint16_t port)
{
	return port == s->tls_port || list_names_port(&s->tls_additional_port, port);
}

static bool may_serve_tls(const struct conf_server *s)
{
	return *s->tls_service_key && *s->tls_service_pem;
}

/* The service at a port. The standard port is for plain DNS whatever else is configured for it. */
static enum service service_at(const struct conf_server *s, uint16_t port)
{
	if (port == s->port)
		return SERVICE_DNS;
	if (is_tls_port(s, port))
		return SERVICE_TLS;
	if (port == s->https_port)
		return s->http_notls_downstream ? SERVICE_HTTP : SERVICE_HTTPS;
	return SERVICE_DNS;
}

static const char *service_name(enum service service)
{
	return service == SERVICE_TLS ? "DNS over TLS" : "DNS over HTTPS";
}

static void put_interface(void *arg, const struct addr *a)
{
	struct finding *find = arg;
	struct interfaces *out = find->out;
	struct interface item = { .addr = *a,
				  .service = service_at(find->server, a->port),
				  .proxied = list_names_port(&find->server->proxy_protocol_port,
							     a->port),
				  .many = is_wildcard(a),
				  .optional = find->optional };
	char text[ADDR_TEXT];

	if ((item.service == SERVICE_TLS || item.service == SERVICE_HTTPS) &&
	    !may_serve_tls(find->server)) {
		log_warn("not listening at %s, a port for %s: tls-service-key or tls-service-pem is "
			 "missing",
			 addr_print(a, 0, text), service_name(item.service));
		return;
	}
	for (size_t i = 0; i < out->count; i++)
		if (addr_equals(&out->items[i].addr, a))
			return;
	out->items = mem_grow(out->items, (out->count + 1) * sizeof *out->items);
	out->items[out->count++] = item;
}

static bool put_text(struct finding *find, const char *text, uint16_t port, struct fault *f)
{
	return interface_expand(text, port, find->server->do_ip4, find->server->do_ip6,
				put_interface, find, f);
}

/* interface-automatic: both wildcard addresses, on the standard port or those of -ports. */
static bool put_automatic(struct finding *find, struct fault *f)
{
	const char *at = find->server->interface_automatic_ports;
	bool ok = true;

	find->optional = true;
	if (!*at)
		return put_text(find, "0.0.0.0", (uint16_t)find->server->port, f) &&
		       put_text(find, "::", (uint16_t)find->server->port, f);
	while (ok && *(at += strspn(at, " \t"))) {
		uint16_t port = (uint16_t)strtoul(at, NULL, 10);

		ok = put_text(find, "0.0.0.0", port, f) && put_text(find, "::", port, f);
		at += strcspn(at, " \t");
	}
	return ok;
}

bool interfaces_find(struct interfaces *out, const struct conf *conf, struct fault *f)
{
	const struct conf_server *s = &conf->server;
	struct finding find = { .out = out, .server = s };
	bool ok = true;

	*out = (struct interfaces){ 0 };
	if (s->interface_automatic)
		ok = put_automatic(&find, f);
	else if (s->interface.count == 0) {
		find.optional = true;
		ok = put_text(&find, "127.0.0.1", (uint16_t)s->port, f) &&
		     put_text(&find, "::1", (uint16_t)s->port, f);
	}
	for (size_t i = 0; ok && !s->interface_automatic && i < s->interface.count; i++) {
		struct fault why = { 0 };
		const struct conf_item *item = &s->interface.items[i];

		ok = put_text(&find, item->text, (uint16_t)s->port, &why);
		if (!ok)
			fault_set(f, "%s:%u: interface: %s", item->file, item->line, why.text);
	}
	if (!ok)
		interfaces_clear(out);
	return ok;
}

void interfaces_clear(struct interfaces *i)
{
	mem_free(i->items);
	*i = (struct interfaces){ 0 };
}
