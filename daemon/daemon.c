/* The process as a whole: configuration, caches, workers, sockets; start, reload, stop.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "daemon/daemon.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <sys/stat.h>
#include <unistd.h>

#include "daemon/control.h"
#include "daemon/control_stats.h"
#include "daemon/cores.h"
#include "daemon/doors.h"
#include "daemon/files.h"
#include "daemon/forgetting.h"
#include "daemon/handed.h"
#include "daemon/keeper.h"
#include "daemon/leases.h"
#include "daemon/modules.h"
#include "daemon/notify.h"
#include "daemon/pages.h"
#include "daemon/pulse.h"
#include "daemon/purge.h"
#include "daemon/reread.h"
#include "daemon/sandbox.h"
#include "daemon/stopper.h"
#include "daemon/worker.h"
#include "services/authzone.h"
#include "services/discovery.h"
#include "services/dnstap.h"
#include "services/fetch.h"
#include "services/forward.h"
#include "services/loader.h"
#include "services/policy.h"
#include "services/snapshot.h"
#include "services/tls_conf.h"
#include "util/fault.h"
#include "util/log.h"
#include "util/mem.h"
#include "util/options.h"
#include "util/rcu.h"
#include "util/thread.h"

#define LOOK_US (5 * US_PER_S) /* interval between checks of files that may change */

/* Options that a reload cannot change: the old value stays in force until a restart. */
static const char *const fixed_options[] = {
	"num-threads",       "username",      "chroot",          "directory",
	"pidfile",           "module-config", "msg-cache-slabs", "rrset-cache-slabs",
	"infra-cache-slabs", "key-cache-slabs", "so-rcvbuf",     "so-sndbuf",
	"so-reuseport",
	"ip-transparent",    "ip-freebind",   "ip-dscp",         "tcp-mss",
	"sandbox",           "sandbox-path",  "core-dumps",
	"ratelimit-size",    "ratelimit-slabs", "ip-ratelimit-size", "ip-ratelimit-slabs",
	"name-v4",           "name-v6",
};

/* Options that local zones are made with: set_option leaves those that there are. */
static const char *const zone_options[] = { "local-data-ptr", "local-zone-tag", "local-zone-override",
					    "unblock-lan-zones" };

/* Options whose change requires reopening the log. */
static const char *const log_options[] = {
	"verbosity",      "logfile",      "use-syslog",    "log-identity",
	"log-time-ascii", "log-time-iso", "log-thread-id",
};

/* ---- reading ---- */

static void log_remarks(const struct conf_report *report)
{
	static const char *const kinds[] = {
		[CONF_ERROR] = "error",
		[CONF_WARNING] = "warning",
		[CONF_NOTICE] = "notice",
	};

	for (size_t i = 0; i < report->count; i++) {
		const struct conf_remark *r = &report->remarks[i];

		if (*r->file && r->line)
			log_line(kinds[r->weight], "%s:%u: %s", r->file, r->line, r->text);
		else if (*r->file)
			log_line(kinds[r->weight], "%s: %s", r->file, r->text);
		else
			log_line(kinds[r->weight], "%s", r->text);
	}
}

/* The configuration file's path as seen from inside the chroot, if we are in one. */
static const char *visible_path(const struct daemon *d)
{
	size_t len = d->locked_in ? strlen(d->locked_in) : 0;

	if (len && strncmp(d->how.conf_path, d->locked_in, len) == 0 &&
	    d->how.conf_path[len] == '/')
		return d->how.conf_path + len;
	return d->how.conf_path;
}

static void overrule(const struct daemon *d, struct conf *conf)
{
	if (d->how.foreground)
		conf->server.do_daemonize = false;
	if (d->how.no_pidfile)
		*conf->server.pidfile = '\0';
}

struct conf *daemon_read(const struct daemon *d, struct fault *f)
{
	struct conf_how how = { .chroot = d->locked_in, .packs = true, .serves = true };
	struct conf_report report = { 0 };
	struct conf *conf = conf_new();
	bool ok = conf_load_file(conf, visible_path(d), &how, &report);

	ok = conf_check(conf, &how, &report) && ok;
	/* Only at startup: firewalls reload for every lease. */
	if (ok && !d->snapshot && (int)conf->server.verbosity + d->how.verbose >= LOG_OPS)
		conf_dangers(conf, &how, &report);
	log_remarks(&report);
	if (ok) {
		overrule(d, conf);
	} else {
		conf_report_fault(&report, f);
		fault_set(f, "%s cannot be used", d->how.conf_path);
		conf_free(conf);
		conf = NULL;
	}
	conf_report_clear(&report);
	return conf;
}

/* ---- the log ---- */

/* Of logfile: and use-syslog: the later line counts; in the foreground, syslog is used only if the
 * file gives use-syslog explicitly. */
static bool uses_syslog(const struct daemon *d, const struct conf *conf)
{
	if (!conf->server.use_syslog || d->how.to_stderr)
		return false;
	return !d->how.foreground || conf_was_given(conf, "use-syslog");
}

static bool open_log(const struct daemon *d, const struct conf *conf)
{
	const struct conf_server *s = &conf->server;
	char *file =
		d->locked_in ? conf_path_inside(conf, s->logfile) : conf_path(conf, s->logfile);
	bool ok;

	if (!d->locked_in)
		tzset(); /* a chroot hides the file of the time zone: then it is UTC */
	ok = log_start(&(struct log_how){
		.ident = *s->log_identity ? s->log_identity : d->how.program,
		.file = d->how.to_stderr ? NULL : file,
		.syslog = uses_syslog(d, conf),
		.time_ascii = s->log_time_ascii,
		.time_iso = s->log_time_iso,
		.thread_id = s->log_thread_id,
	});
	mem_free(file);
	return ok;
}

static void start_log(const struct daemon *d, const struct conf *conf)
{
	(void)open_log(d, conf);
	atomic_store(&log_verbosity, (int)(conf->server.verbosity + d->how.verbose));
}

static void give_log(const struct daemon *d, const struct conf *conf)
{
	char *file = conf_path(conf, conf->server.logfile);

	if (*file && !uses_syslog(d, conf) && !d->how.to_stderr)
		privileges_give(&d->privileges, file);
	mem_free(file);
}

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

void daemon_log_reopen(struct daemon *d)
{
	if (open_log(d, d->snapshot->conf))
		log_notice("the log was opened again");
}

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
		daemon_log_reopen(d);
		break;
	default:
		daemon_stop(d);
		log_ops("signal %d: stopping", watch->number);
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

void daemon_hold_signals(void)
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

static bool open_workers(struct daemon *d, struct fault *f)
{
	struct worker_how how = { .snapshot = d->snapshot,
				  .caches = &d->caches,
				  .loader = d->loader,
				  .dnstap = d->dnstap };

	for (how.number = 0; how.number < d->worker_count; how.number++) {
		struct worker *w = worker_new(&how, f);

		if (!w)
			return false;
		d->workers[how.number] = w;
		w->env.purge = purge_all;
		w->env.forget = purge_some;
		w->env.purge_arg = d->purge;
		worker_serve(w, d->doors[how.number].items, d->doors[how.number].count);
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
	files_raise(conf);
	hold_signals(SIG_BLOCK, SIGNALS); /* the pid file must not stay behind */
	if (!privileges_find(&d->privileges, conf, f) ||
	    !doors_open(d->doors, NULL, d->worker_count, conf, f) ||
	    !(d->control = control_open(d, f)) || !(d->pages = pages_open(d, f)) ||
	    !pidfile_write(&d->pidfile, conf, &d->privileges, f))
		return false;
	start_log(d, conf);
	handed_report(conf->server.use_systemd);
	give_log(d, conf);
	give_lists(d, conf);
	if (!reread_warn(&d->privileges, conf, f) || !privileges_drop(&d->privileges, conf, f))
		return false;
	if (*conf->server.chroot)
		d->locked_in = mem_text(conf->server.chroot);
	cores_forbid(conf);
	d->sandbox = sandbox_draw(conf, d->locked_in != NULL);
	return true;
}

static void adopt_leases(struct daemon *d, const struct snapshot *s)
{
	leases_adopt(d->leases, s->conf, s->policy->zones, d->locked_in != NULL);
}

bool daemon_open(struct daemon *d, struct conf *conf, struct fault *f)
{
	d->loop = loop_new();
	d->loader = loader_new();
	d->started_us = d->zeroed_us = loop_time(d->loop)->now_us;
	d->reloaded_s = (int64_t)time(NULL);
	d->snapshot = modules_snapshot(conf, f);
	if (!d->snapshot) {
		conf_free(conf);
		return false;
	}
	d->worker_count = conf->server.num_threads;
	d->doors = mem_array(d->worker_count, sizeof *d->doors);
	d->workers = mem_array(d->worker_count, sizeof *d->workers);
	if (!open_outside(d, f))
		return false;
	blocklists_start(d->snapshot->policy->lists, NULL, conf, d->loader, d->locked_in != NULL);
	caches_init(&d->caches, conf);
	policy_shed(conf);
	d->leases = leases_new(d->loop);
	adopt_leases(d, d->snapshot);
	d->keeper = keeper_new(d->loop, &d->caches);
	keeper_adopt(d->keeper, d->snapshot, d->locked_in != NULL);
	keeper_begin(d->keeper);
	d->purge = purge_new(d->loop, &d->caches, d->keeper);
	d->forgetting = forgetting_new(d);
	d->dnstap = dnstap_new(d->worker_count);
	dnstap_adopt(d->dnstap, d->snapshot, d->locked_in != NULL);
	return open_workers(d, f);
}

/* TLS keys and CA files may be renewed by other programs, without notice. */
static void on_look(struct timer *t)
{
	struct daemon *d = container_of(t, struct daemon, look);

	tls_conf_refresh(d->snapshot, loop_time(d->loop)->now_s);
	log_settle(false);
	timer_set(d->loop, &d->look, LOOK_US);
}

/* Report our state to the service manager. */
static void tell_state(const struct daemon *d)
{
	notify_status("serving at %zu sockets with %u threads",
		      d->worker_count ? d->doors[0].count : 0, d->worker_count);
}

/* Log when there are more threads than processors to run them. */
static void tell_crowd(const struct daemon *d)
{
	long processors = sysconf(_SC_NPROCESSORS_ONLN);

	if (processors > 0 && d->worker_count > (unsigned long)processors)
		log_ops("num-threads: %u threads share %ld processors", d->worker_count,
			processors);
}

bool daemon_run(struct daemon *d, void (*ready)(void *arg), void *arg, struct fault *f)
{
	watch_signals(d);
	log_writer_start();
	for (unsigned i = 0; i < d->worker_count; i++)
		if (!worker_start(d->workers[i], f))
			return false;
	/* Commands and reloads must not delay answers. */
	thread_step_back();
	stats_log_plan(d);
	log_notice("start of service (%s)", PACKAGE_STRING);
	tell_crowd(d);
	tell_state(d);
	ready(arg);
	d->pulse = pulse_start(d);
	d->look.fire = on_look;
	timer_set(d->loop, &d->look, LOOK_US);
	loop_run(d->loop);
	purge_settle(d->purge);
	keeper_end(d->keeper, true); /* while clients are still being answered */
	log_settle(true);
	log_ops("service stopped (%s)", PACKAGE_STRING);
	return true;
}

void daemon_stop(struct daemon *d)
{
	if (!d->stopper)
		d->stopper = stopper_start(d);
	notify_stopping();
	loop_stop(d->loop);
}

void daemon_close(struct daemon *d)
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
			doors_close(&d->doors[i], NULL, 1);
		worker_free(d->workers[i]);
	}
	pulse_stop(d->pulse);
	dnstap_free(d->dnstap);
	pages_close(d->pages);
	/* A command may have been waiting for a worker; its query has been ended by now. */
	control_close(d->control);
	if (d->doors)
		d->published++;
	doors_forget(d->doors, d->worker_count);
	purge_free(d->purge);
	forgetting_free(d->forgetting);
	keeper_end(d->keeper, false);
	keeper_free(d->keeper);
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
	mem_free(d->doors);
	mem_free(d->workers);
	mem_free(d->locked_in);
	sandbox_free(d->sandbox);
	loop_free(d->loop);
}

/* ---- changing ---- */

struct adoption {
	struct worker *worker;
	struct snapshot *snapshot;
	struct doors doors;
	bool has_doors;
};

static void adopt(void *arg)
{
	struct adoption *a = arg;

	if (a->snapshot) {
		worker_adopt(a->worker, a->snapshot);
		snapshot_unpin(a->snapshot);
	}
	if (a->has_doors)
		worker_serve(a->worker, a->doors.items, a->doors.count);
	mem_free(a->doors.items);
	mem_free(a);
}

void daemon_publish(struct daemon *d, struct snapshot *s)
{
	struct snapshot *old = d->snapshot;

	if (s->zones != old->zones)
		authzones_inherit(s->zones, old->zones, false);
	if (s->policy != old->policy) {
		blocklists_start(s->policy->lists, old->policy->lists, s->conf, d->loader,
				 d->locked_in != NULL);
		blocklists_end(old->policy->lists, s->policy->lists);
	}
	dnstap_adopt(d->dnstap, s, d->locked_in != NULL);
	s->renews = s->policy != old->policy;
	forgetting_begin(d->forgetting, old, s);
	d->snapshot = s;
	d->published++;
	for (unsigned i = 0; i < d->worker_count; i++) {
		struct adoption *a = mem_zero(sizeof *a);

		a->worker = d->workers[i];
		a->snapshot = snapshot_pin(s);
		loop_post(a->worker->env.loop, adopt, a);
	}
	forgetting_go_on(d->forgetting);
	snapshot_unpin(old);
}

/* Hand each worker its `new` sockets; workers close those they no longer serve. Takes ownership of
 * `new`, which replaces d->doors. */
static void publish_doors(struct daemon *d, struct doors *new)
{
	doors_part(d->doors, new, d->worker_count);
	for (unsigned i = 0; i < d->worker_count; i++) {
		struct adoption *a = mem_zero(sizeof *a);
		size_t bytes = new[i].count * sizeof *new[i].items;

		a->worker = d->workers[i];
		a->has_doors = true;
		a->doors.count = new[i].count;
		a->doors.items = bytes ? mem_copy(new[i].items, bytes) : NULL;
		loop_post(a->worker->env.loop, adopt, a);
	}
	doors_forget(d->doors, d->worker_count);
	mem_free(d->doors);
	d->doors = new;
}

/* ---- reload ---- */

static bool is_among(const char *name, const char *const *list, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (strcmp(name, list[i]) == 0)
			return true;
	return false;
}

struct comparing {
	const struct reload *reload;
	bool log; /* an option in log_options differs */
	char names[512], fixed[512], waiting[80]; /* for the log; truncated if there are too many */
};

static void add_name(char *list, size_t room, const char *name)
{
	size_t len = strlen(list);

	snprintf(list + len, room - len, "%s%s", len ? " " : "", name);
}

static void on_difference(void *arg, const char *name)
{
	struct comparing *c = arg;
	bool fixed = is_among(name, fixed_options, COUNT(fixed_options));

	c->log |= is_among(name, log_options, COUNT(log_options));
	if (fixed)
		add_name(c->fixed, sizeof c->fixed, name);
	else if (c->reload->keeps_changes && is_among(name, zone_options, COUNT(zone_options)))
		add_name(c->waiting, sizeof c->waiting, name);
	else
		add_name(c->names, sizeof c->names, name);
	if (c->reload->changed)
		c->reload->changed(c->reload->arg, name, fixed);
}

/* Report and log the differences. False if the reload must be refused. */
static bool compare(struct comparing *c, const struct conf *old, const struct conf *new, struct fault *f)
{
	conf_compare(old, new, on_difference, c);
	if (*c->fixed && c->reload->at_once) {
		fault_set(f, "these options take effect at the next start: %s", c->fixed);
		return false;
	}
	if (*c->waiting) {
		fault_set(f, "these options take effect when the file is read again: %s", c->waiting);
		return false;
	}
	if (*c->names)
		log_notice("the new configuration has other values for: %s", c->names);
	if (*c->fixed)
		log_warn("changes that take effect at the next start: %s", c->fixed);
	return true;
}

/* Carry over the zones, records, forwarders and stubs that were added at run time, and what became of
 * the zones held here. */
static struct snapshot *keep_changes(struct daemon *d, struct conf *conf, struct snapshot *s, struct fault *f)
{
	policy_inherit(s->policy, d->snapshot->policy, conf);
	authzones_inherit(s->zones, d->snapshot->zones, true);
	discovery_renew(s->policy->zones, conf, s->tls_server);
	s = changes_apply(&d->changes, s, f);
	if (!s)
		PANIC("a zone that could be changed cannot be changed again: %s", f->text);
	return s;
}

/* Microseconds since *then_us (monotonic), which is advanced to now. */
static uint64_t since(uint64_t *then_us)
{
	struct timebase t = { 0 };
	uint64_t took;

	timebase_read(&t);
	took = t.now_us - *then_us;
	*then_us = t.now_us;
	return took;
}

/* Put `conf` into force; on success it is owned by the new snapshot. On failure nothing has
 * changed, and the caller still owns `conf`. */
static bool swap_in(struct daemon *d, struct conf *conf, struct reload *r, uint64_t *clock,
		    struct fault *f)
{
	struct doors *doors = mem_array(d->worker_count, sizeof *doors);
	struct comparing comparing = { .reload = r };
	struct fault why = { 0 };
	struct snapshot *s;

	if (!sandbox_admits(d->sandbox, conf, f)) {
		mem_free(doors);
		return false;
	}
	files_raise(conf);
	if (!doors_open(doors, d->doors, d->worker_count, conf, &why)) {
		fault_set(f, "%s (a new start may do it)", why.text);
		mem_free(doors);
		return false;
	}
	s = compare(&comparing, d->snapshot->conf, conf, f) ? modules_snapshot(conf, f) : NULL;
	if (!s) {
		doors_close(doors, d->doors, d->worker_count);
		mem_free(doors);
		return false;
	}
	snapshot_inherit(s, d->snapshot);
	r->construct_us = since(clock);
	if (r->keeps_changes)
		s = keep_changes(d, conf, s, f);
	else
		changes_clear(&d->changes);
	policy_shed(conf);
	caches_resize(&d->caches, d->snapshot->conf, conf);
	r->shed_us = since(clock);
	if (comparing.log || !r->keeps_changes)
		start_log(d, conf);
	adopt_leases(d, s);
	keeper_adopt(d->keeper, s, d->locked_in != NULL);
	daemon_publish(d, s);
	publish_doors(d, doors);
	control_reopen(d->control);
	pages_reopen(d->pages);
	stats_log_plan(d);
	r->swap_us = since(clock);
	return true;
}

static void tell_reloaded(void *daemon)
{
	const struct daemon *d = daemon;

	log_notice("reloaded %s", d->how.conf_path);
	tell_state(d);
	notify_ready();
}

bool daemon_reload(struct daemon *d, struct reload *r, struct fault *f)
{
	uint64_t clock = 0;
	struct conf *conf;
	bool ok;

	notify_reloading();
	(void)since(&clock);
	conf = daemon_read(d, f);
	r->read_us = since(&clock);
	ok = conf && swap_in(d, conf, r, &clock, f);
	if (conf && !ok)
		conf_free(conf);
	d->reload_failed = !ok;
	d->reloaded_s = (int64_t)time(NULL);
	if (!ok) {
		log_error("not reloaded, going on as before: %s", f->text);
		notify_status("not reloaded, going on as before: %s", f->text);
		notify_ready();
	} else if (!forgetting_after(d->forgetting, tell_reloaded, d)) {
		tell_reloaded(d);
	}
	return ok;
}

bool daemon_reconfigure(struct daemon *d, struct conf *conf, struct fault *f)
{
	struct reload r = { .at_once = true, .keeps_changes = true };
	uint64_t clock = 0;

	return swap_in(d, conf, &r, &clock, f);
}

bool daemon_change_forward(struct daemon *d, const struct forward_change *change, struct fault *f)
{
	struct snapshot *s = change_apply(change, d->snapshot, f);

	if (!s)
		return false;
	changes_note(&d->changes, change);
	daemon_publish(d, s);
	return true;
}
