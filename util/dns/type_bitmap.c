/* Bitmaps of RR types, as NSEC, NSEC3 and CSYNC have them (RFC 4034 4.1.2).
 * SPDX-License-Identifier: BSD-3-Clause */
#include "util/dns/type_bitmap.h"

#include "util/dns/rr.h"

bool types_are_sound(struct slice bitmap)
{
	struct reader r = reader_over(bitmap.at, bitmap.len);
	int last = -1;

	while (reader_left(&r)) {
		int window = read_u8(&r);
		uint8_t len = read_u8(&r);

		if (window <= last || len < 1 || len > 32 || !read_bytes(&r, len))
			return false;
		last = window;
	}
	return !r.bad;
}

bool types_hold(struct slice bitmap, uint16_t type)
{
	struct reader r = reader_over(bitmap.at, bitmap.len);

	while (reader_left(&r)) {
		uint8_t window = read_u8(&r);
		uint8_t len = read_u8(&r);
		const uint8_t *bits = read_bytes(&r, len);

		if (bits && window == type >> 8)
			return (type & 255) / 8 < len && bits[(type & 255) / 8] & 0x80 >> type % 8;
	}
	return false;
}

/* Of these a name may have some that has no data: the proof itself, and what says that the name does
 * not exist (NXNAME, RFC 9824). */
static bool is_no_data(unsigned type)
{
	return type == TYPE_RRSIG || type == TYPE_NSEC || type == TYPE_NSEC3 || type == 128;
}

bool types_hold_data(struct slice bitmap)
{
	struct reader r = reader_over(bitmap.at, bitmap.len);

	while (reader_left(&r)) {
		unsigned window = read_u8(&r), len = read_u8(&r);
		const uint8_t *bits = read_bytes(&r, len);

		for (unsigned i = 0; bits && i < 8 * len; i++)
			if (bits[i / 8] & 0x80 >> i % 8 && !is_no_data(window << 8 | i))
				return true;
	}
	return false;
}
