/* Claims about which questions to servers are one.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "services/upstream/question.h"

#include "util/dns/rr.h"
#include "util/net/addr.h"
#include "util/tests/wire.h"

enum difference {
	NOTHING, WRITTEN, NAME, TYPE, CLASS, SERVER, PORT, TLS_NAME, TLS_NAME_NONE, PATH, PATH_NONE, SUBNET, SUBNET_BITS, SUBNET_NONE,
	TRANSPORT, RECURSE, CD, DO, INSISTS, CAPS, ZONE, WAIT, DIFFERENCES,
};

static struct netblock nets[2];

static struct upstream_question plain(void)
{
	struct upstream_question q = { .q = { (const uint8_t *)"\3www\7example", 13, TYPE_A, CLASS_IN }, .zone = (const uint8_t *)"\7example",
				       .tls_name = "dns.example", .http_path = "/dns-query", .subnet = &nets[0],
				       .transport = TRANSPORT_TCP };

	assert_true(addr_parse(&q.server, "192.0.2.1", 53, NULL));
	assert_true(addr_parse(&nets[0].net, "198.51.100.0", 0, NULL));
	nets[0].bits = 24;
	return q;
}

/* Made of other bytes of memory, which make no difference. */
static struct upstream_question differing(enum difference what)
{
	static char tls_name[] = "dns.example", path[] = "/dns-query";
	struct upstream_question q = plain();

	nets[1] = nets[0];
	q.tls_name = tls_name;
	q.http_path = path;
	q.subnet = &nets[1];
	switch (what) {
	case WRITTEN: q.q.name = (const uint8_t *)"\3wWw\7EXAMPLE"; break;
	case NAME: q.q.name = (const uint8_t *)"\3wwx\7example"; break;
	case TYPE: q.q.type = TYPE_AAAA; break;
	case CLASS: q.q.class_ = CLASS_CH; break;
	case SERVER: q.server.ip[3] = 2; break;
	case PORT: q.server.port = 5353; break;
	case TLS_NAME: q.tls_name = "dns.example.net"; break;
	case TLS_NAME_NONE: q.tls_name = NULL; break;
	case PATH: q.http_path = "/query"; break;
	case PATH_NONE: q.http_path = NULL; break;
	case SUBNET: nets[1].net.ip[0] = 203; break;
	case SUBNET_BITS: nets[1].bits = 16; break;
	case SUBNET_NONE: q.subnet = NULL; break;
	case TRANSPORT: q.transport = TRANSPORT_TLS; break;
	case RECURSE: q.recurse = true; break;
	case CD: q.checking_disabled = true; break;
	case DO: q.dnssec = true; break;
	case INSISTS: q.insists = true; break;
	case CAPS: q.caps = true; break;
	case ZONE: q.zone = (const uint8_t *)""; break;
	case WAIT: q.wait_ms = 7; break;
	default: break;
	}
	return q;
}

/* An answer that somebody else waits for must be the one that would come: what the server is told, and how it is reached
 * and known, counts (RFC 5452 5: equal questions go out once). What is known of it here does not. */
static void questions_are_one_if_the_server_could_not_tell(void **state)
{
	(void)state;
	for (unsigned i = 0; i < DIFFERENCES; i++) {
		bool same = i == NOTHING || i == WRITTEN || i == ZONE || i == WAIT;
		struct upstream_question a = plain(), b = differing((enum difference)i);

		if (upstream_question_equals(&a, &b) != same || upstream_question_equals(&b, &a) != same)
			fail_msg("difference %u", i);
		if (same)
			assert_int_equal(upstream_question_hash(&a), upstream_question_hash(&b));
	}
}

/* Without names and subnet as well. */
static void questions_without_more_are_one(void **state)
{
	struct upstream_question a = plain(), b;

	(void)state;
	a.tls_name = a.http_path = NULL;
	a.subnet = NULL;
	b = a;
	assert_true(upstream_question_equals(&a, &b));
	assert_int_equal(upstream_question_hash(&a), upstream_question_hash(&b));
	b.q.type = TYPE_MX;
	assert_false(upstream_question_equals(&a, &b));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(questions_are_one_if_the_server_could_not_tell),
		cmocka_unit_test(questions_without_more_are_one),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
