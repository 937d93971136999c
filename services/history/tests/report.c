/* Claims about the line that a reporting page gets of each query.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "services/history/report.h"

#include "services/history/ring.h"
#include "util/base/mem.h"
#include "util/dns/msg.h"
#include "util/dns/rr.h"
#include "util/tests/wire.h"

enum { FIELDS = 13 };

static struct report report_of(const char *name)
{
	struct report r = { .at_s = 1700000000,
			    .took_ms = 12,
			    .ttl_s = 300,
			    .client = { .ip = { 192, 0, 2, 7 }, .family = 4 },
			    .type = TYPE_A,
			    .how = SEEN_cached,
			    .security = SECURITY_SECURE };

	dname_copy_lower(r.name, N(name));
	return r;
}

static void assert_line(const struct report *r, const char *want)
{
	char line[REPORT_LINE];
	size_t len = report_line(r, line);

	assert_int_equal(len, strlen(line));
	assert_string_equal(line, want);
}

static void each_field_has_its_place(void **state)
{
	(void)state;
	struct report r = report_of("www.example");

	assert_line(&r, "|1700000000|192.0.2.7|ip4|A|www.example.|0|3||0|12|5|300\n");
	r.client = (struct addr){ .ip = { 0x20, 1, 0xd, 0xb8, [15] = 1 }, .family = 6 };
	r.type = 65;
	r.security = SECURITY_INSECURE;
	assert_line(&r, "|1700000000|2001:db8::1|ip6|HTTPS|www.example.|0|3||0|12|3|300\n");
	r.client.family = 0;
	r.type = 65280;
	assert_line(&r, "|1700000000|||TYPE65280|www.example.|0|3||0|12|3|300\n");
	r = report_of("www.example");
	r.how = SEEN_blocked;
	r.rcode = RCODE_NXDOMAIN;
	snprintf(r.policy, sizeof r.policy, "580e7f8b-3242-401a-b32e-ed56c3e8cf4a");
	snprintf(r.list, sizeof r.list, "hgz007");
	assert_line(&r, "580e7f8b-3242-401a-b32e-ed56c3e8cf4a|"
			"1700000000|192.0.2.7|ip4|A|www.example.|1|1|hgz007|3|12|5|300\n");
}

static void what_came_of_it_is_told_in_two_numbers(void **state)
{
	(void)state;
	static const struct {
		uint8_t how, rcode;
		const char *want; /* action, source, list, RCODE */
	} rows[] = {
		{ SEEN_cached, RCODE_NOERROR, "|0|3||0|" },
		{ SEEN_expired, RCODE_NXDOMAIN, "|0|3||3|" },
		{ SEEN_resolved, RCODE_NOERROR, "|0|0||0|" },
		{ SEEN_resolved, RCODE_SERVFAIL, "|2|1||2|" },
		{ SEEN_cached, RCODE_SERVFAIL, "|2|1||2|" },
		{ SEEN_local, RCODE_NOERROR, "|0|2||0|" },
		{ SEEN_blocked, RCODE_NOERROR, "|1|1||0|" },
		{ SEEN_blocked, SEEN_NO_ANSWER, "|1|1||2|" },
		{ SEEN_refused, RCODE_REFUSED, "|2|1||5|" },
		{ SEEN_dropped, SEEN_NO_ANSWER, "|2|1||2|" },
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		struct report r = report_of("x");
		char line[REPORT_LINE];

		r.how = rows[i].how;
		r.rcode = rows[i].rcode;
		(void)report_line(&r, line);
		if (!strstr(line, rows[i].want))
			fail_msg("row %zu: %s", i, line);
	}
}

static unsigned fields(const char *line)
{
	unsigned count = 1;

	for (; *line; line++)
		count += *line == '|';
	return count;
}

/* Nothing in a name, or in a list's file, ends a field or a line. */
static void a_hostile_name_stays_one_field(void **state)
{
	(void)state;
	struct report r = report_of("a\\|b\\010c\\032d\\000\\255.EXAMPLE");
	char line[REPORT_LINE];

	assert_line(&r, "|1700000000|192.0.2.7|ip4|A|a\\124b\\010c\\032d\\000\\255.example.|0|3||0|12|5|300\n");
	memcpy(r.list, "a|b\nc\033 d\177", 10);
	memset(r.policy, '|', sizeof r.policy); /* nor does it end */
	(void)report_line(&r, line);
	assert_int_equal(fields(line), FIELDS);
	assert_non_null(strstr(line, "|a_b_c_ d_|"));
	assert_int_equal(strchr(line, '\n') - line, strlen(line) - 1);

	/* 255 octets, of which 249 take four letters each */
	for (unsigned i = 0; i < 4; i++) {
		r.name[64 * i] = i < 3 ? 63 : 61;
		memset(r.name + 64 * i + 1, '|', r.name[64 * i]);
	}
	r.name[254] = 0;
	assert_int_equal(dname_len(r.name), DNAME_MAX);
	assert_true(report_line(&r, line) < REPORT_LINE);
	assert_int_equal(fields(line), FIELDS);
	r.name[0] = 0;
	(void)report_line(&r, line);
	assert_non_null(strstr(line, "|A|.|"));
}

static void numbers_fit_the_readers(void **state)
{
	(void)state;
	struct report r = report_of("x");

	r.took_ms = r.ttl_s = UINT32_MAX;
	assert_line(&r, "|1700000000|192.0.2.7|ip4|A|x.|0|3||0|2147483647|5|2147483647\n");
}

static void the_ttl_is_the_least_of_the_answer(void **state)
{
	(void)state;
#define HEAD(answers, authority) "\0\0\204\0\0\1\0" answers "\0" authority "\0\1"
#define ASKED "\1x\0\0\1\0\1"
#define RECORD(ttl) "\300\014\0\1\0\1\0\0" ttl "\0\4\300\0\2\1"
#define OPT "\0\0\051\4\320\0\0\0\0\0\0"
	static const struct {
		const char *why;
		struct slice wire;
		uint32_t want;
	} rows[] = {
		{ "two", { BYTES(HEAD("\2", "\1") ASKED RECORD("\1\54") RECORD("\0\74") RECORD("\0\5") OPT) }, 60 },
		{ "denial", { BYTES(HEAD("\0", "\1") ASKED RECORD("\1\54") OPT) }, 300 },
		{ "OPT alone", { BYTES(HEAD("\0", "\0") ASKED OPT) }, 0 },
		{ "cut short", { BYTES(HEAD("\1", "\0") ASKED "\300\014\0\1") }, 0 },
		{ "nothing", { BYTES("") }, 0 },
	};

	for (size_t i = 0; i < COUNT(rows); i++)
		if (report_ttl(rows[i].wire.at, rows[i].wire.len) != rows[i].want)
			fail_msg("%s: %u", rows[i].why, (unsigned)report_ttl(rows[i].wire.at, rows[i].wire.len));
}

static void a_packed_report_is_read_as_written(void **state)
{
	(void)state;
	struct report r = report_of("www.example"), got;
	uint8_t bytes[REPORT_BYTES];
	char want[REPORT_LINE], line[REPORT_LINE];

	assert_true(report_pack(&r, bytes) < 80);
	memset(&got, 0xff, sizeof got);
	report_unpack(&got, bytes);
	(void)report_line(&r, want);
	(void)report_line(&got, line);
	assert_string_equal(line, want);
	memset(r.policy, 'p', sizeof r.policy - 1);
	memset(r.list, 'l', sizeof r.list - 1);
	memcpy(r.name, N("a.b.c.d.e.f.g.h"), 17);
	assert_true(report_pack(&r, bytes) <= REPORT_BYTES);
	report_unpack(&got, bytes);
	(void)report_line(&r, want);
	(void)report_line(&got, line);
	assert_string_equal(line, want);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_field_has_its_place),
		cmocka_unit_test(a_packed_report_is_read_as_written),
		cmocka_unit_test(what_came_of_it_is_told_in_two_numbers),
		cmocka_unit_test(a_hostile_name_stays_one_field),
		cmocka_unit_test(numbers_fit_the_readers),
		cmocka_unit_test(the_ttl_is_the_least_of_the_answer),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
