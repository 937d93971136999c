/* Everything made from one loaded configuration: built aside, checked, then swapped in whole.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * Immutable once published. A worker reads the pointer at the start of each turn; a query pins
 * the snapshot it began with (snapshot_pin) and unpins it when it ends. */
#ifndef SERVICES_QUERY_SNAPSHOT_H
#define SERVICES_QUERY_SNAPSHOT_H

#include <stdatomic.h>

#include "services/access/cookies.h"
#include "util/base/base.h"
#include "util/net/addr.h"

struct acl;
struct addr;
struct authzones;
struct conf;
struct connection_limits;
struct waitrules;
struct fault;
struct forwards;
struct netset;
struct policy;
struct subnets;
struct tls_client;
struct tls_server;
struct zonelimits;
struct trie;
struct trust_store;

struct snapshot {
	struct conf *conf; /* options as written; conf->server.… */
	struct acl *acl;
	struct policy *policy; /* local zones, views, response-ip; control may change its data */
	struct authzones *zones; /* auth-zone and rpz clauses */
	struct forwards *forwards;
	struct netset *server_texts;      /* edns-client-string; NULL: none */
	struct subnets *subnets;          /* who is sent client subnets; NULL: nobody */
	struct zonelimits *zone_limits;   /* ratelimit */
	bool limits_zones;                /* some zone has a limit */
	struct cookies cookies;           /* for clients; no secrets without answer-cookie */
	struct netset *do_not_query;      /* do-not-query-address, -localhost */
	struct netset *private_addresses; /* private-address; NULL: none */
	struct trie *private_domains;
	struct netblock nat64; /* dns64-prefix; family 0: none */
	struct trie *caps_exempt;
	struct trie *domain_insecure;
	struct trie *dns64_ignored; /* dns64-ignore-aaaa */
	struct root_hint *hints; /* root server addresses for priming */
	size_t hint_count;
	int target_fetch[16]; /* target-fetch-policy by depth */
	unsigned target_fetch_count;
	struct trust_store *trust; /* the validator's part (snapshot_entrust); NULL: none */
	void (*trust_free)(struct trust_store *t);
	struct connection_limits *connection_limits;
	struct waitrules *wait_rules;
	struct tls_client *tls_client; /* for queries sent over TLS */
	struct tls_client *dnstap_tls; /* for the dnstap collector; NULL: not over TLS */
	struct tls_server *tls_server; /* for clients over TLS; NULL: no key is configured */
	uint64_t number; /* serial number of the build */
	/* Of what is cached (services/cache/slab.h): another one than the last snapshot's means that queries in
	 * progress begin again. Set by who publishes it. */
	uint8_t generation;
	/* Seconds since 1970 when something that is cached was last forgotten for that: what others stored before then
	 * (services/cachedb/cachedb.h) may be from before, too. 0: never. Set likewise. */
	int64_t shaped_s;
	bool renews; /* its policy is not the last snapshot's: clients that wait are looked at again */
	_Atomic uint32_t pins;
	void (*release)(struct snapshot *s); /* once the last pin has gone */
};

/* One root name server with one address (root-hints or built in). */
struct root_hint {
	const uint8_t *name;
	struct addr *addr;
};

/* Build a snapshot from `conf`, which it takes over. On failure NULL with a sentence in `f`, and
 * `conf` is still the caller's. The new snapshot has one pin: the caller's. */
struct snapshot *snapshot_new(struct conf *conf, struct fault *f) MUST_USE;
/* As `old` but with other forwards (taken over); shares everything else by reference count. */
struct snapshot *snapshot_with_forwards(struct snapshot *old, struct forwards *forwards) MUST_USE;

/* Before it is published: what is counted goes on where the limits are the same (tcp-connection-limit). */
void snapshot_inherit(struct snapshot *s, const struct snapshot *old);

/* Before it is published: attach the validator's part of the configuration, and how to free it. */
void snapshot_entrust(struct snapshot *s, struct trust_store *t, void (*free_trust)(struct trust_store *t));

struct snapshot *snapshot_pin(struct snapshot *s);
/* The last pin frees it: at once, or inside a turn on another thread (rcu_release), since a large one
 * takes a second. The publisher may drop its own pin only when no one can be
 * about to pin it: every worker has switched to another, or rcu_wait has returned. */
void snapshot_unpin(struct snapshot *s);

#endif
