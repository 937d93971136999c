/* Any text at all as a record: what is read prints as what reads the same. Any bytes
 * at all as data: what is printed reads as the same bytes.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "util/dns/text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "util/base/arena.h"
#include "util/base/fault.h"
#include "util/base/mem.h"
#include "util/dns/dname.h"
#include "util/dns/rr.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

/* Print a record, read what was printed, and want the same. */
static void check_record(struct arena *a, const struct text_rr *rr)
{
	size_t len = text_rr_print(NULL, 0, rr->owner, rr->ttl_s, rr->class_, rr->type, rr->rdata);
	char *text = arena_take(a, len + 1);
	struct fault f = { .set = false };
	struct text_rr again;

	PROMISE(text_rr_print(text, len + 1, rr->owner, rr->ttl_s, rr->class_, rr->type,
			      rr->rdata) == len);
	PROMISE(strlen(text) == len);
	if (!rr_rdata_is_whole(rr->type, rr->rdata.at, rr->rdata.len))
		return;
	if (!text_rr_parse(a, text, NULL, &again, &f))
		PANIC("%.300s: %s", text, f.text);
	PROMISE(dname_equals(rr->owner, again.owner) && memcmp(rr->owner, again.owner, dname_len(rr->owner)) == 0);
	PROMISE(rr->type == again.type && rr->class_ == again.class_ && rr->ttl_s == again.ttl_s);
	if (rr->rdata.len != again.rdata.len ||
	    memcmp(rr->rdata.at, again.rdata.at, rr->rdata.len) != 0)
		PANIC("%.300s: reads as other data", text);
}

static void check_text(struct arena *a, const char *line)
{
	struct fault f = { .set = false };
	struct text_zone z;
	struct text_rr rr;

	text_zone_init(&z);
	if (!text_rr_parse(a, line, &z, &rr, &f)) {
		PROMISE(f.set && f.text[0]);
		return;
	}
	PROMISE(rr_rdata_is_whole(rr.type, rr.rdata.at, rr.rdata.len));
	PROMISE(dname_len(rr.owner) <= DNAME_MAX);
	check_record(a, &rr);
}

static bool count_rr(const struct text_rr *rr, void *arg)
{
	PROMISE(rr_rdata_is_whole(rr->type, rr->rdata.at, rr->rdata.len));
	++*(unsigned *)arg;
	return true;
}

/* The whole input as a zone file; what it includes is not there. */
static void check_zone(const uint8_t *data, size_t len)
{
	char path[] = "fuzz-zone-XXXXXX";
	struct fault f = { .set = false };
	struct text_zone z;
	unsigned count = 0;
	int fd = mkstemp(path);
	bool written = fd >= 0 && write(fd, data, len) == (ssize_t)len;

	text_zone_init(&z);
	if (written && !text_zone_read(path, &z, count_rr, &count, &f))
		PROMISE(f.set);
	if (fd >= 0) {
		close(fd);
		unlink(path);
	}
}

/* An owner, a type and data. */
static void check_owner(struct arena *a, const uint8_t *data, size_t len)
{
	size_t owner = dname_measure(data, data + len);

	if (owner && len - owner >= 2)
		check_record(a, &(struct text_rr){ .owner = data,
						   .type = get_u16(data + owner),
						   .class_ = CLASS_CH,
						   .ttl_s = INT32_MAX,
						   .rdata = { data + owner + 2, len - owner - 2 } });
}

/* Of every type there is, and of some there are not. */
static void check_types(struct arena *a, struct slice rdata)
{
	static const uint16_t types[] = {
#define RRTYPE(number, name, shape, flags) number,
#include "util/dns/rrtype.def"
#undef RRTYPE
		0, 54, 65280, 65535
	};

	for (size_t i = 0; i < COUNT(types); i++)
		check_record(a, &(struct text_rr){
					.owner = dname_root, .type = types[i], .class_ = CLASS_IN, .rdata = rdata });
}

/* The first byte says what the rest is: 'R' data of the type in two more bytes, 'O' the same behind an owner in wire
 * form, 'T' data of any type, 'Z' a zone file; else, with that byte, a record. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	struct arena a;

	arena_init(&a);
	if (len >= 3 && data[0] == 'R') {
		struct text_rr rr = { .owner = dname_root,
				      .type = get_u16(data + 1),
				      .class_ = CLASS_IN,
				      .rdata = { data + 3, len - 3 } };
		check_record(&a, &rr);
	} else if (len >= 1 && data[0] == 'O') {
		check_owner(&a, data + 1, len - 1);
	} else if (len >= 1 && data[0] == 'T') {
		check_types(&a, (struct slice){ data + 1, len - 1 });
	} else if (len >= 1 && data[0] == 'Z') {
		check_zone(data + 1, len - 1);
	} else {
		char *line = arena_take(&a, len + 1);
		memcpy(line, data, len);
		line[len] = '\0';
		check_text(&a, line);
	}
	arena_clear(&a);
	return 0;
}
