/* Whether two messages, or two RRsets, say the same: for targets that write what was read and read it again.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * Names are compressed whatever their case. So those that are equal but for it may come back spelled like the first of
 * them, and records that differ in nothing else become one. Where a message spells every label in one way, each comes
 * back as it was. */
#ifndef TESTDATA_FUZZ_SAME_H
#define TESTDATA_FUZZ_SAME_H

#include "util/base/arena.h"
#include "util/base/mem.h"
#include "util/dns/msg.h"
#include "util/dns/rr.h"

struct same {
	bool spelling; /* letters have the same case */
	bool order;    /* records have the same order */
};

static inline bool same_rdata(struct slice x, struct slice y, uint16_t type, bool spelling)
{
	static uint8_t a[UINT16_MAX], b[UINT16_MAX];

	if (x.len != y.len)
		return false;
	if (x.len == 0 || memcmp(x.at, y.at, x.len) == 0)
		return true;
	if (spelling)
		return false;
	memcpy(a, x.at, x.len);
	memcpy(b, y.at, y.len);
	rr_canonical_rdata(type, a, x.len);
	rr_canonical_rdata(type, b, y.len);
	return memcmp(a, b, x.len) == 0;
}

/* Each of `a` is in `b`, and where order matters stands there no earlier than the one before. */
static inline bool same_each(struct rrset_walk a, struct rrset_walk b, uint16_t type, struct same how)
{
	struct rrset_walk from = b;

	for (struct slice x, y; rrset_next(&a, &x);) {
		struct rrset_walk at = from, here;
		bool found = false;

		for (here = at; !found && rrset_next(&at, &y);) {
			found = same_rdata(x, y, type, how.spelling);
			here = found ? here : at;
		}
		if (!found)
			return false;
		if (how.order)
			from = here;
	}
	return true;
}

/* `got` may have lost what is the same but for its case. */
static inline bool same_records(struct rrset_walk got, struct rrset_walk want, uint16_t type, struct same how)
{
	struct same any_order = { .spelling = how.spelling };

	return got.left <= want.left && (!how.spelling || got.left == want.left) &&
	       same_each(got, want, type, how) && same_each(want, got, type, any_order);
}

static inline bool same_owner(const struct rrset *a, const struct rrset *b, struct same how)
{
	return rrset_is(a, rrset_owner(b), b->type, b->class_) &&
	       (!how.spelling || memcmp(rrset_owner(a), rrset_owner(b), a->owner_len) == 0);
}

/* Without their signatures and times. */
static inline bool same_set(const struct rrset *got, const struct rrset *want, struct same how)
{
	return same_owner(got, want, how) &&
	       same_records(rrset_records(got), rrset_records(want), want->type, how);
}

static inline bool same_sigs(const struct rrset *got, const struct rrset *want, struct same how)
{
	return same_records(rrset_sigs(got), rrset_sigs(want), TYPE_RRSIG, how);
}

/* Section by section the same RRsets with their signatures. */
static inline void same_message(const struct message *got, const struct message *want, struct same how)
{
	PROMISE(memcmp(got->count, want->count, sizeof(got->count)) == 0);
	PROMISE(question_equals(&got->q, &want->q) && got->rcode == want->rcode);
	for (unsigned i = 0; i < message_set_count(want); i++)
		PROMISE(same_set(got->sets[i], want->sets[i], how) &&
			same_sigs(got->sets[i], want->sets[i], how));
}

/* ---- spelling ---- */

enum { SAME_LABELS = 400 };

struct same_labels {
	const uint8_t *at[SAME_LABELS];
	unsigned count;
	bool differ;
};

static inline void same_labels_add(struct same_labels *l, const uint8_t *name)
{
	for (; *name && !l->differ; name += 1 + *name) {
		bool known = false;

		for (unsigned i = 0; i < l->count && !known && !l->differ; i++) {
			known = *l->at[i] == *name && memcmp(l->at[i], name, *name + 1u) == 0;
			l->differ = !known && *l->at[i] == *name;
			for (unsigned k = 1; l->differ && k <= *name; k++)
				l->differ = ascii_lower[l->at[i][k]] == ascii_lower[name[k]];
		}
		if (!known && l->count == SAME_LABELS)
			l->differ = true;
		else if (!known)
			l->at[l->count++] = name;
	}
}

/* The names in the data that may be compressed: they come first, but for a preference. */
static inline void same_labels_of(struct same_labels *l, const struct rrset *s)
{
	struct rrset_walk w = rrset_records(s);

	same_labels_add(l, rrset_owner(s));
	for (struct slice rd; rrset_next(&w, &rd) && !l->differ;)
		for (const char *field = rr_shape(s->type); *field == 'N' || *field == '2'; field++) {
			if (*field == 'N')
				same_labels_add(l, rd.at);
			rd.at += *field == 'N' ? dname_len(rd.at) : 2;
		}
}

/* No label of those names, nor of the question's, is there in two spellings (or there are too many to tell). */
static inline bool same_is_spelled_once(const struct message *m)
{
	struct same_labels l = { .count = 0 };

	if (m->q.name_len)
		same_labels_add(&l, m->q.name);
	for (unsigned i = 0; i < message_set_count(m); i++)
		same_labels_of(&l, m->sets[i]);
	return !l.differ;
}

/* ---- what messages may lose ---- */

/* An RRSIG away from what it covers is joined with it where a message has at most 64 RRsets: less of a larger one may be
 * read otherwise. */
static inline bool same_covers_any(const struct message *m, const struct rrset *lone)
{
	struct rrset_walk w = rrset_records(lone);

	for (struct slice rd; rrset_next(&w, &rd);)
		for (unsigned i = 0; i < message_set_count(m); i++)
			if (get_u16(rd.at) != TYPE_RRSIG &&
			    rrset_is(m->sets[i], rrset_owner(lone), get_u16(rd.at), lone->class_))
				return true;
	return false;
}

static inline bool same_when_shorter(const struct message *m)
{
	for (unsigned i = 0; i < message_set_count(m) && m->q.type != TYPE_RRSIG; i++)
		if (m->sets[i]->type == TYPE_RRSIG && same_covers_any(m, m->sets[i]))
			return false;
	return true;
}

#endif
