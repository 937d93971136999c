/* Records without an owner name, for tags and redirecting addresses.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "services/record_data.h"

#include "util/arena.h"
#include "util/fault.h"
#include "util/rr.h"
#include "util/text.h"

static const struct rrset **place_of(const struct record_data *d, uint16_t type)
{
	for (unsigned i = 0; i < d->count; i++) {
		if (d->sets[i]->type == type)
			return &d->sets[i];
	}
	return NULL;
}

static struct rrset *set_with(struct arena *a, const struct rrset *old, const struct text_rr *rr)
{
	unsigned count = old ? old->count : 0;
	struct slice *records = arena_array(a, struct slice, count + 1u);
	uint32_t ttl_s = old ? MIN(old->ttl_s, rr->ttl_s) : rr->ttl_s;

	for (unsigned i = 0; i < count; i++)
		records[i] = rrset_record(old, i);
	records[count] = rr->rdata;
	return rrset_build(a, &(struct rrset_parts){ .owner = rr->owner,
						     .type = rr->type,
						     .class_ = rr->class_,
						     .ttl_s = ttl_s,
						     .expires_s = ttl_s,
						     .records = records,
						     .count = count + 1u,
						     .security = SECURITY_INSECURE });
}

bool record_data_add(struct record_data *d, struct arena *a, const char *text, struct fault *f)
{
	const struct rrset **place, **sets;
	struct text_rr rr;

	if (!text_rr_parse(a, arena_textf(a, ". %s", text), NULL, &rr, f))
		return false;
	if (d->count && (rr.type == TYPE_CNAME || place_of(d, TYPE_CNAME))) {
		fault_set(f, "an alias has no other records beside it: %s", text);
		return false;
	}
	place = place_of(d, rr.type);
	if (place) {
		*place = set_with(a, *place, &rr);
		return true;
	}
	sets = arena_array(a, const struct rrset *, d->count + 1);
	for (unsigned i = 0; i < d->count; i++)
		sets[i] = d->sets[i];
	sets[d->count++] = set_with(a, NULL, &rr);
	d->sets = sets;
	return true;
}

const struct rrset *record_data_find(const struct record_data *d, uint16_t type)
{
	const struct rrset **place = place_of(d, type);

	if (!place)
		place = place_of(d, TYPE_CNAME);
	return place ? *place : NULL;
}
