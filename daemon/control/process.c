/* Commands about the process: stop, reload, status, the log.
 * SPDX-License-Identifier: BSD-3-Clause */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "daemon/control/call_json.h"
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

static void say_modules(struct call *c, const struct conf *conf)
{
	const char *at = NULL, *name;
	unsigned count = 0;

	while (conf_module_next(conf, &at))
		count++;
	call_say(c, "modules: %u [", count);
	for (at = NULL; (name = conf_module_next(conf, &at));)
		call_say(c, " %s", name);
	call_say(c, " ]\n");
}

/* Words with a blank before each. */
static void put_words(struct json *j, const char *name, const char *words)
{
	json_open(j, name, '[');
	for (words += strspn(words, " "); *words; words += strspn(words, " ")) {
		size_t len = strcspn(words, " ");

		json_textn(j, NULL, words, len);
		words += len;
	}
	json_close(j, ']');
}

static void put_status(struct json *j, const struct daemon *d, const char *options, uint64_t uptime_s)
{
	const char *at = NULL, *name;

	json_text(j, "version", PACKAGE_VERSION);
	json_signed(j, "verbosity", atomic_load(&log_verbosity));
	json_number(j, "threads", d->worker_count);
	json_open(j, "modules", '[');
	while ((name = conf_module_next(d->snapshot->conf, &at)))
		json_text(j, NULL, name);
	json_close(j, ']');
	json_number(j, "uptime", uptime_s);
	put_words(j, "options", options);
	json_text(j, "program", d->how.program);
	json_signed(j, "pid", getpid());
}

void control_status(struct call *c, struct worker *w)
{
	const struct daemon *d = c->daemon;
	bool reuseport = d->snapshot->conf->server.so_reuseport;
	uint64_t uptime_s = (loop_time(d->loop)->now_us - d->started_us) / US_PER_S;
	struct json *j = call_object(c);
	char options[64];

	(void)w;
	snprintf(options, sizeof options, "%s%s", reuseport ? " reuseport" : "", control_kind(d->control));
	if (j) {
		put_status(j, d, options, uptime_s);
		return;
	}
	call_say(c, "version: %s\n", PACKAGE_VERSION);
	call_say(c, "verbosity: %d\n", atomic_load(&log_verbosity));
	call_say(c, "threads: %u\n", d->worker_count);
	say_modules(c, d->snapshot->conf);
	call_say(c, "uptime: %" PRIu64 " seconds\n", uptime_s);
	call_say(c, "options:%s\n", options);
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
