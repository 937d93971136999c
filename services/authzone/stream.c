/* A zone transfer, message by message: AXFR, IXFR, or IXFR answered in full (RFCs 5936, 1995).
 * SPDX-License-Identifier: BSD-3-Clause */
#include "services/authzone/stream.h"

#include <string.h>

#include "services/authzone/data.h"
#include "util/base/mem.h"
#include "util/dns/msg.h"
#include "util/dns/rr.h"
#include "util/dns/text.h"

void xfr_begin(struct xfr *x, const uint8_t *apex, bool axfr, const struct zonedata *have)
{
	struct tsig_talk talk = x->talk;

	zonebuild_free(x->build);
	*x = (struct xfr){ .apex = apex,
			   .axfr = axfr || !have,
			   .based = have != NULL,
			   .base = have ? have->serial : 0,
			   .talk = talk };
	x->build = zonebuild_new(apex);
}

void xfr_clear(struct xfr *x)
{
	zonebuild_free(x->build);
	tsig_talk_clear(&x->talk);
	*x = (struct xfr){ 0 };
}

/* Data of an SOA record in canonical form; returns its length. */
static uint16_t soa_canonical(const struct text_rr *rr, uint8_t *to, size_t room)
{
	if (rr->rdata.len > room)
		return 0;
	memcpy(to, rr->rdata.at, rr->rdata.len);
	rr_canonical_rdata(TYPE_SOA, to, rr->rdata.len);
	return (uint16_t)rr->rdata.len;
}

/* The record that ends a transfer is the one that began it (RFC 5936 2.2). */
static bool is_first_soa(const struct xfr *x, const struct text_rr *rr)
{
	uint8_t other[sizeof(x->soa)];

	return soa_canonical(rr, other, sizeof(other)) == x->soa_len &&
	       memcmp(x->soa, other, x->soa_len) == 0;
}

static void take_first_soa(struct xfr *x, uint32_t serial, const struct text_rr *rr)
{
	zonebuild_add(x->build, rr);
	x->soa_len = soa_canonical(rr, x->soa, sizeof(x->soa));
	x->goal = serial;
	x->mode = XFR_SECOND;
	if (x->axfr || serial_is_newer(serial, x->base))
		return;
	x->nothing = true;
	x->mode = XFR_DONE;
}

static bool take_last_soa(struct xfr *x, const struct text_rr *rr)
{
	x->mode = XFR_DONE;
	return is_first_soa(x, rr);
}

/* The end of a zone that is nothing but its SOA, or the start of the first difference. A zone of one
 * record is taken from AXFR only. */
static bool take_second_soa(struct xfr *x, uint32_t serial, const struct text_rr *rr)
{
	if (x->axfr)
		return take_last_soa(x, rr);
	if (serial != x->base)
		return false;
	zonebuild_free(x->build);
	x->build = zonebuild_new(x->apex);
	x->differs = true;
	x->reached = serial;
	zonebuild_remove(x->build, rr);
	x->mode = XFR_DELETE;
	return true;
}

/* Each difference leads to a later version, the last to the one that was announced (RFC 1995 4). */
static bool take_added_soa(struct xfr *x, uint32_t serial, const struct text_rr *rr)
{
	bool goes_on = serial_is_newer(serial, x->reached) && !serial_is_newer(serial, x->goal);

	zonebuild_add(x->build, rr);
	x->reached = serial;
	x->mode = XFR_ADD;
	return goes_on && (serial != x->goal || is_first_soa(x, rr));
}

static bool take_soa(struct xfr *x, const struct text_rr *rr)
{
	uint32_t serial = get_u32(rr->rdata.at + rr->rdata.len - 20);

	switch (x->mode) {
	case XFR_FIRST:
		take_first_soa(x, serial, rr);
		return true;
	case XFR_SECOND:
		return take_second_soa(x, serial, rr);
	case XFR_WHOLE:
		return take_last_soa(x, rr);
	case XFR_DELETE:
		return take_added_soa(x, serial, rr);
	case XFR_ADD:
		if (x->reached == x->goal)
			return take_last_soa(x, rr);
		zonebuild_remove(x->build, rr);
		x->mode = XFR_DELETE;
		return serial == x->reached;
	case XFR_DONE:
		break;
	}
	return false;
}

static bool take_record(struct xfr *x, const struct text_rr *rr)
{
	if (rr->class_ != CLASS_IN)
		return false;
	if (rr->type == TYPE_SOA && dname_equals(rr->owner, x->apex))
		return take_soa(x, rr);
	if (x->mode == XFR_SECOND)
		x->mode = XFR_WHOLE;
	if (x->mode == XFR_WHOLE || x->mode == XFR_ADD)
		zonebuild_add(x->build, rr);
	else if (x->mode == XFR_DELETE)
		zonebuild_remove(x->build, rr);
	else
		return false;
	return true;
}

static bool read_record(struct xfr *x, struct reader *r, uint8_t *room, size_t room_len)
{
	uint8_t owner[DNAME_MAX];
	struct writer w = writer_over(room, room_len);
	struct text_rr rr = { .owner = owner };
	uint16_t len;

	if (!msg_read_name(r, owner))
		return false;
	rr.type = read_u16(r);
	rr.class_ = read_u16(r);
	rr.ttl_s = rr_ttl(read_u32(r));
	len = read_u16(r);
	if (r->bad || !rr_read_rdata(r, rr.type, len, &w) || w.bad)
		return false;
	rr.rdata = (struct slice){ room, writer_len(&w) };
	return take_record(x, &rr);
}

/* Behind the last SOA record comes nothing; where nothing is newer, the rest does not matter. */
static bool read_records(struct xfr *x, struct reader *r, unsigned answers)
{
	uint8_t *room = mem_new(MSG_MAX);
	bool good = answers || x->mode != XFR_FIRST;

	for (; good && answers && x->mode != XFR_DONE; answers--)
		good = read_record(x, r, room, MSG_MAX);
	mem_free(room);
	return good && (!answers || x->nothing);
}

/* The question may be left out (RFC 5936 2.2.1). */
static bool read_question(const struct xfr *x, struct reader *r, unsigned questions)
{
	uint8_t name[DNAME_MAX];

	if (questions == 0)
		return true;
	if (questions != 1 || !msg_read_name(r, name))
		return false;
	return dname_equals(name, x->apex) && read_u16(r) == (x->axfr ? TYPE_AXFR : TYPE_IXFR) &&
	       read_u16(r) == CLASS_IN && !r->bad;
}

static bool read_message(struct xfr *x, const uint8_t *wire, size_t len)
{
	struct reader r = reader_over(wire, len);
	unsigned questions, answers;

	if (len < MSG_HEAD_LEN || !(msg_flags(wire) & FLAG_QR) || msg_opcode(wire) != OPCODE_QUERY ||
	    msg_rcode(wire) || msg_flags(wire) & FLAG_TC)
		return false;
	read_bytes(&r, 4);
	questions = read_u16(&r);
	answers = read_u16(&r);
	read_bytes(&r, 4);
	return read_question(x, &r, questions) && read_records(x, &r, answers);
}

bool xfr_take(struct xfr *x, const uint8_t *wire, size_t len, int64_t wall_s)
{
	enum tsig_end end = TSIG_GOOD;

	if (x->talk.key)
		end = tsig_check_answer(&x->talk, wire, len, wall_s);
	if (end == TSIG_BAD)
		return false;
	x->is_proven = end == TSIG_GOOD;
	return x->mode != XFR_DONE && read_message(x, wire, len) &&
	       (x->is_proven || x->mode != XFR_DONE);
}
