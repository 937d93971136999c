/* A reply of the control channel as JSON: well-formed, and with the values that stand in the text.
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef TESTDATA_FUZZ_JSON_REPLY_H
#define TESTDATA_FUZZ_JSON_REPLY_H

#include <stdio.h>
#include <stdlib.h>

#include "daemon/tools/control_json.h"
#include "testdata/fuzz/json_read.h"

struct json_reply {
	struct json_read read;
	size_t at; /* the next item */
};

/* `text` as it must come out: what is no UTF-8 is taken for Latin-1. */
static inline bool json_says(const struct json_read *r, const struct json_item *item, const char *text, size_t len)
{
	const unsigned char *at = (const unsigned char *)text, *end = at + len;
	const char *is = r->text + item->at, *is_end = is + item->len;

	while (at < end) {
		unsigned n = json_utf8(at, (size_t)(end - at));
		char wide[2] = { (char)(0xc0 | *at >> 6), (char)(0x80 | (*at & 0x3f)) };
		const char *want = n ? (const char *)at : wide;
		size_t want_len = n ? n : 2;

		if ((size_t)(is_end - is) < want_len || memcmp(is, want, want_len) != 0)
			return false;
		is += want_len;
		at += n ? n : 1;
	}
	return is == is_end;
}

static inline const struct json_item *json_next(struct json_reply *j, const char *kinds)
{
	const struct json_item *item = &j->read.items[j->at++];

	PROMISE(j->at <= j->read.count && strchr(kinds, item->kind));
	return item;
}

static inline void json_wants(struct json_reply *j, const char *kinds, const char *text, size_t len)
{
	const struct json_item *item = json_next(j, kinds);

	if (!json_says(&j->read, item, text, len))
		PANIC("the text says %.*s, the JSON %.*s", (int)MIN(len, 200u), text, (int)MIN(item->len, 200u),
		      j->read.text + item->at);
}

static inline void json_wants_name(struct json_reply *j, const char *name)
{
	json_wants(j, "k", name, strlen(name));
}

static inline bool json_has(const struct json_reply *j, char kind)
{
	return j->at < j->read.count && j->read.items[j->at].kind == kind;
}

/* ---- lines ---- */

static inline void json_wants_lines(struct json_reply *j, const char *at)
{
	json_next(j, "[");
	for (size_t len; *at; at += len + (at[len] == '\n')) {
		len = strcspn(at, "\n");
		json_wants(j, "s", at, len);
	}
	json_next(j, "]");
}

/* ---- pairs ---- */

static inline void json_wants_pair(struct json_reply *j, const char *line, size_t len, char between)
{
	size_t name = len;

	for (size_t i = 0; i < len; i++)
		if (line[i] == between && (between == '=' || name == len))
			name = i;
	if (name == len) {
		json_wants_name(j, "state");
		json_wants(j, "s", line, len);
		return;
	}
	json_wants(j, "k", line, name);
	for (name++; name < len && line[name] == ' ';)
		name++;
	json_wants(j, "sn", line + name, len - name);
}

static inline void json_wants_pairs(struct json_reply *j, const char *at, char between)
{
	json_next(j, "{");
	for (size_t len; *at; at += len + (at[len] == '\n')) {
		len = strcspn(at, "\n");
		json_wants_pair(j, at, len, between);
	}
	json_next(j, "}");
}

/* ---- tables ---- */

/* The next word of the line, blanks between quotes included where `quotes`; its length, 0: none. */
static inline size_t json_word(const char **at, const char *end, bool quotes)
{
	size_t len = 0;
	bool inside = false;

	while (*at < end && (**at == ' ' || **at == '\t'))
		++*at;
	for (; *at + len < end; len++) {
		char c = (*at)[len];

		if (!inside && (c == ' ' || c == '\t'))
			break;
		if (quotes && c == '\\' && *at + len + 1 < end)
			len++;
		else if (quotes && c == '"')
			inside = !inside;
	}
	return len;
}

/* "k v", "k=v", and at the end "(why)"; after the first "lame" the members of an object of that name */
static inline void json_wants_members(struct json_reply *j, const char *at, const char *end)
{
	bool inside = false;

	for (size_t len; (len = json_word(&at, end, false)); at += len) {
		const char *equals = memchr(at, '=', len);
		size_t name = equals ? (size_t)(equals - at) : len;

		if (*at == '(') {
			json_wants_name(j, "reason");
			json_wants(j, "s", at + 1, (size_t)(end - at) - 1 - (end - at > 1 && end[-1] == ')'));
			break;
		}
		json_wants(j, "k", at, name);
		if (equals) {
			json_wants(j, "sn", equals + 1, len - name - 1);
		} else if (!inside && len == 4 && memcmp(at, "lame", 4) == 0) {
			json_next(j, "{");
			inside = true;
		} else if (!json_has(j, 't')) {
			at += len;
			len = json_word(&at, end, false);
			json_wants(j, "sn", at, len);
		} else {
			json_next(j, "t");
		}
	}
	if (inside)
		json_next(j, "}");
}

static inline void json_wants_rest(struct json_reply *j, const char *at, const char *end)
{
	json_next(j, "[");
	for (size_t len; (len = json_word(&at, end, true)); at += len)
		json_wants(j, "s", at, len);
	json_next(j, "]");
}

static inline void json_wants_row(struct json_reply *j, const char *form, const char *at, const char *end)
{
	char name[32];

	json_next(j, "{");
	for (int used; sscanf(form, " %31s%n", name, &used) == 1; form += used) {
		const char *equals = strchr(name, '=');
		size_t len;

		if (*name == '*') {
			json_wants_name(j, name + 1);
			json_wants_rest(j, at, end);
		} else if (*name == '&') {
			json_wants_name(j, name + 1);
			at += strspn(at, " \t");
			json_wants(j, "s", at, (size_t)(end - at));
		} else if (*name == '+') {
			json_wants_members(j, at, end);
		} else if ((len = json_word(&at, end, false)) != 0) {
			if (*name == '?' && (len != (size_t)(equals - name - 1) || memcmp(at, name + 1, len) != 0))
				continue;
			if (*name == '?') {
				json_wants_name(j, equals + 1);
				json_next(j, "t");
			} else if (*name != '-') {
				json_wants_name(j, name);
				json_wants(j, "sn", at, len);
			}
			at += len;
		}
	}
	json_next(j, "}");
}

/* ---- the whole ---- */

/* What doc/man/resolver-control.8 tells of each command whose reply is no plain text. */
static const struct json_form {
	const char *command, *form;
} json_forms[] = {
	{ "stats", "=" },
	{ "stats_noreset", "=" },
	{ "status", ":" },
	{ "list_stubs", "zone class kind ?prime=prime ?noprime=noprime ?+i=insecure *servers" },
	{ "list_forwards", "zone class kind ?prime=prime ?noprime=noprime ?+i=insecure *servers" },
	{ "list_upstreams", "server transport state +" },
	{ "list_local_zones", "name type" },
	{ "view_list_local_zones", "name type" },
	{ "list_local_data", "name ttl class type *data" },
	{ "view_list_local_data", "name ttl class type *data" },
	{ "list_auth_zones", "zone *state" },
	{ "ratelimit_list", "zone rate - limit" },
	{ "ip_ratelimit_list", "client rate - limit" },
	{ "dump_infra", "server zone +" },
	{ "list_queries", "time client transport name type rcode how took_ms - &detail" },
	{ "top", "count name +" },
	{ "dump_requestlist", "number type class name seconds *state" },
};

static inline void json_wants_table(struct json_reply *j, const char *command, const char *form, const char *at)
{
	bool headed = strcmp(command, "dump_requestlist") == 0;

	json_next(j, "[");
	for (size_t len; *at; at += len + (at[len] == '\n')) {
		len = strcspn(at, "\n");
		if (headed ? *at == ' ' || (*at >= '0' && *at <= '9') : len > 0)
			json_wants_row(j, form, at, at + len);
	}
	json_next(j, "]");
}

static inline void json_wants_data(struct json_reply *j, const char *command, const char *reply)
{
	const char *form = NULL;

	for (size_t i = 0; i < COUNT(json_forms); i++)
		if (strcmp(json_forms[i].command, command) == 0)
			form = json_forms[i].form;
	if (!form)
		json_wants_lines(j, reply);
	else if (!form[1])
		json_wants_pairs(j, reply, *form);
	else
		json_wants_table(j, command, form, reply);
}

static inline void json_wants_reply(struct json_reply *j, const char *command, const char *reply)
{
	size_t len = strlen(reply);
	bool failed = len >= 5 && memcmp(reply, "error", 5) == 0 && (len == 5 || strchr(" :\n", reply[5]));

	json_next(j, "{");
	json_wants_name(j, "command");
	json_wants(j, "s", command, strlen(command));
	json_wants_name(j, "ok");
	json_next(j, failed ? "f" : "t");
	if (failed) {
		json_wants_name(j, "error");
		json_wants(j, "s", reply, len - (reply[len - 1] == '\n'));
	} else if (strcmp(reply, "ok\n") != 0) {
		json_wants_name(j, "data");
		json_wants_data(j, command, reply);
	}
	json_next(j, "}");
	PROMISE(j->at == j->read.count);
}

/* `real`: the daemon said so, in answer to that command; else no member's name comes twice. */
static inline void json_reply_check(const char *command, const char *reply, bool real)
{
	struct json_reply j = { .at = 0 };
	char *json = NULL, *copy = mem_text(reply);
	size_t len = 0;
	FILE *to = open_memstream(&json, &len);

	PROMISE(to);
	control_json(to, command, copy);
	PROMISE(fclose(to) == 0);
	j.read = json_read(json, len, real);
	json_wants_reply(&j, command, reply);
	json_read_clear(&j.read);
	mem_free(copy);
	free(json);
}

#endif
