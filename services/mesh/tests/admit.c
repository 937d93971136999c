/* Claims about who is admitted: how many lookups and clients there may be, who gives way, and what is fetched again.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "services/access/acl.h"
#include "services/access/waitlimit.h"
#include "services/mesh/private.h"
#include "services/mesh/tests/fixture.h"
#include "services/policy/policy.h"

static unsigned admitted(void)
{
	return world.mesh->slots_used[SLOT_KEPT] + world.mesh->slots_used[SLOT_JOSTLED];
}

/* More of them would only wait for a port. */
static void there_are_no_more_lookups_than_ports(void **state)
{
	(void)state;
	static const struct {
		const char *conf;
		unsigned ports, most, kept;
	} rows[] = {
		{ "server: num-queries-per-thread: 8\n", 0, 8, 4 },  { "server: num-queries-per-thread: 8\n", 3, 3, 2 },
		{ "server: num-queries-per-thread: 8\n", 12, 8, 4 }, { "server: num-queries-per-thread: 5\n", 0, 5, 3 },
		{ "server: num-queries-per-thread: 1\n", 0, 1, 1 },
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		char name[20];

		world_begin(rows[i].conf);
		world.env.ports_most = rows[i].ports;
		for (uint16_t id = 1; id <= 12; id++) {
			assert_int_equal(mesh_has_slots(world.mesh), id <= rows[i].most);
			snprintf(name, sizeof name, "w%u.example", id);
			ask(&(struct enquiry){ .name = name, .id = id, .from = (uint8_t)id });
		}
		assert_int_equal(admitted(), rows[i].most);
		assert_int_equal(world.mesh->slots_used[SLOT_KEPT], rows[i].kept);
		assert_int_equal(count(&world.stats.list_exceeded), 12 - rows[i].most);
		assert_int_equal(count(&world.stats.list_overwritten), 0);
		assert_int_equal(world.heard_count, 12 - rows[i].most);
		assert_int_equal(count(&world.stats.list_samples), 12);
		assert_int_equal(count(&world.stats.list_max), rows[i].most);
		world_end();
	}
}

/* A lookup that gives way, but that another needs, goes on without its clients. */
static void what_others_need_goes_on_without_its_clients(void **state)
{
	(void)state;
	world_begin("server: num-queries-per-thread: 3\n jostle-timeout: 200\n");
	ask_for("w0.example", 1);
	ask_for("c.w1.example", 2);
	ask_for("w1.example", 3);
	assert_int_equal(admitted(), 3);
	assert_int_equal(lookup_of(world.asleep[1])->slot, SLOT_JOSTLED);
	loop_play(world.loop, 200001);
	ask_for("w4.example", 4);
	assert_int_equal(world.heard_count, 1);
	assert_int_equal(world.heard[0].id, 3);
	assert_true(world.heard[0].dropped);
	assert_int_equal(lookup_of(world.asleep[1])->slot, SLOT_BACKGROUND);
	assert_int_equal(admitted(), 3);
	/* it takes a place again with the next client */
	ask_for("w1.example", 5);
	assert_int_equal(world.heard_count, 2);
	assert_int_equal(world.heard[1].id, 5); /* there is none: w4 is young */
	wake(1);
	assert_int_equal(world.heard_count, 3);
	assert_int_equal(world.heard[2].id, 2);
	assert_false(world.heard[2].dropped);
	world_end();
}

/* One that has a turn is passed over: it is at work. */
static void what_has_a_turn_does_not_give_way(void **state)
{
	(void)state;
	for (unsigned share = 0; share < 2; share++) {
		world_begin("server: num-queries-per-thread: 40\n jostle-timeout: 200\n");
		for (uint16_t id = 0; id < 40; id++) {
			char name[20];

			snprintf(name, sizeof name, "w%u.example", id);
			ask(&(struct enquiry){ .name = name, .id = id, .from = share ? 1 : (uint8_t)(1 + id) });
		}
		loop_play(world.loop, share ? 0 : 200001);
		lookup_of(world.asleep[20])->running = true;
		ask(&(struct enquiry){ .name = "w99.example", .id = 99, .from = 99 });
		lookup_of(world.asleep[20])->running = false;
		assert_int_equal(world.heard_count, 1);
		assert_int_equal(world.heard[0].id, 21);
		world_end();
	}
}

static unsigned drops;
static uint64_t dropped_last;

static void note_drop(const struct client *c)
{
	drops++;
	dropped_last = c->tag;
}

static const struct client_ops counted = { .name = "udp", .reply = on_reply, .drop = note_drop };

/* Nobody answers. */
static void come(uint8_t from, unsigned id)
{
	struct client c = { .ops = &counted, .from = { .family = 4, .ip = { 192, 0, 2, from } }, .tag = id };
	struct request r = { .id = (uint16_t)id, .flags = FLAG_RD };
	char name[20];

	snprintf(name, sizeof name, "w%u.example", id);
	r.q = question_of(name);
	world.asleep_count = 0;
	mesh_ask(world.mesh, &r, &c, NULL);
}

/* Behind 64 old ones of clients with fewer places nobody looks for one of the newcomer's own. */
static void not_all_old_lookups_are_looked_at(void **state)
{
	(void)state;
	for (unsigned before = 63; before <= 65; before++) {
		/* so many old ones of clients with one place each, before some of a client with more places */
		world_begin("server: num-queries-per-thread: 140\n jostle-timeout: 200\n");
		drops = 0;
		for (unsigned id = 0; id < 140; id++)
			come(id < 70 ? 1 : id < 70 + before ? (uint8_t)(2 + id) : 254, id);
		assert_int_equal(drops, 0);
		loop_play(world.loop, 200001);
		come(254, 200);
		assert_int_equal(drops, 1);
		assert_int_equal(dropped_last, before < 64 ? 70 + before : 200);
		world_end();
	}
}

static struct waitrules *wait_rules;

static void limit_waits(const char *text)
{
	struct fault f = { 0 };

	world_begin(text);
	wait_rules = waitrules_new(world.snapshot.conf, &f);
	assert_non_null(wait_rules);
	world.snapshot.wait_rules = wait_rules;
	world.env.waits = waits_new();
}

static void end_waits(void)
{
	struct waits *w = world.env.waits;

	world_end();
	waits_free(w);
	waitrules_free(wait_rules);
}

/* Whoever is turned away is counted no longer; of whom nothing is to be counted, nothing is. */
static void a_client_waits_for_so_many_answers(void **state)
{
	(void)state;
	struct addr client = { .family = 4, .ip = { 192, 0, 2, 1 } }, free = { .family = 4, .ip = { 192, 0, 2, 7 } };

	limit_waits("server: wait-limit: 2\n wait-limit-netblock: 192.0.2.7/32 -1\n");
	ask(&(struct enquiry){ .name = "w1.example", .id = 1, .from = 1 });
	ask(&(struct enquiry){ .name = "w1.example", .id = 2, .from = 1 });
	assert_int_equal(waits_count(world.env.waits, &client), 2);
	ask(&(struct enquiry){ .name = "w1.example", .id = 3, .from = 1 });
	assert_int_equal(world.heard_count, 1);
	assert_int_equal(world.heard[0].id, 3);
	assert_true(world.heard[0].dropped);
	assert_int_equal(count(&world.stats.count[STAT_queries_wait_limit]), 1);
	assert_int_equal(waits_count(world.env.waits, &client), 2);
	for (uint16_t id = 4; id < 8; id++)
		ask(&(struct enquiry){ .name = "w1.example", .id = id, .from = 7 });
	assert_int_equal(world.heard_count, 1);
	assert_int_equal(waits_count(world.env.waits, &free), 0);
	wake(0);
	assert_int_equal(world.heard_count, 7);
	assert_int_equal(waits_count(world.env.waits, &client), 0);
	end_waits();

	limit_waits("server: num-queries-per-thread: 1\n wait-limit: 9\n");
	ask(&(struct enquiry){ .name = "w1.example", .id = 1, .from = 2 });
	ask(&(struct enquiry){ .name = "w2.example", .id = 2, .from = 1 });
	assert_int_equal(world.heard[0].id, 2);
	assert_int_equal(waits_count(world.env.waits, &client), 0);
	assert_int_equal(count(&world.stats.count[STAT_queries_wait_limit]), 0);
	end_waits();
}

/* In the background, unless it is under way; it takes nobody's place, and a client that comes makes it its own. */
static void a_refresh_takes_nobodys_place(void **state)
{
	(void)state;
	struct question q;

	world_begin("server: num-queries-per-thread: 2\n jostle-timeout: 200\n");
	q = question_of("w1.example");
	mesh_refresh(world.mesh, &q, 0, NULL);
	assert_int_equal(mesh_size(world.mesh), 1);
	assert_true(world.asleep[0]->is_refresh);
	assert_true(world.asleep[0]->kind & QUERY_NO_CACHE);
	assert_int_equal(lookup_of(world.asleep[0])->slot, SLOT_JOSTLED);
	assert_int_equal(count(&world.stats.count[STAT_prefetch]), 1);
	assert_int_equal(count(&world.stats.list_samples), 1);
	mesh_refresh(world.mesh, &q, 0, NULL);
	mesh_refresh(world.mesh, &q, QUERY_CD, NULL); /* another question */
	assert_int_equal(mesh_size(world.mesh), 2);
	assert_int_equal(count(&world.stats.count[STAT_prefetch]), 2);
	q = question_of("w2.example");
	loop_play(world.loop, 300000);
	mesh_refresh(world.mesh, &q, 0, NULL);
	assert_int_equal(mesh_size(world.mesh), 2);
	assert_int_equal(count(&world.stats.count[STAT_prefetch]), 2);
	assert_int_equal(count(&world.stats.list_exceeded), 1);
	assert_int_equal(count(&world.stats.list_overwritten), 0);
	ask_for("w1.example", 7);
	assert_false(world.asleep[0]->is_refresh);
	assert_int_equal(lookup_of(world.asleep[0])->slot, SLOT_JOSTLED);
	assert_int_equal(mesh_size(world.mesh), 2);
	wake(0);
	assert_int_equal(world.heard_count, 1);
	world_end();
}

static unsigned resolved;

static void on_resolved(void *arg, const struct message *reply)
{
	(void)arg, (void)reply;
	resolved++;
}

/* No client sees it: policy zones stop it for nobody. */
static void a_question_of_the_servers_own_is_no_clients(void **state)
{
	(void)state;
	struct question q;

	world_begin("server: num-queries-per-thread: 1\n");
	resolved = 0;
	q = question_of("w1.example");
	ask_for("w1.example", 1);
	mesh_resolve(world.mesh, &q, 0, on_resolved, NULL);
	mesh_resolve(world.mesh, &q, 0, on_resolved, NULL);
	assert_int_equal(mesh_size(world.mesh), 2);
	assert_true(world.asleep[1]->kind & QUERY_RPZ_PASSED);
	assert_int_equal(lookup_of(world.asleep[1])->slot, SLOT_BACKGROUND);
	wake(0);
	assert_int_equal(resolved, 0);
	wake(1);
	assert_int_equal(resolved, 2);
	mesh_refresh(world.mesh, &q, QUERY_RPZ_PASSED, NULL);
	assert_true(world.asleep[2]->is_refresh);
	mesh_resolve(world.mesh, &q, 0, on_resolved, NULL);
	assert_false(world.asleep[2]->is_refresh);
	wake(2);
	assert_int_equal(resolved, 3);
	world_end();
}

/* Behind aliases that are known, too, a hit near its end is fetched again. */
static void what_aliases_lead_to_is_fetched_again_in_time(void **state)
{
	(void)state;
	static const struct {
		const char *conf, *target;
		uint64_t pass_us;
		bool fetched;
	} rows[] = {
		{ "server: prefetch: yes\n", "n.example", 95 * US_PER_S, true },
		{ "server: prefetch: yes\n", "n.example", 10 * US_PER_S, false },
		{ "server: prefetch: no\n", "n.example", 95 * US_PER_S, false },
		{ "server: prefetch: yes\n", "n.example", 101 * US_PER_S, false },
		{ "server: prefetch: yes\n", "w.example", 95 * US_PER_S, false },
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		struct client c = { .ops = &datagram, .from = { .family = 4, .ip = { 192, 0, 2, 1 } } };
		struct request r = { .id = 2, .flags = FLAG_RD };
		struct alias_prefix aliases = { .count = 0 };
		const struct rrset *cname;
		struct slice target;

		world_begin(rows[i].conf);
		ask_for("n.example", 1);
		assert_int_equal(world.heard_count, 1);
		loop_play(world.loop, rows[i].pass_us);
		r.q = question_of("alias.example");
		target = (struct slice){ name_of(rows[i].target), 11 };
		cname = rrset_build(&world.arena, &(struct rrset_parts){ .owner = r.q.name, .type = TYPE_CNAME, .class_ = CLASS_IN, .records = &target,
									  .count = 1 });
		assert_true(alias_prefix_add(&aliases, &world.arena, cname));
		mesh_ask_behind(world.mesh, &r, &c, &aliases);
		if (count(&world.stats.count[STAT_prefetch]) != rows[i].fetched)
			fail_msg("row %zu", i);
		world_end();
	}
}

/* What has expired goes first behind aliases, too, where nobody is to wait, or where nothing is to be asked; a lookup that nobody
 * waits for any more is given up then. */
static void something_expired_behind_aliases_goes_first_where_it_may(void **state)
{
	(void)state;
	static const struct {
		const char *why, *conf;
		bool failed_lately, other;
		unsigned heard, left; /* answers at once, and lookups thereafter */
	} rows[] = {
		{ "it may wait", "server: serve-expired: yes\n serve-expired-client-timeout: 1800\n", false, false, 0, 1 },
		{ "nobody is to wait", "server: serve-expired: yes\n serve-expired-client-timeout: 0\n", false, false, 1, 1 },
		{ "the last refresh has failed", "server: serve-expired: yes\n serve-expired-client-timeout: 1800\n", true, false, 1, 0 },
		{ "it has failed, and another waits", "server: serve-expired: yes\n serve-expired-client-timeout: 1800\n", true, true, 1, 1 },
		{ "it is switched off", "server: serve-expired: no\n", true, false, 0, 1 },
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		struct client c = { .ops = &datagram, .from = { .family = 4, .ip = { 192, 0, 2, 1 } } };
		struct request r = { .id = 2, .flags = FLAG_RD };
		struct alias_prefix aliases = { .count = 0 };
		const struct rrset *cname;
		struct fault f = { 0 };
		struct slice target;

		world_begin(rows[i].conf);
		world.snapshot.acl = acl_new(world.snapshot.conf, &f);
		world.snapshot.policy = policy_new(world.snapshot.conf, &f);
		ask_for("w.example", 1);
		wake(0);
		loop_play(world.loop, 101 * US_PER_S);
		((struct stored *)(uintptr_t)find("w.example"))->refresh_s = world.env.time->now_s + (rows[i].failed_lately ? 30u : 0u);
		if (rows[i].other)
			ask_for("w.example", 3);
		world.heard_count = 0;
		r.q = question_of("alias.example");
		target = (struct slice){ name_of("w.example"), 11 };
		cname = rrset_build(&world.arena, &(struct rrset_parts){ .owner = r.q.name, .type = TYPE_CNAME, .class_ = CLASS_IN, .records = &target,
									  .count = 1 });
		assert_true(alias_prefix_add(&aliases, &world.arena, cname));
		mesh_ask_behind(world.mesh, &r, &c, &aliases);
		if (world.heard_count != rows[i].heard || mesh_size(world.mesh) != rows[i].left)
			fail_msg("%s: %u heard, %u left", rows[i].why, world.heard_count, mesh_size(world.mesh));
		acl_free(world.snapshot.acl);
		policy_free(world.snapshot.policy);
		world_end();
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(there_are_no_more_lookups_than_ports),
		cmocka_unit_test(what_others_need_goes_on_without_its_clients),
		cmocka_unit_test(what_has_a_turn_does_not_give_way),
		cmocka_unit_test(not_all_old_lookups_are_looked_at),
		cmocka_unit_test(a_client_waits_for_so_many_answers),
		cmocka_unit_test(a_refresh_takes_nobodys_place),
		cmocka_unit_test(a_question_of_the_servers_own_is_no_clients),
		cmocka_unit_test(what_aliases_lead_to_is_fetched_again_in_time),
		cmocka_unit_test(something_expired_behind_aliases_goes_first_where_it_may),
	};

	hash_start(true);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
