/* Decisions: from a seed, or from bytes.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "testdata/hostile/choices.h"

#include <stdio.h>
#include <string.h>

#include "util/base/bytes.h"
#include "util/base/mem.h"

/* splitmix64: any seed is as good as another. */
static uint64_t next_word(uint64_t *state)
{
	uint64_t z = *state += UINT64_C(0x9e3779b97f4a7c15);

	z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
	z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
	return z ^ z >> 31;
}

void choices_draw(struct choices *c, uint64_t seed)
{
	uint64_t state = seed;

	memset(c, 0, sizeof(*c));
	c->fresh = true;
	for (unsigned i = 0; i < CHOICE_STREAMS; i++)
		c->streams[i].state = next_word(&state);
}

void choices_rewind(struct choices *c)
{
	c->fresh = false;
	for (unsigned i = 0; i < CHOICE_STREAMS; i++)
		c->streams[i].at = 0;
}

void choices_copy(struct choices *to, const struct choices *from)
{
	*to = *from;
	for (unsigned i = 0; i < CHOICE_STREAMS; i++)
		to->streams[i].bytes = mem_copy(from->streams[i].bytes, from->streams[i].len);
}

void choices_clear(struct choices *c)
{
	for (unsigned i = 0; i < CHOICE_STREAMS; i++)
		mem_free(c->streams[i].bytes);
	memset(c, 0, sizeof(*c));
}

static void draw_byte(struct choice_bytes *s)
{
	if (s->len % 256 == 0)
		s->bytes = mem_grow(s->bytes, s->len + 256);
	s->bytes[s->len++] = (uint8_t)(next_word(&s->state) >> 32);
}

void choices_fill(struct choices *c, size_t len)
{
	for (unsigned i = 0; i < CHOICE_STREAMS; i++)
		while (c->streams[i].len < len)
			draw_byte(&c->streams[i]);
}

/* Below `bound`, from the stream's next byte. */
static unsigned take(struct choices *c, struct choice_bytes *s, unsigned bound)
{
	if (s->at == s->len) {
		if (!c->fresh)
			return 0;
		draw_byte(s);
	}
	return s->bytes[s->at++] % bound;
}

unsigned draw(struct choices *c, enum choice_stream stream, unsigned bound)
{
	struct choice_bytes *s = &c->streams[stream];
	unsigned high;

	if (bound <= 1)
		return 0;
	if (bound <= 256)
		return take(c, s, bound);
	high = take(c, s, (bound + 255) / 256);
	return (high << 8 | take(c, s, 256)) % bound;
}

bool chance(struct choices *c, enum choice_stream s, unsigned percent)
{
	return draw(c, s, 100) >= 100 - percent;
}

char *choices_print(const struct choices *c)
{
	size_t room = 1;
	char *text, *at;

	for (unsigned i = 0; i < CHOICE_STREAMS; i++)
		room += 2 * c->streams[i].len + 1;
	at = text = mem_new(room);
	for (unsigned i = 0; i < CHOICE_STREAMS; i++) {
		for (size_t n = 0; n < c->streams[i].len; n++)
			at += sprintf(at, "%02x", c->streams[i].bytes[n]);
		*at++ = '\n';
	}
	*at = '\0';
	return text;
}

bool choices_parse(struct choices *c, const char *text)
{
	memset(c, 0, sizeof(*c));
	for (unsigned i = 0; i < CHOICE_STREAMS; i++) {
		struct choice_bytes *s = &c->streams[i];
		size_t len = strcspn(text, "\n");
		unsigned byte;

		s->bytes = mem_new(len / 2 + 1);
		for (size_t n = 0; n + 1 < len; n += 2) {
			if (sscanf(text + n, "%2x", &byte) != 1)
				return false;
			s->bytes[s->len++] = (uint8_t)byte;
		}
		text += len + (text[len] == '\n');
	}
	return true;
}
