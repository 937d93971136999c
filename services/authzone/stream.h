/* The messages of a zone transfer: AXFR, IXFR, or IXFR answered AXFR-style (RFC 5936, 1995).
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * Records are only collected here, cheaply; building the zone is done elsewhere. */
#ifndef SERVICES_AUTHZONE_STREAM_H
#define SERVICES_AUTHZONE_STREAM_H

#include "services/authzone/tsig.h"

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
	uint8_t soa[2 * DNAME_MAX + 20]; /* data of the first record, in canonical form */
	uint16_t soa_len;
	uint32_t goal, reached; /* serials: its own; that of the last difference */
	bool nothing;           /* nothing is newer than the base */
	bool differs;           /* `build` has changes to the base */
	bool is_proven;         /* the last message was signed, or none need be */
	struct zonebuild *build;
};

/* Start over; `have` is the base of an IXFR, NULL for the whole zone. The talk stays. */
void xfr_begin(struct xfr *x, const uint8_t *apex, bool axfr, const struct zonedata *have);
void xfr_clear(struct xfr *x);

/* Take the next message. False: malformed, or not allowed here (RFC 5936 2.2): another question,
 * opcode or class, an error, a last SOA record that differs from the first or has records behind it,
 * differences whose serials do not go from the base to the goal (RFC 1995 4), no signature on the
 * last message where a key is set (RFC 8945 5.3.1). Nothing of the transfer is of use then. */
bool xfr_take(struct xfr *x, const uint8_t *wire, size_t len, int64_t wall_s);

/* The transfer is complete. */
static inline bool xfr_is_done(const struct xfr *x)
{
	return x->mode == XFR_DONE && x->is_proven;
}

#endif
