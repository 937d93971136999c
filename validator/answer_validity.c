/* Judging responses: positive answers, alias chains, wildcards, denials.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "validator/answer_validity.h"

#include <string.h>

#include "services/authzone/zones.h"
#include "services/cache/rrset.h"
#include "services/forward/forward.h"
#include "services/policy/views.h"
#include "services/query/env.h"
#include "services/query/query.h"
#include "services/query/snapshot.h"
#include "util/base/arena.h"
#include "util/base/timebase.h"
#include "util/dns/denial.h"
#include "util/dns/dname.h"
#include "util/dns/rr.h"
#include "validator/anchors.h"
#include "validator/keycache.h"
#include "validator/trust.h"

enum { ANY_SETS_MOST = 24 }; /* judged in an answer to ANY, and given, if they are secure (RFC 8482 4.1) */

static const struct validity good = { .security = SECURITY_SECURE };

/* ---- the chain of aliases ---- */

static bool is_proof(const struct rrset *s)
{
	return s->type == TYPE_NSEC || s->type == TYPE_NSEC3;
}

static bool has_signed_proof(const struct message *m)
{
	unsigned count;
	const struct rrset **sets = message_section(m, SECTION_AUTHORITY, &count);

	for (unsigned i = 0; i < count; i++)
		if (is_proof(sets[i]) && sets[i]->sig_count)
			return true;
	return false;
}

/* Finds the name at the end of the alias chain, and whether it has the data asked for. */
static void find_end(struct answer_validity *j)
{
	const struct question *q = &j->m->q;
	const uint8_t *at = q->name;
	unsigned count;
	const struct rrset **sets = message_section(j->m, SECTION_ANSWER, &count);

	for (unsigned i = 0; i < count; i++) {
		const struct rrset *s = sets[i];

		if (!dname_equals(rrset_owner(s), at))
			continue;
		/* a CNAME that was asked for, with a denial of its target in the same answer */
		if (s->type == TYPE_CNAME && q->type == TYPE_CNAME && s->count &&
		    j->m->rcode == RCODE_NXDOMAIN && has_signed_proof(j->m)) {
			at = rrset_target(s, 0);
			j->beyond = true;
			continue;
		}
		if (s->type == q->type || q->type == TYPE_ANY)
			j->positive = true;
		else if (s->type == TYPE_CNAME && s->count)
			at = rrset_target(s, 0);
	}
	j->end = at;
}

void answer_validity_begin(struct answer_validity *j, struct trust_chain *c, const struct message *m, bool whole)
{
	struct arena *a = &c->q->arena;
	unsigned count = message_set_count(m);

	c->in_answer = m;
	*j = (struct answer_validity){ .chain = c, .m = m, .whole = whole, .expansions = good };
	j->rcode = m->rcode;
	j->sets = arena_array(a, struct validity, count + 1);
	j->verdicts = arena_array(a, struct sig_result, count + 1);
	j->judged = arena_array(a, bool, count + 1);
	find_end(j);
}

/* ---- one set ---- */

/* Whether the zone has a say about the name: at or below the trust anchor closest to it (for what the
 * parent has at a zone cut, `above` it). A zone further up, secure or not, does not reach past an
 * anchor. */
static bool has_say(const struct answer_validity *j, const uint8_t *zone, const uint8_t *name, bool above)
{
	const struct anchor *a = trust_chain_anchor(j->chain->trust, j->chain->q, name, above);

	return !a || dname_is_under(zone, a->owner);
}

/* The DNAME in ANSWER that set i is a CNAME synthesized from (RFC 6672 5.3.1), by number; or -1. It has no signature of
 * its own: an RRSIG beside it does not count. */
static int synthesized_from(const struct answer_validity *j, unsigned i)
{
	const struct rrset *cname = j->m->sets[i];
	uint8_t made[DNAME_MAX];

	if (cname->type != TYPE_CNAME || cname->count != 1)
		return -1;
	for (unsigned d = 0; d < j->m->count[SECTION_ANSWER]; d++) {
		const struct rrset *dname = j->m->sets[d];

		if (dname->type == TYPE_DNAME && dname->count == 1 &&
		    dname_is_strictly_under(rrset_owner(cname), rrset_owner(dname)) &&
		    has_say(j, rrset_owner(dname), rrset_owner(cname), false) &&
		    dname_transplant(made, rrset_owner(cname), rrset_owner(dname),
				     rrset_target(dname, 0)) &&
		    dname_equals(made, rrset_target(cname, 0)))
			return (int)d;
	}
	return -1;
}

/* The signed DNAME in ANSWER that set i, an unsigned CNAME, not synthesized, stands below, by number; or -1.
 * Nothing exists below a DNAME (RFC 6672 2.4). */
static int contradicted_by(const struct answer_validity *j, unsigned i)
{
	const struct rrset *cname = j->m->sets[i];

	if (cname->type != TYPE_CNAME || cname->sig_count)
		return -1;
	for (unsigned d = 0; d < j->m->count[SECTION_ANSWER]; d++)
		if (j->m->sets[d]->type == TYPE_DNAME && j->m->sets[d]->sig_count &&
		    dname_is_strictly_under(rrset_owner(cname), rrset_owner(j->m->sets[d])))
			return (int)d;
	return -1;
}

/* Whether a known signed zone begins between the signer and the owner, so that the signer has no
 * authority there. At the cut itself the parent has DS and NSEC records. */
static bool is_cut_off(const struct answer_validity *j, const struct rrset *set, const uint8_t *signer)
{
	const struct query *q = j->chain->q;
	bool of_cut = set->type == TYPE_DS || set->type == TYPE_NSEC;
	const uint8_t *at = of_cut ? dname_parent(rrset_owner(set)) : rrset_owner(set);

	return keycache_cuts_off(q->cache.keys, signer, at, q->env->time->now_s);
}

/* A name between the signer and the owner with a cached DS set, not necessarily validated: walking
 * the chain there tells whether a signed zone begins. NULL: none. */
static const uint8_t *ds_seen_below(const struct answer_validity *j, const struct rrset *set,
				   const uint8_t *signer)
{
	const struct query *q = j->chain->q;
	const uint8_t *at = rrset_owner(set);

	if (set->type == TYPE_DS || set->type == TYPE_NSEC)
		at = dname_parent(at); /* at the cut itself they are the zone's above */
	for (; dname_is_strictly_under(at, signer); at = dname_parent(at))
		if (rrsetcache_find(q->cache.rrsets, at, TYPE_DS, CLASS_IN, 0, q->env->time->now_s))
			return at;
	return NULL;
}

static struct validity from_chain(const struct trust_chain_found *f)
{
	switch (f->end) {
	case CHAIN_INSECURE:
		return (struct validity){ .security = SECURITY_INSECURE, .reason = f->reason,
					   .text = f->text };
	case CHAIN_UNTRUSTED:
		return (struct validity){ .security = SECURITY_INDETERMINATE };
	default:
		return (struct validity){ .security = SECURITY_BOGUS, .reason = f->reason,
					   .text = f->text, .chain_failed = true,
					   .passing = f->end == CHAIN_UNHEARD,
					   .spent = f->end == CHAIN_SPENT };
	}
}

static struct validity missing_signature(const struct answer_validity *j, const struct rrset *set)
{
	char name[DNAME_TEXT], type[16];

	return (struct validity){
		.security = SECURITY_BOGUS,
		.reason = REASON_rrsigs_missing,
		.text = arena_textf(&j->chain->q->arena, "%s %s has no RRSIG, but its zone is signed",
				    dname_print(rrset_owner(set), name), rr_type_name(set->type, type)),
	};
}

static struct validity weigh(const struct answer_validity *j, unsigned i)
{
	const struct rrset *set = j->m->sets[i];
	const struct sig_result *v = &j->verdicts[i];

	if (v->security == SECURITY_SECURE && v->expanded && is_proof(set) &&
	    i >= j->m->count[SECTION_ANSWER])
		return (struct validity){ .security = SECURITY_BOGUS, .reason = REASON_sig_labels,
					   .text = "an NSEC or NSEC3 was expanded from a wildcard" };
	if (v->security == SECURITY_UNCHECKED)
		return (struct validity){ .security = SECURITY_BOGUS, .reason = REASON_budget_validation,
					   .text = "the answer needs too many signature verifications",
					   .chain_failed = true,
					   .spent = true };
	return (struct validity){ .security = v->security, .reason = v->reason, .text = v->text };
}

/* Judges the set by the zone's keys. False: put off. */
static bool check(struct answer_validity *j, unsigned i, const uint8_t *signer, const struct keyset *keys)
{
	const struct rrset *set = j->m->sets[i];

	if (is_cut_off(j, set, signer)) {
		j->sets[i] = (struct validity){ .security = SECURITY_BOGUS, .reason = REASON_bogus,
						 .text = "signed by the zone above the zone cut" };
	} else {
		if (!checked_sigs_verify(&j->chain->ledger, set, keys, &j->verdicts[i]))
			return false;
		j->sets[i] = weigh(j, i);
	}
	j->judged[i] = true;
	return true;
}

/* Whether set i is the parent's at a zone cut: the DS set, an alias in its place, and the NSEC set that shows the delegation. */
static bool is_of_cut(const struct answer_validity *j, unsigned i, const uint8_t *signer)
{
	const struct rrset *set = j->m->sets[i];

	if (set->type == TYPE_DS ||
	    (set->type == TYPE_CNAME && j->m->q.type == TYPE_DS && dname_equals(rrset_owner(set), j->m->q.name)))
		return !dname_is_root(rrset_owner(set));
	return set->type == TYPE_NSEC && i >= j->m->count[SECTION_ANSWER] &&
	       dname_is_strictly_under(rrset_owner(set), signer);
}

/* Whether a zone of that name may have signed set i: what is the parent's at a zone cut, no child may (RFC 4035 5.2). */
static bool may_sign(const struct answer_validity *j, unsigned i, const uint8_t *signer)
{
	const uint8_t *owner = rrset_owner(j->m->sets[i]);
	bool above = is_of_cut(j, i, signer);

	return (above ? dname_is_strictly_under(owner, signer) : dname_is_under(owner, signer)) &&
	       has_say(j, signer, owner, above);
}

/* Judges a set that minimal responses omit: worth a check, but not a query. False: put off. */
static bool judge_extra(struct answer_validity *j, unsigned i)
{
	const struct rrset *set = j->m->sets[i];
	const uint8_t *signer = verify_signer(set);
	struct trust_chain_found f;

	if (j->judged[i] || !signer || !may_sign(j, i, signer))
		return true;
	f = trust_chain_known(j->chain, signer);
	return f.end != CHAIN_KEYS || check(j, i, signer, f.keys);
}

/* False: wait. */
static bool judge_set(struct answer_validity *j, unsigned i)
{
	const struct rrset *set = j->m->sets[i];
	const uint8_t *owner = rrset_owner(set), *signer, *target;
	struct trust_chain_found f;
	int from;
	bool above;

	if (j->judged[i])
		return true;
	from = synthesized_from(j, i);
	if (from >= 0) {
		if (!judge_set(j, (unsigned)from))
			return false;
		j->sets[i] = j->sets[from];
		j->verdicts[i].verified = j->verdicts[from].verified;
		if (j->sets[i].security == SECURITY_SECURE && j->verdicts[from].expanded) /* RFC 6672 3.3 */
			j->sets[i] = (struct validity){ .security = SECURITY_BOGUS, .reason = REASON_bogus,
							 .text = "an alias by a DNAME expanded from a wildcard" };
		j->judged[i] = true;
		return true;
	}
	from = contradicted_by(j, i);
	if (from >= 0) {
		if (!judge_set(j, (unsigned)from))
			return false;
		if (j->sets[from].security == SECURITY_SECURE) {
			j->sets[i] = (struct validity){
				.security = SECURITY_BOGUS,
				.reason = REASON_bogus,
				.text = "a CNAME contradicts the DNAME above it",
			};
			j->judged[i] = true;
			return true;
		}
	}
	signer = verify_signer(set);
	above = is_of_cut(j, i, signer ? signer : owner);
	if (!trust_chain_reaches(j->chain, owner, above)) {
		j->sets[i].security = SECURITY_INDETERMINATE;
		j->judged[i] = true;
		return true;
	}
	if (signer && (!may_sign(j, i, signer) || !trust_chain_reaches(j->chain, signer, false)))
		signer = NULL;
	target = signer ? ds_seen_below(j, set, signer) : NULL;
	f = target ? trust_chain_find(j->chain, target) : (struct trust_chain_found){ .end = CHAIN_KEYS };
	if (f.end == CHAIN_WAIT)
		return false;
	if (f.end == CHAIN_INSECURE)
		signer = NULL; /* an RRSIG by a zone above is none of the insecure zone's (RFC 4035 5.3.1) */
	target = signer ? signer : above ? dname_parent(owner) : owner;
	f = trust_chain_find(j->chain, target);
	if (f.end == CHAIN_WAIT)
		return false;
	if (f.end == CHAIN_KEYS && signer)
		return check(j, i, signer, f.keys);
	j->sets[i] = f.end == CHAIN_KEYS ? missing_signature(j, set) : from_chain(&f);
	j->judged[i] = true;
	return true;
}

/* ---- proofs ---- */

static bool is_proven(const struct answer_validity *j, unsigned i)
{
	return j->judged[i] && j->sets[i].security == SECURITY_SECURE;
}

const struct verified *answer_validity_verified(const struct answer_validity *j, unsigned i)
{
	const struct verified *v = is_proven(j, i) ? j->verdicts[i].verified : NULL;

	return v && verified_set(v) == j->m->sets[i] ? v : NULL;
}

/* Set i of AUTHORITY if it is a secure denial; or NULL. */
static const struct verified *proof_at(const struct answer_validity *j, unsigned i)
{
	return is_proof(j->m->sets[i]) ? answer_validity_verified(j, i) : NULL;
}

/* The closest zone at or above (`strictly`: above) the name with secure denials in AUTHORITY and a say there. */
static const uint8_t *proving_zone(const struct answer_validity *j, const uint8_t *name, bool strictly)
{
	const uint8_t *zone = NULL;
	unsigned first = j->m->count[0], last = first + j->m->count[SECTION_AUTHORITY];

	for (unsigned i = first; i < last; i++) {
		const struct verified *proof = proof_at(j, i);
		const uint8_t *signer = proof ? verified_zone(proof) : NULL;

		if (!signer || !has_say(j, signer, name, strictly) ||
		    !(strictly ? dname_is_strictly_under(name, signer) : dname_is_under(name, signer)))
			continue;
		if (!zone || dname_is_strictly_under(signer, zone))
			zone = signer;
	}
	return zone;
}

/* Collects the secure denials of one zone. False: its keys are not known (not once it was judged). */
static bool gather(struct answer_validity *j, const uint8_t *zone, struct denial_evidence *e)
{
	struct trust_chain_found f = trust_chain_find(j->chain, zone);
	struct query *q = j->chain->q;
	unsigned first = j->m->count[0], last = first + j->m->count[SECTION_AUTHORITY];

	if (f.end != CHAIN_KEYS)
		return false;
	denial_begin(e, zone, rules_nsec3_limit(j->chain->ledger.how.rules, keyset_bits(f.keys)),
		     &q->budget->hashes);
	for (unsigned i = first; i < last; i++) {
		const struct verified *proof = proof_at(j, i);

		if (proof && dname_equals(verified_zone(proof), zone))
			denial_add(e, verified_set(proof));
	}
	return true;
}

static struct validity from_denial(enum denial d, const char *what)
{
	switch (d) {
	case DENIAL_PROVEN:
		return good;
	case DENIAL_INSECURE:
		return (struct validity){ .security = SECURITY_INSECURE };
	case DENIAL_COSTLY:
		return (struct validity){ .security = SECURITY_INSECURE,
					   .reason = REASON_nsec3_iterations };
	case DENIAL_EXHAUSTED:
		return (struct validity){ .security = SECURITY_BOGUS, .reason = REASON_budget_validation,
					   .text = "the proof needs too many NSEC3 hashes",
					   .chain_failed = true,
					   .spent = true };
	case DENIAL_NONE:
		break;
	}
	return (struct validity){ .security = SECURITY_BOGUS, .reason = REASON_bogus,
				   .text = what };
}

static struct validity from_cut(enum denial_cut c)
{
	switch (c) {
	case CUT_INSECURE:
	case CUT_NONE:
		return good;
	case CUT_OPTOUT:
		return from_denial(DENIAL_INSECURE, NULL);
	case CUT_COSTLY:
		return from_denial(DENIAL_COSTLY, NULL);
	case CUT_EXHAUSTED:
		return from_denial(DENIAL_EXHAUSTED, NULL);
	case CUT_UNKNOWN:
		break;
	}
	return from_denial(DENIAL_NONE, "no proof that the DS RRset does not exist");
}

static bool lacks_signatures(const struct answer_validity *j)
{
	unsigned first = j->m->count[0], last = first + j->m->count[SECTION_AUTHORITY];
	bool any = false;

	for (unsigned i = first; i < last; i++) {
		if (is_proof(j->m->sets[i]) && j->m->sets[i]->sig_count)
			return false;
		any |= is_proof(j->m->sets[i]);
	}
	return any;
}

/* Judges the proof that no closer name exists, for a set expanded from a wildcard. */
static struct validity judge_expansion(struct answer_validity *j, unsigned i)
{
	const struct verified *set = answer_validity_verified(j, i);
	struct denial_evidence e;
	struct validity out;

	if (!set || !gather(j, verified_zone(set), &e))
		return from_denial(DENIAL_NONE, "the zone of the wildcard is not known any more");
	out = from_denial(denial_of_closer(&e, rrset_owner(verified_set(set)), verified_labels(set)),
			  "wildcard expansion without proof that no closer name exists");
	if (out.reason == REASON_bogus && e.nsec_count + e.nsec3_count == 0 && !out.chain_failed)
		out.reason = lacks_signatures(j) ? REASON_rrsigs_missing : REASON_nsec_missing;
	return out;
}

/* Judges the proof that the name, or else that the type at it, does not exist. The RCODE is not signed, so it
 * only says what to look for first, and what is proven is told: behind an alias it is often the alias's (RFC
 * 2308 2.1). For DS, that there is none at a name is not enough for NXDOMAIN. */
static struct validity judge_both(struct answer_validity *j, const struct denial_evidence *e, bool is_ds)
{
	const bool is_name = j->m->rcode == RCODE_NXDOMAIN;
	struct denial_both d = denial_of_both(e, j->end, j->m->q.type);

	if (is_name && d.name == DENIAL_NONE && d.type == DENIAL_PROVEN && !is_ds) {
		j->rcode = RCODE_NOERROR;
		return good;
	}
	if (d.type == DENIAL_NONE && d.name == DENIAL_PROVEN) {
		j->rcode = RCODE_NXDOMAIN;
		return good;
	}
	j->rcode = j->m->rcode;
	return is_name ? from_denial(d.name, "NSEC or NSEC3 records do not prove that the name does not exist")
		       : from_denial(d.type, "NSEC or NSEC3 records do not prove that the type does not exist");
}

/* Whether names there are resolved apart from the zone above, as configured: then that one knows nothing of them. */
static bool is_resolved_apart(const struct query *q, const uint8_t *name, const uint8_t *above)
{
	const struct forward_zone *zone = views_forward(q->view, q->snapshot->forwards, name);
	const struct forward_zone *stub = views_stub(q->view, q->snapshot->forwards, name);
	const struct authzone *held = authzones_find(q->snapshot->zones, name);

	return (zone && dname_is_strictly_under(zone->name, above)) ||
	       (stub && dname_is_strictly_under(stub->name, above)) ||
	       (held && held->upstream && dname_is_strictly_under(held->name, above));
}

/* Judges NXDOMAIN from a zone above the anchor closest to the name: of what is below the anchor it can prove
 * nothing, but that there is nothing at the anchor's own name. */
static struct validity judge_from_above(struct answer_validity *j, bool is_ds)
{
	const struct anchor *a = trust_chain_anchor(j->chain->trust, j->chain->q, j->end, is_ds);
	const uint8_t *zone = a ? proving_zone(j, a->owner, true) : NULL;
	struct denial_evidence e;

	if (j->m->rcode == RCODE_NXDOMAIN && zone && !is_resolved_apart(j->chain->q, a->owner, zone) &&
	    gather(j, zone, &e) && denial_of_name(&e, a->owner) == DENIAL_PROVEN)
		return from_denial(denial_of_name(&e, j->end), "the parent zone does not deny the name");
	return from_denial(DENIAL_NONE, "no NSEC or NSEC3 proves that it does not exist");
}

/* Judges the denial of the name or type at the end of the alias chain. */
static struct validity judge_proofs(struct answer_validity *j)
{
	const bool is_ds = j->m->q.type == TYPE_DS && !dname_is_root(j->end);
	const uint8_t *zone = proving_zone(j, j->end, is_ds);
	struct denial_evidence e;
	enum denial_cut cut;

	if (!zone)
		return judge_from_above(j, is_ds);
	if (!gather(j, zone, &e))
		return from_denial(DENIAL_NONE, "no NSEC or NSEC3 proves that it does not exist");
	if (is_ds && j->m->rcode != RCODE_NXDOMAIN) {
		cut = denial_of_ds(&e, j->end);
		if (cut != CUT_NONE) /* else it is a name like any other, perhaps with an alias */
			return from_cut(cut);
	}
	return judge_both(j, &e, is_ds);
}

/* Whether the zone itself proves an insecure delegation between it and the end of the chain, or, of
 * where an alias leads, that there may be one. */
static bool leads_away(struct answer_validity *j, const uint8_t *zone)
{
	unsigned most = dname_labels(j->end);
	struct denial_evidence e;

	if (!gather(j, zone, &e))
		return false;
	for (unsigned labels = dname_labels(zone) + 1; labels <= most; labels++) {
		enum denial_cut cut = denial_of_ds(&e, dname_suffix(j->end, labels));

		if (cut == CUT_INSECURE ||
		    (j->end != j->m->q.name && (cut == CUT_OPTOUT || cut == CUT_COSTLY)))
			return true;
	}
	return false;
}

/* Whether the denial has a secure SOA or, from the name's own zone, a secure proof: then there is nothing left
 * to look up, and it simply does not suffice. Behind an alias a proof does not tell: it may have come with the
 * alias, for the wildcard that was used. */
static bool speaks_with_authority(struct answer_validity *j, bool is_ds)
{
	unsigned first = j->m->count[0], last = first + j->m->count[SECTION_AUTHORITY];
	const uint8_t *zone = proving_zone(j, j->end, is_ds);

	if (zone && leads_away(j, zone))
		return false;
	for (unsigned i = first; i < last; i++) {
		const struct verified *v = answer_validity_verified(j, i);

		if (v && j->m->sets[i]->type == TYPE_SOA &&
		    dname_is_under(j->end, rrset_owner(verified_set(v))))
			return true;
	}
	return zone && j->end == j->m->q.name;
}

/* Whether the name is denied, and all proofs are from a zone above it and above all anchors: they may
 * even deny the anchor's own zone, but cannot be verified. */
static bool comes_from_above(const struct answer_validity *j, bool is_ds)
{
	const struct anchor *anchor = trust_chain_anchor(j->chain->trust, j->chain->q, j->end, is_ds);
	unsigned first = j->m->count[0], last = first + j->m->count[SECTION_AUTHORITY];
	bool any = false;

	for (unsigned i = first; i < last; i++) {
		const uint8_t *signer;

		if (!is_proof(j->m->sets[i]) || !j->judged[i])
			continue;
		any = true;
		signer = verify_signer(j->m->sets[i]);
		if (j->sets[i].security != SECURITY_INDETERMINATE || !signer || !anchor ||
		    !dname_is_strictly_under(anchor->owner, signer) ||
		    is_resolved_apart(j->chain->q, anchor->owner, signer))
			return false;
	}
	return any && j->m->rcode == RCODE_NXDOMAIN;
}

/* Finds the reason why a denial does not hold, if it shows. */
static void explain_lack(const struct answer_validity *j, struct validity *out)
{
	unsigned first = j->m->count[0], last = first + j->m->count[SECTION_AUTHORITY];
	bool has_signature = false, has_proof = false, has_soa = false, has_any = first != last;

	for (unsigned i = first; i < last; i++) {
		const struct rrset *s = j->m->sets[i];

		has_signature |= s->sig_count > 0;
		has_proof |= is_proof(s);
		has_soa |= s->type == TYPE_SOA;
		if (is_proof(s) && j->judged[i] && j->sets[i].security == SECURITY_BOGUS) {
			*out = j->sets[i];
			return;
		}
	}
	if (has_any && !has_signature) {
		out->reason = REASON_rrsigs_missing;
		out->text = "negative answer without any RRSIG from a signed zone";
	} else if (has_soa && !has_proof) {
		out->reason = REASON_nsec_missing;
	} else if (lacks_signatures(j)) {
		out->reason = REASON_rrsigs_missing;
		out->text = "the NSEC or NSEC3 records have no RRSIG";
	}
}

/* Judges a negative answer. False: wait. */
static bool judge_denial(struct answer_validity *j, struct validity *out)
{
	bool is_ds = j->m->q.type == TYPE_DS && !dname_is_root(j->end);
	struct trust_chain_found f;

	*out = (struct validity){ .security = SECURITY_INDETERMINATE };
	if (!trust_chain_reaches(j->chain, j->end, is_ds))
		return true;
	if (!j->has_denial) {
		if (checked_sigs_is_tired(&j->chain->ledger))
			return false;
		j->denial = judge_proofs(j);
		j->has_denial = true;
	}
	*out = j->denial;
	if (out->security != SECURITY_BOGUS)
		return true;
	if (comes_from_above(j, is_ds)) {
		*out = (struct validity){ .security = SECURITY_INDETERMINATE };
		return true;
	}
	if (!speaks_with_authority(j, is_ds)) {
		/* an unsigned zone need not prove anything */
		f = trust_chain_find(j->chain, is_ds ? dname_parent(j->end) : j->end);
		if (f.end == CHAIN_WAIT)
			return false;
		if (f.end != CHAIN_KEYS) {
			*out = from_chain(&f);
			return true;
		}
	}
	explain_lack(j, out);
	return true;
}

/* ---- the whole message ---- */

/* Keeps the worse of two, by rank. */
static void worsen(struct validity *all, const struct validity *one)
{
	static const uint8_t rank[] = {
		[SECURITY_UNCHECKED] = 4, [SECURITY_BOGUS] = 5, [SECURITY_INDETERMINATE] = 3,
		[SECURITY_INSECURE] = 2, [SECURITY_SECURE_SENTINEL_FAIL] = 1, [SECURITY_SECURE] = 0,
	};

	if (rank[one->security] > rank[all->security])
		*all = *one;
}

/* Judges what was expanded from wildcards; j->expansions is the worst. False: put off. */
static bool judge_expansions(struct answer_validity *j)
{
	for (; j->expanded_done < j->m->count[SECTION_ANSWER]; j->expanded_done++) {
		unsigned i = j->expanded_done;
		struct validity one;

		if (!j->verdicts[i].expanded)
			continue;
		if (checked_sigs_is_tired(&j->chain->ledger))
			return false;
		one = judge_expansion(j, i);
		worsen(&j->expansions, &one);
	}
	return true;
}

/* Judges what NXDOMAIN says of the target of a CNAME that was asked for and is there: unless that is proven,
 * too, NOERROR is told (RFC 1034 3.6.2). False: put off. */
static bool judge_target(struct answer_validity *j)
{
	struct validity denial;

	if (checked_sigs_is_tired(&j->chain->ledger))
		return false;
	denial = judge_proofs(j);
	worsen(&denial, &j->target);
	j->positive = denial.security != SECURITY_SECURE;
	return true;
}

static bool answer_is_negative(const struct answer_validity *j)
{
	return !j->positive && (j->m->rcode == RCODE_NOERROR || j->m->rcode == RCODE_NXDOMAIN);
}

/* Whether YXDOMAIN is said of a name that no DNAME with a say about it makes too long. */
static bool is_falsely_too_long(const struct answer_validity *j, const struct validity *answer)
{
	unsigned count = j->m->count[SECTION_ANSWER];

	if (j->m->rcode != RCODE_YXDOMAIN || j->positive ||
	    (answer->security != SECURITY_SECURE && !trust_chain_reaches(j->chain, j->end, false)))
		return false;
	return !message_makes_too_long(j->m, j->end) || j->verdicts[count - 1].expanded ||
	       !has_say(j, rrset_owner(j->m->sets[count - 1]), j->end, false);
}

/* Whether a set outside ANSWER must be judged even if that takes queries. An unsigned proof proves
 * nothing, so it needs none; the SOA of a denial is part of it. */
static bool is_needed(const struct answer_validity *j, unsigned i, bool proofs)
{
	const struct rrset *s = j->m->sets[i];
	bool authority = i < (unsigned)j->m->count[0] + j->m->count[SECTION_AUTHORITY];

	if (!proofs || !authority)
		return false;
	return is_proof(s) ? verify_signer(s) != NULL : s->type == TYPE_SOA;
}

bool answer_validity_message(struct answer_validity *j, struct validity *out)
{
	unsigned answers = j->m->count[SECTION_ANSWER], all = message_set_count(j->m);
	bool proofs = answer_is_negative(j);
	struct validity one;

	*out = good;
	j->target = good;
	for (unsigned i = 0; i < answers; i++) {
		if (i == ANY_SETS_MOST && j->m->q.type == TYPE_ANY)
			break; /* what is not judged is left out where the rest is secure (answer_validity_purify) */
		if (!judge_set(j, i))
			return false;
		worsen(out, &j->sets[i]);
		proofs |= j->sets[i].security == SECURITY_SECURE && j->verdicts[i].expanded;
	}
	if (out->security != SECURITY_BOGUS && is_falsely_too_long(j, out))
		*out = (struct validity){ .security = SECURITY_BOGUS, .reason = REASON_bogus,
					   .text = "YXDOMAIN without a DNAME that makes the name too long" };
	if (out->security == SECURITY_BOGUS)
		return true;
	/* what minimal responses do not strip: services/answer/answer.h */
	j->whole |= j->positive &&
		    (proofs || j->m->q.type == TYPE_ANY || j->m->q.type == TYPE_NS);
	for (unsigned i = answers; i < all; i++) {
		if (!is_needed(j, i, proofs)) {
			if (j->whole && !judge_extra(j, i))
				return false;
			continue;
		}
		if (!judge_set(j, i))
			return false;
		/* a denial with a bogus part is not believed for the rest (RFC 4035 5) */
		if (j->sets[i].security == SECURITY_BOGUS)
			worsen(j->beyond ? &j->target : out, &j->sets[i]);
	}
	if (out->security == SECURITY_BOGUS)
		return true;
	if (!judge_expansions(j))
		return false;
	worsen(out, &j->expansions);
	if (j->beyond)
		return judge_target(j);
	if (answer_is_negative(j)) {
		if (!judge_denial(j, &one))
			return false;
		worsen(out, &one);
	}
	return true;
}

static const struct rrset *proven(const struct answer_validity *j, unsigned i, struct arena *a, uint32_t now_s)
{
	const struct verified *v = j->verdicts[i].verified;

	return verified_set(v) == j->m->sets[i] ? verified_copy(v, a, now_s)
						: verified_copy_made(v, j->m->sets[i], a, now_s);
}

struct message *answer_validity_limit(const struct answer_validity *j, struct arena *a, uint32_t now_s)
{
	struct message *m = arena_copy(a, j->m, sizeof(*m));
	unsigned count = message_set_count(j->m);

	m->sets = arena_array(a, const struct rrset *, count + 1);
	for (unsigned i = 0; i < count; i++)
		m->sets[i] = is_proven(j, i) ? proven(j, i, a, now_s) : j->m->sets[i];
	return m;
}

struct message *answer_validity_purify(const struct answer_validity *j, bool keep_extra, struct arena *a,
			     uint32_t now_s)
{
	struct message *m = arena_copy(a, j->m, sizeof(*m));
	unsigned kept = 0, i = 0;

	/* the RCODE is not signed: what is proven to exist is there whatever it says */
	m->rcode = j->positive ? RCODE_NOERROR : j->rcode;
	m->sets = arena_array(a, const struct rrset *, message_set_count(j->m) + 1);
	for (unsigned s = 0; s < 3; s++) {
		m->count[s] = 0;
		for (unsigned n = 0; n < j->m->count[s]; n++, i++) {
			if (!is_proven(j, i) && !(keep_extra && s == SECTION_ADDITIONAL))
				continue;
			m->sets[kept++] = is_proven(j, i) ? proven(j, i, a, now_s) : j->m->sets[i];
			m->count[s]++;
		}
	}
	return m;
}
