/* Names: measured in place, read out of messages along compression pointers, skipped.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * All code is the real one, but for memcpy (prove.h). */
#include "prove.h"

#include "util/dns/dname.c"
#include "util/dns/msgname.c"

/* A reader in any state, over any bytes. */
static struct reader any_reader(void)
{
	size_t len = any_up_to(BYTES), from = any_up_to(len);
	struct reader r = reader_over(any_bytes(len), len);

	r.at += from;
	r.bad = any_bool();
	r.pointers = any_uint32_t();
	return r;
}

void prove_measure(void)
{
	size_t len = any_up_to(BYTES);
	uint8_t *at = any_bytes(len);
	size_t n = dname_measure(at, at + len);

	CLAIM("no longer than a name may be, nor than what is there", n <= DNAME_MAX && n <= len);
	CLAIM("ends with the root", n == 0 || at[n - 1] == 0);
	REACHED("the longest name", n == DNAME_MAX);
	REACHED("none", n == 0);
}

void prove_read(void)
{
	struct reader r = any_reader();
	struct reader was = r;
	uint8_t *name = any_bytes(DNAME_MAX);
	size_t n = msg_read_name(&r, name);

	CLAIM("a name, or bad", (n == 0) == r.bad && n <= DNAME_MAX);
	CLAIM("what was bad stays so", !was.bad || r.bad);
	CLAIM("the cursor stays inside", WITHIN(was.at, r.at, was.end));
	CLAIM("the cursor moves", n == 0 || r.at > was.at);
	CLAIM("ends with the root", n == 0 || name[n - 1] == 0);
	CLAIM("the buffer is the same", r.start == was.start && r.end == was.end);
	REACHED("the longest name", n == DNAME_MAX);
	REACHED("a pointer", n > 3 && AT(r.at) == AT(was.at) + 2);
	REACHED("malformed", !was.bad && r.bad);
}

void prove_skip(void)
{
	struct reader r = any_reader();
	struct reader was = r;

	msg_skip_name(&r);
	CLAIM("what was bad stays so", !was.bad || r.bad);
	CLAIM("the cursor stays inside", WITHIN(was.at, r.at, was.end));
	CLAIM("the cursor moves", r.bad || r.at > was.at);
	REACHED("a name", !r.bad && AT(r.at) == AT(was.at) + 70);
	REACHED("malformed", !was.bad && r.bad);
}
