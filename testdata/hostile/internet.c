/* Which zones there are, what is in them, and who answers for them.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "testdata/hostile/internet.h"

#include <stdio.h>
#include <string.h>

#include "testdata/hostile/keys.h"
#include "util/base/mem.h"
#include "util/dns/denial.h"

const char *const prefixes[] = { "www", "",   "alias", "far",	"x.wild", "nx",	     "w.dn",
				 "hop", "ent", "a.ent", "deep.nx", "ns",     "y.x.wild", "sub", "b.sub" };
const unsigned prefix_count = COUNT(prefixes);
const uint16_t asked_types[] = { TYPE_A,   TYPE_AAAA, TYPE_DS,	   TYPE_NS,    TYPE_TXT,
				 TYPE_SOA, TYPE_MX,   TYPE_DNSKEY, TYPE_CNAME, TYPE_DNAME,
				TYPE_NSEC, TYPE_HTTPS, TYPE_SRV };
const unsigned asked_type_count = COUNT(asked_types);

static const uint32_t ttls[] = { 3600, 300, 60, 86400, 0 };

/* Where each stands if it is there at all; `percent`: how often. */
static const struct plan {
	enum site_number number, parent;
	const char *apex;
	int key;
	bool by_hash, opt_out;
	uint8_t server, percent;
	bool hostile, hidden, configured, anchored;
} plans[] = {
	{ SITE_ROOT, SITE_ROOT, "", 0, .server = 1, .percent = 100 },
	{ SITE_T, SITE_ROOT, "t", 1, .server = 2, .percent = 100 },
	{ SITE_U, SITE_ROOT, "u", 2, true, true, .server = 3, .percent = 100 },
	{ SITE_V, SITE_T, "v.t", 3, .server = 10, .percent = 85 },
	{ SITE_SUB, SITE_V, "sub.v.t", 4, true, .server = 11, .percent = 40 },
	{ SITE_W, SITE_U, "w.u", 5, true, .server = 12, .percent = 80 },
	{ SITE_I, SITE_T, "i.t", NO_KEY, .server = 13, .percent = 70 },
	{ SITE_J, SITE_U, "j.u", NO_KEY, .server = 14, .percent = 50 },
	{ SITE_ISLAND, SITE_I, "isl.i.t", 6, .server = 15, .percent = 25, .anchored = true },
	{ SITE_EVIL, SITE_T, "evil.t", 7, .server = 66, .percent = 90, .hostile = true },
	{ SITE_BAD, SITE_U, "bad.u", NO_KEY, .server = 67, .percent = 60, .hostile = true },
	{ SITE_GONE, SITE_T, "gone.t", NO_KEY, .server = 68, .percent = 45, .hostile = true },
	{ SITE_OWN, SITE_T, "own.t", NO_KEY, .server = 30, .percent = 35, .hidden = true, .configured = true },
	{ SITE_OWNV, SITE_V, "own.v.t", 8, .server = 31, .percent = 25, .hidden = true, .configured = true,
	  .anchored = true },
	{ SITE_ISLE, SITE_EVIL, "isl.evil.t", 18, .server = 16, .percent = 40, .anchored = true },
	{ SITE_PUBLIC, SITE_T, "own.t", 17, .server = 32, .percent = 30 },
};

/* ---- what is in a zone ---- */

static uint32_t a_ttl(struct internet *net)
{
	return ttls[draw(net->choices, CHOICES_WORLD, COUNT(ttls))];
}

/* 192.0.2.N and 2001:db8:1::N; 203.0.113.N and 2001:db8:66::N are the adversary's. */
static const uint8_t nets[2][3] = { { 192, 0, 2 }, { 203, 0, 113 } };
static const uint8_t nets6[2][6] = { { 0x20, 1, 0xd, 0xb8, 0, 1 }, { 0x20, 1, 0xd, 0xb8, 0, 0x66 } };

static void add_server(struct internet *net, struct zone *z, const char *name, uint32_t ttl_s, const struct site *s, bool second)
{
	const bool hostile = s->hostile || second;
	const uint8_t number = second ? s->second : s->server, *owner = name_make(&net->arena, name);
	uint8_t ip[4], ip6[16] = { 0 };

	memcpy(ip, nets[hostile], 3);
	memcpy(ip6, nets6[hostile], 6);
	ip[3] = ip6[15] = number;
	if (s->families & HAS_IPV4)
		zdata_add(z, owner, TYPE_A, ttl_s, (struct slice){ ip, sizeof(ip) });
	if (s->families & HAS_IPV6)
		zdata_add(z, owner, TYPE_AAAA, ttl_s, (struct slice){ ip6, sizeof(ip6) });
}

char *internet_server_lines(struct internet *net, const char *word, const struct site *s, bool second)
{
	const bool hostile = s->hostile || second;
	const uint8_t number = second ? s->second : s->server;
	char *text = arena_textf(&net->arena, "%s", "");

	if (s->families & HAS_IPV4)
		text = arena_textf(&net->arena, "%s%s%s.%u", text, word, hostile ? "203.0.113" : "192.0.2", number);
	if (s->families & HAS_IPV6)
		text = arena_textf(&net->arena, "%s%s2001:db8:%s::%x", text, word, hostile ? "66" : "1", number);
	return text;
}

/* A site that is there, any or a victim's. */
static struct site *some_site(struct internet *net)
{
	struct site *s = internet_pick(net, CHOICES_WORLD);

	return s->hostile ? &net->sites[SITE_T] : s;
}

struct site *internet_pick(struct internet *net, enum choice_stream stream)
{
	struct site *there[SITES];
	unsigned count = 0;

	if (net->focus && chance(net->choices, stream, 35))
		return net->focus;
	for (unsigned i = 0; i < SITES; i++)
		if (net->sites[i].zone)
			there[count++] = &net->sites[i];
	return there[draw(net->choices, stream, count)];
}

static char *text_below(struct internet *net, const char *prefix, const struct zone *z)
{
	char apex[DNAME_TEXT];

	dname_print(z->apex, apex);
	return arena_textf(&net->arena, "%s%s%s", prefix, dname_is_root(z->apex) || !*prefix ? "" : ".",
			   dname_is_root(z->apex) ? "" : apex);
}

/* What its server is called. */
static char *server_text(struct internet *net, const struct site *s)
{
	if (s->home == s)
		return text_below(net, "ns", s->zone);
	return text_below(net, arena_textf(&net->arena, "n%u", s->server), s->home->zone);
}

const uint8_t *internet_server_name(struct internet *net, const struct site *s)
{
	return name_make(&net->arena, server_text(net, s));
}

static void fill_common(struct internet *net, struct site *s)
{
	struct zone *z = s->zone;
	uint8_t data[4] = { 198, 51, 100, s->server };
	uint32_t ttl_s = a_ttl(net);

	zdata_add_soa(z, ttl_s ? ttl_s : 60);
	zdata_add_name(z, "", TYPE_NS, ttl_s ? ttl_s : 60, server_text(net, s));
	add_server(net, s->home->zone, server_text(net, s), 3600, s, false);
	if (s->second) {
		zdata_add_name(z, "", TYPE_NS, ttl_s, text_below(net, "ns2", z));
		add_server(net, z, text_below(net, "ns2", z), 3600, s, true);
	}
	if (z->key != NO_KEY) {
		zdata_add(z, z->apex, TYPE_DNSKEY, 3600, (struct slice){ key_rdata((unsigned)z->key), KEY_RDATA });
		if (z->by_hash) {
			uint8_t param[7] = { NSEC3_SHA1, 0, 0, z->iterations, (uint8_t)z->salt.len };

			if (z->salt.len)
				memcpy(param + 5, z->salt.at, z->salt.len);
			zdata_add(z, z->apex, TYPE_NSEC3PARAM, 0, (struct slice){ param, 5 + z->salt.len });
		}
	}
	zdata_add_a(z, "www", ttl_s, data);
}

static void fill_rest(struct internet *net, struct site *s)
{
	struct zone *z = s->zone;
	uint8_t data[4] = { 198, 51, 100, (uint8_t)(s->server + 100) };
	unsigned what = draw(net->choices, CHOICES_WORLD, 256);

	if (what & 1)
		zdata_add_name(z, "alias", TYPE_CNAME, a_ttl(net), text_below(net, "www", z));
	if (what & 2)
		zdata_add_name(z, "far", TYPE_CNAME, a_ttl(net), text_below(net, "www", some_site(net)->zone));
	if (what & 4)
		zdata_add_a(z, "*.wild", a_ttl(net), data);
	if (what & 8)
		zdata_add_txt(z, "a.ent", a_ttl(net), "below an empty non-terminal");
	if (what & 16)
		zdata_add_name(z, "dn", TYPE_DNAME, a_ttl(net), text_below(net, "", some_site(net)->zone));
	if (what & 32)
		zdata_add_name(z, "", TYPE_MX, a_ttl(net), text_below(net, "www", z));
	if (what & 64)
		zdata_add_txt(z, "www", a_ttl(net), "text");
	if (what & 128)
		zdata_add_a(z, "www", 0, (uint8_t[4]){ 198, 51, 100, 250 });
	if (s == &net->sites[SITE_GONE]) /* all names are there, whoever asks */
		zdata_add_a(z, "*", a_ttl(net), data);
}

/* ---- which zones ---- */

static void place(struct internet *net, const struct plan *p)
{
	static const uint8_t families[] = { HAS_IPV4, HAS_IPV4 | HAS_IPV6, HAS_IPV6 };
	struct site *s = &net->sites[p->number];

	s->parent = &net->sites[p->parent];
	s->home = s;
	if (!chance(net->choices, CHOICES_WORLD, p->percent) || !s->parent->zone)
		if (p->percent < 100)
			return;
	s->zone = zdata_make(&net->arena, p->apex, p->key);
	s->zone->by_hash = p->by_hash;
	s->zone->opt_out = p->opt_out;
	s->server = p->server;
	s->families = families[draw(net->choices, CHOICES_WORLD, net->six ? COUNT(families) : 2)];
	s->hostile = p->hostile;
	s->anchored = p->anchored;
	s->hidden = p->hidden;
	s->configured = p->configured;
	s->cut_ttl_s = 3600;
	s->secure = p->key != NO_KEY && (p->number == SITE_ROOT || p->anchored || s->parent->secure);
	if (p->by_hash && draw(net->choices, CHOICES_WORLD, 2)) {
		static const uint8_t costly[] = { 150, 151, 255 };

		s->zone->iterations = chance(net->choices, CHOICES_WORLD, 10) ? costly[draw(net->choices, CHOICES_WORLD, COUNT(costly))]
									      : (uint8_t)draw(net->choices, CHOICES_WORLD, 3);
		s->zone->salt = (struct slice){ (const uint8_t *)"\xab\xcd", draw(net->choices, CHOICES_WORLD, 3) };
	}
}

static void place_chain(struct internet *net)
{
	unsigned count = chance(net->choices, CHOICES_WORLD, 30)
				 ? 2 + draw(net->choices, CHOICES_WORLD, CHAIN_SITES - 1)
				 : 0;

	for (unsigned i = 0; i < count; i++) {
		char apex[20];
		struct plan p = { .number = SITE_CHAIN + i, .parent = i % 2 ? SITE_U : SITE_T, .apex = apex,
				  .key = (int)(9 + i), .by_hash = i % 3 == 1, .server = (uint8_t)(20 + i),
				  .percent = 100 };

		snprintf(apex, sizeof(apex), "c%u.%s", i, i % 2 ? "u" : "t");
		place(net, &p);
	}
	for (unsigned i = 0; i < count; i++) {
		struct zone *z = net->sites[SITE_CHAIN + i].zone;

		if (i + 1 < count)
			zdata_add_name(z, "hop", TYPE_CNAME, a_ttl(net),
				      text_below(net, "hop", net->sites[SITE_CHAIN + i + 1].zone));
		else
			zdata_add_a(z, "hop", a_ttl(net), (uint8_t[4]){ 198, 51, 100, 200 });
	}
}

static void delegate(struct internet *net, struct site *s)
{
	struct zone *parent = s->parent->zone;
	bool anchored_only = s == &net->sites[SITE_ISLAND] || s == &net->sites[SITE_ISLE];

	if (s->hidden || s->parent == s)
		return;
	zdata_add_cut(parent, s->zone->apex, s->cut_ttl_s, server_text(net, s), anchored_only ? NO_KEY : s->zone->key);
	if (s->home == s)
		add_server(net, parent, server_text(net, s), s->cut_ttl_s, s, false);
	if (!s->second)
		return;
	zdata_add_cut(parent, s->zone->apex, s->cut_ttl_s, text_below(net, "ns2", s->zone), NO_KEY);
	add_server(net, parent, text_below(net, "ns2", s->zone), s->cut_ttl_s, s, true);
}

/* One of the victims has a server that is the adversary's. */
static void contest(struct internet *net)
{
	static const enum site_number victims[] = { SITE_V, SITE_I, SITE_W, SITE_J, SITE_OWNV, SITE_OWNV, SITE_ISLAND, SITE_OWN };
	struct site *s;

	if (!chance(net->choices, CHOICES_WORLD, 25))
		return;
	s = &net->sites[victims[draw(net->choices, CHOICES_WORLD, COUNT(victims))]];
	if (s->zone && !(s == &net->sites[SITE_OWN] && net->own_kind == OWN_LOCAL))
		s->second = 69;
}

/* Servers of victims have names in the zones of others, which no glue comes with. */
static void lodge(struct internet *net)
{
	static const enum site_number guests[] = { SITE_I, SITE_J, SITE_SUB, SITE_W, SITE_V }, homes[] = { SITE_W, SITE_V, SITE_J, SITE_I };
	bool is_home[SITES] = { false };

	for (unsigned i = 0; i < COUNT(guests); i++) {
		struct site *s = &net->sites[guests[i]], *home;
		enum site_number n;

		if (!chance(net->choices, CHOICES_WORLD, 20))
			continue;
		n = homes[draw(net->choices, CHOICES_WORLD, COUNT(homes))];
		home = &net->sites[n];
		if (!s->zone || !home->zone || home == s || home->home != home || is_home[guests[i]])
			continue;
		s->home = home;
		is_home[n] = true;
	}
}

static void choose_settings(struct internet *net)
{
	struct choices *c = net->choices;

	net->own_kind = (enum own_kind)draw(c, CHOICES_WORLD, OWN_KINDS);
	net->primes = chance(c, CHOICES_WORLD, 30);
	net->root_unloaded = net->primes && chance(c, CHOICES_WORLD, 35);
	net->forwards_all = !net->primes && chance(c, CHOICES_WORLD, 20);
	net->forwarder_lies = net->forwards_all && chance(c, CHOICES_WORLD, 40);
	net->two_forwarders = net->forwarder_lies && chance(c, CHOICES_WORLD, 50);
	net->races = chance(c, CHOICES_WORLD, 30);
	net->tiny = chance(c, CHOICES_WORLD, 35);
	net->has_view = chance(c, CHOICES_WORLD, 30);
	net->own_off = chance(c, CHOICES_WORLD, 25);
	net->hides = chance(c, CHOICES_WORLD, 5);
	net->keeps = chance(c, CHOICES_WORLD, 20);
	net->has_lans = chance(c, CHOICES_WORLD, 5);
	net->six = chance(c, CHOICES_WORLD, 35);
	net->synthesizes = chance(c, CHOICES_WORLD, 15);
	net->scarce = chance(c, CHOICES_WORLD, 12);
}

void internet_make(struct internet *net, struct choices *c)
{
	memset(net, 0, sizeof(*net));
	arena_init(&net->arena);
	net->choices = c;
	held_begin(net);
	choose_settings(net);
	for (unsigned i = 0; i < COUNT(plans); i++)
		place(net, &plans[i]);
	place_chain(net);
	contest(net);
	lodge(net);
	if (chance(c, CHOICES_WORLD, 25))
		held_choose(net, CHOICES_WORLD);
	if (chance(c, CHOICES_WORLD, 60))
		net->focus = internet_pick(net, CHOICES_WORLD);
	if (net->sites[SITE_ISLE].zone && chance(c, CHOICES_WORLD, 40))
		net->focus = &net->sites[SITE_ISLE];
	if (net->sites[SITE_GONE].zone && chance(c, CHOICES_WORLD, 40))
		net->focus = &net->sites[SITE_GONE];
	for (unsigned i = 0; i < SITES; i++)
		if (net->sites[i].zone) {
			fill_common(net, &net->sites[i]);
			if (i >= SITE_V)
				fill_rest(net, &net->sites[i]);
		}
	for (unsigned i = 0; i < SITES; i++)
		if (net->sites[i].zone)
			delegate(net, &net->sites[i]);
	for (unsigned i = 0; i < SITES; i++)
		if (net->sites[i].zone)
			zdata_close(net->sites[i].zone);
	places_choose(net);
	withheld_choose(net);
	if (net->forwarder_lies)
		net->sites[SITE_ROOT].second = FORWARDER; /* and so everything is contested that is not configured */
}

void internet_clear(struct internet *net)
{
	arena_clear(&net->arena);
}

void internet_remove(struct internet *net, struct site *s)
{
	(void)net;
	if (!s->zone || s->gone)
		return;
	s->gone = true;
	zdata_remember(s->parent->zone);
	zdata_remove(s->parent->zone, s->zone->apex);
	zdata_close(s->parent->zone);
}

const uint8_t *site_name(struct internet *net, const struct site *s, const char *prefix)
{
	return name_make(&net->arena, text_below(net, prefix, s->zone));
}

/* ---- who answers ---- */

static bool is_in(const struct addr *a, bool hostile)
{
	if (a->family == 4)
		return memcmp(a->ip, nets[hostile], sizeof(nets[0])) == 0;
	return memcmp(a->ip, nets6[hostile], sizeof(nets6[0])) == 0;
}

bool server_is_hostile(const struct addr *server)
{
	return is_in(server, true);
}

uint8_t server_number(const struct addr *server)
{
	return server->ip[server->family == 4 ? 3 : 15];
}

struct site *internet_served(struct internet *net, const struct addr *server, const struct question *q)
{
	struct site *best = NULL;
	bool hostile = server_is_hostile(server);

	if (!hostile && !is_in(server, false))
		return &net->sites[SITE_ROOT]; /* where the real root's servers are */
	for (unsigned i = 0; i < SITES; i++) {
		struct site *s = &net->sites[i];

		if (!s->zone || (server_number(server) != (hostile && !s->hostile ? s->second : s->server)) ||
		    (s->hostile && !hostile))
			continue;
		if (!best || (dname_is_under(q->name, s->zone->apex) &&
			      dname_labels(s->zone->apex) > dname_labels(best->zone->apex)))
			best = s;
	}
	return best;
}

/* ---- the truth ---- */

static bool is_seen(const struct internet *net, unsigned number, bool by_alias)
{
	/* local zones are for what clients ask for, not for what aliases lead to */
	bool own = net->sites[SITE_OWN].zone && !net->own_off && !(by_alias && net->own_kind == OWN_LOCAL);

	if (!net->sites[number].zone || net->sites[number].gone)
		return false;
	return !(number == SITE_PUBLIC && own) && !(number == SITE_OWN && !own);
}

bool internet_knows(const struct internet *net, unsigned site)
{
	return is_seen(net, site, false);
}

struct site *internet_site_of(struct internet *net, const struct question *q, bool by_alias)
{
	struct site *best = &net->sites[SITE_ROOT];

	for (unsigned i = 1; i < SITES; i++) {
		struct site *s = &net->sites[i];
		unsigned labels, most = dname_labels(best->zone->apex);

		if (!is_seen(net, i, by_alias))
			continue;
		labels = dname_labels(s->zone->apex);
		if (dname_is_under(q->name, s->zone->apex) && labels > most &&
		    !(q->type == TYPE_DS && dname_equals(q->name, s->zone->apex)))
			best = s;
	}
	return best;
}

bool site_is_contested(const struct site *s)
{
	for (;; s = s->parent) {
		bool here = s->held & HELD_UP && !(s->held & HELD_FALLS_BACK);

		if (s->hostile || (s->second && !here) || (s->home != s && !here && site_is_contested(s->home)))
			return true;
		if (s->configured || (s->anchored && here) || s->parent == s)
			return false;
	}
}

/* Denials of what is above it are not looked into, as they cost too much: anybody may tell them. */
static bool is_beneath_costly(const struct site *s)
{
	for (;; s = s->parent) {
		if (s->zone->iterations > ITERATIONS_BELIEVED)
			return true;
		if (s->configured || s->anchored || s->parent == s)
			return s->zone->iterations > ITERATIONS_BELIEVED;
	}
}

/* What the steps' ANSWER sections say, and the last one's AUTHORITY. */
static bool take_step(struct told *to, const struct told *step, struct question *q, struct arena *a)
{
	bool follows = false;

	to->rcode = step->rcode;
	for (unsigned i = 0; i < step->count; i++) {
		const struct told_record *r = &step->records[i];

		if (r->section != SECTION_ANSWER || r->type == TYPE_RRSIG)
			continue;
		told_record(to, SECTION_ANSWER, arena_copy(a, r->owner, dname_len(r->owner)), r->type, r->ttl_s,
			    r->rdata);
		if (r->type == TYPE_CNAME && q->type != TYPE_CNAME) {
			q->name = r->rdata.at;
			q->name_len = (uint16_t)r->rdata.len;
			follows = true;
		}
	}
	return follows;
}

/* What a zone that is held here tells clients: its own, and not proven. */
static void held_truth(struct internet *net, const struct site *held, struct truth *truth)
{
	static struct told step;
	struct question q = truth->asked;
	bool follows = true;

	truth->secure = truth->hostile = truth->contested = false;
	for (truth->steps = 0; follows && truth->steps < 20 && dname_is_under(q.name, held->zone->apex); truth->steps++) {
		told_honest(&step, held->zone, &q, &net->arena);
		follows = take_step(&truth->told, &step, &q, &net->arena);
	}
}

static void own_truth(struct internet *net, const struct question *asked, bool by_alias, struct truth *truth)
{
	static struct told step;
	struct question q = *asked;
	struct site *held;
	bool follows = true;

	told_begin(&truth->told);
	truth->asked = *asked;
	if (!by_alias && (held = held_for_client(net, asked))) {
		held_truth(net, held, truth);
		return;
	}
	truth->secure = true;
	truth->hostile = truth->contested = false;
	for (truth->steps = 0; follows && truth->steps < 20; truth->steps++) {
		struct site *s = internet_site_of(net, &q, by_alias || truth->steps > 0);

		told_honest(&step, s->zone, &q, &net->arena);
		places_tell(net, s, &step);
		truth->secure &= s->secure && !step.insecure;
		truth->hostile |= s->hostile || (site_is_contested(s) && (is_beneath_costly(s) || s == net->placed));
		truth->contested |= site_is_contested(s);
		follows = take_step(&truth->told, &step, &q, &net->arena);
	}
}

static bool has_answer(const struct told *t, uint16_t type)
{
	for (unsigned i = 0; i < t->count; i++)
		if (t->records[i].section == SECTION_ANSWER && t->records[i].type == type)
			return true;
	return false;
}

/* DNS64: with the IPv4 addresses behind 64:ff9b::/96 (RFC 6147). */
static void embed_addresses(struct internet *net, struct told *t)
{
	uint8_t ip6[16] = { 0, 0x64, 0xff, 0x9b };

	for (unsigned i = 0; i < t->count; i++) {
		struct told_record *r = &t->records[i];

		if (r->type != TYPE_A || r->section != SECTION_ANSWER)
			continue;
		memcpy(ip6 + 12, r->rdata.at, 4);
		r->type = TYPE_AAAA;
		r->rdata = (struct slice){ arena_copy(&net->arena, ip6, sizeof(ip6)), sizeof(ip6) };
	}
}

/* What is here is told as it is. */
static bool is_here(struct internet *net, const struct question *q)
{
	const struct site *own = &net->sites[SITE_OWN];

	return held_for_client(net, q) || (net->own_kind == OWN_LOCAL && own->zone && !net->own_off &&
					   dname_is_under(q->name, own->zone->apex));
}

void internet_truth(struct internet *net, const struct question *asked, bool by_alias, struct truth *truth)
{
	static struct truth of_four;
	struct question q = *asked;

	own_truth(net, asked, by_alias, truth);
	truth->made = false;
	if (!net->synthesizes || net->wants_own || asked->type != TYPE_AAAA || truth->told.rcode || has_answer(&truth->told, TYPE_AAAA) ||
	    (!by_alias && is_here(net, asked)))
		return;
	q.type = TYPE_A;
	own_truth(net, &q, by_alias, &of_four);
	truth->secure &= of_four.secure;
	truth->hostile |= of_four.hostile;
	truth->contested |= of_four.contested;
	truth->steps += of_four.steps;
	if (!has_answer(&of_four.told, TYPE_A))
		return;
	embed_addresses(net, &of_four.told);
	truth->made = true;
	told_copy(&truth->told, &of_four.told);
}

static bool set_has(const struct set *s, const uint8_t *owner, uint16_t type, struct slice rdata)
{
	if (s->type != type || !dname_equals(s->owner, owner))
		return false;
	for (unsigned i = 0; i < s->count; i++)
		if (s->rdata[i].len == rdata.len && memcmp(s->rdata[i].at, rdata.at, rdata.len) == 0)
			return true;
	return false;
}

bool internet_has(struct internet *net, const uint8_t *owner, uint16_t type, struct slice rdata)
{
	for (unsigned i = 0; i < SITES; i++) {
		const struct zone *z = net->sites[i].zone;

		for (unsigned n = 0; z && n < z->count; n++)
			if (set_has(z->sets[n], owner, type, rdata))
				return true;
		for (unsigned n = 0; z && n < z->former_count; n++)
			if (set_has(z->former[n], owner, type, rdata))
				return true;
	}
	return places_has(net, owner, type, rdata);
}
