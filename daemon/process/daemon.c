/* The daemon while it runs: reading its configuration, publishing and swapping in another one.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "daemon/process/daemon.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

#include "daemon/process/cache_keeper.h"
#include "daemon/process/client_sockets.h"
#include "daemon/process/forget.h"
#include "daemon/process/leases.h"
#include "daemon/process/log_conf.h"
#include "daemon/process/stopper.h"
#include "daemon/system/fd_limits.h"
#include "daemon/system/sandbox.h"
#include "daemon/system/sd_notify.h"
#include "daemon/worker/modules.h"
#include "daemon/worker/worker.h"
#include "services/authzone/zones.h"
#include "services/config/discovery.h"
#include "services/dnstap/dnstap.h"
#include "services/history/querypipe.h"
#include "services/forward/forward.h"
#include "services/policy/policy.h"
#include "services/query/snapshot.h"
#include "util/base/fault.h"
#include "util/base/log.h"
#include "util/base/mem.h"
#include "util/conf/options.h"

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

/* What commands have changed, on top of what the files say. The first time it is read from its own file. */
static void put_changes(struct daemon *d, struct conf *conf, const struct conf_how *how)
{
	const char *file = conf->remote_control.changes_file;
	char *path;

	if (!d->snapshot && !d->without_changes && conf->remote_control.keep_changes && *file) {
		path = conf_path(conf, file);
		changes_open(&d->changes, path);
		mem_free(path);
	}
	if (d->changes.kept && !d->without_changes)
		changes_configure(&d->changes, conf, how);
}

struct conf *daemon_read(struct daemon *d, struct fault *f)
{
	struct conf_how how = { .chroot = d->locked_in, .packs = true, .serves = true };
	struct conf_report report = { 0 };
	struct conf *conf = conf_new();
	bool ok = conf_load_file(conf, visible_path(d), &how, &report);

	ok = conf_check(conf, &how, &report) && ok;
	/* Only at startup: firewalls reload for every lease. */
	if (ok && !d->snapshot && (int)conf->server.verbosity + d->how.verbose >= LOG_OPS)
		conf_warnings(conf, &how, &report);
	log_remarks(&report);
	if (ok) {
		put_changes(d, conf, &how);
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

/* ---- changing ---- */

struct adoption {
	struct worker *worker;
	struct snapshot *snapshot;
	struct client_sockets client_sockets;
	bool has_client_sockets;
};

static void adopt(void *arg)
{
	struct adoption *a = arg;

	if (a->snapshot) {
		worker_adopt(a->worker, a->snapshot);
		snapshot_unpin(a->snapshot);
	}
	if (a->has_client_sockets)
		worker_serve(a->worker, a->client_sockets.items, a->client_sockets.count);
	mem_free(a->client_sockets.items);
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
	querypipe_adopt(d->querypipe, s->conf, d->locked_in != NULL);
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
 * `new`, which replaces d->client_sockets. */
static void publish_client_sockets(struct daemon *d, struct client_sockets *new)
{
	client_sockets_part(d->client_sockets, new, d->worker_count);
	for (unsigned i = 0; i < d->worker_count; i++) {
		struct adoption *a = mem_zero(sizeof *a);
		size_t bytes = new[i].count * sizeof *new[i].items;

		a->worker = d->workers[i];
		a->has_client_sockets = true;
		a->client_sockets.count = new[i].count;
		a->client_sockets.items = bytes ? mem_copy(new[i].items, bytes) : NULL;
		loop_post(a->worker->env.loop, adopt, a);
	}
	client_sockets_forget(d->client_sockets, d->worker_count);
	mem_free(d->client_sockets);
	d->client_sockets = new;
}

/* ---- reload ---- */

struct comparing {
	const struct reload *reload;
	bool log; /* the log has to be opened anew */
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
	enum conf_acts acts = conf_option_acts(name);

	c->log |= acts == CONF_WITH_LOG;
	if (acts == CONF_AT_START)
		add_name(c->fixed, sizeof c->fixed, name);
	else if (c->reload->keeps_changes && acts == CONF_WITH_ZONES)
		add_name(c->waiting, sizeof c->waiting, name);
	else
		add_name(c->names, sizeof c->names, name);
	if (c->reload->changed)
		c->reload->changed(c->reload->arg, name, acts == CONF_AT_START);
}

/* What only a start can change is refused for that reason, whatever else is wrong with it. */
static bool may_act_at_once(const struct reload *r, const struct conf *old, const struct conf *new, struct fault *f)
{
	struct comparing c = { .reload = r };

	conf_compare(old, new, on_difference, &c);
	if (*c.fixed)
		fault_set(f, "these options take effect at the next start: %s", c.fixed);
	return !*c.fixed;
}

/* Report and log the differences. False if the reload must be refused. */
static bool compare(struct comparing *c, const struct conf *old, const struct conf *new, struct fault *f)
{
	conf_compare(old, new, on_difference, c);
	if (*c->waiting) {
		fault_set(f, "these options take effect when the file is read again: %s", c->waiting);
		return false;
	}
	if (*c->names)
		log_rare_of("notice", reload, LOG_FACTS(LOG_TEXT(options, c->names)), "configuration changed: %s", c->names);
	if (*c->fixed)
		log_rare_of("warning", reload, LOG_FACTS(LOG_TEXT(options, c->fixed)),
			    "changes that need a restart: %s", c->fixed);
	return true;
}

/* Carry over the zones, records, forwarders and stubs that were added at run time, and what became of
 * the zones held here. */
static struct snapshot *keep_changes(struct daemon *d, struct conf *conf, struct snapshot *s)
{
	policy_inherit(s->policy, d->snapshot->policy, conf);
	authzones_inherit(s->zones, d->snapshot->zones, true);
	discovery_renew(s->policy->zones, conf, s->tls_server);
	return changes_apply(&d->changes, s, false);
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
	struct client_sockets *client_sockets = mem_array(d->worker_count, sizeof *client_sockets);
	struct comparing comparing = { .reload = r };
	struct fault why = { 0 };
	struct snapshot *s;

	if ((r->at_once && !may_act_at_once(r, d->snapshot->conf, conf, f)) || !sandbox_admits(d->sandbox, conf, f)) {
		mem_free(client_sockets);
		return false;
	}
	fd_limits_raise(conf);
	if (!client_sockets_open(client_sockets, d->client_sockets, d->worker_count, conf, &why)) {
		fault_set(f, "%s (a new start may do it)", why.text);
		mem_free(client_sockets);
		return false;
	}
	s = compare(&comparing, d->snapshot->conf, conf, f) ? modules_snapshot(conf, f) : NULL;
	if (!s) {
		client_sockets_close(client_sockets, d->client_sockets, d->worker_count);
		mem_free(client_sockets);
		return false;
	}
	snapshot_inherit(s, d->snapshot);
	r->construct_us = since(clock);
	if (r->keeps_changes)
		s = keep_changes(d, conf, s);
	else if (d->changes.kept)
		s = changes_apply(&d->changes, s, true);
	else
		changes_clear(&d->changes);
	policy_shed(conf);
	caches_resize(&d->caches, d->snapshot->conf, conf);
	r->shed_us = since(clock);
	if (comparing.log || !r->keeps_changes)
		log_conf_start(d, conf);
	leases_adopt(d->leases, s->conf, s->policy->zones, d->locked_in != NULL);
	cache_keeper_adopt(d->cache_keeper, s, d->locked_in != NULL);
	daemon_publish(d, s);
	publish_client_sockets(d, client_sockets);
	d->reopen(d);
	r->swap_us = since(clock);
	return true;
}

void daemon_tell_state(const struct daemon *d)
{
	sd_notify_status("serving at %zu sockets with %u threads",
		      d->worker_count ? d->client_sockets[0].count : 0, d->worker_count);
}

static void tell_reloaded(void *daemon)
{
	const struct daemon *d = daemon;

	log_rare_of("notice", reload, LOG_FACTS(LOG_TEXT(source, d->how.conf_path)), "reloaded %s", d->how.conf_path);
	daemon_tell_state(d);
	sd_notify_ready();
}

bool daemon_reload(struct daemon *d, struct reload *r, struct fault *f)
{
	uint64_t clock = 0;
	struct conf *conf;
	bool ok;

	sd_notify_reloading();
	(void)since(&clock);
	conf = daemon_read(d, f);
	r->read_us = since(&clock);
	ok = conf && swap_in(d, conf, r, &clock, f);
	if (conf && !ok)
		conf_free(conf);
	d->reload_failed = !ok;
	d->reloaded_s = (int64_t)time(NULL);
	if (!ok) {
		log_rare_of("error", reload, LOG_FACTS(LOG_TEXT(source, d->how.conf_path), LOG_TEXT(reason, f->text)),
			    "reload failed, old configuration stays in use: %s", f->text);
		sd_notify_status("reload failed, old configuration stays in use: %s", f->text);
		sd_notify_ready();
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
	struct forwards *forwards = forwards_changed(d->snapshot->forwards, change, f);
	char *text;
	bool kept;

	if (!forwards)
		return false;
	text = change_forward_print(change);
	kept = daemon_keep(d, text, f);
	mem_free(text);
	if (kept)
		daemon_publish(d, snapshot_with_forwards(d->snapshot, forwards));
	else
		forwards_free(forwards);
	return kept;
}

bool daemon_keep(struct daemon *d, const char *command, struct fault *f)
{
	return changes_keep(&d->changes, d->snapshot, &command, 1, f);
}

/* ---- stopping ---- */

void daemon_stop(struct daemon *d)
{
	if (!d->stopper)
		d->stopper = stopper_start(d);
	sd_notify_stopping();
	loop_stop(d->loop);
}
