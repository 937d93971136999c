/* The addresses that an RRset tells: of A and AAAA records, and the hints of SVCB and HTTPS ones.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "services/net/addresses.h"

#include <string.h>

#include "util/dns/dname.h"
#include "util/dns/rr.h"

enum { SVC_IPV4HINT = 4, SVC_IPV6HINT = 6 }; /* RFC 9460 14.3.2 */

static bool has_hints(uint16_t type)
{
	return type == TYPE_SVCB || type == TYPE_HTTPS;
}

bool addresses_in(const struct rrset *s)
{
	return s->class_ == CLASS_IN &&
	       (s->type == TYPE_A || s->type == TYPE_AAAA || has_hints(s->type));
}

struct addresses addresses_of(const struct rrset *s)
{
	return (struct addresses){ .records = rrset_records(s), .type = s->type };
}

struct addresses addresses_of_record(uint16_t type, const uint8_t *rdlength)
{
	bool tells = type == TYPE_A || type == TYPE_AAAA || has_hints(type);

	return (struct addresses){ .records = { .at = rdlength, .left = tells }, .type = type };
}

static size_t width(uint8_t family)
{
	return family == 4 ? 4 : 16;
}

static void put(struct addr *a, uint8_t family, const uint8_t *at)
{
	*a = (struct addr){ .family = family };
	memcpy(a->ip, at, width(family));
}

/* Go on to the next parameter with hints; false behind the last of the record. */
static bool next_hints(struct addresses *w)
{
	while (reader_left(&w->params) >= 4) {
		uint16_t key = read_u16(&w->params);

		w->hints.len = read_u16(&w->params);
		w->hints.at = read_bytes(&w->params, w->hints.len);
		if (!w->hints.at)
			break;
		w->family = key == SVC_IPV4HINT ? 4 : 6;
		if (key == SVC_IPV4HINT || key == SVC_IPV6HINT)
			return true;
	}
	w->params = (struct reader){ 0 };
	return false;
}

static void begin_record(struct addresses *w, struct slice rd)
{
	const uint8_t *target = rr_rdata_name(TYPE_SVCB, rd.at, rd.len);

	if (!target)
		return;
	w->params = reader_over(rd.at, rd.len);
	w->params.at = target + dname_len(target);
}

bool addresses_next(struct addresses *w, struct addr *a)
{
	struct slice rd;

	for (;;) {
		if (w->hints.len >= width(w->family)) {
			put(a, w->family, w->hints.at);
			w->hints.at += width(w->family);
			w->hints.len -= width(w->family);
			return true;
		}
		w->hints.len = 0;
		if (next_hints(w))
			continue;
		w->hints.len = 0;
		if (!rrset_next(&w->records, &rd))
			return false;
		if (has_hints(w->type)) {
			begin_record(w, rd);
		} else if (rd.len == width(w->type == TYPE_A ? 4 : 6)) {
			put(a, w->type == TYPE_A ? 4 : 6, rd.at);
			return true;
		}
	}
}
