/* EDNS options that concern one connection only: padding (RFC 7830) and keepalive (RFC 7828).
 * SPDX-License-Identifier: BSD-3-Clause */
#include "services/net/edns_conn.h"

#include <string.h>

#include "util/dns/edns.h"
#include "util/dns/msg.h"
#include "util/dns/msgname.h"
#include "util/dns/rr.h"

enum { KEEPALIVE_UNIT_MS = 100 };

unsigned edns_conn_asked(const uint8_t *wire, size_t len)
{
	struct request r;
	struct slice value;
	unsigned asked = 0;

	if (len < MSG_HEAD_LEN || get_u16(wire + 10) == 0 || msg_read_request(wire, len, &r) != REQUEST_GOOD)
		return 0;
	if (edns_find_option(&r.edns, EDNS_PADDING, &value))
		asked |= EDNS_CONN_PADDING;
	if (edns_find_option(&r.edns, EDNS_KEEPALIVE, &value))
		asked |= EDNS_CONN_KEEPALIVE;
	return asked;
}

/* Where the OPT record, always the last one, begins; or NULL. */
static const uint8_t *find_opt(const uint8_t *wire, size_t len)
{
	struct reader r = reader_over(wire, len);
	unsigned records = msg_skip_to_records(&r);

	for (; records && !r.bad; records--) {
		const uint8_t *at = r.at;
		uint16_t type;

		msg_skip_name(&r);
		type = read_u16(&r);
		read_bytes(&r, 6);
		read_bytes(&r, read_u16(&r));
		if (!r.bad && type == TYPE_OPT && reader_left(&r) == 0)
			return at;
	}
	return NULL;
}

bool edns_conn_keepalive(const uint8_t *wire, size_t len, uint32_t *rest_ms)
{
	const uint8_t *opt = find_opt(wire, len);
	struct reader r;

	if (!opt || *opt)
		return false;
	r = reader_over(opt + OPT_FIXED_LEN, (size_t)(wire + len - opt) - OPT_FIXED_LEN);
	while (reader_left(&r) >= 6) { /* a keepalive with a time in it */
		uint16_t code = read_u16(&r), size = read_u16(&r);
		const uint8_t *value = read_bytes(&r, size);

		if (value && code == EDNS_KEEPALIVE && size == 2) {
			*rest_ms = get_u16(value) * (uint32_t)KEEPALIVE_UNIT_MS;
			return true;
		}
	}
	return false;
}

static void write_zeros(struct writer *w, uint16_t code, size_t len)
{
	uint8_t *room;

	write_u16(w, code);
	write_u16(w, (uint16_t)len);
	room = write_room(w, len);
	if (room)
		memset(room, 0, len);
}

/* Up to the next multiple of the block size, or all the room there is (RFC 8467 4.3). */
static size_t padding_for(size_t len, size_t room, size_t block)
{
	size_t whole = (len + block - 1) / block * block;

	return MIN(whole, room) - len;
}

size_t edns_conn_add(uint8_t *wire, size_t len, size_t room, const struct edns_conn *add)
{
	const uint8_t *opt = add->options ? find_opt(wire, len) : NULL;
	struct writer w = writer_over(wire + len, room - len);
	size_t added;

	if (!opt)
		return len;
	if (add->options & EDNS_CONN_KEEPALIVE && writer_left(&w) >= 6) {
		write_u16(&w, EDNS_KEEPALIVE);
		write_u16(&w, 2);
		write_u16(&w, (uint16_t)MIN(add->keepalive_ms / KEEPALIVE_UNIT_MS, 65535u));
	}
	if (add->options & EDNS_CONN_PADDING && add->pad_block && writer_left(&w) >= 4)
		write_zeros(&w, EDNS_PADDING,
			    padding_for(len + writer_len(&w) + 4, room, add->pad_block));
	added = writer_len(&w);
	put_u16(wire + (opt - wire) + 9, (uint16_t)(get_u16(opt + 9) + added));
	return len + added;
}
