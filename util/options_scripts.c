/* Scripts of firewalls that block names: their lists are read without them.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * There is no Python here. But what the scripts of OPNsense and of pfSense's pfBlockerNG do is what
 * a blocklist: clause does, and their lists can be read: the clause is added here. */
#include "util/options_private.h"

#include <string.h>

#include "util/mem.h"

enum { FILES = 4 };

struct known_script {
	const char *script; /* base name */
	const char *name;   /* of the list */
	const char *mark;   /* file names begin so: with one of these the user has named the list himself */
	bool from_root;     /* files are looked for in the chroot's root; else in directory: */
	const char *options[FILES]; /* files may not be there yet: a pattern may match nothing */
	const char *told;
};

/* Both scripts look at their files once a minute. */
static const struct known_script known_scripts[] = {
	{ "dnsbl_module.py", "opnsense", "dnsbl.jso", true,
	  { "file: \"%sdata/dnsbl.jso[n]\"\n" }, "data/dnsbl.json" },
	{ "pfb_unbound.py", "pfblockerng", "pfb_py_", false,
	  { "file: \"%spfb_py_data.tx[t]\"\n", "file: \"%spfb_py_zone.tx[t]\"\n",
	    "file: \"%spfb_py_ss.tx[t]\"\n", "allow-file: \"%spfb_py_whitelist.tx[t]\"\n" },
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

static void add_list(struct conf *conf, const struct known_script *k, const struct conf_item *from,
		     struct conf_report *report)
{
	const char *before = k->from_root && *conf->server.chroot ? "/" : "";
	char *text = mem_textf("blocklist:\nname: \"%s\"\naction: null\nrefresh: 60\nmax-size: 1g\n",
			       k->name);

	for (size_t i = 0; i < FILES && k->options[i]; i++) {
		size_t at = strcspn(k->options[i], "%");
		char *longer = mem_textf("%s%.*s%s%s", text, (int)at, k->options[i], before,
					 k->options[i] + at + 2);

		mem_free(text);
		text = longer;
	}
	PROMISE(conf_load_text(conf, from->file, text, strlen(text), NULL, NULL));
	mem_free(text);
	conf_remark(report, CONF_NOTICE, from->file, from->line,
		    "python-script: what %s would block is blocked without it: its lists (%s) are read "
		    "as the blocklist '%s'",
		    k->script, k->told, k->name);
}

void conf_add_lists_of_scripts(struct conf *conf, struct conf_report *report)
{
	const struct conf_list *scripts = &conf->python.python_script;

	if (!conf_has_module(conf, "python"))
		return;
	for (size_t i = 0; i < scripts->count; i++)
		for (size_t n = 0; n < COUNT(known_scripts); n++)
			if (strcmp(base_of(scripts->items[i].text), known_scripts[n].script) == 0 &&
			    !is_there(conf, &known_scripts[n]))
				add_list(conf, &known_scripts[n], &scripts->items[i], report);
}
