/* Records without an owner name, with which redirecting tags and addresses replace an answer
 * (access-control-tag-data, response-ip-data).
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef SERVICES_LOCAL_RECORD_DATA_H
#define SERVICES_LOCAL_RECORD_DATA_H

#include "util/dns/rrset.h"

struct arena;
struct fault;

struct record_data {               /* begins zeroed */
	struct rrset **sets; /* owner: the root; expires_s is ttl_s; all in the arena */
	size_t *rooms;       /* bytes each of them may grow to */
	unsigned count;
};

/* Add a record written as "[TTL] [CLASS] TYPE data". A CNAME must be the only record; of a type there
 * are at most 65,535, with 16 MiB of data. Nobody reads `d` meanwhile: its RRsets grow in place. */
bool record_data_add(struct record_data *d, struct arena *a, const char *text,
		     struct fault *f) MUST_USE;
/* The RRset of the type, else the CNAME, else NULL. */
const struct rrset *record_data_find(const struct record_data *d, uint16_t type);

#endif
