/* Commands about the process: stop, reload, status, the log.
 * SPDX-License-Identifier: BSD-3-Clause */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "daemon/control/call.h"
#include "daemon/control/control.h"
#include "daemon/process/daemon.h"
#include "daemon/process/log_conf.h"
#include "daemon/worker/worker.h"
#include "services/query/snapshot.h"
#include "util/base/fault.h"
#include "util/base/log.h"
#include "util/conf/options.h"

void control_stop(struct call *c, struct worker *w)
{
	(void)w;
	call_ok(c);
	c->stop = true;
}

static void say_modules(struct call *c, const struct worker *w)
{
	unsigned count = 0;

	while (w->chain[count])
		count++;
	call_say(c, "modules: %u [", count);
	for (unsigned i = 0; i < count; i++)
		call_say(c, " %s", w->chain[i]->name);
	call_say(c, " ]\n");
}

void control_status(struct call *c, struct worker *w)
{
	const struct daemon *d = c->daemon;
	bool reuseport = d->snapshot->conf->server.so_reuseport && d->worker_count > 1;

	(void)w;
	call_say(c, "version: %s\n", PACKAGE_VERSION);
	call_say(c, "verbosity: %d\n", atomic_load(&log_verbosity));
	call_say(c, "threads: %u\n", d->worker_count);
	say_modules(c, d->workers[0]);
	call_say(c, "uptime: %" PRIu64 " seconds\n",
		 (loop_time(d->loop)->now_us - d->started_us) / US_PER_S);
	call_say(c, "options:%s%s\n", reuseport ? " reuseport" : "", control_kind(d->control));
	call_say(c, "%s (pid %ld) is running...\n", d->how.program, (long)getpid());
}

void control_verbosity(struct call *c, struct worker *w)
{
	char *end;
	long level = strtol(c->args, &end, 10);

	(void)w;
	if (end == c->args || *end || level < 0 || level > 9) {
		call_say(c, "error in verbosity number syntax: %s\n", c->args);
		return;
	}
	atomic_store(&log_verbosity, (int)level);
	call_ok(c);
}

void control_log_reopen(struct call *c, struct worker *w)
{
	(void)w;
	log_conf_reopen(c->daemon);
	call_ok(c);
}
