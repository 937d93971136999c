/* Claims about the module cachedb: what is looked up in the store, what is taken from there, and what is written to it.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * The store is made here, in place of a Redis server. A module above prepares the query, one below answers it. */
#include "services/cachedb.h"

#include "services/cache/rrset.h"
#include "services/cachedb_store.h"
#include "services/tests/made.h"
#include "services/tests/mesh_house.h"

#define NOW  1000
#define WALL 1800000000

#define REDIS   "cachedb:\nbackend: redis\n"
#define EXPIRED "server:\nserve-expired: yes\n"

/* ---- the store ---- */

static struct shelf {
	struct cachedb_store store;
	unsigned opened, freed, asked, forgotten, written, removed;
	bool down;                /* it cannot be asked */
	bool late;                /* what it has is not told at once */
	bool once;                /* nor twice */
	struct cachedb_find *find; /* under way */
	struct slice value;       /* what it has */
	char key[CACHEDB_KEY_LEN + 1]; /* the last one */
	char keys[64][CACHEDB_KEY_LEN + 1];
	uint8_t put[1024]; /* the last one written */
	size_t put_len;
	uint32_t expires_s;
	void (*on_free)(void);
} shelves[2]; /* the server, its replica */

static struct shelf *const shelf = &shelves[0], *const replica = &shelves[1];

static struct shelf *shelf_of(struct cachedb_store *s)
{
	struct shelf *at = container_of(s, struct shelf, store);

	assert_int_equal(at->opened, at->freed + 1);
	return at;
}

static void note_key(struct shelf *s, const char *key)
{
	assert_int_equal(strlen(key), CACHEDB_KEY_LEN);
	memcpy(s->key, key, sizeof(s->key));
}

static void end_find(struct shelf *s, struct slice value)
{
	struct cachedb_find *f = s->find;

	if (!f)
		return;
	s->find = f->pending = NULL;
	f->found(f, value);
}

static bool shelf_find(struct cachedb_store *store, const char *key, struct cachedb_find *f)
{
	struct shelf *s = shelf_of(store);

	s->asked++;
	note_key(s, key);
	if (s->down)
		return false;
	s->find = f->pending = f;
	if (!s->late)
		end_find(s, s->once && s->asked > 1 ? (struct slice){ .at = NULL } : s->value);
	return true;
}

static void shelf_forget(struct cachedb_store *store, struct cachedb_find *f)
{
	struct shelf *s = shelf_of(store);

	assert_ptr_equal(s->find, f);
	s->forgotten++;
	s->find = f->pending = NULL;
}

static void shelf_put(struct cachedb_store *store, const char *key, struct slice value, uint32_t expires_s)
{
	struct shelf *s = shelf_of(store);

	s->written++;
	note_key(s, key);
	assert_true(value.len <= sizeof(s->put));
	memcpy(s->put, value.at, value.len);
	s->put_len = value.len;
	s->expires_s = expires_s;
}

static void shelf_remove(struct cachedb_store *store, const char *key)
{
	struct shelf *s = shelf_of(store);

	note_key(s, key);
	if (s->removed < COUNT(s->keys))
		memcpy(s->keys[s->removed], key, sizeof(s->key));
	s->removed++;
}

static void shelf_free(struct cachedb_store *store)
{
	struct shelf *s = shelf_of(store);

	s->freed++;
	if (s->on_free)
		s->on_free();
	end_find(s, (struct slice){ .at = NULL });
}

struct cachedb_store *cachedb_redis_new(struct env *env, const struct conf *conf, bool is_replica)
{
	static const struct cachedb_store_ops ops = { .find = shelf_find,
						      .forget = shelf_forget,
						      .put = shelf_put,
						      .remove = shelf_remove,
						      .free = shelf_free };
	struct shelf *s = &shelves[is_replica];

	(void)env;
	(void)conf;
	assert_int_equal(s->opened, s->freed);
	s->opened++;
	s->store.ops = &ops;
	return &s->store;
}

/* ---- the modules above and below ---- */

static struct {
	void (*prepare)(struct query *q);
	void (*outcome)(struct query *q); /* the answer from below is ready */
	bool sleeps;                      /* the module below waits until woken */
	bool again;                       /* the module above asks twice */
	unsigned asked;
} below;

static struct {
	unsigned count;
	uint16_t rcode;
	uint32_t ttl_s;
	char address; /* its last byte */
} done;

static enum step above_operate(struct query *q, void *state, const struct event *ev)
{
	(void)state;
	if (ev->kind == EVENT_ANSWER && !below.again)
		return STEP_UP;
	below.again &= ev->kind == EVENT_ASK;
	if (below.prepare)
		below.prepare(q);
	return STEP_DOWN;
}

static enum step below_operate(struct query *q, void *state, const struct event *ev)
{
	(void)state;
	if (ev->kind == EVENT_ASK) {
		/* it waits for no turn any more */
		assert_int_equal(cachedb_module.operate(q, q->state[1], &(struct event){ .kind = EVENT_TURN }), STEP_STUCK);
		below.asked++;
		if (below.sleeps)
			return wait_here(q);
	}
	q->reply = made_message(&q->arena, q->env->time->now_s,
				&(struct made){ "www.example.", TYPE_A, 0, { "www.example. 300 A 192.0.2.1" } });
	if (below.outcome)
		below.outcome(q);
	return STEP_UP;
}

static void on_done(void *arg, const struct message *m)
{
	(void)arg;
	done.count++;
	done.rcode = m->rcode;
	if (!m->count[SECTION_ANSWER])
		return;
	done.ttl_s = m->sets[0]->ttl_s;
	done.address = (char)rrset_record(m->sets[0], 0).at[3];
}

static void begin(const char *options)
{
	static const struct module above = { .name = "above", .state_size = 1, .operate = above_operate };
	static const struct module under = {
		.name = "below", .state_size = 1, .wakes = WAKE_ANY, .operate = below_operate
	};
	static const struct module *const chain[] = { &above, &cachedb_module, &under, NULL };
	struct fault f = { 0 };
	char text[1000];

	memset(shelves, 0, sizeof(shelves));
	memset(&below, 0, sizeof(below));
	memset(&done, 0, sizeof(done));
	snprintf(text, sizeof(text), "%s%s", REDIS, options);
	world_begin(text);
	mesh_free(world.mesh);
	world.time = (struct timebase){ .now_us = NOW * US_PER_S, .now_s = NOW, .wall_s = WALL, .played = true };
	world.env.time = &world.time;
	world.env.rrsets = rrsetcache_new(1 << 20, 1);
	world.env.mesh = world.mesh = mesh_new(&world.env, chain);
	assert_true(cachedb_module.init(&world.env, &f));
}

static void end(void)
{
	static const struct module *const chain[] = { &finder, NULL };

	mesh_free(world.mesh);
	cachedb_module.deinit(&world.env);
	assert_null(world.env.cachedb);
	for (size_t i = 0; i < COUNT(shelves); i++)
		assert_int_equal(shelves[i].opened, shelves[i].freed);
	world.env.mesh = world.mesh = mesh_new(&world.env, chain);
	rrsetcache_free(world.env.rrsets);
	world_end();
}

static void resolve(unsigned kind)
{
	struct question q = question_of("www.example");

	mesh_resolve(world.mesh, &q, kind, on_done, NULL);
}

static void key_of(char *key, const char *secret)
{
	struct question q = question_of("www.example");

	cachedb_key(key, &q, secret);
}

static const struct made www = { "www.example.", TYPE_A, 0, { "www.example. 300 A 192.0.2.7" } };

/* The store has that message, written so long ago. */
static struct slice value_of(const struct made *made, unsigned flags, uint32_t ttl_s, uint32_t age_s)
{
	struct timebase then = { .now_s = NOW, .wall_s = WALL - age_s };
	uint8_t *at = arena_take(&world.arena, 1024);
	struct writer w = writer_over(at, 1024);

	cachedb_entry_write(&w, made_message(&world.arena, NOW, made), flags, ttl_s, &then);
	assert_false(w.bad);
	return (struct slice){ at, writer_len(&w) };
}

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
static void is_divided(struct query *q) { q->divided = true; }
static void is_for_a_subnet(struct query *q) { q->placed = true; }
static void is_secret(struct query *q) { q->secret = true; }
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
		{ "depends on the client", "", is_divided, false, true },
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

		assert_int_equal(cachedb_is_asked_first(conf), rows[i].asked);
		conf_free(conf);
	}
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
		cmocka_unit_test(a_connection_is_kept_unless_its_settings_change),
		cmocka_unit_test(a_replica_is_read_and_the_server_itself_written),
		cmocka_unit_test(while_a_store_is_closed_queries_see_none),
		cmocka_unit_test(keys_are_removed_from_what_is_written),
		cmocka_unit_test(it_is_asked_before_expired_answers_where_it_is_in_use_and_that_is_wanted),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
