/* The name servers of the current zone, and the addresses known for them.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "iterator/delegation.h"

#include "iterator/route_zone.h"
#include "services/answer/nat64.h"
#include "services/cache/msg.h"
#include "services/cache/rrset.h"
#include "services/forward/forward.h"
#include "services/query/query.h"
#include "services/query/snapshot.h"
#include "util/base/timebase.h"
#include "util/conf/options.h"
#include "util/dns/rr.h"

#define DNS_PORT      53
#define NAMES_MAX     128 /* servers' names taken from NS sets, per delegation: each is compared with all others */
#define ADDRESSES_MAX 6   /* addresses per name server … */
#define ADDRESSES_OF_ONE_KIND 4 /* … of one family, which leaves room for the other */
#define ADDRESSES_CONFIGURED 32 /* of one family, per server of a configured zone */

static const uint8_t *keep_name(struct arena *a, const uint8_t *name)
{
	return arena_copy(a, name, dname_len(name));
}

/* The array with room for one more element at its end: itself, or a larger copy in the arena. */
static void *with_room(struct arena *a, void *old, unsigned count, unsigned *room, size_t element)
{
	if (count < *room)
		return old;
	*room = *room ? *room * 2 : 8;
	uint8_t *grown = arena_zeros(a, *room, element);
	if (count)
		memcpy(grown, old, count * element);
	return grown;
}

struct delegation *delegation_new(struct arena *a, const uint8_t *zone)
{
	struct delegation *d = arena_new(a, struct delegation);

	d->zone = keep_name(a, zone);
	return d;
}

struct ns *delegation_find(const struct delegation *d, const uint8_t *name)
{
	for (unsigned i = 0; i < d->name_count; i++) {
		if (dname_equals(d->names[i].name, name))
			return &d->names[i];
	}
	return NULL;
}

struct ns *delegation_add_name(struct delegation *d, struct arena *a, const uint8_t *name)
{
	struct ns *n = delegation_find(d, name);

	if (n)
		return n;
	d->names = with_room(a, d->names, d->name_count, &d->name_room, sizeof(*n));
	n = &d->names[d->name_count++];
	n->name = keep_name(a, name);
	n->port = DNS_PORT;
	return n;
}

void delegation_add_names(struct delegation *d, struct arena *a, const struct rrset *ns_set,
			  bool parent_side)
{
	struct rrset_walk w = rrset_records(ns_set);

	for (struct slice rd; d->name_count < NAMES_MAX && rrset_next(&w, &rd);) {
		const uint8_t *name = rr_rdata_name(TYPE_NS, rd.at, rd.len);
		if (delegation_find(d, name))
			continue;
		delegation_add_name(d, a, name)->parent_side = parent_side;
	}
}

/* Whether both lead to the same server, though one is known by now to be reached through NAT64. */
static bool is_same_target(const struct target *known, const struct target *p)
{
	if (known->ip4 && p->addr.family == 4)
		return known->ip4 == get_u32(p->addr.ip) && known->addr.port == p->addr.port;
	return addr_equals(&known->addr, &p->addr);
}

bool delegation_add_target(struct delegation *d, struct arena *a, const struct target *p)
{
	for (unsigned i = 0; i < d->target_count; i++) {
		if (!is_same_target(&d->targets[i], p))
			continue;
		if (!p->parent_side)
			d->targets[i].parent_side = false;
		return false;
	}
	if (d->target_count >= DELEGATION_TARGETS)
		return false;
	d->targets = with_room(a, d->targets, d->target_count, &d->target_room, sizeof(*p));
	d->targets[d->target_count++] = *p;
	return true;
}

struct target *delegation_target_now(const struct delegation *d, struct target *p)
{
	for (unsigned i = 0; i < d->target_count; i++)
		if (addr_equals(&d->targets[i].addr, &p->addr))
			return &d->targets[i];
	return p;
}

static bool read_address(const struct rrset *set, struct slice rdata, uint16_t port,
			 struct addr *out)
{
	size_t len = set->type == TYPE_A ? 4 : 16;

	if (rdata.len != len)
		return false;
	*out = (struct addr){ .family = set->type == TYPE_A ? 4 : 6, .port = port };
	memcpy(out->ip, rdata.at, len);
	return !addr_is_absurd(out);
}

/* How many addresses may be taken from one more RRset of a server with `have` addresses. */
static unsigned room_for(const struct delegation *d, unsigned have)
{
	return d->config ? ADDRESSES_CONFIGURED : MIN(ADDRESSES_OF_ONE_KIND, ADDRESSES_MAX - have);
}

unsigned delegation_add_set(struct delegation *d, struct arena *a, const struct rrset *set,
			    bool parent_side)
{
	struct ns *n = delegation_find(d, rrset_owner(set));
	uint8_t none = 0, *have = !n ? &none : parent_side ? &n->parent_addresses : &n->addresses;
	unsigned room = room_for(d, *have);
	struct rrset_walk w = rrset_records(set);
	unsigned added = 0, seen = 0;

	if (n && set->type == TYPE_A)
		n->v4 = LOOKUP_FOUND;
	else if (n)
		n->v6 = LOOKUP_FOUND;
	for (struct slice rd; seen < room && rrset_next(&w, &rd); seen++) {
		struct target p = {
			.tls_name = n ? n->tls_name : NULL,
			.http_path = n ? n->http_path : NULL,
			.parent_side = parent_side || (n && n->parent_side),
		};
		if (read_address(set, rd, n ? n->port : DNS_PORT, &p.addr))
			added += delegation_add_target(d, a, &p);
	}
	*have = (uint8_t)MIN(*have + seen, (unsigned)ADDRESSES_MAX);
	return added;
}

void delegation_add_servers(struct delegation *d, struct arena *a, const struct forward_zone *z)
{
	for (size_t i = 0; i < z->server_count; i++) {
		const struct forward_server *s = &z->servers[i];
		if (s->addr.family) {
			struct target p = { .addr = s->addr,
					    .tls_name = s->tls_name,
					    .http_path = s->http_path };
			delegation_add_target(d, a, &p);
		} else {
			struct ns *n = delegation_add_name(d, a, s->host);
			n->port = s->port;
			n->tls_name = s->tls_name;
			n->http_path = s->http_path;
		}
	}
}

struct delegation *delegation_from_config(struct arena *a, const struct forward_zone *z)
{
	struct delegation *d = delegation_new(a, z->name);

	d->config = z;
	d->forward = !z->is_stub;
	d->transport = z->transport;
	d->knows_parent = !z->first;
	delegation_add_servers(d, a, z);
	return d;
}

static void expire(struct delegation *d, const struct rrset *ns_set)
{
	d->expires = true;
	d->expires_s = d->parent_until_s = ns_set->expires_s;
}

uint32_t delegation_last_second(const struct delegation *above, uint32_t expires_s)
{
	return above->expires && time_is_past(expires_s, above->expires_s) ? above->expires_s : expires_s;
}

void delegation_limit(struct delegation *d, const struct delegation *above)
{
	d->expires_s = delegation_last_second(above, d->expires_s);
}

static const struct rrset *ns_set_of(const struct message *m, const struct question *q)
{
	for (int s = SECTION_AUTHORITY; s >= SECTION_ANSWER; s--) {
		unsigned count;
		const struct rrset **sets = message_section(m, (enum section)s, &count);
		for (unsigned i = 0; i < count; i++) {
			if (sets[i]->type == TYPE_NS && sets[i]->class_ == q->class_)
				return sets[i];
		}
	}
	return NULL;
}

/* Whether the zone itself has a trust anchor, so that it must be signed. */
static bool is_anchored(const struct query *q, const uint8_t *zone)
{
	const uint8_t *point = q->env->trust_point ? q->env->trust_point(q, zone, TYPE_A) : NULL;

	return point && dname_equals(point, zone);
}

/* Whether with this DS set (or NULL) what the zone says is validated by its keys. */
static bool is_validated_by(const struct query *q, const struct rrset *ds)
{
	return ds && (!q->env->needs_keys || q->env->needs_keys(q, ds));
}

struct delegation *delegation_from_message(const struct query *q, const struct message *m)
{
	struct arena *a = (struct arena *)&q->arena;
	const struct rrset *ns_set = ns_set_of(m, &m->q), *ds;
	unsigned count;

	if (ns_set == NULL)
		return NULL;
	struct delegation *d = delegation_new(a, rrset_owner(ns_set));
	expire(d, ns_set);
	delegation_add_names(d, a, ns_set, false);
	d->knows_parent = true;
	ds = message_find(m, SECTION_AUTHORITY, d->zone, TYPE_DS, m->q.class_);
	d->lacks_ds = !ds && !is_anchored(q, d->zone);
	d->expects_dnssec = is_validated_by(q, ds) || is_anchored(q, d->zone);
	const struct rrset **sets = message_section(m, SECTION_ADDITIONAL, &count);
	for (unsigned i = 0; i < count; i++) {
		if ((sets[i]->type == TYPE_A || sets[i]->type == TYPE_AAAA) &&
		    !(sets[i]->flags & RRSET_UNVERIFIED_GLUE) &&
		    delegation_find(d, rrset_owner(sets[i])))
			delegation_add_set(d, a, sets[i], false);
	}
	delegation_fill(d, q, false);
	return d;
}

/* ---- from the cache ---- */

struct delegation *delegation_from_cache(const struct query *q, const uint8_t *name,
					 uint16_t class_, uint32_t now_s)
{
	struct rrsetcache *cache = q->cache.rrsets;
	struct arena *a = (struct arena *)&q->arena;
	const struct rrset *best = NULL, *best_own = NULL;
	unsigned labels = dname_labels(name);

	for (unsigned i = 0; i <= labels; i++) {
		const uint8_t *zone = dname_suffix(name, i);
		const struct rrset *own = rrsetcache_find_stale(cache, zone, TYPE_NS, class_, 0);
		const struct rrset *given =
			rrsetcache_find(cache, zone, TYPE_NS, class_, RRSET_PARENT_SIDE, now_s);
		if (own && time_is_past(now_s, own->expires_s))
			break;
		if (!given)
			continue;
		best = given;
		best_own = own;
	}
	if (best == NULL)
		return NULL;

	struct delegation *d = delegation_new(a, rrset_owner(best));
	expire(d, best);
	delegation_add_names(d, a, best_own ? best_own : best, false);
	if (q->env->trust_point) { /* a validator is present */
		const struct rrset *ds = rrsetcache_find(cache, d->zone, TYPE_DS, class_, 0, now_s);
		d->expects_dnssec =
			(ds && ds->security == SECURITY_SECURE && is_validated_by(q, ds)) || is_anchored(q, d->zone);
	}
	delegation_fill(d, q, false);
	return d;
}

/* Whether the cache has a denial (NXDOMAIN or NODATA) of such addresses. */
static bool is_denied(const struct query *q, const uint8_t *name, uint16_t type)
{
	struct question wanted = {
		.name = name,
		.name_len = (uint16_t)dname_len(name),
		.type = type,
		.class_ = CLASS_IN,
	};
	const struct stored *s =
		msgcache_find(q->env->messages, &wanted, msgcache_hash(&wanted), q->scope,
			      true);

	if (s == NULL || time_is_past(q->env->time->now_s, s->expires_s))
		return false;
	if (s->rcode == RCODE_NXDOMAIN)
		return true;
	return s->rcode == RCODE_NOERROR && get_u16(stored_wire(s) + 6) == 0;
}

/* Whether the name of a server is resolved by others here than the zone it serves: then only the glue that came with
 * the delegation tells where to find it. */
static bool is_apart(const struct delegation *d, const struct query *q, const uint8_t *host)
{
	return !d->config && !route_is_same(route_zone(q, host, NULL), route_zone(q, d->zone, NULL));
}

static unsigned fill_one(struct delegation *d, const struct query *q, struct ns *n, uint16_t type,
			 bool unverified)
{
	const struct conf_server *conf = &q->snapshot->conf->server;
	struct arena *a = (struct arena *)&q->arena;
	uint8_t *state = type == TYPE_A ? &n->v4 : &n->v6;
	const struct rrset *set;

	if (!(type == TYPE_A ? nat64_reaches_ip4(conf) : conf->do_ip6))
		return 0;
	if (*state == LOOKUP_FOUND && !unverified)
		return 0;
	set = rrsetcache_find(q->cache.rrsets, n->name, type, CLASS_IN, 0, q->env->time->now_s);
	if (set == NULL && is_apart(d, q, n->name))
		set = rrsetcache_find(q->cache.rrsets, n->name, type, CLASS_IN, RRSET_PARENT_SIDE,
				      q->env->time->now_s);
	if (set && (unverified || !(set->flags & RRSET_UNVERIFIED_GLUE)))
		return delegation_add_set(d, a, set, false);
	if (set == NULL && *state == LOOKUP_OPEN && is_denied(q, n->name, type))
		*state = LOOKUP_NONE;
	return 0;
}

unsigned delegation_fill(struct delegation *d, const struct query *q, bool unverified)
{
	unsigned added = 0;

	for (unsigned i = 0; i < d->name_count; i++) {
		struct ns *n = &d->names[i];
		added += fill_one(d, q, n, TYPE_A, unverified);
		added += fill_one(d, q, n, TYPE_AAAA, unverified);
	}
	return added;
}

unsigned delegation_fill_parent_glue(struct delegation *d, const struct query *q)
{
	static const uint16_t types[] = { TYPE_A, TYPE_AAAA };
	struct arena *a = (struct arena *)&q->arena;
	unsigned added = 0;

	for (unsigned i = 0; i < d->name_count * COUNT(types); i++) {
		struct ns *n = &d->names[i / COUNT(types)];
		uint16_t type = types[i % COUNT(types)];
		const struct rrset *set = rrsetcache_find(q->cache.rrsets, n->name, type, CLASS_IN,
							  RRSET_PARENT_SIDE, q->env->time->now_s);
		if (set == NULL)
			continue;
		if (type == TYPE_A)
			n->parent_v4 = LOOKUP_FOUND;
		else
			n->parent_v6 = LOOKUP_FOUND;
		added += delegation_add_set(d, a, set, true);
	}
	return added;
}

void delegation_remember(struct delegation *d, struct arena *a, const struct delegation *failed)
{
	for (unsigned i = 0; i < failed->name_count; i++) {
		struct ns *n;
		if (delegation_find(d, failed->names[i].name))
			continue;
		n = delegation_add_name(d, a, failed->names[i].name);
		*n = failed->names[i];
		n->tried = true;
	}
	for (unsigned i = 0; i < failed->target_count; i++) {
		for (unsigned j = 0; j < d->target_count; j++) {
			if (is_same_target(&failed->targets[i], &d->targets[j]))
				d->targets[j].spent = failed->targets[i].spent;
		}
	}
}

/* ---- predicates ---- */

bool ns_wants(const struct ns *n, const struct query *q, bool v6)
{
	const struct conf_server *conf = &q->snapshot->conf->server;

	if (n->failed || !(v6 ? conf->do_ip6 : nat64_reaches_ip4(conf)))
		return false;
	return (v6 ? n->v6 : n->v4) == LOOKUP_OPEN;
}

bool ns_is_missing(const struct ns *n, const struct query *q)
{
	bool some = n->v4 == LOOKUP_FOUND || n->v6 == LOOKUP_FOUND;

	return !n->tried && !(q->depth && some) && (ns_wants(n, q, false) || ns_wants(n, q, true));
}

unsigned delegation_missing(const struct delegation *d, const struct query *q)
{
	unsigned missing = 0;

	for (unsigned i = 0; i < d->name_count; i++) {
		const struct ns *n = &d->names[i];
		missing += ns_is_missing(n, q);
	}
	return missing;
}

bool delegation_is_stuck(const struct delegation *d, const struct query *q, const uint8_t *name,
			 uint16_t type)
{
	if (d->target_count)
		return false;
	if ((type == TYPE_A || type == TYPE_AAAA) && dname_is_under(name, d->zone) &&
	    delegation_find(d, name))
		return true;
	for (unsigned i = 0; i < d->name_count; i++) {
		const struct ns *n = &d->names[i];
		if ((ns_wants(n, q, false) || ns_wants(n, q, true)) &&
		    !dname_is_under(n->name, d->zone))
			return false;
	}
	return true;
}

bool delegation_has_faltered(const struct delegation *d)
{
	return d->target_count == 1 && d->targets->faltered && d->targets->tries == 1;
}

void delegation_forgive(struct delegation *d)
{
	d->targets->spent = d->targets->faltered = false;
}

void delegation_refresh(struct delegation *d)
{
	for (unsigned i = 0; i < d->target_count; i++) {
		d->targets[i].tries = 0;
		d->targets[i].spent = false;
	}
}
