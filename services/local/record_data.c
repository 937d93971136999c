/* Records without an owner name, for tags and redirecting addresses.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "services/local/record_data.h"

#include <string.h>

#include "util/base/arena.h"
#include "util/base/fault.h"
#include "util/dns/rr.h"
#include "util/dns/text.h"

#define SET_BYTES_MAX (1u << 24)
#define ROOM_FIRST    512

static int place_of(const struct record_data *d, uint16_t type)
{
	for (unsigned i = 0; i < d->count; i++) {
		if (d->sets[i]->type == type)
			return (int)i;
	}
	return -1;
}

/* Add an RRset without records. */
static unsigned add_set(struct record_data *d, struct arena *a, const struct text_rr *rr)
{
	struct rrset **sets = arena_array(a, struct rrset *, d->count + 1);
	size_t *rooms = arena_array(a, size_t, d->count + 1);

	for (unsigned i = 0; i < d->count; i++) {
		sets[i] = d->sets[i];
		rooms[i] = d->rooms[i];
	}
	d->sets = sets;
	d->rooms = rooms;
	sets[d->count] = rrset_build(a, &(struct rrset_parts){ .owner = rr->owner,
							       .type = rr->type,
							       .class_ = rr->class_,
							       .ttl_s = rr->ttl_s,
							       .expires_s = rr->ttl_s,
							       .security = SECURITY_INSECURE });
	rooms[d->count] = sets[d->count]->size;
	return d->count++;
}

/* Append to the RRset: it has no signatures, so that its records end it. */
static void append(struct record_data *d, struct arena *a, unsigned place, const struct text_rr *rr)
{
	struct rrset *s = d->sets[place];
	size_t need = s->size + 2 + rr->rdata.len;
	uint8_t *at;

	if (need > d->rooms[place]) {
		struct rrset *old = s;

		d->rooms[place] = MAX(2 * need, (size_t)ROOM_FIRST);
		s = d->sets[place] = arena_take(a, d->rooms[place]);
		memcpy(s, old, old->size);
	}
	at = (uint8_t *)s + s->size;
	put_u16(at, (uint16_t)rr->rdata.len);
	if (rr->rdata.len)
		memcpy(at + 2, rr->rdata.at, rr->rdata.len);
	s->size = (uint32_t)need;
	s->count++;
	s->ttl_s = s->expires_s = MIN(s->ttl_s, rr->ttl_s);
}

bool record_data_add(struct record_data *d, struct arena *a, const char *text, struct fault *f)
{
	struct text_rr rr;
	int place;

	if (!text_rr_parse(a, arena_textf(a, ". %s", text), NULL, &rr, f))
		return false;
	if (d->count && (rr.type == TYPE_CNAME || place_of(d, TYPE_CNAME) >= 0)) {
		fault_set(f, "a CNAME has no other records beside it: %s", text);
		return false;
	}
	place = place_of(d, rr.type);
	if (place < 0)
		place = (int)add_set(d, a, &rr);
	if (d->sets[place]->count == UINT16_MAX ||
	    d->sets[place]->size + rr.rdata.len > SET_BYTES_MAX) {
		fault_set(f, "there are too many such records: %s", text);
		return false;
	}
	append(d, a, (unsigned)place, &rr);
	return true;
}

const struct rrset *record_data_find(const struct record_data *d, uint16_t type)
{
	int place = place_of(d, type);

	if (place < 0)
		place = place_of(d, TYPE_CNAME);
	return place < 0 ? NULL : d->sets[place];
}
