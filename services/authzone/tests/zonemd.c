/* Claims about the digest over a zone (RFC 8976): which records it covers, and which ZONEMD records count.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "services/authzone/zonemd.h"

#include "services/authzone/data.h"
#include "services/tests/made.h"

/* RFC 8976 A.1 */
static const char *const simple[] = {
	"example. 86400 SOA ns1.example. admin.example. 2018031900 1800 900 604800 86400",
	"example. 86400 NS ns1.example.",
	"example. 86400 NS ns2.example.",
	"ns1.example. 3600 A 203.0.113.63",
	"ns2.example. 3600 AAAA 2001:db8::63",
	NULL,
};
static const char simple_sha384[] =
	"c68090d90a7aed716bc459f9340e3d7c1370d4d24b7e2fc3a1ddc0b9a87153b9a9713b3c9ae5cc27777f98b8e730044c";

/* Signatures, digests below the apex, upper case, more than sixteen records of a name, records of which one begins
 * as another ends, a preference that is the number of a type; in any order. */
static const char *const full[] = {
	"Example. 600 SOA NS.example. A.example. 7 1 2 3 4",
	"example. 600 RRSIG SOA 8 1 600 20300101000000 20200101000000 9 example. AQID",
	"example. 600 RRSIG ZONEMD 8 1 600 20300101000000 20200101000000 9 example. AQID",
	"example. 600 NS NS.Example.",
	"sub.example. 600 ZONEMD 7 1 240 000102030405060708090a0b",
	"sub.example. 600 RRSIG ZONEMD 8 2 600 20300101000000 20200101000000 9 example. AQID",
	"t.EXAMPLE. 5 TXT \"a\" \"b\"",
	"t.example. 5 TXT \"a\"",
	"t.example. 5 TXT \"a\" \"b\" \"c\"",
	"example. 5 MX 63 NS.example.",
	"t.example. 5 MX 1 NS.example.",
	"ns.example. 60 A 192.0.2.20",
	"ns.example. 60 A 192.0.2.19",
	"ns.example. 60 A 192.0.2.18",
	"ns.example. 60 A 192.0.2.17",
	"ns.example. 60 A 192.0.2.16",
	"ns.example. 60 A 192.0.2.15",
	"ns.example. 60 A 192.0.2.14",
	"ns.example. 60 A 192.0.2.13",
	"ns.example. 60 A 192.0.2.12",
	"ns.example. 60 A 192.0.2.11",
	"ns.example. 60 A 192.0.2.10",
	"ns.example. 60 A 192.0.2.9",
	"ns.example. 60 A 192.0.2.8",
	"ns.example. 60 A 192.0.2.7",
	"ns.example. 60 A 192.0.2.6",
	"ns.example. 60 A 192.0.2.5",
	"ns.example. 60 A 192.0.2.4",
	"ns.example. 60 A 192.0.2.3",
	"ns.example. 60 A 192.0.2.2",
	"ns.example. 60 A 192.0.2.1",
	"ns.example. 60 RRSIG A 8 2 60 20300101000000 20200101000000 9 example. AQID",
	NULL,
};
static const char full_sha384[] =
	"6706f6583a7c0cfb781f0ba2e23e0634e69badfaaa636e416015b47cfb4886c4734e41cefa960b63ce5b840504d6f2d7";
static const char full_sha512[] =
	"709aba590c2f55806a820a9e5518669d0c69ce63d73b44695ed599e2d7db5b0939353b432f778f07c6e5e17f5d100bdb"
		"e183e5ee28599dcba8171bf9c0537b50";

static struct zonedata *make(const char *const *lines, const char *more)
{
	struct zonebuild *b = zonebuild_new(N("example."));
	struct fault f = { 0 };
	struct zonedata *z;
	struct arena a;
	char text[1000], *save = NULL;

	arena_init(&a);
	for (; *lines; lines++) {
		struct text_rr rr;

		if (!text_rr_parse(&a, *lines, NULL, &rr, &f))
			fail_msg("'%s': %s", *lines, f.text);
		zonebuild_add(b, &rr);
	}
	snprintf(text, sizeof(text), "%s", more);
	for (char *line = strtok_r(text, "\n", &save); line; line = strtok_r(NULL, "\n", &save)) {
		struct text_rr rr;

		if (!text_rr_parse(&a, line, NULL, &rr, &f))
			fail_msg("'%s': %s", line, f.text);
		zonebuild_add(b, &rr);
	}
	z = zonebuild_finish(b, &f);
	if (!z)
		fail_msg("%s", f.text);
	arena_clear(&a);
	return z;
}

static void a_digest_is_over_the_canonical_form_of_all_records_but_itself(void **state)
{
	(void)state;
	static const char own[] = "example. 60 ZONEMD 7 1 240 000102030405060708090a0b\n";
	static const struct {
		const char *const *lines;
		const char *more;
		uint8_t algorithm;
		const char *want;
	} rows[] = {
		{ simple, "", ZONEMD_SHA384, simple_sha384 }, { simple, own, ZONEMD_SHA384, simple_sha384 },
		{ full, "", ZONEMD_SHA384, full_sha384 },     { full, own, ZONEMD_SHA384, full_sha384 },
		{ full, "", ZONEMD_SHA512, full_sha512 },     { full, "", 0, "" },
		{ full, "", 3, "" },
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		struct zonedata *z = make(rows[i].lines, rows[i].more);
		uint8_t digest[ZONEMD_MOST];
		char hex[2 * ZONEMD_MOST + 1] = "";
		size_t len = zonemd_digest(z, rows[i].algorithm, digest);

		for (size_t at = 0; at < len; at++)
			snprintf(hex + 2 * at, 3, "%02x", digest[at]);
		assert_string_equal(hex, rows[i].want);
		zonedata_free(z);
	}
}

/* Digests in the rows: "r" the right one of SHA-384, "R" of SHA-512, "w" and "W" with another last byte, "t" and "l" the
 * right one but shorter and longer; a number: so many bytes of the right one. */
static void digest_text(const char *what, char *to, size_t room)
{
	int bytes = atoi(what);

	snprintf(to, room, "%s", *what == 'R' || *what == 'W' ? full_sha512 : full_sha384);
	if (*what == 'w' || *what == 'W')
		memcpy(to + strlen(to) - 2, strcmp(to + strlen(to) - 2, "00") == 0 ? "01" : "00", 2);
	if (*what == 't')
		to[strlen(to) - 2] = '\0';
	if (*what == 'l')
		strcat(to, "00");
	if (bytes)
		to[2 * bytes] = '\0';
}

static void one_right_record_is_enough_and_what_is_not_understood_is_none(void **state)
{
	(void)state;
	static const char digest[] = "its digest (ZONEMD) does not match its records";
	static const char serial[] = "its ZONEMD record is of another serial number";
	static const char repeated[] = "more than one ZONEMD record has the same scheme and algorithm";
	static const struct {
		const char *why;
		struct {
			unsigned serial, scheme, algorithm;
			const char *digest;
		} records[3];
		enum zonemd_end end;
		const char *text;
	} rows[] = {
		{ "none", { { 0 } }, ZONEMD_ABSENT, "" },
		{ "right", { { 7, 1, 1, "r" } }, ZONEMD_RIGHT, "" },
		{ "right, SHA-512", { { 7, 1, 2, "R" } }, ZONEMD_RIGHT, "" },
		{ "wrong", { { 7, 1, 1, "w" } }, ZONEMD_WRONG, digest },
		{ "wrong, SHA-512", { { 7, 1, 2, "W" } }, ZONEMD_WRONG, digest },
		{ "of the other algorithm", { { 7, 1, 2, "r" } }, ZONEMD_WRONG, digest },
		{ "cut off", { { 7, 1, 1, "t" } }, ZONEMD_WRONG, digest },
		{ "and a byte more", { { 7, 1, 1, "l" } }, ZONEMD_WRONG, digest },
		{ "as short as may be", { { 7, 1, 1, "12" } }, ZONEMD_WRONG, digest },
		{ "shorter", { { 7, 1, 1, "11" } }, ZONEMD_UNKNOWN, "" },
		{ "of another version", { { 8, 1, 1, "r" } }, ZONEMD_WRONG, serial },
		{ "another scheme", { { 7, 2, 1, "r" } }, ZONEMD_UNKNOWN, "" },
		{ "another algorithm", { { 7, 1, 3, "r" } }, ZONEMD_UNKNOWN, "" },
		{ "algorithm 0", { { 7, 1, 0, "r" } }, ZONEMD_UNKNOWN, "" },
		{ "both right", { { 7, 1, 1, "r" }, { 7, 1, 2, "R" } }, ZONEMD_RIGHT, "" },
		{ "the first is wrong", { { 7, 1, 1, "w" }, { 7, 1, 2, "R" } }, ZONEMD_RIGHT, "" },
		{ "the second is wrong", { { 7, 1, 1, "r" }, { 7, 1, 2, "W" } }, ZONEMD_RIGHT, "" },
		{ "both are wrong", { { 7, 1, 1, "w" }, { 7, 1, 2, "W" } }, ZONEMD_WRONG, digest },
		{ "one is of another version", { { 6, 1, 1, "r" }, { 7, 1, 2, "R" } }, ZONEMD_RIGHT, "" },
		{ "one is of another version, one is wrong", { { 6, 1, 1, "r" }, { 7, 1, 2, "W" } }, ZONEMD_WRONG, serial },
		{ "one is not understood", { { 7, 1, 240, "w" }, { 7, 1, 1, "r" } }, ZONEMD_RIGHT, "" },
		{ "one is not understood, one is wrong", { { 7, 1, 240, "w" }, { 7, 1, 1, "w" } }, ZONEMD_WRONG, digest },
		{ "two of one kind", { { 7, 1, 1, "r" }, { 7, 1, 1, "w" } }, ZONEMD_WRONG, repeated },
		{ "two of one kind, of two versions", { { 7, 1, 1, "r" }, { 6, 1, 1, "r" } }, ZONEMD_WRONG, repeated },
		{ "two of one kind, not understood", { { 7, 1, 240, "r" }, { 7, 1, 240, "w" } }, ZONEMD_UNKNOWN, "" },
		{ "two of one kind, and one of another",
		  { { 7, 1, 1, "r" }, { 7, 1, 1, "w" }, { 7, 1, 2, "R" } },
		  ZONEMD_RIGHT,
		  "" },
		{ "one of each scheme", { { 7, 1, 1, "r" }, { 7, 2, 1, "r" } }, ZONEMD_RIGHT, "" },
		{ "two, but one is too short to count", { { 7, 1, 1, "r" }, { 7, 1, 1, "11" } }, ZONEMD_RIGHT, "" },
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		char text[1000] = "", hex[2 * ZONEMD_MOST + 3];
		struct fault f = { 0 };
		struct zonedata *z;
		enum zonemd_end end;

		for (size_t r = 0; r < 3 && rows[i].records[r].digest; r++) {
			digest_text(rows[i].records[r].digest, hex, sizeof(hex));
			snprintf(text + strlen(text), sizeof(text) - strlen(text), "example. 60 ZONEMD %u %u %u %s\n",
				 rows[i].records[r].serial, rows[i].records[r].scheme, rows[i].records[r].algorithm, hex);
		}
		z = make(full, text);
		end = zonemd_check(z, &f);
		if (end != rows[i].end || strcmp(f.set ? f.text : "", rows[i].text) != 0)
			fail_msg("%s: %d, %s", rows[i].why, end, f.set ? f.text : "");
		zonedata_free(z);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_digest_is_over_the_canonical_form_of_all_records_but_itself),
		cmocka_unit_test(one_right_record_is_enough_and_what_is_not_understood_is_none),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
