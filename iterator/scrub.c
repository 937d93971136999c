/* Removing from a response what may not be believed.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "iterator/scrub.h"

#include "iterator/aliases.h"
#include "iterator/route_zone.h"
#include "iterator/scrub_set.h"
#include "services/cache/rrset.h"
#include "services/query/env.h"
#include "services/query/query.h"
#include "services/query/snapshot.h"
#include "util/base/arena.h"
#include "util/base/timebase.h"
#include "util/conf/options.h"
#include "util/dns/rr.h"

/* RRsets in ANSWER, and records of one, that may call for something in ADDITIONAL. It may hold thousands, and
 * each is compared with all of those. */
#define CALLERS_MOST 64

/* What is kept of the message, section by section. */
struct kept {
	const struct scrub_how *how;
	const struct conf_server *conf;
	struct message *m;
	const struct rrset **sets; /* all three sections, one after the other */
	unsigned count[3];
	const struct rrset *cut; /* the only NS set of AUTHORITY that may stay */
	const struct rrset *ns;  /* the same, once it does */
	bool upward;            /* `ns` is for a zone above ours: no glue for it */
	bool has_soa;
	unsigned links; /* aliases that the answer begins with */
};

static unsigned kept_total(const struct kept *k)
{
	return k->count[0] + k->count[1] + k->count[2];
}

/* Ranking by RFC 2181 5.4.1. Of a chain of aliases only the first link, with the DNAME that it was made from, is
 * authoritative. */
static uint8_t trust_of(const struct kept *k, enum section s, unsigned place)
{
	bool aa = k->m->flags & FLAG_AA;

	switch (s) {
	case SECTION_ANSWER:
		if (aa && k->links && place > (k->sets[0] && k->sets[0]->type == TYPE_DNAME))
			return TRUST_NONAUTH_ANS_AA;
		return aa ? TRUST_ANS_AA : TRUST_ANS_NOAA;
	case SECTION_AUTHORITY:
		return aa ? TRUST_AUTH_AA : TRUST_AUTH_NOAA;
	default:
		return aa ? TRUST_ADD_AA : TRUST_ADD_NOAA;
	}
}

static void keep(struct kept *k, enum section s, const struct rrset *set)
{
	struct rrset *own = scrub_set_own(set);

	own->trust = trust_of(k, s, k->count[s]);
	own->security = SECURITY_UNCHECKED;
	k->sets[kept_total(k)] = own;
	k->count[s]++;
}

static bool is_inside(const struct kept *k, const struct rrset *set)
{
	return set->class_ == k->how->asked->class_ &&
	       dname_is_under(rrset_owner(set), k->how->zone);
}

/* Whether records of the type at that name come from the servers that what is wanted comes from. */
static bool is_theirs(const struct kept *k, const uint8_t *name, uint16_t type)
{
	const struct scrub_how *how = k->how;
	const uint8_t *zone;

	if (!how->q || how->asked->class_ != CLASS_IN)
		return true;
	zone = route_zone(how->q, route_look_name(name, type), how->failed_authzone);
	return route_is_same(zone, how->configured[0]) || route_is_same(zone, how->configured[1]);
}

/* The same for what leads down to it, which may stand in a zone configured above: what is wanted is
 * excepted from that. */
static bool is_on_the_way(const struct kept *k, const uint8_t *name, uint16_t type)
{
	const uint8_t *zone;

	if (is_theirs(k, name, type))
		return true;
	zone = route_zone(k->how->q, route_look_name(name, type), k->how->failed_authzone);
	return zone && dname_is_under(k->how->look, zone);
}

static bool is_answerable(const struct kept *k, const struct rrset *set)
{
	return is_inside(k, set) && is_theirs(k, rrset_owner(set), set->type);
}

/* ---- ANSWER ---- */

static const struct rrset *find_answer(const struct kept *k, const uint8_t *name, uint16_t type)
{
	const struct rrset *set =
		message_find(k->m, SECTION_ANSWER, name, type, k->how->asked->class_);

	return set && is_answerable(k, set) ? set : NULL;
}

/* The DNAME that covers `name`: strictly below its owner (RFC 6672 2.3). */
static const struct rrset *find_dname(const struct kept *k, const uint8_t *name)
{
	unsigned count;
	const struct rrset **sets = message_section(k->m, SECTION_ANSWER, &count);

	for (unsigned i = 0; i < count; i++) {
		if (sets[i]->type == TYPE_DNAME &&
		    dname_is_strictly_under(name, rrset_owner(sets[i])) &&
		    is_answerable(k, sets[i]) && is_theirs(k, name, TYPE_CNAME))
			return sets[i];
	}
	return NULL;
}

static bool was_kept(const struct kept *k, const struct rrset *set)
{
	for (unsigned i = 0; i < k->count[SECTION_ANSWER]; i++) {
		if (k->sets[i] == set)
			return true;
	}
	return false;
}

/* The CNAME for the DNAME: the server's if it agrees (its case, perhaps signed), else our own. */
static const struct rrset *cname_of(const struct kept *k, const struct rrset *dname,
				    const uint8_t *name)
{
	const struct rrset *made = scrub_synthesize(k->how->arena, dname, name);
	const struct rrset *given = find_answer(k, name, TYPE_CNAME);

	if (made && given &&
	    dname_equals(rrset_target(made, 0), rrset_target(given, 0)))
		return given;
	return made;
}

/* Follows one link of the alias chain from `*name`. False: the message contradicts itself. */
static bool take_link(struct kept *k, const uint8_t **name, bool *moved)
{
	const struct rrset *dname = find_dname(k, *name);
	const struct rrset *cname;

	*moved = false;
	if (dname) {
		cname = cname_of(k, dname, *name);
		if (!was_kept(k, dname))
			keep(k, SECTION_ANSWER, dname);
		if (cname == NULL)
			return k->m->rcode == RCODE_YXDOMAIN;
	} else {
		cname = find_answer(k, *name, TYPE_CNAME);
		if (cname == NULL)
			return true;
	}
	if (was_kept(k, cname))
		return true; /* a loop */
	k->links++;
	keep(k, SECTION_ANSWER, cname);
	*name = rrset_target(cname, 0);
	*moved = true;
	return true;
}

static void take_data(struct kept *k, const uint8_t *name)
{
	uint16_t wanted = k->how->asked->type;
	unsigned count;
	const struct rrset **sets = message_section(k->m, SECTION_ANSWER, &count);

	for (unsigned i = 0; i < count; i++) {
		if ((sets[i]->type == wanted || wanted == TYPE_ANY) &&
		    dname_equals(rrset_owner(sets[i]), name) && is_answerable(k, sets[i]))
			keep(k, SECTION_ANSWER, sets[i]);
	}
}

/* What was asked for stands before an alias of the same name, which should not be there (RFC 2181
 * 10.1). */
static bool precedes_alias(const struct kept *k, const struct question *q)
{
	unsigned count;
	const struct rrset **sets = message_section(k->m, SECTION_ANSWER, &count);

	for (unsigned i = 0; i < count; i++) {
		if ((sets[i]->type != q->type && sets[i]->type != TYPE_CNAME) ||
		    !dname_equals(rrset_owner(sets[i]), q->name) || !is_answerable(k, sets[i]))
			continue;
		return sets[i]->type == q->type;
	}
	return false;
}

/* Whether the servers of the zone speak for that name, the last of a chain: what they say of it is signed, it is in the
 * zone, and no cut is known in between. */
static bool speaks_for(const struct kept *k, const uint8_t *name)
{
	const struct scrub_how *how = k->how;
	unsigned above = dname_labels(how->zone), labels = dname_labels(name);
	const struct rrset *set = how->whole && k->m->flags & FLAG_AA && k->m->rcode == RCODE_NOERROR ?
					  find_answer(k, name, how->asked->type) : NULL;

	if (!set || !set->sig_count)
		return false;
	for (; labels > above; labels--)
		if (rrsetcache_find(how->q->cache.rrsets, dname_suffix(name, labels), TYPE_NS, set->class_, 0,
				    how->q->env->time->now_s))
			return false;
	return true;
}

static bool take_answer(struct kept *k)
{
	const struct question *q = k->how->asked;
	const uint8_t *name = q->name;
	bool covered = find_dname(k, name), moved = covered || !precedes_alias(k, q);
	/* a CNAME is the answer, what it leads to is not; with the DNAME that it is made from, which proves it */
	unsigned most = q->type == TYPE_CNAME ? 1 : k->conf->iter_scrub_cname;

	if (q->type == TYPE_ANY && !covered)
		moved = false;
	for (unsigned links = 0; moved && links < most; links++) {
		if (!take_link(k, &name, &moved))
			return false;
	}
	/* The target's data comes from the target's own servers, which we ask, but where these prove it; a
	 * forwarder speaks for all of them. */
	if (!moved && (name == q->name || k->how->forwarder || speaks_for(k, name)))
		take_data(k, name);
	return true;
}

/* ---- AUTHORITY ---- */

static bool authority_reaches(const struct kept *k, const struct rrset *set)
{
	return is_inside(k, set) && is_on_the_way(k, rrset_owner(set), set->type);
}

static bool message_has_soa(const struct kept *k)
{
	unsigned count;
	const struct rrset **sets = message_section(k->m, SECTION_AUTHORITY, &count);

	for (unsigned i = 0; i < count; i++) {
		if (sets[i]->type == TYPE_SOA && authority_reaches(k, sets[i]) &&
		    dname_is_under(k->how->asked->name, rrset_owner(sets[i])))
			return true;
	}
	return false;
}

/* Of several NS sets the one that leads on: below our zone, but no further than needed. Else the
 * first. */
static const struct rrset *find_cut(const struct kept *k)
{
	const struct rrset *cut = NULL;
	bool leads_on = false;
	unsigned count;
	const struct rrset **sets = message_section(k->m, SECTION_AUTHORITY, &count);

	for (unsigned i = 0; i < count; i++) {
		const uint8_t *owner = rrset_owner(sets[i]);

		if (sets[i]->type != TYPE_NS || !dname_is_under(k->how->asked->name, owner) ||
		    (is_inside(k, sets[i]) && !is_on_the_way(k, owner, TYPE_NS)))
			continue;
		if (!is_inside(k, sets[i]) || dname_equals(owner, k->how->zone)) {
			cut = cut ? cut : sets[i];
		} else if (!leads_on || dname_is_under(rrset_owner(cut), owner)) {
			cut = sets[i];
			leads_on = true;
		}
	}
	return cut;
}

/* An NS set that was not asked for may only be a referral, or show that the server is lame:
 * elsewhere it could quietly take over its zone. */
static bool ns_may_stay(struct kept *k, const struct rrset *ns)
{
	bool bare = k->m->rcode == RCODE_NOERROR && k->count[SECTION_ANSWER] == 0 && !k->has_soa;
	bool at_zone = dname_equals(rrset_owner(ns), k->how->zone);

	if (ns != k->cut)
		return false;
	if (!is_inside(k, ns)) {
		k->upward = bare && ns->class_ == k->how->asked->class_; /* so it is for a zone above */
		return k->upward;
	}
	if (k->m->rcode == RCODE_NXDOMAIN || (k->has_soa && k->count[SECTION_ANSWER] == 0))
		return false;
	if (!k->conf->iter_scrub_promiscuous)
		return true;
	if (!bare)
		return false;
	/* left for classify() to see that this is no answer; from who was asked to recurse it is one */
	return !at_zone || !(k->m->flags & FLAG_AA || k->how->forwarder);
}

/* Besides those that authority_may_stay names. */
static bool type_belongs_to_authority(uint16_t type)
{
	return type == TYPE_DS || type == TYPE_RRSIG;
}

static bool authority_may_stay(struct kept *k, const struct rrset *set)
{
	switch (set->type) {
	case TYPE_NS:
		return ns_may_stay(k, set);
	case TYPE_A:
	case TYPE_AAAA:
	case TYPE_CNAME:
	case TYPE_DNAME:
		return false; /* learned only from answers */
	case TYPE_SOA:
		return authority_reaches(k, set) &&
		       dname_is_under(k->how->asked->name, rrset_owner(set));
	case TYPE_NSEC:
	case TYPE_NSEC3:
		return is_inside(k, set);
	default:
		return authority_reaches(k, set) && (!k->conf->harden_unknown_additional ||
						     type_belongs_to_authority(set->type));
	}
}

static bool is_denial(const struct rrset *set)
{
	return set->type == TYPE_NSEC || set->type == TYPE_NSEC3;
}

/* Some servers put the DS set that was asked for in AUTHORITY, as in a referral. */
static bool take_misplaced_ds(struct kept *k)
{
	const struct question *q = k->how->asked;
	const struct rrset *ds;

	if (q->type != TYPE_DS || k->m->rcode != RCODE_NOERROR || k->m->count[SECTION_ANSWER])
		return false;
	ds = message_find(k->m, SECTION_AUTHORITY, q->name, TYPE_DS, q->class_);
	if (ds == NULL || !is_answerable(k, ds))
		return false;
	keep(k, SECTION_ANSWER, ds);
	return true;
}

static void take_authority(struct kept *k)
{
	unsigned denials = 0, most = aliases_denials_most(k->links), count;
	const struct rrset **sets = message_section(k->m, SECTION_AUTHORITY, &count);

	k->has_soa = message_has_soa(k);
	k->cut = find_cut(k);
	for (unsigned i = 0; i < count; i++) {
		const struct rrset *set = sets[i];
		if (!authority_may_stay(k, set) || (is_denial(set) && denials++ >= most))
			continue;
		if (set->type == TYPE_NS) {
			set = scrub_set_shorten(k->how->arena, set, k->conf->iter_scrub_ns);
			k->ns = set;
		}
		keep(k, SECTION_AUTHORITY, set);
	}
}

/* Drops DS sets other than the one for the referral's zone cut. */
static void drop_stray_ds(struct kept *k)
{
	unsigned first = k->count[SECTION_ANSWER], end = kept_total(k), to = first;

	for (unsigned i = first; i < end; i++) {
		const struct rrset *set = k->sets[i];
		if (set->type == TYPE_DS &&
		    (k->ns == NULL || !dname_equals(rrset_owner(k->ns), rrset_owner(set)) ||
		     dname_equals(rrset_owner(set), k->how->zone)))
			continue;
		k->sets[to++] = set;
	}
	k->count[SECTION_AUTHORITY] = (uint16_t)(to - first);
}

/* ---- ADDITIONAL ---- */

static bool names_target(const struct rrset *set, const uint8_t *host)
{
	struct rrset_walk w = rrset_records(set);
	struct slice rd;

	for (unsigned i = 0; i < CALLERS_MOST && rrset_next(&w, &rd); i++) {
		const uint8_t *name = rr_rdata_name(set->type, rd.at, rd.len);
		if (name && dname_equals(name, host))
			return true;
	}
	return false;
}

/* Whether the operator lets any glue be used, or what nobody confirms as a last resort. */
static bool is_lenient(const struct kept *k)
{
	return !k->conf->harden_glue || k->conf->harden_unverified_glue;
}

/* Whether the host is a server in the NS set, or named by the answer itself and theirs to tell. (Of a delegation's
 * servers the glue counts for that delegation, whoever resolves their names here: RRSET_GLUE_APART.) */
static bool is_called_for(const struct kept *k, const uint8_t *host)
{
	if (k->ns && !k->upward && names_target(k->ns, host))
		return true;
	for (unsigned i = 0; i < k->count[SECTION_ANSWER]; i++) {
		const struct rrset *set = k->sets[i];
		if ((set->type == TYPE_NS || set->type == TYPE_MX || set->type == TYPE_SRV ||
		     set->type == TYPE_SVCB || set->type == TYPE_HTTPS) &&
		    dname_equals(rrset_owner(set), k->how->asked->name) && names_target(set, host))
			return set->type == TYPE_NS ? is_on_the_way(k, host, TYPE_A)
						    : is_theirs(k, host, TYPE_A);
	}
	return false;
}

static bool is_answer(const struct kept *k, const struct rrset *set)
{
	for (unsigned i = 0; i < k->count[SECTION_ANSWER]; i++) {
		if (rrset_is(k->sets[i], rrset_owner(set), set->type, set->class_))
			return true;
	}
	return false;
}

static void take_address(struct kept *k, const struct rrset *set)
{
	const uint8_t *owner = rrset_owner(set);

	if (set->class_ != k->how->asked->class_ || !is_called_for(k, owner) || is_answer(k, set))
		return;
	/* of foreign servers' addresses only glue is taken, where the operator lets it */
	if (!is_inside(k, set) && (k->conf->harden_glue || k->count[SECTION_ANSWER]))
		return;
	if (!is_on_the_way(k, owner, TYPE_A) && !is_lenient(k))
		scrub_set_own(set)->flags |= RRSET_GLUE_APART;
	if (k->conf->harden_unverified_glue && k->ns && k->count[SECTION_ANSWER] == 0 &&
	    !dname_is_under(owner, rrset_owner(k->ns)))
		scrub_set_own(set)->flags |= RRSET_UNVERIFIED_GLUE;
	keep(k, SECTION_ADDITIONAL, set);
}

static void take_additional(struct kept *k)
{
	unsigned count;
	const struct rrset **sets = message_section(k->m, SECTION_ADDITIONAL, &count);

	if (k->count[SECTION_ANSWER] > CALLERS_MOST)
		return;
	for (unsigned i = 0; i < count; i++) {
		switch (sets[i]->type) {
		case TYPE_A:
		case TYPE_AAAA:
			take_address(k, sets[i]);
			break;
		case TYPE_CNAME:
		case TYPE_DNAME:
		case TYPE_NS:
		case TYPE_NSEC:
		case TYPE_NSEC3:
		case TYPE_SOA:
		case TYPE_DS:
			break;
		default:
			if (is_answerable(k, sets[i]) && !k->upward && !k->how->large &&
			    !k->conf->harden_unknown_additional)
				keep(k, SECTION_ADDITIONAL, sets[i]);
		}
	}
}

/* ---- the whole message ---- */

static bool fits_question(const struct message *m, const struct question *asked)
{
	if (!(m->flags & FLAG_QR) || m->opcode != OPCODE_QUERY)
		return false;
	if (m->q.name_len == 0)
		return m->rcode != RCODE_NOERROR && m->rcode != RCODE_NXDOMAIN &&
		       m->rcode != RCODE_YXDOMAIN;
	return question_equals(&m->q, asked);
}

/* A name has one alias (RFC 2181 10.1, RFC 6672 2.4). Of several the first counts, as with other resolvers. If
 * they are signed, the validator will miss the rest. */
static const struct rrset *single_alias(struct arena *a, const struct rrset *set)
{
	return set->type == TYPE_CNAME || set->type == TYPE_DNAME ? scrub_set_shorten(a, set, 1) : set;
}

/* Removes what no section may hold: excess signatures, private addresses, second aliases, meta types (TSIG
 * was between its sender and us), and denials that reach into other zones. */
static void clean_sets(struct message *m, const struct scrub_how *how)
{
	unsigned to = 0, left = 0;

	for (unsigned s = 0; s < 3; s++) {
		unsigned count = m->count[s];
		m->count[s] = 0;
		for (unsigned i = 0; i < count; i++, left++) {
			const struct rrset *set =
				rr_flags(m->sets[left]->type) & RR_META
					? NULL
					: scrub_set_clean(how->arena, m->sets[left], how->snapshot,
							  !how->authzone);
			if (set == NULL || scrub_set_overreaches(set, how->zone))
				continue;
			m->sets[to++] = single_alias(how->arena, set);
			m->count[s]++;
		}
	}
}

bool scrub(struct message *m, const struct scrub_how *how)
{
	if (!fits_question(m, how->asked))
		return false;
	m->flags &= (uint16_t) ~(FLAG_AD | FLAG_Z);
	clean_sets(m, how);

	struct kept k = {
		.how = how,
		.conf = &how->snapshot->conf->server,
		.m = m,
		/* one DNAME may yield a CNAME for each link */
		.sets = arena_array(how->arena, const struct rrset *,
				    2u * message_set_count(m) + 1 +
					    how->snapshot->conf->server.iter_scrub_cname),
	};
	if (!take_misplaced_ds(&k)) {
		if (!take_answer(&k))
			return false;
		take_authority(&k);
		drop_stray_ds(&k);
		take_additional(&k);
	}
	m->sets = k.sets;
	for (unsigned s = 0; s < 3; s++)
		m->count[s] = (uint16_t)k.count[s];
	return true;
}
