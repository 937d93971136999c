/* Any bytes at all as the options of an OPT record: what is whole is written as it was.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "util/dns/edns.h"

#include "util/base/mem.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	struct edns e = { .present = true, .udp_size = 1232, .options = { data, len } };
	struct reader r = reader_over(data, len);
	uint8_t *again = mem_new(len + 1);
	struct writer w = writer_over(again, len);
	struct slice value, found;
	uint16_t code;
	unsigned count = 0;

	while (edns_next_option(&r, &code, &value)) {
		PROMISE(value.at >= data && value.at + value.len <= data + len);
		edns_write_option(&w, code, value.at, value.len);
		if (count++ < EDNS_OPTIONS_MAX)
			PROMISE(edns_find_option(&e, code, &found) && found.at <= value.at);
	}
	PROMISE(edns_is_whole(&e) == (!r.bad || count >= EDNS_OPTIONS_MAX));
	PROMISE(!w.bad && (r.bad || writer_len(&w) == len));
	PROMISE(len == 0 || memcmp(again, data, writer_len(&w)) == 0);
	mem_free(again);

	if (len <= UINT16_MAX) {
		uint8_t *opt = mem_new(OPT_FIXED_LEN + len);
		w = writer_over(opt, OPT_FIXED_LEN + len);
		edns_write(&w, &e);
		PROMISE(!w.bad && writer_left(&w) == 0);
		mem_free(opt);
	}
	return 0;
}
