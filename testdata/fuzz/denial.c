/* Any bytes as NSEC and NSEC3 records: reading stays inside, and a zone speaks of its own names.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * Input: entries of a kind, a name, and a length and data. Names in odd places name what is asked. */
#include "util/dns/denial.h"

#include "util/base/arena.h"
#include "util/base/mem.h"
#include "util/dns/dname.h"
#include "util/dns/rr.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

static const uint8_t zone[] = "\1d\4test";
static const uint8_t sister[] = "\1e\4test";

/* The name at the reader, or one label of what is there in front of the zone. */
static void read_name(struct reader *r, uint8_t *to)
{
	size_t len = dname_measure(r->at, r->end);

	if (len) {
		memcpy(to, read_bytes(r, len), len);
	} else {
		size_t label = read_u8(r) % 40;
		const uint8_t *text = read_bytes(r, label);

		to[0] = (uint8_t)label;
		if (text && label)
			memcpy(to + 1, text, label);
		memcpy(to + (text && label ? label + 1 : 0), zone, sizeof(zone));
	}
}

static void check_record(const struct rrset *set)
{
	struct slice rd = rrset_record(set, 0);
	struct nsec3 n;

	(void)types_are_sound(rd);
	for (uint16_t type = 0; type < 300; type++)
		(void)types_hold(rd, type);
	if (nsec_is_sound(set, zone)) {
		PROMISE(dname_is_under(nsec_next(set), zone));
		PROMISE(!nsec_covers(set, zone, sister) && !nsec_covers(set, zone, rrset_owner(set)));
	}
	if (nsec3_read(set, zone, &n)) {
		uint8_t owner[DNAME_MAX];

		PROMISE(!nsec3_covers(&n, n.owner) && !nsec3_covers(&n, n.next.at));
		PROMISE(nsec3_owner(n.owner, zone, owner) && dname_equals(owner, rrset_owner(set)));
	}
}

static void ask(const struct denial_evidence *e, const uint8_t *name, int *purse)
{
	*purse = 40;
	if (denial_of_name(e, name) == DENIAL_PROVEN)
		PROMISE(dname_is_under(name, zone));
	if (denial_of_type(e, name, TYPE_A) == DENIAL_PROVEN)
		PROMISE(dname_is_under(name, zone));
	(void)denial_of_type(e, name, TYPE_DS);
	(void)denial_of_closer(e, name, 2);
	if (denial_of_ds(e, name) != CUT_UNKNOWN)
		PROMISE(dname_is_strictly_under(name, zone));
	PROMISE(*purse >= 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	struct reader r = reader_over(data, len);
	uint8_t name[DNAME_MAX + 50];
	struct denial_evidence e;
	struct arena a;
	int purse = 0;

	arena_init(&a);
	denial_begin(&e, zone, 150, &purse);
	while (reader_left(&r)) {
		uint8_t kind = read_u8(&r);
		struct slice rdata;
		struct rrset_parts parts = { .owner = name, .class_ = CLASS_IN, .records = &rdata,
					     .count = 1 };
		const struct rrset *set;

		read_name(&r, name);
		if (dname_measure(name, name + DNAME_MAX) == 0)
			break;
		rdata.len = read_u8(&r);
		rdata.at = read_bytes(&r, rdata.len);
		if (r.bad)
			break;
		parts.type = kind & 1 ? TYPE_NSEC3 : TYPE_NSEC;
		set = rrset_build(&a, &parts);
		check_record(set);
		if (denial_add(&e, set))
			ask(&e, rrset_owner(set), &purse);
		if (kind & 2)
			ask(&e, name, &purse);
	}
	ask(&e, (const uint8_t *)"\7nothing\1d\4test", &purse);
	arena_clear(&a);
	return 0;
}
