/* What the tests of the module cachedb share: stores, and the modules above and below.
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef SERVICES_CACHEDB_TESTS_FIXTURE_H
#define SERVICES_CACHEDB_TESTS_FIXTURE_H

#include "services/cachedb/cachedb.h"

#include "services/cache/rrset.h"
#include "services/cachedb/store.h"
#include "services/mesh/private.h"
#include "services/mesh/tests/fixture.h"
#include "services/tests/made.h"

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

static UNUSED struct shelf *const shelf = &shelves[0], *const replica = &shelves[1];

static UNUSED struct shelf *shelf_of(struct cachedb_store *s)
{
	struct shelf *at = container_of(s, struct shelf, store);

	assert_int_equal(at->opened, at->freed + 1);
	return at;
}

static UNUSED void note_key(struct shelf *s, const char *key)
{
	assert_int_equal(strlen(key), CACHEDB_KEY_LEN);
	memcpy(s->key, key, sizeof(s->key));
}

static UNUSED void end_find(struct shelf *s, struct slice value)
{
	struct cachedb_find *f = s->find;

	if (!f)
		return;
	s->find = f->pending = NULL;
	f->found(f, value);
}

static UNUSED bool shelf_find(struct cachedb_store *store, const char *key, struct cachedb_find *f)
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

static UNUSED void shelf_forget(struct cachedb_store *store, struct cachedb_find *f)
{
	struct shelf *s = shelf_of(store);

	assert_ptr_equal(s->find, f);
	s->forgotten++;
	s->find = f->pending = NULL;
}

static UNUSED void shelf_put(struct cachedb_store *store, const char *key, struct slice value, uint32_t expires_s)
{
	struct shelf *s = shelf_of(store);

	s->written++;
	note_key(s, key);
	assert_true(value.len <= sizeof(s->put));
	memcpy(s->put, value.at, value.len);
	s->put_len = value.len;
	s->expires_s = expires_s;
}

static UNUSED void shelf_remove(struct cachedb_store *store, const char *key)
{
	struct shelf *s = shelf_of(store);

	note_key(s, key);
	if (s->removed < COUNT(s->keys))
		memcpy(s->keys[s->removed], key, sizeof(s->key));
	s->removed++;
}

static UNUSED void shelf_free(struct cachedb_store *store)
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

static UNUSED enum step above_operate(struct query *q, void *state, const struct event *ev)
{
	(void)state;
	if (ev->kind == EVENT_ANSWER && !below.again)
		return STEP_UP;
	below.again &= ev->kind == EVENT_ASK;
	if (below.prepare)
		below.prepare(q);
	return STEP_DOWN;
}

static UNUSED enum step below_operate(struct query *q, void *state, const struct event *ev)
{
	(void)state;
	if (ev->kind == EVENT_ASK) {
		/* it waits for no turn any more */
		assert_int_equal(cachedb_module.operate(q, lookup_of(q)->state[1], &(struct event){ .kind = EVENT_TURN }), STEP_STUCK);
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

static UNUSED void on_done(void *arg, const struct message *m)
{
	(void)arg;
	done.count++;
	done.rcode = m->rcode;
	if (!m->count[SECTION_ANSWER])
		return;
	done.ttl_s = m->sets[0]->ttl_s;
	done.address = (char)rrset_record(m->sets[0], 0).at[3];
}

static UNUSED void begin(const char *options)
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

static UNUSED void end(void)
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

static UNUSED void resolve(unsigned kind)
{
	struct question q = question_of("www.example");

	mesh_resolve(world.mesh, &q, kind, on_done, NULL);
}

static UNUSED void key_of(char *key, const char *secret)
{
	struct question q = question_of("www.example");

	cachedb_key(key, &q, secret);
}

static const UNUSED struct made www = { "www.example.", TYPE_A, 0, { "www.example. 300 A 192.0.2.7" } };

/* The store has that message, written so long ago. */
static UNUSED struct slice value_of(const struct made *made, unsigned flags, uint32_t ttl_s, uint32_t age_s)
{
	struct timebase then = { .now_s = NOW, .wall_s = WALL - age_s };
	uint8_t *at = arena_take(&world.arena, 1024);
	struct writer w = writer_over(at, 1024);

	cachedb_entry_write(&w, made_message(&world.arena, NOW, made), flags, ttl_s, &then);
	assert_false(w.bad);
	return (struct slice){ at, writer_len(&w) };
}


static UNUSED void is_for_a_subnet(struct query *q) { q->ecs.sent = ECS_SENT; }

#endif
