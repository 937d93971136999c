/* What restricts a rule to some questions, and what it answers.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "services/blocklist/special.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "services/blocklist/name.h"
#include "util/base/arena.h"
#include "util/base/fault.h"
#include "util/base/mem.h"
#include "util/dns/msg.h"
#include "util/dns/rr.h"
#include "util/dns/text.h"

enum { VALUE_MOST = 4096 }; /* as a line of a list */

struct part {
	const char *at;
	size_t len;
};

/* The part up to `end`; false when nothing is left. */
static bool take(const char **at, char end, struct part *p)
{
	const char *stop;

	if (!**at)
		return false;
	p->at = *at;
	stop = strchr(*at, end);
	p->len = stop ? (size_t)(stop - *at) : strlen(*at);
	*at += p->len + (stop != NULL);
	return true;
}

static bool is(struct part p, const char *text)
{
	return p.len == strlen(text) && strncasecmp(p.at, text, p.len) == 0;
}

static bool copy(struct part p, char *to, size_t room)
{
	if (p.len >= room)
		return false;
	memcpy(to, p.at, p.len);
	to[p.len] = '\0';
	return p.len > 0;
}

static bool read_type(struct part p, uint16_t *type)
{
	char word[32];

	return copy(p, word, sizeof(word)) && rr_type_parse(word, type);
}

/* ---- dnstype, client, denyallow ---- */

/* "A|~AAAA": those in front of which there is no "~" first. */
static bool read_types(struct blocklist_special *s, const char *value)
{
	for (int others = 0; others < 2; others++) {
		const char *at = value;
		struct part p;

		while (take(&at, '|', &p)) {
			bool other = *p.at == '~';

			if (other != others)
				continue;
			p.at += other;
			p.len -= other;
			s->types = mem_grow(s->types, (s->type_count + s->type_others + 1u) *
							      sizeof(*s->types));
			if (!read_type(p, &s->types[s->type_count + s->type_others]))
				return false;
			*(other ? &s->type_others : &s->type_count) += 1;
		}
	}
	return s->type_count || s->type_others;
}

static struct part unquoted(struct part p)
{
	if (p.len >= 2 && (*p.at == '\'' || *p.at == '"') && p.at[p.len - 1] == *p.at)
		return (struct part){ p.at + 1, p.len - 2 };
	return p;
}

/* Addresses and netblocks; client names are not supported. */
static bool read_clients(struct blocklist_special *s, const char *value)
{
	for (int others = 0; others < 2; others++) {
		const char *at = value;
		char word[ADDR_TEXT];
		struct part p;

		while (take(&at, '|', &p)) {
			bool other = *p.at == '~';
			struct netblock *n;

			if (other != others)
				continue;
			s->clients = mem_grow(s->clients, (s->client_count + s->client_others + 1u) *
								  sizeof(*s->clients));
			n = &s->clients[s->client_count + s->client_others];
			p = unquoted((struct part){ p.at + other, p.len - other });
			if (!copy(p, word, sizeof(word)) || !netblock_parse(n, word, NULL))
				return false;
			*(other ? &s->client_others : &s->client_count) += 1;
		}
	}
	return s->client_count || s->client_others;
}

static int by_name(const void *a, const void *b)
{
	return dname_compare(*(const uint8_t *const *)a, *(const uint8_t *const *)b);
}

static bool read_exempt(struct blocklist_special *s, const char *value)
{
	struct part p;

	while (take(&value, '|', &p)) {
		uint8_t name[DNAME_MAX];
		enum blocklist_name n = blocklist_name_read(p.at, p.len, name);

		if (n != BLOCKLIST_NAME && n != BLOCKLIST_NAME_TOP)
			return false;
		s->exempt = mem_grow(s->exempt, (s->exempt_count + 1u) * sizeof(*s->exempt));
		s->exempt[s->exempt_count++] = mem_copy(name, dname_len(name));
	}
	if (s->exempt_count)
		qsort(s->exempt, s->exempt_count, sizeof(*s->exempt), by_name);
	return s->exempt_count > 0;
}

/* ---- dnsrewrite ---- */

static bool read_rcode(struct part p, uint8_t *rcode)
{
	static const char *const words[] = { "NOERROR",  "FORMERR", "SERVFAIL", "NXDOMAIN",
					     "NOTIMP",   "REFUSED", "YXDOMAIN", "YXRRSET",
					     "NXRRSET",  "NOTAUTH", "NOTZONE" };

	for (size_t i = 0; i < COUNT(words); i++) {
		if (is(p, words[i])) {
			*rcode = (uint8_t)i;
			return true;
		}
	}
	return false;
}

static bool set_rewrite(struct blocklist_special *s, uint8_t rcode, uint16_t type,
			struct slice data)
{
	mem_free(s->rewrite);
	s->rewrite = mem_zero(sizeof(*s->rewrite) + data.len);
	s->rewrite->rcode = rcode;
	s->rewrite->type = type;
	s->rewrite->len = (uint16_t)data.len;
	if (data.len)
		memcpy(s->rewrite->data, data.at, data.len);
	return true;
}

static bool set_address(struct blocklist_special *s, const char *value, uint16_t type)
{
	struct addr a;

	return addr_parse(&a, value, 0, NULL) && !strchr(value, '@') &&
	       type == (a.family == 4 ? TYPE_A : TYPE_AAAA) &&
	       set_rewrite(s, RCODE_NOERROR, type,
			   (struct slice){ .at = a.ip, .len = a.family == 4 ? 4 : 16 });
}

static bool set_alias(struct blocklist_special *s, const char *value)
{
	uint8_t name[DNAME_MAX];

	return blocklist_name_read(value, strlen(value), name) == BLOCKLIST_NAME &&
	       set_rewrite(s, RCODE_NOERROR, TYPE_CNAME,
			   (struct slice){ .at = name, .len = dname_len(name) });
}

/* The text as it is, in strings of at most 255 bytes. */
static bool set_text(struct blocklist_special *s, const char *value)
{
	uint8_t data[VALUE_MOST + VALUE_MOST / 255 + 2];
	size_t left = strlen(value), len = 0;

	do {
		size_t part = MIN(left, 255);

		data[len++] = (uint8_t)part;
		memcpy(data + len, value, part);
		len += part;
		value += part;
		left -= part;
	} while (left);
	return set_rewrite(s, RCODE_NOERROR, TYPE_TXT, (struct slice){ .at = data, .len = len });
}

/* As in a zone file, all names being absolute. */
static bool set_record(struct blocklist_special *s, const char *word, const char *value)
{
	char *line = mem_textf(". IN %s %s", word, value);
	struct fault f = { 0 };
	struct text_rr rr;
	struct arena a;
	bool good;

	arena_init(&a);
	good = text_rr_parse(&a, line, NULL, &rr, &f) && rr.rdata.len &&
	       set_rewrite(s, RCODE_NOERROR, rr.type, rr.rdata);
	arena_clear(&a);
	mem_free(line);
	return good;
}

static bool read_record(struct blocklist_special *s, struct part type_word, const char *value)
{
	char word[32];
	uint16_t type;

	if (!read_type(type_word, &type) || !copy(type_word, word, sizeof(word)) || !*value)
		return false;
	switch (type) {
	case TYPE_A:
	case TYPE_AAAA:
		return set_address(s, value, type);
	case TYPE_CNAME:
		return set_alias(s, value);
	case TYPE_TXT:
		return set_text(s, value);
	default:
		return set_record(s, word, value);
	}
}

/* "NXDOMAIN", "192.0.2.1", "example.org", "" */
static bool read_short(struct blocklist_special *s, const char *value)
{
	struct part whole = { value, strlen(value) };
	uint8_t rcode;

	if (!*value) {
		(void)set_rewrite(s, RCODE_NOERROR, 0, (struct slice){ 0 });
		return s->rewrite->any = true;
	}
	if (read_rcode(whole, &rcode))
		return set_rewrite(s, rcode, 0, (struct slice){ 0 });
	return set_address(s, value, TYPE_A) || set_address(s, value, TYPE_AAAA) ||
	       set_alias(s, value);
}

/* "NXDOMAIN;;", "NOERROR;A;192.0.2.1", or short */
static bool read_rewrite(struct blocklist_special *s, const char *value)
{
	struct part rcode_word, type;
	const char *at = value;
	uint8_t rcode;

	if (!strchr(value, ';'))
		return read_short(s, value);
	if (!take(&at, ';', &rcode_word) || !read_rcode(rcode_word, &rcode) || !strchr(at, ';') ||
	    !take(&at, ';', &type))
		return false;
	if (rcode != RCODE_NOERROR || (type.len == 0 && !*at))
		return set_rewrite(s, rcode, 0, (struct slice){ 0 });
	return read_record(s, type, at);
}

/* ---- all modifiers ---- */

/* The next modifier, ended by a comma that has no backslash in front, which is taken off; false at
 * the end. It has room: VALUE_MOST. */
static bool take_modifier(const char **at, char *word, bool *good)
{
	size_t len = 0;

	if (!**at)
		return false;
	for (*good = true; **at && **at != ','; ++*at) {
		if (**at == '\\' && (*at)[1] == ',')
			++*at;
		if (len + 1 < VALUE_MOST)
			word[len++] = **at;
		else
			*good = false;
	}
	word[len] = '\0';
	*at += **at == ',';
	return true;
}

static bool read_modifier(struct blocklist_special *s, const char *word)
{
	if (strncmp(word, "dnstype=", 8) == 0)
		return !s->types && read_types(s, word + 8);
	if (strncmp(word, "client=", 7) == 0)
		return !s->clients && read_clients(s, word + 7);
	if (strncmp(word, "denyallow=", 10) == 0)
		return !s->exempt && read_exempt(s, word + 10);
	if (strncmp(word, "dnsrewrite", 10) == 0 && (word[10] == '=' || !word[10]))
		return !s->rewrite && read_rewrite(s, word + 10 + (word[10] == '='));
	return false;
}

bool blocklist_special_parse(struct blocklist_special *s, const char *modifiers)
{
	char word[VALUE_MOST];
	bool good;

	*s = (struct blocklist_special){ 0 };
	while (take_modifier(&modifiers, word, &good)) {
		if (good && read_modifier(s, word))
			continue;
		blocklist_special_clear(s);
		return false;
	}
	return s->types || s->clients || s->exempt || s->rewrite;
}

void blocklist_special_clear(struct blocklist_special *s)
{
	for (unsigned i = 0; i < s->exempt_count; i++)
		mem_free((uint8_t *)(uintptr_t)s->exempt[i]);
	mem_free(s->exempt);
	mem_free(s->types);
	mem_free(s->clients);
	mem_free(s->rewrite);
	*s = (struct blocklist_special){ 0 };
}

size_t blocklist_special_bytes(const struct blocklist_special *s)
{
	size_t bytes = (s->type_count + s->type_others) * sizeof(*s->types) +
		       (s->client_count + s->client_others) * sizeof(*s->clients) +
		       s->exempt_count * sizeof(*s->exempt);

	for (unsigned i = 0; i < s->exempt_count; i++)
		bytes += dname_len(s->exempt[i]);
	return bytes + (s->rewrite ? sizeof(*s->rewrite) + s->rewrite->len : 0);
}

/* ---- asking ---- */

static bool has_type(const struct blocklist_special *s, uint16_t type)
{
	unsigned all = s->type_count + s->type_others;

	for (unsigned i = s->type_count; i < all; i++)
		if (s->types[i] == type)
			return false;
	for (unsigned i = 0; i < s->type_count; i++)
		if (s->types[i] == type)
			return true;
	return s->type_count == 0;
}

static bool has_client(const struct blocklist_special *s, const struct addr *from)
{
	unsigned all = s->client_count + s->client_others;

	if (all && !from)
		return false;
	for (unsigned i = s->client_count; i < all; i++)
		if (netblock_holds(&s->clients[i], from))
			return false;
	for (unsigned i = 0; i < s->client_count; i++)
		if (netblock_holds(&s->clients[i], from))
			return true;
	return s->client_count == 0;
}

static bool exempts(const struct blocklist_special *s, const uint8_t *name)
{
	for (; s->exempt_count; name = dname_parent(name)) {
		if (bsearch(&name, s->exempt, s->exempt_count, sizeof(*s->exempt), by_name))
			return true;
		if (!*name)
			break;
	}
	return false;
}

bool blocklist_special_meets(const struct blocklist_special *s, const struct blocklist_asked *asked)
{
	return has_type(s, asked->type) && has_client(s, asked->from) && !exempts(s, asked->name);
}

bool blocklist_rewrite_equals(const struct blocklist_rewrite *a, const struct blocklist_rewrite *b)
{
	if (a->any || b->any)
		return true;
	if (a->rcode != b->rcode)
		return false;
	return a->rcode != RCODE_NOERROR ||
	       (a->type == b->type && a->len == b->len && memcmp(a->data, b->data, a->len) == 0);
}
