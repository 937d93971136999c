/* A walk over the records of a stored answer's image.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "services/cache/mention.h"

#include "services/cache/msg.h"
#include "util/dns/msgname.h"
#include "util/dns/rr.h"

/* The next record. False: it cannot be read. */
static bool next_record(struct reader *r, struct mention *m, uint8_t owner[DNAME_MAX], uint8_t target[DNAME_MAX])
{
	bool named = msg_read_name(r, owner) != 0;
	const uint8_t *data;
	uint16_t len;

	m->type = read_u16(r);
	(void)read_bytes(r, 6);
	len = read_u16(r);
	data = r->at;
	if (r->bad || !named || len > reader_left(r))
		return false;
	m->owner = owner;
	m->target = m->type == TYPE_CNAME && msg_read_name(r, target) ? target : NULL;
	m->rdata = (struct slice){ data, len };
	r->at = data + len;
	return true;
}

bool stored_mentions(const struct stored *s, bool (*is_it)(const struct mention *m, void *arg), void *arg)
{
	const uint8_t *wire = stored_wire(s);
	struct reader r = reader_over(wire, s->wire_len);
	unsigned left = get_u16(wire + 6) + get_u16(wire + 8) + get_u16(wire + 10);
	uint8_t owner[DNAME_MAX], target[DNAME_MAX];
	struct mention m;

	(void)read_bytes(&r, MSG_HEAD_LEN + s->qname_len + 4u);
	while (left--) {
		if (!next_record(&r, &m, owner, target) || is_it(&m, arg))
			return true;
	}
	return false;
}
