/* The reader that turns a file into a configuration, and sets one option.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "util/conf/options_private.h"

#include <ctype.h>
#include <string.h>

#include "util/base/mem.h"
#include "util/conf/conftext.h"

/* ---- reading a file ---- */

struct loader {
	struct conf *conf;
	const struct conf_how *how;
	struct conf_report *report;
	struct conftext *text;
	enum conf_clause clause;        /* the open one, or CLAUSE_none */
	void *base;                     /* its struct */
	bool guessed;                   /* none was open, server: is assumed; complain once */
	bool toplevel;                  /* an include-toplevel: closed the last clause */
	bool *noticed;                  /* by row: planned and idle options are reported once */
	const struct option *last;      /* the last one found: lists repeat theirs */
	unsigned last_line;             /* where that is */
};

static void open_clause(struct loader *l, enum conf_clause clause, const struct conftext_word *w)
{
	l->clause = clause;
	l->guessed = false;
	l->last = NULL;
	l->base = conf_clauses[clause].many ? conf_add_clause(l->conf, clause, w->file, w->line) :
					      conf_clause_get(l->conf, clause, 0);
}

static bool is_known_name(const char *text, size_t len)
{
	if (conf_find_clause(text, len) != CLAUSE_none)
		return true;
	for (unsigned c = 0; c < CLAUSE_COUNT; c++)
		if (conf_find_option((enum conf_clause)c, text, len))
			return true;
	return conf_name_is("include", text, len) || conf_name_is("include_toplevel", text, len);
}

/* The rest of the line belongs to the one value. */
static void read_rest(struct loader *l, char **word)
{
	struct conftext_word v;

	while (conftext_line_goes_on(l->text) && conftext_value(l->text, &v)) {
		size_t len = strlen(v.text);
		char *whole;

		if (!v.quoted && len > 1 && v.text[len - 1] == ':' &&
		    is_known_name(v.text, len - 1)) {
			conftext_put_back(l->text);
			return;
		}
		whole = mem_textf("%s %s", *word, v.text);
		mem_free(*word);
		*word = whole;
	}
}

/* Read the values of an option; false, with a complaint, when there are too few. */
static bool read_words(struct loader *l, const struct option *o, const struct conftext_word *w,
		       char *words[CONF_MOST_WORDS])
{
	unsigned wanted = conf_word_count(o->check), line = w->line;
	const char *file = w->file;
	char name[CONF_NAME];
	struct conftext_word v;

	for (unsigned i = 0; i < wanted; i++) {
		size_t len;
		bool there = conftext_value(l->text, &v);

		len = strlen(v.text);
		if (there && !v.quoted && v.line != line && len > 1 && v.text[len - 1] == ':' &&
		    is_known_name(v.text, len - 1)) {
			conftext_put_back(l->text);
			there = false;
		}
		if (!there) {
			conf_name_print(o->name, name);
			if (wanted == 1)
				conf_remark(l->report, CONF_ERROR, file, line, "%s: has no value",
					    name);
			else
				conf_remark(l->report, CONF_ERROR, file, line,
					    "%s: has %u of its %u values", name, i, wanted);
			return false;
		}
		words[i] = mem_text(v.text);
	}
	if (o->check == CHECK_STRATEGY || o->check == CHECK_LIST_ACTION)
		read_rest(l, &words[0]);
	return true;
}

/* After an error: skip the values of an unknown name. */
static void skip_values(struct loader *l)
{
	struct conftext_word v;

	while (conftext_line_goes_on(l->text) && conftext_value(l->text, &v)) {
		size_t len = strlen(v.text);

		if (!v.quoted && len > 1 && v.text[len - 1] == ':' &&
		    is_known_name(v.text, len - 1)) {
			conftext_put_back(l->text);
			return;
		}
	}
}

/* Edit distance: letters to change, add or remove, whatever their case; `enough` stands for `enough` or more. */
static unsigned distance(const char *name, const char *text, size_t len, unsigned enough)
{
	unsigned row[CONF_NAME + 1], above_left, above;
	size_t name_len = strlen(name);

	if (name_len >= CONF_NAME || len >= CONF_NAME)
		return enough;
	for (unsigned i = 0; i <= name_len; i++)
		row[i] = i;
	for (size_t t = 1; t <= len; t++) {
		above_left = row[0];
		row[0] = (unsigned)t;
		for (size_t n = 1; n <= name_len; n++) {
			char c = name[n - 1] == '_' ? '-' : name[n - 1];
			unsigned change = above_left + (c != tolower((unsigned char)text[t - 1]));

			above = row[n];
			row[n] = MIN(MIN(row[n - 1], above) + 1, change);
			above_left = above;
		}
	}
	return MIN(row[name_len], enough);
}

/* Whether the word differs from the name in fewer places than `*best`, which becomes their number. */
static bool is_nearer(const char *name, const char *text, size_t len, unsigned *best)
{
	unsigned d = distance(name, text, len, *best);
	bool is = d < *best;

	*best = d;
	return is;
}

/* The clause whose name is nearest; NULL: none is nearer than `*best`, which becomes its distance. */
static const char *nearest_clause(const char *text, unsigned *best)
{
	const char *like = NULL;

	for (unsigned c = 0; c < CLAUSE_COUNT; c++)
		if (is_nearer(conf_clauses[c].name, text, strlen(text), best))
			like = conf_clauses[c].name;
	return like;
}

/* The first clause that has the option; NULL: none. */
static const char *home_of(const char *text)
{
	for (unsigned c = 0; c < CLAUSE_COUNT; c++)
		if (conf_find_option((enum conf_clause)c, text, strlen(text)))
			return conf_clauses[c].name;
	return NULL;
}

static void option_is_unknown(struct loader *l, const struct conftext_word *w)
{
	size_t len = strlen(w->text);
	const char *like = NULL, *home = home_of(w->text), *begins;
	unsigned best = len > 5 ? 3 : 2;
	char clause[CONF_NAME], other[CONF_NAME];

	conf_name_print(conf_clauses[l->clause].name, clause);
	if (home) {
		conf_remark(l->report, CONF_ERROR, w->file, w->line,
			    "%s: belongs in the clause %s:, not in %s:", w->text,
			    conf_name_print(home, other), clause);
		return;
	}
	for (size_t i = 0; i < conf_option_count; i++)
		if (conf_options[i].clause == l->clause && conf_options[i].row != ROW_HEADING &&
		    is_nearer(conf_options[i].name, w->text, len, &best))
			like = conf_options[i].name;
	begins = nearest_clause(w->text, &best);
	if (begins)
		conf_remark(l->report, CONF_ERROR, w->file, w->line, "%s: neither begins a clause nor is an option of %s:; is %s: meant?",
			    w->text, clause, conf_name_print(begins, other));
	else if (like)
		conf_remark(l->report, CONF_ERROR, w->file, w->line,
			    "%s: unknown option in the clause %s:; is %s meant?", w->text, clause,
			    conf_name_print(like, other));
	else
		conf_remark(l->report, CONF_ERROR, w->file, w->line, "%s: unknown option in the clause %s:",
			    w->text, clause);
}

/* An option outside any clause: say so once, and read on to find further errors. */
static void guess_clause(struct loader *l, const struct conftext_word *w)
{
	unsigned best = strlen(w->text) > 5 ? 3 : 2;
	const char *home = home_of(w->text), *begins = home ? NULL : nearest_clause(w->text, &best);
	char clause[CONF_NAME];

	conf_name_print(begins ? begins : home ? home : conf_clauses[CLAUSE_server].name, clause);
	if (begins)
		conf_remark(l->report, CONF_ERROR, w->file, w->line, "%s: stands in no clause; is %s: meant?", w->text, clause);
	else
		conf_remark(l->report, CONF_ERROR, w->file, w->line,
			    "%s: stands in no clause; %s clause such as %s: must begin first", w->text,
			    l->toplevel ? "after include-toplevel: a" : "a", clause);
	l->clause = CLAUSE_server;
	l->base = &l->conf->server;
	l->guessed = true;
}

static void tell_status(struct loader *l, const struct option *o, const struct conftext_word *w)
{
	size_t row = (size_t)(o - conf_options);
	char name[CONF_NAME];

	conf_name_print(o->name, name);
	if (l->noticed[row])
		return;
	l->noticed[row] = true;
	if (o->status == CONF_PLANNED)
		conf_remark(l->report, CONF_NOTICE, w->file, w->line,
			    "%s: is accepted and has no effect yet", name);
	else if (o->status == CONF_NONE)
		conf_remark(l->report, CONF_NOTICE, w->file, w->line,
			    "%s: is accepted and has no effect here: %s", name, o->text);
}

/* `o` is NULL when the option is unknown. */
static void tell_seen(struct loader *l, const struct option *o, const struct conftext_word *w,
		      char *const *words, bool taken)
{
	char clause[CONF_NAME], name[CONF_NAME];
	struct conf_seen seen = {
		.file = w->file, .line = w->line, .known = o, .taken = taken
	};
	char *value;

	if (!l->how->seen)
		return;
	seen.clause = conf_name_print(conf_clauses[l->clause].name, clause);
	seen.name = o ? conf_name_print(o->name, name) : w->text;
	value = mem_textf("%s%s%s%s%s", words[0] ? words[0] : "", words[1] ? " " : "",
			  words[1] ? words[1] : "", words[2] ? " " : "", words[2] ? words[2] : "");
	seen.value = value;
	l->how->seen(l->how->arg, &seen);
	mem_free(value);
}

/* Whether this is the name of an earlier clause: perhaps "forward-zone:" was forgotten above. */
static bool has_name(const struct loader *l, const struct option *o)
{
	return conf_clauses[o->clause].many && strcmp(o->name, "name") == 0 &&
	       **(char *const *)(const void *)((const char *)l->base + o->at);
}

static void read_option(struct loader *l, const struct conftext_word *w)
{
	size_t len = strlen(w->text);
	char name[CONF_NAME];
	struct conf_place p = {
		.name = name, .file = w->file, .line = w->line, .report = l->report,
		.packs = l->how->packs
	};
	char *words[CONF_MOST_WORDS] = { NULL, NULL, NULL };
	const struct option *o = l->last;
	bool taken;

	if (l->clause == CLAUSE_none)
		guess_clause(l, w);
	if (!o || !conf_name_is(o->name, w->text, len))
		o = conf_find_option(l->clause, w->text, len);
	if (!o) {
		if (!l->guessed)
			option_is_unknown(l, w);
		tell_seen(l, NULL, w, words, false);
		skip_values(l);
		return;
	}
	len = MIN(len, sizeof(name) - 1);
	memcpy(name, w->text, len);
	name[len] = '\0';
	l->last = o;
	l->last_line = w->line;
	tell_status(l, o, w);
	if (has_name(l, o))
		conf_remark(l->report, CONF_ERROR, w->file, w->line,
			    "name: this clause has one already; another needs a clause of its own");
	taken = read_words(l, o, w, words) &&
		conf_put_value(l->conf, o, l->base, (const char *const *)words, &p);
	if (taken) {
		if (!conf_clauses[o->clause].many)
			l->conf->own->given[o - conf_options] = (struct conf_origin){
				.file = conf_keep_file(l->conf, w->file), .line = w->line
			};
		if (l->base == &l->conf->server && o->at == offsetof(struct conf_server, directory) &&
		    *l->conf->server.directory)
			conftext_set_folder(l->text, l->conf->server.directory);
	}
	if (o->status == CONF_TEST_ONLY && !l->how->test_switches && taken && strcmp(words[0], "no") != 0)
		conf_remark(l->report, CONF_ERROR, w->file, w->line,
			    "%s: is a switch for tests alone and is refused here", name);
	tell_seen(l, o, w, words, taken);
	for (unsigned i = 0; i < CONF_MOST_WORDS; i++)
		mem_free(words[i]);
}

static void word_is_stray(struct loader *l, const struct conftext_word *w)
{
	struct conftext_word more;
	char name[CONF_NAME];

	if (!w->quoted && is_known_name(w->text, strlen(w->text)) && (!l->last || w->line != l->last_line))
		conf_remark(l->report, CONF_ERROR, w->file, w->line, "'%.200s' lacks the colon after the name of an option",
			    w->text);
	else if (l->last)
		conf_remark(l->report, CONF_ERROR, w->file, w->line,
			    "'%.200s' is one word too many after %s:; a value with blanks needs quotes",
			    w->text, conf_name_print(l->last->name, name));
	else
		conf_remark(l->report, CONF_ERROR, w->file, w->line,
			    "'%.200s' stands where the name of an option and a colon should", w->text);
	while (conftext_line_goes_on(l->text) && conftext_value(l->text, &more)) {
		size_t len = strlen(more.text);

		if (len > 1 && more.text[len - 1] == ':' && is_known_name(more.text, len - 1)) {
			conftext_put_back(l->text);
			break;
		}
	}
}

static void on_complaint(void *arg, bool is_error, const char *file, unsigned line, const char *text)
{
	struct loader *l = arg;

	conf_remark(l->report, is_error ? CONF_ERROR : CONF_WARNING, file, line, "%s", text);
}

static void load_words(struct loader *l)
{
	struct conftext_word w;

	for (;;) {
		enum conf_clause clause;
		size_t len;

		switch (conftext_next(l->text, &w)) {
		case CONFTEXT_END:
			return;
		case CONFTEXT_TOPLEVEL:
			l->clause = CLAUSE_none;
			l->toplevel = true;
			l->last = NULL;
			break;
		case CONFTEXT_STRAY:
			word_is_stray(l, &w);
			break;
		case CONFTEXT_NAME:
			len = strlen(w.text);
			/* Mostly the option of the line before. */
			clause = l->last && conf_name_is(l->last->name, w.text, len) ?
					 CLAUSE_none : conf_find_clause(w.text, len);
			if (clause != CLAUSE_none)
				open_clause(l, clause, &w);
			else
				read_option(l, &w);
			break;
		}
	}
}

static bool load(struct conf *conf, const char *name, const char *text, size_t len,
		 const struct conf_how *how, struct conf_report *report)
{
	static const struct conf_how usual = { 0 };
	struct conf_report unseen = { 0 };
	struct loader l = { .conf = conf,
			    .how = how ? how : &usual,
			    .report = report ? report : &unseen,
			    .clause = CLAUSE_none };
	size_t before = l.report->errors;
	bool good;
	struct conftext_how text_how = { .no_files = l.how->no_files,
					 .no_includes = l.how->no_includes,
					 .chroot = l.how->chroot,
					 .complain = on_complaint,
					 .arg = &l };

	l.noticed = mem_zero(conf_option_count * sizeof(*l.noticed));
	l.text = text ? conftext_open_text(name, text, len, &text_how) :
			conftext_open_file(name, &text_how);
	load_words(&l);
	conftext_close(l.text);
	mem_free(l.noticed);
	good = l.report->errors == before;
	conf_report_clear(&unseen);
	return good;
}

bool conf_load_file(struct conf *conf, const char *path, const struct conf_how *how,
		    struct conf_report *report)
{
	struct conf_report unseen = { 0 };
	bool good = load(conf, path, NULL, 0, how, report);

	conf_add_lists_of_scripts(conf, report ? report : &unseen);
	conf_report_clear(&unseen);
	return good;
}

bool conf_load_text(struct conf *conf, const char *name, const char *text, size_t len,
		    const struct conf_how *how, struct conf_report *report)
{
	return load(conf, name, text ? text : "", len, how, report);
}

/* ---- changing one option ---- */

bool conf_set_option(struct conf *conf, const char *line, struct fault *f)
{
	size_t len = strcspn(line, ": \t");
	const struct option *o = conf_find_single(line, len);
	struct conf_report report = { 0 };
	char *words[CONF_MOST_WORDS] = { NULL, NULL, NULL };
	char name[CONF_NAME];
	struct conf_place p = { .name = name, .file = "", .report = &report };
	const char *rest = line + len;
	unsigned wanted;
	bool good = true;

	if (!o || o->status == CONF_TEST_ONLY) {
		fault_set(f, "'%.*s' is no option that can be set", (int)MIN(len, 100), line);
		return false;
	}
	conf_name_print(o->name, name);
	rest += *rest == ':';
	wanted = conf_word_count(o->check);
	for (unsigned i = 0; i < wanted; i++) {
		size_t end;

		rest += strspn(rest, " \t");
		end = i + 1 < wanted ? strcspn(rest, " \t") : strlen(rest);
		while (end && isspace((unsigned char)rest[end - 1]))
			end--;
		if (end == 0 && wanted > 1)
			good = false;
		if (end >= 2 && (rest[0] == '"' || rest[0] == '\'') && rest[end - 1] == rest[0])
			words[i] = mem_textf("%.*s", (int)(end - 2), rest + 1);
		else
			words[i] = mem_textf("%.*s", (int)end, rest);
		rest += end;
	}
	if (!good)
		fault_set(f, "'%.*s' needs %u values", (int)len, line, wanted);
	else
		good = conf_put_value(conf, o, conf_clause_get(conf, o->clause, 0),
				      (const char *const *)words, &p);
	if (good)
		conf->own->given[o - conf_options] = (struct conf_origin){ .file = "" };
	conf_report_fault(&report, f);
	conf_report_clear(&report);
	for (unsigned i = 0; i < CONF_MOST_WORDS; i++)
		mem_free(words[i]);
	return good;
}
