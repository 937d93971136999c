/* Parsing lists of names to block: lines, and the formats of one line.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "services/blocklist/read.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "services/blocklist/private.h"
#include "util/base/fault.h"
#include "util/base/mem.h"
#include "util/net/addr.h"

const char *const blocklist_skip_what[BLOCKLIST_SKIP_KINDS] = {
#define X(id, what) what,
	BLOCKLIST_SKIPS(X)
#undef X
};

/* ---- names and wildcards ---- */

/* "name", "*.name", ".name", "+.name" */
static enum blocklist_skip put_plain(struct blocklist_reader *r, struct word w)
{
	unsigned front = 0;

	if (w.len > 2 && (w.at[0] == '*' || w.at[0] == '+') && w.at[1] == '.')
		front = 2;
	else if (w.len > 1 && w.at[0] == '.')
		front = 1;
	if (w.len == 1 && *w.at == '*')
		return BLOCKLIST_SKIP_top;
	return blocklist_put(r, (struct word){ w.at + front, w.len - front },
			     front ? BLOCKLIST_BLOCK : BLOCKLIST_BLOCK_SELF);
}

static void read_plain(struct blocklist_reader *r, const char *line)
{
	struct word w;
	const char *at = line;

	(void)word_take(&at, &w, "");
	while (blocklist_is_blank(*at))
		at++;
	if (*at && *at != '#' && *at != ';' && *at != '!' && !(at[0] == '/' && at[1] == '/'))
		blocklist_skip(r, BLOCKLIST_SKIP_unknown);
	else
		blocklist_skip(r, put_plain(r, w));
}

/* ---- hosts ---- */

static bool is_own_name(struct word w)
{
	static const char *const names[] = {
		"localhost",     "localhost.localdomain", "local",         "broadcasthost",
		"ip6-localhost", "ip6-loopback",          "ip6-localnet",  "ip6-mcastprefix",
		"ip6-allnodes",  "ip6-allrouters",        "ip6-allhosts",  "localdomain",
	};

	for (size_t i = 0; i < COUNT(names); i++)
		if (word_is(w, names[i]))
			return true;
	return false;
}

/* Addresses in every system's hosts file: multicast, broadcast, link-local. */
static bool is_system_address(const struct addr *a)
{
	if (a->family == 4)
		return a->ip[0] >= 224;
	return a->ip[0] == 0xff || (a->ip[0] == 0xfe && (a->ip[1] & 0x80) == 0x80) ||
	       (a->ip[0] == 0xfe && a->ip[1] == 0);
}

static void read_hosts(struct blocklist_reader *r, struct word first, const char *rest)
{
	struct addr a;
	struct word w;
	bool null;

	if (!word_read_address(first, &a)) {
		blocklist_skip(r, BLOCKLIST_SKIP_unknown);
		return;
	}
	null = blocklist_is_null(&a);
	if (!word_take(&rest, &w, "#")) {
		blocklist_skip(r, BLOCKLIST_SKIP_address);
		return;
	}
	do {
		if (is_own_name(w) || is_system_address(&a))
			continue;
		blocklist_skip(r, null ? put_plain(r, w) : BLOCKLIST_SKIP_rewrite);
	} while (word_take(&rest, &w, "#"));
}

/* Whether the first word can only be an address: a quick test for read_line. */
static bool looks_like_address(struct word w)
{
	bool digits = true;

	for (size_t i = 0; i < w.len; i++) {
		if (w.at[i] == ':' && w.at[0] != 'h')
			return word_is_address(w);
		digits &= (w.at[i] >= '0' && w.at[i] <= '9') || w.at[i] == '.';
	}
	return digits && word_is_address(w);
}

/* ---- dnsmasq: key=/name/name/value ---- */

/* One of the names: "name", ".name" and "*.name", the latter without the name itself. */
static enum blocklist_skip dnsmasq_name(struct word w, uint8_t *name, uint8_t *bits)
{
	while (w.len && *w.at == '.')
		w.at++, w.len--;
	if (w.len == 0 || word_is(w, "#")) /* names of one label; all names */
		return BLOCKLIST_SKIP_top;
	if (w.len > 2 && w.at[0] == '*' && w.at[1] == '.') {
		w.at += 2, w.len -= 2;
		*bits &= BLOCKLIST_BLOCK_BELOW | BLOCKLIST_ALLOW_BELOW;
	}
	return blocklist_skip_of(blocklist_name_read(w.at, w.len, name));
}

/* The bits that `value`, after the last slash, gives the names; 0: a rewrite. */
static uint8_t dnsmasq_bits(bool is_address, struct word value)
{
	if (value.len == 0)
		return BLOCKLIST_BLOCK;
	if (!is_address) /* "#" or the address of a server: these names are asked for */
		return BLOCKLIST_PASS;
	return word_is(value, "#") || word_is_null_address(value) ? BLOCKLIST_BLOCK : 0;
}

static enum blocklist_skip put_dnsmasq(struct blocklist_reader *r, const uint8_t *name, uint8_t bits, bool data)
{
	struct blocklist_rule rule = { .name = name,
				       .bits = bits,
				       .form = data ? (uint8_t)(BLOCKLIST_FORM_DATA + bits) : 0 };

	return blocklist_put_rule(r, &rule);
}

/* The whole line is wrong when one of its names cannot be one. */
static bool are_names(const char *at, const char *last)
{
	for (at++; at <= last;) {
		const char *end = strchr(at, '/');
		uint8_t name[DNAME_MAX], bits = BLOCKLIST_PASS;
		enum blocklist_skip why = dnsmasq_name((struct word){ at, (size_t)(end - at) }, name, &bits);

		if (why == BLOCKLIST_SKIP_name || why == BLOCKLIST_SKIP_url)
			return false;
		at = end + 1;
	}
	return true;
}

static void read_dnsmasq(struct blocklist_reader *r, bool is_address, const char *at)
{
	const char *last = strrchr(at, '/');
	struct word value = { last + 1, strlen(last + 1) };
	uint8_t said = dnsmasq_bits(is_address, value);

	if (last == at || !are_names(at, last)) {
		blocklist_skip(r, BLOCKLIST_SKIP_unknown);
		return;
	}
	for (at++; at <= last;) {
		const char *end = strchr(at, '/');
		uint8_t name[DNAME_MAX], bits = said;
		enum blocklist_skip why = dnsmasq_name((struct word){ at, (size_t)(end - at) }, name, &bits);

		if (why == BLOCKLIST_SKIP_top && end - at > 1 && *at != '#')
			why = BLOCKLIST_READ; /* one label: blocklist_put_name knows */
		if (why == BLOCKLIST_READ)
			why = bits ? put_dnsmasq(r, name, bits, is_address && value.len) : BLOCKLIST_SKIP_rewrite;
		blocklist_skip(r, why);
		at = end + 1;
	}
}

/* Cut off a comment: "#" at the beginning of a word, outside quotes; and take out the quotes. False:
 * one is not closed. */
static bool cut_comment(char *line)
{
	char *to = line;
	bool quoted = false;

	for (const char *at = line; *at; at++) {
		if (*at == '"') {
			quoted = !quoted;
			continue;
		}
		if (!quoted && *at == '#' && to > line && blocklist_is_blank(to[-1]))
			break;
		*to++ = *at;
	}
	while (to > line && blocklist_is_blank(to[-1]))
		to--;
	*to = '\0';
	return !quoted;
}

/* "key=…": true when the line was of this form; it is then handled. */
static bool is_dnsmasq(struct blocklist_reader *r, char *line)
{
	size_t key = strspn(line, "abcdefghijklmnopqrstuvwxyz-");
	size_t equals = key + strspn(line + key, " \t");
	char *value = line + equals + 1;

	if (key < 2 || line[equals] != '=')
		return false;
	if (!cut_comment(value)) {
		blocklist_skip(r, BLOCKLIST_SKIP_unknown);
		return true;
	}
	while (blocklist_is_blank(*value))
		value++;
	if (*value == '/' && ((key == 7 && memcmp(line, "address", 7) == 0) ||
			      (key == 6 && memcmp(line, "server", 6) == 0) ||
			      (key == 5 && memcmp(line, "local", 5) == 0)))
		read_dnsmasq(r, key == 7, value);
	else
		blocklist_skip(r, BLOCKLIST_SKIP_foreign);
	return true;
}

/* ---- Unbound: key: "value" ---- */

static bool take_value(const char **at, struct word *w)
{
	while (blocklist_is_blank(**at))
		(*at)++;
	if (**at == '"' || **at == '\'') {
		char quote[2] = { **at, '\0' };

		w->at = ++*at;
		w->len = strcspn(*at, quote);
		*at += w->len + ((*at)[w->len] != '\0');
		return true;
	}
	return word_take(at, w, "#");
}

static enum blocklist_skip read_local_zone(struct blocklist_reader *r, const char *at)
{
	static const struct {
		const char *type;
		uint8_t bits;
	} types[] = {
		{ "always_nxdomain", BLOCKLIST_BLOCK },   { "always_null", BLOCKLIST_BLOCK },
		{ "static", BLOCKLIST_BLOCK },            { "refuse", BLOCKLIST_BLOCK },
		{ "deny", BLOCKLIST_BLOCK },              { "redirect", BLOCKLIST_BLOCK },
		{ "always_nodata", BLOCKLIST_BLOCK },     { "always_deny", BLOCKLIST_BLOCK },
		{ "always_refuse", BLOCKLIST_BLOCK },     { "inform_deny", BLOCKLIST_BLOCK },
		{ "always_transparent", BLOCKLIST_PASS }, { "transparent", BLOCKLIST_PASS },
		{ "typetransparent", BLOCKLIST_PASS },    { "inform", BLOCKLIST_PASS },
		{ "inform_redirect", 0 },            { "nodefault", 0 },
		{ "block_a", 0 },                    { "noview", 0 },
	};
	struct word name, type;

	if (!take_value(&at, &name) || !take_value(&at, &type))
		return BLOCKLIST_SKIP_unknown;
	for (size_t i = 0; i < COUNT(types); i++)
		if (word_is(type, types[i].type))
			return types[i].bits ? blocklist_put(r, name, types[i].bits)
					     : BLOCKLIST_SKIP_rewrite;
	return BLOCKLIST_SKIP_unknown;
}

/* "name [ttl] [IN] A 0.0.0.0" */
static enum blocklist_skip read_local_data(struct blocklist_reader *r, const char *at)
{
	char record[1024];
	struct word value, name, w;
	bool is_address = false;

	if (!take_value(&at, &value) || value.len >= sizeof(record))
		return BLOCKLIST_SKIP_unknown;
	memcpy(record, value.at, value.len);
	record[value.len] = '\0';
	at = record;
	if (!word_take(&at, &name, ""))
		return BLOCKLIST_SKIP_unknown;
	while (word_take(&at, &w, "")) {
		if (is_address)
			return word_is_null_address(w)
				       ? blocklist_put_form(r, name, BLOCKLIST_BLOCK_SELF,
						      BLOCKLIST_FORM_DATA + BLOCKLIST_BLOCK_SELF)
				       : BLOCKLIST_SKIP_rewrite;
		is_address = word_is(w, "A") || word_is(w, "AAAA");
	}
	return BLOCKLIST_SKIP_rewrite;
}

/* "key: …": true when the line was of this form; it is then handled. */
static bool is_unbound(struct blocklist_reader *r, const char *line)
{
	size_t key = strcspn(line, ": \t");
	const char *value = line + key + 1;

	if (key == 0 || line[key] != ':' ||
	    (*value && !blocklist_is_blank(*value) && *value != '"'))
		return false;
	if (key == 10 && strncmp(line, "local-zone", key) == 0)
		blocklist_skip(r, read_local_zone(r, value));
	else if (key == 10 && strncmp(line, "local-data", key) == 0)
		blocklist_skip(r, read_local_data(r, value));
	else if (!(key == 6 && strncmp(line, "server", key) == 0))
		blocklist_skip(r, BLOCKLIST_SKIP_foreign);
	return true;
}

/* ---- one line ---- */

/* Whether the first word has the mark of a cosmetic rule, for parts of a web page. */
static bool is_cosmetic(struct word first)
{
	for (size_t i = 0; i + 1 < first.len; i++) {
		const char *at = first.at + i;
		size_t left = first.len - i;

		if ((at[0] == '$' && at[1] == '$') || (at[0] == '%' && at[1] == '%'))
			return true;
		if (at[0] != '#')
			continue;
		if (at[1] == '#' && left > 2 && at[2] != '#')
			return true;
		if (left > 2 && at[2] == '#' && strchr("@?$%", at[1]))
			return true;
	}
	return false;
}

static bool is_comment(struct word first)
{
	switch (*first.at) {
	case '!':
	case ';':
	case '[':
		return true;
	case '#':
		return !is_cosmetic(first);
	case '/':
		return first.len > 1 && first.at[1] == '/';
	default:
		return false;
	}
}

static bool is_adblock(struct word first)
{
	return first.at[0] == '|' || (first.at[0] == '@' && first.at[1] == '@') ||
	       first.at[0] == '/' || memchr(first.at, '^', first.len) ||
	       memchr(first.at, '$', first.len);
}

static void read_line(struct blocklist_reader *r, char *line, size_t len)
{
	bool indented = blocklist_is_blank(*line);
	const char *rest;
	struct word first;

	while (len && (blocklist_is_blank(line[len - 1]) || line[len - 1] == '\r'))
		len--;
	line[len] = '\0';
	while (blocklist_is_blank(*line))
		line++, len--;
	if (len == 0)
		return;
	if (UNLIKELY(r->zone || *line == '$') && blocklist_is_zone(r, line)) {
		blocklist_read_zone(r, line, indented);
		return;
	}
	rest = line;
	(void)word_take(&rest, &first, "");
	if (is_comment(first))
		return;
	if (looks_like_address(first))
		read_hosts(r, first, rest);
	else if (is_cosmetic(first))
		blocklist_skip(r, BLOCKLIST_SKIP_cosmetic);
	else if (UNLIKELY(!*rest && memchr(first.at, ',', first.len)) &&
		 blocklist_read_row(r, line))
		return;
	else if (is_adblock(first))
		blocklist_read_adblock(r, (struct word){ line, len });
	else if (is_dnsmasq(r, line) || is_unbound(r, line))
		return;
	else if (*rest && blocklist_is_zone(r, line))
		blocklist_read_zone(r, line, indented);
	else
		read_plain(r, line);
}

/* The kinds of bytes in a line, ORed together. */
enum {
	LETTER_NAME = 0, /* in names, dots included */
	LETTER_BLANK = 1,
	LETTER_BAR = 2,
	LETTER_CARET = 4,
	LETTER_OTHER = 8,
	LETTER_NONE = 16, /* not in text */
};

/* The commonest forms, recognized by kinds of bytes alone: "name", "||name^", "0.0.0.0 name". */
static bool is_usual(struct blocklist_reader *r)
{
	static const char null[] = "0.0.0.0 ", loop[] = "127.0.0.1 ";
	struct word w = { r->line, r->len };
	bool tree = false;

	if (r->zone || r->len == 0)
		return false;
	switch (r->letters) {
	case LETTER_NAME:
		if (*w.at == '.')
			return false;
		break;
	case LETTER_BAR | LETTER_CARET:
		if (w.len < 4 || memcmp(w.at, "||", 2) != 0 || w.at[2] == '.' || w.at[w.len - 1] != '^')
			return false;
		w = (struct word){ w.at + 2, w.len - 3 };
		if (memchr(w.at, '|', w.len) || memchr(w.at, '^', w.len))
			return false;
		tree = true;
		break;
	case LETTER_BLANK:
		if (memcmp(w.at, null, sizeof(null) - 1) == 0)
			w.at += sizeof(null) - 1;
		else if (memcmp(w.at, loop, sizeof(loop) - 1) == 0)
			w.at += sizeof(loop) - 1;
		else
			return false;
		w.len -= (size_t)(w.at - r->line);
		if (memchr(w.at, ' ', w.len) || memchr(w.at, '\t', w.len) || is_own_name(w))
			return false;
		break;
	default:
		return false;
	}
	blocklist_skip(r, tree ? blocklist_put_form(r, w, BLOCKLIST_BLOCK, BLOCKLIST_FORM_TREE)
			       : blocklist_put(r, w, BLOCKLIST_BLOCK_SELF));
	return true;
}

static void end_line(struct blocklist_reader *r)
{
	r->counts.lines++;
	r->line[r->len] = '\0';
	if (r->too_long) {
		blocklist_skip(r, BLOCKLIST_SKIP_unknown);
	} else if (!is_usual(r)) {
		size_t mark = r->counts.lines == 1 && memcmp(r->line, "\xef\xbb\xbf", 3) == 0 ? 3
											     : 0;
		read_line(r, r->line + mark, r->len - MIN(mark, r->len));
	}
	r->len = 0;
	r->letters = 0;
	r->too_long = false;
}

/* ---- the reader ---- */

struct blocklist_reader *blocklist_reader_new(const struct blocklist_how *how)
{
	struct blocklist_reader *r = mem_zero(sizeof(*r));

	r->how = *how;
	return r;
}

void blocklist_reader_free(struct blocklist_reader *r)
{
	if (r)
		blocklist_json_free(r->json);
	mem_free(r);
}

/* Why it is no list but a page of HTML, XML or JSON; else NULL. */
static const char *what_begins_so(const struct blocklist_reader *r)
{
	const char *at = r->line;

	if (memcmp(at, "\xef\xbb\xbf", 3) == 0)
		at += 3;
	at += strspn(at, " \t");
	if (*at == '<')
		return "it is a web page, not a list";
	if (*at == '{')
		return "it is JSON, not a list";
	return NULL;
}

static const uint8_t letter_kinds[256] = {
#define N LETTER_NONE
#define O LETTER_OTHER
#define S LETTER_BLANK
	/* 00 */ N, N, N, N, N, N, N, N, N, S, O, O, O, O, N, N,
	/* 10 */ N, N, N, N, N, N, N, N, N, N, N, N, N, N, N, N,
	/* 20 */ S, O, O, O, O, O, O, O, O, O, O, O, O, 0, 0, O,
	/* 30 */ 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, O, O, O, O, O, O,
	/* 40 */ O, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,
	/* 50 */ 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, O, O, O, LETTER_CARET, 0,
	/* 60 */ O, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,
	/* 70 */ 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, O, LETTER_BAR, O, O, O,
	/* 80 */ O, O, O, O, O, O, O, O, O, O, O, O, O, O, O, O,
	/* 90 */ O, O, O, O, O, O, O, O, O, O, O, O, O, O, O, O,
	/* a0 */ O, O, O, O, O, O, O, O, O, O, O, O, O, O, O, O,
	/* b0 */ O, O, O, O, O, O, O, O, O, O, O, O, O, O, O, O,
	/* c0 */ O, O, O, O, O, O, O, O, O, O, O, O, O, O, O, O,
	/* d0 */ O, O, O, O, O, O, O, O, O, O, O, O, O, O, O, O,
	/* e0 */ O, O, O, O, O, O, O, O, O, O, O, O, O, O, O, O,
	/* f0 */ O, O, O, O, O, O, O, O, O, O, O, O, O, O, O, O,
#undef N
#undef O
#undef S
};

static bool is_text(struct blocklist_reader *r, const char *bytes, size_t len, struct fault *f)
{
	unsigned letters = 0;

	for (size_t i = 0; i < len; i++)
		letters |= letter_kinds[(uint8_t)bytes[i]];
	r->letters |= letters;
	if (LIKELY(!(letters & LETTER_NONE)))
		return true;
	fault_set(f, "it is no text: there is a byte of none in line %" PRIu64, r->counts.lines + 1);
	return false;
}

static void put_bytes(struct blocklist_reader *r, const char *bytes, size_t len)
{
	size_t room = BLOCKLIST_LINE - r->len;

	if (len > room)
		r->too_long = true;
	memcpy(r->line + r->len, bytes, MIN(len, room));
	r->len += MIN(len, room);
}

bool blocklist_reader_take(struct blocklist_reader *r, const char *bytes, size_t len,
			   struct fault *f)
{
	if (UNLIKELY(!r->begun) && len) {
		r->begun = true;
		if (*bytes == '{')
			blocklist_json_begin(r);
	}
	if (r->json)
		return blocklist_json_take(r, bytes, len, f);
	while (len) {
		const char *end = memchr(bytes, '\n', len);
		size_t part = end ? (size_t)(end - bytes) : len;

		if (!is_text(r, bytes, part, f))
			return false;
		put_bytes(r, bytes, part);
		if (!end)
			return true;
		end_line(r);
		if (UNLIKELY(!r->seen) && *r->line) {
			const char *what = what_begins_so(r);

			if (what) {
				fault_set(f, "%s", what);
				return false;
			}
			r->seen = true;
		}
		bytes += part + 1;
		len -= part + 1;
	}
	return true;
}

bool blocklist_reader_end(struct blocklist_reader *r, struct fault *f)
{
	const struct blocklist_counts *c = &r->counts;
	uint64_t bad;

	if (r->json ? !blocklist_json_end(r, f) : r->len && !blocklist_reader_take(r, "\n", 1, f))
		return false;
	bad = c->skipped[BLOCKLIST_SKIP_name] + c->skipped[BLOCKLIST_SKIP_unknown];
	if (c->lines == 0) {
		fault_set(f, "it is empty");
		return false;
	}
	if (bad > c->rules && (bad > 20 || c->rules == 0)) {
		fault_set(f, "%" PRIu64 " of its %" PRIu64 " lines are no rules; the first is line "
			  "%u: %s",
			  bad, c->lines, c->first_bad, c->first_bad_text);
		return false;
	}
	return true;
}

const struct blocklist_counts *blocklist_reader_counts(const struct blocklist_reader *r)
{
	return &r->counts;
}

unsigned blocklist_reader_line(const struct blocklist_reader *r)
{
	return (unsigned)r->counts.lines;
}

const char *blocklist_reader_text(const struct blocklist_reader *r)
{
	return r->line;
}
