/* After a change of the configuration: what older ones had cached is forgotten, as far as the change reaches.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "daemon/process/forget.h"

#include "daemon/process/cache_keeper.h"
#include "daemon/process/daemon.h"
#include "daemon/process/shape.h"
#include "daemon/process/thread_job.h"
#include "daemon/worker/caches.h"
#include "daemon/worker/worker.h"
#include "services/cache/aggressive.h"
#include "services/cache/forget.h"
#include "services/cache/msg.h"
#include "services/cache/rrset.h"
#include "services/query/snapshot.h"
#include "util/base/log.h"
#include "util/base/loop.h"
#include "util/base/mem.h"
#include "util/base/rcu.h"
#include "util/dns/rr.h"
#include "validator/keycache.h"

struct after {
	void (*fn)(void *arg);
	void *arg;
};

/* What the caches ask. */
struct in_force {
	struct rcu_slot retired;
	struct forget_rules rules;
	struct forget *what; /* NULL: it is part of the next one's */
};

/* All of it is the main thread's, but for what the walker reads while it runs. */
struct forgetting {
	struct daemon *daemon;
	struct forget *what; /* NULL: nothing is being forgotten */
	struct in_force *in_force; /* likewise */
	uint8_t generation;
	unsigned behind;  /* generations since a walk came to its end */
	bool again;       /* workers have been sent another snapshot since `visited` began */
	bool asks_parent;
	unsigned visited; /* workers that have adopted the last snapshot */
	struct thread_job walker;
	atomic_bool stop;
	size_t removed;
	uint64_t began_us;
	struct after *afters;
	size_t after_count;
};

/* ---- the rules of the caches ---- */

static bool answer_goes(const struct slab_entry *e, const void *what)
{
	return forget_answer(what, container_of(e, struct stored, link));
}

static bool set_goes(const struct slab_entry *e, const void *what)
{
	return forget_set(what, &container_of(e, struct rrset_entry, link)->set, e->spare);
}

static bool key_goes(const struct slab_entry *e, const void *what)
{
	return forget_name(what, container_of(e, struct key_entry, link)->data, e->spare);
}

void forget_rules_begin(const struct caches *c, struct forget_rules *rules, const struct forget *what)
{
	*rules = (struct forget_rules){ .answers = { answer_goes, what },
					.sets = { set_goes, what },
					.keys = { key_goes, what } };
	slab_forget_begin(msgcache_slab(c->messages), &rules->answers);
	slab_forget_begin(rrsetcache_slab(c->rrsets), &rules->sets);
	slab_forget_begin(keycache_slab(c->keys), &rules->keys);
}

static void forget_denials(const uint8_t *name, bool below, void *negative)
{
	if (below)
		(void)aggressive_forget(negative, name);
	aggressive_forget_name(negative, name, CLASS_IN);
}

size_t forget_rules_apply(const struct caches *c, const struct forget *what, uint8_t generation,
			  const atomic_bool *stop)
{
	size_t removed = slab_forget(keycache_slab(c->keys), generation, stop);

	forget_each_denied(what, forget_denials, c->negative);
	removed += slab_forget(rrsetcache_slab(c->rrsets), generation, stop);
	return removed + slab_forget(msgcache_slab(c->messages), generation, stop);
}

void forget_rules_end(const struct caches *c)
{
	slab_forget_end(msgcache_slab(c->messages));
	slab_forget_end(rrsetcache_slab(c->rrsets));
	slab_forget_end(keycache_slab(c->keys));
}

static bool answer_stays(const struct slab_entry *e, void *what)
{
	return !answer_goes(e, what);
}

static bool set_stays(const struct slab_entry *e, void *what)
{
	return !set_goes(e, what);
}

static bool key_stays(const struct slab_entry *e, void *what)
{
	return !key_goes(e, what);
}

size_t forget_now(const struct caches *c, struct forget *what)
{
	size_t removed = slab_sweep(keycache_slab(c->keys), key_stays, what);

	forget_each_denied(what, forget_denials, c->negative);
	removed += slab_sweep(rrsetcache_slab(c->rrsets), set_stays, what);
	removed += slab_sweep(msgcache_slab(c->messages), answer_stays, what);
	forget_free(what);
	return removed;
}

uint8_t forget_next_generation(uint8_t generation)
{
	return (uint8_t)(1 + generation % SLAB_GENERATIONS);
}

/* ---- life ---- */

static void free_in_force(struct rcu_slot *slot)
{
	struct in_force *i = container_of(slot, struct in_force, retired);

	forget_free(i->what);
	mem_free(i);
}

/* Workers may still be reading it in their turns. */
static void retire(struct in_force *i, struct forget *what)
{
	if (!i)
		return;
	i->what = what;
	rcu_retire(&i->retired, free_in_force);
}

struct forgetting *forgetting_new(struct daemon *d)
{
	struct forgetting *f = mem_zero(sizeof *f);

	f->daemon = d;
	return f;
}

void forgetting_free(struct forgetting *f)
{
	if (!f)
		return;
	atomic_store(&f->stop, true);
	thread_job_join(&f->walker);
	if (f->what)
		forget_rules_end(&f->daemon->caches);
	retire(f->in_force, f->what);
	mem_free(f->afters);
	mem_free(f);
}

/* ---- the walk ---- */

static void walk(void *arg)
{
	struct forgetting *f = arg;

	f->removed += forget_rules_apply(&f->daemon->caches, f->what, f->generation, &f->stop);
	if (!atomic_load(&f->stop))
		forget_rules_end(&f->daemon->caches);
}

static void has_forgotten(void *worker)
{
	worker_has_forgotten(worker);
}

static void on_walked(void *arg)
{
	struct forgetting *f = arg;
	struct daemon *d = f->daemon;
	struct after *afters = f->afters;
	size_t count = f->after_count;

	if (atomic_load(&f->stop))
		return; /* it goes on with another rule */
	log_ops("%zu cached entries removed in %llu ms", f->removed,
		 (unsigned long long)((loop_time(d->loop)->now_us - f->began_us) / US_PER_MS));
	retire(f->in_force, f->what);
	f->what = NULL;
	f->in_force = NULL;
	f->behind = 0;
	for (unsigned i = 0; i < d->worker_count; i++)
		loop_post(d->workers[i]->env.loop, has_forgotten, d->workers[i]);
	f->afters = NULL;
	f->after_count = 0;
	for (size_t i = 0; i < count; i++)
		afters[i].fn(afters[i].arg);
	mem_free(afters);
}

static void start_walk(struct forgetting *f)
{
	atomic_store(&f->stop, false);
	f->walker = (struct thread_job){
		.home = f->daemon->loop, .work = walk, .done = on_walked, .arg = f
	};
	if (thread_job_start(&f->walker))
		return;
	walk(f);
	on_walked(f);
}

/* ---- round the workers ---- */

static void next_stop(struct forgetting *f);

static void at_worker(void *arg)
{
	next_stop(arg);
}

static void back_home(void *arg)
{
	struct forgetting *f = arg;

	f->asks_parent = false;
	if (f->again)
		forgetting_go_on(f);
	else
		start_walk(f);
}

/* Each behind what was posted to it before: the snapshot. On one thread after the other. */
static void next_stop(struct forgetting *f)
{
	const struct daemon *d = f->daemon;

	if (f->visited < d->worker_count)
		loop_post(d->workers[f->visited++]->env.loop, at_worker, f);
	else
		loop_post(d->loop, back_home, f);
}

void forgetting_go_on(struct forgetting *f)
{
	/* While it walks all workers are of the rule's generation, and a snapshot that changes nothing cached keeps
	 * them there: one walk is enough. */
	if (!f->what || f->walker.running)
		return;
	f->again = f->asks_parent;
	if (f->asks_parent)
		return;
	f->asks_parent = true;
	f->visited = 0;
	next_stop(f);
}

/* ---- beginning ---- */

enum { BEHIND_MOST = 100 }; /* of SLAB_GENERATIONS */

/* A walk under way cannot know the new rule: it ends, and what it has not come to is for the next. Before a generation
 * could come again while entries of it are left, one is walked to its end, here. */
static void end_walk(struct forgetting *f)
{
	atomic_store(&f->stop, true);
	thread_job_join(&f->walker);
	if (f->what && ++f->behind >= BEHIND_MOST) {
		atomic_store(&f->stop, false);
		(void)forget_rules_apply(&f->daemon->caches, f->what, f->generation, &f->stop);
		atomic_store(&f->stop, true);
		f->behind = 0;
	}
}

void forgetting_begin(struct forgetting *f, const struct snapshot *old, struct snapshot *next)
{
	const struct timebase *now = loop_time(f->daemon->loop);
	struct forget *what = shape_compare(old, next, now->now_s);
	struct in_force *in_force;
	char text[200];

	next->generation = f->generation;
	next->shaped_s = what ? now->wall_s : old->shaped_s;
	if (!what)
		return;
	forget_print(what, text, sizeof text);
	log_notice("cache entries from before the configuration change removed: %s", text);
	end_walk(f);
	if (!f->what) {
		f->removed = 0;
		f->began_us = now->now_us;
	}
	forget_chain(what, f->what);
	in_force = mem_zero(sizeof *in_force);
	forget_rules_begin(&f->daemon->caches, &in_force->rules, what);
	retire(f->in_force, NULL);
	f->what = what;
	f->in_force = in_force;
	f->generation = next->generation = forget_next_generation(f->generation);
	cache_keeper_disturb(f->daemon->cache_keeper);
}

bool forgetting_after(struct forgetting *f, void (*fn)(void *arg), void *arg)
{
	if (!f->what)
		return false;
	f->afters = mem_grow(f->afters, (f->after_count + 1) * sizeof *f->afters);
	f->afters[f->after_count++] = (struct after){ fn, arg };
	return true;
}
