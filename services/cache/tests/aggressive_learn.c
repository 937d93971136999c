/* Claims about what the negative cache learns: of which zone, from whom, and for how long.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "services/cache/tests/denials.h"

static void only_what_a_zone_may_say_is_learned(void **state)
{
	(void)state;
	static const struct {
		const char *why, *text;
		size_t kept;
	} rows[] = {
		{ "a sound record", BELOW("a.d.test.", "c.d.test."), 1 },
		{ "leading out of the zone", BELOW("a.d.test.", "z.test."), 0 },
		{ "leading backwards", BELOW("c.d.test.", "a.d.test."), 0 },
		{ "of another zone", BELOW("a.e.test.", "c.d.test."), 0 },
		{ "leading out of the zone into one above", BELOW("z.d.test.", "test."), 0 },
		{ "of the zone above", BELOW("test.", "d.test."), 0 },
		{ "made from a wildcard",
		  "a.d.test. 300 NSEC c.d.test. A\na.d.test." SIG("NSEC", "2", "300", "d.test."), 0 },
		{ "without time",
		  "a.d.test. 0 NSEC c.d.test. A\na.d.test." SIG("NSEC", "3", "0", "d.test."), 0 },
		{ "50 NSEC3 iterations",
		  "k3515rr034va6uns638d73il6cguh659.d.test. 300 NSEC3 1 0 50 - "
		  "s9tggh1hil8i0rg39emtjvu6l583d06t NS\n"
		  "k3515rr034va6uns638d73il6cguh659.d.test." SIG("NSEC3", "3", "300", "d.test."), 1 },
		{ "51 NSEC3 iterations",
		  "k3515rr034va6uns638d73il6cguh659.d.test. 300 NSEC3 1 0 51 - "
		  "s9tggh1hil8i0rg39emtjvu6l583d06t NS\n"
		  "k3515rr034va6uns638d73il6cguh659.d.test." SIG("NSEC3", "3", "300", "d.test."), 0 },
		{ "an NSEC3 owner two labels below",
		  "k3515rr034va6uns638d73il6cguh659.x.d.test. 300 NSEC3 1 0 0 - "
		  "s9tggh1hil8i0rg39emtjvu6l583d06t NS\n"
		  "k3515rr034va6uns638d73il6cguh659.x.d.test." SIG("NSEC3", "4", "300", "d.test."), 0 },
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		struct aggressive *c = aggressive_new(1 << 20, 1);
		struct rrset *s = made_set(&arena, NOW, rows[i].text);
		const struct rrset *sets[] = { s };

		learn(c, sets, 1);
		if (aggressive_counted(c).records != rows[i].kept)
			fail_msg("%s: %zu kept", rows[i].why, aggressive_counted(c).records);
		aggressive_free(c);
	}
}

#define OTHER_SIG(type, labels, zone) " 300 RRSIG " type " 13 " labels " 300 20300101000000 20200101000000 1 " zone " AA==\n"

/* An NSEC of "e.d.test." that would deny names of "d.test." as well, with RRSIGs that name both. */
#define BORROWED                                                                                  \
	"b.e.d.test. 300 NSEC z.d.test. A RRSIG NSEC\n"                                           \
	"b.e.d.test." OTHER_SIG("NSEC", "4", "e.d.test.") "b.e.d.test." OTHER_SIG("NSEC", "4", "d.test.")
#define BORROWED_HASH                                                                            \
	"k3515rr034va6uns638d73il6cguh659.d.test. 300 NSEC3 1 0 0 - s9tggh1hil8i0rg39emtjvu6l583d06t NS\n" \
	"k3515rr034va6uns638d73il6cguh659.d.test." OTHER_SIG("NSEC3", "3", "test.")                   \
	"k3515rr034va6uns638d73il6cguh659.d.test." OTHER_SIG("NSEC3", "3", "d.test.")
#define OWN_AND_OTHER                                                                             \
	BELOW("a.d.test.", "n.d.test.") "a.d.test." OTHER_SIG("NSEC", "3", "test.")

static void a_denial_counts_for_the_zone_that_signed_it(void **state)
{
	(void)state;
	static const struct {
		const char *why, *text;
		unsigned nth;           /* the RRSIG that holds */
		size_t kept;
		bool denies;            /* m.d.test. TXT, that is: in d.test. */
	} rows[] = {
		{ "its own, the other does not count", OWN_AND_OTHER, 0, 1, true },
		{ "by the zone above, beside its own", OWN_AND_OTHER, 1, 1, false },
		{ "by the zone below, that reaches out", BORROWED, 0, 0, false },
		{ "by the zone above, which may", BORROWED, 1, 1, true },
		{ "NSEC3 by the zone above the owner's", BORROWED_HASH, 0, 0, false },
		{ "NSEC3 by the owner's", BORROWED_HASH, 1, 1, false },
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		struct aggressive *c = aggressive_new(1 << 20, 1);
		struct rrsetcache *rrsets = rrsetcache_new(1 << 20, 1);
		const struct verified *sets[] = {
			secure("d.test. 300 NSEC a.d.test. NS SOA RRSIG NSEC\n"
			       "d.test." SIG("NSEC", "2", "300", "d.test.")),
			secure(SOA_D),
			verified_by(made_set(&arena, NOW, rows[i].text), rows[i].nth),
		};
		const struct message *m;

		aggressive_learn(c, sets, COUNT(sets), conf, NOW, &arena);
		if (aggressive_counted(c).records != rows[i].kept + 1)
			fail_msg("%s: %zu kept", rows[i].why, aggressive_counted(c).records - 1);
		m = answer_within(c, rrsets, "m.d.test.", TYPE_TXT, "d.test.", NOW);
		if ((m != NULL) != rows[i].denies)
			fail_msg("%s", rows[i].why);
		for (unsigned k = 0; m && k < m->count[SECTION_AUTHORITY]; k++)
			assert_int_equal(m->sets[k]->sig_count, 1); /* what did not hold is gone */
		rrsetcache_free(rrsets);
		aggressive_free(c);
	}
}

static void a_soa_counts_for_the_zone_that_signed_it(void **state)
{
	(void)state;
	static const char soa[] = "d.test. 300 SOA ns.d.test. h.d.test. 1 7200 3600 604800 200\n"
				  "d.test." OTHER_SIG("SOA", "2", "d.test.") "d.test." OTHER_SIG("SOA", "2", "test.");

	for (unsigned nth = 0; nth < 2; nth++) {
		struct aggressive *c = aggressive_new(1 << 20, 1);
		struct rrsetcache *rrsets = rrsetcache_new(1 << 20, 1);
		const struct verified *sets[] = {
			secure("d.test. 300 NSEC z.d.test. NS SOA RRSIG NSEC\n"
			       "d.test." SIG("NSEC", "2", "300", "d.test.")),
			verified_by(made_set(&arena, NOW, soa), nth),
		};

		aggressive_learn(c, sets, COUNT(sets), conf, NOW, &arena);
		assert_int_equal(answer_within(c, rrsets, "m.d.test.", TYPE_TXT, "d.test.", NOW) != NULL,
				 nth == 0);
		rrsetcache_free(rrsets);
		aggressive_free(c);
	}
}

/* With the denials of one zone came the SOA of another: it sets no limit, and is not kept for what it did not
 * come with. */
static void a_soa_is_for_its_own_zone(void **state)
{
	(void)state;
	static const char other[] = "e.d.test. 300 SOA ns.d.test. h.d.test. 1 1 1 1 10\n"
				    "e.d.test." SIG("SOA", "3", "300", "e.d.test.");
	static const char stray[] = "e.d.test. 300 SOA ns.d.test. h.d.test. 1 1 1 1 10\n"
				    "e.d.test." SIG("SOA", "3", "300", "d.test.");
	struct rrsetcache *rrsets = rrsetcache_new(1 << 20, 1);

	for (unsigned own = 0; own < 2; own++) {
		struct aggressive *c = aggressive_new(1 << 20, 1);
		const struct verified *sets[] = {
			secure(stray),
			secure(other),
			secure("d.test. 300 NSEC z.d.test. NS SOA RRSIG NSEC\n"
			       "d.test." SIG("NSEC", "2", "300", "d.test.")),
			secure(SOA_D),
		};
		const struct message *m;

		teach(c, "e.d.test. 300 NSEC z.e.d.test. NS SOA RRSIG NSEC\n"
			 "e.d.test." SIG("NSEC", "3", "300", "e.d.test."));
		aggressive_learn(c, sets, 3 + own, conf, NOW, &arena);
		assert_null(answer_within(c, rrsets, "m.e.d.test.", TYPE_TXT, "d.test.", NOW));
		m = answer_within(c, rrsets, "m.d.test.", TYPE_TXT, "d.test.", NOW);
		assert_int_equal(m != NULL, own);
		if (m)
			assert_int_equal(message_ttl(m, NOW, 0), 200);
		aggressive_free(c);
	}
	rrsetcache_free(rrsets);
}

/* What is cached as secure may be an expansion, or another zone's: then it is not the zone's SOA or wildcard. */
static void what_is_kept_elsewhere_must_be_the_zones_own(void **state)
{
	(void)state;
	static const struct {
		const char *why, *soa, *star;
		bool denies, answers;
	} rows[] = {
		{ "both its own", SIG("SOA", "2", "300", "d.test."), SIG("TXT", "3", "60", "d.test."), true, true },
		{ "an expanded SOA", SIG("SOA", "1", "300", "d.test."), SIG("TXT", "3", "60", "d.test."), false, true },
		{ "the SOA of another", SIG("SOA", "2", "300", "test."), SIG("TXT", "3", "60", "d.test."), false, true },
		{ "an expanded wildcard", SIG("SOA", "2", "300", "d.test."), SIG("TXT", "2", "60", "d.test."), true, false },
		{ "the wildcard of another", SIG("SOA", "2", "300", "d.test."), SIG("TXT", "3", "60", "w.d.test."), true, false },
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		struct aggressive *c = aggressive_new(1 << 20, 1);
		struct rrsetcache *rrsets = rrsetcache_new(1 << 20, 1);
		const struct message *m;
		struct rrset *set;

		teach(c, BELOW("b.d.test.", "d.d.test.") "a.w.d.test. 300 NSEC z.w.d.test. A\n"
		      "a.w.d.test." SIG("NSEC", "4", "300", "d.test."));
		set = made_set(&arena, NOW, arena_textf(&arena, "d.test. 300 SOA ns.d.test. h.d.test. 1 7200 3600 604800 200\n"
							"d.test.%s", rows[i].soa));
		set->security = SECURITY_SECURE;
		(void)rrsetcache_put(rrsets, set, NOW, &arena);
		set = made_set(&arena, NOW, arena_textf(&arena, "*.w.d.test. 60 TXT \"star\"\n*.w.d.test.%s", rows[i].star));
		set->security = SECURITY_SECURE;
		(void)rrsetcache_put(rrsets, set, NOW, &arena);
		if ((answer_within(c, rrsets, "b.d.test.", TYPE_MX, ".", NOW) != NULL) != rows[i].denies)
			fail_msg("%s: the denial", rows[i].why);
		m = answer_within(c, rrsets, "foo.w.d.test.", TYPE_TXT, ".", NOW);
		if ((m && m->count[SECTION_ANSWER]) != rows[i].answers)
			fail_msg("%s: the answer", rows[i].why);
		rrsetcache_free(rrsets);
		aggressive_free(c);
	}
}

static void a_wildcard_counts_for_the_zone_that_signed_it(void **state)
{
	(void)state;
	static const char star[] = "old.w.d.test. 60 TXT \"star\"\n"
				   "old.w.d.test." OTHER_SIG("TXT", "3", "d.test.")
				   "old.w.d.test." OTHER_SIG("TXT", "3", "test.")
				   "old.w.d.test." OTHER_SIG("TXT", "4", "d.test.");

	for (unsigned nth = 0; nth < 3; nth++) {
		struct aggressive *c = aggressive_new(1 << 20, 1);
		struct rrsetcache *rrsets = rrsetcache_new(1 << 20, 1);
		const struct message *m;

		teach_zone(c, NSEC);
		aggressive_learn_wildcard(rrsets, verified_by(made_set(&arena, NOW, star), nth), NOW, &arena);
		m = answer_within(c, rrsets, "foo.w.d.test.", TYPE_TXT, ".", NOW);
		assert_int_equal(m && m->count[SECTION_ANSWER], nth == 0);
		assert_null(rrsetcache_find(rrsets, N("*.old.w.d.test."), TYPE_TXT, CLASS_IN, 0, NOW)); /* third: no wildcard's */
		rrsetcache_free(rrsets);
		aggressive_free(c);
	}
}

static void other_parameters_take_the_place_of_all(void **state)
{
	(void)state;
	struct aggressive *c = aggressive_new(1 << 20, 1);

	teach_zone(c, NSEC3);
	assert_true(aggressive_counted(c).records > 2);
	teach(c, "k3515rr034va6uns638d73il6cguh659.d.test. 300 NSEC3 1 0 3 - "
	      "s9tggh1hil8i0rg39emtjvu6l583d06t NS\n"
	      "k3515rr034va6uns638d73il6cguh659.d.test." SIG("NSEC3", "3", "300", "d.test."));
	assert_int_equal(aggressive_counted(c).records, 1);
	aggressive_free(c);
}

static void a_denial_lives_no_longer_than_its_zone_lets_it(void **state)
{
	(void)state;
	static const struct {
		const char *why, *nsec_ttl, *soa_ttl, *minimum;
		uint32_t most_s, most_of_all_s;
		uint8_t soa_flags;
	} rows[] = {
		{ "the record's TTL", "100", "300", "300", 3600, 86400, 0 },
		{ "the SOA's TTL", "300", "100", "300", 3600, 86400, 0 },
		{ "the SOA's last field", "300", "300", "100", 3600, 86400, 0 },
		{ "cache-max-negative-ttl", "300", "300", "300", 100, 86400, 0 },
		{ "cache-max-ttl", "300", "300", "300", 3600, 100, 0 },
		{ "raised by cache-min-ttl", "100", "100", "30", 3600, 86400, RRSET_SOA_NEGATIVE },
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		struct aggressive *c = aggressive_new(1 << 20, 1);
		struct rrsetcache *rrsets = rrsetcache_new(1 << 20, 1);
		char *text = arena_textf(
			&arena,
			"d.test. %s SOA ns.d.test. h.d.test. 1 1 1 1 %s\n"
			"d.test." SIG("SOA", "2", "300",
				      "d.test.") "d.test. %s NSEC d.test. NS SOA\n"
						 "d.test." SIG("NSEC", "2", "300", "d.test."),
			rows[i].soa_ttl, rows[i].minimum, rows[i].nsec_ttl);

		conf->server.cache_max_negative_ttl = rows[i].most_s;
		conf->server.cache_max_ttl = rows[i].most_of_all_s;
		teach_flagged(c, text, rows[i].soa_flags);
		const struct message *m =
			answer_within(c, rrsets, "x.d.test.", TYPE_A, ".", NOW + 99);
		if (!m || message_ttl(m, NOW + 99, 0) != 1)
			fail_msg("%s: forgotten too early, or TTL %u", rows[i].why,
				 m ? message_ttl(m, NOW + 99, 0) : 0);
		if (answer_within(c, rrsets, "x.d.test.", TYPE_A, ".", NOW + 100))
			fail_msg("%s: said too late", rows[i].why);
		rrsetcache_free(rrsets);
		aggressive_free(c);
	}
	conf->server.cache_max_negative_ttl = 3600;
	conf->server.cache_max_ttl = 86400;
}

static void a_denial_needs_the_soa_of_its_zone(void **state)
{
	(void)state;
	struct aggressive *c = aggressive_new(1 << 20, 1);
	struct rrsetcache *rrsets = rrsetcache_new(1 << 20, 1);
	const struct message *m;

	teach(c, BELOW("b.d.test.", "d.d.test."));
	assert_null(answer_within(c, rrsets, "b.d.test.", TYPE_MX, ".", NOW));
	(void)rrsetcache_put(rrsets, verified_copy(secure(SOA_D), &arena, NOW), NOW, &arena);
	m = answer_within(c, rrsets, "b.d.test.", TYPE_MX, ".", NOW);
	assert_non_null(m);
	assert_int_equal(message_ttl(m, NOW, 0), 200);
	rrsetcache_free(rrsets);
	aggressive_free(c);
}

int main(void)
{
	const struct CMUnitTest claims[] = {
		CLAIM(only_what_a_zone_may_say_is_learned),
		CLAIM(a_denial_counts_for_the_zone_that_signed_it),
		CLAIM(a_soa_counts_for_the_zone_that_signed_it),
		CLAIM(a_soa_is_for_its_own_zone),
		CLAIM(what_is_kept_elsewhere_must_be_the_zones_own),
		CLAIM(a_wildcard_counts_for_the_zone_that_signed_it),
		CLAIM(other_parameters_take_the_place_of_all),
		CLAIM(a_denial_lives_no_longer_than_its_zone_lets_it),
		CLAIM(a_denial_needs_the_soa_of_its_zone),
	};

	return RUN_CLAIMS(claims, load, unload);
}
