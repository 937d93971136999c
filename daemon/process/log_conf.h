/* The log, as the configuration wants it: where it goes, and how much there is.
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef DAEMON_PROCESS_LOG_CONF_H
#define DAEMON_PROCESS_LOG_CONF_H

struct conf;
struct daemon;

/* Before it is opened: what goes to standard error until then has its form already. */
void log_conf_form(const struct daemon *d, const struct conf *conf);
void log_conf_start(const struct daemon *d, const struct conf *conf);
/* The log file belongs to the user that the daemon becomes. */
void log_conf_give(const struct daemon *d, const struct conf *conf);
/* Again, after somebody has renamed the file. */
void log_conf_reopen(struct daemon *d);

#endif
