/* Claims about presentation format.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "util/dns/text.h"

#include <netdb.h>
#include <unistd.h>

#include "util/base/arena.h"
#include "util/base/fault.h"
#include "util/base/hash.h"
#include "util/base/mem.h"
#include "util/dns/msg.h"
#include "util/dns/rr.h"
#include "util/tests/wire.h"

/* Text, read and printed again. NULL: it comes back as it was. */
static void records_come_back_as_they_were_written(void **state)
{
	(void)state;
	static const struct {
		const char *text, *want;
	} rows[] = {
		{ "a.\t1\tIN\tA\t192.0.2.1", NULL },
		{ "a.\t1\tIN\tAAAA\t2001:db8::1", NULL },
		{ "a 1h30m aaaa 2001:DB8:0::1", "a.\t5400\tIN\tAAAA\t2001:db8::1" },
		{ "a. IN 7 A 1.2.3.4", "a.\t7\tIN\tA\t1.2.3.4" },
		{ "a. CH 7 TXT x", "a.\t7\tCH\tTXT\t\"x\"" },
		{ "a. 7 CLASS300 TXT x", "a.\t7\tCLASS300\tTXT\t\"x\"" },
		{ "a. A 1.2.3.4", "a.\t3600\tIN\tA\t1.2.3.4" },
		{ "A. 1 IN CNAME B.c.", "A.\t1\tIN\tCNAME\tB.c." },
		{ "a.\t1\tIN\tMX\t10 m.b.", NULL },
		{ "a.\t1\tIN\tSOA\tns.a. host.a. 4294967295 7200 3600 1209600 300", NULL },
		{ "a. 1 SOA ns.a. host.a. ( 1 ; serial\n 2h\n 1h 2w\n5m )",
		  "a.\t1\tIN\tSOA\tns.a. host.a. 1 7200 3600 1209600 300" },
		{ "a. 1 TXT a \"b c\" \"\" \"d;(\\\"\" e\\032\\200",
		  "a.\t1\tIN\tTXT\t\"a\" \"b c\" \"\" \"d;(\\\"\" \"e \\200\"" },
		{ "a. 1 TXT x ; a comment (", "a.\t1\tIN\tTXT\t\"x\"" },
		{ "a.\t1\tIN\tHINFO\t\"PC\" \"Linux\"", NULL },
		{ "a.\t1\tIN\tSRV\t1 2 3 s.b.", NULL },
		{ "a.\t1\tIN\tNAPTR\t1 2 \"S\" \"\" \"!^.*$!x!\" s.b.", NULL },
		{ "a.\t1\tIN\tNSAP-PTR\tb.", NULL },
		{ "a.\t1\tIN\tRESINFO\t\"qnamemin\" \"exterr=15\"", NULL },
		{ "a\\.b\\@.c.\t1\tIN\tNS\t\\000\\..d.", NULL },
		{ "a. 1 DS 12345 ECDSAP256SHA256 2 ( 3F2e\n 0a )",
		  "a.\t1\tIN\tDS\t12345 13 2 3F2E0A" },
		{ "a. 1 DNSKEY 257 3 RSASHA256 AwEA Aag=", "a.\t1\tIN\tDNSKEY\t257 3 8 AwEAAag=" },
		{ "a. 1 RRSIG TYPE1 8 2 3600 4294967295 0 1 foo. AAAAAAA=",
		  "a.\t1\tIN\tRRSIG\tA 8 2 3600 21060207062815 19700101000000 1 foo. AAAAAAA=" },
		{ "a. 1 RRSIG A 8 2 1h 20240229235959 20000301000000 1 . AA==",
		  "a.\t1\tIN\tRRSIG\tA 8 2 3600 20240229235959 20000301000000 1 . AA==" },
		{ "a.\t1\tIN\tRRSIG\tA 8 2 3600 21000228000000 21000301000000 1 . AA==", NULL },
		{ "a. 1 NSEC b. TYPE65535 NS A TYPE256", "a.\t1\tIN\tNSEC\tb. A NS URI TYPE65535" },
		{ "a.\t1\tIN\tNSEC\tb.", NULL },
		{ "a. 1 CERT PKIX 1 RSASHA1 AAAA", "a.\t1\tIN\tCERT\t1 1 5 AAAA" },
		{ "a.\t1\tIN\tNSEC3\t1 0 10 AABBCC 2vptu5timamqttgl4luu9kg21e0aor3s", NULL },
		{ "a.\t1\tIN\tCSYNC\t66 3 A NS AAAA", NULL },
		{ "a.\t1\tIN\tOPENPGPKEY\tAAAA", NULL },
		{ "a.\t1\tIN\tZONEMD\t1 1 1 FEBE3D4C", NULL },
		{ "a. 1 IPSECKEY 10 0 2 . AQID",
		  "a.\t1\tIN\tIPSECKEY\t10 0 2 . AQID" },
		{ "a.\t1\tIN\tIPSECKEY\t10 1 2 192.0.2.38 AQNRU3mG", NULL },
		{ "a.\t1\tIN\tIPSECKEY\t10 2 2 2001:db8::8002:0:2000:1 AQNRU3mG", NULL },
		{ "a.\t1\tIN\tIPSECKEY\t10 3 2 gateway.b. AQID", NULL },
		{ "a. 1 IPSECKEY 10 1 2 . AQID", "refused" },
		{ "a. 1 IPSECKEY 10 4 2 . AQID", "refused" },
		{ "a. 1 IPSECKEY 10 0", "refused" },
		{ "a. 1 AMTRELAY 10 2 1 192.0.2.1", "refused" },
		{ "a. 1 AMTRELAY 10 0 1 .", "refused" },
		{ "a. 1 AMTRELAY 10 0 4 .", "refused" },
		{ "a. 1 AMTRELAY 10 0 0", "refused" },
		{ "a. 1 AMTRELAY 10 0 0 . .", "refused" },
		/* what ldns knows */
		{ "a.\t1\tIN\tLOC\t52 22 23.000 N 04 53 32.000 E -2m 0.00m 10000m 10m", NULL },
		{ "a.\t1\tIN\tHIP\t2 200100107b1a74df365639cc39f1d578 AwEAAbdx rvs.b.", NULL },
		{ "a.\t1\tIN\tWKS\t192.0.2.1 tcp smtp domain", NULL },
		{ "a.\t1\tIN\tAPL\t1:192.0.2.0/24 !1:10.0.0.0/8", NULL },
		/* shapes again */
		{ "a.\t1\tIN\tDS\t12345 13 2 3F2E0A", NULL },
		{ "a.\t1\tIN\tDNSKEY\t257 3 8 AwEAAag=", NULL },
		{ "a.\t1\tIN\tRRSIG\tA 8 2 3600 20300101000000 20200101000000 12345 foo. AAAA",
		  NULL },
		{ "a.\t1\tIN\tNSEC\tb. A NS RRSIG TYPE65280", NULL },
		{ "a.\t1\tIN\tNSEC3\t1 0 10 - 2vptu5timamqttgl4luu9kg21e0aor3s A RRSIG", NULL },
		{ "a.\t1\tIN\tNSEC3PARAM\t1 0 10 AABB", NULL },
		{ "a.\t1\tIN\tTLSA\t3 1 1 ABCD", NULL },
		{ "a.\t1\tIN\tCAA\t0 issue \"ca.example\"", NULL },
		{ "a.\t1\tIN\tSVCB\t1 b. alpn=\"h2,h3\" port=53", NULL },
		{ "a.\t1\tIN\tHTTPS\t0 b.", NULL },
		{ "a. 1 HTTPS 1 . alpn=h2 key667=hi ech=AAAA ipv4hint=192.0.2.1",
		  "a.\t1\tIN\tHTTPS\t1 . alpn=\"h2\" ipv4hint=192.0.2.1 ech=\"AAAA\" key667=\"hi\"" },
		{ "a.\t1\tIN\tSSHFP\t2 1 123456789ABCDEF67890123456789ABCDEF67890", NULL },
		{ "a.\t1\tIN\tURI\t1 1 \"http://x\"", NULL },
		{ "a.\t1\tIN\tEUI48\t00-00-5e-00-53-2a", NULL },
		{ "a.\t1\tIN\tL32\t10 10.1.2.0", NULL },
		{ "a.\t1\tIN\tCDS\t0 0 0 00", NULL },
		/* what nobody knows: RFC 3597 */
		{ "a.\t1\tIN\tTYPE65280\t\\# 3 ABCDEF", NULL },
		{ "a. 1 TYPE65280 \\# 3 ab CD ( ef )", "a.\t1\tIN\tTYPE65280\t\\# 3 ABCDEF" },
		{ "a.\t1\tIN\tTYPE65280\t\\# 0", NULL },
		{ "a. 1 A \\# 4 01020304", "a.\t1\tIN\tA\t1.2.3.4" },
		{ "a. 1 TYPE1 1.2.3.4", "a.\t1\tIN\tA\t1.2.3.4" },
		{ "a.\t1\tIN\tDSYNC\t\\# 9 003C01003505726F6F00", "refused" },
		{ "a. 1 DSYNC \\# 11 003c01003504726f6f7400",
		  "a.\t1\tIN\tDSYNC\tCDNSKEY 1 53 root." },
		{ "a. 1 DSYNC CDS NOTIFY 5359 b.", "a.\t1\tIN\tDSYNC\tCDS 1 5359 b." },
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		const char *want = rows[i].want ? rows[i].want : rows[i].text;
		struct fault f = { 0 };
		struct text_rr rr;
		char text[1024];
		struct arena a;
		/* Names of services are the system's, and a bare one has none. */
		if (strstr(rows[i].text, "smtp") && !getservbyname("smtp", "tcp"))
			continue;
		arena_init(&a);
		if (!text_rr_parse(&a, rows[i].text, NULL, &rr, &f)) {
			if (strcmp(want, "refused") != 0)
				fail_msg("%s: %s", rows[i].text, f.text);
		} else {
			size_t len = text_rr_print(text, sizeof(text), rr.owner, rr.ttl_s,
						   rr.class_, rr.type, rr.rdata);
			if (strcmp(text, want) != 0)
				fail_msg("%s\n%s", text, want);
			assert_int_equal(len, strlen(want));
		}
		arena_clear(&a);
	}
}

static void what_is_no_record_is_refused_with_a_sentence(void **state)
{
	(void)state;
	static const struct {
		const char *text, *says;
	} rows[] = {
		{ "", "it is empty" },
		{ "a.", "no type" },
		{ "a. 1 IN", "no type" },
		{ "a. 1 IN XYZ 1", "type is unknown" },
		{ "a. 1 2 A 1.2.3.4", "type is unknown" },
		{ "a. 3000000000 A 1.2.3.4", "TTL" },
		{ "a..b. A 1.2.3.4", "empty label" },
		{ "a. A", "missing" },
		{ "a. A 1.2.3", "IPv4" },
		{ "a. A 1.2.3.4 5", "more text" },
		{ "a. AAAA 1.2.3.4", "IPv6" },
		{ "a. MX ten m.", "number" },
		{ "a. MX 65536 m.", "number" },
		{ "a. MX 10", "missing" },
		{ "a. TXT", "missing" },
		{ "a. TXT \"x", "partner" },
		{ "a. TXT \"x\"y", "closing quote" },
		{ "a. TXT x ( y", "partner" },
		{ "a. TXT x ) y", "partner" },
		{ "a. TXT x\\256", "backslash" },
		{ "a. TYPE65280 \\# 2 ab", "as long" },
		{ "a. TYPE65280 \\# 1 a", "pairs" },
		{ "a. TYPE65280 \\# 1 zz", "pairs" },
		{ "a. TYPE65280 \\#", "length" },
		{ "a. TYPE65280 x", "" },
		{ "a. A \\# 3 010203", "form of its type" },
		{ "a. DS 1 2", "missing" },
		{ "a. DS 1 2 3", "missing" },
		{ "a. DS 1 2 256 ab", "number" },
		{ "a. DS 1 NONESUCH 2 ab", "number" },
		{ "a. DNSKEY 1 2 3 A", "base64" },
		{ "a. DNSKEY 1 2 3 AAA", "base64" },
		{ "a. DNSKEY 1 2 3 AA=A", "base64" },
		{ "a. DNSKEY 1 2 3 AB==", "base64" },
		{ "a. NSEC b. NONESUCH", "type is unknown" },
		{ "a. RRSIG A 8 2 1 20231301000000 0 1 . AA==", "time" },
		{ "a. RRSIG A 8 2 1 21060207062816 0 1 . AA==", "time" },
		{ "a. NSEC3 1 0 1 - 2vptu5timamqttgl4luu9kg21e0aor3 A", "base32" },
		{ "a. NSEC3PARAM 1 0 1 zz", "pairs" },
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		struct fault f = { 0 };
		struct text_rr rr;
		struct arena a;
		arena_init(&a);
		if (text_rr_parse(&a, rows[i].text, NULL, &rr, &f) || !f.set)
			fail_msg("'%s' is taken", rows[i].text);
		if (strstr(f.text, rows[i].says) == NULL)
			fail_msg("'%s': %s", rows[i].text, f.text);
		arena_clear(&a);
	}
}

static void strings_have_255_bytes_at_most(void **state)
{
	(void)state;
	char line[600];
	struct text_rr rr;
	struct fault f = { 0 };
	struct arena a;

	arena_init(&a);
	for (unsigned len = 255; len <= 256; len++) {
		snprintf(line, sizeof(line), "a. TXT %0*u", (int)len, 0);
		assert_int_equal(text_rr_parse(&a, line, NULL, &rr, &f), len == 255);
	}
	assert_non_null(strstr(f.text, "255"));
	arena_clear(&a);
}

static void names_are_completed_by_the_origin(void **state)
{
	(void)state;
	static const struct {
		const char *line, *want;
	} rows[] = {
		{ "www MX 1 mail", "www.b.org.\t9\tIN\tMX\t1 mail.b.org." },
		{ " 5 NS ns.", "www.b.org.\t5\tIN\tNS\tns." },
		{ "\tA 1.2.3.4", "www.b.org.\t9\tIN\tA\t1.2.3.4" },
		{ "@ NS @", "b.org.\t9\tIN\tNS\tb.org." },
		{ " NSEC a A", "b.org.\t9\tIN\tNSEC\ta.b.org. A" },
		{ "x\\. NS y\\\\.", "x\\..b.org.\t9\tIN\tNS\ty\\\\." },
	};
	struct text_zone z;
	struct arena a;

	arena_init(&a);
	text_zone_init(&z);
	assert_int_equal(z.ttl_s, 3600);
	memcpy(z.origin, N("b.org."), 7);
	z.ttl_s = 9;
	for (size_t i = 0; i < COUNT(rows); i++) {
		struct text_rr rr;
		char text[256];
		assert_true(text_rr_parse(&a, rows[i].line, &z, &rr, NULL));
		text_rr_print(text, sizeof(text), rr.owner, rr.ttl_s, rr.class_, rr.type, rr.rdata);
		assert_string_equal(text, rows[i].want);
	}
	arena_clear(&a);
}

static void printing_counts_as_snprintf_does(void **state)
{
	(void)state;
	static const char want[] = "a.\t1\tIN\tA\t1.2.3.4";
	struct slice rdata = SLICE("\1\2\3\4");

	for (size_t room = 0; room < sizeof(want) + 5; room++) {
		char *text = mem_new(room + 1);
		text[room] = 'x';
		assert_int_equal(text_rr_print(text, room, N("a."), 1, CLASS_IN, TYPE_A, rdata),
				 sizeof(want) - 1);
		if (room) {
			size_t kept = MIN(room - 1, sizeof(want) - 1);
			assert_memory_equal(text, want, kept);
			assert_int_equal(text[kept], '\0');
		}
		assert_int_equal(text[room], 'x');
		mem_free(text);
	}
}

static void malformed_data_is_printed_as_bytes(void **state)
{
	(void)state;
	static const struct {
		uint16_t type;
		struct slice rdata;
		const char *want;
	} rows[] = {
		{ TYPE_A, { BYTES("\1\2\3") }, ".\t0\tIN\tA\t\\# 3 010203" },
		{ TYPE_NS, { BYTES("\300\14") }, ".\t0\tIN\tNS\t\\# 2 C00C" },
		{ TYPE_TXT, { BYTES("") }, ".\t0\tIN\tTXT\t\\# 0" },
		{ TYPE_LOC, { BYTES("\7x") }, ".\t0\tIN\tLOC\t\\# 2 0778" },
		{ TYPE_NSEC, { BYTES("\0\0\1") }, ".\t0\tIN\tNSEC\t\\# 3 000001" },
		{ TYPE_NSEC, { BYTES("\0\0\2\100\0") }, ".\t0\tIN\tNSEC\t\\# 5 0000024000" },
		{ TYPE_DS, { BYTES("\0\1\10\2") }, ".\t0\tIN\tDS\t\\# 4 00010802" },
		{ TYPE_CAA, { BYTES("\0\2a bc") }, ".\t0\tIN\tCAA\t\\# 6 000261206263" },
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		char text[128];
		text_rr_print(text, sizeof(text), dname_root, 0, CLASS_IN, rows[i].type,
			      rows[i].rdata);
		assert_string_equal(text, rows[i].want);
	}
}

/* ---- zone files ---- */

static char folder[] = "text-files-XXXXXX";

static char *file_with(const char *name, const char *text)
{
	char *path = mem_textf("%s/%s", folder, name);
	FILE *f = fopen(path, "w");

	assert_non_null(f);
	fputs(text, f);
	fclose(f);
	return path;
}

struct lines {
	char text[4096];
	size_t len;
	unsigned count, stop_at;
};

static bool take_rr(const struct text_rr *rr, void *arg)
{
	struct lines *l = arg;

	l->len += text_rr_print(l->text + l->len, sizeof(l->text) - l->len, rr->owner, rr->ttl_s,
				rr->class_, rr->type, rr->rdata);
	l->text[l->len++] = '\n';
	l->text[l->len] = '\0';
	return ++l->count != l->stop_at;
}

static bool note_ttl(const struct text_rr *rr, void *arg)
{
	char *to = arg;

	sprintf(to + strlen(to), "%u ", (unsigned)rr->ttl_s);
	return true;
}

static void the_last_ttl_goes_on_unless_there_is_a_default(void **state)
{
	(void)state;
	static const struct { const char *zone, *want; } rows[] = {
		{ "a. A 1.2.3.4\nb. 5 A 1.2.3.4\nc. A 1.2.3.4\n", "3600 5 5 " },
		{ "a. 5 A 1.2.3.4\n$TTL 9\nb. A 1.2.3.4\nc. 7 A 1.2.3.4\nd. A 1.2.3.4\n",
		  "5 9 7 9 " },
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		char *path = file_with("zone", rows[i].zone), got[64] = "";
		struct fault f = { 0 };
		struct text_zone z;

		text_zone_init(&z);
		if (!text_zone_read(path, &z, note_ttl, got, &f))
			fail_msg("%s", f.text);
		assert_string_equal(got, rows[i].want);
		unlink(path);
		mem_free(path);
	}
}

static void a_zone_file_is_read_record_by_record(void **state)
{
	(void)state;
	static const char zone[] = "; a comment\n\n   \n$ORIGIN example.org.\n$TTL 1h\n"
				   "@ IN SOA ns host ( 1 2 ; inside\n\n 3 4 5 )\n"
				   "  NS ns ; and more\n"
				   "ns 7 A 192.0.2.1\r\n"
				   "$INCLUDE \"part of it\" sub\n"
				   "  AAAA ::1\n"
				   "t TXT \"semi;colon\" (\n \"two\" )\n"
				   "$TTL 5\n$ORIGIN deep\n"
				   "last A 192.0.2.9";
	static const char part[] = "$TTL 9\nwww A 192.0.2.2\n$ORIGIN other.\nx A 192.0.2.3\n";
	static const char want[] =
		"example.org.\t3600\tIN\tSOA\tns.example.org. host.example.org. 1 2 3 4 5\n"
		"example.org.\t3600\tIN\tNS\tns.example.org.\n"
		"ns.example.org.\t7\tIN\tA\t192.0.2.1\n"
		"www.sub.example.org.\t9\tIN\tA\t192.0.2.2\n"
		"x.other.\t9\tIN\tA\t192.0.2.3\n"
		"x.other.\t9\tIN\tAAAA\t::1\n"
		"t.example.org.\t9\tIN\tTXT\t\"semi;colon\" \"two\"\n"
		"last.deep.example.org.\t5\tIN\tA\t192.0.2.9\n";
	char *path = file_with("zone", zone), *included = file_with("part of it", part);
	struct lines all = { .len = 0 }, some = { .stop_at = 2 };
	struct fault f = { 0 };
	struct text_zone z;

	text_zone_init(&z);
	if (!text_zone_read(path, &z, take_rr, &all, &f))
		fail_msg("%s", f.text);
	assert_string_equal(all.text, want);
	text_zone_init(&z);
	assert_true(text_zone_read(path, &z, take_rr, &some, &f));
	assert_int_equal(some.count, 2);
	unlink(path);
	unlink(included);
	mem_free(path);
	mem_free(included);
}

static void the_first_error_in_a_zone_file_names_its_line(void **state)
{
	(void)state;
	static const struct {
		const char *text, *says;
	} rows[] = {
		{ "a. A 1.2.3.4\n\n; x\nb. A 1.2\n", "zone:4: " },
		{ "a. SOA a. b. (\n1 2 3\n4 x )\n", "zone:1: " },
		{ "a. TXT (\n x", "zone:1: a parenthesis" },
		{ "a. TXT \"x\ny\"", "zone:1: a parenthesis or a quote" },
		{ "\n$DATE 1\n", "zone:2: the directive" },
		{ "\n$GENERATE 2-1 a A 1.2.3.4\n", "zone:2: $GENERATE takes a range" },
		{ "$GENERATE 0-1048576 a$ A 1.2.3.4\n", "zone:1: $GENERATE would make more" },
		{ "$GENERATE 1-2 ${x} A 1.2.3.4\n", "zone:1: $GENERATE has a modifier" },
		{ "$GENERATE 1-2 a$ A 1.2.3\n", "zone:1: cannot read the record 'a1 A 1.2.3'" },
		{ "$TTL soon\n", "zone:1: $TTL" },
		{ "$ORIGIN a..b\n", "empty label" },
		{ "$ORIGIN\n", "zone:1: " },
		{ "$INCLUDE\n", "zone:1: $INCLUDE" },
		{ "$INCLUDE no-such-file\n", "no-such-file: No such file" },
		{ "$INCLUDE zone\n", "too deeply" },
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		char *path = file_with("zone", rows[i].text);
		struct lines l = { .len = 0 };
		struct fault f = { 0 };
		struct text_zone z;
		text_zone_init(&z);
		if (text_zone_read(path, &z, take_rr, &l, &f))
			fail_msg("%s: taken", rows[i].text);
		if (strstr(f.text, rows[i].says) == NULL)
			fail_msg("%s: %s", rows[i].text, f.text);
		unlink(path);
		mem_free(path);
	}

	struct fault f = { 0 };
	struct text_zone z;
	text_zone_init(&z);
	assert_false(text_zone_read("/no/such/zone", &z, take_rr, NULL, &f));
	assert_non_null(strstr(f.text, "/no/such/zone"));
}

/* ---- sets and messages ---- */

static void take_line(const char *line, void *arg)
{
	struct lines *l = arg;

	l->len += (size_t)snprintf(l->text + l->len, sizeof(l->text) - l->len, "%s\n", line);
}

static void a_message_is_shown_as_dig_would(void **state)
{
	(void)state;
	static const char want[] =
		";; ->>HEADER<<- opcode: QUERY, status: BADVERS, id: 7\n"
		";; flags: qr rd ra; QUERY: 1, ANSWER: 3, AUTHORITY: 0, ADDITIONAL: 1\n"
		";; OPT PSEUDOSECTION:\n"
		"; EDNS: version: 0, flags: do; udp: 1232\n"
		"; OPT=10: 61 62\n"
		";; QUESTION SECTION:\n"
		";w.a.\tIN\tA\n"
		";; ANSWER SECTION:\n"
		"w.a.\t50\tIN\tA\t1.2.3.4\n"
		"w.a.\t50\tIN\tA\t1.2.3.5\n"
		"w.a.\t50\tIN\tRRSIG\tA 13 2 60 20300101000000 20200101000000 1 a. AAAA\n";
	static const struct slice records[] = { { BYTES("\1\2\3\4") }, { BYTES("\1\2\3\5") } };
	struct lines l = { .len = 0 };
	struct text_rr sig;
	struct arena a;

	arena_init(&a);
	assert_true(text_rr_parse(&a,
				  "w.a. RRSIG A 13 2 60 20300101000000 20200101000000 1 a. AAAA",
				  NULL, &sig, NULL));
	struct rrset_parts parts = { .owner = N("w.a."),
				     .type = TYPE_A,
				     .class_ = CLASS_IN,
				     .ttl_s = 60,
				     .expires_s = 100,
				     .records = records,
				     .count = 2,
				     .sigs = &sig.rdata,
				     .sig_count = 1 };
	const struct rrset *set = rrset_build(&a, &parts);
	struct message m = {
		.id = 7,
		.flags = FLAG_QR | FLAG_RD | FLAG_RA,
		.rcode = RCODE_BADVERS,
		.q = { N("w.a."), 5, TYPE_A, CLASS_IN },
		.sets = &set,
		.count = { 1, 0, 0 },
		.edns = { .present = true,
			  .udp_size = 1232,
			  .flags = EDNS_DO,
			  .options = SLICE("\0\12\0\2ab") },
	};
	text_message_print(&m, 50, take_line, &l);
	assert_string_equal(l.text, want);
	arena_clear(&a);
}

static void long_lines_are_printed_whole(void **state)
{
	(void)state;
	static uint8_t bytes[5000];
	struct slice rdata = { bytes, sizeof(bytes) };
	struct rrset_parts parts = { .owner = dname_root,
				     .type = 65280,
				     .class_ = CLASS_IN,
				     .records = &rdata,
				     .count = 1 };
	struct lines l = { .len = 0 };
	struct arena a;

	arena_init(&a);
	text_rrset_print(rrset_build(&a, &parts), 0, take_line, &l);
	assert_int_equal(l.len, strlen(".\t0\tIN\tTYPE65280\t\\# 5000 ") + 10000 + 1);
	arena_clear(&a);
}

int main(void)
{
	const struct CMUnitTest claims[] = {
		cmocka_unit_test(records_come_back_as_they_were_written),
		cmocka_unit_test(what_is_no_record_is_refused_with_a_sentence),
		cmocka_unit_test(strings_have_255_bytes_at_most),
		cmocka_unit_test(names_are_completed_by_the_origin),
		cmocka_unit_test(printing_counts_as_snprintf_does),
		cmocka_unit_test(malformed_data_is_printed_as_bytes),
		cmocka_unit_test(a_zone_file_is_read_record_by_record),
		cmocka_unit_test(the_last_ttl_goes_on_unless_there_is_a_default),
		cmocka_unit_test(the_first_error_in_a_zone_file_names_its_line),
		cmocka_unit_test(a_message_is_shown_as_dig_would),
		cmocka_unit_test(long_lines_are_printed_whole),
	};

	hash_start(true);
	if (mkdtemp(folder) == NULL)
		return 1;
	int failed = cmocka_run_group_tests(claims, NULL, NULL);
	rmdir(folder);
	return failed;
}
