/* Emptying the caches aside: posted to the main thread, which starts a thread for it.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "daemon/purge.h"

#include <stdatomic.h>

#include "daemon/aside.h"
#include "daemon/caches.h"
#include "daemon/keeper.h"
#include "util/log.h"
#include "util/loop.h"
#include "util/mem.h"
#include "util/rcu.h"

struct purge {
	struct loop *home;
	const struct caches *caches;
	struct keeper *keeper;
	struct aside walker;
	atomic_bool due; /* asked for since the last walk began */
};

struct purge *purge_new(struct loop *home, const struct caches *caches, struct keeper *keeper)
{
	struct purge *p = mem_zero(sizeof *p);

	p->home = home;
	p->caches = caches;
	p->keeper = keeper;
	return p;
}

static void walk(void *arg)
{
	struct purge *p = arg;
	struct caches_gone gone;

	rcu_thread_join();
	while (atomic_exchange(&p->due, false)) {
		gone = caches_empty(p->caches);
		log_notice("all caches were emptied: %zu answers, %zu record sets, %zu denials",
			   gone.answers, gone.sets, gone.denials);
	}
	rcu_thread_leave();
}

/* Also after a walk, since more may have been asked for just as it ended. If no thread can be
 * created, the main thread walks. */
static void begin(void *arg)
{
	struct purge *p = arg;

	if (p->walker.running || !atomic_load(&p->due))
		return;
	p->walker = (struct aside){ .home = p->home, .work = walk, .done = begin, .arg = p };
	if (!aside_start(&p->walker))
		walk(p);
}

void purge_all(void *purge)
{
	struct purge *p = purge;

	keeper_disturb(p->keeper);
	atomic_store(&p->due, true);
	loop_post(p->home, begin, p);
}

void purge_settle(struct purge *p)
{
	aside_join(&p->walker);
	walk(p);
}

void purge_free(struct purge *p)
{
	if (!p)
		return;
	purge_settle(p);
	mem_free(p);
}
