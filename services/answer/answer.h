/* Turns a cached or fresh answer into the bytes for one client.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * Header bits follow RFC 1035, 4035 and 6840: RA set, RD and CD copied, AD only for a secure
 * answer to a client that set AD or DO. EDNS follows RFC 6891: OPT in the response exactly when it
 * was in the query. EDE (RFC 8914) where the configuration says so. */
#ifndef SERVICES_ANSWER_ANSWER_H
#define SERVICES_ANSWER_ANSWER_H

#include "services/cache/msg.h"
#include "util/dns/msg.h"
#include "util/net/subnet.h"

struct conf;

#define NSID_MAX 128 /* longest NSID, in bytes */

/* How answers look under the current configuration; made once per snapshot. */
struct answer_style {
	uint16_t udp_size;    /* edns-buffer-size: the size advertised in our OPT */
	uint16_t max_udp;     /* max-udp-size */
	bool takes_short;     /* harden-short-bufsize: no: sizes below 512 are obeyed, too */
	bool ede;             /* ede: yes */
	bool ede_stale;       /* ede-serve-expired */
	bool rotate;          /* rrset-roundrobin */
	bool original_ttl;    /* serve-original-ttl */
	bool no_do;           /* disable-edns-do: no OPT for clients that set DO */
	uint32_t stale_ttl_s; /* serve-expired-reply-ttl */
	uint8_t nsid_len;      /* 0: no NSID (RFC 5001) */
	uint8_t nsid[NSID_MAX];
};

void answer_style_from(struct answer_style *style, const struct conf *conf);

/* The recipient of an answer. */
struct answer_to {
	const struct answer_style *style;
	const struct request *request;
	const struct subnet_option *subnet; /* to send back to a client that sent one; or NULL */
	bool stream;       /* no truncation */
	bool no_recursion; /* the client may not recurse: RA is clear */
	uint32_t now_s;
};

/* Each writes a whole message to `out`, which has room for 65535 bytes on a stream and at least
 * 4096 otherwise. They never fail: what does not fit is truncated. */
void answer_stored(struct writer *out, const struct answer_to *to, const struct stored *s,
		   bool stale);
void answer_message(struct writer *out, const struct answer_to *to, const struct message *m);
/* An empty response with this rcode; `reason` may be REASON_none. Echoes the question, if any. */
void answer_error(struct writer *out, const struct answer_to *to, enum rcode rcode,
		  enum reason reason);
/* A synthesised answer: empty, or records of one type at the name asked for. */
struct answer_made {
	enum rcode rcode;
	enum reason reason;
	const char *reason_text; /* or NULL */
	uint16_t type;           /* of the record */
	uint32_t ttl_s;
	struct slice data; /* RDATA; empty: no record */
	const struct slice *more; /* of further records, `more_count` of them */
	unsigned more_count;
};
void answer_made(struct writer *out, const struct answer_to *to, const struct answer_made *m);

/* Apply minimal-responses: drop the authority and additional RRsets that the answer does not need.
 * SOA, proofs and referrals stay. Changes the array of sets and its counts, not the sets. */
void message_minimise(struct message *m);

#endif
