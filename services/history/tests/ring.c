/* Claims about the ring of the last questions.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "services/history/ring.h"

#include <pthread.h>

#include "util/base/fault.h"
#include "util/base/mem.h"
#include "util/dns/dname.h"
#include "util/tests/wire.h"

static const uint8_t www[] = "\3www\7example";

static void each(const struct queryring *r, void (*fn)(const struct seen *s, void *arg), void *arg)
{
	struct queryring_copy *c = queryring_copy(r);

	queryring_copy_each(c, fn, arg);
	mem_free(c);
}

static struct seen seen_of(uint64_t number)
{
	return (struct seen){ .at_us = number,
			      .took_us = number * 3,
			      .name = www,
			      .name_len = sizeof www,
			      .type = (uint16_t)number,
			      .class_ = 1,
			      .how = SEEN_cached };
}

/* ---- what is put in comes out ---- */

struct want {
	const struct seen *s;
	unsigned count;
};

static void compare(const struct seen *got, void *arg)
{
	struct want *w = arg;
	const struct seen *s = &w->s[w->count++];

	assert_int_equal(got->at_us, s->at_us);
	assert_int_equal(got->took_us, s->took_us);
	assert_true(addr_equals_ip(&got->client, &s->client));
	assert_int_equal(got->client.family, s->client.family);
	assert_int_equal(got->server.family, s->server.family);
	assert_int_equal(got->name_len, s->name_len);
	assert_memory_equal(got->name, s->name, s->name_len);
	assert_int_equal(got->type, s->type);
	assert_int_equal(got->class_, s->class_);
	assert_int_equal(got->how, s->how);
	assert_int_equal(got->rcode, s->rcode);
	assert_int_equal(got->transport, s->transport);
	assert_int_equal(got->reason, s->reason);
	assert_string_equal(got->text, s->text ? s->text : "");
}

static void a_ring_gives_back_what_was_put(void **state)
{
	uint8_t longest[DNAME_MAX];
	struct seen rows[3] = { seen_of(1), seen_of(2), seen_of(3) };
	struct queryring *r = queryring_new(100);
	struct want w = { .s = rows };
	struct fault f;

	(void)state;
	memset(longest, 'x', sizeof longest);
	longest[0] = longest[64] = longest[128] = 63;
	longest[192] = 61;
	longest[254] = 0;
	assert_true(addr_parse(&rows[0].client, "192.0.2.1", 0, &f));
	assert_true(addr_parse(&rows[1].client, "2001:db8::1", 0, &f));
	assert_true(addr_parse(&rows[1].server, "192.0.2.53", 0, &f));
	rows[1].text = "blocklist ads";
	rows[1].how = SEEN_blocked;
	rows[2].name = longest;
	rows[2].name_len = sizeof longest;
	rows[2].rcode = SEEN_NO_ANSWER;
	for (size_t i = 0; i < COUNT(rows); i++)
		queryring_put(r, &rows[i]);
	each(r, compare, &w);
	assert_int_equal(w.count, COUNT(rows));
	queryring_free(r);
}

/* ---- the oldest goes first ---- */

struct span {
	uint64_t first, last;
	unsigned count;
};

static void measure(const struct seen *s, void *arg)
{
	struct span *span = arg;

	if (span->count++)
		assert_int_equal(s->at_us, span->last + 1);
	else
		span->first = s->at_us;
	span->last = s->at_us;
	assert_int_equal(s->took_us, s->at_us * 3);
}

static void the_oldest_makes_room(void **state)
{
	static const size_t rooms[] = { 1, 10, 100, 1000 };

	(void)state;
	for (size_t i = 0; i < COUNT(rooms); i++) {
		struct queryring *r = queryring_new(rooms[i]);
		size_t bytes = queryring_bytes(r);
		struct span span = { .count = 0 };

		for (uint64_t n = 1; n <= 5000; n++) {
			struct seen s = seen_of(n);

			queryring_put(r, &s);
		}
		each(r, measure, &span);
		assert_int_equal(span.last, 5000);
		assert_true(span.count >= rooms[i]);
		assert_int_equal(queryring_bytes(r), bytes);
		queryring_free(r);
	}
}

/* ---- a reader beside the writer ---- */

enum { PUT = 200000 };

static void *write_all(void *arg)
{
	for (uint64_t n = 1; n <= PUT; n++) {
		struct seen s = seen_of(n);

		queryring_put(arg, &s);
	}
	return NULL;
}

static void a_copied_ring_has_no_torn_entries(void **state)
{
	struct queryring *r = queryring_new(50);
	struct span span = { .last = 0 };
	pthread_t writer;

	(void)state;
	assert_int_equal(pthread_create(&writer, NULL, write_all, r), 0);
	while (span.last < PUT) {
		span.count = 0;
		each(r, measure, &span);
	}
	pthread_join(writer, NULL);
	queryring_free(r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_ring_gives_back_what_was_put),
		cmocka_unit_test(the_oldest_makes_room),
		cmocka_unit_test(a_copied_ring_has_no_torn_entries),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
