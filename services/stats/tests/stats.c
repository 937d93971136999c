/* Claims about counters and how they are printed.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "services/stats/stats.h"

#include "util/base/hash.h"
#include "util/base/mem.h"
#include "util/dns/msg.h"
#include "util/dns/rr.h"
#include "util/tests/wire.h"

struct lines {
	char text[700][96];
	unsigned count;
};

static void take(const char *line, void *arg)
{
	struct lines *l = arg;

	assert_true(l->count < COUNT(l->text));
	snprintf(l->text[l->count++], sizeof(l->text[0]), "%s", line);
}

static bool has(const struct lines *l, const char *line)
{
	for (unsigned i = 0; i < l->count; i++) {
		if (strcmp(l->text[i], line) == 0)
			return true;
	}
	return false;
}

static void a_new_thread_has_only_zeros(void **state)
{
	(void)state;
	/* Word for word what Unbound prints, in its order; counters of our own may stand between. */
	static const char *const want[] = {
		"thread0.num.queries=0",
		"thread0.num.queries_ip_ratelimited=0",
		"thread0.num.queries_cookie_valid=0",
		"thread0.num.queries_cookie_client=0",
		"thread0.num.queries_cookie_invalid=0",
		"thread0.num.queries_discard_timeout=0",
		"thread0.num.queries_replyaddr_limit=0",
		"thread0.num.queries_wait_limit=0",
		"thread0.num.cachehits=0",
		"thread0.num.cachemiss=0",
		"thread0.num.prefetch=0",
		"thread0.num.queries_timed_out=0",
		"thread0.query.queue_time_us.max=0",
		"thread0.num.expired=0",
		"thread0.num.recursivereplies=0",
		"thread0.num.dns_error_reports=0",
		"thread0.num.queries_stuck=0",
		"thread0.requestlist.avg=0",
		"thread0.requestlist.max=0",
		"thread0.requestlist.overwritten=0",
		"thread0.requestlist.exceeded=0",
		"thread0.requestlist.current.all=0",
		"thread0.requestlist.current.user=0",
		"thread0.requestlist.current.replies=0",
		"thread0.recursion.time.avg=0.000000",
		"thread0.recursion.time.median=0",
		"thread0.tcpusage=0",
	};
	struct stats *s = mem_zero(sizeof(*s));
	struct lines l = { .count = 0 };
	size_t found = 0;

	stats_print(s, "thread0", take, &l);
	for (unsigned i = 0; i < l.count; i++) {
		assert_non_null(strstr(l.text[i], "=0"));
		if (found < COUNT(want) && strcmp(l.text[i], want[found]) == 0)
			found++;
	}
	if (found < COUNT(want))
		fail_msg("not there, or out of order: %s", want[found]);
	mem_free(s);
}

static void threads_are_added_or_the_highest_counts(void **state)
{
	(void)state;
	struct stats *one = mem_zero(sizeof(*one)), *two = mem_zero(sizeof(*two)),
		     *all = mem_zero(sizeof(*all));
	struct lines l = { .count = 0 };

	stat_add(one, STAT_queries);
	stat_add(one, STAT_queries);
	stat_add(two, STAT_queries);
	stat_highest(&one->count[STAT_queue_time_us_max], 700);
	stat_highest(&two->count[STAT_queue_time_us_max], 300);
	stat_highest(&one->list_max, 4);
	stat_highest(&two->list_max, 9);
	stat_bump(&one->list_sum, 10);
	stat_bump(&one->list_samples, 4);
	stat_bump(&two->list_now, 3);
	stat_bump(&two->tcpusage, 2);
	stats_wait(one, STAT_UDP, 100);
	stats_wait(two, STAT_UDP, 2000300);
	stats_join(all, one);
	stats_join(all, two);
	stats_print(all, "total", take, &l);
	assert_true(has(&l, "total.num.queries=3"));
	assert_true(has(&l, "total.query.queue_time_us.max=700"));
	assert_true(has(&l, "total.requestlist.max=9"));
	assert_true(has(&l, "total.requestlist.avg=2.5"));
	assert_true(has(&l, "total.requestlist.current.all=3"));
	assert_true(has(&l, "total.recursion.time.avg=1.000200"));
	assert_true(has(&l, "total.tcpusage=2"));

	stats_clear(all);
	l.count = 0;
	stats_print(all, "total", take, &l);
	assert_true(has(&l, "total.num.queries=0"));
	assert_true(has(&l, "total.requestlist.max=0"));
	assert_true(has(&l, "total.recursion.time.avg=0.000000"));
	mem_free(one);
	mem_free(two);
	mem_free(all);
}

static void a_wait_falls_into_its_range(void **state)
{
	(void)state;
	static const struct {
		uint64_t us;
		const char *range;
	} rows[] = {
		{ 0, "000000.000000.to.000000.000001" },
		{ 1, "000000.000001.to.000000.000002" },
		{ 3, "000000.000002.to.000000.000004" },
		{ 524287, "000000.262144.to.000000.524288" },
		{ 524288, "000000.524288.to.000001.000000" },
		{ 999999, "000000.524288.to.000001.000000" },
		{ 1000000, "000001.000000.to.000002.000000" },
		{ 3999999, "000002.000000.to.000004.000000" },
		{ UINT64_C(400000000000), "262144.000000.to.524288.000000" },
		{ UINT64_C(9000000000000), "262144.000000.to.524288.000000" },
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		struct stats *s = mem_zero(sizeof(*s));
		struct lines l = { .count = 0 };
		char want[96];

		stats_wait(s, STAT_UDP, rows[i].us);
		stats_print_extended(s, true, take, &l);
		snprintf(want, sizeof(want), "histogram.%s=1", rows[i].range);
		if (!has(&l, want))
			fail_msg("%s is not there", want);
		mem_free(s);
	}
}

static void the_median_halves_the_samples(void **state)
{
	(void)state;
	static const struct {
		const char *why;
		struct {
			uint64_t us;
			int times;
		} waits[3];
		const char *want;
	} rows[] = {
		{ "all in one range", { { 100, 10 } }, "t.recursion.time.median=9.6e-05" },
		{ "most below",
		  { { 100, 90 }, { 2000000, 10 } },
		  "t.recursion.time.median=9.95556e-05" },
		{ "most above", { { 1, 10 }, { 2000000, 30 } }, "t.recursion.time.median=2.66667" },
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		struct stats *s = mem_zero(sizeof(*s));
		struct lines l = { .count = 0 };

		for (int w = 0; w < 3; w++) {
			for (int n = 0; n < rows[i].waits[w].times; n++)
				stats_wait(s, STAT_UDP, rows[i].waits[w].us);
		}
		stats_print(s, "t", take, &l);
		if (!has(&l, rows[i].want))
			fail_msg("%s: not %s", rows[i].why, rows[i].want);
		mem_free(s);
	}
}

static void families_leave_out_zeros_when_told(void **state)
{
	(void)state;
	static const struct {
		const char *line;
		bool quiet, loud;
	} rows[] = {
		{ "num.query.type.A=2", true, true },
		{ "num.query.type.AAAA=0", false, true },
		{ "num.query.type.TYPE200=0", false, true },
		{ "num.query.type.other=1", true, true },
		{ "num.query.class.IN=3", true, true },
		{ "num.query.class.CH=1", true, true },
		{ "num.query.class.HS=0", false, true },
		{ "num.valops=2", true, true },
		{ "num.query.opcode.QUERY=3", true, true },
		{ "num.query.opcode.NOTIFY=0", false, true },
		{ "num.query.opcode.OPCODE6=0", false, true },
		{ "num.answer.rcode.NOERROR=3", true, true },
		{ "num.answer.rcode.REFUSED=0", true, true },
		{ "num.answer.rcode.YXDOMAIN=0", false, true },
		{ "num.answer.rcode.RCODE16=1", true, true },
		{ "num.answer.rcode.nodata=0", false, true },
		{ "num.query.tcp=0", true, true },
		{ "num.query.flags.RD=3", true, true },
		{ "num.query.edns.DO=0", true, true },
		{ "num.answer.secure=0", true, true },
		{ "unwanted.replies=0", true, true },
	};
	struct stats *s = mem_zero(sizeof(*s));

	stat_bump(&s->type[TYPE_A], 2);
	stat_bump(&s->type[STAT_TYPES], 1);
	stat_bump(&s->class_[CLASS_IN], 3);
	stat_bump(&s->class_[CLASS_CH], 1);
	stat_bump(&s->valops, 2);
	stat_bump(&s->opcode[OPCODE_QUERY], 3);
	stat_bump(&s->rcode[RCODE_NOERROR], 3);
	stat_bump(&s->rcode[16], 1);
	stat_bump(&s->flag_rd, 3);
	for (int inhibit = 0; inhibit < 2; inhibit++) {
		struct lines l = { .count = 0 };

		stats_print_extended(s, inhibit, take, &l);
		for (size_t i = 0; i < COUNT(rows); i++) {
			if (has(&l, rows[i].line) != (inhibit ? rows[i].quiet : rows[i].loud))
				fail_msg("%s (inhibit %d)", rows[i].line, inhibit);
		}
	}
	mem_free(s);
}

int main(void)
{
	const struct CMUnitTest claims[] = {
		cmocka_unit_test(a_new_thread_has_only_zeros),
		cmocka_unit_test(threads_are_added_or_the_highest_counts),
		cmocka_unit_test(a_wait_falls_into_its_range),
		cmocka_unit_test(the_median_halves_the_samples),
		cmocka_unit_test(families_leave_out_zeros_when_told),
	};

	hash_start(true);
	return cmocka_run_group_tests(claims, NULL, NULL);
}
