/* Commands, reloads and restarts, without sockets and files.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "testdata/hostile/operator.h"

#include <stdio.h>
#include <string.h>

#include "daemon/control/call.h"
#include "daemon/control/call_text.h"
#include "daemon/process/cache_keeper.h"
#include "daemon/process/forget.h"
#include "daemon/process/leases.h"
#include "daemon/process/shape.h"
#include "daemon/worker/modules.h"
#include "services/authzone/zones.h"
#include "services/cache/msg.h"
#include "services/cache/rrset.h"
#include "services/cache/slab.h"
#include "services/cachefile/cachefile.h"
#include "services/dnstap/dnstap.h"
#include "services/history/querypipe.h"
#include "services/policy/policy.h"
#include "services/query/snapshot.h"
#include "testdata/fuzz/memory_file.h"
#include "testdata/hostile/single.h"
#include "util/base/fault.h"
#include "util/base/log.h"
#include "util/base/loop.h"
#include "util/base/mem.h"
#include "util/base/rcu.h"
#include "util/conf/options.h"

/* ---- the clock ---- */

static const struct timebase *played;

void __real_timebase_read(struct timebase *t);
void __wrap_timebase_read(struct timebase *t);

/* Commands that ask the machine for the time are told the world's. */
void __wrap_timebase_read(struct timebase *t)
{
	if (played)
		*t = *played;
	else
		__real_timebase_read(t);
}

/* ---- life ---- */

void operator_begin(struct operator *o, struct world *w)
{
	*o = (struct operator){ .world = w };
	played = loop_time(w->loop);
	slab_enter(w->snapshot->generation); /* of the world before */
	o->workers[0] = w->worker;
	o->daemon = (struct daemon){ .how = { .program = "hostile", .conf_path = "/" },
				     .loop = w->loop,
				     .snapshot = w->snapshot,
				     .caches = w->caches,
				     .workers = o->workers,
				     .worker_count = 1 };
	o->daemon.leases = leases_new(w->loop);
	o->daemon.cache_keeper = cache_keeper_new(w->loop, &o->daemon.caches);
	o->daemon.forgetting = forgetting_new(&o->daemon);
	o->daemon.dnstap = dnstap_new(1);
	o->daemon.querypipe = querypipe_new(1);
}

static void set_true(void *flag)
{
	*(bool *)flag = true;
}

/* Everything that was posted runs, and what has to be forgotten is. */
static void rest(struct operator *o)
{
	bool forgotten = false;

	forgotten = !forgetting_after(o->daemon.forgetting, set_true, &forgotten);
	loop_play(o->world->loop, 0);
	while (!forgotten) {
		PROMISE(single_work());
		loop_play(o->world->loop, 0);
	}
}

void operator_end(struct operator *o)
{
	rest(o);
	leases_free(o->daemon.leases);
	forgetting_free(o->daemon.forgetting);
	cache_keeper_free(o->daemon.cache_keeper);
	changes_clear(&o->daemon.changes);
	dnstap_free(o->daemon.dnstap);
	querypipe_free(o->daemon.querypipe);
	o->world->snapshot = o->daemon.snapshot;
	played = NULL;
}

/* ---- reload ---- */

/* As daemon/process/daemon.c does it, but for listeners and files. */
static bool swap_in(struct daemon *d, struct conf *conf, bool keeps_changes, struct fault *f)
{
	struct snapshot *s = modules_snapshot(conf, f);

	if (!s)
		return false;
	snapshot_inherit(s, d->snapshot);
	if (keeps_changes) {
		policy_inherit(s->policy, d->snapshot->policy, conf);
		authzones_inherit(s->zones, d->snapshot->zones, true);
		s = changes_apply(&d->changes, s, f);
		PROMISE(s);
	} else {
		changes_clear(&d->changes);
	}
	policy_shed(conf);
	caches_resize(&d->caches, d->snapshot->conf, conf);
	daemon_publish(d, s);
	return true;
}

bool __wrap_daemon_reconfigure(struct daemon *d, struct conf *conf, struct fault *f);

/* What set_option and the like call. */
bool __wrap_daemon_reconfigure(struct daemon *d, struct conf *conf, struct fault *f)
{
	return swap_in(d, conf, true, f);
}

bool operator_reload(struct operator *o, struct conf *conf, struct fault *f)
{
	bool ok;

	rcu_turn_begin();
	ok = swap_in(&o->daemon, conf, false, f);
	rcu_turn_end();
	if (!ok)
		return false;
	rest(o);
	o->world->snapshot = o->daemon.snapshot;
	return true;
}

/* ---- commands ---- */

static const struct command *find_command(const char *word)
{
	for (const struct command *c = commands; c->word; c++)
		if (strcmp(c->word, word) == 0)
			return c;
	return NULL;
}

static void run(struct call *c, struct worker *w)
{
	rcu_turn_begin();
	c->command->run(c, w);
	rcu_turn_end();
}

char *operator_command(struct operator *o, const char *line)
{
	struct call c = { .daemon = &o->daemon };
	char *word, *reply;
	size_t len;

	snprintf(c.line, sizeof(c.line), "%s", line);
	c.args = c.line;
	word = control_word(&c.args);
	c.command = word ? find_command(word) : NULL;
	PROMISE(c.command && c.command->place != BODY);
	switch (c.command->place) {
	case OWN_THREAD:
		c.command->run(&c, NULL);
		break;
	case FIRST_WORKER:
	case EVERY_WORKER:
		run(&c, o->workers[0]);
		run(&c, NULL);
		break;
	default:
		run(&c, NULL);
	}
	rest(o);
	o->world->snapshot = o->daemon.snapshot;
	mem_free(c.data);
	reply = call_reply(&c, &len);
	call_clear(&c);
	return reply;
}

/* ---- the cache as text ---- */

static void load(struct operator *o, char *text)
{
	struct call c = { .daemon = &o->daemon, .args = (char[]){ "" }, .phase = CALL_BEGIN };

	control_load_cache(&c, NULL);
	PROMISE(!c.refused);
	c.phase = CALL_ITEM;
	for (char *at = text, *stop; *at && !c.over; at = stop + 1) {
		stop = strchr(at, '\n');
		PROMISE(stop);
		*stop = '\0';
		c.item = at;
		c.items++;
		rcu_turn_begin();
		control_load_cache(&c, NULL);
		rcu_turn_end();
	}
	PROMISE(!c.refused);
	c.phase = CALL_END;
	control_load_cache(&c, NULL);
	mem_free(c.data);
	call_clear(&c);
}

void operator_dump_and_load(struct operator *o, bool empty)
{
	char *text = operator_command(o, "dump_cache");

	if (empty)
		(void)caches_empty(&o->daemon.caches);
	load(o, text);
	rest(o);
	mem_free(text);
}

/* ---- the cache as a file ---- */

static struct cachefile_how how_of(const struct operator *o)
{
	const struct snapshot *s = o->world->snapshot;

	return (struct cachefile_how){ .messages = o->world->caches.messages,
				       .rrsets = o->world->caches.rrsets,
				       .now = *loop_time(o->world->loop),
				       .validation = shape_validation(s),
				       .shape = shape_mark(s),
				       .zones = shape_zones(s),
				       .most_ttl_s = s->conf->server.cache_max_ttl,
				       .validates = s->trust != NULL };
}

bool operator_restart(struct operator *o, struct conf *conf, uint64_t gap_us, struct fault *f)
{
	struct world *w = o->world;
	uint64_t now_us = loop_time(w->loop)->now_us;
	void (*sent)(void *arg, struct outstanding *out) = w->sent;
	struct memory_file m = { .len = 0 };
	struct fault ignored = { 0 };
	struct cachefile_count count;
	struct cachefile_how how = how_of(o);
	bool ok = cachefile_write(&how, memory_file_push, &m, &count, f);

	PROMISE(ok);
	keptzones_clear(&how.zones);
	operator_end(o);
	world_end(w);
	ok = world_begin(w, conf, (now_us + gap_us) / US_PER_S + 1, f);
	if (ok) {
		w->sent = sent;
		operator_begin(o, w);
		how = how_of(o);
		/* it may be of no use under this configuration */
		if (!cachefile_read(&how, memory_file_pull, &m, &count, &ignored))
			log_detail("%s", ignored.text);
		keptzones_clear(&how.zones);
	}
	mem_free(m.at);
	return ok;
}
