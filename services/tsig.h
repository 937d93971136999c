/* Messages that show who they are from, by a key that both sides know: TSIG (RFC 8945).
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * Keys are the configuration's key: clauses. A talk is one question and all messages that answer it:
 * each signature covers the one before. */
#ifndef SERVICES_TSIG_H
#define SERVICES_TSIG_H

#include "util/bytes.h"
#include "util/dname.h"

struct conf;
struct fault;

#define TSIG_MAC_MOST 64
/* What a signature adds to a message: name, fixed part, algorithm, MAC, and the rest. */
#define TSIG_ROOM (DNAME_MAX + 10 + 16 + 10 + TSIG_MAC_MOST + 6)

struct tsig_key;
struct tsig_keys;

/* NULL with a sentence in `f` for a key that cannot be used. */
struct tsig_keys *tsig_keys_new(const struct conf *conf, struct fault *f) MUST_USE;
void tsig_keys_free(struct tsig_keys *k); /* NULL is fine */
/* Whatever the case of the name. NULL: there is none of that name. */
const struct tsig_key *tsig_keys_find(const struct tsig_keys *k, const char *name);

struct tsig_talk { /* begins zeroed */
	const struct tsig_key *key;
	uint8_t mac[TSIG_MAC_MOST]; /* of the last signed message */
	size_t mac_len;
	void *running;     /* over what came since */
	unsigned unsigned_count;
	bool answered;     /* a signed answer has come */
};

void tsig_talk_clear(struct tsig_talk *t);

/* Sign the question that begins at `head` and ends at w->at (room for TSIG_ROOM more). Its id may
 * change afterwards. The talk begins anew. */
void tsig_sign_question(struct tsig_talk *t, const struct tsig_key *key, uint8_t *head,
			struct writer *w, int64_t wall_s);

enum tsig_end {
	TSIG_GOOD,
	TSIG_OPEN, /* not signed, which is right between signed ones; only a later one will tell */
	TSIG_BAD,
};

/* The next message that answers. */
enum tsig_end tsig_check_answer(struct tsig_talk *t, const uint8_t *wire, size_t len,
				int64_t wall_s);

/* A question that came to us. TSIG_OPEN: it is not signed at all. After TSIG_GOOD the answer is
 * signed by tsig_sign_answer, with a talk that began zeroed. */
enum tsig_end tsig_check_question(struct tsig_talk *t, const struct tsig_key *key,
				  const uint8_t *wire, size_t len, int64_t wall_s);
void tsig_sign_answer(struct tsig_talk *t, uint8_t *head, struct writer *w, int64_t wall_s);

#endif
