/* Claims about the header of the PROXY protocol.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "util/proxy2.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>
#include <cmocka.h>

#define SIGNATURE   "\r\n\r\n\0\r\nQUIT\n"
#define BYTES(text) (const uint8_t *)(text), sizeof(text) - 1
#define IPV4        "\xc0\0\2\1\xcb\0\x71\x35\x12\x67\0\x35"
#define ZEROS       "\0\0\0\0\0\0\0\0\0\0\0"
#define IPV6        "\x20\1\x0d\xb8" ZEROS "\1\x20\1\x0d\xb8" ZEROS "\2\x12\x67\0\x35"

static void a_header_says_for_whom_it_is(void **state)
{
	(void)state;
	static const struct {
		const char *why;
		const uint8_t *at;
		size_t len;
		enum proxy2_end end;
		size_t head;
		const char *from; /* NULL: for nobody else */
	} rows[] = {
		{ "IPv4, stream", BYTES(SIGNATURE "\x21\x11\0\x0c" IPV4), PROXY2_GOOD, 28,
		  "192.0.2.1@4711" },
		{ "IPv4, datagram", BYTES(SIGNATURE "\x21\x12\0\x0c" IPV4), PROXY2_GOOD, 28,
		  "192.0.2.1@4711" },
		{ "IPv6", BYTES(SIGNATURE "\x21\x21\0\x24" IPV6), PROXY2_GOOD, 52,
		  "2001:db8::1@4711" },
		{ "something behind it", BYTES(SIGNATURE "\x21\x11\0\x0c" IPV4 "abc"), PROXY2_GOOD,
		  28, "192.0.2.1@4711" },
		{ "something more in it", BYTES(SIGNATURE "\x21\x11\0\x0f" IPV4 "abc"), PROXY2_GOOD,
		  31, "192.0.2.1@4711" },
		{ "by itself", BYTES(SIGNATURE "\x20\0\0\0"), PROXY2_GOOD, 16, NULL },
		{ "by itself, with addresses", BYTES(SIGNATURE "\x20\x11\0\x0c" IPV4), PROXY2_GOOD,
		  28, NULL },
		{ "of no family", BYTES(SIGNATURE "\x21\0\0\3abc"), PROXY2_GOOD, 19, NULL },
		{ "over a local socket", BYTES(SIGNATURE "\x21\x31\0\3abc"), PROXY2_GOOD, 19,
		  NULL },
		{ "a part",
		  BYTES(SIGNATURE "\x21\x11\0\x0c"
				  "\xc0\0"),
		  PROXY2_SHORT, 0, NULL },
		{ "a part of the front", BYTES(SIGNATURE "\x21"), PROXY2_SHORT, 0, NULL },
		{ "a part of the signature", BYTES("\r\n\r"), PROXY2_SHORT, 0, NULL },
		{ "another beginning", BYTES("\r\n\n"), PROXY2_BAD, 0, NULL },
		{ "version 1", BYTES("PROXY TCP4 192.0.2.1 203.0.113.53 4711 53\r\n"), PROXY2_BAD,
		  0, NULL },
		{ "version 3", BYTES(SIGNATURE "\x31\x11\0\x0c" IPV4), PROXY2_BAD, 0, NULL },
		{ "another command", BYTES(SIGNATURE "\x22\x11\0\x0c" IPV4), PROXY2_BAD, 0, NULL },
		{ "no room for addresses", BYTES(SIGNATURE "\x21\x11\0\4abcd"), PROXY2_BAD, 0,
		  NULL },
		{ "longer than is taken", BYTES(SIGNATURE "\x21\x11\1\xf1" IPV4), PROXY2_BAD, 0,
		  NULL },
		{ "as long as is taken", BYTES(SIGNATURE "\x21\x11\1\xf0" IPV4), PROXY2_SHORT, 0,
		  NULL },
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		struct proxy2 head;
		enum proxy2_end end = proxy2_read(rows[i].at, rows[i].len, &head);
		char text[ADDR_TEXT];

		if (end != rows[i].end || (end == PROXY2_GOOD && head.len != rows[i].head) ||
		    (end == PROXY2_GOOD && head.is_for != (rows[i].from != NULL)))
			fail_msg("%s: %d, %zu bytes", rows[i].why, end, head.len);
		if (end == PROXY2_GOOD && rows[i].from)
			assert_string_equal(addr_print(&head.from, 0, text), rows[i].from);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_header_says_for_whom_it_is),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
