/* Claims about DNS over HTTPS: what a request asks, and how long its answer is fresh.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "services/listen/doh.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>
#include <cmocka.h>

#include "util/base/mem.h"
#include "util/dns/msg.h"
#include "util/net/http2_server.h"

#define BYTES(text)                                       \
	{                                                 \
		(const uint8_t *)(text), sizeof(text) - 1 \
	}
#define QUESTION "\0\0\1\0\0\1\0\0\0\0\0\0\1a\4test\0\0\1\0\1"
#define LETTERS  "AAABAAABAAAAAAAAAWEEdGVzdAAAAQAB"

static void a_request_asks_or_its_status_says_why_not(void **state)
{
	(void)state;
	static const struct {
		const char *why;
		enum http2_method method;
		const char *path, *type;
		struct slice body;
		unsigned status;
	} rows[] = {
		{ "GET", HTTP2_GET, "/q?dns=" LETTERS, "", { 0 }, 200 },
		{ "other parameters around",
		  HTTP2_GET,
		  "/q?a=b&dns=" LETTERS "&c",
		  "",
		  { 0 },
		  200 },
		{ "the first counts", HTTP2_GET, "/q?dns=" LETTERS "&dns=*", "", { 0 }, 200 },
		{ "POST", HTTP2_POST, "/q", DOH_TYPE, BYTES(QUESTION), 200 },
		{ "POST, type in capitals, with parameters", HTTP2_POST, "/q",
		  "APPLICATION/dns-message;a=b", BYTES(QUESTION), 200 },
		{ "behind one of four letters", HTTP2_GET, "/q?abcdefgh&dns=" LETTERS, "", { 0 }, 200 },
		{ "behind one that begins alike", HTTP2_GET, "/q?dn&dns&dnsx&dns=" LETTERS, "", { 0 }, 200 },
		{ "an empty one", HTTP2_GET, "/q?dns=", "", { 0 }, 400 },
		{ "POST, type with parameters behind a blank", HTTP2_POST, "/q", DOH_TYPE " ;a=b", BYTES(QUESTION), 200 },
		{ "no query", HTTP2_GET, "/q", "", { 0 }, 400 },
		{ "POST of an answer", HTTP2_POST, "/q", DOH_TYPE, BYTES("\0\0\x81\0\0\1\0\0\0\0\0\0\1a\4test\0\0\1\0\1"), 400 },
		{ "POST of too little", HTTP2_POST, "/q", DOH_TYPE, BYTES("\0\0\1\0\0\1\0\0\0\0\0"), 400 },
		{ "no such parameter", HTTP2_GET, "/q?xdns=" LETTERS, "", { 0 }, 400 },
		{ "no base64url", HTTP2_GET, "/q?dns=" LETTERS "*", "", { 0 }, 400 },
		{ "too short for DNS", HTTP2_GET, "/q?dns=AAAA", "", { 0 }, 400 },
		{ "an answer",
		  HTTP2_GET,
		  "/q?dns=AACBAAABAAAAAAAAAWEEdGVzdAAAAQAB",
		  "",
		  { 0 },
		  400 },
		{ "POST with it in the path", HTTP2_POST, "/q?dns=" LETTERS, DOH_TYPE, { 0 }, 400 },
		{ "another path", HTTP2_GET, "/?dns=" LETTERS, "", { 0 }, 404 },
		{ "a longer path", HTTP2_GET, "/q/?dns=" LETTERS, "", { 0 }, 404 },
		{ "no path", HTTP2_OTHER, "", "", { 0 }, 404 },
		{ "another method", HTTP2_OTHER, "/q?dns=" LETTERS, "", { 0 }, 405 },
		{ "a method nobody knows", HTTP2_UNHEARD, "/q?dns=" LETTERS, "", { 0 }, 501 },
		{ "no type", HTTP2_POST, "/q", "", BYTES(QUESTION), 415 },
		{ "another type", HTTP2_POST, "/q", DOH_TYPE "s", BYTES(QUESTION), 415 },
		{ "another as long", HTTP2_POST, "/q", "application/dns-massage", BYTES(QUESTION), 415 },
		{ "its beginning", HTTP2_POST, "/q", "application/dns-messag", BYTES(QUESTION), 415 },
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		char *path = mem_text(rows[i].path);
		struct http2_request r = { .method = rows[i].method,
					   .path = (uint8_t *)path,
					   .path_len = strlen(path),
					   .type = { (const uint8_t *)rows[i].type,
						     strlen(rows[i].type) },
					   .body = rows[i].body };
		struct slice q = { 0 };
		unsigned status = doh_question(&r, "/q", 2, &q);

		if (status != rows[i].status)
			fail_msg("%s: %u, not %u", rows[i].why, status, rows[i].status);
		if (status == 200) {
			assert_int_equal(q.len, sizeof QUESTION - 1);
			assert_memory_equal(q.at, QUESTION, q.len);
		}
		mem_free(path);
	}
}

/* What is no longer a DNS message, by the body and by the path, and what just is one. */
static void a_request_has_at_most_a_whole_message(void **state)
{
	(void)state;
	for (unsigned longer = 0; longer < 2; longer++) {
		size_t len = MSG_MAX + longer, letters = (len * 8 + 5) / 6;
		uint8_t *body = mem_zero(len), *path = mem_zero(7 + letters);
		struct http2_request post = { .method = HTTP2_POST, .path = path, .path_len = 2, .body = { body, len },
					      .type = { (const uint8_t *)DOH_TYPE, sizeof(DOH_TYPE) - 1 } },
				     get = { .method = HTTP2_GET, .path = path, .path_len = 7 + letters };
		struct slice q = { 0 };

		memcpy(path, "/q?dns=", 7);
		memset(path + 7, 'A', letters);
		assert_int_equal(doh_question(&post, "/q", 2, &q), longer ? 413 : 200);
		assert_int_equal(doh_question(&get, "/q", 2, &q), longer ? 413 : 200);
		assert_int_equal(q.len, len);
		mem_free(path);
		mem_free(body);
	}
}

#define HEAD(rcode, answers, others) \
	"\0\0\x81" rcode "\0\1\0" answers "\0" others "\0\0\1a\4test\0\0\1\0\1"
#define A(ttl) "\xc0\x0c\0\1\0\1\0\0" ttl "\0\4\xc0\0\2\1"
#define SOA(ttl, least) \
	"\xc0\x0e\0\6\0\1\0\0" ttl "\0\x16\0\0\0\0\0\1\0\0\0\1\0\0\0\1\0\0\0\1\0\0" least
#define NS(ttl) "\xc0\x0e\0\2\0\1\0\0" ttl "\0\2\xc0\x0c"

static void an_answer_is_fresh_as_long_as_it_says(void **state)
{
	(void)state;
	static const struct {
		const char *why;
		struct slice wire;
		uint32_t fresh_s;
	} rows[] = {
		{ "one record", BYTES(HEAD("\x80", "\1", "\0") A("\1\x2c")), 300 },
		{ "the smallest of three",
		  BYTES(HEAD("\x80", "\3", "\0") A("\1\x2c") A("\0\x05") A("\1\0")), 5 },
		{ "authority is not looked at",
		  BYTES(HEAD("\x80", "\1", "\1") A("\1\x2c") NS("\0\1")), 300 },
		{ "no such name", BYTES(HEAD("\x83", "\0", "\1") SOA("\1\x2c", "\0\x37")), 55 },
		{ "no such type", BYTES(HEAD("\x80", "\0", "\1") SOA("\0\x20", "\0\x37")), 32 },
		{ "no such name, by a SOA record too short to say more", BYTES(HEAD("\x83", "\0", "\1") "\xc0\x0e\0\6\0\1\0\0\1\x2c\0\4\0\0\0\1"), 300 },
		{ "an alias to no such name",
		  BYTES(HEAD("\x83", "\1", "\1") A("\0\x09") SOA("\1\0", "\0\x37")), 9 },
		{ "a long alias to no such name", BYTES(HEAD("\x83", "\1", "\1") A("\1\x09") SOA("\1\0", "\0\x37")), 55 },
		{ "a denial without SOA", BYTES(HEAD("\x83", "\0", "\0")), 0 },
		{ "a referral", BYTES(HEAD("\x80", "\0", "\1") NS("\1\0")), 0 },
		{ "a SOA that was asked for",
		  BYTES(HEAD("\x80", "\1", "\0") SOA("\1\x2c", "\0\x37")), 300 },
		{ "a failure", BYTES(HEAD("\x82", "\1", "\0") A("\1\x2c")), 0 },
		{ "cut short", BYTES(HEAD("\x80", "\2", "\0") A("\1\x2c")), 0 },
		{ "no message", BYTES("\0\0\x81"), 0 },
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		uint32_t fresh_s = doh_fresh_s(rows[i].wire.at, rows[i].wire.len);

		if (fresh_s != rows[i].fresh_s)
			fail_msg("%s: %u, not %u", rows[i].why, fresh_s, rows[i].fresh_s);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_request_asks_or_its_status_says_why_not),
		cmocka_unit_test(a_request_has_at_most_a_whole_message),
		cmocka_unit_test(an_answer_is_fresh_as_long_as_it_says),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
