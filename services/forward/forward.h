/* Zones whose servers the operator has configured: forward-zone and stub-zone.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * A forward zone's servers are queried with RD set and believed for any name at or below the
 * zone's; a stub zone's servers are authoritative. Built with the snapshot, immutable. forward_add
 * and similar commands build a changed copy. */
#ifndef SERVICES_FORWARD_FORWARD_H
#define SERVICES_FORWARD_FORWARD_H

#include "services/net/transport.h"
#include "util/net/addr.h"

struct conf;
struct fault;

enum forward_strategy { STRATEGY_SPREAD, STRATEGY_FASTEST, STRATEGY_ORDERED, STRATEGY_RACE };

struct forward_server {
	const uint8_t *host; /* name to be resolved, in wire form, or NULL */
	struct addr addr;    /* address and port; family 0 when `host` is to be resolved */
	uint16_t port;
	const char *tls_name;  /* the text after '#', or NULL */
	const char *http_path; /* over HTTPS; else NULL */
};

struct forward_zone {
	const uint8_t *name; /* owned by the table */
	const struct forward_server *servers;
	size_t server_count;
	bool is_stub;
	bool first; /* forward-first, stub-first: resolve without them when they fail */
	bool no_cache;
	enum transport_kind transport; /* for all its servers */
	enum forward_strategy strategy;
	unsigned racers; /* STRATEGY_RACE: how many are asked at once */
	bool prime;  /* stub-prime: ask the zone for its own NS set */
	uint64_t id; /* unique per build: distinguishes the zones of two snapshots */
};

struct forwards;

struct forwards *forwards_new(const struct conf *conf, struct fault *f) MUST_USE;
/* The zones of one view (forward-view, stub-view), which forwards_new leaves out. NULL without a
 * fault when there are none. */
struct forwards *forwards_of_view(const struct conf *conf, const char *view, struct fault *f);
void forwards_free(struct forwards *t); /* NULL is fine */

/* The zones of a view (NULL: of none) that are not validated because nobody says how: where no trust anchor is configured
 * but the default one (conf_default_anchor), the forward and stub zones below the root, for their servers need not be
 * those that the root's keys lead to. */
void forwards_each_unproven(const struct conf *conf, const char *view, void (*fn)(const uint8_t *name, void *arg),
			    void *arg);

/* The closest forward or stub zone at or above `name`, or NULL. A forward zone without servers
 * cancels those above it: also NULL. */
const struct forward_zone *forwards_find(const struct forwards *t, const uint8_t *name);
/* The same, but a forward zone without servers is returned like any other. */
const struct forward_zone *forwards_find_any(const struct forwards *t, const uint8_t *name);
/* Only one of exactly this name (for stubs: priming, listing). */
const struct forward_zone *forwards_find_exact(const struct forwards *t, const uint8_t *name);
/* Only one of exactly this name and kind. */
const struct forward_zone *forwards_find_kind(const struct forwards *t, const uint8_t *name, bool is_stub);
/* The closest stub zone at or above `name`, as if there were no forward zones, or NULL. For
 * resolution after forward-first has failed, and for the root's servers. */
const struct forward_zone *forwards_find_stub(const struct forwards *t, const uint8_t *name);
/* Every forward zone, then every stub zone, in the order of names. */
void forwards_each(const struct forwards *t, bool (*fn)(const struct forward_zone *z, void *arg),
		   void *arg);

/* A copy with one zone added or removed. Servers are written as in forward-addr / stub-addr. */
struct forward_change {
	const uint8_t *name;
	bool is_stub, prime, tls, remove;
	char *const *servers;
	size_t server_count;
};
struct forwards *forwards_changed(const struct forwards *old, const struct forward_change *change,
				  struct fault *f) MUST_USE;

#endif
