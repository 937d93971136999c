/* Claims about what of a single RRset is believed.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "iterator/tests/scrub_row.h"

#include "iterator/scrub_set.h"
#include "util/names/trie.h"
#include "util/net/addr.h"

static void private_addresses_are_taken_out(void **state)
{
	(void)state;
	static const struct {
		const char *why, *name;
		uint16_t type;
		const char *answer, *want;
		bool authzone;
	} rows[] = {
		{ "public", "www.example.com.", TYPE_A, A, "www.example.com./A||", false },
		{ "private", "www.example.com.", TYPE_A, "www.example.com. 60 A 10.1.2.3", "||", false },
		{ "of a zone held here", "www.example.com.", TYPE_A,
		  "www.example.com. 60 A 10.1.2.3", "www.example.com./A||", true },
		{ "one of two", "www.example.com.", TYPE_A, A "\nwww.example.com. 60 A 10.1.2.3",
		  "www.example.com./A||", false },
		{ "in a private domain", "www.home.example.com.", TYPE_A,
		  "www.home.example.com. 60 A 10.1.2.3", "www.home.example.com./A||", false },
		{ "IPv6", "www.example.com.", TYPE_AAAA, "www.example.com. 60 AAAA fd00::1", "||", false },
		{ "IPv4, mapped", "www.example.com.", TYPE_AAAA, "www.example.com. 60 AAAA ::ffff:10.1.2.3", "||", false },
		{ "IPv4, compatible", "www.example.com.", TYPE_AAAA, "www.example.com. 60 AAAA ::10.1.2.3", "||", false },
		{ "IPv4 by 6to4", "www.example.com.", TYPE_AAAA, "www.example.com. 60 AAAA 2002:a01:203::1", "||", false },
		{ "IPv4 by NAT64", "www.example.com.", TYPE_AAAA, "www.example.com. 60 AAAA 64:ff9b::10.1.2.3", "||", false },
		{ "IPv4 by our NAT64", "www.example.com.", TYPE_AAAA,
		  "www.example.com. 60 AAAA 2001:db8:64:a01:2:300::", "||", false },
		{ "a public one by our NAT64", "www.example.com.", TYPE_AAAA,
		  "www.example.com. 60 AAAA 2001:db8:64:c000:2:100::", "www.example.com./AAAA||", false },
		{ "a public one by NAT64", "www.example.com.", TYPE_AAAA, "www.example.com. 60 AAAA 64:ff9b::192.0.2.1",
		  "www.example.com./AAAA||", false },
		{ "as a hint that is mapped", "www.example.com.", TYPE_HTTPS,
		  "www.example.com. 60 HTTPS \\# 23 0001 00 0006 0010 00000000000000000000ffff0a010203", "||", false },
		{ "as a hint", "www.example.com.", TYPE_HTTPS,
		  "www.example.com. 60 HTTPS \\# 11 0001 00 0004 0004 0a010203", "||", false },
		{ "a public hint", "www.example.com.", TYPE_HTTPS,
		  "www.example.com. 60 HTTPS \\# 11 0001 00 0004 0004 c0000201",
		  "www.example.com./HTTPS||", false },
	};
	struct netset *private = netset_new();
	struct trie *domains = trie_new();
	struct netblock block;
	struct fault f;
	static char yes[] = "yes";

	assert_true(netblock_parse(&block, "10.0.0.0/8", &f));
	netset_put(private, &block, yes);
	assert_true(netblock_parse(&block, "fd00::/8", &f));
	netset_put(private, &block, yes);
	trie_put(domains, N("home.example.com."), yes);
	for (size_t i = 0; i < COUNT(rows); i++) {
		struct made how = { rows[i].name, rows[i].type, 0, { rows[i].answer } };
		struct snapshot options;
		struct arena a;
		char got[256];

		arena_init(&a);
		struct message *m = made_message(&a, NOW, &how);
		struct question asked = m->q;
		m->flags = FLAG_QR | FLAG_AA;
		options_with(NULL, &options);
		options.private_addresses = private;
		options.private_domains = domains;
		assert_true(netblock_parse(&options.nat64, "2001:db8:64::/48", &f));
		assert_true(scrub(m, &(struct scrub_how){ .asked = &asked,
							  .zone = dname_root,
							  .authzone = rows[i].authzone,
							  .arena = &a,
							  .snapshot = &options }));
		if (strcmp(sections(m, got, sizeof(got)), rows[i].want) != 0)
			fail_msg("%s: %s, not %s", rows[i].why, got, rows[i].want);
		conf_free(options.conf);
		arena_clear(&a);
	}
	netset_free(private);
	trie_free(domains, NULL);
}

static void sets_are_cut_to_their_limits(void **state)
{
	(void)state;
	char text[2048] = "";
	struct snapshot options;
	struct arena a;

	for (unsigned i = 0; i < 30; i++)
		snprintf(text + strlen(text), sizeof(text) - strlen(text),
			 "%ssub.example.com. 60 NS ns%u.sub.example.com.", i ? "\n" : "", i);
	arena_init(&a);
	struct made how = { "www.sub.example.com.", TYPE_A, 0, { NULL, text } };
	struct message *m = made_message(&a, NOW, &how);
	struct question asked = m->q;
	m->flags = FLAG_QR;
	assert_true(scrub(
		m, &(struct scrub_how){ .asked = &asked,
					.zone = dname_root,
					.arena = &a,
					.snapshot = options_with("iter-scrub-ns: 20", &options) }));
	assert_int_equal(m->count[SECTION_AUTHORITY], 1);
	assert_int_equal(m->sets[0]->count, 20);
	conf_free(options.conf);
	arena_clear(&a);
}

static void denials_of_other_zones_are_left_out(void **state)
{
	(void)state;
	static const struct row rows[] = {
		{ "denial of a neighbour",
		  "www.example.com.",
		  TYPE_A,
		  3,
		  FLAG_AA,
		  false,
		  NULL,
		  { NULL, SOA "\nwww.example.com. 60 NSEC zzz.org. A" },
		  "|example.com./SOA|" },
		{ "an NSEC that was asked for, of a neighbour",
		  "b.example.com.",
		  TYPE_NSEC,
		  0,
		  FLAG_AA,
		  false,
		  NULL,
		  { "b.example.com. 60 NSEC zzz.org. A RRSIG NSEC" },
		  "||" },
		{ "an NSEC that was asked for",
		  "b.example.com.",
		  TYPE_NSEC,
		  0,
		  FLAG_AA,
		  false,
		  NULL,
		  { "b.example.com. 60 NSEC c.example.com. A RRSIG NSEC\n"
		    "b.example.com. 60 RRSIG NSEC 13 3 60 20300101000000 20200101000000 1 example.com. AA==" },
		  "b.example.com./NSEC||" },
		{ "an NSEC that leaves its signer's zone",
		  "b.sub.example.com.",
		  TYPE_NSEC,
		  0,
		  FLAG_AA,
		  false,
		  NULL,
		  { "b.sub.example.com. 60 NSEC z.example.com. A RRSIG NSEC\n"
		    "b.sub.example.com. 60 RRSIG NSEC 13 4 60 20300101000000 20200101000000 1 sub.example.com. AA==" },
		  "||" },
		{ "an NSEC that leaves the zone of its second signature, not of its first",
		  "b.sub.example.com.",
		  TYPE_NSEC,
		  0,
		  FLAG_AA,
		  false,
		  NULL,
		  { "b.sub.example.com. 60 NSEC z.example.com. A RRSIG NSEC\n"
		    "b.sub.example.com. 60 RRSIG NSEC 13 4 60 20300101000000 20200101000000 1 example.com. AA==\n"
		    "b.sub.example.com. 60 RRSIG NSEC 13 4 60 20300101000000 20200101000000 1 sub.example.com. AA==" },
		  "b.sub.example.com./NSEC||" },
		{ "an NSEC above its signer's zone",
		  "b.example.com.",
		  TYPE_A,
		  3,
		  FLAG_AA,
		  false,
		  NULL,
		  { NULL, SOA "\n" "b.example.com. 60 NSEC c.sub.example.com. A RRSIG NSEC\n"
		    "b.example.com. 60 RRSIG NSEC 13 3 60 20300101000000 20200101000000 1 sub.example.com. AA==" },
		  "|example.com./SOA|" },
		{ "the last NSEC of a zone",
		  "z.example.com.",
		  TYPE_A,
		  0,
		  FLAG_AA,
		  false,
		  NULL,
		  { NULL, SOA "\n" "z.example.com. 60 NSEC example.com. A RRSIG NSEC\n"
		    "z.example.com. 60 RRSIG NSEC 13 3 60 20300101000000 20200101000000 1 example.com. AA==" },
		  "|example.com./SOA z.example.com./NSEC|" },
		{ "an NSEC at a cut, by the zone above it",
		  "b.example.com.",
		  TYPE_A,
		  3,
		  FLAG_AA,
		  false,
		  NULL,
		  { NULL, SOA "\n" "sub.example.com. 60 NSEC t.example.com. A RRSIG NSEC\n"
		    "sub.example.com. 60 RRSIG NSEC 13 3 60 20300101000000 20200101000000 1 example.com. AA==" },
		  "|example.com./SOA sub.example.com./NSEC|" },
		{ "an NSEC that a zone below sends out of itself",
		  "b.example.com.",
		  TYPE_A,
		  3,
		  FLAG_AA,
		  false,
		  NULL,
		  { NULL, SOA "\n" "sub.example.com. 60 NSEC t.example.com. A RRSIG NSEC\n"
		    "sub.example.com. 60 RRSIG NSEC 13 3 60 20300101000000 20200101000000 1 sub.example.com. AA==" },
		  "|example.com./SOA|" },
		{ "an NSEC3 of its signer's",
		  "b.example.com.",
		  TYPE_A,
		  3,
		  FLAG_AA,
		  false,
		  NULL,
		  { NULL, SOA "\n" "k3515rr034va6uns638d73il6cguh659.example.com. 60 NSEC3 1 0 0 - s9tggh1hil8i0rg39emtjvu6l583d06t A\n"
		    "k3515rr034va6uns638d73il6cguh659.example.com. 60 RRSIG NSEC3 13 3 60 20300101000000 20200101000000 1 example.com. AA==" },
		  "|example.com./SOA k3515rr034va6uns638d73il6cguh659.example.com./NSEC3|" },
		{ "an NSEC3 of a zone below its signer's",
		  "b.example.com.",
		  TYPE_A,
		  3,
		  FLAG_AA,
		  false,
		  NULL,
		  { NULL, SOA "\n" "k3515rr034va6uns638d73il6cguh659.sub.example.com. 60 NSEC3 1 0 0 - s9tggh1hil8i0rg39emtjvu6l583d06t A\n"
		    "k3515rr034va6uns638d73il6cguh659.sub.example.com. 60 RRSIG NSEC3 13 4 60 20300101000000 20200101000000 1 example.com. AA==" },
		  "|example.com./SOA|" },
		{ "an NSEC3 of a zone above its signer's",
		  "b.example.com.",
		  TYPE_A,
		  3,
		  FLAG_AA,
		  false,
		  NULL,
		  { NULL, SOA "\n" "k3515rr034va6uns638d73il6cguh659.example.com. 60 NSEC3 1 0 0 - s9tggh1hil8i0rg39emtjvu6l583d06t A\n"
		    "k3515rr034va6uns638d73il6cguh659.example.com. 60 RRSIG NSEC3 13 3 60 20300101000000 20200101000000 1 sub.example.com. AA==" },
		  "|example.com./SOA|" },
		{ "another denial to a forwarder's answer",
		  "b.org.",
		  TYPE_NSEC,
		  0,
		  FLAG_AA,
		  true,
		  NULL,
		  { "b.org. 60 NSEC zzz.com. A RRSIG NSEC\n"
		    "b.org. 60 RRSIG NSEC 13 2 60 20300101000000 20200101000000 1 org. AA==" },
		  "||" },
	};

	for (size_t i = 0; i < COUNT(rows); i++)
		check(&rows[i]);
}

#define SIGNED(type, signer) \
	" 60 RRSIG " type " 13 3 60 20300101000000 20200101000000 1 " signer " AA==\n"

/* Surplus signatures go, records do not, and nothing else is another. */
static void a_set_keeps_so_many_signatures(void **state)
{
	static const struct {
		const char *option;
		unsigned want;
	} rows[] = { { "iter-scrub-rrsig: 1", 1 }, { "iter-scrub-rrsig: 2", 2 }, { "iter-scrub-rrsig: 3", 3 },
		     { "iter-scrub-rrsig: 4", 3 } };

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		struct snapshot options;
		struct rrset *set;
		const struct rrset *got;
		struct arena a;

		arena_init(&a);
		set = made_set(&a, NOW, "www.example.com. 60 A 192.0.2.1\nwww.example.com. 60 A 192.0.2.2\n"
				"www.example.com." SIGNED("A", "com.") "www.example.com." SIGNED("A", "example.com.")
				"www.example.com." SIGNED("A", "www.example.com."));
		set->flags = RRSET_UNVERIFIED_GLUE;
		set->security = SECURITY_INSECURE;
		got = scrub_set_clean(&a, set, options_with(rows[i].option, &options), true);
		assert_int_equal(got->sig_count, rows[i].want);
		assert_true((got == set) == (rows[i].want == 3));
		assert_true(rrset_is(got, N("www.example.com."), TYPE_A, CLASS_IN));
		assert_true(got->count == 2 && got->ttl_s == 60 && got->expires_s == NOW + 60);
		assert_true(got->trust == set->trust && got->security == set->security && got->flags == set->flags);
		assert_memory_equal(rrset_record(got, 1).at, "\300\0\2\2", 4);
		struct rrset_walk w = rrset_sigs(got);
		struct slice sig;
		assert_true(rrset_next(&w, &sig)); /* the first are those that stay */
		assert_name_is(sig.at + 18, "com.");
		conf_free(options.conf);
		arena_clear(&a);
	}
}

static void a_set_is_shortened_to_its_first_records(void **state)
{
	struct rrset *set;
	struct arena a;

	(void)state;
	arena_init(&a);
	set = made_set(&a, NOW, "a. 60 A 192.0.2.1\na. 60 A 192.0.2.2\na. 60 A 192.0.2.3\na. 60 RRSIG A 13 1 60 "
				"20300101000000 20200101000000 1 . AA==");
	for (unsigned most = 1; most < 6; most++) {
		const struct rrset *got = scrub_set_shorten(&a, set, most);

		assert_int_equal(got->count, MIN(most, 3u));
		assert_true((got == set) == (most >= 3));
		assert_int_equal(got->sig_count, 1);
		for (unsigned i = 0; i < got->count; i++)
			assert_int_equal(rrset_record(got, i).at[3], i + 1);
	}
	arena_clear(&a);
}

static void an_address_is_private_wherever_it_stands(void **state)
{
	static const struct {
		const char *why, *owner;
		uint16_t type;
		struct slice rdata;
		bool want;
	} rows[] = {
		{ "A", "w.", TYPE_A, { BYTES("\12\0\0\1") }, true },
		{ "another A", "w.", TYPE_A, { BYTES("\13\0\0\1") }, false },
		{ "of a private name", "w.home.", TYPE_A, { BYTES("\12\0\0\1") }, false },
		{ "cut", "w.", TYPE_A, { BYTES("\12\0\0") }, false },
		{ "too long for one", "w.", TYPE_A, { BYTES("\12\0\0\1\0") }, false },
		{ "AAAA", "w.", TYPE_AAAA, { BYTES("\xfd\0\0\0\0\0\0\0\0\0\0\0\0\0\0\1") }, true },
		{ "another AAAA", "w.", TYPE_AAAA, { BYTES("\x20\1\0\0\0\0\0\0\0\0\0\0\0\0\0\1") }, false },
		{ "AAAA, cut", "w.", TYPE_AAAA, { BYTES("\xfd\0\0\0\0\0\0\0\0\0\0\0\0\0\0") }, false },
		{ "AAAA, of IPv4's length", "w.", TYPE_AAAA, { BYTES("\12\0\0\1") }, false },
		{ "no address", "w.", TYPE_TXT, { BYTES("\12\0\0\1") }, false },
		{ "SVCB", "w.", TYPE_SVCB, { BYTES("\0\1\0\0\4\0\4\12\0\0\1") }, true },
		{ "HTTPS", "w.", TYPE_HTTPS, { BYTES("\0\1\1x\0\0\4\0\4\12\0\0\1") }, true },
		{ "the second hint", "w.", TYPE_HTTPS, { BYTES("\0\1\0\0\4\0\10\13\0\0\1\12\0\0\1") }, true },
		{ "behind other parameters", "w.", TYPE_HTTPS, { BYTES("\0\1\0\0\3\0\2\1\273\0\4\0\4\12\0\0\1") }, true },
		{ "of IPv6", "w.", TYPE_HTTPS, { BYTES("\0\1\0\0\6\0\20\xfd\0\0\0\0\0\0\0\0\0\0\0\0\0\0\1") }, true },
		{ "the second of IPv6", "w.", TYPE_HTTPS,
		  { BYTES("\0\1\0\0\6\0\40\x20\1\0\0\0\0\0\0\0\0\0\0\0\0\0\1\xfd\0\0\0\0\0\0\0\0\0\0\0\0\0\0\1") }, true },
		{ "of IPv6, which are not of IPv4", "w.", TYPE_HTTPS, { BYTES("\0\1\0\0\6\0\4\12\0\0\1") }, false },
		{ "behind those of IPv4", "w.", TYPE_HTTPS,
		  { BYTES("\0\1\0\0\4\0\4\13\0\0\1\0\6\0\20\xfd\0\0\0\0\0\0\0\0\0\0\0\0\0\0\1") }, true },
		{ "a hint that is none, cut", "w.", TYPE_HTTPS, { BYTES("\0\1\0\0\4\0\3\12\0\0") }, false },
		{ "another parameter", "w.", TYPE_HTTPS, { BYTES("\0\1\0\0\5\0\4\12\0\0\1") }, false },
		{ "an empty one before it", "w.", TYPE_HTTPS, { BYTES("\0\1\0\0\2\0\0\0\4\0\4\12\0\0\1") }, true },
		{ "an empty one at the end", "w.", TYPE_HTTPS, { BYTES("\0\1\0\0\4\0\4\13\0\0\1\0\4\0\0") }, false },
		{ "what is private only from its middle on", "w.", TYPE_HTTPS,
		  { BYTES("\0\1\0\0\6\0\20\x20\1\0\0\xfd\0\0\0\0\0\0\0\0\0\0\1") }, false },
		{ "a length that is cut", "w.", TYPE_HTTPS, { BYTES("\0\1\0\0\4\0") }, false },
		{ "a value that is not there", "w.", TYPE_HTTPS, { BYTES("\0\1\0\0\4\0\10\12\0\0\1") }, false },
		{ "no name", "w.", TYPE_HTTPS, { BYTES("\0\1\77x") }, false },
	};
	struct snapshot options = { .private_addresses = netset_new(), .private_domains = trie_new() };
	static char yes[] = "yes";
	struct netblock block;

	(void)state;
	assert_true(netblock_parse(&block, "10.0.0.0/8", NULL));
	netset_put(options.private_addresses, &block, yes);
	assert_true(netblock_parse(&block, "fd00::/8", NULL));
	netset_put(options.private_addresses, &block, yes);
	trie_put(options.private_domains, N("home."), yes);
	for (size_t i = 0; i < COUNT(rows); i++) {
		uint8_t *alone = malloc(rows[i].rdata.len); /* nothing is read behind it */

		memcpy(alone, rows[i].rdata.at, rows[i].rdata.len);
		if (scrub_record_is_private(&options, N(rows[i].owner), rows[i].type,
					    (struct slice){ alone, rows[i].rdata.len }) != rows[i].want)
			fail_msg("%s", rows[i].why);
		free(alone);
	}
	trie_free(options.private_domains, NULL);
	options.private_domains = NULL; /* no name is private */
	assert_true(scrub_record_is_private(&options, N("w.home."), TYPE_A, SLICE("\12\0\0\1")));
	netset_free(options.private_addresses);
	options.private_addresses = NULL; /* no address is */
	assert_false(scrub_record_is_private(&options, N("w."), TYPE_A, SLICE("\12\0\0\1")));
}

/* Sets from the wire, whose records nobody has looked into. */
static void a_denial_that_cannot_be_read_overreaches(void **state)
{
	static const char head[] = "\0\57\15\3\0\0\0\74\0\0\0\0\0\0\0\0\0\1";
	static const struct {
		const char *why;
		uint16_t type;
		const char *owner;
		struct slice next, signer;
		bool want;
	} rows[] = {
		{ "unsigned", TYPE_NSEC, "a.example.", { BYTES("\1b\7example\0\0\1\100") }, { NULL, 0 }, false },
		{ "of no name", TYPE_NSEC, "a.example.", { BYTES("\77b") }, { NULL, 0 }, true },
		{ "of another zone", TYPE_NSEC, "a.other.", { BYTES("\1b\7example\0\0\1\100") }, { NULL, 0 }, true },
		{ "into another zone", TYPE_NSEC, "a.example.", { BYTES("\1b\5other\0\0\1\100") }, { NULL, 0 }, true },
		{ "of the zone itself", TYPE_NSEC, "example.", { BYTES("\7example\0\0\1\100") }, { NULL, 0 }, false },
		{ "signed by it", TYPE_NSEC, "a.example.", { BYTES("\1b\7example\0\0\1\100") }, { BYTES("\7example\0") }, false },
		{ "signed below", TYPE_NSEC, "a.example.", { BYTES("\1b\7example\0\0\1\100") }, { BYTES("\1a\7example\0") },
		  true },
		{ "signed by nobody readable", TYPE_NSEC, "a.example.", { BYTES("\1b\7example\0\0\1\100") }, { BYTES("\77x") },
		  false },
		{ "with a signature cut short", TYPE_NSEC, "a.example.", { BYTES("\1b\7example\0\0\1\100") }, { BYTES("") },
		  false },
		{ "NSEC3", TYPE_NSEC3, "a.example.", { BYTES("\1\0\0\0\0\1a") }, { NULL, 0 }, false },
		{ "NSEC3 of another zone", TYPE_NSEC3, "a.other.", { BYTES("\1\0\0\0\0\1a") }, { NULL, 0 }, true },
		{ "NSEC3 at the apex, where there is none", TYPE_NSEC3, "example.", { BYTES("\1\0\0\0\0\1a") }, { NULL, 0 },
		  true },
		{ "NSEC3 deeper, which may be of a zone below", TYPE_NSEC3, "a.b.example.", { BYTES("\1\0\0\0\0\1a") },
		  { NULL, 0 }, false },
		{ "NSEC3 of that zone", TYPE_NSEC3, "a.b.example.", { BYTES("\1\0\0\0\0\1a") }, { BYTES("\1b\7example\0") },
		  false },
		{ "NSEC3 of none that it could be of", TYPE_NSEC3, "a.b.example.", { BYTES("\1\0\0\0\0\1a") },
		  { BYTES("\7example\0") }, true },
		{ "NSEC3 of a zone below the root, signed by the root", TYPE_NSEC3, "a.example.", { BYTES("\1\0\0\0\0\1a") },
		  { BYTES("\0") }, true },
		{ "something else", TYPE_A, "a.other.", { BYTES("\300\0\2\1") }, { NULL, 0 }, false },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		uint8_t bytes[64];
		struct slice sig = { bytes, sizeof(head) - 1 + rows[i].signer.len };
		struct rrset_parts p = { .owner = N(rows[i].owner),
					 .type = rows[i].type,
					 .class_ = CLASS_IN,
					 .records = &rows[i].next,
					 .count = 1,
					 .sigs = &sig,
					 .sig_count = rows[i].signer.at != NULL };
		struct arena a;

		arena_init(&a);
		memcpy(bytes, head, sizeof(head) - 1);
		if (rows[i].signer.len)
			memcpy(bytes + sizeof(head) - 1, rows[i].signer.at, rows[i].signer.len);
		if (scrub_set_overreaches(rrset_build(&a, &p), N("example.")) != rows[i].want)
			fail_msg("%s", rows[i].why);
		arena_clear(&a);
	}
}

/* What a DNAME makes of a name has its time and its rank. */
static void a_cname_is_made_of_a_single_dname(void **state)
{
	struct rrset *dname, *made;
	struct arena a;

	(void)state;
	arena_init(&a);
	dname = made_set(&a, NOW, "d.example. 60 DNAME e.");
	dname->security = SECURITY_SECURE;
	dname->trust = TRUST_AUTH_AA;
	made = scrub_synthesize(&a, dname, N("a.D.example."));
	assert_true(rrset_is(made, N("a.d.example."), TYPE_CNAME, CLASS_IN));
	assert_name_is(rrset_target(made, 0), "a.e.");
	assert_true(made->count == 1 && made->sig_count == 0 && made->ttl_s == 60 && made->expires_s == NOW + 60);
	assert_true(made->security == SECURITY_SECURE && made->trust == TRUST_AUTH_AA);
	assert_null(scrub_synthesize(&a, made_set(&a, NOW, "d.example. 60 DNAME e.\nd.example. 60 DNAME f."), N("a.d.example.")));
	arena_clear(&a);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(private_addresses_are_taken_out),
		cmocka_unit_test(a_set_keeps_so_many_signatures),
		cmocka_unit_test(a_set_is_shortened_to_its_first_records),
		cmocka_unit_test(an_address_is_private_wherever_it_stands),
		cmocka_unit_test(a_denial_that_cannot_be_read_overreaches),
		cmocka_unit_test(a_cname_is_made_of_a_single_dname),
		cmocka_unit_test(sets_are_cut_to_their_limits),
		cmocka_unit_test(denials_of_other_zones_are_left_out),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
