/* Core dumps: off unless configured, since they contain keys.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "daemon/system/core_dumps.h"

#include <errno.h>
#include <string.h>
#include <sys/resource.h>

#ifdef HAVE_SYS_PRCTL_H
#include <sys/prctl.h>
#endif

#include "util/base/log.h"
#include "util/conf/options.h"

static void set_dumpable(int whether)
{
#ifdef PR_SET_DUMPABLE
	(void)prctl(PR_SET_DUMPABLE, whether, 0, 0, 0);
#else
	(void)whether;
#endif
}

/* Allow core dumps as far as the system lets us; changing the user has turned them off. */
static void permit(void)
{
	struct rlimit l;

	set_dumpable(1);
	if (getrlimit(RLIMIT_CORE, &l) != 0)
		return;
	l.rlim_cur = l.rlim_max;
	if (setrlimit(RLIMIT_CORE, &l) != 0)
		log_notice("core-dumps: cannot raise the limit: %s", strerror(errno));
}

void core_dumps_forbid(const struct conf *conf)
{
	if (conf->server.core_dumps) {
		permit();
		return;
	}
#ifndef WITH_SANITIZERS
	/* The limit covers core files only; cores piped to a program need the dumpable flag. */
	if (setrlimit(RLIMIT_CORE, &(struct rlimit){ 0, 0 }) != 0)
		log_notice("cannot disable core dumps: %s", strerror(errno));
	set_dumpable(0);
#endif
}
