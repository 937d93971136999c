/* Claims about which RRsets of a response the RRset cache gets.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "services/cache/msg.h"
#include "services/cache/rrset.h"
#include "services/mesh/cache_rules.h"
#include "services/query/env.h"
#include "services/query/query.h"
#include "services/query/snapshot.h"
#include "services/tests/conf.h"
#include "services/tests/made.h"
#include "util/base/fault.h"
#include "util/tests/turn.h"

#define NOW 1000

static struct world {
	struct snapshot *snapshot;
	struct env env;
	struct query q;
	struct arena arena;
} world;

static void begin(const char *conf)
{
	struct fault f = { 0 };

	world = (struct world){ .snapshot = snapshot_new(conf_from(conf), &f) };
	if (!world.snapshot)
		fail_msg("%s", f.text);
	arena_init(&world.arena);
	world.env.messages = msgcache_new(1 << 20, 1);
	world.env.rrsets = rrsetcache_new(1 << 20, 1);
	world.q = (struct query){ .env = &world.env, .snapshot = world.snapshot };
	world.q.cache.rrsets = world.env.rrsets;
}

static void end(void)
{
	rrsetcache_free(world.env.rrsets);
	msgcache_free(world.env.messages);
	arena_clear(&world.arena);
	snapshot_unpin(world.snapshot);
}

static struct rrset *offer(const char *text, enum trust trust, enum security security, const struct question *asked)
{
	struct rrset *set = (struct rrset *)(uintptr_t)made_set(&world.arena, NOW, text);

	set->trust = (uint8_t)trust;
	set->security = (uint8_t)security;
	(void)store_set(&world.q, asked, set, NOW, &world.arena);
	return set;
}

static const struct rrset *found(const struct rrset *set, uint32_t now_s)
{
	return rrsetcache_find(world.env.rrsets, rrset_owner(set), set->type, set->class_, 0, now_s);
}

/* What a client asked for is in the message cache; besides that, sets are kept that resolving or validating other names looks
 * up, and what is not the answer itself. */
static void an_answer_is_kept_once(void **state)
{
	(void)state;
	static const struct {
		const char *text;
		uint16_t type;
		enum trust trust;
		bool want;
	} rows[] = {
		{ "www.example. 300 A 192.0.2.1", TYPE_A, TRUST_ANS_AA, false },
		{ "www.example. 300 TXT a", TYPE_TXT, TRUST_ANS_AA, false },
		{ "www.example. 300 A 192.0.2.1", TYPE_A, TRUST_ANS_NOAA, true },
		{ "www.example. 300 A 192.0.2.1", TYPE_AAAA, TRUST_ANS_AA, true },
		{ "www2.example. 300 A 192.0.2.1", TYPE_A, TRUST_ANS_AA, true },
		{ "www.example. 300 NS ns.example.", TYPE_NS, TRUST_ANS_AA, true },
		{ "www.example. 300 CNAME a.example.", TYPE_CNAME, TRUST_ANS_AA, true },
		{ "www.example. 300 DNAME a.example.", TYPE_DNAME, TRUST_ANS_AA, true },
		{ "www.example. 300 SOA a. b. 1 2 3 4 5", TYPE_SOA, TRUST_ANS_AA, true },
		{ "www.example. 300 DS 1 8 2 00", TYPE_DS, TRUST_ANS_AA, true },
		{ "www.example. 300 NSEC z.example. A", TYPE_NSEC, TRUST_ANS_AA, true },
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		struct question asked = made_question("www.example.", rows[i].type);

		begin("");
		if (!!found(offer(rows[i].text, rows[i].trust, SECURITY_UNCHECKED, &asked), NOW) != rows[i].want)
			fail_msg("%s", rows[i].text);
		end();
		begin("");
		assert_non_null(found(offer(rows[i].text, rows[i].trust, SECURITY_UNCHECKED, NULL), NOW)); /* for nobody in particular */
		end();
	}
}

/* Glue does not hide an address that its zone has given (RFC 2181 5.4.1), where that was the zone's own word. */
static void glue_does_not_hide_an_answer(void **state)
{
	(void)state;
	static const struct {
		const char *why, *conf;
		uint8_t rcode;
		enum trust trust;
		uint32_t later_s;
		uint8_t want; /* the last byte of the address that is kept */
	} rows[] = {
		{ "glue", "", 0, TRUST_ADD_NOAA, 0, 7 },
		{ "the zone's word", "", 0, TRUST_ANS_AA, 0, 66 },
		{ "the answer has expired", "", 0, TRUST_ADD_NOAA, 400, 66 },
		{ "it was a failure", "", RCODE_SERVFAIL, TRUST_ADD_NOAA, 0, 66 },
		{ "it was a forwarder's", "forward-zone:\n name: example\n forward-addr: 192.0.2.53", 0, TRUST_ADD_NOAA, 0, 66 },
		{ "it was a stub's", "stub-zone:\n name: example\n stub-addr: 192.0.2.53", 0, TRUST_ADD_NOAA, 0, 7 },
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		struct made answer = { "ns.example.", TYPE_A, rows[i].rcode, { rows[i].rcode ? NULL : "ns.example. 300 A 192.0.2.7" } };
		uint32_t now_s = NOW + rows[i].later_s;
		const struct rrset *kept;
		struct rrset *glue;

		begin(rows[i].conf);
		msgcache_store(world.env.messages, made_message(&world.arena, NOW, &answer),
			       &(struct msg_keep){ .now_s = NOW, .ttl_s = 300 });
		glue = (struct rrset *)(uintptr_t)made_set(&world.arena, now_s, "ns.example. 600 A 192.0.2.66");
		glue->trust = (uint8_t)rows[i].trust;
		(void)store_set(&world.q, NULL, glue, now_s, &world.arena);
		kept = found(glue, now_s);
		if (!kept || rrset_record(kept, 0).at[3] != rows[i].want)
			fail_msg("%s", rows[i].why);
		end();
	}
	begin("");
	msgcache_store(world.env.messages, made_message(&world.arena, NOW, &(struct made){ "ns.example.", TYPE_AAAA, 0, { "ns.example. 300 AAAA 2001:db8::7" } }),
		       &(struct msg_keep){ .now_s = NOW, .ttl_s = 300 });
	assert_int_equal(rrset_record(found(offer("ns.example. 600 AAAA 2001:db8::66", TRUST_ADD_NOAA, SECURITY_UNCHECKED, NULL), NOW), 0).at[15], 7);
	end();
	/* nor is any other record brought */
	begin("");
	msgcache_store(world.env.messages, made_message(&world.arena, NOW, &(struct made){ "ns.example.", TYPE_TXT, 0, { "ns.example. 300 TXT a" } }),
		       &(struct msg_keep){ .now_s = NOW, .ttl_s = 300 });
	assert_int_equal(rrset_record(found(offer("ns.example. 300 TXT b", TRUST_ADD_NOAA, SECURITY_UNCHECKED, NULL), NOW), 0).at[1], 'b');
	end();
}

/* A proven DNAME of TTL 0 is there for a second, an unproven one for none. */
static void a_dname_of_the_moment_is_kept_briefly(void **state)
{
	(void)state;
	for (unsigned secure = 0; secure < 2; secure++) {
		struct rrset *set;

		begin("");
		set = offer("d.example. 0 DNAME e.example.", TRUST_ANS_AA, secure ? SECURITY_SECURE : SECURITY_UNCHECKED, NULL);
		assert_int_equal(found(set, NOW) != NULL, secure);
		assert_null(found(set, NOW + 5));
		assert_int_equal(set->ttl_s, 0);
		end();
	}
}

/* Of other types nothing is. */
static void an_address_of_the_moment_is_not_kept(void **state)
{
	(void)state;
	begin("");
	assert_null(found(offer("a.example. 0 A 192.0.2.1", TRUST_ANS_AA, SECURITY_SECURE, NULL), NOW));
	assert_non_null(found(offer("b.example. 1 A 192.0.2.1", TRUST_ANS_AA, SECURITY_SECURE, NULL), NOW));
	end();
}

/* RFC 7871: an alias that was told without a client's subnet may be another with it. */
static void an_alias_without_its_subnet_is_not_kept(void **state)
{
	(void)state;
	static const char *const texts[] = { "www.example. 300 CNAME a.example.", "www.example. 300 DNAME a.example.",
					     "www.example. 300 A 192.0.2.1" };

	for (size_t i = 0; i < 2 * COUNT(texts); i++) {
		begin("");
		world.q.ecs.need = i % 2 ? ECS_OMITTED : ECS_UNUSED;
		assert_int_equal(found(offer(texts[i / 2], TRUST_ANS_AA, SECURITY_UNCHECKED, NULL), NOW) != NULL, i % 2 == 0 || i / 2 == 2);
		end();
	}
}

int main(void)
{
	const struct CMUnitTest claims[] = {
		CLAIM(an_answer_is_kept_once),
		CLAIM(glue_does_not_hide_an_answer),
		CLAIM(a_dname_of_the_moment_is_kept_briefly),
		CLAIM(an_address_of_the_moment_is_not_kept),
		CLAIM(an_alias_without_its_subnet_is_not_kept),
	};

	return RUN_CLAIMS(claims, NULL, NULL);
}
