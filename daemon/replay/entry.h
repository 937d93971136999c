/* One DNS message of a scenario, and the rules for comparing and adjusting it.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * The same shape serves as a canned answer, a client's question and an expectation.
 * Messages are kept as uncompressed wire bytes; everything lives in the scenario's arena. */
#ifndef DAEMON_REPLAY_ENTRY_H
#define DAEMON_REPLAY_ENTRY_H

#include "util/base/bytes.h"
#include "util/dns/text.h"

struct arena;
struct fault;

enum {                          /* MATCH words, both dialects */
	MATCH_OPCODE = 1 << 0, MATCH_QTYPE = 1 << 1, MATCH_QNAME = 1 << 2,
	MATCH_RCODE = 1 << 3, MATCH_QUESTION = 1 << 4, MATCH_ANSWER = 1 << 5,
	MATCH_ALL = 1 << 6, MATCH_ALL_NOEDNS = 1 << 7, MATCH_TTL = 1 << 8,
	MATCH_DO = 1 << 9, MATCH_CO = 1 << 10, MATCH_NOEDNS = 1 << 11,
	MATCH_EDNSDATA = 1 << 12, MATCH_SUBDOMAIN = 1 << 13, MATCH_UDP = 1 << 14,
	MATCH_TCP = 1 << 15, MATCH_SERIAL = 1 << 16, MATCH_CLIENT_COOKIE = 1 << 17,
	MATCH_SERVER_COOKIE = 1 << 18,
	MATCH_QCASE = 1 << 19, MATCH_FLAGS = 1 << 20, MATCH_AUTHORITY = 1 << 21,
	MATCH_ADDITIONAL = 1 << 22, MATCH_EDNS = 1 << 23, MATCH_NSID = 1 << 24,
};

enum {                          /* ADJUST words */
	ADJUST_ID = 1, ADJUST_QUERY = 2, ADJUST_ECS = 4, ADJUST_ECS_SCOPE = 8,
	ADJUST_RAW_ID = 16, ADJUST_SILENT = 32,
};

enum { EDE_UNCHECKED = -2, EDE_ANY = -1 };

enum { OPT_SIZE_UNBOUND = 1232, OPT_SIZE_DECKARD = 4096 }; /* where the text says nothing */

struct entry_packet {           /* TCP transfers have several */
	struct entry_packet *next;
	struct slice wire;
	bool hex;               /* bytes to be sent as they are */
};

struct entry {
	struct entry *next;
	unsigned line;          /* where it begins in the file */
	bool deckard;
	unsigned match;
	unsigned adjust;
	int ede;                /* code that must be there, EDE_ANY, EDE_UNCHECKED */
	uint32_t serial;
	bool used, mandatory;   /* it answered; it must have, by the end */
	struct entry_packet *packets;
	struct slice matched;   /* what a packet is compared with: the text's message */
};

/* The lines of a file, one at a time. */
struct lines {
	char *raw;              /* the line as it stands, NUL-ended */
	char *text;             /* the same behind its leading blanks */
	char *rest;
	unsigned number;
};

/* Next line without its end and trailing blanks; false when there is none. */
bool lines_next(struct lines *l);
/* Next line that is neither empty nor a `;` comment. */
bool lines_next_live(struct lines *l);

/* The rest of `text` behind `word`, blanks skipped, when it begins with that word; or NULL. */
char *word_after(char *text, const char *word);

/* Whether the line is a valid $ORIGIN or $TTL, which is then set in the zone. They may stand within
 * entries and between them. */
bool entry_directive(char *text, struct text_zone *zone);

/* Read an entry; `l` stands on its ENTRY_BEGIN, and afterwards on ENTRY_END. NULL with the
 * reason in `f`. */
struct entry *entry_read(struct lines *l, bool deckard, struct text_zone *zone, struct arena *a,
			 struct fault *f);

/* How a packet came: for the words that ask. */
struct entry_how {
	bool tcp;
	bool strict;            /* sections compared in order */
	bool asked;             /* by us of a server: in whatever case, but for `qcase` */
};

/* Whether `packet` fits what the entry asks of it. `why` (80 bytes or more, or NULL) gets the first
 * difference. */
bool entry_fits(const struct entry *e, struct slice packet, const struct entry_how *how, char *why,
		size_t why_len);

/* The entry's packet as the answer to `query`, adjusted; in `a`. */
struct slice entry_answer(const struct entry *e, const struct entry_packet *p, struct slice query,
			  struct arena *a);

#endif
