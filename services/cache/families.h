/* Whether a whole address family is silent: IPv6, say, with an address and a route, and a network that
 * swallows it.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * Each server of such a family would cost a timeout before it is known. So what the servers of one family
 * tell about the next is kept for all zones: after FAMILY_SILENCES timeouts without any answer from the
 * family, while the other one answers, it is asked only where there is no other, and as a probe: one
 * question after FAMILY_PROBE_MS, then after twice that, up to 16 times. One answer makes it as good as
 * ever. Shared by all threads; each field is read and written relaxed, and a lost update does no harm. */
#ifndef SERVICES_CACHE_FAMILIES_H
#define SERVICES_CACHE_FAMILIES_H

#include <stdatomic.h>

#include "util/base/base.h"

#define FAMILY_SILENCES 3
#define FAMILY_PROBE_MS 10000u

struct family {
	_Atomic uint32_t silences;    /* timeouts since its last answer */
	_Atomic uint32_t from_ms;     /* when the first of these questions was sent */
	_Atomic uint32_t answered_ms; /* approximate time of the last answer; if `answered` */
	_Atomic uint32_t probe_ms;    /* when it may be tried again */
	_Atomic uint32_t probes;
	_Atomic bool answered;
};

struct families {
	struct family v4, v6;
};

/* In all of these `family` is 4 or 6 (others are ignored), and times are milliseconds of one clock. */
void families_heard(struct families *f, unsigned family, uint32_t now_ms);
/* A question sent then has timed out. */
void families_missed(struct families *f, unsigned family, uint32_t sent_ms, uint32_t now_ms);
/* A question is being sent: if the family is silent, that is its probe. */
void families_asked(struct families *f, unsigned family, uint32_t now_ms);
/* Whether servers of the other family, if there are any, are to be asked instead. */
bool families_is_silent(const struct families *f, unsigned family, uint32_t now_ms);
/* Whether its last question went unanswered, or none was ever answered. */
bool families_is_doubtful(const struct families *f, unsigned family);
/* After an outage of the whole network: what was missed says nothing. */
void families_forgive(struct families *f);

#endif
