/* Messages (RFC 1035 4): requests read in place, responses into RRsets, both written compressed.
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef UTIL_DNS_MSG_H
#define UTIL_DNS_MSG_H

#include "util/dns/dname.h"
#include "util/dns/edns.h"
#include "util/dns/msgname.h"
#include "util/dns/reason.h"
#include "util/dns/rrset.h"

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
	const uint8_t *name;    /* in the case it was asked in */
	uint16_t name_len;      /* 0: no question */
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
	REQUEST_IGNORE,         /* too short to answer, or a response itself */
	REQUEST_FORMERR,
	REQUEST_NOTIMP,         /* an opcode other than QUERY */
	REQUEST_BADVERS,        /* EDNS version above 0 (RFC 6891 6.1.3) */
	REQUEST_COOKIE,         /* no question, only a cookie (RFC 7873 5.4) */
};

struct client_subnet;

/* Fields marked "set later" are not filled in by msg_read_request. */
struct request {
	uint16_t id;
	uint16_t flags;         /* the header's 16 bits */
	struct question q;      /* borrowed from the packet */
	struct edns edns;       /* borrowed from the packet */
	const uint8_t *cookie;  /* 24 bytes for the response (RFC 7873), or NULL; set later */
	bool proven;            /* it carried a valid cookie; set later */
	bool cd_is_ignored;     /* but copied to the response (RFC 4035 3.2.2); set later */
	bool rpz_passed;         /* a policy zone let it through; set later */
	uint8_t scope;          /* whose answers it may get (services/policy/views.h); set later */
	/* Where the client is (services/forward/subnets.h); NULL: that makes no difference; set later. */
	const struct client_subnet *where;
};

/* Read a client's message in place: header, one uncompressed question and at most
 * one OPT record. Answer and authority sections must be empty and TC clear; other
 * additional records, TSIG included, are skipped unexamined, and bytes after the
 * last record are ignored. The first question, if readable, is in `out` whatever
 * the verdict, unless there are answer or authority records beside it; otherwise
 * q.name_len is 0. Allocates nothing. */
enum request_kind msg_read_request(const uint8_t *at, size_t len, struct request *out);

/* ---- what a server sends and we keep ---- */

enum section { SECTION_ANSWER, SECTION_AUTHORITY, SECTION_ADDITIONAL };

struct message {
	uint16_t id;
	uint16_t flags;                 /* header flags, without opcode and RCODE */
	uint8_t  opcode;
	uint16_t rcode;                 /* extended, RFC 6891 6.1.3 */
	struct question q;
	const struct rrset **sets;      /* answer, then authority, then additional */
	uint16_t count[3];              /* sets in each section */
	struct edns edns;
	/* our validation of it */
	uint8_t security;               /* enum security */
	enum reason reason;             /* why it failed, is stale, …; or REASON_none */
	const char *reason_text;        /* details for people, or NULL; in the arena */
	bool made_up;                   /* by us, not the zone's own data (RFC 6147, RFC 8509) */
	bool no_recursion;              /* answer with RA clear: it does not come from any server */
};

static inline unsigned message_set_count(const struct message *m)
{
	return m->count[0] + m->count[1] + m->count[2];
}

/* The first set of a section, and how many there are; NULL when the message has no sets. */
const struct rrset **message_section(const struct message *m, enum section s, unsigned *count);
/* The set of that owner, type and class in a section, or NULL. */
const struct rrset *message_find(const struct message *m, enum section s, const uint8_t *owner,
				 uint16_t type, uint16_t class_);
/* The SOA set of its authority section, or NULL. */
const struct rrset *message_soa(const struct message *m);
/* NXDOMAIN, or NODATA: an answer section without the type asked for, also behind aliases. A
 * referral, which has NS RRsets and no SOA, is no denial. */
bool message_is_denial(const struct message *m);

/* Whether ANSWER ends with a DNAME that makes `name` too long: what YXDOMAIN says (RFC 6672 2.3). The
 * RCODE is not signed: without this proof anybody could put it in front of what is. */
bool message_makes_too_long(const struct message *m, const uint8_t *name) PURE;
/* The smallest remaining TTL of all sets, in seconds; `none` when there are no sets. */
uint32_t message_ttl(const struct message *m, uint32_t now_s, uint32_t none);

/* Read a whole message. Records become sets, in order of first appearance within
 * each section. RRSIGs join the set they cover; so do those in another section,
 * unless RRSIGs were asked for or there are more than 64 sets. RRSIGs that cover no
 * set here form one of type RRSIG. Duplicate records are dropped (RFC 2181 5), as
 * are A and AAAA records of the wrong length (`reason` then says so). A set's TTL is
 * the least of its records' and signatures' (RFC 2181 5.2), each as
 * rr_ttl reads it; expires_s = now_s + TTL. Trust and security are 0. OPT
 * goes to `edns` and makes no set. Bytes after the last record are ignored.
 * False when the message is malformed; one that is cut short but has TC set yields
 * true and the sets before the cut. Everything is in the arena, and nothing is
 * borrowed from `at`. */
bool msg_parse(const uint8_t *at, size_t len, struct arena *a, uint32_t now_s,
	       struct message *out) MUST_USE;

/* Skip header and questions of a message from its start; returns how many records follow. */
unsigned msg_skip_to_records(struct reader *r);

/* A message that some cache on the way has kept for `age_s` seconds (RFC 8484 5.1): so much less is left of
 * every TTL. */
void msg_grow_older(uint8_t *wire, size_t len, uint32_t age_s);

/* How to write one, and what was written. */
struct msg_style {
	uint32_t now_s;                 /* TTLs written are the time left, at least 0 */
	bool with_dnssec;               /* RRSIG, NSEC, NSEC3 and a referral's DS, unasked */
	bool original_ttl;              /* write ttl_s instead of time left */
	uint16_t *ttl_offsets;          /* offset of each TTL from w->start, or NULL */
	size_t ttl_room;                /* elements of that array */
	/* results */
	size_t ttl_count;               /* TTLs written, whether or not ttl_offsets had room */
	size_t end[3];                  /* each section's end; empty: the previous one's */
	uint16_t rr_count[3];           /* records in each section */
};

/* Write header (id, flags, opcode, rcode & 15), question and sections, but no OPT;
 * at most 120 names are looked up for compression. `w->start` is the message's first
 * byte. When room runs out the writer goes bad, and end[], rr_count[], ttl_count and
 * the header's counts describe the sets written completely before that: they end at
 * end[2] (0: not even the question fitted). To get a valid shorter message set `bad`
 * to false, `at` to start + end[section], and the counts of the sections after it
 * to 0. */
void msg_write(struct writer *w, const struct message *m, struct msg_style *style);

/* Write a query: header with `id` and `flags`, question `q`, and `opt` if present (may be NULL). */
void msg_write_query(struct writer *w, uint16_t id, uint16_t flags, const struct question *q,
		     const struct edns *opt);

#endif
