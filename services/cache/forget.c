/* What of the caches no longer holds when the configuration changes.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "services/cache/forget.h"

#include <stdio.h>

#include "services/cache/mention.h"
#include "services/cache/msg.h"
#include "util/base/mem.h"
#include "util/base/timebase.h"
#include "util/dns/dname.h"
#include "util/dns/rr.h"
#include "util/dns/rrset.h"
#include "util/names/trie.h"

/* One scope at a name. */
struct region {
	struct region *next; /* at the same name */
	int scope;
	bool alone; /* the name, not what is below it */
	uint8_t name[DNAME_MAX];
};

struct forget {
	struct forget *next;
	uint32_t now_s;
	unsigned kinds;
	struct trie *below; /* of struct region */
	struct forget_records records;
	bool limits;
	uint32_t most_s, denial_most_s, raised_s, least_s;
};

struct forget *forget_new(uint32_t now_s)
{
	struct forget *f = mem_zero(sizeof(*f));

	f->now_s = now_s;
	f->below = trie_new();
	f->most_s = f->denial_most_s = f->least_s = UINT32_MAX;
	return f;
}

static void region_free(void *value)
{
	for (struct region *r = value, *next; r; r = next) {
		next = r->next;
		mem_free(r);
	}
}

void forget_free(struct forget *f)
{
	for (struct forget *next; f; f = next) {
		next = f->next;
		trie_free(f->below, region_free);
		if (f->records.free_arg)
			f->records.free_arg(f->records.arg);
		mem_free(f);
	}
}

bool forget_is_empty(const struct forget *f)
{
	return !f->kinds && !trie_count(f->below) && !f->records.goes && !f->limits && !f->next;
}

void forget_kinds(struct forget *f, unsigned kinds)
{
	f->kinds |= kinds;
}

static void put_region(struct forget *f, const uint8_t *name, int scope, bool alone)
{
	struct region *r = mem_zero(sizeof(*r));

	dname_copy_lower(r->name, name);
	r->scope = scope;
	r->alone = alone;
	r->next = trie_put(f->below, name, r);
}

void forget_below(struct forget *f, const uint8_t *name, int scope)
{
	put_region(f, name, scope, false);
}

void forget_at(struct forget *f, const uint8_t *name, int scope)
{
	put_region(f, name, scope, true);
}

void forget_records(struct forget *f, const struct forget_records *which)
{
	f->records = *which;
}

void forget_longer(struct forget *f, uint32_t most_s, uint32_t denial_most_s)
{
	f->limits = true;
	f->most_s = MIN(f->most_s, most_s);
	f->denial_most_s = MIN(f->denial_most_s, denial_most_s);
}

void forget_raised(struct forget *f, uint32_t raised_s, uint32_t least_s)
{
	f->limits = true;
	f->raised_s = MAX(f->raised_s, raised_s);
	f->least_s = MIN(f->least_s, least_s);
}

void forget_chain(struct forget *f, struct forget *other)
{
	while (f->next)
		f = f->next;
	f->next = other;
}

/* ---- by name ---- */

static bool is_below(const struct forget *f, const uint8_t *name, uint8_t scope)
{
	const struct region *at = trie_find_closest(f->below, name);

	for (; at; at = trie_find_above(f->below, at->name)) {
		for (const struct region *r = at; r; r = r->next)
			if ((r->scope == FORGET_EVERY_SCOPE || r->scope == scope) &&
			    (!r->alone || dname_equals(r->name, name)))
				return true;
	}
	return false;
}

bool forget_name(const struct forget *f, const uint8_t *name, uint8_t scope)
{
	for (; f; f = f->next)
		if (f->kinds & FORGET_EVERYTHING || is_below(f, name, scope))
			return true;
	return false;
}

/* ---- by the time left ---- */

/* A record, a message or an RRset that came with `ttl_s`, of which `left_s` are left. */
static bool is_out_of_limits(const struct forget *f, uint32_t ttl_s, uint32_t left_s, bool denies)
{
	return f->limits && (left_s > (denies ? MIN(f->denial_most_s, f->most_s) : f->most_s) ||
			     (ttl_s <= f->raised_s && left_s > f->least_s));
}

static bool answer_is_out_of_limits(const struct forget *f, const struct stored *s, bool denies)
{
	const uint8_t *wire = stored_wire(s);
	uint32_t age_s = f->now_s - s->stored_s;

	if (!f->limits || s->fits & STORED_WHOLE)
		return false;
	if (is_out_of_limits(f, s->expires_s - s->stored_s, time_left(f->now_s, s->expires_s), denies))
		return true;
	for (unsigned i = 0; i < s->ttl_count; i++) {
		uint32_t ttl_s = get_u32(wire + s->data[i]);

		if (is_out_of_limits(f, ttl_s, ttl_s > age_s ? ttl_s - age_s : 0, denies))
			return true;
	}
	return false;
}

/* ---- messages ---- */

static bool is_denial(const struct stored *s)
{
	const uint8_t *wire = stored_wire(s);

	return s->rcode == RCODE_NXDOMAIN || get_u16(wire + 6) == 0 || get_u16(wire + 8) != 0;
}

static bool is_of_kind(const struct forget *f, const struct stored *s)
{
	return (f->kinds & (FORGET_EVERYTHING | FORGET_ANSWERS)) ||
	       (f->kinds & FORGET_FAILURES && !stored_is_good(s)) ||
	       (f->kinds & FORGET_DENIALS && is_denial(s)) ||
	       (f->kinds & FORGET_BOGUS && s->security == SECURITY_BOGUS);
}

struct record_asked {
	const struct forget *f;
	uint8_t scope;
};

/* Whether the record is of no use: below a name, an alias that leads there, or what `records` names. */
static bool record_goes(const struct mention *m, void *arg)
{
	const struct record_asked *a = arg;
	const struct forget_records *r = &a->f->records;

	return is_below(a->f, m->owner, a->scope) || (m->target && is_below(a->f, m->target, a->scope)) ||
	       (r->goes && r->goes(r->arg, m->owner, m->type, m->rdata));
}

static bool has_record(const struct forget *f, const struct stored *s, uint8_t scope)
{
	return stored_mentions(s, record_goes, &(struct record_asked){ f, scope });
}

bool forget_answer(const struct forget *f, const struct stored *s)
{
	uint8_t scope = (uint8_t)(s->scope & 0xff);
	struct question q;

	stored_question(s, &q);
	for (; f; f = f->next) {
		if (is_of_kind(f, s) || is_below(f, q.name, scope) ||
		    answer_is_out_of_limits(f, s, is_denial(s)) ||
		    ((f->records.goes || trie_count(f->below)) && has_record(f, s, scope)))
			return true;
	}
	return false;
}

/* ---- RRsets ---- */

static bool set_has_record(const struct forget *f, const struct rrset *set)
{
	struct slice rd;

	if (!f->records.goes)
		return false;
	for (struct rrset_walk walk = rrset_records(set); rrset_next(&walk, &rd);)
		if (f->records.goes(f->records.arg, rrset_owner(set), set->type, rd))
			return true;
	return false;
}

bool forget_set(const struct forget *f, const struct rrset *set, uint8_t scope)
{
	bool denies = set->flags & RRSET_SOA_NEGATIVE || set->type == TYPE_NSEC || set->type == TYPE_NSEC3;

	for (; f; f = f->next) {
		if (f->kinds & FORGET_EVERYTHING || (f->kinds & FORGET_DENIALS && denies) ||
		    (f->kinds & FORGET_BOGUS && set->security == SECURITY_BOGUS) ||
		    is_below(f, rrset_owner(set), scope) || set_has_record(f, set) ||
		    is_out_of_limits(f, set->ttl_s, time_left(f->now_s, set->expires_s), denies))
			return true;
	}
	return false;
}

/* ---- denials for other names ---- */

struct denied {
	void (*fn)(const uint8_t *name, bool below, void *arg);
	void *arg;
};

static bool say_denied(const uint8_t *name, void *value, void *arg)
{
	const struct denied *d = arg;
	bool below = false;

	for (const struct region *r = value; r; r = r->next)
		below |= !r->alone;
	d->fn(name, below, d->arg);
	return true;
}

void forget_each_denied(const struct forget *f, void (*fn)(const uint8_t *name, bool below, void *arg), void *arg)
{
	struct denied d = { fn, arg };

	for (; f; f = f->next) {
		if (f->kinds & (FORGET_EVERYTHING | FORGET_DENIALS) || f->limits)
			fn(dname_root, true, arg);
		else
			trie_each(f->below, say_denied, &d);
	}
}

/* ---- for the log ---- */

void forget_print(const struct forget *f, char *to, size_t room)
{
	unsigned kinds = 0;
	size_t names = 0;
	bool rest = false;

	for (; f; f = f->next) {
		kinds |= f->kinds;
		names += trie_count(f->below);
		rest |= f->limits || f->records.goes;
	}
	if (kinds & FORGET_EVERYTHING)
		snprintf(to, room, "everything");
	else
		snprintf(to, room, "%s%s%s%s%zu names with what is below them%s",
			 kinds & FORGET_ANSWERS ? "all answers, " : "",
			 kinds & FORGET_FAILURES ? "failures, " : "",
			 kinds & FORGET_DENIALS ? "denials, " : "",
			 kinds & FORGET_BOGUS ? "what is bogus, " : "", names,
			 rest ? ", and what the new limits do not allow" : "");
}
