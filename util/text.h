/* Records to and from presentation format: the only door to ldns.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * For cold paths: dumps, local data, hints, zone files, trust anchors, tests. */
#ifndef UTIL_TEXT_H
#define UTIL_TEXT_H

#include <stdio.h>

#include "util/bytes.h"

struct arena;
struct fault;
struct rrset;
struct message;

/* One record read from text. */
struct text_rr {
	const uint8_t *owner;   /* everything in the arena */
	uint32_t ttl_s;
	uint16_t type, class_;
	struct slice rdata;     /* uncompressed */
};

/* What stands between lines of a zone file. */
struct text_zone {
	uint8_t origin[256];            /* wire name; root at first */
	uint8_t last_owner[256];
	uint32_t ttl_s;                 /* default, 3600 at first; in a file without $TTL the last one given */
	/* When set, it is told of each entry that cannot be read ("file:line: why"), and the reading goes
	 * on behind it. */
	void (*broken)(void *arg, const char *why);
	void *broken_arg;
	bool alone; /* other files may not be included: this one comes from a stranger */
	FILE *file; /* read this first, which the path only names, and close it; NULL: open the path */
};

void text_zone_init(struct text_zone *z);

/* A name, completed by the zone's origin unless it ends in a dot; "@" is the origin.
 * Returns its length, or 0 with the reason in `f`. `to` holds 255 bytes. */
size_t text_name_parse(const struct text_zone *z, const char *text, uint8_t *to, struct fault *f);

/* Seconds, or a sum of times like "1h30m", up to 2147483647 (RFC 2181 8). */
bool text_ttl_parse(const char *text, uint32_t *ttl_s);

/* "owner [ttl] [class] type rdata" of RFC 1035 5.1, and \# of RFC 3597; parentheses,
 * comments and a blank owner (the last one) as in zone files. `z` may be NULL: then
 * names are relative to the root and the TTL is 3600. */
bool text_rr_parse(struct arena *a, const char *line, struct text_zone *z, struct text_rr *out,
		   struct fault *f) MUST_USE;

/* Read a zone file (with $ORIGIN, $TTL, parentheses; $INCLUDE relative to it),
 * record by record; stops when `each` says false. What `each` is given lasts for that
 * call. False on the first error, which names file and line. */
bool text_zone_read(const char *path, struct text_zone *z,
		    bool (*each)(const struct text_rr *rr, void *arg), void *arg, struct fault *f);

/* "owner\tttl\tclass\ttype\trdata" without newline; the number of bytes as snprintf counts. */
size_t text_rr_print(char *to, size_t room, const uint8_t *owner, uint32_t ttl_s, uint16_t class_,
		     uint16_t type, struct slice rdata);
/* Every record and signature of a set, a line each, through `out`. */
void text_rrset_print(const struct rrset *s, uint32_t now_s,
		      void (*out)(const char *line, void *arg), void *arg);
/* As dig would show it, for logs and tests. */
void text_message_print(const struct message *m, uint32_t now_s,
			void (*out)(const char *line, void *arg), void *arg);

#endif
