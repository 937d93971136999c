/* Claims about metrics.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "services/stats/metrics.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "util/base/mem.h"

struct page {
	char *text;
	size_t len, room;
};

static void write_down(const char *line, void *arg)
{
	struct page *p = arg;
	size_t n = strlen(line);

	if (p->len + n + 2 > p->room) {
		p->room = 2 * (p->room + n + 2);
		p->text = mem_grow(p->text, p->room);
	}
	p->len += (size_t)snprintf(p->text + p->len, p->room - p->len, "%s\n", line);
}

static struct stats threads[2], total;

static char *page_of(const struct metrics_now *now)
{
	struct page p = { .text = mem_zero(1), .room = 1 };

	metrics_print(now, write_down, &p);
	return p.text;
}

static void names_have_units_and_threads_labels(void **state)
{
	static const char *const lines[] = {
		"# TYPE resolverd_queries_total counter\nresolverd_queries_total{thread=\"0\"} 1\n"
		"resolverd_queries_total{thread=\"1\"} 2\n",
		"# TYPE resolverd_query_queue_time_max_seconds gauge\n",
		"resolverd_query_queue_time_max_seconds{thread=\"1\"} 0.002500\n",
		"resolverd_upstream_seconds_bucket{transport=\"tls\",le=\"+Inf\"} 1\n"
		"resolverd_upstream_seconds_sum{transport=\"tls\"} 1234567.890123\n"
		"resolverd_upstream_seconds_count{transport=\"tls\"} 1\n",
		"resolverd_answer_ede_total{code=\"22\"} 1\n",
		"resolverd_cache_limit_bytes{cache=\"message\"} 50\n",
	};
	struct metrics_now now = { .threads = threads, .thread_count = 2, .total = &total };
	char *text;

	(void)state;
	stat_add(&threads[0], STAT_queries);
	stat_bump(&threads[1].count[STAT_queries], 2);
	stat_bump(&threads[1].count[STAT_queue_time_us_max], 2500);
	stats_asked(&threads[1], STAT_TLS, UINT64_C(1234567890123));
	stats_ede(&threads[0], 22);
	stats_ede(&threads[0], -1);
	stats_ede(&threads[0], 9999);
	stats_join(&total, &threads[0]);
	stats_join(&total, &threads[1]);
	now.caches[0].name = "message";
	now.caches[0].limit = 50;
	text = page_of(&now);
	for (size_t i = 0; i < COUNT(lines); i++)
		assert_non_null(strstr(text, lines[i]));
	mem_free(text);
}

/* Rows that say a place twice would hide one of two, rows of one name that disagree would show one. */
static void each_row_with_a_metric_is_shown_once(void **state)
{
	static const struct {
		int place;
		const char *name, *help;
	} rows[] = {
#define NO_METRIC 0, "", ""
#define METRIC(place, name, help) place, "resolverd_" name " 0\n", help
#define LABELLED(place, name, label, value, help) place, "resolverd_" name "{" label "=\"" value "\"} 0\n", help
#define CELL(id, key, join, ...) { __VA_ARGS__ },
#include "services/stats/stats.def"
	};
	static struct stats none;
	struct metrics_now now = { .threads = &none, .thread_count = 1, .total = &none };
	char *text = page_of(&now);

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		const char *at = strstr(text, rows[i].name);

		if (rows[i].place == 0)
			continue;
		assert_in_range(rows[i].place, 10, 49);
		assert_non_null(at);
		assert_null(strstr(at + 1, rows[i].name));
		assert_non_null(strstr(text, rows[i].help));
		for (size_t j = 0; j < i; j++)
			assert_int_not_equal(rows[i].place, rows[j].place);
	}
	mem_free(text);
}

static void label_values_are_escaped(void **state)
{
	struct page p = { .text = mem_zero(1), .room = 1 };

	(void)state;
	metrics_print_one(&(struct metric){ .name = "x", .label = "of", .label_value = "a\"b\\c\nd",
					    .value = 1.5 },
			  write_down, &p);
	assert_string_equal(p.text, "resolverd_x{of=\"a\\\"b\\\\c\\nd\"} 1.5\n");
	mem_free(p.text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(names_have_units_and_threads_labels),
		cmocka_unit_test(each_row_with_a_metric_is_shown_once),
		cmocka_unit_test(label_values_are_escaped),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
