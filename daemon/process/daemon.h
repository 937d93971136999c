/* The process as a whole: configuration, caches, workers, sockets; reload. daemon/serve.h opens and closes it.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * Everything here belongs to the main thread, whose loop handles signals and the control channel.
 * Workers are reached only by posts, so nothing slow here delays an answer. */
#ifndef DAEMON_PROCESS_DAEMON_H
#define DAEMON_PROCESS_DAEMON_H

#include "daemon/process/changes.h"
#include "daemon/system/pidfile.h"
#include "daemon/system/privileges.h"
#include "daemon/worker/caches.h"
#include "util/base/loop.h"

struct conf;
struct control;
struct dnstap;
struct querypipe;
struct client_sockets;
struct fault;
struct forgetting;
struct forward_change;
struct pages;
struct watchdog;
struct loader;
struct cache_keeper;
struct leases;
struct purge;
struct sandbox;
struct snapshot;
struct stopper;
struct worker;

/* From the command line. */
struct daemon_how {
	const char *program;   /* name, for the log and `status` */
	const char *conf_path; /* absolute */
	unsigned verbose;      /* number of -v */
	bool foreground;       /* -d */
	bool to_stderr;        /* -dd: log there, whatever the file says */
	bool no_pidfile;       /* -p */
};

enum { SIGNALS = 5 };

struct daemon_signal {
	struct signal_watch watch;
	struct daemon *daemon;
};

struct daemon {
	struct daemon_how how;
	struct loop *loop;
	struct snapshot *snapshot; /* the current one */
	struct caches caches;
	struct loader *loader; /* thread for slow work */
	struct dnstap *dnstap;
	struct querypipe *querypipe;
	struct worker **workers;
	struct client_sockets *client_sockets; /* per worker, which owns the descriptors */
	uint64_t published;  /* how often workers were given a snapshot or client_sockets */
	unsigned worker_count;
	struct control *control;
	struct pages *pages;
	struct watchdog *watchdog; /* NULL: no watchdog */
	struct stopper *stopper; /* while it stops */
	struct privileges privileges;
	char *locked_in; /* the chroot entered, or NULL */
	struct sandbox *sandbox; /* NULL: there is none */
	struct pidfile pidfile;
	struct changes changes; /* since the last reload, or kept */
	bool without_changes;   /* those of options make a configuration that cannot be used */
	struct leases *leases; /* lease and hosts files */
	struct cache_keeper *cache_keeper; /* cache-file */
	struct purge *purge;   /* empties the caches */
	struct forgetting *forgetting; /* of what the configuration no longer allows */
	struct timer stats_timer;
	uint64_t stats_every_s; /* what it was set to */
	struct daemon_signal signals[SIGNALS];
	struct timer look; /* checks whether files in use have changed */
	uint64_t started_us; /* monotonic */
	uint64_t zeroed_us;  /* when the counters were last zeroed */
	int64_t reloaded_s;  /* wall clock of the last reload, or of the start */
	bool reload_failed;
	/* After a reload: what is not the workers' follows the new configuration. */
	void (*reopen)(struct daemon *d);
};

/* Read and check the configuration file, and put on top of it what commands have changed, if that is kept; every remark is
 * logged. NULL on error, with the first one in `f`. */
struct conf *daemon_read(struct daemon *d, struct fault *f) MUST_USE;

/* From here on the process ends in time, even if a worker stands still (daemon/process/stopper.h). */
void daemon_stop(struct daemon *d);

/* How to reload, and what came of it; begins zeroed. */
struct reload {
	bool at_once; /* refuse a configuration that needs a restart */
	bool keeps_changes; /* keep what commands have changed at run time */
	/* Called for each changed option; `waits`: effective after a restart. May be NULL. */
	void (*changed)(void *arg, const char *option, bool waits);
	void *arg;
	/* duration of each part: reading, building, handing over, shrinking caches */
	uint64_t read_us, construct_us, swap_us, shed_us;
};

/* Read the configuration again and swap it in, keeping caches and queries in flight. On failure
 * everything stays as it was, and the log says why. Also logs what has changed, and which changes
 * need a restart. */
bool daemon_reload(struct daemon *d, struct reload *r, struct fault *f);

/* Give every worker the snapshot `s`; takes over the caller's pin. */
void daemon_publish(struct daemon *d, struct snapshot *s);

/* Switch to `conf` (taken over on success), for set_option. Fails if that needs a restart. */
bool daemon_reconfigure(struct daemon *d, struct conf *conf, struct fault *f) MUST_USE;

/* Before a command is acted on: it is in the file of changes, if they are kept. False, with a sentence: it may not be acted
 * on. */
bool daemon_keep(struct daemon *d, const char *command, struct fault *f) MUST_USE;

/* Add or remove a forward or stub zone, until the next reload, unless changes are kept. */
bool daemon_change_forward(struct daemon *d, const struct forward_change *change,
			   struct fault *f) MUST_USE;

/* Report our state to the service manager. */
void daemon_tell_state(const struct daemon *d);

#endif
