/* Records of one message, what an honest server puts into one, and the message as bytes.
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef TESTDATA_HOSTILE_TOLD_H
#define TESTDATA_HOSTILE_TOLD_H

#include "testdata/hostile/zone.h"
#include "util/dns/msg.h"

enum { TOLD_RECORDS = 2100 };

struct told_record {
	enum section section;
	const uint8_t *owner;
	uint16_t type;
	uint32_t ttl_s;
	struct slice rdata;
};

/* How names are written. */
enum squeeze {
	SQUEEZE_NONE,
	SQUEEZE_FIRST, SQUEEZE_LAST, /* each label points to where it stands first, or last */
	SQUEEZE_WHOLE,		     /* to where the same name stands whole; else it is written whole */
};

struct told {
	uint16_t rcode; /* extended */
	uint16_t flags; /* AA, TC, RA, AD, CD */
	bool insecure;	/* what denies it is an opt-out span, or costs more than is believed */
	bool no_opt, no_question;
	enum squeeze squeeze;
	struct slice options; /* of OPT */
	uint8_t opt_version;
	unsigned count;
	struct told_record records[TOLD_RECORDS];
};

void told_begin(struct told *t);
void told_record(struct told *t, enum section section, const uint8_t *owner, uint16_t type, uint32_t ttl_s,
		 struct slice rdata);
/* The set with its signature, under `owner` where that is not NULL (a wildcard's). */
void told_set(struct told *t, enum section section, const struct zone *z, struct set *s, const uint8_t *owner);

void told_copy(struct told *to, const struct told *from);

/* What an authoritative server of the zone says; `a` holds what is made for it. */
void told_honest(struct told *t, const struct zone *z, const struct question *q, struct arena *a);

/* Answers `query`. Returns the length; at most `room`, else truncated in due form. */
size_t told_write(const struct told *t, struct slice query, uint8_t *to, size_t room);

#endif
