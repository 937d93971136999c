/* Zones and records from the configuration: local-zone, local-data.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * Workers read without locks, within a turn; only the main thread changes things meanwhile
 * (control). The zone of a question is the closest one at or above its name that the client's tags
 * let it see. Records belong to the zone that was closest when they were added. Zones without
 * records, tags and overrides are packed, about 16 bytes each (util/names/nameset.h). */
#ifndef SERVICES_LOCAL_ZONES_H
#define SERVICES_LOCAL_ZONES_H

#include <stdatomic.h>

#include "services/local/tags.h"
#include "util/dns/msg.h"

struct addr;
struct arena;
struct conf;
struct conf_list;
struct fault;
struct text_rr;

enum zone_type {
#define ZONE_TYPE(word, records, rest, logged) ZONE_##word,
#include "services/local/zonetype.def"
#undef ZONE_TYPE
	ZONE_TYPES
};

enum zone_records { RECORDS_APART, RECORDS_HERE, RECORDS_ALL };

/* What happens to a question that no record answers. */
enum zone_rest {
	REST_DROP,
	REST_REFUSE,
	REST_DENY, /* NODATA for names that exist, else NXDOMAIN */
	REST_NODATA,
	REST_NXDOMAIN,
	REST_ASK,
	REST_ASK_TYPES, /* NODATA for names with records, else as if there were no zone */
	REST_NO_A,      /* NODATA for A, else as if there were no zone */
	REST_NO_AAAA,
	REST_NULL_ADDR, /* A 0.0.0.0, AAAA ::, otherwise NODATA */
	REST_TRUNCATE,  /* over UDP: TC, so that the client retries over TCP */
};

struct zone_traits {
	const char *word;
	enum zone_records records;
	enum zone_rest rest;
	bool logged;
};

extern const struct zone_traits zone_traits[ZONE_TYPES];
bool zone_type_parse(const char *text, enum zone_type *type);

/* The records at one name; none at an empty non-terminal. */
struct localnode;
const struct rrset *localnode_set(const struct localnode *n, uint16_t type);
unsigned localnode_count(const struct localnode *n); /* RRsets; NULL: 0 */

struct localzone; /* not packed */

/* The zone found for a name. Valid for the turn. */
struct localzone_match {
	const struct localzone *zone; /* NULL: a packed one */
	const uint8_t *name;          /* of the zone: a suffix of the name looked up */
	enum zone_type type;          /* before overrides for the client */
};

/* A coarse, quick filter by top label of the names that local zones may affect. */
struct localzone_tops {
	_Atomic uint64_t bits[64];
	_Atomic bool all;
};

struct localzones {
	struct localzone_tops tops; /* of class IN */
	_Atomic bool has_others;    /* there are zones of other classes */
	bool is_spoken_for;         /* what resolver.arpa says is the operator's (services/config/discovery.h) */
	struct localzones_private *own;
};

/* The options of a server or view clause. With `defaults` the built-in zones are added, unless
 * configured otherwise or ruled out by nodefault. */
struct localzones_how {
	const struct conf_list *zones, *data, *ptrs;
	const struct conf *conf; /* for tags, overrides, unblock-lan-zones */
	bool defaults;
	bool is_view; /* has no tags and overrides */
};

struct localzones *localzones_new(const struct localzones_how *how, struct fault *f) MUST_USE;
struct localzones *localzones_pin(struct localzones *z);
void localzones_unpin(struct localzones *z); /* NULL is fine. At the last, no reader may be left */

/* ---- lookup ---- */

/* A hash of the label `top`, ignoring case; 0 … 4095. */
static inline uint32_t localzone_top(const uint8_t *top)
{
	uint32_t key = *top | (top[1] | 0x20u) << 8 | (top[2] | 0x20u) << 16 |
		       (uint32_t)(top[*top] | 0x20) << 24;

	return (key * UINT32_C(0x9e3779b1)) >> 20;
}

/* False: nothing here affects the name, whatever the type, so that no lookup is needed. Class IN.
 * Cheap. */
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

/* The zone of a question (for type DS, of the parent name). `tags`: the client's; NULL sees all
 * zones. */
bool localzones_find(const struct localzones *z, const struct question *q,
		     const struct tagset *tags, struct localzone_match *m);
/* The records at `name` that belong to that zone; NULL when there is no such name. */
const struct localnode *localzones_node(const struct localzones *z, const struct localzone_match *m,
					const uint8_t *name, uint16_t class_);
/* The zone's SOA RRset, with the TTL for denials; NULL when it has none. In `a`. */
const struct rrset *localzones_soa(const struct localzones *z, const struct localzone_match *m,
				   uint16_t class_, struct arena *a);
/* The zone's local-zone-override for a client; false: none. */
bool localzone_override(const struct localzone *zone, const struct addr *client,
			enum zone_type *type);
const struct tagset *localzone_tags(const struct localzone *zone);

/* ---- changing: the main thread ---- */

void localzones_put(struct localzones *z, const uint8_t *name, uint16_t class_,
		    enum zone_type type);
void localzones_remove(struct localzones *z, const uint8_t *name, uint16_t class_);
/* Add a record given as text; a transparent zone is created where none covers it. */
bool localzones_put_record(struct localzones *z, const char *line, struct fault *f) MUST_USE;
/* Remove one record. The fault has Unbound's wording. */
bool localzones_remove_record(struct localzones *z, const char *line, struct fault *f) MUST_USE;
/* The same for a record in wire form, with names in lower case. */
bool localzones_remove_rr(struct localzones *z, const struct text_rr *rr, struct fault *f) MUST_USE;
/* Number of records at the name, of all types. */
unsigned localzones_records_at(const struct localzones *z, const uint8_t *name, uint16_t class_);
/* Records that are added together: time and memory grow with their number, wherever they stand. An
 * RRset has at most 65,535 records and 16 MiB of data; one that no message can hold is logged. */
struct record_batch;
struct record_batch *record_batch_new(void) MUST_USE;
void record_batch_free(struct record_batch *b); /* NULL is fine */
/* `rr` is copied; `line`, of which complaints tell, outlives the batch; `number` is the caller's. */
void record_batch_add(struct record_batch *b, const struct text_rr *rr, const char *line,
		      size_t number);
/* The same for a record given as text. */
bool record_batch_read(struct record_batch *b, const char *line, size_t number,
		       struct fault *f) MUST_USE;
/* A copy of a line that lives as long as the batch. */
const char *record_batch_keep(struct record_batch *b, const char *line);
struct record_ends {
	/* This record is left out; `why` ends with its line. */
	void (*wrong)(void *arg, size_t number, const char *line, const char *why);
	/* No zone covers this record: put one there and return true, or it is left out. NULL: a transparent
	 * zone is put at its owner name. */
	bool (*uncovered)(void *arg, const struct text_rr *rr, size_t number, const char *line);
	void *arg;
};
/* Name by name, in the order in which the first records of each came. */
void record_batch_put(struct record_batch *b, struct localzones *z, const struct record_ends *ends);
/* Remove all records at a name. */
void localzones_remove_name(struct localzones *z, const uint8_t *name, uint16_t class_);

/* Every zone; every record. In canonical order, class IN first. */
void localzones_each(const struct localzones *z,
		     bool (*fn)(const uint8_t *name, enum zone_type type, void *arg), void *arg);
void localzones_each_set(const struct localzones *z, bool (*fn)(const struct rrset *set, void *arg),
			 void *arg);
/* The same on any thread that has joined RCU, outside a turn, while the main thread may change things: in many short turns.
 * Between them `rest` is called, which may take its time; false ends it. */
void localzones_list(const struct localzones *z,
		     bool (*fn)(const uint8_t *name, enum zone_type type, void *arg),
		     bool (*rest)(void *arg), void *arg);
void localzones_list_sets(const struct localzones *z, bool (*fn)(const struct rrset *set, void *arg),
			  bool (*rest)(void *arg), void *arg);
size_t localzones_count(const struct localzones *z); /* zones */

/* Call `fn` for each zone of insecure-lan-zones. */
void default_lan_zones(void (*fn)(const uint8_t *name, void *arg), void *arg);

#endif
