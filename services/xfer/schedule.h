/* Zones transferred from their primaries: SOA probes, AXFR and IXFR over TCP or TLS, NOTIFY, and
 * the timers of the SOA record (RFC 1034 4.3.5, 1995, 1996, 5936).
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * One worker does it for all (env->leads). Others only poke it. */
#ifndef SERVICES_XFER_SCHEDULE_H
#define SERVICES_XFER_SCHEDULE_H

#include "util/base/base.h"

struct authzone;
struct authzones;
struct env;
struct fault;
struct xfers;

/* `env` must outlive it; its mesh and upstream need not exist yet. */
struct xfers *xfers_new(struct env *env) MUST_USE;
void xfers_free(struct xfers *x); /* NULL is fine; while mesh and upstream still exist */
/* env->snapshot has changed; work in progress for zones that remain is restarted, unless the zones are
 * the same ones (forwards_changed). */
void xfers_renew(struct xfers *x);

/* From any thread: check soon whether the zone has changed at its primaries. */
void xfers_poke(const struct authzone *z);
/* The same for a NOTIFY: at once, but after four rounds only once a second. Whoever forges the address of a primary
 * could have it asked, and the zone transferred, hundreds of times a second (RFC 1996 3.11, 4.9). */
void xfers_notified(const struct authzone *z);
/* Its file was read again: validate its signatures and restart its timers. */
void xfers_check(const struct authzone *z);

#endif
