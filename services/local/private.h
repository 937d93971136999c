/* What zones.c (zones), node.c (names), batch.c (records that are added),
 * record.c (those one at a time, and those removed) and build.c (from a configuration) share.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * What readers see of a zone or node is immutable, except for the type of a zone: a changed node is
 * replaced by a new one, and the old one is retired. */
#ifndef SERVICES_LOCAL_PRIVATE_H
#define SERVICES_LOCAL_PRIVATE_H

#include "services/local/zones.h"
#include "util/base/list.h"
#include "util/base/rcu.h"
#include "util/dns/rr.h"
#include "util/names/nameset.h"
#include "util/names/nametable.h"

struct text_rr;

struct localzone {
	struct rcu_slot retired;
	_Atomic uint8_t type; /* nodefault: no such zone, whatever `packed` says */
	struct tagset tags;
	struct netset *overrides; /* values point into zone_numbers; NULL: none */
	struct list nodes;        /* the writer's */
};

/* All zones of a class. */
struct family {
	uint16_t class_;
	struct nametable *zones; /* struct localzone */
	struct nametable *nodes; /* struct localnode */
	struct nameset *packed;  /* zone types; NULL: none */
	_Atomic(struct family *) next;
};

/* What one zone has at one name; other zones may have nodes at the same name. */
struct localnode {
	struct rcu_slot retired;
	struct list in_zone; /* the writer's */
	const struct localzone *zone;
	_Atomic(struct localnode *) under; /* at the same name, of another zone; or NULL */
	uint32_t children; /* the writer's: nodes directly below it in the same zone */
	uint16_t count;    /* RRsets */
	uint32_t data[];   /* the RRsets, one after another; if none, the name */
};

struct localzones_private {
	_Atomic uint32_t holders;
	uint64_t seed;
	bool published;
	bool logs_all; /* log-local-actions: every match must be seen */
	size_t zone_count;
	struct family in; /* head of the list of families */
};

struct family *family_get(struct localzones *z, uint16_t class_);
struct localzone *zone_add(struct localzones *z, struct family *f, const uint8_t *name,
			   enum zone_type type);
/* The zone of this name, unpacked if need be. NULL when there is none. */
struct localzone *zone_unpacked(struct localzones *z, struct family *f, const uint8_t *name);
bool zone_exists(const struct family *f, const uint8_t *name);
/* Note in z->tops that questions at or below `name` may be answered here. */
void tops_mark(struct localzones *z, const uint8_t *name);
void zone_mark(struct localzones *z, const struct family *f, const uint8_t *name,
	       enum zone_type type);

const uint8_t *localnode_name(const struct localnode *n);
/* All of its RRsets: `count` times, from the first to the next. */
const struct rrset *localnode_first(const struct localnode *n);
const struct rrset *localnode_next(const struct rrset *s);
/* A copy of `n` (NULL: an empty one) without its RRset of `type`, and with `with` appended unless
 * that is NULL. */
struct localnode *localnode_make(const struct localzone *zone, const uint8_t *name,
				 const struct localnode *n, uint16_t type,
				 const struct rrset *with);
/* The same with several, at least one: without those types, and with `sets` appended. */
struct localnode *localnode_with(const struct localzone *zone, const uint8_t *name,
				 const struct localnode *n, const struct rrset *const *sets,
				 size_t count);
/* A record from text, as Unbound takes it; what is odd in it is logged. */
bool localzones_read_line(struct arena *a, const char *line, struct text_rr *rr, struct fault *f);
/* The node that this zone has at the name, or NULL. */
struct localnode *localnode_at(const struct family *f, const struct localzone *zone,
			       const uint8_t *name);
/* Replaces the node that the zone has at this name. */
void localnode_put(const struct localzones *z, struct family *f, struct localzone *zone,
		   struct localnode *n);
/* The nodes that other zones have at the name stay. */
void localnode_drop(const struct localzones *z, struct family *f, struct localnode *n);
void localnodes_free(void *top); /* all at one name; no reader may be left */

/* The name whose zone has the records of that type at `name`: DS is in the zone above
 * (RFC 4034 5). */
static inline const uint8_t *name_in_zone(const uint8_t *name, uint16_t type)
{
	return type == TYPE_DS ? dname_parent(name) : name;
}

#endif
