/* AdBlock and AdGuard rules, as far as they apply to DNS.
 * SPDX-License-Identifier: BSD-3-Clause */
#include <string.h>

#include "services/blocklist/private.h"
#include "services/blocklist/special.h"

enum { MODIFIERS_MOST = 16 };

struct adblock {
	struct blocklist_reader *r;
	bool allow, important, removes;
	uint8_t bits, form;
	struct word name;
	struct word kept[MODIFIERS_MOST]; /* those kept as text */
	unsigned kept_count;
};

/* ---- modifiers ---- */

static bool begins(struct word w, const char *text)
{
	return w.len > strlen(text) && memcmp(w.at, text, strlen(text)) == 0;
}

static int compare_words(struct word a, struct word b)
{
	int order = memcmp(a.at, b.at, MIN(a.len, b.len));

	return order ? order : (a.len > b.len) - (a.len < b.len);
}

/* Sorted, so that the order in which they were written makes no difference to $badfilter. */
static bool keep(struct adblock *a, struct word w)
{
	unsigned i = a->kept_count;

	if (i == MODIFIERS_MOST)
		return false;
	for (; i && compare_words(a->kept[i - 1], w) > 0; i--)
		a->kept[i] = a->kept[i - 1];
	a->kept[i] = w;
	a->kept_count++;
	return true;
}

static bool read_modifier(struct adblock *a, struct word w)
{
	if (word_is(w, "important"))
		return a->important = true;
	if (word_is(w, "badfilter"))
		return a->removes = true;
	return (begins(w, "dnstype=") || begins(w, "client=") || begins(w, "denyallow=") ||
		begins(w, "dnsrewrite=") || word_is(w, "dnsrewrite")) &&
	       keep(a, w);
}

/* A comma with a backslash in front is part of a value. */
static const char *next_comma(const char *at, const char *end)
{
	for (; at < end && *at != ','; at++)
		at += *at == '\\' && at + 1 < end;
	return at;
}

/* False: a modifier only browsers can apply. */
static bool read_modifiers(struct adblock *a, const char *at, const char *end)
{
	char *to = a->r->special;
	struct blocklist_special s;

	for (const char *comma; at < end; at = comma + 1) {
		comma = next_comma(at, end);
		if (!read_modifier(a, (struct word){ at, (size_t)(comma - at) }))
			return false;
	}
	for (unsigned i = 0; i < a->kept_count; i++) { /* no more than the line */
		if (i)
			*to++ = ',';
		memcpy(to, a->kept[i].at, a->kept[i].len);
		to += a->kept[i].len;
	}
	*to = '\0';
	if (!a->kept_count)
		return true;
	if (!blocklist_special_parse(&s, a->r->special))
		return false;
	blocklist_special_clear(&s);
	return true;
}

/* ---- the name ---- */

static bool has(struct word w, const char *bytes)
{
	for (size_t i = 0; i < w.len; i++)
		if (strchr(bytes, w.at[i]))
			return true;
	return false;
}

static bool cut_front(struct word *w, const char *text)
{
	size_t len = strlen(text);

	if (w->len <= len || memcmp(w->at, text, len) != 0)
		return false;
	w->at += len;
	w->len -= len;
	return true;
}

static bool cut_back(struct word *w, char c)
{
	if (!w->len || w->at[w->len - 1] != c)
		return false;
	w->len--;
	return true;
}

/* What is before the modifiers: bars, a star or a dot, the name, and its end. Which of them there are
 * is the form, below BLOCKLIST_FORMS and never 0. */
static enum blocklist_skip read_pattern(struct adblock *a, struct word w)
{
	bool end, caret, tree = cut_front(&w, "||"), exact = !tree && cut_front(&w, "|");
	bool star = cut_front(&w, "*."), dot = !star && cut_front(&w, ".");
	unsigned front;

	end = cut_back(&w, '|');
	caret = cut_back(&w, '^');
	front = star ? 3u + tree + 2u * exact : dot ? 6u : tree + 2u * exact;
	a->form = (uint8_t)(1 + front + 7 * (caret + 2u * end));
	a->bits = star || dot ? BLOCKLIST_BLOCK_BELOW
		  : exact     ? BLOCKLIST_BLOCK_SELF
			      : BLOCKLIST_BLOCK;
	a->name = w;
	if (has(w, "*") || (dot && (tree || exact)))
		return BLOCKLIST_SKIP_pattern;
	if (has(w, "/?=&^|"))
		return BLOCKLIST_SKIP_url;
	/* "||name." without "^": a prefix of longer names. */
	if ((tree || exact) && !caret && !end && w.len && w.at[w.len - 1] == '.')
		return BLOCKLIST_SKIP_pattern;
	return BLOCKLIST_READ;
}

/* ---- the rule ---- */

static enum blocklist_skip put_rule(struct adblock *a)
{
	uint8_t name[DNAME_MAX];
	struct blocklist_rule rule = { .name = name,
				       .form = a->form,
				       .removes = a->removes,
				       .special = a->kept_count ? a->r->special : NULL };
	enum blocklist_name n = blocklist_name_read(a->name.at, a->name.len, name);

	if (n != BLOCKLIST_NAME && n != BLOCKLIST_NAME_TOP)
		return blocklist_skip_of(n);
	if (a->removes && a->r->how.allow)
		return BLOCKLIST_SKIP_modifier;
	rule.bits = (uint8_t)(a->bits << (a->allow ? 2 : 0) << (a->important ? BLOCKLIST_IMPORTANT_SHIFT : 0));
	return blocklist_put_rule(a->r, &rule);
}

/* The pattern ends at a comment, though AdGuard knows none here; blanks are in no name. */
static struct word without_comment(struct word w)
{
	for (size_t i = 1; i + 1 < w.len; i++) {
		if ((w.at[i] != ' ' && w.at[i] != '\t') || (w.at[i + 1] != '#' && w.at[i + 1] != '!'))
			continue;
		while (i && (w.at[i - 1] == ' ' || w.at[i - 1] == '\t'))
			i--;
		return (struct word){ w.at, i };
	}
	return w;
}

static enum blocklist_skip read_rule(struct adblock *a, struct word line)
{
	const char *end = line.at + line.len, *dollar;
	struct word pattern;
	enum blocklist_skip why;

	if (line.len >= 2 && memcmp(line.at, "@@", 2) == 0) {
		a->allow = true;
		line.at += 2;
	}
	if (*line.at == '/' && end - line.at > 1 && (end[-1] == '/' || strstr(line.at + 1, "/$")))
		return BLOCKLIST_SKIP_pattern;
	dollar = memchr(line.at, '$', (size_t)(end - line.at));
	pattern = without_comment((struct word){ line.at, (size_t)((dollar ? dollar : end) - line.at) });
	if (dollar && pattern.at + pattern.len != dollar)
		dollar = NULL; /* in the comment */
	why = read_pattern(a, pattern);
	if (why == BLOCKLIST_SKIP_url)
		return why;
	if (dollar && !read_modifiers(a, dollar + 1, end))
		return BLOCKLIST_SKIP_modifier;
	return why == BLOCKLIST_READ ? put_rule(a) : why;
}

void blocklist_read_adblock(struct blocklist_reader *r, struct word line)
{
	struct adblock a;

	a.r = r;
	a.allow = a.important = a.removes = false;
	a.kept_count = 0;
	blocklist_skip(r, read_rule(&a, line));
}
