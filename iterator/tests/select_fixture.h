/* What the tests of select share: a delegation of servers with what is known of them.
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef ITERATOR_TESTS_SELECT_FIXTURE_H
#define ITERATOR_TESTS_SELECT_FIXTURE_H

#include "iterator/select.h"
#include "services/cache/infra.h"
#include "services/forward/forward.h"
#include "services/query/query.h"
#include "services/query/snapshot.h"
#include "services/tests/made.h"
#include "util/base/hash.h"
#include "util/base/random.h"
#include "util/base/rcu.h"
#include "util/base/timebase.h"
#include "util/conf/options.h"

#define ZONE N("example.com.")

struct world {
	struct arena arena;
	struct snapshot snapshot;
	struct env env;
	struct query query;
	struct timebase time;
	struct random random;
	struct delegation *at;
};

static UNUSED struct addr address(const char *text)
{
	struct fault f = { 0 };
	struct addr a;

	if (!addr_parse(&a, text, 53, &f))
		fail_msg("%s", f.text);
	return a;
}

static void begin(struct world *w, const char *option)
{
	struct infra_how how = {
		.hosts = 100, .slabs = 1, .host_ttl_s = 900, .min_rtt_ms = 50, .max_rtt_ms = 120000
	};
	struct fault f = { 0 };

	*w = (struct world){ .at = NULL };
	arena_init(&w->arena);
	timebase_play(&w->time, 1000 * US_PER_S);
	random_play(&w->random, 1);
	w->snapshot.conf = conf_new();
	if (option && !conf_set_option(w->snapshot.conf, option, &f))
		fail_msg("%s: %s", option, f.text);
	w->env = (struct env){ .time = &w->time, .random = &w->random, .infra = infra_new(&how) };
	w->query.env = &w->env;
	w->query.snapshot = &w->snapshot;
	w->at = delegation_new(&w->arena, ZONE);
	rcu_turn_begin();
}

static void end(struct world *w)
{
	rcu_turn_end();
	infra_free(w->env.infra);
	conf_free(w->snapshot.conf);
	arena_clear(&w->arena);
	rcu_flush();
}

static UNUSED struct target *add(struct world *w, const char *text)
{
	struct target p = { .addr = address(text) };

	delegation_add_target(w->at, &w->arena, &p);
	return &w->at->targets[w->at->target_count - 1];
}

/* How often each of the first two is drawn in a thousand. */
static void draw(struct world *w, unsigned *first, unsigned *second)
{
	*first = *second = 0;
	for (unsigned i = 0; i < 1000; i++) {
		struct selection s = select_server(w->at, &w->query, TYPE_A, 0);
		*first += s.target == &w->at->targets[0];
		*second += s.target == &w->at->targets[1];
	}
}

#endif
