/* Messages flattened into records, and compared section by section.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "daemon/replay/rrs.h"

#include <stdio.h>
#include <string.h>

#include "util/base/arena.h"
#include "util/dns/msg.h"
#include "util/dns/rr.h"
#include "util/dns/text.h"

static bool flat_read_rr(struct reader *r, struct arena *a, struct flat_message *m,
			 struct flat_rr *rr, bool *is_opt)
{
	uint8_t owner[DNAME_MAX];
	size_t owner_len = msg_read_name(r, owner);
	uint16_t rdlen;

	rr->type = read_u16(r);
	rr->class_ = read_u16(r);
	rr->ttl_s = read_u32(r);
	rdlen = read_u16(r);
	if (r->bad || reader_left(r) < rdlen)
		return false;
	*is_opt = rr->type == TYPE_OPT;
	if (*is_opt) {
		m->edns = (struct edns){ .present = true,
					 .udp_size = rr->class_,
					 .ext_rcode = (uint8_t)(rr->ttl_s >> 24),
					 .version = (uint8_t)(rr->ttl_s >> 16),
					 .flags = (uint16_t)rr->ttl_s,
					 .options = { read_bytes(r, rdlen), rdlen } };
		return true;
	}
	dname_lower(owner);
	rr->owner = arena_copy(a, owner, owner_len);

	/* names in the RDATA may grow when decompressed */
	uint8_t *room = arena_take(a, (size_t)rdlen + 4 * DNAME_MAX);
	struct writer w = writer_over(room, (size_t)rdlen + 4 * DNAME_MAX);

	struct reader data = *r;
	bool whole = rr_read_rdata(&data, rr->type, rdlen, &w) && !w.bad;
	const uint8_t *bytes = read_bytes(r, rdlen);

	if (!whole) {
		/* malformed on purpose: keep it as it is */
		rr->rdata = (struct slice){ bytes, rdlen };
		return true;
	}
	rr->rdata = (struct slice){ room, writer_len(&w) };
	rr_canonical_rdata(rr->type, room, rr->rdata.len);
	return true;
}

bool flat_read(struct slice wire, struct arena *a, struct flat_message *out)
{
	struct reader r = reader_over(wire.at, wire.len);
	unsigned counts[3];

	memset(out, 0, sizeof(*out));
	out->id = read_u16(&r);
	out->flags = read_u16(&r);
	out->questions = read_u16(&r);
	for (unsigned s = 0; s < 3; s++)
		counts[s] = read_u16(&r);
	if (r.bad || out->questions > 1)
		return false;
	if (out->questions == 1) {
		uint8_t name[DNAME_MAX];
		size_t len = msg_read_name(&r, name);

		if (len == 0)
			return false;
		out->qname = arena_copy(a, name, len);
		out->qtype = read_u16(&r);
		out->qclass = read_u16(&r);
	}
	for (unsigned s = 0; s < 3; s++) {
		out->rrs[s] = arena_array(a, struct flat_rr, counts[s] + 1);
		for (unsigned i = 0; i < counts[s]; i++) {
			bool is_opt;

			if (!flat_read_rr(&r, a, out, &out->rrs[s][out->count[s]], &is_opt))
				return false;
			if (!is_opt)
				out->count[s]++;
		}
	}
	out->rcode = (unsigned)(out->flags & 15) | (unsigned)out->edns.ext_rcode << 4;
	return !r.bad;
}

bool flat_rr_equals(const struct flat_rr *a, const struct flat_rr *b, bool with_ttl)
{
	return a->type == b->type && a->class_ == b->class_ && dname_equals(a->owner, b->owner) &&
	       (!with_ttl || a->ttl_s == b->ttl_s) && a->rdata.len == b->rdata.len &&
	       memcmp(a->rdata.at, b->rdata.at, a->rdata.len) == 0;
}

static bool same_in_order(const struct flat_rr *a, const struct flat_rr *b, unsigned count,
			  bool with_ttl)
{
	for (unsigned i = 0; i < count; i++)
		if (!flat_rr_equals(&a[i], &b[i], with_ttl))
			return false;
	return true;
}

/* Whether each CNAME stands before the records of its target (other than aliases and RRSIGs). */
static bool chain_is_in_order(const struct flat_rr *rrs, unsigned count)
{
	for (unsigned i = 0; i < count; i++) {
		if (rrs[i].type != TYPE_CNAME)
			continue;
		for (unsigned j = 0; j < i; j++)
			if (rrs[j].type != TYPE_CNAME && rrs[j].type != TYPE_DNAME &&
			    rrs[j].type != TYPE_RRSIG &&
			    dname_equals(rrs[j].owner, rrs[i].rdata.at))
				return false;
	}
	return true;
}

bool flat_section_equals(const struct flat_message *a, const struct flat_message *b,
			 unsigned section, bool with_ttl, bool ordered)
{
	const struct flat_rr *left = a->rrs[section], *right = b->rrs[section];
	unsigned count = a->count[section];

	if (count != b->count[section])
		return false;
	if (same_in_order(left, right, count, with_ttl))
		return true;
	if (ordered || !chain_is_in_order(left, count))
		return false;
	for (unsigned i = 0; i < count; i++) {
		unsigned here = 0, there = 0;

		for (unsigned j = 0; j < count; j++) {
			here += flat_rr_equals(&left[i], &left[j], with_ttl);
			there += flat_rr_equals(&left[i], &right[j], with_ttl);
		}
		if (here != there)
			return false;
	}
	return true;
}

void flat_rr_print(const struct flat_rr *rr, char *to, size_t room)
{
	text_rr_print(to, room, rr->owner, rr->ttl_s, rr->class_, rr->type, rr->rdata);
	for (char *p = to; *p; p++)
		if (*p == '\t')
			*p = ' ';
}
