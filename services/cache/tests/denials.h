/* A negative cache, what it is taught, and what it is asked: for tests of it.
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef SERVICES_CACHE_TESTS_DENIALS_H
#define SERVICES_CACHE_TESTS_DENIALS_H

#include "services/cache/aggressive.h"
#include "services/cache/rrset.h"
#include "services/cache/verified_private.h"
#include "services/tests/conf.h"
#include "services/tests/made.h"
#include "util/base/mem.h"
#include "util/base/timebase.h"
#include "util/dns/tests/zone.h"
#include "util/tests/turn.h"

#define NOW 1000

/* A signature of so many labels by a zone; its arithmetic is for others. */
#define SIG(type, labels, ttl, zone)                                                          \
	" " ttl " RRSIG " type " 13 " labels " " ttl " 20300101000000 20200101000000 1 " zone \
	" AA==\n"

#define SOA_D                                                           \
	"d.test. 300 SOA ns.d.test. h.d.test. 1 7200 3600 604800 200\n" \
	"d.test." SIG("SOA", "2", "300", "d.test.")

#define BELOW(name, next) \
	name " 300 NSEC " next " A RRSIG NSEC\n" name SIG("NSEC", "3", "300", "d.test.")

static struct arena arena;
static struct conf *conf;
static struct zone_sets zones[3];
enum { NSEC, NSEC3, OPTOUT };
static const char *const zone_files[] = { "util/dns/tests/zones/nsec.zone",
					  "util/dns/tests/zones/nsec3.zone",
					  "util/dns/tests/zones/optout.zone" };

/* As if the set's RRSIG number `nth` had been verified. */
static inline const struct verified *verified_by(const struct rrset *set, unsigned nth)
{
	unsigned owner = dname_labels(rrset_owner(set)) - dname_is_wildcard(rrset_owner(set));
	struct rrset_walk w = rrset_sigs(set);
	struct verified v = { .set = set, .ttl_s = UINT32_MAX / 2 };
	struct slice rd = { .at = NULL };

	for (unsigned i = 0; i <= nth; i++)
		assert_true(rrset_next(&w, &rd));
	v.zone = rd.at + 18;
	v.labels = rd.at[3];
	v.expanded = v.labels < owner;
	return verified_new(&arena, &v);
}

static inline const struct verified *secure(const char *text)
{
	return verified_by(made_set(&arena, NOW, text), 0);
}

static inline void learn(struct aggressive *c, const struct rrset *const *sets, unsigned count)
{
	const struct verified **verified = arena_array(&arena, const struct verified *, count + 1);

	for (unsigned i = 0; i < count; i++)
		verified[i] = verified_by(sets[i], 0);
	aggressive_learn(c, verified, count, conf, NOW, &arena);
}

/* Teach what stands in `text`, all of it verified; with flags that its SOA has. */
static inline void teach_flagged(struct aggressive *c, const char *text, uint8_t soa_flags)
{
	const struct rrset *sets[MADE_SETS];
	unsigned count = made_sets(&arena, NOW, text, sets);

	for (unsigned i = 0; i < count; i++) {
		struct rrset *s = (struct rrset *)(uintptr_t)sets[i];

		if (s->type == TYPE_SOA)
			s->flags |= soa_flags;
	}
	learn(c, sets, count);
}

static inline void teach(struct aggressive *c, const char *text)
{
	teach_flagged(c, text, 0);
}

/* A set of a zone file with a signature it might have had. */
static inline const struct rrset *signed_set(const struct text_rr *rr, unsigned most_labels)
{
	static const char zone[] = "\1d\4test";
	unsigned labels = dname_labels(rr->owner) - dname_is_wildcard(rr->owner);
	uint8_t sig[18 + sizeof(zone) + 1] = { 0 };
	struct slice s = { sig, sizeof(sig) };
	struct rrset_parts p = { .owner = rr->owner,
				 .type = rr->type,
				 .class_ = CLASS_IN,
				 .records = &rr->rdata,
				 .count = 1,
				 .sigs = &s,
				 .sig_count = 1,
				 .ttl_s = rr->ttl_s,
				 .expires_s = NOW + rr->ttl_s };

	put_u16(sig, rr->type);
	sig[3] = (uint8_t)MIN(labels, most_labels);
	memcpy(sig + 18, zone, sizeof(zone));
	return rrset_build(&arena, &p);
}

/* All of a zone, with its SOA. */
static inline void teach_zone(struct aggressive *c, int zone)
{
	const struct zone_sets *z = &zones[zone];
	const struct rrset **sets = arena_array(&arena, const struct rrset *, z->count + 1);
	unsigned count = 0;

	for (size_t i = 0; i < z->count; i++)
		if (z->rr[i].type == TYPE_NSEC || z->rr[i].type == TYPE_NSEC3)
			sets[count++] = signed_set(&z->rr[i], LABELS_MAX);
	sets[count++] = made_set(&arena, NOW, SOA_D);
	learn(c, sets, count);
}

static inline struct message *answer_within(struct aggressive *c, struct rrsetcache *rrsets,
				     const char *name, uint16_t type, const char *within,
				     uint32_t now_s)
{
	struct question q = made_question(name, type);

	return aggressive_answer(c, &(struct aggressive_ask){ .q = &q,
							  .within = N(within),
							  .rrsets = rrsets,
							  .arena = &arena,
							  .now_s = now_s });
}

static inline int begin(void **state)
{
	arena_init(&arena);
	return in_a_turn(state);
}

static inline int end(void **state)
{
	after_a_turn(state);
	arena_clear(&arena);
	return 0;
}

static inline int load(void **state)
{
	(void)state;
	for (int i = NSEC; i <= OPTOUT; i++)
		zone_load(&zones[i], zone_files[i]);
	conf = conf_from("");
	return 0;
}

static inline int unload(void **state)
{
	(void)state;
	for (int i = NSEC; i <= OPTOUT; i++)
		zone_clear(&zones[i]);
	conf_free(conf);
	return 0;
}

#undef CLAIM
#define CLAIM(name) cmocka_unit_test_setup_teardown(name, begin, end)

#endif
