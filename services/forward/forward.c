/* Forward and stub zones: one immutable table, built as a whole.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "services/forward/forward.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "util/base/arena.h"
#include "util/base/fault.h"
#include "util/base/mem.h"
#include "util/conf/options.h"
#include "util/dns/dname.h"
#include "util/names/trie.h"

#define USUAL_PATH "/dns-query"

struct forwards {
	struct trie *forwards, *stubs; /* struct forward_zone */
	struct arena arena;            /* zones and everything in them */
};

static uint64_t next_id(void)
{
	static _Atomic uint32_t builds; /* wraps after 136 years at one zone a second */

	return (uint64_t)atomic_fetch_add_explicit(&builds, 1, memory_order_relaxed) + 1;
}

static struct forwards *table_new(void)
{
	struct forwards *t = mem_zero(sizeof(*t));

	arena_init(&t->arena);
	t->forwards = trie_new();
	t->stubs = trie_new();
	return t;
}

void forwards_free(struct forwards *t)
{
	if (!t)
		return;
	trie_free(t->forwards, NULL);
	trie_free(t->stubs, NULL);
	arena_clear(&t->arena);
	mem_free(t);
}

static struct trie *trie_for(const struct forwards *t, bool is_stub)
{
	return is_stub ? t->stubs : t->forwards;
}

/* ---- one server ---- */

/* "192.0.2.1", "2001:db8::1@5353", "192.0.2.1@853#name", "ns.example.net@53#name": `text` is the
 * part before '@' and '#'. */
struct spelled {
	char text[DNAME_TEXT];
	uint16_t port;
	const char *tls_name; /* points into the original, or NULL */
};

static bool take_apart(const char *text, uint16_t usual_port, struct spelled *out)
{
	size_t len = strcspn(text, "@#");
	const char *at = text + len;
	char *end;
	unsigned long port;

	*out = (struct spelled){ .port = usual_port };
	if (len == 0 || len >= sizeof(out->text))
		return false;
	memcpy(out->text, text, len);
	out->text[len] = 0;
	if (*at == '@') {
		port = strtoul(at + 1, &end, 10);
		if (at[1] < '0' || at[1] > '9' || port == 0 || port > 65535 ||
		    (*end && *end != '#'))
			return false;
		out->port = (uint16_t)port;
		at = end;
	}
	if (*at == '#') {
		if (!at[1] || at[1 + strcspn(at + 1, "@/")] == '@')
			return false;
		out->tls_name = at + 1;
	}
	return true;
}

enum spelling { AN_ADDRESS, A_HOST, EITHER };

static const char *copy_text(struct arena *a, const char *text, size_t len)
{
	char *copy = arena_take(a, len + 1);

	memcpy(copy, text, len);
	copy[len] = '\0';
	return copy;
}

/* "name/path": either may be missing. False when there is white space in it. */
static bool read_name_and_path(struct arena *a, const char *text, struct forward_server *out)
{
	size_t len = text ? strcspn(text, "/") : 0;
	const char *path = text && text[len] ? text + len : USUAL_PATH;

	if (len)
		out->tls_name = copy_text(a, text, len);
	out->http_path = copy_text(a, path, strlen(path));
	return !text || !strpbrk(text, " \t\r\n");
}

static bool read_server(struct arena *a, const char *text, enum transport_kind transport, enum spelling what,
			struct forward_server *out, struct fault *f)
{
	uint8_t host[DNAME_MAX];
	struct spelled s;
	size_t len;

	*out = (struct forward_server){ .host = NULL };
	if (!take_apart(text, transport_port(transport), &s))
		goto wrong;
	out->port = s.port;
	if (transport == TRANSPORT_HTTPS && !read_name_and_path(a, s.tls_name, out))
		goto wrong;
	if (transport != TRANSPORT_HTTPS && s.tls_name && strchr(s.tls_name, '/')) {
		fault_set(f, "'%s' has a path, which only forward-https-upstream: yes makes use of",
			  text);
		return false;
	}
	if (transport != TRANSPORT_HTTPS && s.tls_name)
		out->tls_name = copy_text(a, s.tls_name, strlen(s.tls_name));
	if (what != A_HOST && addr_parse(&out->addr, s.text, s.port, NULL))
		return true;
	if (what != AN_ADDRESS && (len = dname_parse(host, s.text, NULL)) > 0) {
		out->addr = (struct addr){ .family = 0 };
		dname_lower(host);
		out->host = arena_copy(a, host, len);
		return true;
	}
wrong:
	fault_set(f, "'%s' is not %s, with @port and #name behind it where needed", text,
		  what == AN_ADDRESS ? "an IP address"
		  : what == A_HOST   ? "a host name"
				     : "an IP address or host name");
	return false;
}

/* ---- one zone ---- */

struct servers {
	struct forward_server *at;
	size_t count;
};

static bool read_servers(struct arena *a, const struct conf_list *list, enum transport_kind transport,
			 enum spelling what, struct servers *out, struct fault *f)
{
	for (size_t i = 0; i < list->count; i++) {
		if (!read_server(a, list->items[i].text, transport, what, &out->at[out->count++], f))
			return false;
	}
	return true;
}

static bool read_name(struct arena *a, const char *text, const uint8_t **out, struct fault *f)
{
	uint8_t name[DNAME_MAX];
	struct fault why = { 0 };
	size_t len = dname_parse(name, text, &why);

	if (len == 0 || !*text) {
		fault_set(f, "'%s' cannot be the name of a zone: %s", text,
			  *text ? why.text : "it is empty");
		return false;
	}
	dname_lower(name);
	*out = arena_copy(a, name, len);
	return true;
}

static bool add_zone(struct forwards *t, struct forward_zone zone, const char *name,
		     const struct conf_list *hosts, const struct conf_list *addrs, struct fault *f)
{
	struct servers servers = {
		.at = arena_array(&t->arena, struct forward_server,
				  hosts->count + addrs->count + 1),
	};
	struct forward_zone *z = arena_new(&t->arena, struct forward_zone);

	if (!read_name(&t->arena, name, &zone.name, f) ||
	    !read_servers(&t->arena, hosts, zone.transport, A_HOST, &servers, f) ||
	    !read_servers(&t->arena, addrs, zone.transport, AN_ADDRESS, &servers, f))
		return false;
	zone.servers = servers.at;
	zone.server_count = servers.count;
	zone.id = next_id();
	*z = zone;
	trie_put(trie_for(t, z->is_stub), z->name, z);
	return true;
}

static bool add_stub(struct forwards *t, const struct conf_stub_zone *c, struct fault *f)
{
	struct forward_zone zone = {
		.is_stub = true,
		.first = c->stub_first,
		.no_cache = c->stub_no_cache,
		.transport = c->stub_tls_upstream   ? TRANSPORT_TLS
			   : c->stub_tcp_upstream ? TRANSPORT_TCP
						  : TRANSPORT_UDP,
		.prime = c->stub_prime,
	};

	return add_zone(t, zone, c->name, &c->stub_host, &c->stub_addr, f);
}

/* The word was checked with the option. */
static void read_strategy(const char *word, struct forward_zone *z)
{
	static const char *const words[] = { "spread", "fastest", "ordered" };

	for (unsigned i = 0; i < COUNT(words); i++)
		if (strcmp(word, words[i]) == 0)
			z->strategy = (enum forward_strategy)i;
	if (strncmp(word, "race ", 5) == 0) {
		z->strategy = STRATEGY_RACE;
		z->racers = (unsigned)(word[5] - '0');
	}
}

static bool add_forward(struct forwards *t, const struct conf_forward_zone *c, struct fault *f)
{
	struct forward_zone zone = {
		.first = c->forward_first,
		.no_cache = c->forward_no_cache,
		.transport = c->forward_https_upstream ? TRANSPORT_HTTPS
			   : c->forward_tls_upstream ? TRANSPORT_TLS
			   : c->forward_tcp_upstream ? TRANSPORT_TCP
						     : TRANSPORT_UDP,
	};

	read_strategy(c->forward_strategy, &zone);

	return add_zone(t, zone, c->name, &c->forward_host, &c->forward_addr, f);
}

/* Whether a zone is for this view; NULL: for clients in none of the views that zones name. */
static bool is_for(const struct conf_list *views, const char *view)
{
	for (size_t i = 0; view && i < views->count; i++)
		if (strcmp(views->items[i].text, view) == 0)
			return true;
	return !view && views->count == 0;
}

static struct forwards *table_for(const struct conf *conf, const char *view, struct fault *f)
{
	struct forwards *t = table_new();
	bool good = true;

	for (size_t i = 0; good && i < conf->stub_zone_count; i++)
		if (is_for(&conf->stub_zones[i].stub_view, view))
			good = add_stub(t, &conf->stub_zones[i], f);
	for (size_t i = 0; good && i < conf->forward_zone_count; i++)
		if (is_for(&conf->forward_zones[i].forward_view, view))
			good = add_forward(t, &conf->forward_zones[i], f);
	if (good)
		return t;
	forwards_free(t);
	return NULL;
}

struct forwards *forwards_new(const struct conf *conf, struct fault *f)
{
	return table_for(conf, NULL, f);
}

struct forwards *forwards_of_view(const struct conf *conf, const char *view, struct fault *f)
{
	struct forwards *t = table_for(conf, view, f);

	if (t && trie_count(t->forwards) + trie_count(t->stubs) == 0) {
		forwards_free(t);
		return NULL;
	}
	return t;
}

static void tell_unproven(const char *text, void (*fn)(const uint8_t *name, void *arg), void *arg)
{
	uint8_t name[DNAME_MAX];

	if (dname_parse(name, text, NULL) && *name)
		fn(name, arg);
}

void forwards_each_unproven(const struct conf *conf, const char *view, void (*fn)(const uint8_t *name, void *arg),
			    void *arg)
{
	if (!conf_default_anchor(conf))
		return;
	for (size_t i = 0; i < conf->stub_zone_count; i++)
		if (is_for(&conf->stub_zones[i].stub_view, view))
			tell_unproven(conf->stub_zones[i].name, fn, arg);
	for (size_t i = 0; i < conf->forward_zone_count; i++)
		if (is_for(&conf->forward_zones[i].forward_view, view))
			tell_unproven(conf->forward_zones[i].name, fn, arg);
}

/* ---- lookup ---- */

const struct forward_zone *forwards_find_any(const struct forwards *t, const uint8_t *name)
{
	const struct forward_zone *z = trie_find_closest(t->forwards, name);
	const struct forward_zone *stub = trie_find_closest(t->stubs, name);

	/* If a name is both, the forward zone takes precedence. */
	if (stub && (!z || dname_labels(stub->name) > dname_labels(z->name)))
		z = stub;
	return z;
}

const struct forward_zone *forwards_find(const struct forwards *t, const uint8_t *name)
{
	const struct forward_zone *z = forwards_find_any(t, name);

	return z && z->server_count ? z : NULL;
}

const struct forward_zone *forwards_find_exact(const struct forwards *t, const uint8_t *name)
{
	const struct forward_zone *z = trie_find(t->forwards, name);

	return z ? z : trie_find(t->stubs, name);
}

const struct forward_zone *forwards_find_kind(const struct forwards *t, const uint8_t *name, bool is_stub)
{
	return trie_find(trie_for(t, is_stub), name);
}

const struct forward_zone *forwards_find_stub(const struct forwards *t, const uint8_t *name)
{
	return trie_find_closest(t->stubs, name);
}

struct each {
	bool (*fn)(const struct forward_zone *z, void *arg);
	void *arg;
	bool enough;
};

static bool show(const uint8_t *name, void *value, void *arg)
{
	struct each *e = arg;

	(void)name;
	e->enough = !e->fn(value, e->arg);
	return !e->enough;
}

void forwards_each(const struct forwards *t, bool (*fn)(const struct forward_zone *z, void *arg),
		   void *arg)
{
	struct each e = { .fn = fn, .arg = arg };

	trie_each(t->forwards, show, &e);
	if (!e.enough)
		trie_each(t->stubs, show, &e);
}

/* ---- changing ---- */

static bool copy_zone(const struct forward_zone *z, void *arg)
{
	struct forwards *t = arg;
	struct forward_zone *own = arena_copy(&t->arena, z, sizeof(*z));
	struct forward_server *servers =
		arena_array(&t->arena, struct forward_server, z->server_count + 1);

	own->name = arena_copy(&t->arena, z->name, dname_len(z->name));
	for (size_t i = 0; i < z->server_count; i++) {
		servers[i] = z->servers[i];
		if (servers[i].host)
			servers[i].host = arena_copy(&t->arena, z->servers[i].host,
						     dname_len(z->servers[i].host));
		if (servers[i].tls_name)
			servers[i].tls_name = copy_text(&t->arena, z->servers[i].tls_name,
							strlen(z->servers[i].tls_name));
		if (servers[i].http_path)
			servers[i].http_path = copy_text(&t->arena, z->servers[i].http_path,
							 strlen(z->servers[i].http_path));
	}
	own->servers = servers;
	own->id = next_id();
	trie_put(trie_for(t, own->is_stub), own->name, own);
	return true;
}

static bool put_zone(struct forwards *t, const struct forward_change *change, struct fault *f)
{
	struct forward_zone *z = arena_new(&t->arena, struct forward_zone);
	struct forward_server *servers =
		arena_array(&t->arena, struct forward_server, change->server_count + 1);
	uint8_t *name = arena_copy(&t->arena, change->name, dname_len(change->name));
	enum transport_kind transport = change->tls ? TRANSPORT_TLS : TRANSPORT_UDP;

	dname_lower(name);
	for (size_t i = 0; i < change->server_count; i++) {
		if (!read_server(&t->arena, change->servers[i], transport, EITHER, &servers[i], f))
			return false;
	}
	*z = (struct forward_zone){
		.name = name,
		.servers = servers,
		.server_count = change->server_count,
		.is_stub = change->is_stub,
		.prime = change->prime,
		.transport = transport,
		.id = next_id(),
	};
	trie_put(trie_for(t, z->is_stub), z->name, z);
	return true;
}

struct forwards *forwards_changed(const struct forwards *old, const struct forward_change *change,
				  struct fault *f)
{
	struct forwards *t = table_new();

	forwards_each(old, copy_zone, t);
	if (change->remove) {
		trie_remove(trie_for(t, change->is_stub), change->name);
		return t;
	}
	if (put_zone(t, change, f))
		return t;
	forwards_free(t);
	return NULL;
}
