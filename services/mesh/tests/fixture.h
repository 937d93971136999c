/* A fixture for tests of the mesh, in which the questions tell the modules what to do.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * The first letter of a name says it:
 *     n  answer now
 *     w  wait until woken, then answer
 *     f  wait until woken, then fail
 *     t  wait for a timer of five milliseconds, then answer
 *     y  yield, then answer
 *     c  ask for the rest of the name, wait for it, then answer
 *     d  as c, and look at the child only after the module below has been asked
 *     g  as c, but think better of it, and wait to be woken
 *     k  ask a child that waits for this very query */
#ifndef SERVICES_MESH_TESTS_FIXTURE_H
#define SERVICES_MESH_TESTS_FIXTURE_H

#include "services/answer/answer.h"
#include "services/cache/msg.h"
#include "services/mesh/mesh.h"
#include "services/net/client.h"
#include "services/net/shares.h"
#include "services/query/snapshot.h"
#include "services/stats/stats.h"
#include "services/tests/conf.h"
#include "services/upstream/upstream.h"
#include "util/base/fault.h"
#include "util/base/hash.h"
#include "util/base/loop.h"
#include "util/base/mem.h"
#include "util/base/rcu.h"
#include "util/dns/rr.h"

enum { CLIENTS = 64, CONNECTIONS = 4 };

struct heard {
	uint16_t id;
	uint8_t wire[2048];
	size_t len;
	bool dropped;
};

static struct world {
	struct loop *loop;
	struct env env;
	struct snapshot snapshot;
	struct stats stats;
	struct mesh *mesh;
	struct timebase time; /* not the loop's, where a test wants a deadline */
	struct heard heard[CLIENTS];
	unsigned heard_count;
	struct list connections[CONNECTIONS]; /* who waits on each */
	struct query *asleep[CLIENTS];
	unsigned asleep_count;
	unsigned operated;
	uint32_t ttl_s; /* of answers */
	char story[512];
	struct arena arena;
} world;

static inline void tell(const char *word)
{
	size_t len = strlen(world.story);

	snprintf(world.story + len, sizeof(world.story) - len, "%s%s", len ? " " : "", word);
}

static inline void answer_with(struct query *q, enum rcode rcode)
{
	struct message *m = arena_new(&q->arena, struct message);

	m->q = q->question;
	m->rcode = (uint16_t)rcode;
	if (rcode == RCODE_NOERROR) {
		static const uint8_t address[] = { 192, 0, 2, 7 };
		struct slice rdata = { address, sizeof(address) };
		struct rrset_parts parts = { .owner = q->question.name,
					     .type = TYPE_A,
					     .class_ = CLASS_IN,
					     .ttl_s = world.ttl_s,
					     .expires_s = q->env->time->now_s + world.ttl_s,
					     .records = &rdata,
					     .count = 1 };
		m->sets = arena_array(&q->arena, const struct rrset *, 1);
		m->sets[0] = rrset_build(&q->arena, &parts);
		m->count[SECTION_ANSWER] = 1;
	}
	q->reply = m;
}

static inline enum step wait_here(struct query *q)
{
	assert_true(world.asleep_count < CLIENTS);
	world.asleep[world.asleep_count++] = q;
	return STEP_WAIT;
}

/* The lower module: finds answers. */
static inline enum step finder_operate(struct query *q, void *state, const struct event *ev)
{
	const uint8_t *name = q->question.name;

	(void)state;
	world.operated++;
	if (ev->kind == EVENT_CHILD) {
		tell("finder:child");
		answer_with(q, (enum rcode)ev->child->reply->rcode);
		return STEP_UP;
	}
	if (ev->kind == EVENT_TIMER)
		tell("finder:timer");
	switch (name[1]) {
	case 'w':
	case 'f':
		if (ev->kind == EVENT_ASK)
			return wait_here(q);
		answer_with(q, name[1] == 'f' ? RCODE_SERVFAIL : RCODE_NOERROR);
		return STEP_UP;
	case 'y':
		if (ev->kind == EVENT_ASK) {
			mesh_yield(q);
			return STEP_WAIT;
		}
		answer_with(q, RCODE_NOERROR);
		return STEP_UP;
	case 't':
		if (ev->kind == EVENT_ASK) {
			mesh_wake_at(q, 5000);
			return STEP_WAIT;
		}
		answer_with(q, RCODE_NOERROR);
		return STEP_UP;
	case 'c':
		if (mesh_child(q, dname_parent(name), TYPE_A, CLASS_IN, 0))
			return STEP_WAIT;
		tell("finder:no-child");
		answer_with(q, RCODE_SERVFAIL);
		return STEP_UP;
	case 'g':
		if (ev->kind == EVENT_ASK) {
			assert_non_null(mesh_child(q, dname_parent(name), TYPE_A, CLASS_IN, 0));
			assert_int_equal(mesh_children(q), 1);
			mesh_forget_children(q);
			assert_int_equal(mesh_children(q), 0);
			return wait_here(q);
		}
		answer_with(q, RCODE_NOERROR);
		return STEP_UP;
	case 'k':
		/* k1 asks k2, k2 asks k1 */
		if (mesh_child(q,
			       name[2] == '1' ? (const uint8_t *)"\2k2" : (const uint8_t *)"\2k1",
			       TYPE_A, CLASS_IN, 0))
			return STEP_WAIT;
		tell("finder:circle");
		answer_with(q, RCODE_NXDOMAIN);
		return STEP_UP;
	default:
		answer_with(q, RCODE_NOERROR);
		return STEP_UP;
	}
}

/* The upper module: passes on, but for names that begin with d. */
static inline enum step looker_operate(struct query *q, void *state, const struct event *ev)
{
	const uint8_t *name = q->question.name;
	bool *has_asked = state;

	world.operated++;
	if (ev->kind == EVENT_ASK) {
		if (name[1] == 'd') {
			*has_asked = true;
			assert_non_null(mesh_child(q, dname_parent(name), TYPE_A, CLASS_IN, 0));
			tell("looker:asked");
		}
		return STEP_DOWN;
	}
	if (ev->kind == EVENT_ANSWER) {
		if (*has_asked && mesh_children(q)) {
			tell("looker:waits");
			return STEP_WAIT;
		}
		if (*has_asked)
			tell("looker:child-was-done");
		return *has_asked ? STEP_WAIT : STEP_UP;
	}
	assert_int_equal(ev->kind, EVENT_CHILD);
	tell("looker:child");
	return STEP_UP;
}

static unsigned cleared;

static inline void finder_clear(struct query *q, void *state)
{
	(void)q;
	(void)state;
	cleared++;
}

static const struct module looker = { .name = "looker",
				      .state_size = sizeof(bool),
				      .wakes = WAKE_ANY,
				      .operate = looker_operate };
static const struct module finder = {
	.name = "finder",
	.state_size = 1,
	.wakes = WAKE_ANY,
	.operate = finder_operate,
	.clear = finder_clear,
};

static inline void on_reply(const struct client *c, const uint8_t *bytes, size_t len)
{
	struct heard *h = &world.heard[world.heard_count++];

	assert_true(world.heard_count <= CLIENTS && len <= sizeof(h->wire));
	*h = (struct heard){ .id = msg_id(bytes), .len = len };
	memcpy(h->wire, bytes, len);
	(void)c;
}

static inline void on_drop(const struct client *c)
{
	struct heard *h = &world.heard[world.heard_count++];

	assert_true(world.heard_count <= CLIENTS);
	*h = (struct heard){ .id = (uint16_t)c->tag, .dropped = true };
}

static inline struct list *on_connection(const struct client *c)
{
	return c->via ? c->via : &world.connections[0];
}

static const struct client_ops datagram = { .name = "udp", .reply = on_reply, .drop = on_drop };
static const struct client_ops stream = {
	.name = "tcp", .stream = true, .reply = on_reply, .drop = on_drop, .waiting = on_connection
};

static inline void world_begin(const char *conf_text)
{
	static const struct module *const chain[] = { &looker, &finder, NULL };

	world = (struct world){ .loop = loop_new_played() };
	cleared = 0;
	for (unsigned i = 0; i < CONNECTIONS; i++)
		list_init(&world.connections[i]);
	world.ttl_s = 100;
	world.snapshot.conf = conf_from(conf_text);
	world.snapshot.pins = 1;
	world.snapshot.number = 1;
	world.env = (struct env){ .loop = world.loop,
				  .time = loop_time(world.loop),
				  .stats = &world.stats,
				  .snapshot = &world.snapshot,
				  .messages = msgcache_new(1 << 20, 1) };
	world.env.mesh = world.mesh = mesh_new(&world.env, chain);
	arena_init(&world.arena);
	rcu_thread_join();
	rcu_turn_begin();
}

static inline void world_end(void)
{
	mesh_free(world.mesh);
	rcu_turn_end();
	msgcache_free(world.env.messages);
	assert_int_equal(world.snapshot.pins, 1);
	conf_free(world.snapshot.conf);
	arena_clear(&world.arena);
	loop_free(world.loop);
	rcu_flush();
	rcu_thread_leave();
}

static inline const uint8_t *name_of(const char *text)
{
	uint8_t *name = arena_take(&world.arena, DNAME_MAX);
	struct fault f = { 0 };

	if (!dname_parse(name, text, &f))
		fail_msg("%s", f.text);
	return name;
}

static inline struct question question_of(const char *text)
{
	const uint8_t *name = name_of(text);

	return (struct question){ name, (uint16_t)dname_len(name), TYPE_A, CLASS_IN };
}

struct enquiry {
	const char *name;
	uint16_t id, flags;
	bool over_tcp;
	unsigned connection; /* which one */
	uint8_t from; /* 192.0.2.from */
	const struct stored *stale;
};

static inline void ask(const struct enquiry *a)
{
	struct request r = { .id = a->id,
			     .flags = (uint16_t)(a->flags | FLAG_RD),
			     .q = question_of(a->name) };
	struct client c = { .ops = a->over_tcp ? &stream : &datagram,
			    .from = { .family = 4, .ip = { 192, 0, 2, a->from } },
			    .via = a->over_tcp ? &world.connections[a->connection] : NULL,
			    .tag = a->id };

	mesh_ask(world.mesh, &r, &c, a->stale);
}

static inline void ask_for(const char *name, uint16_t id)
{
	ask(&(struct enquiry){ .name = name, .id = id });
}

static inline void ask_over_tcp(const char *name, uint16_t id, unsigned connection)
{
	ask(&(struct enquiry){ .name = name, .id = id, .over_tcp = true, .connection = connection });
}

static inline void wake(unsigned i)
{
	mesh_wake(world.asleep[i], &(struct event){ .kind = EVENT_REPLY });
}

static inline uint64_t count(stat_cell *cell)
{
	return atomic_load(cell);
}

static inline const struct stored *find(const char *name)
{
	struct question q = question_of(name);

	return msgcache_find(world.env.messages, &q, msgcache_hash(&q), 0, false);
}

#endif
