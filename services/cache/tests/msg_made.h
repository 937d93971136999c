/* Answers of a few kinds, and keeping and finding them, for tests of the message cache.
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef SERVICES_CACHE_TESTS_MSG_MADE_H
#define SERVICES_CACHE_TESTS_MSG_MADE_H

#include "services/cache/msg.h"

#include "services/cache/subnet_index.h"
#include "services/tests/made.h"
#include "util/base/mem.h"
#include "util/tests/turn.h"

#define NOW 1000

#define SIG(owner, type) \
	owner " 300 IN RRSIG " type " 13 2 300 20300101000000 20200101000000 1 example. AAAA\n"

static const struct made plain_a UNUSED = {
	"www.Example.com.",
	TYPE_A,
	RCODE_NOERROR,
	{ "www.example.com. 300 A 192.0.2.1\nwww.example.com. 300 A 192.0.2.2\n"
	  "www.example.com. 300 A 192.0.2.3\n" },
};

static const struct made signed_a UNUSED = {
	"s.example.",
	TYPE_A,
	RCODE_NOERROR,
	{ "s.example. 300 A 192.0.2.1\ns.example. 300 A 192.0.2.2\n" SIG("s.example.", "A"),
	  "a.example. 200 NSEC z.example. A\n" SIG("a.example.", "NSEC") },
};

static inline const struct stored *look(struct msgcache *c, const char *name, uint16_t type,
				 uint16_t scope, bool full)
{
	struct question q = made_question(name, type);

	return msgcache_find(c, &q, msgcache_hash(&q), scope, full);
}

static inline void keep(struct msgcache *c, const struct made *made, uint32_t now_s, uint32_t ttl_s)
{
	struct arena a;

	arena_init(&a);
	msgcache_store(c, made_message(&a, now_s, made),
		       &(struct msg_keep){ .now_s = now_s, .ttl_s = ttl_s });
	arena_clear(&a);
}

#endif
