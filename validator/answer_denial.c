/* Validating denials in a response: of names, types, cuts, and of what is closer than a wildcard.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "validator/answer_private.h"

#include "services/authzone/zones.h"
#include "services/forward/forward.h"
#include "services/policy/views.h"
#include "services/query/query.h"
#include "services/query/snapshot.h"
#include "util/dns/denial.h"
#include "util/dns/dname.h"

struct validity answer_from_chain(const struct trust_chain_found *f)
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

/* Set i of AUTHORITY if it is a secure denial; or NULL. */
static const struct verified *proof_at(const struct answer_validity *j, unsigned i)
{
	return answer_is_proof(j->m->sets[i]) ? answer_verified(j, i) : NULL;
}

/* The closest zone at or above (`strictly`: above) the name with secure denials in AUTHORITY and a say there. */
static const uint8_t *proving_zone(const struct answer_validity *j, const uint8_t *name, bool strictly)
{
	const uint8_t *zone = NULL;
	unsigned first = j->m->count[0], last = first + j->m->count[SECTION_AUTHORITY];

	for (unsigned i = first; i < last; i++) {
		const struct verified *proof = proof_at(j, i);
		const uint8_t *signer = proof ? verified_zone(proof) : NULL;

		if (!signer || !answer_has_say(j, signer, name, strictly) ||
		    !(strictly ? dname_is_strictly_under(name, signer) : dname_is_under(name, signer)))
			continue;
		if (!zone || dname_is_strictly_under(signer, zone))
			zone = signer;
	}
	return zone;
}

/* Collects the secure denials of one zone. False: its keys are not known (not once it was validated). */
static bool gather(struct answer_validity *j, const uint8_t *zone, struct denial_evidence *e)
{
	struct trust_chain_found f = trust_chain_find(j->chain, zone);
	struct query *q = j->chain->q;
	unsigned first = j->m->count[0], last = first + j->m->count[SECTION_AUTHORITY];

	if (f.end != CHAIN_KEYS)
		return false;
	denial_begin(e, zone, rules_nsec3_limit(j->chain->sigs.how.rules, keyset_bits(f.keys)),
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
		return VALIDITY_SECURE;
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
		return VALIDITY_SECURE;
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
		if (answer_is_proof(j->m->sets[i]) && j->m->sets[i]->sig_count)
			return false;
		any |= answer_is_proof(j->m->sets[i]);
	}
	return any;
}

struct validity answer_validate_expansion(struct answer_validity *j, unsigned i)
{
	const struct verified *set = answer_verified(j, i);
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

/* Validates the proof that the name, or else that the type at it, does not exist. The RCODE is not signed, so it
 * only says what to look for first, and what is proven is told: behind an alias it is often the alias's (RFC
 * 2308 2.1). */
static struct validity validate_both(struct answer_validity *j, const struct denial_evidence *e)
{
	const bool is_name = j->m->rcode == RCODE_NXDOMAIN;
	struct denial_both d = denial_of_both(e, j->end, j->m->q.type);

	if (is_name && d.name == DENIAL_NONE && d.type == DENIAL_PROVEN) {
		j->rcode = RCODE_NOERROR;
		return VALIDITY_SECURE;
	}
	if (d.type == DENIAL_NONE && d.name == DENIAL_PROVEN) {
		j->rcode = RCODE_NXDOMAIN;
		return VALIDITY_SECURE;
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

/* Validates NXDOMAIN from a zone above the anchor closest to the name: of what is below the anchor it can prove
 * nothing, but that there is nothing at the anchor's own name. */
static struct validity validate_from_above(struct answer_validity *j, bool is_ds)
{
	const struct anchor *a = trust_chain_anchor(j->chain->trust, j->chain->q, j->end, is_ds);
	const uint8_t *zone = a ? proving_zone(j, a->owner, true) : NULL;
	struct denial_evidence e;

	if (j->m->rcode == RCODE_NXDOMAIN && zone && !is_resolved_apart(j->chain->q, a->owner, zone) &&
	    gather(j, zone, &e) && denial_of_name(&e, a->owner) == DENIAL_PROVEN)
		return from_denial(denial_of_name(&e, j->end), "the parent zone does not deny the name");
	return from_denial(DENIAL_NONE, "no NSEC or NSEC3 proves that it does not exist");
}

struct validity answer_validate_proofs(struct answer_validity *j)
{
	const bool is_ds = j->m->q.type == TYPE_DS && !dname_is_root(j->end);
	const uint8_t *zone = proving_zone(j, j->end, is_ds);
	struct denial_evidence e;
	enum denial_cut cut;

	if (!zone)
		return validate_from_above(j, is_ds);
	if (!gather(j, zone, &e))
		return from_denial(DENIAL_NONE, "no NSEC or NSEC3 proves that it does not exist");
	if (is_ds) {
		cut = denial_of_ds(&e, j->end);
		if (cut == CUT_INSECURE)
			j->rcode = RCODE_NOERROR; /* there is a delegation, whatever the RCODE says */
		/* else it is a name like any other, perhaps with an alias */
		if (cut == CUT_INSECURE || (cut != CUT_NONE && j->m->rcode != RCODE_NXDOMAIN))
			return from_cut(cut);
	}
	return validate_both(j, &e);
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

static bool has_secure_soa(const struct answer_validity *j)
{
	unsigned first = j->m->count[0], last = first + j->m->count[SECTION_AUTHORITY];

	for (unsigned i = first; i < last; i++) {
		const struct verified *v = answer_verified(j, i);

		if (v && j->m->sets[i]->type == TYPE_SOA &&
		    dname_is_under(j->end, rrset_owner(verified_set(v))))
			return true;
	}
	return false;
}

/* Whether the denial has a secure SOA or, from the name's own zone, a secure proof: then there is nothing left
 * to look up, and it simply does not suffice. Behind an alias a proof does not tell: it may have come with the
 * alias, for the wildcard that was used. */
static bool speaks_with_authority(struct answer_validity *j, bool is_ds)
{
	const uint8_t *zone = proving_zone(j, j->end, is_ds);
	bool is_alias = j->end != j->m->q.name, has_soa = has_secure_soa(j);

	/* with its own SOA record a zone denies what is its own, not what it has delegated (RFC 6840 4.1) */
	if (zone && (is_alias || !has_soa) && leads_away(j, zone))
		return false;
	return has_soa || (zone && !is_alias);
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

		if (!answer_is_proof(j->m->sets[i]) || !j->validated[i])
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
		has_proof |= answer_is_proof(s);
		has_soa |= s->type == TYPE_SOA;
		if (answer_is_proof(s) && j->validated[i] && j->sets[i].security == SECURITY_BOGUS) {
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

bool answer_validate_denial(struct answer_validity *j, struct validity *out)
{
	bool is_ds = j->m->q.type == TYPE_DS && !dname_is_root(j->end);
	struct trust_chain_found f;

	*out = (struct validity){ .security = SECURITY_INDETERMINATE };
	if (!trust_chain_reaches(j->chain, j->end, is_ds))
		return true;
	if (!j->has_denial) {
		if (checked_sigs_is_tired(&j->chain->sigs))
			return false;
		j->denial = answer_validate_proofs(j);
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
			*out = answer_from_chain(&f);
			return true;
		}
	}
	explain_lack(j, out);
	return true;
}
