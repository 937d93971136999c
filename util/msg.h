/* Messages (RFC 1035 4): questions read in place, record sets read, and written with compression.
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef UTIL_MSG_H
#define UTIL_MSG_H

#include "util/dname.h"
#include "util/edns.h"
#include "util/msgname.h"
#include "util/reason.h"
#include "util/rrset.h"

enum {
	FLAG_QR = 0x8000, FLAG_AA = 0x0400, FLAG_TC = 0x0200, FLAG_RD = 0x0100,
	FLAG_RA = 0x0080, FLAG_Z = 0x0040, FLAG_AD = 0x0020, FLAG_CD = 0x0010,
};

enum rcode {
	RCODE_NOERROR = 0, RCODE_FORMERR = 1, RCODE_SERVFAIL = 2, RCODE_NXDOMAIN = 3,
	RCODE_NOTIMP = 4, RCODE_REFUSED = 5, RCODE_YXDOMAIN = 6, RCODE_YXRRSET = 7,
	RCODE_NXRRSET = 8, RCODE_NOTAUTH = 9, RCODE_NOTZONE = 10, RCODE_BADVERS = 16,
	RCODE_BADCOOKIE = 23,
};

enum opcode { OPCODE_QUERY = 0, OPCODE_IQUERY = 1, OPCODE_STATUS = 2, OPCODE_NOTIFY = 4, OPCODE_UPDATE = 5 };

#define MSG_HEAD_LEN   12
#define MSG_MAX        65535

struct question {
	const uint8_t *name;    /* as the asker spelled it */
	uint16_t name_len;      /* 0: there is no question */
	uint16_t type, class_;
};

bool question_equals(const struct question *a, const struct question *b) PURE;

static inline uint16_t msg_id(const uint8_t *m) { return get_u16(m); }
static inline uint16_t msg_flags(const uint8_t *m) { return get_u16(m + 2); }
static inline unsigned msg_opcode(const uint8_t *m) { return m[2] >> 3 & 15; }
static inline unsigned msg_rcode(const uint8_t *m) { return m[3] & 15; }

/* ---- what a client sends ---- */

enum request_kind {
	REQUEST_GOOD,
	REQUEST_IGNORE,         /* too short to answer, or itself a response */
	REQUEST_FORMERR,
	REQUEST_NOTIMP,         /* an opcode we do not serve */
	REQUEST_BADVERS,        /* EDNS version above 0 (RFC 6891 6.1.3) */
};

struct whereabouts;

struct request {
	uint16_t id;
	uint16_t flags;         /* the header's 16 bits */
	struct question q;      /* borrowed from the packet */
	struct edns edns;       /* borrowed from the packet */
	const uint8_t *cookie;  /* 24 bytes for the answer (RFC 7873), or NULL; not read */
	bool proven;            /* with a valid cookie; not read */
	bool cd_is_ignored;     /* CD comes back all the same (RFC 4035 3.2.2); not read */
	bool unpoliced;         /* a policy zone has let it through; not read */
	uint8_t scope;          /* whose answers it may be given (services/views.h); not read */
	/* where the client is (services/subnets.h), NULL: that makes no difference; not read */
	const struct whereabouts *where;
};

/* Read a client's message in place: header, one uncompressed question, and OPT
 * if there is one. Answer and authority must be empty; other additional records
 * are skipped (TSIG makes no difference to us: FORMERR per none of them). A
 * question section that can be read is in `out` whatever the verdict says, but for answer or
 * authority records beside it; else q.name_len is 0. Allocates nothing. */
enum request_kind msg_read_request(const uint8_t *at, size_t len, struct request *out);

/* ---- what a server sends, and what we keep ---- */

enum section { SECTION_ANSWER, SECTION_AUTHORITY, SECTION_ADDITIONAL };

struct message {
	uint16_t id;
	uint16_t flags;                 /* header bits without opcode and rcode */
	uint8_t  opcode;
	uint16_t rcode;                 /* extended, RFC 6891 6.1.3 */
	struct question q;
	const struct rrset **sets;      /* answer, then authority, then additional */
	uint16_t count[3];              /* sets in each section */
	struct edns edns;
	/* what we think of it */
	uint8_t security;               /* enum security */
	enum reason reason;             /* why it is a failure, stale, …; REASON_none */
	const char *reason_text;        /* more for a person, or NULL; in the arena */
	bool made_up;                   /* by us: not what the zone itself says (RFC 6147, RFC 8509) */
	bool no_recursion;              /* RA is not set in the answer: what it is is no server's word */
};

static inline unsigned message_set_count(const struct message *m)
{
	return m->count[0] + m->count[1] + m->count[2];
}

/* First set of a section, and one past its last. */
const struct rrset **message_section(const struct message *m, enum section s, unsigned *count);
/* The set in a section, or NULL. */
const struct rrset *message_find(const struct message *m, enum section s, const uint8_t *owner,
				 uint16_t type, uint16_t class_);
/* Smallest TTL of all sets, `none` when there are none. */
uint32_t message_ttl(const struct message *m, uint32_t now_s, uint32_t none);

/* Read a whole message. Records become sets in order of first appearance within
 * each section. RRSIGs join the set they cover, in another section, too (alone, they
 * form a set of type RRSIG). A duplicate record is dropped, as is an A or AAAA record
 * of a wrong length (which `reason` then tells). The TTL of a set is the least of its
 * records' and signatures' (RFC 2181 5.2), where one with its top bit set is 0;
 * expires_s = now_s + TTL. Bytes behind the last record are ignored.
 * Trust and security are 0. OPT goes to `edns` and is no set. False when the
 * bytes are no well-formed message; everything is in the arena, and borrows
 * nothing from `at`. A message that is cut but has TC set gives the sets before the
 * cut, and true. */
bool msg_parse(const uint8_t *at, size_t len, struct arena *a, uint32_t now_s,
	       struct message *out) MUST_USE;

/* How to write one. */
struct msg_style {
	uint32_t now_s;                 /* TTL written: time left, never below 0 */
	bool with_dnssec;               /* RRSIGs, and NSEC/NSEC3 sets nobody asked for */
	bool original_ttl;              /* write ttl_s instead of time left */
	uint16_t *ttl_offsets;          /* where each TTL was put, or NULL */
	size_t ttl_room;                /* of that array */
	/* results */
	size_t ttl_count;               /* TTLs written, whether there was room to note them or not */
	size_t end[3];                  /* offset behind each section; question end before */
	uint16_t rr_count[3];           /* records in each section */
};

/* Header (id, flags, opcode, rcode & 15), question and sections, compressed with
 * at most 120 attempts; no OPT. `w->start` is the message's first byte. When there
 * is no room the writer goes bad, and end[], rr_count[], ttl_count and the header's
 * counts tell of the sets that stand whole before that place: end[2] is where they
 * end (0: not even the question fitted). A sound shorter message is made by setting
 * `bad` to false, `at` to start + end[section] and the counts of the sections after
 * it to 0. */
void msg_write(struct writer *w, const struct message *m, struct msg_style *style);

/* A question ready to go out: header with `id` and `flags`, `q`, and `opt` if present. */
void msg_write_query(struct writer *w, uint16_t id, uint16_t flags, const struct question *q,
		     const struct edns *opt);

#endif
