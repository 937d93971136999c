/* Claims about queries as bytes, and about what counts as a response to one.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "services/upstream/wire.h"

#include "services/upstream/tests/fixture.h"

static uint8_t sent[UPSTREAM_WIRE_MAX];

/* Write `q` under this configuration and read it back. */
static size_t write_under(const char *conf, const struct upstream_question *q,
			  const struct upstream_form *form, struct request *r)
{
	size_t len;

	world_begin(conf);
	len = upstream_write(&world.env, q, form, sent);
	world_end();
	assert_int_equal(msg_read_request(sent, len, r), REQUEST_GOOD);
	return len;
}

static void a_query_says_what_was_asked_for(void **state)
{
	(void)state;
	static const struct {
		const char *why, *conf;
		bool recurse, checking_disabled, dnssec;
		uint16_t flags, size, edns_flags;
	} rows[] = {
		{ "to a server of the zone", "", false, false, false, 0, 1232, 0 },
		{ "to a forwarder", "", true, false, false, FLAG_RD, 1232, 0 },
		{ "without checking", "", true, true, false, FLAG_RD | FLAG_CD, 1232, 0 },
		{ "with signatures", "", false, false, true, 0, 1232, EDNS_DO },
		{ "another size", "server: edns-buffer-size: 4000\n", false, false, false, 0, 4000,
		  0 },
		{ "no signatures at all", "server: disable-edns-do: yes\n", false, false, true, 0,
		  1232, 0 },
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		struct upstream_question q = question();
		struct request r;

		q.recurse = rows[i].recurse;
		q.checking_disabled = rows[i].checking_disabled;
		q.dnssec = rows[i].dnssec;
		(void)write_under(rows[i].conf, &q, &(struct upstream_form){ TRANSPORT_UDP, true, false },
				  &r);
		if (r.flags != rows[i].flags || !r.edns.present ||
		    r.edns.udp_size != rows[i].size || r.edns.flags != rows[i].edns_flags)
			fail_msg("%s: flags %x size %u edns %x", rows[i].why, r.flags,
				 r.edns.udp_size, r.edns.flags);
		assert_memory_equal(r.q.name, www, sizeof(www));
		assert_int_equal(r.q.type, TYPE_A);
		assert_int_equal(r.q.class_, CLASS_IN);
		assert_int_equal(msg_id(sent), 0);
	}
}

static void what_is_encrypted_is_padded(void **state)
{
	(void)state;
	static const struct {
		const char *why, *conf;
		struct upstream_form form;
		size_t len;
	} rows[] = {
		{ "to 128 bytes", "", { TRANSPORT_TLS, true, false }, 128 },
		{ "over HTTPS, too", "", { TRANSPORT_HTTPS, true, false }, 128 },
		{ "to another size",
		  "server: pad-queries-block-size: 200\n",
		  { TRANSPORT_TLS, true, false },
		  200 },
		{ "one byte may be a block",
		  "server: pad-queries-block-size: 1\n",
		  { TRANSPORT_TLS, true, false },
		  48 },
		{ "but not without end",
		  "server: pad-queries-block-size: 65535\n",
		  { TRANSPORT_TLS, true, false },
		  512 },
		{ "unless that is not wanted",
		  "server: pad-queries: no\n",
		  { TRANSPORT_TLS, true, false },
		  44 },
		{ "not without EDNS", "", { TRANSPORT_TLS, false, false }, 29 },
		{ "TCP is not", "", { TRANSPORT_TCP, true, false }, 40 },
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		struct upstream_question q = question();
		struct request r;
		size_t len = write_under(rows[i].conf, &q, &rows[i].form, &r);

		if (len != rows[i].len)
			fail_msg("%s: %zu, not %zu", rows[i].why, len, rows[i].len);
		assert_int_equal(r.edns.present, rows[i].form.with_edns);
		assert_true(!r.edns.present || edns_is_whole(&r.edns));
	}
}

/* Header and question of a response to www.example. A, with one byte changed. */
static void only_an_echo_of_the_query_is_a_response(void **state)
{
	(void)state;
	enum { WHOLE = MSG_HEAD_LEN + sizeof(www) + 4, RCODE_AT = 3, COUNT_AT = 5 };
	static const struct {
		const char *why;
		size_t len, at;
		uint8_t value;
		bool capped;
		enum upstream_echo want;
	} rows[] = {
		{ "the query itself, with QR", WHOLE, 2, 0x80, true, ECHO_TRUE },
		{ "more behind it", WHOLE + 9, 2, 0x80, true, ECHO_TRUE },
		{ "two bytes", 2, 2, 0x80, false, ECHO_NONE },
		{ "a header that is cut", MSG_HEAD_LEN - 1, 2, 0x80, false, ECHO_NONE },
		{ "a header alone", MSG_HEAD_LEN, 2, 0x80, false, ECHO_NONE },
		{ "a question that is cut", WHOLE - 1, 2, 0x80, false, ECHO_NONE },
		{ "a query", WHOLE, 2, 0x04, false, ECHO_NONE },
		{ "another opcode", WHOLE, 2, 0x80 | 5 << 3, false, ECHO_NONE },
		{ "no question", WHOLE, COUNT_AT, 0, false, ECHO_NONE },
		{ "two questions", WHOLE, COUNT_AT, 2, false, ECHO_NONE },
		{ "another name", WHOLE, MSG_HEAD_LEN + 1, 'x', false, ECHO_NONE },
		{ "a name that runs on", WHOLE, MSG_HEAD_LEN, 63, false, ECHO_NONE },
		{ "a name that ends before", WHOLE, MSG_HEAD_LEN + 4, 0, false, ECHO_NONE },
		{ "the last query is another", WHOLE, MSG_HEAD_LEN + 11, 'f', false, ECHO_NONE },
		{ "a refusal of it", WHOLE, RCODE_AT, RCODE_FORMERR, false, ECHO_TRUE },
		{ "another type", WHOLE, WHOLE - 3, TYPE_AAAA, false, ECHO_NONE },
		{ "another type of that low byte", WHOLE, WHOLE - 4, 1, false, ECHO_NONE },
		{ "another class", WHOLE, WHOLE - 1, CLASS_CH, false, ECHO_NONE },
		{ "another case", WHOLE, MSG_HEAD_LEN + 1, 'W', false, ECHO_TRUE },
		{ "another case than the random one", WHOLE, MSG_HEAD_LEN + 1, 'W', true,
		  ECHO_MANGLED },
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		struct upstream_question q = question();
		uint8_t got[WHOLE + 9];
		enum upstream_echo is;
		struct request r;

		(void)write_under("", &q, &(struct upstream_form){ TRANSPORT_UDP, false, false }, &r);
		memset(got, 0, sizeof(got));
		memcpy(got, sent, WHOLE);
		got[2] = 0x80;
		got[rows[i].at] = rows[i].value;
		is = upstream_check_echo(sent, rows[i].capped, got, rows[i].len);
		if (is != rows[i].want)
			fail_msg("%s: %d, not %d", rows[i].why, is, rows[i].want);
	}
}

/* Draft-vixie-dnsext-dns0x20: each query, the first and the last of the alphabet and of a label too, and nothing else. */
static void letters_alone_are_spelled_in_either_case(void **state)
{
	(void)state;
	static const uint8_t name[] = "\12az@[`{09-m\1z\1a";
	struct upstream_question q = question();
	uint8_t seen[sizeof(name)] = { 0 };

	q.q.name = name;
	q.q.name_len = sizeof(name);
	world_begin("");
	for (unsigned i = 0; i < 64; i++) {
		assert_true(upstream_write(&world.env, &q, &(struct upstream_form){ TRANSPORT_UDP, true, true }, sent) > 0);
		for (size_t at = 0; at < sizeof(name); at++)
			seen[at] |= sent[MSG_HEAD_LEN + at] ^ name[at];
	}
	world_end();
	for (size_t at = 0; at < sizeof(name); at++) {
		bool query = name[at] >= 'a' && name[at] <= 'z';

		if (seen[at] != (query ? 0x20 : 0))
			fail_msg("byte %zu of the name changes by %#x", at, seen[at]);
	}
}

/* As servers do that understand nothing of the query. */
static void a_refusal_may_leave_out_the_question(void **state)
{
	(void)state;
	static const struct {
		enum rcode rcode;
		enum upstream_echo want;
		uint8_t flags;
	} rows[] = {
		{ RCODE_NOERROR, ECHO_NONE, 0x80 },  { RCODE_FORMERR, ECHO_ABSENT, 0x80 },
		{ RCODE_SERVFAIL, ECHO_NONE, 0x80 }, { RCODE_NOTIMP, ECHO_ABSENT, 0x80 },
		{ RCODE_REFUSED, ECHO_NONE, 0x80 },  { RCODE_FORMERR, ECHO_NONE, 0 },
		{ RCODE_FORMERR, ECHO_NONE, 0x80 | 4 << 3 },
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		struct upstream_question q = question();
		uint8_t got[MSG_HEAD_LEN] = { 0, 0, rows[i].flags, (uint8_t)rows[i].rcode };
		struct request r;

		(void)write_under("", &q, &(struct upstream_form){ TRANSPORT_UDP, true, false }, &r);
		assert_int_equal(upstream_check_echo(sent, false, got, sizeof(got)), rows[i].want);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_query_says_what_was_asked_for),
		cmocka_unit_test(what_is_encrypted_is_padded),
		cmocka_unit_test(only_an_echo_of_the_query_is_a_response),
		cmocka_unit_test(letters_alone_are_spelled_in_either_case),
		cmocka_unit_test(a_refusal_may_leave_out_the_question),
	};

	hash_start(true);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
