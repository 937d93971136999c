/* One change made by a command: its words read, what it is about, and how it is carried out again.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * A change is the line of its command; a pause says when it ends ("blocklist_pause until=1893456000 kids"). */
#ifndef DAEMON_PROCESS_CHANGE_H
#define DAEMON_PROCESS_CHANGE_H

#include "services/forward/forward.h"
#include "services/local/zones.h"

struct conf;
struct conf_how;
struct fault;
struct snapshot;

enum change_kind {
#define CHANGE(word, thing, arguments, when, ends) CHANGE_##word,
#include "daemon/process/changes.def"
#undef CHANGE
	CHANGE_KINDS
};

enum change_when { CHANGE_OPTIONS, CHANGE_TABLES, CHANGE_RUNNING, CHANGE_NEVER };
enum change_thing {
	CHANGE_OPTION, CHANGE_INSECURE, CHANGE_FORWARD, CHANGE_STUB, CHANGE_ZONE, CHANGE_DATA, CHANGE_POLICY_ZONE, CHANGE_RULE,
	CHANGE_PAUSE
};

#define CHANGE_SERVERS_MOST 64

/* What of a change decides whether a later one takes its place. */
struct change_id {
	enum change_kind kind;
	uint64_t key;       /* the same for what changes one thing; for a record with its type and data */
	uint64_t owner_key; /* the same for all records of a name in one place */
};

/* A change as read; refers to its own copy of the text. */
struct change {
	struct change_id id;
	char *text;
	const char *view;      /* NULL: the server's, or everybody */
	uint8_t name[DNAME_MAX]; /* a zone, or an owner of records; root if there is none */
	const char *rest;      /* the record, or the option with its value; else NULL */
	enum zone_type type;
	int64_t until_s;       /* since 1970 */
	bool tls, prime;
	char *servers[CHANGE_SERVERS_MOST];
	size_t server_count;
};

/* False, with a sentence: it is none. To be cleared in either case. */
bool change_read(struct change *c, const char *line, struct fault *f) MUST_USE;
void change_clear(struct change *c);

const char *change_word(enum change_kind kind); /* without view_ */
enum change_when change_when(enum change_kind kind);
enum change_thing change_thing(enum change_kind kind);
bool change_removes(const struct change *c);     /* zones or records */
/* Whether `c` takes the place of an earlier one. */
bool change_supersedes(const struct change *c, const struct change_id *earlier);

/* OPTIONS: in a configuration that nobody reads yet; `scratch` is a copy of it, in which it is tried. False, with a
 * sentence: the configuration does not allow it, and is as it was; the copy need not be. */
bool change_configure(const struct change *c, struct conf *conf, struct conf *scratch, const struct conf_how *how,
		      struct fault *f) MUST_USE;
/* domain-insecure in a configuration that nobody reads yet, or no longer there. */
bool change_insecure(struct conf *conf, const uint8_t *zone, bool insecure, struct fault *f) MUST_USE;

/* Zones and records, those in force or those of a snapshot that is not used yet. `had_effect`: or NULL. */
bool change_local(const struct change *c, struct localzones *z, bool *had_effect, struct fault *f) MUST_USE;
/* Where its zones and records are; NULL for a view that has none yet, if it only removes, and, with a sentence, without
 * the view. */
struct localzones *change_place(const struct change *c, const struct snapshot *s, struct fault *f);
/* Forward and stub zones, as forwards_changed takes them. The result refers to `c`. */
struct forward_change change_forward(const struct change *c);
/* Its line; free with mem_free. */
char *change_forward_print(const struct forward_change *fc) MUST_USE;

/* RUNNING: what a reload leaves as it is. `now_s`: the loop's; `wall_s`: since 1970. */
bool change_run(const struct change *c, const struct snapshot *s, uint32_t now_s, int64_t wall_s, struct fault *f) MUST_USE;

/* A policy zone that rpz_disable has disabled, if it is there. */
void change_enable(const struct change *c, const struct snapshot *s);

#endif
