/* Claims about record types and the shape of their data.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "util/dns/rr.h"

#include "util/tests/wire.h"

static void every_type_is_read_back_from_its_name(void **state)
{
	(void)state;
	char buf[16], lower[16];

	for (unsigned type = 0; type <= UINT16_MAX; type++) {
		uint16_t got;
		const char *name = rr_type_name((uint16_t)type, buf);
		assert_true(rr_type_parse(name, &got));
		assert_int_equal(got, type);
		for (size_t i = 0; i <= strlen(name); i++)
			lower[i] = (char)ascii_lower[(uint8_t)name[i]];
		assert_true(rr_type_parse(lower, &got));
		assert_int_equal(got, type);
	}
}

static void types_and_classes_have_the_registry_s_names(void **state)
{
	(void)state;
	static const struct {
		const char *text;
		bool good;
		uint16_t want;
	} types[] = {
		{ "A", true, 1 },           { "aaaa", true, 28 },
		{ "NSAP-PTR", true, 23 },   { "NSAP_PTR", false, 0 },
		{ "TYPE1", true, 1 },       { "type65280", true, 65280 },
		{ "TYPE65536", false, 0 },  { "TYPE", false, 0 },
		{ "TYPE-1", false, 0 },     { "AA", false, 0 },
		{ "", false, 0 },           { "NULL", true, 10 },
		{ "ANY", true, 255 },       { "DLV", true, 32769 },
		{ "HTTPS", true, 65 },      { "TYPE99999999999", false, 0 },
	}, classes[] = {
		{ "in", true, 1 },          { "CHAOS", true, 3 },
		{ "CLASS7", true, 7 },      { "CLASS65536", false, 0 },
		{ "XX", false, 0 },         { "HS", true, 4 },
	};
	char buf[16];
	uint16_t got;

	for (size_t i = 0; i < COUNT(types); i++) {
		if (rr_type_parse(types[i].text, &got) != types[i].good ||
		    (types[i].good && got != types[i].want))
			fail_msg("type %s", types[i].text);
	}
	for (size_t i = 0; i < COUNT(classes); i++) {
		if (rr_class_parse(classes[i].text, &got) != classes[i].good ||
		    (classes[i].good && got != classes[i].want))
			fail_msg("class %s", classes[i].text);
	}
	assert_string_equal(rr_type_name(TYPE_NSAP_PTR, buf), "NSAP-PTR");
	assert_string_equal(rr_type_name(65280, buf), "TYPE65280");
	assert_string_equal(rr_class_name(3, buf), "CH");
	assert_string_equal(rr_class_name(7, buf), "CLASS7");
}

static void some_types_are_more_than_data(void **state)
{
	(void)state;
	assert_int_equal(rr_flags(TYPE_CNAME) & RR_SINGLE, RR_SINGLE);
	assert_int_equal(rr_flags(TYPE_A) & (RR_SINGLE | RR_META | RR_DNSSEC), 0);
	assert_int_equal(rr_flags(TYPE_NSEC3) & RR_DNSSEC, RR_DNSSEC);
	assert_int_equal(rr_flags(TYPE_DNSKEY) & RR_DNSSEC, 0);
	assert_int_equal(rr_flags(TYPE_AXFR) & RR_META, RR_META);
	assert_int_equal(rr_flags(65280), 0);
	assert_string_equal(rr_shape(65280), "*");
}

static void data_is_whole_when_it_has_its_shape(void **state)
{
	(void)state;
	static const struct {
		const char *why;
		uint16_t type;
		struct slice data;
		bool want;
	} rows[] = {
		{ "A", TYPE_A, { BYTES("\1\2\3\4") }, true },
		{ "A too short", TYPE_A, { BYTES("\1\2\3") }, false },
		{ "A too long", TYPE_A, { BYTES("\1\2\3\4\5") }, false },
		{ "AAAA of four bytes", TYPE_AAAA, { BYTES("\1\2\3\4") }, false },
		{ "NS", TYPE_NS, { BYTES("\1a\0") }, true },
		{ "NS without end", TYPE_NS, { BYTES("\1a") }, false },
		{ "NS and more", TYPE_NS, { BYTES("\1a\0x") }, false },
		{ "NS with a pointer", TYPE_NS, { BYTES("\300\14") }, false },
		{ "MX", TYPE_MX, { BYTES("\0\1\1a\0") }, true },
		{ "MX without a host", TYPE_MX, { BYTES("\0\1") }, false },
		{ "TXT", TYPE_TXT, { BYTES("\1a\0\2bc") }, true },
		{ "TXT of nothing", TYPE_TXT, { BYTES("") }, false },
		{ "TXT cut", TYPE_TXT, { BYTES("\1a\2b") }, false },
		{ "HINFO", TYPE_HINFO, { BYTES("\1a\0") }, true },
		{ "HINFO with one string", TYPE_HINFO, { BYTES("\1a") }, false },
		{ "DS without digest", TYPE_DS, { BYTES("\0\1\10\2") }, true },
		{ "DS cut", TYPE_DS, { BYTES("\0\1\10") }, false },
		{ "NSEC3 salt cut", TYPE_NSEC3, { BYTES("\1\0\0\1\4\1\2") }, false },
		{ "NSEC3", TYPE_NSEC3, { BYTES("\1\0\0\1\1\1\2ab\0\1\2") }, true },
		{ "unknown and empty", 65280, { BYTES("") }, true },
		{ "SOA",
		  TYPE_SOA,
		  { BYTES("\0\0"
			  "aaaabbbbccccddddeeee") },
		  true },
		{ "SOA cut",
		  TYPE_SOA,
		  { BYTES("\0\0"
			  "aaaabbbbccccddddeee") },
		  false },
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		if (rr_rdata_is_whole(rows[i].type, rows[i].data.at, rows[i].data.len) !=
		    rows[i].want)
			fail_msg("%s", rows[i].why);
	}
}

/* A message whose name "cZ." stands at offset 12 and "Www" + pointer to it at 16. */
#define HEAD "............\2cZ\0\3Www\300\14"

static void data_is_read_and_its_names_decompressed(void **state)
{
	(void)state;
	static const struct {
		const char *why;
		uint16_t type;
		struct slice data, want; /* data stands behind HEAD */
		bool good;
	} rows[] = {
		{ "NS", TYPE_NS, { BYTES("\300\14") }, { BYTES("\2cZ\0") }, true },
		{ "pointer at a pointer",
		  TYPE_NS,
		  { BYTES("\300\20") },
		  { BYTES("\3Www\2cZ\0") },
		  true },
		{ "MX",
		  TYPE_MX,
		  { BYTES("\0\1\1m\300\20") },
		  { BYTES("\0\1\1m\3Www\2cZ\0") },
		  true },
		{ "SOA",
		  TYPE_SOA,
		  { BYTES("\300\14\300\20"
			  "aaaabbbbccccddddeeee") },
		  { BYTES("\2cZ\0\3Www\2cZ\0"
			  "aaaabbbbccccddddeeee") },
		  true },
		{ "SRV", TYPE_SRV, { BYTES("aabbcc\300\14") }, { BYTES("aabbcc\2cZ\0") }, true },
		{ "NSEC may not", TYPE_NSEC, { BYTES("\300\14") }, { BYTES("") }, false },
		{ "SVCB may not", TYPE_SVCB, { BYTES("\0\1\300\14") }, { BYTES("") }, false },
		{ "unknown data is kept", 65280, { BYTES("\300\14") }, { BYTES("\300\14") }, true },
		{ "bytes left over", TYPE_NS, { BYTES("\300\14x") }, { BYTES("") }, false },
		{ "pointer at itself", TYPE_NS, { BYTES("\300\26") }, { BYTES("") }, false },
		{ "pointer forwards", TYPE_NS, { BYTES("\300\30") }, { BYTES("") }, false },
		{ "pointer into its own labels",
		  TYPE_NS,
		  { BYTES("\1a\300\26") },
		  { BYTES("") },
		  false },
		{ "half a pointer", TYPE_NS, { BYTES("\300") }, { BYTES("") }, false },
		{ "label of a kind unknown", TYPE_NS, { BYTES("\101a\0") }, { BYTES("") }, false },
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		uint8_t message[256], out[512];
		size_t len = sizeof(HEAD) - 1;
		memcpy(message, HEAD, len);
		memcpy(message + len, rows[i].data.at, rows[i].data.len);
		struct reader r = reader_over(message, len + rows[i].data.len);
		struct writer w = writer_over(out, sizeof(out));
		r.at += len;
		bool good = rr_read_rdata(&r, rows[i].type, (uint16_t)rows[i].data.len, &w);
		if (good != rows[i].good)
			fail_msg("%s: %s", rows[i].why, good ? "taken" : "refused");
		if (good && (writer_len(&w) != rows[i].want.len ||
			     memcmp(out, rows[i].want.at, rows[i].want.len) != 0))
			fail_msg("%s: read wrong", rows[i].why);
	}
}

static void data_that_outgrows_16_bits_is_refused(void **state)
{
	(void)state;
	static uint8_t message[65600], out[70000];
	uint8_t *name = N("a.b.c.d.e.f.g.h.i.j.k.l.m.n.o.p.q.r.s.t.u.v.w.x.y.z.");
	size_t at = dname_len(name), rdlen = 65520;

	/* An RRSIG whose signer is a pointer at a long name: fewer bytes than it means. */
	memcpy(message, name, at);
	message[at + 18] = 0xc0;
	struct reader r = reader_over(message, sizeof(message));
	struct writer w = writer_over(out, sizeof(out));
	r.at += at;
	assert_false(rr_read_rdata(&r, TYPE_RRSIG, (uint16_t)rdlen, &w));
	r = reader_over(message, sizeof(message));
	w = writer_over(out, sizeof(out));
	r.at += at;
	assert_true(rr_read_rdata(&r, TYPE_RRSIG, (uint16_t)(rdlen - 100), &w));
}

static void canonical_form_lowers_the_names_rfc_4034_lists(void **state)
{
	(void)state;
	static const struct {
		const char *why;
		uint16_t type;
		struct slice data, want;
	} rows[] = {
		{ "NS", TYPE_NS, { BYTES("\2AB\0") }, { BYTES("\2ab\0") } },
		{ "SOA",
		  TYPE_SOA,
		  { BYTES("\1A\0\1B\0AAAABBBBCCCCDDDDEEEE") },
		  { BYTES("\1a\0\1b\0AAAABBBBCCCCDDDDEEEE") } },
		{ "SRV", TYPE_SRV, { BYTES("AABBCC\1D\0") }, { BYTES("AABBCC\1d\0") } },
		{ "NAPTR",
		  TYPE_NAPTR,
		  { BYTES("AABB\1S\1U\1R\1N\0") },
		  { BYTES("AABB\1S\1U\1R\1n\0") } },
		{ "RRSIG: RFC 6840 5.1",
		  TYPE_RRSIG,
		  { BYTES("AABCDDDDEEEEFFFFGG\1H\0SIG") },
		  { BYTES("AABCDDDDEEEEFFFFGG\1h\0SIG") } },
		{ "not NSEC: RFC 6840 5.1",
		  TYPE_NSEC,
		  { BYTES("\1A\0\0\1A") },
		  { BYTES("\1A\0\0\1A") } },
		{ "not HTTPS", TYPE_HTTPS, { BYTES("\0\1\1A\0") }, { BYTES("\0\1\1A\0") } },
		{ "not TXT", TYPE_TXT, { BYTES("\1A") }, { BYTES("\1A") } },
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		uint8_t data[64];
		memcpy(data, rows[i].data.at, rows[i].data.len);
		rr_canonical_rdata(rows[i].type, data, rows[i].data.len);
		if (memcmp(data, rows[i].want.at, rows[i].want.len) != 0)
			fail_msg("%s", rows[i].why);
	}
}

static void the_first_name_in_data_is_found(void **state)
{
	(void)state;
	static const struct {
		uint16_t type;
		struct slice data;
		const char *want; /* NULL: there is none */
	} rows[] = {
		{ TYPE_CNAME, { BYTES("\1a\0") }, "a." },
		{ TYPE_MX, { BYTES("\0\1\1b\0") }, "b." },
		{ TYPE_SRV, { BYTES("aabbcc\1d\0") }, "d." },
		{ TYPE_RRSIG, { BYTES("AABCDDDDEEEEFFFFGG\1h\0SIG") }, "h." },
		{ TYPE_NSEC, { BYTES("\1n\0\0\1@") }, "n." },
		{ TYPE_A, { BYTES("\1\2\3\4") }, NULL },
		{ TYPE_MX, { BYTES("\0\1\1") }, NULL },
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		const uint8_t *name =
			rr_rdata_name(rows[i].type, rows[i].data.at, rows[i].data.len);
		assert_int_equal(name != NULL, rows[i].want != NULL);
		if (name)
			assert_name_is(name, rows[i].want);
	}
}

int main(void)
{
	const struct CMUnitTest claims[] = {
		cmocka_unit_test(every_type_is_read_back_from_its_name),
		cmocka_unit_test(types_and_classes_have_the_registry_s_names),
		cmocka_unit_test(some_types_are_more_than_data),
		cmocka_unit_test(data_is_whole_when_it_has_its_shape),
		cmocka_unit_test(data_is_read_and_its_names_decompressed),
		cmocka_unit_test(data_that_outgrows_16_bits_is_refused),
		cmocka_unit_test(canonical_form_lowers_the_names_rfc_4034_lists),
		cmocka_unit_test(the_first_name_in_data_is_found),
	};

	return cmocka_run_group_tests(claims, NULL, NULL);
}
