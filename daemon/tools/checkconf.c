/* resolver-checkconf: reports what is wrong with a configuration, and lists all options.
 * SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "daemon/process/reread.h"
#include "daemon/system/privileges.h"
#include "daemon/worker/modules.h"
#include "services/net/interfaces.h"
#include "services/query/snapshot.h"
#include "util/base/fault.h"
#include "util/base/log.h"
#include "util/base/mem.h"
#include "util/base/program.h"
#include "util/conf/options.h"

#define EXIT_LACKS 2 /* of --from-unbound: some options have no effect here */

static const char *program;

struct wish {
	const char *file;
	const char *option;     /* -o, or NULL */
	bool full_paths;        /* -f */
	bool quiet;             /* -q */
	bool strict;            /* warnings count as errors */
	bool from_unbound;
	void (*print)(FILE *out); /* only print this; NULL: check the file */
	struct conf_how how;
};

static void print_usage(FILE *out)
{
	fprintf(out,
		"usage: %s [options] [FILE]\n"
		"Checks a configuration (default: %s).\n"
		"  -o OPTION       print the value of an option instead; of a list one per line\n"
		"  -f              with -o: print whole paths, the chroot included\n"
		"  -q              print errors only\n"
		"  --strict        exit code 1 for warnings, too\n"
		"  --no-files      do not check that files, folders and users exist\n"
		"  --from-unbound  explain what a configuration made for Unbound will do: option by\n"
		"                  option, the same, better here, not there, or refused\n"
		"  --list-options  print clause, option, status and default of every option\n"
		"  --example       print a configuration with every option and its default\n"
		"  --man           print the manual page of resolver.conf\n"
		"  -V, --version   print the version\n"
		"  -h, --help      print this\n"
		"Exit code: 0: no errors; 1: errors; 2 (--from-unbound): it can be used, but some of it\n"
		"has no effect here.\n",
		program, CONF_FILE);
}

static void print_report(const struct conf_report *report, bool errors_only)
{
	static const char *const words[] = { "error", "warning", "notice" };

	for (size_t i = 0; i < report->count; i++) {
		const struct conf_remark *r = &report->remarks[i];

		if (errors_only && r->weight != CONF_ERROR)
			continue;
		if (r->line)
			fprintf(stderr, "%s:%u: %s: %s\n", r->file, r->line, words[r->weight],
				r->text);
		else if (*r->file)
			fprintf(stderr, "%s: %s: %s\n", r->file, words[r->weight], r->text);
		else
			fprintf(stderr, "%s: %s\n", words[r->weight], r->text);
	}
}

struct printing {
	const struct conf *conf;
	const struct wish *wish;
	bool is_path;
};

static void print_value(void *arg, const char *text)
{
	const struct printing *p = arg;
	char *path;

	if (!p->wish->full_paths || !p->is_path) {
		puts(text);
		return;
	}
	path = conf_path(p->conf, text);
	puts(path);
	mem_free(path);
}

static bool print_option(const struct conf *conf, const struct wish *wish)
{
	struct printing p = { .conf = conf,
			      .wish = wish,
			      .is_path = conf_is_path(wish->option) };

	if (conf_get_option(conf, wish->option, print_value, &p))
		return true;
	fprintf(stderr, "error: there is no option '%s' to print\n", wish->option);
	return false;
}

static bool has_warning(const struct conf_report *report)
{
	for (size_t i = 0; i < report->count; i++)
		if (report->remarks[i].weight == CONF_WARNING)
			return true;
	return false;
}

/* Print a captured log line without the log's prefix, and note that there was one. */
static void print_line(const char *line, void *troubled)
{
	const char *text = strstr(line, "] ");

	text = text ? strstr(text + 2, "] ") : NULL;
	fprintf(stderr, "%s\n", text ? text + 2 : line);
	*(bool *)troubled = true;
}

/* Length of a leading "file:line"; 0 if there is none. */
static size_t length_of_place(const char *text)
{
	size_t len = strcspn(text, ":"), digits = text[len] ? strspn(text + len + 1, "0123456789") : 0;

	return digits && strncmp(text + len + 1 + digits, ": ", 2) == 0 ? len + 1 + digits : 0;
}

/* Build a snapshot as a start would: only this shows whether the files named are valid. Takes
 * ownership of `conf`. */
static bool rehearse(struct conf *conf, const char *file, bool *troubled)
{
	struct fault f = { 0 };
	struct snapshot *s;
	size_t place;

	log_capture(print_line, troubled);
	s = modules_snapshot(conf, &f);
	log_capture(NULL, NULL);
	if (s) {
		snapshot_unpin(s);
		return true;
	}
	place = length_of_place(f.text);
	if (place)
		fprintf(stderr, "%.*s: error: %s\n", (int)place, f.text, f.text + place + 2);
	else
		fprintf(stderr, "%s: error: %s\n", file, f.text);
	conf_free(conf);
	return false;
}

/* What a start as root reads, and a reload could not. A user whom only the host of this configuration knows can not be asked
 * for; one that is given, and is not there, has been complained of. */
static bool foresee(const struct conf *conf, bool *troubled)
{
	struct privileges p;
	struct fault f = { 0 };
	bool ok;

	log_capture(print_line, troubled);
	ok = geteuid() != 0 || !privileges_find(&p, conf, &f) || reread_foresee(&p, conf, &f);
	log_capture(NULL, NULL);
	if (!ok)
		fprintf(stderr, "error: %s\n", f.text);
	return ok;
}

static bool may_read(const struct conf *conf, const char *text)
{
	char *path = conf_path(conf, text);
	bool may = !*path || access(path, R_OK) == 0 || errno != EACCES;

	mem_free(path);
	return may;
}

static void pass_over(void *arg, const struct addr *a)
{
	(void)arg;
	(void)a;
}

/* An interface may be there by the time of the start, and this may be another host: no error. */
static void look_for_interfaces(const struct conf *conf, bool *troubled)
{
	const struct conf_list *list = &conf->server.interface;

	for (size_t i = 0; i < list->count; i++) {
		const struct conf_item *item = &list->items[i];
		struct fault why = { 0 };

		if (interface_expand(item->text, 0, true, true, pass_over, NULL, &why))
			continue;
		fprintf(stderr, "%s:%u: warning: interface: %s: a start would fail\n", item->file, item->line, why.text);
		*troubled = true;
	}
}

/* Only root can surely read the keys that a start reads before it drops privileges, and the anchors that the
 * daemon's user keeps. */
static bool may_rehearse(const struct conf *conf)
{
	const struct conf_list *anchors = &conf->server.auto_trust_anchor_file;
	bool may = may_read(conf, conf->server.tls_service_key);

	for (size_t i = 0; i < anchors->count; i++)
		may = may && may_read(conf, anchors->items[i].text);
	return may || geteuid() == 0;
}

static int check(const struct wish *wish)
{
	struct conf_report report = { 0 };
	struct conf *conf = conf_new();
	bool good = conf_load_file(conf, wish->file, &wish->how, &report), troubled = false;

	if (good && !wish->option)
		good = conf_check(conf, &wish->how, &report);
	if (good && !wish->option)
		conf_warnings(conf, &wish->how, &report);
	print_report(&report, wish->quiet || wish->option);
	if (good && wish->option) {
		good = print_option(conf, wish);
	} else if (good && !wish->how.no_files && may_rehearse(conf)) {
		if (!wish->quiet)
			look_for_interfaces(conf, &troubled);
		good = foresee(conf, &troubled) && rehearse(conf, wish->file, &troubled);
		conf = NULL;
	}
	if (wish->strict && (troubled || has_warning(&report)))
		good = false;
	if (good && !wish->option && !wish->quiet)
		printf("%s: no errors in %s\n", program, wish->file);
	conf_report_clear(&report);
	conf_free(conf);
	return good ? EXIT_SUCCESS : EXIT_FAILURE;
}

static int explain(const char *file)
{
	switch (conf_explain_unbound(stdout, file)) {
	case CONF_FATE_FITS:
		return EXIT_SUCCESS;
	case CONF_FATE_LACKS:
		return EXIT_LACKS;
	default:
		return EXIT_FAILURE;
	}
}

static int finish_printing(void)
{
	if (fflush(stdout) == 0 && !ferror(stdout))
		return EXIT_SUCCESS;
	perror("cannot print");
	return EXIT_FAILURE;
}

static void print_version(FILE *out)
{
	(void)out;
	(void)program_print_version();
}

/* False for what cannot be understood. */
static bool take_options(struct wish *w, int argc, char **argv)
{
	enum { NO_FILES = 256, STRICT, FROM_UNBOUND, LIST_OPTIONS, EXAMPLE, MAN };
	static const struct option long_options[] = {
		{ "no-files", no_argument, NULL, NO_FILES },
		{ "strict", no_argument, NULL, STRICT },
		{ "from-unbound", no_argument, NULL, FROM_UNBOUND },
		{ "list-options", no_argument, NULL, LIST_OPTIONS },
		{ "example", no_argument, NULL, EXAMPLE },
		{ "man", no_argument, NULL, MAN },
		{ "version", no_argument, NULL, 'V' },
		{ "help", no_argument, NULL, 'h' },
		{ NULL, 0, NULL, 0 },
	};
	int c;

	while (!w->print && (c = getopt_long(argc, argv, "o:fqVh", long_options, NULL)) != -1) {
		switch (c) {
		case 'o':
			w->option = optarg;
			break;
		case 'f':
			w->full_paths = true;
			break;
		case 'q':
			w->quiet = true;
			break;
		case NO_FILES:
			w->how.no_files = true;
			break;
		case STRICT:
			w->strict = true;
			break;
		case FROM_UNBOUND:
			w->from_unbound = true;
			break;
		case LIST_OPTIONS:
			w->print = conf_print_options;
			break;
		case EXAMPLE:
			w->print = conf_print_example;
			break;
		case MAN:
			w->print = conf_print_man;
			break;
		case 'V':
			w->print = print_version;
			break;
		case 'h':
			w->print = print_usage;
			break;
		default:
			return false;
		}
	}
	if (optind < argc && !w->print)
		w->file = argv[optind++];
	return w->print || optind >= argc;
}

int main(int argc, char **argv)
{
	struct wish wish = { .file = CONF_FILE, .how = { .packs = true } };
	int code = EXIT_SUCCESS;

	program = program_name(argv, "resolver-checkconf");
	if (!take_options(&wish, argc, argv)) {
		print_usage(stderr);
		return EXIT_FAILURE;
	}
	if (wish.print)
		wish.print(stdout);
	else
		code = wish.from_unbound ? explain(wish.file) : check(&wish);
	return finish_printing() == EXIT_SUCCESS ? code : EXIT_FAILURE;
}
