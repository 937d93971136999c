/* Claims about the mesh and time: what is too late, what expired data is good for, refreshes.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "services/access/acl.h"
#include "services/forward/subnets.h"
#include "services/mesh/tests/fixture.h"
#include "services/mesh/private.h"
#include "services/policy/policy.h"
#include "services/tests/made.h"

static void an_answer_that_comes_too_late_is_not_sent_over_udp(void **state)
{
	(void)state;
	static const struct {
		const char *why, *conf;
		uint64_t pass_us;
		bool tcp, dropped;
	} rows[] = {
		{ "in time", "", 1900000, false, false },
		{ "too late", "", 1900001, false, true },
		{ "over TCP", "", 1900001, true, false },
		{ "switched off", "server: discard-timeout: 0\n", 9000000, false, false },
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		world_begin(rows[i].conf);
		ask(&(struct enquiry){ .name = "w.example", .id = 1, .over_tcp = rows[i].tcp });
		loop_play(world.loop, rows[i].pass_us);
		wake(0);
		assert_int_equal(world.heard_count, 1);
		if (world.heard[0].dropped != rows[i].dropped)
			fail_msg("%s: dropped %d", rows[i].why, world.heard[0].dropped);
		assert_int_equal(count(&world.stats.count[STAT_queries_discard_timeout]),
				 rows[i].dropped);
		/* what was found out is kept all the same */
		assert_non_null(msgcache_find(
			world.env.messages,
			&(struct question){ name_of("w.example"), 11, TYPE_A, CLASS_IN },
			msgcache_hash(
				&(struct question){ name_of("w.example"), 11, TYPE_A, CLASS_IN }),
			0, false));
		world_end();
	}
}

static void something_expired_is_better_than_waiting(void **state)
{
	(void)state;
	static const struct {
		const char *why, *conf;
		unsigned heard_after_wait;
		bool expired;
	} rows[] = {
		{ "given after the client's patience", "server: serve-expired: yes\n", 1, true },
		{ "not when switched off", "", 0, false },
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		world_begin(rows[i].conf);
		ask_for("w.example", 1);
		wake(0);
		world.heard_count = 0;
		loop_play(world.loop, 101 * US_PER_S);
		ask(&(struct enquiry){
			.name = "w.example", .id = 2, .stale = i == 0 ? find("w.example") : NULL });
		loop_play(world.loop, 1799999);
		assert_int_equal(world.heard_count, 0);
		loop_play(world.loop, 1);
		if (world.heard_count != rows[i].heard_after_wait)
			fail_msg("%s: %u heard", rows[i].why, world.heard_count);
		assert_int_equal(count(&world.stats.count[STAT_expired]), rows[i].expired);
		/* the work goes on, and refreshes the cache */
		assert_int_equal(mesh_size(world.mesh), 1);
		wake(1);
		assert_int_equal(world.heard_count, 1);
		assert_int_equal(get_u16(world.heard[0].wire + 6), 1);
		assert_int_equal(mesh_size(world.mesh), 0);
		assert_true(stored_is_fresh(find("w.example"), world.env.time->now_s));
		world_end();
	}
}

static void what_has_expired_is_counted_when_policy_looks_at_it_too(void **state)
{
	(void)state;
	struct fault f = { 0 };

	world_begin("server: serve-expired: yes\n response-ip: 203.0.113.0/24 always_nxdomain\n");
	world.snapshot.acl = acl_new(world.snapshot.conf, &f);
	world.snapshot.policy = policy_new(world.snapshot.conf, &f);
	ask_for("w.example", 1);
	wake(0);
	loop_play(world.loop, 101 * US_PER_S);
	ask(&(struct enquiry){ .name = "w.example", .id = 2, .stale = find("w.example") });
	world.heard_count = 0;
	loop_play(world.loop, 1800000);
	assert_int_equal(world.heard_count, 1);
	assert_int_equal(count(&world.stats.count[STAT_expired]), 1);
	wake(1);
	acl_free(world.snapshot.acl);
	policy_free(world.snapshot.policy);
	world_end();
}

/* Only where the operator lets it, for so long, and of what may be believed (RFC 8767 4, serve-expired-ttl). */
static void what_has_expired_is_there_for_whom_and_how_long(void **state)
{
	(void)state;
	enum { JUDGES = 1, CD = 2, MADE = 4, FAILED = 8, BOGUS = 16, CHECKED = 32 };
	static const struct {
		const char *why, *conf;
		unsigned how;
		uint32_t later_s; /* than it expires */
		bool want;
	} rows[] = {
		{ "fresh", "server: serve-expired: yes", 0, 0, true },
		{ "fresh, switched off", "", 0, 0, false },
		{ "expired", "server: serve-expired: yes\nserve-expired-ttl: 60", 0, 60, true },
		{ "a second too long ago", "server: serve-expired: yes\nserve-expired-ttl: 60", 0, 61, false },
		{ "long ago, without a limit", "server: serve-expired: yes\nserve-expired-ttl: 0", 0, 100000, true },
		{ "not validated yet, where answers are", "server: serve-expired: yes", JUDGES, 1, false },
		{ "validated, where answers are", "server: serve-expired: yes", JUDGES | CHECKED, 1, true },
		{ "bogus", "server: serve-expired: yes", JUDGES | BOGUS, 1, false },
		{ "a failure", "server: serve-expired: yes", FAILED, 1, false },
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		struct made made = { "x.example.", TYPE_A, rows[i].how & FAILED ? RCODE_SERVFAIL : RCODE_NOERROR,
				     { rows[i].how & FAILED ? NULL : "x.example. 100 A 192.0.2.7" } };
		struct msg_keep how = { .ttl_s = 100, .keep_expired_s = SLAB_FOREVER };
		struct request r = { .flags = FLAG_RD };
		struct message *m;

		world_begin(rows[i].conf);
		r.q = question_of("x.example");
		how.now_s = world.env.time->now_s;
		m = made_message(&world.arena, how.now_s, &made);
		m->security = rows[i].how & BOGUS ? SECURITY_BOGUS : rows[i].how & CHECKED ? SECURITY_SECURE : SECURITY_UNCHECKED;
		msgcache_store(world.env.messages, m, &how);
		world.snapshot.trust = rows[i].how & JUDGES ? (struct trust_store *)&world : NULL;
		if (rows[i].later_s)
			loop_play(world.loop, (100 + (uint64_t)rows[i].later_s) * US_PER_S);
		if (!!stale_find(world.mesh, &r.q, msgcache_hash(&r.q), &r) != rows[i].want)
			fail_msg("%s", rows[i].why);
		assert_int_equal(stale_behind(world.mesh, &r.q, &r) != NULL, rows[i].want && rows[i].later_s);
		/* no cached answer would do for a client whose own option goes everywhere */
		r.where = &(struct client_subnet){ .has_option = true, .forwarded = true };
		assert_null(stale_behind(world.mesh, &r.q, &r));
		r.where = &(struct client_subnet){ .has_option = true };
		assert_int_equal(stale_behind(world.mesh, &r.q, &r) != NULL, rows[i].want && rows[i].later_s);
		world.snapshot.trust = NULL;
		world_end();
	}
}

/* With signatures to who asked for them. */
static void what_has_expired_is_given_as_it_is_asked_for(void **state)
{
	(void)state;
	struct made made = { "x.example.", TYPE_A, RCODE_NOERROR,
			     { "x.example. 100 A 192.0.2.7\nx.example. 100 IN RRSIG A 13 2 300 20300101000000 20200101000000 1 example. AAAA\n" } };

	for (unsigned wants = 0; wants < 2; wants++) {
		struct request r = { .flags = FLAG_RD, .edns = { .present = true, .flags = wants ? EDNS_DO : 0 } };
		struct msg_keep how = { .ttl_s = 100, .keep_expired_s = SLAB_FOREVER };
		const struct stored *s;

		world_begin("server: serve-expired: yes");
		r.q = question_of("x.example");
		how.now_s = world.env.time->now_s;
		msgcache_store(world.env.messages, made_message(&world.arena, how.now_s, &made), &how);
		s = stale_find(world.mesh, &r.q, msgcache_hash(&r.q), &r);
		assert_non_null(s);
		assert_int_equal((s->fits & STORED_FULL) != 0, wants);
		world_end();
	}
}

static void something_expired_is_better_than_a_failure(void **state)
{
	(void)state;
	static const struct {
		const char *why, *conf;
		uint64_t pass_s;
		uint16_t rcode;
		uint8_t security;
		bool made, validates;
	} rows[] = {
		{ "expired a while ago", "server: serve-expired: yes\n", 200, RCODE_NOERROR,
		  SECURITY_INSECURE, false, true },
		{ "expired for too long", "server: serve-expired: yes\n serve-expired-ttl: 50\n",
		  200, RCODE_SERVFAIL, SECURITY_INSECURE, false, true },
		{ "switched off", "", 200, RCODE_SERVFAIL, SECURITY_INSECURE, false, true },
		{ "not validated yet", "server: serve-expired: yes\n", 200, RCODE_SERVFAIL,
		  SECURITY_UNCHECKED, false, true },
		{ "nothing is validated", "server: serve-expired: yes\n", 200, RCODE_NOERROR,
		  SECURITY_UNCHECKED, false, false },
		{ "made up for others than who sets CD", "server: serve-expired: yes\n", 200,
		  RCODE_SERVFAIL, SECURITY_INSECURE, true, true },
	};
	static max_align_t trust;

	for (size_t i = 0; i < COUNT(rows); i++) {
		struct question q;
		struct message m = { .rcode = RCODE_NOERROR };
		struct query *donor;

		world_begin(rows[i].conf);
		/* a good answer of the name that is going to fail */
		ask_for("w.donor", 1);
		donor = world.asleep[0];
		answer_with(donor, RCODE_NOERROR);
		q = question_of("f.example");
		m = *donor->reply;
		m.q = q;
		m.security = rows[i].security;
		m.made_up = rows[i].made;
		msgcache_store(world.env.messages, &m,
			       &(struct msg_keep){ .now_s = world.env.time->now_s, .ttl_s = 100 });
		wake(0);
		world.heard_count = 0;
		loop_play(world.loop, rows[i].pass_s * US_PER_S);
		world.snapshot.trust = rows[i].validates ? (void *)&trust : NULL;
		ask(&(struct enquiry){ .name = "f.example",
				       .id = 2,
				       .flags = rows[i].made ? FLAG_CD : 0 });
		wake(1);
		assert_int_equal(world.heard_count, 1);
		if (msg_rcode(world.heard[0].wire) != rows[i].rcode)
			fail_msg("%s: rcode %u", rows[i].why, msg_rcode(world.heard[0].wire));
		world_end();
	}
}

static void a_refresh_is_begun_once_and_joined(void **state)
{
	(void)state;
	struct question q;

	world_begin("");
	q = question_of("w.example");
	mesh_refresh(world.mesh, &q, 0, NULL);
	mesh_refresh(world.mesh, &q, 0, NULL);
	assert_int_equal(mesh_size(world.mesh), 1);
	assert_true(world.asleep[0]->is_refresh);
	assert_true(world.asleep[0]->kind & QUERY_NO_CACHE);
	assert_int_equal(count(&world.stats.count[STAT_prefetch]), 1);
	ask_for("w.example", 1);
	assert_int_equal(mesh_size(world.mesh), 1);
	assert_false(world.asleep[0]->is_refresh);
	wake(0);
	assert_int_equal(world.heard_count, 1);
	assert_false(world.heard[0].dropped);
	world_end();
}

static void a_refresh_gives_way(void **state)
{
	(void)state;
	struct question q;

	world_begin("server: num-queries-per-thread: 2\n");
	ask_for("w1.example", 1);
	q = question_of("w2.example");
	mesh_refresh(world.mesh, &q, 0, NULL);
	q = question_of("w3.example");
	mesh_refresh(world.mesh, &q, 0, NULL);
	assert_int_equal(mesh_size(world.mesh), 2);
	loop_play(world.loop, 300000);
	ask_for("w4.example", 4);
	assert_int_equal(world.heard_count, 0);
	assert_int_equal(mesh_size(world.mesh), 2);
	world_end();
}

static void after_ten_seconds_it_has_failed(void **state)
{
	(void)state;
	world_begin("server: ede: yes\n discard-timeout: 0\n");
	/* a clock that is no story's */
	world.time.now_s = 1;
	world.env.time = &world.time;
	ask_for("c.w.example", 1);
	world.time.now_us = 10 * US_PER_S;
	loop_play(world.loop, 10 * US_PER_S - 1);
	assert_int_equal(world.heard_count, 0);
	loop_play(world.loop, 1);
	assert_int_equal(world.heard_count, 1);
	assert_int_equal(msg_rcode(world.heard[0].wire), RCODE_SERVFAIL);
	assert_int_equal(mesh_size(world.mesh), 0);
	world_end();
}

static void under_a_played_clock_nothing_is_too_slow(void **state)
{
	(void)state;
	world_begin("server: discard-timeout: 0\n");
	ask_for("w.example", 1);
	loop_play(world.loop, 3600 * US_PER_S);
	assert_int_equal(world.heard_count, 0);
	wake(0);
	assert_int_equal(world.heard_count, 1);
	world_end();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_answer_that_comes_too_late_is_not_sent_over_udp),
		cmocka_unit_test(something_expired_is_better_than_waiting),
		cmocka_unit_test(what_has_expired_is_counted_when_policy_looks_at_it_too),
		cmocka_unit_test(what_has_expired_is_there_for_whom_and_how_long),
		cmocka_unit_test(what_has_expired_is_given_as_it_is_asked_for),
		cmocka_unit_test(something_expired_is_better_than_a_failure),
		cmocka_unit_test(a_refresh_is_begun_once_and_joined),
		cmocka_unit_test(a_refresh_gives_way),
		cmocka_unit_test(after_ten_seconds_it_has_failed),
		cmocka_unit_test(under_a_played_clock_nothing_is_too_slow),
	};

	hash_start(true);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
