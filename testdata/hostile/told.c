/* An authoritative server's answers from zone data, and any records as bytes.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "testdata/hostile/told.h"

#include <string.h>

#include "util/base/mem.h"

void told_begin(struct told *t)
{
	memset(t, 0, offsetof(struct told, records));
}

void told_copy(struct told *to, const struct told *from)
{
	memcpy(to, from, offsetof(struct told, records) + from->count * sizeof(*from->records));
}

void told_record(struct told *t, enum section section, const uint8_t *owner, uint16_t type, uint32_t ttl_s,
		 struct slice rdata)
{
	if (t->count < TOLD_RECORDS)
		t->records[t->count++] = (struct told_record){ section, owner, type, ttl_s, rdata };
}

void told_set(struct told *t, enum section section, const struct zone *z, struct set *s, const uint8_t *owner)
{
	struct slice sig = zdata_sig(z, s);

	owner = owner ? owner : s->owner;
	for (unsigned i = 0; i < s->count; i++)
		told_record(t, section, owner, s->type, s->ttl_s, s->rdata[i]);
	if (sig.len)
		told_record(t, section, owner, TYPE_RRSIG, s->ttl_s, sig);
}

/* ---- what is true ---- */

static void tell_denial(struct told *t, const struct zone *z, const uint8_t *name)
{
	struct set *s = zdata_denial(z, name);

	if (!s)
		return;
	t->insecure |= s->type == TYPE_NSEC3 && z->iterations > ITERATIONS_BELIEVED;
	for (unsigned i = 0; i < t->count; i++)
		if (t->records[i].type == s->type && dname_equals(t->records[i].owner, s->owner))
			return;
	told_set(t, SECTION_AUTHORITY, z, s, NULL);
}

static void tell_soa(struct told *t, const struct zone *z)
{
	told_set(t, SECTION_AUTHORITY, z, zdata_find(z, z->apex, TYPE_SOA), NULL);
}

/* The closest encloser and, one label longer, what is not there. */
static const uint8_t *encloser_of(const struct zone *z, const uint8_t *name, const uint8_t **next)
{
	while (!zdata_holds(z, name)) {
		*next = name;
		name = dname_parent(name);
	}
	return name;
}

/* Neither the name nor its delegation has a denial of its own: an opt-out span is over it. */
static void tell_opt_out(struct told *t, const struct zone *z, const uint8_t *name)
{
	const uint8_t *next = name, *encloser = dname_parent(name);

	while (!dname_equals(encloser, z->apex) && zdata_cut(z, encloser)) {
		next = encloser;
		encloser = dname_parent(encloser);
	}
	tell_denial(t, z, encloser);
	tell_denial(t, z, next);
	t->insecure = true;
}

static void tell_referral(struct told *t, const struct zone *z, const struct set *cut)
{
	struct set *ns = zdata_find(z, cut->owner, TYPE_NS), *ds = zdata_find(z, cut->owner, TYPE_DS);

	t->flags &= (uint16_t)~FLAG_AA;
	told_set(t, SECTION_AUTHORITY, z, ns, NULL);
	if (ds)
		told_set(t, SECTION_AUTHORITY, z, ds, NULL);
	else if (z->opt_out)
		tell_opt_out(t, z, cut->owner);
	else
		tell_denial(t, z, cut->owner);
	for (unsigned i = 0; i < ns->count; i++) {
		struct set *glue = zdata_find(z, ns->rdata[i].at, TYPE_A), *glue6 = zdata_find(z, ns->rdata[i].at, TYPE_AAAA);

		if (glue)
			told_set(t, SECTION_ADDITIONAL, z, glue, NULL);
		if (glue6)
			told_set(t, SECTION_ADDITIONAL, z, glue6, NULL);
	}
}

static void tell_of_name(struct told *t, const struct zone *z, const uint8_t *there, const struct question *q)
{
	struct set *s = zdata_find(z, there, q->type);

	if (!s && (q->type != TYPE_NSEC || z->by_hash || z->key == NO_KEY))
		s = zdata_find(z, there, TYPE_CNAME);
	if (s) {
		told_set(t, SECTION_ANSWER, z, s, q->name);
		return;
	}
	tell_soa(t, z);
	if (z->opt_out && zdata_cut(z, there) && !zdata_find(z, there, TYPE_DS))
		tell_opt_out(t, z, there);
	else
		tell_denial(t, z, there);
}

static bool tell_of_dname(struct told *t, const struct zone *z, const uint8_t *name, struct arena *a)
{
	for (const uint8_t *at = name; !dname_equals(at, z->apex);) {
		struct set *s = zdata_find(z, at = dname_parent(at), TYPE_DNAME);
		uint8_t target[DNAME_MAX];
		size_t len;

		if (!s)
			continue;
		told_set(t, SECTION_ANSWER, z, s, NULL);
		len = dname_transplant(target, name, s->owner, s->rdata[0].at);
		if (!len)
			t->rcode = RCODE_YXDOMAIN;
		else
			told_record(t, SECTION_ANSWER, name, TYPE_CNAME, s->ttl_s,
				    (struct slice){ arena_copy(a, target, len), len });
		return true;
	}
	return false;
}

static void tell_of_nothing(struct told *t, const struct zone *z, const struct question *q, struct arena *a)
{
	const uint8_t *next = q->name, *encloser = encloser_of(z, q->name, &next);
	uint8_t star[DNAME_MAX], *kept;
	size_t len = dname_join(star, (const uint8_t *)"\1*", 2, encloser);

	kept = arena_copy(a, star, len ? len : 1);
	if (len && zdata_holds(z, kept)) {
		tell_of_name(t, z, kept, q);
	} else {
		t->rcode = RCODE_NXDOMAIN;
		tell_soa(t, z);
		if (len)
			tell_denial(t, z, kept);
	}
	if (z->by_hash)
		tell_denial(t, z, encloser);
	tell_denial(t, z, next);
	t->insecure |= z->opt_out;
}

void told_honest(struct told *t, const struct zone *z, const struct question *q, struct arena *a)
{
	const struct set *cut;

	told_begin(t);
	if (!dname_is_under(q->name, z->apex)) {
		t->rcode = RCODE_REFUSED;
		return;
	}
	t->flags = FLAG_AA;
	cut = zdata_cut(z, q->name);
	if (cut && !(q->type == TYPE_DS && dname_equals(q->name, cut->owner)))
		tell_referral(t, z, cut);
	else if (zdata_holds(z, q->name))
		tell_of_name(t, z, q->name, q);
	else if (!tell_of_dname(t, z, q->name, a))
		tell_of_nothing(t, z, q, a);
}

/* ---- as bytes ---- */

enum { PLACES = 512 };

struct squeezer {
	struct writer w;
	enum squeeze how;
	struct {
		const uint8_t *name;
		uint16_t at, before; /* the place before it of a name as long, plus one */
	} places[PLACES];
	unsigned count;
	uint16_t last[DNAME_MAX + 1]; /* by length: the place, plus one */
};

static int place_of(const struct squeezer *s, const uint8_t *name, size_t len)
{
	int found = -1;

	for (unsigned i = s->last[len]; i; i = s->places[i - 1].before)
		if (dname_equals_len(s->places[i - 1].name, len, name, len)) {
			found = (int)i - 1;
			if (s->how == SQUEEZE_LAST)
				break;
		}
	return found;
}

static void write_name(struct squeezer *s, const uint8_t *name)
{
	bool notes = s->how != SQUEEZE_NONE;
	size_t len = notes ? dname_len(name) : 0;

	for (; *name; len -= 1u + *name, name = dname_parent(name)) {
		int place = notes ? place_of(s, name, len) : -1;
		size_t at = writer_len(&s->w);

		if (notes && at < 0x4000 && s->count < PLACES) {
			s->places[s->count].name = name;
			s->places[s->count].before = s->last[len];
			s->places[s->count++].at = (uint16_t)at;
			s->last[len] = (uint16_t)s->count;
		}
		if (place >= 0) {
			write_u16(&s->w, (uint16_t)(0xc000 | s->places[place].at));
			return;
		}
		write_bytes(&s->w, name, 1u + *name);
		notes &= s->how != SQUEEZE_WHOLE;
	}
	write_u8(&s->w, 0);
}

static void write_record(struct squeezer *s, const struct told_record *r)
{
	const char *shape = rr_shape(r->type);
	size_t head = *shape == '2' && shape[1] == 'N' ? 2 : 0, at;
	struct reader rest = reader_over(r->rdata.at, r->rdata.len);

	write_name(s, r->owner);
	write_u16(&s->w, r->type);
	write_u16(&s->w, CLASS_IN);
	write_u32(&s->w, r->ttl_s);
	at = writer_len(&s->w);
	write_u16(&s->w, 0);
	if (s->how != SQUEEZE_NONE && shape[head ? 1 : 0] == 'N' && r->rdata.len > head &&
	    rr_rdata_is_whole(r->type, r->rdata.at, r->rdata.len)) {
		write_bytes(&s->w, read_bytes(&rest, head), head);
		while (*(shape + (head ? 1 : 0)) == 'N' && reader_left(&rest)) {
			const uint8_t *name = rest.at;

			(void)read_bytes(&rest, dname_len(name));
			write_name(s, name);
			if (*++shape != 'N')
				break;
		}
	}
	write_bytes(&s->w, rest.at, reader_left(&rest));
	if (!s->w.bad)
		put_u16(s->w.start + at, (uint16_t)(writer_len(&s->w) - at - 2));
}

static void write_opt(struct writer *w, const struct told *t)
{
	write_u8(w, 0);
	write_u16(w, TYPE_OPT);
	write_u16(w, 1232);
	write_u8(w, (uint8_t)(t->rcode >> 4));
	write_u8(w, t->opt_version);
	write_u16(w, EDNS_DO);
	write_u16(w, (uint16_t)t->options.len);
	write_bytes(w, t->options.at, t->options.len);
}

static bool write_sections(struct squeezer *s, const struct told *t)
{
	for (unsigned section = 0; section < 3; section++)
		for (unsigned i = 0; i < t->count; i++) {
			uint8_t *count = s->w.start + 6 + 2 * section;

			if (t->records[i].section != section)
				continue;
			write_record(s, &t->records[i]);
			if (s->w.bad)
				return false;
			put_u16(count, (uint16_t)(get_u16(count) + 1));
		}
	return true;
}

size_t told_write(const struct told *t, struct slice query, uint8_t *to, size_t room)
{
	static struct squeezer s;
	size_t question = dname_len(query.at + MSG_HEAD_LEN) + 4;

	s.w = writer_over(to, room);
	s.how = t->squeeze;
	s.count = 0;
	memset(s.last, 0, sizeof(s.last));
	write_u16(&s.w, msg_id(query.at));
	write_u16(&s.w, (uint16_t)(FLAG_QR | t->flags | (t->rcode & 15)));
	write_u16(&s.w, !t->no_question);
	write_u16(&s.w, 0);
	write_u32(&s.w, 0);
	if (!t->no_question)
		write_bytes(&s.w, query.at + MSG_HEAD_LEN, question);
	PROMISE(!s.w.bad);
	if (!write_sections(&s, t)) {
		put_u16(to + 2, (uint16_t)(get_u16(to + 2) | FLAG_TC));
		memset(to + 6, 0, 6);
		return MSG_HEAD_LEN + (t->no_question ? 0 : question);
	}
	if (!t->no_opt && writer_left(&s.w) >= OPT_FIXED_LEN + t->options.len) {
		write_opt(&s.w, t);
		put_u16(to + 10, (uint16_t)(get_u16(to + 10) + 1));
	}
	return writer_len(&s.w);
}
