/* Writing the cache file: which entries of the caches go into it.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "services/cachefile/cachefile.h"
#include "services/cachefile/entry.h"

#include "services/cache/msg.h"
#include "services/cache/rrset.h"
#include "util/base/fault.h"
#include "util/base/random.h"

_Static_assert(ANSWER_HEAD_LEN + UINT16_MAX <= BLOCK_ENTRY_MOST, "an answer fits");
_Static_assert(SET_HEAD_LEN + RRSET_BYTES_MOST <= BLOCK_ENTRY_MOST, "a set that is cached fits");

struct writing {
	const struct cachefile_how *how;
	struct cachefile_count *count;
	struct block_writer blocks;
	cachefile_push *push;
	void *arg;
};

static bool is_of_use(const struct writing *w, uint32_t expires_s, uint32_t grace_s)
{
	return !time_is_past(w->how->now.now_s - grace_s, expires_s);
}

/* Whether the reason for its status is known; validating it again finds that reason again. */
static bool is_explained(const struct stored *s)
{
	return s->reason != REASON_none;
}

/* Plain images are made from full ones; failures are not kept. */
static bool is_kept(const struct writing *w, const struct stored *s)
{
	return s->scope == 0 && s->fits & STORED_FULL && !(s->fits & STORED_MADE) && stored_is_good(s) &&
	       (!is_explained(s) || s->security == SECURITY_INSECURE) &&
	       s->security != SECURITY_SECURE_SENTINEL_FAIL &&
	       is_of_use(w, s->expires_s, w->how->expired_s);
}

static void add_answer(const struct slab_entry *e, void *arg)
{
	struct writing *w = arg;
	const struct stored *s = container_of(e, struct stored, link);
	size_t len = ANSWER_HEAD_LEN + s->wire_len;
	struct writer to;

	if (!is_kept(w, s))
		return;
	to = writer_over(block_entry(&w->blocks, BLOCK_ANSWERS, len), len);
	write_u32(&to, w->how->now.now_s - s->stored_s);
	write_u32(&to, s->expires_s - w->how->now.now_s);
	write_u8(&to, (is_explained(s) ? SECURITY_UNCHECKED : s->security) |
			      (s->fits & STORED_WHOLE ? ANSWER_WHOLE : 0));
	write_bytes(&to, stored_wire(s), s->wire_len);
	w->count->answers++;
}

static void add_set(const struct slab_entry *e, void *arg)
{
	struct writing *w = arg;
	const struct rrset *s = &container_of(e, struct rrset_entry, link)->set;
	size_t data = s->size - offsetof(struct rrset, data), len = SET_HEAD_LEN + data;
	struct writer to;

	if (e->spare || s->security == SECURITY_BOGUS || s->flags & RRSET_FROM_POLICY ||
	    !is_of_use(w, s->expires_s, 0))
		return;
	to = writer_over(block_entry(&w->blocks, BLOCK_SETS, len), len);
	write_u32(&to, s->ttl_s);
	write_u32(&to, s->expires_s - w->how->now.now_s);
	write_u16(&to, s->type);
	write_u16(&to, s->class_);
	write_u16(&to, s->count);
	write_u16(&to, s->sig_count);
	write_u8(&to, s->trust);
	write_u8(&to, s->security);
	write_u8(&to, s->flags);
	write_u8(&to, s->owner_len);
	write_bytes(&to, s->data, data);
	w->count->sets++;
}

static bool push(struct writing *w, struct fault *f)
{
	struct slice ready = blocks_take(&w->blocks);

	if (w->how->stop && atomic_load_explicit(w->how->stop, memory_order_relaxed)) {
		fault_set(f, "it was stopped");
		return false;
	}
	return !ready.len || w->push(w->arg, ready.at, ready.len, f);
}

/* The slow part, disk I/O, happens outside of turns. */
static bool add_all(struct writing *w, struct slab *s,
		    void (*each)(const struct slab_entry *e, void *arg), struct fault *f)
{
	struct slab_walk walk = { 0 };
	bool more;

	do {
		more = slab_walk(s, &walk, each, w);
		if (!push(w, f))
			return false;
	} while (more);
	return true;
}

static void end(struct writing *w)
{
	uint8_t totals[END_LEN];
	struct writer to = writer_over(totals, sizeof(totals));

	write_u32(&to, (uint32_t)(w->count->sets >> 32));
	write_u32(&to, (uint32_t)w->count->sets);
	write_u32(&to, (uint32_t)(w->count->answers >> 32));
	write_u32(&to, (uint32_t)w->count->answers);
	blocks_end(&w->blocks, totals, sizeof(totals));
}

bool cachefile_write(const struct cachefile_how *how, cachefile_push *push_bytes, void *arg,
		     struct cachefile_count *count, struct fault *f)
{
	struct writing w = { .how = how, .count = count, .push = push_bytes, .arg = arg };
	struct blocks_head head = { .wall_s = how->now.wall_s,
				    .mono_us = how->now.now_us,
				    .validation = how->validation,
				    .shape = how->shape };
	struct random chance;
	bool ok;

	*count = (struct cachefile_count){ 0 };
	random_init(&chance);
	random_bytes(&chance, head.chance, sizeof(head.chance));
	blocks_begin(&w.blocks, &head);
	keptzones_write(&how->zones, &w.blocks);
	/* RRsets first: revalidating the answers needs their keys and delegations. */
	ok = add_all(&w, rrsetcache_slab(how->rrsets), add_set, f) &&
	     add_all(&w, msgcache_slab(how->messages), add_answer, f);
	if (ok) {
		end(&w);
		ok = push(&w, f);
	}
	count->bytes = w.blocks.taken;
	blocks_clear(&w.blocks);
	return ok;
}
