/* Zones as sets of records, signed as they are told.
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef TESTDATA_HOSTILE_ZONE_H
#define TESTDATA_HOSTILE_ZONE_H

#include "util/base/arena.h"
#include "util/base/bytes.h"
#include "util/dns/dname.h"
#include "util/dns/rr.h"

enum {
	SET_RECORDS = 8,
	ZONE_SETS = 96,
	NO_KEY = -1,
	TTL_DENIAL = 300,
	ITERATIONS_BELIEVED = 150, /* of NSEC3: val-nsec3-keysize-iterations */
	SIGNED_FROM = 1780000000,
	SIGNED_UNTIL = 1830000000,
};

struct set {
	const uint8_t *owner;
	uint16_t type;
	uint32_t ttl_s;
	unsigned count;
	struct slice rdata[SET_RECORDS];
	struct slice sig; /* made when it is first told */
	bool is_denial;	  /* NSEC, NSEC3: made from the others */
	bool is_glue;	  /* below a cut: not the zone's */
};

struct zone {
	const uint8_t *apex;
	int key; /* NO_KEY: not signed */
	bool by_hash, opt_out;
	uint8_t iterations;
	struct slice salt;
	struct set *sets[ZONE_SETS];
	unsigned count;
	struct set **former; /* what it had before a change */
	unsigned former_count;
	struct arena *arena;
};

/* A name from text without escapes. */
const uint8_t *name_make(struct arena *a, const char *text);

struct zone *zdata_make(struct arena *a, const char *apex, int key);
/* One more record, into the set of its owner and type. `rdata` is copied. */
struct set *zdata_add(struct zone *z, const uint8_t *owner, uint16_t type, uint32_t ttl_s, struct slice rdata);
/* Common kinds; names are text below the apex ("" is the apex itself), targets are text from the root. */
void zdata_add_name(struct zone *z, const char *prefix, uint16_t type, uint32_t ttl_s, const char *target);
void zdata_add_a(struct zone *z, const char *prefix, uint32_t ttl_s, const uint8_t ip[4]);
void zdata_add_txt(struct zone *z, const char *prefix, uint32_t ttl_s, const char *text);
void zdata_add_soa(struct zone *z, uint32_t ttl_s);
/* The delegation of a child: its NS set, its DS if `ds_key` is a key. */
void zdata_add_cut(struct zone *z, const uint8_t *child, uint32_t ttl_s, const char *server, int ds_key);
/* Before a change: what there is may still be in caches. */
void zdata_remember(struct zone *z);
/* What is at or below a name goes. Then zdata_close again. */
void zdata_remove(struct zone *z, const uint8_t *name);
/* All is there: who is glue, and the chain of denials. */
void zdata_close(struct zone *z);

struct set *zdata_find(const struct zone *z, const uint8_t *owner, uint16_t type);
/* The cut at or above a name, strictly below the apex; NULL: none. */
const struct set *zdata_cut(const struct zone *z, const uint8_t *name);
/* Something of the zone is at or below the name. */
bool zdata_holds(const struct zone *z, const uint8_t *name);
/* The denial at `name`, or the one over it. */
struct set *zdata_denial(const struct zone *z, const uint8_t *name);

/* ---- signatures ---- */

struct signing {
	int key;
	const uint8_t *signer;
	uint8_t labels_less; /* than the owner has */
	uint32_t from, until;
};

/* RDATA of the RRSIG, in the arena. `owner` may be a wildcard. */
struct slice set_sign(struct arena *a, const struct set *s, const struct signing *how);
/* The zone's own signature; empty if it is not signed, or the set is not its own. */
struct slice zdata_sig(const struct zone *z, struct set *s);

#endif
