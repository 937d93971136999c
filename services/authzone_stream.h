/* A transfer as its messages come: AXFR, IXFR, or IXFR answered by the whole (RFC 5936, 1995).
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * Records are only gathered here, cheaply; making a zone of them is work for elsewhere. */
#ifndef SERVICES_AUTHZONE_STREAM_H
#define SERVICES_AUTHZONE_STREAM_H

#include "services/tsig.h"

struct zonebuild;
struct zonedata;

enum xfr_mode { XFR_FIRST, XFR_SECOND, XFR_WHOLE, XFR_DELETE, XFR_ADD, XFR_DONE };

struct xfr { /* begins zeroed */
	const uint8_t *apex; /* outlives it */
	bool axfr;           /* all of it was asked for */
	bool based;          /* what changed since `base` was asked for */
	uint32_t base;
	struct tsig_talk talk; /* key set: messages must be signed */
	enum xfr_mode mode;
	uint32_t goal, reached; /* serials */
	bool nothing;           /* there is nothing newer than the base */
	bool differs;           /* `build` has what is to be put on top of the base */
	bool is_proven;         /* the last message was signed, or none need be */
	struct zonebuild *build;
};

/* Begin anew; `have` is what changes are asked against, NULL for all. The talk stays. */
void xfr_begin(struct xfr *x, const uint8_t *apex, bool axfr, const struct zonedata *have);
void xfr_clear(struct xfr *x);

/* The next message. False: it is none, or nothing that may come here. */
bool xfr_take(struct xfr *x, const uint8_t *wire, size_t len, int64_t wall_s);

/* All of it is there. */
static inline bool xfr_is_done(const struct xfr *x)
{
	return x->mode == XFR_DONE && x->is_proven;
}

#endif
