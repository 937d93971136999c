/* Zones and records that the operator has written down: local-zone, local-data.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * Workers look without locks, in turns; one thread, the main thread, may change things meanwhile
 * (control). A zone is found by the longest name at or above the one asked for that the client's
 * tags let it see. Records belong to the zone that they were closest under when they were put.
 * Zones without records, tags and overrides are packed, some 16 bytes each (util/nameset.h). */
#ifndef SERVICES_LOCALZONE_H
#define SERVICES_LOCALZONE_H

#include <stdatomic.h>

#include "services/tags.h"
#include "util/msg.h"

struct addr;
struct arena;
struct conf;
struct conf_list;
struct fault;
struct text_rr;

enum zone_type {
#define ZONE_TYPE(word, records, rest, logged) ZONE_##word,
#include "services/zonetype.def"
#undef ZONE_TYPE
	ZONE_TYPES
};

enum zone_records { RECORDS_APART, RECORDS_HERE, RECORDS_ALL };

/* What a question meets that no record answers. */
enum zone_rest {
	REST_DROP,
	REST_REFUSE,
	REST_DENY, /* NODATA for names that there are, else NXDOMAIN */
	REST_NODATA,
	REST_NXDOMAIN,
	REST_ASK,
	REST_ASK_TYPES, /* NODATA for names with records, else as if there were no zone */
	REST_NO_A,      /* NODATA for A, else as if there were no zone */
	REST_NO_AAAA,
	REST_NULL_ADDR, /* 0.0.0.0, :: and NODATA */
	REST_TRUNCATE,  /* over UDP: ask again over TCP */
};

struct zone_traits {
	const char *word;
	enum zone_records records;
	enum zone_rest rest;
	bool logged;
};

extern const struct zone_traits zone_traits[ZONE_TYPES];
bool zone_type_parse(const char *text, enum zone_type *type);

/* The records at one name; none where there are only names below it. */
struct localnode;
const struct rrset *localnode_set(const struct localnode *n, uint16_t type);
unsigned localnode_count(const struct localnode *n); /* sets; NULL: 0 */

struct localzone; /* not packed */

/* What was found for a name. Good for the turn. */
struct localzone_match {
	const struct localzone *zone; /* NULL: a packed one */
	const uint8_t *name;          /* of the zone: a suffix of the name that was looked for */
	enum zone_type type;          /* without the client's part in it */
};

/* Which classes of names may be anything but asked for elsewhere: quick and coarse. */
struct localzone_tops {
	_Atomic uint64_t bits[64];
	_Atomic bool all;
};

struct localzones {
	struct localzone_tops tops; /* of class IN */
	_Atomic bool has_others;    /* there are other classes */
	struct localzones_private *own;
};

/* Of a server or view clause. With `defaults` the built-in zones are there that are not written
 * down or ruled out by nodefault. */
struct localzones_how {
	const struct conf_list *zones, *data, *ptrs;
	const struct conf *conf; /* for tags, overrides, unblock-lan-zones */
	bool defaults;
	bool is_view; /* has no tags and overrides */
};

struct localzones *localzones_new(const struct localzones_how *how, struct fault *f) MUST_USE;
struct localzones *localzones_pin(struct localzones *z);
void localzones_unpin(struct localzones *z); /* NULL is fine. Of the last: no reader is left */

/* ---- looking ---- */

/* A number for the label `top`, whatever its case; some have the same. */
static inline uint32_t localzone_top(const uint8_t *top)
{
	uint32_t key = *top | (top[1] | 0x20u) << 8 | (top[2] | 0x20u) << 16 |
		       (uint32_t)(top[*top] | 0x20) << 24;

	return (key * UINT32_C(0x9e3779b1)) >> 20;
}

/* False: nothing here concerns the name, whatever its type, so that it need not be looked for.
 * Class IN. Cheap. */
static inline bool localzones_concern(const struct localzones *z, const uint8_t *name)
{
	const uint8_t *top = NULL;
	uint32_t n;

	if (atomic_load_explicit(&z->tops.all, memory_order_relaxed))
		return true;
	while (*name) {
		top = name;
		name += 1u + *name;
	}
	if (!top)
		return false;
	n = localzone_top(top);
	return atomic_load_explicit(&z->tops.bits[n / 64], memory_order_relaxed) >> n % 64 & 1;
}

/* The zone of a question (of type DS: that of the name above). `tags`: the client's; NULL sees all
 * zones. */
bool localzones_find(const struct localzones *z, const struct question *q,
		     const struct tagset *tags, struct localzone_match *m);
/* The records at `name` as far as they belong to that zone; NULL when there is no such name. */
const struct localnode *localzones_node(const struct localzones *z, const struct localzone_match *m,
					const uint8_t *name, uint16_t class_);
/* The zone's SOA set, with the TTL of denials; NULL when it has none. In `a`. */
const struct rrset *localzones_soa(const struct localzones *z, const struct localzone_match *m,
				   uint16_t class_, struct arena *a);
/* local-zone-override of the zone for a client. */
bool localzone_override(const struct localzone *zone, const struct addr *client,
			enum zone_type *type);
const struct tagset *localzone_tags(const struct localzone *zone);

/* ---- changing: the main thread ---- */

void localzones_put(struct localzones *z, const uint8_t *name, uint16_t class_,
		    enum zone_type type);
void localzones_remove(struct localzones *z, const uint8_t *name, uint16_t class_);
/* A record as text; a transparent zone is made where none covers it. */
bool localzones_put_record(struct localzones *z, const char *line, struct fault *f) MUST_USE;
/* One record. The fault is what Unbound says. */
bool localzones_remove_record(struct localzones *z, const char *line, struct fault *f) MUST_USE;
/* The same for records in wire form, whose names are in lower case. Where no zone covers one that is
 * put, a transparent zone is made at `cover`, which is its name or above it. */
bool localzones_put_rr(struct localzones *z, const struct text_rr *rr, const uint8_t *cover,
		       struct fault *f) MUST_USE;
bool localzones_remove_rr(struct localzones *z, const struct text_rr *rr, struct fault *f) MUST_USE;
/* How many there are at the name, of whatever type. */
unsigned localzones_records_at(const struct localzones *z, const uint8_t *name, uint16_t class_);
/* All records of a name. */
void localzones_remove_name(struct localzones *z, const uint8_t *name, uint16_t class_);

/* Every zone; every record. In canonical order, class IN first. */
void localzones_each(const struct localzones *z,
		     bool (*fn)(const uint8_t *name, enum zone_type type, void *arg), void *arg);
void localzones_each_set(const struct localzones *z, bool (*fn)(const struct rrset *set, void *arg),
			 void *arg);
size_t localzones_count(const struct localzones *z); /* zones */

/* Each name under insecure-lan-zones. */
void default_lan_zones(void (*fn)(const uint8_t *name, void *arg), void *arg);

#endif
