/* What localzone.c (lookup, changes) and localzone_build.c (from a configuration) share.
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef SERVICES_LOCALZONE_PRIVATE_H
#define SERVICES_LOCALZONE_PRIVATE_H

#include "services/localzone.h"
#include "util/list.h"
#include "util/nameset.h"
#include "util/nametable.h"
#include "util/rcu.h"

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

enum put_end { PUT_DONE, PUT_UNCOVERED, PUT_WRONG };
/* PUT_UNCOVERED: no zone covers it. `line` is for the fault. */
enum put_end record_put(struct localzones *z, const struct text_rr *rr, const char *line,
			struct fault *f);

#endif
