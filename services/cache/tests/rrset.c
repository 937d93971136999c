/* Claims about the RRset cache: rank, and that nothing keeps a delegation alive.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "services/cache/rrset.h"

#include "services/tests/made.h"
#include "util/tests/turn.h"

#define NOW 1000

struct ranked {
	const char *text;
	uint8_t trust, security, flags;
};

static struct rrset *set_of(struct arena *a, const struct ranked *j, uint32_t now_s)
{
	struct rrset *s = made_set(a, now_s, j->text);

	s->trust = j->trust;
	s->security = j->security;
	s->flags = j->flags;
	return s;
}

#define OLD  "a.example. 300 A 192.0.2.1"
#define NEW  "a.example. 600 A 192.0.2.2"
#define SAME "a.example. 600 A 192.0.2.1"

enum { KEPT_OLD, KEPT_NEW };
enum { SAYS_OLD, SAYS_NEW };

static void rrsets_of_higher_rank_are_not_replaced(void **state)
{
	(void)state;
	static const struct {
		const char *why;
		struct ranked old, new;
		int kept, says;
	} rows[] = {
		{ "newer data of equal trust",
		  { OLD, TRUST_ANS_AA, 0, 0 },
		  { NEW, TRUST_ANS_AA, 0, 0 },
		  KEPT_NEW,
		  SAYS_NEW },
		{ "equal data of equal trust",
		  { OLD, TRUST_ANS_AA, 0, 0 },
		  { SAME, TRUST_ANS_AA, 0, 0 },
		  KEPT_OLD,
		  SAYS_OLD },
		{ "more trust",
		  { OLD, TRUST_ADD_AA, 0, 0 },
		  { NEW, TRUST_ANS_AA, 0, 0 },
		  KEPT_NEW,
		  SAYS_NEW },
		{ "less trust",
		  { OLD, TRUST_ANS_AA, 0, 0 },
		  { NEW, TRUST_ADD_NOAA, 0, 0 },
		  KEPT_OLD,
		  SAYS_OLD },
		{ "less trust, equal data",
		  { OLD, TRUST_ANS_AA, 0, 0 },
		  { SAME, TRUST_ADD_NOAA, 0, 0 },
		  KEPT_OLD,
		  SAYS_OLD },
		{ "validated before, an answer not yet",
		  { OLD, TRUST_ANS_AA, SECURITY_SECURE, 0 },
		  { NEW, TRUST_ANS_AA, SECURITY_UNCHECKED, 0 },
		  KEPT_OLD,
		  SAYS_NEW },
		{ "validated before, then seen aside",
		  { OLD, TRUST_ANS_AA, SECURITY_SECURE, 0 },
		  { NEW, TRUST_ADD_AA, SECURITY_UNCHECKED, 0 },
		  KEPT_OLD,
		  SAYS_OLD },
		{ "validated again",
		  { OLD, TRUST_VALIDATED, SECURITY_SECURE, 0 },
		  { NEW, TRUST_ANS_AA, SECURITY_SECURE, 0 },
		  KEPT_NEW,
		  SAYS_NEW },
		{ "validated now",
		  { OLD, TRUST_ANS_AA, SECURITY_UNCHECKED, 0 },
		  { SAME, TRUST_ADD_AA, SECURITY_SECURE, 0 },
		  KEPT_NEW,
		  SAYS_NEW },
		{ "bogus stands",
		  { OLD, TRUST_ULTIMATE, SECURITY_BOGUS, 0 },
		  { NEW, TRUST_ADD_NOAA, 0, 0 },
		  KEPT_NEW,
		  SAYS_NEW },
		{ "bogus comes",
		  { OLD, TRUST_ADD_NOAA, 0, 0 },
		  { NEW, TRUST_ANS_AA, SECURITY_BOGUS, 0 },
		  KEPT_OLD,
		  SAYS_NEW },
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		struct rrsetcache *c = rrsetcache_new(1 << 20, 2);
		const struct rrset *old, *new, *says, *kept;
		struct arena a;

		arena_init(&a);
		old = set_of(&a, &rows[i].old, NOW);
		new = set_of(&a, &rows[i].new, NOW);
		assert_ptr_equal(rrsetcache_put(c, old, NOW, &a), old);
		says = rrsetcache_put(c, new, NOW, &a);
		kept = rrsetcache_find(c, N("A.example."), TYPE_A, CLASS_IN, 0, NOW);
		assert_non_null(kept);
		if (kept->ttl_s != (rows[i].kept == KEPT_NEW ? 600u : 300u))
			fail_msg("%s: TTL %u is kept", rows[i].why, kept->ttl_s);
		if (says->ttl_s != (rows[i].says == SAYS_NEW ? 600u : 300u))
			fail_msg("%s: TTL %u comes back", rows[i].why, says->ttl_s);
		/* Whatever stood is no obstacle once it has expired. */
		rrsetcache_put(c, set_of(&a, &rows[i].new, NOW + 700), NOW + 700, &a);
		kept = rrsetcache_find(c, N("a.example."), TYPE_A, CLASS_IN, 0, NOW + 1299);
		if (!kept)
			fail_msg("%s: not kept after all has expired", rows[i].why);
		arena_clear(&a);
		rrsetcache_free(c);
	}
}

#define TXT_OLD "a.example. 300 TXT one"
#define TXT_SAME "a.example. 600 TXT one"
#define TXT_NEW "a.example. 600 TXT two"
#define NS_SET(ttl, host) "a.example. " ttl " NS " host ".example."
#define SOA_SET(ttl)      "a.example. " ttl " SOA ns.example. host.example. 1 2 3 4 5"
#define SIGS(type, sig)   "\na.example. 600 RRSIG " type " 13 2 600 20300101000000 20200101000000 1 example. " sig
#define NEGATIVE          RRSET_SOA_NEGATIVE
#define PARENT            RRSET_PARENT_SIDE

/* What distinguishes RRsets of equal rank, and what none of them may do whatever their rank. */
static void of_equal_rank_others_take_the_place(void **state)
{
	(void)state;
	static const struct {
		const char *why;
		struct ranked old, new;
		int kept, says;
	} rows[] = {
		{ "signatures come", { OLD, TRUST_ANS_AA, 0, 0 }, { SAME SIGS("A", "AA=="), TRUST_ANS_AA, 0, 0 }, KEPT_NEW, SAYS_NEW },
		{ "signatures go", { OLD SIGS("A", "AA=="), TRUST_ANS_AA, 0, 0 }, { SAME, TRUST_ANS_AA, 0, 0 }, KEPT_OLD, SAYS_OLD },
		{ "signatures change", { OLD SIGS("A", "AA=="), TRUST_ANS_AA, 0, 0 },
		  { SAME SIGS("A", "AQ=="), TRUST_ANS_AA, 0, 0 }, KEPT_NEW, SAYS_NEW },
		{ "signatures stay", { OLD SIGS("A", "AA=="), TRUST_ANS_AA, 0, 0 },
		  { SAME SIGS("A", "AA=="), TRUST_ANS_AA, 0, 0 }, KEPT_OLD, SAYS_OLD },
		{ "both bogus", { OLD, TRUST_ANS_AA, SECURITY_BOGUS, 0 }, { NEW, TRUST_ADD_NOAA, SECURITY_BOGUS, 0 }, KEPT_NEW, SAYS_NEW },
		{ "bogus comes to what is secure", { OLD, TRUST_ANS_AA, SECURITY_SECURE, 0 },
		  { NEW, TRUST_ULTIMATE, SECURITY_BOGUS, 0 }, KEPT_OLD, SAYS_NEW },
		{ "the parent says the same again", { NS_SET("300", "a"), TRUST_AUTH_NOAA, 0, PARENT },
		  { NS_SET("600", "a"), TRUST_AUTH_NOAA, 0, PARENT }, KEPT_NEW, SAYS_NEW },
		{ "the child says the same again", { NS_SET("300", "a"), TRUST_AUTH_NOAA, 0, 0 },
		  { NS_SET("600", "a"), TRUST_AUTH_NOAA, 0, 0 }, KEPT_OLD, SAYS_OLD },
		{ "the parent says less than is known", { NS_SET("300", "a"), TRUST_ANS_AA, 0, PARENT },
		  { NS_SET("600", "a"), TRUST_AUTH_NOAA, 0, PARENT }, KEPT_OLD, SAYS_OLD },
		{ "secure, and in an authority section now", { OLD, TRUST_ANS_AA, SECURITY_SECURE, 0 },
		  { NEW, TRUST_AUTH_AA, 0, 0 }, KEPT_OLD, SAYS_OLD },
		{ "secure from an authority section, and in one again", { OLD, TRUST_AUTH_AA, SECURITY_SECURE, 0 },
		  { NEW, TRUST_AUTH_AA, 0, 0 }, KEPT_OLD, SAYS_NEW },
		{ "secure from there, and an answer now", { OLD, TRUST_AUTH_AA, SECURITY_SECURE, 0 },
		  { NEW, TRUST_ANS_AA, 0, 0 }, KEPT_OLD, SAYS_NEW },
		{ "secure glue, and glue again", { OLD, TRUST_GLUE, SECURITY_SECURE, 0 }, { NEW, TRUST_GLUE, 0, 0 }, KEPT_OLD, SAYS_OLD },
		{ "from a zone held here, and an answer", { OLD, TRUST_PRIMARY, 0, 0 }, { NEW, TRUST_ANS_AA, 0, 0 }, KEPT_OLD, SAYS_OLD },
		{ "not checked, as trusted as what was validated", { OLD, TRUST_ANS_AA, SECURITY_SECURE, 0 },
		  { NEW, TRUST_VALIDATED, 0, 0 }, KEPT_NEW, SAYS_NEW },
		{ "above what was validated", { OLD, TRUST_ULTIMATE, SECURITY_SECURE, 0 },
		  { NEW, TRUST_ANS_AA, SECURITY_SECURE, 0 }, KEPT_OLD, SAYS_OLD },
		{ "another denial", { "a.example. 300 NSEC z.example. A", TRUST_AUTH_AA, 0, 0 },
		  { "a.example. 600 NSEC b.example. A", TRUST_AUTH_AA, 0, 0 }, KEPT_NEW, SAYS_NEW },
		{ "a hashed denial of less trust", { "a.example. 300 NSEC3 1 0 0 - 2T7B4G4VSA5SMI47K61MV5BV1A22BOJR A", TRUST_ANS_AA, 0, 0 },
		  { "a.example. 600 NSEC3 1 0 0 - 3T7B4G4VSA5SMI47K61MV5BV1A22BOJR A", TRUST_AUTH_AA, 0, 0 }, KEPT_OLD, SAYS_NEW },
		{ "what denies nothing of less trust", { "a.example. 300 TXT a", TRUST_ANS_AA, 0, 0 },
		  { "a.example. 600 TXT b", TRUST_AUTH_AA, 0, 0 }, KEPT_OLD, SAYS_OLD },
		{ "insecure is no rank", { OLD, TRUST_ANS_AA, SECURITY_INSECURE, 0 }, { NEW, TRUST_ANS_AA, 0, 0 }, KEPT_NEW, SAYS_NEW },
		{ "a zone's own SOA after that of a denial", { SOA_SET("300"), TRUST_AUTH_AA, 0, NEGATIVE },
		  { SOA_SET("600"), TRUST_AUTH_AA, 0, 0 }, KEPT_NEW, SAYS_NEW },
		{ "a denial's after the zone's own", { SOA_SET("300"), TRUST_AUTH_AA, 0, 0 },
		  { SOA_SET("600"), TRUST_AUTH_AA, 0, NEGATIVE }, KEPT_OLD, SAYS_OLD },
		{ "one denial's after another's", { SOA_SET("300"), TRUST_AUTH_AA, 0, NEGATIVE },
		  { SOA_SET("600"), TRUST_AUTH_AA, 0, NEGATIVE }, KEPT_NEW, SAYS_NEW },
		{ "the zone's own, proven before with a denial", { SOA_SET("300"), TRUST_AUTH_AA, SECURITY_SECURE, NEGATIVE },
		  { SOA_SET("600"), TRUST_AUTH_AA, 0, 0 }, KEPT_OLD, SAYS_NEW },
		{ "not of authority", { SOA_SET("300"), TRUST_GLUE, 0, NEGATIVE }, { SOA_SET("600"), TRUST_GLUE, 0, 0 }, KEPT_OLD, SAYS_OLD },
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		struct rrsetcache *c = rrsetcache_new(1 << 20, 2);
		const struct rrset *old, *new, *says, *kept;
		struct arena a;

		arena_init(&a);
		old = set_of(&a, &rows[i].old, NOW);
		new = set_of(&a, &rows[i].new, NOW);
		assert_ptr_equal(rrsetcache_put(c, old, NOW, &a), old);
		says = rrsetcache_put(c, new, NOW, &a);
		kept = rrsetcache_find(c, N("a.example."), old->type, CLASS_IN, old->flags, NOW);
		assert_non_null(kept);
		if (old->type != TYPE_NS && kept->expires_s != NOW + kept->ttl_s)
			fail_msg("%s: it has not its own time", rows[i].why);
		if ((kept->ttl_s == 600) != (rows[i].kept == KEPT_NEW) || kept->sig_count != (rows[i].kept == KEPT_NEW ? new : old)->sig_count)
			fail_msg("%s: TTL %u is kept", rows[i].why, kept->ttl_s);
		if ((says->ttl_s == 600) != (rows[i].says == SAYS_NEW))
			fail_msg("%s: TTL %u comes back", rows[i].why, says->ttl_s);
		arena_clear(&a);
		rrsetcache_free(c);
	}
}

/* It stands against others until its last second is over, and what has no time of its own against nothing. */
static void what_stands_is_fresh(void **state)
{
	(void)state;
	static const struct {
		const char *why;
		uint32_t ttl_s, at;
		bool stands;
	} rows[] = {
		{ "its last second", 300, NOW + 299, true },
		{ "it is over", 300, NOW + 300, false },
		{ "kept for a moment", 0, NOW, false },
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		struct rrsetcache *c = rrsetcache_new(1 << 20, 1);
		struct rrset *old;
		const struct rrset *new;
		struct arena a;

		arena_init(&a);
		old = set_of(&a, &(struct ranked){ OLD, TRUST_ANS_AA, 0, 0 }, NOW);
		old->ttl_s = rows[i].ttl_s;
		rrsetcache_put(c, old, NOW, &a);
		assert_non_null(rrsetcache_find(c, N("a.example."), TYPE_A, CLASS_IN, 0, NOW));
		new = set_of(&a, &(struct ranked){ NEW, TRUST_ADD_NOAA, 0, 0 }, rows[i].at);
		if ((rrsetcache_put(c, new, rows[i].at, &a) != new) != rows[i].stands ||
		    (rrsetcache_find(c, N("a.example."), TYPE_A, CLASS_IN, 0, rows[i].at)->ttl_s == 600) == rows[i].stands)
			fail_msg("%s", rows[i].why);
		arena_clear(&a);
		rrsetcache_free(c);
	}
}

static size_t count_of(struct rrsetcache *c)
{
	return slab_counted(rrsetcache_slab(c)).entries;
}

/* A view with caches of its own finds what it has put, nobody else does, and it stands only there. */
static void rrsets_of_other_scopes_are_not_found(void **state)
{
	(void)state;
	struct rrsetcache *c = rrsetcache_new(1 << 20, 1), *one = rrsetcache_scoped(c, 1), *two = rrsetcache_scoped(c, 2);
	struct rrsetcache *const all[] = { c, one, two };
	const struct rrset *own;
	struct arena a;

	arena_init(&a);
	for (unsigned i = 0; i < 3; i++) {
		for (unsigned n = i; n < 3; n++)
			assert_null(rrsetcache_find_stale(all[n], N("a.example."), TYPE_TXT, CLASS_IN, 0));
		own = set_of(&a, &(struct ranked){ i ? TXT_NEW : TXT_OLD, (uint8_t)(TRUST_ANS_AA - i), 0, 0 }, NOW);
		assert_ptr_equal(rrsetcache_put(all[i], own, NOW, &a), own);
		assert_int_equal(rrsetcache_find(all[i], N("a.example."), TYPE_TXT, CLASS_IN, 0, NOW)->trust, TRUST_ANS_AA - i);
	}
	assert_int_equal(rrsetcache_find(c, N("a.example."), TYPE_TXT, CLASS_IN, 0, NOW)->trust, TRUST_ANS_AA);
	rrsetcache_reject(one, own); /* equal to what is in scope 1 and 2 */
	assert_null(rrsetcache_find(one, N("a.example."), TYPE_TXT, CLASS_IN, 0, NOW));
	assert_non_null(rrsetcache_find(two, N("a.example."), TYPE_TXT, CLASS_IN, 0, NOW));
	assert_ptr_equal(rrsetcache_correct(one, own, NOW, &a), own);
	assert_int_equal(count_of(c), 2);
	assert_int_equal(rrsetcache_remove(one, N("a.example."), TYPE_TXT, CLASS_IN), 0);
	assert_int_equal(rrsetcache_remove(two, N("A.example."), TYPE_TXT, CLASS_IN), 1);
	assert_int_equal(count_of(c), 1);
	rrsetcache_put(one, own, NOW, &a);
	assert_int_equal(rrsetcache_remove(c, N("b.example."), TYPE_TXT, CLASS_IN), 0);
	assert_int_equal(rrsetcache_remove(c, N("a.example."), TYPE_TXT, CLASS_CH), 0);
	assert_int_equal(rrsetcache_remove(c, N("a.example."), TYPE_TXT, CLASS_IN), 2);
	assert_int_equal(count_of(c), 0);
	arena_clear(&a);
	rrsetcache_free(one);
	rrsetcache_free(two);
	rrsetcache_free(c);
}

/* Both sides of a cut are kept beside each other, and removed together. */
static void both_sides_of_a_cut_are_kept(void **state)
{
	(void)state;
	static const uint8_t sides[] = { 0, RRSET_PARENT_SIDE, RRSET_NSEC_AT_APEX, RRSET_PARENT_SIDE | RRSET_NSEC_AT_APEX };
	struct rrsetcache *c = rrsetcache_new(1 << 20, 1);
	struct arena a;

	arena_init(&a);
	for (unsigned i = 0; i < COUNT(sides); i++)
		rrsetcache_put(c, set_of(&a, &(struct ranked){ TXT_OLD, (uint8_t)(TRUST_ANS_AA - i), 0, sides[i] }, NOW), NOW, &a);
	assert_int_equal(count_of(c), COUNT(sides));
	for (unsigned i = 0; i < COUNT(sides); i++)
		assert_int_equal(rrsetcache_find(c, N("a.example."), TYPE_TXT, CLASS_IN, sides[i], NOW)->trust, TRUST_ANS_AA - i);
	assert_int_equal(rrsetcache_remove(c, N("a.example."), TYPE_TXT, CLASS_IN), COUNT(sides));
	arena_clear(&a);
	rrsetcache_free(c);
}

/* With the key of tests these have one hash each: nobody gets the other's, nor loses his own with it. */
static void an_equal_hash_is_no_equal_key(void **state)
{
	(void)state;
	static const struct {
		const char *one, *two;
		uint16_t classes[2];
	} rows[] = {
		{ "n22233.test. 300 TXT one", "n293030.test. 300 TXT two", { CLASS_IN, CLASS_IN } },
		{ "n2.test. 300 TYPE43317 \\# 1 01", "n2.test. 300 TYPE53567 \\# 1 02", { CLASS_IN, CLASS_IN } },
		{ "n2.test. 300 TXT one", "n2.test. 300 TXT two", { 7075, 49251 } },
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		struct rrsetcache *c = rrsetcache_new(1 << 20, 1);
		struct rrset *set[2];
		struct arena a;

		arena_init(&a);
		for (unsigned n = 0; n < 2; n++) {
			set[n] = made_set(&a, NOW, n ? rows[i].two : rows[i].one);
			set[n]->class_ = rows[i].classes[n];
		}
		rrsetcache_put(c, set[0], NOW, &a);
		if (rrsetcache_find_stale(c, rrset_owner(set[1]), set[1]->type, set[1]->class_, 0))
			fail_msg("%s is found for %s", rows[i].one, rows[i].two);
		rrsetcache_reject(c, set[1]);
		assert_int_equal(rrsetcache_remove(c, rrset_owner(set[1]), set[1]->type, set[1]->class_), 0);
		rrsetcache_put(c, set[1], NOW, &a);
		assert_int_equal(count_of(c), 2);
		for (unsigned n = 0; n < 2; n++)
			assert_true(rrset_same_records(rrsetcache_find(c, rrset_owner(set[n]), set[n]->type, set[n]->class_, 0, NOW), set[n]));
		rrsetcache_reject(c, set[0]);
		assert_int_equal(rrsetcache_remove(c, rrset_owner(set[1]), set[1]->type, set[1]->class_), 1);
		assert_int_equal(count_of(c), 0);
		arena_clear(&a);
		rrsetcache_free(c);
	}
}

static void a_dname_is_remembered_once_stored(void **state)
{
	(void)state;
	struct rrsetcache *c = rrsetcache_new(1 << 20, 1);
	struct arena a;

	arena_init(&a);
	rrsetcache_put(c, set_of(&a, &(struct ranked){ OLD, TRUST_ANS_AA, 0, 0 }, NOW), NOW, &a);
	rrsetcache_put(c, set_of(&a, &(struct ranked){ "d.example. 0 DNAME e.example.", TRUST_ANS_AA, 0, 0 }, NOW), NOW, &a);
	assert_false(rrsetcache_knows_dname(c));
	rrsetcache_put(c, set_of(&a, &(struct ranked){ "d.example. 9 DNAME e.example.", TRUST_ANS_AA, 0, 0 }, NOW), NOW, &a);
	assert_true(rrsetcache_knows_dname(c));
	arena_clear(&a);
	rrsetcache_free(c);
}

#define SIGNED(next, sig) "a.example. 300 NSEC " next " A\na.example. 300 RRSIG NSEC 13 2 300 20300101000000 20200101000000 1 example. " sig

/* A message is validated by the denials that it came with: only what is equal to it takes the place of one. */
static void a_cached_denial_takes_no_others_place(void **state)
{
	(void)state;
	static const struct {
		const char *why, *old, *new;
		uint8_t new_trust;
		bool replaced;
	} rows[] = {
		{ "equal", SIGNED("b.example.", "AA=="), SIGNED("b.example.", "AA=="), TRUST_AUTH_AA, true },
		{ "with another next name", SIGNED("z.example.", "AA=="), SIGNED("b.example.", "AA=="), TRUST_AUTH_AA, false },
		{ "with another signature", SIGNED("b.example.", "AA=="), SIGNED("b.example.", "AQ=="), TRUST_AUTH_AA, false },
		{ "with none", SIGNED("b.example.", "AA=="), "a.example. 300 NSEC b.example. A", TRUST_AUTH_AA, false },
		{ "of little trust", SIGNED("z.example.", "AA=="), SIGNED("b.example.", "AA=="), TRUST_ADD_NOAA, false },
		{ "of a referral", SIGNED("z.example.", "AA=="), SIGNED("b.example.", "AA=="), TRUST_AUTH_NOAA, false },
	};

	for (size_t i = 0; i < COUNT(rows) * 2; i++) {
		struct rrsetcache *c = rrsetcache_new(1 << 20, 2);
		const struct rrset *new, *says;
		struct arena a;

		arena_init(&a);
		(void)rrsetcache_put(c, set_of(&a, &(struct ranked){ rows[i / 2].old, TRUST_ANS_AA,
								     i % 2 ? SECURITY_SECURE : 0, 0 }, NOW), NOW, &a);
		new = set_of(&a, &(struct ranked){ rows[i / 2].new, rows[i / 2].new_trust, 0, 0 }, NOW);
		says = rrsetcache_put(c, new, NOW, &a);
		if ((says != new) != rows[i / 2].replaced)
			fail_msg("%s, %s", rows[i / 2].why, i % 2 ? "secure" : "not checked");
		assert_true(rrset_same_records(rrsetcache_find(c, N("a.example."), TYPE_NSEC, CLASS_IN, 0, NOW),
					       made_set(&a, NOW, rows[i / 2].old)));
		arena_clear(&a);
		rrsetcache_free(c);
	}
}

static void sets_are_found_by_all_of_their_key_and_in_time(void **state)
{
	(void)state;
	static const struct {
		const char *why, *owner;
		uint16_t type, class_;
		uint8_t flags;
		uint32_t at;
		bool fresh, stale;
	} rows[] = {
		{ "as put", "ns.example.", TYPE_A, CLASS_IN, 0, NOW, true, true },
		{ "other case", "NS.EXAMPLE.", TYPE_A, CLASS_IN, 0, NOW + 299, true, true },
		{ "its last second is over", "ns.example.", TYPE_A, CLASS_IN, 0, NOW + 300, false,
		  true },
		{ "the parent's side", "ns.example.", TYPE_A, CLASS_IN, RRSET_PARENT_SIDE, NOW,
		  false, false },
		{ "other flags are no key", "ns.example.", TYPE_A, CLASS_IN, RRSET_UNVERIFIED_GLUE,
		  NOW, true, true },
		{ "another type", "ns.example.", TYPE_AAAA, CLASS_IN, 0, NOW, false, false },
		{ "another class", "ns.example.", TYPE_A, CLASS_CH, 0, NOW, false, false },
		{ "another owner", "example.", TYPE_A, CLASS_IN, 0, NOW, false, false },
	};
	static const struct ranked put = { "ns.example. 300 A 192.0.2.53", TRUST_ANS_AA, 0, 0 };
	struct rrsetcache *c = rrsetcache_new(1 << 20, 1);
	struct arena a;

	arena_init(&a);
	rrsetcache_put(c, set_of(&a, &put, NOW), NOW, &a);
	for (size_t i = 0; i < COUNT(rows); i++) {
		const uint8_t *owner = N(rows[i].owner);

		if (!!rrsetcache_find(c, owner, rows[i].type, rows[i].class_, rows[i].flags,
				      rows[i].at) != rows[i].fresh ||
		    !!rrsetcache_find_stale(c, owner, rows[i].type, rows[i].class_,
					    rows[i].flags) != rows[i].stale)
			fail_msg("%s", rows[i].why);
	}
	assert_int_equal(rrsetcache_remove(c, N("Ns.example."), TYPE_A, CLASS_IN), 1);
	assert_null(rrsetcache_find_stale(c, N("ns.example."), TYPE_A, CLASS_IN, 0));
	arena_clear(&a);
	rrsetcache_free(c);
}

static void a_set_without_time_is_not_kept(void **state)
{
	(void)state;
	static const struct ranked put = { "a.example. 0 A 192.0.2.53", TRUST_ANS_AA, 0, 0 };
	struct rrsetcache *c = rrsetcache_new(1 << 20, 1);
	const struct rrset *s;
	struct arena a;

	arena_init(&a);
	s = set_of(&a, &put, NOW);
	assert_ptr_equal(rrsetcache_put(c, s, NOW, &a), s);
	assert_int_equal(slab_counted(rrsetcache_slab(c)).entries, 0);
	arena_clear(&a);
	rrsetcache_free(c);
}

static void a_correction_needs_something_to_correct(void **state)
{
	(void)state;
	static const struct ranked glue = { "a.example. 60 AAAA 2001:db8::1", TRUST_GLUE, 0, 0 };
	static const struct ranked answer = { "a.example. 60 AAAA 2001:db8::53", TRUST_ANS_AA, 0, 0 };
	struct rrsetcache *c = rrsetcache_new(1 << 20, 1);
	const struct rrset *s;
	struct arena a;

	arena_init(&a);
	s = set_of(&a, &answer, NOW);
	assert_ptr_equal(rrsetcache_correct(c, s, NOW, &a), s);
	assert_int_equal(slab_counted(rrsetcache_slab(c)).entries, 0);
	rrsetcache_put(c, set_of(&a, &glue, NOW), NOW, &a);
	assert_ptr_equal(rrsetcache_correct(c, s, NOW, &a), s);
	s = rrsetcache_find(c, rrset_owner(s), TYPE_AAAA, CLASS_IN, 0, NOW);
	assert_non_null(s);
	assert_int_equal(s->trust, TRUST_ANS_AA);
	arena_clear(&a);
	rrsetcache_free(c);
}

#define GHOST_NS    "ghost.test. 86400 NS ns.ghost.test."
#define GHOST_OTHER "ghost.test. 86400 NS ns2.ghost.test."

/* What comes in at which second; the delegation came with 60 seconds at second 0. */
static void an_ns_set_lives_no_longer_than_what_it_replaces(void **state)
{
	(void)state;
	static const struct {
		const char *why;
		struct {
			uint32_t at;
			struct ranked set;
		} steps[3];
		const char *owner;
		uint16_t type;
		uint8_t side;
		uint32_t dead_at;
	} rows[] = {
		{ "the child's own NS set, at once",
		  { { 1, { GHOST_NS, TRUST_ANS_AA, 0, 0 } } },
		  "ghost.test.",
		  TYPE_NS,
		  0,
		  60 },
		{ "again and again",
		  { { 1, { GHOST_NS, TRUST_ANS_AA, 0, 0 } },
		    { 30, { GHOST_NS, TRUST_ANS_AA, 0, 0 } },
		    { 59, { GHOST_NS, TRUST_ANS_AA, 0, 0 } } },
		  "ghost.test.",
		  TYPE_NS,
		  0,
		  60 },
		{ "other names each time",
		  { { 1, { GHOST_NS, TRUST_ANS_AA, 0, 0 } },
		    { 59, { GHOST_OTHER, TRUST_ANS_AA, 0, 0 } } },
		  "ghost.test.",
		  TYPE_NS,
		  0,
		  60 },
		{ "validated",
		  { { 59, { GHOST_NS, TRUST_ANS_AA, SECURITY_SECURE, 0 } } },
		  "ghost.test.",
		  TYPE_NS,
		  0,
		  60 },
		{ "what ends before is not made to last",
		  { { 1, { "ghost.test. 20 NS ns2.ghost.test.", TRUST_ANS_AA, 0, 0 } } },
		  "ghost.test.",
		  TYPE_NS,
		  0,
		  21 },
		{ "but the parent itself may say it once more",
		  { { 59, { GHOST_NS, TRUST_AUTH_NOAA, 0, PARENT } } },
		  "ghost.test.",
		  TYPE_NS,
		  PARENT,
		  86459 },
		{ "with its glue",
		  { { 59, { "ns.ghost.test. 86400 A 192.0.2.1", TRUST_GLUE, 0, PARENT } } },
		  "ns.ghost.test.",
		  TYPE_A,
		  PARENT,
		  86459 },
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		static const struct ranked delegation = { "ghost.test. 60 NS ns.ghost.test.",
							  TRUST_AUTH_NOAA, 0, PARENT };
		static const struct ranked referral = { "ghost.test. 60 NS ns.ghost.test.",
							TRUST_AUTH_NOAA, 0, 0 };
		static const struct ranked glue = { "ns.ghost.test. 60 A 192.0.2.1", TRUST_GLUE, 0,
						    PARENT };
		struct rrsetcache *c = rrsetcache_new(1 << 20, 1);
		const uint8_t *owner = N(rows[i].owner);
		struct arena a;

		arena_init(&a);
		rrsetcache_put(c, set_of(&a, &delegation, NOW), NOW, &a);
		rrsetcache_put(c, set_of(&a, &referral, NOW), NOW, &a);
		rrsetcache_put(c, set_of(&a, &glue, NOW), NOW, &a);
		for (size_t n = 0; n < COUNT(rows[i].steps) && rows[i].steps[n].at; n++) {
			uint32_t at = NOW + rows[i].steps[n].at;
			const struct rrset *says =
				rrsetcache_put(c, set_of(&a, &rows[i].steps[n].set, at), at, &a);

			if (says->expires_s > NOW + MAX(60, rows[i].dead_at))
				fail_msg("%s: what comes back lives until %u", rows[i].why,
					 says->expires_s - NOW);
		}
		if (!rrsetcache_find(c, owner, rows[i].type, CLASS_IN, rows[i].side, NOW + rows[i].dead_at - 1))
			fail_msg("%s: dead too early", rows[i].why);
		if (rrsetcache_find(c, owner, rows[i].type, CLASS_IN, rows[i].side,
				    NOW + rows[i].dead_at))
			fail_msg("%s: a ghost", rows[i].why);
		arena_clear(&a);
		rrsetcache_free(c);
	}
}

static void without_a_parent_an_ns_set_has_its_own_time(void **state)
{
	(void)state;
	static const struct ranked root = { ". 86400 NS a.root-servers.net.", TRUST_ANS_AA, 0, 0 };
	struct rrsetcache *c = rrsetcache_new(1 << 20, 1);
	struct arena a;

	arena_init(&a);
	rrsetcache_put(c, set_of(&a, &root, NOW), NOW, &a);
	assert_non_null(rrsetcache_find(c, dname_root, TYPE_NS, CLASS_IN, 0, NOW + 86399));
	arena_clear(&a);
	rrsetcache_free(c);
}

static void a_set_of_very_many_records_is_believed_but_not_kept(void **state)
{
	(void)state;
	static const unsigned counts[] = { 1, RRSET_RECORDS_MOST, RRSET_RECORDS_MOST + 1, 2000 };

	for (size_t i = 0; i < COUNT(counts); i++) {
		struct rrsetcache *c = rrsetcache_new(1 << 20, 1);
		const struct rrset *set, *found;
		struct arena a;

		arena_init(&a);
		set = made_addresses(&a, NOW, "many.example.", counts[i]);
		assert_ptr_equal(rrsetcache_put(c, set, NOW, &a), set);
		found = rrsetcache_find(c, N("many.example."), TYPE_A, CLASS_IN, 0, NOW);
		if (!found != (counts[i] > RRSET_RECORDS_MOST))
			fail_msg("%u records: %s", counts[i], found ? "kept" : "gone");
		arena_clear(&a);
		rrsetcache_free(c);
	}
}

static void what_is_rejected_is_what_goes(void **state)
{
	(void)state;
	static const struct {
		const char *why;
		struct ranked kept, rejected;
		bool goes;
	} rows[] = {
		{ "the same", { TXT_OLD, TRUST_ANS_AA, 0, 0 }, { TXT_OLD, TRUST_ANS_AA, 0, 0 }, true },
		{ "the same of lower rank", { TXT_OLD, TRUST_ANS_AA, 0, 0 }, { TXT_SAME, TRUST_ANS_NOAA, 0, 0 }, true },
		{ "other data", { TXT_OLD, TRUST_ANS_AA, 0, 0 }, { TXT_NEW, TRUST_ANS_AA, 0, 0 }, false },
		{ "the same, with other signatures", { TXT_OLD SIGS("TXT", "AA=="), TRUST_ANS_AA, 0, 0 },
		  { TXT_OLD SIGS("TXT", "AQ=="), TRUST_ANS_AA, 0, 0 }, false },
		{ "bogus before", { TXT_OLD, TRUST_ANS_AA, SECURITY_BOGUS, 0 }, { TXT_OLD, TRUST_ANS_AA, 0, 0 }, true },
		{ "another name", { TXT_OLD, TRUST_ANS_AA, 0, 0 }, { "b.example. 300 TXT one", TRUST_ANS_AA, 0, 0 }, false },
		{ "what was proven", { TXT_OLD, TRUST_ANS_AA, SECURITY_SECURE, 0 }, { TXT_OLD, TRUST_ANS_AA, 0, 0 }, false },
		{ "the other side of a cut", { TXT_OLD, TRUST_ANS_AA, 0, RRSET_PARENT_SIDE },
		  { TXT_OLD, TRUST_ANS_AA, 0, 0 }, false },
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		struct rrsetcache *c = rrsetcache_new(1 << 20, 1);
		struct arena a;

		arena_init(&a);
		rrsetcache_put(c, set_of(&a, &rows[i].kept, NOW), NOW, &a);
		rrsetcache_reject(c, set_of(&a, &rows[i].rejected, NOW));
		bool gone = !rrsetcache_find(c, (const uint8_t *)"\1a\7example", TYPE_TXT, CLASS_IN, rows[i].kept.flags, NOW);

		if (gone != rows[i].goes)
			fail_msg("%s", rows[i].why);
		arena_clear(&a);
		rrsetcache_free(c);
	}
}

int main(void)
{
	const struct CMUnitTest claims[] = {
		CLAIM(rrsets_of_higher_rank_are_not_replaced),
		CLAIM(of_equal_rank_others_take_the_place),
		CLAIM(what_stands_is_fresh),
		CLAIM(rrsets_of_other_scopes_are_not_found),
		CLAIM(both_sides_of_a_cut_are_kept),
		CLAIM(an_equal_hash_is_no_equal_key),
		CLAIM(a_dname_is_remembered_once_stored),
		CLAIM(a_cached_denial_takes_no_others_place),
		CLAIM(sets_are_found_by_all_of_their_key_and_in_time),
		CLAIM(a_set_without_time_is_not_kept),
		CLAIM(a_set_of_very_many_records_is_believed_but_not_kept),
		CLAIM(what_is_rejected_is_what_goes),
		CLAIM(a_correction_needs_something_to_correct),
		CLAIM(an_ns_set_lives_no_longer_than_what_it_replaces),
		CLAIM(without_a_parent_an_ns_set_has_its_own_time),
	};

	return RUN_CLAIMS(claims, NULL, NULL);
}
