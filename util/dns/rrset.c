/* One immutable RRset with its signatures, in a single block of memory.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "util/dns/rrset.h"

#include "util/base/arena.h"
#include "util/base/hash.h"
#include "util/base/mem.h"
#include "util/dns/dname.h"
#include "util/dns/rr.h"

_Static_assert(sizeof(struct rrset) == offsetof(struct rrset, data), "the head has no padding");

static size_t slices_size(const struct slice *s, size_t count)
{
	size_t size = 2 * count;

	for (size_t i = 0; i < count; i++)
		size += s[i].len;
	return size;
}

static uint8_t *put_slices(uint8_t *to, const struct slice *s, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		put_u16(to, (uint16_t)s[i].len);
		if (s[i].len)
			memcpy(to + 2, s[i].at, s[i].len);
		to += 2 + s[i].len;
	}
	return to;
}

struct rrset *rrset_build(struct arena *a, const struct rrset_parts *parts)
{
	size_t owner_len = dname_len(parts->owner);
	size_t size = offsetof(struct rrset, data) + owner_len +
		      slices_size(parts->records, parts->count) +
		      slices_size(parts->sigs, parts->sig_count);
	struct rrset *s = arena_take(a, size);

	*s = (struct rrset){
		.size = (uint32_t)size,
		.ttl_s = parts->ttl_s,
		.expires_s = parts->expires_s,
		.type = parts->type,
		.class_ = parts->class_,
		.count = (uint16_t)parts->count,
		.sig_count = (uint16_t)parts->sig_count,
		.trust = parts->trust,
		.security = parts->security,
		.flags = parts->flags,
		.owner_len = (uint8_t)owner_len,
	};
	memcpy(s->data, parts->owner, owner_len);
	uint8_t *at = put_slices(s->data + owner_len, parts->records, parts->count);
	put_slices(at, parts->sigs, parts->sig_count);
	return s;
}

struct rrset *rrset_copy(struct arena *a, const struct rrset *set)
{
	struct rrset *s = arena_take(a, set->size);

	memcpy(s, set, set->size);
	return s;
}

struct rrset *rrset_rename(struct arena *a, const struct rrset *set, const uint8_t *owner,
			   unsigned turn)
{
	struct slice *records = arena_array(a, struct slice, set->count);
	struct rrset_walk w = rrset_records(set);

	for (unsigned i = 0; i < set->count; i++)
		rrset_next(&w, &records[(i + set->count - turn % set->count) % set->count]);
	return rrset_build(a, &(struct rrset_parts){ .owner = owner,
						     .type = set->type,
						     .class_ = set->class_,
						     .ttl_s = set->ttl_s,
						     .expires_s = set->expires_s,
						     .records = records,
						     .count = set->count,
						     .trust = set->trust,
						     .security = SECURITY_INSECURE });
}

struct rrset_walk rrset_records(const struct rrset *s)
{
	return (struct rrset_walk){ .at = s->data + s->owner_len, .left = s->count };
}

struct rrset_walk rrset_sigs(const struct rrset *s)
{
	struct rrset_walk w = rrset_records(s);
	struct slice rdata;

	while (rrset_next(&w, &rdata))
		;
	w.left = s->sig_count;
	return w;
}

struct slice rrset_record(const struct rrset *s, unsigned i)
{
	struct rrset_walk w = rrset_records(s);
	struct slice rdata = { NULL, 0 };

	do
		rrset_next(&w, &rdata);
	while (i-- > 0);
	return rdata;
}

const uint8_t *rrset_target(const struct rrset *s, unsigned i)
{
	struct slice rdata = rrset_record(s, i);

	return rr_rdata_name(s->type, rdata.at, rdata.len);
}

bool rrset_is(const struct rrset *s, const uint8_t *owner, uint16_t type, uint16_t class_)
{
	return s->type == type && s->class_ == class_ && dname_equals(rrset_owner(s), owner);
}

static bool has_record(const struct rrset *s, struct slice wanted)
{
	struct rrset_walk w = rrset_records(s);

	for (struct slice rd; rrset_next(&w, &rd);) {
		if (rd.len == wanted.len && memcmp(rd.at, wanted.at, rd.len) == 0)
			return true;
	}
	return false;
}

/* A hash that does not depend on the order of the records. */
static uint64_t sum_of_records(const struct rrset *s)
{
	struct rrset_walk w = rrset_records(s);
	uint64_t sum = 0;

	for (struct slice rd; rrset_next(&w, &rd);)
		sum += hash_bytes(rd.at, rd.len);
	return sum;
}

bool rrset_same_records(const struct rrset *a, const struct rrset *b)
{
	if (a->count != b->count)
		return false;
	/* Large sets are compared by a keyed sum: comparing all pairs would take quadratic time. */
	if (a->count > 32)
		return sum_of_records(a) == sum_of_records(b);

	struct rrset_walk w = rrset_records(a);
	for (struct slice rd; rrset_next(&w, &rd);) {
		if (!has_record(b, rd))
			return false;
	}
	return true;
}

bool rrset_same_signatures(const struct rrset *a, const struct rrset *b)
{
	struct rrset_walk w = rrset_sigs(a), v = rrset_sigs(b);
	struct slice x, y;

	if (a->sig_count != b->sig_count)
		return false;
	while (rrset_next(&w, &x) && rrset_next(&v, &y)) {
		if (x.len != y.len || memcmp(x.at, y.at, x.len) != 0)
			return false;
	}
	return true;
}

/* FNV-1a, of `kind` and then the data in canonical form; stirred, since these are summed and the last bytes of FNV-1a add up
 * like numbers (192.0.2.7 and 192.0.2.3 to as much as 192.0.2.4 and 192.0.2.6). */
static uint64_t checksum_of(uint8_t kind, uint16_t type, struct slice rdata, uint8_t *room)
{
	uint64_t sum = (UINT64_C(0xcbf29ce484222325) ^ kind) * UINT64_C(0x100000001b3);

	memcpy(room, rdata.at, rdata.len);
	rr_canonical_rdata(type, room, rdata.len);
	for (size_t i = 0; i < rdata.len; i++)
		sum = (sum ^ room[i]) * UINT64_C(0x100000001b3);
	sum = (sum ^ sum >> 33) * UINT64_C(0xff51afd7ed558ccd);
	sum = (sum ^ sum >> 33) * UINT64_C(0xc4ceb9fe1a85ec53);
	return sum ^ sum >> 33;
}

uint64_t rrset_checksum(const struct rrset *s)
{
	struct rrset_walk records = rrset_records(s), sigs = rrset_sigs(s);
	uint8_t *room = mem_new(s->size);
	uint64_t sum = 0;

	for (struct slice rd; rrset_next(&records, &rd);)
		sum += checksum_of(0, s->type, rd, room);
	for (struct slice rd; rrset_next(&sigs, &rd);)
		sum += checksum_of(1, TYPE_RRSIG, rd, room);
	mem_free(room);
	return sum;
}

bool rrset_is_expanded(const struct rrset *s)
{
	unsigned labels = dname_labels(rrset_owner(s)) - dname_is_wildcard(rrset_owner(s));
	struct rrset_walk w = rrset_sigs(s);

	for (struct slice rd; rrset_next(&w, &rd);)
		if (rd.len > 3 && rd.at[3] < labels)
			return true;
	return false;
}
