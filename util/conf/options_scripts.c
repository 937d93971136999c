/* Scripts of firewalls that block names: their lists are read without them.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * There is no Python here. But what the scripts of OPNsense and of pfSense's pfBlockerNG do is what
 * a blocklist: clause does, and their lists can be read: the clause is added here. What OPNsense's
 * tells the reporting page, query-pipe tells. */
#include "util/conf/options_private.h"

#include <string.h>
#include <unistd.h>

#include "util/base/mem.h"

enum { FILES = 4 };

struct known_script {
	const char *script; /* base name */
	const char *name;   /* of the list */
	const char *mark;   /* file names begin so: with one of these the user has named the list himself */
	const char *pipe, *pipe_wanted; /* the pipe it writes to if that other file exists; NULL: none */
	bool from_root;     /* files are looked for in the chroot's root; else in directory: */
	struct {
		const char *option, *path;
	} files[FILES]; /* they may not be there yet: a pattern may match nothing */
	const char *told;
};

/* Both scripts look at their files once a minute. */
static const struct known_script known_scripts[] = {
	{ "dnsbl_module.py", "opnsense", "dnsbl.jso", "data/dns_logger", "data/stats", true,
	  { { "file", "data/dnsbl.jso[n]" } }, "data/dnsbl.json" },
	{ "pfb_unbound.py", "pfblockerng", "pfb_py_", NULL, NULL, false,
	  { { "file", "pfb_py_data.tx[t]" }, { "file", "pfb_py_zone.tx[t]" },
	    { "file", "pfb_py_ss.tx[t]" }, { "allow-file", "pfb_py_whitelist.tx[t]" } },
	  "pfb_py_data.txt, pfb_py_zone.txt, pfb_py_ss.txt and pfb_py_whitelist.txt" },
};

static const char *base_of(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

static bool is_there(const struct conf *conf, const struct known_script *k)
{
	for (size_t i = 0; i < conf->blocklist_count; i++) {
		const struct conf_blocklist *b = &conf->blocklists[i];

		if (strcmp(b->name, k->name) == 0)
			return true;
		for (size_t n = 0; n < b->file.count; n++)
			if (strncmp(base_of(b->file.items[n].text), k->mark, strlen(k->mark)) == 0)
				return true;
	}
	return false;
}

static void put(struct conf *conf, enum conf_clause clause, void *list, const char *option, const char *value,
		const struct conf_item *from)
{
	const struct option *o = conf_find_option(clause, option, strlen(option));
	const struct conf_place p = { .name = option, .file = from->file, .line = from->line };

	PROMISE(o && conf_put_value(conf, o, list, (const char *const[CONF_MOST_WORDS]){ value }, &p));
}

static void add_list(struct conf *conf, const struct known_script *k, const struct conf_item *from,
		     struct conf_report *report)
{
	const char *before = k->from_root && *conf->server.chroot ? "/" : "";
	void *list = conf_add_clause(conf, CLAUSE_blocklist, from->file, from->line);

	put(conf, CLAUSE_blocklist, list, "name", k->name, from);
	put(conf, CLAUSE_blocklist, list, "action", "null", from);
	put(conf, CLAUSE_blocklist, list, "refresh", "60", from);
	put(conf, CLAUSE_blocklist, list, "max-size", "1g", from);
	for (size_t i = 0; i < FILES && k->files[i].option; i++) {
		char *path = mem_textf("%s%s", before, k->files[i].path);

		put(conf, CLAUSE_blocklist, list, k->files[i].option, path, from);
		mem_free(path);
	}
	conf_remark(report, CONF_NOTICE, from->file, from->line,
		    "python-script: what %s would block is blocked without it: its lists (%s) are read "
		    "as the blocklist '%s'",
		    k->script, k->told, k->name);
}

/* Before and after the chroot is entered, which reading does not know. */
static bool exists(const struct conf *conf, const char *path)
{
	char *whole = conf_path(conf, path), *inside = conf_path_inside(conf, path);
	bool is = access(whole, F_OK) == 0 || (*conf->server.chroot && access(inside, F_OK) == 0);

	mem_free(whole);
	mem_free(inside);
	return is;
}

static void add_pipe(struct conf *conf, const struct known_script *k, const struct conf_item *from,
		     struct conf_report *report)
{
	const char *root = k->from_root && *conf->server.chroot ? "/" : "";
	char *wanted, *pipe;

	if (!k->pipe || conf_was_given(conf, "query-pipe"))
		return;
	wanted = mem_textf("%s%s", root, k->pipe_wanted);
	pipe = mem_textf("%s%s", root, k->pipe);
	if (exists(conf, wanted)) {
		put(conf, CLAUSE_server, &conf->server, "query-pipe", pipe, from);
		conf_remark(report, CONF_NOTICE, from->file, from->line,
			    "python-script: as %s would, client queries are told in %s (query-pipe), since there is "
			    "a file %s",
			    k->script, k->pipe, k->pipe_wanted);
	}
	mem_free(wanted);
	mem_free(pipe);
}

static void add_for(struct conf *conf, const struct known_script *k, const struct conf_item *from,
		    struct conf_report *report)
{
	if (!is_there(conf, k))
		add_list(conf, k, from, report);
	add_pipe(conf, k, from, report);
}

void conf_add_lists_of_scripts(struct conf *conf, struct conf_report *report)
{
	const struct conf_list *scripts = &conf->python.python_script;

	if (!conf_has_module(conf, "python"))
		return;
	for (size_t i = 0; i < scripts->count; i++)
		for (size_t n = 0; n < COUNT(known_scripts); n++)
			if (strcmp(base_of(scripts->items[i].text), known_scripts[n].script) == 0)
				add_for(conf, &known_scripts[n], &scripts->items[i], report);
}
