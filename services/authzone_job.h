/* Work on a whole zone, away from the workers: put it together, fetch it from a url, write its file.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * A job runs on the loader's thread and comes back through the post box of who began it; where there
 * is no loader (played scenarios) it is done at once. */
#ifndef SERVICES_AUTHZONE_JOB_H
#define SERVICES_AUTHZONE_JOB_H

#include "services/fetch.h"
#include "services/loader.h"
#include "util/fault.h"

struct authzone;
struct authzones;
struct env;
struct zonebuild;
struct zonedata;

enum zonejob_kind { ZONEJOB_SETTLE, ZONEJOB_FETCH, ZONEJOB_SAVE };

struct zonejob { /* zeroed before the first time; from zonejob_start to `done` it is not touched */
	enum zonejob_kind kind;
	const struct authzones *zones; /* both outlive it */
	const struct authzone *z;
	void (*done)(struct zonejob *job);
	/* ZONEJOB_SETTLE: taken over; `differs`: changes to what has the serial `base` */
	struct zonebuild *build;
	bool differs;
	uint32_t base, goal;
	/* ZONEJOB_FETCH */
	const char *url, *authorities;
	struct fetch_mark mark;
	/* what came of it */
	struct zonedata *got; /* ready to be published, the caller's; or NULL */
	bool same;            /* it is as it was */
	struct fault why;     /* set: it failed */
	/* its own */
	struct loader_task work;
	struct env *env;
};

void zonejob_start(struct zonejob *job, struct env *env);

#endif
