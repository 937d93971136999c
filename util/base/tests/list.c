/* Claims about the intrusive list.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "util/base/list.h"

#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>

struct bead {
	char name;
	struct list link;
};

static void assert_reads(struct list *head, const char *want)
{
	char forward[8] = "", back[8] = "";
	size_t n = 0, count;

	LIST_EACH (at, head)
		forward[n++] = LIST_ITEM(at, struct bead, link)->name;
	count = n;
	for (struct list *at = head->prev; at != head; at = at->prev)
		back[--n] = LIST_ITEM(at, struct bead, link)->name;
	assert_int_equal(n, 0);
	back[count] = 0;
	assert_string_equal(forward, want);
	assert_string_equal(back, want);
}

static void links_stand_where_they_were_put(void **state)
{
	(void)state;
	struct bead a = { .name = 'a' }, b = { .name = 'b' }, c = { .name = 'c' },
		    d = { .name = 'd' };
	struct list head;

	list_init(&head);
	assert_true(list_is_empty(&head));
	list_push_back(&head, &b.link);
	list_push_front(&head, &a.link);
	list_push_back(&head, &d.link);
	list_put_after(&b.link, &c.link);
	assert_false(list_is_empty(&head));
	assert_reads(&head, "abcd");
	list_remove(&b.link);
	assert_reads(&head, "acd");
	assert_true(list_is_empty(&b.link));
}

static void removing_twice_is_harmless(void **state)
{
	(void)state;
	struct bead a = { .name = 'a' }, b = { .name = 'b' };
	struct list head;

	list_init(&head);
	list_push_back(&head, &a.link);
	list_push_back(&head, &b.link);
	list_remove(&a.link);
	list_remove(&a.link);
	assert_reads(&head, "b");
	list_push_front(&head, &a.link);
	assert_reads(&head, "ab");
}

static void a_safe_walk_may_remove_where_it_stands(void **state)
{
	(void)state;
	struct bead beads[] = {
		{ .name = 'a' }, { .name = 'b' }, { .name = 'c' }, { .name = 'd' }
	};
	struct list head;

	list_init(&head);
	for (size_t i = 0; i < COUNT(beads); i++)
		list_push_back(&head, &beads[i].link);
	LIST_EACH_SAFE (at, &head)
		if (LIST_ITEM(at, struct bead, link)->name % 2)
			list_remove(at);
	assert_reads(&head, "bd");
	LIST_EACH_SAFE (at, &head)
		list_remove(at);
	assert_true(list_is_empty(&head));
}

static void all_are_taken_at_once_in_their_order(void **state)
{
	(void)state;
	struct bead a = { .name = 'a' }, b = { .name = 'b' };
	struct list head, now;

	list_init(&head);
	list_take_all(&now, &head);
	assert_true(list_is_empty(&now));
	list_push_back(&head, &a.link);
	list_push_back(&head, &b.link);
	list_take_all(&now, &head);
	assert_true(list_is_empty(&head));
	assert_reads(&now, "ab");
}

int main(void)
{
	const struct CMUnitTest claims[] = {
		cmocka_unit_test(links_stand_where_they_were_put),
		cmocka_unit_test(removing_twice_is_harmless),
		cmocka_unit_test(a_safe_walk_may_remove_where_it_stands),
		cmocka_unit_test(all_are_taken_at_once_in_their_order),
	};

	return cmocka_run_group_tests(claims, NULL, NULL);
}
