/* Record types and classes: numbers, mnemonics, and the layout of RDATA.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "util/dns/rr.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "util/base/bytes.h"
#include "util/dns/dname.h"
#include "util/dns/msgname.h"

struct row {
	uint16_t type;
	uint16_t flags;
	const char *name; /* with '_' for '-' */
	const char *shape;
};

enum {
#define RRTYPE(number, name, shape, flags) ROW_##name,
#include "util/dns/rrtype.def"
#undef RRTYPE
	ROWS
};

static const struct row rows[ROWS] = {
#define RRTYPE(number, name, shape, flags) { number, flags, #name, shape },
#include "util/dns/rrtype.def"
#undef RRTYPE
};

static const struct row *row_of(uint16_t type)
{
	switch (type) {
#define RRTYPE(number, name, shape, flags) \
	case number:                       \
		return &rows[ROW_##name];
#include "util/dns/rrtype.def"
#undef RRTYPE
	default:
		return NULL;
	}
}

const char *rr_shape(uint16_t type)
{
	const struct row *row = row_of(type);

	return row ? row->shape : "*";
}

unsigned rr_flags(uint16_t type)
{
	const struct row *row = row_of(type);

	return row ? row->flags : 0;
}

/* ---- names of types and classes ---- */

const char *rr_type_name(uint16_t type, char buf[16])
{
	const struct row *row = row_of(type);

	if (row == NULL) {
		snprintf(buf, 16, "TYPE%u", type);
		return buf;
	}
	if (strchr(row->name, '_') == NULL)
		return row->name;
	snprintf(buf, 16, "%s", row->name);
	for (char *p = buf; *p; p++) {
		if (*p == '_')
			*p = '-';
	}
	return buf;
}

static const struct {
	uint16_t class_;
	const char *name;
} classes[] = {
	{ CLASS_IN, "IN" },   { CLASS_CH, "CH" },    { CLASS_HS, "HS" },     { CLASS_NONE, "NONE" },
	{ CLASS_ANY, "ANY" }, { CLASS_CH, "CHAOS" }, { CLASS_HS, "HESIOD" },
};

const char *rr_class_name(uint16_t class_, char buf[16])
{
	for (size_t i = 0; i < COUNT(classes); i++) {
		if (classes[i].class_ == class_)
			return classes[i].name;
	}
	snprintf(buf, 16, "CLASS%u", class_);
	return buf;
}

const char *rr_rcode_name(unsigned rcode, char buf[16])
{
	static const char *const names[] = {
		"NOERROR",  "FORMERR", "SERVFAIL", "NXDOMAIN", "NOTIMPL",        "REFUSED",
		"YXDOMAIN", "YXRRSET", "NXRRSET",  "NOTAUTH",  "NOTZONE",        [16] = "BADVERS",
		[23] = "BADCOOKIE",
	};

	if (rcode < COUNT(names) && names[rcode])
		return names[rcode];
	snprintf(buf, 16, "RCODE%u", rcode);
	return buf;
}

/* "TYPE123", "CLASS255": RFC 3597 5. */
static bool parse_numbered(const char *text, const char *word, uint16_t *out)
{
	size_t len = strlen(word);
	unsigned value = 0;

	if (strncasecmp(text, word, len) != 0 || text[len] == '\0')
		return false;
	for (text += len; *text; text++) {
		if (*text < '0' || *text > '9')
			return false;
		value = value * 10 + (unsigned)(*text - '0');
		if (value > 65535)
			return false;
	}
	*out = (uint16_t)value;
	return true;
}

/* Whether `text` is the mnemonic `name`, in any case, with '-' for its '_'. */
static bool spells(const char *text, const char *name)
{
	for (; *text && *name; text++, name++) {
		uint8_t want = *name == '_' ? '-' : ascii_lower[(uint8_t)*name];
		if (ascii_lower[(uint8_t)*text] != want)
			return false;
	}
	return *text == *name;
}

bool rr_type_parse(const char *text, uint16_t *type)
{
	for (size_t i = 0; i < ROWS; i++) {
		if (spells(text, rows[i].name)) {
			*type = rows[i].type;
			return true;
		}
	}
	return parse_numbered(text, "TYPE", type);
}

bool rr_class_parse(const char *text, uint16_t *class_)
{
	for (size_t i = 0; i < COUNT(classes); i++) {
		if (strcasecmp(text, classes[i].name) == 0) {
			*class_ = classes[i].class_;
			return true;
		}
	}
	return parse_numbered(text, "CLASS", class_);
}

/* ---- data ---- */

static const uint8_t *strings_end(const uint8_t *at, const uint8_t *end)
{
	if (at >= end)
		return NULL;
	while (at < end) {
		if (end - at <= *at)
			return NULL;
		at += 1 + *at;
	}
	return at;
}

/* One past a field of uncompressed RDATA; NULL when it does not end by `end`. */
static const uint8_t *field_end(char field, const uint8_t *at, const uint8_t *end)
{
	size_t left = (size_t)(end - at), len;

	switch (field) {
	case 'N':
	case 'n':
	case 'm':
		len = dname_measure(at, end);
		return len ? at + len : NULL;
	case '1':
	case 'y':
		len = 1;
		break;
	case '2':
	case 't':
	case 'c':
		len = 2;
		break;
	case '4':
	case 'T':
	case 'a':
		len = 4;
		break;
	case '6':
		len = 16;
		break;
	case 's':
	case 'w':
	case 'h':
	case 'H':
		len = left ? 1u + *at : 1;
		break;
	case 'S':
		return strings_end(at, end);
	default:
		return end;
	}
	return len <= left ? at + len : NULL;
}

static bool field_is_name(char field)
{
	return field == 'N' || field == 'n' || field == 'm';
}

/* Copy the fields of RDATA that may hold compressed names. */
static bool read_fields(struct reader *r, const char *shape, const uint8_t *end, struct writer *w)
{
	struct reader data = { r->start, r->at, end, false, r->pointers };
	const uint8_t *begin = w->at;
	uint8_t name[DNAME_MAX];

	for (; *shape; shape++) {
		if (*shape == 'N' || *shape == 'n') {
			write_bytes(w, name, msg_read_name(&data, name));
			r->pointers = data.pointers;
			if (data.bad)
				return false;
			continue;
		}
		const uint8_t *behind = field_end(*shape, data.at, end);
		if (behind == NULL)
			return false;
		write_bytes(w, data.at, (size_t)(behind - data.at));
		data.at = behind;
	}
	r->at = data.at;
	return data.at == end && !w->bad && w->at - begin <= UINT16_MAX;
}

bool rr_read_rdata(struct reader *r, uint16_t type, uint16_t rdlen, struct writer *w)
{
	if (reader_left(r) < rdlen)
		r->bad = true;
	return !r->bad && read_fields(r, rr_shape(type), r->at + rdlen, w);
}

bool rr_rdata_is_whole(uint16_t type, const uint8_t *rdata, size_t len)
{
	const uint8_t *end = rdata + len;

	for (const char *field = rr_shape(type); *field; field++) {
		rdata = field_end(*field, rdata, end);
		if (rdata == NULL)
			return false;
	}
	return rdata == end;
}

void rr_canonical_rdata(uint16_t type, uint8_t *rdata, size_t len)
{
	uint8_t *at = rdata;

	for (const char *field = rr_shape(type); *field; field++) {
		const uint8_t *behind = field_end(*field, at, rdata + len);
		if (behind == NULL)
			return;
		if (*field == 'N' || *field == 'n')
			dname_lower(at);
		at = rdata + (behind - rdata);
	}
}

const uint8_t *rr_rdata_name(uint16_t type, const uint8_t *rdata, size_t len)
{
	const uint8_t *end = rdata + len;

	for (const char *field = rr_shape(type); *field; field++) {
		const uint8_t *behind = field_end(*field, rdata, end);
		if (behind == NULL)
			return NULL;
		if (field_is_name(*field))
			return rdata;
		rdata = behind;
	}
	return NULL;
}

enum { ALGORITHM_RSAMD5 = 1 };

uint16_t rr_key_tag(struct slice rdata)
{
	uint32_t sum = 0;

	/* RFC 4034 B.1: the upper two of the modulus's last three bytes. */
	if (rdata.len >= 7 && rdata.at[3] == ALGORITHM_RSAMD5)
		return get_u16(rdata.at + rdata.len - 3);
	for (size_t i = 0; i < rdata.len; i++)
		sum += i & 1 ? rdata.at[i] : (uint32_t)rdata.at[i] << 8;
	return (uint16_t)(sum + (sum >> 16));
}
