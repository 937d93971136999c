/* Claims about scenarios' messages: how they are read, compared and adjusted.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "daemon/replay/entry.h"

#include "daemon/replay/rrs.h"
#include "util/base/arena.h"
#include "util/base/fault.h"
#include "util/dns/msg.h"
#include "util/dns/rr.h"
#include "util/tests/wire.h"

static struct arena arena;

static int begin(void **state)
{
	(void)state;
	arena_init(&arena);
	return 0;
}

static int end(void **state)
{
	(void)state;
	arena_clear(&arena);
	return 0;
}

/* The entry whose inside is `body`; NULL when it cannot be read. */
static struct entry *read_entry(const char *body, bool deckard, struct fault *f)
{
	struct lines l = { .rest = arena_textf(&arena, "ENTRY_BEGIN\n%sENTRY_END\n", body) };
	struct text_zone zone;

	text_zone_init(&zone);
	assert_true(lines_next_live(&l));
	return entry_read(&l, deckard, &zone, &arena, f);
}

static struct entry *entry(const char *body, bool deckard)
{
	struct fault f = { 0 };
	struct entry *e = read_entry(body, deckard, &f);

	if (!e)
		fail_msg("%s\n%s", f.text, body);
	return e;
}

static struct slice packet(const char *body, bool deckard)
{
	return entry(body, deckard)->packets->wire;
}

#define QUESTION "SECTION QUESTION\nwww.example. IN A\n"
#define TWO_A    "SECTION ANSWER\nwww.example. 60 IN A 192.0.2.1\nwww.example. 60 IN A 192.0.2.2\n"
#define A_TWO    "SECTION ANSWER\nwww.example. 60 IN A 192.0.2.2\nwww.example. 60 IN A 192.0.2.1\n"
#define CHAIN    "SECTION ANSWER\nwww.example. IN CNAME a.example.\na.example. IN A 192.0.2.1\n"
#define NIAHC    "SECTION ANSWER\na.example. IN A 192.0.2.1\nwww.example. IN CNAME a.example.\n"
#define NS       "SECTION AUTHORITY\nexample. IN NS ns.example.\n"
#define SOA(n) \
	"SECTION AUTHORITY\nexample. IN SOA ns.example. host.example. " n " 3600 900 86400 60\n"
#define EDNS(x) "HEX_EDNSDATA_BEGIN\n" x "\nHEX_EDNSDATA_END\n"

struct comparison {
	const char *why, *entry, *packet;
	bool fits, tcp, strict, asked;
};

static void compare(const struct comparison *rows, size_t count, bool deckard)
{
	for (size_t i = 0; i < count; i++) {
		const struct comparison *c = &rows[i];
		struct entry_how how = { .tcp = c->tcp, .strict = c->strict, .asked = c->asked };
		char why[120] = "";
		bool fits = entry_fits(entry(c->entry, deckard), packet(c->packet, deckard), &how,
				       why, sizeof(why));

		if (fits != c->fits)
			fail_msg("%s: %s %s", c->why, fits ? "fits" : "does not fit", why);
		if (!fits && !*why)
			fail_msg("%s: no reason given", c->why);
	}
}

static void an_entry_fits_what_its_words_ask_for(void **state)
{
	(void)state;
	static const struct comparison rows[] = {
		{ "no word fits anything", "", "REPLY QR NXDOMAIN\n" QUESTION, .fits = true },
		{ "opcode", "MATCH opcode\n" QUESTION, "REPLY NOTIFY\n" QUESTION, .fits = false },
		{ "qtype", "MATCH qtype\n" QUESTION, "SECTION QUESTION\nftp.example. IN A\n",
		  .fits = true },
		{ "another qtype", "MATCH qtype\n" QUESTION,
		  "SECTION QUESTION\nwww.example. IN NS\n", .fits = false },
		{ "qname", "MATCH qname\n" QUESTION, "SECTION QUESTION\nwww.example. IN NS\n",
		  .fits = true },
		{ "qname in another case", "MATCH qname\n" QUESTION,
		  "SECTION QUESTION\nwWw.example. IN A\n", .fits = false },
		{ "qname of a question of ours", "MATCH qname\n" QUESTION,
		  "SECTION QUESTION\nwWw.example. IN A\n", .fits = true, .asked = true },
		{ "another qname, too", "MATCH qname\n" QUESTION,
		  "SECTION QUESTION\nftp.example. IN A\n", .fits = false, .asked = true },
		{ "qcase", "MATCH qname qcase\n" QUESTION, "SECTION QUESTION\nwWw.example. IN A\n",
		  .fits = false, .asked = true },
		{ "qcase in the same case", "MATCH qname qcase\n" QUESTION, QUESTION, .fits = true,
		  .asked = true },
		{ "a qname below", "MATCH qname\n" QUESTION,
		  "SECTION QUESTION\na.www.example. IN A\n", .fits = false },
		{ "question in another case", "MATCH question\n" QUESTION,
		  "SECTION QUESTION\nwWw.example. IN A\n", .fits = true },
		{ "question of another class", "MATCH question\n" QUESTION,
		  "SECTION QUESTION\nwww.example. CH A\n", .fits = false },
		{ "subdomain itself", "MATCH subdomain\n" QUESTION, QUESTION, .fits = true },
		{ "subdomain below", "MATCH subdomain\n" QUESTION,
		  "SECTION QUESTION\na.b.WWW.example. IN A\n", .fits = true },
		{ "subdomain above", "MATCH subdomain\n" QUESTION,
		  "SECTION QUESTION\nexample. IN A\n", .fits = false },
		{ "subdomain of half a label", "MATCH subdomain\n" QUESTION,
		  "SECTION QUESTION\nawww.example. IN A\n", .fits = false },
		{ "rcode", "MATCH rcode\nREPLY SERVFAIL\n", "REPLY QR SERVFAIL\n", .fits = true },
		{ "another rcode", "MATCH rcode\nREPLY SERVFAIL\n", "REPLY QR REFUSED\n",
		  .fits = false },
		{ "words add up", "MATCH opcode qtype\nMATCH qname\n" QUESTION,
		  "SECTION QUESTION\nftp.example. IN A\n", .fits = false },
		{ "UDP", "MATCH UDP\n", QUESTION, .fits = true },
		{ "UDP over TCP", "MATCH UDP\n", QUESTION, .tcp = true },
		{ "TCP", "MATCH TCP\n", QUESTION, .fits = true, .tcp = true },
		{ "TCP over UDP", "MATCH TCP\n", QUESTION, .fits = false },
		{ "DO", "MATCH DO\n", "REPLY DO\n" QUESTION, .fits = true },
		{ "DO, but there is no OPT", "MATCH DO\n", QUESTION, .fits = false },
		{ "DO, but there is CO", "MATCH DO\n", "REPLY CO\n" QUESTION, .fits = false },
		{ "CO", "MATCH CO\n", "REPLY CO\n" QUESTION, .fits = true },
		{ "no EDNS", "MATCH noedns\n", QUESTION, .fits = true },
		{ "EDNS where there is to be none", "MATCH noedns\n", "REPLY DO\n" QUESTION,
		  .fits = false },
		{ "serial", "MATCH serial=7\n", SOA("7"), .fits = true },
		{ "serial with a colon", "MATCH serial:7\n", SOA("7"), .fits = true },
		{ "another serial", "MATCH serial=7\n", SOA("8"), .fits = false },
		{ "serial without SOA", "MATCH serial=7\n", NS, .fits = false },
		{ "flags, whatever the rcode", "MATCH flags\nREPLY QR RA AD\n", "REPLY QR RA AD NXDOMAIN\n",
		  .fits = true },
		{ "AD is missing", "MATCH flags\nREPLY QR RA AD\n", "REPLY QR RA\n", .fits = false },
		{ "AD is too much", "MATCH flags\nREPLY QR RA\n", "REPLY QR RA AD\n", .fits = false },
		{ "AA is missing", "MATCH flags\nREPLY QR AA\n", "REPLY QR\n", .fits = false },
		{ "CD is missing", "MATCH flags\nREPLY QR CD\n", "REPLY QR\n", .fits = false },
		{ "TC is too much", "MATCH flags\nREPLY QR\n", "REPLY QR TC\n", .fits = false },
		{ "RD is missing", "MATCH flags\nREPLY QR RD\n", "REPLY QR\n", .fits = false },
		{ "RA is too much", "MATCH flags\nREPLY QR\n", "REPLY QR RA\n", .fits = false },
		{ "QR is missing", "MATCH flags\nREPLY QR\n", "REPLY QUERY\n", .fits = false },
		{ "EDNS", "MATCH edns\nREPLY DO\n", "REPLY CO\n", .fits = true },
		{ "EDNS that is missing", "MATCH edns\nREPLY DO\n", "REPLY QUERY\n", .fits = false },
		{ "NSID", "MATCH nsid\n" EDNS("0003 0001 61"), EDNS("0003 0001 61"), .fits = true },
		{ "another NSID", "MATCH nsid\n" EDNS("0003 0001 61"), EDNS("0003 0001 62"),
		  .fits = false },
	};

	compare(rows, COUNT(rows), false);
}

static void sections_are_equal_as_sets_or_strictly_in_order(void **state)
{
	(void)state;
	static const struct comparison rows[] = {
		{ "the same", "MATCH answer\n" TWO_A, TWO_A, .fits = true, .strict = true },
		{ "another order", "MATCH answer\n" TWO_A, A_TWO, .fits = true },
		{ "another order, strictly", "MATCH answer\n" TWO_A, A_TWO, .strict = true },
		{ "an alias in order", "MATCH answer\n" CHAIN, CHAIN, .fits = true },
		{ "an alias behind what it leads to", "MATCH answer\n" CHAIN, NIAHC,
		  .fits = false },
		{ "one more", "MATCH answer\n" TWO_A, TWO_A "www.example. IN A 192.0.2.3\n",
		  .fits = false },
		{ "one less", "MATCH answer\n" TWO_A,
		  "SECTION ANSWER\nwww.example. IN A 192.0.2.1\n", .fits = false },
		{ "the first one twice", "MATCH answer\n" TWO_A,
		  "SECTION ANSWER\nwww.example. 60 IN A 192.0.2.1\nwww.example. 60 IN A "
		  "192.0.2.1\n",
		  .fits = false },
		{ "owner in another case", "MATCH answer\n" TWO_A,
		  "SECTION ANSWER\nWWW.example. IN A 192.0.2.1\nwww.EXAMPLE. IN A 192.0.2.2\n",
		  .fits = true, .strict = true },
		{ "rdata in another case", "MATCH answer\nSECTION ANSWER\na. IN NS ns.b.\n",
		  "SECTION ANSWER\na. IN NS NS.b.\n", .fits = true },
		{ "text in another case", "MATCH answer\nSECTION ANSWER\na. IN TXT \"one\"\n",
		  "SECTION ANSWER\na. IN TXT \"ONE\"\n", .fits = false },
		{ "answer only", "MATCH answer\n" TWO_A, TWO_A NS, .fits = true },
		{ "all sections", "MATCH all\n" TWO_A, TWO_A NS, .fits = false },
		{ "authority", "MATCH authority\n" TWO_A NS, NS, .fits = true },
		{ "authority that is missing", "MATCH authority\n" TWO_A NS, TWO_A, .fits = false },
		{ "additional", "MATCH additional\nSECTION ADDITIONAL\na. IN A 192.0.2.1\n", NS,
		  .fits = false },
		{ "additional with a TTL", "MATCH additional ttl\nSECTION ADDITIONAL\na. 5 IN A 192.0.2.1\n",
		  "SECTION ADDITIONAL\na. 6 IN A 192.0.2.1\n", .fits = false },
	};

	compare(rows, COUNT(rows), false);
}

static void whole_messages_are_equal_but_for_ttls(void **state)
{
	(void)state;
	static const struct comparison rows[] = {
		{ "the same", "MATCH all\nREPLY QR RA\n" QUESTION TWO_A NS,
		  "REPLY QR RA\n" QUESTION TWO_A NS, .fits = true, .strict = true },
		{ "a flag more", "MATCH all\nREPLY QR\n" QUESTION, "REPLY QR AD\n" QUESTION,
		  .fits = false },
		{ "a flag less", "MATCH all\nREPLY QR AD\n" QUESTION, "REPLY QR\n" QUESTION,
		  .fits = false },
		{ "another rcode", "MATCH all\nREPLY QR\n" QUESTION, "REPLY QR NXDOMAIN\n" QUESTION,
		  .fits = false },
		{ "another question", "MATCH all\n" QUESTION,
		  "SECTION QUESTION\nwww.example. IN MX\n", .fits = false },
		{ "no question", "MATCH all\n" QUESTION, "REPLY QUERY\n", .fits = false },
		{ "another TTL", "MATCH all\n" TWO_A,
		  "SECTION ANSWER\nwww.example. 5 IN A 192.0.2.1\nwww.example. 6 IN A 192.0.2.2\n",
		  .fits = true },
		{ "another TTL, and it matters", "MATCH all ttl\n" TWO_A,
		  "SECTION ANSWER\nwww.example. 5 IN A 192.0.2.1\nwww.example. 60 IN A 192.0.2.2\n",
		  .fits = false },
		{ "the same TTL in another order", "MATCH all ttl\n" TWO_A, A_TWO, .fits = true },
		{ "OPT in both", "MATCH all\nREPLY DO\n", "REPLY DO\n", .fits = true },
		{ "OPT in the packet", "MATCH all\nREPLY QUERY\n", "REPLY DO\n", .fits = false },
		{ "OPT in the entry", "MATCH all\nREPLY DO\n", "REPLY QUERY\n", .fits = false },
		{ "OPT is left out", "MATCH all_noedns\nREPLY QUERY\n", "REPLY DO\n",
		  .fits = true },
		{ "DO goes by with the TTL", "MATCH all\nREPLY DO\n", EDNS(""), .fits = true },
		{ "DO counts with the TTL", "MATCH all ttl\nREPLY DO\n", EDNS(""), .fits = false },
		{ "the extended rcode counts with the TTL",
		  "MATCH all ttl\nREPLY QR BADVERS\n" EDNS(""), "REPLY QR\n" EDNS(""),
		  .fits = false },
		{ "EDNS options differ", "MATCH all\n" EDNS("0003 0000"), EDNS("0003 0001 61"),
		  .fits = false },
		{ "the EDNS option is not there", "MATCH ednsdata\n" EDNS("0003 0000"), EDNS(""),
		  .fits = false },
		{ "the EDNS option is there", "MATCH ednsdata\n" EDNS("0003 0000"),
		  EDNS("00 03 0000"), .fits = true },
		{ "no EDNS options on either side", "MATCH ednsdata\nREPLY DO\n", QUESTION,
		  .fits = true },
	};

	compare(rows, COUNT(rows), false);
}

static void options_that_have_words_are_taken_out_first(void **state)
{
	(void)state;
	static const struct comparison rows[] = {
		{ "the code", "MATCH ede=22\n", EDNS("000f 0002 0016"), .fits = true },
		{ "with text", "MATCH ede=22\n", EDNS("000f 0004 0016 6869"), .fits = true },
		{ "another code", "MATCH ede=22\n", EDNS("000f 0002 0017"), .fits = false },
		{ "the second of two", "MATCH ede=23\n", EDNS("000f 0002 0016 000f 0002 0017"),
		  .fits = true },
		{ "any", "MATCH ede=any\n", EDNS("000f 0002 0000"), .fits = true },
		{ "any, but none is there", "MATCH ede=any\n", EDNS("0003 0000"), .fits = false },
		{ "none, for there is no OPT", "MATCH ede=any\n", QUESTION, .fits = false },
		{ "the rest is compared without it", "MATCH all ede=22\n" EDNS("0003 0000"),
		  EDNS("000f 0002 0016 0003 0000"), .fits = true },
		{ "without the word it is compared", "MATCH all\n" EDNS(""), EDNS("000f 0002 0016"),
		  .fits = false },
		{ "a client's cookie", "MATCH all client_cookie\n" EDNS(""),
		  EDNS("000a 0008 0102030405060708"), .fits = true },
		{ "a server's cookie is longer", "MATCH server_cookie\n",
		  EDNS("000a 0008 0102030405060708"), .fits = false },
		{ "a server's cookie", "MATCH all server_cookie\n" EDNS(""),
		  EDNS("000a 0018 010203040506070801020304050607080102030405060708"),
		  .fits = true },
	};

	compare(rows, COUNT(rows), false);
}

static void deckard_has_words_of_its_own(void **state)
{
	(void)state;
	static const struct comparison rows[] = {
		{ "qname in another case", "MATCH qname\n" QUESTION,
		  "SECTION QUESTION\nwWw.example. IN A\n", .fits = true },
		{ "qcase", "MATCH qcase\n" QUESTION, "SECTION QUESTION\nwWw.example. IN A\n",
		  .fits = false },
		{ "flags", "MATCH flags\nREPLY QR RA\n", "FLAGS QR RA NXDOMAIN\n", .fits = true },
		{ "other flags", "MATCH flags\nREPLY QR RA\n", "FLAGS QR RA AD\n", .fits = false },
		{ "the extended rcode", "MATCH rcode\nREPLY BADVERS\n", "REPLY NOERROR\n",
		  .fits = false },
		{ "another one", "MATCH rcode\nREPLY BADKEY\n", "REPLY BADKEY\n", .fits = true },
		{ "authority as a set", "MATCH authority\n" NS "example. IN NS b.example.\n",
		  "SECTION AUTHORITY\nexample. IN NS b.example.\nexample. IN NS ns.example.\n",
		  .fits = true },
		{ "additional", "MATCH additional\nSECTION ADDITIONAL\na. IN A 192.0.2.1\n", NS,
		  .fits = false },
		{ "all without EDNS options", "MATCH all\nREPLY QR\n" QUESTION TWO_A,
		  "REPLY QR DO\n" QUESTION A_TWO, .fits = true },
		{ "all with another flag", "MATCH all\nREPLY QR AD\n" QUESTION,
		  "REPLY QR\n" QUESTION, .fits = false },
		{ "all with another opcode", "MATCH all\nREPLY QR\n" QUESTION,
		  "REPLY QR NOTIFY\n" QUESTION, .fits = false },
		{ "the question", "MATCH question\n" QUESTION, "SECTION QUESTION\nwww.example. IN NS\n",
		  .fits = false },
		{ "DO", "MATCH DO\n", QUESTION, .fits = false },
		{ "no EDNS", "MATCH noedns\n", QUESTION, .fits = false },
		{ "UDP over TCP", "MATCH UDP\n", QUESTION, .tcp = true },
		{ "TCP over UDP", "MATCH TCP\n", QUESTION, .fits = false },
		{ "another serial", "MATCH serial=7\n", SOA("8"), .fits = false },
		{ "another EDNS option", "MATCH ednsdata\n" EDNS("0003 0000"), EDNS(""), .fits = false },
	};

	compare(rows, COUNT(rows), true);
}

#define HEX_TWO_A \
	"HEX_ANSWER_BEGIN\n0000 8400 0001 0002 0000 0000 03777777076578616d706c6500 0001 0001\n" \
	"c00c 0001 0001 0000012c 0004 c0000201 c00c 0001 0001 0000012c 0004 c0000202\n" \
	"HEX_ANSWER_END\n"

static void an_answer_is_adjusted_to_its_query(void **state)
{
	(void)state;
	static const struct {
		const char *why, *entry, *query, *qname;
		bool deckard, opt;
	} rows[] = {
		{ "as it stands", "REPLY QR\n" QUESTION TWO_A,
		  "SECTION QUESTION\nftp.example. IN MX\n", "www.example.", .deckard = false },
		{ "with the query's question", "ADJUST copy_query\nREPLY QR\n" QUESTION TWO_A,
		  "SECTION QUESTION\nlonger.name.example. IN MX\n", "longer.name.example.",
		  .deckard = false },
		{ "a question where there was none", "ADJUST copy_id copy_query\nREPLY QR\n" TWO_A,
		  QUESTION, "www.example.", .deckard = false },
		{ "in the query's spelling", "ADJUST copy_id\nREPLY QR\n" QUESTION TWO_A,
		  "SECTION QUESTION\nwWW.Example. IN A\n", "wWW.Example.", .deckard = false },
		{ "hexadecimal, too", "ADJUST copy_id\n" QUESTION HEX_TWO_A,
		  "SECTION QUESTION\nwWW.Example. IN A\n", "wWW.Example.", .deckard = false },
		{ "hexadecimal with the query's question", "ADJUST copy_id copy_query\n" QUESTION HEX_TWO_A,
		  "SECTION QUESTION\nftp.example. IN A\n", "ftp.example.", .deckard = false },
		{ "but not if it is to be raw", "ADJUST raw_id\n" QUESTION HEX_TWO_A,
		  "SECTION QUESTION\nwWW.Example. IN A\n", "www.example.", .deckard = false },
		{ "with an OPT of its own", "REPLY QR DO\n" QUESTION TWO_A, QUESTION,
		  "www.example.", .opt = true },
		{ "Deckard: no OPT to who sent none", "REPLY QR\n" QUESTION TWO_A, QUESTION,
		  "www.example.", .deckard = true },
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		struct entry *e = entry(rows[i].entry, rows[i].deckard);
		struct slice query = packet(rows[i].query, false), answer;
		uint8_t *id = arena_copy(&arena, query.at, query.len);
		struct flat_message m;
		char name[DNAME_TEXT];

		put_u16(id, 0x1234);
		answer = entry_answer(e, e->packets, (struct slice){ id, query.len }, &arena);
		if (!flat_read(answer, &arena, &m))
			fail_msg("%s: cannot be read", rows[i].why);
		if (m.id != 0x1234)
			fail_msg("%s: id %04x", rows[i].why, m.id);
		if (m.questions != 1 || strcmp(dname_print(m.qname, name), rows[i].qname) != 0)
			fail_msg("%s: question %s", rows[i].why, name);
		if (m.count[SECTION_ANSWER] != 2 || m.edns.present != rows[i].opt)
			fail_msg("%s: %u records, OPT %d", rows[i].why, m.count[SECTION_ANSWER],
				 m.edns.present);
	}
}

static void bytes_are_sent_as_they_are(void **state)
{
	(void)state;
	struct entry *e = entry("MATCH qname\n" QUESTION "HEX_ANSWER_BEGIN\n12 34 85 ; head\n\n0f\n"
				"HEX_ANSWER_END\n",
				false);
	struct entry *cut = entry("ADJUST copy_id copy_query\n" QUESTION "HEX_ANSWER_BEGIN\n"
				  "0000 8400 0001 0000 0000 0000 0377\nHEX_ANSWER_END\n",
				  false);
	struct slice query = packet(QUESTION, false), answer;
	struct entry_how how = { .strict = true };

	answer = entry_answer(e, e->packets, query, &arena);
	assert_int_equal(answer.len, 4);
	assert_memory_equal(answer.at, "\x12\x34\x85\x0f", 4);

	/* with a question that has no end, too */
	answer = entry_answer(cut, cut->packets, query, &arena);
	assert_int_equal(answer.len, 14);
	assert_memory_equal(answer.at + 12, "\x03\x77", 2);

	/* and are found by the question in text */
	assert_true(entry_fits(e, query, &how, NULL, 0));

	e->adjust = ADJUST_ID;
	answer = entry_answer(e, e->packets, query, &arena);
	assert_memory_equal(answer.at, "\x00\x00\x85\x0f", 4);
}

static void several_packets_come_in_order(void **state)
{
	(void)state;
	struct entry *e = entry("REPLY QR\n" QUESTION "EXTRA_PACKET\nREPLY QR AA\nSECTION ANSWER\n"
				"www.example. IN A 192.0.2.1\n",
				false);
	struct flat_message m;

	assert_true(flat_read(e->packets->wire, &arena, &m));
	assert_int_equal(m.count[SECTION_ANSWER], 0);
	assert_non_null(e->packets->next);
	assert_true(flat_read(e->packets->next->wire, &arena, &m));
	assert_int_equal(m.count[SECTION_ANSWER], 1);
	assert_null(e->packets->next->next);
}

static void records_are_read_as_in_a_zone_file(void **state)
{
	(void)state;
	static const struct {
		const char *why, *line, *owner;
		uint32_t ttl_s;
		uint16_t type, class_;
	} rows[] = {
		{ "everything", "a.example. 60 IN A 192.0.2.1", "a.example.", 60, TYPE_A,
		  CLASS_IN },
		{ "class before TTL", "a.example. IN 60 A 192.0.2.1", "a.example.", 60, TYPE_A,
		  CLASS_IN },
		{ "no TTL", "a.example. IN A 192.0.2.1", "a.example.", 3600, TYPE_A, CLASS_IN },
		{ "no class", "a.example. A 192.0.2.1", "a.example.", 3600, TYPE_A, CLASS_IN },
		{ "no final dot", "a.example 60 A 192.0.2.1", "a.example.", 60, TYPE_A, CLASS_IN },
		{ "another class", "id.server. 0 CH TXT \"x\"", "id.server.", 0, TYPE_TXT,
		  CLASS_CH },
		{ "a comment", "a.example. A 192.0.2.1 ; yes", "a.example.", 3600, TYPE_A,
		  CLASS_IN },
		{ "relative to the origin", "$ORIGIN b.example.\na A 192.0.2.1", "a.b.example.",
		  3600, TYPE_A, CLASS_IN },
		{ "the origin itself", "$ORIGIN b.example.\n@ A 192.0.2.1", "b.example.", 3600,
		  TYPE_A, CLASS_IN },
		{ "another default", "$TTL 7\na.example. A 192.0.2.1", "a.example.", 7, TYPE_A,
		  CLASS_IN },
		{ "a type by number", "a.example. TYPE65300 \\# 2 abcd", "a.example.", 3600, 65300,
		  CLASS_IN },
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		const char *body = arena_textf(&arena, "SECTION ANSWER\n%s\n", rows[i].line);
		struct flat_message m;
		char owner[DNAME_TEXT];

		if (!flat_read(packet(body, false), &arena, &m) || m.count[SECTION_ANSWER] != 1)
			fail_msg("%s: no record", rows[i].why);
		dname_print(m.rrs[SECTION_ANSWER][0].owner, owner);
		if (strcmp(owner, rows[i].owner) != 0 ||
		    m.rrs[SECTION_ANSWER][0].ttl_s != rows[i].ttl_s ||
		    m.rrs[SECTION_ANSWER][0].type != rows[i].type ||
		    m.rrs[SECTION_ANSWER][0].class_ != rows[i].class_)
			fail_msg("%s: %s %u %u %u", rows[i].why, owner,
				 m.rrs[SECTION_ANSWER][0].ttl_s, m.rrs[SECTION_ANSWER][0].type,
				 m.rrs[SECTION_ANSWER][0].class_);
	}
}

static void what_cannot_be_read_is_told(void **state)
{
	(void)state;
	static const struct {
		const char *why, *body;
		bool deckard;
	} rows[] = {
		{ "an unknown word to match", "MATCH everything\n", false },
		{ "another", "MATCH opcode reply\n", false },
		{ "a word too long", "MATCH flagss\n", false },
		{ "a serial without number", "MATCH serial=\n", false },
		{ "a serial that is none", "MATCH serial=7x\n", false },
		{ "a reason that is none", "MATCH ede=stale\n", false },
		{ "a reason too large", "MATCH ede=65536\n", false },
		{ "Deckard does not know TTLs", "MATCH ttl\n", true },
		{ "nor a whole without EDNS", "MATCH all_noedns\n", true },
		{ "a sleep that is none", "ADJUST sleep=long\n", false },
		{ "an entry cannot be mandatory", "MANDATORY\n", false },
		{ "nobody signs", "TSIG key c2VjcmV0\n", true },
		{ "a TTL that is none", "$TTL soon\n", false },
		{ "a record directive that is none", "$TLL 5\n", false },
		{ "an unknown word to adjust", "ADJUST copy\n", false },
		{ "an unknown flag", "REPLY QQ\n", false },
		{ "an unknown section", "SECTION PREREQUISITE\n", false },
		{ "a record in no section", "www.example. IN A 192.0.2.1\n", false },
		{ "a question without type", "SECTION QUESTION\nwww.example. IN\n", false },
		{ "a record without data", "SECTION ANSWER\nwww.example. IN A\n", false },
		{ "an address too short", "SECTION ANSWER\nwww.example. IN A 192.0.2\n", false },
		{ "no hexadecimal", "HEX_ANSWER_BEGIN\nxy\nHEX_ANSWER_END\n", false },
		{ "bytes without end", "HEX_ANSWER_BEGIN\n00\n", false },
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		struct fault f = { 0 };

		if (read_entry(rows[i].body, rows[i].deckard, &f) || !f.set)
			fail_msg("%s: %s", rows[i].why, f.set ? "read" : "no reason");
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_entry_fits_what_its_words_ask_for),
		cmocka_unit_test(sections_are_equal_as_sets_or_strictly_in_order),
		cmocka_unit_test(whole_messages_are_equal_but_for_ttls),
		cmocka_unit_test(options_that_have_words_are_taken_out_first),
		cmocka_unit_test(deckard_has_words_of_its_own),
		cmocka_unit_test(an_answer_is_adjusted_to_its_query),
		cmocka_unit_test(bytes_are_sent_as_they_are),
		cmocka_unit_test(several_packets_come_in_order),
		cmocka_unit_test(records_are_read_as_in_a_zone_file),
		cmocka_unit_test(what_cannot_be_read_is_told),
	};

	return cmocka_run_group_tests(tests, begin, end);
}
