/* Forward and stub zones changed at run time, kept so that the next configuration has them too.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "daemon/process/changes.h"

#include "services/forward/forward.h"
#include "services/query/snapshot.h"
#include "util/base/mem.h"
#include "util/dns/dname.h"

static void item_free(struct forward_change *c)
{
	for (size_t i = 0; i < c->server_count; i++)
		mem_free(c->servers[i]);
	mem_free((void *)(uintptr_t)c->servers);
	mem_free((void *)(uintptr_t)c->name);
}

/* Drop an earlier change of the same zone, which this one supersedes. */
static void forget(struct changes *c, const struct forward_change *change)
{
	for (size_t i = 0; i < c->count; i++) {
		if (c->items[i].is_stub != change->is_stub ||
		    !dname_equals(c->items[i].name, change->name))
			continue;
		item_free(&c->items[i]);
		c->items[i] = c->items[--c->count];
		return;
	}
}

void changes_note(struct changes *c, const struct forward_change *change)
{
	struct forward_change copy = *change;
	char **servers = mem_array(change->server_count + 1, sizeof *servers);

	copy.name = mem_copy(change->name, dname_len(change->name));
	for (size_t i = 0; i < change->server_count; i++)
		servers[i] = mem_text(change->servers[i]);
	copy.servers = servers;
	forget(c, change);
	c->items = mem_grow(c->items, (c->count + 1) * sizeof *c->items);
	c->items[c->count++] = copy;
}

void changes_clear(struct changes *c)
{
	for (size_t i = 0; i < c->count; i++)
		item_free(&c->items[i]);
	mem_free(c->items);
	*c = (struct changes){ 0 };
}

struct snapshot *change_apply(const struct forward_change *change, struct snapshot *s,
			      struct fault *f)
{
	struct forwards *forwards = forwards_changed(s->forwards, change, f);

	return forwards ? snapshot_with_forwards(s, forwards) : NULL;
}

struct snapshot *changes_apply(const struct changes *c, struct snapshot *s, struct fault *f)
{
	for (size_t i = 0; s && i < c->count; i++) {
		struct snapshot *next = change_apply(&c->items[i], s, f);

		snapshot_unpin(s);
		s = next;
	}
	return s;
}
