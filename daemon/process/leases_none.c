/* In place of leases.c in a build without: its options are refused (util/conf/parts.def).
 * SPDX-License-Identifier: BSD-3-Clause */
#include "daemon/process/leases.h"

struct leases *leases_new(struct loop *l UNUSED)
{
	return NULL;
}

void leases_free(struct leases *l UNUSED)
{
}

void leases_adopt(struct leases *l UNUSED, const struct conf *conf UNUSED, struct localzones *zones UNUSED,
		  bool inside UNUSED)
{
}

void leases_disturb(struct leases *l UNUSED)
{
}

bool leases_exist(const struct leases *l UNUSED)
{
	return false;
}

void leases_each_file(const struct leases *l UNUSED, void (*fn)(const struct lease_status *s, void *arg) UNUSED,
		      void *arg UNUSED)
{
}

const struct hostnames *leases_names(const struct leases *l UNUSED)
{
	return NULL;
}
