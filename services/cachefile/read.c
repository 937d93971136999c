/* Reading the cache file: what of it can be used, and as what.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * The contents are untrusted: whatever is not well-formed is skipped. */
#include "services/cachefile/cachefile.h"
#include "services/cachefile/entry.h"

#include "services/cache/forget.h"
#include "services/cache/msg.h"
#include "services/cache/rrset.h"
#include "services/mesh/cache_rules.h"
#include "util/base/arena.h"
#include "util/base/fault.h"
#include "util/base/mem.h"
#include "util/dns/rr.h"

#define CLOCK_SLACK_S 2                  /* how far a clock may be set back unnoticed */
#define LONG_AGO_S    (INT64_C(1) << 30) /* more than any TTL */

struct reading {
	const struct cachefile_how *how;
	struct cachefile_count *count;
	struct block_reader blocks;
	struct arena arena; /* of one entry */
	int64_t passed_s;   /* since the file was written */
	bool same_validation;
	struct trie *zones;   /* until the first block of another kind */
	struct forget *apart; /* then: names in zones that differ */
};

/* ---- time ---- */

/* A monotonic clock counts from boot: after a reboot, more time has passed than the difference of
 * the two readings, never less. */
static bool find_passed(struct reading *r, struct fault *f)
{
	const struct timebase *now = &r->how->now;
	const struct blocks_head *head = &r->blocks.head;
	int64_t wall_s;

	if (head->wall_s < 0 || head->wall_s > now->wall_s + CLOCK_SLACK_S) {
		fault_set(f, "by the clock it is from the future: how old it is cannot be known");
		return false;
	}
	r->count->written_s = head->wall_s;
	wall_s = now->wall_s - head->wall_s;
	r->passed_s = MAX(wall_s, 0);
	if (now->now_us > head->mono_us)
		r->passed_s = MAX(r->passed_s, (int64_t)((now->now_us - head->mono_us) / US_PER_S));
	r->passed_s = MIN(r->passed_s, LONG_AGO_S);
	return true;
}

static int32_t read_i32(struct reader *in)
{
	return (int32_t)read_u32(in);
}

/* Seconds left to live, capped at most_ttl_s; false when expired for longer than `grace_s`. */
static bool find_left(const struct reading *r, int32_t left_s, uint32_t grace_s, int64_t *to)
{
	*to = MIN((int64_t)left_s - r->passed_s, (int64_t)r->how->most_ttl_s);
	return *to > -(int64_t)MIN(grace_s, SLAB_FOREVER);
}

/* ---- trust ---- */

static bool has_shape(const struct reading *r, struct fault *f)
{
	if (r->blocks.head.shape == r->how->shape)
		return true;
	fault_set(f, "answers were cached under other rules then (private-address, dns64-prefix, "
		     "module-config and their like)");
	return false;
}

/* The security status it gets from now on; false: it is not used. */
static bool find_security(const struct reading *r, uint8_t was, uint8_t *is)
{
	*is = was == SECURITY_SECURE ? SECURITY_UNCHECKED : was;
	return was == SECURITY_SECURE ||
	       (r->same_validation && (was == SECURITY_UNCHECKED || was == SECURITY_INDETERMINATE ||
				  was == SECURITY_INSECURE));
}

/* ---- answers ---- */

static void take_answer(struct reading *r, struct slice entry)
{
	struct reader in = reader_over(entry.at, entry.len);
	int64_t age_s = (int64_t)read_i32(&in) + r->passed_s, left_s = 0;
	bool of_use = find_left(r, read_i32(&in), r->how->expired_s, &left_s);
	uint8_t was = read_u8(&in), security;
	uint32_t now_s = r->how->now.now_s;
	struct message m;

	if (in.bad || age_s < 0 || !find_security(r, was & ~ANSWER_WHOLE, &security)) {
		r->count->passed++;
		return;
	}
	/* An expired answer that is not validated must never be served. */
	if (!of_use || age_s > LONG_AGO_S ||
	    (left_s <= 0 && security == SECURITY_UNCHECKED && r->how->validates)) {
		r->count->expired++;
		return;
	}
	if (!msg_parse(in.at, reader_left(&in), &r->arena, now_s - (uint32_t)age_s, &m) ||
	    !store_is_sound(&m) || keptzones_touch(r->apart, &m)) {
		r->count->passed++;
		return;
	}
	m.security = security;
	if (msgcache_restore(r->how->messages, &m,
			     &(struct msg_restore){ .now_s = now_s,
						    .stored_s = now_s - (uint32_t)age_s,
						    .expires_s = now_s + (uint32_t)left_s,
						    .whole = was & ANSWER_WHOLE }))
		r->count->answers++;
	else
		r->count->passed++;
}

/* ---- RRsets ---- */

static bool take_records(struct reader *in, uint16_t type, uint16_t covered, struct slice *to,
			 size_t count)
{
	for (size_t i = 0; i < count; i++) {
		to[i].len = read_u16(in);
		to[i].at = read_bytes(in, to[i].len);
		if (in->bad || !rr_rdata_is_whole(type, to[i].at, to[i].len) ||
		    (type == TYPE_RRSIG && covered && get_u16(to[i].at) != covered))
			return false;
	}
	return true;
}

/* False when the RRset is not well-formed. */
static bool read_set(struct reading *r, struct reader *in, struct rrset_parts *p, uint8_t owner_len)
{
	struct slice *records, *sigs;

	if ((p->count + p->sig_count) * 2 > reader_left(in) || !p->count ||
	    rr_flags(p->type) & RR_META || (rr_flags(p->type) & RR_SINGLE && p->count != 1))
		return false;
	records = arena_array(&r->arena, struct slice, p->count);
	sigs = arena_array(&r->arena, struct slice, p->sig_count + 1);
	p->owner = read_bytes(in, owner_len);
	p->records = records;
	p->sigs = sigs;
	return p->owner && dname_fills(p->owner, owner_len) &&
	       take_records(in, p->type, 0, records, p->count) &&
	       take_records(in, TYPE_RRSIG, p->type, sigs, p->sig_count) && !reader_left(in);
}

static void take_set(struct reading *r, struct slice entry)
{
	struct reader in = reader_over(entry.at, entry.len);
	struct rrset_parts p = { .ttl_s = read_u32(&in) };
	uint32_t now_s = r->how->now.now_s;
	int64_t left_s;
	bool of_use = find_left(r, read_i32(&in), 0, &left_s);
	uint8_t owner_len;

	p.type = read_u16(&in);
	p.class_ = read_u16(&in);
	p.count = read_u16(&in);
	p.sig_count = read_u16(&in);
	p.trust = read_u8(&in);
	of_use = find_security(r, read_u8(&in), &p.security) && of_use;
	/* What was validated is only what servers said, until it is validated again. */
	p.trust = MIN(p.trust, (uint8_t)TRUST_ANS_AA);
	p.flags = read_u8(&in);
	owner_len = read_u8(&in);
	if (in.bad || p.flags & ~RRSET_FLAGS_KEPT || !read_set(r, &in, &p, owner_len) ||
	    forget_name(r->apart, p.owner, 0)) {
		r->count->passed++;
		return;
	}
	if (!of_use) {
		r->count->expired += left_s <= 0;
		r->count->passed += left_s > 0;
		return;
	}
	p.expires_s = now_s + (uint32_t)left_s;
	(void)rrsetcache_put(r->how->rrsets, rrset_build(&r->arena, &p), now_s, &r->arena);
	r->count->sets++;
}

/* ---- the file ---- */

static bool is_stopped(const struct reading *r)
{
	return r->how->stop && atomic_load_explicit(r->how->stop, memory_order_relaxed);
}

static void take_block(struct reading *r, void (*take)(struct reading *r, struct slice entry))
{
	struct slice entry;

	rcu_turn_begin();
	while (!is_stopped(r) && block_take(&r->blocks, &entry)) {
		take(r, entry);
		arena_clear(&r->arena);
		arena_init(&r->arena);
	}
	rcu_turn_end();
}

/* Zones come first: nothing is taken before all are known. False: one has come too late, or is none. */
static bool take_zones(struct reading *r, enum block_kind kind)
{
	struct slice entry;

	if (kind != BLOCK_ZONES) {
		if (r->zones)
			r->apart = keptzones_close(r->zones);
		r->zones = NULL;
		return true;
	}
	while (r->zones && block_take(&r->blocks, &entry))
		if (!keptzones_take(r->zones, entry))
			return false;
	return r->zones;
}

static bool take_blocks(struct reading *r, struct fault *f)
{
	for (;;) {
		enum block_kind kind = block_next(&r->blocks, f);

		r->count->bytes = r->blocks.bytes;
		if (kind == 0)
			return false;
		if (kind == BLOCK_END)
			return true;
		if (is_stopped(r)) {
			fault_set(f, "reading was stopped");
			return false;
		}
		if (!take_zones(r, kind)) {
			fault_set(f, "its zones are damaged");
			return false;
		}
		if (kind != BLOCK_ZONES)
			take_block(r, kind == BLOCK_SETS ? take_set : take_answer);
	}
}

bool cachefile_read(const struct cachefile_how *how, block_pull *pull, void *arg,
		    struct cachefile_count *count, struct fault *f)
{
	struct reading r = { .how = how, .count = count };
	bool ok;

	*count = (struct cachefile_count){ 0 };
	if (!blocks_open(&r.blocks, pull, arg, f))
		return false;
	arena_init(&r.arena);
	r.same_validation = r.blocks.head.validation == how->validation;
	r.zones = keptzones_open(&how->zones);
	ok = has_shape(&r, f) && find_passed(&r, f) && take_blocks(&r, f);
	forget_free(r.zones ? keptzones_close(r.zones) : r.apart);
	arena_clear(&r.arena);
	blocks_close(&r.blocks);
	return ok;
}
