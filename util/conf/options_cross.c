/* What no single line of a configuration can show: missing names, files, contradictions; paths.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "util/conf/options_private.h"

#include <errno.h>
#include <glob.h>
#include <pwd.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

#include "util/base/mem.h"
#include "util/base/program.h"
#include "util/net/kernset.h"

struct checker {
	const struct conf *conf;
	const struct conf_how *how;
	struct conf_report *report;
};

/* ---- paths ---- */

static size_t root_len(const struct conf *conf)
{
	size_t len = strlen(conf->server.chroot);

	while (len && conf->server.chroot[len - 1] == '/')
		len--;
	return len;
}

static const char *without_root(const struct conf *conf, const char *name)
{
	size_t len = root_len(conf);

	if (len && strncmp(name, conf->server.chroot, len) == 0) {
		if (name[len] == '/')
			return name + len;
		if (name[len] == '\0')
			return "/";
	}
	return name;
}

char *conf_path_inside(const struct conf *conf, const char *name)
{
	const char *folder = without_root(conf, conf->server.directory);

	name = without_root(conf, name);
	if (!*name || *name == '/' || !*folder)
		return mem_text(name);
	return mem_textf("%s%s%s", folder, folder[strlen(folder) - 1] == '/' ? "" : "/", name);
}

char *conf_path(const struct conf *conf, const char *name)
{
	char *inside, *whole;
	size_t len = root_len(conf);

	if (!len || !*name)
		return conf_path_inside(conf, name);
	inside = conf_path_inside(conf, name);
	whole = mem_textf("%.*s%s%s", (int)len, conf->server.chroot, *inside == '/' ? "" : "/",
			  strcmp(inside, "/") == 0 ? "" : inside);
	mem_free(inside);
	return whole;
}

char *conf_pid_path(const struct conf *conf)
{
	const char *name = conf->server.pidfile;

	return *name == '/' ? mem_text(name) : conf_path(conf, name);
}

/* ---- files ---- */

/* It is made at the start, by a user who need not be us. */
static const char *what_is_wrong_with_pipe(const char *path)
{
	const char *slash = strrchr(path, '/');
	char *folder = !slash ? mem_text(".") : mem_textf("%.*s", (int)MAX(slash - path, 1), path);
	const char *why = NULL;
	struct stat st;

	if (stat(path, &st) == 0)
		why = S_ISFIFO(st.st_mode) ? NULL : "it is no named pipe";
	else if (errno != ENOENT || stat(folder, &st) != 0)
		why = strerror(errno);
	mem_free(folder);
	return why;
}

#define NO_MATCH "no file matches"

/* Why a thing of this kind is missing; NULL when it is not. */
static const char *what_is_missing(const char *path, enum conf_check check)
{
	struct stat st;
	glob_t found;
	int none;

	if (check == CHECK_PIPE)
		return what_is_wrong_with_pipe(path);
	if (check == CHECK_READABLE_GLOB && strpbrk(path, "*?[")) {
		none = glob(path, 0, NULL, &found);
		globfree(&found);
		return none ? NO_MATCH : NULL;
	}
	if (stat(path, &st) != 0)
		return strerror(errno);
	if (check == CHECK_FOLDER || check == CHECK_WRITABLE)
		return S_ISDIR(st.st_mode) ? NULL : "it is no folder";
	if (S_ISDIR(st.st_mode))
		return "it is a folder";
	return access(path, R_OK) == 0 ? NULL : strerror(errno);
}

/* Keys belong to root, and whoever checks the configuration need not be who will start it. */
static bool is_not_ours_to_say(const char *why)
{
	return geteuid() != 0 && strcmp(why, strerror(EACCES)) == 0;
}

static char *seen_path(const struct checker *c, const char *name)
{
	return c->how->chroot ? conf_path_inside(c->conf, name) : conf_path(c->conf, name);
}

static bool is_server_option(const struct option *o, size_t at)
{
	return o->clause == CLAUSE_server && o->at == at;
}

/* Read before the chroot, and also found where the chroot hides them (as with Unbound). */
static bool is_read_outside(const struct option *o)
{
	return is_server_option(o, offsetof(struct conf_server, tls_cert_bundle)) ||
	       is_server_option(o, offsetof(struct conf_server, tls_service_key)) ||
	       is_server_option(o, offsetof(struct conf_server, tls_service_pem));
}

/* A router's /var/log, or the reader's pipe, may be gone after a restart: questions are answered even so. */
static enum conf_weight weight_of_missing(const struct checker *c, const struct option *o, const char *why)
{
	if (o->check == CHECK_READABLE_GLOB && strcmp(why, NO_MATCH) == 0)
		return CONF_WARNING;
	if (o->check == CHECK_FOLLOWED)
		return CONF_NOTICE;
	if (is_not_ours_to_say(why) || o->status != CONF_WORKS)
		return CONF_WARNING;
	return (o->check == CHECK_WRITABLE || o->check == CHECK_PIPE) && c->how->serves ? CONF_WARNING : CONF_ERROR;
}

static void check_file(const struct checker *c, const struct option *o, const char *name,
		       const char *file, unsigned line)
{
	bool is_pidfile = is_server_option(o, offsetof(struct conf_server, pidfile));
	char option[CONF_NAME], *path, *slash;
	const char *why;

	if (!*name || (is_pidfile && c->how->chroot))
		return;
	if (is_pidfile)
		path = conf_pid_path(c->conf);
	else if (is_server_option(o, offsetof(struct conf_server, chroot)))
		path = mem_text(c->how->chroot ? "/" : name);
	else
		path = seen_path(c, name);
	if (o->check == CHECK_WRITABLE) {
		slash = strrchr(path, '/');
		if (!slash)
			strcpy(path, ".");
		else
			slash[slash == path] = '\0';
	}
	why = what_is_missing(path, o->check);
	/* Inside the chroot, using the file will show whether it is good. */
	if (why && is_read_outside(o) && *name == '/') {
		mem_free(path);
		path = mem_text(name);
		why = c->how->chroot ? NULL : what_is_missing(path, o->check);
	}
	if (why)
		conf_remark(c->report, weight_of_missing(c, o, why), file, line, "%s: %s '%s': %s%s",
			    conf_name_print(o->name, option),
			    o->check == CHECK_WRITABLE ? "cannot use the folder" : "cannot use", path, why,
			    o->check == CHECK_ANCHOR_FILE ? "; " PRODUCT_NAME "-anchor -a makes one" : "");
	mem_free(path);
}

static bool control_has_tls(const struct conf *conf)
{
	const struct conf_list *l = &conf->remote_control.control_interface;

	return conf->remote_control.control_enable && conf->remote_control.control_use_cert &&
	       (l->count == 0 || l->items[0].text[0] != '/');
}

static void check_files_of(const struct checker *c, const struct option *o)
{
	const struct conf_clause_info *info = &conf_clauses[o->clause];
	const struct conf_origin *origin = &c->conf->own->given[o - conf_options];

	for (size_t n = 0; n < conf_clause_size(c->conf, o->clause); n++) {
		const char *base = conf_clause_get(c->conf, o->clause, n);
		const struct conf_list *list = (const void *)(base + o->at);
		const char *file = origin->file;
		unsigned line = origin->line;

		if (o->type == CONF_LIST_T) {
			for (size_t i = 0; i < list->count; i++)
				check_file(c, o, list->items[i].text, list->items[i].file,
					   list->items[i].line);
			continue;
		}
		if (info->many) {
			memcpy(&file, base + info->file_at, sizeof(file));
			memcpy(&line, base + info->line_at, sizeof(line));
		}
		/* A missing default file is the packager's business. */
		if (file || o->check == CHECK_CONTROL_FILE)
			check_file(c, o, *(char *const *)(const void *)(base + o->at),
				   file ? file : "", line);
	}
}

static void check_files(const struct checker *c)
{
	const struct conf_origin *user;
	const struct option *o;

	for (size_t i = 0; i < conf_option_count; i++) {
		o = &conf_options[i];
		if (o->row != ROW_OPTION || o->status == CONF_NONE)
			continue;
		if (o->check == CHECK_FOLDER || o->check == CHECK_READABLE ||
		    o->check == CHECK_READABLE_GLOB || o->check == CHECK_ANCHOR_FILE ||
		    o->check == CHECK_WRITABLE || o->check == CHECK_FOLLOWED || o->check == CHECK_PIPE ||
		    (o->check == CHECK_CONTROL_FILE && control_has_tls(c->conf)))
			check_files_of(c, o);
	}
	o = conf_find_option(CLAUSE_server, "username", strlen("username"));
	user = &c->conf->own->given[o - conf_options];
	/* Inside a chroot there is no user database to consult. */
	if (user->file && *c->conf->server.username && !c->how->chroot &&
	    !getpwnam(c->conf->server.username))
		conf_remark(c->report, CONF_ERROR, user->file, user->line,
			    "username: there is no user '%s'", c->conf->server.username);
}

/* ---- names ---- */

static bool same_domain(const char *a, const char *b)
{
	size_t a_len = strlen(a), b_len = strlen(b);

	if (a_len > 1 && a[a_len - 1] == '.')
		a_len--;
	if (b_len > 1 && b[b_len - 1] == '.')
		b_len--;
	return a_len == b_len && strncasecmp(a, b, a_len) == 0;
}

/* The views a forward or stub zone is for; NULL: the clause has no such option. */
static const struct conf_list *views_of(enum conf_clause clause, const void *zone)
{
	if (clause == CLAUSE_forward_zone)
		return &((const struct conf_forward_zone *)zone)->forward_view;
	if (clause == CLAUSE_stub_zone)
		return &((const struct conf_stub_zone *)zone)->stub_view;
	return NULL;
}

/* Whether two zones would be for the same clients. */
static bool share_clients(const struct conf_list *a, const struct conf_list *b)
{
	if (!a || (a->count == 0 && b->count == 0))
		return true;
	for (size_t i = 0; i < a->count; i++)
		for (size_t j = 0; j < b->count; j++)
			if (strcmp(a->items[i].text, b->items[j].text) == 0)
				return true;
	return false;
}

/* Only servers queried over HTTPS have a path after #name. */
static void check_paths(const struct checker *c, const struct conf_list *servers)
{
	for (size_t i = 0; i < servers->count; i++) {
		const struct conf_item *s = &servers->items[i];
		const char *name = strchr(s->text, '#');

		if (name && strchr(name, '/'))
			conf_remark(c->report, CONF_ERROR, s->file, s->line,
				    "forward-zone: '%s' has a path, which only "
				    "forward-https-upstream: yes makes use of",
				    s->text);
	}
}

/* Of several clauses for one name; both rpz: and blocklist: clauses count, in their order. */
static const char *which_counts(enum conf_clause clause)
{
	bool replaces = clause == CLAUSE_forward_zone || clause == CLAUSE_stub_zone ||
			clause == CLAUSE_auth_zone;

	return replaces ? "this one counts" : "the first counts";
}

/* Each zone of a kind must have a name, and one of its own among those for the same clients. */
static void check_names(const struct checker *c, enum conf_clause clause)
{
	const struct conf_clause_info *info = &conf_clauses[clause];
	const struct option *o = conf_find_option(clause, "name", 4);
	size_t count = conf_clause_size(c->conf, clause);
	bool left_out = clause == CLAUSE_auth_zone || clause == CLAUSE_rpz; /* as with Unbound */
	char text[CONF_NAME];

	conf_name_print(info->name, text);
	for (size_t i = 0; i < count; i++) {
		const char *base = conf_clause_get(c->conf, clause, i), *file, *name;
		unsigned line;

		memcpy(&file, base + info->file_at, sizeof(file));
		memcpy(&line, base + info->line_at, sizeof(line));
		name = *(char *const *)(const void *)(base + o->at);
		if (!*name) {
			conf_remark(c->report, left_out ? CONF_WARNING : CONF_ERROR, file, line, "%s: has no name:%s", text,
				    left_out ? " and is left out" : "");
			continue;
		}
		for (size_t j = 0; j < i; j++) {
			const char *other = conf_clause_get(c->conf, clause, j);

			if (!same_domain(name, *(char *const *)(const void *)(other + o->at)) ||
			    !share_clients(views_of(clause, base), views_of(clause, other)))
				continue;
			conf_remark(c->report, CONF_WARNING, file, line,
				    "%s: there is one of the name '%s' already; %s", text, name,
				    which_counts(clause));
			break;
		}
	}
}

static void check_key(const struct checker *c, const char *clause, const char *zone,
		      const char *key, const char *file, unsigned line)
{
	for (size_t i = 0; i < c->conf->key_count; i++)
		if (same_domain(c->conf->keys[i].name, key))
			return;
	if (*key)
		conf_remark(c->report, CONF_ERROR, file, line, "%s: '%s': there is no key: '%s'",
			    clause, zone, key);
}

static void check_keys(const struct checker *c)
{
	const struct conf *conf = c->conf;

	for (size_t i = 0; i < conf->key_count; i++)
		if (!*conf->keys[i].secret)
			conf_remark(c->report, CONF_ERROR, conf->keys[i].from_file, conf->keys[i].from_line,
				    "key: '%s' has no secret:", conf->keys[i].name);
	for (size_t i = 0; i < conf->auth_zone_count; i++)
		check_key(c, "auth-zone", conf->auth_zones[i].name, conf->auth_zones[i].tsig_key,
			  conf->auth_zones[i].from_file, conf->auth_zones[i].from_line);
	for (size_t i = 0; i < conf->rpz_count; i++)
		check_key(c, "rpz", conf->rpzs[i].name, conf->rpzs[i].tsig_key,
			  conf->rpzs[i].from_file, conf->rpzs[i].from_line);
}

static void check_zones(const struct checker *c)
{
	static const enum conf_clause named[] = { CLAUSE_stub_zone, CLAUSE_forward_zone,
						  CLAUSE_auth_zone, CLAUSE_rpz, CLAUSE_key, CLAUSE_blocklist,
						  CLAUSE_view };
	const struct conf *conf = c->conf;

	for (size_t i = 0; i < COUNT(named); i++)
		check_names(c, named[i]);
	check_keys(c);
	for (size_t i = 0; i < conf->stub_zone_count; i++) {
		const struct conf_stub_zone *z = &conf->stub_zones[i];

		if (!z->stub_addr.count && !z->stub_host.count)
			conf_remark(c->report, CONF_WARNING, z->from_file, z->from_line,
				    "stub-zone: '%s' names no server", z->name);
	}
	for (size_t i = 0; i < conf->forward_zone_count; i++) {
		const struct conf_forward_zone *z = &conf->forward_zones[i];

		if (!z->forward_addr.count && !z->forward_host.count)
			conf_remark(c->report, CONF_WARNING, z->from_file, z->from_line,
				    "forward-zone: '%s' names no server", z->name);
		if (!z->forward_https_upstream) {
			check_paths(c, &z->forward_addr);
			check_paths(c, &z->forward_host);
		}
	}
	for (size_t i = 0; i < conf->dhcp_leases_count; i++)
		if (!conf->dhcp_leases[i].file.count)
			conf_remark(c->report, CONF_WARNING, conf->dhcp_leases[i].from_file,
				    conf->dhcp_leases[i].from_line, "dhcp-leases: names no file");
	for (size_t i = 0; i < conf->auth_zone_count; i++) {
		const struct conf_auth_zone *z = &conf->auth_zones[i];

		if (*z->name && !*z->zonefile && !z->primary.count && !z->url.count)
			conf_remark(c->report, CONF_WARNING, z->from_file, z->from_line,
				    "auth-zone: '%s' comes from nowhere", z->name);
	}
	for (size_t i = 0; i < conf->rpz_count; i++) {
		const struct conf_rpz *z = &conf->rpzs[i];

		if (*z->name && !*z->zonefile && !z->primary.count && !z->url.count)
			conf_remark(c->report, CONF_WARNING, z->from_file, z->from_line,
				    "rpz: '%s' comes from nowhere", z->name);
		if (strcmp(z->rpz_action_override, "cname") == 0 && !*z->rpz_cname_override)
			conf_remark(c->report, CONF_ERROR, z->from_file, z->from_line,
				    "rpz: '%s' has rpz-action-override: cname and no rpz-cname-override:",
				    z->name);
	}
}

/* Is the word among those in a list's items? */
static bool list_has_word(const struct conf_list *list, const char *run, size_t len)
{
	for (size_t i = 0; i < list->count; i++) {
		const char *at = list->items[i].text;
		size_t n;

		for (at += strspn(at, " \t"); (n = strcspn(at, " \t")) > 0;
		     at += n, at += strspn(at, " \t"))
			if (n == len && memcmp(at, run, len) == 0)
				return true;
	}
	return false;
}

static void check_tags_in(const struct checker *c, const char *option, const char *tags, bool first,
			  const char *file, unsigned line)
{
	size_t n;

	for (tags += strspn(tags, " \t"); (n = strcspn(tags, " \t")) > 0;
	     tags += n, tags += strspn(tags, " \t")) {
		if (!list_has_word(&c->conf->server.define_tag, tags, n))
			conf_remark(c->report, CONF_ERROR, file, line,
				    "%s: no define-tag: has the tag '%.*s'", option, (int)n, tags);
		if (first)
			return;
	}
}

/* The second word of an item. */
static const char *second_word(const struct conf_item *item)
{
	const char *blank = strchr(item->text, ' ');

	return blank ? blank + 1 : "";
}

static void check_tags(const struct checker *c)
{
	const struct conf_server *s = &c->conf->server;
	const struct {
		const char *name;
		const struct conf_list *list;
		bool first;     /* one tag, followed by something else */
	} rows[] = {
		{ "access-control-tag", &s->access_control_tag, false },
		{ "access-control-tag-action", &s->access_control_tag_action, true },
		{ "access-control-tag-data", &s->access_control_tag_data, true },
		{ "interface-tag", &s->interface_tag, false },
		{ "interface-tag-action", &s->interface_tag_action, true },
		{ "interface-tag-data", &s->interface_tag_data, true },
		{ "local-zone-tag", &s->local_zone_tag, false },
		{ "response-ip-tag", &s->response_ip_tag, false },
	};

	for (size_t r = 0; r < COUNT(rows); r++)
		for (size_t i = 0; i < rows[r].list->count; i++)
			check_tags_in(c, rows[r].name, second_word(&rows[r].list->items[i]),
				      rows[r].first, rows[r].list->items[i].file,
				      rows[r].list->items[i].line);
	for (size_t i = 0; i < c->conf->rpz_count; i++)
		check_tags_in(c, "rpz", c->conf->rpzs[i].tags, false, c->conf->rpzs[i].from_file,
			      c->conf->rpzs[i].from_line);
}

static void check_view(const struct checker *c, const char *option, const struct conf_item *item,
		       const char *name)
{
	for (size_t v = 0; v < c->conf->view_count; v++)
		if (strcmp(c->conf->views[v].name, name) == 0)
			return;
	conf_remark(c->report, CONF_ERROR, item->file, item->line,
		    "%s: there is no view of the name '%s'", option, name);
}

static void check_views_in(const struct checker *c, const char *option, const struct conf_list *list)
{
	for (size_t i = 0; i < list->count; i++)
		check_view(c, option, &list->items[i], second_word(&list->items[i]));
}

static void check_views_of_zones(const struct checker *c)
{
	for (size_t i = 0; i < c->conf->forward_zone_count; i++) {
		const struct conf_list *list = &c->conf->forward_zones[i].forward_view;

		for (size_t j = 0; j < list->count; j++)
			check_view(c, "forward-view", &list->items[j], list->items[j].text);
	}
	for (size_t i = 0; i < c->conf->stub_zone_count; i++) {
		const struct conf_list *list = &c->conf->stub_zones[i].stub_view;

		for (size_t j = 0; j < list->count; j++)
			check_view(c, "stub-view", &list->items[j], list->items[j].text);
	}
}

static bool view_exists(const struct conf *conf, const char *name, size_t len)
{
	for (size_t i = 0; i < conf->view_count; i++)
		if (strlen(conf->views[i].name) == len && memcmp(conf->views[i].name, name, len) == 0)
			return true;
	return false;
}

/* A missing file is no error: the list may arrive later, and queries must be answered. */
static void check_list_files(const struct checker *c, const struct conf_list *files,
			     const char *option)
{
	for (size_t i = 0; !c->how->no_files && i < files->count; i++) {
		const struct conf_item *item = &files->items[i];
		char *path = c->how->chroot ? conf_path_inside(c->conf, item->text)
					    : conf_path(c->conf, item->text);
		const char *why = what_is_missing(path, CHECK_READABLE_GLOB);

		if (why)
			conf_remark(c->report, CONF_WARNING, item->file, item->line,
				    "%s: cannot use '%s': %s", option, path, why);
		mem_free(path);
	}
}

static void check_blocklist(const struct checker *c, const struct conf_blocklist *b)
{
	const char *at = b->views;
	size_t n;

	for (at += strspn(at, " \t"); (n = strcspn(at, " \t")) > 0; at += n, at += strspn(at, " \t"))
		if (!view_exists(c->conf, at, n))
			conf_remark(c->report, CONF_ERROR, b->from_file, b->from_line,
				    "blocklist: there is no view of the name '%.*s'", (int)n, at);
	check_tags_in(c, "blocklist", b->tags, false, b->from_file, b->from_line);
	if (!b->file.count && !b->url.count)
		conf_remark(c->report, CONF_WARNING, b->from_file, b->from_line,
			    "blocklist: '%s' comes from nowhere", b->name);
	check_list_files(c, &b->file, "file");
	check_list_files(c, &b->allow_file, "allow-file");
}

static void check_blocklists(const struct checker *c)
{
	for (size_t i = 0; i < c->conf->blocklist_count; i++)
		check_blocklist(c, &c->conf->blocklists[i]);
}

bool conf_fills_sets(const struct conf *conf)
{
	return conf_has_module(conf, "ipset") && (*conf->ipset.name_v4 || *conf->ipset.name_v6);
}

/* Zones of type ipset that fill no set. */
static void check_zone_types_in(const struct checker *c, const struct conf_list *list, const char *why)
{
	for (size_t i = 0; i < list->count; i++)
		if (strcmp(second_word(&list->items[i]), "ipset") == 0)
			conf_remark(c->report, CONF_NOTICE, list->items[i].file, list->items[i].line,
				    "local-zone: a zone of type ipset is like a transparent one here: %s", why);
}

static void check_zone_types(const struct checker *c)
{
	if (!conf_fills_sets(c->conf))
		check_zone_types_in(c, &c->conf->server.local_zone,
				    "to fill sets there must be ipset in module-config:, and name-v4: or name-v6:");
	for (size_t i = 0; i < c->conf->view_count; i++)
		check_zone_types_in(c, &c->conf->views[i].local_zone,
				    "only those of the server clause fill sets");
}

static void check_modules(const struct checker *c)
{
	const struct option *o = conf_find_option(CLAUSE_server, "module-config", 13);
	const struct conf_origin *origin = &c->conf->own->given[o - conf_options];
	const char *at = c->conf->server.module_config;
	size_t n;

	if (!origin->file)
		return;
	for (at += strspn(at, " \t"); (n = strcspn(at, " \t")) > 0; at += n, at += strspn(at, " \t")) {
		for (size_t i = 0; i < conf_module_count; i++) {
			const struct conf_module *m = &conf_modules[i];

			if (strlen(m->name) != n || memcmp(m->name, at, n) != 0)
				continue;
			if (m->status == CONF_PLANNED)
				conf_remark(c->report, CONF_NOTICE, origin->file, origin->line,
					    "module-config: %s is accepted and has no effect yet",
					    m->name);
			else if (m->status == CONF_NONE)
				conf_remark(c->report, CONF_NOTICE, origin->file, origin->line,
					    "module-config: %s is accepted and has no effect here: %s",
					    m->name, m->why);
		}
	}
}

/* ---- contradictions ---- */

static void clause_remark(const struct checker *c, enum conf_clause clause,
			  enum conf_weight weight, const char *option, const char *text)
{
	const struct option *o = conf_find_option(clause, option, strlen(option));
	const struct conf_origin *origin = &c->conf->own->given[o - conf_options];

	conf_remark(c->report, weight, origin->file ? origin->file : "", origin->line, "%s: %s",
		    option, text);
}

static void origin_remark(const struct checker *c, enum conf_weight weight, const char *option,
			  const char *text)
{
	clause_remark(c, CLAUSE_server, weight, option, text);
}

static void check_dnstap(const struct checker *c)
{
	const struct conf_dnstap *d = &c->conf->dnstap;

	if (!d->dnstap_enable)
		return;
	if (!d->dnstap_log_client_query_messages && !d->dnstap_log_client_response_messages &&
	    !d->dnstap_log_resolver_query_messages && !d->dnstap_log_resolver_response_messages &&
	    !d->dnstap_log_forwarder_query_messages && !d->dnstap_log_forwarder_response_messages)
		clause_remark(c, CLAUSE_dnstap, CONF_WARNING, "dnstap-enable",
			      "nothing is sent as long as no dnstap-log-...-messages: says yes");
	if (!*d->dnstap_ip && !*d->dnstap_socket_path)
		clause_remark(c, CLAUSE_dnstap, CONF_ERROR, "dnstap-socket-path",
			      "neither a socket nor dnstap-ip: says where to send");
	if (strchr(d->dnstap_ip, '#'))
		clause_remark(c, CLAUSE_dnstap, CONF_ERROR, "dnstap-ip",
			      "the name in the certificate is for dnstap-tls-server-name:");
	if (!*d->dnstap_tls_client_key_file != !*d->dnstap_tls_client_cert_file)
		clause_remark(c, CLAUSE_dnstap, CONF_ERROR, "dnstap-tls-client-key-file",
			      "key and certificate (dnstap-tls-client-cert-file) go together");
}

static void check_ipset(const struct checker *c)
{
	const char *options[] = { "name-v4", "name-v6" };
	const char *names[] = { c->conf->ipset.name_v4, c->conf->ipset.name_v6 };
	const char *lack = kernset_lack();

	for (unsigned i = 0; i < COUNT(names); i++) {
		struct fault f = { 0 };

		if (!*names[i])
			continue;
		if (!kernset_check(names[i], &f))
			clause_remark(c, CLAUSE_ipset, CONF_ERROR, options[i], f.text);
		if (!conf_has_module(c->conf, "ipset"))
			clause_remark(c, CLAUSE_ipset, CONF_WARNING, options[i],
				      "has no effect without ipset in module-config:");
	}
	if (lack && conf_fills_sets(c->conf)) {
		char *text = mem_textf("no set is filled: %s", lack);

		clause_remark(c, CLAUSE_ipset, CONF_WARNING, *names[0] ? options[0] : options[1], text);
		mem_free(text);
	}
}

static void check_sense(const struct checker *c)
{
	const struct conf_server *s = &c->conf->server;

	if (!s->do_ip4 && !s->do_ip6)
		origin_remark(c, CONF_ERROR, "do-ip6", "with do-ip4: no too no address is left");
	if (!s->do_udp && !s->do_tcp)
		origin_remark(c, CONF_ERROR, "do-tcp", "with do-udp: no too no transport is left");
	if (s->prefer_ip4 && s->prefer_ip6)
		origin_remark(c, CONF_WARNING, "prefer-ip6", "prefer-ip4: says the opposite");
	if (s->cache_min_ttl > s->cache_max_ttl)
		origin_remark(c, CONF_WARNING, "cache-min-ttl", "is more than cache-max-ttl:");
	if (s->cache_min_negative_ttl > s->cache_max_negative_ttl)
		origin_remark(c, CONF_WARNING, "cache-min-negative-ttl",
			      "is more than cache-max-negative-ttl:");
	if (s->infra_cache_min_rtt > s->infra_cache_max_rtt)
		origin_remark(c, CONF_WARNING, "infra-cache-min-rtt",
			      "is more than infra-cache-max-rtt:, which counts");
	if (s->val_sig_skew_min > s->val_sig_skew_max)
		origin_remark(c, CONF_WARNING, "val-sig-skew-min", "is more than val-sig-skew-max:");
	if (s->ede_serve_expired && !s->ede)
		origin_remark(c, CONF_WARNING, "ede-serve-expired", "has no effect without ede: yes");
	if (*s->tls_service_key && !*s->tls_service_pem)
		origin_remark(c, CONF_WARNING, "tls-service-key", "needs tls-service-pem: too");
	if (*s->tls_service_pem && !*s->tls_service_key)
		origin_remark(c, CONF_WARNING, "tls-service-pem", "needs tls-service-key: too");
}

bool conf_check(const struct conf *conf, const struct conf_how *how, struct conf_report *report)
{
	static const struct conf_how usual = { 0 };
	struct conf_report unseen = { 0 };
	struct checker c = { .conf = conf,
			     .how = how ? how : &usual,
			     .report = report ? report : &unseen };
	size_t before = c.report->errors;
	bool good;

	check_modules(&c);
	check_zones(&c);
	check_tags(&c);
	check_blocklists(&c);
	check_views_in(&c, "access-control-view", &conf->server.access_control_view);
	check_views_in(&c, "interface-view", &conf->server.interface_view);
	check_views_of_zones(&c);
	check_zone_types(&c);
	check_sense(&c);
	check_dnstap(&c);
	conf_check_parts(conf, c.report);
	check_ipset(&c);
	if (!c.how->no_files)
		check_files(&c);
	good = c.report->errors == before;
	conf_report_clear(&unseen);
	return good;
}
