/* Emptying the caches on a thread of its own: posted to the main thread, which starts a thread for it.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "daemon/process/purge.h"

#include <pthread.h>
#include <stdatomic.h>

#include "daemon/process/cache_keeper.h"
#include "daemon/process/forget.h"
#include "daemon/process/thread_job.h"
#include "daemon/worker/caches.h"
#include "services/cache/forget.h"
#include "util/base/log.h"
#include "util/base/loop.h"
#include "util/base/mem.h"
#include "util/base/rcu.h"

struct purge {
	struct loop *home;
	const struct caches *caches;
	struct cache_keeper *cache_keeper;
	struct thread_job walker;
	atomic_bool due; /* asked for since the last walk began */
	pthread_mutex_t lock;
	struct forget *some; /* the same of that; guarded by `lock` */
};

struct purge *purge_new(struct loop *home, const struct caches *caches, struct cache_keeper *cache_keeper)
{
	struct purge *p = mem_zero(sizeof *p);

	p->home = home;
	p->caches = caches;
	p->cache_keeper = cache_keeper;
	pthread_mutex_init(&p->lock, NULL);
	return p;
}

static struct forget *take_some(struct purge *p)
{
	struct forget *some;

	pthread_mutex_lock(&p->lock);
	some = p->some;
	p->some = NULL;
	pthread_mutex_unlock(&p->lock);
	return some;
}

static bool is_due(struct purge *p)
{
	bool due;

	pthread_mutex_lock(&p->lock);
	due = p->some || atomic_load(&p->due);
	pthread_mutex_unlock(&p->lock);
	return due;
}

static void empty(struct purge *p)
{
	struct caches_gone gone = caches_empty(p->caches);

	log_notice("all caches flushed: %zu answers, %zu RRsets, %zu NSEC ranges",
		   gone.answers, gone.sets, gone.denials);
}

static void walk(void *arg)
{
	struct purge *p = arg;

	rcu_thread_join();
	while (is_due(p)) {
		struct forget *some = take_some(p);

		if (some)
			log_ops("%zu cached entries of a zone's old version removed",
				forget_now(p->caches, some));
		if (atomic_exchange(&p->due, false))
			empty(p);
	}
	rcu_thread_leave();
}

/* Also after a walk, since more may have been asked for just as it ended. If no thread can be
 * created, the main thread walks. */
static void begin(void *arg)
{
	struct purge *p = arg;

	if (p->walker.running || !is_due(p))
		return;
	p->walker = (struct thread_job){ .home = p->home, .work = walk, .done = begin, .arg = p };
	if (!thread_job_start(&p->walker))
		walk(p);
}

void purge_all(void *purge)
{
	struct purge *p = purge;

	cache_keeper_disturb(p->cache_keeper);
	atomic_store(&p->due, true);
	loop_post(p->home, begin, p);
}

void purge_some(void *purge, struct forget *what)
{
	struct purge *p = purge;

	cache_keeper_disturb(p->cache_keeper);
	pthread_mutex_lock(&p->lock);
	forget_chain(what, p->some);
	p->some = what;
	pthread_mutex_unlock(&p->lock);
	loop_post(p->home, begin, p);
}

void purge_finish(struct purge *p)
{
	thread_job_join(&p->walker);
	walk(p);
}

void purge_free(struct purge *p)
{
	if (!p)
		return;
	purge_finish(p);
	pthread_mutex_destroy(&p->lock);
	mem_free(p);
}
