/* In place of the room in a build without: module-config cannot name it (util/conf/parts.def).
 * SPDX-License-Identifier: BSD-3-Clause */
#include "services/cachedb/cachedb.h"

const struct module cachedb_module = { .name = "" };

struct cachedb_keys *cachedb_keys_new(const struct conf *conf UNUSED)
{
	return NULL;
}

void cachedb_keys_add(struct cachedb_keys *k UNUSED, const struct question *q UNUSED)
{
}

void cachedb_remove(struct cachedb *db UNUSED, struct cachedb_keys *k UNUSED)
{
}

void cachedb_keys_free(struct cachedb_keys *k UNUSED)
{
}
