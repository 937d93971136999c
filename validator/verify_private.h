/* What keyset.c, verify.c and vouch.c share: one check under way.
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef VALIDATOR_VERIFY_PRIVATE_H
#define VALIDATOR_VERIFY_PRIVATE_H

#include "validator/verify.h"

/* ---- keyset.c ---- */

/* Protocol and flags are those of a key that signs records of its zone (RFC 4034 2.1). */
bool zonekey_is_one(const struct zonekey *z) PURE;
/* It is not revoked either: such a key vouches for nothing but its own end (RFC 5011 2.1). */
bool zonekey_may_sign(const struct zonekey *z) PURE;
/* The parsed key, parsed now if nobody has before; NULL when it cannot be, and `why`. */
const struct crypto_key *zonekey_parsed(const struct zonekey *z, const char **why);

/* ---- verify.c ---- */

/* How far a signature came before it failed: the one that came farthest tells the reason. */
enum stage {
	STAGE_START,
	STAGE_READ,             /* it is not one of this zone for this set */
	STAGE_ALGORITHM,
	STAGE_LABELS,
	STAGE_KEY,
	STAGE_DATE,
	STAGE_SUM,              /* the arithmetic itself */
	STAGE_WORK,             /* too much of it */
};

#define ANY_KEY (-1)

struct check {
	const struct rrset *set;
	const struct keyset *keys;
	const struct verify_how *how;
	int only;                       /* index of the one key that counts, or ANY_KEY */
	unsigned tried;                 /* checks done for this set */
	bool broke;                     /* the query's purse is empty */
	enum stage stage;
	struct slice *rdata;            /* canonical, in canonical order; NULL: not made yet */
	size_t count, room;
	uint8_t *data;                  /* what was signed, for one signature after the other */
	struct verdict *out;
};

void check_begin(struct check *c, const struct rrset *set, const struct keyset *keys,
		 const struct verify_how *how, struct verdict *out);

/* Remember why, unless an earlier signature came farther. The sentence is completed by the set in
 * front of it. */
void check_fail(struct check *c, enum stage stage, enum reason reason, const char *fmt, ...)
	PRINTF_LIKE(4, 5);

/* Whether a signature of the set holds, or (where `wanted` holds something) one of each of these
 * algorithms; those not seen are left in it. */
bool check_signatures(struct check *c, struct octets *wanted);
void check_fail_algorithm(struct check *c, const struct octets *missing);

/* What is left to say when it is not good. */
void check_settle(struct check *c, bool good);

#endif
