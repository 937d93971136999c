/* Message authentication with a shared key: TSIG (RFC 8945).
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * Keys are the configuration's key: clauses. A talk is one query and all messages of the response:
 * each signature covers the previous one. */
#ifndef SERVICES_AUTHZONE_TSIG_H
#define SERVICES_AUTHZONE_TSIG_H

#include "util/base/bytes.h"
#include "util/dns/dname.h"

struct conf;
struct fault;

#define TSIG_MAC_MOST 64
/* Most bytes a signature adds to a message: name, fixed part, algorithm, MAC, and the rest. */
#define TSIG_ROOM (DNAME_MAX + 10 + 16 + 10 + TSIG_MAC_MOST + 6)

struct tsig_key;
struct tsig_keys;

/* NULL with a sentence in `f` for a key that cannot be used. */
struct tsig_keys *tsig_keys_new(const struct conf *conf, struct fault *f) MUST_USE;
void tsig_keys_free(struct tsig_keys *k); /* NULL is fine */
/* Ignores the case of the name. NULL: there is none of that name. */
const struct tsig_key *tsig_keys_find(const struct tsig_keys *k, const char *name);

struct tsig_talk { /* begins zeroed */
	const struct tsig_key *key;
	uint8_t mac[TSIG_MAC_MOST]; /* of the last signed message */
	size_t mac_len;
	void *running;     /* MAC over what has come since */
	unsigned unsigned_count;
	bool answered;     /* a signed answer has come */
};

void tsig_talk_clear(struct tsig_talk *t);

/* Sign the query that begins at `head` and ends at w->at (room for TSIG_ROOM more). Its id may
 * change afterwards. Restarts the talk. */
void tsig_sign_question(struct tsig_talk *t, const struct tsig_key *key, uint8_t *head,
			struct writer *w, int64_t wall_s);

enum tsig_end {
	TSIG_GOOD,
	TSIG_OPEN, /* unsigned, as allowed between signed ones; a later signature must cover it */
	TSIG_BAD,
};

/* Check the next message of the response. */
enum tsig_end tsig_check_answer(struct tsig_talk *t, const uint8_t *wire, size_t len,
				int64_t wall_s);

/* Check a query received; `t` begins zeroed. TSIG_OPEN: it is not signed. After TSIG_GOOD sign the
 * response with tsig_sign_answer and the same talk. */
enum tsig_end tsig_check_question(struct tsig_talk *t, const struct tsig_key *key,
				  const uint8_t *wire, size_t len, int64_t wall_s);
void tsig_sign_answer(struct tsig_talk *t, uint8_t *head, struct writer *w, int64_t wall_s);

#endif
