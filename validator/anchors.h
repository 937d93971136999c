/* Trust anchors: those the operator configured, those built in, those that follow RFC 5011.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * An anchor is a name with DS records, DNSKEY records, or both, any of which authenticates the zone's
 * keys. It is immutable and reference-counted. The set of anchors is built once per snapshot; an
 * anchor that follows its zone's keys (RFC 5011) is replaced in it while others read. */
#ifndef VALIDATOR_ANCHORS_H
#define VALIDATOR_ANCHORS_H

#include <stdatomic.h>

#include "util/base/rcu.h"
#include "util/dns/rrset.h"

struct anchors;
struct autotrust;
struct conf;
struct fault;
struct rules;
struct trie;

struct anchor {
	struct rcu_slot retired;        /* anchors.c's own */
	_Atomic uint32_t pins;
	const struct rrset *ds;         /* or NULL; in the same allocation as this struct */
	const struct rrset *keys;       /* DNSKEY records, or NULL */
	bool rolls;                     /* maintained by RFC 5011 */
	uint8_t owner[256];
};

/* Read trust-anchor, trust-anchor-file, trusted-keys-file and auto-trust-anchor-file. An automatic
 * file that is lost or makes no sense is reported in the log and replaced by the built-in anchor
 * if it is (or seems to be) for the root, else left out; any other mistake, such as one that this
 * user may not read, is a fault that names file and line. Without any of these options, the root's
 * built-in keys are followed in the file of conf_default_anchor. An empty set is fine: nothing is
 * validated then. Owned by the caller. */
struct anchors *anchors_new(const struct conf *conf, struct fault *f) MUST_USE;
/* Leave out those of which nothing is supported, with a warning: they are as if they had not been configured, so that
 * nothing is asked for or told to their zones. One that rolls stays. Before others read the set. */
void anchors_drop_unsupported(struct anchors *a, const struct rules *rules);
void anchors_free(struct anchors *a);
size_t anchors_count(const struct anchors *a);

/* The closest anchor at or above `name`, or with `above` strictly above it, for data of the parent
 * side (DS). NULL if there is none, or if a name in `insecure` (domain-insecure; may be NULL) at
 * or above `name` is closer. Borrowed for the turn; pin to keep. */
const struct anchor *anchors_find(const struct anchors *a, const struct trie *insecure,
				  const uint8_t *name, bool above);
/* The anchor of exactly this name, or NULL. */
const struct anchor *anchors_find_at(const struct anchors *a, const uint8_t *name);
const struct anchor *anchor_pin(const struct anchor *a);
void anchor_unpin(const struct anchor *a);

/* Each anchor, in canonical order; stops when `each` says false. */
void anchors_each(const struct anchors *a, bool (*each)(const struct anchor *anchor, void *arg),
		  void *arg);

/* Whether both trust the same keys for the same names, or would if those that roll had been rolled in
 * both. Called within a turn. */
bool anchors_are_same(const struct anchors *a, const struct anchors *b) MUST_USE;

/* Each name for which they do not, in no particular order, some perhaps twice. Called within a turn. */
void anchors_each_difference(const struct anchors *a, const struct anchors *b,
			     void (*differs)(const uint8_t *owner, void *arg), void *arg);

/* The key tags of an anchor, ascending, without duplicates (RFC 8145 5.1). Stores at most `room`
 * and returns how many. */
size_t anchor_tags(const struct anchor *a, uint16_t *tags, size_t room);

/* The trust points that roll; each belongs to one thread at a time (see autotrust.h). */
size_t anchors_rolling_count(const struct anchors *a);
struct autotrust *anchors_rolling(const struct anchors *a, size_t i);
/* Publish what the point now trusts as the anchor that others find. With no key left, its name is
 * as if it had no anchor (RFC 5011 5: a trust point whose keys are all revoked is deleted). */
void anchors_republish(struct anchors *a, const struct autotrust *point);

/* The newest time recorded in the anchor files, in seconds since 1970, or 0. A clock before it is
 * wrong. */
int64_t anchors_newest_time(const struct anchors *a);

/* ---- one source at a time, before others read the set ---- */

/* One DS or DNSKEY record in presentation format. */
bool anchors_add_text(struct anchors *a, const char *record, struct fault *f) MUST_USE;
/* A zone file with DS and DNSKEY records; other types are ignored. */
bool anchors_add_file(struct anchors *a, const char *path, struct fault *f) MUST_USE;
/* BIND's clauses (validator/bind_keys.h). */
bool anchors_add_bind_text(struct anchors *a, const char *name, const char *text, size_t len,
			   struct fault *f) MUST_USE;
/* An auto-trust-anchor-file. */
bool anchors_add_rolling(struct anchors *a, const char *path, struct fault *f) MUST_USE;
/* One that follows its zone's keys, taken over; false, and still the caller's, where another is for the same name. */
bool anchors_add_point(struct anchors *a, struct autotrust *point) MUST_USE;
struct anchors *anchors_empty(void) MUST_USE;

/* The root's keys that this version was built with, as DS records in presentation format. Returns
 * how many. */
size_t anchors_built_in(const char *const **lines);

#endif
