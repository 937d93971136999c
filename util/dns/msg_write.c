/* Writing messages: RRsets with compression, and queries to servers.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "util/dns/msg.h"

#include "util/base/timebase.h"
#include "util/dns/rr.h"

#define COUNTS_AT    6 /* offset of ANCOUNT in the header */
#define ARCOUNT_AT   10
#define POINTER      0xc000
#define POINTER_ROOM 0x4000

struct writing {
	struct writer *w;
	const struct message *m;
	struct msg_style *style;
	struct msgname_book book;
};

static void write_head(struct writer *w, uint16_t id, uint16_t flags, const struct question *q)
{
	uint8_t *head = write_room(w, MSG_HEAD_LEN);

	if (!head)
		return;
	put_u16(head, id);
	put_u16(head + 2, flags);
	put_u16(head + 4, q->name_len ? 1 : 0);
	memset(head + 6, 0, 6);
}

/* Names are compressed only in the RDATA of RFC 1035 types (RFC 3597 4), where at most a 16-bit
 * preference (MX) precedes them. */
static void write_rdata(struct writing *x, uint16_t type, struct slice rdata)
{
	uint8_t *len_at = write_room(x->w, 2);

	for (const char *field = rr_shape(type); *field == 'N' || *field == '2'; field++) {
		size_t len = *field == 'N' ? dname_len(rdata.at) : 2;
		if (*field == 'N')
			msg_write_name(x->w, &x->book, rdata.at);
		else
			write_bytes(x->w, rdata.at, len);
		rdata.at += len;
		rdata.len -= len;
	}
	write_bytes(x->w, rdata.at, rdata.len);
	if (len_at && !x->w->bad)
		put_u16(len_at, (uint16_t)(x->w->at - len_at - 2));
}

/* The owner name of each record of a set; from the second on, a pointer kept in `*pointer`. */
static void write_owner(struct writing *x, const struct rrset *set, uint16_t *pointer)
{
	size_t here = writer_len(x->w);

	if (*pointer == 0 && set->owner_len > 1 &&
	    dname_equals_len(rrset_owner(set), set->owner_len, x->m->q.name, x->m->q.name_len))
		*pointer = POINTER | MSG_HEAD_LEN;
	if (*pointer) {
		write_u16(x->w, *pointer);
		return;
	}
	msg_write_name(x->w, &x->book, rrset_owner(set));
	if (x->w->bad || set->owner_len == 1)
		return;
	if (x->w->start[here] >= POINTER >> 8)
		*pointer = get_u16(x->w->start + here);
	else if (here < POINTER_ROOM)
		*pointer = (uint16_t)(POINTER | here);
}

static void write_ttl(struct writing *x, const struct rrset *set)
{
	struct msg_style *style = x->style;
	uint32_t left = time_left(style->now_s, set->expires_s);

	if (style->ttl_offsets && style->ttl_count < style->ttl_room)
		style->ttl_offsets[style->ttl_count] = (uint16_t)writer_len(x->w);
	style->ttl_count++;
	write_u32(x->w, style->original_ttl ? set->ttl_s : left);
}

static void write_records(struct writing *x, const struct rrset *set, struct rrset_walk walk,
			  uint16_t type, uint16_t *pointer)
{
	for (struct slice rdata; rrset_next(&walk, &rdata) && !x->w->bad;) {
		write_owner(x, set, pointer);
		write_u16(x->w, type);
		write_u16(x->w, set->class_);
		write_ttl(x, set);
		write_rdata(x, type, rdata);
	}
}

/* A type that was asked for is the answer, not a proof about it (RFC 4035 3.2.1). */
static bool is_asked_for(const struct writing *x, uint16_t type, enum section s)
{
	uint16_t asked = x->m->q.type;

	return s == SECTION_ANSWER && (asked == type || asked == TYPE_ANY);
}

static bool set_is_wanted(const struct writing *x, const struct rrset *set, enum section s)
{
	/* a referral's DS set is only for those who want proofs (RFC 4035 3.1.4) */
	bool proves = rr_flags(set->type) & RR_DNSSEC ||
		      (set->type == TYPE_DS && s == SECTION_AUTHORITY);

	return x->style->with_dnssec || !proves || is_asked_for(x, set->type, s);
}

/* When a set does not fit, the counts end before it. */
static void write_set(struct writing *x, const struct rrset *set, enum section s)
{
	struct msg_style *style = x->style;
	size_t ttls_before = style->ttl_count;
	uint16_t pointer = 0;

	write_records(x, set, rrset_records(set), set->type, &pointer);
	if (set->sig_count && (style->with_dnssec || is_asked_for(x, TYPE_RRSIG, s)))
		write_records(x, set, rrset_sigs(set), TYPE_RRSIG, &pointer);
	if (x->w->bad) {
		style->ttl_count = ttls_before;
		return;
	}
	style->rr_count[s] = (uint16_t)(style->rr_count[s] + style->ttl_count - ttls_before);
	style->end[s] = writer_len(x->w);
}

static void write_section(struct writing *x, enum section s)
{
	unsigned count;
	const struct rrset **sets = message_section(x->m, s, &count);

	for (unsigned i = 0; i < count && !x->w->bad; i++) {
		if (set_is_wanted(x, sets[i], s))
			write_set(x, sets[i], s);
	}
}

void msg_write(struct writer *w, const struct message *m, struct msg_style *style)
{
	struct writing x;
	uint16_t flags = (uint16_t)(m->flags | (m->opcode & 15) << 11 | (m->rcode & 15));

	x.w = w;
	x.m = m;
	x.style = style;
	msgname_begin(&x.book);
	style->ttl_count = 0;
	memset(style->rr_count, 0, sizeof(style->rr_count));
	memset(style->end, 0, sizeof(style->end));
	write_head(w, m->id, flags, &m->q);
	if (m->q.name_len) {
		msg_write_name(w, &x.book, m->q.name);
		write_u16(w, m->q.type);
		write_u16(w, m->q.class_);
	}
	if (w->bad)
		return;

	size_t end = writer_len(w);
	for (int s = SECTION_ANSWER; s <= SECTION_ADDITIONAL; s++) {
		style->end[s] = end;
		write_section(&x, (enum section)s);
		end = style->end[s];
		put_u16(w->start + COUNTS_AT + 2 * s, style->rr_count[s]);
	}
}

static void write_question(struct writer *w, const struct question *q)
{
	uint8_t *to = write_room(w, q->name_len + 4u);

	if (!to)
		return;
	memcpy(to, q->name, q->name_len);
	put_u16(to + q->name_len, q->type);
	put_u16(to + q->name_len + 2, q->class_);
}

void msg_write_query(struct writer *w, uint16_t id, uint16_t flags, const struct question *q,
		     const struct edns *opt)
{
	uint8_t *head = w->at;

	write_head(w, id, flags, q);
	if (q->name_len)
		write_question(w, q);
	if (opt == NULL || !opt->present)
		return;
	edns_write(w, opt);
	if (!w->bad)
		put_u16(head + ARCOUNT_AT, 1);
}
