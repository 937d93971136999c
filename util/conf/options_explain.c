/* Explaining a configuration made for Unbound, option by option, to those who want to switch.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "util/conf/options_private.h"

#include <string.h>

#include "util/base/mem.h"

#define SHOWN_VALUE 48

enum note_kind { NOTE_BETTER, NOTE_INSTEAD, NOTE_DEFAULT };

static const struct note {
	enum note_kind kind;
	enum conf_clause clause;
	const char *name, *text;
} notes[] = {
#define BETTER(clause_, name_, how)     { NOTE_BETTER, CLAUSE_##clause_, #name_, how },
#define INSTEAD(clause_, name_, what)   { NOTE_INSTEAD, CLAUSE_##clause_, #name_, what },
#define DEFAULT(clause_, name_, there)  { NOTE_DEFAULT, CLAUSE_##clause_, #name_, there },
#include "util/conf/unbound.def"
#undef BETTER
#undef INSTEAD
#undef DEFAULT
};

/* Everything a file says about one option. */
struct told {
	char *value, *file; /* where it first appears */
	unsigned line;
	size_t count;
};

struct explainer {
	FILE *out;
	const char *path;
	struct told *told; /* by row */
	size_t count[4];   /* by heading */
};

enum heading { HEADING_BETTER, HEADING_ABSENT, HEADING_REFUSED, HEADING_SAME };

static const char *note(const struct option *o, enum note_kind kind)
{
	for (size_t i = 0; i < COUNT(notes); i++)
		if (notes[i].kind == kind && notes[i].clause == o->clause &&
		    strcmp(notes[i].name, o->name) == 0)
			return notes[i].text;
	return NULL;
}

static void take(void *arg, const struct conf_seen *seen)
{
	struct explainer *e = arg;
	const struct option *o =
		conf_find_option(conf_find_clause(seen->clause, strlen(seen->clause)), seen->name,
				 strlen(seen->name));
	struct told *t;

	if (!o || !seen->taken || o->status == CONF_TEST_ONLY)
		return;
	t = &e->told[o - conf_options];
	if (t->count++)
		return;
	t->value = mem_text(seen->value);
	t->file = mem_text(seen->file);
	t->line = seen->line;
}

/* ---- printing ---- */

static void begin(struct explainer *e, enum heading h, const char *text)
{
	if (e->count[h]++ == 0)
		fprintf(e->out, "\n%s\n", text);
}

static void print_wrapped(FILE *out, const char *text)
{
	size_t column = 0;

	while (*text) {
		size_t len = strcspn(text, " ");

		if (column && column + 1 + len > 88) {
			fputc('\n', out);
			column = 0;
		}
		column += (size_t)fprintf(out, "%s%.*s", column ? " " : "        ", (int)len, text);
		text += len;
		text += strspn(text, " ");
	}
	fputc('\n', out);
}

static void print_told(const struct explainer *e, const struct option *o)
{
	const struct told *t = &e->told[o - conf_options];
	size_t len = strlen(t->value);
	char name[CONF_NAME];

	if (strcmp(t->file, e->path) == 0)
		fprintf(e->out, "  line %u: ", t->line);
	else
		fprintf(e->out, "  %s:%u: ", t->file, t->line);
	fprintf(e->out, "%s: %.*s%s", conf_name_print(o->name, name), (int)MIN(len, SHOWN_VALUE), t->value,
		len > SHOWN_VALUE ? "..." : "");
	if (t->count > 1)
		fprintf(e->out, "  (and %zu more)", t->count - 1);
	fputc('\n', e->out);
}

static void tell_options(struct explainer *e, enum heading h, const char *text)
{
	for (size_t i = 0; i < conf_option_count; i++) {
		const struct option *o = &conf_options[i];
		bool works = o->status == CONF_WORKS;
		const char *more = note(o, works ? NOTE_BETTER : NOTE_INSTEAD);
		enum heading its = !works ? HEADING_ABSENT : more ? HEADING_BETTER : HEADING_SAME;

		if (!e->told[i].count || its != h)
			continue;
		begin(e, h, text);
		print_told(e, o);
		if (!works) {
			char *why = mem_textf("It has no effect here%s%s.", *o->text ? ": " : " yet", o->text);

			print_wrapped(e->out, why);
			mem_free(why);
		}
		if (more)
			print_wrapped(e->out, more);
	}
}

static void tell_remarks(struct explainer *e, const struct conf_report *report, enum conf_weight weight,
			 enum heading h, const char *text)
{
	for (size_t i = 0; i < report->count; i++) {
		const struct conf_remark *r = &report->remarks[i];

		if (r->weight != weight)
			continue;
		begin(e, h, text);
		if (r->line)
			fprintf(e->out, "  %s:%u: %s\n", r->file, r->line, r->text);
		else
			fprintf(e->out, "  %s%s%s\n", r->file, *r->file ? ": " : "", r->text);
	}
}

static void tell_warnings(const struct explainer *e, const struct conf_report *loaded,
			  const struct conf_report *checked)
{
	const struct conf_report *reports[] = { loaded, checked };
	bool begun = false;

	for (size_t n = 0; n < COUNT(reports); n++)
		for (size_t i = 0; i < reports[n]->count; i++) {
			const struct conf_remark *r = &reports[n]->remarks[i];

			if (r->weight != CONF_WARNING)
				continue;
			fprintf(e->out, "%s  %s%s", begun ? "" : "\nTo look at, here as there:\n", r->file,
				*r->file ? ":" : "");
			if (r->line)
				fprintf(e->out, "%u:", r->line);
			fprintf(e->out, "%s%s\n", *r->file ? " " : "", r->text);
			begun = true;
		}
}

static void tell_defaults(const struct explainer *e)
{
	bool begun = false;

	for (size_t i = 0; i < conf_option_count; i++) {
		const struct option *o = &conf_options[i];
		const char *there = o->row != ROW_OPTION ? NULL : note(o, NOTE_DEFAULT);
		char name[CONF_NAME], *here;

		if (!there || e->told[i].count)
			continue;
		here = conf_default(o, false);
		/* Built under Unbound's names it may have Unbound's default, too. */
		if (strcmp(here, there) != 0) {
			fprintf(e->out, "%s  %s: %s  (Unbound: %s)\n",
				begun ? "" : "\nNot in the file, and another default here:\n",
				conf_name_print(o->name, name), *here ? here : "\"\"", there);
			begun = true;
		}
		mem_free(here);
	}
}

static void tell_all(struct explainer *e, const struct conf_report *loaded,
		     const struct conf_report *checked)
{
	static const char absent[] = "Not there:", refused[] = "Refused:";

	tell_options(e, HEADING_SAME, "The same:");
	tell_options(e, HEADING_BETTER, "Better here:");
	tell_options(e, HEADING_ABSENT, absent);
	tell_remarks(e, checked, CONF_NOTICE, HEADING_ABSENT, absent);
	tell_remarks(e, loaded, CONF_ERROR, HEADING_REFUSED, refused);
	tell_remarks(e, checked, CONF_ERROR, HEADING_REFUSED, refused);
	tell_warnings(e, loaded, checked);
	tell_defaults(e);
	fprintf(e->out, "\n%zu the same, %zu better here, %zu not there, %zu refused\n",
		e->count[HEADING_SAME], e->count[HEADING_BETTER], e->count[HEADING_ABSENT],
		e->count[HEADING_REFUSED]);
}

enum conf_fate conf_explain_unbound(FILE *out, const char *path)
{
	struct explainer e = { .out = out,
			       .path = path,
			       .told = mem_zero(conf_option_count * sizeof(*e.told)) };
	struct conf_how how = { .seen = take, .arg = &e, .no_files = true };
	struct conf_report loaded = { 0 }, checked = { 0 };
	struct conf *conf = conf_new();
	bool good = conf_load_file(conf, path, &how, &loaded);

	if (good) {
		good = conf_check(conf, &how, &checked);
		conf_warnings(conf, &how, &checked);
	}
	tell_all(&e, &loaded, &checked);
	conf_report_clear(&loaded);
	conf_report_clear(&checked);
	conf_free(conf);
	for (size_t i = 0; i < conf_option_count; i++) {
		mem_free(e.told[i].value);
		mem_free(e.told[i].file);
	}
	mem_free(e.told);
	return !good ? CONF_FATE_REFUSED :
	       e.count[HEADING_ABSENT] ? CONF_FATE_LACKS :
					 CONF_FATE_FITS;
}
