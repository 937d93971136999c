/* Claims about the negative cache: what is learned from denials, and what is made of it.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "services/cache/negative.h"

#include "services/cache/rrset.h"
#include "services/tests/conf.h"
#include "services/tests/made.h"
#include "services/verified_private.h"
#include "util/mem.h"
#include "util/tests/turn.h"
#include "util/tests/zone.h"
#include "util/timebase.h"

#define NOW 1000

/* A signature of so many labels by a zone; its arithmetic is for others. */
#define SIG(type, labels, ttl, zone)                                                          \
	" " ttl " RRSIG " type " 13 " labels " " ttl " 20300101000000 20200101000000 1 " zone \
	" AA==\n"

#define SOA_D                                                           \
	"d.test. 300 SOA ns.d.test. h.d.test. 1 7200 3600 604800 200\n" \
	"d.test." SIG("SOA", "2", "300", "d.test.")

static struct arena arena;
static struct conf *conf;
static struct zone_sets zones[3];
enum { NSEC, NSEC3, OPTOUT };
static const char *const zone_files[] = { "util/tests/zones/nsec.zone",
					  "util/tests/zones/nsec3.zone",
					  "util/tests/zones/optout.zone" };

/* ---- making ---- */

/* As if the set's RRSIG number `nth` had been verified. */
static const struct verified *verified_by(const struct rrset *set, unsigned nth)
{
	unsigned owner = dname_labels(rrset_owner(set)) - dname_is_wildcard(rrset_owner(set));
	struct rrset_walk w = rrset_sigs(set);
	struct verified v = { .set = set, .ttl_s = UINT32_MAX / 2 };
	struct slice rd = { .at = NULL };

	for (unsigned i = 0; i <= nth; i++)
		assert_true(rrset_next(&w, &rd));
	v.zone = rd.at + 18;
	v.labels = rd.at[3];
	v.expanded = v.labels < owner;
	return verified_new(&arena, &v);
}

static const struct verified *secure(const char *text)
{
	return verified_by(made_set(&arena, NOW, text), 0);
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

static void learn(struct negcache *c, const struct rrset *const *sets, unsigned count)
{
	const struct verified **verified = arena_array(&arena, const struct verified *, count + 1);

	for (unsigned i = 0; i < count; i++)
		verified[i] = verified_by(sets[i], 0);
	negcache_learn(c, verified, count, conf, NOW, &arena);
}

/* Teach what stands in `text`, all of it verified; with flags that its SOA has. */
static void teach_flagged(struct negcache *c, const char *text, uint8_t soa_flags)
{
	const struct rrset *sets[MADE_SETS];
	unsigned count = made_sets(&arena, NOW, text, sets);

	for (unsigned i = 0; i < count; i++) {
		struct rrset *s = (struct rrset *)(uintptr_t)sets[i];

		if (s->type == TYPE_SOA)
			s->flags |= soa_flags;
	}
	learn(c, sets, count);
}

static void teach(struct negcache *c, const char *text)
{
	teach_flagged(c, text, 0);
}

/* A set of a zone file with a signature it might have had. */
static const struct rrset *signed_set(const struct text_rr *rr, unsigned most_labels)
{
	static const char zone[] = "\1d\4test";
	unsigned labels = dname_labels(rr->owner) - dname_is_wildcard(rr->owner);
	uint8_t sig[18 + sizeof(zone) + 1] = { 0 };
	struct slice s = { sig, sizeof(sig) };
	struct rrset_parts p = { .owner = rr->owner,
				 .type = rr->type,
				 .class_ = CLASS_IN,
				 .records = &rr->rdata,
				 .count = 1,
				 .sigs = &s,
				 .sig_count = 1,
				 .ttl_s = rr->ttl_s,
				 .expires_s = NOW + rr->ttl_s };

	put_u16(sig, rr->type);
	sig[3] = (uint8_t)MIN(labels, most_labels);
	memcpy(sig + 18, zone, sizeof(zone));
	return rrset_build(&arena, &p);
}

/* All of a zone, with its SOA. */
static void teach_zone(struct negcache *c, int zone)
{
	const struct zone_sets *z = &zones[zone];
	const struct rrset **sets = arena_array(&arena, const struct rrset *, z->count + 1);
	unsigned count = 0;

	for (size_t i = 0; i < z->count; i++)
		if (z->rr[i].type == TYPE_NSEC || z->rr[i].type == TYPE_NSEC3)
			sets[count++] = signed_set(&z->rr[i], LABELS_MAX);
	sets[count++] = made_set(&arena, NOW, SOA_D);
	learn(c, sets, count);
}

static struct message *answer_within(struct negcache *c, struct rrsetcache *rrsets,
				     const char *name, uint16_t type, const char *within,
				     uint32_t now_s)
{
	struct question q = made_question(name, type);

	return negcache_answer(c, &(struct negcache_ask){ .q = &q,
							  .within = N(within),
							  .rrsets = rrsets,
							  .arena = &arena,
							  .now_s = now_s });
}

static int begin(void **state)
{
	arena_init(&arena);
	return in_a_turn(state);
}

static int end(void **state)
{
	after_a_turn(state);
	arena_clear(&arena);
	return 0;
}

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
		struct negcache *c = negcache_new(1 << 20, 4);

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
		negcache_free(c);
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
		struct negcache *c = negcache_new(1 << 20, 1);

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
		negcache_free(c);
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
	struct negcache *c = negcache_new(1 << 20, 1);
	struct rrsetcache *rrsets = rrsetcache_new(1 << 20, 1);

	teach_zone(c, NSEC);
	for (size_t i = 0; i < COUNT(rows); i++)
		if (!answer_within(c, rrsets, "www.island.d.test.", TYPE_A, rows[i].within, NOW) ==
		    rows[i].said)
			fail_msg("within %s", rows[i].within);
	rrsetcache_free(rrsets);
	negcache_free(c);
}

#define BELOW(name, next) \
	name " 300 NSEC " next " A RRSIG NSEC\n" name SIG("NSEC", "3", "300", "d.test.")

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
		struct negcache *c = negcache_new(1 << 20, 1);
		struct rrset *s = made_set(&arena, NOW, rows[i].text);
		const struct rrset *sets[] = { s };

		learn(c, sets, 1);
		if (negcache_counted(c).records != rows[i].kept)
			fail_msg("%s: %zu kept", rows[i].why, negcache_counted(c).records);
		negcache_free(c);
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
		struct negcache *c = negcache_new(1 << 20, 1);
		struct rrsetcache *rrsets = rrsetcache_new(1 << 20, 1);
		const struct verified *sets[] = {
			secure("d.test. 300 NSEC a.d.test. NS SOA RRSIG NSEC\n"
			       "d.test." SIG("NSEC", "2", "300", "d.test.")),
			secure(SOA_D),
			verified_by(made_set(&arena, NOW, rows[i].text), rows[i].nth),
		};
		const struct message *m;

		negcache_learn(c, sets, COUNT(sets), conf, NOW, &arena);
		if (negcache_counted(c).records != rows[i].kept + 1)
			fail_msg("%s: %zu kept", rows[i].why, negcache_counted(c).records - 1);
		m = answer_within(c, rrsets, "m.d.test.", TYPE_TXT, "d.test.", NOW);
		if ((m != NULL) != rows[i].denies)
			fail_msg("%s", rows[i].why);
		for (unsigned k = 0; m && k < m->count[SECTION_AUTHORITY]; k++)
			assert_int_equal(m->sets[k]->sig_count, 1); /* what did not hold is gone */
		rrsetcache_free(rrsets);
		negcache_free(c);
	}
}

static void a_soa_counts_for_the_zone_that_signed_it(void **state)
{
	(void)state;
	static const char soa[] = "d.test. 300 SOA ns.d.test. h.d.test. 1 7200 3600 604800 200\n"
				  "d.test." OTHER_SIG("SOA", "2", "d.test.") "d.test." OTHER_SIG("SOA", "2", "test.");

	for (unsigned nth = 0; nth < 2; nth++) {
		struct negcache *c = negcache_new(1 << 20, 1);
		struct rrsetcache *rrsets = rrsetcache_new(1 << 20, 1);
		const struct verified *sets[] = {
			secure("d.test. 300 NSEC z.d.test. NS SOA RRSIG NSEC\n"
			       "d.test." SIG("NSEC", "2", "300", "d.test.")),
			verified_by(made_set(&arena, NOW, soa), nth),
		};

		negcache_learn(c, sets, COUNT(sets), conf, NOW, &arena);
		assert_int_equal(answer_within(c, rrsets, "m.d.test.", TYPE_TXT, "d.test.", NOW) != NULL,
				 nth == 0);
		rrsetcache_free(rrsets);
		negcache_free(c);
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
		struct negcache *c = negcache_new(1 << 20, 1);
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
		negcache_learn(c, sets, 3 + own, conf, NOW, &arena);
		assert_null(answer_within(c, rrsets, "m.e.d.test.", TYPE_TXT, "d.test.", NOW));
		m = answer_within(c, rrsets, "m.d.test.", TYPE_TXT, "d.test.", NOW);
		assert_int_equal(m != NULL, own);
		if (m)
			assert_int_equal(message_ttl(m, NOW, 0), 200);
		negcache_free(c);
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
		struct negcache *c = negcache_new(1 << 20, 1);
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
		negcache_free(c);
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
		struct negcache *c = negcache_new(1 << 20, 1);
		struct rrsetcache *rrsets = rrsetcache_new(1 << 20, 1);
		const struct message *m;

		teach_zone(c, NSEC);
		negcache_learn_wildcard(rrsets, verified_by(made_set(&arena, NOW, star), nth), NOW, &arena);
		m = answer_within(c, rrsets, "foo.w.d.test.", TYPE_TXT, ".", NOW);
		assert_int_equal(m && m->count[SECTION_ANSWER], nth == 0);
		assert_null(rrsetcache_find(rrsets, N("*.old.w.d.test."), TYPE_TXT, CLASS_IN, 0, NOW)); /* third: no wildcard's */
		rrsetcache_free(rrsets);
		negcache_free(c);
	}
}

static void other_parameters_take_the_place_of_all(void **state)
{
	(void)state;
	struct negcache *c = negcache_new(1 << 20, 1);

	teach_zone(c, NSEC3);
	assert_true(negcache_counted(c).records > 2);
	teach(c, "k3515rr034va6uns638d73il6cguh659.d.test. 300 NSEC3 1 0 3 - "
	      "s9tggh1hil8i0rg39emtjvu6l583d06t NS\n"
	      "k3515rr034va6uns638d73il6cguh659.d.test." SIG("NSEC3", "3", "300", "d.test."));
	assert_int_equal(negcache_counted(c).records, 1);
	negcache_free(c);
}

/* ---- time ---- */

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
		struct negcache *c = negcache_new(1 << 20, 1);
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
		negcache_free(c);
	}
	conf->server.cache_max_negative_ttl = 3600;
	conf->server.cache_max_ttl = 86400;
}

static void a_denial_needs_the_soa_of_its_zone(void **state)
{
	(void)state;
	struct negcache *c = negcache_new(1 << 20, 1);
	struct rrsetcache *rrsets = rrsetcache_new(1 << 20, 1);
	const struct message *m;

	teach(c, BELOW("b.d.test.", "d.d.test."));
	assert_null(answer_within(c, rrsets, "b.d.test.", TYPE_MX, ".", NOW));
	(void)rrsetcache_put(rrsets, verified_copy(secure(SOA_D), &arena, NOW), NOW, &arena);
	m = answer_within(c, rrsets, "b.d.test.", TYPE_MX, ".", NOW);
	assert_non_null(m);
	assert_int_equal(message_ttl(m, NOW, 0), 200);
	rrsetcache_free(rrsets);
	negcache_free(c);
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
		struct negcache *c = negcache_new(1 << 20, 1);
		struct rrsetcache *rrsets = rrsetcache_new(1 << 20, 1);

		teach_zone(c, zone);
		negcache_learn_wildcard(rrsets,
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
		negcache_free(c);
	}
}

static void a_wildcard_may_lead_on(void **state)
{
	(void)state;
	struct negcache *c = negcache_new(1 << 20, 1);
	struct rrsetcache *rrsets = rrsetcache_new(1 << 20, 1);
	const struct message *m;

	teach(c, SOA_D "a.w.d.test. 300 NSEC z.w.d.test. A\n"
		    "a.w.d.test." SIG("NSEC", "4", "300", "d.test."));
	negcache_learn_wildcard(rrsets,
				secure("old.w.d.test. 60 CNAME b.d.test.\n"
				       "old.w.d.test." SIG("CNAME", "3", "60", "d.test.")),
					NOW, &arena);
	m = answer_within(c, rrsets, "foo.w.d.test.", TYPE_A, ".", NOW);
	assert_non_null(m);
	assert_int_equal(m->sets[0]->type, TYPE_CNAME);
	assert_int_equal(m->rcode, RCODE_NOERROR);
	rrsetcache_free(rrsets);
	negcache_free(c);
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
		struct negcache *c = negcache_new(1 << 20, 1);

		teach_zone(c, zone);
		for (size_t i = 0; i < COUNT(rows); i++) {
			struct negcache_cut got =
				negcache_ds(c, N("d.test."), N(rows[i].name), CLASS_IN, NOW + 50);
			enum denial_cut want = zone == NSEC    ? rows[i].nsec
					       : zone == NSEC3 ? rows[i].nsec3
							       : rows[i].optout;

			if (got.cut != want)
				fail_msg("%s, %s: %d, not %d", zone_files[zone], rows[i].why,
					 got.cut, want);
			if (want != CUT_UNKNOWN && got.ttl_s != 150)
				fail_msg("%s: for %u seconds", rows[i].why, got.ttl_s);
		}
		negcache_free(c);
	}
}

static void hearsay_is_told_once(void **state)
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
		struct negcache *c = negcache_new(1 << 20, 1);
		const struct rrset *sets[MADE_SETS];
		unsigned count = made_sets(&arena, NOW, rows[i].text, sets);
		struct question ds = made_question("UNS.d.test.", TYPE_DS);
		const struct message *m;

		negcache_hear(c, message_with(sets, count), N("uns.d.test."), CLASS_IN, NOW);
		m = negcache_heard(c, &ds, &arena, NOW + rows[i].later_s);
		if ((m ? m->count[SECTION_AUTHORITY] : 0) != rows[i].sets)
			fail_msg("%s", rows[i].why);
		if (m) {
			assert_int_equal(m->security, SECURITY_UNCHECKED);
			assert_true(rrset_same_records(m->sets[0],
						       verified_set(secure(BELOW("uns.d.test.", "v.d.test.")))));
		}
		assert_null(negcache_heard(c, &ds, &arena, NOW + rows[i].later_s));
		negcache_free(c);
	}
}

/* ---- memory ---- */

static void memory_keeps_to_its_budget(void **state)
{
	(void)state;
	struct negcache *c = negcache_new(64 << 10, 1);
	struct rrsetcache *rrsets = rrsetcache_new(1 << 20, 1);
	struct negcache_count n;

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
		n = negcache_counted(c);
		if (n.bytes > n.budget)
			fail_msg("%zu of %zu bytes after %u", n.bytes, n.budget, i);
		arena_clear(&arena);
		arena = mine;
	}
	assert_true(n.records > 50);
	assert_true(n.evictions > 1000);

	negcache_resize(c, 32 << 10);
	n = negcache_counted(c);
	assert_true(n.bytes <= n.budget && n.budget <= 32 << 10);
	negcache_resize(c, 1 << 20);
	assert_non_null(answer_within(c, rrsets, "hot.d.test.", TYPE_MX, ".", NOW));
	rrsetcache_free(rrsets);
	negcache_free(c);
}

static void records_stay_in_order(void **state)
{
	(void)state;
	struct negcache *c = negcache_new(4 << 20, 1);
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
	negcache_free(c);
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
		struct negcache *c = negcache_new(8 << 20, 4);

		teach(c, SOA_D BELOW("a.d.test.", "c.d.test."));
		teach(c, "a.e.d.test. 300 NSEC c.e.d.test. A\n"
		      "a.e.d.test." SIG("NSEC", "4", "300", "e.d.test."));
		size_t gone = negcache_forget(c, N(rows[i].name));
		if (gone != rows[i].goes || negcache_counted(c).records != 2 - gone ||
		    negcache_counted(c).zones != 2 - gone)
			fail_msg("%s: %zu", rows[i].name, gone);
		negcache_free(c);
	}
}

/* A name need not be a zone for what is below it to be forgotten. */
static void what_a_zone_says_of_names_below_another_is_forgotten(void **state)
{
	(void)state;
	struct rrsetcache *rrsets = rrsetcache_new(1 << 20, 1);

	for (int zone = NSEC; zone <= NSEC3; zone++) {
		struct negcache *c = negcache_new(1 << 20, 1);

		teach_zone(c, zone);
		assert_non_null(answer_within(c, rrsets, "leaf.ent.d.test.", TYPE_MX, ".", NOW));
		assert_true(negcache_forget(c, N("ent.d.test.")) > 0);
		assert_null(answer_within(c, rrsets, "leaf.ent.d.test.", TYPE_MX, ".", NOW));
		if (zone == NSEC)
			assert_non_null(answer_within(c, rrsets, "b.d.test.", TYPE_MX, ".", NOW));
		negcache_free(c);
	}
	rrsetcache_free(rrsets);
}

static void a_name_is_forgotten_alone(void **state)
{
	(void)state;
	struct rrsetcache *rrsets = rrsetcache_new(1 << 20, 1);

	for (int zone = NSEC; zone <= NSEC3; zone++) {
		struct negcache *c = negcache_new(1 << 20, 1);
		size_t before;

		teach_zone(c, zone);
		before = negcache_counted(c).records;
		negcache_forget_name(c, N("nope.d.test."), CLASS_IN);
		assert_null(answer_within(c, rrsets, "nope.d.test.", TYPE_A, ".", NOW));
		assert_int_equal(negcache_counted(c).records, before - 1);
		assert_non_null(answer_within(c, rrsets, "b.d.test.", TYPE_MX, ".", NOW));
		negcache_forget_name(c, N("b.d.test."), CLASS_IN);
		assert_null(answer_within(c, rrsets, "b.d.test.", TYPE_MX, ".", NOW));
		negcache_free(c);
	}
	rrsetcache_free(rrsets);
}

static int load(void **state)
{
	(void)state;
	for (int i = NSEC; i <= OPTOUT; i++)
		zone_load(&zones[i], zone_files[i]);
	conf = conf_from("");
	return 0;
}

static int unload(void **state)
{
	(void)state;
	for (int i = NSEC; i <= OPTOUT; i++)
		zone_clear(&zones[i]);
	conf_free(conf);
	return 0;
}

int main(void)
{
#undef CLAIM
#define CLAIM(name) cmocka_unit_test_setup_teardown(name, begin, end)
	const struct CMUnitTest claims[] = {
		CLAIM(a_zone_speaks_of_all_its_names),
		CLAIM(what_is_given_proves_itself),
		CLAIM(nobody_speaks_of_names_beyond_a_nearer_anchor),
		CLAIM(only_what_a_zone_may_say_is_learned),
		CLAIM(a_denial_counts_for_the_zone_that_signed_it),
		CLAIM(a_soa_counts_for_the_zone_that_signed_it),
		CLAIM(a_soa_is_for_its_own_zone),
		CLAIM(what_is_kept_elsewhere_must_be_the_zones_own),
		CLAIM(a_wildcard_counts_for_the_zone_that_signed_it),
		CLAIM(other_parameters_take_the_place_of_all),
		CLAIM(a_denial_lives_no_longer_than_its_zone_lets_it),
		CLAIM(a_denial_needs_the_soa_of_its_zone),
		CLAIM(a_wildcard_answers_for_other_names),
		CLAIM(a_wildcard_may_lead_on),
		CLAIM(cuts_are_known_without_asking),
		CLAIM(hearsay_is_told_once),
		CLAIM(memory_keeps_to_its_budget),
		CLAIM(records_stay_in_order),
		CLAIM(zones_are_forgotten_with_what_is_below),
		CLAIM(what_a_zone_says_of_names_below_another_is_forgotten),
		CLAIM(a_name_is_forgotten_alone),
	};

	return RUN_CLAIMS(claims, load, unload);
}
