/* Records, sets and messages to presentation format.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * Plain types are printed here, the rest by ldns, and what it cannot print as
 * RFC 3597 says. */
#include "util/text.h"

#include <arpa/inet.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include <ldns/ldns.h>

#include "util/arena.h"
#include "util/dname.h"
#include "util/mem.h"
#include "util/msg.h"
#include "util/rr.h"

/* Text that is cut where its room ends, but counted whole. */
struct printer {
	char *to;
	size_t room, len;
};

static void put(struct printer *p, const char *text, size_t len)
{
	if (p->len + 1 < p->room)
		memcpy(p->to + p->len, text, MIN(len, p->room - p->len - 1));
	p->len += len;
	if (p->room)
		p->to[MIN(p->len, p->room - 1)] = '\0';
}

static void put_text(struct printer *p, const char *text)
{
	put(p, text, strlen(text));
}

PRINTF_LIKE(2, 3) static void putf(struct printer *p, const char *fmt, ...)
{
	char buf[64];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(buf, sizeof(buf), fmt, ap);
	va_end(ap);
	put_text(p, buf);
}

/* ---- fields ---- */

static size_t put_string(struct printer *p, const uint8_t *at)
{
	put(p, "\"", 1);
	for (unsigned i = 1; i <= *at; i++) {
		if (at[i] < ' ' || at[i] >= 127)
			putf(p, "\\%03u", at[i]);
		else if (at[i] == '"' || at[i] == '\\')
			putf(p, "\\%c", at[i]);
		else
			put(p, (const char *)at + i, 1);
	}
	put(p, "\"", 1);
	return 1u + *at;
}

static size_t put_address(struct printer *p, int family, const uint8_t *at, size_t len)
{
	char buf[INET6_ADDRSTRLEN];

	put_text(p, inet_ntop(family, at, buf, sizeof(buf)));
	return len;
}

static size_t put_name(struct printer *p, const uint8_t *name)
{
	char buf[DNAME_TEXT];

	put_text(p, dname_print(name, buf));
	return dname_len(name);
}

/* Returns the length of the field. */
static size_t put_field(struct printer *p, char field, const uint8_t *at)
{
	switch (field) {
	case 'a':
		return put_address(p, AF_INET, at, 4);
	case '6':
		return put_address(p, AF_INET6, at, 16);
	case '2':
		putf(p, "%u", get_u16(at));
		return 2;
	case '4':
		putf(p, "%u", (unsigned)get_u32(at));
		return 4;
	case 's':
	case 'S':
		return put_string(p, at);
	default:
		return put_name(p, at);
	}
}

/* ---- data ---- */

static void put_plain(struct printer *p, const char *shape, struct slice rdata)
{
	const uint8_t *at = rdata.at;

	while (at < rdata.at + rdata.len) {
		if (at > rdata.at)
			put(p, " ", 1);
		at += put_field(p, *shape, at);
		if (*shape != 'S')
			shape++;
	}
}

static void put_generic(struct printer *p, struct slice rdata)
{
	putf(p, "\\# %zu", rdata.len);
	for (size_t i = 0; i < rdata.len; i++)
		putf(p, "%s%02x", i ? "" : " ", rdata.at[i]);
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

/* The fields of `rr` with blanks between; NULL when one cannot be printed. */
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

/* False when ldns has no text for it, or one that does not mean these very bytes. */
static bool put_by_ldns(struct printer *p, uint16_t type, struct slice rdata)
{
	ldns_rr *rr = ldns_rr_of(type, rdata);
	char *text = rr ? fields_by_ldns(rr) : NULL;
	bool good = text && *text && reads_as(text, type, rdata);

	if (good)
		put_text(p, text);
	mem_free(text);
	ldns_rr_free(rr);
	return good;
}

static void put_data(struct printer *p, uint16_t type, struct slice rdata)
{
	if (!rr_rdata_is_whole(type, rdata.at, rdata.len))
		put_generic(p, rdata);
	else if (rr_flags(type) & RR_PLAIN)
		put_plain(p, rr_shape(type), rdata);
	else if (!put_by_ldns(p, type, rdata))
		put_generic(p, rdata);
}

size_t text_rr_print(char *to, size_t room, const uint8_t *owner, uint32_t ttl_s, uint16_t class_,
		     uint16_t type, struct slice rdata)
{
	struct printer p = { .to = to, .room = room };
	char class_buf[16], type_buf[16];

	put_name(&p, owner);
	putf(&p, "\t%u\t", (unsigned)ttl_s);
	put_text(&p, rr_class_name(class_, class_buf));
	put(&p, "\t", 1);
	put_text(&p, rr_type_name(type, type_buf));
	put(&p, "\t", 1);
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
	uint32_t ttl_s = s->expires_s > now_s ? s->expires_s - now_s : 0;

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

static const char *const rcodes[] = {
	"NOERROR", "FORMERR",        "SERVFAIL",         "NXDOMAIN", "NOTIMP",
	"REFUSED", "YXDOMAIN",       "YXRRSET",          "NXRRSET",  "NOTAUTH",
	"NOTZONE", [16] = "BADVERS", [23] = "BADCOOKIE",
};

static void put_word(struct printer *p, const char *const *names, size_t count, unsigned n)
{
	if (n < count && names[n])
		put_text(p, names[n]);
	else
		putf(p, "%u", n);
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
	struct printer p = { .to = few, .room = sizeof(few) };
	struct slice value;
	uint16_t code;

	out(";; OPT PSEUDOSECTION:", arg);
	putf(&p, "; EDNS: version: %u, flags:%s%s; udp: %u", e->version,
	     e->flags & EDNS_DO ? " do" : "", e->flags & EDNS_CO ? " co" : "", e->udp_size);
	out(few, arg);
	while (edns_next_option(&r, &code, &value)) {
		p.len = 0;
		putf(&p, "; OPT=%u:", code);
		for (size_t i = 0; i < value.len && i < 128; i++)
			putf(&p, " %02x", value.at[i]);
		out(few, arg);
	}
}

static void print_question(const struct question *q, void (*out)(const char *line, void *arg),
			   void *arg)
{
	char line[DNAME_TEXT + 64], class_buf[16], type_buf[16];
	struct printer p = { .to = line, .room = sizeof(line) };

	out(";; QUESTION SECTION:", arg);
	put(&p, ";", 1);
	put_name(&p, q->name);
	put(&p, "\t", 1);
	put_text(&p, rr_class_name(q->class_, class_buf));
	put(&p, "\t", 1);
	put_text(&p, rr_type_name(q->type, type_buf));
	out(line, arg);
}

void text_message_print(const struct message *m, uint32_t now_s,
			void (*out)(const char *line, void *arg), void *arg)
{
	static const char *const titles[] = { ";; ANSWER SECTION:", ";; AUTHORITY SECTION:",
					      ";; ADDITIONAL SECTION:" };
	char line[256];
	struct printer p = { .to = line, .room = sizeof(line) };

	put_text(&p, ";; ->>HEADER<<- opcode: ");
	put_word(&p, opcodes, COUNT(opcodes), m->opcode);
	put_text(&p, ", status: ");
	put_word(&p, rcodes, COUNT(rcodes), m->rcode);
	putf(&p, ", id: %u", m->id);
	out(line, arg);

	p.len = 0;
	put_text(&p, ";; flags:");
	for (size_t i = 0; i < COUNT(header_bits); i++) {
		if (m->flags & header_bits[i].bit)
			putf(&p, " %s", header_bits[i].name);
	}
	putf(&p, "; QUERY: %u, ANSWER: %u", m->q.name_len ? 1u : 0u, records_in(m, SECTION_ANSWER));
	putf(&p, ", AUTHORITY: %u", records_in(m, SECTION_AUTHORITY));
	putf(&p, ", ADDITIONAL: %u", records_in(m, SECTION_ADDITIONAL) + m->edns.present);
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
