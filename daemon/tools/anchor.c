/* resolver-anchor: provides a fresh installation with a trust anchor for the root.
 * SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "util/base/fault.h"
#include "util/base/mem.h"
#include "util/base/program.h"
#include "util/dns/dname.h"
#include "util/dns/rr.h"
#include "util/dns/text.h"
#include "validator/anchors.h"
#include "validator/autotrust.h"
#include "validator/verify.h"

enum { EXIT_NOTHING = 0, EXIT_WRITTEN = 1, EXIT_FAILED = 2 };

static const char *program;
static bool verbose;

static void print_usage(FILE *out)
{
	fprintf(out,
		"usage: %s [options]\n"
		"Creates the trust anchor of the root: if the file is missing, empty or damaged, writes\n"
		"the keys this program was built with. resolverd follows rollovers from there\n"
		"(auto-trust-anchor-file, RFC 5011). The network is not used.\n"
		"  -a FILE     the file (%s)\n"
		"  -l          only print the keys this program was built with\n"
		"  -v          say what is done\n"
		"  -V          print the version\n"
		"  -h          print this\n"
		"Options of unbound-anchor for fetching keys are accepted and ignored: -4, -6, -D, -F, -R,\n"
		"and, with a value, -b, -c, -C, -f, -n, -P, -r, -s, -u, -x.\n"
		"Exit code: 0: the file was good; 1: it had to be written, and was; 2: it could not be\n"
		"written.\n",
		program, ROOT_KEY);
}

static char *built_in_text(void)
{
	const char *const *lines;
	size_t count = anchors_built_in(&lines);
	char *text = mem_text("");

	for (size_t i = 0; i < count; i++) {
		char *more = mem_textf("%s%s\n", text, lines[i]);

		mem_free(text);
		text = more;
	}
	return text;
}

/* Whether the trust point trusts at least one of the built-in keys. */
static bool is_of_today(const struct autotrust *p)
{
	struct anchors *a = anchors_empty();
	const char *const *lines;
	size_t count = anchors_built_in(&lines);
	const struct rrset *ours;
	bool found = false;

	for (size_t i = 0; i < count; i++)
		PROMISE(anchors_add_text(a, lines[i], NULL));
	ours = anchors_find_at(a, dname_root)->ds;
	for (size_t i = 0; i < p->count && !found; i++) {
		const struct autotrust_key *k = &p->keys[i];

		if (k->state != AUTOTRUST_valid && k->state != AUTOTRUST_missing)
			continue;
		struct rrset_walk w = rrset_records(ours);
		for (struct slice rd; rrset_next(&w, &rd);) {
			struct ds ds;

			if (k->type == TYPE_DS)
				found |= rd.len == k->rdata.len &&
					 memcmp(rd.at, k->rdata.at, rd.len) == 0;
			else
				found |= ds_read(rd, &ds) && ds_matches(&ds, dname_root, k->rdata);
		}
	}
	anchors_free(a);
	return found;
}

/* What is wrong with the file, in a word; NULL if it is good. "damaged" sets `why`, "unreachable"
 * errno. */
static const char *trouble_with(const char *path, struct fault *why)
{
	struct autotrust *p;
	struct stat st;
	bool root;

	if (stat(path, &st) != 0)
		return errno == ENOENT ? "missing" : "unreachable";
	if (S_ISREG(st.st_mode) && st.st_size == 0)
		return "empty";
	p = autotrust_read(path, why);
	if (!p)
		return "damaged";
	root = dname_is_root(p->owner);
	if (root && !p->revoked && !is_of_today(p))
		fprintf(stderr,
			"%s: none of the keys in %s is one of today's root keys; it is left as it "
			"is\n",
			program, path);
	if (root && p->revoked)
		fprintf(stderr,
			"%s: %s says that all its keys are revoked; it is left as it is\n", program,
			path);
	autotrust_free(p);
	return NULL;
}

static int see_to(const char *path)
{
	struct fault f = { .set = false };
	const char *trouble = trouble_with(path, &f);
	char *text;
	bool good;

	if (!trouble) {
		if (verbose)
			printf("%s is good\n", path);
		return EXIT_NOTHING;
	}
	if (strcmp(trouble, "unreachable") == 0) {
		fprintf(stderr, "%s: cannot look at %s: %s\n", program, path,
			strerror(errno));
		return EXIT_FAILED;
	}
	if (strcmp(trouble, "damaged") == 0) {
		char *damaged = mem_textf("%s.damaged", path);

		good = rename(path, damaged) == 0;
		fprintf(stderr, "%s: %s; %s %s\n", program, f.text,
			good ? "it is kept as" : "it cannot be kept as", damaged);
		mem_free(damaged);
		if (!good)
			return EXIT_FAILED;
	}
	f.set = false;
	text = built_in_text();
	good = autotrust_replace(path, text, &f);
	mem_free(text);
	if (!good) {
		fprintf(stderr, "%s: %s\n", program, f.text);
		return EXIT_FAILED;
	}
	if (verbose)
		printf("%s was %s: written anew from what is built in\n", path, trouble);
	return EXIT_WRITTEN;
}

int main(int argc, char **argv)
{
	const char *path = ROOT_KEY;
	char *text;
	int c;

	program = program_name(argv, "resolver-anchor");
	while ((c = getopt_long(argc, argv, "a:lvVhb:c:C:f:n:P:r:s:u:x:46DFR", program_long_options, NULL)) != -1) {
		switch (c) {
		case 'a':
			path = optarg;
			break;
		case 'l':
			text = built_in_text();
			fputs(text, stdout);
			mem_free(text);
			return fflush(stdout) == 0 ? EXIT_NOTHING : EXIT_FAILED;
		case 'v':
			verbose = true;
			break;
		case 'V':
			return program_print_version() ? EXIT_NOTHING : EXIT_FAILED;
		case 'h':
			print_usage(stdout);
			return EXIT_NOTHING;
		case '?':
			print_usage(stderr);
			return EXIT_FAILED;
		default:
			break;
		}
	}
	if (optind != argc) {
		print_usage(stderr);
		return EXIT_FAILED;
	}
	return see_to(path);
}
