/* Claims about denials that came with referrals: which are kept, for whom, and for how long.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "services/cache/referral_ds.h"

#include "services/tests/made.h"
#include "util/tests/turn.h"

#define NOW  5000
#define SIG  " RRSIG NSEC 13 3 300 20300101000000 20200101000000 1 d.test. AA==\n"
#define LESS " RRSIG NSEC 13 3 20 20300101000000 20200101000000 1 d.test. AA==\n"
#define NSEC(owner) owner " 300 NSEC z.d.test. NS\n" owner " 300" SIG
#define SOON(owner) owner " 20 NSEC z.d.test. NS\n" owner " 20" LESS
#define HASH(owner) owner " 300 NSEC3 1 0 0 - 2T7B4G4VSA5SMI47K61MV5BV1A22BOJR NS\n" \
	owner " 300 RRSIG NSEC3 13 3 300 20300101000000 20200101000000 1 d.test. AA==\n"

static struct arena arena;

/* A referral with this in its authority section. */
static const struct message *referral(const char *text)
{
	return made_message(&arena, NOW, &(struct made){ "www.c.d.test.", TYPE_A, 0, { NULL, text, NULL } });
}

/* How many sets are told of the cut; 0 also when nothing is. */
static unsigned told(struct referral_ds *h, const char *cut, uint16_t class_, uint32_t now_s)
{
	struct question ds = made_question(cut, TYPE_DS);
	const struct message *m;

	ds.class_ = class_;
	m = referral_ds_take(h, &ds, &arena, now_s);
	if (!m)
		return 0;
	assert_true(m->count[SECTION_AUTHORITY] > 0);
	assert_true(dname_equals(m->q.name, ds.name));
	assert_int_equal(m->q.type, TYPE_DS);
	assert_int_equal(m->flags, FLAG_QR);
	assert_int_equal(m->rcode, RCODE_NOERROR);
	assert_int_equal(m->security, SECURITY_UNCHECKED);
	assert_int_equal(m->count[SECTION_ANSWER], 0);
	assert_int_equal(m->count[SECTION_ADDITIONAL], 0);
	for (unsigned i = 0; i < m->count[SECTION_AUTHORITY]; i++)
		assert_true(m->sets[i]->type == TYPE_NSEC || m->sets[i]->type == TYPE_NSEC3);
	return m->count[SECTION_AUTHORITY];
}

static void signed_denials_are_kept(void **state)
{
	(void)state;
	static const struct {
		const char *why, *text;
		unsigned sets;
	} rows[] = {
		{ "one", NSEC("c.d.test."), 1 },
		{ "hashed ones", HASH("a.d.test.") HASH("b.d.test."), 2 },
		{ "none", "c.d.test. 300 NS ns.c.d.test.\n", 0 },
		{ "beside the delegation", "c.d.test. 300 NS ns.c.d.test.\n" NSEC("c.d.test."), 1 },
		{ "not signed", NSEC("a.d.test.") "b.d.test. 300 NSEC z.d.test. NS\n", 1 },
		{ "a signed set of another type",
		  "c.d.test. 300 TXT a\nc.d.test. 300 RRSIG TXT 13 3 300 20300101000000 20200101000000 1 d.test. AA==\n", 0 },
		{ "beside the DS RRset of the cut", NSEC("c.d.test.") "C.d.test. 300 DS 1 13 2 00\n", 0 },
		{ "beside the DS RRset of another", NSEC("c.d.test.") "b.d.test. 300 DS 1 13 2 00\n", 1 },
		{ "as many as there may be", NSEC("a.d.test.") NSEC("b.d.test.") NSEC("c.d.test.") NSEC("e.d.test."), 4 },
		{ "more", NSEC("a.d.test.") NSEC("b.d.test.") NSEC("c.d.test.") NSEC("e.d.test.") NSEC("f.d.test."), 4 },
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		struct referral_ds *h = referral_ds_new(1 << 20, 1);
		unsigned sets;

		referral_ds_put(h, referral(rows[i].text), N("c.d.test."), CLASS_IN, NOW);
		assert_int_equal(slab_counted(referral_ds_slab(h)).entries, rows[i].sets > 0);
		sets = told(h, "c.d.test.", CLASS_IN, NOW);
		if (sets != rows[i].sets)
			fail_msg("%s: %u", rows[i].why, sets);
		/* once */
		assert_int_equal(told(h, "c.d.test.", CLASS_IN, NOW), 0);
		assert_int_equal(slab_counted(referral_ds_slab(h)).entries, 0);
		referral_ds_free(h);
	}
}

/* What a server gives beyond four kilobytes is no denial that anybody needs. */
static void a_large_set_is_left_out(void **state)
{
	(void)state;
	const struct message *m = referral(NSEC("a.d.test.") NSEC("c.d.test."));
	size_t size = m->sets[0]->size;

	for (size_t most = 4095; most <= 4097; most++) {
		struct referral_ds *h = referral_ds_new(1 << 20, 1);
		struct rrset *large = arena_copy(&arena, m->sets[0], size);

		large = memcpy(arena_take(&arena, most), large, size);
		large->size = (uint32_t)most;
		m->sets[0] = large;
		referral_ds_put(h, m, N("c.d.test."), CLASS_IN, NOW);
		assert_int_equal(told(h, "c.d.test.", CLASS_IN, NOW), most <= 4096 ? 2 : 1);
		referral_ds_free(h);
	}
}

static void they_are_told_of_that_cut_and_soon(void **state)
{
	(void)state;
	static const struct {
		const char *why, *text, *cut;
		uint16_t class_;
		uint32_t later_s;
		unsigned sets;
	} rows[] = {
		{ "at once", NSEC("c.d.test."), "c.d.test.", CLASS_IN, 0, 1 },
		{ "in another case", NSEC("c.d.test."), "C.D.test.", CLASS_IN, 0, 1 },
		{ "another cut", NSEC("c.d.test."), "b.d.test.", CLASS_IN, 0, 0 },
		{ "another class", NSEC("c.d.test."), "c.d.test.", CLASS_CH, 0, 0 },
		{ "within half a minute", NSEC("c.d.test."), "c.d.test.", CLASS_IN, 29, 1 },
		{ "after it", NSEC("c.d.test."), "c.d.test.", CLASS_IN, 30, 0 },
		{ "of shorter life", SOON("c.d.test."), "c.d.test.", CLASS_IN, 19, 1 },
		{ "and at its end", SOON("c.d.test."), "c.d.test.", CLASS_IN, 20, 0 },
		{ "what of it still lives", SOON("b.d.test.") NSEC("c.d.test."), "c.d.test.", CLASS_IN, 20, 1 },
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		struct referral_ds *h = referral_ds_new(1 << 20, 1);
		unsigned sets;

		referral_ds_put(h, referral(rows[i].text), N("c.d.test."), CLASS_IN, NOW);
		sets = told(h, rows[i].cut, rows[i].class_, NOW + rows[i].later_s);
		if (sets != rows[i].sets)
			fail_msg("%s: %u", rows[i].why, sets);
		referral_ds_free(h);
	}
}

static void the_last_referral_counts_and_others_stay(void **state)
{
	(void)state;
	struct referral_ds *h = referral_ds_new(1 << 20, 1);

	referral_ds_put(h, referral(NSEC("a.d.test.") NSEC("c.d.test.")), N("c.d.test."), CLASS_IN, NOW);
	referral_ds_put(h, referral(NSEC("a.d.test.") NSEC("b.d.test.") NSEC("c.d.test.")), N("b.d.test."), CLASS_IN, NOW);
	referral_ds_put(h, referral(HASH("a.d.test.") HASH("b.d.test.") HASH("e.d.test.") HASH("f.d.test.")), N("c.d.test."), CLASS_CH, NOW);
	referral_ds_put(h, referral(NSEC("c.d.test.")), N("C.d.test."), CLASS_IN, NOW + 20);
	assert_int_equal(slab_counted(referral_ds_slab(h)).entries, 3);
	assert_int_equal(told(h, "c.d.test.", CLASS_IN, NOW + 49), 1);
	assert_int_equal(told(h, "c.d.test.", CLASS_IN, NOW), 0);
	assert_int_equal(told(h, "b.d.test.", CLASS_IN, NOW), 3);
	assert_int_equal(told(h, "c.d.test.", CLASS_CH, NOW), 4);
	referral_ds_free(h);
}

/* With the key of tests these have one hash each. */
static void an_equal_hash_is_no_equal_cut(void **state)
{
	(void)state;
	static const struct {
		const char *one, *two;
		uint16_t classes[2];
	} rows[] = {
		{ "n71841.test.", "n88049.test.", { CLASS_IN, CLASS_IN } },
		{ "n3.test.", "n3.test.", { 25532, 55340 } },
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		struct referral_ds *h = referral_ds_new(1 << 20, 1);

		referral_ds_put(h, referral(NSEC("a.d.test.")), N(rows[i].one), rows[i].classes[0], NOW);
		assert_int_equal(told(h, rows[i].two, rows[i].classes[1], NOW), 0);
		referral_ds_put(h, referral(NSEC("a.d.test.") NSEC("b.d.test.")), N(rows[i].two), rows[i].classes[1], NOW);
		assert_int_equal(slab_counted(referral_ds_slab(h)).entries, 2);
		assert_int_equal(told(h, rows[i].one, rows[i].classes[0], NOW), 1);
		assert_int_equal(told(h, rows[i].two, rows[i].classes[1], NOW), 2);
		referral_ds_free(h);
	}
}

int main(void)
{
	const struct CMUnitTest claims[] = {
		CLAIM(signed_denials_are_kept),
		CLAIM(a_large_set_is_left_out),
		CLAIM(they_are_told_of_that_cut_and_soon),
		CLAIM(the_last_referral_counts_and_others_stay),
		CLAIM(an_equal_hash_is_no_equal_cut),
	};
	int failed;

	arena_init(&arena);
	failed = RUN_CLAIMS(claims, NULL, NULL);
	arena_clear(&arena);
	return failed;
}
