/* Claims about what of a response is believed.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "iterator/scrub.h"

#include "services/snapshot.h"
#include "services/tests/made.h"
#include "util/addr.h"
#include "util/options.h"
#include "util/trie.h"

#define NOW  1000
#define A    "www.example.com. 60 A 192.0.2.1"
#define NS   "example.com. 60 NS ns.example.com."
#define GLUE "ns.example.com. 60 A 192.0.2.53"
#define SOA  "example.com. 60 SOA ns.example.com. root.example.com. 1 2 3 4 5"
#define REF  "sub.example.com. 60 NS ns.sub.example.com.\nsub.example.com. 60 NS ns.other.com."

/* "owner/type owner/type | … | …" */
static const char *sections(const struct message *m, char *to, size_t room)
{
	char name[DNAME_TEXT], type[16];
	unsigned left = 0;
	size_t len = 0;

	to[0] = 0;
	for (unsigned s = 0; s < 3; s++) {
		if (s)
			len += (size_t)snprintf(to + len, room - len, "|");
		for (unsigned i = 0; i < m->count[s]; i++, left++)
			len += (size_t)snprintf(to + len, room - len, "%s%s/%s", i ? " " : "",
						dname_print(rrset_owner(m->sets[left]), name),
						rr_type_name(m->sets[left]->type, type));
	}
	return to;
}

static struct snapshot *options_with(const char *line, struct snapshot *s)
{
	struct fault f = { 0 };

	*s = (struct snapshot){ .conf = conf_new() };
	if (line && !conf_set_option(s->conf, line, &f))
		fail_msg("%s: %s", line, f.text);
	return s;
}

/* Said by a server of example.com. */
struct row {
	const char *why, *name;
	uint16_t type;
	uint8_t rcode;
	uint16_t flags;
	bool forwarder;
	const char *option;
	const char *section[3];
	const char *want; /* NULL: refused as a whole */
};

static void check(const struct row *row)
{
	struct made how = { row->name,
			    row->type,
			    row->rcode,
			    { row->section[0], row->section[1], row->section[2] } };
	struct snapshot options;
	struct arena a;
	struct message *m;
	char got[1024];
	uint8_t zone[DNAME_MAX];

	arena_init(&a);
	dname_copy_lower(zone, N("example.com."));
	m = made_message(&a, NOW, &how);
	m->flags = FLAG_QR | row->flags;
	struct question asked = m->q;
	bool ok = scrub(m, &(struct scrub_how){
				   .asked = &asked,
				   .zone = zone,
				   .snapshot = options_with(row->option, &options),
				   .forwarder = row->forwarder,
				   .arena = &a,
			   });
	if (ok != (row->want != NULL))
		fail_msg("%s: %s", row->why, ok ? "let through" : "refused");
	if (ok && strcmp(sections(m, got, sizeof(got)), row->want) != 0)
		fail_msg("%s: %s, not %s", row->why, got, row->want);
	conf_free(options.conf);
	arena_clear(&a);
}

static void only_what_was_called_for_stays(void **state)
{
	(void)state;
	static const struct row rows[] = {
		{ "data",
		  "www.example.com.",
		  TYPE_A,
		  0,
		  FLAG_AA,
		  false,
		  NULL,
		  { A },
		  "www.example.com./A||" },
		{ "with data of another name",
		  "www.example.com.",
		  TYPE_A,
		  0,
		  FLAG_AA,
		  false,
		  NULL,
		  { A "\nmail.example.com. 60 A 192.0.2.9" },
		  "www.example.com./A||" },
		{ "with data of another type",
		  "www.example.com.",
		  TYPE_A,
		  0,
		  FLAG_AA,
		  false,
		  NULL,
		  { A "\nwww.example.com. 60 TXT x" },
		  "www.example.com./A||" },
		{ "with data of another zone",
		  "www.example.com.",
		  TYPE_A,
		  0,
		  FLAG_AA,
		  false,
		  NULL,
		  { A, "org. 60 NS ns.org.", "ns.org. 60 A 192.0.2.9" },
		  "www.example.com./A||" },
		{ "all types at the name",
		  "www.example.com.",
		  TYPE_ANY,
		  0,
		  FLAG_AA,
		  false,
		  NULL,
		  { A "\nwww.example.com. 60 TXT x\nx.example.com. 60 TXT x" },
		  "www.example.com./A www.example.com./TXT||" },
		{ "what is no data, anywhere",
		  "www.example.com.",
		  TYPE_ANY,
		  0,
		  FLAG_AA,
		  false,
		  NULL,
		  { A "\nwww.example.com. 60 TYPE250 \\# 1 00", "www.example.com. 60 TYPE249 \\# 1 00",
		    "www.example.com. 60 TYPE250 \\# 1 00\nwww.example.com. 60 TYPE255 \\# 1 00" },
		  "www.example.com./A||" },
		{ "unasked NS set next to an answer",
		  "www.example.com.",
		  TYPE_A,
		  0,
		  FLAG_AA,
		  false,
		  NULL,
		  { A, NS, GLUE },
		  "www.example.com./A||" },
		{ "and where that is allowed",
		  "www.example.com.",
		  TYPE_A,
		  0,
		  FLAG_AA,
		  false,
		  "iter-scrub-promiscuous: no",
		  { A, NS, GLUE },
		  "www.example.com./A|example.com./NS|ns.example.com./A" },
		{ "in a denial it is not",
		  "www.example.com.",
		  TYPE_A,
		  3,
		  FLAG_AA,
		  false,
		  "iter-scrub-promiscuous: no",
		  { NULL, SOA "\n" NS, GLUE },
		  "|example.com./SOA|" },
		{ "NS set beside the name",
		  "www.example.com.",
		  TYPE_A,
		  0,
		  FLAG_AA,
		  false,
		  "iter-scrub-promiscuous: no",
		  { A, "mail.example.com. 60 NS ns.example.com.", GLUE },
		  "www.example.com./A||" },
		{ "MX with an address",
		  "www.example.com.",
		  TYPE_A,
		  0,
		  FLAG_AA,
		  false,
		  NULL,
		  { A, "www.example.com. 60 MX 1 ns.example.com.", GLUE },
		  "www.example.com./A|www.example.com./MX|" },
		{ "addresses in AUTHORITY",
		  "www.example.com.",
		  TYPE_A,
		  0,
		  FLAG_AA,
		  false,
		  NULL,
		  { A, GLUE },
		  "www.example.com./A||" },
		{ "unknown type in AUTHORITY",
		  "www.example.com.",
		  TYPE_A,
		  0,
		  FLAG_AA,
		  false,
		  "harden-unknown-additional: yes",
		  { A, "www.example.com. 60 TXT x" },
		  "www.example.com./A||" },
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
		{ "an NSEC that leaves the zone of its second signature",
		  "b.sub.example.com.",
		  TYPE_NSEC,
		  0,
		  FLAG_AA,
		  false,
		  NULL,
		  { "b.sub.example.com. 60 NSEC z.example.com. A RRSIG NSEC\n"
		    "b.sub.example.com. 60 RRSIG NSEC 13 4 60 20300101000000 20200101000000 1 example.com. AA==\n"
		    "b.sub.example.com. 60 RRSIG NSEC 13 4 60 20300101000000 20200101000000 1 sub.example.com. AA==" },
		  "||" },
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
		{ "address of an answer's host",
		  "example.com.",
		  TYPE_MX,
		  0,
		  FLAG_AA,
		  false,
		  NULL,
		  { "example.com. 60 MX 1 mail.example.com.", NULL,
		    "mail.example.com. 60 A 192.0.2.7\nspam.example.com. 60 A 192.0.2.8" },
		  "example.com./MX||mail.example.com./A" },
		{ "the answer once more",
		  "ns.example.com.",
		  TYPE_A,
		  0,
		  FLAG_AA,
		  false,
		  "iter-scrub-promiscuous: no",
		  { GLUE, NS, GLUE },
		  "ns.example.com./A|example.com./NS|" },
	};

	for (size_t i = 0; i < COUNT(rows); i++)
		check(&rows[i]);
}

static void an_answer_to_something_else_is_refused(void **state)
{
	(void)state;
	static const struct {
		const char *why, *name;
		uint16_t type, flags;
		uint8_t opcode;
		bool want;
	} rows[] = {
		{ "ours", "www.example.com.", TYPE_A, FLAG_QR, OPCODE_QUERY, true },
		{ "in other case", "WWW.Example.com.", TYPE_A, FLAG_QR, OPCODE_QUERY, true },
		{ "another name", "mail.example.com.", TYPE_A, FLAG_QR, OPCODE_QUERY, false },
		{ "another type", "www.example.com.", TYPE_AAAA, FLAG_QR, OPCODE_QUERY, false },
		{ "a question", "www.example.com.", TYPE_A, 0, OPCODE_QUERY, false },
		{ "another errand", "www.example.com.", TYPE_A, FLAG_QR, OPCODE_NOTIFY, false },
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		struct made how = { rows[i].name, rows[i].type, 0, { NULL } };
		struct question asked = made_question("www.example.com.", TYPE_A);
		struct snapshot options;
		struct arena a;

		arena_init(&a);
		struct message *m = made_message(&a, NOW, &how);
		m->flags = rows[i].flags;
		m->opcode = rows[i].opcode;
		if (scrub(m, &(struct scrub_how){ .asked = &asked,
						  .zone = dname_root,
						  .arena = &a,
						  .snapshot = options_with(NULL, &options) }) !=
		    rows[i].want)
			fail_msg("%s", rows[i].why);
		conf_free(options.conf);
		arena_clear(&a);
	}
}

static void a_referral_brings_its_own_glue_only(void **state)
{
	(void)state;
	static const struct row rows[] = {
		{ "inside the zone",
		  "www.sub.example.com.",
		  TYPE_A,
		  0,
		  0,
		  false,
		  NULL,
		  { NULL, REF,
		    "ns.sub.example.com. 60 A 192.0.2.1\nns.other.com. 60 A 192.0.2.2\n" GLUE },
		  "|sub.example.com./NS|ns.sub.example.com./A" },
		{ "outside, where allowed",
		  "www.sub.example.com.",
		  TYPE_A,
		  0,
		  0,
		  false,
		  "harden-glue: no",
		  { NULL, REF, "ns.sub.example.com. 60 A 192.0.2.1\nns.other.com. 60 A 192.0.2.2" },
		  "|sub.example.com./NS|ns.sub.example.com./A ns.other.com./A" },
		{ "with DS",
		  "www.sub.example.com.",
		  TYPE_A,
		  0,
		  0,
		  false,
		  NULL,
		  { NULL, REF "\nsub.example.com. 60 DS 1 8 2 "
			      "0000000000000000000000000000000000000000000000000000000000000000" },
		  "|sub.example.com./NS sub.example.com./DS|" },
		{ "DS of another cut",
		  "www.sub.example.com.",
		  TYPE_A,
		  0,
		  0,
		  false,
		  NULL,
		  { NULL, REF "\noff.example.com. 60 DS 1 8 2 "
			      "0000000000000000000000000000000000000000000000000000000000000000" },
		  "|sub.example.com./NS|" },
		{ "the DS that was asked for",
		  "sub.example.com.",
		  TYPE_DS,
		  0,
		  0,
		  false,
		  NULL,
		  { NULL, REF "\nsub.example.com. 60 DS 1 8 2 "
			      "0000000000000000000000000000000000000000000000000000000000000000" },
		  "sub.example.com./DS||" },
		{ "upwards: seen, without glue",
		  "www.example.com.",
		  TYPE_A,
		  0,
		  0,
		  false,
		  NULL,
		  { NULL, "com. 60 NS ns.example.com.", GLUE },
		  "|com./NS|" },
		{ "its own zone, to be seen as no answer",
		  "www.example.com.",
		  TYPE_A,
		  0,
		  0,
		  false,
		  NULL,
		  { NULL, NS, GLUE },
		  "|example.com./NS|ns.example.com./A" },
		{ "its own zone, with AA",
		  "www.example.com.",
		  TYPE_A,
		  0,
		  FLAG_AA,
		  false,
		  NULL,
		  { NULL, NS, GLUE },
		  "||" },
	};

	for (size_t i = 0; i < COUNT(rows); i++)
		check(&rows[i]);
}

#define LONG63 "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
#define LONG \
	LONG63 "." LONG63 "." LONG63 ".aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa."

static void aliases_are_followed_and_made_anew(void **state)
{
	(void)state;
	static const struct row rows[] = {
		{ "to be asked again",
		  "www.example.com.",
		  TYPE_A,
		  0,
		  FLAG_AA,
		  false,
		  NULL,
		  { "www.example.com. 60 CNAME x.example.com.\nx.example.com. 60 A 192.0.2.1" },
		  "www.example.com./CNAME||" },
		{ "but a forwarder knows",
		  "www.example.com.",
		  TYPE_A,
		  0,
		  0,
		  true,
		  NULL,
		  { "www.example.com. 60 CNAME x.example.com.\nx.example.com. 60 A 192.0.2.1" },
		  "www.example.com./CNAME x.example.com./A||" },
		{ "though nothing outside its zone",
		  "www.example.com.",
		  TYPE_A,
		  0,
		  0,
		  true,
		  NULL,
		  { "www.example.com. 60 CNAME x.org.\nx.org. 60 A 192.0.2.1" },
		  "www.example.com./CNAME||" },
		{ "in the wrong order",
		  "www.example.com.",
		  TYPE_A,
		  0,
		  0,
		  true,
		  NULL,
		  { "x.example.com. 60 A 192.0.2.1\nwww.example.com. 60 CNAME x.example.com." },
		  "www.example.com./CNAME x.example.com./A||" },
		{ "in a circle",
		  "a.example.com.",
		  TYPE_A,
		  0,
		  0,
		  true,
		  NULL,
		  { "a.example.com. 60 CNAME b.example.com.\nb.example.com. 60 CNAME "
		    "a.example.com." },
		  "a.example.com./CNAME b.example.com./CNAME||" },
		{ "no more than so many",
		  "a.example.com.",
		  TYPE_A,
		  0,
		  0,
		  true,
		  "iter-scrub-cname: 1",
		  { "a.example.com. 60 CNAME b.example.com.\nb.example.com. 60 CNAME "
		    "c.example.com.\n"
		    "c.example.com. 60 A 192.0.2.1" },
		  "a.example.com./CNAME||" },
		{ "the alias itself",
		  "www.example.com.",
		  TYPE_CNAME,
		  0,
		  FLAG_AA,
		  false,
		  NULL,
		  { "www.example.com. 60 CNAME x.example.com.\nx.example.com. 60 A 192.0.2.1" },
		  "www.example.com./CNAME||" },
		{ "two at once: the first",
		  "www.example.com.",
		  TYPE_A,
		  0,
		  FLAG_AA,
		  false,
		  NULL,
		  { "www.example.com. 60 CNAME x.example.com.\nwww.example.com. 60 CNAME "
		    "y.example.com." },
		  "www.example.com./CNAME||" },
		{ "DNAME",
		  "a.d.example.com.",
		  TYPE_A,
		  0,
		  FLAG_AA,
		  false,
		  NULL,
		  { "d.example.com. 60 DNAME e.example.com." },
		  "d.example.com./DNAME a.d.example.com./CNAME||" },
		{ "DNAME from above the zone",
		  "a.example.com.",
		  TYPE_A,
		  0,
		  FLAG_AA,
		  false,
		  NULL,
		  { "com. 60 DNAME org." },
		  "||" },
		{ "DNAME, asked for",
		  "d.example.com.",
		  TYPE_DNAME,
		  0,
		  FLAG_AA,
		  false,
		  NULL,
		  { "d.example.com. 60 DNAME e.example.com." },
		  "d.example.com./DNAME||" },
		{ "DNAME that makes too long a name",
		  LONG63 ".d.example.com.",
		  TYPE_A,
		  6,
		  FLAG_AA,
		  false,
		  NULL,
		  { "d.example.com. 60 DNAME " LONG },
		  "d.example.com./DNAME||" },
		{ "which is not admitted",
		  LONG63 ".d.example.com.",
		  TYPE_A,
		  0,
		  FLAG_AA,
		  false,
		  NULL,
		  { "d.example.com. 60 DNAME " LONG },
		  NULL },
	};

	for (size_t i = 0; i < COUNT(rows); i++)
		check(&rows[i]);
}

static void a_false_cname_beside_a_dname_is_replaced(void **state)
{
	(void)state;
	struct made how = { "a.d.example.com.",
			    TYPE_A,
			    0,
			    { "d.example.com. 60 DNAME e.example.com.\n"
			      "a.d.example.com. 600 CNAME evil.example.com." } };
	struct snapshot options;
	struct arena a;

	arena_init(&a);
	struct message *m = made_message(&a, NOW, &how);
	struct question asked = m->q;
	m->flags = FLAG_QR | FLAG_AA;
	assert_true(scrub(m, &(struct scrub_how){ .asked = &asked,
						  .zone = dname_root,
						  .arena = &a,
						  .snapshot = options_with(NULL, &options) }));
	assert_int_equal(m->count[SECTION_ANSWER], 2);
	assert_true(dname_equals(rrset_target(m->sets[1], 0), N("a.e.example.com.")));
	assert_int_equal(m->sets[1]->ttl_s, 60);
	conf_free(options.conf);
	arena_clear(&a);
}

static void trust_follows_section_and_authority(void **state)
{
	(void)state;
	static const struct {
		const char *why;
		uint16_t flags;
		uint8_t answer, authority, additional;
	} rows[] = {
		{ "with AA", FLAG_AA, TRUST_ANS_AA, TRUST_AUTH_AA, TRUST_ADD_AA },
		{ "without", 0, TRUST_ANS_NOAA, TRUST_AUTH_NOAA, TRUST_ADD_NOAA },
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		struct made how = { "www.example.com.", TYPE_A, 0, { A, NS, GLUE } };
		struct snapshot options;
		struct arena a;

		arena_init(&a);
		struct message *m = made_message(&a, NOW, &how);
		struct question asked = m->q;
		m->flags = FLAG_QR | rows[i].flags;
		assert_true(scrub(
			m, &(struct scrub_how){ .asked = &asked,
						.zone = dname_root,
						.arena = &a,
						.snapshot = options_with(
							"iter-scrub-promiscuous: no", &options) }));
		if (m->sets[0]->trust != rows[i].answer || m->sets[1]->trust != rows[i].authority ||
		    m->sets[2]->trust != rows[i].additional)
			fail_msg("%s: %u %u %u", rows[i].why, m->sets[0]->trust, m->sets[1]->trust,
				 m->sets[2]->trust);
		conf_free(options.conf);
		arena_clear(&a);
	}
}

static void private_addresses_are_taken_out(void **state)
{
	(void)state;
	static const struct {
		const char *why, *name;
		uint16_t type;
		const char *answer, *want;
		bool held;
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
							  .held = rows[i].held,
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

/* Each address is compared with each name that may call for it, so that there is an end to these. */
static void thousands_of_hosts_are_not_all_looked_for(void **state)
{
	(void)state;
	static const unsigned counts[][2] = { { 1, 1 }, { 64, 2 }, { 65, 2 }, { 300, 2 } };
	static const char addresses[] = "h0.example.com. 60 A 192.0.2.1\n"
					"h63.example.com. 60 A 192.0.2.1\n"
					"h64.example.com. 60 A 192.0.2.1\n"
					"h299.example.com. 60 A 192.0.2.1\n";
	char hosts[20000];

	for (size_t i = 0; i < COUNT(counts); i++) {
		struct made how = { "www.example.com.", TYPE_MX, RCODE_NOERROR, { hosts, NULL, addresses } };
		struct snapshot options;
		struct arena a;
		struct message *m;
		size_t len = 0;

		for (unsigned k = 0; k < counts[i][0]; k++)
			len += (size_t)snprintf(hosts + len, sizeof(hosts) - len,
						"www.example.com. 60 MX 1 h%u.example.com.\n", k);
		arena_init(&a);
		m = made_message(&a, NOW, &how);
		m->flags = FLAG_QR | FLAG_AA;
		struct question asked = m->q;
		assert_true(scrub(m, &(struct scrub_how){
					     .asked = &asked,
					     .zone = N("example.com."),
					     .snapshot = options_with(NULL, &options),
					     .arena = &a,
				     }));
		assert_int_equal(m->count[SECTION_ANSWER], 1);
		assert_int_equal(m->count[SECTION_ADDITIONAL], counts[i][1]);
		conf_free(options.conf);
		arena_clear(&a);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_answer_to_something_else_is_refused),
		cmocka_unit_test(only_what_was_called_for_stays),
		cmocka_unit_test(a_referral_brings_its_own_glue_only),
		cmocka_unit_test(aliases_are_followed_and_made_anew),
		cmocka_unit_test(a_false_cname_beside_a_dname_is_replaced),
		cmocka_unit_test(trust_follows_section_and_authority),
		cmocka_unit_test(private_addresses_are_taken_out),
		cmocka_unit_test(sets_are_cut_to_their_limits),
		cmocka_unit_test(thousands_of_hosts_are_not_all_looked_for),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
