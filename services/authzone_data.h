/* The records of one whole zone, packed: built aside, immutable, found by name.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * Names stand in canonical order (RFC 4034 6.1), so that the record that denies a name is found
 * by stepping back. The sets' expires_s counts from 0: it is their TTL. */
#ifndef SERVICES_AUTHZONE_DATA_H
#define SERVICES_AUTHZONE_DATA_H

#include <stdio.h>

#include "util/arena.h"
#include "util/denial.h"
#include "util/rcu.h"
#include "util/rrset.h"

struct fault;
struct text_rr;

struct zonenode {
	const uint8_t *name;
	struct rrset **sets; /* in order of type; records in the order in which they came */
	uint32_t count;
	bool hashed; /* nothing but an NSEC3 set: no name that anybody may ask for */
};

struct zonehash {
	uint8_t hash[NSEC3_HASH_LEN];
	const struct rrset *set;
};

struct zonedata {
	void *rules; /* what somebody made of the records (zonedata_attach), freed with them */
	void (*rules_free)(void *rules);
	struct arena arena;
	struct rcu_slot retired;
	const uint8_t *apex;
	unsigned apex_labels;
	struct zonenode *nodes;
	size_t count;
	struct zonehash *hashes; /* NSEC3 sets of one chain, in order of hash */
	size_t hash_count;
	struct nsec3 hashing; /* parameters of that chain */
	const struct rrset *soa; /* NULL: it has none, and may do without (zonebuild_spare_soa) */
	uint32_t serial, refresh_s, retry_s, expire_s, minimum_s;
	size_t records;
};

/* ---- building ---- */

struct zonebuild;

struct zonebuild *zonebuild_new(const uint8_t *apex) MUST_USE;
void zonebuild_free(struct zonebuild *b); /* NULL is fine */
/* Put a record in, or take one out that stands there (IXFR). Records outside of the zone or of
 * another class than IN are passed over. */
void zonebuild_add(struct zonebuild *b, const struct text_rr *rr);
void zonebuild_remove(struct zonebuild *b, const struct text_rr *rr);
void zonebuild_add_all(struct zonebuild *b, const struct zonedata *z);
/* What `b` has are changes to this zone: its records were there before. Once. */
void zonebuild_put_under(struct zonebuild *b, const struct zonedata *z);
/* The zone may be without SOA record: a policy zone from a file. */
void zonebuild_spare_soa(struct zonebuild *b);
/* NULL with the reason in `f`: no SOA at the apex, or one too many; something was to be taken out that
 * is not there. Frees `b` in any case. */
struct zonedata *zonebuild_finish(struct zonebuild *b, struct fault *f) MUST_USE;

void zonedata_free(struct zonedata *z); /* NULL is fine */
/* When no turn can see it any more. */
void zonedata_retire(struct zonedata *z);

/* What somebody made of the records lives as long as they do. */
void zonedata_attach(struct zonedata *z, void *rules, void (*rules_free)(void *rules));

/* From a file; `fallback` is another path of it (or NULL). Lenient: records that cannot be read are
 * told of in the log and counted, not the end of it, and there need be no SOA. */
struct zonedata_how {
	const uint8_t *apex;
	const char *path, *fallback;
	bool lenient;
	FILE *file;     /* read this, which `path` names, and close it; NULL: open it */
	size_t *broken; /* lenient: how many; may be NULL */
};
struct zonedata *zonedata_read(const struct zonedata_how *how, struct fault *f) MUST_USE;
/* To a file: written beside it, then put in its place. */
bool zonedata_write(const struct zonedata *z, const char *path, struct fault *f);
/* Each record, apex first, SOA before all. */
void zonedata_each(const struct zonedata *z, void (*fn)(const struct text_rr *rr, void *arg),
		   void *arg);

/* ---- finding ---- */

/* The first node at or behind `name`. */
size_t zonedata_place(const struct zonedata *z, const uint8_t *name);
const struct zonenode *zonedata_node(const struct zonedata *z, const uint8_t *name);
/* Whether the name exists: it has records, or something below it has. */
bool zonedata_exists(const struct zonedata *z, const uint8_t *name);
const struct rrset *zonenode_set(const struct zonenode *n, uint16_t type); /* n may be NULL */
/* The NSEC set at or before `name`; the NSEC3 set at or before a hash. NULL: there is none. */
const struct rrset *zonedata_nsec(const struct zonedata *z, const uint8_t *name);
const struct rrset *zonedata_nsec3(const struct zonedata *z, const uint8_t *name, bool *matches);

/* RFC 1982. */
static inline bool serial_is_newer(uint32_t a, uint32_t than)
{
	return a != than && (int32_t)(a - than) > 0;
}

#endif
