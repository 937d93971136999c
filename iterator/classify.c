/* Classifying a response (RFC 1034 4.3.2 seen from the other end).
 * SPDX-License-Identifier: BSD-3-Clause */
#include "iterator/classify.h"

#include "util/dns/msg.h"
#include "util/dns/rr.h"

const char *response_name(enum response r)
{
	static const char *const names[] = {
#define X(name) [RESPONSE_##name] = #name,
		RESPONSES(X)
#undef X
	};

	return names[r];
}

/* The name where the CNAME chain from the query name ends, and whether it has the data wanted. */
static const uint8_t *follow(const struct message *m, const struct question *asked, bool *answered)
{
	const uint8_t *name = asked->name;
	unsigned count;
	const struct rrset **sets = message_section(m, SECTION_ANSWER, &count);

	*answered = false;
	for (unsigned i = 0; i < count && !*answered; i++) {
		if (!dname_equals(rrset_owner(sets[i]), name))
			continue;
		if (sets[i]->type == asked->type || asked->type == TYPE_ANY)
			*answered = true;
		else if (sets[i]->type == TYPE_CNAME)
			name = rrset_target(sets[i], 0);
	}
	return name;
}

static bool has_alias(const struct message *m, const struct question *asked)
{
	return message_find(m, SECTION_ANSWER, asked->name, TYPE_CNAME, asked->class_);
}

static const struct rrset *authority_of_type(const struct message *m, uint16_t type)
{
	unsigned count;
	const struct rrset **sets = message_section(m, SECTION_AUTHORITY, &count);

	for (unsigned i = 0; i < count; i++) {
		if (sets[i]->type == type)
			return sets[i];
	}
	return NULL;
}

/* There is no data: is the NS set in AUTHORITY a referral? `cut` is its owner. */
static enum response classify_cut(const struct message *m, const uint8_t *cut, const uint8_t *zone,
			       bool recursive, bool recursor)
{
	bool aa = m->flags & FLAG_AA;

	if (dname_equals(cut, zone)) {
		if (recursor)
			return RESPONSE_recursor;
		/* its own delegation, from a cache, where data or a SOA should be */
		return !aa && !recursive ? RESPONSE_useless : RESPONSE_nodata;
	}
	if (dname_is_under(zone, cut))
		return recursive ? RESPONSE_useless : RESPONSE_lame;
	return RESPONSE_referral;
}

enum response classify(const struct message *m, const struct question *asked, const uint8_t *zone,
		       bool recursive)
{
	bool aa = m->flags & FLAG_AA;
	bool recursor = !aa && !recursive && m->flags & FLAG_RA;
	bool answered;
	const uint8_t *end = follow(m, asked, &answered);
	bool aliased = end != asked->name; /* even if the chain loops back to that name */
	const struct rrset *ns = authority_of_type(m, TYPE_NS);

	if (m->rcode == RCODE_NXDOMAIN) {
		if (recursor)
			return RESPONSE_recursor;
		/* the alias's target does not exist, even if the alias itself was asked for */
		return aliased || has_alias(m, asked) ? RESPONSE_alias : RESPONSE_nxdomain;
	}
	if (m->rcode == RCODE_YXDOMAIN && message_makes_too_long(m, end))
		return RESPONSE_answer;
	if (m->rcode != RCODE_NOERROR)
		return RESPONSE_useless;

	/* data behind an alias is there only if the servers speak for it (scrub) */
	if (aliased && !((recursive || aa) && answered))
		return RESPONSE_alias;
	if (answered) {
		if (aa || recursive)
			return RESPONSE_answer;
		if (ns && !dname_equals(rrset_owner(ns), zone) &&
		    dname_is_under(rrset_owner(ns), zone) && asked->type != TYPE_ANY &&
		    !(asked->type == TYPE_NS && dname_equals(rrset_owner(ns), asked->name)))
			return recursor ? RESPONSE_recursor : RESPONSE_referral;
		return recursor ? RESPONSE_recursor : RESPONSE_answer;
	}

	if (authority_of_type(m, TYPE_SOA))
		return recursor ? RESPONSE_recursor : RESPONSE_nodata;
	if (ns)
		return classify_cut(m, rrset_owner(ns), zone, recursive, recursor);
	if (recursor)
		return RESPONSE_recursor;
	return message_set_count(m) == 0 ? RESPONSE_empty : RESPONSE_nodata;
}
