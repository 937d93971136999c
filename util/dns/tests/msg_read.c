/* Claims about messages that are read: requests in place, answers into sets.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "util/dns/tests/msg_text.h"

/* ---- requests ---- */

#define NO_Q_OPT   "\0\0\0\0\0\0\0\1"
#define COOKIE_OPT "\0\0\51\4\320\0\0\0\0\0\14\0\12\0\10abcdefgh"

static void a_request_is_read_or_told_what_is_wrong(void **state)
{
	(void)state;
	static const struct {
		const char *why;
		struct slice packet;
		enum request_kind want;
		unsigned name_len;
	} rows[] = {
		{ "nothing", { BYTES("") }, REQUEST_IGNORE, 0 },
		{ "eleven bytes", { BYTES(ID RD "\0\1\0\0\0\0\0") }, REQUEST_IGNORE, 0 },
		{ "a response", { BYTES(ID "\201\0" ONE_Q WWW) }, REQUEST_IGNORE, 0 },
		{ "a header alone", { BYTES(ID RD "\0\0\0\0\0\0\0\0") }, REQUEST_FORMERR, 0 },
		{ "a question", { BYTES(ID RD ONE_Q WWW) }, REQUEST_GOOD, 8 },
		{ "the root", { BYTES(ID RD ONE_Q "\0\0\2\0\1") }, REQUEST_GOOD, 1 },
		{ "with OPT", { BYTES(ID RD Q_OPT WWW OPT) }, REQUEST_GOOD, 8 },
		{ "bytes behind it", { BYTES(ID RD ONE_Q WWW "junk") }, REQUEST_GOOD, 8 },
		{ "bytes behind OPT", { BYTES(ID RD Q_OPT WWW OPT "junk") }, REQUEST_GOOD, 8 },
		{ "question cut", { BYTES(ID RD ONE_Q "\3wWw\2cz\0\0\1\0") }, REQUEST_FORMERR, 0 },
		{ "name cut", { BYTES(ID RD ONE_Q "\3wWw\2c") }, REQUEST_FORMERR, 0 },
		{ "name compressed",
		  { BYTES(ID RD ONE_Q "\3wWw\300\14\0\1\0\1") },
		  REQUEST_FORMERR,
		  0 },
		{ "a question not counted",
		  { BYTES(ID RD "\0\0\0\0\0\0\0\0" WWW) },
		  REQUEST_FORMERR,
		  0 },
		{ "256 questions", { BYTES(ID RD "\1\0\0\0\0\0\0\0" WWW) }, REQUEST_FORMERR, 8 },
		{ "two questions",
		  { BYTES(ID RD "\0\2\0\0\0\0\0\0" WWW WWW) },
		  REQUEST_FORMERR,
		  8 },
		{ "an answer", { BYTES(ID RD "\0\1\0\1\0\0\0\0" WWW OPT) }, REQUEST_FORMERR, 0 },
		{ "an authority", { BYTES(ID RD "\0\1\0\0\0\1\0\0" WWW OPT) }, REQUEST_FORMERR, 0 },
		{ "an OPT that is not there", { BYTES(ID RD Q_OPT WWW) }, REQUEST_FORMERR, 8 },
		{ "two OPT", { BYTES(ID RD "\0\1\0\0\0\0\0\2" WWW OPT OPT) }, REQUEST_FORMERR, 8 },
		{ "OPT below the root", { BYTES(ID RD Q_OPT WWW "\1a" OPT) }, REQUEST_FORMERR, 8 },
		{ "OPT owned by a pointer",
		  { BYTES(ID RD Q_OPT WWW "\300\23\0\51\4\320\0\0\200\0\0\0") },
		  REQUEST_FORMERR,
		  8 },
		{ "option cut",
		  { BYTES(ID RD Q_OPT WWW "\0\0\51\4\320\0\0\0\0\0\5\0\3\0\2a") },
		  REQUEST_FORMERR,
		  8 },
		{ "EDNS version 1",
		  { BYTES(ID RD Q_OPT WWW "\0\0\51\4\320\0\1\200\0\0\0") },
		  REQUEST_BADVERS,
		  8 },
		{ "a key behind OPT",
		  { BYTES(ID RD "\0\1\0\0\0\0\0\2" WWW OPT "\1k\0\0\372\0\377\0\0\0\0\0\2ab") },
		  REQUEST_GOOD,
		  8 },
		{ "truncated", { BYTES(ID "\3\0" ONE_Q WWW) }, REQUEST_FORMERR, 8 },
		{ "a cookie alone", { BYTES(ID RD NO_Q_OPT COOKIE_OPT) }, REQUEST_COOKIE, 0 },
		{ "a cookie, truncated", { BYTES(ID "\3\0" NO_Q_OPT COOKIE_OPT) }, REQUEST_FORMERR, 0 },
		{ "an OPT alone", { BYTES(ID RD NO_Q_OPT OPT) }, REQUEST_FORMERR, 0 },
		{ "two cookies alone",
		  { BYTES(ID RD "\0\0\0\0\0\0\0\2" COOKIE_OPT COOKIE_OPT) },
		  REQUEST_FORMERR,
		  0 },
		{ "a cookie cut", { BYTES(ID RD NO_Q_OPT "\0\0\51\4\320\0\0\0\0\0\14\0\12\0\10abcd") },
		  REQUEST_FORMERR, 0 },
		{ "a cookie alone, in EDNS version 1",
		  { BYTES(ID RD NO_Q_OPT "\0\0\51\4\320\0\1\0\0\0\14\0\12\0\10abcdefgh") },
		  REQUEST_FORMERR,
		  0 },
		{ "NOTIFY", { BYTES(ID "\40\0" ONE_Q WWW) }, REQUEST_NOTIMP, 8 },
		{ "UPDATE of nothing", { BYTES(ID "\50\0\0\0\0\0\0\0\0\0") }, REQUEST_NOTIMP, 0 },
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		struct request r;
		enum request_kind got = msg_read_request(rows[i].packet.at, rows[i].packet.len, &r);
		if (got != rows[i].want)
			fail_msg("%s: %d, not %d", rows[i].why, got, rows[i].want);
		if (r.q.name_len != rows[i].name_len)
			fail_msg("%s: name of %u bytes", rows[i].why, r.q.name_len);
	}
}

static void a_request_is_read_in_place(void **state)
{
	(void)state;
	static const char packet[] = ID "\1\20" Q_OPT WWW "\0\0\51\20\0\0\0\200\0\0\4\0\3\0\0";
	struct request r;

	assert_int_equal(msg_read_request(BYTES(packet), &r), REQUEST_GOOD);
	assert_int_equal(r.id, 0xabcd);
	assert_int_equal(r.flags, FLAG_RD | FLAG_CD);
	assert_ptr_equal(r.q.name, packet + MSG_HEAD_LEN);
	assert_int_equal(r.q.type, TYPE_A);
	assert_int_equal(r.q.class_, CLASS_IN);
	assert_true(r.edns.present);
	assert_int_equal(r.edns.udp_size, 4096);
	assert_int_equal(r.edns.flags, EDNS_DO);
	assert_int_equal(r.edns.options.len, 4);
}

static void questions_are_equal_in_all_they_ask(void **state)
{
	(void)state;
	struct question a = { N("www.cz."), 8, TYPE_A, CLASS_IN }, b = a;

	b.name = N("WWW.cz.");
	assert_true(question_equals(&a, &b));
	b.type = TYPE_AAAA;
	assert_false(question_equals(&a, &b));
	b.type = TYPE_A;
	b.class_ = CLASS_CH;
	assert_false(question_equals(&a, &b));
}

/* ---- answers ---- */

static void records_become_sets(void **state)
{
	(void)state;
	static const struct {
		const char *why, *records, *want;
	} rows[] = {
		{ "nothing", "", "-\n-\n" },
		{ "one", "w.a. 60 A 1.1.1.1", "w.a. A 1+0 60\n-\n-\n" },
		{ "two of a set, apart, in other case, the least TTL",
		  "w.a. 60 A 1.1.1.1\nv.a. 9 A 1.1.1.1\nW.A. 50 A 1.1.1.2",
		  "w.a. A 2+0 50\nv.a. A 1+0 9\n-\n-\n" },
		{ "twice the same", "w.a. 60 A 1.1.1.1\nw.a. 60 A 1.1.1.1",
		  "w.a. A 1+0 60\n-\n-\n" },
		{ "classes are apart", "w.a. 60 A 1.1.1.1\nw.a. 60 CH TYPE65280 \\# 0",
		  "w.a. A 1+0 60\nw.a. TYPE65280 1+0 60\n-\n-\n" },
		{ "sections are apart",
		  "w.a. 60 A 1.1.1.1\n-\nw.a. 60 A 1.1.1.1\n-\nw.a. 60 A 1.1.1.2",
		  "w.a. A 1+0 60\n-\nw.a. A 1+0 60\n-\nw.a. A 1+0 60\n" },
		{ "a signature behind", "w.a. 60 A 1.1.1.1\nw.a." SIG("A"),
		  "w.a. A 1+1 60\n-\n-\n" },
		{ "a signature before", "w.a." SIG("A") "v.a. 7 A 1.1.1.1\nw.a. 60 A 1.1.1.1",
		  "w.a. A 1+1 60\nv.a. A 1+0 7\n-\n-\n" },
		{ "twice the same signature", "w.a. 60 A 1.1.1.1\nw.a." SIG("A") "w.a." SIG("A"),
		  "w.a. A 1+1 60\n-\n-\n" },
		{ "a signature of other things",
		  "w.a. 60 A 1.1.1.1\nw.a." SIG("AAAA") "v.a." SIG("A"),
		  "w.a. A 1+0 60\nw.a. RRSIG 1+0 60\nv.a. RRSIG 1+0 60\n-\n-\n" },
		{ "lone signatures are one set",
		  "w.a." SIG("AAAA") "v.a. 60 A 1.1.1.1\nw.a." SIG("MX") "w.a." SIG("MX"),
		  "w.a. RRSIG 2+0 60\nv.a. A 1+0 60\n-\n-\n" },
		{ "a signature of signatures", "w.a." SIG("RRSIG") "w.a." SIG("A"),
		  "w.a. RRSIG 2+0 60\n-\n-\n" },
		{ "a signature of signatures in another section",
		  "w.a." SIG("A") "-\nw.a." SIG("RRSIG"),
		  "w.a. RRSIG 1+0 60\n-\nw.a. RRSIG 1+0 60\n-\n" },
		{ "a signature in another section", "w.a. 60 A 1.1.1.1\n-\nw.a." SIG("A"),
		  "w.a. A 1+1 60\n-\n-\n" },
		{ "the longest TTL", "w.a. 60 A 1.1.1.1\nv.a. 2147483647 A 1.1.1.1",
		  "w.a. A 1+0 60\nv.a. A 1+0 2147483647\n-\n-\n" },
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		uint8_t packet[4096];
		size_t len = compose(packet, sizeof(packet), FLAG_QR, "w.a.", rows[i].records);
		struct message m;
		struct arena a;
		arena_init(&a);
		if (!msg_parse(packet, len, &a, 1000, &m))
			fail_msg("%s: refused", rows[i].why);
		if (strcmp(describe(&m), rows[i].want) != 0)
			fail_msg("%s:\n%s", rows[i].why, describe(&m));
		for (unsigned k = 0; k < message_set_count(&m); k++)
			assert_int_equal(m.sets[k]->expires_s, m.sets[k]->ttl_s + 1000);
		arena_clear(&a);
	}
}

static void lone_signatures_stay_however_many(void **state)
{
	(void)state;

	for (unsigned count = 1; count <= 64; count++) {
		uint8_t packet[8192];
		char records[8192];
		size_t at = (size_t)sprintf(records, "w.a. 60 A 1.1.1.1\n");
		struct message m;
		struct arena a;

		arena_init(&a);
		for (unsigned i = 0; i < count; i++)
			at += (size_t)sprintf(records + at,
					      "w.a. 60 RRSIG MX 13 2 60 20300101000000 "
					      "20200101000000 %u a. AAAA\n",
					      i);
		size_t len = compose(packet, sizeof(packet), FLAG_QR, "w.a.", records);
		assert_true(msg_parse(packet, len, &a, 0, &m));
		assert_int_equal(message_set_count(&m), 2);
		assert_int_equal(m.sets[1]->type, TYPE_RRSIG);
		assert_int_equal(m.sets[1]->count, count);
		arena_clear(&a);
	}
}

static void the_head_of_an_answer_is_read(void **state)
{
	(void)state;
	static const char packet[] =
		ID "\255\203"
		   "\0\1\0\0\0\0\0\1" WWW "\0\0\51\4\320\1\0\200\0\0\4\0\3\0\0";
	uint8_t bytes[sizeof(packet) - 1];
	struct message m;
	struct arena a;

	arena_init(&a);
	memcpy(bytes, packet, sizeof(bytes));
	assert_true(msg_parse(bytes, sizeof(bytes), &a, 0, &m));
	memset(bytes, 0xff, sizeof(bytes)); /* nothing is borrowed from them */
	assert_int_equal(m.id, 0xabcd);
	assert_int_equal(m.opcode, 5);
	assert_int_equal(m.flags, FLAG_QR | FLAG_AA | FLAG_RD | FLAG_RA);
	assert_int_equal(m.rcode, 16 + 3);
	assert_name_is(m.q.name, "wWw.cz.");
	assert_int_equal(m.q.name_len, 8);
	assert_true(m.edns.present);
	assert_int_equal(m.edns.udp_size, 1232);
	assert_int_equal(m.edns.options.len, 4);
	assert_memory_equal(m.edns.options.at, "\0\3\0\0", 4);
	assert_int_equal(message_set_count(&m), 0);
	assert_int_equal(message_ttl(&m, 5, 77), 77);
	arena_clear(&a);
}

#define A_RR  "\300\14\0\1\0\1\0\0\0\74\0\4\1\1\1\1"
#define AN(n) "\0\1\0" n "\0\0\0\0"

static void what_is_no_message_is_refused(void **state)
{
	(void)state;
	static const struct {
		const char *why;
		struct slice packet;
		bool want;
		unsigned sets;
	} rows[] = {
		{ "short", { BYTES(ID "\200\0\0\0\0\0\0\0\0") }, false, 0 },
		{ "a header", { BYTES(ID "\200\0\0\0\0\0\0\0\0\0") }, true, 0 },
		{ "two questions", { BYTES(ID "\200\0\0\2\0\0\0\0\0\0" WWW WWW) }, false, 0 },
		{ "an answer", { BYTES(ID "\200\0" AN("\1") WWW A_RR) }, true, 1 },
		{ "bytes behind it", { BYTES(ID "\200\0" AN("\1") WWW A_RR "junk") }, true, 1 },
		{ "an answer cut",
		  { BYTES(ID "\200\0" AN("\2") WWW A_RR "\300\14\0\1") },
		  false,
		  0 },
		{ "cut, but it says so",
		  { BYTES(ID "\202\0" AN("\2") WWW A_RR "\300\14\0\1") },
		  true,
		  1 },
		{ "wholly cut off", { BYTES(ID "\202\0" AN("\2") WWW) }, true, 0 },
		{ "its question cut", { BYTES(ID "\202\0" AN("\2") "\3wW") }, false, 0 },
		{ "owner loops",
		  { BYTES(ID "\200\0" AN("\1") WWW "\300\30\0\1\0\1\0\0\0\0\0\4aaaa") },
		  false,
		  0 },
		{ "data too long for its type",
		  { BYTES(ID "\200\0" AN("\1") WWW "\300\14\0\2\0\1\0\0\0\0\0\3\300\14a") },
		  false,
		  0 },
		{ "an address too long is left out",
		  { BYTES(ID "\200\0" AN("\2") WWW "\300\14\0\1\0\1\0\0\0\0\0\5aaaaa" A_RR) },
		  true,
		  1 },
		{ "one too short, of the other family",
		  { BYTES(ID "\200\0" AN("\2") WWW "\300\14\0\34\0\1\0\0\0\0\0\4aaaa" A_RR) },
		  true,
		  1 },
		{ "one of its length",
		  { BYTES(ID "\200\0" AN("\2") WWW "\300\14\0\34\0\1\0\0\0\0\0\20aaaaaaaaaaaaaaaa" A_RR) },
		  true,
		  2 },
		{ "OPT in the answer", { BYTES(ID "\200\0" AN("\1") WWW OPT) }, false, 0 },
		{ "OPT twice", { BYTES(ID "\200\0\0\1\0\0\0\0\0\2" WWW OPT OPT) }, false, 0 },
		{ "OPT below the root",
		  { BYTES(ID "\200\0\0\1\0\0\0\0\0\1" WWW "\1a" OPT) },
		  false,
		  0 },
		{ "OPT cut inside its options",
		  { BYTES(ID "\200\0\0\1\0\0\0\0\0\1" WWW "\0\0\51\4\320\0\0\0\0\0\14\0\12\0\10abcd") },
		  false,
		  0 },
		{ "TTL with its top bit set",
		  { BYTES(ID "\200\0" AN("\1") WWW "\300\14\0\1\0\1\200\0\0\1\0\4aaaa") },
		  true,
		  1 },
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		struct message m;
		struct arena a;
		arena_init(&a);
		bool got = msg_parse(rows[i].packet.at, rows[i].packet.len, &a, 0, &m);
		if (got != rows[i].want)
			fail_msg("%s: %s", rows[i].why, got ? "taken" : "refused");
		if (got && message_set_count(&m) != rows[i].sets)
			fail_msg("%s: %u sets", rows[i].why, message_set_count(&m));
		if (got && rows[i].sets && i == COUNT(rows) - 1)
			assert_int_equal(m.sets[0]->ttl_s, INT32_MAX);
		arena_clear(&a);
	}
}

static void names_are_read_through_pointers_that_go_back(void **state)
{
	(void)state;
	uint8_t bytes[512], name[DNAME_MAX];
	size_t at = 5;

	/* "\3abc\0", then pointers, each at the one before it. */
	memcpy(bytes, "\3abc\0", 5);
	for (unsigned hops = 1; hops <= 130; hops++, at += 2) {
		put_u16(bytes + at, (uint16_t)(0xc000 | (hops == 1 ? 0 : at - 2)));
		struct reader r = reader_over(bytes, at + 2);
		r.at += at;
		size_t len = msg_read_name(&r, name);
		assert_int_equal(len, hops <= 126 ? 5 : 0);
		assert_int_equal(r.bad, hops > 126);
		if (len)
			assert_ptr_equal(r.at, r.end);
	}

	/* Labels that add up to more than 255 bytes over pointers. */
	memset(bytes, 0, sizeof(bytes));
	for (unsigned i = 0; i < 4; i++)
		bytes[i * 64] = 63;
	struct reader r = reader_over(bytes, sizeof(bytes));
	assert_int_equal(msg_read_name(&r, name), 0);
	assert_true(r.bad);
	assert_int_equal(msg_read_name(&r, name), 0);
}

/* RFC 1035 2.3.4: 255 bytes with the root label, whether in one piece or over a pointer. */
static void a_name_has_255_bytes(void **state)
{
	(void)state;
	for (unsigned last = 60; last <= 63; last++)
		for (unsigned pointed = 0; pointed < 2; pointed++) {
			uint8_t bytes[300] = { 0 }, name[DNAME_MAX + 1];
			size_t at = 0, len = 3 * 64 + 1u + last + 1;
			struct reader r;

			/* the last label, and behind it three of 63 bytes that go on there; or in order */
			if (pointed) {
				bytes[at] = (uint8_t)last;
				at += last + 2u;
			}
			for (unsigned i = 0; i < 3; i++, at += 64)
				bytes[at] = 63;
			if (pointed)
				put_u16(bytes + at, 0xc000);
			else
				bytes[at] = (uint8_t)last;
			r = reader_over(bytes, sizeof(bytes));
			r.at += pointed ? last + 2u : 0;
			memset(name, 7, sizeof(name));
			assert_int_equal(msg_read_name(&r, name), len <= 255 ? len : 0);
			assert_int_equal(r.bad, len > 255);
			assert_int_equal(name[DNAME_MAX], 7);
		}
}

/* Of what is no query only a NOTIFY's OPT is read, behind a question; a request that is broken without one has none. */
static void an_opt_is_read_where_there_is_one(void **state)
{
	(void)state;
	static const struct {
		const char *why;
		struct slice packet;
		bool opt;
	} rows[] = {
		{ "a query", { BYTES(ID RD Q_OPT WWW OPT) }, true },
		{ "NOTIFY", { BYTES(ID "\40\0" Q_OPT WWW OPT) }, true },
		{ "NOTIFY of nothing", { BYTES(ID "\40\0" NO_Q_OPT OPT) }, false },
		{ "NOTIFY, cut", { BYTES(ID "\40\0" "\0\1\0\0\0\0\0\2" WWW OPT) }, false },
		{ "UPDATE", { BYTES(ID "\50\0" Q_OPT WWW OPT) }, false },
		{ "a query that is cut behind it", { BYTES(ID RD "\0\1\0\0\0\0\0\2" WWW OPT "\1") }, true },
		{ "a cookie alone", { BYTES(ID RD NO_Q_OPT COOKIE_OPT) }, true },
		{ "an OPT alone", { BYTES(ID RD NO_Q_OPT OPT) }, false },
		{ "the same without a question", { BYTES(ID RD "\0\0\0\0\0\0\0\2" OPT "\1") }, false },
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		struct request r;

		(void)msg_read_request(rows[i].packet.at, rows[i].packet.len, &r);
		if (r.edns.present != rows[i].opt)
			fail_msg("%s", rows[i].why);
	}
}

/* RFC 1035 4.1.4: the combinations 01 and 10 of a label's first bits are no label. */
static void what_is_no_label_is_not_skipped(void **state)
{
	(void)state;
	static const struct { const char *why; struct slice bytes; bool bad; } rows[] = {
		{ "the root", { (const uint8_t *)"\0", 1 }, false },
		{ "two labels", { (const uint8_t *)"\1a\1b\0", 5 }, false },
		{ "a pointer", { (const uint8_t *)"\1a\xc0\0", 4 }, false },
		{ "half a pointer", { (const uint8_t *)"\1a\xc0", 3 }, true },
		{ "cut within a label", { (const uint8_t *)"\3ab", 3 }, true },
		{ "01", { (const uint8_t *)"\100" "0123456789012345678901234567890123456789012345678901234567890123\0", 66 }, true },
		{ "10", { (const uint8_t *)"\1a\200" "0123456789012345678901234567890123456789012345678901234567890123"
					   "0123456789012345678901234567890123456789012345678901234567890123\0", 132 }, true },
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		struct reader r = reader_over(rows[i].bytes.at, rows[i].bytes.len);

		msg_skip_name(&r);
		if (r.bad != rows[i].bad || (!r.bad && reader_left(&r)))
			fail_msg("%s", rows[i].why);
	}
}

/* 126 pointers behind each of many owners, or of many targets. */
static void a_message_may_follow_65536_pointers(void **state)
{
	(void)state;
	uint8_t bytes[512], name[DNAME_MAX], room[DNAME_MAX];
	struct reader r = reader_over(bytes, 257);

	memset(bytes, 0, sizeof(bytes));
	for (size_t at = 5; at < 257; at += 2)
		put_u16(bytes + at, (uint16_t)(0xc000 | (at == 5 ? 0 : at - 2)));
	for (unsigned i = 0; i <= 520; i++) {
		r.at = bytes + 255;
		if (i % 2) {
			struct writer w = writer_over(room, sizeof(room));
			assert_int_equal(rr_read_rdata(&r, TYPE_NS, 2, &w), i < 520);
		} else {
			assert_int_equal(msg_read_name(&r, name), i < 520 ? 1 : 0);
		}
	}
	assert_true(r.bad);
}

/* As many records as 64 KiB hold, all in one set, each in its own, signatures only. */
static void large_messages_cost_no_square(void **state)
{
	(void)state;
	static const struct {
		const char *why;
		uint16_t type;
		bool own_owner;
		unsigned sets;
	} rows[] = {
		{ "one set", 65280, false, 1 },
		{ "a set each", 65280, true, 3600 },
		{ "signatures at one name", TYPE_RRSIG, false, 1 },
		{ "signatures each at its name", TYPE_RRSIG, true, 1700 },
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		static uint8_t bytes[MSG_MAX];
		struct writer w = writer_over(bytes, sizeof(bytes));
		unsigned count = rows[i].type == TYPE_RRSIG ? 1700 : 3600;
		struct message m;
		struct arena a;
		arena_init(&a);
		write_bytes(&w, ID "\200\0\0\0", 6);
		write_u16(&w, (uint16_t)count);
		write_u32(&w, 0);
		for (unsigned n = 0; n < count; n++) {
			if (rows[i].own_owner) {
				char label[6];
				snprintf(label, sizeof(label), "\4%04x", n);
				write_bytes(&w, label, 5);
			}
			write_bytes(&w, "", 1);
			write_u16(&w, rows[i].type);
			write_u16(&w, CLASS_IN);
			write_u32(&w, 60);
			write_u16(&w, rows[i].type == TYPE_RRSIG ? 21 : 2);
			write_u16(&w, (uint16_t)(n + 1)); /* or what is covered */
			if (rows[i].type == TYPE_RRSIG)
				write_bytes(&w, "abcdefghijklmnop\0xx", 19);
		}
		assert_false(w.bad);
		if (!msg_parse(bytes, writer_len(&w), &a, 0, &m))
			fail_msg("%s: refused", rows[i].why);
		unsigned records = 0;
		for (unsigned k = 0; k < message_set_count(&m); k++)
			records += m.sets[k]->count + m.sets[k]->sig_count;
		if (records != count || message_set_count(&m) != rows[i].sets)
			fail_msg("%s: %u records in %u sets", rows[i].why, records,
				 message_set_count(&m));
		arena_clear(&a);
	}
}

/* Sets of any size among any number of others come out as the plain way would have it. */
static void sets_are_told_apart_in_a_crowd(void **state)
{
	(void)state;
	static uint8_t bytes[MSG_MAX];
	struct message m;
	struct arena a;
	uint32_t seed = 3;

	for (unsigned owners = 1; owners <= 512; owners *= 2) {
		struct writer w = writer_over(bytes, sizeof(bytes));
		bool seen[512][32] = { { false } };
		unsigned want[512] = { 0 };
		arena_init(&a);
		write_bytes(&w, ID "\200\0\0\0\7\320\0\0\0\0", 12);
		for (unsigned n = 0; n < 2000; n++) {
			seed = seed * 1664525 + 1013904223;
			unsigned owner = (seed >> 16) % owners, data = seed >> 27;
			write_u8(&w, 1);
			write_u8(&w, (uint8_t)((seed & 1024 ? 'A' : 'a') + owner % 26));
			write_u8(&w, 1);
			write_u8(&w, (uint8_t)('0' + owner / 26));
			write_bytes(&w, "\0\377\1\0\1\0\0\0\1\0\1", 11);
			write_u8(&w, (uint8_t)data);
			want[owner] += !seen[owner][data];
			seen[owner][data] = true;
		}
		assert_true(msg_parse(bytes, writer_len(&w), &a, 0, &m));
		for (unsigned owner = 0; owner < owners; owner++) {
			uint8_t name[5] = { 1, (uint8_t)('a' + owner % 26), 1,
					    (uint8_t)('0' + owner / 26), 0 };
			const struct rrset *s =
				message_find(&m, SECTION_ANSWER, name, 65281, CLASS_IN);
			assert_int_equal(s ? s->count : 0, want[owner]);
		}
		arena_clear(&a);
	}
}

/* In each section there may be as many as are counted there: here so many that the count's low byte is zero. */
static void every_section_may_be_long(void **state)
{
	(void)state;
	static uint8_t bytes[MSG_MAX];

	for (unsigned section = 0; section < 3; section++) {
		struct writer w = writer_over(bytes, sizeof(bytes));
		struct message m;
		struct arena a;

		write_bytes(&w, ID "\200\0\0\0\0\0\0\0\0\0", 12);
		put_u16(bytes + 6 + 2 * section, 256);
		for (unsigned n = 0; n < 256; n++) {
			write_u8(&w, 2);
			write_u8(&w, (uint8_t)('a' + n / 16));
			write_u8(&w, (uint8_t)('a' + n % 16));
			write_bytes(&w, "\0\0\20\0\1\0\0\0\1\0\2\1", 12);
			write_u8(&w, (uint8_t)n);
		}
		arena_init(&a);
		assert_true(msg_parse(bytes, writer_len(&w), &a, 0, &m));
		assert_int_equal(m.count[section], 256);
		assert_int_equal(message_set_count(&m), 256);
		for (unsigned n = 0; n < 256; n++)
			assert_int_equal(rrset_record(m.sets[n], 0).at[1], n);
		arena_clear(&a);
	}
}

static void what_was_kept_on_the_way_lasts_less_long(void **state)
{
	static const struct {
		const char *why;
		uint32_t age_s;
		const char *records, *want;
	} rows[] = {
		{ "nothing has passed", 0, "w.a. 300 IN A 192.0.2.1\n", "w.a. 300 IN A 192.0.2.1\n" },
		{ "in every section", 100,
		  "w.a. 300 IN A 192.0.2.1\nw.a. 100 IN A 192.0.2.2\n-\na. 3600 IN NS b.\n-\nb. 60 IN A 192.0.2.3\n",
		  "w.a. 200 IN A 192.0.2.1\nw.a. 0 IN A 192.0.2.2\n-\na. 3500 IN NS b.\n-\nb. 0 IN A 192.0.2.3\n" },
		{ "all of it", INT32_MAX, "w.a. 300 IN A 192.0.2.1\n", "w.a. 0 IN A 192.0.2.1\n" },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		uint8_t packet[512], want[512];
		size_t len = compose(packet, sizeof(packet), FLAG_QR, "w.a.", rows[i].records);

		assert_int_equal(compose(want, sizeof(want), FLAG_QR, "w.a.", rows[i].want), len);
		/* what an OPT has in that place is none */
		memcpy(packet + len, OPT, sizeof(OPT) - 1);
		memcpy(want + len, OPT, sizeof(OPT) - 1);
		packet[11]++;
		want[11]++;
		msg_grow_older(packet, len + sizeof(OPT) - 1, rows[i].age_s);
		if (memcmp(packet, want, len + sizeof(OPT) - 1) != 0)
			fail_msg("%s", rows[i].why);
		for (size_t cut = 1; cut < len; cut++) {
			uint8_t *part = mem_copy(packet, cut); /* a sanitizer sees what is behind it */

			msg_grow_older(part, cut, 1);
			mem_free(part);
		}
	}
}

/* RFC 8767 4 */
static void a_ttl_with_its_top_bit_set_grows_older_from_the_longest(void **state)
{
	uint8_t packet[512];
	size_t len = compose(packet, sizeof(packet), FLAG_QR, "w.a.", "w.a. 300 IN A 192.0.2.1\n");
	uint8_t *ttl = packet + len - 4 - 2 - 4;

	(void)state;
	put_u32(ttl, UINT32_C(1) << 31);
	msg_grow_older(packet, len, 100);
	assert_int_equal(get_u32(ttl), INT32_MAX - 100);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_request_is_read_or_told_what_is_wrong),
		cmocka_unit_test(a_request_is_read_in_place),
		cmocka_unit_test(questions_are_equal_in_all_they_ask),
		cmocka_unit_test(records_become_sets),
		cmocka_unit_test(lone_signatures_stay_however_many),
		cmocka_unit_test(the_head_of_an_answer_is_read),
		cmocka_unit_test(what_is_no_message_is_refused),
		cmocka_unit_test(what_was_kept_on_the_way_lasts_less_long),
		cmocka_unit_test(a_ttl_with_its_top_bit_set_grows_older_from_the_longest),
		cmocka_unit_test(names_are_read_through_pointers_that_go_back),
		cmocka_unit_test(a_name_has_255_bytes),
		cmocka_unit_test(an_opt_is_read_where_there_is_one),
		cmocka_unit_test(what_is_no_label_is_not_skipped),
		cmocka_unit_test(a_message_may_follow_65536_pointers),
		cmocka_unit_test(large_messages_cost_no_square),
		cmocka_unit_test(sets_are_told_apart_in_a_crowd),
		cmocka_unit_test(every_section_may_be_long),
	};

	hash_start(true);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
