/* Watching for a system clock that is earlier than a time known to have passed.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "validator/clock.h"

#include "services/cache/aggressive.h"
#include "services/cache/msg.h"
#include "services/cache/rrset.h"
#include "services/query/env.h"
#include "services/query/snapshot.h"
#include "util/base/log.h"
#include "util/base/loop.h"
#include "util/base/mem.h"
#include "util/conf/options.h"
#include "util/dns/dname.h"
#include "validator/date.h"
#include "validator/keycache.h"
#include "validator/trust.h"

/* 2026-11-20; updated with each release. Seconds since 1970. */
#define RELEASED INT64_C(1795132800)

#define LOOK_S 1

struct clock_watch {
	struct env *env;
	struct timer timer; /* while it is behind */
	bool behind;
};

int64_t clock_floor(const struct conf *conf, const struct trust_store *t)
{
	if (!conf->server.val_clock_tolerance || (t && t->rules.date != DATE_CLOCK))
		return 0;
	if (!t)
		return RELEASED;
	return MAX(RELEASED, anchors_newest_time(t->anchors));
}

bool clock_is_behind(const struct trust_store *t, int64_t wall_s)
{
	return wall_s < t->clock_floor;
}

/* ---- dropping what was validated without dates ---- */

static bool set_stays(const struct slab_entry *e, void *arg)
{
	(void)arg;
	return container_of(e, struct rrset_entry, link)->set.security != SECURITY_SECURE;
}

static bool answer_stays(const struct slab_entry *e, void *arg)
{
	const struct stored *s = container_of(e, struct stored, link);

	(void)arg;
	return s->security == SECURITY_UNCHECKED || s->security == SECURITY_INDETERMINATE;
}

static void forget_proven(struct env *env)
{
	if (env->keys)
		keycache_forget(env->keys, dname_root, false);
	if (env->negative)
		aggressive_forget(env->negative, dname_root);
	slab_sweep(rrsetcache_slab(env->rrsets), set_stays, NULL);
	slab_sweep(msgcache_slab(env->messages), answer_stays, NULL);
}

/* ---- watching ---- */

/* `tells`: unless another worker does. */
static void look(struct clock_watch *w, bool tells)
{
	const struct trust_store *t = w->env->snapshot->trust;
	int64_t wall_s = w->env->time->wall_s;
	bool behind = t && clock_is_behind(t, wall_s);
	char now[DATE_TEXT], then[DATE_TEXT];

	if (behind && !w->behind && tells)
		log_warn("the clock says %s, but it must be later than %s: until it is set, "
			 "validity times of signatures and certificates are not checked",
			 date_print(wall_s, now), date_print(t->clock_floor, then));
	if (!behind && w->behind) {
		if (w->env->leads)
			log_notice("the clock has been set: it is %s, validity times are checked again",
				   date_print(wall_s, now));
		forget_proven(w->env);
	}
	w->behind = behind;
	if (behind)
		timer_set(w->env->loop, &w->timer, LOOK_S * US_PER_S);
	else
		timer_stop(w->env->loop, &w->timer);
}

static void fire(struct timer *t)
{
	struct clock_watch *w = container_of(t, struct clock_watch, timer);

	look(w, w->env->leads);
}

struct clock_watch *clock_watch_new(struct env *env)
{
	struct clock_watch *w = mem_zero(sizeof(*w));

	w->env = env;
	w->timer.fire = fire;
	look(w, env->leads);
	return w;
}

void clock_watch_renew(struct clock_watch *w)
{
	look(w, w->env->leads);
}

bool clock_leaves_dates_open(const struct env *env, const struct trust_store *t)
{
	bool behind = clock_is_behind(t, env->time->wall_s);

	if (behind && env->clock && !env->clock->behind)
		look(env->clock, true);
	return behind;
}

void clock_watch_free(struct clock_watch *w)
{
	if (w)
		timer_stop(w->env->loop, &w->timer);
	mem_free(w);
}
