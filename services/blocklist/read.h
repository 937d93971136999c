/* A reader of published lists of names to block: bytes in, rules out.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * Each line is parsed by itself, so that formats may be mixed: hosts files, names, "*.name",
 * AdBlock and AdGuard rules, dnsmasq and Unbound options, pfBlockerNG's tables; also records of a
 * policy zone (RPZ), once a zone has begun. OPNsense's lists are one piece of JSON. What a resolver cannot apply (rules for parts of pages, for URLs) is counted
 * and skipped. What is no list at all (a web page, a program) ends the reading with a fault. */
#ifndef SERVICES_BLOCKLIST_READ_H
#define SERVICES_BLOCKLIST_READ_H

#include "util/dns/dname.h"

struct fault;

/* What a rule does to the name itself and to the names below it; shifted by
 * BLOCKLIST_IMPORTANT_SHIFT, the same for important rules ($important). Rules that allow hold
 * against all that block the name or names above or below it; those with the bits of both
 * (BLOCKLIST_PASS) only against what blocks the name itself (but for BLOCKLIST_FORM_DATA) or names
 * above it. */
enum {
	BLOCKLIST_BLOCK_SELF = 1,
	BLOCKLIST_BLOCK_BELOW = 2,
	BLOCKLIST_ALLOW_SELF = 4,
	BLOCKLIST_ALLOW_BELOW = 8,
	BLOCKLIST_BLOCK = BLOCKLIST_BLOCK_SELF | BLOCKLIST_BLOCK_BELOW,
	BLOCKLIST_ALLOW = BLOCKLIST_ALLOW_SELF | BLOCKLIST_ALLOW_BELOW,
	BLOCKLIST_PASS = BLOCKLIST_BLOCK | BLOCKLIST_ALLOW,
	BLOCKLIST_PLAIN = BLOCKLIST_BLOCK | BLOCKLIST_ALLOW,
	BLOCKLIST_IMPORTANT_SHIFT = 4,
	BLOCKLIST_IMPORTANT = BLOCKLIST_PLAIN << BLOCKLIST_IMPORTANT_SHIFT,
};

enum {
	BLOCKLIST_FORMS = 32,
	BLOCKLIST_FORM_TREE = 9, /* "||name^" */
	/* No AdBlock rules, but addresses that dnsmasq or Unbound answers with, which hold against what lets
	 * the same name pass. Plus the bits, BLOCKLIST_BLOCK_SELF and BLOCKLIST_BLOCK_BELOW. */
	BLOCKLIST_FORM_DATA = 28,
};

struct blocklist_rule {
	const uint8_t *name; /* lower-case */
	uint8_t bits;
	uint8_t form;   /* of the text of an AdBlock rule: two of one form, for one name with the same
			 * bits and modifiers, have the same text. Below BLOCKLIST_FORMS; 0: another rule */
	bool removes;   /* $badfilter: cancels the rules with the same text */
	bool operators; /* of an allow-file */
	/* Modifiers that restrict it or answer ("client=10.0.0.0/8,dnstype=AAAA"), sorted; see
	 * services/blocklist/special.h. NULL: none. */
	const char *special;
	unsigned policy; /* 0: for everybody; else see struct blocklist_how */
	unsigned list;   /* of a policy: which of its lists has the name; 0: not told. Below BLOCKLIST_POLICY_LISTS */
};

#define BLOCKLIST_SKIPS(X)                                            \
	X(cosmetic, "cosmetic rules")                            \
	X(url, "rules for URLs")                                 \
	X(modifier, "rules with modifiers for browsers only")    \
	X(pattern, "patterns and regular expressions")           \
	X(address, "addresses")                                  \
	X(rewrite, "rules that answer with something else")      \
	X(top, "whole top-level domains")                        \
	X(trigger, "policy triggers other than names")           \
	X(foreign, "settings of other programs")                 \
	X(name, "invalid names")                                 \
	X(unknown, "invalid lines")

enum blocklist_skip {
#define X(id, what) BLOCKLIST_SKIP_##id,
	BLOCKLIST_SKIPS(X)
#undef X
	BLOCKLIST_SKIP_KINDS,
	BLOCKLIST_READ = BLOCKLIST_SKIP_KINDS, /* not skipped */
};

struct blocklist_counts {
	uint64_t lines, rules; /* rules: names and exceptions; a line may have several */
	uint64_t skipped[BLOCKLIST_SKIP_KINDS];
	unsigned first_bad;      /* line number of the first bad name or unknown line; 0: none */
	char first_bad_text[80]; /* its beginning, made printable */
};

extern const char *const blocklist_skip_what[BLOCKLIST_SKIP_KINDS];

/* What rows with commas mean, which do not say so themselves (rows.c). */
enum blocklist_rows {
	BLOCKLIST_ROWS_BLOCK,   /* ",name,,…": names to block */
	BLOCKLIST_ROWS_BELOW,   /* the same, with all below them */
	BLOCKLIST_ROWS_PASS,    /* "name,0" and "name,1": names that pass */
	BLOCKLIST_ROWS_REWRITE, /* "name,…,…": answers */
};

/* As told by the name of its file. */
enum blocklist_rows blocklist_rows_of(const char *path) MUST_USE;

struct blocklist_how {
	bool tops;  /* whole top-level domains may be blocked */
	bool allow; /* lines that would block a name allow it instead */
	enum blocklist_rows rows;
	void (*rule)(void *arg, const struct blocklist_rule *r); /* `r` is valid during the call */
	/* What the policy of that number says, after all rules (services/blocklist/clients.h); those
	 * told first precede. At last 0 and NULL. NULL: rules with a policy are for everybody. */
	void (*policy)(void *arg, unsigned number, const char *text);
	void *arg;
};

struct blocklist_reader;

struct blocklist_reader *blocklist_reader_new(const struct blocklist_how *how) MUST_USE;
void blocklist_reader_free(struct blocklist_reader *r); /* NULL is fine */
/* Take the next bytes, split anywhere. False: this is no list; nothing more is read. */
bool blocklist_reader_take(struct blocklist_reader *r, const char *bytes, size_t len,
			   struct fault *f) MUST_USE;
/* End of input: reads a last line without a newline. False: not a list to be trusted (empty, or
 * mostly lines that are no rules). */
bool blocklist_reader_end(struct blocklist_reader *r, struct fault *f) MUST_USE;
const struct blocklist_counts *blocklist_reader_counts(const struct blocklist_reader *r);
/* Within `rule`: the number and text of its line. */
unsigned blocklist_reader_line(const struct blocklist_reader *r);
const char *blocklist_reader_text(const struct blocklist_reader *r);

#endif
