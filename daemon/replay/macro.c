/* Macros of scenarios: variables, left-to-right arithmetic, times, ranges.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "daemon/replay/macro.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "util/base/arena.h"
#include "util/base/fault.h"

void macro_assign(struct macro_env *env, const char *name, const char *value)
{
	struct variable *v = arena_new(env->arena, struct variable);

	v->name = arena_textf(env->arena, "%s", name);
	v->value = arena_textf(env->arena, "%s", value);
	v->next = env->variables;
	env->variables = v;
}

static const char *variable_find(const struct macro_env *env, const char *name, size_t len)
{
	for (const struct variable *v = env->variables; v; v = v->next)
		if (strlen(v->name) == len && memcmp(v->name, name, len) == 0)
			return v->value;
	return NULL;
}

/* Replace each $name by its value. */
static char *expand_variables(struct macro_env *env, const char *text, struct fault *f)
{
	char *out = arena_textf(env->arena, "%s", "");

	while (*text) {
		size_t plain = strcspn(text, "$"), len = 0;
		const char *value;

		out = arena_textf(env->arena, "%s%.*s", out, (int)plain, text);
		text += plain;
		if (!*text)
			break;
		text++;
		while (isalnum((unsigned char)text[len]) || text[len] == '_')
			len++;
		value = variable_find(env, text, len);
		if (!value) {
			fault_set(f, "no variable $%.*s", (int)len, text);
			return NULL;
		}
		out = arena_textf(env->arena, "%s%s", out, value);
		text += len;
	}
	return out;
}

static bool number_at(const char *text, double *value, const char **end)
{
	char *stop;

	if (!isdigit((unsigned char)*text) && *text != '.' &&
	    !(*text == '-' && isdigit((unsigned char)text[1])))
		return false;
	*value = strtod(text, &stop);
	*end = stop;
	return stop != text;
}

/* Evaluate runs of numbers and operators; other words stay as they are. */
static char *arithmetic(struct arena *a, const char *text)
{
	char *out = arena_textf(a, "%s", "");

	while (*text) {
		double value, next;
		const char *end;
		size_t skip;

		if (!number_at(text, &value, &end)) {
			skip = isspace((unsigned char)*text) ? 1 : strcspn(text, " \t");
			out = arena_textf(a, "%s%.*s", out, (int)skip, text);
			text += skip;
			continue;
		}
		for (;;) {
			const char *op = end + strspn(end, " \t"), *after;

			if (!*op || !strchr("+-*/", *op))
				break;
			if (!number_at(op + 1 + strspn(op + 1, " \t"), &next, &after))
				break;
			value = *op == '+' ? value + next : *op == '-' ? value - next :
				*op == '*' ? value * next : next != 0 ? value / next : 0;
			end = after;
		}
		out = arena_textf(a, "%s%.12g", out, value);
		text = end;
	}
	return out;
}

static char *evaluate(struct macro_env *env, char *text, struct fault *f)
{
	char *words = expand_variables(env, text, f);
	double low, value, high;

	if (!words)
		return NULL;
	words += strspn(words, " \t");
	if (strcmp(words, "time") == 0)
		return arena_textf(env->arena, "%.0f", (double)(int64_t)env->time_s);
	if (strcmp(words, "timeout") == 0)
		return arena_textf(env->arena, "%.0f", (double)(int64_t)env->timeout_s);
	if (strncmp(words, "ctime ", 6) == 0) {
		time_t when = (time_t)strtod(arithmetic(env->arena, words + 6), NULL);
		struct tm tm;
		char line[64];

		if (!gmtime_r(&when, &tm) ||
		    strftime(line, sizeof(line), "%a %b %e %H:%M:%S %Y", &tm) == 0) {
			fault_set(f, "no such time: %s", words);
			return NULL;
		}
		return arena_textf(env->arena, "%s", line);
	}
	if (strncmp(words, "range ", 6) == 0) {
		if (sscanf(words + 6, "%lf %lf %lf", &low, &value, &high) != 3 || value < low ||
		    value > high) {
			fault_set(f, "out of range: %s", words + 6);
			return NULL;
		}
		return arena_textf(env->arena, "%.12g", value);
	}
	return arithmetic(env->arena, words);
}

char *macro_expand(struct macro_env *env, const char *text, struct fault *f)
{
	char *out = arena_textf(env->arena, "%s", text);

	for (;;) {
		char *open = NULL, *close, *inner, *value;

		/* the last opening bracket is innermost */
		for (char *p = out; (p = strstr(p, "${")); p += 2)
			open = p;
		if (!open)
			return out;
		close = strchr(open, '}');
		if (!close) {
			fault_set(f, "} is missing: %s", open);
			return NULL;
		}
		inner = arena_textf(env->arena, "%.*s", (int)(close - open - 2), open + 2);
		value = evaluate(env, inner, f);
		if (!value)
			return NULL;
		out = arena_textf(env->arena, "%.*s%s%s", (int)(open - out), out, value, close + 1);
	}
}
