/* Entries of a scenario: reading them, matching packets, adjusting replies to a query.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "daemon/replay_entry.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/replay_loose.h"
#include "daemon/replay_rrs.h"
#include "util/arena.h"
#include "util/fault.h"
#include "util/mem.h"
#include "util/msg.h"
#include "util/rr.h"

enum { PACKET_ROOM = 65535 + 512, OPT_SIZE_UNBOUND = 1232, OPT_SIZE_DECKARD = 4096 };

/* ---- lines ---- */

bool lines_next(struct lines *l)
{
	char *end;

	if (!l->rest || !*l->rest)
		return false;
	l->raw = l->rest;
	end = strchr(l->rest, '\n');
	l->rest = end ? end + 1 : NULL;
	if (!end)
		end = l->raw + strlen(l->raw);
	while (end > l->raw && isspace((unsigned char)end[-1]))
		end--;
	*end = '\0';
	l->text = l->raw + strspn(l->raw, " \t");
	l->number++;
	return true;
}

bool lines_next_live(struct lines *l)
{
	while (lines_next(l))
		if (*l->text && *l->text != ';')
			return true;
	return false;
}

char *word_after(char *text, const char *word)
{
	size_t len = strlen(word);

	if (strncmp(text, word, len) != 0)
		return NULL;
	if (text[len] && !isspace((unsigned char)text[len]) && text[len] != ';')
		return NULL;
	return text + len + strspn(text + len, " \t");
}

/* Cut the next blank-separated word off `*at`; NULL at the end or a comment. */
static char *take_word(char **at)
{
	char *word = *at + strspn(*at, " \t");

	if (!*word || *word == ';' || *word == '#')
		return NULL;
	*at = word + strcspn(word, " \t");
	if (**at)
		*(*at)++ = '\0';
	return word;
}

/* ---- building a message ---- */

struct draft {                          /* the packet being read */
	uint16_t flags;
	uint16_t rcode;
	struct edns opt;
	uint8_t *question;
	size_t question_len;
	unsigned counts[4];
	struct writer sections[3];
	struct writer hex;
	bool has_hex;
};

static void draft_init(struct draft *d, bool deckard, struct arena *a)
{
	memset(d, 0, sizeof(*d));
	for (unsigned s = 0; s < 3; s++)
		d->sections[s] = writer_over(arena_take(a, PACKET_ROOM), PACKET_ROOM);
	d->opt.present = deckard;
	d->opt.udp_size = deckard ? OPT_SIZE_DECKARD : OPT_SIZE_UNBOUND;
}

static struct entry_packet *draft_finish(struct draft *d, struct entry *e, struct arena *a)
{
	struct entry_packet *p = arena_new(a, struct entry_packet);
	struct writer w = writer_over(arena_take(a, PACKET_ROOM), PACKET_ROOM);

	write_u16(&w, 0);
	write_u16(&w, (uint16_t)(d->flags | (d->rcode & 15)));
	write_u16(&w, (uint16_t)d->counts[0]);
	write_u16(&w, (uint16_t)d->counts[1]);
	write_u16(&w, (uint16_t)d->counts[2]);
	write_u16(&w, (uint16_t)(d->counts[3] + d->opt.present));
	write_bytes(&w, d->question, d->question_len);
	for (unsigned s = 0; s < 3; s++)
		write_bytes(&w, d->sections[s].start, writer_len(&d->sections[s]));
	if (d->opt.present) {
		d->opt.ext_rcode = (uint8_t)(d->rcode >> 4);
		edns_write(&w, &d->opt);
	}
	p->wire = (struct slice){ w.start, writer_len(&w) };
	if (!e->packets)
		e->matched = p->wire;
	if (d->has_hex) {
		p->hex = true;
		p->wire = (struct slice){ d->hex.start, writer_len(&d->hex) };
	}
	for (struct entry_packet **last = &e->packets;; last = &(*last)->next)
		if (!*last) {
			*last = p;
			return p;
		}
}

static bool read_question(struct draft *d, char *text, struct text_zone *zone, struct arena *a,
			  struct fault *f)
{
	uint8_t name[DNAME_MAX];
	char *owner = take_word(&text), *word = take_word(&text);
	uint16_t type = 0, class_ = CLASS_IN;
	size_t len;
	struct writer w;

	if (!owner || !word) {
		fault_set(f, "a question is: owner [class] type");
		return false;
	}
	len = strcmp(owner, "@") == 0 ? dname_len(zone->origin) : dname_parse(name, owner, f);
	if (strcmp(owner, "@") == 0)
		memcpy(name, zone->origin, len);
	if (len == 0)
		return false;
	if (owner[strlen(owner) - 1] != '.' && !dname_is_root(zone->origin) && *owner != '@') {
		uint8_t relative[DNAME_MAX];

		memcpy(relative, name, len);
		len = dname_join(name, relative, len - 1, zone->origin);
	}
	if (!rr_type_parse(word, &type) || (rr_class_parse(word, &class_) && *text)) {
		char *next;

		class_ = CLASS_IN;
		if (!rr_class_parse(word, &class_) || !(next = take_word(&text)) ||
		    !rr_type_parse(next, &type)) {
			fault_set(f, "no type in question: %s", word);
			return false;
		}
	} else {
		class_ = CLASS_IN;
	}
	w = writer_over(arena_take(a, len + 4), len + 4);
	write_bytes(&w, name, len);
	write_u16(&w, type);
	write_u16(&w, class_);
	d->question = w.start;
	d->question_len = writer_len(&w);
	d->counts[0] = 1;
	return true;
}

static bool read_record(struct draft *d, unsigned section, char *text, struct text_zone *zone,
			struct arena *a, struct fault *f)
{
	struct text_rr rr;
	struct writer *w = &d->sections[section];

	if (!loose_rr_parse(a, text, zone, &rr, f))
		return false;
	text_rr_write(w, &rr);
	d->counts[section + 1]++;
	return !w->bad;
}

static bool read_reply_word(struct draft *d, const char *word)
{
	static const struct { const char *word; uint16_t bits; } bits[] = {
		{ "QR", FLAG_QR }, { "AA", FLAG_AA }, { "TC", FLAG_TC }, { "RD", FLAG_RD },
		{ "CD", FLAG_CD }, { "RA", FLAG_RA }, { "AD", FLAG_AD },
		{ "QUERY", 0 }, { "IQUERY", OPCODE_IQUERY << 11 }, { "STATUS", OPCODE_STATUS << 11 },
		{ "NOTIFY", OPCODE_NOTIFY << 11 }, { "UPDATE", OPCODE_UPDATE << 11 },
	};
	static const struct { const char *word; uint16_t rcode; } rcodes[] = {
		{ "NOERROR", 0 }, { "FORMERR", 1 }, { "SERVFAIL", 2 }, { "NXDOMAIN", 3 },
		{ "NOTIMPL", 4 }, { "NOTIMP", 4 }, { "REFUSED", 5 }, { "YXDOMAIN", 6 },
		{ "YXRRSET", 7 }, { "NXRRSET", 8 }, { "NOTAUTH", 9 }, { "NOTZONE", 10 },
		{ "BADVERS", 16 }, { "BADSIG", 16 }, { "BADKEY", 17 }, { "BADTIME", 18 },
		{ "BADMODE", 19 }, { "BADNAME", 20 }, { "BADALG", 21 }, { "BADTRUNC", 22 },
		{ "BADCOOKIE", 23 },
	};

	for (size_t i = 0; i < COUNT(bits); i++)
		if (strcmp(word, bits[i].word) == 0) {
			d->flags |= bits[i].bits;
			return true;
		}
	for (size_t i = 0; i < COUNT(rcodes); i++)
		if (strcmp(word, rcodes[i].word) == 0) {
			d->rcode = rcodes[i].rcode;
			return true;
		}
	if (strcmp(word, "DO") == 0 || strcmp(word, "CO") == 0) {
		d->opt.present = true;
		d->opt.flags |= *word == 'D' ? EDNS_DO : EDNS_CO;
		return true;
	}
	return false;
}

/* Append the hex digits of a line, skipping blanks and a trailing comment. */
static bool read_hex(struct writer *w, const char *text, int *half)
{
	for (; *text && *text != ';'; text++) {
		int digit = isdigit((unsigned char)*text) ? *text - '0' :
			    isxdigit((unsigned char)*text) ? tolower((unsigned char)*text) - 'a' + 10 :
							     -1;

		if (digit < 0) {
			if (!isspace((unsigned char)*text))
				return false;
		} else if (*half < 0) {
			*half = digit;
		} else {
			write_u8(w, (uint8_t)(*half << 4 | digit));
			*half = -1;
		}
	}
	return !w->bad;
}

static bool read_hex_block(struct lines *l, struct writer *w, const char *end, struct fault *f)
{
	int half = -1;

	while (lines_next(l)) {
		if (word_after(l->text, end))
			return true;
		if (!read_hex(w, l->text, &half)) {
			fault_set(f, "not hexadecimal: %s", l->text);
			return false;
		}
	}
	fault_set(f, "%s is missing", end);
	return false;
}

/* ---- words ---- */

static bool read_match_word(struct entry *e, const char *word)
{
	static const struct { const char *word; unsigned bit; } words[] = {
		{ "opcode", MATCH_OPCODE }, { "qtype", MATCH_QTYPE }, { "qname", MATCH_QNAME },
		{ "rcode", MATCH_RCODE }, { "question", MATCH_QUESTION }, { "answer", MATCH_ANSWER },
		{ "all", MATCH_ALL }, { "all_noedns", MATCH_ALL_NOEDNS }, { "ttl", MATCH_TTL },
		{ "DO", MATCH_DO }, { "CO", MATCH_CO }, { "noedns", MATCH_NOEDNS },
		{ "ednsdata", MATCH_EDNSDATA }, { "subdomain", MATCH_SUBDOMAIN },
		{ "UDP", MATCH_UDP }, { "TCP", MATCH_TCP }, { "client_cookie", MATCH_CLIENT_COOKIE },
		{ "server_cookie", MATCH_SERVER_COOKIE }, { "qcase", MATCH_QCASE },
		{ "flags", MATCH_FLAGS }, { "authority", MATCH_AUTHORITY },
		{ "additional", MATCH_ADDITIONAL }, { "edns", MATCH_EDNS }, { "nsid", MATCH_NSID },
	};

	for (size_t i = 0; i < COUNT(words); i++)
		if (strcmp(word, words[i].word) == 0) {
			e->match |= words[i].bit;
			return true;
		}
	if (strncmp(word, "serial", 6) == 0 && (word[6] == '=' || word[6] == ':')) {
		e->match |= MATCH_SERIAL;
		e->serial = (uint32_t)strtoul(word + 7, NULL, 10);
		return true;
	}
	if (strncmp(word, "ede=", 4) == 0) {
		e->ede = strcmp(word + 4, "any") == 0 ? EDE_ANY : atoi(word + 4);
		return true;
	}
	return false;
}

static bool read_adjust_word(struct entry *e, const char *word)
{
	static const struct { const char *word; unsigned bits; } words[] = {
		{ "copy_id", ADJUST_ID }, { "copy_query", ADJUST_QUERY },
		{ "copy_ednsdata_assume_clientsubnet", ADJUST_ECS },
		{ "increment_ecs_scope", ADJUST_ECS_SCOPE }, { "raw_id", ADJUST_RAW_ID },
		{ "do_not_answer", ADJUST_SILENT },
	};

	for (size_t i = 0; i < COUNT(words); i++)
		if (strcmp(word, words[i].word) == 0) {
			e->adjust |= words[i].bits;
			return true;
		}
	return strncmp(word, "sleep=", 6) == 0 || strncmp(word, "packet_sleep=", 13) == 0;
}

bool entry_directive(char *text, struct text_zone *zone)
{
	char *rest;

	if ((rest = word_after(text, "$ORIGIN"))) {
		char *word = take_word(&rest);

		return word && dname_parse(zone->origin, word, NULL) > 0;
	}
	if ((rest = word_after(text, "$TTL"))) {
		zone->ttl_s = (uint32_t)strtoul(rest, NULL, 10);
		return true;
	}
	return false;
}

struct reading {                /* state while reading an entry */
	struct entry *entry;
	struct draft draft;
	int section;            /* -1: question; -2: none yet; else index into the draft's */
	struct text_zone *zone;
	struct arena *arena;
	struct fault *fault;
};

static bool read_words(struct reading *rd, char *text, const char *kind)
{
	for (char *word; (word = take_word(&text));) {
		bool known = *kind == 'M' ? read_match_word(rd->entry, word) :
			     *kind == 'A' ? read_adjust_word(rd->entry, word) :
					    read_reply_word(&rd->draft, word);

		if (!known) {
			fault_set(rd->fault, "%s does not know the word %s", kind, word);
			return false;
		}
	}
	return true;
}

static bool read_section_word(struct reading *rd, char *text)
{
	static const char *const names[] = { "QUESTION", "ANSWER", "AUTHORITY", "ADDITIONAL" };

	for (size_t i = 0; i < COUNT(names); i++)
		if (word_after(text, names[i])) {
			rd->section = (int)i - 1;
			return true;
		}
	fault_set(rd->fault, "no such section: %s", text);
	return false;
}

static bool read_hex_bytes(struct reading *rd, struct lines *l, bool edns)
{
	struct writer w = writer_over(arena_take(rd->arena, PACKET_ROOM), PACKET_ROOM);

	if (!read_hex_block(l, &w, edns ? "HEX_EDNSDATA_END" : "HEX_ANSWER_END", rd->fault))
		return false;
	if (edns) {
		rd->draft.opt.present = true;
		rd->draft.opt.options = (struct slice){ w.start, writer_len(&w) };
	} else {
		rd->draft.hex = w;
		rd->draft.has_hex = true;
	}
	return true;
}

static bool read_entry_line(struct reading *rd, struct lines *l)
{
	char *text = l->text, *rest;
	int half = -1;

	if ((rest = word_after(text, "MATCH")))
		return read_words(rd, rest, "MATCH");
	if ((rest = word_after(text, "ADJUST")))
		return read_words(rd, rest, "ADJUST");
	if ((rest = word_after(text, "REPLY")) || (rest = word_after(text, "FLAGS")))
		return read_words(rd, rest, "REPLY");
	if ((rest = word_after(text, "SECTION")))
		return read_section_word(rd, rest);
	if (word_after(text, "HEX_ANSWER_BEGIN"))
		return read_hex_bytes(rd, l, false);
	if (word_after(text, "HEX_EDNSDATA_BEGIN"))
		return read_hex_bytes(rd, l, true);
	if (word_after(text, "EXTRA_PACKET")) {
		draft_finish(&rd->draft, rd->entry, rd->arena);
		draft_init(&rd->draft, rd->entry->deckard, rd->arena);
		return true;
	}
	if (word_after(text, "MANDATORY") || word_after(text, "TSIG"))
		return true;
	if (word_after(text, "RAW")) {
		if (!lines_next_live(l))
			return false;
		rd->draft.hex = writer_over(arena_take(rd->arena, PACKET_ROOM), PACKET_ROOM);
		rd->draft.has_hex = true;
		return read_hex(&rd->draft.hex, l->text, &half);
	}
	if (entry_directive(text, rd->zone))
		return true;
	if (rd->section == -1)
		return read_question(&rd->draft, text, rd->zone, rd->arena, rd->fault);
	if (rd->section >= 0)
		return read_record(&rd->draft, (unsigned)rd->section, text, rd->zone, rd->arena,
				   rd->fault);
	fault_set(rd->fault, "a record outside any section: %s", text);
	return false;
}

struct entry *entry_read(struct lines *l, bool deckard, struct text_zone *zone, struct arena *a,
			 struct fault *f)
{
	struct reading rd = { .section = -2, .zone = zone, .arena = a, .fault = f };

	rd.entry = arena_new(a, struct entry);
	rd.entry->line = l->number;
	rd.entry->deckard = deckard;
	rd.entry->ede = EDE_UNCHECKED;
	draft_init(&rd.draft, deckard, a);
	while (lines_next_live(l)) {
		if (*l->text == '#')
			continue;
		if (word_after(l->text, "ENTRY_END")) {
			draft_finish(&rd.draft, rd.entry, a);
			return rd.entry;
		}
		if (!read_entry_line(&rd, l)) {
			fault_set(f, "cannot read this line of an entry");
			return NULL;
		}
	}
	fault_set(f, "ENTRY_END is missing");
	return NULL;
}

/* ---- comparing ---- */

#define DIFFER(...) \
	do { \
		if (why) \
			snprintf(why, why_len, __VA_ARGS__); \
		return false; \
	} while (0)

/* Remove the first such option from the message's OPT, in a copy; false if there is none. `number`:
 * INFO-CODE for EDE (or EDE_ANY), value length for COOKIE. */
static bool take_option(struct flat_message *m, struct arena *a, uint16_t wanted, int number)
{
	struct reader r = reader_over(m->edns.options.at, m->edns.options.len);
	uint8_t *room = arena_take(a, m->edns.options.len + 1);
	struct writer w = writer_over(room, m->edns.options.len);
	uint16_t code;
	struct slice value;
	bool found = false;

	while (reader_left(&r) && edns_next_option(&r, &code, &value)) {
		bool is_it = code == wanted;

		if (is_it && wanted == EDNS_EDE && number != EDE_ANY)
			is_it = value.len >= 2 && get_u16(value.at) == number;
		if (is_it && wanted == EDNS_COOKIE)
			is_it = (int)value.len == number;
		if (is_it && !found)
			found = true;
		else
			edns_write_option(&w, code, value.at, value.len);
	}
	m->edns.options = (struct slice){ room, writer_len(&w) };
	return found;
}

static bool slice_equals(struct slice a, struct slice b)
{
	return a.len == b.len && (a.len == 0 || memcmp(a.at, b.at, a.len) == 0);
}

static bool qname_equals_text(const uint8_t *a, const uint8_t *b)
{
	return a && b && dname_len(a) == dname_len(b) && memcmp(a, b, dname_len(a)) == 0;
}

/* Of a question of ours the case does not count: Unbound's player has the configuration's spelling,
 * and none at random (use-caps-for-id). */
static bool qname_fits(const uint8_t *name, const uint8_t *written, bool asked)
{
	return asked ? name && written && dname_equals(name, written)
		     : qname_equals_text(name, written);
}

static bool question_same(const struct flat_message *p, const struct flat_message *e)
{
	if (p->questions != e->questions)
		return false;
	return p->questions == 0 || (p->qtype == e->qtype && p->qclass == e->qclass &&
				     dname_equals(p->qname, e->qname));
}

static bool edns_same(const struct flat_message *p, const struct flat_message *e, bool with_flags)
{
	if (p->edns.present != e->edns.present)
		return false;
	return !p->edns.present ||
	       (p->edns.udp_size == e->edns.udp_size &&
		slice_equals(p->edns.options, e->edns.options) &&
		(!with_flags || (p->edns.flags == e->edns.flags &&
				 p->edns.ext_rcode == e->edns.ext_rcode &&
				 p->edns.version == e->edns.version)));
}

static bool section_fits(const struct flat_message *p, const struct flat_message *e,
			 unsigned section, bool ttl, bool ordered, char *why, size_t why_len)
{
	static const char *const names[] = { "answer", "authority", "additional" };

	if (flat_section_equals(p, e, section, ttl, ordered))
		return true;
	if (p->count[section] != e->count[section])
		DIFFER("%s has %u records, not %u", names[section], p->count[section],
		       e->count[section]);
	for (unsigned i = 0; i < e->count[section]; i++) {
		bool there = false;
		char text[160];

		for (unsigned j = 0; j < p->count[section] && !there; j++)
			there = flat_rr_equals(&p->rrs[section][j], &e->rrs[section][i], ttl);
		if (!there) {
			flat_rr_print(&e->rrs[section][i], text, sizeof(text));
			DIFFER("%s lacks %s", names[section], text);
		}
	}
	DIFFER("%s is in another order", names[section]);
}

/* Match by the words of Deckard's dialect. */
static bool deckard_fits(const struct entry *e, const struct flat_message *p,
			 const struct flat_message *m, char *why, size_t why_len)
{
	const uint16_t header = FLAG_QR | FLAG_AA | FLAG_TC | FLAG_RD | FLAG_RA | FLAG_AD | FLAG_CD;
	unsigned match = e->match;

	if (match & MATCH_ALL)
		match |= MATCH_OPCODE | MATCH_QTYPE | MATCH_QNAME | MATCH_FLAGS | MATCH_RCODE |
			 MATCH_ANSWER | MATCH_AUTHORITY | MATCH_ADDITIONAL;
	if ((match & (MATCH_QTYPE | MATCH_QUESTION)) && p->qtype != m->qtype)
		DIFFER("qtype %u, not %u", p->qtype, m->qtype);
	if (match & (MATCH_QNAME | MATCH_QUESTION)) {
		if (p->questions != m->questions || (m->questions && !dname_equals(p->qname, m->qname)))
			DIFFER("another qname");
	}
	if ((match & MATCH_QCASE) && !qname_equals_text(p->qname, m->qname))
		DIFFER("qname in another case");
	if ((match & MATCH_FLAGS) && (p->flags & header) != (m->flags & header))
		DIFFER("flags %04x, not %04x", p->flags & header, m->flags & header);
	if ((match & MATCH_RCODE) && p->rcode != m->rcode)
		DIFFER("rcode %u, not %u", p->rcode, m->rcode);
	for (unsigned s = 0; s < 3; s++) {
		static const unsigned bits[] = { MATCH_ANSWER, MATCH_AUTHORITY, MATCH_ADDITIONAL };

		if ((match & bits[s]) && !section_fits(p, m, s, false, false, why, why_len))
			return false;
	}
	if ((match & MATCH_EDNS) &&
	    (p->edns.present != m->edns.present || p->edns.version != m->edns.version ||
	     p->edns.udp_size != m->edns.udp_size))
		DIFFER("another OPT");
	if ((match & MATCH_NSID)) {
		struct slice mine, theirs;
		bool has = edns_find_option(&p->edns, EDNS_NSID, &mine);

		if (has != edns_find_option(&m->edns, EDNS_NSID, &theirs) ||
		    (has && (mine.len != theirs.len || memcmp(mine.at, theirs.at, mine.len) != 0)))
			DIFFER("another NSID");
	}
	return true;
}

/* Match by the words of Unbound's dialect. */
static bool unbound_fits(const struct entry *e, const struct flat_message *p,
			 const struct flat_message *m, const struct entry_how *how, char *why,
			 size_t why_len)
{
	unsigned match = e->match;
	bool ttl = match & MATCH_TTL;

	if ((match & MATCH_QTYPE) && p->qtype != m->qtype)
		DIFFER("qtype %u, not %u", p->qtype, m->qtype);
	if ((match & MATCH_QNAME) && !qname_fits(p->qname, m->qname, how->asked))
		DIFFER("another qname");
	if ((match & MATCH_QCASE) && !qname_equals_text(p->qname, m->qname))
		DIFFER("qname in another case");
	if ((match & MATCH_RCODE) && (p->flags & 15) != (m->flags & 15))
		DIFFER("rcode %u, not %u", p->flags & 15, m->flags & 15);
	if ((match & MATCH_QUESTION) && !question_same(p, m))
		DIFFER("another question");
	if ((match & MATCH_ANSWER) &&
	    !section_fits(p, m, SECTION_ANSWER, ttl, how->strict, why, why_len))
		return false;
	if (match & (MATCH_ALL | MATCH_ALL_NOEDNS)) {
		if (p->flags != m->flags)
			DIFFER("flags and rcode %04x, not %04x", p->flags, m->flags);
		if (!question_same(p, m))
			DIFFER("another question");
		for (unsigned s = 0; s < 3; s++)
			if (!section_fits(p, m, s, ttl, how->strict, why, why_len))
				return false;
		if ((match & MATCH_ALL) && !edns_same(p, m, ttl))
			DIFFER("OPT: %s %u bytes options %zu, not %s %u %zu",
			       p->edns.present ? "there" : "none", p->edns.udp_size,
			       p->edns.options.len, m->edns.present ? "there" : "none",
			       m->edns.udp_size, m->edns.options.len);
	}
	if ((match & MATCH_DO) && !(p->edns.flags & EDNS_DO))
		DIFFER("DO is not set");
	if ((match & MATCH_CO) && !(p->edns.flags & EDNS_CO))
		DIFFER("CO is not set");
	if ((match & MATCH_NOEDNS) && p->edns.present)
		DIFFER("there is an OPT");
	if ((match & MATCH_EDNSDATA) &&
	    !slice_equals(p->edns.options, m->edns.options))
		DIFFER("EDNS options differ");
	if (match & MATCH_SERIAL) {
		const struct flat_rr *soa = p->count[SECTION_AUTHORITY] ?
						    &p->rrs[SECTION_AUTHORITY][0] : NULL;

		if (!soa || soa->type != TYPE_SOA || soa->rdata.len < 20 ||
		    get_u32(soa->rdata.at + soa->rdata.len - 20) != e->serial)
			DIFFER("serial is not %u", e->serial);
	}
	if ((match & MATCH_UDP) && how->tcp)
		DIFFER("it came over TCP");
	if ((match & MATCH_TCP) && !how->tcp)
		DIFFER("it came over UDP");
	return true;
}

static bool flat_fits(const struct entry *e, struct slice packet, const struct entry_how *how,
		      struct arena *a, char *why, size_t why_len)
{
	struct flat_message p, m;

	if (!flat_read(packet, a, &p))
		DIFFER("the packet cannot be read");
	if (!flat_read(e->matched, a, &m))
		DIFFER("the entry's own message cannot be read");
	if (e->ede != EDE_UNCHECKED && !take_option(&p, a, EDNS_EDE, e->ede))
		DIFFER("extended error %d is not there", e->ede);
	if ((e->match & MATCH_CLIENT_COOKIE) && !take_option(&p, a, EDNS_COOKIE, 8))
		DIFFER("no client cookie");
	if ((e->match & MATCH_SERVER_COOKIE) && !take_option(&p, a, EDNS_COOKIE, 24))
		DIFFER("no server cookie");
	if ((e->match & MATCH_OPCODE) && (p.flags & 0x7800) != (m.flags & 0x7800))
		DIFFER("another opcode");
	if ((e->match & MATCH_SUBDOMAIN) && m.qname &&
	    (!p.qname || !dname_is_under(p.qname, m.qname)))
		DIFFER("qname is not below");
	if (e->deckard)
		return deckard_fits(e, &p, &m, why, why_len);
	return unbound_fits(e, &p, &m, how, why, why_len);
}

bool entry_fits(const struct entry *e, struct slice packet, const struct entry_how *how, char *why,
		size_t why_len)
{
	struct arena scratch;
	bool fits;

	arena_init(&scratch);
	fits = flat_fits(e, packet, how, &scratch, why, why_len);
	arena_clear(&scratch);
	return fits;
}

/* ---- adjusting ---- */

/* Offset just past the question of a message; 0 if there is no readable one. */
static size_t question_end(struct slice wire, size_t *name_len)
{
	struct reader r = reader_over(wire.at, wire.len);
	uint8_t name[DNAME_MAX];

	if (wire.len < MSG_HEAD_LEN || get_u16(wire.at + 4) != 1)
		return 0;
	r.at += MSG_HEAD_LEN;
	*name_len = msg_read_name(&r, name);
	if (*name_len == 0 || !read_bytes(&r, 4) || reader_offset(&r) != MSG_HEAD_LEN + *name_len + 4)
		return 0;
	return reader_offset(&r);
}

/* The entry's message with its question replaced by the query's. */
static struct slice with_query(struct slice wire, struct slice query, struct arena *a)
{
	size_t name_len, mine = question_end(wire, &name_len), theirs = question_end(query, &name_len);
	struct writer w;

	if (theirs == 0 || wire.len < MSG_HEAD_LEN)
		return wire;
	if (mine == 0)
		mine = MSG_HEAD_LEN;
	w = writer_over(arena_take(a, wire.len + theirs), wire.len + theirs);
	write_bytes(&w, wire.at, MSG_HEAD_LEN);
	put_u16(w.start + 4, 1);
	write_bytes(&w, query.at + MSG_HEAD_LEN, theirs - MSG_HEAD_LEN);
	write_bytes(&w, wire.at + mine, wire.len - mine);
	return (struct slice){ w.start, writer_len(&w) };
}

/* Drop the answer's OPT if the query has none; otherwise give it the query's version and flags. */
static struct slice with_query_edns(struct slice wire, struct slice query, struct arena *a)
{
	struct flat_message q, m;
	struct writer w;
	size_t opt_len;

	if (!flat_read(query, a, &q) || !flat_read(wire, a, &m) || !m.edns.present)
		return wire;
	opt_len = OPT_FIXED_LEN + m.edns.options.len;
	w = writer_over(arena_take(a, wire.len), wire.len);
	write_bytes(&w, wire.at, wire.len - opt_len);
	if (q.edns.present) {
		m.edns.version = q.edns.version;
		m.edns.flags = q.edns.flags;
		edns_write(&w, &m.edns);
	} else {
		put_u16(w.start + 10, (uint16_t)(get_u16(w.start + 10) - 1));
	}
	return (struct slice){ w.start, writer_len(&w) };
}

/* Replace the options by the query's client subnet (RFC 7871), SCOPE PREFIX-LENGTH set to its
 * SOURCE PREFIX-LENGTH (or one more). */
static struct slice with_query_ecs(struct slice wire, struct slice query, bool more, struct arena *a)
{
	struct flat_message q, m;
	struct slice ecs;
	uint8_t *copy, *options;
	struct writer w, ow;
	size_t old_opt;

	if (!flat_read(query, a, &q) || !flat_read(wire, a, &m) ||
	    !edns_find_option(&q.edns, EDNS_CLIENT_SUBNET, &ecs) || ecs.len < 4)
		return wire;
	copy = arena_copy(a, ecs.at, ecs.len);
	copy[3] = (uint8_t)(copy[2] + more);
	options = arena_take(a, ecs.len + 4);
	ow = writer_over(options, ecs.len + 4);
	edns_write_option(&ow, EDNS_CLIENT_SUBNET, copy, ecs.len);
	old_opt = m.edns.present ? OPT_FIXED_LEN + m.edns.options.len : 0;
	w = writer_over(arena_take(a, wire.len + ecs.len + 32), wire.len + ecs.len + 32);
	write_bytes(&w, wire.at, wire.len - old_opt);
	if (!m.edns.present) {
		m.edns = (struct edns){ .present = true, .udp_size = OPT_SIZE_UNBOUND };
		put_u16(w.start + 10, (uint16_t)(get_u16(w.start + 10) + 1));
	}
	m.edns.options = (struct slice){ options, writer_len(&ow) };
	edns_write(&w, &m.edns);
	return (struct slice){ w.start, writer_len(&w) };
}

struct slice entry_answer(const struct entry *e, const struct entry_packet *p, struct slice query,
			  struct arena *a)
{
	struct slice wire = p->wire;
	size_t name_len, end;
	uint8_t *copy;

	if (!p->hex && (e->adjust & ADJUST_QUERY))
		wire = with_query(wire, query, a);
	if (!p->hex && e->deckard)
		wire = with_query_edns(wire, query, a);
	if (!p->hex && (e->adjust & ADJUST_ECS))
		wire = with_query_ecs(wire, query, e->adjust & ADJUST_ECS_SCOPE, a);
	copy = arena_copy(a, wire.at, wire.len);
	if (wire.len >= 2 && query.len >= 2 &&
	    (!p->hex || (e->adjust & (ADJUST_ID | ADJUST_RAW_ID))))
		memcpy(copy, query.at, 2);

	/* A name that differs from the query's in case only comes back as the query spelled it; not in bytes
	 * that are sent as they are (raw_id). */
	end = question_end((struct slice){ copy, wire.len }, &name_len);
	if ((!p->hex || (e->adjust & ADJUST_ID && !e->deckard)) && end &&
	    end == question_end(query, &name_len) &&
	    dname_equals(copy + MSG_HEAD_LEN, query.at + MSG_HEAD_LEN))
		memcpy(copy + MSG_HEAD_LEN, query.at + MSG_HEAD_LEN, name_len);
	return (struct slice){ copy, wire.len };
}
