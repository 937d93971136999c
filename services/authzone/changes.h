/* Which names a zone held here tells differently than before, and what is cached of them.
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef SERVICES_AUTHZONE_CHANGES_H
#define SERVICES_AUTHZONE_CHANGES_H

#include "util/base/base.h"

struct authzone;
struct forget;
struct zonedata;

/* Put into `f` what answers from `old` may contradict `next`: a name whose records differ; with what is below it, where
 * it comes or goes, or what it says of names below (a delegation that comes or goes, a DNAME, a wildcard's parent).
 * DNSSEC's own records do not count: they were valid when they were cached. Within a turn. */
void authzone_changes(const struct zonedata *old, const struct zonedata *next, struct forget *f);

/* What was cached of the zone while `former` was its content; NULL: nothing to forget, as when nothing is asked of it
 * (for-upstream) or nothing was there. Within a turn. */
struct forget *authzone_outdated(const struct authzone *z, const struct zonedata *former) MUST_USE;

#endif
