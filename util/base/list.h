/* An intrusive doubly linked list.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * A list is a ring through its head; after list_init a link that is in no list
 * points to itself. The list owns nothing. */
#ifndef UTIL_BASE_LIST_H
#define UTIL_BASE_LIST_H

#include "util/base/base.h"

struct list {
	struct list *next, *prev;
};

static inline void list_init(struct list *l)
{
	l->next = l->prev = l;
}

static inline bool list_is_empty(const struct list *l)
{
	return l->next == l;
}

static inline void list_put_after(struct list *at, struct list *link)
{
	link->prev = at;
	link->next = at->next;
	at->next->prev = link;
	at->next = link;
}

static inline void list_push_front(struct list *head, struct list *link)
{
	list_put_after(head, link);
}

static inline void list_push_back(struct list *head, struct list *link)
{
	list_put_after(head->prev, link);
}

/* Unlink from whatever list it is in; harmless when it is in none. */
static inline void list_remove(struct list *link)
{
	link->prev->next = link->next;
	link->next->prev = link->prev;
	list_init(link);
}

/* Move all links of `from` to `to`, which need not be initialised. */
static inline void list_take_all(struct list *to, struct list *from)
{
	list_init(to);
	list_put_after(from, to);
	list_remove(from);
}

#define LIST_ITEM(link, type, member)   container_of(link, type, member)

#define LIST_EACH(pos, head) \
	for (struct list *pos = (head)->next; pos != (head); pos = pos->next)

/* Like LIST_EACH, but the body may remove `pos` (and no other link). */
#define LIST_EACH_SAFE(pos, head) \
	for (struct list *pos = (head)->next, *pos##_next = pos->next; pos != (head); \
	     pos = pos##_next, pos##_next = pos->next)

#endif
