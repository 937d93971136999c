/* resolver-replay: plays scenarios in process, with a simulated network, clock and random numbers.
 * SPDX-License-Identifier: BSD-3-Clause */
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

#include "daemon/replay/play.h"
#include "util/base/hash.h"
#include "util/base/log.h"
#include "util/base/mem.h"
#include "util/base/rcu.h"

struct paths {
	char **items;
	size_t count;
};

static void paths_add(struct paths *p, char *path)
{
	p->items = mem_grow(p->items, (p->count + 1) * sizeof(*p->items));
	p->items[p->count++] = path;
}

static bool is_scenario(const char *name)
{
	const char *dot = strrchr(name, '.');

	return dot && (strcmp(dot, ".rpl") == 0 || strcmp(dot, ".crpl") == 0);
}

static int by_name(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

/* Add a file, or the scenarios in a folder sorted by name. */
static bool paths_collect(struct paths *p, const char *path)
{
	struct stat st;
	struct dirent *e;
	size_t first = p->count;
	DIR *d;

	if (stat(path, &st) != 0) {
		perror(path);
		return false;
	}
	if (!S_ISDIR(st.st_mode)) {
		paths_add(p, mem_text(path));
		return true;
	}
	d = opendir(path);
	if (!d) {
		perror(path);
		return false;
	}
	while ((e = readdir(d)))
		if (is_scenario(e->d_name))
			paths_add(p, mem_textf("%s/%s", path, e->d_name));
	closedir(d);
	if (p->count > first)
		qsort(p->items + first, p->count - first, sizeof(*p->items), by_name);
	return true;
}

static const char *file_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

static void no_line(const char *line, void *arg)
{
	(void)line;
	(void)arg;
}

static void log_as_comment(const char *line, void *arg)
{
	(void)arg;
	printf("# %s\n", line);
}

static int usage(FILE *to, int code)
{
	fprintf(to,
		"usage: resolver-replay [-sv] FILE-OR-FOLDER...\n"
		"Plays .rpl and .crpl scenarios and prints TAP.\n"
		"  -s  strict: records must come in the order written\n"
		"  -v  tell what happens (twice: with the resolver's own log)\n"
		"  -h  this text\n");
	return code;
}

int main(int argc, char **argv)
{
	struct play_how how = { 0 };
	struct paths paths = { 0 };
	unsigned failed = 0;
	int verbose = 0;

	for (int c; (c = getopt(argc, argv, "svh")) != -1;) {
		if (c == 's')
			how.strict = true;
		else if (c == 'v')
			verbose++;
		else
			return usage(c == 'h' ? stdout : stderr, c == 'h' ? 0 : 2);
	}
	if (optind == argc)
		return usage(stderr, 2);
	for (int i = optind; i < argc; i++)
		if (!paths_collect(&paths, argv[i]))
			return 2;
	how.verbose = verbose > 0;
	setenv("TZ", "UTC", 1);
	hash_start(true);
	rcu_thread_join();
	log_capture(verbose > 1 ? log_as_comment : no_line, NULL);
	if (verbose > 1)
		atomic_store(&log_verbosity, LOG_ALGO);
	printf("1..%zu\n", paths.count);
	for (size_t i = 0; i < paths.count; i++) {
		const char *name = file_name(paths.items[i]);
		struct play_result r;

		play_file(paths.items[i], &how, &r);
		if (r.end == PLAY_FAILED) {
			failed++;
			printf("not ok %zu - %s # %s\n", i + 1, name, r.why);
		} else if (r.end == PLAY_SKIPPED) {
			printf("ok %zu - %s # SKIP %s\n", i + 1, name, r.why);
		} else {
			printf("ok %zu - %s%s\n", i + 1, name,
			       r.soft ? " # soft: it asked what the scenario does not know" : "");
		}
		fflush(stdout);
		mem_free(paths.items[i]);
	}
	mem_free(paths.items);
	log_capture(NULL, NULL);
	rcu_flush();
	rcu_thread_leave();
	return failed ? 1 : 0;
}
