/* In place of cache_keeper.c in a build without caches in files: cache-file is refused (util/conf/parts.def).
 * SPDX-License-Identifier: BSD-3-Clause */
#include "daemon/process/cache_keeper.h"

#include "util/base/fault.h"
#include "util/conf/parts.h"

struct cache_keeper *cache_keeper_new(struct loop *l UNUSED, const struct caches *caches UNUSED)
{
	return NULL;
}

void cache_keeper_adopt(struct cache_keeper *k UNUSED, const struct snapshot *s UNUSED, bool inside UNUSED)
{
}

void cache_keeper_begin(struct cache_keeper *k UNUSED)
{
}

bool cache_keeper_save(struct cache_keeper *k UNUSED, struct fault *f)
{
	fault_set(f, "%s", part_lack(PART_CACHEFILE));
	return false;
}

void cache_keeper_disturb(struct cache_keeper *k UNUSED)
{
}

void cache_keeper_end(struct cache_keeper *k UNUSED, bool serves UNUSED)
{
}

void cache_keeper_free(struct cache_keeper *k UNUSED)
{
}

struct cache_keeper_report cache_keeper_tell(struct cache_keeper *k UNUSED)
{
	return (struct cache_keeper_report){ .keeps = false };
}
