/* Entries of a scenario: reading them.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "daemon/replay/entry.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/replay/loose.h"
#include "util/base/arena.h"
#include "util/base/fault.h"
#include "util/dns/msg.h"
#include "util/dns/rr.h"

enum { PACKET_ROOM = 65535 + 512 };

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

/* Cut the next word off `*at`: to a blank or a comment, which needs none before it. NULL at the end. */
static char *take_word(char **at)
{
	char *word = *at + strspn(*at, " \t"), *end = word, after;

	if (!*word || *word == ';' || *word == '#')
		return NULL;
	while (*end && !strchr(" \t;", *end))
		end += *end == '\\' && end[1] ? 2 : 1;
	after = *end;
	*end = '\0';
	*at = after && after != ';' ? end + 1 : end;
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

	if (word && word[strspn(word, "0123456789")] == '\0')
		word = take_word(&text); /* a TTL, which a question does not have */
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

/* A number that is all of the text, and at most `most`. */
static bool read_number(const char *text, unsigned long most, unsigned long *to)
{
	char *end;

	errno = 0;
	*to = strtoul(text, &end, 10);
	return isdigit((unsigned char)*text) && !*end && !errno && *to <= most;
}

/* Words with a value. */
static bool read_match_value(struct entry *e, const char *word)
{
	unsigned long number;

	if (strncmp(word, "serial=", 7) == 0 || strncmp(word, "serial:", 7) == 0) {
		e->match |= MATCH_SERIAL;
		if (!read_number(word + 7, UINT32_MAX, &number))
			return false;
		e->serial = (uint32_t)number;
		return true;
	}
	if (strncmp(word, "ede=", 4) != 0)
		return false;
	if (strcmp(word + 4, "any") == 0) {
		e->ede = EDE_ANY;
		return true;
	}
	if (!read_number(word + 4, UINT16_MAX, &number))
		return false;
	e->ede = (int)number;
	return true;
}

/* A word that a dialect does not have is an error there: it would be ignored. */
static bool read_match_word(struct entry *e, const char *word)
{
	enum { OURS = 1, DECKARDS = 2, BOTH = OURS | DECKARDS };
	static const struct { const char *word; unsigned bit, whose; } words[] = {
		{ "opcode", MATCH_OPCODE, BOTH }, { "qtype", MATCH_QTYPE, BOTH },
		{ "qname", MATCH_QNAME, BOTH }, { "rcode", MATCH_RCODE, BOTH },
		{ "question", MATCH_QUESTION, BOTH }, { "answer", MATCH_ANSWER, BOTH },
		{ "all", MATCH_ALL, BOTH }, { "all_noedns", MATCH_ALL_NOEDNS, OURS },
		{ "ttl", MATCH_TTL, OURS }, { "DO", MATCH_DO, BOTH }, { "CO", MATCH_CO, BOTH },
		{ "noedns", MATCH_NOEDNS, BOTH }, { "ednsdata", MATCH_EDNSDATA, BOTH },
		{ "subdomain", MATCH_SUBDOMAIN, BOTH }, { "UDP", MATCH_UDP, BOTH },
		{ "TCP", MATCH_TCP, BOTH }, { "client_cookie", MATCH_CLIENT_COOKIE, BOTH },
		{ "server_cookie", MATCH_SERVER_COOKIE, BOTH }, { "qcase", MATCH_QCASE, BOTH },
		{ "flags", MATCH_FLAGS, BOTH }, { "authority", MATCH_AUTHORITY, BOTH },
		{ "additional", MATCH_ADDITIONAL, BOTH }, { "edns", MATCH_EDNS, BOTH },
		{ "nsid", MATCH_NSID, BOTH },
	};

	for (size_t i = 0; i < COUNT(words); i++)
		if (strcmp(word, words[i].word) == 0) {
			e->match |= words[i].bit;
			return words[i].whose & (e->deckard ? DECKARDS : OURS);
		}
	return read_match_value(e, word);
}

static bool read_adjust_word(struct entry *e, const char *word)
{
	static const struct { const char *word; unsigned bits; } words[] = {
		{ "copy_id", ADJUST_ID }, { "copy_query", ADJUST_QUERY },
		{ "copy_ednsdata_assume_clientsubnet", ADJUST_ECS },
		{ "increment_ecs_scope", ADJUST_ECS_SCOPE }, { "raw_id", ADJUST_RAW_ID },
		{ "do_not_answer", ADJUST_SILENT },
	};
	unsigned long number;

	for (size_t i = 0; i < COUNT(words); i++)
		if (strcmp(word, words[i].word) == 0) {
			e->adjust |= words[i].bits;
			return true;
		}
	/* there is no time in which to sleep */
	return (strncmp(word, "sleep=", 6) == 0 && read_number(word + 6, UINT32_MAX, &number)) ||
	       (strncmp(word, "packet_sleep=", 13) == 0 &&
		read_number(word + 13, UINT32_MAX, &number));
}

bool entry_directive(char *text, struct text_zone *zone)
{
	char *rest;

	if ((rest = word_after(text, "$ORIGIN"))) {
		char *word = take_word(&rest);

		return word && dname_parse(zone->origin, word, NULL) > 0;
	}
	if ((rest = word_after(text, "$TTL"))) {
		return (rest = take_word(&rest)) && text_ttl_parse(rest, &zone->ttl_s);
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
	if (rd->entry->deckard && word_after(text, "MANDATORY")) {
		rd->entry->mandatory = true;
		return true;
	}
	if (word_after(text, "MANDATORY") || word_after(text, "TSIG")) {
		fault_set(rd->fault, "the player cannot do this: %s", text);
		return false;
	}
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
