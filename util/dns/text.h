/* Converting records to and from presentation format: nothing else calls ldns.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * For cold paths: dumps, local data, hints, zone files, trust anchors, tests. */
#ifndef UTIL_DNS_TEXT_H
#define UTIL_DNS_TEXT_H

#include <stdio.h>

#include "util/base/bytes.h"

struct arena;
struct fault;
struct rrset;
struct message;

/* One record read from text. */
struct text_rr {
	const uint8_t *owner;   /* all data is in the arena */
	uint32_t ttl_s;
	uint16_t type, class_;
	struct slice rdata;     /* uncompressed */
	bool left_out;          /* there is no such record: its data is missing (text_zone.odd) */
};

/* State kept between the lines of a zone file. */
struct text_zone {
	uint8_t origin[256];            /* in wire form; initially the root */
	uint8_t last_owner[256];
	uint32_t ttl_s;                 /* default, initially 3600; without $TTL, the last given */
	/* If set, told of each entry that cannot be read ("file:line: why"), after which reading
	 * continues. */
	void (*broken)(void *arg, const char *why);
	void *broken_arg;
	/* If set, told of what is odd and read all the same ("file:line: why" from a zone file): a TTL above
	 * 2147483647, which counts as that (RFC 8767 4), numbers too large for their field, text behind the data,
	 * missing data, directives of a file that nobody knows or that make no
	 * sense, which are skipped. Else these are errors. */
	void (*odd)(void *arg, const char *why);
	void *odd_arg;
	bool alone; /* allow no $INCLUDE: the file is not trusted */
	FILE *file; /* read and close this, `path` being only its name; NULL: open `path` */
};

void text_zone_init(struct text_zone *z);

/* Parse a name, appending the zone's origin unless it ends in a dot; "@" is the origin.
 * Returns its length, or 0 with the reason in `f`. `to` holds 255 bytes. */
size_t text_name_parse(const struct text_zone *z, const char *text, uint8_t *to, struct fault *f);

/* A number of seconds, or a sum of times such as "1h30m", up to 2147483647 (RFC 2181 8). */
bool text_ttl_parse(const char *text, uint32_t *ttl_s);

/* Parse "owner [ttl] [class] type rdata" (RFC 1035 5.1), including \# (RFC 3597);
 * parentheses, comments and a blank owner (the previous one) as in zone files. `z` may
 * be NULL: names are then relative to the root and the default TTL is 3600. */
bool text_rr_parse(struct arena *a, const char *line, struct text_zone *z, struct text_rr *out,
		   struct fault *f) MUST_USE;

/* Read a zone file (with $ORIGIN, $TTL, $GENERATE, parentheses; $INCLUDE relative to it), record
 * by record; stops when `each` returns false. What `each` is passed lasts only for that
 * call. False on the first error, with file, line and reason in `f`. */
bool text_zone_read(const char *path, struct text_zone *z,
		    bool (*each)(const struct text_rr *rr, void *arg), void *arg, struct fault *f);

/* Print "owner\tttl\tclass\ttype\trdata" without newline; returns the length as snprintf does. */
size_t text_rr_print(char *to, size_t room, const uint8_t *owner, uint32_t ttl_s, uint16_t class_,
		     uint16_t type, struct slice rdata);
/* In wire form, the names in it uncompressed. */
void text_rr_write(struct writer *w, const struct text_rr *rr);
/* Pass every record and signature of a set to `out`, a line each. */
void text_rrset_print(const struct rrset *s, uint32_t now_s,
		      void (*out)(const char *line, void *arg), void *arg);
/* Print a message the way dig does, for logs and tests. */
void text_message_print(const struct message *m, uint32_t now_s,
			void (*out)(const char *line, void *arg), void *arg);

#endif
