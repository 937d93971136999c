/* The syntax of configuration files: names, values, quotes, comments, includes; knows no options.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * A file is a sequence of `name:` and values. Blanks and line ends only separate, so
 * several options may share a line, and a value may be on the next one. A value is
 * a run of characters, or anything in "double" or 'single' quotes on one line; a
 * backslash keeps the character after it from ending the value, and stays in it. `#`
 * begins a comment where a word could begin, and is an ordinary character elsewhere.
 * Only the caller knows how many values a name takes:
 *
 *	while (conftext_next(t, &word) != CONFTEXT_END)
 *		while (wanted--)
 *			conftext_value(t, &word);
 *
 * `include:` and `include-toplevel:` are part of the syntax and never reach the
 * caller (but see CONFTEXT_TOPLEVEL). They take a path or a glob. */
#ifndef UTIL_CONF_CONFTEXT_H
#define UTIL_CONF_CONFTEXT_H

#include "util/base/base.h"

struct conftext;

struct conftext_how {
	bool no_files;          /* an unreadable include is only a warning */
	bool no_includes;       /* follow none: for untrusted text */
	const char *chroot;     /* stripped from the front of included paths; or NULL */
	/* Told what is wrong and where. `file` lives until conftext_close. */
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
	CONFTEXT_NAME,          /* a name, without its colon */
	CONFTEXT_STRAY,         /* some other word where a name should be */
	CONFTEXT_TOPLEVEL,      /* include-toplevel: began or ended; no clause is open now */
};

/* Read a file, or `len` bytes of text to which `name` is given as file name. Always
 * succeeds: what cannot be read yields a complaint, then CONFTEXT_END. `how` and
 * `text` must stay valid until conftext_close. */
struct conftext *conftext_open_file(const char *path, const struct conftext_how *how) MUST_USE;
struct conftext *conftext_open_text(const char *name, const char *text, size_t len,
				    const struct conftext_how *how) MUST_USE;
void conftext_close(struct conftext *t);        /* NULL is fine */

/* The next name, following includes on the way. */
enum conftext_kind conftext_next(struct conftext *t, struct conftext_word *word);

/* The next value, from the file the last name was in. False, with an empty text, at
 * the end of that file. */
bool conftext_value(struct conftext *t, struct conftext_word *word);

/* Un-read the last value: it is read again, as the next name or value. */
void conftext_put_back(struct conftext *t);

/* Is there another word on the line on which the last one ended? */
bool conftext_line_goes_on(struct conftext *t);

/* From now on, relative include paths start at `path`, which may itself be relative
 * to where they started before. */
void conftext_set_folder(struct conftext *t, const char *path);

#endif
