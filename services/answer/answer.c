/* Writes stored and fresh answers: a copy, an id, the client's letter case, TTLs counted down.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "services/answer/answer.h"

#include "util/conf/options.h"
#include "util/dns/rr.h"

#define PLAIN_UDP    512 /* RFC 1035 2.3.4 */
#define OPCODE_BITS  0x7800
#define ARCOUNT_AT   10
#define EDE_TEXT_MAX 200

#define COOKIE_OPTION_LEN (4 + 24)
#define SUBNET_OPTION_LEN (4 + SUBNET_OPTION_MAX)

/* The options of our OPT record. */
struct extras {
	size_t len, kept; /* of all; of those that stay when space is short */
	uint8_t bytes[COOKIE_OPTION_LEN + SUBNET_OPTION_LEN + 4 + NSID_MAX + 2 * 6 + EDE_TEXT_MAX];
};

static int hex_value(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	if ((c | 32) >= 'a' && (c | 32) <= 'f')
		return (c | 32) - 'a' + 10;
	return 0;
}

/* "ascii_TEXT", or pairs of hex digits: the option's check ensures this. */
static uint8_t nsid_from(uint8_t to[NSID_MAX], const char *text)
{
	bool plain = strncmp(text, "ascii_", 6) == 0;
	size_t len = plain ? strlen(text + 6) : strlen(text) / 2;

	len = MIN(len, (size_t)NSID_MAX);
	if (plain)
		memcpy(to, text + 6, len);
	for (size_t i = 0; !plain && i < len; i++)
		to[i] = (uint8_t)(hex_value(text[2 * i]) << 4 | hex_value(text[2 * i + 1]));
	return (uint8_t)len;
}

void answer_style_from(struct answer_style *style, const struct conf *conf)
{
	*style = (struct answer_style){
		.udp_size = (uint16_t)conf->server.edns_buffer_size,
		.max_udp = (uint16_t)conf->server.max_udp_size,
		.takes_short = !conf->server.harden_short_bufsize,
		.ede = conf->server.ede,
		.ede_stale = conf->server.ede && conf->server.ede_serve_expired,
		.rotate = conf->server.rrset_roundrobin,
		.original_ttl = conf->server.serve_original_ttl,
		.no_do = conf->server.disable_edns_do,
		.stale_ttl_s = conf->server.serve_expired_reply_ttl,
	};
	style->nsid_len = nsid_from(style->nsid, conf->server.nsid);
}

/* ---- common to all answers ---- */

static bool wants_dnssec(const struct request *r)
{
	return r->edns.present && r->edns.flags & EDNS_DO;
}

/* Under disable-edns-do a query with DO gets no OPT, as if EDNS were not supported. */
static bool gets_opt(const struct answer_to *to)
{
	return to->request->edns.present && !(to->style->no_do && wants_dnssec(to->request));
}

static size_t room_for(const struct writer *out, const struct answer_to *to)
{
	size_t room = PLAIN_UDP;

	if (to->stream)
		return MIN(writer_left(out), MSG_MAX);
	/* RFC 6891 6.2.3: less than 512 counts as 512 */
	if (to->request->edns.present && (to->request->edns.udp_size > room || to->style->takes_short))
		room = to->request->edns.udp_size;
	return MIN(MIN(room, to->style->max_udp), writer_left(out));
}

/* RFC 6840 5.7, 5.8: AD for clients that signal that they understand it. Expired data is no longer
 * called secure. */
static uint16_t flags_for(const struct answer_to *to, bool secure)
{
	const struct request *r = to->request;
	unsigned flags = FLAG_QR | (r->flags & (OPCODE_BITS | FLAG_RD | FLAG_CD));

	if (!to->no_recursion)
		flags |= FLAG_RA;
	if (UNLIKELY(r->cd_is_ignored))
		flags |= FLAG_CD;
	if (secure && (r->flags & FLAG_AD || wants_dnssec(r)))
		flags |= FLAG_AD;
	return (uint16_t)flags;
}

static void add_ede(struct extras *x, int code, const char *text)
{
	struct writer w = writer_over(x->bytes + x->len, sizeof(x->bytes) - x->len);
	size_t len = text ? MIN(strlen(text), EDE_TEXT_MAX) : 0;

	write_u16(&w, EDNS_EDE);
	write_u16(&w, (uint16_t)(2 + len));
	write_u16(&w, (uint16_t)code);
	write_bytes(&w, text, len);
	if (!w.bad)
		x->len += writer_len(&w);
}

/* RFC 5001 2.1: only if the client asks for it. */
static void add_nsid(struct extras *x, const struct answer_to *to)
{
	struct writer w = writer_over(x->bytes + x->len, sizeof(x->bytes) - x->len);
	struct slice asked;

	if (!to->style->nsid_len || !edns_find_option(&to->request->edns, EDNS_NSID, &asked))
		return;
	edns_write_option(&w, EDNS_NSID, to->style->nsid, to->style->nsid_len);
	x->len += writer_len(&w);
}

/* Comes first: it stays when space is short. */
static void add_cookie(struct extras *x, const struct answer_to *to)
{
	struct writer w = writer_over(x->bytes, sizeof(x->bytes));

	if (!to->request->cookie)
		return;
	edns_write_option(&w, EDNS_COOKIE, to->request->cookie, COOKIE_OPTION_LEN - 4);
	x->len = writer_len(&w);
}

/* RFC 7871 7.2.1: it is part of the answer, and stays as long as its records. */
static void add_subnet(struct extras *x, const struct answer_to *to)
{
	struct writer w = writer_over(x->bytes + x->len, sizeof(x->bytes) - x->len);
	uint8_t data[SUBNET_OPTION_MAX];

	if (LIKELY(!to->subnet))
		return;
	edns_write_option(&w, EDNS_CLIENT_SUBNET, data, subnet_write(to->subnet, data));
	x->len += writer_len(&w);
}

static void begin_extras(struct extras *x, const struct answer_to *to)
{
	x->len = x->kept = 0;
	if (LIKELY(!to->request->edns.options.len))
		return;
	add_cookie(x, to);
	add_subnet(x, to);
	x->kept = x->len;
	add_nsid(x, to);
}

/* Without the options that may be left out. */
static void cut_extras(struct extras *x)
{
	x->len = x->kept;
}

static bool is_about_staleness(enum reason reason)
{
	return reason == REASON_stale || reason == REASON_stale_nxdomain;
}

static void explain(struct extras *x, const struct answer_to *to, enum reason reason,
		    const char *text)
{
	int code;

	if (LIKELY(!to->style->ede && !to->style->ede_stale))
		return;
	code = reason_ede(reason);
	if (code >= 0 && (to->style->ede_stale || (to->style->ede && !is_about_staleness(reason))))
		add_ede(x, code, text);
}

static size_t opt_len(const struct answer_to *to, const struct extras *x)
{
	return gets_opt(to) ? OPT_FIXED_LEN + x->len : 0;
}

/* To the message that begins at `head`; space was reserved. */
static void add_opt(struct writer *out, uint8_t *head, const struct answer_to *to, unsigned rcode,
		    const struct extras *x)
{
	uint8_t *p;

	if (!gets_opt(to))
		return;
	/* edns_write with a single check for space: every hit comes through here. */
	p = write_room(out, OPT_FIXED_LEN);
	if (UNLIKELY(!p))
		return;
	p[0] = 0;
	put_u16(p + 1, TYPE_OPT);
	put_u16(p + 3, to->style->udp_size);
	p[5] = (uint8_t)(rcode >> 4);
	p[6] = 0;
	put_u16(p + 7, to->request->edns.flags & EDNS_DO);
	put_u16(p + 9, (uint16_t)x->len);
	if (UNLIKELY(x->len))
		write_bytes(out, x->bytes, x->len);
	put_u16(head + ARCOUNT_AT, (uint16_t)(get_u16(head + ARCOUNT_AT) + 1));
}

/* ---- from the cache ---- */

/* Expired records get `stale_s`, but no more than the TTL they came with. The others are counted down
 * as usual. */
static void renew_ttls(uint8_t *head, size_t len, const struct stored *s, uint32_t age_s,
		       uint32_t stale_s)
{
	uint32_t whole_s = stored_after(s).ttl_s;

	for (unsigned i = 0; i < s->ttl_count && s->data[i] < len; i++) {
		uint8_t *at = head + s->data[i];
		uint32_t ttl_s = get_u32(at);

		if (ttl_s > age_s)
			put_u32(at, ttl_s - age_s);
		else
			put_u32(at, MIN(MAX(ttl_s, whole_s), stale_s));
	}
}

static void age_ttls(uint8_t *head, size_t len, const struct stored *s, uint32_t age_s)
{
	for (unsigned i = 0; i < s->ttl_count && s->data[i] < len; i++) {
		uint8_t *at = head + s->data[i];
		uint32_t ttl_s = get_u32(at);

		put_u32(at, ttl_s > age_s ? ttl_s - age_s : 0);
	}
}

/* The records differ only in their data: rotate just that. */
static void rotate(uint8_t *head, const struct stored *s, unsigned by)
{
	const size_t step = stored_rotate_step(s), data_at = 12, data_len = step - data_at;
	const uint8_t *from = stored_wire(s) + s->rotate_at + data_at;
	uint8_t *to = head + s->rotate_at + data_at;

	for (unsigned i = 0; i < s->rotate_count; i++, to += step) {
		memcpy(to, from + by * step, data_len);
		if (++by == s->rotate_count)
			by = 0;
	}
}

/* How much of the image to send if not all fits: without extended errors, else without ADDITIONAL,
 * else only the question and TC (RFC 2181 9). */
static size_t shorten(const struct stored *s, size_t room, const struct answer_to *to,
		      struct extras *x, uint16_t *flags)
{
	size_t opt;

	cut_extras(x);
	opt = opt_len(to, x);
	if (s->wire_len + opt <= room)
		return s->wire_len;
	if (s->additional_at + opt <= room)
		return s->additional_at;
	*flags |= FLAG_TC;
	return MSG_HEAD_LEN + s->qname_len + 4u;
}

static void zero_counts(uint8_t *head)
{
	memset(head + 6, 0, 6);
}

void answer_stored(struct writer *out, const struct answer_to *to, const struct stored *s,
		   bool stale)
{
	const struct request *r = to->request;
	uint16_t flags = flags_for(to, s->security == SECURITY_SECURE && !stale);
	size_t len = s->wire_len, room = room_for(out, to);
	uint8_t *head = out->at;
	struct extras x;

	begin_extras(&x, to);
	if (UNLIKELY(s->reason != REASON_none))
		explain(&x, to, (enum reason)s->reason, NULL);
	if (UNLIKELY(stale))
		explain(&x, to, s->rcode == RCODE_NXDOMAIN ? REASON_stale_nxdomain : REASON_stale,
			NULL);
	if (UNLIKELY(len + opt_len(to, &x) > room))
		len = shorten(s, room, to, &x, &flags);

	write_bytes(out, stored_wire(s), len);
	if (UNLIKELY(out->bad))
		return;
	put_u16(head, r->id);
	put_u16(head + 2, (uint16_t)(flags | (msg_flags(head) & (FLAG_AA | 0xf))));
	if (LIKELY(r->q.name_len == s->qname_len))
		memcpy(head + MSG_HEAD_LEN, r->q.name, r->q.name_len);
	if (UNLIKELY(flags & FLAG_TC))
		zero_counts(head);
	else if (UNLIKELY(len != s->wire_len))
		put_u16(head + ARCOUNT_AT, 0);
	if (s->rotate_count && to->style->rotate && r->id % s->rotate_count && !(flags & FLAG_TC))
		rotate(head, s, r->id % s->rotate_count);
	if (UNLIKELY(stale && !to->style->original_ttl))
		renew_ttls(head, len, s, to->now_s - s->stored_s, to->style->stale_ttl_s);
	else if (to->now_s - s->stored_s && !to->style->original_ttl)
		age_ttls(head, len, s, to->now_s - s->stored_s);
	add_opt(out, head, to, s->rcode, &x);
}

/* ---- fresh ---- */

/* Only the header and, if there is one, the question. */
static size_t write_bare(struct writer *out, const struct request *r, uint16_t flags,
			 unsigned rcode)
{
	uint8_t *head = out->at;

	msg_write_query(out, r->id, (uint16_t)(flags | (rcode & 15)), &r->q, NULL);
	return out->bad ? 0 : (size_t)(out->at - head);
}

/* Whether the ANSWER section is not empty and was written completely. */
static bool answer_stands(const struct message *m, const struct msg_style *style)
{
	unsigned count, records = 0;
	const struct rrset **sets = message_section(m, SECTION_ANSWER, &count);

	for (unsigned i = 0; i < count; i++)
		records += sets[i]->count + (style->with_dnssec ? sets[i]->sig_count : 0u);
	return style->end[SECTION_ADDITIONAL] && records &&
	       style->rr_count[SECTION_ANSWER] >= records;
}

void answer_message(struct writer *out, const struct answer_to *to, const struct message *m)
{
	const struct request *r = to->request;
	struct message mine = *m;
	struct msg_style style = { .now_s = to->now_s,
				   .with_dnssec = wants_dnssec(r),
				   .original_ttl = to->style->original_ttl };
	uint16_t flags =
		flags_for(to, m->security == SECURITY_SECURE && !is_about_staleness(m->reason));
	uint8_t *head = out->at;
	size_t room = room_for(out, to);
	struct extras x;
	struct writer w;

	begin_extras(&x, to);
	explain(&x, to, m->reason, m->reason_text);
	if (x.len > x.kept && opt_len(to, &x) > room / 2)
		cut_extras(&x);
	mine.id = r->id;
	if (UNLIKELY(m->no_recursion))
		flags &= (uint16_t)~FLAG_RA;
	mine.flags = (uint16_t)((flags & ~OPCODE_BITS) | (m->flags & (FLAG_AA | FLAG_TC)));
	mine.opcode = (uint8_t)((flags & OPCODE_BITS) >> 11);
	if (question_equals(&r->q, &m->q))
		mine.q = r->q;
	do {
		size_t opt = opt_len(to, &x);

		w = writer_over(head, room > opt ? room - opt : 0);
		msg_write(&w, &mine, &style);
		if (!w.bad)
			break;
		/* what may be left out, in this order */
		if (x.len > x.kept) {
			cut_extras(&x);
		} else if (mine.count[SECTION_ADDITIONAL]) {
			mine.count[SECTION_ADDITIONAL] = 0;
		} else if (answer_stands(&mine, &style)) {
			/* proofs are missing: the answer is there, but cannot be validated */
			w.bad = false;
			w.at = head + style.end[SECTION_ADDITIONAL];
			put_u16(head + 2, msg_flags(head) | FLAG_TC);
			break;
		} else {
			w = writer_over(head, writer_left(out));
			write_bare(&w, r, flags | FLAG_TC, m->rcode);
			break;
		}
	} while (true);
	out->at += writer_len(&w);
	out->bad |= w.bad;
	if (!out->bad)
		add_opt(out, head, to, m->rcode, &x);
}

static bool put_record(struct writer *out, const struct answer_made *m, struct slice data)
{
	if (writer_left(out) < 12 + data.len)
		return false;
	write_u16(out, 0xc000 | MSG_HEAD_LEN);
	write_u16(out, m->type);
	write_u16(out, CLASS_IN);
	write_u32(out, m->ttl_s);
	write_u16(out, (uint16_t)data.len);
	write_bytes(out, data.at, data.len);
	return true;
}

/* False: they do not fit. */
static bool put_records(struct writer *out, uint8_t *head, const struct answer_made *m)
{
	put_u16(head + 6, (uint16_t)(1 + m->more_count));
	if (!put_record(out, m, m->data))
		return false;
	for (unsigned i = 0; i < m->more_count; i++)
		if (!put_record(out, m, m->more[i]))
			return false;
	return true;
}

void answer_made(struct writer *out, const struct answer_to *to, const struct answer_made *m)
{
	uint8_t *head = out->at;
	struct extras x;
	bool fits = true;
	size_t room = room_for(out, to),
	       len = write_bare(out, to->request, flags_for(to, false), m->rcode);

	if (m->data.len && len)
		fits = put_records(out, head, m);
	begin_extras(&x, to);
	explain(&x, to, m->reason, m->reason_text);
	if ((size_t)(out->at - head) + opt_len(to, &x) > room)
		cut_extras(&x);
	if (UNLIKELY(m->data.len && len &&
		     (!fits || (size_t)(out->at - head) + opt_len(to, &x) > room))) {
		out->at = head + len;
		put_u16(head + 2, msg_flags(head) | FLAG_TC);
		zero_counts(head);
	}
	if (len && !out->bad)
		add_opt(out, head, to, m->rcode, &x);
}

void answer_error(struct writer *out, const struct answer_to *to, enum rcode rcode,
		  enum reason reason)
{
	answer_made(out, to, &(struct answer_made){ .rcode = rcode, .reason = reason });
}

/* ---- minimal-responses ---- */

static bool is_proof(const struct rrset *s)
{
	return s->type == TYPE_NSEC || s->type == TYPE_NSEC3;
}

void message_minimise(struct message *m)
{
	bool denial = message_is_denial(m);
	unsigned count;
	const struct rrset **sets = message_section(m, SECTION_AUTHORITY, &count);
	uint16_t kept = 0;

	if (!denial && m->rcode == RCODE_NOERROR && m->count[SECTION_ANSWER] == 0)
		return; /* a referral */
	if (!denial && m->q.type == TYPE_ANY)
		return; /* the client asked for everything */
	for (unsigned i = 0; i < count; i++) {
		if (is_proof(sets[i]) && !denial)
			return; /* expanded from a wildcard: rare, left unchanged */
		if (is_proof(sets[i]) || (denial && sets[i]->type == TYPE_SOA))
			sets[kept++] = sets[i];
	}
	if (m->q.type == TYPE_NS) {
		/* an NS query wants the servers' addresses, too (RFC 8109 3) */
		memmove(sets + kept, sets + count,
			m->count[SECTION_ADDITIONAL] * sizeof(*sets));
	} else {
		m->count[SECTION_ADDITIONAL] = 0;
	}
	m->count[SECTION_AUTHORITY] = kept;
}
