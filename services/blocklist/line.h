/* A line of a list: the reader's state, words, and how the formats put out rules.
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef SERVICES_BLOCKLIST_LINE_H
#define SERVICES_BLOCKLIST_LINE_H

#include "services/blocklist/name.h"
#include "services/blocklist/read.h"

struct addr;
struct blocklist_json;

enum { BLOCKLIST_LINE = 4096 }; /* longest line that can be a rule */

/* A run of characters in a line. */
struct word {
	const char *at;
	size_t len;
};

struct blocklist_reader {
	struct blocklist_how how;
	struct blocklist_counts counts;
	char line[BLOCKLIST_LINE + 1]; /* so far; while it is parsed, without trailing blanks */
	size_t len;
	unsigned letters; /* the kinds of characters in it */
	bool too_long;
	bool begun; /* the first byte has been seen */
	bool seen;  /* a first line has shown that this is not a web page */
	/* a policy zone */
	bool zone;         /* lines of one have been seen */
	unsigned brackets; /* open parentheses, across lines */
	uint8_t apex[DNAME_MAX], origin[DNAME_MAX], owner[DNAME_MAX];
	bool has_apex, has_origin, has_owner;
	bool is_below; /* the owner begins with "*." */
	struct blocklist_json *json; /* what is read is JSON; NULL: lines */
	unsigned policy;             /* of the rules of this line; 0: none */
	unsigned list;               /* within the policy; 0: not told */
	char special[BLOCKLIST_LINE + 1]; /* the modifiers of the line, sorted */
};

/* Emit a rule for the name in `w`; returns BLOCKLIST_READ, or why there is none. */
enum blocklist_skip blocklist_put(struct blocklist_reader *r, struct word w, uint8_t bits);
/* With the form of the rule's text (struct blocklist_rule). */
enum blocklist_skip blocklist_put_form(struct blocklist_reader *r, struct word w, uint8_t bits,
				       uint8_t form);
enum blocklist_skip blocklist_put_name(struct blocklist_reader *r, const uint8_t *name,
				       uint8_t bits);
/* The same for a rule, whose bits an allow-file changes. */
enum blocklist_skip blocklist_put_rule(struct blocklist_reader *r, struct blocklist_rule *rule);
void blocklist_skip(struct blocklist_reader *r, enum blocklist_skip why); /* BLOCKLIST_READ is fine */
enum blocklist_skip blocklist_skip_of(enum blocklist_name n);

/* The next word, ended by a blank or one of `more`; false at the end of the line. */
bool word_take(const char **at, struct word *w, const char *more);
bool word_is(struct word w, const char *text); /* ignoring case */
bool word_is_null_address(struct word w);      /* 0.0.0.0, ::, 127.0.0.0/8, ::1 */
bool word_is_address(struct word w);
bool word_read_address(struct word w, struct addr *a); /* with or without a scope */
bool blocklist_is_null(const struct addr *a);       /* as word_is_null_address */

static inline bool blocklist_is_blank(char c)
{
	return c == ' ' || c == '\t';
}

#endif
