/* A signed zone from a file, and everything to validate it by: for tests of signatures and of those who authenticate keys.
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef VALIDATOR_TESTS_ANSWER_FIXTURE_H
#define VALIDATOR_TESTS_ANSWER_FIXTURE_H

#include "util/dns/tests/zone.h"
#include "validator/verify.h"

#define NOW 1795161600u         /* 2026-11-20 08:00:00 */

#define ZONE_NAMES { "rsasha1", "rsasha1n", "rsasha256", "rsasha512", "p256", "p384", "ed25519", "ed448" }

/* A signed zone, and everything to validate it by. */
struct fixture {
	struct zone_sets zone;
	char apex[32];
	struct rules rules;
	struct keyset *keys;
	int purse;
	struct verify_how how;
	struct sig_result v;
};

static inline void fixture_open(struct fixture *c, const char *name)
{
	char path[64];

	snprintf(path, sizeof(path), "validator/tests/zones/%s.zone", name);
	snprintf(c->apex, sizeof(c->apex), "%s.test.", name);
	zone_load(&c->zone, path);
	rules_default(&c->rules);
	octets_put(&c->rules.algorithms, 5);
	octets_put(&c->rules.algorithms, 7);
	c->keys = keyset_new(zone_set(&c->zone, c->apex, TYPE_DNSKEY));
	c->purse = 32;
	c->how = (struct verify_how){
		.rules = &c->rules, .arena = &c->zone.arena, .now = NOW, .signatures = &c->purse
	};
}

static inline void fixture_close(struct fixture *c)
{
	keyset_unpin(c->keys);
	zone_clear(&c->zone);
}

static inline struct rrset *set_of(struct fixture *c, const char *prefix, uint16_t type)
{
	char owner[80];
	struct rrset *set;

	snprintf(owner, sizeof(owner), "%s%s", prefix, c->apex);
	set = zone_set(&c->zone, owner, type);
	assert_non_null(set);
	return set;
}

static inline uint8_t *first_sig(struct rrset *set)
{
	struct rrset_walk w = rrset_sigs(set);
	struct slice rd = { NULL, 0 };

	assert_true(rrset_next(&w, &rd));
	return (uint8_t *)rd.at;
}

#endif
