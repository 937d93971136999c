/* In place of subnet_index.c in a build without client subnets: there never is one.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "services/cache/subnet_index.h"

struct subnet_index *subnet_index_new(size_t budget UNUSED, unsigned slabs UNUSED)
{
	return NULL;
}

void subnet_index_free(struct subnet_index *p UNUSED)
{
}

struct slab *subnet_index_slab(struct subnet_index *p UNUSED)
{
	return NULL;
}

bool subnet_index_find(struct subnet_index *p UNUSED, const struct question *q UNUSED, uint8_t scope UNUSED,
		       const struct netblock *who UNUSED, uint32_t now_s UNUSED, struct subnet_key *found UNUSED)
{
	return false;
}

bool subnet_index_exist(struct subnet_index *p UNUSED, const struct question *q UNUSED, uint8_t scope UNUSED,
			uint32_t now_s UNUSED)
{
	return false;
}

void subnet_index_add(struct subnet_index *p UNUSED, const struct question *q UNUSED, const struct subnet_key *at UNUSED,
		      const struct subnet_index_how *how UNUSED)
{
}

void subnet_index_forget(struct subnet_index *p UNUSED, struct msgcache *messages UNUSED, const struct question *q UNUSED)
{
}

void subnet_index_forget_under(struct subnet_index *p UNUSED, const uint8_t *top UNUSED)
{
}
