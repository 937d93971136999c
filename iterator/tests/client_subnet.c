/* Claims about client subnets: which server is sent one, and which answer is for it (RFC 7871).
 * SPDX-License-Identifier: BSD-3-Clause */
#include "iterator/client_subnet.h"

#include "iterator/delegation.h"
#include "iterator/tests/fixture.h"
#include "services/cache/subnet_index.h"
#include "util/net/subnet.h"

static struct netblock client;

/* A query for www.example.com at two servers of example.com, of which the first may be told. */
static struct selection begin(const char *more, unsigned kind)
{
	struct iter *it = &fixture.it;
	char conf[300];

	snprintf(conf, sizeof(conf), "server:\nmodule-config: \"subnetcache iterator\"\n%s", more);
	fixture_begin(conf, "www.example.com.", TYPE_A, 0);
	fixture.q->kind = kind;
	fixture.env.subnet_index = subnet_index_new(1 << 20, 1);
	it->at = delegation_new(fixture.arena, N("example.com."));
	for (unsigned i = 1; i <= 2; i++) {
		struct target t = { .addr = address(i == 1 ? "192.0.2.1" : "192.0.2.2") };

		delegation_add_target(it->at, fixture.arena, &t);
	}
	it->target = &it->at->targets[0];
	client = (struct netblock){ .net = address("198.51.100.0"), .bits = 24 };
	fixture.q->subnet = &client;
	return (struct selection){ .target = it->target };
}

static void end(void)
{
	fixture.q->kind = 0;
	fixture.q->subnet = NULL;
	subnet_index_free(fixture.env.subnet_index);
	fixture_end();
}

#define SENDS "send-client-subnet: 192.0.2.1"

/* Only who is listed, for a query that is routed for clients, at the end of the way, and who has not ignored it. */
static void a_subnet_is_shown_to_who_is_listed(void **state)
{
	(void)state;
	enum { NO_USE = 1, FAILED = 2, REFRESH = 4, ON_THE_WAY = 8, NOBODYS = 16, OPTED_OUT = 32, OTHER_SERVER = 64, FORWARDER = 128 };
	static const struct {
		const char *why, *conf;
		unsigned kind, how;
		enum subnet_choice want;
		int need, sent;
	} rows[] = {
		{ "it is listed", SENDS, QUERY_ROUTED, 0, SUBNET_SEND, ECS_UNUSED, ECS_UNSENT },
		{ "another is", SENDS, QUERY_ROUTED, OTHER_SERVER, SUBNET_OMIT, ECS_UNUSED, ECS_UNSENT },
		{ "the zone is", "client-subnet-zone: example.com", QUERY_ROUTED, OTHER_SERVER, SUBNET_SEND, ECS_UNUSED, ECS_UNSENT },
		{ "another zone is", "client-subnet-zone: example.org", QUERY_ROUTED, 0, SUBNET_OMIT, ECS_UNUSED, ECS_UNSENT },
		{ "to prime", SENDS, QUERY_ROUTED | QUERY_PRIME, 0, SUBNET_OMIT, ECS_UNUSED, ECS_UNSENT },
		{ "for glue", SENDS, QUERY_ROUTED | QUERY_PARENT_SIDE, 0, SUBNET_OMIT, ECS_UNUSED, ECS_UNSENT },
		{ "it has ignored it", SENDS, QUERY_ROUTED, NO_USE, SUBNET_OMIT, ECS_UNUSED, ECS_UNSENT },
		{ "it has ignored it before", SENDS, QUERY_ROUTED, FAILED, SUBNET_OMIT, ECS_UNUSED, ECS_UNSENT },
		{ "it has ignored it before, and nobody waits", SENDS, QUERY_ROUTED, FAILED | REFRESH, SUBNET_SEND, ECS_UNUSED, ECS_UNSENT },
		{ "on the way", SENDS, QUERY_ROUTED, ON_THE_WAY, SUBNET_OMIT, ECS_UNUSED, ECS_UNSENT },
		{ "for no client", SENDS, 0, 0, SUBNET_OMIT, ECS_OMITTED, ECS_UNSENT },
		{ "for all clients", SENDS, QUERY_ROUTED, NOBODYS, SUBNET_DIVIDE, ECS_UNUSED, ECS_UNSENT },
		{ "for one that will not have it told", SENDS, QUERY_ROUTED, OPTED_OUT, SUBNET_OMIT, ECS_UNUSED, ECS_OPTED_OUT },
		{ "for one whose own option goes everywhere", SENDS, QUERY_ROUTED | QUERY_FORWARDED, OTHER_SERVER, SUBNET_SEND, ECS_UNUSED,
		  ECS_UNSENT },
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		unsigned how = rows[i].how;
		struct selection to = begin(rows[i].conf, rows[i].kind);
		enum subnet_choice got;

		if (how & OTHER_SERVER)
			to.target = &fixture.it.at->targets[1];
		to.target->no_subnet = how & NO_USE;
		to.known.subnet = how & FAILED ? SUBNET_FAILS : SUBNET_UNTRIED;
		fixture.q->is_refresh = how & REFRESH;
		if (how & ON_THE_WAY)
			fixture.it.shown = made_question("com.", TYPE_A);
		if (how & NOBODYS)
			fixture.q->subnet = NULL;
		client.bits = how & OPTED_OUT ? 0 : 24;
		got = client_subnet_choose(&fixture.it, &to);
		if (got != rows[i].want || (fixture.it.sent_subnet != NULL) != (got == SUBNET_SEND) ||
		    (int)fixture.q->ecs.need != rows[i].need || (int)fixture.q->ecs.sent != rows[i].sent)
			fail_msg("%s: %d", rows[i].why, got);
		assert_int_equal(fixture.it.on_the_way, (how & ON_THE_WAY) != 0);
		assert_int_equal(fixture.q->no_message, rows[i].need == ECS_OMITTED);
		fixture.q->is_refresh = false;
		end();
	}
}

/* RFC 7871 7.3: an answer is for the subnet that its option repeats; without it, for everybody. What is no final answer says
 * nothing of it. */
static void an_answer_is_for_the_subnet_it_repeats(void **state)
{
	(void)state;
	static const struct {
		const char *why, *subnet; /* of the response; NULL: it has none */
		unsigned source, scope;
		enum response r;
		uint16_t rcode;
		bool had_edns, forward;
		bool want, echoed;
		enum subnet_known known;
	} rows[] = {
		{ "repeated", "198.51.100.0", 24, 20, RESPONSE_answer, 0, true, false, true, true, SUBNET_WORKS },
		{ "of no scope", "198.51.100.0", 24, 0, RESPONSE_answer, 0, true, false, true, true, SUBNET_WORKS },
		{ "another address", "198.51.101.0", 24, 20, RESPONSE_answer, 0, true, false, false, false, SUBNET_FAILS },
		{ "another length", "198.51.0.0", 16, 16, RESPONSE_answer, 0, true, false, false, false, SUBNET_FAILS },
		{ "left out", NULL, 0, 0, RESPONSE_answer, 0, true, false, false, false, SUBNET_FAILS },
		{ "left out by a forwarder", NULL, 0, 0, RESPONSE_answer, 0, true, true, false, false, SUBNET_UNTRIED },
		{ "it was not sent after all", "198.51.100.0", 24, 20, RESPONSE_answer, 0, false, false, true, false, SUBNET_FAILS },
		{ "a referral", NULL, 0, 0, RESPONSE_referral, 0, true, false, true, false, SUBNET_UNTRIED },
		{ "useless, as it is", NULL, 0, 0, RESPONSE_useless, RCODE_SERVFAIL, true, false, true, false, SUBNET_UNTRIED },
		{ "refused", "198.51.100.0", 24, 0, RESPONSE_useless, RCODE_REFUSED, true, false, true, false, SUBNET_WORKS },
		{ "not understood", NULL, 0, 0, RESPONSE_useless, RCODE_FORMERR, true, false, false, false, SUBNET_FAILS },
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		uint8_t option[4 + SUBNET_OPTION_MAX] = { 0, EDNS_CLIENT_SUBNET };
		struct message m = { .rcode = rows[i].rcode, .edns = { .present = true } };
		struct upstream_reply reply = { .end = UPSTREAM_ANSWERED, .message = &m, .had_edns = rows[i].had_edns };
		struct infra_view view;

		(void)begin(SENDS, QUERY_ROUTED);
		fixture.it.sent_subnet = &client;
		fixture.it.at->forward = rows[i].forward;
		if (rows[i].subnet) {
			struct netblock n = { .net = address(rows[i].subnet), .bits = (uint8_t)rows[i].source };
			struct subnet_option o = subnet_shown(&n);

			o.scope = (uint8_t)rows[i].scope;
			put_u16(option + 2, (uint16_t)subnet_write(&o, option + 4));
			m.edns.options = (struct slice){ option, 4u + get_u16(option + 2) };
		}
		if (client_subnet_check(&fixture.it, &reply, rows[i].r) != rows[i].want || fixture.it.echoed != rows[i].echoed)
			fail_msg("%s: %d", rows[i].why, fixture.it.echoed);
		assert_int_equal(fixture.q->ecs.sent == ECS_SENT, rows[i].echoed);
		assert_int_equal(fixture.q->ecs.scope, rows[i].known == SUBNET_WORKS ? rows[i].scope : 0);
		infra_look(fixture.env.infra, &fixture.it.target->addr, fixture.it.at->zone, fixture.env.time, &view);
		if (view.subnet != rows[i].known)
			fail_msg("%s: it is known as %d", rows[i].why, view.subnet);
		end();
	}
}

/* Where only the type was hidden it is hidden no longer; the spelling of 0x20 goes on as it is. */
static void a_type_is_not_hidden_from_who_is_shown_a_subnet(void **state)
{
	(void)state;
	static const struct {
		const char *why, *shown;
		uint16_t type;
		bool caps;
		enum subnet_choice want;
		bool minimises; /* thereafter */
	} rows[] = {
		{ "another type", "www.example.com.", TYPE_AAAA, false, SUBNET_SEND, false },
		{ "another type, in 0x20", "www.example.com.", TYPE_AAAA, true, SUBNET_OMIT, true },
		{ "another name", "example.com.", TYPE_A, false, SUBNET_OMIT, true },
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		struct selection to = begin(SENDS, QUERY_ROUTED);
		struct iter *it = &fixture.it;

		it->qmin.on = true;
		it->caps.on = rows[i].caps;
		it->shown = made_question(rows[i].shown, rows[i].type);
		if (client_subnet_choose(it, &to) != rows[i].want || it->qmin.on != rows[i].minimises ||
		    it->on_the_way != (rows[i].want == SUBNET_OMIT))
			fail_msg("%s", rows[i].why);
		assert_int_equal(question_equals(&it->shown, &it->want), rows[i].want == SUBNET_SEND);
		it->caps.on = it->qmin.on = false;
		end();
	}
}

static void a_group_learns_whether_its_server_told_clients_apart(void **state)
{
	(void)state;
	for (unsigned known = SUBNET_UNTRIED; known <= SUBNET_WORKS; known++) {
		struct selection to = begin(SENDS, QUERY_ROUTED);

		if (known == SUBNET_FAILS) {
			end();
			continue;
		}
		to.known.subnet = (uint8_t)known;
		fixture.q->subnet = NULL;
		assert_int_equal(client_subnet_choose(&fixture.it, &to), SUBNET_DIVIDE);
		assert_int_equal(fixture.q->ecs.echoed_before, known == SUBNET_WORKS);
		end();
	}
}

/* One that has echoed it for this zone may leave it out for a name, and is sent it again; it is not asked twice for this one. */
static void who_has_echoed_a_subnet_is_sent_others(void **state)
{
	(void)state;
	static const struct {
		enum subnet_known before, after;
		enum response r;
		bool echoes, want;
		uint16_t rcode;
	} rows[] = {
		{ SUBNET_UNTRIED, SUBNET_FAILS, RESPONSE_answer, false, false, 0 },
		{ SUBNET_WORKS, SUBNET_WORKS, RESPONSE_answer, false, false, 0 },
		{ SUBNET_WORKS, SUBNET_WORKS, RESPONSE_empty, false, false, 0 },
		{ SUBNET_UNTRIED, SUBNET_FAILS, RESPONSE_empty, false, false, 0 },
		{ SUBNET_UNTRIED, SUBNET_WORKS, RESPONSE_empty, true, true, 0 },
		{ SUBNET_UNTRIED, SUBNET_WORKS, RESPONSE_useless, true, false, RCODE_FORMERR },
		{ SUBNET_UNTRIED, SUBNET_WORKS, RESPONSE_useless, true, true, RCODE_REFUSED },
		{ SUBNET_UNTRIED, SUBNET_FAILS, RESPONSE_useless, false, false, RCODE_REFUSED },
		{ SUBNET_UNTRIED, SUBNET_UNTRIED, RESPONSE_useless, true, true, RCODE_NOTIMP },
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		uint8_t option[4 + SUBNET_OPTION_MAX] = { 0, EDNS_CLIENT_SUBNET };
		struct message m = { .rcode = rows[i].rcode, .edns = { .present = true } };
		struct upstream_reply reply = { .end = UPSTREAM_ANSWERED, .message = &m, .had_edns = true };
		struct infra_view view;
		struct iter *it = &fixture.it;

		(void)begin(SENDS, QUERY_ROUTED);
		it->sent_subnet = &client;
		if (rows[i].before != SUBNET_UNTRIED)
			infra_set_subnet(fixture.env.infra, &it->target->addr, it->at->zone, rows[i].before, fixture.env.time);
		if (rows[i].echoes) {
			struct subnet_option o = subnet_shown(&client);

			put_u16(option + 2, (uint16_t)subnet_write(&o, option + 4));
			m.edns.options = (struct slice){ option, 4u + get_u16(option + 2) };
		}
		if (client_subnet_check(it, &reply, rows[i].r) != rows[i].want)
			fail_msg("row %zu", i);
		infra_look(fixture.env.infra, &it->target->addr, it->at->zone, fixture.env.time, &view);
		if (view.subnet != rows[i].after || it->target->no_subnet != (!rows[i].echoes))
			fail_msg("row %zu: known as %d", i, view.subnet);
		assert_int_equal(it->echoed, rows[i].echoes && rows[i].r != RESPONSE_useless);
		end();
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_subnet_is_shown_to_who_is_listed),
		cmocka_unit_test(an_answer_is_for_the_subnet_it_repeats),
		cmocka_unit_test(a_type_is_not_hidden_from_who_is_shown_a_subnet),
		cmocka_unit_test(a_group_learns_whether_its_server_told_clients_apart),
		cmocka_unit_test(who_has_echoed_a_subnet_is_sent_others),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
