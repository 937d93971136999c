/* The addresses that an RRset tells: of A and AAAA records, and the hints of SVCB and HTTPS ones.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * ipv4hint and ipv6hint (RFC 9460 7.3) are what a client connects to before, or instead of, asking for
 * addresses: rules for addresses look at them, too. */
#ifndef SERVICES_NET_ADDRESSES_H
#define SERVICES_NET_ADDRESSES_H

#include "util/base/bytes.h"
#include "util/dns/rrset.h"
#include "util/net/addr.h"

struct addresses {
	struct rrset_walk records;
	uint16_t type;
	struct reader params; /* of the present SVCB record */
	struct slice hints;   /* of its present parameter */
	uint8_t family;       /* of those */
};

/* Whether its records tell addresses. */
bool addresses_in(const struct rrset *s) PURE;
struct addresses addresses_of(const struct rrset *s);
/* The same of one record of class IN in a message that has been read or written whole; `rdlength`: there its data begins. */
struct addresses addresses_of_record(uint16_t type, const uint8_t *rdlength);
/* The next; false at the end. Data that has not the form of its type tells none. */
bool addresses_next(struct addresses *w, struct addr *a);

#endif
