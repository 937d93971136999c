/* A worker: a loop and everything its thread owns.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "daemon/worker/worker.h"

#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "daemon/system/fd_limits.h"
#include "daemon/worker/caches.h"
#include "daemon/worker/chaos.h"
#include "daemon/worker/frontend.h"
#include "daemon/worker/modules.h"
#include "services/cache/rrset.h"
#include "services/cache/slab.h"
#include "services/dnstap/dnstap.h"
#include "services/history/querypipe.h"
#include "services/history/recorder.h"
#include "services/listen/tcp.h"
#include "services/listen/udp.h"
#include "services/mesh/mesh.h"
#include "services/policy/ipset.h"
#include "services/policy/policy.h"
#include "services/policy/views.h"
#include "services/query/snapshot.h"
#include "services/stats/stats.h"
#include "services/upstream/upstream.h"
#include "services/xfer/schedule.h"
#include "util/base/fault.h"
#include "util/base/log.h"
#include "util/base/loop.h"
#include "util/base/mem.h"
#include "util/base/random.h"
#include "util/base/rcu.h"
#include "util/base/thread.h"
#include "util/conf/options.h"
#include "validator/keycache.h"

/* ---- what a worker needs of a configuration ---- */

static struct listen_tcp_limits tcp_limits_of(const struct conf *conf)
{
	const struct conf_server *s = &conf->server;

	return (struct listen_tcp_limits){
		.connections = fd_limits_share(conf).clients,
		.idle_ms = s->tcp_idle_timeout,
		.waiting_bytes = (size_t)(s->stream_wait_size / s->num_threads),
		.keepalive_ms = s->edns_tcp_keepalive ? s->edns_tcp_keepalive_timeout : 0,
		.pad_block = s->pad_responses ? s->pad_responses_block_size : 0,
		.http_endpoint = s->http_endpoint,
		.http_streams = s->http_max_streams,
		.http_query_bytes = (size_t)(s->http_query_buffer_size / s->num_threads),
		.http_answer_bytes = (size_t)(s->http_response_buffer_size / s->num_threads),
		.http_nodelay = s->http_nodelay,
	};
}

/* They live as long as the worker: queries under older snapshots use them, too. */
static void open_scopes(struct env *env, unsigned count)
{
	if (count <= env->scope_count)
		return;
	env->scopes = mem_grow(env->scopes, count * sizeof(*env->scopes));
	while (env->scope_count < count) {
		uint8_t number = (uint8_t)(env->scope_count + 1);

		env->scopes[env->scope_count++] = (struct scope_caches){
			.rrsets = rrsetcache_scoped(env->rrsets, number),
			.keys = keycache_scoped(env->keys, number),
		};
	}
}

static void close_scopes(struct env *env)
{
	for (unsigned i = 0; i < env->scope_count; i++) {
		rrsetcache_free(env->scopes[i].rrsets);
		keycache_free(env->scopes[i].keys);
	}
	mem_free(env->scopes);
}

static void adopt_tap(struct worker *w, const struct snapshot *s)
{
	tap_adopt(&w->tap, s->conf, dnstap_queue(w->dnstap, w->number), w->env.random);
	w->env.tap = w->tap.kinds ? &w->tap : NULL;
	if (w->listen_udp)
		listen_udp_tap(w->listen_udp, w->env.tap);
	if (w->listen_tcp)
		listen_tcp_tap(w->listen_tcp, w->env.tap);
}

static void renew_recorder(struct worker *w, const struct conf *c)
{
	struct env *env = &w->env;
	struct queryring *old = RCU_READ(w->ring), *new;

	env->recorder = recorder_renew(env->recorder, &c->server, querypipe_ring(w->querypipe, c, w->number));
	env->decision = env->recorder ? &env->recorder->decision : NULL;
	new = env->recorder ? env->recorder->ring : NULL;
	RCU_PUBLISH(w->ring, new);
	if (new != old)
		queryring_retire(old);
}

/* From now on nothing is found or kept that the old configuration shaped. */
static void look_again(struct worker *w, const struct snapshot *old, const struct snapshot *s)
{
	bool forgets = s->generation != old->generation;

	if (forgets) {
		slab_enter(s->generation);
		w->env.negative = NULL;
	}
	if (w->env.mesh && (forgets || s->renews))
		mesh_begin_again(w->env.mesh, !forgets);
}

void worker_has_forgotten(struct worker *w)
{
	w->env.negative = w->negative;
}

void worker_adopt(struct worker *w, struct snapshot *s)
{
	struct snapshot *old = w->env.snapshot;
	const struct conf_server *c = &s->conf->server;
	struct listen_tcp_limits limits = tcp_limits_of(s->conf);
	struct fd_limits_share share = fd_limits_share(s->conf);

	w->env.snapshot = snapshot_pin(s);
	w->env.ports_most = share.ports;
	w->env.servers_most = share.servers;
	open_scopes(&w->env, views_highest_scope(s->policy->views));
	answer_style_from(&w->style, s->conf);
	w->on.prefetch = c->prefetch;
	w->on.habits = c->prefetch && c->prefetch_popular;
	w->on.serve_expired = c->serve_expired;
	w->on.serve_expired_ttl_s = c->serve_expired_ttl;
	w->on.asks_store = mesh_asks_store_first(s->conf);
	w->on.client_timeout_ms = c->serve_expired_client_timeout;
	w->on.log_queries = c->log_queries;
	w->on.log_replies = c->log_replies;
	w->on.extended = c->extended_statistics;
	w->on.notes_questions = c->log_queries || c->extended_statistics;
	w->on.notes_answers = c->log_replies || c->extended_statistics || w->env.ipset;
	w->on.drop_large = c->harden_large_queries;
	w->on.deny_any = c->deny_any;
	w->on.validates = s->trust != NULL;
	w->on.changes = s->policy->has_answer_rules || !c->minimal_responses;
	w->on.subnets = s->subnets && w->env.subnet_index;
	w->on.limits = c->ip_ratelimit || c->ip_ratelimit_cookie;
	w->on.cookies = s->cookies.count != 0;
	w->on.ignore_cd = c->ignore_cd_flag;
	renew_recorder(w, s->conf);
	chaos_free(w->chaos);
	w->chaos = chaos_new(s->conf, s->trust);
	if (w->listen_udp)
		listen_udp_limit(w->listen_udp, c->max_udp_size);
	if (w->listen_udp)
		listen_udp_forget_old(w->listen_udp, c->sock_queue_timeout * US_PER_S,
				      w->env.stats);
	if (w->listen_tcp)
		listen_tcp_limit(w->listen_tcp, &limits);
	if (w->listen_tcp)
		listen_tcp_keys(w->listen_tcp, s->tls_server);
	if (w->listen_tcp)
		listen_tcp_share(w->listen_tcp, s->connection_limits);
	if (w->listen_udp)
		listen_udp_share(w->listen_udp, s->connection_limits);
	adopt_tap(w, s);
	for (unsigned i = 0; i < w->started; i++)
		if (w->chain[i]->renewed)
			w->chain[i]->renewed(&w->env);
	if (w->xfers)
		xfers_renew(w->xfers);
	if (old)
		look_again(w, old, s);
	if (old)
		snapshot_unpin(old);
}

void worker_serve(struct worker *w, const struct listen_socket *sockets, size_t count)
{
	listen_udp_serve(w->listen_udp, sockets, count);
	listen_tcp_serve(w->listen_tcp, sockets, count);
}

/* ---- life ---- */

/* Counters get their own cache lines, which the heap does not promise. */
static struct stats *stats_on(void **room)
{
	uintptr_t at;

	*room = mem_zero(sizeof(struct stats) + CACHE_LINE);
	at = (uintptr_t)*room;
	return (struct stats *)((char *)*room + (CACHE_LINE - at % CACHE_LINE) % CACHE_LINE);
}

static void open_rooms(struct worker *w, const struct worker_how *how)
{
	struct env *env = &w->env;

	w->played = how->loop != NULL;
	env->loop = w->played ? how->loop : loop_new();
	env->time = loop_time(env->loop);
	env->random = how->random;
	if (!env->random) {
		w->own_random = mem_zero(sizeof *w->own_random);
		random_init(w->own_random);
		env->random = w->own_random;
	}
	env->leads = how->number == 0;
	env->loader = how->loader;
	env->stats = stats_on(&w->stats_room);
	env->messages = how->caches->messages;
	env->rrsets = how->caches->rrsets;
	env->infra = how->caches->infra;
	env->keys = how->caches->keys;
	env->negative = w->negative = how->caches->negative;
	env->readmit = frontend_readmit;
	env->readmit_arg = w;
	env->subnet_index = how->caches->subnet_index;
	env->client_rates = how->caches->client_rates;
	env->waits = how->caches->waits;
	env->zone_rates = how->caches->zone_rates;
}

static void open_network(struct worker *w, const struct worker_how *how)
{
	struct env *env = &w->env;

	env->upstream = upstream_new(env, how->udp, how->tcp);
	env->mesh = mesh_new(env, w->chain);
	if (!w->played) {
		struct listen_tcp_limits limits = tcp_limits_of(env->snapshot->conf);

		w->listen_udp = listen_udp_new(env->loop, frontend_take_any, w);
		w->listen_tcp = listen_tcp_new(env->loop, frontend_take_any, w, &limits);
		listen_tcp_on_leave(w->listen_tcp, frontend_leave);
		listen_tcp_stats(w->listen_tcp, env->stats);
		listen_tcp_keys(w->listen_tcp, env->snapshot->tls_server);
		listen_tcp_share(w->listen_tcp, env->snapshot->connection_limits);
		listen_udp_share(w->listen_udp, env->snapshot->connection_limits);
		listen_udp_limit(w->listen_udp, env->snapshot->conf->server.max_udp_size);
		listen_udp_tap(w->listen_udp, env->tap);
		listen_tcp_tap(w->listen_tcp, env->tap);
		listen_udp_forget_old(w->listen_udp,
				      env->snapshot->conf->server.sock_queue_timeout * US_PER_S,
				      env->stats);
	}
}

static bool start_modules(struct worker *w, struct fault *f)
{
	for (; w->started < QUERY_MODULES && w->chain[w->started]; w->started++) {
		const struct module *m = w->chain[w->started];

		if (m->init && !m->init(&w->env, f))
			return false;
	}
	return true;
}

/* Called in the first turn of the worker's loop. */
static void start_xfers(void *arg)
{
	struct worker *w = arg;

	if (!w->xfers)
		w->xfers = xfers_new(&w->env);
	xfers_renew(w->xfers);
}

struct worker *worker_new(const struct worker_how *how, struct fault *f)
{
	struct worker *w = mem_zero(sizeof *w);

	w->number = how->number;
	w->arena = mem_arena_for(how->number);
	w->dnstap = how->dnstap;
	w->querypipe = how->querypipe;
	open_rooms(w, how);
	w->env.ipset = w->played ? NULL : ipset_new(how->snapshot->conf);
	worker_adopt(w, how->snapshot);
	if (modules_chain(w->chain, how->snapshot->conf, f)) {
		open_network(w, how);
		if (start_modules(w, f)) {
			if (w->env.leads)
				loop_post(w->env.loop, start_xfers, w);
			return w;
		}
	}
	worker_free(w);
	return NULL;
}

void worker_free(struct worker *w)
{
	if (!w)
		return;
	PROMISE(!w->running);
	xfers_free(w->xfers);
	if (w->env.mesh)
		mesh_free(w->env.mesh); /* drops every client: the listeners must still exist */
	while (w->started--)
		if (w->chain[w->started]->deinit)
			w->chain[w->started]->deinit(&w->env);
	if (w->env.upstream)
		upstream_free(w->env.upstream);
	listen_udp_free(w->listen_udp);
	listen_tcp_free(w->listen_tcp);
	chaos_free(w->chaos);
	recorder_free(w->env.recorder);
	ipset_free(w->env.ipset);
	snapshot_unpin(w->env.snapshot);
	close_scopes(&w->env);
	if (!w->played)
		loop_free(w->env.loop);
	mem_free(w->own_random);
	mem_free(w->stats_room);
	mem_free(w);
}

/* ---- the thread ---- */

static void *run(void *arg)
{
	struct worker *w = arg;
	char name[THREAD_NAME];

	log_thread((int)w->number);
	mem_use_arena(w->arena);
	slab_enter(w->env.snapshot->generation);
	snprintf(name, sizeof name, "worker %u", w->number % 10000);
	thread_name(name);
	loop_run(w->env.loop);
	atomic_store(&w->ended, true);
	return NULL;
}

/* Signals are for the main thread: the new thread starts with all of them blocked. */
bool worker_start(struct worker *w, struct fault *f)
{
	sigset_t all, before;
	int error;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	error = pthread_create(&w->thread, NULL, run, w);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	w->running = error == 0;
	if (error)
		fault_set(f, "cannot start thread %u: %s", w->number, strerror(error));
	return w->running;
}

void worker_stop(struct worker *w)
{
	if (!w->running)
		return;
	loop_stop(w->env.loop);
	pthread_join(w->thread, NULL);
	w->running = false;
}
