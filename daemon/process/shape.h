/* Which options shape what is cached, and so what a change of the configuration makes untrue.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * The one rule for both: what to forget when another snapshot takes the place of one, however that comes about
 * (reload, set_option, forward_add …), and what may be used of a cache file written under another configuration. */
#ifndef DAEMON_PROCESS_SHAPE_H
#define DAEMON_PROCESS_SHAPE_H

#include "services/cachefile/zones.h"

struct forget;
struct snapshot;

/* What is cached that `next` would not have cached so; NULL: all of it stays. Pins `next` as long as the result lives.
 * The main thread, which owns both. */
struct forget *shape_compare(const struct snapshot *old, struct snapshot *next, uint32_t now_s) MUST_USE;

/* For the cache file: the options that decide what is believed; those that change what is cached. */
uint64_t shape_validation(const struct snapshot *s);
uint32_t shape_mark(const struct snapshot *s);
/* And the zones that are asked for elsewhere, or held here. The caller's. */
struct keptzones shape_zones(const struct snapshot *s) MUST_USE;

#endif
