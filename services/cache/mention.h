/* What the records of a stored answer mention: their owners, and where its aliases lead.
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef SERVICES_CACHE_MENTION_H
#define SERVICES_CACHE_MENTION_H

#include "util/base/bytes.h"

struct stored;

struct mention {
	const uint8_t *owner;
	const uint8_t *target;  /* of a CNAME; or NULL */
	uint16_t type;
	struct slice rdata;     /* as in the image: names may be compressed */
};

/* Whether `is_it` says so of a record of any section; also if the image cannot be read to that point: whoever asks
 * is to forget it, and such an answer is no loss. */
bool stored_mentions(const struct stored *s, bool (*is_it)(const struct mention *m, void *arg), void *arg);

#endif
