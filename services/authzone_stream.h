/* The messages of a zone transfer: AXFR, IXFR, or IXFR answered AXFR-style (RFC 5936, 1995).
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * Records are only collected here, cheaply; building the zone is done elsewhere. */
#ifndef SERVICES_AUTHZONE_STREAM_H
#define SERVICES_AUTHZONE_STREAM_H

#include "services/tsig.h"

struct zonebuild;
struct zonedata;

enum xfr_mode { XFR_FIRST, XFR_SECOND, XFR_WHOLE, XFR_DELETE, XFR_ADD, XFR_DONE };

struct xfr { /* begins zeroed */
	const uint8_t *apex; /* outlives it */
	bool axfr;           /* AXFR was requested */
	bool based;          /* IXFR from serial `base` was requested */
	uint32_t base;
	struct tsig_talk talk; /* key set: messages must be signed */
	enum xfr_mode mode;
	uint32_t goal, reached; /* serials */
	bool nothing;           /* nothing is newer than the base */
	bool differs;           /* `build` has changes to the base */
	bool is_proven;         /* the last message was signed, or none need be */
	struct zonebuild *build;
};

/* Start over; `have` is the base of an IXFR, NULL for the whole zone. The talk stays. */
void xfr_begin(struct xfr *x, const uint8_t *apex, bool axfr, const struct zonedata *have);
void xfr_clear(struct xfr *x);

/* Take the next message. False: malformed, or not allowed here. */
bool xfr_take(struct xfr *x, const uint8_t *wire, size_t len, int64_t wall_s);

/* The transfer is complete. */
static inline bool xfr_is_done(const struct xfr *x)
{
	return x->mode == XFR_DONE && x->is_proven;
}

#endif
