/* A walk over two versions of a zone, name by name.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "services/authzone/changes.h"

#include "services/authzone/data.h"
#include "services/authzone/zones.h"
#include "services/cache/forget.h"
#include "util/dns/dname.h"
#include "util/dns/rr.h"

enum { NAMES_MOST = 10000 }; /* told one by one; of more, the whole zone goes */

struct comparing {
	const struct zonedata *old, *next;
	struct forget *f;
	unsigned names;
};

static bool counts(const struct rrset *set)
{
	return set->type != TYPE_RRSIG && set->type != TYPE_NSEC && set->type != TYPE_NSEC3;
}

static const struct rrset *next_that_counts(const struct zonenode *n, uint32_t *i)
{
	while (n && *i < n->count) {
		const struct rrset *set = n->sets[(*i)++];

		if (counts(set))
			return set;
	}
	return NULL;
}

static bool has_any(const struct zonenode *n)
{
	uint32_t i = 0;

	return next_that_counts(n, &i);
}

static bool tell_the_same(const struct zonenode *a, const struct zonenode *b)
{
	uint32_t i = 0, k = 0;

	for (;;) {
		const struct rrset *x = next_that_counts(a, &i), *y = next_that_counts(b, &k);

		if (!x || !y)
			return x == y;
		if (x->type != y->type || x->ttl_s != y->ttl_s || !rrset_same_records(x, y))
			return false;
	}
}

/* Whether it tells something of the names below. */
static bool rules_below(const struct comparing *c, const struct zonenode *n)
{
	return zonenode_set(n, TYPE_DNAME) ||
	       (zonenode_set(n, TYPE_NS) && !dname_equals(n->name, c->next->apex));
}

/* The name in `other` and those above it that come or go with it. */
static const uint8_t *highest_without(const struct zonedata *other, const uint8_t *name)
{
	while (!dname_equals(name, other->apex) && !zonedata_exists(other, dname_parent(name)))
		name = dname_parent(name);
	return name;
}

/* `a` and `b`: the records of `name` before and now; NULL: none. */
static void compare(struct comparing *c, const uint8_t *name, const struct zonenode *a, const struct zonenode *b)
{
	bool had = has_any(a), has = has_any(b), wild = dname_is_wildcard(name);

	if (tell_the_same(a, b))
		return;
	c->names++;
	if (wild)
		name = dname_parent(name);
	else if (!had || !has)
		name = highest_without(had ? c->next : c->old, name);
	if (wild || !had || !has || rules_below(c, a) != rules_below(c, b) || zonenode_set(a, TYPE_DNAME))
		forget_below(c->f, name, FORGET_EVERY_SCOPE);
	else
		forget_at(c->f, name, FORGET_EVERY_SCOPE);
}

void authzone_changes(const struct zonedata *old, const struct zonedata *next, struct forget *f)
{
	struct comparing c = { old, next, f, 0 };
	size_t i = 0, k = 0;

	while ((i < old->count || k < next->count) && c.names < NAMES_MOST) {
		const struct zonenode *a = i < old->count ? &old->nodes[i] : NULL;
		const struct zonenode *b = k < next->count ? &next->nodes[k] : NULL;
		int order = !a ? 1 : !b ? -1 : dname_compare(a->name, b->name);

		if (a && order <= 0)
			compare(&c, a->name, a, order == 0 ? b : NULL);
		else if (b)
			compare(&c, b->name, NULL, b);
		i += order <= 0;
		k += order >= 0;
	}
	if (c.names == NAMES_MOST)
		forget_below(f, next->apex, FORGET_EVERY_SCOPE);
}

struct forget *authzone_outdated(const struct authzone *z, const struct zonedata *former)
{
	const struct zonedata *now = authzone_stored(z);
	struct forget *f;

	if (!z->upstream || !former || !now || former == now)
		return NULL;
	f = forget_new(0);
	authzone_changes(former, now, f);
	if (!forget_is_empty(f))
		return f;
	forget_free(f);
	return NULL;
}
