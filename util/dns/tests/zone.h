/* A zone file as record sets with their signatures, for tests.
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef UTIL_DNS_TESTS_ZONE_H
#define UTIL_DNS_TESTS_ZONE_H

#include "util/base/arena.h"
#include "util/base/fault.h"
#include "util/base/mem.h"
#include "util/dns/rr.h"
#include "util/dns/rrset.h"
#include "util/dns/text.h"
#include "util/tests/wire.h"

struct zone_sets {
	struct arena arena;
	struct text_rr rr[200];
	size_t count;
};

static inline bool zone_take(const struct text_rr *rr, void *arg)
{
	struct zone_sets *z = arg;
	struct text_rr *to = &z->rr[z->count++];

	assert_true(z->count <= COUNT(z->rr));
	*to = *rr;
	to->owner = arena_copy(&z->arena, rr->owner, dname_len(rr->owner));
	to->rdata.at = arena_copy(&z->arena, rr->rdata.at, rr->rdata.len);
	return true;
}

/* `file` is relative to the source folder. */
static inline void zone_load(struct zone_sets *z, const char *file)
{
	const char *top = getenv("srcdir");
	struct fault f = { .set = false };
	struct text_zone zone;
	char *path = mem_textf("%s/%s", top ? top : ".", file);

	z->count = 0;
	arena_init(&z->arena);
	text_zone_init(&zone);
	if (!text_zone_read(path, &zone, zone_take, z, &f))
		fail_msg("%s", f.text);
	mem_free(path);
}

static inline void zone_clear(struct zone_sets *z)
{
	arena_clear(&z->arena);
}

/* A set in the zone's arena; NULL when there is none. */
static inline struct rrset *zone_set(struct zone_sets *z, const char *owner, uint16_t type)
{
	uint8_t name[DNAME_MAX];
	struct slice records[32], sigs[32];
	struct rrset_parts parts = { .owner = name, .type = type, .class_ = CLASS_IN,
				     .records = records, .sigs = sigs };

	assert_true(dname_parse(name, owner, NULL));
	for (size_t i = 0; i < z->count; i++) {
		const struct text_rr *rr = &z->rr[i];

		if (!dname_equals(rr->owner, name))
			continue;
		if (rr->type == type) {
			records[parts.count++] = rr->rdata;
			parts.ttl_s = rr->ttl_s;
			parts.owner = rr->owner;
		} else if (rr->type == TYPE_RRSIG && get_u16(rr->rdata.at) == type) {
			sigs[parts.sig_count++] = rr->rdata;
		}
	}
	return parts.count ? rrset_build(&z->arena, &parts) : NULL;
}

#endif
