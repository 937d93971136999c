/* A zone that is written to its file and read again is the same zone.
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef TESTDATA_FUZZ_ZONES_H
#define TESTDATA_FUZZ_ZONES_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "services/authzone/data.h"
#include "util/base/fault.h"
#include "util/base/mem.h"
#include "util/dns/dname.h"

static char zones_folder[80], zones_path[96];

static void zones_tidy(void)
{
	unlink(zones_path);
	rmdir(zones_folder);
}

/* Memory where there is such a place: writing waits for the disk. */
static inline const char *zones_place(void)
{
	const char *base = getenv("TMPDIR");

	if (base && *base && strlen(base) < 40)
		return base;
	return access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp";
}

static inline void zones_begin(void)
{
	if (*zones_path)
		return;
	snprintf(zones_folder, sizeof(zones_folder), "%s/zones-XXXXXX", zones_place());
	PROMISE(mkdtemp(zones_folder));
	snprintf(zones_path, sizeof(zones_path), "%s/zone", zones_folder);
	atexit(zones_tidy);
}

static inline void zones_are_same_sets(const struct rrset *a, const struct rrset *b)
{
	PROMISE(a->size == b->size && a->ttl_s == b->ttl_s && a->type == b->type && a->class_ == b->class_);
	PROMISE(a->count == b->count && a->sig_count == b->sig_count && a->flags == b->flags);
	PROMISE(memcmp(a->data, b->data, a->size - offsetof(struct rrset, data)) == 0);
}

static inline void zones_are_same(const struct zonedata *a, const struct zonedata *b)
{
	PROMISE(a->count == b->count && a->records == b->records && a->hash_count == b->hash_count);
	PROMISE(!a->soa == !b->soa && a->serial == b->serial && a->has_nsec == b->has_nsec);
	for (size_t i = 0; i < a->count; i++) {
		PROMISE(dname_len(a->nodes[i].name) == dname_len(b->nodes[i].name) &&
			memcmp(a->nodes[i].name, b->nodes[i].name, dname_len(a->nodes[i].name)) == 0);
		PROMISE(a->nodes[i].count == b->nodes[i].count && a->nodes[i].hashed == b->nodes[i].hashed);
		for (uint32_t j = 0; j < a->nodes[i].count; j++)
			zones_are_same_sets(a->nodes[i].sets[j], b->nodes[i].sets[j]);
	}
}

static inline void zones_check_written(const struct zonedata *z, const uint8_t *apex, bool lenient)
{
	size_t broken = 0;
	struct zonedata_how how = { .apex = apex, .path = zones_path, .lenient = lenient, .broken = &broken };
	struct fault f = { 0 };
	struct zonedata *again;

	zones_begin();
	if (!zonedata_write(z, zones_path, &f))
		PANIC("%s", f.text);
	again = zonedata_read(&how, &f);
	if (!again)
		PANIC("%s", f.text);
	PROMISE(broken == 0);
	zones_are_same(z, again);
	zonedata_free(again);
}

#endif
