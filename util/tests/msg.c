/* Claims about messages: requests in place, answers into sets, sets into answers.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "util/msg.h"

#include "util/arena.h"
#include "util/hash.h"
#include "util/mem.h"
#include "util/rr.h"
#include "util/tests/wire.h"
#include "util/text.h"

/* ---- requests ---- */

#define ID    "\253\315"
#define RD    "\1\0"
#define ONE_Q "\0\1\0\0\0\0\0\0"
#define Q_OPT "\0\1\0\0\0\0\0\1"
#define WWW   "\3wWw\2cz\0\0\1\0\1"
#define OPT   "\0\0\51\4\320\0\0\200\0\0\0"

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

/* ---- reading answers ---- */

/* A message from text: records of the sections stand line by line, uncompressed,
 * "-" begins the next section. */
static size_t compose(uint8_t *to, size_t room, uint16_t flags, const char *question,
		      const char *records)
{
	struct writer w = writer_over(to, room);
	char *copy = mem_text(records), *line, *rest = copy;
	unsigned section = 0;
	uint16_t counts[3] = { 0, 0, 0 };
	struct arena a;

	arena_init(&a);
	write_u16(&w, 0x1234);
	write_u16(&w, flags);
	write_u16(&w, 1);
	write_room(&w, 6);
	write_bytes(&w, N(question), dname_len(N(question)));
	write_u16(&w, TYPE_A);
	write_u16(&w, CLASS_IN);
	while ((line = strsep(&rest, "\n"))) {
		struct text_rr rr;
		if (*line == '\0')
			continue;
		if (strcmp(line, "-") == 0) {
			section++;
			continue;
		}
		assert_true(text_rr_parse(&a, line, NULL, &rr, NULL));
		write_bytes(&w, rr.owner, dname_len(rr.owner));
		write_u16(&w, rr.type);
		write_u16(&w, rr.class_);
		write_u32(&w, rr.ttl_s);
		write_u16(&w, (uint16_t)rr.rdata.len);
		write_bytes(&w, rr.rdata.at, rr.rdata.len);
		counts[section]++;
	}
	for (unsigned i = 0; i < 3; i++)
		put_u16(to + 6 + 2 * i, counts[i]);
	arena_clear(&a);
	mem_free(copy);
	assert_false(w.bad);
	return writer_len(&w);
}

/* "owner type records+signatures ttl" of each set, "-" between sections. */
static const char *describe(const struct message *m)
{
	static char text[65536];
	size_t at = 0;

	for (int s = SECTION_ANSWER; s <= SECTION_ADDITIONAL; s++) {
		unsigned count;
		const struct rrset **sets = message_section(m, (enum section)s, &count);
		for (unsigned i = 0; i < count; i++) {
			char name[DNAME_TEXT], type[16];
			at += (size_t)snprintf(text + at, sizeof(text) - at, "%s %s %u+%u %u\n",
					       dname_print(rrset_owner(sets[i]), name),
					       rr_type_name(sets[i]->type, type), sets[i]->count,
					       sets[i]->sig_count, (unsigned)sets[i]->ttl_s);
		}
		if (s < SECTION_ADDITIONAL)
			at += (size_t)snprintf(text + at, sizeof(text) - at, "-\n");
	}
	return text;
}

#define SIG(type) " 60 RRSIG " type " 13 2 60 20300101000000 20200101000000 1 a. AAAA\n"

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
		{ "a signature in another section", "w.a. 60 A 1.1.1.1\n-\nw.a." SIG("A"),
		  "w.a. A 1+1 60\n-\n-\n" },
		{ "a TTL with its top bit set", "w.a. 60 A 1.1.1.1\nv.a. 2147483647 A 1.1.1.1",
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
		{ "OPT in the answer", { BYTES(ID "\200\0" AN("\1") WWW OPT) }, false, 0 },
		{ "OPT twice", { BYTES(ID "\200\0\0\1\0\0\0\0\0\2" WWW OPT OPT) }, false, 0 },
		{ "OPT below the root",
		  { BYTES(ID "\200\0\0\1\0\0\0\0\0\1" WWW "\1a" OPT) },
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
			assert_int_equal(m.sets[0]->ttl_s, 0);
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
			write_u8(&w, 0);
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

	for (unsigned owners = 1; owners <= 64; owners *= 2) {
		struct writer w = writer_over(bytes, sizeof(bytes));
		bool seen[64][32] = { { false } };
		unsigned want[64] = { 0 };
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

/* ---- writing ---- */

/* Parse a composed message, for writing. */
static void parsed(struct arena *a, const char *question, const char *records, struct message *m)
{
	static uint8_t packet[MSG_MAX];
	size_t len = compose(packet, sizeof(packet), FLAG_QR | FLAG_RD, question, records);

	assert_true(msg_parse(packet, len, a, 1000, m));
}

static void what_is_written_reads_the_same(void **state)
{
	(void)state;
	static const struct {
		const char *why, *question, *records;
		size_t len; /* of the whole message, compressed */
	} rows[] = {
		{ "nothing", "w.a.", "", 12 + 5 + 4 },
		{ "the root", ".", ". 60 A 1.1.1.1\n. 60 A 1.1.1.2", 12 + 5 + 2 * 15 },
		{ "owner is the question", "w.a.", "w.a. 60 A 1.1.1.1\nW.A. 60 A 1.1.1.2",
		  12 + 9 + 2 * 16 },
		{ "names in the data", "w.a.",
		  "w.a. 60 CNAME v.a.\nv.a. 60 CNAME b.\nb. 60 A 1.1.1.1",
		  12 + 9 + (12 + 4) + (12 + 3) + (12 + 4) },
		{ "MX and SOA", "a.", "a. 60 MX 1 m.a.\n-\na. 60 SOA m.a. h.a. 1 2 3 4 5",
		  12 + 7 + (12 + 2 + 4) + (12 + 2 + 4 + 20) },
		{ "not in other types", "a.",
		  "a. 60 SRV 1 2 3 m.a.\na. 60 NAPTR 1 2 \"a\" \"b\" \"c\" a.",
		  12 + 7 + (12 + 6 + 5) + (12 + 4 + 6 + 3) },
		{ "a label is no suffix", "a.b.", "xa.b. 60 NS a.b.", 12 + 9 + (15 - 2 + 2) + 2 },
		{ "an owner again", "a.", "b.a. 60 A 1.1.1.1\nb.a. 60 A 1.1.1.2\nb.a. 60 AAAA ::1",
		  12 + 7 + 18 + 16 + 28 },
		{ "signatures", "w.a.", "w.a. 60 A 1.1.1.1\nw.a." SIG("A"),
		  12 + 9 + 16 + 12 + 18 + 3 + 3 },
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		uint8_t bytes[1024];
		uint16_t offsets[16];
		struct writer w = writer_over(bytes, sizeof(bytes));
		struct msg_style style = { .now_s = 1020,
					   .with_dnssec = true,
					   .ttl_offsets = offsets,
					   .ttl_room = COUNT(offsets) };
		struct message m, again;
		struct arena a;
		char *want;
		arena_init(&a);
		parsed(&a, rows[i].question, rows[i].records, &m);
		want = mem_text(describe(&m));
		msg_write(&w, &m, &style);
		assert_false(w.bad);
		if (writer_len(&w) != rows[i].len)
			fail_msg("%s: %zu bytes, not %zu", rows[i].why, writer_len(&w),
				 rows[i].len);
		assert_int_equal(style.end[2], writer_len(&w));
		assert_int_equal(style.ttl_count,
				 style.rr_count[0] + style.rr_count[1] + style.rr_count[2]);
		for (size_t k = 0; k < style.ttl_count; k++) {
			assert_int_equal(get_u32(bytes + offsets[k]), 40);
			put_u32(bytes + offsets[k], 60);
		}
		if (!msg_parse(bytes, writer_len(&w), &a, 1000, &again))
			fail_msg("%s: what was written is no message", rows[i].why);
		if (strcmp(describe(&again), want) != 0)
			fail_msg("%s:\n%s", rows[i].why, describe(&again));
		for (unsigned k = 0; k < message_set_count(&m); k++)
			assert_true(rrset_same_records(m.sets[k], again.sets[k]));
		assert_int_equal(again.id, m.id);
		assert_int_equal(again.flags, m.flags);
		mem_free(want);
		arena_clear(&a);
	}
}

static void the_rcode_s_low_bits_and_opcode_go_to_the_header(void **state)
{
	(void)state;
	uint8_t bytes[64];
	struct writer w = writer_over(bytes, sizeof(bytes));
	struct msg_style style = { 0 };
	struct message m = { .id = 1,
			     .flags = FLAG_QR | FLAG_AD,
			     .opcode = OPCODE_NOTIFY,
			     .rcode = RCODE_BADCOOKIE };

	msg_write(&w, &m, &style);
	assert_int_equal(writer_len(&w), MSG_HEAD_LEN);
	assert_int_equal(msg_flags(bytes), FLAG_QR | FLAG_AD | OPCODE_NOTIFY << 11 | 7);
	assert_int_equal(get_u16(bytes + 4), 0);
}

static void ttls_count_down_to_nothing_or_stay(void **state)
{
	(void)state;
	static const struct {
		uint32_t now_s;
		bool original;
		uint32_t want;
	} rows[] = { { 1000, false, 60 },
		     { 1059, false, 1 },
		     { 1060, false, 0 },
		     { 2000, false, 0 },
		     { 2000, true, 60 } };
	struct message m;
	struct arena a;

	arena_init(&a);
	parsed(&a, "w.a.", "w.a. 60 A 1.1.1.1", &m);
	for (size_t i = 0; i < COUNT(rows); i++) {
		uint8_t bytes[128];
		struct writer w = writer_over(bytes, sizeof(bytes));
		struct msg_style style = { .now_s = rows[i].now_s,
					   .original_ttl = rows[i].original };
		msg_write(&w, &m, &style);
		assert_int_equal(get_u32(bytes + 12 + 9 + 6), rows[i].want);
	}
	assert_int_equal(message_ttl(&m, 1010, 7), 50);
	assert_int_equal(message_ttl(&m, 3000, 7), 0);
	arena_clear(&a);
}

static void dnssec_records_go_to_who_asked_for_them(void **state)
{
	(void)state;
	static const char records[] =
		"w.a. 60 A 1.1.1.1\nw.a." SIG("A") "-\nw.a. 60 NSEC x.a. A\nw.a." SIG(
			"NSEC") "a. 60 DNSKEY 256 3 13 AAAA\n-\nv.a." SIG("A");
	static const struct {
		uint16_t type;
		bool dnssec;
		uint16_t counts[3];
	} rows[] = {
		{ TYPE_A, true, { 2, 3, 1 } },     { TYPE_A, false, { 1, 1, 0 } },
		{ TYPE_NSEC, false, { 1, 1, 0 } }, { TYPE_RRSIG, false, { 2, 1, 0 } },
		{ TYPE_ANY, false, { 2, 1, 0 } },
	};
	struct message m;
	struct arena a;

	arena_init(&a);
	parsed(&a, "w.a.", records, &m);
	for (size_t i = 0; i < COUNT(rows); i++) {
		uint8_t bytes[512];
		struct writer w = writer_over(bytes, sizeof(bytes));
		struct msg_style style = { .with_dnssec = rows[i].dnssec };
		m.q.type = rows[i].type;
		msg_write(&w, &m, &style);
		for (unsigned s = 0; s < 3; s++) {
			if (style.rr_count[s] != rows[i].counts[s])
				fail_msg("row %zu, section %u: %u", i, s, style.rr_count[s]);
			assert_int_equal(get_u16(bytes + 6 + 2 * s), rows[i].counts[s]);
		}
	}
	arena_clear(&a);
}

/* With every room there can be, what is told of the part that fits holds. */
static void what_does_not_fit_can_be_cut_between_sets(void **state)
{
	(void)state;
	static const char records[] =
		"w.a. 60 A 1.1.1.1\nw.a. 60 A 1.1.1.2\nw.a. 60 TXT \"some text\"\n"
		"-\na. 60 NS ns.a.\na. 60 NS ns.b.\n-\nns.a. 60 A 1.1.1.1\nns.b. 60 A 1.1.1.1\n";
	struct message m;
	struct arena a;

	arena_init(&a);
	parsed(&a, "w.a.", records, &m);
	for (size_t room = 0; room <= 256; room++) {
		uint8_t *bytes = mem_new(room + 1);
		struct writer w = writer_over(bytes, room);
		struct msg_style style = { .ttl_room = 0 };
		struct message again;
		msg_write(&w, &m, &style);
		size_t len = style.end[SECTION_ADDITIONAL];
		assert_true(len <= room);
		assert_true(w.bad || len == writer_len(&w));
		assert_true(style.end[0] <= style.end[1] && style.end[1] <= len);
		assert_int_equal(style.ttl_count,
				 style.rr_count[0] + style.rr_count[1] + style.rr_count[2]);
		if (len == 0) {
			assert_true(room < 12 + 9);
		} else {
			assert_true(msg_parse(bytes, len, &a, 0, &again));
			unsigned sets = message_set_count(&again);
			assert_true(sets <= message_set_count(&m));
			for (unsigned k = 0; k < sets; k++)
				assert_true(rrset_same_records(m.sets[k], again.sets[k]));
		}
		mem_free(bytes);
	}
	arena_clear(&a);
}

static void pointers_reach_no_further_than_14_bits(void **state)
{
	(void)state;
	static uint8_t bytes[MSG_MAX];
	char *records = mem_new(70000);
	struct message m, again;
	struct arena a;
	size_t at = 0;

	/* 20 KiB of text before the names that are alike. */
	for (unsigned i = 0; i < 100; i++)
		at += (size_t)sprintf(records + at, "w.a. 60 TXT \"%0200u\"\n", i);
	at += (size_t)sprintf(records + at, "long.name.b. 60 A 1.1.1.1\nlong.name.b. 60 A 1.1.1.2\n"
					    "c. 60 NS long.name.b.\nd. 60 NS w.a.\n");
	arena_init(&a);
	parsed(&a, "w.a.", records, &m);
	struct writer w = writer_over(bytes, sizeof(bytes));
	struct msg_style style = { .with_dnssec = true };
	msg_write(&w, &m, &style);
	assert_false(w.bad);
	assert_true(msg_parse(bytes, writer_len(&w), &a, 0, &again));
	assert_int_equal(message_set_count(&again), message_set_count(&m));
	for (unsigned k = 0; k < message_set_count(&m); k++) {
		assert_true(dname_equals(rrset_owner(m.sets[k]), rrset_owner(again.sets[k])));
		assert_true(rrset_same_records(m.sets[k], again.sets[k]));
	}
	mem_free(records);
	arena_clear(&a);
}

/* 400 MX of 26 labels with hardly anything in common, as an attacker would have it:
 * the number of names compressed is bounded, and all of them come out right. */
static void compression_gives_up_in_time(void **state)
{
	(void)state;
	static uint8_t bytes[MSG_MAX];
	struct slice rdata[400];
	struct arena a;
	arena_init(&a);

	for (unsigned i = 0; i < COUNT(rdata); i++) {
		uint8_t *data = arena_take(&a, 64);
		size_t at = 2;
		put_u16(data, 10);
		for (unsigned k = 0; k < 26; k++) {
			data[at++] = 1;
			data[at++] = (uint8_t)(k < 24 ? 'a' + (i >> (k % 9) & 1) : 'x');
		}
		data[at++] = 0;
		put_u16(data, (uint16_t)i);
		rdata[i] = (struct slice){ data, at };
	}
	const struct rrset *set = rrset_build(&a, &(struct rrset_parts){ .owner = N("x.x."),
									 .type = TYPE_MX,
									 .class_ = CLASS_IN,
									 .records = rdata,
									 .count = COUNT(rdata) });
	struct message m = { .q = { N("x.x."), 5, TYPE_MX, CLASS_IN },
			     .sets = &set,
			     .count = { 1, 0, 0 } };
	struct message again;
	struct writer w = writer_over(bytes, sizeof(bytes));
	struct msg_style style = { 0 };
	msg_write(&w, &m, &style);
	assert_false(w.bad);
	assert_true(msg_parse(bytes, writer_len(&w), &a, 0, &again));
	assert_true(rrset_same_records(again.sets[0], set));
	/* The last names stand there whole: 12 bytes of head, 2 of preference, 53 of name. */
	assert_memory_equal(bytes + writer_len(&w) - 55, rdata[399].at, 55);
	arena_clear(&a);
}

static void a_query_is_written_with_and_without_opt(void **state)
{
	(void)state;
	struct question q = { N("wWw.cz."), 8, TYPE_A, CLASS_IN };
	struct edns opt = { .present = true, .udp_size = 1232, .flags = EDNS_DO };
	static const char plain[] = ID RD ONE_Q WWW, with[] = ID RD Q_OPT WWW OPT;
	uint8_t bytes[64];

	struct writer w = writer_over(bytes, sizeof(bytes));
	msg_write_query(&w, 0xabcd, FLAG_RD, &q, NULL);
	assert_int_equal(writer_len(&w), sizeof(plain) - 1);
	assert_memory_equal(bytes, plain, sizeof(plain) - 1);
	w = writer_over(bytes, sizeof(bytes));
	msg_write_query(&w, 0xabcd, FLAG_RD, &q, &opt);
	assert_int_equal(writer_len(&w), sizeof(with) - 1);
	assert_memory_equal(bytes, with, sizeof(with) - 1);
	w = writer_over(bytes, sizeof(with) - 2);
	msg_write_query(&w, 0xabcd, FLAG_RD, &q, &opt);
	assert_true(w.bad);
}

int main(void)
{
	const struct CMUnitTest claims[] = {
		cmocka_unit_test(a_request_is_read_or_told_what_is_wrong),
		cmocka_unit_test(a_request_is_read_in_place),
		cmocka_unit_test(questions_are_equal_in_all_they_ask),
		cmocka_unit_test(records_become_sets),
		cmocka_unit_test(lone_signatures_stay_however_many),
		cmocka_unit_test(the_head_of_an_answer_is_read),
		cmocka_unit_test(what_is_no_message_is_refused),
		cmocka_unit_test(names_are_read_through_pointers_that_go_back),
		cmocka_unit_test(large_messages_cost_no_square),
		cmocka_unit_test(sets_are_told_apart_in_a_crowd),
		cmocka_unit_test(what_is_written_reads_the_same),
		cmocka_unit_test(the_rcode_s_low_bits_and_opcode_go_to_the_header),
		cmocka_unit_test(ttls_count_down_to_nothing_or_stay),
		cmocka_unit_test(dnssec_records_go_to_who_asked_for_them),
		cmocka_unit_test(what_does_not_fit_can_be_cut_between_sets),
		cmocka_unit_test(pointers_reach_no_further_than_14_bits),
		cmocka_unit_test(compression_gives_up_in_time),
		cmocka_unit_test(a_query_is_written_with_and_without_opt),
	};

	hash_start(true);
	return cmocka_run_group_tests(claims, NULL, NULL);
}
