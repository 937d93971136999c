/* Rules that apply only to some queries, or answer in a way of their own.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "services/blocklist_special.h"

#include <string.h>
#include <strings.h>

#include "util/msg.h"
#include "util/rr.h"

struct part {
	const char *at;
	size_t len;
};

/* The part up to `end`; false when nothing is left. */
static bool take(const char **at, const char *end, struct part *p)
{
	if (!**at)
		return false;
	p->at = *at;
	p->len = strcspn(*at, end);
	*at += p->len + ((*at)[p->len] != '\0');
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

/* "A|AAAA", "~A" */
static bool read_types(struct list_special *s, const char *at)
{
	struct part p;

	while (take(&at, "|", &p)) {
		bool other = *p.at == '~';

		p.at += other;
		p.len -= other;
		if (s->type_count == SPECIAL_WORDS || (s->type_count && other != s->other_types) ||
		    !read_type(p, &s->types[s->type_count++]))
			return false;
		s->other_types = other;
	}
	return s->type_count > 0;
}

/* Addresses and netblocks; client names are not supported. */
static bool read_clients(struct list_special *s, const char *at)
{
	char word[ADDR_TEXT];
	struct part p;

	while (take(&at, "|", &p)) {
		bool other = *p.at == '~';

		p.at += other;
		p.len -= other;
		if (s->client_count == SPECIAL_WORDS ||
		    (s->client_count && other != s->other_clients) ||
		    !copy(p, word, sizeof(word)) ||
		    !netblock_parse(&s->clients[s->client_count++], word, NULL))
			return false;
		s->other_clients = other;
	}
	return s->client_count > 0;
}

static bool read_rcode(struct part p, uint8_t *rcode)
{
	static const struct {
		const char *word;
		uint8_t rcode;
	} rcodes[] = {
		{ "NOERROR", RCODE_NOERROR },
		{ "NXDOMAIN", RCODE_NXDOMAIN },
		{ "REFUSED", RCODE_REFUSED },
		{ "SERVFAIL", RCODE_SERVFAIL },
	};

	for (size_t i = 0; i < COUNT(rcodes); i++) {
		if (is(p, rcodes[i].word)) {
			*rcode = rcodes[i].rcode;
			return true;
		}
	}
	return false;
}

/* An address, or a name. */
static bool read_value(struct list_special *s, struct part p)
{
	char word[DNAME_TEXT];

	if (!copy(p, word, sizeof(word)))
		return false;
	if (addr_parse(&s->addr, word, 0, NULL)) {
		s->type = s->addr.family == 4 ? TYPE_A : TYPE_AAAA;
		return true;
	}
	s->type = TYPE_CNAME;
	return strchr(word, '.') && dname_parse(s->target, word, NULL) > 0;
}

/* "NXDOMAIN", "NOERROR;A;192.0.2.1", "192.0.2.1", "example.org" */
static bool read_rewrite(struct list_special *s, const char *at)
{
	struct part rcode, type, value;
	uint16_t wanted = 0;

	s->rewrites = true;
	if (!take(&at, ";", &rcode))
		return false;
	if (!read_rcode(rcode, &s->rcode))
		return !*at && read_value(s, rcode);
	if (!take(&at, ";", &type) || type.len == 0)
		return true;
	return s->rcode == RCODE_NOERROR && read_type(type, &wanted) && take(&at, "", &value) &&
	       read_value(s, value) && wanted == s->type;
}

bool list_special_parse(struct list_special *s, const char *modifiers)
{
	struct part p;

	*s = (struct list_special){ 0 };
	while (take(&modifiers, ",", &p)) {
		char word[512];
		bool good;

		if (!copy(p, word, sizeof(word)))
			return false;
		if (strncmp(word, "dnstype=", 8) == 0)
			good = read_types(s, word + 8);
		else if (strncmp(word, "client=", 7) == 0)
			good = read_clients(s, word + 7);
		else if (strncmp(word, "dnsrewrite=", 11) == 0)
			good = read_rewrite(s, word + 11);
		else
			good = false;
		if (!good)
			return false;
	}
	return s->type_count || s->client_count || s->rewrites;
}

bool list_special_meets(const struct list_special *s, uint16_t type, const struct addr *from)
{
	bool found = false;

	for (unsigned i = 0; i < s->type_count; i++)
		found |= s->types[i] == type;
	if (s->type_count && found == s->other_types)
		return false;
	if (s->client_count && !from)
		return false;
	found = false;
	for (unsigned i = 0; i < s->client_count; i++)
		found |= netblock_holds(&s->clients[i], from);
	return !s->client_count || found != s->other_clients;
}
