/* A message as flat lists of records, for comparing one with another.
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef DAEMON_REPLAY_RRS_H
#define DAEMON_REPLAY_RRS_H

#include "util/base/bytes.h"
#include "util/dns/edns.h"

struct arena;

struct flat_rr {
	const uint8_t *owner;           /* lower-case */
	uint16_t type, class_;
	uint32_t ttl_s;
	struct slice rdata;             /* uncompressed, names lower-case */
};

struct flat_message {
	uint16_t flags;                 /* header bits, opcode and rcode included */
	uint16_t id;
	unsigned questions;
	const uint8_t *qname;           /* as it stands; NULL when there is no question */
	uint16_t qtype, qclass;
	struct flat_rr *rrs[3];
	unsigned count[3];              /* without OPT */
	struct edns edns;
	unsigned rcode;                 /* extended */
};

/* False when the bytes are no whole message. */
bool flat_read(struct slice wire, struct arena *a, struct flat_message *out);

bool flat_rr_equals(const struct flat_rr *a, const struct flat_rr *b, bool with_ttl);

/* Sections equal: record by record in order; or, not `ordered`, as multisets in which an alias
 * still stands before what it leads to. */
bool flat_section_equals(const struct flat_message *a, const struct flat_message *b, unsigned section,
			 bool with_ttl, bool ordered);

/* A record as text into `to`, cut to `room`. */
void flat_rr_print(const struct flat_rr *rr, char *to, size_t room);

#endif
