/* One query to several servers at once; the first good response counts.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "iterator/race.h"

#include "iterator/delegation.h"
#include "util/base/arena.h"
#include "util/dns/msg.h"

struct racer {
	struct race *race;
	struct target *target;
	struct upstream_ask *ask; /* NULL: answered or cancelled */
};

struct race {
	void (*done)(void *owner, struct target *target, const struct upstream_reply *reply);
	void *owner;
	const struct delegation *delegation;
	unsigned running;
	struct racer racers[RACERS_MOST];
};

static bool is_good(const struct upstream_reply *reply)
{
	const struct message *m = reply->message;

	return m && !(m->flags & FLAG_TC) &&
	       (m->rcode == RCODE_NOERROR || m->rcode == RCODE_NXDOMAIN);
}

static void on_reply(void *owner, const struct upstream_reply *reply)
{
	struct racer *mine = owner;
	struct race *r = mine->race;

	mine->ask = NULL;
	r->running--;
	if (!is_good(reply) && r->running) {
		delegation_target_now(r->delegation, mine->target)->spent = true;
		return;
	}
	race_cancel(r);
	r->done(r->owner, mine->target, reply);
}

struct race *race_start(const struct race_how *how)
{
	struct race *r = arena_new(how->arena, struct race);

	r->done = how->done;
	r->owner = how->owner;
	r->delegation = how->delegation;
	r->running = how->count;
	for (unsigned i = 0; i < how->count; i++) {
		struct upstream_question question = how->question;
		struct racer *racer = &r->racers[i];

		question.server = how->targets[i]->addr;
		question.tls_name = how->targets[i]->tls_name;
		question.http_path = how->targets[i]->http_path;
		racer->race = r;
		racer->target = how->targets[i];
		racer->ask = upstream_ask(how->upstream, &question, how->arena, on_reply, racer);
	}
	return r;
}

void race_cancel(struct race *r)
{
	for (unsigned i = 0; r && i < RACERS_MOST; i++) {
		if (r->racers[i].ask)
			upstream_cancel(r->racers[i].ask);
		r->racers[i].ask = NULL;
	}
}
