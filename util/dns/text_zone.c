/* Zone files: assembling entries from lines, following directives (RFC 1035 5.1, RFC 2308 4).
 * SPDX-License-Identifier: BSD-3-Clause */
#include "util/dns/text.h"

#include <errno.h>
#include <stdio.h>
#include <strings.h>

#include "util/base/arena.h"
#include "util/base/fault.h"
#include "util/base/mem.h"
#include "util/base/textlex.h"
#include "util/dns/dname.h"
#include "util/dns/text_series.h"

#define FILES_MAX 8 /* a zone file and nested includes */
#define ENTRY_MAX (1u << 20)
#define ENDLESS_MAX 100
#define GENERATED_MOST (1u << 20) /* records of $GENERATE in a file */
#define GENERATED_LEN  4096

struct source {
	FILE *file;
	char *path;
	unsigned line;
	uint8_t origin[DNAME_MAX]; /* of the file that included this one */
};

struct zone_reading {
	struct source sources[FILES_MAX];
	unsigned depth;
	struct text_zone *z;
	struct fault *f;
	char *entry; /* the current entry, newlines included */
	size_t entry_len, entry_room;
	unsigned entry_line; /* where it began */
	long entry_at;
	unsigned endless; /* unterminated entries skipped */
	bool has_default; /* $TTL was seen (RFC 2308 4) */
	void (*odd)(void *arg, const char *why); /* the caller's */
	void *odd_arg;
	bool (*each)(const struct text_rr *rr, void *arg);
	void *arg;
	bool wanted; /* each has not returned false */
	size_t generated;
};

static struct source *source_now(struct zone_reading *x)
{
	return &x->sources[x->depth - 1];
}

static bool complain(struct zone_reading *x, const char *why)
{
	fault_set(x->f, "%s:%u: %s", source_now(x)->path, x->entry_line, why);
	return false;
}

/* A directive that is skipped, where somebody is told of it; otherwise an error. */
static bool skip(struct zone_reading *x, const char *why)
{
	char text[200];

	if (!x->odd)
		return complain(x, why);
	snprintf(text, sizeof(text), "%s; the line is skipped", why);
	x->z->odd(x, text);
	return true;
}

/* What is odd in an entry: with its place, for who is to be told. */
static void tell_odd(void *reading, const char *why)
{
	struct zone_reading *x = reading;
	char *text = mem_textf("%s:%u: %s", source_now(x)->path, x->entry_line, why);

	x->odd(x->odd_arg, text);
	mem_free(text);
}

static bool source_open(struct zone_reading *x, char *path)
{
	struct source *s = &x->sources[x->depth];

	if (x->depth == FILES_MAX) {
		mem_free(path);
		return complain(x, "files include each other too deeply");
	}
	*s = (struct source){ .file = x->z->file ? x->z->file : fopen(path, "re"), .path = path };
	x->z->file = NULL;
	if (s->file == NULL) {
		if (x->depth)
			fault_set(x->f, "%s:%u: cannot open %s: %s", source_now(x)->path,
				  x->entry_line, path, strerror(errno));
		else
			fault_set(x->f, "cannot open %s: %s", path, strerror(errno));
		mem_free(path);
		return false;
	}
	memcpy(s->origin, x->z->origin, dname_len(x->z->origin));
	x->depth++;
	return true;
}

static void source_close(struct zone_reading *x)
{
	struct source *s = source_now(x);

	if (x->depth > 1) /* RFC 1035 5.1: the including file's origin is unchanged */
		memcpy(x->z->origin, s->origin, dname_len(s->origin));
	fclose(s->file);
	mem_free(s->path);
	x->depth--;
}

/* ---- entries ---- */

static void entry_add(struct zone_reading *x, char c)
{
	if (x->entry_len == x->entry_room) {
		x->entry_room = x->entry_room ? 2 * x->entry_room : 1024;
		x->entry = mem_grow(x->entry, x->entry_room);
	}
	x->entry[x->entry_len++] = c;
}

enum entry { ENTRY_READ, ENTRY_NONE, ENTRY_BAD };

/* Read the next entry of the current file, as is, NUL-terminated. */
static enum entry read_entry(struct zone_reading *x)
{
	struct source *s = source_now(x);
	struct lexer lexer = { 0 };

	x->entry_len = 0;
	x->entry_line = s->line + 1;
	x->entry_at = x->z->broken ? ftell(s->file) : 0;
	for (;;) {
		int c = getc_unlocked(s->file);
		if (c == EOF && ferror(s->file)) {
			complain(x, strerror(errno));
			return ENTRY_BAD;
		}
		if (c == EOF && x->entry_len == 0)
			return ENTRY_NONE;
		if (c == '\n' || c == EOF)
			s->line++;
		enum lex lex = c == '\0' ? LEX_BAD : lex_char(&lexer, c == EOF ? '\0' : (char)c);
		if (lex == LEX_BAD || x->entry_len == ENTRY_MAX) {
			complain(x, c == '\0'        ? "there is a NUL byte"
				    : lex == LEX_BAD ? "a parenthesis or a quote has no partner"
						     : "the entry is longer than a mebibyte");
			return ENTRY_BAD;
		}
		entry_add(x, lex == LEX_END ? '\0' : (char)c);
		if (lex == LEX_END)
			return ENTRY_READ;
	}
}

static bool entry_is_empty(const char *entry)
{
	struct lexer lexer = { 0 };
	enum lex lex;

	while ((lex = lex_char(&lexer, *entry++)) == LEX_BLANK)
		;
	return lex == LEX_END;
}

/* ---- directives ---- */

/* The next word of a directive, possibly quoted; "" when there is none. */
static char *next_word(char **at)
{
	char *word = *at + strspn(*at, " \t\r"), *end;

	if (*word == '"') {
		word++;
		end = word + strcspn(word, "\"");
	} else {
		end = word + strcspn(word, " \t\r;");
		if (*end == ';')
			end[1] = '\0';
	}
	*at = *end ? end + 1 : end;
	*end = '\0';
	return word;
}

static bool set_origin(struct zone_reading *x, const char *name)
{
	struct fault why = { 0 };
	uint8_t origin[DNAME_MAX];
	size_t len = text_name_parse(x->z, name, origin, &why);

	if (len == 0)
		return complain(x, why.text);
	memcpy(x->z->origin, origin, len);
	return true;
}

static bool set_ttl(struct zone_reading *x, const char *ttl)
{
	uint32_t ttl_s;

	if (!text_ttl_parse(ttl, &ttl_s))
		return skip(x, "$TTL takes a time of at most 2147483647 seconds");
	x->has_default = true;
	x->z->ttl_s = ttl_s;
	return true;
}

/* Where $INCLUDE finds `name`: relative to the file containing it. */
static char *path_beside(const char *path, const char *name)
{
	const char *slash = strrchr(path, '/');

	if (*name == '/' || slash == NULL)
		return mem_text(name);
	return mem_textf("%.*s%s", (int)(slash + 1 - path), path, name);
}

static bool include(struct zone_reading *x, const char *name, const char *origin)
{
	if (*name == '\0')
		return complain(x, "$INCLUDE takes a file name");
	if (x->z->alone)
		return complain(x, "$INCLUDE is not followed in what comes from elsewhere");
	return source_open(x, path_beside(source_now(x)->path, name)) &&
	       (*origin == '\0' || set_origin(x, origin));
}

static bool follow_directive(struct zone_reading *x)
{
	char *at = x->entry;
	char *directive = next_word(&at);
	char *first = next_word(&at);
	char *second = next_word(&at);

	if (strcasecmp(directive, "$ORIGIN") == 0)
		return set_origin(x, first);
	if (strcasecmp(directive, "$TTL") == 0)
		return set_ttl(x, first);
	if (strcasecmp(directive, "$INCLUDE") == 0)
		return include(x, first, second);
	return skip(x, "the directive is none of $ORIGIN, $TTL, $INCLUDE and $GENERATE");
}

/* ---- records ---- */

static bool take_record(struct zone_reading *x, const char *entry)
{
	struct fault why = { 0 };
	struct text_rr rr;
	struct arena a;
	bool good;

	arena_init(&a);
	good = text_rr_parse(&a, entry, x->z, &rr, &why) || complain(x, why.text);
	/* RFC 1035 5.1: without a default, the last TTL given remains in force */
	if (good && !x->has_default)
		x->z->ttl_s = rr.ttl_s;
	if (good && !rr.left_out)
		x->wanted = x->each(&rr, x->arg);
	arena_clear(&a);
	return good;
}

/* $GENERATE FIRST-LAST[/STEP] OWNER [TTL] [CLASS] TYPE DATA */
static bool generate(struct zone_reading *x)
{
	struct text_series s;
	const char *template = text_series_parse(&s, x->entry + strlen("$GENERATE"));
	char line[GENERATED_LEN];

	if (!template)
		return skip(x, "$GENERATE takes a range such as 1-254 or 0-9/3, and a record");
	if (s.count > GENERATED_MOST - x->generated)
		return skip(x, "$GENERATE would make more than 1048576 records of this file");
	x->generated += s.count;
	for (uint32_t i = 0; i < s.count && x->wanted; i++) {
		if (!text_series_write(&s, i, template, line, sizeof(line)))
			return skip(x, "$GENERATE has a modifier that is none of ${OFFSET,WIDTH,BASE}, a number below 0, or a line that gets too long");
		if (!take_record(x, line))
			return false;
	}
	return true;
}

/* ---- the whole file ---- */

/* True: the complaint was passed on, and reading may go on with the next entry. */
static bool is_passed_over(struct zone_reading *x)
{
	if (!x->z->broken)
		return false;
	x->z->broken(x->z->broken_arg, x->f->text);
	*x->f = (struct fault){ 0 };
	return true;
}

/* Of an unterminated entry only the first line is skipped: the next may begin a good entry. Only
 * ENDLESS_MAX times, though. */
static bool is_skipped(struct zone_reading *x)
{
	struct source *s = source_now(x);
	int c = 0;

	if (!x->z->broken || ferror(s->file) || ++x->endless > ENDLESS_MAX ||
	    fseek(s->file, x->entry_at, SEEK_SET) != 0)
		return false;
	s->line = x->entry_line;
	while (c != '\n' && c != EOF)
		c = getc_unlocked(s->file);
	return is_passed_over(x);
}

static bool is_generate(const char *entry)
{
	return strncasecmp(entry, "$GENERATE", 9) == 0 && (entry[9] == ' ' || entry[9] == '\t');
}

/* The entry that was read. */
static bool take_entry(struct zone_reading *x)
{
	if (is_generate(x->entry))
		return generate(x);
	if (x->entry[0] == '$')
		return follow_directive(x);
	return entry_is_empty(x->entry) || take_record(x, x->entry);
}

static bool read_sources(struct zone_reading *x)
{
	bool good = true;

	while (good && x->wanted && x->depth > 0) {
		enum entry entry = read_entry(x);

		if (entry == ENTRY_NONE)
			source_close(x);
		else if (entry == ENTRY_BAD)
			good = is_skipped(x);
		else
			good = take_entry(x) || is_passed_over(x);
	}
	return good;
}

bool text_zone_read(const char *path, struct text_zone *z,
		    bool (*each)(const struct text_rr *rr, void *arg), void *arg, struct fault *f)
{
	struct fault own = { 0 };
	struct zone_reading x = { .z = z,
				  .f = f ? f : &own,
				  .odd = z->odd,
				  .odd_arg = z->odd_arg,
				  .each = each,
				  .arg = arg,
				  .wanted = true };
	bool good = source_open(&x, mem_text(path));

	if (x.odd) {
		z->odd = tell_odd;
		z->odd_arg = &x;
	}
	good = good && read_sources(&x);
	while (x.depth > 0)
		source_close(&x);
	z->odd = x.odd;
	z->odd_arg = x.odd_arg;
	mem_free(x.entry);
	return good;
}
