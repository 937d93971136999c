/* A configuration: every option of resolver.conf as a field, read, asked for, changed and checked.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * The fields come from the rows of util/options.def; `num-threads` of the server
 * clause is `conf->server.num_threads`. Values are checked when they are read,
 * so whoever uses a field need not fear its text, only its meaning. A loaded
 * configuration is read-only and may be read by any number of threads. */
#ifndef UTIL_OPTIONS_H
#define UTIL_OPTIONS_H

#include <stdio.h>

#include "util/base.h"

struct fault;
struct nameset_maker;

/* One value of a repeatable option. The words of `access-control: 10.0.0.0/8
 * allow` are joined by one blank; only the last of them can hold blanks. */
struct conf_item {
	char *text;
	const char *file;       /* where it was written; "" when set at run time */
	unsigned line;
	unsigned order;         /* counts all items of a configuration as they were read */
};

struct conf_list {
	struct conf_item *items;
	size_t count;
	struct conf_names *names; /* of lines that are no items (conf_how.packs); NULL: none */
	uint64_t packed;        /* stands for those lines */
	uint64_t forgotten;     /* stands for the values before them (conf_list_clear); 0: there were none */
};

/* The names of local-zone: lines that are only a name and a type, each with the number of its type;
 * also those lines of this kind that are items. For the first who asks; NULL: there are none. */
struct nameset_maker *conf_names_take(const struct conf_list *list) MUST_USE;
/* A type by its number there. */
const char *conf_names_type(unsigned number);

/* What the types of options.def are in C. Texts are never NULL. */
typedef bool             conf_FLAG;
typedef uint32_t         conf_NUMBER;
typedef uint32_t         conf_SECONDS;
typedef uint32_t         conf_MS;
typedef uint64_t         conf_SIZE;     /* bytes */
typedef char            *conf_STRING;
typedef char            *conf_FILE;     /* as written; see conf_path */
typedef char            *conf_DOMAIN;   /* as written: any case, with or without last dot */
typedef char            *conf_WORD;     /* one of a few words */
typedef struct conf_list conf_LIST;

/* Every clause; a MANY clause makes a new struct each time it appears, a ONE
 * clause adds to the one there is. */
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
#include "util/options.def"
};
#undef IN_server
#define IN_server NOT_HERE

#undef IN_stub_zone
#define IN_stub_zone HERE
struct conf_stub_zone {
#include "util/options.def"
	const char *from_file;  /* where the clause begins */
	unsigned from_line;
};
#undef IN_stub_zone
#define IN_stub_zone NOT_HERE

#undef IN_forward_zone
#define IN_forward_zone HERE
struct conf_forward_zone {
#include "util/options.def"
	const char *from_file;  /* where the clause begins */
	unsigned from_line;
};
#undef IN_forward_zone
#define IN_forward_zone NOT_HERE

#undef IN_auth_zone
#define IN_auth_zone HERE
struct conf_auth_zone {
#include "util/options.def"
	const char *from_file;  /* where the clause begins */
	unsigned from_line;
};
#undef IN_auth_zone
#define IN_auth_zone NOT_HERE

#undef IN_rpz
#define IN_rpz HERE
struct conf_rpz {
#include "util/options.def"
	const char *from_file;  /* where the clause begins */
	unsigned from_line;
};
#undef IN_rpz
#define IN_rpz NOT_HERE

#undef IN_key
#define IN_key HERE
struct conf_key {
#include "util/options.def"
	const char *from_file;       /* where the clause begins */
	unsigned from_line;
};
#undef IN_key
#define IN_key NOT_HERE

#undef IN_blocklist
#define IN_blocklist HERE
struct conf_blocklist {
#include "util/options.def"
	const char *from_file;  /* where the clause begins */
	unsigned from_line;
};
#undef IN_blocklist
#define IN_blocklist NOT_HERE

#undef IN_view
#define IN_view HERE
struct conf_view {
#include "util/options.def"
	const char *from_file;  /* where the clause begins */
	unsigned from_line;
};
#undef IN_view
#define IN_view NOT_HERE

#undef IN_dhcp_leases
#define IN_dhcp_leases HERE
struct conf_dhcp_leases {
#include "util/options.def"
	const char *from_file;  /* where the clause begins */
	unsigned from_line;
};
#undef IN_dhcp_leases
#define IN_dhcp_leases NOT_HERE

#undef IN_remote_control
#define IN_remote_control HERE
struct conf_remote_control {
#include "util/options.def"
};
#undef IN_remote_control
#define IN_remote_control NOT_HERE

#undef IN_metrics
#define IN_metrics HERE
struct conf_metrics {
#include "util/options.def"
};
#undef IN_metrics
#define IN_metrics NOT_HERE

#undef IN_python
#define IN_python HERE
struct conf_python {
#include "util/options.def"
};
#undef IN_python
#define IN_python NOT_HERE

#undef IN_dynlib
#define IN_dynlib HERE
struct conf_dynlib {
#include "util/options.def"
};
#undef IN_dynlib
#define IN_dynlib NOT_HERE

#undef IN_dnstap
#define IN_dnstap HERE
struct conf_dnstap {
#include "util/options.def"
};
#undef IN_dnstap
#define IN_dnstap NOT_HERE

#undef IN_dnscrypt
#define IN_dnscrypt HERE
struct conf_dnscrypt {
#include "util/options.def"
};
#undef IN_dnscrypt
#define IN_dnscrypt NOT_HERE

#undef IN_cachedb
#define IN_cachedb HERE
struct conf_cachedb {
#include "util/options.def"
};
#undef IN_cachedb
#define IN_cachedb NOT_HERE

#undef IN_ipset
#define IN_ipset HERE
struct conf_ipset {
#include "util/options.def"
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

/* Members, written out: conf->server, conf->remote_control, conf->python,
 * conf->dynlib, conf->dnstap, conf->dnscrypt, conf->cachedb, conf->ipset;
 * conf->stub_zones[conf->stub_zone_count], forward_zones, auth_zones, rpzs, keys, blocklists,
 * views and dhcp_leases likewise, in the order of the file. */
struct conf {
#define CONF_ONE(clause)                        struct conf_##clause clause;
#define CONF_MANY(clause, array, array_count)   struct conf_##clause *array; size_t array_count;
	CONF_CLAUSES(CONF_ONE, CONF_MANY)
#undef CONF_ONE
#undef CONF_MANY
	struct conf_private *own;       /* this room's: file names, what was given */
};

/* With every default, as if an empty file had been loaded. */
struct conf *conf_new(void) MUST_USE;
struct conf *conf_copy(const struct conf *conf) MUST_USE;       /* shares nothing */
void conf_free(struct conf *conf);                              /* NULL is fine */
/* Forget the values of a list that has been made into something else, but for what conf_compare needs. */
void conf_list_clear(struct conf_list *list);

/* ---- reading ---- */

/* An option as it stands in a file, whether it could be taken or not. */
struct conf_seen {
	const char *clause, *name;      /* as users write them */
	const char *value;              /* its words with a blank between them; "" where it has none */
	const char *file;               /* lives until loading has ended */
	unsigned line;
	bool known, taken;
};

struct conf_how {
	void (*seen)(void *arg, const struct conf_seen *seen); /* each option, in their order; or NULL */
	void *arg;
	bool no_files;          /* do not look for what the file names: keys, includes, folders, users */
	bool no_includes;       /* follow no include: for texts of strangers */
	bool packs;             /* after a thousand local-zone: lines others become conf_names */
	bool test_switches;     /* fake-sha1 and its like may be used (resolver-replay alone) */
	const char *chroot;     /* the process is locked in there already: it is taken off paths; or NULL */
};

enum conf_weight { CONF_ERROR, CONF_WARNING, CONF_NOTICE };

struct conf_remark {
	enum conf_weight weight;
	char *file;             /* "" when the remark is about no line */
	unsigned line;
	char *text;             /* one sentence: option, value, what was expected */
};

/* Everything there is to say about a configuration, in the order of finding. Begins zeroed. */
struct conf_report {
	struct conf_remark *remarks;
	size_t count;
	size_t errors;          /* how many of them are errors */
};

void conf_report_clear(struct conf_report *report);
/* The first error as "FILE:LINE: text" into `f`; nothing when there is none. */
void conf_report_fault(const struct conf_report *report, struct fault *f);

/* Read a file or a text (`name` stands for its file name) into `conf`, on top of
 * what it holds. Goes on after an error to find the next. True when no error was
 * found; what is half read is only good for conf_free. `how` may be NULL. */
bool conf_load_file(struct conf *conf, const char *path, const struct conf_how *how,
		    struct conf_report *report) MUST_USE;
bool conf_load_text(struct conf *conf, const char *name, const char *text, size_t len,
		    const struct conf_how *how, struct conf_report *report) MUST_USE;

/* What no single line can tell: names that zones need, tags and views that must
 * exist, the order of modules, and, unless `no_files`, the files, folders and
 * user named. True when no error was found. */
bool conf_check(const struct conf *conf, const struct conf_how *how,
		struct conf_report *report) MUST_USE;

/* What is allowed, and yet would probably be regretted: warnings with file and line, of a configuration
 * that has been checked. Unless `no_files`, keys and the configuration itself are looked at, too. */
void conf_dangers(const struct conf *conf, const struct conf_how *how, struct conf_report *report);

/* What becomes of a configuration made for Unbound, option by option, to `out`. */
enum conf_fate {
	CONF_FATE_FITS,         /* everything in it does here what it did there */
	CONF_FATE_LACKS,        /* it can be used, but some of it has no effect */
	CONF_FATE_REFUSED,      /* it cannot be used as it is */
};
enum conf_fate conf_explain_unbound(FILE *out, const char *path) MUST_USE;

/* ---- one option by its name ---- */

/* As get_option of Unbound's control protocol: each value of a list, or the only
 * value, to `write` (an empty one, too; a list may have none). `name` is an option of the
 * server, remote-control or another clause that appears once. False: no such option. */
bool conf_get_option(const struct conf *conf, const char *name,
		     void (*write)(void *arg, const char *text), void *arg);

/* As set_option: `line` is "name: value" or "name value"; a list grows by the
 * value. For a copy nobody reads yet (conf_copy). */
bool conf_set_option(struct conf *conf, const char *line, struct fault *f) MUST_USE;

/* Whether module-config names it. */
bool conf_has_module(const struct conf *conf, const char *name) PURE;

/* Whether a file or conf_set_option gave the option (server clause and others
 * that appear once); false when its default holds. */
bool conf_was_given(const struct conf *conf, const char *name);

/* Whether the value of the option is the path of a file or folder. */
bool conf_is_path(const char *name);

/* Each option that differs between two configurations, once; a clause that may
 * appear many times is named as a whole ("forward-zone"). */
void conf_compare(const struct conf *a, const struct conf *b,
		  void (*differs)(void *arg, const char *name), void *arg);

/* ---- paths ---- */

/* Where a file of the configuration is, seen from outside the chroot (which may
 * stand in front of `name` or not): relative names start from `directory`. Owned
 * by the caller. "" stays "". */
char *conf_path(const struct conf *conf, const char *name) MUST_USE;
/* The same file seen from inside the chroot. */
char *conf_path_inside(const struct conf *conf, const char *name) MUST_USE;
/* The pid file, seen from outside: it is written before the chroot, and a whole path is what it says. */
char *conf_pid_path(const struct conf *conf) MUST_USE;

enum conf_use {
	CONF_READS,
	CONF_MAKES,             /* made and removed in its folder: sockets, the pid file */
	CONF_WRITES,            /* rewritten, by a new file beside it that takes its name */
};

struct conf_path_use {
	const char *option;
	const char *path;       /* as written; a pattern such as "lists/a*.txt", too */
	enum conf_use use;
	bool folder;            /* the folder itself is named, not a file in it */
};

/* Each file and folder the configuration names; those it was itself read from are `include`. */
void conf_each_path(const struct conf *conf, void (*visit)(void *arg, const struct conf_path_use *use),
		    void *arg);

/* ---- the table ---- */

/* One line for each clause and option: clause TAB option TAB status TAB default. */
void conf_print_options(FILE *out);
/* A whole resolver.conf with every option, its help and its default, commented out. */
void conf_print_example(FILE *out);
/* The reference of the manual page resolver.conf(5), in the language of man(7). */
void conf_print_man(FILE *out);

#endif
