/* A stored or fresh answer becomes bytes for this client.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * Header bits as RFC 1035, 4035, 6840 ask: RA set, RD and CD copied, AD only for a secure
 * answer to who set AD or DO. EDNS as RFC 6891: OPT in the answer exactly when it was in the
 * question. EDE (RFC 8914) where the configuration says so. */
#ifndef SERVICES_ANSWER_H
#define SERVICES_ANSWER_H

#include "services/cache/msg.h"
#include "util/msg.h"
#include "util/subnet.h"

struct conf;

#define NSID_MAX 128 /* bytes of a server's name that are told */

/* How answers look under the present configuration; made once per snapshot. */
struct answer_style {
	uint16_t udp_size;    /* edns-buffer-size: what our OPT says */
	uint16_t max_udp;     /* max-udp-size */
	bool ede;             /* ede: yes */
	bool ede_stale;       /* ede-serve-expired */
	bool rotate;          /* rrset-roundrobin */
	bool original_ttl;    /* serve-original-ttl */
	bool no_do;           /* disable-edns-do: no OPT for who sets DO */
	uint32_t stale_ttl_s; /* serve-expired-reply-ttl */
	uint8_t nsid_len;      /* 0: we have no name for who asks by NSID (RFC 5001) */
	uint8_t nsid[NSID_MAX];
};

void answer_style_from(struct answer_style *style, const struct conf *conf);

/* To whom and how big. */
struct answer_to {
	const struct answer_style *style;
	const struct request *request;
	const struct subnet_option *subnet; /* for the answer to who told its own; NULL: none */
	bool stream;       /* no truncation */
	bool no_recursion; /* RA is not set: the client may not recurse */
	uint32_t now_s;
};

/* Each writes a whole message to `out` (which has room for 65535 bytes on a stream, 4096 or
 * more else) and never fails: what does not fit is truncated. */
void answer_stored(struct writer *out, const struct answer_to *to, const struct stored *s,
		   bool stale);
void answer_message(struct writer *out, const struct answer_to *to, const struct message *m);
/* A bare rcode; `reason` may be REASON_none. The question is echoed when there was one. */
void answer_error(struct writer *out, const struct answer_to *to, enum rcode rcode,
		  enum reason reason);
/* What is made up here in place of an answer: nothing, or one record of the name asked for. */
struct answer_made {
	enum rcode rcode;
	enum reason reason;
	const char *reason_text; /* or NULL */
	uint16_t type;           /* of the record */
	uint32_t ttl_s;
	struct slice data; /* empty: there is no record */
};
void answer_made(struct writer *out, const struct answer_to *to, const struct answer_made *m);

/* Leave out what minimal-responses leaves out: authority and additional sets that the
 * answer can do without; SOA, proofs and referrals stay. Changes the array of sets and its counts,
 * not the sets. */
void message_minimise(struct message *m);

#endif
