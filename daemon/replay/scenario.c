/* Reading scenario files of both dialects, Unbound's and Deckard's.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "daemon/replay/scenario.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "util/base/arena.h"
#include "util/base/fault.h"
#include "util/base/mem.h"

struct growing {                        /* a growing string in the arena */
	struct arena *arena;
	char *text;
	size_t len, room;
};

static void grow(struct growing *g, const char *line)
{
	size_t len = strlen(line);

	if (g->len + len + 2 > g->room) {
		char *old = g->text;

		g->room = (g->len + len + 2) * 2;
		g->text = arena_take(g->arena, g->room);
		if (old)
			memcpy(g->text, old, g->len);
	}
	memcpy(g->text + g->len, line, len);
	g->len += len;
	g->text[g->len++] = '\n';
	g->text[g->len] = '\0';
}

/* ---- temporary files ---- */

static bool have_folder(struct scenario *s, struct arena *a, struct fault *f)
{
	const char *base = getenv("TMPDIR");
	char *path;

	if (s->folder)
		return true;
	path = arena_textf(a, "%s/replay-XXXXXX", base && *base ? base : "/tmp");
	if (!mkdtemp(path)) {
		fault_set(f, "cannot make the folder %s: %s", path, strerror(errno));
		return false;
	}
	s->folder = path;
	return true;
}

static const char *file_path(struct scenario *s, const char *name, struct arena *a)
{
	char *path = arena_textf(a, "%s/%s", s->folder, name);

	for (char *p = path + strlen(s->folder) + 1; *p; p++)
		if (*p == '/')
			*p = '_';
	return path;
}

static bool write_block(struct scenario *s, struct block *b, struct arena *a, struct fault *f)
{
	FILE *out;

	b->path = file_path(s, b->name, a);
	out = fopen(b->path, "w");
	if (!out) {
		fault_set(f, "cannot write %s: %s", b->path, strerror(errno));
		return false;
	}
	for (size_t i = 0; i < b->count; i++) {
		char *line = (char *)(uintptr_t)b->lines[i], *name = word_after(line, "$INCLUDE_TEMPFILE");

		if (name)
			fprintf(out, "$INCLUDE %s\n", file_path(s, name, a));
		else
			fprintf(out, "%s\n", line);
	}
	if (fclose(out) != 0) {
		fault_set(f, "cannot write %s: %s", b->path, strerror(errno));
		return false;
	}
	return true;
}

void scenario_tidy(struct scenario *s)
{
	if (!s->folder)
		return;
	for (struct block *b = s->files; b; b = b->next)
		if (b->path)
			unlink(b->path);
	rmdir(s->folder);
	s->folder = NULL;
}

/* Collect lines up to the one that says `end`. */
static struct block *read_block(struct lines *l, const char *name, const char *end,
				struct arena *a, struct fault *f)
{
	struct block *b = arena_new(a, struct block);
	size_t room = 0;

	b->name = arena_textf(a, "%s", name);
	while (lines_next(l)) {
		if (word_after(l->text, end))
			return b;
		if (b->count == room) {
			const char **old = b->lines;

			room = room ? room * 2 : 32;
			b->lines = arena_array(a, const char *, room);
			if (b->count)
				memcpy(b->lines, old, b->count * sizeof(*old));
		}
		b->lines[b->count++] = l->raw;
	}
	fault_set(f, "%s is missing", end);
	return NULL;
}

/* ---- configuration ---- */

static const char *const deckard_keys[] = {
	"stub-addr", "stub-name", "forward-addr", "trust-anchor", "domain-insecure",
	"query-minimization", "do-ip4", "do-ip6", "force-ipv6", "harden-glue",
	"do-not-query-localhost", "val-override-date", "val-override-timestamp", "features",
	"feature-list",
};

/* The value of `key` in a Deckard line, without quotes and comment; NULL if it has another key. */
static char *deckard_value(char *line, const char *key)
{
	size_t len = strlen(key);
	char *value, *end;

	if (strncmp(line, key, len) != 0)
		return NULL;
	value = line + len + strspn(line + len, " \t");
	if (*value != ':' && *value != '=')
		return NULL;
	value++;
	value += strspn(value, " \t");
	if (*value == '"' || *value == '\'') {
		end = strchr(value + 1, *value);
		value++;
	} else {
		end = strpbrk(value, "#;");
	}
	if (end)
		*end = '\0';
	for (end = value + strlen(value); end > value && (end[-1] == ' ' || end[-1] == '\t');)
		*--end = '\0';
	return value;
}

static bool is_on(const char *value)
{
	return strcmp(value, "yes") == 0 || strcmp(value, "on") == 0 || strcmp(value, "true") == 0;
}

static int64_t date_from(const char *text)
{
	struct tm tm = { 0 };

	if (sscanf(text, "%4d%2d%2d%2d%2d%2d", &tm.tm_year, &tm.tm_mon, &tm.tm_mday, &tm.tm_hour,
		   &tm.tm_min, &tm.tm_sec) != 6)
		return -1;
	tm.tm_year -= 1900;
	tm.tm_mon -= 1;
	return (int64_t)timegm(&tm);
}

/* Which of Knot Resolver's modules means something to us, too. */
static void deckard_feature(struct deckard_config *c, char *value)
{
	const struct { const char *name; const char **to; } known[] = {
		{ "min_ttl", &c->min_ttl },
		{ "max_ttl", &c->max_ttl },
		{ "dns64_prefix", &c->dns64_prefix },
		{ "static_hint_name", &c->hint_name },
		{ "static_hint_addr", &c->hint_addr },
		{ "workarounds", &c->workarounds },
	};
	char *equals = strchr(value, '=');

	for (size_t i = 0; i < COUNT(known); i++) {
		if (strncmp(value, known[i].name, strlen(known[i].name)) != 0)
			continue;
		*known[i].to = equals ? equals + 1 + strspn(equals + 1, " \t") : value;
		return;
	}
	c->foreign = value;
}

static void push_text(struct arena *a, const char ***list, size_t *count, const char *text)
{
	const char **grown = arena_array(a, const char *, *count + 1);

	if (*count)
		memcpy(grown, *list, *count * sizeof(*grown));
	grown[(*count)++] = text;
	*list = grown;
}

static bool deckard_line(struct deckard_config *c, char *line, struct arena *a, struct fault *f)
{
	char *v;

	if ((v = deckard_value(line, "stub-addr")))
		c->stub_addr = v;
	else if ((v = deckard_value(line, "forward-addr")))
		c->forward_addr = v;
	else if ((v = deckard_value(line, "trust-anchor")))
		push_text(a, &c->anchors, &c->anchor_count, v);
	else if ((v = deckard_value(line, "domain-insecure")))
		push_text(a, &c->insecure, &c->insecure_count, v);
	else if ((v = deckard_value(line, "query-minimization")))
		c->minimise = is_on(v);
	else if ((v = deckard_value(line, "do-ip4")))
		c->do_ip4 = is_on(v);
	else if ((v = deckard_value(line, "do-ip6")))
		c->do_ip6 = is_on(v);
	else if ((v = deckard_value(line, "harden-glue")))
		c->harden_glue = is_on(v);
	else if ((v = deckard_value(line, "do-not-query-localhost")))
		c->no_query_localhost = is_on(v);
	else if ((v = deckard_value(line, "val-override-date")))
		c->time_s = date_from(v);
	else if ((v = deckard_value(line, "val-override-timestamp")))
		c->time_s = (int64_t)strtoll(v, NULL, 10);
	else if ((v = deckard_value(line, "features")))
		deckard_feature(c, v);
	else if ((v = deckard_value(line, "feature-list")))
		push_text(a, &c->policies, &c->policy_count, v);
	else if (!deckard_value(line, "stub-name") && !deckard_value(line, "force-ipv6")) {
		fault_set(f, "unknown key: %s", line);
		return false;
	}
	return true;
}

/* A Deckard file has lines with Deckard's keys before CONFIG_END, and none that opens a clause. */
static bool is_deckard(const char *text)
{
	static const char *const clauses[] = { "server:", "stub-zone:", "forward-zone:",
					       "auth-zone:", "COMMANDLINE" };
	bool keys = false;

	for (const char *at = text; at && *at; at = strchr(at, '\n'), at = at ? at + 1 : NULL) {
		at += strspn(at, " \t");
		if (strncmp(at, "CONFIG_END", 10) == 0)
			break;
		for (size_t i = 0; i < COUNT(clauses); i++)
			if (strncmp(at, clauses[i], strlen(clauses[i])) == 0)
				return false;
		for (size_t i = 0; i < COUNT(deckard_keys); i++)
			if (strncmp(at, deckard_keys[i], strlen(deckard_keys[i])) == 0)
				keys = true;
	}
	return keys;
}

static bool unbound_line(struct scenario *s, struct lines *l, struct growing *config,
			 struct arena *a, struct fault *f)
{
	char *name;
	struct block *b = NULL;

	if ((name = word_after(l->text, "AUTOTRUST_FILE"))) {
		b = read_block(l, name, "AUTOTRUST_END", a, f);
		if (!b || !have_folder(s, a, f))
			return false;
		grow(config, "server:");
		grow(config, arena_textf(a, "auto-trust-anchor-file: \"%s\"",
					 file_path(s, b->name, a)));
	} else if ((name = word_after(l->text, "TEMPFILE_NAME"))) {
		if (!have_folder(s, a, f))
			return false;
		grow(config, arena_textf(a, "\"%s\"", file_path(s, name, a)));
	} else if ((name = word_after(l->text, "TEMPFILE_CONTENTS"))) {
		b = read_block(l, name, "TEMPFILE_END", a, f);
		if (!b || !have_folder(s, a, f))
			return false;
	} else if (!word_after(l->text, "COMMANDLINE")) {
		grow(config, l->text);
	}
	if (b) {
		b->next = s->files;
		s->files = b;
		return write_block(s, b, a, f);
	}
	return true;
}

static bool read_config(struct scenario *s, struct lines *l, struct arena *a, struct fault *f)
{
	struct growing config = { .arena = a };
	struct deckard_config *c = &s->deckard_config;

	*c = (struct deckard_config){ .do_ip4 = true, .do_ip6 = true, .harden_glue = true,
				      .no_query_localhost = true, .minimise = -1, .time_s = -1 };
	grow(&config, "");
	while (lines_next_live(l)) {
		if (word_after(l->text, "CONFIG_END")) {
			s->config = config.text;
			return true;
		}
		if (s->deckard ? *l->text != '#' && !deckard_line(c, l->text, a, f) :
				 !unbound_line(s, l, &config, a, f))
			return false;
	}
	fault_set(f, "CONFIG_END is missing");
	return false;
}

/* ---- ranges and steps ---- */

static bool add_address(struct range *r, char *text, struct arena *a, struct fault *f)
{
	struct addr *grown = arena_array(a, struct addr, r->address_count + 1);

	text[strcspn(text, " \t;")] = '\0';
	if (r->address_count)
		memcpy(grown, r->addresses, r->address_count * sizeof(*grown));
	r->addresses = grown;
	return addr_parse(&r->addresses[r->address_count++], text, 53, f);
}

static bool read_range(struct scenario *s, struct lines *l, char *text, struct text_zone *zone,
		       struct arena *a, struct fault *f)
{
	struct range *r = arena_new(a, struct range);
	struct entry **last = &r->entries;
	char *rest;

	if (sscanf(text, "%u %u", &r->first, &r->last) != 2) {
		fault_set(f, "RANGE_BEGIN needs two step numbers");
		return false;
	}
	r->prev = s->last_range;
	if (s->last_range)
		s->last_range->next = r;
	else
		s->ranges = r;
	s->last_range = r;
	while (lines_next_live(l)) {
		if (word_after(l->text, "RANGE_END"))
			return true;
		if ((rest = word_after(l->text, "ADDRESS"))) {
			if (!add_address(r, rest, a, f))
				return false;
		} else if (word_after(l->text, "ENTRY_BEGIN")) {
			*last = entry_read(l, s->deckard, zone, a, f);
			if (!*last)
				return false;
			last = &(*last)->next;
		} else if (*l->text != '#' && !entry_directive(l->text, zone)) {
			fault_set(f, "unexpected in a range: %s", l->text);
			return false;
		}
	}
	fault_set(f, "RANGE_END is missing");
	return false;
}

static bool step_kind_of(const char *word, enum step_kind *kind)
{
	static const char *const words[] = {
		[PLAY_NOTHING] = "NOTHING", [PLAY_QUERY] = "QUERY",
		[PLAY_CHECK_ANSWER] = "CHECK_ANSWER", [PLAY_CHECK_OUT_QUERY] = "CHECK_OUT_QUERY",
		[PLAY_REPLY] = "REPLY", [PLAY_TIMEOUT] = "TIMEOUT", [PLAY_ERROR] = "ERROR",
		[PLAY_TIME_PASSES] = "TIME_PASSES", [PLAY_TRAFFIC] = "TRAFFIC",
		[PLAY_ASSIGN] = "ASSIGN", [PLAY_CHECK_AUTOTRUST] = "CHECK_AUTOTRUST",
		[PLAY_CHECK_TEMPFILE] = "CHECK_TEMPFILE", [PLAY_INFRA_RTT] = "INFRA_RTT",
		[PLAY_FLUSH_MESSAGE] = "FLUSH_MESSAGE", [PLAY_EXPIRE_MESSAGE] = "EXPIRE_MESSAGE",
	};

	for (size_t i = 0; i < COUNT(words); i++)
		if (strcmp(word, words[i]) == 0) {
			*kind = (enum step_kind)i;
			return true;
		}
	return false;
}

static bool step_has_entry(enum step_kind kind)
{
	return kind == PLAY_QUERY || kind == PLAY_CHECK_ANSWER || kind == PLAY_CHECK_OUT_QUERY ||
	       kind == PLAY_REPLY;
}

static bool step_has_address(enum step_kind kind)
{
	return step_has_entry(kind) || kind == PLAY_TIMEOUT || kind == PLAY_ERROR;
}

static bool read_step_body(struct scenario *s, struct play_step *p, struct lines *l,
			   struct text_zone *zone, struct arena *a, struct fault *f)
{
	if (step_has_entry(p->kind)) {
		do {
			if (!lines_next_live(l)) {
				fault_set(f, "a step without its entry");
				return false;
			}
		} while (*l->text == '#' || entry_directive(l->text, zone));
		if (!word_after(l->text, "ENTRY_BEGIN")) {
			fault_set(f, "expected ENTRY_BEGIN, not: %s", l->text);
			return false;
		}
		p->entry = entry_read(l, s->deckard, zone, a, f);
		return p->entry;
	}
	if (p->kind == PLAY_CHECK_AUTOTRUST || p->kind == PLAY_CHECK_TEMPFILE) {
		do {
			if (!lines_next_live(l)) {
				fault_set(f, "a step without its file");
				return false;
			}
		} while (*l->text == '#');
		if (!word_after(l->text, "FILE_BEGIN")) {
			fault_set(f, "expected FILE_BEGIN, not: %s", l->text);
			return false;
		}
		p->block = read_block(l, p->text, "FILE_END", a, f);
		return p->block;
	}
	return true;
}

/* What follows the word of a step: nothing, or what the step takes. */
static bool has_its_rest(const struct play_step *p)
{
	bool takes = p->kind >= PLAY_TIME_PASSES && p->kind != PLAY_TRAFFIC;
	const char *rest = p->text;

	if (step_has_address(p->kind))
		return !*rest || *rest == ';' || word_after((char *)(uintptr_t)rest, "ADDRESS");
	return takes || !*rest || *rest == ';';
}

static bool read_step(struct scenario *s, struct lines *l, char *text, struct play_step ***last,
		      struct text_zone *zone, struct arena *a, struct fault *f)
{
	struct play_step *p = arena_new(a, struct play_step);
	char *word, *rest;

	p->line = l->number;
	p->number = (unsigned)strtoul(text, &word, 10);
	word += strspn(word, " \t");
	rest = word + strcspn(word, " \t;");
	if (*rest == ';')
		*rest = '\0';
	else if (*rest)
		*rest++ = '\0';
	rest += strspn(rest, " \t");
	p->text = rest;
	if (!step_kind_of(word, &p->kind)) {
		fault_set(f, "no such step: %s", word);
		return false;
	}
	if (s->step_count && p->number <= s->last_number) {
		fault_set(f, "step %u comes behind step %u", p->number, s->last_number);
		return false;
	}
	s->last_number = p->number;
	if (!has_its_rest(p)) {
		fault_set(f, "this step does not take: %s", rest);
		return false;
	}
	if (p->kind == PLAY_CHECK_AUTOTRUST || p->kind == PLAY_CHECK_TEMPFILE)
		p->text[strcspn(p->text, " \t;")] = '\0';
	if (step_has_address(p->kind)) {
		char *address = word_after(rest, "ADDRESS");

		if (address) {
			address[strcspn(address, " \t;")] = '\0';
			if (!addr_parse(&p->address, address, 53, f))
				return false;
		}
	}
	**last = p;
	*last = &p->next;
	s->step_count++;
	return read_step_body(s, p, l, zone, a, f);
}

/* A line out of place. What looks like a keyword is an error: it would be ignored. A second RANGE_END and
 * records behind their entry, with its end, stand in public scenarios, and mean nothing. */
static bool means_nothing(char *text, struct text_zone *zone)
{
	size_t capitals = strspn(text, "ABCDEFGHIJKLMNOPQRSTUVWXYZ_");

	if (*text == '$')
		return entry_directive(text, zone);
	return *text == '#' || word_after(text, "RANGE_END") ||
	       word_after(text, "ENTRY_END") || !capitals ||
	       !strchr(" \t;", text[capitals]);
}

bool scenario_read(struct scenario *s, char *text, struct arena *a, struct fault *f)
{
	struct lines l = { .rest = text };
	struct text_zone zone;
	struct play_step **last = &s->steps;
	struct fault inner = { 0 };
	bool good, ended = false;
	char *rest;

	memset(s, 0, sizeof(*s));
	s->title = "";
	text_zone_init(&zone);
	s->deckard = is_deckard(text);
	good = read_config(s, &l, a, &inner);
	while (good && !ended && lines_next_live(&l)) {
		if ((rest = word_after(l.text, "SCENARIO_BEGIN")))
			s->title = rest;
		else if (word_after(l.text, "SCENARIO_END"))
			ended = true;
		else if ((rest = word_after(l.text, "RANGE_BEGIN")))
			good = read_range(s, &l, rest, &zone, a, &inner);
		else if ((rest = word_after(l.text, "STEP")))
			good = read_step(s, &l, rest, &last, &zone, a, &inner);
		else if (!means_nothing(l.text, &zone)) {
			fault_set(&inner, "unexpected: %s", l.text);
			good = false;
		}
	}
	if (good && !ended) {
		fault_set(&inner, "SCENARIO_END is missing");
		good = false;
	}
	if (!good)
		fault_set(f, "line %u: %s", l.number, inner.text);
	return good;
}
