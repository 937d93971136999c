/* What every program prints for --version, and the long options they share.
 * SPDX-License-Identifier: BSD-3-Clause */
#include <getopt.h>
#include <stdio.h>

#include "util/base/program.h"

static const struct option long_options[] = {
	{ "version", no_argument, NULL, 'V' },
	{ "help", no_argument, NULL, 'h' },
	{ NULL, 0, NULL, 0 },
};
const struct option *const program_long_options = long_options;

bool program_print_version(void)
{
	printf("Version %s\n", PACKAGE_VERSION);
	return fflush(stdout) == 0;
}
