/* Patterns: a position automaton for each alternative.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * Each letter of the pattern is a position; for each position there is the set of those that may
 * follow it (Glushkov's construction). Matching keeps the set of positions that may come next. */
#include "util/base/pattern.h"

#include <string.h>

#include "util/base/mem.h"

enum { POSITIONS = 250, WORDS = 4, DEPTH = 16 };

struct set {
	uint64_t word[WORDS];
};

enum kind { KIND_BYTE, KIND_BEGIN, KIND_END };

struct position {
	enum kind kind;
	uint64_t bytes[4]; /* KIND_BYTE: those it matches */
	struct set follow;
};

struct alternative {
	struct alternative *next;
	struct set first, last;
	bool empty; /* matches the empty text */
	unsigned count;
	struct position at[];
};

struct pattern {
	struct alternative *alternatives;
};

/* ---- sets ---- */

static void set_add(struct set *s, unsigned i)
{
	s->word[i / 64] |= UINT64_C(1) << (i % 64);
}

static bool set_has(const struct set *s, unsigned i)
{
	return s->word[i / 64] >> (i % 64) & 1;
}

static void set_join(struct set *s, const struct set *other)
{
	for (unsigned i = 0; i < WORDS; i++)
		s->word[i] |= other->word[i];
}

static bool set_is_empty(const struct set *s)
{
	return !(s->word[0] | s->word[1] | s->word[2] | s->word[3]);
}

/* ---- building ---- */

/* A part of the pattern: where a match of it may begin and end. */
struct part {
	struct set first, last;
	bool empty;
};

/* What a pair of parentheses (or the whole) has so far. */
struct level {
	struct part either; /* alternatives that have ended */
	struct part row;    /* the one being read, without its last atom */
	struct part atom;
	bool has_either, has_atom;
};

struct maker {
	const char *at, *end;
	struct position positions[POSITIONS];
	unsigned count;
	struct level levels[DEPTH];
	unsigned depth;
};

static void follow(struct maker *m, const struct set *last, const struct set *first)
{
	for (unsigned i = 0; i < m->count; i++)
		if (set_has(last, i))
			set_join(&m->positions[i].follow, first);
}

static void end_atom(struct maker *m, struct level *l)
{
	if (!l->has_atom)
		return;
	follow(m, &l->row.last, &l->atom.first);
	if (l->row.empty)
		set_join(&l->row.first, &l->atom.first);
	if (l->atom.empty)
		set_join(&l->row.last, &l->atom.last);
	else
		l->row.last = l->atom.last;
	l->row.empty &= l->atom.empty;
	l->has_atom = false;
}

static void end_row(struct maker *m, struct level *l)
{
	end_atom(m, l);
	if (l->has_either) {
		set_join(&l->either.first, &l->row.first);
		set_join(&l->either.last, &l->row.last);
		l->either.empty |= l->row.empty;
	} else {
		l->either = l->row;
	}
	l->has_either = true;
	l->row = (struct part){ .empty = true };
}

static void put_atom(struct maker *m, const struct part *p)
{
	struct level *l = &m->levels[m->depth];

	end_atom(m, l);
	l->atom = *p;
	l->has_atom = true;
}

static bool put_position(struct maker *m, enum kind kind, const uint64_t bytes[4])
{
	struct part p = { 0 };

	if (m->count == POSITIONS)
		return false;
	m->positions[m->count] = (struct position){ .kind = kind };
	if (bytes)
		memcpy(m->positions[m->count].bytes, bytes, sizeof(m->positions[0].bytes));
	set_add(&p.first, m->count);
	set_add(&p.last, m->count);
	m->count++;
	put_atom(m, &p);
	return true;
}

static void add_byte(uint64_t bytes[4], uint8_t c)
{
	bytes[c / 64] |= UINT64_C(1) << (c % 64);
}

/* With letters, both cases; texts are matched in lower case. */
static void add_range(uint64_t bytes[4], uint8_t from, uint8_t to)
{
	for (unsigned c = from; c <= to; c++)
		add_byte(bytes, (uint8_t)(c >= 'A' && c <= 'Z' ? c + 32 : c));
}

static void invert(uint64_t bytes[4])
{
	for (unsigned i = 0; i < 4; i++)
		bytes[i] = ~bytes[i];
}

/* The class after a backslash; false: there is none of this letter. */
static bool add_escape(uint64_t bytes[4], char letter)
{
	uint64_t class_[4] = { 0 };

	switch (letter) {
	case 'd': case 'D':
		add_range(class_, '0', '9');
		break;
	case 'w': case 'W':
		add_range(class_, '0', '9');
		add_range(class_, 'a', 'z');
		add_byte(class_, '_');
		break;
	case 's': case 'S':
		add_byte(class_, ' ');
		add_range(class_, '\t', '\r');
		break;
	default:
		if ((letter >= 'a' && letter <= 'z') || (letter >= 'A' && letter <= 'Z') ||
		    (letter >= '0' && letter <= '9') || !letter)
			return false;
		add_byte(class_, (uint8_t)letter);
	}
	if (letter >= 'A' && letter <= 'Z')
		invert(class_);
	for (unsigned i = 0; i < 4; i++)
		bytes[i] |= class_[i];
	return true;
}

/* After '['. */
static bool read_class(struct maker *m)
{
	uint64_t bytes[4] = { 0 };
	bool inverted = m->at < m->end && *m->at == '^', first = true;

	for (m->at += inverted; m->at < m->end; first = false) {
		uint8_t c = (uint8_t)*m->at++;

		if (c == ']' && !first) {
			if (inverted)
				invert(bytes);
			return put_position(m, KIND_BYTE, bytes);
		}
		if (c == '\\') {
			if (m->at == m->end || !add_escape(bytes, *m->at++))
				return false;
		} else if (m->end - m->at > 1 && m->at[0] == '-' && m->at[1] != ']') {
			if (m->at[1] == '\\' || (uint8_t)m->at[1] < c)
				return false;
			add_range(bytes, c, (uint8_t)m->at[1]);
			m->at += 2;
		} else {
			add_range(bytes, c, c);
		}
	}
	return false;
}

static bool open_group(struct maker *m)
{
	if (m->end - m->at > 1 && m->at[0] == '?') {
		if (m->at[1] != ':')
			return false;
		m->at += 2;
	}
	if (++m->depth == DEPTH)
		return false;
	m->levels[m->depth] = (struct level){ .row = { .empty = true } };
	return true;
}

static bool close_group(struct maker *m)
{
	struct level *l = &m->levels[m->depth];

	if (m->depth == 0)
		return false;
	end_row(m, l);
	m->depth--;
	put_atom(m, &l->either);
	return true;
}

static bool repeat(struct maker *m, char how)
{
	struct level *l = &m->levels[m->depth];

	if (!l->has_atom)
		return false;
	if (how != '?')
		follow(m, &l->atom.last, &l->atom.first);
	l->atom.empty |= how != '+';
	if (m->at < m->end && *m->at == '?') /* as few as possible: of no consequence here */
		m->at++;
	return true;
}

static bool read_one(struct maker *m)
{
	uint64_t bytes[4] = { 0 };
	char c = *m->at++;

	switch (c) {
	case '^':
		return put_position(m, KIND_BEGIN, NULL);
	case '$':
		return put_position(m, KIND_END, NULL);
	case '(':
		return open_group(m);
	case ')':
		return close_group(m);
	case '|':
		end_row(m, &m->levels[m->depth]);
		return true;
	case '*': case '+': case '?':
		return repeat(m, c);
	case '{':
		return false;
	case '[':
		return read_class(m);
	case '.':
		invert(bytes);
		return put_position(m, KIND_BYTE, bytes);
	case '\\':
		return m->at < m->end && add_escape(bytes, *m->at++) &&
		       put_position(m, KIND_BYTE, bytes);
	default:
		add_range(bytes, (uint8_t)c, (uint8_t)c);
		return put_position(m, KIND_BYTE, bytes);
	}
}

/* The end of the alternative that begins at `at`. */
static const char *end_of(const char *at, const char *end)
{
	unsigned depth = 0;
	bool in_class = false;

	for (const char *begin = at; at < end; at++) {
		if (*at == '\\' && at + 1 < end)
			at++;
		else if (in_class)
			in_class = *at != ']' || at[-1] == '[' ||
				   (at[-1] == '^' && at - begin > 1 && at[-2] == '[');
		else if (*at == '[')
			in_class = true;
		else if (*at == '(')
			depth++;
		else if (*at == ')')
			depth -= depth > 0;
		else if (*at == '|' && depth == 0)
			break;
	}
	return at;
}

static struct alternative *make(struct maker *m, const char *at, const char *end)
{
	struct alternative *a;

	m->at = at;
	m->end = end;
	m->count = 0;
	m->depth = 0;
	m->levels[0] = (struct level){ .row = { .empty = true } };
	while (m->at < m->end)
		if (!read_one(m))
			return NULL;
	if (m->depth)
		return NULL;
	end_row(m, &m->levels[0]);
	a = mem_zero(sizeof(*a) + m->count * sizeof(a->at[0]));
	a->first = m->levels[0].either.first;
	a->last = m->levels[0].either.last;
	a->empty = m->levels[0].either.empty;
	a->count = m->count;
	memcpy(a->at, m->positions, m->count * sizeof(a->at[0]));
	return a;
}

struct pattern *pattern_new(const char *text, size_t len, unsigned *unknown)
{
	struct pattern *p = mem_zero(sizeof(*p));
	struct maker *m = mem_zero(sizeof(*m));
	const char *at = text, *end = text + len;

	*unknown = 0;
	while (at < end) {
		const char *stop = end_of(at, end);
		struct alternative *a = stop > at ? make(m, at, stop) : NULL;

		if (a) {
			a->next = p->alternatives;
			p->alternatives = a;
		} else {
			*unknown += stop > at;
		}
		at = stop < end ? stop + 1 : end;
	}
	mem_free(m);
	return p;
}

void pattern_free(struct pattern *p)
{
	while (p && p->alternatives) {
		struct alternative *a = p->alternatives;

		p->alternatives = a->next;
		mem_free(a);
	}
	mem_free(p);
}

size_t pattern_bytes(const struct pattern *p)
{
	size_t bytes = sizeof(*p);

	for (const struct alternative *a = p->alternatives; a; a = a->next)
		bytes += sizeof(*a) + a->count * sizeof(a->at[0]);
	return bytes;
}

/* ---- matching ---- */

/* Pass the positions of a kind that need no byte. True: the match is complete. */
static bool pass_kind(const struct alternative *a, struct set *now, enum kind kind)
{
	struct set passed = { { 0 } };
	bool again = true;

	while (again) {
		again = false;
		for (unsigned i = 0; i < a->count; i++) {
			if (a->at[i].kind != kind || !set_has(now, i) || set_has(&passed, i))
				continue;
			if (set_has(&a->last, i))
				return true;
			set_add(&passed, i);
			set_join(now, &a->at[i].follow);
			again = true;
		}
	}
	return false;
}

/* Take one byte. True: the match is complete. */
static bool take(const struct alternative *a, struct set *now, uint8_t c)
{
	struct set next = { { 0 } };

	for (unsigned w = 0; w < WORDS; w++) {
		uint64_t left = now->word[w];

		for (unsigned i = w * 64; left; left >>= 1, i++) {
			const struct position *p = &a->at[i];

			if (!(left & 1) || p->kind != KIND_BYTE || !(p->bytes[c / 64] >> (c % 64) & 1))
				continue;
			if (set_has(&a->last, i))
				return true;
			set_join(&next, &p->follow);
		}
	}
	*now = next;
	return false;
}

static bool meets(const struct alternative *a, const char *text, size_t len)
{
	struct set now = a->first;

	if (a->empty || pass_kind(a, &now, KIND_BEGIN))
		return true;
	for (size_t i = 0; i < len; i++) {
		uint8_t c = (uint8_t)text[i];

		if (set_is_empty(&now))
			return false;
		if (take(a, &now, c >= 'A' && c <= 'Z' ? c + 32 : c))
			return true;
	}
	return pass_kind(a, &now, KIND_END);
}

bool pattern_meets(const struct pattern *p, const char *text, size_t len)
{
	for (const struct alternative *a = p->alternatives; a; a = a->next)
		if (meets(a, text, len))
			return true;
	return false;
}
