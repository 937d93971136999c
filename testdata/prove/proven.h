/* Functions that other rows prove, as what is proven of them: whatever is said there may happen, nothing else is known.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * Their callers have to hand them what the proofs of these functions start from: a reader over bytes that are there. */
#ifndef TESTDATA_PROVE_PROVEN_H
#define TESTDATA_PROVE_PROVEN_H

#include "prove.h"

#include "util/dns/dname.h"
#include "util/dns/edns.h"
#include "util/dns/msgname.h"

/* Numbers: what is read is any, and what is written is forgotten. */
static inline uint32_t prove_get(const uint8_t *at, size_t len)
{
	CLAIM("a number is read from what is there", __CPROVER_r_ok(at, len));
	return any_uint32_t();
}

static inline void prove_put(uint8_t *at, size_t len)
{
	CLAIM("a number is written to what is there", __CPROVER_w_ok(at, len));
}

static inline uint32_t prove_number(struct reader *r, size_t len)
{
	return read_bytes(r, len) ? any_uint32_t() : 0;
}
#define get_u16(at)    ((uint16_t)prove_get(at, 2))
#define get_u32(at)    prove_get(at, 4)
#define put_u16(at, v) prove_put(at, ((void)(v), 2))
#define put_u32(at, v) prove_put(at, ((void)(v), 4))
#define read_u8(r)     ((uint8_t)prove_number(r, 1))
#define read_u16(r)    ((uint16_t)prove_number(r, 2))
#define read_u32(r)    prove_number(r, 4)

static inline void is_a_reader(const struct reader *r)
{
	CLAIM("a reader is over bytes that are there", WITHIN(r->start, r->at, r->end));
	CLAIM("a reader is over no more than there is", AT(r->end) <= __CPROVER_OBJECT_SIZE(r->start));
}

/* Somewhere behind, or bad. */
static inline void any_advance(struct reader *r)
{
	size_t n = any_size_t();

	r->bad = r->bad || any_bool();
	ASSUME(n <= AT(r->end) - AT(r->at) && (r->bad || n > 0));
	r->at += n;
}

#ifndef OWN_NAMES /* said by a harness that has the real ones */
size_t dname_measure(const uint8_t *at, const uint8_t *end)
{
	size_t n = any_up_to(DNAME_MAX);

	CLAIM("a name is looked for in what is there", WITHIN(at, end, end) && AT(end) <= __CPROVER_OBJECT_SIZE(at));
	ASSUME(n <= AT(end) - AT(at) && (n == 0 || at[n - 1] == 0));
	return n;
}

void msg_skip_name(struct reader *r)
{
	is_a_reader(r);
	any_advance(r);
}

size_t msg_read_name(struct reader *r, uint8_t *to)
{
	size_t n = any_up_to(DNAME_MAX);

	is_a_reader(r);
	CLAIM("there is room for a name", __CPROVER_w_ok(to, DNAME_MAX));
	__CPROVER_havoc_slice(to, DNAME_MAX);
	r->pointers = any_uint32_t();
	any_advance(r);
	ASSUME((n == 0) == r->bad && (n == 0 || to[n - 1] == 0));
	return n;
}
#endif

/* msg_skip_to_records */
unsigned any_skip_to_records(struct reader *r)
{
	size_t from = AT(r->at);

	is_a_reader(r);
	any_advance(r);
	ASSUME(r->bad || AT(r->at) - from >= 12);
	return any_up_to(3 * 65535);
}
#ifndef OWN_WALK
unsigned msg_skip_to_records(struct reader *r)
{
	return any_skip_to_records(r);
}
#endif

#ifndef OWN_OPTIONS
bool edns_is_whole(const struct edns *e)
{
	CLAIM("options are there", e->options.len == 0 || AT(e->options.at) + e->options.len <= __CPROVER_OBJECT_SIZE(e->options.at));
	return any_bool();
}

bool edns_find_option(const struct edns *e, uint16_t code, struct slice *value)
{
	size_t from = any_size_t(), len = any_size_t();

	(void)code;
	CLAIM("options are there", e->options.len == 0 || AT(e->options.at) + e->options.len <= __CPROVER_OBJECT_SIZE(e->options.at));
	if (e->options.len < 4 || any_bool())
		return false;
	ASSUME(from >= 4 && from <= e->options.len && len <= e->options.len - from);
	*value = (struct slice){ e->options.at + from, len };
	return true;
}
#endif

#endif
