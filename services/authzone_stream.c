/* A zone transfer, message by message: AXFR, IXFR, or IXFR answered in full (RFCs 5936, 1995).
 * SPDX-License-Identifier: BSD-3-Clause */
#include "services/authzone_stream.h"

#include "services/authzone_data.h"
#include "util/mem.h"
#include "util/msg.h"
#include "util/rr.h"
#include "util/text.h"

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

static bool take_first_soa(struct xfr *x, uint32_t serial, const struct text_rr *rr)
{
	zonebuild_add(x->build, rr);
	x->goal = serial;
	x->mode = XFR_SECOND;
	if (x->axfr || serial_is_newer(serial, x->base))
		return true;
	x->nothing = true;
	x->mode = XFR_DONE;
	return true;
}

/* The end of a zone that is nothing but its SOA, or the start of the first difference. */
static bool take_second_soa(struct xfr *x, uint32_t serial, const struct text_rr *rr)
{
	if (x->axfr || serial == x->goal) {
		x->mode = XFR_DONE;
		return x->axfr;
	}
	if (serial != x->base)
		return false;
	zonebuild_free(x->build);
	x->build = zonebuild_new(x->apex);
	x->differs = true;
	zonebuild_remove(x->build, rr);
	x->mode = XFR_DELETE;
	return true;
}

static bool take_soa(struct xfr *x, const struct text_rr *rr)
{
	uint32_t serial = get_u32(rr->rdata.at + rr->rdata.len - 20);

	switch (x->mode) {
	case XFR_FIRST:
		return take_first_soa(x, serial, rr);
	case XFR_SECOND:
		return take_second_soa(x, serial, rr);
	case XFR_WHOLE:
		x->mode = XFR_DONE;
		return serial == x->goal;
	case XFR_DELETE:
		zonebuild_add(x->build, rr);
		x->reached = serial;
		x->mode = XFR_ADD;
		return true;
	case XFR_ADD:
		if (x->reached == x->goal && serial == x->goal) {
			x->mode = XFR_DONE;
			return true;
		}
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
	rr.ttl_s = read_u32(r);
	len = read_u16(r);
	if (r->bad || !rr_read_rdata(r, rr.type, len, &w) || w.bad)
		return false;
	if (rr.ttl_s > INT32_MAX)
		rr.ttl_s = 0; /* RFC 2181 8 */
	rr.rdata = (struct slice){ room, writer_len(&w) };
	return take_record(x, &rr);
}

static bool read_records(struct xfr *x, struct reader *r, unsigned answers)
{
	uint8_t *room = mem_new(MSG_MAX + 1);
	bool good = true;

	for (; good && answers && x->mode != XFR_DONE; answers--)
		good = read_record(x, r, room, MSG_MAX + 1);
	mem_free(room);
	return good;
}

static bool read_message(struct xfr *x, const uint8_t *wire, size_t len)
{
	struct reader r = reader_over(wire, len);
	uint8_t name[DNAME_MAX];
	unsigned questions, answers;

	if (len < MSG_HEAD_LEN || !(msg_flags(wire) & FLAG_QR) || msg_rcode(wire) ||
	    msg_flags(wire) & FLAG_TC)
		return false;
	read_bytes(&r, 4);
	questions = read_u16(&r);
	answers = read_u16(&r);
	read_bytes(&r, 4);
	if (questions > 1)
		return false;
	if (questions &&
	    (!msg_read_name(&r, name) || !dname_equals(name, x->apex) || !read_bytes(&r, 4)))
		return false;
	return read_records(x, &r, answers);
}

bool xfr_take(struct xfr *x, const uint8_t *wire, size_t len, int64_t wall_s)
{
	enum tsig_end end = TSIG_GOOD;

	if (x->talk.key)
		end = tsig_check_answer(&x->talk, wire, len, wall_s);
	if (end == TSIG_BAD)
		return false;
	x->is_proven = end == TSIG_GOOD;
	if (x->mode == XFR_DONE)
		return x->is_proven; /* only the TSIG was outstanding */
	return read_message(x, wire, len);
}
