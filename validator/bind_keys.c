/* Trust anchors in BIND's syntax: trusted-keys, managed-keys and trust-anchors clauses.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "validator/bind_keys.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "util/base/fault.h"
#include "util/base/mem.h"

#define FILE_MAX   (1u << 20)
#define WORD_MAX   4096
#define RECORD_MAX (WORD_MAX + 1600)

/* ---- words ---- */

struct scanner {
	const char *at, *end;
	const char *name; /* the file's */
	unsigned line;
	struct fault *f;
	bind_keys_take *take;
	void *arg; /* its */
	char word[WORD_MAX]; /* a word, a quoted string without quotes, or one of { } ; */
	bool quoted;
};

static bool wrong(struct scanner *s, const char *what)
{
	fault_set(s->f, "%s:%u: %s", s->name, s->line, what);
	return false;
}

static void step(struct scanner *s)
{
	s->line += *s->at == '\n';
	s->at++;
}

static bool at_text(const struct scanner *s, const char *text)
{
	size_t len = strlen(text);

	return (size_t)(s->end - s->at) >= len && memcmp(s->at, text, len) == 0;
}

/* Skips white space and comments of all three kinds. */
static void skip(struct scanner *s)
{
	while (s->at < s->end) {
		if (strchr(" \t\r\n\f\v", *s->at) && *s->at) {
			step(s);
		} else if (*s->at == '#' || at_text(s, "//")) {
			while (s->at < s->end && *s->at != '\n')
				s->at++;
		} else if (at_text(s, "/*")) {
			s->at += 2;
			while (s->at < s->end && !at_text(s, "*/"))
				step(s);
			s->at += MIN(2, s->end - s->at);
		} else {
			return;
		}
	}
}

/* Reads the next word. False: end of text, or a fault is set. */
static bool next(struct scanner *s)
{
	size_t len = 0;

	skip(s);
	if (s->at == s->end)
		return false;
	s->quoted = *s->at == '"';
	if (strchr("{};", *s->at) && *s->at) {
		s->word[0] = *s->at++;
		s->word[1] = '\0';
		return true;
	}
	if (s->quoted)
		s->at++;
	while (s->at < s->end &&
	       (s->quoted ? *s->at != '"' : !strchr(" \t\r\n\f\v{};\"#", *s->at))) {
		if (*s->at == '\0' || len + 1 == sizeof(s->word))
			return wrong(s, *s->at ? "a word is too long" : "a byte 0");
		s->word[len++] = *s->at;
		step(s);
	}
	s->word[len] = '\0';
	if (s->quoted) {
		if (s->at == s->end)
			return wrong(s, "a quote has no partner");
		s->at++;
	} else if (len == 0) {
		return wrong(s, "a byte that has no place here");
	}
	return true;
}

static bool is(const struct scanner *s, const char *word)
{
	return !s->quoted && strcmp(s->word, word) == 0;
}

/* Reads the next word; the end of the text is a fault. */
static bool need(struct scanner *s)
{
	return next(s) || wrong(s, "the clause has no end");
}

static bool expect(struct scanner *s, const char *word)
{
	char what[64];

	if (next(s) && is(s, word))
		return true;
	snprintf(what, sizeof(what), "expected %s", word);
	return wrong(s, what);
}

/* ---- clauses ---- */

enum form { FORM_KEYS, FORM_NAMED }; /* name numbers key; name kind numbers key-or-digest */

/* Reads name [kind] number number number "text"; and hands it over as a record in zone file syntax. The
 * name is the current word. */
static bool read_entry(struct scanner *s, enum form form)
{
	char *record = mem_new(RECORD_MAX);
	struct fault why = { .set = false };
	bool is_ds = false, good = true;
	size_t len = 0;
	unsigned line = s->line;

	len = (size_t)snprintf(record, RECORD_MAX, "%.1030s", *s->word ? s->word : ".");
	if (form == FORM_NAMED) {
		good = need(s);
		is_ds = good && (is(s, "static-ds") || is(s, "initial-ds"));
		if (good && !is_ds && !is(s, "static-key") && !is(s, "initial-key"))
			good = wrong(s,
				     "expected static-key, initial-key, static-ds or initial-ds");
	}
	len += (size_t)snprintf(record + len, RECORD_MAX - len, " 3600 IN %s",
				is_ds ? "DS" : "DNSKEY");
	for (unsigned i = 0; good && i < 4; i++) {
		good = need(s);
		if (good && (is(s, "{") || is(s, "}") || is(s, ";")))
			good = wrong(s, "expected three numbers and a text in quotes");
		if (good &&
		    (i < 3) != (strspn(s->word, "0123456789") == strlen(s->word) && !s->quoted))
			good = wrong(s, "expected three numbers and a text in quotes");
		if (good && s->word[strcspn(s->word, "()\\;\"")])
			good = wrong(s, "a character that has no place in a key");
		if (good)
			len += (size_t)snprintf(record + len, RECORD_MAX - len, " %.*s",
						i < 3 ? 10 : WORD_MAX, s->word);
	}
	for (size_t i = 0; i < len && good; i++)
		if (strchr("\n\r\t", record[i]))
			record[i] = ' ';
	good = good && expect(s, ";");
	if (good && (len >= RECORD_MAX || !s->take(s->arg, record, &why))) {
		fault_set(s->f, "%s:%u: %s", s->name, line, why.text);
		good = false;
	}
	mem_free(record);
	return good;
}

static bool read_clause(struct scanner *s, enum form form)
{
	if (!expect(s, "{"))
		return false;
	while (next(s)) {
		if (is(s, "}"))
			return expect(s, ";");
		if (!read_entry(s, form))
			return false;
	}
	return wrong(s, "the clause has no end");
}

bool bind_keys_read_text(const char *name, const char *text, size_t len, bind_keys_take *take,
			 void *arg, struct fault *f)
{
	struct scanner *s = mem_zero(sizeof(*s));
	struct fault own = { .set = false };
	bool good = true, clause_begins = true;
	unsigned depth = 0;

	s->at = text;
	s->end = text + len;
	s->name = name;
	s->line = 1;
	s->take = take;
	s->arg = arg;
	s->f = f ? f : &own;
	while (good && next(s)) {
		if (depth == 0 && clause_begins && is(s, "trusted-keys"))
			good = read_clause(s, FORM_KEYS);
		else if (depth == 0 && clause_begins &&
			 (is(s, "managed-keys") || is(s, "trust-anchors")))
			good = read_clause(s, FORM_NAMED);
		else if (is(s, "{"))
			depth++;
		else if (is(s, "}"))
			depth -= depth > 0;
		clause_begins = !good || is(s, ";");
	}
	good = good && !s->f->set;
	mem_free(s);
	return good;
}

bool bind_keys_read_file(const char *path, bind_keys_take *take, void *arg, struct fault *f)
{
	FILE *file = fopen(path, "r");
	char *text;
	size_t len;
	bool good;

	if (!file) {
		fault_set(f, "cannot read %s: %s", path, strerror(errno));
		return false;
	}
	text = mem_new(FILE_MAX + 1);
	len = fread(text, 1, FILE_MAX + 1, file);
	good = !ferror(file) && len <= FILE_MAX;
	if (!good)
		fault_set(f, "cannot read %s: %s", path,
			  ferror(file) ? strerror(errno) : "too long");
	fclose(file);
	if (good)
		good = bind_keys_read_text(path, text, len, take, arg, f);
	mem_free(text);
	return good;
}
