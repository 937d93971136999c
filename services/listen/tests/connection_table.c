/* Claims about the table of connections: who makes room for another, by how many each client has.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "services/listen/connection_table.h"

#include <ctype.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

enum { MOST = 300 };

static struct connection {
	struct connection_entry entry;
	char how; /* '!': it cannot go now; '?': only for a client that holds fewer */
} all[MOST];

static bool may_go(const struct connection_entry *e, bool has_more)
{
	const struct connection *c = container_of(e, struct connection, entry);

	return c->how == '?' ? has_more : c->how != '!';
}

/* "AAb": two idle ones of A, then one of B that is busy, a microsecond apart. */
static unsigned fill(struct connection_table *t, const char *text)
{
	unsigned count = 0;

	memset(all, 0, sizeof all);
	for (; *text; text++) {
		if (!isalpha((unsigned char)*text)) {
			all[count - 1].how = *text;
			continue;
		}
		connection_table_add(t, &all[count].entry, (uint64_t)toupper((unsigned char)*text), count);
		if (islower((unsigned char)*text))
			connection_table_note(t, &all[count].entry, true, count);
		count++;
	}
	return count;
}

static void empty(struct connection_table *t, unsigned count)
{
	while (count)
		connection_table_remove(t, &all[--count].entry);
	connection_table_free(t);
}

enum { WAITS = -1, REFUSED = -2, EARLIER = 1000 };

static void who_makes_room(void **state)
{
	(void)state;
	static const struct {
		const char *why, *there;
		char newcomer;
		uint64_t pass_us;
		int goes; /* which of them */
	} rows[] = {
		{ "the longest idle, where all have one", "ABC", 'D', 0, 0 },
		{ "of those who have the most", "ABBCC", 'D', 0, 1 },
		{ "of who has the most, though others were idle longer", "ABCDDD", 'E', 0, 3 },
		{ "the newcomer's own, if it has the most", "ABBB", 'B', 0, 1 },
		{ "the newcomer's own, if it would have the most", "AABB", 'B', 0, 2 },
		{ "with one more it is equal to who has the most", "AAB", 'B', 0, 0 },
		{ "not one whose question is in progress", "aBC", 'D', 0, 1 },
		{ "not one that cannot go now", "A!BC", 'D', 0, 1 },
		{ "the most are busy: the idle one of another", "aaaBC", 'D', 0, 3 },
		{ "not of one that holds fewer than the newcomer would", "aaaBcc", 'C', 0, REFUSED },
		{ "of one that holds as many", "aaaBBcc", 'D', 0, 3 },
		{ "busy: of who holds the most", "abbbc", 'D', 0, 1 },
		{ "nobody holds more, nobody is idle", "abc", 'D', 0, WAITS },
		{ "nobody holds more, and they just were busy", "A!B!C!", 'D', 0, WAITS },
		{ "just now idle, of who holds more", "BA?A?", 'D', 0, 1 },
		{ "just now idle, of equals", "A?B?", 'C', 0, WAITS },
		{ "all are its own and busy", "aaa", 'A', 0, REFUSED },
		{ "its own was just busy", "aA!a", 'A', 0, WAITS },
		{ "it has the most, all busy, others are idle", "aaaBC", 'A', 0, REFUSED },
		{ "all are its own, and one takes very long", "aaa", 'A', CONN_PATIENCE_US - EARLIER, 0 },
		{ "not quite as long", "aaa", 'A', CONN_PATIENCE_US - EARLIER - 1, REFUSED },
		{ "everybody's takes very long", "abc", 'D', CONN_PATIENCE_US - EARLIER, 0 },
		{ "only the others' takes very long", "abcc", 'C', CONN_PATIENCE_US - EARLIER, REFUSED },
		{ "only its own does", "abc", 'C', CONN_PATIENCE_US - EARLIER + 2, 2 },
		{ "there is nobody", "", 'A', 0, WAITS },
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		struct connection_table *t = connection_table_new();
		unsigned count = fill(t, rows[i].there);
		struct connection_entry *e = NULL;
		enum connroom room = connection_table_make_room(t, (uint64_t)rows[i].newcomer, EARLIER + rows[i].pass_us, may_go, &e);
		int got = room == CONNROOM_LATER ? WAITS : room == CONNROOM_NONE ? REFUSED : 0;

		if (room == CONNROOM_MADE)
			got = (int)(container_of(e, struct connection, entry) - all);
		if (got != rows[i].goes)
			fail_msg("%s: %d, not %d", rows[i].why, got, rows[i].goes);
		empty(t, count);
	}
}

static void who_did_something_is_not_the_longest_idle(void **state)
{
	struct connection_table *t = connection_table_new();
	unsigned count = fill(t, "ABC");
	struct connection_entry *e;

	(void)state;
	connection_table_note(t, &all[0].entry, false, 5000);
	assert_int_equal(connection_table_make_room(t, 'D', 5000, may_go, &e), CONNROOM_MADE);
	assert_ptr_equal(e, &all[1].entry);
	assert_int_equal(all[0].entry.since_us, 5000);
	empty(t, count);
}

/* Questions that come and go do not keep a connection for ever where all are busy. */
static void who_asks_again_has_been_busy_all_the_time(void **state)
{
	struct connection_table *t = connection_table_new();
	unsigned count = fill(t, "abc");
	struct connection_entry *e;

	(void)state;
	for (uint64_t now_us = 100000; now_us < CONN_PATIENCE_US; now_us += 100000) {
		for (unsigned i = 0; i < count; i++)
			connection_table_note(t, &all[i].entry, true, now_us);
		assert_int_equal(connection_table_make_room(t, 'D', now_us, may_go, &e), CONNROOM_LATER);
	}
	assert_int_equal(connection_table_make_room(t, 'D', CONN_PATIENCE_US + 10, may_go, &e), CONNROOM_MADE);
	assert_ptr_equal(e, &all[0].entry);
	connection_table_note(t, &all[0].entry, false, CONN_PATIENCE_US + 20);
	connection_table_note(t, &all[0].entry, true, CONN_PATIENCE_US + 30);
	assert_int_equal(connection_table_make_room(t, 'D', CONN_PATIENCE_US + 40, may_go, &e), CONNROOM_MADE);
	assert_ptr_equal(e, &all[1].entry);
	empty(t, count);
}

static void a_proxy_says_whose_it_is(void **state)
{
	struct connection_table *t = connection_table_new();
	unsigned count = fill(t, "PpAB");
	struct connection_entry *e;

	(void)state;
	assert_int_equal(connection_table_held(t, 'P'), 2);
	connection_table_pass_on(t, &all[0].entry, 'A');
	connection_table_pass_on(t, &all[1].entry, 'C');
	assert_int_equal(connection_table_held(t, 'P'), 0);
	assert_int_equal(connection_table_held(t, 'A'), 2);
	assert_int_equal(connection_table_make_room(t, 'D', 0, may_go, &e), CONNROOM_MADE);
	assert_ptr_equal(e, &all[0].entry);
	empty(t, count);
}

/* However many have been idle longer. */
static void many_clients_and_many_connections_are_told_apart(void **state)
{
	struct connection_table *t = connection_table_new();
	struct connection_entry *e;

	(void)state;
	memset(all, 0, sizeof all);
	for (unsigned i = 0; i < MOST; i++)
		connection_table_add(t, &all[i].entry, i < 200 ? 1000 + i : 7, i);
	assert_int_equal(connection_table_held(t, 7), 100);
	assert_int_equal(connection_table_held(t, 1100), 1);
	for (unsigned i = 0; i < 99; i++) {
		assert_int_equal(connection_table_make_room(t, 5, 1000, may_go, &e), CONNROOM_MADE);
		assert_ptr_equal(e, &all[200 + i].entry);
		connection_table_remove(t, e);
		connection_table_remove(t, e);
	}
	assert_int_equal(connection_table_make_room(t, 5, 1000, may_go, &e), CONNROOM_MADE);
	assert_ptr_equal(e, &all[0].entry);
	empty(t, MOST);
}

static unsigned seen;

static void look(struct connection_entry *e)
{
	assert_ptr_equal(e, &all[seen ? 2 : 0].entry);
	seen++;
}

static void those_that_are_idle_are_seen_the_longest_first(void **state)
{
	struct connection_table *t = connection_table_new();
	unsigned count = fill(t, "AbC");

	(void)state;
	seen = 0;
	connection_table_each_idle(t, look);
	assert_int_equal(seen, 2);
	empty(t, count);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(who_makes_room),
		cmocka_unit_test(who_did_something_is_not_the_longest_idle),
		cmocka_unit_test(who_asks_again_has_been_busy_all_the_time),
		cmocka_unit_test(a_proxy_says_whose_it_is),
		cmocka_unit_test(many_clients_and_many_connections_are_told_apart),
		cmocka_unit_test(those_that_are_idle_are_seen_the_longest_first),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
