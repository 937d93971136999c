/* The parameters of SVCB and HTTPS records, from text (RFC 9460 2.1, appendix A).
 * SPDX-License-Identifier: BSD-3-Clause */
#include "util/dns/text_svcb.h"

#include <arpa/inet.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "util/base/mem.h"
#include "util/base/textlex.h"

enum { MANDATORY = 0, PARAMS_MOST = 64, VALUE_MOST = 65535 };

/* How a value is written. */
enum form { FORM_RAW, FORM_KEYS, FORM_ALPN, FORM_NONE, FORM_PORT, FORM_IP4, FORM_BASE64, FORM_IP6, FORM_TEXT, FORM_NUMBERS };

static const struct {
	const char *word;
	enum form form;
} keys[] = {
	{ "mandatory", FORM_KEYS },  { "alpn", FORM_ALPN },
	{ "no-default-alpn", FORM_NONE }, { "port", FORM_PORT },
	{ "ipv4hint", FORM_IP4 },    { "ech", FORM_BASE64 },
	{ "ipv6hint", FORM_IP6 },    { "dohpath", FORM_TEXT },
	{ "ohttp", FORM_NONE },      { "tls-supported-groups", FORM_NUMBERS },
};

struct param {
	uint16_t key;
	uint8_t *value;
	size_t len;
};

struct params {
	struct text_words *words;
	struct param at[PARAMS_MOST];
	unsigned count;
	uint8_t *room, *end; /* for the values */
};

static bool complain(struct params *p, const char *why)
{
	fault_set(&p->words->why, "%s", why);
	return false;
}

/* A key: its name, or keyNNNNN, whose value is then given as bytes. */
static bool key_parse(const char *word, size_t len, uint16_t *key, enum form *form)
{
	char name[32];
	uint32_t number;

	if (len >= sizeof(name))
		return false;
	memcpy(name, word, len);
	name[len] = '\0';
	for (size_t i = 0; i < COUNT(keys); i++) {
		if (strcmp(keys[i].word, name) != 0)
			continue;
		*key = (uint16_t)i;
		*form = keys[i].form;
		return true;
	}
	*form = FORM_RAW;
	if (strncmp(name, "key", 3) != 0 || (name[3] == '0' && name[4]) ||
	    !text_number(name + 3, false, &number) || number >= UINT16_MAX)
		return false;
	*key = (uint16_t)number;
	return true;
}

/* The next item of a list, up to a comma. False at the end. */
static bool next_item(char **at, char **item)
{
	if (!*at)
		return false;
	*item = *at;
	*at = strchr(*item, ',');
	if (*at)
		*(*at)++ = '\0';
	return true;
}

static int by_number(const void *a, const void *b)
{
	return memcmp(a, b, 2); /* in network order */
}

static bool read_keys(struct params *p, char *text, struct writer *w)
{
	uint8_t *first = w->at;

	for (char *item; next_item(&text, &item);) {
		uint16_t key;
		enum form form;

		if (!key_parse(item, strlen(item), &key, &form) || key == MANDATORY)
			return complain(p, "a mandatory key is none");
		write_u16(w, key);
	}
	qsort(first, (size_t)(w->at - first) / 2, 2, by_number);
	for (const uint8_t *at = first; w->at - at >= 4; at += 2)
		if (memcmp(at, at + 2, 2) == 0)
			return complain(p, "a mandatory key is given twice");
	return true;
}

/* The second unescaping: only commas and backslashes are escaped (RFC 9460 A.1). */
static bool read_alpn(struct params *p, const uint8_t *at, const uint8_t *end, struct writer *w)
{
	uint8_t *len = write_room(w, 1);

	for (;; at++) {
		if (at == end || *at == ',') {
			if (w->bad || w->at - len == 1 || w->at - len > 256)
				return complain(p, "a protocol of alpn has 1 to 255 bytes");
			*len = (uint8_t)(w->at - len - 1);
			if (at == end)
				return true;
			len = write_room(w, 1);
			continue;
		}
		if (*at == '\\' && (++at == end || (*at != ',' && *at != '\\')))
			return complain(p, "in a list a backslash stands before a comma or a backslash");
		write_u8(w, *at);
	}
}

static bool read_addresses(struct params *p, char *text, int family, struct writer *w)
{
	uint8_t address[16];

	for (char *item; next_item(&text, &item);) {
		if (inet_pton(family, item, address) != 1)
			return complain(p, "a hint is no address of its family");
		write_bytes(w, address, family == AF_INET ? 4 : 16);
	}
	return true;
}

static bool read_numbers(struct params *p, char *text, bool one, struct writer *w)
{
	uint32_t number;

	for (char *item; next_item(&text, &item);) {
		if (!text_number(item, false, &number) || number > UINT16_MAX || (one && text))
			return complain(p, "a number up to 65535 is expected");
		write_u16(w, (uint16_t)number);
	}
	return true;
}

/* The value, unescaped once, NUL-ended, `len` bytes. */
static bool read_value(struct params *p, enum form form, char *text, size_t len, struct writer *w)
{
	if (form == FORM_NONE)
		return len == 0 || complain(p, "a key that takes no value has one");
	if (form != FORM_RAW && len == 0)
		return complain(p, "a value is missing");
	if (form == FORM_RAW || form == FORM_TEXT)
		return write_bytes(w, text, len), true;
	if (form == FORM_ALPN)
		return read_alpn(p, (uint8_t *)text, (uint8_t *)text + len, w);
	if (strlen(text) != len)
		return complain(p, "there is a NUL byte in a value");
	switch (form) {
	case FORM_KEYS:
		return read_keys(p, text, w);
	case FORM_IP4:
		return read_addresses(p, text, AF_INET, w);
	case FORM_IP6:
		return read_addresses(p, text, AF_INET6, w);
	case FORM_BASE64:
		return text_base64_read(p->words, text, w);
	default:
		return read_numbers(p, text, form == FORM_PORT, w);
	}
}

/* Unescapes the value at p->words->at, quoted or not, and goes on behind it. */
static bool take_value(struct params *p, char *to, size_t *len)
{
	const char *at = p->words->at;
	bool quoted = *at == '"';

	*len = 0;
	for (at += quoted; *at && *at != (quoted ? '"' : ' ');) {
		int c = lex_byte(&at);

		if (c < 0)
			return complain(p, "a backslash stands before neither a character nor 000 to 255");
		to[(*len)++] = (char)c;
	}
	to[*len] = '\0';
	if (quoted && *at++ != '"')
		return complain(p, "a quote has no partner");
	if (*at && *at != ' ')
		return complain(p, "text stands behind a closing quote");
	p->words->at += at - p->words->at;
	return true;
}

static bool read_param(struct params *p, char *scratch)
{
	struct param *param = &p->at[p->count];
	struct writer w = writer_over(p->room, (size_t)(p->end - p->room));
	size_t key_len = strcspn(p->words->at, "= "), len = 0;
	enum form form;

	if (p->count++ == PARAMS_MOST)
		return complain(p, "it has too many parameters");
	if (!key_parse(p->words->at, key_len, &param->key, &form))
		return complain(p, "a key is unknown");
	p->words->at += key_len;
	if (*p->words->at == '=') {
		p->words->at++;
		if (!take_value(p, scratch, &len))
			return false;
	}
	if (!read_value(p, form, scratch, len, &w))
		return false;
	if (w.bad || writer_len(&w) > VALUE_MOST)
		return complain(p, "a value is too long");
	param->value = p->room;
	param->len = writer_len(&w);
	p->room += param->len;
	return true;
}

static int by_key(const void *va, const void *vb)
{
	const struct param *a = va, *b = vb;

	return (a->key > b->key) - (a->key < b->key);
}

static bool has_key(const struct params *p, const uint8_t *at)
{
	const struct param wanted = { .key = get_u16(at) };

	return bsearch(&wanted, p->at, p->count, sizeof(*p->at), by_key);
}

static bool is_consistent(struct params *p)
{
	for (unsigned i = 1; i < p->count; i++)
		if (p->at[i].key == p->at[i - 1].key)
			return complain(p, "a key is given twice");
	if (p->count && p->at[0].key == MANDATORY)
		for (size_t i = 0; i + 2 <= p->at[0].len; i += 2)
			if (!has_key(p, p->at[0].value + i))
				return complain(p, "a mandatory key is missing");
	return true;
}

bool text_svcb_read(struct text_words *t, struct writer *w)
{
	size_t room = 4 * strlen(t->at) + 64;
	struct params p = { .words = t };
	char *scratch = mem_new(strlen(t->at) + 1);
	uint8_t *values = mem_new(room);
	bool good = true;

	p.room = values;
	p.end = values + room;
	while (good && !text_words_end(t))
		good = read_param(&p, scratch);
	if (good)
		qsort(p.at, p.count, sizeof(*p.at), by_key);
	good = good && is_consistent(&p);
	for (unsigned i = 0; good && i < p.count; i++) {
		write_u16(w, p.at[i].key);
		write_u16(w, (uint16_t)p.at[i].len);
		write_bytes(w, p.at[i].value, p.at[i].len);
	}
	mem_free(scratch);
	mem_free(values);
	return good;
}
