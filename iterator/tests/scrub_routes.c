/* Claims about responses where the operator says who is asked for some names.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "iterator/tests/scrub_row.h"

#include "iterator/route_zone.h"
#include "iterator/tests/fixture.h"
#include "services/forward/forward.h"

#define APART  "forward-zone: name: sub.example.com\n forward-addr: 192.0.2.1\n"
#define EXCEPT "forward-zone: name: example.com\n forward-addr: 192.0.2.1\nforward-zone: name: sub.example.com\n"
#define BOTH   "forward-zone: name: example.com\n forward-addr: 192.0.2.1\n" APART
#define OPEN   "server: harden-glue: no\n"
#define MEANT  "server: harden-unverified-glue: yes\n"

static void others_have_no_say_about_names_configured_apart(void **state)
{
	static const struct {
		const char *why, *conf, *zone, *failed; /* whose server says it; what has failed before */
		const char *name;
		uint16_t type;
		const char *section[3], *want;
		int flags; /* of the last RRset; -1: any */
	} rows[] = {
		{ "a chain", "", "example.com.", NULL, "www.example.com.", TYPE_A,
		  { "www.example.com. 60 CNAME b.sub.example.com.\nb.sub.example.com. 60 A 192.0.2.7" },
		  "www.example.com./CNAME b.sub.example.com./A||", -1 },
		{ "a chain that leads there", APART, "example.com.", NULL, "www.example.com.", TYPE_A,
		  { "www.example.com. 60 CNAME b.sub.example.com.\nb.sub.example.com. 60 A 192.0.2.7" },
		  "www.example.com./CNAME||", -1 },
		{ "a chain that goes on there", APART, "example.com.", NULL, "www.example.com.", TYPE_A,
		  { "www.example.com. 60 CNAME b.sub.example.com.\nb.sub.example.com. 60 CNAME c.example.com." },
		  "www.example.com./CNAME||", -1 },
		{ "a chain that leads out of it", BOTH, "com.", NULL, "www.sub.example.com.", TYPE_A,
		  { "www.sub.example.com. 60 CNAME b.example.com.\nb.example.com. 60 A 192.0.2.7" },
		  "www.sub.example.com./CNAME||", -1 },
		{ "which goes on where that has failed", BOTH, "com.", "sub.example.com.", "www.sub.example.com.", TYPE_A,
		  { "www.sub.example.com. 60 CNAME b.example.com.\nb.example.com. 60 A 192.0.2.7" },
		  "www.sub.example.com./CNAME b.example.com./A||", -1 },
		{ "a DNAME from above it", APART, "com.", NULL, "example.com.", TYPE_A,
		  { "example.com. 60 CNAME b.sub.example.com.\nexample.com. 60 DNAME org." }, "example.com./CNAME||", -1 },
		{ "a DNAME that would reach into it", APART, "example.com.", NULL, "w.d.example.com.", TYPE_A,
		  { "d.example.com. 60 DNAME sub.example.com.\nexample.com. 60 DNAME com." },
		  "d.example.com./DNAME w.d.example.com./CNAME||", -1 },
		{ "a DS stands above it", APART, "example.com.", NULL, "sub.example.com.", TYPE_DS,
		  { "sub.example.com. 60 DS 1 8 2 00" }, "sub.example.com./DS||", -1 },
		{ "a DS below it does not", APART, "example.com.", NULL, "sub.example.com.", TYPE_DS,
		  { "sub.example.com. 60 CNAME a.sub.example.com." }, "||", -1 },
		{ "a mail server", "", "example.com.", NULL, "www.example.com.", TYPE_MX,
		  { "www.example.com. 60 MX 1 h.sub.example.com.", NULL, "h.sub.example.com. 60 A 192.0.2.7" },
		  "www.example.com./MX||h.sub.example.com./A", 0 },
		{ "a mail server there", APART, "example.com.", NULL, "www.example.com.", TYPE_MX,
		  { "www.example.com. 60 MX 1 h.sub.example.com.", NULL, "h.sub.example.com. 60 A 192.0.2.7" },
		  "www.example.com./MX||", -1 },
		{ "a name server there", APART, "example.com.", NULL, "www.example.com.", TYPE_NS,
		  { "www.example.com. 60 NS h.sub.example.com.", NULL, "h.sub.example.com. 60 A 192.0.2.7" },
		  "www.example.com./NS||", -1 },
		{ "records beside an answer", APART, "example.com.", NULL, "www.example.com.", TYPE_A,
		  { "www.example.com. 60 A 192.0.2.7", "b.sub.example.com. 60 TXT x\nb.example.com. 60 TXT x",
		    "b.sub.example.com. 60 TXT x\nb.example.com. 60 TXT x" },
		  "www.example.com./A|b.example.com./TXT|b.example.com./TXT", -1 },
		{ "glue for others", APART, "example.com.", NULL, "www.b.example.com.", TYPE_A,
		  { NULL, "b.example.com. 60 NS h.sub.example.com.", "h.sub.example.com. 60 A 192.0.2.7" },
		  "|b.example.com./NS|h.sub.example.com./A", RRSET_GLUE_APART },
		{ "which any may be", OPEN APART, "example.com.", NULL, "www.b.example.com.", TYPE_A,
		  { NULL, "b.example.com. 60 NS h.sub.example.com.", "h.sub.example.com. 60 A 192.0.2.7" },
		  "|b.example.com./NS|h.sub.example.com./A", 0 },
		{ "which is a last resort", MEANT APART, "example.com.", NULL, "www.b.example.com.", TYPE_A,
		  { NULL, "b.example.com. 60 NS h.sub.example.com.", "h.sub.example.com. 60 A 192.0.2.7" },
		  "|b.example.com./NS|h.sub.example.com./A", RRSET_UNVERIFIED_GLUE },
		{ "what leads down to an exception", EXCEPT, "com.", NULL, "www.sub.example.com.", TYPE_A,
		  { NULL, "example.com. 60 NS ns.example.com.", "ns.example.com. 60 A 192.0.2.7" },
		  "|example.com./NS|ns.example.com./A", 0 },
		{ "and denies it", EXCEPT, "com.", NULL, "www.sub.example.com.", TYPE_A,
		  { NULL, "example.com. 60 SOA a. b. 1 2 3 4 5" }, "|example.com./SOA|", -1 },
		{ "but no answer from there", EXCEPT, "com.", NULL, "www.sub.example.com.", TYPE_A,
		  { "www.sub.example.com. 60 CNAME b.example.com.\nb.example.com. 60 A 192.0.2.7" },
		  "www.sub.example.com./CNAME||", -1 },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		struct made how = { rows[i].name, rows[i].type, 0,
				    { rows[i].section[0], rows[i].section[1], rows[i].section[2] } };
		const struct forward_zone *failed;
		const uint8_t *look;
		struct message *m;
		char got[512];

		fixture_begin(rows[i].conf, rows[i].name, rows[i].type, 0);
		m = made_message(fixture.arena, fixture.now_s, &how);
		m->flags = FLAG_QR | FLAG_AA;
		look = route_look_name(fixture.it.want.name, rows[i].type);
		failed = rows[i].failed ? forwards_find_exact(fixture.snapshot->forwards, N(rows[i].failed)) : NULL;
		assert_true(scrub(m, &(struct scrub_how){
					     .asked = &fixture.it.want,
					     .zone = N(rows[i].zone),
					     .snapshot = fixture.snapshot,
					     .forwarder = true,
					     .q = fixture.q,
					     .look = look,
					     .configured = { route_zone(fixture.q, look, NULL),
							     route_zone_past(fixture.q, look, failed, NULL) },
					     .arena = fixture.arena }));
		if (strcmp(sections(m, got, sizeof(got)), rows[i].want) != 0)
			fail_msg("%s: %s", rows[i].why, got);
		if (rows[i].flags >= 0)
			assert_int_equal(m->sets[message_set_count(m) - 1]->flags, rows[i].flags);
		fixture_end();
	}
}

#define CNAME "www.example.com. 60 CNAME b.sub.example.com.\n"
#define DATA  "b.sub.example.com. 60 A 192.0.2.7"
#define SIG   "\nb.sub.example.com. 60 RRSIG A 13 4 60 20300101000000 20200101000000 1 example.com. AA=="

/* Which the zone's servers prove, if it is in the zone; of what they merely say the owner's servers are asked. */
static void the_signed_data_of_a_target_is_taken_with_its_alias(void **state)
{
	static const struct {
		const char *why, *conf, *zone, *cut;
		bool whole;
		uint16_t flags, rcode;
		const char *answer;
		bool taken;
	} rows[] = {
		{ "it is", "", "example.com.", NULL, true, FLAG_AA, 0, CNAME DATA SIG, true },
		{ "without a signature it is not", "", "example.com.", NULL, true, FLAG_AA, 0, CNAME DATA, false },
		{ "nor where nobody validates", "", "example.com.", NULL, false, FLAG_AA, 0, CNAME DATA SIG, false },
		{ "nor from a cache", "", "example.com.", NULL, true, 0, 0, CNAME DATA SIG, false },
		{ "nor under a denial", "", "example.com.", NULL, true, FLAG_AA, RCODE_NXDOMAIN, CNAME DATA SIG, false },
		{ "nor below a cut", "", "example.com.", "sub.example.com. 60 NS ns.", true, FLAG_AA, 0, CNAME DATA SIG, false },
		{ "nor at one", "", "example.com.", "b.sub.example.com. 60 NS ns.", true, FLAG_AA, 0, CNAME DATA SIG, false },
		{ "the zone's own cut is none", "", "example.com.", "example.com. 60 NS ns.", true, FLAG_AA, 0, CNAME DATA SIG, true },
		{ "nor outside the zone", "", "www.example.com.", NULL, true, FLAG_AA, 0, CNAME DATA SIG, false },
		{ "nor where others are asked", APART, "example.com.", NULL, true, FLAG_AA, 0, CNAME DATA SIG, false },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		struct made how = { "www.example.com.", TYPE_A, (uint8_t)rows[i].rcode, { rows[i].answer } };
		struct message *m;
		unsigned want = rows[i].taken ? 2 : 1;

		fixture_begin(rows[i].conf, "www.example.com.", TYPE_A, 0);
		m = made_message(fixture.arena, fixture.now_s, &how);
		m->flags = FLAG_QR | rows[i].flags;
		if (rows[i].cut)
			assert_non_null(rrsetcache_put(fixture.env.rrsets, made_set(fixture.arena, fixture.now_s, rows[i].cut),
						       fixture.now_s, fixture.arena));
		assert_true(scrub(m, &(struct scrub_how){
					     .asked = &fixture.it.want,
					     .zone = N(rows[i].zone),
					     .snapshot = fixture.snapshot,
					     .whole = rows[i].whole,
					     .q = fixture.q,
					     .look = fixture.it.want.name,
					     .arena = fixture.arena }));
		if (m->count[SECTION_ANSWER] != want)
			fail_msg("%s: %u RRsets", rows[i].why, m->count[SECTION_ANSWER]);
		fixture_end();
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(others_have_no_say_about_names_configured_apart),
		cmocka_unit_test(the_signed_data_of_a_target_is_taken_with_its_alias),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
