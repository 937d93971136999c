/* Leases as written by ISC's DHCP server: a journal of statements in braces.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 *     lease 192.0.2.7 { ends 4 2026/11/19 10:00:00; binding state active; client-hostname "pc"; }
 *     ia-na "..." { iaaddr 2001:db8::7 { binding state active; ends never; } }
 *
 * Blocks of other kinds are skipped, however deeply nested. */
#include <string.h>

#include "services/leases/private.h"

#define WORDS 6 /* of a statement that are kept */

struct statement {
	struct piece words[WORDS];
	unsigned count;
};

struct reading {
	struct leasefile *file;
	const char *at, *end;
	unsigned line;
	struct statement now;
	unsigned depth;       /* open braces */
	unsigned ia_depth;    /* depth of a client's address block; 0: not in one */
	unsigned lease_depth; /* depth of a lease; 0: not in one */
	struct lease lease;
	struct piece dns_name; /* that the server has registered in the DNS */
};

/* ---- words ---- */

static void pass_over_blanks(struct reading *r)
{
	for (; r->at < r->end; r->at++) {
		if (*r->at == '#') {
			while (r->at < r->end && *r->at != '\n')
				r->at++;
			if (r->at == r->end)
				return;
		}
		if (*r->at == '\n')
			r->line++;
		else if (*r->at != ' ' && *r->at != '\t' && *r->at != '\r')
			return;
	}
}

static bool is_mark(char c)
{
	return c == '{' || c == '}' || c == ';';
}

/* The text between quotes, escapes left as they are. An unterminated string ends with its line. */
static struct piece take_quoted(struct reading *r)
{
	struct piece p = { ++r->at, 0 };

	while (r->at < r->end && *r->at != '"' && *r->at != '\n')
		r->at += *r->at == '\\' && r->end - r->at > 1 && r->at[1] != '\n' ? 2 : 1;
	p.len = (size_t)(r->at - p.at);
	if (r->at < r->end && *r->at == '"')
		r->at++;
	return p;
}

static struct piece take_bare(struct reading *r)
{
	struct piece p = { r->at, 0 };

	while (r->at < r->end && !is_mark(*r->at) && *r->at != '"' && *r->at != '\n' &&
	       *r->at != ' ' && *r->at != '\t' && *r->at != '\r')
		r->at++;
	p.len = (size_t)(r->at - p.at);
	return p;
}

/* ---- times ---- */

static int64_t days_before(int64_t year, int64_t month)
{
	/* Years begin in March, so that the leap day comes last. */
	int64_t y = month <= 2 ? year - 1 : year, m = (month + 9) % 12;

	return 365 * y + y / 4 - y / 100 + y / 400 + (153 * m + 2) / 5 - 719469;
}

/* Three numbers separated by `mark`. */
static bool take_three(struct piece p, char mark, int64_t to[3])
{
	for (unsigned i = 0; i < 3; i++) {
		const char *end = i < 2 ? memchr(p.at, mark, p.len) : p.at + p.len;

		if (!end || end - p.at > 4 ||
		    !piece_number((struct piece){ p.at, (size_t)(end - p.at) }, &to[i]))
			return false;
		if (i < 2) {
			p.len -= (size_t)(end - p.at) + 1;
			p.at = end + 1;
		}
	}
	return true;
}

/* "ends never", "ends epoch 1700000000", "ends 4 2026/11/19 10:00:00" */
static bool take_end(const struct statement *s, int64_t *ends_s)
{
	int64_t day[3], time[3];

	if (s->count >= 2 && piece_is(s->words[1], "never")) {
		*ends_s = LEASE_FOREVER;
		return true;
	}
	if (s->count >= 3 && piece_is(s->words[1], "epoch"))
		return piece_number(s->words[2], ends_s);
	if (s->count < 4 || !take_three(s->words[2], '/', day) ||
	    !take_three(s->words[3], ':', time) || day[1] < 1 || day[1] > 12 || day[2] < 1)
		return false;
	*ends_s = ((days_before(day[0], day[1]) + day[2]) * 24 + time[0]) * 3600 + time[1] * 60 +
		  time[2];
	return true;
}

/* ---- statements and blocks ---- */

static void complain(struct reading *r)
{
	if (r->now.count)
		leasefile_remark(r->file, TROUBLE_garbled, r->line, r->now.words[0]);
}

static void open_block(struct reading *r)
{
	const struct statement *s = &r->now;
	const char *word = r->ia_depth ? "iaaddr" : "lease";

	r->depth++;
	if (r->lease_depth || s->count < 2 || r->depth != r->ia_depth + 1)
		return;
	if (piece_is(s->words[0], word)) {
		r->lease = (struct lease){ .line = r->line, .ends_s = LEASE_FOREVER };
		r->dns_name = (struct piece){ NULL, 0 };
		if (piece_address(s->words[1], &r->lease.addr))
			r->lease_depth = r->depth;
		else
			complain(r);
	} else if (!r->ia_depth &&
		   (piece_is(s->words[0], "ia-na") || piece_is(s->words[0], "ia-ta"))) {
		r->ia_depth = r->depth;
	}
}

/* Whether what the client calls itself can be a host's name: printers and telephones say odd things,
 * of which the server makes a name when it registers one. */
static bool is_fit(const struct lease *l)
{
	for (unsigned i = 0; i < l->name_len; i++) {
		char c = l->name[i];

		if (!((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
		      c == '-' || c == '.'))
			return false;
	}
	return l->name_len > 0;
}

static void close_block(struct reading *r)
{
	if (r->depth == 0) {
		leasefile_remark(r->file, TROUBLE_garbled, r->line, (struct piece){ "}", 1 });
		return;
	}
	if (r->lease_depth == r->depth) {
		if (r->dns_name.len && !is_fit(&r->lease)) {
			r->lease.name = r->dns_name.at;
			r->lease.name_len = (unsigned)MIN(r->dns_name.len, 1024u);
		}
		leasefile_put(r->file, &r->lease);
		r->lease_depth = 0;
	}
	if (r->ia_depth == r->depth)
		r->ia_depth = 0;
	r->depth--;
}

static void end_statement(struct reading *r)
{
	const struct statement *s = &r->now;

	if (!r->lease_depth || r->depth != r->lease_depth || s->count == 0)
		return;
	if (s->count == 1) {
		r->lease.gone |= piece_is(s->words[0], "abandoned");
	} else if (piece_is(s->words[0], "ends")) {
		if (!take_end(s, &r->lease.ends_s))
			complain(r);
	} else if (piece_is(s->words[0], "binding") && s->count >= 3) {
		r->lease.gone = !piece_is(s->words[2], "active") && !piece_is(s->words[2], "bootp");
	} else if (piece_is(s->words[0], "client-hostname")) {
		r->lease.name = s->words[1].at;
		r->lease.name_len = (unsigned)MIN(s->words[1].len, 1024u);
	} else if (s->count >= 4 && piece_is(s->words[0], "set") &&
		   piece_is(s->words[1], "ddns-fwd-name")) {
		r->dns_name = s->words[3];
	}
}

static void take_word(struct reading *r)
{
	struct piece p = *r->at == '"' ? take_quoted(r) : take_bare(r);

	if (r->now.count < WORDS)
		r->now.words[r->now.count++] = p;
}

void read_isc(struct leasefile *f, struct lines *l)
{
	struct reading r = { .file = f, .at = l->at, .end = l->end, .line = 1 };

	for (pass_over_blanks(&r); r.at < r.end; pass_over_blanks(&r)) {
		if (!is_mark(*r.at)) {
			take_word(&r);
			continue;
		}
		if (*r.at == '{')
			open_block(&r);
		else if (*r.at == '}')
			close_block(&r);
		else
			end_statement(&r);
		r.now.count = 0;
		r.at++;
	}
	if (r.depth || r.now.count) /* the server is still writing, or crashed while doing so */
		leasefile_remark(f, TROUBLE_garbled, r.line, (struct piece){ "{", 1 });
	l->at = l->end;
}
