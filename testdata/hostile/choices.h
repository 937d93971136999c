/* What a world leaves to chance, as streams of bytes: drawn from a seed, or given, so that less of it can be tried.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * Every decision takes the next byte of its stream (two for a bound above 256) and 0 is the plainest: nothing wrong,
 * nothing more. Past the end all is 0, so a shorter stream is a plainer world. What was drawn is kept. */
#ifndef TESTDATA_HOSTILE_CHOICES_H
#define TESTDATA_HOSTILE_CHOICES_H

#include "util/base/base.h"

enum choice_stream { CHOICES_WORLD, CHOICES_STORY, CHOICES_ATTACK, CHOICE_STREAMS };

struct choices {
	struct choice_bytes {
		uint8_t *bytes; /* heap */
		size_t len, at;
		uint64_t state; /* of the generator, while `fresh` */
	} streams[CHOICE_STREAMS];
	bool fresh; /* drawn as needed; else the bytes are what there is */
};

void choices_draw(struct choices *c, uint64_t seed);
/* Draws that many bytes of each stream beforehand: for a world that does not live to say what it has drawn. */
void choices_fill(struct choices *c, size_t len);
/* The same decisions from the beginning on. */
void choices_rewind(struct choices *c);
void choices_copy(struct choices *to, const struct choices *from);
void choices_clear(struct choices *c);
/* As three lines of hexadecimal digits; false if they are not. */
char *choices_print(const struct choices *c) MUST_USE;
bool choices_parse(struct choices *c, const char *text) MUST_USE;

/* Below `bound` (at most 65536); 0 for a bound of 0. */
unsigned draw(struct choices *c, enum choice_stream s, unsigned bound);
/* True in that many cases of a hundred. */
bool chance(struct choices *c, enum choice_stream s, unsigned percent);

#endif
