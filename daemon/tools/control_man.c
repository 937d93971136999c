/* The reference of all commands, as it appears in the manual page.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "daemon/tools/control_man.h"

#include <ctype.h>
#include <string.h>

#include "util/base/mem.h"
#include "util/conf/manpage.h"

/* A topic has no help. */
static const struct {
	const char *word, *args, *place, *help;
} rows[] = {
#define CMD(word_, args_, place_, help_) \
	{ .word = #word_, .args = args_, .place = #place_, .help = help_ },
#define TOPIC(title) { .word = title },
#include "daemon/control/control.def"
#undef CMD
};

/* Details for which the usage text has no room. */
static const struct {
	const char *word, *text;
} more[] = {
#define MORE(word_, text_) { #word_, text_ },
#include "daemon/tools/control_more.def"
#undef MORE
};

static const char *more_about(const char *word)
{
	for (size_t i = 0; i < COUNT(more); i++)
		if (strcmp(more[i].word, word) == 0)
			return more[i].text;
	return "";
}

static bool is_command(const char *text, size_t len)
{
	for (size_t i = 0; memchr(text, '_', len) && i < COUNT(rows); i++)
		if (rows[i].help && strlen(rows[i].word) == len && memcmp(rows[i].word, text, len) == 0)
			return true;
	return false;
}

/* Placeholders (words in capitals) are printed in italics. */
static void put_args(FILE *out, const char *args)
{
	for (size_t len; *args; args += len) {
		bool variable = isupper((unsigned char)*args);

		len = variable ? strspn(args, "ABCDEFGHIJKLMNOPQRSTUVWXYZ") : 1;
		if (variable)
			fputs("\\fI", out);
		manpage_letters(out, args, len);
		if (variable)
			fputs("\\fR", out);
	}
}

void control_man(FILE *out)
{
	for (size_t i = 0; i < COUNT(rows); i++) {
		char *text;

		if (!rows[i].help) {
			fprintf(out, ".SS %s\n", rows[i].word);
			continue;
		}
		fprintf(out, ".TP\n\\fB%s\\fR%s", rows[i].word, *rows[i].args ? " " : "");
		put_args(out, rows[i].args);
		text = mem_textf("%c%s. %s", toupper((unsigned char)rows[i].help[0]), rows[i].help + 1,
				 more_about(rows[i].word));
		fputc('\n', out);
		manpage_text(out, text, is_command);
		mem_free(text);
	}
}
