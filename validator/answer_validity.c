/* Validating responses: each set, alias chains, and the message as a whole.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "validator/answer_private.h"

#include "services/cache/rrset.h"
#include "services/query/env.h"
#include "services/query/query.h"
#include "services/query/snapshot.h"
#include "util/base/arena.h"
#include "util/base/timebase.h"
#include "util/dns/dname.h"
#include "validator/crypto.h"
#include "validator/keycache.h"
#include "validator/trust.h"

/* Sets validated that minimal responses omit, and what their checks may cost (crypto_algorithm_cost); the others are left out. */
enum { EXTRAS_MOST = 16, EXTRAS_COST_MOST = 32 };
enum { ANY_SETS_MOST = 24 }; /* validated in an answer to ANY, and given, if they are secure (RFC 8482 4.1) */

/* ---- the chain of aliases ---- */

static bool has_signed_proof(const struct message *m)
{
	unsigned count;
	const struct rrset **sets = message_section(m, SECTION_AUTHORITY, &count);

	for (unsigned i = 0; i < count; i++)
		if (answer_is_proof(sets[i]) && sets[i]->sig_count)
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
	*j = (struct answer_validity){ .chain = c, .m = m, .whole = whole, .expansions = VALIDITY_SECURE };
	j->rcode = m->rcode;
	j->sets = arena_array(a, struct validity, count + 1);
	j->verdicts = arena_array(a, struct sig_result, count + 1);
	j->validated = arena_array(a, bool, count + 1);
	find_end(j);
}

/* ---- one set ---- */

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
		    answer_has_say(j, rrset_owner(dname), rrset_owner(cname), false) &&
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

	if (v->security == SECURITY_SECURE && v->expanded && answer_is_proof(set) &&
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

/* Validates the set by the zone's keys. False: put off. */
static bool check(struct answer_validity *j, unsigned i, const uint8_t *signer, const struct keyset *keys)
{
	const struct rrset *set = j->m->sets[i];
	int good = j->chain->q->budget->good_signatures;

	if (is_cut_off(j, set, signer)) {
		j->sets[i] = (struct validity){ .security = SECURITY_BOGUS, .reason = REASON_bogus,
						 .text = "signed by the zone above the zone cut" };
	} else {
		if (!checked_sigs_verify(&j->chain->sigs, set, keys, &j->verdicts[i]))
			return false;
		j->good_spent += good - j->chain->q->budget->good_signatures;
		j->sets[i] = weigh(j, i);
	}
	j->validated[i] = true;
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
	       answer_has_say(j, signer, owner, above);
}

/* By the slowest of its algorithms, whether it was checked now or in an earlier turn. */
static unsigned cost_of_check(const struct rrset *set)
{
	struct rrset_walk w = rrset_sigs(set);
	struct rrsig sig;
	unsigned most = 1;

	for (struct slice rd; rrset_next(&w, &rd);)
		if (rrsig_read(rd, &sig))
			most = MAX(most, crypto_algorithm_cost(sig.algorithm));
	return most;
}

/* Validates a set that minimal responses omit: worth a check, but not a query. False: put off. */
static bool validate_extra(struct answer_validity *j, unsigned i)
{
	const struct rrset *set = j->m->sets[i];
	const uint8_t *signer = verify_signer(set);
	struct trust_chain_found f;

	if (j->validated[i] || !signer || !may_sign(j, i, signer))
		return true;
	f = trust_chain_known(j->chain, signer);
	if (f.end != CHAIN_KEYS || j->extras == EXTRAS_MOST || j->extras_spent >= EXTRAS_COST_MOST)
		return true;
	if (!check(j, i, signer, f.keys))
		return false;
	j->extras++;
	j->extras_spent += cost_of_check(set);
	return true;
}

/* False: wait. */
static bool validate_set(struct answer_validity *j, unsigned i)
{
	const struct rrset *set = j->m->sets[i];
	const uint8_t *owner = rrset_owner(set), *signer, *target;
	struct trust_chain_found f;
	int from;
	bool above;

	if (j->validated[i])
		return true;
	from = synthesized_from(j, i);
	if (from >= 0) {
		if (!validate_set(j, (unsigned)from))
			return false;
		j->sets[i] = j->sets[from];
		j->verdicts[i].verified = j->verdicts[from].verified;
		if (j->sets[i].security == SECURITY_SECURE && j->verdicts[from].expanded) /* RFC 6672 3.3 */
			j->sets[i] = (struct validity){ .security = SECURITY_BOGUS, .reason = REASON_bogus,
							 .text = "a CNAME from a DNAME expanded from a wildcard" };
		j->validated[i] = true;
		return true;
	}
	from = contradicted_by(j, i);
	if (from >= 0) {
		if (!validate_set(j, (unsigned)from))
			return false;
		if (j->sets[from].security == SECURITY_SECURE) {
			j->sets[i] = (struct validity){
				.security = SECURITY_BOGUS,
				.reason = REASON_bogus,
				.text = "a CNAME contradicts the DNAME above it",
			};
			j->validated[i] = true;
			return true;
		}
	}
	signer = verify_signer(set);
	above = is_of_cut(j, i, signer ? signer : owner);
	if (!trust_chain_reaches(j->chain, owner, above)) {
		j->sets[i].security = SECURITY_INDETERMINATE;
		j->validated[i] = true;
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
	j->sets[i] = f.end == CHAIN_KEYS ? missing_signature(j, set) : answer_from_chain(&f);
	j->validated[i] = true;
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

/* Validates what was expanded from wildcards; j->expansions is the worst. False: put off. */
static bool validate_expansions(struct answer_validity *j)
{
	for (; j->expanded_done < j->m->count[SECTION_ANSWER]; j->expanded_done++) {
		unsigned i = j->expanded_done;
		struct validity one;

		if (!j->verdicts[i].expanded)
			continue;
		if (checked_sigs_is_tired(&j->chain->sigs))
			return false;
		one = answer_validate_expansion(j, i);
		worsen(&j->expansions, &one);
	}
	return true;
}

/* Validates what NXDOMAIN says of the target of a CNAME that was asked for and is there: unless that is proven,
 * too, NOERROR is told (RFC 1034 3.6.2). False: put off. */
static bool validate_target(struct answer_validity *j)
{
	struct validity denial;

	if (checked_sigs_is_tired(&j->chain->sigs))
		return false;
	denial = answer_validate_proofs(j);
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
	       !answer_has_say(j, rrset_owner(j->m->sets[count - 1]), j->end, false);
}

/* Whether a set outside ANSWER must be validated even if that takes queries. An unsigned proof proves
 * nothing, so it needs none; the SOA of a denial is part of it. */
static bool is_needed(const struct answer_validity *j, unsigned i, bool proofs)
{
	const struct rrset *s = j->m->sets[i];
	bool authority = i < (unsigned)j->m->count[0] + j->m->count[SECTION_AUTHORITY];

	if (!proofs || !authority)
		return false;
	return answer_is_proof(s) ? verify_signer(s) != NULL : s->type == TYPE_SOA;
}

bool answer_validity_message(struct answer_validity *j, struct validity *out)
{
	unsigned answers = j->m->count[SECTION_ANSWER], all = message_set_count(j->m);
	bool proofs = answer_is_negative(j);
	struct validity one;

	*out = VALIDITY_SECURE;
	j->target = VALIDITY_SECURE;
	for (unsigned i = 0; i < answers; i++) {
		if (i == ANY_SETS_MOST && j->m->q.type == TYPE_ANY)
			break; /* what is not validated is left out where the rest is secure (answer_validity_purify) */
		if (!validate_set(j, i))
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
			if (j->whole && !validate_extra(j, i))
				return false;
			continue;
		}
		if (!validate_set(j, i))
			return false;
		/* a denial with a bogus part is not believed for the rest (RFC 4035 5) */
		if (j->sets[i].security == SECURITY_BOGUS)
			worsen(j->beyond ? &j->target : out, &j->sets[i]);
	}
	if (out->security == SECURITY_BOGUS)
		return true;
	if (!validate_expansions(j))
		return false;
	worsen(out, &j->expansions);
	if (j->beyond)
		return validate_target(j);
	if (answer_is_negative(j)) {
		if (!answer_validate_denial(j, &one))
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
		m->sets[i] = answer_is_proven(j, i) ? proven(j, i, a, now_s) : j->m->sets[i];
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
			if (!answer_is_proven(j, i) && !(keep_extra && s == SECTION_ADDITIONAL))
				continue;
			m->sets[kept++] = answer_is_proven(j, i) ? proven(j, i, a, now_s) : j->m->sets[i];
			m->count[s]++;
		}
	}
	return m;
}

const struct verified *answer_validity_verified(const struct answer_validity *j, unsigned i)
{
	return answer_verified(j, i);
}
