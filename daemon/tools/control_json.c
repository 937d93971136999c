/* The daemon's replies as JSON.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "daemon/tools/control_json.h"

#include <string.h>

#include "util/base/json.h"

#define ZONE_COLUMNS "zone class kind ?prime=prime ?noprime=noprime ?+i=insecure *servers"

/* How a reply's lines are parsed. In `columns` a word names a member; "?word=name" is true if that word comes next, and
 * otherwise absent; "*name" takes all remaining words as an array (blanks between quotes part none), "&name" as one string;
 * "-" skips a word; "+" takes the remaining words as members, "k=v" or "k v" in turn. */
static const struct {
	const char *command, *columns;
	char pairs; /* separator; the whole reply is one object of such pairs. 0: a table */
} forms[] = {
	{ "stats", NULL, '=' },
	{ "stats_noreset", NULL, '=' },
	{ "status", NULL, ':' },
	{ "list_stubs", ZONE_COLUMNS, 0 },
	{ "list_forwards", ZONE_COLUMNS, 0 },
	{ "list_upstreams", "server transport state +", 0 },
	{ "list_local_zones", "name type", 0 },
	{ "view_list_local_zones", "name type", 0 },
	{ "list_local_data", "name ttl class type *data", 0 },
	{ "view_list_local_data", "name ttl class type *data", 0 },
	{ "list_auth_zones", "zone *state", 0 },
	{ "ratelimit_list", "zone rate - limit", 0 },
	{ "ip_ratelimit_list", "client rate - limit", 0 },
	{ "dump_infra", "server zone +", 0 },
	{ "list_queries", "time client transport name type rcode how took_ms - &detail", 0 },
	{ "top", "count name +", 0 },
	{ "dump_requestlist", "number type class name seconds *state", 0 },
};

static void print(void *arg, const char *at, size_t len)
{
	fwrite(at, 1, len, arg);
}

/* The next line, without its newline; NULL after the last. */
static char *next_line(char **at)
{
	char *line = *at;

	if (!*line)
		return NULL;
	*at += strcspn(line, "\n");
	if (**at)
		*(*at)++ = '\0';
	return line;
}

static char *next_word(char **at)
{
	char *word = *at + strspn(*at, " \t");

	if (!*word)
		return NULL;
	*at = word + strcspn(word, " \t");
	if (**at)
		*(*at)++ = '\0';
	return word;
}

/* The same in the data of a record: what stands between quotes is one word, blanks and all. */
static char *next_field(char **at)
{
	char *word = *at + strspn(*at, " \t"), *end = word;
	bool quoted = false;

	if (!*word)
		return NULL;
	for (; *end && (quoted || (*end != ' ' && *end != '\t')); end++)
		if (*end == '\\' && end[1])
			end++;
		else if (*end == '"')
			quoted = !quoted;
	*at = end;
	if (**at)
		*(*at)++ = '\0';
	return word;
}

/* ---- pairs ---- */

static void put_pairs(struct json *j, char *reply, char between)
{
	char *line, *end;

	json_open(j, "data", '{');
	while ((line = next_line(&reply)) != NULL) {
		/* a list may have a "=" in its name, which is part of its counters' */
		end = between == '=' ? strrchr(line, between) : strchr(line, between);
		if (!end) {
			json_text(j, "state", line);
			continue;
		}
		*end++ = '\0';
		end += strspn(end, " ");
		json_value(j, line, end, strlen(end));
	}
	json_close(j, '}');
}

/* ---- tables ---- */

static void put_rest(struct json *j, const char *name, char *at)
{
	char *word;

	json_open(j, name, '[');
	while ((word = next_field(&at)) != NULL)
		json_text(j, NULL, word);
	json_close(j, ']');
}

/* A trailing part in parentheses is a sentence, the member "reason"; what follows "lame" says in which ways, and is an object
 * of that name. */
static void put_members(struct json *j, char *at)
{
	char *word, *value;
	bool inside = false;

	for (;;) {
		char *open = at + strspn(at, " \t");

		if (*open == '(') {
			size_t len = strlen(++open);

			json_textn(j, "reason", open, len && open[len - 1] == ')' ? len - 1 : len);
			break;
		}
		word = next_word(&at);
		if (!word)
			break;
		value = strchr(word, '=');
		if (value)
			*value++ = '\0';
		else if (strcmp(word, "lame") == 0 && !inside) {
			json_open(j, word, '{');
			inside = true;
			continue;
		} else if (strcmp(word, "expired") == 0) {
			json_bool(j, word, true);
			continue;
		} else
			value = next_word(&at);
		json_value(j, word, value ? value : "", value ? strlen(value) : 0);
	}
	if (inside)
		json_close(j, '}');
}

/* "?word=name" */
static void put_if_next(struct json *j, const char *column, char **line)
{
	size_t len = strcspn(column, "=");
	char *at = *line + strspn(*line, " \t");

	if (strncmp(at, column, len) != 0 || !strchr(" \t", at[len]))
		return;
	*line = at + len;
	json_bool(j, column + len + 1, true);
}

static void put_columns(struct json *j, const char *columns, char *line)
{
	while (*columns) {
		size_t len = strcspn(columns, " ");
		char name[32], *word;

		snprintf(name, sizeof name, "%.*s", (int)len, columns);
		columns += len + strspn(columns + len, " ");
		if (*name == '?')
			put_if_next(j, name + 1, &line);
		else if (*name == '*')
			put_rest(j, name + 1, line);
		else if (*name == '&')
			json_text(j, name + 1, line + strspn(line, " \t"));
		else if (*name == '+')
			put_members(j, line);
		else if ((word = next_word(&line)) != NULL && *name != '-')
			json_value(j, name, word, strlen(word));
	}
}

/* Whether the line is a row, not a heading or blank. */
static bool is_row(const char *command, const char *line)
{
	if (strcmp(command, "dump_requestlist") == 0)
		return *line == ' ' || (*line >= '0' && *line <= '9');
	return *line;
}

static void put_table(struct json *j, const char *command, const char *columns, char *reply)
{
	char *line;

	json_open(j, "data", '[');
	while ((line = next_line(&reply)) != NULL) {
		if (!is_row(command, line))
			continue;
		json_open(j, NULL, '{');
		put_columns(j, columns, line);
		json_close(j, '}');
	}
	json_close(j, ']');
}

/* ---- plain lines, and choosing the form ---- */

static void put_lines(struct json *j, char *reply)
{
	char *line;

	json_open(j, "data", '[');
	while ((line = next_line(&reply)) != NULL)
		json_text(j, NULL, line);
	json_close(j, ']');
}

static void put_data(struct json *j, const char *command, char *reply)
{
	for (size_t i = 0; i < COUNT(forms); i++) {
		if (strcmp(forms[i].command, command) != 0)
			continue;
		if (forms[i].pairs)
			put_pairs(j, reply, forms[i].pairs);
		else
			put_table(j, command, forms[i].columns, reply);
		return;
	}
	put_lines(j, reply);
}

/* The name of a zone that a list begins with may begin so, too: "error.example." */
bool control_is_error(const char *reply)
{
	return strncmp(reply, "error", 5) == 0 && strchr(" :\n", reply[5]);
}

bool control_json_failed(const char *json)
{
	static const char begin[] = "{\"command\":\"", bad[] = ",\"ok\":false";

	if (strncmp(json, begin, sizeof begin - 1) != 0)
		return true;
	for (json += sizeof begin - 1; *json && *json != '"'; json++)
		if (*json == '\\' && json[1])
			json++;
	return *json != '"' || strncmp(json + 1, bad, sizeof bad - 1) == 0;
}

static void put_error(struct json *j, const char *reply)
{
	size_t len = strlen(reply);

	json_textn(j, "error", reply, len && reply[len - 1] == '\n' ? len - 1 : len);
}

void control_json(FILE *to, const char *command, char *reply)
{
	struct json j = { .out = print, .arg = to };
	bool failed = control_is_error(reply);

	json_open(&j, NULL, '{');
	json_text(&j, "command", command);
	json_bool(&j, "ok", !failed);
	if (failed)
		put_error(&j, reply);
	else if (strcmp(reply, "ok\n") != 0)
		put_data(&j, command, reply);
	json_close(&j, '}');
	fputc('\n', to);
}
