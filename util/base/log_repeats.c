/* Finds log lines that merely repeat.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "util/base/log_repeats.h"

#include <stdio.h>
#include <string.h>

/* FNV-1a: the log must work before util/base/hash has a key, and a collision gains nobody anything, as
 * lines are also compared, up to what is kept of them. */
static uint64_t mix(uint64_t h, const char *text)
{
	for (; *text; text++)
		h = (h ^ (unsigned char)*text) * UINT64_C(1099511628211);
	return h;
}

static uint64_t hash_of(const char *kind, const char *text)
{
	uint64_t h = mix(mix(UINT64_C(14695981039346656037), kind), text);

	return h ? h : 1;
}

static bool is_over(const struct log_repeat *e, uint64_t now_s)
{
	return now_s - e->began_s >= REPEATS_SPAN_S;
}

static bool is_same(const struct log_repeat *e, uint64_t hash, const char *text)
{
	return e->hash == hash && strncmp(e->text, text, REPEATS_KEPT) == 0;
}

/* The line's own entry, or else the least recently used one that holds back nothing; NULL: all of
 * them do. */
static struct log_repeat *entry_for(struct log_repeats *r, uint64_t hash, const char *text)
{
	struct log_repeat *spare = NULL;

	for (size_t i = 0; i < COUNT(r->at); i++) {
		struct log_repeat *e = &r->at[i];

		if (is_same(e, hash, text))
			return e;
		if (e->count <= REPEATS_SHOWN && (!spare || e->used < spare->used))
			spare = e;
	}
	return spare;
}

bool log_repeats_admit(struct log_repeats *r, const char *kind, const char *text, uint64_t now_s)
{
	uint64_t hash = hash_of(kind, text);
	struct log_repeat *e = entry_for(r, hash, text);

	if (!e)
		return true;
	if (!is_same(e, hash, text) || (is_over(e, now_s) && e->count <= REPEATS_SHOWN)) {
		*e = (struct log_repeat){ .hash = hash, .began_s = now_s };
		snprintf(e->kind, sizeof(e->kind), "%s", kind);
		snprintf(e->text, sizeof(e->text), "%s", text);
	}
	e->used = ++r->lines;
	return ++e->count <= REPEATS_SHOWN;
}

bool log_repeats_take(struct log_repeats *r, uint64_t now_s, bool at_once, struct log_held *held)
{
	for (size_t i = 0; i < COUNT(r->at); i++) {
		struct log_repeat *e = &r->at[i];

		if (!e->hash || e->count <= REPEATS_SHOWN || !(at_once || is_over(e, now_s)))
			continue;
		held->count = e->count - REPEATS_SHOWN;
		memcpy(held->kind, e->kind, sizeof(held->kind));
		memcpy(held->text, e->text, sizeof(held->text));
		*e = (struct log_repeat){ .hash = 0 };
		return true;
	}
	return false;
}
