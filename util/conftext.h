/* The language of a configuration file: names, values, quotes, comments, includes. It knows no option.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * A file is a row of `name:` and values. Blanks and line ends separate and mean
 * nothing else, so that several options may share a line and a value may stand on
 * the next one. A value is a run of letters, or anything in "double" or 'single'
 * quotes on one line; a backslash keeps its next letter from ending the value and
 * stays in it. `#` begins a comment where a word would begin, and is a letter
 * elsewhere. How many values a name has only the caller knows:
 *
 *	while (conftext_next(t, &word) != CONFTEXT_END)
 *		while (wanted--)
 *			conftext_value(t, &word);
 *
 * `include:` and `include-toplevel:` are part of the language and never seen by
 * the caller. They take a path or a glob. */
#ifndef UTIL_CONFTEXT_H
#define UTIL_CONFTEXT_H

#include "util/base.h"

struct conftext;

struct conftext_how {
	bool no_files;          /* an include that cannot be read is a warning */
	bool no_includes;       /* follow none: for texts of strangers */
	const char *chroot;     /* taken off the front of included paths; or NULL */
	/* What is wrong and where. `file` lives until conftext_close. */
	void (*complain)(void *arg, bool is_error, const char *file, unsigned line,
			 const char *text);
	void *arg;
};

struct conftext_word {
	const char *text;       /* borrowed until the next call */
	const char *file;       /* lives until conftext_close */
	unsigned line;          /* from 1 */
	bool quoted;
};

enum conftext_kind {
	CONFTEXT_END,
	CONFTEXT_NAME,          /* a name; its colon is not in the text */
	CONFTEXT_STRAY,         /* a word that is no name where one should be */
	CONFTEXT_TOPLEVEL,      /* include-toplevel: has begun or ended; no clause is open any more */
};

/* Read a file, or `len` bytes of text that bear the name of a file. Always
 * succeeds: what cannot be read is a complaint and then the end. `how` and
 * `text` must stay until conftext_close. */
struct conftext *conftext_open_file(const char *path, const struct conftext_how *how) MUST_USE;
struct conftext *conftext_open_text(const char *name, const char *text, size_t len,
				    const struct conftext_how *how) MUST_USE;
void conftext_close(struct conftext *t);        /* NULL is fine */

/* The next name. Includes are followed on the way. */
enum conftext_kind conftext_next(struct conftext *t, struct conftext_word *word);

/* The next value, of the file that the last name stood in. False, with an empty
 * text, where the file ends. */
bool conftext_value(struct conftext *t, struct conftext_word *word);

/* The last value was none: read it again, as the next name or value. */
void conftext_put_back(struct conftext *t);

/* Is there another word on the line where the last one ended? */
bool conftext_line_goes_on(struct conftext *t);

/* Relative paths of includes start from here from now on; itself relative to
 * where they started before. */
void conftext_set_folder(struct conftext *t, const char *path);

#endif
