/* What schedule.c (scheduling) and round.c (one round) share.
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef SERVICES_XFER_PRIVATE_H
#define SERVICES_XFER_PRIVATE_H

#include "services/authzone/data.h"
#include "services/authzone/job.h"
#include "services/authzone/primary.h"
#include "services/authzone/stream.h"
#include "services/authzone/zones.h"
#include "services/query/env.h"
#include "services/upstream/upstream.h"
#include "services/xfer/schedule.h"
#include "util/base/arena.h"
#include "util/base/loop.h"
#include "util/net/addr.h"

#define ADDRESSES_MAX 8 /* of one primary */

enum phase { PHASE_IDLE, PHASE_LOOKUP, PHASE_PROBE, PHASE_TRANSFER, PHASE_JOB, PHASE_VERIFY };

/* How a round through the primaries ended. */
enum round_end {
	ROUND_CURRENT,  /* none has anything newer, at least one has what is held here */
	ROUND_FAILED,   /* none could give it */
	ROUND_COMPLETE, /* a transfer: the zone can be put together from it */
	ROUND_STOPPED,  /* the task is dead: it can be freed */
};

/* One zone and the work on it. */
struct task {
	struct xfers *xfers;
	struct arena arena;     /* of the primaries */
	struct arena scratch;   /* of one round */
	const struct authzone *z;
	struct snapshot *snapshot; /* pinned: z is part of it */
	struct authhosts *hosts;   /* who may send NOTIFY, by name */
	char *authorities;         /* CA certificates for URLs */
	struct primary *primaries;
	size_t primary_count;
	struct timer timer;
	enum phase phase;
	bool dead;              /* to be freed when the mesh has called back */
	bool again, notified;   /* poked meanwhile; by a NOTIFY */
	bool axfr;              /* IXFR did not work with this primary */
	uint32_t backoff_s;
	/* a round: */
	void (*done)(struct task *t, enum round_end how);
	size_t at;              /* index of the primary being tried */
	bool current;           /* some primary has what is held here, and nothing newer */
	struct addr addrs[ADDRESSES_MAX];
	unsigned addr_count, addr_at;
	uint16_t looking_for;   /* type of address */
	struct upstream_ask *ask;
	struct transmission transmission;
	bool sent;
	uint8_t query[MSG_HEAD_LEN + DNAME_MAX + 4 + DNAME_MAX + 10 + 2 * DNAME_MAX + 20 + TSIG_ROOM];
	struct xfr xfr;
	struct zonejob job; /* on the loader's thread in PHASE_JOB */
	size_t url_at;
	struct fetch_mark *marks; /* one per URL */
	uint64_t bytes, begun_us;
	uint64_t paid_until_us; /* notify_wait_us */
	bool failed, from_file, from_url;
	struct zonedata *got;  /* being verified */
	struct zonedata *file; /* records of a file, to be verified next; or NULL */
	struct task *next_orphan;
};

struct xfers {
	struct env *env;
	struct task **tasks;
	size_t count;
	struct task *orphans; /* dead tasks whose job has not come back yet */
};

/* The records an IXFR can be based on: those with an SOA. */
static inline const struct zonedata *xfer_have(const struct task *t)
{
	const struct zonedata *z = authzone_stored(t->z);

	return z && z->soa ? z : NULL;
}

static inline struct timebase *xfer_time(const struct task *t)
{
	return t->xfers->env->time;
}

static inline void xfer_wait_s(struct task *t, uint32_t s)
{
	timer_set(t->xfers->env->loop, &t->timer, (uint64_t)s * US_PER_S);
}

/* ---- round.c ---- */

/* Try the primary t->at, then those after it; then t->done is called. */
void xfer_try_primary(struct task *t);
/* The current address was of no use: fall back from IXFR to AXFR, or try the next address. */
void xfer_next_address(struct task *t);
/* The timer has fired in PHASE_TRANSFER: the transfer is complete or has timed out. */
void xfer_end_transfer(struct task *t);
void xfer_stop_sending(struct task *t);

#endif
