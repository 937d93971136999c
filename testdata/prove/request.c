/* What clients send: header, question, OPT record; the walk over the records of a message.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * Replaced: names and options by what is proven of them (proven.h); building RRsets is left out. */
#define OWN_WALK
#include "prove.h"
#include "proven.h"

#include "util/dns/msg_read.c"

void prove_in(void)
{
	size_t len = any_up_to(BYTES);
	uint8_t *at = any_bytes(len);
	struct request q;
	enum request_kind kind = msg_read_request(at, len, &q);
	const uint8_t *options = q.edns.options.at;

	CLAIM("what is answered has a header", kind == REQUEST_IGNORE || len >= MSG_HEAD_LEN);
	CLAIM("a question is within the message",
	      q.q.name_len == 0 || (q.q.name == at + MSG_HEAD_LEN && q.q.name_len <= DNAME_MAX && q.q.name_len + 4u <= len - MSG_HEAD_LEN));
	CLAIM("a good one has a question", kind != REQUEST_GOOD || q.q.name_len > 0);
	CLAIM("options are within the message",
	      q.edns.options.len == 0 || (WITHIN(at + MSG_HEAD_LEN, options, at + len) && q.edns.options.len <= len - AT(options)));
	REACHED("options", kind == REQUEST_GOOD && q.edns.options.len > 100);
	REACHED("a cookie alone", kind == REQUEST_COOKIE);
	REACHED("records where none belong", kind == REQUEST_FORMERR && len > MSG_HEAD_LEN && get_u32(at + 6) != 0);
	REACHED("another version", kind == REQUEST_BADVERS);
}

void prove_skip(void)
{
	size_t len = any_up_to(BYTES);
	struct reader r = reader_over(any_bytes(len), len);
	struct reader was = r;
	unsigned records = msg_skip_to_records(&r);

	CLAIM("the cursor stays inside", WITHIN(was.at, r.at, was.end));
	CLAIM("the cursor is behind the header", r.bad || AT(r.at) >= MSG_HEAD_LEN);
	CLAIM("no more records than a header tells", records <= 3 * 65535);
	REACHED("records", !r.bad && records == 3 && AT(r.at) > 100);
	REACHED("malformed", r.bad);
}

void prove_older(void)
{
	size_t len = any_up_to(BYTES);
	uint8_t *wire = any_bytes(len);

	msg_grow_older(wire, len, any_uint32_t());
	REACHED("its end", len > MSG_HEAD_LEN);
}
