/* Zones that are fetched from their primaries: SOA probes, AXFR and IXFR over TCP or TLS, NOTIFY, and
 * the timers of the SOA record (RFC 1034 4.3.5, 1995, 1996, 5936).
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * One worker does it for all (env->leads). Others only poke it. */
#ifndef SERVICES_AUTHZONE_XFER_H
#define SERVICES_AUTHZONE_XFER_H

#include "util/base.h"

struct authzone;
struct authzones;
struct env;
struct fault;
struct xfers;

/* `env` outlives it; mesh and upstream need not be there yet. */
struct xfers *xfers_new(struct env *env) MUST_USE;
void xfers_free(struct xfers *x); /* NULL is fine; mesh and upstream still stand */
/* env->snapshot is another one; what goes on for zones that are the same there is begun anew. */
void xfers_renew(struct xfers *x);

/* From any thread: see soon whether the zone has changed at its primaries. */
void xfers_poke(const struct authzone *z);
/* Its file was read again: see whether its signatures hold, and set its times anew. */
void xfers_check(const struct authzone *z);

#endif
