/* What of the caches no longer holds when the configuration changes.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * Made from the difference of two configurations (daemon/process/shape.h), as a list of reasons each of which suffices. Immutable
 * once it is in use; read by all workers meanwhile, as a rule of the slabs (services/cache/slab.h). */
#ifndef SERVICES_CACHE_FORGET_H
#define SERVICES_CACHE_FORGET_H

#include "util/base/base.h"
#include "util/base/bytes.h"

struct forget;
struct rrset;
struct stored;

enum {                           /* kinds of entries */
       FORGET_EVERYTHING = 1,
       FORGET_ANSWERS = 2,       /* whole messages; RRsets stay */
       FORGET_FAILURES = 4,      /* messages with neither data nor a denial */
       FORGET_DENIALS = 8,       /* NXDOMAIN, NODATA, and what proves them */
       FORGET_BOGUS = 16,
};

#define FORGET_EVERY_SCOPE (-1)

struct forget *forget_new(uint32_t now_s) MUST_USE;
void forget_free(struct forget *f); /* with those chained to it; NULL is fine */
bool forget_is_empty(const struct forget *f);

void forget_kinds(struct forget *f, unsigned kinds);
/* Everything at and below the name (copied), in one scope (services/policy/views.h) or in all, and messages whose aliases
 * lead there or that have records of there. */
void forget_below(struct forget *f, const uint8_t *name, int scope);
/* The same of the name alone. */
void forget_at(struct forget *f, const uint8_t *name, int scope);
/* RRsets and messages with such a record. `free_arg` is called with the rest. */
struct forget_records {
	bool (*goes)(const void *arg, const uint8_t *owner, uint16_t type, struct slice rdata);
	void (*free_arg)(void *arg);
	void *arg;
};
void forget_records(struct forget *f, const struct forget_records *which);
/* What has longer to live (cache-max-ttl; of denials, cache-max-negative-ttl). */
void forget_longer(struct forget *f, uint32_t most_s, uint32_t denial_most_s);
/* What may have had its TTL raised to that, and has more than `least_s` left (cache-min-ttl). */
void forget_raised(struct forget *f, uint32_t raised_s, uint32_t least_s);
/* `f` is to hold what `other` holds, too; takes it over (NULL is fine). */
void forget_chain(struct forget *f, struct forget *other);

bool forget_answer(const struct forget *f, const struct stored *s);
bool forget_set(const struct forget *f, const struct rrset *set, uint8_t scope);
/* Something known about a name: its keys. */
bool forget_name(const struct forget *f, const uint8_t *name, uint8_t scope);

/* Denials for other names are not in a slab: each name whose denials are to be forgotten, and whether those below it,
 * too; the root for all. */
void forget_each_denied(const struct forget *f, void (*fn)(const uint8_t *name, bool below, void *arg), void *arg);

/* For the log: "everything", or how many names with what is below them, and what else. */
void forget_print(const struct forget *f, char *to, size_t room);

#endif
