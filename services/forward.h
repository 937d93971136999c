/* Zones that the operator sends elsewhere: forward-zone and stub-zone.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * A forward zone's servers are asked with RD set and trusted with whatever they
 * answer at or below its name; a stub zone's servers are authoritative. Built with the
 * snapshot, immutable. forward_add and its kin build a changed copy. */
#ifndef SERVICES_FORWARD_H
#define SERVICES_FORWARD_H

#include "services/carrier.h"
#include "util/addr.h"

struct conf;
struct fault;

enum forward_strategy { STRATEGY_SPREAD, STRATEGY_FASTEST, STRATEGY_ORDERED, STRATEGY_RACE };

struct forward_server {
	const uint8_t *host; /* wire name to be resolved, or NULL */
	struct addr addr;    /* family 0 when `host` is to be resolved; else its address and port */
	uint16_t port;
	const char *tls_name;  /* behind '#', or NULL */
	const char *http_path; /* over HTTPS; else NULL */
};

struct forward_zone {
	const uint8_t *name; /* owned by the table */
	const struct forward_server *servers;
	size_t server_count;
	bool is_stub;
	bool first; /* forward-first, stub-first: ask the usual way when they fail */
	bool no_cache;
	enum carrier carrier; /* to all its servers */
	enum forward_strategy strategy;
	unsigned racers; /* STRATEGY_RACE: how many are asked at once */
	bool prime;  /* stub-prime: ask the zone for its own NS set */
	uint64_t id; /* distinct per build: tells zones of two snapshots apart */
};

struct forwards;

struct forwards *forwards_new(const struct conf *conf, struct fault *f) MUST_USE;
/* Those that name this view (forward-view, stub-view), which the ones above leave out. NULL without a
 * fault when there are none. */
struct forwards *forwards_of_view(const struct conf *conf, const char *view, struct fault *f);
void forwards_free(struct forwards *t); /* NULL is fine */

/* The closest forward or stub zone at or above `name`, or NULL. A forward zone without servers
 * cancels one above it: NULL too. */
const struct forward_zone *forwards_find(const struct forwards *t, const uint8_t *name);
/* The same, but a forward zone without servers is told like any other. */
const struct forward_zone *forwards_find_any(const struct forwards *t, const uint8_t *name);
/* Only exactly there (for stubs: priming, listing). */
const struct forward_zone *forwards_find_exact(const struct forwards *t, const uint8_t *name);
/* The closest stub zone at or above `name`, as if there were no forward zones (the usual way, once
 * forward-first has failed; the servers of the root), or NULL. */
const struct forward_zone *forwards_find_stub(const struct forwards *t, const uint8_t *name);
/* Every forward zone, then every stub zone, in the order of names. */
void forwards_each(const struct forwards *t, bool (*fn)(const struct forward_zone *z, void *arg),
		   void *arg);

/* A copy with a zone put or taken out. Texts as after forward-addr / stub-addr. */
struct forward_change {
	const uint8_t *name;
	bool is_stub, prime, tls, remove;
	char *const *servers;
	size_t server_count;
};
struct forwards *forwards_changed(const struct forwards *old, const struct forward_change *change,
				  struct fault *f) MUST_USE;

#endif
