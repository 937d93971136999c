/* Commands about forward and stub zones, and about where a query would be sent.
 * SPDX-License-Identifier: BSD-3-Clause */
#include <stdio.h>
#include <string.h>

#include "daemon/control/call_json.h"
#include "daemon/control/trust.h"
#include "daemon/process/daemon.h"
#include "services/cache/infra.h"
#include "services/cache/rrset.h"
#include "services/forward/forward.h"
#include "services/query/snapshot.h"
#include "util/base/fault.h"
#include "util/base/mem.h"
#include "util/conf/options.h"
#include "util/dns/dname.h"
#include "util/dns/rr.h"
#include "util/dns/text.h"
#include "util/names/trie.h"

#define SERVERS_MOST 64 /* addresses in one command */

/* ---- listing ---- */

static bool has_address(const struct forward_server *s)
{
	return s->addr.family != 0;
}

/* One of a list of servers. */
static void say_server(struct call *c, const char *text)
{
	if (c->json)
		json_text(call_rows(c), NULL, text);
	else
		call_say(c, " %s", text);
}

static void say_name(struct call *c, const struct forward_server *s)
{
	char text[DNAME_TEXT];

	say_server(c, dname_print(s->host, text));
}

static void say_address(struct call *c, const struct forward_server *s)
{
	char addr[ADDR_TEXT], *text;

	text = mem_textf("%s%s%s%s", addr_print(&s->addr, 53, addr), s->tls_name || s->http_path ? "#" : "",
			 s->tls_name ? s->tls_name : "", s->http_path ? s->http_path : "");
	say_server(c, text);
	mem_free(text);
}

static void say_servers(struct call *c, const struct forward_zone *z)
{
	for (size_t i = 0; i < z->server_count; i++)
		if (!has_address(&z->servers[i]) && z->servers[i].host)
			say_name(c, &z->servers[i]);
	for (size_t i = 0; i < z->server_count; i++)
		if (has_address(&z->servers[i]))
			say_address(c, &z->servers[i]);
}

struct listed {
	const char *zone;
	bool is_stub, prime, exempt;
};

/* Its servers follow. +i: exempt from validation. */
static void begin_zone(struct call *c, const struct listed *z)
{
	const char *kind = !z->is_stub ? "forward" : z->prime ? "stub prime" : "stub noprime";
	struct json *j = call_row(c);

	if (!j) {
		call_say(c, "%s IN %s%s", z->zone, kind, z->exempt ? " +i" : "");
		return;
	}
	json_text(j, "zone", z->zone);
	json_text(j, "class", "IN");
	json_text(j, "kind", z->is_stub ? "stub" : "forward");
	if (z->is_stub)
		json_bool(j, "prime", z->prime);
	json_bool(j, "insecure", z->exempt);
	json_open(j, "servers", '[');
}

static void end_zone(struct call *c)
{
	if (c->json) {
		json_close(call_rows(c), ']');
		call_row_end(c);
	} else {
		call_say(c, "\n");
	}
}

static bool list_one(const struct forward_zone *z, void *call)
{
	const struct call *c = call;
	char text[DNAME_TEXT];
	bool exempt = trie_find(call_snapshot(c)->domain_insecure, z->name) != NULL;

	begin_zone(call, &(struct listed){ .zone = dname_print(z->name, text), .is_stub = z->is_stub, .prime = z->prime,
					   .exempt = exempt });
	say_servers(call, z);
	end_zone(call);
	return true;
}

static bool list_stub(const struct forward_zone *z, void *call)
{
	return !z->is_stub || list_one(z, call);
}

static bool list_forward(const struct forward_zone *z, void *call)
{
	return z->is_stub || list_one(z, call);
}

static void list_hints(struct call *c, const struct snapshot *s)
{
	char text[DNAME_TEXT], addr[ADDR_TEXT];
	const uint8_t *last = NULL;

	begin_zone(c, &(struct listed){ .zone = ".", .is_stub = true, .prime = true });
	for (size_t i = 0; i < s->hint_count; i++) {
		if (!last || !dname_equals(last, s->hints[i].name))
			say_server(c, dname_print(s->hints[i].name, text));
		last = s->hints[i].name;
	}
	for (size_t i = 0; i < s->hint_count; i++)
		say_server(c, addr_print(s->hints[i].addr, 53, addr));
	end_zone(c);
}

void control_list_stubs(struct call *c, struct worker *w)
{
	const struct snapshot *s = call_snapshot(c);

	(void)w;
	list_hints(c, s);
	forwards_each(s->forwards, list_stub, c);
}

void control_list_forwards(struct call *c, struct worker *w)
{
	(void)w;
	(void)call_rows(c);
	forwards_each(call_snapshot(c)->forwards, list_forward, c);
}

/* ---- changing ---- */

/* Take the remaining words, at most SERVERS_MOST; returns how many. */
static size_t take_servers(struct call *c, char **servers)
{
	size_t count = 0;

	while (count < SERVERS_MOST && (servers[count] = control_word(&c->args)) != NULL)
		count++;
	return count;
}

/* Whether every server is one: else nothing is to be changed. */
static bool is_sound(const struct call *c, const struct forward_change *change, struct fault *f)
{
	struct forwards *t = forwards_changed(call_snapshot(c)->forwards, change, f);
	bool sound = t != NULL;

	forwards_free(t);
	return sound;
}

/* `insecure`: exempt the zone from validation, too (or end that, if the zone is removed). */
static void carry_out(struct call *c, const struct forward_change *change, bool insecure)
{
	struct fault f = { 0 };

	if ((!insecure || (is_sound(c, change, &f) &&
			   control_exempt(c->daemon, change->name, !change->remove, &f))) &&
	    daemon_change_forward(c->daemon, change, &f))
		call_ok(c);
	else
		call_say(c, "error %s\n", f.text);
}

static void add_zone(struct call *c, bool is_stub)
{
	uint8_t name[DNAME_MAX];
	char *servers[SERVERS_MOST];
	bool given[3]; /* i, t, p */
	struct forward_change change = { .name = name, .is_stub = is_stub, .servers = servers };
	const char *zone;

	if (!call_take_flags(c, is_stub ? "itp" : "it", given))
		return;
	zone = c->args;
	if (!call_take_name(c, name))
		return;
	change.tls = given[1];
	change.prime = is_stub && given[2];
	change.server_count = take_servers(c, servers);
	if (change.server_count)
		carry_out(c, &change, given[0]);
	else
		call_say(c, "error could not find next argument after %s\n", zone);
}

static void remove_zone(struct call *c, bool is_stub)
{
	uint8_t name[DNAME_MAX];
	struct forward_change change = { .name = name, .is_stub = is_stub, .remove = true };
	bool given[1];

	if (call_take_flags(c, "i", given) && call_take_name(c, name))
		carry_out(c, &change, given[0]);
}

void control_forward_add(struct call *c, struct worker *w)
{
	(void)w;
	add_zone(c, false);
}

void control_forward_remove(struct call *c, struct worker *w)
{
	(void)w;
	remove_zone(c, false);
}

void control_stub_add(struct call *c, struct worker *w)
{
	(void)w;
	add_zone(c, true);
}

void control_stub_remove(struct call *c, struct worker *w)
{
	(void)w;
	remove_zone(c, true);
}

/* `z`: NULL: nothing is forwarded. */
static void put_root_forward(struct json *j, const struct forward_zone *z)
{
	char text[ADDR_TEXT];

	json_bool(j, "forwards", z != NULL);
	json_open(j, "servers", '[');
	for (size_t i = 0; z && i < z->server_count; i++)
		if (has_address(&z->servers[i]))
			json_text(j, NULL, addr_print(&z->servers[i].addr, 53, text));
	json_close(j, ']');
}

static void say_root_forward(struct call *c)
{
	const struct forward_zone *z =
		forwards_find_exact(call_snapshot(c)->forwards, dname_root);
	char text[ADDR_TEXT];
	struct json *j = call_object(c);
	bool forwards = z && !z->is_stub && z->server_count;
	size_t said = 0;

	if (j) {
		put_root_forward(j, forwards ? z : NULL);
		return;
	}
	if (!forwards) {
		call_say(c, "off (using root hints)\n");
		return;
	}
	for (size_t i = 0; i < z->server_count; i++)
		if (has_address(&z->servers[i]))
			call_say(c, "%s%s", said++ ? " " : "",
				 addr_print(&z->servers[i].addr, 53, text));
	call_say(c, "\n");
}

void control_forward(struct call *c, struct worker *w)
{
	char *servers[SERVERS_MOST];
	struct forward_change change = { .name = dname_root, .servers = servers };

	(void)w;
	if (!*c->args) {
		say_root_forward(c);
		return;
	}
	if (strcmp(c->args, "off") == 0)
		change.remove = true;
	else
		change.server_count = take_servers(c, servers);
	carry_out(c, &change, false);
}

/* ---- lookup ---- */

/* The servers that a query would be sent to. */
struct delegation {
	const uint8_t *zone;
	struct addr addrs[128];
	unsigned count;
	unsigned names, without; /* name servers; those without a known address */
};

static void put_addr(struct delegation *d, const struct addr *a)
{
	if (d->count < COUNT(d->addrs))
		d->addrs[d->count++] = *a;
}

static void say_known(struct call *c, const struct infra_view *v)
{
	if (v->ttl_s == 0) {
		call_say(c, "expired, rto %u msec, tA %u tAAAA %u tother %u.\n", v->rto_ms,
			 v->timeouts_a, v->timeouts_aaaa, v->timeouts_other);
		return;
	}
	call_say(c, "rto %u msec, ttl %u, ping %u var %u rtt %u, tA %u, tAAAA %u, tother %u",
		 v->rto_ms, v->ttl_s, v->ping_ms, v->var_ms, v->rtt_ms, v->timeouts_a,
		 v->timeouts_aaaa, v->timeouts_other);
	call_say(c, ", EDNS %d %s.\n", v->edns == EDNS_FAILS ? -1 : 0,
		 v->edns == EDNS_UNTRIED ? "assumed" : "probed");
}

static void put_known(struct json *j, const struct infra_view *v)
{
	json_bool(j, "expired", v->ttl_s == 0);
	json_number(j, "rto", v->rto_ms);
	json_number(j, "tA", v->timeouts_a);
	json_number(j, "tAAAA", v->timeouts_aaaa);
	json_number(j, "tother", v->timeouts_other);
	if (v->ttl_s == 0)
		return;
	json_number(j, "ttl", v->ttl_s);
	json_number(j, "ping", v->ping_ms);
	json_number(j, "var", v->var_ms);
	json_number(j, "rtt", v->rtt_ms);
	json_bool(j, "ednsknown", v->edns != EDNS_UNTRIED);
	json_signed(j, "edns", v->edns == EDNS_FAILS ? -1 : 0);
}

static void put_delegation(struct json *j, const struct call *c, const struct delegation *d)
{
	const struct daemon *daemon = c->daemon;

	json_number(j, "names", d->names);
	json_number(j, "names_without_address", d->without);
	json_open(j, "servers", '[');
	for (unsigned i = 0; i < d->count; i++) {
		struct infra_view v;
		char text[ADDR_TEXT];

		infra_look(daemon->caches.infra, &d->addrs[i], d->zone, loop_time(daemon->loop), &v);
		json_open(j, NULL, '{');
		json_text(j, "server", addr_print(&d->addrs[i], 53, text));
		json_bool(j, "known", v.known);
		if (v.known)
			put_known(j, &v);
		json_close(j, '}');
	}
	json_close(j, ']');
}

static void say_delegation(struct call *c, const struct delegation *d)
{
	const struct daemon *daemon = c->daemon;
	struct json *j = call_object(c);

	if (j) {
		put_delegation(j, c, d);
		return;
	}
	call_say(c,
		 "Delegation with %u names, of which %u can be examined to query further "
		 "addresses.\n"
		 "It provides %u IP addresses.\n",
		 d->names, d->without, d->count);
	for (unsigned i = 0; i < d->count; i++) {
		struct infra_view v;
		char text[ADDR_TEXT];

		infra_look(daemon->caches.infra, &d->addrs[i], d->zone, loop_time(daemon->loop),
			   &v);
		call_say(c, "%-16s\t", addr_print(&d->addrs[i], 53, text));
		if (v.known)
			say_known(c, &v);
		else
			call_say(c, "not in infra cache.\n");
	}
}

static void from_zone(struct delegation *d, const struct forward_zone *z)
{
	d->zone = z->name;
	for (size_t i = 0; i < z->server_count; i++) {
		if (has_address(&z->servers[i])) {
			put_addr(d, &z->servers[i].addr);
		} else {
			d->names++;
			d->without++;
		}
	}
}

static bool put_records(struct delegation *d, const struct rrset *s, uint8_t family)
{
	struct slice rd;

	if (!s)
		return false;
	for (struct rrset_walk walk = rrset_records(s); rrset_next(&walk, &rd);) {
		struct addr a = { .family = family, .port = 53 };

		if (rd.len != (family == 4 ? 4u : 16u))
			continue;
		memcpy(a.ip, rd.at, rd.len);
		put_addr(d, &a);
	}
	return true;
}

static void say_record(const char *line, void *call)
{
	struct json *j = call_object(call);

	if (!j) {
		call_line(line, call);
		return;
	}
	json_open(j, NULL, '{');
	call_record(j, line);
	json_close(j, '}');
}

static void say_set(struct call *c, const struct rrset *s, uint32_t now_s)
{
	struct json *j = call_object(c);

	if (j)
		json_open(j, "records", '[');
	else
		call_say(c, ";rrset %u %u %u %u %u\n", time_left(now_s, s->expires_s), s->count, s->sig_count, s->trust,
			 s->security);
	text_rrset_print(s, now_s, say_record, c);
	if (j)
		json_close(j, ']');
}

static void from_cache(struct call *c, struct delegation *d, const struct rrset *ns, uint32_t now_s)
{
	struct rrsetcache *sets = c->daemon->caches.rrsets;
	struct rrset_walk w = rrset_records(ns);

	d->zone = rrset_owner(ns);
	d->names = ns->count;
	for (struct slice rd; rrset_next(&w, &rd);) {
		const uint8_t *host = rr_rdata_name(TYPE_NS, rd.at, rd.len);
		bool known =
			put_records(d, rrsetcache_find(sets, host, TYPE_A, CLASS_IN, 0, now_s), 4);

		known |= put_records(d, rrsetcache_find(sets, host, TYPE_AAAA, CLASS_IN, 0, now_s),
				     6);
		d->without += !known;
	}
	say_set(c, ns, now_s);
	say_delegation(c, d);
}

/* The closest enclosing cached NS RRset, the parent's if need be; NULL if none. */
static const struct rrset *closest(struct rrsetcache *sets, const uint8_t *name, uint32_t now_s)
{
	for (;; name = dname_parent(name)) {
		const struct rrset *ns = rrsetcache_find(sets, name, TYPE_NS, CLASS_IN, 0, now_s);

		if (!ns)
			ns = rrsetcache_find(sets, name, TYPE_NS, CLASS_IN, RRSET_PARENT_SIDE,
					     now_s);
		if (ns || dname_is_root(name))
			return ns;
	}
}

/* Whose servers are asked. */
static void say_source(struct call *c, const char *sentence, const char *word, const uint8_t *zone)
{
	struct json *j = call_object(c);
	char text[DNAME_TEXT];

	if (!j) {
		call_say(c, "%s", sentence);
		return;
	}
	json_text(j, "from", word);
	json_text(j, "zone", dname_print(zone, text));
}

static void say_asked(struct call *c, const uint8_t *name)
{
	struct json *j = call_object(c);
	char text[DNAME_TEXT];

	dname_print(name, text);
	if (j)
		json_text(j, "name", text);
	else
		call_say(c, "The following name servers are used for lookup of %s\n", text);
}

void control_lookup(struct call *c, struct worker *w)
{
	uint32_t now_s = loop_time(c->daemon->loop)->now_s;
	struct delegation d = { .zone = dname_root };
	const struct forward_zone *z;
	const struct rrset *ns;
	uint8_t name[DNAME_MAX];

	(void)w;
	if (!call_take_name(c, name))
		return;
	say_asked(c, name);
	z = forwards_find(call_snapshot(c)->forwards, name);
	ns = closest(c->daemon->caches.rrsets, name, now_s);
	if (z && !z->is_stub) {
		say_source(c, "forwarding request:\n", "forward", z->name);
		from_zone(&d, z);
		say_delegation(c, &d);
	} else if (z && (!ns || !dname_is_strictly_under(rrset_owner(ns), z->name))) {
		say_source(c, z->prime ? "The stub is primed with servers:\n" : "The noprime stub servers are used:\n",
			   z->prime ? "stub" : "stub-noprime", z->name);
		from_zone(&d, z);
		say_delegation(c, &d);
	} else if (ns) {
		say_source(c, "", "cache", rrset_owner(ns));
		from_cache(c, &d, ns, now_s);
	} else {
		say_source(c, "no delegation from cache; goes to configured roots\n", "root-hints", dname_root);
	}
}
