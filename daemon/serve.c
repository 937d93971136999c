/* Serving: everything is opened, runs, and is closed; signals.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "daemon/serve.h"

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <time.h>
#include <sys/stat.h>
#include <unistd.h>

#include "daemon/control/call.h"
#include "daemon/control/control.h"
#include "daemon/control/stats.h"
#include "daemon/pages/pages.h"
#include "daemon/process/cache_keeper.h"
#include "daemon/process/client_sockets.h"
#include "daemon/process/daemon.h"
#include "daemon/process/forget.h"
#include "daemon/process/leases.h"
#include "daemon/process/log_conf.h"
#include "daemon/process/purge.h"
#include "daemon/process/reread.h"
#include "daemon/process/socket_activation.h"
#include "daemon/process/stopper.h"
#include "daemon/process/watchdog.h"
#include "daemon/system/core_dumps.h"
#include "daemon/system/fd_limits.h"
#include "daemon/system/sandbox.h"
#include "daemon/worker/modules.h"
#include "daemon/worker/worker.h"
#include "services/background/fetch.h"
#include "services/background/loader.h"
#include "services/config/tls.h"
#include "services/dnstap/dnstap.h"
#include "services/history/querypipe.h"
#include "services/policy/policy.h"
#include "services/query/snapshot.h"
#include "util/base/fault.h"
#include "util/base/log.h"
#include "util/base/mem.h"
#include "util/base/rcu.h"
#include "util/base/thread.h"
#include "util/conf/options.h"
#include "util/net/kernset.h"

#define LOOK_US (5 * US_PER_S) /* interval between checks of files that may change */
/* ---- signals ---- */

static void on_signal(struct signal_watch *watch)
{
	struct daemon *d = container_of(watch, struct daemon_signal, watch)->daemon;
	struct fault f = { 0 };

	switch (watch->number) {
	case SIGHUP:
		(void)daemon_reload(d, &(struct reload){ 0 }, &f);
		break;
	case SIGUSR1:
		log_conf_reopen(d);
		break;
	default:
		daemon_stop(d);
		log_ops_of(stop, LOG_FACTS(LOG_COUNT(signal, (uint64_t)watch->number)), "signal %d: stopping", watch->number);
		break;
	}
}

/* The first two mean something only to a daemon that serves. */
static const int signal_numbers[SIGNALS] = { SIGHUP, SIGUSR1, SIGTERM, SIGINT, SIGQUIT };
#define SIGNALS_FOR_SERVING 2

/* Those that are held are delivered once they are let go. */
static void hold_signals(int how, size_t count)
{
	sigset_t set;

	sigemptyset(&set);
	for (size_t i = 0; i < count; i++)
		sigaddset(&set, signal_numbers[i]);
	pthread_sigmask(how, &set, NULL);
}

void serve_hold_signals(void)
{
	hold_signals(SIG_BLOCK, SIGNALS_FOR_SERVING);
}

static void watch_signals(struct daemon *d)
{
	(void)signal(SIGPIPE, SIG_IGN);
	for (size_t i = 0; i < SIGNALS; i++) {
		struct daemon_signal *s = &d->signals[i];

		s->daemon = d;
		s->watch = (struct signal_watch){ .number = signal_numbers[i], .caught = on_signal };
		signal_start(d->loop, &s->watch);
	}
	hold_signals(SIG_UNBLOCK, SIGNALS);
}

/* None may end the process now, before the pid file is gone. */
static void unwatch_signals(struct daemon *d)
{
	hold_signals(SIG_BLOCK, SIGNALS);
	for (size_t i = 0; i < SIGNALS; i++)
		if (d->signals[i].daemon)
			signal_stop(&d->signals[i].watch);
}

/* ---- opening ---- */

/* Make `path` and its missing parents, which a chroot seldom has. Writes into `path` meanwhile. */
static bool make_folder(char *path)
{
	for (char *slash = strchr(path + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
		*slash = '\0';
		(void)mkdir(path, 0755);
		*slash = '/';
	}
	return mkdir(path, 0700) == 0 || errno == EEXIST;
}

/* Make the folder for blocklist copies and hand it over. On failure there are no copies, and the
 * log says so. */
static void give_lists(const struct daemon *d, const struct conf *conf)
{
	char *folder = conf_path(conf, conf->server.blocklist_directory);

	if (conf->blocklist_count && *folder) {
		if (!make_folder(folder))
			log_warn("blocklist-directory: cannot make %s: %s", folder,
				 strerror(errno));
		privileges_give(&d->privileges, folder);
	}
	mem_free(folder);
}

/* As the user that the daemon runs as, and in its chroot. */
static void go_on_inside(struct daemon *d, const struct conf *conf)
{
	const char *file = conf->remote_control.changes_file;
	char *path = d->locked_in ? conf_path_inside(conf, file) : conf_path(conf, file);

	changes_enter(&d->changes, path);
	mem_free(path);
}

static bool open_workers(struct daemon *d, struct fault *f)
{
	struct worker_how how = { .snapshot = d->snapshot,
				  .caches = &d->caches,
				  .loader = d->loader,
				  .dnstap = d->dnstap,
				  .querypipe = d->querypipe };

	for (how.number = 0; how.number < d->worker_count; how.number++) {
		struct worker *w = worker_new(&how, f);

		if (!w)
			return false;
		d->workers[how.number] = w;
		w->env.purge = purge_all;
		w->env.forget = purge_some;
		w->env.purge_arg = d->purge;
		worker_serve(w, d->client_sockets[how.number].items, d->client_sockets[how.number].count);
	}
	return true;
}

static bool names_a_url(const struct conf *conf)
{
	for (size_t i = 0; i < conf->auth_zone_count; i++)
		if (conf->auth_zones[i].url.count)
			return true;
	for (size_t i = 0; i < conf->rpz_count; i++)
		if (conf->rpzs[i].url.count)
			return true;
	for (size_t i = 0; i < conf->blocklist_count; i++)
		if (conf->blocklists[i].url.count)
			return true;
	return false;
}

/* On failure only what would be fetched is missing; everything else works. */
static void prepare_fetching(const struct conf *conf)
{
	struct fault f = { 0 };

	if (names_a_url(conf) && !fetch_prepare(&f))
		log_error("url: %s", f.text);
}

/* Everything that needs privileges, which are dropped at the end; then enter the sandbox. */
static bool open_outside(struct daemon *d, struct fault *f)
{
	const struct conf *conf = d->snapshot->conf;

	prepare_fetching(conf);
	if (conf_fills_sets(conf))
		kernset_prepare();
	fd_limits_raise(conf);
	hold_signals(SIG_BLOCK, SIGNALS); /* the pid file must not stay behind */
	if (!privileges_find(&d->privileges, conf, f) ||
	    !client_sockets_open(d->client_sockets, NULL, d->worker_count, conf, f) ||
	    !(d->control = control_open(d, commands, f)) || !(d->pages = pages_open(d, f)) ||
	    !pidfile_write(&d->pidfile, conf, &d->privileges, f))
		return false;
	log_conf_start(d, conf);
	socket_activation_report(conf->server.use_systemd);
	log_conf_give(d, conf);
	give_lists(d, conf);
	if (!reread_foresee(&d->privileges, conf, f) || !privileges_drop(&d->privileges, conf, f))
		return false;
	if (*conf->server.chroot)
		d->locked_in = mem_text(conf->server.chroot);
	if (d->changes.kept)
		go_on_inside(d, conf);
	core_dumps_forbid(conf);
	querypipe_make(conf, d->locked_in != NULL);
	d->sandbox = sandbox_draw(conf, d->locked_in != NULL);
	return true;
}

/* What answers beside the workers, and the log of counters, as a new configuration wants them. */
static void reopen(struct daemon *d)
{
	control_reopen(d->control);
	pages_reopen(d->pages);
	stats_log_plan(d);
}

/* If options that commands have set make it impossible, without them. Takes over `conf`. */
static struct snapshot *first_snapshot(struct daemon *d, struct conf *conf, struct fault *f)
{
	struct fault why = { 0 };
	struct snapshot *s = modules_snapshot(conf, &why);

	if (s)
		return s;
	conf_free(conf);
	if (!changes_refuse_options(&d->changes, why.text)) {
		fault_set(f, "%s", why.text);
		return NULL;
	}
	d->without_changes = true;
	conf = daemon_read(d, f);
	d->without_changes = false;
	s = conf ? modules_snapshot(conf, f) : NULL;
	if (!s)
		conf_free(conf);
	return s;
}

bool serve_open(struct daemon *d, struct conf *conf, struct fault *f)
{
	d->reopen = reopen;
	d->loop = loop_new();
	d->loader = loader_new();
	d->started_us = d->zeroed_us = loop_time(d->loop)->now_us;
	d->reloaded_s = (int64_t)time(NULL);
	d->snapshot = first_snapshot(d, conf, f);
	if (!d->snapshot)
		return false;
	if (d->changes.kept)
		d->snapshot = changes_apply(&d->changes, d->snapshot, true);
	conf = d->snapshot->conf;
	d->worker_count = conf->server.num_threads;
	d->client_sockets = mem_array(d->worker_count, sizeof *d->client_sockets);
	d->workers = mem_array(d->worker_count, sizeof *d->workers);
	if (!open_outside(d, f))
		return false;
	blocklists_start(d->snapshot->policy->lists, NULL, conf, d->loader, d->locked_in != NULL);
	if (d->changes.kept)
		changes_run(&d->changes, d->snapshot, loop_time(d->loop)->now_s);
	caches_init(&d->caches, conf);
	policy_shed(conf);
	d->leases = leases_new(d->loop);
	leases_adopt(d->leases, conf, d->snapshot->policy->zones, d->locked_in != NULL);
	d->cache_keeper = cache_keeper_new(d->loop, &d->caches);
	cache_keeper_adopt(d->cache_keeper, d->snapshot, d->locked_in != NULL);
	cache_keeper_begin(d->cache_keeper);
	d->purge = purge_new(d->loop, &d->caches, d->cache_keeper);
	d->forgetting = forgetting_new(d);
	d->dnstap = dnstap_new(d->worker_count);
	dnstap_adopt(d->dnstap, d->snapshot, d->locked_in != NULL);
	d->querypipe = querypipe_new(d->worker_count);
	querypipe_adopt(d->querypipe, conf, d->locked_in != NULL);
	return open_workers(d, f);
}

/* TLS keys and CA files may be renewed by other programs, without notice. */
static void on_look(struct timer *t)
{
	struct daemon *d = container_of(t, struct daemon, look);

	tls_conf_refresh(d->snapshot, loop_time(d->loop)->now_s);
	log_report_repeats(false);
	timer_set(d->loop, &d->look, LOOK_US);
}

/* Who configured no trust anchor may not know that there is one. */
static void tell_default_anchor(const struct conf *conf)
{
	const char *path = conf_default_anchor(conf);

	if (path)
		log_rare_of("notice", trust_anchor, LOG_FACTS(LOG_TEXT(source, path)),
			    "no trust anchor is configured: the root's built-in keys are trusted, and followed in %s (RFC 5011); "
			    "auto-trust-anchor-file: \"\" would trust none",
			    path);
}

/* Log when there are more threads than processors to run them. */
static void tell_crowd(const struct daemon *d)
{
	long processors = sysconf(_SC_NPROCESSORS_ONLN);

	if (processors > 0 && d->worker_count > (unsigned long)processors)
		log_ops("num-threads: %u threads share %ld processors", d->worker_count,
			processors);
}

bool serve_run(struct daemon *d, void (*ready)(void *arg), void *arg, struct fault *f)
{
	watch_signals(d);
	log_writer_start();
	for (unsigned i = 0; i < d->worker_count; i++)
		if (!worker_start(d->workers[i], f))
			return false;
	/* Commands and reloads must not delay answers. */
	thread_step_back();
	stats_log_plan(d);
	log_rare_of("notice", start, NULL, "start of service (%s)", PACKAGE_STRING);
	tell_default_anchor(d->snapshot->conf);
	tell_crowd(d);
	daemon_tell_state(d);
	ready(arg);
	d->watchdog = watchdog_start(d);
	d->look.fire = on_look;
	timer_set(d->loop, &d->look, LOOK_US);
	loop_run(d->loop);
	purge_finish(d->purge);
	cache_keeper_end(d->cache_keeper, true); /* while clients are still being answered */
	log_report_repeats(true);
	log_ops_of(stop, NULL, "service stopped (%s)", PACKAGE_STRING);
	return true;
}

void serve_close(struct daemon *d)
{
	stopper_join(d->stopper);
	for (unsigned i = 0; i < d->worker_count; i++)
		if (d->workers[i])
			worker_stop(d->workers[i]);
	stopper_rest(d->stopper, STOPPER_REST_MS);
	if (d->loader)
		loader_end(d->loader);
	/* Sockets of workers that were never made are still ours to close. */
	for (unsigned i = 0; i < d->worker_count; i++) {
		if (!d->workers[i])
			client_sockets_close(&d->client_sockets[i], NULL, 1);
		worker_free(d->workers[i]);
	}
	watchdog_stop(d->watchdog);
	dnstap_free(d->dnstap);
	querypipe_free(d->querypipe);
	pages_close(d->pages);
	/* A command may have been waiting for a worker; its query has been ended by now. */
	control_close(d->control);
	if (d->client_sockets)
		d->published++;
	client_sockets_forget(d->client_sockets, d->worker_count);
	purge_free(d->purge);
	forgetting_free(d->forgetting);
	cache_keeper_end(d->cache_keeper, false);
	cache_keeper_free(d->cache_keeper);
	caches_leave(&d->caches);
	rcu_flush();
	changes_clear(&d->changes);
	leases_free(d->leases);
	if (d->snapshot)
		blocklists_end(d->snapshot->policy->lists, NULL);
	if (d->snapshot)
		snapshot_unpin(d->snapshot);
	rcu_flush(); /* blocklist tables, of which the snapshot was the last holder */
	loader_free(d->loader);
	unwatch_signals(d);
	stopper_end(d->stopper);
	pidfile_remove(&d->pidfile);
	mem_free(d->client_sockets);
	mem_free(d->workers);
	mem_free(d->locked_in);
	sandbox_free(d->sandbox);
	loop_free(d->loop);
}
