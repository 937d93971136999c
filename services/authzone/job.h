/* Work on a whole zone, off the workers' threads: assemble it, fetch it from a URL, write its file.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * A job runs on the loader's thread and is posted back to the loop that started it; without a
 * loader (replay) it is done at once. */
#ifndef SERVICES_AUTHZONE_JOB_H
#define SERVICES_AUTHZONE_JOB_H

#include "services/background/fetch.h"
#include "services/background/loader.h"
#include "util/base/fault.h"

struct authzone;
struct authzones;
struct env;
struct forget;
struct zonebuild;
struct zonedata;

enum zonejob_kind { ZONEJOB_FINISH, ZONEJOB_FETCH, ZONEJOB_SAVE };

struct zonejob { /* zeroed before first use; not to be touched from zonejob_start to `done` */
	enum zonejob_kind kind;
	const struct authzones *zones; /* this and `z` outlive it */
	const struct authzone *z;
	void (*done)(struct zonejob *job);
	/* ZONEJOB_FINISH: taken over; `differs`: it has changes to serial `base` */
	struct zonebuild *build;
	bool differs;
	uint32_t base, goal;
	/* ZONEJOB_FETCH */
	const char *url, *authorities, *nat64[2];
	struct fetch_mark mark;
	/* ZONEJOB_SAVE: retired in the end; NULL: none */
	struct zonedata *former;
	struct forget *outdated; /* what was cached of it, the caller's; or NULL, as without env->forget */
	/* the result */
	struct zonedata *got; /* ready to be published, the caller's; or NULL */
	bool same;            /* unchanged */
	struct fault why;     /* set: it failed */
	/* private */
	struct loader_task work;
	struct env *env;
};

void zonejob_start(struct zonejob *job, struct env *env);
/* Free what it was given and what it brought, of one whose `done` did not come and never will. */
void zonejob_clear(struct zonejob *job);

#endif
