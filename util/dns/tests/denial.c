/* Claims about denials.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "util/dns/denial.h"

#include "util/dns/tests/zone.h"

static struct zone_sets zones[3];
enum { NSEC, NSEC3, OPTOUT, NO_ZONE };

static int load(void **state)
{
	(void)state;
	zone_load(&zones[NSEC], "util/dns/tests/zones/nsec.zone");
	zone_load(&zones[NSEC3], "util/dns/tests/zones/nsec3.zone");
	zone_load(&zones[OPTOUT], "util/dns/tests/zones/optout.zone");
	return 0;
}

static int unload(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT(zones); i++)
		zone_clear(&zones[i]);
	return 0;
}

static const struct rrset *set_at(int zone, size_t i)
{
	const struct text_rr *rr = &zones[zone].rr[i];
	struct rrset_parts parts = { .owner = rr->owner, .type = rr->type, .class_ = CLASS_IN,
				     .records = &rr->rdata, .count = 1 };

	return rrset_build(&zones[zone].arena, &parts);
}

/* All records of a zone, but those that match or, with a '-', cover the name `without`. */
static void gather(struct denial_evidence *e, int zone, const char *without, int *hashes)
{
	uint8_t hash[NSEC3_HASH_LEN];
	bool covering = without && *without == '-';
	const uint8_t *gone = without ? N(without + covering) : NULL;

	denial_begin(e, N("d.test."), 150, hashes);
	for (size_t i = 0; i < zones[zone].count; i++) {
		const struct rrset *set = set_at(zone, i);
		struct nsec3 n;

		if (gone && set->type == TYPE_NSEC &&
		    (covering ? nsec_covers(set, e->zone, gone) :
				dname_equals(rrset_owner(set), gone)))
			continue;
		if (gone && set->type == TYPE_NSEC3) {
			assert_true(nsec3_read(set, e->zone, &n));
			nsec3_hash(gone, n.salt, n.iterations, hash);
			if (covering ? nsec3_covers(&n, hash) :
				       memcmp(n.owner, hash, sizeof(hash)) == 0)
				continue;
		}
		assert_true(denial_add(e, set));
	}
}

static void a_name_is_denied_by_two_records(void **state)
{
	(void)state;
	static const struct {
		int zone;
		const char *name, *without;
		enum denial want;
	} rows[] = {
		{ NSEC, "nothing.d.test.", NULL, DENIAL_PROVEN },
		{ NSEC, "a.b.d.test.", NULL, DENIAL_PROVEN },
		{ NSEC, "zzz.d.test.", NULL, DENIAL_PROVEN },
		{ NSEC, "nothing.d.test.", "-nothing.d.test.", DENIAL_NONE },
		{ NSEC, "nothing.d.test.", "-*.d.test.", DENIAL_NONE },
		{ NSEC, "b.d.test.", NULL, DENIAL_NONE },               /* it is there */
		{ NSEC, "ent.d.test.", NULL, DENIAL_NONE },             /* so is this, though empty */
		{ NSEC, "y.w.d.test.", NULL, DENIAL_NONE },             /* the wildcard stands for it */
		{ NSEC, "y.we.d.test.", NULL, DENIAL_NONE },            /* an empty one as well */
		{ NSEC, "x.uns.d.test.", NULL, DENIAL_NONE },           /* below a cut */
		{ NSEC, "x.dn.d.test.", NULL, DENIAL_NONE },            /* below a DNAME */
		{ NSEC, "nothing.test.", NULL, DENIAL_NONE },           /* of another zone */
		{ NSEC3, "nothing.d.test.", NULL, DENIAL_PROVEN },
		{ NSEC3, "a.b.d.test.", NULL, DENIAL_PROVEN },
		{ NSEC3, "a.b.c.d.e.f.g.d.test.", NULL, DENIAL_PROVEN },
		{ NSEC3, "nothing.d.test.", "d.test.", DENIAL_NONE },
		{ NSEC3, "nothing.d.test.", "-nothing.d.test.", DENIAL_NONE },
		{ NSEC3, "nothing.d.test.", "-*.d.test.", DENIAL_NONE },
		{ NSEC3, "b.d.test.", NULL, DENIAL_NONE },
		{ NSEC3, "ent.d.test.", NULL, DENIAL_NONE },
		{ NSEC3, "y.w.d.test.", NULL, DENIAL_NONE },
		{ NSEC3, "x.uns.d.test.", NULL, DENIAL_NONE },
		{ NSEC3, "x.dn.d.test.", NULL, DENIAL_NONE },
		{ NSEC3, "nothing.test.", NULL, DENIAL_NONE },
		{ OPTOUT, "nothing.d.test.", NULL, DENIAL_INSECURE },
		{ OPTOUT, "nothing.d.test.", "-*.d.test.", DENIAL_NONE },
		{ OPTOUT, "y.w.d.test.", NULL, DENIAL_NONE },
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		struct denial_evidence e;

		gather(&e, rows[i].zone, rows[i].without, NULL);
		if (denial_of_name(&e, N(rows[i].name)) != rows[i].want)
			fail_msg("%s of zone %d without %s", rows[i].name, rows[i].zone,
				 rows[i].without);
	}
}

/* As each alone, but hashed once. */
static void both_are_denied_at_the_cost_of_one(void **state)
{
	(void)state;
	static const char *const names[] = { "nothing.d.test.", "b.d.test.", "ent.d.test.", "y.w.d.test.", "x.uns.d.test.",
					     "a.b.d.test.", "d.test.", "nothing.test." };
	static const char *const withouts[] = { NULL, "-nothing.d.test.", "-*.d.test.", "d.test.", "*.w.d.test." };
	static const uint16_t types[] = { TYPE_A, TYPE_MX, TYPE_DS };

	for (unsigned n = 0; n < 3 * COUNT(names) * COUNT(withouts) * COUNT(types); n++) {
		const uint8_t *name = N(names[n / 3 % COUNT(names)]);
		const char *without = withouts[n / 3 / COUNT(names) % COUNT(withouts)];
		uint16_t type = types[n / 3 / COUNT(names) / COUNT(withouts)];
		int purse = 100, for_name, for_both;
		struct denial_evidence e;
		struct denial_both both;
		enum denial d;

		gather(&e, (int)(n % 3), without, &purse);
		d = denial_of_name(&e, name);
		for_name = 100 - purse;
		both = denial_of_both(&e, name, type);
		for_both = 100 - for_name - purse;
		assert_int_equal(both.name, d);
		assert_int_equal(both.type, denial_of_type(&e, name, type));
		assert_int_equal(for_both, for_name);
	}
}

static void a_type_is_denied_where_the_name_or_its_wildcard_lacks_it(void **state)
{
	(void)state;
	static const struct {
		int zone;
		const char *name;
		uint16_t type;
		const char *without;
		enum denial want;
	} rows[] = {
		{ NSEC, "b.d.test.", TYPE_AAAA, NULL, DENIAL_PROVEN },
		{ NSEC, "b.d.test.", TYPE_A, NULL, DENIAL_NONE },
		{ NSEC, "d.test.", TYPE_A, NULL, DENIAL_PROVEN },
		{ NSEC, "d.test.", TYPE_DS, NULL, DENIAL_NONE },        /* that is the parent's */
		{ NSEC, "cn.d.test.", TYPE_A, NULL, DENIAL_NONE },      /* an alias */
		{ NSEC, "uns.d.test.", TYPE_A, NULL, DENIAL_NONE },     /* the child's word */
		{ NSEC, "uns.d.test.", TYPE_DS, NULL, DENIAL_PROVEN },
		{ NSEC, "sec.d.test.", TYPE_DS, NULL, DENIAL_NONE },
		{ NSEC, "ent.d.test.", TYPE_A, NULL, DENIAL_PROVEN },
		{ NSEC, "ent.d.test.", TYPE_A, "-ent.d.test.", DENIAL_NONE },
		{ NSEC, "y.w.d.test.", TYPE_A, NULL, DENIAL_PROVEN },
		{ NSEC, "y.w.d.test.", TYPE_TXT, NULL, DENIAL_NONE },
		{ NSEC, "y.w.d.test.", TYPE_A, "*.w.d.test.", DENIAL_NONE },
		{ NSEC, "y.we.d.test.", TYPE_A, NULL, DENIAL_PROVEN },
		{ NSEC, "nothing.d.test.", TYPE_A, NULL, DENIAL_NONE },
		{ NSEC3, "b.d.test.", TYPE_AAAA, NULL, DENIAL_PROVEN },
		{ NSEC3, "b.d.test.", TYPE_A, NULL, DENIAL_NONE },
		{ NSEC3, "d.test.", TYPE_DS, NULL, DENIAL_NONE },
		{ NSEC3, "cn.d.test.", TYPE_A, NULL, DENIAL_NONE },
		{ NSEC3, "uns.d.test.", TYPE_A, NULL, DENIAL_NONE },
		{ NSEC3, "uns.d.test.", TYPE_DS, NULL, DENIAL_PROVEN },
		{ NSEC3, "ent.d.test.", TYPE_A, NULL, DENIAL_PROVEN },
		{ NSEC3, "ent.d.test.", TYPE_A, "ent.d.test.", DENIAL_NONE },
		{ NSEC3, "y.w.d.test.", TYPE_A, NULL, DENIAL_PROVEN },
		{ NSEC3, "y.w.d.test.", TYPE_TXT, NULL, DENIAL_NONE },
		{ NSEC3, "y.w.d.test.", TYPE_A, "*.w.d.test.", DENIAL_NONE },
		{ NSEC3, "y.w.d.test.", TYPE_A, "w.d.test.", DENIAL_NONE },
		{ NSEC3, "y.w.d.test.", TYPE_A, "-y.w.d.test.", DENIAL_NONE },
		{ OPTOUT, "b.d.test.", TYPE_AAAA, NULL, DENIAL_PROVEN },
		{ OPTOUT, "uns.d.test.", TYPE_DS, NULL, DENIAL_INSECURE },
		{ OPTOUT, "ent-above-uns.d.test.", TYPE_A, NULL, DENIAL_INSECURE },
		{ OPTOUT, "y.w.d.test.", TYPE_A, NULL, DENIAL_INSECURE }, /* though the wildcard lacks it */
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		struct denial_evidence e;

		gather(&e, rows[i].zone, rows[i].without, NULL);
		if (denial_of_type(&e, N(rows[i].name), rows[i].type) != rows[i].want)
			fail_msg("%s type %u of zone %d without %s", rows[i].name, rows[i].type,
				 rows[i].zone, rows[i].without);
	}
}

static void a_wildcard_answer_needs_proof_that_nothing_is_closer(void **state)
{
	(void)state;
	static const struct {
		int zone;
		const char *name;
		unsigned labels;
		const char *without;
		enum denial want;
	} rows[] = {
		{ NSEC, "y.w.d.test.", 3, NULL, DENIAL_PROVEN },
		{ NSEC, "a.y.w.d.test.", 3, NULL, DENIAL_PROVEN },
		{ NSEC, "y.w.d.test.", 2, NULL, DENIAL_NONE },          /* w.d.test. is closer */
		{ NSEC, "x.w.d.test.", 3, NULL, DENIAL_NONE },          /* it is there itself */
		{ NSEC, "y.w.d.test.", 3, "-y.w.d.test.", DENIAL_NONE },
		{ NSEC3, "y.w.d.test.", 3, NULL, DENIAL_PROVEN },
		{ NSEC3, "y.w.d.test.", 2, NULL, DENIAL_NONE },
		{ NSEC3, "x.w.d.test.", 3, NULL, DENIAL_NONE },
		{ NSEC3, "y.w.d.test.", 3, "-y.w.d.test.", DENIAL_NONE },
		{ NSEC3, "y.w.d.test.", 1, NULL, DENIAL_NONE },         /* above the zone */
		{ NSEC3, "y.w.d.test.", 4, NULL, DENIAL_NONE },         /* no wildcard at all */
		{ OPTOUT, "y.w.d.test.", 3, NULL, DENIAL_INSECURE },
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		struct denial_evidence e;

		gather(&e, rows[i].zone, rows[i].without, NULL);
		if (denial_of_closer(&e, N(rows[i].name), rows[i].labels) != rows[i].want)
			fail_msg("%s labels %u of zone %d", rows[i].name, rows[i].labels,
				 rows[i].zone);
	}
}

static void a_missing_ds_tells_whether_a_zone_begins(void **state)
{
	(void)state;
	static const struct {
		int zone;
		const char *name, *without;
		enum denial_cut want;
	} rows[] = {
		{ NSEC, "uns.d.test.", NULL, CUT_INSECURE },
		{ NSEC, "uns.d.test.", "uns.d.test.", CUT_UNKNOWN },
		{ NSEC, "sec.d.test.", NULL, CUT_UNKNOWN },             /* it has one */
		{ NSEC, "b.d.test.", NULL, CUT_NONE },
		{ NSEC, "ent.d.test.", NULL, CUT_NONE },
		{ NSEC, "nothing.d.test.", NULL, CUT_NONE },
		{ NSEC, "y.w.d.test.", NULL, CUT_NONE },
		{ NSEC, "x.uns.d.test.", NULL, CUT_UNKNOWN },
		{ NSEC, "d.test.", NULL, CUT_UNKNOWN },                 /* the parent would know */
		{ NSEC3, "uns.d.test.", NULL, CUT_INSECURE },
		{ NSEC3, "uns.d.test.", "uns.d.test.", CUT_UNKNOWN },
		{ NSEC3, "sec.d.test.", NULL, CUT_UNKNOWN },
		{ NSEC3, "b.d.test.", NULL, CUT_NONE },
		{ NSEC3, "ent.d.test.", NULL, CUT_NONE },
		{ NSEC3, "nothing.d.test.", NULL, CUT_NONE },
		{ NSEC3, "x.uns.d.test.", NULL, CUT_UNKNOWN },
		{ OPTOUT, "uns.d.test.", NULL, CUT_OPTOUT },
		{ OPTOUT, "sec.d.test.", NULL, CUT_UNKNOWN },
		{ OPTOUT, "b.d.test.", NULL, CUT_NONE },
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		struct denial_evidence e;
		enum denial_cut got;

		gather(&e, rows[i].zone, rows[i].without, NULL);
		got = denial_of_ds(&e, N(rows[i].name));
		if (got != rows[i].want)
			fail_msg("%s of zone %d: %d, not %d", rows[i].name, rows[i].zone, got,
				 rows[i].want);
	}
}

static const struct rrset *record(struct arena *a, const char *line)
{
	struct fault f = { .set = false };
	struct text_rr rr;
	struct rrset_parts parts = { .class_ = CLASS_IN, .records = &rr.rdata, .count = 1 };

	if (!text_rr_parse(a, line, NULL, &rr, &f))
		fail_msg("%s: %s", line, f.text);
	parts.owner = rr.owner;
	parts.type = rr.type;
	return rrset_build(a, &parts);
}

/* RFC 6840 4.3: the CNAME bit counts as the type's own does. */
static void a_cut_with_an_alias_is_none(void **state)
{
	(void)state;
	static const struct {
		const char *line;
		enum denial_cut want;
	} rows[] = {
		{ "c.d.test. 60 NSEC e.d.test. NS RRSIG NSEC", CUT_INSECURE },
		{ "c.d.test. 60 NSEC e.d.test. NS CNAME RRSIG NSEC", CUT_UNKNOWN },
		{ "c.d.test. 60 NSEC e.d.test. CNAME RRSIG NSEC", CUT_NONE },
		{ "c.d.test. 60 NSEC e.d.test. NS DS RRSIG NSEC", CUT_UNKNOWN },
		{ "c.d.test. 60 NSEC e.d.test. NS SOA RRSIG NSEC", CUT_UNKNOWN }, /* from below the cut */
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		struct denial_evidence e;
		struct arena a;

		arena_init(&a);
		denial_begin(&e, N("d.test."), 150, NULL);
		assert_true(denial_add(&e, record(&a, rows[i].line)));
		if (denial_of_ds(&e, N("c.d.test.")) != rows[i].want)
			fail_msg("%s: not %d", rows[i].line, rows[i].want);
		arena_clear(&a);
	}
}

static void a_zone_speaks_of_its_own_names_only(void **state)
{
	(void)state;
	static const struct {
		const char *why, *line;
		bool want;
	} rows[] = {
		{ "a whole one", "a.d.test. NSEC c.d.test. A", true },
		{ "the last one", "z.d.test. NSEC d.test. A", true },
		{ "next is the neighbour's", "a.d.test. NSEC z.test. A", false },
		{ "next is above", "a.d.test. NSEC test. A", false },
		{ "owner is the neighbour's", "a.e.test. NSEC c.d.test. A", false },
		{ "backwards, but not to the apex", "z.d.test. NSEC b.d.test. A", false },
		{ "to itself, and not the apex", "a.d.test. NSEC a.d.test. A", false },
		{ "the only one", "d.test. NSEC d.test. A", true },
		{ "a whole NSEC3",
		  "gg0g3h1qsrb66nkbtbbjdhtgru03e9ov.d.test. NSEC3 1 0 0 - "
		  "gjagtbpmma60pn7sl0b2lpkericngib0 A", true },
		{ "two labels above the zone",
		  "gg0g3h1qsrb66nkbtbbjdhtgru03e9ov.x.d.test. NSEC3 1 0 0 - "
		  "gjagtbpmma60pn7sl0b2lpkericngib0 A", false },
		{ "below another zone",
		  "gg0g3h1qsrb66nkbtbbjdhtgru03e9ov.e.test. NSEC3 1 0 0 - "
		  "gjagtbpmma60pn7sl0b2lpkericngib0 A", false },
		{ "no hash", "xg0g3h1qsrb66nkbtbbjdhtgru03e9ov.d.test. NSEC3 1 0 0 - "
			     "gjagtbpmma60pn7sl0b2lpkericngib0 A", false },
		{ "a character after the nines", ":g0g3h1qsrb66nkbtbbjdhtgru03e9ov.d.test. NSEC3 1 0 0 - "
						 "gjagtbpmma60pn7sl0b2lpkericngib0 A", false },
		{ "one before the letters", "_g0g3h1qsrb66nkbtbbjdhtgru03e9ov.d.test. NSEC3 1 0 0 - "
					    "gjagtbpmma60pn7sl0b2lpkericngib0 A", false },
		{ "one after the last letter", "wg0g3h1qsrb66nkbtbbjdhtgru03e9ov.d.test. NSEC3 1 0 0 - "
					       "gjagtbpmma60pn7sl0b2lpkericngib0 A", false },
		{ "a long hash", "gg0g3h1qsrb66nkbtbbjdhtgru03e9ovg.d.test. NSEC3 1 0 0 - "
				 "gjagtbpmma60pn7sl0b2lpkericngib0 A", false },
		{ "a short hash", "gg0g3h1qsrb66nkb.d.test. NSEC3 1 0 0 - "
				  "gjagtbpmma60pn7sl0b2lpkericngib0 A", false },
		{ "unknown hash algorithm",
		  "gg0g3h1qsrb66nkbtbbjdhtgru03e9ov.d.test. NSEC3 2 0 0 - "
		  "gjagtbpmma60pn7sl0b2lpkericngib0 A", false },
		{ "unknown flag",
		  "gg0g3h1qsrb66nkbtbbjdhtgru03e9ov.d.test. NSEC3 1 2 0 - "
		  "gjagtbpmma60pn7sl0b2lpkericngib0 A", false },
		{ "a short next hash",
		  "gg0g3h1qsrb66nkbtbbjdhtgru03e9ov.d.test. NSEC3 1 0 0 - "
		  "gjagtbpmma60pn7s A", false },
		{ "no denial", "a.d.test. A 192.0.2.1", false },
	};
	struct arena a;

	arena_init(&a);
	for (size_t i = 0; i < COUNT(rows); i++) {
		struct denial_evidence e;

		denial_begin(&e, N("d.test."), 150, NULL);
		if (denial_add(&e, record(&a, rows[i].line)) != rows[i].want)
			fail_msg("%s", rows[i].why);
	}
	arena_clear(&a);
}

static const struct rrset *made(struct arena *a, const char *owner, uint16_t type, const struct slice *rdata, size_t count)
{
	struct rrset_parts parts = { .owner = N(owner), .type = type, .class_ = CLASS_IN, .records = rdata, .count = count };

	return rrset_build(a, &parts);
}

#define HASH_20 "12345678901234567890"

/* What no text could say. */
static void a_record_that_cannot_be_read_is_no_evidence(void **state)
{
	(void)state;
	static const char hashed[] = "gg0g3h1qsrb66nkbtbbjdhtgru03e9ov.d.test.";
	static const struct {
		const char *why, *owner;
		uint16_t type;
		struct slice rdata;
		bool want;
	} rows[] = {
		{ "a whole NSEC", "a.d.test.", TYPE_NSEC, { BYTES("\1b\1d\4test\0\0\1\x40") }, true },
		{ "its next name has no end", "a.d.test.", TYPE_NSEC, { BYTES("\1b\1d\4tes") }, false },
		{ "its bitmap is cut", "a.d.test.", TYPE_NSEC, { BYTES("\1b\1d\4test\0\0\2\x40") }, false },
		{ "a whole NSEC3", hashed, TYPE_NSEC3, { BYTES("\1\0\0\0\0\24" HASH_20 "\0\1\x40") }, true },
		{ "its next hash is cut", hashed, TYPE_NSEC3, { BYTES("\1\0\0\0\0\24" "1234567890") }, false },
		{ "its bitmap is cut", hashed, TYPE_NSEC3, { BYTES("\1\0\0\0\0\24" HASH_20 "\0\2\x40") }, false },
	};
	struct denial_evidence e;
	struct slice two[] = { rows[3].rdata, { BYTES("\1\0\0\0\0\24" HASH_20 "\0\1\x20") } };
	struct arena a;

	arena_init(&a);
	for (size_t i = 0; i < COUNT(rows); i++) {
		denial_begin(&e, N("d.test."), 150, NULL);
		if (denial_add(&e, made(&a, rows[i].owner, rows[i].type, &rows[i].rdata, 1)) != rows[i].want)
			fail_msg("%s", rows[i].why);
	}
	assert_false(denial_add(&e, made(&a, hashed, TYPE_NSEC3, two, 2)));
	two[0] = rows[0].rdata;
	two[1] = (struct slice){ BYTES("\1c\1d\4test\0\0\1\x40") };
	assert_false(denial_add(&e, made(&a, "a.d.test.", TYPE_NSEC, two, 2)));
	/* The last NSEC of the root zone has a next name of one byte. */
	denial_begin(&e, N("."), 150, NULL);
	assert_true(denial_add(&e, made(&a, "zz.", TYPE_NSEC, &(struct slice){ BYTES("\0\0\1\x40") }, 1)));
	arena_clear(&a);
}

static void more_records_than_are_looked_at_are_refused(void **state)
{
	(void)state;
	struct denial_evidence e;
	struct arena a;
	char line[128];

	arena_init(&a);
	denial_begin(&e, N("d.test."), 150, NULL);
	for (unsigned i = 0; i < DENIAL_SETS + 1; i++) {
		snprintf(line, sizeof line, "a%02u.d.test. NSEC b%02u.d.test. A", i, i);
		assert_int_equal(denial_add(&e, record(&a, line)), i < DENIAL_SETS);
		snprintf(line, sizeof line, "gg0g3h1qsrb66nkbtbbjdhtgru03e9%02u.d.test. NSEC3 1 0 0 - "
					    "gjagtbpmma60pn7sl0b2lpkericngib0 A", i);
		assert_int_equal(denial_add(&e, record(&a, line)), i < DENIAL_SETS);
	}
	arena_clear(&a);
}

/* All data at a name is denied where there is nothing but what proves it (RFC 4034 4, RFC 9824). */
static void any_is_denied_where_there_is_no_data(void **state)
{
	(void)state;
	static const struct {
		const char *types;
		enum denial want;
	} rows[] = {
		{ "RRSIG NSEC", DENIAL_PROVEN },
		{ "RRSIG NSEC TYPE128", DENIAL_PROVEN },
		{ "RRSIG NSEC NSEC3", DENIAL_PROVEN },
		{ "A RRSIG NSEC", DENIAL_NONE },
		{ "RRSIG NSEC TYPE302", DENIAL_NONE }, /* 256 and the number of RRSIG */
		{ "CAA", DENIAL_NONE },
	};
	struct denial_evidence e;
	struct arena a;
	char line[128];

	arena_init(&a);
	for (size_t i = 0; i < COUNT(rows); i++) {
		denial_begin(&e, N("d.test."), 150, NULL);
		snprintf(line, sizeof line, "a.d.test. NSEC c.d.test. %s", rows[i].types);
		assert_true(denial_add(&e, record(&a, line)));
		if (denial_of_type(&e, N("a.d.test."), TYPE_ANY) != rows[i].want)
			fail_msg("%s", rows[i].types);
	}
	arena_clear(&a);
}

/* A server may send both kinds; what one of them proves is proven. */
static void one_kind_that_proves_it_is_enough(void **state)
{
	(void)state;
	struct denial_evidence e;
	struct denial_both both;

	gather(&e, NSEC, NULL, NULL);
	assert_true(denial_add(&e, set_at(NSEC3, 0)));
	both = denial_of_both(&e, N("nothing.d.test."), TYPE_A);
	assert_int_equal(both.name, DENIAL_PROVEN);
	both = denial_of_both(&e, N("b.d.test."), TYPE_AAAA);
	assert_int_equal(both.type, DENIAL_PROVEN);
	assert_int_equal(both.name, DENIAL_NONE);
}

static void records_of_other_parameters_are_no_evidence(void **state)
{
	(void)state;
	struct denial_evidence e;
	struct arena a;

	arena_init(&a);
	denial_begin(&e, N("d.test."), 150, NULL);
#define HASHED(parameters) \
	record(&a, "gg0g3h1qsrb66nkbtbbjdhtgru03e9ov.d.test. NSEC3 1 0 " parameters \
		   " gjagtbpmma60pn7sl0b2lpkericngib0 A")
	assert_true(denial_add(&e, HASHED("1 aa")));
	assert_false(denial_add(&e, HASHED("2 aa")));
	assert_false(denial_add(&e, HASHED("1 ab")));
	assert_false(denial_add(&e, HASHED("1 -")));
	assert_true(denial_add(&e, HASHED("1 aa")));
	arena_clear(&a);
}

/* One that was refused denies nothing, although it stands at the hash of the name. */
static void what_was_refused_is_not_looked_at(void **state)
{
	(void)state;
	uint8_t hash[NSEC3_HASH_LEN], owner[DNAME_MAX];
	char name[DNAME_TEXT], line[256];
	struct denial_evidence e;
	struct arena a;

	arena_init(&a);
	denial_begin(&e, N("d.test."), 150, NULL);
	assert_true(denial_add(&e, HASHED("0 -")));
	nsec3_hash(N("m.d.test."), (struct slice){ NULL, 0 }, 0, hash);
	assert_true(nsec3_owner(hash, N("d.test."), owner));
	for (unsigned iterations = 2; iterations--;) {
		snprintf(line, sizeof(line), "%s NSEC3 1 0 %u - gjagtbpmma60pn7sl0b2lpkericngib0 TXT", dname_print(owner, name),
			 iterations);
		assert_int_equal(denial_add(&e, record(&a, line)), iterations == 0);
		assert_int_equal(denial_of_type(&e, N("m.d.test."), TYPE_A), iterations ? DENIAL_NONE : DENIAL_PROVEN);
	}
	arena_clear(&a);
}

static void hashing_has_a_price_and_a_bound(void **state)
{
	(void)state;
	struct denial_evidence e;
	int purse = 3;

	assert_int_equal(nsec3_cost(0), 1);
	assert_int_equal(nsec3_cost(49), 1);
	assert_int_equal(nsec3_cost(150), 4);
	/* The name, its parent and the wildcard: three hashes of few rounds. */
	gather(&e, NSEC3, NULL, &purse);
	assert_int_equal(denial_of_name(&e, N("nothing.d.test.")), DENIAL_PROVEN);
	assert_int_equal(purse, 0);
	assert_int_equal(denial_of_name(&e, N("nothing.d.test.")), DENIAL_EXHAUSTED);
	assert_int_equal(denial_of_type(&e, N("b.d.test."), TYPE_AAAA), DENIAL_EXHAUSTED);
	assert_int_equal(denial_of_closer(&e, N("y.w.d.test."), 3), DENIAL_EXHAUSTED);
	assert_int_equal(denial_of_ds(&e, N("uns.d.test.")), CUT_EXHAUSTED);
	/* For the name and its parent, but not for the wildcard: what that would have said is not known; what an
	 * opted-out span says does not depend on it. */
	purse = 2;
	assert_int_equal(denial_of_name(&e, N("nothing.d.test.")), DENIAL_EXHAUSTED);
	purse = 2;
	assert_int_equal(denial_of_type(&e, N("nothing.d.test."), TYPE_A), DENIAL_EXHAUSTED);
	gather(&e, OPTOUT, NULL, &purse);
	purse = 2;
	assert_int_equal(denial_of_name(&e, N("nothing.d.test.")), DENIAL_EXHAUSTED);
	purse = 2;
	assert_int_equal(denial_of_type(&e, N("nothing.d.test."), TYPE_A), DENIAL_INSECURE);
	gather(&e, NSEC3, NULL, &purse);
	/* Where no encloser is shown, the name and all above it in the zone are hashed, and nothing above the zone. */
	gather(&e, NSEC3, "d.test.", &purse);
	purse = 3;
	assert_int_equal(denial_of_name(&e, N("a.nothing.d.test.")), DENIAL_NONE);
	assert_int_equal(purse, 0);
	gather(&e, NSEC3, NULL, &purse);
	/* Nothing is closer than what is above the zone, or in another one. */
	purse = 10;
	assert_int_equal(denial_of_closer(&e, N("y.w.d.test."), 0), DENIAL_NONE);
	assert_int_equal(denial_of_closer(&e, N("y.w.d.test."), 1), DENIAL_NONE);
	assert_int_equal(denial_of_closer(&e, N("a.b.c.test."), 2), DENIAL_NONE);
	assert_int_equal(denial_of_closer(&e, N("y.w.d.test."), 4), DENIAL_NONE);
	/* For a name of another zone nothing is. */
	purse = 2;
	assert_int_equal(denial_of_name(&e, N("a.b.c.d.nothing.test.")), DENIAL_NONE);
	assert_int_equal(purse, 2);
	/* Above the limit nothing is computed, and nothing spent. */
	purse = 10;
	e.max_iterations = 2;
	assert_int_equal(denial_of_name(&e, N("nothing.d.test.")), DENIAL_COSTLY);
	assert_int_equal(denial_of_type(&e, N("b.d.test."), TYPE_AAAA), DENIAL_COSTLY);
	assert_int_equal(denial_of_closer(&e, N("y.w.d.test."), 3), DENIAL_COSTLY);
	assert_int_equal(denial_of_ds(&e, N("uns.d.test.")), CUT_COSTLY);
	assert_int_equal(purse, 10);
}

/* RFC 5155 appendix A: salt aabbccdd, 12 iterations. */
static void names_are_hashed_as_in_the_standard(void **state)
{
	(void)state;
	static const struct {
		const char *name, *want;
	} rows[] = {
		{ "example.", "0p9mhaveqvm6t7vbl5lop2u3t2rp3tom." },
		{ "a.example.", "35mthgpgcu1qg68fab165klnsnk3dpvl." },
		{ "ai.example.", "gjeqe526plbf1g8mklp59enfd789njgi." },
		{ "ns1.example.", "2t7b4g4vsa5smi47k61mv5bv1a22bojr." },
		{ "NS2.Example.", "q04jkcevqvmu85r014c7dkba38o0ji5r." },
		{ "w.example.", "k8udemvp1j2f7eg6jebps17vp3n8i58h." },
		{ "*.w.example.", "r53bq7cc2uvmubfu5ocmm6pers9tk9en." },
		{ "x.w.example.", "b4um86eghhds6nea196smvmlo4ors995." },
		{ "y.w.example.", "ji6neoaepv8b5o6k4ev33abha8ht9fgc." },
		{ "x.y.w.example.", "2vptu5timamqttgl4luu9kg21e0aor3s." },
		{ "xx.example.", "t644ebqk9bibcna874givr6joj62mlhv." },
	};
	uint8_t hash[NSEC3_HASH_LEN], owner[DNAME_MAX];

	for (size_t i = 0; i < COUNT(rows); i++) {
		nsec3_hash(N(rows[i].name), SLICE("\xaa\xbb\xcc\xdd"), 12, hash);
		assert_int_equal(nsec3_owner(hash, N("."), owner), 34);
		assert_name_is(owner, rows[i].want);
	}
	assert_int_equal(nsec3_owner(hash, N("example."), owner), 42);
}

static void a_bitmap_is_read_within_its_bounds(void **state)
{
	(void)state;
	static const struct {
		const char *why;
		struct slice bitmap;
		bool sound, has_a, has_caa;
	} rows[] = {
		{ "nothing", { BYTES("") }, true, false, false },
		{ "A", { BYTES("\0\1\x40") }, true, true, false },
		{ "A and CAA", { BYTES("\0\1\x40\1\1\x40") }, true, true, true },
		{ "CAA alone", { BYTES("\1\1\x40") }, true, false, true },
		{ "windows in wrong order", { BYTES("\1\1\x40\0\1\x40") }, false, true, true },
		{ "a window twice", { BYTES("\0\1\x40\0\1\x40") }, false, true, false },
		{ "an empty window", { BYTES("\0\0") }, false, false, false },
		{ "a cut window", { BYTES("\0\2\x40") }, false, false, false },
		{ "a full window",
		  { BYTES("\0\40\x40\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\1") },
		  true, true, false },
		{ "a lone number", { BYTES("\0") }, false, false, false },
		{ "a long window",
		  { BYTES("\0\41\x40\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0") },
		  false, true, false },
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		if (types_are_sound(rows[i].bitmap) != rows[i].sound ||
		    types_hold(rows[i].bitmap, TYPE_A) != rows[i].has_a ||
		    types_hold(rows[i].bitmap, TYPE_CAA) != rows[i].has_caa)
			fail_msg("%s", rows[i].why);
	}
}

/* Nor is what stands behind a window one of its types. */
static void a_bitmap_has_data_within_its_bounds(void **state)
{
	(void)state;
	static const uint8_t bare[] = { 0, 6, 0, 0, 0, 0, 0, 3, 0x80 };

	assert_false(types_hold_data((struct slice){ bare, 8 })); /* RRSIG and NSEC */
	assert_true(types_hold_data((struct slice){ (const uint8_t[]){ 0, 1, 0x40 }, 3 }));
	assert_false(types_hold_data((struct slice){ bare, 0 }));
	assert_false(types_hold((struct slice){ BYTES("\0\1\x40\200\1\x40") }, 8));
}

/* What one record shows to be there, another cannot deny. */
static void a_name_with_a_record_of_its_own_is_there(void **state)
{
	(void)state;
	static const char *const lines[] = { "d.test. NSEC b.d.test. SOA", "k.d.test. NSEC z.d.test. A", "m.d.test. NSEC n.d.test. TXT" };
	struct denial_evidence e;
	struct arena a;

	arena_init(&a);
	for (unsigned count = 2; count <= COUNT(lines); count++) {
		denial_begin(&e, N("d.test."), 150, NULL);
		for (unsigned i = 0; i < count; i++)
			assert_true(denial_add(&e, record(&a, lines[i])));
		assert_int_equal(denial_of_name(&e, N("m.d.test.")), count == 2 ? DENIAL_PROVEN : DENIAL_NONE);
	}
	arena_clear(&a);
}

/* One kind of record is not read as the other, whoever asks. */
static void each_kind_is_read_as_itself(void **state)
{
	(void)state;
	static const char hashed[] = "gg0g3h1qsrb66nkbtbbjdhtgru03e9ov.d.test.";
	const struct slice next = { BYTES("\1b\1d\4test\0\0\1\x40") }, hash = { BYTES("\1\0\0\0\0\24" HASH_20 "\0\1\x40") };
	struct nsec3 n;
	struct arena a;

	arena_init(&a);
	assert_true(nsec_is_sound(made(&a, "a.d.test.", TYPE_NSEC, &next, 1), N("d.test.")));
	assert_false(nsec_is_sound(made(&a, "a.d.test.", TYPE_A, &next, 1), N("d.test.")));
	assert_true(nsec3_read(made(&a, hashed, TYPE_NSEC3, &hash, 1), N("d.test."), &n));
	assert_false(nsec3_read(made(&a, hashed, TYPE_NSEC, &hash, 1), N("d.test."), &n));
	arena_clear(&a);
}

static void a_span_of_hashes_may_wrap(void **state)
{
	(void)state;
	static const uint8_t low[20] = { 1 }, mid[21] = { 5, [20] = 9 }, high[20] = { 9 };
	struct nsec3 n = { .next = { mid, 20 } };

	memcpy(n.owner, low, 20);
	assert_false(nsec3_covers(&n, (const uint8_t[21]){ 5, [20] = 1 })); /* what stands behind it is no part of it */
	assert_false(nsec3_covers(&n, low));
	assert_false(nsec3_covers(&n, mid));
	assert_false(nsec3_covers(&n, high));
	assert_true(nsec3_covers(&n, (const uint8_t[20]){ 3 }));
	memcpy(n.owner, high, 20);
	n.next.at = low;
	assert_true(nsec3_covers(&n, (const uint8_t[20]){ 10 }));
	assert_true(nsec3_covers(&n, (const uint8_t[20]){ 0, 1 }));
	assert_false(nsec3_covers(&n, mid));
	n.next.at = n.owner;                    /* the only record of its zone */
	assert_true(nsec3_covers(&n, mid));
	assert_false(nsec3_covers(&n, high));
	n.next.at = (const uint8_t[21]){ [0] = 9, [20] = 255 };
	assert_true(nsec3_covers(&n, mid));
	assert_true(nsec3_covers(&n, (const uint8_t[20]){ 10 }));
}

int main(void)
{
	const struct CMUnitTest claims[] = {
		cmocka_unit_test(a_name_is_denied_by_two_records),
		cmocka_unit_test(both_are_denied_at_the_cost_of_one),
		cmocka_unit_test(a_type_is_denied_where_the_name_or_its_wildcard_lacks_it),
		cmocka_unit_test(a_wildcard_answer_needs_proof_that_nothing_is_closer),
		cmocka_unit_test(a_missing_ds_tells_whether_a_zone_begins),
		cmocka_unit_test(a_cut_with_an_alias_is_none),
		cmocka_unit_test(a_zone_speaks_of_its_own_names_only),
		cmocka_unit_test(a_record_that_cannot_be_read_is_no_evidence),
		cmocka_unit_test(more_records_than_are_looked_at_are_refused),
		cmocka_unit_test(any_is_denied_where_there_is_no_data),
		cmocka_unit_test(one_kind_that_proves_it_is_enough),
		cmocka_unit_test(records_of_other_parameters_are_no_evidence),
		cmocka_unit_test(what_was_refused_is_not_looked_at),
		cmocka_unit_test(hashing_has_a_price_and_a_bound),
		cmocka_unit_test(names_are_hashed_as_in_the_standard),
		cmocka_unit_test(a_bitmap_is_read_within_its_bounds),
		cmocka_unit_test(a_bitmap_has_data_within_its_bounds),
		cmocka_unit_test(each_kind_is_read_as_itself),
		cmocka_unit_test(a_name_with_a_record_of_its_own_is_there),
		cmocka_unit_test(a_span_of_hashes_may_wrap),
	};

	return cmocka_run_group_tests(claims, load, unload);
}
