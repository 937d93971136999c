/* Records, sets and messages to presentation format.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * RDATA is printed according to its shape or by ldns, and in RFC 3597 format where
 * neither yields text that parses to the same bytes. */
#include "util/dns/text.h"

#include <stdio.h>
#include <stdlib.h>

#include <ldns/ldns.h>

#include "util/base/arena.h"
#include "util/base/mem.h"
#include "util/base/timebase.h"
#include "util/dns/dname.h"
#include "util/dns/msg.h"
#include "util/dns/rr.h"
#include "util/dns/text_field.h"

/* ---- data ---- */

static bool put_by_shape(struct text_printer *p, const char *shape, struct slice rdata)
{
	for (const char *field = shape; *field; field++) {
		if (field > shape && (rdata.len > 0 || *field != 'B'))
			text_put(p, " ", 1);
		if (!text_field_print(p, *field, &rdata))
			return false;
	}
	return true;
}

static void put_generic(struct text_printer *p, struct slice rdata)
{
	text_putf(p, "\\# %zu", rdata.len);
	for (size_t i = 0; i < rdata.len; i++)
		text_putf(p, "%s%02X", i ? "" : " ", rdata.at[i]);
}

static ldns_rr *ldns_rr_of(uint16_t type, struct slice rdata)
{
	size_t room = 11 + rdata.len, pos = 0;
	uint8_t *wire = mem_new(room);
	struct writer w = writer_over(wire, room);
	ldns_rr *rr = NULL;

	write_u8(&w, 0);
	write_u16(&w, type);
	write_u16(&w, CLASS_IN);
	write_u32(&w, 0);
	write_u16(&w, (uint16_t)rdata.len);
	write_bytes(&w, rdata.at, rdata.len);
	if (ldns_wire2rr(&rr, wire, room, &pos, LDNS_SECTION_ANSWER) != LDNS_STATUS_OK)
		rr = NULL;
	mem_free(wire);
	return rr;
}

/* Print the fields of `rr`, separated by blanks; NULL when one cannot be printed. */
static char *fields_by_ldns(const ldns_rr *rr)
{
	char *joined = mem_text("");

	for (size_t i = 0; i < ldns_rr_rd_count(rr) && joined; i++) {
		char *field = ldns_rdf2str(ldns_rr_rdf(rr, i)), *longer = NULL;
		size_t len = field ? strlen(field) : 0;

		while (len > 0 && field[len - 1] == ' ')
			len--;
		if (field)
			longer = mem_textf("%s%s%.*s", joined, *joined && len ? " " : "", (int)len,
					   field);
		mem_free(joined);
		free(field);
		joined = longer;
	}
	return joined;
}

static bool reads_as(const char *text, uint16_t type, struct slice rdata)
{
	char type_buf[16];
	char *line = mem_textf(". %s %s", rr_type_name(type, type_buf), text);
	struct text_rr rr;
	struct arena a;

	arena_init(&a);
	bool same = text_rr_parse(&a, line, NULL, &rr, NULL) && rr.rdata.len == rdata.len &&
		    memcmp(rr.rdata.at, rdata.at, rdata.len) == 0;
	arena_clear(&a);
	mem_free(line);
	return same;
}

/* Whether a SvcParam's value stands in quotes (RFC 9460 2.1 leaves that open): as Unbound and others write them. */
static bool is_quoted_param(const char *param, size_t key_len)
{
	static const char *const keys[] = { "alpn", "ech", "dohpath" };

	for (size_t i = 0; i < COUNT(keys); i++)
		if (strlen(keys[i]) == key_len && strncmp(param, keys[i], key_len) == 0)
			return true;
	return key_len > 3 && strncmp(param, "key", 3) == 0;
}

/* The text of an SVCB or HTTPS record with such values in quotes. */
static char *quote_params(const char *text)
{
	char *to = mem_new(strlen(text) * 2 + 1), *at = to;

	for (const char *end; *text; text = end) {
		const char *value = memchr(text, '=', strcspn(text, " "));
		bool quotes = value && value[1] != '"' && is_quoted_param(text, (size_t)(value - text));

		end = text + strcspn(text, " ");
		while (text < end) {
			*at++ = *text;
			if (quotes && text == value)
				*at++ = '"';
			text++;
		}
		if (quotes)
			*at++ = '"';
		end += *end == ' ';
		if (end > text)
			*at++ = ' ';
	}
	*at = '\0';
	return to;
}

static char *text_by_ldns(uint16_t type, const ldns_rr *rr, struct slice rdata)
{
	char *text = fields_by_ldns(rr), *quoted;

	if (!text || (type != TYPE_SVCB && type != TYPE_HTTPS))
		return text;
	quoted = quote_params(text);
	if (!reads_as(quoted, type, rdata)) {
		mem_free(quoted);
		return text;
	}
	mem_free(text);
	return quoted;
}

/* False when ldns has no text for it, or one that does not parse to exactly these bytes. */
static bool put_by_ldns(struct text_printer *p, uint16_t type, struct slice rdata)
{
	ldns_rr *rr = ldns_rr_of(type, rdata);
	char *text = rr ? text_by_ldns(type, rr, rdata) : NULL;
	bool good = text && *text && strncmp(text, "\\#", 2) != 0 && reads_as(text, type, rdata);

	if (good)
		text_puts(p, text);
	mem_free(text);
	ldns_rr_free(rr);
	return good;
}

static void put_data(struct text_printer *p, uint16_t type, struct slice rdata)
{
	size_t before = p->len;

	if (rr_rdata_is_whole(type, rdata.at, rdata.len)) {
		if (rr_flags(type) & RR_PLAIN ? put_by_shape(p, rr_shape(type), rdata)
					      : put_by_ldns(p, type, rdata))
			return;
	}
	p->len = before;
	put_generic(p, rdata);
}

void text_rr_write(struct writer *w, const struct text_rr *rr)
{
	write_bytes(w, rr->owner, dname_len(rr->owner));
	write_u16(w, rr->type);
	write_u16(w, rr->class_);
	write_u32(w, rr->ttl_s);
	write_u16(w, (uint16_t)rr->rdata.len);
	write_bytes(w, rr->rdata.at, rr->rdata.len);
}

size_t text_rr_print(char *to, size_t room, const uint8_t *owner, uint32_t ttl_s, uint16_t class_,
		     uint16_t type, struct slice rdata)
{
	struct text_printer p = { .to = to, .room = room };
	char name[DNAME_TEXT], class_buf[16], type_buf[16];

	text_puts(&p, dname_print(owner, name));
	text_putf(&p, "\t%u\t", (unsigned)ttl_s);
	text_puts(&p, rr_class_name(class_, class_buf));
	text_put(&p, "\t", 1);
	text_puts(&p, rr_type_name(type, type_buf));
	text_put(&p, "\t", 1);
	put_data(&p, type, rdata);
	return p.len;
}

/* ---- sets and messages ---- */

static void print_records(const struct rrset *s, struct rrset_walk walk, uint16_t type,
			  uint32_t ttl_s, void (*out)(const char *line, void *arg), void *arg)
{
	for (struct slice rd; rrset_next(&walk, &rd);) {
		char few[2048], *line = few;
		size_t len =
			text_rr_print(few, sizeof(few), rrset_owner(s), ttl_s, s->class_, type, rd);
		if (len >= sizeof(few)) {
			line = mem_new(len + 1);
			text_rr_print(line, len + 1, rrset_owner(s), ttl_s, s->class_, type, rd);
		}
		out(line, arg);
		if (line != few)
			mem_free(line);
	}
}

void text_rrset_print(const struct rrset *s, uint32_t now_s,
		      void (*out)(const char *line, void *arg), void *arg)
{
	uint32_t ttl_s = time_left(now_s, s->expires_s);

	print_records(s, rrset_records(s), s->type, ttl_s, out, arg);
	print_records(s, rrset_sigs(s), TYPE_RRSIG, ttl_s, out, arg);
}

struct named_bit {
	uint16_t bit;
	const char *name;
};

static const struct named_bit header_bits[] = {
	{ FLAG_QR, "qr" }, { FLAG_AA, "aa" }, { FLAG_TC, "tc" }, { FLAG_RD, "rd" },
	{ FLAG_RA, "ra" }, { FLAG_Z, "z" },   { FLAG_AD, "ad" }, { FLAG_CD, "cd" },
};

static const char *const opcodes[16] = { "QUERY", "IQUERY", "STATUS", NULL, "NOTIFY", "UPDATE" };

static void put_word(struct text_printer *p, const char *const *names, size_t count, unsigned n)
{
	if (n < count && names[n])
		text_puts(p, names[n]);
	else
		text_putf(p, "%u", n);
}

static unsigned records_in(const struct message *m, enum section s)
{
	unsigned sets, records = 0;
	const struct rrset **set = message_section(m, s, &sets);

	for (unsigned i = 0; i < sets; i++)
		records += set[i]->count + set[i]->sig_count;
	return records;
}

static void print_edns(const struct edns *e, void (*out)(const char *line, void *arg), void *arg)
{
	struct reader r = reader_over(e->options.at, e->options.len);
	char few[512];
	struct text_printer p = { .to = few, .room = sizeof(few) };
	struct slice value;
	uint16_t code;

	out(";; OPT PSEUDOSECTION:", arg);
	text_putf(&p, "; EDNS: version: %u, flags:%s%s; udp: %u", e->version,
		  e->flags & EDNS_DO ? " do" : "", e->flags & EDNS_CO ? " co" : "", e->udp_size);
	out(few, arg);
	while (edns_next_option(&r, &code, &value)) {
		p.len = 0;
		text_putf(&p, "; OPT=%u:", code);
		for (size_t i = 0; i < value.len && i < 128; i++)
			text_putf(&p, " %02x", value.at[i]);
		out(few, arg);
	}
}

static void print_question(const struct question *q, void (*out)(const char *line, void *arg),
			   void *arg)
{
	char line[DNAME_TEXT + 64], name[DNAME_TEXT], class_buf[16], type_buf[16];
	struct text_printer p = { .to = line, .room = sizeof(line) };

	out(";; QUESTION SECTION:", arg);
	text_put(&p, ";", 1);
	text_puts(&p, dname_print(q->name, name));
	text_put(&p, "\t", 1);
	text_puts(&p, rr_class_name(q->class_, class_buf));
	text_put(&p, "\t", 1);
	text_puts(&p, rr_type_name(q->type, type_buf));
	out(line, arg);
}

void text_message_print(const struct message *m, uint32_t now_s,
			void (*out)(const char *line, void *arg), void *arg)
{
	static const char *const titles[] = { ";; ANSWER SECTION:", ";; AUTHORITY SECTION:",
					      ";; ADDITIONAL SECTION:" };
	char line[256], buf[16];
	struct text_printer p = { .to = line, .room = sizeof(line) };

	text_puts(&p, ";; ->>HEADER<<- opcode: ");
	put_word(&p, opcodes, COUNT(opcodes), m->opcode);
	text_puts(&p, ", status: ");
	text_puts(&p, rr_rcode_name(m->rcode, buf));
	text_putf(&p, ", id: %u", m->id);
	out(line, arg);

	p.len = 0;
	text_puts(&p, ";; flags:");
	for (size_t i = 0; i < COUNT(header_bits); i++) {
		if (m->flags & header_bits[i].bit)
			text_putf(&p, " %s", header_bits[i].name);
	}
	text_putf(&p, "; QUERY: %u, ANSWER: %u", m->q.name_len ? 1u : 0u,
		  records_in(m, SECTION_ANSWER));
	text_putf(&p, ", AUTHORITY: %u", records_in(m, SECTION_AUTHORITY));
	text_putf(&p, ", ADDITIONAL: %u", records_in(m, SECTION_ADDITIONAL) + m->edns.present);
	out(line, arg);

	if (m->edns.present)
		print_edns(&m->edns, out, arg);
	if (m->q.name_len)
		print_question(&m->q, out, arg);
	for (int s = SECTION_ANSWER; s <= SECTION_ADDITIONAL; s++) {
		unsigned count;
		const struct rrset **sets = message_section(m, (enum section)s, &count);
		if (count)
			out(titles[s], arg);
		for (unsigned i = 0; i < count; i++)
			text_rrset_print(sets[i], now_s, out, arg);
	}
}
