/* Claims about what is remembered of servers.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "services/cache/infra.h"

#include "util/base/timebase.h"
#include "util/dns/rr.h"
#include "util/tests/turn.h"

#define START_MS 100000

static const struct infra_how usual = {
	.hosts = 1000,
	.slabs = 1,
	.host_ttl_s = 900,
	.min_rtt_ms = 50,
	.max_rtt_ms = 120000,
};

static struct timebase clock_;

static void at_ms(uint64_t ms)
{
	timebase_play(&clock_, (START_MS + ms) * US_PER_MS);
}

static const struct addr *server(unsigned n)
{
	static struct addr a;

	a = (struct addr){ .family = 4,
			   .port = 53,
			   .ip = { 192, 0, (uint8_t)(n >> 8), (uint8_t)n } };
	return &a;
}

static struct infra_view view(struct infra *i, unsigned n)
{
	struct infra_view v;

	infra_look(i, server(n), N("Example."), &clock_, &v);
	return v;
}

static void answered(struct infra *i, unsigned n, uint32_t rtt_ms)
{
	infra_answered(i, server(n), N("example."), &(struct infra_heard){ .rtt_ms = rtt_ms },
		       &clock_);
}

static void silent(struct infra *i, unsigned n, uint32_t waited_ms)
{
	infra_silent(i, server(n), N("example."), TYPE_A, waited_ms, &clock_);
}

/* A server that answers, so that the network is seen to be up. */
static void somebody_answers(struct infra *i)
{
	answered(i, 999, 10);
}

static void a_stranger_gets_the_usual_wait(void **state)
{
	(void)state;
	struct infra *i = infra_new(&usual);
	struct infra_view v = view(i, 1);

	assert_false(v.known);
	assert_int_equal(v.rto_ms, INFRA_RTO_UNKNOWN_MS);
	assert_int_equal(v.rtt_ms, INFRA_RTO_UNKNOWN_MS);
	assert_int_equal(v.edns, EDNS_UNTRIED);
	assert_false(v.down);
	infra_free(i);
}

static void a_stranger_gets_the_wait_that_is_configured(void **state)
{
	struct infra_how how = usual;
	struct infra *i;

	(void)state;
	how.unknown_rtt_ms = 1128;
	i = infra_new(&how);
	assert_int_equal(view(i, 1).rto_ms, 1128);
	somebody_answers(i);
	silent(i, 1, 1128);
	assert_int_equal(view(i, 1).rto_ms, 2 * 1128);
	infra_free(i);
}

static void round_trips_are_smoothed(void **state)
{
	(void)state;
	static const struct {
		const char *why;
		uint32_t rtt[6];
		uint32_t ping, var, rto;
	} rows[] = {
		{ "the first one counts whole", { 80 }, 80, 40, 240 },
		{ "never below the least", { 2 }, 2, 1, 50 },
		{ "a steady one calms down", { 80, 80, 80 }, 80, 23, 170 },
		{ "an outlier moves it a little", { 80, 160 }, 90, 50, 290 },
	};

	for (size_t r = 0; r < COUNT(rows); r++) {
		struct infra *i = infra_new(&usual);
		struct infra_view v;

		for (size_t n = 0; n < 6 && rows[r].rtt[n]; n++)
			answered(i, 1, rows[r].rtt[n]);
		v = view(i, 1);
		if (v.ping_ms != rows[r].ping || v.var_ms != rows[r].var || v.rto_ms != rows[r].rto)
			fail_msg("%s: ping %u var %u rto %u", rows[r].why, v.ping_ms, v.var_ms,
				 v.rto_ms);
		assert_true(v.known);
		infra_free(i);
	}
}

static void most_unknown_servers_answer_within_that_time(void **state)
{
	(void)state;
	static const struct {
		const char *why;
		uint32_t ms, slow_ms; /* of one in ten */
		unsigned servers;
		uint32_t least, most;
	} rows[] = {
		{ "nobody has answered yet", 0, 0, 0, 376, 376 },
		{ "all are near", 5, 5, 500, 4, 8 },
		{ "one in ten is far", 5, 200, 2000, 150, 270 },
		{ "never more than one is given", 2000, 2000, 500, 340, 376 },
	};

	for (size_t r = 0; r < COUNT(rows); r++) {
		struct infra *i = infra_new(&usual);
		uint32_t got;

		for (unsigned n = 0; n < rows[r].servers; n++)
			answered(i, n, n % 10 ? rows[r].ms : rows[r].slow_ms);
		got = infra_first_answer_ms(i);
		if (got < rows[r].least || got > rows[r].most)
			fail_msg("%s: %u", rows[r].why, got);
		infra_free(i);
	}
}

static void a_server_that_varies_a_little_is_not_given_up_early(void **state)
{
	(void)state;
	struct infra *i = infra_new(&usual);
	struct infra_view v;

	for (int n = 0; n < 1000; n++)
		answered(i, 1, n % 8 ? 200 : 204);
	v = view(i, 1);
	assert_in_range(v.ping_ms, 200, 202);
	assert_in_range(v.rto_ms, 240, 260);
	infra_free(i);
}

static void zones_and_ports_are_told_apart(void **state)
{
	(void)state;
	struct infra *i = infra_new(&usual);
	struct infra_view v;
	struct addr other = *server(1);

	answered(i, 1, 80);
	infra_look(i, server(1), N("other."), &clock_, &v);
	assert_false(v.known);
	other.port = 5353;
	infra_look(i, &other, N("example."), &clock_, &v);
	assert_false(v.known);
	infra_look(i, server(1), N("EXAMPLE."), &clock_, &v);
	assert_true(v.known);
	infra_free(i);
}

/* Three queries in five seconds ask the parent of a zone whose servers have all failed, at once, and none after one of
 * them has failed none the less; as many as come while it helps. */
static void a_parent_is_asked_anew_now_and_then(void **state)
{
	(void)state;
	struct infra *i = infra_new(&usual);

	for (unsigned round = 0; round < 2; round++) {
		for (unsigned query = 0; query < 5; query++)
			assert_int_equal(infra_may_refetch(i, N("example."), &clock_), query < 3);
		assert_true(infra_may_refetch(i, N("other."), &clock_));
		at_ms((round + 1) * 5000);
	}
	assert_true(infra_may_refetch(i, N("example."), &clock_));
	infra_refetch_failed(i, N("example."), &clock_);
	assert_false(infra_may_refetch(i, N("example."), &clock_));
	assert_true(infra_may_refetch(i, N("other."), &clock_));
	at_ms(15000);
	infra_refetch_failed(i, N("example."), &clock_); /* too long ago to count */
	for (unsigned query = 0; query < 5; query++) {
		assert_true(infra_may_refetch(i, N("example."), &clock_));
		infra_refetch_helped(i, N("example."), &clock_);
	}
	infra_free(i);
}

static void silence_doubles_the_wait_up_to_the_most(void **state)
{
	(void)state;
	struct infra *i = infra_new(&usual);
	uint64_t now = 0;
	uint32_t want = INFRA_RTO_UNKNOWN_MS;

	for (int n = 0; n < 12; n++) {
		struct infra_view v = view(i, 1);

		assert_int_equal(v.rto_ms, want);
		/* down: by the wait, or by having said nothing for so long, which is sooner */
		assert_int_equal(v.down, want >= INFRA_PROBE_MS || now >= INFRA_WARY_MS);
		at_ms(now);
		now += v.rto_ms;
		at_ms(now);
		somebody_answers(i);
		silent(i, 1, v.rto_ms);
		want = MIN(want * 2, 120000);
	}
	assert_int_equal(view(i, 1).timeouts_a, 12);
	answered(i, 1, 100);
	assert_false(view(i, 1).down);
	assert_int_equal(view(i, 1).rto_ms, 300);
	assert_int_equal(view(i, 1).timeouts_a, 0);
	infra_free(i);
}

static void questions_lost_together_count_once(void **state)
{
	(void)state;
	struct infra *i = infra_new(&usual);

	at_ms(376);
	somebody_answers(i);
	for (int n = 0; n < 10; n++)
		silent(i, 1, 376);
	assert_int_equal(view(i, 1).rto_ms, 752);
	assert_int_equal(view(i, 1).timeouts_a, 10);
	infra_free(i);
}

static void a_dead_server_is_probed_one_at_a_time_or_not_at_all(void **state)
{
	(void)state;
	static const struct {
		bool keep_probing;
		uint32_t max_rtt_ms;
		int silences;
		uint32_t later_ms;
		bool due, due_after_probe, due_later;
	} rows[] = {
		{ true, 3000, 4, 16000, true, false, true },
		{ false, 3000, 4, 16000, false, false, false },
		/* before the maximum it is not given up yet */
		{ false, 120000, 5, 28000, true, false, true },
	};

	for (size_t r = 0; r < COUNT(rows); r++) {
		struct infra_how how = usual;
		struct infra *i;

		how.keep_probing = rows[r].keep_probing;
		how.max_rtt_ms = rows[r].max_rtt_ms;
		at_ms(0);
		i = infra_new(&how);
		for (int n = 1; n <= rows[r].silences; n++) {
			at_ms((uint64_t)n * 3000);
			somebody_answers(i);
			silent(i, 1, 3000);
		}
		assert_true(view(i, 1).down);
		assert_int_equal(view(i, 1).probe_at_us <= clock_.now_us, rows[r].due);
		infra_probed(i, server(1), N("example."), &clock_);
		assert_int_equal(view(i, 1).probe_at_us <= clock_.now_us, rows[r].due_after_probe);
		at_ms(rows[r].later_ms);
		assert_int_equal(view(i, 1).probe_at_us <= clock_.now_us, rows[r].due_later);
		/* … until it is forgotten. */
		at_ms(910000);
		assert_false(view(i, 1).known);
		assert_false(view(i, 1).down);
		infra_free(i);
	}
}

static void a_minute_without_network_leaves_no_trace(void **state)
{
	(void)state;
	static const struct {
		const char *why;
		unsigned servers, known;
		bool boot, unsendable;
	} rows[] = {
		{ "fifty servers that answered before", 50, 50, false, false },
		{ "fifty that were never heard, while others were", 50, 0, false, false },
		{ "before anybody ever answered", 50, 0, true, false },
		{ "a single forwarder", 1, 1, false, false },
		{ "two forwarders, nothing can be sent", 2, 2, false, true },
	};

	for (size_t r = 0; r < COUNT(rows); r++) {
		struct infra *i = infra_new(&usual);

		at_ms(0);
		if (!rows[r].boot)
			somebody_answers(i);
		for (unsigned n = 0; n < rows[r].known; n++)
			answered(i, n, 20);
		at_ms(100);
		assert_false(infra_network_is_down(i, &clock_));
		for (uint64_t ms = 200; ms < 60000; ms += 400) {
			at_ms(ms);
			for (unsigned n = 0; n < rows[r].servers; n++) {
				if (rows[r].unsendable)
					infra_unsendable(i, &clock_);
				else
					silent(i, n, MIN(view(i, n).rto_ms, (uint32_t)ms));
			}
		}
		if (!infra_network_is_down(i, &clock_))
			fail_msg("%s: not noticed", rows[r].why);
		at_ms(61000);
		answered(i, 0, 20);
		assert_false(infra_network_is_down(i, &clock_));
		for (unsigned n = 0; n < rows[r].servers; n++) {
			struct infra_view v = view(i, n);

			if (v.down || v.rto_ms > INFRA_RTO_UNKNOWN_MS || v.timeouts_a)
				fail_msg("%s: server %u waits %u ms", rows[r].why, n, v.rto_ms);
		}
		/* What had been sent before the return and is given up after it is not held against
		 * anybody either; what is sent from now on is. */
		at_ms(61300);
		silent(i, 0, 376);
		assert_true(view(i, 0).rto_ms <= INFRA_RTO_UNKNOWN_MS);
		at_ms(63000);
		somebody_answers(i);
		silent(i, 0, 500);
		assert_int_equal(view(i, 0).timeouts_a, 1);
		infra_free(i);
	}
}

static void a_few_dead_servers_are_not_the_network(void **state)
{
	(void)state;
	static const struct {
		const char *why;
		bool others_answer, known;
	} rows[] = {
		{ "others answer", true, true },
		{ "never heard of before", false, false },
	};

	for (size_t r = 0; r < COUNT(rows); r++) {
		struct infra *i = infra_new(&usual);

		at_ms(0);
		somebody_answers(i);
		for (unsigned n = 0; n < 4 && rows[r].known; n++)
			answered(i, n, 20);
		for (uint64_t ms = 1000; ms < 30000; ms += 500) {
			at_ms(ms);
			for (unsigned n = 0; n < 4; n++)
				silent(i, n, MIN(view(i, n).rto_ms, 1000));
			if (rows[r].others_answer)
				somebody_answers(i);
			if (infra_network_is_down(i, &clock_))
				fail_msg("%s: taken for the network at %u ms", rows[r].why,
					 (unsigned)ms);
		}
		assert_true(view(i, 1).rto_ms > 3000);
		infra_free(i);
	}
}

static void habits_are_remembered_and_forgotten(void **state)
{
	(void)state;
	struct infra *i = infra_new(&usual);

	at_ms(0);
	infra_set_edns(i, server(1), N("example."), EDNS_FAILS, &clock_);
	infra_set_lame(i, server(1), N("example."), LAME_ADDRESSES, &clock_);
	infra_set_lame(i, server(1), N("example."), LAME_DNSSEC, &clock_);
	answered(i, 1, 20);
	assert_int_equal(view(i, 1).edns, EDNS_FAILS);
	assert_int_equal(view(i, 1).lame, LAME_ADDRESSES | LAME_DNSSEC);
	assert_int_equal(view(i, 1).ttl_s, 900);
	infra_set_rtt(i, server(2), N("example."), 4000, &clock_);
	assert_int_equal(view(i, 2).ping_ms, 4000);
	infra_set_rtt(i, server(2), N("example."), 120000, &clock_);
	assert_true(view(i, 2).down);

	at_ms(899000);
	assert_true(view(i, 1).known);
	at_ms(900000);
	assert_false(view(i, 1).known);
	assert_int_equal(view(i, 1).lame, LAME_NONE);
	infra_free(i);
}

struct lines {
	char text[4][400];
	unsigned count;
};

static void take_line(const struct infra_row *row, void *arg)
{
	struct lines *l = arg;
	char line[INFRA_LINE];

	snprintf(l->text[l->count++ % 4], sizeof(l->text[0]), "%s", infra_row_print(row, line));
}

static void dump_all(struct infra *i, struct lines *l)
{
	struct slab_walk walk = { 0 };

	rcu_thread_join();
	while (infra_dump(i, &walk, &clock_, take_line, l))
		;
	rcu_thread_leave();
}

static void a_dump_reads_as_unbounds(void **state)
{
	(void)state;
	struct infra *i = infra_new(&usual);
	struct lines l = { .count = 0 };
	struct addr odd = *server(7);

	at_ms(0);
	answered(i, 1, 80);
	infra_set_edns(i, server(1), N("example."), EDNS_WORKS, &clock_);
	dump_all(i, &l);
	assert_int_equal(l.count, 1);
	assert_string_equal(
		l.text[0], "192.0.0.1 example. ttl 900 ping 80 var 40 rtt 240 rto 240 tA 0 tAAAA 0 "
			   "tother 0 ednsknown 1 edns 0 delay 0 lame dnssec 0 rec 0 A 0 other 0");
	infra_flush(i, server(2));
	assert_int_equal(slab_counted(infra_slab(i)).entries, 1);
	infra_flush(i, server(1));
	assert_int_equal(slab_counted(infra_slab(i)).entries, 0);

	odd.port = 5353;
	l.count = 0;
	infra_silent(i, &odd, N("."), TYPE_AAAA, 376, &clock_);
	at_ms(901000);
	dump_all(i, &l);
	assert_string_equal(l.text[0], "192.0.0.7@5353 . expired rto 752");
	infra_flush(i, NULL);
	assert_int_equal(slab_counted(infra_slab(i)).entries, 0);
	infra_free(i);
}

static int at_the_start(void **state)
{
	at_ms(0);
	return in_a_turn(state);
}

int main(void)
{
#undef CLAIM
#define CLAIM(name) cmocka_unit_test_setup_teardown(name, at_the_start, after_a_turn)
	const struct CMUnitTest claims[] = {
		CLAIM(a_stranger_gets_the_usual_wait),
		CLAIM(a_stranger_gets_the_wait_that_is_configured),
		CLAIM(round_trips_are_smoothed),
		CLAIM(most_unknown_servers_answer_within_that_time),
		CLAIM(a_server_that_varies_a_little_is_not_given_up_early),
		CLAIM(zones_and_ports_are_told_apart),
		CLAIM(a_parent_is_asked_anew_now_and_then),
		CLAIM(silence_doubles_the_wait_up_to_the_most),
		CLAIM(questions_lost_together_count_once),
		CLAIM(a_dead_server_is_probed_one_at_a_time_or_not_at_all),
		CLAIM(a_minute_without_network_leaves_no_trace),
		CLAIM(a_few_dead_servers_are_not_the_network),
		CLAIM(habits_are_remembered_and_forgotten),
		CLAIM(a_dump_reads_as_unbounds),
	};

	return RUN_CLAIMS(claims, NULL, NULL);
}
