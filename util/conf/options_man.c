/* The reference of every option for the manual page: value, default, limits, full meaning.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "util/conf/options_private.h"

#include <ctype.h>
#include <string.h>

#include "util/base/mem.h"
#include "util/conf/manpage.h"

/* ---- text for which the example file has no room ---- */

static const struct {
	bool whole; /* instead of the help */
	enum conf_clause clause;
	const char *name, *text;
} more[] = {
#define MORE(clause_, name_, text_)  { false, CLAUSE_##clause_, #name_, text_ },
#define WHOLE(clause_, name_, text_) { true, CLAUSE_##clause_, #name_, text_ },
#include "util/conf/options_more.def"
#undef MORE
#undef WHOLE
};

static const char *find_more(const struct option *o, bool whole)
{
	for (size_t i = 0; i < COUNT(more); i++)
		if (more[i].whole == whole && more[i].clause == o->clause && strcmp(more[i].name, o->name) == 0)
			return more[i].text;
	return whole ? conf_option_help(o) : "";
}

/* Whether it is the name of an option, to be set in bold. */
static bool is_option(const char *text, size_t len)
{
	if (!memchr(text, '-', len))
		return false;
	for (unsigned c = 0; c < CLAUSE_COUNT; c++)
		if (conf_find_option((enum conf_clause)c, text, len))
			return true;
	return false;
}

static void put_text(FILE *out, const char *text)
{
	manpage_text(out, text, is_option);
}

/* ---- one option ---- */

static void put_name(FILE *out, const char *name)
{
	char text[CONF_NAME];

	conf_name_print(name, text);
	manpage_letters(out, text, strlen(text));
}

static void put_kind(FILE *out, const char *kind)
{
	if (strcmp(kind, "nonempty") == 0)
		kind = "name";
	if (strcmp(kind, "text255") == 0)
		kind = "text";
	for (; *kind; kind++)
		if (*kind == '_')
			fputs("\\-", out);
		else
			fputc(toupper((unsigned char)*kind), out);
}

static void put_value_form(FILE *out, const struct option *o)
{
	static const char *const by_type[] = {
		[CONF_FLAG_T] = "yes\\fR or \\fIno", [CONF_NUMBER_T] = "NUMBER", [CONF_SECONDS_T] = "SECONDS",
		[CONF_MS_T] = "MILLISECONDS",        [CONF_SIZE_T] = "BYTES",    [CONF_STRING_T] = "TEXT",
		[CONF_FILE_T] = "PATH",              [CONF_DOMAIN_T] = "DOMAIN", [CONF_WORD_T] = "WORD",
		[CONF_LIST_T] = "TEXT",
	};
	bool any = strcmp(conf_word_kind(o->check, 0), "any") == 0;

	if (o->check == CHECK_READABLE || o->check == CHECK_READABLE_GLOB || o->check == CHECK_ANCHOR_FILE ||
	    o->check == CHECK_FOLLOWED || o->check == CHECK_LIST_FILES) {
		fputs(" \\fIPATH\\fR", out);
		return;
	}
	if (any || o->type == CONF_FILE_T || o->type < CONF_STRING_T) {
		fprintf(out, " \\fI%s\\fR", by_type[o->type]);
		return;
	}
	for (unsigned n = 0; conf_word_kind(o->check, n); n++) {
		fputs(" \\fI", out);
		put_kind(out, conf_word_kind(o->check, n));
		fputs("\\fR", out);
	}
}

static void put_default(FILE *out, const struct option *o)
{
	const char *least = conf_option_least(o), *most = conf_option_most(o);
	char *dflt = conf_default(o, false), *text;

	if (o->type == CONF_LIST_T)
		text = mem_textf("Default: %s; may be repeated.", dflt);
	else if (*dflt)
		text = mem_textf("Default: %s.", dflt);
	else
		text = NULL;
	if (text && (*least || *most)) {
		char *both = mem_textf("%.*s (from %s%s%s).", (int)strlen(text) - 1, text,
				       *least ? least : "0", *most ? " to " : " up", most);

		mem_free(text);
		text = both;
	}
	if (text)
		put_text(out, text);
	mem_free(text);
	mem_free(dflt);
}

static void put_aliases(FILE *out, const struct option *o)
{
	bool first = true;

	for (size_t i = 0; i < conf_option_count; i++) {
		const struct option *a = &conf_options[i];

		if (a->clause != o->clause || a->row != ROW_ALIAS || strcmp(a->text, o->name) != 0)
			continue;
		fputs(first ? "Also written\n\\fB" : ",\n\\fB", out);
		put_name(out, a->name);
		fputs("\\fR", out);
		first = false;
	}
	if (!first)
		fputs(".\n", out);
}

static void put_option(FILE *out, const struct option *o)
{
	char *text;

	fputs(".TP\n\\fB", out);
	put_name(out, o->name);
	fputs(":\\fR", out);
	put_value_form(out, o);
	fputc('\n', out);
	text = mem_textf("%s %s", find_more(o, true), find_more(o, false));
	put_text(out, text);
	mem_free(text);
	if (o->status == CONF_PLANNED)
		put_text(out, "It is accepted and has no effect yet.");
	if (o->status == CONF_NONE) {
		text = mem_textf("It is accepted and has no effect here: %s.", o->text);
		put_text(out, text);
		mem_free(text);
	} else {
		put_default(out, o);
	}
	if (o->acts == CONF_AT_START)
		put_text(out, "A change acts at the next start.");
	put_aliases(out, o);
}

/* ---- the whole page ---- */

static void put_heading(FILE *out, const struct option *o, bool first)
{
	char name[CONF_NAME];
	char *text;

	if (first) {
		fputs(".SH THE CLAUSE ", out);
		conf_name_print(conf_clauses[o->clause].name, name);
		manpage_letters(out, name, strlen(name));
		fputs(":\n", out);
	}
	if (o->clause == CLAUSE_server) {
		fprintf(out, ".SS %s\n", o->text);
		return;
	}
	text = mem_textf("%s.%s", o->text, conf_clauses[o->clause].many ? " The clause may be repeated." : "");
	put_text(out, text);
	mem_free(text);
}

/* Each kind of word once, however many options use it. */
static void put_words(FILE *out)
{
	bool told[CHECK_COUNT * CONF_MOST_WORDS] = { false };
	const char *seen[COUNT(told)];
	size_t count = 0;

	fputs(".SH KINDS OF VALUES\n", out);
	for (unsigned c = 0; c < CHECK_COUNT; c++)
		for (unsigned n = 0; conf_word_kind((enum conf_check)c, n); n++) {
			const char *kind = conf_word_kind((enum conf_check)c, n);
			size_t i = 0;

			while (i < count && strcmp(seen[i], kind) != 0)
				i++;
			if (i < count || strcmp(kind, "any") == 0 || strcmp(kind, "nonempty") == 0 ||
			    strcmp(kind, "text255") == 0)
				continue;
			seen[count++] = kind;
			fputs(".TP\n\\fI", out);
			put_kind(out, kind);
			fputs("\\fR\n", out);
			put_text(out, conf_word_meaning((enum conf_check)c, n));
		}
}

void conf_print_man(FILE *out)
{
	conf_walk_shown(out, put_heading, put_option);
	put_words(out);
}
