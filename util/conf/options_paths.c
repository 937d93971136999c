/* Which files and folders a configuration names, and how each is used.
 * SPDX-License-Identifier: BSD-3-Clause */
#include <string.h>

#include "util/base/mem.h"
#include "util/base/program.h"
#include "util/conf/options_private.h"

struct walk {
	const struct conf *conf;
	void (*visit)(void *arg, const struct conf_path_use *use);
	void *arg;
};

static void tell(const struct walk *w, const char *option, const char *path, enum conf_use use, bool folder)
{
	struct conf_path_use u = { .option = option, .path = path, .use = use, .folder = folder };

	if (*path)
		w->visit(w->arg, &u);
}

/* Those whose row alone does not tell. */
static bool is_at(const struct option *o, size_t at)
{
	return o->clause == CLAUSE_server && o->at == at;
}

static enum conf_use use_of(const struct option *o)
{
	if (is_at(o, offsetof(struct conf_server, pidfile)))
		return CONF_MAKES;
	if (o->check == CHECK_WRITABLE || o->check == CHECK_ANCHOR_FILE || o->check == CHECK_PIPE ||
	    is_at(o, offsetof(struct conf_server, cookie_secret_file)) ||
	    is_at(o, offsetof(struct conf_server, cache_file)))
		return CONF_WRITES;
	return CONF_READS;
}

/* The folders named in the server clause, and what is used only under some condition. */
static void walk_folders(const struct walk *w)
{
	const struct conf_server *s = &w->conf->server;

	tell(w, "directory", s->directory, conf_was_given(w->conf, "directory") ? CONF_WRITES : CONF_READS, true);
	if (w->conf->blocklist_count)
		tell(w, "blocklist-directory", s->blocklist_directory, CONF_WRITES, true);
	if (w->conf->remote_control.keep_changes)
		tell(w, "changes-file", w->conf->remote_control.changes_file, CONF_WRITES, false);
	for (size_t i = 0; i < s->sandbox_path.count; i++)
		tell(w, "sandbox-path", s->sandbox_path.items[i].text, CONF_WRITES, true);
}

const char *conf_default_anchor(const struct conf *conf)
{
	static const char *const sources[] = { "auto-trust-anchor-file", "trust-anchor-file", "trust-anchor",
					       "trusted-keys-file" };

	if (!conf_has_module(conf, "validator"))
		return NULL;
	for (size_t i = 0; i < COUNT(sources); i++)
		if (conf_was_given(conf, sources[i]))
			return NULL;
	return STATE_DIR "/root.key";
}

static void walk_anchor(const struct walk *w)
{
	const char *path = conf_default_anchor(w->conf);

	if (path)
		tell(w, "auto-trust-anchor-file", path, CONF_WRITES, false);
}

static void walk_sockets(const struct walk *w)
{
	const struct conf_list *list = &w->conf->remote_control.control_interface;

	for (size_t i = 0; i < list->count; i++)
		if (list->items[i].text[0] == '/')
			tell(w, "control-interface", list->items[i].text, CONF_MAKES, false);
}

/* Others' sockets are only connected to, which needs no access to a file; resolver-control's keys
 * are its own business. */
static bool is_of_others(const struct option *o)
{
	return (o->clause == CLAUSE_dnstap && o->at == offsetof(struct conf_dnstap, dnstap_socket_path)) ||
	       (o->clause == CLAUSE_cachedb && (o->at == offsetof(struct conf_cachedb, redis_server_path) ||
						o->at == offsetof(struct conf_cachedb, redis_replica_server_path))) ||
	       (o->clause == CLAUSE_remote_control &&
		(o->at == offsetof(struct conf_remote_control, control_key_file) ||
		 o->at == offsetof(struct conf_remote_control, control_cert_file)));
}

static bool names_a_file(const struct option *o)
{
	if (is_of_others(o) || o->row != ROW_OPTION || o->status != CONF_WORKS || o->check == CHECK_FOLDER ||
	    is_at(o, offsetof(struct conf_server, blocklist_directory)) ||
	    (o->clause == CLAUSE_remote_control && o->at == offsetof(struct conf_remote_control, changes_file)))
		return false;
	return o->type == CONF_FILE_T || o->check == CHECK_READABLE || o->check == CHECK_READABLE_GLOB ||
	       o->check == CHECK_ANCHOR_FILE || o->check == CHECK_FOLLOWED || o->check == CHECK_LIST_FILES;
}

static void walk_option(const struct walk *w, const struct option *o)
{
	char name[CONF_NAME];

	(void)conf_name_print(o->name, name);
	for (size_t n = 0; n < conf_clause_size(w->conf, o->clause); n++) {
		const char *at = (const char *)conf_clause_get(w->conf, o->clause, n) + o->at;
		const struct conf_list *list = (const void *)at;

		if (o->type != CONF_LIST_T) {
			tell(w, name, *(char *const *)(const void *)at, use_of(o), false);
			continue;
		}
		for (size_t i = 0; i < list->count; i++)
			tell(w, name, list->items[i].text, use_of(o), false);
	}
}

void conf_each_path(const struct conf *conf, void (*visit)(void *arg, const struct conf_path_use *use), void *arg)
{
	struct walk w = { .conf = conf, .visit = visit, .arg = arg };

	for (size_t i = 0; i < conf->own->file_count; i++)
		tell(&w, "include", conf->own->files[i], CONF_READS, false);
	walk_folders(&w);
	walk_anchor(&w);
	walk_sockets(&w);
	for (size_t i = 0; i < conf_option_count; i++)
		if (names_a_file(&conf_options[i]))
			walk_option(&w, &conf_options[i]);
}
