/* Refuses options, clauses and modules of parts that configure left out.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "util/conf/parts.h"

#include <stdlib.h>
#include <string.h>

#include "util/conf/options_private.h"

static const char *const lacks[PARTS] = {
#define CLAUSE(part, clause)
#define OPTION(part, clause, name)
#define MODULE(part, name)
#define PART(name, what, how) \
	[PART_##name] = HAVE_##name ? NULL : "this program was built without " what " (see configure " how ")",
#include "util/conf/parts.def"
#undef PART
#undef CLAUSE
#undef OPTION
#undef MODULE
};

const char *part_lack(enum part p)
{
	return lacks[p];
}

static const struct need {
	enum part part;
	enum conf_clause clause;
	const char *option; /* NULL: the clause itself */
} needs[] = {
#define PART(name, what, how)
#define MODULE(part, name)
#define CLAUSE(part, clause)       { PART_##part, CLAUSE_##clause, NULL },
#define OPTION(part, clause, name) { PART_##part, CLAUSE_##clause, #name },
#include "util/conf/parts.def"
#undef CLAUSE
#undef OPTION
#undef MODULE
};

static const struct {
	enum part part;
	const char *name;
} modules[] = {
#define CLAUSE(part, clause)
#define OPTION(part, clause, name)
#define MODULE(part, name) { PART_##part, name },
#include "util/conf/parts.def"
#undef PART
#undef CLAUSE
#undef OPTION
#undef MODULE
};

/* Something else than "no", 0 or nothing. */
static bool is_on(const struct option *o, const void *at)
{
	switch (o->type) {
	case CONF_FLAG_T:
		return *(const conf_FLAG *)at;
	case CONF_NUMBER_T:
	case CONF_SECONDS_T:
	case CONF_MS_T:
		return *(const conf_NUMBER *)at;
	case CONF_SIZE_T:
		return *(const conf_SIZE *)at;
	case CONF_LIST_T:
		return ((const struct conf_list *)at)->count;
	default:
		return **(char *const *)at;
	}
}

/* Where it was written: a list by its first value. */
static struct conf_origin origin_of(const struct conf *conf, const struct option *o, const char *base)
{
	const struct conf_clause_info *info = &conf_clauses[o->clause];
	const struct conf_list *list = (const void *)(base + o->at);
	struct conf_origin at = conf->own->given[o - conf_options];

	if (o->type == CONF_LIST_T)
		return (struct conf_origin){ list->items[0].file, list->items[0].line };
	if (info->many) {
		memcpy(&at.file, base + info->file_at, sizeof(at.file));
		memcpy(&at.line, base + info->line_at, sizeof(at.line));
	}
	return at;
}

static void refuse(struct conf_report *report, struct conf_origin at, const char *name, enum part lacking)
{
	conf_remark(report, CONF_ERROR, at.file ? at.file : "", at.line, "%s: %s", name, part_lack(lacking));
}

static void check_clause(const struct conf *conf, const struct need *need, struct conf_report *report)
{
	const struct conf_clause_info *info = &conf_clauses[need->clause];
	char name[CONF_NAME];

	for (size_t i = 0; i < conf_clause_size(conf, need->clause); i++) {
		const char *base = conf_clause_get(conf, need->clause, i);
		struct conf_origin at;

		memcpy(&at.file, base + info->file_at, sizeof(at.file));
		memcpy(&at.line, base + info->line_at, sizeof(at.line));
		refuse(report, at, conf_name_print(info->name, name), need->part);
	}
}

static void check_option(const struct conf *conf, const struct need *need, struct conf_report *report)
{
	char name[CONF_NAME];
	const struct option *o;

	conf_name_print(need->option, name);
	o = conf_find_option(need->clause, name, strlen(name));
	for (size_t i = 0; i < conf_clause_size(conf, need->clause); i++) {
		const char *base = conf_clause_get(conf, need->clause, i);

		if (is_on(o, base + o->at))
			refuse(report, origin_of(conf, o, base), name, need->part);
	}
}

static void check_modules(const struct conf *conf, struct conf_report *report)
{
	const struct option *o = conf_find_option(CLAUSE_server, "module-config", strlen("module-config"));
	const struct conf_origin *at = &conf->own->given[o - conf_options];

	for (size_t i = 0; i < COUNT(modules); i++)
		if (part_lack(modules[i].part) && conf_has_module(conf, modules[i].name))
			refuse(report, *at, "module-config", modules[i].part);
}

static bool is_for_https(const struct conf_server *s, const char *interface)
{
	const char *at = strchr(interface, '@');
	unsigned long port = at ? strtoul(at + 1, NULL, 10) : 0;

	if (!at || port != s->https_port || port == s->port || port == s->tls_port)
		return false;
	for (size_t i = 0; i < s->tls_additional_port.count; i++)
		if (strtoul(s->tls_additional_port.items[i].text, NULL, 10) == port)
			return false;
	return true;
}

/* An interface is for HTTPS by its port. */
static void check_interfaces(const struct conf *conf, struct conf_report *report)
{
	const struct conf_list *list = &conf->server.interface;

	for (size_t i = 0; part_lack(PART_DOH) && i < list->count; i++)
		if (is_for_https(&conf->server, list->items[i].text))
			conf_remark(report, CONF_ERROR, list->items[i].file, list->items[i].line,
				    "interface: '%s' is at https-port:, and %s", list->items[i].text,
				    part_lack(PART_DOH));
}

void conf_check_parts(const struct conf *conf, struct conf_report *report)
{
	for (size_t i = 0; i < COUNT(needs); i++) {
		if (!part_lack(needs[i].part))
			continue;
		if (needs[i].option)
			check_option(conf, &needs[i], report);
		else
			check_clause(conf, &needs[i], report);
	}
	check_modules(conf, report);
	check_interfaces(conf, report);
}
