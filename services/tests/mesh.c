/* Claims about the mesh: who joins, who waits, who must go, and what everybody is told.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "services/mesh.h"

#include "services/answer.h"
#include "services/cache/msg.h"
#include "services/listen.h"
#include "services/shares.h"
#include "services/snapshot.h"
#include "services/stats.h"
#include "services/upstream.h"
#include "util/fault.h"
#include "util/hash.h"
#include "util/mem.h"
#include "util/options.h"
#include "util/rcu.h"
#include "util/rr.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

/*
 * A house in which the questions tell the modules what to do, letter by letter of their first
 * label: n  answer now            w  wait until woken, then answer f  wait, then fail       c  ask
 * for the rest of the name, wait for it, then answer d  as c, and look at the child only after the
 * module below has been asked g  as c, but think better of it, and wait to be woken k  ask a child
 * that waits for this very query       y  yield, then answer
 */

enum { CLIENTS = 64 };

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
	struct query *asleep[CLIENTS];
	unsigned asleep_count;
	unsigned operated;
	char story[512];
	struct arena arena;
} world;

static void tell(const char *word)
{
	size_t len = strlen(world.story);

	snprintf(world.story + len, sizeof(world.story) - len, "%s%s", len ? " " : "", word);
}

static void answer_with(struct query *q, enum rcode rcode)
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
					     .ttl_s = 100,
					     .expires_s = q->env->time->now_s + 100,
					     .records = &rdata,
					     .count = 1 };
		m->sets = arena_array(&q->arena, const struct rrset *, 1);
		m->sets[0] = rrset_build(&q->arena, &parts);
		m->count[SECTION_ANSWER] = 1;
	}
	q->reply = m;
}

static enum step wait_here(struct query *q)
{
	assert_true(world.asleep_count < CLIENTS);
	world.asleep[world.asleep_count++] = q;
	return STEP_WAIT;
}

/* The lower module: finds answers. */
static enum step finder_operate(struct query *q, void *state, const struct event *ev)
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
static enum step looker_operate(struct query *q, void *state, const struct event *ev)
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

static void finder_clear(struct query *q, void *state)
{
	(void)q;
	(void)state;
	cleared++;
}

static const struct module looker = { .name = "looker", .state_size = sizeof(bool),
				      .operate = looker_operate };
static const struct module finder = { .name = "finder", .state_size = 1,
				      .operate = finder_operate, .clear = finder_clear };

static void on_reply(const struct client *c, const uint8_t *bytes, size_t len)
{
	struct heard *h = &world.heard[world.heard_count++];

	assert_true(world.heard_count <= CLIENTS && len <= sizeof(h->wire));
	*h = (struct heard){ .id = msg_id(bytes), .len = len };
	memcpy(h->wire, bytes, len);
	(void)c;
}

static void on_drop(const struct client *c)
{
	struct heard *h = &world.heard[world.heard_count++];

	assert_true(world.heard_count <= CLIENTS);
	*h = (struct heard){ .id = (uint16_t)c->tag, .dropped = true };
}

static const struct client_ops datagram = { .name = "udp", .reply = on_reply, .drop = on_drop };
static const struct client_ops stream = {
	.name = "tcp", .stream = true, .reply = on_reply, .drop = on_drop
};

static void world_begin(const char *conf_text)
{
	static const struct module *const chain[] = { &looker, &finder, NULL };
	struct conf_report report = { NULL, 0, 0 };
	struct conf_how how = { .no_files = true };

	world = (struct world){ .loop = loop_new_played() };
	cleared = 0;
	world.snapshot.conf = conf_new();
	world.snapshot.pins = 1;
	world.snapshot.number = 1;
	if (!conf_load_text(world.snapshot.conf, "test", conf_text, strlen(conf_text), &how,
			    &report))
		fail_msg("%s", report.remarks[0].text);
	conf_report_clear(&report);
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

static void world_end(void)
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

static const uint8_t *name_of(const char *text)
{
	uint8_t *name = arena_take(&world.arena, DNAME_MAX);
	struct fault f = { 0 };

	if (!dname_parse(name, text, &f))
		fail_msg("%s", f.text);
	return name;
}

static struct question question_of(const char *text)
{
	const uint8_t *name = name_of(text);

	return (struct question){ name, (uint16_t)dname_len(name), TYPE_A, CLASS_IN };
}

struct asking {
	const char *name;
	uint16_t id, flags;
	bool over_tcp;
	uint8_t from; /* 192.0.2.from */
	const struct stored *stale;
};

static void ask(const struct asking *a)
{
	struct request r = { .id = a->id,
			     .flags = (uint16_t)(a->flags | FLAG_RD),
			     .q = question_of(a->name) };
	struct client c = { .ops = a->over_tcp ? &stream : &datagram,
			    .from = { .family = 4, .ip = { 192, 0, 2, a->from } },
			    .tag = a->id };

	mesh_ask(world.mesh, &r, &c, a->stale);
}

static void ask_for(const char *name, uint16_t id)
{
	ask(&(struct asking){ .name = name, .id = id });
}

static void wake(unsigned i)
{
	mesh_wake(world.asleep[i], &(struct event){ .kind = EVENT_REPLY });
}

static uint64_t count(stat_cell *cell)
{
	return atomic_load(cell);
}

/* ---- claims ---- */

static void equal_questions_are_worked_on_once(void **state)
{
	(void)state;
	static const struct {
		const char *name;
		uint16_t id;
	} rows[] = {
		{ "www.example", 1 },
		{ "WWW.example", 2 },
		{ "www.EXAMPLE", 3 },
	};

	world_begin("");
	for (size_t i = 0; i < COUNT(rows); i++)
		ask_for(rows[i].name, rows[i].id);
	assert_int_equal(mesh_size(world.mesh), 1);
	assert_int_equal(world.asleep_count, 1);
	assert_int_equal(world.heard_count, 0);
	wake(0);
	assert_int_equal(world.heard_count, COUNT(rows));
	for (size_t i = 0; i < COUNT(rows); i++) {
		const struct heard *h = &world.heard[i];
		const uint8_t *name = name_of(rows[i].name);

		assert_int_equal(h->id, rows[i].id);
		assert_memory_equal(h->wire + MSG_HEAD_LEN, name, dname_len(name));
		assert_int_equal(msg_rcode(h->wire), RCODE_NOERROR);
		assert_int_equal(get_u16(h->wire + 6), 1);
		assert_true(msg_flags(h->wire) & FLAG_RD);
	}
	assert_int_equal(mesh_size(world.mesh), 0);
	assert_int_equal(count(&world.stats.count[STAT_recursivereplies]), 3);
	assert_int_equal(count(&world.stats.count[STAT_cachemiss]), 3);
	assert_int_equal(cleared, 1);
	world_end();
}

static bool has_id(const struct client *c, const void *id)
{
	return c->tag == *(const uint16_t *)id;
}

static void what_a_client_takes_back_is_given_up_unless_others_need_it(void **state)
{
	(void)state;
	static const struct {
		const char *why, *name, *other; /* asked by 1, and then by 2 */
		unsigned left;                  /* queries, once 1 has left */
		unsigned told;                  /* once what still waits was answered: 1 and 2 */
	} rows[] = {
		{ "nobody else", "www.example", NULL, 0, 1 },
		{ "its child goes, too", "c.www.example", NULL, 0, 1 },
		{ "another client waits for it", "www.example", "www.example", 1, 2 },
		{ "another query waits for it", "www.example", "c.www.example", 2, 2 },
		{ "the child is another client's", "c.www.example", "www.example", 1, 2 },
	};
	const uint16_t one = 1, nobody = 7;

	for (size_t i = 0; i < COUNT(rows); i++) {
		world_begin("");
		ask_for(rows[i].name, 1);
		if (rows[i].other)
			ask_for(rows[i].other, 2);
		mesh_leave(world.mesh, has_id, &nobody);
		assert_int_equal(world.heard_count, 0);
		mesh_leave(world.mesh, has_id, &one);
		if (world.heard_count != 1 || !world.heard[0].dropped || world.heard[0].id != 1 ||
		    mesh_size(world.mesh) != rows[i].left)
			fail_msg("%s: %u told, %u left", rows[i].why, world.heard_count,
				 mesh_size(world.mesh));
		if (rows[i].left)
			wake(0);
		if (world.heard_count != rows[i].told || mesh_size(world.mesh))
			fail_msg("%s: %u told in the end", rows[i].why, world.heard_count);
		mesh_leave(world.mesh, has_id, &one);
		assert_int_equal(world.heard_count, rows[i].told);
		world_end();
	}
}

static void a_question_with_cd_is_another(void **state)
{
	(void)state;
	world_begin("");
	ask_for("www.example", 1);
	ask(&(struct asking){ .name = "www.example", .id = 2, .flags = FLAG_CD });
	assert_int_equal(mesh_size(world.mesh), 2);
	wake(1);
	assert_int_equal(world.heard_count, 1);
	assert_int_equal(world.heard[0].id, 2);
	assert_true(msg_flags(world.heard[0].wire) & FLAG_CD);
	world_end();
	assert_int_equal(world.heard_count, 2);
	assert_true(world.heard[1].dropped);
}

static void modules_are_told_in_their_turn(void **state)
{
	(void)state;
	static const struct {
		const char *why, *name, *story;
		uint16_t rcode;
	} rows[] = {
		{ "an answer at once", "n.example", "", RCODE_NOERROR },
		{ "a child", "c.n.example", "finder:child", RCODE_NOERROR },
		{ "a child of a child", "c.c.n.example", "finder:child finder:child",
		  RCODE_NOERROR },
		{ "the child of a module that does not wait is told when it does", "d.n.example",
		  "looker:asked looker:waits looker:child", RCODE_NOERROR },
		{ "two that would wait for each other", "k1", "finder:circle finder:child",
		  RCODE_NXDOMAIN },
		{ "nine children deep", "c.c.c.c.c.c.c.c.c.n.example",
		  "finder:no-child finder:child finder:child finder:child finder:child "
		  "finder:child finder:child finder:child finder:child",
		  RCODE_SERVFAIL },
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		world_begin("");
		ask_for(rows[i].name, 7);
		if (strcmp(world.story, rows[i].story) != 0)
			fail_msg("%s: \"%s\", not \"%s\"", rows[i].why, world.story, rows[i].story);
		assert_int_equal(world.heard_count, 1);
		if (msg_rcode(world.heard[0].wire) != rows[i].rcode)
			fail_msg("%s: rcode %u", rows[i].why, msg_rcode(world.heard[0].wire));
		assert_int_equal(mesh_size(world.mesh), 0);
		world_end();
	}
}

static void a_timer_wakes_who_set_it(void **state)
{
	(void)state;
	world_begin("");
	ask_for("t.example", 1);
	loop_play(world.loop, 4999);
	assert_int_equal(world.heard_count, 0);
	loop_play(world.loop, 1);
	assert_int_equal(world.heard_count, 1);
	assert_string_equal(world.story, "finder:timer");
	world_end();
}

static void a_question_of_a_client_and_of_a_module_are_one(void **state)
{
	(void)state;
	world_begin("");
	ask_for("c.w.example", 1);
	ask_for("w.example", 2);
	assert_int_equal(mesh_size(world.mesh), 2);
	assert_int_equal(world.asleep_count, 1);
	wake(0);
	assert_int_equal(world.heard_count, 2);
	world_end();
}

static void a_full_list_makes_room_by_age(void **state)
{
	(void)state;
	static const struct {
		const char *why;
		uint64_t pass_us;
		uint16_t dropped[3];
		unsigned dropped_count, overwritten, exceeded;
	} rows[] = {
		{ "young ones stay, the newcomer goes", 200000, { 3 }, 1, 0, 1 },
		{ "an old one gives way, but not the first half", 200001, { 2 }, 1, 1, 0 },
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		world_begin("server: num-queries-per-thread: 2\n jostle-timeout: 200\n");
		ask_for("w1.example", 1);
		ask_for("w2.example", 2);
		loop_play(world.loop, rows[i].pass_us);
		ask_for("w3.example", 3);
		if (world.heard_count != rows[i].dropped_count)
			fail_msg("%s: %u dropped", rows[i].why, world.heard_count);
		for (unsigned d = 0; d < world.heard_count; d++) {
			assert_true(world.heard[d].dropped);
			assert_int_equal(world.heard[d].id, rows[i].dropped[d]);
		}
		assert_int_equal(count(&world.stats.list_overwritten), rows[i].overwritten);
		assert_int_equal(count(&world.stats.list_exceeded), rows[i].exceeded);
		assert_int_equal(mesh_size(world.mesh), 2);
		world_end();
	}
}

/* `count` questions that nobody answers, each another; their ids begin at `first`. */
static void flood(uint8_t from, unsigned count, uint16_t first)
{
	for (unsigned i = 0; i < count; i++) {
		char name[32];

		snprintf(name, sizeof(name), "w%u-%u.example", from, first + i);
		ask(&(struct asking){ .name = name, .id = (uint16_t)(first + i), .from = from });
	}
}

static void who_holds_many_places_makes_room(void **state)
{
	(void)state;
	/* Of 40 places 20 may be given to others; what comes first takes the other 20. */
	static const struct {
		const char *why;
		struct {
			uint8_t from;
			unsigned count;
		} floods[3];
		uint64_t pass_us;
		uint8_t newcomer;
		uint16_t dropped; /* who */
	} rows[] = {
		{ "the oldest of the one who holds all, however young", { { 1, 40 } }, 0, 2, 20 },
		{ "nobody's for one more of his own", { { 1, 40 } }, 0, 1, 99 },
		{ "his own old ones", { { 1, 40 } }, 200001, 1, 20 },
		{ "of two, who holds most", { { 1, 24 }, { 2, 16 } }, 0, 3, 24 },
		{ "of two, who holds most, for the other one", { { 1, 38 }, { 2, 2 } }, 0, 2, 20 },
		{ "between equals nobody goes", { { 1, 30 }, { 2, 10 } }, 0, 2, 99 },
		{ "between equals the old one goes", { { 1, 30 }, { 2, 10 } }, 200001, 2, 20 },
		{ "who holds least is not the one", { { 9, 20 }, { 2, 2 }, { 1, 18 } }, 200001, 1, 22 },
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		uint16_t next = 0;

		world_begin("server: num-queries-per-thread: 40\n jostle-timeout: 200\n");
		for (unsigned f = 0; f < COUNT(rows[i].floods); f++) {
			flood(rows[i].floods[f].from, rows[i].floods[f].count, next);
			next = (uint16_t)(next + rows[i].floods[f].count);
		}
		assert_int_equal(world.heard_count, 0);
		loop_play(world.loop, rows[i].pass_us);
		flood(rows[i].newcomer, 1, 99);
		if (world.heard_count != 1 || world.heard[0].id != rows[i].dropped)
			fail_msg("%s: %u dropped, %u first", rows[i].why, world.heard_count,
				 world.heard[0].id);
		assert_true(world.heard[0].dropped);
		assert_int_equal(mesh_size(world.mesh), 40);
		world_end();
	}
}

/* A client that does not by chance share its lane with client 1. */
static uint8_t client_beside(void)
{
	struct addr one = { .family = 4, .ip = { 192, 0, 2, 1 } }, other = one;

	do
		other.ip[3]++;
	while (((client_hash(&one) ^ client_hash(&other)) & 31) == 0);
	return other.ip[3];
}

/* However many of one client's yield, another's comes after one of them. */
static void those_who_yield_take_turns_by_client(void **state)
{
	static const char *const busy[] = { "y1.example", "y2.example", "y3.example", "y4.example" };
	unsigned place = 0;

	(void)state;
	world_begin("");
	for (uint16_t i = 0; i < COUNT(busy); i++)
		ask(&(struct asking){ .name = busy[i], .id = i, .from = 1 });
	ask(&(struct asking){ .name = "y9.example", .id = 9, .from = client_beside() });
	loop_play(world.loop, 1000);
	assert_int_equal(world.heard_count, COUNT(busy) + 1);
	while (world.heard[place].id != 9)
		place++;
	assert_true(place <= 1);
	world_end();
}

/* What several wait for is the place of whoever holds least. */
static void a_question_of_a_small_client_goes_with_it(void **state)
{
	(void)state;
	world_begin("server: num-queries-per-thread: 40\n jostle-timeout: 200\n");
	flood(1, 40, 0);
	ask(&(struct asking){ .name = "w1-20.example", .id = 50, .from = 2 });
	flood(3, 1, 60);
	assert_int_equal(world.heard_count, 1);
	assert_int_equal(world.heard[0].id, 21);
	world_end();
}

static void joining_needs_no_room(void **state)
{
	(void)state;
	world_begin("server: num-queries-per-thread: 1\n");
	ask_for("w.example", 1);
	ask_for("w.example", 2);
	assert_int_equal(world.heard_count, 0);
	/* sixteen clients to a place in all */
	for (uint16_t id = 3; id <= 17; id++)
		ask_for("w.example", id);
	assert_int_equal(world.heard_count, 1);
	assert_int_equal(world.heard[0].id, 17);
	assert_true(world.heard[0].dropped);
	assert_int_equal(count(&world.stats.count[STAT_queries_replyaddr_limit]), 1);
	wake(0);
	assert_int_equal(world.heard_count, 17);
	world_end();
}

static void what_gives_way_takes_its_children_along(void **state)
{
	(void)state;
	world_begin("server: num-queries-per-thread: 2\n jostle-timeout: 1\n");
	ask_for("w1.example", 1);
	ask_for("c.c.w2.example", 2);
	assert_int_equal(mesh_size(world.mesh), 4);
	loop_play(world.loop, 2000);
	ask_for("w3.example", 3);
	assert_int_equal(mesh_size(world.mesh), 2);
	assert_int_equal(world.heard_count, 1);
	assert_int_equal(world.heard[0].id, 2);
	world_end();
}

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
		ask(&(struct asking){ .name = "w.example", .id = 1, .over_tcp = rows[i].tcp });
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

static const struct stored *find(const char *name)
{
	struct question q = question_of(name);

	return msgcache_find(world.env.messages, &q, msgcache_hash(&q), 0, false);
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
		ask(&(struct asking){
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

static void something_expired_is_better_than_a_failure(void **state)
{
	(void)state;
	static const struct {
		const char *why, *conf;
		uint64_t pass_s;
		uint16_t rcode;
	} rows[] = {
		{ "expired a while ago", "server: serve-expired: yes\n", 200, RCODE_NOERROR },
		{ "expired for too long", "server: serve-expired: yes\n serve-expired-ttl: 50\n",
		  200, RCODE_SERVFAIL },
		{ "switched off", "", 200, RCODE_SERVFAIL },
	};

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
		msgcache_store(world.env.messages, &m,
			       &(struct msg_keep){ .now_s = world.env.time->now_s, .ttl_s = 100 });
		wake(0);
		world.heard_count = 0;
		loop_play(world.loop, rows[i].pass_s * US_PER_S);
		ask(&(struct asking){ .name = "f.example", .id = 2 });
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
	mesh_refresh(world.mesh, &q, 0);
	mesh_refresh(world.mesh, &q, 0);
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
	mesh_refresh(world.mesh, &q, 0);
	q = question_of("w3.example");
	mesh_refresh(world.mesh, &q, 0);
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

static void dropped_is_dropped(void **state)
{
	(void)state;
	world_begin("");
	ask_for("w1.example", 1);
	ask_for("c.w1.example", 2);
	ask_for("c.c.w2.example", 3);
	assert_int_equal(mesh_size(world.mesh), 5);
	mesh_drop_all(world.mesh);
	assert_int_equal(mesh_size(world.mesh), 0);
	assert_int_equal(world.heard_count, 3);
	for (unsigned i = 0; i < 3; i++)
		assert_true(world.heard[i].dropped);
	ask_for("n.example", 4);
	assert_int_equal(world.heard_count, 4);
	world_end();
}

static void on_resolved(void *arg, const struct message *reply)
{
	*(int *)arg = reply->rcode;
}

static void anybody_may_ask_without_a_packet(void **state)
{
	(void)state;
	static const struct {
		const char *name;
		bool wait;
		int rcode;
	} rows[] = {
		{ "n.example", false, RCODE_NOERROR },
		{ "w.example", true, RCODE_NOERROR },
		{ "f.example", true, RCODE_SERVFAIL },
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		struct question q;
		int rcode = -1;

		world_begin("");
		q = question_of(rows[i].name);
		mesh_resolve(world.mesh, &q, 0, on_resolved, &rcode);
		if (rows[i].wait) {
			assert_int_equal(rcode, -1);
			wake(0);
		}
		assert_int_equal(rcode, rows[i].rcode);
		world_end();
	}
}

static void children_are_paid_for(void **state)
{
	(void)state;
	world_begin("");
	ask_for("w.example", 1);
	world.asleep[0]->budget->children = 1;
	assert_true(mesh_side(world.asleep[0], name_of("w1.example"), TYPE_A, CLASS_IN, 0));
	/* what is asked already costs nothing */
	assert_true(mesh_side(world.asleep[0], name_of("w1.example"), TYPE_A, CLASS_IN, 0));
	assert_false(mesh_side(world.asleep[0], name_of("w2.example"), TYPE_A, CLASS_IN, 0));
	assert_null(mesh_child(world.asleep[0], name_of("w2.example"), TYPE_A, CLASS_IN, 0));
	assert_null(mesh_child(world.asleep[0], name_of("w.example"), TYPE_A, CLASS_IN, 0));
	assert_int_equal(mesh_size(world.mesh), 2);
	wake(0);
	assert_int_equal(mesh_size(world.mesh), 1);
	world_end();
}

static void what_is_forgotten_is_not_told(void **state)
{
	(void)state;
	world_begin("");
	ask_for("g.w.example", 1);
	assert_int_equal(world.asleep_count, 2);
	/* the child goes on by itself, and nobody hears of its end */
	wake(1);
	assert_int_equal(mesh_size(world.mesh), 1);
	assert_string_equal(world.story, "");
	assert_int_equal(world.heard_count, 0);
	wake(0);
	assert_int_equal(world.heard_count, 1);
	world_end();
}

static void some_errands_are_not_kept(void **state)
{
	(void)state;
	static const struct {
		const char *why;
		unsigned kind;
		bool no_store, kept;
	} rows[] = {
		{ "an answer", 0, false, true },
		{ "with CD", QUERY_CD, false, true },
		{ "told not to", 0, true, false },
		{ "priming", QUERY_PRIME, false, false },
		{ "from the parent's side", QUERY_PARENT_SIDE, false, false },
		{ "not validated yet", QUERY_NO_VALIDATE, false, false },
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		struct question q;
		int rcode = -1;

		world_begin("");
		q = question_of("w.example");
		mesh_resolve(world.mesh, &q, rows[i].kind, on_resolved, &rcode);
		world.asleep[0]->no_store = rows[i].no_store;
		wake(0);
		if ((find("w.example") != NULL) != rows[i].kept)
			fail_msg("%s", rows[i].why);
		world_end();
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(equal_questions_are_worked_on_once),
		cmocka_unit_test(what_a_client_takes_back_is_given_up_unless_others_need_it),
		cmocka_unit_test(a_question_with_cd_is_another),
		cmocka_unit_test(modules_are_told_in_their_turn),
		cmocka_unit_test(a_timer_wakes_who_set_it),
		cmocka_unit_test(a_question_of_a_client_and_of_a_module_are_one),
		cmocka_unit_test(a_full_list_makes_room_by_age),
		cmocka_unit_test(who_holds_many_places_makes_room),
		cmocka_unit_test(those_who_yield_take_turns_by_client),
		cmocka_unit_test(a_question_of_a_small_client_goes_with_it),
		cmocka_unit_test(joining_needs_no_room),
		cmocka_unit_test(what_gives_way_takes_its_children_along),
		cmocka_unit_test(an_answer_that_comes_too_late_is_not_sent_over_udp),
		cmocka_unit_test(something_expired_is_better_than_waiting),
		cmocka_unit_test(something_expired_is_better_than_a_failure),
		cmocka_unit_test(a_refresh_is_begun_once_and_joined),
		cmocka_unit_test(a_refresh_gives_way),
		cmocka_unit_test(after_ten_seconds_it_has_failed),
		cmocka_unit_test(under_a_played_clock_nothing_is_too_slow),
		cmocka_unit_test(dropped_is_dropped),
		cmocka_unit_test(anybody_may_ask_without_a_packet),
		cmocka_unit_test(children_are_paid_for),
		cmocka_unit_test(what_is_forgotten_is_not_told),
		cmocka_unit_test(some_errands_are_not_kept),
	};

	hash_start(true);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
