/* The syntax of configuration files: scanning words, following includes.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "util/conf/conftext.h"

#include <errno.h>
#include <glob.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "util/base/mem.h"

#ifndef GLOB_BRACE
#define GLOB_BRACE 0
#endif
#ifndef GLOB_TILDE
#define GLOB_TILDE 0
#endif

#define DEEPEST         100             /* nesting of includes */
#define MOST_FILES      10000           /* in one configuration */
#define LONGEST_FILE    (UINT32_C(1) << 30)
#define PIECE           65536           /* bytes read from a file at a time */

/* A file on the stack. A glob's matches wait there unopened, the first on top. */
struct source {
	const char *name;
	const char *text;               /* NULL while it waits */
	FILE *in;                       /* not yet read to its end; NULL: none */
	char *owned;                    /* buffer it is read into; or NULL */
	size_t len, at, room;
	size_t keep;                    /* what precedes is no longer needed */
	size_t read;                    /* bytes read so far */
	unsigned line;
	unsigned depth;
	bool toplevel;                  /* included by include-toplevel */
	const char *from_file;          /* the including file; NULL for the first */
	unsigned from_line;
	dev_t dev;
	ino_t ino;
};

struct conftext {
	const struct conftext_how *how;
	struct source *stack;
	size_t count, room;
	char **names;                   /* of every file, since callers borrow them */
	size_t name_count;
	char *word;
	size_t word_len, word_room;
	char *folder;                   /* "" or a path without a trailing slash */
	unsigned back_line;             /* where the last value began; its source keeps the place */
	bool at_toplevel;               /* CONFTEXT_TOPLEVEL is due */
};

static void PRINTF_LIKE(5, 6) complain(const struct conftext *t, bool is_error, const char *file,
				       unsigned line, const char *fmt, ...)
{
	char text[512];
	va_list ap;

	if (!t->how->complain)
		return;
	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	t->how->complain(t->how->arg, is_error, file, line, text);
}

/* ---- files ---- */

static const char *keep_name(struct conftext *t, const char *name)
{
	t->names = mem_grow(t->names, (t->name_count + 1) * sizeof(*t->names));
	t->names[t->name_count] = mem_text(name);
	return t->names[t->name_count++];
}

static struct source *top(const struct conftext *t)
{
	return t->count ? &t->stack[t->count - 1] : NULL;
}

static struct source *push(struct conftext *t, const char *name)
{
	struct source *s;

	if (t->count == t->room) {
		t->room = t->room ? 2 * t->room : 8;
		t->stack = mem_grow(t->stack, t->room * sizeof(*t->stack));
	}
	s = &t->stack[t->count++];
	*s = (struct source){ .name = keep_name(t, name), .line = 1 };
	return s;
}

static void skip_byte_order_mark(struct source *s)
{
	if (s->len >= 3 && memcmp(s->text, "\xef\xbb\xbf", 3) == 0)
		s->at = 3;
}

/* Read more of the file; false at its end. */
static bool refill(struct conftext *t, struct source *s)
{
	size_t got;

	if (!s->in)
		return false;
	if (s->keep) {
		memmove(s->owned, s->owned + s->keep, s->len - s->keep);
		s->len -= s->keep;
		s->at -= s->keep;
		s->keep = 0;
	}
	if (s->room - s->len < PIECE) {
		s->room = s->len + 2 * PIECE;
		s->owned = mem_grow(s->owned, s->room);
		s->text = s->owned;
	}
	got = fread(s->owned + s->len, 1, PIECE, s->in);
	s->len += got;
	s->read += got;
	if (got && s->read <= LONGEST_FILE)
		return true;
	if (ferror(s->in))
		complain(t, true, s->name, 0, "cannot read the file: %s", strerror(errno));
	else if (got)
		complain(t, true, s->name, 0, "the file is longer than a gigabyte");
	fclose(s->in);
	s->in = NULL;
	return false;
}

/* Whether there is a character at `s->at`. */
static inline bool has(struct conftext *t, struct source *s)
{
	return s->at < s->len || refill(t, s);
}

/* Load the beginning of the file; returns why it cannot be read, or NULL. */
static const char *begin_reading(struct conftext *t, struct source *s)
{
	const char *why = NULL;
	struct stat st;

	s->in = fopen(s->name, "rb");
	if (!s->in)
		return strerror(errno);
	if (fstat(fileno(s->in), &st) == 0) {
		s->dev = st.st_dev;
		s->ino = st.st_ino;
		if (S_ISDIR(st.st_mode))
			why = strerror(EISDIR);
	}
	if (why) {
		fclose(s->in);
		s->in = NULL;
		return why;
	}
	s->text = "";
	s->owned = mem_new(1);
	(void)refill(t, s);
	skip_byte_order_mark(s);
	return NULL;
}

static void pop(struct conftext *t)
{
	struct source *s = top(t);

	PROMISE(s);
	if (s->toplevel)
		t->at_toplevel = true;
	if (s->in)
		fclose(s->in);
	mem_free(s->owned);
	t->count--;
}

/* Is the file on top the same as one of those that led to it? Waiting siblings have no text. */
static bool includes_itself(const struct conftext *t, const struct source *s)
{
	for (size_t i = 0; i + 1 < t->count; i++) {
		const struct source *other = &t->stack[i];

		if (other->owned && other->dev == s->dev && other->ino == s->ino)
			return true;
	}
	return false;
}

/* Load the file on top, or drop it with a complaint. */
static void open_top(struct conftext *t)
{
	struct source *s = top(t);
	const char *why = begin_reading(t, s);

	if (!s->from_file) {
		if (why)
			complain(t, true, s->name, 0, "cannot read the file: %s", why);
	} else if (why) {
		complain(t, !t->how->no_files, s->from_file, s->from_line,
			 "include: cannot read '%s': %s", s->name, why);
	} else if (includes_itself(t, s)) {
		complain(t, true, s->from_file, s->from_line, "include: '%s' includes itself",
			 s->name);
		why = "";
	}
	if (why)
		pop(t);
}

static bool has_glob(const char *path)
{
	return strpbrk(path, "*?[{~") != NULL;
}

/* `path` as seen from here: without the chroot we are in, relative to the folder that was set. */
static char *place(const struct conftext *t, const char *path, bool is_glob)
{
	const char *root = t->how->chroot;
	size_t len = root ? strlen(root) : 0;
	char *whole, *w;

	while (len && root[len - 1] == '/')
		len--;
	if (len && strncmp(path, root, len) == 0 && path[len] == '/')
		path += len;
	if (path[0] == '/' || path[0] == '~' || !t->folder[0])
		return mem_text(path);

	/* Escape the folder's own name, so that glob() takes it literally. */
	w = whole = mem_new(2 * strlen(t->folder) + strlen(path) + 2);
	for (const char *f = t->folder; *f; f++) {
		if (is_glob && strchr("*?[]{}~\\", *f))
			*w++ = '\\';
		*w++ = *f;
	}
	*w++ = '/';
	memcpy(w, path, strlen(path) + 1);
	return whole;
}

static void add_file(struct conftext *t, const char *path, bool toplevel, const char *from_file,
		     unsigned from_line, unsigned depth)
{
	struct source *s = push(t, path);

	s->toplevel = toplevel;
	s->from_file = from_file;
	s->from_line = from_line;
	s->depth = depth;
}

/* Whether the folder in which a pattern looks exists; assumed so when the folder's name is itself
 * part of the pattern. */
static bool has_folder(const char *pattern)
{
	size_t len = strcspn(pattern, "*?[{~\\");
	struct stat st;
	char *folder;
	bool found;

	while (len && pattern[len - 1] != '/')
		len--;
	if (len == 0)
		return true;
	folder = mem_textf("%.*s", (int)len, pattern);
	found = stat(folder, &st) == 0;
	mem_free(folder);
	return found;
}

static void include(struct conftext *t, const char *word, bool toplevel, const char *file,
		    unsigned line)
{
	unsigned depth = top(t)->depth + 1;
	bool is_glob = has_glob(word);
	glob_t found = { 0 };
	char *path;

	if (toplevel)
		t->at_toplevel = true;
	if (!*word) {
		complain(t, true, file, line, "include: no file is named");
		return;
	}
	if (t->how->no_includes) {
		complain(t, false, file, line, "include: '%s' is not read here", word);
		return;
	}
	if (depth > DEEPEST) {
		complain(t, true, file, line, "include: '%s' is nested more than %d deep", word,
			 DEEPEST);
		return;
	}

	path = place(t, word, is_glob);
	if (!is_glob) {
		found.gl_pathc = 1;
		found.gl_pathv = &path;
	} else if (glob(path, GLOB_BRACE | GLOB_TILDE, NULL, &found) != 0) {
		/* No match is no error: folders of snippets may be empty, but must exist. */
		found.gl_pathc = 0;
		if (!has_folder(path))
			complain(t, !t->how->no_files, file, line,
				 "include: cannot read '%s': %s", path, strerror(errno));
	}
	if (t->name_count + found.gl_pathc > MOST_FILES) {
		complain(t, true, file, line, "include: these are more than %d files", MOST_FILES);
	} else {
		for (size_t i = found.gl_pathc; i-- > 0;)
			add_file(t, found.gl_pathv[i], toplevel, file, line, depth);
	}
	if (is_glob)
		globfree(&found);
	mem_free(path);
}

/* ---- words ---- */

static void word_grow(struct conftext *t)
{
	t->word_room = t->word_room ? 2 * t->word_room : 128;
	t->word = mem_grow(t->word, t->word_room);
}

static inline void word_add(struct conftext *t, char c)
{
	if (UNLIKELY(t->word_len + 1 >= t->word_room))
		word_grow(t);
	t->word[t->word_len++] = c;
	t->word[t->word_len] = '\0';
}

static void word_clear(struct conftext *t)
{
	word_add(t, '\0');
	t->word_len = 0;
	t->word[0] = '\0';
}

static bool is_blank(char c)
{
	return c == ' ' || c == '\t' || c == '\r' || c == '\n' || c == '\v' || c == '\f';
}

/* Advance to the next word; false at the end of the file. */
static bool skip_to_word(struct conftext *t, struct source *s)
{
	while (s->keep = s->at, has(t, s)) {
		char c = s->text[s->at];

		if (c == '\0') {
			complain(t, true, s->name, s->line, "there is a byte 0 in the file");
			while (has(t, s) && s->text[s->at] == '\0')
				s->keep = ++s->at;
		} else if (c == '#') {
			while (has(t, s) && s->text[s->at] != '\n')
				s->keep = ++s->at;
		} else if (is_blank(c)) {
			if (c == '\n')
				s->line++;
			s->at++;
		} else {
			return true;
		}
	}
	return false;
}

/* Characters that may mean something in a word that is quoted, or in any; no others do. */
enum { IN_QUOTES = 1, OUTSIDE = 2, ANYWHERE = IN_QUOTES | OUTSIDE };
static const uint8_t meanings[256] = {
	['\0'] = ANYWHERE, ['\n'] = ANYWHERE, ['\\'] = ANYWHERE, ['"'] = ANYWHERE,
	['\''] = ANYWHERE, [' '] = OUTSIDE,   ['\t'] = OUTSIDE,   ['\r'] = OUTSIDE,
	['\v'] = OUTSIDE,  ['\f'] = OUTSIDE,  [':'] = OUTSIDE,
};

/* Take what follows, up to such a character or the end of what was read. */
static inline void scan_run(struct conftext *t, struct source *s, uint8_t meaning)
{
	const char *from = s->text + s->at, *end = s->text + s->len, *to = from;
	size_t len;

	while (to < end && !(meanings[(uint8_t)*to] & meaning))
		to++;
	len = (size_t)(to - from);
	while (UNLIKELY(t->word_len + len >= t->word_room))
		word_grow(t);
	memcpy(t->word + t->word_len, from, len);
	t->word_len += len;
	t->word[t->word_len] = '\0';
	s->at += len;
}

/* An unquoted word; where names are expected, a colon ends it too. */
static void scan_plain(struct conftext *t, struct source *s, bool colon_ends)
{
	while (scan_run(t, s, OUTSIDE), has(t, s)) {
		char c = s->text[s->at];

		if (is_blank(c) || c == '"' || c == '\'' || c == '\0' || (colon_ends && c == ':'))
			return;
		word_add(t, c);
		s->at++;
		if (c == '\\' && has(t, s) && s->text[s->at] != '\n' &&
		    s->text[s->at] != '\r' && s->text[s->at] != '\0')
			word_add(t, s->text[s->at++]);
	}
}

static void scan_quoted(struct conftext *t, struct source *s)
{
	char quote = s->text[s->at++];

	while (scan_run(t, s, IN_QUOTES), has(t, s)) {
		char c = s->text[s->at];

		if (c == '\n' || c == '\0')
			break;
		s->at++;
		if (c == quote)
			return;
		word_add(t, c);
		if (c == '\\' && has(t, s) && s->text[s->at] != '\n' && s->text[s->at] != '\0')
			word_add(t, s->text[s->at++]);
	}
	complain(t, true, s->name, s->line, "the quote %c is not closed on its line", quote);
}

static void scan_value(struct conftext *t, struct source *s, struct conftext_word *word)
{
	char c = s->text[s->at];

	s->keep = s->at;
	t->back_line = s->line;
	word_clear(t);
	word->quoted = c == '"' || c == '\'';
	word->file = s->name;
	word->line = s->line;
	if (word->quoted)
		scan_quoted(t, s);
	else
		scan_plain(t, s, false);
	word->text = t->word;
}

bool conftext_value(struct conftext *t, struct conftext_word *word)
{
	struct source *s = top(t);

	if (s && s->text && skip_to_word(t, s)) {
		scan_value(t, s, word);
		return true;
	}
	*word = (struct conftext_word){ .text = "", .file = s ? s->name : "",
					.line = s ? s->line : 0 };
	return false;
}

void conftext_put_back(struct conftext *t)
{
	struct source *s = top(t);

	s->at = s->keep;
	s->line = t->back_line;
}

bool conftext_line_goes_on(struct conftext *t)
{
	struct source *s = top(t);

	if (!s || !s->text)
		return false;
	for (size_t ahead = 0; s->at + ahead < s->len || refill(t, s); ahead++) {
		char c = s->text[s->at + ahead];

		if (c == '\n' || c == '#')
			return false;
		if (!is_blank(c))
			return true;
	}
	return false;
}

static enum conftext_kind scan_name(struct conftext *t, struct source *s, struct conftext_word *word)
{
	char c = s->text[s->at];

	if (c == '"' || c == '\'') {
		scan_value(t, s, word);
		return CONFTEXT_STRAY;
	}
	word_clear(t);
	*word = (struct conftext_word){ .file = s->name, .line = s->line };
	scan_plain(t, s, true);
	word->text = t->word;
	if (has(t, s) && s->text[s->at] == ':') {
		s->at++;
		if (t->word_len)
			return CONFTEXT_NAME;
		word_add(t, ':');
		word->text = t->word;
	}
	return CONFTEXT_STRAY;
}

/* Follow the include whose name was just read. */
static void scan_include(struct conftext *t, bool toplevel)
{
	struct conftext_word path;
	char *text;

	if (!conftext_value(t, &path)) {
		complain(t, true, path.file, path.line, "include: no file is named");
		return;
	}
	text = mem_text(path.text);
	include(t, text, toplevel, path.file, path.line);
	mem_free(text);
}

enum conftext_kind conftext_next(struct conftext *t, struct conftext_word *word)
{
	enum conftext_kind kind;

	for (;;) {
		struct source *s = top(t);

		if (t->at_toplevel) {
			t->at_toplevel = false;
			*word = (struct conftext_word){ .text = "", .file = s ? s->name : "" };
			return CONFTEXT_TOPLEVEL;
		}
		if (!s) {
			*word = (struct conftext_word){ .text = "", .file = "" };
			return CONFTEXT_END;
		}
		if (!s->text) {
			open_top(t);
			continue;
		}
		if (!skip_to_word(t, s)) {
			pop(t);
			continue;
		}
		kind = scan_name(t, s, word);
		if (kind != CONFTEXT_NAME)
			return kind;
		if (strcmp(word->text, "include") == 0)
			scan_include(t, false);
		else if (strcmp(word->text, "include-toplevel") == 0)
			scan_include(t, true);
		else
			return kind;
	}
}

/* ---- beginning and end ---- */

static struct conftext *conftext_new(const char *name, const struct conftext_how *how)
{
	struct conftext *t = mem_zero(sizeof(*t));

	t->how = how;
	t->folder = mem_text("");
	push(t, name);
	return t;
}

struct conftext *conftext_open_file(const char *path, const struct conftext_how *how)
{
	return conftext_new(path, how);
}

struct conftext *conftext_open_text(const char *name, const char *text, size_t len,
				    const struct conftext_how *how)
{
	struct conftext *t = conftext_new(name, how);
	struct source *s = top(t);

	PROMISE(s);
	s->text = len ? text : "";
	s->len = len;
	skip_byte_order_mark(s);
	return t;
}

void conftext_set_folder(struct conftext *t, const char *path)
{
	char *next = place(t, path, false);
	size_t len = strlen(next);

	while (len > 1 && next[len - 1] == '/')
		next[--len] = '\0';
	mem_free(t->folder);
	t->folder = next;
}

void conftext_close(struct conftext *t)
{
	if (!t)
		return;
	while (t->count)
		pop(t);
	for (size_t i = 0; i < t->name_count; i++)
		mem_free(t->names[i]);
	mem_free(t->names);
	mem_free(t->stack);
	mem_free(t->word);
	mem_free(t->folder);
	mem_free(t);
}
