/* AdBlock and AdGuard rules, as far as they apply to DNS.
 * SPDX-License-Identifier: BSD-3-Clause */
#include <stdio.h>
#include <string.h>

#include "services/blocklist_private.h"
#include "services/blocklist_special.h"

struct adblock {
	struct list_reader *r;
	bool allow, tree, important, removes;
	bool anchored;         /* begins with "|" or "||" */
	struct word name;
	struct word exempt;    /* denyallow */
	char special[512];     /* modifiers kept verbatim */
};

/* ---- modifiers ---- */

static bool begins(struct word w, const char *text)
{
	return w.len > strlen(text) && memcmp(w.at, text, strlen(text)) == 0;
}

static bool keep_special(struct adblock *a, struct word w)
{
	size_t used = strlen(a->special);

	if (used + w.len + 2 > sizeof(a->special))
		return false;
	snprintf(a->special + used, sizeof(a->special) - used, "%s%.*s", used ? "," : "",
		 (int)w.len, w.at);
	return true;
}

static bool read_modifier(struct adblock *a, struct word w)
{
	if (word_is(w, "important"))
		return a->important = true;
	if (word_is(w, "badfilter"))
		return a->removes = true;
	if (begins(w, "denyallow=")) {
		a->exempt = (struct word){ w.at + 10, w.len - 10 };
		return true;
	}
	return (begins(w, "dnstype=") || begins(w, "client=") || begins(w, "dnsrewrite=")) &&
	       keep_special(a, w);
}

/* False: a modifier only browsers can apply. */
static bool read_modifiers(struct adblock *a, const char *at, const char *end)
{
	struct list_special s;

	while (at < end) {
		const char *comma = memchr(at, ',', (size_t)(end - at));
		struct word w = { at, (size_t)((comma ? comma : end) - at) };

		if (!read_modifier(a, w))
			return false;
		at = comma ? comma + 1 : end;
	}
	return !*a->special || list_special_parse(&s, a->special);
}

/* ---- the name ---- */

static bool has(struct word w, const char *bytes)
{
	for (size_t i = 0; i < w.len; i++)
		if (strchr(bytes, w.at[i]))
			return true;
	return false;
}

/* Parse what is between the bars and the first modifier. */
static enum list_skip read_pattern(struct adblock *a, struct word w, uint8_t *bits)
{
	bool ended = false;

	if (w.len && w.at[w.len - 1] == '|')
		w.len--;
	while (w.len && w.at[w.len - 1] == '^') {
		ended = true;
		w.len--;
	}
	*bits = a->tree ? LIST_BLOCK : LIST_BLOCK_SELF;
	if (w.len > 2 && w.at[0] == '*' && w.at[1] == '.') {
		w.at += 2;
		w.len -= 2;
		*bits = LIST_BLOCK_BELOW;
	}
	a->name = w;
	if (has(w, "*"))
		return LIST_SKIP_pattern;
	if (has(w, "/?=&^"))
		return LIST_SKIP_url;
	/* "||name." without "^": a prefix of longer names. */
	if (a->anchored && !ended && w.len && w.at[w.len - 1] == '.')
		return LIST_SKIP_pattern;
	return LIST_READ;
}

/* ---- the rule ---- */

static enum list_skip put_one(const struct adblock *a, const uint8_t *name, uint8_t bits)
{
	struct list_reader *r = a->r;
	struct list_rule rule = { .name = name,
				  .bits = bits,
				  .removes = a->removes,
				  .special = *a->special ? a->special : NULL };

	if (!r->how.tops && !name[1 + *name])
		return LIST_SKIP_top;
	if (r->how.allow && !(bits & (LIST_ALLOW | LIST_ALLOW << LIST_IMPORTANT_SHIFT)))
		rule.bits = (uint8_t)(bits << 2);
	r->counts.rules += !rule.removes;
	r->how.rule(r->how.arg, &rule);
	return LIST_READ;
}

/* "a.example|b.example": names the rule does not apply to. */
static void put_exempt(const struct adblock *a)
{
	const char *at = a->exempt.at, *end = at + a->exempt.len;
	struct adblock plain = *a;

	plain.special[0] = '\0';
	while (at < end) {
		const char *bar = memchr(at, '|', (size_t)(end - at));
		size_t len = (size_t)((bar ? bar : end) - at);
		uint8_t name[DNAME_MAX];
		enum list_name n = list_name_read(at, len, name);

		if (n == LIST_NAME)
			n = put_one(&plain, name,
				    (uint8_t)(LIST_ALLOW
					      << (a->important ? LIST_IMPORTANT_SHIFT : 0))) ==
					    LIST_READ
				    ? LIST_NAME
				    : LIST_NAME_TOP;
		else
			list_skip(a->r, list_skip_of(n));
		at = bar ? bar + 1 : end;
	}
}

static enum list_skip put_rule(struct adblock *a, uint8_t bits)
{
	uint8_t name[DNAME_MAX];
	enum list_name n = list_name_read(a->name.at, a->name.len, name);
	enum list_skip why;

	if (n != LIST_NAME && n != LIST_NAME_TOP)
		return list_skip_of(n);
	if (a->allow)
		bits = (uint8_t)(bits << 2);
	if (a->important)
		bits = (uint8_t)(bits << LIST_IMPORTANT_SHIFT);
	why = put_one(a, name, bits);
	if (why == LIST_READ && a->exempt.len && !a->allow && !a->removes)
		put_exempt(a);
	return why;
}

static enum list_skip read_rule(struct adblock *a, struct word line)
{
	const char *end = line.at + line.len, *dollar;
	enum list_skip why;
	uint8_t bits;

	if (line.len >= 2 && memcmp(line.at, "@@", 2) == 0) {
		a->allow = true;
		line.at += 2;
	}
	if (*line.at == '/' && end - line.at > 1 && (end[-1] == '/' || strstr(line.at + 1, "/$")))
		return LIST_SKIP_pattern;
	for (unsigned bars = 0; bars < 2 && *line.at == '|'; bars++, line.at++) {
		a->tree = bars == 1;
		a->anchored = true;
	}
	dollar = memchr(line.at, '$', (size_t)(end - line.at));
	why = read_pattern(a, (struct word){ line.at, (size_t)((dollar ? dollar : end) - line.at) },
			   &bits);
	if (why == LIST_SKIP_url)
		return why;
	if (dollar && !read_modifiers(a, dollar + 1, end))
		return LIST_SKIP_modifier;
	/* An exception that rewrites is meaningless here. */
	if (a->allow && strstr(a->special, "dnsrewrite"))
		return LIST_SKIP_modifier;
	return why == LIST_READ ? put_rule(a, bits) : why;
}

void list_read_adblock(struct list_reader *r, struct word line)
{
	struct adblock a = { .r = r };

	list_skip(r, read_rule(&a, line));
}
