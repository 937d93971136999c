/* Automated trust anchor updates (RFC 5011), and their file (the one Unbound reads and writes).
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * A trust point is the state of one anchor that follows its zone's keys. Nothing here sends
 * queries, sets timers or logs: the caller fetches the DNSKEY set when `next_probe` has come, hands
 * it over, and carries out the returned actions. A point is used by one thread at a time. */
#ifndef VALIDATOR_AUTOTRUST_H
#define VALIDATOR_AUTOTRUST_H

#include "util/dns/rrset.h"

struct conf;
struct fault;
struct random;
struct verify_how;

#define AUTOTRUST_STATES(X) \
	X(start)        /* new, not trusted */ \
	X(addpend)      /* seen, signed by a trusted key, in its hold-down time */ \
	X(valid)        /* trusted */ \
	X(missing)      /* trusted, but no longer in the zone's DNSKEY set */ \
	X(revoked)      /* has revoked itself */ \
	X(removed)      /* forgotten */

enum autotrust_state {
#define X(name) AUTOTRUST_##name,
	AUTOTRUST_STATES(X)
#undef X
};

/* One key of the point: a DNSKEY, or a DS until its key has been seen. */
struct autotrust_key {
	uint16_t type;                  /* TYPE_DNSKEY or TYPE_DS */
	struct slice rdata;             /* heap */
	uint32_t ttl_s;
	enum autotrust_state state;
	uint32_t count;                 /* times seen while pending */
	int64_t last_change;            /* wall seconds */
	int64_t last_seen;              /* revoked, in the zone's DNSKEY set; not in the file */
};

struct autotrust {
	char *path;                     /* of the file; NULL: not stored */
	uint8_t owner[256];             /* lower case */
	struct autotrust_key *keys;
	size_t count;
	int64_t last_queried, last_success, next_probe;         /* wall seconds; 0: never */
	uint32_t query_failed;          /* sets that were not believed, since the last that was */
	uint32_t query_interval_s, retry_s;
	bool revoked;                   /* every key is: the point is deleted for good */
	bool changed;                   /* differs from the file */
};

/* Options of RFC 5011's timers. */
struct autotrust_how {
	uint32_t add_holddown_s, del_holddown_s, keep_missing_s;        /* the last: 0 is forever */
	bool small_holddown;            /* permit-small-holddown: accept short hold-downs */
};

void autotrust_how_read(struct autotrust_how *how, const struct conf *conf);

/* What to do after a step: a bit set. */
enum {
	AUTOTRUST_WRITE = 1,            /* write the file: autotrust_write */
	AUTOTRUST_KEYS = 2,             /* the trusted keys changed: anchors_republish, and forget
	                                 * what was proven with the old ones */
	AUTOTRUST_GONE = 4,             /* the last key was revoked: the point is deleted */
	AUTOTRUST_FAILED = 8,           /* set missing or not believed; the next probe is sooner */
};

/* Read a point from its file: Unbound's state file, or plain DS and DNSKEY records to begin with
 * (DNSKEYs with the SEP bit; states begin at valid). NULL with a sentence in `f` if it cannot be
 * read, has no key, or contradicts itself. Owned by the caller. */
struct autotrust *autotrust_read(const char *path, struct fault *f) MUST_USE;
/* The same from text in memory; `path` may be NULL. */
struct autotrust *autotrust_parse(const char *path, const char *text, size_t len, struct fault *f)
	MUST_USE;
void autotrust_free(struct autotrust *p);

/* The text of the file; owned by the caller. */
char *autotrust_print(const struct autotrust *p) MUST_USE;
/* Replace the file atomically: write `text` to a new file beside it, flush, and rename, keeping the
 * old file's mode. On failure the old file is untouched. */
bool autotrust_replace(const char *path, const char *text, struct fault *f) MUST_USE;
/* The same with the point's own text and path. Clears p->changed. */
bool autotrust_write(struct autotrust *p, struct fault *f) MUST_USE;

/* One step. `dnskeys` is the zone's answer, not yet validated, or NULL if there was none; it is
 * verified here with the point's own keys (`verify`, whose budget should allow 32 checks). `say`
 * gets a sentence for each key whose state changed. Sets next_probe, a little earlier
 * at random. Returns the actions to take. */
struct autotrust_step {
	const struct rrset *dnskeys;
	const struct verify_how *verify;
	const struct autotrust_how *how;
	struct random *random;          /* NULL: no jitter */
	int64_t now;                    /* wall seconds */
	void (*say)(void *arg, const char *sentence);
	void *arg;
};

unsigned autotrust_step(struct autotrust *p, const struct autotrust_step *step);

/* What the point trusts now, as RRsets on the heap (mem_free); NULL when there are none. */
struct rrset *autotrust_ds(const struct autotrust *p) MUST_USE;
struct rrset *autotrust_keys(const struct autotrust *p) MUST_USE;

/* Seconds from now until the next probe; 0: at once. */
uint32_t autotrust_wait_s(const struct autotrust *p, int64_t now) PURE;
/* The newest time, in wall seconds, that the point is evidence of: of the last success, when signatures were valid. A
 * failed probe is none: it may have failed because the clock was years ahead. */
int64_t autotrust_newest_time(const struct autotrust *p) PURE;

#endif
