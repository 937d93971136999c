/* One query to several servers; the first good response counts.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "iterator/race.h"

#include "iterator/delegation.h"
#include "util/base/arena.h"
#include "util/base/loop.h"
#include "util/base/timebase.h"
#include "util/dns/msg.h"

struct racer {
	struct race *race;
	struct target *target;
	struct upstream_ask *ask; /* NULL: answered or cancelled */
};

struct race {
	struct race_how how;
	unsigned count, running; /* of racers: begun, and not at their end */
	struct timer hedge;
	struct racer racers[RACERS_MOST];
};

static bool is_good(const struct upstream_reply *reply)
{
	const struct message *m = reply->message;

	return m && !(m->flags & FLAG_TC) &&
	       (m->rcode == RCODE_NOERROR || m->rcode == RCODE_NXDOMAIN);
}

static void end(struct race *r, void (*leave)(struct upstream_ask *a))
{
	if (r->how.hedge_ms)
		timer_stop(r->how.loop, &r->hedge);
	for (unsigned i = 0; i < r->count; i++) {
		if (r->racers[i].ask)
			leave(r->racers[i].ask);
		r->racers[i].ask = NULL;
	}
}

static void on_reply(void *owner, const struct upstream_reply *reply)
{
	struct racer *mine = owner;
	struct race *r = mine->race;

	mine->ask = NULL;
	r->running--;
	if (!is_good(reply) && r->running) {
		r->how.lost(r->how.owner, mine->target, reply);
		return;
	}
	/* what the slower one has to say for itself is still worth knowing */
	end(r, r->how.hedge_ms ? upstream_leave : upstream_cancel);
	r->how.done(r->how.owner, mine->target, reply);
}

static void add(struct race *r, struct target *target, uint32_t wait_ms, const struct infra_view *known)
{
	struct upstream_question question = r->how.question;
	struct racer *racer = &r->racers[r->count++];

	question.server = target->addr;
	question.tls_name = target->tls_name;
	question.http_path = target->http_path;
	question.wait_ms = wait_ms;
	question.known = known;
	racer->race = r;
	racer->target = target;
	r->running++;
	racer->ask = upstream_ask(r->how.upstream, &question, r->how.arena, on_reply, racer);
}

static void on_hedge(struct timer *t)
{
	struct race *r = container_of(t, struct race, hedge);
	struct target *target = r->how.another(r->how.owner);

	if (target)
		add(r, target, 0, NULL);
}

struct race *race_start(const struct race_how *how)
{
	struct race *r = arena_new(how->arena, struct race);

	r->how = *how;
	for (unsigned i = 0; i < how->count; i++)
		add(r, how->targets[i], how->wait_ms, how->known);
	if (how->hedge_ms) {
		r->hedge = (struct timer){ .fire = on_hedge };
		timer_set(how->loop, &r->hedge, how->hedge_ms * US_PER_MS);
	}
	return r;
}

void race_cancel(struct race *r)
{
	if (r)
		end(r, upstream_cancel);
}
