/* Zones held locally in full: auth-zone and rpz clauses, and the current state of each.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * The clauses belong to a snapshot. The records are in a cell, which outlives the snapshot when the
 * next one has the same zone, and are replaced independently of it (files read again, transfers).
 * Records found in a cell are valid for the turn. */
#ifndef SERVICES_AUTHZONE_ZONES_H
#define SERVICES_AUTHZONE_ZONES_H

#include <stdatomic.h>

#include "services/local/tags.h"
#include "util/base/rcu.h"
#include "util/dns/msg.h"
#include "util/net/addr.h"

struct arena;
struct conf;
struct conf_list;
struct fault;
struct rpz;
struct trie;
struct tsig_key;
struct tsig_keys;
struct xfers;
struct zonedata;

/* Address family that marks answers from a zone held here (struct query answered_by). */
#define FAMILY_AUTHZONE 1

/* Addresses that host names of allow-notify and primaries had when they were last looked up (services/xfer/notify_senders.h). */
enum { KNOWNHOSTS_MOST = 64 };
struct knownhosts {
	struct rcu_slot retired;
	size_t count;
	struct addr addrs[KNOWNHOSTS_MOST];
};

struct zonecell {
	_Atomic(struct zonedata *) data;     /* NULL: none, or none that may be used */
	_Atomic(struct zonedata *) proposed; /* serves only DNSKEY and ZONEMD, until validated */
	_Atomic bool expired, verified;
	_Atomic bool disabled; /* rpz_disable: its policy is not applied */
	_Atomic int64_t since; /* when it was published, wall clock; 0: not known */
	_Atomic bool leased;
	_Atomic uint32_t lease_s; /* when it was last known to be current, if `leased`; its transfer's */
	_Atomic(struct xfers *) home; /* what transfers it */
	_Atomic(struct knownhosts *) known; /* addresses of hosts that may send NOTIFY */
	_Atomic uint32_t pins;
};

/* The options of an rpz clause other than the source of its records. */
struct rpz_manner {
	struct tagset tags;      /* empty: applies to all clients */
	int override;            /* enum rpz_action for every match, or -1 */
	const uint8_t *target;   /* of RPZ_cname_override */
	const char *log_name;    /* "": none */
	bool logs, signals;
};

struct authzone {
	const uint8_t *name;
	const char *clause; /* as in the configuration, for the log */
	const struct conf_list *primaries, *urls, *notifiers;
	uint64_t size_most; /* bytes of a transfer; 0: no limit */
	uint32_t time_most_ms;
	bool falls_back, downstream, upstream, wants_digest, needs_digest;
	const struct tsig_key *key; /* that signs transfers; NULL: unsigned */
	struct rpz_manner *manner; /* NULL: not a policy zone */
	struct zonecell *cell;
	char *path, *path_inside; /* of its file, also as seen in the chroot; "": none */
};

struct authzones {
	struct authzone *items; /* policy zones last, in their order */
	size_t count, first_policy; /* items from first_policy on are policy zones */
	struct trie *by_name;       /* those that answer clients or the iterator */
	bool downstream, upstream;  /* some zone is used that way */
	bool permissive;           /* zonemd-permissive-mode */
	struct tsig_keys *keys;
};

/* Reads the zone files. A zone whose file cannot be used is empty, and the log says why. NULL with
 * a sentence in `f` for a zone without a name. */
struct authzones *authzones_new(const struct conf *conf, struct fault *f) MUST_USE;
void authzones_free(struct authzones *t); /* NULL is fine */
/* Before `t` is published: zones that could not be read keep the records they have in `old`. With `keeps`
 * so do those that were read: their file may be older, and does not tell whether they have expired. */
void authzones_inherit(struct authzones *t, const struct authzones *old, bool keeps);

/* The closest zone at or above the name, or NULL; the zone of exactly this name, or NULL. */
const struct authzone *authzones_find(const struct authzones *t, const uint8_t *name);
const struct authzone *authzones_find_exact(const struct authzones *t, const uint8_t *name);

/* Prepare new records for publication: compile the rules of a policy zone. Slow for a big zone;
 * touches nothing else. */
void authzone_ripen(const struct authzone *z, struct zonedata *data);
/* Read the file of a zone again. The old records stay when it cannot be used; else they are the caller's, to
 * be retired. */
bool authzone_reload(const struct authzones *t, const struct authzone *z, struct zonedata **former, struct fault *f);
/* Whether these records may be used: their digest is right, as far as the clause requires one
 * (RFC 8976). */
bool authzone_admits(const struct authzones *t, const struct authzone *z,
		     const struct zonedata *data, struct fault *f);
/* Use these records from now on (taken over; NULL: none). Returns those before, the caller's, to be retired. */
struct zonedata *authzone_publish(const struct authzone *z, struct zonedata *data, bool verified) MUST_USE;
/* Free it when no turn can see it any more; NULL is fine. */
void knownhosts_retire(struct knownhosts *k);

/* Offer records while their signatures are validated; they stay the caller's. NULL: end of that. */
void authzone_propose(const struct authzone *z, struct zonedata *data);
/* Withdraw records that were published unverified and return them; otherwise NULL. */
struct zonedata *authzone_take_unverified(const struct authzone *z) MUST_USE;
/* Write the zone to its file, if it has records and a file. Within a turn. */
bool authzone_save(const struct authzone *z, struct fault *f);

/* The records, expired or not. */
static inline const struct zonedata *authzone_stored(const struct authzone *z)
{
	return atomic_load_explicit(&z->cell->data, memory_order_acquire);
}

/* The rules of a policy zone; NULL: it has none now, or is disabled. */
const struct rpz *authzone_policy(const struct authzone *z);

static inline const struct zonedata *authzone_data(const struct authzone *z)
{
	return atomic_load_explicit(&z->cell->expired, memory_order_relaxed) ? NULL
									     : authzone_stored(z);
}

enum authzone_end {
	AUTHZONE_NOT,    /* no such zone: resolve as usual */
	AUTHZONE_ANSWER, /* `out` is the answer */
	AUTHZONE_FAILED, /* the zone is held here, but has no usable records */
};

/* The zone at this name while its new records are proposed, if it is these that are to be validated:
 * they are validated as they came, whoever else could be asked for the type. Or NULL. */
const struct authzone *authzones_proposing(const struct authzones *t, const uint8_t *name,
					   uint16_t type);

/* For clients (for-downstream). expires_s of the RRsets is their TTL. */
enum authzone_end authzones_answer(const struct authzones *t, const struct question *q,
				   struct arena *a, struct message *out);
/* In place of a server of the zone named `apex` (for-upstream, or new records are proposed). The
 * RRsets are copies, with expires_s relative to `now_s`. AUTHZONE_NOT where servers may be asked instead. */
enum authzone_end authzones_resolve(const struct authzones *t, const uint8_t *apex,
				    const struct question *q, uint32_t now_s, struct arena *a,
				    struct message *out);

#endif
