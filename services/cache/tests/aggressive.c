/* Claims about what the negative cache makes of the denials it has, and how it keeps to its memory.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "services/cache/tests/denials.h"

/* ---- answers ---- */

enum made_of { NOTHING, NAME_ERROR, NO_DATA };

static void a_zone_speaks_of_all_its_names(void **state)
{
	(void)state;
	/* whatever zone it is, but for what opting out leaves open (last column) */
	static const struct {
		const char *why, *name;
		uint16_t type;
		enum made_of want, want_optout;
	} rows[] = {
		{ "no such name", "nope.d.test.", TYPE_A, NAME_ERROR, NOTHING },
		{ "nothing of any kind either", "nope.d.test.", TYPE_ANY, NAME_ERROR, NOTHING },
		{ "far below nothing", "a.b.c.nope.d.test.", TYPE_MX, NAME_ERROR, NOTHING },
		{ "below a name", "below.b.d.test.", TYPE_A, NAME_ERROR, NOTHING },
		{ "a name without the type", "b.d.test.", TYPE_AAAA, NO_DATA, NOTHING },
		{ "a name with the type", "b.d.test.", TYPE_A, NOTHING, NOTHING },
		{ "all types of a name", "b.d.test.", TYPE_ANY, NOTHING, NOTHING },
		{ "the apex", "d.test.", TYPE_LOC, NO_DATA, NO_DATA },
		{ "an alias", "cn.d.test.", TYPE_A, NOTHING, NOTHING },
		{ "below a DNAME", "x.dn.d.test.", TYPE_A, NOTHING, NOTHING },
		{ "an empty non-terminal", "ent.d.test.", TYPE_A, NO_DATA, NOTHING },
		{ "at a cut", "uns.d.test.", TYPE_A, NOTHING, NOTHING },
		{ "below a cut", "www.uns.d.test.", TYPE_A, NOTHING, NOTHING },
		{ "below a signed cut", "www.sec.d.test.", TYPE_A, NOTHING, NOTHING },
		{ "a signed cut's DS", "sec.d.test.", TYPE_DS, NOTHING, NOTHING },
		{ "what a wildcard does not have", "foo.w.d.test.", TYPE_A, NO_DATA, NOTHING },
		{ "what a wildcard has", "foo.w.d.test.", TYPE_TXT, NOTHING, NOTHING },
		{ "a name beside a wildcard", "x.w.d.test.", TYPE_TXT, NO_DATA, NOTHING },
		{ "another zone's name", "nope.e.test.", TYPE_A, NOTHING, NOTHING },
		{ "the apex's DS is its parent's", "d.test.", TYPE_DS, NOTHING, NOTHING },
	};
	struct rrsetcache *rrsets = rrsetcache_new(1 << 20, 1);

	for (int zone = NSEC; zone <= OPTOUT; zone++) {
		struct aggressive *c = aggressive_new(1 << 20, 4);

		teach_zone(c, zone);
		for (size_t i = 0; i < COUNT(rows); i++) {
			const struct message *m =
				answer_within(c, rrsets, rows[i].name, rows[i].type, ".", NOW + 1);
			enum made_of want = zone == OPTOUT ? rows[i].want_optout : rows[i].want;
			enum made_of got = !m                           ? NOTHING
					   : m->rcode == RCODE_NXDOMAIN ? NAME_ERROR
									: NO_DATA;

			if (got != want)
				fail_msg("%s, %s: %d, not %d", zone_files[zone], rows[i].why, got,
					 want);
			if (!m)
				continue;
			if (m->security != SECURITY_SECURE || m->count[SECTION_ANSWER] ||
			    !message_find(m, SECTION_AUTHORITY, N("d.test."), TYPE_SOA, CLASS_IN))
				fail_msg("%s: no proper denial", rows[i].why);
			/* RFC 2308 5, 9077: the SOA's last field is the least */
			if (message_ttl(m, NOW + 1, 0) != 199)
				fail_msg("%s: TTL %u", rows[i].why, message_ttl(m, NOW + 1, 0));
		}
		aggressive_free(c);
	}
	rrsetcache_free(rrsets);
}

static void what_is_given_proves_itself(void **state)
{
	(void)state;
	static const char *const names[] = { "nope.d.test.", "b.d.test.", "ent.d.test.",
					     "foo.w.d.test.", "a.b.nope.d.test." };
	struct rrsetcache *rrsets = rrsetcache_new(1 << 20, 1);

	for (int zone = NSEC; zone <= NSEC3; zone++) {
		struct aggressive *c = aggressive_new(1 << 20, 1);

		teach_zone(c, zone);
		for (size_t i = 0; i < COUNT(names); i++) {
			const struct message *m =
				answer_within(c, rrsets, names[i], TYPE_AAAA, ".", NOW);
			struct denial_evidence e;

			assert_non_null(m);
			denial_begin(&e, N("d.test."), 150, NULL);
			for (unsigned s = 0; s < m->count[SECTION_AUTHORITY]; s++)
				denial_add(&e, m->sets[s]);
			if ((m->rcode == RCODE_NXDOMAIN
				     ? denial_of_name(&e, m->q.name)
				     : denial_of_type(&e, m->q.name, TYPE_AAAA)) != DENIAL_PROVEN)
				fail_msg("%s: the answer does not prove it", names[i]);
		}
		aggressive_free(c);
	}
	rrsetcache_free(rrsets);
}

static void nobody_speaks_of_names_beyond_a_nearer_anchor(void **state)
{
	(void)state;
	static const struct {
		const char *within;
		bool said;
	} rows[] = {
		{ ".", true },
		{ "test.", true },
		{ "d.test.", true },
		{ "island.d.test.", false },
		{ "www.island.d.test.", false },
	};
	struct aggressive *c = aggressive_new(1 << 20, 1);
	struct rrsetcache *rrsets = rrsetcache_new(1 << 20, 1);

	teach_zone(c, NSEC);
	for (size_t i = 0; i < COUNT(rows); i++)
		if (!answer_within(c, rrsets, "www.island.d.test.", TYPE_A, rows[i].within, NOW) ==
		    rows[i].said)
			fail_msg("within %s", rows[i].within);
	rrsetcache_free(rrsets);
	aggressive_free(c);
}

/* ---- wildcards ---- */

static void a_wildcard_answers_for_other_names(void **state)
{
	(void)state;
	static const struct {
		const char *why, *name;
		uint16_t type, want; /* type of the set that is made; 0: nothing */
	} rows[] = {
		{ "another name", "foo.w.d.test.", TYPE_TXT, TYPE_TXT },
		{ "deeper", "foo.bar.w.d.test.", TYPE_TXT, TYPE_TXT },
		{ "a name that is there", "x.w.d.test.", TYPE_TXT, 0 },
		{ "below a name that is there", "y.x.w.d.test.", TYPE_TXT, 0 },
		{ "outside", "foo.v.d.test.", TYPE_TXT, 0 },
		{ "DS sets are no wildcard's", "foo.w.d.test.", TYPE_DS, 0 },
	};

	for (int zone = NSEC; zone <= OPTOUT; zone++) {
		struct aggressive *c = aggressive_new(1 << 20, 1);
		struct rrsetcache *rrsets = rrsetcache_new(1 << 20, 1);

		teach_zone(c, zone);
		aggressive_learn_wildcard(rrsets,
					secure("old.w.d.test. 60 TXT \"star\"\n"
					       "old.w.d.test." SIG("TXT", "3", "60", "d.test.")),
					NOW, &arena);
		for (size_t i = 0; i < COUNT(rows); i++) {
			const struct message *m =
				answer_within(c, rrsets, rows[i].name, rows[i].type, ".", NOW + 10);
			const struct rrset *set = m && m->count[SECTION_ANSWER] ? m->sets[0] : NULL;
			uint16_t want = zone == OPTOUT ? 0 : rows[i].want;

			if ((set ? set->type : 0) != want)
				fail_msg("%s, %s", zone_files[zone], rows[i].why);
			if (!set)
				continue;
			assert_true(dname_equals(rrset_owner(set), m->q.name));
			assert_int_equal(set->sig_count, 1);
			assert_int_equal(m->security, SECURITY_SECURE);
			assert_int_equal(m->count[SECTION_AUTHORITY], 1);
			assert_int_equal(message_ttl(m, NOW + 10, 0), 50);
		}
		rrsetcache_free(rrsets);
		aggressive_free(c);
	}
}

static void a_wildcard_may_lead_on(void **state)
{
	(void)state;
	static const uint16_t others[] = { TYPE_DS, TYPE_NSEC, TYPE_RRSIG, 25 /* KEY */ };
	struct aggressive *c = aggressive_new(1 << 20, 1);
	struct rrsetcache *rrsets = rrsetcache_new(1 << 20, 1);
	const struct message *m;

	teach(c, SOA_D "a.w.d.test. 300 NSEC z.w.d.test. A\n"
		    "a.w.d.test." SIG("NSEC", "4", "300", "d.test."));
	aggressive_learn_wildcard(rrsets,
				secure("old.w.d.test. 60 CNAME b.d.test.\n"
				       "old.w.d.test." SIG("CNAME", "3", "60", "d.test.")),
					NOW, &arena);
	m = answer_within(c, rrsets, "foo.w.d.test.", TYPE_A, ".", NOW);
	assert_non_null(m);
	assert_int_equal(m->sets[0]->type, TYPE_CNAME);
	for (size_t i = 0; i < COUNT(others); i++) /* what stands beside an alias, and what a zone above has */
		assert_null(answer_within(c, rrsets, "foo.w.d.test.", others[i], ".", NOW));
	assert_int_equal(m->rcode, RCODE_NOERROR);
	rrsetcache_free(rrsets);
	aggressive_free(c);
}

/* ---- cuts ---- */

static void cuts_are_known_without_asking(void **state)
{
	(void)state;
	static const struct {
		const char *why, *name;
		enum denial_cut nsec, nsec3, optout;
	} rows[] = {
		{ "an unsigned zone", "uns.d.test.", CUT_INSECURE, CUT_INSECURE, CUT_OPTOUT },
		{ "a signed one", "sec.d.test.", CUT_UNKNOWN, CUT_UNKNOWN, CUT_UNKNOWN },
		{ "a name", "b.d.test.", CUT_NONE, CUT_NONE, CUT_NONE },
		{ "an empty non-terminal", "ent.d.test.", CUT_NONE, CUT_NONE, CUT_NONE },
		{ "nothing, as yet", "nope.d.test.", CUT_UNKNOWN, CUT_UNKNOWN, CUT_OPTOUT },
		{ "the apex", "d.test.", CUT_UNKNOWN, CUT_UNKNOWN, CUT_UNKNOWN },
		{ "outside", "e.test.", CUT_UNKNOWN, CUT_UNKNOWN, CUT_UNKNOWN },
	};

	for (int zone = NSEC; zone <= OPTOUT; zone++) {
		struct aggressive *c = aggressive_new(1 << 20, 1);

		teach_zone(c, zone);
		for (size_t i = 0; i < COUNT(rows); i++) {
			struct aggressive_cut got =
				aggressive_ds(c, N("d.test."), N(rows[i].name), CLASS_IN, NOW + 50);
			enum denial_cut want = zone == NSEC    ? rows[i].nsec
					       : zone == NSEC3 ? rows[i].nsec3
							       : rows[i].optout;

			if (got.cut != want)
				fail_msg("%s, %s: %d, not %d", zone_files[zone], rows[i].why,
					 got.cut, want);
			if (want != CUT_UNKNOWN && got.ttl_s != 150)
				fail_msg("%s: for %u seconds", rows[i].why, got.ttl_s);
		}
		aggressive_free(c);
	}
}

static struct message *message_with(const struct rrset *const *sets, unsigned count)
{
	struct message *m = arena_new(&arena, struct message);

	m->q = made_question("d.test.", TYPE_A);
	m->sets = arena_array(&arena, const struct rrset *, count + 1);
	for (unsigned i = 0; i < count; i++)
		m->sets[i] = sets[i];
	m->count[SECTION_AUTHORITY] = (uint16_t)count;
	return m;
}

static void a_ds_set_of_a_referral_is_returned_once(void **state)
{
	(void)state;
	static const struct {
		const char *why, *text;
		uint32_t later_s;
		unsigned sets;
	} rows[] = {
		{ "a signed denial", BELOW("uns.d.test.", "v.d.test."), 0, 1 },
		{ "too late", BELOW("uns.d.test.", "v.d.test."), 60, 0 },
		{ "without a signature", "uns.d.test. 300 NSEC v.d.test. NS\n", 0, 0 },
		{ "beside the DS set itself",
		  BELOW("uns.d.test.", "v.d.test.") "uns.d.test. 300 DS 1 13 2 00\n", 0, 0 },
		{ "beside other sets",
		  "uns.d.test. 300 NS ns.uns.d.test.\n" BELOW("uns.d.test.", "v.d.test."), 0, 1 },
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		struct aggressive *c = aggressive_new(1 << 20, 1);
		const struct rrset *sets[MADE_SETS];
		unsigned count = made_sets(&arena, NOW, rows[i].text, sets);
		struct question ds = made_question("UNS.d.test.", TYPE_DS);
		const struct message *m;

		aggressive_hear(c, message_with(sets, count), N("uns.d.test."), CLASS_IN, NOW);
		m = aggressive_heard(c, &ds, &arena, NOW + rows[i].later_s);
		if ((m ? m->count[SECTION_AUTHORITY] : 0) != rows[i].sets)
			fail_msg("%s", rows[i].why);
		if (m) {
			assert_int_equal(m->security, SECURITY_UNCHECKED);
			assert_true(rrset_same_records(m->sets[0],
						       verified_set(secure(BELOW("uns.d.test.", "v.d.test.")))));
		}
		assert_null(aggressive_heard(c, &ds, &arena, NOW + rows[i].later_s));
		aggressive_free(c);
	}
}

/* ---- memory ---- */

static void memory_keeps_to_its_budget(void **state)
{
	(void)state;
	struct aggressive *c = aggressive_new(64 << 10, 1);
	struct rrsetcache *rrsets = rrsetcache_new(1 << 20, 1);
	struct aggressive_count n;

	teach(c, SOA_D BELOW("hot.d.test.", "hou.d.test."));
	for (unsigned i = 0; i < 5000; i++) {
		struct arena mine = arena;

		arena_init(&arena);
		teach(c, i % 2 ? arena_textf(&arena,
					  "n%u.d.test. 300 NSEC n%ua.d.test. A\n"
					  "n%u.d.test." SIG("NSEC", "3", "300", "d.test."),
					  i, i, i)
			    : arena_textf(&arena,
					  "n%u.e.d.test. 300 NSEC n%ua.e.d.test. A\n"
					  "n%u.e.d.test." SIG("NSEC", "4", "300", "e.d.test."),
					  i, i, i));
		if (!answer_within(c, rrsets, "hot.d.test.", TYPE_MX, ".", NOW))
			fail_msg("what is asked for often is evicted after %u", i);
		n = aggressive_counted(c);
		if (n.bytes > n.budget)
			fail_msg("%zu of %zu bytes after %u", n.bytes, n.budget, i);
		arena_clear(&arena);
		arena = mine;
	}
	assert_true(n.records > 50);
	assert_true(n.evictions > 1000);

	aggressive_resize(c, 32 << 10);
	n = aggressive_counted(c);
	assert_true(n.bytes <= n.budget && n.budget <= 32 << 10);
	aggressive_resize(c, 1 << 20);
	assert_non_null(answer_within(c, rrsets, "hot.d.test.", TYPE_MX, ".", NOW));
	rrsetcache_free(rrsets);
	aggressive_free(c);
}

static void records_stay_in_order(void **state)
{
	(void)state;
	struct aggressive *c = aggressive_new(4 << 20, 1);
	struct rrsetcache *rrsets = rrsetcache_new(1 << 20, 1);
	enum { NAMES = 1009 };

	teach(c, SOA_D "d.test. 300 NSEC n0000.d.test. SOA\n"
		    "d.test." SIG("NSEC", "2", "300", "d.test."));
	/* each third name is there, taught in a scattered order */
	for (unsigned i = 0; i < NAMES; i++) {
		unsigned n = i * 389 % NAMES * 3;

		teach(c, arena_textf(&arena,
				  "n%04u.d.test. 300 NSEC n%04u.d.test. A\n"
				  "n%04u.d.test." SIG("NSEC", "3", "300", "d.test."),
				  n, n + 3, n));
	}
	for (unsigned n = 0; n < NAMES * 3; n++) {
		char name[32];
		const struct message *m;

		snprintf(name, sizeof(name), "n%04u.d.test.", n);
		m = answer_within(c, rrsets, name, TYPE_MX, ".", NOW);
		if (!m || m->rcode != (n % 3 ? RCODE_NXDOMAIN : RCODE_NOERROR))
			fail_msg("%s", name);
	}
	rrsetcache_free(rrsets);
	aggressive_free(c);
}

static void zones_are_forgotten_with_what_is_below(void **state)
{
	(void)state;
	static const struct {
		const char *name;
		size_t goes;
	} rows[] = {
		{ "x.d.test.", 0 }, { "e.test.", 0 }, { "e.d.test.", 1 },
		{ "a.d.test.", 1 }, { "d.test.", 2 }, { ".", 2 },
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		struct aggressive *c = aggressive_new(8 << 20, 4);

		teach(c, SOA_D BELOW("a.d.test.", "c.d.test."));
		teach(c, "a.e.d.test. 300 NSEC c.e.d.test. A\n"
		      "a.e.d.test." SIG("NSEC", "4", "300", "e.d.test."));
		size_t gone = aggressive_forget(c, N(rows[i].name));
		if (gone != rows[i].goes || aggressive_counted(c).records != 2 - gone ||
		    aggressive_counted(c).zones != 2 - gone)
			fail_msg("%s: %zu", rows[i].name, gone);
		aggressive_free(c);
	}
}

/* A name need not be a zone for what is below it to be forgotten. */
static void what_a_zone_says_of_names_below_another_is_forgotten(void **state)
{
	(void)state;
	struct rrsetcache *rrsets = rrsetcache_new(1 << 20, 1);

	for (int zone = NSEC; zone <= NSEC3; zone++) {
		struct aggressive *c = aggressive_new(1 << 20, 1);

		teach_zone(c, zone);
		assert_non_null(answer_within(c, rrsets, "leaf.ent.d.test.", TYPE_MX, ".", NOW));
		assert_true(aggressive_forget(c, N("ent.d.test.")) > 0);
		assert_null(answer_within(c, rrsets, "leaf.ent.d.test.", TYPE_MX, ".", NOW));
		if (zone == NSEC)
			assert_non_null(answer_within(c, rrsets, "b.d.test.", TYPE_MX, ".", NOW));
		aggressive_free(c);
	}
	rrsetcache_free(rrsets);
}

static void a_name_is_forgotten_alone(void **state)
{
	(void)state;
	struct rrsetcache *rrsets = rrsetcache_new(1 << 20, 1);

	for (int zone = NSEC; zone <= NSEC3; zone++) {
		struct aggressive *c = aggressive_new(1 << 20, 1);
		size_t before;

		teach_zone(c, zone);
		before = aggressive_counted(c).records;
		aggressive_forget_name(c, N("nope.d.test."), CLASS_IN);
		assert_null(answer_within(c, rrsets, "nope.d.test.", TYPE_A, ".", NOW));
		assert_int_equal(aggressive_counted(c).records, before - 1);
		assert_non_null(answer_within(c, rrsets, "b.d.test.", TYPE_MX, ".", NOW));
		aggressive_forget_name(c, N("b.d.test."), CLASS_IN);
		assert_null(answer_within(c, rrsets, "b.d.test.", TYPE_MX, ".", NOW));
		aggressive_free(c);
	}
	rrsetcache_free(rrsets);
}

/* Types that are no data of a name are not denied by themselves; a name that is not there has none of them. */
static void meta_types_are_denied_with_their_name_only(void **state)
{
	(void)state;
	static const struct {
		uint16_t type;
		bool denied;
	} rows[] = { { 0, false },  { TYPE_A, false }, { TYPE_MX, true }, { 40, true },   { TYPE_OPT, false }, { 42, true },
		     { 127, true }, { 128, false },    { 252, false },    { 255, false }, { 256, true } };

	for (int zone = NSEC; zone <= NSEC3; zone++) {
		struct aggressive *c = aggressive_new(1 << 20, 1);
		struct rrsetcache *rrsets = rrsetcache_new(1 << 20, 1);

		teach_zone(c, zone);
		for (size_t i = 0; i < COUNT(rows); i++) {
			const struct message *m = answer_within(c, rrsets, "b.d.test.", rows[i].type, ".", NOW);

			if ((m != NULL) != rows[i].denied)
				fail_msg("type %u", rows[i].type);
			m = answer_within(c, rrsets, "nope.d.test.", rows[i].type, ".", NOW);
			if (!m || m->rcode != RCODE_NXDOMAIN)
				fail_msg("type %u of no name", rows[i].type);
		}
		rrsetcache_free(rrsets);
		aggressive_free(c);
	}
}

/* Each label below the zone costs a hash: of a name with more than 16 nothing is said, nor forgotten. */
static void long_names_are_not_hashed(void **state)
{
	(void)state;
	for (int zone = NSEC; zone <= NSEC3; zone++)
		for (unsigned labels = 15; labels <= 18; labels++) {
			struct aggressive *c = aggressive_new(1 << 20, 1);
			struct rrsetcache *rrsets = rrsetcache_new(1 << 20, 1);
			bool known = zone == NSEC || labels <= 16;
			char name[64] = "";
			size_t before;

			for (unsigned i = 1; i < labels; i++)
				strcat(name, "a.");
			strcat(name, "nope.d.test.");
			teach_zone(c, zone);
			if ((answer_within(c, rrsets, name, TYPE_A, ".", NOW) != NULL) != known)
				fail_msg("%u labels below the zone", labels);
			before = aggressive_counted(c).records;
			aggressive_forget_name(c, N(name), CLASS_IN);
			if ((aggressive_counted(c).records < before) != known)
				fail_msg("%u labels: forgotten", labels);
			rrsetcache_free(rrsets);
			aggressive_free(c);
		}
}

/* What a wildcard makes ends with the proof that nothing is closer, and was never to live longer. */
static void what_a_wildcard_makes_ends_with_its_proof(void **state)
{
	(void)state;
	static const struct {
		const char *nsec_ttl, *star_ttl;
		uint32_t ttl_s;
	} rows[] = { { "300", "60", 50 }, { "40", "60", 30 }, { "60", "300", 50 } };

	for (size_t i = 0; i < COUNT(rows); i++) {
		struct aggressive *c = aggressive_new(1 << 20, 1);
		struct rrsetcache *rrsets = rrsetcache_new(1 << 20, 1);
		const struct message *m;

		teach(c, arena_textf(&arena, "a.w.d.test. %s NSEC z.w.d.test. A\na.w.d.test." SIG("NSEC", "4", "300", "d.test."),
				     rows[i].nsec_ttl));
		aggressive_learn_wildcard(rrsets, secure(arena_textf(&arena, "old.w.d.test. %s TXT \"star\"\n"
								  "old.w.d.test." SIG("TXT", "3", "300", "d.test."),
								  rows[i].star_ttl)), NOW, &arena);
		m = answer_within(c, rrsets, "foo.w.d.test.", TYPE_TXT, ".", NOW + 10);
		assert_non_null(m);
		assert_int_equal(message_ttl(m, NOW + 10, 0), rows[i].ttl_s);
		assert_int_equal(m->sets[0]->expires_s, NOW + 10 + rows[i].ttl_s);
		assert_int_equal(m->sets[0]->ttl_s, rows[i].ttl_s + 10);
		assert_int_equal(m->flags & FLAG_QR, FLAG_QR);
		assert_null(answer_within(c, rrsets, "foo.w.d.test.", TYPE_TXT, ".", NOW + 11 + rows[i].ttl_s));
		rrsetcache_free(rrsets);
		aggressive_free(c);
	}
}

/* A denial without opt-out beside others with it: the zone's flag is that of any of them, until the last goes. */
static void opting_out_leaves_ds_sets_and_the_apex(void **state)
{
	(void)state;
	static const struct {
		const char *name;
		uint16_t type;
		bool said;
	} rows[] = {
		{ "d.test.", TYPE_LOC, true },
		{ "d.test.", TYPE_SOA, false },
		{ "b.d.test.", TYPE_DS, true },
		{ "b.d.test.", TYPE_MX, false },
		{ "nope.d.test.", TYPE_DS, false },
	};
	struct aggressive *c = aggressive_new(1 << 20, 1);
	struct rrsetcache *rrsets = rrsetcache_new(1 << 20, 1);

	teach_zone(c, OPTOUT);
	for (size_t i = 0; i < COUNT(rows); i++)
		if ((answer_within(c, rrsets, rows[i].name, rows[i].type, ".", NOW) != NULL) != rows[i].said)
			fail_msg("%s %u", rows[i].name, rows[i].type);
	rrsetcache_free(rrsets);
	aggressive_free(c);
}

/* Another malloc: a piece may be larger the second time, by what was free behind it, or by what is left of a page. */
#ifdef HAVE_JEMALLOC
#define ROUNDING(bytes) 0
#else
#define ROUNDING(bytes) MAX((size_t)64, (bytes) / 64)
#endif

/* An eighth of what there is is for referral_ds, and each byte is counted once. */
static void the_budget_is_shared(void **state)
{
	(void)state;
	static const size_t budgets[] = { 1 << 16, 1 << 20, 24 << 20 };

	for (size_t i = 0; i < COUNT(budgets); i++)
		for (unsigned slabs = 1; slabs <= 16; slabs *= 4) {
			struct aggressive *c = aggressive_new(budgets[i], slabs);
			size_t empty = aggressive_counted(c).bytes;

			assert_in_range(aggressive_counted(c).budget, budgets[i] - 64, budgets[i]);
			teach_zone(c, NSEC);
			assert_true(aggressive_counted(c).bytes > empty);
			assert_int_equal(aggressive_counted(c).zones, 1);
			aggressive_resize(c, 2 * budgets[i]);
			assert_in_range(aggressive_counted(c).budget, 2 * budgets[i] - 64, 2 * budgets[i]);
			assert_true(aggressive_forget(c, N("d.test.")) > 0);
			aggressive_resize(c, budgets[i]);
			assert_in_range(aggressive_counted(c).bytes, empty - ROUNDING(empty), empty + ROUNDING(empty));
			assert_int_equal(aggressive_counted(c).zones + aggressive_counted(c).records, 0);
			aggressive_free(c);
		}
}

int main(void)
{
	const struct CMUnitTest claims[] = {
		CLAIM(a_zone_speaks_of_all_its_names),
		CLAIM(what_is_given_proves_itself),
		CLAIM(nobody_speaks_of_names_beyond_a_nearer_anchor),
		CLAIM(a_wildcard_answers_for_other_names),
		CLAIM(a_wildcard_may_lead_on),
		CLAIM(cuts_are_known_without_asking),
		CLAIM(a_ds_set_of_a_referral_is_returned_once),
		CLAIM(memory_keeps_to_its_budget),
		CLAIM(records_stay_in_order),
		CLAIM(zones_are_forgotten_with_what_is_below),
		CLAIM(what_a_zone_says_of_names_below_another_is_forgotten),
		CLAIM(a_name_is_forgotten_alone),
		CLAIM(meta_types_are_denied_with_their_name_only),
		CLAIM(long_names_are_not_hashed),
		CLAIM(what_a_wildcard_makes_ends_with_its_proof),
		CLAIM(opting_out_leaves_ds_sets_and_the_apex),
		CLAIM(the_budget_is_shared),
	};

	return RUN_CLAIMS(claims, load, unload);
}
