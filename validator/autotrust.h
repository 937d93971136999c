/* How trust rolls: RFC 5011, and the file it is kept in (the one Unbound reads and writes).
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * A point is the state of one anchor that follows its zone's keys. Nothing here asks the network,
 * sets a timer or logs: whoever drives it fetches the DNSKEY set when `next_probe` has come, hands
 * it over, and does what the returned actions say. A point is used by one thread at a time. */
#ifndef VALIDATOR_AUTOTRUST_H
#define VALIDATOR_AUTOTRUST_H

#include "util/rrset.h"

struct conf;
struct fault;
struct random;
struct verify_how;

#define AUTOTRUST_STATES(X) \
	X(start)        /* new, and not believed */ \
	X(addpend)      /* seen, signed by a trusted key, watched for the hold-down time */ \
	X(valid)        /* believed */ \
	X(missing)      /* believed, but not in the zone's set any more */ \
	X(revoked)      /* said by itself to be dead */ \
	X(removed)      /* forgotten */

enum autotrust_state {
#define X(name) AUTOTRUST_##name,
	AUTOTRUST_STATES(X)
#undef X
};

/* One key of the point, as a DNSKEY, or a DS until its key has been seen. */
struct autotrust_key {
	uint16_t type;                  /* TYPE_DNSKEY or TYPE_DS */
	struct slice rdata;             /* heap */
	uint32_t ttl_s;
	enum autotrust_state state;
	uint32_t count;                 /* times seen while pending */
	int64_t last_change;            /* wall seconds */
};

struct autotrust {
	char *path;                     /* of the file; NULL: kept nowhere */
	uint8_t owner[256];             /* lower case */
	struct autotrust_key *keys;
	size_t count;
	int64_t last_queried, last_success, next_probe;         /* wall seconds; 0: never */
	uint32_t query_failed;          /* in a row */
	uint32_t query_interval_s, retry_s;
	bool revoked;                   /* every key is: the point is deleted, for good */
	bool changed;                   /* differs from the file */
};

/* Options of RFC 5011's timers. */
struct autotrust_how {
	uint32_t add_holddown_s, del_holddown_s, keep_missing_s;        /* the last: 0 is for ever */
	bool small_holddown;            /* permit-small-holddown: take short ones as they are */
};

void autotrust_how_read(struct autotrust_how *how, const struct conf *conf);

/* What to do after a step; bits. */
enum {
	AUTOTRUST_WRITE = 1,            /* the file is to be written: autotrust_write */
	AUTOTRUST_KEYS = 2,             /* other keys are trusted now: anchors_republish, and what was
	                                 * proven with the old ones is to be forgotten */
	AUTOTRUST_GONE = 4,             /* the last key was revoked: the point is deleted */
	AUTOTRUST_FAILED = 8,           /* the set was not there or not believed; asked again sooner */
};

/* A point from its file: Unbound's state file, or plain DS and DNSKEY records to begin with (those
 * with the SEP bit; states begin at valid). NULL with a sentence when it cannot be read, has no
 * key, or its lines contradict each other. Owned by the caller. */
struct autotrust *autotrust_read(const char *path, struct fault *f) MUST_USE;
/* The same from a text; `path` may be NULL. */
struct autotrust *autotrust_parse(const char *path, const char *text, size_t len, struct fault *f)
	MUST_USE;
void autotrust_free(struct autotrust *p);

/* The file's text; owned by the caller. */
char *autotrust_print(const struct autotrust *p) MUST_USE;
/* Write a text whole beside the file that stands, flush it, and put it in its place, with the mode
 * that one had. A file that could not be written stays what it was. */
bool autotrust_replace(const char *path, const char *text, struct fault *f) MUST_USE;
/* The same with the point's own text and path. Clears p->changed. */
bool autotrust_write(struct autotrust *p, struct fault *f) MUST_USE;

/* One step. `dnskeys` is what the zone answered, not yet believed; NULL: it could not be had. It
 * is verified here with the point's own keys (`how`; its purse should allow 32 checks). `say` gets a
 * sentence for each key whose state changed; may be NULL. The next probe is set, a little
 * earlier by chance. Returns actions. */
struct autotrust_step {
	const struct rrset *dnskeys;
	const struct verify_how *verify;
	const struct autotrust_how *how;
	struct random *random;          /* NULL: no chance in it */
	int64_t now;                    /* wall seconds */
	void (*say)(void *arg, const char *sentence);
	void *arg;
};

unsigned autotrust_step(struct autotrust *p, const struct autotrust_step *step);

/* What the point trusts now, as record sets in the heap (mem_free); NULL when none. */
struct rrset *autotrust_ds(const struct autotrust *p) MUST_USE;
struct rrset *autotrust_keys(const struct autotrust *p) MUST_USE;

/* Seconds from now until the next probe; 0: at once. */
uint32_t autotrust_wait_s(const struct autotrust *p, int64_t now) PURE;
/* The newest time the point knows of. */
int64_t autotrust_newest_time(const struct autotrust *p) PURE;

#endif
