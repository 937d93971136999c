/* Numbered copies of one line: what $GENERATE of a zone file makes.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "util/dns/text_series.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define WIDTH_MOST 255

/* A number at `*at`, which moves behind it. */
static bool take_number(const char **at, long least, long most, long *to)
{
	char *end;

	if (!isdigit((unsigned char)**at) && !(least < 0 && strchr("+-", **at) && **at))
		return false;
	errno = 0;
	*to = strtol(*at, &end, 10);
	if (end == *at || errno || *to < least || *to > most)
		return false;
	*at = end;
	return true;
}

const char *text_series_parse(struct text_series *s, const char *text)
{
	long first, last, step = 1;

	text += strspn(text, " \t");
	if (!take_number(&text, 0, INT32_MAX, &first) || *text++ != '-' ||
	    !take_number(&text, 0, INT32_MAX, &last) || last < first)
		return NULL;
	if (*text == '/') {
		text++;
		if (!take_number(&text, 1, INT32_MAX, &step))
			return NULL;
	}
	if (*text != ' ' && *text != '\t')
		return NULL;
	text += strspn(text, " \t");
	*s = (struct text_series){ (uint32_t)first, (uint32_t)step,
				   (uint32_t)((last - first) / step) + 1 };
	return *text ? text : NULL;
}

struct modifier {
	long offset, width;
	char base;
};

/* "{OFFSET[,WIDTH[,BASE]]}" at `*at`, which moves behind it. */
static bool take_modifier(const char **at, struct modifier *m)
{
	++*at;
	if (!take_number(at, -(long)INT32_MAX, INT32_MAX, &m->offset))
		return false;
	if (**at == ',') {
		++*at;
		if (!take_number(at, 0, WIDTH_MOST, &m->width))
			return false;
		if (**at == ',') {
			m->base = (*at)[1];
			if (!m->base || !strchr("doxXnN", m->base))
				return false;
			*at += 2;
		}
	}
	return *(*at)++ == '}';
}

/* Digits from the last to the first; a dot stands between two, and counts. */
static void write_nibbles(uint32_t n, long width, bool upper, char *to)
{
	const char *digits = upper ? "0123456789ABCDEF" : "0123456789abcdef";

	do {
		*to++ = digits[n & 15];
		n >>= 4;
		width--;
		if (n || width > 0) {
			*to++ = '.';
			width--;
		}
	} while (n || width > 0);
	*to = '\0';
}

static bool write_number(const struct modifier *m, uint32_t number, char *to, size_t room)
{
	int64_t n = (int64_t)number + m->offset;
	int width = (int)m->width;

	if (n < 0 || n > UINT32_MAX)
		return false;
	switch (m->base) {
	case 'o':
		snprintf(to, room, "%0*" PRIo32, width, (uint32_t)n);
		break;
	case 'x':
		snprintf(to, room, "%0*" PRIx32, width, (uint32_t)n);
		break;
	case 'X':
		snprintf(to, room, "%0*" PRIX32, width, (uint32_t)n);
		break;
	case 'n':
	case 'N':
		write_nibbles((uint32_t)n, width, m->base == 'N', to);
		break;
	default:
		snprintf(to, room, "%0*" PRIu32, width, (uint32_t)n);
	}
	return true;
}

/* What stands at `*line`, which moves behind it. */
static bool expand(const char **line, uint32_t number, char *to, size_t room)
{
	struct modifier m = { .base = 'd' };
	const char *at = *line;

	if (at[0] == '\\' && at[1]) {
		snprintf(to, room, "%.2s", at);
		*line += 2;
		return true;
	}
	if (at[0] != '$') {
		snprintf(to, room, "%c", at[0]);
		++*line;
		return true;
	}
	++*line;
	if (at[1] == '$') {
		snprintf(to, room, "\\$");
		++*line;
		return true;
	}
	if (at[1] == '{' && !take_modifier(line, &m))
		return false;
	return write_number(&m, number, to, room);
}

bool text_series_write(const struct text_series *s, uint32_t i, const char *line, char *to,
		       size_t room)
{
	char piece[WIDTH_MOST + 20];

	while (*line) {
		size_t len;

		if (!expand(&line, s->first + i * s->step, piece, sizeof(piece)))
			return false;
		len = strlen(piece);
		if (len >= room)
			return false;
		memcpy(to, piece, len);
		to += len;
		room -= len;
	}
	if (room == 0)
		return false;
	*to = '\0';
	return true;
}
