/* The rows of options.def, the clauses and the modules as tables, and finding something in them.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "util/conf/options_private.h"

#include <string.h>

#include "util/base/mem.h"

#define STATUS_WORKS            .status = CONF_WORKS, .text = ""
#define STATUS_START            STATUS_WORKS, .acts = CONF_AT_START
#define STATUS_ZONES            STATUS_WORKS, .acts = CONF_WITH_ZONES
#define STATUS_LOG              STATUS_WORKS, .acts = CONF_WITH_LOG
#define STATUS_PLANNED          .status = CONF_PLANNED, .text = ""
#define STATUS_NONE(reason)     .status = CONF_NONE, .text = reason
#define STATUS_TEST_ONLY        .status = CONF_TEST_ONLY, .text = "for tests alone"

const struct option conf_options[] = {
#define GROUP(clause_, heading_) { .row = ROW_HEADING, .clause = CLAUSE_##clause_, .name = "", .text = heading_ },
#define ALIAS(clause_, name_, real_) \
	{ .row = ROW_ALIAS, .clause = CLAUSE_##clause_, .name = #name_, .text = #real_ },
#define OPT(clause_, type_, name_, dflt_, least_, most_, check_, status_, help_) \
	{ .clause = CLAUSE_##clause_, .name = #name_, .type = CONF_##type_##_T, .dflt = dflt_, \
	  .limits = least_ "\0" most_, .check = CHECK_##check_, \
	  .at = offsetof(struct conf_##clause_, name_), STATUS_##status_ },
#include "util/conf/options.def"
#undef GROUP
#undef ALIAS
#undef OPT
};

const size_t conf_option_count = COUNT(conf_options);

const struct conf_clause_info conf_clauses[CLAUSE_COUNT] = {
#define ONE(clause) \
	[CLAUSE_##clause] = { .name = #clause, .at = offsetof(struct conf, clause), \
			      .size = sizeof(struct conf_##clause) },
#define MANY(clause, array, array_count) \
	[CLAUSE_##clause] = { .name = #clause, .many = true, .at = offsetof(struct conf, array), \
			      .count_at = offsetof(struct conf, array_count), \
			      .size = sizeof(struct conf_##clause), \
			      .file_at = offsetof(struct conf_##clause, from_file), \
			      .line_at = offsetof(struct conf_##clause, from_line) },
	CONF_CLAUSES(ONE, MANY)
#undef ONE
#undef MANY
};

bool conf_name_is(const char *name, const char *text, size_t len)
{
	size_t i;

	for (i = 0; i < len && name[i]; i++)
		if (text[i] != (name[i] == '_' ? '-' : name[i]))
			return false;
	return i == len && name[i] == '\0';
}

const char *conf_name_print(const char *name, char buf[CONF_NAME])
{
	size_t i;

	for (i = 0; name[i] && i + 1 < CONF_NAME; i++)
		buf[i] = name[i] == '_' ? '-' : name[i];
	buf[i] = '\0';
	return buf;
}

static const struct option *real_option(const struct option *o)
{
	if (o->row != ROW_ALIAS)
		return o;
	for (size_t i = 0; i < conf_option_count; i++)
		if (conf_options[i].clause == o->clause &&
		    strcmp(conf_options[i].name, o->text) == 0)
			return &conf_options[i];
	PANIC("options.def: alias %s stands for nothing", o->name);
}

const struct option *conf_find_option(enum conf_clause clause, const char *text, size_t len)
{
	for (size_t i = 0; len && i < conf_option_count; i++)
		if (conf_options[i].clause == clause && conf_name_is(conf_options[i].name, text, len))
			return real_option(&conf_options[i]);
	return NULL;
}

const struct option *conf_find_single(const char *text, size_t len)
{
	for (unsigned c = 0; c < CLAUSE_COUNT; c++) {
		const struct option *o;

		if (conf_clauses[c].many)
			continue;
		o = conf_find_option((enum conf_clause)c, text, len);
		if (o)
			return o;
	}
	return NULL;
}

enum conf_clause conf_find_clause(const char *text, size_t len)
{
	unsigned c = 0;

	while (c < CLAUSE_COUNT && !conf_name_is(conf_clauses[c].name, text, len))
		c++;
	return (enum conf_clause)c;
}

size_t conf_clause_size(const struct conf *conf, enum conf_clause clause)
{
	const struct conf_clause_info *info = &conf_clauses[clause];

	return info->many ? *(const size_t *)(const void *)((const char *)conf + info->count_at) : 1;
}

void *conf_clause_get(const struct conf *conf, enum conf_clause clause, size_t i)
{
	const struct conf_clause_info *info = &conf_clauses[clause];
	const char *at = (const char *)conf + info->at;
	char *array;

	if (!info->many)
		return (char *)(uintptr_t)at;
	memcpy(&array, at, sizeof(array));
	return array ? array + i * info->size : NULL;
}

/* ---- modules ---- */

const struct conf_module conf_modules[] = {
	{ "iterator", CONF_WORKS, "" },
	{ "validator", CONF_WORKS, "" },
	{ "respip", CONF_WORKS, "" },
	{ "dns64", CONF_WORKS, "" },
	{ "subnetcache", CONF_WORKS, "" },
	{ "cachedb", CONF_WORKS, "" },
	{ "python", CONF_NONE, "no Python interpreter is embedded" },
	{ "dynlib", CONF_NONE, "modules are built in, none is loaded from a file" },
	{ "ipsecmod", CONF_NONE, "there is no such module" },
	{ "ipset", CONF_WORKS, "" },
};

const size_t conf_module_count = COUNT(conf_modules);

bool conf_has_module(const struct conf *conf, const char *name)
{
	const char *at = conf->server.module_config;
	size_t len = strlen(name), n;

	for (at += strspn(at, " \t"); (n = strcspn(at, " \t")) > 0; at += n, at += strspn(at, " \t"))
		if (n == len && memcmp(at, name, n) == 0)
			return true;
	return false;
}

const char *conf_module_next(const struct conf *conf, const char **at)
{
	size_t n;

	for (*at = *at ? *at : conf->server.module_config; *(*at += strspn(*at, " \t")); *at += n) {
		n = strcspn(*at, " \t");
		for (size_t i = 0; i < COUNT(conf_modules); i++) {
			const struct conf_module *m = &conf_modules[i];

			if (m->status != CONF_WORKS || strlen(m->name) != n || memcmp(m->name, *at, n) != 0)
				continue;
			*at += n;
			return m->name;
		}
	}
	return NULL;
}

enum conf_acts conf_option_acts(const char *name)
{
	const struct option *o = conf_find_single(name, strlen(name));

	return o ? o->acts : CONF_AT_ONCE;
}
