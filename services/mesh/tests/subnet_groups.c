/* Claims about groups: clients told apart by subnet wait for the members whose answers they may have.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "services/mesh/subnet_group.h"

#include "services/cache/subnet_index.h"
#include "services/forward/subnets.h"
#include "services/mesh/private.h"
#include "services/mesh/tests/fixture.h"

/* The servers say SCOPE PREFIX-LENGTH `scope`, or fail. */
static struct servers {
	unsigned scope;
	bool fail;
	enum rcode rcode; /* of what does not fail */
	bool told;        /* the subnet, though they fail */
	bool for_all;     /* they are sent none */
} servers;

/* Stops what is not for a subnet, as the iterator does, and has members wait. */
static enum step divider_operate(struct query *q, void *state, const struct event *ev)
{
	(void)state;
	if (!q->subnet) {
		q->ecs.need = servers.for_all ? ECS_UNUSED : ECS_REQUIRED;
		answer_with(q, RCODE_NOERROR);
		return STEP_UP;
	}
	if (ev->kind == EVENT_ASK)
		return wait_here(q);
	q->ecs.sent = servers.fail && !servers.told ? ECS_UNSENT : ECS_SENT;
	q->ecs.scope = (uint8_t)servers.scope;
	answer_with(q, servers.fail ? RCODE_SERVFAIL : servers.rcode);
	return STEP_UP;
}

static const struct module divider = {
	.name = "divider", .state_size = 1, .wakes = WAKE_ANY, .operate = divider_operate
};

static struct subnets *rules;
static unsigned told[256], dropped; /* by client */

static void begin(const char *more)
{
	static const struct module *const chain[] = { &subnetcache_module, &divider, NULL };
	struct fault f = { 0 };
	char text[256];

	snprintf(text, sizeof text, "server:\n module-config: \"subnetcache iterator\"\n"
				    " send-client-subnet: 192.0.2.0/24\n%s", more);
	world_begin(text);
	mesh_free(world.mesh);
	memset(told, 0, sizeof told);
	dropped = 0;
	servers = (struct servers){ .scope = 24 };
	if (!subnets_read(&rules, world.snapshot.conf, &f))
		fail_msg("%s", f.text);
	world.snapshot.subnets = rules;
	world.env.subnet_index = subnet_index_new(1 << 20, 1);
	world.env.mesh = world.mesh = mesh_new(&world.env, chain);
}

static void finish(void)
{
	mesh_free(world.mesh);
	world.env.mesh = world.mesh = mesh_new(&world.env, (const struct module *const[]){ &divider, NULL });
	subnet_index_free(world.env.subnet_index);
	subnets_free(rules);
	world_end();
}

static void on_told(const struct client *c, const uint8_t *bytes, size_t len)
{
	assert_true(len >= MSG_HEAD_LEN);
	told[c->tag] += msg_rcode(bytes) == RCODE_NOERROR ? 1 : 100;
}

static void on_dropped(const struct client *c)
{
	(void)c;
	dropped++;
}

static const struct client_ops ops = {
	.name = "tcp", .reply = on_told, .drop = on_dropped, .waiting = on_connection
};

/* Client 10.`net`.`subnet`.1 asks, and has so much of it shown. */
static void come_with(uint8_t who, uint8_t net, uint8_t subnet, unsigned bits)
{
	struct client c = { .ops = &ops,
			    .from = { .family = 4, .ip = { 10, net, subnet, 1 } },
			    .tag = who };
	struct client_subnet where = { .shown = subnet_of(&c.from, bits) };
	struct request r = { .id = who, .flags = FLAG_RD, .where = &where };

	r.q = question_of("www.example");
	mesh_ask(world.mesh, &r, &c, NULL);
}

static void come(uint8_t who, uint8_t net, uint8_t subnet)
{
	come_with(who, net, subnet, 24);
}

/* Who has been told so far: "1 2 2:failed". */
static const char *who_is_told(void)
{
	static char text[512];

	*text = '\0';
	for (unsigned i = 0; i < COUNT(told); i++)
		if (told[i])
			snprintf(text + strlen(text), sizeof text - strlen(text), "%s%u%s",
				 *text ? " " : "", i,
				 told[i] == 1 ? "" : told[i] == 100 ? ":failed" : ":twice");
	return text;
}

/* Clients 1 and 3 are in 10.1.1.0/24, 2 in 10.1.2.0/24, 4 in 10.2.1.0/24. */
static void an_answer_is_for_whom_the_servers_say(void **state)
{
	(void)state;
	static const struct {
		const char *why;
		unsigned scope;
		bool fail;
		const char *told; /* once the first member, of client 1, is answered */
		unsigned members;  /* begun by then */
	} rows[] = {
		{ "for its subnet", 24, false, "1 3", 3 },
		{ "for less than the servers were told", 32, false, "1 3", 3 },
		{ "for the subnets around it", 16, false, "1 2 3", 2 },
		{ "for all", 0, false, "1 2 3 4", 1 },
		{ "for nobody", 24, true, "1:failed 2:failed 3:failed 4:failed", 1 },
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		begin("");
		servers = (struct servers){ .scope = rows[i].scope, .fail = rows[i].fail };
		come(1, 1, 1);
		come(2, 1, 2);
		come(3, 1, 1);
		come(4, 2, 1);
		/* until the servers are seen to tell clients apart, one at a time */
		assert_int_equal(world.asleep_count, 1);
		assert_string_equal(who_is_told(), "");
		wake(0);
		if (strcmp(who_is_told(), rows[i].told) != 0 || world.asleep_count != rows[i].members)
			fail_msg("%s: told %s, %u members", rows[i].why, who_is_told(),
				 world.asleep_count);
		for (unsigned k = 1; k < world.asleep_count; k++)
			wake(k);
		if (!rows[i].fail)
			assert_string_equal(who_is_told(), "1 2 3 4");
		assert_int_equal(mesh_size(world.mesh), 0);
		assert_int_equal(mesh_waiting(world.mesh), 0);
		assert_int_equal(dropped, 0);
		finish();
	}
}

static void subnet_queries_in_a_group_are_limited(void **state)
{
	enum { ALL = SUBNET_GROUP_MEMBERS + 5 };

	(void)state;
	begin("");
	for (uint8_t i = 0; i < ALL; i++)
		come(i + 1, 1, i);
	assert_int_equal(world.asleep_count, 1);
	wake(0);
	assert_int_equal(world.asleep_count, 1 + SUBNET_GROUP_MEMBERS);
	assert_int_equal(mesh_size(world.mesh), 1 + SUBNET_GROUP_MEMBERS);
	wake(1);
	assert_int_equal(world.asleep_count, 2 + SUBNET_GROUP_MEMBERS);
	for (unsigned i = 2; i < world.asleep_count; i++)
		wake(i);
	assert_int_equal(world.asleep_count, ALL);
	for (unsigned i = 1; i <= ALL; i++)
		assert_int_equal(told[i], 1);
	assert_int_equal(mesh_size(world.mesh), 0);
	finish();
}

/* Whoever waits for others first does not wait longer than for a lookup of its own. */
static void a_client_waits_ten_seconds_for_all_lookups_together(void **state)
{
	(void)state;
	begin(" discard-timeout: 0\n");
	loop_time(world.loop)->steady = true;
	come(1, 1, 1);
	come(2, 1, 2);
	loop_play(world.loop, 9 * US_PER_S);
	wake(0);
	assert_string_equal(who_is_told(), "1");
	assert_int_equal(world.asleep_count, 2);
	come(3, 1, 3);
	loop_play(world.loop, US_PER_S);
	assert_string_equal(who_is_told(), "1");
	loop_play(world.loop, US_PER_S / 5);
	assert_string_equal(who_is_told(), "1 2:failed");
	assert_int_equal(mesh_waiting(world.mesh), 1);
	/* what was found out for it meanwhile serves the next one */
	wake(1);
	wake(2);
	assert_string_equal(who_is_told(), "1 2:failed 3");
	assert_int_equal(mesh_size(world.mesh), 0);
	finish();
}

/* Members take slots of those that all queries share. */
static void subnet_queries_take_request_list_slots(void **state)
{
	(void)state;
	begin(" num-queries-per-thread: 3\n");
	for (uint8_t i = 0; i < 6; i++)
		come(i + 1, 1, i);
	wake(0);
	for (unsigned i = 1; i < world.asleep_count; i++)
		wake(i);
	for (unsigned i = 1; i <= 6; i++)
		assert_int_equal(told[i], 1);
	assert_int_equal(mesh_size(world.mesh), 0);
	finish();
}

static bool is_client(const struct client *c, const void *who)
{
	return c->tag == *(const uint64_t *)who;
}

static void who_takes_its_question_back_waits_no_more(void **state)
{
	static const uint64_t first = 1, second = 2;

	(void)state;
	begin("");
	come(1, 1, 1);
	come(2, 1, 2);
	/* one whose member is working, and one that has to wait for it */
	mesh_leave(world.mesh, &world.connections[0], is_client, &second);
	assert_int_equal(dropped, 1);
	mesh_leave(world.mesh, &world.connections[0], is_client, &first);
	assert_int_equal(dropped, 2);
	assert_int_equal(mesh_waiting(world.mesh), 0);
	assert_int_equal(mesh_size(world.mesh), 0);
	assert_string_equal(who_is_told(), "");
	finish();
}

/* A group is left for another when it has been visited often. */
static void no_client_of_a_busy_subnet_group_is_lost(void **state)
{
	enum { VISITS = 10000, FEW = 200 };

	(void)state;
	begin(" num-queries-per-thread: 4096\n");
	for (unsigned i = 0; i < VISITS; i++)
		come((uint8_t)(1 + i % FEW), 1, 1);
	come(250, 1, 2);
	assert_int_equal(mesh_waiting(world.mesh), VISITS + 1);
	assert_int_equal(world.asleep_count, 1);
	assert_int_equal(mesh_size(world.mesh), 2);
	wake(0);
	for (unsigned i = 1; i <= FEW; i++)
		assert_int_equal(told[i], VISITS / FEW);
	assert_int_equal(told[250], 0);
	assert_int_equal(world.asleep_count, 2);
	wake(1);
	assert_int_equal(told[250], 1);
	assert_int_equal(mesh_size(world.mesh), 0);
	assert_int_equal(dropped, 0);
	finish();
}

static void refresh(uint8_t subnet)
{
	struct addr at = { .family = 4, .ip = { 10, 1, subnet, 1 } };
	struct client_subnet where = { .shown = subnet_of(&at, 24) };
	struct question q = question_of("www.example");

	mesh_refresh(world.mesh, &q, 0, &where);
}

/* What is fetched ahead is fetched for the subnet of who asked, and nobody has to wait for it. */
static void a_prefetch_is_for_the_clients_subnet(void **state)
{
	(void)state;
	begin("");
	refresh(1);
	assert_int_equal(world.asleep_count, 1);
	assert_true(world.asleep[0]->is_refresh);
	assert_int_equal(world.asleep[0]->subnet->net.ip[2], 1);
	/* while it goes on, and the servers are not known to tell clients apart, there is no other */
	refresh(2);
	assert_int_equal(world.asleep_count, 1);
	come(1, 1, 1);
	assert_false(world.asleep[0]->is_refresh);
	wake(0);
	assert_string_equal(who_is_told(), "1");
	assert_int_equal(mesh_size(world.mesh), 0);
	refresh(1);
	refresh(2);
	assert_int_equal(world.asleep_count, 3);
	assert_int_equal(world.asleep[2]->subnet->net.ip[2], 2);
	wake(1);
	wake(2);
	assert_int_equal(mesh_size(world.mesh), 0);
	finish();
}

/* RFC 7871 7.3.1: who has as much shown as the answer's scope, or more, in there; of a closer scope than was told, as much and no
 * more. */
static void an_answer_is_for_who_tells_enough(void **state)
{
	(void)state;
	static const struct {
		const char *why;
		uint8_t first_bits, bits;
		unsigned scope;
		bool told;
	} rows[] = {
		{ "as much as the scope", 24, 16, 16, true },
		{ "less", 24, 15, 16, false },
		{ "more", 24, 17, 16, true },
		{ "nothing", 24, 0, 16, false },
		{ "nothing, and it is for all", 24, 0, 0, true },
		{ "more than the first, whose answer is closer", 16, 17, 20, false },
		{ "more than the first, whose answer is not", 16, 17, 16, true },
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		begin("");
		servers.scope = rows[i].scope;
		come_with(1, 1, 1, rows[i].first_bits);
		come_with(2, 1, 1, rows[i].bits);
		assert_int_equal(world.asleep_count, 1);
		wake(0);
		if (strcmp(who_is_told(), rows[i].told ? "1 2" : "1") != 0)
			fail_msg("%s: told %s", rows[i].why, who_is_told());
		if (!rows[i].told)
			wake(1);
		assert_string_equal(who_is_told(), "1 2");
		assert_int_equal(mesh_size(world.mesh), 0);
		finish();
	}
}

/* That there is no such name is an answer as others; a failure is for all that wait, whoever was told what. */
static void only_a_failure_is_for_all(void **state)
{
	(void)state;
	begin("");
	servers.rcode = RCODE_NXDOMAIN;
	come(1, 1, 1);
	come(2, 1, 2);
	wake(0);
	assert_string_equal(who_is_told(), "1:failed");
	wake(1);
	assert_string_equal(who_is_told(), "1:failed 2:failed");
	finish();
	begin("");
	servers.fail = servers.told = true;
	come(1, 1, 1);
	come(2, 1, 2);
	wake(0);
	assert_string_equal(who_is_told(), "1:failed 2:failed");
	assert_int_equal(mesh_size(world.mesh), 0);
	finish();
}

/* A group whose clients wait elsewhere is nobody's place; nor does it wait for anything that the mesh does not know. */
static void a_group_takes_no_place_of_its_members(void **state)
{
	(void)state;
	begin(" num-queries-per-thread: 8\n");
	come(1, 1, 1);
	assert_int_equal(mesh_size(world.mesh), 2);
	assert_int_equal(mesh_slots_taken(world.mesh), 1);
	come(2, 1, 2); /* it waits in the group */
	assert_int_equal(mesh_slots_taken(world.mesh), 2);
	wake(0);
	assert_int_equal(mesh_slots_taken(world.mesh), 1);
	wake(1);
	assert_string_equal(who_is_told(), "1 2");
	assert_int_equal(mesh_slots_taken(world.mesh), 0);
	assert_false(subnetcache_module.waits(NULL));
	finish();
}

/* Who sends its own option where every server is to be sent it joins nobody else. */
static void a_client_whose_own_option_goes_everywhere_asks_apart(void **state)
{
	(void)state;
	static const struct {
		struct client_subnet where;
		unsigned more;
	} rows[] = {
		{ { .has_option = false }, QUERY_ROUTED },
		{ { .has_option = true }, QUERY_ROUTED },
		{ { .forwarded = true }, QUERY_ROUTED },
		{ { .has_option = true, .forwarded = true }, QUERY_ROUTED | QUERY_FORWARDED },
	};

	for (size_t i = 0; i < COUNT(rows); i++)
		assert_int_equal(subnet_group_kind(QUERY_CD, &rows[i].where), QUERY_CD | rows[i].more);
	assert_int_equal(subnet_group_kind(QUERY_CD, NULL), QUERY_CD);
}

/* What is made of an answer for some is for no more. */
static void a_query_is_for_whom_its_children_are(void **state)
{
	(void)state;
	static struct netblock somewhere;
	static const struct {
		const char *why;
		struct subnet_state own, child;
		unsigned kind;
		bool placed;
		struct subnet_state want;
		bool no_message, required;
	} rows[] = {
		{ "nothing was told", { 0 }, { 0 }, QUERY_ROUTED, true, { 0 }, false, false },
		{ "the child's scope", { 0 }, { .sent = ECS_SENT, .scope = 20 }, QUERY_ROUTED, true, { .sent = ECS_SENT, .scope = 20 }, false, false },
		{ "its own, which is closer", { .sent = ECS_SENT, .scope = 24 }, { .sent = ECS_SENT, .scope = 20 }, QUERY_ROUTED, true,
		  { .sent = ECS_SENT, .scope = 24 }, false, false },
		{ "its own is none", { .sent = ECS_SENT, .scope = 20 }, { .sent = ECS_OPTED_OUT }, QUERY_ROUTED, true, { .sent = ECS_SENT, .scope = 20 },
		  false, false },
		{ "left out, for all", { 0 }, { .need = ECS_OMITTED, .echoed_before = true }, QUERY_ROUTED, false,
		  { .need = ECS_REQUIRED, .echoed_before = true }, false, true },
		{ "left out, by one of which nothing is known", { 0 }, { .need = ECS_OMITTED }, QUERY_ROUTED, false, { .need = ECS_REQUIRED }, false, true },
		{ "left out, for some", { 0 }, { .need = ECS_OMITTED, .echoed_before = true }, QUERY_ROUTED, true, { .need = ECS_OMITTED }, true, false },
		{ "left out, for no client", { 0 }, { .need = ECS_OMITTED, .echoed_before = true }, 0, false, { .need = ECS_OMITTED }, true, false },
		{ "not left out, but by another before", { .need = ECS_REQUIRED }, { .need = ECS_UNUSED }, QUERY_ROUTED, false, { .need = ECS_REQUIRED },
		  false, true },
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		struct query q = { .kind = rows[i].kind, .ecs = rows[i].own, .subnet = rows[i].placed ? &somewhere : NULL };
		struct query child = { .ecs = rows[i].child };

		if (subnet_groups_depend(&q, &child) != rows[i].required || q.no_message != rows[i].no_message ||
		    q.ecs.need != rows[i].want.need || q.ecs.sent != rows[i].want.sent || q.ecs.scope != rows[i].want.scope ||
		    q.ecs.echoed_before != rows[i].want.echoed_before)
			fail_msg("%s: need %u, sent %u, scope %u", rows[i].why, q.ecs.need, q.ecs.sent, q.ecs.scope);
	}
}

/* The place of an answer in the cache: none where nobody was told of the client. */
static void an_answer_has_a_place_where_servers_were_told(void **state)
{
	(void)state;
	static const struct {
		const char *why;
		bool has_index, has_rules, placed;
		unsigned sent, scope;
		int bits; /* -1: it is for all */
	} rows[] = {
		{ "told", true, true, true, ECS_SENT, 16, 16 },
		{ "told, for less", true, true, true, ECS_SENT, 28, 24 },
		{ "nobody was told", true, true, true, ECS_UNSENT, 0, -1 },
		{ "who will not have it told", true, true, true, ECS_OPTED_OUT, 16, 0 },
		{ "not for a subnet", true, true, false, ECS_SENT, 16, -1 },
		{ "without rules", true, false, true, ECS_SENT, 16, -1 },
		{ "without an index", false, true, true, ECS_SENT, 16, -1 },
	};
	struct netblock shown = { .net = { .family = 4, .ip = { 10, 1, 2 } }, .bits = 24 };

	begin("");
	for (size_t i = 0; i < COUNT(rows); i++) {
		struct env env = world.env;
		struct snapshot snapshot = { .subnets = rows[i].has_rules ? rules : NULL };
		struct query q = { .env = &env, .snapshot = &snapshot, .subnet = rows[i].placed ? &shown : NULL };
		struct subnet_key at;
		bool got;

		if (!rows[i].has_index)
			env.subnet_index = NULL;
		q.ecs.sent = rows[i].sent;
		q.ecs.scope = (uint8_t)rows[i].scope;
		got = subnet_group_key(&q, &at);
		if (got != (rows[i].bits >= 0) || (got && at.net.bits != rows[i].bits))
			fail_msg("%s", rows[i].why);
	}
	finish();
}

/* Where the servers are known to tell clients apart, or are sent the clients' own options, the question is divided before
 * anybody is asked, and as often as there are members to be had. */
static void what_is_known_to_be_divided_is_divided_at_once(void **state)
{
	(void)state;
	for (unsigned known = 0; known < 2; known++) {
		struct question q;
		struct subnet_key at = { .net = { .net = { .family = 4, .ip = { 10, 9 } }, .bits = 16 } };

		begin("");
		q = question_of("www.example");
		if (known)
			subnet_index_add(world.env.subnet_index, &q, &at,
					 &(struct subnet_index_how){ .now_s = world.env.time->now_s, .until_s = world.env.time->now_s + 9, .most = 9 });
		for (uint8_t i = 1; i <= 4; i++)
			come(i, 1, i);
		assert_int_equal(world.asleep_count, known ? 4 : 1);
		for (unsigned i = 0; i < world.asleep_count; i++) {
			assert_false(world.asleep[i]->kind & QUERY_NO_CACHE);
			assert_false(world.asleep[i]->is_refresh);
			wake(i);
		}
		assert_string_equal(who_is_told(), "1 2 3 4");
		assert_int_equal(mesh_size(world.mesh), 0);
		finish();
	}
}

/* As long as there are places for them. */
static void a_question_is_divided_as_far_as_there_is_room(void **state)
{
	struct subnet_key at = { .net = { .net = { .family = 4, .ip = { 10, 9 } }, .bits = 16 } };
	struct question q;

	(void)state;
	begin(" num-queries-per-thread: 2\n");
	q = question_of("www.example");
	subnet_index_add(world.env.subnet_index, &q, &at,
			 &(struct subnet_index_how){ .now_s = world.env.time->now_s, .until_s = world.env.time->now_s + 9, .most = 9 });
	come(1, 1, 1);
	come(2, 1, 2);
	assert_int_equal(world.asleep_count, 1);
	wake(0);
	assert_int_equal(world.asleep_count, 2);
	wake(1);
	assert_string_equal(who_is_told(), "1 2");
	assert_int_equal(mesh_size(world.mesh), 0);
	finish();
}

/* What no server was to be told a subnet for is answered as any other question. */
static void what_is_for_all_is_not_divided(void **state)
{
	(void)state;
	begin("");
	servers.for_all = true;
	come(1, 1, 1);
	come(2, 1, 2);
	assert_string_equal(who_is_told(), "1 2");
	assert_int_equal(world.asleep_count, 0);
	assert_int_equal(mesh_size(world.mesh), 0);
	finish();
}

/* Their own option, which no cached answer would do for. */
static void who_sends_its_own_option_is_answered_by_servers(void **state)
{
	(void)state;
	begin("");
	for (uint8_t i = 1; i <= 3; i++) {
		struct client c = { .ops = &ops, .from = { .family = 4, .ip = { 10, 1, i, 1 } }, .tag = i };
		struct client_subnet where = { .has_option = true, .forwarded = i != 3, .shown = subnet_of(&c.from, 24) };
		struct request r = { .id = i, .flags = FLAG_RD, .where = &where };

		r.q = question_of("www.example");
		mesh_ask(world.mesh, &r, &c, NULL);
	}
	assert_int_equal(world.asleep_count, 2); /* one each for those who have it forwarded, and the other */
	assert_true(world.asleep[0]->kind & QUERY_NO_CACHE);
	assert_false(world.asleep[1]->kind & QUERY_NO_CACHE);
	for (unsigned i = 0; i < world.asleep_count; i++)
		wake(i);
	assert_string_equal(who_is_told(), "1 2 3");
	assert_int_equal(mesh_size(world.mesh), 0);
	finish();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_answer_is_for_whom_the_servers_say),
		cmocka_unit_test(subnet_queries_in_a_group_are_limited),
		cmocka_unit_test(a_client_waits_ten_seconds_for_all_lookups_together),
		cmocka_unit_test(subnet_queries_take_request_list_slots),
		cmocka_unit_test(who_takes_its_question_back_waits_no_more),
		cmocka_unit_test(no_client_of_a_busy_subnet_group_is_lost),
		cmocka_unit_test(a_prefetch_is_for_the_clients_subnet),
		cmocka_unit_test(an_answer_is_for_who_tells_enough),
		cmocka_unit_test(only_a_failure_is_for_all),
		cmocka_unit_test(a_group_takes_no_place_of_its_members),
		cmocka_unit_test(a_client_whose_own_option_goes_everywhere_asks_apart),
		cmocka_unit_test(a_query_is_for_whom_its_children_are),
		cmocka_unit_test(an_answer_has_a_place_where_servers_were_told),
		cmocka_unit_test(what_is_known_to_be_divided_is_divided_at_once),
		cmocka_unit_test(what_is_for_all_is_not_divided),
		cmocka_unit_test(a_question_is_divided_as_far_as_there_is_room),
		cmocka_unit_test(who_sends_its_own_option_is_answered_by_servers),
	};

	hash_start(true);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
