/* Work on a whole zone, off the worker threads: build it, fetch it from a URL, write its file.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "services/authzone/job.h"

#include <stdio.h>

#include "services/authzone/changes.h"
#include "services/authzone/data.h"
#include "services/authzone/zones.h"
#include "services/cache/forget.h"
#include "services/query/env.h"
#include "util/base/loop.h"
#include "util/base/mem.h"

#define FETCHED_MOST (UINT64_C(1) << 30) /* bytes from a URL, unless the clause sets a limit */

/* ---- building from a transfer ---- */

static bool add_base(struct zonejob *j)
{
	const struct zonedata *have = authzone_stored(j->z);

	if (!have || !have->soa || have->serial != j->base) {
		fault_set(&j->why, "what it changes is not there any more");
		return false;
	}
	zonebuild_put_under(j->build, have);
	return true;
}

static void take(struct zonejob *j, struct zonedata *z)
{
	if (!z)
		return;
	if (!authzone_admits(j->zones, j->z, z, &j->why)) {
		zonedata_free(z);
		return;
	}
	authzone_ripen(j->z, z);
	j->got = z;
}

static void finish(struct zonejob *j)
{
	struct zonebuild *b = j->build;
	struct zonedata *z;

	if (j->differs && !add_base(j)) {
		zonebuild_free(b);
		j->build = NULL;
		return;
	}
	j->build = NULL;
	z = zonebuild_finish(b, &j->why);
	if (z && z->serial != j->goal) {
		fault_set(&j->why, "it has serial %u, not %u", z->serial, j->goal);
		zonedata_free(z);
		z = NULL;
	}
	take(j, z);
}

/* ---- fetching ---- */

struct gathered {
	char *text;
	size_t len, room;
};

static bool gather(void *arg, const char *bytes, size_t len)
{
	struct gathered *g = arg;

	if (g->room - g->len < len) {
		g->room = MAX(2 * g->room, g->len + len + 65536);
		g->text = mem_grow(g->text, g->room);
	}
	memcpy(g->text + g->len, bytes, len);
	g->len += len;
	return true;
}

static struct zonedata *read_gathered(struct zonejob *j, const struct gathered *g)
{
	struct zonedata_how how = { .apex = j->z->name,
				    .path = j->url,
				    .lenient = j->z->manner != NULL };

	if (g->len == 0) {
		fault_set(&j->why, "%s is empty", j->url);
		return NULL;
	}
	how.file = fmemopen(g->text, g->len, "r");
	if (!how.file) {
		fault_set(&j->why, "%s cannot be read from memory", j->url);
		return NULL;
	}
	return zonedata_read(&how, &j->why);
}

static void fetch(struct zonejob *j)
{
	struct gathered g = { 0 };
	struct fetch_how how = { .url = j->url,
				 .authorities = j->authorities,
				 .nat64 = { j->nat64[0], j->nat64[1] },
				 .most_bytes = j->z->size_most ? j->z->size_most : FETCHED_MOST,
				 .most_ms = j->z->time_most_ms,
				 .loader = j->work.loader,
				 .take = gather,
				 .arg = &g };
	struct zonedata *z;

	switch (fetch_url(&how, &j->mark, &j->why)) {
	case FETCH_SAME:
		j->same = true;
		break;
	case FETCH_NEW:
		z = read_gathered(j, &g);
		take(j, z);
		if (!j->got)
			j->mark = (struct fetch_mark){ 0 }; /* next time fetch it unconditionally */
		break;
	case FETCH_FAILED:
		break;
	}
	mem_free(g.text);
}

/* ---- after a transfer ---- */

/* Here, since it may take long for a big zone. */
static void outdate(struct zonejob *j)
{
	j->outdated = j->env->forget ? authzone_outdated(j->z, j->former) : NULL;
	zonedata_retire(j->former);
	j->former = NULL;
}

/* ---- running a job ---- */

static void carry_out(struct zonejob *j)
{
	rcu_turn_begin();
	switch (j->kind) {
	case ZONEJOB_FINISH:
		finish(j);
		break;
	case ZONEJOB_FETCH:
		rcu_turn_end(); /* fetching blocks */
		fetch(j);
		return;
	case ZONEJOB_SAVE:
		outdate(j);
		authzone_save(j->z, &j->why);
		break;
	}
	rcu_turn_end();
}

static void on_done(void *arg)
{
	struct zonejob *j = arg;

	j->done(j);
}

static void run(struct loader_task *work)
{
	struct zonejob *j = container_of(work, struct zonejob, work);

	carry_out(j);
	loop_post(j->env->loop, on_done, j);
}

void zonejob_start(struct zonejob *j, struct env *env)
{
	j->env = env;
	j->got = NULL;
	j->same = false;
	j->why = (struct fault){ 0 };
	if (env->loader) {
		j->work.run = run;
		loader_add(env->loader, &j->work, 0);
		return;
	}
	carry_out(j);
	j->done(j);
}

void zonejob_clear(struct zonejob *j)
{
	zonebuild_free(j->build);
	zonedata_retire(j->former);
	forget_free(j->outdated);
	zonedata_free(j->got);
}
