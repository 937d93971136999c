/* The process as a whole: configuration, caches, workers, sockets; start, reload, stop.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * Everything here belongs to the main thread, whose loop handles signals and the control channel.
 * Workers are reached by posts alone, so nothing that takes long here delays an answer. */
#ifndef DAEMON_DAEMON_H
#define DAEMON_DAEMON_H

#include "daemon/caches.h"
#include "daemon/changes.h"
#include "daemon/pidfile.h"
#include "daemon/privileges.h"
#include "util/loop.h"

struct conf;
struct control;
struct dnstap;
struct doors;
struct fault;
struct forward_change;
struct pages;
struct pulse;
struct loader;
struct keeper;
struct leases;
struct sandbox;
struct snapshot;
struct worker;

/* As the command line says. */
struct daemon_how {
	const char *program;   /* its name, for the log and status */
	const char *conf_path; /* absolute */
	unsigned verbose;      /* counts -v */
	bool foreground;       /* -d */
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
	struct snapshot *snapshot; /* the newest */
	struct caches caches;
	struct loader *loader; /* slow work */
	struct dnstap *dnstap;
	struct worker **workers;
	struct doors *doors; /* of each worker, which owns the descriptors */
	uint64_t published;  /* how often workers were handed a snapshot or doors */
	unsigned worker_count;
	struct control *control;
	struct pages *pages;
	struct pulse *pulse; /* NULL: no watchdog */
	struct privileges privileges;
	char *locked_in; /* the chroot we are in, or NULL */
	struct sandbox *sandbox; /* NULL: there is none */
	struct pidfile pidfile;
	struct changes changes; /* since the last reload */
	struct leases *leases; /* names of hosts */
	struct keeper *keeper; /* of the caches, over a restart */
	struct timer stats_timer;
	struct daemon_signal signals[SIGNALS];
	struct timer look; /* whether files that are in use have changed */
	uint64_t started_us; /* monotonic */
	uint64_t zeroed_us;  /* when the counters began */
	int64_t reloaded_s;  /* wall clock of the last reload, or of the start */
	bool reload_failed;
};

/* Read and check the file; every remark goes to the log. NULL when there was an error, and the
 * first of them is in `f`. */
struct conf *daemon_read(const struct daemon *d, struct fault *f) MUST_USE;

/* Open sockets and control channel, write the pid file, become who we shall be, make the workers.
 * Takes over `conf`, whatever comes of it. The process must not fork after this. */
bool daemon_open(struct daemon *d, struct conf *conf, struct fault *f) MUST_USE;
/* Serve until daemon_stop. `ready` is called once, when every thread serves. */
bool daemon_run(struct daemon *d, void (*ready)(void *arg), void *arg, struct fault *f) MUST_USE;
void daemon_stop(struct daemon *d);
void daemon_close(struct daemon *d); /* works from any point */

/* How a reload is to go, and what it tells; begins zeroed. */
struct reload {
	bool at_once; /* refuse a configuration of which a part must wait for the next start */
	bool keeps_changes; /* what commands have put there at run time stays */
	/* Each option that is another now; `waits`: it takes effect at the next start. May be NULL. */
	void (*changed)(void *arg, const char *option, bool waits);
	void *arg;
	/* how long the parts took: reading, making, handing over, dropping what is too much now */
	uint64_t read_us, construct_us, swap_us, shed_us;
};

/* Read the configuration again and swap it in, caches and queries in flight kept. On failure
 * everything stays as it was, and the log says why; it says, too, what has changed, and what of
 * that only a new start can change. */
bool daemon_reload(struct daemon *d, struct reload *r, struct fault *f);

/* Let every worker go on under `s`; takes over the caller's pin. */
void daemon_publish(struct daemon *d, struct snapshot *s);

/* Work under the present configuration but with `conf` (taken over on success): set_option. What takes
 * effect at the next start only is refused. */
bool daemon_reconfigure(struct daemon *d, struct conf *conf, struct fault *f) MUST_USE;

/* Put in or take out a forward or stub zone, until the next reload. */
bool daemon_change_forward(struct daemon *d, const struct forward_change *change,
			   struct fault *f) MUST_USE;

void daemon_log_reopen(struct daemon *d);

#endif
