/* Claims about how the negative cache keeps its records: what takes long is done in small steps.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "services/cache/nsec_ranges.h"

#include <stdio.h>

#include "services/tests/made.h"
#include "util/base/timebase.h"
#include "util/tests/turn.h"

#define NOW 1000

enum { MANY = 10 * RANGES_STEPS };

static struct arena arena;
static struct nsec_ranges *ranges;
static struct nsec_ranges_at at;

static int begin(void **state)
{
	arena_init(&arena);
	ranges = nsec_ranges_new(64 << 20, 1);
	at = (struct nsec_ranges_at){ .zone = (const uint8_t *)"\1d\4test", .now_s = NOW, .most_s = 3600 };
	at.class_ = CLASS_IN;
	return in_a_turn(state);
}

static int end(void **state)
{
	nsec_ranges_free(ranges);
	after_a_turn(state);
	arena_clear(&arena);
	return 0;
}

static void put_nsec3(unsigned number, const char *salt)
{
	char text[160];
	struct rrset *set;
	struct nsec3 read;

	snprintf(text, sizeof text, "%032u.d.test. 300 NSEC3 1 0 0 %s %032u A", number, salt,
		 number + 1);
	set = made_set(&arena, NOW, text);
	assert_true(nsec3_read(set, at.zone, &read));
	nsec_ranges_put_nsec3(ranges, &at, set, &read);
}

static void put_many_nsec(void)
{
	for (unsigned i = 0; i < MANY; i++) {
		char text[80];

		snprintf(text, sizeof text, "n%04u.d.test. 300 NSEC n%04u.d.test. A", i, i + 1);
		nsec_ranges_put_nsec(ranges, &at, made_set(&arena, NOW, text));
	}
}

static void a_big_zone_changes_its_parameters_in_small_steps(void **state)
{
	struct nsec_ranges_facts facts;

	(void)state;
	for (unsigned i = 0; i < MANY; i++)
		put_nsec3(i, "AA");
	assert_int_equal(nsec_ranges_counted(ranges).records, MANY);
	for (unsigned i = 1; i < 10; i++) {
		put_nsec3(0, "BB");
		assert_int_equal(nsec_ranges_counted(ranges).records, MANY - i * RANGES_STEPS);
	}
	assert_true(nsec_ranges_know(ranges, &at, &facts));
	assert_int_equal(facts.salt[0], 0xaa);
	put_nsec3(0, "BB");
	assert_true(nsec_ranges_know(ranges, &at, &facts));
	assert_int_equal(facts.salt[0], 0xbb);
	assert_int_equal(nsec_ranges_counted(ranges).records, 1);
	assert_int_equal(nsec_ranges_counted(ranges).longest, RANGES_STEPS);
}

/* Who looks for a denial meanwhile waits for no more than a few of them to go. */
static void much_is_forgotten_in_small_steps(void **state)
{
	(void)state;
	put_many_nsec();
	assert_int_equal(nsec_ranges_counted(ranges).records, MANY);
	assert_int_equal(nsec_ranges_forget(ranges, at.zone), MANY);
	assert_int_equal(nsec_ranges_counted(ranges).zones, 0);
	put_many_nsec();
	assert_int_equal(nsec_ranges_drop_under(ranges, &at, at.zone), MANY);
	assert_int_equal(nsec_ranges_counted(ranges).records, 0);
	assert_int_equal(nsec_ranges_counted(ranges).longest, RANGES_STEPS);
	put_many_nsec();
	nsec_ranges_resize(ranges, 16 << 10);
	assert_in_range(nsec_ranges_counted(ranges).bytes, 1, 16 << 10);
	assert_int_equal(nsec_ranges_counted(ranges).longest, RANGES_STEPS);
}

/* Whichever number of records brings the steps of one hold to their end. */
static void steps_are_counted_to_the_last(void **state)
{
	(void)state;
	nsec_ranges_resize(ranges, 64 << 10);
	for (unsigned count = 1; count <= 2 * RANGES_STEPS; count++) {
		for (unsigned i = 0; i < count; i++) {
			char text[80];

			snprintf(text, sizeof text, "n%04u.d.test. 300 NSEC n%04u.d.test. A", i, i + 1);
			nsec_ranges_put_nsec(ranges, &at, made_set(&arena, NOW, text));
		}
		assert_int_equal(nsec_ranges_forget(ranges, at.zone), count);
		assert_in_range(nsec_ranges_counted(ranges).longest, 1, RANGES_STEPS);
		assert_int_equal(nsec_ranges_counted(ranges).zones, 0);
	}
}

/* What nsec_ranges_know says of the zone: nothing, or whether it has a proof beside those with opt-out. */
enum said { NOTHING, OPT_OUT, MORE };

static enum said said(bool no_opt_out)
{
	struct nsec_ranges_facts facts;
	struct nsec_ranges_at ask = at;

	ask.no_opt_out = no_opt_out;
	if (!nsec_ranges_know(ranges, &ask, &facts))
		return NOTHING;
	return facts.has_nsec || (facts.has_nsec3 && !facts.opts_out) ? MORE : OPT_OUT;
}

static void put_opt_out(unsigned number)
{
	char text[160];
	struct rrset *set;
	struct nsec3 read;

	snprintf(text, sizeof text, "%032u.d.test. 300 NSEC3 1 1 7 aabb %032u NS", number, number + 1);
	set = made_set(&arena, NOW, text);
	assert_true(nsec3_read(set, at.zone, &read));
	nsec_ranges_put_nsec3(ranges, &at, set, &read);
}

/* What is told without a lock is what the records say, whichever come and go. */
static void what_a_zone_has_is_known_from_its_records(void **state)
{
	(void)state;
	struct nsec_ranges_facts facts;
	struct nsec_ranges_at other = at;

	assert_int_equal(said(true), NOTHING);
	put_opt_out(1);
	assert_int_equal(said(true), OPT_OUT);
	assert_int_equal(said(false), OPT_OUT);
	assert_true(nsec_ranges_know(ranges, &at, &facts));
	assert_int_equal(facts.iterations, 7);
	assert_int_equal(facts.salt_len, 2);
	other.zone = N("e.test.");
	assert_false(nsec_ranges_know(ranges, &other, &facts));
	other = at;
	other.class_ = 3;
	assert_false(nsec_ranges_know(ranges, &other, &facts));

	nsec_ranges_put_nsec(ranges, &at, made_set(&arena, NOW, "a.d.test. 300 NSEC c.d.test. A"));
	assert_int_equal(said(true), MORE);
	nsec_ranges_drop_nsec(ranges, &at, N("b.d.test."));
	assert_int_equal(said(true), OPT_OUT);
	put_nsec3(5, "-"); /* the zone has given up opt-out, and its salt */
	assert_int_equal(said(true), MORE);
	assert_int_equal(nsec_ranges_forget(ranges, N("d.test.")), 1);
	assert_int_equal(said(true), NOTHING);
	assert_int_equal(said(false), NOTHING);
	put_opt_out(1);
	assert_int_equal(said(true), OPT_OUT);
}

static struct rrset *put_nsec(const char *text)
{
	struct rrset *set = made_set(&arena, NOW, text);

	nsec_ranges_put_nsec(ranges, &at, set);
	return nsec_ranges_find_nsec(ranges, &at, rrset_owner(set), &arena);
}

/* Neither what is too large nor what has ended. */
static void what_is_not_worth_it_is_not_kept(void **state)
{
	(void)state;
	static const uint8_t zeros[RANGE_SIZE_MAX];
	struct rrset *small = made_set(&arena, NOW, "a.d.test. 300 NSEC c.d.test. A");
	struct slice record = rrset_record(small, 0), sig = { zeros, 0 };
	struct rrset_parts p = { .owner = rrset_owner(small), .type = TYPE_NSEC, .class_ = CLASS_IN, .ttl_s = 300,
				 .expires_s = NOW + 300, .records = &record, .count = 1, .sigs = &sig, .sig_count = 1 };
	size_t least = rrset_build(&arena, &p)->size;

	for (unsigned more = 0; more < 3; more++) {
		struct rrset *set;

		sig.len = RANGE_SIZE_MAX - least + more;
		set = rrset_build(&arena, &p);
		nsec_ranges_put_nsec(ranges, &at, set);
		assert_int_equal(nsec_ranges_counted(ranges).records, set->size <= RANGE_SIZE_MAX);
		nsec_ranges_forget(ranges, at.zone);
	}
	sig.len = 0;
	for (unsigned left = 0; left < 3; left++) {
		p.expires_s = NOW - 1 + left;
		nsec_ranges_put_nsec(ranges, &at, rrset_build(&arena, &p));
		assert_int_equal(nsec_ranges_counted(ranges).records, !time_is_past(NOW, p.expires_s));
		nsec_ranges_forget(ranges, at.zone);
	}
	assert_true(time_is_past(NOW, NOW));
}

/* Its own TTL, what it is put for, and what the zone's last SOA said before. */
static void a_record_is_kept_no_longer_than_any_limit(void **state)
{
	(void)state;
	struct rrset *soa = made_set(&arena, NOW, "d.test. 300 SOA ns.d.test. h.d.test. 1 2 3 4 5"), *set;
	struct nsec_ranges_facts facts;

	at.most_s = 100;
	set = put_nsec("a.d.test. 300 NSEC c.d.test. A");
	assert_int_equal(set->ttl_s, 100);
	assert_int_equal(set->expires_s, NOW + 100);
	at.most_s = 3600;
	assert_int_equal(put_nsec("c.d.test. 300 NSEC e.d.test. A")->expires_s, NOW + 300);
	assert_true(nsec_ranges_know(ranges, &at, &facts));
	assert_int_equal(facts.most_s, UINT32_MAX);
	at.most_s = 50;
	nsec_ranges_put_soa(ranges, &at, soa);
	at.most_s = 3600;
	assert_true(nsec_ranges_know(ranges, &at, &facts));
	assert_int_equal(facts.most_s, 50);
	assert_int_equal(put_nsec("e.d.test. 300 NSEC g.d.test. A")->expires_s, NOW + 50);
	/* the SOA itself, too: until then, and not after it */
	at.now_s = NOW + 49;
	assert_int_equal(nsec_ranges_find_soa(ranges, &at, &arena)->ttl_s, 50);
	at.now_s = NOW + 50;
	assert_null(nsec_ranges_find_soa(ranges, &at, &arena));
	/* a later one is in its place */
	at.now_s = NOW;
	at.most_s = 3600;
	nsec_ranges_put_soa(ranges, &at, soa);
	assert_int_equal(nsec_ranges_find_soa(ranges, &at, &arena)->ttl_s, 300);
	at.now_s = NOW + 299; /* one that has ended takes nothing's place */
	soa->expires_s = NOW + 299;
	nsec_ranges_put_soa(ranges, &at, soa);
	assert_non_null(nsec_ranges_find_soa(ranges, &at, &arena));
	at.now_s = NOW;
	at.zone = N("e.test.");
	nsec_ranges_put_soa(ranges, &at, soa); /* nothing is kept of that zone */
	assert_null(nsec_ranges_find_soa(ranges, &at, &arena));
	assert_false(nsec_ranges_know(ranges, &at, &facts));
	assert_int_equal(nsec_ranges_counted(ranges).zones, 1);
}

static void one_record_stands_at_an_owner(void **state)
{
	(void)state;
	assert_int_equal(put_nsec("a.d.test. 300 NSEC c.d.test. A")->ttl_s, 300);
	assert_int_equal(put_nsec("A.d.test. 200 NSEC e.d.test. A")->ttl_s, 200);
	assert_int_equal(nsec_ranges_counted(ranges).records, 1);
	assert_non_null(nsec_ranges_find_nsec(ranges, &at, N("d.d.test."), &arena));
	at.class_ = 3;
	assert_null(nsec_ranges_find_nsec(ranges, &at, N("a.d.test."), &arena));
	at.class_ = CLASS_IN;
	at.zone = N("D.TEST.");
	assert_non_null(nsec_ranges_find_nsec(ranges, &at, N("a.d.test."), &arena));
}

/* What is found covers the name or matches it, and is fresh; one that has ended goes. */
static void what_is_found_says_something_of_it(void **state)
{
	(void)state;
	static const struct {
		const char *name;
		const char *owner;      /* of what is found; NULL: nothing */
	} rows[] = {
		{ "a.d.test.", NULL },       { "b.d.test.", "b.d.test." },   { "c.d.test.", "b.d.test." },
		{ "x.c.d.test.", "b.d.test." }, { "d.d.test.", NULL },       { "e.d.test.", NULL },
		{ "f.d.test.", "f.d.test." }, { "z.d.test.", "f.d.test." },  { "b.e.test.", NULL },
	};

	put_nsec("b.d.test. 300 NSEC d.d.test. A");
	put_nsec("f.d.test. 300 NSEC d.test. A");
	for (size_t i = 0; i < COUNT(rows); i++) {
		const struct rrset *got = nsec_ranges_find_nsec(ranges, &at, N(rows[i].name), &arena);

		if ((got != NULL) != (rows[i].owner != NULL) || (got && !dname_equals(rrset_owner(got), N(rows[i].owner))))
			fail_msg("%s", rows[i].name);
	}
	at.now_s = NOW + 299;
	assert_non_null(nsec_ranges_find_nsec(ranges, &at, N("c.d.test."), &arena));
	at.now_s = NOW + 300;
	assert_null(nsec_ranges_find_nsec(ranges, &at, N("c.d.test."), &arena));
	assert_int_equal(nsec_ranges_counted(ranges).records, 1);
	/* to be forgotten: the one that covers it, and no other */
	at.now_s = NOW;
	nsec_ranges_drop_nsec(ranges, &at, N("e.d.test."));
	assert_int_equal(nsec_ranges_counted(ranges).records, 1);
	nsec_ranges_drop_nsec(ranges, &at, N("z.d.test."));
	assert_int_equal(nsec_ranges_counted(ranges).records, 0);
	assert_int_equal(nsec_ranges_counted(ranges).zones, 0);
}

/* Hashes 2 to 4 and 7 to the end and round to 1. */
static void an_nsec3_span_may_wrap_around_the_end(void **state)
{
	(void)state;
	static const struct {
		uint8_t hash;
		bool covered, matched;
	} rows[] = { { 0, true, false }, { 1, false, false }, { 2, true, true },  { 3, true, false }, { 4, false, false },
		     { 5, false, false }, { 7, true, true },  { 9, true, false } };
	static const char *const texts[] = {
		"08000000000000000000000000000000.d.test. 300 NSEC3 1 0 0 - 0G000000000000000000000000000000 A",
		"0S000000000000000000000000000000.d.test. 300 NSEC3 1 0 0 - 04000000000000000000000000000000 A",
	};

	for (size_t i = 0; i < COUNT(texts); i++) {
		struct rrset *set = made_set(&arena, NOW, texts[i]);
		struct nsec3 read;

		assert_true(nsec3_read(set, at.zone, &read));
		nsec_ranges_put_nsec3(ranges, &at, set, &read);
	}
	for (size_t i = 0; i < COUNT(rows); i++) {
		uint8_t hash[NSEC3_HASH_LEN] = { rows[i].hash };

		if ((nsec_ranges_find_nsec3(ranges, &at, hash, &arena) != NULL) != rows[i].covered ||
		    (nsec_ranges_match_nsec3(ranges, &at, hash, &arena) != NULL) != rows[i].matched)
			fail_msg("hash %u", rows[i].hash);
	}
	for (size_t i = 0; i < 2; i++) { /* 5 is of neither, 0 of the last */
		uint8_t hash[NSEC3_HASH_LEN] = { i ? 0 : 5 };

		nsec_ranges_drop_nsec3(ranges, &at, hash);
		assert_int_equal(nsec_ranges_counted(ranges).records, 2 - i);
	}
}

/* Other iterations, another salt, of that length or another: each takes the place of all. */
static void parameters_are_the_same_in_a_zone(void **state)
{
	(void)state;
	static const struct {
		const char *parameters;
		size_t records;
	} rows[] = { { "7 aabb", 2 }, { "8 aabb", 1 }, { "7 aabc", 1 }, { "7 aa", 1 }, { "7 aabbcc", 1 }, { "7 -", 1 } };

	for (size_t i = 0; i < COUNT(rows); i++) {
		struct nsec_ranges_facts facts;
		struct rrset *set;
		struct nsec3 read;
		char text[160];

		put_opt_out(1);
		snprintf(text, sizeof text, "%032u.d.test. 300 NSEC3 1 0 %s %032u NS", 5, rows[i].parameters, 6);
		set = made_set(&arena, NOW, text);
		assert_true(nsec3_read(set, at.zone, &read));
		nsec_ranges_put_nsec3(ranges, &at, set, &read);
		assert_int_equal(nsec_ranges_counted(ranges).records, rows[i].records);
		assert_true(nsec_ranges_know(ranges, &at, &facts));
		assert_int_equal(facts.iterations, read.iterations);
		assert_int_equal(facts.salt_len, read.salt.len);
		assert_memory_equal(facts.salt, read.salt.at, read.salt.len);
		assert_int_equal(facts.opts_out, rows[i].records == 2);
		nsec_ranges_forget(ranges, at.zone);
	}
}

/* Of what is below a name, NSEC by their owners; hashes do not tell, so all. */
static void what_is_below_a_name_is_dropped(void **state)
{
	(void)state;
	static const struct {
		const char *name;
		size_t gone, left;
	} rows[] = { { "b.d.test.", 2, 3 }, { "a.b.d.test.", 1, 4 }, { "aa.d.test.", 0, 5 }, { "z.d.test.", 0, 5 },
		     { "d.test.", 5, 0 } };

	for (unsigned n = 0; n < 2 * COUNT(rows); n++) {
		size_t i = n / 2, hashed = n % 2;

		put_nsec("d.test. 300 NSEC a.d.test. A");
		put_nsec("a.d.test. 300 NSEC b.d.test. A");
		put_nsec("b.d.test. 300 NSEC a.b.d.test. A");
		put_nsec("a.b.d.test. 300 NSEC c.d.test. A");
		put_nsec("c.d.test. 300 NSEC d.test. A");
		if (hashed)
			put_nsec3(1, "-");
		assert_int_equal(nsec_ranges_drop_under(ranges, &at, N(rows[i].name)), rows[i].gone + hashed);
		assert_int_equal(nsec_ranges_counted(ranges).records, rows[i].left);
		nsec_ranges_forget(ranges, at.zone);
	}
}

/* SIEVE: what was found since is passed over, once; what has ended is not. */
static void what_is_asked_for_outlives_what_is_not(void **state)
{
	(void)state;
	size_t budget, records;

	put_many_nsec();
	nsec_ranges_resize(ranges, 4 << 20);
	records = nsec_ranges_counted(ranges).records;
	budget = nsec_ranges_counted(ranges).bytes;
	for (unsigned i = 0; i < 3; i++) /* its tables shrink with the budget */
		nsec_ranges_resize(ranges, budget = nsec_ranges_counted(ranges).bytes);
	assert_int_equal(nsec_ranges_counted(ranges).records, records);
	assert_non_null(nsec_ranges_find_nsec(ranges, &at, N("n0000.d.test."), &arena));
	nsec_ranges_resize(ranges, budget - 1000);
	assert_non_null(nsec_ranges_find_nsec(ranges, &at, N("n0000.d.test."), &arena));
	assert_null(nsec_ranges_find_nsec(ranges, &at, N("n0001.d.test."), &arena));
	assert_int_equal(nsec_ranges_counted(ranges).evictions, records - nsec_ranges_counted(ranges).records);
	assert_true(nsec_ranges_counted(ranges).evictions > 0);
	assert_true(nsec_ranges_counted(ranges).bytes <= budget - 1000);
}

int main(void)
{
#undef CLAIM
#define CLAIM(name) cmocka_unit_test_setup_teardown(name, begin, end)
	const struct CMUnitTest claims[] = {
		CLAIM(a_big_zone_changes_its_parameters_in_small_steps),
		CLAIM(much_is_forgotten_in_small_steps),
		CLAIM(steps_are_counted_to_the_last),
		CLAIM(what_a_zone_has_is_known_from_its_records),
		CLAIM(what_is_not_worth_it_is_not_kept),
		CLAIM(a_record_is_kept_no_longer_than_any_limit),
		CLAIM(one_record_stands_at_an_owner),
		CLAIM(what_is_found_says_something_of_it),
		CLAIM(an_nsec3_span_may_wrap_around_the_end),
		CLAIM(parameters_are_the_same_in_a_zone),
		CLAIM(what_is_below_a_name_is_dropped),
		CLAIM(what_is_asked_for_outlives_what_is_not),
	};

	return RUN_CLAIMS(claims, NULL, NULL);
}
