/* Claims about messages that are written: sets into answers, and questions.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "util/tests/msg_text.h"

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
	const struct CMUnitTest tests[] = {
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
	return cmocka_run_group_tests(tests, NULL, NULL);
}
