/* A configuration: every option of resolver.conf as a field; reading, querying, changing, checking.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * The fields come from the rows of util/conf/options.def; `num-threads` of the server
 * clause is `conf->server.num_threads`. Each value is checked syntactically when it
 * is read, so its users need only consider what it means. A loaded configuration is
 * read-only and may be read by any number of threads. */
#ifndef UTIL_CONF_OPTIONS_H
#define UTIL_CONF_OPTIONS_H

#include <stdio.h>

#include "util/base/base.h"

struct fault;
struct nameset_maker;

/* One value of a repeatable option. Words, as in `access-control: 10.0.0.0/8
 * allow`, are joined by single blanks; only the last may itself contain blanks. */
struct conf_item {
	char *text;
	const char *file;       /* where it was written; "" when set at run time */
	unsigned line;
	unsigned order;         /* position among all items of the configuration, as read */
};

struct conf_list {
	struct conf_item *items;
	size_t count;
	struct conf_names *names; /* of lines not kept as items (conf_how.packs); NULL: none */
	uint64_t packed;        /* hash of those lines */
	uint64_t forgotten;     /* hash of values dropped by conf_list_clear; 0: none */
};

/* The packed names of local-zone: lines, each with the number of its type; items that could have
 * been packed are among them. The first caller gets and owns it; NULL: none, or already taken. */
struct nameset_maker *conf_names_take(const struct conf_list *list) MUST_USE;
/* The word for such a number, "static" and the like; "" for an unknown one. */
const char *conf_names_type(unsigned number);

/* The C types behind the types of options.def. Texts are never NULL. */
typedef bool             conf_FLAG;
typedef uint32_t         conf_NUMBER;
typedef uint32_t         conf_SECONDS;
typedef uint32_t         conf_MS;
typedef uint64_t         conf_SIZE;     /* bytes */
typedef char            *conf_STRING;
typedef char            *conf_FILE;     /* as written; see conf_path */
typedef char            *conf_DOMAIN;   /* as written: any case, with or without final dot */
typedef char            *conf_WORD;     /* one of a fixed set of words */
typedef struct conf_list conf_LIST;

/* Every clause. A MANY clause makes a new struct each time it appears; a ONE clause
 * adds to its single struct. */
#define CONF_CLAUSES(ONE, MANY) \
	ONE(server) \
	MANY(stub_zone, stub_zones, stub_zone_count) \
	MANY(forward_zone, forward_zones, forward_zone_count) \
	MANY(auth_zone, auth_zones, auth_zone_count) \
	MANY(rpz, rpzs, rpz_count) \
	MANY(key, keys, key_count) \
	MANY(blocklist, blocklists, blocklist_count) \
	MANY(view, views, view_count) \
	MANY(dhcp_leases, dhcp_leases, dhcp_leases_count) \
	ONE(remote_control) \
	ONE(metrics) \
	ONE(python) \
	ONE(dynlib) \
	ONE(dnstap) \
	ONE(dnscrypt) \
	ONE(cachedb) \
	ONE(ipset)

#define NOT_HERE(field)
#define IN_server         NOT_HERE
#define IN_stub_zone      NOT_HERE
#define IN_forward_zone   NOT_HERE
#define IN_auth_zone      NOT_HERE
#define IN_rpz            NOT_HERE
#define IN_key            NOT_HERE
#define IN_blocklist      NOT_HERE
#define IN_view           NOT_HERE
#define IN_dhcp_leases    NOT_HERE
#define IN_remote_control NOT_HERE
#define IN_metrics        NOT_HERE
#define IN_python         NOT_HERE
#define IN_dynlib         NOT_HERE
#define IN_dnstap         NOT_HERE
#define IN_dnscrypt       NOT_HERE
#define IN_cachedb        NOT_HERE
#define IN_ipset          NOT_HERE
#define HERE(field)       field

/* The rows of a clause are the fields of its struct. */
#define GROUP(clause, heading)
#define ALIAS(clause, name, real)
#define OPT(clause, type, name, ...) IN_##clause(conf_##type name;)

#undef IN_server
#define IN_server HERE
struct conf_server {
#include "util/conf/options.def"
};
#undef IN_server
#define IN_server NOT_HERE

#undef IN_stub_zone
#define IN_stub_zone HERE
struct conf_stub_zone {
#include "util/conf/options.def"
	const char *from_file;  /* where the clause begins */
	unsigned from_line;
};
#undef IN_stub_zone
#define IN_stub_zone NOT_HERE

#undef IN_forward_zone
#define IN_forward_zone HERE
struct conf_forward_zone {
#include "util/conf/options.def"
	const char *from_file;  /* where the clause begins */
	unsigned from_line;
};
#undef IN_forward_zone
#define IN_forward_zone NOT_HERE

#undef IN_auth_zone
#define IN_auth_zone HERE
struct conf_auth_zone {
#include "util/conf/options.def"
	const char *from_file;  /* where the clause begins */
	unsigned from_line;
};
#undef IN_auth_zone
#define IN_auth_zone NOT_HERE

#undef IN_rpz
#define IN_rpz HERE
struct conf_rpz {
#include "util/conf/options.def"
	const char *from_file;  /* where the clause begins */
	unsigned from_line;
};
#undef IN_rpz
#define IN_rpz NOT_HERE

#undef IN_key
#define IN_key HERE
struct conf_key {
#include "util/conf/options.def"
	const char *from_file;       /* where the clause begins */
	unsigned from_line;
};
#undef IN_key
#define IN_key NOT_HERE

#undef IN_blocklist
#define IN_blocklist HERE
struct conf_blocklist {
#include "util/conf/options.def"
	const char *from_file;  /* where the clause begins */
	unsigned from_line;
};
#undef IN_blocklist
#define IN_blocklist NOT_HERE

#undef IN_view
#define IN_view HERE
struct conf_view {
#include "util/conf/options.def"
	const char *from_file;  /* where the clause begins */
	unsigned from_line;
};
#undef IN_view
#define IN_view NOT_HERE

#undef IN_dhcp_leases
#define IN_dhcp_leases HERE
struct conf_dhcp_leases {
#include "util/conf/options.def"
	const char *from_file;  /* where the clause begins */
	unsigned from_line;
};
#undef IN_dhcp_leases
#define IN_dhcp_leases NOT_HERE

#undef IN_remote_control
#define IN_remote_control HERE
struct conf_remote_control {
#include "util/conf/options.def"
};
#undef IN_remote_control
#define IN_remote_control NOT_HERE

#undef IN_metrics
#define IN_metrics HERE
struct conf_metrics {
#include "util/conf/options.def"
};
#undef IN_metrics
#define IN_metrics NOT_HERE

#undef IN_python
#define IN_python HERE
struct conf_python {
#include "util/conf/options.def"
};
#undef IN_python
#define IN_python NOT_HERE

#undef IN_dynlib
#define IN_dynlib HERE
struct conf_dynlib {
#include "util/conf/options.def"
};
#undef IN_dynlib
#define IN_dynlib NOT_HERE

#undef IN_dnstap
#define IN_dnstap HERE
struct conf_dnstap {
#include "util/conf/options.def"
};
#undef IN_dnstap
#define IN_dnstap NOT_HERE

#undef IN_dnscrypt
#define IN_dnscrypt HERE
struct conf_dnscrypt {
#include "util/conf/options.def"
};
#undef IN_dnscrypt
#define IN_dnscrypt NOT_HERE

#undef IN_cachedb
#define IN_cachedb HERE
struct conf_cachedb {
#include "util/conf/options.def"
};
#undef IN_cachedb
#define IN_cachedb NOT_HERE

#undef IN_ipset
#define IN_ipset HERE
struct conf_ipset {
#include "util/conf/options.def"
};
#undef IN_ipset
#define IN_ipset NOT_HERE

#undef IN_server
#undef IN_stub_zone
#undef IN_forward_zone
#undef IN_auth_zone
#undef IN_rpz
#undef IN_key
#undef IN_blocklist
#undef IN_view
#undef IN_dhcp_leases
#undef IN_metrics
#undef IN_remote_control
#undef IN_python
#undef IN_dynlib
#undef IN_dnstap
#undef IN_dnscrypt
#undef IN_cachedb
#undef IN_ipset
#undef GROUP
#undef ALIAS
#undef OPT
#undef HERE
#undef NOT_HERE

/* The members, spelled out: conf->server, conf->remote_control, conf->metrics,
 * conf->python, conf->dynlib, conf->dnstap, conf->dnscrypt, conf->cachedb,
 * conf->ipset; conf->stub_zones[conf->stub_zone_count], and likewise forward_zones,
 * auth_zones, rpzs, keys, blocklists, views and dhcp_leases, in file order. */
struct conf {
#define CONF_ONE(clause)                        struct conf_##clause clause;
#define CONF_MANY(clause, array, array_count)   struct conf_##clause *array; size_t array_count;
	CONF_CLAUSES(CONF_ONE, CONF_MANY)
#undef CONF_ONE
#undef CONF_MANY
	struct conf_private *own;       /* private to options*.c: file names, what was given */
};

/* All defaults, as if an empty file had been loaded. conf_copy omits packed names. */
struct conf *conf_new(void) MUST_USE;
struct conf *conf_copy(const struct conf *conf) MUST_USE;       /* shares nothing */
void conf_free(struct conf *conf);                              /* NULL is fine */
/* Free the values of a list that has been converted, keeping only a hash for conf_compare. */
void conf_list_clear(struct conf_list *list);

/* ---- reading ---- */

/* An option as it appears in a file, whether it was accepted or not. */
struct conf_seen {
	const char *clause, *name;      /* as users write them */
	const char *value;              /* its words, joined by blanks; "" where it has none */
	const char *file;               /* lives until loading ends */
	unsigned line;
	bool known, taken;
};

struct conf_how {
	void (*seen)(void *arg, const struct conf_seen *seen); /* each option in order; or NULL */
	void *arg;
	bool no_files;          /* skip what the file names: keys, includes, folders, users */
	bool no_includes;       /* follow no include: for untrusted text */
	bool packs;             /* after a thousand local-zone: lines, pack what can be */
	bool serves;            /* the daemon: a missing folder of a log, pid or zone file stops nobody */
	bool test_switches;     /* allow fake-sha1 and the like (resolver-replay only) */
	const char *chroot;     /* already entered: stripped from paths; or NULL */
};

enum conf_weight { CONF_ERROR, CONF_WARNING, CONF_NOTICE };

struct conf_remark {
	enum conf_weight weight;
	char *file;             /* "" when no line is to blame */
	unsigned line;
	char *text;             /* one sentence: option, value, what was expected */
};

/* All remarks on a configuration, in the order they were found. Zero it before use. */
struct conf_report {
	struct conf_remark *remarks;
	size_t count;
	size_t errors;          /* how many of them are errors */
};

void conf_report_clear(struct conf_report *report);
/* Put the first error into `f` as "FILE:LINE: text"; does nothing when there is none. */
void conf_report_fault(const struct conf_report *report, struct fault *f);

/* Read a file, or a text (called `name` in remarks), into `conf`, on top of what it
 * holds. Continues after an error to find further ones. True when there were none;
 * otherwise `conf` is good only for conf_free. `how` may be NULL. With a file, blocklist:
 * clauses are added for the lists of scripts that are known (options_scripts.c). */
bool conf_load_file(struct conf *conf, const char *path, const struct conf_how *how,
		    struct conf_report *report) MUST_USE;
bool conf_load_text(struct conf *conf, const char *name, const char *text, size_t len,
		    const struct conf_how *how, struct conf_report *report) MUST_USE;

/* Check what no single line can show: names that zones need, tags and views that
 * must exist, the order of modules and, unless `no_files`, the files, folders and
 * user that are named. True when no error was found. */
bool conf_check(const struct conf *conf, const struct conf_how *how,
		struct conf_report *report) MUST_USE;

/* The same for a configuration that differs from another in some option (conf_set_option): false, with the
 * first error that the other does not have. */
bool conf_check_change(const struct conf *before, const struct conf *after, const struct conf_how *how,
		       struct fault *f) MUST_USE;

/* Warn, with file and line, of what is allowed but probably a mistake. The configuration has been
 * checked. Unless `no_files`, key files and the configuration files are examined too. */
void conf_warnings(const struct conf *conf, const struct conf_how *how, struct conf_report *report);

/* Explain on `out`, option by option, what a configuration written for Unbound does here. */
enum conf_fate {
	CONF_FATE_FITS,         /* everything in it works as it did there */
	CONF_FATE_LACKS,        /* usable, but some of it has no effect */
	CONF_FATE_REFUSED,      /* not usable as it is */
};
enum conf_fate conf_explain_unbound(FILE *out, const char *path) MUST_USE;

/* ---- one option by its name ---- */

/* As get_option of Unbound's control protocol: pass each value of a list, or the only
 * value (even if empty), to `write`; a list may have none, and its newest value comes first (but
 * for interfaces), as Unbound has it. `name` is an option of server,
 * remote-control or another clause that appears once. False: no such option. */
bool conf_get_option(const struct conf *conf, const char *name,
		     void (*write)(void *arg, const char *text), void *arg);

/* What its values are: numbers (in seconds, bytes, …), yes or no, or text; and whether there may be several. */
struct conf_form {
	enum { CONF_FORM_TEXT, CONF_FORM_NUMBER, CONF_FORM_FLAG } kind;
	bool list;
};
struct conf_form conf_option_form(const char *name) PURE; /* of one that conf_get_option knows */
/* The clause of an option that conf_get_option knows, with whose name the line begins; else NULL. */
const char *conf_option_clause(const char *line);

/* As set_option: `line` is "name: value" or "name value"; the value is added to a
 * list. Only for a configuration nobody reads yet (conf_copy). */
bool conf_set_option(struct conf *conf, const char *line, struct fault *f) MUST_USE;

/* Whether module-config names it. */
bool conf_has_module(const struct conf *conf, const char *name) PURE;
/* The next of those that module-config names and that do something here; `at` is NULL at first. NULL after the last. */
const char *conf_module_next(const struct conf *conf, const char **at);
/* Whether sets of the packet filter are to be filled: the module ipset, and a set. */
bool conf_fills_sets(const struct conf *conf) PURE;

/* The file in which the root's built-in keys are followed, where validator is among the modules and the configuration
 * says nothing of trust anchors, not even that there are none (auto-trust-anchor-file: ""); else NULL. Static. */
const char *conf_default_anchor(const struct conf *conf);

/* Whether a file or conf_set_option set the option (of a clause that appears once);
 * false while its default is in force. */
bool conf_was_given(const struct conf *conf, const char *name);

/* Whether the option's value is the path of a file or folder. */
bool conf_is_path(const char *name);

/* When a change of the option acts: a column of util/conf/options.def. */
enum conf_acts {
	CONF_AT_ONCE,    /* when the file is read again, or set_option is called */
	CONF_AT_START,   /* at the next start alone */
	CONF_WITH_ZONES, /* when the file is read again: local zones are made with it */
	CONF_WITH_LOG,   /* at once, and the log is opened anew */
};
enum conf_acts conf_option_acts(const char *name); /* as conf_compare gives it */

/* Report each option that differs between two configurations, once; a clause that
 * may appear many times is reported as a whole ("forward-zone"). */
void conf_compare(const struct conf *a, const struct conf *b,
		  void (*differs)(void *arg, const char *name), void *arg);

/* ---- paths ---- */

/* The path of a configured file as seen from outside the chroot, which `name` may or
 * may not begin with; relative names start at `directory`. "" stays "". The caller
 * owns the result of all three. */
char *conf_path(const struct conf *conf, const char *name) MUST_USE;
/* The same file as seen from inside the chroot. */
char *conf_path_inside(const struct conf *conf, const char *name) MUST_USE;
/* The pid file as seen from outside: written before chroot, so an absolute path is taken as is. */
char *conf_pid_path(const struct conf *conf) MUST_USE;

enum conf_use {
	CONF_READS,
	CONF_MAKES,             /* created and removed in its folder: sockets, the pid file */
	CONF_WRITES,            /* rewritten: a new file beside it is renamed over it */
};

struct conf_path_use {
	const char *option;
	const char *path;       /* as written; may be a pattern such as "lists/a*.txt" */
	enum conf_use use;
	bool folder;            /* it names a folder, not a file */
};

/* Visit each file and folder the configuration names; files it was read from count as `include`. */
void conf_each_path(const struct conf *conf, void (*visit)(void *arg, const struct conf_path_use *use),
		    void *arg);

/* ---- the table ---- */

/* One line per clause and option: clause TAB option TAB status TAB default; and TAB "start" where
 * a change acts at the next start alone. */
void conf_print_options(FILE *out);
/* A complete resolver.conf: every option, its help and its default, commented out. */
void conf_print_example(FILE *out);
/* The reference part of resolver.conf(5), as man(7) source. */
void conf_print_man(FILE *out);

#endif
