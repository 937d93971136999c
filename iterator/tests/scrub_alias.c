/* Claims about aliases in a response, and about how far it is trusted.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "iterator/tests/scrub_row.h"

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
		{ "whatever CNAME there is",
		  LONG63 ".d.example.com.",
		  TYPE_A,
		  6,
		  FLAG_AA,
		  false,
		  NULL,
		  { "d.example.com. 60 DNAME " LONG "\n" LONG63 ".d.example.com. 60 CNAME x." },
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

/* Of what is at the end of a chain the server need not know anything (RFC 2181 5.4.1). */
static void of_a_chain_only_the_first_link_is_authoritative(void **state)
{
	static const struct {
		const char *why, *name;
		uint16_t type, flags;
		const char *answer;
		uint8_t want[4];
	} rows[] = {
		{ "data", "a.example.com.", TYPE_A, FLAG_AA, "a.example.com. 60 A 192.0.2.1", { TRUST_ANS_AA } },
		{ "aliases", "a.example.com.", TYPE_A, FLAG_AA,
		  "a.example.com. 60 CNAME b.example.com.\nb.example.com. 60 CNAME c.example.com.\n"
		  "c.example.com. 60 A 192.0.2.1",
		  { TRUST_ANS_AA, TRUST_NONAUTH_ANS_AA, TRUST_NONAUTH_ANS_AA } },
		{ "a DNAME and what is made from it", "a.d.example.com.", TYPE_A, FLAG_AA,
		  "d.example.com. 60 DNAME e.example.com.\na.e.example.com. 60 CNAME c.example.com.\n"
		  "c.example.com. 60 A 192.0.2.1",
		  { TRUST_ANS_AA, TRUST_ANS_AA, TRUST_NONAUTH_ANS_AA, TRUST_NONAUTH_ANS_AA } },
		{ "not even that", "a.example.com.", TYPE_A, 0,
		  "a.example.com. 60 CNAME b.example.com.\nb.example.com. 60 A 192.0.2.1",
		  { TRUST_ANS_NOAA, TRUST_ANS_NOAA } },
		{ "all types at the name", "a.example.com.", TYPE_ANY, FLAG_AA,
		  "a.example.com. 60 A 192.0.2.1\na.example.com. 60 TXT x\na.example.com. 60 MX 1 b.",
		  { TRUST_ANS_AA, TRUST_ANS_AA, TRUST_ANS_AA } },
		{ "a DNAME asked for", "d.example.com.", TYPE_ANY, FLAG_AA,
		  "d.example.com. 60 DNAME e.\nd.example.com. 60 TXT x\nd.example.com. 60 MX 1 b.",
		  { TRUST_ANS_AA, TRUST_ANS_AA, TRUST_ANS_AA } },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		struct made how = { rows[i].name, rows[i].type, 0, { rows[i].answer } };
		struct snapshot options;
		struct message *m;
		struct arena a;
		unsigned count = 0;

		arena_init(&a);
		m = made_message(&a, NOW, &how);
		m->flags = FLAG_QR | rows[i].flags;
		struct question asked = m->q;
		assert_true(scrub(m, &(struct scrub_how){ .asked = &asked,
							  .zone = N("example.com."),
							  .forwarder = true,
							  .arena = &a,
							  .snapshot = options_with(NULL, &options) }));
		while (count < 4 && rows[i].want[count])
			count++;
		assert_int_equal(message_set_count(m), count);
		for (unsigned s = 0; s < count; s++)
			if (m->sets[s]->trust != rows[i].want[s])
				fail_msg("%s: %u of %u", rows[i].why, m->sets[s]->trust, s);
		conf_free(options.conf);
		arena_clear(&a);
	}
}

/* Also where it was asked for. */
static void the_cname_of_a_dname_is_the_servers_if_it_agrees(void **state)
{
	static const struct {
		const char *why, *answer;
		uint32_t want_s;
	} rows[] = {
		{ "it agrees", "d.example.com. 60 DNAME e.example.com.\na.d.example.com. 90 CNAME a.e.example.com.", 90 },
		{ "in other letters", "d.example.com. 60 DNAME e.example.com.\na.d.example.com. 90 CNAME A.e.example.com.",
		  90 },
		{ "it does not", "d.example.com. 60 DNAME e.example.com.\na.d.example.com. 90 CNAME b.e.example.com.", 60 },
		{ "it is not there", "d.example.com. 60 DNAME e.example.com.", 60 },
		{ "there is another DNAME", "a.d.example.com. 5 DNAME f.example.com.\nd.example.com. 60 DNAME e.example.com.",
		  60 },
		{ "or of two the first", "d.example.com. 60 DNAME e.example.com.\nexample.com. 5 DNAME e.example.com.", 60 },
		{ "twice, of which the first counts",
		  "d.example.com. 60 DNAME e.example.com.\nd.example.com. 60 DNAME f.example.com.", 60 },
	};

	(void)state;
	for (size_t i = 0; i < 2 * COUNT(rows); i++) {
		struct made how = { "a.d.example.com.", i % 2 ? TYPE_CNAME : TYPE_A, 0, { rows[i / 2].answer } };
		struct snapshot options;
		struct message *m;
		struct arena a;

		arena_init(&a);
		m = made_message(&a, NOW, &how);
		m->flags = FLAG_QR | FLAG_AA;
		struct question asked = m->q;
		assert_true(scrub(m, &(struct scrub_how){ .asked = &asked,
							  .zone = N("example.com."),
							  .arena = &a,
							  .snapshot = options_with("iter-scrub-cname: 1", &options) }));
		if (m->count[SECTION_ANSWER] != 2 || m->sets[0]->type != TYPE_DNAME || m->sets[0]->count != 1 ||
		    m->sets[1]->ttl_s != rows[i / 2].want_s || m->sets[1]->expires_s != NOW + rows[i / 2].want_s)
			fail_msg("%s", rows[i / 2].why);
		assert_name_is(rrset_owner(m->sets[1]), "a.d.example.com.");
		assert_true(dname_equals(rrset_target(m->sets[1], 0), N("a.e.example.com.")));
		conf_free(options.conf);
		arena_clear(&a);
	}
}

#define LINK(a, b) #a ".example.com. 60 CNAME " #b ".example.com.\n"

static void what_was_asked_for_decides_what_an_alias_is(void **state)
{
	(void)state;
	static const struct row rows[] = {
		{ "data before an alias that should not be there", "w.example.com.", TYPE_A, 0, FLAG_AA, false, NULL,
		  { "w.example.com. 60 A 192.0.2.1\nw.example.com. 60 CNAME x.example.com." }, "w.example.com./A||" },
		{ "behind other data", "w.example.com.", TYPE_A, 0, FLAG_AA, false, NULL,
		  { "w.example.com. 60 TXT x\nw.example.com. 60 A 192.0.2.1\nw.example.com. 60 CNAME x.example.com." },
		  "w.example.com./A||" },
		{ "data of another class before it", "w.example.com.", TYPE_A, 0, FLAG_AA, false, NULL,
		  { "w.example.com. 60 CH A 192.0.2.1\nw.example.com. 60 CNAME x.example.com." }, "w.example.com./CNAME||" },
		{ "data above it that is no DNAME", "w.example.com.", TYPE_A, 0, FLAG_AA, false, NULL,
		  { "example.com. 60 NS x.example.com.\nw.example.com. 60 A 192.0.2.1" }, "w.example.com./A||" },
		{ "all types from a forwarder", "w.example.com.", TYPE_ANY, 0, 0, true, NULL,
		  { "w.example.com. 60 CNAME x.example.com.\nx.example.com. 60 A 192.0.2.1" }, "w.example.com./CNAME||" },
		{ "the alias from a forwarder", "w.example.com.", TYPE_CNAME, 0, 0, true, NULL,
		  { "w.example.com. 60 CNAME x.example.com.\nx.example.com. 60 CNAME y.example.com." },
		  "w.example.com./CNAME||" },
		{ "the same, as a DNAME makes it", "w.d.example.com.", TYPE_CNAME, 0, 0, true, NULL,
		  { "d.example.com. 60 DNAME e.example.com.\nw.e.example.com. 60 CNAME y.example.com." },
		  "d.example.com./DNAME w.d.example.com./CNAME||" },
		{ "data behind it", "w.example.com.", TYPE_A, 0, FLAG_AA, false, NULL,
		  { "w.example.com. 60 CNAME x.example.com.\nw.example.com. 60 A 192.0.2.1" }, "w.example.com./CNAME||" },
		{ "other data before it", "w.example.com.", TYPE_A, 0, FLAG_AA, false, NULL,
		  { "w.example.com. 60 TXT x\nx.example.com. 60 A 192.0.2.1\nw.example.com. 60 CNAME x.example.com." },
		  "w.example.com./CNAME||" },
		{ "data, but covered by a DNAME", "w.d.example.com.", TYPE_A, 0, FLAG_AA, false, NULL,
		  { "w.d.example.com. 60 A 192.0.2.1\nd.example.com. 60 DNAME e.example.com." },
		  "d.example.com./DNAME w.d.example.com./CNAME||" },
		{ "all types, one of them an alias", "w.example.com.", TYPE_ANY, 0, FLAG_AA, false, NULL,
		  { "w.example.com. 60 CNAME x.example.com.\nx.example.com. 60 A 192.0.2.1" }, "w.example.com./CNAME||" },
		{ "the alias, as a DNAME makes it", "w.d.example.com.", TYPE_CNAME, 0, FLAG_AA, false, NULL,
		  { "d.example.com. 60 DNAME e.example.com.\nw.d.example.com. 60 CNAME w.e.example.com." },
		  "d.example.com./DNAME w.d.example.com./CNAME||" },
		{ "the alias that a DNAME only allows to be made", "w.d.example.com.", TYPE_CNAME, 0, FLAG_AA, false, NULL,
		  { "d.example.com. 60 DNAME e.example.com." }, "d.example.com./DNAME w.d.example.com./CNAME||" },
		{ "all types below a DNAME", "w.d.example.com.", TYPE_ANY, 0, FLAG_AA, false, NULL,
		  { "d.example.com. 60 DNAME e.example.com.\nw.d.example.com. 60 CNAME w.e.example.com." },
		  "d.example.com./DNAME w.d.example.com./CNAME||" },
		{ "as many links as allowed", "a.example.com.", TYPE_A, 0, 0, true, "iter-scrub-cname: 2",
		  { LINK(a, b) LINK(b, c) "c.example.com. 60 A 192.0.2.1" },
		  "a.example.com./CNAME b.example.com./CNAME||" },
		{ "one less", "a.example.com.", TYPE_A, 0, 0, true, "iter-scrub-cname: 3",
		  { LINK(a, b) LINK(b, c) "c.example.com. 60 A 192.0.2.1" },
		  "a.example.com./CNAME b.example.com./CNAME c.example.com./A||" },
		{ "the other way round", "a.example.com.", TYPE_A, 0, 0, true, "iter-scrub-cname: 3",
		  { LINK(b, c) LINK(a, b) "c.example.com. 60 A 192.0.2.1" },
		  "a.example.com./CNAME b.example.com./CNAME c.example.com./A||" },
		{ "of another class", "www.example.com.", TYPE_A, 0, FLAG_AA, false, NULL,
		  { "www.example.com. 60 CH A 192.0.2.1" }, "||" },
		{ "an alias of another class", "www.example.com.", TYPE_A, 0, FLAG_AA, false, NULL,
		  { "www.example.com. 60 CH CNAME x.example.com." }, "||" },
		{ "one DNAME for two links", "a.d.example.com.", TYPE_A, 0, 0, true, NULL,
		  { "d.example.com. 60 DNAME e.example.com.\na.e.example.com. 60 CNAME b.d.example.com.\n"
		    "b.e.example.com. 60 A 192.0.2.1" },
		  "d.example.com./DNAME a.d.example.com./CNAME a.e.example.com./CNAME b.d.example.com./CNAME "
		  "b.e.example.com./A||" },
	};

	for (size_t i = 0; i < COUNT(rows); i++)
		check(&rows[i]);
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
		((struct rrset *)(uintptr_t)m->sets[0])->security = SECURITY_SECURE; /* which nobody has checked */
		assert_true(scrub(
			m, &(struct scrub_how){ .asked = &asked,
						.zone = dname_root,
						.arena = &a,
						.snapshot = options_with(
							"iter-scrub-promiscuous: no", &options) }));
		assert_int_equal(m->sets[0]->security, SECURITY_UNCHECKED);
		if (m->sets[0]->trust != rows[i].answer || m->sets[1]->trust != rows[i].authority ||
		    m->sets[2]->trust != rows[i].additional)
			fail_msg("%s: %u %u %u", rows[i].why, m->sets[0]->trust, m->sets[1]->trust,
				 m->sets[2]->trust);
		conf_free(options.conf);
		arena_clear(&a);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(aliases_are_followed_and_made_anew),
		cmocka_unit_test(a_false_cname_beside_a_dname_is_replaced),
		cmocka_unit_test(of_a_chain_only_the_first_link_is_authoritative),
		cmocka_unit_test(the_cname_of_a_dname_is_the_servers_if_it_agrees),
		cmocka_unit_test(what_was_asked_for_decides_what_an_alias_is),
		cmocka_unit_test(trust_follows_section_and_authority),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
