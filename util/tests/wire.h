/* What tests of wire formats have in common: bytes and names spelled in C.
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef UTIL_TESTS_WIRE_H
#define UTIL_TESTS_WIRE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "util/base/bytes.h"
#include "util/dns/dname.h"

/* The bytes of a string literal, without its NUL: pointer and end, or pointer and length. */
#define WIRE(s)  (const uint8_t *)(s), (const uint8_t *)(s) + sizeof(s) - 1
#define BYTES(s) (const uint8_t *)(s), sizeof(s) - 1
#define SLICE(s) ((struct slice){ BYTES(s) })

/* A name from text; good until sixteen more have been asked for. */
static inline uint8_t *N(const char *text)
{
	static uint8_t ring[16][DNAME_MAX];
	static unsigned next;
	uint8_t *name = ring[next++ % 16];

	if (dname_parse(name, text, NULL) == 0)
		fail_msg("'%s' is no name", text);
	return name;
}

#define assert_name_is(name, text)                                      \
	do {                                                            \
		char buf_[DNAME_TEXT];                                  \
		assert_string_equal(dname_print((name), buf_), (text)); \
	} while (0)

#endif
