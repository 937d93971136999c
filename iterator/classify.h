/* What kind of response this is (RFC 1034 4.3.2 seen from the other end).
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef ITERATOR_CLASSIFY_H
#define ITERATOR_CLASSIFY_H

#include "util/base.h"

struct message;
struct question;

#define RESPONSES(X)                                                              \
	X(answer)   /* data of the name and type */                               \
	X(nodata)   /* the name is there, the type is not */                      \
	X(nxdomain) /* the name is not there */                                   \
	X(alias)    /* CNAME or DNAME: go on at its target */                     \
	X(referral) /* to servers of a zone further down */                       \
	X(empty)    /* NOERROR and nothing at all: a fault, or a lazy nodata */   \
	X(lame)     /* points upwards: the server does not serve the zone */      \
	X(recursor) /* a recursor's answer (RA without AA), not an authority's */ \
	X(useless)  /* an error, or nothing one could work with: ask another server */

enum response {
#define X(name) RESPONSE_##name,
	RESPONSES(X)
#undef X
};

const char *response_name(enum response r) PURE;

/* Judge a message that scrub() has passed. `asked` is what was sent to a server of `zone`;
 * `recursive` that it was asked to recurse (a forwarder, or a recursor for want of better). */
enum response classify(const struct message *m, const struct question *asked, const uint8_t *zone,
		       bool recursive);

#endif
