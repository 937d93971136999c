/* One world from beginning to end: what clients and the operator do, what servers answer, what the judge finds.
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef TESTDATA_HOSTILE_PLAY_H
#define TESTDATA_HOSTILE_PLAY_H

#include "daemon/replay/world.h"
#include "testdata/hostile/adversary.h"
#include "testdata/hostile/operator.h"

enum {
	ASKS_MOST = 400,
	EVENTS_MOST = 20000,   /* in a world */
	PACKETS_MOST = 250,    /* for a question, if nobody else asks meanwhile */
	PACKETS_VICTIM = 50,   /* for a victim's, with what is refreshed meanwhile … */
	PACKETS_ALIAS = 10,    /* … and for each alias on the way */
	VICTIM_MS = 3000,      /* until that is answered */
	SCARCE_S = 12, /* until limits that were reached are forgotten, and failures for them (RFC 9520) */
	EXPIRED_TTL_S = 30,    /* of what has expired: serve-expired-reply-ttl */
	MEMORY_MOST = 64 << 20, /* bytes more than at the beginning */
	PATIENCE_MS = 10500,   /* until it is answered: a query's ten seconds, and a bit */
	CPU_MOST_MS = 3000,    /* of a world */
	PLAY_BEGINS_S = 1790000000,
};

enum ask_flags { ASK_CD = 1, ASK_DO = 2, ASK_TCP = 4, ASK_OTHER_VIEW = 8, ASK_JUDGED = 16, ASK_FRESH = 32, ASK_FAR = 64 };

struct ask {
	struct question q;
	unsigned flags;
	uint64_t at_us;
	unsigned packets; /* sent before it */
	bool answered, straddles; /* two configurations */
	bool dropped; /* a limit has been reached: it is not waited for any more */
	bool alone;		  /* nobody else asks meanwhile */
};

struct trace; /* services/query/trace.h */

struct play {
	struct choices choices;
	struct internet net;
	struct world world;
	struct operator operator;
	bool over; /* it could not begin again */
	struct ask asks[ASKS_MOST];
	unsigned ask_count, open; /* not answered */
	unsigned packets, events;
	size_t memory; /* in use at the beginning */
	uint64_t changed_us; /* when the configuration last was */
	uint64_t removed_us; /* when gone.t was; 0: it is there */
	bool honest;	     /* the adversary has left, or never was */
	bool afterwards;     /* and all that he may have left behind is over */
	struct trace *trace; /* told of all that happens; or NULL */
	bool failed;
	char why[800];
};

struct play_report {
	bool failed;
	char why[800];
	unsigned asks, packets, events;
	uint64_t cpu_us;
	size_t leaked;
};

void play_begin_once(void);

/* Plays the world of these choices, which are rewound or fresh. With `alone` there is no adversary. */
void play_world(struct choices *c, bool alone, struct trace *trace, struct play_report *report);

/* ---- for steps and the judge ---- */

void play_fail(struct play *p, const char *fmt, ...) PRINTF_LIKE(2, 3);
uint64_t play_now_us(const struct play *p);
/* A client asks. NULL: enough has been asked. */
struct ask *play_ask(struct play *p, const uint8_t *name, uint16_t type, unsigned flags);
/* The last byte but one of the client's address. */
unsigned play_place(unsigned flags);
/* Let things happen for so long. */
void play_run(struct play *p, uint64_t us);
/* … until all that was asked is answered, or PATIENCE_MS are over. */
void play_until_answered(struct play *p);
/* The configuration as it is to be now; NULL: it has failed. */
struct conf *play_config(struct play *p);
/* Nobody waits any more. */
void play_lose_all(struct play *p);

/* ---- judge.c ---- */

void judge_answer(struct play *p, struct ask *ask, const struct client_answer *answer);
/* After a change of the configuration: what is asked now is told as after a fresh start. */
void judge_change(struct play *p);
/* Asks the victims. */
void judge_victims(struct play *p);

/* ---- story.c ---- */

void story_tell(struct play *p);

#define STEP(name, weight, what) void step_##name(struct play *p);
#include "testdata/hostile/story.def"
#undef STEP

#endif
