/* The records of one whole zone, packed: built aside, immutable, looked up by name.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * Names are in canonical order (RFC 4034 6.1), so that the record that denies a name is found by
 * stepping back. The expires_s of an RRset here is its TTL. */
#ifndef SERVICES_AUTHZONE_DATA_H
#define SERVICES_AUTHZONE_DATA_H

#include <stdio.h>

#include "util/base/arena.h"
#include "util/base/rcu.h"
#include "util/dns/denial.h"
#include "util/dns/rrset.h"

struct fault;
struct text_rr;

struct zonenode {
	const uint8_t *name; /* in the first of its sets */
	struct rrset **sets; /* in order of type; records in their order of arrival */
	uint32_t count;
	bool hashed; /* has only an NSEC3 RRset: does not exist as a name */
};

struct zonehash {
	uint8_t hash[NSEC3_HASH_LEN];
	const struct rrset *set;
};

struct zonedata {
	void *rules; /* derived from the records (zonedata_attach), freed with them */
	void (*rules_free)(void *rules);
	struct arena arena;
	struct rcu_slot retired;
	const uint8_t *apex;
	unsigned apex_labels;
	struct zonenode *nodes;
	size_t count;
	bool has_nsec;
	struct zonehash *hashes; /* NSEC3 RRsets of one chain, in order of hash */
	size_t hash_count;
	struct nsec3 hashing; /* parameters of that chain */
	const struct rrset *soa; /* NULL: none, as zonebuild_spare_soa allows */
	uint32_t serial, refresh_s, retry_s, expire_s, minimum_s;
	size_t records;
};

/* ---- building ---- */

struct zonebuild;

struct zonebuild *zonebuild_new(const uint8_t *apex) MUST_USE;
void zonebuild_free(struct zonebuild *b); /* NULL is fine */
/* Add a record, or remove an existing one (IXFR). Records outside the zone or of a class other than
 * IN are ignored. */
void zonebuild_add(struct zonebuild *b, const struct text_rr *rr);
void zonebuild_remove(struct zonebuild *b, const struct text_rr *rr);
void zonebuild_add_all(struct zonebuild *b, const struct zonedata *z);
/* Treat what `b` has as changes to `z`, whose records come first. Once. */
void zonebuild_put_under(struct zonebuild *b, const struct zonedata *z);
/* The zone may lack an SOA record, as one from a file may. */
void zonebuild_spare_soa(struct zonebuild *b);
/* NULL with the reason in `f`: not exactly one SOA at the apex, or a record to be removed is not
 * there. Frees `b` in any case. */
struct zonedata *zonebuild_finish(struct zonebuild *b, struct fault *f) MUST_USE;

void zonedata_free(struct zonedata *z); /* NULL is fine */
/* Free it when no turn can see it any more. */
void zonedata_retire(struct zonedata *z);

/* Attach what was derived from the records, to be freed with them by `rules_free`. */
void zonedata_attach(struct zonedata *z, void *rules, void (*rules_free)(void *rules));

/* Read from a file; `fallback` is another path of it, or NULL. The SOA may be missing, but not of what is read from `file`.
 * Lenient: records that cannot be read are logged, counted and skipped, and the SOA may be missing in any case. */
struct zonedata_how {
	const uint8_t *apex;
	const char *path, *fallback;
	bool lenient;
	FILE *file;     /* read this, which `path` names, and close it; NULL: open it */
	size_t *broken; /* lenient: how many; may be NULL */
};
struct zonedata *zonedata_read(const struct zonedata_how *how, struct fault *f) MUST_USE;
/* Write to a file: to a temporary one beside it, which then replaces it. */
bool zonedata_write(const struct zonedata *z, const char *path, struct fault *f);
/* Each record, apex first, SOA before all. */
void zonedata_each(const struct zonedata *z, void (*fn)(const struct text_rr *rr, void *arg),
		   void *arg);

/* ---- finding ---- */

/* Index of the first node at or after `name`. */
size_t zonedata_place(const struct zonedata *z, const uint8_t *name);
const struct zonenode *zonedata_node(const struct zonedata *z, const uint8_t *name);
/* Whether the name exists: it, or a name below it, has records. */
bool zonedata_exists(const struct zonedata *z, const uint8_t *name);
const struct rrset *zonenode_set(const struct zonenode *n, uint16_t type); /* n may be NULL */
/* The NSEC RRset at or before `name`; the NSEC3 RRset at or before its hash. NULL: none. */
const struct rrset *zonedata_nsec(const struct zonedata *z, const uint8_t *name);
const struct rrset *zonedata_nsec3(const struct zonedata *z, const uint8_t *name, bool *matches);

/* RFC 1982. */
static inline bool serial_is_newer(uint32_t a, uint32_t than)
{
	return a != than && (int32_t)(a - than) > 0;
}

#endif
