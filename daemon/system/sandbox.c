/* Narrowing what the process may still do once it serves: the steps in order.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "daemon/system/sandbox.h"

#include <errno.h>
#include <string.h>

#ifdef HAVE_SYS_PRCTL_H
#include <sys/prctl.h>
#endif

#include "daemon/system/sandbox_private.h"
#include "util/base/log.h"
#include "util/base/mem.h"

#ifdef WITH_SANITIZERS

/* Sanitizers read their own maps, run a symbolizer, and look for leaks by stopping threads as a
 * debugger does. */
struct sandbox *sandbox_draw(const struct conf *conf, bool locked_in)
{
	(void)locked_in;
	if (strcmp(conf->server.sandbox, "no") != 0)
		log_detail("sandbox: disabled, this program was built with sanitizers");
	return NULL;
}

#else

/* Refuse privileges gained through set-uid programs, and memory that is written, then executed. */
static void refuse_new_rights(void)
{
#ifdef PR_SET_NO_NEW_PRIVS
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0)
		log_notice("sandbox: cannot set no_new_privs: %s", strerror(errno));
#endif
#ifndef PR_SET_MDWE
#define PR_SET_MDWE 65
#endif
#if defined(__linux__) && defined(HAVE_SYS_PRCTL_H)
	/* Since Linux 6.3; on older kernels the system call filter refuses half of this. */
	if (prctl(PR_SET_MDWE, 1, 0, 0, 0) != 0)
		log_detail("sandbox: cannot forbid memory that is writable and executable: %s", strerror(errno));
#endif
}

struct sandbox *sandbox_draw(const struct conf *conf, bool locked_in)
{
	struct sandbox *s;

	if (strcmp(conf->server.sandbox, "no") == 0)
		return NULL;
	s = mem_zero(sizeof *s);
	s->locked_in = locked_in;
	refuse_new_rights();
	sandbox_files(s, conf);
	sandbox_calls(strcmp(conf->server.sandbox, "strict") == 0);
	return s;
}

#endif

void sandbox_free(struct sandbox *s)
{
	if (!s)
		return;
	for (size_t i = 0; i < s->count; i++)
		mem_free(s->places[i].path);
	mem_free(s->places);
	mem_free(s);
}
