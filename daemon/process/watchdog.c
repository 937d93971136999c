/* The service manager's watchdog: it is fed as long as every thread still takes turns.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "daemon/process/watchdog.h"

#include <stdatomic.h>

#include "daemon/process/daemon.h"
#include "daemon/system/sd_notify.h"
#include "daemon/worker/worker.h"
#include "util/base/log.h"
#include "util/base/mem.h"

#define SIGNS 4 /* checks per watchdog timeout */

struct watchdog {
	struct daemon *daemon;
	struct timer timer;
	uint64_t every_us;
	bool told; /* an unresponsive thread has been logged */
	_Atomic bool heard[]; /* per worker: it has answered the last check */
};

static void on_worker(void *arg)
{
	atomic_store_explicit((_Atomic bool *)arg, true, memory_order_relaxed);
}

static void ask_all(struct watchdog *p)
{
	for (unsigned i = 0; i < p->daemon->worker_count; i++) {
		atomic_store_explicit(&p->heard[i], false, memory_order_relaxed);
		loop_post(p->daemon->workers[i]->env.loop, on_worker, &p->heard[i]);
	}
}

static bool all_answered(struct watchdog *p)
{
	for (unsigned i = 0; i < p->daemon->worker_count; i++) {
		if (atomic_load_explicit(&p->heard[i], memory_order_relaxed))
			continue;
		if (!p->told)
			log_warn("thread %u has not responded for %llu ms", i,
				 (unsigned long long)(p->every_us / 1000));
		p->told = true;
		return false;
	}
	p->told = false;
	return true;
}

static void on_timer(struct timer *t)
{
	struct watchdog *p = container_of(t, struct watchdog, timer);

	if (all_answered(p)) {
		sd_notify_alive();
		ask_all(p);
	}
	timer_set(p->daemon->loop, t, p->every_us);
}

struct watchdog *watchdog_start(struct daemon *d)
{
	uint64_t patience_us = sd_notify_patience_us();
	struct watchdog *p;

	if (patience_us < SIGNS)
		return NULL;
	p = mem_zero(sizeof *p + d->worker_count * sizeof p->heard[0]);
	p->daemon = d;
	p->every_us = patience_us / SIGNS;
	p->timer.fire = on_timer;
	ask_all(p);
	timer_set(d->loop, &p->timer, p->every_us);
	return p;
}

void watchdog_stop(struct watchdog *p)
{
	if (!p)
		return;
	timer_stop(p->daemon->loop, &p->timer);
	mem_free(p);
}
