/* Records from presentation format.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * Owner, TTL, class and type are read here, and so is the data of plain types and of
 * RFC 3597; ldns knows the rest. */
#include "util/text.h"

#include <arpa/inet.h>
#include <string.h>

#include <ldns/ldns.h>

#include "util/arena.h"
#include "util/dname.h"
#include "util/fault.h"
#include "util/mem.h"
#include "util/rr.h"
#include "util/textlex.h"

#define TTL_DEFAULT_S 3600

void text_zone_init(struct text_zone *z)
{
	*z = (struct text_zone){ .ttl_s = TTL_DEFAULT_S };
}

/* A line being read: what is left of it, its zone, and where data goes. */
struct line {
	char *at;
	const struct text_zone *z;
	struct writer w;
	struct fault *f;
	const char *whole; /* as it was given, for complaints */
	bool bad;          /* something was complained of */
};

static bool complain(struct line *l, const char *why)
{
	fault_set(l->f, "cannot read the record '%.200s': %s", l->whole, why);
	l->bad = true;
	return false;
}

/* ---- words ---- */

/* Comments and parentheses become blanks, and the entry ends with NUL. */
static bool flatten(char *to, const char *from)
{
	struct lexer x = { 0 };

	for (;; from++) {
		switch (lex_char(&x, *from)) {
		case LEX_TEXT:
			*to++ = *from;
			break;
		case LEX_BLANK:
			*to++ = ' ';
			break;
		case LEX_END:
			*to = '\0';
			return true;
		case LEX_BAD:
			return false;
		}
	}
}

static char *past_word(char *p)
{
	bool quoted = *p == '"';

	for (p += quoted; *p && (quoted ? *p != '"' : *p != ' '); p++) {
		if (*p == '\\' && p[1])
			p++;
	}
	return p + (quoted && *p);
}

static bool at_end(struct line *l)
{
	l->at += strspn(l->at, " ");
	return *l->at == '\0';
}

/* The next word, with its quotes if it has any, ended by NUL; NULL when there is none. */
static char *next_word(struct line *l)
{
	if (at_end(l))
		return NULL;
	char *word = l->at;
	l->at = past_word(word);
	if (*l->at == ' ') {
		*l->at++ = '\0';
	} else if (*l->at) {
		complain(l, "text stands behind a closing quote");
		return NULL;
	}
	return word;
}

/* ---- fields ---- */

/* Seconds to a unit of time; 0 when it is none. */
static uint32_t unit_seconds(char c)
{
	switch (ascii_lower[(uint8_t)c]) {
	case 's':
		return 1;
	case 'm':
		return 60;
	case 'h':
		return 3600;
	case 'd':
		return 86400;
	case 'w':
		return 604800;
	default:
		return 0;
	}
}

/* A number, or where `units` may be a sum of times: "1h30m". */
static bool parse_u32(const char *text, bool units, uint32_t *out)
{
	uint64_t sum = 0;

	do {
		uint64_t n = 0;
		if (!lex_is_digit(*text))
			return false;
		for (; lex_is_digit(*text) && n <= UINT32_MAX; text++)
			n = n * 10 + (uint64_t)(*text - '0');
		if (units && unit_seconds(*text))
			n *= unit_seconds(*text++);
		sum += n;
		if (sum > UINT32_MAX)
			return false;
	} while (*text && units);
	*out = (uint32_t)sum;
	return *text == '\0';
}

static bool is_absolute(const char *name)
{
	size_t len = strlen(name), slashes = 0;

	if (len == 0 || name[len - 1] != '.')
		return false;
	while (slashes + 1 < len && name[len - 2 - slashes] == '\\')
		slashes++;
	return slashes % 2 == 0;
}

size_t text_name_parse(const struct text_zone *z, const char *text, uint8_t *to, struct fault *f)
{
	if (strcmp(text, "@") == 0)
		return dname_join(to, NULL, 0, z->origin);
	size_t len = dname_parse(to, text, f);
	if (len == 0 || is_absolute(text))
		return len;
	len = dname_join(to, to, len - 1, z->origin);
	if (len == 0)
		fault_set(f, "'%s' is no domain name: with its origin it is longer than 255 bytes",
			  text);
	return len;
}

bool text_ttl_parse(const char *text, uint32_t *ttl_s)
{
	return parse_u32(text, true, ttl_s) && *ttl_s <= INT32_MAX;
}

static bool read_name(struct line *l, const char *word)
{
	uint8_t name[DNAME_MAX];
	size_t len = text_name_parse(l->z, word, name, l->f);

	write_bytes(&l->w, name, len);
	return len > 0;
}

static bool read_integer(struct line *l, const char *word, unsigned bytes)
{
	uint32_t value;

	if (!parse_u32(word, bytes == 4, &value) || (bytes == 2 && value > UINT16_MAX))
		return complain(l, "a number is expected");
	if (bytes == 2)
		write_u16(&l->w, (uint16_t)value);
	else
		write_u32(&l->w, value);
	return true;
}

static bool read_address(struct line *l, const char *word, int family, size_t len)
{
	uint8_t address[16];

	if (inet_pton(family, word, address) != 1)
		return complain(l, family == AF_INET ? "an IPv4 address is expected"
						     : "an IPv6 address is expected");
	write_bytes(&l->w, address, len);
	return true;
}

static bool read_string(struct line *l, const char *word)
{
	uint8_t *len = write_room(&l->w, 1);
	const char *end = word + strlen(word);

	if (*word == '"') {
		word++;
		if (end == word || *--end != '"')
			return complain(l, "a quote has no partner");
	}
	while (word < end) {
		int c = lex_byte(&word);
		if (c < 0)
			return complain(
				l, "a backslash stands before neither a character nor 000 to 255");
		write_u8(&l->w, (uint8_t)c);
	}
	if (l->w.bad || l->w.at - len > 256)
		return complain(l, "a character string is longer than 255 bytes");
	*len = (uint8_t)(l->w.at - len - 1);
	return true;
}

static bool read_field(struct line *l, char field, const char *word)
{
	switch (field) {
	case 'a':
		return read_address(l, word, AF_INET, 4);
	case '6':
		return read_address(l, word, AF_INET6, 16);
	case '2':
		return read_integer(l, word, 2);
	case '4':
		return read_integer(l, word, 4);
	case 's':
	case 'S':
		return read_string(l, word);
	default:
		return read_name(l, word);
	}
}

/* ---- data ---- */

static bool read_plain(struct line *l, const char *shape)
{
	for (; *shape; shape++) {
		char *word = next_word(l);
		if (word == NULL)
			return complain(l, "data is missing");
		if (!read_field(l, *shape, word))
			return false;
	}
	while (shape[-1] == 'S' && !at_end(l)) {
		char *word = next_word(l);
		if (word == NULL || !read_string(l, word))
			return false;
	}
	return at_end(l) || complain(l, "there is more text behind the data");
}

static int hex_value(char c)
{
	static const char digits[] = "0123456789abcdef";
	const char *p = c ? strchr(digits, ascii_lower[(uint8_t)c]) : NULL;

	return p ? (int)(p - digits) : -1;
}

/* RFC 3597 5: \# LENGTH HEX... */
static bool read_generic(struct line *l)
{
	uint32_t len;
	char *word = next_word(l);

	if (word == NULL || !parse_u32(word, false, &len) || len > UINT16_MAX)
		return complain(l, "\\# is not followed by a length");
	while ((word = next_word(l))) {
		for (; *word; word += 2) {
			int high = hex_value(word[0]), low = high < 0 ? -1 : hex_value(word[1]);
			if (low < 0)
				return complain(l, "there are no pairs of hexadecimal digits");
			write_u8(&l->w, (uint8_t)(high << 4 | low));
		}
	}
	if (l->w.bad || writer_len(&l->w) != len)
		return complain(l, "the data is not as long as said");
	return true;
}

static bool write_ldns_data(struct line *l, const ldns_rr *rr)
{
	ldns_buffer *b = ldns_buffer_new(512);

	if (b == NULL)
		PANIC("no memory for a record");
	bool good = ldns_rr_rdata2buffer_wire(b, rr) == LDNS_STATUS_OK;
	if (good) {
		size_t len = ldns_buffer_position(b);
		l->w = writer_over(mem_grow(l->w.start, len + 1), len);
		write_bytes(&l->w, ldns_buffer_begin(b), len);
	}
	ldns_buffer_free(b);
	return good || complain(l, "its data has no wire form");
}

static bool read_by_ldns(struct line *l, uint16_t type)
{
	char buf[16];
	char *text = mem_textf(". 0 IN %s %s", rr_type_name(type, buf), l->at);
	ldns_rdf *origin =
		ldns_rdf_new_frm_data(LDNS_RDF_TYPE_DNAME, dname_len(l->z->origin), l->z->origin);
	ldns_rr *rr = NULL;
	ldns_status status = ldns_rr_new_frm_str(&rr, text, 1, origin, NULL);
	bool good = status == LDNS_STATUS_OK ? write_ldns_data(l, rr)
					     : complain(l, ldns_get_errorstr_by_id(status));

	ldns_rr_free(rr);
	ldns_rdf_deep_free(origin);
	mem_free(text);
	return good;
}

static bool read_data(struct line *l, uint16_t type)
{
	at_end(l);
	if (l->at[0] == '\\' && l->at[1] == '#' && (l->at[2] == ' ' || l->at[2] == '\0')) {
		l->at += 2;
		if (!read_generic(l))
			return false;
	} else if (rr_flags(type) & RR_PLAIN) {
		if (!read_plain(l, rr_shape(type)))
			return false;
	} else if (at_end(l)) {
		return complain(l, "data is missing");
	} else if (!read_by_ldns(l, type)) {
		return false;
	}
	if (l->w.bad || writer_len(&l->w) > UINT16_MAX)
		return complain(l, "its data is longer than 65535 bytes");
	return rr_rdata_is_whole(type, l->w.start, writer_len(&l->w)) ||
	       complain(l, "its data does not have the form of its type");
}

/* ---- the record ---- */

static bool read_owner(struct line *l, struct text_zone *z, bool blank)
{
	uint8_t name[DNAME_MAX];

	if (blank)
		return true;
	char *word = next_word(l);
	size_t len = word ? text_name_parse(z, word, name, l->f) : 0;
	if (len == 0)
		return word ? false : complain(l, "it is empty");
	memcpy(z->last_owner, name, len);
	return true;
}

static bool class_parse(const char *word, uint16_t *class_)
{
	/* NONE and ANY are no classes of records, and ANY is a type. */
	return rr_class_parse(word, class_) && *class_ != CLASS_NONE && *class_ != CLASS_ANY;
}

/* TTL and class, in either order, each once at most; then the type. */
static bool read_head(struct line *l, struct text_rr *out)
{
	bool ttl_given = false, class_given = false;

	for (;;) {
		char *word = next_word(l);
		if (word == NULL)
			return complain(l, "it has no type");
		if (!ttl_given && parse_u32(word, true, &out->ttl_s)) {
			if (out->ttl_s > INT32_MAX)
				return complain(l, "its TTL is above 2147483647 (RFC 2181 8)");
			ttl_given = true;
		} else if (!class_given && class_parse(word, &out->class_)) {
			class_given = true;
		} else {
			return rr_type_parse(word, &out->type) ||
			       complain(l, "its type is unknown");
		}
	}
}

bool text_rr_parse(struct arena *a, const char *line, struct text_zone *z, struct text_rr *out,
		   struct fault *f)
{
	struct text_zone no_zone;
	size_t len = strlen(line);
	/* Plain data is no longer than its text, but for two names that the origin
	 * completes, and numbers. */
	size_t room = len + 3 * DNAME_MAX;
	char *text = mem_new(len + 1);

	if (z == NULL) {
		text_zone_init(&no_zone);
		z = &no_zone;
	}
	struct line l = {
		.at = text, .z = z, .w = writer_over(mem_new(room), room), .f = f, .whole = line
	};
	*out = (struct text_rr){ .ttl_s = z->ttl_s, .class_ = CLASS_IN };
	bool good = flatten(text, line) || complain(&l, "a parenthesis or a quote has no partner");
	good = good && read_owner(&l, z, *text == ' ') && read_head(&l, out) &&
	       read_data(&l, out->type) && !l.bad;
	if (good) {
		out->owner = arena_copy(a, z->last_owner, dname_len(z->last_owner));
		out->rdata.len = writer_len(&l.w);
		out->rdata.at = arena_copy(a, l.w.start, out->rdata.len);
	}
	mem_free(text);
	mem_free(l.w.start);
	return good;
}
