/* Records from presentation format.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * Owner, TTL, class and type are parsed here, and so is RDATA whose shape describes its
 * text or which is in RFC 3597 format; ldns parses the rest. */
#include "util/dns/text.h"

#include <string.h>

#include <ldns/ldns.h>

#include "util/base/arena.h"
#include "util/base/fault.h"
#include "util/base/mem.h"
#include "util/base/textlex.h"
#include "util/dns/dname.h"
#include "util/dns/rr.h"
#include "util/dns/text_field.h"
#include "util/dns/text_svcb.h"

#define TTL_DEFAULT_S 3600

void text_zone_init(struct text_zone *z)
{
	*z = (struct text_zone){ .ttl_s = TTL_DEFAULT_S };
}

/* Turn comments and parentheses into blanks, and end the entry with NUL. */
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

bool text_ttl_parse(const char *text, uint32_t *ttl_s)
{
	return text_number(text, true, ttl_s) && *ttl_s <= INT32_MAX;
}

/* ---- data ---- */

/* A line being parsed: the rest of it, its zone, and where the RDATA goes. */
struct line {
	struct text_words words;
	struct text_zone *z;
	struct writer w;
};

static bool complain(struct line *l, const char *why)
{
	fault_set(&l->words.why, "%s", why);
	return false;
}

/* Odd, but read all the same where somebody is told of it. */
static bool is_odd(struct line *l, const char *why)
{
	if (!l->z->odd)
		return complain(l, why);
	l->z->odd(l->z->odd_arg, why);
	return true;
}

static bool read_fields_some(struct line *l, const char *shape)
{
	for (; *shape; shape++) {
		if (!text_field_read(&l->words, *shape, l->z, &l->w))
			return false;
	}
	return true;
}

static bool read_fields(struct line *l, const char *shape)
{
	return read_fields_some(l, shape) &&
	       (text_words_end(&l->words) ||
		is_odd(l, "there is more text behind the data"));
}

/* RFC 3597 5: \# LENGTH HEX... */
static bool read_generic(struct line *l)
{
	uint32_t len;
	char *word = text_words_next(&l->words);

	if (word == NULL || !text_number(word, false, &len))
		return complain(l, "\\# is not followed by a length");
	return text_hex_read(&l->words, &l->w) &&
	       (writer_len(&l->w) == len || complain(l, "the data is not as long as said"));
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

/* A gateway or relay of one of four kinds; none is written as a dot (RFC 4025 3.1, RFC 8777 4.3). */
static bool read_gateway(struct line *l, uint8_t kind)
{
	static const char *const shapes[] = { "", "a", "6", "m" };
	const char *dot;

	if (kind >= COUNT(shapes))
		return complain(l, "its gateway is of no kind from 0 to 3");
	if (kind)
		return read_fields_some(l, shapes[kind]);
	dot = text_words_next(&l->words);
	return (dot && strcmp(dot, ".") == 0) ||
	       complain(l, "without a gateway there is a dot in its place");
}

/* RFC 4025 3.1: the second number is the gateway's type. ldns 1.8 leaks memory on text of this
 * record type that it rejects. */
static bool read_ipseckey(struct line *l)
{
	return read_fields_some(l, "111") && read_gateway(l, l->w.start[1]) &&
	       (text_words_end(&l->words) || read_fields(l, "b"));
}

/* RFC 8777 4.3: a bit and the relay's type, which share a byte, are written as two numbers. ldns 1.8
 * reads none of them. */
static bool read_amtrelay(struct line *l)
{
	uint8_t *bit = l->w.start + 1, kind;

	if (!read_fields_some(l, "111"))
		return false;
	if (*bit > 1)
		return complain(l, "its second number is neither 0 nor 1");
	kind = *--l->w.at;
	*bit = (uint8_t)(*bit << 7 | kind);
	return read_gateway(l, kind) &&
	       (text_words_end(&l->words) || complain(l, "there is more text behind the data"));
}

/* ldns 1.8 unescapes lists once only (RFC 9460 A.1). */
static bool read_svcb(struct line *l)
{
	return read_fields_some(l, "2m") && text_svcb_read(&l->words, &l->w);
}

static bool read_by_ldns(struct line *l, uint16_t type)
{
	if (text_words_end(&l->words))
		return complain(l, "data is missing");
	char buf[16];
	char *text = mem_textf(". 0 IN %s %s", rr_type_name(type, buf), l->words.at);
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

static bool next_is_generic(struct line *l)
{
	if (text_words_end(&l->words))
		return false;
	const char *p = l->words.at;
	return p[0] == '\\' && p[1] == '#' && (p[2] == ' ' || p[2] == '\0');
}

/* A record of one field without any: Unbound takes it, though not even its length would be right. An
 * empty text has a form. */
static bool is_left_out(struct line *l, struct text_rr *out)
{
	const char *shape = rr_shape(out->type);

	if (!l->z->odd || !(rr_flags(out->type) & RR_PLAIN) || strlen(shape) != 1 ||
	    !text_words_end(&l->words))
		return false;
	if (*shape == 'S') {
		write_u8(&l->w, 0);
		return is_odd(l, "its text is missing, and taken to be empty");
	}
	out->left_out = true;
	return is_odd(l, "its data is missing: the record is left out");
}

static bool read_data(struct line *l, uint16_t type)
{
	if (next_is_generic(l)) {
		text_words_next(&l->words);
		if (!read_generic(l))
			return false;
	} else if (!(type == TYPE_IPSECKEY       ? read_ipseckey(l)
		     : type == TYPE_AMTRELAY     ? read_amtrelay(l)
		     : type == TYPE_SVCB || type == TYPE_HTTPS ? read_svcb(l)
		     : rr_flags(type) & RR_PLAIN ? read_fields(l, rr_shape(type))
						 : read_by_ldns(l, type))) {
		return false;
	}
	if (l->w.bad || writer_len(&l->w) > UINT16_MAX)
		return complain(l, "its data is longer than 65535 bytes");
	return rr_rdata_is_whole(type, l->w.start, writer_len(&l->w)) ||
	       complain(l, "its data does not have the form of its type");
}

/* ---- the record ---- */

static bool read_owner(struct line *l, bool blank)
{
	uint8_t name[DNAME_MAX];

	if (blank)
		return true;
	char *word = text_words_next(&l->words);
	if (word == NULL)
		return complain(l, "it is empty");
	size_t len = text_name_parse(l->z, word, name, &l->words.why);
	memcpy(l->z->last_owner, name, len);
	return len > 0;
}

static bool class_parse(const char *word, uint16_t *class_)
{
	/* No record has class NONE. Class ANY is allowed in local data; type ANY has no data. */
	return rr_class_parse(word, class_) && *class_ != CLASS_NONE;
}

/* TTL and class, in either order, each at most once; then the type. */
static bool read_head(struct line *l, struct text_rr *out)
{
	bool ttl_given = false, class_given = false;

	for (;;) {
		char *word = text_words_next(&l->words);
		if (word == NULL)
			return complain(l, "it has no type");
		if (!ttl_given && text_number(word, true, &out->ttl_s)) {
			if (out->ttl_s > INT32_MAX &&
			    !is_odd(l, "its TTL is above 2147483647 and counts as that (RFC 8767 4)"))
				return false;
			out->ttl_s = rr_ttl(out->ttl_s);
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
	/* RDATA is no longer than its text, except for two names completed by the origin,
	 * numbers, and type bitmaps. */
	size_t room = len + 256 * 34 + 1024;
	char *text = mem_new(len + 1);

	if (z == NULL) {
		text_zone_init(&no_zone);
		z = &no_zone;
	}
	struct line l = { .words = { .at = text }, .z = z, .w = writer_over(mem_new(room), room) };
	*out = (struct text_rr){ .ttl_s = z->ttl_s, .class_ = CLASS_IN };
	bool good =
		(flatten(text, line) || complain(&l, "a parenthesis or a quote has no partner")) &&
		read_owner(&l, *text == ' ') && read_head(&l, out) &&
		(is_left_out(&l, out) || read_data(&l, out->type)) &&
		!l.words.why.set;
	if (good) {
		out->owner = arena_copy(a, z->last_owner, dname_len(z->last_owner));
		out->rdata.len = writer_len(&l.w);
		out->rdata.at = arena_copy(a, l.w.start, out->rdata.len);
	} else {
		fault_set(f, "cannot read the record '%.200s': %s", line, l.words.why.text);
	}
	mem_free(text);
	mem_free(l.w.start);
	return good;
}
