/* Zones that are held here in full: auth-zone and rpz clauses, and what is known of each now.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * The clauses belong to a snapshot; the records are in a cell, which outlives it when the next one
 * has the same zone, and change by themselves (files read again, transfers). Records found in a cell
 * are good for the turn. */
#ifndef SERVICES_AUTHZONE_H
#define SERVICES_AUTHZONE_H

#include <stdatomic.h>

#include "services/tags.h"
#include "util/msg.h"

struct arena;
struct conf;
struct conf_list;
struct fault;
struct rpz;
struct knownhosts;
struct trie;
struct tsig_key;
struct tsig_keys;
struct xfers;
struct zonedata;

/* struct addr's family for answers that came from a zone held here (struct query answered_by). */
#define FAMILY_HELD 1

struct zonecell {
	_Atomic(struct zonedata *) data;     /* NULL: there are none, or none to be believed */
	_Atomic(struct zonedata *) proposed; /* answers for keys and digest alone, until judged */
	_Atomic bool expired, verified;
	_Atomic bool disabled; /* rpz_disable: its policy is not asked */
	_Atomic int64_t since; /* when it was taken over, by the wall clock; 0: not known */
	_Atomic(struct xfers *) home; /* who fetches it */
	_Atomic(struct knownhosts *) known; /* addresses of hosts that may say that it has changed */
	_Atomic uint32_t pins;
};

/* What an rpz clause says beyond where its records are. */
struct rpz_manner {
	struct tagset tags;      /* empty: it is for all clients */
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
	const struct tsig_key *key; /* transfers are signed with; NULL: they are not */
	struct rpz_manner *manner; /* of a policy zone; NULL: it is none */
	struct zonecell *cell;
	char *path, *path_inside; /* of its file; "": none */
};

struct authzones {
	struct authzone *items; /* policy zones last, in their order */
	size_t count, first_policy; /* items from there on are policy zones */
	struct trie *by_name;       /* those that answer, be it clients or ourselves */
	bool downstream, upstream;  /* some zone is used that way */
	bool permissive;           /* zonemd-permissive-mode */
	struct tsig_keys *keys;
};

/* Reads the files; a zone whose file cannot be used is empty, and the log says why. NULL with a
 * sentence in `f` for a zone without a name. */
struct authzones *authzones_new(const struct conf *conf, struct fault *f) MUST_USE;
void authzones_free(struct authzones *t); /* NULL is fine */
/* Before `t` is published: what could not be read goes on with the records that `old` has. */
void authzones_inherit(struct authzones *t, const struct authzones *old);

/* The closest zone at or above the name, or NULL. A zone of exactly this name. */
const struct authzone *authzones_find(const struct authzones *t, const uint8_t *name);
const struct authzone *authzones_find_exact(const struct authzones *t, const uint8_t *name);

/* What is to be made of new records before they are published: what a policy zone says. Slow for a
 * big zone, touches nothing else. */
void authzone_ripen(const struct authzone *z, struct zonedata *data);
/* Read the file of a zone again. The old records stay when it cannot be used. */
bool authzone_reload(const struct authzones *t, const struct authzone *z, struct fault *f);
/* Whether these records may be used: their digest is right, as far as the clause asks (RFC 8976). */
bool authzone_admits(const struct authzones *t, const struct authzone *z,
		     const struct zonedata *data, struct fault *f);
/* Use these records from now on (taken over; NULL: none). */
void authzone_publish(const struct authzone *z, struct zonedata *data, bool verified);
/* While their signatures are judged; stay the caller's. NULL: no more. */
void authzone_propose(const struct authzone *z, struct zonedata *data);
/* What was published unverified, if so; it is then published no more. */
struct zonedata *authzone_take_unverified(const struct authzone *z) MUST_USE;
/* Write the zone to its file, if there are records and it has a file. In a turn. */
bool authzone_save(const struct authzone *z, struct fault *f);

/* The records, expired or not. */
static inline const struct zonedata *authzone_stored(const struct authzone *z)
{
	return atomic_load_explicit(&z->cell->data, memory_order_acquire);
}

/* The triggers and actions of a policy zone, or NULL: it has none now, or is switched off. */
const struct rpz *authzone_policy(const struct authzone *z);

static inline const struct zonedata *authzone_data(const struct authzone *z)
{
	return atomic_load_explicit(&z->cell->expired, memory_order_relaxed) ? NULL
									     : authzone_stored(z);
}

enum held_end {
	HELD_NOT,    /* no such zone: ask the usual way */
	HELD_ANSWER, /* the message was made */
	HELD_FAILED, /* the zone is held here, but its records are not there */
};

/* For clients (for-downstream). The sets' expires_s counts from 0. */
enum held_end authzones_answer(const struct authzones *t, const struct question *q, struct arena *a,
			       struct message *out);
/* Instead of a server of the zone named `apex` (for-upstream). The sets are copies, they expire
 * behind `now_s`. HELD_NOT where the internet may be asked instead. */
enum held_end authzones_consult(const struct authzones *t, const uint8_t *apex,
				const struct question *q, uint32_t now_s, struct arena *a,
				struct message *out);

#endif
