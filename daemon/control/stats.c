/* Commands about the statistics counters, and logging them periodically.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "daemon/control/stats.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "daemon/control/call_json.h"
#include "daemon/control/control.h"
#include "daemon/process/cache_keeper.h"
#include "daemon/process/daemon.h"
#include "daemon/process/leases.h"
#include "daemon/worker/worker.h"
#include "services/authzone/data.h"
#include "services/authzone/zones.h"
#include "services/cache/aggressive.h"
#include "services/cache/infra.h"
#include "services/cache/msg.h"
#include "services/cache/rrset.h"
#include "services/cache/subnet_index.h"
#include "services/dnstap/dnstap.h"
#include "services/history/querypipe.h"
#include "services/listen/tcp.h"
#include "services/mesh/mesh.h"
#include "services/policy/policy.h"
#include "services/query/snapshot.h"
#include "services/stats/stats.h"
#include "util/base/log.h"
#include "util/base/mem.h"
#include "util/conf/options.h"
#include "validator/keycache.h"

size_t gathered_room(unsigned workers)
{
	return sizeof(struct gathered) + workers * sizeof(struct stats) + CACHE_LINE;
}

struct gathered *gathered_at(void *room)
{
	uintptr_t at = (uintptr_t)room;

	return (struct gathered *)((char *)room + (CACHE_LINE - at % CACHE_LINE) % CACHE_LINE);
}

/* Gauges are only ever looked at here. */
void gathered_take(struct gathered *g, struct worker *w)
{
	struct stats *s = w->env.stats;

	mesh_count(w->env.mesh);
	stat_set(&s->tcpusage, listen_tcp_count(w->listen_tcp));
	stat_set(&s->streamwait, listen_tcp_untaken(w->listen_tcp));
	stat_set(&s->http_receiving, listen_tcp_http_receiving(w->listen_tcp));
	stat_set(&s->http_sending, listen_tcp_http_sending(w->listen_tcp));
	stat_set(&s->turn_cpu_us, loop_longest(w->env.loop)->cpu_us);
	stat_set(&s->turn_wall_us, loop_longest(w->env.loop)->wall_us);
	for (unsigned i = 0; i <= LOOP_BOUNDS; i++)
		stat_set(&s->stretches[i], loop_longest(w->env.loop)->stretches[i]);
	stats_join(&g->one[w->number], s);
}

void gathered_join(struct gathered *g, unsigned workers)
{
	for (unsigned i = 0; i < workers; i++)
		stats_join(&g->total, &g->one[i]);
}

static struct gathered *gathered_in(struct call *c)
{
	if (!c->data)
		c->data = mem_zero(gathered_room(c->daemon->worker_count));
	return gathered_at(c->data);
}

static void take(struct call *c, struct worker *w)
{
	gathered_take(gathered_in(c), w);
}

/* "key=value"; a list may have a "=" in its name, which is part of the key. */
static void say_counter(const char *line, void *call)
{
	struct json *j = call_object(call);
	const char *value = strrchr(line, '=');
	char key[300];

	if (!j || !value) {
		call_line(line, call);
		return;
	}
	snprintf(key, sizeof key, "%.*s", (int)(value - line), line);
	json_value(j, key, value + 1, strlen(value + 1));
}

static void say_time(struct call *c, const char *key, uint64_t us)
{
	struct json *j = call_object(c);

	if (j) {
		json_seconds(j, key, us);
		return;
	}
	call_say(c, "%s=%" PRIu64 ".%06" PRIu64 "\n", key, us / US_PER_S, us % US_PER_S);
}

static void say_times(struct call *c)
{
	const struct daemon *d = c->daemon;
	uint64_t now_us = loop_time(d->loop)->now_us;
	struct timespec wall = { 0 };

	(void)clock_gettime(CLOCK_REALTIME, &wall);
	say_time(c, "time.now", (uint64_t)wall.tv_sec * US_PER_S + (uint64_t)wall.tv_nsec / 1000);
	say_time(c, "time.up", now_us - d->started_us);
	say_time(c, "time.elapsed", now_us - d->zeroed_us);
}

static void say_size(struct call *c, const char *key, size_t value)
{
	struct json *j = call_object(c);

	if (j)
		json_number(j, key, value);
	else
		call_say(c, "%s=%zu\n", key, value);
}

static size_t policy_zone_bytes(const struct authzones *zones)
{
	size_t bytes = 0;

	for (size_t i = zones->first_policy; i < zones->count; i++) {
		const struct zonedata *data = authzone_stored(&zones->items[i]);

		bytes += data ? data->arena.taken : 0;
	}
	return bytes;
}

static void say_memory(struct call *c, const struct stats *total)
{
	const struct caches *caches = &c->daemon->caches;

	say_size(c, "mem.cache.rrset", slab_counted(rrsetcache_slab(caches->rrsets)).bytes);
	say_size(c, "mem.cache.message", slab_counted(msgcache_slab(caches->messages)).bytes);
	say_size(c, "mem.mod.iterator", slab_counted(infra_slab(caches->infra)).bytes);
	say_size(c, "mem.mod.validator",
		 aggressive_counted(caches->negative).bytes +
			 slab_counted(keycache_slab(caches->keys)).bytes);
	say_size(c, "mem.mod.respip", policy_zone_bytes(call_snapshot(c)->zones));
	say_size(c, "mem.mod.subnet",
		 caches->subnet_index ? slab_counted(subnet_index_slab(caches->subnet_index)).bytes : 0);
#define MEM(id, key, join, metric) say_size(c, key, (size_t)stat_get(&total->id));
#include "services/stats/stats.def"
}

static void say_counts(struct call *c)
{
	const struct caches *caches = &c->daemon->caches;

	say_size(c, "msg.cache.count", slab_counted(msgcache_slab(caches->messages)).entries);
	say_size(c, "rrset.cache.count", slab_counted(rrsetcache_slab(caches->rrsets)).entries);
	say_size(c, "infra.cache.count", slab_counted(infra_slab(caches->infra)).entries);
	say_size(c, "key.cache.count", slab_counted(keycache_slab(caches->keys)).entries);
	say_size(c, "msg.cache.max_collisions",
		 slab_counted(msgcache_slab(caches->messages)).longest);
	say_size(c, "rrset.cache.max_collisions",
		 slab_counted(rrsetcache_slab(caches->rrsets)).longest);
}

/* Not in Unbound; only if there was one. */
static void say_unreadable(struct call *c)
{
	if (msgcache_unreadable())
		say_size(c, "msg.cache.unreadable", (size_t)msgcache_unreadable());
}

struct host_counts {
	size_t files, left_out;
};

static void count_file(const struct lease_status *s, void *arg)
{
	struct host_counts *n = arg;

	n->files++;
	n->left_out += lease_remarks_count(&s->report.remarks);
}

/* Not in Unbound. */
static void say_turns(struct call *c, const struct stats *total)
{
	static const unsigned bounds[LOOP_BOUNDS] = { LOOP_BOUNDS_US };
	char key[40];

#define TURN(id, key, join, metric) say_size(c, key, (size_t)stat_get(&total->id));
#include "services/stats/stats.def"
	for (unsigned i = 0; i < LOOP_BOUNDS; i++) {
		snprintf(key, sizeof key, "loop.turn.cpu_us.to.%u", bounds[i]);
		say_size(c, key, (size_t)stat_get(&total->stretches[i]));
	}
	say_size(c, "loop.turn.cpu_us.longer", (size_t)stat_get(&total->stretches[LOOP_BOUNDS]));
	say_size(c, "log.lost", (size_t)log_lost());
}

/* Not in Unbound; only if lease or hosts files are followed. */
static void say_hosts(struct call *c)
{
	const struct leases *l = c->daemon->leases;
	struct host_counts n = { 0 };

	if (!leases_exist(l))
		return;
	leases_each_file(l, count_file, &n);
	say_size(c, "hosts.files", n.files);
	say_size(c, "hosts.records", hostnames_count(leases_names(l)));
	say_size(c, "hosts.left_out", n.left_out);
}

/* Not in Unbound; only if there is a cache-file. */
static void say_cache_file(struct call *c)
{
	struct cache_keeper_report r = cache_keeper_tell(c->daemon->cache_keeper);
	int64_t now_s = loop_time(c->daemon->loop)->wall_s;

	if (!r.keeps)
		return;
	say_size(c, "cache.file.loaded", (size_t)(r.read.answers + r.read.sets));
	say_size(c, "cache.file.failures", (size_t)r.failures);
	if (!r.written_s)
		return;
	say_size(c, "cache.file.age", (size_t)MAX(now_s - r.written_s, 0));
	say_size(c, "cache.file.bytes", (size_t)r.written.bytes);
	say_size(c, "cache.file.entries", (size_t)(r.written.answers + r.written.sets));
}

/* Not in Unbound; only if dnstap is enabled. */
static void say_dnstap(struct call *c)
{
	struct dnstap_status s;

	dnstap_tell(c->daemon->dnstap, &s);
	if (!s.enabled)
		return;
	say_size(c, "dnstap.connected", s.connected);
	say_size(c, "dnstap.sent", (size_t)s.counts.sent);
	say_size(c, "dnstap.dropped", (size_t)s.counts.dropped);
	say_size(c, "dnstap.lost", (size_t)s.counts.lost);
}

/* Not in Unbound; only if query-pipe is set. */
static void say_querypipe(struct call *c)
{
	struct querypipe_status s;

	querypipe_tell(c->daemon->querypipe, &s);
	if (!s.enabled)
		return;
	call_say(c, "querypipe.reader=%d\n", s.has_reader);
	call_say(c, "querypipe.written=%" PRIu64 "\n", s.written);
	call_say(c, "querypipe.lost=%" PRIu64 "\n", s.lost);
}

static void say_all(struct call *c)
{
	const struct daemon *d = c->daemon;
	const struct conf_server *s = &call_snapshot(c)->conf->server;
	struct gathered *g = gathered_in(c);
	char prefix[32];

	for (unsigned i = 0; i < d->worker_count; i++) {
		snprintf(prefix, sizeof prefix, "thread%u", i);
		stats_print(&g->one[i], prefix, say_counter, c);
	}
	gathered_join(g, d->worker_count);
	stats_print(&g->total, "total", say_counter, c);
	say_times(c);
	if (s->extended_statistics) {
		say_memory(c, &g->total);
		stats_print_extended(&g->total, s->statistics_inhibit_zero, say_counter, c);
		blocklist_stats_say(call_snapshot(c)->policy->lists, &g->total, say_counter, c);
		say_counts(c);
		say_turns(c, &g->total);
		say_hosts(c);
		say_cache_file(c);
		say_unreadable(c);
		say_dnstap(c);
		say_querypipe(c);
	}
}

static void begin_anew(struct call *c)
{
	c->daemon->zeroed_us = loop_time(c->daemon->loop)->now_us;
}

void control_stats_noreset(struct call *c, struct worker *w)
{
	if (w)
		take(c, w);
	else
		say_all(c);
}

static void clear(struct worker *w)
{
	stats_clear(w->env.stats);
	*loop_longest(w->env.loop) = (struct loop_longest){ 0 };
}

/* Reset the counters, which have just been shown. */
static void begin_anew_unless_cumulative(struct call *c, struct worker *w)
{
	const struct snapshot *s = w ? w->env.snapshot : call_snapshot(c);

	if (s->conf->server.statistics_cumulative)
		return;
	if (w)
		clear(w);
	else
		begin_anew(c);
}

void control_stats(struct call *c, struct worker *w)
{
	control_stats_noreset(c, w);
	begin_anew_unless_cumulative(c, w);
}

/* ---- logging statistics ---- */

static void log_one(const char *line, const struct log_fact *facts, void *arg)
{
	(void)arg;
	log_line_of("info", statistics, facts, "%s", line);
}

static void log_stats(struct call *c, struct worker *w)
{
	const struct gathered *g = gathered_in(c);

	if (w)
		take(c, w);
	for (unsigned i = 0; !w && i < c->daemon->worker_count; i++)
		stats_tell(&g->one[i], i, log_one, NULL);
	begin_anew_unless_cumulative(c, w);
}

static void on_time(struct timer *t)
{
	static const struct command command = { .place = EVERY_WORKER, .run = log_stats };
	struct daemon *d = container_of(t, struct daemon, stats_timer);

	control_run(d->control, &(struct call_plan){ .how = &command });
	stats_log_plan(d);
}

void stats_log_plan(struct daemon *d)
{
	uint64_t every_s = d->snapshot->conf->server.statistics_interval;

	if (timer_is_set(&d->stats_timer) && every_s == d->stats_every_s)
		return; /* reloads more frequent than that must not put it off for ever */
	d->stats_timer.fire = on_time;
	d->stats_every_s = every_s;
	timer_stop(d->loop, &d->stats_timer);
	if (every_s)
		timer_set(d->loop, &d->stats_timer, every_s * US_PER_S);
}

/* ---- flush_stats ---- */

void control_flush_stats(struct call *c, struct worker *w)
{
	if (w) {
		clear(w);
		return;
	}
	begin_anew(c);
	call_ok(c);
}
