/* What keyset.c, verify.c and ds_match.c share: one check in progress.
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef VALIDATOR_VERIFY_PRIVATE_H
#define VALIDATOR_VERIFY_PRIVATE_H

#include "util/base/arena.h"
#include "validator/verify.h"

/* ---- keyset.c ---- */

/* Whether protocol and flags are those of a zone key (RFC 4034 2.1). */
bool zonekey_is_one(const struct zonekey *z) PURE;
/* The same, and not revoked: a revoked key authenticates only its own revocation (RFC 5011 2.1). */
bool zonekey_may_sign(const struct zonekey *z) PURE;
/* The parsed key, parsed now if it was not yet; NULL with the reason in `why` if it cannot be. */
const struct crypto_key *zonekey_parsed(const struct zonekey *z, const char **why);

/* ---- verify.c ---- */

/* How far a signature got before it failed: the one that got farthest gives the reason. */
enum stage {
	STAGE_START,
	STAGE_READ,             /* it is not by this zone for this set */
	STAGE_ALGORITHM,
	STAGE_LABELS,
	STAGE_KEY,
	STAGE_DATE,
	STAGE_SUM,              /* the signature itself is wrong */
	STAGE_WORK,             /* a limit on work was reached */
};

#define ANY_KEY (-1)

struct check {
	const struct rrset *set;
	const struct keyset *keys;
	const struct verify_how *how;
	int only;                       /* index of the only key to use, or ANY_KEY */
	unsigned tried, worked;         /* checks done for this set, and their units of work */
	bool broke;                     /* the query's budget is empty */
	enum stage stage;
	struct arena scratch;           /* for what follows: up to a megabyte, so not for as long as the query lasts */
	struct slice *rdata;            /* canonical, in canonical order; NULL: not made yet */
	size_t count, room;
	uint8_t *data;                  /* the signed data, rebuilt for each signature */
	struct sig_result *out;
};

void check_begin(struct check *c, const struct rrset *set, const struct keyset *keys,
		 const struct verify_how *how, struct sig_result *out);
void check_end(struct check *c);

/* Whether a reason is recorded already that stands: by a signature that got as far. */
static inline bool check_knows_more(const struct check *c, enum stage stage)
{
	return c->out->text && stage <= c->stage;
}

/* Record the reason, unless an earlier signature got farther. The owner and type of the set are
 * prepended to the sentence. */
void check_fail(struct check *c, enum stage stage, enum reason reason, const char *fmt, ...)
	PRINTF_LIKE(4, 5);

/* Whether a signature of the set is valid or, with `wanted` (not empty), one of each algorithm in
 * it; those found are removed from `wanted`. */
bool check_signatures(struct check *c, struct octets *wanted);
void check_fail_algorithm(struct check *c, const struct octets *missing);

/* Unless `good`, complete the sig_result of failure. */
void check_finish(struct check *c, bool good);

#endif
