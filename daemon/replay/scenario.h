/* A scenario file read whole: configuration, canned answers, steps.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * Two dialects: Unbound's (configuration is resolver configuration; the story is told from
 * inside) and Deckard's (configuration is a list of keys; the story is told from outside). */
#ifndef DAEMON_REPLAY_SCENARIO_H
#define DAEMON_REPLAY_SCENARIO_H

#include "daemon/replay/entry.h"
#include "util/dns/dname.h"
#include "util/net/addr.h"

struct fault;

struct block {                          /* the lines of a file inside the scenario */
	struct block *next;
	const char *name;
	const char **lines;
	size_t count;
	const char *path;               /* where it was written, once it was */
};

struct range {
	struct range *next, *prev;
	unsigned first, last;           /* steps */
	struct addr *addresses;         /* none: any */
	size_t address_count;
	struct entry *entries;
};

enum step_kind {
	PLAY_NOTHING, PLAY_QUERY, PLAY_CHECK_ANSWER, PLAY_CHECK_OUT_QUERY, PLAY_REPLY,
	PLAY_TIMEOUT, PLAY_ERROR, PLAY_TIME_PASSES, PLAY_TRAFFIC, PLAY_ASSIGN,
	PLAY_CHECK_AUTOTRUST, PLAY_CHECK_TEMPFILE, PLAY_INFRA_RTT, PLAY_FLUSH_MESSAGE,
	PLAY_EXPIRE_MESSAGE,
};

struct play_step {
	struct play_step *next;
	unsigned number;
	unsigned line;
	enum step_kind kind;
	struct addr address;            /* family 0: none */
	struct entry *entry;
	struct block *block;
	char *text;                     /* what stands behind the word */
};

struct deckard_config {
	bool do_ip4, do_ip6, harden_glue, no_query_localhost;
	int minimise;                   /* 1 on, 0 off, -1 play both */
	int64_t time_s;                 /* of the daemon's clock; -1: any */
	const char *stub_addr, *forward_addr, *min_ttl, *max_ttl, *dns64_prefix;
	const char *hint_name, *hint_addr; /* a name with an address that is known beforehand */
	const char *workarounds;           /* for servers that we need none for */
	const char **anchors, **insecure, **policies;
	size_t anchor_count, insecure_count, policy_count;
	const char *foreign;            /* what only another program knows; the scenario is skipped */
};

struct scenario {
	const char *title;
	bool deckard;
	struct deckard_config deckard_config;
	char *config;                   /* resolver configuration, Unbound's dialect */
	const char *folder;             /* where its temporary files are; NULL until one is needed */
	struct block *files;            /* TEMPFILE_CONTENTS, AUTOTRUST_FILE */
	struct range *ranges, *last_range;
	struct play_step *steps;
	unsigned step_count, last_number;
};

/* Read the NUL-ended `text` (which is cut up). Everything is in the arena. Temporary files are
 * written to a new folder, which scenario_tidy removes. False: the reason, with its line, in `f`. */
bool scenario_read(struct scenario *s, char *text, struct arena *a, struct fault *f);
void scenario_tidy(struct scenario *s);

#endif
