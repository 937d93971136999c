/* Claims about SVCB records as text: the test vectors of RFC 9460 appendix D, and lists.
 * SPDX-License-Identifier: BSD-3-Clause */
#include <stdio.h>
#include <string.h>

#include "util/base/arena.h"
#include "util/base/fault.h"
#include "util/dns/rr.h"
#include "util/dns/text.h"
#include "util/tests/wire.h"

#define FOO "03666f6f076578616d706c6503636f6d00"
#define ORG "03666f6f076578616d706c65036f726700"

static void params_are_read_as_rfc_9460_writes_them(void **state)
{
	(void)state;
	static const struct {
		const char *data, *want; /* NULL: refused */
	} rows[] = {
		/* D.1, D.2 */
		{ "0 foo.example.com.", "0000" FOO },
		{ "1 .", "000100" },
		{ "16 foo.example.com. port=53", "0010" FOO "000300020035" },
		{ "1 foo.example.com. key667=hello", "0001" FOO "029b000568656c6c6f" },
		{ "1 foo.example.com. key667=\"hello\\210qoo\"",
		  "0001" FOO "029b000968656c6c6fd2716f6f" },
		{ "1 foo.example.com. ipv6hint=\"2001:db8::1,2001:db8::53:1\"",
		  "0001" FOO "00060020"
		  "20010db800000000000000000000000120010db8000000000000000000530001" },
		{ "1 example.com. ipv6hint=\"2001:db8:122:344::192.0.2.33\"",
		  "0001076578616d706c6503636f6d00" "00060010" "20010db80122034400000000c0000221" },
		{ "16 foo.example.org. alpn=h2,h3-19 mandatory=ipv4hint,alpn ipv4hint=192.0.2.1",
		  "0010" ORG "0000000400010004" "00010009" "026832" "0568332d3139" "00040004c0000201" },
		{ "16 foo.example.org. alpn=\"f\\\\\\\\oo\\\\,bar,h2\"",
		  "0010" ORG "0001000c" "08665c6f6f2c626172" "026832" },
		{ "16 foo.example.org. alpn=f\\\\\\092oo\\092,bar,h2",
		  "0010" ORG "0001000c" "08665c6f6f2c626172" "026832" },
		/* D.3 */
		{ "1 foo.example.com. key123=abc key123=def", NULL },
		{ "1 foo.example.com. mandatory", NULL },
		{ "1 foo.example.com. alpn", NULL },
		{ "1 foo.example.com. port", NULL },
		{ "1 foo.example.com. ipv4hint", NULL },
		{ "1 foo.example.com. ipv6hint", NULL },
		{ "1 foo.example.com. no-default-alpn=abc", NULL },
		{ "1 foo.example.com. mandatory=key123", NULL },
		{ "1 foo.example.com. mandatory=mandatory", NULL },
		{ "1 foo.example.com. mandatory=key123,key123 key123=abc", NULL },
		/* lists, unescaped twice */
		{ "1 . alpn=\"h2\\,x\"", "000100" "00010005" "0268320178" },
		{ "1 . alpn=\"h2\\\\,x\"", "000100" "00010005" "0468322c78" },
		{ "1 . alpn=h2\\,x", "000100" "00010005" "0268320178" },
		{ "1 . alpn=h2\\044x", "000100" "00010005" "0268320178" },
		{ "1 . alpn=h2,", NULL },
		{ "1 . alpn=,h2", NULL },
		{ "1 . alpn=h2,,h3", NULL },
		{ "1 . alpn=\"h2\\\\x\"", NULL },
		{ "1 . alpn=\"h2\\\\\"", NULL },
		{ "1 . alpn=\"\"", NULL },
		{ "1 . alpn=\"h2 x\"", "000100" "00010005" "0468322078" },
		{ "1 . ipv4hint=\"192.0.2.1\\,192.0.2.2\"", "000100" "00040008" "c0000201c0000202" },
		{ "1 . ipv4hint=192.0.2.1,", NULL },
		{ "1 . ipv4hint=2001:db8::1", NULL },
		{ "1 . ipv6hint=192.0.2.1", NULL },
		{ "1 . ipv4hint=192.0.2.1\\000", NULL },
		{ "1 . mandatory=port,port port=1", NULL },
		{ "1 . mandatory=alpn\\,port port=1 alpn=h2", "000100" "0000000400010003" "0001000302" "6832" "000300020001" },
		{ "1 . tls-supported-groups=29,23", "000100" "00090004001d0017" },
		{ "1 . tls-supported-groups=29,65536", NULL },
		/* the rest */
		{ "1 . port=65536", NULL },
		{ "1 . port=1,2", NULL },
		{ "1 . port=\"443\" no-default-alpn alpn=h2", "000100" "0001000302" "6832" "00020000" "0003000201bb" },
		{ "1 . no-default-alpn=\"\" ohttp", "000100" "00020000" "00080000" },
		{ "1 . ohttp=x", NULL },
		{ "1 . ech=AAAA dohpath=/q{?dns}", "000100" "00050003000000" "00070008" "2f717b3f646e737d" },
		{ "1 . ech=AAA", NULL },
		{ "1 . key7=x key8=", "000100" "0007000178" "00080000" },
		{ "1 . key1=\\002h2", "000100" "0001000302" "6832" },
		{ "1 . key65534", "000100" "fffe0000" },
		{ "1 . key65535=x", NULL },
		{ "1 . key01=x", NULL },
		{ "1 . key", NULL },
		{ "1 . foo=x", NULL },
		{ "1 . =x", NULL },
		{ "1 . port=443 port=444", NULL },
		{ "1 . key3=x port=444", NULL },
		{ "1 . key9=\"a\"b", NULL },
		{ "1 . key9=\\256", NULL },
		{ "1", NULL },
	};

	for (size_t i = 0; i < 2 * COUNT(rows); i++) {
		struct fault f = { 0 };
		struct text_rr rr;
		struct arena a;
		char line[300], got[600] = "";
		bool good;

		arena_init(&a);
		snprintf(line, sizeof(line), "a. %s %s", i % 2 ? "HTTPS" : "SVCB", rows[i / 2].data);
		good = text_rr_parse(&a, line, NULL, &rr, &f);
		for (size_t n = 0; good && n < rr.rdata.len; n++)
			snprintf(got + 2 * n, sizeof(got) - 2 * n, "%02x", rr.rdata.at[n]);
		if (good != (rows[i / 2].want != NULL) || (good && strcmp(got, rows[i / 2].want) != 0))
			fail_msg("%s: %s, not %s", line, good ? got : f.text,
				 rows[i / 2].want ? rows[i / 2].want : "refused");
		arena_clear(&a);
	}
}

/* What is printed is read again as the same. */
static void what_is_printed_is_read_again(void **state)
{
	(void)state;
	static const char *const rows[] = {
		"1 . alpn=\"h2\\\\,x\"", "1 . alpn=\"f\\\\\\\\oo\\\\,bar,h2\"", "1 . key9=\"a b\\\"c\\000\"",
		"1 foo. alpn=h2,h3 port=53", "1 . key667=\"hello\\210qoo\"", "1 . mandatory=port port=1",
		"1 . alpn=\"a b\"", "1 . dohpath=\"/q{?dns}\"", "1 . key7=\"\\\"\\\\\"",
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		struct fault f = { 0 };
		struct text_rr rr, again;
		struct arena a;
		char line[300], text[400];

		arena_init(&a);
		snprintf(line, sizeof(line), "a. 1 SVCB %s", rows[i]);
		assert_true(text_rr_parse(&a, line, NULL, &rr, &f));
		text_rr_print(text, sizeof(text), rr.owner, rr.ttl_s, rr.class_, rr.type, rr.rdata);
		if (!text_rr_parse(&a, text, NULL, &again, &f))
			fail_msg("%s: %s", text, f.text);
		if (again.rdata.len != rr.rdata.len ||
		    memcmp(again.rdata.at, rr.rdata.at, rr.rdata.len) != 0)
			fail_msg("%s: %s", line, text);
		arena_clear(&a);
	}
}

int main(void)
{
	const struct CMUnitTest claims[] = {
		cmocka_unit_test(params_are_read_as_rfc_9460_writes_them),
		cmocka_unit_test(what_is_printed_is_read_again),
	};

	return cmocka_run_group_tests(claims, NULL, NULL);
}
