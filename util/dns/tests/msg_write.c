/* Claims about messages that are written: sets into answers, and questions.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "util/dns/tests/msg_text.h"

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
		     { 2000, true, 60 },
		     { UINT32_MAX - 9, false, 1070 } }; /* counted round */
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

/* Each name one label longer than the last: written with pointers alone, the deepest would take a hundred. */
static size_t deep_name(uint8_t *to, unsigned labels)
{
	static const uint8_t apex[] = "\4deep\4bomb";
	size_t at = 0;

	while (labels--) {
		to[at++] = 1;
		to[at++] = 'a';
	}
	memcpy(to + at, apex, sizeof(apex));
	return at + sizeof(apex);
}

/* `count` records of the type, each of `names` deep names; no two alike. */
static const struct rrset *deep_set(struct arena *a, const uint8_t *owner, uint16_t type,
				    unsigned names, unsigned count)
{
	struct slice *rdata = arena_array(a, struct slice, count);

	for (unsigned i = 0; i < count; i++) {
		uint8_t *data = arena_take(a, 2 + 2 * DNAME_MAX);
		size_t at = 0;

		if (type == TYPE_MX) {
			put_u16(data, (uint16_t)i);
			at = 2;
		}
		at += deep_name(data + at, 1 + i % 100);
		if (names > 1)
			at += deep_name(data + at, 1 + i / 100);
		rdata[i] = (struct slice){ data, at };
	}
	return rrset_build(a, &(struct rrset_parts){ .owner = owner,
						     .type = type,
						     .class_ = CLASS_IN,
						     .ttl_s = 60,
						     .expires_s = 60,
						     .records = rdata,
						     .count = count });
}

static const struct rrset *deep_addresses(struct arena *a, unsigned labels, unsigned count)
{
	struct slice *rdata = arena_array(a, struct slice, count);
	uint8_t *owner = arena_take(a, DNAME_MAX);

	deep_name(owner, labels);
	for (unsigned i = 0; i < count; i++) {
		uint8_t *data = arena_take(a, 4);

		put_u32(data, 0xc0000200u + i);
		rdata[i] = (struct slice){ data, 4 };
	}
	return rrset_build(a, &(struct rrset_parts){ .owner = owner,
						     .type = TYPE_A,
						     .class_ = CLASS_IN,
						     .ttl_s = 60,
						     .expires_s = 60,
						     .records = rdata,
						     .count = count });
}

/* Whatever is written can be read: the writer makes no more pointers than a reader follows. */
static void what_compresses_best_can_still_be_read(void **state)
{
	(void)state;
	enum { MINFO = 14, PTR = 12 };
	static const struct {
		const char *why;
		uint16_t type;
		unsigned names, count, owners, addresses;
	} rows[] = {
		{ "names that hang on each other", TYPE_NS, 1, 100, 0, 0 },
		{ "and addresses of the deepest", TYPE_NS, 1, 100, 20, 50 },
		{ "and as many as fit", TYPE_NS, 1, 100, 18, 200 },
		{ "preferences before the names", TYPE_MX, 1, 100, 20, 50 },
		{ "two names in each", MINFO, 2, 60, 10, 50 },
		{ "pointers (the type)", PTR, 1, 100, 5, 700 },
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		static uint8_t bytes[MSG_MAX];
		const struct rrset *sets[128];
		struct message m = { .sets = sets, .count = { 1, 0, 0 } }, again;
		struct writer w = writer_over(bytes, sizeof(bytes));
		struct msg_style style = { 0 };
		uint8_t owner[DNAME_MAX];
		struct arena a;

		arena_init(&a);
		m.q = (struct question){ owner, (uint16_t)deep_name(owner, 0), rows[i].type, CLASS_IN };
		sets[0] = deep_set(&a, owner, rows[i].type, rows[i].names, rows[i].count);
		for (unsigned k = 0; k < rows[i].owners; k++)
			sets[1 + k] = deep_addresses(&a, 100 - k, rows[i].addresses);
		m.count[SECTION_ADDITIONAL] = (uint16_t)rows[i].owners;
		msg_write(&w, &m, &style);
		if (w.bad || !msg_parse(bytes, writer_len(&w), &a, 0, &again))
			fail_msg("%s: cannot be %s", rows[i].why, w.bad ? "written" : "read");
		assert_int_equal(message_set_count(&again), message_set_count(&m));
		for (unsigned k = 0; k < message_set_count(&m); k++) {
			assert_true(dname_equals(rrset_owner(sets[k]), rrset_owner(again.sets[k])));
			assert_true(rrset_same_records(sets[k], again.sets[k]));
		}
		arena_clear(&a);
	}
}

/* A name whose suffix is three pointers deep stands there whole, and the next one leads to it. */
static void a_chain_of_pointers_begins_anew_in_time(void **state)
{
	(void)state;
	static const uint8_t written[] = "\1z\0" "\1y\xc0\x0c" "\1x\xc0\x0f" "\1w\xc0\x13"
					 "\1v\1w\1x\1y\1z\0" "\1u\xc0\x1b" "\1t\xc0\x1d";
	uint8_t bytes[128];
	struct writer w = writer_over(bytes, sizeof(bytes));
	struct msgname_book book;

	write_bytes(&w, (const uint8_t[MSG_HEAD_LEN]){ 0 }, MSG_HEAD_LEN);
	msgname_begin(&book);
	msg_write_name(&w, &book, N("z."));
	msg_write_name(&w, &book, N("y.z."));
	msg_write_name(&w, &book, N("x.y.z."));
	msg_write_name(&w, &book, N("w.x.y.z."));
	msg_write_name(&w, &book, N("v.w.x.y.z."));
	msg_write_name(&w, &book, N("u.v.w.x.y.z."));
	msg_write_name(&w, &book, N("t.w.x.y.z."));
	assert_false(w.bad);
	assert_int_equal(writer_len(&w), MSG_HEAD_LEN + sizeof(written) - 1);
	assert_memory_equal(bytes + MSG_HEAD_LEN, written, sizeof(written) - 1);
}

/* Somebody may look for such labels: these two have one hash in the table that compression uses. */
static void labels_of_one_hash_are_told_apart(void **state)
{
	(void)state;
	static const uint8_t written[] = "\4vpca\0" "\10vpcaqt2a\0" "\1a\xc0\x0c" "\1a\xc0\x12";
	uint8_t bytes[128];
	struct writer w = writer_over(bytes, sizeof(bytes));
	struct msgname_book book;

	write_bytes(&w, (const uint8_t[MSG_HEAD_LEN]){ 0 }, MSG_HEAD_LEN);
	msgname_begin(&book);
	msg_write_name(&w, &book, N("vpca."));
	msg_write_name(&w, &book, N("vpcaqt2a."));
	msg_write_name(&w, &book, N("a.vpca."));
	msg_write_name(&w, &book, N("a.vpcaqt2a."));
	assert_false(w.bad);
	assert_int_equal(writer_len(&w), MSG_HEAD_LEN + sizeof(written) - 1);
	assert_memory_equal(bytes + MSG_HEAD_LEN, written, sizeof(written) - 1);
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
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_is_written_reads_the_same),
		cmocka_unit_test(the_rcode_s_low_bits_and_opcode_go_to_the_header),
		cmocka_unit_test(ttls_count_down_to_nothing_or_stay),
		cmocka_unit_test(dnssec_records_go_to_who_asked_for_them),
		cmocka_unit_test(what_does_not_fit_can_be_cut_between_sets),
		cmocka_unit_test(pointers_reach_no_further_than_14_bits),
		cmocka_unit_test(compression_gives_up_in_time),
		cmocka_unit_test(what_compresses_best_can_still_be_read),
		cmocka_unit_test(a_chain_of_pointers_begins_anew_in_time),
		cmocka_unit_test(labels_of_one_hash_are_told_apart),
		cmocka_unit_test(a_query_is_written_with_and_without_opt),
	};

	hash_start(true);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
