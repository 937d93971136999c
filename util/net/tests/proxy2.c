/* Claims about the header of the PROXY protocol.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "util/net/proxy2.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>
#include <cmocka.h>

#include "util/base/bytes.h"
#include "util/base/mem.h"

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
		{ "IPv6, datagram", BYTES(SIGNATURE "\x21\x22\0\x24" IPV6), PROXY2_GOOD, 52,
		  "2001:db8::1@4711" },
		{ "IPv6, one byte too few", BYTES(SIGNATURE "\x21\x21\0\x23" IPV6), PROXY2_BAD, 0, NULL },
		{ "IPv4, one byte too few", BYTES(SIGNATURE "\x21\x11\0\x0b" IPV4), PROXY2_BAD, 0, NULL },
		{ "IPv4, and the last byte is missing", BYTES(SIGNATURE "\x21\x11\0\x0c\xc0\0\2\1\xcb\0\x71\x35\x12\x67\0"),
		  PROXY2_SHORT, 0, NULL },
		{ "something behind it", BYTES(SIGNATURE "\x21\x11\0\x0c" IPV4 "abc"), PROXY2_GOOD,
		  28, "192.0.2.1@4711" },
		{ "something more in it", BYTES(SIGNATURE "\x21\x11\0\x0f" IPV4 "abc"), PROXY2_GOOD,
		  31, "192.0.2.1@4711" },
		{ "by itself", BYTES(SIGNATURE "\x20\0\0\0"), PROXY2_GOOD, 16, NULL },
		{ "by itself, with addresses", BYTES(SIGNATURE "\x20\x11\0\x0c" IPV4), PROXY2_GOOD,
		  28, NULL },
		{ "by itself, without the addresses of a family", BYTES(SIGNATURE "\x20\x11\0\0"), PROXY2_GOOD, 16, NULL },
		{ "by itself, without the addresses of another", BYTES(SIGNATURE "\x20\x21\0\0"), PROXY2_GOOD, 16, NULL },
		{ "of no family", BYTES(SIGNATURE "\x21\0\0\3abc"), PROXY2_GOOD, 19, NULL },
		{ "over a local socket", BYTES(SIGNATURE "\x21\x31\0\3abc"), PROXY2_GOOD, 19,
		  NULL },
		{ "a part",
		  BYTES(SIGNATURE "\x21\x11\0\x0c"
				  "\xc0\0"),
		  PROXY2_SHORT, 0, NULL },
		{ "a part of the front", BYTES(SIGNATURE "\x21"), PROXY2_SHORT, 0, NULL },
		{ "nothing yet", BYTES(""), PROXY2_SHORT, 0, NULL },
		{ "a part of the signature", BYTES("\r\n\r"), PROXY2_SHORT, 0, NULL },
		{ "all of the signature but a byte", BYTES("\r\n\r\n\0\r\nQUIT"), PROXY2_SHORT, 0, NULL },
		{ "the signature", BYTES(SIGNATURE), PROXY2_SHORT, 0, NULL },
		{ "all that tells the length but a byte", BYTES(SIGNATURE "\x21\x11\0"), PROXY2_SHORT, 0, NULL },
		{ "what tells the length", BYTES(SIGNATURE "\x21\x11\0\x0c"), PROXY2_SHORT, 0, NULL },
		{ "another beginning", BYTES("\r\n\n"), PROXY2_BAD, 0, NULL },
		{ "another byte in the signature", BYTES("\r\n\r\n\0\r\nQUIT\r"), PROXY2_BAD, 0, NULL },
		{ "another signature before a whole header", BYTES("\r\n\r\n\0\r\nQUIT\r\x21\x11\0\x0c" IPV4), PROXY2_BAD, 0,
		  NULL },
		{ "version 2 and more", BYTES(SIGNATURE "\xa1\x11\0\x0c" IPV4), PROXY2_BAD, 0, NULL },
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
		if (end != PROXY2_GOOD || !rows[i].from)
			continue;
		assert_string_equal(addr_print(&head.from, 0, text), rows[i].from);
		assert_string_equal(addr_print(&head.to, 0, text),
				    strchr(rows[i].from, ':') ? "2001:db8::2@53" : "203.0.113.53@53");
	}
}

/* Nothing of what came before is left, and nothing behind `len` is read. */
static void a_header_is_all_that_is_told(void **state)
{
	static const uint8_t bytes[] = SIGNATURE "\x21\x11\0\x0c" IPV4;
	static const struct proxy2 zero;
	struct proxy2 head;

	(void)state;
	for (size_t len = 0; len < sizeof bytes - 1; len++) {
		uint8_t *copy = mem_copy(bytes, MAX(len, (size_t)1));

		memset(&head, 0xff, sizeof head);
		assert_int_equal(proxy2_read(copy, len, &head), PROXY2_SHORT);
		assert_false(head.is_for);
		assert_memory_equal(&head.from, &zero.from, sizeof head.from);
		mem_free(copy);
	}
}

/* The longest that is taken. */
static void a_header_has_a_bound(void **state)
{
	uint8_t bytes[PROXY2_MOST + 1] = SIGNATURE "\x20\0";

	(void)state;
	for (size_t len = PROXY2_MOST - 1; len <= PROXY2_MOST + 1; len++) {
		struct proxy2 head;

		put_u16(bytes + PROXY2_LEAST - 2, (uint16_t)(len - PROXY2_LEAST));
		assert_int_equal(proxy2_read(bytes, len, &head), len <= PROXY2_MOST ? PROXY2_GOOD : PROXY2_BAD);
		assert_int_equal(proxy2_read(bytes, len - 1, &head), len <= PROXY2_MOST ? PROXY2_SHORT : PROXY2_BAD);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_header_says_for_whom_it_is),
		cmocka_unit_test(a_header_is_all_that_is_told),
		cmocka_unit_test(a_header_has_a_bound),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
