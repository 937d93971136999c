/* The adversary: what his servers answer, put together by rules.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * An answer begins as an honest one, or as none, and rules change it. A rule is a row of adversary.def and a function
 * `rule_NAME(struct attack *)` in adversary_rules.c or a file beside it; it decides with `pick`, and 0 is
 * always the plainest. */
#ifndef TESTDATA_HOSTILE_ADVERSARY_H
#define TESTDATA_HOSTILE_ADVERSARY_H

#include "testdata/hostile/internet.h"

struct attack {
	struct internet *net;
	struct arena *arena; /* of the internet */
	const struct question *q;
	struct site *site; /* the zone that is asked for, his or one that he has a server of */
	bool tcp;
	bool forwards; /* he is the forwarder */
	struct told *told; /* the answer so far */
	/* how it goes out */
	bool silent;
	uint32_t delay_ms;
	unsigned copies;     /* more of the same, before it */
	unsigned strays;     /* with wrong ids, before it */
	size_t keep;	     /* bytes of it; 0: all */
	bool breaks;	     /* the connection ends, with nothing whole having come */
	bool lowers;	     /* the question in small letters */
	bool other_question; /* the question is not the one asked */
};

#define RULE(name, weight, what) void rule_##name(struct attack *a);
#include "testdata/hostile/adversary.def"
#undef RULE

/* What he prefers in this world. */
void adversary_begin(struct internet *net);
/* Fills in what goes out. */
void adversary_answer(struct attack *a);
/* What he has told is too large: it will be asked for over TCP. */
void adversary_too_large(struct attack *a);
const char *adversary_rule_name(unsigned i); /* NULL: no more */

/* ---- for rules ---- */

unsigned pick(const struct attack *a, unsigned bound);
bool pick_chance(const struct attack *a, unsigned percent);
struct site *pick_site(const struct attack *a);	      /* one that is there */
const uint8_t *pick_name(const struct attack *a);     /* anybody's */
const uint8_t *pick_own_name(const struct attack *a); /* his */
uint16_t pick_type(const struct attack *a);
uint32_t pick_ttl(const struct attack *a);
enum section pick_section(const struct attack *a);
/* A set of one or a few records, made up. */
struct set *pick_set(const struct attack *a, const uint8_t *owner, uint16_t type);
/* The set goes into the answer, signed in one of the ways there are (or not). */
void tell_signed(struct attack *a, enum section section, struct set *s);

#endif
