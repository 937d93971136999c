/* Claims about the module cachedb: its connections, what is removed, and when it is asked first.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "services/cachedb/tests/fixture.h"

/* ---- connections ---- */

static void use(const char *options)
{
	conf_free(world.snapshot.conf);
	world.snapshot.conf = conf_from(options);
	cachedb_module.renewed(&world.env);
}

static void a_connection_is_kept_unless_its_settings_change(void **state)
{
	(void)state;
	static const char *const same[] = { "", "secret-seed: \"other\"\n", "cachedb-no-store: yes\n", EXPIRED };
	static const char *const other[] = {
		"redis-server-host: 127.0.0.2\n",
		"redis-server-port: 6380\n",
		"redis-server-path: \"/run/x\"\n",
		"redis-server-password: \"x\"\n",
		"redis-timeout: 1\n",
		"redis-command-timeout: 1\n",
		"redis-connect-timeout: 1\n",
		"redis-logical-db: 1\n",
		"redis-replica-server-host: 127.0.0.2\n",
		"redis-replica-server-port: 6380\n",
		"redis-replica-server-path: \"/run/x\"\n",
		"redis-replica-server-password: \"x\"\n",
		"redis-replica-timeout: 1\n",
		"redis-replica-command-timeout: 1\n",
		"redis-replica-connect-timeout: 1\n",
		"redis-replica-logical-db: 1\n",
	};
	char text[200];

	begin("");
	for (size_t i = 0; i < COUNT(same); i++) {
		snprintf(text, sizeof(text), "%s%s", REDIS, same[i]);
		use(text);
		assert_int_equal(shelf->opened, 1);
	}
	for (size_t i = 0; i < COUNT(other); i++) {
		snprintf(text, sizeof(text), "%s%s", REDIS, other[i]);
		use(text);
		if (shelf->opened != i + 2 || shelf->freed != i + 1)
			fail_msg("%s: opened %u", other[i], shelf->opened);
	}
	use("cachedb:\nbackend: testframe\n");
	assert_int_equal(shelf->freed, shelf->opened);
	resolve(0);
	assert_int_equal(shelf->asked + shelf->written, 0);
	end();
}

static void a_replica_is_read_and_the_server_itself_written(void **state)
{
	(void)state;
	static const struct {
		const char *options;
		bool replica, server;
	} rows[] = {
		{ "", false, true },
		{ "redis-replica-server-host: 127.0.0.2\n", true, true },
		{ "redis-replica-server-path: \"/run/x\"\n", true, true },
		{ "backend: testframe\nredis-replica-server-host: 127.0.0.2\n", false, false },
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		begin(rows[i].options);
		assert_int_equal(shelf->opened, rows[i].server);
		assert_int_equal(replica->opened, rows[i].replica);
		below.outcome = NULL;
		resolve(0);
		assert_int_equal(shelf->asked, rows[i].server && !rows[i].replica);
		assert_int_equal(replica->asked, rows[i].replica);
		assert_int_equal(shelf->written, rows[i].server);
		assert_int_equal(replica->written, 0);
		end();
		assert_int_equal(shelf->freed, rows[i].server);
		assert_int_equal(replica->freed, rows[i].replica);
	}
}

static void asks_again(void)
{
	struct question q = question_of("other.example");
	struct cachedb_keys *k;

	assert_int_equal(shelf->freed, 1);
	k = cachedb_keys_new(world.snapshot.conf);
	cachedb_keys_add(k, &q);
	cachedb_remove(world.env.cachedb, k);
	assert_int_equal(shelf->removed, 0);
	mesh_resolve(world.mesh, &q, 0, on_done, NULL);
}

static void wakes_all(void)
{
	while (world.asleep_count)
		wake(--world.asleep_count);
}

static void while_a_store_is_closed_queries_see_none(void **state)
{
	(void)state;
	begin("");
	shelf->late = true;
	shelf->on_free = asks_again;
	resolve(0);
	use(REDIS "redis-timeout: 1\n");
	assert_int_equal(done.count, 2);
	assert_int_equal(below.asked, 2);
	assert_int_equal(shelf->asked, 1);
	assert_int_equal(shelf->written, 0);
	assert_int_equal(shelf->opened, 2);
	shelf->on_free = NULL;
	end();

	begin("");
	shelf->value = value_of(&www, 0, 300, 400);
	shelf->on_free = wakes_all;
	below.sleeps = true;
	below.outcome = is_for_a_subnet;
	resolve(0);
	use(REDIS "redis-timeout: 1\n");
	assert_int_equal(done.count, 1);
	assert_int_equal(shelf->removed, 0);
	shelf->on_free = NULL;
	end();
}

/* ---- removing, and what the front end asks ---- */

static void keys_are_removed_from_what_is_written(void **state)
{
	(void)state;
	enum { KEYS = 40 };
	char key[CACHEDB_KEY_LEN + 1], text[32];
	struct cachedb_keys *k;

	begin("redis-replica-server-host: 127.0.0.2\nsecret-seed: \"salt\"\n");
	k = cachedb_keys_new(world.snapshot.conf);
	for (unsigned i = 0; i < KEYS; i++) {
		struct question q;

		snprintf(text, sizeof(text), "x%u.example", i);
		q = question_of(text);
		cachedb_keys_add(k, &q);
	}
	cachedb_remove(world.env.cachedb, k);
	assert_int_equal(shelf->removed, KEYS);
	assert_int_equal(replica->removed, 0);
	for (unsigned i = 0; i < KEYS; i++) {
		struct question q;

		snprintf(text, sizeof(text), "x%u.example", i);
		q = question_of(text);
		cachedb_key(key, &q, "salt");
		assert_string_equal(shelf->keys[i], key);
	}
	cachedb_remove(NULL, cachedb_keys_new(world.snapshot.conf));
	k = cachedb_keys_new(world.snapshot.conf);
	cachedb_keys_add(k, &(struct question){ .name = (const uint8_t *)"", .name_len = 1 });
	cachedb_remove(NULL, k);
	cachedb_keys_free(NULL);
	end();
}

static void it_is_asked_before_expired_answers_where_it_is_in_use_and_that_is_wanted(void **state)
{
	(void)state;
	static const struct {
		const char *options;
		bool asked;
	} rows[] = {
		{ "server:\nmodule-config: \"cachedb iterator\"\n", true },
		{ "server:\nmodule-config: \"iterator\"\n", false },
		{ "server:\nmodule-config: \"cachedb iterator\"\ncachedb:\ncachedb-check-when-serve-expired: no\n", false },
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		struct conf *conf = conf_from(rows[i].options);

		assert_int_equal(mesh_asks_store_first(conf), rows[i].asked);
		conf_free(conf);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_connection_is_kept_unless_its_settings_change),
		cmocka_unit_test(a_replica_is_read_and_the_server_itself_written),
		cmocka_unit_test(while_a_store_is_closed_queries_see_none),
		cmocka_unit_test(keys_are_removed_from_what_is_written),
		cmocka_unit_test(it_is_asked_before_expired_answers_where_it_is_in_use_and_that_is_wanted),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
