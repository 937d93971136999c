/* Claims about the module cachedb: what is looked up in the store, what is taken from there, and what is written.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "services/cachedb/tests/fixture.h"

/* ---- what is looked up ---- */

static void keep_message(uint32_t ttl_s, uint16_t scope)
{
	struct message *m = made_message(&world.arena, NOW - 10, &www);

	assert_non_null(msgcache_store(world.env.messages, m,
				       &(struct msg_keep){ .now_s = NOW - 10, .ttl_s = ttl_s, .scope = scope }));
}

static void keep_set(uint8_t flags)
{
	struct rrset *set = made_set(&world.arena, NOW, "www.example. 300 A 192.0.2.7");

	set->flags |= flags;
	assert_non_null(rrsetcache_put(world.env.rrsets, set, NOW, &world.arena));
}

static void has_nothing(void) {}
static void has_message(void) { keep_message(11, 0); }
static void has_expired_message(void) { keep_message(10, 0); }
static void has_message_of_a_scope(void) { keep_message(11, 1); }
static void has_set(void) { keep_set(0); }
static void has_glue(void) { keep_set(RRSET_PARENT_SIDE); }
static void is_in_scope(struct query *q) { q->scope = 1; }
static void avoids_a_server(struct query *q) { q->avoid_count = 1; }

static void the_store_is_asked_for_what_is_not_known_and_may_be_written_for_all(void **state)
{
	(void)state;
	static const struct {
		const char *why;
		unsigned kind;
		void (*prepare)(struct query *q);
		void (*cached)(void);
		bool down;
		unsigned asked, written;
	} rows[] = {
		{ "unknown", 0, NULL, has_nothing, false, 1, 1 },
		{ "the store is down", 0, NULL, has_nothing, true, 1, 1 },
		{ "in a scope", 0, is_in_scope, has_nothing, false, 0, 0 },
		{ "priming", QUERY_PRIME, NULL, has_nothing, false, 0, 0 },
		{ "from the parent's side", QUERY_PARENT_SIDE, NULL, has_nothing, false, 0, 0 },
		{ "cached as a message", 0, NULL, has_message, false, 0, 0 },
		{ "cached as an expired message", 0, NULL, has_expired_message, false, 1, 1 },
		{ "cached for others", 0, NULL, has_message_of_a_scope, false, 1, 1 },
		{ "cached as an RRset", 0, NULL, has_set, false, 0, 0 },
		{ "cached as glue", 0, NULL, has_glue, false, 1, 1 },
		{ "a refresh", QUERY_NO_CACHE, NULL, has_message, false, 0, 1 },
		{ "asked anew: it was bogus", 0, avoids_a_server, has_message, false, 0, 1 },
	};
	char key[CACHEDB_KEY_LEN + 1];

	for (size_t i = 0; i < COUNT(rows); i++) {
		begin("secret-seed: \"salt\"\n");
		key_of(key, "salt");
		below.prepare = rows[i].prepare;
		shelf->down = rows[i].down;
		rows[i].cached();
		resolve(rows[i].kind);
		if (shelf->asked != rows[i].asked || shelf->written != rows[i].written)
			fail_msg("%s: asked %u, written %u", rows[i].why, shelf->asked, shelf->written);
		if (rows[i].asked || rows[i].written)
			assert_string_equal(shelf->key, key);
		assert_int_equal(below.asked, 1);
		assert_int_equal(done.count, 1);
		assert_int_equal(done.address, 1);
		assert_int_equal(shelf->removed, 0);
		assert_int_equal(count(&world.stats.from_store), 0);
		end();
	}
}

static void a_set_is_known_by_its_type(void **state)
{
	(void)state;
	static const uint16_t types[] = { TYPE_TXT, TYPE_MX };

	for (size_t i = 0; i < COUNT(types); i++) {
		struct question q;

		begin("");
		q = question_of("www.example");
		q.type = types[i];
		(void)rrsetcache_put(world.env.rrsets, made_set(&world.arena, NOW, "www.example. 300 TXT x"), NOW, &world.arena);
		mesh_resolve(world.mesh, &q, 0, on_done, NULL);
		assert_int_equal(shelf->asked, types[i] != TYPE_TXT);
		end();
	}
}

/* ---- what is written ---- */

static void is_not_to_be_stored(struct query *q) { q->no_store = true; }
static void is_not_for_clients(struct query *q) { q->no_message = true; }
static void is_stopped(struct query *q) { q->stopped = true; }
static void needs_subnet(struct query *q) { q->ecs.need = ECS_REQUIRED; }
static void is_secret(struct query *q) { q->ecs.sent = ECS_OPTED_OUT; }
static void is_bogus(struct query *q) { q->reply->security = SECURITY_BOGUS; }
static void has_a_reason(struct query *q) { q->reply->reason = REASON_other; }
static void is_nxdomain(struct query *q) { q->reply->rcode = RCODE_NXDOMAIN; }
static void is_yxdomain(struct query *q) { q->reply->rcode = RCODE_YXDOMAIN; }
static void is_servfail(struct query *q) { q->reply->rcode = RCODE_SERVFAIL; }

static void is_of_this_moment(struct query *q)
{
	q->reply = made_message(&q->arena, NOW, &(struct made){ "www.example.", TYPE_A, 0, { "www.example. 0 A 192.0.2.1" } });
}

static void is_too_large(struct query *q)
{
	q->reply->sets[0] = made_addresses(&q->arena, NOW, "www.example.", 5000);
}

static void what_is_for_all_and_no_failure_is_written(void **state)
{
	(void)state;
	static const struct {
		const char *why, *options;
		void (*outcome)(struct query *q);
		bool written;
		bool removed; /* what the store has */
	} rows[] = {
		{ "an answer", "", NULL, true, false },
		{ "a denial", "", is_nxdomain, true, false },
		{ "a name that became too long", "", is_yxdomain, true, false },
		{ "a failure", "", is_servfail, false, false },
		{ "an explained one", "", has_a_reason, false, false },
		{ "a bogus one", "", is_bogus, false, false },
		{ "not to be cached", "", is_not_to_be_stored, false, false },
		{ "not for clients", "", is_not_for_clients, false, false },
		{ "stopped by a policy zone", "", is_stopped, false, false },
		{ "TTL 0", "", is_of_this_moment, false, false },
		{ "larger than any message", "", is_too_large, false, false },
		{ "told not to write", "cachedb-no-store: yes\n", NULL, false, false },
		{ "depends on the client", "", needs_subnet, false, true },
		{ "for a subnet", "", is_for_a_subnet, false, true },
		{ "for who opted out", "", is_secret, false, true },
		{ "for a subnet, told not to write", "cachedb-no-store: yes\n", is_for_a_subnet, false, false },
	};
	char key[CACHEDB_KEY_LEN + 1];

	for (size_t i = 0; i < 2 * COUNT(rows); i++) {
		const __typeof__(rows[0]) *r = &rows[i / 2];
		const bool stood = i % 2;

		begin(r->options);
		key_of(key, "default");
		below.outcome = r->outcome;
		if (stood)
			shelf->value = value_of(&www, 0, 300, 400); /* expired */
		resolve(0);
		if (shelf->written != r->written || shelf->removed != (stood && r->removed))
			fail_msg("%s, %u: written %u, removed %u", r->why, stood, shelf->written, shelf->removed);
		assert_string_equal(shelf->key, key);
		assert_int_equal(done.count, 1);
		assert_int_equal(below.asked, 1);
		end();
	}
}

static void wants_signatures(struct query *q) { q->want_signatures = true; }

static void it_is_written_as_it_was_asked_for_and_for_as_long_as_it_is_of_use(void **state)
{
	(void)state;
	static const struct {
		const char *options;
		void (*prepare)(struct query *q);
		unsigned flags;
		uint32_t drop_s;
	} rows[] = {
		{ "", NULL, 0, 0 },
		{ "", wants_signatures, ENTRY_SIGNED, 0 },
		{ "server:\nserve-original-ttl: yes\n", NULL, ENTRY_WHOLE, 0 },
		{ "server:\nserve-original-ttl: yes\n", wants_signatures, ENTRY_SIGNED | ENTRY_WHOLE, 0 },
		{ "redis-expire-records: yes\n", NULL, 0, 300 },
		{ "redis-expire-records: yes\nserver:\nserve-expired-ttl: 50\n", NULL, 0, 300 },
		{ "redis-expire-records: yes\n" EXPIRED "serve-expired-ttl: 50\n", NULL, 0, 350 },
		{ "redis-expire-records: yes\n" EXPIRED "serve-expired-ttl: 0\n", NULL, 0, 0 },
		{ "redis-expire-records: yes\nserver:\nserve-expired-ttl: 0\n", NULL, 0, 300 },
		{ EXPIRED "serve-expired-ttl: 50\n", NULL, 0, 0 },
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		struct cachedb_entry e;
		struct question q;

		begin(rows[i].options);
		below.prepare = rows[i].prepare;
		resolve(0);
		q = question_of("www.example");
		assert_int_equal(shelf->written, 1);
		assert_true(cachedb_entry_read(&e, (struct slice){ shelf->put, shelf->put_len }, &q, &world.time,
					       &world.arena));
		assert_int_equal(e.flags, rows[i].flags);
		assert_int_equal(e.left_s, 300);
		if (shelf->expires_s != rows[i].drop_s)
			fail_msg("%s: %u seconds", rows[i].options, shelf->expires_s);
		end();
	}
}

/* ---- what is taken from it ---- */

static void the_store_answers_with_what_is_fresh_and_of_this_configuration(void **state)
{
	(void)state;
	static const struct made other = { "ww.example.", TYPE_A, 0, { "ww.example. 300 A 192.0.2.7" } };
	static const struct {
		const char *why, *options;
		const struct made *made;
		void (*prepare)(struct query *q);
		unsigned flags;
		uint32_t age_s;
		int64_t shaped_s; /* so long ago; 0: never */
		bool taken;
		uint32_t ttl_s;
	} rows[] = {
		{ "at once", "", &www, NULL, 0, 0, 0, true, 300 },
		{ "in its last second", "", &www, NULL, 0, 299, 0, true, 1 },
		{ "expired just now", "", &www, NULL, 0, 300, 0, false, 300 },
		{ "expired long ago", "", &www, NULL, 0, 400, 0, false, 300 },
		{ "limited", "server:\ncache-max-ttl: 100\n", &www, NULL, 0, 10, 0, true, 100 },
		{ "without signatures where they are wanted", "", &www, wants_signatures, 0, 0, 0, false, 300 },
		{ "with them", "", &www, wants_signatures, ENTRY_SIGNED, 0, 0, true, 300 },
		{ "with them where they are not", "", &www, NULL, ENTRY_SIGNED, 0, 0, true, 300 },
		{ "of another question", "", &other, NULL, 0, 0, 0, false, 300 },
		{ "of before the last change", "", &www, NULL, 0, 100, 99, false, 300 },
		{ "of the second of that change", "", &www, NULL, 0, 100, 100, false, 300 },
		{ "of after it", "", &www, NULL, 0, 100, 101, true, 200 },
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		begin(rows[i].options);
		below.prepare = rows[i].prepare;
		world.snapshot.shaped_s = rows[i].shaped_s ? WALL - rows[i].shaped_s : 0;
		shelf->value = value_of(rows[i].made, rows[i].flags, 300, rows[i].age_s);
		resolve(0);
		if (done.count != 1 || done.address != (rows[i].taken ? 7 : 1) || done.ttl_s != rows[i].ttl_s)
			fail_msg("%s: %u, TTL %u", rows[i].why, done.address, done.ttl_s);
		assert_int_equal(below.asked, !rows[i].taken);
		assert_int_equal(shelf->written, !rows[i].taken);
		assert_int_equal(count(&world.stats.from_store), rows[i].taken);
		end();
	}
}

static const uint8_t *some_trust_point(const struct query *q, const uint8_t *name, uint16_t type)
{
	(void)q;
	(void)name;
	(void)type;
	return NULL;
}

static void what_has_expired_is_of_use_where_that_may_be_served_and_nothing_is_validated(void **state)
{
	(void)state;
	static const struct {
		const char *options;
		unsigned flags;
		uint32_t age_s; /* it was valid for 60 seconds */
		bool validated, revived;
	} rows[] = {
		{ EXPIRED "serve-expired-ttl: 0\n", 0, 260, false, true },
		{ EXPIRED "serve-expired-ttl: 0\n", ENTRY_WHOLE, 260, false, true },
		{ EXPIRED "serve-expired-ttl: 0\n", ENTRY_SIGNED, 260, false, true },
		{ EXPIRED "serve-expired-ttl: 201\n", 0, 260, false, true },
		{ EXPIRED "serve-expired-ttl: 200\n", 0, 260, false, true },
		{ EXPIRED "serve-expired-ttl: 199\n", 0, 260, false, false },
		{ EXPIRED "serve-expired-ttl: 0\n", 0, 260, true, false },
		{ "server:\nserve-expired: no\nserve-expired-ttl: 0\n", 0, 260, false, false },
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		const struct stored *s;

		begin(rows[i].options);
		if (rows[i].validated)
			world.env.trust_point = some_trust_point;
		below.sleeps = true;
		shelf->value = value_of(&www, rows[i].flags, 60, rows[i].age_s);
		resolve(0);
		s = find("www.example");
		if (!!s != rows[i].revived)
			fail_msg("%s: %s", rows[i].options, s ? "revived" : "not revived");
		if (s) {
			assert_int_equal(s->stored_s, NOW - 260);
			assert_int_equal(s->expires_s, NOW - 200);
			assert_int_equal(!!(s->fits & STORED_WHOLE), rows[i].flags == ENTRY_WHOLE);
		}
		end();
	}
}

static void a_client_gets_what_was_revived_while_servers_are_asked(void **state)
{
	(void)state;
	for (unsigned revived = 0; revived < 2; revived++) {
		begin(EXPIRED "serve-expired-client-timeout: 0\n");
		below.sleeps = true;
		if (revived)
			shelf->value = value_of(&www, 0, 60, 260);
		ask_for("www.example", 1);
		assert_int_equal(below.asked, 1);
		assert_int_equal(world.heard_count, revived);
		wake(0);
		assert_int_equal(world.heard_count, 1);
		assert_int_equal(shelf->written, 1);
		end();
	}
}

/* ---- waiting ---- */

static void it_waits_for_the_store_until_that_has_answered(void **state)
{
	(void)state;
	for (unsigned has = 0; has < 2; has++) {
		begin("");
		shelf->late = true;
		resolve(0);
		assert_int_equal(done.count, 0);
		assert_int_equal(below.asked, 0);
		assert_int_equal(mesh_size(world.mesh), 1);
		end_find(shelf, has ? value_of(&www, 0, 300, 0) : (struct slice){ .at = NULL });
		assert_int_equal(done.count, 1);
		assert_int_equal(done.address, has ? 7 : 1);
		assert_int_equal(shelf->written, !has);
		end();
		assert_int_equal(shelf->forgotten, 0);
	}
	begin("");
	shelf->late = true;
	resolve(0);
	end();
	assert_int_equal(shelf->forgotten, 1); /* the query has gone before */
}

static void what_was_found_before_is_no_answer_to_who_asks_again(void **state)
{
	(void)state;
	begin("");
	below.again = true;
	shelf->value = value_of(&www, 0, 300, 0);
	shelf->once = true;
	resolve(0);
	assert_int_equal(done.count, 1);
	assert_int_equal(shelf->asked, 2);
	assert_int_equal(below.asked, 1);
	assert_int_equal(done.address, 1);
	end();
}

/* Its time is the beginning of time: nothing is known to have changed since. */
static void without_a_clock_nothing_is_from_before(void **state)
{
	(void)state;
	begin("");
	world.time.wall_s = 0;
	shelf->value = value_of(&www, 0, 300, WALL);
	resolve(0);
	assert_int_equal(done.address, 7);
	end();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_store_is_asked_for_what_is_not_known_and_may_be_written_for_all),
		cmocka_unit_test(a_set_is_known_by_its_type),
		cmocka_unit_test(what_was_found_before_is_no_answer_to_who_asks_again),
		cmocka_unit_test(without_a_clock_nothing_is_from_before),
		cmocka_unit_test(what_is_for_all_and_no_failure_is_written),
		cmocka_unit_test(it_is_written_as_it_was_asked_for_and_for_as_long_as_it_is_of_use),
		cmocka_unit_test(the_store_answers_with_what_is_fresh_and_of_this_configuration),
		cmocka_unit_test(what_has_expired_is_of_use_where_that_may_be_served_and_nothing_is_validated),
		cmocka_unit_test(a_client_gets_what_was_revived_while_servers_are_asked),
		cmocka_unit_test(it_waits_for_the_store_until_that_has_answered),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
