/* Claims about what is told of the cache to who does not ask for recursion and may look into it.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "daemon/worker/snoop.h"

#include "services/access/acl.h"
#include "services/cache/rrset.h"
#include "services/net/client.h"
#include "services/policy/policy.h"
#include "services/query/env.h"
#include "services/query/snapshot.h"
#include "services/tests/conf.h"
#include "services/tests/made.h"
#include "util/base/fault.h"
#include "util/base/loop.h"
#include "util/tests/turn.h"

static const struct client_ops no_ops = { .name = "test" };

static struct world {
	struct loop *loop;
	struct snapshot *snapshot;
	struct env env;
	struct arena arena;
	uint32_t now_s;
} world;

static void begin(void)
{
	struct fault f = { 0 };

	world = (struct world){ .loop = loop_new_played(), .snapshot = snapshot_new(conf_from("server:"), &f) };
	if (!world.snapshot)
		fail_msg("%s", f.text);
	arena_init(&world.arena);
	world.env = (struct env){ .time = loop_time(world.loop), .snapshot = world.snapshot, .rrsets = rrsetcache_new(1 << 20, 1) };
	world.now_s = world.env.time->now_s;
}

static void end(void)
{
	rrsetcache_free(world.env.rrsets);
	arena_clear(&world.arena);
	snapshot_unpin(world.snapshot);
	loop_free(world.loop);
}

static void know_as(const char *text, uint8_t flags, enum security security)
{
	const struct rrset *sets[MADE_SETS];
	unsigned count = made_sets(&world.arena, world.now_s, text, sets);

	for (unsigned i = 0; i < count; i++) {
		((struct rrset *)(uintptr_t)sets[i])->flags |= flags;
		((struct rrset *)(uintptr_t)sets[i])->security = (uint8_t)security;
		((struct rrset *)(uintptr_t)sets[i])->trust = TRUST_ANS_AA;
		(void)rrsetcache_put(world.env.rrsets, sets[i], world.now_s, &world.arena);
	}
}

static void know(const char *text, uint8_t flags)
{
	know_as(text, flags, SECURITY_UNCHECKED);
}

/* The zone that is referred to, and how many addresses of its servers come along; or NULL. */
static const char *look(const char *name, uint16_t class_, unsigned *addresses)
{
	static char zone[DNAME_TEXT];
	static const struct answer_style style = { .udp_size = 4096, .max_udp = 4096 };
	struct client client = { .ops = &no_ops };
	struct request r = { .q = made_question(name, TYPE_A), .edns = { .present = true, .udp_size = 4096 } };
	struct answer_to to = { .style = &style, .request = &r, .now_s = world.now_s };
	struct policy_client who = { .client = &client };
	uint8_t room[4096];
	struct writer out = writer_over(room, sizeof(room));
	struct message m;

	assert_true(addr_parse(&client.from, "127.0.0.1", 1234, NULL));
	who.rule = acl_get(world.snapshot->acl, &client.from, NULL);
	r.q.class_ = class_;
	if (!snoop_referral(&world.env, &who, &to, &out))
		return NULL;
	assert_true(msg_parse(room, writer_len(&out), &world.arena, world.now_s, &m));
	assert_int_equal(m.rcode, RCODE_NOERROR);
	assert_int_equal(m.count[SECTION_ANSWER], 0);
	assert_int_equal(m.count[SECTION_AUTHORITY], 1);
	*addresses = m.count[SECTION_ADDITIONAL];
	return dname_print(rrset_owner(m.sets[0]), zone);
}

/* The closest zone of which servers are known, by its own word or its parent's. */
static void a_referral_is_to_the_closest_zone(void **state)
{
	(void)state;
	static const struct {
		const char *name, *want;
		uint16_t class_;
	} rows[] = {
		{ "www.example.", "example.", CLASS_IN },     { "example.", "example.", CLASS_IN },
		{ "a.sub.example.", "sub.example.", CLASS_IN }, { "www.test.", ".", CLASS_IN }, { "www.example.", NULL, CLASS_CH },
	};
	unsigned addresses;

	begin();
	assert_null(look("www.example.", CLASS_IN, &addresses));
	know("example. 300 NS ns.example.\n. 300 NS ns.root.", 0);
	know("sub.example. 300 NS ns.sub.example.", RRSET_PARENT_SIDE);
	for (size_t i = 0; i < COUNT(rows); i++) {
		const char *got = look(rows[i].name, rows[i].class_, &addresses);

		if (!got != !rows[i].want || (got && strcmp(got, rows[i].want) != 0))
			fail_msg("%s: %s", rows[i].name, got ? got : "nothing");
	}
	end();
}

/* The addresses of thirteen servers come along, of whatever families, and of no more. */
static void so_many_servers_addresses_come_along(void **state)
{
	(void)state;
	for (unsigned servers = 12; servers <= 20; servers++) {
		char text[4000] = "", line[80];
		unsigned addresses;

		begin();
		for (unsigned i = 0; i < servers; i++) {
			snprintf(line, sizeof(line), "example. 300 NS n%02u.example.\n", i);
			strcat(text, line);
		}
		know(text, 0);
		for (unsigned i = 0; i < servers; i++) {
			snprintf(line, sizeof(line), "n%02u.example. 300 A 192.0.2.%u", i, i + 1);
			know(line, 0);
			snprintf(line, sizeof(line), "n%02u.example. 300 AAAA 2001:db8::%u", i, i + 1);
			know(line, 0);
		}
		assert_string_equal(look("www.example.", CLASS_IN, &addresses), "example.");
		assert_int_equal(addresses, 2 * MIN(servers, 13u));
		end();
	}
}

/* What is proven stands beside nothing that is not. */
static void beside_secure_servers_only_secure_addresses_are_told(void **state)
{
	(void)state;
	enum { NONE = 99 };
	static const struct {
		const char *why;
		int servers, ip4, ip6; /* enum security, or NONE */
		unsigned addresses;
	} rows[] = {
		{ "all are secure", SECURITY_SECURE, SECURITY_SECURE, SECURITY_SECURE, 2 },
		{ "one is not", SECURITY_SECURE, SECURITY_INSECURE, SECURITY_SECURE, 1 },
		{ "neither is", SECURITY_SECURE, SECURITY_INSECURE, SECURITY_UNCHECKED, 0 },
		{ "nothing is", SECURITY_INSECURE, SECURITY_INSECURE, SECURITY_INSECURE, 2 },
		{ "only the addresses", SECURITY_INSECURE, SECURITY_SECURE, SECURITY_SECURE, 2 },
		{ "there is one", SECURITY_SECURE, SECURITY_SECURE, NONE, 1 },
		{ "some of them", SECURITY_INSECURE, SECURITY_SECURE, SECURITY_INSECURE, 2 },
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		unsigned addresses = 99;

		begin();
		know_as("example. 300 NS ns.example.", 0, (enum security)rows[i].servers);
		know_as("ns.example. 300 A 192.0.2.1", 0, (enum security)rows[i].ip4);
		if (rows[i].ip6 != NONE)
			know_as("ns.example. 300 AAAA 2001:db8::1", 0, (enum security)rows[i].ip6);
		assert_string_equal(look("www.example.", CLASS_IN, &addresses), "example.");
		if (addresses != rows[i].addresses)
			fail_msg("%s: %u addresses", rows[i].why, addresses);
		end();
	}
}

/* What the zone says itself counts for more; glue is told of no server. */
static void the_zones_own_servers_are_told_first(void **state)
{
	(void)state;
	unsigned addresses = 99;

	begin();
	know("example. 300 NS ns.parent.", RRSET_PARENT_SIDE);
	know("example. 300 NS ns.own.\nexample. 300 NS ns2.own.", 0);
	know("ns.parent. 300 A 192.0.2.1", 0);
	know("ns.own. 300 A 192.0.2.2", 0);
	know("ns2.own. 300 A 192.0.2.3", RRSET_PARENT_SIDE);
	assert_string_equal(look("example.", CLASS_IN, &addresses), "example.");
	assert_int_equal(addresses, 1);
	end();
}

int main(void)
{
	const struct CMUnitTest claims[] = {
		CLAIM(a_referral_is_to_the_closest_zone),
		CLAIM(so_many_servers_addresses_come_along),
		CLAIM(beside_secure_servers_only_secure_addresses_are_told),
		CLAIM(the_zones_own_servers_are_told_first),
	};

	return RUN_CLAIMS(claims, NULL, NULL);
}
