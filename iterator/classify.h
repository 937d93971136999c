/* What kind of response this is (RFC 1034 4.3.2 seen from the resolver's side).
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef ITERATOR_CLASSIFY_H
#define ITERATOR_CLASSIFY_H

#include "util/base/base.h"

struct message;
struct question;

#define RESPONSES(X)                                                              \
	X(answer)   /* data of the name and type */                               \
	X(nodata)   /* the name exists, the type does not */                      \
	X(nxdomain) /* the name does not exist */                                 \
	X(alias)    /* CNAME or DNAME: continue at its target */                  \
	X(referral) /* to the servers of a zone further down */                   \
	X(empty)    /* NOERROR and no records: a fault, or a sloppy nodata */     \
	X(lame)     /* upward referral: the server does not serve the zone */     \
	X(recursor) /* from a recursive server (RA without AA) */                 \
	X(useless)  /* an error, or nothing usable: ask another server */

enum response {
#define X(name) RESPONSE_##name,
	RESPONSES(X)
#undef X
};

const char *response_name(enum response r) PURE;

/* Classify a message that scrub() has accepted. `asked` is the question sent to a server of `zone`;
 * `recursive` means RD was set (a forwarder, or a recursor used as a last choice). */
enum response classify(const struct message *m, const struct question *asked, const uint8_t *zone,
		       bool recursive);

#endif
