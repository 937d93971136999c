/* What the formats of lists have in common: words of a line, rules put out, lines skipped.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "services/blocklist/line.h"

#include <string.h>
#include <strings.h>

#include "util/net/addr.h"

/* ---- words ---- */

bool word_take(const char **at, struct word *w, const char *more)
{
	const char *p = *at;

	while (blocklist_is_blank(*p))
		p++;
	w->at = p;
	while (*p && !blocklist_is_blank(*p) && !(*more && strchr(more, *p)))
		p++;
	w->len = (size_t)(p - w->at);
	*at = p;
	return w->len > 0;
}

bool word_is(struct word w, const char *text)
{
	return w.len == strlen(text) && strncasecmp(w.at, text, w.len) == 0;
}

bool word_read_address(struct word w, struct addr *a)
{
	char text[ADDR_TEXT];
	const char *scope = memchr(w.at, '%', w.len);

	if (scope)
		w.len = (size_t)(scope - w.at);
	if (w.len >= sizeof(text) || memchr(w.at, '@', w.len))
		return false;
	memcpy(text, w.at, w.len);
	text[w.len] = '\0';
	return addr_parse(a, text, 0, NULL);
}

bool word_is_address(struct word w)
{
	struct addr a;

	return word_read_address(w, &a);
}

bool blocklist_is_null(const struct addr *a)
{
	static const uint8_t zeros[16], loop[16] = { [15] = 1 };

	if (a->family == 4)
		return a->ip[0] == 127 || memcmp(a->ip, zeros, 4) == 0;
	return memcmp(a->ip, zeros, 16) == 0 || memcmp(a->ip, loop, 16) == 0;
}

bool word_is_null_address(struct word w)
{
	struct addr a;

	return word_read_address(w, &a) && blocklist_is_null(&a);
}

/* ---- rules ---- */

enum blocklist_skip blocklist_skip_of(enum blocklist_name n)
{
	static const enum blocklist_skip why[] = {
		[BLOCKLIST_NAME] = BLOCKLIST_READ,
		[BLOCKLIST_NAME_TOP] = BLOCKLIST_SKIP_top,
		[BLOCKLIST_NAME_ADDRESS] = BLOCKLIST_SKIP_address,
		[BLOCKLIST_NAME_PATTERN] = BLOCKLIST_SKIP_pattern,
		[BLOCKLIST_NAME_URL] = BLOCKLIST_SKIP_url,
		[BLOCKLIST_NAME_BAD] = BLOCKLIST_SKIP_name,
	};

	return why[n];
}

/* In an allow-file, what would block a name or let it pass allows it. */
static uint8_t bits_of(const struct blocklist_reader *r, uint8_t bits)
{
	uint8_t said = (uint8_t)(bits | bits >> 2);

	if (!r->how.allow)
		return bits;
	return bits & BLOCKLIST_IMPORTANT
		       ? (uint8_t)((said & BLOCKLIST_BLOCK << BLOCKLIST_IMPORTANT_SHIFT) << 2)
		       : (uint8_t)((said & BLOCKLIST_BLOCK) << 2);
}

enum blocklist_skip blocklist_put_rule(struct blocklist_reader *r, struct blocklist_rule *rule)
{
	if (!*rule->name || (!r->how.tops && !rule->name[1 + *rule->name]))
		return BLOCKLIST_SKIP_top;
	rule->bits = bits_of(r, rule->bits);
	rule->operators = r->how.allow;
	if (!r->how.allow && r->how.policy) {
		rule->policy = r->policy;
		rule->list = r->list;
	}
	r->counts.rules += !rule->removes;
	r->how.rule(r->how.arg, rule);
	return BLOCKLIST_READ;
}

enum blocklist_skip blocklist_put_name(struct blocklist_reader *r, const uint8_t *name,
				       uint8_t bits)
{
	struct blocklist_rule rule = { .name = name, .bits = bits };

	return blocklist_put_rule(r, &rule);
}

enum blocklist_skip blocklist_put_form(struct blocklist_reader *r, struct word w, uint8_t bits,
				       uint8_t form)
{
	uint8_t name[DNAME_MAX];
	struct blocklist_rule rule = { .name = name, .bits = bits, .form = form };
	enum blocklist_name n = blocklist_name_read(w.at, w.len, name);

	if (n != BLOCKLIST_NAME && n != BLOCKLIST_NAME_TOP)
		return blocklist_skip_of(n);
	return blocklist_put_rule(r, &rule);
}

enum blocklist_skip blocklist_put(struct blocklist_reader *r, struct word w, uint8_t bits)
{
	return blocklist_put_form(r, w, bits, 0);
}

static void note_bad(struct blocklist_reader *r)
{
	size_t i;

	r->counts.first_bad = (unsigned)r->counts.lines;
	for (i = 0; i + 1 < sizeof(r->counts.first_bad_text) && r->line[i]; i++)
		r->counts.first_bad_text[i] =
			r->line[i] >= 0x20 && r->line[i] < 0x7f ? r->line[i] : '?';
	r->counts.first_bad_text[i] = '\0';
}

void blocklist_skip(struct blocklist_reader *r, enum blocklist_skip why)
{
	if (why == BLOCKLIST_READ)
		return;
	r->counts.skipped[why]++;
	if ((why == BLOCKLIST_SKIP_name || why == BLOCKLIST_SKIP_unknown) && !r->counts.first_bad)
		note_bad(r);
}
