/* A fixture for tests that write a file of changes: a folder of their own, gone at the end.
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef DAEMON_PROCESS_TESTS_FIXTURE_H
#define DAEMON_PROCESS_TESTS_FIXTURE_H

#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
#include <cmocka.h>

#include "util/base/base.h"

static char folder[] = "/tmp/test-changes-XXXXXX";
static char path[64]; /* of the file */

static inline int begin(void **state)
{
	(void)state;
	assert_non_null(mkdtemp(folder));
	snprintf(path, sizeof path, "%s/changes", folder);
	(void)signal(SIGXFSZ, SIG_IGN);
	return 0;
}

static inline int end(void **state)
{
	(void)state;
	unlink(path);
	return rmdir(folder);
}

#endif
