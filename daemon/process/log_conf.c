/* The log, as the configuration wants it.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "daemon/process/log_conf.h"

#include <stdatomic.h>
#include <string.h>
#include <time.h>

#include "daemon/process/daemon.h"
#include "services/query/snapshot.h"
#include "util/base/log.h"
#include "util/base/mem.h"
#include "util/conf/options.h"

/* Of logfile: and use-syslog: the later line counts; in the foreground, syslog is used only if the
 * file gives use-syslog explicitly. */
static bool uses_syslog(const struct daemon *d, const struct conf *conf)
{
	if (!conf->server.use_syslog || d->how.to_stderr)
		return false;
	return !d->how.foreground || conf_was_given(conf, "use-syslog");
}

static bool is_json(const struct conf *conf)
{
	return strcmp(conf->server.log_format, "json") == 0;
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
		.json = is_json(conf),
		.time_ascii = s->log_time_ascii,
		.time_iso = s->log_time_iso,
		.thread_id = s->log_thread_id,
	});
	mem_free(file);
	return ok;
}

void log_conf_form(const struct daemon *d, const struct conf *conf)
{
	(void)log_start(&(struct log_how){ .ident = d->how.program, .json = is_json(conf) });
}

void log_conf_start(const struct daemon *d, const struct conf *conf)
{
	(void)open_log(d, conf);
	atomic_store(&log_verbosity, (int)(conf->server.verbosity + d->how.verbose));
}

void log_conf_give(const struct daemon *d, const struct conf *conf)
{
	char *file = conf_path(conf, conf->server.logfile);

	if (*file && !uses_syslog(d, conf) && !d->how.to_stderr)
		privileges_give(&d->privileges, file);
	mem_free(file);
}

void log_conf_reopen(struct daemon *d)
{
	if (open_log(d, d->snapshot->conf))
		log_rare_of("notice", log_reopened, NULL, "log file reopened");
}
