/* Claims about probing the anchors that roll: when, and what becomes of the answer.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "validator/roll.h"

#include <stdlib.h>
#include <unistd.h>

#include "util/base/fault.h"
#include "util/base/log.h"
#include "validator/anchors.h"
#include "validator/autotrust.h"
#include "validator/tests/lab.h"

enum { PROBE_S = 3600 };        /* between two probes of a zone of the lab */

static struct {
	char folder[32];
	char *path[2];
	struct autotrust *point[2];
} fixture;

/* Two zones, r1. and r2., that roll, with what their files say beside a DS record. */
static void open_fixture(const char *options, const char *first, const char *second)
{
	static const char *const names[] = { "r1.", "r2." };
	const char *said[] = { first, second };
	struct fault f = { .set = false };

	lab_open(options);
	strcpy(fixture.folder, "roll-test-XXXXXX");
	assert_non_null(mkdtemp(fixture.folder));
	for (unsigned i = 0; i < 2; i++) {
		struct lab_zone *z = lab_zone(names[i]);
		FILE *file;

		fixture.path[i] = mem_textf("%s/%s", fixture.folder, names[i]);
		file = fopen(fixture.path[i], "w");
		fprintf(file, "%s\n%s 3600 IN DS %u 15 2 ", said[i], names[i], get_u16(z->ds));
		for (unsigned n = 0; n < 32; n++)
			fprintf(file, "%02x", z->ds[4 + n]);
		fclose(file);
		if (!anchors_add_rolling(lab.snapshot->trust->anchors, fixture.path[i], &f))
			fail_msg("%s", f.text);
		fixture.point[i] = anchors_rolling(lab.snapshot->trust->anchors, i);
	}
	lab.env.roll = roll_new(&lab.env);
}

static void close_fixture(void)
{
	lab_close();
	for (unsigned i = 0; i < 2; i++) {
		unlink(fixture.path[i]);
		mem_free(fixture.path[i]);
	}
	assert_int_equal(rmdir(fixture.folder), 0);
}

static void pass(uint32_t seconds)
{
	loop_play(lab.loop, seconds * US_PER_S);
}

static struct message *keys_page(const char *zone)
{
	for (unsigned i = 0; i < lab.page_count; i++)
		if (lab.pages[i].m.q.type == TYPE_DNSKEY && dname_equals(lab.pages[i].m.q.name, N(zone)))
			return &lab.pages[i].m;
	fail_msg("no keys of %s", zone);
	return NULL;
}

static void make_slow(void)
{
	for (unsigned i = 0; i < lab.page_count; i++)
		lab.pages[i].page.slow = true;
}

static bool file_says(unsigned i, const char *what)
{
	char text[4000] = "";
	FILE *file = fopen(fixture.path[i], "r");

	assert_non_null(file);
	(void)!fread(text, 1, sizeof(text) - 1, file);
	fclose(file);
	return strstr(text, what) != NULL;
}

static void each_point_is_probed_when_it_is_due(void **state)
{
	(void)state;
	static const struct {
		uint32_t at_s;
		unsigned asked;
		int64_t success[2];
	} rows[] = {
		{ 299, 0, { 0, 0 } },
		{ 300, 1, { 0, 300 } },
		{ 499, 1, { 0, 300 } },
		{ 500, 2, { 500, 300 } },
		{ 300 + PROBE_S - 1, 2, { 500, 300 } },
		{ 300 + PROBE_S, 3, { 500, 300 + PROBE_S } },
		{ 500 + PROBE_S, 4, { 500 + PROBE_S, 300 + PROBE_S } },
	};
	uint32_t now_s = 0;

	open_fixture("", ";;next_probe_time: 500", ";;next_probe_time: 300");
	for (size_t i = 0; i < COUNT(rows); i++) {
		pass(rows[i].at_s - now_s);
		now_s = rows[i].at_s;
		if (lab.asked != rows[i].asked || fixture.point[0]->last_success != rows[i].success[0] ||
		    fixture.point[1]->last_success != rows[i].success[1])
			fail_msg("at %u: %u questions, %d, %d", now_s, lab.asked, (int)fixture.point[0]->last_success,
				 (int)fixture.point[1]->last_success);
	}
	close_fixture();
}

static void one_that_is_revoked_is_not_probed(void **state)
{
	(void)state;
	open_fixture("", ";;next_probe_time: 500", ";;REVOKED\n;;next_probe_time: 300");
	pass(499);
	assert_int_equal(lab.asked, 0);
	pass(10000);
	assert_true(lab.asked > 1);
	assert_int_equal(fixture.point[1]->last_queried, 0);
	close_fixture();
}

/* The file, the anchor that others find, and what was proven with the keys before. */
static void what_a_probe_tells_is_obeyed(void **state)
{
	(void)state;
	struct key_news news = { .name = N("sub.r1."), .kind = KEYS_NONE, .ttl_s = 86400 };
	const struct anchors *a;

	open_fixture("", ";;next_probe_time: 500", ";;next_probe_time: 90000");
	a = lab.snapshot->trust->anchors;
	assert_null(anchors_find_at(a, N("r1."))->keys);
	keycache_put(lab.env.keys, &news, 0);
	news.name = N("sub.r2.");
	keycache_put(lab.env.keys, &news, 0);
	pass(500);
	assert_true(file_says(0, ";;last_success: 500 "));
	assert_true(file_says(0, "IN\tDNSKEY\t257 3 15"));
	assert_false(fixture.point[0]->changed);
	assert_non_null(anchors_find_at(a, N("r1."))->keys);
	assert_null(anchors_find_at(a, N("r1."))->ds);
	assert_null(keycache_find(lab.env.keys, N("sub.r1."), 500));
	assert_non_null(keycache_find(lab.env.keys, N("sub.r2."), 500));
	/* with the same keys again, nothing is forgotten */
	news.name = N("sub.r1.");
	keycache_put(lab.env.keys, &news, 500);
	pass(PROBE_S);
	assert_true(file_says(0, ";;last_success: 4100 "));
	assert_non_null(keycache_find(lab.env.keys, N("sub.r1."), 4100));
	close_fixture();
}

/* Of keys that are not believed other servers are asked, too; for one that gives none, it is tried later. */
static void what_is_not_believed_is_asked_for_elsewhere(void **state)
{
	(void)state;
	static const struct {
		const char *why, *options;
		bool garbled;
		uint8_t rcode;
		unsigned asked, failed;
	} rows[] = {
		{ "believed", "val-max-restart: 3\n", false, RCODE_NOERROR, 1, 0 },
		{ "not believed", "val-max-restart: 3\n", true, RCODE_NOERROR, 4, 4 },
		{ "not believed, and asked once", "val-max-restart: 0\n", true, RCODE_NOERROR, 1, 1 },
		{ "a failure, whatever is in it", "val-max-restart: 3\n", false, RCODE_SERVFAIL, 1, 0 },
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		struct message *m;

		open_fixture(rows[i].options, ";;next_probe_time: 500", ";;next_probe_time: 90000");
		m = keys_page("r1.");
		if (rows[i].garbled)
			m->sets[0] = lab_sign(lab_with_sigs(m->sets[0], NULL, 0), NULL, LAB_GARBLED);
		m->rcode = rows[i].rcode;
		pass(500);
		if (lab.asked != rows[i].asked || fixture.point[0]->query_failed != rows[i].failed ||
		    fixture.point[0]->next_probe != 500 + PROBE_S)
			fail_msg("%s: %u questions, %u failures, next at %d", rows[i].why, lab.asked,
				 fixture.point[0]->query_failed, (int)fixture.point[0]->next_probe);
		pass(PROBE_S - 1);
		assert_int_equal(lab.asked, rows[i].asked);
		pass(1);
		assert_int_equal(lab.asked, 2 * rows[i].asked);
		close_fixture();
	}
}

/* Keys that came for a question, and with which the last key of the anchor is revoked: nothing is said of its zone any
 * more, least of all by what was trusted before. */
static void what_is_heard_may_end_an_anchor(void **state)
{
	(void)state;
	struct slice record;
	struct rrset_parts p = { .type = TYPE_DNSKEY, .class_ = CLASS_IN, .ttl_s = 3600, .expires_s = 3600, .records = &record,
				 .count = 1, .trust = TRUST_ANS_AA };
	struct lab_zone *z;

	open_fixture("val-max-restart: 0\n", ";;next_probe_time: 90000", ";;next_probe_time: 90000");
	z = &lab.zones[1];
	assert_string_equal(z->name, "r1.");
	z->key[1] |= DNSKEY_REVOKE;
	record = (struct slice){ z->key, LAB_KEY_LEN };
	p.owner = N("r1.");
	lab_retell_set(lab_sign(rrset_build(&lab.arena, &p), NULL, LAB_SOUND));
	lab_tell(&(struct lab_page){ "www.r1.", TYPE_A, .answer = "www.r1. 300 IN A 192.0.2.1" });
	assert_non_null(anchors_find_at(lab.snapshot->trust->anchors, N("r1.")));
	assert_int_equal(lab_ask_to_the_end("www.r1.", TYPE_A)->security, SECURITY_INDETERMINATE);
	assert_int_equal(lab.asked, 2);
	assert_null(anchors_find_at(lab.snapshot->trust->anchors, N("r1.")));
	assert_null(keycache_find(lab.env.keys, N("r1."), lab.env.time->now_s));
	close_fixture();
}

/* While the clock is known to be wrong nothing rolls; that it is set is seen within ten seconds. */
static void without_a_clock_nothing_rolls(void **state)
{
	(void)state;
	open_fixture("", ";;next_probe_time: 500", ";;next_probe_time: 90000");
	lab.snapshot->trust->clock_floor = 1005;
	pass(1004);
	roll_hear(lab.env.roll, lab.snapshot, lab_set("r1.", TYPE_DNSKEY));
	assert_int_equal(fixture.point[0]->last_queried, 0);
	assert_int_equal(lab.asked, 0);
	pass(5);
	assert_int_equal(lab.asked, 0);
	pass(1);
	assert_int_equal(lab.asked, 1);
	assert_int_equal(fixture.point[0]->last_success, 1010);
	close_fixture();
}

/* A set that came by the way is a step like any other, for the point of its name alone. */
static void what_is_heard_by_the_way_is_learned(void **state)
{
	(void)state;
	const struct rrset *keys, *bad;

	open_fixture("", ";;next_probe_time: 5000", ";;next_probe_time: 6000");
	pass(100);
	keys = lab_set("r2.", TYPE_DNSKEY);
	bad = lab_sign(lab_with_sigs(keys, NULL, 0), NULL, LAB_GARBLED);
	roll_hear(lab.env.roll, lab.snapshot, bad);
	assert_int_equal(fixture.point[1]->query_failed, 1);
	assert_int_equal(fixture.point[1]->next_probe, 6000); /* that delays no probe */
	roll_hear(lab.env.roll, lab.snapshot, keys);
	assert_int_equal(fixture.point[1]->last_success, 100);
	assert_int_equal(fixture.point[1]->next_probe, 100 + PROBE_S);
	assert_int_equal(fixture.point[0]->last_queried, 0);
	roll_hear(lab.env.roll, lab.snapshot, lab_set("example.", TYPE_DNSKEY)); /* does not roll */
	assert_int_equal(lab.asked, 0);
	pass(PROBE_S - 1);
	assert_int_equal(lab.asked, 0);
	pass(1);
	assert_int_equal(lab.asked, 1);
	fixture.point[1]->revoked = true;
	fixture.point[1]->last_queried = 0;
	roll_hear(lab.env.roll, lab.snapshot, keys);
	assert_int_equal(fixture.point[1]->last_queried, 0);
	close_fixture();
}

/* A reload, or the end of all queries, while a probe is under way: its answer is for nobody. */
static void an_answer_from_before_a_reload_is_dropped(void **state)
{
	(void)state;
	struct snapshot *fresh;
	struct fault f = { 0 };

	for (unsigned way = 0; way < 3; way++) {
		open_fixture("", ";;next_probe_time: 500", ";;next_probe_time: 90000");
		make_slow();
		pass(500);
		assert_int_equal(lab.waiting_count, 1);
		pass(100); /* one at a time */
		assert_int_equal(lab.asked, 1);
		if (way == 0) {
			roll_renew(lab.env.roll);
			lab_deliver();
		} else if (way == 1) {
			fresh = snapshot_new(conf_from("server:\n"), &f);
			snapshot_entrust(fresh, trust_new(fresh->conf, &f), trust_free);
			lab.env.snapshot = fresh;
			lab_deliver();
			lab.env.snapshot = lab.snapshot;
			snapshot_unpin(fresh);
		} else {
			mesh_drop_all(lab.env.mesh);
			lab.waiting_count = 0;
		}
		assert_int_equal(fixture.point[0]->last_queried, 0);
		/* whoever is due is asked again */
		roll_renew(lab.env.roll);
		pass(1);
		assert_int_equal(lab.asked, 2);
		lab_deliver();
		assert_int_equal(fixture.point[0]->last_success, 601);
		close_fixture();
	}
}

static void it_may_end_while_a_probe_is_under_way(void **state)
{
	(void)state;
	open_fixture("", ";;next_probe_time: 500", ";;next_probe_time: 90000");
	make_slow();
	pass(500);
	assert_int_equal(lab.waiting_count, 1);
	struct snapshot *s = snapshot_pin(lab.snapshot);
	close_fixture();
	assert_int_equal(atomic_load(&s->pins), 1);
	snapshot_unpin(s);
}

static char lines[4096];

static void on_line(const char *line, void *arg)
{
	size_t len = strlen(lines);

	(void)arg;
	snprintf(lines + len, sizeof(lines) - len, "%s\n", line);
}

/* A key that revokes itself is heard when an answer is validated, too; without it the names below are not validated. */
static void who_revokes_its_last_key_has_no_anchor_any_more(void **state)
{
	(void)state;
	struct lab_zone *z;
	struct slice record;
	struct rrset_parts p = { .type = TYPE_DNSKEY, .class_ = CLASS_IN, .ttl_s = 3600, .records = &record, .count = 1 };
	const struct anchors *a;

	open_fixture("", ";;next_probe_time: 50000", ";;next_probe_time: 90000");
	a = lab.snapshot->trust->anchors;
	z = &lab.zones[1];
	z->key[1] |= DNSKEY_REVOKE;
	record = (struct slice){ z->key, LAB_KEY_LEN };
	p.owner = N("r1.");
	p.expires_s = 3600;
	lab_retell_set(lab_sign(rrset_build(&lab.arena, &p), NULL, LAB_SOUND));
	lab_tell(&(struct lab_page){ "www.r1.", TYPE_A, .answer = "www.r1. 300 IN A 192.0.2.1" });
	lines[0] = '\0';
	log_capture(on_line, NULL);
	lab_ask_to_the_end("www.r1.", TYPE_A);
	log_capture(NULL, NULL);
	assert_true(fixture.point[0]->revoked);
	assert_null(anchors_find_at(a, N("r1.")));
	assert_non_null(anchors_find_at(a, N("r2.")));
	assert_true(file_says(0, ";;REVOKED\n"));
	assert_non_null(strstr(lines, "all keys of trust anchor r1. are revoked"));
	lab_tell(&(struct lab_page){ "b.r1.", TYPE_A, .answer = "b.r1. 300 IN A 192.0.2.1" });
	assert_int_equal(lab_ask_to_the_end("b.r1.", TYPE_A)->security, SECURITY_INDETERMINATE);
	close_fixture();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_point_is_probed_when_it_is_due),
		cmocka_unit_test(one_that_is_revoked_is_not_probed),
		cmocka_unit_test(what_a_probe_tells_is_obeyed),
		cmocka_unit_test(what_is_not_believed_is_asked_for_elsewhere),
		cmocka_unit_test(what_is_heard_may_end_an_anchor),
		cmocka_unit_test(without_a_clock_nothing_rolls),
		cmocka_unit_test(what_is_heard_by_the_way_is_learned),
		cmocka_unit_test(an_answer_from_before_a_reload_is_dropped),
		cmocka_unit_test(it_may_end_while_a_probe_is_under_way),
		cmocka_unit_test(who_revokes_its_last_key_has_no_anchor_any_more),
	};

	return cmocka_run_group_tests_name("roll", tests, NULL, NULL);
}
