/* Names of this installation and its folders, chosen by configure (--enable-unbound-names).
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef UTIL_BASE_PROGRAM_H
#define UTIL_BASE_PROGRAM_H

#include <stdbool.h>
#include <string.h>

#include "util/base/base.h"

#ifndef PRODUCT_NAME
#define PRODUCT_NAME  "resolver"  /* of its folders; prefix of companion programs and keys */
#define DAEMON_NAME "resolverd" /* of the daemon and its pid file */
#define DAEMON_USER "resolver"  /* user the daemon runs as */
#endif
#ifndef SYSCONFDIR
#define SYSCONFDIR "/etc"
#define STATE_DIR  "/var/lib/" PRODUCT_NAME
#define RUN_DIR    "/run"
#define CONF_FILE  SYSCONFDIR "/" PRODUCT_NAME "/" PRODUCT_NAME ".conf"
#define ROOT_KEY   SYSCONFDIR "/" PRODUCT_NAME "/root.key"
#endif

/* The program's name as invoked, without folder, for usage and error messages; else `usual`. */
static inline const char *program_name(char *const *argv, const char *usual)
{
	const char *slash = argv[0] ? strrchr(argv[0], '/') : NULL;

	return slash ? slash + 1 : argv[0] ? argv[0] : usual;
}

/* For getopt_long() in programs with no other long options: --version is -V, --help is -h. */
struct option; /* of getopt.h */
extern const struct option *const program_long_options;

/* Print one line for people and scripts; false when it could not be written. */
bool program_print_version(void);

#endif
