/* More of the rules of adversary.def: those that take more than one step, or what others have signed.
 * SPDX-License-Identifier: BSD-3-Clause */
#include <string.h>

#include "testdata/hostile/adversary.h"
#include "testdata/hostile/keys.h"
#include "util/base/mem.h"
#include "util/dns/denial.h"

static void tell(struct attack *a, enum section section, const struct set *s, struct slice sig)
{
	for (unsigned i = 0; i < s->count; i++)
		told_record(a->told, section, s->owner, s->type, s->ttl_s, s->rdata[i]);
	if (sig.len)
		told_record(a->told, section, s->owner, TYPE_RRSIG, s->ttl_s, sig);
}

static struct slice sign_as(const struct attack *a, const struct zone *z, const struct set *s, uint32_t from, uint32_t until)
{
	struct signing how = { .key = z->key, .signer = z->apex, .from = from, .until = until };

	return z->key == NO_KEY ? (struct slice){ NULL, 0 } : set_sign(a->arena, s, &how);
}

static const uint8_t *child_of(const struct attack *a, const uint8_t *name, const char *label)
{
	const uint8_t *first = name_make(a->arena, label);
	uint8_t to[DNAME_MAX];
	size_t len = dname_join(to, first, dname_len(first) - 1, name);

	return len ? arena_copy(a->arena, to, len) : name;
}

static struct set *set_of(const struct attack *a, const uint8_t *owner, uint16_t type, uint32_t ttl_s, struct slice rdata)
{
	struct set *s = arena_new(a->arena, struct set);

	memset(s, 0, sizeof(*s));
	s->owner = owner;
	s->type = type;
	s->ttl_s = ttl_s;
	s->count = 1;
	s->rdata[0] = (struct slice){ arena_copy(a->arena, rdata.at, rdata.len), rdata.len };
	return s;
}

/* Servers or mail hosts, each one label longer than the one before, and many addresses of the deepest. */
void rule_homes(struct attack *a)
{
	enum { DEPTH = 64, HOMES = 24, EACH = 80 };
	const bool mx = a->q->type == TYPE_MX;
	const uint8_t *name = a->site->zone->apex, *names[DEPTH];
	unsigned homes = MIN(1 + pick(a, 4 * HOMES), HOMES), each = pick(a, 4) ? EACH : 1 + pick(a, EACH);
	struct slice sig = { (const uint8_t *)"\0\2\17\1\0\0\16\20\x6d\0\0\0\x6a\0\0\0\0\0\0x", 20 };

	if (a->q->type != TYPE_NS && !mx)
		return;
	told_begin(a->told);
	a->told->flags = FLAG_AA;
	a->told->squeeze = SQUEEZE_WHOLE;
	for (unsigned i = 0; i < DEPTH; i++) {
		uint8_t rdata[2 + DNAME_MAX] = { 0, 10 };

		names[i] = name = child_of(a, name, "a");
		memcpy(rdata + 2 * mx, name, dname_len(name));
		told_record(a->told, SECTION_ANSWER, a->q->name, a->q->type, 3600,
			    set_of(a, name, TYPE_NS, 0, (struct slice){ rdata, 2 * mx + dname_len(name) })->rdata[0]);
	}
	if (pick(a, 2) == 0)
		told_record(a->told, SECTION_ANSWER, a->q->name, TYPE_RRSIG, 3600, sig);
	for (unsigned i = DEPTH - homes; i < DEPTH; i++)
		for (unsigned n = 0; n < each; n++)
			told_record(a->told, SECTION_ADDITIONAL, names[i], TYPE_A, 3600,
				    set_of(a, name, TYPE_A, 0, (struct slice){ (uint8_t[]){ 203, 0, 113, (uint8_t)n }, 4 })->rdata[0]);
}

/* A range of names that begins at his and ends at another's, with his good signature and another's beside it: as an
 * answer, or as a denial. */
void rule_borrowed(struct attack *a)
{
	static const char *const ends[] = { "zz", "zzz.t", "w", "zzz.u" };
	static const uint8_t types[] = { 0, 6, 0x40, 0, 0, 0, 0, 3 };
	const struct zone *z = a->site->zone;
	const uint8_t *next = name_make(a->arena, ends[pick(a, COUNT(ends))]), *signer = a->q->name;
	uint8_t rdata[DNAME_MAX + sizeof(types)];
	size_t next_len = dname_len(next);
	struct slice sig, other;
	uint8_t *forged;
	struct set *s;

	if (!a->site->hostile)
		return;
	memcpy(rdata, next, next_len);
	memcpy(rdata + next_len, types, sizeof(types));
	s = set_of(a, a->q->name, TYPE_NSEC, 3600, (struct slice){ rdata, next_len + sizeof(types) });
	sig = sign_as(a, z, s, SIGNED_FROM, SIGNED_UNTIL);
	for (unsigned up = 1 + pick(a, 3); up; up--)
		signer = dname_parent(signer);
	other = set_sign(a->arena, s, &(struct signing){ .key = 25, .signer = signer, .from = SIGNED_FROM, .until = SIGNED_UNTIL });
	forged = arena_copy(a->arena, other.at, other.len);
	tell(a, a->q->type == TYPE_NSEC ? SECTION_ANSWER : SECTION_AUTHORITY, s, sig);
	told_record(a->told, SECTION_AUTHORITY, s->owner, TYPE_RRSIG, 3600, (struct slice){ forged, other.len });
	a->told->records[a->told->count - 1].section = a->q->type == TYPE_NSEC ? SECTION_ANSWER : SECTION_AUTHORITY;
}

/* What the zone's owner once signed, or will, with other data: kept, and told when it is not in force. */
void rule_not_in_force(struct attack *a)
{
	const struct zone *z = a->site->zone;
	uint16_t type = pick(a, 2) ? a->q->type : pick_type(a);
	struct set *s = pick_set(a, pick(a, 4) ? a->q->name : pick_name(a), type);
	bool past = pick(a, 2) == 0;

	if (pick(a, 2))
		a->told->count = 0;
	tell(a, type == TYPE_NSEC || type == TYPE_NSEC3 ? SECTION_AUTHORITY : SECTION_ANSWER, s,
	     past ? sign_as(a, z, s, SIGNED_FROM - 1000000, SIGNED_FROM) : sign_as(a, z, s, SIGNED_UNTIL, SIGNED_UNTIL + 1000000));
}

/* A delegation strictly below the zone that is asked, to the same server, for longer than it has itself. */
void rule_deeper(struct attack *a)
{
	static const uint32_t ttls[] = { 86400, 604800, 3600, 0, 0x7fffffff };
	const uint8_t *cut = a->q->name, *ns;
	uint8_t ip[4] = { 203, 0, 113, 0 }, ip6[16] = { 0x20, 1, 0xd, 0xb8, 0, 0x66 };
	uint32_t ttl_s = ttls[pick(a, COUNT(ttls))];
	unsigned extra = dname_labels(cut) - dname_labels(a->site->zone->apex);

	if (!dname_is_strictly_under(cut, a->site->zone->apex) || !a->site->server)
		return;
	for (unsigned up = pick(a, extra); up; up--)
		cut = dname_parent(cut);
	if (a->site == &a->net->sites[SITE_GONE]) {
		memmove(a->net->ghosts + 1, a->net->ghosts, sizeof(a->net->ghosts) - sizeof(*a->net->ghosts));
		a->net->ghosts[0] = cut;
	}
	ns = child_of(a, cut, "ns");
	ip[3] = ip6[15] = a->site->second ? a->site->second : a->site->server;
	told_begin(a->told);
	told_record(a->told, SECTION_AUTHORITY, cut, TYPE_NS, ttl_s, (struct slice){ ns, dname_len(ns) });
	told_record(a->told, SECTION_ADDITIONAL, ns, TYPE_A, ttl_s,
		    set_of(a, ns, TYPE_A, 0, (struct slice){ ip, sizeof(ip) })->rdata[0]);
	if (a->net->six && pick(a, 2))
		told_record(a->told, SECTION_ADDITIONAL, ns, TYPE_AAAA, ttl_s,
			    set_of(a, ns, TYPE_AAAA, 0, (struct slice){ ip6, sizeof(ip6) })->rdata[0]);
}

/* A good signature of his counts fewer labels than there are, so that the set stands for a wildcard's. */
void rule_from_wildcard(struct attack *a)
{
	const struct zone *z = a->site->zone;
	uint16_t type = pick(a, 2) ? a->q->type : pick_type(a);
	struct set *s = pick_set(a, a->q->name, type);
	unsigned labels = dname_labels(a->q->name) - dname_is_wildcard(a->q->name);
	struct signing how = { .key = z->key, .signer = z->apex, .from = SIGNED_FROM, .until = SIGNED_UNTIL };

	if (!a->site->hostile || z->key == NO_KEY || labels <= dname_labels(z->apex))
		return;
	how.labels_less = (uint8_t)(1 + pick(a, labels - dname_labels(z->apex)));
	if (pick(a, 2))
		a->told->count = 0;
	tell(a, type == TYPE_NSEC || type == TYPE_NSEC3 ? SECTION_AUTHORITY : SECTION_ANSWER, s, set_sign(a->arena, s, &how));
}

/* The true denial of one zone beside the answer of another: the parent of the name, its child, a neighbour. */
void rule_denied_from(struct attack *a)
{
	static struct told other;
	const struct zone *z = pick(a, 2) ? a->site->parent->zone : pick_site(a)->zone;
	struct question q = *a->q;
	unsigned rcode = pick(a, 3);

	while (!dname_is_under(q.name, z->apex) && dname_labels(z->apex))
		z = pick(a, 2) ? a->net->sites[SITE_T].zone : a->net->sites[SITE_ROOT].zone;
	told_honest(&other, z, &q, a->arena);
	if (pick(a, 4))
		told_begin(a->told);
	for (unsigned i = 0; i < other.count; i++)
		if (other.records[i].section == SECTION_AUTHORITY || pick(a, 2))
			told_record(a->told, other.records[i].section, other.records[i].owner, other.records[i].type,
				    other.records[i].ttl_s, other.records[i].rdata);
	a->told->rcode = rcode == 0 ? other.rcode : rcode == 1 ? RCODE_NXDOMAIN : RCODE_NOERROR;
	a->told->flags = FLAG_AA;
}

/* RFC 9460 7.3; returns the length. */
static size_t put_hint(const struct attack *a, uint8_t *to)
{
	static const struct slice hints[] = {
		{ (const uint8_t *)"\0\4\0\4\313\0\161\102", 8 },
		{ (const uint8_t *)"\0\4\0\10\300\0\2\2\313\0\161\105", 12 },
		{ (const uint8_t *)"\0\4\0\4\306\063\144\11", 8 },
		{ (const uint8_t *)"\0\6\0\20\0\0\0\0\0\0\0\0\0\0\377\377\313\0\161\105", 20 },
	};
	const struct slice *hint = &hints[pick(a, COUNT(hints))];

	memcpy(to, hint->at, hint->len);
	return hint->len;
}

/* Hosts of services, named by strange types, with addresses that are others'. */
void rule_hosts(struct attack *a)
{
	static const uint16_t types[] = { TYPE_SRV, TYPE_SVCB, TYPE_HTTPS, TYPE_MX, TYPE_NAPTR };
	uint16_t type = pick(a, 3) ? a->q->type : types[pick(a, COUNT(types))];
	const uint8_t *host = pick_name(a);
	uint8_t rdata[32 + DNAME_MAX] = { 0 };
	size_t head = type == TYPE_SRV ? 6 : type == TYPE_NAPTR ? 7 : 2, len = head + dname_len(host);

	if (type != TYPE_SRV && type != TYPE_SVCB && type != TYPE_HTTPS && type != TYPE_MX && type != TYPE_NAPTR)
		return;
	rdata[1] = 1;
	memcpy(rdata + head, host, len - head);
	if ((type == TYPE_SVCB || type == TYPE_HTTPS) && pick(a, 2))
		len += put_hint(a, rdata + len);
	if (pick(a, 2))
		told_begin(a->told);
	told_record(a->told, SECTION_ANSWER, a->q->name, type, pick_ttl(a),
		    set_of(a, host, type, 0, (struct slice){ rdata, len })->rdata[0]);
	tell_signed(a, SECTION_ADDITIONAL, pick_set(a, host, TYPE_A));
}

/* A server of his, which answers whatever it is asked. */
static uint8_t own_server(const struct attack *a)
{
	static const enum site_number his[] = { SITE_EVIL, SITE_BAD, SITE_GONE };

	for (unsigned i = 0; i < COUNT(his); i++)
		if (a->net->sites[his[i]].zone)
			return a->net->sites[his[i]].server;
	return a->site->second;
}

/* Who asks for what is called by the host's name: a delegation below his zone, his own servers, or the answer. */
static void call_for(struct attack *a, const uint8_t *host)
{
	const uint8_t *apex = a->site->zone->apex;
	bool delegates = a->q->type != TYPE_NS && a->q->type != TYPE_MX && dname_is_strictly_under(a->q->name, apex);
	uint8_t rdata[2 + DNAME_MAX] = { 0, 10 };
	size_t head = a->q->type == TYPE_MX ? 2 : 0, len = dname_len(host);

	memcpy(rdata + head, host, len);
	if (delegates) {
		told_begin(a->told);
		told_record(a->told, SECTION_AUTHORITY, a->q->name, TYPE_NS, pick_ttl(a), (struct slice){ host, len });
	} else if (a->q->type == TYPE_NS || a->q->type == TYPE_MX) {
		told_begin(a->told);
		a->told->flags = FLAG_AA;
		told_record(a->told, SECTION_ANSWER, a->q->name, a->q->type, pick_ttl(a),
			    set_of(a, host, a->q->type, 0, (struct slice){ rdata, head + len })->rdata[0]);
	} else {
		told_record(a->told, SECTION_AUTHORITY, apex, TYPE_NS, pick_ttl(a), (struct slice){ host, len });
	}
}

/* Addresses of his own under the name of a victim's server, in any section, with who calls for them or without. */
void rule_glue(struct attack *a)
{
	const struct site *s = pick_site(a);
	const uint8_t *host;
	uint8_t ip[4] = { 203, 0, 113, own_server(a) }, ip6[16] = { 0x20, 1, 0xd, 0xb8, 0, 0x66 };
	enum section section = pick(a, 3) ? SECTION_ADDITIONAL : pick_section(a);
	uint32_t ttl_s = pick_ttl(a);

	ip6[15] = ip[3];
	host = internet_server_name(a->net, s->hostile ? &a->net->sites[SITE_T] : s);
	if (pick(a, 4))
		call_for(a, host);
	told_record(a->told, section, host, TYPE_A, ttl_s, set_of(a, host, TYPE_A, 0, (struct slice){ ip, sizeof(ip) })->rdata[0]);
	if (a->net->six && pick(a, 2))
		told_record(a->told, section, host, TYPE_AAAA, ttl_s,
			    set_of(a, host, TYPE_AAAA, 0, (struct slice){ ip6, sizeof(ip6) })->rdata[0]);
}

/* An NSEC of his zone from `owner` to `next`, with nothing but itself at its owner. */
static void deny_range(struct attack *a, const uint8_t *owner, const uint8_t *next)
{
	static const uint8_t types[] = { 0, 6, 0, 0, 0, 0, 0, 3 }; /* RRSIG NSEC */
	uint8_t rdata[DNAME_MAX + sizeof(types)];
	const struct zone *z = a->site->zone;
	struct set *s;

	memcpy(rdata, next, dname_len(next));
	memcpy(rdata + dname_len(next), types, sizeof(types));
	s = set_of(a, owner, TYPE_NSEC, 300, (struct slice){ rdata, dname_len(next) + sizeof(types) });
	tell(a, SECTION_AUTHORITY, s, sign_as(a, z, s, SIGNED_FROM, SIGNED_UNTIL));
}

/* An NSEC3 of his zone at the name, or (NULL) over almost all names there are. */
static void deny_hashes(struct attack *a, const uint8_t *name)
{
	uint8_t rdata[6 + NSEC3_HASH_LEN + 2] = { NSEC3_SHA1, (uint8_t)pick(a, 2), 0, 0, 0, NSEC3_HASH_LEN };
	uint8_t hash[NSEC3_HASH_LEN] = { 0 }, owner[DNAME_MAX];
	const struct zone *z = a->site->zone;
	struct set *s;

	memset(rdata + 6, 0xff, NSEC3_HASH_LEN);
	if (name) {
		nsec3_hash(name, (struct slice){ NULL, 0 }, 0, hash);
		memcpy(rdata + 6, hash, NSEC3_HASH_LEN);
		rdata[6 + NSEC3_HASH_LEN - 1]++;
	}
	if (!nsec3_owner(hash, z->apex, owner))
		return;
	s = set_of(a, arena_copy(a->arena, owner, dname_len(owner)), TYPE_NSEC3, 300,
		   (struct slice){ rdata, 6 + NSEC3_HASH_LEN });
	tell(a, SECTION_AUTHORITY, s, sign_as(a, z, s, SIGNED_FROM, SIGNED_UNTIL));
}

/* Nothing is beside the name that is asked for, or it has no data: also where he has delegated what is above it. The
 * proof is near the name, or in what his zone has at its top. */
void rule_denied_below(struct attack *a)
{
	const struct zone *z = a->site->zone;
	const uint8_t *name = a->q->name, *top = child_of(a, z->apex, "zz");
	bool there = pick(a, 2), star = pick(a, 2);

	if (!a->site->hostile || !dname_is_strictly_under(name, z->apex))
		return;
	told_begin(a->told);
	a->told->flags = FLAG_AA;
	a->told->rcode = there ? RCODE_NOERROR : RCODE_NXDOMAIN;
	told_set(a->told, SECTION_AUTHORITY, z, zdata_find(z, z->apex, TYPE_SOA), NULL);
	switch (pick(a, 4)) {
	case 0:
		deny_range(a, there ? name : child_of(a, dname_parent(name), "!"), child_of(a, dname_parent(name), "zz"));
		break;
	case 1:
		deny_range(a, star ? child_of(a, z->apex, "*") : z->apex, top);
		if (!star && there)
			deny_range(a, child_of(a, z->apex, "*"), top);
		break;
	case 2:
		deny_hashes(a, z->apex);
		deny_hashes(a, NULL);
		if (there)
			deny_hashes(a, child_of(a, z->apex, "*"));
		break;
	default:
		deny_hashes(a, name);
	}
}

/* Many NSEC3 of his zone, each well signed: to see whether they deny what was asked for, each is hashed for. */
void rule_costly(struct attack *a)
{
	static const uint8_t iterations[] = { 150, 151, 0, 255 };
	const struct zone *z = a->site->zone;
	unsigned count = 1 + pick(a, 60), cost = pick(a, COUNT(iterations)), salts = 1 + pick(a, 4);
	bool matches = pick(a, 2);

	if (!a->site->hostile || !dname_is_under(a->q->name, z->apex))
		return;
	told_begin(a->told);
	a->told->flags = FLAG_AA;
	a->told->rcode = pick(a, 2) ? RCODE_NXDOMAIN : RCODE_NOERROR;
	told_set(a->told, SECTION_AUTHORITY, z, zdata_find(z, z->apex, TYPE_SOA), NULL);
	for (unsigned i = 0; i < count; i++) {
		uint8_t rdata[7 + NSEC3_HASH_LEN] = { NSEC3_SHA1, (uint8_t)pick(a, 2), 0, iterations[cost], 1, (uint8_t)(i % salts), NSEC3_HASH_LEN };
		uint8_t hash[NSEC3_HASH_LEN] = { (uint8_t)(i * 4) }, owner[DNAME_MAX];
		struct set *s;

		if (matches && i < salts)
			nsec3_hash(z->apex, (struct slice){ rdata + 5, 1 }, iterations[cost], hash);
		memcpy(rdata + 7, hash, NSEC3_HASH_LEN);
		rdata[7] = (uint8_t)(hash[0] + 4);
		if (!nsec3_owner(hash, z->apex, owner))
			return;
		s = set_of(a, arena_copy(a->arena, owner, dname_len(owner)), TYPE_NSEC3, 300, (struct slice){ rdata, sizeof(rdata) });
		tell(a, SECTION_AUTHORITY, s, sign_as(a, z, s, SIGNED_FROM, SIGNED_UNTIL));
	}
}
