/* The OPT record (RFC 6891) and its options.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "util/dns/edns.h"

#include "util/dns/rr.h"

bool edns_next_option(struct reader *options, uint16_t *code, struct slice *value)
{
	if (reader_left(options) == 0)
		return false;
	*code = read_u16(options);
	value->len = read_u16(options);
	value->at = read_bytes(options, value->len);
	return !options->bad;
}

bool edns_find_option(const struct edns *e, uint16_t code, struct slice *value)
{
	struct reader r = reader_over(e->options.at, e->options.len);
	uint16_t found;

	for (unsigned i = 0; i < EDNS_OPTIONS_MAX && edns_next_option(&r, &found, value); i++) {
		if (found == code)
			return true;
	}
	return false;
}

bool edns_is_whole(const struct edns *e)
{
	struct reader r = reader_over(e->options.at, e->options.len);
	struct slice value;
	uint16_t code;
	unsigned count = 0;

	while (count < EDNS_OPTIONS_MAX && edns_next_option(&r, &code, &value))
		count++;
	return !r.bad;
}

void edns_write(struct writer *w, const struct edns *e)
{
	write_u8(w, 0); /* root owner */
	write_u16(w, TYPE_OPT);
	write_u16(w, e->udp_size);
	write_u8(w, e->ext_rcode);
	write_u8(w, e->version);
	write_u16(w, e->flags);
	write_u16(w, (uint16_t)e->options.len);
	write_bytes(w, e->options.at, e->options.len);
}

void edns_write_option(struct writer *w, uint16_t code, const void *value, size_t len)
{
	write_u16(w, code);
	write_u16(w, (uint16_t)len);
	write_bytes(w, value, len);
}
