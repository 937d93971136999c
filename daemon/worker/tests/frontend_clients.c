/* Claims about clients in front of the cache: what they have shown, how much they may ask, from where, and who waited.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "daemon/worker/tests/world.h"

#include "services/cache/subnet_index.h"

/* A packet with this client's address, and these options. */
static void take_from(const struct addr *from, const char *name, struct slice options, char to[128])
{
	static uint8_t bytes[512];
	uint8_t wire[DNAME_MAX];
	struct question q = { .name = wire, .type = TYPE_A, .class_ = IN };
	struct edns opt = { .present = true, .udp_size = 1232, .options = options };
	struct writer w = writer_over(bytes, sizeof bytes);
	struct packet p = { .out = writer_over(answer, 4096), .client = { .ops = &over_udp, .from = *from } };
	enum disposition v;

	q.name_len = (uint16_t)dname_parse(wire, name, NULL);
	msg_write_query(&w, 4711, RD, &q, &opt);
	p.in = (struct slice){ bytes, writer_len(&w) };
	rcu_turn_begin();
	v = frontend_take(world.worker, &p);
	rcu_turn_end();
	tell(to, v, &p.out);
}

/* RFC 7873: what a client has shown is counted; with a cookie that is valid it has a limit of its own, 0 for none. */
static void cookies_are_counted_and_have_a_limit_of_their_own(void **state)
{
	static const struct {
		const char *limit;
		unsigned answers; /* of ten */
	} rows[] = { { "0", 10 }, { "5", 4 } }; /* it was counted without one, too */
	static const struct addr client = { .family = 4, .ip = { 127, 0, 0, 1 }, .port = 5353 };
	char more[200], got[128];

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		uint8_t cookie[28] = "\0\12\0\10abcdefgh";
		const struct stats *s;
		unsigned answers = 0;

		snprintf(more, sizeof more, "answer-cookie: yes\nip-ratelimit: 2\nip-ratelimit-factor: 0\nip-ratelimit-cookie: %s\n", rows[i].limit);
		open_world(more);
		s = world.worker->env.stats;
		take_from(&client, "fresh.test.", (struct slice){ cookie, 12 }, got);
		assert_string_equal(got, "SEND NOERROR rd ra 1/0/1");
		assert_int_equal(atomic_load(&s->count[STAT_queries_cookie_client]), 1);
		memcpy(cookie, answer + MSG_HEAD_LEN + 12 + 4 + 16 + OPT_FIXED_LEN, 28);
		assert_int_equal(get_u16(cookie), EDNS_COOKIE);
		for (unsigned n = 0; n < 10; n++) {
			take_from(&client, "fresh.test.", (struct slice){ cookie, 28 }, got);
			answers += strcmp(got, "SEND NOERROR rd ra 1/0/1") == 0;
		}
		assert_int_equal(answers, rows[i].answers);
		assert_int_equal(atomic_load(&s->count[STAT_queries_cookie_valid]), 10);
		assert_int_equal(atomic_load(&s->count[STAT_queries_ip_ratelimited]), 10 - rows[i].answers);
		assert_int_equal(atomic_load(&s->count[STAT_queries_cookie_client]), 1);
		cookie[27] ^= 1;
		take_from(&client, "fresh.test.", (struct slice){ cookie, 28 }, got);
		assert_int_equal(atomic_load(&s->count[STAT_queries_cookie_invalid]), 1);
		close_world();
	}
	/* where there are none, one is passed over */
	open_world("answer-cookie: no\n");
	take_from(&client, "fresh.test.", (struct slice){ (const uint8_t *)"\0\12\0\10abcdefgh", 12 }, got);
	assert_string_equal(got, "SEND NOERROR rd ra 1/0/1");
	assert_int_equal(get_u16(answer + MSG_HEAD_LEN + 12 + 4 + 16 + 9), 0); /* no option */
	assert_int_equal(atomic_load(&world.worker->env.stats->count[STAT_queries_cookie_client]), 0);
	close_world();
}

/* RFC 7873 5.2.3: who has to show a cookie and has none of ours is given one; what is no cookie is given nothing. */
static void who_needs_a_cookie_is_given_one(void **state)
{
	static const struct addr client = { .family = 4, .ip = { 127, 0, 0, 8 }, .port = 5353 };
	static const uint8_t new[] = "\0\12\0\10abcdefgh", malformed[] = "\0\12\0\11abcdefghi";
	const uint8_t *opt = answer + MSG_HEAD_LEN + 12 + 4;
	char got[128];

	(void)state;
	open_world("answer-cookie: yes\n");
	take_from(&client, "fresh.test.", (struct slice){ new, sizeof new - 1 }, got);
	assert_string_equal(got, "SEND RCODE? rd ra 0/0/1");
	assert_int_equal(opt[5] << 4 | msg_rcode(answer), RCODE_BADCOOKIE);
	assert_int_equal(get_u16(opt + 9), 4 + COOKIE_LEN);
	assert_int_equal(get_u16(opt + 11), EDNS_COOKIE);
	take_from(&client, "fresh.test.", (struct slice){ malformed, sizeof malformed - 1 }, got);
	assert_string_equal(got, "SEND FORMERR rd ra 0/0/1");
	assert_int_equal(get_u16(opt + 9), 0);
	close_world();
}

/* Who may look into the cache is referred to servers that it knows. */
static void who_only_looks_is_referred(void **state)
{
	static const uint8_t zone[] = "\4test";
	struct slice ns = { .at = NAME("\2ns\4test"), .len = 9 };
	struct arena arena;
	char got[128];

	(void)state;
	open_world("");
	arena_init(&arena);
	take(&(struct asked){ 5, "other.test", TYPE_A, IN, 0, 0 }, got);
	assert_string_equal(got, "SEND SERVFAIL ra 0/0/1");
	rcu_turn_begin();
	(void)rrsetcache_put(world.worker->env.rrsets,
			     rrset_build(&arena, &(struct rrset_parts){ .owner = zone, .type = TYPE_NS, .class_ = IN, .ttl_s = 100,
									.expires_s = NOW_S + 100, .records = &ns, .count = 1, .trust = TRUST_ANS_AA }),
			     NOW_S, &arena);
	rcu_turn_end();
	take(&(struct asked){ 5, "other.test", TYPE_A, IN, 0, 0 }, got);
	assert_string_equal(got, "SEND NOERROR ra 0/1/1");
	arena_clear(&arena);
	close_world();
}

/* An IPv6 client's network has the limit of eight: it could ask from another address each time. */
static void a_network_of_ipv6_has_a_limit_too(void **state)
{
	static const struct {
		const char *why;
		struct addr first;
		unsigned varies; /* this byte of the address */
		unsigned answers; /* of forty */
	} rows[] = {
		{ "one address", { .family = 6, .ip = { 0x20, 1, 0xd, 0xb8 } }, 16, 2 },
		{ "one network", { .family = 6, .ip = { 0x20, 1, 0xd, 0xb8 } }, 15, 16 },
		{ "many networks", { .family = 6, .ip = { 0x20, 1, 0xd, 0xb8 } }, 7, 40 },
		{ "IPv4", { .family = 4, .ip = { 127, 0, 1, 0 } }, 3, 40 },
	};
	char got[128];

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		unsigned answers = 0;

		open_world("access-control: 2001:db8::/32 allow\nip-ratelimit: 2\nip-ratelimit-factor: 0\n");
		for (unsigned n = 0; n < 40; n++) {
			struct addr from = rows[i].first;

			if (rows[i].varies < 16)
				from.ip[rows[i].varies] = (uint8_t)(n + 1);
			take_from(&from, "fresh.test.", (struct slice){ 0 }, got);
			answers += strcmp(got, "SEND NOERROR rd ra 1/0/1") == 0;
		}
		if (answers != rows[i].answers)
			fail_msg("%s: %u", rows[i].why, answers);
		close_world();
	}
}

/* RFC 7871 7.2.2: a client that told its subnet is told the answer's scope; one that did not has the same answer without. */
static void an_answer_for_a_subnet_tells_who_asked_by_one(void **state)
{
	static const uint8_t option[] = { 0, EDNS_CLIENT_SUBNET, 0, 7, 0, 1, 24, 0, 10, 1, 2 };
	static const struct {
		const char *why;
		struct addr from;
		bool option;
		enum security security;
		const char *want;
		bool told;
	} rows[] = {
		{ "it tells", { .family = 4, .ip = { 127, 0, 0, 1 } }, true, SECURITY_INSECURE, "SEND NOERROR rd ra 1/0/1", true },
		{ "it comes from there", { .family = 4, .ip = { 10, 1, 2, 3 } }, false, SECURITY_INSECURE, "SEND NOERROR rd ra 1/0/1", false },
		{ "it comes from elsewhere", { .family = 4, .ip = { 127, 0, 0, 1 } }, false, SECURITY_INSECURE, "LATER", false },
		{ "it tells, and the answer is bogus", { .family = 4, .ip = { 127, 0, 0, 1 } }, true, SECURITY_BOGUS, "SEND SERVFAIL rd ra 0/0/1", false },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		struct subnet_key at = { .net = { .net = { .family = 4, .ip = { 10, 1 } }, .bits = 16 }, .scope = 16 };
		static const uint8_t name[] = "\6placed\4test";
		struct question q = { .name = name, .name_len = sizeof name, .type = TYPE_A, .class_ = IN };
		const struct rrset *sets[1];
		struct message m = { .q = q, .sets = sets, .count = { 1 }, .security = (uint8_t)rows[i].security };
		struct slice address = { .at = NAME("\300\0\2\1"), .len = 4 };
		struct arena arena;
		char got[128];
		size_t len;

		open_world("access-control: 10.0.0.0/8 allow\nmodule-config: \"subnetcache validator iterator\"\nsend-client-subnet: 192.0.2.0/24\n");
		arena_init(&arena);
		sets[0] = rrset_build(&arena, &(struct rrset_parts){ .owner = name, .type = TYPE_A, .class_ = IN, .ttl_s = 100, .expires_s = NOW_S + 90,
								     .records = &address, .count = 1 });
		m.reason = rows[i].security == SECURITY_BOGUS ? REASON_bogus : REASON_none;
		rcu_turn_begin();
		msgcache_store(world.caches.messages, &m, &(struct msg_keep){ .now_s = NOW_S, .ttl_s = 90, .place = &at });
		subnet_index_add(world.worker->env.subnet_index, &q, &at,
				 &(struct subnet_index_how){ .now_s = NOW_S, .until_s = NOW_S + 90, .most = 100 });
		rcu_turn_end();
		memset(answer, 0, 512);
		take_from(&rows[i].from, "placed.test.", (struct slice){ option, rows[i].option ? sizeof option : 0 }, got);
		if (strcmp(got, rows[i].want) != 0)
			fail_msg("%s: '%s'", rows[i].why, got);
		for (len = 0; len < 300; len++)
			if (get_u32(answer + len) == (uint32_t)(EDNS_CLIENT_SUBNET << 16 | 7))
				break;
		assert_int_equal(len < 300, rows[i].told);
		if (rows[i].told) {
			assert_int_equal(answer[len + 7], 16);
			assert_memory_equal(answer + len + 8, option + 8, 3);
		}
		arena_clear(&arena);
		close_world();
	}
}

static struct {
	unsigned replies, drops;
	unsigned rcode;
} readmitted;

static void note_reply(const struct client *c, const uint8_t *bytes, size_t len)
{
	(void)c;
	assert_true(len >= MSG_HEAD_LEN);
	readmitted.replies++;
	readmitted.rcode = msg_rcode(bytes);
}

static void note_drop(const struct client *c)
{
	(void)c;
	readmitted.drops++;
}

/* Who waited through a change of the configuration is told, dropped, or waits on, as by the new one. */
static void who_waited_is_admitted_anew(void **state)
{
	static const struct client_ops udp = { .name = "udp", .reply = note_reply, .drop = note_drop };
	static const struct client_ops tcp = { .name = "tcp", .stream = true, .reply = note_reply, .drop = note_drop };
	static const struct {
		const char *why;
		uint8_t from;
		const char *name;
		bool stream, proven;
		unsigned replies, drops, rcode;
	} rows[] = {
		{ "known by now", 1, "fresh.test.", false, false, 1, 0, RCODE_NOERROR },
		{ "still not known", 1, "other.test.", false, false, 0, 0, 0 },
		{ "denied by now", 2, "fresh.test.", false, false, 0, 1, 0 },
		{ "refused by now", 3, "fresh.test.", false, false, 1, 0, RCODE_REFUSED },
		{ "who has to prove itself, and has not", 8, "fresh.test.", false, false, 1, 0, RCODE_REFUSED },
		{ "who has shown a cookie", 8, "fresh.test.", false, true, 1, 0, RCODE_NOERROR },
		{ "who has a connection", 8, "fresh.test.", true, false, 1, 0, RCODE_NOERROR },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		uint8_t name[DNAME_MAX];
		struct request r = { .id = 4711, .flags = RD, .proven = rows[i].proven };
		struct client c = { .ops = rows[i].stream ? &tcp : &udp, .from = { .family = 4, .ip = { 127, 0, 0, rows[i].from } } };

		open_world("");
		readmitted.replies = readmitted.drops = readmitted.rcode = 0;
		r.q = (struct question){ name, (uint16_t)dname_parse(name, rows[i].name, NULL), TYPE_A, IN };
		rcu_turn_begin();
		frontend_readmit(world.worker, &r, &c);
		rcu_turn_end();
		if (readmitted.replies != rows[i].replies || readmitted.drops != rows[i].drops || readmitted.rcode != rows[i].rcode)
			fail_msg("%s: %u replies, %u dropped, rcode %u", rows[i].why, readmitted.replies, readmitted.drops, readmitted.rcode);
		close_world();
	}
}

/* A refresh that has just failed is not tried again, and nobody waits for it. */
static void what_could_not_be_refreshed_is_given_at_once(void **state)
{
	static const uint8_t name[] = "\5stale\4test";
	struct question q = { .name = name, .name_len = sizeof name, .type = TYPE_A, .class_ = IN };
	char got[128];

	(void)state;
	for (unsigned failed = 0; failed < 2; failed++) {
		struct stored *s;

		open_world("serve-expired: yes\nserve-expired-client-timeout: 1800\n");
		rcu_turn_begin();
		s = (struct stored *)(uintptr_t)msgcache_find(world.caches.messages, &q, msgcache_hash(&q), 0, false);
		s->refresh_s = NOW_S + (failed ? 30u : 0u);
		rcu_turn_end();
		take(&(struct asked){ 1, "stale.test", TYPE_A, IN, RD, 0 }, got);
		assert_string_equal(got, failed ? "SEND NOERROR rd ra 1/0/1" : "LATER");
		assert_int_equal(mesh_size(world.worker->env.mesh) > 0, !failed);
		close_world();
	}
}

static void ignore_line(const char *line, void *arg)
{
	(void)line, (void)arg;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(cookies_are_counted_and_have_a_limit_of_their_own),
		cmocka_unit_test(who_needs_a_cookie_is_given_one),
		cmocka_unit_test(who_only_looks_is_referred),
		cmocka_unit_test(a_network_of_ipv6_has_a_limit_too),
		cmocka_unit_test(an_answer_for_a_subnet_tells_who_asked_by_one),
		cmocka_unit_test(who_waited_is_admitted_anew),
		cmocka_unit_test(what_could_not_be_refreshed_is_given_at_once),
	};

	hash_start(true);
	log_capture(ignore_line, NULL);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
