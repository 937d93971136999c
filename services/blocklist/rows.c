/* Tables as pfBlockerNG writes them for a script in the resolver: rows with commas.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * What is blocked (pfb_py_data.txt, pfb_py_zone.txt), what passes (pfb_py_whitelist.txt), and what
 * is answered with something else (pfb_py_ss.txt). */
#include <stdio.h>
#include <string.h>

#include "services/blocklist/private.h"
#include "services/blocklist/special.h"

static struct word next_field(const char **at)
{
	struct word w = { *at, strcspn(*at, ",") };

	*at += w.len + ((*at)[w.len] != '\0');
	return w;
}

/* ",name,,log,feed,group" */
static void read_blocked_row(struct blocklist_reader *r, const char *line)
{
	unsigned commas = 0;
	struct word name;

	for (const char *at = line; *at; at++)
		commas += *at == ',';
	line++;
	name = next_field(&line);
	blocklist_skip(r, commas != 5 ? BLOCKLIST_SKIP_unknown
				: blocklist_put(r, name, r->how.rows == BLOCKLIST_ROWS_BELOW ? BLOCKLIST_BLOCK : BLOCKLIST_BLOCK_SELF));
}

/* A name that is answered by an alias or an address, for searches without what is not for children. */
static enum blocklist_skip put_rewrite(struct blocklist_reader *r, struct word name,
				       const char *special)
{
	uint8_t wire[DNAME_MAX];
	struct blocklist_special parsed;
	struct blocklist_rule rule = { .name = wire,
				       .bits = BLOCKLIST_BLOCK_SELF,
				       .special = special };
	enum blocklist_name n = blocklist_name_read(name.at, name.len, wire);

	if (n != BLOCKLIST_NAME)
		return blocklist_skip_of(n);
	if (r->how.allow || !blocklist_special_parse(&parsed, special))
		return BLOCKLIST_SKIP_rewrite;
	blocklist_special_clear(&parsed);
	return blocklist_put_rule(r, &rule);
}

static void read_rewrite_row(struct blocklist_reader *r, struct word name, struct word a,
			     struct word b)
{
	char text[2][512] = { "", "" };

	if (word_is(a, "nxdomain"))
		snprintf(text[0], sizeof(text[0]), "dnsrewrite=NXDOMAIN");
	else if (word_is(a, "cname"))
		snprintf(text[0], sizeof(text[0]), "dnsrewrite=NOERROR;CNAME;%.*s", (int)b.len, b.at);
	else
		snprintf(text[0], sizeof(text[0]), "dnstype=%s,dnsrewrite=NOERROR;A;%.*s",
			 b.len ? "A" : "A|AAAA", (int)a.len, a.at);
	if (b.len && word_is_address(b))
		snprintf(text[1], sizeof(text[1]), "dnstype=AAAA,dnsrewrite=NOERROR;AAAA;%.*s",
			 (int)b.len, b.at);
	for (int i = 0; i < 2; i++) {
		if (!*text[i])
			continue;
		blocklist_skip(r, put_rewrite(r, name, text[i]));
		if (name.len > 4 && strncmp(name.at, "www.", 4) == 0)
			blocklist_skip(r, put_rewrite(r, (struct word){ name.at + 4, name.len - 4 }, text[i]));
	}
}

/* "name,0" and "name,1": pass, with 1 all below it, too. This precedes whatever is blocked. */
static void read_passed_row(struct blocklist_reader *r, struct word name, bool below)
{
	uint8_t bits = (uint8_t)((below ? BLOCKLIST_ALLOW : BLOCKLIST_ALLOW_SELF)
				 << BLOCKLIST_IMPORTANT_SHIFT);
	char www[DNAME_TEXT];

	blocklist_skip(r, blocklist_put(r, name, bits));
	if (below || name.len + 5 > sizeof(www))
		return;
	snprintf(www, sizeof(www), "www.%.*s", (int)name.len, name.at);
	blocklist_skip(r, blocklist_put(r, (struct word){ www, strlen(www) }, bits));
}

bool blocklist_read_row(struct blocklist_reader *r, const char *line)
{
	struct word name, a, b;

	if (*line == ',') {
		read_blocked_row(r, line);
		return true;
	}
	if (r->how.rows < BLOCKLIST_ROWS_PASS)
		return false;
	name = next_field(&line);
	a = next_field(&line);
	b = next_field(&line);
	if (*line || !a.len)
		blocklist_skip(r, BLOCKLIST_SKIP_unknown);
	else if (r->how.rows == BLOCKLIST_ROWS_PASS)
		read_passed_row(r, name, word_is(a, "1"));
	else
		read_rewrite_row(r, name, a, b);
	return true;
}

enum blocklist_rows blocklist_rows_of(const char *path)
{
	static const struct {
		const char *name;
		enum blocklist_rows rows;
	} known[] = {
		{ "pfb_py_zone", BLOCKLIST_ROWS_BELOW },
		{ "pfb_py_whitelist", BLOCKLIST_ROWS_PASS },
		{ "pfb_py_ss", BLOCKLIST_ROWS_REWRITE },
	};
	const char *slash = strrchr(path, '/'), *base = slash ? slash + 1 : path;

	for (size_t i = 0; i < COUNT(known); i++)
		if (strncmp(base, known[i].name, strlen(known[i].name)) == 0)
			return known[i].rows;
	return BLOCKLIST_ROWS_BLOCK;
}
