/* Claims about zones held here: what is kept, what is answered, and the digest.
 * SPDX-License-Identifier: BSD-3-Clause */
#include <stdio.h>
#include <unistd.h>

#include "services/authzone/answer.h"
#include "services/authzone/data.h"
#include "services/authzone/zonemd.h"
#include "services/authzone/zones.h"
#include "services/tests/conf.h"
#include "services/tests/made.h"
#include "util/base/rcu.h"

static void put_lines(struct zonebuild *b, const char *const *lines, bool remove)
{
	struct arena a;

	arena_init(&a);
	for (; *lines; lines++) {
		struct fault f = { 0 };
		struct text_rr rr;

		if (!text_rr_parse(&a, *lines, NULL, &rr, &f))
			fail_msg("'%s': %s", *lines, f.text);
		if (remove)
			zonebuild_remove(b, &rr);
		else
			zonebuild_add(b, &rr);
	}
	arena_clear(&a);
}

static const char *const plain[] = {
	"garden.example. 600 SOA ns.garden.example. h.garden.example. 7 3600 900 86400 60",
	"garden.example. 600 NS ns.garden.example.",
	"ns.garden.example. 600 A 192.0.2.1",
	"rose.garden.example. 600 A 192.0.2.2",
	"rose.garden.example. 600 A 192.0.2.2",
	"flower.garden.example. 600 CNAME rose.garden.example.",
	"round.garden.example. 600 CNAME about.garden.example.",
	"about.garden.example. 600 CNAME round.garden.example.",
	"*.bed.garden.example. 600 TXT \"any\"",
	"a.b.hut.garden.example. 600 A 192.0.2.4",
	"shed.garden.example. 600 NS ns.shed.garden.example.",
	"ns.shed.garden.example. 600 A 192.0.2.9",
	"old.garden.example. 600 DNAME new.garden.example.",
	"x.new.garden.example. 600 A 192.0.2.5",
	"elsewhere.example. 600 A 192.0.2.66",
	NULL,
};

static struct zonedata *make(const char *const *lines)
{
	struct zonebuild *b = zonebuild_new(N("garden.example."));
	struct fault f = { 0 };
	struct zonedata *z;

	put_lines(b, lines, false);
	z = zonebuild_finish(b, &f);
	if (!z)
		fail_msg("%s", f.text);
	return z;
}

static void a_zone_answers_by_what_it_has(void **state)
{
	(void)state;
	static const struct {
		const char *name;
		uint16_t type;
		unsigned rcode;
		bool aa;
		unsigned answer, authority, additional; /* sets */
	} rows[] = {
		{ "rose.garden.example.", TYPE_A, RCODE_NOERROR, true, 1, 0, 0 },
		{ "rose.garden.example.", TYPE_AAAA, RCODE_NOERROR, true, 0, 1, 0 },
		{ "ROSE.garden.example.", TYPE_ANY, RCODE_NOERROR, true, 1, 0, 0 },
		{ "flower.garden.example.", TYPE_A, RCODE_NOERROR, true, 2, 0, 0 },
		{ "flower.garden.example.", TYPE_CNAME, RCODE_NOERROR, true, 1, 0, 0 },
		{ "one.bed.garden.example.", TYPE_TXT, RCODE_NOERROR, true, 1, 0, 0 },
		{ "one.bed.garden.example.", TYPE_A, RCODE_NOERROR, true, 0, 1, 0 },
		{ "hut.garden.example.", TYPE_A, RCODE_NOERROR, true, 0, 1, 0 },
		{ "thorn.garden.example.", TYPE_A, RCODE_NXDOMAIN, true, 0, 1, 0 },
		{ "a.shed.garden.example.", TYPE_A, RCODE_NOERROR, false, 0, 1, 1 },
		{ "shed.garden.example.", TYPE_DS, RCODE_NOERROR, true, 0, 1, 0 },
		{ "x.old.garden.example.", TYPE_A, RCODE_NOERROR, true, 3, 0, 0 },
		{ "garden.example.", TYPE_NS, RCODE_NOERROR, true, 1, 0, 1 },
	};
	struct zonedata *z = make(plain);

	for (size_t i = 0; i < COUNT(rows); i++) {
		struct question q = made_question(rows[i].name, rows[i].type);
		struct message m;
		struct arena a;

		arena_init(&a);
		zonedata_answer(z, &q, &a, &m);
		if (m.rcode != rows[i].rcode || !(m.flags & FLAG_AA) == rows[i].aa ||
		    m.count[0] != rows[i].answer || m.count[1] != rows[i].authority ||
		    m.count[2] != rows[i].additional)
			fail_msg("%s %u: rcode %u, sets %u %u %u", rows[i].name, rows[i].type,
				 m.rcode, m.count[0], m.count[1], m.count[2]);
		arena_clear(&a);
	}
	zonedata_free(z);
}

/* A denial in a zone without NSEC records is no walk through all of its names. */
static void a_denial_costs_no_more_in_a_big_zone(void **state)
{
	(void)state;
	enum { NAMES = 100000, QUESTIONS = 50000 };
	struct zonebuild *b = zonebuild_new(N("garden.example."));
	struct question q = made_question("zz.garden.example.", TYPE_A);
	char lines[2][64] = { "garden.example. 600 SOA a.example. b.example. 1 2 3 4 5" };
	const char *one[] = { lines[0], NULL };
	struct fault f = { 0 };
	struct zonedata *z;

	put_lines(b, one, false);
	one[0] = lines[1];
	for (unsigned i = 0; i < NAMES; i++) {
		snprintf(lines[1], sizeof(lines[1]), "n%u.garden.example. 600 A 192.0.2.1", i);
		put_lines(b, one, false);
	}
	z = zonebuild_finish(b, &f);
	assert_non_null(z);
	alarm(20); /* it takes a second; the walk, minutes */
	for (unsigned i = 0; i < QUESTIONS; i++) {
		struct message m;
		struct arena a;

		arena_init(&a);
		zonedata_answer(z, &q, &a, &m);
		assert_int_equal(m.rcode, RCODE_NXDOMAIN);
		arena_clear(&a);
	}
	alarm(0);
	zonedata_free(z);
}

static void aliases_in_a_circle_come_to_an_end(void **state)
{
	(void)state;
	struct question q = made_question("round.garden.example.", TYPE_A);
	struct zonedata *z = make(plain);
	struct message m;
	struct arena a;

	arena_init(&a);
	zonedata_answer(z, &q, &a, &m);
	assert_int_equal(m.count[SECTION_ANSWER], 2);
	arena_clear(&a);
	zonedata_free(z);
}

static void what_is_no_zone_is_refused(void **state)
{
	(void)state;
	static const char *const no_soa[] = { "rose.garden.example. 600 A 192.0.2.2", NULL };
	static const char *const two[] = {
		"garden.example. 600 SOA a.example. b.example. 1 2 3 4 5",
		"garden.example. 600 SOA a.example. b.example. 2 2 3 4 5", NULL
	};
	static const char *const *const rows[] = { no_soa, two };

	for (size_t i = 0; i < COUNT(rows); i++) {
		struct zonebuild *b = zonebuild_new(N("garden.example."));
		struct fault f = { 0 };

		put_lines(b, rows[i], false);
		assert_null(zonebuild_finish(b, &f));
		assert_true(f.set);
	}
}

static void differences_fit_or_are_no_differences(void **state)
{
	(void)state;
	static const char *const there[] = { "ROSE.garden.example. 600 A 192.0.2.2", NULL };
	static const char *const nowhere[] = { "tulip.garden.example. 600 A 192.0.2.2", NULL };
	static const struct { const char *const *lines; bool good; } rows[] = {
		{ there, true }, { nowhere, false },
	};
	struct zonedata *z = make(plain);

	for (size_t i = 0; i < COUNT(rows); i++) {
		struct zonebuild *b = zonebuild_new(z->apex);
		struct fault f = { 0 };
		struct zonedata *next;

		zonebuild_add_all(b, z);
		put_lines(b, rows[i].lines, true);
		next = zonebuild_finish(b, &f);
		assert_int_equal(next != NULL, rows[i].good);
		if (next)
			assert_false(zonedata_exists(next, N("rose.garden.example.")));
		zonedata_free(next);
	}
	zonedata_free(z);
}

static void take_line(const struct text_rr *rr, void *arg)
{
	struct writer *w = arg;

	if (rr->type == TYPE_RRSIG)
		write_u16(w, get_u16(rr->rdata.at));
}

/* As in Unbound, whose files people compare: behind those that had nothing to cover before. */
static void signatures_that_lose_what_they_cover_go_last(void **state)
{
	(void)state;
#define SIGS " 8 3 600 20370101000000 20260101000000 1 garden.example. AAAA"
	static const char *const lines[] = { "garden.example. 600 SOA a.example. b.example. 1 2 3 4 5",
					     "fig.garden.example. 600 A 192.0.2.2",
					     "fig.garden.example. 600 RRSIG A" SIGS,
					     "fig.garden.example. 600 RRSIG AAAA" SIGS, NULL };
	static const char *const gone[] = { "fig.garden.example. 600 A 192.0.2.2", NULL };
	struct zonebuild *b = zonebuild_new(N("garden.example."));
	struct zonedata *before, *after;
	struct fault f = { 0 };
	uint8_t room[16];
	struct writer w = writer_over(room, sizeof(room));

	put_lines(b, lines, false);
	before = zonebuild_finish(b, &f);
	b = zonebuild_new(before->apex);
	zonebuild_add_all(b, before);
	put_lines(b, gone, true);
	after = zonebuild_finish(b, &f);
	zonedata_each(before, take_line, &w);
	zonedata_each(after, take_line, &w);
	assert_memory_equal(room, "\0\1\0\34" "\0\34\0\1", 8);
	zonedata_free(before);
	zonedata_free(after);
}

static void records_are_counted_once_and_only_the_zones_own(void **state)
{
	(void)state;
	struct zonedata *z = make(plain);

	assert_int_equal(z->records, COUNT(plain) - 3);
	assert_int_equal(z->serial, 7);
	assert_null(zonedata_node(z, N("hut.garden.example.")));
	assert_true(zonedata_exists(z, N("hut.garden.example.")));
	assert_false(zonedata_exists(z, N("elsewhere.example.")));
	zonedata_free(z);
}

/* What comes over the wire as a few bytes, being compressed, is not kept more often than it must be. */
static void a_long_name_is_kept_once(void **state)
{
	(void)state;
	enum { NAMES = 1000 };
	struct zonebuild *b = zonebuild_new(N("garden.example."));
	char lines[2][300] = { "garden.example. 600 SOA a.example. b.example. 1 2 3 4 5" };
	const char *one[] = { lines[0], NULL };
	char label[61];
	struct fault f = { 0 };
	struct zonedata *z;

	memset(label, 'x', 60);
	label[60] = '\0';
	put_lines(b, one, false);
	one[0] = lines[1];
	for (unsigned i = 0; i < NAMES; i++) {
		snprintf(lines[1], sizeof(lines[1]), "n%u.%s.%s.%s.garden.example. 600 A 192.0.2.1", i, label,
			 label, label);
		put_lines(b, one, false);
	}
	z = zonebuild_finish(b, &f);
	assert_non_null(z);
	assert_int_equal(z->count, NAMES + 1);
	assert_in_range(z->arena.taken, NAMES * 200, NAMES * 360);
	zonedata_free(z);
}

static void serials_compare_as_rfc_1982_says(void **state)
{
	(void)state;
	assert_true(serial_is_newer(2, 1));
	assert_false(serial_is_newer(1, 1));
	assert_true(serial_is_newer(1, UINT32_MAX));
	assert_false(serial_is_newer(UINT32_MAX, 1));
}

static void a_digest_is_over_every_record_but_itself(void **state)
{
	(void)state;
	uint8_t digest[ZONEMD_MOST], other[ZONEMD_MOST];
	char line[400], hex[2 * ZONEMD_MOST + 1];
	const char *with[COUNT(plain) + 1];
	struct zonedata *z = make(plain);
	struct fault f = { 0 };
	size_t len = zonemd_digest(z, ZONEMD_SHA384, digest);

	assert_int_equal(len, 48);
	assert_int_equal(zonemd_digest(z, ZONEMD_SHA512, other), 64);
	assert_int_equal(zonemd_digest(z, 3, other), 0);
	assert_int_equal(zonemd_check(z, &f), ZONEMD_ABSENT);
	zonedata_free(z);
	for (size_t i = 0; i < len; i++)
		snprintf(hex + 2 * i, 3, "%02x", digest[i]);
	memcpy(with, plain, sizeof(plain));
	with[COUNT(plain) - 1] = line;
	with[COUNT(plain)] = NULL;
	for (int wrong = 0; wrong < 3; wrong++) {
		static const enum zonemd_end want[] = { ZONEMD_RIGHT, ZONEMD_WRONG, ZONEMD_UNKNOWN };

		hex[0] = wrong == 1 ? (hex[0] == '0' ? '1' : '0') : hex[0];
		snprintf(line, sizeof(line), "garden.example. 600 ZONEMD 7 1 %d %s",
			 wrong == 2 ? 9 : 1, hex);
		z = make(with);
		assert_int_equal(zonemd_check(z, &f), want[wrong]);
		zonedata_free(z);
	}
}

/* The file is older than what was transferred since, and cannot be written. */
static void set_option_leaves_zones_as_they_are(void **state)
{
	(void)state;
	static const char *const newer[] = {
		"garden.example. 600 SOA ns.garden.example. h.garden.example. 9 3600 900 86400 60",
		"garden.example. 600 NS ns.garden.example.", NULL,
	};
	char path[] = "/tmp/authzone-XXXXXX", text[128];
	FILE *file = fdopen(mkstemp(path), "w");
	struct fault f = { 0 };
	struct authzones *old;
	struct conf *conf;

	assert_non_null(file);
	fprintf(file, "%s\n%s\n", plain[0], plain[1]);
	assert_int_equal(fclose(file), 0);
	snprintf(text, sizeof(text), "auth-zone: name: garden.example zonefile: \"%s\"", path);
	conf = conf_from(text);
	old = authzones_new(conf, &f);
	assert_non_null(old);
	assert_int_equal(authzone_stored(&old->items[0])->serial, 7);
	zonedata_free(authzone_publish(&old->items[0], make(newer), true));
	atomic_store(&old->items[0].cell->expired, true);
	for (int keeps = 0; keeps < 2; keeps++) {
		struct authzones *t = authzones_new(conf, &f);

		assert_non_null(t);
		authzones_inherit(t, old, keeps);
		assert_int_equal(authzone_stored(&t->items[0])->serial, keeps ? 9 : 7);
		assert_int_equal(atomic_load(&t->items[0].cell->expired), keeps);
		authzones_free(t);
	}
	authzones_free(old);
	conf_free(conf);
	unlink(path);
}

static void a_clause_without_a_name_is_no_zone(void **state)
{
	(void)state;
	struct fault f = { 0 };
	struct conf *conf = conf_from("auth-zone: zonefile: \"x\" rpz: auth-zone: name: garden.example rpz: name: policy.example");
	struct authzones *t = authzones_new(conf, &f);

	assert_non_null(t);
	assert_int_equal(t->count, 2);
	assert_int_equal(t->first_policy, 1);
	assert_non_null(authzones_find_exact(t, N("garden.example.")));
	assert_null(authzones_find_exact(t, N(".")));
	authzones_free(t);
	conf_free(conf);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_clause_without_a_name_is_no_zone),
		cmocka_unit_test(a_zone_answers_by_what_it_has),
		cmocka_unit_test(a_denial_costs_no_more_in_a_big_zone),
		cmocka_unit_test(aliases_in_a_circle_come_to_an_end),
		cmocka_unit_test(what_is_no_zone_is_refused),
		cmocka_unit_test(differences_fit_or_are_no_differences),
		cmocka_unit_test(signatures_that_lose_what_they_cover_go_last),
		cmocka_unit_test(records_are_counted_once_and_only_the_zones_own),
		cmocka_unit_test(a_long_name_is_kept_once),
		cmocka_unit_test(serials_compare_as_rfc_1982_says),
		cmocka_unit_test(a_digest_is_over_every_record_but_itself),
		cmocka_unit_test(set_option_leaves_zones_as_they_are),
	};
	int failed;

	rcu_thread_join();
	failed = cmocka_run_group_tests(tests, NULL, NULL);
	rcu_flush();
	rcu_thread_leave();
	return failed;
}
